"""Unit 01: RNN gradients, and when they vanish."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial, reduce
from typing import Annotated, Any, NamedTuple

import numpy as np

from selfcheck.calls import FunctionAnswer, asks, line_at
from selfcheck.compare import as_array, close, real_array
from selfcheck.display import show, show_apart
from selfcheck.exercises import exercise
from selfcheck.kinds import Choice, Function, RealNumber, Steps, StudentId
from selfcheck.line_by_line import Way, judge_steps, once, some_line
from selfcheck.recognition import Recognized
from selfcheck.refusals import Unreadable
from selfcheck.sampling import cases, numbers, sizes
from selfcheck.verdicts import Verdict, differs, partly, right, wrong

from ..derivation import (
    Derivation,
    Report,
    activation,
    invertible,
    matrix,
    vector,
)
from ..numbers.rnn_gradients import RnnGradients, rnn_gradients
from ..reserved import JACOBIANS
from ..rnn import (
    ACTIVATIONS,
    Activation,
    finite_differences,
    h_step,
    jacobians,
    matrix_with,
    run,
    spectral_norm,
    spectral_radius,
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


def one_step(W: Any, z: Any, h_prev: Any, sigma: Activation) -> dict[str, Any]:
    """Both recurrences at one step: every name that a line may use, with its value."""
    W, z, h_prev = (np.array(v, dtype=float) for v in (W, z, h_prev))
    g_prev, h = sigma(h_prev), W @ sigma(h_prev) + z
    return {"W": W, "z": z, "g_prev": g_prev, "h_prev": h_prev, "h": h, "sigma": sigma}


STEP = one_step([[2, 1], [1, 3]], [1, -1], [-1, 2], TANH)
OTHER = one_step([[1, -1], [2, 1]], [-2, 1], [3, 1], TANH)


def uses(line: Line, *names: str) -> bool:
    """Does the line change when these quantities alone are given other values?"""
    return not close(
        line_at(line, STEP), line_at(line, STEP | {name: OTHER[name] for name in names})
    )


LINES = Steps(STEP, "lambda W, g_prev, z, sigma: sigma(W @ g_prev + z)")


@cache
def _from_g(singular: bool) -> Derivation:
    W = matrix("n", "n") if singular else invertible("n")
    return Derivation(
        lambda W, g_prev, z, sigma: sigma(W @ g_prev + z),
        [],
        where={"W": W, "z h_prev": vector("n"), "sigma": activation()},
        given={
            "g_prev": lambda h_prev, sigma: sigma(h_prev),
            "h": lambda W, h_prev, z, sigma: W @ sigma(h_prev) + z,
        },
        instances=60 if singular else 20,  # without singular ones it only names a mistake
    )


@once
def induction(lines: list[Line], singular: bool = True) -> Report:
    """Every line against the one before it, from g_t on; many a W is singular, or none."""
    return _from_g(singular).goes_on(("=", line, "") for line in lines).check()


BY_THE_ASSUMPTION = Way(
    (
        some_line(
            lambda line: not uses(line, "g_prev", "h"),  # written with h_{t−1} alone
            "none uses the assumption: g_{t−1} is never replaced",
        ),
    ),
    goal=lambda line: not uses(line, "W", "z", "g_prev", "h_prev"),
    not_there="the last one is not yet σ(h_t), with h and σ alone.",
)


@exercise
def induction_step(lines: Annotated[list[Line], LINES]) -> Verdict:
    """Derive g_t = σ(h_t) line by line from g_{t−1} = σ(h_{t−1})."""
    return judge_steps(
        induction(lines), lines, BY_THE_ASSUMPTION, 2, "Many of the matrices W were singular."
    )


induction_step.add_hints(
    "The induction assumption says what g_{t−1} is. Put it in: that is the first line.",
    "Look at what stands inside of σ then, and at the recurrence for h_t.",
    "One substitution for g_{t−1} and one for h_t are enough. Nothing has to be undone.",
)


def _through_h_prev(W, h_prev, z, sigma):
    return sigma(W @ sigma(h_prev) + z)


def _claim(h, sigma):
    return sigma(h)


def _divided(W, h, z, sigma):
    return sigma(W @ np.linalg.inv(W) @ (h - z) + z)


induction_step.mistake(
    "divided by the matrix W",
    "Every line holds as long as W has an inverse, and breaks down where it has none. "
    "W σ(h_{t−1}) + z is h_t as it stands: there is nothing to solve for.",
    example=([_through_h_prev, _divided, _claim],),
    when=lambda lines: not induction(lines).holds and induction(lines, False).holds,
)


def breaks_at(form: Line) -> Callable[[list[Line]], bool]:
    """A predicate: the first false line has the value of this one, at two steps."""

    def matches(lines: list[Line]) -> bool:
        first = induction(lines).first_false
        return first is not None and all(
            close(line_at(lines[first], step), line_at(form, step)) for step in (STEP, OTHER)
        )

    return matches


def _without_inner(W, h_prev, z, sigma):
    return sigma(W @ h_prev + z)


induction_step.mistake(
    "h_{t−1} put where g_{t−1} stood",
    "The assumption is g_{t−1} = σ(h_{t−1}), with the activation.",
    example=([_without_inner, _claim],),
    when=breaks_at(_without_inner),
)


def _without_outer(W, h_prev, z, sigma):
    return W @ sigma(h_prev) + z


induction_step.mistake(
    "the outer activation lost",
    "g_t is the state after the activation: σ stands around the whole of W g_{t−1} + z.",
    example=([_without_outer, _claim],),
    when=breaks_at(_without_outer),
)


def _split(W, h_prev, z, sigma):
    return sigma(W @ sigma(h_prev)) + sigma(z)


induction_step.mistake(
    "σ of a sum split into a sum",
    "An activation is not linear: σ(a + c) is not σ(a) + σ(c).",
    example=([_split, _claim],),
    when=breaks_at(_split),
)
induction_step.mistake(
    "the claim as its own proof",
    "g_t = σ(h_t) is what is to be shown. The line between says why: it puts in the "
    "induction assumption and is written with h_{t−1} alone.",
    example=([_claim],),
    when=lambda lines: induction(lines).holds and not uses(lines[-1], "W", "z", "h_prev"),
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
    return numbers(rng, n, n), h, any_sigma(rng)


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


@exercise
def jacobian(
    jacobian: Annotated[
        FunctionAnswer, Function(samples=[(W, a, sigma.prime) for W, a, sigma in STEPS[:2]])
    ],
) -> Verdict:
    """Write a function of W, a and σ′ that returns ∂g_t/∂g_{t−1} where a = W g_{t−1} + z_t."""
    draws = any_step, partial(any_step, units=12)
    each = asks(jacobian, lambda case: [(jacobian, *case[:2], case[2].prime)])
    for W, a, sigma in cases(STEPS, *draws, ahead=each):
        answer = jacobian.array(W, a, sigma.prime, shape=W.shape)
        seen = finite_differences(partial(_next_output, W, a, sigma), 0 * a)
        at = f"At W = {show(W)}, a = {show(a)} and σ = {sigma.name},"
        if verdict := _entry_off(seen, answer, at, "g"):
            return verdict
    return right("Finite differences of one step give your matrix, for 12 networks.")


jacobian.add_hints(
    "Write out one entry: entry i of g_t is σ(a_i) with a_i = Σ_j W_ij g_j + z_i. What is its "
    "derivative in g_j? There are two factors.",
    "One of them is a number for each i, a slope. Does it belong to the row i or to the column j?",
)

jacobian.forbid(*JACOBIANS)


@jacobian.mistake(
    "slopes on the columns",
    "That is the Jacobian of h, where the activation comes before W and the slope of unit j scales "
    "what unit j sends. In g_t it comes after W: the slope of unit i scales what unit i receives.",
)
def _slopes_on_columns(W, a, dsigma):
    return W @ np.diag(dsigma(a))


@jacobian.mistake(
    "Wᵀ in place of W",
    "Entry (i, j) of a Jacobian is ∂(output i)/∂(input j), and unit j reaches unit i "
    "through W_ij. Wᵀ appears when gradients are sent backward.",
)
def _transposed(W, a, dsigma):
    return (W @ np.diag(dsigma(a))).T


@jacobian.mistake(
    "the transpose of the Jacobian",
    "This has inputs as rows and outputs as columns. In this course the rows are the outputs.",
)
def _denominator_layout(W, a, dsigma):
    return W.T @ np.diag(dsigma(a))


@jacobian.mistake(
    "the slope forgotten",
    "W alone is the Jacobian of a linear network; the chain rule adds a slope.",
)
def _no_slope(W, a, dsigma):
    return W


@jacobian.mistake(
    "W forgotten",
    "diag(σ′) is the Jacobian of the activation alone; W comes before it.",
)
def _slopes_only(W, a, dsigma):
    return np.diag(dsigma(a))


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
    each = asks(bias_jacobian, lambda case: [(bias_jacobian, *case[:2], case[2].prime)])
    for k, (W, hs, sigma) in enumerate(cases(journeys(), *draws, ahead=each)):
        T = len(hs) - 1
        answer = bias_jacobian.array(W, hs, sigma.prime, shape=W.shape)
        seen = nudged(k) if k < len(journeys()) else over_all_ways(W, hs, sigma.prime)
        at = f"At W = {show(W)}, σ = {sigma.name} and T = {T}, with the states {show(hs, 3)},"
        what, tolerance = f"∂h_{T}/∂b", SINGLE * T  # every factor may be rounded
        if verdict := differs(seen, answer, at=at, what=what, tolerance=tolerance):
            return verdict
    return right(
        "Finite differences through 1, 2, 3 and 6 steps give your matrix, and so do the factors "
        "of 6 longer ways."
    )


jacobian_product.add_hints(
    "What is ∂h_1/∂b? And ∂h_2/∂b? There b acts twice: directly, and through h_1.",
    "Let B_t be ∂h_t/∂b. Differentiate h_t = W σ(h_{t−1}) + U x_t + b: how does B_t follow from "
    "B_{t−1}?",
    "The step from h_{t−1} to h_t has its slopes at h_{t−1}. From B_1 on, which of the rows of "
    "`hs` are needed?",
)

jacobian_product.forbid(*JACOBIANS)


@jacobian_product.mistake(
    "the way from h_0",
    "That is the product of the lecture, ∂h_T/∂h_0. The bias enters at every step, and h_0 does "
    "not depend on it.",
)
def _from_the_start(W, hs, dsigma):
    return jacobians(W, hs, dsigma)[-1]


@jacobian_product.mistake(
    "the first step alone",
    "The bias of the first step reaches h_T this way. It enters in every later step too, and what "
    "it does there is added.",
)
def _first_step(W, hs, dsigma):
    return jacobians(W, hs[1:], dsigma)[-1]


@jacobian_product.mistake(
    "the last step alone",
    "Directly b adds itself to h_T. But it has also moved all states before.",
)
def _last_step(W, hs, dsigma):
    return np.eye(len(W))


@jacobian_product.mistake(
    "h_0 taken to depend on b",
    "The sum has T terms, one for each step t = 1 … T. This one has a term for h_0, too, which was "
    "there before any step.",
)
def _one_long(W, hs, dsigma):
    return over_all_ways(W, hs, dsigma, first=0)


def _is_nothing_at_one_step(answer: FunctionAnswer) -> bool:
    return close(answer.array(SHEAR, np.ones((2, 2)), TANH.prime, shape=(2, 2)), np.zeros((2, 2)))


@jacobian_product.mistake(
    "the direct way forgotten",
    "After one step ∂h_1/∂b is the identity: b itself is added to the state. At every later step "
    "it is added again.",
    when=_is_nothing_at_one_step,
)
def _without_the_last(W, hs, dsigma):
    return over_all_ways(W, hs, dsigma) - np.eye(len(W))


@jacobian_product.mistake(
    "slopes one step late",
    "The step from h_{t−1} to h_t has its slopes at h_{t−1}: for the last one that is h_{T−1}, and "
    "no step starts at h_T.",
)
def _late_slopes(W, hs, dsigma):
    return over_all_ways(W, np.vstack([hs[1:], hs[-1:]]), dsigma)


@jacobian_product.mistake(
    "Wᵀ in place of W",
    "Each factor is W diag(σ′): unit j reaches unit i through W_ij.",
)
def _product_transposed(W, hs, dsigma):
    return over_all_ways(W.T, hs, dsigma)


# -- 1.4 ------------------------------------------------------------------------------------------

GRID = np.linspace(-20, 20, 40001)


def _least(name: str, gamma: float, instead_of: str = "") -> Verdict:
    """Is γ the largest slope, or that rounded to three decimals or more?"""
    slopes = np.abs(ACTIVATIONS[name].prime(GRID))
    k = int(slopes.argmax())
    found = slopes[k] - 2e-5 <= gamma <= slopes[k] + 1e-8  # as a grid finds it
    if found or any(abs(gamma - round(slopes[k], d)) < 1e-9 for d in range(3, 12)):
        return right()
    where = f"{name} and {instead_of}" if instead_of else name
    if gamma < slopes[k]:
        slope, yours = show_apart(slopes[k], gamma)
        says = f"the slope at x = {show(GRID[k])} is {slope}, which is more than {yours}."
    else:
        slope, yours = show_apart(slopes[k], gamma)
        says = f"|σ′| is {slope} at most on the whole grid: a smaller γ than {yours} will do."
    return wrong(says, at=where, yours=gamma)


def _exchanged(sigmoid: float, tanh: float) -> bool:
    return close(sigmoid, 1) and close(tanh, 0.25)


@exercise
def slope_bounds(
    sigmoid: RealNumber, tanh: RealNumber, relu: RealNumber, softplus: RealNumber, silu: RealNumber
) -> Verdict:
    """Find the least γ with |σ′| ≤ γ for sigmoid, tanh, ReLU, softplus and SiLU."""
    return right(
        "On a grid of 40001 points each of the five is the largest slope, to as many decimals as "
        "you gave."
    )


@slope_bounds.part("sigmoid")
def _sigmoid(sigmoid: float, tanh: float = 1.0) -> Verdict:
    return _least("sigmoid", sigmoid, "tanh" * _exchanged(sigmoid, tanh))


@slope_bounds.part("tanh")
def _tanh(tanh: float, sigmoid: float = 0.25) -> Verdict:
    return _least("tanh", tanh, "sigmoid" * _exchanged(sigmoid, tanh))


@slope_bounds.part("ReLU")
def _relu(relu: float) -> Verdict:
    return _least("ReLU", relu)


@slope_bounds.part("softplus")
def _softplus(softplus: float) -> Verdict:
    return _least("softplus", softplus)


@slope_bounds.part("SiLU")
def _silu(silu: float) -> Verdict:
    return _least("SiLU", silu)


slope_bounds.add_hints(
    "γ is the height of the highest point of the curve σ′, not of σ.",
    "sigmoid′ = s(1 − s) with s between 0 and 1; softplus′ is the sigmoid itself.",
    "SiLU is x·s, so its slope is s + x·s(1 − s). Evaluate that on a fine grid of x and look "
    "for the largest value.",
)

slope_bounds.mistake(
    "the largest value in place of the largest slope",
    "The sigmoid rises to 1, but slowly: γ is the largest slope, s(1 − s) at s = 1/2.",
    example=(1,),
    part="sigmoid",
)
slope_bounds.mistake(
    "sigmoid and tanh exchanged",
    "tanh is the steeper of the two: it rises from −1 to 1 where the sigmoid needs four times "
    "as long to rise half as far.",
    example=(1, 0.25, 1, 1, 1.1),
)
slope_bounds.mistake(
    "SiLU taken for a ReLU",
    "Far out the slope of SiLU is 1, but on its way there it overshoots: look at x "
    "between 2 and 3.",
    example=(1,),
    part="SiLU",
)
slope_bounds.mistake(
    "softplus taken for the sigmoid",
    "The sigmoid is the slope of softplus, so γ is the largest value of the sigmoid.",
    example=(0.25,),
    part="softplus",
)
slope_bounds.mistake(
    "the slope of tanh halved",
    "tanh′ = 1 − tanh², which is 1 at 0.",
    example=(0.5,),
    part="tanh",
)


# -- 1.5 ------------------------------------------------------------------------------------------


class Network(NamedTuple):
    """Weights, the largest slope, the number of steps, and a number to draw its slopes from."""

    W: np.ndarray
    gamma: float
    T: int
    seed: int


TURN = np.array([[0.6, -0.8], [0.8, 0.6]])
WEIGHTS = [SHEAR, THREE, TURN / 2, 1.5 * TURN, np.array([[0.4]]), matrix_with(0.9, 0.2),
           np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 0.0]]),
           np.array([[1.0, 1.0], [-1.0, -1.0]]), matrix_with(3.0, 0.0),
           np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]) / 4]  # fmt: skip
GAMMAS = (SIGMOID.gamma, RELU.gamma, SILU.gamma)
NETWORKS = [
    Network(W, gamma, (1, 2, 6)[(k + i) % 3], seed=3 * i + k)
    for i, W in enumerate(WEIGHTS)
    for k, gamma in enumerate(GAMMAS)
]
HUGE = Network(np.array([[10.0]]), 1.0, 300, seed=0)


def is_reached(W: np.ndarray, T: int) -> bool:
    """Whether slopes that are all γ reach the bound: for one step, and where W is normal."""
    return T == 1 or close(W @ W.T, W.T @ W)


def largest_run(network: Network) -> float:
    """The largest norm of runs with slopes ±γ and between, the steepest one among them."""
    (W, gamma, T, seed), n = network, len(network.W)
    rng = np.random.default_rng(seed)
    slopes = gamma * np.concatenate([np.ones((1, T, n)), np.sign(rng.uniform(-1, 1, (3, T, n))),
                                     rng.uniform(-1, 1, (3, T, n))])  # fmt: skip
    return max(spectral_norm(reduce(lambda P, d: (W * d) @ P, way, np.eye(n))) for way in slopes)


@cache
def runs() -> dict[int, float]:
    """The largest runs of the readable networks."""
    return {id(network): largest_run(network) for network in [*NETWORKS, HUGE]}


def any_network(rng: np.random.Generator, units: int = 1) -> Network:
    """Any number of units and steps; every other W is normal, so that the bound is reached."""
    n, T = *sizes(rng, 1, units), *sizes(rng, 1)
    W, gamma = numbers(rng, n, n), float(rng.choice([0.25, 1.0, 1.13, 2.0]))
    W = W + W.T if rng.random() < 0.5 else W
    W = W * (rng.choice([0.8, 2.5]) / gamma / max(spectral_norm(W), 0.1))
    return Network(W, gamma, T, seed=int(rng.integers(10**6)))


@exercise
def gradient_bound(
    gradient_bound: Annotated[
        FunctionAnswer, Function(samples=[(SHEAR, 0.5, 3), (THREE, 1.1, 2), (TURN / 2, 1.0, 1)])
    ],
) -> Verdict:
    """Write a function of W, γ and T that bounds ‖∂h_T/∂h_0‖, and that no smaller bound beats."""
    loose = None
    draws = any_network, partial(any_network, units=12)
    each = asks(gradient_bound, lambda case: [(gradient_bound, *case[:3])])
    for case in cases([*NETWORKS, HUGE], *draws, ahead=each):
        W, gamma, T, _ = case
        bound = float(gradient_bound.array(W, gamma, T, shape=(), finite=case is not HUGE))
        norm, tight = runs().get(id(case)) or largest_run(case), is_reached(W, T)
        seen = f"W = {show(W)}, γ = {show(gamma)} and T = {T}"
        if not bound >= norm * (1 - 1e-6 * T):
            largest, yours = show_apart(norm, bound)
            says = f"At {seen} a run has ‖∂h_T/∂h_0‖ = {largest}; your bound is {yours}."
            return wrong(says, at=seen, yours=bound)
        if tight and np.isfinite(bound) and not bound <= norm * (1 + 1e-6 * T):
            at = f"Your bound is never too small, but it could be smaller: at {seen}"
            loose = loose or differs(norm, bound, at=at, what="the bound")
    if loose:
        return partly(2, loose)
    return right(
        f"In {len(NETWORKS) + 7} networks no run lies above your bound, and where W is normal "
        "some lie on it."
    )


gradient_bound.add_hints(
    "Bound one factor first: ‖W diag(σ′)‖ ≤ ‖W‖ · ‖diag(σ′)‖. How large is the second at most?",
    "Then use ‖A B‖ ≤ ‖A‖ ‖B‖ for the product of all T factors.",
    "‖W‖ is the largest singular value, √λ₁(WᵀW). In NumPy it is a norm of order 2.",
)


def _power(size: Callable[..., Any]) -> Callable:
    return lambda W, gamma, T: (gamma * size(W)) ** T


gradient_bound.mistake(
    "the spectral radius in place of the norm",
    "ρ(W) rules the long run of a linear network, but it is no bound: a non-normal W "
    "stretches some vectors by more than |λ|.",
    example=(_power(spectral_radius),),
)


def _largest_eigenvalue_of_square(W: np.ndarray) -> float:
    return spectral_norm(W) ** 2


gradient_bound.mistake(
    "λ₁ without the square root",
    "λ₁(WᵀW) is the square of the norm, and where the norm is below 1, too small.",
    example=(_power(_largest_eigenvalue_of_square),),
)
gradient_bound.mistake(
    "the Frobenius norm",
    "‖W‖_F is never smaller than the spectral norm, so this is a true bound; but its square adds "
    "up the squares of all singular values where only the largest counts: unless W has rank 1, it "
    "is not the best one.",
    example=(_power(np.linalg.norm),),
)


@gradient_bound.mistake(
    "γ forgotten",
    "Each factor is W diag(σ′), and the slopes are up to γ: for SiLU that is more than 1.",
)
def _no_gamma(W, gamma, T):
    return spectral_norm(W) ** T


@gradient_bound.mistake(
    "γ once for all steps",
    "Each of the T factors has slopes of its own, and so each brings a γ.",
)
def _gamma_once(W, gamma, T):
    return gamma * spectral_norm(W) ** T


@gradient_bound.mistake(
    "one factor short",
    "From h_0 to h_T there are T steps; at T = 1 the bound is γ‖W‖, not 1.",
)
def _one_step_too_few(W, gamma, T):
    return (gamma * spectral_norm(W)) ** (T - 1)


@gradient_bound.mistake(
    "norms added in place of multiplied",
    "The norm of a product is bounded by the product of the norms.",
)
def _linear_in_T(W, gamma, T):
    return gamma * spectral_norm(W) * T


# -- 1.6 and 1.7 ----------------------------------------------------------------------------------


class SquareMatrix:
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

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        return close(a, b)


DOUBLINGS = 44  # 2⁴⁴ steps: rounding, which doubles too, stays far below 1 in a logarithm
Scaled = tuple[np.ndarray, np.ndarray]  # numbers m·2^e that neither overflow nor underflow


def scaled(A: np.ndarray, e: Any = 0) -> Scaled:
    """A·2^e."""
    m, own = np.frexp(A)
    return m, np.where(m == 0, -(2**60), own.astype(np.int64) + e)


def times(A: Scaled, B: Scaled) -> Scaled:
    """The product of two matrices."""
    m, e = A[0][:, :, None] * B[0], A[1][:, :, None] + B[1]
    top = e.max(axis=1)
    return scaled(np.ldexp(m, np.maximum(e - top[:, None, :], -2000).astype(int)).sum(axis=1), top)


def log_powers(W: np.ndarray, first: np.ndarray | None = None) -> np.ndarray:
    """ln of the largest entry of W^T·first for T = 1, 2, 4, …; −∞ for a matrix of zeros."""
    power, start, logs = scaled(W), scaled(np.eye(len(W)) if first is None else first), []
    with np.errstate(divide="ignore"):
        for _ in range(DOUBLINGS + 1):
            m, e = times(power, start)
            logs.append((np.log(np.abs(m)) + e * np.log(2)).max())
            power = times(power, power)
    return np.array(logs)


SOON = 20  # doublings, a million steps: up to there rounding does not decide
FEWEST, LEAST = 3, 0.1  # rows, and the size of an entry: every unit hears every other


def _smallest(W: np.ndarray) -> float:
    return float(W.flat[np.abs(W).argmin()])


@exercise
def forgetful(W: Annotated[np.ndarray, SquareMatrix()]) -> Verdict:
    """Find a W without zeros, ‖W‖₂ ≥ 10, whose linear network h_t = W h_{t−1} + x_t forgets."""
    if len(W) < FEWEST or np.abs(W).min() < LEAST:
        cut = f"has {len(W)} rows" if len(W) < FEWEST else f"has the entry {show(_smallest(W))}"
        return wrong(
            f"W {cut}. Here it is to have at least 3 rows, and no entry nearer to 0 than 0.1."
        )
    norm, logs = spectral_norm(W), log_powers(W)
    if logs[-1] > np.log(1e15):
        return wrong(f"‖W‖₂ = {show(norm)}, and an error in h_0 grows beyond all limits.")
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


forgetful.add_hints(
    "After two steps the state depends on h_0 through W·W only. Which matrices have W·W = 0?",
    "A matrix of rank one is W = u vᵀ, with rows that are multiples of one another. What is W·W "
    "then, in terms of the number vᵀu?",
    "Choose u without a zero, then v without a zero and perpendicular to it, and make them as "
    "long as you like.",
)


def _forgets(W: np.ndarray) -> bool:
    return bool(log_powers(W)[SOON] <= np.log(1e-6))


def _lacks_a_way(W: np.ndarray) -> bool:
    """Whether a unit hears nothing of another one."""
    return bool((W[~np.eye(len(W), dtype=bool)] == 0).any())


def _is_dense(W: np.ndarray) -> bool:
    return len(W) >= FEWEST and np.abs(W).min() >= LEAST


def _stretches_all_alike(W: np.ndarray) -> bool:
    return close(W @ W.T, spectral_norm(W) ** 2 * np.eye(len(W)))


forgetful.mistake(
    "a unit that hears nothing of another",
    "With zeros it is easy: what is sent in one direction only cannot come back. Here every unit "
    "hears every other, and the ways have to cancel.",
    example=([[0, 10, 10], [0, 0, 10], [0, 0, 0]],),
    when=lambda W: len(W) >= FEWEST and _lacks_a_way(W) and _forgets(W),
)
forgetful.mistake(
    "too few units",
    "Two units are a good start. What makes W·W = 0 there? The same works for three.",
    example=([[10, 10], [-10, -10]],),
    when=lambda W: len(W) < FEWEST and _forgets(W),
)
forgetful.mistake(
    "the norm is too small",
    "This network does forget. The point is that it can do so with a large norm too.",
    example=([[0.5, 0.5, -1], [0.5, 0.5, -1], [0.5, 0.5, -1]],),
    when=lambda W: _is_dense(W) and _forgets(W),
)
forgetful.mistake(
    "a multiple of a rotation or reflection",
    "It stretches every vector by its norm at each step: the norm is the whole truth for such a W.",
    example=([[-4, 8, 8], [8, -4, 8], [8, 8, -4]],),
    when=lambda W: _is_dense(W) and _stretches_all_alike(W),
)
forgetful.mistake(
    "singular, but not forgetful",
    "A singular W forgets one direction in one step. What is asked is that every direction "
    "is forgotten in the end: all eigenvalues must lie within the unit circle.",
    example=([[10, 10, 10], [10, 10, 10], [10, 10, 10]],),
    when=lambda W: _is_dense(W) and np.abs(np.linalg.eigvals(W)).min() < 1e-9 and not _forgets(W),
)
forgetful.mistake(
    "a trace of 0 alone",
    "The eigenvalues sum up to 0, as they must. But they may be large and cancel in the sum; each "
    "of them has to lie within the unit circle.",
    example=([[10, 20, 10], [10, -30, 20], [20, 10, 20]],),
    when=lambda W: _is_dense(W) and abs(np.trace(W)) < 1e-9 and not _forgets(W),
)


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


def growth(W: np.ndarray, sigma: Activation, T: int = 1000) -> Growth:
    """By running the network; where slopes stay 0 and 1, powers of a matrix tell all the future."""
    if sigma is IDENTITY:
        return _linear_growth(W)
    logs, products, slopes, steady = run_from_four_starts(W, sigma, T)
    if sigma is RELU and steady:
        return max(_linear_growth(W * s, P) for s, P in zip(slopes, products, strict=True))
    half = len(logs) // 2
    with np.errstate(all="ignore"):
        risen = logs[-1] - logs[half - 1] if half else logs[-1]
        exponents = np.nan_to_num(risen / (10 * (len(logs) - half)), nan=-np.inf, neginf=-np.inf)
    far_out = 10 * len(logs) < T
    rises = far_out or (logs[half:].max(axis=0) > logs[:half].max(axis=0) + 0.1).any()
    return Growth(bool(rises), float(exponents.max()))


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


@exercise
def explosion(
    condition: Annotated[str, Choice(("necessary", "sufficient", "both", "neither"))],
    activation: Annotated[str, Choice(tuple(ACTIVATIONS))],
    W: Annotated[np.ndarray, SquareMatrix()],
) -> Verdict:
    """Say what ‖W‖₂ > 1/γ is for explosion, and show a network that meets it and stays calm."""
    sigma = ACTIVATIONS[activation]
    return right(
        f"{condition!r} is what running 18 networks shows. Your network has "
        f"‖W‖₂ = {show(spectral_norm(W))} > 1/γ = {show(1 / sigma.gamma)}, and its gradient does "
        f"not explode: {_per_step(growth(W, sigma).exponent)}."
    )


@explosion.part("Condition")
def _condition(condition: str) -> Verdict:
    if condition == kind_of_condition():
        return right()
    return wrong(f"{condition!r} is not what running 18 networks shows.")


@explosion.part("Network")
def _network(activation: str, W: np.ndarray) -> Verdict:
    sigma = ACTIVATIONS[activation]
    norm, limit = spectral_norm(W), 1 / sigma.gamma
    if norm <= limit * (1 + 1e-12):
        shown = [show(norm)] * 2 if close(norm, limit, 1e-12) else show_apart(norm, limit)
        return wrong(f"Your W has ‖W‖₂ = {shown[0]}, not above 1/γ = {shown[1]}.")
    grows, exponent = growth(W, sigma)
    if not grows:
        return right()
    slowly = ", if only as a power of T" if abs(exponent) < 1e-11 else ""
    return wrong(f"The gradient grows beyond all limits{slowly}: {_per_step(exponent)}.")


def _per_step(exponent: float) -> str:
    """The exponent in words."""
    if exponent == -np.inf:
        return "it is 0 after a few steps"
    value = "0" if abs(exponent) < 1e-11 else show(exponent, 3)
    return f"its exponent, what a step adds to ln ‖∂h_T/∂h_0‖ in the long run, is {value}"


explosion.add_hints(
    "The bound says: if γ‖W‖₂ < 1, the gradient vanishes. What follows when it explodes?",
    "Not all that may grow does grow. Think of exercise 1.6, or of an activation that is flat "
    "where the states are.",
)

explosion.mistake(
    "a large norm means explosion",
    "The bound is an upper bound: when it grows, the gradient may grow, but nothing says "
    "that it must.",
    example=("sufficient",),
    part="Condition",
)
explosion.mistake(
    "the converse taken for granted",
    "“If γ‖W‖₂ < 1 it vanishes” gives “if it explodes, γ‖W‖₂ ≥ 1”. It does not give “if "
    "γ‖W‖₂ > 1 it explodes”.",
    example=("both",),
    part="Condition",
)
explosion.mistake(
    "the bound forgotten",
    "Without γ‖W‖₂ > 1 the gradient cannot explode: δ^T stays at or below 1.",
    example=("neither",),
    part="Condition",
)


def _explodes(activation: str, W: np.ndarray) -> bool:
    return growth(W, ACTIVATIONS[activation]).explodes


explosion.mistake(
    "a W that stretches every vector alike",
    "For such a W the norm is the whole truth as long as slopes are not small. Wanted is a "
    "network in which the norm is large and the gradient stays small.",
    example=("identity", [[2, 0], [0, 2]]),
    when=lambda activation, W: _stretches_all_alike(W) and _explodes(activation, W),
    part="Network",
)
explosion.mistake(
    "a network that does explode",
    "Wanted is one in which the norm is large and the gradient stays bounded all the same: a W "
    "whose powers stay bounded, or an activation that is flat where the states are.",
    example=("identity", [[2, 0], [0, 0.1]]),
    when=_explodes,
    part="Network",
)
explosion.mistake(
    "on the limit",
    "Asked is a norm above 1/γ. At 1/γ itself the bound δ^T is 1 for every T.",
    example=("sigmoid", [[4]]),
    when=lambda activation, W: close(spectral_norm(W), 1 / ACTIVATIONS[activation].gamma, 1e-12),
    part="Network",
)
explosion.mistake(
    "γ forgotten",
    "The limit is 1/γ, not 1. The sigmoid has γ = 1/4, so there it is 4.",
    example=("sigmoid", [[2]]),
    when=lambda activation, W: 1 < spectral_norm(W) < 0.7 / ACTIVATIONS[activation].gamma,
    part="Network",
)


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
def gated_jacobian(
    gated_jacobian: Annotated[FunctionAnswer, Function(samples=GATED[1:])],
) -> Verdict:
    """Write a function of h, W_f, x_f, W_c and x_c that returns the Jacobian of one gated step."""
    draws = any_gated, partial(any_gated, units=17, most=24)
    for h, W_f, x_f, W_c, x_c in cases(GATED, *draws, ahead=asks(gated_jacobian)):
        answer = gated_jacobian.array(h, W_f, x_f, W_c, x_c, shape=W_f.shape)
        seen = finite_differences(
            partial(gated_step, W_f=W_f, x_f=x_f, W_c=W_c, x_c=x_c), h, eps=1e-5
        )
        named = {"h": h, "W_f": W_f, "x_f": x_f, "W_c": W_c, "x_c": x_c}
        at = f"At {', '.join(f'{name} = {show(value)}' for name, value in named.items())},"
        if verdict := _entry_off(seen, answer, at):
            return verdict
    return right("Finite differences of one gated step give your matrix, for 9 networks.")


gated_jacobian.add_hints(
    "Entry i of the new state is f_i h_i + (1 − f_i) c_i. Which of its four factors change with "
    "h_j? Apply the product rule.",
    "There are three ways from h_j to the new h_i: past the weights (i = j alone), through the "
    "gate f_i, and through the candidate c_i.",
    "The gate's way carries (h_i − c_i) f_i (1 − f_i) W_f[i, j]: slopes belong to the row i here, "
    "for the activation comes after the weights.",
)

gated_jacobian.forbid("rnn.finite_differences", "checks.rnn_gradients.gated_step")


def _ways(
    h: np.ndarray, W_f: np.ndarray, x_f: np.ndarray, W_c: np.ndarray, x_c: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What the mistakes are put together from: f, h − c, and the slopes of gate and candidate."""
    f, c = SIGMOID(W_f @ h + x_f), TANH(W_c @ h + x_c)
    return f, h - c, f - f**2, 1 - c**2


@gated_jacobian.mistake(
    "the gate taken for a constant",
    "That is the Jacobian with a gate that stands still. Here the gate looks at the state: nudge "
    "h_j, and f_i moves too, and with it the mix of h_i and c_i.",
)
def _still_gate(h, W_f, x_f, W_c, x_c):
    f, _, _, dc = _ways(h, W_f, x_f, W_c, x_c)
    return np.diag(f) + ((1 - f) * dc)[:, None] * W_c


@gated_jacobian.mistake(
    "the direct way forgotten",
    "The state is also handed on as it is: f_i stands on the diagonal. It is this way that keeps "
    "a gradient alive.",
)
def _no_direct_way(h, W_f, x_f, W_c, x_c):
    f, gap, df, dc = _ways(h, W_f, x_f, W_c, x_c)
    return (gap * df)[:, None] * W_f + ((1 - f) * dc)[:, None] * W_c


@gated_jacobian.mistake(
    "c − h in place of h − c",
    "A gate that opens brings more of the old state h and less of the candidate c: what the gate "
    "multiplies is h − c.",
)
def _gap_turned(h, W_f, x_f, W_c, x_c):
    f, gap, df, dc = _ways(h, W_f, x_f, W_c, x_c)
    return np.diag(f) - (gap * df)[:, None] * W_f + ((1 - f) * dc)[:, None] * W_c


@gated_jacobian.mistake(
    "slopes on the columns",
    "In W σ(h) the activation comes before the weights, and its slopes scale columns. Here gate "
    "and candidate are activations of W h + x: their slopes scale rows.",
)
def _columns_scaled(h, W_f, x_f, W_c, x_c):
    f, gap, df, dc = _ways(h, W_f, x_f, W_c, x_c)
    return np.diag(f) + gap[:, None] * W_f * df + (1 - f)[:, None] * W_c * dc


@gated_jacobian.mistake(
    "1 − f moves, and f does not",
    "The gate stands in two places: with h it opens, with c it shuts. Both change with h_j.",
)
def _one_gate_only(h, W_f, x_f, W_c, x_c):
    f, gap, df, dc = _ways(h, W_f, x_f, W_c, x_c)
    return np.diag(f) + ((gap - h) * df)[:, None] * W_f + ((1 - f) * dc)[:, None] * W_c


# -- 1.9 ------------------------------------------------------------------------------------------

TRACE = 1e-3  # less than that counts as forgotten


@exercise(numbers=rnn_gradients)
def gate_bias(student: StudentId, bias: RealNumber, forgotten: RealNumber) -> Verdict:
    """Find the bias of a gate that keeps your share of a gradient, and when it has forgotten."""
    return right("Multiplied step by step, the gate keeps what it should, and not for longer.")


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
        says = f"{show(forgotten)} is no number of steps: give a whole one from 1 up."
        return wrong(says, at="steps", yours=forgotten)
    n = rnn_gradients(student)
    before, after = (n.share ** ((forgotten - k) / n.steps) for k in (1, 0))
    if after < TRACE <= before:
        return right()
    if after >= TRACE:
        says = f"After {show(forgotten)} steps {show(after, 5)} is left: not less than {TRACE}."
    else:
        says = f"One step earlier it was less than {TRACE} already."
    return wrong(says, at="forgotten", yours=forgotten)


gate_bias.add_hints(
    "With a gate that stands still and a candidate that does not look at the state, every step "
    "multiplies the gradient by f. Which f, multiplied by itself so often, is the share?",
    "sigmoid(b) = f means b = ln(f/(1 − f)).",
    "For the second question you need no f: in `steps` steps the logarithm of what is left "
    "changes by ln(share), and in each step by the same amount.",
)


def _face(face: Callable[[RnnGradients], float], student: Any = 0) -> Recognized:
    """A mistake that can be computed: known with every student's numbers."""
    return {
        "example": (student, face(rnn_gradients(student))),
        "when": lambda student, answer: close(answer, face(rnn_gradients(student)), 1e-4),
    }


def _gate(n: RnnGradients) -> float:
    return float(n.share ** (1 / n.steps))


gate_bias.mistake(
    "the gate in place of its bias",
    "That is f itself. Asked is the b with sigmoid(b) = f.",
    part="Bias",
    **_face(_gate),
)
gate_bias.mistake(
    "the sign of the bias",
    "A gate that keeps nearly everything is nearly open: its bias is far above 0.",
    part="Bias",
    **_face(lambda n: -np.log(_gate(n) / (1 - _gate(n)))),
)
gate_bias.mistake(
    "one step only",
    "With this bias the share is left after one step. It should be left after all of them.",
    part="Bias",
    **_face(lambda n: np.log(n.share / (1 - n.share))),
)
gate_bias.mistake(
    "the share divided by the steps",
    "A step multiplies what is left; it does not take away the same amount each time. The T-th "
    "root is needed, not 1 − (1 − share)/T.",
    part="Bias",
    **_face(lambda n: np.log(n.steps / (1 - n.share) - 1), student=1),
)
gate_bias.mistake(
    "one step too early",
    "There it is still a trace more than a thousandth. Round up.",
    part="Forgotten",
    **_face(lambda n: np.floor(n.steps * np.log(TRACE) / np.log(n.share))),
)
gate_bias.mistake(
    "counted from the end",
    "Count from h_0, not from the step at which your share was left.",
    part="Forgotten",
    **_face(lambda n: np.ceil(n.steps * np.log(TRACE) / np.log(n.share)) - n.steps),
)


# -- 1.10 -----------------------------------------------------------------------------------------


class Residual(NamedTuple):
    """A network h_t = h_{t−1} + a W σ(h_{t−1}) that was run, and its extremes over all slopes."""

    W: np.ndarray
    gamma: float
    a: float
    T: int
    least: float  # the least that a vector of length 1 became
    most: float
    tight: bool


def ran_residual(
    W: np.ndarray, gamma: float, a: float, T: int, rng: np.random.Generator
) -> Residual:
    """All slopes γ, all −γ, all just so that a symmetric W is undone, and some between."""
    size, n = a * spectral_norm(W), len(W)
    turned = np.sign(np.linalg.eigvalsh(W)[-1] + np.linalg.eigvalsh(W)[0] + 1e-9)
    steady = [turned * gamma, -turned * gamma, -turned * min(gamma, 1 / size)]
    slopes = [np.full((T, n), s) for s in steady] + [*rng.uniform(-gamma, gamma, (3, T, n))]
    runs = [reduce(lambda P, s: P + a * (W * s) @ P, way, np.eye(n)) for way in slopes]
    stretched = np.array([np.linalg.svd(P, compute_uv=False) for P in runs])
    stretched[stretched < 1e-12] = 0.0
    return Residual(W, gamma, a, T, stretched.min(), stretched.max(), close(W, W.T))


def any_residual(rng: np.random.Generator, units: int = 1, most: int = 8) -> Residual:
    """A γ‖W‖ below 1 or above; few steps, so that no digits are lost."""
    n, T = *sizes(rng, 1, units, most), int(rng.integers(1, 7))
    W, gamma, a = numbers(rng, n, n) + 0.01, *rng.choice([0.25, 0.5, 1.1, 2.0], 2)
    W = W + W.T if rng.random() < 0.7 else W
    reach = rng.choice([0.2, 0.6, 1.5])
    return ran_residual(W * (reach / (a * gamma * spectral_norm(W))), gamma, a, T, rng)


@cache
def residuals() -> list[Residual]:
    """One unit, a symmetric W, one that is not, one step and many, and slopes that undo a step."""
    pair, lopsided = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.0, -2.0], [0.0, 1.0]])
    settings = [
        (np.array([[2.0]]), 1.0, 0.25, 1), (np.array([[-2.0]]), 1.0, 0.25, 3), (pair, 0.5, 1.0, 2),
        (lopsided, 1.0, 0.2, 4), (np.array([[1.0]]), 1.0, 0.01, 100), (3 * pair, 1.0, 1.0, 2),
        (np.array([[2.0, 1.0], [1.0, 0.0]]), 1.0, 0.25, 2),
    ]  # fmt: skip
    return [ran_residual(*setting, np.random.default_rng(0)) for setting in settings]


def _beyond(which: str, bound: FunctionAnswer) -> Verdict:
    """Is no run beyond this bound, and one of those with a symmetric W on it?"""
    loose = None
    draws = any_residual, partial(any_residual, units=17, most=24)
    each = asks(bound, lambda case: [(bound, *case[:4])])
    for case in cases(residuals(), *draws, ahead=each):
        W, gamma, a, T = case[:4]
        seen = case.least if which == "least" else case.most
        answer = float(bound.array(W, gamma, a, T, shape=()))
        at = f"At W = {show(W)}, γ = {show(gamma)}, a = {show(a)} and T = {T}"
        if close(answer, seen, 1e-5) or abs(answer - seen) < 1e-9:
            continue
        if (answer > seen) == (which == "least"):
            shown = show_apart(seen, answer)
            says = f"{at} a vector of length 1 became {shown[0]} long; your bound is {shown[1]}."
            return wrong(says, at=at, yours=answer)
        at = f"No run is beyond your bound, but it could be closer: {at[0].lower()}{at[1:]}"
        loose = loose or (differs(seen, answer, at=at, what="it") if case.tight else None)
    return loose or right()


ResidualBound = Annotated[
    FunctionAnswer, Function(samples=[(SHEAR, 0.5, 0.2, 3), (THREE, 1.0, 2.0, 2)])
]


@exercise
def residual_bounds(least: ResidualBound, most: ResidualBound) -> Verdict:
    """Bound what T steps h + a W σ(h) can make of a nudge of length 1, from below and above."""
    return right("In 13 networks no run lies beyond, and where W is symmetric some lie on both.")


@residual_bounds.part("Least")
def _least_left(least: FunctionAnswer) -> Verdict:
    return _beyond("least", least)


@residual_bounds.part("Most")
def _most_left(most: FunctionAnswer) -> Verdict:
    return _beyond("most", most)


residual_bounds.add_hints(
    "One step has the Jacobian 1 + a W diag(σ′). How long can (1 + M)x be, if ‖M‖ ≤ μ and ‖x‖ = 1? "
    "How short?",
    "The triangle inequality gives both: ‖x‖ − ‖Mx‖ ≤ ‖x + Mx‖ ≤ ‖x‖ + ‖Mx‖.",
    "T steps multiply such factors. A length is never negative: what if a γ‖W‖ is above 1?",
)


def _reach(W: np.ndarray, gamma: float, a: float) -> float:
    return a * gamma * spectral_norm(W)


@residual_bounds.mistake(
    "a negative factor",
    "Where a γ‖W‖ is above 1 the factor 1 − a γ‖W‖ is negative, and its even powers are positive. "
    "But slopes between can undo a step wholly: nothing above 0 is sure.",
    part="Least",
)
def _negative_base(W, gamma, a, T):
    return (1 - _reach(W, gamma, a)) ** T


@residual_bounds.mistake(
    "the identity taken for a guarantee",
    "The state is handed on as it is, but a W σ(h) is added, and it can point the other way.",
    part="Least",
)
def _at_least_one(W, gamma, a, T):
    return 1.0


@residual_bounds.mistake(
    "the smallest singular value of W",
    "What shortens most is the direction that W stretches most, turned around: the norm counts "
    "here too.",
    part="Least",
)
def _by_smallest(W, gamma, a, T):
    return max(0.0, 1 - a * gamma * np.linalg.svd(W, compute_uv=False)[-1]) ** T


@residual_bounds.mistake(
    "the identity forgotten",
    "Each factor is 1 + a W diag(σ′), not a W diag(σ′).",
    part="Most",
)
def _without_identity(W, gamma, a, T):
    return _reach(W, gamma, a) ** T


@residual_bounds.mistake(
    "steps added in place of multiplied",
    "Each step stretches what the steps before have stretched: the factors multiply.",
    part="Most",
)
def _added_up(W, gamma, a, T):
    return 1 + T * _reach(W, gamma, a)


@residual_bounds.mistake(
    "the exponential",
    "e^{T a γ‖W‖} is a true bound, and the limit for many small steps; for T steps (1 + x)^T is "
    "smaller than e^{Tx}.",
    part="Most",
)
def _exponential(W, gamma, a, T):
    return np.exp(T * _reach(W, gamma, a))
