"""Unit 05: what several known mistakes in two_heads.md need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.recognition import Recognized

from ..numbers.two_heads import HALF_UNIT, TwoHeads, columns_behind, two_heads
from .two_heads import (
    EXAMPLE,
    Places,
    Steps,
    _concat,
    _first,
    _given,
    _heads,
    _lines,
    _misses,
    _near,
    _or,
    _places,
    slips,
)


def _computed(*faces: Callable[[TwoHeads], tuple]) -> Recognized:
    """A mistake that can be computed: recognized with every student's numbers, in every face."""

    def made(student: str, *answers: Any) -> bool:
        there = [k for k, answer in enumerate(answers) if _given(answer) is not None]
        for face in faces:
            wrong = face(two_heads(student))
            if there and all(_near(answers[k], np.asarray(wrong[k])) for k in there):
                return True
        return False

    return {"example": (EXAMPLE, *faces[0](two_heads(EXAMPLE))), "when": made}


def _weighed(*changes: Callable[[np.ndarray], np.ndarray]) -> Recognized:
    """Weights made from the scores in another way, from the student's own scores if there are."""

    def made(student: str, scores: Any, weights: np.ndarray, *_: Any) -> bool:
        own = _or(scores, _first(student).scores)
        return any(_near(weights, change(own)) for change in changes)

    scores = _first(EXAMPLE).scores
    return {"example": (EXAMPLE, scores, changes[0](scores), None, None), "when": made}


def _scored(change: Callable[[np.ndarray], np.ndarray]) -> Recognized:
    """Scores made in another way, from the student's own queries and keys if there are."""

    def made(student: str, scores: np.ndarray, weights: Any, Q: Any, K: Any) -> bool:
        head = _first(student)
        return _near(scores, change(_or(Q, head.Q) @ _or(K, head.K).T))

    head = _first(EXAMPLE)
    return {"example": (EXAMPLE, change(head.scores), head.weights, None, None), "when": made}


def _in_head(part: str, *changes: Callable[[Steps], np.ndarray]) -> Recognized:
    """A mistake in one of the heads, such as Head 2: its output made in another way."""
    k = int(part[-1]) - 1
    return _computed(*(lambda n, change=change: (change(_heads(n)[k]),) for change in changes))


def _coarse(truth: np.ndarray) -> list[np.ndarray]:
    """The truth with fewer decimals than are asked for."""
    return [np.round(truth, decimals) for decimals in (3, 2, 1)]


def _in_fewer(truth: Callable[[TwoHeads], np.ndarray]) -> Recognized:
    faces = [lambda n, k=k: (_coarse(truth(n))[k],) for k in range(3)]
    return _computed(*faces)


def _rounded(decimals: int) -> Callable[[Steps], np.ndarray]:
    return lambda s: np.round(s.weights, decimals) @ s.V


def _put_together(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Recognized:
    """A concatenation made in another way, from the student's own heads if there are."""

    def made(student: str, concat: np.ndarray, output: Any, *own: Any) -> bool:
        heads = [steps.output for steps in _heads(two_heads(student))]
        return _near(concat, change(*map(_or, own, heads))) or _near(concat, change(*heads))

    heads = [steps.output for steps in _heads(two_heads(EXAMPLE))]
    return {"example": (EXAMPLE, change(*heads), None, None, None), "when": made}


def _mixed(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Recognized:
    """An output made in another way, from the student's own concatenation if there is one."""

    def made(student: str, concat: Any, output: np.ndarray, *_: Any) -> bool:
        numbers = two_heads(student)
        return _near(output, change(_or(concat, _concat(numbers)), numbers.Wo))

    numbers = two_heads(EXAMPLE)
    concat = _concat(numbers)
    return {"example": (EXAMPLE, concat, change(concat, numbers.Wo), None, None), "when": made}


def _too_early() -> list[Callable[..., np.ndarray]]:
    """The concatenation from weights that were rounded."""
    return [
        lambda n, d=d: np.hstack([_rounded(d)(steps) for steps in _heads(n)]) for d in (3, 2, 4)
    ]


def _keys(student: Any, own_K: Any = None) -> np.ndarray:
    return _or(own_K, _first(student).K)


def _changed(
    example: Callable[[np.ndarray], np.ndarray], like: Callable[[np.ndarray, np.ndarray], bool]
) -> Recognized:
    """A mistaken change of K, and how the new one is known beside the old one."""
    return {
        "example": (EXAMPLE, example(_keys(EXAMPLE)), None, None),
        "when": lambda student, other_K, Q, K: like(other_K, _keys(student, K)),
    }


def _least_squares(n: TwoHeads) -> np.ndarray:
    return np.linalg.pinv(_concat(n)) @ n.printed


def _as_rows(n: TwoHeads) -> np.ndarray:
    return np.vstack([*columns_behind(n.printed, _concat(n), HALF_UNIT + 1e-9)])


found_columns_left_as_rows = (EXAMPLE, _as_rows(two_heads(EXAMPLE)))
del _as_rows


def _slips(n: TwoHeads) -> tuple[Places, Places]:
    first, second = (off for _, off in _misses(n))
    return first, second


def _inexact(n: TwoHeads) -> tuple[Places, Places]:
    first, second = (_places(np.abs(line - exact) > HALF_UNIT) for line, _, exact in _lines(n))
    return first, second


def _misread(face: Callable[[TwoHeads], tuple], part: int = 0, student: Any = EXAMPLE) -> dict:
    """A mistake in reading one of the lines, as options of `mistake`."""
    return {
        "part": slips.parts[part].name,
        "example": (student, sorted(face(two_heads(student))[part])),
        "when": lambda student, places: places == face(two_heads(student))[part],
    }


def _moved(change: Callable[[int, int], tuple[int, int]]) -> Callable[[TwoHeads], tuple]:
    return lambda n: tuple(frozenset(change(i, j) for i, j in places) for places in _slips(n))
