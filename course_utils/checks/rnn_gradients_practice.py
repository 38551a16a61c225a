"""Unit 01: sister tasks for practice."""

from __future__ import annotations

from functools import partial

import numpy as np

from selfcheck.practice import tenths, whole

from ..rnn import ACTIVATIONS, finite_differences, spectral_norm
from . import rnn_gradients as check

SMOOTH = ["tanh", "sigmoid", "SiLU", "softplus"]


def _small(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return whole(rng, *shape, largest=9) / 5


def _leaky(W: np.ndarray, a: np.ndarray, sigma: str, keep: float) -> np.ndarray:
    sigma_of = partial(check._next_output, W, a, ACTIVATIONS[sigma])
    return keep * np.eye(len(a)) + finite_differences(sigma_of, 0 * a)


def _drawn_leaky(rng: np.random.Generator) -> dict:
    n = int(rng.integers(1, 3))
    keep, sigma = float(rng.integers(1, 10)) / 10, SMOOTH[rng.integers(4)]
    return {"W": whole(rng, n, n), "a": _small(rng, n), "sigma": sigma, "keep": keep}


check.jacobian.sister(
    r"A network keeps a part of what it was: $g_t = <keep>\,g_{t-1} + \sigma(W g_{t-1} + z_t)$, "
    r"where "
    r"$\sigma$ is <sigma>. Here $W = <W>$ and $a = W g_{t-1} + z_t = <a>$. What is "
    r"$\partial g_t/\partial g_{t-1}$? Three digits are enough.",
    _leaky,
    _drawn_leaky,
)


def _way(rng: np.random.Generator) -> dict:
    return {
        "W": whole(rng, 2, 2),
        "h_0": _small(rng, 2),
        "h_1": _small(rng, 2),
        "h_2": _small(rng, 2),
        "sigma": SMOOTH[rng.integers(4)],
        "which": ["b", "h_0"][rng.integers(2)],
    }


def _through_two(W, h_0, h_1, h_2, sigma, which) -> np.ndarray:
    hs, prime = np.array([h_0, h_1, h_2]), ACTIVATIONS[sigma].prime
    if which == "b":
        return check.over_all_ways(W, hs, prime)
    return check.jacobians(W, hs, prime)[-1]


check.jacobian_product.sister(
    r"The network $h_t = W\sigma(h_{t-1}) + x_t + b$ with $\sigma$ = <sigma> and $W = <W>$ went "
    r"through $h_0 = <h_0>$, $h_1 = <h_1>$ and $h_2 = <h_2>$. What is "
    r"$\partial h_2/\partial <which>$? Three digits are enough.",
    _through_two,
    _way,
)
check.slope_bounds.sister(
    r"What is the least $\gamma$ with $|f'(x)| \le \gamma$ for all $x$, if $f(x) = "
    r"<a>\,\sigma(<b>x)$ "
    r"and $\sigma$ is <sigma>? Three digits are enough.",
    lambda a, b, sigma: a * b * np.abs(ACTIVATIONS[sigma].prime(check.GRID)).max(),
    a=tenths(2, 40),
    b=tenths(2, 30),
    sigma=["tanh", "sigmoid", "SiLU", "softplus", "ReLU"],
)
check.gradient_bound.sister(
    r"Slopes are at most $\gamma = <gamma>$ in size, and $W = <W>$. Which bound on "
    r"$\lVert\partial h_{<T>}/\partial h_0\rVert_2$ do all networks with this $\gamma$ and this "
    r"$\lVert W\rVert_2$ keep, and some of them reach? Three digits are enough.",
    lambda W, gamma, T: (gamma * spectral_norm(W)) ** T,
    W="nn",
    gamma=[0.25, 0.5, 1.1, 2.0],
    T=range(2, 5),
)


def _long_run(W: np.ndarray) -> dict:
    return {"norm": spectral_norm(W), "factor": float(np.abs(np.linalg.eigvals(W)).max())}


check.forgetful.sister(
    r"The linear network $h_t = W h_{t-1} + x_t$ has $W = <W>$. What is `norm`, $\lVert "
    r"W\rVert_2$, "
    r"and by which `factor` does an error in $h_0$ grow a step in the long run (it forgets "
    r"if that "
    r"is below 1)? Three digits are enough.",
    _long_run,
    lambda rng: {"W": np.linalg.qr(rng.normal(size=(2, 2)))[0].round(1) @ _small(rng, 2, 2)},
    within=4e-3,
)


def _gated(rng: np.random.Generator) -> dict:
    n = int(rng.integers(1, 3))
    W_f, W_c = whole(rng, n, n, largest=2), whole(rng, n, n, largest=2)
    return {
        "h": _small(rng, n),
        "W_f": W_f,
        "x_f": _small(rng, n),
        "W_c": W_c,
        "x_c": _small(rng, n),
    }


check.gated_jacobian.sister(
    r"One gated step, $f\odot h + (1-f)\odot c$ with $f = \operatorname{sigmoid}(W_f h + "
    r"x_f)$ and "
    r"$c = \tanh(W_c h + x_c)$, at $h = <h>$ with $W_f = <W_f>$, $x_f = <x_f>$, $W_c = <W_c>$, "
    r"$x_c = <x_c>$. What is its Jacobian with respect to $h$? Three digits are enough.",
    lambda h, **rest: finite_differences(partial(check.gated_step, **rest), h, eps=1e-5),
    _gated,
)
check.gate_bias.sister(
    r"A gate $\operatorname{sigmoid}(b)$ multiplies a gradient once a step. With which bias "
    r"$b$ is "
    r"<share> of it left after <steps> steps, and after how many steps is less than "
    r"$10^{-3}$ of it left for the first time?",
    needs=lambda n: {"steps": n.steps, "share": n.share},
)


def _stretched(W: np.ndarray, gamma: float, a: float, T: int) -> dict:
    network = check.Residual(W, gamma, a, T, True)
    return {"least": network.reached("least"), "most": network.reached("most")}


check.residual_bounds.sister(
    r"$T = <T>$ steps $h_t = h_{t-1} + <a>\,W\sigma(h_{t-1})$ with $|\sigma'| \le <gamma>$ and "
    r"$W = <W>$. What can they make of a nudge of length 1, at the `least` and at the `most`? "
    r"Three digits are enough.",
    _stretched,
    lambda rng: {
        "W": (lambda A: A + A.T)(whole(rng, 2, 2)),
        "gamma": float(rng.choice([0.25, 0.5, 1.0])),
        "a": float(rng.choice([0.05, 0.1, 0.2])),
        "T": int(rng.integers(2, 5)),
    },
)
check.bound_by_lines.sister(
    r"A network has $\lVert W\rVert = <norm>$ and slopes of at most $\gamma = <gamma>$ in "
    r"size. Which bound on "
    r"$\lVert\partial h_{<T>}/\partial h_0\rVert$ follows? Three digits are enough.",
    lambda norm, gamma, T: (norm * gamma) ** T,
    norm=tenths(2, 30),
    gamma=[0.25, 0.5, 1.0],
    T=range(2, 9),
)
check.induction_step.sister(
    r"Two networks, written as in the lecture, have $W = <W>$ and $z_1 = <z>$, the activation is "
    r"tanh, $h_0 = <h_0>$ and $g_0 = \tanh(h_0)$. What are $h_1$ (`h`) and $g_1$ (`g`)? Three "
    r"digits are enough.",
    lambda W, z, h_0: (lambda h: {"h": h, "g": np.tanh(h)})(W @ np.tanh(h_0) + z),
    W=lambda rng: _small(rng, 2, 2),
    z=lambda rng: _small(rng, 2),
    h_0=lambda rng: _small(rng, 2),
)
check.explosion.sister(
    r"A linear network has $W = <W>$. By which factor can one step make a gradient longer at most "
    r"(`at_most`), and by which factor does it grow per step in the long run (`in_the_end`)? Three "
    r"digits are enough.",
    lambda W: {
        "at_most": spectral_norm(W),
        "in_the_end": float(np.abs(np.linalg.eigvals(W)).max()),
    },
    W=lambda rng: whole(rng, 2, 2, largest=9) / 10,
)
