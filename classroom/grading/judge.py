"""The judge: a process of its own that drives a submission in the sandbox and calls the checks.

`python -m classroom.grading.judge NUMBER WALLED` reads jobs from its input, a line of
JSON each, and answers each with a line, after a line for every step that it begins: if an answer
brings the judge itself down, the next one knows which, and goes on without it. The checks run here,
with values that came over the wire; a student's code never does.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from course_utils import checks as all_checks
from course_utils.answers import NotAttempted, Student, Unreadable
from course_utils.exercise import Exercise, Feedback, Outcome
from course_utils.files import CourseError
from course_utils.instances import LARGEST_SEED
from course_utils.units import declared
from course_utils.values import WireError
from course_utils.variants import student_id

from ..roles import Ours
from .assembly import Assembly, Cell, Step, assemble
from .flags import flags
from .records import Graded, Result
from .sandbox import Limits, Needs, Sandbox, Submission
from .wire import Gone

LARGE = ("matplotlib.pyplot", "IPython.display", "ipywidgets")
MAGIC, MAGIC_READER = re.compile(r"^\s*[%!]", re.MULTILINE), "IPython.core.inputtransformer2"
PATIENCE = 3  # an exercise may take so many times as long as a cell, with all its calls
MEMORY = 4 << 30  # bytes of address space for the judge itself
HOMEWORK = "0"  # the id that nobody has: the homework's own numbers


@dataclass(frozen=True)
class Job:
    """One submission to judge: plain data, so that it can be sent to another machine."""

    student: str
    unit: str
    file: str
    digest: str
    solution: list[list[str]]  # id, role and source of each code cell
    cells: list[list[str]]
    student_id: str | None = None  # the true one; None: as written in the notebook
    limits: dict[str, Any] = field(default_factory=dict)
    verbose: bool = False
    seed: str = ""  # what the seeds of the exercises are made from, student by student
    lost_at: tuple[int, ...] = ()  # steps over which a judge was lost before


@dataclass
class Ran:
    """What happened when a cell of the student's ran."""

    printed: str = ""
    error: dict | None = None
    fatal: str = ""

    @property
    def trouble(self) -> str:
        """The error in words, or nothing."""
        if self.fatal:
            return f"was stopped: it {self.fatal}"
        if self.error is None:
            return ""
        kind, says = self.error.get("type"), " ".join(str(self.error.get("says")).split())
        return f"raised {kind}: {says}".removesuffix(": ")


class Judging:
    """One submission from its first cell to the last exercise."""

    met_broken_cells = (
        False  # a child reads such a cell again for magics: a slow import, if its own
    )

    def __init__(self, job: Job, sandbox: Sandbox, tell: Callable[[int], None]) -> None:
        self.job, self.sandbox, self.limits = job, sandbox, Limits(**job.limits)
        self.tell = tell
        self.exercises = {e.name: e for e in declared(job.unit)}
        self.assembly: Assembly = assemble(
            [Ours(*c) for c in job.solution], [Cell(*c) for c in job.cells]
        )
        self.steps = self._with_id(self.assembly.steps)
        self.ran: dict[int, Ran] = {}
        self.results: dict[str, Result] = {}
        self.id: str | None = job.student_id
        self.story: list[dict] = []

    def _with_id(self, steps: tuple[Step, ...]) -> list[Step]:
        """Where the true id is known, it stands in the notebook too, whatever was written there."""
        if self.job.student_id is None:
            return list(steps)
        places = [i for i, step in enumerate(steps) if step.tells_id]
        if not places:
            return list(steps)
        last = places[-1]
        told = Step(steps[last].id, f"student = {self.job.student_id!r}")
        return [*steps[: last + 1], told, *steps[last + 1 :]]

    def graded(self) -> Graded:
        """Run and judge everything; a child that dies costs the exercise it died in."""
        start = time.monotonic()
        end = start + self.limits.wall
        self.ran |= {p: Ran(fatal="brought the judge down") for p in self.job.lost_at}
        while not self._pass(end) and time.monotonic() < end:
            pass
        for step in self.steps:
            if step.check and step.check.exercise not in self.results:
                self._settle(step, "The time for the whole submission was used up before this.")
        return Graded(
            student=self.job.student,
            unit=self.job.unit,
            file=self.job.file,
            digest=self.job.digest,
            student_id=self.id,
            results=tuple(self.results[s.check.exercise] for s in self.steps if s.check),
            notes=self.assembly.notes,
            by_hand=tuple(self._by_hand()),
            seconds=round(time.monotonic() - start, 3),
        )

    def _pass(self, end: float) -> bool:
        """Go through the steps in a fresh child; False if it died on the way."""
        wall = max(1.0, end - time.monotonic())
        limits = Limits(**{**self.job.limits, "wall": wall})
        with self.sandbox.submission(limits, self._needs()) as there:
            for place, step in enumerate(self.steps):
                if step.check is None:
                    alive = self._run(there, place, step)
                elif step.check.exercise in self.results:
                    continue
                else:
                    alive = self._judge(there, place, step)
                if not alive:
                    return False
        return True

    def _needs(self) -> Needs:
        """What the child should find loaded: the unit's checks, and what the cells mention."""
        sources = "\n".join(step.source for step in self.steps)
        modules = [module for module in LARGE if module.partition(".")[0] in sources]
        if Judging.met_broken_cells or MAGIC.search(sources):
            modules.append(MAGIC_READER)
        first = next((step.source for step in self.steps if not step.is_students), "")
        unit = self.job.unit.partition("_")[2]
        return Needs([f"{all_checks.__name__}.{unit}", *modules], first)

    def _run(self, there: Submission, place: int, step: Step) -> bool:
        if place in self.ran and self.ran[place].fatal:
            return True  # it killed the child before; the rest goes on without it
        self.tell(place)
        try:
            with _Alarm(self.limits.cell + 5):
                report = there.ask(ask="run", source=step.source)
        except Gone as gone:
            self.ran[place] = Ran(fatal=str(gone))
        except Exception as error:
            self.ran[place] = Ran(error={"type": type(error).__name__, "says": str(error)})
        else:
            self.ran[place] = _as_ran(report)
            if (self.ran[place].error or {}).get("type") == "SyntaxError":
                Judging.met_broken_cells = True
        self._tell(step, self.ran[place])
        return not self.ran[place].fatal

    def _tell(self, step: Step, ran: Ran) -> None:
        if self.job.verbose:
            about = {"cell": step.id, "source": step.source, "printed": ran.printed}
            self.story.append({**about, "trouble": ran.trouble})

    def _judge(self, there: Submission, place: int, step: Step) -> bool:
        start = time.monotonic()
        exercise = self.exercises[step.check.exercise]
        if place in self.job.lost_at:
            self._settle(step, "The judge could not cope with this answer.", place)
            return True
        self.tell(place)
        try:
            with _Alarm(self.limits.cell * PATIENCE + 5):
                feedback, shown = self._feedback(there, place, exercise, step.check.arguments)
        except Gone as gone:
            self._settle(step, f"Your code {gone} while it was being checked.", place)
            return False
        self._record(exercise, feedback, place, time.monotonic() - start)
        if self.job.verbose:
            self.story.append({"exercise": step.source, "seen": shown, "says": repr(feedback)})
        return True

    def _feedback(
        self, there: Submission, place: int, exercise: Exercise, expressions: tuple[str, ...]
    ) -> tuple[Feedback, list[str]]:
        answers, reasons = [], []
        for expression, kind in zip(expressions, exercise.kinds.values(), strict=True):
            try:
                answers.append(self._value(there, expression, kind))
            except Exception as error:
                reasons.append(self._without_answer(place, expression, error))
                answers.append(reasons[-1])
        if reasons and (not exercise.parts or len(reasons) == len(answers)):
            return _not_judged(exercise, reasons[0]), []
        with contextlib.suppress(Exception):  # whoever breaks this is on their side of the wall
            there.ask(ask="judging", names=list(exercise.forbidden))
        there.begin(self.limits.cell * PATIENCE)
        exercise.seed = seed_of(self.job.seed, exercise.name)
        return exercise(*answers), [_shown(answer) for answer in answers]

    def _value(self, there: Submission, expression: str, kind: Any) -> Any:
        if not isinstance(kind, Student):
            return there.ask(ask="value", expression=expression)
        if self.job.student_id is None:
            written = there.ask(ask="value", expression=expression)
            if isinstance(written, str | int):
                self.id = student_id(written)
            return written
        return self.job.student_id

    def _without_answer(
        self, place: int, expression: str, error: Exception
    ) -> NotAttempted | Unreadable:
        """The expression has no value: not attempted, or there was an error."""
        before = self._before(place)
        errors = [self.ran[p] for p in before if self.ran[p].trouble]
        blank = any((ran.error or {}).get("type") == "NotAttempted" for ran in errors)
        if not before or blank:
            return NotAttempted()
        if isinstance(error, WireError):
            says = f"`{expression}` cannot be checked: {error}."
        elif errors:
            says = f"Your cell {errors[-1].trouble.rstrip('.')}. So there is no `{expression}`."
        else:
            says = f"`{expression}` has no value: {type(error).__name__}: {error}."
        return Unreadable(says)

    def _before(self, place: int) -> list[int]:
        """The places of the student's cells between the check before and this one."""
        found = []
        for earlier in range(place):
            if self.steps[earlier].check:
                found = []
            elif self.steps[earlier].is_students and earlier in self.ran:
                found.append(earlier)
        return found

    def _settle(self, step: Step, says: str, place: int | None = None) -> None:
        exercise = self.exercises[step.check.exercise]
        where = self.steps.index(step) if place is None else place
        self._record(exercise, _said(exercise, Outcome.UNCHECKED, says), where, 0.0)

    def _record(self, exercise: Exercise, feedback: Feedback, place: int, seconds: float) -> None:
        before = self._before(place)
        troubles = [f"The cell {self.steps[p].id} {self.ran[p].trouble}" for p in before]
        self.results[exercise.name] = Result(
            **feedback.as_dict(),
            answer="\n\n".join(self.steps[p].source for p in before)[:20_000],
            notes=tuple(
                f"{t}." for t, p in zip(troubles, before, strict=True) if self.ran[p].fatal
            ),
            seconds=round(seconds, 4),
        )

    def _by_hand(self) -> list[str]:
        fatal = [
            f"The cell {self.steps[p].id} {ran.trouble}."
            for p, ran in sorted(self.ran.items())
            if ran.fatal
        ]
        if self.id == HOMEWORK and self.job.student_id is None:
            fatal.append("The student id in the notebook is 0, which is nobody's.")
        failed = [r.name for r in self.results.values() if "The check itself failed" in r.says]
        forbidden = {name for e in self.exercises.values() for name in e.forbidden}
        mine = [step for step in self.steps if step.is_students]
        suspect = [says for step in mine for says in flags(step.id, step.source, forbidden)]
        return [*fatal, *(f"The check of {name} failed by itself." for name in failed), *suspect]


class _Alarm:
    """Ends a check that does not come to an end by itself; if even that fails, ends the judge."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds, 1.0)
        faulthandler.dump_traceback_later(self.seconds + 5, exit=True, file=sys.__stderr__)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()

    @staticmethod
    def _ring(*_: object) -> None:
        raise Gone("took too long")


def _as_ran(report: Any) -> Ran:
    """The report of a cell, which may be anything."""
    report = report if isinstance(report, dict) else {}
    printed, error = report.get("printed"), report.get("error")
    return Ran(
        printed=printed[:10_000] if isinstance(printed, str) else "",
        error={k: str(v)[:500] for k, v in error.items()} if isinstance(error, dict) else None,
    )


def _said(exercise: Exercise, outcome: Outcome, says: str) -> Feedback:
    says = " ".join(says.split())
    return Feedback(exercise.number, exercise.name, outcome, 0, exercise.points, says)


def _not_judged(exercise: Exercise, reason: NotAttempted | Unreadable) -> Feedback:
    if isinstance(reason, NotAttempted):
        return _said(exercise, Outcome.NOT_ATTEMPTED, "There is no answer to check.")
    return _said(exercise, Outcome.UNCHECKED, str(reason))


def seed_of(seed: str, exercise: str) -> int:
    """The seed of one exercise: five digits, the same at every regrade."""
    return 1 + int(sha256(f"{seed} {exercise}".encode()).hexdigest(), 16) % LARGEST_SEED


def _shown(answer: Any) -> str:
    from course_utils.answers import show

    return answer[:500] if isinstance(answer, str) else show(answer, digits=6)


# -- the process ----------------------------------------------------------------------------------


def judge(job: Job, sandbox: Sandbox, tell: Callable[[int], None] = lambda place: None) -> dict:
    """The grade as plain data, with the story if it was asked for."""
    judging = Judging(job, sandbox, tell)
    graded = judging.graded()
    return {"graded": graded.as_dict(), "story": judging.story}


def main(number: int, walled: bool) -> None:
    """Serve jobs until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started us decides when to stop
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing else may get between the answers
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))

    def say(message: dict) -> None:
        print(json.dumps(message), file=answers, flush=True)

    with Sandbox(walled, number) as sandbox:
        for line in sys.stdin:
            try:
                answer = judge(Job(**json.loads(line)), sandbox, lambda place: say({"at": place}))
            except CourseError as problem:
                answer = {"problem": str(problem)}
            say(answer)
            if not gc.get_freeze_count():
                gc.freeze()  # what the first job loaded stays; no need to look through it again


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "walled")
