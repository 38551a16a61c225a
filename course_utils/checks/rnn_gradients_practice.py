"""Unit 01: what the sister tasks in rnn_gradients.md need."""

from __future__ import annotations

import numpy as np

from selfcheck.practice import whole

SMOOTH = ["tanh", "sigmoid", "SiLU", "softplus"]


def _small(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return whole(rng, *shape, largest=9) / 5
