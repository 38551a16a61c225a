"""Unit 07: attention as lookup, with weights set by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.compare import as_array, close, last_digit, real_array
from selfcheck.corners import excluding
from selfcheck.display import show, show_apart
from selfcheck.exercises import exercise
from selfcheck.following import following, heeds
from selfcheck.kinds import Array, Formula, FormulaAnswer, Function, RealNumber, StudentId
from selfcheck.own_numbers import OwnNumbers
from selfcheck.per_case import each
from selfcheck.refusals import NotFinite, Unreadable
from selfcheck.sampling import cases, magnitude, numbers, sizes
from selfcheck.verdicts import Verdict, differs, partly, right, wrong

from ..attention import attention, attention_weights, softmax
from ..numbers.lookup import Shelf
from ..numbers.lookup import lookup as shelf_of

SINGLE = 3e-5  # what single precision leaves of weights with exponents of some tens


def squared_distances(Y: np.ndarray, X: np.ndarray) -> np.ndarray:
    """‖y_i − x_j‖² for all rows: (n, d), (N, d) to (n, N)."""
    return ((Y[:, None, :] - X[None, :, :]) ** 2).sum(axis=-1)


def gaussian_weights(Y: np.ndarray, X: np.ndarray, M: float) -> np.ndarray:
    """The definition: row i holds weights proportional to exp(−M²‖y_i − x_j‖²)."""
    return softmax(-(M**2) * squared_distances(Y, X))


# -- 7.1: keys and queries -------------------------------------------------------------------------

# Keys, query points, M: first one to follow by hand, then keys of very different lengths. In the
# last field scores with needlessly large parts lose their digits, whoever draws the others.
FIELDS = [
    (np.array([[1.0], [2.0], [4.0]]), np.array([[1.4]]), 1.0),
    (np.array([[0.2, 0.1], [3.0, 0.0], [0.0, -6.0], [1.0, 1.0]]), np.array([[0.5, 0.5]]), 0.5),
    (np.array([[0.0, 0.0], [150.0, 0.0], [0.0, -120.0]]), np.array([[100.0, 0.0]]), 0.01),
    *[
        (
            rng.normal(size=(n, d)) * rng.uniform(0.1, 4.0, size=(n, 1)),
            rng.normal(size=(queries, d)),
            M,
        )
        for rng in [np.random.default_rng(7)]
        for n, queries, d, M in [(5, 3, 3, 0.3), (4, 6, 1, 2.0), (7, 2, 5, 0.7), (1, 2, 2, 1.0)]
    ],
    (100.0 * np.eye(5) + 100, np.array([[150.0, 120.0, 90.0, 110.0, 130.0]]), 0.01),
]


def _rows(function: FunctionAnswer, points: np.ndarray, M: float) -> np.ndarray:
    """What the function returns for these points: a matrix with a row for each, of any width."""
    call, result = function.call(points, M), function(points, M)
    array = real_array(result)
    if array is None:
        return as_array(result, (len(points), 0), call)  # says what is wrong with it
    if array.ndim != 2 or len(array) != len(points) or not array.size:
        raise Unreadable(
            f"{call} has shape {array.shape}; a matrix with {len(points)} rows was expected, one "
            "for each point."
        )
    return _finite(array, call)


def _finite(array: np.ndarray, name: str) -> np.ndarray:
    if not np.isfinite(array).all():
        raise NotFinite(f"{name} has {show(array[~np.isfinite(array)][0])} in it.", name, array)
    return array


def any_positive(rng: np.random.Generator, low: float, high: float) -> float:
    """A number of few digits between two powers of ten, or up to three times the larger."""
    return float(f"{magnitude(rng, low, high) * rng.uniform(1, 3):.2g}")


Field = tuple[np.ndarray, np.ndarray, float]


def any_field(rng: np.random.Generator) -> Field:
    """Keys, query points and M of any size; the weights are neither even nor all on one key."""
    count, queries, d = sizes(rng, 3)
    M = any_positive(rng, 0.01, 100)
    X, Y = numbers(rng, count, d), numbers(rng, queries, d)
    X *= rng.uniform(0.2, 2, (count, 1)).round(1)
    if count > 2:
        X[-1] = X[0]  # the same place twice
    return X / (M * np.sqrt(d)), Y / (M * np.sqrt(d)), M


def _calls(keys: FunctionAnswer, queries: FunctionAnswer, field: tuple) -> list[tuple]:
    """The calls by which `_weights` finds the keys and the queries of a field."""
    X, Y, M = field
    other = Y[::-1] + 1, X[::-1] + 1
    return [(queries, other[0], M), (keys, X, M), (keys, other[1], M), (queries, Y, M)]


def _weights(keys: FunctionAnswer, queries: FunctionAnswer, field: tuple) -> tuple[np.ndarray, int]:
    """The course's attention weights with these keys and queries, and their width.

    Between the calls there are others with other points: neither may live on what it saw before.
    """
    calls = _calls(keys, queries, field)
    _, K, _, Q = (_rows(*call) for call in calls)
    if K.shape[1] != Q.shape[1]:
        coordinates = field[0].shape[1]
        raise Unreadable(
            f"For points with {coordinates} coordinates your keys have {K.shape[1]} numbers and "
            f"your queries {Q.shape[1]}; a score is a product of the two, so both need equally "
            "many."
        )
    with np.errstate(all="ignore"):
        return attention_weights(Q, K), K.shape[1]


def _ranks(weights: np.ndarray, squared: np.ndarray) -> bool:
    """Does the nearest key have the largest weight, wherever one is clearly nearest?"""
    nearest, second = np.sort(squared, axis=1)[:, :2].T
    clear = second - nearest > 1e-3 * second
    found = np.take_along_axis(weights, squared.argmin(axis=1)[:, None], axis=1)[:, 0]
    runner_up, largest = np.sort(weights, axis=1)[:, -2:].T
    return bool(((found == largest) & (largest > runner_up))[clear].all())


@exercise
def lookup(
    keys: Annotated[FunctionAnswer, Function(samples=[(X, M) for X, _, M in FIELDS])],
    queries: Annotated[FunctionAnswer, Function(samples=[(Y, M) for _, Y, M in FIELDS])],
) -> Verdict:
    """Write `keys(X, M)` and `queries(Y, M)` so that attention weighs keys by their distance."""
    verdict, ranked = None, True
    for field in cases(FIELDS, any_field):
        X, Y, M = field
        seen, _ = _weights(keys, queries, field)
        ranked = ranked and (len(X) == 1 or _ranks(seen, squared_distances(Y, X)))
        at = f"With the keys {show(X)}, the query points {show(Y)} and M = {M:g},"
        what = "the weights, by exp(−M²‖q − k‖²),"
        verdict = verdict or differs(
            gaussian_weights(Y, X, M), seen, at=at, what=what, tolerance=SINGLE
        )
        if verdict and not ranked:
            return verdict
    if verdict is None:
        return right("On fields of keys, long ones and short ones, the weights are as asked.")
    says = f"{verdict.says} The nearest key has the largest weight on every field."
    return partly(1, replace(verdict, says=says))


# -- 7.2 and 7.3: what leaks -----------------------------------------------------------------------

COPIES = 2  # of the nearest record
N_M_DELTA = Formula(N=range(3, 10), M=(0, 3), Delta=(0, 2.5)).needing()
N_DELTA_EPSILON = Formula(N=range(3, 10), Delta=(0, 2.5), epsilon=(0, 0.2)).needing()
TIGHT = 30  # from this M²Δ on, for up to 1000 keys, and from 18 on for up to 9: so says the text
ROUNDING = 1e-15  # of 1 − …, which is then 0 or at least a hundredth of that


def off_target(M: float, squared: np.ndarray, copies: int = 1) -> float:
    """The weight on all keys but the nearest and its copies, from the squared distances."""
    with np.errstate(all="ignore"):  # M may be huge, by mistake
        farther = np.sort(squared)[copies:] - squared.min()
        others = np.exp(-np.square(M, dtype=float) * farther)
    return float(others.sum() / (copies + others.sum()))  # what leaks, added up: small ones exact


def equidistant(count: int, Delta: float, copies: int = 1) -> np.ndarray:
    """Squared distances of the keys: copies of one at 0.5, all others farther by exactly Δ."""
    return np.array([0.5] * copies + [0.5 + Delta] * (count - copies))


class Leak(NamedTuple):
    """Keys at squared distances from a query, the nearest twice, Δ to the next, and M."""

    M: float
    Delta: float
    squared: np.ndarray

    @property
    def point(self) -> dict[str, Any]:
        return {"N": len(self.squared), "M": self.M, "Delta": self.Delta}


def _equally_far(count: int, M: float, Delta: float) -> Leak:
    return Leak(M, Delta, equidistant(count, Delta, COPIES))


def random_field(rng: np.random.Generator, most: int = 1000) -> Leak:
    """Keys at random places."""
    (count,) = sizes(rng, 1, 3, most)
    squared = np.sort((rng.normal(size=(count, 2)) ** 2).sum(axis=1)) * magnitude(rng, 0.1, 10)
    squared[:COPIES] = squared[0]
    return Leak(any_positive(rng, 0.1, 10), float(squared[COPIES] - squared[0]), squared)


def leaky_field(rng: np.random.Generator) -> Leak:
    """All other keys equally far, few or many, with any M and M²Δ up to 20."""
    (count,), M = sizes(rng, 1, 3, 1000), any_positive(rng, 0.1, 10)
    return _equally_far(count, M, float(rng.uniform(0, 20) / M**2))


def tight_field(rng: np.random.Generator) -> Leak:
    """All other keys equally far, and so far that almost nothing leaks."""
    (count,), M = sizes(rng, 1, 3, 1000), any_positive(rng, 0.1, 10)
    return _equally_far(count, M, float(rng.uniform(TIGHT + 1, 200) / M**2))


FIRST_LEAKS = [
    *(_equally_far(point["N"], point["M"], point["Delta"]) for point in N_M_DELTA.points()),
    *(random_field(np.random.default_rng(seed), most=9) for seed in range(36)),
    _equally_far(1000, 2.0, 2.5),
    _equally_far(20_000, 0.5, 48.0),
    _equally_far(333, 7.0, 0.01),
]
TIGHT_LEAKS = [_equally_far(n, *at) for n in (3, 5, 9) for at in [(3.0, 2.1), (5.0, 0.8)]]


@exercise
def leak(bound: Annotated[FormulaAnswer, N_M_DELTA]) -> Verdict:
    """Bound the weight off a target stored twice, tightly if all other keys are equally far."""
    for field in cases(FIRST_LEAKS, random_field, leaky_field, tight_field, fresh=9):
        seen, answer = off_target(field.M, field.squared, COPIES), bound.value(**field.point)
        if not answer >= seen * (1 - 1e-9) - ROUNDING:  # an infinite bound holds, and falls below
            bounded, leaked = show_apart(answer, seen)
            says = (
                f"Take M = {show(field.M)} and {len(field.squared)} keys at the squared distances "
                f"{show(field.squared)} from the query: Δ = {show(field.Delta)}, and {leaked} of "
                f"the weight is off target. Your bound is {bounded}."
            )
            return wrong(says, at="a field", yours=answer)
    still = bound.value(N=3, M=20.0, Delta=1.0)
    if not still <= 0.05:
        says = f"At M = 20, N = 3, Δ = 1 it still is {show(still)}."
        says = f"No field broke your bound, but it does not fall to 0 as M grows. {says}"
        return wrong(says, at="M = 20", yours=still)
    for field in cases(TIGHT_LEAKS, tight_field, fresh=4):
        seen, answer = off_target(field.M, field.squared, COPIES), bound(**field.point)
        if answer > seen * (1 + 1e-6) + ROUNDING * (answer > ROUNDING / 100):
            bounded, leaked = show_apart(answer, seen)
            says = (
                f"No field broke your bound, but it is loose. With {len(field.squared)} keys, all "
                f"but the two copies equally far, M = {show(field.M)} and Δ = {show(field.Delta)}, "
                f"{leaked} of the weight is off target; your bound is {bounded}."
            )
            return partly(1, wrong(says, at="a tight field", yours=answer))
    return right()


Setting = dict[str, Any]
SETTINGS: list[Setting] = [
    *N_DELTA_EPSILON.points(),
    {"N": 6, "Delta": 0.5, "epsilon": 1e-6},
    {"N": 1000, "Delta": 0.02, "epsilon": 0.01},
]


def any_setting(rng: np.random.Generator) -> Setting:
    """Few keys or a thousand, near or far, and an error that may be tiny."""
    Delta, epsilon = any_positive(rng, 0.01, 100), any_positive(rng, 1e-9, 0.01)
    return {"N": sizes(rng, 1, 3, 1000)[0], "Delta": Delta, "epsilon": epsilon}


def _no_larger_than_required(
    M: float, setting: Setting, bound: FormulaAnswer | None
) -> tuple[bool, bool]:
    """Does a bound come to ε at this M: that of exercise 7.2, and the student's own?"""
    N, Delta, epsilon = setting.values()
    seen = off_target(M, equidistant(N, Delta, COPIES), COPIES)
    try:
        own = bound is not None and close(bound(N=N, M=M, Delta=Delta), epsilon)
    except (Unreadable, NotFinite):
        own = False
    return seen >= epsilon / (1 + epsilon) * (1 - 1e-6), own  # what the bound gives away, no more


def _heeds_all(bound: FormulaAnswer | None) -> bool:
    """Does a student's bound depend on the keys, on M and on Δ, or is it right for four keys?"""
    if bound is None:
        return False
    own = lambda N, M, Delta: bound(N=N, M=M, Delta=Delta)  # noqa: E731
    return heeds(own, [(9.0, 2.0, 1.0)]) or close(own(4, 1.5, 0.7), np.exp(-(1.5**2) * 0.7))


@exercise
def sharpness(
    sharp_enough: Annotated[FormulaAnswer, N_DELTA_EPSILON],
    bound: Annotated[FormulaAnswer | None, N_M_DELTA] = None,
) -> Verdict:
    """Find the M that keeps the weight off a target stored twice below ε, in N, Δ and ε."""
    loose, follows, wrongly = None, bound is not None, None
    for setting in cases(SETTINGS, any_setting):
        count, Delta, epsilon = setting.values()
        where = f"With {count} keys, Δ = {show(Delta)} and ε = {show(epsilon)} your M is"
        answer = sharp_enough.value(**setting)
        if np.isnan(answer):
            return wrongly or wrong(f"{where} not a real number.", at="a setting", yours=answer)
        squared, where = equidistant(count, Delta, COPIES), f"{where} {show(answer)}"
        if answer < 0:
            says = f"{where}, but M is a positive number."
            return wrongly or wrong(says, at="a setting", yours=answer)
        seen, (tight, own) = (
            off_target(answer, squared, COPIES),
            _no_larger_than_required(answer, setting, bound),
        )
        follows = follows and own
        if wrongly:
            continue
        if seen > epsilon * (1 + 1e-6):
            says = "If all keys but the two copies are equally far, "
            says = (
                f"{where}. {says}{show_apart(seen, epsilon)[0]} of the weight is off target then."
            )
            wrongly = wrong(says, at="a setting", yours=answer)
        elif off_target(answer / np.sqrt(2), squared, COPIES) <= epsilon:
            says = f"{where}. Half of that M² would have been enough."
            wrongly = wrong(says, at="a setting", yours=answer)
        elif not tight and loose is None:
            shown = show_apart(seen, epsilon)[0]
            says = f"{where}, and only {shown} of the weight is off target."
            says = f"The error is reached everywhere, but M is larger than needed. {says}"
            loose = partly(1, wrong(says, at="a setting", yours=answer))
    verdict = (
        wrongly
        or loose
        or right("At every setting the worst field, all other keys equally far, just meets ε.")
    )
    met = right("At every setting that bound comes to ε at your M.")
    follows = follows and _heeds_all(bound)
    return following(verdict, "bound of 7.2", lambda: met if follows else None)


# -- 7.4: the value matrix -------------------------------------------------------------------------


def shop_tokens(count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, 5): rows (1, p_1, p_2, ‖p‖², payload), with whole numbers small enough to follow."""
    places = np.stack([rng.permutation(9)[:count] - 4, rng.permutation(9)[:count] - 4], axis=1)
    payload = rng.permutation(np.arange(7, 24))[:count]
    return np.c_[np.ones(count), places, (places**2).sum(axis=1), payload]


_rng = np.random.default_rng(4)
SHOPS = [shop_tokens(count, _rng) for count in (3, 5, 8)]


@excluding(twice="There are 9 places on the map for a shop.")
def any_shops(rng: np.random.Generator) -> np.ndarray:
    """Tokens at other places, with payloads of either sign."""
    X = shop_tokens(sizes(rng, 1, 2, 9)[0], rng)
    X[:, 1:3] = X[:, 1:3] + rng.integers(-20, 21, 2)
    X[:, 3], X[:, 4] = (X[:, 1:3] ** 2).sum(axis=1), numbers(rng, len(X), largest=100)
    return X


@exercise
@each(SHOPS, any_shops)
def value_matrix(W_v: Annotated[np.ndarray, Array((5, 1))], *, X) -> Verdict | None:
    """Find the W_v with which the lookup returns the last number of the nearest token."""
    # at a token's own place the next one is at least √2 away: nothing leaks
    found = gaussian_weights(X[:, 1:3], X[:, 1:3], M=4.0) @ (X @ W_v)
    at = f"With the tokens {show(X)} and a query at the place of each,"
    return differs(X[:, 4:], found, at=at, what="what attention returns")


# -- 7.5: kernel regression ------------------------------------------------------------------------

DATA = [  # x_new, x, y, M
    (np.array([1.5]), np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0]), 1.0),
    (np.array([0.3, -2.0, 5.0, 0.0]), np.array([3.0, -1.0]), np.array([2.0, -1.0]), 0.4),
    (np.array([0.1, 0.9]), np.linspace(-1, 1, 6), np.sin(3 * np.linspace(-1, 1, 6)), 3.0),
    (np.array([2.0, 4.0, 2.0]), np.array([1.0]), np.array([7.0]), 2.0),
]


def kernel_estimates(x_new: np.ndarray, x: np.ndarray, y: np.ndarray, M: float) -> np.ndarray:
    """The definition (Nadaraya–Watson): means of y, weighted by exp(−M²(x_new − x_j)²)."""
    return gaussian_weights(x_new[:, None], x[:, None], M) @ y


def _regress(inputs: FunctionAnswer, *data: Any) -> tuple[np.ndarray, int]:
    """attention(Q, K, V) with what the function returns, and the width of a key."""
    x_new, x, _, _ = data
    return _attended(inputs, data, len(x_new), len(x))


def _attended(
    inputs: FunctionAnswer, data: tuple, queries: int, keys: int | None = None
) -> tuple[np.ndarray, int]:
    """attention(Q, K, V) with what the function returns, and the width of a key; any V if None."""
    call, parts = inputs.call(*data), inputs(*data)
    if not isinstance(parts, tuple | list) or len(parts) != 3:
        raise Unreadable(f"{call} should return three arrays: `return Q, K, V`.")
    found = [real_array(part) for part in parts]
    if keys is None and found[1] is not None and found[1].ndim:
        keys = len(found[1])
    arrays = []
    for name, array, rows in zip("QKV", found, (queries, keys, keys), strict=True):
        if array is None:
            raise Unreadable(f"{call}: {name} should be an array of real numbers.")
        arrays.append(_finite(array, f"{call}: {name}"))
        if name == "V" and array.shape == (rows,):
            continue
        if array.ndim != 2 or len(array) != rows or (name == "V" and array.shape[1] != 1):
            width = "1" if name == "V" else "m"
            raise Unreadable(f"{call}: {name} has shape {array.shape}, not ({rows}, {width}).")
    Q, K, V = arrays
    if Q.shape[1] != K.shape[1] or not K.size:
        raise Unreadable(f"{call}: Q is {Q.shape} and K is {K.shape}; the widths must agree.")
    with np.errstate(all="ignore"):
        return attention(Q, K, V.reshape(-1, 1))[:, 0], K.shape[1]


def any_data(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Measurements at any numbers, some of them twice, with any M."""
    new, count = sizes(rng, 2)
    M = any_positive(rng, 0.01, 100)
    x, y = numbers(rng, count, largest=5), numbers(rng, count, largest=magnitude(rng, 1, 1000))
    if count > 2:
        x[-1] = x[0]
    return numbers(rng, new, largest=5) / M, x / M, y, M


def _field(x_new: np.ndarray, x: np.ndarray, y: np.ndarray, M: float) -> Field:
    """The same as keys and query points of one number each."""
    return x[:, None], x_new[:, None], M


def _own_weights(
    keys: FunctionAnswer | None, queries: FunctionAnswer | None, data: tuple
) -> np.ndarray | None:
    """The weights by the student's own functions of exercise 7.1, if they are there."""
    if keys is None or queries is None:
        return None
    try:
        return _weights(keys, queries, _field(*data))[0]
    except (Unreadable, NotFinite):
        return None


def _heed_all(keys: FunctionAnswer | None, queries: FunctionAnswer | None) -> bool:
    """Do the weights of a student's own functions depend on keys, queries and M?"""
    if keys is None or queries is None:
        return False
    sample = (np.array([[1.0], [2.0]]), np.array([[0.5], [3.0]]), 1.0)
    return heeds(lambda X, Y, M: _weights(keys, queries, (X, Y, M))[0], [sample])


@exercise
def regression(
    regression_inputs: Annotated[FunctionAnswer, Function(samples=DATA)],
    keys: Annotated[FunctionAnswer | None, Function()] = None,
    queries: Annotated[FunctionAnswer | None, Function()] = None,
) -> Verdict:
    """Write a function that returns Q, K, V with which attention is kernel regression."""
    verdict, follows, uneven = None, True, False
    for data in cases(DATA, any_data):
        x_new, x, y, M = data
        seen, _ = _regress(regression_inputs, *data)
        own = _own_weights(keys, queries, data)
        follows = follows and own is not None and close(seen, own @ y)
        uneven = uneven or (own is not None and np.ptp(own) > 0)
        at = f"With x = {show(x)}, y = {show(y)}, M = {M:g} and x_new = {show(x_new)},"
        what = "the weighted means that attention gives"
        verdict = verdict or differs(
            kernel_estimates(*data), seen, at=at, what=what, tolerance=SINGLE
        )
        if verdict and not follows:
            return verdict
    if verdict is None:
        return right("On all data one call of attention gave the weighted means.")
    same = right("On all data one call of attention gave what that lookup makes.")
    follows = uneven and _heed_all(keys, queries)
    return following(verdict, "lookup of 7.1", lambda: same if follows else None)


# -- 7.6: nothing near -----------------------------------------------------------------------------

Request = tuple[np.ndarray, np.ndarray, np.ndarray, float, float, float]  # Y, X, a, M, r, c
REQUESTS: list[Request] = [
    (np.array([[1.5], [9.0]]), np.array([[0.0], [1.0]]), np.array([5.0, 7.0]), 1.0, 2.0, -1.0),
    (np.array([[0.5, 3.0]]), np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([1.0, 0]), 0.5, 1.0, 4.0),
]  # fmt: skip


def near_or_default(
    Y: np.ndarray, X: np.ndarray, a: np.ndarray, M: float, r: float, c: float
) -> np.ndarray:
    """The definition: means of a and c, weighted by exp(−M²‖y − x_j‖²) and by exp(−M²r²)."""
    exponents = np.c_[squared_distances(Y, X), np.full(len(Y), r * r)]
    return softmax(-M * M * exponents) @ np.append(a, c)


def any_request(rng: np.random.Generator) -> Request:
    """A field of keys with values, a reach about as long as the distances, and a default."""
    X, Y, M = any_field(rng)
    r = float(f"{rng.uniform(0.3, 2) / M:.2g}")
    return Y, X, numbers(rng, len(X), largest=5), M, r, float(rng.integers(-9, 10))


@exercise
@each(REQUESTS, any_request, fresh=8)
def or_nothing(
    inputs_or_nothing: Annotated[FunctionAnswer, Function(samples=REQUESTS)], *, request
) -> Verdict | None:
    """Write a function that returns Q, K, V for a lookup with a default where nothing is near."""
    Y, X, a, M, r, c = request
    seen, _ = _attended(inputs_or_nothing, request, len(Y))
    at = f"With Y = {show(Y)}, X = {show(X)}, a = {show(a)}, M = {M:g}, r = {r:g}, c = {c:g},"
    what = "what attention returns"
    expected = near_or_default(*request)
    return differs(expected, seen, at=at, what=what, tolerance=10 * SINGLE)


# -- 7.7: a field of one's own ---------------------------------------------------------------------

FAR_OUT = 1e6


@exercise(numbers=OwnNumbers(shelf_of, example="0", within=1e-4))
def own_shelf(student: StudentId, own_sharpness: RealNumber, own_border: RealNumber) -> None:
    """Find the M at which just ε leaks, and where two records with copies weigh the same."""


@own_shelf.part("Sharpness", points=2)
def _sharpness_of(student: str, own_sharpness: float) -> Verdict:
    n, unit = shelf_of(student), last_digit(own_sharpness)
    if not 0 < own_sharpness < FAR_OUT:
        return wrong("M is above 0, and not that large.", at="leak", yours=own_sharpness)
    less, leak, more = (  # it falls as M grows: does it come to ε within the last of six digits?
        off_target(max(M, 0.0), (np.array(n.places) - n.query) ** 2)
        for M in (own_sharpness + unit, own_sharpness, own_sharpness - unit)
    )
    if less <= n.epsilon <= more:
        return right()
    seen, wanted = show_apart(leak, n.epsilon)
    says = f"with M = {show(own_sharpness, 7)} the weight off target is {seen}, not {wanted}."
    return wrong(says, at="leak", yours=own_sharpness)


@own_shelf.part("Border", points=2)
def _border_of(student: str, own_border: float) -> Verdict:
    n, y = shelf_of(student), float(np.clip(own_border, -FAR_OUT, FAR_OUT))
    unit = last_digit(y)
    if _ahead(n, y - unit) >= 0 >= _ahead(n, y + unit):
        return right()
    first, second = softmax(np.array([_ahead(n, y), 0.0]))
    says = f"at {show(own_border, 7)} the copies of record 1 have {show(first, 7)} of the weight"
    says = f"{says} of these two, and those of record 2 {show(second, 7)}."
    return wrong(says, at="border", yours=own_border)


def _ahead(n: Shelf, y: float) -> float:
    """By how much the log-weight of all copies of record 1 is larger at y than of record 2."""
    (here, there), (first, second) = n.places[:2], n.copies
    ahead = np.log(first / second) + n.M**2 * ((there - y) ** 2 - (here - y) ** 2)
    return float(ahead)  # it falls as y grows, for record 1 lies left of record 2
