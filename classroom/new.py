"""`course new`: a unit that works at once, to be turned step by step into one that says something.

Lecture, solution with a worked exercise, check module with two known mistakes and a test come from
the texts in templates/new_unit, the table of units gets a row, and links, points and exercises
follow from that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from selfcheck.course import course_in
from selfcheck.files import CourseError, write_whole
from selfcheck.units import Unit, read_table

from .notebooks import as_text, clean
from .roles import name_cells

TEXTS = Path(__file__).parent / "templates" / "new_unit"
CELL = re.compile(r"^%% (text|code) (\S+)(.*)\n", re.MULTILINE)
ROW = """
[[unit]]
stem = "{stem}"
title = "{title}"
label = "{label}"
minutes = [5, 10]
place = {place}
after = []
"""


def new_unit(root: Path, number: str, name: str, title: str) -> list[Path]:
    """Write the files of a new unit and its row; what is there already is never overwritten."""
    course = course_in(root)
    units = read_table(course.table.read_text(encoding="utf-8"))
    unit = _unit(number, name, title, units)
    texts = {
        root / "notebooks" / f"{unit.stem}.ipynb": as_text(_notebook("lecture", unit)),
        root / "solutions" / f"{unit.stem}.ipynb": as_text(_notebook("solution", unit)),
        course.check_file(unit.name): _filled("check", unit),
        root / "tests" / "checks" / f"test_{unit.name}.py": _filled("test", unit),
    }
    for path in texts:
        if path.exists():
            raise CourseError(f"{path} exists already; choose another name.")
    row = ROW.format(**vars(unit) | {"place": list(unit.place)})
    for path, text in texts.items():
        write_whole(path, text)
    write_whole(course.table, course.table.read_text(encoding="utf-8") + row)
    return [*texts, course.table]


def _unit(number: str, name: str, title: str, units: tuple[Unit, ...]) -> Unit:
    """The row of the unit, or a sentence that says which of its names is none."""
    if not re.fullmatch(r"\d{1,2}", number) or int(number) == 0:
        raise CourseError(f"{number!r} is no number of a unit; 1 to 99 are.")
    if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name):
        raise CourseError(f"{name!r} is no name of a unit; small letters and _ are: weight_decay.")
    if not title.strip() or re.search(r'["\\\n]', title):
        raise CourseError("A title is one line without quotation marks and backslashes.")
    stem = f"{int(number):02}_{name}"
    if any(unit.name == name or unit.number == stem[:2] for unit in units):
        raise CourseError(f"There is a unit {stem[:2]} or {name} already.")
    if units and stem < units[-1].stem:
        raise CourseError(f"Units are added at the end: the last one is {units[-1].stem}.")
    label = title.strip().split(":")[0]
    return Unit(stem, title.strip(), label, (5, 10), _free_place(units), ())


def _free_place(units: tuple[Unit, ...]) -> tuple[int, int]:
    """The first place on the start page's map where no unit stands, from the top left."""
    taken = {unit.place for unit in units}
    places = ((column, row) for row in range(4, -9, -1) for column in range(4))
    return next(place for place in places if place not in taken)


def _filled(text: str, unit: Unit) -> str:
    words = {"number": unit.number, "int": str(int(unit.number)), "name": unit.name}
    words |= {"stem": unit.stem, "title": unit.title}
    filled = (TEXTS / f"{text}.txt").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], filled)


def _notebook(text: str, unit: Unit) -> NotebookNode:
    cells = list(_cells(_filled(text, unit)))
    cells[0].id = "title"
    return name_cells(clean(new_notebook(cells=cells)))


def _cells(text: str) -> Iterator[NotebookNode]:
    """`%% text slide`, or `%% code - hide-input`: the kind of cell, its slide mark and its tags."""
    kinds = {"text": new_markdown_cell, "code": new_code_cell}
    _, *found = CELL.split(text)
    for kind, slide, tags, source in zip(*(found[k::4] for k in range(4)), strict=True):
        cell = kinds[kind](source.strip())
        if slide != "-":
            cell.metadata["slideshow"] = {"slide_type": slide}
        if tags.split():
            cell.metadata["tags"] = tags.split()
        if "hide-input" in tags:
            cell.metadata["jupyter"] = {"source_hidden": True}
        yield cell
