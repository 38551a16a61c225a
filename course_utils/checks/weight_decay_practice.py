"""Unit 03: sister tasks for practice."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfcheck.practice import tenths, whole

from .. import optimizers
from ..optimizers import AdamState, adam_step
from . import weight_decay as check

HUNDREDTHS = [k / 100 for k in range(1, 30)]


def _gamma(lamda: float, eta: float, c: float) -> float:
    """What a penalty of strength 1 takes in a step of size 1 is compared with the decay."""
    slope = check._slope(lambda theta: c * theta @ theta, check.START)[0]
    return lamda * check.START[0] / (eta * slope)


check.equivalent_penalty.sister(
    r"SGD with step size $\eta = <eta>$ runs on $L + <c>\,\gamma\,\lVert\theta\rVert^2$. With "
    r"which "
    r"$\gamma$ is it SGD with weight decay $\theta \leftarrow (1-<lamda>)\,\theta - "
    r"\eta\nabla L$?",
    _gamma,
    lamda=HUNDREDTHS,
    eta=[0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
    c=tenths(1, 40),
)


def _state(rng: np.random.Generator) -> dict:
    half = lambda: whole(rng, 2, largest=4) / 2  # noqa: E731
    return {
        "m": half(),
        "v": np.abs(half()) + 0.5,
        "t": int(rng.integers(1, 4)),
        "g": half(),
        "theta": half(),
        "eta": float(rng.choice([0.1, 0.5, 1.0])),
        "strength": float(rng.choice([0.1, 0.2, 0.25, 0.5])),
    }


ADAM = (
    r"Adam ($\beta_1 = \beta_2 = \frac12$, $\varepsilon = 0$, $\eta = <eta>$) has $m = <m>$, $v = "
    r"<v>$ "
    r"after $t = <t>$ steps. At $\theta = <theta>$ the gradient is $\nabla L = <g>$. "
)


def _toward(m, v, t, g, theta, eta, strength, goal) -> np.ndarray:
    seen = g + 2 * strength * (theta - goal)
    return adam_step(AdamState(m, v, t), seen, eta, 0.5, 0.5, 0.0)[1]


check.adam_l2_step.sister(
    ADAM + r"The loss has the penalty $<strength>\sum_k (\theta_k - <goal>)^2$, which $\nabla L$ "
    r"does not "
    r"have yet. What is the move $\Delta\theta$ of the next step? Three digits are enough.",
    _toward,
    lambda rng: {**_state(rng), "goal": int(rng.integers(-3, 4))},
)


def _cautious(m, v, t, g, theta, eta, strength) -> np.ndarray:
    adam = adam_step(AdamState(m, v, t), g, eta, 0.5, 0.5, 0.0)[1]
    move = check.Move(g, theta, adam, g, adam)
    return check._decayed_where_it_helps(move, eta, strength)


check.adamw_step.sister(
    ADAM + r"Cautious AdamW adds $-\lambda\theta_k$ with $\lambda = <strength>$ where Adam's own "
    r"move is "
    r"toward 0. What is the move $\Delta\theta$ of the next step? Three digits are enough.",
    _cautious,
    _state,
)


def _ratios(s_1: float, s_2: float) -> dict:
    rules: dict[str, Any] = {"adam_l2": (optimizers.adam_l2_step, {"gamma": check.SMALL})}
    rules["adamw"] = optimizers.adamw_step, {"lamda": check.SMALL}
    rules["sgd_l2"] = optimizers.sgd_l2_step, {"gamma": check.SMALL}
    rates = {
        name: check._shrink_rates(rule, [s_1, s_2], **how) for name, (rule, how) in rules.items()
    }
    return {name: float(first / second) for name, (first, second) in rates.items()}


check.shrink_ratio.sister(
    r"Two parameters have gradients of mean 0 and root mean squares $s_1 = <s_1>$ and $s_2 = "
    r"<s_2>$. How "
    r"many times as large is the shrink rate of the first as that of the second, under Adam-L2, "
    r"under "
    r"AdamW and under SGD on $L + \gamma\lVert\theta\rVert^2$? Three digits are enough.",
    _ratios,
    s_1=tenths(1, 99),
    s_2=tenths(1, 99),
)
check.scheduled_decay.sister(
    r"A weight gets no gradient: each step is $\theta \leftarrow \theta - \eta_t w\,\theta$. "
    r"After <steps> "
    r"steps <left> of it is to be left. With which $w$ is it, if every $\eta_t$ is <peak>; and "
    r"with which, "
    r"if $\eta_t$ falls from <peak> in <steps> equal amounts toward 0? Give five digits.",
    needs=lambda n: {"steps": n.steps, "peak": n.peak, "left": n.left},
)


def _limits(eta: float, lamda: float, gamma: float, g: float) -> dict:
    point = {"eta": eta, "lamda": lamda, "gamma": gamma, "g": g}
    return {"decay_limit": check._by_sign(point, True), "l2_limit": check._by_sign(point, False)}


check.sign_limits.sister(
    r"A weight is moved only by signs, $\eta = <eta>$, on a gradient that stays $<g>$. How far "
    r"from 0 does "
    r"it get with decay $\lambda = <lamda>$ a step, and how far with the penalty "
    r"$<gamma>\,\theta^2$ in the "
    r"loss (in the limit of small steps)? Three digits are enough.",
    _limits,
    eta=HUNDREDTHS,
    lamda=[0.05, 0.1, 0.2, 0.25, 0.4],
    gamma=tenths(1, 20),
    g=tenths(5, 50),
)
check.decay_by_lines.sister(
    r"A weight is $\theta = <theta>$, the gradient of the loss there $<g>$. Which `weight` "
    r"does a step of SGD on "
    r"$L + <gamma>\,\theta^2$ with $\eta = <eta>$ lead to, and which decay `lamda` does the "
    r"same? Three digits "
    r"are enough.",
    lambda theta, g, gamma, eta: {
        "weight": theta - eta * (g + 2 * gamma * theta),
        "lamda": 2 * eta * gamma,
    },
    theta=tenths(11, 50),
    g=tenths(2, 30),
    gamma=[0.01, 0.02, 0.05],
    eta=[0.1, 0.2, 0.4],
)
check.statements.sister(
    r"Gradients have the root mean square $<s>$, much more than the penalty adds. Now the loss is "
    r"multiplied by $<c>$, and nothing else changes. Which share of itself does a weight lose in a "
    r"step then: under Adam-L2 with $\eta = <eta>$ and $\gamma = <gamma>$ (`l2`), and under AdamW "
    r"with $\lambda = <lamda>$ (`adamw`)? Three digits are enough.",
    lambda s, c, eta, gamma, lamda: {"l2": 2 * eta * gamma / (c * s), "adamw": lamda},
    s=tenths(5, 40),
    c=range(2, 11),
    eta=[0.001, 0.002, 0.005, 0.01],
    gamma=HUNDREDTHS,
    lamda=[0.001, 0.002, 0.005, 0.01, 0.02],
)
check.scaled_loss.sister(
    r"You train on $L + <gamma>\,\lVert\theta\rVert^2$ with $\eta = <eta>$, and a colleague on "
    r"$<c>\,L$ and a penalty. Which step size and which $\gamma$ make her steps yours: with SGD "
    r"(`sgd_step`, `sgd_gamma`), and with Adam (`adam_step`, `adam_gamma`)? Three digits are "
    r"enough.",
    lambda c, eta, gamma: {
        "sgd_step": eta / c,
        "sgd_gamma": c * gamma,
        "adam_step": eta,
        "adam_gamma": c * gamma,
    },
    c=[4, 8, 16, 20, 25, 32, 50, 64, 100, 128],
    eta=[0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1],
    gamma=HUNDREDTHS,
)
