"""Unit 02: what several known mistakes in momentum.md need."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from selfcheck.compare import close
from selfcheck.kinds import Formula, FormulaAnswer
from selfcheck.recognition import Recognized

from ..numbers.momentum import Momentum
from .momentum import MOVE, Point, _blamed, _derived

BETA_T_MU = Formula(beta=(0, 1), t=range(1, 9), mu=(-3, 3))


def _breaks_at(form: str) -> Callable[..., bool]:
    """A predicate: the first false line of a derivation is equivalent to this formula."""

    def matches(lines: list) -> bool:
        first = _derived(lines).first_false
        if first is None:
            return False
        line = BETA_T_MU.read(str(lines[first]), "the line")
        return BETA_T_MU.same(line, BETA_T_MU.read(form, "the form"))

    return matches


def _line_is(blamed: str, example: int) -> Recognized:
    return {"example": (0, example), "when": lambda s, line: _blamed(s, line) == blamed}


def _moves_like(other: Callable[[str, Point], float], example: str) -> Recognized:
    def matches(student: str, correction: FormulaAnswer) -> bool:
        return all(close(correction(**p), other(student, p)) for p in MOVE.points())

    return {"example": (0, example), "when": matches}


def _ends(n: Momentum) -> tuple[float, float]:
    """The roots of both slopes; all the mistakes are written with them."""
    return np.sqrt(n.smallest), np.sqrt(n.largest)


def _squeezed(low: float, high: float) -> float:
    return (high - low) / (high + low)


def _recursion(g, beta, start=0.0, share=None):
    """Running averages from any start, with any shares of the new gradients."""
    v, seen = start, []
    for g_t, kept, new in zip(g, beta, 1 - beta if share is None else share, strict=True):
        v = kept * v + new * g_t
        seen.append(v)
    return np.array(seen)


def _powers(alpha: float, t: int) -> np.ndarray:
    return alpha ** np.arange(t)[::-1]
