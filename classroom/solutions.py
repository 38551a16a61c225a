"""A unit's solution as release, check and grading read it: sound, its cells named, or refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfcheck.files import CourseError
from selfcheck.units import listed

from .marks import refuse_bad_marks
from .roles import (
    Asked,
    Ours,
    Role,
    name_cells,
    refuse_other_exercises,
    refuse_other_headings,
    role,
)

if TYPE_CHECKING:
    from nbformat import NotebookNode


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
    from .notebooks import read  # with all that tells whether a notebook is sound

    return solution_of(read(path), _name(path), listed(path.stem))


def solution_to_run(path: Path) -> Solution:
    """The same as plain data: grading runs its cells, and needs nothing else to be sound."""
    return solution_of(plain(path), _name(path), listed(path.stem))


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


class _Node(dict):
    """A part of a notebook as nbformat has it: what it holds are its attributes too."""

    __getattr__: Any = dict.__getitem__
    __setattr__: Any = dict.__setitem__

    def __deepcopy__(self, memo: dict) -> _Node:
        return _Node(copy.deepcopy(dict(self), memo))


def plain(path: Path) -> Any:
    """A notebook of ours without its outputs; CourseError if it is none of format 4 with ids."""
    try:
        notebook = json.loads(path.read_bytes())
        sound = notebook["nbformat"] == 4
        cells = [_cell(cell) for cell in notebook["cells"]]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CourseError(f"{path} is not a sound notebook: {error}") from None
    if not sound:
        raise CourseError(f"{path} is not a sound notebook of format 4.")
    return _Node(cells=cells)


def _cell(cell: dict) -> _Node:
    about = {name: cell[name] for name in ("id", "cell_type", "metadata")}
    return _Node(about, source="".join(cell["source"]))


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
