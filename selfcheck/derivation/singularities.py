"""Where an expression may have no value, or changes its form: found symbolically, then tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from .domains import Domain

MOST_POINTS = 30  # tried for one line
NEAR = (1, Fraction(1, 1000), 1000)  # beside a point where the form changes


class Border(NamedTuple):
    """Where f = 0, an expression has a hole, or another form on either side."""

    f: Any
    hole: bool


def borders(e: Any) -> list[Border]:
    """All borders of an expression as it was written."""
    return list(dict.fromkeys(Border(b.f, b.hole) for b in _borders(e) if b.f.free_symbols))


def _borders(e: Any) -> Iterator[Border]:
    import sympy as sp

    if isinstance(e, sp.Sum | sp.Product | sp.Integral):
        index, *ends = e.limits[0]
        for border in _borders(e.function):
            if index not in border.f.free_symbols:
                yield border
            yield from (Border(border.f.subs(index, end), border.hole) for end in ends)
        return
    for part in e.args:
        yield from _borders(part)
    if isinstance(e, sp.Pow):
        if not e.exp.is_nonnegative:
            yield Border(e.base, True)
        if not e.exp.is_integer:
            yield Border(e.base, False)
    elif isinstance(e, sp.log):
        yield Border(e.args[0], True)
    elif isinstance(e, sp.tan | sp.sec):
        yield Border(sp.cos(e.args[0]), True)
    elif isinstance(e, sp.cot | sp.csc):
        yield Border(sp.sin(e.args[0]), True)
    elif isinstance(e, sp.gamma | sp.loggamma | sp.factorial):
        yield from (Border(e.args[0] + k, True) for k in (0, 1, 2))
    elif isinstance(e, sp.Abs | sp.sign | sp.Heaviside):
        yield Border(e.args[0], False)
    elif isinstance(e, sp.asin | sp.acos | sp.atanh | sp.acosh):
        yield from (Border(e.args[0] + k, isinstance(e, sp.atanh)) for k in (1, -1))
    elif isinstance(e, sp.floor | sp.ceiling):
        yield from (Border(e.args[0] - k, False) for k in (0, 1))
    elif isinstance(e, sp.Max | sp.Min):
        yield from (Border(a - b, False) for a in e.args for b in e.args if a.compare(b) < 0)
    elif isinstance(e, sp.core.relational.Relational):
        yield Border(e.lhs - e.rhs, False)


def points(
    borders: Iterable[Border],
    domains: Mapping[str, Domain],
    symbols: Mapping[str, Any],
    instances: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[Border, dict[str, Any]]]:
    """Instances on the borders and beside them, within the domains."""
    found = 0
    names = {symbols[n]: n for n in domains}
    instances = list(instances)
    for border in borders:
        free = [s for s in border.f.free_symbols if s in names]
        if len(free) < len(border.f.free_symbols):
            continue
        for k, drawn in enumerate(instances):
            for symbol in sorted(free, key=str):
                others = {s: rational(drawn[names[s]]) for s in free if s != symbol}
                if k and not others:
                    continue
                domain = domains[names[symbol]]
                for root in zeros(border.f.xreplace(others), symbol, domain):
                    for value in _beside(root, domain):
                        yield border, {**drawn, names[symbol]: value}
                        found += 1
                        if found >= MOST_POINTS:
                            return


def _beside(root: Any, domain: Domain) -> Iterator[Any]:
    import mpmath

    if isinstance(root, mpmath.mpf):
        root = Fraction(*mpmath.libmp.to_rational(root._mpf_))  # comparable with the domain's ends
    if domain.contains(root):
        yield root
    for step in NEAR:
        yield from (x for x in (root - step, root + step) if domain.contains(x))


def zeros(f: Any, symbol: Any, domain: Domain) -> list[Any]:
    """Real zeros of an expression in one symbol: exact if rational, else to 60 digits."""
    import mpmath
    import sympy as sp

    if not f.free_symbols:
        return []
    if isinstance(f, sp.Mul | sp.Pow) and f.is_polynomial(symbol):
        factors = [a.as_base_exp()[0] for a in sp.Mul.make_args(f)]
        if factors != [f]:
            found = (r for a in factors if a.has(symbol) for r in zeros(a, symbol, domain))
            return list(dict.fromkeys(found))
    f = sp.nsimplify(f, rational=True)
    if f.is_polynomial(symbol):
        polynomial = sp.Poly(f, symbol)
        if polynomial.degree() > 12:
            return []
        if polynomial.degree() == 1:
            a, b = polynomial.all_coeffs()
            return [_fraction(-b / a)] if (b / a).is_Rational else _numbers([-b / a])
        if not all(c.is_Rational for c in polynomial.all_coeffs()):
            return []
        polynomial = polynomial.sqf_part()  # every zero once
        rational = [_fraction(r) for r in polynomial.ground_roots()]
        if len(rational) == polynomial.degree():
            return rational
        try:
            with mpmath.workdps(60):
                others = [mpmath.mpf(str(r)) for r in polynomial.nroots(60, 200) if r.is_real]
        except mpmath.libmp.NoConvergence:  # a multiple zero
            others = []
        return rational + [r for r in others if all(abs(r - q) > 1e-9 for q in rational)]
    numerator = sp.together(f).as_numer_denom()[0]
    if numerator.is_polynomial(symbol):
        return zeros(numerator, symbol, domain)
    return _scanned(f, symbol, domain)


def _numbers(values: list[Any]) -> list[Any]:
    import mpmath

    with mpmath.workdps(60):
        return [mpmath.mpf(str(v.evalf(60))) for v in values if v.is_real]


def _scanned(f: Any, symbol: Any, domain: Domain) -> list[Any]:
    """Zeros where the sign changes between values of the domain, from left to right."""
    import mpmath
    import sympy as sp

    if not domain.contains(Fraction(1, 2)) and not domain.contains(2):
        grid = domain.corners() + domain.simple()
    else:
        grid = [*domain.corners(), *domain.simple(), *(k / 4 for k in range(-40, 41))]
    grid = sorted({mpmath.mpf(rational(x).p) / rational(x).q for x in grid if domain.contains(x)})
    found = []
    with mpmath.workdps(60):
        try:
            g = sp.lambdify(symbol, f, "mpmath")
            signs = [(x, g(x)) for x in grid]
            for (x, a), (y, b) in pairwise(signs):
                if not (isinstance(a, mpmath.mpf) and isinstance(b, mpmath.mpf)) or a * b > 0:
                    continue
                found.append(x if a == 0 else mpmath.findroot(g, (x, y), solver="anderson"))
        except (ValueError, ZeroDivisionError, TypeError, NameError, OverflowError):
            pass
    return found[:6]


def never_zero(f: Any, domains: Mapping[Any, Domain]) -> bool:
    """Whether SymPy decides that f ≠ 0 everywhere; `domains` by symbol."""
    import sympy as sp

    if f.is_Symbol and f.is_nonzero:
        return True
    free = f.free_symbols
    polynomial = len(free) == 1 and f.is_polynomial(*free)
    if polynomial:  # quicker than what SymPy can deduce
        (symbol,) = free
        if not _roots_within(sp.Poly(f, symbol), domains.get(symbol)):
            return True
    if f.is_nonzero or f.is_positive or f.is_negative or _sums_up(f):
        return True
    return not polynomial and any(sign(f, domains, s) for s in (1, -1))


def _sums_up(f: Any) -> bool:
    """Whether f is made of nonzero factors and of sums of positive terms, none of them empty."""
    import sympy as sp

    def positive(part: Any) -> bool:
        if isinstance(part, sp.Sum):
            (_, lo, hi), *more = part.limits
            return bool(not more and part.function.is_positive and (hi - lo).is_nonnegative)
        return bool(part.is_nonzero)

    return all(positive(part) for part in sp.Mul.make_args(f))


def sign(f: Any, domains: Mapping[Any, Domain], wanted: int, strict: bool = True) -> bool:
    """Whether f (or −f) is positive everywhere; without `strict`, not negative."""
    import sympy as sp

    f = wanted * f
    holds = _is_positive if strict else _is_nonnegative
    if holds(f):
        return True
    if f.count_ops() > 60 or not f.is_rational_function():
        return False
    replaced = [_unbounded(s, domains[s]) for s in f.free_symbols if s in domains]
    for choice in _choices(replaced):
        parts = sp.fraction(sp.cancel(f.xreplace(dict(choice))))
        numerator, denominator = (sp.expand(p) for p in parts)
        if not (holds(numerator) and denominator.is_positive):
            return False
    return True


def _is_positive(e: Any) -> bool:
    return bool(e.is_positive)


def _is_nonnegative(e: Any) -> bool:
    return bool(e.is_nonnegative)


def _unbounded(symbol: Any, domain: Domain) -> list[tuple[Any, ...]]:
    """A number of an interval as lo + width·u/(1+u), u ≥ 0, from the left end or the right."""
    import sympy as sp

    lo, hi, closed = domain.ends or (None, None, False)
    kind = {"nonnegative": True} if closed else {"positive": True}
    u = sp.Symbol(f"{symbol.name}_", **kind)
    lo, hi = (None if x is None else rational(x) for x in (lo, hi))
    if lo is None and hi is None:
        return [(symbol, symbol)]
    if hi is None:
        return [(symbol, lo + u)]
    if lo is None:
        return [(symbol, hi - u)]
    ways = [(symbol, lo + (hi - lo) * u / (1 + u))]
    return ways + [(symbol, hi - (hi - lo) * u / (1 + u))] * bool(closed)


def _choices(ways: list[list[tuple[Any, ...]]]) -> Iterator[list[tuple[Any, ...]]]:
    if not ways:
        yield []
        return
    for first in ways[0]:
        yield from ([first, *rest] for rest in _choices(ways[1:]))


def _roots_within(polynomial: Any, domain: Domain | None) -> bool:
    """Whether a polynomial in one symbol has a zero in the domain (or might have)."""
    if domain is None or not all(c.is_Rational for c in polynomial.all_coeffs()):
        return True
    lo, hi, closed = domain.ends or (None, None, False)
    lo, hi = (None if x is None else rational(x) for x in (lo, hi))
    count = polynomial.count_roots(lo, hi)
    if not closed:
        count -= sum(1 for end in (lo, hi) if end is not None and polynomial.eval(end) == 0)
    return bool(count > 0)


def rational(x: Any) -> Any:
    """A number as SymPy's rational."""
    import sympy as sp

    if isinstance(x, Fraction):
        return sp.Rational(x.numerator, x.denominator)
    return sp.sympify(x) if isinstance(x, int) else sp.Rational(str(x))


def _fraction(x: Any) -> Any:
    value = Fraction(int(x.p), int(x.q))
    return int(value) if value.denominator == 1 else value
