"""What counting costs: metered beside plain NumPy; PyTorch's counter is the referee."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np

from benchmarks.core import Report, ratio, side_by_side
from selfcheck.meter import measure as metered
from selfcheck.meter import meter

SIZES = (8, 64, 512)
OPERATIONS: dict[str, Callable] = {"A @ B": lambda A, B: A @ B, "A + B": lambda A, B: A + B}
SHAPES = [(a, b, c) for a in (1, 2, 5, 8) for b in (1, 3, 8, 64) for c in (1, 4, 7)]


def measure(report: Report) -> None:
    """Overhead by size, one whole measurement, and the counts beside PyTorch's."""
    rows = [row(name, run, n) for name, run in OPERATIONS.items() for n in SIZES]
    head = ["operation", "plain, µs", "metered, µs", "metered / plain"]
    report.table(head, rows)
    X = np.ones((8, 4))
    whole = side_by_side({"": lambda: metered(lambda x: np.exp(x @ x.T) @ x, X)}, rounds=100)[""]
    report.say(f"One `measure()` of a small function takes {whole.shown(1e6)} µs.")
    if not report.without("PyTorch"):
        referee(report)


def row(name: str, operation: Callable, n: int) -> list[str]:
    """Plain and metered calls take turns."""
    A, B = np.random.default_rng(0).normal(size=(2, n, n))
    with meter() as m:
        C, D = m.array(A), m.array(B)
        ways = {"plain": lambda: operation(A, B), "metered": lambda: operation(C, D)}
        times = side_by_side(ways, rounds=300 if n < 500 else 30)
    spread = [times[way].shown(1e6) for way in ("plain", "metered")]
    return [f"{name}, {n}×{n}", *spread, ratio(times["metered"], times["plain"]).shown(digits=2)]


def referee(report: Report) -> None:
    """PyTorch counts 2·a·b·c for a product, the convention of the course a·c less."""
    torch = importlib.import_module("torch")
    counter = importlib.import_module("torch.utils.flop_counter").FlopCounterMode
    rng, agree = np.random.default_rng(0), 0
    for a, b, c in SHAPES:
        A, B = rng.normal(size=(a, b)), rng.normal(size=(b, c))
        with counter(display=False) as theirs:
            torch.from_numpy(A) @ torch.from_numpy(B)
        ours = metered(np.matmul, A, B)
        agree += theirs.get_total_flops() == 2 * ours.macs == ours.flops + a * c
    report.disagrees |= agree < len(SHAPES)
    report.say(
        f"Products of {len(SHAPES)} pairs of shapes beside PyTorch's `FlopCounterMode`: {agree} "
        "agree (it counts 2abc, the course abc multiplications and a(b − 1)c additions)."
    )
