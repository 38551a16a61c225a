"""The second counter: numbers that count what is done with them, for whatever no table lists.

A NumPy function without a handler runs on object arrays of these, so that every operation is seen
where it happens. The numbers must come out as NumPy's own, else the count is not trusted.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..nesting import nested
from .arrays import MeteredArray

if TYPE_CHECKING:
    from .counting import Meter

MOST = 200_000  # numbers that are lifted at once; beyond them it would take too long


class Counting:
    """A number in an object array; every operation on it is counted under its kind."""

    __slots__ = ("counts", "x")

    def __init__(self, x: Any, counts: dict[str, int]) -> None:
        self.x, self.counts = x, counts

    def _do(self, kind: str, x: Any) -> Counting:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return Counting(x, self.counts)

    def __neg__(self) -> Counting:
        return Counting(-self.x, self.counts)

    def __pos__(self) -> Counting:
        return self

    def __abs__(self) -> Counting:
        return self._do("compare", abs(self.x))

    def __bool__(self) -> bool:
        return bool(self._do("compare", self.x).x)

    def __pow__(self, other: Any) -> Counting:
        kind = {2: "multiply", 0.5: "sqrt"}.get(_value(other), "power")
        return self._do(kind, self.x ** _value(other))

    def __rpow__(self, other: Any) -> Counting:
        return self._do("power", _value(other) ** self.x)

    def __hash__(self) -> int:
        return hash(self.x)

    def conjugate(self) -> Counting:
        return self

    def square(self) -> Counting:
        return self**2

    real = property(lambda self: self)


def _value(x: Any) -> Any:
    return x.x if isinstance(x, Counting) else x


def _arithmetic(name: str, kind: str) -> None:
    operation = getattr(operator, name)
    setattr(Counting, f"__{name}__", lambda a, b: a._do(kind, operation(a.x, _value(b))))
    setattr(Counting, f"__r{name}__", lambda a, b: a._do(kind, operation(_value(b), a.x)))


def _comparison(name: str) -> None:
    operation = getattr(operator, name)

    def compare(a: Counting, b: Any) -> bool:
        return bool(a._do("compare", operation(a.x, _value(b))).x)

    setattr(Counting, f"__{name}__", compare)


def _function(name: str, kind: str) -> None:
    setattr(Counting, name, lambda a: a._do(kind, getattr(math, name)(a.x)))


ARITHMETIC = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
    "floordiv": "divide", "mod": "divide",
}  # fmt: skip
for _name, _kind in ARITHMETIC.items():
    _arithmetic(_name, _kind)
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _comparison(_name)
FUNCTIONS = {
    "exp": "exp", "expm1": "exp", "log": "log", "log1p": "log", "log2": "log", "log10": "log",
    "sqrt": "sqrt", "tanh": "tanh", "sinh": "tanh", "cosh": "tanh", "sin": "sin, cos",
    "cos": "sin, cos", "tan": "sin, cos",
}  # fmt: skip
for _name, _kind in FUNCTIONS.items():
    _function(_name, _kind)


def counted_by_scalars(
    m: Meter, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The true result, with what it took counted; a TypeError if that cannot be trusted."""
    counts: dict[str, int] = {}

    def lift(x: Any) -> Any:
        data = x._data if type(x) is MeteredArray else x
        if not isinstance(data, np.ndarray) or data.dtype.kind not in "fiu":
            return data
        if data.size > MOST:
            raise TypeError("too many numbers to count one by one")
        lifted = np.empty(data.shape, dtype=object)
        for place, number in np.ndenumerate(data):
            lifted[place] = Counting(number.item(), counts)
        return lifted

    with np.errstate(all="ignore"):
        found = nested(function(*nested(args, lift), **nested(kwargs, lift)), _lowered)
        true = function(*m._raw(args), **m._raw(kwargs))
    if not _alike(found, true):
        raise TypeError("the numbers came out otherwise")
    for kind, count in counts.items():
        m._count(kind, count)
    return m._wrap(true)


def _lowered(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([_value(number) for number in x.flat]).reshape(x.shape)
    return _value(x)


def _alike(a: Any, b: Any) -> bool:
    if type(b) in (tuple, list):
        return len(a) == len(b) and all(_alike(x, y) for x, y in zip(a, b, strict=True))
    return np.shape(a) == np.shape(b) and bool(np.allclose(a, b, rtol=1e-9, equal_nan=True))
