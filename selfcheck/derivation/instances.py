"""Instances: values for all symbols at once, and what the lines of a derivation come to there."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any, NamedTuple

import numpy as np

from .arithmetic import UNTRIED, Undefined, computed, mismatch
from .clock import COLUMN, at_most, is_up
from .domains import EVERY_CORNER, Domain, DrawnRandom, DrawnSequence
from .expressions import Expression
from .operations import number
from .precise import Digits, precise

DIGITS = 50  # for scalars, at a first look
SIMPLE, FAR, TIED = 24, 16, 10  # so many readable instances, far ones, and with equal values
SEEMS_EQUAL, FLOATS_SEEM_EQUAL = 1e-35, 1e-11  # relative: what differs more is looked at again
OF_POWERS = -1, 2, Fraction(1, 2)  # in every order: a negative base, an even power, a root
FEW_OF = 6  # every sixth instance is enough for what takes long,
FEW_OF_LARGE = 24  # and fewer of those with a size above 1
STEEP = 0.02, 50  # numbers beyond them are not tried there
ROUGHLY = 1e-9  # relative: for quadratures and extrapolations


class Instance(NamedTuple):
    """One set of values: the pool it is from, what was drawn, and that with all givens."""

    pool: str
    drawn: dict[str, Any]
    complete: dict[str, Any] | Undefined


@dataclass(eq=False)
class Instances:
    """The instances of one derivation, the same for the same seed."""

    domains: Mapping[str, Domain]
    sizes: Mapping[str, Domain]
    given: Mapping[str, Expression]
    exact: bool  # scalars only: computed to many digits, so rounding is no concern
    seed: int
    count: int
    defined: Mapping[str, Mapping[str, Expression]] = field(default_factory=dict)
    _detailed: dict[tuple[int, int, bool], tuple[dict[str, Any] | Undefined, int]] = field(
        default_factory=dict
    )

    @cached_property
    def all(self) -> list[Instance]:
        """Readable instances first, then random ones, tied ones, corners and tails."""
        rng = Random(self.seed)
        pools = [
            ("simple", SIMPLE, lambda d, k, *n: d.readable(rng, *n)),
            ("random", self.count - SIMPLE, lambda d, k, *n: d.draw(rng, *n)),
            ("corner", 2 * EVERY_CORNER, lambda d, k, *n: d.extreme(rng, k, *n)),
            ("far", FAR, lambda d, k, *n: self._far(d, rng, *n)),
        ]
        drawn = [(pool, self._sample(pick, k)) for pool, n, pick in pools for k in range(n)]
        drawn += [("tied", one) for one in self._tied(rng)]
        with self._precision(DIGITS):
            return [Instance(pool, one, self.complete(one)) for pool, one in drawn]

    def somewhere(self, rng: Random) -> dict[str, Any] | Undefined:
        """One more instance, of random values."""
        with self._precision(DIGITS):
            return self.complete(self._sample(lambda d, k, *n: d.draw(rng, *n), 0))

    def _far(self, domain: Domain, rng: Random, *n: int) -> Any:
        """Some of the values from the tails, others not."""
        return domain.far(rng, *n) if rng.random() < 0.7 else domain.readable(rng, *n)

    def _sample(self, pick: Callable[..., Any], k: int) -> dict[str, Any]:
        sizes = {s: pick(domain, k) for s, domain in self.sizes.items()}
        values, together = dict(sizes), {}
        for name, domain in self.domains.items():
            if domain.part:
                source, place = domain.part
                if id(source) not in together:
                    together[id(source)] = pick(source, k)
                values[name] = together[id(source)][place]
            else:
                values[name] = pick(domain, k, *(sizes.get(s, s) for s in domain.sizes))
        return values

    def _tied(self, rng: Random) -> Iterable[dict[str, Any]]:
        """Numbers equal to each other or opposite, and small whole ones in every company."""
        free = [n for n, d in self.domains.items() if d.ends and not d.part]
        for _ in range(TIED if len(free) > 1 else 0):
            one = self._sample(lambda d, k, *n: d.draw(rng, *n), 0)
            a, b = rng.sample(free, 2)
            for tied in rng.sample([one[b], -one[b], 1 - one[b], one[b] + 1, 2 * one[b]], 5):
                if self.domains[a].contains(tied):
                    yield {**one, a: tied}
                    break
        few = list(itertools.islice(itertools.product((0, 1, -1), repeat=len(free)), 3**4))
        for values in rng.sample(few, min(12, len(few))):
            one = self._sample(lambda d, k, *n: d.readable(rng, *n), 0)
            pairs = zip(free, values, strict=True)
            yield {**one, **{n: v for n, v in pairs if self.domains[n].contains(v)}}
        if 2 <= len(free) <= len(OF_POWERS):  # (a^b)^c is not a^(bc) at −1, 2 and ½
            for chosen in itertools.permutations(OF_POWERS, len(free)):
                one = self._sample(lambda d, k, *n: d.readable(rng, *n), 0)
                fits = {n: v for n, v in zip(free, chosen, strict=True)}
                yield {**one, **{n: v for n, v in fits.items() if self.domains[n].contains(v)}}

    def complete(self, drawn: Mapping[str, Any], fine: bool = False) -> dict[str, Any] | Undefined:
        """The instance in numbers that can be computed with, and with all givens computed.

        `fine`: also what is usually in floating point is to have mpmath's digits.
        """
        values = dict(drawn)
        for name, value in drawn.items():
            if fine and not self.exact:
                values[name] = self._fine(name, value)
            elif isinstance(value, Fraction | int if self.exact else Fraction):
                values[name] = number(value, self.exact)
            elif isinstance(value, DrawnSequence) and not self.exact:
                values[name] = value.converted(_as_float)
        for name, rules in self.defined.items():
            values[name] = Recursion(values, values[name], rules, fine and not self.exact)
        for name, expression in self.given.items():
            evaluate = expression.precise if fine and not self.exact else expression.value
            value = computed(evaluate, values)
            if isinstance(value, Undefined):
                return value
            values[name] = precise(value) if fine and not self.exact else value
        return values

    def in_detail(self, drawn: Mapping[str, Any], hole: bool) -> dict[str, Any] | Undefined:
        """The same with mpmath's digits, once for all lines; but what is given may lose some."""
        import mpmath

        if (self.exact and self.given) or id(drawn) not in self.places:
            return self.complete(drawn, fine=True)
        key = id(drawn), mpmath.mp.prec, hole
        if key not in self._detailed:
            self._detailed[key] = self.complete(drawn, fine=True), Digits.peak
        values, Digits.peak = self._detailed[key]
        return values

    @cached_property
    def places(self) -> dict[int, int]:
        return {id(one.drawn): place for place, one in enumerate(self.all)}

    def _fine(self, name: str, value: Any) -> Any:
        if isinstance(value, DrawnSequence):
            return value.converted(precise)
        if isinstance(value, DrawnRandom):
            return value
        domain = self.domains.get(name)
        if callable(value) or domain is None or domain.assumptions.get("integer"):
            return value
        value = precise(value)
        return precise(domain.refine(value)) if domain and domain.refine else value

    def _precision(self, digits: int) -> Any:
        import mpmath

        return mpmath.workdps(digits) if self.exact else nullcontext()

    def column(self, expression: Expression) -> list[Any]:
        """The expression's value at every instance, computed once.

        The expression keeps it: it is read for the instances of one derivation.
        """
        if not expression.column:
            with self._precision(DIGITS):
                first = computed(expression.value, self.all[0].complete)  # on a busy machine, too
                with at_most(COLUMN):
                    expression.column[:] = [first] + [
                        UNTRIED
                        if (expression.rough and (self.left_out(k) or _is_steep(one))) or is_up()
                        else computed(expression.value, one.complete)
                        for k, one in enumerate(self.all[1:], start=1)
                    ]
        return expression.column

    def left_out(self, k: int) -> bool:
        """Whether an instance is not needed for what takes long."""
        drawn = self.all[k].drawn
        large = any(drawn[size] > 1 for size in self.sizes)
        return bool(k % (FEW_OF_LARGE if large else FEW_OF))

    def mismatch(
        self, relation: str, expressions: list[Expression], found: list[Any]
    ) -> str | None:
        """How the values found seem to disagree, at a first look."""
        rounding = SEEMS_EQUAL if self.exact else FLOATS_SEEM_EQUAL
        if any(e.rough for e in expressions):
            rounding = ROUGHLY
        return mismatch(rounding, relation, *found)

    def various(self, moving: str) -> list[Instance]:
        """A few readable instances and corners that differ in more than one symbol's value."""
        pools = [[one for one in self.all if one.pool == p] for p in ("simple", "corner", "tied")]
        found: dict[str, Instance] = {}
        for pool, most in zip(pools, (4, 8, 10), strict=True):
            for one in pool:
                others = {n: v for n, v in one.drawn.items() if n != moving}
                numbers = [v for v in others.values() if not callable(v) and np.ndim(v) == 0]
                if len(found) < most and all(abs(v) <= 10 for v in numbers):  # settles in time
                    found.setdefault(str(others), one)
        return list(found.values())

    def needed(self, expressions: Iterable[Expression]) -> list[str]:
        """The independent symbols behind these expressions."""
        needed = set().union(*(e.names for e in expressions))
        for name, rules in self.defined.items():
            needed |= set().union(*(e.names for e in rules.values())) if name in needed else set()
        for name in reversed(list(self.given)):
            needed |= self.given[name].names if name in needed else set()
        return [n for n in self.domains if n in needed]


class Recursion:
    """A sequence of numbers that is computed from its first items, one after the other."""

    def __init__(
        self, values: Mapping[str, Any], drawn: Any, rules: Mapping[str, Expression], fine: bool
    ) -> None:
        self.values, self.drawn, self.fine = values, drawn, fine
        self.items = {int(k): e for k, e in rules.items() if k.isdigit()}
        self.rule = next(((k, e) for k, e in rules.items() if not k.isdigit()), None)
        self.known: dict[int, Any] = {}

    def __call__(self, i: Any) -> Any:
        place = int(i)
        if place not in self.known:
            self.known[place] = self._item(place)
        return self.known[place]

    def _item(self, place: int) -> Any:
        if place in self.items:
            return self._value(self.items[place], {})
        if self.rule is None or place <= min(self.items, default=0):
            return self.drawn(place)
        letter, rule = self.rule
        return self._value(rule, {letter: place})

    def _value(self, rule: Expression, index: dict[str, Any]) -> Any:
        evaluate = rule.precise if self.fine else rule.value
        return evaluate({**self.values, **index})


def _is_steep(instance: Instance) -> bool:
    """Whether there are numbers so large or small that a quadrature may miss a narrow peak."""
    numbers = [abs(v) for v in instance.drawn.values() if not callable(v) and np.ndim(v) == 0]
    return any(v and not STEEP[0] <= v <= STEEP[1] for v in numbers)


def is_far(expression: Expression) -> bool:
    """Is it a function in another process?"""
    return hasattr(expression.value, "home_of_stand_in")


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value
