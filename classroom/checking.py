"""`course check`: nbval over lectures and solutions, and over one submission.

Both are plain nbval with a plugin of ours: `nbval_table.py` counts what was really compared, and
`nbval_exercises.py` makes each exercise of a submission one test.
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from selfcheck.files import CourseError
from selfcheck.units import declared

from .grading.assembly import Assembly, assemble
from .grading.submitted import Cell, submitted_cells
from .kernels import warm
from .notebooks import CELL_TIMEOUT, as_text, problems, read
from .release import exercise_from
from .roles import Role, called_check, id_of
from .solutions import Solution, asked, read_solution, solution_paths

NBVAL = ("--nbval", "--nbval-current-env", "--nbval-kernel-startup-timeout=180")
QUIET = ("-qq", "--tb=no", "-rN", "--color=no", "-p", "no:cacheprovider", "-c", os.devnull)
ALONE = "--noconftest"  # what a folder has for its own tests is not for these
SUBMISSION_TIMEOUT = 30  # seconds a cell
WARNING = (
    "This runs the submission's code on this machine, without a sandbox; `course grade` has one."
)


# -- lectures and solutions -----------------------------------------------------------------------


def is_ours(path: Path, root: Path) -> bool:
    """Is it a lecture or a solution of this course?"""
    return path.resolve().parent in (root.resolve() / "notebooks", root.resolve() / "solutions")


def check_notebooks(paths: Sequence[Path], root: Path, jobs: int | None = None) -> bool:
    """Run nbval over our own notebooks and print the table; are all of them green?"""
    sound = all([not problems(read(path)) for path in paths])  # every file is read first
    jobs = min(jobs or os.cpu_count() or 1, len(paths))
    spread = ["-n", str(jobs), "--dist", "loadfile"] if jobs > 1 else []
    arguments = [*spread, f"--nbval-cell-timeout={CELL_TIMEOUT}"]
    with warm():
        return _is_green("nbval_table", root, [*arguments, *map(str, paths)]) and sound


def _is_green(plugin: str, root: Path, arguments: Sequence[str]) -> bool:
    """Run pytest with nbval and a plugin of ours in a process of its own."""
    command = [sys.executable, "-m", "pytest", *QUIET, ALONE, f"--rootdir={root}"]
    command += ["-p", f"{__package__}.{plugin}", *NBVAL, *arguments]
    outer = ("PYTEST_", "COV_")  # nothing of a pytest around this one may leak in
    environment = {k: v for k, v in os.environ.items() if not k.startswith(outer)}
    package = str(Path(__file__).resolve().parents[1])
    paths = [package, environment.get("PYTHONPATH")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    sys.stdout.flush()
    code = subprocess.run(command, cwd=root, env=environment).returncode
    if code not in (0, 1):
        raise CourseError(f"pytest could not do its work (exit code {code}).")
    return code == 0


# -- a submission ---------------------------------------------------------------------------------


def check_submission(path: Path, root: Path) -> bool:
    """Run one submission under the instructor's checks and print the table; is all of it right?"""
    try:
        submission = submitted_cells(path.read_bytes())
    except CourseError as problem:
        raise CourseError(f"{path}: {problem}") from None
    solution = read_solution(_solution_of(path, submission, root))
    assembly = assemble(asked(solution), submission)
    print(f"{path}\n{WARNING}")
    for note in assembly.notes:
        print(f"Note: {note}")
    with tempfile.TemporaryDirectory(prefix="course-check-") as folder:
        notebook = Path(folder).resolve() / "submission.ipynb"
        notebook.write_text(as_text(under_our_checks(solution, assembly)), encoding="utf-8")
        timeout = f"--nbval-cell-timeout={SUBMISSION_TIMEOUT}"
        return _is_green("nbval_exercises", notebook.parent, [timeout, str(notebook)])


def under_our_checks(solution: Solution, assembly: Assembly) -> NotebookNode:
    """The notebook that nbval runs: the student's cells, our checks, and our saved outputs."""
    ours = {cell.id: cell for cell in solution.notebook.cells}
    cells = []
    for number, (cell_id, source, is_check) in enumerate(_with_blanks(solution, assembly)):
        if is_check:
            cells.append(copy.deepcopy(ours[cell_id]))
            cells[-1].source = source  # their call may have other arguments
        else:
            cells.append(new_code_cell(source, id=f"cell-{number}", metadata={"step": cell_id}))
    return new_notebook(cells=cells, metadata=solution.notebook.metadata)


def _with_blanks(solution: Solution, assembly: Assembly) -> Iterator[tuple[str, str, bool]]:
    """Id, source, is it a check; an answer that is missing altogether is left blank."""
    blanks = {cell.id: cell.source for cell in exercise_from(solution).cells}
    answered = False
    for step in assembly.steps:
        if step.check and not answered:
            answer = id_of(Role.ANSWER, step.check.exercise)
            yield answer, blanks[answer], False
        yield step.id, step.source, step.check is not None
        answered = not step.check and (answered or step.is_students)


def _solution_of(path: Path, submission: Sequence[Cell], root: Path) -> Path:
    """The solution with the most exercises in common; else the one of the same name."""
    solutions = solution_paths(root)
    theirs = _landmarks(submission)
    common = {p: len(theirs & _ids_of_exercises(p.stem)) for p in solutions}
    best = max(common.values(), default=0)
    found = [p for p in solutions if common[p] == best] if best else solutions
    named = [p for p in found if p.stem in path.as_posix()]
    if len(named or found) == 1:
        return (named or found)[0]
    raise CourseError(
        f"{path} belongs to no unit: it has none of the checks, and its name is none of "
        f"{', '.join(p.stem for p in solutions)}."
    )


def _landmarks(cells: Sequence[Cell]) -> set[str]:
    """The ids of the cells, and those of the checks that they call."""
    calls = filter(None, (called_check(cell.source) for cell in cells))
    return {cell.id for cell in cells} | {id_of(Role.CHECK, check.exercise) for check in calls}


def _ids_of_exercises(unit: str) -> set[str]:
    return {id_of(kind, e.name) for e in declared(unit) for kind in (Role.ANSWER, Role.CHECK)}
