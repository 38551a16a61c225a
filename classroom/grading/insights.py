"""What a class thinks, over all its units: plain data, no pictures.

Who earned what (the heat map), which units to take up again, which known mistakes travel together,
and whether some students' own numbers made an exercise harder. Whatever could be chance is said to
be chance: a pair of mistakes or a difference counts as seen where chance alone would show one like
it in fewer than one class of a hundred.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from selfcheck.kinds import Student
from selfcheck.units import declared, titled

from .class_numbers import ENOUGH, ExerciseNumbers, UnitNumbers
from .records import Mark, in_order

ONE_IN_A_HUNDRED = 0.01
FEWEST_TOGETHER = 3
PASSED, LOW, MANY = 0.6, 0.5, 1 / 3  # a unit is fine from the first on; a third below a half is not


class Column(NamedTuple):
    """An exercise in the heat map."""

    unit: str
    number: str
    name: str
    points: int


@dataclass(frozen=True)
class Row:
    """A student in the heat map: points by exercise, None where nothing was graded."""

    student: str
    earned: tuple[float | None, ...]
    total: float
    mark: Mark  # of the first unit, which has a page


@dataclass(frozen=True)
class Again:
    """How a unit went, and whether to take it up again."""

    unit: str
    students: int
    share: float  # of the points, on average
    low: int  # students with less than half of the points
    costly: ExerciseNumbers  # where most points were lost
    lost: float  # there, on average

    @property
    def is_due(self) -> bool:
        """Was it too hard for too many?"""
        return self.share < PASSED or self.low >= MANY * self.students

    @property
    def sentence(self) -> str:
        """What a colleague would say."""
        said = (
            f"On average {self.share:.0%} of the points; {self.low} of {self.students} "
            f"{'student has' if self.students == 1 else 'students have'} less than half of them."
        )
        if not self.lost:
            return f"{said} Nobody lost a point."
        e = self.costly
        where = titled(e.number, e.name)
        return f"{said} Most was lost in {where}: {self.lost:.1f} of {e.points} points."


@dataclass(frozen=True)
class Together:
    """Two known mistakes that the same students make."""

    first: str
    second: str
    first_count: int
    second_count: int
    both: int
    students: int

    @property
    def by_chance(self) -> float:
        """How many would make both, if one had nothing to do with the other."""
        return self.first_count * self.second_count / self.students

    @property
    def chance(self) -> float:
        """How likely chance alone brings so many together."""
        return at_least(self.both, self.first_count, self.second_count, self.students)

    @property
    def sentence(self) -> str:
        """The pair in words."""
        return (
            f"Of {self.first_count} who made the first, {self.both} made the second too; "
            f"by chance it would be {self.by_chance:.1f}."
        )


@dataclass(frozen=True)
class Side:
    """One half of a class: how many there are, how many have all points."""

    students: int
    solved: int

    @property
    def share(self) -> float:
        """The part that has all points."""
        return self.solved / self.students


@dataclass(frozen=True)
class Fairness:
    """An exercise in which everybody has other numbers, by one property of these numbers."""

    number: str
    name: str
    trait: str  # of the numbers
    fewer: Side
    more: Side
    tests: int  # so many properties were tried in this unit

    @property
    def chance(self) -> float:
        """How likely chance alone makes such a difference, for all that was tried."""
        students = self.fewer.students + self.more.students
        solved = self.fewer.solved + self.more.solved
        high = at_least(self.more.solved, solved, self.more.students, students)
        low = at_least(self.fewer.solved, solved, self.fewer.students, students)
        return min(1.0, 2 * self.tests * min(high, low))

    @property
    def is_unfair(self) -> bool:
        """Is it more than chance?"""
        return self.chance < ONE_IN_A_HUNDRED

    @property
    def sentence(self) -> str:
        """What the difference is, and whether it means anything."""
        said = (
            f"{self.more.share:.0%} of the {self.more.students} students with "
            f"{self.trait} have all points, and {self.fewer.share:.0%} of the "
            f"{self.fewer.students} others"
        )
        if self.is_unfair:
            harder = "harder" if self.more.share < self.fewer.share else "easier"
            return f"{self.trait.capitalize()} made it {harder}: {said}."
        return f"{said}; chance explains it."


@dataclass(frozen=True)
class Insights:
    """A class at a glance."""

    units: tuple[UnitNumbers, ...]

    @cached_property
    def columns(self) -> list[Column]:
        """All exercises, in the order of the course."""
        return [Column(u.unit, e.number, e.name, e.points) for u in self.units for e in u.exercises]

    @cached_property
    def rows(self) -> list[Row]:
        """All students, those with the most points first."""
        marks: dict[str, dict[str, Mark]] = defaultdict(dict)
        for unit in self.units:
            for m in unit.graded:
                marks[m.graded.student][unit.unit] = m
        rows = [self._row(student, mine) for student, mine in marks.items()]
        return sorted(rows, key=lambda row: (-row.total, row.student))

    def _row(self, student: str, mine: dict[str, Mark]) -> Row:
        lines = {(u, line.result.name): line.earned for u, m in mine.items() for line in m.lines}
        earned = tuple(lines.get((column.unit, column.name)) for column in self.columns)
        total = sum(m.earned for m in mine.values())
        return Row(student, earned, total, next(iter(mine.values())))

    @cached_property
    def again(self) -> list[Again]:
        """The units, the hardest first."""
        found = [_again(unit) for unit in self.units if unit.totals and unit.points]
        return sorted(found, key=lambda a: (a.share, a.unit))

    @cached_property
    def together(self) -> list[Together]:
        """Pairs of known mistakes that are made together more often than chance would have it."""
        made = self._made()
        everyone = {row.student for row in self.rows}
        pairs = [
            Together(
                _title(a), _title(b), *map(len, (made[a], made[b], made[a] & made[b], everyone))
            )
            for a, b in itertools.combinations(sorted(made, key=_place), 2)
            if a[0] != b[0]
        ]
        tried = [pair for pair in pairs if min(pair.first_count, pair.second_count) > 2]
        seen = [
            pair
            for pair in tried
            if pair.both >= FEWEST_TOGETHER and pair.chance * len(tried) < ONE_IN_A_HUNDRED
        ]
        return sorted(seen, key=lambda pair: (pair.chance, pair.first, pair.second))

    def _made(self) -> dict[tuple[str, str], set[str]]:
        """Who made each known mistake."""
        made: dict[tuple[str, str], set[str]] = defaultdict(set)
        for unit in self.units:
            for m in unit.graded:
                for r in m.graded.results:
                    for known in r.known:
                        made[f"{r.number} {r.name}", known.name].add(m.graded.student)
        return made

    @cached_property
    def fairness(self) -> list[Fairness]:
        """For each exercise with numbers of one's own, the property that matters most."""
        return [fair for unit in self.units for fair in _fairness(unit)]


def at_least(both: int, first: int, second: int, everyone: int) -> float:
    """How likely so many of `first` are among `second`, if these are drawn at random."""
    ways = math.comb(everyone, second)
    more = range(both, min(first, second) + 1)
    return sum(math.comb(first, k) * math.comb(everyone - first, second - k) for k in more) / ways


def _title(key: tuple[str, str]) -> str:
    exercise, name = key
    return f"{titled(*exercise.split(maxsplit=1))} “{name}”"


def _place(key: tuple[str, str]) -> tuple:
    return in_order(key[0].split()[0]), key


def _again(unit: UnitNumbers) -> Again:
    shares = [m.before / unit.points for m in unit.graded]  # who is late may know it all the same
    costly = max(unit.exercises, key=lambda e: (1 - e.share) * e.points)
    return Again(
        unit.unit,
        len(shares),
        statistics.mean(shares),
        sum(share < LOW for share in shares),
        costly,
        (1 - costly.share) * costly.points,
    )


# -- numbers of one's own -------------------------------------------------------------------------


def _numbers(value: Any) -> Iterator[float]:
    """All numbers that a student's variant consists of."""
    if isinstance(value, np.ndarray):
        yield from map(float, value.flat)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _numbers(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _numbers(getattr(value, field.name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


PROPERTIES: dict[str, Callable[[np.ndarray], float]] = {
    "more zeros": lambda numbers: float((numbers == 0).sum()),
    "larger numbers": lambda numbers: float(np.abs(numbers).sum()),
    "more different numbers": lambda numbers: float(len(np.unique(numbers))),
    "more numbers": lambda numbers: float(numbers.size),
}


def _fairness(unit: UnitNumbers) -> Iterator[Fairness]:
    graded = {e.name for e in unit.exercises}
    listed = [e for e in declared(unit.unit) if e.name in graded]
    own = [e for e in listed if any(isinstance(kind, Student) for kind in e.kinds.values())]
    draw = own[0].numbers if own else None
    if draw is None:
        return
    known = [m for m in unit.graded if m.graded.student_id is not None]
    measured = [_properties(draw, str(m.graded.student_id)) for m in known]
    splits = {
        name: split
        for name in PROPERTIES
        if (split := _halves([one[name] for one in measured])) is not None
    }
    tests = len(splits) * len(own)
    for exercise in own:
        solved = [_has_all_points(m, exercise.name) for m in known]
        found = [
            Fairness(exercise.number, exercise.name, name, *_sides(split, solved), tests)
            for name, split in splits.items()
        ]
        if found:
            yield min(found, key=lambda f: (f.chance, -abs(f.more.share - f.fewer.share), f.trait))


def _properties(draw: Callable[[str], Any], student: str) -> dict[str, float]:
    numbers = np.array(list(_numbers(draw(student))))
    return {name: measure(numbers) for name, measure in PROPERTIES.items()}


def _halves(values: Sequence[float]) -> list[bool] | None:
    """Who is above the median; None where one half would be too small to say anything."""
    if not values:
        return None
    middle = statistics.median(values)
    above = [value > middle for value in values]
    return above if min(Counter({True: 0, False: 0, **Counter(above)}).values()) >= ENOUGH else None


def _sides(above: Iterable[bool], solved: Iterable[bool]) -> tuple[Side, Side]:
    counts = Counter(zip(above, solved, strict=True))
    fewer, more = (
        Side(counts[half, True] + counts[half, False], counts[half, True]) for half in (False, True)
    )
    return fewer, more


def _has_all_points(m: Mark, exercise: str) -> bool:
    lines = {line.result.name: line for line in m.lines}
    return exercise in lines and lines[exercise].earned >= lines[exercise].result.points
