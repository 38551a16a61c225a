"""Unit 04: attention from one query up."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.cards import counted
from selfcheck.compare import close, real_array
from selfcheck.display import show, show_apart, show_at
from selfcheck.exercises import exercise
from selfcheck.following import following, heeds
from selfcheck.kinds import Array, Choice, Formula, FormulaAnswer, Function, RealNumber, StudentId
from selfcheck.per_case import each
from selfcheck.refusals import Unreadable
from selfcheck.remembering import remembered
from selfcheck.sampling import by_pencil, magnitude, numbers, sizes, surveyed, tried
from selfcheck.verdicts import Verdict, differs, keeping, right, where, wrong

from ..attention import attention as package_attention
from ..attention import softmax
from ..numbers.attention import Attention
from ..numbers.attention import attention as attention_numbers

# -- the definition, one query at a time ----------------------------------------------------------


def one_query(q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, ...]:
    """Scores, weights and output of a single query."""
    scores = K @ q / np.sqrt(len(q))
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    return scores, weights, weights @ V


def rounding() -> float:
    """What may be off: at a readable case nothing, elsewhere what 32 bits come to."""
    return 1e-6 if by_pencil() else 3e-5


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
    if surveyed() is None and close(expected, answer, tolerance):
        return None
    i = int(np.abs(answer - expected).max(axis=1).argmax())
    scores, weights, output = one_query(Q[i], K, V)
    at = (
        f"{begin} Q = {show(Q)}, K = {show(K)} and V = {show(V)}, query Q[{i}] has the scores "
        f"{show(scores)} and the weights {show(weights)}:"
    )
    what = f"result[{i}]"
    return differs(output, answer[i], at=at, what=what, whole=answer, tolerance=tolerance)


@remembered
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


FITTING = {  # why rows are as many as they are, and columns
    "W_q": ("X W_q needs a row for each column of X", "a query has m numbers"),
    "Q": ("each token has one query", "a query has m numbers"),
    "scores": ("each query has a row of scores", "there is one score for each key"),
    "W_v": ("X W_v needs a row for each column of X", "a value has l numbers"),
    "head": ("each token has one output", "an output is a mean of values, and as wide"),
    "joined": ("each token keeps one row", "the T outputs of a token stand side by side"),
    "W_O": ("joined W_O needs a row for each column of joined", "it leads back to tokens"),
    "Y": ("each token has one result", "a result is as wide as a token"),
}


def _same_shape(name: str, said: np.ndarray, own: np.ndarray | None = None) -> Verdict:
    """As the code ran, or as it follows from the student's own shape of what comes before.

    A refutation tells why the shape does not fit, and not what it should be.
    """
    if own is not None and (said == FOLLOWS[name](*own)).all():
        return right()
    off = np.flatnonzero(said != _shapes_by_running(**SIZES)[name])
    if not off.size:
        return right()
    which = ("row", "column")[off[0]]
    says = f"{counted(int(said[off[0]]), thing=which)} cannot be: {FITTING[name][off[0]]}."
    return wrong(says, at=name, yours=said)


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
) -> None:
    """Give the shape of every array for n = 5, d = 7, m = 3, l = 4 and T = 2."""


shapes.part("W_q", lambda W_q: _same_shape("W_q", W_q))
shapes.part("Q", lambda Q, W_q=None: _same_shape("Q", Q, W_q))
shapes.part("scores", lambda scores: _same_shape("scores", scores))
shapes.part("W_v", lambda W_v: _same_shape("W_v", W_v))
shapes.part("head", lambda head, W_v=None: _same_shape("head", head, W_v))
shapes.part("joined", lambda joined, head=None: _same_shape("joined", joined, head))
shapes.part("W_O", lambda W_O, joined=None: _same_shape("W_O", W_O, joined))
shapes.part("Y", lambda Y, W_O=None: _same_shape("Y", Y, W_O))


PLAIN = [_instance(15, 2, 3, 4, 2), _instance(82, 3, 3, 2, 2), _instance(0, 1, 5, 3, 1),
         _instance(299, 4, 2, 1, 3), _instance(4, 3, 1, 2, 4)]  # fmt: skip
LARGE = (
    np.array([[1e4], [-1e4], [1.0]]),
    np.array([[1.0], [0.9999], [-1.0]]),
    np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]),
)


def any_queries(rng: np.random.Generator) -> Text:
    """Queries, keys and values of any sizes; some keys are the same."""
    n, k, m, width = sizes(rng, 4)
    K = numbers(rng, k, m)
    K[rng.integers(k)] = K[0]
    return numbers(rng, n, m), K, numbers(rng, k, width, largest=float(rng.choice([1, 100])))


def large_scores(rng: np.random.Generator) -> Text:
    """Scores up to ±10000, apart from each other or the same."""
    n, k, m, width = sizes(rng, 4, high=12)
    Q, K = (np.round(numbers(rng, size, m, largest=3.0)) for size in (n, k))
    Q[0, 0], K[0, 0] = 3, 3
    largest = np.abs(Q @ K.T).max() / np.sqrt(m)
    return Q * (1e4 / max(largest, 1.0)), K, numbers(rng, k, width)


@each(
    [LARGE],
    large_scores,
    fresh=3,
    says=(
        "Every row is the weighted mean of the definition in {tried} cases; scores of "
        "±10000 stay finite and right, and adding one vector to all keys changes nothing."
    ),
)
def _stays_right(attention: FunctionAnswer, *, Q, K, V) -> Verdict | None:
    answer = attention.array(Q, K, V, shape=(len(Q), V.shape[1]))
    return row_off(answer, Q, K, V, tolerance=1e-3)


def _then(large: Callable[[FunctionAnswer], Verdict]) -> Callable[[FunctionAnswer], Verdict]:
    """What is right for small scores keeps two points, whatever large ones come to."""
    return lambda answer: keeping(2, "Right for small scores.", lambda: large(answer))


def _moved(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same with one vector added to all keys."""
    return Q, K + np.linspace(-1, 1, K.shape[1]), V


@exercise
@each(PLAIN, any_queries, says=_then(_stays_right))
def attention(
    attention: Annotated[FunctionAnswer, Function(samples=PLAIN[:2])], *, Q, K, V
) -> Verdict | None:
    """Write a function of Q (n×m), K (k×m) and V (k×l) that returns attention, n×l."""
    shape = (len(Q), V.shape[1])
    answer = attention.array(Q, K, V, shape=shape)
    if verdict := row_off(answer, Q, K, V, tolerance=rounding()):
        return verdict
    moved = attention.array(*_moved(Q, K, V), shape=shape)
    at = "With one vector added to all keys"
    return differs(answer, moved, at=at, whole=moved, tolerance=3 * rounding())


def _variant(
    scale: Callable[..., float] = lambda Q, K, V: np.sqrt(Q.shape[1]),
    weigh: Callable[[np.ndarray], np.ndarray] = softmax,
) -> Callable[..., np.ndarray]:
    """Attention with another scale, or with other weights from the scores."""
    return lambda Q, K, V: weigh(Q @ K.T / scale(Q, K, V)) @ V


CAUSAL = [_instance(6, 3, 3, 4, 2), _instance(9, 4, 4, 2, 3), _instance(7, 1, 1, 2, 2),
          _instance(9, 6, 6, 1, 1)]  # fmt: skip
FAR_APART = (  # a future score of 700: the past vanishes beside it, and exp(700) is still finite
    np.ones((3, 1)),
    np.array([[-50.0], [-49.0], [700.0]]),
    np.array([[1.0], [2.0], [4.0]]),
)
LOW_FIRST = (  # no future score is large, but the first row is far below the second
    np.array([[1.0], [800.0]]),
    np.ones((2, 1)),
    np.array([[1.0], [2.0]]),
)
PAST = 2  # of the 4 tokens whose future is changed
LARGE_SCORES = (1e4, 3.0, 1e12, 1e300)
CausalAttention = Annotated[FunctionAnswer, Function(samples=[*CAUSAL[:2], FAR_APART, LOW_FIRST])]


def _any_causal(rng: np.random.Generator) -> Text:
    """Tokens of any number and any width."""
    n, m, width = sizes(rng, 3)
    return numbers(rng, n, m), numbers(rng, n, m), numbers(rng, n, width, largest=100)


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


@remembered
def _causal_by_definition(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    Q, K = _placed(Q, K)
    return np.array([one_query(q, K[: i + 1], V[: i + 1])[2] for i, q in enumerate(Q)])


def _past_before_and_after(
    causal_attention: FunctionAnswer, by: float, sign: int = -1
) -> list[np.ndarray]:
    """The first rows, with the later tokens as they are, and moved by `by` either way.

    The early keys get scores near −by, which a mask that is not −∞ may not survive; with sign 1
    they are near by, beside which any mask hides, and the later keys stay as they are. What is
    beyond 32 bits need not be finite.
    """
    Q, K, V = CAUSAL[1]
    Q, later = np.abs(Q) + 1, np.arange(len(Q))[:, None] >= PAST
    K = K + sign * by * ~later
    return [
        causal_attention.array(
            Q, K + change * (sign < 0), V + change, shape=V.shape, finite=by < 1e30
        )[:PAST]
        for change in (0.0 * later, by * later, -by * later)
    ]


def _past_stays(causal_attention: FunctionAnswer) -> Verdict:
    """However large scores are, what comes later changes nothing before it, by no bit."""
    for by in LARGE_SCORES:
        before, *after = _past_before_and_after(causal_attention, by)
        for rows in after:
            if not np.array_equal(before, rows, equal_nan=True):
                was, became = show_apart(before, rows)
                return wrong(
                    f"But with scores around −{by:g}, a change of the tokens {PAST + 1} and "
                    f"{PAST + 2} turns the rows 1 and {PAST} from {was} into {became}: the past "
                    "depends on the future.",
                    at="a change of the later tokens",
                    yours=[before, rows],
                )
    return right(
        "Token i sees itself and what came before, each step of distance e times less, in "
        f"{tried()} cases; whatever the later tokens were, the earlier rows stayed the same to the "
        "last bit."
    )


@exercise
@each(CAUSAL, _any_causal, _drawn_far_back, says=_then(_past_stays))
def causal_attention(causal_attention: CausalAttention, *, Q, K, V) -> Verdict | None:
    """Write attention in which token i sees only the tokens j ≤ i, and far ones less."""
    answer = causal_attention.array(Q, K, V, shape=V.shape)
    says = "With Q = {}, K = {} and V = {}, where query i sees keys 1 to i, the further away "
    at = where(f"{says}the less,", Q, K, V)
    return differs(_causal_by_definition(Q, K, V), answer, at=at, tolerance=rounding())


def _cross_instance(seed: int, n: int, k: int, d: int, m: int, width: int):
    return _whole_numbers(seed, (n, d), (k, d), (d, m), (d, m), (d, width), largest=1)


CROSS = [_cross_instance(10, 2, 2, 3, 2, 2), _cross_instance(39, 3, 3, 2, 1, 3),
         _cross_instance(0, 2, 4, 3, 2, 1), _cross_instance(4, 5, 1, 2, 4, 2)]  # fmt: skip


def any_cross(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Tokens of both sides and three matrices of any sizes."""
    n, k, d, m, width = sizes(rng, 5)
    arrays = [numbers(rng, *s, largest=1.0) for s in [(n, d), (k, d), (d, m), (d, m)]]
    return *arrays, numbers(rng, d, width, largest=100)


Attend = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
OwnAttention = Annotated[FunctionAnswer | None, Function()]


def slipped(attention: FunctionAnswer | None) -> Attend | None:
    """The student's attention of exercise 4.2, as far as it is one: it heeds all that it is given.

    What gives no numbers, or the same whatever the queries, keys or values are, says nothing about
    an answer that is built on it. Whether the slip has a name there plays no part.
    """
    if attention is None:
        return None

    def own(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
        return attention.array(Q, K, V, shape=(len(Q), V.shape[1]))

    return own if heeds(own, PLAIN) else None


def _or_by_own(attention: FunctionAnswer | None, judge: Callable[..., Verdict]) -> Verdict:
    """By the definition; what is not right there may follow from the student's attention."""

    def again() -> Verdict | None:
        own = slipped(attention)
        return judge(own) if own else None

    return following(judge(), "attention of 4.2", again)


@each(
    CROSS,
    any_cross,
    says="Each row of Y asks, and Z and Y answer together, also where they differ in length.",
)
def _crosses(
    cross_attention: FunctionAnswer, own: Attend | None = None, *, Y, Z, Wq, Wk, Wv
) -> Verdict | None:
    """By the definition, or by the student's own attention."""
    answer = cross_attention.array(Y, Z, Wq, Wk, Wv, shape=(len(Y), Wv.shape[1]))
    answering = np.concatenate([Z, Y])
    arrays = Y @ Wq, answering @ Wk, answering @ Wv
    if own:
        return differs(own(*arrays), answer, tolerance=1e-5)
    begin = "Queries come from Y, keys and values from Z and Y together. With"
    return row_off(answer, *arrays, begin, tolerance=1e-5)


@exercise
def cross_attention(
    cross_attention: Annotated[FunctionAnswer, Function(samples=CROSS[:3])],
    attention: OwnAttention = None,
) -> Verdict:
    """Write attention of a decoder's tokens Y (n×d) to an encoder's Z (k×d) and to themselves."""
    return _or_by_own(attention, partial(_crosses, cross_attention))


def _heads_instance(seed: int, n: int, d: int, m: int, width: int, T: int):
    shapes = [(d, m), (d, m), (d, width)] * T
    X, Wo, *W = _whole_numbers(seed, (n, d), (T * width, d), *shapes, largest=1)
    return X, [tuple(W[3 * s : 3 * s + 3]) for s in range(T)], Wo


HEADS = [_heads_instance(7, 2, 4, 2, 2, 2), _heads_instance(1210, 3, 6, 1, 3, 2),
         _heads_instance(9, 3, 2, 4, 3, 1), _heads_instance(266, 2, 3, 2, 1, 4),
         _heads_instance(12, 2, 2, 2, 2, 1)]  # fmt: skip


def any_heads(rng: np.random.Generator) -> tuple[np.ndarray, list, np.ndarray]:
    """Any number of heads of any size."""
    T, n, d, m, width = sizes(rng, 5, high=12)
    shapes = [(d, m), (d, m), (d, width)]
    heads = [tuple(numbers(rng, *shape, largest=1.0) for shape in shapes) for _ in range(T)]
    return numbers(rng, n, d, largest=1.0), heads, numbers(rng, T * width, d, largest=100)


def _applied(
    contributions: FunctionAnswer, X: np.ndarray, heads: list, Wo: np.ndarray
) -> np.ndarray:
    """The answer; if it does not fit, with a word on what has to."""
    try:
        return contributions.array(X, heads, Wo, shape=(len(heads), *X.shape))
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


def _backward(X: np.ndarray, heads: list, Wo: np.ndarray) -> tuple[np.ndarray, list, np.ndarray]:
    """The same with the heads in the opposite order."""
    return X, heads[::-1], np.concatenate(np.split(Wo, len(heads))[::-1])


def _in_blocks(_: FunctionAnswer, own: Attend | None = None) -> Verdict:
    if own:
        return right("Each block is what its head adds.")
    return right(
        "Each block is what comes out if all other heads are silenced; together they are "
        "multi-head attention."
    )


@each(HEADS, any_heads, says=_in_blocks)
def _mixes(
    contributions: FunctionAnswer, own: Attend | None = None, *, X, heads, Wo
) -> Verdict | None:
    """By the definition, or by the student's own attention."""
    answer = _applied(contributions, X, heads, Wo)
    if own:
        return differs(np.array(_mixed(own, X, heads, Wo)), answer, tolerance=1e-5)
    turned = _applied(contributions, *_backward(X, heads, Wo))
    expected = np.array(_mixed(by_definition, X, heads, Wo))
    t, i, _ = np.unravel_index(np.abs(answer - expected).argmax(), expected.shape)
    says = f"With {counted(len(heads), thing='head')}, m = {heads[0][0].shape[1]} and X = {{}},"
    sides: dict[str, Any] = {"whole": answer, "against": expected, "tolerance": 1e-5}
    what = f"result[{t}, {i}], what head {t} adds there,"
    order = "With the heads in a different order, together with their rows of W^O,"
    return (
        differs(expected[t, i], answer[t, i], at=where(says, X), what=what, **sides)
        or differs(expected, answer, whole=answer, tolerance=1e-5)
        or differs(answer[::-1], turned, at=order, whole=turned, tolerance=1e-5)
    )


@exercise
def multi_head(
    contributions: Annotated[FunctionAnswer, Function(samples=HEADS[:2])],
    attention: OwnAttention = None,
) -> Verdict:
    """Write what each of T heads (Wq, Wk, Wv) adds to the output for X (n×d) through Wo (T·l×d)."""
    return _or_by_own(attention, partial(_mixes, contributions))


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
@each(COUNT.points, *map(any_model, "Tdml"))
def parameters(parameters: Annotated[FormulaAnswer, COUNT], *, point) -> Verdict | None:
    """Find the number of learned parameters of T heads with W^O, in T, d, m and l."""
    arrays = _arrays(*(point[name] for name in "Tdml"))
    entries = sum(W.size for W in arrays)
    at = f"At {show_at(point)}, with {len(arrays)} real arrays,"
    return differs(entries, parameters(**point), at=at, what="the number of entries")


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
@each(VARIANCE.points, any_variance)
def score_variance(variance: Annotated[FormulaAnswer, VARIANCE], *, point) -> Verdict | None:
    """Find Var(qᵀk) in m and s, for independent entries with mean 0 and variance s²."""
    seen = _variance_over_all_signs(**point)
    at = f"At {show_at(point)}, where every entry of q and k is +s or −s,"
    return differs(seen, variance(**point), at=at, what="the variance over all cases")


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
        raise Unreadable(f"There are {n.n} tokens, so there are {n.n} queries; yours are {len(Q)}.")
    weights = softmax(Q @ n.K.T / np.sqrt(2))
    return weights[np.arange(n.n), list(n.target)]


@exercise(numbers=attention_numbers)
def looking_head(
    student: StudentId, queries: Annotated[np.ndarray, Queries()], length: RealNumber
) -> None:
    """Find queries that look at your targets, and the least length that gives your weight."""


@looking_head.part("Queries", points=2)
def _looks(student: str, queries: np.ndarray) -> Verdict:
    n = attention_numbers(student)
    seen = _on_targets(queries, n)
    i = int(seen.argmin())
    if seen[i] >= SURE - 1e-9:
        return right()
    shown = show_apart(SURE, seen[i])
    says = f"query {i} puts {shown[1]} on key {n.target[i]}; it should be {shown[0]} or more."
    return wrong(says, at="the weights", yours=queries)


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


# -- 4.10 -----------------------------------------------------------------------------------------

PACKED = [[2, 1], [1, 3, 2], [4], [1, 1, 1]]
Mask = Annotated[FunctionAnswer, Function(samples=[(lengths,) for lengths in PACKED])]


def any_pack(rng: np.random.Generator) -> list[int]:
    """A few texts of any lengths."""
    return [int(length) for length in rng.integers(1, 6, rng.integers(2, 6))]


def many_packed(rng: np.random.Generator) -> list[int]:
    """Many short texts, and a long one among them."""
    return [*map(int, rng.integers(1, 4, rng.integers(8, 12))), int(rng.integers(12, 20)), 1]


def very_many(rng: np.random.Generator) -> list[int]:
    """Texts of one or two tokens, more than a usual batch has."""
    return list(map(int, rng.integers(1, 3, 70)))


@exercise
@each(PACKED, any_pack, many_packed, also=[very_many])
def packed_mask(packed_mask: Mask, *, lengths) -> Verdict | None:
    """Write a function of the lengths of packed texts that returns their causal mask."""
    total = sum(lengths)
    given = packed_mask.array(lengths, shape=(total, total), finite=False)
    if np.isnan(given).any():
        return wrong(f"With the lengths {show(lengths)} there is nan in the mask.")
    mask = given != 0
    Q, K, V = np.random.default_rng(total).uniform(-2, 2, (3, total, 3)).round(1)
    ends = np.cumsum(lengths)
    for i in range(total):
        begin = int(ends[ends <= i].max(initial=0))
        alone = one_query(Q[i], K[begin : i + 1], V[begin : i + 1])[-1]
        at = f"With the lengths {show(lengths)}: token {i}"
        if not mask[i].any():
            return wrong(f"{at} sees nobody, not even itself.", at=at, yours=given)
        packed = one_query(Q[i], K[mask[i]], V[mask[i]])[-1]
        at += f" sees {show(np.flatnonzero(mask[i]))}, and alone in its text"
        if verdict := differs(alone, packed, at=at, what="its output", whole=given):
            return verdict
    return None


# -- 4.11 -----------------------------------------------------------------------------------------

Additive = tuple[np.ndarray, ...]  # Q, K, V, A, B and u


def any_additive(rng: np.random.Generator) -> Additive:
    """Any sizes: queries and keys need not even be of the same width."""
    n, k, m, width, p, other = sizes(rng, 6, high=24)
    shapes = [(n, m), (k, other), (p, m), (p, other), (p,)]
    Q, K, A, B, u = (numbers(rng, *shape, largest=1.5) for shape in shapes)
    return Q, K, numbers(rng, k, width, largest=100), A, B, u


def _additive_instance(n: int, k: int, m: int, width: int, p: int, other: int) -> Additive:
    shapes = [(n, m), (k, other), (k, width), (p, m), (p, other), (1, p)]
    *arrays, u = _whole_numbers(n + k, *shapes, largest=2)
    return *arrays, u[0]


ADDITIVE = [_additive_instance(2, 2, 1, 1, 2, 1), _additive_instance(2, 3, 2, 1, 2, 1)]
ADDITIVE += [any_additive(np.random.default_rng(seed)) for seed in (2, 5, 7)]


@exercise
@each(ADDITIVE, any_additive)
def additive_attention(
    additive_attention: Annotated[FunctionAnswer, Function(samples=ADDITIVE)], *, Q, K, V, A, B, u
) -> Verdict | None:
    """Write attention whose scores are uᵀ tanh(A q + B k), for all queries at once."""
    answer = additive_attention.array(Q, K, V, A, B, u, shape=(len(Q), V.shape[1]))
    for i, q in enumerate(Q):
        scores = np.tanh(A @ q + K @ B.T) @ u
        given = "Q = {}, K = {}, V = {}, A = {}, B = {} and u = {}"
        says = f"With {given}, query Q[{i}] has the scores {{}}:"
        at, output = where(says, Q, K, V, A, B, u, scores), softmax(scores) @ V
        if verdict := differs(
            output, answer[i], at=at, what="its output", whole=answer, tolerance=3e-5
        ):
            return verdict
    return None


# -- 4.12 ------------------------------------------------------------------------------------------

Across = tuple[np.ndarray, ...]  # Y, Z, W_q, W_k and W_v


def _weighted(Y: np.ndarray, Z: np.ndarray, *W: np.ndarray) -> Across:
    """Divided by the width, so that no exponential leaves the range of numbers."""
    return Y, Z, W[0] / len(W[0]), W[1] / len(W[1]), W[2]


def any_across(rng: np.random.Generator) -> Across:
    """Two texts of any lengths and widths, and matrices that fit."""
    n, k, d, e, m, width = sizes(rng, 6)
    shapes = [(n, d), (k, e), (d, m), (e, m), (e, width)]
    return _weighted(*(numbers(rng, *shape) for shape in shapes))


def _across(seed: int, n: int, k: int, d: int, e: int, m: int, width: int) -> Across:
    shapes = [(n, d), (k, e), (d, m), (e, m), (e, width)]
    return _weighted(*_whole_numbers(seed, *shapes))


ACROSS = [_across(3, 2, 3, 2, 1, 1, 1), _across(5, 1, 2, 2, 3, 2, 2), _across(8, 3, 3, 2, 2, 4, 2)]


@exercise
@each(ACROSS, any_across)
def cross(
    cross: Annotated[FunctionAnswer, Function(samples=ACROSS)], *, Y, Z, W_q, W_k, W_v
) -> Verdict | None:
    """Write cross-attention as a function of Y (n×d), Z (k×e), W_q, W_k and W_v."""
    answer = cross.array(Y, Z, W_q, W_k, W_v, shape=(len(Y), W_v.shape[1]))
    begin = f"With Y = {show(Y)} and Z = {show(Z)}, so"
    projected = Y @ W_q, Z @ W_k, Z @ W_v
    return row_off(answer, *projected, begin=begin, tolerance=rounding())
