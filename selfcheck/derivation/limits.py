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


def towards(to: Any, side: int, whole: bool, longest: int) -> list[Any]:
    """Points that close in on the limit; whole numbers, no larger than `longest`, for sums."""
    if math.isinf(to):
        sign = 1 if to > 0 else -1
        return [sign * 2**k for k in range(60) if 2**k <= longest]
    target = Fraction(str(to))
    return [] if whole else [target + side * Fraction(1, 2**k) for k in range(2, 60)]


def beside(point: Any, to: Any, whole: bool) -> list[Any]:
    """Points at the same distance that are no powers of two: odd ones, and none that is round."""
    if not math.isinf(to):
        target = Fraction(str(to))
        return [target + (point - target) * Fraction(137, 100)]
    odd = point + (1 if point > 0 else -1)
    return [odd, point + point // 3 if whole else point * Fraction(137, 100)]


def extrapolated(values: list[Any]) -> tuple[Any, Any]:
    """Where values at doubled distances go, and how sure that is: the best of four estimates.

    Shanks is right for a remainder like n^(−p), Richardson for one in powers of 1/n or of 1/log n.
    """
    import mpmath

    ways = [lambda rows: rows[-1], lambda rows: mpmath.shanks(rows)[-1][-1], _richardson]
    found = []
    for way in ways:
        try:
            latest, *earlier = (way(rows) for rows in (values[-9:], values[-10:-1], values[-11:-2]))
        except (IndexError, ZeroDivisionError):  # Shanks, where the values hardly change
            continue
        found.append((max(abs(latest - e) for e in earlier), latest))
    slow = [_in_the_logarithm(values[: len(values) - k]) for k in (0, 1, 2)]
    found.append((max(abs(slow[0] - e) for e in slow[1:]), slow[0]))
    error, limit = min(found, key=lambda pair: pair[0])
    return limit, error


def _richardson(values: list[Any]) -> Any:
    for power in range(1, min(len(values), 7)):
        factor = 2**power
        values = [(factor * b - a) / (factor - 1) for a, b in pairwise(values)]
    return values[-1]


def _in_the_logarithm(values: list[Any]) -> Any:
    """Richardson's estimate for a remainder in powers of 1/k, where k counts the doublings."""
    order = min(4, len(values) - 2)
    first = len(values) - 1 - order
    weights = [
        Fraction((-1) ** (j + order) * (first + j) ** order)
        / (math.factorial(j) * math.factorial(order - j))
        for j in range(order + 1)
    ]
    return sum(
        (v * w.numerator / w.denominator for v, w in zip(values[first:], weights, strict=True)),
        start=0 * values[-1],
    )


def settles(
    gap_at: Callable[[Any], Any], points: list[Any], near: Callable[[Any], list[Any]]
) -> tuple[bool | None, Any, Any]:
    """Whether a gap goes to zero: the verdict (None: cannot be said), its limit and the error."""
    found = [(p, v) for p in points if (v := gap_at(p)) is not None]
    if len(found) < 8:
        return None, None, None
    values, sizes = [v for _, v in found], [abs(v) for _, v in found]
    around = [[v, *(w for q in near(p) if (w := gap_at(q)) is not None)] for p, v in found[-8:]]
    late, early = (max(abs(v) for row in rows for v in row) for rows in (around[5:], around[:3]))
    steps = [b - a for a, b in pairwise(v for row in around for v in row)]
    if late > 0.5 * early and late > 1e-6 and any(a * b < 0 for a, b in pairwise(steps[-6:])):
        return False, late, 0  # it goes to and fro and does not shrink
    if late < 1e-9 and (late < early or not late):
        return True, late, late
    before, last = values[-2] - values[-3], values[-1] - values[-2]
    if before * last > 0 and abs(last) > 0.98 * abs(before):
        return None, None, None  # still on its way
    limit, error = extrapolated(values)
    if abs(limit) > 20 * error and abs(limit) > 1e-12:
        return False, limit, error
    error = max(error, abs(limit))
    shrinks = late < 0.3 * early and error < 0.02 * max(sizes)
    return (True if shrinks or error < 1e-4 * max(sizes) else None), limit, error
