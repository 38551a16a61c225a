"""Unit 07: sister tasks for practice."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfcheck.practice import solved, tenths, whole

from . import lookup as check

SHARP = [0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
POINTS: dict[str, Any] = {
    "X": lambda rng: whole(rng, 3, 2),
    "Y": lambda rng: whole(rng, int(rng.integers(1, 3)), 2),
    "M": SHARP,
}

check.lookup.sister(
    r"Keys lie at the rows of $X = <X>$, and a key at $x$ weighs in proportion to $e^{-M^2\lVert "
    r"y - x\rVert^2}$, $M = <M>$. Which weights do the "
    r"keys have for a query at each row of $Y = <Y>$? Three digits are enough.",
    lambda X, Y, M: check.gaussian_weights(Y, X, M),
    **POINTS,
)
check.leak.sister(
    r"$l = <l>$ keys; one is nearest to the query, and all others are farther by $\Delta = "
    r"<Delta>$ in squared distance. With $M = <M>$, which share of "
    r"the weight is off target, exactly? Three digits are enough.",
    lambda l, M, Delta: check.off_target(M, check.equidistant(l, Delta)),  # noqa: E741
    l=range(2, 60),
    M=tenths(5, 25),
    Delta=tenths(2, 20),
)
check.sharpness.sister(
    r"$l = <l>$ keys; one is nearest to the query, and all others are farther by $\Delta = "
    r"<Delta>$ in squared distance. At which $M$ is exactly <epsilon> of "
    r"the weight off target? Three digits are enough.",
    lambda l, Delta, epsilon: solved(  # noqa: E741
        lambda M: check.off_target(M, check.equidistant(l, Delta)) - epsilon, 0.0, 100.0
    ),
    l=range(3, 60),
    Delta=tenths(2, 20),
    epsilon=[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
)
check.value_matrix.sister(
    r"Tokens are rows $(1, p_1, p_2, \lVert p\rVert^2, a)$, and attention finds the one nearest "
    r"to a query. With which $W_v$ (a column of five numbers) does "
    r"it return $<c_1> + <c_2>\,p_<k> + <c_3>\,a$ of that token?",
    lambda c_1, c_2, c_3, k: np.array([[c_1], [c_2 * (k == 1)], [c_2 * (k == 2)], [0], [c_3]]),
    c_1=range(2, 10),
    c_2=range(2, 10),
    c_3=range(2, 10),
    k=[1, 2],
)


def _measured(rng: np.random.Generator) -> dict:
    x, y = np.sort(rng.permutation(9)[:3] - 4.0), whole(rng, 3, largest=9)
    return {"x": x, "y": y, "M": float(rng.choice(SHARP)), "x_new": whole(rng, 2, largest=8) / 2}


check.regression.sister(
    r"Kernel regression: measurements $y = <y>$ at $x = <x>$, weights in proportion to "
    r"$e^{-M^2(x_{new} - x_j)^2}$ with $M = <M>$. What are the means at "
    r"$x_{new} = <x_new>$? Three digits are enough.",
    lambda x, y, M, x_new: check.kernel_estimates(x_new, x, y, M),
    _measured,
)
check.or_nothing.sister(
    r"A lookup has keys at the rows of $X = <X>$ with the values $a = <a>$, and a default $c = "
    r"<c>$ that weighs as a key at the distance $r = <r>$ would; "
    r"weights are in proportion to $e^{-M^2\lVert y - x\rVert^2}$, $M = <M>$. What does it return "
    r"at the rows of $Y = <Y>$? Three digits are enough.",
    lambda Y, X, a, M, r, c: check.near_or_default(Y, X, a, M, r, c),
    **POINTS,
    a=lambda rng: whole(rng, 3, largest=9),
    r=tenths(5, 30),
    c=range(-9, 10),
)
check.own_shelf.sister(
    r"Records lie at <places>, and a query at <query>; weights are in proportion to "
    r"$e^{-M^2(y-x)^2}$. At which $M$ is exactly $\varepsilon = <epsilon>$ of the "
    r"weight off the nearest record (`own_sharpness`)? Now the first record is stored <first> "
    r"times and the second <second> times, and $M = <M>$: at which place "
    r"between the two weigh all copies of the first as much as all of the second (`own_border`)? "
    r"Give six digits.",
    needs=lambda n: {
        "places": ", ".join(f"{x:g}" for x in n.places),
        "query": n.query,
        "epsilon": n.epsilon,
        "first": n.copies[0],
        "second": n.copies[1],
        "M": n.M,
    },
)
