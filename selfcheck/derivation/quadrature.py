"""Integrals in lines about vectors: two rules, which must agree."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from .clock import tick

AGREE = 1e-11  # relative: how far two rules may be apart
RULES = (12.0, 0.75), (14.4, 0.6)  # reach and step of the trapezoidal rule, which is exact
# for all that falls like e^(−x²); what lies beyond the reach of both is not seen by either
IN_A_PLANE = 11.8, 0.58  # reach and step of a grid: its two colors, as of chess, are two rules
NODES = 24, 31  # of the rules of Gauss
NODES_IN_A_PLANE = 15, 19  # in each of two directions
NOTHING = 1e-200  # so small is what lies beyond the reach
MOST = 2  # dimensions


def between(f: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """The integral of a function of a number between two ends."""
    low, high = float(low), float(high)
    if not np.isfinite([low, high]).all():
        if np.isinf(low) and np.isinf(high) and low < high:
            return over_all(f, 0, "flat")
        raise ArithmeticError("an integral with one end at infinity")

    def rule(nodes: int) -> Any:
        places, weights = np.polynomial.legendre.leggauss(nodes)
        points = (high - low) / 2 * places + (high + low) / 2
        return sum(w * f(x) for x, w in zip(points, weights, strict=True)) * (high - low) / 2

    return _agreed([rule(n) for n in NODES])


def over_all(f: Callable[[Any], Any], length: int, law: str) -> Any:
    """The integral over all numbers (length 0) or vectors; with the normal law, its mean."""
    if length > MOST:
        raise ArithmeticError(f"an integral over {length} dimensions")
    if law == "normal":
        rules = [_normal(n) for n in (NODES_IN_A_PLANE if length == MOST else NODES)]
        found = _agreed([_total(f, length, *rule) for rule in rules])
    elif length == MOST:
        found = _agreed(_over_a_plane(f))
    else:
        found = _agreed([_total(f, length, *_flat(*rule)) for rule in RULES])
    if abs(found) < NOTHING:
        raise ArithmeticError("the integral may lie elsewhere")
    return found


@cache
def _normal(nodes: int) -> tuple[Any, Any]:
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    return points, weights / weights.sum()


@cache
def _flat(reach: float, step: float) -> tuple[Any, Any]:
    points = np.arange(-reach, reach + step / 2, step)
    return points, np.full(len(points), step)


def _total(f: Callable[[Any], Any], length: int, points: Any, weights: Any) -> Any:
    if not length:
        return sum(w * f(float(x)) for x, w in zip(points, weights, strict=True))
    total = 0.0
    for places in product(range(len(points)), repeat=length):
        weight = prod(weights[k] for k in places)
        if weight > 1e-18:
            tick()
            total = total + weight * f(np.array([[points[k]] for k in places]))
    return total


def _over_a_plane(f: Callable[[Any], Any]) -> list[Any]:
    """Two trapezoidal rules on a disk, which share no point."""
    totals: list[Any] = [0.0, 0.0]
    for color, point in _disk():
        tick()
        totals[color] = totals[color] + f(point)
    return [2 * IN_A_PLANE[1] ** 2 * total for total in totals]


@cache
def _disk() -> list[tuple[int, Any]]:
    reach, step = IN_A_PLANE
    count = int(reach / step)
    return [
        ((i + j) % 2, np.array([[i * step], [j * step]]))
        for i, j in product(range(-count, count + 1), repeat=2)
        if (i * i + j * j) * step * step <= reach * reach
    ]


def _agreed(found: list[Any]) -> Any:
    one, two = found
    if not abs(one - two) <= AGREE * max(abs(one), abs(two)):
        raise ArithmeticError("the integral does not settle")
    return two
