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
    differs,
    each,
    exercise,
    show,
)

from .sums import long, short

N = Formula(n=range(1, 9))


@exercise
@each(N.points)
def next_factor(ratio: Annotated[FormulaAnswer, N], *, n) -> Verdict | None:
    """Find by what n! has to be multiplied to give (n + 2)!, as a formula in n."""
    seen = factorial(n + 2) / factorial(n)
    return differs(seen, ratio(n=n), at=f"At n = {n}", what="the factor")


@exercise
@each([np.array([1.0, 2.0, 4.0])], short, long)
def running_products(running: Annotated[FunctionAnswer, Function()], *, x) -> Verdict | None:
    """Write a function of an array x that gives x₁, x₁·x₂, x₁·x₂·x₃ and so on."""
    answer = running.array(x, shape=x.shape)
    expected = np.array([np.prod(x[: k + 1]) for k in range(len(x))])
    return differs(expected, answer, at=f"With x = {show(x)}", what="the running products")
