"""Unit 05: two heads by hand. Every check takes the student's id first: numbers differ by id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..answers import (
    Array,
    StudentId,
    Unreadable,
    as_array,
    close,
    real_array,
    show,
    show_apart,
)
from ..attention import softmax
from ..exercise import Recognized, Verdict, exercise, partly, right, wrong
from ..variants import DECIMALS, HALF_UNIT, HIGH, LOW, Head, TwoHeads, two_heads

TwoByTwo = Annotated[np.ndarray, Array((2, 2))]
TwoByThree = Annotated[np.ndarray, Array((2, 3))]
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


class Positions:
    """Places in a matrix: pairs (row, column) from 0, or a mask of true entries."""

    def read(self, answer: Any, name: str) -> frozenset[tuple[int, int]]:
        kind = type(answer)
        if issubclass(kind, set | frozenset):
            answer = list(answer)
        elif issubclass(kind, tuple) and all(isinstance(part, np.ndarray) for part in answer):
            answer = np.transpose(answer)  # what np.nonzero returns
        elif issubclass(kind, np.ndarray) and answer.dtype == bool and answer.ndim == 2:
            answer = np.argwhere(answer)
        pairs = real_array(answer)
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


# -- 5.1 ------------------------------------------------------------------------------------------


def _sum_shown(x: np.ndarray, w: np.ndarray) -> str:
    return " + ".join(f"{a}·{b}" for a, b in zip(x, w, strict=True))


@exercise("5.1", points=2)
def projections(
    student: StudentId,
    Q: TwoByThree,
    K: TwoByThree,
    V: TwoByThree,
) -> Verdict:
    """Compute Q, K and V of head 1."""
    numbers = two_heads(student)
    expected = _run(numbers.X, numbers.heads[0])
    answers = {"Q": Q, "K": K, "V": V}
    bad = [name for name in "QKV" if not _near(answers[name], getattr(expected, name), 1e-6)]
    if not bad:
        return right("Every entry is the product of its row of X and its column of weights.")
    name = bad[0]
    answer, truth = answers[name], getattr(expected, name)
    i, j = np.argwhere(np.abs(answer - truth) > 1e-6)[0]
    product = _sum_shown(numbers.X[i], numbers.heads[0]["QKV".index(name)][:, j])
    return partly(
        int(len(bad) == 1),
        f"{' and '.join(bad)} differ{'s' * (len(bad) == 1)}. Entry [{i}, {j}] of {name}: row {i} "
        f"of X times column {j} of W^{{{name}}} is {product} = {truth[i, j]}; yours is "
        f"{show(answer[i, j])}.",
    )


projections.add_hints(
    "A row of Q is one token's query: the row of X times W^{Q}. K and V work the same way.",
    "Every entry is a sum of six products: a row of X against a column of the matrix. In "
    "NumPy the product of matrices is `@`.",
)


def _computed(*faces: Callable[[TwoHeads], tuple], student: Any = 0) -> Recognized:
    """A mistake that can be computed: recognized with every student's numbers, in every face."""

    def made(student: str, *answers: np.ndarray) -> bool:
        return any(
            all(map(_near, answers, map(np.asarray, face(two_heads(student))))) for face in faces
        )

    return {"example": (student, *faces[0](two_heads(student))), "when": made}


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


@exercise("5.2", points=2)
def scores_and_weights(
    student: StudentId,
    scores: TwoByTwo,
    weights: TwoByTwo,
) -> Verdict:
    """Compute head 1's scores QKᵀ and its attention weights, to four decimals."""
    numbers = two_heads(student)
    steps = _run(numbers.X, numbers.heads[0])
    scored = _near(scores, steps.scores, 1e-6)
    weighed = _near(weights, steps.weights)
    if scored and weighed:
        return right("The scores are those of the definition, and so are the weights.")
    says = []
    if not scored:
        i, j = np.argwhere(np.abs(scores - steps.scores) > 1e-6)[0]
        product = _sum_shown(steps.Q[i], steps.K[j])
        says.append(
            f"Query {i} and key {j} score {product} = {steps.scores[i, j]}; you have "
            f"{show(scores[i, j])}."
        )
    if not weighed:
        i = int(np.argmax(np.abs(weights - steps.weights).max(axis=1)))
        gap = steps.scores[i, 0] - steps.scores[i, 1]
        apart = show_apart(weights[i, 0] / max(weights[i, 1], 1e-300), np.exp(gap / np.sqrt(3)))
        says.append(
            f"Row {i} of your weights, {show(weights[i])}, sums to {show(weights[i].sum(), 6)}. "
            f"Its scores differ by {show(gap)}, so its weights should have the ratio "
            f"exp({show(gap)}/√3) = {apart[1]}; yours have {apart[0]}."
        )
    return partly(int(scored or weighed), " ".join(says))


scores_and_weights.add_hints(
    "The score of query i and key j is their dot product: `Q @ K.T` has them all.",
    "Divide by the square root of the length of a key, then exponentiate and divide each row "
    "by its sum.",
    "With two keys the softmax needs only the difference of the two scores: the first weight "
    "is 1/(1 + exp(−difference)).",
)


def _with_weights(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[TwoHeads], tuple]:
    """Head 1's scores as they should be, and weights made from them in another way."""
    return lambda n: (_heads(n)[0].scores, change(_heads(n)[0].scores))


scores_and_weights.mistake(
    "softmax down the columns",
    "In your matrix the columns sum to 1. Each query, a row, shares out its attention "
    "over the keys, so the rows have to.",
    **_computed(_with_weights(lambda S: softmax(S / np.sqrt(3), axis=0))),
)
scores_and_weights.mistake(
    "no division by √3",
    "The scores go into the softmax divided by √d, with keys of length d = 3. Without it "
    "the larger weight comes too close to 1.",
    **_computed(_with_weights(softmax)),
)
scores_and_weights.mistake(
    "divided by 3 in place of √3",
    "The variance of a dot product grows with the length of the key, its standard "
    "deviation with the square root: divide by √3.",
    **_computed(_with_weights(lambda S: softmax(S / 3))),
)
scores_and_weights.mistake(
    "divided by √6",
    "6 is the length of a token. What is summed in a score are the 3 numbers of a key.",
    **_computed(_with_weights(lambda S: softmax(S / np.sqrt(6)))),
)
scores_and_weights.mistake(
    "no exponential",
    "Dividing the scores by their sum gives rows that sum to 1, but softmax divides "
    "exponentials. Raw scores may also be negative.",
    **_computed(_with_weights(lambda S: S / S.sum(axis=1, keepdims=True))),
)
scores_and_weights.mistake(
    "queries and keys swapped",
    "Your scores are the transpose: row i should hold what query i says to every key, "
    "QKᵀ and not KQᵀ.",
    **_computed(lambda n: (_heads(n)[0].scores.T, _weights(_heads(n)[0].scores.T))),
)
scores_and_weights.mistake(
    "scores already divided",
    "The weights are right. Asked for as scores are the whole numbers QKᵀ, before √3.",
    **_computed(lambda n: (_heads(n)[0].scores / np.sqrt(3), _heads(n)[0].weights)),
)
scores_and_weights.mistake(
    "digits cut off, not rounded",
    "0.01727 to four decimals is 0.0173: round to the nearest, do not drop the rest. Cut "
    "digits push every number the same way, and the errors add up.",
    **_computed(_with_weights(lambda S: np.floor(_weights(S) * 1e4) / 1e4)),
)
scores_and_weights.mistake(
    "fewer than four decimals",
    "The weights are right as far as they go. They are about to be multiplied, so keep "
    "four decimals or more.",
    **_computed(
        _with_weights(lambda S: np.round(_weights(S), 3)),
        _with_weights(lambda S: np.round(_weights(S), 2)),
    ),
)


# -- 5.3 and 5.4 ----------------------------------------------------------------------------------


def _off(difference: float) -> str:
    """The largest difference and, if it may come from rounding, how many decimals survive it."""
    says = f"is off by up to {show(difference, 2)}"
    decimals = next((d for d in range(12, 0, -1) if difference <= 0.5 * 10.0**-d), 0)
    if not decimals:
        return says
    return f"{says}, so {decimals} decimal{'s' * (decimals > 1)} of yours can be trusted"


@exercise("5.3", points=2)
def head_outputs(
    student: StudentId,
    head_1: TwoByThree,
    head_2: TwoByThree,
) -> Verdict:
    """Compute the outputs of both heads, to four decimals."""
    says, correct = [], 0
    for number, answer, steps in zip(
        (1, 2), (head_1, head_2), _heads(two_heads(student)), strict=True
    ):
        if _near(answer, steps.output):
            correct += 1
            continue
        off = np.abs(answer - steps.output)
        i, j = np.unravel_index(np.argmax(off), off.shape)
        low, high = sorted(steps.V[:, j].tolist())
        inside = "lies" if low <= answer[i, j] <= high else "should lie"
        says.append(
            f"Head {number} {_off(off.max())}. The worst entry is [{i}, {j}]: "
            f"{show(answer[i, j], 7)} {inside} between the values {low} and {high}, "
            f"and the first of the two tokens weighs {steps.weights[i, 0]:.4f}."
        )
    if correct == 2:
        return right("Both heads ran by the definition and gave your outputs.")
    return partly(correct, " ".join(says))


head_outputs.add_hints(
    "An output row is a weighted mean of the two rows of V, so each entry lies between the "
    "two entries of its column of V.",
    "Both heads do the same with their own matrices. Write one function of X, Wq, Wk, Wv and "
    "call it twice; round only what you print.",
)


def _with_every_head(change: Callable[[Steps], np.ndarray]) -> Callable[[TwoHeads], tuple]:
    return lambda n: tuple(change(steps) for steps in _heads(n))


def _rounded_weights(decimals: int) -> Callable[[TwoHeads], tuple]:
    return _with_every_head(lambda s: np.round(s.weights, decimals) @ s.V)


head_outputs.mistake(
    "rounding before the end",
    "The weights were rounded and then multiplied: an error in a weight grows with the "
    "distance between the two values. Keep all digits until the last line.",
    **_computed(
        _rounded_weights(3),
        _rounded_weights(2),
        _rounded_weights(4),
    ),
)
head_outputs.mistake(
    "softmax down the columns",
    "Here the columns of the weights sum to 1, not the rows. An output is then no mean of "
    "the values any more.",
    **_computed(_with_every_head(lambda s: softmax(s.scores / np.sqrt(3), axis=0) @ s.V)),
)
head_outputs.mistake(
    "no division by √3",
    "The scores went into the softmax undivided; the outputs lie too close to one value.",
    **_computed(_with_every_head(lambda s: softmax(s.scores) @ s.V)),
)
head_outputs.mistake(
    "divided by 3 in place of √3",
    "The scores are divided by the square root of the key's length.",
    **_computed(_with_every_head(lambda s: softmax(s.scores / 3) @ s.V)),
)
head_outputs.mistake(
    "weights transposed",
    "Row i of the weights belongs to query i: the output is AV, not AᵀV.",
    **_computed(_with_every_head(lambda s: s.weights.T @ s.V)),
)
head_outputs.mistake(
    "one head's weights for both",
    "Each head has queries and keys of its own, and so weights of its own. Head 2 was "
    "mixed with the weights of head 1.",
    **_computed(lambda n: (_heads(n)[0].output, _heads(n)[0].weights @ _heads(n)[1].V)),
)
head_outputs.mistake(
    "the heads in the other order",
    "Head 1 comes first; W^{O} is made for that order.",
    **_computed(lambda n: (_heads(n)[1].output, _heads(n)[0].output)),
)


@exercise("5.4", points=2)
def final_output(
    student: StudentId,
    concat: Annotated[np.ndarray, Matrix()],
    output: Annotated[np.ndarray, Matrix()],
) -> Verdict:
    """Compute the concatenation of both heads and the final output, to four decimals."""
    numbers = two_heads(student)
    expected = _concat(numbers)
    says, correct = [], 0
    for name, answer, truth in [
        ("concat", concat, expected),
        ("output", output, expected @ numbers.Wo),
    ]:
        if _near(answer, truth):
            correct += 1
        elif answer.shape != truth.shape:
            says.append(f"{name} has shape {answer.shape}; two tokens and six columns make (2, 6).")
        else:
            off = np.abs(answer - truth)
            i, j = np.unravel_index(np.argmax(off), off.shape)
            says.append(
                f"{name} {_off(off.max())}. The worst entry is [{i}, {j}], where the "
                f"definition gives {show(truth[i, j], 7)} and you have {show(answer[i, j], 7)}."
            )
    if correct == 2:
        return right("The heads stand side by side, and W^{O} mixes them into your output.")
    return partly(correct, " ".join(says))


final_output.add_hints(
    "Each token keeps its own row: the output of head 1, and to its right that of head 2. "
    "The concatenation has 2 rows and 6 columns.",
    "Then multiply with W^{O}, a 6×6 matrix, from the right.",
)

final_output.mistake(
    "heads stacked as rows",
    "With the heads one under the other there are four rows for two tokens, and W^{O} "
    "does not fit. Heads go side by side: `np.hstack`, or `concatenate` with axis 1.",
    example=(0, *(np.vstack([s.output for s in _heads(two_heads(0))]),) * 2),
    when=lambda student, concat, output: concat.shape == (4, 3),
)
final_output.mistake(
    "heads added",
    "Adding the heads loses which head saw what, before W^{O} can weigh them. Put them "
    "side by side.",
    example=(0, *(sum(s.output for s in _heads(two_heads(0))),) * 2),
    when=lambda student, concat, output: concat.shape == (2, 3),
)


def _mixed(change: Callable[[TwoHeads], np.ndarray]) -> Callable[[TwoHeads], tuple]:
    """A concatenation made in another way, and what W^O makes of it."""
    return lambda n: (change(n), change(n) @ n.Wo)


final_output.mistake(
    "heads stacked as rows, then reshaped",
    "The shape is right, but each row now holds both tokens of one head. A row belongs to "
    "a token and holds both heads.",
    **_computed(_mixed(lambda n: np.vstack([s.output for s in _heads(n)]).reshape(2, 6))),
)
final_output.mistake(
    "the heads in the other order",
    "Head 1 comes first: the first three rows of W^{O} are made for it.",
    **_computed(_mixed(lambda n: np.hstack([s.output for s in _heads(n)[::-1]]))),
)
final_output.mistake(
    "W^{O} transposed",
    "The concatenation times W^{O}, not times its transpose.",
    **_computed(lambda n: (_concat(n), _concat(n) @ n.Wo.T)),
)
final_output.mistake(
    "W^{O} forgotten",
    "The concatenation is not yet the output: W^{O} mixes what the heads have seen.",
    **_computed(lambda n: (_concat(n), _concat(n))),
)


def _rounded_concat(decimals: int) -> Callable[[TwoHeads], tuple]:
    return _mixed(lambda n: np.round(_concat(n), decimals))


def _of_rounded_weights(decimals: int) -> Callable[[TwoHeads], tuple]:
    return _mixed(lambda n: np.hstack(_rounded_weights(decimals)(n)))


final_output.mistake(
    "rounding before the end",
    "Numbers were rounded on the way and then multiplied and summed: W^{O} adds up their "
    "errors. Keep all digits until the last line.",
    **_computed(
        lambda n: (_concat(n), np.round(_concat(n), 3) @ n.Wo),
        *(_rounded_concat(decimals) for decimals in (2, 3, 4)),
        *(_of_rounded_weights(decimals) for decimals in (2, 3, 4)),
    ),
)


# -- 5.5 ------------------------------------------------------------------------------------------


@exercise("5.5", points=2)
def other_keys(student: StudentId, K: TwoByThree) -> Verdict:
    """Find another K that gives head 1 the same attention weights."""
    steps = _heads(two_heads(student))[0]
    if np.abs(K - steps.K).max() < 0.01:
        return wrong("No entry differs from the old K by 0.01 or more.")
    scores = steps.Q @ K.T
    weights = _weights(scores)
    if _near(weights, steps.weights, 1e-9):
        moved = (np.abs(K - steps.K).max(axis=0) >= 0.01).sum()
        return right(
            f"K changed in {moved} of 3 columns, the scores became {show(scores)}, and every "
            "weight is what it was."
        )
    i = int(np.argmax(np.abs(weights - steps.weights).max(axis=1)))
    gaps = [float(S[i, 0] - S[i, 1]) for S in (steps.scores, scores)]
    old, new = show_apart(*gaps)
    return wrong(
        f"For query {i} the two scores differed by {old}; with your K they differ by {new}. Its "
        f"weights go from {show(steps.weights[i])} to {show(weights[i])}."
    )


other_keys.add_hints(
    "Softmax does not notice when the same number is added to every score of a row. How can a "
    "change of K add the same number to the scores of both keys?",
    "Look at one column of K. The score of key j gets q times the entry in its row j. What if "
    "both entries of the column grow by the same amount?",
)


def _keys(student: Any) -> np.ndarray:
    return _heads(two_heads(student))[0].K


other_keys.mistake(
    "nothing changed",
    "This is K itself. Change at least one of its columns.",
    example=(0, _keys(0)),
    when=lambda student, K: np.abs(K - _keys(student)).max() < 0.01,
)


def _is_multiple(student: str, K: np.ndarray) -> bool:
    own = _keys(student)
    return close(K * (own**2).sum(), own * (K * own).sum())


other_keys.mistake(
    "K multiplied by a number",
    "A factor multiplies the differences between the scores too, and softmax lives on "
    "differences. It is blind to what is added, not to what is multiplied.",
    example=(0, 2 * _keys(0)),
    when=_is_multiple,
)


def _one_key_changed(student: str, K: np.ndarray) -> bool:
    return (np.abs(K - _keys(student)).max(axis=1) < 1e-9).sum() == 1


other_keys.mistake(
    "one key changed",
    "Only one of the two keys moved, so its score changed and the other's did not. Add "
    "the same to both keys: down a column, not along a row.",
    example=(0, _keys(0) + np.array([[1], [0]])),
    when=_one_key_changed,
)
other_keys.mistake(
    "keys in the other order",
    "The weights are the same numbers, but in the other order: they belong to the keys.",
    example=(0, _keys(0)[::-1]),
    when=lambda student, K: close(K, _keys(student)[::-1]),
)


def _columns_reordered(student: str, K: np.ndarray) -> bool:
    return sorted(K.T.tolist()) == sorted(_keys(student).T.tolist())


other_keys.mistake(
    "columns in another order",
    "The columns of K meet the columns of Q one by one. Reordering K alone pairs each "
    "with a wrong partner.",
    example=(0, _keys(0)[:, [1, 0, 2]]),
    when=_columns_reordered,
)


# -- 5.6 ------------------------------------------------------------------------------------------


@exercise("5.6", points=4)
def hidden_matrix(student: StudentId, Wo: Annotated[np.ndarray, Array((6, 6))]) -> Verdict:
    """Recover the integer matrix W^O behind the printed output."""
    numbers = two_heads(student)
    output = _concat(numbers) @ Wo
    whole = (Wo == np.rint(Wo)).all(axis=0) & (Wo >= LOW).all(axis=0) & (Wo <= HIGH).all(axis=0)
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
    return partly(found * 4 // 6, f"{found} of 6 columns are found; {reason}.".replace("-", "−"))


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


def _slips(n: TwoHeads) -> tuple[Places, Places]:
    """The entries that neither exact numbers nor the line before explain."""
    first, second = (
        _places((np.abs(line - before) > UNIT) & (np.abs(line - exact) > UNIT))
        for line, before, exact in _lines(n)
    )
    return first, second


@exercise("5.7", points=2)
def slips(
    student: StudentId,
    in_concat: Annotated[Places, Positions()],
    in_output: Annotated[Places, Positions()],
) -> Verdict:
    """Find the entries of the worksheet that are slips, not rounding."""
    numbers = two_heads(student)
    expected, says = _slips(numbers), []
    answers = {"concat": in_concat, "output": in_output}
    correct = sum(map(frozenset.__eq__, answers.values(), expected))
    if correct == 2:
        return right("Both are off whichever way they are computed; all the rest is rounding.")
    for (name, answer), truth, (line, before, exact) in zip(
        answers.items(), expected, _lines(numbers), strict=True
    ):
        outside = sorted((i, j) for i, j in answer if not (0 <= i < 2 and 0 <= j < 6))
        if outside:
            says.append(f"{name} has no entry {outside[0]}: rows are 0 and 1, columns 0 to 5.")
        elif answer - truth:
            i, j = min(answer - truth)
            says.append(
                f"Entry ({i}, {j}) of {name} is no slip: {line[i, j]:.3f} is printed, the line "
                f"above it gives {before[i, j]:.3f}, exact numbers give {exact[i, j]:.3f}."
            )
        elif answer != truth:
            says.append(f"In {name} a slip is not found yet.")
    return partly(correct, " ".join(says))


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


def _misread(face: Callable[[TwoHeads], tuple], student: Any = 0) -> Recognized:
    def made(student: str, *answers: Places) -> bool:
        return answers == face(two_heads(student))

    example = (student, *(sorted(places) for places in face(two_heads(student))))
    return {"example": example, "when": made}


slips.mistake(
    "rounding taken for slips",
    "These are all entries that differ from the exact result. Most of them follow from "
    "the rounded line above, correctly computed: rounding that travels is no slip.",
    **_misread(_inexact),
)


def _with_consequences(n: TwoHeads) -> tuple[Places, Places]:
    """The slips, and every output that the slip in the line before has changed."""
    first, second = _slips(n)
    return first, second | {(i, k) for i, j in first for k in range(6) if n.Wo[j, k]}


slips.mistake(
    "consequences taken for slips",
    "The slip in the heads' outputs moves every result that it enters. Those entries "
    "follow correctly from the line above as printed.",
    **_misread(
        _with_consequences,
        student=1,
    ),
)


def _moved(change: Callable[[int, int], tuple[int, int]]) -> Callable[[TwoHeads], tuple]:
    return lambda n: tuple(frozenset(change(i, j) for i, j in places) for places in _slips(n))


slips.mistake(
    "counted from 1",
    "The places are right, but rows and columns count from 0 here, as in NumPy.",
    **_misread(_moved(lambda i, j: (i + 1, j + 1))),
)
slips.mistake(
    "columns before rows",
    "The places are right, but a pair is (row, column), as in NumPy.",
    **_misread(_moved(lambda i, j: (j, i))),
)
slips.mistake(
    "no slip seen",
    "Both lines have one. Compare with the line above, entry by entry.",
    **_misread(lambda n: (frozenset(), frozenset())),
)
