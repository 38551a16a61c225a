"""A derivation: every line judged against the one before it, shown with its verdict."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from .. import cache
from ..formula import FormulaError, pretty
from . import limits, rendering
from .arithmetic import (
    Undefined,
    gap,
    peak,
    plain,
    shape_in_words,
    show,
    show_apart,
    show_limit,
    squeezed,
)
from .domains import Activation, Domain, Values, integers
from .evaluation import complex_numbers, name_of
from .expressions import Expression, Reader, bare, is_blank, is_function
from .lines import (
    BLANK,
    RIGHT,
    WRONG,
    Line,
    LineReport,
    Refuted,
    Report,
    read_line,
    unchecked,
)
from .singularities import Border, never_zero, points, rational, sign
from .trials import SIMPLE, Instances, Trial

LOOKED_AT = 24  # mismatches of a kind that are looked at again, the plainest first
DEEPLY = 6  # instances at which a line that seems right is computed to hundreds of digits

MEET = 1e-45  # so near are two sides where they are equal by construction
MOST_VALUES = 12  # of a sequence are written out


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
        where: Mapping[Any, Domain | list[Domain]],
        given: Mapping[Any, Any] | None = None,
        name: str = "",
        tex: Mapping[Any, str] | None = None,
        instances: int = 60,
        seed: int = 0,
    ) -> None:
        self.name, self.start = name, start
        self.lines = [read_line(k, line) for k, line in enumerate(lines, 1)]
        domains = dict(pair for key, domain in where.items() for pair in _declared(key, domain))
        named = [s for d in domains.values() for s in d.sizes if isinstance(s, str)]
        sizes = {s: domains.pop(s, integers(1, 8)) for s in dict.fromkeys(named)}
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
        self._decided: dict[Any, bool] = {}
        self._known: dict[tuple, tuple[LineReport, bool]] = {}  # shared with those that go on
        self._words: dict[str, Expression | str | None] = {}  # so are these
        self._instances = Instances(domains, sizes, computed, exact, seed, max(instances, SIMPLE))

    def check(self) -> Report:
        """The verdict on every line; computed once, the same for the same seed."""
        return self._report

    def goes_on(self, lines: Iterable[tuple]) -> Derivation:
        """The same start with other lines; instances, and the start's values there, are shared."""
        other = copy.copy(self)
        other.lines = [read_line(k, line) for k, line in enumerate(lines, 1)]
        if self._instances.exact and any(is_function(bare(line.expr)) for line in other.lines):
            raise ValueError("A derivation with a function as a line has to begin with functions.")
        if isinstance(self._start, Expression):
            self._instances.column(self._start)
        other._decided = dict(self._decided)
        for computed in ("_report", "expressions"):
            vars(other).pop(computed, None)
        return other

    def _only_scalars(self, domains: Mapping[str, Domain], given: Mapping[str, Any]) -> bool:
        sources = [self.start, *given.values()]
        sources += [part for line in self.lines for part in (line.expr, line.allowed)]
        return not any(is_function(bare(source)) for source in sources) and not any(
            d.sizes or isinstance(d.simple()[0], Activation) for d in domains.values()
        )

    @cached_property
    def expressions(self) -> list[Expression | str | None]:
        """The start and the lines as they were read."""
        return [self._start, *(self._read(line.expr) for line in self.lines)]

    @cached_property
    def _start(self) -> Expression | str | None:
        return self._read(self.start)

    def _read(self, source: Any) -> Expression | str | None:
        """The expression, which may have been read before; else as `_read_anew`."""
        read = partial(self._read_anew, source)
        return cache.kept(self._words, source, read) if type(source) is str else read()

    def _read_anew(self, source: Any) -> Expression | str | None:
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
        self._instances.ask_ahead([e for e in self.expressions if isinstance(e, Expression)])
        reports, before, source, skipped = [], self.expressions[0], self.start, []
        for k, (line, now) in enumerate(zip(self.lines, self.expressions[1:], strict=True), 1):
            skipped.append(line)
            if now is None:
                report, has_value = LineReport(BLANK, sentence="is still to be written."), False
            else:
                report, has_value = self._judged_once(source, before, now, skipped)
            if has_value:
                before, source, skipped = now, line.expr, []
            reports.append(report.of_line(k))
        return Report(tuple(reports))

    def _judged_once(
        self, source: Any, before: Any, now: Any, lines: list[Line]
    ) -> tuple[LineReport, bool]:
        """The report on `now`, whose lines may have been judged before, word for word."""
        words = (source, *(part for line in lines for part in (line.relation, line.expr)))
        limits = any(line.allowed is not None for line in lines)
        judged = partial(self._judged, before, now, lines)
        if limits or any(type(word) is not str for word in words):
            return judged()
        return cache.kept(self._known, words, judged)

    def _judged(self, before: Any, now: Any, lines: list[Line]) -> tuple[LineReport, bool]:
        """The report on `now`, and whether the next line is compared with it."""
        if trouble := self._trouble(now):
            return unchecked(f": {trouble}"), False
        if nothing := self._trouble(before):
            return unchecked(f", as no line before it has a value: {nothing}"), True
        return self._judge(before, now, lines), True

    def _trouble(self, expression: Expression | str | None) -> str:
        """Why an expression cannot be compared with anything; "" if it can."""
        if not isinstance(expression, Expression):
            return expression or "the start is blank."
        column = self._instances.column(expression)
        return column[0].trouble if all(isinstance(v, Undefined) for v in column) else ""

    def _judge(self, before: Any, now: Any, lines: list[Line]) -> LineReport:
        """The verdict on `now`; `lines` are its own and those skipped (blank) before it."""
        relations = {line.relation for line in lines} - {"="} or {"="}
        if relations in ({"<", "≤"}, {">", "≥"}):
            relations = {min(relations)}
        if len(relations) > 1:
            return unchecked(": the relations of the lines left open do not chain.")
        relation, expressions = relations.pop(), [before, now]
        if relation == "≈":
            allowed = next(line.allowed for line in reversed(lines) if line.relation == "≈")
            if isinstance(allowed, tuple):
                return self._judge_limit(expressions, *allowed)
            expressions.append(self.reader.read(allowed))
        held, failures = self._compare(relation, expressions)
        holes = [failure for failure in failures if failure[0] == "undefined"]
        others = [failure for failure in failures if failure[0] != "undefined"]
        for kind, drawn in others[:LOOKED_AT] + holes[:LOOKED_AT]:
            if self._instances.trial(drawn, relation, expressions).kind == kind:
                return Refuted(
                    partial(self._simply_false, drawn, relation, expressions, kind, bool(others))
                )
        found = self._at_the_borders(relation, expressions)
        if isinstance(found, LineReport):
            return found
        held += found
        if false := self._through_complex_numbers(relation, expressions):
            return false
        proof = self._proof(before, now, relation)
        if proof is None and (false := self._deep_look(relation, expressions)):
            return false
        if not held:
            return unchecked(": it has no value where the line before has one.")
        return LineReport(RIGHT, proof or f"held in {_trials(held)}")

    def _simply_false(
        self, drawn: dict, relation: str, expressions: list, kind: str, anyhow: bool
    ) -> LineReport:
        """The plainest counterexample; `anyhow`, the line is false where it has a value too."""
        simplest = self._instances.simplest(drawn, relation, expressions, kind)
        report = self._falsehood(simplest, relation, expressions)
        return report if anyhow else self._with_condition(report, expressions[1])

    def _compare(self, relation: str, expressions: list) -> tuple[int, list[tuple]]:
        """How often the relation seems to hold; how and where it seems to fail, plainest first."""
        held, failures = 0, []
        columns = [self._instances.column(e) for e in expressions]
        for instance, *found in zip(self._instances.all, *columns, strict=True):
            kind = self._instances.mismatch(relation, expressions, found)
            if kind == "":
                held += 1
            elif kind:
                plainness = _plainness(kind, instance, relation, found)
                failures.append((plainness, kind, instance.drawn))
        failures.sort(key=lambda failure: failure[0])
        return held, [failure[1:] for failure in failures]

    def _through_complex_numbers(self, relation: str, expressions: list) -> LineReport | None:
        """√−1·√−1 is −1: where real numbers end, a line that goes on must still be true."""
        import sympy

        sides = [e.sympy for e in expressions[:2]]
        if not self._instances.exact or None in sides:
            return None
        if not any(side.has(sympy.Pow, sympy.log) for side in sides):
            return None
        column = self._instances.column(expressions[0])
        pairs = zip(self._instances.all, column, strict=True)
        empty = [one.drawn for one, v in pairs if isinstance(v, Undefined) and v.sure]
        for drawn in empty[:12]:
            with complex_numbers():
                trial = self._instances.trial(drawn, relation, expressions)
                if trial.kind == "value":
                    return self._falsehood(trial, relation, expressions)
        return None

    def _deep_look(self, relation: str, expressions: list) -> LineReport | None:
        """A difference too small to be seen at first, such as that of tanh 100 and 1."""
        every = len(self._instances.all) // DEEPLY
        for instance in self._instances.all[1::every]:
            trial = self._instances.trial(instance.drawn, relation, expressions)
            if trial.kind == "value":
                return self._falsehood(trial, relation, expressions)
        return None

    # -- where a line has no value

    @cached_property
    def _domains_by_symbol(self) -> dict[Any, Domain]:
        return {self.reader.symbols[n]: d for n, d in self._instances.domains.items()}

    def _borders(self, e: Expression) -> list[Border]:
        """Where this expression may have no value, or another form, in independent symbols."""
        if not self._instances.exact:
            return []
        found = ((self._in_independents(b.f), b.hole) for b in e.borders)
        return [
            Border(f, hole)
            for f, hole in dict.fromkeys(found)
            if f is not None and not self._never_zero(f)
        ]

    def _never_zero(self, f: Any) -> bool:
        if f not in self._decided:
            self._decided[f] = never_zero(f, self._domains_by_symbol)
        return self._decided[f]

    def _at_the_borders(self, relation: str, expressions: list) -> int | LineReport:
        """In how many instances at and beside the borders of a line it holds; or that it fails."""
        before, now = (self._borders(e) for e in expressions[:2])
        if relation not in "=≈":
            now += self._where_equal(expressions)
        instances = self._instances
        places = {n: d for n, d in instances.domains.items() if d.ends and not d.part}
        some = [one.drawn for one in instances.all[2:SIMPLE:7]]
        held = 0
        for border, drawn in points([*now, *before], places, self.reader.symbols, some):
            trial = instances.trial(drawn, relation, expressions, hole=border.hole)
            if trial.kind == "undefined":
                return self._with_condition(
                    self._falsehood(trial, relation, expressions), expressions[1]
                )
            if trial.kind == "" and relation in "<>" and self._meet(border, trial):
                trial = trial._replace(kind="value", before=trial.now)
            if trial.kind:
                return self._falsehood(trial, relation, expressions)
            held += trial.kind == ""
        return held

    def _meet(self, border: Border, trial: Trial) -> bool:
        """Whether both sides are equal at a zero of a polynomial, be it irrational."""
        if not border.f.is_polynomial(*border.f.free_symbols):
            return False
        return abs(trial.before - trial.now) <= MEET * max(1, abs(trial.before))

    def _with_condition(self, report: LineReport, now: Expression) -> LineReport:
        """A line that is false only where it has no value is told where it holds."""
        holes = dict.fromkeys(self._condition(b) for b in self._borders(now) if b.hole)
        if not holes:
            return report
        return replace(report, sentence=f"{report.sentence} It holds where {' and '.join(holes)}.")

    def _where_equal(self, expressions: list) -> list[Border]:
        """An inequality may turn where its sides are equal."""
        sides = [self._in_independents(e.sympy) for e in expressions[:2]]
        if None in sides or not self._instances.exact or any(e.rough for e in expressions):
            return []
        difference = sides[0] - sides[1]
        return [Border(difference, False)] if difference.free_symbols else []

    def _condition(self, border: Border) -> str:
        """x ≠ 5, or x² − y ≠ 0."""
        import sympy

        free = list(border.f.free_symbols)
        sign = "≠" if border.hole else "≥"
        if len(free) == 1 and border.f.is_polynomial(*free):
            roots = sympy.Poly(border.f, *free).ground_roots()
            if border.hole and roots and len(roots) == sympy.degree(border.f, *free):
                word = self.reader.word(free[0].name)
                return " and ".join(f"{word} ≠ {root}" for root in sorted(roots))
        return f"{self.reader.in_words(str(border.f))} {sign} 0"

    def _judge_limit(self, expressions: list, symbol: Any, to: Any) -> LineReport:
        """Whether two lines close in on each other: by SymPy's limit, else by extrapolation."""
        name, held, by_sympy = name_of(symbol), 0, 0
        if name not in self._instances.domains:
            return unchecked(f": its limit is in {pretty(name)}, no declared number.")
        to = float(to) if math.isinf(to) else to
        arrow = f"{self.reader.word(name)} → {show_limit(to)}"
        worst = 0
        alone = self._instances.needed(expressions) == [name]
        for instance in self._instances.all[:1] if alone else self._instances.various(name):
            value = instance.drawn[name]
            side = 1 if math.isinf(to) or value > to else -1
            limit, error = None, 0
            if instance.pool == "simple":  # with extreme numbers SymPy's limits take for ever
                limit = self._limit_by_sympy(expressions, instance.drawn, name, to, side)
            if limit is None:
                verdict, limit, error = self._limit_by_numbers(
                    expressions, instance.drawn, name, to, side
                )
            else:
                verdict, by_sympy = limit == 0, by_sympy + 1
            if verdict is None:
                continue
            if not verdict:
                return self._no_limit(expressions, instance.drawn, name, arrow, limit, error)
            held, worst = held + 1, max(worst, error)
        if not held:
            return unchecked(f": its values do not tell where it goes as {arrow}.")
        if alone and by_sympy == held:
            return LineReport(RIGHT, f"proved by SymPy's limit {arrow}")
        within = f", within {show(worst, 1)}" if worst > 1e-12 else ""
        return LineReport(RIGHT, f"held in {_trials(held)} of {arrow}{within}")

    def _limit_by_sympy(self, expressions: list, drawn: dict, name: str, to: Any, side: int) -> Any:
        sides = [self._in_independents(e.sympy) for e in expressions]
        if None in sides or not self._instances.exact:
            return None
        symbol = self.reader.symbols[name]
        others = {
            s: rational(drawn[s.name])
            for s in (sides[0] - sides[1]).free_symbols - {symbol}
            if not callable(drawn.get(s.name, abs))
        }
        difference = (sides[0] - sides[1]).xreplace(others)
        if difference.free_symbols - {symbol}:
            return None
        return limits.by_sympy(difference, symbol, to, side)

    def _limit_by_numbers(
        self, expressions: list, drawn: dict, name: str, to: Any, side: int
    ) -> tuple:
        import sympy

        summed = any(e.sympy is None or e.sympy.has(sympy.Sum, sympy.Product) for e in expressions)
        whole = bool(self.reader.symbols[name].is_integer)
        points = limits.towards(to, side, whole, 1024 if summed else 10**15)

        def gap_at(point: Any) -> Any:
            before, now = self._instances.fine({**drawn, name: point}, expressions)
            if any(isinstance(x, Undefined) for x in (before, now)):
                return None
            difference = squeezed(before) - squeezed(now)
            return difference if np.ndim(difference) == 0 else peak(difference)

        return limits.settles(gap_at, points, lambda p: limits.beside(p, to, whole))

    def _no_limit(
        self, expressions: list, drawn: dict, name: str, arrow: str, limit: Any, error: Any
    ) -> LineReport:
        """The two lines stay apart."""
        told, _ = self._told("value", expressions)
        others = [self._assignment(n, drawn[n]) for n in told if n != name]
        where = f"at {', '.join(others)}, " if others else ""
        apart = show(limit) if getattr(limit, "is_finite", True) else "without bound"
        within = f" (± {show(error, 1)})" if error else ""
        sentence = f"is false: {where}as {arrow} the two lines stay {apart}{within} apart."
        return LineReport(
            WRONG, "counterexample found", sentence, {n: plain(drawn[n]) for n in told}
        )

    # -- proofs

    def _proof(self, before: Expression, now: Expression, relation: str) -> str | None:
        """ "proved", with the condition under which, if SymPy decides it with bounded effort."""
        if not self._identity(before, now, relation):
            return None
        known = {b.f for b in self._borders(before)}
        if any(b.f not in known and -b.f not in known for b in self._borders(now)):
            return None  # it may have a hole that the line before has not
        holes = dict.fromkeys(self._condition(b) for b in self._borders(before) if b.hole)
        return f"proved where {' and '.join(holes)}" if holes else "proved"

    def _identity(self, before: Expression, now: Expression, relation: str) -> bool:
        """Whether SymPy sees it: a numerator that expands to zero, else expand, then cancel."""
        import sympy

        sides = [self._in_independents(e.sympy) for e in (before, now)]
        if relation == "≈" or None in sides:
            return False
        sums = {s: _opened(s.function, s.limits) for e in sides for s in e.atoms(sympy.Sum)}
        sides = [e.xreplace(sums) for e in sides]
        difference = sides[1] - sides[0] if relation not in "≥>" else sides[0] - sides[1]
        powers = [p.exp for p in difference.atoms(sympy.Pow) if p.exp.is_Integer]
        heavy = difference.has(sympy.Integral, sympy.Derivative, sympy.Limit)
        if heavy or difference.count_ops() > 80 or any(abs(p) > 8 for p in powers):
            return False
        try:
            if relation != "=":
                strict = relation in "<>"
                return sign(sympy.expand(difference), self._domains_by_symbol, 1, strict)
            if sides[0].has(sympy.Sum) != sides[1].has(sympy.Sum):
                return False  # no sum is carried out here
            if sympy.expand(difference.as_numer_denom()[0]) == 0:
                return True
            difference = sympy.expand(difference)
            return difference == 0 or (
                difference.count_ops() < 80 and sympy.cancel(difference) == 0
            )
        except (sympy.PolynomialError, NotImplementedError, RecursionError):
            return False

    def _in_independents(self, e: Any) -> Any:
        """The expression with all givens put in, if SymPy knows them."""
        for name, given in reversed(list(self._instances.given.items())):
            symbol = self.reader.symbols[name]
            if e is not None and symbol in e.free_symbols:
                e = None if given.sympy is None else e.xreplace({symbol: given.sympy})
        return e

    # -- the counterexample

    def _falsehood(self, trial: Trial, relation: str, expressions: list) -> LineReport:
        """The counterexample as data and as a sentence."""
        kind, a, b = trial[:3]
        values: Any = trial.values
        told, implied = self._told(kind, expressions)
        if kind == "shape":
            what = f"{shape_in_words(a)}, but this line is {shape_in_words(b)}"
        elif kind == "undefined":
            what = f"{show(a)}, but this line {b.reason}"
        else:
            left, right = show_apart(a, b)
            but = f"which is not {relation}" if relation in "≤≥<>" else "but this line is"
            what = f"{left}, {but} {right}"
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
            asked = sorted(value.asked)
            dots = ["…"] if len(asked) > MOST_VALUES else []
            shown = [f"{word}({i}) = {show(value(i))}" for i in asked[:MOST_VALUES]]
            return ", ".join(shown + dots)
        return f"{word} = {show(value)}"

    # -- showing

    def __repr__(self) -> str:
        return rendering.text(self)

    def _repr_latex_(self) -> str:
        return rendering.latex(self)

    def _repr_markdown_(self) -> str:
        return rendering.markdown(self)


def _declared(key: Any, domain: Any) -> list[tuple[str, Domain]]:
    """The symbols that one key of `where` declares, "x y", each with its domain."""
    names = [name_of(k) for k in (key.replace(",", " ").split() if isinstance(key, str) else [key])]
    domains = domain if isinstance(domain, list) else [domain] * len(names)
    if len(domains) != len(names):
        raise ValueError(f"{key!r} names {len(names)} symbols; {len(domains)} are needed.")
    return list(zip(names, domains, strict=True))


def _opened(term: Any, limits: Any) -> Any:
    """A sum of SymPy's as sums of single terms, with all that no index touches before them."""
    import sympy

    outside, inside = term.as_independent(*(limit[0] for limit in limits), as_Add=False)
    if inside.is_Add:
        return outside * sympy.Add(*(_opened(part, limits) for part in inside.args))
    return outside * sympy.Sum(inside, *limits)


def _trials(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"


def _plainness(kind: str, instance: Any, relation: str, found: list) -> tuple:
    """Values before holes, few entries before many, plain differences before fine ones."""
    entries = sum(v.size for v in instance.drawn.values() if isinstance(v, np.ndarray))
    if kind == "undefined":
        return 1, instance.pool != "simple", entries, 0
    if kind == "shape":
        return 0, 0, entries, 0
    scale = max(1, peak(found[0]), peak(found[1]))
    fine = gap(relation, *found[:2]) < 1e-6 * scale
    return 0, fine, entries, instance.pool not in ("simple", "random")
