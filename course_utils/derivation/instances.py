"""Instances: values for all symbols at once, and two lines compared there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any, NamedTuple

import numpy as np

from .domains import EVERY_CORNER, Domain, Values
from .evaluation import FLOAT_ROUNDING, ROUNDING, number
from .expressions import Expression
from .values import Undefined, computed, mismatch

DIGITS, MORE_DIGITS = 40, 400  # for scalars; a mismatch counts only if it survives MORE_DIGITS
SIMPLE, CORNERS = 24, 3 * EVERY_CORNER  # so many readable instances; corners are for ≤ and ≥


class Trial(NamedTuple):
    """Two lines at one instance: how they disagree ("value", "shape", "undefined"), if at all."""

    kind: str | None
    before: Any
    now: Any
    values: Any  # by name, or Undefined


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
    given: dict[str, Expression]
    exact: bool  # scalars only: computed to many digits, so rounding is no concern
    seed: int
    count: int
    corners: bool
    _columns: dict[Expression, list] = field(default_factory=dict)

    @cached_property
    def all(self) -> list[Instance]:
        """Readable instances first, then random ones, then (for inequalities) corners."""
        rng = Random(self.seed)
        pools = [
            ("simple", SIMPLE, lambda d, k, *n: d.readable(rng, *n)),
            ("random", self.count - SIMPLE, lambda d, k, *n: d.draw(rng, *n)),
            ("corner", CORNERS if self.corners else 0, lambda d, k, *n: d.extreme(rng, k, *n)),
        ]
        drawn = [(pool, self._sample(pick, k)) for pool, n, pick in pools for k in range(n)]
        with self._precision(DIGITS):
            return [Instance(pool, one, self._complete(one)) for pool, one in drawn]

    def _sample(self, pick: Callable[..., Any], k: int) -> dict[str, Any]:
        sizes = {s: pick(domain, k) for s, domain in self.sizes.items()}
        return sizes | {
            name: pick(domain, k, *(sizes.get(s, s) for s in domain.sizes))
            for name, domain in self.domains.items()
        }

    def _complete(self, drawn: Mapping[str, Any]) -> dict[str, Any] | Undefined:
        """The instance in numbers that can be computed with, and with all givens computed."""
        values = dict(drawn)
        for name, value in drawn.items():
            if isinstance(value, Fraction | int if self.exact else Fraction):
                values[name] = number(value, self.exact)
            elif isinstance(value, Values) and not self.exact:
                values[name] = value.as_floats()
        for name, expression in self.given.items():
            values[name] = computed(expression.value, values)
            if isinstance(values[name], Undefined):
                return values[name]
        return values

    def _precision(self, digits: int) -> Any:
        import mpmath

        return mpmath.workdps(digits) if self.exact else nullcontext()

    def column(self, expression: Expression) -> list:
        """The expression's value at every instance, computed once."""
        if expression not in self._columns:
            with self._precision(DIGITS):
                column = [computed(expression.value, one.complete) for one in self.all]
            self._columns[expression] = column
        return self._columns[expression]

    def mismatch(self, relation: str, *found: Any) -> str | None:
        """How the values found disagree, rounding forgiven."""
        return mismatch(ROUNDING if self.exact else FLOAT_ROUNDING, relation, *found)

    def trial(
        self, drawn: Mapping, relation: str, expressions: list, digits: int = MORE_DIGITS
    ) -> Trial:
        """Two lines compared at one instance, with enough digits to be sure."""
        with self._precision(digits):
            values = self._complete(drawn)
            found = [computed(e.value, values) for e in expressions]
            return Trial(self.mismatch(relation, *found), found[0], found[1], values)

    def simplest(self, drawn: dict, relation: str, expressions: list, kind: str) -> Trial:
        """The same failure with one value after the other made as simple as it can be."""
        for name in self.needed(expressions):
            domain = self.domains[name]
            for candidate in domain.simple(*(drawn.get(s, s) for s in domain.sizes)):
                if np.array_equal(candidate, drawn[name]):
                    break
                simpler = {**drawn, name: candidate}
                if self.trial(simpler, relation, expressions).kind == kind:
                    drawn = simpler
                    break
        for value in drawn.values():
            if isinstance(value, Values):
                value.asked.clear()
        return self.trial(drawn, relation, expressions)

    def needed(self, expressions: Iterable[Expression]) -> list[str]:
        """The independent symbols behind these expressions."""
        needed: set[str] = set().union(*(e.names for e in expressions))
        for name in reversed(self.given):
            needed |= self.given[name].names if name in needed else set()
        return [n for n in self.domains if n in needed]
