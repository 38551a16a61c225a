"""Unit 08: what the sister tasks in linear_attention.md need."""

from __future__ import annotations

import numpy as np

from . import linear_attention as check


def _scores(n: int, k: int, d: int, H: int, B: int) -> dict:
    A = np.exp(np.zeros((n, d)) @ np.zeros((k, d)).T)
    return {"rows": A.shape[0], "columns": A.shape[1], "numbers": B * H * A.size}


def _leading(n: int, m: int, d: int, H: int) -> int:
    most = check.NEAR
    each = round(check._counted(n=most, m=most, d=most) / most**3)
    return each * n * m * d * H


def _orders(n: int, k: int, m: int, l: int) -> dict:  # noqa: E741
    sizes = {"n": n, "k": k, "m": m, "l": l}
    return {f"{order}_first": check.counted_macs(order)(**sizes) for order in check.ORDERS}
