"""[class] in course.toml: late work, attempts, deadlines, extra time, the roster's columns."""

import re
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone

import pytest

from classroom.grading.enrolled import Enrolled, lateness, unknown_extra, without_time
from classroom.grading.roster import Line
from classroom.grading.settings import (
    LateRule,
    Settings,
    moodle_time,
    read_settings,
    read_text,
    settings_of,
)
from classroom.grading.submissions import Submission
from selfcheck.course import course_in
from selfcheck.files import CourseError
from tests.places import begin_course

pytestmark = pytest.mark.usefixtures("small_course")

UNIT = "02_products"
EAST = timezone(timedelta(hours=23))
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
        ({"extra": {"ada": "99999999999 days"}}, "extra time is"),
        ({"extra": {"ada": "3 days", "ADA": "4 days"}}, "ada is there twice, once as 'ADA'"),
        ({"deadlines": {"2": date(2026, 1, 1), UNIT: date(2026, 1, 2)}}, f"{UNIT} is there twice"),
        ({"deadlines": {"2": datetime(1, 1, 1, tzinfo=EAST)}}, "a deadline is a date"),
        ({"roster": {"columns": {"2": 5}}}, "a column is its title in quotes, not 5"),
        ({"roster": {"columns": {"2": " "}}}, "a column is its title in quotes"),
    ],
)
def test_what_is_not_sound_is_named(data, says):
    with pytest.raises(CourseError, match=says):
        settings_of(data)


@pytest.mark.parametrize("rules", ["5", "[]", '"late"'])
def test_the_rules_of_a_class_are_a_table(rules):
    with pytest.raises(CourseError, match=r"r\.toml: class should be a table"):
        read_text(f"class = {rules}", "r.toml")


def test_a_file_may_begin_with_the_mark_of_utf8(tmp_path):
    (tmp_path / "r.toml").write_text('\ufefflate = "10% a day"', encoding="utf-8")
    assert read_settings(tmp_path / "r.toml").late == "10% a day"


def test_a_rule_that_is_none_is_told_with_its_file():
    with pytest.raises(CourseError, match=r"r\.toml: A rule for late work is"):
        read_text('late = "ten"', "r.toml")


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


@pytest.mark.parametrize(
    "text",
    [
        "Montag, 16. November 2026, 15:54",
        "lundi 16 novembre 2026, 15:54",
        "lunes, 16 de noviembre de 2026, 15:54",
        "segunda, 16 de novembro de 2026 às 15:54",
        "lunedì, 16 novembre 2026, 15:54",
        "måndag, 16 november 2026, 15:54",
        "2026年 11月 16日(月曜日) 15:54",
        "2026年11月16日 星期一 15:54",
    ],
)
def test_moodles_times_are_understood_in_other_languages(text):
    assert moodle_time(text) == datetime(2026, 11, 16, 15, 54)


@pytest.mark.parametrize(
    ("word", "month"),
    [("März", 3), ("août", 8), ("enero", 1), ("juin", 6), ("juillet", 7), ("Dez.", 12), ("mei", 5)],
)
def test_a_month_is_known_by_its_beginning(word, month):
    assert moodle_time(f"mardi 3 {word} 2026, 08:05") == datetime(2026, month, 3, 8, 5)


@pytest.mark.parametrize(
    "text", ["poniedziałek, 16 listopada 2026, 15:54", "31. Februar 2026, 15:54", "16 x 2026"]
)
def test_a_time_that_cannot_be_read_is_none_and_told_where_it_matters(text):
    assert moodle_time(text) is None
    line = Line(1, "ada", "Ada", "71", "ada", frozenset(), modified=text)
    class_ = Enrolled((), (), lines={"ada": line})
    due = Settings(deadlines={"02_products": datetime(2026, 11, 16)})
    (told,) = without_time(class_, due)
    assert f"such as “{text}”: whoever has one counts as in time" in told
    assert not list(without_time(class_, Settings()))


def test_extra_time_of_nobody_in_the_roster_is_told():
    line = Line(1, "ada", "Ada", "71", "8", frozenset({"ada@example.org", "8"}))
    class_ = Enrolled((), (), lines={"ada": line})
    extra = dict.fromkeys(("ada", "ada@example.org", "8", "adda"), timedelta(days=1))
    (told,) = unknown_extra(class_, Settings(extra=extra))
    assert told == "adda has extra time in the rules of the class, and is nobody in the roster."
    assert not list(unknown_extra(Enrolled((), ()), Settings(extra=extra)))  # who is in the class?
