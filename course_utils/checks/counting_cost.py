"""Unit 06: counting cost. The meter runs the real code and is the judge of every formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Annotated, Any, NamedTuple

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.chains import Chain, Line, Milestone, Seen
from selfcheck.compare import alike, close
from selfcheck.derivation import integers
from selfcheck.display import show, show_apart, show_at
from selfcheck.exercises import exercise
from selfcheck.feedback import Outcome
from selfcheck.following import FAR_OFF, following, near
from selfcheck.forms import Forms
from selfcheck.formula import names_in
from selfcheck.kinds import Formula, FormulaAnswer, Function, Growth, RealNumber, StudentId
from selfcheck.meter import Meter, difference, measure, polynomial
from selfcheck.own_numbers import OwnNumbers
from selfcheck.per_case import each
from selfcheck.refusals import NotAttempted, NotFinite, OtherNumbers, Unreadable
from selfcheck.remembering import remembered
from selfcheck.sampling import cases, numbers, sizes
from selfcheck.theta import growth_verdict
from selfcheck.verdicts import Verdict, differs, partly, right, where, wrong

from .. import block
from ..attention import multi_head as attend
from ..numbers.counting_cost import Model, counting_cost

SIZES = Formula(N=range(2, 9), d_in=range(2, 9), d_att=range(2, 9), d_out=range(2, 9))
OfSizes = Annotated[FormulaAnswer, SIZES]
DEGREES = {"N": 2, "d_in": 1, "d_att": 1, "d_out": 1}
TOKENS_WIDTH = Formula(N=range(2, 9), D=range(2, 17, 2), H=range(1, 9)).written(
    Forms({"T": "H"})  # the number of heads, as in unit 04
)
WIDTH = Formula(D=range(2, 41, 2))
WINDOWS = Formula(N=range(2, 9), D=range(2, 17, 2), M=range(2, 6))
SHARED = Formula(N=range(2, 9), D=range(2, 9), H=range(2, 5), G=range(1, 4), w=range(2, 9))
OfShared = Annotated[FormulaAnswer, SHARED]
BLOCK = Formula(D=range(2, 9), H=range(2, 5), G=range(1, 4), w=range(2, 9), F=range(2, 17))
FULL_WIDTH = Growth(N=range(2, 9), D=range(2, 9), H=range(2, 9))
OfFullWidth = Annotated[FormulaAnswer, FULL_WIDTH]
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


def _inputs(N: int, d_in: int, d_att: int, d_out: int) -> dict[str, tuple]:
    """The parameters of the sheet's model, and what each stage is called with at these sizes."""
    rng = np.random.default_rng(0)
    shapes = [(d_att, d_in), (d_att, d_in), (d_out, d_att), (3, d_out), (3,), (3,)]
    X, y = rng.normal(size=(N, d_in)), rng.normal(size=N)
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


@remembered
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
    except (Unreadable, NotFinite):  # beyond floating point
        return None
    symbols = {name: sympy.Symbol(name, integer=True, positive=True) for name in kind.domain}
    return difference(measured, answer.formula.to_sympy(**symbols))


def _lower_terms_off(gap: Any, measured: Any) -> bool:
    """Is all that is off of lower order than a term of the count?"""
    import sympy

    names = sorted(measured.free_symbols, key=str)
    rest = gap.missing - gap.extra
    if not rest.is_polynomial() or rest.free_symbols - measured.free_symbols:
        return False
    terms = sympy.Poly(measured, *names).monoms()
    return all(
        any(off != led and all(a <= b for a, b in zip(off, led, strict=True)) for led in terms)
        for off in sympy.Poly(rest, *names).monoms()
    )


def _within_a_factor_of_two(answer: FormulaAnswer, measured: Any, kind: Formula) -> bool:
    counts = [(answer(**point), _counted(measured, point)) for point in kind.points()]
    return all(count / 2 <= given <= 2 * count for given, count in counts)


PIECES = {  # of the counts of stages
    "the queries or the keys": "N*d_att*(2*d_in - 1)",
    "the values": "N*d_out*(2*d_att - 1)",
    "the division of Q": "N*d_att",
    "the scores": "N**2*(2*d_att - 1)",
    "the softmax": "5*N**2 - 2*N",
    "the mix": "N*d_out*(2*N - 1)",
    "the product with W_1": "3*N*(2*d_out - 1)",
    "the product with w_2": "5*N",
}


SIGNS = str.maketrans("*-", "·−")


@cache
def _pieces() -> dict[Any, str]:
    import sympy

    letters = {name: sympy.Symbol(name) for name in DEGREES}  # N alone would be a function
    return {
        sympy.expand(sympy.sympify(count, letters)): f"{name}, {count}"
        for name, count in PIECES.items()
    }


def _told(gap: Any) -> str:
    """What is missing as a whole, if it is, else term by term."""
    whole = _pieces().get(gap.missing - gap.extra, "").replace("**2", "²").translate(SIGNS)
    return f"What is missing is {whole}." if whole else str(gap)


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
        says = f"{verdict.says} {_told(gap)}"
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
        return wrong(_told(gap))
    return right(f"The counted {what} follow your formula exactly.")


# -- the block, stage by stage ---------------------------------------------------------------------


@exercise
def parameters(count: OfSizes) -> Verdict:
    """Find the number of parameters of the block in N, d_in, d_att and d_out."""
    return _judge(count, size_of("parameters"), "parameters")


@exercise
def projections(flops_qkv: OfSizes) -> Verdict:
    """Find the FLOPs of all queries, keys and values, exactly."""
    return _judge(flops_qkv, flops_of("project"), "FLOPs", lower=2)


@exercise
def attention(flops_attention: OfSizes) -> Verdict:
    """Find the FLOPs from Q, K and V to the mixed values: scores, softmax and mix, exactly."""
    return _judge(flops_attention, flops_of("weigh", "mix"), "FLOPs", lower=2)


@exercise
def feed_forward(flops_feed_forward: OfSizes) -> Verdict:
    """Find the FLOPs of the feed-forward block for all N tokens, exactly."""
    return _judge(flops_feed_forward, flops_of("feed_forward"), "FLOPs", lower=1)


@exercise
def loss(flops_loss: OfSizes) -> Verdict:
    """Find the FLOPs of the loss when ŷ is given, exactly."""
    return _judge(flops_loss, flops_of("squared_error"), "FLOPs")


@exercise
def kept(kept_mixed: OfSizes, kept_weights: OfSizes) -> None:
    """Find how many numbers ṽ and α have, which the forward pass keeps for the backward pass."""


def _size_judged(
    what: str, answer: FormulaAnswer, other: FormulaAnswer | None, others: str, name: str
) -> Verdict:
    """The numbers of one array; those of the other array in its place are named as such."""
    own, theirs = (_judge(answer, size_of(of), f"numbers in {name}") for of in (what, others))
    if other is None or theirs.outcome is not Outcome.RIGHT:
        return own
    if _judge(other, size_of(what), "numbers").outcome is Outcome.RIGHT:
        return wrong("here stands the number of the other array.", at="exchanged", yours=1)
    return own


@kept.part("ṽ")
def _of_mixed(kept_mixed: FormulaAnswer, kept_weights: FormulaAnswer | None = None) -> Verdict:
    return _size_judged("mixed", kept_mixed, kept_weights, "weights", "ṽ")


@kept.part("α")
def _of_weights(kept_weights: FormulaAnswer, kept_mixed: FormulaAnswer | None = None) -> Verdict:
    return _size_judged("weights", kept_weights, kept_mixed, "mixed", "α")


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
    verdict = _judge(macs, measured, "MACs", TOKENS_WIDTH, lower=1)
    if verdict.outcome is Outcome.WRONG and not verdict.earned and _one_term_right(macs, measured):
        says = f"One of the two terms is right. {verdict.says}"
        return partly(1, replace(verdict, says=says))
    return verdict


Own = Annotated[FormulaAnswer | None, TOKENS_WIDTH]  # the MACs of exercise 6.7
OWN_COUNT = "count of 6.7"


@remembered
def by_powers_of_N(macs: Any, point: Mapping[str, float]) -> list[float]:
    """What stands before N and before N² in a count, at these sizes."""
    import sympy

    terms = sympy.Poly(macs, sympy.Symbol("N")).as_dict()
    return [float(terms[(k,)].subs(point)) for k in (1, 2)]


class Terms(NamedTuple):
    """What stands before N and before N² at one width."""

    linear: float
    quadratic: float


def own_terms(macs: FormulaAnswer | None, D: float) -> Terms:
    """Those of a student's count, if it has both and nothing else, and one of them is right."""
    if macs is None:
        raise NotAttempted
    once, twice, thrice = (macs(N=N, D=D, H=HEADS) for N in (1, 2, 3))
    quadratic = (twice - 2 * once) / 2
    linear = once - quadratic
    fits = close(3 * linear + 9 * quadratic, thrice) and linear > 0 and quadratic > 0
    near = any(map(close, (linear, quadratic), by_powers_of_N(multi_head_macs(), {"D": D})))
    if not fits or not near:
        raise Unreadable(FAR_OFF)
    return Terms(linear, quadratic)


def _crossing(
    tokens: FormulaAnswer,
    terms: Callable[[Point], Terms],
    kind: Formula,
    whole: Callable[[Point], Point] = dict,
) -> Verdict:
    """Right if at this N the part of the MACs with N² is as large as the part with N."""
    for drawn in cases(_points(kind), *_any_sizes(kind)):
        point = whole(drawn)
        N = tokens(**point)
        at = f"At {show_at(point)} your N is {show(N)}"
        if not N > 0:
            return wrong(f"{at}; a number of tokens is above 0.", at="N", yours=N)
        linear, quadratic = (c * N**k for k, c in enumerate(terms(point), start=1))
        if not close(linear, quadratic):
            squared, rest = show_apart(quadratic, linear)
            says = f"There the part with N² takes {squared} MACs and the part with N takes {rest}."
            return wrong(f"{at}. {says}", at="N", yours=N)
    return right("At every width tried both parts of the count are equal at your N.")


def metered_terms(macs: Any) -> Callable[[Point], Terms]:
    """Those of a metered count."""
    return lambda point: Terms(*by_powers_of_N(macs, point))


@exercise
def crossover(tokens: Annotated[FormulaAnswer, WIDTH], macs: Own = None) -> Verdict:
    """Find the N, in D, at which the part quadratic in N costs as much as the rest."""
    verdict = _crossing(tokens, metered_terms(multi_head_macs()), WIDTH)
    own = lambda: _crossing(tokens, lambda point: own_terms(macs, point["D"]), WIDTH)  # noqa: E731
    return following(verdict, OWN_COUNT, own)


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


def mixed_gradients(A: np.ndarray, V: np.ndarray, dY: np.ndarray) -> list[np.ndarray]:
    """The gradients of Σ dY∘(AV) by A and by V."""
    return [dY @ V.T, A.T @ dY]


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


def any_mix(rng: np.random.Generator) -> Mix:
    """A, V and dY of any shapes."""
    n, k, m = sizes(rng, 3)
    A, V = numbers(rng, n, k), numbers(rng, k, m, largest=100)
    return A, V, numbers(rng, n, m)


def _off_entry(backward: FunctionAnswer, arrays: tuple) -> Verdict | None:
    """A refutation if a number of A or V changes the loss at another rate."""
    answer, (A, V, dY) = _pair(backward, arrays), arrays
    a, v, dy = (np.abs(array) for array in arrays)
    terms = (dy @ v.T).max(), (a.T @ dy).max()  # what may cancel, and leave its rounding
    given = zip(("dA", "dV"), answer, mixed_gradients(*arrays), terms, strict=True)
    for name, mine, seen, size in given:
        at = where("With A = {}, V = {} and dY = {}", A, V, dY)
        tolerance = 1e-6 * max(1.0, size / max(np.abs(seen).max(), 1e-3 * size, 1e-300))
        if verdict := differs(seen, mine, at=at, what=name, tolerance=tolerance, whole=answer):
            return verdict
    return None


def _by(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))


def _many_times_the_price(backward: FunctionAnswer) -> bool:
    """Right gradients at ten forward passes or more; what is a little dear has other reasons."""
    sizes = _mix_sizes(5, 6, 7)
    try:
        if not alike(backward(*sizes), mixed_gradients(*sizes)):
            return False
    except Unreadable:  # it takes square matrices only
        return False
    return backward.metered(*sizes, like=mixed_gradients).flops > 20 * 5 * 6 * 7


def _both_dear(a: FunctionAnswer, b: FunctionAnswer) -> bool:
    """Or neither of them."""
    return _many_times_the_price(a) == _many_times_the_price(b)


FIRST_MIXES = [SQUARE, _mix_sizes(2, 3, 4), _mix_sizes(4, 4, 1), _mix_sizes(1, 5, 2)]


def _priced(backward: FunctionAnswer, arrays: tuple) -> Verdict:
    """Are right gradients had at twice the price of the forward product, or less?"""
    (n, k), m = arrays[0].shape, arrays[1].shape[1]
    forward = measure(block.mix, *arrays[:2])
    try:
        cost = backward.metered(*arrays, like=mixed_gradients)
    except OtherNumbers as miss:
        return wrong(str(miss))
    except Unreadable as trouble:
        return partly(2, f"The gradients are right, but their cost was not counted. {trouble}")
    limit = 4 * forward.macs
    if cost.left or not cost.flops:
        return partly(2, "The gradients are right. To be counted, keep the numbers in arrays.")
    says = (
        f"With A {n}×{k} and V {k}×{m} the forward product takes {forward.macs} MACs, or "
        f"{2 * forward.macs} FLOPs at two per MAC. Twice that is {limit}, and yours takes "
        f"{cost.flops}."
    )
    if cost.flops > limit:
        return partly(2, f"The gradients are right. {says}{_price_of(cost, n * k * m)}")
    return right(f"The gradients are right. {says}")


def _price_of(cost: Meter, product: int) -> str:
    """What the work went into, if an array larger than any that is needed was made."""
    needless = [made for made in cost.arrays if math.prod(made.shape) > product]
    return f" The largest array was {needless[0]}." if needless else ""


@exercise
def mix_backward(
    mix_backward: Annotated[FunctionAnswer, Function([SQUARE], alike=_both_dear)],
) -> Verdict:
    """Write a function of A, V and dY that returns dA and dV at twice the cost of Y = AV."""
    for arrays in cases(FIRST_MIXES, any_mix):
        if verdict := _off_entry(mix_backward, arrays):
            return verdict
    for arrays in cases([_mix_sizes(5, 6, 7)], also=[any_mix]):
        verdict = _priced(mix_backward, arrays)
        if verdict.outcome is not Outcome.RIGHT:
            return verdict
    return _priced(mix_backward, _mix_sizes(5, 6, 7))


# -- windows ---------------------------------------------------------------------------------------


def _whole_windows(point: Point) -> Point:
    """As many tokens as fill N windows."""
    return {**point, "N": point["N"] * point["M"] ** 2}


def _windowed_by_own(windowed: FormulaAnswer, macs: FormulaAnswer | None) -> bool:
    """Whether this is the student's own count, for as many windows as there are."""
    for point in cases(_points(WINDOWS), *_any_sizes(WINDOWS)):
        N, D, M = (point[name] for name in "NDM")
        terms = own_terms(macs, D)
        if not close(windowed(**point), N * (terms.linear + terms.quadratic * M**2)):
            return False
    return True


@exercise
def windowed(macs_windowed: Annotated[FormulaAnswer, WINDOWS], macs: Own = None) -> Verdict:
    """Find the MACs when N tokens attend within windows of M×M tokens only."""
    verdict = _judge(macs_windowed, windowed_macs(), "MACs", WINDOWS, whole=_whole_windows)
    same = right("This is what it comes to in windows.")
    follows = lambda: same if _windowed_by_own(macs_windowed, macs) else None  # noqa: E731
    return following(verdict, OWN_COUNT, follows)


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
def grouped(shared_parameters: OfShared, shared_cache: OfShared, shared_macs: OfShared) -> None:
    """Count parameters, cache and MACs of a further token if H heads share G keys and values."""


def _in_groups(answer: FormulaAnswer, what: str, counted: str) -> Verdict:
    return _judge(answer, shared(what), counted, SHARED, whole=_whole_groups)


grouped.part(
    "Parameters",
    lambda shared_parameters: _in_groups(shared_parameters, "parameters", "parameters"),
)
grouped.part("Cache", lambda shared_cache: _in_groups(shared_cache, "cache", "numbers kept"))
grouped.part("MACs", lambda shared_macs: _in_groups(shared_macs, "macs", "MACs"))


OwnShared = Annotated[FormulaAnswer | None, SHARED]  # a count of exercise 6.11


def own_shared(what: str, own: FormulaAnswer | None) -> Callable[[Point], float]:
    """A student's count of 6.11, if it is near the true one where no two heads share."""
    import sympy

    points = [
        dict.fromkeys(SHARED.domain, size) | dict.fromkeys(longer, 3 * size)
        for size in (10, 100, 1000)
        for longer in ("N", "D", "w", "HG")
    ]
    count = near(own, sympy.lambdify([*SHARED.domain], shared(what)), points)
    return lambda point: count(**{name: point[name] for name in SHARED.domain})


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
    gated_width: Annotated[FormulaAnswer, WIDTH],
    tokens_of_block: Annotated[FormulaAnswer, BLOCK],
    shared_macs: OwnShared = None,
) -> None:
    """Find the hidden width of a gated block of equal cost, and the N where scores and mix rule."""


@gated.part("Question 1")
@each(_points(WIDTH), *_any_sizes(WIDTH))
def _equal_width(gated_width: FormulaAnswer, *, point) -> Verdict | None:
    N, D, F = 5, point["D"], gated_width(**point)
    plain = float(feed_forward_macs(False).subs({"N": N, "D": D, "F": 4 * D}))
    given = float(feed_forward_macs(True).subs({"N": N, "D": D, "F": F}))
    if not close(plain, given):
        with_gate, without = show_apart(given, plain)
        says = f"{N} tokens take {with_gate} MACs with the gate and {without} without."
        return wrong(f"At {show_at(point)} your F is {show(F)}: {says}", at="F", yours=F)
    return None


@gated.part("Question 2")
def _block_crossing(
    tokens_of_block: FormulaAnswer, shared_macs: FormulaAnswer | None = None
) -> Verdict:
    verdict = _crossing(tokens_of_block, metered_terms(block_macs()), BLOCK, whole=_whole_groups)

    def own() -> Verdict:
        count = own_shared("macs", shared_macs)

        def terms(point: Point) -> Terms:
            """A further token looks back at N: of N tokens at once each does."""
            once, twice = (count({**point, "N": N}) for N in (1, 2))
            gate = feed_forward_macs(True).subs({"N": 1, **point})
            return Terms(2 * once - twice + float(gate), twice - once)

        return _crossing(tokens_of_block, terms, BLOCK, whole=_whole_groups)

    return following(verdict, "count of MACs in 6.11", own)


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


@exercise(numbers=OwnNumbers(counting_cost, example="0", within=0))
def fits_in_memory(
    student: StudentId,
    model_bytes: RealNumber,
    most_tokens: RealNumber,
    shared_parameters: OwnShared = None,
    shared_cache: OwnShared = None,
) -> None:
    """Find the bytes of your model's parameters, and how many tokens the cache can hold at most."""


def _as_count(number: float) -> str:
    """1,234,567: with all its digits."""
    whole = number == round(number) and abs(number) < 1e15
    return f"{number:,.0f}".translate(SIGNS) if whole else show(number, 17)


def _layer(n: Model) -> Point:
    """The sizes of a layer at one token, as the formulas of 6.11 name them."""
    return {"N": 1, "D": n.width, "H": n.heads, "G": n.groups, "w": n.head_width}


@fits_in_memory.part("Bytes")
def _of_parameters(
    student: str, model_bytes: float, shared_parameters: FormulaAnswer | None = None
) -> Verdict:
    n = counting_cost(student)
    there_are = _bytes(_model_shapes(n))
    if model_bytes == there_are:
        return right()
    more = "more" if model_bytes > there_are else "fewer"
    says = f"{_as_count(model_bytes)} bytes are {more} than all arrays of your model have."

    def own() -> Verdict | None:
        attending = own_shared("parameters", shared_parameters)(_layer(n))
        rest = n.vocabulary * n.width + n.layers * 3 * n.width * n.hidden
        return right() if model_bytes == BYTES * (rest + n.layers * attending) else None

    return following(wrong(says, at="bytes", yours=model_bytes), "count of parameters in 6.11", own)


@fits_in_memory.part("Tokens")
def _most_tokens(
    student: str,
    most_tokens: float,
    model_bytes: float | None = None,
    shared_cache: FormulaAnswer | None = None,
) -> Verdict:
    """With the true bytes of the parameters, or with the student's own if they are near them."""
    n = counting_cost(student)
    if most_tokens < 0 or most_tokens != round(most_tokens):
        says = f"{_as_count(most_tokens)} is no number of tokens, which is whole and not negative."
        return wrong(says, at="tokens", yours=most_tokens)
    parameters, room = _bytes(_model_shapes(n)), n.mebibytes * 2**20
    taken = [parameters]
    if model_bytes is not None and parameters / 4 <= model_bytes <= 4 * parameters:
        taken += [int(model_bytes)]

    def is_most(token: float) -> bool:
        """No more tokens fit, if each takes this many bytes of cache."""
        now, more = (token * (most_tokens + k) for k in (0, 1))
        return any(now + size <= room < more + size for size in taken)

    token = _bytes(_cache_shapes(n, 1))
    if is_most(token):
        return right()
    now = token * int(most_tokens)
    says = (
        f"{_as_count(most_tokens)} of them take {now:,} bytes of cache, and beside the parameters "
    )
    says += "that does not fit." if now + parameters > room else "more would fit."

    def own() -> Verdict | None:
        kept = own_shared("cache", shared_cache)(_layer(n))
        return right() if is_most(BYTES * n.layers * kept) else None

    return following(wrong(says, at="tokens", yours=most_tokens), "count of the cache in 6.11", own)


# -- beyond the page: heads at full width ----------------------------------------------------------


@cache
def full_width_macs() -> Callable[..., float]:
    """MACs of H heads whose queries, keys and values all have D numbers."""
    import sympy

    def count(N: int, D: int, H: int) -> int:
        heads = [tuple(np.ones((D, D)) for _ in range(3))] * H
        return measure(attend, np.ones((N, D)), heads, np.ones((H * D, D))).macs

    found: Callable[..., float] = sympy.lambdify([*"NDH"], polynomial(count, N=2, D=2, H=1))
    return found


def held_by_heads(N: float, D: float, H: float) -> float:
    """What H heads hold at once beyond the parameters: Q, K, V, scores, weights and mix."""
    return H * (3 * N * D + 2 * N**2 + N * D) + N * D


def held_in_turn(N: float, D: float, H: float) -> float:
    """The same if one head after the other adds its part to the output."""
    return held_by_heads(N, D, 1)


@exercise
def full_width(
    time_of_heads: OfFullWidth, space_in_turn: OfFullWidth, space_at_once: OfFullWidth
) -> None:
    """Give Θ of the time and of the space of H heads of full width, in turn and at once."""


def _grows(answer: FormulaAnswer, count: Callable[..., float]) -> Verdict:
    return growth_verdict(count, answer, FULL_WIDTH.domain)


full_width.part("Time", lambda time_of_heads: _grows(time_of_heads, full_width_macs()))
full_width.part("In turn", lambda space_in_turn: _grows(space_in_turn, held_in_turn))
full_width.part("At once", lambda space_at_once: _grows(space_at_once, held_by_heads))


# -- 6.15 -----------------------------------------------------------------------------------------

OF_STAGES = "p s m o"
COUNTS_OF_STAGES = [  # with w, or D in place of H·w already
    ("3*H*N*D*w", "3*N*D**2"),
    ("2*H*N**2*w", "2*N**2*D"),
    ("N*H*w*D", "N*D**2"),
]
MACS = Chain(
    "H*(p + s + m) + o",
    where={"N D H": integers(1, None)},
    given={"w": "D/H", "p": "3*N*D*w", "s": "N**2*w", "m": "N**2*w", "o": "N*H*w*D"},
    steps=[
        Milestone(
            "no line has the four counts put in, with the width w of a head still there",
            [Seen(like=" + ".join(terms)) for terms in [*product(*COUNTS_OF_STAGES)][:-1]],
        )
    ],
    goal=[Seen(without=f"{OF_STAGES} w H")],
    not_there="the last one is not yet a formula in N and D alone.",
)


@exercise
def macs_by_lines(macs_lines: Annotated[list[Line], MACS]) -> Verdict:
    """Derive the MACs of multi-head attention in N and D from those of its stages."""
    return MACS.judge(macs_lines, 2, "The number of heads is gone: it does not matter.")


# -- 6.16 -----------------------------------------------------------------------------------------

OF_A_HEAD = Formula(N=range(2, 9), D=range(2, 9), w=range(2, 9))
OfAHead = Annotated[FormulaAnswer, OF_A_HEAD]


def _backward(
    X: np.ndarray, W: Sequence[np.ndarray], projected: Sequence[np.ndarray], P: Any, dY: Any,
    of_data: bool,
) -> None:  # fmt: skip
    """All gradients of Y = P V, P = softmax(Q Kᵀ/√w), from dY back to the parameters, or to X."""
    Q, K, V = projected
    dV, dP = P.T @ dY, dY @ V.T
    dS = P * (dP - (P * dP).sum(axis=1, keepdims=True)) / np.sqrt(Q.shape[1])
    backward = [dS @ K, dS.T @ Q, dV]
    for d, w in zip(backward, W, strict=True):
        X.T @ d  # of the parameters
        if not of_data:
            d @ w.T


@cache
def macs_of_backward(of_data: bool) -> Any:
    """The MACs of a head's backward pass, as a polynomial in N, D and w."""

    def count(N: int, D: int, w: int) -> int:
        W, projected = [np.ones((D, w))] * 3, [np.ones((N, w))] * 3
        arrays = np.ones((N, D)), W, projected, np.ones((N, N)), np.ones((N, w))
        return measure(_backward, *arrays, of_data).macs

    return polynomial(count, N=2, D=1, w=1)


@exercise
def backward_of_a_head(backward_macs: OfAHead, first_layer_macs: OfAHead) -> None:
    """Count the MACs of the backward pass of a head, with and without the gradient of X."""


@backward_of_a_head.part("Whole")
def _whole_backward(backward_macs: FormulaAnswer) -> Verdict:
    return _judge(backward_macs, macs_of_backward(of_data=False), "MACs", OF_A_HEAD)


@backward_of_a_head.part("First layer")
def _first_layer(first_layer_macs: FormulaAnswer) -> Verdict:
    return _judge(first_layer_macs, macs_of_backward(of_data=True), "MACs", OF_A_HEAD)
