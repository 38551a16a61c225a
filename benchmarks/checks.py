"""How long every check takes to answer: right, known to be wrong, and wrong in a way of its own.

Each unit runs in a process of its own, as in a student's kernel. Right answers come in all forms
that the tests know; a known mistake costs more, because the check runs and then every mistake is
compared; a wrong answer that no mistake describes is compared with all of them in vain. Of each
answer the median of a few calls counts, after a first one. Time is that of the processor, so what
the machine does besides does not count.
Some rows alone: python -m benchmarks.checks 08_linear_attention
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks.core import Report, Spread, side_by_side, significant
from classroom.audit import chosen, forms
from selfcheck.exercises import Exercise
from selfcheck.feedback import Feedback, Outcome
from selfcheck.units import declared

ROOT = Path(__file__).parents[1]
ROUNDS = 3
GOALS = {"median": 10, "95 %": 60, "slowest": 300}  # milliseconds
OTTER_TEST = """\
OK_FORMAT = True
test = {"name": "q", "points": 3, "suites": [{"type": "doctest", "scored": True, "setup": "",
    "teardown": "", "cases": [
    {"code": ">>> alpha.subs({'beta': 0.5, 'delta': 0.1}) == 0.5\\nTrue",
     "hidden": False, "locked": False},
    {"code": ">>> abs(epsilon.subs({'beta': 0.5, 'delta': 0.1}) - 0.05) < 1e-9\\nTrue",
     "hidden": False, "locked": False}]}]}
"""


def measure(report: Report) -> None:
    """A row a unit, the slowest answers by name, and the goals."""
    rows = [row for stem in chosen(ROOT, []) for row in of_unit(stem)]
    kinds = {kind: [r for r in rows if r["kind"] == kind] for kind in ("right", "mistake", "wrong")}
    groups = {"right answers": "right", "known mistakes": "mistake", "other wrong answers": "wrong"}
    table = [summary(name, kinds[kind]) for name, kind in groups.items()]
    everything = Spread(tuple(row["ms"] for row in rows))
    report.table(
        ["answers", "how many", "median ms", "95 % ms", "slowest ms"],
        [*table, summary("all", rows)],
    )
    report.goal("the median of all checks is", everything.median, GOALS["median"], "ms")
    report.goal("95 of 100 take", everything.quantile(0.95), GOALS["95 %"], "ms")
    report.goal("the slowest takes", max(everything.values), GOALS["slowest"], "ms")
    slowest = sorted(rows, key=lambda row: -row["ms"])[:12]
    report.table(
        ["the slowest", "ms", "its first call, ms"],
        [
            [f"{r['called']}: {r['answer']}", *map(significant, (r["ms"], r["first"]))]
            for r in slowest
        ],
    )
    report.quote = (
        f"Every answer to every exercise, right or wrong ({len(rows):,} of them): the check takes "
        f"{significant(everything.median)} ms in the median, 95 of 100 take at most "
        f"{significant(everything.quantile(0.95))} ms."
    )
    beside_otter(report)


def summary(name: str, rows: list[dict]) -> list[object]:
    """How many answers, and how long they take."""
    times = Spread(tuple(row["ms"] for row in rows))
    shown = (times.median, times.quantile(0.95), max(times.values))
    return [name, len(rows), *map(significant, shown)]


def of_unit(stem: str) -> list[dict]:
    """The measurements of one unit, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.checks", stem, "--json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


# -- one unit, here -------------------------------------------------------------------------------


def rows_of(stem: str) -> Iterator[dict]:
    """A row an answer."""
    exercises = {e.name: e for e in declared(stem)}
    for name, answers in answers_of(stem).items():
        exercise = exercises[name]
        for kind, label, given in [*answers, *spoiled(answers)]:
            first, feedback = milliseconds(exercise, given)
            if kind == "wrong" and (feedback.outcome is not Outcome.WRONG or feedback.mistakes):
                continue
            again = median(milliseconds(exercise, given)[0] for _ in range(ROUNDS))
            about = {"called": f"{exercise.number} {name}", "kind": kind, "answer": label}
            yield {**about, "first": first, "ms": again}


def milliseconds(exercise: Exercise, answers: tuple) -> tuple[float, Feedback]:
    """The time one check takes, and what it says."""
    start = process_time()
    feedback = exercise(*answers)
    return 1000 * (process_time() - start), feedback


Answers = dict[str, list[tuple[str, str, tuple]]]


def answers_of(stem: str) -> Answers:
    """By exercise: kind, name and value of the right answers and of the known mistakes."""
    with contextlib.redirect_stdout(io.StringIO()):
        right = {
            (form.exercise.name, form.name.partition(".")[0]): form.answers(form.source)
            for form in forms(ROOT, stem)
        }
    found: Answers = {e.name: [] for e in declared(stem)}
    for (name, form), answers in right.items():
        found[name].append(("right", form, tuple(answers)))
    for exercise in declared(stem):
        known = [("mistake", m.name, m.example) for m in exercise.misconceptions]
        found[exercise.name] += known
    return found


def spoiled(answers: list[tuple[str, str, tuple]]) -> list[tuple[str, str, tuple]]:
    """The first right answer with its last part three times as large, where there is such."""
    *rest, last = answers[0][2]
    if inspectable := tripled(last):
        return [("wrong", "three times too much", (*rest, *inspectable))]
    return []


def tripled(value: Any) -> list[Any]:
    """Three times this value, or nothing."""
    if callable(value):
        return [lambda *args: 3 * np.asarray(value(*args))]
    if isinstance(value, str):
        return [f"3*({value})"]
    if isinstance(value, int | float | np.ndarray) or hasattr(value, "free_symbols"):
        return [3 * value]
    return []


# -- otter's check of one question ----------------------------------------------------------------


def beside_otter(report: Report) -> None:
    """Exercise 2.1 beside the same question under otter's `grader.check`, in turns."""
    if report.without("otter-grader"):
        return
    import sympy

    otter = importlib.import_module("otter")
    from course_utils.checks import momentum

    beta, delta = sympy.symbols("beta delta", positive=True)
    answers = {"alpha": beta, "epsilon": delta * (1 - beta)}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "q.py").write_text(OTTER_TEST, encoding="utf-8")
        here = os.getcwd()
        os.chdir(folder)
        try:
            grader = otter.Notebook(tests_dir=folder)
            ways = {
                "ours": lambda: momentum.equivalent_rules(**answers),
                "otter": lambda: grader.check("q", global_env=dict(answers)),
            }
            times = side_by_side(ways, rounds=15, clock=time.process_time)
        finally:
            os.chdir(here)
    shown = {name: spread.shown(1000) for name, spread in times.items()}
    report.say(
        f"Exercise 2.1, right: ours {shown['ours']} ms, with counterexamples drawn anew; otter's "
        f"`grader.check` of two doctests with one stored value each {shown['otter']} ms."
    )


if __name__ == "__main__":
    for stem in chosen(ROOT, [name for name in sys.argv[1:] if name != "--json"]):
        for row in rows_of(stem):
            if "--json" in sys.argv:
                print(json.dumps(row), flush=True)
            else:
                print(f"{row['ms']:9.1f} ms  {row['called']}: {row['answer']}", flush=True)
