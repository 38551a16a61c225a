"""The facts about the exercises of a unit, from a file beside its checks. Read without NumPy.

    [[exercise]]
    number = "2.8"
    name = "even_sum"             # of the check
    title = "Sum of even numbers"
    points = 3
    minutes = 20
    difficulty = 3                # of 3
    section = 4                   # of the lecture, to read again
    beyond = true                 # neither a lecture nor the package has its answer
    earns = [0, 0, 1, 2]          # points by the number of right parts, where they do not add up
    follows = ["odd_sum"]         # earlier exercises whose answers are handed on
    never."a zero" = "Why."       # corners that its check never tries (`course audit --corners`)
    forbids = ["sums.total"]      # functions of the course that are its answer, or a tuple of them
    says = "The sum of {tried} lists agreed."   # what is said of a right answer

What follows the minutes may be missing. A file that is not sound is refused with the line of the
exercise.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from .files import CourseError


@dataclass(frozen=True)
class Facts:
    """What is known of an exercise before its check is loaded."""

    number: str
    name: str
    title: str
    points: int
    minutes: int
    difficulty: int = 1
    section: int = 0
    beyond: bool = False
    earns: tuple[int, ...] = ()
    follows: tuple[str, ...] = ()
    never: Mapping[str, str] = field(default_factory=dict)
    forbids: tuple[str, ...] = ()
    says: str = ""

    @property
    def is_transfer(self) -> bool:
        """Does it stand beyond the page?"""
        return self.beyond


KINDS: dict[str, type] = {
    "number": str,
    "name": str,
    "title": str,
    "points": int,
    "minutes": int,
    "difficulty": int,
    "section": int,
    "beyond": bool,
    "earns": list,
    "follows": list,
    "never": dict,
    "forbids": list,
    "says": str,
}
WORDS: dict[type, str] = {
    str: "text in quotes",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "a table of texts",
}
PLACE = re.compile(r"(?<![\^_])\{(?!tried\})[^}]*\}")  # for something else; x^{2} is a formula
NEEDED = [f.name for f in fields(Facts) if f.default is f.default_factory is MISSING]


def facts_beside(module: str | Path) -> Path:
    """The file of facts that belongs to a check module."""
    return Path(module).with_suffix(".toml")


def read_facts(file: Path) -> tuple[Facts, ...]:
    """The facts in this file, in order; CourseError names the line of what is not sound."""
    try:
        return _read(file, file.stat().st_mtime_ns)
    except OSError as error:
        raise CourseError(f"{file} cannot be read: {error.strerror}.") from None


@functools.lru_cache(maxsize=64)
def _read(file: Path, _: int) -> tuple[Facts, ...]:
    try:
        text = file.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourseError(f"{file} cannot be read: {error}.") from None
    starts = [n for n, row in enumerate(text.splitlines(), 1) if row.strip() == "[[exercise]]"]
    rows = data.get("exercise", [])
    if {*data} - {"exercise"} or not isinstance(rows, list) or len(starts) != len(rows):
        raise CourseError(f"{file} holds tables that begin with [[exercise]], and nothing else.")
    found: list[Facts] = []
    for line, row in zip(starts, rows, strict=True):
        found.append(_facts(row, f"{file}, line {line}"))
        _refuse_twice(found, f"{file}, line {line}")
    return tuple(found)


def _facts(row: dict[str, Any], where: str) -> Facts:
    for key, value in row.items():
        if key not in KINDS:
            raise CourseError(f"{where}: there is no fact {key!r}; there are {', '.join(KINDS)}.")
        kind = KINDS[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise CourseError(f"{where}: {key} should be {WORDS[kind]}, not {value!r}.")
    for key in NEEDED:
        if key not in row:
            raise CourseError(f"{where}: the line `{key} = …` is missing.")
    told: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
    facts = Facts(**told)
    _refuse_senseless(facts, where)
    return facts


def _refuse_senseless(facts: Facts, where: str) -> None:
    if not facts.name.isidentifier():
        raise CourseError(f"{where}: {facts.name!r} is no name of a check.")
    if not re.fullmatch(r"\d+\.\d+", facts.number):
        raise CourseError(f"{where}: {facts.number!r} is no number of an exercise; 2.8 is one.")
    if facts.points < 1 or facts.minutes < 1:
        raise CourseError(f"{where}: points and minutes are at least 1.")
    if not 1 <= facts.difficulty <= 3:
        raise CourseError(f"{where}: a difficulty is 1, 2 or 3, not {facts.difficulty}.")
    if wrong := PLACE.search(facts.says):
        raise CourseError(f"{where}: says may have {{tried}} in it, but not {wrong[0]}.")
    if not all(isinstance(n, int) for n in facts.earns):
        raise CourseError(f"{where}: earns is a list of points.")
    if facts.earns and facts.earns[-1] != facts.points:
        raise CourseError(f"{where}: with all parts right, earns gives {facts.points} points.")


def _refuse_twice(found: list[Facts], where: str) -> None:
    """The last of these has a number that follows, a name of its own, and follows what is there."""
    *before, last = found
    if last.name in [facts.name for facts in before]:
        raise CourseError(f"{where}: there is an exercise {last.name} already.")
    unit, place = last.number.split(".")
    if int(place) != len(found) or (before and before[0].number.split(".")[0] != unit):
        raise CourseError(f"{where}: the number {last.number} does not follow the one before it.")
    if before and before[-1].beyond and not last.beyond:
        raise CourseError(f"{where}: exercises beyond the page come last.")
    for name in last.follows:
        if name not in [facts.name for facts in before]:
            raise CourseError(f"{where}: it follows {name}, which is no exercise before it.")
