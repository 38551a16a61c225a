"""Fixtures for tests that run student code: `bubblewrap`, and `desk`, a judge at work."""

import os
import shutil
from collections.abc import Iterator

import pytest

from classroom.grading.judge_pool import Desk


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """The sandbox. Without it: skipped on a laptop, failed in continuous integration."""
    if shutil.which("bwrap") is None:
        missing = "bubblewrap is missing: apt install bubblewrap"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)


@pytest.fixture(scope="module")
def desk(bubblewrap: None) -> Iterator[Desk]:
    """One judge with its sandbox, for all tests of a module one after the other."""
    desk = Desk(os.getpid() % 4000, walled=True)
    yield desk
    desk.close()
