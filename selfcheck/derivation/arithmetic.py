"""Values of expressions: computed, compared, written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..formula import FormulaError
from ..function_with_slope import Activation
from .clock import OutOfTime
from .domains import DrawnRandom, DrawnSequence, SomeFunction
from .precise import Digits

FEW = 1e-10  # relative: an imaginary part, or what floating point leaves of a difference


class Undefined(NamedTuple):
    """There is no value: in short, in full, and whether that is sure (or perhaps an overflow)."""

    reason: str
    trouble: str
    sure: bool = True


UNSETTLED = "cannot be computed closely enough"  # which refutes nothing
UNTRIED = Undefined("was not tried", "it takes too long to compute.", sure=False)


def computed(evaluate: Callable[..., Any], values: Mapping[str, Any] | Undefined) -> Any:
    """A finite real number or array; everything else is Undefined."""
    if isinstance(values, Undefined):
        return values
    try:
        with np.errstate(all="ignore"):
            return _real(evaluate(values))
    except ZeroDivisionError:
        return Undefined("is not defined", "it divides by zero everywhere.")
    except np.linalg.LinAlgError:  # perhaps for lack of digits
        return Undefined("is not defined", "a matrix in it has no inverse.", sure=False)
    except ArithmeticError as trouble:  # an overflow, a sum or an integral that does not settle
        return Undefined(UNSETTLED, f"it cannot be computed ({trouble}).", sure=False)
    except OutOfTime:
        return UNTRIED
    except FormulaError as trouble:
        return Undefined("cannot be computed", str(trouble), sure=False)
    except Exception as trouble:
        why = f"{type(trouble).__name__}: {trouble}"
        return Undefined("cannot be computed", f"it cannot be computed ({why}).", sure=False)


def _real(value: Any) -> Any:
    """A number or an array of numbers without imaginary parts, or Undefined."""
    import mpmath

    if isinstance(value, Digits):
        value = value.x
    if isinstance(value, mpmath.mpc | mpmath.mpf):
        return _finite(value, mpmath)
    array = np.asarray(value)
    if array.dtype == object:
        numbers = [_finite(getattr(x, "x", x), mpmath) for x in array.flat]
        wrong = [x for x in numbers if isinstance(x, Undefined)]
        if wrong or not all(isinstance(x, mpmath.mpf) for x in numbers):
            return wrong[0] if wrong else _no_number(array)
        filled = np.empty(array.shape, dtype=object)
        for place, number in zip(np.ndindex(array.shape), numbers, strict=True):
            filled[place] = number
        return filled if filled.ndim else filled[()]
    if array.dtype.kind == "c":
        if np.max(np.abs(array.imag), initial=0) > FEW * np.max(np.abs(array), initial=0):
            return Undefined("is not a real number", "it is not a real number.", sure=False)
        array = array.real
    if array.dtype.kind not in "fiub":
        return _no_number(value)
    if not np.all(np.isfinite(array)):
        return Undefined("is not defined", "its value is not finite.", sure=False)
    return array.astype(float)


def _finite(x: Any, mpmath: Any) -> Any:
    if isinstance(x, int | float):
        x = mpmath.mpf(x)
    if isinstance(x, mpmath.mpc):
        if abs(x.imag) > mpmath.mpf(10) ** (-mpmath.mp.dps // 2) * abs(x):
            return Undefined("is not a real number", "it is not a real number.")
        x = x.real
    if isinstance(x, mpmath.mpf) and not mpmath.isfinite(x):
        return Undefined("is not defined", "its value is not finite.")
    return x


def _no_number(value: Any) -> Undefined:
    what = type(value).__name__
    return Undefined("is not a number", f"its value is no number but of the kind {what}.")


def mismatch(rounding: float, relation: str, a: Any, b: Any, slack: Any = 0) -> str | None:
    """How two values seem to disagree: "" for not at all, None if there is nothing to compare."""
    if isinstance(a, Undefined) or isinstance(slack, Undefined):
        return None
    if isinstance(b, Undefined):
        return None if b is UNTRIED or b.reason == UNSETTLED else "undefined"
    if not slack and relation not in "≤≥<>" and _are_near(a, b, rounding):
        return ""
    arrays = (_dimensions(a) or _dimensions(b)) and not (_is_nothing(a) or _is_nothing(b))
    if arrays and np.shape(squeezed(a)) != np.shape(squeezed(b)):  # but x − x = 0 is well
        return "shape"
    beyond = gap(relation, a, b) - slack if slack else gap(relation, a, b)
    size = max(peak(a), peak(b))
    if relation not in "<>" and _is_less_by_far(beyond, size, rounding):
        return ""
    size = rounding * size
    fails = beyond >= -size if relation in "<>" else beyond > size
    return "value" if fails else ""


def _is_nothing(x: Any) -> bool:
    return not _dimensions(x) and x == 0


def _are_near(a: Any, b: Any, rounding: float) -> bool:
    """Whether two numbers of mpmath, neither of them 0, surely differ by less than rounding."""
    if (
        not rounding
        or type(a).__name__ != "mpf"
        or type(b) is not type(a)
        or not (a._mpf_[1] and b._mpf_[1])
    ):
        return False
    x = a - b
    return not x or _power(x) < max(_power(a), _power(b)) + math.frexp(rounding)[1] - 2


def _is_less_by_far(x: Any, size: Any, rounding: float) -> bool:
    """Whether x < size · rounding, told by the powers of two alone; False where they are near."""
    if not rounding or {type(x).__name__, type(size).__name__} != {"mpf"}:
        return False
    return not x or _power(x) < _power(size) + math.frexp(rounding)[1] - 2


def gap(relation: str, a: Any, b: Any) -> Any:
    """How far the relation is from holding."""
    arrays = _dimensions(a) or _dimensions(b)
    difference = squeezed(a) - squeezed(b) if arrays else a - b
    if relation in "≤≥<>":
        signed = difference if relation in "≤<" else -difference
        return signed if not _dimensions(signed) else max(np.ravel(signed), default=-np.inf)
    return peak(difference)


def _dimensions(value: Any) -> int:
    """As np.ndim, which asks longer what a number is."""
    return value.ndim if isinstance(value, np.ndarray) else 0


def squeezed(value: Any) -> Any:
    """A column counts as a vector and a single entry as a number."""
    if np.size(value) == 1:
        return value if np.ndim(value) == 0 else np.ravel(value)[0]
    return np.ravel(value) if np.ndim(value) == 2 and np.shape(value)[1] == 1 else value


def peak(value: Any) -> Any:
    """The largest absolute value."""
    if not _dimensions(value):
        return abs(value)
    if value.dtype == object:
        return max(np.abs(value).flat, default=0.0)
    return np.max(np.abs(value), initial=0.0)


def shape_in_words(value: Any) -> str:
    """A number, a vector of length 3, a 2×3 matrix."""
    shape = np.shape(value)
    if len(shape) < 2:
        return f"a vector of length {shape[0]}" if shape else "a number"
    return f"a {'×'.join(map(str, shape))} matrix"


def plain(value: Any) -> Any:
    """A value as plain Python: numbers, nested lists, names of functions."""
    if isinstance(value, DrawnSequence):
        return {i: plain(value(i)) for i in sorted(value.asked)}
    if isinstance(value, Undefined | Activation):
        return value[0]
    if isinstance(value, DrawnRandom | SomeFunction):
        return str(value)
    if np.ndim(value):
        return [plain(v) for v in value]
    number = float(value)
    return int(number) if abs(number) < 1e15 and number == round(number) else number


def show(value: Any, digits: int = 4) -> str:
    """A value in few characters, the same on every platform."""
    if type(value).__name__ == "mpf" and value and not -300 < math.log10(2) * _power(value) < 300:
        return str(value.context.nstr(value, digits))  # beyond what a float can hold
    value = plain(value)
    if isinstance(value, list):
        return f"[{', '.join(show(v, digits) for v in value)}]"
    if isinstance(value, str) or not math.isfinite(value):
        return str(value)
    near = Fraction(value).limit_denominator(12)
    if abs(near - value) <= 1e-12 * abs(value) < 1000:
        return str(near)
    return f"{value:.{digits}g}"


def _power(x: Any) -> int:
    """The power of two of a number of mpmath."""
    _, _, exponent, bits = x._mpf_
    return int(exponent + bits)


def show_apart(a: Any, b: Any) -> tuple[str, str]:
    """Two values with as many digits as it takes to see that they differ."""
    for digits in (4, 6, 9, 12, 17):
        shown = show(a, digits), show(b, digits)
        if shown[0] != shown[1]:
            return shown
    if np.ndim(a) or np.ndim(b) or isinstance(plain(a), str) or a == b:
        return show(a), show(b)
    import mpmath

    with mpmath.workdps(450):
        a, b = (mpmath.mpf(x.item() if isinstance(x, np.ndarray) else x) for x in (a, b))
        for digits in (30, 60, 200, 400):
            shown = mpmath.nstr(a, digits), mpmath.nstr(b, digits)
            if shown[0] != shown[1]:
                break
    return shown


def show_limit(to: Any) -> str:
    """Where a symbol goes: a number, ∞ or -∞."""
    return show(to) if math.isfinite(to) else "∞" if to > 0 else "-∞"
