"""A notebook as one HTML page that works offline: maths, figures and looks are all inside.

    write_page(Path("notebooks/02_momentum.ipynb"), Path("build/02_momentum.html"))

nbconvert does the work, with our template `course_page`. What cannot be read by everyone, or would
have to be fetched, is refused: a page that is written needs nothing and hides nothing.
"""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from nbformat import NotebookNode

from ..files import CourseError, write_whole
from .notebooks import code_cells, problems, read

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

TEMPLATES = Path(__file__).parent / "templates"
# No widgets and no scripts: an explorer shows the still picture that was saved with it.
SHOWN = [
    "text/html",
    "text/markdown",
    "image/svg+xml",
    "text/latex",
    "image/png",
    "image/jpeg",
    "text/plain",
]
NO_WORDS = "No description has been provided"  # what nbconvert gives a picture without alt text


def export_page(path: Path, along: Collection[Path] = ()) -> str:
    """The notebook as a page; links to the notebooks exported `along` lead to their pages."""
    return _page(path, _sound(path), along)


def write_page(path: Path, target: Path, along: Collection[Path] = ()) -> None:
    """Write the notebook's page, wholly or not at all."""
    write_whole(target, export_page(path, along))


def write_pages(paths: Sequence[Path], root: Path, folder: Path) -> Iterator[Path]:
    """Write a page for each notebook, in `folder` as they lie in `root`, so that links hold.

    All notebooks are read first: if one was not run or failed, no page is written. Yields each
    page once it is there.
    """
    targets = [folder / _inside(path, root).with_suffix(".html") for path in paths]
    notebooks = [_sound(path) for path in paths]
    for path, notebook, target in zip(paths, notebooks, targets, strict=True):
        write_whole(target, _page(path, notebook, paths))
        yield target


def _inside(path: Path, root: Path) -> Path:
    try:
        return path.resolve().relative_to(root.resolve())
    except ValueError:
        raise CourseError(f"{path} is not in the course folder {root}; copy it there.") from None


def _sound(path: Path) -> NotebookNode:
    """The notebook, if it can be shown: executed without problems, or a sheet still blank."""
    notebook = read(path)
    found = [] if _is_blank_sheet(notebook) else problems(notebook)
    if found:
        remedy = f"Run `course execute {path}` or mend the notebook, then try again."
        raise CourseError(f"{path} cannot become a page: {'; '.join(found)}. {remedy}")
    return notebook


def _is_blank_sheet(notebook: NotebookNode) -> bool:
    """An exercise as it is handed out: nothing was run, and there are blanks to fill in."""
    cells = code_cells(notebook)
    return any("____" in c.source for c in cells) and all(c.execution_count is None for c in cells)


def _page(path: Path, notebook: NotebookNode, along: Collection[Path]) -> str:
    from bs4 import BeautifulSoup
    from nbconvert.filters.markdown_mistune import InvalidNotebook

    about = {"metadata": {"name": path.stem, "path": str(path.resolve().parent)}}
    try:
        html, _ = _exporter().from_notebook_node(notebook, resources=about)
    except (InvalidNotebook, OSError) as error:  # an attachment or a picture that is not there
        raise CourseError(f"{path} cannot become a page: {error}.") from None
    soup = BeautifulSoup(html, "html.parser")
    _drop_anchor_links(soup)
    _set_title(soup, path)
    _lead_to_pages(soup, path, {other.resolve() for other in along})
    _name_rows_and_columns(soup)
    _let_wide_tables_scroll(soup)
    _refuse_what_is_not_inside(soup, path)
    soup.find(id="mathjax").string = _mathjax()
    return str(soup)


@functools.cache
def _exporter():
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    config = Config()
    config.HTMLExporter.extra_template_basedirs = [str(TEMPLATES)]
    config.HTMLExporter.template_name = "course_page"
    config.HTMLExporter.embed_images = True
    config.HTMLExporter.exclude_input_prompt = True
    config.HTMLExporter.exclude_output_prompt = True
    config.NbConvertBase.display_data_priority = SHOWN
    return HTMLExporter(config=config)


@functools.cache
def _mathjax() -> str:
    """MathJax 3 in one file; version 4 would fetch its fonts from the web."""
    try:
        files = importlib.metadata.files("sphinx-mathjax-offline") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "tex-svg-full.js":
            return Path(file.locate()).read_text(encoding="utf-8")
    raise CourseError("Pages need MathJax; install it: pip install sphinx-mathjax-offline.")


def _set_title(soup: BeautifulSoup, path: Path) -> None:
    headings = soup.find_all("h1")
    if len(headings) != 1:
        raise CourseError(
            f"{path} has {len(headings)} headings of the first level; a page needs one, its title."
        )
    soup.title.string = " ".join(headings[0].get_text().split())


def _drop_anchor_links(soup: BeautifulSoup) -> None:
    """The headings keep the names that links lead to, without a ¶ to be read out with each."""
    for link in soup.select("a.anchor-link"):
        link.decompose()


def _lead_to_pages(soup: BeautifulSoup, path: Path, along: set[Path]) -> None:
    for link in soup.select("a[href]"):
        url = urlsplit(link["href"])
        if url.scheme or url.netloc or not url.path.endswith(".ipynb"):
            continue
        if (path.parent / unquote(url.path)).resolve() in along:
            page = url.path.removesuffix(".ipynb") + ".html"
            link["href"] = url._replace(path=page).geturl()


def _let_wide_tables_scroll(soup: BeautifulSoup) -> None:
    for table in soup.find_all("table"):
        table.wrap(soup.new_tag("div", attrs={"class": "wide"}))


def _name_rows_and_columns(soup: BeautifulSoup) -> None:
    """Every table says what heads what; an empty corner means that the first column heads rows."""
    for table in soup.find_all("table"):
        for heading in table.find_all("th", scope=False):
            heading["scope"] = "col" if heading.find_parent("thead") else "row"
        corner = table.select_one("thead tr > :first-child")
        if corner is None or corner.get_text(strip=True):
            continue
        for first in table.select("tbody tr > td:first-child"):
            first.name, first["scope"] = "th", "row"
        if table.thead.get_text(strip=True):
            corner.name = "td"
            del corner["scope"]
        else:
            table.thead.decompose()  # Markdown asks for a head even where there is none


def _refuse_what_is_not_inside(soup: BeautifulSoup, path: Path) -> None:
    for element in soup.select("[src], link[href], object[data]"):
        source = element.get("src") or element.get("href") or element.get("data", "")
        if not source.startswith("data:"):
            raise CourseError(
                f"{path} shows {source}, which a page cannot carry; put the file beside the "
                "notebook or attach it to the cell."
            )
    for picture in soup.select("img"):
        if picture["alt"].startswith(NO_WORDS):
            raise CourseError(f"{path} has a picture without alt text; say what it shows.")
