"""What NumPy writes as a loop or as a bracket, by indexing and stacking alone.

The same code serves arrays that are metered here and arrays whose numbers are elsewhere.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def apply_along_axis(
    function: Callable[..., Any], axis: int, x: Any, *args: Any, **kwargs: Any
) -> Any:
    """np.apply_along_axis: the function of every line along an axis, one after the other."""
    lines = np.moveaxis(x, axis, -1)
    places = list(np.ndindex(lines.shape[:-1]))
    found = [function(lines[place], *args, **kwargs) for place in places]
    whole = np.stack([one if hasattr(one, "ndim") else np.full_like(x[:1].ravel()[0], one)
                      for one in found]).reshape(lines.shape[:-1] + _shape(found[0]))  # fmt: skip
    inner = len(_shape(found[0]))
    for k in range(inner):  # what the function returns takes the place of the axis
        whole = np.moveaxis(whole, len(lines.shape) - 1 + k, axis % x.ndim + k)
    return whole


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(getattr(x, "shape", ()))


class Vectorize:
    """np.vectorize: a function of numbers, called for every entry."""

    def __init__(
        self, create: Callable[..., Any], function: Callable[..., Any], *args: Any, **options: Any
    ) -> None:
        self._array, self._function = functools.partial(create, "array"), function
        if args or options.keys() - {"otypes", "doc", "cache"}:
            raise NotImplementedError("np.vectorize with these options is not counted.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        arrays = np.broadcast_arrays(*(a if hasattr(a, "shape") else self._array(a) for a in args))
        shape = arrays[0].shape
        found = [self._function(*(a[i] for a in arrays), **kwargs) for i in np.ndindex(shape)]
        return self._array(found).reshape(shape)


def vectorizing(original: Any, counter: Callable[[], Any]) -> Callable[..., Any]:
    """np.vectorize, and ours where somebody counts."""
    return lambda *args, **options: (
        Vectorize(now.create, *args, **options)
        if (now := counter())
        else original(*args, **options)
    )


class Bracket:
    """np.c_ and np.r_: arrays joined as columns or end to end."""

    def __init__(self, original: Any, columns: bool, counter: Callable[[], Any]) -> None:
        self._original, self._columns, self._counter = original, columns, counter

    def __getitem__(self, key: Any) -> Any:
        if (now := self._counter()) is None:
            return self._original[key]
        parts = [self._part(p, now.create) for p in (key if type(key) is tuple else (key,))]
        return np.concatenate(parts, axis=-1 if self._columns else 0)

    def _part(self, part: Any, create: Callable[..., Any]) -> Any:
        if isinstance(part, str):
            raise NotImplementedError("np.r_ with options is not counted: use np.concatenate.")
        if isinstance(part, slice):
            step = 1 if part.step is None else part.step
            if isinstance(step, complex):
                part = create("linspace", part.start or 0, part.stop, int(abs(step)))
            else:
                part = create("arange", part.start or 0, part.stop, step)
        elif not hasattr(part, "ndim"):
            part = create("array", part)
        if part.ndim == 0:
            part = part.reshape(1)
        return part.reshape(-1, 1) if self._columns and part.ndim == 1 else part
