"""Lectures and sheets as pages of the site: what stands on a page, and where it leads.

    reading = read_page(Path("notebooks/01_sums.ipynb"), notebook, leads)

The page's body is that of pages.py; scripts and looks, which are the same on every page, are taken
out of it, and lie on the site once.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat import NotebookNode

from selfcheck.derivation.expressions import without_tex
from selfcheck.typeset import FORMULA

from ..formulas import set_formulas
from ..offline import element
from ..pages import page_soup
from .linking import cite_sources, explain_terms

if TYPE_CHECKING:
    from bs4 import Tag

PICTURE = re.compile(r"data:image/png;base64,(.+)", re.DOTALL)


@dataclass
class Reading:
    """A notebook as a page: its place on the site, its body, and what others need of it."""

    place: str  # on the site, such as notebooks/01_sums.html
    title: str
    body: str
    looks: str
    scripts: str
    contents: list[tuple[str, str, str]]  # level, name of the anchor, words with formulas set
    sections: list[dict[str, str]]  # for the search
    goals: str = ""
    picture: str = ""  # PNG in base64
    picture_words: str = ""
    unset: bool = False  # it has a formula that MathJax has to set

    @property
    def folder(self) -> str:
        """`notebooks` or `exercises`."""
        return self.place.partition("/")[0]

    @property
    def stem(self) -> str:
        """`01_sums`."""
        return Path(self.place).stem

    @property
    def about(self) -> str:
        """Its first words, for those who share a link to it."""
        words = self.sections[0]["words"] if self.sections else self.title
        return textwrap.shorten(words, 180, placeholder=" …")


def read_page(path: Path, notebook: NotebookNode, leads: Mapping[Path, str]) -> Reading:
    """The page of a notebook, in parts."""
    soup = page_soup(path, notebook, leads, keep=False)
    main = element(soup, "main")
    place = f"{path.parent.name}/{path.stem}.html"
    title = element(soup, "title").get_text()
    explain_terms(main, path)
    cite_sources(main, path)
    sections = list(_sections(main, place, title))
    unset = bool(set_formulas(main))
    picture = main.select_one('figure img[src^="data:image/png"]')
    return Reading(
        place=place,
        title=title,
        body=main.decode_contents(),
        looks="\n".join(str(style.string) for style in soup.select("head style")),
        scripts="\n".join(s.get_text() for s in soup.select("head script") if not s.get("id")),
        contents=list(_contents(main)),
        sections=sections,
        goals=_goals(main),
        picture=_png(picture),
        picture_words=str(picture["alt"]) if picture else "",
        unset=unset,
    )


def question_in(body: str, cell: str) -> str:
    """The question of an exercise by itself: the cell of a page, without its heading."""
    from bs4 import BeautifulSoup

    found = BeautifulSoup(body, "html.parser").find(id=f"cell-id={cell}")
    text = element(found, ".jp-RenderedMarkdown") if found else None
    for heading in text.select("h2") if text else ():
        heading.decompose()
    return text.decode_contents() if text else ""


def _contents(main: Tag) -> Iterator[tuple[str, str, str]]:
    for heading in main.select("h2[id], h3[id]"):
        yield heading.name, str(heading["id"]), heading.decode_contents().strip()


def _goals(main: Tag) -> str:
    """What the reader can do afterwards: the list under the sentence that ends with `you can`."""
    for sentence in main.select("p > strong"):
        paragraph = sentence.parent
        after = paragraph.find_next_sibling("ul") if paragraph else None
        if sentence.get_text().strip().endswith("you can") and after:
            return str(after)
    return ""


def _png(picture: Tag | None) -> str:
    found = PICTURE.match(str(picture["src"])) if picture else None
    return found[1] if found else ""


def _sections(main: Tag, place: str, title: str) -> Iterator[dict[str, str]]:
    """The words of each section, with the address of its heading: what the search looks through."""
    heading, anchor = "", ""
    words: list[str] = []
    for tag in main.select("h1, h2, h3, p, li, td, th"):
        if tag.name in ("h1", "h2", "h3"):
            if words:
                yield _section(place, title, heading, anchor, words)
            words = []
            heading = "" if tag.name == "h1" else _in_words(tag)
            anchor = "" if tag.name == "h1" else str(tag.get("id", ""))
        elif not tag.find_parent(["pre", "li", "td", "th"]) and not tag.find_parent(
            class_="jp-OutputArea"
        ):
            words.append(_in_words(tag))
    if words:
        yield _section(place, title, heading, anchor, words)


def _in_words(tag: Tag) -> str:
    """The text of an element; formulas in signs, as a terminal shows them."""
    text = FORMULA.sub(lambda found: without_tex(found[found.lastgroup or 0]), tag.get_text())
    return " ".join(text.split())


def _section(
    place: str, title: str, heading: str, anchor: str, words: Sequence[str]
) -> dict[str, str]:
    at = f"{place}#{anchor}" if anchor else place
    return {"at": at, "page": title, "heading": heading, "words": " ".join(words)}
