"""Unit 02: products."""

from __future__ import annotations

from math import factorial
from typing import Annotated

import numpy as np

from selfcheck import (
    Formula,
    FormulaAnswer,
    Function,
    FunctionAnswer,
    Verdict,
    cases,
    differs,
    exercise,
    right,
    show,
)

from .sums import long, short

N = Formula(n=range(1, 9))


@exercise
def next_factor(ratio: Annotated[FormulaAnswer, N]) -> Verdict:
    """Find by what n! has to be multiplied to give (n + 2)!, as a formula in n."""
    for point in N.points():
        n = int(point["n"])
        seen = factorial(n + 2) / factorial(n)
        if verdict := differs(seen, ratio(n=n), at=f"At n = {n}", what="the factor"):
            return verdict
    return right("Both factorials were computed for 8 values of n.")


@exercise
def running_products(running: Annotated[FunctionAnswer, Function()]) -> Verdict:
    """Write a function of an array x that gives x₁, x₁·x₂, x₁·x₂·x₃ and so on."""
    for (x,) in cases([(np.array([1.0, 2.0, 4.0]),)], short, long):
        answer = running.array(x, shape=x.shape)
        expected = np.array([np.prod(x[: k + 1]) for k in range(len(x))])
        at = f"With x = {show(x)}"
        if verdict := differs(expected, answer, at=at, what="the running products"):
            return verdict
    return right("The definition gave the same products on 7 arrays.")
