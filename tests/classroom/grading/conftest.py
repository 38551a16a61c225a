"""A fixture for tests that run student code: `desk`, a judge at work."""

import os
from collections.abc import Iterator

import pytest

from classroom.grading.judge_pool import Desk


@pytest.fixture(scope="module")
def desk(bubblewrap: None) -> Iterator[Desk]:
    """One judge with its sandbox, for all tests of a module one after the other."""
    desk = Desk(os.getpid() % 4000, walled=True)
    yield desk
    desk.close()
