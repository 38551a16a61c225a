"""Unit 01: what several known mistakes in rnn_gradients.md need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.calls import line_at
from selfcheck.compare import close
from selfcheck.recognition import Recognized

from ..numbers.rnn_gradients import RnnGradients, rnn_gradients
from ..rnn import ACTIVATIONS, spectral_norm
from ..rnn import spectral_radius as spectral_radius
from .rnn_gradients import FEWEST, LEAST, OTHER, SIGMOID, STEP, TANH, TRACE, Line, growth, induction


def _claim(h, sigma):
    return sigma(h)


def breaks_at(form: Line) -> Callable[[list[Line]], bool]:
    """A predicate: the first false line has the value of this one, at two steps."""

    def matches(lines: list[Line]) -> bool:
        first = induction(lines).first_false
        return first is not None and all(
            close(line_at(lines[first], step), line_at(form, step)) for step in (STEP, OTHER)
        )

    return matches


def _without_inner(W, h_prev, z, sigma):
    return sigma(W @ h_prev + z)


def _without_outer(W, h_prev, z, sigma):
    return W @ sigma(h_prev) + z


def _split(W, h_prev, z, sigma):
    return sigma(W @ sigma(h_prev)) + sigma(z)


def _power(size: Callable[..., Any]) -> Callable:
    return lambda W, gamma, T: (gamma * size(W)) ** T


def _sum_of_ways(W, hs, dsigma, B):
    """B added before the factor of a step, in place of after it."""
    for h in hs[1:-1]:
        B = (W * dsigma(h)) @ (np.eye(len(W)) + B)
    return B


def _is_dense(W: np.ndarray) -> bool:
    return len(W) >= FEWEST and np.abs(W).min() >= LEAST


def _stretches_all_alike(W: np.ndarray) -> bool:
    return close(W @ W.T, spectral_norm(W) ** 2 * np.eye(len(W)))


def _explodes(activation: str, calm_W: np.ndarray) -> bool:
    return growth(calm_W, ACTIVATIONS[activation]).explodes


def _ways(
    h: np.ndarray, W_f: np.ndarray, x_f: np.ndarray, W_c: np.ndarray, x_c: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What the mistakes are put together from: f, h − c, and the slopes of gate and candidate."""
    f, c = SIGMOID(W_f @ h + x_f), TANH(W_c @ h + x_c)
    return f, h - c, f - f**2, 1 - c**2


def _face(
    face: Callable[[RnnGradients], float], student: Any = 0, within: float = 0.0
) -> Recognized:
    """A mistake that can be computed: known with every student's numbers, a count exactly."""
    return {
        "example": (student, face(rnn_gradients(student))),
        "when": lambda student, answer: close(answer, face(rnn_gradients(student)), within),
    }


def _gate(n: RnnGradients) -> float:
    return float(n.share ** (1 / n.steps))


def _until(n: RnnGradients) -> float:
    """The steps until a trace is left, not rounded yet."""
    return float(n.steps * np.log(TRACE) / np.log(n.share))


def _two_extremes(W: np.ndarray, gamma: float, a: float) -> np.ndarray:
    """The singular values of one step with all slopes γ, and with all −γ."""
    step = a * gamma * W
    return np.linalg.svd([np.eye(len(W)) + step, np.eye(len(W)) - step], compute_uv=False)


def _reach(W: np.ndarray, gamma: float, a: float) -> float:
    return a * gamma * spectral_norm(W)
