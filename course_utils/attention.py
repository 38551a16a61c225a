"""Attention in plain NumPy: rows are tokens, softmax runs over keys, leading axes are batches.

Shapes in the docstrings: n queries, k keys (k = n in self-attention), m numbers in a query or key,
l numbers in a value, d numbers in a token. Unit 04 derives the standard form, unit 08 the linear
ones, unit 09 the random features, unit 10 the recurrence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from selfcheck.reserved import answer

# -- standard attention (unit 04) -----------------------------------------------------------------


@answer
def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Positive numbers that sum to 1 along the axis; finite for any finite scores."""
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def causal_mask(n: int) -> np.ndarray:
    """(n, n): True where token i may look at token j, that is j ≤ i."""
    return np.tril(np.ones((n, n), dtype=bool))


@answer
def attention_weights(Q: np.ndarray, K: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """softmax(Q Kᵀ / √m), (…, n, k). Where the mask is False the score is −∞, so the weight is 0.

    The mask is (n, k) or broadcasts to it; every query has to see at least one key.
    """
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return softmax(scores)


@answer
def attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> np.ndarray:
    """Each query's weighted mean of the values: (…, n, m), (…, k, m), (…, k, l) to (…, n, l)."""
    return attention_weights(Q, K, mask) @ V


@answer
def causal_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Attention in which token i sees tokens j ≤ i alone."""
    return attention(Q, K, V, causal_mask(Q.shape[-2]))


@answer
def cross_attention(
    Y: np.ndarray, Z: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray
) -> np.ndarray:
    """Queries from the decoder's Y (…, n, d), keys and values from the encoder's Z (…, k, d).

    Wq and Wk are (d, m), Wv is (d, l); the result is (…, n, l), a row for each row of Y.
    """
    return attention(Y @ Wq, Z @ Wk, Z @ Wv)


@answer
def multi_head(
    X: np.ndarray,
    heads: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    Wo: np.ndarray,
    mask: np.ndarray | None = None,
) -> np.ndarray:
    """T heads (Wq, Wk, Wv) side by side, (…, n, T·l), then mixed by Wo (T·l, d): (…, n, d)."""
    outputs = [attention(X @ Wq, X @ Wk, X @ Wv, mask) for Wq, Wk, Wv in heads]
    return np.concatenate(outputs, axis=-1) @ Wo


# -- linear attention (unit 08) -------------------------------------------------------------------


@answer
def separable_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """softmax_row(Q) (softmax_col(K)ᵀ V): rows of weights sum to 1, no n×n array is built."""
    return softmax(Q) @ (np.swapaxes(softmax(K, axis=-2), -1, -2) @ V)


def elu_plus_one(x: np.ndarray) -> np.ndarray:
    """A positive feature map φ: x + 1 above zero, exp(x) below.

    Below −300 it stays at exp(−300), so that a product of two features never underflows to 0.
    """
    return np.where(x > 0, x + 1, np.exp(np.clip(x, -300, 0)))


@answer
def linear_attention(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    phi: Callable[[np.ndarray], np.ndarray] = elu_plus_one,
) -> np.ndarray:
    """Attention with similarity φ(q)ᵀφ(k), keys and values multiplied first: cost linear in n."""
    Q, K = phi(Q), phi(K)
    numerator = Q @ (np.swapaxes(K, -1, -2) @ V)
    return numerator / (Q @ K.sum(axis=-2)[..., None])


# -- random features (unit 09) --------------------------------------------------------------------


@answer
def positive_features(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """f(x) = exp(Wx − ‖x‖²/2)/√m, so that E f(x)ᵀf(y) = exp(xᵀy) over rows w ∼ N(0, I) of W."""
    half_norms = (X**2).sum(axis=-1, keepdims=True) / 2
    return np.exp(X @ W.T - half_norms) / np.sqrt(len(W))


def trigonometric_features(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """exp(‖x‖²/2)/√m · (cos Wx, sin Wx): unbiased for exp(xᵀy) too, but of either sign."""
    half_norms = (X**2).sum(axis=-1, keepdims=True) / 2
    waves = np.concatenate([np.cos(X @ W.T), np.sin(X @ W.T)], axis=-1)
    return np.exp(half_norms) * waves / np.sqrt(len(W))


def orthogonal_directions(m: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """m rows that are N(0, I) one by one, and orthogonal within each block of d."""
    rows = _random_rotations(-(-m // d), d, rng).reshape(-1, d)[:m]
    return rows * np.linalg.norm(rng.normal(size=(m, d)), axis=1, keepdims=True)


def _random_rotations(count: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Orthogonal matrices, every one equally likely (the signs of R make it so)."""
    q, r = np.linalg.qr(rng.normal(size=(count, d, d)))
    return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[:, None]


# -- causal linear attention, parallel and as a recurrence (unit 10) ------------------------------


@answer
def causal_linear_attention(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    phi: Callable[[np.ndarray], np.ndarray] = elu_plus_one,
    chunk: int = 64,
) -> np.ndarray:
    """Linear attention in which token i sees j ≤ i, in chunks: the largest mask is chunk×chunk."""
    Q, K = phi(Q), phi(K)
    s: Any = 0.0
    z: Any = 0.0
    outputs = []
    for start in range(0, Q.shape[-2], chunk):
        q, k, v = (A[..., start : start + chunk, :] for A in (Q, K, V))
        near = np.tril(q @ np.swapaxes(k, -1, -2))
        keys, pairs = k.sum(axis=-2)[..., None], np.swapaxes(k, -1, -2) @ v
        numerator = near @ v + (q @ s if start else 0.0)
        denominator = near.sum(axis=-1, keepdims=True) + (q @ z if start else 0.0)
        outputs.append(numerator / denominator)
        s, z = s + pairs, z + keys
    return np.concatenate(outputs, axis=-2)


@answer
@dataclass(frozen=True)
class LinearAttentionState:
    """All that causal linear attention remembers of the past: s (m, l) and z (m,), whatever n.

    One sequence, token by token: q, k and v are vectors here.
    """

    s: np.ndarray
    z: np.ndarray

    @classmethod
    def empty(cls, m: int, width: int) -> LinearAttentionState:
        """The state before the first token, for m features and values of this width."""
        return cls(np.zeros((m, width)), np.zeros(m))

    def step(
        self,
        q: np.ndarray,
        k: np.ndarray,
        v: np.ndarray,
        phi: Callable[[np.ndarray], np.ndarray] = elu_plus_one,
    ) -> tuple[LinearAttentionState, np.ndarray]:
        """Take one token in, give its output: s + φ(k)vᵀ, z + φ(k), then φ(q)ᵀs / φ(q)ᵀz."""
        q, k = phi(q), phi(k)
        state = LinearAttentionState(self.s + np.outer(k, v), self.z + k)
        return state, q @ state.s / (q @ state.z)
