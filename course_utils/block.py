"""The model of unit 06, in plain NumPy: attention, then a feed-forward block, forward and backward.

Rows are tokens. X is (N, d_in); Wq and Wk are (d_att, d_in), Wv is (d_out, d_in), W1 is (2, d_out)
and w2 is (2,). Every stage is one function, so that each can be counted by itself.
"""

from __future__ import annotations

import numpy as np

from selfcheck.reserved import answer

from .attention import attention_weights

Parameters = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Kept = tuple[np.ndarray, ...]

# -- forward, stage by stage ----------------------------------------------------------------------


def project(X: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray) -> Kept:
    """Queries and keys (N, d_att), values (N, d_out)."""
    return X @ Wq.T, X @ Wk.T, X @ Wv.T


@answer
def weigh(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """α: the softmax over keys of the scores QKᵀ/√d_att, (N, N)."""
    return attention_weights(Q, K)


def mix(A: np.ndarray, V: np.ndarray) -> np.ndarray:
    """ṽ: every token's weighted mean of the values, (N, d_out)."""
    return A @ V


def hidden(mixed: np.ndarray, W1: np.ndarray) -> np.ndarray:
    """ReLU(W₁ ṽ): two numbers per token, (N, 2)."""
    return np.maximum(mixed @ W1.T, 0)


def feed_forward(mixed: np.ndarray, W1: np.ndarray, w2: np.ndarray) -> np.ndarray:
    """ŷ = w₂ᵀ ReLU(W₁ ṽ), one number per token, (N,)."""
    return hidden(mixed, W1) @ w2


def squared_error(y: np.ndarray, y_hat: np.ndarray) -> np.ndarray:
    """The loss: Σ (y − ŷ)² over the tokens."""
    return ((y - y_hat) ** 2).sum()


# -- forward as a whole, and backward -------------------------------------------------------------


def forward(X: np.ndarray, y: np.ndarray, parameters: Parameters) -> tuple[np.ndarray, Kept]:
    """The loss, and what the backward pass will need: Q, K, V, α, ṽ, the hidden layer and ŷ."""
    Wq, Wk, Wv, W1, w2 = parameters
    Q, K, V = project(X, Wq, Wk, Wv)
    A = weigh(Q, K)
    mixed = mix(A, V)
    H = hidden(mixed, W1)
    y_hat = H @ w2
    return squared_error(y, y_hat), (Q, K, V, A, mixed, H, y_hat)


@answer
def backward(
    X: np.ndarray, y: np.ndarray, parameters: Parameters, kept: Kept
) -> tuple[np.ndarray, Parameters]:
    """The gradient of the loss by X, and by the parameters in their order."""
    Wq, Wk, Wv, W1, w2 = parameters
    Q, K, V, A, mixed, H, y_hat = kept
    d_y_hat = 2 * (y_hat - y)
    d_w2 = H.T @ d_y_hat
    d_Z = np.outer(d_y_hat, w2) * (H > 0)
    d_W1, d_mixed = d_Z.T @ mixed, d_Z @ W1
    d_A, d_V = d_mixed @ V.T, A.T @ d_mixed
    d_S = A * (d_A - (d_A * A).sum(axis=1, keepdims=True)) / np.sqrt(Q.shape[1])
    d_Q, d_K = d_S @ K, d_S.T @ Q
    d_X = d_Q @ Wq + d_K @ Wk + d_V @ Wv
    return d_X, (d_Q.T @ X, d_K.T @ X, d_V.T @ X, d_W1, d_w2)


# -- arrays to count with -------------------------------------------------------------------------


def draw(
    N: int,
    d_in: int,
    d_att: int,
    d_out: int,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray, Parameters]:
    """Random X, y and parameters of these sizes."""
    rng = np.random.default_rng(seed)
    shapes = [(d_att, d_in), (d_att, d_in), (d_out, d_in), (2, d_out), (2,)]
    X, y = rng.normal(size=(N, d_in)), rng.normal(size=N)
    Wq, Wk, Wv, W, b = (rng.normal(size=shape) for shape in shapes)
    return X, y, (Wq, Wk, Wv, W, b)


def stage_inputs(**sizes: int) -> dict[str, tuple[np.ndarray, ...]]:
    """What each stage is called with at these sizes, by the stage's name."""
    X, y, parameters = draw(**sizes)
    Wq, Wk, Wv, W1, w2 = parameters
    _, (Q, K, V, A, mixed, _, y_hat) = forward(X, y, parameters)
    return {
        "project": (X, Wq, Wk, Wv),
        "weigh": (Q, K),
        "mix": (A, V),
        "feed_forward": (mixed, W1, w2),
        "squared_error": (y, y_hat),
    }
