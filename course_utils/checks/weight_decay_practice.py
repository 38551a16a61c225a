"""Unit 03: what the sister tasks in weight_decay.md need."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfcheck.practice import whole

from .. import optimizers
from ..optimizers import AdamState, adam_step
from . import weight_decay as check

HUNDREDTHS = [k / 100 for k in range(1, 30)]


def _gamma(lamda: float, eta: float, c: float) -> float:
    """What a penalty of strength 1 takes in a step of size 1 is compared with the decay."""
    slope = check._slope(lambda theta: c * theta @ theta, check.START)[0]
    return lamda * check.START[0] / (eta * slope)


def _state(rng: np.random.Generator) -> dict:
    half = lambda: whole(rng, 2, largest=4) / 2  # noqa: E731
    return {
        "m": half(),
        "v": np.abs(half()) + 0.5,
        "t": int(rng.integers(1, 4)),
        "g": half(),
        "theta": half(),
        "eta": float(rng.choice([0.1, 0.5, 1.0])),
        "strength": float(rng.choice([0.1, 0.2, 0.25, 0.5])),
    }


def _toward(m, v, t, g, theta, eta, strength, goal) -> np.ndarray:
    seen = g + 2 * strength * (theta - goal)
    return adam_step(AdamState(m, v, t), seen, eta, 0.5, 0.5, 0.0)[1]


def _cautious(m, v, t, g, theta, eta, strength) -> np.ndarray:
    adam = adam_step(AdamState(m, v, t), g, eta, 0.5, 0.5, 0.0)[1]
    move = check.Move(g, theta, adam, g, adam)
    return check._decayed_where_it_helps(move, eta, strength)


def _ratios(s_1: float, s_2: float) -> dict:
    rules: dict[str, Any] = {"adam_l2": (optimizers.adam_l2_step, {"gamma": check.SMALL})}
    rules["adamw"] = optimizers.adamw_step, {"lamda": check.SMALL}
    rules["sgd_l2"] = optimizers.sgd_l2_step, {"gamma": check.SMALL}
    rates = {
        name: check._shrink_rates(rule, [s_1, s_2], **how) for name, (rule, how) in rules.items()
    }
    return {name: float(first / second) for name, (first, second) in rates.items()}


def _limits(eta: float, lamda: float, gamma: float, g: float) -> dict:
    point = {"eta": eta, "lamda": lamda, "gamma": gamma, "g": g}
    return {"decay_limit": check._by_sign(point, True), "l2_limit": check._by_sign(point, False)}
