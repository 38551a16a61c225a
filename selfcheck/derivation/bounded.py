"""Powers and functions of mpmath that end in time, whatever the numbers are."""

from __future__ import annotations

import math
from typing import Any

LARGEST = 10**9  # an exponent beyond it is an overflow even for mpmath
# Of a number with thousands of digits before the point, they ask for pi or log(2) with as many.
HEAVY = {
    "sin", "cos", "tan", "sec", "csc", "cot", "exp", "expm1", "sinh", "cosh", "tanh", "coth",
    "gamma", "factorial", "erf", "erfc",
}  # fmt: skip


def magnitude(x: Any) -> int:
    """The power of two above a number."""
    if type(x).__name__ != "mpf":
        return math.frexp(float(abs(x)))[1]
    _, _, exponent, bits = x._mpf_
    return int(exponent + bits)


def safe_power(base: Any, exponent: Any) -> Any:
    """The power, or an OverflowError where it would take for ever."""
    if not base and exponent < 0:
        raise ZeroDivisionError
    if base and abs(exponent) > LARGEST / (1 + abs(magnitude(base))):
        raise OverflowError("the power is too large")
    return base**exponent


def safely(name: str, *args: Any) -> Any:
    """A function of mpmath, or an OverflowError where it would take for ever."""
    import mpmath

    if name in HEAVY and abs(args[0]) > 1e300:
        raise OverflowError(f"{name} of a number beyond all bounds")
    return getattr(mpmath, name)(*args)
