"""The course's transport beside SciPy and POT: do they agree, and how do the times compare?"""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.core import Report, has, ratio, side_by_side
from course_utils.transport import cost, optimal_plan, sinkhorn, wasserstein_1d

LARGEST = 1e-9
SIZES = (128, 1024, 8192, 10**6)  # points on a side, on a line
TABLES = (16, 64, 128)  # rows of a table of costs


def weighted_points(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Unequal numbers of points with unequal weights, as probabilities."""
    m = n + n // 3
    p, q = rng.random(n), rng.random(m)
    return rng.normal(size=n), p / p.sum(), rng.normal(1, 2, size=m), q / q.sum()


Way = Callable[..., float]


def row(report: Report, name: str, ours: Way, theirs: Way, cases: list) -> list[str]:
    """The largest difference on these cases, our time on the first, and the ratio."""
    off = max(abs(ours(*c) - theirs(*c)) / max(1.0, abs(theirs(*c))) for c in cases)
    first = cases[0]
    ways = {"ours": lambda: ours(*first), "theirs": lambda: theirs(*first)}
    times = side_by_side(ways, rounds=3, clock=time.process_time, at_least=0.01)
    shown = [times["ours"].shown(1000), ratio(times["ours"], times["theirs"]).shown(digits=2)]
    return [name, str(len(cases)), report.agreement(name, off, LARGEST), *shown]


def on_a_line(report: Report, ot: Any) -> list[list[str]]:
    """Distances between weighted points on a line, by sorting."""
    rng, rows = np.random.default_rng(0), []

    def scipy_w1(x: np.ndarray, p: np.ndarray, y: np.ndarray, q: np.ndarray) -> float:
        return importlib.import_module("scipy.stats").wasserstein_distance(x, y, p, q)

    def ours_squared(x: np.ndarray, p: np.ndarray, y: np.ndarray, q: np.ndarray) -> float:
        return wasserstein_1d(x, p, y, q, 2) ** 2

    def pot_squared(x: np.ndarray, p: np.ndarray, y: np.ndarray, q: np.ndarray) -> float:
        return float(ot.wasserstein_1d(x, y, p, q, p=2))

    for n in SIZES:
        cases = [weighted_points(rng, n) for _ in range(20 if n <= 10**4 else 1)]
        if has("SciPy"):
            rows.append(row(report, f"SciPy, W₁ of {n:,} points", wasserstein_1d, scipy_w1, cases))
        if ot is not None:
            rows.append(row(report, f"POT, W₂² of {n:,} points", ours_squared, pot_squared, cases))
    return rows


def exact_plans(report: Report, ot: Any) -> list[list[str]]:
    """Tables of any costs, by our simplex and POT's network simplex (compiled)."""
    rng, rows = np.random.default_rng(1), []

    def ours(C: np.ndarray, p: np.ndarray, q: np.ndarray) -> float:
        return cost(optimal_plan(C, p, q).plan, C)

    def theirs(C: np.ndarray, p: np.ndarray, q: np.ndarray) -> float:
        return float(ot.emd2(p, q, C))

    for n in TABLES:
        cases = [table(rng, n, n + 3) for _ in range(20 if n <= 16 else 1)]
        rows.append(row(report, f"POT, exact plan, {n} × {n + 3}", ours, theirs, cases))
    return rows


def table(rng: np.random.Generator, n: int, m: int) -> tuple[np.ndarray, ...]:
    """Costs and both margins."""
    return rng.random((n, m)), rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))


def smooth_plans(report: Report, ot: Any) -> list[list[str]]:
    """Sinkhorn's rounds until both have settled."""
    rng, rows = np.random.default_rng(2), []

    def ours(C: np.ndarray, p: np.ndarray, q: np.ndarray) -> float:
        return cost(sinkhorn(C, p, q, epsilon=0.05, rounds=5000, tolerance=1e-12), C)

    def theirs(C: np.ndarray, p: np.ndarray, q: np.ndarray) -> float:
        options = {"method": "sinkhorn_log", "numItermax": 5000, "stopThr": 1e-12}
        return cost(ot.sinkhorn(p, q, C, 0.05, **options), C)

    for n in (30, 128):
        cases = [table(rng, n, n + 10) for _ in range(2)]
        rows.append(row(report, f"POT, Sinkhorn, {n} × {n + 10}", ours, theirs, cases))
    return rows


def measure(report: Report) -> None:
    """Agreement and time, for what is installed."""
    report.without("SciPy", "POT")
    ot = importlib.import_module("ot") if has("POT") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = on_a_line(report, ot)
        if ot is not None:
            rows += exact_plans(report, ot) + smooth_plans(report, ot)
    if rows:
        head = ["beside", "instances", f"largest difference (limit {LARGEST:g})"]
        report.table([*head, "ours, ms", "ours / theirs"], rows)
        report.say(
            "On a line both sides sort. The exact plan is where readable code costs most: ours is "
            "the simplex method in Python, a pivot a line; POT's is compiled."
        )
