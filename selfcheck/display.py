"""How values, functions and errors look in a sentence for students."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .formula import pretty, sympy_kind

MOST_SHOWN = 24  # numbers of an array


def show(value: Any, digits: int = 4, depth: int = 3) -> str:
    """A value in a sentence: few digits, no dtype, arrays on one line."""
    kind = type(value)
    if issubclass(kind, np.ndarray) and value.ndim == 0:
        return show(value.item(), digits)
    if issubclass(kind, bool | np.bool_ | complex) or value is None:
        return str(value)
    if issubclass(kind, str):
        return repr(value if len(value) <= 60 else f"{value[:57]}…")
    if issubclass(kind, int | np.integer) and abs(value) < 10**15:
        return str(int(value))
    if issubclass(kind, float | np.floating | int):
        return _show_float(value, digits)
    if issubclass(kind, np.ndarray | list | tuple):
        return _show_many(value, digits, depth)
    if sympy_kind(value) and len(str(value)) <= 60:
        return str(value)
    return name_of(value, "a function") if callable(value) else kind.__name__


def _show_float(value: Any, digits: int) -> str:
    try:
        value = float(value) + 0.0  # no −0
    except OverflowError:
        return "a huge number"
    whole = math.isfinite(value) and value == int(value) and abs(value) < 1e6
    return str(int(value)) if whole else f"{value:.{digits}g}"


def _show_many(values: Any, digits: int, depth: int, most: int = MOST_SHOWN) -> str:
    if isinstance(values, np.ndarray) and values.size > most:
        return f"an array of shape {values.shape}"
    if len(values) > most or not depth:
        return f"a {type(values).__name__} of {len(values)}"
    return "[" + ", ".join(show(value, digits, depth - 1) for value in values) + "]"


def show_apart(a: Any, b: Any) -> tuple[str, str]:
    """Both values with as many digits as it takes to tell them apart: 0.3333 and 0.33333333."""
    shown = [(show(a, digits), show(b, digits)) for digits in (4, 6, 9, 17)]
    return next((pair for pair in shown if pair[0] != pair[1]), shown[0])


def show_at(point: Mapping[str, Any]) -> str:
    """`β = 0.5, t = 3`: a sample point in a sentence."""
    return ", ".join(f"{pretty(name)} = {show(value)}" for name, value in point.items())


def name_of(function: Any, otherwise: str) -> str:
    """A function's own name; a lambda and whatever has no plain name are called otherwise."""
    try:
        name = function.__name__
        return name if type(name) is str and name.isidentifier() else otherwise
    except Exception:
        return otherwise


def in_words(error: BaseException) -> str:
    """`ZeroDivisionError: division by zero`, on one line and not too long."""
    try:
        says = " ".join(str(error).split())
    except Exception:
        says = ""
    says = says if len(says) <= 200 else f"{says[:199]}…"
    return f"{type(error).__name__}: {says}".removesuffix(": ")


def type_in_words(answer: Any) -> str:
    if answer is None:
        return "None (is a return missing?)"
    kind = type(answer)
    if issubclass(kind, Iterator):
        return f"a {kind.__name__} (write `list(...)` around it)"
    if issubclass(kind, np.ndarray):
        return "an array of " + ("complex numbers" if answer.dtype.kind == "c" else "other things")
    if issubclass(kind, list | tuple):
        return f"a {kind.__name__} with other things in it or with rows of unequal length"
    return f"an object of type {kind.__name__}"
