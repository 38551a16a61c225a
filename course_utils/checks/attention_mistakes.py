"""Unit 04: what several known mistakes in attention.md need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.compare import close
from selfcheck.recognition import Recognized

from ..attention import causal_attention as package_causal
from ..attention import causal_mask as causal_mask
from ..attention import softmax
from ..numbers.attention import Attention
from ..numbers.attention import attention as attention_numbers
from .attention import FOUR_DECIMALS, _of_length, _placed


def _near_scores(Q, K):
    """q_iᵀk_j/√m − (i − j), for all pairs."""
    Q, K = _placed(Q, K)
    return Q @ K.T / np.sqrt(Q.shape[1]) - np.arange(len(Q))[:, None]


def _distance_times(slope: float, Q, K, V):
    Q, K = _placed(Q, K)
    return package_causal(Q, K * np.append(np.ones(K.shape[1] - 1), slope), V)


def _mask(visible: np.ndarray, Q, K, V, hidden: float = -np.inf):
    return softmax(np.where(visible, _near_scores(Q, K), hidden)) @ V


def _cross(scale: Callable[..., float] = lambda Y, Wq: np.sqrt(Wq.shape[1]), roles: str = "YBB"):
    """Such an attention with another scale, or with other tokens in a role (B: both)."""

    def run(Y, Z, Wq, Wk, Wv):
        q, k, v = ({"Y": Y, "Z": Z, "B": np.vstack([Y, Z])}[role] for role in roles)
        return softmax(q @ Wq @ (k @ Wk).T / scale(Y, Wq)) @ (v @ Wv)

    return run


def _two_softmaxes(Y, Z, Wq, Wk, Wv):
    return _cross(roles="YZZ")(Y, Z, Wq, Wk, Wv) + _cross(roles="YYY")(Y, Z, Wq, Wk, Wv)


def _outputs(X, heads, scale: float | None = None) -> list[np.ndarray]:
    """Each head's output; `scale` replaces √m."""
    root = [scale or np.sqrt(Wq.shape[1]) for Wq, _, _ in heads]
    return [
        softmax(X @ Wq @ (X @ Wk).T / r) @ (X @ Wv)
        for r, (Wq, Wk, Wv) in zip(root, heads, strict=True)
    ]


def _each(
    through: Callable[..., Any] = lambda Wo, t, T: np.split(Wo, T)[t], scale: Any = None
) -> tuple[Callable]:
    """All heads, each through these rows of W^O."""

    def run(X, heads, Wo):
        root = scale and scale(X)
        outputs, T = _outputs(X, heads, root), len(heads)
        return np.array([np.dot(outputs[t], through(Wo, t, T)) for t in range(T)])

    return (run,)


def _turned(
    face: Callable[[Attention], Any], close_to: Callable[[Any, Any], bool] = close
) -> Recognized:
    """A mistake that can be computed: known with every student's numbers."""
    return {
        "example": (0, face(attention_numbers(0))),
        "when": lambda student, answer: close_to(answer, face(attention_numbers(student))),
    }


def _same_directions(Q: np.ndarray, K: np.ndarray) -> bool:
    lengths = np.linalg.norm(Q, axis=1, keepdims=True)
    return bool((lengths > 0).all()) and close(Q / lengths, K / np.linalg.norm(K[0]), 1e-3)


def _once_changed(change: Callable[[float, Attention], float], example: float) -> Recognized:
    """A wrong length that would be right if it were changed like this."""

    def slipped(student: str, length: float) -> bool:
        n = attention_numbers(student)
        return abs(_of_length(change(length, n), n) - n.weight) <= FOUR_DECIMALS

    return {"example": (0, example), "when": slipped}


def _texts(lengths: list[int]) -> np.ndarray:
    return np.repeat(np.arange(len(lengths)), lengths)


def _blocks(lengths):
    return _texts(lengths)[:, None] == _texts(lengths)


def _summed(Q: np.ndarray, K: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return (Q @ A.T)[:, None] + K @ B.T
