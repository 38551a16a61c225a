"""`course init` and `course new`: a course, or a unit, that works at once and can be made yours.

Lecture, solution with a worked exercise, check module with two known mistakes and a test come from
the texts in templates/new_unit, the table of units gets a row, and links, points and exercises
follow from that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from selfcheck.course import Course, course_in
from selfcheck.files import CourseError, write_whole
from selfcheck.units import Unit
from selfcheck.units import units as units_of

from .notebooks import as_text, clean
from .roles import name_cells

TEXTS = Path(__file__).parent / "templates" / "new_unit"
COURSE_TEXTS = TEXTS.with_name("new_course")
COURSE_FILES = ("course.toml", "pyproject.toml", "requirements.txt", "Makefile", "README.md")
STUDENTS_FILES = ("Makefile", "README.md", "requirements.txt")
FIRST_UNIT = ("01", "even_numbers", "Sums of even numbers")
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
    units = units_of(course)
    unit = _unit(number, name, title, units)
    texts = {
        root / "notebooks" / f"{unit.stem}.ipynb": as_text(_notebook("lecture", unit, course)),
        root / "solutions" / f"{unit.stem}.ipynb": as_text(_notebook("solution", unit, course)),
        course.check_file(unit.name): _filled("check", unit, course),
        course.check_file(unit.name).with_suffix(".toml"): _filled("facts", unit, course),
        course.check_file(unit.name).with_suffix(".md"): _filled("prose", unit, course),
        root / "tests" / "checks" / f"test_{unit.name}.py": _filled("test", unit, course),
    }
    for path in texts:
        if path.exists():
            raise CourseError(f"{path} exists already; choose another name.")
    row = ROW.format(**vars(unit) | {"place": list(unit.place)})
    for path, text in texts.items():
        write_whole(path, text)
    write_whole(course.table, course.table.read_text(encoding="utf-8") + row)
    return [*texts, course.table]


def new_course(folder: Path, title: str) -> Course:
    """Begin a course in a new or empty folder: all but the units, of which `new_unit` makes one."""
    title = _title(title)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} is not empty; name a new folder for the course.")
    plain = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_") or "my"
    package = f"{plain}_course" if plain[0].isalpha() else f"course_{plain}"
    words = {"title": title, "package": package, "distribution": package.replace("_", "-")}
    words |= {"machine": _origin("selfcheck", "figures,jupyter")}
    words |= {"classroom": _origin("course-classroom", "slides")}
    places = {"gitignore.txt": ".gitignore", "package.txt": f"{package}/__init__.py"}
    places |= {"units.toml": f"{package}/units.toml", "test.txt": "tests/test_mistakes.py"}
    places |= {name: name for name in COURSE_FILES}
    places |= {f"students/{name}": f"students/{name}" for name in STUDENTS_FILES}
    for name, place in places.items():
        write_whole(folder / place, _with_words(COURSE_TEXTS / name, words))
    write_whole(folder / package / "checks" / "__init__.py", '"""What is asked, unit by unit."""\n')
    start = _made(_with_words(COURSE_TEXTS / "start.txt", words))
    course = course_in(folder)
    write_whole(folder / "notebooks" / f"{course.start}.ipynb", as_text(start))
    return course


def _origin(distribution: str, extras: str) -> str:
    """A line for pip: from where this package was installed, a folder or an index."""
    found = metadata.distribution(distribution)
    origin = json.loads(found.read_text("direct_url.json") or "{}").get("url", "")
    wanted = f"{distribution}[{extras}]"
    return f"{wanted} @ {origin}" if origin else f"{wanted}=={found.version}"


def _title(title: str) -> str:
    if not title.strip() or re.search(r'["\\\n]', title):
        raise CourseError("A title is one line without quotation marks and backslashes.")
    return title.strip()


def _unit(number: str, name: str, title: str, units: tuple[Unit, ...]) -> Unit:
    """The row of the unit, or a sentence that says which of its names is none."""
    if not re.fullmatch(r"\d{1,2}", number) or int(number) == 0:
        raise CourseError(f"{number!r} is no number of a unit; 1 to 99 are.")
    if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name):
        raise CourseError(f"{name!r} is no name of a unit; small letters and _ are: even_numbers.")
    title = _title(title)
    stem = f"{int(number):02}_{name}"
    if any(unit.name == name or unit.number == stem[:2] for unit in units):
        raise CourseError(f"There is a unit {stem[:2]} or {name} already.")
    if units and stem < units[-1].stem:
        raise CourseError(f"Units are added at the end: the last one is {units[-1].stem}.")
    label = title.split(":")[0]
    return Unit(stem, title, label, (5, 10), _free_place(units), ())


def _free_place(units: tuple[Unit, ...]) -> tuple[int, int]:
    """The first place on the start page's map where no unit stands, from the top left."""
    taken = {unit.place for unit in units}
    places = ((column, row) for row in range(4, -9, -1) for column in range(4))
    return next(place for place in places if place not in taken)


def _filled(text: str, unit: Unit, course: Course) -> str:
    words = {"number": unit.number, "int": str(int(unit.number)), "name": unit.name}
    words |= {"stem": unit.stem, "title": unit.title}
    words |= {"package": course.package, "start": course.start}
    imports = [f"from {course.package}.checks import {unit.name} as check"]
    imports += ["from selfcheck.feedback import Outcome"]
    imports += ["from selfcheck.testing import passes_in_every_form"]
    words |= {"imports": "\n".join(sorted(imports))}
    return _with_words(TEXTS / f"{text}.txt", words)


def _with_words(path: Path, words: Mapping[str, str]) -> str:
    """The text of a template with the words that belong into it."""
    filled = path.read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], filled)


def _notebook(text: str, unit: Unit, course: Course) -> NotebookNode:
    return _made(_filled(text, unit, course))


def _made(text: str) -> NotebookNode:
    cells = list(_cells(text))
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
