"""Unit 07: what the sister tasks in lookup.md need."""

from __future__ import annotations

import numpy as np

from selfcheck.practice import whole

SHARP = [0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


def _measured(rng: np.random.Generator) -> dict:
    x, y = np.sort(rng.permutation(9)[:3] - 4.0), whole(rng, 3, largest=9)
    return {"x": x, "y": y, "M": float(rng.choice(SHARP)), "x_new": whole(rng, 2, largest=8) / 2}
