"""What grading a submission leaves behind: plain data that goes through JSON unchanged.

A `Result` is one exercise, a `Graded` one submission. An `Override` is points that a person gave
with a reason, or a comment, and a `Mark` is what counts in the end: results with the overrides on
top, and what is lost for being late. A person may give half points.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Self

from selfcheck.feedback import Feedback, NamedMistake, Outcome
from selfcheck.units import beyond

from .settings import LateRule

NOBODYS = "0"  # the id in the sheet as it is given out, with the homework's own numbers
NOTHING = "Nothing was handed in."
NOT_HOW_LATE = "It is marked as late, and not how late: it counts as one day."
UNFINISHED = "A blank (`____`) is left in what you typed, so there was no answer to check."
NEEDS_A_BLANK = (
    "What you typed uses something that is still blank (`____`), so there was no answer to check."
)
COMMENTED = "What you typed is commented out (`#`), so there was no answer to check."
NO_ANSWERS = (UNFINISHED, NEEDS_A_BLANK, COMMENTED)
SEVERAL = "This may be of several students:"  # stands first in the queue
NO_RULE = LateRule()


def points(value: float) -> float | int:
    """A number of points as it is written: 2, or 2.5."""
    return int(value) if value == int(value) else value


@dataclass(frozen=True, slots=True)
class _Record:
    """A record is its fields, as plain data."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; records within are in tuples."""
        return {
            name: tuple(map(_plain, value)) if type(value) is tuple else value
            for name in self.__dataclass_fields__
            for value in [getattr(self, name)]
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The record again; JSON turns tuples into lists, so lists become tuples."""
        known = cls.__dataclass_fields__
        return cls(**{n: _shared(v) for n, v in data.items() if n in known})


def _shared(value: Any) -> Any:
    """The value with its texts shared: thousands of records say the same of an exercise."""
    if type(value) is str:
        return sys.intern(value)
    if type(value) is list:
        return tuple(map(_shared, value))
    if type(value) is dict:
        return {name: sys.intern(v) if type(v) is str else v for name, v in value.items()}
    return value


def _plain(value: Any) -> Any:
    return value.as_dict() if isinstance(value, _Record) else value


@dataclass(frozen=True, slots=True)
class Result(_Record):
    """One exercise of one submission: what was answered and what the check said."""

    number: str
    name: str
    outcome: str
    earned: int
    points: int
    says: str
    mistakes: tuple[dict[str, Any], ...] = ()  # each with name, explanation, part and instead
    answer: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    signatures: tuple[dict[str, Any], ...] = ()  # of wrong parts without a known mistake
    called: str = ""  # the check as it was called
    printed: str = ""  # by the cells of the answer
    shown: tuple[int, ...] = ()  # points that the file shows, and of how many, where it is more
    is_as_shown: bool = False  # the file shows no more points, or the very error
    by_hand: tuple[str, ...] = ()  # why a person should look at this answer
    alike: tuple[str, ...] = ()  # what it has in common with answers of others
    beside: tuple[str, ...] = ()  # who has it so too, of pairs with much in common

    @property
    def evidence(self) -> str:
        """What the student's notebook showed, where the grade gives less."""
        if not self.shown:
            return ""
        earned, points = self.shown
        return f"the notebook showed {earned} of {points}, the grade gives {self.earned}"

    @property
    def feedback(self) -> Feedback:
        """The same as the object that a student sees below a check."""
        return Feedback(
            self.number,
            self.name,
            Outcome(self.outcome),
            self.earned,
            self.points,
            self.says,
            self.known,
        )

    @property
    def known(self) -> tuple[NamedMistake, ...]:
        """The known mistakes that were named."""
        return tuple(NamedMistake(**mistake) for mistake in self.mistakes)

    @property
    def misconception(self) -> str | None:
        """The name of the first of them."""
        return self.feedback.misconception

    @property
    def explanation(self) -> str | None:
        """What is said to those who make it."""
        return self.feedback.explanation


@dataclass(frozen=True, slots=True)
class Graded(_Record):
    """One submission after grading; with a `problem`, nothing of it could be graded."""

    student: str
    unit: str
    file: str
    digest: str
    student_id: str | None = None
    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str | None = None
    by_hand: tuple[str, ...] = ()
    seconds: float = 0.0
    written_id: str | None = None  # the id in the notebook, where another one held
    content: str = ""  # a digest of the file alone
    alike: tuple[str, ...] = ()  # what it has in common with others of the class
    late: float | None = None  # days; None: in time, or not known
    attempt: int = 1
    number: str = ""  # the platform's number of the student
    platform: str = ""
    is_gone: bool = False  # the file is no longer among the submissions
    mistakes: dict[str, str] = field(default_factory=dict)  # digests of what was known, by exercise

    @property
    def earned(self) -> int:
        """Points by the checks alone."""
        return sum(result.earned for result in self.results)

    @property
    def points(self) -> int:
        """Points there are to earn."""
        return sum(result.points for result in self.results)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The record again, with its results."""
        results = [*map(Result.from_dict, data["results"])]
        return super(Graded, cls).from_dict({**data, "results": results})


@dataclass(frozen=True, slots=True)
class Override(_Record):
    """Points that a person gave for one exercise, and why; without points, a comment alone."""

    student: str
    unit: str
    exercise: str
    earned: float | None
    reason: str
    made_at: str
    comment: str = ""
    answer: str = ""  # a digest of the answer for which it was made; none in old gradebooks


@dataclass(frozen=True, slots=True)
class Line:
    """One exercise of a mark: the check's result, and the override if there is one."""

    result: Result
    override: Override | None = None

    @property
    def earned(self) -> float | int:
        """The points that count; an override never exceeds what the exercise is worth now."""
        if self.override is None or self.override.earned is None:
            return self.result.earned
        return points(min(self.override.earned, self.result.points))

    @property
    def is_overridden(self) -> bool:
        """Did a person give points?"""
        return self.override is not None and self.override.earned is not None

    @property
    def is_unchecked(self) -> bool:
        """Could an answer not be checked, and does the notebook itself not show as much?

        What has a blank in it, or is a comment, is no answer.
        """
        is_open = self.result.outcome == Outcome.UNCHECKED and not self.result.is_as_shown
        return is_open and self.result.says not in NO_ANSWERS

    @property
    def to_look_at(self) -> tuple[str, ...]:
        """Why a person should look at this answer; what the student's file shows comes first."""
        result, told = self.result, []
        if result.evidence and not self.is_overridden:
            told.append(f"{result.evidence[0].upper()}{result.evidence[1:]}.")
        if self.is_unchecked and not self.is_overridden:
            told.append(f"It {result.outcome}: {result.says}")
        if self.is_for_another_answer:
            told.append("The override was made for another answer; look at it again.")
        return (*told, *result.by_hand, *result.alike)

    @property
    def is_for_another_answer(self) -> bool:
        """Has the answer changed since the override was made?"""
        made_for = self.override.answer if self.override else ""
        return bool(made_for) and made_for != answer_digest(self.result)


@dataclass(frozen=True, slots=True)
class Mark:
    """What counts for a student and unit: results, with overrides on top."""

    graded: Graded
    lines: tuple[Line, ...]
    stale: tuple[Override, ...] = ()  # overrides of exercises that the submission no longer has
    rule: LateRule = NO_RULE

    @property
    def is_graded(self) -> bool:
        """Is there a grade: from the checks, or from a person's hand?"""
        return not self.graded.problem or any(line.is_overridden for line in self.lines)

    @property
    def before(self) -> float | int:
        """The points of all exercises."""
        return points(sum(line.earned for line in self.lines))

    @property
    def deduction(self) -> float | int:
        """What is lost of them for being late."""
        return points(self.rule.deduction(self.before, self.graded.late))

    @property
    def earned(self) -> float | int:
        """The points that count."""
        return points(self.before - self.deduction)

    @property
    def late(self) -> str:
        """How late it is, in words; empty if it is in time, as far as is known."""
        if not self.graded.late:
            return ""
        days = self.graded.late
        hours = max(1, round(24 * days))
        return f"{days:.1f} days" if hours > 48 else f"{hours} hour{'' if hours == 1 else 's'}"

    @property
    def points(self) -> int:
        """Points there are to earn."""
        return sum(line.result.points for line in self.lines)

    @property
    def beyond_the_page(self) -> float | int:
        """The points of the exercises beyond the page."""
        apart = beyond(self.graded.unit)
        return points(sum(line.earned for line in self.lines if line.result.name in apart))

    @property
    def about_all(self) -> tuple[str, ...]:
        """Why a person should look at this submission as a whole; the gravest reason first."""
        by_hand_alone = self.graded.problem == NOTHING and any(x.is_overridden for x in self.lines)
        problem = [self.graded.problem] if self.graded.problem and not by_hand_alone else []
        gone = [GONE] if self.graded.is_gone else []
        stale = [f"The override of {o.exercise} has nothing to stand on." for o in self.stale]
        return (*problem, *gone, *self.graded.by_hand, *self.graded.alike, *stale)

    @property
    def to_look_at(self) -> tuple[str, ...]:
        """All reasons to look at it: answers whose points the file shows, the file, the answers."""
        told = [
            (not line.result.evidence, f"{line.result.number} {line.result.name}: {reason}")
            for line in self.lines
            for reason in line.to_look_at
        ]
        first = [reason for is_later, reason in told if not is_later]
        return (*first, *self.about_all, *(reason for is_later, reason in told if is_later))


def in_brief(marks: Iterable[Mark]) -> Iterator[Mark]:
    """All that tables and reports of a class tell of each: without texts, which take the room.

    Thousands have the same of an exercise; it is in memory once.
    """
    once: dict[str, Line] = {}
    for m in marks:
        brief = {}
        for result in map(_brief, m.graded.results):
            brief[result.name] = once.setdefault(repr(result), Line(result))
        results = tuple(line.result for line in brief.values())
        graded = replace(m.graded, results=results, digest="", content="", mistakes={})
        lines = tuple(x if x.override else brief[x.result.name] for x in m.lines)
        yield replace(m, graded=graded, lines=lines)


def _brief(result: Result) -> Result:
    says = result.says if result.outcome == Outcome.UNCHECKED else ""
    brief = replace(result, says=says, answer="", printed="", called="")
    return replace(brief, notes=(), signatures=(), seconds=0.0)


GONE = "The file is no longer among the submissions; its grade is kept."


def answer_digest(result: Result) -> str:
    """What tells an answer from another one."""
    return sha256(result.answer.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def any_signed(everyone: Iterable[Graded]) -> bool:
    """Is there a wrong answer whose kind is not known? Else there are no families of them."""
    return any(result.signatures for graded in everyone for result in graded.results)


def in_order(number: str) -> tuple[tuple[int, str], ...]:
    """To sort exercise numbers: 2.9 comes before 2.10."""
    return tuple((int(part) if part.isdecimal() else 0, part) for part in number.split("."))


def mark(
    graded: Graded, overrides: Iterable[Override], rule: LateRule = NO_RULE, without: str = ""
) -> Mark:
    """The submission's results with those of the overrides that are meant for it.

    Exercises that do not count in this class are left out: `without` is "transfer", "essentials".
    """
    mine = {
        o.exercise: o for o in overrides if (o.student, o.unit) == (graded.student, graded.unit)
    }
    lines = [Line(result, mine.pop(result.name, None)) for result in graded.results]
    if without:
        apart = beyond(graded.unit)
        lines = [x for x in lines if (x.result.name in apart) is (without == "essentials")]
    return Mark(graded, tuple(lines), tuple(mine.values()), rule)


def visible(text: str, limit: int = 10_000) -> str:
    """A student's text for a page or a file: what would be invisible or steer the eye is spelled.

    Bidirectional controls, for one, can make code read differently from what it does. Lone
    surrogates cannot be written to a file at all.
    """
    shown = text[:limit].replace("\r\n", "\n").translate(_SPELLED)
    left = len(text) - limit
    return shown if left <= 0 else f"{shown}\n… ({left} more characters)"


class _Spelled(dict):
    """A table for `str.translate` that learns each character when it first comes."""

    KEPT = "\n\t\u200c\u200d"  # the last two are needed to write Persian, Hindi and others

    def __missing__(self, code: int) -> str:
        character = chr(code)
        unseen = unicodedata.category(character) in ("Cc", "Cf", "Cs") or code & 0xFFFE == 0xFFFE
        spelled = f"⟨U+{code:04X}⟩" if unseen and character not in self.KEPT else character
        return self.setdefault(code, spelled)


_SPELLED = _Spelled()
