"""Unit 07: what several known mistakes in lookup.md need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.compare import close

from ..attention import softmax
from ..numbers.lookup import Shelf
from .lookup import DATA, FIELDS, _regress, _weights

Score = Callable[[np.ndarray, np.ndarray, float, int], np.ndarray]


def _scores(Y: np.ndarray, X: np.ndarray, M: float, dot: float = 2, norm: float = -1) -> np.ndarray:
    """dot · M²⟨y, x⟩ + norm · M²‖x‖², right for the default factors."""
    return M**2 * (dot * Y @ X.T + norm * (X**2).sum(axis=1))


MISTAKEN: dict[str, Score] = {
    "no norm": lambda Y, X, M, p: _scores(Y, X, M, norm=0),
    "no norm and no root": lambda Y, X, M, p: _scores(Y, X, M, norm=0) / np.sqrt(p),
    "norm added": lambda Y, X, M, p: _scores(Y, X, M, norm=1),
    "no two": lambda Y, X, M, p: _scores(Y, X, M, dot=1),
    "norm without M": lambda Y, X, M, p: _scores(Y, X, M, norm=0) - (X**2).sum(axis=1),
    "no root": lambda Y, X, M, p: _scores(Y, X, M) / np.sqrt(p),
    "root twice": lambda Y, X, M, p: _scores(Y, X, M) * np.sqrt(p),
    "root of another width": lambda Y, X, M, p: _scores(Y, X, M) * np.sqrt((p - 1) / p),
    "M not squared": lambda Y, X, M, p: _scores(Y, X, M) / M,
    "half": lambda Y, X, M, p: _scores(Y, X, M) / 2,
}


def _weighs_like(*mistakes: str) -> Callable[..., bool]:
    """A predicate: on every field the weights are those of one of these mistakes."""

    def alike(keys: FunctionAnswer, queries: FunctionAnswer, mistake: str) -> bool:
        for field in FIELDS:
            X, Y, M = field
            seen, p = _weights(keys, queries, field)
            if p < 2 or not close(seen, softmax(MISTAKEN[mistake](Y, X, M, p))):
                return False
        return True

    return lambda keys, queries: any(alike(keys, queries, mistake) for mistake in mistakes)


def _keys(norm: float = -1, power: int = 2) -> Callable[..., np.ndarray]:
    """keys(X, M) with norm · M^power · ‖x‖² as the last number."""
    return lambda X, M: np.c_[X, norm * M**power * (X**2).sum(axis=1)]


def _queries(dot: float = 2, scale: Callable[[int], float] = np.sqrt) -> Callable[..., np.ndarray]:
    """queries(Y, M) that go with these keys, times scale(number of numbers in a query)."""
    return lambda Y, M: (
        np.c_[dot * M**2 * Y, np.ones(len(Y))] * scale(len(Y[0]) + 1)  # one more than coordinates
    )


def _unit(*places: int) -> list[list[float]]:
    """A 5×1 matrix with 1 at these places, counted from 1."""
    return [[float(place in places)] for place in range(1, 6)]


def _estimates_like(*mistakes: str) -> Callable[..., bool]:
    """A predicate: on all data the estimates are those of one of these mistakes."""

    def alike(inputs: FunctionAnswer, mistake: str) -> bool:
        for x_new, x, y, M in DATA:
            seen, p = _regress(inputs, x_new, x, y, M)
            scores = MISTAKEN[mistake](x_new[:, None], x[:, None], M, p)
            if not close(seen, softmax(scores) @ y):
                return False
        return True

    return lambda inputs, *_: any(alike(inputs, mistake) for mistake in mistakes)


def _inputs(
    keys: Callable[..., np.ndarray], queries: Callable[..., np.ndarray], values: Any = None
) -> Callable[..., tuple]:
    """A wrong answer to 7.5 from one to 7.1."""

    def inputs(x_new: np.ndarray, x: np.ndarray, y: np.ndarray, M: float) -> tuple:
        V = x if values == "x" else y
        return queries(x_new[:, None], M), keys(x[:, None], M), V[:, None]

    return inputs


def _or_nothing(
    null: Callable[..., float], length: int = 0, root: int = 1, more: bool = True, of: int = 2
) -> Any:
    """Wrong inputs: the last key's own number is null(M, r), `length` times −M²‖y‖² is known."""

    def inputs(
        Y: np.ndarray, X: np.ndarray, a: np.ndarray, M: float, r: float, c: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        squared = M * M * (Y * Y).sum(axis=1)
        Q = np.c_[2 * M * M * Y, np.ones(len(Y)), -length * squared]
        last = [*np.zeros(len(X[0])), null(M, r), 0.0]
        K = np.r_[np.c_[X, -M * M * (X * X).sum(axis=1), np.ones(len(X))], [last]]
        count = len(X) + more
        return Q * (len(Y[0]) + of) ** (root / 2), K[:count], np.append(a, c)[:count]

    return inputs


def _margin(n: Shelf) -> float:
    nearest, second = sorted((place - n.query) ** 2 for place in n.places)[:2]
    return second - nearest


def _middle(n: Shelf, sign: float = 0, power: int = 2, scale: float = 0.5) -> float:
    """Where the border would be, moved from the middle by another amount."""
    (a, b), (first, second) = n.places[:2], n.copies
    return float((a + b) / 2 + sign * scale * np.log(first / second) / (n.M**power * (b - a)))
