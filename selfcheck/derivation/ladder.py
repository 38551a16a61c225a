"""A ladder of proofs that two expressions are equal, from the cheapest rung to the dearest.

Each rung has its time and its name, which the line shows. Every line that is proved has also held
in trials, so two sources agree.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .clock import guarded, load_simplify
from .domains import Domain

LARGEST = 300  # operations of a difference that SymPy is to simplify
MOST_CASES = 3  # absolute values, each of them of either sign
MOST_LETTERS = 10  # of a quotient of polynomials that is looked at as such
MOST_TERMS = 300  # of its numerator and denominator
LARGEST_POWER = 8  # that is multiplied out
RUNG = 0.6  # seconds of the processor for one rung


def rung_of(left: Any, right: Any, domains: Mapping[Any, Domain]) -> str | None:
    """The name of the rung on which left = right is proved; None if there is none."""
    difference = left - right
    if difference.count_ops() > LARGEST:
        return None
    rungs: list[tuple[str, Callable[[], Any]]] = [
        ("induction", partial(_induction, difference, domains)),
        ("product, factor by factor", partial(_product, left, right, domains)),
        ("carried out by SymPy", partial(_carried_out, difference)),
        ("simplified by SymPy", partial(_simplified, difference)),
        ("case by case", partial(_by_cases, difference)),
    ]
    for name, rung in rungs:
        found = guarded(rung, None, RUNG)
        if found:
            return f"{name} on {found}" if isinstance(found, str) else name
    return None


# -- induction ------------------------------------------------------------------------------------


def _induction(difference: Any, domains: Mapping[Any, Domain]) -> str | None:
    """D(N + 1) = c·D(N) for some c, and D is 0 at the first N: then it is 0 at all of them."""
    import sympy as sp

    sums = difference.atoms(sp.Sum)
    if not sums or any(len(s.limits) != 1 for s in sums) or difference.atoms(sp.Integral):
        return None
    symbols = {x for s in sums for bound in s.limits[0][1:] for x in bound.free_symbols}
    for n in sorted(symbols & domains.keys(), key=str):
        first = (domains[n].ends or (None,))[0]
        if n.is_integer and first is not None and _by_induction(difference, n, int(first)):
            return str(n.name)
    return None


def _by_induction(difference: Any, n: Any, first: int) -> bool:
    import sympy as sp

    following = difference.subs(n, n + 1)
    spans = [sp.expand(s.limits[0][2] - s.limits[0][1] - n) for s in difference.atoms(sp.Sum)]
    if not all(span.is_Integer or not span.has(n) for span in spans):
        return False
    offsets = [int(span) for span in spans if span.is_Integer]
    if not offsets or first + min(offsets) < -1:  # a sum that would run backwards
        return False
    least = min(offsets)
    one, two = (_opened(e, n, least) for e in (difference, following))
    bases = {p.base for p in difference.atoms(sp.Pow) if p.exp.has(n)}
    for factor in [sp.S.One, *sorted(bases, key=str), *(1 / b for b in sorted(bases, key=str))]:
        if _is_zero(two - factor * one):
            return _is_zero(difference.subs(n, first).doit())
    return False


def _opened(e: Any, n: Any, least: int) -> Any:
    """Sums from 0 to n + least of single terms, without what does not depend on the index."""
    import sympy as sp

    z = sp.Symbol("z_", integer=True, nonnegative=True)

    def one(s: Any) -> Any:
        term, (index, low, high) = s.function, s.limits[0]
        top = sp.expand(high - low)
        term = term.subs(index, z + low)
        if term.has(n) and not _split(term, n, z):
            turned = sp.expand(term.subs(z, top - z), power_exp=False)
            term = turned if not turned.has(n) else term
        count = sp.expand(top - n - least)
        rest = sp.S.Zero
        if top.has(n) and count.is_Integer and count >= 0:
            rest = sp.Add(*(term.subs(z, top - k) for k in range(int(count))))
            top = n + least
        parts = sp.Add.make_args(sp.expand(sp.expand_power_exp(sp.expand(term))))
        for part in parts:
            outside, inside = sp.powsimp(part).as_independent(z, as_Add=False)
            if inside.has(n):
                outside, inside = sp.expand_power_exp(part).as_independent(z, as_Add=False)
            rest += outside * sp.Sum(inside, (z, 0, top))
        return rest

    return e.replace(lambda x: isinstance(x, sp.Sum), one)


def _split(term: Any, n: Any, z: Any) -> bool:
    """Whether n stands in factors that the index is not in."""
    import sympy as sp

    parts = sp.Add.make_args(sp.expand(sp.expand_power_exp(sp.expand(term))))
    return all(not p.as_independent(z, as_Add=False)[1].has(n) for p in parts)


def _product(left: Any, right: Any, domains: Mapping[Any, Domain]) -> str | None:
    """A product with one factor more: the quotient of two neighbors is that factor."""
    import sympy as sp

    for a, b in ((left, right), (right, left)):
        if not isinstance(a, sp.Product) or len(a.limits) != 1 or b.has(sp.Product, sp.Sum):
            continue
        index, low, n = a.limits[0]
        if n not in domains or not n.is_integer or a.function.has(n) or low.has(n):
            continue
        first = (domains[n].ends or (None,))[0]
        step = b.subs(n, n + 1) - b * a.function.subs(index, n + 1)
        if first is None or not _is_zero(step):
            continue
        if _is_zero(b.subs(n, int(first)) - a.subs(n, int(first)).doit()):
            return str(n.name)
    return None


# -- SymPy's own ways -----------------------------------------------------------------------------


def _carried_out(difference: Any) -> bool:
    """Sums, integrals and derivatives that SymPy can carry out."""
    import sympy as sp

    kinds = (sp.Sum, sp.Product, sp.Integral, sp.Derivative, sp.Limit)
    if not difference.has(*kinds):
        return False
    done = difference.doit()
    if done.has(*kinds):
        return False
    if done.has(sp.Piecewise):
        folded = sp.piecewise_fold(done)
        if isinstance(folded, sp.Piecewise):
            return all(_is_zero(value) for value, _ in folded.args)
    return _is_zero(done)


def _simplified(difference: Any) -> bool:
    import sympy as sp

    if difference.has(sp.Sum, sp.Product, sp.Integral, sp.Derivative):
        return False
    if not difference.has(sp.Abs, sp.Max, sp.Min, sp.Piecewise) and is_far_from_zero(difference):
        return False
    if difference.has(sp.tanh, sp.sinh, sp.cosh):
        above = sp.numer(sp.together(difference.rewrite(sp.exp)))
        if sp.expand(sp.powsimp(sp.expand(above))) == 0:
            return True
    load_simplify()
    if sp.trigsimp(difference) == 0 or _is_zero(difference):
        return True
    ways = (
        lambda e: sp.simplify(e.rewrite(sp.exp)),
        lambda e: sp.expand_log(sp.simplify(e)),
        sp.gammasimp,
        sp.combsimp,
    )
    return any(way(difference) == 0 for way in ways)


def _is_zero(e: Any) -> bool:
    """Whether SymPy sees that this is 0; what is far from it somewhere is not asked about."""
    import sympy as sp

    if e == 0:
        return True
    found = sorted(e.atoms(sp.Sum, sp.Product), key=str)
    sums = {s: _equal_terms(s) or _stand_in(k) for k, s in enumerate(found)}
    if len(sums) > 1 and sp.expand(e) == 0:  # sums that are one and the same when they are expanded
        return True
    e = sp.expand_power_exp(e.xreplace(sums))
    if is_far_from_zero(e):
        return False
    if vanishes(e) or sp.expand(sp.expand_power_exp(sp.numer(sp.together(e)))) == 0:
        return True
    e = sp.powsimp(sp.expand(e))
    load_simplify()
    return bool(e == 0 or sp.simplify(e) == 0)


def vanishes(e: Any) -> bool:
    """Whether this is 0 as a quotient of polynomials in its letters, functions and powers."""
    try:
        above, below = _quotient(e, {})
    except (_TooLarge, TypeError):
        return False
    return not above and bool(below)


class _TooLarge(Exception):
    """It takes SymPy's own ways."""


@functools.cache
def _ring() -> Any:
    from sympy import ZZ
    from sympy.polys.rings import ring

    return ring([f"x{k}" for k in range(MOST_LETTERS)], ZZ)


def _quotient(e: Any, letters: dict[Any, int]) -> tuple[Any, Any]:
    """Numerator and denominator, in Python's own arithmetic of polynomials, which is quick."""
    polynomials, *variables = _ring()
    if e.is_Rational:
        return polynomials(int(e.p)), polynomials(int(e.q))
    if e.is_Add or e.is_Mul:
        above, below = _quotient(e.args[0], letters)
        for part in e.args[1:]:
            n, d = _quotient(part, letters)
            if e.is_Add:
                above, d = (above + n, 1) if d == below else (above * d + n * below, d)
            else:
                above *= n
            below *= d
            if len(above) > MOST_TERMS or len(below) > MOST_TERMS:
                raise _TooLarge
        return above, below
    if e.is_Pow:
        times, rest = e.exp.as_coeff_Mul()
        if times.is_Integer and times != 1:
            if abs(times) > LARGEST_POWER:
                raise _TooLarge
            above, below = _quotient(e.base**rest, letters)
            if times < 0:
                above, below = below, above
            return above ** abs(int(times)), below ** abs(int(times))
    place = letters.setdefault(e, len(letters))
    if place >= MOST_LETTERS:
        raise _TooLarge
    return variables[place], polynomials(1)


@functools.cache  # the same ones every time, so that SymPy recalls what it did with them
def _stand_in(number: int) -> Any:
    """A number of which nothing is known, in place of a sum."""
    import sympy as sp

    return sp.Dummy(f"sum_{number}", real=True)


def _equal_terms(s: Any) -> Any:
    """A sum of equal terms as their number times one of them; None for any other."""
    import sympy as sp

    index, low, high = s.limits[0]
    single = isinstance(s, sp.Sum) and len(s.limits) == 1 and not s.function.has(index)
    return s.function * (high - low + 1) if single else None


def is_far_from_zero(e: Any) -> bool:
    """At a point of small numbers; an integral has none, and some have no value there."""
    import sympy as sp

    if e.has(sp.Integral, sp.Derivative, sp.Limit, sp.core.function.AppliedUndef):
        return False
    letters = sorted(e.free_symbols, key=str)
    place = {x: sp.Integer(k + 2) if x.is_integer else sp.Rational(k + 2, 7 + 2 * k)
             for k, x in enumerate(letters)}  # fmt: skip
    try:
        return bool(abs(complex(e.xreplace(place).evalf(20))) > 1e-6)
    except (TypeError, ValueError, ArithmeticError):
        return False


def without_max(e: Any) -> Any:
    """Maxima and minima by absolute values."""
    import sympy as sp

    def two(sign: int) -> Callable[..., Any]:
        def combined(*args: Any) -> Any:
            found = args[0]
            for x in args[1:]:
                found = (found + x + sign * sp.Abs(found - x)) / 2
            return found

        return combined

    return e.replace(sp.Max, two(1)).replace(sp.Min, two(-1))


def _by_cases(difference: Any) -> bool:
    """Every absolute value of either sign, in all combinations."""
    import sympy as sp

    e = without_max(difference)
    inner = list(dict.fromkeys(a.args[0] for a in e.atoms(sp.Abs)))
    if len(inner) > MOST_CASES or not difference.has(sp.Abs, sp.Max, sp.Min):
        return False
    for signs in itertools.product((1, -1), repeat=len(inner)):
        cases = {sp.Abs(u): s * u for u, s in zip(inner, signs, strict=True)}
        if not _is_zero(e.xreplace(cases)):
            return False
    return True
