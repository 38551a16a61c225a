"""Unit 01: what the sister tasks in rnn_gradients.md need."""

from __future__ import annotations

from functools import partial

import numpy as np

from selfcheck.practice import whole

from ..rnn import ACTIVATIONS, finite_differences, spectral_norm
from . import rnn_gradients as check

SMOOTH = ["tanh", "sigmoid", "SiLU", "softplus"]


def _small(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return whole(rng, *shape, largest=9) / 5


def _leaky(W: np.ndarray, a: np.ndarray, sigma: str, keep: float) -> np.ndarray:
    sigma_of = partial(check._next_output, W, a, ACTIVATIONS[sigma])
    return keep * np.eye(len(a)) + finite_differences(sigma_of, 0 * a)


def _drawn_leaky(rng: np.random.Generator) -> dict:
    n = int(rng.integers(1, 3))
    keep, sigma = float(rng.integers(1, 10)) / 10, SMOOTH[rng.integers(4)]
    return {"W": whole(rng, n, n), "a": _small(rng, n), "sigma": sigma, "keep": keep}


def _way(rng: np.random.Generator) -> dict:
    return {
        "W": whole(rng, 2, 2),
        "h_0": _small(rng, 2),
        "h_1": _small(rng, 2),
        "h_2": _small(rng, 2),
        "sigma": SMOOTH[rng.integers(4)],
        "which": ["b", "h_0"][rng.integers(2)],
    }


def _through_two(W, h_0, h_1, h_2, sigma, which) -> np.ndarray:
    hs, prime = np.array([h_0, h_1, h_2]), ACTIVATIONS[sigma].prime
    if which == "b":
        return check.over_all_ways(W, hs, prime)
    return check.jacobians(W, hs, prime)[-1]


def _long_run(W: np.ndarray) -> dict:
    return {"norm": spectral_norm(W), "factor": float(np.abs(np.linalg.eigvals(W)).max())}


def _gated(rng: np.random.Generator) -> dict:
    n = int(rng.integers(1, 3))
    W_f, W_c = whole(rng, n, n, largest=2), whole(rng, n, n, largest=2)
    return {
        "h": _small(rng, n),
        "W_f": W_f,
        "x_f": _small(rng, n),
        "W_c": W_c,
        "x_c": _small(rng, n),
    }


def _gated_jacobian(h, W_f, x_f, W_c, x_c) -> np.ndarray:
    step = partial(check.gated_step, W_f=W_f, x_f=x_f, W_c=W_c, x_c=x_c)
    return finite_differences(step, h, eps=1e-5)


def _stretched(W: np.ndarray, gamma: float, a: float, T: int) -> dict:
    network = check.Residual(W, gamma, a, T, True)
    return {"least": network.reached("least"), "most": network.reached("most")}
