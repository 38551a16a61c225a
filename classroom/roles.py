"""What a cell is, told by its content: text, given code, answer, check, student id, scoreboard.

An answer holds the solution marks; a check is a bare call `check.weights(…)`; `student = …` is
where students write their id. Ids of cells follow from that: the tools write them, and nobody types
one. An id that says otherwise, or exercises that are not exactly those of the unit's check module,
each with one answer and one check, are refused before anything is released or graded.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from selfcheck.files import CourseError

from .marks import BEGIN, INSTRUCTOR_ONLY

if TYPE_CHECKING:
    from nbformat import NotebookNode

LONGEST_CALL = 2000  # characters; a cell of megabytes takes seconds to parse, and is no call
MACHINE_MADE = re.compile(r"|[0-9a-f]{8}(-?[0-9a-f]{4}){0,3}(-?[0-9a-f]{12})?", re.IGNORECASE)
HEADING = re.compile(
    r"^## Exercise (?P<number>\d+\.\d+)( · .+)? "
    r"\((?P<points>\d+) points?, (?P<minutes>\d+) minutes?\)$",
    re.MULTILINE,
)


class Role(StrEnum):
    """What a cell is for."""

    TEXT = "text"
    GIVEN = "given"
    ANSWER = "answer"
    CHECK = "check"
    STUDENT = "student"
    SCOREBOARD = "scoreboard"
    INSTRUCTORS = "instructors"


class Check(NamedTuple):
    """A call of a check: which exercise, on which expressions."""

    exercise: str
    arguments: tuple[str, ...]
    named: tuple[tuple[str, str], ...] = ()  # those that are given by name


class Ours(NamedTuple):
    """A code cell of the instructor's: what it is, and its source, which answers do not have."""

    id: str
    role: str
    source: str


class Asked(Protocol):
    """What has to be known of an exercise: those of `selfcheck.units` have it."""

    @property
    def name(self) -> str: ...
    @property
    def number(self) -> str: ...
    @property
    def points(self) -> int: ...
    @property
    def is_transfer(self) -> bool: ...


class Coded(Protocol):
    """A cell with an id and a source."""

    id: str
    source: str


# -- one cell -------------------------------------------------------------------------------------


def role(cell: NotebookNode) -> Role:
    """What a cell of a notebook is."""
    if INSTRUCTOR_ONLY in cell.metadata.get("tags", []):
        return Role.INSTRUCTORS
    return role_of_code(cell.source) if cell.cell_type == "code" else Role.TEXT


def role_of_code(source: str) -> Role:
    """What a code cell with this source is."""
    if any(line.strip() == BEGIN for line in source.splitlines()):
        return Role.ANSWER
    match parsed(source):
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name("check")), _, []))]:
            return Role.CHECK
        case [ast.Assign([ast.Name("student")])]:
            return Role.STUDENT
        case [ast.Expr(ast.Call(ast.Name("scoreboard"), []))]:
            return Role.SCOREBOARD
    return Role.GIVEN


def called_check(source: str) -> Check | None:
    """The check that this source calls, if it is nothing but `check.name(arguments)`."""
    match parsed(source):
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name("check"), name), arguments, []))]:
            return Check(name, tuple(ast.unparse(argument) for argument in arguments))
    return None


def parsed(source: str) -> list[ast.stmt]:
    """The statements of a short cell; none of one that is too long or no Python."""
    return _statements(source) if len(source) <= LONGEST_CALL else []


@functools.lru_cache(maxsize=200)  # the cells of a sheet, which a class shares
def _statements(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def id_of(kind: Role, exercise: str) -> str:
    """`answer-half-life`: what the cell of an exercise is called."""
    return f"{kind}-{exercise.replace('_', '-')}"


def is_machine_made(cell_id: str) -> bool:
    """Is it an id as JupyterLab and jupytext make them, or none?"""
    return bool(MACHINE_MADE.fullmatch(cell_id))


# -- the exercises of a sheet ---------------------------------------------------------------------


def refuse_other_exercises(cells: Sequence[Coded], declared: Sequence[Asked], name: str) -> None:
    """Refuse code cells of a solution unless their exercises are those declared, in order."""
    if not declared:
        raise CourseError(f"{name}: the checks declare no exercises for it.")
    asked = {exercise.name: exercise for exercise in declared}
    found: list[str] = []
    waiting: list[Coded] = []
    for cell in cells:
        kind, check = role_of_code(cell.source), called_check(cell.source)
        _refuse_false_name(cell, kind, name)
        if kind is Role.ANSWER:
            waiting.append(cell)
        elif check is not None:
            exercise = _known(check, asked, cell, name)
            _refuse_other_name(_one(waiting, cell, name), Role.ANSWER, exercise, name)
            _refuse_other_name(cell, Role.CHECK, exercise, name)
            found, waiting = [*found, exercise.name], []
    if waiting:
        raise CourseError(f"{name}, cell {waiting[0].id}: an answer that no check follows.")
    if found != list(asked):
        raise CourseError(_difference(found, declared, cells, name))


def _known(check: Check, asked: dict[str, Asked], cell: Coded, name: str) -> Asked:
    if check.exercise not in asked:
        raise CourseError(
            f"{name}, cell {cell.id}: check.{check.exercise} is no exercise of this unit; "
            f"there are {', '.join(asked)}."
        )
    return asked[check.exercise]


def _one(waiting: Sequence[Coded], check: Coded, name: str) -> Coded:
    if not waiting:
        raise CourseError(
            f"{name}, cell {check.id}: a check without an answer of its own; the answer stands "
            f"before it, in a cell that holds {BEGIN}."
        )
    if len(waiting) > 1:
        raise CourseError(
            f"{name}, cell {waiting[1].id}: a second answer before the check {check.id}; "
            "an exercise has one."
        )
    return waiting[0]


def _refuse_false_name(cell: Coded, kind: Role, name: str) -> None:
    """An id that speaks of an answer or a check, on a cell that is none."""
    says = cell.id.partition("-")[0]
    if says in (Role.ANSWER, Role.CHECK) and says != kind:
        content = f"holds no {BEGIN}" if says == Role.ANSWER else "is no bare call check.name(…)"
        raise CourseError(f"{name}, cell {cell.id}: its name says {says}, but it {content}.")


def _refuse_other_name(cell: Coded, kind: Role, exercise: Asked, name: str) -> None:
    """An id that was typed, and that is not the one that the tools would write."""
    wanted = id_of(kind, exercise.name)
    if cell.id != wanted and not is_machine_made(cell.id):
        raise CourseError(
            f"{name}, cell {cell.id}: it is the {kind} of exercise {exercise.number} and should be "
            f"called {wanted}; `course execute {name}` names it."
        )


def _difference(
    found: list[str], declared: Sequence[Asked], cells: Iterable[Coded], name: str
) -> str:
    """The first difference between the exercises found and those declared, as a sentence."""
    for called in found:
        if found.count(called) > 1:
            return f"{name}, cell {id_of(Role.CHECK, called)}: it stands there twice."
    for exercise in declared:
        if exercise.name not in found:
            near = (c.id for c in cells if re.search(rf"\bcheck\.{exercise.name}\b", c.source))
            where = next(
                (f"; cell {cell_id} names it, but is no bare call" for cell_id in near), ""
            )
            return (
                f"{name}, cell {id_of(Role.CHECK, exercise.name)}: it is missing. Exercise "
                f"{exercise.number} is declared and has no check here{where}."
            )
    names = [exercise.name for exercise in declared]
    first = next(a for a, b in zip(found, names, strict=True) if a != b)
    order = f"out of order; the unit asks {', '.join(names)}"
    return f"{name}, cell {id_of(Role.CHECK, first)}: {order}."


def refuse_other_headings(
    cells: Iterable[NotebookNode], declared: Iterable[Asked], name: str
) -> None:
    """Before each answer stands a heading of its own, with the number and points of the check."""
    asked = {id_of(Role.ANSWER, exercise.name): exercise for exercise in declared}
    heading: tuple[str, int] | None = None
    for cell in cells:
        if cell.cell_type == "markdown" and (found := HEADING.search(cell.source)):
            heading = found["number"], int(found["points"])
        elif cell.id in asked:
            exercise = asked[cell.id]
            if heading != (exercise.number, exercise.points):
                points = f"{exercise.points} point{'' if exercise.points == 1 else 's'}"
                raise CourseError(
                    f"{name}, cell {cell.id}: no heading of its own stands before it; it should be "
                    f"`## Exercise {exercise.number} · … ({points}, … minutes)`."
                )
            heading = None


# -- names ----------------------------------------------------------------------------------------


def name_cells(notebook: NotebookNode) -> NotebookNode:
    """Give every cell the id that follows from its content; good names stay."""
    wanted = _names_of_exercises(notebook)
    taken = {name for name in wanted.values()}
    for place, cell in enumerate(notebook.cells):
        name = wanted.get(place, cell.id)
        if place not in wanted and (is_machine_made(name) or name in taken):
            name = _free(_slug(cell), taken)
        taken.add(name)
        cell.id = name
    return notebook


def _names_of_exercises(notebook: NotebookNode) -> dict[int, str]:
    """By place: the names of answers, checks and their headings, of student id and scoreboard."""
    roles = [role(cell) for cell in notebook.cells]
    if Role.ANSWER not in roles:  # a lecture, which may call checks as it likes
        return {}
    names: dict[int, str] = {}
    for place, kind in enumerate(roles):
        if kind in (Role.STUDENT, Role.SCOREBOARD):
            fresh = {place: str(kind)}
        elif kind is Role.CHECK:
            fresh = _names_up_to(notebook, roles, place)
        else:
            continue
        names |= {p: name for p, name in fresh.items() if name not in names.values()}
    return names


def _names_up_to(notebook: NotebookNode, roles: Sequence[Role], check: int) -> dict[int, str]:
    """Names for a check, and for the last heading and the last answer since the check before."""
    called = called_check(notebook.cells[check].source)
    if called is None:
        return {}
    dashed = called.exercise.replace("_", "-")
    names = {check: f"check-{dashed}"}
    for place in reversed(range(check)):
        if roles[place] is Role.CHECK and called_check(notebook.cells[place].source):
            break
        is_heading = roles[place] is Role.TEXT and HEADING.search(notebook.cells[place].source)
        kind = "text" if is_heading else "answer" if roles[place] is Role.ANSWER else ""
        if kind and f"{kind}-{dashed}" not in names.values():
            names[place] = f"{kind}-{dashed}"
    return names


def _slug(cell: NotebookNode) -> str:
    """A few words of the cell, as a name."""
    words = re.findall(r"[a-z][a-z0-9]*", cell.source.lower())
    return "-".join(words[:3])[:40].strip("-") or cell.cell_type


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number behind it if it is taken, machine-made or speaks of exercises."""
    if is_machine_made(name) or name.partition("-")[0] in (Role.ANSWER, Role.CHECK):
        name = f"cell-{name}"
    numbered = (f"{name}-{n}" for n in range(2, len(taken) + 3))
    return next(n for n in (name, *numbered) if n not in taken)
