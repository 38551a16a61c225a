"""Inequalities: the point where they are nearest to failing is sought, not only drawn.

From the tightest instances a search goes downhill (Nelder and Mead); in one variable SymPy names
the points where the slope of the gap vanishes. What is found is rounded to plain numbers, and
counts only if the trial at many digits says so too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .arithmetic import Undefined, computed, gap
from .borders import Borders
from .clock import guarded, is_up, load_simplify
from .domains import Domain
from .expressions import Expression

STARTS = 4  # of the tightest instances
STEPS = 60  # downhill from each, for every variable
MOST = 8  # variables
COARSE, FINE = 1e-3, 1e-9  # relative: a gap so small is worth a closer look; one that is nothing
ROUNDED = (1, 4, 12, 100, 10**4, 10**7, 10**12)  # denominators, the plainest first
FAR = 1e8


class Search:
    """Looks for the worst point of the inequalities of one derivation."""

    def __init__(self, borders: Borders) -> None:
        self.borders, self.instances = borders, borders.instances

    def candidates(self, relation: str, expressions: list[Expression]) -> Iterator[dict[str, Any]]:
        """Values at which the relation may fail, the likeliest first."""
        names = self._free(expressions)
        if not names or any(e.rough for e in expressions):
            return
        start = self._tightest(relation, expressions)
        if len(names) == 1 and start:
            yield from self._where_the_slope_vanishes(names[0], relation, expressions, start[0])
        for drawn in start:
            if is_up():
                return
            space = _Space(names, self.instances.domains, drawn)
            if not 0 < space.size <= MOST:
                continue
            found = _downhill(self._gap_at(relation, expressions, space), space)
            if found is not None:
                yield from space.rounded(found)

    def _free(self, expressions: list[Expression]) -> list[str]:
        """The names whose values may be moved: real numbers, and arrays of any of them."""
        domains = self.instances.domains
        needed = self.instances.needed(expressions)
        return [n for n in needed if _may_move(domains[n])]

    def _tightest(self, relation: str, expressions: list[Expression]) -> list[dict[str, Any]]:
        found = []
        columns = [self.instances.column(e) for e in expressions[:2]]
        for instance, a, b in zip(self.instances.all, *columns, strict=True):
            if not isinstance(a, Undefined) and not isinstance(b, Undefined):
                size = float(max(abs(np.max(a)), abs(np.max(b)), 1e-300))
                margin = float(gap(relation, a, b))
                if math.isfinite(margin) and size < FAR:
                    found.append((margin / max(size, 1.0), instance))
        found.sort(key=lambda pair: -pair[0])
        plain = [one.drawn for _, one in found if one.pool in ("simple", "random")]
        return [one.drawn for _, one in found[:2]] + plain[: STARTS - 2]

    def _gap_at(
        self, relation: str, expressions: list[Expression], space: _Space
    ) -> Callable[[list[float]], float]:
        import mpmath

        def gap_at(place: list[float]) -> float:
            values = self.instances.complete(space.values(place))
            with mpmath.workdps(20):
                a, b = (computed(e.value, values) for e in expressions[:2])
            if isinstance(a, Undefined) or isinstance(b, Undefined):
                return math.inf
            return -float(gap(relation, a, b))

        return gap_at

    def _where_the_slope_vanishes(
        self, name: str, relation: str, expressions: list[Expression], drawn: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        import sympy

        sides = [self.borders.in_independents(e.sympy) for e in expressions[:2]]
        if None in sides or not self.instances.exact:
            return
        symbol = self.borders.reader.symbols[name]
        difference = sides[0] - sides[1]
        if difference.free_symbols != {symbol}:
            return
        plain = sympy.Symbol(name, real=True)
        slope = guarded(lambda: sympy.diff(difference.xreplace({symbol: plain}), plain), None)
        none: list[Any] = []
        load_simplify()
        found = none if slope is None else guarded(lambda: sympy.solve(slope, plain), none)
        domain = self.instances.domains[name]
        for root in found:
            value = guarded(lambda root=root: complex(root), None)  # type: ignore[misc]
            if value is None or abs(value.imag) > 1e-9 * (1 + abs(value.real)):
                continue
            for near in _fractions(value.real):
                if domain.contains(near):
                    yield {**drawn, name: near}


def _may_move(domain: Domain) -> bool:
    if domain.part or domain.kind:
        return False
    if domain.ends is not None:
        return not domain.assumptions.get("integer")
    return domain.free


class _Space:
    """The numbers that may be moved, as a point: intervals are stretched to all real numbers."""

    def __init__(
        self, names: list[str], domains: Mapping[str, Domain], drawn: Mapping[str, Any]
    ) -> None:
        self.names, self.domains, self.drawn = names, domains, dict(drawn)
        self.start = [x for n in names for x in self._stretched(n, drawn[n])]
        self.size = len(self.start)

    def _stretched(self, name: str, value: Any) -> list[float]:
        if isinstance(value, np.ndarray):
            return [float(x) for x in value.flat]
        low, high, _ = self.domains[name].ends or (None, None, False)
        x = float(value)
        if low is None and high is None:
            return [x]
        if high is None:
            return [math.log(max(x - float(low), 1e-12))]
        if low is None:
            return [math.log(max(float(high) - x, 1e-12))]
        part = min(max((x - float(low)) / float(high - low), 1e-9), 1 - 1e-9)
        return [math.log(part / (1 - part))]

    def values(self, place: list[float], denominator: int = 0) -> dict[str, Any]:
        """The instance at a point, its numbers rounded to fractions with such a denominator."""
        found, k = dict(self.drawn), 0
        for name in self.names:
            value = self.drawn[name]
            if isinstance(value, np.ndarray):
                numbers = [float(_near(x, denominator)) for x in place[k : k + value.size]]
                found[name] = np.array(numbers).reshape(value.shape)
                k += value.size
            else:
                found[name] = self._number(name, place[k], denominator)
                k += 1
        return found

    def _number(self, name: str, u: float, denominator: int) -> Fraction:
        low, high, _ = self.domains[name].ends or (None, None, False)
        u = max(min(u, 600.0), -600.0) if low is not None or high is not None else u
        if low is None and high is None:
            x = u
        elif high is None:
            x = float(low) + math.exp(u)
        elif low is None:
            x = float(high) - math.exp(u)
        else:
            x = float(low) + float(high - low) / (1 + math.exp(-u))
        near = _near(x, denominator)
        return near if self.domains[name].contains(near) else Fraction(x)

    def rounded(self, place: list[float]) -> Iterator[dict[str, Any]]:
        """The point in plainer numbers first."""
        seen = set()
        for denominator in ROUNDED:
            values = self.values(place, denominator)
            inside = all(
                self.domains[n].contains(values[n])
                for n in self.names
                if self.domains[n].ends is not None
            )
            if inside and str(values) not in seen:
                seen.add(str(values))
                yield values


def _near(x: float, denominator: int) -> Fraction:
    return Fraction(x).limit_denominator(denominator) if denominator else Fraction(x)


def _fractions(x: float) -> list[Fraction]:
    return list(dict.fromkeys(Fraction(x).limit_denominator(d) for d in ROUNDED))


def _downhill(f: Callable[[list[float]], float], space: _Space) -> list[float] | None:
    """The lowest point that Nelder and Mead find from the start; None if it is no lower."""
    n = space.size
    corners = [list(space.start)]
    for k in range(n):
        corner = list(space.start)
        corner[k] += 0.5 if abs(corner[k]) < 1 else 0.25 * abs(corner[k])
        corners.append(corner)
    simplex = sorted(((f(c), c) for c in corners), key=lambda pair: pair[0])
    first = simplex[0][0]
    if not math.isfinite(first):
        return None
    for _ in range(STEPS * n):
        if is_up() or (simplex[0][0] < 0 and simplex[0][0] < -FINE * (1 + abs(first))):
            break
        best, worst = simplex[0], simplex[-1]
        if worst[0] - best[0] <= 1e-13 * (abs(best[0]) + 1e-300):
            break
        middle = [sum(c[k] for _, c in simplex[:-1]) / n for k in range(n)]

        def tried(t: float, middle: Any = middle, worst: Any = worst) -> tuple[float, list[float]]:
            point = [m + t * (m - w) for m, w in zip(middle, worst[1], strict=True)]
            return f(point), point

        new = tried(1.0)
        if new[0] < best[0]:
            new = min(new, tried(2.0), key=lambda pair: pair[0])
        elif new[0] >= simplex[-2][0]:
            new = tried(0.5) if new[0] < worst[0] else tried(-0.5)
        if new[0] < worst[0]:
            simplex[-1] = new
        else:
            simplex = [best] + [
                (f(p), p)
                for p in ([(a + b) / 2 for a, b in zip(c, best[1], strict=True)]
                          for _, c in simplex[1:])
            ]  # fmt: skip
        simplex.sort(key=lambda pair: pair[0])
    return simplex[0][1]
