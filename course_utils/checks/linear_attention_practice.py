"""Unit 08: sister tasks for practice."""

from __future__ import annotations

import numpy as np

from selfcheck.practice import solved, tenths, whole

from ..attention import elu_plus_one, softmax
from . import linear_attention as check

THREE = r" What comes out? Three digits are enough."
ELU = (
    r"With $\varphi = \operatorname{elu} + 1$ (so $\varphi(x) = x + 1$ for $x \ge 0$ and $e^x$ "
    r"below), "
)

check.separable.sister(
    r"Separable attention has the weights "
    r"$\operatorname{softmax}_{row}(Q)\operatorname{softmax}_{col}(K)^\top$ with $Q = <Q>$ and $K "
    r"= <K>$. Each key gets the "
    r"mean of the queries' $U = <U>$, weighed by what they gave to it." + THREE,
    check.looked_at_by_definition,
    Q="nd",
    K="nd",
    U="nl",
)
check.normalized.sister(
    r"$A = \exp(<c>\,QK^\top)$ with $Q = <Q>$, $K = <K>$. Every column of $A$ is divided by its "
    r"sum, then every row of the result by its own, and that is "
    r"multiplied by $V = <V>$." + THREE,
    lambda Q, K, V, c: check.slots_by_definition(c * Q, K, V),
    Q="nd",
    K="nd",
    V="nl",
    c=tenths(1, 9),
)


def _scores(n: int, k: int, d: int, H: int, B: int) -> dict:
    A = np.exp(np.zeros((n, d)) @ np.zeros((k, d)).T)
    return {"rows": A.shape[0], "columns": A.shape[1], "numbers": B * H * A.size}


check.shape_of_scores.sister(
    r"Queries are $<n> \times <d>$ and keys $<k> \times <d>$. How many rows and columns has $A = "
    r"\exp(QK^\top)$, and how many `numbers` are in all such $A$ of <H> "
    r"heads for a batch of <B> texts?",
    _scores,
    n=range(2, 100),
    k=range(2, 100),
    d=range(2, 65),
    H=range(2, 9),
    B=range(2, 9),
)
check.negative.sister(
    r"Features are $\varphi(x) = (x,\, <c>\,x^2)$, and $x = <x>$. At which $y$ is "
    r"$\varphi(x)^\top\varphi(y)$ `least`, and how large is it there (`value`)? Three "
    r"digits are enough.",
    lambda x, c: (lambda y: {"least": y, "value": x * y + c * c * x * x * y * y})(
        solved(lambda y: x + 2 * c * c * x * x * y, -1e4, 1e4)
    ),
    x=tenths(2, 50),
    c=tenths(2, 20),
)
check.linear.sister(
    ELU + r"each token sees all other tokens, with the similarity $\varphi(q)^\top\varphi(k)$: $Q "
    r"= <Q>$, $K = <K>$, $V = <V>$." + THREE,
    lambda Q, K, V: check.others_by_definition(Q, K, V, elu_plus_one),
    Q="nd",
    K="nd",
    V="nl",
)


def _leading(n: int, m: int, d: int, H: int) -> int:
    most = check.NEAR
    each = round(check._counted(n=most, m=most, d=most) / most**3)
    return each * n * m * d * H


check.cost.sister(
    r"Linear attention from $\varphi(Q)$, $\varphi(K)$ and $V$ on, with <H> heads of $m = <m>$ "
    r"features and values of $d = <d>$ numbers, for $n = <n>$ tokens: how "
    r"many FLOPs does the leading term come to?",
    _leading,
    n=range(100, 1000, 10),
    m=range(8, 129, 8),
    d=range(8, 129, 8),
    H=range(2, 9),
)
check.windowed.sister(
    ELU + r"a token sees itself and the <before> before it, with the similarity "
    r"$\varphi(q)^\top\varphi(k)$: $Q = <Q>$, $K = <K>$, $V = <V>$." + THREE,
    lambda Q, K, V, before: check.windowed_by_definition(Q, K, V, elu_plus_one, before + 1),
    Q=lambda rng: whole(rng, 4, 1),
    K=lambda rng: whole(rng, 4, 1),
    V=lambda rng: whole(rng, 4, 1, largest=9),
    before=[1, 2],
)


def _orders(n: int, k: int, m: int, l: int) -> dict:  # noqa: E741
    sizes = {"n": n, "k": k, "m": m, "l": l}
    return {f"{order}_first": check.counted_macs(order)(**sizes) for order in check.ORDERS}


check.cross.sister(
    r"$n = <n>$ queries meet $k = <k>$ keys by $m = <m>$ features, and values have $l = <l>$ "
    r"numbers. How many MACs does it take, denominators included, if "
    r"$\varphi(K)^\top V$ is computed first (`values_first`), and how many if "
    r"$\varphi(Q)\varphi(K)^\top$ is (`scores_first`; its rows are summed up for the "
    r"denominators)?",
    _orders,
    n=range(2, 200),
    k=range(2, 200),
    m=range(2, 65),
    l=range(2, 65),
)
check.vanishing.sister(
    r"Features are $\varphi(x) = (\cos x, \sin x)$, keys lie at <keys> and have the values "
    r"<values>. At which query is the denominator 0 (`blind_query`), and at which is "
    r"the output <target> (`far_query`)? Give six digits.",
    needs=lambda n: {
        "keys": ", ".join(map(str, n.keys)),
        "values": ", ".join(map(str, n.values)),
        "target": n.target,
    },
)
check.normed_by_lines.sister(
    r"Similarities and values are $A = <A>$ and $V = <V>$. What is $D^{-1}AV$ with "
    r"$D = \mathrm{diag}(A\mathbf 1)$? Three digits are enough.",
    lambda A, V: A / A.sum(axis=1, keepdims=True) @ V,
    A=lambda rng: 1.0 + rng.integers(0, 9, (2, 3)),
    V=lambda rng: whole(rng, 3, 2, largest=9),
)
check.rows_sum_to_one.sister(
    r"Every row of $S$ ($n\times <d>$) sums to $<a>$, and every column of $T$ ($n\times <d>$) to "
    r"$<b>$. What does every row of $S\,T^\top$ sum to?",
    lambda a, b, d: a * b,
    a=tenths(2, 50),
    b=tenths(2, 50),
    d=range(2, 9),
)
check.full_rank.sister(
    r"Queries and keys are single numbers, $Q = <Q>$ and $K = <K>$, so $d = 1$. What is the "
    r"determinant of the weights $\operatorname{softmax}_{row}(QK^\top)$? (If it is not 0, their "
    r"rank is 2, above $d$.) Three digits are enough.",
    lambda Q, K: float(np.linalg.det(softmax(Q @ K.T))),
    lambda rng: {
        name: rng.permutation(np.arange(-9, 10))[:2, None].astype(float) / 5 for name in "QK"
    },
)
check.growth_of_features.sister(
    r"$n = <n>$ tokens, values of width $d = <d>$ and $m = <m>$ features. How many multiplications "
    r"do $\varphi(K)^\top V$ and $\varphi(Q)$ times it take (`products`), how many numbers have "
    r"the features of all queries and keys (`features`), and how many the sums of the numerator "
    r"and of the denominator (`sums`)?",
    lambda n, d, m: {"products": 2 * n * m * d, "features": 2 * n * m, "sums": m * d + m},
    n=range(20, 200),
    d=range(4, 40),
    m=range(4, 40),
)
