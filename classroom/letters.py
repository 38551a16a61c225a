"""What each letter means and where: notebooks/notation.toml, and the start page's table of it.

A letter of a formula is a single one or a Greek name. Words (`\\mathrm{mean}`), signs (`\\top`)
and code are none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from nbformat import NotebookNode

FILE = "notation.toml"
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$(?!\$)(.+?)(?<!\\)\$", re.DOTALL)
WORDS = re.compile(
    r"\\(?:text|mathrm|operatorname|mathbb|mathbf|mathcal|begin|end|tag)(?![A-Za-z])"
    r"\*?\s*(?:\{[^}]*\}|\w)"
)
LETTER = re.compile(r"\\[A-Za-z]+|[A-Za-z]")


@dataclass(frozen=True)
class Meaning:
    """What a letter means in some units, and the words by which their lectures tell the reader."""

    units: tuple[str, ...]
    text: str
    said: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Letter:
    """A letter of formulas, or a name beside the alphabet, with all that it means."""

    tex: str | None
    name: str
    meanings: tuple[Meaning, ...]

    @property
    def units(self) -> set[str]:
        """The units in which it has a meaning."""
        return {unit for meaning in self.meanings for unit in meaning.units}


def read_letters(folder: Path) -> list[Letter]:
    """The table, as the folder of the lectures has it."""
    rows = tomllib.loads((folder / FILE).read_text(encoding="utf-8"))["letter"]
    return [
        Letter(
            row.get("tex"),
            row.get("name") or f"${row['tex']}$",
            tuple(
                Meaning(tuple(m["units"].split()), m["is"], m.get("said", {}))
                for m in row["meanings"]
            ),
        )
        for row in rows
    ]


def as_table(letters: list[Letter]) -> str:
    """The table of the start page."""
    rows = (
        f"| {letter.name} | " + "; ".join(f"{m.text} ({_ranges(m.units)})" for m in letter.meanings)
        for letter in letters
    )
    return "\n".join(
        ["| letter | meaning, and its units |", "| --- | --- |", *(f"{r} |" for r in rows)]
    )


def formulas(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Every formula of the text cells with the id of its cell; the list of sources has none."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and not cell.source.startswith("## Sources"):
            for found in FORMULA.finditer(CODE.sub(" ", cell.source)):
                yield cell.id, found[1] or found[2]


def letters_of(formula: str) -> set[str]:
    """The letters of a formula; a Greek one by its name, `\\delta`."""
    return set(LETTER.findall(WORDS.sub(" ", formula)))


def _ranges(units: tuple[str, ...]) -> str:
    """`04–07, 10` for 04, 05, 06, 07, 10."""
    runs = [
        [unit for _, unit in run]
        for _, run in groupby(enumerate(units), lambda pair: int(pair[1]) - pair[0])
    ]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)
