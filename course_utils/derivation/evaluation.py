"""SymPy expressions as functions of the values: to 40 digits for scalars, in NumPy for arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import numpy as np

from ..formula import GREEK, FormulaError, canonical

LONGEST_SUM = 2000
ROUNDING, FLOAT_ROUNDING = 1e-20, 1e-8  # relative to the values, and at least to 1

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
    if isinstance(e, sp.Rational):
        ratio = Fraction(int(e.p), int(e.q))
        return lambda v: number(ratio, exact)
    if e in (sp.pi, sp.E):
        constant = getattr(_library(exact), "pi" if e == sp.pi else "e")
        return lambda v: +constant
    if isinstance(e, sp.logic.boolalg.BooleanAtom):
        return lambda v: bool(e)
    if isinstance(e, sp.Symbol):
        symbol = name_of(e)
        return lambda v: number(v[symbol], exact)
    if isinstance(e, sp.MatrixSymbol):
        symbol = name_of(e)
        return lambda v: np.reshape(v[symbol], (len(v[symbol]), -1))
    if isinstance(e, sp.Sum | sp.Product):
        return _sum(e, exact)
    if isinstance(e, sp.Piecewise):
        return _cases(e, exact)
    if isinstance(e, sp.MatrixBase):
        entries, shape = [evaluator(x, exact) for x in e.flat()], e.shape
        return lambda v: np.array([x(v) for x in entries]).reshape(shape)
    parts = [evaluator(a, exact) for a in e.args]
    if isinstance(e, sp.core.function.AppliedUndef):
        function = name_of(e.func)
        return lambda v: number(v[function](*[part(v) for part in parts]), exact)
    f = _operations(exact).get(e.func)
    if f is None and isinstance(e, sp.Function):
        f = getattr(_library(exact), e.func.__name__, None)
    if f is None:
        raise FormulaError(f"{e.func.__name__} is unknown here: give the line as a function.")
    return lambda v: f(*[part(v) for part in parts])


def number(value: Any, exact: bool) -> Any:
    """A scalar ready for arithmetic that neither overflows (if exact) nor raises (if not)."""
    if not exact:
        return value if isinstance(value, np.ndarray) else np.float64(value)
    import mpmath

    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return mpmath.mpf(value)


def _library(exact: bool) -> Any:
    import mpmath

    return mpmath if exact else np


def _sum(e: Any, exact: bool) -> Evaluator:
    import sympy

    *more, (index, lo, hi) = e.limits  # SymPy's last limit is the outermost sum
    inside = e.func(e.function, *more) if more else e.function
    term, lo, hi = (evaluator(x, exact) for x in (inside, lo, hi))
    total, empty = (math.prod, 1) if isinstance(e, sympy.Product) else (sum, 0)

    def value(v: Mapping[str, Any]) -> Any:
        first, last = int(lo(v)), int(hi(v))
        if last - first > LONGEST_SUM:
            raise OverflowError(f"a sum of {last - first + 1} terms is too long")
        terms = (term({**v, name_of(index): k}) for k in range(first, last + 1))
        return total(terms, start=number(empty, exact))

    return value


def _cases(e: Any, exact: bool) -> Evaluator:
    """The first piece whose condition holds; the others are never computed."""
    pieces = [(evaluator(x, exact), evaluator(condition, exact)) for x, condition in e.args]

    def value(v: Mapping[str, Any]) -> Any:
        return next((x(v) for x, condition in pieces if condition(v)), number(math.nan, exact))

    return value


@cache
def _operations(exact: bool) -> dict[Any, Callable]:
    import sympy as sp

    def power(a: Any, b: Any) -> Any:
        if np.ndim(a) == 2:
            return np.linalg.matrix_power(a if b > 0 else _inverse(a), abs(int(b)))
        return _library(exact).sqrt(a) if b == 0.5 else a**b

    def equal(a: Any, b: Any) -> bool:
        rounding = ROUNDING if exact else FLOAT_ROUNDING
        return bool(abs(a - b) <= rounding * max(1, abs(a), abs(b)))

    element = sp.matrices.expressions.matexpr.MatrixElement
    return {
        **dict.fromkeys([sp.Add, sp.MatAdd], lambda *x: reduce(operator.add, x)),
        **dict.fromkeys([sp.Mul, sp.HadamardProduct], lambda *x: reduce(operator.mul, x)),
        **dict.fromkeys([sp.Pow, sp.MatPow], power),
        sp.MatMul: lambda *x: reduce(_matmul, x),
        sp.Inverse: lambda a, *_: _inverse(a),
        sp.Transpose: np.transpose,
        sp.Trace: np.trace,
        sp.Determinant: np.linalg.det,
        sp.Identity: lambda n: np.eye(int(n)),
        sp.ZeroMatrix: lambda n, m: np.zeros((int(n), int(m))),
        sp.OneMatrix: lambda n, m: np.ones((int(n), int(m))),
        sp.DiagMatrix: lambda x: np.diag(np.ravel(x)),
        element: lambda a, i, j: a[int(i), int(j)],
        sp.Abs: abs,
        sp.Max: max if exact else lambda *x: reduce(np.maximum, x),
        sp.Min: min if exact else lambda *x: reduce(np.minimum, x),
        sp.Eq: equal,
        sp.Ne: lambda a, b: not equal(a, b),
        sp.Lt: operator.lt,
        sp.Le: operator.le,
        sp.Gt: operator.gt,
        sp.Ge: operator.ge,
        sp.And: lambda *x: all(x),
        sp.Or: lambda *x: any(x),
        sp.Not: operator.not_,
        own_function("norm"): lambda x: np.linalg.norm(np.ravel(x) if 1 in np.shape(x) else x, 2),
        own_function("inner"): lambda x, y: np.ravel(x) @ np.ravel(y),
    }


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
