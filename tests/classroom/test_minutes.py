"""The minutes of a lecture are counted: words, code, questions, pictures, explorers."""

from pathlib import Path

import nbformat.v4 as v4
import pytest

from classroom.minutes import minutes_of
from classroom.notebooks import read
from course_utils.units import UNITS

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def lecture(*cells):
    return v4.new_notebook(cells=list(cells))


def shows(words):
    output = v4.new_output("display_data", data={"image/png": "AAAA", "text/plain": words})
    return v4.new_code_cell("", outputs=[output])


def test_each_thing_has_its_price():
    assert minutes_of(lecture(v4.new_markdown_cell("word " * 170))) == pytest.approx(1)
    assert minutes_of(lecture(v4.new_code_cell("x = 1\n" * 12))) == pytest.approx(1)
    question = lecture(v4.new_markdown_cell("**Before you go on:** " + "word " * 166))
    assert minutes_of(question) == pytest.approx(2.25)
    assert minutes_of(lecture(shows("Figure: a dot."), shows("Explorer(x=1)"))) == 4.5
    flat = shows("Figure: a dot.")
    flat.outputs[0].metadata["image/png"] = {"height": 120}
    assert minutes_of(lecture(flat)) == 0.75


def test_hidden_code_and_pages_for_reference_are_not_read():
    folded = v4.new_code_cell("x = 1", metadata={"jupyter": {"source_hidden": True}})
    appendix = v4.new_markdown_cell("## Appendix: notation\n\nMany words.")
    sources = v4.new_markdown_cell("## Sources\n\nMany words.", id="sources")
    assert minutes_of(lecture(folded, appendix, sources)) == 0


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_lecture_states_the_minutes_that_were_counted(unit):
    counted = minutes_of(read(NOTEBOOKS / f"{unit.stem}.ipynb"))
    assert abs(unit.minutes[0] - counted) < 5, f"units.toml should say {5 * round(counted / 5)}"


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_sheet_states_the_sum_of_its_exercises(unit):
    total = sum(facts.minutes for facts in unit.listed)
    assert abs(unit.minutes[1] - total) < 5, f"units.toml should say {5 * round(total / 5)}"


def test_the_start_page_takes_fifteen_minutes():
    assert minutes_of(read(NOTEBOOKS / "00_start_here.ipynb")) < 15
