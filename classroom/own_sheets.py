"""Exercise sheets on paper, each with the numbers of one student, and a key for the assistant.

build/handouts/01_sums/ada.html  build/handouts/01_sums/key.html  … and PDFs of them

All run in one kernel, one student after the other: what is given with a student's id, then the
solution, whose answers make the key.
"""

from __future__ import annotations

import copy
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import nbformat.v4 as v4
from nbformat import NotebookNode

from selfcheck.files import CourseError, write_whole

from .handouts import without_navigation
from .pages import as_page
from .printing import browser, chromium, print_page
from .release import exercise_from
from .roles import Role, called_check, role
from .solutions import Solution, read_solution

ROOM = '<div style="height:{height}em;border:1px solid #888;border-radius:4px"></div>'
SHOWN = """\
import numpy as _np
with _np.printoptions(precision=4, suppress=True):
    print({expression})"""


class Student(NamedTuple):
    """Who gets a sheet, and the id that the numbers are made from."""

    name: str
    id: str
    key: str  # nobody else's: the name of the file


def write_own_sheets(
    solution: Path, students: Sequence[Student], folder: Path, pdf: bool = True
) -> Iterator[Path]:
    """A sheet for each student and one key for all; yields each file once it is there."""
    solved = read_solution(solution)
    if not any(role(cell) is Role.STUDENT for cell in solved.notebook.cells):
        raise CourseError(
            f"{solved.name} has the same numbers for everybody: there is no id in it."
        )
    if pdf:
        chromium()  # rather now than after the first page
    taken = {"key"}  # the names of files, the key's among them
    pages, key = [], [v4.new_markdown_cell(f"# {solution.stem}: key")]
    with _kernel(solution.parent) as kernel:
        for student in students:
            name = _free(re.sub(r"[^\w.@-]+", "_", student.key).strip("._") or "student", taken)
            page = folder / f"{name}.html"
            sheet = _sheet(solved, student, kernel)
            write_whole(page, as_page(solution, sheet, {}, keep=False))
            key += _key(solved, student, kernel)
            pages.append(page)
            yield page
    write_whole(folder / "key.html", as_page(solution, v4.new_notebook(cells=key), {}, keep=False))
    pages.append(folder / "key.html")
    yield pages[-1]
    if pdf:
        with browser() as chrome:
            for page in pages:
                print_page(chrome, page, page.with_suffix(".pdf"))
                yield page.with_suffix(".pdf")


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number behind it where another file has it."""
    numbered = (f"{name}_{n}" for n in range(2, len(taken) + 3))
    found = next(n for n in (name, *numbered) if n.casefold() not in taken)
    taken.add(found.casefold())
    return found


# -- one student ----------------------------------------------------------------------------------


def _sheet(solved: Solution, student: Student, kernel: Kernel) -> NotebookNode:
    """The blank sheet with this student's numbers, and room to write in place of answers."""
    roles = {cell.id: role(cell) for cell in solved.notebook.cells}
    minutes = _minutes(solved.notebook)
    sheet = without_navigation(exercise_from(solved))
    kept = []
    for cell in sheet.cells:
        match roles[cell.id]:
            case Role.STUDENT | Role.GIVEN as kind:
                if kind is Role.STUDENT:
                    cell.source = f"student = {student.id!r}"
                kernel.run(cell)
                if not cell.outputs:
                    continue  # imports and the like: of no use on paper
            case Role.ANSWER:
                height = 4 + minutes.get(cell.id, 6)
                cell = v4.new_markdown_cell(ROOM.format(height=height), id=cell.id)
            case Role.CHECK | Role.SCOREBOARD:
                continue
        kept.append(cell)
    kept.insert(1, v4.new_markdown_cell(f"**{student.name}** (id {student.id})"))
    sheet.cells = [cell for cell in kept if cell.id not in ("text-scoreboard", "foot")]
    return sheet


def _minutes(notebook: NotebookNode) -> dict[str, int]:
    """How long the answer in a cell may take: it says how much room there should be."""
    found, minutes = {}, 6
    for cell in notebook.cells:
        if told := re.search(r"^## Exercise .*, (\d+) minutes?\)$", cell.source, re.MULTILINE):
            minutes = int(told[1])
        found[cell.id] = minutes
    return found


def _key(solved: Solution, student: Student, kernel: Kernel) -> list[NotebookNode]:
    """The solution's own answers with this student's numbers."""
    numbers = {exercise.name: exercise.number for exercise in solved.exercises}
    told, shown = [v4.new_markdown_cell(f"## {student.name} (id {student.id})")], {"student"}
    for cell in copy.deepcopy(solved.notebook.cells):
        kind = role(cell)
        if kind is Role.STUDENT:
            cell.source = f"student = {student.id!r}"
        if kind in (Role.STUDENT, Role.GIVEN, Role.ANSWER, Role.CHECK):
            kernel.run(cell)
        if kind is Role.CHECK and (check := called_check(cell.source)):
            new = [name for name in check.arguments if name not in shown]
            shown.update(new)
            body = "\n".join(f"{name} =\n{kernel.value(name)}" for name in new)
            told.append(v4.new_markdown_cell(f"**{numbers[check.exercise]}**\n```\n{body}\n```"))
    return told


class Kernel:
    """A kernel that runs one cell after the other."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, cell: NotebookNode) -> None:
        """Run the cell; its outputs are in it."""
        if cell.cell_type == "code":
            self._client.nb.cells = [cell]
            self._client.execute_cell(cell, 0)

    def value(self, expression: str) -> str:
        """The value of an expression in the kernel, as print shows it."""
        cell = v4.new_code_cell(SHOWN.format(expression=expression))
        self.run(cell)
        text = "".join(output.get("text", "") for output in cell.outputs).strip()
        return re.sub(r"<function (\w+) at .*>", r"\1, a function", text)


@contextmanager
def _kernel(folder: Path) -> Iterator[Kernel]:
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
    from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager

    manager = AsyncKernelManager(
        kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager()
    )
    place = {"metadata": {"path": str(folder.resolve())}}
    client = NotebookClient(v4.new_notebook(), km=manager, resources=place, timeout=120)
    with client.setup_kernel(cleanup_kc=True, stderr=subprocess.DEVNULL):
        try:
            yield Kernel(client)
        except CellExecutionError as error:
            raise CourseError(f"a cell of the solution did not run: {error}") from None
