"""Unit 04: sister tasks for practice."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from selfcheck.meter import polynomial
from selfcheck.practice import tenths, whole

from ..attention import attention as package_attention
from ..attention import softmax
from . import attention as check

check.shapes.sister(
    r"Multi-head attention with $n = <n>$ tokens of width $d = <d>$, $T = <T>$ heads, queries and "
    r"keys of "
    r"$m = <m>$ numbers and values of $l = <l>$: what is the shape of each array, as a pair?",
    check._shapes_by_running,
    n=range(2, 13),
    d=range(2, 13),
    m=range(2, 9),
    l=range(2, 9),
    T=range(2, 7),
)
check.attention.sister(
    r"Attention whose scores are divided by <c> instead of $\sqrt m$: $Q = <Q>$, $K = <K>$, $V = "
    r"<V>$. "
    r"What comes out? Three digits are enough.",
    lambda Q, K, V, c: check.by_definition(Q * np.sqrt(Q.shape[1]) / c, K, V),
    Q="nm",
    K="km",
    V="kl",
    c=tenths(5, 40),
)


def _fading(Q: np.ndarray, K: np.ndarray, V: np.ndarray, c: float) -> np.ndarray:
    scores = Q @ K.T / np.sqrt(Q.shape[1]) + c * np.arange(len(K))
    return np.array([softmax(row[: i + 1]) @ V[: i + 1] for i, row in enumerate(scores)])


check.causal_attention.sister(
    r"Causal attention in which $<c>\,(i - j)$ is subtracted from the score of query $i$ and key "
    r"$j \le i$, "
    r"$q_i^\top k_j/\sqrt m$: $Q = <Q>$, $K = <K>$, $V = <V>$. What comes out? Three digits are "
    r"enough.",
    _fading,
    Q="nm",
    K="nm",
    V="nl",
    c=tenths(1, 20),
)


def _crossed(Y, Z, W_q, W_k, W_v, who) -> np.ndarray:
    answering = Z if who == "only $Z$" else np.concatenate([Z, Y])
    return check.by_definition(Y @ W_q, answering @ W_k, answering @ W_v)


check.cross_attention.sister(
    r"The rows of $Y = <Y>$ ask and <who> answers, $Z = <Z>$, with $W_q = <W_q>$, $W_k = <W_k>$ "
    r"and "
    r"$W_v = <W_v>$. What does attention (scores over $\sqrt m$) return? Three digits are enough.",
    _crossed,
    lambda rng: {
        "Y": whole(rng, 2, 2, largest=2),
        "Z": whole(rng, int(rng.integers(1, 4)), 2, largest=2),
        **{
            name: whole(rng, 2, int(rng.integers(1, 2)), largest=2)
            for name in ("W_q", "W_k", "W_v")
        },
        "who": ["only $Z$", "$Z$ together with $Y$"][rng.integers(2)],
    },
)


def _one_head(X, W_q, W_k, W_v, W_q2, W_k2, W_v2, W_O, t) -> np.ndarray:
    heads = [(W_q, W_k, W_v), (W_q2, W_k2, W_v2)]
    return check._mixed(check.by_definition, X, heads, W_O)[t - 1]


def _two_narrow_heads(rng: np.random.Generator) -> dict:
    names = ("W_q", "W_k", "W_v", "W_q2", "W_k2", "W_v2")
    given = {"X": whole(rng, 2, 2, largest=2)} | {
        name: whole(rng, 2, 1, largest=2) for name in names
    }
    return given | {"W_O": whole(rng, 2, 2, largest=9), "t": int(rng.integers(1, 3))}


check.multi_head.sister(
    r"Two heads of width 1 read $X = <X>$: the first has $W_q = <W_q>$, $W_k = <W_k>$, $W_v = "
    r"<W_v>$, the "
    r"second $<W_q2>$, $<W_k2>$, $<W_v2>$, and $W^O = <W_O>$. What does head <t> add to the "
    r"output? Three "
    r"digits are enough.",
    _one_head,
    _two_narrow_heads,
)


@cache
def _counted(bias: str, shared: str) -> Any:
    """Entries of all arrays that are learned, in T, d, m and l."""

    def count(T: int, d: int, m: int, l: int) -> int:  # noqa: E741
        arrays = check._arrays(T, d, m, l)
        if shared == "all heads share one $W_k$":
            arrays = arrays[:1] + arrays[1:] if T == 1 else arrays
            arrays = [W for k, W in enumerate(arrays) if k % 3 != 1 or k == 1 or k == 3 * T]
        if shared == "all heads share one $W_k$ and one $W_v$":
            arrays = [W for k, W in enumerate(arrays) if k % 3 == 0 or k < 3 or k == 3 * T]
        biases = {"no bias": 0, "a bias for each query": T * m, "a bias after $W^O$": d}
        return sum(W.size for W in arrays) + biases[bias]

    return polynomial(count, T=1, d=1, m=1, l=1)


def _learned(bias: str, shared: str, N: int) -> Any:
    import sympy

    return _counted(bias, shared) + N * sympy.Symbol("d")


check.parameters.sister(
    r"$T$ heads with $W_q, W_k$ ($d \times m$) and $W_v$ ($d \times l$), and $W^O$; <shared>, "
    r"there is <bias>, "
    r"and each of <N> words has a learned vector of $d$ numbers. How many learned numbers are "
    r"there? Give a "
    r"formula in `T`, `d`, `m` and `l`.",
    _learned,
    kind=check.COUNT,
    bias=["no bias", "a bias for each query", "a bias after $W^O$"],
    shared=[
        "each head has its own",
        "all heads share one $W_k$",
        "all heads share one $W_k$ and one $W_v$",
    ],
    N=range(100, 1000),
)
check.score_variance.sister(
    r"All entries of $q$ and $k$ are independent with mean 0. Those of $q$ have the standard "
    r"deviation <s>, "
    r"those of $k$ <r>, and there are $m = <m>$ of each. What is the standard deviation of "
    r"$q^\top k/<c>$? "
    r"Three digits are enough.",
    lambda s, r, m, c: np.sqrt(check._variance_over_all_signs(m, np.sqrt(s * r))) / c,
    s=tenths(2, 30),
    r=tenths(2, 30),
    m=range(2, 100),
    c=range(2, 9),
)


def _of_order(X: np.ndarray, order: str) -> np.ndarray:
    rows = [int(k) - 1 for k in order.split(", ")]
    return package_attention(X[rows], X[rows], X[rows])


check.order_blindness.sister(
    r"Attention without positions, $Q = K = V = X$, reads the tokens $X = <X>$ in the order "
    r"<order>. What "
    r"are its outputs, in that order? Three digits are enough.",
    _of_order,
    X=lambda rng: whole(rng, 3, 2),
    order=["1, 3, 2", "2, 1, 3", "2, 3, 1", "3, 1, 2", "3, 2, 1"],
)
check.looking_head.sister(
    r"<n> keys lie on a circle of radius <radius>, key $j$ at the angle $2\pi j/<n>$. Query $i$ "
    r"is to look at "
    r"key number $i$ of <target> (counted from 0). Find `queries`, a row of two numbers for each, "
    r"that put 0.99 "
    r"or more on their keys (scores are divided by $\sqrt 2$), and the least `length` of a query "
    r"with which "
    r"<weight> of the weight is on its key (four decimals).",
    needs=lambda n: {
        "n": n.n,
        "radius": n.radius,
        "weight": n.weight,
        "target": ", ".join(map(str, n.target)),
        "K": n.K,
    },
)


def _mask(lengths: list[int], who: str) -> np.ndarray:
    texts = [k for k, length in enumerate(lengths) for _ in range(length)]
    everybody = who != "its own text"
    rows = [
        [int(j <= i and (a == b or (everybody and b == 0))) for j, b in enumerate(texts)]
        for i, a in enumerate(texts)
    ]
    return np.array(rows)


check.packed_mask.sister(
    r"Texts of the lengths $<lengths>$ are packed into one row. Each token sees itself and what "
    r"came before it "
    r"in <who>. What is the mask, 1 where a token (row) sees another (column)?",
    _mask,
    lengths=lambda rng: rng.integers(1, 5, int(rng.integers(2, 5))).tolist(),
    who=["its own text", "its own text and in the first one, a prompt that all share"],
)


def _additive(Q, K, V, A, B, u) -> np.ndarray:
    return np.array([softmax(np.tanh(A @ q + K @ B.T) @ u) @ V for q in Q])


check.additive_attention.sister(
    r"Attention with the scores $u^\top\tanh(A q + B k)$: $Q = <Q>$, $K = <K>$, $V = <V>$, $A = "
    r"<A>$, $B = <B>$, "
    r"$u = <u>$. What comes out? Three digits are enough.",
    _additive,
    Q="ab",
    K="ka",
    V="kl",
    A="pb",
    B="pa",
    u="p",
)


def _across(Y, Z, Wq, Wk, Wv):
    scores = (Y @ Wq) @ (Z @ Wk).T / np.sqrt(Wq.shape[1])
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True) @ (Z @ Wv)


check.cross.sister(
    r"A decoder's token is $Y = <Y>$, the encoder's are $Z = <Z>$. With $W_q = <Wq>$, $W_k "
    r"= <Wk>$ and "
    r"$W_v = <Wv>$, what does cross-attention give? Three digits are enough.",
    _across,
    Y=lambda rng: rng.integers(-2, 3, (1, 2)) / 1.0,
    Z=lambda rng: rng.integers(-3, 4, (3, 1)) / 1.0,
    Wq=lambda rng: rng.integers(-4, 5, (2, 1)) / 4,
    Wk=lambda rng: rng.integers(1, 5, (1, 1)) / 4,
    Wv=lambda rng: rng.integers(1, 9, (1, 1)) / 1.0,
)
