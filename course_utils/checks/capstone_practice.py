"""Unit 12: sister tasks for practice."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfcheck.practice import tenths, whole

from ..numbers.capstone import BACKWARD_LINES, BUGS
from . import capstone as check

DIGITS = "Three digits are enough."

check.entropy_gradient.sister(
    rf"The loss is the mean of $-\log p_y$ over the rows of $Z = <Z>$, with $p = "
    rf"\operatorname{{softmax}}(Z/<c>)$, and the true levels are <y:code>, counted from 0. What "
    rf"is its gradient with respect to $Z$? {DIGITS}",
    lambda Z, y, c: check.entropy_gradients(Z / c, np.array(y)) / c,
    Z=lambda rng: whole(rng, 2, 3),
    y=lambda rng: rng.integers(0, 3, 2).tolist(),
    c=tenths(5, 30),
)
check.norm_gradient.sister(
    r"Layer norm takes from each row of $X = <X>$ its mean, divides by $\sqrt{variance + "
    r"10^{-5}}$ and multiplies by the gain $<gain>$. The gradient with respect to its output is "
    rf"$G = <G>$. What are the gradients with respect to $X$ (`d_x`) and to the gain "
    rf"(`d_gain`)? {DIGITS}",
    lambda X, gain, G: dict(zip(("d_x", "d_gain"), check.norm_gradients(X, gain, G), strict=True)),
    X=lambda rng: np.array([rng.permutation(9)[:3] for _ in range(2)]) - 4.0,
    gain=lambda rng: whole(rng, 3),
    G=lambda rng: whole(rng, 2, 3),
)


def _faded(Q, K, V, G, gamma) -> dict:
    found = check.attended_gradients(Q, K, V, G, gamma)
    return {"d_v": found["V"], "d_k": found["K"]}


check.attention_gradient.sister(
    r"Causal linear attention in which a token fades by $\gamma = <gamma>$ per step has the "
    r"features $Q = <Q>$, $K = <K>$ and the values $V = <V>$, and the gradient with respect to its "
    r"output is $G = <G>$. What are the gradients with respect to $V$ (`d_v`) and to $K$ (`d_k`)? "
    rf"{DIGITS}",
    _faded,
    lambda rng: {
        **{name: rng.integers(1, 6, (3, 1)).astype(float) for name in "QK"},
        "V": whole(rng, 3, 1, largest=9),
        "G": whole(rng, 3, 1),
        "gamma": float(rng.choice(tenths(2, 9))),
    },
)

SLIPS = (
    *BUGS,
    (1, "A = attention_weights(K, Q)"),
    (2, "d_V = A.T @ G / np.sqrt(Q.shape[1])"),
    (3, "d_A = V @ G.T"),
    (4, "d_S = A * (d_A + (d_A * A).sum(axis=1, keepdims=True))"),
    (4, "d_S = d_A - (d_A * A).sum(axis=1, keepdims=True)"),
    (5, "d_Q = d_S @ Q / np.sqrt(Q.shape[1])"),
    (6, "d_K = d_S.T @ K / np.sqrt(Q.shape[1])"),
)


def _planted(rng: np.random.Generator) -> dict[str, Any]:
    """A backward pass with a slip, and numbers on which it shows."""
    while True:
        number, slip = SLIPS[rng.integers(len(SLIPS))]
        lines = [*BACKWARD_LINES[: number - 1], slip, *BACKWARD_LINES[number:]]
        arrays = {name: whole(rng, 2, 2, largest=2) for name in "QKVG"}
        pairs = zip(
            check.run_lines(lines, **arrays), check.softmax_gradients(**arrays), strict=True
        )
        if any(np.abs(found - true).max() > 0.01 for found, true in pairs):
            code = "\n".join(f"{k}  {line}" for k, line in enumerate(lines, start=1))
            return {"code": code, **arrays}


def _mended(code: str, Q, K, V, G) -> dict:
    lines = [line[3:] for line in code.splitlines()]
    number = next(k for k, line in enumerate(lines) if line != BACKWARD_LINES[k]) + 1
    names = dict(zip(("d_Q", "d_K", "d_V"), check.softmax_gradients(Q, K, V, G), strict=True))
    return {"line": number, **names}


check.planted_bug.sister(
    "One line of this backward pass of softmax attention is wrong:\n\n```\n<code>\n```\n\nWhich "
    "`line` is it? And what are the gradients, with the line mended, for $Q = <Q>$, $K = <K>$, "
    f"$V = <V>$, $G = <G>$? {DIGITS}",
    _mended,
    _planted,
)


def _sizes(m: int, h: int, L: int, t: int) -> dict:
    model = check.sized({"m": m, "h": h, "L": L})
    kept = {"state_bytes": check.bytes_of_state(model), "cache_bytes": 8 * L * 2 * t * h * m}
    return {"parameters": model.size, "multiply_adds": check._pixel_macs(model), **kept}


check.sizes_of_the_model.sister(
    r"The model of the lecture with $h = <h>$ heads of width $m = <m>$ and $L = <L>$ blocks: how "
    r"many parameters has it, how many multiply–adds does a pixel take by the state, how many "
    r"bytes "
    r"(8 a number) has the state, and how many a cache of $t = <t>$ pixels?",
    _sizes,
    m=range(2, 9),
    h=range(1, 5),
    L=range(1, 4),
    t=range(2, 65),
)
check.baseline.sister(
    "Pictures have rows of 2 pixels, one row after the other, and levels from 0 to <last>. A "
    "model counts in the training pictures <training:code> how often each level stands below "
    "each, every count "
    f"from 1 on, and the first row below a level of its own. How many bits per pixel do the test "
    f"pictures <test:code> take? {DIGITS}",
    lambda training, test, last: check.bits_by_above(
        np.array(training), np.array(test), last + 1, 2
    ),
    lambda rng: (
        lambda last: {
            "last": last,
            "training": rng.integers(0, last + 1, (2, 6)).tolist(),
            "test": rng.integers(0, last + 1, (1, 8)).tolist(),
        }
    )(int(rng.integers(1, 4))),
)


def _above_zero(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(1, 10, 2).astype(float)


check.fixed_state.sister(
    r"A head has the sums $s = <s>$ of $\varphi(k)v^\top$ and $z = <z>$ of $\varphi(k)$. A pixel "
    r"comes with $\varphi(q) = <q>$, $\varphi(k) = <k>$ and $v = <v>$. What does the head return "
    rf"for it? {DIGITS}",
    lambda s, z, q, k, v: q @ (s + np.outer(k, v)) / (q @ (z + k)),
    s=lambda rng: whole(rng, 2, 2, largest=9),
    z=_above_zero,
    q=_above_zero,
    k=_above_zero,
    v=lambda rng: whole(rng, 2, largest=9),
)
check.trained.sister(
    "A model gives the true levels of a picture's pixels the probabilities <p:code>. How many bits "
    f"per pixel does the picture take? {DIGITS}",
    lambda p: float(-np.log2(p).mean()),
    p=lambda rng: (rng.integers(1, 99, int(rng.integers(3, 6))) / 100).tolist(),
)
