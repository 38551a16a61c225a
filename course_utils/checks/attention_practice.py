"""Unit 04: what the sister tasks in attention.md need."""

from __future__ import annotations

from functools import cache
from typing import Any

from selfcheck.meter import polynomial

from . import attention as check


@cache
def _counted(bias: str, shared: str) -> Any:
    """Entries of all arrays that are learned, in T, d, m and l."""

    def count(T: int, d: int, m: int, l: int) -> int:  # noqa: E741
        arrays = check._arrays(T, d, m, l)
        if shared == "all heads share one $W_k$":
            arrays = arrays[:1] + arrays[1:] if T == 1 else arrays
            arrays = [W for k, W in enumerate(arrays) if k % 3 != 1 or k == 1 or k == 3 * T]
        if shared == "all heads share one $W_k$ and one $W_v$":
            arrays = [W for k, W in enumerate(arrays) if k % 3 == 0 or k < 3 or k == 3 * T]
        biases = {"no bias": 0, "a bias for each query": T * m, "a bias after $W^O$": d}
        return sum(W.size for W in arrays) + biases[bias]

    return polynomial(count, T=1, d=1, m=1, l=1)
