"""What a notebook is, told by the cells it holds: a sheet of a unit, a lecture, or something else.

A sheet has the cells of the unit's answers and checks, by their ids; a notebook that lost its ids
has the calls of the checks, or imports them and has the names of exercises or answers. Names of
files decide nothing here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..roles import Role, id_of, parsed
from .submitted import Cell

UNREADABLE, OURS, UNTOUCHED, FEW_CALLS, WORKED_ON = range(1, 6)  # how much it is an attempt
CALLED = re.compile(r"\bcheck\s*\.\s*(\w+)\s*\(")
HELP = re.compile(r"\bcheck\s*\.\s*\w+\s*(?:\.\s*hint\s*\(.*?\)|\?)")
BLANK = "____"
LONGEST = 200_000  # letters of a cell in which calls are looked for


@dataclass(frozen=True)
class Kind:
    """What a file is: an attempt at a unit with a rank, or what it is instead, in words."""

    unit: str = ""
    rank: int = 0
    instead: str = ""
    also: tuple[str, ...] = ()  # other units of which it holds half the exercises or more
    holds: frozenset[str] = frozenset()  # exercises of the unit whose cells or calls it has


@dataclass(frozen=True)
class Contents:
    """What the course knows of its own notebooks, as far as it is asked for."""

    units: Mapping[str, Iterable[str]]  # the exercises of each
    lectures: Callable[[], Mapping[str, set[str]]] = dict  # sources of each lecture's code cells
    sheet: Callable[[str], set[str]] = lambda unit: set()  # sources of a unit's sheet as given out
    solved: Callable[[str], set[str]] = lambda unit: set()  # of the solution that is shown later

    def kind(self, cells: Sequence[Cell], named: str = "") -> Kind:
        """What a notebook with these cells is; of two units alike, the one it is named after."""
        ids = {cell.id for cell in cells}
        calls = {name for cell in cells for name in called_names(cell.source)}
        words = {word for cell in cells for word in words_of(cell.source)}
        held = {
            unit: (len(own & ids), max(len(names & calls), self._named(unit, names, words)))
            for unit, own, names in self._asked
        }
        best = max(held, key=lambda unit: (sum(held[unit]), unit == named), default="")
        by_id, by_call = held.get(best, (0, 0))
        also = tuple(
            unit
            for unit, _, names in self._asked
            if unit != best and 0 < len(names) <= 2 * len(names & calls)
        )
        asked = next((names for unit, _, names in self._asked if unit == best), set())
        lecture = "" if by_id else self._lecture(cells, asked)
        if lecture:
            return Kind(instead=lecture)
        if by_id or by_call:
            few = max(by_id, 2 * (len(asked & calls) or by_call)) < len(asked)  # two ids for each
            few |= bool(also)  # a file of this unit alone goes before
            rank = FEW_CALLS if few else WORKED_ON
            rank = rank if self._is_worked_on(cells, best) else UNTOUCHED
            is_ours = rank == WORKED_ON and {c.source.strip() for c in cells} == self.solved(best)
            kinds = (Role.ANSWER, Role.CHECK)
            by_cells = {name for name in asked for kind in kinds if id_of(kind, name) in ids}
            holds = frozenset(by_cells | (asked & calls))
            return Kind(best, OURS if is_ours else rank, also=also, holds=holds)
        return Kind(instead="a notebook without exercises of the course")

    @cached_property
    def _asked(self) -> list[tuple[str, set[str], set[str]]]:
        """Of each unit, the ids of its answers and checks, and the names of its exercises."""
        kinds = (Role.ANSWER, Role.CHECK)
        return [
            (unit, {id_of(kind, name) for kind in kinds for name in names}, set(names))
            for unit, names in self.units.items()
        ]

    def _named(self, unit: str, exercises: set[str], words: set[str]) -> int:
        """How many exercises have their name here, or answers theirs, where checks are imported."""
        if not {"checks", unit.partition("_")[2]} <= words:
            return 0
        return max(len(exercises & words), len(self._answers(unit) & words))

    def _answers(self, unit: str) -> set[str]:
        """The names that answers of a unit have in its sheet."""
        if unit not in self._answers_of:
            stubs = [source for source in self.sheet(unit) if BLANK in source]
            self._answers_of[unit] = {name for stub in stubs for name in _names_made(stub)}
        return self._answers_of[unit]

    @cached_property
    def _answers_of(self) -> dict[str, set[str]]:
        return {}

    def _is_worked_on(self, cells: Sequence[Cell], unit: str) -> bool:
        """Is there anything about an answer that the sheet as it was given out has not?"""
        given = self.sheet(unit)
        as_given = {plain_code(source) for source in given}
        own = (plain_code(cell.source) for cell in cells if cell.source.strip() not in given)
        exercises = next(names for of, _, names in self._asked if of == unit)
        about = exercises | self._answers(unit)
        return not given or any(
            source not in as_given and (len(source) > LONGEST or words_of(source) & about)
            for source in own
        )

    def _lecture(self, cells: Sequence[Cell], asked: set[str]) -> str:
        """The lecture of which most cells are, unless half of what is asked was done there."""
        sources = {cell.source.strip() for cell in cells} - {""}
        for stem, lecture in self.lectures().items():
            if sources and 2 * len(sources & lecture) > len(sources):
                done = {name for own in sources - lecture for name in called_names(own)}
                return f"the lecture {stem}" if 2 * len(done & asked) < len(asked) else ""
        return ""


def _names_made(source: str) -> Iterator[str]:
    """The names that a stub gives to what is left blank, without what is inside of these."""
    for statement in (one for one in parsed(source) if BLANK in ast.unparse(one)):
        if isinstance(statement, ast.FunctionDef):
            yield statement.name
        else:
            nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            yield from (node.id for node in nodes if isinstance(node.ctx, ast.Store))


@lru_cache(maxsize=2000)
def plain_code(source: str) -> str:
    """The code of a cell without comments, without hints, however it is set."""
    try:
        source = ast.unparse(ast.parse(source)) if len(source) <= LONGEST else source
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a magic, or unfinished
        source = "\n".join(line.rstrip() for line in source.strip().splitlines())
    return HELP.sub("", source)


@lru_cache(maxsize=2000)
def words_of(source: str) -> frozenset[str]:
    """The words of a cell."""
    return frozenset(re.split(r"\W+", source)) if len(source) <= LONGEST else frozenset()


@lru_cache(maxsize=2000)
def called_names(source: str) -> frozenset[str]:
    """The checks that are called anywhere in a cell: `check.weights(…)`."""
    if "check" not in source or len(source) > LONGEST:
        return frozenset()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a magic, or unfinished
        return frozenset(CALLED.findall(source))
    return frozenset(
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "check"
    )
