"""Unit 09: random features. Means over directions are integrals here, so no verdict is luck."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Annotated, Any, NamedTuple

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.chains import Chain, Line, Milestone, Seen
from selfcheck.compare import close, real_array
from selfcheck.cost import cost_in_n, judge_linear
from selfcheck.derivation import Derivation, inner_products, integers, vector
from selfcheck.display import name_of, show, show_apart, show_at
from selfcheck.exercises import exercise
from selfcheck.following import FOLLOWS, following, heeds
from selfcheck.forms import Forms
from selfcheck.formula import ReadFormula
from selfcheck.kinds import Formula, FormulaAnswer, Function, Lines, RealNumber, StudentId
from selfcheck.line_by_line import Step, Way, contains_sum
from selfcheck.own_numbers import OwnNumbers
from selfcheck.per_case import each
from selfcheck.refusals import NotAttempted, NotFinite, Unreadable
from selfcheck.sampling import cases, magnitude, numbers, sizes, surveyed
from selfcheck.verdicts import Verdict, differs, partly, refuted, repeats, right, where, wrong

from ..attention import positive_features
from ..numbers.random_features import Triple
from ..numbers.random_features import random_features as triple_of

# -- 9.1 -------------------------------------------------------------------------------------------


class Square(NamedTuple):
    """A square to complete: a start with a cross term, and a name for the completed square."""

    start: str
    square: str  # the name, such as s for ‖x+y‖²
    written_out: str
    cross: str  # the dot product that should go
    formula: Formula  # the free symbols

    @property
    def way(self) -> Way:
        """The steps: a line that shows how the square comes about, then one without the cross."""
        parts = ", ".join(self.formula.domain)
        asked = (
            f"none shows how the square comes about: write it out, in {parts}, before {self.square}"
        )
        return Way(
            (Step(lambda _: f"{asked} appears", self.is_shown_by),),
            goal=lambda line: self.cross not in names_in(line),
            not_there=f"the last one still contains {self.cross}.",
        )

    def judge(self, lines: list, points: int) -> Verdict:
        """The verdict on true or false lines; of the points, half are for the step."""
        report = _begun(self).goes_on(("=", str(line), "") for line in lines).check()
        if not report.holds:
            false = refuted(report)
            taken = self.is_shown_by(lines[: false.line])
            return partly(points // 2 * taken, wrong(false.says, at="a false line"))
        earned, missing = self.way.follow(lines)
        if not missing:
            return right()
        return partly(points * earned // 2, wrong(missing, at="" if earned else "a jump"))

    def is_shown_by(self, lines: list) -> bool:
        """Whether a line has the square written out, or a multiple of it, in whatever order."""
        target = Formula(**self.formula.domain).read(self.written_out, "").formula
        places = list(self.formula.points(4))
        return any(contains_sum(line, target, places) for line in lines)

    def goes_wrong_as(self, lines: list, value: str) -> bool:
        """Whether the first line that is off has this value."""
        points = list(self.formula.points(4))
        read = Formula(**self.formula.domain, **{self.square: (0, 1)}).read
        for point in points:
            point[self.square] = Formula(**self.formula.domain).read(self.written_out, "")(**point)
        true, wanted = ([read(text, "")(**p) for p in points] for text in (self.start, value))
        values = ([line.at(**p) for p in points] for line in lines)
        return close(next((v for v in values if not close(v, true)), []), wanted)


def names_in(line: Any) -> set[str]:
    """The symbols of a line that was read."""
    return {node.id for node in ast.walk(line.tree) if isinstance(node, ast.Name)}


@cache
def _begun(square: Square) -> Derivation:
    return Derivation(
        square.start,
        [],
        where={" ".join(square.formula.domain): inner_products()},
        given={square.square: (square.written_out, "written out")},
        instances=30,
    )


SPLIT = Square(
    "exp(xy)", "s", "xx + 2*xy + yy", "xy", Formula(xx=(0, 2), xy=(-1, 1), yy=(0, 2))
)  # fmt: skip
SHIFT = Square(
    "exp(wu)*exp(-ww/2)", "r", "ww - 2*wu + s", "wu", Formula(ww=(0, 2), wu=(-1, 1), s=(0, 2))
)


def products(**named: tuple[str, str]) -> Forms:
    """How the product of two vectors, or the square of a length, may be written on paper."""
    ways: dict[str, str] = {}
    for name, (a, b) in named.items():
        for x, y in {(a, b), (b, a)}:
            written = (rf"({x})^\top ({y})", rf"({x}) \cdot ({y})", rf"\langle {x}, {y} \rangle")
            ways |= dict.fromkeys(written, name)
        if a == b:
            ways[rf"\|{a}\|^2"] = name
    return Forms(ways, dict.fromkeys("xywu", (0, 1)))


OF_X_AND_Y = products(xx=("x", "x"), xy=("x", "y"), yy=("y", "y"), s=("x + y", "x + y"))
OF_W_AND_U = products(ww=("w", "w"), wu=("w", "u"), s=("u", "u"), r=("w - u", "w - u"))


@exercise
def completed_square(
    split: Annotated[list[ReadFormula], Lines(["xx", "xy", "yy", "s"], forms=OF_X_AND_Y)],
    shift: Annotated[list[ReadFormula], Lines(["ww", "wu", "s", "r"], forms=OF_W_AND_U)],
) -> None:
    """Complete two squares: split exp(xᵀy) by ‖x+y‖², and shift the bell curve by u = x + y."""


completed_square.part("Part one", lambda split: SPLIT.judge(split, points=1))
completed_square.part("Part two", lambda shift: SHIFT.judge(shift, points=2), points=2)


# -- 9.2 -------------------------------------------------------------------------------------------


@cache
def gauss_grid(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Directions w in up to 3 dimensions, and weights whose sum is the mean over w ∼ N(0, I).

    For smooth functions that fade away, a sum over an even grid is exact to many digits.
    """
    reach, step = {1: (18, 0.25), 2: (10, 0.4), 3: (7, 0.55)}[d]
    line = step * np.arange(-round(reach / step), round(reach / step) + 1)
    grid = np.stack(np.meshgrid(*[line] * d, indexing="ij"), axis=-1).reshape(-1, d)
    grid = grid[(grid**2).sum(axis=1) <= reach**2]
    density = np.exp(-(grid**2).sum(axis=1) / 2)
    return grid, density / density.sum()


def draw(seed: int, *shape: int) -> np.ndarray:
    """Numbers between −1 and 1 with one digit."""
    return np.random.default_rng(seed).uniform(-1, 1, shape).round(1)


X_SEEN, W_SEEN = draw(0, 3, 2), draw(1, 4, 2)
NEAR_ENOUGH = 2e-5  # relative: the integrals are this exact, also for features of float32
LARGEST = {1: 4.0, 2: 1.5, 3: 0.6}  # entries of x for which the grid reaches far enough


def few_tokens(d: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Draws of a few x in d dimensions, the first of them as long as may be."""

    def drawn(rng: np.random.Generator) -> np.ndarray:
        X = numbers(rng, 2 if d == 3 else int(rng.integers(2, 4)), d, largest=LARGEST[d])
        X[0] = LARGEST[d] * rng.choice([-1.0, 1.0], d)
        return X

    return drawn


def opposite_tokens(rng: np.random.Generator) -> np.ndarray:
    """x and −x in more dimensions: w and −w bring no scatter to f(x)ᵀf(−x) in the usual form."""
    x = rng.normal(size=int(rng.integers(4, 41)))
    x = (x / np.linalg.norm(x)).round(2)
    return np.array([x, -x])


def similarity(x: np.ndarray, y: np.ndarray) -> float:
    """What standard attention weighs by."""
    return float(np.exp(x @ y / np.sqrt(len(x))))


def to_scale(X: np.ndarray) -> np.ndarray:
    """Multiples of the rows of X whose dot products are the logarithms of their similarities."""
    unit = np.eye(X.shape[1])[0]
    return X * np.sqrt(np.log(similarity(unit, unit)))


def course_features(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The lecture's features of those multiples: unbiased for this similarity."""
    return positive_features(to_scale(X), W)


@exercise
def features(
    features: Annotated[
        FunctionAnswer, Function(samples=[(X_SEEN, W_SEEN), (draw(2, 2, 3), draw(3, 5, 3))])
    ],
) -> Verdict:
    """Write positive features f with E[f(x)ᵀf(y)] = exp(xᵀy/√d) for directions w ∼ N(0, I)."""
    seen = real_array(features(X_SEEN, W_SEEN))
    if seen is not None and seen.shape == (3, 8):
        says = "With 4 directions the result has 8 columns, not one for each."
        return wrong(says, at="columns", yours=seen)
    F = features.array(X_SEEN, W_SEEN, shape=(3, 4))
    if verdict := repeats(features, X_SEEN, W_SEEN):
        return verdict
    if close(F, np.repeat(F[:, :1], 4, axis=1)):
        says = f"All 4 features of x = {show(X_SEEN[0])} are {show(F[0, 0])}"
        return wrong(f"{says}, though the directions differ.", at="equal columns", yours=F)
    pencil = [draw(1, 3, 1), draw(2, 3, 2)]  # in 3 dimensions a grid has thousands of directions
    for X in cases(pencil, also=[few_tokens(d) for d in (1, 2, 3, 1)]):
        if found := biased_at(features, X):
            return found
    for X in cases([], also=[opposite_tokens]):
        if found := sampled_off(features, X):
            return found
    for X, W in cases([(X_SEEN, W_SEEN)], any_shapes):
        if found := mixed(features, X, W):
            return found
    return right(
        "The mean of f(x)ᵀf(y) over all directions, computed as an integral in 1, 2 and 3 "
        f"dimensions, is exp(xᵀy/√d), and all features are positive. {sampled(features)}"
    )


def biased_at(features: FunctionAnswer, X: np.ndarray) -> Verdict | None:
    """The verdict if a feature is not positive, or the mean over w ∼ N(0, I) is another."""
    W, weights = gauss_grid(X.shape[1])
    F = features.array(X, W, shape=(len(X), len(W)))
    far = (W**2).sum(axis=1) > 16  # where a positive number may become 0 in floating point
    if (off := np.argwhere((F < 0) | ((F == 0) & ~far))).size:
        i, r = off[0]
        says = f"At x = {show(X[i])}, w = {show(W[r])} the feature is {show(F[i, r])}."
        return wrong(f"{says} It has to be positive.", at="a sign", yours=F)
    means = (F * weights * len(W)) @ F.T  # F has 1/√m from each side; the weights sum to 1
    for i, x in enumerate(X):
        for y, mean in zip(X, means[i], strict=True):
            at = f"With x = {show(x)}, y = {show(y)} and {len(W)} directions"
            what = "the mean of f(x)ᵀf(y) over w ∼ N(0, I)"
            if verdict := differs(
                similarity(x, y), mean, at=at, what=what, tolerance=NEAR_ENOUGH, whole=means
            ):
                return verdict
    return None


def sampled_off(features: FunctionAnswer, X: np.ndarray, m: int = 4000) -> Verdict | None:
    """The verdict if many random directions speak clearly against this mean of f(x)ᵀf(y)."""
    W = np.random.default_rng(X.shape[1]).normal(size=(m, X.shape[1]))
    if surveyed() is None and is_product(features, X, W):
        return None
    F = features.array(X, W, shape=(len(X), m))
    for y, products in zip(X, m * F[0] * F, strict=True):
        mean, error = products.mean(), products.std() / np.sqrt(m)
        truth, few = similarity(X[0], y), products.sum() ** 2 < 100 * (products**2).sum()
        if abs(mean - truth) <= 7 * error + NEAR_ENOUGH or few:  # some directions outweigh all
            continue
        at = f"In {len(y)} dimensions, with {m} random directions and a standard error of "
        what = f"the mean of f(x)ᵀf(y) for xᵀy = {show(X[0] @ y)}"
        return differs(truth, mean, at=f"{at}{show(error)},", what=what, whole=F)
    return None


def is_product(features: FunctionAnswer, X: np.ndarray, W: np.ndarray) -> bool:
    """Whether √m f of many coordinates is the product of √m f of few, which were integrated.

    Fewer coordinates have a smaller √d: there x is as much shorter.
    """
    product = np.ones((len(X), 5))
    for k in range(0, X.shape[1], 3):
        x, w = X[:, k : k + 3], W[:5, k : k + 3]
        x = x * (x.shape[1] / X.shape[1]) ** 0.25
        product *= np.sqrt(5) * features.array(x, w, shape=product.shape)
    return close(np.sqrt(5) * features.array(X, W[:5], shape=product.shape), product, SINGLE)


def any_shapes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and directions of any sizes."""
    n, m, d = sizes(rng, 3)
    return numbers(rng, n, d, largest=1), rng.normal(size=(m, d)).round(2)


SINGLE = 1e-4  # relative: exp multiplies what 32 bits round in its exponent


def _and_parts(X: np.ndarray, W: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """All tokens with all directions, then only the last token, and only the last direction."""
    return [(X, W), (X[-1:], W), (X, W[-1:])]


def mixed(features: FunctionAnswer, X: np.ndarray, W: np.ndarray) -> Verdict | None:
    """The verdict if a row is not made only from its token, or a column from its direction."""
    n, m = len(X), len(W)
    whole, row, column = _and_parts(X, W)
    F = features.array(*whole, shape=(n, m))
    i, r = n - 1, m - 1
    alone = features.array(*row, shape=(1, m))
    at = f"For n = {n} tokens and m = {m} directions"
    what = f"result[{i}], as it is when X has only this row,"
    if verdict := differs(alone[0], F[i], at=at, what=what, tolerance=SINGLE):
        return verdict
    alone = features.array(*column, shape=(n, 1)) / np.sqrt(m)
    what = f"result[:, {r}], 1/√m of what it is when W has only its row {r},"
    return differs(alone[:, 0], F[:, r], at=at, what=what, tolerance=SINGLE)


def sampled(features: FunctionAnswer) -> str:
    """What a simulation sees: a number for the student, not a part of the verdict."""
    x, y, W = np.array([0.5, 0.2]), np.array([0.3, -0.1]), np.random.default_rng(0)
    F = features.array(np.array([x, y]), W.normal(size=(2000, 2)), shape=(2, 2000))
    products = 2000 * F[0] * F[1]
    error = products.std() / np.sqrt(2000)
    return (
        f"At x = {show(x)}, y = {show(y)}, where it is {similarity(x, y):.3f}, 2000 random "
        f"directions gave {products.mean():.3f} with a standard error of {error:.3f}."
    )


# -- 9.3 and 9.4: exact moments in one dimension, where every xᵀy and ‖x+y‖² can be had ------------

LENGTHS = products(xy=("x", "y"), s=("x + y", "x + y"))
VARIANCE = Formula(xy=(-1, 1), s=(0, 2), m=range(1, 9)).needing().written(LENGTHS)
SIZE = Formula(s=(0, 2), r=(0, 1)).needing().written(LENGTHS)


def moments(x: float, y: float) -> tuple[float, float]:
    """Mean and variance of f(x)ᵀf(y) with one direction, by integration."""
    w, weights = gauss_grid(1)
    products = np.prod(positive_features(np.array([[x], [y]]), w), axis=0) * len(w)
    mean = float(weights @ products)
    return mean, float(weights @ (products - mean) ** 2)


def of_the_product(x: float, y: float, m: float) -> tuple[float, float]:
    """Mean and variance of two independent estimates of exp(xᵀy/2), multiplied."""
    mean, one = moments(x / np.sqrt(2), y / np.sqrt(2))
    return mean**2, (mean**2 + one / m) ** 2 - mean**4


PAIRS = [(1.0, 0.0), (0.5, 0.5), (-1.0, 0.4), (0.3, -0.3), (0.2, 0.7), (-0.9, -0.1)]


def any_pair(rng: np.random.Generator) -> tuple[float, float, int]:
    """Two numbers, also large ones, and a number of directions."""
    x, y = rng.uniform(-2, 2, 2).round(2)
    return float(x), float(y), int(rng.integers(1, 10) * magnitude(rng, 1, 1000))


@exercise
@each(((x, y, m) for x, y in PAIRS for m in (1, 2, 3)), any_pair, fresh=12)
def variance(variance: Annotated[FormulaAnswer, VARIANCE], *, x, y, m) -> Verdict | None:
    """Find the variance of two estimates multiplied, in xy = xᵀy, s = ‖x+y‖² and m."""
    point = {"xy": x * y, "s": (x + y) ** 2, "m": m}
    at = f"For the numbers x = {show(x)}, y = {show(y)}, so that {show_at(point)},"
    what = "the variance of the product, integrated over all directions,"
    seen = of_the_product(x, y, m)[1]
    return differs(seen, variance(**point), at=at, what=what)


def any_size(rng: np.random.Generator) -> dict[str, float]:
    """s up to 9 and any error, also one that is far above 1 or far below."""
    s = round(float(rng.uniform(0.01, 9)), 2)
    return {"s": s, "r": float(rng.integers(1, 10) * magnitude(rng, 1e-4, 1))}


@each(
    SIZE.points,
    any_size,
    fresh=12,
    says="At {tried} pairs (s, r) this many features give the relative error r.",
)
def _by_integration(needed: FormulaAnswer, *, point) -> Verdict | None:
    x = float(np.sqrt(point["s"]))  # and y = 0, so that ‖x+y‖² = s
    m = needed(**point)
    at = f"At {show_at(point)} your formula gives m = {show(m)}"
    if m <= 0:
        return wrong(f"{at}, which is not positive.", at="not positive", yours=m)
    mean, one = moments(x / np.sqrt(2), 0.0)
    at += f". One direction of a factor has a relative variance of {show(one / mean**2)}, so"
    mean, spread = of_the_product(x, 0.0, m)
    error = float(np.sqrt(spread) / mean)
    return differs(point["r"], error, at=at, what="the relative error", whole=m)


def _by_own(needed: FormulaAnswer, variance: FormulaAnswer | None) -> bool:
    """Whether these are the features that the student's own variance of 9.3 asks for."""
    if variance is None:
        return False
    points = [(0.5, 2.0, 3.0), (0.2, 1.0, 2.0)]
    if not heeds(lambda xy, s, m: variance(xy=xy, s=s, m=m), points):
        return False
    for point in cases(SIZE.points(), any_size, fresh=12):
        m = needed(**point)
        for xy in (0.0, 0.5):
            own = variance(xy=xy, s=point["s"], m=m) if m > 0 else -1.0
            if not (own > 0 and close(np.sqrt(own) / np.exp(xy), point["r"])):
                return False
    return True


@exercise
def needed_features(
    needed: Annotated[FormulaAnswer, SIZE],
    variance: Annotated[FormulaAnswer | None, VARIANCE] = None,
) -> Verdict:
    """Find the number of features m at which the relative error is r, in s = ‖x+y‖² and r."""
    enough = right("With it this many features give the relative error r.")
    return following(
        _by_integration(needed),
        "variance of 9.3",
        lambda: enough if _by_own(needed, variance) else None,
    )


# -- 9.5 -------------------------------------------------------------------------------------------


def tokens(n: int, d: int, width: int, m: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Q, K (n×d), V (n×width), W (m×d) and n counts: 1, 2, none, and so on."""
    Q, K, V = draw(seed, n, d), draw(seed + 1, n, d), draw(seed + 2, n, width)
    return Q, K, V, 2 * draw(seed + 3, m, d), (1 + np.arange(n)) % 3


def any_tokens(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Inputs of any size; some keys are not there."""
    n, d, width, m = sizes(rng, 4)
    Q, K = numbers(rng, n, d, largest=1), numbers(rng, n, d, largest=1)
    rows = Q, K, numbers(rng, n, width, largest=100)
    counts = np.append(1, rng.integers(0, int(rng.choice([5, 1001])), n - 1))
    return *rows, rng.normal(size=(m, d)).round(2), rng.permutation(counts)


def by_definition(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    W: np.ndarray,
    counts: np.ndarray,
    *,
    f: Callable = course_features,
) -> np.ndarray:
    """y_i = Σ_j a_j f(q_i)ᵀf(k_j) v_j / Σ_j a_j f(q_i)ᵀf(k_j), pair by pair."""
    similar = np.einsum("ir,jr,j->ij", f(Q, W), f(K, W), counts)
    return np.array([row @ V / row.sum() for row in similar])


class Earlier:
    """A function of an earlier exercise, as the student wrote it there."""

    def read(self, answer: Any, name: str) -> FunctionAnswer:
        return FunctionAnswer(answer, name_of(answer, name))

    def same(self, a: FunctionAnswer, b: FunctionAnswer) -> bool:
        return True


@dataclass(frozen=True)
class Own:
    """The student's own features."""

    features: FunctionAnswer

    def __call__(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        """One column for each direction, or two, as sines and cosines have."""
        try:
            return self.features.array(X, W, shape=(len(X), len(W)))
        except Unreadable:
            return self.features.array(X, W, shape=(len(X), 2 * len(W)))


def as_features(features: FunctionAnswer | None) -> list[Callable]:
    """The student's own f, if attention can be computed with it; none otherwise."""
    if features is None:
        return []
    own = Own(features)
    inputs = [(X_SEEN, W_SEEN), (X_SEEN, W_SEEN), (X_SEEN[::-1], W_SEEN)]
    inputs += [(X_SEEN + 0.3, W_SEEN), (X_SEEN, W_SEEN + 0.3)]
    try:
        F, again, turned, *other = (own(*one) for one in inputs)
    except (NotAttempted, Unreadable, NotFinite):
        return []
    same, other = [again, turned[::-1]], [*other, np.repeat(F[:, :1], F.shape[1], 1)]
    fine = (F @ F.T).min() > 0 and all(close(F, G) for G in same)
    return [own] if fine and not any(close(F, G) for G in other) else []


def followed(answer: FunctionAnswer, features: FunctionAnswer | None = None) -> Callable:
    """The features by which this answer goes: those of w or −w, or the student's own."""
    own = as_features(features)
    ways = [course_features, lambda X, W: course_features(X, -W), *own]
    arrays = tokens(3, 2, 2, 4)
    seen = answer(*arrays)
    fits = (f for f in ways if close(seen, by_definition(*arrays, f=f), 1e-5))
    return next(fits, [course_features, *own][-1])


def many_tokens(n: int) -> tuple[np.ndarray, ...]:
    """Inputs of n tokens for the meter."""
    return tokens(n, 3, 2, 4)


def cost_of(answer: FunctionAnswer, f: Callable | None = None) -> str:
    """How the cost grows with n, in a word."""
    f = f or followed(answer)
    return cost_in_n(answer, many_tokens, lambda *arrays: by_definition(*arrays, f=f)).kind


METERED = Function(
    [tokens(3, 2, 2, 4), tokens(4, 3, 2, 6)], alike=lambda a, b: cost_of(a) == cost_of(b)
)


@exercise
def approximate_attention(
    approximate_attention: Annotated[FunctionAnswer, METERED],
    features: Annotated[FunctionAnswer, Earlier()],
) -> Verdict:
    """Write attention by the features of W to keys that count several times, linear in n."""
    return right(f"{limit(approximate_attention)} {linear(approximate_attention).says}")


@approximate_attention.part("Attention", points=2)
def _attends(
    approximate_attention: FunctionAnswer, features: FunctionAnswer | None = None
) -> Verdict:
    pencil = [(2, 1, 1, 2), (3, 2, 2, 4), (4, 3, 2, 6), (2, 2, 5, 8), (1, 2, 3, 2)]
    f = followed(approximate_attention, features)
    for arrays in cases((tokens(*shape, k) for k, shape in enumerate(pencil)), any_tokens):
        Q, _, V, *_ = arrays
        answer = approximate_attention.array(*arrays, shape=(len(Q), V.shape[1]))
        at = where("With Q = {}, K = {}, V = {}, W = {}, counts = {},", *arrays)
        if not well_divided(*arrays, f=f):
            continue
        expected = by_definition(*arrays, f=f)
        if verdict := differs(expected, answer, at=at, tolerance=1e-5):
            return verdict
    verdict = linear(approximate_attention, f)
    if not isinstance(f, Own):
        return verdict
    says = f"{FOLLOWS} your f of 9.2, which is not right yet. {verdict.says}"
    return replace(verdict, says=says)


def well_divided(Q, K, V, W, counts, *, f: Callable) -> bool:
    """Positive features always are; a student's own may cancel in a denominator."""
    if not isinstance(f, Own):
        return True
    terms = np.einsum("ir,jr,j->ij", f(Q, W), f(K, W), counts)
    return bool((np.abs(terms.sum(axis=1)) > 1e-3 * np.abs(terms).sum(axis=1)).all())


def linear(answer: FunctionAnswer, f: Callable = course_features) -> Verdict:
    """The verdict on the cost; the right numbers earn one point."""
    return judge_linear(answer, many_tokens, functools.partial(by_definition, f=f))


def _exactly(Q, K, V, W, counts):
    A = counts * np.exp(Q @ K.T / np.sqrt(Q.shape[1]))
    return A @ V / A.sum(axis=1, keepdims=True)


def limit(answer: FunctionAnswer) -> str:
    """How near the answer is to softmax attention with many directions."""
    Q, K, V, _, counts = tokens(5, 2, 2, 2)
    W = np.random.default_rng(0).normal(size=(5000, 2))
    exact = _exactly(Q, K, V, W, counts)
    far = np.abs(answer.array(Q, K, V, W, counts, shape=(5, 2)) - exact).max()
    return f"With 5000 directions the outputs are within {far:.3f} of softmax attention."


# -- 9.6: a direction and its opposite -------------------------------------------------------------

LENGTH = Formula(s=(0, 2)).needing().written(LENGTHS)


def pair_moments(x: float, y: float) -> tuple[float, float]:
    """Mean and variance of the mean of both products, of w and of −w, by integration."""
    w, weights = gauss_grid(1)
    there, back = (
        np.prod(positive_features(np.array([[x], [y]]), way), axis=0) * len(w) for way in (w, -w)
    )
    both = (there + back) / 2
    mean = float(weights @ both)
    return mean, float(weights @ (both - mean) ** 2)


@exercise
def antithetic(
    pair_variance: Annotated[FormulaAnswer, VARIANCE], gain: Annotated[FormulaAnswer, LENGTH]
) -> None:
    """Find the variance of f(x)ᵀf(y) if every w comes with −w, and the gain at equal cost."""


@antithetic.part("Variance", points=2)
@each(((x, y, m) for x, y in PAIRS for m in (1, 2, 3)), any_pair, fresh=12)
def _pairs(pair_variance: FormulaAnswer, *, x, y, m) -> Verdict | None:
    point = {"xy": x * y, "s": (x + y) ** 2, "m": m}
    at = f"For the numbers x = {show(x)}, y = {show(y)}, so that {show_at(point)},"
    what = "the variance with m pairs, integrated over all directions,"
    seen = pair_moments(x, y)[1] / m
    return differs(seen, pair_variance(**point), at=at, what=what)


@antithetic.part("Gain")
@each(((x, y, 1) for x, y in PAIRS), any_pair)
def _gain(gain: FormulaAnswer, *, x, y, _) -> Verdict | None:
    s = (x + y) ** 2
    if s == 0:
        return None
    pairs, single = pair_moments(x, y)[1], moments(x, y)[1] / 2
    at, what = f"At s = {show(s)}", "the variance of a pair over that of two directions"
    return differs(pairs / single, gain(s=s), at=at, what=what)


# -- 9.7: a ratio of two estimates -----------------------------------------------------------------

ROUNDED = 5.1e-6  # relative, as six digits are; the integrals are more exact
ALL_DIGITS = "the first three digits are right, but not the first six: keep all of them."


def _relative_products(n: Triple) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p/E[p] for both keys on a grid of directions, and the weights of the grid."""
    W, weights = gauss_grid(2)
    query, first, second = positive_features(np.array([n.q, n.k1, n.k2]), W)
    p1, p2 = query * first, query * second
    return p1 / (weights @ p1), p2 / (weights @ p2), weights


@exercise(numbers=OwnNumbers(triple_of, example="0", within=ROUNDED))
def ratio(student: StudentId, covariance: RealNumber, needed_for_ratio: RealNumber) -> None:
    """Find the covariance of two estimates with the same directions, and the m for their ratio."""


@ratio.part("Covariance", points=2)
def _together(student: str, covariance: float) -> Verdict:
    n = triple_of(student)
    first, second, weights = _relative_products(n)
    first, second = ((p - 1) * np.exp(np.dot(n.q, k)) for p, k in ((first, n.k1), (second, n.k2)))
    truth = float(weights @ (first * second)) / n.m
    if close(covariance, truth, ROUNDED):
        return right()
    if close(covariance, truth, 1e-3):
        return wrong(ALL_DIGITS, at="covariance", yours=covariance)
    alone = float(weights @ (first**2 + second**2)) / n.m
    seen, by_yours = show_apart(alone + 2 * truth, alone + 2 * covariance)
    says = f"integrated over all directions, p̂₁ + p̂₂ has the variance {seen}; with your covariance"
    return wrong(f"{says} it would have {by_yours}.", at="covariance", yours=covariance)


@ratio.part("Features", points=2)
def _needed(student: str, needed_for_ratio: float) -> Verdict:
    n, m = triple_of(student), needed_for_ratio
    first, second, weights = _relative_products(n)
    if m <= 0:
        return wrong("a number of directions is above 0.", at="features", yours=m)
    error = float(np.sqrt(weights @ (first - second) ** 2 / m))
    if close(error, n.r, ROUNDED):
        return right()
    if close(error, n.r, 1e-3):
        return wrong(ALL_DIGITS, at="features", yours=m)
    seen, wanted = show_apart(error, n.r)
    says = f"with that many directions the standard deviation of δ₁ − δ₂ is {seen}, not {wanted}."
    return wrong(says, at="features", yours=m)


# -- 9.8 -------------------------------------------------------------------------------------------


def _squares(*vectors: str) -> Iterator[tuple[str, ...]]:
    """The squares of these, u as x + y or not, each as ‖·‖² or as a product."""
    for u in ("u", "(x + y)"):
        named = [v.replace("u", u) for v in vectors]
        for kinds in product((r"\|{}\|^2", r"({0})^\top({0})"), repeat=len(named)):
            yield u, *(kind.format(v) for kind, v in zip(kinds, named, strict=True))


BELL = Chain(
    r"\exp(\frac{\|x+y\|^2}{2})",
    where={"x y w": vector("d"), "d": integers(1, 2)},
    given={"u": "x + y"},
    free=["Integral", "Expectation", "norm"],
    sizes={"d": 1},
    instances=24,
    steps=[
        Milestone(
            "no line has the bell curve around x + y, with the factor that makes its integral 1",
            [
                Seen(like=rf"(2\pi)^{{-d/2}} \int_w \exp(\frac12 {uu} - \frac12 {around}) dw")
                for _, uu, around in _squares("u", "w - u")
            ],
        ),
        Milestone(
            "no line has its square multiplied out, so that ‖x+y‖²/2 cancels",
            [
                Seen(like=rf"(2\pi)^{{-d/2}} \int_w \exp(-\frac12 {ww} + w^\top {u}) dw")
                for u, ww in _squares("w")
            ],
        ),
    ],
    goal=[Seen(using="Expectation", without="Integral")],
    not_there="the last one is not yet an expectation over w ∼ N(0, I).",
)


@exercise
def bell_by_lines(bell_lines: Annotated[list[Line], BELL]) -> Verdict:
    """Derive exp(‖x+y‖²/2) = E[exp(wᵀx) exp(wᵀy)] line by line, by an integral over w."""
    return BELL.judge(bell_lines, 3, "An exponential has become an expectation.")
