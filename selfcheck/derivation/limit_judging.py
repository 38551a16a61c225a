"""Lines with ≈ and a limit: whether they close in on the line before."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..formula import pretty
from . import limits
from .arithmetic import Undefined, peak, show, show_limit, squeezed
from .borders import Borders
from .clock import LINE, guarded
from .evaluation import name_of
from .expressions import Expression
from .instances import Instance
from .lines import RIGHT, LineReport, trials_in_words, unchecked
from .sentences import Sentences
from .singularities import rational
from .trials import Trials

LONGEST_SUM, FARTHEST = 1024, 10**15  # how far n goes in a sum, which is added up, and elsewhere
WITHIN = 1e-12  # an error of a limit that need not be told


class Approach(NamedTuple):
    """Where a symbol goes: x → 0 from the right (+1) or the left (−1)."""

    name: str
    to: Any
    side: int


class Gap(NamedTuple):
    """The limit of the difference of two lines: whether it is 0 (None: that cannot be said)."""

    closes: bool | None
    limit: Any
    error: Any
    by_sympy: bool


class LimitJudge:
    """Judges the limits in one derivation."""

    def __init__(self, borders: Borders, trials: Trials, sentences: Sentences) -> None:
        self.borders, self.trials, self.sentences = borders, trials, sentences
        self.reader, self.instances = borders.reader, borders.instances

    def judge(self, expressions: list[Expression], symbol: Any, to: Any) -> LineReport:
        """Whether two lines close in on each other: by SymPy's limit, else by extrapolation."""
        name = name_of(symbol)
        if name not in self.instances.domains:
            return unchecked(f": its limit is in {pretty(name)}, no declared number.")
        try:
            to = float(to) if math.isinf(to) else to
        except TypeError:
            return unchecked(f": its limit {to} is no number.")
        arrow = f"{self.reader.word(name)} → {show_limit(to)}"
        alone = self.instances.needed(expressions) == [name]
        gaps = []
        for instance in self.instances.all[:1] if alone else self.instances.various(name):
            gap = self._gap(expressions, instance, name, to)
            if gap.closes is False:
                return self.sentences.stays_apart(
                    expressions, instance.drawn, name, arrow, gap.limit, gap.error
                )
            if gap.closes:
                gaps.append(gap)
        return _closed_in(gaps, arrow, alone)

    def _gap(self, expressions: list[Expression], instance: Instance, name: str, to: Any) -> Gap:
        """The limit of the difference of both lines at one instance."""
        drawn = instance.drawn
        side = 1 if math.isinf(to) or drawn[name] > to else -1
        approach = Approach(name, to, side)
        numbers = Gap(*self._by_numbers(expressions, drawn, approach), False)
        if instance.pool != "simple":  # with extreme numbers SymPy's limits take for ever
            return numbers
        limit = guarded(lambda: self._by_sympy(expressions, drawn, approach), None, LINE / 2)
        if limit is None:
            return numbers
        if numbers.closes is None:  # a second way of SymPy's: both limits, one by one
            apart = guarded(lambda: self._apart(expressions, drawn, approach), None, LINE / 2)
            agrees = apart is not None and bool(apart == limit)
        else:
            agrees = numbers.closes == bool(limit == 0)
        return Gap(bool(limit == 0), limit, 0, True) if agrees else Gap(None, None, None, False)

    def _apart(
        self, expressions: list[Expression], drawn: Mapping[str, Any], approach: Approach
    ) -> Any:
        """The difference of the limits of both lines."""
        found = [self._by_sympy([e, None], drawn, approach) for e in expressions[:2]]
        return None if None in found else found[0] - found[1]

    def _by_sympy(
        self, expressions: list[Any], drawn: Mapping[str, Any], approach: Approach
    ) -> Any:
        import sympy

        sides = [self.borders.in_independents(e.sympy) if e else sympy.S.Zero for e in expressions]
        if None in sides or not self.instances.exact:
            return None
        symbol = self.reader.symbols[approach.name]
        others = {
            s: rational(drawn[s.name])
            for s in (sides[0] - sides[1]).free_symbols - {symbol}
            if not callable(drawn.get(s.name, abs))
        }
        difference = (sides[0] - sides[1]).xreplace(others)
        if difference.free_symbols - {symbol}:
            return None
        return limits.by_sympy(difference, symbol, approach.to, approach.side)

    def _by_numbers(
        self, expressions: list[Expression], drawn: Mapping[str, Any], approach: Approach
    ) -> tuple[bool | None, Any, Any]:
        import sympy

        summed = any(e.sympy is None or e.sympy.has(sympy.Sum, sympy.Product) for e in expressions)
        whole = bool(self.reader.symbols[approach.name].is_integer)
        farthest = LONGEST_SUM if summed else FARTHEST
        points = limits.towards(approach.to, approach.side, whole, farthest)

        def gap_at(point: Any) -> Any:
            before, now = self.trials.values({**drawn, approach.name: point}, expressions)
            if any(isinstance(x, Undefined) for x in (before, now)):
                return None
            difference = squeezed(before) - squeezed(now)
            return difference if np.ndim(difference) == 0 else peak(difference)

        return limits.settles(gap_at, points, lambda p: limits.beside(p, approach.to, whole))


def _closed_in(gaps: list[Gap], arrow: str, alone: bool) -> LineReport:
    """The report on a line that closed in wherever that could be told."""
    if not gaps:
        return unchecked(f": its values do not tell where it goes as {arrow}.")
    if alone and all(gap.by_sympy for gap in gaps):
        return LineReport(RIGHT, f"proved by SymPy's limit {arrow}")
    worst = max(0, *(gap.error for gap in gaps))
    within = f", within {show(worst, 1)}" if worst > WITHIN else ""
    return LineReport(RIGHT, f"held in {trials_in_words(len(gaps))} of {arrow}{within}")
