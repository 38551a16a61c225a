"""What the page of a sheet has to know: its code cells, and how each exercise is answered there.

An answer that is nothing but formulas, numbers or choices is typed into fields, one a blank; the
page writes them into the cell as text, which every check reads. All others are typed as code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from nbformat import NotebookNode

from selfcheck.exercises import Exercise
from selfcheck.kinds import Choice, Formula, Kind, Lines, Number

from ..roles import Role, called_check, id_of, role

BLANK = "____"
Piece = str | dict[str, Any]


def about_sheet(notebook: NotebookNode, exercises: Sequence[Exercise]) -> dict[str, Any]:
    """The code cells of a blank sheet with their roles; its exercises by the id of the answer."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    answers = {id_of(Role.ANSWER, exercise.name): exercise for exercise in exercises}
    cells = [
        {"id": c.id, "role": "answer" if c.id in answers else str(role(c)), "source": c.source}
        for c in code
    ]
    sources = {cell.id: cell.source for cell in code}
    asked = {
        cell: _about(e, sources[cell], sources[id_of(Role.CHECK, e.name)])
        for cell, e in answers.items()
        if cell in sources
    }
    return {"cells": cells, "exercises": asked}


def _about(exercise: Exercise, blank: str, check: str) -> dict[str, Any]:
    call = called_check(check)
    given = call.arguments if call else ()
    parameters = dict(zip(given, exercise.kinds, strict=False))  # by what the answer calls them
    return {
        "name": exercise.name,
        "number": exercise.number,
        "points": exercise.points,
        "hints": len(exercise.hints),
        "practice": bool(exercise.sisters),
        "pieces": pieces(blank, exercise.kinds, parameters),
    }


def pieces(blank: str, kinds: Mapping[str, Kind], given: Mapping[str, str]) -> list[Piece]:
    """The cell with fields in place of its blanks; none if one asks for more than a line."""
    try:
        tree = ast.parse(blank)
    except SyntaxError:
        return []
    fields: list[dict[str, Any]] = []
    taken = 0
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            found, blanks = _fields(statement.targets[0], statement.value, kinds, given)
            fields, taken = [*fields, *found], taken + blanks
    lists = re.compile(r"\[\s*(?:____,?\s*)+\]|____")
    if not fields or taken != blank.count(BLANK) or len(lists.findall(blank)) != len(fields):
        return []
    cut: list[Piece] = []
    for text, field in zip(lists.split(blank), [*fields, None], strict=True):
        cut += [text] if field is None else [text, field]
    return cut


def _fields(
    target: ast.expr, value: ast.expr, kinds: Mapping[str, Kind], given: Mapping[str, str]
) -> tuple[list[dict[str, Any]], int]:
    """The fields of an assignment, and how many blanks they stand for."""
    pair = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
    targets = target.elts if pair else [target]  # type: ignore[attr-defined]
    values = value.elts if pair else [value]  # type: ignore[attr-defined]
    found, blanks = [], 0
    for name, asked in zip(targets, values, strict=False):
        parameter = given.get(ast.unparse(name), "")
        kind = kinds.get(parameter)
        rows = asked.elts if isinstance(asked, ast.List) and isinstance(kind, Lines) else [asked]
        told = _told(kind)
        if told and all(isinstance(row, ast.Name) and row.id == BLANK for row in rows):
            found.append({"name": ast.unparse(name), "parameter": parameter, **told})
            blanks += len(rows)
    return found, blanks


def _told(kind: Kind | None) -> dict[str, Any]:
    """How a field of this kind looks; nothing for a kind that needs code."""
    if isinstance(kind, Choice):
        return {"kind": "choice", "options": list(kind.options)}
    if isinstance(kind, Lines):
        return {"kind": "lines"}
    return {"kind": "formula"} if isinstance(kind, Formula | Number) else {}
