"""Values as arrays of numbers, and whether two of them are equal up to rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .display import show, type_in_words
from .refusals import NotAttempted, Unreadable

TOLERANCE = 1e-6  # relative: far above rounding, far below any known wrong answer
SINGLE = 1e-4  # the same for numbers of 32 bits, where it is known already that they are right
ENTRY = 1e-5  # the same for each number by itself
FLOOR = 1e-12  # absolute: what rounding leaves where the exact value is 0
_FLOATS = (float, np.float64)


def real_array(value: Any) -> np.ndarray | None:
    """A float array of its own, or None for what is not made of real numbers."""
    try:
        array = np.array(value)
        if array.dtype.kind == "c" and not array.imag.any():
            array = array.real
        if array.dtype.kind not in "biufO":
            return None
        if array.dtype == object and any(v is None for v in array.flat):
            return None
        return np.array(array, dtype=float)
    except (NotAttempted, KeyboardInterrupt):
        raise
    except BaseException:  # ragged lists, symbols, integers beyond floating point, hostile objects
        return None


def as_array(answer: Any, shape: tuple[int, ...], name: str, finite: bool = True) -> np.ndarray:
    """A float array of this shape, copied; anything else is Unreadable with a sentence."""
    array = real_array(answer)
    if array is None:
        raise Unreadable(f"{name} should be an array of real numbers, not {type_in_words(answer)}.")
    if array.shape != tuple(shape):
        expected = f"shape {tuple(shape)}" if shape else "a single number"
        raise Unreadable(f"{name} has shape {array.shape}; {expected} was expected.")
    if finite and not np.isfinite(array).all():
        raise Unreadable(f"{name} contains {show(array[~np.isfinite(array)][0])}.")
    return array


def close(a: Any, b: Any, tolerance: float = TOLERANCE) -> bool:
    """Equal up to rounding, relative to the largest entry of the two; never if not finite."""
    if type(a) in _FLOATS and type(b) in _FLOATS:  # most are: the same, and ten times as fast
        finite = math.isfinite(a) and math.isfinite(b)
        return finite and bool(abs(a - b) <= tolerance * max(abs(a), abs(b)) + FLOOR)
    a, b = real_array(a), real_array(b)
    if a is None or b is None or a.shape != b.shape:
        return False
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    scale = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    with np.errstate(over="ignore"):
        return bool((np.abs(a - b) <= tolerance * scale + FLOOR).all())


def last_digit(value: float, digits: int = 6) -> float:
    """What one more in the last of so many digits comes to; more decimals than that count not."""
    size = math.floor(math.log10(abs(value))) if value else -1
    return float(10.0 ** (max(size, -1) + 1 - digits))


def alike(a: Any, b: Any, tolerance: float = TOLERANCE) -> bool:
    """`close`, part by part where a result is a tuple, list or dictionary of several arrays."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key], tolerance) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list) and real_array(a) is None:
        return len(a) == len(b) and all(alike(*pair, tolerance) for pair in zip(a, b, strict=True))
    return close(a, b, tolerance)


def same_entries(a: Any, b: Any, or_nowhere: bool = False) -> bool:
    """The same finite numbers in the same places, each for itself; whole numbers exactly.

    What is finite nowhere is the same only `or_nowhere`, and infinity is not nan. Results of
    several parts are the same part by part.
    """
    x, y = real_array(a), real_array(b)
    if x is None or y is None:
        if isinstance(a, tuple | list) and isinstance(b, tuple | list) and len(a) == len(b):
            return all(same_entries(*pair, or_nowhere) for pair in zip(a, b, strict=True))
        return x is y and alike(a, b)
    finite = np.isfinite(x)
    if x.shape != y.shape or not np.array_equal(finite, np.isfinite(y)):
        return False
    if not finite.any():
        return or_nowhere and np.array_equal(np.isnan(x), np.isnan(y))
    x, y = x[finite], y[finite]
    larger = np.maximum(np.abs(x), np.abs(y))
    if (x == np.floor(x)).all() and (y == np.floor(y)).all():
        return bool((x == y).all())
    return bool((np.abs(x - y) <= ENTRY * larger + TOLERANCE * ENTRY * larger.max() + FLOOR).all())


def alike_where_finite(a: Any, b: Any, or_nowhere: bool = False) -> bool:
    """`alike`, or arrays that are finite in the same places, at least one, and close there."""
    if alike(a, b):
        return True
    a, b = real_array(a), real_array(b)
    if a is None or b is None or a.shape != b.shape:
        return False
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)) or not (finite.any() or or_nowhere):
        return False
    return close(a[finite], b[finite])
