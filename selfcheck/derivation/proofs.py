"""Proofs: what SymPy decides with bounded effort."""

from __future__ import annotations

from typing import Any

from .borders import Borders
from .expressions import Expression
from .sentences import Sentences
from .singularities import sign

MOST_OPERATIONS = 80  # of a difference that SymPy is to expand or cancel: a moment, not minutes
LARGEST_POWER = 8  # that is multiplied out


class Prover:
    """Proves lines of one derivation, where SymPy can."""

    def __init__(self, borders: Borders, sentences: Sentences) -> None:
        self.borders, self.sentences = borders, sentences

    def proof(self, before: Expression, now: Expression, relation: str) -> str | None:
        """ "proved", with the condition under which, if SymPy decides it with bounded effort."""
        if not self._holds(before, now, relation):
            return None
        known = {b.f for b in self.borders.of(before)}
        if any(b.f not in known and -b.f not in known for b in self.borders.of(now)):
            return None  # it may have a hole that the line before has not
        holes = self.sentences.holes(self.borders.of(before))
        return f"proved where {holes}" if holes else "proved"

    def _holds(self, before: Expression, now: Expression, relation: str) -> bool:
        """Whether SymPy sees that the relation holds wherever both sides have a value."""
        import sympy

        sides = [self.borders.in_independents(e.sympy) for e in (before, now)]
        if relation == "≈" or None in sides:
            return False
        sums = {s: _opened(s.function, s.limits) for e in sides for s in e.atoms(sympy.Sum)}
        left, right = (e.xreplace(sums) for e in sides)
        difference = right - left if relation not in "≥>" else left - right
        if _is_heavy(difference):
            return False
        try:
            if relation != "=":
                expanded, strict = sympy.expand(difference), relation in "<>"
                return sign(expanded, self.borders.domains_by_symbol, 1, strict)
            if left.has(sympy.Sum) != right.has(sympy.Sum):
                return False  # no sum is carried out here
            return _is_zero(difference)
        except (sympy.PolynomialError, NotImplementedError, RecursionError):
            return False


def _is_heavy(difference: Any) -> bool:
    """Whether SymPy might take too long for it."""
    import sympy

    if difference.has(sympy.Integral, sympy.Derivative, sympy.Limit):
        return True
    powers = [p.exp for p in difference.atoms(sympy.Pow) if p.exp.is_Integer]
    many = difference.count_ops() > MOST_OPERATIONS
    return bool(many or any(abs(p) > LARGEST_POWER for p in powers))


def _is_zero(difference: Any) -> bool:
    """Whether SymPy sees it: a numerator that expands to zero, else expand, then cancel."""
    import sympy

    if sympy.expand(difference.as_numer_denom()[0]) == 0:
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
