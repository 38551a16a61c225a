"""The numbers behind the class report, of one unit: plain data, no pictures."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from selfcheck.feedback import Outcome
from selfcheck.units import beyond

from .records import Line, Mark, in_order

PARTLY = "partly right"
STATES = (Outcome.RIGHT, PARTLY, Outcome.WRONG, Outcome.UNCHECKED, Outcome.NOT_ATTEMPTED)
ENOUGH = 10  # submissions, below which a correlation says nothing
WEAK, GOOD = 0.2, 0.4  # rules of thumb for the correlation
DIFFICULTY = ((0.3, "Very hard"), (0.5, "Hard"), (0.85, "Manageable"), (1.0, "Easy"))


@dataclass(frozen=True)
class ExerciseNumbers:
    """How a class did in one exercise."""

    number: str
    name: str
    points: int
    share: float  # of the points, on average
    states: dict[str, int]  # how many were right, partly right …
    discrimination: float | None  # correlation with the rest of the test
    is_beyond: bool = False  # beyond the page

    @property
    def lost(self) -> float:
        """The points that the class lost there, all in all."""
        return (1 - self.share) * self.points * sum(self.states.values())

    @property
    def difficulty(self) -> str:
        """How hard it was, as a sentence."""
        hard = next(word for most, word in DIFFICULTY if self.share <= most)
        return f"{hard}: on average {self.share:.0%} of the points were earned."

    @property
    def is_doubtful(self) -> bool:
        """Does it hardly separate students, by more than a class of this size does by chance?"""
        return self.discrimination is not None and self.discrimination + self._chance < WEAK

    @property
    def _chance(self) -> float:
        """How far from the truth a correlation of so many may be: two standard errors."""
        return 2 * float(sum(self.states.values()) ** -0.5)

    @property
    def separation(self) -> str:
        """Whether it tells those who know from those who do not, as a sentence."""
        number = self.discrimination
        if number is None:
            return "This class cannot show whether it separates students."
        said = f"(correlation {number:.2f})".replace("-", "−")
        if number < WEAK and not self.is_doubtful:
            return f"This class is too small to show whether it separates students {said}."
        if number + self._chance < 0:
            return f"Who does well elsewhere does worse here {said}: look at the question."
        if number < WEAK:
            return f"Who does well elsewhere does hardly better here {said}: is it clear?"
        how = "better" if number < GOOD else "much better"
        return f"Who does well elsewhere does {how} here {said}."

    @property
    def discrimination_in_words(self) -> str:
        """What the number means for the question."""
        if self.discrimination is None or (self.discrimination < WEAK and not self.is_doubtful):
            return "cannot be told"
        if self.discrimination + self._chance < 0:
            return "inverse: look at the question"
        if self.discrimination < WEAK:
            return "weak"
        return "fair" if self.discrimination < GOOD else "good"


@dataclass(frozen=True)
class Mistake:
    """A known mistake, and how many made it."""

    exercise: str
    name: str
    explanation: str
    count: int
    share: float  # of the graded submissions


@dataclass(frozen=True)
class UnitNumbers:
    """What there is to know about a class in one unit."""

    unit: str
    marks: tuple[Mark, ...]

    @cached_property
    def graded(self) -> list[Mark]:
        """The submissions that could be graded."""
        return [m for m in self.marks if not m.graded.problem]

    @cached_property
    def totals(self) -> list[float]:
        """Their points."""
        return [m.earned for m in self.graded]

    @cached_property
    def points(self) -> int:
        """Points there are to earn."""
        return max((m.points for m in self.graded), default=0)

    @cached_property
    def exercises(self) -> list[ExerciseNumbers]:
        """Every exercise, in the order of the notebook."""
        columns: dict[tuple[str, str], list[tuple[Line, float]]] = {}
        for m in self.graded:
            for line in m.lines:
                key = (line.result.number, line.result.name)
                # being late says nothing about an exercise
                columns.setdefault(key, []).append((line, m.before - line.earned))
        apart = beyond(self.unit)
        return [
            _exercise(columns[key], key[1] in apart)
            for key in sorted(columns, key=lambda k: in_order(k[0]))
        ]

    def share(self, is_beyond: bool) -> float | None:
        """The share of the points earned, beyond the page or on it; None if there are none."""
        some = [e for e in self.exercises if e.is_beyond == is_beyond and e.points]
        points = sum(e.points for e in some)
        return sum(e.share * e.points for e in some) / points if points else None

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """The known mistakes of the class, the most frequent first."""
        counts: Counter[tuple[str, str, str]] = Counter(
            (f"{r.number} {r.name}", known.name, known.explanation)
            for m in self.graded
            for r in m.graded.results
            for known in {k.name: k for k in r.known}.values()
        )
        found = [Mistake(*key, count, count / len(self.graded)) for key, count in counts.items()]
        return sorted(found, key=lambda m: (-m.count, in_order(m.exercise.split()[0]), m.name))

    @cached_property
    def to_look_at(self) -> list[Mark]:
        """Who needs a person's look: first those that could not be graded at all."""
        return sorted((m for m in self.marks if m.to_look_at), key=_gravity)

    @cached_property
    def seconds(self) -> list[float]:
        """The time each submission took."""
        return [m.graded.seconds for m in self.marks]

    @cached_property
    def median(self) -> float:
        """The total in the middle."""
        return statistics.median(self.totals) if self.totals else 0.0


def by_unit(marks: Sequence[Mark]) -> list[UnitNumbers]:
    """The class, unit by unit."""
    units = sorted({m.graded.unit for m in marks})
    return [UnitNumbers(u, tuple(m for m in marks if m.graded.unit == u)) for u in units]


def correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's, or None where there are too few values or one side never varies."""
    if len(x) < ENOUGH or len(set(x)) < 2 or len(set(y)) < 2:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _exercise(column: list[tuple[Line, float]], is_beyond: bool) -> ExerciseNumbers:
    lines = [line for line, _ in column]
    points = max(line.result.points for line in lines)
    states = Counter(line.result.feedback.headline for line in lines)
    return ExerciseNumbers(
        lines[0].result.number,
        lines[0].result.name,
        points,
        sum(line.earned for line in lines) / (points * len(lines)) if points else 0.0,
        {str(state): states[str(state)] for state in STATES},
        correlation([line.earned for line in lines], [rest for _, rest in column]),
        is_beyond,
    )


def _gravity(m: Mark) -> tuple:
    return (not m.graded.problem, not m.graded.by_hand, not m.stale, m.graded.student)
