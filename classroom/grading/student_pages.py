"""A student's feedback on a unit as one HTML page: answers, verdicts, explanations, points.

Everything that comes from the student is text on this page and nothing else: no scripts run,
nothing is fetched, and what would be invisible is spelled out.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jupyterlab_pygments import JupyterStyle
from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from selfcheck.cards import in_html
from selfcheck.course import current
from selfcheck.typeset import CLOSING, FORMULA, OPENING, set_text
from selfcheck.units import titled, units

from .records import NOT_HOW_LATE, Line, Mark, visible

TEMPLATES = Path(__file__).parents[1] / "templates"
PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)  # no file names in Windows

WRITTEN = re.compile(
    rf"`(?P<code>[^`]+)`|{OPENING}(?:{FORMULA.pattern}){CLOSING}", re.DOTALL
)  # what is code or a formula, with its punctuation

_LEXER, _FORMATTER = PythonLexer(stripnl=False), HtmlFormatter(style=JupyterStyle)


def page(mark: Mark, texts: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """The page of this submission, with what was asked and where the lecture speaks of it."""
    about = next((unit for unit in units() if unit.stem == mark.graded.unit), None)
    title = about.short_title if about else mark.graded.unit
    lecture = about.title if about else ""
    asks, sections = ((texts or {}).get(key, {}) for key in ("asks", "sections"))
    unknown = NOT_HOW_LATE in mark.graded.by_hand
    late = "marked as late, which counts as one day" if unknown else f"{mark.late} late"
    titles = {facts.name: facts.title for facts in about.listed} if about else {}
    known = {"unit": title, "lecture": lecture, "questions": asks, "sections": sections}
    known |= {"how_late": late, "titles": titles}
    site = current().address if about else ""
    on_site = f"{site.rstrip('/')}/notebooks/{mark.graded.unit}.html" if site else ""
    return render("feedback_page", mark=mark, on_site=on_site, **known)


def page_path(mark: Mark) -> PurePosixPath:
    """Where the page lies in the folder of grades."""
    return PurePosixPath("feedback", mark.graded.unit, f"{file_name(mark.graded.student)}.html")


def file_name(student: str) -> str:
    """A name for files that is safe everywhere, readable, and this student's alone.

    A plain name stays. Any other is cleaned and gets a mark made from the whole name, after a
    tilde, which no plain name has; so nobody can choose a name that leads to another's page.
    """
    if PLAIN_NAME.fullmatch(student) and not DEVICES.fullmatch(student):
        return student
    readable = re.sub(r"[^\w-]+", "_", student.encode("utf-8", "replace").decode())[:40]
    mark = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{readable.strip('_') or 'student'}~{mark}"


def render(template: str, **values: Any) -> str:
    """A page from the template folder of that name; what it shows is escaped."""
    return "".join(pieces(template, **values))


def pieces(template: str, **values: Any) -> Iterator[str]:
    """The same piece by piece, for a page that is long."""
    stream = _environment().get_template(f"{template}/page.html.j2").stream(**values)
    stream.enable_buffering(1000)
    return iter(stream)


@functools.lru_cache(maxsize=500)  # in a class many answers are alike
def highlighted(source: str) -> Markup:
    """Python code as HTML; its colors come with the page."""
    return Markup(highlight(visible(source), _LEXER, _FORMATTER))


def inline(sentence: str) -> Markup:
    """A sentence of a check, with code and indices set as below the check in a notebook."""
    return Markup(in_html(visible(sentence)))


@functools.lru_cache(maxsize=500)
def asked(text: str) -> Markup:
    """A question of the course as HTML: its paragraphs, formulas, code, bold and slanted words."""
    blocks = re.split(r"\n\s*\n|\n(?=- |\d+\. )", text.strip())
    return Markup("\n".join(f'<p class="question">{_in_line(block)}</p>' for block in blocks))


def _in_line(text: str) -> str:
    parts, last = [], 0
    for found in WRITTEN.finditer(text):
        code = found["code"]
        made = f"<code>{escape(code)}</code>" if code else set_text(found[0])
        parts += [_emphasized(text[last : found.start()]), made]
        last = found.end()
    return "".join([*parts, _emphasized(text[last:])])


def _anchor(section: str) -> str:
    """`#5-The-cold-start` for “section 5, “The cold start””, as headings of pages are called."""
    found = re.fullmatch(r"section (\S+), “(.+)”", section)
    return f"#{found[1]}-{quote('-'.join(found[2].split()))}" if found else ""


def _emphasized(words: str) -> str:
    words = re.sub(r"^- ", "• ", str(escape(words.replace("\\$", "$"))))
    words = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", words, flags=re.DOTALL)
    return re.sub(r"\*(\w.*?)\*", r"<em>\1</em>", words, flags=re.DOTALL)


def _card(line: Line, title: str = "") -> Markup:
    """The same card as below the check in JupyterLab."""
    said = line.result.feedback
    title = title or titled(said.number, said.name).removeprefix(f"{said.number} ")
    return Markup(replace(said, says=visible(said.says, limit=4000), title=title)._repr_html_())


def _titled(exercise: Any) -> str:
    """The title of an exercise, or of one that is told as `1.1 even_sum`."""
    if isinstance(exercise, str):
        return titled(*exercise.split(maxsplit=1))
    return titled(exercise.number, exercise.name)


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "asked": asked,
        "asked_inline": lambda text: Markup(_in_line(text)),
        "anchor": _anchor,
        "card": _card,
        "titled": _titled,
        "highlighted": highlighted,
        "inline": inline,
        "visible": visible,
    }
    environment.globals["looks"] = _looks()
    return environment


def _looks() -> Markup:
    """The style sheets of the course's pages, and the colors of code that fit to it."""
    colors = _FORMATTER.get_style_defs(".highlight")
    names = ("look.css", "course_page/static/page.css")
    sheets = [(TEMPLATES / name).read_text(encoding="utf-8") for name in names]
    return Markup("\n".join([colors, *sheets]))
