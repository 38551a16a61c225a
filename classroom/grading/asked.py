"""What a unit asks, from its solution: the cells that a submission is run with."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from selfcheck.files import CourseError
from selfcheck.sealed import solved
from selfcheck.units import listed

from ..marks import without_solution
from ..outline import headings
from ..roles import Ours, Role, id_of, role
from ..solutions import Solution, asked, plain, solution_paths, solution_to_run
from .contents import Contents
from .submitted import Cell, submitted_cells


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


def _without_heading(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return re.sub(r"^\*Difficulty[^*]*\*\s*", "", "\n".join(lines).strip())


class Solutions:
    """The instructor's notebooks: what is asked in each unit."""

    def __init__(self, root: Path) -> None:
        self._paths = {path.stem: path for path in solution_paths(root)}
        self._asked: dict[str, list[Ours]] = {}
        self._read: dict[str, Solution] = {}
        self._given: dict[str, dict[str, str]] = {}
        self._shown: dict[str, set[str]] = {}
        self._root = root
        self._lecture_cells: dict[str, set[str]] | None = None

    def exercise_names(self) -> Mapping[str, list[str]]:
        """The names of the exercises of each unit."""
        return _Names(self._paths)

    def contents(self) -> Contents:
        """What tells a sheet of a unit from a lecture and from other notebooks."""
        names = self.exercise_names()
        return Contents(names, self._lectures, lambda u: set(self.given(u).values()), self._solved)

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

    def given(self, unit: str) -> dict[str, str]:
        """The code cells of the sheet as students get it, by id, with its stubs."""
        if unit not in self._given:
            solution = self._solution(unit)
            cells = [cell for cell in solution.notebook.cells if cell.cell_type == "code"]
            self._given[unit] = {
                cell.id: without_solution(cell, solution.name).strip()
                for cell in cells
                if role(cell) is not Role.INSTRUCTORS
            }
        return self._given[unit]

    def stubs(self, unit: str) -> dict[str, str]:
        """What the sheet gives for each exercise."""
        given = self.given(unit)
        names = self.exercise_names()[unit]
        return {name: given.get(id_of(Role.ANSWER, name), "") for name in names}

    def questions(self, unit: str) -> dict[str, str]:
        """The text of each exercise, without its heading."""
        cells = {cell.id: cell.source for cell in self._solution(unit).notebook.cells}
        texts = {
            name: cells.get(id_of(Role.TEXT, name), "") for name in self.exercise_names()[unit]
        }
        return {name: _without_heading(text) for name, text in texts.items() if text}

    def sections(self, unit: str) -> dict[str, str]:
        """The heading of the section of the lecture that each exercise is about."""
        try:
            cells = plain(self._root / "notebooks" / f"{unit}.ipynb").cells
        except CourseError:  # a unit may have no lecture
            return {}
        titles = [text for cell in cells for level, text in headings(cell) if level == 2]
        by_number = {title.partition(" ")[0]: title.partition(" ")[2] for title in titles}
        return {
            e.name: f"section {e.section}, “{by_number[str(e.section)]}”"
            for e in listed(unit)
            if str(e.section) in by_number
        }

    def _solution(self, unit: str) -> Solution:
        if unit not in self._read:
            self._read[unit] = solution_to_run(self._paths[unit])
        return self._read[unit]

    def _solved(self, unit: str) -> set[str]:
        """The sources of the code cells of a unit's solution as students read it afterwards."""
        if unit not in self._shown:
            self._shown[unit] = {solved(cell.source).strip() for cell in self.cells(unit)}
        return self._shown[unit]

    def _lectures(self) -> dict[str, set[str]]:
        """The sources of the code cells of all lectures."""
        if self._lecture_cells is None:
            self._lecture_cells = {}
            for path in sorted((self._root / "notebooks").glob("*.ipynb")):
                with contextlib.suppress(CourseError):
                    cells = submitted_cells(path.read_bytes())
                    self._lecture_cells[path.stem] = {cell.source.strip() for cell in cells}
        return self._lecture_cells
