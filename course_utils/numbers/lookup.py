"""Unit 07, attention as lookup: the numbers of a student's own. Id 0 has those of the homework."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from selfcheck.ids import student_id
from selfcheck.own_numbers import as_list, rng_for


@dataclass(frozen=True)
class Shelf:
    """One student's records on a line, a query, the leak ε that is wanted, and copies of two."""

    student: str
    places: tuple[float, ...]
    query: float
    epsilon: float
    copies: tuple[int, int]
    M: float

    def __repr__(self) -> str:
        return as_list(
            self.student,
            {
                "places of the records": ", ".join(f"{x:g}" for x in self.places),
                "query": self.query,
                "ε": self.epsilon,
                "copies of records 1 and 2": "{} and {}".format(*self.copies),
                "M for the border": self.M,
            },
        )


@lru_cache(maxsize=256)
def _lookup(student: str) -> Shelf:
    if student == "0":
        return Shelf(student, (1.0, 2.0, 4.0), 2.5, 0.2, (2, 1), 0.8)
    draws = rng_for(student, "07_lookup")
    while True:
        places = tuple(sorted(draws.integer(0, 80) / 10 for _ in range(4)))
        query = draws.integer(10, 70) / 10
        near = sorted(round((x - query) ** 2, 6) for x in places)
        apart = min(b - a for a, b in pairwise(places)) >= 1
        if apart and near[1] - near[0] >= 0.5 and near[2] - near[1] <= near[1] - near[0]:
            break
    epsilon, M = draws.integer(100, 400) / 1000, draws.integer(400, 1200) / 1000
    more, fewer = ((2, 1), (3, 1), (3, 2), (4, 1), (4, 3), (5, 1), (5, 2), (5, 3))[draws.below(8)]
    copies = (more, fewer) if draws.below(2) else (fewer, more)
    return Shelf(student, places, query, epsilon, copies, M)


def lookup(student: Any) -> Shelf:
    """The records of this student for unit 07; id 0 has those of the lecture's first table."""
    return _lookup(student_id(student))
