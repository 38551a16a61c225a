"""Unit 03: L2 is not weight decay, except for SGD."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from selfcheck.calls import FunctionAnswer, in_a_row
from selfcheck.chains import Chain, Line, Milestone, Seen
from selfcheck.compare import as_array, close
from selfcheck.derivation import function, positive, vector
from selfcheck.display import show, show_apart, show_at
from selfcheck.exercises import exercise
from selfcheck.forms import Forms
from selfcheck.kinds import Choice, Formula, FormulaAnswer, Function, RealNumber, StudentId
from selfcheck.own_numbers import OwnNumbers
from selfcheck.per_case import each
from selfcheck.refusals import NotFinite, Unreadable
from selfcheck.sampling import cases, magnitude, numbers, sizes
from selfcheck.verdicts import Verdict, differs, right, where, wrong

from .. import optimizers
from ..numbers.weight_decay import WeightDecay, weight_decay
from ..optimizers import AdamState, adam_step, train

Point = dict[str, Any]
LAMBDA_ETA = Formula(lamda=(0, 0.5), eta=(0, 2))
START = np.array([2.0, -1.0])


@np.errstate(all="ignore")
def _slope(f: Callable[[np.ndarray], float], theta: np.ndarray, h: float = 2**-7) -> np.ndarray:
    """The gradient of f by central differences, which are exact for a polynomial of degree 2."""
    return np.array([(f(theta + e) - f(theta - e)) / (2 * h) for e in h * np.eye(len(theta))])


def _loss(theta: np.ndarray) -> float:
    return (theta[0] - 1) ** 2 / 2 + (theta[1] + 3) ** 2


def _penalized(theta: np.ndarray, gamma: float) -> float:
    return _loss(theta) + gamma * theta @ theta


def any_penalty(rng: np.random.Generator) -> dict[str, float]:
    """λ up to 1, and a step size of any magnitude."""
    eta = magnitude(rng, 1e-3, 10) * int(rng.integers(1, 10))
    return {"lamda": round(rng.uniform(0.01, 0.99), 2), "eta": eta}


@exercise
@each(LAMBDA_ETA.points, any_penalty)
def equivalent_penalty(
    equivalent_gamma: Annotated[FormulaAnswer, LAMBDA_ETA], *, point
) -> Verdict | None:
    """Find γ in λ and η so that SGD on L + γ‖θ‖² and SGD with weight decay λ are the same."""
    strength = equivalent_gamma(**point)
    penalized = _slope(partial(_penalized, gamma=strength), START)
    l2 = START - point["eta"] * penalized
    decay = (1 - point["lamda"]) * START - point["eta"] * _slope(_loss, START)
    at = (
        f"At {show_at(point)}, where your γ is {show(strength)}, SGD on L + γ‖θ‖² from "
        f"θ = {show(START)} with L = (θ_1 − 1)²/2 + (θ_2 + 3)²:"
    )
    return differs(decay, l2, at=at, what="the new θ, as by weight decay,")


# -- Adam, by its definition and with its well-known slips ----------------------------------------

ADAMS_MOVE = "the move of Adam"
HISTORY = np.array([[1.0, 0.01], [-2.0, 0.02], [0.5, -0.01], [3.0, 0.03]])
SETTINGS = [  # η, strength, β₁, β₂, ε: round numbers first, then Adam's usual ones
    (1.0, 0.25, 0.5, 0.5, 1.0),
    (0.1, 0.5, 0.9, 0.999, 1e-8),
    (0.01, 2.0, 0.8, 0.99, 1e-4),
]


class Journey(NamedTuple):
    """Where a rule is to go: its setting, the gradients it will see, and where it starts."""

    setting: tuple[float, ...]
    gradients: np.ndarray
    theta: np.ndarray
    state: tuple[np.ndarray, np.ndarray, int]

    @property
    def rounding(self) -> float:
        """What single precision may come to: the longer, the more, where terms cancel."""
        return 1e-5 if len(self.gradients) <= 4 else 1e-3


def _from_rest(setting: tuple[float, ...], gradients: np.ndarray, theta: np.ndarray) -> Journey:
    return Journey(setting, gradients, theta, (0 * theta, 0 * theta, 0))


JOURNEYS = [_from_rest(setting, HISTORY, START) for setting in SETTINGS]
OF_THREE = np.hstack([HISTORY, [[1.0], [3.0], [2.0], [-1.0]]])  # moved past 0 too, from near it
JOURNEYS[1:1] = [
    _from_rest(SETTINGS[0], OF_THREE, np.array([2.0, -1.0, 0.25])),
    _from_rest(SETTINGS[0], OF_THREE[:, 2:], np.array([0.25])),
    _from_rest(SETTINGS[0], OF_THREE * [100, 1, 1], np.array([2.0, -1.0, 0.25])),
]
ON_THE_WAY = (np.array([0.5, -0.25]), np.array([1.0, 0.5]), 3)
JOURNEYS += [Journey(SETTINGS[0], HISTORY, START, ON_THE_WAY)]


def any_journey(rng: np.random.Generator) -> Journey:
    """Any number of parameters, any scale of gradients, from rest or on the way."""
    (n,) = sizes(rng, 1)
    setting = (
        magnitude(rng, 1e-3, 10), round(rng.uniform(0.01, 1), 2), round(rng.uniform(0.1, 0.95), 2),
        round(rng.uniform(0.5, 0.999), 3), float(rng.choice([1.0, 1e-2, 1e-8])),
    )  # fmt: skip
    g = numbers(rng, 6, n, largest=magnitude(rng, 1e-2, 1e2))
    journey = _from_rest(setting, g, numbers(rng, n, largest=3.0))
    if rng.random() < 0.5:
        return journey
    return journey._replace(
        state=(numbers(rng, n), numbers(rng, n) ** 2 + 0.1, int(rng.integers(1, 9)))
    )


def _moved(step: FunctionAnswer, *args: Any) -> tuple[Any, np.ndarray]:
    """One step of a student's rule: the state as it is, and the move as an array."""
    result = step(*args)
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise Unreadable(
            f"{step.name} should return two things, the new state (m, v, t) and the move Δθ: "
            "`return (m, v, t), move`."
        )
    state, move = result
    return state, as_array(move, np.shape(args[2]), f"the move of {step.name}", finite=False)


class Move(NamedTuple):
    """A step of a student's rule, and what Adam does there with the gradients it is shown."""

    g: np.ndarray
    theta: np.ndarray
    yours: np.ndarray
    shown: np.ndarray  # the gradient that Adam sees
    adam: np.ndarray
    at_rest: np.ndarray  # where it has seen nothing but 0 so far, and moves by exactly 0


@np.errstate(all="ignore")
def _travel(step: FunctionAnswer, journey: Journey, shown: Callable, strength: str) -> list[Move]:
    """Steps of a student's rule in a row, and those of Adam with the gradients that it is shown."""
    setting, gradients, theta, state = journey
    eta, _, *rest = setting
    along = np.linspace(1, -1, len(gradients))
    along = along if len(along) <= 4 else along**3  # long ones come so near 0 that moves pass it
    places = along[:, None] * theta
    tokens = [(g, at, *setting) for g, at in zip(gradients, places, strict=True)]
    reference, moves = AdamState(*state), []
    answers = in_a_row(None, step, state, tokens)
    for t, (g, at, answer) in enumerate(zip(gradients, places, answers, strict=True), start=1):
        move = as_array(answer, theta.shape, f"the move of {step.name}", finite=False)
        if not np.isfinite(move).all():
            says = f"With {_with(setting, strength)}, the move of step {t} is not finite: it is "
            says += f"{show(move)}."
            raise NotFinite(says, "a move", move)
        seen = shown(g, at)
        reference, adam = adam_step(reference, seen, eta, *rest)
        moves.append(Move(g, at, move, seen, adam, reference.v == 0))
    return moves


def _with(setting: tuple, strength: str) -> str:
    names = ("eta", strength, "β_1", "β_2", "epsilon")
    return show_at(dict(zip(names, setting, strict=True)))


def _together(theta: np.ndarray, gamma: float) -> np.ndarray:
    """The gradient of γ Σ (θ_k − θ̄)²."""
    return 2 * gamma * (theta - theta.mean())


WARM = [(ON_THE_WAY, HISTORY[0], START, *setting) for setting in SETTINGS]
THREE = (np.array([0.5, -0.25, 1.0]), np.array([1.0, 0.5, 2.0]), 3)
WARM += [(THREE, np.array([1.0, -2.0, 0.5]), np.array([2.0, 1.0, -4.0]), *SETTINGS[0])]
WARM += [(THREE, np.array([1.0, -2.0, 0.5]), np.array([-2.0, 1.0, -4.0]), *SETTINGS[0])]
AdamStep = Annotated[FunctionAnswer, Function(samples=WARM)]


@exercise
def adam_l2_step(adam_l2_step: AdamStep) -> Verdict:
    """Write one step of Adam on L + γ Σ (θ_k − θ̄)²: the new state (m, v, t) and the move Δθ."""
    _moved(adam_l2_step, *WARM[0])
    for journey in cases(JOURNEYS, any_journey):
        gamma = journey.setting[1]
        gradient = lambda g, theta: g + _together(theta, gamma)  # noqa: B023, E731
        moves = _travel(adam_l2_step, journey, gradient, "γ")
        for t, move in enumerate(moves, start=1):
            at = where(
                f"With {_with(journey.setting, 'γ')}: in step {t}, at θ = {{}} with ∇L = {{}}, "
                "the gradient of the penalized loss is {}, and", move.theta, move.g, move.shown
            )  # fmt: skip
            if verdict := differs(
                move.adam, move.yours, at=at, what=ADAMS_MOVE, tolerance=journey.rounding
            ):
                return verdict
    return right()


HARDLY = 1e-6  # of η: a move so small that rounding may have made it, in either direction


def _decayed_where_it_helps(move: Move, eta: float, lamda: float) -> np.ndarray:
    """Adam's own move, and the decay of each parameter that it takes toward 0, or past it.

    Where Adam hardly moves, with the decay or without it, as the answer has it; a move of 0 by
    gradients of 0 is exact, and takes nothing toward 0.
    """
    entries = []
    for own, x, yours, at_rest in zip(
        *(a.tolist() for a in (move.adam, move.theta, move.yours, move.at_rest)), strict=True
    ):
        decayed = own - lamda * x
        helps = min(own, x) < 0 < max(own, x)
        if abs(own) <= HARDLY * eta and not at_rest:
            helps = abs(yours - decayed) < abs(yours - own)
        entries.append(decayed if helps else own)
    return np.array(entries)


@exercise
def adamw_step(adamw_step: AdamStep) -> Verdict:
    """Write one step of cautious AdamW: the new state (m, v, t) and the move Δθ."""
    _moved(adamw_step, *WARM[0])
    for journey in cases(JOURNEYS, any_journey):
        eta, lamda, *_ = journey.setting
        moves = _travel(adamw_step, journey, lambda g, theta: g, "λ")
        for t, move in enumerate(moves, start=1):
            at = where(
                f"With {_with(journey.setting, 'λ')}: in step {t}, at θ = {{}} with ∇L = {{}}, "
                "Adam's own move is {} and the decay, where there is one, −λθ = {}:",
                move.theta, move.g, move.adam, -lamda * move.theta,
            )  # fmt: skip
            both = _decayed_where_it_helps(move, eta, lamda)
            if verdict := differs(
                both, move.yours, at=at, what="the move", tolerance=journey.rounding
            ):
                return verdict
    return right()


# -- shrink rates, measured without noise: gradients +s, −s, +s, … have mean 0 and RMS s exactly --

SCALES = Formula(s_1=(0, 10), s_2=(0, 10))
OfScales = Annotated[FormulaAnswer, SCALES]
SMALL = 1e-5  # a penalty beside the gradients: the ratio of a run has five digits


def _shrink_rates(
    step: Callable, scales: Any, theta: Any = 1.0, eta: float = 1e-3, **strength: float
) -> np.ndarray:
    """The share of θ that the decay takes in one step, for gradients +s, −s, +s, … of scale s."""
    scales, steps = np.asarray(scales, dtype=float), 100

    def gradient(_: np.ndarray, t: int) -> np.ndarray:
        return scales * (-1) ** t

    start = np.full(scales.shape, theta)
    decayed = train(step, gradient, start, steps, eta=eta, **strength)[-1]
    free = train(step, gradient, start, steps, eta=eta, **dict.fromkeys(strength, 0.0))[-1]
    return (free - decayed) / (steps * start)


Points = list[dict[str, float]]


def any_scales(rng: np.random.Generator) -> Points:
    """Pairs of scales, far apart too."""
    drawn = [[magnitude(rng, 0.1, 100) * int(rng.integers(1, 10)) for _ in "12"] for _ in range(6)]
    return [{"s_1": s_1, "s_2": s_2} for s_1, s_2 in drawn]


@each([list(SCALES.points())], also=[any_scales])
def _ratio_off(
    name: str, ratio: FormulaAnswer, step: Callable, strength: dict[str, float], *, points
) -> Verdict | None:
    """Refuted by the first pair of scales at which the run says otherwise, or right."""
    rates = _shrink_rates(step, [[p["s_1"], p["s_2"]] for p in points], **strength)
    for point, (first, second) in zip(points, rates, strict=True):
        at = f"Under {name}, in a run with {show_at(point)},"
        yours = ratio(**point)
        if verdict := differs(first / second, yours, at=at, what="r_1/r_2", tolerance=1e-4):
            return verdict
    return None


def _is(ratio: FormulaAnswer, formula: str) -> bool:
    return SCALES.same(ratio, SCALES.read(formula, "the ratio"))


@exercise
def shrink_ratio(ratio_adam_l2: OfScales, ratio_adamw: OfScales) -> None:
    """Find the ratio of the shrink rates of two parameters under Adam-L2 and under AdamW."""


@shrink_ratio.part("Adam-L2", points=2)
def _under_l2(ratio_adam_l2: FormulaAnswer, ratio_adamw: FormulaAnswer | None = None) -> Verdict:
    if ratio_adamw and _is(ratio_adam_l2, "1") and _is(ratio_adamw, "s_2/s_1"):
        return wrong("this is the ratio under AdamW.", at="exchanged", yours=1)
    return _ratio_off("Adam-L2", ratio_adam_l2, optimizers.adam_l2_step, {"gamma": SMALL})


@shrink_ratio.part("AdamW")
def _under_adamw(ratio_adamw: FormulaAnswer, ratio_adam_l2: FormulaAnswer | None = None) -> Verdict:
    if ratio_adam_l2 and _is(ratio_adam_l2, "1") and _is(ratio_adamw, "s_2/s_1"):
        return wrong("this is the ratio under Adam-L2.", at="exchanged", yours=1)
    return _ratio_off("AdamW", ratio_adamw, optimizers.adamw_step, {"lamda": SMALL})


# -- statements: each is decided by a run ---------------------------------------------------------


def _sgd_is_the_same() -> tuple[bool, str]:
    def gradient(theta: np.ndarray, t: int) -> np.ndarray:
        return _slope(_loss, theta)

    far = []
    for eta in (0.05, 0.2):
        l2 = train(optimizers.sgd_l2_step, gradient, START, 20, eta=eta, gamma=0.01 / (2 * eta))
        decay = train(optimizers.sgd_decay_step, gradient, START, 20, eta=eta, lamda=0.01)
        far.append(np.abs(l2 - decay).max())
    return max(
        far
    ) < 1e-9, f"20 steps of both, with two step sizes, differ by at most {max(far):.6f}"


def _size_protects() -> tuple[bool, str]:
    small, large = (
        _shrink_rates(optimizers.adam_l2_step, 1.0, theta, 1e-4, gamma=1e-6) for theta in (1.0, 5.0)
    )
    seen = f"the larger one lost {large / small:.3f} times the share that the smaller one lost"
    return bool(large < 0.99 * small), f"of two parameters of sizes 1 and 5, {seen}"


def _adam_is_the_same() -> tuple[bool, str]:
    eta, lamda = 0.1, 0.01
    strengths = {"adam_l2_step": {"gamma": lamda / (2 * eta)}, "adamw_step": {"lamda": lamda}}
    ends = [
        train(getattr(optimizers, rule), lambda _, t: HISTORY[t - 1], START, 4, eta=eta, **strength)
        for rule, strength in strengths.items()
    ]
    far = np.abs(ends[0] - ends[1]).max()
    return bool(far < 1e-9), f"four steps from θ = {show(START)} end up to {far:.3f} apart"


def _scaled_history(c: float, _: np.ndarray, t: int) -> np.ndarray:
    return c * HISTORY[t - 1]


def _scale_matters_to_l2_alone() -> tuple[bool, str]:
    changes = []
    for rule, strength in (("adamw_step", {"lamda": 0.01}), ("adam_l2_step", {"gamma": 0.1})):
        plain, scaled = (
            train(
                getattr(optimizers, rule),
                partial(_scaled_history, c),
                START, 4, eta=0.1, epsilon=0.0, **strength,
            )
            for c in (1, 10)
        )  # fmt: skip
        changes.append(np.abs(plain - scaled).max())
    seen = f"AdamW's path changes by {changes[0]:.3f}, that of Adam-L2 by {changes[1]:.3f}"
    return bool(changes[0] < 1e-9 < changes[1]), seen


STATEMENTS = {
    "a": _sgd_is_the_same,
    "b": _size_protects,
    "c": _adam_is_the_same,
    "d": _scale_matters_to_l2_alone,
}
Truth = Annotated[str, Choice(("true", "false"))]


@cache
def _decided(name: str) -> tuple[bool, str]:
    """Is the statement true, and what did the run show?"""
    return STATEMENTS[name]()


def _truth(name: str, said: str) -> Verdict:
    holds, seen = _decided(name)
    return right() if said == str(holds).lower() else wrong(f"{seen}.")


@exercise
def statements(a_is: Truth, b_is: Truth, c_is: Truth, d_is: Truth) -> None:
    """Say of four statements whether they are true or false."""


statements.part("Statement (a)", lambda a_is: _truth("a", a_is))
statements.part("Statement (b)", lambda b_is: _truth("b", b_is))
statements.part("Statement (c)", lambda c_is: _truth("c", c_is))
statements.part("Statement (d)", lambda d_is: _truth("d", d_is))


# -- 3.6 ------------------------------------------------------------------------------------------


def _sizes(n: WeightDecay, lowered: bool) -> np.ndarray:
    """The step sizes of all steps: the peak throughout, or lowered in equal amounts."""
    return n.peak * (np.arange(n.steps, 0, -1) / n.steps if lowered else np.ones(n.steps))


def _shrunk(student: str, w: float, lowered: bool) -> Verdict:
    """Is the share left of a weight that gets no gradient, in steps θ ← θ − η_t w θ?"""
    n, theta = weight_decay(student), 1.0
    for eta in _sizes(n, lowered):
        if not 0 <= eta * w <= 1:
            says = f"a step of size {show(eta)} would take {show(eta * w)} of the weight."
            return wrong(says, at="no share", yours=w)
        _, move = optimizers.adamw_step(AdamState(), 0.0, theta, eta, lamda=eta * w)
        theta = theta + move
    if close(theta, n.left, 1e-4):
        return right()
    wanted, is_left = show_apart(n.left, theta)
    return wrong(f"{is_left} of the weight is left; it should be {wanted}.", at="left", yours=w)


@exercise(numbers=OwnNumbers(weight_decay, within=1e-4))
def scheduled_decay(student: StudentId, w_constant: RealNumber, w_lowered: RealNumber) -> None:
    """Find the decay that leaves your share of a weight, with a constant and a lowered step."""


scheduled_decay.part("Constant", lambda student, w_constant: _shrunk(student, w_constant, False))
scheduled_decay.part(
    "Lowered", lambda student, w_lowered: _shrunk(student, w_lowered, True), points=2
)


# -- 3.7 ------------------------------------------------------------------------------------------

SIGNED = Formula(eta=(0.01, 1), lamda=(0.01, 0.5), gamma=(0.05, 2), g=(0.5, 5))
OfSigned = Annotated[FormulaAnswer, SIGNED]


def any_signed(rng: np.random.Generator) -> Point:
    """Any strengths, and gradients of any size."""
    eta, lamda, gamma = (float(round(rng.uniform(0.02, 0.5), 2)) for _ in range(3))
    return {"eta": eta, "lamda": lamda, "gamma": gamma, "g": magnitude(rng, 0.1, 100)}


def _by_sign(point: Point, decoupled: bool) -> float:
    """How far a weight gets from 0 on a gradient that stays, moved only by the sign."""
    eta, lamda, gamma, g = (point[name] for name in ("eta", "lamda", "gamma", "g"))
    theta, step = 0.0, eta
    if decoupled:
        for _ in range(int(np.ceil(35 / lamda))):
            theta = (1 - lamda) * theta - eta * np.sign(g)
        return abs(theta)
    while g + 2 * gamma * theta > 0:  # longer steps at first, to be where it turns back
        theta, step = theta - step, 2 * step
    while step > 1e-12 * abs(theta):  # then finer and finer ones
        step /= 2
        theta -= step * np.sign(g + 2 * gamma * theta)
    return abs(theta)


@each(SIGNED.points, any_signed)
def _rests(limit: FormulaAnswer, decoupled: bool, *, point) -> Verdict | None:
    at = f"At {show_at(point)} the weight came to rest:"
    return differs(_by_sign(point, decoupled), limit(**point), at=at, what="|θ|")


@exercise
def sign_limits(decay_limit: OfSigned, l2_limit: OfSigned) -> None:
    """Find how far from 0 a weight gets that is moved only by signs, with decay and with L2."""


sign_limits.part("Decay", lambda decay_limit: _rests(decay_limit, decoupled=True))
sign_limits.part("L2", lambda l2_limit: _rests(l2_limit, decoupled=False))


# -- 3.8 ------------------------------------------------------------------------------------------

SCALED = Formula(c=(0.2, 20), eta=(0.01, 0.3), gamma=(0.01, 0.5))
OfScaled = Annotated[FormulaAnswer, SCALED]
SEEN = np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 0.25], [2.0, 1.0]])  # gradients of the old loss


def any_scaling(rng: np.random.Generator) -> Point:
    """The loss times any number."""
    times = magnitude(rng) * int(rng.integers(2, 10))
    eta, gamma = (float(round(rng.uniform(0.01, 0.3), 2)) for _ in range(2))
    return {"c": times, "eta": eta, "gamma": gamma}


def _path(step: Callable, times: float, eta: float, gamma: float) -> np.ndarray:
    """Where an optimizer goes with these gradients times a number."""
    more = {"epsilon": 0.0} if step is optimizers.adam_l2_step else {}
    return train(
        step, lambda theta, t: times * SEEN[t - 1], START, len(SEEN), eta=eta, gamma=gamma, **more
    )


@each(SCALED.points, any_scaling)
def _goes_the_same_way(
    step: Callable, eta: FormulaAnswer, gamma: FormulaAnswer, *, point
) -> Verdict | None:
    before = _path(step, 1.0, point["eta"], point["gamma"])
    after = _path(step, point["c"], eta(**point), gamma(**point))
    at = f"At {show_at(point)}, from θ = {show(START)} with four gradients,"
    return differs(before[1:], after[1:], at=at, what="the path")


@exercise
def scaled_loss(
    eta_sgd: OfScaled, gamma_sgd: OfScaled, eta_adam: OfScaled, gamma_adam: OfScaled
) -> None:
    """Find the η and γ with which SGD and Adam on c·L + γ‖θ‖² go the same way as before."""


@scaled_loss.part("SGD")
def _sgd_scaled(eta_sgd: FormulaAnswer, gamma_sgd: FormulaAnswer) -> Verdict:
    return _goes_the_same_way(optimizers.sgd_l2_step, eta_sgd, gamma_sgd)


@scaled_loss.part("Adam")
def _adam_scaled(eta_adam: FormulaAnswer, gamma_adam: FormulaAnswer) -> Verdict:
    return _goes_the_same_way(optimizers.adam_l2_step, eta_adam, gamma_adam)


# -- 3.9 ------------------------------------------------------------------------------------------

SLOPES = ("g", r"\frac{\partial L(\theta)}{\partial\theta}")
DECAY = Chain(
    r"\theta - \eta\frac{\partial}{\partial\theta}(L(\theta) + \gamma\|\theta\|^2)",
    where={"theta": vector("n"), "L": function(), "eta gamma": positive},
    given={"g": r"\frac{\partial L(\theta)}{\partial\theta}", "lamda": r"2\eta\gamma"},
    forms=Forms({r"\theta_t": "theta", r"\theta_i": "theta", "g_t": "g"}),
    free=["Derivative"],
    steps=[
        Milestone(
            "no line has the derivative of the penalty carried out",
            [Seen(like=rf"\theta - \eta({slope} + 2\gamma\theta)") for slope in SLOPES],
        )
    ],
    goal=[Seen(like=rf"(1-\lambda)\theta - \eta {slope}") for slope in SLOPES],
    not_there="the last one is not yet a step of weight decay, in θ, λ, η and the gradient.",
)


@exercise
def decay_by_lines(decay_lines: Annotated[list[Line], DECAY]) -> Verdict:
    """Derive weight decay with λ = 2ηγ from a step of SGD on L + γ‖θ‖², line by line."""
    return DECAY.judge(decay_lines, 2, "With SGD, L2 is weight decay.")
