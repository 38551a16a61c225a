"""What is run for a submission: the instructor's cells in their order, the student's in between.

Check cells are always the instructor's, so whatever a submission did to them is without effect. Of
an answer only the place is known here, never the solution. Answers are found by their cell id; in
a notebook that has lost its ids (some editors drop them), the calls `check.weights(...)` are the
landmarks, and what stands before one belongs to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from selfcheck.files import CourseError

from ..marks import INSTRUCTOR_ONLY
from ..roles import Check, Ours, Role, called_check, role_of_code

OLDEST, NEWEST = 4, 4  # notebook formats
MOST_PARTS, MOST_VALUES, MOST_CELLS = 300_000, 2_000_000, 2_000
TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


class Cell(NamedTuple):
    """A code cell; the id is empty where a notebook has none."""

    id: str
    source: str


@dataclass(frozen=True)
class Step:
    """One cell to run, or one exercise to judge where `check` is given."""

    id: str
    source: str
    is_students: bool = False
    check: Check | None = None
    tells_id: bool = False
    is_answer: bool = False


@dataclass(frozen=True)
class Assembly:
    """All steps in order, and in words what had to be put right."""

    steps: tuple[Step, ...]
    notes: tuple[str, ...]


def submitted_cells(data: bytes) -> list[Cell]:
    """The code cells of a notebook file that nobody vouches for; CourseError says what is wrong.

    What is for instructors only is left out.
    """
    _refuse_too_many_parts(data)
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        raise CourseError("the file is no notebook: it is not valid JSON.") from None
    if not isinstance(notebook, dict):
        raise CourseError("the file is no notebook: there is no object in it.")
    version = notebook.get("nbformat")
    if type(version) is not int or not OLDEST <= version <= NEWEST:
        shown = version if type(version) is int and 0 <= version < 100 else "unknown"
        raise CourseError(f"the notebook has format version {shown}; version 4 is expected.")
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise CourseError("the notebook has no list of cells.")
    code = [cell for cell in cells if cell.get("cell_type") == "code" and not _is_note(cell)]
    if not code:
        raise CourseError("the notebook has no code cells.")
    if len(code) > MOST_CELLS:
        raise CourseError(f"the notebook has {len(code)} code cells; {MOST_CELLS} is the limit.")
    return [Cell(_text(cell.get("id", "")), _source(cell.get("source"))) for cell in code]


def _refuse_too_many_parts(data: bytes) -> None:
    """A few megabytes of empty cells would take half a gigabyte to read."""
    if len(data) > MOST_PARTS:
        bare = TEXT.sub(b"", data)
        parts = bare.count(b"{") + bare.count(b"[")
        if parts > MOST_PARTS or bare.count(b",") > MOST_VALUES:
            raise CourseError("the file has far more parts than a notebook; it was not read.")


def assemble(ours: Sequence[Ours], submission: Sequence[Cell]) -> Assembly:
    """Put the student's cells between the instructor's."""
    return _Assembling(ours, submission).result()


class _Assembling:
    def __init__(self, ours: Sequence[Ours], submission: Sequence[Cell]) -> None:
        self.ours = ours
        calls = {cell.id: called_check(cell.source) for cell in ours if cell.role == Role.CHECK}
        self.checks = {cell_id: check for cell_id, check in calls.items() if check}
        self.by_exercise = {check.exercise: key for key, check in self.checks.items()}
        self.student = next((cell.id for cell in ours if cell.role == Role.STUDENT), "")
        self.sources = {c.source.strip(): c.id for c in ours if c.source.strip()}
        self.mine: dict[str, str] = {}
        self.extras: dict[str, list[Step]] = {}
        self.seen: list[str] = []
        self.notes: list[str] = []
        self._sort(submission)

    def _sort(self, submission: Sequence[Cell]) -> None:
        """The student's version of each cell that we know, and their own cells behind those."""
        known, last = {cell.id for cell in self.ours}, ""
        for number, cell in enumerate(submission, start=1):
            if role_of_code(cell.source) is Role.SCOREBOARD:
                continue
            place = self._place(cell, known)
            if place in known and place not in self.mine:
                self.mine[place] = cell.source
                self.seen.append(place)
                last = place
            elif place in self.checks:
                self.notes.append(f"The check of {place} stood there twice; it counts once.")
            elif cell.source.strip():
                own = Step(cell.id or f"cell {number}", cell.source, is_students=True)
                self.extras.setdefault(last, []).append(own)

    def _place(self, cell: Cell, known: set[str]) -> str:
        if cell.id in known:
            return cell.id
        check = called_check(cell.source)
        if check and check.exercise in self.by_exercise:
            return self.by_exercise[check.exercise]
        if role_of_code(cell.source) is Role.STUDENT:
            return self.student
        return self.sources.get(cell.source.strip(), "")

    def result(self) -> Assembly:
        steps: list[Step] = []
        head = True  # cells of the student's before all that we know come after our own first ones
        for cell in self.ours:
            if head and cell.role in (Role.ANSWER, Role.CHECK):
                steps += self.extras.pop("", [])
                head = False
            if cell.role == Role.ANSWER and cell.id not in self.mine and not _pending(steps):
                self.notes.append(f"The cell {cell.id} is missing.")
            steps += self._steps_of(cell)
            steps += self.extras.pop(cell.id, [])
        self._note_order()
        return Assembly(tuple(steps), tuple(self.notes))

    def _steps_of(self, cell: Ours) -> Iterable[Step]:
        theirs = self.mine.get(cell.id)
        if cell.role == Role.CHECK:
            self._note_check(cell, theirs)
            yield Step(cell.id, cell.source, check=self.checks[cell.id])
        elif cell.role == Role.ANSWER:
            if theirs is not None:
                yield Step(cell.id, theirs, is_students=True, is_answer=True)
        elif cell.role == Role.STUDENT and theirs is not None:
            yield Step(cell.id, theirs, is_students=True, tells_id=True)
        else:
            yield Step(cell.id, cell.source, tells_id=cell.role == Role.STUDENT)
            if theirs is not None and theirs.strip() != cell.source.strip():
                self.notes.append(f"The cell {cell.id} was edited; ours ran first, then theirs.")
                yield Step(cell.id, theirs, is_students=True)

    def _note_check(self, cell: Ours, theirs: str | None) -> None:
        if theirs is None:
            self.notes.append(f"The cell {cell.id} was deleted; it is restored.")
        elif called_check(theirs) != self.checks[cell.id]:
            self.notes.append(f"The cell {cell.id} was edited; it is restored.")

    def _note_order(self) -> None:
        order = [cell.id for cell in self.ours if cell.id in self.mine]
        if self.seen != order:
            self.notes.append("The cells were in another order; they ran in the instructor's.")


def _pending(steps: Sequence[Step]) -> bool:
    """Is there code of the student's since the last check?"""
    since: list[bool] = []
    for step in steps:
        since = [] if step.check else [*since, step.is_students]
    return any(since)


def _is_note(cell: dict) -> bool:
    metadata = cell.get("metadata")
    return isinstance(metadata, dict) and INSTRUCTOR_ONLY in str(metadata.get("tags"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _source(value: Any) -> str:
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return _text(value)
