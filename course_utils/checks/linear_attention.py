"""Unit 08: linear attention. Values are checked by the definition, costs by the meter."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, cast

import numpy as np

from selfcheck.calls import FunctionAnswer, line_at
from selfcheck.chains import Chain, Milestone, Seen
from selfcheck.compare import as_array, close, real_array
from selfcheck.cost import cost_in_n, judge_linear
from selfcheck.display import show, show_apart, show_at
from selfcheck.exercises import exercise
from selfcheck.following import FAR_OFF, following, near
from selfcheck.forms import Forms
from selfcheck.formula import written
from selfcheck.growth import SIZES
from selfcheck.kinds import (
    Formula,
    FormulaAnswer,
    Function,
    Growth,
    OfNumbers,
    RealNumber,
    Steps,
    StudentId,
    as_written,
    with_texts_read,
)
from selfcheck.line_by_line import Step, Way, judge_steps, once
from selfcheck.meter import measure, polynomial
from selfcheck.own_numbers import OwnNumbers
from selfcheck.per_case import each
from selfcheck.refusals import Unreadable
from selfcheck.remembering import remembered
from selfcheck.sampling import by_pencil, cases, magnitude, numbers, sizes
from selfcheck.theta import growth_verdict
from selfcheck.verdicts import Verdict, differs, partly, right, where, wrong

from ..attention import elu_plus_one, softmax
from ..attention import linear_attention as course_linear_attention
from ..derivation import Derivation, Report, integers, matrix
from ..numbers.linear_attention import Waves
from ..numbers.linear_attention import linear_attention as waves_of

# -- 8.1: lines in S = softmax_row(Q), T = softmax_col(K) and two vectors of ones -----------------

Line = Callable[..., Any]
SOFTMAX = {"S": r"\operatorname{softmax}_{row}(Q)", "T": r"\operatorname{softmax}_{col}(K)"}
ON_PAPER = Forms(
    {written: name for name, written in SOFTMAX.items()}
    | {r"\mathbf{1}_n": "one_n", r"\mathbf{1}_d": "one_d"}
)


@cache
def _from_product(*softmaxed: str, row: bool = False) -> Derivation:
    """From the row sums on, all of them or that of row i."""
    free = {name: matrix("n", "d") for name in SOFTMAX if name not in softmaxed}
    ones = {"one_n": r"\mathbf{1}_n", "one_d": r"\mathbf{1}_d"}
    where = {"i": integers(1, 2), "n": integers(2, 6)} if row else {}
    return Derivation(
        r"((S T^\top) \mathbf{1}_n)_i" if row else r"(S T^\top) \mathbf{1}_n",
        [],
        where={**where, "Q K": matrix("n", "d"), **free},
        given={**{name: SOFTMAX[name] for name in softmaxed}, **ones},
        instances=30,
        forms=ON_PAPER,
    )


def of_one_row(lines: list[Line]) -> bool:
    """Whether these are lines about row i, Σ_c s_ic Σ_j t_jc, in place of all rows at once."""
    known = [vars(line) for line in lines]
    about = all("text" in line and line["shape"] is None for line in known)
    return about and any("i" in line["names"] for line in known)


@once
def row_sums(lines: list[Line], *softmaxed: str) -> Report:
    """Every line against the one before it; S and T are softmaxes if named, else any matrices."""
    begun = _from_product(*softmaxed, row=of_one_row(lines))
    return begun.goes_on(("=", as_written(line), "") for line in lines).check()


def two_facts_at_once(lines: list[Line]) -> int | None:
    """The number of the first line that needs both sums, of S and of T, to be 1; None if none."""
    one_fact = [row_sums(lines, name).lines for name in SOFTMAX]
    alone = [any(report[k].verdict == "right" for report in one_fact) for k in range(len(lines))]
    return None if all(alone) else alone.index(False) + 1


TWO_BY_THREE: dict[str, Any] = {
    "S": softmax(np.array([[0.0, 1.0, -1.0], [2.0, 0.0, 1.0]])),
    "T": softmax(np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0]]), axis=0),
    "one_n": np.ones(2),
    "one_d": np.ones(3),
    "i": 1,
}
ANY_TWO_BY_THREE = {**TWO_BY_THREE, "S": np.eye(2, 3) + 1, "T": 2 - np.eye(2, 3)}


def uses_one_fact(line: Line) -> bool:
    """Does a line depend on S or on T, and not on both? Then the sums of the other are used."""
    here = line_at(line, TWO_BY_THREE)
    moved = ({**TWO_BY_THREE, name: ANY_TWO_BY_THREE[name]} for name in SOFTMAX)
    return sum(not close(here, line_at(line, at)) for at in moved) == 1


LINES = Steps(
    TWO_BY_THREE, "lambda S, T, one_n: S @ T.T @ one_n", lambda: _from_product("S", "T", row=True)
)


ONE_FACT_AT_A_TIME = Way(
    (
        Step(
            lambda lines: (
                f"line {two_facts_at_once(lines)} uses at once that the columns of T and the rows "
                "of S sum to 1: put a line between"
            ),
            lambda lines: any(map(uses_one_fact, lines)) and two_facts_at_once(lines) is None,
        ),
    ),
    goal=lambda line: close(line_at(line, ANY_TWO_BY_THREE), np.ones(2)),
    not_there="the last one is not yet n ones, without S and T.",
)


def as_vector(line: Line) -> Line:
    """The same line, with a list or a column of n numbers read as a vector."""

    @functools.wraps(line)
    def flat(*args: Any, **named: Any) -> Any:
        value = line(*args, **named)
        if type(value) in (list, tuple):
            with contextlib.suppress(ValueError):  # lists of different lengths
                value = np.array(value)
        column = np.ndim(value) == 2 and np.shape(value)[1] == 1 and np.shape(value)[0] > 1
        return np.reshape(value, -1) if column else value

    return flat


def in_all_rows(line: Line) -> Line:
    """A line about row i as one about all rows."""

    @functools.wraps(line)
    def stacked(S: Any, T: Any, one_n: Any, one_d: Any, i: Any) -> Any:
        return np.array([line(S, T, one_n, one_d, k + 1) for k in range(len(one_n))])

    return stacked


A_LITTLE = (1e-12, 1e-7, 1e-3)
MOVED = [
    [{**TWO_BY_THREE, name: TWO_BY_THREE[name] * (1 + more)} for more in A_LITTLE]
    for name in SOFTMAX
]


def has_no_slope(line: Line) -> bool:
    """Does a line round, or ask whether it is given a softmax?

    A formula has one slope: what it changes for a little more of S, or of T, it changes for a
    tiny bit more in proportion. What is not finite has none either, and is told otherwise.
    """
    here = line_at(line, TWO_BY_THREE)
    for places in MOVED:
        there = [line_at(line, place) for place in places]
        slopes = [(value - here) / more for value, more in zip(there, A_LITTLE, strict=True)]
        if np.isfinite(slopes).all() and not np.allclose(slopes, slopes[-1], rtol=0.05, atol=0.05):
            return True
    return False


@exercise
def rows_sum_to_one(lines: Annotated[list[Line], LINES]) -> Verdict:
    """Derive line by line that every row of softmax_row(Q) softmax_col(K)ᵀ sums to 1."""
    read = in_all_rows if of_one_row(lines) else as_vector
    lines = [read(line) for line in lines]
    for number, line in enumerate(lines, start=1):
        if has_no_slope(line):
            return wrong(
                f"Line {number} does not follow when S or T changes by a little, as a formula "
                "does: a line neither rounds nor asks what it is given."
            )
    report = row_sums(lines, "S", "T")
    return judge_steps(report, lines, ONE_FACT_AT_A_TIME, 2, "Each uses at most one of two facts.")


# -- metered functions -----------------------------------------------------------------------------


def draw(n: int, d: int, width: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Q and K (n×d) and V (n×width) with few digits."""
    rng = np.random.default_rng(seed)
    return tuple(rng.uniform(-2, 2, (n, k)).round(1) for k in (d, d, width))


def tokens(n: int) -> tuple[np.ndarray, ...]:
    """Inputs of n tokens for the meter."""
    return draw(n, 3, 2)


def tokens_and_phi(n: int) -> tuple:
    """The same with a feature map; narrower, for five features come from two numbers."""
    return (*draw(n, 2, 1), *PHI)


def growing(inputs: Callable[[int], tuple], sizes: tuple[int, ...] = SIZES) -> Any:
    """Whether the costs of two functions grow alike."""
    return lambda a, b: len({cost_in_n(f, inputs, b, sizes).kind for f in (a, b)}) == 1


def weighted_means(weights: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The definition: y_i = Σ_j w_ij v_j / Σ_j w_ij, one query after the other."""
    return np.array([row @ V / row.sum() for row in weights])


SINGLE = 2e-5  # what single precision leaves, with exponents up to 50


def off(
    answer: FunctionAnswer,
    definition: Callable[..., np.ndarray],
    pencil: list[tuple],
    *draws: Callable[[np.random.Generator], tuple],
    carried: str = "V",
) -> Verdict | None:
    """A refutation at the first instance where a row is not as the definition has it."""
    for arrays in cases(pencil, *draws):
        found = answer.array(*arrays, shape=(len(arrays[0]), arrays[2].shape[1]))
        says = ["Q = {}", "K = {}", f"{carried} = {{}}"]
        says += [f"φ(x) = {FEATURE_MAPS[phi]}" for phi in arrays[3:4]]
        says += [f"w = {w}" for w in arrays[4:]]
        tolerance = None if by_pencil() else SINGLE
        at = where(f"With {', '.join(says[:-1])} and {says[-1]},", *arrays[:3])
        if verdict := differs(definition(*arrays), found, at=at, tolerance=tolerance):
            return verdict
    return None


# -- 8.2 -------------------------------------------------------------------------------------------


def _weights_of_all(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """The weight p_ij that query i gives to key j, for all pairs."""
    return np.array([[s @ t for t in softmax(K, axis=0)] for s in softmax(Q)])


def looked_at_by_definition(Q: np.ndarray, K: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Key by key, the mean of the queries' u with the weights that they gave to it."""
    return weighted_means(_weights_of_all(Q, K).T, U)


def _weights_first(Q, K, U):
    P = softmax(Q) @ softmax(K, axis=0).T
    return P.T @ U / P.sum(axis=0)[:, None]


def any_onlookers(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Q, K and U of any shapes; numbers up to 10, for every key has to be seen by somebody."""
    n, d, width = sizes(rng, 3)
    Q, K = (numbers(rng, n, d, largest=magnitude(rng, 1, 10)) for _ in range(2))
    return Q, K, numbers(rng, n, width, largest=100)


SHAPES = [(2, 2, 1), (3, 2, 2), (5, 3, 4), (2, 4, 3), (1, 1, 1), (1, 3, 2)]
FIRST_TOKENS = [draw(*shape, seed) for seed, shape in enumerate(SHAPES)]


@exercise
def separable(
    looked_at: Annotated[
        FunctionAnswer, Function([draw(3, 2, 2), draw(4, 3, 2)], alike=growing(tokens))
    ],
) -> Verdict:
    """Write what each key gets from the queries of separable attention, at a cost linear in n."""
    given = FIRST_TOKENS, any_onlookers
    if verdict := off(looked_at, looked_at_by_definition, *given, carried="U"):
        return verdict
    return judge_linear(looked_at, tokens, _weights_first)


# -- 8.3 -------------------------------------------------------------------------------------------


MOST_TOKENS = 200


class Tokens(OfNumbers):
    """A matrix of moderate size, a row for every token."""

    def read(self, answer: Any, name: str) -> np.ndarray:
        array = real_array(answer := with_texts_read(answer, name))
        if array is None:
            return as_array(answer, (3, 2), name)  # says what is wrong with it
        if array.ndim != 2 or not (min(array.shape) >= 1 and max(array.shape) <= MOST_TOKENS):
            raise Unreadable(
                f"{name} has shape {array.shape}; it should be a matrix, n×d, of at most "
                f"{MOST_TOKENS} rows and columns, such as [[1], [2], [3]]."
            )
        if not (np.abs(array) <= 1000).all():
            raise Unreadable(f"The entries of {name} should be numbers between −1000 and 1000.")
        return array


Matrix = Annotated[np.ndarray, Tokens()]


@exercise
def full_rank(full_Q: Matrix, full_K: Matrix) -> Verdict:
    """Find Q and K (n×d) for which softmax_row(QKᵀ) has a rank above d."""
    if full_Q.shape != full_K.shape:
        shapes = f"full_Q has shape {full_Q.shape} and full_K has shape {full_K.shape}"
        raise Unreadable(f"{shapes}; both should be n×d.")
    n, d = full_Q.shape
    stretch = np.linalg.svd(softmax(full_Q @ full_K.T), compute_uv=False)
    rank = int((stretch >= 1e-6 * (1 - 1e-9) * stretch[0]).sum())  # what rounding decides, counts
    says = f"The {n}×{n} weights have rank {rank}, and d = {d}"
    if rank <= d:
        return wrong(f"{says}; their singular values are {show(stretch[:6].round(6))}.")
    return right(f"{says}: separable attention cannot do this.")


# -- 8.4 and 8.5 -----------------------------------------------------------------------------------


def similarities(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """exp(q_iᵀ k_j) for every query and every key, by the definition."""
    return np.exp(Q @ K.T)


def slots_by_definition(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Each key's similarities become shares of it; by its shares a query takes the mean."""
    shares = [of_one_key / of_one_key.sum() for of_one_key in similarities(Q, K).T]
    return weighted_means(np.transpose(shares), V)


FEW_TOKENS = [(2, 1, 1), (3, 2, 2), (2, 3, 3), (4, 3, 2), (1, 2, 3)]


def any_scores(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Q, K and V of any shapes; no score is so large that its exponential overflows."""
    n, d, width = sizes(rng, 3, high=20)
    largest = float(rng.choice([4, 12]))
    Q, K = numbers(rng, n, d, largest=largest) / np.sqrt(d), numbers(rng, n, d)
    return Q, K, numbers(rng, n, width, largest=magnitude(rng, 0.1, 100))


@exercise
def normalized(
    slot_attention: Annotated[FunctionAnswer, Function(samples=[draw(3, 2, 2), draw(4, 3, 3)])],
) -> Verdict:
    """Write D⁻¹BV with B = AE⁻¹ and A = exp(QKᵀ): keys are shared out, then means are taken."""
    pencil = [draw(*shape, seed) for seed, shape in enumerate(FEW_TOKENS)]
    if verdict := off(slot_attention, slots_by_definition, pencil, any_scores):
        return verdict
    return right()


TOKENS_WIDTH = Formula(n=range(1, 7), d=range(1, 7)).needing("n")
Size = Annotated[FormulaAnswer, TOKENS_WIDTH]
LARGE_TEXTS = [{"n": 300, "d": 3}, {"n": 3, "d": 1001}]


def any_text(rng: np.random.Generator) -> dict[str, int]:
    n, d = sizes(rng, 2, 1, 100)
    return {"n": n, "d": d}


@exercise
@each([*TOKENS_WIDTH.points(), *LARGE_TEXTS], any_text)
def shape_of_scores(rows: Size, columns: Size, *, point) -> Verdict | None:
    """Find the shape of A = exp(QKᵀ) in n and d."""
    Q = np.zeros((point["n"], point["d"]))
    at, given = f"At {show_at(point)}", [rows(**point), columns(**point)]
    return differs(np.exp(Q @ Q.T).shape, given, at=at, what="the shape of A")


# -- 8.6 -------------------------------------------------------------------------------------------


@exercise
def negative(x: RealNumber, y: RealNumber) -> Verdict:
    """Find x and y, one of them beyond ±2, with a negative (x, x²)·(y, y²)."""
    product = x * y  # the similarity is xy + (xy)², negative for −1 < xy < 0
    if abs(product) > 1e100:
        return wrong("(x, x²)·(y, y²) = xy + (xy)² is huge, and positive.")
    says = f"(x, x²)·(y, y²) = {show(product)} + {show(product * product)}"
    if not -1 + 1e-12 < product < 0:
        return wrong(f"{says} is not negative.")
    says = f"{says} = {show(product + product * product)}"
    if max(abs(x), abs(y)) <= 2:
        return wrong(f"{says} is negative, but neither number is beyond ±2.")
    return right(f"{says}: a negative weight.")


# -- 8.7 -------------------------------------------------------------------------------------------


def exp_features(x: np.ndarray) -> np.ndarray:
    """Positive features, 2d + 1 of them: 1, and a growing and a falling exponential of each."""
    return np.concatenate([0 * x[..., :1] + 1, np.exp(x), np.exp(-x)], axis=-1)


def with_squares(x: np.ndarray) -> np.ndarray:
    """The features of exercise 8.6, for every number: some similarities are negative."""
    return np.concatenate([x, x**2], axis=-1)


def one_feature(x: np.ndarray) -> np.ndarray:
    """A single feature of all numbers of a row together."""
    return np.exp(x.sum(axis=-1, keepdims=True) / np.sqrt(x.shape[-1]))


PHI = (exp_features,)
FEATURE_MAPS = {
    elu_plus_one: "elu(x) + 1",
    exp_features: "(1, exp(x), exp(−x))",
    with_squares: "(x, x²)",
    one_feature: "exp(Σx/√d)",
}


@remembered
def others_by_definition(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, phi: Callable[..., np.ndarray]
) -> np.ndarray:
    """Token by token: only the other tokens are looked at."""
    features = [phi(k) for k in K]
    rows = []
    for i, q in enumerate(Q):
        j = [j for j in range(len(K)) if j != i]
        weights = np.array([phi(q) @ features[other] for other in j])
        rows.append(weights @ V[j] / weights.sum())
    return np.array(rows)


SIGNED = (
    np.array([[-0.5], [0.5], [0.4]]),
    np.array([[0.5], [0.4], [-0.2]]),
    np.array([[1.0], [2.0], [4.0]]),
)
FIRST_FEATURES = [
    *(
        (*draw(*shape, seed), phi)
        for seed, shape in enumerate([(3, 1, 1), (3, 2, 2), (4, 3, 2), (5, 2, 5), (2, 2, 1)])
        for phi in (elu_plus_one, exp_features)
    ),
    (*SIGNED, with_squares),
    (*draw(3, 2, 1), one_feature),
]


def _some(rng: np.random.Generator) -> list[int]:
    """n, d and l; there are always others."""
    return [*sizes(rng, 1, 2, 25), *sizes(rng, 2, 1, 25)]


def any_features(rng: np.random.Generator) -> tuple:
    """Tokens of any shapes, and one of the positive feature maps."""
    n, d, width = _some(rng)
    phi = [elu_plus_one, exp_features, one_feature][rng.integers(3)]
    V = numbers(rng, n, width, largest=100)
    return numbers(rng, n, d, largest=4), numbers(rng, n, d), V, phi


def signed_features(rng: np.random.Generator) -> tuple:
    """Similarities of either sign; those of a query do not cancel."""
    n, d, width = _some(rng)
    Q = rng.uniform(0.2, 0.8, (n, d)).round(2) * rng.choice([-1, 1], (n, 1))
    K = rng.uniform(0.2, 1, (n, d)).round(2)
    K[: n // 5] *= -1
    return Q, K, numbers(rng, n, width), with_squares


def _without_own(F, G):
    return (F @ G.T) * (1 - np.eye(len(F)))


def _phi_weights_first(Q, K, V, phi):
    A = _without_own(phi(Q), phi(K))
    return (A @ V) / A.sum(axis=1, keepdims=True)


@exercise
def linear(
    linear_attention: Annotated[
        FunctionAnswer,
        Function([(*draw(3, 2, 2), *PHI), (*draw(4, 3, 3), *PHI)], alike=growing(tokens_and_phi)),
    ],
) -> Verdict:
    """Write attention to all other tokens with similarity φ(q)ᵀφ(k), with a cost linear in n."""
    draws = any_features, signed_features
    if verdict := off(linear_attention, others_by_definition, FIRST_FEATURES, *draws):
        return verdict
    return judge_linear(linear_attention, tokens_and_phi, _phi_weights_first)


# -- 8.8 -------------------------------------------------------------------------------------------

FEATURES = Formula(n=range(2, 9), m=range(2, 9), d=range(2, 9)).needing()
NEAR, FAR = 10**7, 10**15  # where lower terms no longer matter, whichever sizes are the larger
CORNERS = [{"n": n, "m": m, "d": d} for n in (NEAR, FAR) for m in (NEAR, FAR) for d in (NEAR, FAR)]


@cache
def in_numbers(polynomial: Any, names: str) -> Callable[..., int]:
    """A polynomial as a function of its letters."""
    import sympy

    return cast(Callable[..., int], sympy.lambdify([*names], polynomial, "math"))


@cache
def linear_flops() -> Any:
    """The metered FLOPs of linear attention from φ(Q), φ(K) and V on, as a polynomial."""

    def count(n: int, m: int, d: int) -> int:
        F, G, V = (np.ones((n, width)) for width in (m, m, d))
        return measure(course_linear_attention, F, G, V, phi=lambda x: x).flops

    return polynomial(count, n=1, m=1, d=1)


def _counted(**point: int) -> int:
    return in_numbers(linear_flops(), "nmd")(**point)


def grows_as(flops: Callable[..., float], term: Callable[..., float]) -> bool:
    """Is this the term times one positive constant, wherever the sizes are large?"""
    ratios = [flops(**point) / term(**point) for point in CORNERS]
    return min(ratios) > 0 and max(ratios) < min(ratios) * 1.002


def other_growth(flops: FormulaAnswer) -> Verdict | None:
    """A refutation if the formula grows with one of the sizes otherwise than the count."""
    for name in FEATURES.domain:
        before = dict.fromkeys(FEATURES.domain, NEAR) | {name: FAR}
        after = before | {name: 10 * FAR}
        mine, seen = (count(**after) / (count(**before) or 1) for count in (flops, _counted))
        if flops(**before) > 0 and abs(mine - seen) > 0.01 * seen:
            return wrong(
                f"When {name} alone grows by a factor of 10, the counted FLOPs grow by a factor of "
                f"{show(seen, 3)}, and your formula by {show(mine, 3)}.",
                at=f"growth in {name}",
                yours=mine,
            )
    return None


def _off_corners(flops: FormulaAnswer, first: dict[str, int]) -> Iterator[dict[str, int]]:
    """The point to look at first, if the formula is off there, else a corner where it is."""
    for point in [first, *CORNERS]:
        if not close(flops(**point), _counted(**point), 0.05):
            yield point
    yield first


@exercise
def cost(flops: Annotated[FormulaAnswer, FEATURES]) -> Verdict:
    """Find the leading term of the FLOPs of linear attention in n, m and d."""
    if all(close(flops(**point), _counted(**point), 1e-3) for point in CORNERS):
        count = written(linear_flops()).replace("-", "−")
        return right(f"The meter counted {count} FLOPs, and your term leads.")
    if verdict := other_growth(flops):
        return verdict
    point = {"n": 1000, "m": 100, "d": 100}
    if grows_as(flops, _counted):
        says = "It grows as it should, but the constant factor differs: at"
    else:
        point, says = next(_off_corners(flops, point)), "At"
    verdict = differs(
        _counted(**point), flops(**point), at=f"{says} {show_at(point)}", what="the number of FLOPs"
    )
    if verdict is None:
        return wrong("Where one size is far larger than the others, another term leads.")
    return partly(1, verdict) if grows_as(flops, _counted) else verdict


# -- 8.9: the last few tokens ----------------------------------------------------------------------

WINDOWED: list[tuple[Any, ...]] = [(*draw(*shape, seed), *PHI, w) for seed, (shape, w) in enumerate(
    [((4, 1, 1), 2), ((5, 2, 2), 3), ((3, 2, 1), 1), ((4, 2, 3), 9), ((1, 2, 1), 1)]
)]  # fmt: skip


def windowed_by_definition(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, phi: Callable[..., np.ndarray], w: int
) -> np.ndarray:
    """Token i sees itself and the w − 1 tokens before it, as far as there are so many."""
    keys, rows = phi(K), []
    for i, q in enumerate(phi(Q)):
        near = slice(max(i - w + 1, 0), i + 1)
        weights = keys[near] @ q
        rows.append(weights @ V[near] / weights.sum())
    return np.array(rows)


def any_window(rng: np.random.Generator) -> tuple:
    """Tokens of any shapes with positive features, and a window of any width."""
    n, d, width = sizes(rng, 3, high=25)
    phi = [elu_plus_one, exp_features][rng.integers(2)]
    Q, K = numbers(rng, n, d), numbers(rng, n, d)
    return Q, K, numbers(rng, n, width, largest=100), phi, int(rng.integers(1, n + 3))


def signed_window(rng: np.random.Generator) -> tuple:
    """The same with similarities of either sign; those of a query do not cancel."""
    n, d, width = sizes(rng, 3, high=25)
    Q = rng.uniform(0.2, 0.8, (n, d)).round(2) * rng.choice([-1, 1], (n, 1))
    K = rng.uniform(0.2, 1, (n, d)).round(2)
    return Q, K, numbers(rng, n, width), with_squares, int(rng.integers(1, n + 3))


def half_windows(n: int) -> tuple:
    """Inputs of n tokens for the meter: the window grows with the text."""
    return (*draw(n, 3, 2), *PHI, max(n // 2, 1))


EVEN = (6, 8, 12, 16, 18, 24)  # tokens: half of them is a whole number, so counts are polynomials


@exercise
def windowed(
    windowed_attention: Annotated[
        FunctionAnswer, Function(WINDOWED, alike=growing(half_windows, EVEN))
    ],
) -> Verdict:
    """Write linear attention in which a token sees the last w tokens, at a cost free of w."""
    windows = any_window, signed_window
    if verdict := off(windowed_attention, windowed_by_definition, WINDOWED, *windows):
        return verdict
    return judge_linear(windowed_attention, half_windows, windowed_by_definition, sizes=EVEN)


def _windowed(behind: int = 0, ahead: int = 0, shared: bool = False) -> Callable[..., np.ndarray]:
    """The window moved or widened by some tokens; `shared` divides by the sum over all tokens."""

    def attend(Q, K, V, phi, w):
        rows = []
        for i, q in enumerate(phi(Q)):
            seen = slice(max(i - w + 1 - behind, 0), i + 1 + ahead)
            weights = phi(K[seen]) @ q
            below = (phi(K[: i + 1]) @ q).sum() if shared else weights.sum()
            rows.append(weights @ V[seen] / below)
        return np.array(rows)

    return attend


# -- 8.10: another number of keys ------------------------------------------------------------------

CROSS = Formula(n=range(2, 9), k=range(2, 9), m=range(2, 9), l=range(2, 9)).needing()
ORDER = Formula(k=range(4, 12), m=range(2, 5), l=range(2, 5)).needing()


ORDERS = ("values", "scores")


@cache
def counted_macs(order: str) -> Callable[..., Any]:
    """MACs of attention from features of n queries and k keys, values or scores first."""

    def values_first(F, G, V):
        return F @ (G.T @ V) / (F @ G.sum(axis=0))[:, None]

    def scores_first(F, G, V):
        A = F @ G.T
        return A @ V / A.sum(axis=1, keepdims=True)

    def count(n: int, k: int, m: int, l: int) -> int:  # noqa: E741 (its name in the formulas)
        arrays = np.ones((n, m)), np.ones((k, m)), np.ones((k, l))
        return measure({"values": values_first, "scores": scores_first}[order], *arrays).macs

    return in_numbers(polynomial(count, n=1, k=1, m=1, l=1), "nkml")


def any_of(kind: Formula, low: int, high: int) -> Callable[[np.random.Generator], dict[str, int]]:
    """All sizes of a formula between two numbers."""
    return lambda rng: {name: int(rng.integers(low, high)) for name in kind.domain}


@exercise
def cross(
    cross_macs: Annotated[FormulaAnswer, CROSS], same_at: Annotated[FormulaAnswer, ORDER]
) -> None:
    """Count the MACs of n queries that meet k keys by features, and find when scores first win."""


@cross.part("MACs")
@each(CROSS.points, any_of(CROSS, 1, 40), any_of(CROSS, 100, 1000))
def _cross_macs(cross_macs: FormulaAnswer, *, point) -> Verdict | None:
    counted = counted_macs("values")(**point)
    at, what = f"At {show_at(point)}", "the number of MACs"
    return differs(counted, cross_macs(**point), at=at, what=what, tolerance=1e-12)


@cross.part("Queries")
def _cross_queries(same_at: FormulaAnswer, cross_macs: FormulaAnswer | None = None) -> Verdict:
    verdict = _same_cost(same_at, counted_macs("values"))
    return following(verdict, "count of MACs", lambda: _same_cost(same_at, _own_count(cross_macs)))


@each(ORDER.points, any_of(ORDER, 2, 5), any_of(ORDER, 20, 200))
def _same_cost(
    same_at: FormulaAnswer, values_first: Callable[..., float], *, drawn
) -> Verdict | None:
    point = {**drawn, "k": drawn["k"] + max(drawn["m"], drawn["l"]) + 2}
    n = same_at(**point)
    values, scores = (float(c(**point, n=n)) for c in (values_first, counted_macs("scores")))
    if n > 0 and close(values, scores):
        return None
    first, second = show_apart(values, scores)
    says = f"your n is {show(n)}; values first take {first} MACs, scores first {second}."
    says = says if n > 0 else f"your n is {show(n)}, and not above 0."
    return wrong(f"at {show_at(point)} {says}", at="n", yours=n)


def _own_count(cross_macs: FormulaAnswer | None) -> Callable[..., float]:
    """The student's own count, if it grows as the true one and is not that of scores first."""
    points = [dict.fromkeys(CROSS.domain, 1000) | {name: 10**6} for name in CROSS.domain]
    values, scores = map(counted_macs, ORDERS)
    count = near(cross_macs, values, points)
    if any(close(count(**point), scores(**point)) for point in points):
        raise Unreadable(FAR_OFF)
    return count


# -- 8.11: denominators that vanish ----------------------------------------------------------------

EXACT = 1e-6  # of an angle


def _cosines(n: Waves, q: float) -> np.ndarray:
    """φ(q)ᵀφ(k_j) for φ(x) = (cos x, sin x)."""
    circle = np.stack([np.cos([q, *n.keys]), np.sin([q, *n.keys])], axis=1)
    return circle[1:] @ circle[0]


@exercise(numbers=OwnNumbers(waves_of, example="0", within=1e-4))
def vanishing(student: StudentId, blind_query: RealNumber, far_query: RealNumber) -> None:
    """Find a query whose denominator is 0, and one whose output is a number beyond all values."""


@vanishing.part("Blind")
def _blind(student: str, blind_query: float) -> Verdict:
    n = waves_of(student)
    if _vanishes(n, np.ones(len(n.keys)), blind_query):
        return right()
    total = _cosines(n, blind_query).sum()
    says = f"at q = {show(blind_query, 7)} the similarities sum to {show(total, 7)}, not to 0."
    return wrong(says, at="blind", yours=blind_query)


def _vanishes(n: Waves, weights: np.ndarray, q: float) -> bool:
    """Is Σ w_j φ(q)ᵀφ(k_j) zero at q, or between the next digits of q?"""
    less, more = (weights @ _cosines(n, q + step) for step in (-EXACT, EXACT))
    return bool(less * more <= 0)


@vanishing.part("Beyond")
def _beyond(student: str, far_query: float) -> Verdict:
    n = waves_of(student)
    if _vanishes(n, np.array(n.values) - n.target, far_query):
        return right()
    cosines = _cosines(n, far_query)
    with np.errstate(all="ignore"):
        seen, wanted = show_apart(cosines @ n.values / cosines.sum(), float(n.target))
    says = f"at q = {show(far_query, 7)} the output is {seen}, not {wanted}."
    return wrong(says, at="beyond", yours=far_query)


# -- 8.12 -----------------------------------------------------------------------------------------

NORMED = Chain(
    "P V",
    entry="(P V)_{i,c}",
    where={"Q K": matrix("n", "d"), "V": matrix("n", "l"), "i c": integers(1, 1)},
    given={
        "P": r"\operatorname{softmax}_{row}(Q K^\top)",
        "A": r"\exp(Q K^\top)",
        "D": r"\operatorname{diag}(A \mathbf{1})",
    },
    forms=Forms({rf"\operatorname{{softmax}}{by}(Q K^\top)": "P" for by in ("_{row}", "")}),
    steps=[
        Milestone(
            "no line has the softmax written out, exponentials over their sums, before D appears",
            [Seen(without="P D")],
        )
    ],
    goal=[Seen(without="P Q K")],
    not_there="the last one is not yet D⁻¹AV, in A, D and V alone.",
)


@exercise
def normed_by_lines(normed_lines: Annotated[list[Line], NORMED]) -> Verdict:
    """Derive softmax_row(QKᵀ)V = D⁻¹AV line by line, with A = exp(QKᵀ) and D = diag(A1)."""
    return NORMED.judge(normed_lines, 2, "No softmax is left.")


# -- 8.13 -----------------------------------------------------------------------------------------

GROWTH = Growth(n=range(2, 9), m=range(2, 9), d=range(2, 9))
OfFeatures = Annotated[FormulaAnswer, GROWTH]


@exercise
def growth_of_features(
    time_of_features: OfFeatures, space_of_features: OfFeatures, space_in_turn: OfFeatures
) -> None:
    """Give Θ of the time and of the space of linear attention with m features, in n, m and d."""


@growth_of_features.part("Time")
def _time_of_features(time_of_features: FormulaAnswer) -> Verdict:
    return growth_verdict(in_numbers(linear_flops(), "nmd"), time_of_features, GROWTH.domain)


@growth_of_features.part("All at once")
def _space_of_features(space_of_features: FormulaAnswer) -> Verdict:
    """Features of all queries and keys, the sums over the keys, and their denominator."""
    return growth_verdict(lambda n, m, d: 2 * n * m + m * d + m, space_of_features, GROWTH.domain)


@growth_of_features.part("In turn")
def _space_in_turn(space_in_turn: FormulaAnswer) -> Verdict:
    """The features of one token at a time, and the sums."""
    return growth_verdict(lambda n, m, d: 2 * m + m * d, space_in_turn, GROWTH.domain)
