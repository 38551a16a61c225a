"""How long every check takes to answer, in milliseconds of one core.

Run it as `python benchmarks/checks.py [UNIT …]`, from the folder of the course. The answers are the
right ones, in all forms that the tests know, and the known mistakes, which cost more: the check
runs, and then every mistake is compared. `first` is the first call of all; `median` and `slowest`
are over the answers, each the median of some calls after it. What the machine does besides does not
count: time is that of the processor.
"""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from statistics import median
from time import process_time

from classroom.audit import chosen, forms
from course_utils.exercise import Exercise
from course_utils.units import declared

ROOT = Path(__file__).parents[1]
ROUNDS = 5
LIMIT = 100  # milliseconds, for the median


def milliseconds(exercise: Exercise, answers: tuple) -> float:
    """The time one check takes."""
    start = process_time()
    exercise(*answers)
    return 1000 * (process_time() - start)


def answers_of(stem: str) -> dict[str, list[tuple[str, tuple]]]:
    """By exercise, the right answers and the known mistakes under their names."""
    with contextlib.redirect_stdout(io.StringIO()):
        right = {
            (form.exercise.name, form.name.partition(".")[0]): form.answers(form.source)
            for form in forms(ROOT, stem)
        }
    found: dict[str, list[tuple[str, tuple]]] = {e.name: [] for e in declared(stem)}
    for (name, form), answers in right.items():
        found[name].append((form, tuple(answers)))
    for exercise in declared(stem):
        found[exercise.name] += [(m.name, m.example) for m in exercise.misconceptions]
    return found


def main() -> None:
    """Print a row an exercise, with the slowest answer by name."""
    print(f"{'check':<28}{'first':>9}{'median':>9}{'slowest':>9}  ms")
    slow = []
    for stem in chosen(ROOT, sys.argv[1:]):
        of = {e.name: e for e in declared(stem)}
        for name, answers in answers_of(stem).items():
            first = milliseconds(of[name], answers[0][1])
            times = {
                label: median(milliseconds(of[name], a) for _ in range(ROUNDS))
                for label, a in answers
            }
            called = f"{of[name].number} {name}"
            worst = max(times, key=lambda label: times[label])
            typical = median(times.values())
            print(f"{called:<28}{first:9.1f}{typical:9.1f}{times[worst]:9.1f}  {worst}", flush=True)
            slow += [called] * (typical > LIMIT)
    print(f"\nAbove {LIMIT} ms in the median: {', '.join(slow) or 'none'}.")


if __name__ == "__main__":
    main()
