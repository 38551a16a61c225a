"""Lectures and blank exercise sheets to be printed: one HTML page each, and a PDF of it.

build/handouts/01_sums.html            build/handouts/01_sums.pdf
build/handouts/01_sums_exercises.html  build/handouts/01_sums_exercises.pdf
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from nbformat import NotebookNode

from selfcheck.files import write_whole

from .navigation import FOOT, HEAD
from .offline import sound
from .pages import as_page
from .printing import browser, chromium, print_page


def write_handouts(lectures: Sequence[Path], folder: Path, pdf: bool = True) -> Iterator[Path]:
    """Write pages, and PDFs of them, for lectures and their exercise sheets; yields each file.

    All notebooks are read first: if one was not run or failed, nothing is written.
    """
    names = _names(lectures)
    notebooks = {path: without_navigation(sound(path, "a handout")) for path in names}
    if pdf:
        chromium()  # rather now than after the first page
    leads = {path.resolve(): f"{name}.html" for path, name in names.items()}
    pages = []
    for path, notebook in notebooks.items():
        page = folder / f"{names[path]}.html"
        write_whole(page, as_page(path, notebook, leads, keep=False))
        pages.append(page)
        yield page
    if pdf:
        with browser() as chrome:
            for page in pages:
                print_page(chrome, page, page.with_suffix(".pdf"))
                yield page.with_suffix(".pdf")


def _names(lectures: Sequence[Path]) -> dict[Path, str]:
    """The notebooks to be handed out, each with the name of its handout."""
    names = {}
    for lecture in lectures:
        names[lecture] = lecture.stem
        sheet = lecture.parent.parent / "exercises" / lecture.name
        if sheet.exists():
            names[sheet] = f"{lecture.stem}_exercises"
    return names


def without_navigation(notebook: NotebookNode) -> NotebookNode:
    """On paper there is no previous and no next."""
    notebook.cells = [cell for cell in notebook.cells if cell.id not in (HEAD, FOOT)]
    return notebook
