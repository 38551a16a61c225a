"""Unit 12: Train it, and let it write."""

from __future__ import annotations

from typing import Annotated

from ..answers import Formula, FormulaAnswer, close, show
from ..exercise import Verdict, exercise, right, wrong

N = Formula(n=range(1, 13))


@exercise("12.1", points=2)
def even_sum(total: Annotated[FormulaAnswer, N]) -> Verdict:
    """Find the sum of the first n even numbers, as a formula in n."""
    for point in N.points():
        n = int(point["n"])
        seen = sum(2 * i for i in range(1, n + 1))
        if not close(total(n=n), seen):
            return wrong(
                f"At n = {n} the even numbers from 2 to {2 * n} add up to {seen}; your formula "
                f"gives {show(total(n=n))}."
            )
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
