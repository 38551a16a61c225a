"""A table as text, whose cells remember how they were written.

So a file in which a few cells are filled in goes back with every other character as it was: quotes,
ends of lines, empty lines, a line that tells Excel the separator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from selfcheck.files import CourseError

from . import encodings

COMMAS = ",;\t|"
# Before the table: the mark of UTF-8, and the line by which some tell Excel the separator.
MARKS = re.compile(r"\ufeff?(?:\"?sep=(?P<comma>[^\r\n])\"?(?:\r\n|\r|\n))?", re.IGNORECASE)
QUOTED = re.compile(r'"[^"]*"')
CELL = r' *"(?P<quoted>(?:[^"]|"")*+)"(?P<rest>{0}*)|(?P<plain>{0}*)'
END = r"\r\n|\r|\n|\Z"


class Cell(str):
    """What a cell says; `written` is how the file has it."""

    written: str


@dataclass
class Table:
    """The rows of a table, the first of which is its head."""

    before: str  # what stands in the file before the head
    comma: str
    rows: list[list[str]]
    ends: list[str]  # of the rows; the last line of a file may have none

    @classmethod
    def read(cls, text: str, name: str) -> Self:
        """The table in a file of this name."""
        if "\0" in text:
            raise CourseError(f"{name} cannot be read as a table: there is a byte 0 in it.")
        marks = MARKS.match(text)
        assert marks is not None  # it matches nothing, too
        comma = marks["comma"] or _comma(text[marks.end() :])
        rows, ends = [], []
        for row, end in _rows(text, marks.end(), comma, name):
            rows.append(row)
            ends.append(end)
        first = next((k for k, row in enumerate(rows) if any(map(str.strip, row))), len(rows))
        if first == len(rows):
            raise CourseError(f"{name} is empty.")
        above = _joined(rows[:first], ends[:first], comma, quoted=False)
        return cls(marks[0] + above, comma, rows[first:], ends[first:])

    def begin_with(self, head: Sequence[str]) -> None:
        """Give a table a head that has none."""
        self.rows.insert(0, list(head))
        self.ends.insert(0, self.ends[0] or "\n")

    def filled(self, rows: Sequence[Sequence[str]]) -> str:
        """The file with these rows: each cell that is still the same one is written as it was."""
        cells = [c for row in self.rows for c in row if isinstance(c, Cell) and c.written]
        quoted = all(cell.written.startswith('"') for cell in cells)
        return self.before + _joined(rows, self.ends, self.comma, quoted)


def text_of(data: bytes, name: str) -> tuple[str, str, str]:
    """The encoding of a file, its text, with its mark if it has one, and what to know of it."""
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise CourseError(f"{name} is a spreadsheet; save it as CSV (UTF-8) and pass that.")
    if (found := encodings.read(data)) is None:
        raise CourseError(f"{name} is no text file that can be read here; save it as UTF-8.")
    return found


def _joined(rows: Sequence[Sequence[str]], ends: Sequence[str], comma: str, quoted: bool) -> str:
    lines = zip(rows, ends, strict=True)
    return "".join(comma.join(_written(c, comma, quoted) for c in row) + end for row, end in lines)


def _written(cell: str, comma: str, quoted: bool) -> str:
    if isinstance(cell, Cell):
        return cell.written
    if quoted or any(c in cell for c in f'{comma}"\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _comma(text: str) -> str:
    """What the first lines all have most of, outside of quotes."""
    lines = [line for line in QUOTED.sub("", text).splitlines() if line][:5] or [""]
    return max(
        COMMAS, key=lambda comma: (min(line.count(comma) for line in lines), lines[0].count(comma))
    )


def _rows(text: str, start: int, comma: str, name: str) -> Iterator[tuple[list[str], str]]:
    """Row by row, with what ends it; an empty line has no cells."""
    inside = f"[^{re.escape(comma)}\r\n]"
    pattern = re.compile(f"(?:{CELL.format(inside)})(?P<end>{re.escape(comma)}|{END})")
    row: list[str] = []
    while start < len(text) or row:
        found = pattern.match(text, start)
        assert found is not None  # a cell may be empty, and ends at the latest with the text
        row.append(_cell(found, name))
        start = found.end()
        if found["end"] != comma:
            yield ([] if found[0] == found["end"] and len(row) == 1 else row), found["end"]
            row = []


def _cell(found: re.Match, name: str) -> Cell:
    quoted, rest, plain = found["quoted"], found["rest"], found["plain"]
    runs_on = quoted is not None and "\n" in quoted and rest.strip()
    if runs_on or (plain or "").lstrip(" ").startswith('"'):  # whoever comes next is within it
        raise CourseError(f"{name} cannot be read as a table: a quote in it has no end.")
    cell = Cell(plain if quoted is None else quoted.replace('""', '"') + rest)
    cell.written = found[0].removesuffix(found["end"])
    return cell
