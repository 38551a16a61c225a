"""Unit 03: what the sister tasks in weight_decay.md need."""

from __future__ import annotations

import numpy as np

from selfcheck.practice import whole

HUNDREDTHS = [k / 100 for k in range(1, 30)]


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
