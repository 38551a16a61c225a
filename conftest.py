"""For all tests: long files first, and at the end a table of what nbval ran and compared.

That every cell was saved executed, in order and without errors is a test of its own, in
tests/test_committed_notebooks.py: nbval itself passes a cell that has nothing to compare with.
"""

import signal
from collections.abc import Iterator

import pytest

pytest_plugins = ["classroom.nbval_table"]

LONG = ["tests/browser/", "tests/test_committed_notebooks.py", "tests/classroom/"]
LONG += ["notebooks/", "solutions/"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first: started last, one of them would keep one worker busy and the others idle.

    Workers take files in this order because bootstrap.py says `--no-loadscope-reorder`.
    """
    items.sort(
        key=lambda item: next(
            (place for place, start in enumerate(LONG) if item.nodeid.startswith(start)), len(LONG)
        )
    )


@pytest.fixture(scope="module")
def ctrl_c() -> Iterator[None]:
    """What a test starts heeds Ctrl-C, also where the shell ignores it (`nohup make test &`)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
