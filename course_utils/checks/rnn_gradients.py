"""Unit 01: RNN gradients, and when they vanish."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from selfcheck.calls import FunctionAnswer, line_at
from selfcheck.cards import counted
from selfcheck.chains import Chain, Milestone, Seen
from selfcheck.compare import as_array, close, real_array
from selfcheck.display import show, show_apart
from selfcheck.exercises import exercise
from selfcheck.forms import Forms
from selfcheck.kinds import Choice, Function, OfNumbers, RealNumber, Steps, StudentId, as_written
from selfcheck.line_by_line import Way, judge_steps, once, some_line
from selfcheck.own_numbers import OwnNumbers
from selfcheck.per_case import each
from selfcheck.refusals import Unreadable
from selfcheck.sampling import cases, numbers, sizes, tried
from selfcheck.verdicts import Verdict, differs, partly, right, wrong

from ..derivation import (
    Derivation,
    Report,
    activation,
    contraction,
    integers,
    interval,
    invertible,
    matrix,
    sequence,
    vector,
)
from ..numbers.rnn_gradients import rnn_gradients
from ..rnn import (
    ACTIVATIONS,
    Activation,
    finite_differences,
    h_step,
    jacobians,
    matrix_with,
    run,
    spectral_norm,
)

IDENTITY, RELU, TANH, SIGMOID, SILU = (
    ACTIVATIONS[name] for name in ("identity", "ReLU", "tanh", "sigmoid", "SiLU")
)
SHEAR = np.array([[1.0, 2.0], [0.0, 1.0]])
THREE = np.array([[0.5, -1.0, 0.2], [1.5, 0.3, -0.7], [-0.4, 0.9, 1.1]])


def states(W: np.ndarray, sigma: Activation, T: int, seed: int) -> np.ndarray:
    """The states h_0 … h_T of a network with inputs of few digits."""
    n = len(W)
    drawn = np.random.default_rng(seed).uniform(-1, 1, (T + 1, n)).round(1)
    return run(h_step, drawn[0], drawn[1:], W, np.eye(n), np.zeros(n), sigma.f)


# -- 1.1 ------------------------------------------------------------------------------------------

Line = Callable[..., Any]


def one_step(W: Any, U: Any, x: Any, b: Any, h_prev: Any) -> dict[str, Any]:
    """Both recurrences at one step: every name that a line may use, with its value."""
    W, U, x, b, h_prev = (np.array(v, dtype=float) for v in (W, U, x, b, h_prev))
    z, g_prev = U @ x + b, TANH(h_prev)
    drawn = {"W": W, "z": z, "g_prev": g_prev, "h_prev": h_prev, "h": W @ g_prev + z}
    return {**drawn, "sigma": TANH, "U": U, "x": x, "b": b}


STEP = one_step([[2, 1], [1, 3]], [[1], [2]], [1], [0, -3], [-1, 2])
OTHER = one_step([[1, -1], [2, 1]], [[2], [-1]], [-2], [2, -1], [3, 1])


def uses(line: Line, *names: str) -> bool:
    """Does the line change when these quantities alone are given other values?"""
    return not close(
        line_at(line, STEP), line_at(line, STEP | {name: OTHER[name] for name in names})
    )


ON_PAPER = Forms({"h_{t-1}": "h_prev", "g_{t-1}": "g_prev", "h_t": "h", "z_t": "z", "x_t": "x"})


@cache
def _from_g(singular: bool, inputs: bool = True) -> Derivation:
    """The derivation from g_t on; z is drawn itself, unless a line speaks of the inputs."""
    drawn = {"W": matrix("n", "n") if singular else invertible("n"), "sigma": activation()}
    z = (
        {"U": matrix("n", "m"), "x": vector("m"), "b": vector("n")}
        if inputs
        else {"z": vector("n")}
    )
    return Derivation(
        r"\sigma(W g_{t-1} + z_t)",
        [],
        where={**drawn, **z, "h_prev": vector("n")},
        given={
            **({"z": "U x + b"} if inputs else {}),
            "g_prev": "sigma(h_prev)",
            "h": "W sigma(h_prev) + z",
        },
        instances=60 if singular else 20,  # without singular ones it only names a mistake
        forms=ON_PAPER,
    )


LINES = Steps(
    STEP, "lambda W, g_prev, z, sigma: sigma(W @ g_prev + z)", lambda: _from_g(singular=True)
)


@once
def induction(lines: list[Line], singular: bool = True) -> Report:
    """Every line against the one before it, from g_t on; many a W is singular, or none."""
    inputs = any(uses(line, "U", "x", "b") for line in lines)
    begun = _from_g(singular, inputs)
    return begun.goes_on(("=", as_written(line), "") for line in lines).check()


BY_THE_ASSUMPTION = Way(
    (
        some_line(
            lambda line: not uses(line, "g_prev", "h"),  # written with h_{t−1} alone
            "none uses the assumption: g_{t−1} is never replaced",
        ),
    ),
    goal=lambda line: not uses(line, *STEP.keys() - {"h", "sigma"}),
    not_there="the last one is not yet σ(h_t), with only h and σ.",
)


@exercise
def induction_step(lines: Annotated[list[Line], LINES]) -> Verdict:
    """Derive g_t = σ(h_t) line by line from g_{t−1} = σ(h_{t−1})."""
    return judge_steps(
        induction(lines), lines, BY_THE_ASSUMPTION, 2, "Many of the matrices W were singular."
    )


# -- 1.2 ------------------------------------------------------------------------------------------


Step = tuple[np.ndarray, np.ndarray, Activation]  # W, h and σ


PARABOLA = Activation("x²", lambda x: x**2, lambda x: 2 * x, np.inf)  # slopes of any size


def any_sigma(rng: np.random.Generator) -> Activation:
    """One of the activations, or a parabola, whose slopes have any size and either sign."""
    if rng.random() < 0.5:
        return list(ACTIVATIONS.values())[rng.integers(len(ACTIVATIONS))]
    a, b = numbers(rng, 2, largest=3.0) + 0.01
    return Activation("a parabola", lambda x: a * x + b * x**2, lambda x: a + 2 * b * x, np.inf)


def away_from_0(h: np.ndarray) -> np.ndarray:
    """The same states, but for zeros, where a ReLU has no slope."""
    return np.where(h == 0, 0.5, h)


def any_step(rng: np.random.Generator, units: int = 1) -> Step:
    """A network of so many units or more at any state, with slopes outside of [0, 1] too."""
    (n,) = sizes(rng, 1, units)
    h = away_from_0(numbers(rng, n, largest=float(rng.choice([0.5, 3.0]))))
    return numbers(rng, n, n, largest=float(rng.choice([2.0, 200.0]))), h, any_sigma(rng)


def _next_output(W: np.ndarray, a: np.ndarray, sigma: Activation, nudge: np.ndarray) -> np.ndarray:
    """g_t where a enters σ, once g_{t−1} is nudged."""
    return sigma(W @ nudge + a)


SINGLE = 2e-5  # relative: slopes of 32 bits, such as 1 − tanh², lose some digits


def _entry_off(seen: np.ndarray, answer: np.ndarray, at: str, h: str = "h") -> Verdict | None:
    """A refutation by the entry that is off most, else None."""
    if close(seen, answer, SINGLE):
        return None
    i, j = np.unravel_index(np.abs(answer - seen).argmax(), seen.shape)
    at += f" nudging entry {j + 1} of {h}_{{t−1}} moves entry {i + 1} of {h}_t:"
    what = f"entry ({i + 1}, {j + 1}) of the Jacobian"
    return differs(
        seen[i, j], answer[i, j], at=at, what=what, whole=answer, against=seen, tolerance=SINGLE
    )


STEPS: list[Step] = [
    (SHEAR, np.array([1.0, -0.5]), TANH),
    (THREE, np.array([0.4, -1.0, 0.8]), SIGMOID),
    (-THREE, np.array([0.3, -0.2, 2.0]), RELU),
    (np.array([[2.0]]), np.array([0.5]), TANH),
    (SHEAR, np.array([-2.0, 2.5]), SILU),
    (SHEAR, np.array([1.0, -2.0]), PARABOLA),
]


SLOPED = [(W, a, sigma.prime) for W, a, sigma in STEPS[:2]]


@exercise
@each(STEPS, any_step, partial(any_step, units=12))
def jacobian(
    jacobian: Annotated[FunctionAnswer, Function(samples=SLOPED)], *, W, a, sigma
) -> Verdict | None:
    """Write a function of W, a and σ′ that returns ∂g_t/∂g_{t−1} where a = W g_{t−1} + z_t."""
    answer = jacobian.array(W, a, sigma.prime, shape=W.shape)
    seen = finite_differences(partial(_next_output, W, a, sigma), 0 * a)
    at = f"At W = {show(W)}, a = {show(a)} and σ = {sigma.name},"
    return _entry_off(seen, answer, at, "g")


# -- 1.3 ------------------------------------------------------------------------------------------


Journey = tuple[np.ndarray, np.ndarray, Activation]  # W, the states h_0 … h_T, and σ


def any_journey(rng: np.random.Generator, most: int = 40, steps: int = 1) -> Journey:
    """Any number of units and steps; inputs can lead through any states. It stays near norm 1."""
    n, T = *sizes(rng, 1, 1, most), *sizes(rng, 1, steps)
    sigma = any_sigma(rng)
    hs = away_from_0(numbers(rng, T + 1, n, largest=2.5))
    W = numbers(rng, n, n)
    growth = np.sqrt(n * np.mean(W**2) * np.mean(sigma.prime(hs) ** 2))
    W = W / max(growth, 0.1)
    return W, hs, sigma


def by_nudging_the_bias(W: np.ndarray, hs: np.ndarray, sigma: Activation) -> np.ndarray:
    """∂h_T/∂b by finite differences, with the inputs that lead through these states."""
    xs = hs[1:] - sigma(hs[:-1]) @ W.T
    one, none = np.eye(len(W)), np.zeros(len(W))
    return finite_differences(lambda b: run(h_step, hs[0], xs, W, one, b, sigma.f)[-1], none)


def over_all_ways(W: np.ndarray, hs: np.ndarray, dsigma: Callable, first: int = 1) -> np.ndarray:
    """The sum of ∂h_T/∂h_t over t = first … T: b enters h_t, and from there goes on."""
    return sum(jacobians(W, hs[t:], dsigma)[-1] for t in range(first, len(hs)))


@cache
def journeys() -> list[Journey]:
    """1, 2, 3 and 6 steps and slopes outside of [0, 1], short enough for finite differences."""
    ways = [(SHEAR, TANH, 1), (SHEAR, TANH, 2), (THREE, SIGMOID, 3), (THREE, TANH, 6)]
    ways += [(np.array([[-1.5]]), TANH, 3)]
    led = [(W, states(W, sigma, T, seed=T), sigma) for W, sigma, T in ways]
    led += [(SHEAR, np.array([[-2.0, 2.5], [3.0, -1.5], [0.5, 1.0]]), SILU)]
    return led


@cache
def nudged(k: int) -> np.ndarray:
    """What the k-th of them comes to."""
    return by_nudging_the_bias(*journeys()[k])


@exercise
def jacobian_product(
    bias_jacobian: Annotated[
        FunctionAnswer, Function(samples=[(SHEAR, states(SHEAR, TANH, 3, 0), TANH.prime)])
    ],
) -> Verdict:
    """Write a function of W, the states h_0 … h_T and σ′ that returns ∂h_T/∂b."""
    draws = any_journey, partial(any_journey, most=4, steps=12)
    known = {id(hs): k for k, (_, hs, _) in enumerate(journeys())}
    for W, hs, sigma in cases(journeys(), *draws):
        T, k = len(hs) - 1, known.get(id(hs))
        answer = bias_jacobian.array(W, hs, sigma.prime, shape=W.shape)
        seen = over_all_ways(W, hs, sigma.prime) if k is None else nudged(k)
        at = f"At W = {show(W)}, σ = {sigma.name} and T = {T}, with the states {show(hs, 3)},"
        what, tolerance = f"∂h_{T}/∂b", SINGLE * T  # every factor may be rounded
        if verdict := differs(seen, answer, at=at, what=what, tolerance=tolerance):
            return verdict
    return right(
        "Finite differences through 1, 2, 3 and 6 steps give your matrix, and so do the factors "
        f"of {tried() - len(journeys())} further runs."
    )


# -- 1.4 ------------------------------------------------------------------------------------------

GRID = np.linspace(-20, 20, 40001)
THREE_DECIMALS = 5e-4 + 1e-9


def _slope(name: str) -> Callable[[np.ndarray], np.ndarray]:
    return ACTIVATIONS[name].prime


CHANGED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sigmoid": lambda x: 6 * _slope("sigmoid")(6 * x),
    "tanh": lambda x: 2 / 3 * _slope("tanh")(x / 3),
    "ReLU": lambda x: np.where(x > 0, 1.0, -2.0),
    "softplus": lambda x: _slope("softplus")(x) - 1 / 4,
    "SiLU": lambda x: _slope("SiLU")(x) - 1 / 2,
}  # the slopes of s(6x), 2 tanh(x/3), max(x, −2x), softplus − x/4 and SiLU − x/2


def _least(name: str, gamma: float) -> Verdict:
    """Is γ the largest slope, to three decimals? What it is, a refutation does not tell."""
    slopes = np.abs(CHANGED[name](GRID))
    k = int(slopes.argmax())
    if abs(gamma - slopes[k]) <= THREE_DECIMALS:
        return right()
    steeper = GRID[slopes > gamma + THREE_DECIMALS]
    if steeper.size:
        x = steeper[np.abs(steeper).argmin()]
        says = f"at x = {show(x)} it is steeper than {show(gamma)}, by more than rounding."
    else:
        says = f"no slope on a grid of {len(GRID)} points comes near {show(gamma)}."
    return wrong(says, at=name, yours=gamma)


@exercise
def slope_bounds(
    sigmoid: RealNumber, tanh: RealNumber, relu: RealNumber, softplus: RealNumber, silu: RealNumber
) -> Verdict:
    """Find the least γ with |σ′| ≤ γ for five activations, each changed a little."""
    return right(
        f"On a grid of {len(GRID)} points each of the five is the largest slope, to three decimals."
    )


slope_bounds.part("sigmoid", lambda sigmoid: _least("sigmoid", sigmoid))
slope_bounds.part("tanh", lambda tanh: _least("tanh", tanh))
slope_bounds.part("ReLU", lambda relu: _least("ReLU", relu))
slope_bounds.part("softplus", lambda softplus: _least("softplus", softplus))
slope_bounds.part("SiLU", lambda silu: _least("SiLU", silu))


# -- 1.5 ------------------------------------------------------------------------------------------


class Network(NamedTuple):
    """Weights, the largest slope and the number of steps."""

    W: np.ndarray
    gamma: float
    T: int


TURN = np.array([[0.6, -0.8], [0.8, 0.6]])
WEIGHTS = [SHEAR, THREE, TURN / 2, 1.5 * TURN, np.array([[0.4]]), matrix_with(0.9, 0.2),
           np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 0.0]]),
           np.array([[1.0, 1.0], [-1.0, -1.0]]), matrix_with(3.0, 0.0),
           np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]) / 4]  # fmt: skip
GAMMAS = (SIGMOID.gamma, RELU.gamma, SILU.gamma)
NETWORKS = [
    Network(W, gamma, (1, 2, 6)[(k + i) % 3])
    for i, W in enumerate(WEIGHTS)
    for k, gamma in enumerate(GAMMAS)
]
HUGE = Network(np.array([[10.0]]), 1.0, 300)
# The bound is reached in all of them: two rows alike, and many units.
SYMMETRIC = [Network(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 3.0]]) / 2, 1.1, 2)] + [
    Network((A + A.T) / n, 1.13, 3)
    for n in (20, 50, 70)
    for A in [np.random.default_rng(n).integers(-3, 4, (n, n))]
]
BY_PENCIL = [*NETWORKS, *SYMMETRIC, HUGE]
ROUNDS = 4  # of the search for the worst slopes


def signs_for(W: np.ndarray) -> np.ndarray:
    """All patterns of signs of few units; of many those of the singular vectors, and some."""
    n = len(W)
    if n <= 3:
        return 1.0 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    left, _, right_ = np.linalg.svd(W)
    some = np.random.default_rng(n).choice([-1.0, 1.0], (4, n))
    return np.vstack([np.ones(n), np.where(left.T[:3] * right_[:3] < 0, -1.0, 1.0), some])


@np.errstate(over="ignore")
def longest(W: np.ndarray, gamma: float, T: int, kept: float = 0.0, a: float = 1.0) -> float:
    """How long a nudge of length 1 became in T steps x ← kept·x + a W (slopes·x).

    Slopes are ±γ, for each unit and step those that stretch most as far as a search finds: it goes
    back through the steps and turns every slope that would stretch more the other way. What is
    returned was reached by a run.
    """
    slopes = gamma * np.repeat(signs_for(W)[None], T, axis=0)  # step, pattern, unit
    x = np.cos(np.arange(len(W))) + 0 * slopes[0]
    for _ in range(ROUNDS):
        way = [x / np.abs(x).max(axis=1, keepdims=True)]
        for d in slopes:
            x = kept * way[-1] + a * (d * way[-1]) @ W.T
            way.append(x / np.maximum(np.abs(x).max(axis=1, keepdims=True), 1e-300))
        y = way[-1]
        for t in reversed(range(T)):
            back = a * y @ W
            slopes[t] = np.where(back * way[t] < 0, -gamma, gamma)
            y = kept * y + slopes[t] * back
            y = y / np.maximum(np.abs(y).max(axis=1, keepdims=True), 1e-300)
        x = np.where(y.any(axis=1, keepdims=True), y, 1.0)
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    for d in slopes:
        x = kept * x + a * (d * x) @ W.T
    return float(np.linalg.norm(x, axis=1).max())


def worst_run(W: np.ndarray, gamma: float, T: int) -> tuple[float, bool]:
    """The largest norm that a run is known to have, and whether no run can have a larger one.

    Slopes that are all γ reach the bound in one step, and in any number of them if W is normal.
    """
    if T == 1 or close(W @ W.T, W.T @ W):
        return float((gamma * spectral_norm(W)) ** T), True
    return longest(W, gamma, T), False


@cache
def runs() -> dict[int, tuple[float, bool]]:
    """The worst runs of the readable networks."""
    return {id(network): worst_run(*network) for network in BY_PENCIL}


def any_network(rng: np.random.Generator, units: int = 1) -> Network:
    """Any number of units and steps; every other W is normal, so that the bound is reached."""
    n, T = *sizes(rng, 1, units), *sizes(rng, 1)
    W, gamma = numbers(rng, n, n), float(rng.choice([0.25, 1.0, 1.13, 2.0]))
    W = W + W.T if rng.random() < 0.5 else W
    return Network(W * (rng.choice([0.8, 2.5]) / gamma / max(spectral_norm(W), 0.1)), gamma, T)


@exercise
def gradient_bound(
    gradient_bound: Annotated[
        FunctionAnswer, Function(samples=[(SHEAR, 0.5, 3), (THREE, 1.1, 2), (TURN / 2, 1.0, 1)])
    ],
) -> Verdict:
    """Write a function of W, γ and T that bounds ‖∂h_T/∂h_0‖, and that no smaller bound beats."""
    loose = None
    for case in cases(BY_PENCIL, any_network, partial(any_network, units=12)):
        W, gamma, T = case
        bound = float(gradient_bound.array(W, gamma, T, shape=(), finite=case is not HUGE))
        norm, tight = runs().get(id(case)) or worst_run(*case)
        seen = f"W = {show(W)}, γ = {show(gamma)} and T = {T}"
        if not bound >= norm * (1 - 1e-6 * T):
            largest, yours = show_apart(norm, bound)
            says = f"At {seen} a run has ‖∂h_T/∂h_0‖ = {largest}; your bound is {yours}."
            return wrong(says, at=seen, yours=bound)
        if tight and np.isfinite(bound) and not bound <= norm * (1 + 1e-6 * T):
            at = f"Your bound is never too small, but it could be smaller: at {seen}"
            loose = loose or differs(norm, bound, at=at, what="the bound")
    if loose:
        return partly(1, loose)
    return right()


# -- 1.6 and 1.7 ----------------------------------------------------------------------------------


class SquareMatrix(OfNumbers):
    """A square matrix of moderate size; a number counts as 1×1."""

    def read(self, answer: Any, name: str) -> np.ndarray:
        array = real_array(answer)
        if array is None:
            return as_array(answer, (2, 2), name)  # says what is wrong with it
        array = array.reshape(1, 1) if array.ndim == 0 and type(answer) is not bool else array
        if array.ndim != 2 or array.shape[0] != array.shape[1] or not 1 <= len(array) <= 20:
            raise Unreadable(
                f"{name} has shape {array.shape}; it should be a square matrix of at most 20 rows."
            )
        if not (np.abs(array) <= 1e6).all():
            raise Unreadable(f"The entries of {name} should be numbers between −10⁶ and 10⁶.")
        return array


DOUBLINGS = 44  # 2⁴⁴ steps: an exponent below the last digit of an entry does not show
PRECISIONS = (256, 1024, 4096, 16384)  # bits; the next one where the last did not decide
FAR = 1e5  # a logarithm beyond which the rest of the way is clear


class Exactly(NamedTuple):
    """A matrix m·2^e of whole numbers m, of which each is off by at most `off`."""

    m: np.ndarray
    e: int
    off: int

    def __matmul__(self, other: Exactly) -> Exactly:
        a, b = (int(np.abs(one.m).max()) for one in (self, other))
        off = len(self.m) * (a * other.off + b * self.off + self.off * other.off)
        return Exactly(self.m @ other.m, self.e + other.e, off)

    def rounded(self, bits: int) -> Exactly:
        cut = max(int(np.abs(self.m).max()), self.off).bit_length() - bits
        return self if cut <= 0 else Exactly(self.m >> cut, self.e + cut, (self.off >> cut) + 2)

    def log(self) -> float:
        """ln of the largest entry, at least; nan if rounding hides it."""
        largest = int(np.abs(self.m).max())
        if largest <= 1000 * self.off:
            return np.nan if self.off else -np.inf
        return math.log(largest - self.off) + self.e * math.log(2)


def exactly(A: np.ndarray) -> Exactly:
    """The floats of a matrix as the fractions that they are."""
    m, e = np.frexp(A)
    e = np.where(m == 0, 0, e - 53)
    least = int(e.min())
    whole = [int(x * 2.0**53) << int(k - least) for x, k in zip(m.flat, e.flat, strict=True)]
    return Exactly(np.array(whole, dtype=object).reshape(A.shape), least, 0)


def log_powers(W: np.ndarray, first: np.ndarray | None = None) -> np.ndarray:
    """ln of the largest entry of W^T·first for T = 1, 2, 4, …; −∞ for a matrix of zeros.

    Every digit is sure: what is rounded is counted, and where it could matter, more are kept. At
    the end −∞ stands for what is still not known, so that nobody is refuted by rounding.
    """
    return _log_powers(W.tobytes(), b"" if first is None else first.tobytes(), len(W))


@lru_cache(maxsize=64)
def _log_powers(W: bytes, first: bytes, n: int) -> np.ndarray:
    start = exactly(np.frombuffer(first or np.eye(n).tobytes()).reshape(n, n))
    for bits in PRECISIONS:
        power, logs = exactly(np.frombuffer(W).reshape(n, n)), np.zeros(DOUBLINGS + 1)
        for k in range(DOUBLINGS + 1):
            power = power.rounded(bits)
            logs[k] = (power @ start if first else power).log()
            if not abs(logs[k]) < FAR:  # zero from now on, far out, or unknown
                logs[k:] = logs[k] * 2.0 ** np.arange(len(logs) - k)
                break
            power = power @ power
        if not np.isnan(logs).any():
            return logs
    return np.where(np.isnan(logs), -np.inf, logs)


SOON = 20  # doublings, a million steps: up to there rounding does not decide
FEWEST, LEAST = 3, 0.1  # rows, and the size of an entry: every unit hears every other


@exercise
def forgetful(W: Annotated[np.ndarray, SquareMatrix()]) -> Verdict:
    """Find a W without zeros, ‖W‖₂ ≥ 10, whose linear network h_t = W h_{t−1} + x_t forgets."""
    if len(W) < FEWEST:
        rows = counted(len(W), thing="row")
        return wrong(f"W has {rows}; here it is to have at least {FEWEST}.")
    if np.abs(W).min() < LEAST * (1 - 1e-9):
        smallest, least = show_apart(float(W.flat[np.abs(W).argmin()]), LEAST)
        return wrong(f"W has the entry {smallest}; here no entry is nearer to 0 than {least}.")
    norm, logs = spectral_norm(W), log_powers(W)
    if logs[-1] > np.log(1e15):
        each = show_apart(np.exp(logs[-1] / 2**DOUBLINGS), 1.0)[0]
        each = f", {each}-fold a step in the long run" if each != "1" else ""
        return wrong(f"‖W‖₂ = {show(norm)}, and an error in h_0 grows beyond all limits{each}.")
    if logs[SOON] > np.log(1e-6):
        return wrong(
            f"‖W‖₂ = {show(norm)}, but after 2^{SOON} steps an error of 1 in h_0 still moves "
            f"h_T by {show(np.exp(logs[SOON]))}."
        )
    if norm < 10 * (1 - 1e-9):
        least, yours = show_apart(10, norm)
        return wrong(f"The network forgets, but ‖W‖₂ = {yours} is less than {least}.")
    T = 2 ** int(np.count_nonzero(logs > np.log(1e-6)))
    return right(f"‖W‖₂ = {show(norm)}, and after {T} steps no trace above 10⁻⁶ is left of h_0.")


def _forgets(W: np.ndarray) -> bool:
    return bool(log_powers(W)[SOON] <= np.log(1e-6))


FAR_OUT = 1e100  # a state there has grown by itself, and the gradient with it


def starts_of(n: int) -> np.ndarray:
    """Two small and two large ones, each with its opposite."""
    small, large = np.random.default_rng(0).uniform([[-1], [4]], [[1], [6]], (2, n))
    large *= np.sign(small)[::-1]
    return np.array([small, -small, large, -large])


class Run(NamedTuple):
    """ln ‖∂h_t/∂h_0‖ at every tenth step for each start, and how it ended."""

    logs: np.ndarray
    product: np.ndarray  # ∂h_T/∂h_0, scaled to 1
    slopes: np.ndarray
    steady: bool  # the slopes did not change in the second half


def run_from_four_starts(W: np.ndarray, sigma: Activation, T: int) -> Run:
    """Without input. Products are scaled to 1 time and again: nothing overflows.

    States are nudged by 10⁻⁹, so that none rests where it would not stay, such as exactly on 0.
    """
    h = start = starts_of(len(W))
    product, log = np.tile(np.eye(len(W)), (len(h), 1, 1)), np.zeros(len(h))
    logs, slopes, changed = [], sigma.prime(h), 0
    with np.errstate(all="ignore"):
        for t in range(1, T + 1):
            before, slopes = slopes, sigma.prime(h)
            changed = changed if np.array_equal(before, slopes) else t
            product = (W * slopes[:, None, :]) @ product
            h = sigma(h) @ W.T + (sigma is not RELU) * 1e-9 * start
            if t % 10:
                continue
            size = np.abs(product).max(axis=(1, 2))
            product = product / np.where(size > 0, size, 1)[:, None, None]
            log = log + np.log(size)
            logs.append(log)
            if sigma is RELU:  # its slopes stay when h is scaled
                h = h / np.maximum(np.abs(h).max(axis=1, keepdims=True), 1e-100)
            elif np.abs(h).max() > FAR_OUT:
                break
    return Run(np.array(logs), product, slopes, changed <= T // 2)


class Growth(NamedTuple):
    """Does ‖∂h_T/∂h_0‖ grow beyond all limits, and by how much does its logarithm grow a step?"""

    explodes: bool
    exponent: float
    sure: bool = True


SURE = 1e-3  # of an exponent: less is not told from rounding, or from a power of T


def growth(W: np.ndarray, sigma: Activation, T: int = 1000) -> Growth:
    """By running the network; where slopes stay 0 and 1, powers of a matrix tell all the future.

    Elsewhere it explodes only if a run four times as long says the same, with digits to spare.
    """
    if sigma is IDENTITY:
        return _linear_growth(W)
    run = run_from_four_starts(W, sigma, T)
    if sigma is RELU and run.steady:
        pairs = zip(run.slopes, run.product, strict=True)
        return max(_linear_growth(W * s, P) for s, P in pairs)
    exponent, rises = _risen(run, T)
    if not rises:
        return Growth(False, exponent)
    longer, still = _risen(run_from_four_starts(W, sigma, 4 * T), 4 * T)
    sure = min(exponent, longer) > SURE
    return Growth(still and sure, exponent, sure=sure or not still)


def _risen(run: Run, T: int) -> tuple[float, bool]:
    """By how much the logarithms rise a step in the second half, and whether they do."""
    logs, half = run.logs, len(run.logs) // 2
    with np.errstate(all="ignore"):
        risen = logs[-1] - logs[half - 1] if half else logs[-1]
        exponents = np.nan_to_num(risen / (10 * (len(logs) - half)), nan=-np.inf, neginf=-np.inf)
    far_out = 10 * len(logs) < T
    rises = far_out or (logs[half:].max(axis=0) > logs[:half].max(axis=0) + 0.1).any()
    return float(exponents.max()), bool(rises)


def _linear_growth(W: np.ndarray, first: np.ndarray | None = None) -> Growth:
    """Of the powers of W: between 2⁴⁰ and 2⁴⁴ steps a bounded one stays, T itself grows 16-fold."""
    logs = log_powers(W, first)
    return Growth(bool(logs[-1] > logs[-5] + 1), float(logs[-1] / 2**DOUBLINGS))


@cache
def kind_of_condition() -> str:
    """What γ‖W‖₂ > 1 is for explosion, found by running networks with and without it."""
    networks = [
        (matrix_with(norm / sigma.gamma, share * norm / sigma.gamma), sigma)
        for sigma in (IDENTITY, TANH, SIGMOID)
        for norm in (0.9, 1.3)
        for share in (0.0, 0.5, 1.0)
    ]
    large = [sigma.gamma * spectral_norm(W) > 1 for W, sigma in networks]
    grew = [growth(W, sigma, T=100).explodes for W, sigma in networks]
    necessary = all(size for size, growth in zip(large, grew, strict=True) if growth)
    sufficient = all(growth for size, growth in zip(large, grew, strict=True) if size)
    return {
        (True, True): "both", (True, False): "necessary",
        (False, True): "sufficient", (False, False): "neither",
    }[necessary, sufficient]  # fmt: skip


class Condition(Choice):
    """One of the words, also as “necessary, but not sufficient”."""

    def read(self, answer: Any, name: str) -> str:
        if issubclass(type(answer), str):
            answer = re.sub(r",? *(but |and )?not (necessary|sufficient)$", "", answer.strip())
        return super().read(answer, name)


@exercise
def explosion(
    condition: Annotated[str, Condition(("necessary", "sufficient", "both", "neither"))],
    activation: Annotated[str, Choice(tuple(ACTIVATIONS))],
    calm_W: Annotated[np.ndarray, SquareMatrix()],
) -> Verdict:
    """Say what ‖W‖₂ > 1/γ is for explosion, and show a network that meets it and stays calm."""
    sigma = ACTIVATIONS[activation]
    seen = growth(calm_W, sigma)
    calm = "does not explode" if seen.sure else "hardly grows in 4,000 steps"
    return right(
        f"{condition!r} is what running 18 networks shows. Your network has "
        f"‖W‖₂ = {show(spectral_norm(calm_W))} > 1/γ = {show(1 / sigma.gamma)}, and its gradient "
        f"{calm}: {_per_step(seen.exponent)}."
    )


@explosion.part("Condition")
def _condition(condition: str) -> Verdict:
    if condition == kind_of_condition():
        return right()
    return wrong(f"{condition!r} is not what running 18 networks shows.")


@explosion.part("Network")
def _network(activation: str, calm_W: np.ndarray) -> Verdict:
    sigma = ACTIVATIONS[activation]
    norm, limit = spectral_norm(calm_W), 1 / sigma.gamma
    if norm <= limit * (1 + 1e-12):
        if close(norm, limit, 1e-12):
            return wrong(f"‖W‖₂ is 1/γ = {show(limit)} itself, not above it.")
        shown = show_apart(norm, limit)
        return wrong(f"Your W has ‖W‖₂ = {shown[0]}, not above 1/γ = {shown[1]}.")
    grows, exponent, sure = growth(calm_W, sigma)
    if not grows:
        slow = f"the gradient of W = {show(calm_W)} rises by so little that it may be rounding."
        return right(undecided="" if sure else slow)
    slowly = ", if only as a power of T" if abs(exponent) < 1e-11 else ""
    return wrong(f"The gradient grows beyond all limits{slowly}: {_per_step(exponent)}.")


def _per_step(exponent: float) -> str:
    """The exponent in words."""
    if exponent == -np.inf:
        return "it is 0 after a few steps"
    value = "0" if abs(exponent) < 1e-11 else show(exponent, 3)
    return f"its exponent, what a step adds to ln ‖∂h_T/∂h_0‖ in the long run, is {value}"


# -- 1.8 ------------------------------------------------------------------------------------------


Gated = tuple[np.ndarray, ...]  # h, W_f, x_f, W_c, x_c


def gated_step(
    h: np.ndarray, W_f: np.ndarray, x_f: np.ndarray, W_c: np.ndarray, x_c: np.ndarray
) -> np.ndarray:
    """f ⊙ h + (1 − f) ⊙ c, with the gate f = sigmoid(W_f h + x_f) and c = tanh(W_c h + x_c)."""
    f, c = SIGMOID(W_f @ h + x_f), TANH(W_c @ h + x_c)
    return f * h + (1 - f) * c


def any_gated(rng: np.random.Generator, units: int = 1, most: int = 8) -> Gated:
    """A gated network of so many units at any state; no gate is quite shut or quite open."""
    (n,) = sizes(rng, 1, units, most)
    W_f, W_c = numbers(rng, 2, n, n) / np.sqrt(n)
    h, x_f, x_c = numbers(rng, 3, n, largest=1.5)
    return h, W_f, x_f, W_c, x_c


GATED: list[Gated] = [
    tuple(np.array(part) for part in parts)
    for parts in [
        ([1.0], [[2.0]], [0.0], [[-1.0]], [0.5]),
        ([1.0, -0.5], [[1.0, 2.0], [0.0, 1.0]], [0.5, 0.0], [[0.0, 1.0], [-1.0, 0.0]], [0.0, 1.0]),
        ([0.5, -1.0, 1.5], THREE, [0.0, 1.0, -1.0], -THREE, [0.5, 0.0, -0.5]),
    ]
]


@exercise
@each(GATED, any_gated, partial(any_gated, units=17, most=24))
def gated_jacobian(
    gated_jacobian: Annotated[FunctionAnswer, Function(samples=GATED[1:])], *, gated
) -> Verdict | None:
    """Write a function of h, W_f, x_f, W_c and x_c that returns the Jacobian of one gated step."""
    h, *rest = gated
    answer = gated_jacobian.array(*gated, shape=rest[0].shape)
    seen = finite_differences(lambda h: gated_step(h, *rest), h, eps=1e-5)
    named = zip(("h", "W_f", "x_f", "W_c", "x_c"), gated, strict=True)
    at = f"At {', '.join(f'{name} = {show(value)}' for name, value in named)},"
    return _entry_off(seen, answer, at)


# -- 1.9 ------------------------------------------------------------------------------------------

TRACE = 1e-3  # less than that counts as forgotten


@exercise(numbers=OwnNumbers(rnn_gradients, within=1e-4))
def gate_bias(student: StudentId, bias: RealNumber, forgotten: RealNumber) -> None:
    """Find the bias of a gate that keeps your share of a gradient, and when it has forgotten."""


@gate_bias.part("Bias")
def _bias(student: str, bias: float) -> Verdict:
    n = rnn_gradients(student)
    kept = SIGMOID(bias) ** n.steps
    if close(kept, n.share, 1e-4):
        return right()
    wanted, is_left = show_apart(n.share, kept)
    says = f"After {n.steps} steps {is_left} of the gradient is left, and it should be {wanted}."
    return wrong(says, at="the share", yours=bias)


@gate_bias.part("Forgotten")
def _forgotten(student: str, forgotten: float) -> Verdict:
    if forgotten != round(forgotten) or not 1 <= forgotten <= 1e9:
        says = f"{show_apart(forgotten, round(forgotten))[0]} is no number of steps"
        return wrong(f"{says}: give a whole one from 1 up.", at="steps", yours=forgotten)
    n = rnn_gradients(student)
    before, after = (n.share ** ((forgotten - k) / n.steps) for k in (1, 0))
    if after < TRACE <= before:
        return right()
    early = after >= TRACE
    left, trace = show_apart(after if early else before, TRACE)
    says = f"After {forgotten - (not early):.0f} steps {left} is left: "
    says += f"not less than {trace}." if early else f"that is less than {trace} already."
    return wrong(says, at="forgotten", yours=forgotten)


# -- 1.10 -----------------------------------------------------------------------------------------


class Residual(NamedTuple):
    """A network h_t = h_{t−1} + a W σ(h_{t−1}), and what its runs make of a nudge of length 1."""

    W: np.ndarray
    gamma: float
    a: float
    T: int
    tight: bool  # no network with this ‖W‖ goes further

    def reached(self, which: str) -> float:
        """The least or the most that a run makes of it.

        Where W is symmetric up to signs of columns, its slopes may be such that every step
        stretches one direction by 1 + a γ‖W‖, or shortens it as much; else runs are searched.
        """
        W, gamma, a, T, tight = self
        size = a * spectral_norm(W)
        if tight:
            factor = 1 + gamma * size if which == "most" else max(0.0, 1 - gamma * size)
            return float(factor**T)
        if which == "most":
            return longest(W, gamma, T, 1.0, a)
        slopes = np.concatenate([signs_for(W)[:8] * s for s in {gamma, min(gamma, 1 / size)}])
        steady = np.linalg.matrix_power(np.eye(len(W)) + a * W * slopes[:, None, :], T)
        return float(np.linalg.svd(steady, compute_uv=False).min())


def turned_symmetric(W: np.ndarray) -> bool:
    """Whether W is symmetric once signs of its columns, which slopes may have too, are turned."""
    return any(close(W * signs, (W * signs).T) for signs in signs_for(W))


def any_residual(rng: np.random.Generator, units: int = 1, most: int = 8) -> Residual:
    """A γ‖W‖ below 1 or above; few steps, so that no digits are lost."""
    n, T = *sizes(rng, 1, units, most), int(rng.integers(1, 7))
    W, gamma, a = numbers(rng, n, n) + 0.01, *rng.choice([0.25, 0.5, 1.1, 2.0], 2)
    tight = bool(rng.random() < 0.7)
    W = (W + W.T) * np.where(numbers(rng, n) < 0, -1, 1) if tight else W
    reach = rng.choice([0.2, 0.6, 1.5])
    return Residual(W * (reach / (a * gamma * spectral_norm(W))), gamma, a, T, tight)


@cache
def residuals() -> list[Residual]:
    """One unit, a symmetric W, others, one step and many, and slopes that undo a step."""
    pair, lopsided = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.0, -2.0], [0.0, 1.0]])
    turn, opposed = np.array([[0.0, -1.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [-1.0, -1.0]])
    settings = [
        (np.array([[2.0]]), 1.0, 0.25, 1), (np.array([[-2.0]]), 1.0, 0.25, 3), (pair, 0.5, 1.0, 2),
        (turn, 1.0, 0.5, 1), (opposed, 1.0, 0.25, 1), (lopsided, 1.0, 0.2, 4),
        (np.array([[1.0]]), 1.0, 0.01, 100), (3 * pair, 1.0, 1.0, 2),
        (np.array([[2.0, 1.0], [1.0, 0.0]]), 1.0, 0.25, 2), (turn, 0.5, 1.0, 4),
    ]  # fmt: skip
    return [Residual(*setting, turned_symmetric(setting[0])) for setting in settings]


def _beyond(which: str, bound: FunctionAnswer) -> Verdict:
    """Is no run beyond this bound, and some run on it where one can be?"""
    loose = None
    for case in cases(residuals(), any_residual, partial(any_residual, units=17, most=24)):
        W, gamma, a, T = case[:4]
        answer = float(bound.array(W, gamma, a, T, shape=()))
        seen = case.reached(which)
        at = f"At W = {show(W)}, γ = {show(gamma)}, a = {show(a)} and T = {T}"
        if close(answer, seen, 1e-5) or abs(answer - seen) < 1e-9:
            continue
        if (answer > seen) == (which == "least"):
            shown = show_apart(seen, answer)
            says = f"{at}, with slopes of its own for each unit, a nudge of length 1 became "
            says += f"{shown[0]} long; your bound is {shown[1]}."
            return wrong(says, at=at, yours=answer)
        at = f"No run is beyond your bound, but it could be closer: {at[0].lower()}{at[1:]}"
        loose = loose or (differs(seen, answer, at=at, what="it") if case.tight else None)
    return loose or right()


ResidualBound = Annotated[
    FunctionAnswer,
    Function(samples=[(SHEAR, 0.5, 0.2, 3), (THREE, 1.0, 2.0, 2), (SHEAR, 1.0, 2.0, 3)]),
]


@exercise
def residual_bounds(least: ResidualBound, most: ResidualBound) -> None:
    """Bound what T steps h + a W σ(h) can make of a nudge of length 1, from below and above."""


residual_bounds.part("Least", lambda least: _beyond("least", least))
residual_bounds.part("Most", lambda most: _beyond("most", most))


# -- 1.11 -----------------------------------------------------------------------------------------

SLOPES_OF_A_STEP = r"\operatorname{diag}(\sigma'(h_{t-1}))"
NORMS = [
    r"\|J_t\|",
    *(rf"\|W {D}\|" for D in ("D_t", SLOPES_OF_A_STEP)),
    *(rf"\|W\| \|{D}\|" for D in ("D_t", SLOPES_OF_A_STEP)),
]
ONE_BOUND_USED = [
    *(Seen(like=rf"(\gamma\|W\|{which})^{{T}}") for which in ("", "_F")),
    *(
        Seen(like=rf"\prod_{{t=1}}^{{T}} \frac{{\delta}}{{\gamma}} \|{D}\|")
        for D in ("D_t", SLOPES_OF_A_STEP)
    ),
]
BOUND = Chain(
    r"\|\prod_{t=1}^{T} J_t\|",
    where={
        "C": contraction("n"),
        "sigma": activation(slope=2),
        "h": sequence(vector("n")),
        "J D": sequence(matrix("n", "n")),
        "delta": interval(0, 1),
        "T": integers(1, 5),
    },
    given={
        "gamma": lambda sigma: sigma.gamma,
        "W": r"\frac{\delta}{\gamma} C",  # any W with ‖W‖ ≤ δ/γ
        "D_t": r"\operatorname{diag}(\sigma'(h_{t-1}))",
        "J_t": "W D_t",
    },
    forms=Forms(
        {
            r"\frac{\partial h_T}{\partial h_0}": r"\prod_{t=1}^{T} J_t",
            r"\frac{\partial h_{#1}}{\partial h_{#1-1}}": "J_{#1}",
            r"\frac{\partial h_{#1+1}}{\partial h_{#1}}": "J_{#1+1}",
        }
    ),
    products="left",
    relations="=≤<",
    steps=[
        Milestone(
            "no line has norms of single factors: the norm of a product is at most their product",
            [*(Seen(like=rf"\prod_{{t=1}}^{{T}} {norm}") for norm in NORMS), *ONE_BOUND_USED],
        ),
        Milestone(
            "both bounds are used at once: put a line between that uses one of them", ONE_BOUND_USED
        ),
    ],
    goal=[Seen(like=r"\delta^T")],
    not_there="the last one is not yet δ^T.",
)


@exercise
def bound_by_lines(bound_lines: Annotated[list[Line], BOUND]) -> Verdict:
    """Derive ‖J_T ⋯ J_1‖ ≤ δ^T line by line from |σ′| ≤ γ and ‖W‖ ≤ δ/γ."""
    return BOUND.judge(bound_lines, 3, "So the gradient vanishes whatever the inputs are.")
