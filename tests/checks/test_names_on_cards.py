"""A card calls an answer as the sheet does: the check's parameters are the sheet's names."""

import ast
from pathlib import Path

import pytest

from classroom.notebooks import read
from selfcheck.units import units

SHEETS = Path(__file__).parents[2] / "solutions"
BY_UNIT = {
    unit.stem: unit for unit in units() if unit.stem[:2] in {"07", "08", "09", "10", "11", "12"}
}


def calls(stem):
    """The checks on a sheet, each with the names of the answers that are handed over."""
    for cell in read(SHEETS / f"{stem}.ipynb").cells:
        if cell.cell_type == "code" and cell.source.startswith("check."):
            call = ast.parse(cell.source).body[0].value
            yield call.func.attr, [ast.unparse(argument) for argument in call.args]


@pytest.mark.parametrize("stem", BY_UNIT)
def test_a_check_calls_its_answers_as_the_sheet_does(stem):
    exercises = {exercise.name: exercise for exercise in BY_UNIT[stem].exercises}
    for name, given in calls(stem):
        assert list(exercises[name].kinds)[: len(given)] == given, (stem, name)
