"""SymPy expressions as functions of the values: to 40 digits for scalars, in NumPy for arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ..formula import GREEK, FormulaError, canonical
from . import limits
from .bounded import magnitude
from .clock import guarded, tick
from .operations import POWERS, Arithmetic, function_of, number, operations, total_of
from .singularities import borders

LONGEST_SUM = 2000
SPARE_BITS = 24  # more than 2,000 steps of rounding can touch
PIECES = 5, 8  # into which an interval is cut; the two ways must agree
SETTLED = 1e-11  # relative to the integral, or to 1: how far they may be apart
ROUGH = 25  # digits for what is computed by quadrature or extrapolation

Evaluator = Callable[[Mapping[str, Any]], Any]


def name_of(key: Any) -> str:
    """The one spelling of a name, a SymPy symbol's or a function's: β is beta, λ is lamda."""
    name = key if isinstance(key, str) else getattr(key, "name", None) or key.__name__
    return canonical("".join(GREEK.get(c, c) for c in name))


def evaluator(e: Any, exact: bool) -> Evaluator:
    """A SymPy expression as a Python function of the values, in high precision if `exact`."""
    import sympy as sp

    if isinstance(e, sp.Float):
        e = sp.Rational(str(e))  # 0.1 means one tenth
    for kinds, make in _makers():
        if isinstance(e, kinds):
            return make(e, exact)
    if e.func is sp.Pow and e.base.is_Rational and e.exp == -1 and e.base:
        return _rational(Fraction(int(e.base.q), int(e.base.p)), exact)
    parts = [evaluator(a, exact) for a in e.args]
    if isinstance(e, sp.core.function.AppliedUndef):
        function = name_of(e.func)
        return lambda v: number(v[function](*[part(v) for part in parts]), exact)
    return _applied(e, parts, exact)


@cache
def _makers() -> list[tuple[Any, Callable[[Any, bool], Evaluator]]]:
    """What makes an evaluator of an expression that is more than an operation on its parts."""
    import sympy as sp

    return [
        (sp.Rational, lambda e, exact: _rational(Fraction(int(e.p), int(e.q)), exact)),
        ((sp.core.numbers.Infinity, sp.core.numbers.NegativeInfinity), _infinity),
        (sp.NumberSymbol, lambda e, exact: lambda v: _constant(e, exact)),
        (sp.logic.boolalg.BooleanAtom, lambda e, exact: lambda v: bool(e)),
        (sp.Symbol, _symbol),
        (sp.MatrixSymbol, _matrix_symbol),
        ((sp.Sum, sp.Product), _sum),
        (sp.Integral, _integral),
        (sp.Limit, _limit),
        ((sp.Derivative, sp.Subs), _carried_out),
        (sp.Piecewise, _cases),
        (sp.MatrixBase, _matrix),
    ]


def _applied(e: Any, parts: list[Evaluator], exact: bool) -> Evaluator:
    """An operation or a function, applied to the values of its parts."""
    import sympy as sp

    f = operations(exact).get(e.func) or function_of(e, exact)
    if len(parts) == 2:  # most have two, and sums ask for them often
        one, two = parts
        if e.func is sp.Mul:
            return (lambda v: -two(v)) if e.args[0] == -1 else lambda v: one(v) * two(v)
        return lambda v: f(one(v), two(v))
    return lambda v: f(*[part(v) for part in parts])


def _infinity(e: Any, exact: bool) -> Evaluator:
    value = float(e)
    return lambda v: value


def _symbol(e: Any, exact: bool) -> Evaluator:
    import mpmath

    symbol, ready = name_of(e), mpmath.mpf if exact else np.float64
    return lambda v: x if type(x := v[symbol]) is ready else number(x, exact)


def _matrix_symbol(e: Any, exact: bool) -> Evaluator:
    symbol = name_of(e)
    return lambda v: np.reshape(v[symbol], (len(v[symbol]), -1))


def _matrix(e: Any, exact: bool) -> Evaluator:
    """A matrix that is written out, entry by entry."""
    entries, shape = [evaluator(x, exact) for x in e.flat()], e.shape
    return lambda v: np.array([x(v) for x in entries]).reshape(shape)


def _rational(ratio: Fraction, exact: bool) -> Evaluator:
    """A fraction, which is divided out once for every number of digits."""
    import mpmath

    known: dict[int, Any] = {}

    def value(_: Mapping[str, Any]) -> Any:
        precision = mpmath.mp.prec if exact else 0
        if precision not in known:
            known[precision] = number(ratio, exact)
        return known[precision]

    return value


def _constant(e: Any, exact: bool) -> Any:
    import mpmath

    value = +getattr(mpmath, {"Exp1": "e", "Pi": "pi"}.get(type(e).__name__, str(e).lower()))
    return value if exact else np.float64(value)


def _sum(e: Any, exact: bool) -> Evaluator:
    import mpmath
    import sympy

    *more, (index, lo, hi) = e.limits  # SymPy's last limit is the outermost sum
    inside = e.func(e.function, *more) if more else e.function
    endless = hi is sympy.oo or lo is -sympy.oo
    term, lo, hi = (evaluator(x, exact or endless) for x in (inside, lo, hi))
    product = isinstance(e, sympy.Product)
    name, kind = name_of(index), mpmath.mpf if exact else np.float64
    at_once = _geometric(inside, name) if exact and not endless and not product else None
    if endless:
        total = _remembered(
            e, lambda v: _to_infinity(lambda k: term({**v, name: k}), lo(v), hi(v), product)
        )
        return lambda v: number(total(v), exact)

    def value(v: Mapping[str, Any]) -> Any:
        first, last = lo(v), hi(v)
        if first != int(first) or last != int(last):
            raise ValueError("a sum needs whole numbers as its limits")
        first, last = int(first), int(last)
        if last - first > LONGEST_SUM:
            raise OverflowError(f"a sum of {last - first + 1} terms is too long")
        inside = dict(v)
        if at_once and last > first:
            total = at_once(term, inside, first, last - first + 1)
            if total is not None:
                return total
        terms = (term(_set(inside, name, kind(k))) for k in in_time(range(first, last + 1)))
        if exact and not product and last >= first:
            return total_of(*terms)
        return (math.prod if product else sum)(terms, start=number(int(product), exact))

    return value


def in_time(numbers: Iterable[int]) -> Iterator[int]:
    """The numbers, as long as there is time."""
    for k in numbers:
        tick()
        yield k


def _set(values: dict[str, Any], name: str, k: Any) -> dict[str, Any]:
    values[name] = k
    return values


def _geometric(e: Any, name: str) -> Callable[..., Any] | None:
    """Sums over `name` at once, if the terms are a·b^(k·i + c) with a whole number k.

    They are as exact as if they were added up; None where a power needs a closer look.
    """
    import mpmath
    import sympy

    changing = [f for f in _factors(e) if _has(f, name)]
    if not all(f.func is sympy.Pow and not _has(f.base, name) for f in changing):
        return None
    steps = [_slope(f.exp, name) for f in changing]
    if None in steps:
        return None
    powers = [(evaluator(f.base, True), k) for f, k in zip(changing, steps, strict=True)]

    def total(term: Evaluator, v: dict[str, Any], first: int, count: int) -> Any:
        one = term(_set(v, name, mpmath.mpf(first)))
        bases = [base(v) for base, _ in powers]
        if not all(type(x) is mpmath.mpf and mpmath.isfinite(x) for x in (one, *bases)):
            return None
        if any(not b or abs(magnitude(b)) > 900 for b in bases):
            return None
        if Arithmetic.nothing and any(abs(b) <= Arithmetic.nothing for b in bases):
            return None
        with mpmath.workprec(mpmath.mp.prec + SPARE_BITS):
            bases = [b**k for b, (_, k) in zip(bases, powers, strict=True)]
            ratio = math.prod(bases, start=mpmath.mpf(1))
            times = _series(ratio._mpf_, count, mpmath.mp.prec)
        if Arithmetic.loss is not None and one:
            Arithmetic.loss.in_sum([one, one * ratio ** (count - 1)], one * times)
        return one * times

    return total


@lru_cache(POWERS)
def _series(digits: tuple[Any, ...], count: int, precision: int) -> Any:
    """1 + r + … + r^(count − 1) with all digits, however near r is to 1."""
    import mpmath

    ratio = mpmath.make_mpf(digits)
    if ratio == 1:
        return mpmath.mpf(count)
    with mpmath.workprec(precision + max(0, -magnitude(ratio - 1))):
        return (ratio**count - 1) / (ratio - 1)


def _factors(e: Any) -> list[Any]:
    import sympy

    return [f for a in e.args for f in _factors(a)] if e.func is sympy.Mul else [e]


def _has(e: Any, name: str) -> bool:
    return any(name_of(s) == name for s in e.free_symbols)


def _slope(e: Any, name: str) -> int | None:
    """The whole number k of k·i + c with the index i; None if it is not of this kind."""
    import sympy

    if not _has(e, name):
        return 0
    if e.func is sympy.Add:
        slopes = [k for a in e.args if (k := _slope(a, name)) is not None]
        return sum(slopes) if len(slopes) == len(e.args) else None
    *numbers, last = sorted(_factors(e), key=lambda f: isinstance(f, sympy.Symbol))
    if not isinstance(last, sympy.Symbol) or not all(f.is_Integer for f in numbers):
        return None
    return math.prod(int(f) for f in numbers)


def _remembered(e: Any, evaluate: Evaluator) -> Evaluator:
    """What takes long is computed once for the same values of its symbols."""
    from sympy.core.function import AppliedUndef

    names = sorted(name_of(s) for s in e.free_symbols)
    if e.atoms(AppliedUndef):
        return evaluate
    known: dict[tuple[Any, ...], Any] = {}

    def value(v: Mapping[str, Any]) -> Any:
        key = tuple(v[n] for n in names)
        if key not in known:
            known[key] = evaluate(v)
        return known[key]

    return value


def _to_infinity(term: Callable[..., Any], first: Any, last: Any, product: bool) -> Any:
    """An endless sum or product by extrapolation; two ways must agree."""
    import mpmath

    add = mpmath.nprod if product else mpmath.nsum
    with mpmath.workdps(ROUGH):
        ways = [add(_ticking(term), [first, last], method=way) for way in ("r+s", "levin")]
        a, b = (mpmath.mpf(mpmath.re(w)) for w in ways)
        if not abs(a - b) <= 1e-12 * max(abs(a), abs(b)):
            raise ArithmeticError("the sum does not settle")
        return a


def _ticking(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same function, which ends when the time is over."""

    def ticking(x: Any) -> Any:
        tick()
        return f(x)

    return ticking


def _integral(e: Any, exact: bool) -> Evaluator:
    """An integral by quadrature, with its error kept small."""
    *more, limit = e.limits
    if len(limit) != 3:
        raise FormulaError("an integral without limits is no number: Integral is unknown here.")
    inside = _inner(e.func(e.function, *more) if more else e.function)
    name, lo, hi = name_of(limit[0]), *(evaluator(x, True) for x in limit[1:])
    kinks = [_line_zero(b.f, limit[0]) for b in borders(e.function) if _is_line(b.f, limit[0])]

    def value(v: Mapping[str, Any]) -> Any:
        import mpmath

        with mpmath.workdps(ROUGH), np.errstate(all="ignore"):
            ends = [lo(v), hi(v)]
            found = [x for kink in kinks if (x := kink(v)) is not None]
            inner = [x for x in found if min(ends) < x < max(ends)]
            f = _ticking(lambda t: inside({**v, name: t}))
            ways = [mpmath.quad(f, _pieces(ends, inner, parts), error=True) for parts in PIECES]
        (total, error), (again, _) = ways
        size = max(abs(total), abs(again), 1)
        if not (error <= 1e-12 * size and abs(total - again) <= SETTLED * size):
            raise ArithmeticError("the integral does not settle")
        return total

    integral = _remembered(e, value)
    return lambda v: number(integral(v), exact)


def _inner(e: Any) -> Evaluator:
    """What is integrated; an integral within it in closed form, where a rule agrees once."""
    import sympy

    slowly = evaluator(e, True)
    closed = guarded(lambda: e.doit(), e) if e.has(sympy.Integral) else e
    if closed is e or closed.has(sympy.Integral, sympy.Piecewise, sympy.nan):
        return slowly
    quickly = evaluator(closed, True)
    agrees: list[bool] = []

    def value(v: Mapping[str, Any]) -> Any:
        if not agrees:
            one, two = slowly(v), quickly(v)
            agrees.append(abs(one - two) <= SETTLED * max(abs(one), 1))
        return quickly(v) if agrees[0] else slowly(v)

    return value


def _pieces(ends: list[Any], kinks: list[Any], parts: int) -> list[Any]:
    """The interval cut into pieces, at its kinks too; with an end at infinity, at one place."""
    import mpmath

    if all(mpmath.isfinite(x) for x in ends):
        return sorted({*mpmath.linspace(*ends, parts), *kinks}, reverse=ends[0] > ends[1])
    low, high = ends
    step = mpmath.mpf(parts) / 3
    if parts == PIECES[0]:  # a narrow peak at the end, or at 0, is seen by one of the two ways
        step = mpmath.mpf(1) / 64
    if mpmath.isinf(low) and mpmath.isinf(high):
        return [low, -step, mpmath.mpf(0), step, high]
    return [low, low + step, high] if mpmath.isinf(high) else [low, high - step, high]


def _is_line(f: Any, symbol: Any) -> bool:
    return bool(f.has(symbol) and f.is_polynomial(symbol) and not f.diff(symbol).has(symbol))


def _line_zero(f: Any, symbol: Any) -> Evaluator:
    """Where a·t + b is zero: there a maximum or an absolute value has its kink."""
    slope, height = (evaluator(x, True) for x in (f.diff(symbol), f.xreplace({symbol: f * 0})))
    return lambda v: -height(v) / slope(v) if slope(v) else None


def _limit(e: Any, exact: bool) -> Evaluator:
    """A limit by extrapolation; where SymPy has one too, they must agree."""
    import mpmath
    import sympy as sp

    f, x, to, side = e.args
    if not to.is_number or to is sp.zoo:
        raise FormulaError("a limit goes to a number or to infinity here.")
    inside, name = evaluator(f, True), name_of(x)
    target: Any = float(to) if to.is_infinite else Fraction(str(sp.Rational(to)))
    if not to.is_infinite and not to.is_Rational:
        raise FormulaError("a limit goes to a fraction or to infinity here.")
    whole = f.has(sp.Sum, sp.Product, sp.floor, sp.core.function.AppliedUndef)
    sides = {"+": [1], "-": [-1]}.get(str(side), [1, -1] if not to.is_infinite else [1])
    known = guarded(lambda: e.doit(), e) if f.count_ops() <= limits.LARGEST else e
    closed = None if known.has(sp.Limit, sp.AccumBounds, sp.nan) else evaluator(known, True)

    def value(v: Mapping[str, Any]) -> Any:
        with mpmath.workdps(2 * ROUGH):
            found = [_goes_to(lambda p: inside({**v, name: p}), target, s, whole) for s in sides]
            found += [closed(v)] if closed else []
            if any(abs(x - found[0]) > SETTLED * max(abs(found[0]), 1) for x in found):
                raise ArithmeticError("the limit does not settle")
            return found[-1]

    limit = _remembered(e, value)
    return lambda v: number(limit(v), exact)


def _goes_to(f: Callable[[Any], Any], to: Any, side: int, whole: bool) -> Any:
    """Where the values of f go; an ArithmeticError if that does not show."""

    def at(point: Any) -> Any:
        tick()
        try:
            return f(number(point, True))
        except (ArithmeticError, ValueError):
            return None

    points = limits.towards(to, side, whole, LONGEST_SUM if whole else 2**60)
    values = [x for p in points if (x := at(p)) is not None]
    if len(values) < limits.FEWEST + 3:
        raise ArithmeticError("a limit with too few values")
    goal, error = limits.extrapolated(values)
    if not error <= SETTLED * max(abs(goal), 1):
        raise ArithmeticError("the limit does not settle")
    off = [v - goal if (v := at(p)) is not None else None for p in points]
    seen = dict(zip(points, off, strict=True))
    settled, _, _ = limits.settles(
        lambda p: seen[p] if p in seen else None if (v := at(p)) is None else v - goal,
        points,
        lambda p: limits.beside(p, to, whole),
    )
    if not settled:
        raise ArithmeticError("the limit does not settle")
    return goal


def _carried_out(e: Any, exact: bool) -> Evaluator:
    """A derivative or a limit as SymPy carries it out."""
    import sympy

    done = e.doit()
    if done.has(sympy.Derivative, sympy.Limit, sympy.Subs):
        raise FormulaError(f"this {e.func.__name__} is unknown here: give the line as a function.")
    return evaluator(done, exact)


def is_rough(e: Any) -> bool:
    """Whether the value is computed by quadrature or extrapolation, so to fewer digits."""
    import sympy

    endless = (sympy.oo in limit or -sympy.oo in limit
               for s in e.atoms(sympy.Sum, sympy.Product) for limit in s.limits)  # fmt: skip
    return bool(e.atoms(sympy.Integral, sympy.Limit)) or any(endless)


def _cases(e: Any, exact: bool) -> Evaluator:
    """The first piece whose condition holds; the others are never computed."""
    pieces = [(evaluator(x, exact), evaluator(condition, exact)) for x, condition in e.args]

    def value(v: Mapping[str, Any]) -> Any:
        return next((x(v) for x, condition in pieces if condition(v)), number(math.nan, exact))

    return value
