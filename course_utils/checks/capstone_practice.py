"""Unit 12: what the sister tasks in capstone.md need."""

from __future__ import annotations

import numpy as np

from ..numbers.capstone import BUGS

SLIPS = (
    *BUGS,
    (1, "A = attention_weights(K, Q)"),
    (2, "d_V = A.T @ G / np.sqrt(Q.shape[1])"),
    (3, "d_A = V @ G.T"),
    (4, "d_S = A * (d_A + (d_A * A).sum(axis=1, keepdims=True))"),
    (4, "d_S = d_A - (d_A * A).sum(axis=1, keepdims=True)"),
    (5, "d_Q = d_S @ Q / np.sqrt(Q.shape[1])"),
    (6, "d_K = d_S.T @ K / np.sqrt(Q.shape[1])"),
)


def _above_zero(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(1, 10, 2).astype(float)
