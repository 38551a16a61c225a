"""Proofs of inequalities f ≥ 0: factors and squares, roots, convexity, monotony, cases, boxes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import partial
from time import process_time
from typing import Any

from .clock import guarded, load_simplify, tick
from .domains import Domain, interval, positive
from .ladder import without_max
from .singularities import rational, sign

LARGEST = 120  # operations of a difference that is looked at
DEEPEST = 2  # derivatives of derivatives
RUNG = 0.5  # seconds of the processor for one rung
BOXES = 0.4  # for the last of them
MOST_BARS = 4  # absolute values
WAVE = interval(-1, 1, closed=True)  # where sines and cosines lie

Domains = Mapping[Any, Domain]


def rung_of(f: Any, domains: Domains, strict: bool) -> str | None:
    """The name of the rung on which f ≥ 0 (or > 0) is proved; None if there is none."""
    import sympy as sp

    if f.count_ops() > LARGEST or f.has(sp.Sum, sp.Product, sp.Integral, sp.Derivative):
        return None
    load_simplify()
    rungs: list[tuple[str, Callable[[], bool]]] = [
        ("factors and squares", partial(_factors, f, domains, strict)),
        ("its real roots", partial(_roots, f, domains, strict)),
        ("convexity", partial(_convex, f, domains, strict)),
        ("monotony", partial(_monotone, f, domains, strict, 0)),
        ("case by case", partial(_cases, f, strict)),
        ("intervals", partial(_boxes, f, domains, strict)),
    ]
    for name, rung in rungs:
        if guarded(rung, False, RUNG):
            return name
    return None


# -- factors and squares --------------------------------------------------------------------------


def _factors(f: Any, domains: Domains, strict: bool) -> bool:
    """A product whose factors are all known not to be negative."""
    import sympy as sp

    f, domains = _without_roots(*_without_exponentials(sp.expand_log(f), domains))
    candidates = [lambda: sp.factor(f), lambda: sp.factor(sp.simplify(f)), lambda: sp.trigsimp(f)]
    for candidate in candidates:
        found = guarded(candidate, None)
        if found is not None and _is_product(found, domains, strict):
            return True
    return False


def _without_exponentials(f: Any, domains: Domains) -> tuple[Any, Domains]:
    """A function of e^x alone as one of a positive number."""
    import sympy as sp

    changed = dict(domains)
    f = f.rewrite(sp.exp) if f.has(sp.sinh, sp.cosh, sp.tanh) else f
    for x in sorted(f.free_symbols, key=str):
        powers = [e.args[0] for e in f.atoms(sp.exp) if e.has(x)]
        steps = [sp.cancel(p / x) for p in powers]
        if not steps or not all(s.is_Integer for s in steps):
            continue
        w = sp.Symbol(f"{x.name}_e", positive=True)
        moved = f.xreplace({sp.exp(p): w**s for p, s in zip(powers, steps, strict=True)})
        if not moved.has(x):
            f = moved
            changed[w] = positive
    return f, changed


def _without_roots(f: Any, domains: Domains) -> tuple[Any, Domains]:
    """Positive numbers as powers of others, so that no root of them is left."""
    import sympy as sp

    changed = dict(domains)
    for x in sorted(f.free_symbols, key=str):
        broken = [p.exp.q for p in f.atoms(sp.Pow) if p.has(x) and p.exp.is_Rational]
        degree = sp.ilcm(1, 1, *broken)
        low, high, _ = domains[x].ends or (None, None, False) if x in domains else (0, None, 0)
        if degree > 1 and low == 0 and high is None:
            root = sp.Symbol(f"{x.name}_r", positive=True)
            f = sp.powdenest(f.subs(x, root**degree), force=True)
            changed[root] = positive
    return f, changed


def _is_product(f: Any, domains: Domains, strict: bool) -> bool:
    import sympy as sp

    for part in sp.Mul.make_args(f):
        base, exponent = part.as_base_exp()
        if exponent.is_even and not strict:
            continue
        if not _is_nonnegative(base if exponent.is_Integer else part, domains, strict):
            return False
    return True


def _is_nonnegative(f: Any, domains: Domains, strict: bool) -> bool:
    """A factor that is not negative by its signs, or as a sum of squares."""
    if (f.is_positive if strict else f.is_nonnegative) or sign(f, domains, 1, strict):
        return True
    return not strict and _is_square_form(f)


def _is_square_form(f: Any) -> bool:
    """A polynomial of degree 2 that is nowhere negative: its matrix is."""
    import sympy as sp

    symbols = sorted(f.free_symbols, key=str)
    if not symbols or not f.is_polynomial(*symbols):
        return False
    polynomial = sp.Poly(f, *symbols)
    if polynomial.total_degree() != 2 or not all(c.is_Rational for c in polynomial.coeffs()):
        return False
    zero = dict.fromkeys(symbols, 0)
    slopes = [sp.diff(f, s).subs(zero) for s in symbols]
    rows = [[2 * f.subs(zero), *slopes]]
    rows += [[slope, *(sp.diff(f, a, b) for b in symbols)]
             for a, slope in zip(symbols, slopes, strict=True)]  # fmt: skip
    return bool(sp.Matrix(rows).is_positive_semidefinite)


# -- one variable ---------------------------------------------------------------------------------


def _alone(f: Any, domains: Domains) -> tuple[Any, Any, Any] | None:
    """The only symbol with the ends of its domain; None if there are several."""
    import sympy as sp

    free = list(f.free_symbols)
    if len(free) != 1 or free[0] not in domains or free[0].is_integer:
        return None
    low, high, _ = domains[free[0]].ends or (None, None, False)
    ends = (-sp.oo if low is None else rational(low), sp.oo if high is None else rational(high))
    return free[0], *ends


def _roots(f: Any, domains: Domains, strict: bool) -> bool:
    """A quotient of polynomials changes its sign at its real roots alone."""
    import sympy as sp

    alone = _alone(f, domains)
    if alone is None or not f.is_rational_function(alone[0]):
        return False
    x, low, high = alone
    above, below = sp.fraction(sp.cancel(sp.together(f)))
    polynomial = sp.Poly(above * below, x)
    if not all(c.is_Rational for c in polynomial.all_coeffs()):
        return False
    inside = sorted({r for r in polynomial.real_roots() if low < r < high})
    if strict and inside:
        return False
    left = low if low.is_finite else (inside[0] if inside else sp.S.Zero) - 2
    right = high if high.is_finite else (inside[-1] if inside else left) + 2
    ends = [left, *inside, right]
    for a, b in itertools.pairwise(ends):
        middle = sp.nsimplify(sp.N((a + b) / 2, 40), rational=True)
        if polynomial.eval(middle) < 0:
            return False
    return True


def _convex(f: Any, domains: Domains, strict: bool) -> bool:
    """f″ ≥ 0, and f ≥ 0 where f′ = 0."""
    import sympy as sp

    f, domains = _without_roots(f, domains)
    alone = _alone(f, domains)
    if alone is None:
        return False
    x, low, high = alone
    slope = sp.diff(f, x)
    if not _simply_nonnegative(sp.diff(slope, x), domains):
        return False
    for point in sp.solve(slope, x):
        if point.is_real and low < point < high:
            value = sp.simplify(f.subs(x, point))
            return bool(value.is_positive if strict else value.is_nonnegative)
    return False


def _simply_nonnegative(f: Any, domains: Domains) -> bool:
    import sympy as sp

    for form in (f, sp.together(f), sp.factor(sp.simplify(f))):
        if form.is_nonnegative or sign(form, domains, 1, False):
            return True
    waves = {w: sp.Symbol(f"w{k}_", real=True) for k, w in enumerate(f.atoms(sp.sin, sp.cos))}
    if waves:  # whatever they are, they lie between −1 and 1
        f, domains = f.xreplace(waves), {**domains, **dict.fromkeys(waves.values(), WAVE)}
        return sign(f, domains, 1, False)
    moved, more = _without_exponentials(f, domains)
    return bool(_is_product(sp.factor(moved), more, False))


def _monotone(f: Any, domains: Domains, strict: bool, depth: int) -> bool:
    """f′ ≥ 0, and f ≥ 0 at the left end; or the other way round."""
    import sympy as sp

    alone = _alone(f, domains)
    if alone is None:
        return False
    x, low, high = alone
    slope = sp.simplify(sp.diff(f, x))
    for direction, end, side in ((1, low, "+"), (-1, high, "-")):
        rises = _simply_nonnegative(direction * slope, domains) or (
            depth < DEEPEST - 1 and _monotone(direction * slope, domains, False, depth + 1)
        )
        if not rises:
            continue
        start = sp.limit(f, x, end, side)
        if start.is_positive or (start.is_nonnegative and not strict):
            return True
        if strict and start == 0 and slope.is_nonzero:
            return True
    return False


# -- cases and boxes ------------------------------------------------------------------------------


def _cases(f: Any, strict: bool) -> bool:
    """Absolute values of linear forms: in every case f is a sum of what is not negative there."""
    import sympy as sp

    f = without_max(f)
    bars = list(dict.fromkeys(a.args[0] for a in f.atoms(sp.Abs)))
    symbols = sorted(f.free_symbols, key=str)
    if strict or not bars or len(bars) > MOST_BARS:
        return False
    if not all(u.is_polynomial(*symbols) and sp.Poly(u, *symbols).is_linear for u in bars):
        return False
    known = [s for s in symbols if s.is_nonnegative]
    for signs in itertools.product((1, -1), repeat=len(bars)):
        sides = [s * u for u, s in zip(bars, signs, strict=True)]
        case = sp.expand(f.xreplace({sp.Abs(u): v for u, v in zip(bars, sides, strict=True)}))
        if not _is_combination(case, [*sides, *known], symbols):
            return False
    return True


def _is_combination(f: Any, parts: list[Any], symbols: list[Any]) -> bool:
    """Whether f is a sum of these parts with factors that are not negative, and of a number."""
    import sympy as sp

    if f.is_nonnegative:
        return True
    for count in range(1, min(len(parts), len(symbols)) + 1):
        for some in itertools.combinations(parts, count):
            factors = sp.symbols(f"l0:{count}")
            rest = sp.expand(f - sum(c * p for c, p in zip(factors, some, strict=True)))
            equations = [rest.coeff(s) for s in symbols]
            found = sp.solve(equations, factors, dict=True)
            if found and len(found[0]) == count:
                left = sp.expand(rest.subs(found[0]))
                if left.is_nonnegative and all(v >= 0 for v in found[0].values()):
                    return True
    return False


def _boxes(f: Any, domains: Domains, strict: bool) -> bool:
    """Branch and bound with intervals, on a bounded domain: the last resort."""
    import mpmath
    import sympy as sp

    symbols = sorted(f.free_symbols, key=str)
    ends = [(domains[s].ends or (None, None, False))[:2] if s in domains else (None, None)
            for s in symbols]  # fmt: skip
    if not 0 < len(symbols) <= 2 or any(e is None for pair in ends for e in pair):
        return False
    iv = mpmath.iv
    names = {"exp": iv.exp, "log": iv.log, "sqrt": iv.sqrt, "sin": iv.sin, "cos": iv.cos}
    value = sp.lambdify(symbols, f, [{**names, "pi": iv.pi, "E": iv.e}, "mpmath"])
    boxes = [[iv.mpf([str(a), str(b)]) for a, b in ends]]
    until = process_time() + BOXES
    while boxes:
        tick()
        box = boxes.pop()
        found = value(*box)
        if found.a > 0 or (found.a >= 0 and not strict):
            continue
        if process_time() > until:
            return False
        widest = max(range(len(box)), key=lambda k: float(box[k].delta.b))
        middle = box[widest].mid
        for half in (iv.mpf([box[widest].a, middle]), iv.mpf([middle, box[widest].b])):
            boxes.append([*box[:widest], half, *box[widest + 1 :]])
    return True
