"""Values of expressions: computed, compared, written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .domains import Activation, Values


class Undefined(NamedTuple):
    """There is no value: in short, and in full."""

    reason: str
    trouble: str


def computed(evaluate: Callable, values: Mapping[str, Any] | Undefined) -> Any:
    """A finite real number or array; everything else is Undefined."""
    import mpmath

    if isinstance(values, Undefined):
        return values
    try:
        with np.errstate(all="ignore"):
            value = evaluate(values)
    except (ZeroDivisionError, np.linalg.LinAlgError):
        return Undefined("is not defined", "it divides by zero everywhere.")
    except Exception as trouble:
        why = f"{type(trouble).__name__}: {trouble}"
        return Undefined("cannot be computed", f"it cannot be computed ({why}).")
    if isinstance(value, mpmath.mpc):
        return Undefined("is not a real number", "it is not a real number.")
    precise = isinstance(value, mpmath.mpf)
    array = np.asarray(value)
    if not precise and array.dtype.kind not in "fiub":
        what = type(value).__name__
        return Undefined("is not a number", f"its value is no number but of the kind {what}.")
    if not (mpmath.isfinite(value) if precise else np.all(np.isfinite(array))):
        return Undefined("is not defined", "its value is not finite.")
    return value if precise else array.astype(float)


def mismatch(rounding: float, relation: str, a: Any, b: Any, slack: Any = 0) -> str | None:
    """How two values disagree: "" for not at all, None if there is nothing to compare."""
    if isinstance(a, Undefined) or isinstance(slack, Undefined):
        return None
    if isinstance(b, Undefined):
        return "undefined"
    if np.shape(_squeezed(a)) != np.shape(_squeezed(b)):
        return "shape"
    return "value" if gap(relation, a, b) > rounding * max(1, _peak(a), _peak(b)) + slack else ""


def gap(relation: str, a: Any, b: Any) -> Any:
    """How far the relation is from holding."""
    difference = _squeezed(a) - _squeezed(b) if np.ndim(a) or np.ndim(b) else a - b
    if relation in "≤≥":
        return np.max(difference if relation == "≤" else -difference, initial=-np.inf)
    return _peak(difference)


def _squeezed(value: Any) -> Any:
    """A column counts as a vector and a single entry as a number."""
    if np.size(value) == 1:
        return np.reshape(value, ())
    return np.ravel(value) if np.ndim(value) == 2 and np.shape(value)[1] == 1 else value


def _peak(value: Any) -> Any:
    return abs(value) if np.ndim(value) == 0 else np.max(np.abs(value), initial=0.0)


def shape_in_words(value: Any) -> str:
    """A number, a vector of length 3, a 2×3 matrix."""
    shape = np.shape(value)
    if len(shape) < 2:
        return f"a vector of length {shape[0]}" if shape else "a number"
    return f"a {'×'.join(map(str, shape))} matrix"


def plain(value: Any) -> Any:
    """A value as plain Python: numbers, nested lists, names of functions."""
    if isinstance(value, Values):
        return {i: plain(value(i)) for i in sorted(value.asked)}
    if isinstance(value, Undefined | Activation):
        return value[0]
    if np.ndim(value):
        return [plain(v) for v in value]
    number = float(value)
    return int(number) if abs(number) < 1e15 and number == round(number) else number


def show(value: Any) -> str:
    """A value in few characters, the same on every platform."""
    value = plain(value)
    if isinstance(value, list):
        return f"[{', '.join(map(show, value))}]"
    if isinstance(value, str) or not math.isfinite(value):
        return str(value)
    near = Fraction(value).limit_denominator(12)
    return str(near) if abs(near - value) <= 1e-12 * max(1, abs(value)) else f"{value:.4g}"


def show_limit(to: Any) -> str:
    """Where a symbol goes: a number, ∞ or -∞."""
    return show(to) if math.isfinite(to) else "∞" if to > 0 else "-∞"
