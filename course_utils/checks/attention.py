"""Unit 04: attention from one query up."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np

from selfcheck.blanks import ____
from selfcheck.calls import FunctionAnswer, asks
from selfcheck.cards import counted
from selfcheck.compare import close, real_array
from selfcheck.display import show, show_apart, show_at
from selfcheck.exercises import exercise
from selfcheck.kinds import Array, Choice, Formula, FormulaAnswer, Function, RealNumber, StudentId
from selfcheck.recognition import Recognized
from selfcheck.refusals import NotAttempted, NotFinite, Unreadable
from selfcheck.sampling import cases, magnitude, numbers, sizes
from selfcheck.verdicts import Verdict, differs, keeping, right, wrong

from ..attention import attention as package_attention
from ..attention import causal_attention as package_causal
from ..attention import causal_mask, softmax
from ..numbers.attention import Attention
from ..numbers.attention import attention as attention_numbers
from ..reserved import SOFTMAX_ATTENTION

# -- the definition, one query at a time ----------------------------------------------------------


def one_query(q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, ...]:
    """Scores, weights and output of a single query."""
    scores = np.array([q @ k for k in K]) / np.sqrt(len(q))
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    return scores, weights, sum(w * v for w, v in zip(weights, V, strict=True))


def row_off(
    answer: np.ndarray,
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    begin: str = "With",
    tolerance: float = 1e-6,
) -> Verdict | None:
    """Refuted by the row that is furthest from the definition, in numbers; else None."""
    expected = by_definition(Q, K, V)
    if close(expected, answer, tolerance):
        return None
    i = int(np.abs(answer - expected).max(axis=1).argmax())
    scores, weights, output = one_query(Q[i], K, V)
    at = (
        f"{begin} Q = {show(Q)}, K = {show(K)} and V = {show(V)}, query {i + 1} has the scores "
        f"{show(scores)} and the weights {show(weights)}:"
    )
    what = f"row {i + 1} of the result"
    return differs(output, answer[i], at=at, what=what, whole=answer, tolerance=tolerance)


def by_definition(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """All outputs, one query after the other."""
    return np.array([one_query(q, K, V)[2] for q in Q])


def _whole_numbers(seed: int, *shapes: tuple[int, int], largest: int = 3) -> tuple[np.ndarray, ...]:
    """Small whole numbers, so that a counterexample can be followed with a pencil."""
    rng = np.random.default_rng(seed)
    return tuple(rng.integers(-largest, largest + 1, size=shape).astype(float) for shape in shapes)


Text = tuple[np.ndarray, np.ndarray, np.ndarray]  # Q, K and V


def _instance(seed: int, n: int, k: int, m: int, width: int) -> Text:
    """Q, K and V for n queries, k keys, m numbers in a key, `width` numbers in a value."""
    Q, K, V = _whole_numbers(seed, (n, m), (k, m), (k, width))
    return Q, K, V


# -- exercises ------------------------------------------------------------------------------------

SIZES = {"n": 5, "d": 7, "m": 3, "l": 4, "T": 2}


class ShapeOf:
    """The shape of a matrix: rows and columns, as two whole numbers."""

    def read(self, answer: Any, name: str) -> np.ndarray:
        given = real_array(answer)
        if given is None or given.shape != (2,) or (given != np.floor(given)).any():
            raise Unreadable(
                f"{name} should be a pair of whole numbers, rows and columns, such as (2, 9); it "
                f"is {show(answer, depth=2)}."
            )
        return given

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        return bool((a == b).all())


Shape = Annotated[np.ndarray, ShapeOf()]


def _shapes_by_running(n: int, d: int, m: int, l: int, T: int) -> dict[str, tuple]:  # noqa: E741
    """Run multi-head attention on zeros, and write down every shape on the way."""
    X, W_q, W_k, W_v = (np.zeros(shape) for shape in [(n, d), (d, m), (d, m), (d, l)])
    Q, scores = X @ W_q, (X @ W_q) @ (X @ W_k).T
    head = softmax(scores) @ (X @ W_v)
    joined, W_O = np.concatenate([head] * T, axis=1), np.zeros((T * l, d))
    arrays = {"W_q": W_q, "Q": Q, "scores": scores, "W_v": W_v, "head": head}
    arrays |= {"joined": joined, "W_O": W_O, "Y": joined @ W_O}
    return {name: array.shape for name, array in arrays.items()}


def _same_shape(name: str, said: np.ndarray, own: np.ndarray | None = None) -> Verdict:
    """As the code ran, or as it follows from the student's own shape of what comes before."""
    if own is not None and (said == FOLLOWS[name](*own)).all():
        return right()
    seen = _shapes_by_running(**SIZES)[name]
    return differs(seen, said, at="As the code ran,", what=f"the shape of {name}") or right()


FOLLOWS: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "Q": lambda rows, columns: (SIZES["n"], columns if rows == SIZES["d"] else np.nan),
    "head": lambda rows, columns: (SIZES["n"], columns if rows == SIZES["d"] else np.nan),
    "joined": lambda rows, columns: (rows, SIZES["T"] * columns),
    "W_O": lambda rows, columns: (columns, SIZES["d"]),
    "Y": lambda rows, columns: (SIZES["n"], columns),
}


@exercise
def shapes(
    W_q: Shape,
    Q: Shape,
    scores: Shape,
    W_v: Shape,
    head: Shape,
    joined: Shape,
    W_O: Shape,
    Y: Shape,
) -> Verdict:
    """Give the shape of every array for n = 5, d = 7, m = 3, l = 4 and T = 2."""
    return right("The code ran with arrays of these sizes, and every shape is as you said.")


@shapes.part("W_q")
def _W_q(W_q: np.ndarray) -> Verdict:
    return _same_shape("W_q", W_q)


@shapes.part("Q")
def _Q(Q: np.ndarray, W_q: np.ndarray | None = None) -> Verdict:
    return _same_shape("Q", Q, W_q)


@shapes.part("scores")
def _scores(scores: np.ndarray) -> Verdict:
    return _same_shape("scores", scores)


@shapes.part("W_v")
def _W_v(W_v: np.ndarray) -> Verdict:
    return _same_shape("W_v", W_v)


@shapes.part("head")
def _head(head: np.ndarray, W_v: np.ndarray | None = None) -> Verdict:
    return _same_shape("head", head, W_v)


@shapes.part("joined")
def _joined_shape(joined: np.ndarray, head: np.ndarray | None = None) -> Verdict:
    return _same_shape("joined", joined, head)


@shapes.part("W_O")
def _W_O(W_O: np.ndarray, joined: np.ndarray | None = None) -> Verdict:
    return _same_shape("W_O", W_O, joined)


@shapes.part("Y")
def _Y(Y: np.ndarray, W_O: np.ndarray | None = None) -> Verdict:
    return _same_shape("Y", Y, W_O)


shapes.add_hints(
    "Start from X, which is n×d. In a product the inner sizes meet and vanish: (n×d)(d×m) is n×m.",
    "A score belongs to a pair of tokens: one asks, one is asked. How many pairs are there?",
    "The T outputs of the heads stand side by side, so their columns add up. W^O takes so many "
    "numbers a token, and gives d back.",
)


shapes.mistake(
    "scores of features instead of tokens",
    "That is QᵀK, m×m. A score compares a query with a key, so there is one for each "
    "pair of tokens: QKᵀ.",
    example=((3, 3),),
    part="scores",
)
shapes.mistake(
    "W^O made for one head",
    "W^O meets all heads at once: it has a row for each of the T·l numbers that stand side "
    "by side.",
    example=((4, 7),),
    part="W_O",
)
shapes.mistake(
    "heads stacked as rows",
    "Every token keeps one row; what the heads say about it is written side by side, in "
    "T·l columns.",
    example=((10, 4),),
    part="joined",
)
shapes.mistake(
    "heads added",
    "Heads are put side by side, not added: n×T·l numbers go into W^O.",
    example=((5, 4),),
    part="joined",
)
shapes.mistake(
    "matrices written for column vectors",
    "With tokens as rows of X the product is X W, so W has d rows. Both habits are "
    "in use: with tokens as columns it would be W x.",
    example=((3, 7), *[____] * 2, (4, 7), *[____] * 4),
)
shapes.mistake(
    "a head as wide as a token",
    "A head mixes values, and a value has l numbers. Only W^O brings the width back to d.",
    example=((5, 7),),
    part="head",
)


PLAIN = [_instance(15, 2, 3, 4, 2), _instance(82, 3, 3, 2, 2), _instance(0, 1, 5, 3, 1),
         _instance(299, 4, 2, 1, 3), _instance(4, 3, 1, 2, 4)]  # fmt: skip
LARGE = (
    np.array([[1e4], [-1e4], [1.0]]),
    np.array([[1.0], [0.9999], [-1.0]]),
    np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]),
)


def any_queries(rng: np.random.Generator, least: int = 1) -> Text:
    """Queries, keys and values, all sizes different; some keys are the same."""
    n, k, m, width = sizes(rng, 4, least)
    K = numbers(rng, k, m)
    K[rng.integers(k)] = K[0]
    return numbers(rng, n, m), K, numbers(rng, k, width, largest=float(rng.choice([1, 100])))


MANY_QUERIES = partial(any_queries, least=8)


def large_scores(rng: np.random.Generator) -> Text:
    """Scores up to ±10000, apart from each other or the same."""
    n, k, m, width = sizes(rng, 4, high=12)
    Q, K = (np.round(numbers(rng, size, m, largest=3.0)) for size in (n, k))
    Q[0, 0], K[0, 0] = 3, 3
    largest = np.abs(Q @ K.T).max() / np.sqrt(m)
    return Q * (1e4 / max(largest, 1.0)), K, numbers(rng, k, width)


def _stays_right(attention: FunctionAnswer) -> Verdict:
    for Q, K, V in cases([LARGE], large_scores, fresh=3, ahead=asks(attention)):
        answer = attention.array(Q, K, V, shape=(len(Q), V.shape[1]))
        if verdict := row_off(answer, Q, K, V, tolerance=1e-3):
            return verdict
    return right(
        "Every row is the weighted mean of the definition, for 11 pairs of lengths; scores of "
        "±10000 stay finite and right, and adding one vector to all keys changes nothing."
    )


def _moved(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same with one vector added to all keys."""
    return Q, K + np.linspace(-1, 1, K.shape[1]), V


@exercise
def attention(attention: Annotated[FunctionAnswer, Function(samples=PLAIN[:2])]) -> Verdict:
    """Write a function of Q (n×m), K (k×m) and V (k×l) that returns attention, n×l."""
    each = asks(attention, lambda case: [(attention, *case), (attention, *_moved(*case))])
    for Q, K, V in cases(PLAIN, any_queries, MANY_QUERIES, ahead=each):
        shape = (len(Q), V.shape[1])
        answer = attention.array(Q, K, V, shape=shape)
        if verdict := row_off(answer, Q, K, V):
            return verdict
        moved = attention.array(*_moved(Q, K, V), shape=shape)
        if verdict := differs(answer, moved, at="With one vector added to all keys", whole=moved):
            return verdict
    return keeping(2, "Right for small scores.", lambda: _stays_right(attention))


attention.add_hints(
    "Three steps: a score for every pair (query, key), a softmax over the keys of each query, "
    "a weighted sum of values.",
    "`Q @ K.T` has a row for each query. Along which axis must the weights sum to 1?",
    "For large scores: softmax does not change when the same number is subtracted from a whole "
    "row. Which number keeps every exponent at 0 or below?",
)

attention.forbid(*SOFTMAX_ATTENTION)


def _variant(
    scale: Callable[..., float] = lambda Q, K, V: np.sqrt(Q.shape[1]),
    weigh: Callable[[np.ndarray], np.ndarray] = softmax,
) -> Callable[..., np.ndarray]:
    """Attention with another scale, or with other weights from the scores."""
    return lambda Q, K, V: weigh(Q @ K.T / scale(Q, K, V)) @ V


attention.mistake(
    "softmax over the wrong axis",
    "Here the weights of each key sum to 1 over the queries. Each query has to divide its "
    "attention among the keys: rows sum to 1, so the axis is the last one.",
    example=(_variant(weigh=lambda S: softmax(S, axis=0)),),
)

SCALE_MISTAKES = (
    "Without 1/√m the scores spread the more the longer the vectors are: Var(qᵀk) grows as m.",
    "Var(qᵀk) grows as m, so its spread grows as √m. Dividing by m flattens the weights.",
)

attention.mistake(
    "no scale",
    SCALE_MISTAKES[0],
    example=(_variant(lambda Q, K, V: 1.0),),
)
attention.mistake(
    "1/m in place of 1/√m",
    SCALE_MISTAKES[1],
    example=(_variant(lambda Q, K, V: Q.shape[1]),),
)
attention.mistake(
    "scaled by the width of a value",
    "The score is a sum of m products, m being the length of queries and keys. The width "
    "of the values has no part in it.",
    example=(_variant(lambda Q, K, V: np.sqrt(V.shape[1])),),
)
attention.mistake(
    "one softmax over all pairs",
    "All the weights together sum to 1 here. Every query has its own softmax.",
    example=(_variant(weigh=lambda S: np.exp(S) / np.exp(S).sum()),),
)
attention.mistake(
    "normalized by a sum of raw scores",
    "Scores can be negative and their sum can be 0, so score / sum of scores is no weight. "
    "The exponentials are what is summed.",
    example=(_variant(weigh=lambda S: S / S.sum(axis=1, keepdims=True)),),
)
attention.mistake(
    "large scores not tamed",
    "exp(10000) is beyond floating point. Subtract each row's largest score first: the "
    "weights stay the same, and no exponent is above 0.",
    example=(_variant(weigh=lambda S: np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)),),
)


CAUSAL = [_instance(6, 3, 3, 4, 2), _instance(9, 4, 4, 2, 3), _instance(7, 1, 1, 2, 2),
          _instance(9, 6, 6, 1, 1)]  # fmt: skip
FAR_APART = (  # a future score of 700: the past vanishes beside it, and exp(700) is still finite
    np.ones((3, 1)),
    np.array([[-50.0], [-49.0], [700.0]]),
    np.array([[1.0], [2.0], [4.0]]),
)
PAST = 2  # of the 4 tokens whose future is changed
LARGE_SCORES = (1e4, 3.0, 1e12, 1e300)


def _any_causal(rng: np.random.Generator, least: int = 1) -> Text:
    """Tokens of any number and any width."""
    n, m, width = sizes(rng, 3, least)
    return numbers(rng, n, m), numbers(rng, n, m), numbers(rng, n, width)


def _drawn_far_back(rng: np.random.Generator) -> Text:
    """A long text in which the first key makes up for its distance, whatever the distance is."""
    n, (m, width) = int(rng.integers(30, 45)), sizes(rng, 2, high=10)
    Q, K, V = numbers(rng, n, m), numbers(rng, n, m), numbers(rng, n, width)
    Q[:, 0], K[0] = np.arange(n) * np.sqrt(m), np.eye(m)[0]
    K[1:, 0] = 0.0
    return Q, K, V


def _placed(Q: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys whose scores are q_iᵀk_j/√m + j: a key has its place as a further number.

    For the weights of query i that is the same as to subtract i − j.
    """
    n, m = Q.shape
    ones, places = np.ones((n, 1)), np.arange(n)[:, None]
    return np.sqrt(m + 1) * np.hstack([Q / np.sqrt(m), ones]), np.hstack([K, places])


def _causal_by_definition(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    Q, K = _placed(Q, K)
    return np.array([one_query(q, K[: i + 1], V[: i + 1])[2] for i, q in enumerate(Q)])


def _past_before_and_after(
    causal_attention: FunctionAnswer, by: float, sign: int = -1
) -> list[np.ndarray]:
    """The first rows, with the later tokens as they are, and moved by `by` either way.

    The early keys get scores near −by, which a mask that is not −∞ may not survive; with sign 1
    they are near by, beside which any mask hides, and the later keys stay as they are.
    """
    Q, K, V = CAUSAL[1]
    Q, later = np.abs(Q) + 1, np.arange(len(Q))[:, None] >= PAST
    K = K + sign * by * ~later
    return [
        causal_attention.array(Q, K + change * (sign < 0), V + change, shape=V.shape)[:PAST]
        for change in (0.0 * later, by * later, -by * later)
    ]


def _past_stays(causal_attention: FunctionAnswer) -> Verdict:
    """However large scores are, what comes later changes nothing before it, by no bit."""
    for by in LARGE_SCORES:
        before, *after = _past_before_and_after(causal_attention, by)
        for rows in after:
            if not np.array_equal(before, rows):
                was, became = show_apart(before, rows)
                return wrong(
                    f"But with scores around −{by:g}, a change of the tokens {PAST + 1} and "
                    f"{PAST + 2} turns the rows 1 and {PAST} from {was} into {became}: the past "
                    "depends on the future.",
                    at="a change of the later tokens",
                    yours=[before, rows],
                )
    return right(
        "Token i sees itself and what came before, each step of distance e times less, at 10 "
        "lengths; whatever the later tokens are, "
        "the earlier rows stay the same to the last bit."
    )


@exercise
def causal_attention(
    causal_attention: Annotated[FunctionAnswer, Function(samples=[*CAUSAL[:2], FAR_APART])],
) -> Verdict:
    """Write attention in which token i sees the tokens j ≤ i alone, and far ones less."""
    draws = _any_causal, partial(_any_causal, least=8), _drawn_far_back
    for Q, K, V in cases(CAUSAL, *draws, ahead=asks(causal_attention)):
        answer = causal_attention.array(Q, K, V, shape=V.shape)
        at = (
            f"With Q = {show(Q)}, K = {show(K)} and V = {show(V)}, where query i sees keys 1 to i, "
        )
        at += "the further away the less,"
        if verdict := differs(_causal_by_definition(Q, K, V), answer, at=at):
            return verdict
    return keeping(2, "Right for small scores.", lambda: _past_stays(causal_attention))


causal_attention.add_hints(
    "Token i may look at the tokens j ≤ i, itself included. Which entries of the n×n scores "
    "have to go? Which n×n array has the distances i − j? `np.arange(n)[:, None]` is a column.",
    "A hidden token should get weight exactly 0, and the others should still sum to 1. Which "
    "score has the exponential 0?",
    "`np.tril(np.ones((n, n), dtype=bool))` is True where a token may look; `np.where` puts "
    "another number elsewhere, before the softmax.",
)

causal_attention.forbid(*SOFTMAX_ATTENTION)


def _near_scores(Q, K):
    """q_iᵀk_j/√m − (i − j), for all pairs."""
    Q, K = _placed(Q, K)
    return Q @ K.T / np.sqrt(Q.shape[1]) - np.arange(len(Q))[:, None]


def _distance_times(slope: float, Q, K, V):
    Q, K = _placed(Q, K)
    return package_causal(Q, K * np.append(np.ones(K.shape[1] - 1), slope), V)


@causal_attention.mistake(
    "the distance forgotten",
    "This is causal attention as in the lecture, in which far tokens count as much as near ones. "
    "Here the score of key j loses i − j.",
)
def _without_distance(Q, K, V):
    return package_causal(Q, K, V)


@causal_attention.mistake(
    "the distance added",
    "What is far away is to count less, so its score becomes smaller: the distance i − j, which is "
    "0 or more in the past, is subtracted.",
)
def _distance_added(Q, K, V):
    return _distance_times(-1.0, Q, K, V)


@causal_attention.mistake(
    "the distance divided by √m too",
    "The dot product alone is divided by √m. The distance is subtracted after that.",
)
def _distance_scaled(Q, K, V):
    return _distance_times(1 / np.sqrt(Q.shape[1]), Q, K, V)


@causal_attention.mistake(
    "masked with 0 before the softmax",
    "exp(0) = 1, so a hidden token with score 0 still gets weight, often more than a "
    "visible one with a negative score. The score has to be −∞.",
)
def _masked_by_zero(Q, K, V):
    return softmax(_near_scores(Q, K) * causal_mask(len(Q))) @ V


@causal_attention.mistake(
    "zeroed after the softmax",
    "The hidden weights are gone, but those that are left no longer sum to 1: the early "
    "tokens come out too small. Mask before the softmax, with −∞.",
)
def _zeroed_after(Q, K, V):
    return (softmax(_near_scores(Q, K)) * causal_mask(len(Q))) @ V


def _mask(visible: np.ndarray, Q, K, V, hidden: float = -np.inf):
    return softmax(np.where(visible, _near_scores(Q, K), hidden)) @ V


def _hides_itself(causal_attention: FunctionAnswer) -> bool:
    """In all rows but the first, which is 0/0 or something that was put in its place."""
    Q, K, V = CAUSAL[0]
    answer = causal_attention.array(Q, K, V, shape=V.shape, finite=False)
    Q, K = _placed(Q, K)
    return all(close(answer[i], one_query(Q[i], K[:i], V[:i])[2]) for i in (1, 2))


@causal_attention.mistake(
    "the token itself hidden",
    "Token i sees j ≤ i, itself included. With j < i the first token has nothing to look "
    "at, and its softmax is 0/0.",
    when=_hides_itself,
)
def _without_itself(Q, K, V):
    return _mask(np.tril(np.ones((len(Q), len(Q))), -1) > 0, Q, K, V)


@causal_attention.mistake(
    "the past hidden",
    "This mask is the wrong way round: token i sees j ≥ i. Row i is the query, column j the key.",
)
def _sees_the_future(Q, K, V):
    return _mask(causal_mask(len(Q)).T, Q, K, V)


causal_attention.mistake(
    "no mask",
    "This is attention without a mask: every token sees the future.",
    example=(lambda Q, K, V: softmax(_near_scores(Q, K)) @ V,),
)
causal_attention.mistake(
    "no scale",
    SCALE_MISTAKES[0],
    example=(lambda Q, K, V: _mask(causal_mask(len(Q)), Q * np.sqrt(Q.shape[1]), K, V),),
)


def _future_leaks(causal_attention: FunctionAnswer) -> bool:
    """Moved by the future where scores are far below zero, and not where they are far above."""
    before, *after = _past_before_and_after(causal_attention, LARGE_SCORES[0], sign=1)
    if any(not np.array_equal(before, rows) for rows in after):
        return False  # the later values come in by another way than their weights
    probes = [_past_before_and_after(causal_attention, by) for by in LARGE_SCORES]
    return any(not np.array_equal(before, after) for before, after, _ in probes)


@causal_attention.mistake(
    "a mask that is not −∞",
    "A large negative number hides a token only while no real score comes near it. −∞ always does.",
    when=_future_leaks,
)
def _weak_mask(Q, K, V):
    return _mask(causal_mask(len(Q)), Q, K, V, hidden=-1e9)


@causal_attention.mistake(
    "the future takes part in the softmax",
    "Masking after the softmax and dividing again is right on paper. But where a future "
    "score is large, nothing is left of the past to divide: 0/0. Mask first; take a row's "
    "largest score after masking.",
)
def _renormalized_after(Q, K, V):
    weights = softmax(_near_scores(Q, K)) * causal_mask(len(Q))
    return weights / weights.sum(axis=1, keepdims=True) @ V


@causal_attention.mistake(
    "one largest score for all rows",
    "Where another row has a much larger score, nothing is left of this one: 0/0. Each row "
    "subtracts the largest of the scores that it sees.",
)
def _largest_of_all(Q, K, V):
    scores = np.where(causal_mask(len(Q)), _near_scores(Q, K), -np.inf)
    weights = np.exp(scores - scores.max())
    return weights / weights.sum(axis=1, keepdims=True) @ V


@causal_attention.mistake(
    "large scores not tamed",
    "exp(10000) is beyond floating point, and exp(−10000) is 0, so that a row may be 0/0. "
    "Subtract each row's largest score first.",
)
def _not_shifted(Q, K, V):
    weights = np.exp(np.where(causal_mask(len(Q)), _near_scores(Q, K), -np.inf))
    return weights / weights.sum(axis=1, keepdims=True) @ V


def _cross_instance(seed: int, n: int, k: int, d: int, m: int, width: int):
    return _whole_numbers(seed, (n, d), (k, d), (d, m), (d, m), (d, width), largest=1)


CROSS = [_cross_instance(10, 2, 2, 3, 2, 2), _cross_instance(39, 3, 3, 2, 1, 3),
         _cross_instance(0, 2, 4, 3, 2, 1), _cross_instance(4, 5, 1, 2, 4, 2)]  # fmt: skip


def any_cross(rng: np.random.Generator, least: int = 1) -> tuple[np.ndarray, ...]:
    """Tokens of both sides and three matrices, all sizes different."""
    n, k, d, m, width = sizes(rng, 5, least)
    shapes = [(n, d), (k, d), (d, m), (d, m), (d, width)]
    return tuple(numbers(rng, *shape, largest=1.0) for shape in shapes)


Attend = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
OwnAttention = Annotated[FunctionAnswer | None, Function()]
UNEVEN = np.sin(np.arange(1.0, 41.0))  # added to queries, keys or values: nothing stays even
WITH_OWN = "With your attention of exercise 4.2, whose slip is charged there:"


def slipped(attention: FunctionAnswer | None) -> Attend | None:
    """The student's attention of exercise 4.2, as far as it is one: it heeds all that it is given.

    What gives no numbers, or the same whatever the queries, keys or values are, says nothing about
    an answer that is built on it. Whether the slip has a name there plays no part.
    """
    if attention is None:
        return None

    def own(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
        return attention.array(Q, K, V, shape=(len(Q), V.shape[1]))

    def heeds(place: int) -> bool:
        for text in PLAIN:
            other = [
                A + (k == place) * UNEVEN[: A.size].reshape(A.shape) for k, A in enumerate(text)
            ]
            if not close(own(*text), own(*other)):
                return True
        return False

    try:
        return own if all(map(heeds, range(3))) else None
    except (NotAttempted, Unreadable, NotFinite):
        return None


def _crosses(cross_attention: FunctionAnswer) -> Verdict | None:
    """Refuted by the definition, or None."""
    draws = any_cross, partial(any_cross, least=6)
    for Y, Z, Wq, Wk, Wv in cases(CROSS, *draws, ahead=asks(cross_attention)):
        answer = cross_attention.array(Y, Z, Wq, Wk, Wv, shape=(len(Y), Wv.shape[1]))
        begin = "Queries come from Y, keys and values from Z and Y together. With"
        answering = np.concatenate([Z, Y])
        if verdict := row_off(
            answer, Y @ Wq, answering @ Wk, answering @ Wv, begin, tolerance=1e-5
        ):
            return verdict
    return None


def _crosses_as(attend: Attend, cross_attention: FunctionAnswer) -> bool:
    """The same with another attention."""
    for Y, Z, Wq, Wk, Wv in cases(CROSS, any_cross, partial(any_cross, least=6)):
        answer = cross_attention.array(Y, Z, Wq, Wk, Wv, shape=(len(Y), Wv.shape[1]))
        answering = np.concatenate([Z, Y])
        if not close(attend(Y @ Wq, answering @ Wk, answering @ Wv), answer, 1e-5):
            return False
    return True


@exercise
def cross_attention(
    cross_attention: Annotated[FunctionAnswer, Function(samples=CROSS[:3])],
    attention: OwnAttention = None,
) -> Verdict:
    """Write attention of a decoder's tokens Y (n×d) to an encoder's Z (k×d) and to themselves."""
    says = "Each row of Y asks, and Z and Y answer together, also where they differ in length."
    verdict = _crosses(cross_attention)
    if verdict is None:
        return right(says)
    attend = slipped(attention)
    if attend and _crosses_as(attend, cross_attention):
        return right(f"{WITH_OWN} {says[:1].lower()}{says[1:]}")
    return verdict


cross_attention.add_hints(
    "Who asks? The decoder, which has the tokens Y. How many tokens are asked, and answer? Each of "
    "them has one key and one value.",
    "One softmax shares out the attention among all k + n tokens. `np.vstack([Z, Y])` has all of "
    "them as rows; then it is the attention of exercise 4.2.",
)

cross_attention.forbid(*SOFTMAX_ATTENTION)


def _cross(scale: Callable[..., float] = lambda Y, Wq: np.sqrt(Wq.shape[1]), roles: str = "YBB"):
    """Such an attention with another scale, or with other tokens in a role (B: both)."""

    def run(Y, Z, Wq, Wk, Wv):
        q, k, v = ({"Y": Y, "Z": Z, "B": np.vstack([Y, Z])}[role] for role in roles)
        return softmax(q @ Wq @ (k @ Wk).T / scale(Y, Wq)) @ (v @ Wv)

    return run


def _two_softmaxes(Y, Z, Wq, Wk, Wv):
    return _cross(roles="YZZ")(Y, Z, Wq, Wk, Wv) + _cross(roles="YYY")(Y, Z, Wq, Wk, Wv)


cross_attention.mistake(
    "the decoder's own tokens left out",
    "This is the cross-attention of the lecture: the decoder looks at Z alone. Here it looks at "
    "its own tokens, too, in the same softmax.",
    example=(_cross(roles="YZZ"),),
)
cross_attention.mistake(
    "two attentions added",
    "Each of the two has weights that sum to 1, so that all weights together sum to 2. One softmax "
    "over all tokens shares out the attention: then a score in Z takes from those in Y.",
    example=(_two_softmaxes,),
)
cross_attention.mistake(
    "the mean of two attentions",
    "This gives one half to Z and one half to Y, whatever the scores are. One softmax over all "
    "tokens decides between them, too.",
    example=(lambda *given: _two_softmaxes(*given) / 2,),
)


cross_attention.mistake(
    "the encoder asks",
    "The decoder asks: queries come from Y, and the result has a row for each row of Y.",
    example=(_cross(roles="ZBB"),),
)
cross_attention.mistake(
    "the encoder left out",
    "This is self-attention of Y: Z does not occur in it.",
    example=(_cross(roles="YYY"),),
)
cross_attention.mistake(
    "the decoder left out",
    "This is self-attention of Z: Y does not occur in it.",
    example=(_cross(roles="ZZZ"),),
)
cross_attention.mistake(
    "no scale",
    SCALE_MISTAKES[0],
    example=(_cross(lambda Y, Wq: 1.0),),
)
cross_attention.mistake(
    "1/m in place of 1/√m",
    SCALE_MISTAKES[1],
    example=(_cross(lambda Y, Wq: Wq.shape[1]),),
)
cross_attention.mistake(
    "scaled by √d",
    "The score is a sum of m products: m is the length of a query, after Wq, not the "
    "length d of a token.",
    example=(_cross(lambda Y, Wq: np.sqrt(Y.shape[1])),),
)


def _heads_instance(seed: int, n: int, d: int, m: int, width: int, T: int):
    shapes = [(d, m), (d, m), (d, width)] * T
    X, Wo, *W = _whole_numbers(seed, (n, d), (T * width, d), *shapes, largest=1)
    return X, [tuple(W[3 * s : 3 * s + 3]) for s in range(T)], Wo


HEADS = [_heads_instance(7, 2, 4, 2, 2, 2), _heads_instance(1210, 3, 6, 1, 3, 2),
         _heads_instance(9, 3, 2, 4, 3, 1), _heads_instance(266, 2, 3, 2, 1, 4)]  # fmt: skip


def any_heads(rng: np.random.Generator) -> tuple[np.ndarray, list, np.ndarray]:
    """Any number of heads of any size."""
    T, n, d, m, width = sizes(rng, 5, high=12)
    shapes = [(d, m), (d, m), (d, width)]
    heads = [tuple(numbers(rng, *shape, largest=1.0) for shape in shapes) for _ in range(T)]
    return numbers(rng, n, d, largest=1.0), heads, numbers(rng, T * width, d, largest=1.0)


def _applied(multi_head: FunctionAnswer, X: np.ndarray, heads: list, Wo: np.ndarray) -> np.ndarray:
    """The answer; if it does not fit, with a word on what has to."""
    try:
        return multi_head.array(X, heads, Wo, shape=(len(heads), *X.shape))
    except Unreadable as why:
        if "ValueError" not in str(why) and "shape" not in str(why):
            raise
        T, width = len(heads), heads[0][2].shape[1]
        raise Unreadable(
            f"{why} Each of the {T} outputs has {width} column{'s' * (width > 1)}, as many as "
            f"its share of the {len(Wo)} rows of Wo."
        ) from None


def _mixed(attend: Attend, X: np.ndarray, heads: list, Wo: np.ndarray) -> list[np.ndarray]:
    """What each head contributes: what comes out if the rows of W^O of all others are 0."""
    joined = np.hstack([attend(X @ Wq, X @ Wk, X @ Wv) for Wq, Wk, Wv in heads])
    of_head = np.repeat(np.arange(len(heads)), len(Wo) // len(heads))
    return [joined @ np.where(of_head[:, None] == t, Wo, 0.0) for t in range(len(heads))]


def _mixes_as(attend: Attend, multi_head: FunctionAnswer) -> bool:
    """Whether these are the heads with another attention."""
    for X, heads, Wo in cases(HEADS, any_heads):
        answer = _applied(multi_head, X, heads, Wo)
        if not close(np.array(_mixed(attend, X, heads, Wo)), answer, 1e-5):
            return False
    return True


def _backward(X: np.ndarray, heads: list, Wo: np.ndarray) -> tuple[np.ndarray, list, np.ndarray]:
    """The same with the heads in the opposite order."""
    return X, heads[::-1], np.concatenate(np.split(Wo, len(heads))[::-1])


def _mixes(multi_head: FunctionAnswer) -> Verdict | None:
    """Refuted by the definition, or None."""
    each = asks(multi_head, lambda case: [(multi_head, *case), (multi_head, *_backward(*case))])
    for X, heads, Wo in cases(HEADS, any_heads, ahead=each):
        answer = _applied(multi_head, X, heads, Wo)
        turned = _applied(multi_head, *_backward(X, heads, Wo))
        expected = np.array(_mixed(by_definition, X, heads, Wo))
        t, i, _ = np.unravel_index(np.abs(answer - expected).argmax(), expected.shape)
        at = (
            f"With {counted(len(heads), thing='head')}, m = {heads[0][0].shape[1]} and "
            f"X = {show(X)}"
        )
        what = f"row {i + 1} of block {t + 1}, what head {t + 1} adds there,"
        if verdict := differs(
            expected[t, i],
            answer[t, i],
            at=f"{at},",
            what=what,
            whole=answer,
            against=expected,
            tolerance=1e-5,
        ):
            return verdict
        if verdict := differs(expected, answer, whole=answer, tolerance=1e-5):
            return verdict
        at = "With the heads in another order, together with their rows of W^O,"
        if verdict := differs(answer[::-1], turned, at=at, whole=turned, tolerance=1e-5):
            return verdict
    return None


@exercise
def multi_head(
    multi_head: Annotated[FunctionAnswer, Function(samples=HEADS[:2])],
    attention: OwnAttention = None,
) -> Verdict:
    """Write what each of T heads (Wq, Wk, Wv) adds to the output for X (n×d) through Wo (T·l×d)."""
    verdict = _mixes(multi_head)
    if verdict is None:
        return right(
            "Each block is what comes out if all other heads are silenced; together they are "
            "multi-head attention."
        )
    attend = slipped(attention)
    if attend and _mixes_as(attend, multi_head):
        return right(f"{WITH_OWN} each block is what its head adds.")
    return verdict


multi_head.add_hints(
    "Each head is an attention of its own: `for Wq, Wk, Wv in heads`, with its own softmax.",
    "The heads side by side are [H_1 … H_T], n×T·l. In the product with Wo, which rows of Wo meet "
    "the columns of H_1?",
    "Cut Wo into T blocks of l rows. Where the product is a sum, its terms are what is asked: T "
    "arrays of n×d, which `np.array` puts on top of one another.",
)

multi_head.forbid(*SOFTMAX_ATTENTION, "numbers.two_heads.concat_of")


def _outputs(X, heads, scale: float | None = None) -> list[np.ndarray]:
    """Each head's output; `scale` replaces √m."""
    root = [scale or np.sqrt(Wq.shape[1]) for Wq, _, _ in heads]
    return [
        softmax(X @ Wq @ (X @ Wk).T / r) @ (X @ Wv)
        for r, (Wq, Wk, Wv) in zip(root, heads, strict=True)
    ]


def _joined(X, heads, scale: float | None = None) -> np.ndarray:
    return np.concatenate(_outputs(X, heads, scale), axis=1)


def _each(
    through: Callable[..., Any] = lambda Wo, t, T: np.split(Wo, T)[t], scale: Any = None
) -> tuple[Callable]:
    """All heads, each through these rows of W^O."""

    def run(X, heads, Wo):
        root = scale and scale(X)
        outputs, T = _outputs(X, heads, root), len(heads)
        return np.array([np.dot(outputs[t], through(Wo, t, T)) for t in range(T)])

    return (run,)


multi_head.mistake(
    "all heads through the first rows",
    "Only the first l rows of W^O belong to the first head; the next l rows to the next.",
    example=_each(lambda Wo, t, T: np.split(Wo, T)[0]),
)
multi_head.mistake(
    "heads interleaved",
    "The first l rows of W^O belong to the first head. Here every T-th row was taken; each head "
    "has a block of its own.",
    example=_each(lambda Wo, t, T: Wo[t::T]),
)
multi_head.mistake(
    "heads in reverse order",
    "The first l rows of W^O belong to the first head: keep the order of `heads`.",
    example=_each(lambda Wo, t, T: np.split(Wo, T)[T - 1 - t]),
)


@multi_head.mistake(
    "all heads in every block",
    "This is multi-head attention, T times. Block t has what head t alone adds.",
)
def _everything(X, heads, Wo):
    return np.array([_joined(X, heads) @ Wo] * len(heads))


@multi_head.mistake(
    "what the heads add up to so far",
    "Block t has what head t alone adds, not together with the heads before it.",
)
def _so_far(X, heads, Wo):
    return np.cumsum(_mixed(by_definition, X, heads, Wo), axis=0)


@multi_head.mistake(
    "divided by the number of heads",
    "The contributions are added, not averaged.",
)
def _averaged(X, heads, Wo):
    return np.array(_mixed(by_definition, X, heads, Wo)) / len(heads)


@multi_head.mistake(
    "one softmax for all heads",
    "Here the heads' queries and keys were joined first, so that their scores are added "
    "and one softmax is left. Each head needs its own.",
)
def _one_softmax(X, heads, Wo):
    Q, K = (np.concatenate([X @ head[r] for head in heads], axis=1) for r in range(2))
    same = [package_attention(Q, K, X @ Wv) for *_, Wv in heads]
    return np.array([Y @ rows for Y, rows in zip(same, np.split(Wo, len(heads)), strict=True)])


multi_head.mistake(
    "scaled by √d",
    "A head's score is a sum of m products: its own m, not the length d of a token.",
    example=_each(scale=lambda X: np.sqrt(X.shape[1])),
)
multi_head.mistake(
    "no scale",
    SCALE_MISTAKES[0],
    example=_each(scale=lambda X: 1.0),
)


COUNT = Formula(T=range(1, 9), d=range(1, 9), m=range(1, 8), l=range(1, 10), n=range(1, 7))


def _arrays(T: int, d: int, m: int, l: int) -> list[np.ndarray]:  # noqa: E741
    """All the matrices that are learned, as real arrays."""
    heads = [(np.empty((d, m)), np.empty((d, m)), np.empty((d, l))) for _ in range(T)]
    return [*(W for head in heads for W in head), np.empty((T * l, d))]


def any_model(large: str) -> Callable[[np.random.Generator], dict[str, int]]:
    """Sizes all different, and this one of them large."""

    def draw(rng: np.random.Generator) -> dict[str, int]:
        drawn = dict(zip("Tdmln", sizes(rng, 5), strict=True))
        return drawn | {large: int(rng.integers(50, 1001))}

    return draw


@exercise
def parameters(parameters: Annotated[FormulaAnswer, COUNT]) -> Verdict:
    """Find the number of learned parameters of T heads with W^O, in T, d, m and l."""
    for point in cases(COUNT.points(), *map(any_model, "Tdml")):
        arrays = _arrays(*(point[name] for name in "Tdml"))
        entries = sum(W.size for W in arrays)
        at = f"At {show_at(point)}, with {len(arrays)} real arrays,"
        if verdict := differs(entries, parameters(**point), at=at, what="the number of entries"):
            return verdict
    return right("Real arrays were made at 18 settings and their entries counted: your formula.")


parameters.add_hints(
    "List the matrices that are learned, with their shapes. How many numbers has each?",
    "A head has three of them, and there are T heads. What comes after the heads?",
    "A matrix that multiplies tokens from the right does not know how many tokens there are.",
)

parameters.mistake(
    "W^O forgotten",
    "That is all the heads. W^O, which mixes them, has T·l rows and d columns more.",
    example=("T*d*(2*m + l)",),
)
parameters.mistake(
    "W^V forgotten",
    "That is W^Q, W^K and W^O. Every head has a third matrix, for its values: d×l.",
    example=("2*T*d*m + T*l*d",),
)


def _depends_on_n(count) -> bool:
    points = list(COUNT.points())
    return any(not close(count(**p), count(**{**p, "n": p["n"] + 1})) for p in points)


parameters.mistake(
    "the number of tokens counted",
    "The same matrices serve 3 tokens or 3000: X has n rows, what is learned has not. "
    "A count with n in it has counted activations.",
    example=("T*n*(2*m + l) + T*l*d",),
    when=_depends_on_n,
)
parameters.mistake(
    "one head only",
    "Every one of the T heads has its own three matrices.",
    example=("d*(2*m + l) + l*d",),
)
parameters.mistake(
    "W^O made for one head",
    "W^O takes all heads side by side: it has T·l rows, not l.",
    example=("T*d*(2*m + l) + l*d",),
)
parameters.mistake(
    "W^O taken for d×d",
    "W^O is d×d only where T·l = d, a common choice. In general it has T·l rows.",
    example=("T*d*(2*m + l) + d**2",),
)
parameters.mistake(
    "a W^O for every head and every row",
    "There is one W^O for all heads together: T·l rows, d columns.",
    example=("T*d*(2*m + l) + T**2*l*d",),
)
parameters.mistake(
    "values as wide as keys",
    "Queries and keys have m numbers, because they are compared. A value has l.",
    example=("3*T*d*m + T*m*d",),
)
parameters.mistake(
    "queries or keys left out",
    "W^q and W^k are two matrices of the same shape: 2m, not m.",
    example=("T*d*(m + l) + T*l*d",),
)
parameters.mistake(
    "biases counted",
    "Many libraries add biases. The heads of this unit have matrices alone.",
    example=("T*(d + 1)*(2*m + l) + (T*l + 1)*d",),
)


VARIANCE = Formula(m=range(1, 6), s=(0, 3))


def _variance_over_all_signs(m: int, s: float) -> float:
    """Var(qᵀk) when every entry is +s or −s: mean 0, variance s². All 4^m cases, counted.

    Of the m products, k are +s² and the others −s² in C(m, k)·2^m of the cases.
    """
    shares = np.array([math.comb(m, k) / 2**m for k in range(m + 1)])
    scores = s**2 * (2 * np.arange(m + 1) - m)
    return float(shares @ scores**2 - (shares @ scores) ** 2)


def any_variance(rng: np.random.Generator) -> dict[str, float]:
    """m up to 1000, and s of any magnitude."""
    s = magnitude(rng, 0.1, 10) * int(rng.integers(1, 10))
    return {"m": sizes(rng, 1, 6, 1000)[0], "s": s}


@exercise
def score_variance(variance: Annotated[FormulaAnswer, VARIANCE]) -> Verdict:
    """Find Var(qᵀk) in m and s, for independent entries with mean 0 and variance s²."""
    for point in cases(VARIANCE.points(), any_variance):
        seen = _variance_over_all_signs(**point)
        at = f"At {show_at(point)}, where every entry of q and k is +s or −s,"
        if verdict := differs(seen, variance(**point), at=at, what="the variance over all cases"):
            return verdict
    return right("At 18 pairs (m, s), over all choices of signs, this is the variance of qᵀk.")


score_variance.add_hints(
    "qᵀk is a sum of m products. They are independent, so their variances add.",
    "One product: E[q_i k_i] = 0, and E[q_i² k_i²] = E[q_i²] · E[k_i²].",
)

score_variance.mistake(
    "the variance of one factor",
    "Each product has two factors, with variance s² each: E[q_i²] · E[k_i²] = s⁴.",
    example=("m*s**2",),
)
score_variance.mistake(
    "the standard deviation",
    "That is the spread, the root of the variance; it is what the scores are divided by.",
    example=("sqrt(m)*s**2",),
)
score_variance.mistake(
    "one product only",
    "This is the variance of a single q_i k_i. There are m of them.",
    example=("s**4",),
)
score_variance.mistake(
    "m squared",
    "The products are independent: variances add. m² would be right if all of them were "
    "the same number.",
    example=("m**2*s**4",),
)
score_variance.mistake(
    "s forgotten",
    "That is right for s = 1, which is why one divides by √m.",
    example=("m",),
)
score_variance.mistake(
    "variances of q and k added",
    "Variances add where numbers are added. Here q_i and k_i are multiplied.",
    example=("2*m*s**2",),
)


ORDERS = ("the same", "rows swapped", "unrelated")


@exercise
def order_blindness(
    A: Annotated[np.ndarray, Array((2, 2))],
    B: Annotated[np.ndarray, Array((2, 2))],
    outputs: Annotated[str, Choice(ORDERS)],
) -> Verdict:
    """Give two tokens as A, the same in the other order as B, and compare their outputs."""
    if (A[0] == A[1]).all():
        return wrong(f"The two tokens of A are {show(A[0])} and {show(A[1])}: the same.")
    if verdict := differs(A[::-1], B, what="B, the same tokens in the other order,"):
        return wrong(verdict.says)
    Y_A, Y_B = (package_attention(X, X, X) for X in (A, A[::-1]))
    says = f"Attention gives {show(Y_A)} for A and {show(Y_B)} for B"
    if outputs == ORDERS[1]:
        return right(f"{says}: each token has the same output, wherever it stands.")
    if outputs == ORDERS[0] and close(Y_A[0], Y_A[1]):
        says += ". Here both tokens have (almost) the same output; with others you would see"
    return wrong(f"{says}: {ORDERS[1]}, not {outputs}.")


order_blindness.add_hints(
    "Take any two tokens that differ. What would B have to be, so that only the order differs?",
    "Run `attention(A, A, A)` and `attention(B, B, B)` from `course_utils.attention`, and look "
    "at the rows.",
)

order_blindness.mistake(
    "two equal tokens",
    "With two equal tokens there is no order to ignore. Take two that differ.",
    example=([[1, 2], [1, 2]], [[1, 2], [1, 2]], "the same"),
    when=lambda A, B, outputs: (A[0] == A[1]).all(),
)
order_blindness.mistake(
    "columns swapped",
    "Tokens are rows. Swapping columns changes what each token is, not where it stands.",
    example=([[1, 2], [3, 5]], [[2, 1], [5, 3]], "rows swapped"),
    when=lambda A, B, outputs: close(B, A[:, ::-1]) and not close(B, A[::-1]),
)
order_blindness.mistake(
    "the order unchanged",
    "A and B are the same sequence. Let B have the tokens of A in the other order.",
    example=([[1, 2], [3, 5]], [[1, 2], [3, 5]], "the same"),
    when=lambda A, B, outputs: close(A, B) and not close(B, A[::-1]),
)
order_blindness.mistake(
    "invariant in place of equivariant",
    "Each token's output is the same as before, but it moves along with its token: the "
    "rows of the result are swapped too.",
    example=([[1, 0], [0, 1]], [[0, 1], [1, 0]], "the same"),
    when=lambda A, B, outputs: outputs == "the same" and close(B, A[::-1]),
)


# -- 4.9 ------------------------------------------------------------------------------------------

SURE = 0.99  # what a query is to put on its key, as the text says
FOUR_DECIMALS = 3e-5  # what four decimals of a scale may change in a weight


class Queries:
    """A row of two numbers for each token; how many there are depends on the student."""

    def read(self, answer: Any, name: str) -> np.ndarray:
        array = real_array(answer)
        if array is None or array.ndim != 2 or array.shape[1] != 2:
            raise Unreadable(f"{name} should have a row of two numbers for each token.")
        if not np.isfinite(array).all():
            raise Unreadable(f"{name} contains {show(array[~np.isfinite(array)][0])}.")
        return array

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        return close(a, b)


def _on_targets(Q: np.ndarray, n: Attention) -> np.ndarray:
    """The weight that each query puts on the key it should look at."""
    if len(Q) != n.n:
        raise Unreadable(f"There are {n.n} tokens, so Q has {n.n} rows; yours has {len(Q)}.")
    weights = softmax(Q @ n.K.T / np.sqrt(2))
    return weights[np.arange(n.n), list(n.target)]


@exercise(numbers=attention_numbers)
def looking_head(
    student: StudentId, Q: Annotated[np.ndarray, Queries()], length: RealNumber
) -> Verdict:
    """Find queries that look at your targets, and the least length that gives your weight."""
    return right("Every query looks where it should, and the length gives exactly your weight.")


@looking_head.part("Queries", points=2)
def _looks(student: str, Q: np.ndarray) -> Verdict:
    n = attention_numbers(student)
    seen = _on_targets(Q, n)
    i = int(seen.argmin())
    if seen[i] >= SURE - 1e-9:
        return right()
    shown = show_apart(SURE, seen[i])
    says = f"query {i} puts {shown[1]} on key {n.target[i]}; it should be {shown[0]} or more."
    return wrong(says, at="the weights", yours=Q)


def _of_length(length: float, n: Attention) -> float:
    """The weight that a query of this length puts on its key, if it points straight at it."""
    return float(_on_targets(length / n.radius * n.K[list(n.target)], n)[0])


@looking_head.part("Length")
def _length(student: str, length: float) -> Verdict:
    n = attention_numbers(student)
    seen = _of_length(length, n)
    if abs(seen - n.weight) <= FOUR_DECIMALS:
        return right()
    wanted, yours = show_apart(n.weight, seen)
    says = f"a query of this length puts at most {yours} on its key, and it should be {wanted}."
    return wrong(says, at="the length", yours=length)


looking_head.add_hints(
    "A score is large where query and key point in the same direction. All keys have the same "
    "length: which direction is best for a query that should look at key j?",
    "The direction decides who wins, and the length of the query how clearly.",
    "For the length write down the scores of one query: a key at the angle φ from its target gets "
    "length·radius·cos φ/√2. The weight grows with the length; halve an interval.",
)


def _turned(
    face: Callable[[Attention], Any], close_to: Callable[[Any, Any], bool] = close
) -> Recognized:
    """A mistake that can be computed: known with every student's numbers."""
    return {
        "example": (0, face(attention_numbers(0))),
        "when": lambda student, answer: close_to(answer, face(attention_numbers(student))),
    }


def _same_directions(Q: np.ndarray, K: np.ndarray) -> bool:
    lengths = np.linalg.norm(Q, axis=1, keepdims=True)
    return bool((lengths > 0).all()) and close(Q / lengths, K / np.linalg.norm(K[0]), 1e-3)


looking_head.mistake(
    "the right directions, too short",
    "Each query looks the right way, but the neighbors of its key get too much. Longer queries "
    "make the softmax more decided.",
    part="Queries",
    **_turned(lambda n: n.K[list(n.target)] / n.radius**2, _same_directions),
)
looking_head.mistake(
    "the map read backward",
    "Query i should look at key target[i]. Here query target[i] looks at key i.",
    part="Queries",
    **_turned(lambda n: 100 * n.K[np.argsort(n.target)], _same_directions),
)
looking_head.mistake(
    "every token looks at itself",
    "A query like the token's own key finds that key.",
    part="Queries",
    **_turned(lambda n: 100 * n.K, _same_directions),
)


def _once_changed(change: Callable[[float, Attention], float], example: float) -> Recognized:
    """A wrong length that would be right if it were changed like this."""

    def slipped(student: str, length: float) -> bool:
        n = attention_numbers(student)
        return abs(_of_length(change(length, n), n) - n.weight) <= FOUR_DECIMALS

    return {"example": (0, example), "when": slipped}


looking_head.mistake(
    "√m forgotten",
    "Scores are divided by √m, and m is 2 here.",
    part="Length",
    **_once_changed(lambda length, n: length * math.sqrt(2), 4.9358),
)
looking_head.mistake(
    "the length of the keys forgotten",
    "A score is the product of both lengths and the cosine between them.",
    part="Length",
    **_once_changed(lambda length, n: length / n.radius, 13.9604),
)
looking_head.mistake(
    "one rival alone",
    "The target has a neighbor on either side, and both take their share.",
    part="Length",
    **_turned(
        lambda n: (
            math.log(n.weight / (1 - n.weight))
            * math.sqrt(2)
            / (n.radius * (1 - math.cos(2 * math.pi / n.n)))
        ),
        lambda a, b: close(a, b, 1e-4),
    ),
)


# -- 4.10 -----------------------------------------------------------------------------------------

PACKED = [[2, 1], [1, 3, 2], [4], [1, 1, 1]]


def any_pack(rng: np.random.Generator) -> list[int]:
    """A few texts of any lengths."""
    return [int(length) for length in rng.integers(1, 6, rng.integers(2, 6))]


def many_packed(rng: np.random.Generator) -> list[int]:
    """Many short texts, and a long one among them."""
    return [*map(int, rng.integers(1, 4, rng.integers(8, 12))), int(rng.integers(12, 20)), 1]


@exercise
def packed_mask(
    packed_mask: Annotated[FunctionAnswer, Function(samples=[(lengths,) for lengths in PACKED])],
) -> Verdict:
    """Write a function of the lengths of packed texts that returns their causal mask."""
    draws, each = (any_pack, many_packed), asks(packed_mask, lambda n: [(packed_mask, n)])
    for lengths in cases(PACKED, *draws, ahead=each):
        total = sum(lengths)
        mask = packed_mask.array(lengths, shape=(total, total)) != 0
        Q, K, V = np.random.default_rng(total).uniform(-2, 2, (3, total, 3)).round(1)
        ends = np.cumsum(lengths)
        for i in range(total):
            begin = int(ends[ends <= i].max(initial=0))
            alone = one_query(Q[i], K[begin : i + 1], V[begin : i + 1])[-1]
            at = f"With the lengths {show(lengths)}: token {i}"
            if not mask[i].any():
                return wrong(f"{at} sees nobody, not even itself.", at=at, yours=mask)
            packed = one_query(Q[i], K[mask[i]], V[mask[i]])[-1]
            at += f" sees {show(np.flatnonzero(mask[i]))}, and alone in its text"
            if verdict := differs(alone, packed, at=at, what="its output", whole=mask):
                return verdict
    return right("Packed or alone, every token of 10 packs has the same output.")


packed_mask.add_hints(
    "Token i may look at token j if both belong to the same text and j ≤ i.",
    "Give each token the number of its text: `np.repeat` makes such a list from the lengths.",
    "Compare that list as a column with itself as a row, and keep what is not above the diagonal.",
)


def _texts(lengths: list[int]) -> np.ndarray:
    return np.repeat(np.arange(len(lengths)), lengths)


@packed_mask.mistake(
    "causal, but over all texts",
    "The second text sees the first one. For the model they are neighbors by accident.",
)
def _causal_over_all(lengths):
    return causal_mask(sum(lengths))


@packed_mask.mistake(
    "the texts apart, but not causal",
    "Within its text a token still must not see what comes after it.",
)
def _blocks(lengths):
    return _texts(lengths)[:, None] == _texts(lengths)


@packed_mask.mistake(
    "rows and columns exchanged",
    "Row i is what token i may look at: what stands before it, not what comes after.",
)
def _upper(lengths):
    return _blocks(lengths) & causal_mask(sum(lengths)).T


@packed_mask.mistake(
    "what is hidden marked in place of what is seen",
    "In this course a mask is true where a token may look. Some libraries have it the other way.",
)
def _inverted(lengths):
    return ~(_blocks(lengths) & causal_mask(sum(lengths)))


# -- 4.11 -----------------------------------------------------------------------------------------

Additive = tuple[np.ndarray, ...]  # Q, K, V, A, B and u


def any_additive(rng: np.random.Generator, least: int = 1, most: int = 12) -> Additive:
    """All sizes different: queries and keys need not even be of the same width."""
    n, k, m, width, p, other = sizes(rng, 6, least, most)
    shapes = [(n, m), (k, other), (k, width), (p, m), (p, other), (p,)]
    return tuple(numbers(rng, *shape, largest=1.5) for shape in shapes)


ADDITIVE = [any_additive(np.random.default_rng(seed)) for seed in (2, 5, 7)]


@exercise
def additive_attention(
    additive_attention: Annotated[FunctionAnswer, Function(samples=ADDITIVE)],
) -> Verdict:
    """Write attention whose scores are uᵀ tanh(A q + B k), for all queries at once."""
    draws = any_additive, partial(any_additive, least=9, most=24)
    for Q, K, V, A, B, u in cases(ADDITIVE, *draws, ahead=asks(additive_attention)):
        answer = additive_attention.array(Q, K, V, A, B, u, shape=(len(Q), V.shape[1]))
        for i, q in enumerate(Q):
            scores = np.array([u @ np.tanh(A @ q + B @ k) for k in K])
            at = f"With Q {Q.shape}, K {K.shape} and u = {show(u)}, query {i + 1} has the scores "
            at += f"{show(scores)}:"
            what = "its output"
            if verdict := differs(softmax(scores) @ V, answer[i], at=at, what=what, whole=answer):
                return verdict
    return right("Every row is the weighted mean with these scores, for 9 sets of sizes.")


additive_attention.add_hints(
    "`Q @ A.T` is n×p and `K @ B.T` is k×p. Their sums for all pairs are an n×k×p array.",
    "An axis of length 1 lets NumPy add every row of one to every row of the other: "
    "`X[:, None]` and `Y[None]`.",
    "`np.tanh(…) @ u` then leaves n×k scores. The softmax runs over the keys.",
)


def _summed(Q: np.ndarray, K: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return (Q @ A.T)[:, None] + K @ B.T


@additive_attention.mistake(
    "divided by the root of the width",
    "The division belongs to dot products, whose size grows with the width. Here the formula of "
    "the scores has none.",
)
def _additive_divided(Q, K, V, A, B, u):
    return softmax(np.tanh(_summed(Q, K, A, B)) @ u / np.sqrt(Q.shape[1])) @ V


@additive_attention.mistake(
    "tanh of each in place of tanh of the sum",
    "The sum stands inside. Apart from each other, what the query adds is the same for all keys, "
    "and a softmax does not see it.",
)
def _apart(Q, K, V, A, B, u):
    scores = (np.tanh(Q @ A.T) @ u)[:, None] + np.tanh(K @ B.T) @ u
    return softmax(scores) @ V


@additive_attention.mistake(
    "the softmax over the queries",
    "The weights of one query sum to 1 over the keys: along the last axis of the n×k scores.",
)
def _over_queries(Q, K, V, A, B, u):
    return softmax(np.tanh(_summed(Q, K, A, B)) @ u, axis=0) @ V


@additive_attention.mistake(
    "tanh left out",
    "Without the tanh the scores are uᵀAq + uᵀBk, and what the query adds cancels: every query "
    "would get the same output.",
)
def _no_tanh(Q, K, V, A, B, u):
    return softmax(_summed(Q, K, A, B) @ u) @ V


@additive_attention.mistake(
    "no softmax",
    "Scores are not weights yet: they can be negative and do not sum to 1.",
)
def _no_softmax(Q, K, V, A, B, u):
    return np.tanh(_summed(Q, K, A, B)) @ u @ V
