"""units.py: one table of units, and one reading of a unit's name."""

from pathlib import Path

import pytest

from classroom.grading.asked import Solutions
from course_utils.units import UNITS
from selfcheck.files import CourseError
from selfcheck.units import declared, find, listed, meant, read_table, units

ROOT = Path(__file__).parents[1]
STEMS = ["01_sums", "02_products"]
ROW = """
[[unit]]
stem = "{}"
title = "A title: and more"
label = "A"
minutes = [50, 60]
place = [0, 0]
after = []
"""


def test_a_row_tells_number_name_and_titles():
    (unit,) = read_table(ROW.format("02_products"))
    assert (unit.number, unit.name) == ("02", "products")
    assert (unit.title, unit.short_title) == ("A title: and more", "02 · A title")
    assert unit.minutes == (50, 60)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_points_are_those_of_the_exercises_which_carry_the_number_of_their_unit(unit):
    assert unit.exercises == declared(unit.stem)
    numbers = [exercise.number for exercise in unit.exercises]
    assert numbers == [f"{int(unit.number)}.{k}" for k in range(1, len(numbers) + 1)]
    points = sum(exercise.points for exercise in unit.exercises)
    assert unit.points + unit.transfer_points == points
    assert unit.points > 0


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_arrows_lead_to_earlier_units_and_no_two_units_share_a_place(unit):
    earlier = [other.number for other in UNITS if other.number < unit.number]
    assert set(unit.after) <= set(earlier)
    assert [other.stem for other in UNITS if other.place == unit.place] == [unit.stem]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_exercises_are_those_that_the_file_of_facts_declares(unit):
    loaded = [(e.number, e.name, e.points, e.is_transfer) for e in unit.exercises]
    assert [(f.number, f.name, f.points, f.beyond) for f in unit.listed] == loaded


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_every_exercise_names_the_section_of_the_lecture_that_it_is_about(unit):
    named = Solutions(ROOT).sections(unit.stem)
    assert [e.name for e in unit.listed if e.name not in named] == []


def test_another_stem_declares_nothing():
    assert declared("42_nothing") == []
    assert listed("42_nothing") == ()


@pytest.mark.parametrize(
    "name", ["2", "02", "products", "02_products", "02_products.ipynb", " Products ",
             "notebooks/02_products.ipynb", r"exercises\02_products.ipynb"]
)  # fmt: skip
def test_a_unit_has_many_names(in_small_course, name):
    assert find(name) == meant(name, STEMS) == "02_products"


@pytest.mark.parametrize("name", ["", "0", "42", "product", "12_products", "2_products"])
def test_any_other_name_gets_a_sentence_with_the_known_ones(in_small_course, name):
    assert meant(name, STEMS) is None
    with pytest.raises(CourseError, match=r"There is no unit .*; there are 01_sums, 02_products\."):
        find(name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[unit]", "cannot be read"),
        ('[[unit]]\nstem = "01_a"', "incomplete row"),
        (ROW.format("1_a"), "stem '1_a'"),
        (ROW.format("02_a") + ROW.format("01_b"), "out of order"),
        (ROW.format("01_a") + ROW.format("01_b"), "number twice"),
    ],
)
def test_a_table_that_is_not_sound_gets_a_sentence(text, says):
    with pytest.raises(CourseError, match=says):
        read_table(text)


def test_the_table_of_our_course_is_the_file_beside_the_module():
    assert units() == UNITS
    assert len(UNITS) >= 12  # what loops over them loops over something
