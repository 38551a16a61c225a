"""Unit 10: what several known mistakes in transformers_are_rnns.md need."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.kinds import FormulaAnswer

from ..numbers.transformers_are_rnns import Memory
from .transformers_are_rnns import FAR, TOKEN, _similarity, draw, outputs


def _masked(Q, K):
    return np.tril(_similarity(Q, K))


def _remembering(read: Callable) -> Callable:
    """A step that keeps all tokens, and reads this from the last query and all q, k and v."""

    def step(state, q, k, v):
        tokens = [*state, (q, k, v)]
        return tokens, read(q[None], *(np.array(rows) for rows in zip(*tokens, strict=True)))

    return step


def _no_tokens(d, width):
    return []


def _reads(weigh: Callable, over: Callable | None = None) -> tuple[Callable, Callable]:
    """Start and step of an answer with these weights and this divisor, their sum if None."""

    def read(q, Q, K, V):
        weights = weigh(q, K)[0]
        return weights @ V / (weights.sum() if over is None else over(q, Q, K))

    return _no_tokens, _remembering(read)


_HIDDEN: list = []


def _late(q, Q, K, V):
    weights = _similarity(q, K[:-1])[0] if len(K) > 1 else np.zeros(0)
    with np.errstate(all="ignore"):
        return weights @ V[:-1] / np.float64(weights.sum())


LATE = FunctionAnswer(_no_tokens, "none"), FunctionAnswer(_remembering(_late), "late")


def _rows_after_first(initial_state: FunctionAnswer, step: FunctionAnswer) -> np.ndarray:
    """The first output may be 0/0, or something that was put in its place."""
    return outputs(initial_state, step, draw(4, 2, 2))[1:]


def _over_queries(A, V):
    """The sum over i where one over j is meant."""
    return A / A.sum(axis=0) @ V


def _phi_unnormalized(Q, K, V, phi):
    return phi(Q) @ (phi(K).T @ V)


def degree(formula: FormulaAnswer, name: str) -> float:
    """The power with which a formula grows in one size, the other being large too."""
    here = dict.fromkeys(TOKEN.domain, 10**4)
    ratio = formula(**here | {name: 10**4 * FAR}) / formula(**here)
    return round(math.log(ratio) / math.log(FAR), 2) if ratio > 0 else math.nan


def _products(first: int = 1, last: int = 1) -> Callable[[np.ndarray], np.ndarray]:
    """The gates from j + first to i + last − 1, multiplied."""

    def decay(g: np.ndarray) -> np.ndarray:
        n = len(g)
        ones = np.ones(n + 1)  # products of no gate
        up_to = [np.append(np.cumprod(g[: i + last][::-1])[::-1], ones) for i in range(n)]
        return np.tril([row[first : first + n] for row in up_to])

    return decay


def _by(n: Memory, scale: Callable[..., Any], correct: bool = True, order: int = 1) -> np.ndarray:
    """The state if an error (or a value) is written with another factor, or in another order."""
    s = np.zeros(3)
    for k, v in list(zip(np.array(n.keys, dtype=float), n.values, strict=True))[::order]:
        s = s + k * (v - correct * (k @ s)) * scale(k @ k)
    return s
