"""A fixture for tests that run student code: `judge_process`, a judge at work."""

import os
from collections.abc import Iterator

import pytest

from classroom.grading.judge_pool import JudgeProcess


@pytest.fixture(scope="module")
def judge_process(bubblewrap: None) -> Iterator[JudgeProcess]:
    """One judge with its sandbox, for all tests of a module one after the other."""
    judge_process = JudgeProcess(os.getpid() % 4000, sandboxed=True)
    yield judge_process
    judge_process.close()
