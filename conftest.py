"""For all tests: the slow ones are marked and come first; at the end a table of what nbval did.

That every cell was saved executed, in order and without errors is a test of its own, in
tests/test_committed_notebooks.py: nbval itself passes a cell that has nothing to compare with.
"""

import functools
import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from classroom.threads import ONE_THREAD

os.environ.update(ONE_THREAD)  # before NumPy is loaded: workers beside workers have no more cores

from classroom.kernels import warm

pytest_plugins = ["classroom.nbval_table"]

ROOT = Path(__file__).parent
SMALL = ROOT / "tests" / "course"
collect_ignore = ["tests/course"]  # a course of its own: tests/test_small_course.py runs it

# What starts a browser, a notebook, a kernel or a sandbox, tries thousands of answers or draws
# dozens of pictures is left out by `make quick`, as single tests with the mark are. The longest
# come first.
SLOW = [
    "tests/browser/test_site.py",
    "tests/browser/test_every_lecture_in_lab.py",
    "tests/browser/test_slides_offline.py",
    "tests/browser/test_answers_in_page.py",  # on the site that the first one has built by now
    "tests/browser/",
    "tests/classroom/grading/test_large_class.py",
    "tests/classroom/test_nbgrader.py",
    "tests/classroom/test_new_unit.py",
    "tests/classroom/test_another_course.py",
    "tests/classroom/grading/test_hostile.py",
    "tests/classroom/grading/test_no_fault_of_ours.py",
    "tests/classroom/test_site.py",  # after the other one has compiled the packages for both
    "tests/classroom/grading/test_wire.py",
    "tests/classroom/grading/test_resuming.py",
    "tests/classroom/grading/test_cluster.py",
    "tests/classroom/grading/test_grade_command.py",
    "tests/classroom/grading/test_faulty_notebooks.py",
    "tests/classroom/grading/test_our_solutions.py",
    "tests/classroom/grading/test_judge.py",
    "tests/classroom/grading/test_watching.py",
    "tests/classroom/grading/test_class_run.py",
    "tests/classroom/grading/test_like_a_notebook.py",
    "tests/classroom/test_audit.py",
    "tests/classroom/grading/test_naming.py",
    "tests/classroom/grading/test_what_grades_depend_on.py",
    "tests/classroom/test_checking.py",
    "tests/classroom/test_kernels.py",
    "tests/classroom/test_notebooks.py",
    "tests/classroom/test_pages.py",
    "tests/test_committed_notebooks.py",
    "tests/test_small_course.py",
    "tests/test_notebook_cells.py",
    "tests/classroom/test_own_sheets.py",
    "tests/checks/test_every_exercise.py",
    "tests/test_explore.py",
    "tests/test_recorder.py",
    "tests/test_variants.py",
    "tests/classroom/grading/test_at_a_glance.py",
    "tests/classroom/grading/test_mistakes.py",
    "tests/test_transformer.py",
    "tests/test_style.py",
    "tests/classroom/test_picture_diff.py",
    "tests/classroom/test_saved_outputs.py",
    "tests/classroom/test_frames.py",
    "tests/classroom/test_handouts.py",
    "tests/classroom/grading/test_class_report.py",
    "tests/test_reserved.py",
    "tests/test_narrow_integers.py",
    "tests/test_bootstrap.py",
    "notebooks/",
    "solutions/",
    "exercises/",
]


MISSING = [place for place in SLOW if not (ROOT / place).exists()]
assert not MISSING, f"conftest.py lists what is not there: {MISSING}"


def pytest_configure(config: pytest.Config) -> None:
    """Kernels are forked from one warm process, for all workers together; each has one thread."""
    if not hasattr(config, "workerinput"):
        kernels = warm()
        kernels.__enter__()
        config.add_cleanup(lambda: kernels.__exit__(None, None, None))


def pytest_collection_finish() -> None:
    """What was collected stays to the end: nobody looks through it for garbage."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make quick` does not even read what it leaves out."""
    if config.option.markexpr != "not slow" or not collection_path.is_relative_to(ROOT):
        return None
    place = collection_path.relative_to(ROOT).as_posix()
    return place in SLOW or f"{place}/" in SLOW or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and begin with it: else one long file keeps a worker busy at the end.

    Workers take files in this order because bootstrap.py says `--no-loadscope-reorder`.
    """
    items.sort(key=lambda item: _place(item.nodeid.partition("::")[0]))
    for item in items:
        if _place(item.nodeid.partition("::")[0]) < len(SLOW):
            item.add_marker("slow")


@functools.cache
def _place(file: str) -> int:
    """Where the file stands in the list above; behind it, if it is quick."""
    return next((n for n, start in enumerate(SLOW) if file.startswith(start)), len(SLOW))


@pytest.fixture(scope="module")
def ctrl_c() -> Iterator[None]:
    """What a test starts heeds Ctrl-C, also where the shell ignores it (`nohup make test &`)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def small_course() -> Iterator[Path]:
    """The tests of a module, and what they start, are in the small fixed course, tests/course."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SMALL)
        patch.setenv("PYTHONPATH", str(SMALL), prepend=os.pathsep)
        yield SMALL


@pytest.fixture
def in_small_course(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, for a single test among others that are about our own course."""
    monkeypatch.chdir(SMALL)
    return SMALL
