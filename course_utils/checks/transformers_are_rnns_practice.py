"""Unit 10: sister tasks for practice."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfcheck.practice import tenths

from . import transformers_are_rnns as check

DIGITS = "Three digits are enough."
ELU = r"$\varphi = \operatorname{elu} + 1$ (so $\varphi(x) = x + 1$ for $x \ge 0$ and $e^x$ below)"


def _by_powers(Q: np.ndarray, K: np.ndarray, V: np.ndarray, p: int) -> np.ndarray:
    weights = np.tril(check._likeness(Q, K) ** p)
    return check.weighted_means(weights, V)


check.causal_linear.sister(
    rf"Causal attention by $(\varphi(q)^\top\varphi(k))^<p>$ with {ELU}: $Q = <Q>$, $K = <K>$, $V "
    rf"= <V>$. What comes out? {DIGITS}",
    _by_powers,
    Q="nd",
    K="nd",
    V="nl",
    p=[1, 2, 3],
)
check.recurrence.sister(
    r"Causal attention by $(\varphi(q)^\top\varphi(k))^<p>$, with $<d>$ features and values of "
    r"$<l>$ numbers, is run as a recurrence. Its state holds the sums over keys that "
    r"numerator and denominator need, a product of features for each ordered choice of <p>. How "
    r"many numbers is that?",
    lambda d, l, p: d**p * (l + 1),  # noqa: E741
    d=range(2, 17),
    l=range(2, 65),
    p=[2, 3, 4],
)


def _by_sim(Q: np.ndarray, K: np.ndarray, V: np.ndarray, c: float) -> np.ndarray:
    return check._sim_definition(Q, K, V, lambda q, k: 1 / (1 + c * (q - k) @ (q - k)))


check.four_questions.sister(
    r"Attention by the similarity $\operatorname{sim}(q, k) = 1/(1 + <c>\,\lVert q - k\rVert^2)$: "
    r"$Q = <Q>$, $K = <K>$, $V = <V>$. What comes out? " + DIGITS,
    _by_sim,
    Q="nd",
    K="kd",
    V="kl",
    c=tenths(2, 30),
)


def _leading(way: str, i: int, d: int) -> int:
    import sympy

    work = sympy.Poly(check.token_work(way), *sympy.symbols("i d"))
    degree = work.total_degree()
    return int(sum(c * i**a * d**b for (a, b), c in work.terms() if a + b == degree))


def _ways(i: int, d: int, layers: int) -> dict:
    names = ("without_cache", "with_cache", "recurrence")
    return {name: layers * _leading(way, i, d) for name, way in zip(names, check.WAYS, strict=True)}


check.token_cost.sister(
    r"<layers> layers of one head of width $d = <d>$ generate token $i = <i>$; $q$, $k$ and $v$ "
    r"are given. How many multiply–adds do the leading terms come to: without a "
    r"cache, with a cache, and by the recurrence?",
    _ways,
    i=range(20, 1000),
    d=range(8, 129, 8),
    layers=range(2, 13),
)


def _table(rng: np.random.Generator) -> dict[str, Any]:
    d, n = int(rng.integers(8, 129)), int(rng.integers(100, 1000))
    return {"d": d, "n": n, **dict(zip("abc", check.total_work(d, (n,))[n].values(), strict=True))}


check.reading_the_table.sister(
    "For a text of <n> tokens in width <d> the meter counts\n\n| without a cache | with a cache | "
    "by the recurrence |\n| --- | --- | --- |\n"
    "| <a> | <b> | <c> |\n\nmultiply–adds. Which factor does the cache explain (`by_cache`), and "
    "which the recurrence beyond it (`by_recurrence`)? " + DIGITS,
    lambda d, n, a, b, c: {"by_cache": a / b, "by_recurrence": b / c},
    _table,
)
check.forgetting.sister(
    r"A state with the gates $\gamma = <g>$ forgets: $s_i = \gamma_i s_{i-1} + \dots$. What are "
    r"the weights $D$, a row for each $i$, with which $(QK^\top \circ D)V$ is what it "
    r"returns?",
    check.decay_by_recurrence,
    g=lambda rng: rng.integers(0, 11, int(rng.integers(3, 5))) / 10,
)
check.writing.sister(
    r"A state $s$ of three numbers starts with 0, and the keys $<k_1>$, $<k_2>$, $<k_3>$ are "
    r"written with the values $<v_1>$, $<v_2>$, $<v_3>$, in this order. What is it if "
    r"each write adds $v\,k$ (`state_of_sums`); if each write adds the multiple of $k$ after "
    r"which $k^\top s = v$ (`state_corrected`); and if such corrections go on for ever "
    r"(`state_settled`)? Give six digits.",
    needs=lambda n: {
        **{f"k_{i}": k for i, k in enumerate(n.keys, 1)},
        **{f"v_{i}": v for i, v in enumerate(n.values, 1)},
    },
)
