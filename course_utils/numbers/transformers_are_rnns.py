"""Unit 10, transformers are RNNs: the numbers of a student's own. Id 0: the homework's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from selfcheck.ids import student_id
from selfcheck.own_numbers import rng_for, side_by_side


@dataclass(frozen=True)
class Memory:
    """One student's pairs of a key (three whole numbers) and a value, written in this order."""

    student: str
    keys: tuple[tuple[int, ...], ...]
    values: tuple[int, ...]

    def __repr__(self) -> str:
        keys, values = np.array(self.keys), np.array(self.values)[:, None]
        parts = side_by_side({"keys, one per row": keys, "values": values})
        return f"Numbers of student {self.student}\n\n{parts}"


@lru_cache(maxsize=256)
def _transformers_are_rnns(student: str) -> Memory:
    if student == "0":
        return Memory(student, ((1, 0, 0), (1, 1, 0), (0, 1, 1)), (1, 3, 4))
    draws = rng_for(student, "10_transformers_are_rnns")
    while True:
        K, v = draws.matrix(-3, 3, 3, 3), draws.matrix(-9, 9, 1, 3)[0]
        products = (K @ K.T)[np.triu_indices(3, 1)]
        if (
            abs(round(float(np.linalg.det(K)))) >= 3
            and products.all()
            and len({*v.tolist(), 0}) == 4
        ):
            return Memory(student, tuple(map(tuple, K.tolist())), tuple(v.tolist()))


def transformers_are_rnns(student: Any) -> Memory:
    """The pairs of this student for unit 10; id 0 has small numbers."""
    return _transformers_are_rnns(student_id(student))
