"""A notebook as one HTML page that works offline: maths, figures and looks are all inside.

    write_page(Path("notebooks/01_sums.ipynb"), Path("build/01_sums.html"))

What a page has in common with slides, and what both refuse, is in offline.py.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from nbformat import NotebookNode

from selfcheck.files import CourseError, write_whole

from . import guesses
from .formulas import font_inside, set_formulas
from .offline import element, explorer_script, exporter, mathjax, parsed, sound
from .paper import answers_to_the_end

if TYPE_CHECKING:
    from bs4 import BeautifulSoup


def export_page(path: Path, along: Collection[Path] = ()) -> str:
    """The notebook as a page; links to the notebooks exported `along` lead to their pages."""
    return as_page(path, sound(path, "a page"), beside(path, along))


def write_page(path: Path, target: Path, along: Collection[Path] = ()) -> None:
    """Write the notebook's page, wholly or not at all."""
    write_whole(target, export_page(path, along))


def write_pages(paths: Sequence[Path], root: Path, folder: Path) -> Iterator[Path]:
    """Write a page for each notebook, in `folder` as they lie in `root`, so that links hold.

    All notebooks are read first: if one was not run or failed, no page is written. Yields each
    page once it is there.
    """
    targets = [folder / _inside(path, root).with_suffix(".html") for path in paths]
    notebooks = [sound(path, "a page") for path in paths]
    for path, notebook, target in zip(paths, notebooks, targets, strict=True):
        write_whole(target, as_page(path, notebook, beside(path, paths)))
        yield target


def as_page(
    path: Path,
    notebook: NotebookNode,
    leads: Mapping[Path, str],
    keep: bool = True,
    paper: bool = False,
) -> str:
    """The page of a sound notebook; `leads` says where links to other notebooks lead instead.

    Links that it does not name are kept as they are, or else only their words are. On `paper`
    nothing can be unfolded.
    """
    soup = page_soup(path, notebook, leads, keep)
    if paper:
        answers_to_the_end(soup)
    if set_formulas(element(soup, "main")):
        element(soup, "#mathjax").string = mathjax()
    else:
        element(soup, "#mathjax").decompose()
    if soup.math:
        element(soup, "#formulas").string = font_inside()
    if soup.select("figure[data-explorer]"):
        element(soup, "#explorer").string = explorer_script()
    return str(soup)


def page_soup(
    path: Path, notebook: NotebookNode, leads: Mapping[Path, str], keep: bool = True
) -> BeautifulSoup:
    """The same as elements, with formulas as they were written."""
    soup = parsed(exporter("HTMLExporter", "course_page"), path, notebook, "a page")
    _lead_elsewhere(soup, path, leads, keep)
    _let_wide_tables_scroll(soup)
    guesses.fold(soup, notebook)
    return soup


def beside(path: Path, along: Collection[Path]) -> dict[Path, str]:
    """Where the pages of these notebooks are, seen from the page of `path`."""
    start = path.resolve().parent
    pages = {other.resolve(): other.resolve().with_suffix(".html") for other in along}
    return {
        other: quote(Path(os.path.relpath(page, start)).as_posix()) for other, page in pages.items()
    }


def _inside(path: Path, root: Path) -> Path:
    try:
        return path.resolve().relative_to(root.resolve())
    except ValueError:
        raise CourseError(f"{path} is not in the course folder {root}; copy it there.") from None


def _lead_elsewhere(soup: BeautifulSoup, path: Path, leads: Mapping[Path, str], keep: bool) -> None:
    for link in soup.find_all("a", href=True):
        url = urlsplit(str(link["href"]))
        if url.scheme or url.netloc or not url.path.endswith(".ipynb"):
            continue
        target = leads.get((path.parent / unquote(url.path)).resolve())
        if target is not None:
            link["href"] = url._replace(path=target).geturl()
        elif not keep:
            link.unwrap()


def _let_wide_tables_scroll(soup: BeautifulSoup) -> None:
    for table in soup.find_all("table"):
        table.wrap(soup.new_tag("div", attrs={"class": "wide"}))
