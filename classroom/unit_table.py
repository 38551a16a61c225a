"""What the table of units feeds: titles, minutes and points in notebooks, and the two maps.

The glossary and the table of letters on the start page are written here too, from
`notebooks/glossary.toml` and `notebooks/notation.toml`.

An author writes none of these by hand: `course links` writes them where they stand, and a test
finds whatever is not as the table has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_output

from selfcheck.cards import counted
from selfcheck.course import course_in
from selfcheck.facts import Facts
from selfcheck.files import CourseError, write_whole
from selfcheck.units import Unit
from selfcheck.units import units as units_of

from . import glossary, letters
from .notebooks import as_text, read

TITLE = re.compile(r"^# .*$", re.MULTILINE)
MINUTES = re.compile(r"^\*About \d+ minutes\.", re.MULTILINE)
BEYOND = r"(?: and \d+ beyond the page)?"
NOW_YOU = re.compile(rf"(?<=\()\d+ points?{BEYOND}, about [^,)]*(?=[,)])")
IN_ALL = re.compile(rf"^\*\d+ points?{BEYOND}, about [^.]*(?=\.)", re.MULTILINE)
ABOUT_SHEET = re.compile(rf"^\*\d+ points?{BEYOND}, about .*?\)\.\*$", re.MULTILINE | re.DOTALL)
DIFFICULTY = re.compile(r"^\*Difficulty: \d of 3\.\*", re.MULTILINE)
MAP = re.compile(r"^\| unit \|.*(?:\n\|.*)*", re.MULTILINE)
LETTERS = re.compile(r"^\| letter \|.*(?:\n\|.*)*", re.MULTILINE)
TERMS = re.compile(r"^\| term \|.*(?:\n\|.*)*", re.MULTILINE)


def outdated(root: Path, units: Sequence[Unit] | None = None) -> dict[Path, str]:
    """The files that do not say what the table says, each with the text to be saved."""
    fresh = {}
    course = course_in(root)
    units = units_of(course) if units is None else units
    for unit in units:
        for path, write in (
            (root / "notebooks" / f"{unit.stem}.ipynb", _lecture),
            (root / "solutions" / f"{unit.stem}.ipynb", _sheet),
        ):
            fresh[path] = as_text(write(read(path), unit, path))
    start, readme = root / "notebooks" / f"{course.start}.ipynb", root / "README.md"
    notebook = read(start)
    _replace(notebook, MAP, _start_map(units), start)
    _draw_map(notebook, units)
    if (start.parent / glossary.FILE).exists():
        terms = glossary.read_terms(start.parent)
        _replace(notebook, TERMS, glossary.as_table(terms), start)
    if (start.parent / letters.FILE).exists():
        table = letters.read_letters(start.parent)
        _replace(notebook, LETTERS, letters.as_table(table), start)
    fresh[start] = as_text(notebook)
    fresh[readme] = _replaced(_text(readme), MAP, _readme_map(units, start.name), readme)
    return {path: text for path, text in fresh.items() if text != _text(path)}


def tell(root: Path, units: Sequence[Unit] | None = None) -> list[Path]:
    """Write what the table says; return what changed."""
    fresh = outdated(root, units)  # all of it, before the first one is written
    for path, text in fresh.items():
        write_whole(path, text)
    return list(fresh)


def in_words(minutes: int) -> str:
    """`about an hour` and the like, without the first word."""
    words = {60: "an hour", 90: "an hour and a half", 120: "two hours"}
    return words.get(minutes, f"{minutes} minutes")


# -- notebooks ------------------------------------------------------------------------------------


def _lecture(notebook: NotebookNode, unit: Unit, path: Path) -> NotebookNode:
    _replace(notebook, TITLE, f"# {unit.number} · {unit.title}", path)
    _replace(notebook, MINUTES, f"*About {unit.minutes[0]} minutes.", path)
    _replace(notebook, NOW_YOU, _points_and_time(unit), path)
    return notebook


def _sheet(notebook: NotebookNode, unit: Unit, path: Path) -> NotebookNode:
    link = f"[{unit.number} · {unit.title}](../notebooks/{unit.stem}.ipynb)"
    _replace(notebook, TITLE, f"# {unit.short_title}: exercises", path)
    _replace(notebook, ABOUT_SHEET, f"*{_points_and_time(unit)}. The lecture is {link}.*", path)
    for facts in unit.listed:
        _tell_facts(notebook, facts)
    return notebook


def _tell_facts(notebook: NotebookNode, facts: Facts) -> None:
    """Write the facts of an exercise into its heading, if it has one."""
    heading = re.compile(rf"^## Exercise {re.escape(facts.number)} .*\(.*\)$", re.MULTILINE)
    points, minutes = counted(facts.points), counted(facts.minutes, thing="minute")
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and heading.search(cell.source):
            words = f"## Exercise {facts.number} · {facts.title} ({points}, {minutes})"
            cell.source = heading.sub(words.replace("\\", r"\\"), cell.source)
            cell.source = DIFFICULTY.sub(f"*Difficulty: {facts.difficulty} of 3.*", cell.source)


def _points_and_time(unit: Unit) -> str:
    return f"{_points(unit)}, about {in_words(unit.minutes[1])}"


def _points(unit: Unit) -> str:
    beyond = f" and {unit.transfer_points} beyond the page" if unit.transfer_points else ""
    return f"{unit.points} points{beyond}"


def _replace(notebook: NotebookNode, pattern: re.Pattern[str], words: str, path: Path) -> None:
    """Put the words into the first text cell that has the pattern."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and pattern.search(cell.source):
            cell.source = _replaced(cell.source, pattern, words, path)
            return
    _replaced("", pattern, words, path)


def _replaced(text: str, pattern: re.Pattern[str], words: str, path: Path) -> str:
    new, count = pattern.subn(lambda _: words, text, count=1)
    if not count:
        raise CourseError(f"{path}: there is no place for what the table of units says: {words!r}.")
    return new


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# -- maps -----------------------------------------------------------------------------------------


def _readme_map(units: Sequence[Unit], start: str) -> str:
    rows = [
        f"| {u.number} | [{u.title}](notebooks/{u.stem}.ipynb) "
        f"| [{_points(u)}](exercises/{u.stem}.ipynb) |"
        for u in units
    ]
    head = ["| unit | lecture | exercises |", "| --- | --- | --- |"]
    return "\n".join([*head, f"| 00 | [Start here](notebooks/{start}) | |", *rows])


def _start_map(units: Sequence[Unit]) -> str:
    rows = [
        f"| {u.number} | [{u.title}]({u.stem}.ipynb) "
        f"| [{u.number}](../exercises/{u.stem}.ipynb) | {_both(u)} |"
        for u in units
    ]
    head = ["| unit | lecture | exercises | points |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows])


def _draw_map(notebook: NotebookNode, units: Sequence[Unit]) -> None:
    """The saved map, drawn anew where its words are not those of the table."""
    cells = [c for c in notebook.cells if c.cell_type == "code" and "show_map(" in c.source]
    if not cells:
        return
    from selfcheck import style
    from selfcheck.diagram import MAP_CAPTION, map_of

    drawing = map_of(units)
    for cell in cells:
        if any(_words(output) == drawing.alt for output in cell.outputs):
            continue
        shown = style.shown(drawing.fig, drawing.alt, MAP_CAPTION, svg=drawing.svg())
        cell.outputs = [new_output("display_data", data, metadata=about) for data, about in shown]


def _words(output: NotebookNode) -> str:
    """The alt text of a picture."""
    return output.get("metadata", {}).get("image/png", {}).get("alt", "")


def _both(unit: Unit) -> str:
    return f"{unit.points} + {unit.transfer_points}" if unit.transfer_points else f"{unit.points}"
