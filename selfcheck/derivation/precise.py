"""Python functions computed to many digits: arrays of numbers that NumPy treats as objects.

A line that is a function runs in floating point. Where it seems false it runs again on these, so
that rounding and overflow are not taken for falsehood. What NumPy cannot do with objects is done
here (inverses, determinants, norms, eigenvalues) or raises, and then nothing is confirmed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .bounded import safe_power, safely


class Digits:
    """A number with mpmath's digits, and the methods that NumPy looks for in objects."""

    __slots__ = ("x",)
    peak = -(10**9)  # the largest power of two met since it was last reset

    def __init__(self, x: Any) -> None:
        self.x = x
        if x and (size := _magnitude(x)) > Digits.peak:
            Digits.peak = size

    def __float__(self) -> float:
        return float(self.x)

    def __int__(self) -> int:
        return int(self.x)

    def __bool__(self) -> bool:
        return bool(self.x)

    def __neg__(self) -> Digits:
        return Digits(-self.x)

    def __pos__(self) -> Digits:
        return self

    def __abs__(self) -> Digits:
        return Digits(abs(self.x))

    def __hash__(self) -> int:
        return hash(self.x)

    def __round__(self, digits: int = 0) -> Digits:
        import mpmath

        return Digits(mpmath.nint(self.x * 10**digits) / mpmath.mpf(10) ** digits)

    def __repr__(self) -> str:
        return repr(self.x)

    def conjugate(self) -> Digits:
        return self

    real = property(lambda self: self)
    imag = property(lambda self: Digits(self.x * 0))

    def __pow__(self, other: Any) -> Any:
        return _power(self.x, bare(other))

    def square(self) -> Any:
        return self**2

    def reciprocal(self) -> Any:
        return self**-1

    def exp2(self) -> Any:
        return 2**self

    def log2(self) -> Digits:
        import mpmath

        return Digits(mpmath.log(self.x, 2))

    def __rpow__(self, other: Any) -> Any:
        return _power(bare(other), self.x)


def _power(base: Any, exponent: Any) -> Digits:
    return Digits(safe_power(base, exponent))


def _magnitude(x: Any) -> int:
    _, _, exponent, bits = getattr(x, "_mpf_", (0, 0, 0, -(10**9)))  # complex ones do not count
    return exponent + bits


def bare(value: Any) -> Any:
    """The mpmath number in Digits, floats and fractions."""
    kind = type(value)
    if kind is Digits:
        return value.x
    if kind.__name__ == "mpf":  # most are
        return value
    import mpmath

    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    if isinstance(value, int | float | np.integer | np.floating | np.bool_):
        return mpmath.mpf(value.item() if isinstance(value, np.generic) else value)
    return value


def _binary(name: str) -> None:
    operation = getattr(operator, name)

    def forward(self: Digits, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return Digits(operation(self.x, bare(other)))

    def backward(self: Digits, other: Any) -> Any:
        return Digits(operation(bare(other), self.x))

    setattr(Digits, f"__{name}__", forward)
    setattr(Digits, f"__r{name}__", backward)


def _comparison(name: str) -> None:
    operation = getattr(operator, name)
    setattr(Digits, f"__{name}__", lambda self, other: bool(operation(self.x, bare(other))))


def _method(name: str, of: str) -> None:
    def method(self: Digits) -> Digits:
        return Digits(safely(of, self.x))

    setattr(Digits, name, method)


for _name in ("add", "sub", "mul", "truediv", "mod"):
    _binary(_name)
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _comparison(_name)
for _name in [
    "exp",
    "expm1",
    "log",
    "log1p",
    "log10",
    "sqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "floor",
    "ceil",
]:
    _method(_name, _name)
OTHER_NAME = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "rint": "nint",
}  # fmt: skip
for _name, _of in OTHER_NAME.items():
    _method(_name, _of)


class PreciseArray(np.ndarray):
    """An object array of Digits that knows its linear algebra."""

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        own = LINEAR_ALGEBRA.get(function)
        if own:
            return _again(own(*(_plain(a) for a in args), **kwargs))
        return _again(function(*_plain(args), **_plain(kwargs)))


def precise(value: Any) -> Any:
    """A number or an array with as many digits as mpmath is set to."""
    array = np.asarray(value, dtype=object)
    filled = np.empty(array.shape, dtype=object)
    for place, x in np.ndenumerate(array):
        filled[place] = x if isinstance(x, Digits) else Digits(bare(x))
    return filled.view(PreciseArray) if filled.ndim else filled[()]


def _plain(value: Any) -> Any:
    if isinstance(value, PreciseArray):
        return value.view(np.ndarray)
    if type(value) in (tuple, list):
        return type(value)(_plain(x) for x in value)
    if type(value) is dict:
        return {key: _plain(x) for key, x in value.items()}
    return value


def _again(value: Any) -> Any:
    if type(value) is np.ndarray and value.dtype == object:
        return value.view(PreciseArray)
    return type(value)(_again(x) for x in value) if type(value) in (tuple, list) else value


# -- linear algebra on arrays of Digits


def _matrix(A: Any) -> Any:
    import mpmath

    return mpmath.matrix([[bare(x) for x in row] for row in np.asarray(A, dtype=object)])


def _array(M: Any) -> np.ndarray:
    return np.array([[Digits(M[i, j]) for j in range(M.cols)] for i in range(M.rows)], dtype=object)


def _solve(A: Any, b: Any) -> np.ndarray:
    """Gauss and Jordan with pivots; a pivot that is nothing but rounding is zero."""
    import mpmath

    A, b = np.array(A, dtype=object), np.array(b, dtype=object)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise TypeError("only a single square matrix is solved here")
    one_column = b.ndim == 1
    T = np.concatenate([A, b[:, None] if one_column else b], axis=1)
    n = len(A)
    nothing = mpmath.mpf(10) ** (-mpmath.mp.dps // 2) * max(abs(bare(x)) for x in A.flat)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(bare(T[i, k])))
        if abs(bare(T[pivot, k])) <= nothing:
            raise ZeroDivisionError("the matrix has no inverse")
        T[[k, pivot]] = T[[pivot, k]]
        T[k, k:] = T[k, k:] / T[k, k]
        for i in range(n):
            if i != k and T[i, k]:  # what stands left of column k is done
                T[i, k:] = T[i, k:] - T[i, k] * T[k, k:]
    solved = T[:, n:]
    return solved[:, 0] if one_column else solved


def _det(A: Any) -> Digits:
    import mpmath

    if np.ndim(A) != 2:
        raise TypeError("only a single determinant is computed here")
    return Digits(mpmath.det(_matrix(A)))


def _slogdet(A: Any) -> tuple[Any, ...]:
    det: Any = _det(A)
    return np.sign(det), np.log(abs(det))


def _stretches(A: Any) -> list[Digits]:
    import mpmath

    M = _matrix(A)
    if M.rows < M.cols:
        M = M.T
    rows = [[M[i, j] for j in range(M.cols)] for i in range(M.rows)]
    if M.cols == 1:
        return [Digits(mpmath.sqrt(sum(row[0] ** 2 for row in rows)))]
    if not any(x for i, row in enumerate(rows) for j, x in enumerate(row) if i != j):
        return [Digits(s) for s in sorted((abs(rows[k][k]) for k in range(M.cols)), reverse=True)]
    return [Digits(s) for s in mpmath.svd_r(M, compute_uv=False)]


def _svd(A: Any, full_matrices: bool = True, compute_uv: bool = True) -> np.ndarray:
    if compute_uv or np.ndim(A) != 2:
        raise TypeError("only singular values are computed here")
    return np.array(_stretches(A), dtype=object)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = np.asarray(x, dtype=object)
    if axis is None and x.ndim == 2 and ord in (2, -2, "nuc"):
        found = _stretches(x)
        return sum(found) if ord == "nuc" else found[0 if ord == 2 else -1]
    if x.ndim == 2 and axis is None and ord in (1, np.inf):
        return np.abs(x).sum(axis=0 if ord == 1 else 1).max()
    if ord in (None, "fro") or (ord == 2 and (x.ndim == 1 or axis is not None)):
        return np.sqrt((x * x).sum(axis=axis, keepdims=keepdims))
    if ord in (1, np.inf) and (x.ndim == 1 or isinstance(axis, int)):
        size = np.abs(x)
        reduce = size.sum if ord == 1 else size.max
        return reduce(axis=axis, keepdims=keepdims)
    raise TypeError("this norm is not computed here")


def _eigenvalues(A: Any) -> np.ndarray:
    import mpmath

    found, _ = mpmath.eig(_matrix(A), left=False, right=True)
    return np.array([Digits(x) for x in found], dtype=object)


def _symmetric_eigenvalues(A: Any, *_: Any) -> np.ndarray:
    import mpmath

    found = mpmath.eigsy(_matrix(A), eigvals_only=True)
    return np.array([Digits(x) for x in found], dtype=object)


LINEAR_ALGEBRA: dict[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.solve: _solve,
    np.linalg.inv: lambda A: _solve(A, precise(np.eye(len(A)))),
    np.linalg.det: _det,
    np.linalg.slogdet: _slogdet,
    np.linalg.svd: _svd,
    np.linalg.svdvals: lambda A: _svd(A, compute_uv=False),
    np.linalg.norm: _norm,
    np.linalg.eigvals: _eigenvalues,
    np.linalg.eigvalsh: _symmetric_eigenvalues,
}
