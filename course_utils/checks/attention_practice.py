"""Unit 04: what the sister tasks in attention.md need."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from selfcheck.meter import polynomial
from selfcheck.practice import whole

from ..attention import attention as package_attention
from ..attention import softmax
from . import attention as check


def _fading(Q: np.ndarray, K: np.ndarray, V: np.ndarray, c: float) -> np.ndarray:
    scores = Q @ K.T / np.sqrt(Q.shape[1]) + c * np.arange(len(K))
    return np.array([softmax(row[: i + 1]) @ V[: i + 1] for i, row in enumerate(scores)])


def _crossed(Y, Z, W_q, W_k, W_v, who) -> np.ndarray:
    answering = Z if who == "only $Z$" else np.concatenate([Z, Y])
    return check.by_definition(Y @ W_q, answering @ W_k, answering @ W_v)


def _one_head(X, W_q, W_k, W_v, W_q2, W_k2, W_v2, W_O, t) -> np.ndarray:
    heads = [(W_q, W_k, W_v), (W_q2, W_k2, W_v2)]
    return check._mixed(check.by_definition, X, heads, W_O)[t - 1]


def _two_narrow_heads(rng: np.random.Generator) -> dict:
    names = ("W_q", "W_k", "W_v", "W_q2", "W_k2", "W_v2")
    given = {"X": whole(rng, 2, 2, largest=2)} | {
        name: whole(rng, 2, 1, largest=2) for name in names
    }
    return given | {"W_O": whole(rng, 2, 2, largest=9), "t": int(rng.integers(1, 3))}


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


def _of_order(X: np.ndarray, order: str) -> np.ndarray:
    rows = [int(k) - 1 for k in order.split(", ")]
    return package_attention(X[rows], X[rows], X[rows])


def _mask(lengths: list[int], who: str) -> np.ndarray:
    texts = [k for k, length in enumerate(lengths) for _ in range(length)]
    everybody = who != "its own text"
    rows = [
        [int(j <= i and (a == b or (everybody and b == 0))) for j, b in enumerate(texts)]
        for i, a in enumerate(texts)
    ]
    return np.array(rows)


def _additive(Q, K, V, A, B, u) -> np.ndarray:
    return np.array([softmax(np.tanh(A @ q + K @ B.T) @ u) @ V for q in Q])


def _across(Y, Z, Wq, Wk, Wv):
    scores = (Y @ Wq) @ (Z @ Wk).T / np.sqrt(Wq.shape[1])
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True) @ (Z @ Wv)
