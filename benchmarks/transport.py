"""The course's transport beside SciPy and POT: do they agree, and how do the times compare?

    python benchmarks/transport.py

Times are ratios, ours over theirs: below 1 we are faster. What is not installed is skipped.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from course_utils.transport import cost, optimal_plan, sinkhorn, wasserstein_1d

LARGEST = 1e-9
SIZES = {10: 200, 10**3: 20, 10**6: 3}  # points on a side, and how often to repeat


def best_of(call: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def weighted_points(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Unequal numbers of points with unequal weights, as probabilities."""
    m = n + n // 3
    p, q = rng.random(n), rng.random(m)
    return rng.normal(size=n), p / p.sum(), rng.normal(1, 2, size=m), q / q.sum()


def compare(name: str, ours: Callable, theirs: Callable, cases: list, repeats: int) -> bool:
    """Print the largest difference and the ratio of times; False if they disagree."""
    off = max(abs(ours(*case) - theirs(*case)) / max(1.0, abs(theirs(*case))) for case in cases)
    ratio = best_of(lambda: ours(*cases[0]), repeats) / best_of(lambda: theirs(*cases[0]), repeats)
    verdict = "agree" if off <= LARGEST else "DIFFER"
    print(f"{name}: largest difference {off:.1e} on {len(cases)} instances: {verdict}; ", end="")
    print(f"time ours / theirs {ratio:.2f}")
    return off <= LARGEST


def on_a_line() -> list[bool]:
    rng, agreed = np.random.default_rng(0), []
    for n, repeats in SIZES.items():
        cases = [weighted_points(rng, n) for _ in range(50 if n <= 10**3 else 1)]
        if importlib.util.find_spec("scipy"):
            from scipy.stats import wasserstein_distance

            def scipy_w1(x, p, y, q):
                return wasserstein_distance(x, y, p, q)

            agreed.append(compare(f"SciPy W1, n = {n}", wasserstein_1d, scipy_w1, cases, repeats))
        if importlib.util.find_spec("ot"):
            import ot

            for order in (1, 2):

                def our_power(x, p, y, q, order=order):
                    return wasserstein_1d(x, p, y, q, order) ** order

                def pot_power(x, p, y, q, order=order):
                    return float(ot.wasserstein_1d(x, y, p, q, p=order))

                name = f"POT W{order}^{order}, n = {n}"
                agreed.append(compare(name, our_power, pot_power, cases, repeats))
    return agreed


def exact_plans() -> list[bool]:
    """Tables of any costs, by our simplex and POT's network simplex (compiled)."""
    import ot

    rng, agreed = np.random.default_rng(1), []
    for n, count in [(10, 100), (60, 2)]:
        cases = [
            (rng.random((n, n + 3)), rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n + 3)))
            for _ in range(count)
        ]

        def ours(C, p, q):
            return cost(optimal_plan(C, p, q).plan, C)

        def theirs(C, p, q):
            return float(ot.emd2(p, q, C))

        agreed.append(compare(f"POT exact plan, n = {n}", ours, theirs, cases, 3))
    return agreed


def smooth_plans() -> list[bool]:
    import ot

    rng = np.random.default_rng(2)
    cases = [
        (rng.random((30, 40)), rng.dirichlet(np.ones(30)), rng.dirichlet(np.ones(40)))
        for _ in range(5)
    ]

    def ours(C, p, q):
        return cost(sinkhorn(C, p, q, epsilon=0.05, rounds=5000, tolerance=1e-12), C)

    def theirs(C, p, q):
        options = {"method": "sinkhorn_log", "numItermax": 5000, "stopThr": 1e-12}
        return cost(ot.sinkhorn(p, q, C, 0.05, **options), C)

    return [compare("POT Sinkhorn, 30 × 40", ours, theirs, cases, 3)]


def main() -> None:
    modules = {"SciPy": "scipy", "POT": "ot"}
    missing = [name for name, module in modules.items() if not importlib.util.find_spec(module)]
    for name in missing:
        print(f"{name} is not installed: the comparison with it is skipped.")
    agreed = on_a_line()
    if "POT" not in missing:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            agreed += exact_plans() + smooth_plans()
    if not all(agreed):
        sys.exit(1)


if __name__ == "__main__":
    main()
