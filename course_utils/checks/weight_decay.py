"""Unit 03: L2 is not weight decay, except for SGD."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Any

import numpy as np

from .. import optimizers
from ..answers import (
    Choice,
    Formula,
    FormulaAnswer,
    Function,
    FunctionAnswer,
    Unreadable,
    as_array,
    close,
    show,
    show_apart,
    show_at,
)
from ..exercise import Exercise, Recognized, Verdict, exercise, partly, right, wrong
from ..optimizers import AdamState, adam_step, train

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


@exercise("3.1", points=2)
def equivalent_penalty(gamma: Annotated[FormulaAnswer, LAMBDA_ETA]) -> Verdict:
    """Find γ in λ and η so that SGD on L + γ‖θ‖² and SGD with weight decay λ are the same."""
    for point in LAMBDA_ETA.points():
        strength = gamma(**point)
        penalized = _slope(partial(_penalized, gamma=strength), START)
        l2 = START - point["eta"] * penalized
        decay = (1 - point["lamda"]) * START - point["eta"] * _slope(_loss, START)
        if not close(l2, decay):
            return wrong(
                f"At {show_at(point)} your γ is {show(strength)}. From θ = {show(START)}, weight "
                f"decay goes to {show(decay)}, SGD on L + γ‖θ‖² to {show(l2)} (with "
                "L = (θ_1 − 1)²/2 + (θ_2 + 3)²)."
            )
    return right("Both ran from the same point at 12 pairs (λ, η) and arrived at the same place.")


equivalent_penalty.add_hints(
    "Write one step of SGD on L + γ‖θ‖². What is the derivative of γθ² with respect to θ?",
    "Collect everything that multiplies θ. It has to be the 1 − λ of weight decay.",
)

equivalent_penalty.mistake(
    "the 2 lost",
    "The gradient of γ‖θ‖² is 2γθ, not γθ: the square brings a factor 2 down.",
    example=("lamda/eta",),
)
equivalent_penalty.mistake(
    "γ = λ",
    "λ is the share of θ that goes in one step. The penalty reaches θ only through its "
    "gradient 2γθ, multiplied by the step size η.",
    example=("lamda",),
)
equivalent_penalty.mistake(
    "the step size lost",
    "SGD multiplies the whole gradient by η, that of the penalty too: the shrinking of a "
    "step is 2ηγ.",
    example=("lamda/2",),
)
equivalent_penalty.mistake(
    "solved for λ",
    "λ = 2ηγ is the right relation; asked is γ, so solve it for γ.",
    example=("2*eta*lamda",),
)
equivalent_penalty.mistake(
    "multiplied by η",
    "λ = 2ηγ. To have γ alone, divide by η: the smaller the step size, the stronger the "
    "penalty has to be for the same decay.",
    example=("lamda*eta/2",),
)
equivalent_penalty.mistake(
    "2 on the wrong side",
    "The 2 of the gradient 2γθ multiplies γ, so it divides λ.",
    example=("2*lamda/eta",),
)
equivalent_penalty.mistake(
    "a sign lost",
    "A negative γ would reward large parameters. The minus sign is already in "
    "θ ← θ − η · gradient.",
    example=("-lamda/(2*eta)",),
)


# -- Adam, by its definition and with its well-known slips ----------------------------------------

HISTORY = np.array([[1.0, 0.01], [-2.0, 0.02], [0.5, -0.01], [3.0, 0.03]])
SETTINGS = [  # η, strength, β₁, β₂, ε: round numbers first, then Adam's usual ones
    (1.0, 0.25, 0.5, 0.5, 1.0),
    (0.1, 0.5, 0.9, 0.999, 1e-8),
    (0.01, 2.0, 0.8, 0.99, 1e-4),
]
FRESH = (np.zeros(2), np.zeros(2), 0)
Run = list[tuple[np.ndarray, np.ndarray, np.ndarray]]  # gradient, θ before, move


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


@np.errstate(all="ignore")
def _run(step: FunctionAnswer, setting: tuple, gradient: Callable, steps: int = 4) -> Run:
    """Some steps of a student's rule, each from where the one before has led."""
    state, theta, seen = FRESH, START, []
    for t in range(steps):
        g = gradient(theta, t)
        state, move = _moved(step, state, g, theta, *setting)
        seen.append((g, theta, move))
        theta = theta + move
    return seen


def _given(theta: np.ndarray, t: int) -> np.ndarray:
    return HISTORY[t]


def _noisy_loss(t: int, gamma: float = 0.0) -> Callable[[np.ndarray], float]:
    """The loss that the batch of step t shows, penalized if γ is not 0."""
    return lambda theta: _loss(theta) + HISTORY[t] @ theta + gamma * theta @ theta


@np.errstate(all="ignore")
def _adam_moves(gradients: Iterable[np.ndarray], setting: tuple) -> list[np.ndarray]:
    """Plain Adam on these gradients, from a cold start."""
    eta, _, *rest = setting
    state, moves = AdamState(), []
    for g in gradients:
        state, move = adam_step(state, g, eta, *rest)
        moves.append(move)
    return moves


def _with(setting: tuple, strength: str) -> str:
    return show_at(dict(zip(("eta", strength, "β_1", "β_2", "epsilon"), setting, strict=True)))


@exercise("3.2", points=3)
def adam_l2_step(adam_l2_step: Annotated[FunctionAnswer, Function()]) -> Verdict:
    """Write one step of Adam on L + γ‖θ‖²: the new state (m, v, t) and the move Δθ."""
    for setting in SETTINGS:
        seen = _run(adam_l2_step, setting, lambda theta, t: _slope(_noisy_loss(t), theta))
        penalized = [
            _slope(_noisy_loss(t, gamma=setting[1]), theta)
            for t, (_, theta, _) in enumerate(seen)
            if np.isfinite(theta).all()
        ]
        for t, expected in enumerate(_adam_moves(penalized, setting)):
            g, theta, move = seen[t]
            if not close(move, expected):
                adam, yours = show_apart(expected, move)
                return wrong(
                    f"With {_with(setting, 'gamma')}: in step {t + 1}, at θ = {show(theta)} with "
                    f"∇L = {show(g)}, the gradient of L + γ‖θ‖² by finite differences is "
                    f"{show(penalized[t])}, and Adam moves by {adam}; yours moves by {yours}."
                )
    return right(
        "In 3 settings your steps are those of Adam on the penalized loss, whose gradient was "
        "taken by finite differences."
    )


adam_l2_step.add_hints(
    "Adam on another loss is still Adam: only the gradient that goes in is another one.",
    "What is the gradient of γ‖θ‖²? Add it to g in the first line, before m and v see it.",
    "Then the five lines of Adam: m, v, t, the two corrected copies, the move.",
)

adam_l2_step.forbid("optimizers.adam_l2_step", "optimizers.adamw_step", "optimizers.adam_step")


def _moves_like(known: Callable) -> Callable[[FunctionAnswer], bool]:
    """A predicate: the answer makes the moves of this function, whatever its state looks like."""

    def alike(step: FunctionAnswer) -> bool:
        other = FunctionAnswer(known, "known")
        return all(
            np.array_equal(np.isfinite(a), np.isfinite(b))
            and close(np.nan_to_num(a), np.nan_to_num(b))
            for setting in SETTINGS
            for (_, _, a), (_, _, b) in zip(
                _run(step, setting, _given), _run(other, setting, _given), strict=True
            )
        )

    return alike


def _moving_like(step: Callable) -> Recognized:
    return {"example": (step,), "when": _moves_like(step)}


def _adam(
    penalty: Callable = lambda theta, c: 0.0,
    decay: Callable = lambda theta, eta, c: 0.0,
    corrected: bool = True,
    root: Callable = lambda v, epsilon: np.sqrt(v) + epsilon,
    first: int = 1,
    sign: int = -1,
    penalty_in_v: bool = True,
) -> Callable:
    """Adam with one thing changed: the family to which most wrong answers belong."""

    def step(state, g, theta, eta, c, beta1, beta2, epsilon):
        m, v, t = state
        whole = g + penalty(theta, c)
        m = beta1 * m + (1 - beta1) * whole
        v = beta2 * v + (1 - beta2) * (whole if penalty_in_v else g) ** 2
        k = t + first
        m_hat, v_hat = (m / (1 - beta1**k), v / (1 - beta2**k)) if corrected else (m, v)
        return (m, v, t + 1), sign * eta * m_hat / root(v_hat, epsilon) + decay(theta, eta, c)

    return step


adam_l2_step.mistake(
    "the 2 lost",
    "The gradient of γ‖θ‖² is 2γθ, not γθ.",
    **_moving_like(_adam(penalty=lambda theta, c: c * theta)),
)


def _shrink(theta: np.ndarray, eta: float, c: float) -> np.ndarray:
    return -c * theta


adam_l2_step.mistake(
    "decoupled decay where L2 was asked",
    "That is the idea of AdamW: θ shrinks beside the averages. With an L2 penalty, 2γθ is "
    "part of the gradient, and goes through m and v like the rest of it.",
    **_moving_like(_adam(decay=_shrink)),
)
adam_l2_step.mistake(
    "2γθ subtracted beside the averages",
    "For SGD that would be the same. Adam divides the gradient by √v̂, so it matters that "
    "the penalty enters before m and v.",
    **_moving_like(_adam(decay=lambda theta, eta, c: -2 * eta * c * theta)),
)


def _l2(theta: np.ndarray, c: float) -> np.ndarray:
    return 2 * c * theta


adam_l2_step.mistake(
    "the penalty left out of v",
    "v averages the square of the whole gradient of L + γ‖θ‖², penalty included.",
    **_moving_like(_adam(penalty=_l2, penalty_in_v=False)),
)
adam_l2_step.mistake(
    "the penalty with the wrong sign",
    "The penalty is added to the loss, so its gradient is added to g.",
    **_moving_like(_adam(penalty=lambda theta, c: -2 * c * theta)),
)
adam_l2_step.mistake(
    "no penalty at all",
    "That is plain Adam on L. The gradient of γ‖θ‖² is still missing.",
    **_moving_like(_adam()),
)


def _inside(v: np.ndarray, epsilon: float) -> np.ndarray:
    return np.sqrt(v + epsilon)


EPSILON_INSIDE = (
    "ε inside the root",
    "Adam divides by √v̂ + ε. Inside the root, ε = 1e−8 acts like 1e−4, and parameters with small "
    "gradients hardly move.",
)
NO_CORRECTION = (
    "bias correction forgotten",
    "m and v start from 0 and are too small at first, v much longer than m. Divide copies of them "
    "by 1 − β_1ᵗ and 1 − β_2ᵗ; the state keeps the raw ones.",
)
FROM_ZERO = (
    "t counted from 0",
    "In the first step t is 1: add 1 to it before you use it. With t = 0 the corrections divide "
    "by 0.",
)
UPHILL = ("the sign of the move", "The move goes against the gradient: it starts with −η.")


def _slips(exercise: Exercise, **same: Any) -> None:
    """The slips that can happen in any kind of Adam."""
    exercise.mistake(*EPSILON_INSIDE, **_moving_like(_adam(root=_inside, **same)))
    exercise.mistake(*NO_CORRECTION, **_moving_like(_adam(corrected=False, **same)))
    exercise.mistake(*FROM_ZERO, **_moving_like(_adam(first=0, **same)))
    exercise.mistake(*UPHILL, **_moving_like(_adam(sign=1, **same)))


_slips(adam_l2_step, penalty=_l2)


@exercise("3.3", points=3)
def adamw_step(adamw_step: Annotated[FunctionAnswer, Function()]) -> Verdict:
    """Write one step of AdamW: the new state (m, v, t) and the move Δθ."""
    for setting in SETTINGS:
        lamda = setting[1]
        _, still = _moved(adamw_step, FRESH, np.zeros(2), START, *setting)
        if not close(START + still, (1 - lamda) * START):
            return wrong(
                f"With {_with(setting, 'lamda')} and a first gradient of 0, θ = {show(START)} "
                f"should become (1 − λ)θ = {show((1 - lamda) * START)}; with your move it becomes "
                f"{show(START + still)}."
            )
        without = (setting[0], 0.0, *setting[2:])
        plain = _run(adamw_step, without, _given)
        for t, expected in enumerate(_adam_moves(HISTORY, without)):
            if not close(plain[t][2], expected):
                adam, yours = show_apart(expected, plain[t][2])
                return wrong(
                    f"With {_with(without, 'lamda')} there is no decay, and after the gradients "
                    f"{show(HISTORY[: t + 1])} Adam moves by {adam}; yours moves by {yours}."
                )
        decaying = _run(adamw_step, setting, _given)
        for t, ((_, theta, move), (_, _, bare)) in enumerate(zip(decaying, plain, strict=True)):
            if not close(move - bare, -lamda * theta):
                return wrong(
                    f"With {_with(setting, 'lamda')}, after the gradients "
                    f"{show(HISTORY[: t + 1])} the decay has changed your move by "
                    f"{show(move - bare)} at θ = {show(theta)}. It should be −λθ = "
                    f"{show(-lamda * theta)}, whatever the gradients were."
                )
    return right(
        "In 3 settings: without a gradient θ shrinks by exactly 1 − λ, without decay the steps are "
        "Adam's, and the decay does not depend on the gradients."
    )


adamw_step.add_hints(
    "The averages m and v never hear of the decay: they see g alone.",
    "Take Adam's move, and let θ lose the share λ of itself beside it.",
)

adamw_step.forbid("optimizers.adamw_step", "optimizers.adam_l2_step", "optimizers.adam_step")

adamw_step.mistake(
    "L2 where decay was asked",
    "Here 2λθ went into the gradient and was divided by √v̂ with it: that is Adam-L2. AdamW "
    "leaves g alone and shrinks θ directly.",
    **_moving_like(_adam(penalty=_l2)),
)
adamw_step.mistake(
    "λθ added to the gradient",
    "Whatever joins the gradient is divided by √v̂. AdamW leaves g alone and shrinks θ directly.",
    **_moving_like(_adam(penalty=lambda theta, c: c * theta)),
)
adamw_step.mistake(
    "the decay multiplied by η",
    "Here λ is the whole share that goes in one step, as in θ ← (1−λ)θ − η∇L. Some "
    "libraries call something else weight decay, and multiply it by the step size.",
    **_moving_like(_adam(decay=lambda theta, eta, c: -eta * c * theta)),
)
adamw_step.mistake(
    "twice the decay",
    "The 2 belongs to the gradient of a penalty. Weight decay has none: θ loses λθ.",
    **_moving_like(_adam(decay=lambda theta, eta, c: -2 * c * theta)),
)
adamw_step.mistake(
    "growth in place of decay",
    "θ shrinks: the decay contributes −λθ to the move.",
    **_moving_like(_adam(decay=lambda theta, eta, c: c * theta)),
)
adamw_step.mistake(
    "the new parameters in place of the move",
    "(1−λ)θ plus Adam's move is the new θ. Asked is the move Δθ, the new θ minus the old.",
    **_moving_like(_adam(decay=lambda theta, eta, c: (1 - c) * theta)),
)


def _decay_last(state, g, theta, eta, c, *rest):
    state, move = _adam()(state, g, theta, eta, c, *rest)
    return state, move - c * (theta + move)


adamw_step.mistake(
    "the decay taken after the move",
    "Here Adam's own move is shrunk too. In (1−λ)θ − η m̂/(√v̂ + ε) the decay takes its "
    "share of the old θ alone.",
    **_moving_like(_decay_last),
)
adamw_step.mistake(
    "no decay at all",
    "That is plain Adam; θ itself has to shrink too.",
    **_moving_like(_adam()),
)
_slips(adamw_step, decay=_shrink)


# -- shrink rates, measured without noise: gradients +s, −s, +s, … have mean 0 and RMS s exactly --

SCALES = Formula(s_1=(0, 10), s_2=(0, 10))


def _shrink_rates(step: Callable, scales: Any, theta: Any = 1.0, **strength: float) -> np.ndarray:
    """The share of θ that the decay takes in one step, for gradients +s, −s, +s, … of scale s."""
    scales, steps = np.asarray(scales, dtype=float), 100

    def gradient(_: np.ndarray, t: int) -> np.ndarray:
        return scales * (-1) ** t

    start = np.full(scales.shape, theta)
    decayed = train(step, gradient, start, steps, eta=1e-4, **strength)[-1]
    free = train(step, gradient, start, steps, eta=1e-4, **dict.fromkeys(strength, 0.0))[-1]
    return (free - decayed) / (steps * start)


@exercise("3.4", points=3)
def shrink_ratio(
    adam_l2: Annotated[FormulaAnswer, SCALES], adamw: Annotated[FormulaAnswer, SCALES]
) -> Verdict:
    """Find the ratio of the shrink rates of two parameters under Adam-L2 and under AdamW."""
    rules: dict[str, tuple[FormulaAnswer, Callable, dict[str, float]]] = {
        "Adam-L2": (adam_l2, optimizers.adam_l2_step, {"gamma": 1e-5}),
        "AdamW": (adamw, optimizers.adamw_step, {"lamda": 1e-5}),
    }
    refuted = {name: _refuted_ratio(name, *rule) for name, rule in rules.items()}
    says = [sentence for sentence in refuted.values() if sentence]
    if not says:
        return right("Runs at 12 pairs (s_1, s_2) shrink at the ratios you gave, under both.")
    found = [name for name, sentence in refuted.items() if not sentence]
    says += [f"Your ratio for {name} is right." for name in found]
    return partly({"Adam-L2": 2, "AdamW": 1}[found[0]] if found else 0, " ".join(says))


shrink_ratio.add_hints(
    "The decay's part of the move is η · 2γθ/√v̂ under Adam-L2. Which part of it differs "
    "between the two parameters?",
    "If the data dominate, v̂ is the mean square of the gradients, so √v̂ is their RMS.",
    "In AdamW, is there anything in −λθ that knows of the gradients?",
)


def _answers(ratio: str) -> Callable[..., bool]:
    """A predicate: the ratio under Adam-L2 is this one."""
    return lambda adam_l2, adamw: SCALES.same(adam_l2, SCALES.read(ratio, "the ratio"))


shrink_ratio.mistake(
    "upside down",
    "The pull of the penalty is divided by √v̂: a parameter with large gradients is "
    "regularized less, not more.",
    example=("s_1/s_2", "1"),
    when=_answers("s_1/s_2"),
)
shrink_ratio.mistake(
    "v̂ in place of its root",
    "v̂ is the mean square of the gradients. Adam divides by its root, the RMS.",
    example=("(s_2/s_1)**2", "1"),
    when=_answers("(s_2/s_1)**2"),
)
shrink_ratio.mistake(
    "a root too many",
    "s is the RMS already, the root of the mean square: √v̂ = s.",
    example=("sqrt(s_2/s_1)", "1"),
    when=_answers("sqrt(s_2/s_1)"),
)
shrink_ratio.mistake(
    "Adam-L2 taken for SGD",
    "With SGD both would shrink alike. Adam-L2 sends the penalty through the division by "
    "√v̂, which differs between the two.",
    example=("1", "1"),
    when=_answers("1"),
)
shrink_ratio.mistake(
    "AdamW taken for Adam-L2",
    "AdamW shrinks θ by λθ beside the averages. No √v̂ touches it.",
    example=("s_2/s_1", "s_2/s_1"),
    when=lambda adam_l2, adamw: SCALES.same(adam_l2, adamw),
)


def _refuted_ratio(name: str, ratio: FormulaAnswer, step: Callable, strength: dict) -> str:
    """The first pair of scales at which the run says otherwise, in a sentence; "" if none does."""
    points = list(SCALES.points())
    rates = _shrink_rates(step, [[p["s_1"], p["s_2"]] for p in points], **strength)
    for point, (first, second) in zip(points, rates, strict=True):
        if not close(ratio(**point), first / second, tolerance=1e-3):
            return (
                f"Under {name}, with {show_at(point)}, the first parameter shrank "
                f"{first / second:.3f} times as fast as the second; you gave "
                f"{show(ratio(**point))}."
            )
    return ""


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
        _shrink_rates(optimizers.adam_l2_step, 1.0, theta, gamma=1e-6) for theta in (1.0, 5.0)
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


@exercise("3.5", points=2)
def statements(
    a: Truth,
    b: Truth,
    c: Truth,
    d: Truth,
) -> Verdict:
    """Say of four statements whether they are true or false."""
    said = dict(zip(STATEMENTS, (a, b, c, d), strict=True))
    facts = {name: run() for name, run in STATEMENTS.items()}
    missed = [name for name, (holds, _) in facts.items() if said[name] != str(holds).lower()]
    if not missed:
        return right("All four are as the runs say.")
    runs = " ".join(f"Statement ({name}): {facts[name][1]}." for name in missed)
    return partly(int(len(missed) == 1), f"{4 - len(missed)} of 4 are as the runs say. {runs}")


statements.add_hints(
    "Every statement can be tried: `course_utils.optimizers` has all the rules, and `train` "
    "runs them.",
    "Ask of each statement: what is divided by √v̂ here, and what is √v̂ made of?",
)

statements.mistake(
    "size in place of gradient scale",
    "√v̂ is made of gradients. Two parameters with the same gradients lose the same share "
    "of themselves, whatever their sizes.",
    example=("true", "true", "false", "true"),
    when=lambda a, b, c, d: b == "true",
)
statements.mistake(
    "the recipe of SGD carried over to Adam",
    "λ = 2ηγ was derived for a rule that uses the gradient as it is. Adam divides the "
    "penalty by √v̂, so no single γ does for all parameters.",
    example=("true", "false", "true", "true"),
    when=lambda a, b, c, d: c == "true",
)
statements.mistake(
    "SGD taken for Adam",
    "For SGD, collecting the terms in θ gives (1 − 2ηγ)θ: with constant η the two are one.",
    example=("false", "false", "false", "true"),
    when=lambda a, b, c, d: a == "false",
)
statements.mistake(
    "the scale of the loss taken to matter alike",
    "m̂/√v̂ does not change when all gradients are multiplied by 10, and λθ has no gradient "
    "in it. But 2γθ stays what it was while √v̂ has become ten times larger.",
    example=("true", "false", "false", "false"),
    when=lambda a, b, c, d: d == "false",
)
