"""The metered array: it reports what is done with it, and refuses what cannot be counted."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..nesting import nested
from .tables import FROM_OUTSIDE, METHODS

if TYPE_CHECKING:
    from .counting import Meter


class LikeAnArray(np.lib.mixins.NDArrayOperatorsMixin):
    """What an array does by indexing, comparing and copying, wherever its numbers are."""

    __slots__ = ()
    __class__ = property(lambda self: np.ndarray)  # for isinstance
    __getitem__: Callable[..., Any]
    __len__: Callable[..., int]
    copy: Callable[..., Any]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.copy()


class MeteredArray(LikeAnArray):
    """An array that reports what is done with it, and refuses what cannot be counted."""

    __slots__ = ("_data", "_meter")

    def __init__(self, data: np.ndarray, meter: Meter) -> None:
        self._data, self._meter = data, meter

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if self._meter._open:
            return self._meter._ufunc(ufunc, method, inputs, kwargs)
        return getattr(ufunc, method)(*nested(inputs, _data), **nested(kwargs, _data))

    def __array_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        if self._meter._open:
            return self._meter.call(function, args, kwargs)
        return function(*nested(args, _data), **nested(kwargs, _data))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._meter._open:
            raise self._meter._refuse("Turning a metered array into a plain one", FROM_OUTSIDE)
        return np.array(self._data, dtype=dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes"):
            return getattr(self._data, name)
        if name in ("T", "mT", "real"):
            return self._meter._wrap(getattr(self._data, name))
        if name in ("reshape", "transpose", "astype", "flatten"):
            method = getattr(self._data, name)
            return lambda *args, **kwargs: self._meter._wrap(method(*args, **kwargs))
        if name in METHODS:
            return functools.partial(METHODS[name], self)
        if hasattr(np.ndarray, name) and not name.startswith("__"):
            raise self._meter._refuse(f"ndarray.{name}")
        raise AttributeError(f"A metered array has no attribute {name!r}.")

    def __getitem__(self, index: Any) -> Any:
        self._meter._doing = "indexing"
        return self._meter._wrap(self._data[self._meter._raw(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._data[self._meter._raw(index)] = self._meter._raw(value)

    def fill(self, value: Any) -> None:
        self[...] = value

    def item(self, *index: Any) -> Any:
        self._meter._leave(1)
        return self._data.item(*self._meter._raw(index))

    def tolist(self) -> Any:
        self._meter._leave(self._data.size)
        return self._data.tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())

    def __bool__(self) -> bool:
        if self._meter._open and self.dtype != bool:
            self._meter._count("compare", 1)
        self._meter._decide()
        return bool(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise self._meter._refuse("Pickling a metered array", "Take `m.result` or `m.plain(x)`.")

    def __repr__(self) -> str:
        self._meter._leave(self._data.size)
        return repr(self._data).replace("array", "metered", 1)

    def __str__(self) -> str:
        self._meter._leave(self._data.size)
        return str(self._data)

    def __format__(self, spec: str) -> str:
        self._meter._leave(self._data.size)
        return format(self._data[()] if self._data.ndim == 0 else self._data, spec)


def _data(x: Any) -> Any:
    """The array under a metered one whose block has ended."""
    return x._data if type(x) is MeteredArray and not x._meter._open else x
