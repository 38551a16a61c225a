"""Judging lines: each is compared with the one before it, in numbers first, then by SymPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .arithmetic import UNTRIED, Undefined, gap, peak
from .borders import Borders
from .clock import LINE, PROOF, STEP, at_most, guarded, is_up
from .expressions import Expression, Reader
from .instances import SIMPLE, Instance, Instances
from .limit_judging import LimitJudge
from .lines import RIGHT, UNTOLD, Line, LineReport, Refuted, trials_in_words, unchecked
from .operations import complex_numbers
from .proofs import Prover
from .sentences import Sentences
from .singularities import Border, points
from .trials import Trial, Trials, in_floats
from .worst import Search

LOOKED_AT = 24  # mismatches of a kind that are looked at again, the plainest first
DEEPLY = 6  # instances at which a line that seems right is computed to hundreds of digits,
DEEPLY_OF_ARRAYS = 3  # or of arrays, which are taken for floats anyhow, to as many as settle it
NO_REAL_VALUE = 12  # instances without a real value at which complex numbers are tried
MEET = 1e-45  # so near are two sides where they are equal by construction
COARSE = 1e-3  # relative: so far floats may be off where they cancel, if there is a proof
FINE = 1e-6  # relative: a smaller difference is shown only where there is no plainer one

Read = Expression | str | None  # an expression; why there is none; None for a blank


class Claim(NamedTuple):
    """What a line says: this relation holds between the line before and this one.

    With ≈ the expressions have a third, the largest difference that is allowed.
    """

    relation: str
    expressions: list[Expression]


class LineJudge:
    """Judges the lines of one derivation, each against the line before it."""

    def __init__(self, reader: Reader, instances: Instances, decided: dict[Any, bool]) -> None:
        self.reader, self.instances, self.decided = reader, instances, decided
        self.trials = Trials(instances)
        self.borders = Borders(reader, instances, decided)
        self.sentences = Sentences(reader, instances)
        self.prover = Prover(self.borders, self.sentences)
        self.limits = LimitJudge(self.borders, self.trials, self.sentences)
        self.search = Search(self.borders)

    def report(self, before: Read, now: Read, lines: list[Line]) -> tuple[LineReport, bool]:
        """The report on `now`, and whether the next line is compared with it."""
        with at_most(LINE):
            return self._report(before, now, lines)

    def _report(self, before: Read, now: Read, lines: list[Line]) -> tuple[LineReport, bool]:
        if trouble := self._trouble(now):
            return unchecked(f": {trouble}"), False
        if nothing := self._trouble(before):
            return unchecked(f", as no line before it has a value: {nothing}"), True
        assert isinstance(before, Expression)  # else there is trouble
        assert isinstance(now, Expression)
        return self.judge(before, now, lines), True

    def _trouble(self, expression: Read) -> str:
        """Why an expression cannot be compared with anything; "" if it can."""
        if not isinstance(expression, Expression):
            return expression or "the start is blank."
        column = self.instances.column(expression)
        nowhere = all(isinstance(v, Undefined) for v in column)
        return str(column[0].trouble) if nowhere else ""

    def judge(self, before: Expression, now: Expression, lines: list[Line]) -> LineReport:
        """The verdict on `now`; `lines` are its own and those skipped (blank) before it."""
        relation = _chained(lines)
        if relation is None:
            return unchecked(": the relations of the lines left open do not chain.")
        expressions = [before, now]
        if relation == "≈":
            allowed = next(line.allowed for line in reversed(lines) if line.relation == "≈")
            if allowed == UNTOLD:
                return unchecked(": ≈ does not say how near; write the limit or the bound.")
            if isinstance(allowed, tuple):
                return self.limits.judge(expressions, *allowed)
            expressions.append(self.reader.read(allowed))
        return self._verdict(Claim(relation, expressions))

    def _verdict(self, claim: Claim) -> LineReport:
        """By drawn numbers, at the borders, in complex numbers, by proof, to many digits."""
        held, failures = self._compare(claim)
        if false := self._refutation(claim, failures):
            return false
        held += sum(kind == "value" for kind, _ in failures)  # which a second look did not confirm
        nowhere: int | LineReport = 0
        found = guarded(lambda: self._at_the_borders(claim), nowhere)
        if isinstance(found, LineReport):
            return found
        held += found
        if false := guarded(lambda: self._through_complex_numbers(claim), None):
            return false
        if claim.relation in "≤≥<>" and (false := self._at_the_worst(claim)):
            return false
        before, now = claim.expressions[:2]
        rung = guarded(lambda: self.prover.at_once(before, now, claim.relation), None, PROOF)
        proof = guarded(lambda: self.prover.proof(before, now, claim.relation, rung), None, PROOF)
        if proof is None and (false := guarded(lambda: self._deep_look(claim), None)):
            return false
        if not held and proof is None:
            return unchecked(": it has no value where the line before has one.")
        if proof is None and not self._in_general(claim):
            return unchecked(": it could be computed only where a size is 1.")
        short = " (time was up)" if any(map(self._is_cut, claim.expressions)) else ""
        return LineReport(RIGHT, proof or f"held in {trials_in_words(held)}{short}")

    def _in_general(self, claim: Claim) -> bool:
        """Whether arrays of more than one entry were among those compared, if there are any."""
        columns = [self.instances.column(e) for e in claim.expressions]
        large = [
            not any(isinstance(value, Undefined) for value in found)
            for one, *found in zip(self.instances.all, *columns, strict=True)
            if all(one.drawn[size] > 1 for size in self.instances.sizes)
        ]
        return any(large) or not large

    def _is_cut(self, expression: Expression) -> bool:
        """Whether there was no time for some of its values."""
        return any(
            value is UNTRIED and not (expression.rough and self.instances.left_out(k))
            for k, value in enumerate(expression.column)
        )

    def _at_the_worst(self, claim: Claim) -> LineReport | None:
        """An inequality may fail where nobody drew: where its sides are nearest to each other."""
        with at_most(STEP):
            for drawn in self.search.candidates(claim.relation, claim.expressions):
                if self._trial(drawn, claim).kind == "value":
                    return self._false(self._trial(drawn, claim), claim)
                if is_up():
                    break
        return None

    # -- in numbers

    def _compare(self, claim: Claim) -> tuple[int, list[tuple[str, dict[str, Any]]]]:
        """How often the relation seems to hold; how and where it seems to fail, plainest first."""
        held, failures = 0, []
        columns = [self.instances.column(e) for e in claim.expressions]
        for instance, *found in zip(self.instances.all, *columns, strict=True):
            kind = self.instances.mismatch(claim.relation, claim.expressions, found)
            if kind == "":
                held += 1
            elif kind:
                plainness = _plainness(kind, instance, claim.relation, found)
                failures.append((plainness, kind, instance.drawn))
        failures.sort(key=lambda failure: failure[0])
        return held, [(kind, drawn) for _, kind, drawn in failures]

    def _refutation(
        self, claim: Claim, failures: list[tuple[str, dict[str, Any]]]
    ) -> LineReport | None:
        """The first of these failures that stays one at a second look."""
        holes = [failure for failure in failures if failure[0] == "undefined"]
        others = [failure for failure in failures if failure[0] != "undefined"]
        for kind, drawn in others[:LOOKED_AT] + holes[:LOOKED_AT]:
            if is_up():
                return unchecked(": time was up before a doubt about it could be settled.")
            trial = self._trial(drawn, claim)
            if trial.kind == kind and not (kind == "value" and self._is_rounding(trial, claim)):
                return Refuted(partial(self._simply_false, drawn, claim, kind, bool(others)))
        return None

    def _is_rounding(self, trial: Trial, claim: Claim) -> bool:
        """Whether a small difference, seen in floats alone, contradicts a proof: p − p² at 1."""
        found = [trial.before, trial.now]
        if self.instances.exact or not in_floats(found):
            return False
        if gap(claim.relation, *found) > COARSE * max(peak(x) for x in found):
            return False
        before, now = claim.expressions[:2]
        rung = guarded(lambda: self.prover.at_once(before, now, claim.relation), None, PROOF)
        return rung is not None

    def _simply_false(
        self, drawn: dict[str, Any], claim: Claim, kind: str, anyhow: bool
    ) -> LineReport:
        """The plainest counterexample; `anyhow`, the line is false where it has a value too."""
        with at_most(LINE):
            trial = self.trials.simplest(drawn, claim.relation, claim.expressions, kind)
        return self._false(trial, claim) if anyhow else self._false_at_a_hole(trial, claim)

    def _deep_look(self, claim: Claim) -> LineReport | None:
        """A difference too small to be seen at first, such as that of tanh 100 and 1."""
        if any(e.rough for e in claim.expressions):
            return None  # an integral has no more digits than it had
        every = len(self.instances.all) // (DEEPLY if self.instances.exact else DEEPLY_OF_ARRAYS)
        columns = [self.instances.column(e)[1::every] for e in claim.expressions]
        for instance, *found in zip(self.instances.all[1::every], *columns, strict=True):
            if not self.instances.exact and _holds_by_far(claim.relation, found):
                continue
            trial = self._trial(instance.drawn, claim)
            if trial.kind == "value":
                return self._false(trial, claim)
        return None

    def _through_complex_numbers(self, claim: Claim) -> LineReport | None:
        """√−1·√−1 is −1: where real numbers end, a line that goes on must still be true."""
        import sympy

        sides = [e.sympy for e in claim.expressions[:2]]
        if not self.instances.exact or None in sides:
            return None
        if not any(side.has(sympy.Pow, sympy.log) for side in sides):
            return None
        column = self.instances.column(claim.expressions[0])
        pairs = zip(self.instances.all, column, strict=True)
        empty = [one.drawn for one, v in pairs if isinstance(v, Undefined) and v.sure]
        for drawn in empty[:NO_REAL_VALUE]:
            with complex_numbers():
                trial = self._trial(drawn, claim)
                if trial.kind == "value":
                    return self._false(trial, claim)
        return None

    # -- at the borders

    def _at_the_borders(self, claim: Claim) -> int | LineReport:
        """In how many instances at and beside the borders of a line it holds; or that it fails."""
        held = 0
        for border, drawn in self._border_points(claim):
            trial = self._trial(drawn, claim, hole=border.hole)
            if trial.kind == "undefined":
                return self._false_at_a_hole(trial, claim)
            if trial.kind == "" and claim.relation in "<>" and _meet(border, trial):
                trial = trial._replace(kind="value", before=trial.now)
            if trial.kind:
                return self._false(trial, claim)
            held += trial.kind == ""
        return held

    def _border_points(self, claim: Claim) -> Iterator[tuple[Border, dict[str, Any]]]:
        """Instances on the borders of both lines and beside them, each with its border."""
        before, now = (self.borders.of(e) for e in claim.expressions[:2])
        if claim.relation not in "=≈":
            now += self.borders.where_equal(claim.expressions)
        places = {n: d for n, d in self.instances.domains.items() if d.ends and not d.part}
        some = [one.drawn for one in self.instances.all[2:SIMPLE:7]]
        return points([*now, *before], places, self.reader.symbols, some)

    # -- reports

    def _trial(self, drawn: Mapping[str, Any], claim: Claim, hole: bool = False) -> Trial:
        return self.trials.at(drawn, claim.relation, claim.expressions, hole=hole)

    def _false(self, trial: Trial, claim: Claim) -> LineReport:
        return self.sentences.counterexample(trial, claim.relation, claim.expressions)

    def _false_at_a_hole(self, trial: Trial, claim: Claim) -> LineReport:
        """False only where the line has no value: it is told where it holds."""
        report = self._false(trial, claim)
        return self.sentences.with_condition(report, self.borders.of(claim.expressions[1]))


def _chained(lines: list[Line]) -> str | None:
    """The one relation that several lines together state; None if they do not chain."""
    relations = {line.relation for line in lines} - {"="} or {"="}
    if relations in ({"<", "≤"}, {">", "≥"}):
        return min(relations)
    return relations.pop() if len(relations) == 1 else None


def _holds_by_far(relation: str, found: list[Any]) -> bool:
    """Whether an inequality holds by more than the digits of floats are worth."""
    if relation not in "≤≥" or any(isinstance(x, Undefined) for x in found):
        return False
    return bool(gap(relation, *found) < -FINE * max(peak(x) for x in found))


def _meet(border: Border, trial: Trial) -> bool:
    """Whether both sides are equal at a zero of a polynomial, be it irrational."""
    if not border.f.is_polynomial(*border.f.free_symbols):
        return False
    return bool(abs(trial.before - trial.now) <= MEET * max(1, abs(trial.before)))


def _plainness(
    kind: str, instance: Instance, relation: str, found: list[Any]
) -> tuple[int, int, int, int]:
    """Values before holes, few entries before many, plain differences before fine ones."""
    entries = sum(v.size for v in instance.drawn.values() if isinstance(v, np.ndarray))
    if kind == "undefined":
        return 1, instance.pool != "simple", entries, 0
    if kind == "shape":
        return 0, 0, entries, 0
    scale = max(1, peak(found[0]), peak(found[1]))
    fine = gap(relation, *found[:2]) < FINE * scale
    return 0, fine, entries, instance.pool not in ("simple", "random")
