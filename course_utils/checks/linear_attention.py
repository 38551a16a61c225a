"""Unit 08: linear attention. Values are checked by the definition, costs by the meter."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import numpy as np

from ..answers import (
    Formula,
    FormulaAnswer,
    Function,
    FunctionAnswer,
    RealNumber,
    Steps,
    Unreadable,
    as_array,
    close,
    line_at,
    real_array,
    show,
    show_at,
)
from ..attention import elu_plus_one, softmax
from ..attention import linear_attention as course_linear_attention
from ..cost import cost_in_n, judge_linear
from ..derivation import Derivation, Report, matrix
from ..exercise import Verdict, exercise, partly, right, wrong
from ..formula import written
from ..meter import measure, polynomial
from ..steps import Step, Way, judge_steps

# -- 8.1: lines as functions of S = softmax_row(Q), T = softmax_col(K) and two vectors of ones -----

Line = Callable[..., Any]
SOFTMAX = {"S": lambda Q: softmax(Q), "T": lambda K: softmax(K, axis=0)}
ONES = {"one_n": lambda Q: np.ones(len(Q)), "one_d": lambda Q: np.ones(Q.shape[1])}


def row_sums(lines: list[Line], *softmaxed: str) -> Report:
    """Every line against the one before it; S and T are softmaxes if named, else any matrices."""
    free = {name: matrix("n", "d") for name in SOFTMAX if name not in softmaxed}
    return Derivation(
        lambda S, T, one_n: (S @ T.T) @ one_n,
        [("=", line, "") for line in lines],
        where={"Q K": matrix("n", "d"), **free},
        given={**{name: SOFTMAX[name] for name in softmaxed}, **ONES},
        instances=30,
    ).check()


def two_facts_at_once(lines: list[Line]) -> int | None:
    """The number of the first line that needs both sums, of S and of T, to be 1; None if none."""
    one_fact = [row_sums(lines, name).lines for name in SOFTMAX]
    alone = [any(report[k].verdict == "right" for report in one_fact) for k in range(len(lines))]
    return None if all(alone) else alone.index(False) + 1


TWO_BY_THREE = {
    "S": softmax(np.array([[0.0, 1.0, -1.0], [2.0, 0.0, 1.0]])),
    "T": softmax(np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0]]), axis=0),
    "one_n": np.ones(2),
    "one_d": np.ones(3),
}
ANY_TWO_BY_THREE = {**TWO_BY_THREE, "S": np.eye(2, 3) + 1, "T": 2 - np.eye(2, 3)}


LINES = Steps(TWO_BY_THREE, "lambda S, T, one_n: S @ T.T @ one_n")


def _start(S, T, one_n):
    return (S @ T.T) @ one_n


ONE_FACT_AT_A_TIME = Way(
    (
        Step(
            lambda lines: (
                f"line {two_facts_at_once(lines)} uses at once that the columns of T and the rows "
                "of S sum to 1: put a line between"
            ),
            lambda lines: two_facts_at_once(lines) is None,
        ),
    ),
    goal=lambda line: close(line_at(line, ANY_TWO_BY_THREE), np.ones(2)),
    not_there="the last one is not yet n ones, without S and T.",
)


@exercise("8.1", points=2)
def rows_sum_to_one(lines: Annotated[list[Line], LINES]) -> Verdict:
    """Derive line by line that every row of softmax_row(Q) softmax_col(K)ᵀ sums to 1."""
    report = row_sums(lines, "S", "T")
    return judge_steps(report, lines, ONE_FACT_AT_A_TIME, 2, "Each uses at most one of two facts.")


rows_sum_to_one.add_hints(
    "Matrix products may be bracketed as you like: (S Tᵀ) 1 = S (Tᵀ 1). What is Tᵀ 1?",
    "Entry c of Tᵀ 1 is the sum of column c of T, and softmax_col made that sum 1.",
    "What is left is S times d ones: the sums of the rows of S.",
)


def _ones(one_n):
    return one_n


rows_sum_to_one.mistake(
    "the claim as its own proof",
    "That the result is a vector of ones is what is to be shown. Two facts are needed: the "
    "columns of T sum to 1, and the rows of S do. Use them in two different lines.",
    example=([_ones],),
    when=lambda lines: row_sums(lines, "S", "T").holds and bool(two_facts_at_once(lines)),
)


def has_line(form: Line) -> Callable[[list[Line]], bool]:
    """A predicate: one of the lines has the value of this one."""
    return lambda lines: any(
        close(line_at(line, TWO_BY_THREE), line_at(form, TWO_BY_THREE)) for line in lines
    )


rows_sum_to_one.mistake(
    "a sum of products taken as a product of sums",
    "Each s_{ic} meets its own column sum of T. Adding up all of T first gives d, one for "
    "each column, in place of 1.",
    example=([lambda S, T: S.sum(axis=1) * T.sum(), _ones],),
    when=has_line(lambda S, T: S.sum(axis=1) * T.sum()),
)
rows_sum_to_one.mistake(
    "S and T multiplied entry by entry",
    "This sums what each token gives to itself only. S Tᵀ has an entry for every pair of "
    "tokens, and a row sum runs over all keys.",
    example=([lambda S, T: (S * T).sum(axis=1), _ones],),
    when=has_line(lambda S, T: (S * T).sum(axis=1)),
)
rows_sum_to_one.mistake(
    "columns summed in place of rows",
    "This is (S Tᵀ)ᵀ 1, the sums of the columns: how much each key gets in all. Those need "
    "not be 1.",
    example=([lambda S, T, one_n: T @ (S.T @ one_n), _ones],),
    when=has_line(lambda S, T, one_n: T @ (S.T @ one_n)),
)
rows_sum_to_one.mistake(
    "as many ones as features",
    "S has n rows, so S times d ones has n entries: one sum for every query.",
    example=([lambda S, one_d: S @ one_d, lambda one_d: one_d],),
    when=has_line(lambda one_d: one_d),
)
rows_sum_to_one.mistake(
    "one number for all queries",
    "Each of the n queries has its own row, so the last line is a vector of n ones.",
    example=([lambda S, one_d: S @ one_d, lambda: 1.0],),
    when=has_line(lambda: 1.0),
)


# -- metered functions -----------------------------------------------------------------------------


def draw(n: int, d: int, width: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Q and K (n×d) and V (n×width) with few digits."""
    rng = np.random.default_rng(seed)
    return tuple(rng.uniform(-2, 2, (n, k)).round(1) for k in (d, d, width))


def tokens(n: int) -> tuple[np.ndarray, ...]:
    """Inputs of n tokens for the meter."""
    return draw(n, 3, 2)


def tokens_and_phi(n: int) -> tuple:
    """The same with a feature map."""
    return (*draw(n, 3, 2), *PHI)


class MeteredFunction(Function):
    """A function; two are the same if they give the same numbers and their costs grow alike."""

    def __init__(self, inputs: Callable[[int], tuple], samples: list[tuple]) -> None:
        super().__init__(samples=samples)
        self.inputs = inputs

    def same(self, a: FunctionAnswer, b: FunctionAnswer) -> bool:
        alike = super().same(a, b)
        return alike and cost_in_n(a, self.inputs, b).kind == cost_in_n(b, self.inputs, b).kind


def weighted_means(weights: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The definition: y_i = Σ_j w_ij v_j / Σ_j w_ij, one query after the other."""
    return np.array([sum(w * v for w, v in zip(row, V, strict=True)) / sum(row) for row in weights])


def counterexample(
    arrays: tuple, expected: np.ndarray, answer: np.ndarray, more: str = ""
) -> Verdict:
    """The first row that is not as it should be, with the numbers that lead to it."""
    i = next(i for i in range(len(expected)) if not close(answer[i], expected[i]))
    Q, K, V = map(show, arrays)
    return wrong(
        f"With Q = {Q}, K = {K}, V = {V}{more}, row {i + 1} of the result should be "
        f"{show(expected[i])}; yours is {show(answer[i])}."
    )


# -- 8.2 -------------------------------------------------------------------------------------------


def _weights_first(Q, K, V):
    return (softmax(Q) @ softmax(K, axis=0).T) @ V


@exercise("8.2", points=3)
def separable(
    separable_attention: Annotated[
        FunctionAnswer, MeteredFunction(tokens, samples=[draw(3, 2, 2), draw(4, 3, 2)])
    ],
) -> Verdict:
    """Write separable attention softmax_row(Q) softmax_col(K)ᵀ V with a cost linear in n."""
    for seed, (n, d, width) in enumerate([(2, 2, 1), (3, 2, 2), (5, 3, 4), (2, 4, 3), (1, 1, 1)]):
        Q, K, V = draw(n, d, width, seed)
        weights = np.array([[sum(s * t) for t in softmax(K, axis=0)] for s in softmax(Q)])
        expected = weighted_means(weights, V)
        answer = separable_attention.array(Q, K, V, shape=(n, width))
        if not close(answer, expected):
            return counterexample((Q, K, V), expected, answer)
    return judge_linear(separable_attention, tokens, _weights_first)


separable.add_hints(
    "A softmax over the rows of Q makes each row sum to 1; one over the columns of K makes "
    "each column sum to 1. Which axis is that?",
    "Three matrices are multiplied. Which two can meet first without an array of n×n numbers?",
    "softmax_col(K)ᵀ is d×n and V is n×l: what shape has their product?",
)

separable.forbid("attention.separable_attention")


def right_but(
    cost: str, example: Callable, inputs: Callable[[int], tuple]
) -> Callable[[FunctionAnswer], bool]:
    """A predicate: the numbers are those of the example, and the cost grows in this way."""

    def matches(f: FunctionAnswer) -> bool:
        arrays = inputs(4)
        return close(f(*arrays), example(*arrays)) and cost_in_n(f, inputs, example).kind == cost

    return matches


separable.mistake(
    "the n×n weights built after all",
    "Multiplied from the left, the first product has n×n numbers, and the saving is gone. "
    "Put the brackets around the other pair.",
    example=(_weights_first,),
    when=right_but("memory", _weights_first, tokens),
)


@separable.mistake(
    "one query at a time",
    "No array is large now, but each of n queries still visits n keys: n² steps. The "
    "product of K and V is the same for all queries, so form it once.",
)
def _query_by_query(Q, K, V):
    T = softmax(K, axis=0).T
    return np.stack([(q @ T) @ V for q in softmax(Q)])


separable.mistake(
    "standard attention",
    "Here the softmax is taken of Q and of K, before they meet. A softmax of QKᵀ stands "
    "between the products and forbids another order.",
    example=(lambda Q, K, V: softmax(Q @ K.T) @ V,),
    when=lambda f: close(f(*draw(4, 3, 2)), softmax_by_definition(*draw(4, 3, 2))),
)
separable.mistake(
    "rows of K normalized in place of columns",
    "For the weights of a query to sum to 1, each column of K's softmax must sum to 1: it "
    "runs over the tokens, axis 0.",
    example=(lambda Q, K, V: softmax(Q) @ (softmax(K).T @ V),),
)
separable.mistake(
    "columns of Q normalized in place of rows",
    "Each query's own numbers must sum to 1: the softmax of Q runs over the features, the "
    "last axis.",
    example=(lambda Q, K, V: softmax(Q, axis=0) @ (softmax(K, axis=0).T @ V),),
)
separable.mistake(
    "the two softmaxes exchanged",
    "Rows for Q, columns for K: exchanged, a query's weights no longer sum to 1.",
    example=(lambda Q, K, V: softmax(Q, axis=0) @ (softmax(K).T @ V),),
)
separable.mistake(
    "not normalized",
    "exp alone is no softmax: divide each row of exp(Q) and each column of exp(K) by its sum.",
    example=(lambda Q, K, V: np.exp(Q) @ (np.exp(K).T @ V),),
)


# -- 8.3 -------------------------------------------------------------------------------------------


class Tokens:
    """A matrix of moderate size, a row for every token."""

    def read(self, answer: Any, name: str) -> np.ndarray:
        array = real_array(answer)
        if array is None:
            return as_array(answer, (3, 2), name)  # says what is wrong with it
        if array.ndim != 2 or not (1 <= array.shape[0] <= 30 and 1 <= array.shape[1] <= 30):
            raise Unreadable(
                f"{name} has shape {array.shape}; it should be a matrix, n×d, of at most 30 rows "
                "and 30 columns, such as [[1], [2], [3]]."
            )
        if not (np.abs(array) <= 1000).all():
            raise Unreadable(f"The entries of {name} should be numbers between −1000 and 1000.")
        return array

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        return close(a, b)


@exercise("8.3", points=2)
def full_rank(Q: Annotated[np.ndarray, Tokens()], K: Annotated[np.ndarray, Tokens()]) -> Verdict:
    """Find Q and K (n×d) for which softmax_row(QKᵀ) has a rank above d."""
    if Q.shape != K.shape:
        raise Unreadable(f"Q has shape {Q.shape} and K has shape {K.shape}; both should be n×d.")
    n, d = Q.shape
    stretch = np.linalg.svd(softmax(Q @ K.T), compute_uv=False)
    rank = int((stretch > 1e-6 * stretch[0]).sum())
    says = f"The {n}×{n} weights have rank {rank}, and d = {d}"
    if rank <= d:
        return wrong(f"{says}; their singular values are {show(stretch[:6].round(6))}.")
    return right(f"{says}: separable attention cannot do this.")


full_rank.add_hints(
    "With d = 1 a query and a key are single numbers. Take a few more tokens than that.",
    "Rank 1 would mean that all rows are multiples of one. Rows of weights sum to 1, so they "
    "would be equal. Can you make two queries weigh two keys differently?",
    "A query that is large and positive looks at the largest key, a negative one at the smallest.",
)

full_rank.mistake(
    "no more tokens than columns",
    "An n×n matrix has rank n at most. To come above d there must be more tokens than columns.",
    example=([[1, 0], [0, 1]], [[3, 0], [0, 3]]),
    when=lambda Q, K: len(Q) <= Q.shape[1],
)


def alike_rows(A: np.ndarray) -> bool:
    return close(A, np.tile(A[:1], (len(A), 1)))


full_rank.mistake(
    "all queries alike",
    "Equal queries give equal rows of weights, and equal rows have rank 1.",
    example=([[1], [1], [1]], [[1], [2], [3]]),
    when=lambda Q, K: alike_rows(Q),
)
full_rank.mistake(
    "all keys alike",
    "If all keys are equal, every query weighs them equally: all rows are 1/n, rank 1.",
    example=([[1], [2], [3]], [[1], [1], [1]]),
    when=lambda Q, K: alike_rows(K),
)
full_rank.mistake(
    "scores too small to matter",
    "Near 0 the exponential is almost a straight line and the weights are almost equal: "
    "the rank is there on paper and drowns in rounding. Make the scores larger.",
    example=([[0.001], [0.002], [0.003]], [[0.001], [0.002], [0.003]]),
    when=lambda Q, K: np.abs(Q @ K.T).max() < 0.01,
)


# -- 8.4 and 8.5 -----------------------------------------------------------------------------------


def similarities(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """exp(q_iᵀ k_j) for every query and every key, by the definition."""
    return np.array([[math.exp(sum(q * k)) for k in K] for q in Q])


def softmax_by_definition(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return weighted_means(similarities(Q, K), V)


@exercise("8.4", points=2)
def normalized(
    softmax_attention: Annotated[FunctionAnswer, Function(samples=[draw(3, 2, 2), draw(4, 3, 3)])],
) -> Verdict:
    """Write a function of Q, K and V that returns D⁻¹AV with A = exp(QKᵀ) and D = diag(A·1)."""
    sizes = [(2, 1, 1), (3, 2, 2), (2, 3, 3), (4, 3, 2), (1, 2, 3)]
    for seed, (n, d, width) in enumerate(sizes):
        arrays = draw(n, d, width, seed)
        expected = softmax_by_definition(*arrays)
        answer = softmax_attention.array(*arrays, shape=(n, width), finite=False)
        if not close(answer, expected):
            return counterexample(arrays, expected, answer)
    return right(f"At {len(sizes)} sizes every row is the weighted mean of the values.")


normalized.add_hints(
    "A has an entry for every pair of a query and a key: which product of Q and K has that?",
    "A·1 adds up the rows of A. Dividing each row by its sum is multiplying with D⁻¹ from the "
    "left.",
)

normalized.forbid(
    "attention.softmax",
    "attention.attention",
    "attention.attention_weights",
    "attention.causal_attention",
    "attention.cross_attention",
    "attention.multi_head",
    "block.weigh",
    "checks.linear_attention.softmax_by_definition",
    "checks.transformers_are_rnns._unscaled",
)


@normalized.mistake(
    "Q and K multiplied entry by entry",
    "QKᵀ holds a dot product for every pair of tokens, n×n in all. An entrywise product "
    "meets each query with the key of the same place only, and adds up features where it "
    "should add up keys.",
)
def _entrywise(Q, K, V):
    A = np.exp(Q * K)
    return A * V / A.sum(axis=1, keepdims=True)


normalized.mistake(
    "D forgotten",
    "Without D⁻¹ the weights of a query do not sum to 1: the result grows with the number of keys.",
    example=(lambda Q, K, V: np.exp(Q @ K.T) @ V,),
)
normalized.mistake(
    "normalized over queries",
    "A·1 adds up rows, over the keys. Column sums would share out each key among the queries.",
    example=(lambda Q, K, V: (np.exp(Q @ K.T) / np.exp(Q @ K.T).sum(axis=0)) @ V,),
)


@normalized.mistake(
    "D on the wrong side of A",
    "D⁻¹A scales the rows of A, a query each. A D⁻¹ V would scale its columns: then v_j is "
    "divided by the sum of query j.",
)
def _row_divided_late(Q, K, V):
    A = np.exp(Q @ K.T)
    return A @ (V / A.sum(axis=1, keepdims=True))


normalized.mistake(
    "one sum for the whole matrix",
    "Every query has its own sum, on the diagonal of D.",
    example=(lambda Q, K, V: np.exp(Q @ K.T) @ V / np.exp(Q @ K.T).sum(),),
)
normalized.mistake(
    "exp taken of Q and K before the product",
    "exp of a dot product is not the dot product of the exps: the exponential of a sum is "
    "a product.",
    example=(
        lambda Q, K, V: (
            ((np.exp(Q) @ np.exp(K).T) / (np.exp(Q) @ np.exp(K).T).sum(1, keepdims=True)) @ V
        ),
    ),
)
normalized.mistake(
    "divided by √d",
    "Standard attention does so. In this unit A = exp(QKᵀ) as it stands, with any factor "
    "taken to be in Q already.",
    example=(lambda Q, K, V: softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ V,),
)


TOKENS_WIDTH = Formula(n=range(1, 7), d=range(1, 7))


@exercise("8.5", points=1)
def shape_of_scores(
    rows: Annotated[FormulaAnswer, TOKENS_WIDTH], columns: Annotated[FormulaAnswer, TOKENS_WIDTH]
) -> Verdict:
    """Find the shape of A = exp(QKᵀ) in n and d."""
    for point in TOKENS_WIDTH.points():
        seen = similarities(*draw(point["n"], point["d"], 1)[:2]).shape
        if not close([rows(**point), columns(**point)], seen):
            return wrong(
                f"At {show_at(point)} A is {seen[0]}×{seen[1]}; your answer gives "
                f"{show(rows(**point))}×{show(columns(**point))}."
            )
    return right("A was built at 12 pairs (n, d) and had this shape.")


shape_of_scores.add_hints(
    "A has an entry exp(q_iᵀ k_j) for every i and every j. How many of each are there?",
    "D⁻¹AV has to make sense for a V with n rows: how many columns must A have?",
)

shape_of_scores.mistake(
    "n×d",
    "That is the shape of Q, of K, and of their entrywise product. QKᵀ has a number for "
    "every pair of tokens; and an n×d matrix could not be multiplied with V, which has n "
    "rows.",
    example=("n", "d"),
)
shape_of_scores.mistake(
    "d×d",
    "That is the shape of KᵀV, the small matrix that linear attention builds in place of A.",
    example=("d", "d"),
)
shape_of_scores.mistake(
    "d×n",
    "That is the shape of Kᵀ. In QKᵀ the d features are summed away.",
    example=("d", "n"),
)
shape_of_scores.mistake(
    "a number for every token only",
    "n×1 is the shape of A·1, the row sums that stand in D.",
    example=("n", "1"),
)


# -- 8.6 -------------------------------------------------------------------------------------------


def pairs(x: float, y: float) -> float:
    """(x, x²)·(y, y²)"""
    return float(np.array([x, x**2]) @ np.array([y, y**2]))


@exercise("8.6", points=1)
def negative(x: RealNumber, y: RealNumber) -> Verdict:
    """Find x and y, one of them beyond ±2, with a negative (x, x²)·(y, y²)."""
    if max(abs(x), abs(y)) > 1e6:
        raise Unreadable("Choose numbers between −10⁶ and 10⁶.")
    says = f"(x, x²)·(y, y²) = {show(x * y)} + {show(x**2 * y**2)} = {show(pairs(x, y))}"
    if pairs(x, y) > -1e-9:
        return wrong(f"{says}; it is not negative.")
    if max(abs(x), abs(y)) <= 2:
        return wrong(f"{says} is negative, but neither number is beyond ±2.")
    return right(f"{says}: a negative weight.")


negative.add_hints(
    "xy + x²y² = xy (1 + xy). For which products xy is it negative?",
    "Choose the large number first. How near to 0 must the other one be?",
)

negative.mistake(
    "equal signs",
    "With xy > 0 both terms are positive. The sign can come from xy only.",
    example=(3, 3),
    when=lambda x, y: x * y > 0,
)
negative.mistake(
    "a product below −1",
    "The signs differ, but the squares win: x²y² is larger than |xy| as soon as |xy| is above 1.",
    example=(3, -3),
    when=lambda x, y: x * y < -1,
)
negative.mistake(
    "the product is −1",
    "At xy = −1 the two terms cancel exactly: the similarity is 0, not negative.",
    example=(4, -0.25),
    when=lambda x, y: close(x * y, -1),
)
negative.mistake(
    "a zero",
    "φ(0) = (0, 0) is similar to nothing: every similarity with it is 0.",
    example=(0, 3),
    when=lambda x, y: x * y == 0,
)
negative.mistake(
    "both numbers small",
    "This similarity is negative. Asked is a pair in which one number is above 2 or below "
    "−2, so that nobody thinks that only small numbers are in danger.",
    example=(-0.5, 0.5),
    when=lambda x, y: max(abs(x), abs(y)) <= 2 and pairs(x, y) < 0,
)


# -- 8.7 -------------------------------------------------------------------------------------------


def exp_features(x: np.ndarray) -> np.ndarray:
    """Positive features, 2d + 1 of them: 1, and a growing and a falling exponential of each."""
    return np.concatenate([0 * x[..., :1] + 1, np.exp(x), np.exp(-x)], axis=-1)


PHI = (exp_features,)
FEATURE_MAPS = {"elu(x) + 1": elu_plus_one, "(1, exp(x), exp(−x))": exp_features}


def _phi_weights_first(Q, K, V, phi):
    A = phi(Q) @ phi(K).T
    return (A @ V) / A.sum(axis=1, keepdims=True)


@exercise("8.7", points=3)
def linear(
    linear_attention: Annotated[
        FunctionAnswer,
        MeteredFunction(tokens_and_phi, samples=[(*draw(3, 2, 2), *PHI), (*draw(4, 3, 3), *PHI)]),
    ],
) -> Verdict:
    """Write attention with similarity φ(q)ᵀφ(k), for any φ, with a cost linear in n."""
    sizes = [(2, 1, 1), (3, 2, 2), (4, 3, 2), (2, 2, 5), (1, 2, 1)]
    for seed, (n, d, width) in enumerate(sizes):
        for name, phi in FEATURE_MAPS.items():
            Q, K, V = draw(n, d, width, seed)
            weights = np.array([[sum(phi(q) * phi(k)) for k in K] for q in Q])
            expected = weighted_means(weights, V)
            answer = linear_attention.array(Q, K, V, phi, shape=(n, width), finite=False)
            if not close(answer, expected):
                return counterexample((Q, K, V), expected, answer, f" and φ(x) = {name}")
    return judge_linear(linear_attention, tokens_and_phi, _phi_weights_first)


linear.add_hints(
    "Write y_i = Σ_j φ(q_i)ᵀφ(k_j) v_j / Σ_j φ(q_i)ᵀφ(k_j), and take φ(q_i) out of both sums.",
    "Above: φ(Q)(φ(K)ᵀV). Below: φ(Q) times one vector, the sum of φ(k_j) over all keys.",
    "The denominator has one number for each query. Give it the shape n×1 before you divide.",
)

linear.forbid(
    "attention.linear_attention",
    "attention.causal_linear_attention",
    "attention.LinearAttentionState",
    "checks.transformers_are_rnns._phi_definition",
)

linear.mistake(
    "the n×n weights built after all",
    "φ(Q)φ(K)ᵀ has n×n numbers. For the numerator multiply φ(K)ᵀV first; for the "
    "denominator the row sums of A are φ(Q) times the sum of the φ(k_j).",
    example=(_phi_weights_first,),
    when=right_but("memory", _phi_weights_first, tokens_and_phi),
)


@linear.mistake(
    "one query at a time",
    "No array is large now, but each of n queries still visits n keys: n² steps. φ(K)ᵀV "
    "and the sum of the φ(k_j) are the same for all queries, so form them once.",
)
def _phi_query_by_query(Q, K, V, phi):
    K = phi(K)
    return np.stack([(q @ K.T @ V) / (q @ K.T).sum() for q in phi(Q)])


@linear.mistake(
    "the normalization forgotten",
    "This is the numerator alone. The weights φ(q)ᵀφ(k_j) of a query do not sum to 1, so "
    "divide by their sum.",
)
def _numerator(Q, K, V, phi):
    return phi(Q) @ (phi(K).T @ V)


linear.mistake(
    "divided by the number of keys",
    "The weights of a query sum to φ(q)ᵀ Σ_j φ(k_j), which is another number for every query.",
    example=(lambda Q, K, V, phi: _numerator(Q, K, V, phi) / len(K),),
)


def _normalizer(Q, K, phi):
    return phi(Q) @ phi(K).sum(axis=0)


linear.mistake(
    "one sum for all queries",
    "Every query is divided by the sum of its own weights.",
    example=(lambda Q, K, V, phi: _numerator(Q, K, V, phi) / _normalizer(Q, K, phi).sum(),),
)
linear.mistake(
    "each of Q and K normalized by itself",
    "That is separable attention with φ in place of exp: its weights sum to 1, but they "
    "are not the similarities divided by their sum.",
    example=(
        lambda Q, K, V, phi: (
            (phi(Q) / phi(Q).sum(1, keepdims=True)) @ ((phi(K) / phi(K).sum(0)).T @ V)
        ),
    ),
)


def _one_sided(Q, K, V, phi):
    return phi(Q) @ (K.T @ V) / (phi(Q) @ K.sum(axis=0))[:, None]


def _like_one_sided(f: FunctionAnswer) -> bool:
    Q, K, V = draw(3, 2, 2)
    return close(f(Q, K, V, elu_plus_one), _one_sided(Q, K, V, elu_plus_one))


linear.mistake(
    "φ on the queries only",
    "The similarity is φ(q)ᵀφ(k): both go through the feature map.",
    example=(_one_sided,),
    when=_like_one_sided,
)


linear.mistake(
    "φ on the values too",
    "φ measures how alike a query and a key are. The values are what is averaged, as they are.",
    example=(lambda Q, K, V, phi: course_linear_attention(Q, K, phi(V)[..., : V.shape[1]], phi),),
)


# -- 8.8 -------------------------------------------------------------------------------------------

FEATURES = Formula(n=range(2, 9), m=range(2, 9), d=range(2, 9))
FAR = 10**6  # where lower terms no longer matter


@cache
def linear_flops() -> Any:
    """The metered FLOPs of linear attention from φ(Q), φ(K) and V on, as a polynomial."""

    def count(n: int, m: int, d: int) -> int:
        F, G, V = (np.ones((n, width)) for width in (m, m, d))
        return measure(course_linear_attention, F, G, V, phi=lambda x: x).flops

    return polynomial(count, n=1, m=1, d=1)


def counted_flops(point: dict[str, int]) -> int:
    return int(linear_flops().subs(point))


def degree(flops: Callable[..., float], name: str) -> float:
    """The power with which the formula grows in one size, the others large too."""
    here = dict.fromkeys(FEATURES.domain, 10**4)
    ratio = flops(**here | {name: 10**4 * FAR}) / flops(**here)
    return math.log(ratio) / math.log(FAR) if ratio > 0 else 0.0


def _theta(ratios: list[float]) -> bool:
    return min(ratios) > 0 and max(ratios) < min(ratios) * 1.001


@exercise("8.8", points=2)
def cost(flops: Annotated[FormulaAnswer, FEATURES]) -> Verdict:
    """Find the leading term of the FLOPs of linear attention in n, m and d."""
    ratios = []
    for point in FEATURES.points():
        far = {name: FAR * size for name, size in point.items()}
        ratios.append(flops(**far) / counted_flops(far))
    powers = {name: (degree(flops, name), degree(_counted, name)) for name in FEATURES.domain}
    for name, (mine, seen) in powers.items():
        if abs(mine - seen) > 0.1:
            return wrong(
                f"When {name} alone grows by a factor of 10, the counted FLOPs grow by a factor of "
                f"{show(10**seen, 3)}, and your formula by {show(10**mine, 3)}."
            )
    if all(abs(ratio - 1) < 1e-3 for ratio in ratios):
        return right(f"The meter counted {_plain(linear_flops())} FLOPs, and your term leads.")
    point = {"n": 1000, "m": 100, "d": 100}
    says = (
        f"At {show_at(point)} the meter counts {counted_flops(point)} FLOPs; your formula gives "
        f"{show(flops(**point), 9)}."
    )
    if _theta(ratios):
        return partly(1, f"It grows as it should, but the constant factor is another one. {says}")
    return wrong(says)


cost.add_hints(
    "There are two large products: φ(K)ᵀV and φ(Q) times the result. Which shapes meet?",
    "An (a×b)·(b×c) product costs about 2abc FLOPs: a multiplication and an addition each.",
)

cost.mistake(
    "MACs in place of FLOPs",
    "That is the number of multiply–adds. In FLOPs the multiplication and the addition "
    "count one each.",
    example=("2*n*m*d",),
)
cost.mistake(
    "one of the two products",
    "φ(K)ᵀV costs 2nmd and φ(Q) times it costs as much again. The denominator is small "
    "beside them.",
    example=("2*n*m*d + 2*n*m",),
)
cost.mistake(
    "nd",
    "It is often written so, with the features left out. Every token adds an m×d matrix "
    "φ(k)vᵀ, so a token costs m·d, not d.",
    example=("n*d",),
    when=lambda flops: close(degree(flops, "m"), 0) and close(degree(flops, "n"), 1),
)
cost.mistake(
    "the number of features taken to be d",
    "That is right for m = d, as with elu + 1. Here φ may have any number m of features.",
    example=("4*n*d**2",),
)
cost.mistake(
    "the cost of softmax attention",
    "n² comes from the n×n weights. They are never built here.",
    example=("4*n**2*d",),
    when=lambda flops: degree(flops, "n") > 1.5,
)
cost.mistake(
    "the memory in place of the work",
    "That is how many numbers φ(Q), φ(K) and V hold. Asked is how many operations are done "
    "with them.",
    example=("2*n*m + n*d",),
)


def _counted(**point: int) -> int:
    return counted_flops(point)


def _plain(polynomial: Any) -> str:
    return written(polynomial).replace("-", "−")
