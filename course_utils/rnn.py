"""Recurrent networks in plain NumPy: two recurrences, their Jacobians, and what bounds them.

Shapes in the docstrings: n units, k inputs, T steps. W is (n, n), U is (n, k), b is (n,). States
h_0 … h_T are the rows of an array (T+1, n). Jacobians are numerator layout: entry (i, j) is
∂h_i/∂x_j. Unit 01 derives all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.function_with_slope import Activation
from selfcheck.reserved import answer

# -- activations ----------------------------------------------------------------------------------


def identity(x: Any) -> Any:
    return np.array(x, dtype=float)


def identity_prime(x: Any) -> Any:
    return np.ones(np.shape(x))


def relu(x: Any) -> Any:
    return np.maximum(x, 0.0)


def relu_prime(x: Any) -> Any:
    """1 above 0, else 0; at 0 itself, where there is no slope, libraries say 0 too."""
    return np.where(np.asarray(x) > 0, 1.0, 0.0)


def tanh_prime(x: Any) -> Any:
    return 1 - np.tanh(x) ** 2


def sigmoid(x: Any) -> Any:
    """1/(1 + e^{−x}), written so that it never overflows."""
    return (1 + np.tanh(np.asarray(x) / 2)) / 2


def sigmoid_prime(x: Any) -> Any:
    return sigmoid(x) * (1 - sigmoid(x))


def softplus(x: Any) -> Any:
    """ln(1 + e^{x}): a smooth ReLU whose slope is the sigmoid."""
    return np.logaddexp(x, 0.0)


def silu(x: Any) -> Any:
    """x · sigmoid(x), also called swish."""
    return x * sigmoid(x)


def silu_prime(x: Any) -> Any:
    return sigmoid(x) + x * sigmoid_prime(x)


def normal_cdf(x: Any) -> Any:
    """Φ(x), the share of a standard normal below x."""
    erf = np.vectorize(math.erf, otypes=[float])  # NumPy has none of its own
    return (1 + erf(np.asarray(x) / math.sqrt(2))) / 2


def normal_density(x: Any) -> Any:
    return np.exp(-(np.asarray(x) ** 2) / 2) / math.sqrt(2 * math.pi)


def gelu(x: Any) -> Any:
    """x · Φ(x)."""
    return x * normal_cdf(x)


def gelu_prime(x: Any) -> Any:
    return normal_cdf(x) + x * normal_density(x)


# GELU is steepest at x = √2, SiLU where x·tanh(x/2) = 2; both overshoot the slope 1 of a ReLU.
ACTIVATIONS = {
    activation.name: activation
    for activation in [
        Activation("identity", identity, identity_prime, 1.0),
        Activation("ReLU", relu, relu_prime, 1.0),
        Activation("tanh", np.tanh, tanh_prime, 1.0),
        Activation("sigmoid", sigmoid, sigmoid_prime, 0.25),
        Activation("softplus", softplus, sigmoid, 1.0),
        Activation("GELU", gelu, gelu_prime, 1.1289041451851548),
        Activation("SiLU", silu, silu_prime, 1.0998393201288669),
    ]
}

# -- two recurrences, one network -----------------------------------------------------------------

Sigma = Callable[[Any], Any]


def h_step(h: np.ndarray, x: Any, W: Any, U: Any, b: Any, sigma: Sigma) -> np.ndarray:
    """h_t = W σ(h_{t−1}) + U x_t + b: the state before the activation."""
    return W @ sigma(h) + U @ x + b


def g_step(g: np.ndarray, x: Any, W: Any, U: Any, b: Any, sigma: Sigma) -> np.ndarray:
    """g_t = σ(W g_{t−1} + U x_t + b): the state after the activation."""
    return sigma(W @ g + U @ x + b)


def run(step: Callable, start: Any, xs: Any, W: Any, U: Any, b: Any, sigma: Sigma) -> np.ndarray:
    """All states from `start` on, (T+1, n): row t is the state after t inputs."""
    states = [np.array(start, dtype=float)]
    for x in xs:
        states.append(step(states[-1], x, W, U, b, sigma))
    return np.array(states)


# -- Jacobians ------------------------------------------------------------------------------------


@answer
def step_jacobian(W: Any, h: Any, dsigma: Sigma) -> np.ndarray:
    """∂h_t/∂h_{t−1} = W diag(σ′(h_{t−1})): column j of W, scaled by the slope of unit j."""
    return W @ np.diag(dsigma(h))


@answer
def jacobians(W: Any, hs: Any, dsigma: Sigma) -> np.ndarray:
    """∂h_t/∂h_0 for t = 0 … T, (T+1, n, n), from the states h_0 … h_T."""
    products = [np.eye(len(W))]
    for h in hs[:-1]:  # the step from h_{t−1} to h_t has its slopes at h_{t−1}: h_T has none
        products.append(step_jacobian(W, h, dsigma) @ products[-1])
    return np.array(products)


@answer
def jacobian_product(W: Any, hs: Any, dsigma: Sigma) -> np.ndarray:
    """∂h_T/∂h_0 from the states h_0 … h_T: exactly T factors, the latest on the left."""
    return jacobians(W, hs, dsigma)[-1]


def gradient_norms(W: Any, hs: Any, dsigma: Sigma) -> np.ndarray:
    """‖∂h_t/∂h_0‖₂ for t = 0 … T, from the states h_0 … h_T."""
    return np.linalg.norm(jacobians(W, hs, dsigma), 2, axis=(1, 2))


@answer
def finite_differences(f: Callable[[np.ndarray], Any], x: Any, eps: float = 1e-6) -> np.ndarray:
    """The Jacobian of f at x as the definition has it: each input nudged up and down by ε."""
    x = np.array(x, dtype=float)
    columns = [(f(x + nudge) - f(x - nudge)) / (2 * eps) for nudge in eps * np.eye(len(x))]
    return np.array(columns).T


# -- sizes of a matrix ----------------------------------------------------------------------------


def spectral_norm(A: Any) -> float:
    """‖A‖₂, the most by which A stretches a vector: the square root of λ₁(AᵀA)."""
    return float(np.linalg.norm(A, 2))


def spectral_radius(A: Any) -> float:
    """ρ(A), the largest |eigenvalue|: what rules the long run of A·A·A···."""
    return float(np.abs(np.linalg.eigvals(A)).max())


def matrix_with(norm: float, radius: float) -> np.ndarray:
    """A 2×2 matrix with this spectral norm and radius; the further apart, the less normal it is."""
    if not 0 <= radius <= norm or norm == 0:
        raise ValueError(f"A radius lies between 0 and the norm; got {radius} and {norm}.")
    return np.array([[radius, norm - radius**2 / norm], [0.0, radius]])
