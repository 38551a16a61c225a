"""Limits: by SymPy where it can, else by extrapolation with a stated error."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
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
        powers = range(1, 60)
        points = [2**k for k in powers] if longest > 10**6 else [round(1.5**k) for k in powers]
        return [sign * p for p in dict.fromkeys(points) if 4 <= p <= longest]
    target = Fraction(str(to))
    return [] if whole else [target + side * Fraction(1, 2**k) for k in range(2, 60)]


def extrapolated(values: list) -> tuple[Any, Any]:
    """Where a sequence goes, and how sure that is: Wynn's ε-algorithm and the last value."""
    import mpmath

    estimates = []
    for rows in (values[-8:], values[-9:-1], values[-10:-2]):
        table = mpmath.shanks(rows) if len(rows) > 4 else [rows[-1:]]
        estimates.append(table[-1][-1])
    best = estimates[0]
    error = max(abs(best - e) for e in estimates[1:])
    last, step = values[-1], abs(values[-1] - values[-2])
    return (last, step) if step < error else (best, error)


def settles(gap_at: Callable[[Any], Any], points: list) -> tuple[bool | None, Any, Any]:
    """Whether a gap goes to zero: the verdict (None: cannot be said), its limit and the error."""
    values = [v for v in map(gap_at, points) if v is not None]
    if len(values) < 5:
        return None, None, None
    sizes = [abs(v) for v in values]
    if sizes[-1] == 0 or (sizes[-1] < 1e-9 and sizes[-1] < sizes[-2] < sizes[-3]):
        return True, sizes[-1], sizes[-1]
    limit, error = extrapolated(values)
    if abs(limit) > 20 * error and abs(limit) > 1e-12:
        return False, limit, error
    shrinks = sizes[-1] < 0.9 * sizes[len(sizes) // 2]
    return (True if shrinks else None), limit, max(error, abs(limit))
