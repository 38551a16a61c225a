"""Functions of vectors and matrices that lines may use; a course adds its own.

`array_function("name", value, shape)` makes one known: `value` takes the arrays (columns are n×1)
and may be given the word that stands as an index, as in f_{row}; `shape` says what comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Shape = tuple[Any, Any] | None  # rows and columns; None for a number


class ArrayFunction(NamedTuple):
    """What a function does to arrays, and the shape that comes out."""

    value: Callable[..., Any]
    shape: Callable[[Shape], Shape]
    words: tuple[str, ...] = ()  # that may stand as its index


ARRAY_FUNCTIONS: dict[str, ArrayFunction] = {}


def array_function(
    name: str,
    value: Callable[..., Any],
    shape: str | Callable[[Shape], Shape] = "same",
    words: tuple[str, ...] = (),
) -> None:
    """Make a function known to all derivations; `shape` is "same", "number" or a rule."""
    rules: dict[str, Callable[[Shape], Shape]] = {"same": lambda s: s, "number": lambda s: None}
    rule = rules[shape] if isinstance(shape, str) else shape
    ARRAY_FUNCTIONS[name] = ArrayFunction(value, rule, words)


def _diagonal(x: Any) -> Any:
    if np.shape(x)[1] == 1:
        full = np.zeros((len(x), len(x)), dtype=x.dtype)
        np.fill_diagonal(full, x[:, 0])
        return full
    return np.reshape(np.diagonal(x), (-1, 1))


def _of_diagonal(shape: Shape) -> Shape:
    if shape is None:
        raise ValueError
    return (shape[0], shape[0]) if shape[1] == 1 else (shape[0], 1)


array_function("diag", _diagonal, _of_diagonal)
for _name in ("tr", "Tr", "trace"):
    array_function(_name, np.trace, "number")
array_function("det", lambda x: np.linalg.det(x), "number")
