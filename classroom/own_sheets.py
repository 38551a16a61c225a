"""Exercise sheets on paper, each with the numbers of one student, and a key for the assistant.

build/handouts/01_sums/ada.html  build/handouts/01_sums/key.html  … and PDFs of them

All run in one kernel, one student after the other: what is given with a student's id, then the
solution, whose answers make the key.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat.v4 as v4
from nbformat import NotebookNode

from selfcheck.files import CourseError, write_whole

from .pages import as_page
from .paper import Kernel, Student, kernel_in, paper_sheet
from .printing import browser, chromium, print_page
from .roles import Role, called_check, role
from .solutions import Solution, read_solution


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
    with kernel_in(solution.parent) as kernel:
        for student in students:
            name = _free(re.sub(r"[^\w.@-]+", "_", student.key).strip("._") or "student", taken)
            page = folder / f"{name}.html"
            sheet = paper_sheet(solved, student, kernel)
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
