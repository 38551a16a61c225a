"""Unit 01: RNN gradients, and when they vanish."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..answers import (
    Choice,
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
)
from ..derivation import (
    Derivation,
    Domain,
    Report,
    activation,
    invertible,
    matrix,
    vector,
)
from ..exercise import Verdict, exercise, partly, right, wrong
from ..rnn import (
    ACTIVATIONS,
    Activation,
    finite_differences,
    gradient_norms,
    h_step,
    matrix_with,
    run,
    spectral_norm,
    spectral_radius,
)
from ..steps import Way, judge_steps, some_line

IDENTITY, RELU, TANH, SIGMOID, SILU = (
    ACTIVATIONS[name] for name in ("identity", "ReLU", "tanh", "sigmoid", "SiLU")
)
SHEAR = np.array([[1.0, 2.0], [0.0, 1.0]])
THREE = np.array([[0.5, -1.0, 0.2], [1.5, 0.3, -0.7], [-0.4, 0.9, 1.1]])


def states(W: np.ndarray, sigma: Activation, T: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs x_1 … x_T, and the states h_0 … h_T that they lead through with U = 1 and b = 0."""
    n = len(W)
    drawn = np.random.default_rng(seed).uniform(-1, 1, (T + 1, n)).round(1)
    h0, xs = drawn[0], drawn[1:]
    return xs, run(h_step, h0, xs, W, np.eye(n), np.zeros(n), sigma.f)


# -- 1.1 ------------------------------------------------------------------------------------------

Line = Callable[..., Any]
ANY_W = matrix("n", "n")  # singular ones among them


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


def induction(lines: list[Line], W: Domain = ANY_W) -> Report:
    """Every line against the one before it, from g_t on, with W drawn from this domain."""
    return Derivation(
        lambda W, g_prev, z, sigma: sigma(W @ g_prev + z),
        [("=", line, "") for line in lines],
        where={"W": W, "z h_prev": vector("n"), "sigma": activation()},
        given={
            "g_prev": lambda h_prev, sigma: sigma(h_prev),
            "h": lambda W, h_prev, z, sigma: W @ sigma(h_prev) + z,
        },
    ).check()


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


@exercise("1.1", points=2)
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
    when=lambda lines: not induction(lines).holds and induction(lines, invertible("n")).holds,
)


def has_line(form: Line) -> Callable[[list[Line]], bool]:
    """A predicate: one of the lines has the value of this one, at two steps."""
    return lambda lines: any(
        all(close(line_at(line, step), line_at(form, step)) for step in (STEP, OTHER))
        for line in lines
    )


def _without_inner(W, h_prev, z, sigma):
    return sigma(W @ h_prev + z)


induction_step.mistake(
    "h_{t−1} put where g_{t−1} stood",
    "The assumption is g_{t−1} = σ(h_{t−1}), with the activation.",
    example=([_without_inner, _claim],),
    when=has_line(_without_inner),
)


def _without_outer(W, h_prev, z, sigma):
    return W @ sigma(h_prev) + z


induction_step.mistake(
    "the outer activation lost",
    "g_t is the state after the activation: σ stands around the whole of W g_{t−1} + z.",
    example=([_without_outer, _claim],),
    when=has_line(_without_outer),
)


def _split(W, h_prev, z, sigma):
    return sigma(W @ sigma(h_prev)) + sigma(z)


induction_step.mistake(
    "σ of a sum split into a sum",
    "An activation is not linear: σ(a + c) is not σ(a) + σ(c).",
    example=([_split, _claim],),
    when=has_line(_split),
)
induction_step.mistake(
    "the claim as its own proof",
    "g_t = σ(h_t) is what is to be shown. The line between says why: it puts in the "
    "induction assumption and is written with h_{t−1} alone.",
    example=([_claim],),
    when=lambda lines: induction(lines).holds and not uses(lines[-1], "W", "z", "h_prev"),
)


# -- 1.2 ------------------------------------------------------------------------------------------


def _next_state(W: np.ndarray, sigma: Activation, h: np.ndarray) -> np.ndarray:
    return W @ sigma(h)


@exercise("1.2", points=2)
def jacobian(
    jacobian: Annotated[
        FunctionAnswer,
        Function(
            samples=[(SHEAR, np.array([1.0, -0.5]), TANH.prime), (THREE, THREE[0], SIGMOID.prime)]
        ),
    ],
) -> Verdict:
    """Write a function of W, h and σ′ that returns the Jacobian ∂h_t/∂h_{t−1} at h_{t−1} = h."""
    cases = [
        (SHEAR, [1.0, -0.5], TANH),
        (THREE, [0.4, -1.0, 0.8], SIGMOID),
        (-THREE, [0.3, -0.2, 2.0], RELU),
        (np.array([[2.0]]), [0.5], TANH),
    ]
    for W, entries, sigma in cases:
        h, n = np.array(entries), len(entries)
        answer = jacobian.array(W, h, sigma.prime, shape=(n, n))
        seen = finite_differences(partial(_next_state, W, sigma), h)
        if not close(answer, seen):
            i, j = np.unravel_index(np.abs(answer - seen).argmax(), (n, n))
            return wrong(
                f"At W = {show(W)}, h = {show(h)} and σ = {sigma.name}, nudging entry {j + 1} of "
                f"h_{{t−1}} moves entry {i + 1} of h_t by {show(seen[i, j])} times the nudge; your "
                f"entry ({i + 1}, {j + 1}) is {show(answer[i, j])}."
            )
    return right("Finite differences of one step give your matrix, for 4 networks.")


jacobian.add_hints(
    "Write out one entry: (W σ(h))_i = Σ_j W_ij σ(h_j). What is its derivative in h_j?",
    "Entry (i, j) is W_ij σ′(h_j): the slope goes with the column, not with the row.",
)

jacobian.forbid("rnn.step_jacobian", "rnn.jacobians", "rnn.jacobian_product")


@jacobian.mistake(
    "Wᵀ in place of W",
    "Entry (i, j) of a Jacobian is ∂(output i)/∂(input j), and unit j reaches unit i "
    "through W_ij. Wᵀ appears when gradients are sent backward. Since ‖Wᵀ‖ = ‖W‖, a bound "
    "that uses the norm alone does not notice the slip.",
)
def _transposed(W, h, dsigma):
    return W.T @ np.diag(dsigma(h))


@jacobian.mistake(
    "slopes on the rows",
    "diag(σ′)·W scales row i. But the activation comes before W: the slope of unit j "
    "scales what unit j sends, which is column j.",
)
def _rows_scaled(W, h, dsigma):
    return np.diag(dsigma(h)) @ W


@jacobian.mistake(
    "the transpose of the Jacobian",
    "This has inputs as rows and outputs as columns. In this course the rows are the outputs.",
)
def _denominator_layout(W, h, dsigma):
    return np.diag(dsigma(h)) @ W.T


@jacobian.mistake(
    "the slope forgotten",
    "W alone is the Jacobian of a linear network; the chain rule adds σ′(h_j).",
)
def _no_slope(W, h, dsigma):
    return W


@jacobian.mistake(
    "W forgotten",
    "diag(σ′) is the Jacobian of the activation alone; W comes after it.",
)
def _slopes_only(W, h, dsigma):
    return np.diag(dsigma(h))


# -- 1.3 ------------------------------------------------------------------------------------------


def _last_state(network: tuple, h: np.ndarray) -> np.ndarray:
    return run(h_step, h, *network)[-1]


@exercise("1.3", points=2)
def jacobian_product(
    jacobian_product: Annotated[
        FunctionAnswer, Function(samples=[(SHEAR, states(SHEAR, TANH, 3, 0)[1], TANH.prime)])
    ],
) -> Verdict:
    """Write a function of W, the states h_0 … h_T and σ′ that returns ∂h_T/∂h_0."""
    for W, sigma, T in [(SHEAR, TANH, 1), (SHEAR, TANH, 2), (THREE, SIGMOID, 3), (THREE, TANH, 6)]:
        xs, hs = states(W, sigma, T, seed=T)
        n = len(W)
        answer = jacobian_product.array(W, hs, sigma.prime, shape=(n, n))
        network = (xs, W, np.eye(n), np.zeros(n), sigma)
        seen = finite_differences(partial(_last_state, network), hs[0])
        if not close(answer, seen):
            return wrong(
                f"At W = {show(W)}, σ = {sigma.name} and T = {T}, with the states {show(hs, 3)}, "
                f"finite differences from h_0 to h_{T} give {show(seen)}; yours is {show(answer)}."
            )
    return right("Finite differences through 1, 2, 3 and 6 steps give your product.")


jacobian_product.add_hints(
    "The chain rule has one factor for each step. How many steps lead from h_0 to h_T?",
    "The step from h_{t−1} to h_t has the Jacobian W diag(σ′(h_{t−1})). Which of the rows of "
    "`hs` are needed, then?",
    "The first step acts first, so its factor stands on the right, next to ∂h_0.",
)

jacobian_product.forbid(
    "rnn.jacobian_product",
    "rnn.jacobians",
    "rnn.step_jacobian",
    "checks.rnn_gradients._product",
)


def _product(W: np.ndarray, hs: np.ndarray, dsigma: Callable) -> np.ndarray:
    product = np.eye(len(W))
    for h in hs:
        product = W @ np.diag(dsigma(h)) @ product
    return product


def _is_one_at_one_step(product: FunctionAnswer) -> bool:
    return close(product.array(SHEAR, np.ones((2, 2)), TANH.prime, shape=(2, 2)), np.eye(2))


@jacobian_product.mistake(
    "one factor short",
    "From h_0 to h_T there are T steps, each with its factor: i = 1 … T. A product over "
    "0 < i < T has T − 1.",
    when=_is_one_at_one_step,
)
def _one_short(W, hs, dsigma):
    return _product(W, hs[1:-1], dsigma)


@jacobian_product.mistake(
    "one factor too many",
    "h_T is where the last step arrives; no step starts there, so it has no factor.",
)
def _one_long(W, hs, dsigma):
    return _product(W, hs, dsigma)


@jacobian_product.mistake(
    "the latest factor on the right",
    "∂h_2/∂h_0 = ∂h_2/∂h_1 · ∂h_1/∂h_0: matrices do not commute, and the latest step "
    "stands on the left.",
)
def _latest_right(W, hs, dsigma):
    return _product(W, hs[:-1][::-1], dsigma)


@jacobian_product.mistake(
    "slopes one step late",
    "The step from h_{t−1} to h_t has its slopes at h_{t−1}: the states h_0 … h_{T−1}.",
)
def _late_slopes(W, hs, dsigma):
    return _product(W, hs[1:], dsigma)


@jacobian_product.mistake(
    "Wᵀ in place of W",
    "Each factor is W diag(σ′), as in exercise 1.2. With Wᵀ the bound on the norm would be "
    "the same; the product is not.",
)
def _product_transposed(W, hs, dsigma):
    return _product(W.T, hs[:-1], dsigma)


# -- 1.4 ------------------------------------------------------------------------------------------

GRID = np.linspace(-20, 20, 40001)
BOUNDED = ["sigmoid", "tanh", "ReLU", "softplus", "SiLU"]


@exercise("1.4", points=2)
def slope_bounds(
    sigmoid: RealNumber, tanh: RealNumber, relu: RealNumber, softplus: RealNumber, silu: RealNumber
) -> Verdict:
    """Find the least γ with |σ′| ≤ γ for sigmoid, tanh, ReLU, softplus and SiLU."""
    says = []
    for name, gamma in zip(BOUNDED, (sigmoid, tanh, relu, softplus, silu), strict=True):
        slopes = np.abs(ACTIVATIONS[name].prime(GRID))
        k = int(slopes.argmax())
        if gamma < slopes[k] - 1e-4:
            says.append(
                f"The slope of {name} at x = {show(GRID[k])} is {show(slopes[k])}, which is more "
                f"than {show(gamma)}."
            )
        elif gamma > slopes[k] + 1e-3:
            says.append(
                f"|σ′| of {name} stays below {show(gamma)} on the whole grid: a smaller γ will do."
            )
    if not says:
        return right("On a grid of 40001 points no slope exceeds its bound, and each is reached.")
    return partly(1 if len(says) == 1 else 0, " ".join(says))


slope_bounds.add_hints(
    "γ is the height of the highest point of the curve σ′, not of σ.",
    "sigmoid′ = s(1 − s) with s between 0 and 1; softplus′ is the sigmoid itself.",
    "SiLU is x·s, so its slope is s + x·s(1 − s). Evaluate that on a fine grid of x and look "
    "for the largest value.",
)

slope_bounds.mistake(
    "the largest value in place of the largest slope",
    "The sigmoid rises to 1, but slowly: γ is the largest slope, s(1 − s) at s = 1/2.",
    example=(1, 1, 1, 1, 1.1),
    when=lambda sigmoid, *others: close(sigmoid, 1),
)
slope_bounds.mistake(
    "SiLU taken for a ReLU",
    "Far out the slope of SiLU is 1, but on its way there it overshoots: look at x "
    "between 2 and 3.",
    example=(0.25, 1, 1, 1, 1),
    when=lambda *bounds: close(bounds[4], 1),
)
slope_bounds.mistake(
    "softplus taken for the sigmoid",
    "The sigmoid is the slope of softplus, so γ is the largest value of the sigmoid.",
    example=(0.25, 1, 1, 0.25, 1.1),
    when=lambda *bounds: close(bounds[3], 0.25),
)
slope_bounds.mistake(
    "the slope of tanh halved",
    "tanh′ = 1 − tanh², which is 1 at 0.",
    example=(0.25, 0.5, 1, 1, 1.1),
    when=lambda *bounds: close(bounds[1], 0.5) or close(bounds[1], 0.25),
)


# -- 1.5 ------------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """A network that was run: its bound must not lie below `norm`, and not above it if `tight`."""

    W: np.ndarray
    sigma: Activation
    T: int
    norm: float
    tight: bool


TURN = np.array([[0.6, -0.8], [0.8, 0.6]])
WEIGHTS = [SHEAR, THREE, TURN / 2, 1.5 * TURN, np.array([[0.4]]), matrix_with(0.9, 0.2),
           np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 0.0]]),
           np.array([[1.0, 1.0], [-1.0, -1.0]]), matrix_with(3.0, 0.0),
           np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]) / 4]  # fmt: skip
# Each activation with a state at which its slope is γ.
STEEP = [(IDENTITY, 0.0), (SIGMOID, 0.0), (SILU, 2.3993572805154677), (RELU, 1.0)]


@cache
def measured() -> list[Measured]:
    """Networks steered by their inputs through steep states and through random ones."""
    rng, found = np.random.default_rng(0), []
    for W in WEIGHTS:
        normal = close(W @ W.T, W.T @ W)
        for sigma, steep in STEEP:
            for hs in (np.full((7, len(W)), steep), rng.uniform(-2, 2, (7, len(W)))):
                norms = gradient_norms(W, hs, sigma.prime)
                for T in (1, 2, 6):
                    tight = bool((hs == steep).all()) and (T == 1 or normal)
                    found.append(Measured(W, sigma, T, norms[T], tight))
    return found


@exercise("1.5", points=3)
def gradient_bound(
    gradient_bound: Annotated[
        FunctionAnswer, Function(samples=[(SHEAR, 0.5, 3), (THREE, 1.1, 2), (TURN / 2, 1.0, 1)])
    ],
) -> Verdict:
    """Write a function of W, γ and T that bounds ‖∂h_T/∂h_0‖, and that no smaller bound beats."""
    loose = ""
    for W, sigma, T, norm, tight in measured():
        bound = float(gradient_bound.array(W, sigma.gamma, T, shape=()))
        seen = f"W = {show(W)}, σ = {sigma.name} (γ = {show(sigma.gamma)}) and T = {T}"
        if bound < norm * (1 - 1e-6):
            return wrong(
                f"At {seen} a run has ‖∂h_T/∂h_0‖ = {show(norm)}; your bound is {show(bound)}."
            )
        if tight and bound > norm * (1 + 1e-6) and not loose:
            loose = f"at {seen} no run has more than {show(norm)}, and your bound is {show(bound)}."
    if not loose:
        return right(
            f"None of {len(measured())} measured norms lies above your bound, and some lie on it."
        )
    late = float(gradient_bound.array(SHEAR / 100, 1.0, 60, shape=()))
    if late > 1e-6:
        return wrong(
            f"Your bound is never too small, but it does not vanish: at W = {show(SHEAR / 100)}, "
            f"γ = 1 and T = 60 it is still {show(late)}."
        )
    return partly(2, f"Your bound is never too small, but it could be smaller: {loose}")


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
    "‖W‖_F is never smaller than the spectral norm, so this is a true bound; but it adds "
    "up all singular values where only the largest counts, and so it is not the best one.",
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


@exercise("1.6", points=3)
def forgetful(W: Annotated[np.ndarray, SquareMatrix()]) -> Verdict:
    """Find a W with ‖W‖₂ ≥ 10 whose linear network h_t = W h_{t−1} + x_t forgets h_0."""
    sizes: list[float] = []
    power = W
    while len(sizes) < 31 and np.abs(power).max() < 1e150:
        sizes.append(np.abs(power).max())
        power = power @ power  # twice as many steps
    norm = spectral_norm(W)
    if len(sizes) < 31:
        return wrong(f"‖W‖₂ = {show(norm)}, and an error in h_0 grows beyond all limits.")
    if sizes[-1] > 1e-6:
        return wrong(
            f"‖W‖₂ = {show(norm)}, but after 2³⁰ steps an error of 1 in h_0 still moves h_T by "
            f"{show(sizes[-1])}."
        )
    if norm < 10 * (1 - 1e-9):
        return wrong(f"The network forgets, but ‖W‖₂ = {show(norm)} is less than 10.")
    T = 2 ** int(np.argmax(np.array(sizes) <= 1e-6))
    return right(f"‖W‖₂ = {show(norm)}, and after {T} steps no trace above 10⁻⁶ is left of h_0.")


forgetful.add_hints(
    "Start with 2×2. After two steps the state depends on h_0 through W·W only.",
    "Which matrices have W·W = 0 and are not 0 themselves? Try zeros on the diagonal.",
    "A W that sends the second unit to the first, and the first nowhere, can do so with any "
    "strength.",
)

forgetful.mistake(
    "the norm is too small",
    "This network does forget. The point is that it can do so with a large norm too.",
    example=([[0, 1], [0, 0]],),
    when=lambda W: spectral_norm(W) < 10,
)
forgetful.mistake(
    "a large multiple of a rotation",
    "It stretches every vector by its norm at each step: the norm is the whole truth for such a W.",
    example=([[0, -10], [10, 0]],),
    when=lambda W: close(W @ W.T, spectral_norm(W) ** 2 * np.eye(len(W))),
)
forgetful.mistake(
    "singular, but not forgetful",
    "A singular W forgets one direction in one step. What is asked is that every direction "
    "is forgotten in the end: all eigenvalues must lie within the unit circle.",
    example=([[10, 0], [0, 0]],),
    when=lambda W: np.linalg.matrix_rank(W) < len(W),
)
forgetful.mistake(
    "zeros on the diagonal alone",
    "Each unit sends to the other, so what was passed on comes back. For W to forget, the "
    "way from unit to unit must not close into a loop that keeps its strength.",
    example=([[0, 10], [0.1, 0]],),
    when=lambda W: close(np.diag(W), np.zeros(len(W))),
)


def long_run(W: np.ndarray, sigma: Activation, h: np.ndarray, T: int) -> np.ndarray:
    """The largest entry of ∂h_t/∂h_0 for t = 1 … T without input; ∞ from where it leaves sight."""
    product, sizes = np.eye(len(W)), []
    for _ in range(T):
        product = (W * sigma.prime(h)) @ product
        h = W @ sigma(h)
        sizes.append(np.abs(product).max())
        if sizes[-1] > 1e150:
            break
    return np.array(sizes + [np.inf] * (T - len(sizes)))


def explodes(W: np.ndarray, sigma: Activation, T: int = 400) -> bool:
    """Run it from four starts: does the gradient from h_0 grow beyond all it was before T/2?"""
    starts = np.random.default_rng(0).normal(size=(4, len(W)))
    runs = [long_run(W, sigma, h, T) for h in starts]
    return any(sizes[T // 2 :].max() > sizes[: T // 2].max() * (1 + 1e-9) for sizes in runs)


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
    grew = [explodes(W, sigma, T=60) for W, sigma in networks]
    necessary = all(size for size, growth in zip(large, grew, strict=True) if growth)
    sufficient = all(growth for size, growth in zip(large, grew, strict=True) if size)
    return {
        (True, True): "both", (True, False): "necessary",
        (False, True): "sufficient", (False, False): "neither",
    }[necessary, sufficient]  # fmt: skip


@exercise("1.7", points=2)
def explosion(
    condition: Annotated[str, Choice(("necessary", "sufficient", "both", "neither"))],
    activation: Annotated[str, Choice(tuple(ACTIVATIONS))],
    W: Annotated[np.ndarray, SquareMatrix()],
) -> Verdict:
    """Say what ‖W‖₂ > 1/γ is for explosion, and show a network that meets it and stays calm."""
    sigma = ACTIVATIONS[activation]
    norm, limit = spectral_norm(W), 1 / sigma.gamma
    named = condition == kind_of_condition()
    says = [f"{condition!r} is {'' if named else 'not '}what running 18 networks shows."]
    shown = False
    if norm <= limit * (1 + 1e-6):
        says.append(f"Your W has ‖W‖₂ = {show(norm)}, not above 1/γ = {show(limit)}.")
    elif explodes(W, sigma):
        says.append("The gradient of your network grows and grows.")
    else:
        shown = True
        says.append(
            f"Your network has ‖W‖₂ = {show(norm)} > 1/γ = {show(limit)}, and from four starts its "
            "gradient does not explode."
        )
    return right(" ".join(says)) if named and shown else partly(named + shown, " ".join(says))


explosion.add_hints(
    "The bound says: if γ‖W‖₂ < 1, the gradient vanishes. What follows when it explodes?",
    "Not all that may grow does grow. Think of exercise 1.6, or of an activation that is flat "
    "where the states are.",
)

explosion.mistake(
    "a large norm means explosion",
    "The bound is an upper bound: when it grows, the gradient may grow, but nothing says "
    "that it must.",
    example=("sufficient", "identity", [[0, 100], [0, 0]]),
    when=lambda condition, activation, W: condition == "sufficient",
)
explosion.mistake(
    "the converse taken for granted",
    "“If γ‖W‖₂ < 1 it vanishes” gives “if it explodes, γ‖W‖₂ ≥ 1”. It does not give “if "
    "γ‖W‖₂ > 1 it explodes”.",
    example=("both", "tanh", [[3]]),
    when=lambda condition, activation, W: condition == "both",
)
explosion.mistake(
    "the bound forgotten",
    "Without γ‖W‖₂ > 1 the gradient cannot explode: δ^T stays at or below 1.",
    example=("neither", "identity", [[0, 100], [0, 0]]),
    when=lambda condition, activation, W: condition == "neither",
)
explosion.mistake(
    "a W that does explode",
    "Here the norm is the whole truth, because W stretches every vector alike. Wanted is a "
    "network in which the norm is large and the gradient stays small.",
    example=("necessary", "identity", [[2, 0], [0, 2]]),
    when=lambda condition, activation, W: explodes(W, ACTIVATIONS[activation]),
)
explosion.mistake(
    "γ forgotten",
    "The sigmoid has γ = 1/4, so 1/γ is 4: a norm of 2 does not meet the condition.",
    example=("necessary", "sigmoid", [[2]]),
    when=lambda condition, activation, W: 1 < spectral_norm(W) <= 1 / ACTIVATIONS[activation].gamma,
)
