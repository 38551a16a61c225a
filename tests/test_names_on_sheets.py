"""A name on a sheet is given a value in one place: cells may be run again, in any order.

The checks call an answer as the sheet calls it, so that a sentence about it can be found.
"""

import ast
import json

import pytest

from selfcheck.exercises import EXERCISES
from tests.places import ROOT, check_modules

check_modules()  # loads all exercises
SHEETS = sorted((ROOT / "exercises").glob("*.ipynb"))
each_sheet = pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.stem)
OTHER_NAMES = [path for path in SHEETS if path.stem >= "07"]  # whose checks have their own still


def code_cells(sheet):
    cells = json.loads(sheet.read_text(encoding="utf-8"))["cells"]
    sources = ("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return [ast.parse(source) for source in sources]


def given_a_value(cell):
    """The names that a cell binds when it is run, those inside of functions left out."""
    bound = set()
    for statement in cell.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            bound.add(statement.name)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in statement.names}
        else:
            stored = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
            bound |= {n.id for n in stored if isinstance(n.ctx, ast.Store)}
    return bound


def checks_called(sheet):
    """The calls `check.NAME(a, b)` of a sheet: names of the check, and of what it is given."""
    for cell in code_cells(sheet):
        for node in cell.body:
            call = getattr(node, "value", None)
            called = call.func if isinstance(call, ast.Call) else None
            if isinstance(called, ast.Attribute) and ast.unparse(called.value) == "check":
                yield called.attr, [ast.unparse(argument) for argument in call.args]


def symbols(sheet):
    """The names that stand for letters of formulas."""
    made = (
        cell for tree in code_cells(sheet) for cell in tree.body if isinstance(cell, ast.Assign)
    )
    return {
        name
        for cell in made
        if "symbols(" in ast.unparse(cell.value)
        for name in given_a_value(ast.Module([cell], []))
    }


@each_sheet
def test_an_answer_or_a_symbol_is_given_a_value_in_one_cell_alone(sheet):
    answers = {name for _, names in checks_called(sheet) for name in names}
    watched, seen = answers | symbols(sheet), {}
    assert answers
    for number, cell in enumerate(code_cells(sheet), start=1):
        for name in given_a_value(cell) & watched:
            assert name not in seen, f"{name} in the code cells {seen[name]} and {number}"
            seen[name] = number


@pytest.mark.parametrize(
    "sheet", [path for path in SHEETS if path not in OTHER_NAMES], ids=lambda path: path.stem
)
def test_checks_call_an_answer_as_the_sheet_does(sheet):
    unit = f"course_utils.checks.{sheet.stem.partition('_')[2]}"
    exercises = {e.name: e for e in EXERCISES if e.unit == unit}
    assert exercises
    for name, answers in checks_called(sheet):
        assert answers == [*exercises[name].kinds][: len(answers)], name
