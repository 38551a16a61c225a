"""Unit 12: what the sister tasks in capstone.md need."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfcheck.practice import whole

from ..numbers.capstone import BACKWARD_LINES, BUGS
from . import capstone as check


def _faded(Q, K, V, G, gamma) -> dict:
    found = check.attended_gradients(Q, K, V, G, gamma)
    return {"d_v": found["V"], "d_k": found["K"]}


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


def _planted(rng: np.random.Generator) -> dict[str, Any]:
    """A backward pass with a slip, and numbers on which it shows."""
    while True:
        number, slip = SLIPS[rng.integers(len(SLIPS))]
        lines = [*BACKWARD_LINES[: number - 1], slip, *BACKWARD_LINES[number:]]
        arrays = {name: whole(rng, 2, 2, largest=2) for name in "QKVG"}
        pairs = zip(
            check.run_lines(lines, **arrays), check.softmax_gradients(**arrays), strict=True
        )
        if any(np.abs(found - true).max() > 0.01 for found, true in pairs):
            code = "\n".join(f"{k}  {line}" for k, line in enumerate(lines, start=1))
            return {"code": code, **arrays}


def _mended(code: str, Q, K, V, G) -> dict:
    lines = [line[3:] for line in code.splitlines()]
    number = next(k for k, line in enumerate(lines) if line != BACKWARD_LINES[k]) + 1
    names = dict(zip(("d_Q", "d_K", "d_V"), check.softmax_gradients(Q, K, V, G), strict=True))
    return {"line": number, **names}


def _sizes(m: int, h: int, L: int, t: int) -> dict:
    model = check.sized({"m": m, "h": h, "L": L})
    kept = {"state_bytes": check.bytes_of_state(model), "cache_bytes": 8 * L * 2 * t * h * m}
    return {"parameters": model.size, "multiply_adds": check._pixel_macs(model), **kept}


def _above_zero(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(1, 10, 2).astype(float)
