"""Unit 01, RNN gradients: the numbers of a student's own. Id 0 has those of the homework."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from selfcheck.ids import student_id
from selfcheck.own_numbers import Listed, rng_for


@dataclass(frozen=True, repr=False)
class RnnGradients(Listed):
    """One student's gate: after `steps` steps this share of the gradient is to be left."""

    steps: int
    share: float


def rnn_gradients(student: Any) -> RnnGradients:
    """The gate of this student for unit 01; id 0 keeps one half for 200 steps."""
    student = student_id(student)
    if student == "0":
        return RnnGradients(student, 200, 0.5)
    draws = rng_for(student, "01_rnn_gradients")
    while True:
        steps, share = draws.integer(100, 999), draws.integer(20, 80) / 100
        if 0.01 < (steps * np.log(1000) / -np.log(share)) % 1 < 0.99:  # far from a tie
            return RnnGradients(student, steps, share)
