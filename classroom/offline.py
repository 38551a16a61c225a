"""What pages and slides share: HTML that needs no network and hides nothing.

nbconvert does the work, with templates of ours. What cannot be read by everyone, or would have to
be fetched, is refused.
"""

from __future__ import annotations

import ast
import functools
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode

from selfcheck.files import CourseError
from selfcheck.students.cli import LAB_CONFIG

from .notebooks import is_blank_sheet, problems, read

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from nbconvert import HTMLExporter

TEMPLATES = Path(__file__).parent / "templates"
VENDOR = Path(__file__).parent / "vendor"
EXPLORER = LAB_CONFIG / "labextensions/course-in-words/static/explorer.js"
# No widgets: an explorer shows its still picture until explorer.js draws it.
SHOWN = [
    "text/html",
    "text/markdown",
    "image/svg+xml",
    "text/latex",
    "image/png",
    "image/jpeg",
    "text/plain",
]
PICTURES = frozenset({"image/png", "image/svg+xml", "image/jpeg"})
UNUSED = re.compile(
    r" jp-(?:Notebook-cell|MarkdownOutput|mod-noOutputs|mod-noInput)\b| data-mime-type=\"[^\"]*\""
)  # of nbconvert's markup
PLAIN_CODE = re.compile(  # has no color of its own
    r'<span class="(?:n|p|w)">([^<]*)</span>|<span class="o">([.=])</span>'
)


def sound(path: Path, what: str) -> NotebookNode:
    """The notebook, if it can be shown: executed without problems, or a sheet still blank."""
    notebook = read(path)
    found = [] if is_blank_sheet(notebook) else problems(notebook)
    if found:
        remedy = f"Run `course execute {path}` or mend the notebook, then try again."
        if path.parent.name == "exercises":  # it is generated: to run it would solve nothing
            remedy = (
                "Somebody has worked in this sheet. Keep a copy if you need the answers, and let "
                "`make exercises` write it anew."
            )
        raise CourseError(f"{path} cannot become {what}: {'; '.join(found)}. {remedy}")
    return notebook


@functools.cache
def exporter(kind: str, template: str) -> HTMLExporter:
    """nbconvert's exporter of that name with a template of ours: pictures inside, no prompts."""
    import nbconvert
    from traitlets.config import Config

    _leave_tags_open()
    config = Config()
    config.HTMLExporter.extra_template_basedirs = [str(TEMPLATES)]
    shared = [str(TEMPLATES), str(EXPLORER.parent)]  # for what both templates and JupyterLab use
    config.HTMLExporter.extra_template_paths = shared
    config.HTMLExporter.template_name = template
    config.HTMLExporter.embed_images = True
    config.HTMLExporter.exclude_input_prompt = True
    config.HTMLExporter.exclude_output_prompt = True
    config.NbConvertBase.display_data_priority = SHOWN
    made: HTMLExporter = getattr(nbconvert, kind)(config=config)
    made.register_filter("folded_as", folded_as)
    return made


def folded_as(cell: NotebookNode) -> str:
    """What to press to see the code of a cell; nothing if it stands open.

    Folded is what its author hides, what only imports, and what draws a figure: on a page one
    reads on, and looks at the plumbing when one wants to.
    """
    if "hide-input" in cell.metadata.get("tags", []):
        title = cell.source.partition("\n")[0]
        return f"{escape(title[2:])} · show the code" if title[:2] == "# " else "Show the code"
    try:
        statements = ast.parse(cell.source).body
    except SyntaxError:  # a magic
        return ""
    if statements and all(isinstance(one, ast.Import | ast.ImportFrom) for one in statements):
        return "Show the imports"
    if {"revealed", "revealed-output"} & {*cell.metadata.get("tags", [])}:
        return ""  # it is behind a fold already, or who is to predict an output has to read it
    shown = [output.get("data", {}) for output in cell.get("outputs", [])]
    return "Show the code of the figure" if any(map(PICTURES.intersection, shown)) else ""


def _leave_tags_open() -> None:
    """Let what Markdown writes within tags stay there: nbconvert would close each one at once."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer

    within = IPythonRenderer._html_embed_images

    def with_pictures(self: Any, html: str) -> str:
        return within(self, html) if "<img" in html else html

    IPythonRenderer._html_embed_images = with_pictures  # type: ignore[method-assign]


def parsed(exporter: HTMLExporter, path: Path, notebook: NotebookNode, what: str) -> BeautifulSoup:
    """The notebook as HTML whose title, tables and pictures are told in words."""
    from bs4 import BeautifulSoup
    from nbconvert.filters.markdown_mistune import InvalidNotebook

    about = {"metadata": {"name": path.stem, "path": str(path.resolve().parent)}}
    try:
        html = _rendered(exporter, notebook, about)
    except (InvalidNotebook, OSError) as error:  # an attachment or a picture that is not there
        raise CourseError(f"{path} cannot become {what}: {error}.") from None
    soup = BeautifulSoup(UNUSED.sub("", PLAIN_CODE.sub(r"\1\2", html)), "html.parser")
    _drop_anchor_links(soup)
    _drop_handles(soup)
    _set_title(soup, path, what)
    _fold_answers(soup)
    _name_rows_and_columns(soup)
    _refuse_what_is_not_inside(soup, path, what)
    return soup


def _rendered(exporter: HTMLExporter, notebook: NotebookNode, about: dict[str, Any]) -> str:
    """What nbconvert's template makes of it; nbconvert itself would read and write it once more."""
    from nbconvert import TemplateExporter
    from nbconvert.filters import Highlight2HTML

    language = notebook.metadata.get("language_info", {})
    lexer = language.get("pygments_lexer", language.get("name"))
    exporter.register_filter(
        "highlight_code", Highlight2HTML(pygments_lexer=lexer, parent=exporter)
    )
    resources = exporter._init_resources(about)
    html, _ = TemplateExporter.from_notebook_node(exporter, notebook, resources)
    return _in_fewer_colors(html)


def _in_fewer_colors(html: str) -> str:
    """Code whose strings are one piece each, and its operators and numbers plain: a tenth less."""
    html = re.sub(r'<span class="(?:o|mi|mf)">([^<]*)</span>', r"\1", html)
    html = re.sub(r'<span class="s[aei]">', '<span class="s2">', html)
    in_pieces = r'<span class="s2">[^<]*(?:</span><span class="s2">[^<]*)+'
    return re.sub(in_pieces, lambda found: found[0].replace('</span><span class="s2">', ""), html)


def vendored(name: str) -> str:
    """The text of a file in vendor/, such as `reveal.js/reveal.css`."""
    return (VENDOR / name).read_text(encoding="utf-8")


def explorer_script() -> str:
    """What draws explorers in a page, by the numbers that were saved with them."""
    return EXPLORER.read_text(encoding="utf-8")


@functools.cache
def mathjax() -> str:
    """MathJax in one file."""
    return vendored("mathjax/tex-svg-full.js")


def _drop_anchor_links(soup: BeautifulSoup) -> None:
    """The headings keep the names that links lead to, without a ¶ to be read out with each."""
    for link in soup.find_all("a", class_="anchor-link"):
        link.decompose()


def _drop_handles(soup: BeautifulSoup) -> None:
    """What JupyterLab's markup has for its own controls: a tenth of a page that no one sees."""
    for handle in soup.select(".jp-Collapser"):
        handle.decompose()
    for area in soup.select(".jp-InputArea, .jp-MarkdownCell > .jp-Cell-inputWrapper"):
        area.unwrap()


def element(soup: BeautifulSoup | Tag, css: str) -> Tag:
    """The one element of a template that we fill."""
    found = soup.select_one(css)
    if found is None:
        raise CourseError(f"The template has no {css}.")
    return found


def _set_title(soup: BeautifulSoup, path: Path, what: str) -> None:
    headings = soup.find_all("h1")
    if len(headings) != 1:
        raise CourseError(
            f"{path} has {len(headings)} headings of the first level; {what} needs one, its title."
        )
    element(soup, "title").string = " ".join(headings[0].get_text().split())


def _fold_answers(soup: BeautifulSoup) -> None:
    """What a lecture folds is an answer, which slides and paper treat as one."""
    for fold in soup.select(".jp-MarkdownCell details"):
        fold["class"] = "folded answer"


def _name_rows_and_columns(soup: BeautifulSoup) -> None:
    """Every table says what heads what; an empty corner means that the first column heads rows."""
    for table in soup.find_all("table"):
        if table.select_one(".course-mark"):  # a derivation: its lines are read one by one
            table["role"] = "presentation"
            element(table, "thead").decompose()
            continue
        for heading in table.find_all("th", scope=False):
            heading["scope"] = "col" if heading.find_parent("thead") else "row"
        head, corner = table.thead, table.select_one("thead tr > :first-child")
        if head is None or corner is None or corner.get_text(strip=True):
            continue
        for first in table.select("tbody tr > td:first-child"):
            first.name, first["scope"] = "th", "row"
        if head.get_text(strip=True):
            corner.name = "td"
            del corner["scope"]
        else:
            head.decompose()  # Markdown asks for a head even where there is none


def _refuse_what_is_not_inside(soup: BeautifulSoup, path: Path, what: str) -> None:
    for element in soup.select("[src], link[href], object[data]"):
        source = str(element.get("src") or element.get("href") or element.get("data", ""))
        if not source.startswith("data:"):
            raise CourseError(
                f"{path} shows {source}, which {what} cannot carry; put the file beside the "
                "notebook or attach it to the cell."
            )
    for picture in soup.find_all("img"):
        if not picture.has_attr("alt"):
            raise CourseError(f"{path} has a picture without alt text; say what it shows.")
