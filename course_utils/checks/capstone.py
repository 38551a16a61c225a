"""Unit 12: backward passes are compared with exact ones, weights judged by what they write."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import numpy as np

from selfcheck.calls import FunctionAnswer, in_a_row
from selfcheck.cards import counted
from selfcheck.compare import as_array, close
from selfcheck.corners import excluding
from selfcheck.display import show, show_apart, show_at
from selfcheck.exercises import exercise
from selfcheck.kinds import Formula, FormulaAnswer, Function, OfNumbers, RealNumber, StudentId
from selfcheck.meter import measure
from selfcheck.per_case import each
from selfcheck.refusals import Unreadable
from selfcheck.sampling import cases, magnitude, numbers, sizes, surveyed, tried
from selfcheck.verdicts import Verdict, differs, keeping, partly, right, where, wrong

from ..attention import attention_weights, softmax
from ..numbers.capstone import BACKWARD_LINES, capstone
from ..transformer import FixedState, Model, from_text, next_logits, shipped, training_and_held_out
from .transformers_are_rnns import REMEMBERS, remembers_elsewhere, state_size

Arrays = tuple[np.ndarray, ...]


SINGLE = 2e-5  # relative: numbers of 32 bits, as the lecture trains with


def off(
    expected: np.ndarray, answer: np.ndarray, terms: float = 1.0, **about: Any
) -> Verdict | None:
    """The refutation if a gradient is not the exact one, up to the rounding of its terms."""
    rounding = 3e-7 * max(terms, float(np.abs(expected).max(initial=0.0)))
    if surveyed() is None and (np.abs(expected - answer) <= rounding).all():
        return None
    return differs(expected, answer, tolerance=SINGLE, **about)


# -- 12.1: softmax with cross-entropy --------------------------------------------------------------


def entropy_gradients(Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient of the mean of −log p_y by all logits."""
    return (softmax(Z) - np.eye(Z.shape[1])[y]) / len(Z)


LOGITS: list[Arrays] = [
    (np.array([[0.0, 1.0, -1.0]]), np.array([0])),
    (np.array([[1.0, 2.0], [0.5, -0.5], [0.0, 3.0]]), np.array([1, 1, 0])),
]


def any_logits(rng: np.random.Generator) -> Arrays:
    """Logits of any size, moderate ones."""
    n, levels = sizes(rng, 2, high=40)
    return numbers(rng, n, levels, largest=3), rng.integers(0, levels, n)


def large_logits(rng: np.random.Generator) -> Arrays:
    """Logits up to ±900, near to each other or not, each row at its own level."""
    n, levels = sizes(rng, 2, high=12)
    rows, within = rng.choice([-900, 0, 900], (n, 1)), rng.choice([2, 450])
    apart = (8 * numbers(rng, n, levels, largest=within)).round() / 8  # exact in 32 bits
    return np.clip(apart + rows, -900, 900), rng.integers(0, levels, n)


FAR_APART: list[Arrays] = [
    (np.array([[-900.0, -899.0], [900.0, 899.0], [0.0, 0.0]]), np.array([0, 1, 0])),
    (np.array([[900.0, 0.0, 0.0], [0.0, 1.0, 2.0]]), np.array([0, 2])),
    (np.array([[0.0, 900.0, 0.0]]), np.array([1])),
    (np.array([[900.0, 0.0, 0.0, 0.0, 0.0]]), np.array([2])),
]


@exercise
@each([*LOGITS, *FAR_APART], any_logits, large_logits)
def entropy_gradient(
    d_logits: Annotated[FunctionAnswer, Function(samples=LOGITS)], *, Z, y
) -> Verdict | None:
    """Write the gradient of the mean cross-entropy by the logits, for n rows of them."""
    answer = d_logits.array(Z, y, shape=Z.shape)
    at = where("With the logits {} and the true levels {}", Z, y)
    return off(entropy_gradients(Z, y), answer, at=at, what="the gradient")


# -- 12.2: layer norm ------------------------------------------------------------------------------

EPSILON = 1e-5
ALIKE = "Where all entries of a row are alike, rounding decides what is left of them."


def normed_rows(X: np.ndarray) -> np.ndarray:
    """Each row less its mean, over √(variance + ε)."""
    centered = X - X.mean(axis=-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(axis=-1, keepdims=True) + EPSILON)


@excluding(zero=ALIKE, same=ALIKE, large=ALIKE)
def spread_rows(rng: np.random.Generator) -> Arrays:
    """Rows whose entries are not all alike, of any size; now and then small or large."""
    (n,), (d,) = sizes(rng, 1), sizes(rng, 1, low=3)
    X = rng.normal(size=(n, d)).round(2)
    X[:, 0] += 3
    return X * magnitude(rng, 0.01, 100), numbers(rng, d), numbers(rng, n, d)


NORM: list[Arrays] = [
    (np.array([[1.0, 2.0, 6.0]]), np.array([1.0, 1.0, 1.0]), np.array([[1.0, 0.0, 0.0]])),
    (
        np.array([[1.0, -1.0, 3.0], [2.0, 5.0, 4.0]]),
        np.array([2.0, -1.0, 1.0]),
        np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]]),
    ),
    (np.array([[0.001, 0.002, 0.006]]), np.ones(3), np.array([[1.0, 0.0, 0.0]])),  # ε is in sight
    (
        np.array([[1.0, 2.0, 6.0], [3.0, 1.0, 2.0], [5.0, 0.0, 1.0]]) / 1000,
        np.array([2.0, -1.0, 1.0]),
        np.eye(3),
    ),
]


def norm_gradients(X: np.ndarray, gain: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, ...]:
    """The gradients of Σ G·(normed rows · gain) by X and by the gain."""
    rows, through = normed_rows(X), G * gain
    scale = np.sqrt(X.var(axis=1, keepdims=True) + EPSILON)
    mean, along = (a.mean(axis=1, keepdims=True) for a in (through, through * rows))
    return (through - mean - rows * along) / scale, (G * rows).sum(axis=0)


@exercise
def norm_gradient(
    d_x: Annotated[FunctionAnswer, Function(samples=NORM)],
    d_gain: Annotated[FunctionAnswer, Function(samples=[(X, G) for X, _, G in NORM])],
) -> None:
    """Write the gradients of layer norm by its input and by its gain."""


@norm_gradient.part("By the input", points=2)
@each(NORM, spread_rows)
def _by_input(d_x: FunctionAnswer, *, X, gain, G) -> Verdict | None:
    answer = d_x.array(X, gain, G, shape=X.shape)
    at = where("with X = {}, the gain {} and G = {}", X, gain, G)
    return off(norm_gradients(X, gain, G)[0], answer, at=at, what="the gradient")


@norm_gradient.part("By the gain")
@each(NORM, spread_rows)
def _by_gain(d_gain: FunctionAnswer, *, X, gain, G) -> Verdict | None:
    answer = d_gain.array(X, G, shape=gain.shape)
    at = where("with X = {} and G = {}", X, G)
    return off(norm_gradients(X, gain, G)[1], answer, at=at)


# -- 12.3: linear attention that forgets -----------------------------------------------------------


def attended(Q: np.ndarray, K: np.ndarray, V: np.ndarray, gamma: float) -> np.ndarray:
    """Causal linear attention in which a token fades by γ a step; Q and K are features."""
    rows = []
    for i, q in enumerate(Q):
        weights = gamma ** np.arange(i, -1, -1) * (K[: i + 1] @ q)
        rows.append(weights @ V[: i + 1] / weights.sum())
    return np.array(rows)


def attended_gradients(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, G: np.ndarray, gamma: float
) -> dict[str, np.ndarray]:
    """The gradients of Σ G·attended by the keys and by the values."""
    apart = np.subtract.outer(np.arange(len(Q)), np.arange(len(Q)))
    fading = np.where(apart < 0, 0.0, gamma ** np.maximum(apart, 0))
    weights = fading * (Q @ K.T)
    total = weights.sum(axis=1, keepdims=True)
    Y = weights @ V / total
    by_weight = (G @ V.T - (G * Y).sum(axis=1, keepdims=True)) / total
    return {"K": (fading * by_weight).T @ Q, "V": (weights / total).T @ G}


def any_features(rng: np.random.Generator) -> tuple:
    """Features above zero, values and a gradient, and how fast they fade."""
    n, m, width = sizes(rng, 3)
    Q, K = (rng.uniform(0.2, 3, (n, m)).round(2) for _ in range(2))
    gamma = float(rng.choice([0.3, 0.5, 0.8, 0.95, 1.0]))
    V = numbers(rng, n, width, largest=100)
    return Q, K, V, numbers(rng, n, width), gamma


LONG = np.random.default_rng(0).integers(1, 9, (4, 24, 2)) / 4  # nothing is forgotten in it
FEATURES: list[tuple] = [
    (
        np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]),
        np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 3.0]]),
        np.array([[8.0, 0.0], [0.0, 8.0], [5.0, 3.0]]),
        np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]),
        0.5,
    ),
    (*(np.array([[value]]) for value in (2.0, 1.0, 3.0, 1.0)), 0.9),
    (*LONG, 1.0),
]


@exercise
def attention_gradient(
    d_v: Annotated[FunctionAnswer, Function(samples=FEATURES)],
    d_k: Annotated[FunctionAnswer, Function(samples=FEATURES)],
) -> None:
    """Write the gradients of linear attention that forgets, by the values and by the keys."""


attention_gradient.part("By the values", lambda d_v: _is_gradient(d_v, "V"))
attention_gradient.part("By the keys", lambda d_k: _is_gradient(d_k, "K"), points=2)


@each(FEATURES, any_features)
def _is_gradient(answer: FunctionAnswer, by: str, *, Q, K, V, G, gamma) -> Verdict | None:
    found = answer.array(Q, K, V, G, gamma, shape={"K": K.shape, "V": V.shape}[by])
    expected = attended_gradients(Q, K, V, G, gamma)[by]
    at = where("with Q = {}, K = {}, V = {}, G = {} and γ = {}", Q, K, V, G, gamma)
    terms = float(np.abs(G).max() * np.abs(V).max()) * len(Q)
    return off(expected, found, terms, at=at, what="the gradient")


# -- 12.4: a planted bug ---------------------------------------------------------------------------


def worksheet(student: Any) -> list[str]:
    """Six lines of a backward pass for this student; one of them is wrong."""
    return list(capstone(student).lines)


def run_lines(lines: list[str], Q: Any, K: Any, V: Any, G: Any) -> tuple[Any, Any, Any]:
    """What the lines compute: d_Q, d_K and d_V."""
    names = {"np": np, "attention_weights": attention_weights, "Q": Q, "K": K, "V": V, "G": G}
    exec("\n".join(lines), names)
    return names["d_Q"], names["d_K"], names["d_V"]


def softmax_gradients(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, G: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of Σ G·softmax(QKᵀ/√m)V by Q, K and V."""
    weights = attention_weights(Q, K)
    by_weight = G @ V.T
    by_score = weights * (by_weight - (weights * by_weight).sum(axis=1, keepdims=True))
    by_score = by_score / np.sqrt(Q.shape[1])
    return by_score @ K, by_score.T @ Q, weights.T @ G


def any_attention(rng: np.random.Generator) -> Arrays:
    """Queries, as many keys, values and a gradient."""
    n, m, width = sizes(rng, 3, high=20)
    V, G = numbers(rng, n, width, largest=100), numbers(rng, n, width)
    return numbers(rng, n, m), numbers(rng, n, m), V, G


PAGE: Arrays = (
    np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]),
    np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]]),
    np.array([[1.0, 2.0], [3.0, 0.0]]),
    np.array([[1.0, 0.0], [2.0, -1.0]]),
)


@exercise(numbers=capstone)
def planted_bug(
    student: StudentId,
    line: RealNumber,
    repaired: Annotated[FunctionAnswer, Function(samples=[PAGE])],
) -> None:
    """Find the line of a backward pass that is wrong, and write the pass as it should be."""


@planted_bug.part("The line")
def _line(student: str, line: float) -> Verdict:
    lines = worksheet(student)
    if line not in range(1, len(lines) + 1):
        says = f"the lines have the numbers 1 to {len(lines)}, and {show(line)} is none of them."
        return wrong(says, at="no line", yours=line)
    number = int(line)
    mended = [*lines[: number - 1], BACKWARD_LINES[number - 1], *lines[number:]]
    names = ("d_Q", "d_K", "d_V")
    pairs = zip(names, softmax_gradients(*PAGE), run_lines(mended, *PAGE), strict=True)
    wrong_ones = [name for name, true, found in pairs if off(true, found)]
    if wrong_ones:
        which = " and ".join(wrong_ones) + (" differs" if len(wrong_ones) == 1 else " differ")
        says = f"with line {number} mended, {which} from the definition as before."
        return wrong(says, at="mended", yours=line)
    return right()


@planted_bug.part("The repair")
@each([PAGE], any_attention)
def _repair(repaired: FunctionAnswer, *, Q, K, V, G) -> Verdict | None:
    result = repaired(Q, K, V, G)
    call = f"{repaired.name}(Q, K, V, G)"
    if not isinstance(result, tuple | list) or len(result) != 3:
        raise Unreadable(f"{call} should return three arrays: d_Q, d_K and d_V.")
    gradients = softmax_gradients(Q, K, V, G)
    for name, true, found in zip(("d_Q", "d_K", "d_V"), gradients, result, strict=True):
        given = as_array(found, true.shape, f"{name} of {call}", finite=False)
        at = where("with Q = {}, K = {}, V = {} and G = {}", Q, K, V, G)
        if verdict := off(true, given, at=at, what=name, whole=result):
            return verdict
    return None


# -- 12.5: sizes of the model ----------------------------------------------------------------------

SIZES = Formula(m=range(2, 7), h=range(1, 5), L=range(1, 4)).needing()
OfModel = Annotated[FormulaAnswer, SIZES]
READ = Formula(m=range(2, 7), h=range(1, 5), L=range(1, 4), t=range(1, 9)).needing()


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


def bytes_of_state(model: Model) -> int:
    """What the fixed state takes after a pixel, 8 bytes per number."""
    memory = FixedState(model)
    next_logits(model, model.unpack(model.draw()), memory, np.zeros(1, dtype=int), 0)
    return sum(s.nbytes for s in memory.s)


@exercise
def sizes_of_the_model(
    parameters: OfModel,
    multiply_adds: OfModel,
    state_bytes: OfModel,
    cache_bytes: Annotated[FormulaAnswer, READ],
) -> None:
    """Count parameters, multiply–adds of a pixel, and bytes of the state and of a cache."""


@sizes_of_the_model.part("Parameters")
def _parameters(parameters: FormulaAnswer) -> Verdict:
    return _as_counted(parameters, SIZES, lambda point: sized(point).size, "parameters")


@sizes_of_the_model.part("Multiply–adds")
def _work(multiply_adds: FormulaAnswer) -> Verdict:
    def count(point: dict) -> int:
        return _pixel_macs(sized(point))

    return _as_counted(multiply_adds, SIZES, count, "multiply–adds")


@sizes_of_the_model.part("Memory")
def _memory(state_bytes: FormulaAnswer, cache_bytes: FormulaAnswer) -> Verdict:
    what = "bytes in the state"
    verdict = _as_counted(state_bytes, SIZES, lambda p: bytes_of_state(sized(p)), what)
    if verdict != right():
        return verdict

    def count(point: dict) -> int:
        return 8 * int(point["L"] * 2 * point["t"] * point["h"] * point["m"])

    return _as_counted(cache_bytes, READ, count, "bytes in the cache")


def _as_counted(
    formula: FormulaAnswer, kind: Formula, count: Callable[[dict], int], what: str
) -> Verdict:
    for point in kind.points():
        counted, given = count(point), formula(**point)
        if not close(counted, given):
            seen, yours = show_apart(counted, given)
            says = f"at {show_at(point)} there are {seen} {what}; your formula gives {yours}."
            return wrong(says, at=show_at(point), yours=given)
    return right()


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
    (np.eye(4, dtype=int), np.array([[1, 1, 0, 1]]), 2, 2),
]


def _for_digits(bits_from_above: FunctionAnswer) -> Verdict:
    training, held_out = training_and_held_out()
    answer = bits_from_above.array(training, held_out, 17, 8, shape=())
    bits = bits_by_above(training, held_out, 17, 8)
    says = f"Pixel by pixel it is the same; held-out digits take {bits:.2f} bits per pixel."
    return differs(bits, answer, at=f"For the {len(held_out)} held-out digits") or right(says)


@exercise
@each(FEW, pictures, says=_for_digits)
def baseline(
    bits_from_above: Annotated[FunctionAnswer, Function(FEW)], *, training, test, levels, width
) -> Verdict | None:
    """Write the bits per pixel of the model that knows the pixel above, and nothing else."""
    answer = bits_from_above.array(training, test, levels, width, shape=())
    says = "With the training pictures {}, the test pictures {}, {} levels and rows of {}"
    at = where(says, training, test, levels, width)
    return differs(
        bits_by_above(training, test, levels, width), answer, at=at, what="bits per pixel"
    )


# -- 12.7: the fixed state -------------------------------------------------------------------------


Writing = tuple[Model, np.ndarray, np.ndarray]  # a model, its weights, and the pixels of a picture


def any_model(rng: np.random.Generator) -> Writing:
    """A small model with its weights, and a picture."""
    m, heads, blocks = (int(rng.integers(1, high)) for high in (5, 4, 4))
    levels, length = int(rng.integers(2, 6)), int(rng.integers(2, 7))
    return _weighed(Model("linear", 3 * heads * m, heads, blocks, levels, length), rng)


def _weighed(model: Model, rng: np.random.Generator) -> Writing:
    theta = model.draw(int(rng.integers(10**6))) + 0.1 * rng.normal(size=model.size)
    return model, theta.round(2), rng.integers(0, model.levels, model.length)


FIRST_MODELS = [
    _weighed(Model("linear", *sizes), np.random.default_rng(seed))
    for seed, sizes in enumerate([(4, 1, 1, 2, 3), (6, 2, 2, 3, 4), (6, 2, 1, 3, 128)])
]


def a_digit() -> Writing:
    """The model that comes with the course, and one of the digits that it never saw."""
    return *shipped("linear"), training_and_held_out()[1][0]


def _one_pixel(step: FunctionAnswer, given: tuple, levels: int) -> tuple[Any, np.ndarray]:
    """The new state and the logits, or a sentence about what came instead."""
    result, call = step(*given), f"{step.name}(P, heads, state, {given[3]}, {given[4]})"
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise Unreadable(f"{call} should return two things: the new state and the logits.")
    return result[0], as_array(result[1], (levels,), f"The second result of {call}", finite=False)


def _written(start: FunctionAnswer, step: FunctionAnswer, case: Writing) -> Verdict | None:
    """A refutation where the logits are not those of the masked form, else None."""
    model, theta, pixels = case
    P, tokens = model.unpack(theta), model.shifted(pixels[None])
    steps = [(int(token), t) for t, token in enumerate(tokens[0])]
    written = in_a_row(start, step, (P, model.heads), steps, given=(P, model.heads))
    for t, expected in enumerate(model.predict(theta, tokens)[0]):
        what = f"The second result of {step.name}"
        logits = as_array(written[t], (model.levels,), what, finite=False)
        says = f"In width {model.width} with {counted(model.heads, thing='head')} and "
        says += f"{counted(model.blocks, thing='block')}, after the tokens {{}}"
        at = where(says, tokens[0, : t + 1])
        if verdict := differs(expected, logits, at=at, what="the logits", tolerance=SINGLE):
            return verdict
    return None


LENGTHS = 6, 24  # pixels


def _grows(start: FunctionAnswer, step: FunctionAnswer) -> Verdict | None:
    """A refutation if the state is larger after many pixels than after a few, or has room."""
    model, theta, _ = _weighed(Model("linear", 4, 2, 2, 3, LENGTHS[1]), np.random.default_rng(3))
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
    start: Annotated[FunctionAnswer, Function(may_return_none=True)],
    step: Annotated[FunctionAnswer, Function()],
) -> Verdict:
    """Write the trained transformer as an RNN: a state of fixed size, one pixel at a time."""
    model, theta, _ = FIRST_MODELS[1]
    P, heads = model.unpack(theta), model.heads

    def advance(state: Any, token: int, t: int) -> tuple[Any, np.ndarray]:
        return _one_pixel(step, (P, heads, state, token, t), model.levels)

    advance(start(P, heads), 0, 0)  # returns two things
    for case in cases([*FIRST_MODELS, a_digit()], any_model):
        if verdict := _written(start, step, case):
            return verdict
    if verdict := _written(start, step, FIRST_MODELS[1]):  # a second picture begins anew
        return verdict
    if remembers_elsewhere(lambda: start(P, heads), advance, (0, 1, 2)):
        return wrong(REMEMBERS, at="two futures of one state")
    says = f"For {tried()} models the logits are those of the masked form after every pixel, and "
    return keeping(
        2,
        "The pixels are right.",
        lambda: _grows(start, step) or right(f"{says}the state does not grow."),
    )


# -- 12.8: an open task ----------------------------------------------------------------------------

SMALL = Model("linear", width=16, heads=2, blocks=1)
TABLE, GOAL = 2.25, 2.0  # bits per pixel: the table of the pixel before, and what is asked for
LEARNED = 0.1  # bits: by that much no digits are easier by chance; those of the training are


class Weights(OfNumbers):
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


@exercise
def trained(weights: Annotated[np.ndarray, Weights()]) -> Verdict:
    """Train the small model until held-out digits take at most 2.00 bits per pixel."""
    training, held_out = training_and_held_out()
    bits = SMALL.bits(weights, held_out)
    if not bits < np.log2(SMALL.levels):
        says = (
            f"The held-out digits take {bits:.2f} bits per pixel with these weights, no fewer than "
        )
        return wrong(f"{says}with no knowledge at all.", at="held out", yours=bits)
    seen = f"With these weights the {len(held_out)} held-out digits take {bits:.3f} bits per pixel"
    if round(bits, 2) > TABLE:
        says = f"{seen}; the table of the pixel before, without any network, takes {TABLE}."
        return wrong(says, at="held out", yours=bits)
    as_many = training[:: len(training) // len(held_out)]
    known = SMALL.bits(weights, as_many)
    if known > bits + LEARNED:
        says = f"{seen}, and {len(as_many)} of the training digits {known:.3f}: these weights have "
        says += "learned the digits that were held out. Train only on the training digits."
        return wrong(says, at="training", yours=known)
    if round(bits, 2) > GOAL:
        says = f"{seen}: better than the table of the pixel before. The goal is {GOAL:.2f}."
        return partly(1, says)
    return right(f"{seen}, and {len(as_many)} of the training digits {known:.3f}.")
