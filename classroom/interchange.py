"""For those who grade with nbgrader: our solutions as its assignment source.

`course release --nbgrader DIR` writes a folder in which nbgrader's own commands work:

    course release --nbgrader DIR
    cd DIR
    nbgrader generate_assignment 01_sums    # writes release/01_sums/, our exercise
    nbgrader autograde 01_sums              # grades submitted/STUDENT/01_sums/

nbgrader gives a check that does not raise full points, and ours never raise. So the source's check
cells end with hidden lines that show the verdict and hand over the points as a number. Students get
neither, and nbgrader puts them back before it grades. It runs them in the student's own process;
`course grade` is the one that cannot be deceived.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

from nbformat import NotebookNode

from selfcheck.files import CourseError, write_whole

from .notebooks import as_text, strip_outputs
from .release import exercise_from
from .roles import called_check
from .selection import chosen
from .solutions import Solution, read_solution, solution_paths

SETTINGS = '''\
"""nbgrader's settings for the course; run its commands in this folder."""

from classroom.nbgrader_settings import apply

apply(get_config())  # noqa: F821
'''
HIDDEN_LINES = """
### BEGIN HIDDEN TESTS
display({check}.last)
{check}.last.earned
### END HIDDEN TESTS"""


def export_to_nbgrader(root: Path, target: Path, units: Sequence[str] = ()) -> list[Path]:
    """Write source/UNIT/UNIT.ipynb for each unit and the settings; nothing there is overwritten."""
    texts = {
        target / "source" / path.stem / path.name: as_text(nbgrader_source(read_solution(path)))
        for path in chosen(solution_paths(root), units)
    }
    for path in texts:
        if path.exists():
            raise CourseError(f"{path} exists already; name a new place or remove it first.")
    settings = target / "nbgrader_config.py"
    if not settings.exists():
        texts[settings] = SETTINGS
    for path, text in texts.items():
        write_whole(path, text)
    return list(texts)


def nbgrader_source(solution: Solution) -> NotebookNode:
    """The instructor's version for nbgrader: the solution, and checks that give points."""
    exercise = exercise_from(solution)  # also refuses what is not sound
    metadata = {cell.id: cell.metadata for cell in exercise.cells}
    source = strip_outputs(copy.deepcopy(solution.notebook))
    source.cells = [cell for cell in source.cells if cell.id in metadata]
    for cell in source.cells:
        cell.metadata = metadata[cell.id]
        if check := called_check(cell.source):
            cell.source += HIDDEN_LINES.format(check=f"check.{check.exercise}")
    return source
