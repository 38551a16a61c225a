"""What SymPy's operations and functions do to numbers, with many digits or in floating point."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache, reduce
from typing import Any

import numpy as np

from ..formula import FUNCTIONS, FormulaError, of_whole_numbers
from .bounded import magnitude, safe_power, safely
from .precise import bare, precise

ROUNDING, FLOAT_ROUNDING = 1e-20, 1e-8  # where a condition asks whether two numbers are equal
POWERS = 5000  # that are remembered: all answers are compared at the same instances
SPELLED = {
    "ceiling": "ceil", "Heaviside": "_step", "LambertW": "lambertw", "re": "re", "im": "im",
    "conjugate": "conj", "Chi": "chi", "Shi": "shi", "Si": "si", "Ci": "ci", "Ei": "ei",
}  # fmt: skip


class Loss:
    """What is lost on the way: decimal digits by cancellation, and the sizes that cancelled."""

    def __init__(self) -> None:
        self.digits, self.cancelled = 0.0, 0

    def in_sum(self, terms: list[Any], total: Any) -> None:
        if total and all(magnitude(t) <= magnitude(total) for t in terms):
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
    return 0.30103 * magnitude(x)


class Arithmetic:
    """How numbers are computed now; what stands below changes it for a while."""

    nothing: Any = 0.0  # a divisor or the argument of a logarithm of at most this size is zero
    loss: Loss | None = None  # who takes note of what cancels
    complex = False  # are the roots and logarithms of negative numbers numbers, too?


@contextmanager
def zero_is(size: Any) -> Iterator[None]:
    """At a point where something vanishes by construction, what is this small is zero."""
    before, Arithmetic.nothing = Arithmetic.nothing, size
    try:
        yield
    finally:
        Arithmetic.nothing = before


@contextmanager
def watched() -> Iterator[Loss]:
    """What is computed inside is watched for cancellation."""
    before, loss = Arithmetic.loss, Loss()
    Arithmetic.loss = loss
    try:
        yield loss
    finally:
        Arithmetic.loss = before


@contextmanager
def complex_numbers() -> Iterator[None]:
    """Roots and logarithms of negative numbers are numbers, as long as a real one comes out."""
    before, Arithmetic.complex = Arithmetic.complex, True
    try:
        yield
    finally:
        Arithmetic.complex = before


def number(value: Any, exact: bool) -> Any:
    """A scalar ready for arithmetic that neither overflows (if exact) nor raises (if not)."""
    if not exact:
        return value if isinstance(value, np.ndarray) else np.float64(value)
    if type(value).__name__ == "mpf":
        return value
    return precise(value) if isinstance(value, np.ndarray) else bare(value)


@cache
def operations(exact: bool) -> dict[Any, Callable[..., Any]]:
    """What SymPy's operations do to numbers and arrays."""
    return _arithmetic(exact) | _of_matrices() | _of_conditions(exact)


def _arithmetic(exact: bool) -> dict[Any, Callable[..., Any]]:
    import mpmath
    import sympy as sp

    add = total_of if exact else lambda *x: reduce(operator.add, x)
    power = _power(exact)
    return {
        **dict.fromkeys([sp.Add, sp.MatAdd], add),
        **dict.fromkeys([sp.Mul, sp.HadamardProduct], lambda *x: reduce(operator.mul, x)),
        **dict.fromkeys([sp.Pow, sp.MatPow], power),
        sp.Abs: abs,
        sp.sign: np.sign if not exact else lambda x: mpmath.sign(x),
        sp.Heaviside: lambda x, at_zero: number(1 if x > 0 else 0 if x < 0 else at_zero, exact),
        sp.factorial: function_of(sp.factorial(sp.Symbol("n")), exact),
        sp.re: lambda x: x,
        sp.Mod: operator.mod,
        **{of_whole_numbers(f): _of_whole(f, exact) for f in ("gcd", "lcm")},
        sp.Max: max if exact else lambda *x: reduce(np.maximum, x),
        sp.Min: min if exact else lambda *x: reduce(np.minimum, x),
    }


def _of_whole(name: str, exact: bool) -> Callable[..., Any]:
    def value(*args: Any) -> Any:
        found = FUNCTIONS[name](*map(float, args))
        if found != found:
            raise ZeroDivisionError("not whole numbers")
        return number(found, exact)

    return value


def _of_matrices() -> dict[Any, Callable[..., Any]]:
    import sympy as sp

    return {
        sp.MatMul: lambda *x: reduce(_matmul, x),
        sp.Inverse: lambda a, *_: inverse(a),
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


def total_of(*terms: Any) -> Any:
    total = terms[0] + terms[1] if len(terms) == 2 else reduce(operator.add, terms)
    if Arithmetic.loss is not None and all(type(t).__name__ == "mpf" for t in (total, *terms)):
        Arithmetic.loss.in_sum([t for t in terms if t], total)
    return total


def _power(exact: bool) -> Callable[[Any, Any], Any]:
    """The power of two numbers, of arrays entry by entry, or of a matrix."""
    import mpmath

    mpf, power_of_digits = mpmath.mpf, _power_of_digits()

    def power(a: Any, b: Any) -> Any:
        if type(a) is mpf and type(b) is mpf:
            return power_of_digits(a, b)
        if np.ndim(a) == 2:
            return np.linalg.matrix_power(a if b > 0 else inverse(a), abs(int(b)))
        if np.ndim(a) or np.ndim(b) or not exact:
            return np.sqrt(a) if np.ndim(b) == 0 and b == 0.5 else np.power(a, b)
        return _real_only(safe_power(a, b))

    return power


@cache
def _power_of_digits() -> Callable[[Any, Any], Any]:
    """The power of two numbers of mpmath: the plain ways first, as sums ask for it often."""
    import mpmath

    mp, half, minus_one = mpmath.mp, mpmath.mpf(0.5), mpmath.mpf(-1)._mpf_

    @lru_cache(POWERS)
    def raised(a: tuple[Any, ...], b: tuple[Any, ...], _: int) -> Any:
        return mp.make_mpf(a) ** mp.make_mpf(b)

    def power(a: Any, b: Any) -> Any:
        if b._mpf_[0] and (not a or (Arithmetic.nothing and abs(a) <= Arithmetic.nothing)):
            raise ZeroDivisionError  # the sign of b is looked at, without a comparison
        if not a or magnitude(b) >= 20 or abs(magnitude(a)) >= 900:  # it might take for ever
            return _real_only(safe_power(a, b))
        if b._mpf_[2] >= 0:  # a whole number
            return 1 / a if b._mpf_ == minus_one else raised(a._mpf_, b._mpf_, mp.prec)
        return _real_only(mpmath.sqrt(a) if b == half else a**b)

    return power


def _matmul(a: Any, b: Any) -> Any:
    return a @ b if np.ndim(a) == np.ndim(b) == 2 else a * b


def inverse(A: np.ndarray) -> np.ndarray:
    rough = A.astype(float) if A.dtype == object else A  # whether it is singular needs no digits
    stretch = np.linalg.svd(rough if np.isfinite(rough).all() else A, compute_uv=False)
    if stretch[-1] <= 1e-10 * max(stretch[0], 1e-300):
        raise np.linalg.LinAlgError("the matrix has no inverse")
    return np.linalg.inv(A)


def function_of(e: Any, exact: bool) -> Callable[..., Any]:
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
        if Arithmetic.nothing:
            _refuse_poles(name, numbers[0])
        if Arithmetic.loss is not None:
            Arithmetic.loss.in_function(numbers[0])
        found = _real_only(safely(name, *numbers))
        return found if exact else np.float64(found)

    def each(*args: Any) -> Any:
        if not any(isinstance(a, np.ndarray) for a in args):
            return one(*args)
        found = np.frompyfunc(one, len(args), 1)(*args)
        return precise(found) if exact else found.astype(float)

    return each


def _real_only(x: Any) -> Any:
    """The root or logarithm of a negative number is no number here, on the way as at the end."""
    if type(x).__name__ == "mpc" and not Arithmetic.complex:
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
    if name in distances and abs(distances[name]()) <= Arithmetic.nothing:
        raise ZeroDivisionError(f"{name} has no value here")


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
