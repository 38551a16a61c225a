"""Unit 10: what the sister tasks in transformers_are_rnns.md need."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import transformers_are_rnns as check


def _by_powers(Q: np.ndarray, K: np.ndarray, V: np.ndarray, p: int) -> np.ndarray:
    weights = np.tril(check._likeness(Q, K) ** p)
    return check.weighted_means(weights, V)


def _by_sim(Q: np.ndarray, K: np.ndarray, V: np.ndarray, c: float) -> np.ndarray:
    return check._sim_definition(Q, K, V, lambda q, k: 1 / (1 + c * (q - k) @ (q - k)))


def _leading(way: str, i: int, d: int) -> int:
    import sympy

    work = sympy.Poly(check.token_work(way), *sympy.symbols("i d"))
    degree = work.total_degree()
    return int(sum(c * i**a * d**b for (a, b), c in work.terms() if a + b == degree))


def _ways(i: int, d: int, layers: int) -> dict:
    names = ("without_cache", "with_cache", "recurrence")
    return {name: layers * _leading(way, i, d) for name, way in zip(names, check.WAYS, strict=True)}


def _table(rng: np.random.Generator) -> dict[str, Any]:
    d, n = int(rng.integers(8, 129)), int(rng.integers(100, 1000))
    return {"d": d, "n": n, **dict(zip("abc", check.total_work(d, (n,))[n].values(), strict=True))}
