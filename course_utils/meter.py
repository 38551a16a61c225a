"""The meter, as notebooks import it: NumPy code runs unchanged and says what it cost."""

from selfcheck.meter import (
    Growth,
    Meter,
    NotCounted,
    NotPolynomial,
    difference,
    growth,
    measure,
    meter,
    polynomial,
)

__all__ = [
    "Growth",
    "Meter",
    "NotCounted",
    "NotPolynomial",
    "difference",
    "growth",
    "measure",
    "meter",
    "polynomial",
]
