"""The judge: a process of its own that drives a submission in the sandbox and calls the checks.

The module, run with NUMBER, WALLED and FD, reads jobs from its input, a line of JSON each, and
answers each with a line. Each step that it begins is written to the file FD: if an answer brings
the judge itself down, the next one knows which, and goes on without it. The checks run here, with
values that came over the wire; a student's code never does.

What takes too long or dies may be the fault of a busy machine. So the answer names such steps, and
the job is done again, alone and in a fresh sandbox: only what happens twice counts.
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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple

from selfcheck.course import current
from selfcheck.encoding import WireError
from selfcheck.exercises import Exercise
from selfcheck.feedback import Feedback, Outcome
from selfcheck.files import CourseError
from selfcheck.ids import student_id
from selfcheck.kinds import Student
from selfcheck.refusals import NotAttempted, Unreadable
from selfcheck.remembering import recalled
from selfcheck.units import declared
from selfcheck.written import Written

from ..roles import Check, Ours, called_check
from . import behavior, fingerprint
from .assembly import Assembly, Step, assemble, bound, in_our_order
from .contents import BLANK
from .flags import flags
from .jobs import Job, Limits
from .records import NOBODYS, Graded, Result
from .sandbox import CHILD, Lost, Needs, Sandbox, Submission
from .submitted import Cell
from .wire import Foreseen, Gone

LARGE = ("matplotlib.pyplot", "IPython.display", "ipywidgets")
MOST_LETTERS = 8000  # of cells that are run before a child is made: they go in one order
PATIENCE = 3  # an exercise may take so many times as long as a cell, with all its calls
MEMORY = 4 << 30  # bytes of address space for the judge itself
LOSSES = 8  # sandboxes over one submission, before it is given up
SIGNING = -1  # the step after all steps, at which wrong answers are signed
FORESEEN = defaultdict[tuple[str, ...], Foreseen](Foreseen)  # by exercise
KNOWN: dict[Any, Feedback] = {}  # by exercise, seed and answers
MOST_KNOWN = 500  # of them are kept, those asked for last
TYPED_BELOW = (
    "Where the check stands there is no answer: it is typed below. Move that cell up, or call the "
    "check again behind it."
)
MISSING = re.compile(r"\bname '(\w+)' is not defined")
NO_VERDICT = (Outcome.NOT_ATTEMPTED, Outcome.UNCHECKED)
NOBODYS_ID = (
    "Your notebook has the student id 0, which is nobody's: your answers were checked with the "
    "numbers of 0. Write your own id into the cell on top."
)


class Called(NamedTuple):
    """A check that a cell called: the points it showed there, and the names of what it was given.

    The points are the word of the student's side: they are evidence, and earn nothing.
    """

    exercise: str
    earned: int
    given: tuple[str, ...]


@dataclass
class Ran:
    """What happened when a cell of the student's ran."""

    printed: str = ""
    error: dict | None = None
    fatal: str = ""
    magics: tuple[str, ...] = ()  # those that are not known here and swallowed code
    seen: tuple[str, ...] = ()  # what it did that a person should know
    earlier: tuple[str, ...] = ()  # the same of functions that were called before it
    called: tuple[Called, ...] = ()  # the checks that it called

    @property
    def trouble(self) -> str:
        """The error in words, or nothing."""
        if self.fatal:
            return f"was stopped: it {self.fatal}"
        if self.error is None:
            return ""
        kind, says = self.error.get("type"), " ".join(str(self.error.get("says")).split())
        return f"raised {kind}: {says}".removesuffix(": ")

    @property
    def has_stopped(self) -> bool:
        """Did it not come to its end?"""
        return bool(self.trouble) and "went_on" not in (self.error or {})


class _Died(Exception):
    """The child is gone, or its cell was stopped, and that is not certain yet."""

    def __init__(self, place: int, why: str) -> None:
        super().__init__(why)
        self.place = place


LOADED = "[*__import__('sys').modules]"  # asked of the child that ran the solution


class Judging:
    """One submission from its first cell to the last exercise."""

    def __init__(self, job: Job, sandbox: Sandbox, tell: Callable[[int], None]) -> None:
        self.job, self.sandbox, self.limits = job, sandbox, Limits(**job.limits)
        self._say, self.alarm = tell, _Alarm(self.limits)
        self._told: int | None = None  # the step that was said last
        self.exercises = {e.name: e for e in declared(job.unit)}
        self.assembly: Assembly = assemble(
            [Ours(*c) for c in job.solution], [Cell(*c) for c in job.cells]
        )
        self.steps = self.assembly.steps
        asked = (called_check(source) for _, _, source in job.solution)
        self.asked = {check.exercise: check for check in asked if check}
        calls = {called_check(source): source for _, _, source in job.solution}
        self.sources = {check.exercise: source for check, source in calls.items() if check}
        self.ran: dict[int, Ran] = {}
        self.unreached: set[int] = set()  # the places of what an error kept from running
        self.results: dict[str, Result] = {}
        self.shown: dict[str, int] = {}  # points that the last call of a cell showed, by exercise
        self.judged_at: dict[str, int] = {}  # the step at which each exercise was judged last
        self.ids = _Ids(job, self.steps)
        self.story: list[dict] = []
        self.died, self.troubled = Counter(job.troubled), set(job.troubled)
        self.spent, self.losses = 0.0, 0
        self.deadly: set[str] = set()  # what was asked for when the code ended
        self.unsigned: dict[str, tuple[Feedback, Submission]] = {}
        self.references: dict[str, dict] = {}
        self.with_other_ids: dict[str, dict[str, Result]] = {}  # by id and exercise
        self.judged_last = ""
        self.seen: dict[str, dict[str, None]] = defaultdict(dict)  # by exercise, while it ran
        self.loaded: list[str] = []  # the modules of the child that ran the solution

    def graded(self) -> Graded:
        """Run and judge everything; a child that dies costs the exercise it died in."""
        start = time.monotonic()
        lost_at = [place for place in self.job.lost_at if place != SIGNING]
        self.ran |= {p: Ran(fatal="brought the judge down") for p in lost_at}
        most = self.limits.wall * (2 if self.job.is_alone else 1)
        if self.job.in_fresh_sandbox:
            self.sandbox.close()
        while not self._pass() and self.spent < most:
            pass
        for step in self.steps:
            check = self._asked(step)
            if check and check.exercise not in self.results:
                place = self.steps.index(step)
                says = "The time for the whole submission was used up before this."
                self._settle(check, says, place)
                self.troubled.add(place)
        checks = (check for step in self.steps if (check := self._asked(step)))
        judged = dict.fromkeys(check.exercise for check in checks)
        return Graded(
            student=self.job.student,
            unit=self.job.unit,
            file=self.job.file,
            digest=self.job.digest,
            student_id=self.ids.holds,
            written_id=self.ids.written if self.ids.written != self.ids.holds else None,
            results=tuple(self._with_typed(self.results[name]) for name in judged),
            notes=(*self.ids.notes(self._counts_with_id()), *self.assembly.notes, *self._magics()),
            by_hand=tuple(self._by_hand()),
            seconds=round(time.monotonic() - start, 3),
        )

    @property
    def in_doubt(self) -> list[int]:
        """The steps that have to be tried again before they count."""
        return [] if self.job.is_alone else sorted(self.troubled)

    def _pass(self) -> bool:
        """Go through the steps in a fresh child; False if it has to be done once more."""
        there = None
        if self.job.is_solution:
            KNOWN.clear()  # all of it is described
        try:
            with self.sandbox.submission(self.limits, self._needs()) as there, self.alarm:
                for place, step in enumerate(self.steps):
                    self._step(there, place, step)
                with contextlib.suppress(Exception):
                    self._note_seen(_sentences(there.seen()))
                self._sign_all(there)
                if self.job.is_solution:
                    self.loaded = [str(name) for name in there.value(LOADED)]
            return True
        except _Died as died:
            return self._after(died)
        except Gone as gone:  # between two steps
            return self._after(_Died(-1, str(gone)))
        finally:
            self.spent += there.clock.seconds if there else 0.0

    def _note_seen(self, seen: tuple[str, ...]) -> None:
        """What functions did while they were called belongs to the exercise judged last."""
        self.seen[self.judged_last] |= {f"While it was checked, it {what}.": None for what in seen}

    def tell(self, place: int) -> None:
        """Say which step begins."""
        if place != self._told:
            self._say(place)
        self._told = place

    def _step(self, there: Submission, place: int, step: Step) -> None:
        if step.check is None:
            self._run(there, place, step)
            if place in self.ids.places:
                try:
                    self.ids.read(there)
                except Gone as gone:  # what ran before has to answer for it
                    raise _Died(place, str(gone)) from None
            for name, _, given in self.ran[place].called:
                if name in self.exercises and self._is_open(name, place):
                    self._judge(there, self._call(place, name), Check(name, given))
        elif (check := self._asked(step)) and self._is_open(check.exercise, place):
            self._judge(there, place, check)

    def _is_open(self, exercise: str, place: int) -> bool:
        """Is it still to be judged at this step? What came before is not judged once more."""
        if self.steps[place].is_restored and self._has_verdict(exercise):
            return False
        is_wanted = not self.job.only or exercise in self.job.only
        return is_wanted and self.judged_at.get(exercise, -1) < place

    def _has_verdict(self, exercise: str) -> bool:
        kept = self.results.get(exercise)
        return kept is not None and kept.outcome not in NO_VERDICT

    def _call(self, place: int, exercise: str) -> int:
        """The place of a call that a cell made while it ran: behind all steps, one for each."""
        return place + len(self.steps) * (1 + list(self.exercises).index(exercise))

    def _cell_of(self, place: int) -> tuple[int, str]:
        """The step of such a call, and the exercise; of other steps themselves, and no exercise."""
        times, step = divmod(place, len(self.steps))
        return step, list(self.exercises)[times - 1] if times else ""

    def _asked(self, step: Step) -> Check | None:
        """The check of this step, if it is one and is to be judged."""
        check, only = step.check, self.job.only
        return check if check and (not only or check.exercise in only) else None

    def _after(self, died: _Died) -> bool:
        """Decide whether it counts that a child died over a step; always False: go on."""
        place, why = died.place, str(died)
        if self.sandbox.is_lost or place < 0:
            self.losses += 1
            if self.losses >= LOSSES:
                raise Lost(f"the sandbox was lost {LOSSES} times over this submission")
            if self.job.is_solution:  # its functions are gone with it, and are to be described
                self.judged_at.clear()
            return False
        if self.sandbox.killed == "memory":
            why = "used more memory than a submission may have"
        if not self._counts(place):
            return False
        number, called = self._cell_of(place)
        step = self.steps[number]
        if called:
            says = f"Your code {why} while it was being checked."
            self._settle(Check(called, ()), says, place)
        elif step.check:
            self._settle(step.check, f"Your code {why} while it was being checked.", place)
            self.deadly |= set(step.check.arguments)
        elif step.is_students:
            self.ran[place] = Ran(fatal=why)
            self._tell(step, self.ran[place])
        else:
            self._blame(place)
        return False

    def _counts(self, place: int) -> bool:
        """Has it happened twice? If not, the next try is in a fresh sandbox."""
        self.died[place] += 1
        self.troubled.add(place)
        if not self.job.is_alone or self.died[place] > 1:
            return True
        self.sandbox.close()
        return False

    def _blame(self, place: int) -> None:
        """A cell of ours does not end, and it is never left out: what ran before it is."""
        earlier = range(place - 1, -1, -1)
        open_ = (p for p in earlier if self.steps[p].is_students and not self._is_out(p))
        suspect = next(open_, None)
        if suspect is None:
            raise Lost(f"our own cell {self.steps[place].id} did not come to an end")
        kept = f"kept our cell {self.steps[place].id} from coming to an end"
        self.ran[suspect] = Ran(fatal=kept)

    def _is_out(self, place: int) -> bool:
        return place in self.ran and bool(self.ran[place].fatal)

    def _needs(self) -> Needs:
        """What the child should find loaded: the unit's checks, and what the cells mention."""
        sources = "\n".join(step.source for step in self.steps)
        modules = [module for module in LARGE if module.partition(".")[0] in sources]
        given = [s.source for s in self.steps if not s.is_students and s.check is None]
        unit = self.job.unit.partition("_")[2]
        given = given if sum(map(len, given)) < MOST_LETTERS else given[:1]
        return Needs([f"{current().checks}.{unit}", *modules], given)

    def _run(self, there: Submission, place: int, step: Step) -> None:
        if step.is_students and (self._is_out(place) or self._is_never_reached(place)):
            return  # the rest goes on without it
        self.tell(place)
        try:
            with self.alarm.step():
                report = there.run(step.source, self._reserved(step), step.count)
        except Gone as gone:
            raise _Died(place, str(gone)) from None
        except Exception as error:
            self.ran[place] = Ran(error={"type": type(error).__name__, "says": str(error)})
        else:
            self.ran[place] = _as_ran(report)
            self._note_seen(self.ran[place].earlier)
        kind = (self.ran[place].error or {}).get("type")
        if kind == "TooSlow" and not (step.is_students and self._counts(place)):
            raise _Died(place, "took too long")
        self._tell(step, self.ran[place])

    def _reserved(self, step: Step) -> list[str]:
        """The functions that are the answers of the exercises for which a cell was typed."""
        return [name for e in sorted(step.answers) for name in self.exercises[e].forbidden]

    def _tell(self, step: Step, ran: Ran) -> None:
        if self.job.verbose:
            about = {"cell": step.id, "source": step.source, "printed": ran.printed}
            self.story.append({**about, "trouble": ran.trouble})

    def _judge(self, there: Submission, place: int, check: Check) -> None:
        start = time.monotonic()
        exercise = self.exercises[check.exercise]
        if place in self.job.lost_at:
            self._settle(check, "The judge could not cope with this answer.", place)
            return
        self.tell(place)
        there.was_slow = False
        try:
            with self.alarm.step():
                feedback, shown = self._feedback(there, place, exercise, check)
        except Gone as gone:
            raise _Died(place, str(gone)) from None
        if there.was_slow and not self._counts(place):
            raise _Died(place, "took too long")
        self.judged_last = exercise.name
        if self._record(exercise, feedback, place, time.monotonic() - start):
            for others in self.with_other_ids.values():
                others.pop(exercise.name, None)
            if feedback.earned < feedback.points:
                self._judge_with_other_ids(there, place, exercise, check)
            self.unsigned[exercise.name] = (feedback, there)
        if self.job.verbose:
            source = self.steps[self._cell_of(place)[0]].source
            self.story.append({"exercise": source, "seen": shown, "says": repr(feedback)})

    def _feedback(
        self,
        there: Submission,
        place: int,
        exercise: Exercise,
        check: Check,
        as_id: str | None = None,
    ) -> tuple[Feedback, list[str]]:
        answers: list[Any] = []
        reasons: list[NotAttempted | Unreadable] = []
        for name, expression in self._bound(check, exercise, place).items():
            kind = exercise.kinds[name]
            earlier = name in exercise.optional  # without it the check goes on
            if earlier and expression in self.deadly:
                answers.append(NotAttempted())
                continue
            try:
                is_called = self._cell_of(place)[1] and name in check.arguments
                value = there.answer(check.exercise, name) if is_called else there.value(expression)
                if isinstance(kind, Student):
                    value = as_id or self.ids.at_a_check(value)
                answers.append(value)
            except Exception as error:
                answers.append(self._without_answer(place, exercise.name, expression, error))
                reasons += [] if earlier else answers[-1:]
        if reasons and (not exercise.parts or len(reasons) == len(answers)):
            return _not_judged(exercise, reasons[0]), []
        if (names := _forbidden(exercise)) is not None:
            with contextlib.suppress(Exception):  # whoever breaks this is on their side of the wall
                there.forbid(names)
        there.begin(self.limits.cell * PATIENCE)
        there.foresee(FORESEEN[self.job.unit, exercise.name])
        exercise.seed = seed_of(self.job.seed, exercise.name)
        return judged_once(exercise, *answers), [_shown(answer) for answer in answers]

    def _judge_with_other_ids(
        self, there: Submission, place: int, exercise: Exercise, check: Check
    ) -> None:
        """What the answer earns with the ids that the notebook has; who is told decides.

        Where no other place tells whose an id is, it is what the notebook showed, and no more.
        """
        if not any(isinstance(kind, Student) for kind in exercise.kinds.values()):
            return
        for other in self.ids.others():
            try:
                with self.alarm.step():
                    feedback, _ = self._feedback(there, place, exercise, check, other)
            except Gone as gone:
                raise _Died(place, str(gone)) from None
            kept = self.results[exercise.name]
            if self.ids.true is not None:
                with_it = replace(kept, **_as_result(feedback))
                self.with_other_ids.setdefault(other, {})[exercise.name] = with_it
            elif feedback.earned > kept.earned:
                shown = (feedback.earned, feedback.points)
                self.results[exercise.name] = replace(kept, shown=shown)

    def _bound(self, check: Check, exercise: Exercise, place: int) -> dict[str, str]:
        """The expression for each parameter: theirs, and ours where their call has none."""
        names = list(exercise.kinds)
        ours = dict(zip(names, self.asked[exercise.name].arguments, strict=True))
        if self._cell_of(place)[1]:
            return ours
        theirs = dict(zip(names, check.arguments, strict=False)) | dict(check.named)
        is_possible = len(check.arguments) <= len(names) and set(theirs) <= set(names)
        return ours | theirs if is_possible else ours

    def _without_answer(
        self, place: int, exercise: str, expression: str, error: Exception
    ) -> NotAttempted | Unreadable:
        """The expression has no value: not attempted, or there was an error."""
        above = [p for p in self._typed(exercise) if p <= self._cell_of(place)[0] and p in self.ran]
        errors = [self.ran[p] for p in above if self.ran[p].trouble]
        blank = any((ran.error or {}).get("type") == "NotAttempted" for ran in errors)
        if blank or all(_is_empty(self.steps[p].source) for p in above):
            return NotAttempted()
        if isinstance(error, WireError):
            says = f"`{expression}` cannot be checked: {error}."
        elif magics := [magic for p in above for magic in self.ran[p].magics]:
            says = f"{magics[0]} does nothing here, nor does what it holds; leave it out. So there "
            says += f"is no `{expression}`."
        elif errors := self._failed_to_make(expression) or errors:
            trouble = self._cause(errors[-1]).trouble.rstrip(".")
            says = f"Your cell {trouble}. So there is no `{expression}`."
        else:
            says = f"`{expression}` has no value: {type(error).__name__}: {error}."
        return Unreadable(says)

    def _failed_to_make(self, names: str) -> list[Ran]:
        """The cells that were to make one of these names, and stopped at an error."""
        wanted, ran = set(re.findall(r"\w+", names)), self.ran.items()
        return [
            r
            for p, r in sorted(ran, key=lambda item: item[0])
            if r.trouble and wanted & bound(self.steps[p].source)
        ]

    def _cause(self, ran: Ran) -> Ran:
        """The first error of those that follow from one another, for want of a name."""
        known = [ran]
        while missing := MISSING.search(str((ran.error or {}).get("says", ""))):
            earlier = self._failed_to_make(missing[1])
            if not earlier or earlier[-1] in known:
                break
            known.append(ran := earlier[-1])
        return ran

    def _typed(self, exercise: str) -> list[int]:
        """The places of all that the student typed for an exercise, with what called its check."""
        return [
            place
            for place, step in enumerate(self.steps)
            if step.is_students
            and (exercise in step.answers or self._shown(place, exercise) is not None)
        ]

    def _settle(self, check: Check, says: str, place: int) -> None:
        exercise = self.exercises[check.exercise]
        self._record(exercise, _said(exercise, Outcome.UNCHECKED, says), place, 0.0)

    def _shown(self, place: int, exercise: str) -> int | None:
        """The points that the check showed when the cell called it; None if it did not."""
        called = self.ran[place].called if place in self.ran else ()
        return next((one.earned for one in called if one.exercise == exercise), None)

    def _record(self, exercise: Exercise, feedback: Feedback, place: int, seconds: float) -> bool:
        """Note the verdict; False if the one of an earlier call stands."""
        number, is_called = self._cell_of(place)
        call = self.steps[number]
        result = Result(
            **feedback.as_dict(),
            seconds=round(seconds, 4),
            called=call.source[:200] if call.check else self.sources[exercise.name],
            by_hand=tuple(_about_verdict(feedback)),
        )
        kept = self.results.get(exercise.name)
        stands = self._has_verdict(exercise.name) and self._stands(result, number)
        if kept and stands:
            result = kept
        elif kept and kept.earned > result.earned:
            says = f"An earlier call gave {kept.earned} of {kept.points}; the last one counts."
            result = replace(result, by_hand=(*result.by_hand, says))
        if is_called or not call.is_restored:
            self.shown[exercise.name] = self._shown(number, exercise.name) or 0
        self.results[exercise.name], self.judged_at[exercise.name] = result, number
        return not stands

    def _with_typed(self, result: Result) -> Result:
        """The result with all that was typed for it, and what a person should know of that."""
        number, typed = self.judged_at[result.name], self._typed(result.name)
        call = self.steps[number]
        is_right = result.outcome == Outcome.RIGHT
        below = [p for p in typed if p > number and BLANK not in self.steps[p].source]
        below = [] if is_right else below
        if below and result.outcome == Outcome.NOT_ATTEMPTED:
            result = replace(result, outcome=str(Outcome.UNCHECKED), says=TYPED_BELOW)
        missing = MISSING.search(result.says) if result.outcome == Outcome.UNCHECKED else None
        if missing and (failed := self._failed_to_make(missing[1])):
            trouble = self._cause(failed[-1]).trouble.rstrip(".")
            if trouble not in result.says:
                result = replace(result, says=f"{result.says} Your cell {trouble}.")
        if result.points >= (shown := self.shown.get(result.name, 0)) > result.earned:
            result = replace(result, shown=(shown, result.points))
        above = [p for p in typed if p <= number]
        own = [self.steps[p].source for p in (*above, *below)]
        if call.check and call.check != self.asked[result.name]:
            own.append(call.source)  # it has other arguments, and may hold the answer
        stopped = (p for p in typed if self._is_out(p))
        about = dict.fromkeys(self._about_cells({*typed, number})) | self.seen[result.name]
        return replace(
            result,
            answer="\n\n".join(own)[:20_000],
            notes=tuple(f"The cell {self.steps[p].id} {self.ran[p].trouble}." for p in stopped),
            printed="".join(self.ran[p].printed for p in above if p in self.ran)[:2000],
            by_hand=(*result.by_hand, *about),
        )

    def _stands(self, result: Result, number: int) -> bool:
        """Does an earlier verdict stand? Until a call in the notebook comes to another one."""
        is_restored = self.steps[number].is_restored
        return is_restored or self._is_behind_error(number) or result.outcome in NO_VERDICT

    def _is_behind_error(self, number: int) -> bool:
        """Did an earlier part of its cell stop at an error?"""
        cell, earlier = self.steps[number].cell, (p for p in self.ran if p < number)
        return cell >= 0 and any(
            self.steps[p].cell == cell and self.ran[p].has_stopped for p in earlier
        )

    def _is_never_reached(self, place: int) -> bool:
        """Is it behind an error of its cell, and typed for what had a verdict, which stands?"""
        has_verdict = any(map(self._has_verdict, self.steps[place].answers))
        if place not in self.ran and has_verdict and self._is_behind_error(place):
            self.unreached.add(place)
            self.ran[place] = Ran()
        return place in self.unreached

    def _about_cells(self, places: Iterable[int]) -> Iterator[str]:
        """What a person should know of these cells."""
        forbidden = {name for e in self.exercises.values() for name in e.forbidden}
        for place in sorted(places):
            step, ran = self.steps[place], self.ran.get(place, Ran())
            if ran.fatal:
                yield f"The cell {step.id} {ran.trouble}."
            yield from (f"The cell {step.id} {what}." for what in ran.seen)
            yield from flags(step.id, step.source, forbidden)

    # -- after all is judged: what wrong answers are, in numbers --------------------------------

    def _sign_all(self, there: Submission) -> None:
        """Nothing that happens here can change a verdict; those of functions come last."""
        if SIGNING in self.job.lost_at:
            return
        self.tell(SIGNING)
        waiting: list[tuple[bool, str, str]] = []
        for name, (feedback, home) in self.unsigned.items():
            exercise = self.exercises[name]
            with contextlib.suppress(Exception):  # it costs a description, never a judge
                for part in behavior.unnamed(feedback):
                    calls = behavior.needs_calls(exercise, part)
                    waiting += [(calls, name, part)] if home is there or not calls else []
                if self.job.is_solution:
                    self.references[name] = behavior.refer(exercise, feedback).as_dict()
        with contextlib.suppress(Gone):
            for _, name, part in sorted(waiting, key=lambda one: one[0]):
                self._sign(there, self.exercises[name], part)

    def _sign(self, there: Submission, exercise: Exercise, part: str) -> None:
        result = self.results[exercise.name]
        with contextlib.suppress(Exception), self.alarm.step():
            if behavior.needs_calls(exercise, part):
                there.forbid(list(exercise.forbidden))
                there.begin(1.0 + result.seconds)
            feedback, _ = self.unsigned[exercise.name]
            there.foresee(FORESEEN[self.job.unit, exercise.name, part])
            seed = seed_of(self.job.seed, exercise.name)
            signed = behavior.sign(exercise, feedback, part, seed).as_dict()
            self.results[exercise.name] = replace(result, signatures=(*result.signatures, signed))

    def _by_hand(self) -> list[str]:
        """What a person should know of the whole, and of cells that belong to no exercise."""
        nobodys = [p for p, s in enumerate(self.steps) if s.is_students and not s.answers]
        return [*self.ids.by_hand(), *self._about_cells(nobodys)]

    def _counts_with_id(self) -> bool:
        """Was an answer checked that depends on the student's id?"""
        return any(
            result.outcome not in NO_VERDICT
            and any(isinstance(kind, Student) for kind in self.exercises[name].kinds.values())
            for name, result in self.results.items()
        )

    def _magics(self) -> list[str]:
        """Magics that swallowed code, which ran nowhere."""
        return [
            f"The cell {self.steps[p].id} uses {magic}, which does nothing here."
            for p, ran in sorted(self.ran.items())
            for magic in ran.magics
        ]


class _Ids:
    """The id of the submission: read once, where the notebook says it; one holds for all of it."""

    def __init__(self, job: Job, steps: tuple[Step, ...]) -> None:
        self.true, self.own = job.student_id, {*map(_bare, (job.student_id, *job.own_ids))}
        self.holds = job.student_id
        self.written: str | None = None
        self.changed = ""
        self.called: str | None = ""
        self.is_told = any(step.tells_id and step.is_students for step in steps)
        self.now: str | None = None  # what the last check that takes an id was called with
        self.places = self._where(steps)

    def _where(self, steps: tuple[Step, ...]) -> list[int]:
        """After a cell that tells the id; if that is lost, after all before the first answer."""
        told = [i for i, step in enumerate(steps) if step.tells_id]
        if not told or steps[told[-1]].is_students or self.true is not None:
            return told
        first = next((i for i, step in enumerate(steps) if step.check), len(steps))
        answers = [i for i in range(first) if steps[i].is_answer]
        return [max(told[-1], (answers or [first])[0] - 1)]

    def read(self, there: Submission) -> None:
        """Read the id that the notebook has; where another one is true, put that in its place."""
        try:
            self.written = _spelled(there.value("student"))
        except Exception:  # not there, or something odd: then the checks say so
            self.written = None
        if self.true is None or self.is_own:
            self.holds = self.written
        else:
            there.run(f"student = {self.holds!r}")

    def others(self) -> list[str]:
        """The ids that the notebook has, at this check and where it tells one, if not theirs.

        Theirs is among them as the roster spells it, where the notebook does so otherwise.
        """
        told = (self.now,) if self.true is None else (self.now, self.written)
        theirs = {_bare(self.holds), *self.own}
        others = [o for o in dict.fromkeys(told) if o is not None and _bare(o) not in theirs]
        is_spelled = self.true in (None, self.holds)  # zeros in front make other numbers
        return others if is_spelled else [*others, str(self.true)]

    @property
    def is_own(self) -> bool:
        """Is the id that the notebook has one of the student's?"""
        return _bare(self.written) in self.own

    def at_a_check(self, written: Any) -> Any:
        """The id that holds, whatever stands in the notebook now."""
        now = self.now = _spelled(written)
        if self.holds is None:
            return written
        if self.true is None and self.holds == NOBODYS and now not in (None, NOBODYS):
            self.holds = now  # the first id that is somebody's
            self.called = now if self.is_told else ""
        if now not in (None, self.holds) and not self.changed:
            self.changed = str(now)
        return self.holds

    def notes(self, is_used: bool) -> list[str]:
        """What the student should know; of nobody's id only where an answer was checked with it."""
        if self.holds == NOBODYS and self.true is None:
            return [NOBODYS_ID] if is_used else []
        is_ours = self.written == NOBODYS and not self.is_told  # the cell was lost
        if self.true is None or self.written is None or self.is_own or is_ours:
            return []
        return [
            f"Your notebook used id {self.written}; your number is {self.true}, and your answers "
            f"were checked with the numbers of {self.true}."
        ]

    def by_hand(self) -> list[str]:
        """What a person should know."""
        told = []
        if self.changed:
            told.append(
                f"The student id changed while it ran, from {self.holds} to {self.changed}; "
                f"{self.holds} held."
            )
        if self.called:
            told.append(f"The notebook has id 0, and a check was called with {self.called}.")
        return told


def judged_once(exercise: Exercise, *answers: Any) -> Feedback:
    """The feedback; that on words and numbers depends on them alone, and is known from then on.

    What is right has nothing to describe, so it is known without what was judged.
    """
    words, fresh = _words(answers), []
    if words is None:
        return exercise(*answers)
    key = exercise.unit, exercise.name, exercise.seed, words

    def judged() -> Feedback:
        fresh.append(found := exercise(*answers))
        return replace(found, judged=None) if found.outcome is Outcome.RIGHT else found

    def is_certain(feedback: Feedback) -> bool:
        return feedback.outcome is not Outcome.UNCHECKED  # else time may have been up

    known = recalled(KNOWN, key, judged, MOST_KNOWN, is_certain)
    return fresh[0] if fresh else known


def _words(answer: Any) -> tuple[Any, ...] | None:
    """Equal for answers that are the same to the last letter; None where one is not words alone."""
    kind = type(answer)
    if kind is list or kind is tuple:
        parts = [_words(part) for part in answer]
        return None if None in parts else (kind, *parts)
    if kind is int and answer.bit_length() < MOST_LETTERS:
        return kind, answer
    if kind is str or kind is Written:
        text = answer if kind is str else answer.text
        return (kind, text) if len(text) < MOST_LETTERS else None
    return (kind, repr(answer)) if kind in (float, bool, type(None)) else None


def _bare(own: str | None) -> str | None:
    """An id as it is compared: without the zeros in front, which no number in Python has."""
    return own.lstrip("0") or "0" if own and own.isdecimal() else own


def _spelled(written: Any) -> str | None:
    try:
        return student_id(written)
    except ValueError:
        return None


class _Alarm:
    """Ends a check that does not come to an end by itself; if even that fails, ends the judge.

    The block around all steps has the last resort, which costs a thread whenever it is set.
    """

    def __init__(self, limits: Limits) -> None:
        self.seconds = 2 * PATIENCE * limits.cell + 5
        self.wall, self._set = limits.step_wall(self.seconds), 0.0

    def __enter__(self) -> _Alarm:
        signal.signal(signal.SIGPROF, self._ring)
        self._set_last_resort()
        return self

    def __exit__(self, *_: object) -> None:
        faulthandler.cancel_dump_traceback_later()

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Around one step, which has the whole time but for a twentieth."""
        if time.monotonic() - self._set > self.wall / 20:
            self._set_last_resort()
        signal.setitimer(signal.ITIMER_PROF, self.seconds, 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _set_last_resort(self) -> None:
        self._set = time.monotonic()
        faulthandler.dump_traceback_later(self.wall, exit=True, file=sys.__stderr__ or sys.stderr)

    @staticmethod
    def _ring(*_: object) -> None:
        raise Gone("took too long")


def _is_empty(source: str) -> bool:
    """Is there nothing in the cell but comments, and what stands for nothing?"""
    return all(re.fullmatch(r"\s*(?:(?:pass|\.\.\.)\s*)?(?:#.*)?", x) for x in source.splitlines())


def _forbidden(exercise: Exercise) -> list[str] | None:
    """What a student's functions must not call for it; None if there are none to call."""
    return list(exercise.forbidden) if behavior.needs_calls(exercise) else None


def _as_ran(report: Any) -> Ran:
    """The report of a cell, which may be anything."""
    report = report if isinstance(report, dict) else {}
    printed, error, magics = report.get("printed"), report.get("error"), report.get("magics")
    seen = _sentences(report.get("seen"))
    return Ran(
        printed=printed[:10_000] if isinstance(printed, str) else "",
        error={k: str(v)[:500] for k, v in error.items()} if isinstance(error, dict) else None,
        magics=tuple(str(m)[:40] for m in magics[:5]) if isinstance(magics, list) else (),
        seen=seen,
        earlier=_sentences(report.get("earlier")),
        called=_calls(report.get("called")),
    )


def _calls(told: Any) -> tuple[Called, ...]:
    """The checks that a cell says it called, which may be anything."""
    calls = []
    for name, about in list(told.items())[:100] if isinstance(told, dict) else []:
        match about:
            case [int(earned), [*given]]:
                calls.append(Called(str(name), earned, tuple(map(str, given[:20]))))
    return tuple(calls)


def _sentences(told: Any) -> tuple[str, ...]:
    """What a child says that it has seen, which may be anything."""
    return tuple(str(one)[:200] for one in told[:20]) if isinstance(told, list) else ()


def _about_verdict(feedback: Feedback) -> Iterator[str]:
    """What a person should know of a verdict."""
    if "The check itself failed" in feedback.says:
        yield "The check failed by itself."
    if feedback.undecided:
        yield f"No trial decides this, and the points were given: {feedback.undecided}"


def _said(exercise: Exercise, outcome: Outcome, says: str) -> Feedback:
    says = " ".join(says.split())
    return Feedback(exercise.number, exercise.name, outcome, 0, exercise.points, says)


def _not_judged(exercise: Exercise, reason: NotAttempted | Unreadable) -> Feedback:
    if isinstance(reason, NotAttempted):
        return _said(exercise, Outcome.NOT_ATTEMPTED, "There is no answer to check.")
    return _said(exercise, Outcome.UNCHECKED, str(reason))


def seed_of(seed: str, exercise: str) -> int:
    """The seed of one exercise, the same for a whole class and at every regrade."""
    return int(sha256(f"{seed} {exercise}".encode()).hexdigest()[:8], 16)


def _as_result(feedback: Feedback) -> dict[str, Any]:
    """What a feedback changes in a result."""
    data = feedback.as_dict()
    return {name: data[name] for name in ("outcome", "earned", "says")} | {
        "mistakes": tuple(data["mistakes"])
    }


def _shown(answer: Any) -> str:
    from selfcheck.display import show

    return answer[:500] if isinstance(answer, str) else show(answer, digits=6)


# -- the process ----------------------------------------------------------------------------------


def judge(job: Job, sandbox: Sandbox, tell: Callable[[int], None] = lambda place: None) -> dict:
    """The grade as plain data, with the story if it was asked for."""
    judging = Judging(job, sandbox, tell)
    graded = judging.graded()
    if graded.earned < graded.points and not (judging.in_doubt or job.lost_at):
        graded = _better_in_our_order(graded, job, sandbox, tell)
    answer = {"graded": graded.as_dict(), "story": judging.story, "again": judging.in_doubt}
    others = judging.with_other_ids
    answer["with other ids"] = {
        written: {name: other.as_dict() for name, other in results.items()}
        for written, results in others.items()
    }
    if job.is_solution:
        answer["read"] = fingerprint.read_here([*judging.loaded, CHILD])
    return {**answer, "protection": sandbox.protection, "references": judging.references}


def _better_in_our_order(
    graded: Graded, job: Job, sandbox: Sandbox, tell: Callable[[int], None]
) -> Graded:
    """Where cells of the sheet were moved, what their old order earns counts too."""
    cells = in_our_order([Ours(*c) for c in job.solution], [Cell(*c) for c in job.cells])
    if [list(cell) for cell in cells] == [list(cell) for cell in job.cells]:
        return graded
    moved = replace(job, cells=[list(cell) for cell in cells])
    other = Judging(moved, sandbox, lambda place: tell(SIGNING)).graded()
    again = {result.name: result for result in other.results}
    better = [r.name for r in graded.results if again[r.name].earned > r.earned]
    if not better:
        return graded
    results = tuple(again[r.name] if r.name in better else r for r in graded.results)
    note = f"Cells were moved; {', '.join(better)} counts in the order of the sheet."
    return replace(graded, results=results, notes=(*graded.notes, note))


def main(number: int, sandboxed: bool, steps: int) -> None:
    """Serve jobs until the input ends; `steps` is the file for the steps that are begun."""
    fingerprint.watch()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started us decides when to stop
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing else may get between the answers
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))

    def tell(place: int) -> None:
        os.pwrite(steps, b"%20d" % place, 0)

    with Sandbox(sandboxed, number) as sandbox:
        sandbox.begin()
        for line in sys.stdin:
            try:
                answer = judge(Job(**json.loads(line)), sandbox, tell)
            except CourseError as problem:
                answer = {"problem": str(problem)}
            except Lost as loss:
                answer = {"lost": str(loss)}
            print(json.dumps(answer), file=answers, flush=True)
            if not gc.isenabled():  # what is loaded now stays, and is never garbage
                gc.freeze()
                gc.enable()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "sandboxed", int(sys.argv[3]))
