"""What is different on paper: nothing unfolds, nothing runs, and one writes by hand.

A lecture has its answers at the end. A sheet has numbers, those of an id, and room to write; what
only a computer needs is not there: imports, checks, the scoreboard.
"""

from __future__ import annotations

import ast
import html
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import nbformat.v4 as v4
from nbformat import NotebookNode

from selfcheck.files import CourseError

from .navigation import FOOT, HEAD
from .offline import element
from .release import exercise_from
from .roles import Role, parsed, role
from .solutions import Solution

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

FOLDS = "details.answer, details.output, details.prediction"
ROOM = '<div class="room" style="min-height: {height}em">{asked}</div>'
OF_THE_SCREEN = re.compile(r"`____`|\bstudent id\b")  # paragraphs about cells that are not there
LINE = '<p class="name">Name: <span></span> {numbers}</p>'
SHOWN = """\
import numpy as _np
with _np.printoptions(precision=4, suppress=True):
    print({expression})"""


class Student(NamedTuple):
    """Who gets a sheet, and the id that the numbers are made from."""

    name: str
    id: str
    key: str  # nobody else's: the name of the file


ANYBODY = Student("", "0", "0")


# -- lectures -------------------------------------------------------------------------------------


def without_navigation(notebook: NotebookNode) -> NotebookNode:
    """On paper there is no previous and no next."""
    notebook.cells = [cell for cell in notebook.cells if cell.id not in (HEAD, FOOT)]
    return notebook


def answers_to_the_end(soup: BeautifulSoup) -> None:
    """Whatever a reader would unfold is on the last pages, under a number; its place says so."""
    end = soup.new_tag("section", attrs={"class": "answers"})
    end.append(soup.new_tag("h2", string="Answers"))
    for number, fold in enumerate(soup.select(FOLDS), start=1):
        where = _section(fold)
        link = soup.new_tag("a", href=f"#at-the-end-{number}", string=f"answer {number}")
        note = soup.new_tag("p", attrs={"class": "at-the-end"})
        note.extend(["→ ", link, " at the end"])
        fold.replace_with(note)
        element(fold, "summary").decompose()
        fold.name, fold["class"], fold["id"] = "div", "answer-item", f"at-the-end-{number}"
        head = soup.new_tag("h3", string=f"Answer {number}")
        if where:
            head.append(f" · {where}")
        fold.insert(0, head)
        end.append(fold)
    if end.find("h3"):
        element(soup, "main").append(end)


def _section(tag: Tag) -> str:
    """The heading under which something stands."""
    heading = tag.find_previous(["h2", "h3"])
    return " ".join(heading.get_text().split()) if heading else ""


# -- sheets ---------------------------------------------------------------------------------------


def paper_sheet(solved: Solution, student: Student, kernel: Kernel) -> NotebookNode:
    """The blank sheet with this student's numbers, and room to write in place of answers."""
    roles = {cell.id: role(cell) for cell in solved.notebook.cells}
    minutes = _minutes(solved.notebook)
    sheet = without_navigation(exercise_from(solved))
    kept: list[NotebookNode] = []
    blank: set[str] = set()  # what the student would have made
    for cell in sheet.cells:
        match roles[cell.id]:
            case Role.STUDENT | Role.GIVEN as kind:
                if kind is Role.STUDENT:
                    cell.source = f"student = {student.id!r}"
                if not blank & _names(cell.source, ast.Load):
                    kernel.run(cell)
                if not _defines(cell.source):
                    cell.source = ""  # imports and the like: of no use on paper
                if not cell.source and not cell.outputs:
                    continue
            case Role.ANSWER:
                blank |= _names(cell.source, ast.Store)
                whole = html.escape(cell.source).replace("\n\n", "\n&#10;")  # else Markdown ends it
                asked = f"<pre>{whole}</pre>"
                height = 6 + minutes.get(cell.id, 6)
                room = ROOM.format(height=height, asked=asked)
                cell = v4.new_markdown_cell(room, id=cell.id)
            case Role.CHECK:
                continue
            case Role.SCOREBOARD:
                kept.pop()  # its heading; nothing comes after it but links
                break
            case _:
                cell.source = _without_the_screen(cell.source)
                if not cell.source:
                    continue
        kept.append(cell)
    kept.insert(1, v4.new_markdown_cell(_whose(student, Role.STUDENT in roles.values())))
    sheet.cells = kept
    return sheet


def _whose(student: Student, has_own_numbers: bool) -> str:
    """The line of the name."""
    if student.name:
        return f"**{student.name}** (id {student.id})"
    numbers = f"The numbers are those of id {student.id}." if has_own_numbers else ""
    return LINE.format(numbers=numbers)


def _names(source: str, how: type[ast.expr_context]) -> set[str]:
    """The names that code uses, or makes."""
    walked = [node for statement in parsed(source) for node in ast.walk(statement)]
    found = {n.id for n in walked if isinstance(n, ast.Name) and isinstance(n.ctx, how)}
    made = {n.name for n in walked if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    return found | made if how is ast.Store else found


def _defines(source: str) -> bool:
    """Whether the code has something to read: a function or a class."""
    return any(isinstance(s, ast.FunctionDef | ast.ClassDef) for s in parsed(source))


def _without_the_screen(text: str) -> str:
    paragraphs = text.split("\n\n")
    return "\n\n".join(p for p in paragraphs if not OF_THE_SCREEN.search(p))


def _minutes(notebook: NotebookNode) -> dict[str, int]:
    """How long the answer in a cell may take: it says how much room there should be."""
    found, minutes = {}, 6
    for cell in notebook.cells:
        if told := re.search(r"^## Exercise .*, (\d+) minutes?\)$", cell.source, re.MULTILINE):
            minutes = int(told[1])
        found[cell.id] = minutes
    return found


# -- the kernel that knows the numbers ------------------------------------------------------------


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
def kernel_in(folder: Path) -> Iterator[Kernel]:
    """A kernel that stands in this folder."""
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
