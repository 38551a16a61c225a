"""Lectures and blank exercise sheets to be printed: one HTML page each, and a PDF of it.

build/handouts/01_sums.html            build/handouts/01_sums.pdf
build/handouts/01_sums_exercises.html  build/handouts/01_sums_exercises.pdf

A lecture has its answers at the end, a sheet the numbers of id 0 and room to write (paper.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from nbformat import NotebookNode

from selfcheck.files import write_whole

from .offline import sound
from .pages import as_page
from .paper import ANYBODY, kernel_in, paper_sheet, without_navigation
from .printing import browser, chromium, print_page
from .solutions import read_solution


def write_handouts(lectures: Sequence[Path], folder: Path, pdf: bool = True) -> Iterator[Path]:
    """Write pages, and PDFs of them, for lectures and their exercise sheets; yields each file.

    All notebooks are read first: if one was not run or failed, nothing is written.
    """
    read = {path: without_navigation(sound(path, "a handout")) for path in lectures}
    if pdf:
        chromium()  # rather now than after the first page
    solutions = {path: path.parent.parent / "solutions" / path.name for path in lectures}
    leads = {path.resolve(): f"{path.stem}.html" for path in lectures}
    for path in lectures:
        sheet = path.parent.parent / "exercises" / path.name
        leads[sheet.resolve()] = f"{path.stem}_exercises.html"
    sheets = blank_sheets([path for path in solutions.values() if path.exists()])
    pages = []
    for path, notebook in read.items():
        todo = [(path.stem, path, notebook)]
        if (solution := solutions[path]).exists():
            todo.append((f"{path.stem}_exercises", solution, sheets[solution]))
        for name, source, what in todo:
            page = folder / f"{name}.html"
            write_whole(page, as_page(source, what, leads, keep=False, paper=True))
            pages.append(page)
            yield page
    if pdf:
        with browser() as chrome:
            for page in pages:
                print_page(chrome, page, page.with_suffix(".pdf"))
                yield page.with_suffix(".pdf")


def blank_sheets(solutions: Sequence[Path]) -> dict[Path, NotebookNode]:
    """The sheets of these solutions, with numbers that are the same for everybody."""
    if not solutions:
        return {}
    with kernel_in(solutions[0].parent) as kernel:
        return {path: paper_sheet(read_solution(path), ANYBODY, kernel) for path in solutions}
