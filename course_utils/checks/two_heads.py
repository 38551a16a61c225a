"""Unit 05: two heads by hand. Every check takes the student's id first: numbers differ by id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from selfcheck.compare import as_array, close, real_array
from selfcheck.display import show, show_apart
from selfcheck.exercises import exercise
from selfcheck.kinds import Array, RealNumber, StudentId
from selfcheck.parts import MissingAnswer
from selfcheck.recognition import Recognized
from selfcheck.refusals import Unreadable
from selfcheck.sampling import cases
from selfcheck.verdicts import Verdict, differs, partly, right, wrong

from ..attention import softmax
from ..numbers.two_heads import DECIMALS, HALF_UNIT, HIGH, LOW, Head, TwoHeads, two_heads

TwoByTwo = Annotated[np.ndarray, Array((2, 2))]
TwoByThree = Annotated[np.ndarray, Array((2, 3))]
OwnTwoByTwo = Annotated[np.ndarray | None, Array((2, 2))]  # an earlier answer, if there is one
OwnTwoByThree = Annotated[np.ndarray | None, Array((2, 3))]
FOUR_DECIMALS = 6e-5  # half a unit of the fourth decimal, and a little for the tie
UNIT = 10**-DECIMALS


# -- kinds of answer that only this unit has ------------------------------------------------------


class Matrix:
    """A matrix of any shape, so that a check can say what a wrong shape means."""

    def read(self, answer: Any, name: str) -> np.ndarray:
        array = real_array(answer)
        shape = (2, 6) if array is None or array.ndim != 2 else array.shape
        return as_array(answer, shape, name)

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        return close(a, b)


class Columns:
    """A 6×6 matrix; what is not known yet may be nan."""

    def read(self, answer: Any, name: str) -> np.ndarray:
        return as_array(answer, (6, 6), name, finite=False)

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        return close(a, b)


class Positions:
    """Places in a 2×6 matrix: pairs (row, column) from 0, or a mask of true entries."""

    def read(self, answer: Any, name: str) -> frozenset[tuple[int, int]]:
        kind = type(answer)
        if issubclass(kind, set | frozenset):
            answer = list(answer)
        elif issubclass(kind, tuple) and len(answer) == 2 and _are_rows_and_columns(*answer):
            answer = np.transpose(answer)  # what np.nonzero returns
        pairs = real_array(answer)
        if pairs is not None and pairs.shape == (2, 6) and np.isin(pairs, (0, 1)).all():
            pairs = np.argwhere(pairs)
        if pairs is not None and pairs.size == 0:
            return frozenset()
        pairs = None if pairs is None else np.atleast_2d(pairs)
        if pairs is None or pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs % 1 != 0).any():
            raise Unreadable(
                f"{name} should be a list of pairs (row, column), such as [(0, 2)], or [] if there "
                "is none."
            )
        return frozenset((int(row), int(column)) for row, column in pairs)

    def same(self, a: frozenset, b: frozenset) -> bool:
        return a == b


def _are_rows_and_columns(rows: Any, columns: Any) -> bool:
    """Two arrays that np.nonzero may have returned, and not two pairs (row, column)."""
    both = isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray)
    return both and bool((rows <= 1).all())


# -- the definition -------------------------------------------------------------------------------


class Steps(NamedTuple):
    """Everything one head computes on the way."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    output: np.ndarray


def _run(X: np.ndarray, head: Head) -> Steps:
    Q, K, V = (X @ W for W in head)
    scores = Q @ K.T
    weights = softmax(scores / np.sqrt(Q.shape[1]))
    return Steps(Q, K, V, scores, weights, weights @ V)


def _heads(numbers: TwoHeads) -> tuple[Steps, Steps]:
    return _run(numbers.X, numbers.heads[0]), _run(numbers.X, numbers.heads[1])


def _concat(numbers: TwoHeads) -> np.ndarray:
    return np.hstack([steps.output for steps in _heads(numbers)])


def _near(a: np.ndarray, b: np.ndarray, within: float = FOUR_DECIMALS) -> bool:
    return a.shape == b.shape and bool((np.abs(a - b) <= within).all())


def _off(
    name: str,
    answer: np.ndarray,
    truth: np.ndarray,
    why: Callable[[int, int], str],
    within: float = FOUR_DECIMALS,
) -> Verdict | None:
    """None if no entry is off; else the one that is off most, with what it comes from."""
    if answer.shape != truth.shape:
        return differs(truth, answer, what=name)
    if _near(answer, truth, within):
        return None
    off = np.abs(answer - truth)
    i, j = (int(k) for k in np.unravel_index(np.argmax(off), off.shape))
    what = f"entry [{i}, {j}] of {name}, {why(i, j)},"
    sides: dict[str, Any] = {"whole": answer, "against": truth}
    return differs(truth[i, j], answer[i, j], what=what, tolerance=0.0, **sides)


def _judged(
    name: str,
    answer: np.ndarray,
    truth: np.ndarray,
    own: np.ndarray | None,
    why: Callable[[int, int], str],
    within: float = FOUR_DECIMALS,
) -> Verdict:
    """Right is the truth, and what follows from the student's own earlier answers, if they err."""
    if answer.shape == truth.shape and _near(answer, truth, within):
        return right()
    return _off(name, answer, truth if own is None else own, why, within) or right()


def _given(answer: Any) -> Any:
    """An answer as a predicate gets it, or None if it cannot be read."""
    return None if isinstance(answer, MissingAnswer) else answer


def _or(own: Any, truth: np.ndarray) -> np.ndarray:
    """The student's own array where there is one of this shape, else the true one."""
    own = _given(own)
    return truth if own is None or own.shape != truth.shape else own


def _if_wrong(own: np.ndarray | None, truth: np.ndarray, within: float = 1e-6) -> np.ndarray | None:
    """The student's own array if it is another one than it should be."""
    return None if own is None or own.shape != truth.shape or _near(own, truth, within) else own


# -- 5.1 ------------------------------------------------------------------------------------------


def _sum_shown(x: np.ndarray, w: np.ndarray) -> str:
    return " + ".join(f"{show(a)}·{show(b)}" for a, b in zip(x, w, strict=True))


def _projected(name: str, student: str, answer: np.ndarray) -> Verdict:
    """Is this the Q, the K or the V of head 1?"""
    numbers = two_heads(student)
    W = numbers.heads[0]["QKV".index(name)]

    def why(i: int, j: int) -> str:
        product = _sum_shown(numbers.X[i], W[:, j])
        return f"row {i} of X times column {j} of W^{{{name}}}, {product}"

    return _off(name, answer, numbers.X @ W, why, 1e-6) or right()


@exercise(numbers=two_heads)
def projections(
    student: StudentId,
    Q: TwoByThree,
    K: TwoByThree,
    V: TwoByThree,
) -> Verdict:
    """Compute Q, K and V of head 1."""
    return right("Every entry is the product of its row of X and its column of weights.")


@projections.part("Q")
def _queries(student: str, Q: np.ndarray) -> Verdict:
    return _projected("Q", student, Q)


@projections.part("K")
def _projected_keys(student: str, K: np.ndarray) -> Verdict:
    return _projected("K", student, K)


@projections.part("V")
def _values(student: str, V: np.ndarray) -> Verdict:
    return _projected("V", student, V)


projections.add_hints(
    "A row of Q is one token's query: the row of X times W^{Q}. K and V work the same way.",
    "Every entry is a sum of six products: a row of X against a column of the matrix. In "
    "NumPy the product of matrices is `@`.",
)

EXAMPLE = "example"  # the student whose numbers the examples of mistakes have


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


projections.mistake(
    "the matrices of head 2",
    "These are the projections of head 2. The exercise asks for head 1, "
    "`numbers.heads[0]`: Python counts from 0.",
    **_computed(lambda n: _heads(n)[1][:3]),
)
projections.mistake(
    "Q and K in each other's place",
    "The order is Q, K, V. Swapped, a token would be looked up by its question and ask "
    "with its label.",
    **_computed(lambda n: (_heads(n)[0].K, _heads(n)[0].Q, _heads(n)[0].V)),
)
projections.mistake(
    "K and V in each other's place",
    "The order is Q, K, V: keys decide how much is looked at, values are what is seen.",
    **_computed(lambda n: (_heads(n)[0].Q, _heads(n)[0].V, _heads(n)[0].K)),
)
projections.mistake(
    "the tokens in the other order",
    "Row 0 belongs to the first token, the first row of X.",
    **_computed(lambda n: tuple(A[::-1] for A in _heads(n)[0][:3])),
)


# -- 5.2 ------------------------------------------------------------------------------------------


def _weights(scores: np.ndarray) -> np.ndarray:
    return softmax(scores / np.sqrt(3))


def _first(student: str) -> Steps:
    """All that head 1 computes."""
    numbers = two_heads(student)
    return _run(numbers.X, numbers.heads[0])


@exercise(numbers=two_heads)
def scores_and_weights(
    student: StudentId,
    scores: TwoByTwo,
    weights: TwoByTwo,
    Q: OwnTwoByThree = None,
    K: OwnTwoByThree = None,
) -> Verdict:
    """Compute head 1's scores QKᵀ and its attention weights, to four decimals."""
    return right("The scores are products of queries and keys, and the weights their softmax.")


@scores_and_weights.part("Scores")
def _scores(
    student: str, scores: np.ndarray, Q: np.ndarray | None = None, K: np.ndarray | None = None
) -> Verdict:
    head = _first(student)
    queries, keys = _or(Q, head.Q), _or(K, head.K)
    return _judged(
        "the scores",
        scores,
        head.scores,
        queries @ keys.T,
        lambda i, j: f"query {i} times key {j}, {_sum_shown(queries[i], keys[j])}",
        1e-6,
    )


@scores_and_weights.part("Weights")
def _softmax(student: str, weights: np.ndarray, scores: np.ndarray | None = None) -> Verdict:
    truth = _first(student).scores
    if _near(weights, _weights(truth)):
        return right()
    scores = _or(scores, truth)
    sums = weights.sum(axis=1)
    i = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[i] - 1) > 4 * FOUR_DECIMALS:
        what = f"the sum of row {i} of the weights, {show(weights[i])},"
        return differs(1.0, sums[i], what=what, tolerance=0.0, whole=weights) or right()
    return _judged(
        "the weights",
        weights,
        _weights(truth),
        _weights(scores),
        lambda i, j: f"where a softmax meets the scores {show(scores[i])} divided by √3",
    )


scores_and_weights.add_hints(
    "The score of query i and key j is their dot product: `Q @ K.T` has them all.",
    "Divide by the square root of the length of a key, then exponentiate and divide each row "
    "by its sum.",
    "With two keys the softmax needs only the difference of the two scores: the first weight "
    "is 1/(1 + exp(−difference)).",
)


def _weighed(*changes: Callable[[np.ndarray], np.ndarray]) -> Recognized:
    """Weights made from the scores in another way, from the student's own scores if there are."""

    def made(student: str, scores: Any, weights: np.ndarray, *_: Any) -> bool:
        own = _or(scores, _first(student).scores)
        return any(_near(weights, change(own)) for change in changes)

    scores = _first(EXAMPLE).scores
    return {"example": (EXAMPLE, scores, changes[0](scores), None, None), "when": made}


scores_and_weights.mistake(
    "softmax down the columns",
    "In your matrix the columns sum to 1. Each query, a row, shares out its attention "
    "over the keys, so the rows have to.",
    **_weighed(lambda S: softmax(S / np.sqrt(3), axis=0)),
)
scores_and_weights.mistake(
    "no division by √3",
    "The scores go into the softmax divided by √d, with keys of length d = 3. Without it "
    "the larger weight comes too close to 1.",
    **_weighed(softmax),
)
scores_and_weights.mistake(
    "divided by 3 in place of √3",
    "The variance of a dot product grows with the length of the key, its standard "
    "deviation with the square root: divide by √3.",
    **_weighed(lambda S: softmax(S / 3)),
)
scores_and_weights.mistake(
    "divided by √6",
    "6 is the length of a token. What is summed in a score are the 3 numbers of a key.",
    **_weighed(lambda S: softmax(S / np.sqrt(6))),
)
scores_and_weights.mistake(
    "no exponential",
    "Dividing the scores by their sum gives rows that sum to 1, but softmax divides "
    "exponentials. Raw scores may also be negative.",
    **_weighed(lambda S: S / S.sum(axis=1, keepdims=True)),
)
scores_and_weights.mistake(
    "weights in percent",
    "These are the right weights times 100. Weights are shares of 1.",
    **_weighed(lambda S: 100 * _weights(S), lambda S: np.round(100 * _weights(S), 2)),
)


def _scored(change: Callable[[np.ndarray], np.ndarray]) -> Recognized:
    """Scores made in another way, from the student's own queries and keys if there are."""

    def made(student: str, scores: np.ndarray, weights: Any, Q: Any, K: Any) -> bool:
        head = _first(student)
        return _near(scores, change(_or(Q, head.Q) @ _or(K, head.K).T))

    head = _first(EXAMPLE)
    return {"example": (EXAMPLE, change(head.scores), head.weights, None, None), "when": made}


scores_and_weights.mistake(
    "queries and keys swapped",
    "Your scores are the transpose: row i should hold what query i says to every key, "
    "QKᵀ and not KQᵀ.",
    **_scored(np.transpose),
)
scores_and_weights.mistake(
    "scores already divided",
    "Asked for as scores are the whole numbers QKᵀ, before √3.",
    **_scored(lambda S: S / np.sqrt(3)),
)
scores_and_weights.mistake(
    "digits cut off, not rounded",
    "0.01727 to four decimals is 0.0173: round to the nearest, do not drop the rest. Cut "
    "digits push every number the same way, and the errors add up.",
    **_weighed(lambda S: np.floor(_weights(S) * 1e4) / 1e4),
)
scores_and_weights.mistake(
    "fewer than four decimals",
    "The weights are right as far as they go. They are about to be multiplied, so keep "
    "four decimals or more.",
    **_weighed(
        lambda S: np.round(_weights(S), 3),
        lambda S: np.round(_weights(S), 2),
    ),
)


# -- 5.3 and 5.4 ----------------------------------------------------------------------------------


def _mixed_by_head(
    number: int, student: str, answer: np.ndarray, own: np.ndarray | None = None
) -> Verdict:
    """The output of one head; `own` is what follows from earlier answers that err."""
    steps = _heads(two_heads(student))[number - 1]

    def why(i: int, j: int) -> str:
        low, high = steps.V[:, j]
        return f"a mean of {low} and {high} in which the first weighs {steps.weights[i, 0]:.4f}"

    return _judged(f"head {number}", answer, steps.output, own, why)


@exercise(numbers=two_heads)
def head_outputs(
    student: StudentId,
    head_1: TwoByThree,
    head_2: TwoByThree,
    weights: OwnTwoByTwo = None,
    V: OwnTwoByThree = None,
) -> Verdict:
    """Compute the outputs of both heads, to four decimals."""
    return right("Both heads ran by the definition and gave your outputs.")


@head_outputs.part("Head 1")
def _head_1(
    student: str, head_1: np.ndarray, weights: np.ndarray | None = None, V: np.ndarray | None = None
) -> Verdict:
    head = _first(student)
    weights = _if_wrong(weights, head.weights, FOUR_DECIMALS)  # rounded ones were not charged
    V = _if_wrong(V, head.V)
    if weights is None and V is None:
        return _mixed_by_head(1, student, head_1)
    return _mixed_by_head(1, student, head_1, _or(weights, head.weights) @ _or(V, head.V))


@head_outputs.part("Head 2")
def _head_2(student: str, head_2: np.ndarray) -> Verdict:
    return _mixed_by_head(2, student, head_2)


head_outputs.add_hints(
    "An output row is a weighted mean of the two rows of V, so each entry lies between the "
    "two entries of its column of V.",
    "Both heads do the same with their own matrices. Write one function of X, Wq, Wk, Wv and "
    "call it twice; round only what you print.",
)


def _in_either_head(name: str, says: str, *changes: Callable[[Steps], np.ndarray]) -> None:
    """A mistake that is known in each of the two heads by itself."""
    for k, part in enumerate(head_outputs.parts):
        faces = [lambda n, k=k, change=change: (change(_heads(n)[k]),) for change in changes]
        head_outputs.mistake(name, says, part=part.name, **_computed(*faces))


def _rounded(decimals: int) -> Callable[[Steps], np.ndarray]:
    return lambda s: np.round(s.weights, decimals) @ s.V


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
head_outputs.mistake(
    "one head's weights for both",
    "Each head has queries and keys of its own, and so weights of its own. Head 2 was "
    "mixed with the weights of head 1.",
    part="Head 2",
    **_computed(lambda n: (_heads(n)[0].weights @ _heads(n)[1].V,)),
)
head_outputs.mistake(
    "head 1 in the place of head 2",
    "Head 1 comes first, then head 2; W^{O} is made for that order.",
    part="Head 2",
    **_computed(lambda n: (_heads(n)[0].output,)),
)
head_outputs.mistake(
    "head 2 in the place of head 1",
    "Head 1 comes first; W^{O} is made for that order.",
    part="Head 1",
    **_computed(lambda n: (_heads(n)[1].output,)),
)


@exercise(numbers=two_heads)
def final_output(
    student: StudentId,
    concat: Annotated[np.ndarray, Matrix()],
    output: Annotated[np.ndarray, Matrix()],
    output_1: OwnTwoByThree = None,
    output_2: OwnTwoByThree = None,
) -> Verdict:
    """Compute the concatenation of both heads and the final output, to four decimals."""
    return right("The heads stand side by side, and W^{O} mixes them into your output.")


@final_output.part("Concat")
def _side_by_side(
    student: str,
    concat: np.ndarray,
    output_1: np.ndarray | None = None,
    output_2: np.ndarray | None = None,
) -> Verdict:
    heads = [steps.output for steps in _heads(two_heads(student))]
    pairs = zip((output_1, output_2), heads, strict=True)
    own = [_if_wrong(mine, true, FOUR_DECIMALS) for mine, true in pairs]
    followed = np.hstack([_or(mine, true) for mine, true in zip(own, heads, strict=True)])
    return _judged(
        "the concatenation",
        concat,
        np.hstack(heads),
        followed,
        lambda i, j: f"column {j % 3} of head {j // 3 + 1}",
    )


@final_output.part("Output")
def _mixed_by_Wo(student: str, output: np.ndarray, concat: np.ndarray | None = None) -> Verdict:
    numbers = two_heads(student)
    truth = _concat(numbers)
    own = _or(_if_wrong(concat, truth, FOUR_DECIMALS), truth)  # rounding was not charged
    return _judged(
        "the output",
        output,
        truth @ numbers.Wo,
        own @ numbers.Wo,
        lambda i, j: f"row {i} of the concatenation times column {j} of W^{{O}}",
    )


final_output.add_hints(
    "Each token keeps its own row: the output of head 1, and to its right that of head 2. "
    "The concatenation has 2 rows and 6 columns.",
    "Then multiply with W^{O}, a 6×6 matrix, from the right.",
)


def _put_together(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Recognized:
    """A concatenation made in another way, from the student's own heads if there are."""

    def made(student: str, concat: np.ndarray, output: Any, *own: Any) -> bool:
        heads = [steps.output for steps in _heads(two_heads(student))]
        return _near(concat, change(*map(_or, own, heads))) or _near(concat, change(*heads))

    heads = [steps.output for steps in _heads(two_heads(EXAMPLE))]
    return {"example": (EXAMPLE, change(*heads), None, None, None), "when": made}


final_output.mistake(
    "heads stacked as rows",
    "With the heads one under the other there are four rows for two tokens, and W^{O} "
    "does not fit. Heads go side by side: `np.hstack`, or `concatenate` with axis 1.",
    **_put_together(lambda one, two: np.vstack([one, two])),
)
final_output.mistake(
    "heads added",
    "Adding the heads loses which head saw what, before W^{O} can weigh them. Put them "
    "side by side.",
    **_put_together(lambda one, two: one + two),
)
final_output.mistake(
    "heads averaged",
    "A mean of the heads loses which head saw what, before W^{O} can weigh them. Put them "
    "side by side.",
    **_put_together(lambda one, two: (one + two) / 2),
)
final_output.mistake(
    "heads stacked as rows, then reshaped",
    "The shape is right, but each row now holds both tokens of one head. A row belongs to "
    "a token and holds both heads.",
    **_put_together(lambda one, two: np.vstack([one, two]).reshape(2, 6)),
)
final_output.mistake(
    "the heads in the other order",
    "Head 1 comes first: the first three rows of W^{O} are made for it.",
    **_put_together(lambda one, two: np.hstack([two, one])),
)


def _mixed(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Recognized:
    """An output made in another way, from the student's own concatenation if there is one."""

    def made(student: str, concat: Any, output: np.ndarray, *_: Any) -> bool:
        numbers = two_heads(student)
        return _near(output, change(_or(concat, _concat(numbers)), numbers.Wo))

    numbers = two_heads(EXAMPLE)
    concat = _concat(numbers)
    return {"example": (EXAMPLE, concat, change(concat, numbers.Wo), None, None), "when": made}


final_output.mistake(
    "W^{O} transposed",
    "The concatenation times W^{O}, not times its transpose.",
    **_mixed(lambda concat, Wo: concat @ Wo.T),
)
final_output.mistake(
    "W^{O} forgotten",
    "The concatenation is not yet the output: W^{O} mixes what the heads have seen.",
    **_mixed(lambda concat, Wo: concat),
)


def _too_early() -> list[Callable[[TwoHeads], np.ndarray]]:
    """The concatenation from numbers that were rounded on the way."""
    weights = [
        lambda n, d=d: np.hstack([_rounded(d)(steps) for steps in _heads(n)]) for d in (3, 2, 4)
    ]
    return [*weights, *(lambda n, d=d: np.round(_concat(n), d) for d in (3, 2, 4))]


ROUNDED = (
    "rounding before the end",
    "Numbers were rounded on the way and then multiplied and summed: W^{O} adds up their "
    "errors. Keep all digits until the last line.",
)

final_output.mistake(
    *ROUNDED,
    part="Concat",
    **_computed(*(lambda n, f=f: (f(n),) for f in _too_early())),
)
final_output.mistake(
    *ROUNDED,
    part="Output",
    **_computed(*(lambda n, f=f: (f(n) @ n.Wo,) for f in _too_early())),
)


# -- 5.5 ------------------------------------------------------------------------------------------

CHANGED = 0.01  # as the text says
MOST_ROUNDING = 1e-3  # in a difference of scores, however large the keys are


def _gaps(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """For each query, how far its two scores are apart: what a softmax of two scores sees."""
    return Q @ (K[0] - K[1])  # in this order large keys lose no digits


def _same_weights(other: np.ndarray, Q: np.ndarray, K: np.ndarray) -> Verdict:
    """Do these keys differ from K, and do the queries not notice?"""
    if np.abs(other - K).max() < CHANGED:
        says = f"No entry differs from the old K by {CHANGED} or more."
        return wrong(says, at="a change", yours=other)
    before, after = _gaps(Q, K), _gaps(Q, other)
    rounding = 1e-15 * np.abs(other).max() * np.abs(Q).sum(axis=1)
    off = np.abs(after - before) - np.minimum(rounding, MOST_ROUNDING)
    i = int(np.argmax(off))
    if off[i] <= 1e-7:
        moved = (np.abs(other - K).max(axis=0) >= CHANGED).sum()
        return right(
            f"K changed in {moved} of 3 columns, the scores became {show(Q @ other.T)}, and every "
            "weight is what it was."
        )
    old, new = show_apart(before[i], after[i])
    says = f"For query {i} the two scores differed by {old}; with your K they differ by {new}."
    return wrong(says, at="the weights", yours=other)


@exercise(numbers=two_heads)
def other_keys(
    student: StudentId, K: TwoByThree, own_Q: OwnTwoByThree = None, own_K: OwnTwoByThree = None
) -> Verdict:
    """Find another K that gives head 1 the same attention weights."""
    head = _first(student)
    verdict = _same_weights(K, head.Q, head.K)
    own = _or(own_Q, head.Q), _or(own_K, head.K)
    if verdict.seen and own[0].any(axis=1).all() and not all(map(_near, own, (head.Q, head.K))):
        return _same_weights(K, *own)
    return verdict


other_keys.add_hints(
    "Softmax does not notice when the same number is added to every score of a row. How can a "
    "change of K add the same number to the scores of both keys?",
    "Look at one column of K. The score of key j gets q times the entry in its row j. What if "
    "both entries of the column grow by the same amount?",
)


def _keys(student: Any, own_K: Any = None) -> np.ndarray:
    return _or(own_K, _first(student).K)


def _changed(
    example: Callable[[np.ndarray], np.ndarray], like: Callable[[np.ndarray, np.ndarray], bool]
) -> Recognized:
    """A mistaken change of K, and how the new one is known beside the old one."""
    return {
        "example": (EXAMPLE, example(_keys(EXAMPLE)), None, None),
        "when": lambda student, K, own_Q, own_K: like(K, _keys(student, own_K)),
    }


other_keys.mistake(
    "nothing changed",
    "This is K itself. Change at least one of its columns.",
    **_changed(lambda K: K, lambda new, K: bool(np.abs(new - K).max() < 1e-9)),
)
other_keys.mistake(
    "K multiplied by a number",
    "A factor multiplies the differences between the scores too, and softmax lives on "
    "differences. It is blind to what is added, not to what is multiplied.",
    **_changed(lambda K: 2 * K, lambda new, K: close(new * (K**2).sum(), K * (new * K).sum())),
)
other_keys.mistake(
    "one key changed",
    "Only one of the two keys moved, so its score changed and the other's did not. Add "
    "the same to both keys: down a column, not along a row.",
    **_changed(
        lambda K: K + np.array([[1], [0]]),
        lambda new, K: bool((np.abs(new - K).max(axis=1) < 1e-9).sum() == 1),
    ),
)
other_keys.mistake(
    "keys in the other order",
    "The weights are the same numbers, but in the other order: they belong to the keys.",
    **_changed(lambda K: K[::-1], lambda new, K: close(new, K[::-1])),
)
other_keys.mistake(
    "columns in another order",
    "The columns of K meet the columns of Q one by one. Reordering K alone pairs each "
    "with a wrong partner.",
    **_changed(
        lambda K: K[:, [1, 0, 2]], lambda new, K: sorted(new.T.tolist()) == sorted(K.T.tolist())
    ),
)


# -- 5.6 ------------------------------------------------------------------------------------------

EARNED = (0, 0, 1, 2, 2, 3, 4)  # by the number of columns found, as the text says


@exercise(numbers=two_heads)
def hidden_matrix(student: StudentId, Wo: Annotated[np.ndarray, Columns()]) -> Verdict:
    """Recover the integer matrix W^O behind the printed output."""
    numbers = two_heads(student)
    with np.errstate(all="ignore"):
        Wo = np.where(np.abs(Wo - np.rint(Wo)) < 1e-6, np.rint(Wo), Wo)
        output = _concat(numbers) @ Wo
        whole = ((Wo == np.rint(Wo)) & (Wo >= LOW) & (Wo <= HIGH)).all(axis=0)
        fits = (np.abs(output - numbers.printed) <= HALF_UNIT + 1e-9).all(axis=0)
    found = int((whole & fits).sum())
    if found == 6:
        return right("Every entry is an integer from −1 to 4, and the output is the printed one.")
    j = int(np.argmin(whole & fits))
    if not fits[j]:
        apart = [
            " and ".join(f"{v:.3f}" for v in column[:, j]) for column in (output, numbers.printed)
        ]
        reason = f"column {j} gives {apart[0]} where {apart[1]} are printed"
    else:
        reason = (
            f"column {j} gives what is printed, but {show(Wo[:, j])} are not integers in −1 … 4"
        )
    says = f"{found} of 6 columns are found; {reason}.".replace("-", "−")
    return partly(EARNED[found], wrong(says, at="the columns", yours=Wo))


hidden_matrix.add_hints(
    "Each column of the printed output comes from one column of W^{O} alone. So search six "
    "times among 6⁶ = 46,656 columns, not once among 6³⁶ matrices.",
    "`itertools.product(range(-1, 5), repeat=6)` lists all columns. Put them into one array, "
    "multiply with your unrounded concatenation, and compare with the printed column.",
    "An output that was printed with three decimals is within 0.0005 of the true one. Keep the "
    "candidate for which that holds in both rows.",
)

hidden_matrix.mistake(
    "the W^{O} of exercise 5.4",
    "`numbers.printed` was made with another matrix, which is not among your numbers.",
    **_computed(lambda n: (n.Wo,)),
)


def _least_squares(n: TwoHeads) -> np.ndarray:
    return np.linalg.pinv(_concat(n)) @ n.printed


hidden_matrix.mistake(
    "least squares",
    "Two tokens give two equations for the six unknowns of a column, so infinitely many "
    "real matrices give this output. What singles one out is that its entries are small "
    "integers: search among those.",
    **_computed(
        lambda n: (_least_squares(n),),
        lambda n: (np.linalg.lstsq(np.round(_concat(n), 3), n.printed, rcond=None)[0],),
    ),
)
hidden_matrix.mistake(
    "least squares, rounded",
    "The real solution nearest to zero is not near the integer solution. Rounding it gives "
    "another output.",
    **_computed(lambda n: (np.rint(_least_squares(n)),)),
)


# -- 5.7 ------------------------------------------------------------------------------------------

Places = frozenset[tuple[int, int]]


def _lines(n: TwoHeads) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Each line as printed, from the line printed before it, and from exact numbers."""
    sheet, heads = n.worksheet, _heads(n)
    mixed = np.hstack([A @ steps.V for A, steps in zip(sheet.weights, heads, strict=True)])
    yield sheet.concat, mixed, _concat(n)
    yield sheet.output, sheet.concat @ n.Wo, _concat(n) @ n.Wo


def _places(mask: np.ndarray) -> Places:
    return frozenset((int(row), int(column)) for row, column in np.argwhere(mask))


def _misses(n: TwoHeads) -> Iterator[tuple[Places, Places]]:
    """For each line, the entries that neither exact numbers nor the line before explain.

    First those that a slip in the line before explains neither: what was written down wrong there
    may have been right in the author's head, and the next line remembers it.
    """
    values = [steps.V for steps in _heads(n)]
    unslipped = np.hstack([A @ V for A, V in zip(n.worksheet.weights, values, strict=True)])
    mended = unslipped, unslipped @ n.Wo
    for (line, before, exact), meant in zip(_lines(n), mended, strict=True):
        off = (np.abs(line - before) > UNIT) & (np.abs(line - exact) > UNIT)
        yield _places(off & (np.abs(line - meant) > UNIT)), _places(off)


def _slips(n: TwoHeads) -> tuple[Places, Places]:
    first, second = (off for _, off in _misses(n))
    return first, second


def _found(name: str, k: int, student: str, answer: Places) -> Verdict:
    """The slips of a line; one that mending the line before explains may be among them."""
    numbers = two_heads(student)
    must, may = list(_misses(numbers))[k]
    line, before, exact = list(_lines(numbers))[k]
    outside = sorted((i, j) for i, j in answer if not (0 <= i < 2 and 0 <= j < 6))
    if outside:
        says = f"{name} has no entry {outside[0]}: rows are 0 and 1, columns 0 to 5."
    elif answer - may:
        i, j = min(answer - may)
        says = (
            f"Entry ({i}, {j}) of {name} is no slip: {line[i, j]:.3f} is printed, the line "
            f"above it gives {before[i, j]:.3f}, exact numbers give {exact[i, j]:.3f}."
        )
    elif must - answer:
        says = f"In {name} a slip is not found yet."
    else:
        return right()
    return wrong(says, at=name, yours=sorted(answer))


@exercise(numbers=two_heads)
def slips(
    student: StudentId,
    in_concat: Annotated[Places, Positions()],
    in_output: Annotated[Places, Positions()],
) -> Verdict:
    """Find the entries of the worksheet that are slips, not rounding."""
    return right("Off are these, whichever way they are computed; all the rest is rounding.")


@slips.part("Concat")
def _in_concat(student: str, in_concat: Places) -> Verdict:
    return _found("concat", 0, student, in_concat)


@slips.part("Output")
def _in_output(student: str, in_output: Places) -> Verdict:
    return _found("output", 1, student, in_output)


slips.add_hints(
    "Compute each line from the line printed above it, not from your exact numbers: then "
    "honest rounding disappears from the comparison.",
    "The values are integers and the printed weights have three decimals, so a line that was "
    "computed from the line above agrees with it exactly. What differs in the second decimal "
    "was not rounded, it was miswritten.",
)


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


ROUNDING = (
    "rounding taken for slips",
    "These are all entries that differ from the exact result. Most of them follow from "
    "the rounded line above, correctly computed: rounding that travels is no slip.",
)
slips.mistake(*ROUNDING, **_misread(_inexact))
slips.mistake(*ROUNDING, **_misread(_inexact, 1))


def _with_consequences(n: TwoHeads) -> tuple[Places, Places]:
    """The slips, and every output that the slip in the line before has changed."""
    first, second = _slips(n)
    return first, second | {(i, k) for i, j in first for k in range(6) if n.Wo[j, k]}


slips.mistake(
    "consequences taken for slips",
    "The slip in the heads' outputs moves every result that it enters. Those entries "
    "follow correctly from the line above as printed.",
    **_misread(_with_consequences, 1, student=1),
)


def _moved(change: Callable[[int, int], tuple[int, int]]) -> Callable[[TwoHeads], tuple]:
    return lambda n: tuple(frozenset(change(i, j) for i, j in places) for places in _slips(n))


FROM_ONE = (
    "counted from 1",
    "The places are right, but rows and columns count from 0 here, as in NumPy.",
)
slips.mistake(*FROM_ONE, **_misread(_moved(lambda i, j: (i + 1, j + 1))))
slips.mistake(*FROM_ONE, **_misread(_moved(lambda i, j: (i + 1, j + 1)), 1))

TURNED = "columns before rows", "The places are right, but a pair is (row, column), as in NumPy."
slips.mistake(*TURNED, **_misread(_moved(lambda i, j: (j, i)), student=0))
slips.mistake(*TURNED, **_misread(_moved(lambda i, j: (j, i)), 1, student=2))
slips.mistake(
    "no slip seen",
    "There is one. Compare with the line above, entry by entry.",
    **_misread(lambda n: (frozenset(), frozenset())),
)


# -- 5.8 ------------------------------------------------------------------------------------------

SixBySix = Annotated[np.ndarray, Array((6, 6))]
ThreeBySix = Annotated[np.ndarray, Array((3, 6))]


def any_text(rng: np.random.Generator) -> np.ndarray:
    """More tokens than numbers in a token, so that a matrix that suits them all is the only one."""
    return rng.integers(-2, 3, (int(rng.integers(8, 12)), 6)) / 4


def _weights_of(X: np.ndarray, head: Head) -> np.ndarray:
    return _run(X, head).weights


@exercise(numbers=two_heads)
def merged(student: StudentId, M: SixBySix) -> Verdict:
    """Find the one matrix M behind two heads that look alike: their output is A X M."""
    numbers = two_heads(student)
    (Wq, Wk, Wv), (*_, Wv_2) = numbers.heads
    for X in cases([numbers.X], any_text):
        A = _weights_of(X, (Wq, Wk, Wv))
        expected = np.hstack([A @ X @ Wv, A @ X @ Wv_2]) @ numbers.Wo
        at = f"With {len(X)} tokens, the first of them {show(X[0])},"
        if verdict := differs(expected, A @ X @ M, at=at, what="the output", whole=M):
            return verdict
    return right("For 7 texts, two heads with the same weights and one with M give one output.")


merged.add_hints(
    "Write the output with A and X: it is A X W^{V}_1 times the first three rows of W^{O}, and "
    "A X W^{V}_2 times the others.",
    "Both terms begin with A X. What is left in the brackets?",
)


def _merging(face: Callable[[TwoHeads], np.ndarray]) -> Recognized:
    """A mistake that can be computed: known with every student's numbers."""
    return {
        "example": (EXAMPLE, face(two_heads(EXAMPLE))),
        "when": lambda student, M: close(M, face(two_heads(student))),
    }


merged.mistake(
    "one head alone",
    "Head 2 has the same weights, but values of its own: it adds its term.",
    **_merging(lambda n: n.heads[0][2] @ n.Wo[:3]),
)
merged.mistake(
    "the rows of W^{O} exchanged",
    "The first three rows of W^{O} meet the output of head 1, which stands first.",
    **_merging(lambda n: n.heads[0][2] @ n.Wo[3:] + n.heads[1][2] @ n.Wo[:3]),
)
merged.mistake(
    "values added before they are mixed",
    "Each head has rows of W^{O} of its own; (W^{V}_1 + W^{V}_2) times their sum has crossed "
    "terms in it.",
    **_merging(lambda n: (n.heads[0][2] + n.heads[1][2]) @ (n.Wo[:3] + n.Wo[3:])),
)
merged.mistake(
    "the values alone",
    "This puts the two W^{V} side by side. W^{O} comes after them.",
    **_merging(lambda n: np.hstack([n.heads[0][2], n.heads[1][2]])),
)


# -- 5.9 ------------------------------------------------------------------------------------------

R = np.array([[1, 2, 0], [0, 1, 0], [1, 0, 1]])  # as the text has it; its determinant is 1


def _one_head(name: str, student: str, rows: np.ndarray) -> Verdict:
    """Do these rows of a new W^O make of the new head what the old ones made of the old one?"""
    numbers = two_heads(student)
    (Wq, Wk, Wv), other = numbers.heads
    old, new, old_rows = (
        (other, other, numbers.Wo[3:])
        if name == "first"
        else ((Wq, Wk, Wv), (Wq, Wk, Wv @ R), numbers.Wo[:3])
    )
    for X in cases([numbers.X], any_text):
        expected, answer = _run(X, old).output @ old_rows, _run(X, new).output @ rows
        at = f"With {len(X)} tokens, the first of them {show(X[0])},"
        what = f"what the {name} of the new heads adds to the output"
        if verdict := differs(expected, answer, at=at, what=what, whole=rows):
            return verdict
    return right()


@exercise(numbers=two_heads)
def other_heads(student: StudentId, upper: ThreeBySix, lower: ThreeBySix) -> Verdict:
    """Find the W^O with which the heads in the other order, one of them with W^V R, act alike."""
    return right("For 7 texts, the new heads with your matrix give the old output.")


@other_heads.part("Upper rows")
def _upper(student: str, upper: np.ndarray) -> Verdict:
    return _one_head("first", student, upper)


@other_heads.part("Lower rows", points=2)
def _lower(student: str, lower: np.ndarray) -> Verdict:
    return _one_head("second", student, lower)


other_heads.add_hints(
    "The output is a sum: each head times its own three rows of W^{O}. So ask for each head alone.",
    "The new second head gives the old output of head 1, times R. What has to stand behind R so "
    "that R is undone?",
    "`np.linalg.inv(R)` has whole numbers as entries.",
)


def _rows(part: str, face: Callable[[TwoHeads], np.ndarray]) -> dict[str, Any]:
    """A mistake in three rows, as options of `mistake`."""
    return {"part": part, **_merging(face)}


other_heads.mistake(
    "the rows left where they were",
    "The heads have changed places, and their rows of W^{O} go with them.",
    **_rows("Upper rows", lambda n: n.Wo[:3]),
)
other_heads.mistake(
    "R in place of its inverse",
    "The values come multiplied by R already. W^{O} has to take it back, not to do it once more.",
    **_rows("Lower rows", lambda n: R @ n.Wo[:3]),
)
other_heads.mistake(
    "R forgotten",
    "These are the old rows, but the head they meet has other values now.",
    **_rows("Lower rows", lambda n: n.Wo[:3]),
)
other_heads.mistake(
    "the transpose in place of the inverse",
    "Only a rotation or reflection is undone by its transpose.",
    **_rows("Lower rows", lambda n: R.T @ n.Wo[:3]),
)
other_heads.mistake(
    "the rows of the other head",
    "Now the old head 1 stands second: it is its rows, the first three, that have to be mended.",
    **_rows("Lower rows", lambda n: n.Wo[3:]),
)


# -- 5.10 -----------------------------------------------------------------------------------------

LEAST, MOST = 0.1, 0.9  # between these lie all weights, as the text says


def _beyond_both(p: float, q: float, w: np.ndarray) -> Verdict:
    """Do two heads with these weights, mixed like this, return 2a − b?"""
    if not (min(p, q) >= LEAST - 1e-9 and max(p, q) <= MOST + 1e-9):
        off = p if not LEAST - 1e-9 <= p <= MOST + 1e-9 else q
        says = f"a weight is {show(off)}; it should lie between {LEAST} and {MOST}."
        return wrong(says, at="a weight", yours=off)
    for a, b in [(1.0, 1.0), (1.0, 0.0), (3.0, 5.0)]:
        heads = np.array([p * a + (1 - p) * b, q * a + (1 - q) * b])
        at = f"at a = {a:g} and b = {b:g} the heads return {show(heads)}, and"
        if verdict := differs(2 * a - b, heads @ w, at=at, what="their mix"):
            return verdict
    return right()


@exercise
def beyond_the_values(
    p: RealNumber,
    q: RealNumber,
    w: Annotated[np.ndarray, Array((2,))],
    least: RealNumber,
) -> Verdict:
    """Let two heads return 2a − b, and find how large their mix has to be at least."""
    return right("The mix is 2a − b for all values, and no smaller mix was found.")


@beyond_the_values.part("Heads")
def _heads_beyond(p: float, q: float, w: np.ndarray) -> Verdict:
    return _beyond_both(p, q, w)


@beyond_the_values.part("Least")
def _least_mix(least: float) -> Verdict:
    weights = np.linspace(LEAST, MOST, 81)
    mixes = [
        np.abs(np.linalg.solve([[p, q], [1 - p, 1 - q]], [2, -1])).sum()
        for p in weights
        for q in weights
        if p > q
    ]
    found = float(min(mixes))
    if close(least, found, 1e-4):
        return right()
    if least < found:
        says = f"no pair of heads with such weights needs as little as {show(least)}."
    else:
        says = f"there are heads that need less than {show(least)}."
    return wrong(says, at="the mix", yours=least)


beyond_the_values.add_hints(
    "Collect what stands in front of a: w₁p + w₂q = 2. And in front of b?",
    "Both together say that w₁ + w₂ = 1. So one of the two numbers is negative: one head is "
    "subtracted.",
    "The more the heads differ, the less they have to be stretched.",
)

beyond_the_values.mistake(
    "the tokens exchanged",
    "This returns 2b − a: the first head should look at the first token.",
    example=(0.1, 0.9, [2.375, -1.375]),
    when=lambda p, q, w: close([w @ [p, q], w @ [1 - p, 1 - q]], [-1, 2]),
    part="Heads",
)
beyond_the_values.mistake(
    "b not taken away",
    "In front of a stands 2, but b has to come out with −1. Then w₁ + w₂ = 1.",
    example=(0.9, 0.1, [2.0, 2.0]),
    when=lambda p, q, w: close(w @ [p, q], 2) and not close(w @ [1 - p, 1 - q], -1),
    part="Heads",
)
beyond_the_values.mistake(
    "a single head with weights beyond 1",
    "2 and −1 would be weights that no softmax returns. Two heads, one of them subtracted, can do "
    "what one cannot.",
    example=(2, 0.5, [1, 0]),
    when=lambda p, q, w: max(p, q) > 1 or min(p, q) < 0,
    part="Heads",
)
beyond_the_values.mistake(
    "weights of 0 and 1",
    "With p = 1 and q = 0 a mix of 3 would do. Weights of a softmax with limits need more.",
    example=(3,),
    part="Least",
)
beyond_the_values.mistake(
    "the sum without absolute values",
    "w₁ + w₂ is always 1. Asked is how large the two numbers are: |w₁| + |w₂|.",
    example=(1,),
    part="Least",
)
