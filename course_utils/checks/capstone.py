"""Unit 12: backward passes are checked by finite differences, weights by evaluating them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.compare import as_array, close
from selfcheck.display import show, show_at
from selfcheck.exercises import exercise
from selfcheck.kinds import Formula, FormulaAnswer, Function, RealNumber, StudentId
from selfcheck.meter import measure
from selfcheck.refusals import Unreadable
from selfcheck.sampling import cases, magnitude, numbers, sizes
from selfcheck.verdicts import Verdict, differs, keeping, partly, right, wrong

from ..attention import attention_weights, softmax
from ..numbers.capstone import BACKWARD_LINES, BUGS, capstone
from ..transformer import (
    FixedState,
    Model,
    from_text,
    next_logits,
    pick,
    training_and_held_out,
)
from .transformers_are_rnns import state_size

Arrays = tuple[np.ndarray, ...]


class Slopes(NamedTuple):
    """A gradient as the definition gives it, and how far rounding may have moved it."""

    values: np.ndarray
    noise: float


def slopes(f: Callable[..., Any], arrays: Sequence[Any], position: int = 0) -> Slopes:
    """Each entry of one array turned up and down by a little, and how much f changes."""
    x = np.array(arrays[position], dtype=float)
    step = 1e-5 * float(np.clip(np.abs(x).max(), 1e-3, 1))

    def at(place: tuple[int, ...], change: float) -> float:
        turned = x.copy()
        turned[place] += change
        return float(f(*arrays[:position], turned, *arrays[position + 1 :]))

    pairs = np.array([(at(place, step), at(place, -step)) for place in np.ndindex(x.shape)])
    values = (pairs[:, 0] - pairs[:, 1]).reshape(x.shape) / (2 * step)
    return Slopes(values, 1e-14 * (1 + float(np.abs(pairs).max())) / step)


def off(measured: Slopes, answer: np.ndarray, **about: Any) -> Verdict | None:
    """The refutation if a gradient is not the measured one, up to rounding; else None."""
    gap = np.abs(measured.values - answer)
    if (gap <= measured.noise).all():
        return None
    return differs(measured.values, answer, **about)


# -- 12.1: softmax with cross-entropy --------------------------------------------------------------


def surprise(z: np.ndarray, y: int) -> float:
    """−log p_y for one row of logits."""
    return float(np.log(np.exp(z - z.max()).sum()) - (z[y] - z.max()))


def entropy_slopes(Z: np.ndarray, y: np.ndarray) -> Slopes:
    """The gradient of the mean surprise by all logits, row by row."""
    rows = [slopes(surprise, row) for row in zip(Z, y, strict=True)]
    noise = max(row.noise for row in rows)
    return Slopes(np.array([row.values for row in rows]) / len(Z), noise / len(Z))


LOGITS: list[Arrays] = [
    (np.array([[0.0, 1.0, -1.0]]), np.array([0])),
    (np.array([[1.0, 2.0], [0.5, -0.5], [0.0, 3.0]]), np.array([1, 1, 0])),
]


def any_logits(rng: np.random.Generator, least: int = 1) -> Arrays:
    """Logits of any size, moderate ones."""
    n, levels = sizes(rng, 2, least, 24)
    return numbers(rng, n, levels, largest=3), rng.integers(0, levels, n)


def large_logits(rng: np.random.Generator) -> Arrays:
    """Logits beyond what exp can take."""
    n, levels = sizes(rng, 2, low=2, high=12)
    return numbers(rng, n, levels) + 900, rng.integers(0, levels, n)


@exercise
def entropy_gradient(
    d_logits: Annotated[FunctionAnswer, Function(samples=LOGITS)],
) -> Verdict:
    """Write the gradient of the mean cross-entropy by the logits, for n rows of them."""
    for Z, y in cases(LOGITS, any_logits, partial(any_logits, least=17), large_logits):
        answer = d_logits.array(Z, y, shape=Z.shape)
        at = f"With the logits {show(Z)} and the true levels {show(y)}"
        if verdict := off(entropy_slopes(Z, y), answer, at=at, what="the gradient"):
            return verdict
    return right("At 8 sizes the definition measures these slopes, for large logits too.")


entropy_gradient.add_hints(
    "For one row it is p_i − [i = y]: the chances, and 1 less at the true level.",
    "The loss is the mean over n rows. What does that do to each row's gradient?",
    "`softmax` of the package stays finite for large logits; `np.arange(levels) == y[:, None]` is "
    "True at the true levels.",
)
entropy_gradient.forbid("autodiff.cross_entropy", "autodiff.gradients", "rnn.finite_differences")


def _hot(Z, y):
    return np.arange(Z.shape[1]) == y[:, None]


@entropy_gradient.mistake(
    "the sign turned around",
    "Where the model gives the true level too small a chance, a larger logit lowers the loss: the "
    "gradient is negative there.",
)
def _turned_around(Z, y):
    return (_hot(Z, y) - softmax(Z)) / len(Z)


@entropy_gradient.mistake(
    "a sum in place of a mean",
    "The loss is the mean over the rows, so a row counts with 1/n.",
)
def _summed(Z, y):
    return softmax(Z) - _hot(Z, y)


@entropy_gradient.mistake(
    "divided by all entries",
    "The mean runs over n rows, one −log p each, and not over all n × levels logits.",
)
def _over_all(Z, y):
    return (softmax(Z) - _hot(Z, y)) / Z.size


@entropy_gradient.mistake(
    "the true level forgotten",
    "These are the chances alone. At the true level −z_y stands in the loss, and takes 1 away.",
)
def _chances(Z, y):
    return softmax(Z) / len(Z)


@entropy_gradient.mistake(
    "the gradient by the chances",
    "−1/p at the true level is the slope by p. The softmax lies between p and the logits.",
)
def _by_chances(Z, y):
    return -1.0 * _hot(Z, y) / softmax(Z) / len(Z)


@entropy_gradient.mistake(
    "softmax over the wrong axis",
    "Each row of logits has its own chances, which sum to 1 along the row.",
)
def _over_rows(Z, y):
    return (softmax(Z, axis=0) - _hot(Z, y)) / len(Z)


def _unshifted(Z, y):
    p = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    return (p - _hot(Z, y)) / len(Z)


entropy_gradient.mistake(
    "exp of large logits",
    "exp(900) is too large for a floating-point number. Take the largest logit of the row away "
    "before exp; the chances stay the same.",
    example=(_unshifted,),
    not_finite=True,
)


# -- 12.2: layer norm ------------------------------------------------------------------------------

EPSILON = 1e-5


def normed_rows(X: np.ndarray) -> np.ndarray:
    """Each row less its mean, over √(variance + ε)."""
    centered = X - X.mean(axis=-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(axis=-1, keepdims=True) + EPSILON)


def spread_rows(rng: np.random.Generator, least: int = 1, most: int = 12) -> Arrays:
    """Rows whose entries are not all alike, of any size; now and then small or large."""
    n, d = sizes(rng, 2, least, most)
    X = rng.normal(size=(n, d + 2)).round(2)
    X[:, 0] += 3
    return X * magnitude(rng, 0.01, 100), numbers(rng, d + 2), numbers(rng, n, d + 2)


MANY_ROWS = partial(spread_rows, least=17, most=24)
NORM: list[Arrays] = [
    (np.array([[1.0, 2.0, 6.0]]), np.array([1.0, 1.0, 1.0]), np.array([[1.0, 0.0, 0.0]])),
    (
        np.array([[1.0, -1.0, 3.0], [2.0, 5.0, 4.0]]),
        np.array([2.0, -1.0, 1.0]),
        np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]]),
    ),
]


def _loss_of_norm(X: np.ndarray, gain: np.ndarray, G: np.ndarray) -> float:
    return float((G * (normed_rows(X) * gain)).sum())


@exercise
def norm_gradient(
    d_x: Annotated[FunctionAnswer, Function(samples=NORM)],
    d_gain: Annotated[FunctionAnswer, Function(samples=[(X, G) for X, _, G in NORM])],
) -> Verdict:
    """Write the gradients of layer norm by its input and by its gain."""
    return right("At 8 sizes the definition measures both gradients.")


@norm_gradient.part("By the input", points=2)
def _by_input(d_x: FunctionAnswer) -> Verdict:
    for X, gain, G in cases(NORM, *[spread_rows] * 5, MANY_ROWS):
        answer = d_x.array(X, gain, G, shape=X.shape)
        measured = slopes(_loss_of_norm, [X, gain, G], 0)
        at = f"with X = {show(X)}, the gain {show(gain)} and G = {show(G)}"
        if verdict := off(measured, answer, at=at, what="the gradient"):
            return verdict
    return right()


@norm_gradient.part("By the gain")
def _by_gain(d_gain: FunctionAnswer) -> Verdict:
    for X, gain, G in cases(NORM, *[spread_rows] * 5, MANY_ROWS):
        answer = d_gain.array(X, G, shape=gain.shape)
        measured = slopes(_loss_of_norm, [X, gain, G], 1)
        if verdict := off(measured, answer, at=f"with X = {show(X)} and G = {show(G)}"):
            return verdict
    return right()


norm_gradient.add_hints(
    "The gain comes first on the way back: h = G · gain is the gradient by x̂.",
    "Section 2.2 of the lecture: (h − mean of h − x̂ · mean of h x̂)/σ, with means over each row.",
    "The gain was used in every row, so its gradient is a sum over the rows.",
)
norm_gradient.forbid("autodiff.layer_norm", "autodiff.gradients", "rnn.finite_differences")


def _sigma(X):
    return np.sqrt(X.var(axis=1, keepdims=True) + EPSILON)


def _mean(A):
    return A.mean(axis=1, keepdims=True)


INPUT = "By the input"


@norm_gradient.mistake(
    "mean and σ taken for constants",
    "Both depend on every entry of the row. Two of three ways to the loss are missing.",
    part=INPUT,
)
def _constants(X, gain, G):
    return G * gain / _sigma(X)


@norm_gradient.mistake(
    "the way through σ forgotten",
    "The mean is there, but σ depends on x as well: the part of the gradient along x̂ has to go.",
    part=INPUT,
)
def _without_sigma(X, gain, G):
    return (G * gain - _mean(G * gain)) / _sigma(X)


@norm_gradient.mistake(
    "the way through the mean forgotten",
    "σ is there, but the mean depends on x as well: the mean of the gradient has to go.",
    part=INPUT,
)
def _without_mean(X, gain, G):
    hat = normed_rows(X)
    return (G * gain - hat * _mean(G * gain * hat)) / _sigma(X)


@norm_gradient.mistake(
    "the gain forgotten",
    "The output is x̂ times the gain, so the gradient by x̂ is G times the gain.",
    part=INPUT,
)
def _without_gain(X, gain, G):
    hat = normed_rows(X)
    return (G - _mean(G) - hat * _mean(G * hat)) / _sigma(X)


@norm_gradient.mistake(
    "σ forgotten",
    "The bracket is right. x̂ moves by 1/σ when x moves by 1.",
    part=INPUT,
)
def _undivided(X, gain, G):
    h, hat = G * gain, normed_rows(X)
    return h - _mean(h) - hat * _mean(h * hat)


@norm_gradient.mistake(
    "sums in place of means",
    "The mean of n numbers moves by 1/n when one of them moves by 1.",
    part=INPUT,
)
def _sums(X, gain, G):
    h, hat, d = G * gain, normed_rows(X), X.shape[1]
    return (h - d * _mean(h) - hat * d * _mean(h * hat)) / _sigma(X)


@norm_gradient.mistake(
    "a mean over the rows",
    "Every row uses the same gain, and their gradients add up.",
    part="By the gain",
)
def _gain_mean(X, G):
    return (G * normed_rows(X)).mean(axis=0)


@norm_gradient.mistake(
    "x in place of x̂",
    "What meets the gain is x̂, centered and scaled, and not x.",
    part="By the gain",
)
def _gain_raw(X, G):
    return (G * X).sum(axis=0)


@norm_gradient.mistake(
    "the gradient of the shift",
    "This is the gradient of something that is added. The gain is multiplied with x̂.",
    part="By the gain",
)
def _gain_shift(X, G):
    return G.sum(axis=0)


# -- 12.3: linear attention that forgets -----------------------------------------------------------


def attended(Q: np.ndarray, K: np.ndarray, V: np.ndarray, gamma: float) -> np.ndarray:
    """Causal linear attention in which a token fades by γ a step; Q and K are features."""
    rows = []
    for i, q in enumerate(Q):
        weights = gamma ** np.arange(i, -1, -1) * (K[: i + 1] @ q)
        rows.append(weights @ V[: i + 1] / weights.sum())
    return np.array(rows)


def any_features(rng: np.random.Generator, tokens: int = 0) -> tuple:
    """Features above zero, values and a gradient, every size another, and how fast they fade."""
    n, m, width = (tokens, 2, 3) if tokens else sizes(rng, 3, high=9)
    Q, K = (rng.uniform(0.2, 3, (n, m)).round(2) for _ in range(2))
    gamma = float(rng.choice([0.3, 0.5, 0.8, 0.95, 1.0]))
    return Q, K, numbers(rng, n, width), numbers(rng, n, width), gamma


FEATURES: list[tuple] = [
    (
        np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]),
        np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 3.0]]),
        np.array([[8.0, 0.0], [0.0, 8.0], [5.0, 3.0]]),
        np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]),
        0.5,
    ),
    (*(np.array([[value]]) for value in (2.0, 1.0, 3.0, 1.0)), 0.9),
]


@exercise
def attention_gradient(
    d_v: Annotated[FunctionAnswer, Function(samples=FEATURES)],
    d_k: Annotated[FunctionAnswer, Function(samples=FEATURES)],
) -> Verdict:
    """Write the gradients of linear attention that forgets, by the values and by the keys."""
    return right("At 8 sizes the definition measures both gradients.")


@attention_gradient.part("By the values")
def _by_values(d_v: FunctionAnswer) -> Verdict:
    return _attention_slopes(d_v, 2)


@attention_gradient.part("By the keys", points=2)
def _by_keys(d_k: FunctionAnswer) -> Verdict:
    return _attention_slopes(d_k, 1)


def _loss_of_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, G: np.ndarray, gamma: float
) -> float:
    return float((G * attended(Q, K, V, gamma)).sum())


def _attention_slopes(answer: FunctionAnswer, position: int) -> Verdict:
    for Q, K, V, G, gamma in cases(FEATURES, *[any_features] * 5, partial(any_features, tokens=20)):
        arrays = [Q, K, V, G, gamma]
        found = answer.array(*arrays, shape=arrays[position].shape)
        at = f"with Q = {show(Q)}, K = {show(K)}, V = {show(V)}, G = {show(G)} and γ = {gamma}"
        measured = slopes(_loss_of_attention, arrays, position)
        if verdict := off(measured, found, at=at, what="the gradient"):
            return verdict
    return right()


attention_gradient.add_hints(
    "v_j is in y_i for all i ≥ j, with its weight γ^(i−j) q_iᵀk_j over the sum of these: its "
    "gradient adds up the g_i with these weights.",
    "With a matrix that has γ^(i−j) below and on the diagonal and 0 above it, times Q @ K.T, all "
    "of this is products of matrices. The same matrix works on the way back.",
    "k_j stands above and below the fraction line: by the quotient rule the slope by q_iᵀk_j is "
    "γ^(i−j) (g_iᵀv_j − g_iᵀy_i) over the sum of the weights.",
)
attention_gradient.forbid(
    "autodiff.causal_linear_attention", "autodiff.gradients", "rnn.finite_differences"
)


def _fading(n, gamma):
    age = np.subtract.outer(np.arange(n), np.arange(n))
    return np.where(age >= 0, gamma ** np.maximum(age, 0), 0.0)


def _similar(Q, K, gamma):
    return _fading(len(Q), gamma) * (Q @ K.T)


def _total(Q, K, gamma):
    return _similar(Q, K, gamma).sum(axis=1, keepdims=True)


def _pairs(Q, K, V, G, gamma, y):
    """The slopes by q_iᵀk_j."""
    along = (G * y).sum(axis=1, keepdims=True)
    return _fading(len(Q), gamma) * (G @ V.T - along) / _total(Q, K, gamma)


VALUES, KEYS = "By the values", "By the keys"


@attention_gradient.mistake(
    "the mask in the wrong direction",
    "v_j is seen by the tokens i ≥ j. This adds up the tokens before it.",
    part=VALUES,
)
def _forward_mask(Q, K, V, G, gamma):
    return _similar(Q, K, gamma) / _total(Q, K, gamma) @ G


@attention_gradient.mistake(
    "the fading forgotten",
    "The weight of token j in y_i has the factor γ^(i−j), on the way back as on the way forward.",
    part=VALUES,
)
def _unfaded(Q, K, V, G, gamma):
    return (np.tril(Q @ K.T) / np.tril(Q @ K.T).sum(axis=1, keepdims=True)).T @ G


@attention_gradient.mistake(
    "not normalized",
    "Each g_i has to be divided by the sum of the weights of token i.",
    part=VALUES,
)
def _not_normalized(Q, K, V, G, gamma):
    return _similar(Q, K, gamma).T @ G


@attention_gradient.mistake(
    "divided by the wrong token's sum",
    "The denominator belongs to the query i that looks, and not to the value j that is seen.",
    part=VALUES,
)
def _wrong_sum(Q, K, V, G, gamma):
    return (_similar(Q, K, gamma).T @ G) / _total(Q, K, gamma)


@attention_gradient.mistake(
    "the denominator taken for a constant",
    "k_j is in the denominator as well. The quotient rule brings a second term, −g_iᵀy_i.",
    part=KEYS,
)
def _constant_sum(Q, K, V, G, gamma):
    return _pairs(Q, K, V, G, gamma, np.zeros_like(G)).T @ Q


@attention_gradient.mistake(
    "the sign of the second term",
    "A larger denominator makes the output smaller: the second term is taken away.",
    part=KEYS,
)
def _plus(Q, K, V, G, gamma):
    return _pairs(Q, K, V, G, gamma, -attended(Q, K, V, gamma)).T @ Q


@attention_gradient.mistake(
    "the mask forgotten on the way back",
    "The slopes by q_iᵀk_j are 0 where j > i: these pairs were masked on the way forward.",
    part=KEYS,
)
def _unmasked(Q, K, V, G, gamma):
    age = np.subtract.outer(np.arange(len(Q)), np.arange(len(Q)))
    along = (G * attended(Q, K, V, gamma)).sum(axis=1, keepdims=True)
    return (gamma**age * (G @ V.T - along) / _total(Q, K, gamma)).T @ Q


@attention_gradient.mistake(
    "the fading forgotten on the way back",
    "The outputs fade, and so do the slopes by q_iᵀk_j: each has the factor γ^(i−j).",
    part=KEYS,
)
def _unfaded_back(Q, K, V, G, gamma):
    along = (G * attended(Q, K, V, gamma)).sum(axis=1, keepdims=True)
    return (np.tril(G @ V.T - along) / _total(Q, K, gamma)).T @ Q


@attention_gradient.mistake(
    "the gradient by the queries",
    "These slopes are met with the keys, which gives the gradient by q_i. For k_j they are turned "
    "around and met with the queries.",
    part=KEYS,
)
def _by_queries(Q, K, V, G, gamma):
    return _pairs(Q, K, V, G, gamma, attended(Q, K, V, gamma)) @ K


# -- 12.4: a planted bug ---------------------------------------------------------------------------


def worksheet(student: Any) -> list[str]:
    """Six lines of a backward pass for this student; one of them is wrong."""
    return list(capstone(student).lines)


def run_lines(lines: list[str], Q: Any, K: Any, V: Any, G: Any) -> tuple[Any, Any, Any]:
    """What the lines compute: d_Q, d_K and d_V."""
    names = {"np": np, "attention_weights": attention_weights, "Q": Q, "K": K, "V": V, "G": G}
    exec("\n".join(lines), names)
    return names["d_Q"], names["d_K"], names["d_V"]


def softmax_slopes(arrays: Arrays) -> list[Slopes]:
    """The gradients of Σ G·softmax(QKᵀ/√m)V by Q, K and V, as the definition has them."""

    def loss(Q: np.ndarray, K: np.ndarray, V: np.ndarray, G: np.ndarray) -> float:
        return float((G * (attention_weights(Q, K) @ V)).sum())

    return [slopes(loss, arrays, position) for position in range(3)]


def any_attention(rng: np.random.Generator, tokens: int = 0) -> Arrays:
    """Queries, as many keys, values and a gradient, every size another."""
    n, m, width = (tokens, 3, 2) if tokens else sizes(rng, 3, low=2, high=8)
    return numbers(rng, n, m), numbers(rng, n, m), numbers(rng, n, width), numbers(rng, n, width)


PAGE = any_attention(np.random.default_rng(2))


@exercise(numbers=capstone)
def planted_bug(
    student: StudentId,
    line: RealNumber,
    repaired: Annotated[FunctionAnswer, Function(samples=[PAGE])],
) -> Verdict:
    """Find the line of a backward pass that is wrong, and write the pass as it should be."""
    return right("With that line mended, all three gradients are those of the definition.")


@planted_bug.part("The line")
def _line(student: str, line: float) -> Verdict:
    lines = worksheet(student)
    if line not in range(1, len(lines) + 1):
        says = f"the lines have the numbers 1 to {len(lines)}, and {show(line)} is none of them."
        return wrong(says, at="no line", yours=line)
    number = int(line)
    mended = [*lines[: number - 1], BACKWARD_LINES[number - 1], *lines[number:]]
    names = ("d_Q", "d_K", "d_V")
    pairs = zip(names, softmax_slopes(PAGE), run_lines(mended, *PAGE), strict=True)
    wrong_ones = [name for name, measured, found in pairs if off(measured, found)]
    if wrong_ones:
        which = " and ".join(wrong_ones) + (" differs" if len(wrong_ones) == 1 else " differ")
        says = f"with line {number} mended, {which} from the definition as before."
        return wrong(says, at="mended", yours=line)
    return right()


@planted_bug.part("The repair")
def _repair(repaired: FunctionAnswer) -> Verdict:
    for Q, K, V, G in cases([PAGE], *[any_attention] * 5, partial(any_attention, tokens=20)):
        result = repaired(Q, K, V, G)
        call = repaired.call(Q, K, V, G)
        if not isinstance(result, tuple | list) or len(result) != 3:
            raise Unreadable(f"{call} should return three arrays: d_Q, d_K and d_V.")
        measured = softmax_slopes((Q, K, V, G))
        for name, slope, found in zip(("d_Q", "d_K", "d_V"), measured, result, strict=True):
            given = as_array(found, slope.values.shape, f"{name} of {call}", finite=False)
            at = f"with Q = {show(Q)}, K = {show(K)}, V = {show(V)} and G = {show(G)}"
            if verdict := off(slope, given, at=at, what=name, whole=result):
                return verdict
    return right()


planted_bug.add_hints(
    "Run the lines on small random arrays, and compare d_Q, d_K and d_V with finite differences. "
    "Which of them are off?",
    "If d_V alone is off, it is its own line. If d_Q and d_K both are, it is a line that both use.",
    "A softmax pulls back A · (d_A − the sum of d_A · A over each row); the scores are divided by "
    "√m once, and that factor comes back once for Q and once for K.",
)
planted_bug.forbid(
    "autodiff.causal_attention", "autodiff.gradients", "block.backward", "rnn.finite_differences"
)


def _with(number, text):
    return lambda Q, K, V, G: run_lines(
        [*BACKWARD_LINES[: number - 1], text, *BACKWARD_LINES[number:]], Q, K, V, G
    )


REPAIR = "The repair"
planted_bug.mistake(
    "d_V without the transpose",
    "v_j gets what the rows i gave it, with the weights of column j: Aᵀ G.",
    part=REPAIR,
    example=(_with(*BUGS[0]),),
)
planted_bug.mistake(
    "√m where the values are",
    "The scores are divided by √m, not the values. Here d_Q and d_K have the factor twice.",
    part=REPAIR,
    example=(_with(*BUGS[1]),),
)
planted_bug.mistake(
    "the sum over the wrong axis",
    "The weights of one query sum to 1, along a row. So the sum runs along the row, too.",
    part=REPAIR,
    example=(_with(*BUGS[2]),),
)
planted_bug.mistake(
    "a plain mean",
    "What is taken away is the mean of d_A with the weights A, not the plain one.",
    part=REPAIR,
    example=(_with(*BUGS[3]),),
)
planted_bug.mistake(
    "√m forgotten in d_Q",
    "The scores are QKᵀ/√m, and the factor comes back with the gradient by Q.",
    part=REPAIR,
    example=(_with(*BUGS[4]),),
)
planted_bug.mistake(
    "d_K without the transpose",
    "k_j gets what the rows i gave it, through column j of d_S: d_Sᵀ Q.",
    part=REPAIR,
    example=(_with(*BUGS[5]),),
)


# -- 12.5: sizes of the model ----------------------------------------------------------------------

SIZES = Formula(m=range(2, 7), h=range(1, 5), L=range(1, 4))
READ = Formula(m=range(2, 7), h=range(1, 5), L=range(1, 4), t=range(1, 9))


def sized(point: dict[str, Any]) -> Model:
    """The model of the lecture with h heads of width m and L blocks."""
    m, h, blocks = (int(point[name]) for name in "mhL")
    return Model("linear", width=h * m, heads=h, blocks=blocks)


@cache
def _pixel_macs(model: Model) -> int:
    """Multiply–adds for one pixel by the state, as the meter counts them."""
    P = model.unpack(model.draw())

    def read(P: dict[str, np.ndarray]) -> np.ndarray:
        return next_logits(model, P, FixedState(model), np.zeros(1, dtype=int), 0)

    return measure(read, P).macs


def state_bytes(model: Model) -> int:
    """What the fixed state takes after a pixel, 8 bytes a number."""
    memory = FixedState(model)
    next_logits(model, model.unpack(model.draw()), memory, np.zeros(1, dtype=int), 0)
    return sum(s.nbytes for s in memory.s)


@exercise
def sizes_of_the_model(
    parameters: Annotated[FormulaAnswer, SIZES],
    multiply_adds: Annotated[FormulaAnswer, SIZES],
    state: Annotated[FormulaAnswer, SIZES],
    cache: Annotated[FormulaAnswer, READ],
) -> Verdict:
    """Count parameters, multiply–adds of a pixel, and bytes of the state and of a cache."""
    return right("Parameters were counted, work was metered, and memory was weighed, for 12 sizes.")


@sizes_of_the_model.part("Parameters")
def _parameters(parameters: FormulaAnswer) -> Verdict:
    return _as_counted(parameters, SIZES, lambda point: sized(point).size, "parameters")


@sizes_of_the_model.part("Multiply–adds")
def _work(multiply_adds: FormulaAnswer) -> Verdict:
    def count(point: dict) -> int:
        return _pixel_macs(sized(point))

    return _as_counted(multiply_adds, SIZES, count, "multiply–adds")


@sizes_of_the_model.part("Memory")
def _memory(state: FormulaAnswer, cache: FormulaAnswer) -> Verdict:
    verdict = _as_counted(state, SIZES, lambda p: state_bytes(sized(p)), "bytes in the state")
    if verdict != right():
        return verdict

    def count(point: dict) -> int:
        return 8 * int(point["L"] * 2 * point["t"] * point["h"] * point["m"])

    return _as_counted(cache, READ, count, "bytes in the cache")


def _as_counted(
    formula: FormulaAnswer, kind: Formula, count: Callable[[dict], int], what: str
) -> Verdict:
    for point in kind.points():
        counted, given = count(point), formula(**point)
        if not close(counted, given):
            says = f"at {show_at(point)} there are {counted:,} {what}; your formula gives "
            return wrong(f"{says}{show(given, 9)}.", at=show_at(point), yours=given)
    return right()


sizes_of_the_model.add_hints(
    "The width is d = h·m. Tables: 18 rows of gray levels (with the start) and 64 places. A block: "
    "four d×d matrices, d×2d and 2d×d, two norms with gain and shift. At the end a norm and d×17.",
    "For one pixel every matrix is met by one row: a d×d matrix takes d² multiply–adds. Per head, "
    "φ(k)v′ᵀ is added to the state, and φ(q) meets it: m·(m + 1) each.",
    "The state of a head is m×(m + 1) numbers, z included. A cache keeps d numbers of the key and "
    "d of the value, for each block and pixel.",
)

sizes_of_the_model.mistake(
    "the start token forgotten",
    "There are 17 gray levels and a start that stands before the first pixel: 18 rows.",
    part="Parameters",
    example=("8*L*(h*m)**2 + (100 + 4*L)*h*m",),
)
sizes_of_the_model.mistake(
    "the norms forgotten",
    "Each norm has a gain and a shift of d numbers: two norms a block, and one at the end.",
    part="Parameters",
    example=("8*L*(h*m)**2 + 99*h*m",),
)
sizes_of_the_model.mistake(
    "the last norm forgotten",
    "Before the logits there is a norm as well, with a gain and a shift.",
    part="Parameters",
    example=("8*L*(h*m)**2 + (99 + 4*L)*h*m",),
)
sizes_of_the_model.mistake(
    "the width of a head in place of all heads",
    "The matrices of a block are d×d with d = h·m: all heads side by side.",
    part="Parameters",
    example=("8*L*m**2 + (101 + 4*L)*m",),
)
sizes_of_the_model.mistake(
    "FLOPs in place of multiply–adds",
    "An addition and a multiplication count one together.",
    part="Multiply–adds",
    example=("2*(8*L*(h*m)**2 + 2*L*h*m*(m + 1) + 17*h*m)",),
)
sizes_of_the_model.mistake(
    "one use of the state of two",
    "A pixel writes φ(k)v′ᵀ into the state, and then φ(q) reads it: twice m·(m + 1) a head.",
    part="Multiply–adds",
    example=("8*L*(h*m)**2 + L*h*m*(m + 1) + 17*h*m",),
)
sizes_of_the_model.mistake(
    "the denominator forgotten",
    "z is a column of the state: m·(m + 1) in place of m².",
    part="Multiply–adds",
    example=("8*L*(h*m)**2 + 2*L*h*m**2 + 17*h*m",),
)
sizes_of_the_model.mistake(
    "the logits forgotten",
    "At the end a row of d numbers meets a d×17 matrix.",
    part="Multiply–adds",
    example=("8*L*(h*m)**2 + 2*L*h*m*(m + 1)",),
)
sizes_of_the_model.mistake(
    "one state for all heads",
    "Each head has a state of its own, m×(m + 1). One of d×(d + 1) would be that of a single head.",
    part="Memory",
    example=("8*L*h*m*(h*m + 1)", "16*L*t*h*m"),
)
sizes_of_the_model.mistake(
    "numbers in place of bytes",
    "Asked are bytes, and a number takes 8 of them.",
    part="Memory",
    example=("L*h*m*(m + 1)", "2*L*t*h*m"),
)
sizes_of_the_model.mistake(
    "z forgotten",
    "The denominators need z, m more numbers a head.",
    part="Memory",
    example=("8*L*h*m**2", "16*L*t*h*m"),
)
sizes_of_the_model.mistake(
    "keys without values",
    "A cache keeps keys and values.",
    part="Memory",
    example=("8*L*h*m*(m + 1)", "8*L*t*h*m"),
)


# -- 12.6: a baseline ------------------------------------------------------------------------------


def above(images: np.ndarray, levels: int, width: int) -> np.ndarray:
    """The level of the pixel above each one; in the first row it is a level of its own."""
    top = np.full((len(images), width), levels)
    return np.concatenate([top, images], axis=1)[:, : images.shape[1]]


def bits_by_above(training: np.ndarray, test: np.ndarray, levels: int, width: int) -> float:
    """−log₂ of how often a level stood below the one above it in training, each count from 1 on."""
    seen = np.ones((levels + 1, levels))
    np.add.at(seen, (above(training, levels, width), training), 1)
    bits = np.log2(seen.sum(axis=1, keepdims=True)) - np.log2(seen)
    return float(bits[above(test, levels, width), test].mean())


def pictures(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Training and test pictures of any size, with some levels that training never has."""
    train, test, width, rows = sizes(rng, 4, high=9)
    levels = int(rng.integers(2, 9))
    drawn = np.minimum(rng.integers(0, levels, (train, rows * width)), rng.integers(0, levels))
    return drawn, rng.integers(0, levels, (test, rows * width)), levels, width


FEW = [
    (np.array([[0, 2, 1, 2]]), np.array([[0, 0, 0, 0], [2, 2, 2, 2]]), 4, 2),
    (np.array([[0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 1, 0]]), np.array([[0, 0, 1, 1, 0, 1]]), 2, 2),
    (np.array([[0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 1, 0]]), np.array([[0, 0, 1, 1, 0, 1]]), 2, 3),
]


@exercise
def baseline(bits: Annotated[FunctionAnswer, Function(samples=FEW)]) -> Verdict:
    """Write the bits a pixel of the model that knows the pixel above, and nothing else."""
    for training, test, levels, width in cases(FEW, pictures):
        answer = bits.array(training, test, levels, width, shape=())
        at = f"With the training pictures {show(training)}, the test pictures {show(test)}, "
        at += f"{levels} levels and rows of {width}"
        expected = bits_by_above(training, test, levels, width)
        if verdict := differs(expected, answer, at=at, what="bits a pixel"):
            return verdict
    training, held_out = training_and_held_out()
    said = bits_by_above(training, held_out, 17, 8)
    answer = bits.array(training, held_out, 17, 8, shape=())
    if verdict := differs(said, answer, at=f"For the {len(held_out)} held-out digits"):
        return verdict
    return right(f"Pixel by pixel it is the same; held-out digits take {said:.2f} bits a pixel.")


baseline.add_hints(
    "One table for all places: a row for each level that may stand above, and one more for pixels "
    "of the first row, which have nothing above them. Every count starts at 1.",
    "The pixel above is `width` places earlier. Divide each row of the table by its sum.",
    "`np.add.at(counts, (upper, level), 1)` counts pairs, also those that come twice.",
)


def _table(training, levels, width, start=1.0):
    counts = np.full((levels + 1, levels), start)
    np.add.at(counts, (above(training, levels, width), training), 1)
    return counts / counts.sum(axis=1, keepdims=True)


def _read(table, test, levels, width, log=np.log2):
    return -log(table[above(test, levels, width), test]).mean()


@baseline.mistake(
    "natural logarithm", "That is in nats. A bit is counted with the logarithm to base 2."
)
def _nats(training, test, levels, width):
    return _read(_table(training, levels, width), test, levels, width, np.log)


baseline.mistake(
    "counts from 0 on",
    "A pair that never occurred in training then has chance 0, and the first surprise costs "
    "infinitely many bits. Begin every count at 1.",
    example=(
        lambda training, test, levels, width: _read(
            _table(training, levels, width, 0.0), test, levels, width
        ),
    ),
    when=lambda bits: not np.isfinite(bits(*FEW[0])),
    not_finite=True,
)


@baseline.mistake(
    "the pixel to the left",
    "The text runs row by row: the pixel above is `width` places earlier, not one.",
)
def _left(training, test, levels, width):
    return _read(_table(training, levels, 1), test, levels, 1)


@baseline.mistake(
    "divided by all pairs",
    "The chance is that of a level *given* the one above it: divide by the sum of its row, and "
    "not by the sum of the whole table.",
)
def _joint(training, test, levels, width):
    counts = np.ones((levels + 1, levels))
    np.add.at(counts, (above(training, levels, width), training), 1)
    return _read(counts / counts.sum(), test, levels, width)


@baseline.mistake(
    "a sum over the picture in place of a mean over the pixels",
    "Bits a pixel: divide by the number of all test pixels.",
)
def _bits_a_picture(training, test, levels, width):
    return _read(_table(training, levels, width), test, levels, width) * test.shape[1]


@baseline.mistake(
    "the training pictures evaluated",
    "This is what the training pictures take. Count in training, and evaluate on the test.",
)
def _of_training(training, test, levels, width):
    return _read(_table(training, levels, width), training, levels, width)


# -- 12.7: the fixed state -------------------------------------------------------------------------


def any_model(rng: np.random.Generator) -> tuple[Model, np.ndarray, np.ndarray]:
    """A small model, its weights, and numbers u for a picture."""
    m, heads, blocks = (int(rng.integers(1, high)) for high in (5, 4, 4))
    levels, length = int(rng.integers(2, 6)), int(rng.integers(2, 7))
    return _weighed(Model("linear", heads * m, heads, blocks, levels, length), rng)


def larger_picture(rng: np.random.Generator) -> tuple[Model, np.ndarray, np.ndarray]:
    """One block, for a picture of many more pixels."""
    return _weighed(Model("linear", width=6, heads=2, blocks=1, levels=3, length=52), rng)


def _weighed(model: Model, rng: np.random.Generator) -> tuple[Model, np.ndarray, np.ndarray]:
    theta = model.draw(int(rng.integers(10**6))) + 0.1 * rng.normal(size=model.size)
    return model, theta.round(3), rng.random(model.length).round(3)


def _drawn(seed: int, **sizes: int) -> tuple[Model, np.ndarray, np.ndarray]:
    model = Model("linear", **sizes)
    rng = np.random.default_rng(seed)
    return model, model.draw(seed).round(2), rng.random(model.length).round(2)


FIRST_MODELS = [
    _drawn(1, width=2, heads=1, blocks=1, levels=2, length=3),
    _drawn(2, width=6, heads=2, blocks=2, levels=3, length=4),
]


def masked_logits(model: Model, theta: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """What the masked form says after the last of these tokens."""
    return model.predict(theta, tokens[None])[0, -1]


def _one_pixel(step: FunctionAnswer, given: tuple, levels: int) -> tuple[Any, np.ndarray]:
    """The new state and the logits, or a sentence about what came instead."""
    result, call = step(*given), f"{step.name}(P, heads, state, {given[3]}, {given[4]})"
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise Unreadable(f"{call} should return two things: the new state and the logits.")
    return result[0], as_array(result[1], (levels,), f"The second result of {call}", finite=False)


def _written(start: FunctionAnswer, step: FunctionAnswer, case: tuple) -> Verdict | None:
    """A refutation where the logits or the pixels are not those of the masked form, else None."""
    model, theta, u = case
    P, tokens = model.unpack(theta), [model.levels]
    state = start(P, model.heads)
    for t in range(model.length):
        given = (P, model.heads, state, tokens[-1], t)
        state, logits = _one_pixel(step, given, model.levels)
        expected = masked_logits(model, theta, np.array(tokens))
        at = (
            f"In width {model.width} with {model.heads} heads and {model.blocks} blocks, after the "
        )
        at += f"tokens {show(tokens)}"
        if verdict := differs(expected, logits, at=at, what="the logits"):
            return verdict
        pixel, own = (int(pick(z[None], u[t : t + 1])[0]) for z in (expected, logits))
        if pixel != own:
            return wrong(f"{at}, u = {u[t]} gives {pixel} by the mask and {own} by the state.")
        tokens.append(pixel)
    return None


LENGTHS = 6, 24  # pixels


def _grows(start: FunctionAnswer, step: FunctionAnswer) -> Verdict | None:
    """A refutation if the state is larger after many pixels than after a few, or has room."""
    model, theta, _ = _drawn(3, width=4, heads=2, blocks=2, levels=3, length=LENGTHS[1])
    P = model.unpack(theta)
    state, held = start(P, model.heads), []
    for t in range(model.length):
        state, _ = _one_pixel(step, (P, model.heads, state, 0, t), model.levels)
        held.append(state_size(state))
    few, many = held[LENGTHS[0] - 1], held[-1]
    at = "In width 4 with 2 heads and 2 blocks your state holds"
    if many > few:
        says = f"{at} {few} numbers after {LENGTHS[0]} pixels, and {many} after {LENGTHS[1]}."
        return wrong(says, at="the size of the state")
    enough = model.blocks * model.heads * 2 * 3
    if many > 4 * enough + 16:
        says = f"{at} {many} numbers from the start; {enough} are enough."
        return wrong(says, at="the size of the state")
    return None


@exercise
def fixed_state(
    start: Annotated[FunctionAnswer, Function()], step: Annotated[FunctionAnswer, Function()]
) -> Verdict:
    """Write the trained transformer as an RNN: a state of fixed size, one pixel at a time."""
    for case in cases(FIRST_MODELS, *[any_model] * 4, larger_picture, fresh=5):
        if verdict := _written(start, step, case):
            return verdict
    if verdict := _written(start, step, FIRST_MODELS[1]):  # a second picture begins anew
        return verdict
    says = (
        "For 7 models the logits and all pixels are those of the masked form, and the state does "
    )
    return keeping(
        2,
        "The pixels are right.",
        lambda: _grows(start, step) or right(f"{says}not grow."),
    )


fixed_state.add_hints(
    "Follow the model from below: token and place, and in each block norm, q k v, attention, `o`, "
    "add; norm, `up`, relu, `down`, add; then the last norm and `out`. `normed` does a norm.",
    "`(a @ P['0.q']).reshape(heads, -1)` has a row for each head. For each block and head keep the "
    "sum of φ(k)vᵀ and the sum of φ(k).",
    "A pixel first adds its own φ(k)vᵀ and φ(k), then asks: φ(q)ᵀs / φ(q)ᵀz. The number of blocks "
    "can be read from the names in P.",
)
fixed_state.forbid(
    "transformer.FixedState",
    "transformer.next_logits",
    "transformer.write",
    "transformer.Model",
    "autodiff.causal_linear_attention",
    "attention.causal_linear_attention",
    "attention.LinearAttentionState",
)


def _features(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def _norm(x, gain, shift):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * gain + shift


def _blocks(P):
    return sum(name.endswith(".q") for name in P)


def _empty(P, heads):
    m = P["token"].shape[1] // heads
    return [(np.zeros((heads, m, m)), np.zeros((heads, m))) for _ in range(_blocks(P))]


def _stepper(attend, norm=_norm, place=lambda P, t: P["place"][t], scale=1.0):
    """A step whose parts can be exchanged for wrong ones."""

    def step(P, heads, state, token, t):
        h, new = P["token"][token] + place(P, t), []
        for b in range(_blocks(P)):
            a = norm(h, P[f"{b}.gain"], P[f"{b}.shift"])
            q, k, v = ((a @ P[f"{b}.{name}"]).reshape(heads, -1) for name in "qkv")
            kept, y = attend(state[b], q, k, v)
            new.append(kept)
            h = scale * h + y.ravel() @ P[f"{b}.o"]
            a = norm(h, P[f"{b}.gain2"], P[f"{b}.shift2"])
            h = scale * h + np.maximum(a @ P[f"{b}.up"], 0) @ P[f"{b}.down"]
        return new, norm(h, P["gain"], P["shift"]) @ P["out"]

    return step


def _added(state, q, k, v):
    s, z = state
    s, z = s + _features(k)[:, :, None] * v[:, None, :], z + _features(k)
    f = _features(q)
    return (s, z), np.einsum("hm,hml->hl", f, s) / (f * z).sum(axis=1, keepdims=True)


def _asks_first(state, q, k, v):
    s, z = state
    new, _ = _added(state, q, k, v)
    f = _features(q)
    below = (f * z).sum(axis=1, keepdims=True)
    before = np.einsum("hm,hml->hl", f, s) / np.where(below == 0, 1, below)
    return new, before


def _growing(state, q, k, v):
    keys, values = [*state[0], _features(k)], [*state[1], v]
    weights = np.einsum("thm,hm->th", np.array(keys), _features(q))
    y = np.einsum("th,thl->hl", weights, np.array(values)) / weights.sum(axis=0)[:, None]
    return (keys, values), y


def _undivided_sums(state, q, k, v):
    new, _ = _added(state, q, k, v)
    return new, np.einsum("hm,hml->hl", _features(q), new[0])


def _raw(state, q, k, v):
    s, z = state
    s, z = s + k[:, :, None] * v[:, None, :], z + k
    return (s, z), np.einsum("hm,hml->hl", q, s) / (q * z).sum(axis=1, keepdims=True)


fixed_state.mistake(
    "a state that grows",
    "The pixels are right, but all keys and values are kept: that is a cache. Two sums for each "
    "block and head are enough.",
    example=(lambda P, heads: [([], []) for _ in range(_blocks(P))], _stepper(_growing)),
    when=lambda start, step: _grows(start, step) is not None,
)
fixed_state.mistake(
    "asked before it was written",
    "A pixel sees itself: add its φ(k)vᵀ and φ(k) to the sums first, then ask.",
    example=(_empty, _stepper(_asks_first)),
)
fixed_state.mistake(
    "not normalized",
    "This is φ(q)ᵀs, the numerator. Divide each head by its φ(q)ᵀz.",
    example=(_empty, _stepper(_undivided_sums)),
)
fixed_state.mistake(
    "φ forgotten",
    "Queries and keys go through φ = elu + 1 before they meet.",
    example=(_empty, _stepper(_raw)),
)
fixed_state.mistake(
    "the place forgotten",
    "A token comes with its place: P['token'][token] + P['place'][t].",
    example=(_empty, _stepper(_added, place=lambda P, t: 0.0)),
)
fixed_state.mistake(
    "blocks that do not add",
    "Attention and feed-forward are added to h; they do not replace it.",
    example=(_empty, _stepper(_added, scale=0.0)),
)
fixed_state.mistake(
    "the norms forgotten",
    "Attention and feed-forward see the normed row, and so do the logits.",
    example=(_empty, _stepper(_added, norm=lambda x, gain, shift: x)),
)


# -- 12.8: an open task ----------------------------------------------------------------------------

SMALL = Model("linear", width=16, heads=2, blocks=1)
TABLE, GOAL = 2.25, 2.0  # bits a pixel: the table of the pixel before, and what is asked for


class Weights:
    """Weights of the small model, as `as_text` gives them, or as an array."""

    def read(self, answer: Any, name: str) -> np.ndarray:
        """θ as numbers of 16 bits, which is what the text holds."""
        if isinstance(answer, str):
            try:
                answer = from_text(answer)
            except ValueError as error:
                raise Unreadable(f"{name} cannot be read. {error}") from None
        theta = as_array(answer, (SMALL.size,), name)
        with np.errstate(over="ignore"):
            return as_array(theta.astype(np.float16), (SMALL.size,), name)

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Are these the same weights?"""
        return close(a, b)


@exercise
def trained(weights: Annotated[np.ndarray, Weights()]) -> Verdict:
    """Train the small model until held-out digits take at most 2.00 bits a pixel."""
    _, held_out = training_and_held_out()
    bits = SMALL.bits(weights, held_out)
    if not bits < np.log2(SMALL.levels):
        says = (
            f"The held-out digits take {bits:.2f} bits a pixel with these weights, no fewer than "
        )
        return wrong(f"{says}with no knowledge at all.", at="held out", yours=bits)
    seen = f"With these weights the {len(held_out)} held-out digits take {bits:.3f} bits a pixel"
    if bits > TABLE:
        says = f"{seen}; the table of the pixel before, without any network, takes {TABLE}."
        return wrong(says, at="held out", yours=bits)
    if bits > GOAL:
        return partly(1, f"{seen}: better than any table. Asked for are {GOAL:.2f}.")
    return right(f"{seen}.")


trained.add_hints(
    "`train(model, training, 500)` takes some seconds and gets below 2.25. And with more steps?",
    "Look at the step size: `rate=1e-2` is not too large for so small a model.",
    "2,000 steps are enough, less than a minute on most machines. With `report` you can print "
    "`model.bits(theta, held_out)` now and then.",
)
trained.mistake(
    "not trained",
    "These weights are as they were drawn, or the training went astray: a model that gives each of "
    "17 levels the same chance needs 4.09 bits.",
    example=(SMALL.draw(),),
    when=lambda theta: SMALL.bits(theta, training_and_held_out()[1]) > np.log2(SMALL.levels),
)
