"""Unit 03, weight decay: the numbers of a student's own. Id 0 has those of the homework."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from selfcheck.ids import student_id
from selfcheck.own_numbers import Listed, rng_for


@dataclass(frozen=True, repr=False)
class WeightDecay(Listed):
    """One student's schedule: steps from this peak on, after which this share is to be left."""

    steps: int
    peak: float
    left: float


def weight_decay(student: Any) -> WeightDecay:
    """The schedule of this student for unit 03; id 0 leaves one half in 20 steps of 0.1."""
    student = student_id(student)
    if student == "0":
        return WeightDecay(student, 20, 0.1, 0.5)
    draws = rng_for(student, "03_weight_decay")
    steps, peak, left = draws.integer(10, 40), draws.integer(20, 200), draws.integer(20, 60)
    return WeightDecay(student, steps, peak / 1000, left / 100)
