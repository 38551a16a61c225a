"""Unit 06: counting cost. The meter runs the real code and is the judge of every formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.compare import alike, close
from selfcheck.display import show, show_apart, show_at
from selfcheck.exercises import exercise
from selfcheck.feedback import Outcome
from selfcheck.formula import names_in
from selfcheck.kinds import Formula, FormulaAnswer, Function, RealNumber, StudentId
from selfcheck.meter import Meter, difference, measure, polynomial
from selfcheck.recognition import Recognized
from selfcheck.refusals import OtherNumbers, Unreadable
from selfcheck.sampling import cases, numbers, sizes
from selfcheck.verdicts import Verdict, differs, partly, right, wrong

from .. import block
from ..attention import multi_head as attend
from ..numbers.counting_cost import Model, counting_cost

SIZES = Formula(l=range(2, 9), d_in=range(2, 9), d_att=range(2, 9), d_out=range(2, 9))
DEGREES = {"l": 2, "d_in": 1, "d_att": 1, "d_out": 1}
TOKENS_WIDTH = Formula(N=range(2, 9), D=range(2, 17, 2), T=range(1, 9))
WIDTH = Formula(D=range(2, 41, 2))
WINDOWS = Formula(N=range(2, 9), D=range(2, 17, 2), M=range(2, 6))
SHARED = Formula(N=range(2, 9), D=range(2, 9), H=range(2, 5), G=range(1, 4), w=range(2, 9))
BLOCK = Formula(D=range(2, 9), H=range(2, 5), G=range(1, 4), w=range(2, 9), F=range(2, 17))
HEADS = 2
FAR = (1_000, 100_000)  # sizes where a formula must not change its mind
HUGE = 1e4  # times the count: no missing term would explain it
MOST_TERMS = 500  # of a formula written out; SymPy would be busy for long


# -- what is counted: each polynomial is fitted to metered runs, once, when it is first asked for --


def _project(X: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray) -> tuple:
    Q, K = X @ Wq.T, X @ Wk.T
    return Q, K, K @ Wv.T


def _weigh(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    S = (Q / np.sqrt(Q.shape[1])) @ K.T
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


def _feed_forward(mixed: np.ndarray, W1: np.ndarray, b1: np.ndarray, w2: np.ndarray) -> np.ndarray:
    return np.maximum(mixed @ W1.T + b1, 0) @ w2


STAGES: dict[str, Callable] = {
    "project": _project,
    "weigh": _weigh,
    "mix": block.mix,
    "feed_forward": _feed_forward,
    "squared_error": block.squared_error,
}


def _inputs(l: int, d_in: int, d_att: int, d_out: int) -> dict[str, tuple]:  # noqa: E741
    """The parameters of the sheet's model, and what each stage is called with at these sizes."""
    rng = np.random.default_rng(0)
    shapes = [(d_att, d_in), (d_att, d_in), (d_out, d_att), (3, d_out), (3,), (3,)]
    X, y = rng.normal(size=(l, d_in)), rng.normal(size=l)
    Wq, Wk, Wv, W1, b1, w2 = (rng.normal(size=shape) for shape in shapes)
    Q, K, V = _project(X, Wq, Wk, Wv)
    A = _weigh(Q, K)
    mixed = block.mix(A, V)
    return {
        "parameters": (Wq, Wk, Wv, W1, b1, w2),
        "project": (X, Wq, Wk, Wv),
        "weigh": (Q, K),
        "mix": (A, V),
        "feed_forward": (mixed, W1, b1, w2),
        "squared_error": (y, _feed_forward(mixed, W1, b1, w2)),
    }


@cache
def flops_of(*stages: str) -> Any:
    """FLOPs of these stages of the model, as a polynomial in its sizes."""

    def count(**sizes: int) -> int:
        inputs = _inputs(**sizes)
        return sum(measure(STAGES[stage], *inputs[stage]).flops for stage in stages)

    return polynomial(count, **DEGREES)


@cache
def size_of(what: str) -> Any:
    """How many numbers these arrays hold, as a polynomial: parameters, mixed or weights."""

    def count(**sizes: int) -> int:
        inputs = _inputs(**sizes)
        mixed, weights = inputs["feed_forward"][:1], inputs["mix"][:1]
        arrays = {"parameters": inputs["parameters"], "mixed": mixed, "weights": weights}
        return sum(array.size for array in arrays[what])

    return polynomial(count, **DEGREES)


def _multi_head_macs(batches: int, tokens: int, width: int) -> int:
    """MACs of two heads of half the width on this many sequences, all at once."""
    heads = [tuple(np.ones((width, width // HEADS)) for _ in range(3)) for _ in range(HEADS)]
    return measure(attend, np.ones((batches, tokens, width)), heads, np.ones((width, width))).macs


@cache
def multi_head_macs() -> Any:
    """MACs of multi-head self-attention, as a polynomial in N and D."""
    return polynomial(lambda N, D: _multi_head_macs(1, N, D), N=(1, 2, 3, 5), D=(2, 4, 6, 8))


@cache
def windowed_macs() -> Any:
    """MACs of attention inside windows of M×M tokens, as a polynomial in N, D and M."""
    import sympy

    N, M, windows = sympy.symbols("N M windows")
    macs = polynomial(
        lambda windows, M, D: _multi_head_macs(windows, M * M, D),
        windows=(1, 2, 3),
        M=(1, 2, 3, 4, 5, 6),
        D=(2, 4, 6, 8),
    )
    return sympy.expand(macs.subs(windows, N / M**2))


# -- how a formula is judged -----------------------------------------------------------------------


Point = dict[str, int]


def _counted(measured: Any, point: Point) -> int:
    return int(measured.subs(point))


def _at_far(kind: Formula) -> list[Point]:
    """Sizes far from all others, every one different; the first, a length, may be summed over."""
    return [
        {name: (far if k else FAR[0]) + 7 * k for k, name in enumerate(kind.domain)} for far in FAR
    ]


def _points(kind: Formula) -> list[Point]:
    """The points to follow by hand, smallest first, and those far out."""
    return [*sorted(kind.points(), key=lambda point: sum(point.values())), *_at_far(kind)]


def _any_sizes(kind: Formula) -> list[Callable[[np.random.Generator], Point]]:
    """Sizes from 1 to 40, and up to a thousand."""
    names = list(kind.domain)
    return [
        lambda rng: dict(zip(names, sizes(rng, len(names)), strict=True)),
        lambda rng: dict(zip(names, map(int, rng.integers(41, 1000, len(names))), strict=True)),
    ]


def _gap(answer: FormulaAnswer, measured: Any, kind: Formula) -> Any:
    """What the formula lacks and has too much; None if it is far from any count."""
    import sympy

    if answer.formula.terms() > MOST_TERMS:
        return None
    try:
        for point in [{name: 100 + k for k, name in enumerate(kind.domain)}, *_at_far(kind)]:
            if abs(answer(**point)) > HUGE * _counted(measured, point):
                return None
    except Unreadable:  # beyond floating point
        return None
    symbols = {name: sympy.Symbol(name, integer=True, positive=True) for name in kind.domain}
    return difference(measured, answer.formula.to_sympy(**symbols))


def _lower_terms_off(gap: Any, measured: Any) -> bool:
    """Is all that is off a lower-order term of the count, and none of another kind?"""
    import sympy

    names = sorted(measured.free_symbols, key=str)
    rest = gap.missing - gap.extra
    if not rest.is_polynomial() or rest.free_symbols - measured.free_symbols:
        return False
    terms = sympy.Poly(measured, *names).monoms()
    lower = {
        term
        for term in terms
        if any(term != led and all(a <= b for a, b in zip(term, led, strict=True)) for led in terms)
    }
    return {*sympy.Poly(rest, *names).monoms()} <= lower


def _within_a_factor_of_two(answer: FormulaAnswer, measured: Any, kind: Formula) -> bool:
    counts = [(answer(**point), _counted(measured, point)) for point in kind.points()]
    return all(count / 2 <= given <= 2 * count for given, count in counts)


def _judge(
    answer: FormulaAnswer,
    measured: Any,
    what: str,
    kind: Formula = SIZES,
    *,
    whole: Callable[[Point], Point] = dict,
    lower: int = 0,
) -> Verdict:
    """Exact or wrong; `lower` points if the leading terms are right and only lower ones are not.

    `whole` makes sizes fit together.
    """
    matters = {size.name for size in measured.free_symbols} | names_in(answer.formula.tree)
    for drawn in cases(_points(kind), *_any_sizes(kind)):
        point = whole(drawn)
        counted, given = _counted(measured, point), answer(**point)
        if abs(given - counted) <= 1e-6 + 1e-12 * counted:
            continue
        at = show_at({name: size for name, size in point.items() if name in matters})
        verdict = differs(
            counted, given, at=f"At {at}" if at else "", what=f"the number of {what}", tolerance=0.0
        )
        assert verdict is not None
        gap = _gap(answer, measured, kind)
        if gap is None:
            return verdict
        says = f"{verdict.says} {gap}"
        if (
            lower
            and _lower_terms_off(gap, measured)
            and _within_a_factor_of_two(answer, measured, kind)
        ):
            says = f"The leading terms are right; an exact count has all. {says}"
            return partly(lower, replace(verdict, says=says))
        return replace(verdict, says=says)
    gap = _gap(answer, measured, kind)
    if gap and (gap.missing - gap.extra).is_polynomial():
        return wrong(str(gap))
    return right(f"The counted {what} follow your formula exactly.")


# -- the block, stage by stage ---------------------------------------------------------------------


@exercise
def parameters(count: Annotated[FormulaAnswer, SIZES]) -> Verdict:
    """Find the number of parameters of the block in l, d_in, d_att and d_out."""
    return _judge(count, size_of("parameters"), "parameters")


parameters.add_hints(
    "Write the shape of each of the six parameter arrays beside its name.",
    "W^Q and W^K have one shape, W^V and W_1 each another; b_1 and w_2 have one number for each of "
    "the three hidden units.",
)

parameters.mistake(
    "the length taken for a width",
    "This comes from deciding that d_in = d_out = l. The parameters act on one token at a "
    "time, so their number cannot depend on how many tokens there are.",
    example=("3*l*d_att + 3*l + 6",),
)
parameters.mistake(
    "d_out = l",
    "d_out is how many numbers a value has, l how many values there are. Nothing ties them "
    "together.",
    example=("2*d_att*d_in + d_att*l + 3*l + 6",),
)
parameters.mistake(
    "a set of parameters for every token",
    "All l tokens go through the same matrices. That is why a trained block can read a "
    "longer text.",
    example=("l*(2*d_att*d_in + d_att*d_out + 3*d_out + 6)",),
)
parameters.mistake(
    "the lecture's model",
    "The model of this sheet has another W^V, three hidden units and a bias.",
    example=("2*d_att*d_in + d_out*d_in + 2*d_out + 2",),
)
parameters.mistake(
    "values made from tokens",
    "Here values are made from keys, which have d_att numbers: W^V has d_out rows of that length.",
    example=("2*d_att*d_in + d_out*d_in + 3*d_out + 6",),
)
parameters.mistake(
    "W^Q and W^K counted once",
    "Queries and keys have the same size, but each has a matrix of its own.",
    example=("d_att*d_in + d_att*d_out + 3*d_out + 6",),
)
parameters.mistake(
    "the feed-forward block forgotten",
    "After the attention come W_1 with three rows of d_out numbers, b_1 and w_2.",
    example=("2*d_att*d_in + d_att*d_out",),
)
parameters.mistake(
    "w_2 forgotten",
    "The last layer has parameters too: one for each of the three hidden numbers.",
    example=("2*d_att*d_in + d_att*d_out + 3*d_out + 3",),
)
parameters.mistake(
    "b_1 forgotten",
    "A bias is learned as the matrices are: one number for each of the three hidden ones.",
    example=("2*d_att*d_in + d_att*d_out + 3*d_out + 3",),
)
parameters.mistake(
    "biases everywhere",
    "Only the hidden layer of this model has a bias.",
    example=("2*d_att*d_in + d_att*d_out + 3*d_out + 6 + 2*d_att + d_out + 1",),
)


@exercise
def projections(flops: Annotated[FormulaAnswer, SIZES]) -> Verdict:
    """Find the FLOPs of all queries, keys and values, exactly."""
    return _judge(flops, flops_of("project"), "FLOPs", lower=2)


projections.add_hints(
    "One number of a query is the dot product of a row of W^Q with a token: how many "
    "multiplications, and how many additions?",
    "One number of a value is the dot product of a row of W^V with a key, which has another "
    "length. How many numbers are there of each kind?",
)

projections.mistake(
    "one addition too many in every sum",
    "A sum of b products takes b − 1 additions, so a number costs 2b − 1 FLOPs. "
    "Yours are the usual leading terms, and a little more than the exact count.",
    example=("4*l*d_att*d_in + 2*l*d_out*d_att",),
)
projections.mistake(
    "multiplications alone",
    "That is the number of MACs: a multiplication and an addition together. In FLOPs each "
    "of the two counts.",
    example=("2*l*d_att*d_in + l*d_out*d_att",),
)
projections.mistake(
    "one token only",
    "This is the cost of one token's query, key and value; there are l tokens.",
    example=("2*d_att*(2*d_in - 1) + d_out*(2*d_att - 1)",),
)
projections.mistake(
    "queries and keys counted once",
    "Queries and keys have the same size and are computed by two products.",
    example=("l*d_att*(2*d_in - 1) + l*d_out*(2*d_att - 1)",),
)
projections.mistake(
    "the lecture's model",
    "There values are made from the tokens. Here they are made from the keys, in dot products of "
    "length d_att.",
    example=("l*(2*d_in - 1)*(2*d_att + d_out)",),
)
projections.mistake(
    "d_out = l",
    "A value has d_out numbers, whatever the number of tokens is.",
    example=("2*l*d_att*(2*d_in - 1) + l**2*(2*d_att - 1)",),
)


@exercise
def attention(flops: Annotated[FormulaAnswer, SIZES]) -> Verdict:
    """Find the FLOPs from Q, K and V to the mixed values: scores, softmax and mix, exactly."""
    return _judge(flops, flops_of("weigh", "mix"), "FLOPs", lower=2)


attention.add_hints(
    "Count four things one by one: the division of Q by √d_att, the product with Kᵀ, the softmax, "
    "and the product of the weights with V. Which array is divided, and how large is it?",
    "The softmax of one row of l numbers: a maximum (l − 1 comparisons), l subtractions, l "
    "exponentials, a sum, l divisions. There are l rows.",
    "In the mix every number is a sum of l products, and there are l·d_out numbers.",
)

attention.mistake(
    "the scores of one query only",
    "2·d_att·l pays for one query against all keys; there are l queries, so l² scores. And "
    "the mix has d_out numbers for every token, each a sum over l of them.",
    example=("2*d_att*(1 + l) + 2*l**2",),
)
attention.mistake(
    "only the leading terms",
    "For long sequences these two terms rule. An exact count also has the softmax and the "
    "additions that a sum of l numbers saves.",
    example=("2*l**2*(d_att + d_out)",),
)

_SCORES = "l*d_att + l**2*(2*d_att - 1)"
_SOFTMAX, _MIX = "5*l**2 - 2*l", "l*d_out*(2*l - 1)"

attention.mistake(
    "the softmax without its safety step",
    "The code finds the largest score of each row and subtracts it, so that no exponential "
    "overflows: l − 1 comparisons and l subtractions a row.",
    example=(f"{_SCORES} + 3*l**2 - l + {_MIX}",),
)
attention.mistake(
    "the scores divided",
    "In the lecture each of the l² scores is divided. Here Q is, before the product: that is "
    "another number of divisions.",
    example=(f"2*l**2*d_att + {_SOFTMAX} + {_MIX}",),
)
attention.mistake(
    "Q and K both divided",
    "Only Q is divided by √d_att: l·d_att divisions.",
    example=(f"l*d_att + {_SCORES} + {_SOFTMAX} + {_MIX}",),
)
attention.mistake(
    "the division by √d_att forgotten",
    "Each of the l·d_att numbers of Q is divided once.",
    example=(f"l**2*(2*d_att - 1) + {_SOFTMAX} + {_MIX}",),
)
for _name, _says in {
    "the exponentials forgotten": "Each of the l² scores goes through one exponential.",
    "the subtraction of the maximum forgotten": "The largest score of its row is subtracted from "
    "each of the l² scores.",
    "the division by the sum forgotten": "Each of the l² exponentials is divided by the sum of "
    "its row.",
}.items():
    attention.mistake(
        _name, _says, example=(f"{_SCORES} + 4*l**2 - 2*l + {_MIX}",)
    )  # each of them lacks l²
for _name, _says in {
    "the search for the maximum forgotten": "In each of the l rows, l − 1 comparisons find the "
    "largest score.",
    "the sum of the exponentials forgotten": "In each of the l rows, l − 1 additions make the sum "
    "of the exponentials.",
}.items():
    attention.mistake(_name, _says, example=(f"{_SCORES} + 4*l**2 - l + {_MIX}",))
attention.mistake(
    "a sum of k numbers taken as k additions",
    "A sum or a maximum of k numbers takes k − 1 steps, everywhere: in the products and in "
    "the softmax.",
    example=("l*d_att + 2*l**2*d_att + 5*l**2 + 2*l**2*d_out",),
)
attention.mistake(
    "the softmax forgotten",
    "These are the two products and the division; between them stands the softmax, with "
    "several FLOPs for each of the l² scores.",
    example=(f"{_SCORES} + {_MIX}",),
)
attention.mistake(
    "one row only",
    "This is the cost for one query; there are l of them.",
    example=(f"({_SCORES} + {_SOFTMAX} + {_MIX})/l",),
)


@exercise
def feed_forward(flops: Annotated[FormulaAnswer, SIZES]) -> Verdict:
    """Find the FLOPs of the feed-forward block for all l tokens, exactly."""
    return _judge(flops, flops_of("feed_forward"), "FLOPs", lower=1)


feed_forward.add_hints(
    "For one token: three dot products of length d_out, then the bias, the ReLU, and one dot "
    "product of length 3.",
    "A dot product of length b costs 2b − 1 FLOPs; max(x, 0) costs one comparison, and the bias "
    "one addition.",
)

feed_forward.mistake(
    "the mixed value taken for an l×l matrix",
    "ṽ[i] is one vector of d_out numbers. As an l×l matrix it would make W_1ṽ[i] a 3×l "
    "matrix, and the block would return l numbers for a token in place of one.",
    example=("6*l*(1 + l)",),
)
feed_forward.mistake(
    "the lecture's model",
    "There the hidden layer has two numbers and no bias. Here it has three, each with a bias.",
    example=("4*l*d_out + 3*l",),
)
feed_forward.mistake(
    "only the leading term",
    "The rest is small but there: the additions that a sum saves, the bias, the ReLU, and the dot "
    "product with w_2.",
    example=("6*l*d_out",),
)
feed_forward.mistake(
    "the ReLU taken as free",
    "max(x, 0) compares, and a comparison is one FLOP: three for each token.",
    example=("6*l*d_out + 5*l",),
)
feed_forward.mistake(
    "the bias taken as free",
    "Each of the three sums gets one addition more.",
    example=("6*l*d_out + 5*l",),
)
feed_forward.mistake(
    "the product with w_2 taken as one FLOP",
    "w_2 has three numbers: three multiplications and two additions for each token.",
    example=("6*l*d_out + 4*l",),
)
feed_forward.mistake(
    "the product with w_2 forgotten",
    "After the ReLU comes a dot product with w_2: five FLOPs for each token.",
    example=("6*l*d_out + 3*l",),
)
feed_forward.mistake(
    "one token only",
    "This is one token's share; the block runs for all l.",
    example=("6*d_out + 8",),
)
feed_forward.mistake(
    "a sum of k numbers taken as k additions",
    "A dot product of length b has b − 1 additions: 2b − 1 FLOPs in all.",
    example=("6*l*d_out + 12*l",),
)


@exercise
def loss(flops: Annotated[FormulaAnswer, SIZES]) -> Verdict:
    """Find the FLOPs of the loss when ŷ is given, exactly."""
    return _judge(flops, flops_of("squared_error"), "FLOPs")


loss.add_hints(
    "ŷ is given: nothing in front of the loss is computed again.",
    "l subtractions, l squares, and one sum of l numbers.",
)

loss.mistake(
    "a forward pass charged for every square",
    "The square was expanded into three terms, and each charged with the cost of the whole "
    "feed-forward block. But ŷ is computed once and is a number by now.",
    example=("12*l*(l + 1)",),
)
loss.mistake(
    "a sum of l numbers taken as l additions",
    "l numbers are added with l − 1 additions.",
    example=("3*l",),
)
loss.mistake(
    "the square expanded",
    "y² − 2yŷ + ŷ² has the same value and costs more. The code subtracts first and squares once.",
    example=("7*l - 1",),
)
loss.mistake(
    "the sum forgotten",
    "l differences and l squares; then the squares are added up.",
    example=("2*l",),
)
loss.mistake(
    "the squares forgotten",
    "Each of the l differences is multiplied with itself, which is one FLOP.",
    example=("2*l - 1",),
)
loss.mistake(
    "the subtractions forgotten",
    "y − ŷ is one subtraction for each of the l tokens.",
    example=("2*l - 1",),
)


@exercise
def kept(
    mixed: Annotated[FormulaAnswer, SIZES], weights: Annotated[FormulaAnswer, SIZES]
) -> Verdict:
    """Find how many numbers ṽ and α have, which the forward pass keeps for the backward pass."""
    return right("Both arrays were made at many sizes, and have as many numbers as you say.")


@kept.part("ṽ")
def _kept_mixed(mixed: FormulaAnswer) -> Verdict:
    return _judge(mixed, size_of("mixed"), "numbers in ṽ")


@kept.part("α")
def _kept_weights(weights: FormulaAnswer) -> Verdict:
    return _judge(weights, size_of("weights"), "numbers in α")


kept.add_hints(
    "ṽ[i] is one vector for each token i. How long is it?",
    "α[i, j] is one number for each pair of tokens.",
)

kept.mistake(
    "each ṽ[i] taken for an l×l matrix",
    "ṽ[i] is a weighted mean of values, so it has the size of one value: d_out numbers. "
    "All l of them together are l·d_out.",
    part="ṽ",
    example=("l**3",),
)
kept.mistake(
    "one token only",
    "This is what one token needs. For the backward pass those of all l tokens are kept.",
    part="ṽ",
    example=("d_out",),
)
kept.mistake(
    "d_out = l",
    "A value has d_out numbers, whatever the number of tokens is.",
    part="ṽ",
    example=("l**2",),
)
kept.mistake(
    "the weights of one query only",
    "Each of the l queries has a weight for each of the l keys.",
    part="α",
    example=("l",),
)
kept.mistake(
    "α as large as ṽ",
    "l·d_out numbers are in ṽ, which the check takes first. α has one for each pair of tokens.",
    part="α",
    example=("l*d_out",),
)


# -- multi-head attention --------------------------------------------------------------------------


def _one_term_right(macs: FormulaAnswer, measured: Any) -> bool:
    """Is one of the two terms right, and the other missing or with another positive factor?"""
    gap = _gap(macs, measured, TOKENS_WIDTH)
    if gap is None:
        return False
    off = (gap.missing - gap.extra).as_coefficients_dict().keys()
    return (
        len(off) == 1
        and off <= measured.as_coefficients_dict().keys()
        and all(macs(**point) >= 0 for point in _points(TOKENS_WIDTH))
    )


@exercise
def multi_head(macs: Annotated[FormulaAnswer, TOKENS_WIDTH]) -> Verdict:
    """Find the MACs of multi-head self-attention of N tokens of width D."""
    measured = multi_head_macs()
    verdict = _judge(macs, measured, "MACs", TOKENS_WIDTH)
    if verdict.outcome is Outcome.WRONG and _one_term_right(macs, measured):
        says = f"One of the two terms is right. {verdict.says}"
        return partly(1, replace(verdict, says=says))
    return verdict


multi_head.add_hints(
    "Count the products: how many are of an N×D array with a D×D matrix, all heads together?",
    "T heads of width D/T do T times an N×(D/T) by (D/T)×N product. What is that in N and D?",
    "The scores are one such product, the mix of the values another.",
)

multi_head.mistake(
    "the square on the wrong letter",
    "Scores and mix cost 2N²D: every token meets every token, so N is squared. With 2ND² "
    "attention would look linear in N.",
    example=("4*N*D**2 + 2*N*D**2",),
)
multi_head.mistake(
    "scores or mix counted once",
    "There are two products with an N×N array: QKᵀ, and the weights times V.",
    example=("4*N*D**2 + N**2*D",),
)
multi_head.mistake(
    "the output projection forgotten",
    "After the heads have been put side by side, they are multiplied with W^O, once more ND² MACs.",
    example=("3*N*D**2 + 2*N**2*D",),
)
multi_head.mistake(
    "one of queries, keys and values forgotten",
    "A head has three projections. All heads together make 3ND² MACs of them, and W^O one more.",
    example=("3*N*D**2 + 2*N**2*D",),
)
multi_head.mistake(
    "FLOPs in place of MACs",
    "A MAC is a multiplication and its addition together; papers that write 4ND² count those.",
    example=("8*N*D**2 + 4*N**2*D",),
)
multi_head.mistake(
    "the output projection of one token only",
    "W^O is applied to each of the N tokens, so it costs ND².",
    example=("3*N*D**2 + 2*N**2*D + D**2",),
)
multi_head.mistake(
    "no attention at all",
    "These are the four projections. Between them stand the scores and the mix.",
    example=("4*N*D**2",),
)


Own = Annotated[FormulaAnswer | None, TOKENS_WIDTH]  # the MACs of exercise 6.7
WITH_OWN = "With your count of exercise 6.7, whose slip is charged there,"


class Terms(NamedTuple):
    """What stands before N and before N² at one width."""

    linear: float
    quadratic: float


def own_terms(macs: FormulaAnswer | None, D: float) -> Terms | None:
    """Those of a student's count, if it has both and nothing else."""
    if macs is None:
        return None
    try:
        once, twice, thrice = (macs(N=N, D=D, T=HEADS) for N in (1, 2, 3))
    except Unreadable:
        return None
    quadratic = (twice - 2 * once) / 2
    linear = once - quadratic
    fits = close(3 * linear + 9 * quadratic, thrice) and linear > 0 and quadratic > 0
    return Terms(linear, quadratic) if fits else None


def _crossing(
    tokens: FormulaAnswer, macs: Any, kind: Formula, whole: Callable[[Point], Point] = dict
) -> Verdict:
    """Right if at this N the part of the MACs with N² is as large as the part with N."""
    import sympy

    by_power = sympy.Poly(macs, sympy.Symbol("N")).as_dict()
    for drawn in cases(_points(kind), *_any_sizes(kind)):
        point = whole(drawn)
        N = tokens(**point)
        at = f"At {show_at(point)} your N is {show(N)}"
        if not N > 0:
            return wrong(f"{at}; a number of tokens is above 0.", at="N", yours=N)
        linear, quadratic = (float(by_power[(k,)].subs(point)) * N**k for k in (1, 2))
        if not close(linear, quadratic):
            squared, rest = show_apart(quadratic, linear)
            says = f"There the part with N² takes {squared} MACs and the part with N takes {rest}."
            return wrong(f"{at}. {says}", at="N", yours=N)
    return right("At every width tried both parts of the metered count are equal at your N.")


def _equal_by_own(tokens: FormulaAnswer, macs: FormulaAnswer | None) -> bool:
    """Whether the two terms of the student's own count are equal at this N."""
    for point in cases(_points(WIDTH), *_any_sizes(WIDTH)):
        N, terms = tokens(**point), own_terms(macs, point["D"])
        if terms is None or not (N > 0 and close(terms.linear, terms.quadratic * N)):
            return False
    return True


@exercise
def crossover(tokens: Annotated[FormulaAnswer, WIDTH], macs: Own = None) -> Verdict:
    """Find the N, in D, at which the part quadratic in N costs as much as the rest."""
    verdict = _crossing(tokens, multi_head_macs(), WIDTH)
    if verdict.outcome is not Outcome.RIGHT and _equal_by_own(tokens, macs):
        return right(f"{WITH_OWN} both parts are equal at your N.")
    return verdict


crossover.add_hints(
    "Set the part of the count that is quadratic in N equal to the part that is linear in N.",
    "Both parts have a common factor ND. Divide it out.",
)

crossover.mistake(
    "scores or mix counted once",
    "With N²D in place of 2N²D the quadratic part seems to come later than it does.",
    example=("4*D",),
)
crossover.mistake(
    "the output projection forgotten",
    "There are four projections of ND² MACs: queries, keys, values and the output.",
    example=("3*D/2",),
)
crossover.mistake(
    "one of queries, keys and values forgotten",
    "Queries, keys and values take ND² MACs each, and the output projection takes as many.",
    example=("3*D/2",),
)
crossover.mistake(
    "upside down",
    "4ND² = 2N²D; dividing by 2ND leaves N on one side and 2D on the other.",
    example=("D/2",),
)
crossover.mistake(
    "only the powers compared",
    "N²D and ND² are equal at N = D, but they come with different factors.",
    example=("D",),
)


# -- backward --------------------------------------------------------------------------------------

SQUARE = (
    np.array([[0.5, 0.5], [0.25, 0.75]]),
    np.array([[1.0, 2.0], [3.0, -1.0]]),
    np.array([[1.0, 0.0], [2.0, 1.0]]),
)


Mix = tuple[np.ndarray, np.ndarray, np.ndarray]  # A, V and dY


def _mix_sizes(n: int, k: int, m: int) -> Mix:
    """Random A (n×k), V (k×m) and dY (n×m)."""
    rng = np.random.default_rng(n + 10 * k + 100 * m)
    A, V, dY = (rng.integers(-4, 5, size).astype(float) for size in ((n, k), (k, m), (n, m)))
    return A, V, dY


def _by_differences(A: np.ndarray, V: np.ndarray, dY: np.ndarray) -> list[np.ndarray]:
    """Gradients of Σ dY∘(AV): nudge each number of A and V. A product is linear in each factor."""
    A, V = np.array(A), np.array(V)
    gradients = []
    for array in (A, V):
        gradient = np.zeros(array.shape)
        for index in np.ndindex(array.shape):
            before = (dY * (A @ V)).sum()
            array[index] += 1.0
            gradient[index] = (dY * (A @ V)).sum() - before
            array[index] -= 1.0
        gradients.append(gradient)
    return gradients


def _pair(backward: FunctionAnswer, arrays: tuple) -> list[np.ndarray]:
    """What the function returned, as two arrays of any shape."""
    result = backward(*arrays)
    try:
        parts = [np.array(part, dtype=float) for part in result]
    except (TypeError, ValueError):
        parts = []
    if len(parts) != 2 or (isinstance(result, np.ndarray) and result.ndim < 3):
        shapes = f"A {_by(arrays[0].shape)}, V {_by(arrays[1].shape)}"
        raise Unreadable(
            f"{backward.name}(A, V, dY) with {shapes} should return two arrays, `return dA, dV`."
        )
    return parts


def _any_mix(largest: int, least: int = 1) -> Callable[[np.random.Generator], Mix]:
    """A, V and dY of any shapes."""

    def draw(rng: np.random.Generator) -> Mix:
        n, k, m = sizes(rng, 3, least, largest)
        return numbers(rng, n, k), numbers(rng, k, m), numbers(rng, n, m)

    return draw


def _off_entry(backward: FunctionAnswer, arrays: tuple) -> Verdict | None:
    """A refutation if nudging one number of A or V changes the loss at another rate."""
    answer, (A, V, dY) = _pair(backward, arrays), arrays
    a, v, dy = (np.abs(array) for array in arrays)
    terms = (dy @ v.T).max(), (a.T @ dy).max()  # what may cancel, and leave its rounding
    given = zip(("dA", "dV"), answer, _by_differences(*arrays), terms, strict=True)
    for name, mine, seen, size in given:
        at = f"With A = {show(A)}, V = {show(V)}, dY = {show(dY)}, nudged number by number,"
        tolerance = 1e-6 * max(1.0, size / max(np.abs(seen).max(), 1e-3 * size, 1e-300))
        if verdict := differs(seen, mine, at=at, what=name, tolerance=tolerance, whole=answer):
            return verdict
    return None


def _off_way(backward: FunctionAnswer, arrays: tuple) -> Verdict | None:
    """The same for large arrays, with all numbers of A, then of V, moved at once."""
    answer, (A, V, dY) = _pair(backward, arrays), arrays
    rng = np.random.default_rng(len(A))
    way = rng.uniform(-1, 1, A.shape), rng.uniform(-1, 1, V.shape)
    changes = (dY * (way[0] @ V)).sum(), (dY * (A @ way[1])).sum()
    a, v, dy, *ways = (np.abs(array) for array in (*arrays, *way))
    terms = (dy * (ways[0] @ v)).sum(), (dy * (a @ ways[1])).sum()
    given = zip(("dA", "dV"), answer, way, changes, terms, strict=True)
    for name, mine, moved, change, size in given:
        at = f"With A {_by(A.shape)} and V {_by(V.shape)}"
        if mine.shape != moved.shape:
            return differs(moved, mine, at=at, what=name, whole=answer)
        at = f"{at}, all numbers of {name[1]} moved a little,"
        what = f"the change of the loss that {name} tells"
        tolerance = 1e-6 * size / max(abs(change), 1e-6 * size, 1e-300)
        if verdict := differs(change, (mine * moved).sum(), at=at, what=what, tolerance=tolerance):
            return verdict
    return None


def _by(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))


def _many_times_the_price(backward: FunctionAnswer) -> bool:
    """Right gradients at ten forward passes or more; what is a little dear has other reasons."""
    sizes = _mix_sizes(5, 6, 7)
    try:
        if not alike(backward(*sizes), _by_differences(*sizes)):
            return False
    except Unreadable:  # it takes square matrices only
        return False
    return backward.metered(*sizes, like=_by_differences).flops > 20 * 5 * 6 * 7


class PricedFunction(Function):
    """A function; two are the same if they give the same numbers and both are dear, or neither."""

    def same(self, a: FunctionAnswer, b: FunctionAnswer) -> bool:
        return super().same(a, b) and _many_times_the_price(a) == _many_times_the_price(b)


FIRST_MIXES = [SQUARE, _mix_sizes(2, 3, 4), _mix_sizes(4, 4, 1), _mix_sizes(1, 5, 2)]


def _priced(backward: FunctionAnswer, arrays: tuple) -> Verdict:
    """Are right gradients had at twice the price of the forward product, or less?"""
    (n, k), m = arrays[0].shape, arrays[1].shape[1]
    forward = measure(block.mix, *arrays[:2])
    try:
        cost = backward.metered(*arrays, like=_by_differences)
    except OtherNumbers as miss:
        return wrong(str(miss))
    except Unreadable as trouble:
        return partly(1, f"The gradients are right, but their cost was not counted. {trouble}")
    limit = 4 * forward.macs
    if cost.left or not cost.flops:
        return partly(1, "The gradients are right. To be counted, keep the numbers in arrays.")
    says = (
        f"With A {n}×{k} and V {k}×{m} the forward product takes {forward.macs} MACs, or "
        f"{2 * forward.macs} FLOPs at two a MAC. Twice that is {limit}, and yours takes "
        f"{cost.flops}."
    )
    if cost.flops > limit:
        return partly(1, f"The gradients are right. {says}{_price_of(cost, n * k * m)}")
    return right(f"Finite differences agree. {says}")


def _price_of(cost: Meter, product: int) -> str:
    """What the work went into, if an array larger than any that is needed was made."""
    needless = [made for made in cost.arrays if math.prod(made.shape) > product]
    return f" The largest array was {needless[0]}." if needless else ""


@exercise
def mix_backward(
    mix_backward: Annotated[FunctionAnswer, PricedFunction(samples=[SQUARE])],
) -> Verdict:
    """Write a function of A, V and dY that returns dA and dV at twice the cost of Y = AV."""
    for arrays in cases(FIRST_MIXES, _any_mix(largest=9), fresh=4):
        if verdict := _off_entry(mix_backward, arrays):
            return verdict
    for arrays in cases([], _any_mix(40), _any_mix(40, least=20), fresh=2):
        if verdict := _off_way(mix_backward, arrays):
            return verdict
    for arrays in cases([_mix_sizes(5, 6, 7)], _any_mix(largest=7), fresh=1):
        verdict = _priced(mix_backward, arrays)
        if verdict.outcome is not Outcome.RIGHT:
            return verdict
    return _priced(mix_backward, _mix_sizes(5, 6, 7))


mix_backward.add_hints(
    "Write one entry of the product: Y[i, c] = Σ_j A[i, j] V[j, c]. In which entries of Y does "
    "A[i, j] occur?",
    "∂L/∂A[i, j] = Σ_c dY[i, c] V[j, c]. Which matrix product is that? Let the shapes guide "
    "you, then do the same for V.",
)

mix_backward.forbid("block.backward", "rnn.finite_differences")

mix_backward.mistake(
    "V not transposed",
    "dA[i, j] = Σ_c dY[i, c] V[j, c] sums over the columns of V, so V enters transposed. "
    "With a V that is not square the shapes would not fit.",
    example=(lambda A, V, dY: (dY @ V, A.T @ dY),),
)
mix_backward.mistake(
    "A not transposed",
    "dV[j, c] = Σ_i A[i, j] dY[i, c] sums over the rows of A, so A enters transposed.",
    example=(lambda A, V, dY: (dY @ V.T, A @ dY),),
)
mix_backward.mistake(
    "dY left out",
    "This is the gradient of the sum of all entries of Y. The loss weighs them by dY, "
    "which comes from the stages behind.",
    example=(lambda A, V, dY: (np.ones_like(dY) @ V.T, A.T @ np.ones_like(dY)),),
)


def _swapped(backward: FunctionAnswer) -> bool:
    first, second = backward(*_mix_sizes(2, 3, 4))
    return np.shape(first) == (3, 4) and np.shape(second) == (2, 3)


mix_backward.mistake(
    "dV and dA in the wrong places",
    "The function returns dA first, with the shape of A, then dV, with the shape of V.",
    example=(lambda A, V, dY: (A.T @ dY, dY @ V.T),),
    when=_swapped,
)


mix_backward.mistake(
    "right, but at many times the price",
    "Two matrix products are enough. Nudging one number after the other costs a forward "
    "pass for each, and a full Jacobian is mostly zeros.",
    example=(_by_differences,),
)


# -- windows ---------------------------------------------------------------------------------------


def _whole_windows(point: Point) -> Point:
    """As many tokens as fill N windows."""
    return {**point, "N": point["N"] * point["M"] ** 2}


def _windowed_by_own(windowed: FormulaAnswer, macs: FormulaAnswer | None) -> bool:
    """Whether this is the student's own count, for as many windows as there are."""
    for point in cases(_points(WINDOWS), *_any_sizes(WINDOWS)):
        N, D, M = (point[name] for name in "NDM")
        terms = own_terms(macs, D)
        if terms is None:
            return False
        if not close(windowed(**point), N * (terms.linear + terms.quadratic * M**2)):
            return False
    return True


@exercise
def windowed(macs: Annotated[FormulaAnswer, WINDOWS], whole_macs: Own = None) -> Verdict:
    """Find the MACs when N tokens attend within windows of M×M tokens only."""
    verdict = _judge(macs, windowed_macs(), "MACs", WINDOWS, whole=_whole_windows)
    if verdict.outcome is Outcome.WRONG and _windowed_by_own(macs, whole_macs):
        return right(f"{WITH_OWN} this is what the windows take.")
    return verdict


windowed.add_hints(
    "A window holds M² tokens. What does exercise 6.7 say for N = M²?",
    "There are N/M² windows.",
)

windowed.mistake(
    "M taken for the tokens of a window",
    "A window is M tokens wide and M tokens high: M² tokens.",
    example=("4*N*D**2 + 2*M*N*D",),
)
windowed.mistake(
    "one window only",
    "That is one window with its M² tokens; there are N/M² of them.",
    example=("4*M**2*D**2 + 2*M**4*D",),
)
windowed.mistake(
    "the windows ignored",
    "Within a window a token meets M² tokens, not all N.",
    example=("4*N*D**2 + 2*N**2*D",),
)
windowed.mistake(
    "scores or mix counted once",
    "There are two products with the array of weights: one makes the scores, one mixes the values.",
    example=("4*N*D**2 + M**2*N*D",),
)
windowed.mistake(
    "the projections forgotten",
    "The four projections cost the same as before: they act on each token by itself.",
    example=("2*M**2*N*D",),
)


# -- beyond the page: shared keys and values -------------------------------------------------------


def _shared_arrays(N: int, D: int, G: int, R: int, w: int) -> dict[str, list[np.ndarray]]:
    """A layer whose G keys and values serve R heads each, and what it keeps of N tokens."""
    Wq, Wo = [np.ones((D, w))] * (G * R), [np.ones((w, D))] * (G * R)
    Wk, Wv = [np.ones((D, w))] * G, [np.ones((D, w))] * G
    keys, values = [np.ones((N, w))] * G, [np.ones((N, w))] * G
    return {"parameters": [*Wq, *Wk, *Wv, *Wo], "cache": [*keys, *values]}


def _next_token(x: np.ndarray, parameters: list[np.ndarray], cache: list[np.ndarray]) -> Any:
    """The output for one further token; `cache` has its key and value already, to be renewed."""
    G = len(cache) // 2
    R = (len(parameters) - 2 * G) // 2 // G
    Wq, Wk, Wv, Wo = np.split(np.arange(len(parameters)), [G * R, G * R + G, G * R + 2 * G])
    output = np.zeros(len(x))
    for g in range(G):
        cache[g][-1], cache[G + g][-1] = x @ parameters[Wk[g]], x @ parameters[Wv[g]]
        for h in range(g * R, (g + 1) * R):
            scores = cache[g] @ (x @ parameters[Wq[h]])
            mixed = (scores / scores.sum()) @ cache[G + g]
            output = output + mixed @ parameters[Wo[h]]
    return output


@cache
def shared(what: str) -> Any:
    """Parameters, numbers in the cache or MACs of one further token, in N, D, H, G and w."""
    import sympy

    def count(**sizes: int) -> int:
        arrays = _shared_arrays(**sizes)
        if what == "macs":
            return measure(_next_token, np.ones(sizes["D"]), *arrays.values()).macs
        return sum(array.size for array in arrays[what])

    H, G, R = sympy.symbols("H G R")
    return sympy.expand(polynomial(count, N=1, D=1, G=1, R=1, w=1).subs(R, H / G))


def _whole_groups(point: Point) -> Point:
    """As many heads as fill the groups."""
    return {**point, "H": point["H"] * point["G"]}


@exercise
def grouped(
    count: Annotated[FormulaAnswer, SHARED],
    kept: Annotated[FormulaAnswer, SHARED],
    macs: Annotated[FormulaAnswer, SHARED],
) -> Verdict:
    """Count parameters, cache and MACs of a further token if H heads share G keys and values."""
    return right("All three counts of the layer, as it runs, follow your formulas exactly.")


@grouped.part("Parameters")
def _grouped_parameters(count: FormulaAnswer) -> Verdict:
    return _judge(count, shared("parameters"), "parameters", SHARED, whole=_whole_groups)


@grouped.part("Cache")
def _grouped_cache(kept: FormulaAnswer) -> Verdict:
    return _judge(kept, shared("cache"), "numbers kept", SHARED, whole=_whole_groups)


@grouped.part("MACs")
def _grouped_macs(macs: FormulaAnswer) -> Verdict:
    return _judge(macs, shared("macs"), "MACs", SHARED, whole=_whole_groups)


grouped.add_hints(
    "Write the matrices down: how many of each kind are there, and of what shape?",
    "A shared key is kept once, and yet every head has a query of its own to meet it with.",
    "The further token makes H queries, G keys and G values; then each head makes N scores and "
    "mixes N values.",
)

grouped.mistake(
    "a key and a value for every head",
    "There are only G of each, however many heads there are.",
    example=("4*D*H*w",),
    part="Parameters",
)
for _name, _says, _example in [
    ("the output matrix forgotten", "The H outputs of w numbers go back to D.", "D*H*w + 2*D*G*w"),
    ("an output matrix of D×D", "The heads side by side are H·w numbers, which need not be D.",
     "D*H*w + 2*D*G*w + D**2"),
    ("keys or values forgotten", "Keys and values have matrices of their own.",
     "2*D*H*w + D*G*w"),
]:  # fmt: skip
    grouped.mistake(_name, _says, example=(_example,), part="Parameters")
for _name, _says, _example in [
    ("a key and a value for every head", "A shared key is kept once, for the whole group.",
     "2*N*H*w"),
    ("keys or values forgotten", "Both the keys and the values of the past are needed again.",
     "N*G*w"),
    ("queries kept too", "A query is used once, for its own token, and never again.",
     "2*N*G*w + N*H*w"),
    ("whole tokens kept", "Kept is what heads look at: keys and values of w numbers.", "2*N*D"),
]:  # fmt: skip
    grouped.mistake(_name, _says, example=(_example,), part="Cache")
for _name, _says, _example in [
    ("a group scored once", "The heads of a group share the keys, but not the query: each of "
     "them makes N scores and mixes N values. Sharing saves memory, not these MACs.",
     "2*D*H*w + 2*D*G*w + 2*N*G*w"),
    ("all keys and values made anew", "Those of the past are in the cache; only the new token "
     "needs a key and a value.", "2*D*H*w + 2*N*D*G*w + 2*N*H*w"),
    ("the whole text anew", "One token is new: it has one row of scores a head.",
     "N*(2*D*H*w + 2*D*G*w + 2*N*H*w)"),
    ("scores or mix counted once", "Each head does both: N scores and a mix of N values.",
     "2*D*H*w + 2*D*G*w + N*H*w"),
    ("a key and a value for every head", "The new token makes G keys and G values.",
     "4*D*H*w + 2*N*H*w"),
]:  # fmt: skip
    grouped.mistake(_name, _says, example=(_example,), part="MACs")


# -- beyond the page: a gate -----------------------------------------------------------------------


def _plain(X: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
    return np.maximum(X @ up, 0) @ down


def _gated(X: np.ndarray, gate: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
    return (np.maximum(X @ gate, 0) * (X @ up)) @ down


@cache
def feed_forward_macs(is_gated: bool) -> Any:
    """MACs of a feed-forward block of hidden width F, with or without a gate."""

    def count(N: int, D: int, F: int) -> int:
        X, wide, down = np.ones((N, D)), np.ones((D, F)), np.ones((F, D))
        return measure(*((_gated, X, wide) if is_gated else (_plain, X)), wide, down).macs

    return polynomial(count, N=1, D=1, F=1)


def _products(*factors: np.ndarray) -> None:
    for left, right_ in zip(factors[::2], factors[1::2], strict=True):
        left @ right_


@cache
def block_macs() -> Any:
    """MACs of a block on N tokens at once: shared keys and values, then a gated feed-forward."""

    def count(N: int, D: int, G: int, R: int, w: int) -> int:
        kinds = [(np.ones((N, D)), np.ones((D, w)))] * (G * R + 2 * G)
        kinds += [(np.ones((N, w)), np.ones((w, N))), (np.ones((N, N)), np.ones((N, w)))] * (G * R)
        kinds += [(np.ones((N, w)), np.ones((w, D)))] * (G * R)
        return measure(_products, *(factor for pair in kinds for factor in pair)).macs

    import sympy

    H, G, R = sympy.symbols("H G R")
    attending = polynomial(count, N=2, D=1, G=1, R=1, w=1).subs(R, H / G)
    return sympy.expand(attending + feed_forward_macs(True))


@exercise
def gated(
    width: Annotated[FormulaAnswer, WIDTH], tokens: Annotated[FormulaAnswer, BLOCK]
) -> Verdict:
    """Find the hidden width of a gated block of equal cost, and the N where scores and mix rule."""
    return right("The metered counts are equal, at every size tried.")


@gated.part("Question 1")
def _equal_width(width: FormulaAnswer) -> Verdict:
    for point in cases(_points(WIDTH), *_any_sizes(WIDTH)):
        N, D, F = 5, point["D"], width(**point)
        plain = float(feed_forward_macs(False).subs({"N": N, "D": D, "F": 4 * D}))
        given = float(feed_forward_macs(True).subs({"N": N, "D": D, "F": F}))
        if not close(plain, given):
            with_gate, without = show_apart(given, plain)
            says = f"{N} tokens take {with_gate} MACs with the gate and {without} without."
            return wrong(f"At {show_at(point)} your F is {show(F)}: {says}", at="F", yours=F)
    return right()


@gated.part("Question 2")
def _block_crossing(tokens: FormulaAnswer) -> Verdict:
    return _crossing(tokens, block_macs(), BLOCK, whole=_whole_groups)


gated.add_hints(
    "Three matrices of D·F numbers in place of two of 4D²: each meets every token once.",
    "Write all MACs of the block for N tokens, once more with G keys and values, and sort them "
    "by powers of N.",
    "Per token, the matrices cost as many MACs as they have numbers. Scores and mix cost 2N²·H·w.",
)

gated.mistake(
    "the gate not counted",
    "Gate and upward matrix both meet every token: three matrices.",
    example=("4*D",),
    part="Question 1",
)
for _name, _says, _example in [
    ("the plain block counted once", "It has two matrices: up to 4D and down again.", "4*D/3"),
    ("upside down", "Three matrices have to be smaller than two for the same work.", "6*D"),
]:  # fmt: skip
    gated.mistake(_name, _says, example=(_example,), part="Question 1")
for _name, _says, _example in [
    ("the feed-forward block forgotten", "Every token goes through its three matrices too.",
     "D*(H + G)/H"),
    ("the projections forgotten", "Queries, keys, values and the output cost MACs with N too.",
     "3*D*F/(2*H*w)"),
    ("scores or mix counted once", "Both products with the array of weights cost N²·H·w.",
     "(2*D*(H + G)*w + 3*D*F)/(H*w)"),
    ("scores of shared keys counted once", "Every head has queries of its own: sharing keys saves "
     "no score.", "(2*D*(H + G)*w + 3*D*F)/(2*G*w)"),
    ("a key and a value for every head", "Only G keys and G values are made.",
     "(4*D*H*w + 3*D*F)/(2*H*w)"),
]:  # fmt: skip
    gated.mistake(_name, _says, example=(_example,), part="Question 2")


# -- beyond the page: a model and its memory -------------------------------------------------------

BYTES = 2  # of a number
Shapes = Sequence[tuple[int, ...]]


def _model_shapes(n: Model) -> Shapes:
    """The shapes of all parameters."""
    queries, keys = (n.width, n.heads * n.head_width), (n.width, n.groups * n.head_width)
    layer = [queries, queries[::-1], keys, keys, *[(n.width, n.hidden)] * 3]
    return [(n.vocabulary, n.width), *layer * n.layers]


def _cache_shapes(n: Model, tokens: int) -> Shapes:
    """The shapes of all that is kept of this many tokens."""
    return [(tokens, n.groups, n.head_width)] * 2 * n.layers


def _bytes(shapes: Shapes) -> int:
    return BYTES * sum(map(math.prod, shapes))


@exercise(numbers=counting_cost)
def fits_in_memory(student: StudentId, size: RealNumber, tokens: RealNumber) -> Verdict:
    """Find the bytes of your model's parameters, and how many tokens the cache can hold at most."""
    return right("The shapes of all arrays, summed up, take as many bytes, and no token more fits.")


@fits_in_memory.part("Bytes")
def _model_bytes(student: str, size: float) -> Verdict:
    if size == _bytes(_model_shapes(counting_cost(student))):
        return right()
    return wrong("The arrays do not have that many bytes in all.", at="bytes", yours=size)


@fits_in_memory.part("Tokens")
def _most_tokens(student: str, tokens: float) -> Verdict:
    n = counting_cost(student)
    there_are = n.mebibytes * 2**20 - _bytes(_model_shapes(n))
    if tokens < 0 or tokens != int(tokens):
        return wrong("A number of tokens is whole.", at="tokens", yours=tokens)
    now, more = (_bytes(_cache_shapes(n, int(tokens) + k)) for k in (0, 1))
    if now <= there_are < more:
        return right()
    says = "so many do not fit" if now > there_are else "more of them fit"
    return wrong(f"beside the parameters {says}.", at="tokens", yours=tokens)


fits_in_memory.add_hints(
    "List the arrays of one layer with their shapes: four kinds for attention and three for the "
    "gated block. The vocabulary has one vector a word, and is used at both ends.",
    "What does one further token add to the cache, in all layers together?",
    "A MiB has 2**20 bytes. Divide what is left with `//`.",
)


def _computed(part: str, face: Callable[[Model], float]) -> dict[str, Any]:
    """A mistake that can be computed: recognized with every student's model."""

    def made(student: str, answer: float) -> bool:
        return answer == face(counting_cost(student))

    return {"part": part, **Recognized(example=("0", face(counting_cost("0"))), when=made)}


def _size_with(per_layer: Callable[[Model], int], vocabulary: int = 1, size: int = BYTES) -> Any:
    """Bytes if one layer had other numbers than it has."""
    return lambda n: (
        size * (vocabulary * n.vocabulary * n.width + n.layers * n.width * per_layer(n))
    )


def _layer(n: Model) -> int:
    return 2 * n.head_width * (n.heads + n.groups) + 3 * n.hidden


fits_in_memory.mistake(
    "numbers in place of bytes",
    "Each number takes two bytes.",
    **_computed("Bytes", _size_with(_layer, size=1)),
)
for _name, _says, _face in [
    ("the word vectors forgotten", "The vocabulary has a vector of D numbers for each word.",
     _size_with(_layer, vocabulary=0)),
    ("two tables of word vectors", "One table serves both ends.", _size_with(_layer, 2)),
    ("the gate forgotten", "A gated block has three matrices.",
     _size_with(lambda n: _layer(n) - n.hidden)),
    ("a key and a value for every head", "There are only G keys and values.",
     _size_with(lambda n: 4 * n.head_width * n.heads + 3 * n.hidden)),
    ("one layer only", "Each layer has matrices of its own.",
     lambda n: _size_with(_layer)(replace(n, layers=1))),
]:  # fmt: skip
    fits_in_memory.mistake(_name, _says, **_computed("Bytes", _face))


def _tokens_with(
    a_token: Callable[[Model], int], unit: int = 2**20, parameters: bool = True, more: int = 0
) -> Any:
    """The tokens that fit if one of them took so many numbers."""
    return lambda n: (
        more + (n.mebibytes * unit - parameters * _bytes(_model_shapes(n))) // (BYTES * a_token(n))
    )


def _token(n: Model) -> int:
    return 2 * n.layers * n.groups * n.head_width


for _name, _says, _face in [
    ("a million bytes for a MiB", "A MiB has 2²⁰ = 1,048,576 bytes.", _tokens_with(_token, 10**6)),
    ("the parameters forgotten", "The parameters lie in the same memory.",
     _tokens_with(_token, parameters=False)),
    ("one layer only", "Every layer keeps keys and values of its own.",
     _tokens_with(lambda n: _token(n) // n.layers)),
    ("keys or values forgotten", "Both are kept.", _tokens_with(lambda n: _token(n) // 2)),
    ("a key and a value for every head", "A shared key is kept once for its group.",
     _tokens_with(lambda n: _token(n) // n.groups * n.heads)),
    ("numbers in place of bytes", "Each number takes two bytes.",
     lambda n: (n.mebibytes * 2**20 - _bytes(_model_shapes(n))) // _token(n)),
    ("rounded up", "The last token does not fit as a whole.", _tokens_with(_token, more=1)),
]:  # fmt: skip
    fits_in_memory.mistake(_name, _says, **_computed("Tokens", _face))
