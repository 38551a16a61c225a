"""Tokens per second of three ways to generate, side by side, at the lengths of two small images.

One attention layer with its three projections and one head. Softmax without a cache runs the whole
text through the layer for every token; at n = 3072 that takes minutes, so it is timed at a few
positions, interpolated on log-log axes and added up.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.core import Report, Spread, ratio, side_by_side, significant
from course_utils.attention import LinearAttentionState, attention, causal_attention

WIDTH = 64
LENGTHS = {"MNIST": 784, "CIFAR-10": 3072}
PUBLISHED = {"MNIST": 142.8 / 0.45, "CIFAR-10": 17.85 / 0.004}
POSITIONS = np.array([8, 32, 98, 196, 392, 784, 1536, 3072])

rng = np.random.default_rng(0)
START = rng.normal(size=WIDTH)
PROJECTIONS = rng.normal(size=(3, WIDTH, WIDTH)) / (2 * np.sqrt(WIDTH))


def without_cache(n: int) -> np.ndarray:
    """Softmax attention, everything computed again for every token; returns all tokens."""
    X = np.zeros((n + 1, WIDTH))
    X[0] = START
    for i in range(n):
        X[i + 1] = START + causal_attention(*(X[: i + 1] @ PROJECTIONS))[-1]
    return X


def with_cache(n: int) -> np.ndarray:
    """Softmax attention with all keys and values kept; returns all tokens."""
    X, K, V = np.zeros((3, n + 1, WIDTH))
    X[0] = START
    for i in range(n):
        q, K[i], V[i] = X[i] @ PROJECTIONS
        X[i + 1] = START + attention(q[None], K[: i + 1], V[: i + 1])[0]
    return X


def recurrence(n: int) -> np.ndarray:
    """Linear attention with a state of fixed size; returns all tokens."""
    X, state = np.zeros((n + 1, WIDTH)), LinearAttentionState.empty(WIDTH, WIDTH)
    X[0] = START
    for i in range(n):
        state, y = state.step(*(X[i] @ PROJECTIONS))
        X[i + 1] = START + y
    return X


def without_cache_seconds(n: int, rounds: int) -> Spread:
    """Seconds for n tokens without a cache, from a few positions; one value a round."""
    at = POSITIONS[n >= POSITIONS]
    texts = {str(i): rng.normal(size=(i, WIDTH)) for i in at}
    ways = {name: lambda X=X: causal_attention(*(X @ PROJECTIONS)) for name, X in texts.items()}
    times = side_by_side(ways, rounds=rounds, clock=time.process_time)
    tokens = np.log(np.arange(1, n + 1))
    totals = []
    for number in range(rounds):
        seconds = np.array([max(times[name].values[number], 1e-9) for name in texts])
        totals.append(float(np.exp(np.interp(tokens, np.log(at), np.log(seconds))).sum()))
    return Spread(tuple(totals))


def measure(report: Report) -> None:
    """Tokens per second, and how many times the slowest way that is."""
    if not np.allclose(without_cache(50), with_cache(50)):
        raise SystemExit("A cache changed the tokens.")
    rows = []
    for data, n in LENGTHS.items():
        naive = without_cache_seconds(n, rounds=3)
        ways = {"cache": lambda n=n: with_cache(n), "recurrence": lambda n=n: recurrence(n)}
        times = side_by_side(ways, rounds=3, clock=time.process_time)
        every = {"softmax, all again": naive, **times}
        for name, spread in every.items():
            faster = ratio(naive, spread).shown(digits=2)
            published = f"{PUBLISHED[data]:,.0f}" if name == "recurrence" else ""
            speed = significant(n / spread.median)
            rows.append([f"{data}, n = {n:,}: {name}", speed, faster, published])
    report.table(["way", "tokens per second", "times the first", "published"], rows)
    report.say(
        f"One layer of width {WIDTH}, processor time. Without a cache the time is taken at a few "
        "positions and added up. The published ratios are those of whole models on a GPU."
    )
