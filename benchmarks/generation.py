"""Tokens per second of three ways to generate, side by side, at the lengths of two small images.

One attention layer with its three projections and one head. Softmax without a cache runs the whole
text through the layer for every token; at n = 3072 that takes minutes, so unless `--full` is given
it is timed at a few positions, interpolated on log-log axes and added up.
Run: python benchmarks/generation.py [--full]
"""

import sys
import time
from collections.abc import Callable

import numpy as np

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


def seconds(run: Callable[[], object], repeats: int) -> float:
    """The best of a few runs: what the machine can do when nobody disturbs it."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def extrapolated(n: int) -> float:
    """Seconds for n tokens without a cache, from a few positions."""
    at = POSITIONS[n >= POSITIONS]
    texts = [rng.normal(size=(i, WIDTH)) for i in at]
    times = [seconds(lambda X=X: causal_attention(*(X @ PROJECTIONS)), repeats=5) for X in texts]
    return np.exp(np.interp(np.log(np.arange(1, n + 1)), np.log(at), np.log(times))).sum()


def compare(data: str, n: int, full: bool) -> None:
    naive = seconds(lambda: without_cache(n), repeats=1) if full else extrapolated(n)
    cached, recurrent = (seconds(lambda f=f: f(n), repeats=3) for f in (with_cache, recurrence))
    note = "" if full else " (extrapolated)"
    print(f"n = {n} ({data}), width {WIDTH}:")
    print(f"  softmax, no cache {n / naive:10,.0f} tokens/s{note}")
    print(f"  softmax, cache    {n / cached:10,.0f} tokens/s, {naive / cached:,.0f}× the first")
    print(
        f"  recurrence        {n / recurrent:10,.0f} tokens/s, {cached / recurrent:.1f}× the cache,"
        f" {naive / recurrent:,.0f}× the first (published: {PUBLISHED[data]:,.0f}×)"
    )


if __name__ == "__main__":
    if not np.allclose(without_cache(50), with_cache(50)):
        sys.exit("A cache changed the tokens.")
    for data, n in LENGTHS.items():
        compare(data, n, full="--full" in sys.argv)
