"""Unit 03: what several known mistakes in weight_decay.md need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..numbers.weight_decay import WeightDecay
from .weight_decay import _together


def _adam(
    penalty: Callable = lambda theta, c: 0.0,
    decay: Callable = lambda theta, eta, c: 0.0,
    corrected: bool = True,
    root: Callable = lambda v, epsilon: np.sqrt(v) + epsilon,
    first: int = 1,
    sign: int = -1,
    penalty_in_v: bool = True,
    where: Callable = lambda own, theta, g: True,
    kept: Callable = lambda raw, corrected, t: (*raw, t + 1),
    made: Callable = lambda move, theta: move,
) -> Callable:
    """Adam with one thing changed: the family to which most wrong answers belong."""

    def step(state, g, theta, eta, c, beta1, beta2, epsilon):
        m, v, t = state
        whole = g + penalty(theta, c)
        m = beta1 * m + (1 - beta1) * whole
        v = beta2 * v + (1 - beta2) * (whole if penalty_in_v else g) ** 2
        k = t + first
        m_hat, v_hat = (m / (1 - beta1**k), v / (1 - beta2**k)) if corrected else (m, v)
        own = sign * eta * m_hat / root(v_hat, epsilon)
        move = own + where(own, theta, g) * decay(theta, eta, c)
        return kept((m, v), (m_hat, v_hat), t), made(move, theta)

    return step


def _l2(theta: np.ndarray, c: float) -> np.ndarray:
    return 2 * c * theta


def _shrink(theta: np.ndarray, eta: float, c: float) -> np.ndarray:
    return -c * theta


def _inside(v: np.ndarray, epsilon: float) -> np.ndarray:
    return np.sqrt(v + epsilon)


def _penalized(**slip: Any) -> Callable:
    return _adam(penalty=_together, **slip)


def _fed_back(raw, corrected, t):
    return (*corrected, t + 1)


def _not_counted(raw, corrected, t):
    return (*raw, t)


def _toward_zero(own: np.ndarray, theta: np.ndarray, g: np.ndarray) -> np.ndarray:
    return np.sign(own) + np.sign(theta) == 0


def _cautious(decay: Callable = _shrink, where: Callable = _toward_zero, **slip: Any) -> Callable:
    return _adam(decay=decay, where=where, **slip)


def _root(n: WeightDecay) -> float:
    """The share that each of equal steps takes."""
    return float(1 - n.left ** (1 / n.steps))
