"""Limits: by SymPy where it can, else by extrapolation with a stated error."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

LARGEST = 70  # operations of an expression that SymPy's limit is asked about

# Of a gap between two lines, at points each twice as far as the one before:
FEWEST = 8  # values, fewer tell nothing; so many of the last are looked at, with points beside them
LAST_STEPS = 6  # from value to value: with two or three at a point, those of the last points
SHRINKS_LITTLE = 0.5  # five doublings halve even 1/n^(1/5); what stays larger does not shrink
SEEN = 1e-6  # a gap this large is none of rounding or of extrapolation
VANISHED = 1e-9  # a gap this small, still shrinking, is on its way to nothing but 0
HARDLY_SHORTER = 0.98  # from step to step, as of log n or n^(−0.03): no end is in sight
SURELY = 20  # times the error: so far from 0 is a limit that is none
ROUNDED = 1e-12  # what rounding may leave of a limit that is 0
SHRINKS = 0.3  # over five doublings: faster than 1/n^(1/3)
ROUGHLY, CLOSELY = 0.02, 1e-4  # of the largest gap: the error of a limit 0, if it shrinks; if not


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
    if len(found) < FEWEST:
        return None, None, None
    values = [v for _, v in found]
    around = [
        [v, *(w for q in near(p) if (w := gap_at(q)) is not None)] for p, v in found[-FEWEST:]
    ]
    ends = (around[:3], around[-3:])
    early, late = (max(abs(v) for row in rows for v in row) for rows in ends)
    if late > SHRINKS_LITTLE * early and late > SEEN and _swings(around):
        return False, late, 0
    if late < VANISHED and (late < early or not late):
        return True, late, late
    if _is_on_its_way(values):
        return None, None, None
    limit, error = extrapolated(values)
    if abs(limit) > SURELY * error and abs(limit) > ROUNDED:
        return False, limit, error
    error, size = max(error, abs(limit)), max(abs(v) for v in values)
    shrinks = late < SHRINKS * early and error < ROUGHLY * size
    return (True if shrinks or error < CLOSELY * size else None), limit, error


def _swings(around: list[list[Any]]) -> bool:
    """Whether the last gaps go to and fro."""
    steps = [b - a for a, b in pairwise(v for row in around for v in row)]
    return any(a * b < 0 for a, b in pairwise(steps[-LAST_STEPS:]))


def _is_on_its_way(values: list[Any]) -> bool:
    """Whether the last step goes where the one before it went, and is hardly shorter."""
    before, last = values[-2] - values[-3], values[-1] - values[-2]
    return bool(before * last > 0 and abs(last) > HARDLY_SHORTER * abs(before))
