"""Optimizers as pure step functions: state and gradient in, new state and move Δθ out.

Unit 02 derives the momentum rules. Unit 03 derives the rules that shrink the parameters; these
look at θ as well.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from selfcheck.reserved import answer

Step = Callable[..., tuple[Any, Any]]


@answer
def momentum_step(v: Any, g: Any, alpha: float, epsilon: float) -> tuple[Any, Any]:
    """Rule M: v_t = α v_{t−1} + ε g_t and Δθ_t = −v_t."""
    v = alpha * v + epsilon * g
    return v, -v


@answer
def averaging_step(v: Any, g: Any, beta: float, delta: float) -> tuple[Any, Any]:
    """Rule A: v_t = β v_{t−1} + (1−β) g_t and Δθ_t = −δ v_t."""
    v = beta * v + (1 - beta) * g
    return v, -delta * v


@answer
def library_step(v: Any, g: Any, alpha: float, lr: float) -> tuple[Any, Any]:
    """Rule L, as PyTorch writes it: v_t = α v_{t−1} + g_t and Δθ_t = −lr v_t."""
    v = alpha * v + g
    return v, -lr * v


class AdamState(NamedTuple):
    """What Adam remembers: the raw averages of g and of g², and the number of steps so far."""

    m: Any = 0.0
    v: Any = 0.0
    t: int = 0


@answer
def adam_step(
    state: AdamState,
    g: Any,
    eta: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
) -> tuple[AdamState, Any]:
    """Adam: Δθ_t = −η m̂_t / (√v̂_t + ε), with both averages corrected on a copy."""
    m, v, t = state
    m, _ = averaging_step(m, g, beta1, delta=1)
    v, _ = averaging_step(v, g**2, beta2, delta=1)
    t = t + 1
    m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
    return AdamState(m, v, t), -eta * m_hat / (np.sqrt(v_hat) + epsilon)


@answer
def adam_l2_step(
    state: AdamState, g: Any, theta: Any, eta: float, gamma: float, **adam: float
) -> tuple[AdamState, Any]:
    """Adam on L + γ‖θ‖²: the gradient of the penalty, 2γθ, joins g before the averages."""
    return adam_step(state, g + 2 * gamma * theta, eta, **adam)


@answer
def adamw_step(
    state: AdamState, g: Any, theta: Any, eta: float, lamda: float, **adam: float
) -> tuple[AdamState, Any]:
    """Adam with decoupled decay: the averages see g alone, and θ shrinks by λθ beside them."""
    state, move = adam_step(state, g, eta, **adam)
    return state, move - lamda * theta


def sgd_step(state: Any, g: Any, eta: float) -> tuple[Any, Any]:
    """Plain gradient descent: Δθ_t = −η g_t. It remembers nothing; the state goes through."""
    return state, -eta * g


def sgd_l2_step(state: Any, g: Any, theta: Any, eta: float, gamma: float) -> tuple[Any, Any]:
    """Gradient descent on L + γ‖θ‖²: the penalty adds 2γθ to the gradient."""
    return sgd_step(state, g + 2 * gamma * theta, eta)


def sgd_decay_step(state: Any, g: Any, theta: Any, eta: float, lamda: float) -> tuple[Any, Any]:
    """Gradient descent with weight decay: θ ← (1−λ)θ − η g."""
    state, move = sgd_step(state, g, eta)
    return state, move - lamda * theta


@answer
def moves(step: Step, gradients: Iterable[Any], **parameters: float) -> np.ndarray:
    """Every Δθ_t a rule makes on a given sequence of gradients, from v_0 = 0."""
    v, result = 0.0, []
    for g in gradients:
        v, move = step(v, g, **parameters)
        result.append(move)
    return np.array(result)


@answer
def running_average(gradients: Iterable[Any], beta: float) -> np.ndarray:
    """v_1 … v_T of rule A, from v_0 = 0."""
    return -moves(averaging_step, gradients, beta=beta, delta=1.0)


@answer
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


@answer
def train(
    step: Step,
    gradient: Callable[[np.ndarray, int], Any],
    theta: Any,
    steps: int,
    **parameters: Any,
) -> np.ndarray:
    """The path θ_0 … θ_T of a rule that looks at θ too; gradient(θ, t) for t = 1 … T."""
    theta, state = np.array(theta, dtype=float), AdamState()
    path = [theta]
    for t in range(1, steps + 1):
        state, move = step(state, gradient(theta, t), theta, **parameters)
        theta = theta + move
        path.append(theta)
    return np.array(path)
