"""Judges at work, each with its sandbox, kept warm from one submission to the next.

A judge process is one that is told a job and answers with a grade. It can be killed at any time, so
nothing that a submission does can hold up the others for longer than its limits.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import re
import select
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import IO

from selfcheck.files import CourseError

from ..threads import ONE_THREAD
from . import fingerprint
from .bubblewrap import require_bubblewrap
from .jobs import START_SECONDS, STARTS, Job, Limits, started

JUDGE = "classroom.grading.judge"
MOST_LOSSES = 12  # judges over one submission, before it is given up
USERS = 4000  # so many sandboxes of different processes have user ids of their own


class JudgeProcess:
    """One judge process; started when it is first needed, and again after it was lost."""

    def __init__(self, number: int, sandboxed: bool) -> None:
        self._number, self._sandboxed = number, sandboxed
        self._process: subprocess.Popen[bytes] | None = None
        self._received, self._closed, self._lock = b"", False, threading.Lock()
        self._unit = ""  # of the jobs so far
        self._errors: IO[bytes] = io.BytesIO()
        self._begun: IO[bytes] = io.BytesIO()  # for the step at hand

    def judged(self, job: Job, alone: AbstractContextManager | None = None) -> dict:
        """The judge's answer; CourseError if there is none.

        What was too slow or died is tried once more, within `alone`: a block in which nothing else
        is judged.
        """
        self._unit = self._unit or job.unit
        answer, job = self._answered(job)
        if not answer.get("again"):
            return answer
        with alone or contextlib.nullcontext():
            troubled = tuple(answer["again"])
            again = replace(job, is_alone=True, in_fresh_sandbox=True, troubled=troubled)
            return self._answered(again)[0]

    def _answered(self, job: Job) -> tuple[dict, Job]:
        """The answer, also if judges are lost on the way.

        What three were lost over is left out, and the grade is open: the next run tries it again.
        """
        lost: Counter[int | None] = Counter()
        while True:
            at, answer = self._asked(job)
            if "problem" in answer:
                raise CourseError(answer["problem"])
            if "lost" in answer:
                raise LostJudge(f"{answer['lost']}.")
            if answer:
                return {**answer, "is_open": any(at >= 0 for at in job.lost_at)}, job
            how = self._end(grace=1.0)
            lost[at] += 1
            if self._closed or sum(lost.values()) >= MOST_LOSSES or lost[None] >= STARTS:
                raise LostJudge(f"the judge did not come to an end with this submission ({how}).")
            if at is not None and lost[at] > 2 and at not in job.lost_at:
                job = replace(job, lost_at=(*job.lost_at, at))  # the rest goes on without that step

    def _asked(self, job: Job) -> tuple[int | None, dict]:
        """The last step that the judge began, and its answer; empty if it was lost on the way."""
        self._start()
        limits = Limits(**job.limits)
        patience = START_SECONDS + 2 * limits.step_wall(limits.wall)
        answer = {}
        with contextlib.suppress(OSError, ValueError):  # it died, or was ended by another thread
            orders, _ = self._pipes()
            self._begun.truncate(0)
            orders.write(json.dumps(vars(job)).encode() + b"\n")
            orders.flush()
            answer = json.loads(self._line(patience))
        return self._step(), answer

    def _step(self) -> int | None:
        """The step that the judge wrote down when it began it; None where there is none yet."""
        with contextlib.suppress(OSError, ValueError):
            return int(os.pread(self._begun.fileno(), 20, 0))
        return None

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """To the judge and from it; OSError if it was ended by another thread."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise BrokenPipeError("the judge was ended")
        return process.stdin, process.stdout

    def _line(self, seconds: float) -> bytes:
        """The next line; empty if there is none, and no other step is begun in this time."""
        _, answers = self._pipes()
        while b"\n" not in self._received:
            step = self._step()
            if select.select([answers], [], [], seconds)[0]:
                part = os.read(answers.fileno(), 1 << 16)
                if not part:
                    return b""
                self._received += part
            elif step == self._step():
                return b""
        line, _, self._received = self._received.partition(b"\n")
        return line

    def renew(self, unit: str) -> None:
        """Begin with a new judge if this one has read another unit's files already."""
        if self._unit not in ("", unit):
            self._end()
        self._unit = unit

    def _start(self) -> None:
        """Have a judge at work, unless this one was closed meanwhile."""
        if self._process is not None and self._process.poll() is None:
            return
        self._end()
        word = "sandboxed" if self._sandboxed else "open"
        with self._lock:
            if self._closed:
                raise LostJudge("grading was stopped.")
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the judge)
            self._begun = tempfile.TemporaryFile()  # noqa: SIM115
            begun = self._begun.fileno()
            self._process = subprocess.Popen(
                [sys.executable, *started(JUDGE), str(self._number), word, f"{begun}"],
                pass_fds=[begun],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,  # told in a sentence, never shown as it is
                env={**os.environ, **ONE_THREAD},
                start_new_session=True,  # Ctrl-C is for us alone; we end it
            )

    def close(self) -> None:
        """End the judge for good; its sandbox goes with it."""
        self._closed = True
        self._end()

    def _end(self, grace: float = 0.0) -> str:
        """End the judge; returns how it had ended before, if it had."""
        with self._lock:
            process, self._process, self._received = self._process, None, b""
            errors, begun = self._errors, self._begun
        if process is None:
            return "it was ended"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)  # it closed its end; its code tells why
        code = process.poll()
        if code is None:
            process.kill()
        if process.stdin:
            with contextlib.suppress(OSError):
                process.stdin.close()  # what was not yet written cannot be any more
        if process.stdout:
            process.stdout.close()
        process.wait()
        said = _last_words(errors)
        errors.close()
        begun.close()
        if code is None:
            return "it gave no sign any more"
        return (
            f"it was killed by signal {-code}" if code < 0 else f"it ended with code {code}{said}"
        )

    def complaints(self) -> str:
        """What the judge wrote on its way that is no answer."""
        return _text(self._errors)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(1 << 20).decode("utf-8", "replace")


def _last_words(file: IO[bytes]) -> str:
    """The error over which a judge ended, if it said one."""
    text = _text(file)
    errors = re.findall(r"^\w+(?:\.\w+)*(?:Error|Exception)\b.*", text, re.MULTILINE)
    places = re.findall(r'^ +File "([^"<]+)", (line \d+)', text, re.MULTILINE)
    where = f" in {', '.join(places[-1])}" if places else ""
    return f": {errors[-1][:200]}{where}" if errors else ""


class LostJudge(CourseError):
    """The judge itself died or hung over a submission: a person should look at it."""


class Turns:
    """Many may be at work at once, or one alone."""

    def __init__(self) -> None:
        self._changed, self._at_work, self._alone = threading.Condition(), 0, False

    @contextlib.contextmanager
    def with_others(self) -> Iterator[None]:
        """At work beside others, but beside nobody who wants to be alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._at_work += 1
        try:
            yield
        finally:
            with self._changed:
                self._at_work -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """For one who is at work: the others come to an end first, and wait."""
        with self._changed:
            self._at_work -= 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._alone)
            self._alone = True
            self._changed.wait_for(lambda: not self._at_work)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._at_work += 1
                self._changed.notify_all()


class JudgePool:
    """As many desks as are in use at once; a thread takes one and puts it back."""

    def __init__(self, sandboxed: bool) -> None:
        if sandboxed:
            require_bubblewrap()
        self._sandboxed = sandboxed
        self._free: queue.SimpleQueue[JudgeProcess] = queue.SimpleQueue()
        self._all: list[JudgeProcess] = []
        self._lock = threading.Lock()
        self.turns = Turns()

    @contextlib.contextmanager
    def judge_process(self) -> Iterator[JudgeProcess]:
        """A judge process for the time of the block."""
        try:
            judge_process = self._free.get_nowait()
        except queue.Empty:
            judge_process = self._new()
        try:
            yield judge_process
        finally:
            self._free.put(judge_process)

    def _new(self) -> JudgeProcess:
        with self._lock:
            judge_process = JudgeProcess(
                (os.getpid() * 16 + len(self._all)) % USERS, self._sandboxed
            )
            self._all.append(judge_process)
        return judge_process

    def close(self) -> None:
        """End all judges."""
        for judge_process in self._all:
            judge_process.close()


_SHARED: dict[bool, JudgePool] = {}
_LOCK = threading.Lock()


def judged(job: dict, sandboxed: bool, files: dict[str, str], otherwise: str) -> dict:
    """A job done by a judge of this process: what a thread here, or a worker elsewhere, is told.

    Both have to have the same files that the grades of the unit depend on; `otherwise` it is told.
    """
    now = fingerprint.digests(files)
    if other := [name for name in files if now[name] != files[name]]:
        raise CourseError(otherwise.format(", ".join(other[:3])))
    with _LOCK:
        pool = _SHARED.setdefault(sandboxed, JudgePool(sandboxed))
    with pool.judge_process() as judge_process, pool.turns.with_others():
        if job.get("is_solution"):
            judge_process.renew(job["unit"])
        return judge_process.judged(Job(**job), pool.turns.alone())


def close_all() -> None:
    """End all judges of this process."""
    with _LOCK:
        for pool in _SHARED.values():
            pool.close()
        _SHARED.clear()
