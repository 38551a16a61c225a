"""Desks: judges at work, each with its sandbox, kept warm from one submission to the next.

A desk is a process that is told a job and answers with a grade. It can be killed at any time, so
nothing that a submission does can hold up the others for longer than its limits.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict

from ...files import CourseError
from . import fingerprint
from .judge import Job
from .sandbox import START_SECONDS, Limits, require_bubblewrap

JUDGE = "course_utils.classroom.grading.judge"
USERS = 4000  # so many sandboxes of different processes have user ids of their own


class Desk:
    """One judge process; started when it is first needed, and again after it was lost."""

    def __init__(self, number: int, walled: bool) -> None:
        self._number, self._walled = number, walled
        self._process: subprocess.Popen | None = None

    def judged(self, job: Job) -> dict:
        """The judge's answer; CourseError if there is none."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        patience = START_SECONDS + 2 * Limits(**job.limits).wall + 60
        try:
            self._process.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
            self._process.stdin.flush()
            line = self._line(patience)
        except BrokenPipeError:
            line = b""
        if not line:
            self.close()
            raise LostJudge("the judge did not come to an end with this submission.")
        answer = json.loads(line)
        if "problem" in answer:
            raise CourseError(answer["problem"])
        return answer

    def _line(self, seconds: float) -> bytes:
        ready = select.select([self._process.stdout], [], [], seconds)[0]
        return self._process.stdout.readline() if ready else b""

    def _start(self) -> None:
        word = "walled" if self._walled else "open"
        self._process = subprocess.Popen(
            [sys.executable, "-m", JUDGE, str(self._number), word],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for us alone; we end it
        )

    def close(self) -> None:
        """End the judge; its sandbox goes with it."""
        if self._process is not None:
            self._process.kill()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()
            self._process = None


class LostJudge(CourseError):
    """The judge itself died or hung over a submission: a person should look at it."""


class Desks:
    """As many desks as are in use at once; a thread takes one and puts it back."""

    def __init__(self, walled: bool) -> None:
        if walled:
            require_bubblewrap()
        self._walled, self._free, self._all = walled, queue.SimpleQueue(), []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def desk(self) -> Iterator[Desk]:
        """A desk for the time of the block."""
        try:
            desk = self._free.get_nowait()
        except queue.Empty:
            with self._lock:
                desk = Desk((os.getpid() * 16 + len(self._all)) % USERS, self._walled)
                self._all.append(desk)
        try:
            yield desk
        finally:
            self._free.put(desk)

    def close(self) -> None:
        """End all judges."""
        for desk in self._all:
            desk.close()


_SHARED: dict[bool, Desks] = {}
_LOCK = threading.Lock()


def judged(job: dict, walled: bool, code: str) -> dict:
    """A job done at a desk of this process: what a thread here, or a worker elsewhere, is told."""
    if fingerprint.of_code(job["unit"]) != code:
        raise CourseError("this worker has another version of the course; update it.")
    with _LOCK:
        desks = _SHARED.setdefault(walled, Desks(walled))
    with desks.desk() as desk:
        return desk.judged(Job(**job))


def close_all() -> None:
    """End all judges of this process."""
    with _LOCK:
        for desks in _SHARED.values():
            desks.close()
        _SHARED.clear()
