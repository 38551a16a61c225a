"""Θ: do two formulas grow alike, whichever of their letters is the largest?

Along n = s^a, d = s^b, … a sum of powers grows as one power of s, that of the term which leads
there. Two formulas have the same Θ if these powers agree along every such path: n = d, n = d²,
n = √d and all others of small exponents. A logarithm shows as a part of a power.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from .verdicts import Verdict, right, wrong

START, END = 1e6, 1e9  # of s: lower terms have gone, and no power overflows
EXPONENTS = (0, 1, 2)
SAME = 0.01  # a power and a half are further apart, and so is a logarithm

Path = dict[str, int]


def paths(letters: Sequence[str]) -> Iterator[Path]:
    """Exponents of s for the letters: one after the other alone, then all together."""
    every = itertools.product(EXPONENTS, repeat=len(letters))
    found = [path for path in every if any(path) and math.gcd(*path) == 1]
    for path in sorted(found, key=lambda p: (sum(map(bool, p)), sum(p), p)):
        yield dict(zip(letters, path, strict=True))


def power(formula: Callable[..., float], path: Path) -> float:
    """With which power of s it grows along a path; nan if it is not positive there."""
    first, last = (float(formula(**{n: s**a for n, a in path.items()})) for s in (START, END))
    if not (0 < first < math.inf and 0 < last < math.inf):
        return math.nan
    return (math.log(last) - math.log(first)) / (math.log(END) - math.log(START))


def grows_otherwise(
    yours: Callable[..., float], truth: Callable[..., float], letters: Sequence[str]
) -> Verdict | None:
    """The refutation by the first path along which the powers differ; None if there is none."""
    for path in paths(letters):
        mine, true = power(yours, path), power(truth, path)
        if abs(mine - true) <= SAME:
            continue
        at = f"Where {_in_words(path)}"
        if math.isnan(mine):
            return wrong(f"{at}, your formula is not positive for large s.", at=at, yours=mine)
        says = f"your formula grows as {_power(mine)}, and what is asked for as {_power(true)}."
        return wrong(f"{at}, {says}", at=at, yours=round(mine, 2))
    return None


def growth_verdict(
    truth: Callable[..., float], yours: Callable[..., float], letters: Iterable[str]
) -> Verdict:
    """Right if it grows as the truth does along every path."""
    return grows_otherwise(yours, truth, [*letters]) or right()


def _in_words(path: Path) -> str:
    moving = [f"{name} = {_power(a)}" for name, a in path.items() if a]
    still = [name for name, a in path.items() if not a]
    return " and ".join([", ".join(moving), *([f"{', '.join(still)} = 1"] if still else [])])


def _power(exponent: float) -> str:
    near = round(exponent)
    if abs(exponent - near) > SAME:
        return f"s^{exponent:.2f}"
    return {0: "a constant", 1: "s"}.get(near, f"s^{near}")
