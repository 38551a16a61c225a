"""SymPy expressions as functions of the values: to 40 digits for scalars, in NumPy for arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import numpy as np

from ..cache import remembered
from ..formula import GREEK, FormulaError, canonical
from .precise import bare, precise
from .singularities import borders

LONGEST_SUM = 2000
LARGEST = 10**9  # an exponent beyond it is an overflow even for mpmath
ROUNDING, FLOAT_ROUNDING = 1e-20, 1e-8  # where a condition asks whether two numbers are equal
POWERS = 5000  # that a judge remembers: all answers are compared at the same instances
SPARE_BITS = 24  # more than 2,000 steps of rounding can touch
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
        ((sp.Derivative, sp.Limit, sp.Subs), _carried_out),
        (sp.Piecewise, _cases),
        (sp.MatrixBase, _matrix),
    ]


def _applied(e: Any, parts: list[Evaluator], exact: bool) -> Evaluator:
    """An operation or a function, applied to the values of its parts."""
    import sympy as sp

    f = _operations(exact).get(e.func) or _function(e, exact)
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


def number(value: Any, exact: bool) -> Any:
    """A scalar ready for arithmetic that neither overflows (if exact) nor raises (if not)."""
    if not exact:
        return value if isinstance(value, np.ndarray) else np.float64(value)
    if type(value).__name__ == "mpf":
        return value
    return precise(value) if isinstance(value, np.ndarray) else bare(value)


def _constant(e: Any, exact: bool) -> Any:
    import mpmath

    value = +getattr(mpmath, {"Exp1": "e", "Pi": "pi"}.get(type(e).__name__, str(e).lower()))
    return value if exact else np.float64(value)


_nothing = 0.0  # a divisor or the argument of a logarithm of at most this size is zero


@contextmanager
def zero_is(size: Any) -> Iterator[None]:
    """At a point where something vanishes by construction, what is this small is zero."""
    global _nothing
    before, _nothing = _nothing, size
    try:
        yield
    finally:
        _nothing = before


class Loss:
    """What is lost on the way: decimal digits by cancellation, and the sizes that cancelled."""

    def __init__(self) -> None:
        self.digits, self.cancelled = 0.0, 0

    def in_sum(self, terms: list[Any], total: Any) -> None:
        if total and all(_magnitude(t) <= _magnitude(total) for t in terms):
            return  # none is more than twice as large
        largest = max((abs(t) for t in terms), default=0)
        if not total:
            self.cancelled = max(self.cancelled, largest)
        elif largest > 2 * abs(total):
            self.digits += _log10(largest) - _log10(abs(total))

    def in_function(self, x: Any) -> None:
        if x and abs(x) > 10:
            self.digits += _log10(abs(x))


def _log10(x: Any) -> float:
    return 0.30103 * _magnitude(x)


_loss: Loss | None = None


@contextmanager
def watched() -> Iterator[Loss]:
    """What is computed inside is watched for cancellation."""
    global _loss
    before, _loss = _loss, Loss()
    try:
        yield _loss
    finally:
        _loss = before


def _total(*terms: Any) -> Any:
    total = terms[0] + terms[1] if len(terms) == 2 else reduce(operator.add, terms)
    if _loss is not None and all(type(t).__name__ == "mpf" for t in (total, *terms)):
        _loss.in_sum([t for t in terms if t], total)
    return total


def _magnitude(x: Any) -> int:
    """The power of two above a number."""
    if type(x).__name__ != "mpf":
        return math.frexp(float(abs(x)))[1]
    _, _, exponent, bits = x._mpf_
    return int(exponent + bits)


def safe_power(base: Any, exponent: Any) -> Any:
    """The power, or an OverflowError where it would take for ever."""
    if not base and exponent < 0:
        raise ZeroDivisionError
    if base and abs(exponent) > LARGEST / (1 + abs(_magnitude(base))):
        raise OverflowError("the power is too large")
    return base**exponent


def safely(name: str, *args: Any) -> Any:
    """A function of mpmath, or an OverflowError where it would take for ever."""
    import mpmath

    if name in HEAVY and abs(args[0]) > 1e300:
        raise OverflowError(f"{name} of a number beyond all bounds")
    return getattr(mpmath, name)(*args)


# Of a number with thousands of digits before the point, they ask for pi or log(2) with as many.
HEAVY = {
    "sin", "cos", "tan", "sec", "csc", "cot", "exp", "expm1", "sinh", "cosh", "tanh", "coth",
    "gamma", "factorial", "erf", "erfc",
}  # fmt: skip
SPELLED = {
    "ceiling": "ceil", "Heaviside": "_step", "LambertW": "lambertw", "re": "re", "im": "im",
    "conjugate": "conj", "Chi": "chi", "Shi": "shi", "Si": "si", "Ci": "ci", "Ei": "ei",
}  # fmt: skip


def _function(e: Any, exact: bool) -> Callable[..., Any]:
    """One of SymPy's functions by the name that mpmath or NumPy has for it."""
    import mpmath
    import sympy

    name = SPELLED.get(e.func.__name__, e.func.__name__)
    if not isinstance(e, sympy.Function) or not callable(getattr(mpmath, name, None)):
        raise FormulaError(f"{e.func.__name__} is unknown here: give the line as a function.")
    fast = getattr(np, name, None)
    if not exact and isinstance(fast, np.ufunc):
        return fast

    def one(*args: Any) -> Any:
        numbers = [bare(a) for a in args]
        if _nothing:
            _refuse_poles(name, numbers[0])
        if _loss is not None:
            _loss.in_function(numbers[0])
        found = _real_only(safely(name, *numbers))
        return found if exact else np.float64(found)

    def each(*args: Any) -> Any:
        if not any(isinstance(a, np.ndarray) for a in args):
            return one(*args)
        found = np.frompyfunc(one, len(args), 1)(*args)
        return precise(found) if exact else found.astype(float)

    return each


_complex = False


@contextmanager
def complex_numbers() -> Iterator[None]:
    """Roots and logarithms of negative numbers are numbers, as long as a real one comes out."""
    global _complex
    before, _complex = _complex, True
    try:
        yield
    finally:
        _complex = before


def _real_only(x: Any) -> Any:
    """The root or logarithm of a negative number is no number here, on the way as at the end."""
    if type(x).__name__ == "mpc" and not _complex:
        if x.imag:
            raise ZeroDivisionError("not a real number")
        return x.real
    return x


def _refuse_poles(name: str, x: Any) -> None:
    """A ZeroDivisionError where a function has no value, up to rounding."""
    import mpmath

    distances: dict[str, Callable[[], Any]] = {
        "log": lambda: x,
        "tan": lambda: mpmath.cos(x),
        "sec": lambda: mpmath.cos(x),
        "cot": lambda: mpmath.sin(x),
        "csc": lambda: mpmath.sin(x),
        "atanh": lambda: 1 - x * x,
        "gamma": lambda: x - mpmath.nint(x) if x < 0.5 else 1,
        "loggamma": lambda: x - mpmath.nint(x) if x < 0.5 else 1,
        "factorial": lambda: x - mpmath.nint(x) if x < -0.5 else 1,
    }
    if name in distances and abs(distances[name]()) <= _nothing:
        raise ZeroDivisionError(f"{name} has no value here")


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
        terms = (term(_set(inside, name, kind(k))) for k in range(first, last + 1))
        if exact and not product and last >= first:
            return _total(*terms)
        return (math.prod if product else sum)(terms, start=number(int(product), exact))

    return value


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
        if any(not b or abs(_magnitude(b)) > 900 for b in bases):
            return None
        if _nothing and any(abs(b) <= _nothing for b in bases):
            return None
        with mpmath.workprec(mpmath.mp.prec + SPARE_BITS):
            bases = [b**k for b, (_, k) in zip(bases, powers, strict=True)]
            ratio = math.prod(bases, start=mpmath.mpf(1))
            times = _series(ratio._mpf_, count, mpmath.mp.prec)
        if _loss is not None and one:
            _loss.in_sum([one, one * ratio ** (count - 1)], one * times)
        return one * times

    return total


@remembered(POWERS)
def _series(digits: tuple[Any, ...], count: int, precision: int) -> Any:
    """1 + r + … + r^(count − 1) with all digits, however near r is to 1."""
    import mpmath

    ratio = mpmath.make_mpf(digits)
    if ratio == 1:
        return mpmath.mpf(count)
    with mpmath.workprec(precision + max(0, -_magnitude(ratio - 1))):
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
        ways = [add(term, [first, last], method=way) for way in ("r+s", "levin")]
        a, b = (mpmath.mpf(mpmath.re(w)) for w in ways)
        if not abs(a - b) <= 1e-12 * max(abs(a), abs(b)):
            raise ArithmeticError("the sum does not settle")
        return a


def _integral(e: Any, exact: bool) -> Evaluator:
    """An integral by quadrature, with its error kept small."""
    *more, limit = e.limits
    if len(limit) != 3:
        raise FormulaError("an integral without limits is no number: Integral is unknown here.")
    inside = evaluator(e.func(e.function, *more) if more else e.function, True)
    name, lo, hi = name_of(limit[0]), *(evaluator(x, True) for x in limit[1:])
    kinks = [_line_zero(b.f, limit[0]) for b in borders(e.function) if _is_line(b.f, limit[0])]

    def value(v: Mapping[str, Any]) -> Any:
        import mpmath

        with mpmath.workdps(ROUGH), np.errstate(all="ignore"):
            ends = [lo(v), hi(v)]
            if all(mpmath.isfinite(x) for x in ends):
                found = [x for kink in kinks if (x := kink(v)) is not None]
                inner = [x for x in found if min(ends) < x < max(ends)]
                ends = sorted({*mpmath.linspace(*ends, 5), *inner}, reverse=ends[0] > ends[1])
            total, error = mpmath.quad(lambda t: inside({**v, name: t}), ends, error=True)
            if not error <= 1e-12 * max(1, abs(total)):
                raise ArithmeticError("the integral does not settle")
        return total

    integral = _remembered(e, value)
    return lambda v: number(integral(v), exact)


def _is_line(f: Any, symbol: Any) -> bool:
    return bool(f.has(symbol) and f.is_polynomial(symbol) and not f.diff(symbol).has(symbol))


def _line_zero(f: Any, symbol: Any) -> Evaluator:
    """Where a·t + b is zero: there a maximum or an absolute value has its kink."""
    slope, height = (evaluator(x, True) for x in (f.diff(symbol), f.xreplace({symbol: f * 0})))
    return lambda v: -height(v) / slope(v) if slope(v) else None


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
    return bool(e.atoms(sympy.Integral)) or any(endless)


def _cases(e: Any, exact: bool) -> Evaluator:
    """The first piece whose condition holds; the others are never computed."""
    pieces = [(evaluator(x, exact), evaluator(condition, exact)) for x, condition in e.args]

    def value(v: Mapping[str, Any]) -> Any:
        return next((x(v) for x, condition in pieces if condition(v)), number(math.nan, exact))

    return value


@cache
def _operations(exact: bool) -> dict[Any, Callable[..., Any]]:
    """What SymPy's operations do to numbers and arrays."""
    return _arithmetic(exact) | _of_matrices() | _of_conditions(exact)


def _arithmetic(exact: bool) -> dict[Any, Callable[..., Any]]:
    import mpmath
    import sympy as sp

    add = _total if exact else lambda *x: reduce(operator.add, x)
    power = _power(exact)
    return {
        **dict.fromkeys([sp.Add, sp.MatAdd], add),
        **dict.fromkeys([sp.Mul, sp.HadamardProduct], lambda *x: reduce(operator.mul, x)),
        **dict.fromkeys([sp.Pow, sp.MatPow], power),
        sp.Abs: abs,
        sp.sign: np.sign if not exact else lambda x: mpmath.sign(x),
        sp.Heaviside: lambda x, at_zero: number(1 if x > 0 else 0 if x < 0 else at_zero, exact),
        sp.factorial: _function(sp.factorial(sp.Symbol("n")), exact),
        sp.re: lambda x: x,
        sp.Max: max if exact else lambda *x: reduce(np.maximum, x),
        sp.Min: min if exact else lambda *x: reduce(np.minimum, x),
    }


def _of_matrices() -> dict[Any, Callable[..., Any]]:
    import sympy as sp

    return {
        sp.MatMul: lambda *x: reduce(_matmul, x),
        sp.Inverse: lambda a, *_: _inverse(a),
        sp.Transpose: np.transpose,
        sp.Trace: np.trace,
        sp.Determinant: lambda a: np.linalg.det(a),
        sp.Identity: lambda n: np.eye(int(n)),
        sp.ZeroMatrix: lambda n, m: np.zeros((int(n), int(m))),
        sp.OneMatrix: lambda n, m: np.ones((int(n), int(m))),
        sp.DiagMatrix: lambda x: np.diag(np.ravel(x)),
        sp.matrices.expressions.matexpr.MatrixElement: lambda a, i, j: a[int(i), int(j)],
        own_function("norm"): lambda x: np.linalg.norm(np.ravel(x) if 1 in np.shape(x) else x, 2),
        own_function("inner"): lambda x, y: np.ravel(x) @ np.ravel(y),
    }


def _of_conditions(exact: bool) -> dict[Any, Callable[..., Any]]:
    import sympy as sp

    rounding = ROUNDING if exact else FLOAT_ROUNDING

    def equal(a: Any, b: Any) -> bool:
        return bool(abs(a - b) <= rounding * max(1, abs(a), abs(b)))

    return {
        sp.Eq: equal,
        sp.Ne: lambda a, b: not equal(a, b),
        sp.Lt: operator.lt,
        sp.Le: operator.le,
        sp.Gt: operator.gt,
        sp.Ge: operator.ge,
        sp.And: lambda *x: all(x),
        sp.Or: lambda *x: any(x),
        sp.Not: operator.not_,
    }


def _power(exact: bool) -> Callable[[Any, Any], Any]:
    """The power of two numbers, of arrays entry by entry, or of a matrix."""
    import mpmath

    mpf, power_of_digits = mpmath.mpf, _power_of_digits()

    def power(a: Any, b: Any) -> Any:
        if type(a) is mpf and type(b) is mpf:
            return power_of_digits(a, b)
        if np.ndim(a) == 2:
            return np.linalg.matrix_power(a if b > 0 else _inverse(a), abs(int(b)))
        if np.ndim(a) or np.ndim(b) or not exact:
            return np.sqrt(a) if np.ndim(b) == 0 and b == 0.5 else np.power(a, b)
        return _real_only(safe_power(a, b))

    return power


@cache
def _power_of_digits() -> Callable[[Any, Any], Any]:
    """The power of two numbers of mpmath: the plain ways first, as sums ask for it often."""
    import mpmath

    mp, half, minus_one = mpmath.mp, mpmath.mpf(0.5), mpmath.mpf(-1)._mpf_

    @remembered(POWERS)
    def raised(a: tuple[Any, ...], b: tuple[Any, ...], _: int) -> Any:
        return mp.make_mpf(a) ** mp.make_mpf(b)

    def power(a: Any, b: Any) -> Any:
        if b._mpf_[0] and abs(a) <= _nothing:  # the sign, without a comparison
            raise ZeroDivisionError
        if not a or _magnitude(b) >= 20 or abs(_magnitude(a)) >= 900:  # it might take for ever
            return _real_only(safe_power(a, b))
        if b._mpf_[2] >= 0:  # a whole number
            return 1 / a if b._mpf_ == minus_one else raised(a._mpf_, b._mpf_, mp.prec)
        return _real_only(mpmath.sqrt(a) if b == half else a**b)

    return power


def _matmul(a: Any, b: Any) -> Any:
    return a @ b if np.ndim(a) == np.ndim(b) == 2 else a * b


def _inverse(A: np.ndarray) -> np.ndarray:
    stretch = np.linalg.svd(A, compute_uv=False)
    if stretch[-1] <= 1e-10 * max(stretch[0], 1e-300):
        raise ZeroDivisionError("the matrix has no inverse")
    return np.linalg.inv(A)


# -- what SymPy has no word for

OWN_FUNCTIONS = {"norm": r"\left\|%s\right\|", "inner": r"\left\langle %s, %s\right\rangle"}


@cache
def own_function(name: str) -> Any:
    """`norm` or `inner` as a class of SymPy functions that knows its LaTeX."""
    import sympy

    def latex(self: Any, printer: Any, exp: str | None = None) -> str:
        written = OWN_FUNCTIONS[name] % tuple(printer._print(a) for a in self.args)
        return written if exp is None else f"{written}^{{{exp}}}"

    return type(name, (sympy.Function,), {"is_commutative": True, "_latex": latex})


def norm(x: Any) -> Any:
    """‖x‖ as a SymPy expression: Euclidean for vectors, spectral for matrices."""
    return own_function("norm")(x)


def inner(x: Any, y: Any) -> Any:
    """xᵀy as a SymPy scalar, for column vectors x and y."""
    return own_function("inner")(x, y)
