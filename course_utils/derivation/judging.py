"""A derivation: every line judged against the one before it, shown with its verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..formula import FormulaError, pretty
from . import rendering
from .domains import Activation, Domain, Values, integers
from .evaluation import name_of
from .expressions import Expression, Reader, bare, is_blank, is_function
from .instances import DIGITS, SIMPLE, Instances, Trial
from .report import BLANK, RIGHT, WRONG, Line, LineReport, Report, read_line, unchecked
from .values import Undefined, gap, plain, shape_in_words, show, show_limit


class Derivation:
    """A start and lines (relation, expression, reason), checked and shown line by line.

    `where` declares the symbols, `given` those that are computed from them, in this order. A line
    with ≈ has a fourth part: ("t", oo) for a limit, or the largest difference that is allowed.
    """

    def __init__(
        self,
        start: Any,
        lines: Iterable[tuple],
        *,
        where: Mapping[Any, Domain],
        given: Mapping[Any, Any] | None = None,
        name: str = "",
        tex: Mapping[Any, str] | None = None,
        instances: int = 60,
        seed: int = 0,
    ) -> None:
        self.name, self.start = name, start
        self.lines = [read_line(k, line) for k, line in enumerate(lines, 1)]
        domains = {n: domain for key, domain in where.items() for n in _names(key)}
        named = [s for d in domains.values() for s in d.sizes if isinstance(s, str)]
        sizes = {s: domains.pop(s, integers(1, 4)) for s in dict.fromkeys(named)}
        sources = {
            name_of(k): v[0] if isinstance(v, tuple) else v for k, v in (given or {}).items()
        }
        twice = sources.keys() & (domains.keys() | sizes.keys())
        if twice:
            raise ValueError(f"{', '.join(sorted(twice))}: both in `where` and in `given`.")
        exact = self._only_scalars(domains, sources)
        names = {**sizes, **domains, **dict.fromkeys(sources)}
        self.reader = Reader(names, {name_of(k): v for k, v in (tex or {}).items()}, exact)
        computed = {n: self.reader.read(source) for n, source in sources.items()}
        corners = any(line.relation in "≤≥" for line in self.lines)
        self._instances = Instances(
            domains, sizes, computed, exact, seed, max(instances, SIMPLE), corners
        )

    def check(self) -> Report:
        """The verdict on every line; computed once, the same for the same seed."""
        return self._report

    def _only_scalars(self, domains: Mapping[str, Domain], given: Mapping[str, Any]) -> bool:
        sources = [self.start, *given.values()]
        sources += [part for line in self.lines for part in (line.expr, line.allowed)]
        return not any(is_function(bare(source)) for source in sources) and not any(
            d.sizes or isinstance(d.simple()[0], Activation) for d in domains.values()
        )

    @cached_property
    def expressions(self) -> list[Expression | str | None]:
        """The start and the lines as they were read."""
        return [self._read(source) for source in [self.start, *(line.expr for line in self.lines)]]

    def _read(self, source: Any) -> Expression | str | None:
        """The expression, a sentence that says why it is none, or None for a blank."""
        try:
            return None if is_blank(source) else self.reader.read(source)
        except FormulaError as trouble:
            return str(trouble)
        except Exception as trouble:
            return f"it cannot be read ({type(trouble).__name__}: {trouble})."

    # -- judging

    @cached_property
    def _report(self) -> Report:
        reports, before, skipped = [], self.expressions[0], []
        for k, (line, now) in enumerate(zip(self.lines, self.expressions[1:], strict=True), 1):
            skipped.append(line)
            if now is None:
                report = LineReport(BLANK, sentence="is still to be written.")
            elif trouble := self._trouble(now):
                report = unchecked(f": {trouble}")
            else:
                nothing = self._trouble(before)
                report = (
                    unchecked(f", as no line before it has a value: {nothing}")
                    if nothing
                    else self._judge(before, now, skipped)
                )
                before, skipped = now, []
            words = report.sentence and f"Line {k} {report.sentence}"
            reports.append(replace(report, sentence=words))
        return Report(tuple(reports))

    def _trouble(self, expression: Expression | str | None) -> str:
        """Why an expression cannot be compared with anything; "" if it can."""
        if not isinstance(expression, Expression):
            return expression or "the start is blank."
        column = self._instances.column(expression)
        return column[0].trouble if all(isinstance(v, Undefined) for v in column) else ""

    def _judge(self, before: Any, now: Any, lines: list[Line]) -> LineReport:
        """The verdict on `now`; `lines` are its own and those skipped (blank) before it."""
        relations = {line.relation for line in lines} - {"="} or {"="}
        if len(relations) > 1:
            return unchecked(": the relations of the lines left open do not chain.")
        relation, expressions = relations.pop(), [before, now]
        if relation == "≈":
            allowed = next(line.allowed for line in reversed(lines) if line.relation == "≈")
            if isinstance(allowed, tuple):
                return self._judge_limit(expressions, *allowed)
            expressions.append(self.reader.read(allowed))
        held, failures = self._compare(relation, expressions)
        for kind, drawn in failures:
            if self._instances.trial(drawn, relation, expressions).kind == kind:
                simplest = self._instances.simplest(drawn, relation, expressions, kind)
                return self._falsehood(simplest, relation, expressions)
        if not held:
            return unchecked(": it has no value where the line before has one.")
        if self._proved(before, now, relation):
            return LineReport(RIGHT, "proved by SymPy")
        at_corners = held.count("corner")
        how = f"held in {len(held) - at_corners} random instances"
        return LineReport(RIGHT, how + (f" and {at_corners} corners" if at_corners else ""))

    def _compare(self, relation: str, expressions: list) -> tuple[list[str], list[tuple]]:
        """The pools of the instances where the relation holds; how and where it fails."""
        held, failures = [], []
        columns = [self._instances.column(e) for e in expressions]
        for instance, *found in zip(self._instances.all, *columns, strict=True):
            if instance.pool == "corner" and relation not in "≤≥":
                continue
            kind = self._instances.mismatch(relation, *found)
            if kind == "undefined" and instance.pool != "simple":
                continue  # overflow, perhaps; a true hole shows at readable values as well
            if kind == "":
                held.append(instance.pool)
            elif kind:
                failures.append((kind, instance.drawn))
        failures.sort(key=lambda failure: (failure[0] == "undefined", _entries(failure[1])))
        return held, failures

    def _judge_limit(self, expressions: list, symbol: Any, to: Any) -> LineReport:
        """Whether two lines close in on each other: nearer the limit the gap must be smaller."""
        name, held = name_of(symbol), 0
        if name not in self._instances.domains:
            return unchecked(f": its limit is in {pretty(name)}, no declared number.")
        for instance in self._instances.all[:8]:
            far, near = (
                self._instances.trial({**instance.drawn, name: point}, "=", expressions, DIGITS)
                for point in _towards(to, instance.drawn[name])
            )
            if {far.kind, near.kind} & {None, "undefined"}:
                continue
            if near.kind == "shape" or (
                near.kind and gap("=", near.before, near.now) > 0.9 * gap("=", far.before, far.now)
            ):
                return self._falsehood(near, "≈", expressions)
            held += 1
        arrow = f"{self.reader.word(name)} → {show_limit(to)}"
        if not held:
            return unchecked(f": there are no values to compare as {arrow}.")
        return LineReport(RIGHT, f"closing in as {arrow} in {held} random instances")

    def _proved(self, before: Expression, now: Expression, relation: str) -> bool:
        """Whether SymPy sees it with bounded effort: expand, then cancel; no search."""
        import sympy

        sides = [self._in_independents(e.sympy) for e in (before, now)]
        if relation == "≈" or None in sides:
            return False
        difference = sides[1] - sides[0] if relation != "≥" else sides[0] - sides[1]
        powers = [p.exp for p in difference.atoms(sympy.Pow) if p.exp.is_Integer]
        if difference.count_ops() > 80 or any(abs(p) > 8 for p in powers):
            return False
        try:
            difference = sympy.expand(difference)
            if relation != "=":
                return bool(difference.is_nonnegative)
            return difference == 0 or (
                difference.count_ops() < 80 and sympy.cancel(difference) == 0
            )
        except (sympy.PolynomialError, NotImplementedError, RecursionError):
            return False

    def _in_independents(self, e: Any) -> Any:
        """The expression with all givens put in, if SymPy knows them."""
        for name, given in reversed(self._instances.given.items()):
            symbol = self.reader.symbols[name]
            if e is not None and symbol in e.free_symbols:
                e = None if given.sympy is None else e.xreplace({symbol: given.sympy})
        return e

    # -- the counterexample

    def _falsehood(self, trial: Trial, relation: str, expressions: list) -> LineReport:
        """The counterexample as data and as a sentence."""
        kind, a, b, values = trial
        told, implied = self._told(kind, expressions)
        if kind == "shape":
            what = f"{shape_in_words(a)}, but this line is {shape_in_words(b)}"
        elif kind == "undefined":
            what = f"{show(a)}, but this line {b.reason}"
        elif relation in "≤≥":
            what = f"{show(a)}, which is not {relation} {show(b)}"
        else:
            what = f"{show(a)}, but this line is {show(b)}"
        where = ", ".join(self._assignment(n, values[n]) for n in told)
        where += "".join(f", so {self._assignment(n, values[n])}" for n in implied)
        sentence = f"is false: {f'at {where}, ' if where else ''}the line before is {what}."
        found = {n: plain(values[n]) for n in [*told, *implied]}
        both = None if kind == "shape" else (plain(a), plain(b))
        return LineReport(WRONG, "counterexample found", sentence, found, both)

    def _told(self, kind: str | None, expressions: list) -> tuple[list[str], list[str]]:
        """The names whose values make the counterexample, and those that follow from them."""
        used = frozenset().union(*(e.names for e in expressions))
        domains, free = self._instances.domains, self._instances.needed(expressions)
        sizes = [s for s in self._instances.sizes if any(s in domains[n].sizes for n in free)]
        if kind == "shape":
            return sizes, []
        implied = [n for n in self._instances.given if n in used]
        return [s for s in sizes if s in used] + free, implied

    def _assignment(self, name: str, value: Any) -> str:
        word = self.reader.word(name)
        if isinstance(value, Values):
            return ", ".join(f"{word}({i}) = {show(value(i))}" for i in sorted(value.asked))
        return f"{word} = {show(value)}"

    # -- showing

    def __repr__(self) -> str:
        return rendering.text(self)

    def _repr_latex_(self) -> str:
        return rendering.latex(self)

    def _repr_markdown_(self) -> str:
        return rendering.markdown(self)


def _names(key: Any) -> list[str]:
    """One key of `where` may declare several symbols: "x y" """
    return [name_of(k) for k in (key.replace(",", " ").split() if isinstance(key, str) else [key])]


def _entries(drawn: Mapping[str, Any]) -> int:
    """How many numbers the arrays of a counterexample hold: fewer are easier to read."""
    return sum(v.size for v in drawn.values() if isinstance(v, np.ndarray))


def _towards(to: Any, value: Any) -> list:
    """A point near the limit, on the side of the value drawn, and one four times as near."""
    if math.isinf(to):
        return [128, 512] if to > 0 else [-128, -512]
    target = Fraction(str(to))
    side = 1 if value > target else -1
    return [target + side * Fraction(1, far) for far in (256, 1024)]
