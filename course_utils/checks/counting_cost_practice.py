"""Unit 06: what the sister tasks in counting_cost.md need, counted by the meter."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from selfcheck.meter import measure, polynomial

from ..attention import multi_head as attend


@cache
def _macs() -> Any:
    """MACs of H heads of width w on N tokens of width D, with W^O."""

    def count(N: int, D: int, H: int, w: int) -> int:
        heads = [tuple(np.ones((D, w)) for _ in range(3)) for _ in range(H)]
        return measure(attend, np.ones((1, N, D)), heads, np.ones((H * w, D))).macs

    return polynomial(count, N=2, D=1, H=1, w=1)


def _of_heads(H: int, w: int) -> Any:
    return _macs().subs({"H": H, "w": w})
