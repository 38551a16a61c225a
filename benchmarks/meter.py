"""What counting costs: metered against plain NumPy, side by side in one run.

    python benchmarks/meter.py

Ratios travel between machines, times do not. If PyTorch is installed, its FLOP counter is the
referee for the matrix products.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from instruments.meter import measure, meter

SIZES = (8, 64, 512)


def main() -> None:
    overhead("A @ B", lambda A, B: A @ B)
    overhead("A + B", lambda A, B: A + B)
    small_measurement()
    referee()


def overhead(title: str, operation: Callable) -> None:
    """Plain and metered calls take turns, so both meet the same noise; medians are compared."""
    print(f"{title:>8}  {'plain µs':>10} {'metered µs':>10} {'ratio':>6} {'extra µs':>9}")
    rng = np.random.default_rng(0)
    for n in SIZES:
        A, B = rng.normal(size=(2, n, n))
        with meter() as m:
            C, D = m.array(A), m.array(B)
            rounds = 2000 if n < 500 else 60
            pairs = [(timed(operation, A, B), timed(operation, C, D)) for _ in range(rounds)]
        plain, metered = (statistics.median(column) * 1e6 for column in zip(*pairs, strict=True))
        shown = f"{plain:10.2f} {metered:10.2f} {metered / plain:6.2f} {metered - plain:9.2f}"
        print(f"{f'{n}×{n}':>8}  {shown}")


def timed(operation: Callable, *arrays: object) -> float:
    start = time.perf_counter()
    operation(*arrays)
    return time.perf_counter() - start


def small_measurement() -> None:
    """One whole `measure`, as a check would call it."""
    X = np.ones((8, 4))
    times = [timed(measure, lambda x: np.exp(x @ x.T) @ x, X) for _ in range(200)]
    print(f"one measure() of a small function: {statistics.median(times) * 1e6:.0f} µs")


def referee() -> None:
    """PyTorch counts 2·a·b·c for a product, the convention of the course a·c less."""
    if importlib.util.find_spec("torch") is None:
        print("PyTorch is not installed: the comparison with its FLOP counter is skipped.")
        return
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    rng = np.random.default_rng(0)
    for a, b, c in ((2, 3, 4), (8, 8, 8), (5, 64, 7)):
        A, B = rng.normal(size=(a, b)), rng.normal(size=(b, c))
        with FlopCounterMode(display=False) as theirs:
            torch.from_numpy(A) @ torch.from_numpy(B)
        ours = measure(np.matmul, A, B)
        agree = theirs.get_total_flops() == 2 * ours.macs == ours.flops + a * c
        verdict = "agree" if agree else "DIFFER"
        print(
            f"({a}×{b})·({b}×{c}): PyTorch {theirs.get_total_flops()}, ours {ours.flops}: {verdict}"
        )


if __name__ == "__main__":
    main()
