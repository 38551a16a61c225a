"""Instances: values for all symbols at once, and two lines compared there."""

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

from .arithmetic import UNTRIED, Undefined, computed, gap, mismatch, peak
from .domains import EVERY_CORNER, Domain, DrawnSequence
from .evaluation import Loss, number, watched, zero_is
from .expressions import Expression
from .precise import Digits, precise

DIGITS = 50  # for scalars, at a first look
LOOK_AGAIN = ((60, 90), (400, 450))  # a mismatch counts if both of a pair find the same
SIMPLE, FAR, TIED = 24, 16, 10  # so many readable instances, far ones, and with equal values
SEEMS_EQUAL, FLOATS_SEEM_EQUAL = 1e-35, 1e-11  # relative: what differs more is looked at again
FEW_OF = 6  # every sixth instance is enough for what takes long
ROUGHLY = 1e-9  # relative: for quadratures and extrapolations
IN_A_PROGRAM = 1e-13  # relative to the largest number on the way: 0.1 is not one tenth there
TAME = 0.1, 10  # so small and so large, no number is a reason for lost digits or an overflow
COARSELY = 1e-8  # relative: what floats lose elsewhere, unseen by a change of the last place
SURELY = 1000  # times the noise, by which two looks differ: so large is a difference that counts
UNSTEADY = 1e-6  # relative: with more noise, a difference that does not count says nothing
SPARE_DIGITS = 12  # of those computed with, for what rounds at every step
NUDGES = 6  # changes of the last place, where many digits cannot be had
UNTOUCHED = 100  # times what the nudges came to: so large is a difference in floats that counts
NOTHING = "1e-40"  # where a divisor vanishes by construction, this is zero


class Trial(NamedTuple):
    """Two lines at one instance: how they disagree ("value", "shape", "undefined"), if at all."""

    kind: str | None
    before: Any
    now: Any
    values: Mapping[str, Any] | Undefined


class Look(NamedTuple):
    """All values with some number of digits, what the lines come to there, and what is lost."""

    values: Any
    found: list[Any]
    loss: Loss


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
            return [Instance(pool, one, self._complete(one)) for pool, one in drawn]

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

    def _complete(self, drawn: Mapping[str, Any], fine: bool = False) -> dict[str, Any] | Undefined:
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
        for name, expression in self.given.items():
            evaluate = expression.precise if fine and not self.exact else expression.value
            value = computed(evaluate, values)
            if isinstance(value, Undefined):
                return value
            values[name] = precise(value) if fine and not self.exact else value
        return values

    def _in_detail(self, drawn: Mapping[str, Any], hole: bool) -> dict[str, Any] | Undefined:
        """The same with mpmath's digits, once for all lines; but what is given may lose some."""
        import mpmath

        if (self.exact and self.given) or id(drawn) not in self._places:
            return self._complete(drawn, fine=True)
        key = id(drawn), mpmath.mp.prec, hole
        if key not in self._detailed:
            self._detailed[key] = self._complete(drawn, fine=True), Digits.peak
        values, Digits.peak = self._detailed[key]
        return values

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(one.drawn): place for place, one in enumerate(self.all)}

    def _fine(self, name: str, value: Any) -> Any:
        if isinstance(value, DrawnSequence):
            return value.converted(precise)
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
                expression.column[:] = [
                    UNTRIED
                    if expression.rough and k % FEW_OF
                    else computed(expression.value, one.complete)
                    for k, one in enumerate(self.all)
                ]
        return expression.column

    def ask_ahead(self, expressions: list[Expression]) -> None:
        """All of these will be asked for at every instance."""
        _ask_ahead(expressions, [one.complete for one in self.all])

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

    def fine(self, drawn: Mapping[str, Any], expressions: list[Expression]) -> list[Any]:
        """The values of expressions at one instance, to many digits where they can be had."""
        import mpmath

        with mpmath.workdps(LOOK_AGAIN[0][0]):
            values = self._complete(drawn, fine=True)
            found = [computed(_fine(e, self.exact), values) for e in expressions]
        if self.exact or not _is_blind(found):
            return found
        values = self._complete(drawn)
        return [computed(e.value, values) for e in expressions]

    # -- a second look

    def trial(
        self,
        drawn: Mapping[str, Any],
        relation: str,
        expressions: list[Expression],
        hole: bool = False,
    ) -> Trial:
        """Two lines compared at one instance with enough digits to be sure.

        `hole`: a divisor vanishes here by construction, so what is nothing but rounding is zero.
        """
        if any(map(_is_far, expressions)):  # digits do not cross to another process
            return self._by_floats(drawn, relation, expressions) or Trial(None, None, None, {})
        if not self.exact:
            return self._by_digits(drawn, relation, expressions, LOOK_AGAIN[0], hole)
        for digits in LOOK_AGAIN:
            trial = self._by_digits(drawn, relation, expressions, digits, hole)
            if trial.kind:
                break
        return trial

    def _by_digits(
        self,
        drawn: Mapping[str, Any],
        relation: str,
        expressions: list[Expression],
        digits: tuple[int, int],
        hole: bool,
    ) -> Trial:
        """Both lines computed with two numbers of digits: what both looks see counts."""
        import mpmath

        looks = []
        for precision in digits:
            look = self._look(drawn, expressions, precision, hole)
            if not self.exact and _is_blind(look.found):  # more digits would not be seen either
                trial = self._trial(None, drawn, look)
                return self._by_floats(drawn, relation, expressions) or trial
            looks.append(look)
        with mpmath.workdps(digits[1]):
            kind = self._seen_twice(relation, expressions, looks[0], looks[1], digits[0])
        trial = self._trial(kind, drawn, looks[1])
        if kind == "value" and not self.exact and _in_floats(looks[1].found):
            return self._by_floats(drawn, relation, expressions) or trial._replace(kind=None)
        return trial

    def _look(
        self, drawn: Mapping[str, Any], expressions: list[Expression], precision: int, hole: bool
    ) -> Look:
        """Both lines computed with so many digits."""
        import mpmath

        nothing = mpmath.mpf(NOTHING) if hole else 0
        with mpmath.workdps(precision), zero_is(nothing), watched() as loss:
            Digits.peak = -(10**9)
            values = self._in_detail(drawn, hole)
            return Look(values, [computed(_fine(e, self.exact), values) for e in expressions], loss)

    def _seen_twice(
        self, relation: str, expressions: list[Expression], one: Look, two: Look, digits: int
    ) -> str | None:
        """How the lines disagree in both looks; None where the looks do not agree."""
        kinds = {mismatch(0, relation, *look.found) for look in (one, two)}
        kinds = {"" if kind == "value" else kind for kind in kinds}  # without rounding, as yet
        if len(kinds) > 1:
            return None
        (kind,) = kinds
        if kind == "undefined":
            return kind if one.found[1].sure and two.found[1].sure else None
        if kind != "":
            return kind
        return self._beyond_rounding(relation, expressions, one, two, digits)

    def _beyond_rounding(
        self, relation: str, expressions: list[Expression], one: Look, two: Look, digits: int
    ) -> str | None:
        """Whether the values disagree by more than rounding and noise: "value", "" or None."""
        before, now, *allowed = two.found
        noise = sum(peak(a - b) for a, b in zip(one.found, two.found, strict=True))
        scale = max(peak(before), peak(now))
        beyond = gap(relation, before, now) - (allowed[0] if allowed else 0)
        rounding = self._rounding(scale, two.loss, digits)
        if any(e.rough for e in expressions):
            rounding = max(rounding, scale * ROUGHLY)
        if beyond > SURELY * noise and beyond > rounding:
            return "value"
        if relation in "<>" and abs(beyond) <= max(SURELY * noise, rounding):
            return "value" if self._equal(expressions, two.values, beyond) else ""
        return None if noise > UNSTEADY * scale and beyond > 0 else ""

    def _rounding(self, scale: Any, loss: Loss, digits: int) -> Any:
        """What rounding may come to, by what was lost on the way."""
        import mpmath

        if not self.exact:
            largest = mpmath.ldexp(1, max(Digits.peak, -(10**6)))
            return max(scale * FLOATS_SEEM_EQUAL, largest * IN_A_PROGRAM)
        left = mpmath.mpf(10) ** (SPARE_DIGITS - digits)  # of every number, before any cancels
        return left * max(scale * mpmath.mpf(10) ** loss.digits, loss.cancelled)

    def _equal(self, expressions: list[Expression], values: Mapping[str, Any], beyond: Any) -> bool:
        """Whether two sides that seem equal are: for < and >, where that is a refutation."""
        if not self.exact:
            return bool(beyond == 0)
        import sympy

        sides = [e.sympy for e in expressions[:2]]
        if None in sides or beyond != 0:
            return False
        point = {s: sympy.nsimplify(str(values[s.name]), rational=True)
                 for side in sides for s in side.free_symbols if s.name in values}  # fmt: skip
        return bool((sides[0] - sides[1]).xreplace(point).doit().is_zero)

    def _by_floats(
        self, drawn: Mapping[str, Any], relation: str, expressions: list[Expression]
    ) -> Trial | None:
        """Where many digits cannot be had: a mismatch counts if small changes do not touch it."""
        place = self._places.get(id(drawn))
        values = self._complete(drawn) if place is None else self.all[place].complete
        found = [self._at(place, e, values) for e in expressions]
        kind = self.mismatch(relation, expressions, found)
        if kind != "value":
            sure = kind == "shape" or (kind == "undefined" and _is_sure(found[1], values))
            return Trial(kind, found[0], found[1], values) if sure else None
        rng, spread = Random(0), 0.0
        nudged = [{n: _nudged(v, rng) for n, v in drawn.items()} for _ in range(NUDGES)]
        moved = [self._complete(one) for one in nudged]
        _ask_ahead(expressions, moved)
        for one in moved:
            again = [computed(e.value, one) for e in expressions]
            if any(isinstance(x, Undefined) for x in again):
                return None
            spread += sum(peak(a - b) for a, b in zip(again, found, strict=True))
        beyond = gap(relation, *found[:2])
        seen = COARSELY * max(peak(found[0]), peak(found[1]))
        low, high = _extent(drawn)
        sure = beyond > UNTOUCHED * spread and (beyond > seen or TAME[0] <= low <= high <= TAME[1])
        return Trial("value", found[0], found[1], values) if sure else None

    def _at(
        self, place: int | None, expression: Expression, values: Mapping[str, Any] | Undefined
    ) -> Any:
        """The value of an expression, which may be known if this is one of the instances."""
        known = UNTRIED
        if place is not None and expression.column:
            known = expression.column[place]
        return computed(expression.value, values) if known is UNTRIED else known

    def _trial(self, kind: str | None, drawn: Mapping[str, Any], look: Look) -> Trial:
        before, now = look.found[:2]
        return Trial(kind, before, now, self._shown(drawn, look.values))

    def _shown(
        self, drawn: Mapping[str, Any], values: Mapping[str, Any] | Undefined
    ) -> Mapping[str, Any] | Undefined:
        """The values of a counterexample: those drawn as they were, the givens as computed."""
        return values if isinstance(values, Undefined) else {**values, **drawn}

    def simplest(
        self, drawn: dict[str, Any], relation: str, expressions: list[Expression], kind: str
    ) -> Trial:
        """The same failure with one value after the other made as simple as it can be."""
        for name in self.needed(expressions):
            domain = self.domains[name]
            if domain.part:
                continue
            n = [drawn.get(s, s) for s in domain.sizes]
            for candidate in [*domain.simple(*n), *domain.corners(*n)[:3]]:
                if _same(candidate, drawn[name]):
                    break
                simpler = {**drawn, name: candidate}
                if self.trial(simpler, relation, expressions).kind == kind:
                    drawn = simpler
                    break
        for value in drawn.values():
            if isinstance(value, DrawnSequence):
                value.asked.clear()
        return self.trial(drawn, relation, expressions)

    def needed(self, expressions: Iterable[Expression]) -> list[str]:
        """The independent symbols behind these expressions."""
        needed = set().union(*(e.names for e in expressions))
        for name in reversed(list(self.given)):
            needed |= self.given[name].names if name in needed else set()
        return [n for n in self.domains if n in needed]


def _fine(expression: Expression, exact: bool) -> Callable[..., Any]:
    return expression.value if exact else expression.precise


def _is_blind(found: list[Any]) -> bool:
    """Is there a value that mpmath's digits could not be had of?"""
    return any(isinstance(x, Undefined) and not x.sure for x in found)


def _in_floats(found: list[Any]) -> bool:
    """Is there one that was computed in floats, though it was given more digits?"""
    return any(isinstance(x, np.ndarray) and x.dtype != object for x in found)


def _is_sure(nothing: Undefined, values: Mapping[str, Any] | Undefined) -> bool:
    """Has a line no value in floats for a reason of its own, or may numbers be too large for it?"""
    if nothing.sure or isinstance(values, Undefined):
        return nothing.sure
    return _extent(values)[1] <= TAME[1]


def _extent(values: Mapping[str, Any]) -> tuple[float, float]:
    """The smallest and the largest size of the numbers that are not 0."""
    numbers = [np.abs(np.ravel(v)).astype(float) for v in values.values() if not callable(v)]
    found = np.concatenate([[TAME[1]], *numbers])
    return found[found > 0].min(), found.max()


def _ask_ahead(expressions: list[Expression], complete: list[Any]) -> None:
    """Functions that are far away are told at once where they will be asked for."""
    far: list[Any] = [e.value for e in expressions if _is_far(e)]
    known = [values for values in complete if not isinstance(values, Undefined)]
    calls = [value.called_with(values) for value in far for values in known]
    if calls:
        far[0].ahead(calls)


def _is_far(expression: Expression) -> bool:
    """Is it a function in another process?"""
    return hasattr(expression.value, "ahead")


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


def _same(a: Any, b: Any) -> bool:
    return a is b or (not callable(a) and not callable(b) and np.array_equal(a, b))


def _nudged(value: Any, rng: Random) -> Any:
    """A value moved by a few units of its last place."""
    if isinstance(value, np.ndarray):
        moves = np.array([rng.uniform(-1, 1) for _ in range(value.size)]).reshape(value.shape)
        return value * (1 + 1e-14 * moves)
    if isinstance(value, Fraction):
        return value * (1 + Fraction(rng.randint(-99, 99), 10**16))
    return value
