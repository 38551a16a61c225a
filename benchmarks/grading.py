"""Grading the same submissions four ways, side by side: ours, nbgrader, otter-grader, plain nbval.

Every way grades all submissions with one command where it has one, bound to one core, its own start
included, into its own kind of record; pages for students are extra everywhere (for us the row `with
pages`). Ratios are of wall time, that is of throughput on one core: keep the machine quiet. The
floor is the same cells, answers and checks, run by `exec` in one warm process without sandbox or
judge. `each further` is what one more submission costs us, once everything is warm. otter-grader
lives in build/otter, an environment of its own that the first run makes.
Run: python benchmarks/grading.py [--submissions 20] [--unit 02_momentum]
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from classroom.checking import under_our_checks
from classroom.grading.assembly import assemble, submitted_cells
from classroom.grading.gradebook import NAME, Gradebook
from classroom.interchange import export_to_nbgrader
from classroom.notebooks import as_text, code_cells, read
from classroom.roles import called_check
from classroom.solutions import asked, read_solution
from course_utils.progress import declared

ROOT = Path(__file__).parents[1]
OTTER = ROOT / "build" / "otter"
OTTER_NEEDS = ["otter-grader==7.0.0", "ipykernel", "ipywidgets", "matplotlib", "numpy", "sympy"]
BASES = ("ours", "each further", "floor")
MORE = 5  # times as many submissions, to see what each further one costs
ONE_CORE = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
BIN = Path(sys.executable).parent
SCORES = """
    SELECT student_id, SUM(auto_score) FROM grade
    JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
    JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
    GROUP BY student_id
"""
OK_TEST = """\
OK_FORMAT = True
test = {{
    "name": {name!r}, "points": {points},
    "suites": [{{"type": "doctest", "scored": True, "setup": "", "teardown": "", "cases": [
        {{"code": ">>> {call}.earned\\n{points}", "hidden": False, "locked": False}}]}}],
}}
"""


@dataclass
class Cost:
    """Seconds for one submission, by the clock and of the processor; and who got which points."""

    wall: float
    cpu: float
    points: dict[str, float] | None = None


class Skipped(Exception):
    """A way that cannot be measured here, and why."""


# -- the submissions ------------------------------------------------------------------------------


def submissions(unit: str, count: int) -> dict[str, NotebookNode]:
    """Students who solved everything but one exercise each; every eighth one solved them all."""
    solved = {cell.id: cell.source for cell in read(ROOT / "solutions" / f"{unit}.ipynb").cells}
    exercise = read(ROOT / "exercises" / f"{unit}.ipynb")
    answers = [cell.id for cell in exercise.cells if cell.id.startswith("answer-")]
    made = {}
    for number in range(count):
        left = [*answers, None][number % (len(answers) + 1)]
        notebook = copy.deepcopy(exercise)
        for cell in notebook.cells:
            if cell.id in answers and cell.id != left:
                cell.source = solved[cell.id]
        made[f"student{number:03}"] = notebook
    return made


def hand_in(folder: Path, unit: str, notebooks: dict[str, NotebookNode]) -> Path:
    """Save them as student/unit/unit.ipynb, which ours and nbgrader both read."""
    for student, notebook in notebooks.items():
        path = folder / student / unit / f"{unit}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(as_text(notebook), encoding="utf-8")
    return folder


# -- four ways and the floor ----------------------------------------------------------------------


GRADE = """
import sys
from pathlib import Path
from classroom.grading.running import Options, grade
root, source, folder, unit = sys.argv[1:]
grade(Path(root), Path(source), Path(folder), Options(unit=unit), lambda done: None)
"""


def ours(scratch: Path, unit: str, notebooks: dict[str, NotebookNode]) -> Cost:
    """What `course grade --jobs 1` does: sandbox, judge and gradebook."""
    source = hand_in(scratch / "submissions", unit, notebooks)
    grades = scratch / "grades"
    cost = run([sys.executable, "-c", GRADE, ROOT, source, grades, unit], scratch)
    with Gradebook(grades / NAME) as book:
        cost.points = {graded.student: graded.earned for graded in book.all(unit)}
    return cost


def with_pages(scratch: Path, unit: str, notebooks: dict[str, NotebookNode]) -> Cost:
    """`course grade` itself, which also writes feedback pages, tables and the class report."""
    source = hand_in(scratch / "submissions", unit, notebooks)
    command = [sys.executable, "-m", "course_utils.cli", "grade", source, "--to", scratch / "g"]
    return run([*command, "--unit", unit, "--jobs", "1"], scratch)


def nbgrader(scratch: Path, unit: str, notebooks: dict[str, NotebookNode]) -> Cost:
    """`nbgrader autograde` of the whole class; making the assignment is not counted."""
    export_to_nbgrader(ROOT, scratch, [unit])
    hand_in(scratch / "submitted", unit, notebooks)
    run([sys.executable, "-m", "nbgrader", "generate_assignment", unit], scratch)
    cost = run([sys.executable, "-m", "nbgrader", "autograde", unit], scratch)
    with contextlib.closing(sqlite3.connect(scratch / "gradebook.db")) as database:
        cost.points = dict(database.execute(SCORES))
    return cost


def otter(scratch: Path, unit: str, notebooks: dict[str, NotebookNode]) -> Cost:
    """`otter run`, which takes one submission at a time; making the autograder is not counted."""
    make_otter()
    tests = scratch / "tests"
    tests.mkdir()
    calls = {
        check.exercise: cell.source
        for cell in read(ROOT / "solutions" / f"{unit}.ipynb").cells
        if (check := called_check(cell.source))
    }
    for e in declared(unit):
        text = OK_TEST.format(name=e.name, points=e.points, call=calls[e.name])
        (tests / f"{e.name}.py").write_text(text, encoding="utf-8")
    command = str(OTTER / "bin" / "otter")
    run([command, "generate", "-t", str(tests), "-o", "autograder.zip", "--no-requirements",
         "--no-environment", "--no-config"], scratch)  # fmt: skip
    cost = Cost(0.0, 0.0, {})
    for student, notebook in notebooks.items():
        folder = scratch / student
        folder.mkdir()
        (folder / f"{unit}.ipynb").write_text(as_text(notebook), encoding="utf-8")
        one = run([command, "run", "--no-logo", "-a", str(scratch / "autograder.zip"), "-o",
                   str(folder), f"{unit}.ipynb"], folder)  # fmt: skip
        results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        cost.points[student] = sum(test.get("score", 0) for test in results["tests"])
        cost.wall, cost.cpu = cost.wall + one.wall, cost.cpu + one.cpu
    return cost


def nbval(scratch: Path, unit: str, notebooks: dict[str, NotebookNode]) -> Cost:
    """`pytest --nbval` over the submissions under our checks; it compares, and gives no points."""
    solution = read_solution(ROOT / "solutions" / f"{unit}.ipynb")
    for student, notebook in notebooks.items():
        submission = submitted_cells(as_text(notebook).encode())
        made = under_our_checks(solution, assemble(asked(solution), submission))
        (scratch / f"{student}.ipynb").write_text(as_text(made), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider"]
    command += ["--nbval", "--nbval-current-env", f"--rootdir={scratch}", str(scratch)]
    return run(command, scratch, codes=(0, 1))


def floor(scratch: Path, unit: str, notebooks: dict[str, NotebookNode]) -> Cost:
    """The same cells by `exec` in this process, which has run the solution once before."""
    run_cells(read(ROOT / "solutions" / f"{unit}.ipynb"))
    wall, cpu = time.perf_counter(), time.process_time()
    points = {student: run_cells(notebook) for student, notebook in notebooks.items()}
    return Cost(time.perf_counter() - wall, time.process_time() - cpu, points)


def run_cells(notebook: NotebookNode) -> float:
    """The points of all checks; cells that do not check anything just run."""
    namespace: dict = {}
    points = 0
    for cell in code_cells(notebook):
        if cell.id.startswith("check-"):
            points += eval(cell.source, namespace).earned
        elif cell.id != "scoreboard":
            exec(cell.source, namespace)
    return points


# -- measuring ------------------------------------------------------------------------------------


def run(command: list[str | Path], folder: Path, codes: tuple[int, ...] = (0,)) -> Cost:
    """The time of a command and of all processes that it started and waited for."""
    places = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    environment = {**os.environ, **ONE_CORE, **places, "PYTHONPATH": str(ROOT), "PATH": path}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [str(word) for word in command]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode not in codes:
        raise Skipped(f"{' '.join(command[:4])} … failed: {result.stderr.strip()[-300:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu)


def make_otter() -> None:
    """An environment of its own for otter-grader, if there is none yet."""
    python = OTTER / "bin" / "python"
    if (OTTER / "bin" / "otter").exists():
        return
    print(f"Making {OTTER} for otter-grader; this needs the network once.", flush=True)
    uv = [sys.executable, "-m", "uv"]
    try:
        subprocess.run([*uv, "venv", "-q", "--python", sys.executable, OTTER], check=True)
        subprocess.run([*uv, "pip", "install", "-q", "--python", python, *OTTER_NEEDS], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Skipped(f"otter-grader could not be installed: {error}") from None


Way = Callable[[Path, str, dict[str, NotebookNode]], Cost]


def each(way: Way, unit: str, notebooks: dict[str, NotebookNode]) -> Cost:
    """What one submission costs this way."""
    with tempfile.TemporaryDirectory(prefix="grading-") as scratch:
        cost = way(Path(scratch).resolve(), unit, notebooks)
    return Cost(cost.wall / len(notebooks), cost.cpu / len(notebooks), cost.points)


def measurements(unit: str, count: int) -> Iterator[tuple[str, Cost]]:
    """All rows of the table, each as soon as it is known."""
    notebooks = submissions(unit, count)
    yield "floor", each(floor, unit, notebooks)
    few = each(ours, unit, notebooks)
    yield "ours", few
    many = each(ours, unit, submissions(unit, MORE * count))
    further = [(MORE * b - a) / (MORE - 1) for a, b in [(few.wall, many.wall), (few.cpu, many.cpu)]]
    yield "each further", Cost(*further)
    for way in (with_pages, nbgrader, otter, nbval):
        try:
            yield way.__name__.replace("_", " "), each(way, unit, notebooks)
        except Skipped as why:
            print(f"{way.__name__} is left out. {why}")


def main() -> None:
    """Print a row a way: seconds a submission, and how many times ours and the floor that is."""
    parser = argparse.ArgumentParser(description="Grading, four ways side by side.")
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--unit", default="02_momentum")
    options = parser.parse_args()
    os.environ.update(ONE_CORE)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"{options.submissions} submissions of {options.unit}, one core\n")
    print(
        f"{'':<18}{'wall s each':>12}{'CPU s each':>12}" + "".join(f"{f'× {b}':>15}" for b in BASES)
    )
    known: dict[str, Cost] = {}
    for name, cost in measurements(options.unit, options.submissions):
        known[name] = cost
        ratios = (f"{cost.wall / known[b].wall:15.1f}" if b in known else f"{'':15}" for b in BASES)
        agrees = cost.points is None or cost.points == known["floor"].points
        remark = "" if agrees else "  other points than the floor"
        print(f"{name:<18}{cost.wall:12.3f}{cost.cpu:12.3f}{''.join(ratios)}{remark}", flush=True)


if __name__ == "__main__":
    main()
