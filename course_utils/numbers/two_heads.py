"""Unit 05, two heads by hand: the numbers of a student's own. Id 0 has those of the homework."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from selfcheck.ids import student_id
from selfcheck.own_numbers import Draws, read_only, rng_for, side_by_side
from selfcheck.reserved import answer

from ..attention import attention as attend
from ..attention import attention_weights

Head = tuple[np.ndarray, np.ndarray, np.ndarray]
LOW, HIGH = -1, 4  # where the entries of a hidden W^O lie
DECIMALS = 3  # as many as are printed
HALF_UNIT = 0.5 * 10**-DECIMALS  # what rounding may take away


@dataclass(frozen=True)
class Worksheet:
    """A calculation by hand, as printed: weights of both heads, their outputs, the result."""

    weights: tuple[np.ndarray, np.ndarray]
    concat: np.ndarray
    output: np.ndarray

    def __repr__(self) -> str:
        first, second = self.weights
        return "\n\n".join(
            [
                side_by_side({"weights, head 1": first, "weights, head 2": second}),
                side_by_side({"concat, the heads side by side": self.concat}),
                side_by_side({"output": self.output}),
            ]
        )


@dataclass(frozen=True)
class TwoHeads:
    """One student's numbers: X (2×6), two heads (W^Q, W^K, W^V: 6×3), W^O (6×6), and two riddles.

    `printed` is an output of the same heads, to three decimals, through *another* W^O that is not
    shown; its entries are integers from −1 to 4. `worksheet` is a calculation with X, heads and Wo
    that carries rounded numbers along and has slips in it.
    """

    student: str
    X: np.ndarray
    heads: tuple[Head, Head]
    Wo: np.ndarray
    printed: np.ndarray
    worksheet: Worksheet

    def __repr__(self) -> str:
        parts = [f"Numbers of student {self.student}", side_by_side({"X": self.X})]
        for number, head in enumerate(self.heads, start=1):
            names = [f"W{kind} of head {number}" for kind in "qkv"]
            parts.append(side_by_side(dict(zip(names, head, strict=True))))
        parts.append(side_by_side({"Wo": self.Wo}))
        return "\n\n".join(parts)


@lru_cache(maxsize=256)
def _two_heads(student: str) -> TwoHeads:
    draws, more = rng_for(student, "05_two_heads"), rng_for(student, "05_two_heads slips")
    if student == "0":
        X, heads, Wo, worksheet = HOMEWORK_X, HOMEWORK_HEADS, HOMEWORK_WO, HOMEWORK_SHEET
        printed = _printed(draws, concat_of(X, heads))
        assert printed is not None
        return TwoHeads(student, *map(read_only, (X, heads, Wo, printed, worksheet)))
    while True:  # most candidates have a blemish; the next one is the student's
        X = _draw_input(draws)
        first, second = _draw_head(draws, X), _draw_head(draws, X)
        if first is None or second is None:
            continue
        heads = first, second
        Wo = draws.matrix(0, 2, 6, 6)
        worksheet = _draw_worksheet(draws, more, X, heads, Wo)
        printed = _printed(draws, concat_of(X, heads))
        if printed is not None:
            return TwoHeads(student, *map(read_only, (X, heads, Wo, printed, worksheet)))


def two_heads(student: Any) -> TwoHeads:
    """The numbers of this student for unit 05; id 0 is the homework."""
    return _two_heads(student_id(student))


@answer
def concat_of(X: np.ndarray, heads: tuple[Head, ...]) -> np.ndarray:
    """The outputs of the heads side by side, not yet mixed by W^O."""
    return np.concatenate([attend(X @ Wq, X @ Wk, X @ Wv) for Wq, Wk, Wv in heads], axis=-1)


@lru_cache(maxsize=1)
def possible_columns() -> np.ndarray:
    """All 46,656 columns that a hidden W^O may have, one a row."""
    steps = np.indices([HIGH - LOW + 1] * 6, dtype=np.int64)
    return LOW + steps.reshape(6, -1).T


@answer
def columns_behind(printed: np.ndarray, concat: np.ndarray, within: float) -> Iterator[np.ndarray]:
    """For each printed column, every possible column of W^O that gives it within the tolerance."""
    first, second = concat @ possible_columns().T
    for a, b in printed.T:
        fits = np.flatnonzero(np.abs(first - a) <= within)
        yield possible_columns()[fits[np.abs(second[fits] - b) <= within]]


def _printed(draws: Draws, concat: np.ndarray) -> np.ndarray | None:
    """An output through a hidden W^O that can be told from it; None if that is hard to find."""
    outputs = concat @ draws.matrix(LOW, HIGH, 6, 20)
    columns = np.round(outputs, DECIMALS)
    # three times the rounding: no other column comes even close
    alike = columns_behind(columns, concat, within=3 * HALF_UNIT)
    sound = [
        column
        for column, output, others in zip(columns.T, outputs.T, alike, strict=True)
        if len(others) == 1 and not _near_a_tie(output)
    ]
    return np.array(sound[:6]).T if len(sound) >= 6 else None


def _near_a_tie(values: np.ndarray) -> bool:
    """Whether another platform's last bit could round one of them the other way."""
    units = values * 10**DECIMALS
    return bool((np.abs(units - np.floor(units) - 0.5) < 1e-3).any())


def _draw_input(draws: Draws) -> np.ndarray:
    """Two tokens that share their last two numbers and differ in at least two others."""
    while True:
        X = draws.matrix(0, 2, 2, 6)
        X[:, 4:] = 1
        if (X[0] != X[1]).sum() >= 2 and X.any(axis=0).all():
            return X


def _draw_head(draws: Draws, X: np.ndarray) -> Head | None:
    """Matrices whose weights are neither even nor all on one token, and tell mistakes apart."""
    for _ in range(100):
        Wq, Wk, Wv = (draws.matrix(0, high, 6, 3) for high in (2, 2, 4))
        Q, K, V = X @ Wq, X @ Wk, X @ Wv
        scores = Q @ K.T
        rows, columns = scores[:, 0] - scores[:, 1], scores[0] - scores[1]
        in_range = all(2 <= abs(d) <= 7 for d in rows.tolist())
        told_apart = abs(rows[0]) != abs(rows[1]) and abs(rows[0]) != abs(columns[0])
        if in_range and told_apart and (V[0] != V[1]).all():
            return None if _near_a_tie(attention_weights(Q, K)) else (Wq, Wk, Wv)
    return None


def _draw_worksheet(
    draws: Draws, more: Draws, X: np.ndarray, heads: tuple[Head, Head], Wo: np.ndarray
) -> Worksheet:
    """Every line from the rounded line before it, with three to five slips in the last two each."""
    first, second = (np.round(attention_weights(X @ Wq, X @ Wk), DECIMALS) for Wq, Wk, _ in heads)
    weights = first, second
    values = [X @ Wv for *_, Wv in heads]
    concat = np.hstack([A @ V for A, V in zip(weights, values, strict=True)])
    exact = concat_of(X, heads)
    concat = _with_slips(draws, more, np.round(concat, DECIMALS), exact)
    output = _with_slips(draws, more, np.round(concat @ Wo, DECIMALS), exact @ Wo)
    return Worksheet(weights, concat, output)


def _with_slips(draws: Draws, more: Draws, line: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The line with some entries wrong by 2 to 9 hundredths, and not right by luck."""
    slipped = line.copy()
    for source in [draws] + [more] * more.integer(2, 4):
        while True:
            at = source.below(line.shape[0]), source.below(line.shape[1])
            units = source.integer(2, 9) * (1 if source.below(2) else -1)
            wrong = line[at] + 0.01 * units
            if slipped[at] == line[at] and abs(wrong - exact[at]) > 0.005:
                break
        slipped[at] = wrong
    return np.round(slipped, DECIMALS)


def _head(*matrices: list[list[int]]) -> Head:
    Wq, Wk, Wv = (np.array(W, dtype=np.int64) for W in matrices)
    return Wq, Wk, Wv


# The homework's own numbers. In its scan one entry of the first W^K reads 0 or 3; the printed K
# needs the 3. Its W^O is not on the page: the lecture of unit 05 recovers it.
HOMEWORK_X = np.array([[1, 0, 1, 2, 1, 1], [1, 2, 0, 1, 1, 1]], dtype=np.int64)
HOMEWORK_HEADS = (
    _head(
        [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]],
        [[1, 1, 0], [0, 1, 1], [1, 1, 1], [0, 1, 2], [2, 1, 0], [3, 3, 1]],
        [[3, 2, 1], [1, 2, 3], [1, 2, 1], [2, 1, 2], [1, 1, 1], [3, 1, 3]],
    ),
    _head(
        [[0, 1, 2], [2, 1, 2], [1, 2, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 3, 1]],
        [[3, 2, 4], [4, 2, 3], [0, 0, 1], [1, 1, 0], [1, 1, 1], [3, 1, 3]],
    ),
)
HOMEWORK_WO = np.array(
    [
        [1, 0, 0, 1, 0, 0],
        [0, 1, 0, 0, 2, 0],
        [1, 1, 1, 1, 1, 2],
        [2, 2, 2, 1, 1, 0],
        [2, 1, 0, 1, 2, 0],
        [0, 0, 0, 0, 1, 0],
    ],
    dtype=np.int64,
)
HOMEWORK_SHEET = Worksheet(
    weights=(
        np.array([[0.983, 0.017], [0.947, 0.053]]),
        np.array([[0.909, 0.091], [0.983, 0.017]]),
    ),
    concat=np.array(
        [
            [11.983, 8.017, 10.051, 9.637, 6.273, 9.455],
            [11.947, 8.053, 10.159, 9.119, 6.051, 9.095],
        ]
    ),
    output=np.array(
        [
            [53.854, 43.615, 29.325, 37.944, 57.723, 20.102],
            [52.446, 42.501, 28.397, 37.276, 56.571, 20.318],
        ]
    ),
)
