"""What is said about a false line: its counterexample, as data and as a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .arithmetic import plain, shape_in_words, show, show_apart
from .domains import DrawnSequence
from .expressions import Expression, Reader
from .instances import Instances
from .lines import WRONG, LineReport
from .singularities import Border
from .trials import Trial

MOST_VALUES = 12  # of a sequence are written out
FOUND = "counterexample found"


class Sentences:
    """Writes the reports on false lines in the words of one derivation."""

    def __init__(self, reader: Reader, instances: Instances) -> None:
        self.reader, self.instances = reader, instances

    def counterexample(
        self, trial: Trial, relation: str, expressions: list[Expression]
    ) -> LineReport:
        """The counterexample as data and as a sentence."""
        values: Any = trial.values
        names, implied = self._names(trial.kind, expressions)
        where = ", ".join(filter(None, (self._assignment(n, values[n]) for n in names)))
        where += "".join(f", so {self._assignment(n, values[n])}" for n in implied)
        what = _both_sides(trial, relation)
        sentence = f"is false: {f'at {where}, ' if where else ''}the line before is {what}."
        found = {n: plain(values[n]) for n in [*names, *implied]}
        both = None if trial.kind == "shape" else (plain(trial.before), plain(trial.now))
        return LineReport(WRONG, FOUND, sentence, found, both)

    def stays_apart(
        self,
        expressions: list[Expression],
        drawn: Mapping[str, Any],
        name: str,
        arrow: str,
        limit: Any,
        error: Any,
    ) -> LineReport:
        """Two lines that do not close in on each other."""
        names, _ = self._names("value", expressions)
        others = [self._assignment(n, drawn[n]) for n in names if n != name]
        where = f"at {', '.join(others)}, " if others else ""
        apart = show(limit) if getattr(limit, "is_finite", True) else "without bound"
        within = f" (± {show(error, 1)})" if error else ""
        sentence = f"is false: {where}as {arrow} the two lines stay {apart}{within} apart."
        return LineReport(WRONG, FOUND, sentence, {n: plain(drawn[n]) for n in names})

    def with_condition(self, report: LineReport, borders: list[Border]) -> LineReport:
        """A line that is false only where it has no value is told where it holds."""
        if holes := self.holes(borders):
            return replace(report, sentence=f"{report.sentence} It holds where {holes}.")
        return report

    def holes(self, borders: list[Border]) -> str:
        """`x ≠ 5 and y ≠ 0`: the condition under which there is no hole; "" if there is none."""
        return " and ".join(dict.fromkeys(self._condition(b) for b in borders if b.hole))

    def _condition(self, border: Border) -> str:
        """x ≠ 5, or x² − y ≠ 0."""
        import sympy

        free = list(border.f.free_symbols)
        if len(free) == 1 and border.f.is_polynomial(*free):
            roots = sympy.Poly(border.f, *free).ground_roots()
            if roots and len(roots) == sympy.degree(border.f, *free):
                word = self.reader.word(free[0].name)
                return " and ".join(f"{word} ≠ {root}" for root in sorted(roots))
        return f"{self.reader.in_words(str(border.f))} ≠ 0"

    def _names(
        self, kind: str | None, expressions: list[Expression]
    ) -> tuple[list[str], list[str]]:
        """The names whose values make the counterexample, and those that follow from them."""
        used = frozenset[str]().union(*(e.names for e in expressions))
        domains, free = self.instances.domains, self.instances.needed(expressions)
        sizes = self.instances.sizes
        if kind == "shape":
            return [s for s in sizes if any(s in domains[n].sizes for n in free)], []
        implied = [n for n in self.instances.given if n in used]
        return [s for s in sizes if s in used] + free, implied

    def _assignment(self, name: str, value: Any) -> str:
        """`x = 2`, or `g(1) = 2, g(2) = 0` for a sequence."""
        word = self.reader.word(name)
        if isinstance(value, DrawnSequence):
            asked = sorted(value.asked)
            dots = ["…"] if len(asked) > MOST_VALUES else []
            shown = [f"{word}({i}) = {show(value(i))}" for i in asked[:MOST_VALUES]]
            return ", ".join(shown + dots)
        return f"{word} = {show(value)}"


def _both_sides(trial: Trial, relation: str) -> str:
    """`2, but this line is 3`: how the two lines disagree."""
    if trial.kind == "shape":
        return f"{shape_in_words(trial.before)}, but this line is {shape_in_words(trial.now)}"
    if trial.kind == "undefined":
        return f"{show(trial.before)}, but this line {trial.now.reason}"
    left, right = show_apart(trial.before, trial.now)
    but = f"which is not {relation}" if relation in "≤≥<>" else "but this line is"
    return f"{left}, {but} {right}"
