"""Unit 09, random features: the numbers of a student's own. Id 0 has those of the homework."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from selfcheck.ids import student_id
from selfcheck.own_numbers import Draws, as_list, rng_for

Pair = tuple[float, float]


@dataclass(frozen=True)
class Triple:
    """One student's query, two keys, a number m of directions, and the error r of a ratio."""

    student: str
    q: Pair
    k1: Pair
    k2: Pair
    m: int
    r: float

    def __repr__(self) -> str:
        named = {"q": self.q, "k1": self.k1, "k2": self.k2, "m": self.m, "r": self.r}
        return as_list(self.student, {name: str(what) for name, what in named.items()})


@lru_cache(maxsize=256)
def _random_features(student: str) -> Triple:
    if student == "0":
        return Triple(student, (0.5, 0.5), (0.5, 0.0), (0.25, 0.5), 20, 0.1)
    draws = rng_for(student, "09_random_features")
    while True:
        q, k1, k2 = (_tenths(draws), _tenths(draws), _tenths(draws))
        u1, u2 = np.add(q, k1), np.add(q, k2)
        if abs(u1 @ u2) > 0.2 and abs(np.dot(k1, k2)) > 0.05 and (u1 - u2) @ (u1 - u2) > 0.2:
            return Triple(student, q, k1, k2, draws.integer(10, 99), draws.integer(20, 99) / 1000)


def _tenths(draws: Draws) -> Pair:
    return draws.integer(-12, 12) / 20, draws.integer(-12, 12) / 20


def random_features(student: Any) -> Triple:
    """The vectors of this student for unit 09; id 0 has round numbers."""
    return _random_features(student_id(student))
