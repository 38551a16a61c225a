"""The units of a course: one table, `units.toml`, and the reading of a unit's name."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .course import Course, current
from .facts import Facts, read_facts
from .files import CourseError

if TYPE_CHECKING:
    from .exercises import Exercise


@dataclass(frozen=True)
class Unit:
    """A row of the table; the exercises, and so the points, are those of its check module."""

    stem: str
    title: str
    label: str
    minutes: tuple[int, int]
    place: tuple[int, int]
    after: tuple[str, ...]
    package: str = ""  # of the course

    @property
    def number(self) -> str:
        """`01` of 01_sums."""
        return self.stem.partition("_")[0]

    @property
    def name(self) -> str:
        """`sums` of 01_sums: the name of its check module."""
        return self.stem.partition("_")[2]

    @property
    def short_title(self) -> str:
        """`01 · Sums` of a lecture that is called Sums: forward and backward"""
        return f"{self.number} · {re.split('[:;,] ', self.title)[0]}"

    @property
    def exercises(self) -> list[Exercise]:
        """What its check module asks, in order."""
        from .exercises import Exercise  # with NumPy, which commands start without

        module = import_module(f"{self.package}.checks.{self.name}")
        found = [e for e in vars(module).values() if isinstance(e, Exercise)]
        found = [e for e in found if e.unit == module.__name__]
        if [e.name for e in found] != [facts.name for facts in self.listed]:
            asked, told = (", ".join(x.name for x in every) for every in (found, self.listed))
            raise CourseError(f"{module.__file__} asks {asked}; {self.name}.toml declares {told}.")
        return found

    @property
    def listed(self) -> tuple[Facts, ...]:
        """The facts about them: nothing is loaded, no check, no NumPy."""
        found = find_spec(f"{self.package}.checks")
        folders = found.submodule_search_locations if found else None
        return read_facts(Path(next(iter(folders or ()), "")) / f"{self.name}.toml")

    @property
    def points(self) -> int:
        """The points of its essential exercises."""
        return sum(e.points for e in self.listed if not e.is_transfer)

    @property
    def transfer_points(self) -> int:
        """Those of the exercises beyond the page."""
        return sum(e.points for e in self.listed if e.is_transfer)


def read_table(text: str, package: str = "") -> tuple[Unit, ...]:
    """The units of a table in this package; CourseError says which row is not sound."""
    try:
        rows = tomllib.loads(text).get("unit", [])
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"The table of units cannot be read: {error}.") from None
    units = tuple(_unit({**row, "package": package}) for row in rows)
    stems = [unit.stem for unit in units]
    if stems != sorted(set(stems)) or len({unit.number for unit in units}) < len(units):
        raise CourseError("The table of units is out of order, or has a number twice.")
    return units


def _unit(row: dict[str, Any]) -> Unit:
    try:
        values: Any = {key: tuple(v) if isinstance(v, list) else v for key, v in row.items()}
        unit = Unit(**values)
    except TypeError:
        raise CourseError(f"The table of units has an incomplete row: {row}.") from None
    if not re.fullmatch(r"\d\d_[a-z]+(_[a-z]+)*", unit.stem):
        raise CourseError(f"The table of units has the stem {unit.stem!r}; 01_sums is one.")
    return unit


def units(course: Course | None = None) -> tuple[Unit, ...]:
    """The units of a course: of the one we are in, unless another is named."""
    course = course or current()
    try:
        return _units(course.table, course.package, course.table.stat().st_mtime_ns)
    except OSError as error:
        raise CourseError(f"{course.table} cannot be read: {error.strerror}.") from None


@functools.lru_cache(maxsize=8)
def _units(table: Path, package: str, _: int) -> tuple[Unit, ...]:
    return read_table(table.read_text(encoding="utf-8"), package)


def declared(stem: str) -> list[Exercise]:
    """The exercises of the unit with this stem, such as 01_sums; none if there is no such."""
    return next((unit.exercises for unit in units() if unit.stem == stem), [])


def listed(stem: str) -> tuple[Facts, ...]:
    """What is known of its exercises before they are loaded; nothing if there is no such unit."""
    return next((unit.listed for unit in units() if unit.stem == stem), ())


def titled(number: str, name: str) -> str:
    """`1.1 Sum of even numbers`: number and title, or the name of what is in no table."""
    unit = number.partition(".")[0].zfill(2)
    facts = (f for u in units() if u.number == unit for f in u.listed)
    return f"{number} {next((f.title for f in facts if f.name == name), name)}"


def beyond(stem: str) -> set[str]:
    """The names of the unit's exercises that stand beyond the page."""
    return {e.name for e in listed(stem) if e.is_transfer}


def meant(name: str, stems: Iterable[str]) -> str | None:
    """The stem that is meant by `1`, `01`, `sums`, `01_sums` or the name of its file."""
    wanted = re.split(r"[/\\]", name.strip().lower())[-1].removesuffix(".ipynb")
    wanted = wanted.zfill(2) if wanted.isdecimal() else wanted
    known = {stem: (stem.lower(), *stem.lower().split("_", maxsplit=1)) for stem in stems}
    return next((stem for stem, names in known.items() if wanted in names), None)


def find(name: str, stems: Iterable[str] | None = None) -> str:
    """The same, with a sentence where none is meant."""
    known = [unit.stem for unit in units()] if stems is None else list(stems)
    stem = meant(name, known)
    if stem is None:
        raise CourseError(f"There is no unit {name!r}; there are {', '.join(known) or 'none'}.")
    return stem
