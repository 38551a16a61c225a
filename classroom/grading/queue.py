"""What a person should look at, answer by answer, and what was decided about it.

First what may be of several students, then answers whose points the student's own file shows, then
whatever else asks for a look by hand, then the wrong answers that several students share; each by
exercise, then by family. An item has the remarks about its answer, and no others. A decision is an
override in the gradebook: it is there at once and survives every regrade.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from selfcheck.files import CourseError

from ..roles import called_check
from .clusters import Family, families_of
from .gradebook import NAME, Gradebook
from .records import SEVERAL, Line, Mark, Result, in_order

OF_IDS = ("The student id", "The file of ids")  # how remarks about them begin
SHARED = 2  # students, from which on a family is worth a look


@dataclass(frozen=True)
class Place:
    """One answer in the queue; the mark itself may change meanwhile."""

    student: str
    unit: str
    exercise: str
    by_hand: bool  # else it is there for its family alone
    about_all: bool = False  # it stands for the submission as a whole

    @property
    def key(self) -> str:
        """How an address names it."""
        whose = json.dumps([self.student, self.unit, self.exercise])
        return sha256(whose.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class Alike:
    """An answer of somebody else's, to be seen beside one of this student's."""

    result: Result
    student: str
    typed: str


@dataclass(frozen=True)
class Answer:
    """What there is to see of an answer in the queue."""

    place: Place
    mark: Mark
    line: Line
    families: tuple[Family, ...]
    alike: tuple[Alike, ...] = ()  # this one first, then what else the same pairs have in common

    @property
    def is_decided(self) -> bool:
        """Has a person said something about this very answer?"""
        return self.line.override is not None and not self.line.is_for_another_answer

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why this item is in the queue."""
        own = self.line.to_look_at if self.place.by_hand else ()
        return (*own, *self.about_all)

    @property
    def about_all(self) -> tuple[str, ...]:
        """Those of them that are about the submission as a whole."""
        return self.mark.about_all if self.place.about_all else ()

    @property
    def others(self) -> list[str]:
        """Who else has this wrong answer."""
        there = {student for family in self.families for student in family.students}
        return sorted(there - {self.place.student})


class Queue:
    """The queue of a gradebook; keeps it open, and notices when somebody else writes into it."""

    def __init__(self, folder: Path, unit: str | None = None) -> None:
        self.folder, self.decisions = folder, 0
        self.book = Gradebook(folder / NAME, create=False)
        try:
            self.unit = unit and self.book.stem(unit)
        except CourseError:
            self.book.close()
            raise
        self._seen: int | None = None
        self._marks: dict[tuple[str, str], Mark] = {}
        self._families: dict[tuple[str, str, str], tuple[Family, ...]] = {}
        self._places: list[Place] = []

    def close(self) -> None:
        """Close the gradebook."""
        self.book.close()

    def places(self) -> list[Place]:
        """All answers to look at, in order."""
        if (now := self.book.changes()) != self._seen:
            self._read()
            self._seen = now
        return self._places

    def find(self, key: str) -> Place | None:
        """The place that an address names."""
        return next((place for place in self.places() if place.key == key), None)

    def answer(self, place: Place) -> Answer:
        """What there is to see there now."""
        m = self._marks[place.student, place.unit]
        line = next(line for line in m.lines if line.result.name == place.exercise)
        mine = self._families.get((place.unit, place.exercise, place.student), ())
        return Answer(place, m, line, mine, tuple(self._alike(m, line.result)))

    def _alike(self, m: Mark, told: Result) -> Iterator[Alike]:
        """What is to be seen beside it, then beside all else that the two have in common."""
        results = (told, *(r for r in m.graded.results if r.name != told.name))
        for who in told.beside if told.alike else ():
            theirs = self._marks.get((who, m.graded.unit))
            typed = {r.name: r.answer for r in theirs.graded.results} if theirs else {}
            yield from (Alike(r, who, typed.get(r.name, "")) for r in results if who in r.beside)

    def decide(
        self, place: Place, points: float | None, comment: str, everybody: bool = False
    ) -> int:
        """Let points count and add a comment; `everybody` in the family gets the comment too."""
        others = self.answer(place).others if everybody else []
        if others and not comment.strip():
            raise CourseError("Write the comment that everybody in the family should get.")
        self._override(place.student, place, points, comment)
        for student in others:
            self._override(student, place, None, comment)
        self.decisions += 1
        return 1 + len(others)

    def drop(self, place: Place) -> None:
        """Let the check's points count again."""
        self.book.drop_override(place.student, place.unit, place.exercise)
        self._refresh(place.student, place.unit)
        self.decisions += 1

    def _override(self, student: str, place: Place, points: float | None, comment: str) -> None:
        """Points that were given before stay where none are given now."""
        lines = {line.result.name: line for line in self._marks[student, place.unit].lines}
        before = lines[place.exercise].override
        reason = before.reason if before else ""
        earned = before.earned if before and points is None else points
        comment = comment if comment.strip() or before is None else before.comment
        self.book.override(student, place.unit, place.exercise, earned, reason, comment)
        self._refresh(student, place.unit)

    def _refresh(self, student: str, unit: str) -> None:
        m = self.book.mark(student, unit)
        assert m is not None  # only what is graded is in the queue
        self._marks[student, unit] = m

    def _read(self) -> None:
        marks = self.book.marks(self.unit)
        self._marks = {(m.graded.student, m.graded.unit): m for m in marks}
        families = [f for u in sorted({m.graded.unit for m in marks}) for f in self._shared(u)]
        self._families = {}
        for family in families:
            for student in family.students:
                key = (family.unit, family.exercise, student)
                self._families[key] = (*self._families.get(key, ()), family)
        by_hand = sorted((p for m in marks for p in _by_hand(m)), key=self._order)
        seen = {place.key for place in by_hand}
        shared = [place for family in families for place in _of_family(family)]
        more = {place.key: place for place in shared if place.key not in seen}
        self._places = [*by_hand, *sorted(more.values(), key=self._order)]

    def _order(self, place: Place) -> tuple:
        """What the file shows first; then unit by unit, exercise by exercise, family by family."""
        line = self.answer(place).line
        mine = self._families.get((place.unit, place.exercise, place.student), ())
        number, families = in_order(line.result.number), [family.name for family in mine]
        beside = min(place.student, *line.result.beside) if line.result.alike else place.student
        reasons = self._marks[place.student, place.unit].graded.by_hand
        several = place.about_all and any(reason.startswith(SEVERAL) for reason in reasons)
        first = not several, not line.result.evidence
        return *first, place.unit, number, families, beside, place.student

    def _shared(self, unit: str) -> Sequence[Family]:
        return [f for f in families_of(self.book, unit) if len(f.members) >= SHARED]


def _of_family(family: Family) -> Iterator[Place]:
    for student in family.students:
        yield Place(student, family.unit, family.exercise, by_hand=False)


def _takes_the_id(line: Line) -> bool:
    check = called_check(line.result.called)
    return check is not None and "student" in check.arguments


def _by_hand(m: Mark) -> Iterator[Place]:
    """The answers of a submission to look at; one of them stands for what is about all of it.

    That is one that takes the student's id where the id is what there is to see.
    """
    wanted = [line for line in m.lines if line.to_look_at or line.override is not None]
    whole = None
    if m.about_all:
        lost = [line for line in m.lines if line.earned < line.result.points]
        is_of_ids = any(reason.startswith(OF_IDS) for reason in m.about_all)
        own = [line for line in m.lines if is_of_ids and _takes_the_id(line)]
        whole = next(iter((*own, *wanted, *lost, *m.lines)), None)
        wanted += [whole] if whole and whole not in wanted else []
    for line in wanted:
        about = (m.graded.student, m.graded.unit, line.result.name)
        yield Place(*about, by_hand=True, about_all=line is whole)
