"""Unit 05: two heads by hand. Every check takes the student's id first: numbers differ by id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from selfcheck.cards import counted
from selfcheck.compare import as_array, close, real_array
from selfcheck.display import show, show_apart
from selfcheck.exercises import exercise
from selfcheck.following import following, own_array
from selfcheck.kinds import Array, OfNumbers, RealNumber, StudentId, with_texts_read
from selfcheck.own_numbers import OwnNumbers
from selfcheck.parts import MissingAnswer
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


class Matrix(OfNumbers):
    """A matrix of any shape, so that a check can say what a wrong shape means."""

    def read(self, answer: Any, name: str) -> np.ndarray:
        array = real_array(answer := with_texts_read(answer, name))
        shape = (2, 6) if array is None or array.ndim != 2 else array.shape
        return as_array(answer, shape, name)


AnyMatrix = Annotated[np.ndarray, Matrix()]


class Columns(OfNumbers):
    """A 6×6 matrix; what is not known yet may be nan."""

    def read(self, answer: Any, name: str) -> np.ndarray:
        return as_array(with_texts_read(answer, name), (6, 6), name, finite=False)


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
    earlier: str = "",
) -> Verdict:
    """Right is the truth, and what follows from the student's own earlier answers, if they err."""
    if answer.shape == truth.shape and _near(answer, truth, within):
        return right()
    if own is None:
        return _off(name, answer, truth, why, within) or right()
    verdict = _off(name, answer, own, why, within)  # a slip of its own, beside the earlier one
    return verdict or following(wrong(""), earlier, right)


def _given(answer: Any) -> Any:
    """An answer as a predicate gets it, or None if it cannot be read."""
    return None if isinstance(answer, MissingAnswer) else answer


def _if_wrong(
    own: Any, truth: np.ndarray, within: float = 1e-6, *others: np.ndarray
) -> np.ndarray | None:
    """The student's own array if it is another one than it should be, and right somewhere."""
    own = _given(own)
    if own is None or _near(own, truth, within):
        return None
    return own_array(own, truth, within, others)


def _or(own: Any, truth: np.ndarray, within: float = 1e-6, *others: np.ndarray) -> np.ndarray:
    """The student's own array where it errs and is worth to go on with, else the true one."""
    own = _if_wrong(own, truth, within, *others)
    return truth if own is None else own


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
def projections(student: StudentId, Q: TwoByThree, K: TwoByThree, V: TwoByThree) -> None:
    """Compute Q, K and V of head 1."""


projections.part("Q", lambda student, Q: _projected("Q", student, Q))
projections.part("K", lambda student, K: _projected("K", student, K))
projections.part("V", lambda student, V: _projected("V", student, V))


EXAMPLE = "example"  # the student whose numbers the examples of mistakes have


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
) -> None:
    """Compute head 1's scores QKᵀ and its attention weights, to four decimals."""


@scores_and_weights.part("Scores")
def _scores(
    student: str, scores: np.ndarray, Q: np.ndarray | None = None, K: np.ndarray | None = None
) -> Verdict:
    head = _first(student)
    queries, keys = _or(Q, head.Q, 1e-6, head.K), _or(K, head.K, 1e-6, head.Q)
    return _judged(
        "the scores",
        scores,
        head.scores,
        None if queries is head.Q and keys is head.K else queries @ keys.T,
        lambda i, j: f"query {i} times key {j}, {_sum_shown(queries[i], keys[j])}",
        1e-6,
        earlier="Q and K of 5.1",
    )


@scores_and_weights.part("Weights")
def _softmax(student: str, weights: np.ndarray, scores: np.ndarray | None = None) -> Verdict:
    truth = _first(student).scores
    if _near(weights, _weights(truth)):
        return right()
    head = _first(student)
    scores = _or(scores, truth, 1e-6, head.K @ head.Q.T)
    sums = weights.sum(axis=1)
    i = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[i] - 1) > 4 * FOUR_DECIMALS:
        what = f"the sum of row {i} of the weights, {show(weights[i])},"
        return differs(1.0, sums[i], what=what, tolerance=0.0, whole=weights) or right()
    return _judged(
        "the weights",
        weights,
        _weights(truth),
        None if scores is truth else _weights(scores),
        lambda i, j: f"where a softmax meets the scores {show(scores[i])} divided by √3",
        earlier="scores",
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

    earlier = "weights of 5.2 and V of 5.1"
    return _judged(f"head {number}", answer, steps.output, own, why, earlier=earlier)


@exercise(numbers=two_heads)
def head_outputs(
    student: StudentId,
    output_1: TwoByThree,
    output_2: TwoByThree,
    weights: OwnTwoByTwo = None,
    V: OwnTwoByThree = None,
) -> None:
    """Compute the outputs of both heads, to four decimals."""


@head_outputs.part("Head 1")
def _head_1(
    student: str,
    output_1: np.ndarray,
    weights: np.ndarray | None = None,
    V: np.ndarray | None = None,
) -> Verdict:
    head = _first(student)
    V = _if_wrong(V, head.V, 1e-6, head.Q, head.K)
    if weights is not None and not np.allclose(weights.sum(axis=1), 1, atol=1e-3):
        weights = None  # no weights at all
    others = [] if weights is None else [weights]  # those of wrong scores need not be right
    weights = _if_wrong(weights, head.weights, FOUR_DECIMALS, *others)  # rounded ones are
    if weights is None and V is None:
        return _mixed_by_head(1, student, output_1)
    own = (head.weights if weights is None else weights) @ (head.V if V is None else V)
    return _mixed_by_head(1, student, output_1, own)


head_outputs.part("Head 2", lambda student, output_2: _mixed_by_head(2, student, output_2))


@exercise(numbers=two_heads)
def final_output(
    student: StudentId,
    concat: AnyMatrix,
    output: AnyMatrix,
    output_1: OwnTwoByThree = None,
    output_2: OwnTwoByThree = None,
) -> None:
    """Compute the concatenation of both heads and the final output, to four decimals."""


@final_output.part("Concat")
def _side_by_side(
    student: str,
    concat: np.ndarray,
    output_1: np.ndarray | None = None,
    output_2: np.ndarray | None = None,
) -> Verdict:
    heads = [steps.output for steps in _heads(two_heads(student))]
    given = [_given(output_1), _given(output_2)]
    fine = [m is not None and _near(m, true) for m, true in zip(given, heads, strict=True)]
    others = [m for m in given if m is not None and any(fine)]  # one head wrong, the other right
    own = [
        _if_wrong(mine, true, FOUR_DECIMALS, *others)
        for mine, true in zip(given, heads, strict=True)
    ]
    followed = np.hstack([t if m is None else m for m, t in zip(own, heads, strict=True)])
    return _judged(
        "the concatenation",
        concat,
        np.hstack(heads),
        None if all(mine is None for mine in own) else followed,
        lambda i, j: f"column {j % 3} of head {j // 3 + 1}",
        earlier="outputs of 5.3",
    )


@final_output.part("Output")
def _mixed_by_Wo(student: str, output: np.ndarray, concat: np.ndarray | None = None) -> Verdict:
    numbers = two_heads(student)
    truth = _concat(numbers)
    own = _or(concat, truth, FOUR_DECIMALS)  # rounding was not charged there
    return _judged(
        "the output",
        output,
        truth @ numbers.Wo,
        None if own is truth else own @ numbers.Wo,
        lambda i, j: f"row {i} of the concatenation times column {j} of W^{{O}}",
        earlier="concatenation",
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
    student: StudentId, other_K: TwoByThree, Q: OwnTwoByThree = None, K: OwnTwoByThree = None
) -> Verdict:
    """Find another K that gives head 1 the same attention weights."""
    head = _first(student)
    verdict = _same_weights(other_K, head.Q, head.K)
    own = _or(Q, head.Q, 1e-6, head.K), _or(K, head.K, 1e-6, head.Q)
    if own[0] is head.Q and own[1] is head.K:
        return verdict
    return following(verdict, "Q and K of 5.1", lambda: _same_weights(other_K, *own))


# -- 5.6 ------------------------------------------------------------------------------------------

EARNED = (0, 0, 1, 2, 2, 3, 4)  # by the number of columns found, as the text says


def _columns_found(numbers: TwoHeads, Wo: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which columns are whole numbers of the range, and which give what is printed."""
    with np.errstate(all="ignore"):
        whole = ((Wo == np.rint(Wo)) & (Wo >= LOW) & (Wo <= HIGH)).all(axis=0)
        off = np.abs(_concat(numbers) @ Wo - numbers.printed)
    return whole, (off <= HALF_UNIT + 1e-9).all(axis=0)


@exercise(numbers=two_heads)
def hidden_matrix(student: StudentId, hidden_Wo: Annotated[np.ndarray, Columns()]) -> Verdict:
    """Recover the integer matrix W^O behind the printed output."""
    numbers = two_heads(student)
    with np.errstate(all="ignore"):
        whole_ones = np.rint(hidden_Wo)
        Wo = np.where(np.abs(hidden_Wo - whole_ones) < 1e-6, whole_ones, hidden_Wo)
        output = _concat(numbers) @ Wo
    whole, fits = _columns_found(numbers, Wo)
    found = int((whole & fits).sum())
    if found == 6:
        return right("Every entry is an integer from −1 to 4, and the output is the printed one.")
    j = int(np.argmin(whole & fits))
    if not fits[j]:
        apart = [
            " and ".join(f"{v:.3f}" for v in column[:, j]) for column in (output, numbers.printed)
        ]
        if apart[0] == apart[1]:  # within half a unit more
            apart[0] = " and ".join(f"{v:.5f}" for v in output[:, j])
        reason = f"column {j} gives {apart[0]} where {apart[1]} are printed"
    else:
        reason = (
            f"column {j} gives what is printed, but {show(Wo[:, j])} are not integers in −1 … 4"
        )
    says = f"{found} of 6 columns are found; {reason}.".replace("-", "−")
    return partly(EARNED[found], wrong(says, at="the columns", yours=Wo))


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


def _found(name: str, k: int, student: str, answer: Places) -> Verdict:
    """The slips of a line; one that mending the line before explains may be among them.

    Half of them, and no other entry, earn a point.
    """
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
        slips = counted(len(must), thing="slip")
        says = (
            f"{len(must & answer)} of {slips} in {name} {'is' if len(must) == 1 else 'are'} found."
        )
        if 2 * len(must & answer) >= len(must):
            return partly(1, wrong(says, at=name, yours=sorted(answer)))
    else:
        return right()
    return wrong(says, at=name, yours=sorted(answer))


@exercise(numbers=two_heads)
def slips(
    student: StudentId,
    in_concat: Annotated[Places, Positions()],
    in_output: Annotated[Places, Positions()],
) -> None:
    """Find the entries of the worksheet that are slips, not rounding."""


slips.part("Concat", lambda student, in_concat: _found("concat", 0, student, in_concat), points=2)
slips.part("Output", lambda student, in_output: _found("output", 1, student, in_output), points=2)


# -- 5.8 ------------------------------------------------------------------------------------------

SixBySix = Annotated[np.ndarray, Array((6, 6))]
ThreeBySix = Annotated[np.ndarray, Array((3, 6))]


def any_text(rng: np.random.Generator) -> np.ndarray:
    """More tokens than numbers in a token, so that a matrix that suits them all is the only one."""
    return rng.integers(-2, 3, (int(rng.integers(8, 12)), 6)) / 4


@exercise(numbers=OwnNumbers(two_heads, example=EXAMPLE))
def merged(student: StudentId, M: SixBySix) -> Verdict:
    """Find the one matrix M behind two heads that look alike: their output is A X M."""
    numbers = two_heads(student)
    (Wq, Wk, Wv), (*_, Wv_2) = numbers.heads
    for X in cases([numbers.X], any_text):
        A = _run(X, (Wq, Wk, Wv)).weights
        expected = np.hstack([A @ X @ Wv, A @ X @ Wv_2]) @ numbers.Wo
        at = f"With {len(X)} tokens, the first of them {show(X[0])},"
        if verdict := differs(expected, A @ X @ M, at=at, what="the output", whole=M):
            return verdict
    return right()


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


@exercise(numbers=OwnNumbers(two_heads, example=EXAMPLE))
def other_heads(student: StudentId, upper: ThreeBySix, lower: ThreeBySix) -> None:
    """Find the W^O with which the heads in the other order, one of them with W^V R, act alike."""


other_heads.part("Upper rows", lambda student, upper: _one_head("first", student, upper))
other_heads.part("Lower rows", lambda student, lower: _one_head("second", student, lower), points=2)


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
    p: RealNumber, q: RealNumber, w: Annotated[np.ndarray, Array((2,))], least: RealNumber
) -> None:
    """Let two heads return 2a − b, and find how large their mix has to be at least."""


beyond_the_values.part("Heads", lambda p, q, w: _beyond_both(p, q, w))


@beyond_the_values.part("Least")
def _least_mix(least: float) -> Verdict:
    """w₁ + w₂ = 1 and w₁p + w₂q = 2, so w₁ = (2 − q)/(p − q): least at the ends, or not at all."""
    ends = [(p, q) for p in (LEAST, MOST) for q in (LEAST, MOST) if p != q]
    found = min(abs((2 - q) / (p - q)) + abs((p - 2) / (p - q)) for p, q in ends)
    if close(least, found, 1e-4):
        return right()
    if least < found:
        says = f"no pair of heads with such weights needs as little as {show(least)}."
    else:
        says = f"there are heads that need less than {show(least)}."
    return wrong(says, at="the mix", yours=least)
