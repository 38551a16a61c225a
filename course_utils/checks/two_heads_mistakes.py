"""Unit 05: examples of known mistakes that need more than a line; two_heads.md names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.compare import close
from selfcheck.recognition import Recognized

from ..attention import softmax
from ..numbers.two_heads import HALF_UNIT, TwoHeads, columns_behind, two_heads
from .two_heads import (
    EXAMPLE,
    Places,
    Steps,
    _columns_found,
    _concat,
    _first,
    _given,
    _heads,
    _lines,
    _misses,
    _near,
    _or,
    _places,
    _weights,
    head_outputs,
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


q_of_head_2 = _computed(lambda n: (_heads(n)[1].Q,))
k_of_head_2 = _computed(lambda n: (_heads(n)[1].K,))
v_of_head_2 = _computed(lambda n: (_heads(n)[1].V,))
q_and_k_in_each_other_s_place = _computed(
    lambda n: (_heads(n)[0].K, _heads(n)[0].Q, _heads(n)[0].V)
)
k_and_v_in_each_other_s_place = _computed(
    lambda n: (_heads(n)[0].Q, _heads(n)[0].V, _heads(n)[0].K)
)
the_tokens_in_the_other_order = _computed(lambda n: tuple(A[::-1] for A in _heads(n)[0][:3]))


def _weighed(*changes: Callable[[np.ndarray], np.ndarray]) -> Recognized:
    """Weights made from the scores in another way, from the student's own scores if there are."""

    def made(student: str, scores: Any, weights: np.ndarray, *_: Any) -> bool:
        own = _or(scores, _first(student).scores)
        return any(_near(weights, change(own)) for change in changes)

    scores = _first(EXAMPLE).scores
    return {"example": (EXAMPLE, scores, changes[0](scores), None, None), "when": made}


softmax_down_the_columns = _weighed(lambda S: softmax(S / np.sqrt(3), axis=0))
no_division_by_3 = _weighed(softmax)
divided_by_3_in_place_of_3 = _weighed(lambda S: softmax(S / 3))
divided_by_6 = _weighed(lambda S: softmax(S / np.sqrt(6)))
no_exponential = _weighed(lambda S: S / S.sum(axis=1, keepdims=True))
the_weights_transposed = _weighed(lambda S: _weights(S).T)
the_softmax_of_the_transposed_scores = _weighed(lambda S: _weights(S.T))
weights_in_percent = _weighed(lambda S: 100 * _weights(S), lambda S: np.round(100 * _weights(S), 2))


def _scored(change: Callable[[np.ndarray], np.ndarray]) -> Recognized:
    """Scores made in another way, from the student's own queries and keys if there are."""

    def made(student: str, scores: np.ndarray, weights: Any, Q: Any, K: Any) -> bool:
        head = _first(student)
        return _near(scores, change(_or(Q, head.Q) @ _or(K, head.K).T))

    head = _first(EXAMPLE)
    return {"example": (EXAMPLE, change(head.scores), head.weights, None, None), "when": made}


queries_and_keys_swapped = _scored(np.transpose)
scores_already_divided = _scored(lambda S: S / np.sqrt(3))
digits_cut_off_not_rounded = _weighed(lambda S: np.floor(_weights(S) * 1e4) / 1e4)
fewer_than_four_decimals = _weighed(
    lambda S: np.round(_weights(S), 3),
    lambda S: np.round(_weights(S), 2),
)


def _in_either_head(name: str, says: str, *changes: Callable[[Steps], np.ndarray]) -> None:
    """A mistake that is known in each of the two heads by itself."""
    for k, part in enumerate(head_outputs.parts):
        faces = [lambda n, k=k, change=change: (change(_heads(n)[k]),) for change in changes]
        head_outputs.mistake(name, says, part=part.name, **_computed(*faces))


FEWER = (
    "fewer than four decimals",
    "The numbers are right as far as they go. They are about to be multiplied, so keep four "
    "decimals or more.",
)


def _coarse(truth: np.ndarray) -> list[np.ndarray]:
    """The truth with fewer decimals than are asked for."""
    return [np.round(truth, decimals) for decimals in (3, 2, 1)]


def _in_fewer(truth: Callable[[TwoHeads], np.ndarray]) -> Recognized:
    faces = [lambda n, k=k: (_coarse(truth(n))[k],) for k in range(3)]
    return _computed(*faces)


def _rounded(decimals: int) -> Callable[[Steps], np.ndarray]:
    return lambda s: np.round(s.weights, decimals) @ s.V


_in_either_head(
    *FEWER,
    *(lambda s, d=d: np.round(s.output, d) for d in (3, 2, 1)),
)


_in_either_head(
    "rounding before the end",
    "The weights were rounded and then multiplied: an error in a weight grows with the "
    "distance between the two values. Keep all digits until the last line.",
    *map(_rounded, (3, 2, 4)),
)


_in_either_head(
    "softmax down the columns",
    "Here the columns of the weights sum to 1, not the rows. An output is then no mean of "
    "the values any more.",
    lambda s: softmax(s.scores / np.sqrt(3), axis=0) @ s.V,
)


_in_either_head(
    "no division by √3",
    "The scores went into the softmax undivided; the outputs lie too close to one value.",
    lambda s: softmax(s.scores) @ s.V,
)


_in_either_head(
    "divided by 3 in place of √3",
    "The scores are divided by the square root of the key's length.",
    lambda s: softmax(s.scores / 3) @ s.V,
)


_in_either_head(
    "weights transposed",
    "Row i of the weights belongs to query i: the output is AV, not AᵀV.",
    lambda s: s.weights.T @ s.V,
)


one_head_s_weights_for_both = _computed(lambda n: (_heads(n)[0].weights @ _heads(n)[1].V,))
head_1_in_the_place_of_head_2 = _computed(lambda n: (_heads(n)[0].output,))
head_2_in_the_place_of_head_1 = _computed(lambda n: (_heads(n)[1].output,))


def _put_together(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Recognized:
    """A concatenation made in another way, from the student's own heads if there are."""

    def made(student: str, concat: np.ndarray, output: Any, *own: Any) -> bool:
        heads = [steps.output for steps in _heads(two_heads(student))]
        return _near(concat, change(*map(_or, own, heads))) or _near(concat, change(*heads))

    heads = [steps.output for steps in _heads(two_heads(EXAMPLE))]
    return {"example": (EXAMPLE, change(*heads), None, None, None), "when": made}


heads_stacked_as_rows = _put_together(lambda one, two: np.vstack([one, two]))
heads_added = _put_together(lambda one, two: one + two)
heads_averaged = _put_together(lambda one, two: (one + two) / 2)
heads_stacked_as_rows_then_reshaped = _put_together(
    lambda one, two: np.vstack([one, two]).reshape(2, 6)
)
the_heads_in_the_other_order = _put_together(lambda one, two: np.hstack([two, one]))


def _mixed(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Recognized:
    """An output made in another way, from the student's own concatenation if there is one."""

    def made(student: str, concat: Any, output: np.ndarray, *_: Any) -> bool:
        numbers = two_heads(student)
        return _near(output, change(_or(concat, _concat(numbers)), numbers.Wo))

    numbers = two_heads(EXAMPLE)
    concat = _concat(numbers)
    return {"example": (EXAMPLE, concat, change(concat, numbers.Wo), None, None), "when": made}


w_o_transposed = _mixed(lambda concat, Wo: concat @ Wo.T)
w_o_forgotten = _mixed(lambda concat, Wo: concat)


def _too_early() -> list[Callable[..., np.ndarray]]:
    """The concatenation from weights that were rounded."""
    return [
        lambda n, d=d: np.hstack([_rounded(d)(steps) for steps in _heads(n)]) for d in (3, 2, 4)
    ]


fewer_decimals_of_concat = _in_fewer(_concat)
fewer_decimals_of_output = _in_fewer(lambda n: _concat(n) @ n.Wo)
rounding_before_the_end = _computed(*(lambda n, f=f: (f(n),) for f in _too_early()))
rounding_before_the_end_2 = _computed(
    *(lambda n, f=f: (f(n) @ n.Wo,) for f in _too_early()),
    *(lambda n, d=d: (np.round(_concat(n), d) @ n.Wo,) for d in (3, 2, 4)),
)


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


nothing_changed = _changed(lambda K: K, lambda new, K: bool(np.abs(new - K).max() < 1e-9))
k_multiplied_by_a_number = _changed(
    lambda K: 2 * K, lambda new, K: close(new * (K**2).sum(), K * (new * K).sum())
)
one_key_changed = _changed(
    lambda K: K + np.array([[1], [0]]),
    lambda new, K: bool((np.abs(new - K).max(axis=1) < 1e-9).sum() == 1),
)
keys_in_the_other_order = _changed(lambda K: K[::-1], lambda new, K: close(new, K[::-1]))
columns_in_another_order = _changed(
    lambda K: K[:, [1, 0, 2]], lambda new, K: sorted(new.T.tolist()) == sorted(K.T.tolist())
)
the_w_o_of_exercise_5_4 = _computed(lambda n: (n.Wo,))


def _least_squares(n: TwoHeads) -> np.ndarray:
    return np.linalg.pinv(_concat(n)) @ n.printed


least_squares = _computed(
    lambda n: (_least_squares(n),),
    lambda n: (np.linalg.lstsq(np.round(_concat(n), 3), n.printed, rcond=None)[0],),
)


def found_columns_left_as_rows_seen(student: str, hidden_Wo: np.ndarray) -> bool:
    numbers = two_heads(student)
    upright, laid = (np.logical_and(*_columns_found(numbers, W)) for W in (hidden_Wo, hidden_Wo.T))
    return bool(laid.sum() > max(upright.sum(), 1))


def _as_rows(n: TwoHeads) -> np.ndarray:
    return np.vstack([*columns_behind(n.printed, _concat(n), HALF_UNIT + 1e-9)])


found_columns_left_as_rows = (EXAMPLE, _as_rows(two_heads(EXAMPLE)))
del _as_rows
least_squares_rounded = _computed(lambda n: (np.rint(_least_squares(n)),))


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


rounding_taken_for_slips = _misread(_inexact)
rounding_taken_for_slips_2 = _misread(_inexact, 1)


def _with_consequences(n: TwoHeads) -> tuple[Places, Places]:
    """The slips, and every output that the slip in the line before has changed."""
    first, second = _slips(n)
    return first, second | {(i, k) for i, j in first for k in range(6) if n.Wo[j, k]}


consequences_taken_for_slips = _misread(_with_consequences, 1, student=1)


def _moved(change: Callable[[int, int], tuple[int, int]]) -> Callable[[TwoHeads], tuple]:
    return lambda n: tuple(frozenset(change(i, j) for i, j in places) for places in _slips(n))


counted_from_1 = _misread(_moved(lambda i, j: (i + 1, j + 1)))
counted_from_1_2 = _misread(_moved(lambda i, j: (i + 1, j + 1)), 1)
columns_before_rows = _misread(_moved(lambda i, j: (j, i)), student=0)
columns_before_rows_2 = _misread(_moved(lambda i, j: (j, i)), 1, student=2)
no_slip_seen = _misread(lambda n: (frozenset(), frozenset()))
no_slip_seen_2 = _misread(lambda n: (frozenset(), frozenset()), 1)


def the_tokens_exchanged_seen(p, q, w):
    return close([w @ [p, q], w @ [1 - p, 1 - q]], [-1, 2])


def b_not_taken_away_seen(p, q, w):
    return close(w @ [p, q], 2) and not close(w @ [1 - p, 1 - q], -1)


def a_single_head_with_weights_beyond_1_seen(p, q, w):
    return max(p, q) > 1 or min(p, q) < 0
