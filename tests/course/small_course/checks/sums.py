"""Unit 01: sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from selfcheck import (
    Formula,
    FormulaAnswer,
    Function,
    FunctionAnswer,
    StudentId,
    Verdict,
    cases,
    differs,
    exercise,
    right,
    show,
)
from selfcheck.compare import close
from selfcheck.kinds import RealNumber
from selfcheck.sampling import numbers, sizes

from ..variants import Sums, sums

N = Formula(n=range(1, 13))


# -- 1.1 ------------------------------------------------------------------------------------------


@exercise
def even_sum(total: Annotated[FormulaAnswer, N]) -> Verdict:
    """Find the sum of the first n even numbers, as a formula in n."""
    for point in N.points():
        n = int(point["n"])
        seen = sum(2 * i for i in range(1, n + 1))
        at = f"At n = {n}, where the even numbers run from 2 to {2 * n}"
        if verdict := differs(seen, total(n=n), at=at, what="their sum"):
            return verdict
    return right("The even numbers were added for 12 values of n and gave your formula.")


even_sum.add_hints(
    "Take the factor 2 out of every term. Which sum is left?",
    "1 + 2 + … + n is n(n + 1)/2.",
)

even_sum.mistake(
    "the factor 2 lost",
    "That is 1 + 2 + … + n. Every even number is twice as large.",
    example=("n*(n + 1)/2",),
)
even_sum.mistake(
    "one number too few",
    "The last even number is 2n, not 2(n − 1).",
    example=("n*(n - 1)",),
)


# -- 1.2 ------------------------------------------------------------------------------------------


def short(rng: np.random.Generator) -> tuple[np.ndarray]:
    """An array of 1 to 16 numbers."""
    return (numbers(rng, *sizes(rng, 1, high=16)),)


def long(rng: np.random.Generator) -> tuple[np.ndarray]:
    """An array of 17 to 40 numbers."""
    return (numbers(rng, *sizes(rng, 1, low=17)),)


@exercise
def running_sums(running: Annotated[FunctionAnswer, Function()]) -> Verdict:
    """Write a function of an array x that gives x₁, x₁ + x₂, x₁ + x₂ + x₃ and so on."""
    for (x,) in cases([(np.array([1.0, 2.0, 4.0]),)], short, long):
        answer = running.array(x, shape=x.shape)
        expected = np.array([x[: k + 1].sum() for k in range(len(x))])
        if verdict := differs(expected, answer, at=f"With x = {show(x)}", what="the running sums"):
            return verdict
    return right("The definition gave the same sums on 7 arrays.")


running_sums.add_hints(
    "How does each sum follow from the one before it?",
    "Begin with 0 and add one entry after the other; keep every sum.",
)
running_sums.forbid("sums.running_sums")


@running_sums.mistake("the last entry left out", "Sum k contains x_k; yours stops before it.")
def _before(x):
    return np.cumsum(x) - x


# -- 1.3 ------------------------------------------------------------------------------------------


@exercise(numbers=sums)
def own_sums(student: StudentId, total: RealNumber, mean: RealNumber) -> Verdict:
    """Find the sum and the mean of your four numbers."""
    return right("Your numbers were added, and their mean was taken.")


@own_sums.part("Sum")
def _total(student: str, total: float) -> Verdict:
    seen = sum(sums(student).numbers)
    return differs(seen, total, at="With your numbers", what="the sum") or right()


@own_sums.part("Mean")
def _mean(student: str, mean: float) -> Verdict:
    seen = np.mean(sums(student).numbers)
    return differs(seen, mean, at="With your numbers", what="the mean") or right()


own_sums.add_hints(
    "Add them in any order.",
    "The mean is the sum, divided by how many numbers there are.",
)


def _computed(slip: Callable[[Sums], float]) -> dict[str, Any]:
    """A mistake that can be computed: known with every student's numbers."""
    return {
        "example": (0, slip(sums(0))),
        "when": lambda student, answer: close(answer, slip(sums(student))),
    }


own_sums.mistake(
    "the last number left out",
    "There are four numbers; you added three.",
    part="Sum",
    **_computed(lambda own: sum(own.numbers[:-1])),
)
own_sums.mistake(
    "divided by 2",
    "There are four numbers, so divide by 4.",
    part="Mean",
    **_computed(lambda own: sum(own.numbers) / 2),
)


# -- 1.4 ------------------------------------------------------------------------------------------


@exercise
def square_sum(squares: Annotated[FormulaAnswer, N]) -> Verdict:
    """Find 1² + 2² + … + n² as a formula in n."""
    for point in N.points():
        n = int(point["n"])
        seen = sum(i * i for i in range(1, n + 1))
        if verdict := differs(seen, squares(n=n), at=f"At n = {n}", what="the sum of the squares"):
            return verdict
    return right("The squares were added for 12 values of n and gave your formula.")


square_sum.add_hints(
    "It is a polynomial of degree 3 without a constant. Which values do you know?",
    "Divide it by 1 + 2 + … + n: what is left is a straight line in n.",
)

square_sum.mistake(
    "the square of the sum",
    "Square first, then add: (1 + 2)² is 9, and 1² + 2² is 5.",
    example=("(n*(n + 1)/2)**2",),
)
