"""[class] in course.toml: late work, attempts, deadlines, extra time, the roster's columns."""

import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from classroom.grading.enrolled import lateness
from classroom.grading.settings import (
    LateRule,
    Settings,
    moodle_time,
    read_settings,
    settings_of,
)
from classroom.grading.submissions import Submission
from selfcheck.course import course_in
from selfcheck.files import CourseError
from tests.places import begin_course

pytestmark = pytest.mark.usefixtures("small_course")

UNIT = "02_products"
TEXT = """
late = "10% a day"
attempt = "best"

[deadlines]
02_products = 2026-11-16T23:59:00
1 = 2026-11-20

[extra]
"Ada@example.org" = "3 days"

[roster]
id = "SIS User ID"
time = "file"

[roster.columns]
02_products = "Homework 2 (4711)"
"""


def test_the_file_is_read(tmp_path):
    (tmp_path / "rules.toml").write_text(TEXT)
    settings = read_settings(tmp_path / "rules.toml")
    assert (settings.late, settings.attempt) == ("10% a day", "best")
    assert settings.deadlines[UNIT] == datetime(2026, 11, 16, 23, 59)
    assert settings.deadlines["01_sums"].day == 20
    assert settings.extra_for({"ada@example.org"}) == timedelta(days=3)
    assert (settings.id_column, settings.by_file_time) == ("SIS User ID", True)
    assert settings.columns == {UNIT: "Homework 2 (4711)"}
    assert read_settings(tmp_path / "none.toml") == Settings()


def test_in_the_file_of_a_course_they_stand_in_a_table_of_their_own(tmp_path):
    rules = re.sub(r"^\[", "[class.", TEXT, flags=re.MULTILINE)
    file = begin_course(tmp_path) / "course.toml"
    assert read_settings(file).late is None
    file.write_text(f"{file.read_text()}\n[class]\n{rules}")
    (tmp_path / "rules.toml").write_text(TEXT)
    assert read_settings(file) == replace(
        read_settings(tmp_path / "rules.toml"), text=file.read_text()
    )
    assert course_in(tmp_path).title == "Numbers"
    file.write_text(f"{file.read_text()}\n".replace("late =", "latte ="))
    with pytest.raises(CourseError, match=r"course\.toml, \[class\]: there is no setting 'latte'"):
        read_settings(file)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"latte": "10% a day"}, "no setting 'latte'"),
        ({"late": "a little"}, "A rule for late work"),
        ({"late": 10}, "late should be text"),
        ({"attempt": "first"}, "attempt is"),
        ({"without": "hard ones"}, "without is"),
        ({"deadlines": {"99": datetime(2026, 1, 1)}}, "no unit '99'"),
        ({"deadlines": {"2": "soon"}}, "a deadline is a date"),
        ({"extra": {"ada": "long"}}, "extra time is"),
        ({"roster": {"time": "mine"}}, "time is"),
    ],
)
def test_what_is_not_sound_is_named(data, says):
    with pytest.raises(CourseError, match=says):
        settings_of(data)


@pytest.mark.parametrize(
    ("rule", "earned", "days", "deduction"),
    [
        ("none", 10, 3, 0),
        ("10% a day", 10, None, 0),
        ("10% a day", 10, 0, 0),
        ("10% a day", 10, 0.1, 1),
        ("10% a day", 10, 1.0, 1),
        ("10% a day", 10, 1.1, 2),
        ("10% a day", 13, 1, 1),  # 1.3, down to a half
        ("10% a day", 15, 1, 1.5),
        ("10% per day", 10, 30, 10),
        ("2% an hour", 10, 0.25, 1),
        ("50%", 9, 5, 4.5),
    ],
)
def test_points_are_lost_for_each_day_begun_and_rounded_for_the_student(
    rule, earned, days, deduction
):
    assert LateRule.read(rule).deduction(earned, days) == deduction


def handed_in(**about):
    return Submission("ada", UNIT, "ada/x.ipynb", **about)


def test_how_late_is_known_from_times_and_else_one_day_and_a_look():
    settings = settings_of({"deadlines": {UNIT: datetime(2026, 11, 16)}, "extra": {"eve": "1 day"}})
    by_file = settings_of({"deadlines": {UNIT: datetime(2026, 11, 16)}, "roster": {"time": "file"}})
    later = datetime(2026, 11, 17, 12).timestamp()
    assert lateness(handed_in(stamp=later), None, settings) == (None, ())
    assert lateness(handed_in(stamp=later), None, by_file) == (1.5, ())
    days, told = lateness(handed_in(is_late=True), None, settings)
    assert days == 1.0
    assert "not how late" in told[0]
    eve = Submission("eve", UNIT, "x", is_late=True)
    days, told = lateness(eve, None, settings)
    assert days is None
    assert "extra time" in told[0]


def test_moodles_times_are_understood():
    assert moodle_time("Monday, 16 November 2026, 3:54 PM") == datetime(2026, 11, 16, 15, 54)
    assert moodle_time("-") is None
