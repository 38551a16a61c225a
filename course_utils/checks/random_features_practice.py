"""Unit 09: what the sister tasks in random_features.md need."""

from __future__ import annotations

import numpy as np

from selfcheck.practice import whole

from . import random_features as check


def _completed(c: float, k: int) -> dict:
    """c·xy = a·(xx + 2k·xy + k²·yy) + b·xx + e·yy, solved at three places."""
    places = np.array([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])  # xx, xy, yy
    rows = [[xx + 2 * k * xy + k * k * yy, xx, yy] for xx, xy, yy in places]
    a, b, e = np.linalg.solve(rows, c * places[:, 1])
    return {"a": a, "b": b, "e": e}


def _needed(x: float, y: float, r: float) -> float:
    mean, one = check.moments(x, y)
    return one / mean**2 / r**2


def _few(rng: np.random.Generator) -> dict:
    parts = {name: whole(rng, 2, 1, largest=9) / 10 for name in ("Q", "K")}
    W = whole(rng, 2, 1, largest=20) / 10
    counts = [int(rng.integers(1, 4)), int(rng.integers(0, 4))]
    return {**parts, "V": whole(rng, 2, 1, largest=9), "W": W, "counts": np.array(counts)}


def _pairs(x: float, y: float, m: int) -> dict:
    pair = check.pair_moments(x, y)[1]
    return {"pair_variance": pair / m, "gain": pair / (check.moments(x, y)[1] / 2)}
