"""Unit 09: what several known mistakes in random_features.md need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.compare import close

from ..attention import trigonometric_features as trigonometric_features
from ..numbers.random_features import Triple
from .random_features import SHIFT, SPLIT, course_features, many_tokens, to_scale, tokens


def _in_split(value: str) -> Callable[[list], bool]:
    return lambda split: SPLIT.goes_wrong_as(split, value)


def _in_shift(value: str) -> Callable[[list], bool]:
    return lambda shift: SHIFT.goes_wrong_as(shift, value)


def _times(factor: Callable) -> Callable:
    """Features that are off by a factor, which may depend on the rows and on W."""
    return lambda X, W: factor(to_scale(X), len(W)) * course_features(X, W)


def _half_squares(Z: np.ndarray) -> np.ndarray:
    return (Z * Z).sum(axis=1)[:, None] / 2


def _exponents(X, W):
    return to_scale(X) @ W.T - _half_squares(to_scale(X))


def _counted(answer: FunctionAnswer) -> str:
    """How the cost grows, if it was counted, which it is where the numbers are right."""
    return vars(answer)["costs"][many_tokens].kind


def _weighing(
    weights: Callable = lambda F, G, counts: F @ G.T * counts,
    over: Callable = lambda A, F, G: A.sum(axis=1, keepdims=True),
) -> dict[str, Any]:
    """The mistake of other weights or of another divisor, whatever it costs."""

    def example(Q, K, V, W, counts):
        F, G = course_features(Q, W), course_features(K, W)
        A = weights(F, G, counts)
        return A @ V / over(A, F, G)

    def alike(f: FunctionAnswer) -> bool:
        arrays = tokens(4, 3, 2, 6)
        return close(f(*arrays), example(*arrays))

    return {"example": (example,), "when": alike, "part": "Attention"}


def _lengths(n: Triple) -> tuple[float, float, float]:
    """‖u₁‖², ‖u₂‖² and u₁ᵀu₂."""
    u1, u2 = np.add(n.q, n.k1), np.add(n.q, n.k2)
    return float(u1 @ u1), float(u2 @ u2), float(u1 @ u2)


def _covariance(
    n: Triple, exponent: float | None = None, less: float = 1, scale: float = 1
) -> float:
    c = _lengths(n)[2] if exponent is None else exponent
    means = np.exp(scale * np.dot(n.q, np.add(n.k1, n.k2)))
    return float(means * (np.exp(scale * c) - less) / n.m)


def _spread(
    n: Triple, one: float = 1, two: float = 1, both: float = -2, less: float = 0, scale: float = 1
) -> float:
    a, b, c = (np.exp(scale * length) for length in _lengths(n))
    return float(one * a + two * b + both * c + less)


ROOT_HALF = 0.5**0.5
