"""What grading adds to the cells' own run, unit by unit.

The floor is the solution's cells, answers and checks, run by `exec` in this warm process. Beside it
the same cells are judged as `course grade` does: in a child in the sandbox, every value over the
wire, the checks here, by a judge who remembers no line of a derivation. Both take turns; ratios are
of wall time, on one core.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict
from pathlib import Path
from unittest.mock import patch

from benchmarks.core import Report, ratio, side_by_side
from benchmarks.grading import run_cells
from classroom.grading.asked import Solutions
from classroom.grading.judge import Job, judge
from classroom.grading.sandbox import Limits, Sandbox
from classroom.notebooks import read

ROOT = Path(__file__).parents[1]
GOAL = 2.0


def job(solutions: Solutions, unit: str) -> Job:
    """The solution itself, handed in by a student."""
    return Job(
        student="s",
        unit=unit,
        file="f",
        digest="",
        solution=[list(cell) for cell in solutions.asked(unit)],
        cells=[[cell.id, cell.source] for cell in solutions.cells(unit)],
        limits=asdict(Limits()),
        seed="class",
    )


def quietly(unit: str) -> None:
    """The floor: the cells of the solution, and nothing shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_cells(read(ROOT / "solutions" / f"{unit}.ipynb"))


def measure(report: Report, rounds: int = 5) -> None:
    """A row a unit."""
    os.environ["MPLBACKEND"] = "agg"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    solutions, rows, medians = Solutions(ROOT), [], []
    where = "selfcheck.derivation.derivations.recalled"
    forgetful = patch(where, lambda known, words, work_out, most: work_out())
    with forgetful, Sandbox(sandboxed=True, number=os.getpid() % 4000) as sandbox:
        for unit in units():
            asked = job(solutions, unit)
            ways = {"floor": lambda u=unit: quietly(u), "graded": lambda j=asked: judge(j, sandbox)}
            times = side_by_side(ways, rounds=rounds)
            above = ratio(times["graded"], times["floor"])
            medians.append(above.median)
            shown = [times[way].shown(1000) for way in ("floor", "graded")]
            rows.append([unit, *shown, above.shown(digits=2)])
    report.table(["unit", "the cells' own run, ms", "graded, ms", "times the floor"], rows)
    report.goal("in every unit", max(medians), GOAL, "times the floor")


def units() -> list[str]:
    """The units that have exercises."""
    return sorted(path.stem for path in (ROOT / "solutions").glob("*.ipynb"))
