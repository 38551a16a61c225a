"""Unit 01: sums."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from selfcheck import (
    Formula,
    FormulaAnswer,
    Function,
    FunctionAnswer,
    StudentId,
    Verdict,
    differs,
    each,
    exercise,
    right,
    show,
)
from selfcheck.kinds import RealNumber
from selfcheck.sampling import numbers, sizes

from ..variants import sums

N = Formula(n=range(1, 13))


# -- 1.1 ------------------------------------------------------------------------------------------


@exercise
@each(N.points)
def even_sum(total: Annotated[FormulaAnswer, N], *, n) -> Verdict | None:
    """Find the sum of the first n even numbers, as a formula in n."""
    seen = sum(2 * i for i in range(1, n + 1))
    at = f"At n = {n}, where the even numbers run from 2 to {2 * n}"
    return differs(seen, total(n=n), at=at, what="their sum")


# -- 1.2 ------------------------------------------------------------------------------------------


def short(rng: np.random.Generator) -> np.ndarray:
    """An array of 1 to 16 numbers."""
    return numbers(rng, *sizes(rng, 1, high=16))


def long(rng: np.random.Generator) -> np.ndarray:
    """An array of 17 to 40 numbers."""
    return numbers(rng, *sizes(rng, 1, low=17))


@exercise
@each([np.array([1.0, 2.0, 4.0])], short, long)
def running_sums(running: Annotated[FunctionAnswer, Function()], *, x) -> Verdict | None:
    """Write a function of an array x that gives x₁, x₁ + x₂, x₁ + x₂ + x₃ and so on."""
    answer = running.array(x, shape=x.shape)
    expected = np.array([x[: k + 1].sum() for k in range(len(x))])
    return differs(expected, answer, at=f"With x = {show(x)}", what="the running sums")


# -- 1.3 ------------------------------------------------------------------------------------------


@exercise(numbers=sums)
def own_sums(student: StudentId, total: RealNumber, mean: RealNumber) -> None:
    """Find the sum and the mean of your four numbers."""


@own_sums.part("Sum")
def _total(student: str, total: float) -> Verdict:
    seen = sum(sums(student).numbers)
    return differs(seen, total, at="With your numbers", what="the sum") or right()


@own_sums.part("Mean")
def _mean(student: str, mean: float) -> Verdict:
    seen = np.mean(sums(student).numbers)
    return differs(seen, mean, at="With your numbers", what="the mean") or right()


# -- 1.4 ------------------------------------------------------------------------------------------


@exercise
@each(N.points)
def square_sum(squares: Annotated[FormulaAnswer, N], *, n) -> Verdict | None:
    """Find 1² + 2² + … + n² as a formula in n."""
    seen = sum(i * i for i in range(1, n + 1))
    return differs(seen, squares(n=n), at=f"At n = {n}", what="the sum of the squares")
