"""Unit 11, the cost of moving mass: the numbers of a student's own. Id 0: the homework's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from selfcheck.ids import student_id
from selfcheck.own_numbers import Draws, read_only, rng_for, shuffled, side_by_side

LAST_PLACE, MOST_MASS = 12, 4


@dataclass(frozen=True)
class Transport:
    """One student's masses: p lies at the places x and is wanted as q at the places y.

    `plan` is one way to do it (row i is what leaves x[i], column j what arrives at y[j]). Except
    for id 0 it is not the cheapest.
    """

    student: str
    x: np.ndarray
    p: np.ndarray
    y: np.ndarray
    q: np.ndarray
    plan: np.ndarray

    @property
    def places(self) -> np.ndarray:
        """All places, from left to right."""
        return np.union1d(self.x, self.y)

    def __repr__(self) -> str:
        parts = [
            f"Numbers of student {self.student}",
            side_by_side({"x, where it lies": self.x[None], "p, how much": self.p[None]}),
            side_by_side({"y, where it goes": self.y[None], "q, how much": self.q[None]}),
            side_by_side({"plan, a row for each x and a column for each y": self.plan}),
        ]
        return "\n\n".join(parts)


def transport(student: Any) -> Transport:
    """The masses of this student for unit 11; id 0 is the homework."""
    return _transport(student_id(student))


@lru_cache(maxsize=256)
def _transport(student: str) -> Transport:
    if student == "0":
        x, y, ones = (np.array(row, dtype=np.int64) for row in ([1, 2], [4, 6], [1, 1]))
        plan = np.eye(2, dtype=np.int64)
        return Transport(student, *map(read_only, (x, ones, y, ones.copy(), plan)))
    draws = rng_for(student, "11_transport")
    while True:
        x, y = _draw_places(draws)
        p, q = draws.matrix(1, MOST_MASS, 2, 3)
        if p.sum() != q.sum() or not _is_interesting(x, p, y, q):
            continue
        plan = _filled(p, q, order=shuffled(draws, 9))
        if _cost(plan, x, y) > _cost(_filled(p, q, order=range(9)), x, y):
            return Transport(student, *map(read_only, (x, p, y, q, plan)))


def _draw_places(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Three places to leave and three to reach, all different, each from left to right."""
    six = shuffled(draws, LAST_PLACE + 1)[:6]
    x, y = (np.array(sorted(three), dtype=np.int64) for three in (six[:3], six[3:]))
    return x, y


def _is_interesting(x: np.ndarray, p: np.ndarray, y: np.ndarray, q: np.ndarray) -> bool:
    """Mass has to move both ways, rows and columns differ, and the cheapest plan is not alone."""
    crossing = [int(p[x <= z].sum() - q[y <= z].sum()) for z in range(LAST_PLACE)]
    both_ways = min(crossing) < 0 < max(crossing)
    keeps_order = _filled(p, q, order=range(9))  # the cheapest, for the places are sorted
    return both_ways and p.tolist() != q.tolist() and _has_free_exchange(keeps_order, x, y)


def _has_free_exchange(plan: np.ndarray, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two shipments can swap their targets at no cost."""
    C = np.abs(x[:, None] - y)
    sent = np.argwhere(plan > 0).tolist()
    return any(
        i < k and j != n and C[i, j] + C[k, n] == C[i, n] + C[k, j]
        for i, j in sent
        for k, n in sent
    )


def _filled(p: np.ndarray, q: np.ndarray, order: Any) -> np.ndarray:
    """The plan that fills its cells in this order, each with as much as it takes."""
    left, wanted = p.copy(), q.copy()
    plan = np.zeros((len(p), len(q)), dtype=np.int64)
    for cell in order:
        i, j = divmod(cell, len(q))
        plan[i, j] = moved = min(left[i], wanted[j])
        left[i] -= moved
        wanted[j] -= moved
    return plan


def _cost(plan: np.ndarray, x: np.ndarray, y: np.ndarray) -> int:
    return int((plan * np.abs(x[:, None] - y)).sum())
