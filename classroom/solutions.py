"""A unit's solution as release, check and grading read it: sound, its cells named, or refused."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from course_utils.files import CourseError
from course_utils.units import declared

from .marks import refuse_bad_marks
from .notebooks import read
from .roles import (
    Asked,
    Ours,
    Role,
    name_cells,
    refuse_other_exercises,
    refuse_other_headings,
    role,
)


@dataclass(frozen=True)
class Solution:
    """A solved notebook whose exercises are exactly those that its unit declares."""

    name: str
    notebook: NotebookNode
    exercises: tuple[Asked, ...]


def solution_of(notebook: NotebookNode, name: str, asked: Sequence[Asked]) -> Solution:
    """The solution with names for all its cells; CourseError names the cell that is not sound."""
    for cell in notebook.cells:
        if role(cell) is not Role.INSTRUCTORS:
            refuse_bad_marks(cell, name)
    code = [c for c in notebook.cells if c.cell_type == "code" and role(c) is not Role.INSTRUCTORS]
    refuse_other_exercises(code, asked, name)
    named = name_cells(copy.deepcopy(notebook))
    refuse_other_headings(named.cells, asked, name)
    return Solution(name, named, tuple(asked))


def read_solution(path: Path) -> Solution:
    """The solution of the unit that the file is named after."""
    return solution_of(read(path), f"{path.parent.name}/{path.name}", declared(path.stem))


def asked(solution: Solution) -> list[Ours]:
    """The code cells of a solution without its answers: all that a submission is run with."""
    cells = [(cell, role(cell)) for cell in solution.notebook.cells if cell.cell_type == "code"]
    return [
        Ours(cell.id, kind, "" if kind is Role.ANSWER else cell.source)
        for cell, kind in cells
        if kind not in (Role.INSTRUCTORS, Role.SCOREBOARD)
    ]


def solution_paths(root: Path) -> list[Path]:
    """All solutions of the course, or a sentence."""
    paths = sorted((root / "solutions").glob("*.ipynb"))
    if not paths:
        raise CourseError(f"There are no solution notebooks in {root / 'solutions'}.")
    return paths
