"""Unit 12: what several known mistakes in capstone.md need."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..attention import softmax as softmax
from ..numbers.capstone import BACKWARD_LINES
from ..numbers.capstone import BUGS as BUGS
from .capstone import EPSILON, above, run_lines


def _hot(Z, y):
    return np.arange(Z.shape[1]) == y[:, None]


def _less(what):
    """The probabilities by exp of the logits less something else than their row's largest."""

    def gradient(Z, y):
        E = np.exp(Z - what(Z))
        return (E / E.sum(axis=1, keepdims=True) - _hot(Z, y)) / len(Z)

    return (gradient,)


def _sigma(X):
    return np.sqrt(X.var(axis=1, keepdims=True) + EPSILON)


def _mean(A):
    return A.mean(axis=1, keepdims=True)


def _by_input(sigma):
    """The gradient with respect to X with a different σ."""

    def d_x(X, gain, G):
        H, hat = G * gain, (X - _mean(X)) / sigma(X)
        return (H - _mean(H) - hat * _mean(H * hat)) / sigma(X)

    return (d_x,)


def _by_gain(sigma):
    return (lambda X, G: (G * (X - _mean(X)) / sigma(X)).sum(axis=0),)


def _no_epsilon(X):
    return X.std(axis=1, keepdims=True)


def _epsilon_outside(X):
    return X.std(axis=1, keepdims=True) + EPSILON


def _of_a_sample(X):
    return np.sqrt(X.var(axis=1, keepdims=True, ddof=1) + EPSILON)


def _fading(n, gamma):
    age = np.subtract.outer(np.arange(n), np.arange(n))
    return np.where(age >= 0, gamma ** np.maximum(age, 0), 0.0)


def _similar(Q, K, gamma):
    return _fading(len(Q), gamma) * (Q @ K.T)


def _total(Q, K, gamma):
    return _similar(Q, K, gamma).sum(axis=1, keepdims=True)


def _pairs(Q, K, V, G, gamma, y):
    """The slopes with respect to q_iᵀk_j."""
    along = (G * y).sum(axis=1, keepdims=True)
    return _fading(len(Q), gamma) * (G @ V.T - along) / _total(Q, K, gamma)


def _with(number, text):
    return lambda Q, K, V, G: run_lines(
        [*BACKWARD_LINES[: number - 1], text, *BACKWARD_LINES[number:]], Q, K, V, G
    )


def _table(training, levels, width, start=1.0):
    counts = np.full((levels + 1, levels), start)
    np.add.at(counts, (above(training, levels, width), training), 1)
    return counts / counts.sum(axis=1, keepdims=True)


def _read(table, test, levels, width, log=np.log2):
    return -log(table[above(test, levels, width), test]).mean()


def _bits(chances, of):
    """Bits per pixel with a table of probabilities, where `of` gives the pixel above."""

    def bits(training, test, levels, width):
        counts = np.ones((levels + 1, levels))
        upper = of(training, levels, width)
        np.add.at(counts, (upper, training), 1)
        return -np.log2(chances(counts)[of(test, levels, width), test]).mean()

    return (bits,)


def _by_rows(counts):
    return counts / counts.sum(axis=1, keepdims=True)


def _features(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def _norm(x, gain, shift):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * gain + shift


def _blocks(P):
    return sum(name.endswith(".q") for name in P)


def _empty(P, heads):
    m = P["token"].shape[1] // heads
    return [(np.zeros((heads, m, m)), np.zeros((heads, m))) for _ in range(_blocks(P))]


def _in_heads(row, heads):
    return row.reshape(heads, -1)


def _stepper(
    attend,
    norm=_norm,
    place=lambda P, t: P["place"][t],
    scale=1.0,
    split=_in_heads,
    relu=lambda x: np.maximum(x, 0),
    one_state=False,
):
    """A step whose parts can be exchanged for wrong ones."""

    def step(P, heads, state, token, t):
        h: Any = P["token"][token] + place(P, t)
        new: list[Any] = []
        for b in range(_blocks(P)):
            a = norm(h, P[f"{b}.gain"], P[f"{b}.shift"])
            q, k, v = (split(a @ P[f"{b}.{name}"], heads) for name in "qkv")
            kept, y = attend(new[-1] if one_state and new else state[-one_state or b], q, k, v)
            new.append(kept)
            y = y if split is _in_heads else y.T
            h = scale * h + y.ravel() @ P[f"{b}.o"]
            a = norm(h, P[f"{b}.gain2"], P[f"{b}.shift2"])
            h = scale * h + relu(a @ P[f"{b}.up"]) @ P[f"{b}.down"]
        return new, norm(h, P["gain"], P["shift"]) @ P["out"]

    return step


def _added(state, q, k, v):
    s, z = state
    s, z = s + _features(k)[:, :, None] * v[:, None, :], z + _features(k)
    f = _features(q)
    return (s, z), np.einsum("hm,hml->hl", f, s) / (f * z).sum(axis=1, keepdims=True)
