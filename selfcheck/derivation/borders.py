"""The borders of a derivation's lines: where they may have no value, or change their form."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from .domains import Domain
from .expressions import Expression, Reader
from .instances import Instances
from .singularities import Border, never_zero


class Borders:
    """Finds the borders of lines, in the symbols that are independent of each other."""

    def __init__(self, reader: Reader, instances: Instances, decided: dict[Any, bool]) -> None:
        self.reader, self.instances = reader, instances
        self.decided = decided  # whether an expression is never zero

    @cached_property
    def domains_by_symbol(self) -> dict[Any, Domain]:
        """The declared domains, by SymPy's symbols."""
        return {self.reader.symbols[n]: d for n, d in self.instances.domains.items()}

    def of(self, e: Expression) -> list[Border]:
        """Where this expression may have no value, or another form, in independent symbols."""
        if not self.instances.exact:
            return []
        found = ((self.in_independents(b.f), b.hole) for b in e.borders)
        return [
            Border(f, hole)
            for f, hole in dict.fromkeys(found)
            if f is not None and not self._never_zero(f)
        ]

    def _never_zero(self, f: Any) -> bool:
        if f not in self.decided:
            self.decided[f] = never_zero(f, self.domains_by_symbol)
        return self.decided[f]

    def where_equal(self, expressions: list[Expression]) -> list[Border]:
        """An inequality may turn where its sides are equal."""
        sides = [self.in_independents(e.sympy) for e in expressions[:2]]
        if None in sides or not self.instances.exact or any(e.rough for e in expressions):
            return []
        difference = sides[0] - sides[1]
        return [Border(difference, False)] if difference.free_symbols else []

    def in_independents(self, e: Any) -> Any:
        """The expression with all givens put in, if SymPy knows them; else None."""
        for name, given in reversed(list(self.instances.given.items())):
            symbol = self.reader.symbols[name]
            if e is not None and symbol in e.free_symbols:
                e = None if given.sympy is None else e.xreplace({symbol: given.sympy})
        return e
