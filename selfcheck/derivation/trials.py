"""Trials: two lines compared at one instance, again and closer than at first."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

import numpy as np

from .arithmetic import UNSETTLED, UNTRIED, Undefined, computed, gap, mismatch, peak
from .clock import LINE, at_most, is_up
from .domains import DrawnSequence
from .evaluation import Evaluator
from .expressions import Expression
from .instances import FLOATS_SEEM_EQUAL, ROUGHLY, Instances, is_far
from .operations import Loss, watched, zero_is
from .precise import Digits

LOOK_AGAIN = ((60, 90), (400, 450))  # a mismatch counts if both of a pair find the same
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


class Trials:
    """Compares the lines of one derivation with enough digits to be sure."""

    def __init__(self, instances: Instances) -> None:
        self.instances, self.exact = instances, instances.exact

    def at(
        self,
        drawn: Mapping[str, Any],
        relation: str,
        expressions: list[Expression],
        hole: bool = False,
    ) -> Trial:
        """Two lines compared at one instance with enough digits to be sure.

        `hole`: a divisor vanishes here by construction, so what is nothing but rounding is zero.
        """
        if any(map(is_far, expressions)):  # digits do not cross to another process
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
            if not self.exact and self._agree(relation, expressions, look):
                return self._trial("", drawn, look)
        with mpmath.workdps(digits[1]):
            kind = self._seen_twice(relation, expressions, looks[0], looks[1], digits[0])
        trial = self._trial(kind, drawn, looks[1])
        if kind == "value" and not self.exact and in_floats(looks[1].found):
            return self._by_floats(drawn, relation, expressions) or trial._replace(kind=None)
        return trial

    def _agree(self, relation: str, expressions: list[Expression], look: Look) -> bool:
        """Whether a relation holds up to the rounding of floats: more digits do not refute it."""
        if relation in "<>" or mismatch(0, relation, *look.found) not in ("", "value"):
            return False
        before, now, *allowed = look.found
        beyond = gap(relation, before, now) - (allowed[0] if allowed else 0)
        return bool(beyond <= max(peak(before), peak(now)) * FLOATS_SEEM_EQUAL)

    def _look(
        self, drawn: Mapping[str, Any], expressions: list[Expression], precision: int, hole: bool
    ) -> Look:
        """Both lines computed with so many digits."""
        import mpmath

        nothing = mpmath.mpf(NOTHING) if hole else 0
        with mpmath.workdps(precision), zero_is(nothing), watched() as loss:
            Digits.peak = -(10**9)
            values = self.instances.in_detail(drawn, hole)
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
        place = self.instances.places.get(id(drawn))
        values = (
            self.instances.complete(drawn) if place is None else self.instances.all[place].complete
        )
        found = [self._at(place, e, values) for e in expressions]
        kind = self.instances.mismatch(relation, expressions, found)
        if kind != "value":
            sure = kind == "shape" or (kind == "undefined" and _is_sure(found[1], values))
            return Trial(kind, found[0], found[1], values) if sure else None
        rng, spread = Random(0), 0.0
        kinds = {n: d.assumptions for n, d in self.instances.domains.items()}
        whole = {n for n in drawn if kinds.get(n, {"integer": True}).get("integer")}
        nudged = [
            {n: v if n in whole else _nudged(v, rng) for n, v in drawn.items()}
            for _ in range(NUDGES)
        ]
        moved = [self.instances.complete(one) for one in nudged]
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

    def values(self, drawn: Mapping[str, Any], expressions: list[Expression]) -> list[Any]:
        """The values of expressions at one instance, to many digits where they can be had."""
        import mpmath

        with mpmath.workdps(LOOK_AGAIN[0][0]):
            values = self.instances.complete(drawn, fine=True)
            found = [computed(_fine(e, self.exact), values) for e in expressions]
        if self.exact or not _is_blind(found):
            return found
        values = self.instances.complete(drawn)
        return [computed(e.value, values) for e in expressions]

    def simplest(
        self, drawn: dict[str, Any], relation: str, expressions: list[Expression], kind: str
    ) -> Trial:
        """The same failure with one value after the other made as simple as it can be."""
        for name in self.instances.needed(expressions):
            domain = self.instances.domains[name]
            if domain.part:
                continue
            n = [drawn.get(s, s) for s in domain.sizes]
            for candidate in [*domain.simple(*n), *domain.corners(*n)[:3]]:
                if _same(candidate, drawn[name]) or is_up():
                    break
                simpler = {**drawn, name: candidate}
                if self.at(simpler, relation, expressions).kind == kind:
                    drawn = simpler
                    break
        for value in drawn.values():
            if isinstance(value, DrawnSequence):
                value.asked.clear()
        with at_most(LINE, anew=True):
            return self.at(drawn, relation, expressions)


def _fine(expression: Expression, exact: bool) -> Evaluator:
    return expression.value if exact else expression.precise


def _is_blind(found: list[Any]) -> bool:
    """Is there a value that mpmath's digits could not be had of?"""
    return any(isinstance(x, Undefined) and not x.sure for x in found)


def in_floats(found: list[Any]) -> bool:
    """Is there one that was computed in floats, though it was given more digits?"""
    return any(isinstance(x, np.ndarray) and x.dtype != object for x in found)


def _is_sure(nothing: Undefined, values: Mapping[str, Any] | Undefined) -> bool:
    """Has a line no value in floats for a reason of its own, or may numbers be too large for it?"""
    if nothing.sure or isinstance(values, Undefined) or nothing.reason == UNSETTLED:
        return nothing.sure
    return _extent(values)[1] <= TAME[1]


def _extent(values: Mapping[str, Any]) -> tuple[float, float]:
    """The smallest and the largest size of the numbers that are not 0."""
    plain = [v for v in values.values() if not callable(v) and not hasattr(v, "law")]
    numbers = [np.abs(np.ravel(v)).astype(float) for v in plain]
    found = np.concatenate([[TAME[1]], *numbers])
    return found[found > 0].min(), found.max()


def _same(a: Any, b: Any) -> bool:
    return a is b or (not callable(a) and not callable(b) and np.array_equal(a, b))


def _nudged(value: Any, rng: Random) -> Any:
    """A value moved by a few units of its last place."""
    if isinstance(value, np.ndarray):
        moves = np.array([rng.uniform(-1, 1) for _ in range(value.size)]).reshape(value.shape)
        return value * (1 + 1e-14 * moves)
    if isinstance(value, Fraction | int):
        return value * (1 + Fraction(rng.randint(-99, 99), 10**16))
    return value
