"""Unit 03: examples of known mistakes that need more than a line; weight_decay.md names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.exercises import Exercise

from ..numbers.weight_decay import WeightDecay
from .weight_decay import _together, adam_l2_step, adamw_step


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


EPSILON_INSIDE = (
    "ε inside the root",
    "Adam divides by √v̂ + ε. Inside the root, ε = 1e−8 acts like 1e−4, and parameters with small "
    "gradients hardly move.",
)
NO_CORRECTION = (
    "bias correction forgotten",
    "m and v start from 0 and are too small at first, v much longer than m. Divide copies of them "
    "by 1 − β_1ᵗ and 1 − β_2ᵗ; the state keeps the raw ones.",
)
FROM_ZERO = (
    "t counted from 0",
    "In the first step t is 1: add 1 to it before you use it. With t = 0 the corrections divide "
    "by 0.",
)
FED_BACK = (
    "the corrected averages put into the state",
    "The corrections are for copies. The state goes on with the raw m and v, or the next step "
    "corrects what was corrected already.",
)
NOT_COUNTED = (
    "t not counted up in the state",
    "The new state has the new t. With the old one, every step corrects as the first one does.",
)
NEW_PLACE = (
    "the new θ in place of the move",
    "Return the move Δθ, which is added to θ; this is θ + Δθ, where it leads.",
)
UPHILL = ("the sign of the move", "The move goes against the gradient: it starts with −η.")


def _slips(exercise: Exercise, **same: Any) -> None:
    """The slips that can happen in any kind of Adam."""
    exercise.mistake(*EPSILON_INSIDE, example=(_adam(root=_inside, **same),))
    exercise.mistake(*NO_CORRECTION, example=(_adam(corrected=False, **same),))
    exercise.mistake(*FROM_ZERO, example=(_adam(first=0, **same),), not_finite=True)
    exercise.mistake(*UPHILL, example=(_adam(sign=1, **same),))
    exercise.mistake(*NEW_PLACE, example=(_adam(made=np.add, **same),))
    fed_back, uncounted = (
        (lambda raw, corrected, t: (*corrected, t + 1)),
        lambda raw, _, t: (*raw, t),
    )
    exercise.mistake(*FED_BACK, example=(_adam(kept=fed_back, **same),))
    exercise.mistake(*NOT_COUNTED, example=(_adam(kept=uncounted, **same),))


_slips(adam_l2_step, penalty=_together)


def _toward_zero(own: np.ndarray, theta: np.ndarray, g: np.ndarray) -> np.ndarray:
    return np.sign(own) + np.sign(theta) == 0


def _cautious(decay: Callable = _shrink, where: Callable = _toward_zero, **slip: Any) -> Callable:
    return _adam(decay=decay, where=where, **slip)






_slips(adamw_step, decay=_shrink, where=_toward_zero)


def _root(n: WeightDecay) -> float:
    """The share that each of equal steps takes."""
    return float(1 - n.left ** (1 / n.steps))
