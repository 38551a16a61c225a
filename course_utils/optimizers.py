"""Optimizers as pure step functions: state and gradient in, new state and move Δθ out.

Unit 02 derives the momentum rules.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

Step = Callable[..., tuple[Any, Any]]


def momentum_step(v: Any, g: Any, alpha: float, epsilon: float) -> tuple[Any, Any]:
    """Rule M: v_t = α v_{t−1} + ε g_t and Δθ_t = −v_t."""
    v = alpha * v + epsilon * g
    return v, -v


def averaging_step(v: Any, g: Any, beta: float, delta: float) -> tuple[Any, Any]:
    """Rule A: v_t = β v_{t−1} + (1−β) g_t and Δθ_t = −δ v_t."""
    v = beta * v + (1 - beta) * g
    return v, -delta * v


def library_step(v: Any, g: Any, alpha: float, lr: float) -> tuple[Any, Any]:
    """Rule L, as deep-learning libraries write it: v_t = α v_{t−1} + g_t and Δθ_t = −lr v_t."""
    v = alpha * v + g
    return v, -lr * v


def moves(step: Step, gradients: Iterable[Any], **parameters: float) -> np.ndarray:
    """Every Δθ_t a rule makes on a given sequence of gradients, from v_0 = 0."""
    v, result = 0.0, []
    for g in gradients:
        v, move = step(v, g, **parameters)
        result.append(move)
    return np.array(result)


def running_average(gradients: Iterable[Any], beta: float) -> np.ndarray:
    """v_1 … v_T of rule A, from v_0 = 0."""
    return -moves(averaging_step, gradients, beta=beta, delta=1.0)


def descend(
    step: Step,
    gradient: Callable[[np.ndarray], np.ndarray],
    theta: np.ndarray,
    steps: int,
    **parameters: float,
) -> np.ndarray:
    """The path θ_0 … θ_T of a rule that follows a gradient."""
    theta, v = np.array(theta, dtype=float), np.zeros(np.shape(theta))
    path = [theta]
    for _ in range(steps):
        v, move = step(v, gradient(theta), **parameters)
        theta = theta + move
        path.append(theta)
    return np.array(path)
