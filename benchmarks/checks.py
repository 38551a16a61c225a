"""How long every check takes to answer: the first call, and the median of the calls after it.

Run it as `python benchmarks/checks.py`. The answers are the known mistakes of each exercise, which
cost the most: the check runs, and then every mistake is compared.
"""

from __future__ import annotations

import importlib
import pkgutil
from statistics import median
from time import perf_counter

from course_utils import checks
from course_utils.exercise import EXERCISES, Exercise

ROUNDS = 5


def milliseconds(exercise: Exercise, answers: tuple) -> float:
    """The time one check takes."""
    start = perf_counter()
    exercise(*answers)
    return 1000 * (perf_counter() - start)


def main() -> None:
    """Print a row an exercise: first call, median and slowest mistake, in milliseconds."""
    for found in pkgutil.iter_modules(checks.__path__):
        start = perf_counter()
        importlib.import_module(f"{checks.__name__}.{found.name}")
        print(f"import checks.{found.name}: {1000 * (perf_counter() - start):.0f} ms")
    print(f"\n{'check':<28}{'first':>9}{'median':>9}{'slowest':>9}  ms")
    for exercise in EXERCISES:
        examples = [m.example for m in exercise.misconceptions]
        first = milliseconds(exercise, examples[0])
        times = [median(milliseconds(exercise, e) for _ in range(ROUNDS)) for e in examples]
        name = f"{exercise.number} {exercise.name}"
        print(f"{name:<28}{first:9.1f}{median(times):9.1f}{max(times):9.1f}")


if __name__ == "__main__":
    main()
