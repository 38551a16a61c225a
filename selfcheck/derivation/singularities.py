"""Where an expression may have no value, or changes its form: found symbolically, then tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import islice, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from .domains import Domain

MOST_POINTS = 30  # tried for one line
NEAR = (1, Fraction(1, 1000), 1000)  # beside a point where the form changes
DIGITS = 60  # of a zero that is not rational: as many as a second look at a line has
HIGHEST_DEGREE = 12  # of a polynomial whose zeros are looked for: a moment's work
MOST_ITERATIONS = 200  # for all zeros at once
SAME_ZERO = 1e-9  # nearer to a rational zero, a computed one is that zero again
MOST_SCANNED = 6  # zeros of an expression that is no polynomial


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
        yield from _borders_over_an_index(e)
        return
    if isinstance(e, sp.Limit):
        yield from (b for b in _borders(e.args[0]) if e.args[1] not in b.f.free_symbols)
        return
    for part in e.args:
        yield from _borders(part)
    for kinds, own_borders in _rules():
        if isinstance(e, kinds):
            yield from own_borders(e)
            return


def _borders_over_an_index(e: Any) -> Iterator[Border]:
    """The borders of a sum's terms: those that the index does not move, and those at its ends."""
    index, *ends = e.limits[0]
    for border in _borders(e.function):
        if index not in border.f.free_symbols:
            yield border
        yield from (Border(border.f.subs(index, end), border.hole) for end in ends)


@cache
def _rules() -> list[tuple[Any, Callable[[Any], list[Border]]]]:
    """The borders that an operation has itself, by its class in SymPy; the first fitting counts."""
    import sympy as sp

    return [
        (sp.Pow, _borders_of_power),
        (sp.log, lambda e: [Border(e.args[0], True)]),
        ((sp.tan, sp.sec), lambda e: [Border(sp.cos(e.args[0]), True)]),
        ((sp.cot, sp.csc), lambda e: [Border(sp.sin(e.args[0]), True)]),
        ((sp.gamma, sp.loggamma, sp.factorial), _borders_of_factorial),
        ((sp.Abs, sp.sign, sp.Heaviside), lambda e: [Border(e.args[0], False)]),
        (sp.atanh, lambda e: [Border(e.args[0] + k, True) for k in (1, -1)]),
        ((sp.asin, sp.acos, sp.acosh), lambda e: [Border(e.args[0] + k, False) for k in (1, -1)]),
        ((sp.floor, sp.ceiling), lambda e: [Border(e.args[0] - k, False) for k in (0, 1)]),
        ((sp.Max, sp.Min), _borders_of_maximum),
        (sp.core.relational.Relational, lambda e: [Border(e.lhs - e.rhs, False)]),
    ]


def _borders_of_power(e: Any) -> list[Border]:
    """A hole where 0 may be divided by; another form where a root may be taken."""
    hole = [] if e.exp.is_nonnegative else [Border(e.base, True)]
    return hole if e.exp.is_integer else [*hole, Border(e.base, False)]


def _borders_of_factorial(e: Any) -> list[Border]:
    """The first of its poles, of which there is no end."""
    return [Border(e.args[0] + k, True) for k in (0, 1, 2)]


def _borders_of_maximum(e: Any) -> list[Border]:
    """Where two of its arguments are equal, each pair once."""
    return [Border(a - b, False) for a in e.args for b in e.args if a.compare(b) < 0]


def points(
    borders: Iterable[Border],
    domains: Mapping[str, Domain],
    symbols: Mapping[str, Any],
    instances: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[Border, dict[str, Any]]]:
    """Instances on the borders and beside them, within the domains; not too many of them."""
    names = {symbols[n]: n for n in domains}
    instances = list(instances)
    found = (
        (border, drawn)
        for border in borders
        if border.f.free_symbols <= names.keys()
        for drawn in _around(border, names, domains, instances)
    )
    return islice(found, MOST_POINTS)


def _around(
    border: Border,
    names: Mapping[Any, str],
    domains: Mapping[str, Domain],
    instances: list[Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    """These instances with one number after the other moved onto the border, and beside it."""
    free = list(border.f.free_symbols)
    for k, drawn in enumerate(instances):
        for symbol in sorted(free, key=str):
            name = names[symbol]
            others = {s: rational(drawn[names[s]]) for s in free if s != symbol}
            if k and not others:
                continue  # the first instance has told where
            for root in zeros(border.f.xreplace(others), symbol, domains[name]):
                yield from ({**drawn, name: value} for value in _beside(root, domains[name]))


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
    import sympy as sp

    if not f.free_symbols:
        return []
    if factors := _factors(f, symbol):
        found = (r for a in factors if a.has(symbol) for r in zeros(a, symbol, domain))
        return list(dict.fromkeys(found))
    f = sp.nsimplify(f, rational=True)
    if f.is_polynomial(symbol):
        return _zeros_of_polynomial(sp.Poly(f, symbol))
    numerator = sp.together(f).as_numer_denom()[0]
    if numerator.is_polynomial(symbol):
        return zeros(numerator, symbol, domain)
    return _scanned(f, symbol, domain)


def _factors(f: Any, symbol: Any) -> list[Any]:
    """The bases of the factors that a polynomial is written with; none if it is written as one."""
    import sympy as sp

    if not isinstance(f, sp.Mul | sp.Pow) or not f.is_polynomial(symbol):
        return []
    factors = [a.as_base_exp()[0] for a in sp.Mul.make_args(f)]
    return [] if factors == [f] else factors


def _zeros_of_polynomial(polynomial: Any) -> list[Any]:
    """Real zeros of a polynomial in one symbol, unless its degree is too high."""
    degree = polynomial.degree()
    if degree > HIGHEST_DEGREE:
        return []
    if degree == 1:
        a, b = polynomial.all_coeffs()
        return [_fraction(-b / a)] if (b / a).is_Rational else _numbers([-b / a])
    if not all(c.is_Rational for c in polynomial.all_coeffs()):
        return []
    polynomial = polynomial.sqf_part()  # every zero once
    rational = [_fraction(r) for r in polynomial.ground_roots()]
    if len(rational) == polynomial.degree():
        return rational
    others = _zeros_in_digits(polynomial)
    return rational + [r for r in others if all(abs(r - q) > SAME_ZERO for q in rational)]


def _zeros_in_digits(polynomial: Any) -> list[Any]:
    """Real zeros to many digits, those that are rational among them."""
    import mpmath

    try:
        with mpmath.workdps(DIGITS):
            found = polynomial.nroots(DIGITS, MOST_ITERATIONS)
            return [mpmath.mpf(str(r)) for r in found if r.is_real]
    except mpmath.libmp.NoConvergence:  # a multiple zero
        return []


def _numbers(values: list[Any]) -> list[Any]:
    import mpmath

    with mpmath.workdps(DIGITS):
        return [mpmath.mpf(str(v.evalf(DIGITS))) for v in values if v.is_real]


def _scanned(f: Any, symbol: Any, domain: Domain) -> list[Any]:
    """Zeros where the sign changes between values of the domain, from left to right."""
    import mpmath
    import sympy as sp

    if f.has(sp.zoo):  # with these other numbers it has no value, as log(x) + log(0)
        return []
    if not domain.contains(Fraction(1, 2)) and not domain.contains(2):
        grid = domain.corners() + domain.simple()
    else:
        grid = [*domain.corners(), *domain.simple(), *(k / 4 for k in range(-40, 41))]
    grid = sorted({mpmath.mpf(rational(x).p) / rational(x).q for x in grid if domain.contains(x)})
    found = []
    with mpmath.workdps(DIGITS):
        try:
            g = sp.lambdify(symbol, f, "mpmath")
            signs = [(x, g(x)) for x in grid]
            for (x, a), (y, b) in pairwise(signs):
                if not (isinstance(a, mpmath.mpf) and isinstance(b, mpmath.mpf)) or a * b > 0:
                    continue
                found.append(x if a == 0 else mpmath.findroot(g, (x, y), solver="anderson"))
        except (ValueError, ZeroDivisionError, TypeError, NameError, OverflowError):
            pass
    return found[:MOST_SCANNED]


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
    holds = attrgetter("is_positive" if strict else "is_nonnegative")
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
