"""Unit 10: transformers are RNNs. Numbers are checked by the definition, work by the meter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Annotated, Any, cast

import numpy as np

from selfcheck.calls import FunctionAnswer, in_a_row
from selfcheck.compare import TOLERANCE, as_array, close, last_digit
from selfcheck.display import show, show_apart, show_at
from selfcheck.exercises import exercise
from selfcheck.kinds import (
    Array,
    Choice,
    Formula,
    FormulaAnswer,
    Function,
    Growth,
    RealNumber,
    StudentId,
)
from selfcheck.meter import growth, measure, polynomial
from selfcheck.own_numbers import OwnNumbers
from selfcheck.per_case import each
from selfcheck.refusals import Unreadable
from selfcheck.remembering import remembered
from selfcheck.sampling import by_pencil, cases, magnitude, numbers, sizes, surveyed
from selfcheck.verdicts import Verdict, differs, keeping, right, where, wrong

from ..attention import attention, causal_attention, causal_linear_attention, elu_plus_one
from ..numbers.transformers_are_rnns import Memory
from ..numbers.transformers_are_rnns import transformers_are_rnns as memory_of

Text = tuple[np.ndarray, np.ndarray, np.ndarray]  # Q, K and V


def draw(n: int, d: int, width: int, seed: int = 0) -> Text:
    """Q and K (n×d) and V (n×width) with few digits."""
    rng = np.random.default_rng(seed)
    Q, K, V = (rng.uniform(-2, 2, (n, k)).round(1) for k in (d, d, width))
    return Q, K, V


def weighted_means(weights: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The definition of attention: y_i = Σ_j w_ij v_j / Σ_j w_ij, one query after the other."""
    return np.array([row @ V / row.sum() for row in weights])


def _likeness(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """φ(q_i)ᵀφ(k_j) with φ = elu + 1, for all pairs."""
    return elu_plus_one(Q) @ elu_plus_one(K).T


def _similarity(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Its square, by which exercises 10.1 and 10.2 weigh."""
    return np.square(_likeness(Q, K))


def causal_by_definition(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Token i sees only the tokens j ≤ i, each with the similarity of the two."""
    weights = _similarity(Q, K)
    rows = [weighted_means(weights[i : i + 1, : i + 1], V[: i + 1])[0] for i in range(len(Q))]
    return np.array(rows)


# -- 10.1: the parallel form -----------------------------------------------------------------------


SINGLE = 2e-5  # relative: what 32 bits leave in sums of many squares
SMALL = [draw(*shape, seed) for seed, shape in enumerate([(3, 2, 2), (2, 1, 1), (4, 3, 2),
                                                          (3, 2, 5), (1, 2, 1)])]  # fmt: skip


def any_text(rng: np.random.Generator) -> Text:
    """A text of any length, every shape different; now and then keys and values are large."""
    n, d, width = sizes(rng, 3)
    large = magnitude(rng, 1, 10)  # 32 bits hold the squares of exp(−20)
    V = numbers(rng, n, width, largest=100)
    return numbers(rng, n, d), numbers(rng, n, d, largest=large), V


def long_text(rng: np.random.Generator, least: int = 115) -> Text:
    """A text that is longer than a chunk or a usual window; loops over all pairs take a while."""
    n = int(rng.integers(least, least + 10))
    return numbers(rng, n, 2), numbers(rng, n, 2), numbers(rng, n, 3)


TWO_TEXTS = [draw(3, 2, 2), draw(4, 2, 3, seed=1)]
OfATextAtOnce = Annotated[FunctionAnswer, Function(samples=TWO_TEXTS)]


@exercise
@each(SMALL, any_text, also=[long_text])
def causal_linear(causal_linear_attention: OfATextAtOnce, *, Q, K, V) -> Verdict | None:
    """Write causal attention by the squares of φ(q)ᵀφ(k), φ = elu + 1, for all tokens at once."""
    answer = causal_linear_attention.array(Q, K, V, shape=V.shape)
    at = where("With Q = {}, K = {} and V = {}", Q, K, V)
    tolerance = None if by_pencil() else SINGLE
    off = differs(causal_by_definition(Q, K, V), answer, at=at, tolerance=tolerance)
    if off or by_pencil():  # what is right in a long text needs no second run of it
        off = _leak(causal_linear_attention, (Q, K, V), answer) or off
    return off


def _last_changed(arrays: Text) -> list[np.ndarray]:
    """The same text, with 1 added to q, k and v of its last token."""
    changed = [array.copy() for array in arrays]
    for array in changed:
        array[-1] += 1.0
    return changed


def _leak(answer: FunctionAnswer, arrays: Text, before: np.ndarray) -> Verdict | None:
    """A refutation if an earlier row moves when the last token changes, else nothing."""
    after = answer.array(*_last_changed(arrays), shape=before.shape)
    for i in range(len(before) - 1):
        if not close(before[i], after[i]):
            was, became = show_apart(before[i], after[i])
            return wrong(
                f"Token {i + 1} sees the future. With 1 added to q, k and v of token "
                f"{len(before)} alone, result[{i}] moves from {was} to {became}.",
                at="the last token changed",
                yours=[before, after],
            )
    return None


# -- 10.2: the recurrence --------------------------------------------------------------------------


def state_size(state: Any, seen: tuple = ()) -> int:
    """How many numbers a state holds, whatever it is made of."""
    if state is None or any(state is outer for outer in seen):
        return 0
    kind = type(state)
    if issubclass(kind, np.ndarray) and state.dtype != object:
        return state.size
    if issubclass(kind, int):
        return 1 + state.bit_length() // 64
    if issubclass(kind, float | complex | np.generic):
        return 1
    if issubclass(kind, str | bytes | bytearray):
        return len(state)
    inside = _parts(state)
    if inside is None:
        raise Unreadable(
            f"The state contains {show(state)}, and what that remembers cannot be counted. Keep "
            "the state in numbers, arrays, tuples, lists or dictionaries."
        )
    return sum(state_size(part, (*seen, state)) for part in inside)


def _parts(state: Any) -> list | None:
    """What a container or a plain object holds; None for what is neither, such as a function."""
    if isinstance(state, np.ndarray):
        return list(state.flat)
    if isinstance(state, dict):
        return [*state.keys(), *state.values()]
    if isinstance(state, tuple | list | set | frozenset):
        return list(state)
    slots = [getattr(state, name, None) for name in getattr(type(state), "__slots__", ())]
    if callable(state) or not (slots or hasattr(state, "__dict__")) or hasattr(state, "__next__"):
        return None
    return [*slots, *getattr(state, "__dict__", {}).values()]


def one_step(step: FunctionAnswer, state: Any, token: tuple, width: int) -> tuple[Any, np.ndarray]:
    """The new state and the output y, or a sentence about what came instead."""
    result = step(state, *token)
    two = isinstance(result, tuple | list) and len(result) == 2
    if two and type(y := result[1]) is np.ndarray and y.dtype == float and y.shape == (width,):
        return result[0], y
    call = f"{step.name}(state, {', '.join(map(show, token))})"
    if not two:
        raise Unreadable(f"{call} should return two things: the new state and the output y.")
    return result[0], as_array(result[1], (width,), f"The second result of {call}", finite=False)


def run(initial: FunctionAnswer, step: FunctionAnswer, arrays: Text) -> Iterator[tuple]:
    """The state after each token, and the output there."""
    Q, K, V = arrays
    width, tokens = V.shape[1], list(zip(Q, K, V, strict=True))
    state = initial(Q.shape[1], width)
    for token in tokens:
        state, y = one_step(step, state, token, width)
        yield state, y


def outputs(initial: FunctionAnswer, step: FunctionAnswer, arrays: Text) -> np.ndarray:
    """All outputs, token by token, as in a student's own loop."""
    Q, K, V = arrays
    width, tokens = V.shape[1], list(zip(Q, K, V, strict=True))
    every = in_a_row(initial, step, (Q.shape[1], width), tokens)
    says = f"The second result of {step.name}"
    return np.array([as_array(y, (width,), says, finite=False) for y in every])


SHORT, LONG = 8, 48  # tokens
REMEMBERS = (
    "From the same state with the same token, step gave a different output once it had "
    "tried another token in between: something is remembered outside the state."
)


def grows(initial: FunctionAnswer, step: FunctionAnswer) -> Verdict | None:
    """A refutation if the state grows with the tokens, or has room for all of them."""
    d, width = 2, 3
    states = enumerate((state for state, _ in run(initial, step, draw(LONG, d, width))), start=1)
    short, long = (state_size(state) for n, state in states if n in (SHORT, LONG))
    at = f"For d = {d} and l = {width} your state holds"
    if long > short:
        says = f"{at} {short} numbers after {SHORT} tokens, and {long} after {LONG}."
        return wrong(says, at="the size of the state", yours=[short, long])
    enough = d * d * (width + 1)
    if long > 4 * enough + 16:
        says = f"{at} {long} numbers from the start; {enough} are enough."
        return wrong(says, at="the size of the state")
    return None


Advance = Callable[[Any, Any, int], tuple[Any, np.ndarray]]  # of a state, a token and its place


def remembers_elsewhere(begin: Callable[[], Any], advance: Advance, tokens: Sequence[Any]) -> bool:
    """Does it matter to one future of a state that another one was looked at before?

    From one state two tokens are tried, and the first goes on: with all memory in the state, it
    comes to what it comes to alone.
    """
    first, other, last = tokens

    def end(*detours: Any) -> np.ndarray:
        state = begin()
        after, _ = advance(state, first, 0)
        for token in detours:
            advance(state, token, 0)
        return advance(after, last, 1)[1]

    return not close(end(), end(other))


def _remembers(initial_state: FunctionAnswer, step: FunctionAnswer) -> bool:
    def advance(state: Any, token: tuple, _: int) -> tuple[Any, np.ndarray]:
        return one_step(step, state, token, 2)

    tokens = list(zip(*draw(3, 2, 2), strict=True))
    return remembers_elsewhere(lambda: initial_state(2, 2), advance, tokens)


def _stays_small(initial_state: FunctionAnswer, step: FunctionAnswer) -> Verdict:
    return grows(initial_state, step) or right(
        "Token by token the outputs are those of the definition, and the state is as large after "
        f"{LONG} tokens as after {SHORT}."
    )


def narrow_text(rng: np.random.Generator) -> Text:
    """A text with at most 6 numbers in a query or key."""
    n, d, width = *sizes(rng, 1, high=24), *sizes(rng, 1, high=6), *sizes(rng, 1, high=24)
    return numbers(rng, n, d), numbers(rng, n, d), numbers(rng, n, width, largest=100)


LONGER = partial(long_text, least=84)
FIRST_TEXTS = [draw(*shape, seed) for seed, shape in enumerate([(3, 2, 2), (4, 3, 3), (5, 2, 3),
                                                                (3, 3, 1), (2, 1, 4)])]  # fmt: skip


@exercise
def recurrence(
    initial_state: Annotated[FunctionAnswer, Function(may_return_none=True)],
    step: Annotated[FunctionAnswer, Function()],
) -> Verdict:
    """Write the attention of 10.1 as a step from token to token, with a state of fixed size."""
    next(run(initial_state, step, FIRST_TEXTS[0]))  # returns two things
    for Q, K, V in cases(FIRST_TEXTS, narrow_text, also=[LONGER]):
        answer, expected = outputs(initial_state, step, (Q, K, V)), causal_by_definition(Q, K, V)
        tolerance = TOLERANCE if by_pencil() else SINGLE
        if surveyed() is None and close(expected, answer, tolerance):
            if by_pencil():
                at = where("When the text {} with values {} is run twice, the second time", K, V)
                if verdict := differs(expected, outputs(initial_state, step, (Q, K, V)), at=at):
                    return verdict
            continue
        for i, q in enumerate(Q):
            at = where("After the keys {} with values {}", K[: i + 1], V[: i + 1])
            what = f"the output for the query {show(q)}"
            if verdict := differs(
                expected[i], answer[i], at=at, what=what, whole=answer, tolerance=tolerance
            ):
                return verdict
    if _remembers(initial_state, step):
        return wrong(REMEMBERS, at="two futures of one state")
    return keeping(2, "The numbers are right.", lambda: _stays_small(initial_state, step))


# -- 10.3: the four questions ----------------------------------------------------------------------

LENGTH = Growth(n=range(2, 9), d=range(2, 9)).needing("n")


def _rnn(X, W, U):
    h = np.zeros(len(W))
    for x in X:
        h = np.tanh(W @ h + U @ x)
    return h


@cache
def growth_in_n(name: str) -> int:
    """The power of n with which the metered work of one layer grows."""

    def count(n: int) -> int:
        X = np.ones((n, 2))
        if name == "rnn":
            return measure(_rnn, X, np.eye(2), np.eye(2)).flops
        layers: dict[str, Callable] = {"softmax": attention, "linear": causal_linear_attention}
        return measure(layers[name], X, X, X).flops

    return growth(count).degree


FAR_APART = 10**60, 10**80  # so far that lower terms do not matter, and logarithms still show


def power_of_n(formula: FormulaAnswer) -> float:
    """The power of n with which a formula grows; infinite if faster than any, else not a number."""
    near, far = (formula.value(n=n, d=64) for n in FAR_APART)
    if math.isinf(near) or math.isinf(far):
        soon, later = (np.float64(formula.value(n=n, d=64)) for n in (32, 64))
        return math.inf if later > soon**1.9 > 1 else math.nan
    return math.log(far / near, 10**20) if near > 0 and far > 0 else math.nan


def exponential(q: np.ndarray, k: np.ndarray) -> float:
    """exp(qᵀk)"""
    return float(np.exp(q @ k))


def one_sided(q: np.ndarray, k: np.ndarray) -> float:
    """A similarity that is not symmetric: it asks more of the key than of the query."""
    return float(1 / (1 + (q - 2 * k) @ (q - 2 * k)))


def five_features(x: np.ndarray) -> np.ndarray:
    """Positive features of a row or of all rows, of another number than x has."""
    return np.concatenate([0 * x[..., :1] + 1, np.exp(x), np.exp(-x)], axis=-1)


def _softmax_definition(Q, K, V):
    return weighted_means(np.exp([[q @ k / math.sqrt(len(q)) for k in K] for q in Q]), V)


def _sim_definition(Q, K, V, sim):
    return weighted_means(np.array([[sim(q, k) for k in K] for q in Q]), V)


@remembered
def _phi_definition(Q, K, V, phi):
    return weighted_means(np.array([[sum(phi(q) * phi(k)) for k in K] for q in Q]), V)


@exercise
def four_questions(
    softmax_growth: Annotated[FormulaAnswer, LENGTH],
    rnn_growth: Annotated[FormulaAnswer, LENGTH],
    linear_growth: Annotated[FormulaAnswer, LENGTH],
    by_softmax: Annotated[FunctionAnswer, Function(samples=[draw(4, 2, 2)])],
    by_sim: Annotated[FunctionAnswer, Function(samples=[(*draw(4, 2, 2), one_sided)])],
    by_phi: Annotated[FunctionAnswer, Function(samples=[(*draw(4, 2, 2), five_features)])],
) -> None:
    """Answer four questions: growth in n, and attention by softmax, by sim and by φ."""


@four_questions.part("Question 1")
def _growths(
    softmax_growth: FormulaAnswer, rnn_growth: FormulaAnswer, linear_growth: FormulaAnswer
) -> Verdict:
    formulas = {
        "softmax": ("the softmax transformer", softmax_growth),
        "rnn": ("an RNN", rnn_growth),
        "linear": ("the paper's", linear_growth),
    }
    for name, (words, formula) in formulas.items():
        seen, mine = growth_in_n(name), power_of_n(formula)
        if not abs(seen - mine) < 1e-4:
            factor = "" if math.isnan(mine) else f"a factor of {show(2**mine, 3)}"
            yours = "ever larger factors" if mine == math.inf else factor or "no steady factor"
            if not factor and formula.value(n=1000, d=64) < 0:
                yours = "less than nothing"
            return wrong(
                f"when n doubles, the metered work of {words} grows by a factor of about "
                f"{2**seen}, and your formula by {yours}.",
                at=name,
                yours=mine,
            )
    return right()


four_questions.part("Question 2", lambda by_softmax: _attends(by_softmax, _softmax_definition))


@four_questions.part("Question 3")
def _sim_question(by_sim: FunctionAnswer) -> Verdict:
    return _attends(by_sim, _sim_definition, exponential, one_sided)


@four_questions.part("Question 4")
def _phi_question(by_phi: FunctionAnswer) -> Verdict:
    return _attends(by_phi, _phi_definition, elu_plus_one, five_features)


def any_queries(rng: np.random.Generator) -> Text:
    """Queries, and keys with their values: every size different."""
    n, keys, d, width = sizes(rng, 4, high=17)
    return (
        numbers(rng, n, d, largest=1),
        numbers(rng, keys, d, largest=1),
        numbers(rng, keys, width, largest=100),
    )


FEW = [(2, 2, 2, 1), (3, 4, 2, 2), (4, 4, 3, 2)]  # n queries, keys, d and the width of a value
FEW_QUERIES = [
    draw(n, d, w, k)[:1] + draw(m, d, w, k + 10)[1:] for k, (n, m, d, w) in enumerate(FEW)
]


@each(FEW_QUERIES, any_queries)
def _attends(
    function: FunctionAnswer, definition: Callable, *choices: Callable, Q, K, V
) -> Verdict | None:
    """Is this the weighted mean of the definition, with any similarity or features?"""
    calls: list[tuple[Callable, ...]] = [(choice,) for choice in choices] or [()]
    for more in calls:
        answer = function.array(Q, K, V, *more, shape=(len(Q), V.shape[1]))
        expected = definition(Q, K, V, *more)
        at = lambda more=more: f"in {function.call(Q, K, V, *more)}"  # noqa: E731
        if verdict := differs(expected, answer, at=at):
            return verdict
    return None


# -- 10.4 and 10.5: work for a generated token -----------------------------------------------------

TOKEN = Formula(i=range(2, 9), d=range(2, 9)).needing("d")
OfToken = Annotated[FormulaAnswer, TOKEN]
WAYS: dict[str, Callable[[int, int, int], tuple[Callable, Sequence[Any]]]] = {  # i, d, width of v
    "without a cache": lambda i, d, w: (causal_attention, [*map(np.ones, [(i, d)] * 2 + [(i, w)])]),
    "with a cache": lambda i, d, w: (attention, [*map(np.ones, [(1, d), (i, d), (i, w)])]),
    "by the recurrence": lambda i, d, w: (
        _one_token,
        [np.ones((d, w)), *np.ones((3, d)), np.ones(w)],
    ),
}
WIDER = 2  # times as wide as keys are the values of exercise 10.4
FAR = 10**6  # where lower terms no longer matter


def _one_token(s, z, q, k, v):
    """One step of the recurrence; the outer product is written as a product, so it counts."""
    s, z = s + k[:, None] @ v[None, :], z + k
    return q @ s / (q @ z)


@cache
def token_work(way: str, wider: int = 1) -> Any:
    """Metered multiply–adds for token i in width d, as a polynomial; q, k and v are given."""

    def count(i: int, d: int) -> int:
        function, arrays = WAYS[way](i, d, wider * d)
        return measure(function, *arrays).macs

    return polynomial(count, i=2, d=2)


@cache
def _first_tokens(way: str, d: int) -> tuple[int, int, int]:
    """The work for tokens 1, 2 and 3, which determines that for all later ones."""
    first, second, third = (int(token_work(way).subs({"i": i, "d": d})) for i in (1, 2, 3))
    return first, second, third


def total_work(d: int = 64, lengths: tuple = (32, 64, 128, 256, 784)) -> dict[int, dict[str, int]]:
    """Multiply–adds for a whole text of n tokens, for each way: the table of exercise 10.5."""
    return {n: {way: _summed(*_first_tokens(way, d), n) for way in WAYS} for n in lengths}


def _summed(a: int, b: int, c: int, n: int) -> int:
    """The sum of the first n values of a quadratic sequence that starts with a, b, c."""
    first, second = b - a, c - 2 * b + a
    return n * a + first * math.comb(n, 2) + second * math.comb(n, 3)


GROWTH = [(1, 1), (12, 1), (1, 12)]  # both sizes grow, the one as fast as the other or much faster


def _leads(formula: FormulaAnswer, way: str) -> bool:
    """Is this the leading term of the metered count, however i and d grow?"""
    for point in TOKEN.points():
        for i, d in GROWTH:
            far = {"i": (FAR * point["i"]) ** i, "d": (FAR * point["d"]) ** d}
            if not abs(formula.value(**far) / int(token_work(way, WIDER).subs(far)) - 1) < 1e-3:
                return False
    return True


@exercise
def token_cost(without_cache: OfToken, with_cache: OfToken, recurrence: OfToken) -> None:
    """Find the multiply–adds for token i with wide values, leading terms, in three ways."""


token_cost.part("Without a cache", lambda without_cache: _led_by(without_cache, "without a cache"))
token_cost.part("With a cache", lambda with_cache: _led_by(with_cache, "with a cache"))
token_cost.part("By the recurrence", lambda recurrence: _led_by(recurrence, "by the recurrence"))


def _led_by(formula: FormulaAnswer, way: str) -> Verdict:
    for point in TOKEN.points():
        if (given := formula(**point)) <= 0:
            says = f"at {show_at(point)} your formula gives {show(given)}, and work is positive."
            return wrong(says, at="not positive", yours=given)
    if "i" not in map(str, token_work(way, WIDER).free_symbols):
        for i in (1000, 10**200):
            first, late = formula(i=2, d=50), formula.value(i=i, d=50)
            if not close(first, late):
                shown = show_apart(first, late)
                says = f"{way} every token takes the same work; at d = 50 your formula gives"
                says = f"{says} {shown[0]} for i = 2 and {shown[1]} for i = {show(i)}."
                return wrong(says, at="every token", yours=late)
    if _leads(formula, way):
        return right()
    for point in ({"i": 1000, "d": 50}, {"i": 10**9, "d": 10}, {"i": 10, "d": 10**9}):
        count, given = int(token_work(way, WIDER).subs(point)), formula(**point)
        if abs(given / count - 1) > 0.05:
            break
    return wrong(
        f"at {show_at(point)} the meter counts {count} multiply–adds {way}; your formula gives "
        f"{show(given, 9)}.",
        at=show_at(point),
        yours=given,
    )


@exercise
def reading_the_table(
    crossover: RealNumber, by_cache: RealNumber, by_recurrence: RealNumber
) -> Verdict:
    """Read from the table where the recurrence overtakes the cache, and what either explains."""
    cache_factor, recurrence_factor, _ = _factors()
    return right(
        f"The recurrence is ahead from n = {_first_ahead()} on. At n = 784 the cache explains a "
        f"factor of {show(cache_factor)}, and the recurrence {show(recurrence_factor)} beyond it."
    )


@reading_the_table.part("Where it overtakes")
def _overtakes(crossover: float) -> Verdict:
    if crossover == _first_ahead():
        return right()
    if crossover < 1 or crossover != round(crossover):
        shown = show_apart(crossover, round(crossover))[0]
        return wrong(f"n counts tokens, and {shown} is no such number.")
    if crossover > 10**6:
        says = f"long before n = {show(crossover)} the recurrence has done less."
        return wrong(says, at="crossover", yours=crossover)
    n = int(crossover)
    level = total_work(lengths=(n,))[n]
    says = f"for n = {n} the table would have {level['with a cache']} with a cache and "
    says = f"{says}{level['by the recurrence']} by the recurrence: "
    says += "already fewer, and not for the first time." if _ahead(n) else "not yet fewer."
    return wrong(says, at="crossover", yours=crossover)


@reading_the_table.part("What explains it")
def _explained(by_cache: float, by_recurrence: float) -> Verdict:
    row = list(total_work()[784].values())
    factors = zip((by_cache, by_recurrence), row, row[1:], strict=False)
    off = [
        f"from {before} to {after} is not a factor of {show(given)}"
        for given, before, after in factors
        if not _near(given, before / after)
    ]
    if not off:
        return right()
    return wrong(f"{', and '.join(off)}.", at="factors", yours=[by_cache, by_recurrence])


def _first_ahead() -> int:
    """The first n at which the recurrence has done less than attention with a cache."""
    return next(n for n in range(1, 785) if _ahead(n))


def _ahead(n: int) -> bool:
    row = total_work(lengths=(n,))[n]
    return row["by the recurrence"] < row["with a cache"]


def _factors() -> tuple[float, float, float]:
    """What the cache, the recurrence after it, and both together explain at n = 784."""
    without, cached, recurrent = total_work()[784].values()
    return without / cached, cached / recurrent, without / recurrent


def _near(given: float, counted: float) -> bool:
    """Equal within one percent: enough for a number that is read from a table."""
    return abs(given - counted) <= 0.01 * counted


# -- 10.6: a state that forgets --------------------------------------------------------------------

GATES = [np.array([0.5, 0.5, 0.5]), np.array([0.9, 0.2, 1.0, 0.6]), np.array([0.3])]


def decay_by_recurrence(g: np.ndarray) -> np.ndarray:
    """The definition: what is left in s_i = γ_i s_{i−1} + … of each token j, row by row."""
    left, rows = np.zeros(len(g)), []
    for i, gate in enumerate(g):
        left = gate * left
        left[i] = 1.0
        rows.append(left)
    return np.array(rows)


def any_gates(rng: np.random.Generator) -> np.ndarray:
    """Gates between 0.05 and 1 for a text of any length."""
    (n,) = sizes(rng, 1)
    return rng.uniform(0.05, 1, n).round(2)


def strong_gates(rng: np.random.Generator) -> np.ndarray:
    """A long text; some gates are as good as shut, and some are shut."""
    g = 10.0 ** rng.integers(-9, 1, int(rng.integers(150, 200)))
    g[rng.random(len(g)) < 0.05] = 0.0
    return g


def open_gates(rng: np.random.Generator) -> np.ndarray:
    """A text that is longer than a usual window, of which little is forgotten."""
    return rng.choice([0.98, 0.99, 1.0], int(rng.integers(103, 110)))


def _forgets(
    decay: FunctionAnswer, texts: Iterator[np.ndarray], by_hand: float = TOLERANCE
) -> Verdict | None:
    """A refutation at the first text whose weights are not those of the recurrence."""
    for g in texts:
        n = len(g)
        at = f"With the gates {show(g)}" if n <= 6 else f"With {n} gates, the first {show(g[:4])},"
        answer, tolerance = decay.array(g, shape=(n, n)), by_hand if by_pencil() else SINGLE
        if verdict := differs(decay_by_recurrence(g), answer, at=at, tolerance=tolerance):
            return verdict
    return None


@exercise
def forgetting(
    decay: Annotated[FunctionAnswer, Function(samples=[(g,) for g in GATES])],
) -> Verdict:
    """Write the n×n weights D with which (QKᵀ∘D)V is what a state with gates returns."""
    if verdict := _forgets(decay, cases(GATES, any_gates, also=[open_gates])):
        return verdict
    says = "For gates of moderate size the weights are right."
    shut = [np.array([0.5, 0.0, 0.5])]

    def rest() -> Verdict:
        found = _forgets(decay, cases(shut, also=[strong_gates] * 3), 1e-9)  # a 0 is a 0
        return found or right("The weights are those of the recurrence, also where a gate is shut.")

    return keeping(2, says, rest)


# -- 10.7: writing into a state --------------------------------------------------------------------


def written(n: Memory, rule: str) -> np.ndarray:
    """The state after all pairs are written, one after the other, by this rule."""
    s = np.zeros(3)
    for k, v in zip(np.array(n.keys, dtype=float), n.values, strict=True):
        s = s + k * v if rule == "sum" else s + k * ((v - k @ s) / (k @ k))
    return s


def _is_state(s: np.ndarray, truth: np.ndarray, at: str) -> Verdict | None:
    """The verdict on a state that is right, as far as six digits go, or right but for digits."""
    if all(abs(a - b) <= last_digit(b) for a, b in zip(s, truth, strict=True)):
        return right()
    if close(s, truth, 1e-3):
        return wrong("the first digits are right: give six of each number.", at=at, yours=s)
    return None


def _reads(n: Memory, s: np.ndarray, wanted: Any, why: list[str], at: str) -> Verdict | None:
    """The refutation by the first key that does not read from a state what it should."""
    for i, (k, w) in enumerate(zip(np.array(n.keys, dtype=float), wanted, strict=True)):
        if w is not None and not close(float(k @ s), float(w)):
            seen, should = show_apart(float(k @ s), float(w))
            says = f"your key {show(k)} reads {seen} from it, and should read {should}, {why[i]}."
            return wrong(says, at=at, yours=s)
    return None


@exercise(numbers=OwnNumbers(memory_of, example="0"))
def writing(
    student: StudentId,
    state_of_sums: Annotated[np.ndarray, Array((3,))],
    state_corrected: Annotated[np.ndarray, Array((3,))],
    state_settled: Annotated[np.ndarray, Array((3,))],
) -> None:
    """Find the state after your three pairs: by sums, by corrections, by endless corrections."""


@writing.part("Sums")
def _summed_state(student: str, state_of_sums: np.ndarray) -> Verdict:
    n = memory_of(student)
    truth = written(n, "sum")
    wanted, why = np.array(n.keys) @ truth, ["the sum of its products with all v·k"] * 3
    verdict = _is_state(state_of_sums, truth, "sums")
    return verdict or cast(Verdict, _reads(n, state_of_sums, wanted, why, "sums"))


@writing.part("Corrections", points=2)
def _corrected_state(student: str, state_corrected: np.ndarray) -> Verdict:
    n, s = memory_of(student), state_corrected
    why = ["", "", "for that pair was written last"]
    return (
        _is_state(s, written(n, "correction"), "corrections")
        or _reads(n, s, [None, None, n.values[2]], why, "corrections")
        or _undone(n, s)
    )


def _undone(n: Memory, s: np.ndarray) -> Verdict:
    """The refutation of a state from which the last key reads its value: its writes, undone."""
    k1, k2, k3 = np.array(n.keys, dtype=float)
    before = s - k3 * ((k2 @ s - n.values[1]) / (k2 @ k3))  # where the second key reads its value
    first = k1 * (n.values[0] / (k1 @ k1))
    says = f"your last key reads its value. Before its write the state was {show(before)}, if the"
    says = f"{says} second key read its value there; the first write makes {show(first)}, and from"
    says = f"{says} there to here is no multiple of the second key."
    return wrong(says, at="corrections", yours=s)


@writing.part("For ever")
def _settled_state(student: str, state_settled: np.ndarray) -> Verdict:
    n = memory_of(student)
    truth = np.linalg.solve(np.array(n.keys, dtype=float), n.values)
    verdict, why = _is_state(state_settled, truth, "for ever"), ["or the next write changes it"] * 3
    return verdict or cast(Verdict, _reads(n, state_settled, n.values, why, "for ever"))


# -- 10.8: the published tables --------------------------------------------------------------------

# Katharopoulos and others (2020), tables 1, 2, 4 and 5, with their conditions.
BITS = {"MNIST": {"softmax": 0.621, "linear": 0.644}, "CIFAR-10": {"softmax": 3.47, "linear": 3.4}}
TRAINED = {"MNIST": {"epochs": 250}, "CIFAR-10": {"days": 7}}  # what every model had alike
PER_SECOND = {  # on a GPU, with a batch of its own for each method
    "MNIST": {"softmax": 0.45, "cache": 7.56, "linear": 142.8},
    "CIFAR-10": {"softmax": 0.004, "cache": 0.32, "linear": 17.85},
}
SECONDS = {  # for one picture, with batch 1
    "MNIST": {
        "CPU": {"softmax": 72.6, "cache": 7.4, "linear": 5.5},
        "GPU": {"softmax": 10.2, "cache": 10.4, "linear": 7.3},
    },
    "CIFAR-10": {
        "CPU": {"softmax": 8651.4, "cache": 71.9, "linear": 45.1},
        "GPU": {"softmax": 300.1, "cache": 70.4, "linear": 61.3},
    },
}
PRINTED = (6.5, 6.7)  # what "almost 6.6×" can stand for
Claim = Annotated[str, Choice(("yes", "no", "open"))]


def _on_the_processor() -> tuple[bool, str]:
    cpu, gpu = ([row[machine]["linear"] for row in SECONDS.values()] for machine in ("CPU", "GPU"))
    seen = f"one picture takes {show(cpu)} seconds on the CPU and {show(gpu)} on the GPU"
    return all(np.less(cpu, gpu)), seen


def _one_after_the_other() -> tuple[bool, str]:
    seconds = SECONDS["MNIST"]["GPU"]["linear"]
    return 1 / seconds > 100, f"a batch of one digit takes {seconds} seconds on the GPU"


def _in_bits(data: str, alike: str) -> tuple[bool | None, str]:
    (softmax, linear), had = BITS[data].values(), TRAINED[data]
    budget = ", ".join(f"{much} {what}" for what, much in had.items())
    seen = f"{linear} bits for linear attention and {softmax} for softmax, after {budget} each"
    return linear < softmax if alike in had else None, seen


def _side_by_side() -> tuple[None, str]:
    row = PER_SECOND["MNIST"]
    return None, f"{row['linear']} and {row['cache']} per second, each with a batch of its own"


CLAIMS: dict[str, Callable[[], tuple[bool | None, str]]] = {  # None where no table decides
    "a": _on_the_processor,
    "b": _one_after_the_other,
    "c": partial(_in_bits, "MNIST", "epochs"),
    "d": partial(_in_bits, "CIFAR-10", "epochs"),
    "e": partial(_in_bits, "CIFAR-10", "days"),
    "f": _side_by_side,
}


def _decides(name: str, said: str) -> Verdict:
    holds, seen = CLAIMS[name]()
    word = "open" if holds is None else "yes" if holds else "no"
    return right() if said == word else wrong(f"the tables have {seen}.")


@exercise
def published_tables(
    slow: RealNumber, fast: RealNumber, by_method: RealNumber, by_machine: RealNumber,
    a_is: Claim, b_is: Claim, c_is: Claim, d_is: Claim, e_is: Claim, f_is: Claim,
) -> Verdict:  # fmt: skip
    """Find the pair behind a published factor, split it, and say what the tables decide."""
    return right(
        f"{slow}/{fast} = {show(slow / fast, 3)} is {show(by_method, 3)} for the method, on one "
        f"machine, times {show(by_machine, 3)} for the machine, and the six claims are as the "
        f"tables and their conditions say."
    )


@published_tables.part("Two numbers")
def _two_numbers(slow: float, fast: float) -> Verdict:
    rows = SECONDS["CIFAR-10"].values()
    for given in (slow, fast):
        if not any(close(given, entry) for row in rows for entry in row.values()):
            says = f"{show(given)} is no time that table 5 has for CIFAR-10."
            return wrong(says, at="no entry", yours=[slow, fast])
    if PRINTED[0] < slow / fast < PRINTED[1]:
        return right()
    says = f"{show(slow)}/{show(fast)} is {show(slow / fast)}, and 6.6 was printed."
    return wrong(says, at="the pair", yours=[slow, fast])


@published_tables.part("Two factors")
def _two_factors(by_method: float, by_machine: float) -> Verdict:
    gpu, there = SECONDS["CIFAR-10"]["GPU"], SECONDS["CIFAR-10"]["CPU"]["linear"]
    off = [
        f"from {before} s to {after} s is not a factor of {show(given)}"
        for given, before, after in (
            (by_method, gpu["softmax"], gpu["linear"]),
            (by_machine, gpu["linear"], there),
        )
        if not _near(given, before / after)
    ]
    if not off:
        return right()
    return wrong(f"{', and '.join(off)}.", at="two factors", yours=[by_method, by_machine])


published_tables.part("Claim (a)", lambda a_is: _decides("a", a_is))
published_tables.part("Claim (b)", lambda b_is: _decides("b", b_is))
published_tables.part("Claim (c)", lambda c_is: _decides("c", c_is))
published_tables.part("Claim (d)", lambda d_is: _decides("d", d_is))
published_tables.part("Claim (e)", lambda e_is: _decides("e", e_is))
published_tables.part("Claim (f)", lambda f_is: _decides("f", f_is))
