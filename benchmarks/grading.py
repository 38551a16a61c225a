"""Grading the same submissions side by side: ours, nbgrader, otter-grader, plain nbval.

Every way grades all submissions with one command where it has one, bound to one core, its own start
included, into its own kind of record; pages for students are extra everywhere (for us the row `with
pages`). Ratios of wall time are those of throughput on one core, if the machine is quiet; those of
processor time hold on a busy one too, but leave out what a program waits for. The floor is the same
cells, answers and checks, run by `exec` in one warm process without sandbox or judge. `each
further` is what one more submission costs us, once everything is warm.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import io
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from nbformat import NotebookNode

from benchmarks.core import Report, Spread, has, significant
from classroom.checking import under_our_checks
from classroom.grading.assembly import assemble
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.submitted import submitted_cells
from classroom.interchange import export_to_nbgrader
from classroom.notebooks import as_text, code_cells, read
from classroom.roles import called_check
from classroom.solutions import asked, read_solution
from classroom.threads import ONE_THREAD
from selfcheck.units import declared

ROOT = Path(__file__).parents[1]
UNIT, CLASS = "02_momentum", 20
MORE = 5  # times as many submissions, to see what each further one costs
ROUNDS = 3
FEW = 4  # for what takes one submission after the other, each with its own start
GOALS = {"start": 1.2, "nothing changed": 0.5, "times nbgrader": 15}
ADOPT_ORPHANS = 36  # for prctl: those whose parent has ended become our children
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
    """Students who solved everything but one exercise each; every eighth one solved them all.

    Each writes the lines of a derivation in another way: a judge who remembers lines knows none.
    """
    solved = {cell.id: cell.source for cell in read(ROOT / "solutions" / f"{unit}.ipynb").cells}
    exercise = read(ROOT / "exercises" / f"{unit}.ipynb")
    answers = [cell.id for cell in exercise.cells if cell.id.startswith("answer-")]
    made = {}
    for number in range(count):
        left = [*answers, None][number % (len(answers) + 1)]
        notebook = copy.deepcopy(exercise)
        for cell in notebook.cells:
            if cell.id in answers and cell.id != left:
                cell.source = in_own_words(solved[cell.id], number + 2)
        made[f"student{number:03}"] = notebook
    return made


def in_own_words(source: str, k: int) -> str:
    """The lines of 2.5 with a factor that cancels; all else as it is."""
    source = source.replace(
        "Sum(beta ** (t - i), (i, 1, t))", f"Sum({k} * beta ** (t - i), (i, 1, t)) / {k}"
    )
    return source.replace(
        "mu * (1 - beta**t) / (1 - beta)", f"{k} * mu * (1 - beta**t) / ({k} * (1 - beta))"
    )


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
from classroom.grading.options import Options
from classroom.grading.pipeline import grade
root, source, folder, unit = sys.argv[1:]
grade(Path(root), Path(source), Path(folder), Options(unit=unit), lambda done: None)
"""


def ours(scratch: Path, unit: str, notebooks: dict[str, NotebookNode]) -> Cost:
    """What `course grade --jobs 1` does: sandbox, judge and gradebook."""
    source = hand_in(scratch / "submissions", unit, notebooks)
    grades = scratch / "grades"
    cost = run([sys.executable, "-c", GRADE, ROOT, source, grades, unit], scratch, cwd=ROOT)
    with Gradebook(grades / NAME) as book:
        cost.points = {graded.student: graded.earned for graded in book.all(unit)}
    return cost


def with_pages(scratch: Path, unit: str, notebooks: dict[str, NotebookNode], *options: str) -> Cost:
    """`course grade` itself, which also writes feedback pages, tables and the class report."""
    source = hand_in(scratch / "submissions", unit, notebooks)
    command = [sys.executable, "-m", "selfcheck", "grade", source, "--to", scratch / "g"]
    return run([*command, "--unit", unit, *options], scratch, cwd=ROOT)


def on_one_core(scratch: Path, unit: str, notebooks: dict[str, NotebookNode]) -> Cost:
    """The same, one after the other."""
    return with_pages(scratch, unit, notebooks, "--jobs", "1")


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
    command = str(BIN / "otter")
    run([command, "generate", "-t", str(tests), "-o", "autograder.zip", "--no-requirements",
         "--no-environment", "--no-config"], scratch)  # fmt: skip
    points: dict[str, float] = {}
    cost = Cost(0.0, 0.0, points)
    for student, notebook in notebooks.items():
        folder = scratch / student
        folder.mkdir()
        (folder / f"{unit}.ipynb").write_text(as_text(notebook), encoding="utf-8")
        one = run([command, "run", "--no-logo", "-a", str(scratch / "autograder.zip"), "-o",
                   str(folder), f"{unit}.ipynb"], folder)  # fmt: skip
        results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        points[student] = sum(test.get("score", 0) for test in results["tests"])
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
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in code_cells(notebook):
            if cell.id.startswith("check-"):
                points += eval(cell.source, namespace).earned
            elif cell.id != "scoreboard":
                exec(cell.source, namespace)
    return points


# -- measuring ------------------------------------------------------------------------------------


def run(
    command: list[str | Path], folder: Path, codes: tuple[int, ...] = (0,), cwd: Path | None = None
) -> Cost:
    """The time of a command, and on the processor that of all processes it started.

    A judge that is ended leaves its sandbox to us: it is waited for here, so that it counts.
    """
    places = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    environment = {**os.environ, **ONE_THREAD, **places, "PYTHONPATH": str(ROOT), "PATH": path}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [str(word) for word in command]
    quietly = {"capture_output": True, "text": True}
    result = subprocess.run(command, cwd=cwd or folder, env=environment, **quietly)
    wall = time.perf_counter() - start
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode not in codes:
        raise Skipped(f"{' '.join(command[:4])} … failed: {result.stderr.strip()[-300:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu)


Way = Callable[[Path, str, dict[str, NotebookNode]], Cost]


def each(way: Way, unit: str, notebooks: dict[str, NotebookNode]) -> Cost:
    """What one submission costs this way."""
    with tempfile.TemporaryDirectory(prefix="grading-") as scratch:
        cost = way(Path(scratch).resolve(), unit, notebooks)
    return Cost(cost.wall / len(notebooks), cost.cpu / len(notebooks), cost.points)


def often(way: Way, notebooks: dict[str, NotebookNode]) -> Cost:
    """One of several runs, that with the median of wall time."""
    costs = sorted((each(way, UNIT, notebooks) for _ in range(ROUNDS)), key=lambda c: c.wall)
    return costs[ROUNDS // 2]


def in_turns(way: Way, notebooks: dict[str, NotebookNode]) -> tuple[Cost, Cost, Spread]:
    """Ours and nbgrader in turns: both where ours took its median, and all ratios of wall time."""
    rounds = [(each(way, UNIT, notebooks), each(nbgrader, UNIT, notebooks)) for _ in range(ROUNDS)]
    ours_, theirs = sorted(rounds, key=lambda pair: pair[0].wall)[ROUNDS // 2]
    return ours_, theirs, Spread(tuple(theirs.wall / ours_.wall for ours_, theirs in rounds))


def again(unit: str, notebooks: dict[str, NotebookNode]) -> tuple[float, float]:
    """Seconds of `course grade` for these submissions, and once more when nothing has changed."""
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        scratch = Path(folder).resolve()
        source = hand_in(scratch / "submissions", unit, notebooks)
        command = [sys.executable, "-m", "selfcheck", "grade", source, "--to", scratch / "g"]
        command += ["--unit", unit, "--jobs", "1"]
        first = run(command, scratch, cwd=ROOT).wall
        return first, min(run(command, scratch, cwd=ROOT).wall for _ in range(3))


def measure(report: Report) -> None:
    """A row for each way: seconds per submission, and how many times ours and the floor that is."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else {0}
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(cores)})
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    report.without("nbgrader", "otter-grader")
    class_, few = submissions(UNIT, CLASS), submissions(UNIT, FEW)
    known, alone = {"floor": often(floor, class_)}, None
    if has("nbgrader"):
        known["ours"], theirs, alone = in_turns(ours, class_)
    else:
        known["ours"] = often(ours, class_)
    many = each(ours, UNIT, submissions(UNIT, MORE * CLASS))
    pairs = [(known["ours"].wall, many.wall), (known["ours"].cpu, many.cpu)]
    further = Cost(*((MORE * b - a) / (MORE - 1) for a, b in pairs))
    known["each further"] = further
    for name, way, given in [
        ("with pages", on_one_core, class_),
        ("otter-grader", otter, few),
        ("nbval", nbval, few),
    ]:
        if name == "otter-grader" and not has(name):
            continue
        try:
            known[name] = each(way, UNIT, given)
        except Skipped as why:
            report.say(f"{name} is left out. {why}")
    if alone:
        known["nbgrader"] = theirs
    rows = [[label(name), *columns(cost, known)] for name, cost in known.items()]
    head = [f"{CLASS} submissions of {UNIT}, one core", "wall s each", "CPU s each"]
    report.table([*head, "× ours", "× ours, CPU", "× floor, CPU"], rows)
    starts(report, known, class_)
    if alone:
        together = on_all_cores(report, cores, class_)
        told = "reached" if together.median >= GOALS["times nbgrader"] else "**not reached**"
        report.say(
            f"Goal: {GOALS['times nbgrader']} times nbgrader for a class of {CLASS}, start "
            f"included, as both run by default; measured {together.shown()}, {told}. "
            f"On one core, ours without pages: {alone.shown()}. Both are medians of {ROUNDS} "
            "rounds in which the two took turns."
        )
        report.quote = (
            f"Grading a class of {CLASS} takes nbgrader {significant(together.median)} times as "
            f"long as us on {len(cores)} cores, as both run by default and with their start, and "
            f"{significant(alone.median)} times on one ({significant(known['ours'].wall)} s a "
            "submission, in a sandbox, judged from outside)."
        )


def on_all_cores(report: Report, cores: set[int], class_: dict[str, NotebookNode]) -> Spread:
    """How many times as long nbgrader takes, as both commands run by default.

    Ours uses all cores, and writes the pages too.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    ours_, theirs, ratios = in_turns(with_pages, class_)
    took = [f"{significant(cost.wall * CLASS)} s" for cost in (ours_, theirs)]
    report.say(
        f"On all {len(cores)} cores, as both commands run by default, ours with pages and report: "
        f"`course grade` takes {took[0]} for the class, `nbgrader autograde` {took[1]}."
    )
    return ratios


def starts(report: Report, known: dict[str, Cost], class_: dict[str, NotebookNode]) -> None:
    """The start, from a class of one, and a run in which nothing has changed."""
    alone = [each(ours, UNIT, submissions(UNIT, 1)) for _ in range(ROUNDS)]
    wall, cpu = (median(getattr(cost, clock) for cost in alone) for clock in ("wall", "cpu"))
    start = max(0.0, wall - known["each further"].wall)
    report.goal("command, judge and sandbox start in", start, GOALS["start"], "s")
    report.say(
        f"A class of one takes {significant(wall)} s, {significant(cpu)} s of it on the processor."
    )
    _, unchanged = again(UNIT, class_)
    report.goal("with nothing changed, it takes", unchanged, GOALS["nothing changed"], "s")


def label(name: str) -> str:
    """What a row is called."""
    few = name in ("otter-grader", "nbval")
    return f"{name} ({FEW} submissions)" if few else name


def columns(cost: Cost, known: dict[str, Cost]) -> list[str]:
    """Times and ratios, and a remark where the points are not those of the floor."""
    ratios = [
        significant(cost.wall / known["ours"].wall),
        significant(cost.cpu / known["ours"].cpu),
        significant(cost.cpu / known["floor"].cpu),
    ]
    theirs, right = cost.points, known["floor"].points or {}
    if theirs is not None and any(right[student] != theirs[student] for student in theirs):
        ratios[0] += " (other points)"
    return [significant(cost.wall), significant(cost.cpu), *ratios]
