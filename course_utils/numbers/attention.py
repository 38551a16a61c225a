"""Unit 04, attention: the numbers of a student's own. Id 0 has those of the homework."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from selfcheck.ids import student_id
from selfcheck.own_numbers import Listed, rng_for, shuffled


@dataclass(frozen=True, repr=False)
class Attention(Listed):
    """One student's head: n keys K on a circle; query i is to look at key target[i]."""

    n: int
    radius: float
    weight: float
    target: tuple[int, ...]

    @property
    def K(self) -> np.ndarray:
        """The keys, (n, 2), one after the other around the circle."""
        angles = 2 * np.pi * np.arange(self.n) / self.n
        return self.radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def attention(student: Any) -> Attention:
    """The head of this student for unit 04; with id 0 each token looks at the one before it."""
    student = student_id(student)
    if student == "0":
        return Attention(student, 8, 2.0, 0.9, (7, 0, 1, 2, 3, 4, 5, 6))
    draws = rng_for(student, "04_attention")
    n, radius, weight = draws.integer(7, 10), draws.integer(12, 40), draws.integer(700, 990)
    while True:
        target = tuple(shuffled(draws, n))
        if all(i != j for i, j in enumerate(target)):
            return Attention(student, n, radius / 10, weight / 1000, target)
