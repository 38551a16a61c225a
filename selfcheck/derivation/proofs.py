"""Proofs: what SymPy decides with bounded effort."""

from __future__ import annotations

import ast
from typing import Any

from . import inequalities, ladder
from .borders import Borders
from .clock import PROOF, guarded
from .entries import Entries
from .expressions import Expression, is_function
from .ring import Ring, rung_of
from .sentences import Sentences
from .singularities import sign

MOST_OPERATIONS = 80  # of a difference that SymPy is to expand or cancel: a moment, not minutes


class Prover:
    """Proves lines of one derivation, where SymPy can."""

    def __init__(self, borders: Borders, sentences: Sentences) -> None:
        self.borders, self.sentences = borders, sentences
        self.calls = True  # functions, with letters, to see what they compute

    def at_once(self, before: Expression, now: Expression, relation: str) -> str | None:
        """The rung that takes a moment: a normal form, or expanding and canceling; else None."""
        if before.rough or now.rough:  # an integral, which the ring does not look into
            rung = self._by_entries(before, now, relation)
            if rung is not None:
                return rung
        if relation == "=" and (rung := self._in_the_ring(before.tree, now.tree)) is not None:
            return rung
        sides = self._sides(before, now, relation)
        if sides is not None and self._plainly(sides, relation):
            return ""
        return None if self.borders.instances.exact else self._by_entries(before, now, relation)

    def proof(
        self, before: Expression, now: Expression, relation: str, rung: str | None
    ) -> str | None:
        """ "proved", with its rung and the condition; None without a proof. `rung` is known."""
        if rung:
            return f"proved ({rung})"
        known = {b.f for b in self.borders.of(before)}
        if any(b.hole and not {b.f, -b.f} & known for b in self.borders.of(now)):
            return None  # it may have a hole that the line before has not
        if rung is None and (rung := self._rung(before, now, relation)) is None:
            return None
        holes = self.sentences.holes(self.borders.of(before))
        return "proved" + (f" ({rung})" if rung else "") + (f" where {holes}" if holes else "")

    def _rung(self, before: Expression, now: Expression, relation: str) -> str | None:
        """How SymPy sees that the relation holds wherever both sides have a value."""
        sides = self._sides(before, now, relation)
        if sides is None:
            return None
        left, right, difference = sides
        domains = self.borders.domains_by_symbol
        if relation == "=":
            rung = ladder.rung_of(left, right, domains)
        else:
            rung = inequalities.rung_of(difference, domains, relation in "<>")
        if rung is None and self.borders.instances.exact:
            return self._by_entries(before, now, relation)
        return rung

    def _sides(self, before: Expression, now: Expression, relation: str) -> Any:
        """Both sides and what must be 0, or not negative; None if SymPy does not know them."""
        import sympy

        sides = [self.borders.in_independents(e.sympy) for e in (before, now)]
        if relation == "≈" or None in sides:
            return None
        sums = {s: _opened(s.function, s.limits) for e in sides for s in e.atoms(sympy.Sum)}
        left, right = (e.xreplace(sums) for e in sides)
        return left, right, right - left if relation not in "≥>" else left - right

    def _in_the_ring(self, before: ast.expr | None, now: ast.expr | None) -> str | None:
        """By the normal form of sums of products, of matrices and of expectations."""
        if before is None or now is None:
            return None
        reader = self.borders.reader
        ring = Ring(reader.compiler, reader.symbols, self.borders.domains_by_symbol, reader.rules)
        return guarded(lambda: rung_of(before, now, ring), None, PROOF)

    def _by_entries(self, before: Expression, now: Expression, relation: str) -> str | None:
        """By the normal form of single entries."""
        if not self.calls and (is_function(before.source) or is_function(now.source)):
            return None
        made = self.borders.instances
        entries = Entries(made.domains, made.sizes, made.given, self.borders.reader)
        return guarded(lambda: entries.rung_of(before, now, relation), None, PROOF)

    def _plainly(self, sides: tuple[Any, Any, Any], relation: str) -> bool:
        """By expanding and canceling alone."""
        import sympy

        left, right, difference = sides
        if _is_heavy(difference):
            return False
        if relation != "=":
            expanded, strict = sympy.expand(difference), relation in "<>"
            return sign(expanded, self.borders.domains_by_symbol, 1, strict)
        if left.has(sympy.Sum) != right.has(sympy.Sum):
            return False  # no sum is carried out here
        return _is_zero(difference)


def _is_heavy(difference: Any) -> bool:
    """Whether SymPy might take too long for it."""
    import sympy

    if difference.has(sympy.Integral, sympy.Derivative, sympy.Limit):
        return True
    powers = [p.exp for p in difference.atoms(sympy.Pow) if p.exp.is_Integer]
    many = difference.count_ops() > MOST_OPERATIONS
    return bool(many or any(abs(p) > ladder.LARGEST_POWER for p in powers))


def _is_zero(difference: Any) -> bool:
    """Whether SymPy sees it: a numerator that expands to zero, else expand, then cancel."""
    import sympy

    if ladder.vanishes(difference) or sympy.expand(difference.as_numer_denom()[0]) == 0:
        return True
    difference = sympy.expand(difference)
    if difference == 0:
        return True
    return bool(difference.count_ops() < MOST_OPERATIONS and sympy.cancel(difference) == 0)


def _opened(term: Any, limits: Any) -> Any:
    """A sum of SymPy's as sums of single terms, with all that no index touches before them."""
    import sympy

    outside, inside = term.as_independent(*(limit[0] for limit in limits), as_Add=False)
    if inside.is_Add:
        return outside * sympy.Add(*(_opened(part, limits) for part in inside.args))
    return outside * sympy.Sum(inside, *limits)
