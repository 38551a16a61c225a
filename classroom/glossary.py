"""The field's words: notebooks/glossary.toml, and the start page's table of them.

A term stands in bold in the section that introduces it. The table says in one sentence what it
means, and where to read on.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

FILE = "glossary.toml"
SECTION = re.compile(r"^## (?:(\d+) )?", re.MULTILINE)
BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)


@dataclass(frozen=True)
class Term:
    """A word of the field: what it means, and the section that introduces it."""

    name: str
    sentence: str
    unit: str  # the stem of its lecture
    section: str  # its number; empty before the first numbered one


def read_terms(folder: Path) -> list[Term]:
    """The glossary of the folder of the lectures, in the order of the alphabet."""
    rows = tomllib.loads((folder / FILE).read_text(encoding="utf-8")).get("term", [])
    return sorted((Term(**row) for row in rows), key=lambda term: term.name.casefold())


def as_table(terms: list[Term]) -> str:
    """The table of the start page."""
    rows = (f"| {t.name} | {t.sentence} | [{_place(t)}]({t.unit}.ipynb) |" for t in terms)
    return "\n".join(["| term | meaning | unit |", "| --- | --- | --- |", *rows])


def in_bold(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """The words in bold in its text cells, each with the number of its section."""
    section = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = SECTION.match(cell.source)
            section = section if heading is None else heading[1] or ""
            for words in BOLD.findall(cell.source):
                yield section, " ".join(words.split())


def _place(term: Term) -> str:
    number = term.unit.partition("_")[0]
    return f"{number} · {term.section}" if term.section else number
