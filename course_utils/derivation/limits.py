"""Limits: by SymPy where it can, else by extrapolation with a stated error."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

LARGEST = 70  # operations of an expression that SymPy's limit is asked about


def by_sympy(gap: Any, symbol: Any, to: Any, side: int) -> Any:
    """The limit of an expression in one symbol as SymPy finds it; None if it does not."""
    import sympy as sp

    heavy = (sp.Sum, sp.Product, sp.Integral, sp.Piecewise, sp.floor, sp.core.function.AppliedUndef)
    if gap.has(*heavy) or gap.count_ops() > LARGEST:
        return None
    target = sp.oo * int(math.copysign(1, to)) if math.isinf(to) else sp.nsimplify(str(to))
    try:
        found = sp.limit(sp.nsimplify(gap, rational=True), symbol, target, "+" if side > 0 else "-")
        decided = found.is_number and not found.has(sp.Limit, sp.AccumBounds)
        return found if decided else None
    except Exception:  # SymPy gives up in many ways
        return None


def towards(to: Any, side: int, whole: bool, longest: int) -> list:
    """Points that close in on the limit; whole numbers, no larger than `longest`, for sums."""
    if math.isinf(to):
        sign = 1 if to > 0 else -1
        return [sign * 2**k for k in range(60) if 2**k <= longest]
    target = Fraction(str(to))
    return [] if whole else [target + side * Fraction(1, 2**k) for k in range(2, 60)]


def extrapolated(values: list) -> tuple[Any, Any]:
    """Where values at doubled distances go, and how sure that is: the best of three estimates.

    Shanks is right for a remainder like n^(−p), Richardson for one in powers of 1/n.
    """
    import mpmath

    ways = [lambda rows: rows[-1], lambda rows: mpmath.shanks(rows)[-1][-1], _richardson]
    found = []
    for way in ways:
        latest, *earlier = (way(rows) for rows in (values[-9:], values[-10:-1], values[-11:-2]))
        found.append((max(abs(latest - e) for e in earlier), latest))
    error, limit = min(found, key=lambda pair: pair[0])
    return limit, error


def _richardson(values: list) -> Any:
    for power in range(1, min(len(values), 7)):
        factor = 2**power
        values = [(factor * b - a) / (factor - 1) for a, b in pairwise(values)]
    return values[-1]


def settles(gap_at: Callable[[Any], Any], points: list) -> tuple[bool | None, Any, Any]:
    """Whether a gap goes to zero: the verdict (None: cannot be said), its limit and the error."""
    values = [v for v in map(gap_at, points) if v is not None]
    if len(values) < 6:
        return None, None, None
    sizes = [abs(v) for v in values]
    if sizes[-1] == 0 or (sizes[-1] < 1e-9 and sizes[-1] < sizes[-2] < sizes[-3]):
        return True, sizes[-1], sizes[-1]
    limit, error = extrapolated(values)
    if abs(limit) > 20 * error and abs(limit) > 1e-12:
        return False, limit, error
    shrinks = sizes[-1] < 0.9 * sizes[len(sizes) // 2]
    return (True if shrinks else None), limit, max(error, abs(limit))
