"""Unit 08: what several known mistakes in linear_attention.md need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.calls import FunctionAnswer, line_at
from selfcheck.compare import close
from selfcheck.cost import cost_in_n

from ..attention import softmax
from ..numbers.linear_attention import Waves
from .linear_attention import TWO_BY_THREE, Line, _without_own, tokens, tokens_and_phi


def _ones(one_n):
    return one_n


def has_line(form: Line) -> Callable[[list[Line]], bool]:
    """A predicate: one of the lines has the value of this one."""
    return lambda lines: any(
        close(line_at(line, TWO_BY_THREE), line_at(form, TWO_BY_THREE)) for line in lines
    )


def right_but(
    cost: str, example: Callable, inputs: Callable[[int], tuple]
) -> Callable[[FunctionAnswer], bool]:
    """A predicate: the numbers are those of the example, and the cost grows in this way."""

    def matches(f: FunctionAnswer) -> bool:
        return gives(example, inputs)(f) and cost_in_n(f, inputs, example).kind == cost

    return matches


def gives(example: Callable, inputs: Callable[[int], tuple]) -> Callable[[FunctionAnswer], bool]:
    """A predicate: the numbers are those of the example, whatever they cost."""
    return lambda f: close(f(*inputs(4)), example(*inputs(4)))


def _turned(weights: Callable, over: Callable = lambda P: P.sum(axis=0)[:, None]) -> dict[str, Any]:
    """The mistake of other weights P, or of another divisor."""

    def example(Q, K, U):
        P = weights(Q, K)
        return P.T @ U / over(P)

    return {"example": (example,), "when": gives(example, tokens)}


def _separable(Q, K):
    return softmax(Q) @ softmax(K, axis=0).T


def alike_rows(A: np.ndarray) -> bool:
    return close(A, np.tile(A[:1], (len(A), 1)))


def _divided(*axes: int, scores: Callable = lambda Q, K: Q @ K.T) -> Callable:
    """The exponentials divided by their sums over these axes, one after the other, times V."""

    def run(Q, K, V):
        A = np.exp(scores(Q, K))
        for axis in axes:
            A = A / A.sum(axis=axis, keepdims=True)
        return A @ V

    return run


def _weighing(
    weights: Callable = _without_own,
    over: Callable = lambda A, F, G: A.sum(axis=1, keepdims=True),
    of: Callable = lambda V, phi: V,
) -> dict[str, Any]:
    """The mistake of other weights A, of another divisor, or of other values."""

    def example(Q, K, V, phi):
        pair = phi(Q), phi(K)
        A = weights(*pair)
        return A @ of(V, phi) / over(A, *pair)

    return {"example": (example,), "when": gives(example, tokens_and_phi)}


def _one_sided(Q, K, V, phi):
    A = _without_own(phi(Q), K)
    return A @ V / A.sum(axis=1, keepdims=True)


def _angle(n: Waves, weights: Any) -> float:
    """The angle of the sum of the keys' arrows with these lengths."""
    return float(np.arctan2(weights @ np.sin(n.keys), weights @ np.cos(n.keys)))
