"""Unit 11: what the sister tasks in transport.md need."""

from __future__ import annotations

from typing import Any

import numpy as np


def _masses(rng: np.random.Generator, last: int = 40) -> dict[str, Any]:
    """Three places on either side, unsorted, with the same total."""
    total, (x, y) = int(rng.integers(5, 20)), (rng.permutation(last)[:3] for _ in range(2))
    p, q = (np.bincount(rng.integers(0, 3, total), minlength=3) + 1 for _ in range(2))
    return {"x": x, "p": p, "y": y, "q": q}
