"""The table of the homework in docs/homework.md: every item has its section and its exercises."""

import re
from functools import cache
from pathlib import Path

import pytest

from classroom.notebooks import read
from course_utils.units import UNITS

ROOT = Path(__file__).parents[1]
ITEM = re.compile(r"^\| (\[00\d\] [^|]+) \| (\d\d) · ([^|]+) \| ([\d., ]+) \|$", re.MULTILINE)
ROW = re.compile(r"^\| \[00\d\].*$", re.MULTILINE)
GUIDE = (ROOT / "docs" / "homework.md").read_text(encoding="utf-8")
ITEMS = ITEM.findall(GUIDE)


@cache
def headings(number):
    (lecture,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    texts = (cell.source for cell in read(lecture).cells if cell.cell_type == "markdown")
    return {line.lstrip("# ") for text in texts for line in text.splitlines() if line[:2] == "##"}


def test_no_row_has_an_empty_place_and_all_five_documents_are_there():
    assert len(ITEMS) == len(ROW.findall(GUIDE)) > 50
    assert {item[0][:5] for item in ITEMS} == {f"[00{k}]" for k in range(5)}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item[0])
def test_an_item_of_the_homework_has_its_section_and_its_exercises(item):
    _, number, section, exercises = item
    assert section in headings(number)
    asked = {exercise.number for unit in UNITS for exercise in unit.exercises}
    assert set(exercises.split(", ")) <= asked
