"""What a unit asks, from its solution: the cells that a submission is run with."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from selfcheck.files import CourseError
from selfcheck.units import listed

from ..roles import Ours, Role, called_check, role
from ..solutions import Solution, asked, solution_paths, solution_to_run
from .assembly import Cell, submitted_cells


class _Names(Mapping[str, list[str]]):
    """The names of the exercises of units, read when they are needed."""

    def __init__(self, units: Iterable[str]) -> None:
        self._units = list(units)

    def __getitem__(self, unit: str) -> list[str]:
        return [e.name for e in listed(unit)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._units)

    def __len__(self) -> int:
        return len(self._units)


class Solutions:
    """The instructor's notebooks: what is asked in each unit."""

    def __init__(self, root: Path) -> None:
        self._paths = {path.stem: path for path in solution_paths(root)}
        self._asked: dict[str, list[Ours]] = {}
        self._read: dict[str, Solution] = {}
        self._root = root
        self._lecture_cells: dict[str, set[str]] | None = None

    def exercise_names(self) -> Mapping[str, list[str]]:
        """The names of the exercises of each unit."""
        return _Names(self._paths)

    def cells(self, unit: str) -> list[Cell]:
        """The code cells of a unit's solution."""
        cells = self._solution(unit).notebook.cells
        kept = [cell for cell in cells if role(cell) not in (Role.TEXT, Role.INSTRUCTORS)]
        return [Cell(cell.id, cell.source) for cell in kept]

    def asked(self, unit: str) -> list[Ours]:
        """The same without the answers: all that a submission is run with."""
        if unit not in self._asked:
            self._asked[unit] = asked(self._solution(unit))
        return self._asked[unit]

    def _solution(self, unit: str) -> Solution:
        if unit not in self._read:
            self._read[unit] = solution_to_run(self._paths[unit])
        return self._read[unit]

    def refuse_lecture(self, unit: str, cells: Sequence[Cell]) -> None:
        """A sentence if this is a lecture, handed in by mistake."""
        answers = {cell.id for cell in self.asked(unit) if cell.role == Role.ANSWER}
        if answers & {cell.id for cell in cells}:
            return
        names = set(self.exercise_names()[unit])
        calls = {check.exercise for cell in cells if (check := called_check(cell.source))}
        if calls & names:
            return
        sources = {cell.source.strip() for cell in cells} - {""}
        for stem, lecture in self._lectures().items():
            if sources and 2 * len(sources & lecture) > len(sources):
                raise CourseError(f"this is the lecture {stem}, not the exercises.")

    def _lectures(self) -> dict[str, set[str]]:
        """The sources of the code cells of all lectures."""
        if self._lecture_cells is None:
            self._lecture_cells = {}
            for path in sorted((self._root / "notebooks").glob("*.ipynb")):
                with contextlib.suppress(CourseError):
                    cells = submitted_cells(path.read_bytes())
                    self._lecture_cells[path.stem] = {cell.source.strip() for cell in cells}
        return self._lecture_cells
