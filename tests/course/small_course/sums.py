"""Sums in plain NumPy."""

import numpy as np

from selfcheck.reserved import answer


@answer
def running_sums(x: np.ndarray) -> np.ndarray:
    """x₁, x₁ + x₂, x₁ + x₂ + x₃ and so on."""
    return np.cumsum(x)


def mean(x: np.ndarray) -> float:
    """The sum, divided by how many there are."""
    return float(np.sum(x) / len(x))
