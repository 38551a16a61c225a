"""facts.py: what is known of an exercise stands in one file, and a bad edit names its line."""

import itertools

import pytest

from selfcheck.facts import Facts, read_facts
from selfcheck.files import CourseError
from tests.places import loaded

FIRST = """\
[[exercise]]
number = "2.1"
name = "sums"
title = "Sums"
points = 3
minutes = 10
"""
SECOND = FIRST.replace("2.1", "2.2").replace("sums", "means") + "difficulty = 3\nbeyond = true\n"
CHECK = """\
from typing import Annotated
from selfcheck import Number, Verdict, exercise, right

@exercise{options}
def {name}(x: Annotated[float, Number()]) -> Verdict:
    "Any number."
    return right()
"""
names = (f"facts_checks_{k}" for k in itertools.count())


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "unit.toml").write_text(text, encoding="utf-8")
        return read_facts(tmp_path / "unit.toml")

    return read


@pytest.fixture
def load(tmp_path, monkeypatch):
    """A check module with these facts beside it."""

    def load(source, facts=FIRST):
        name = next(names)
        path = tmp_path / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        if facts is not None:
            path.with_suffix(".toml").write_text(facts, encoding="utf-8")
        return loaded(path, monkeypatch)

    return load


def test_the_facts_are_read_in_order(read):
    assert read(f"{FIRST}\n{SECOND}") == (
        Facts("2.1", "sums", "Sums", 3, 10),
        Facts("2.2", "means", "Sums", 3, 10, difficulty=3, beyond=True),
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("points = 3", "point = 3", 8, "there is no fact 'point'"),
        ("points = 3\n", "", 8, "the line `points = …` is missing"),
        ("points = 3", 'points = "3"', 8, "points should be a whole number"),
        ("points = 3", "points = true", 8, "points should be a whole number"),
        ("points = 3", "points = 0", 8, "points and minutes are at least 1"),
        ("difficulty = 3", "difficulty = 5", 8, "a difficulty is 1, 2 or 3"),
        ('"2.2"', '"2.3"', 8, "the number 2.3 does not follow"),
        ('"2.2"', '"3.2"', 8, "the number 3.2 does not follow"),
        ('"2.2"', '"two"', 8, "'two' is no number of an exercise"),
        ('"means"', '"sums"', 8, "there is an exercise sums already"),
        ('"means"', '"the means"', 8, "'the means' is no name of a check"),
        ("beyond = true", 'follows = ["medians"]', 8, "follows medians, which is no exercise"),
        ("beyond = true", "earns = [0, 1]", 8, "earns gives 3 points"),
        ("beyond = true", "beyond = 1", 8, "beyond should be true or false"),
        ("beyond = true", 'says = "In {all} cases."', 8, "says may have {tried} in it, but not {a"),
    ],
)
def test_a_bad_edit_is_refused_with_file_and_line(read, old, new, line, says):
    text = f"{FIRST}\n{SECOND}"
    start, _, end = text.rpartition(old)
    assert start
    with pytest.raises(CourseError, match=rf"unit\.toml, line {line}: .*{says}"):
        read(start + new + end)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[exercise]\n", "cannot be read"),
        (f"[exercises]\n{FIRST}", "begin with"),
        (FIRST.replace("[[exercise]]", "[exercise]"), "begin with"),
        (f"{FIRST}beyond = true\n\n{SECOND.replace('beyond = true', '')}", "come last"),
    ],
)
def test_a_file_that_is_no_list_of_exercises_is_refused(read, text, says):
    with pytest.raises(CourseError, match=rf"unit\.toml.*{says}"):
        read(text)


# -- the decorator --------------------------------------------------------------------------------


def test_a_check_takes_its_facts_from_the_file(load):
    check = load(CHECK.format(options="", name="sums")).sums
    assert (check.number, check.points, check.is_transfer) == ("2.1", 3, False)


SAYS = FIRST + 'says = "It is x^{2}, {tried} times."\n'
WITH_PARTS = """\
from selfcheck.kinds import RealNumber
from selfcheck import Verdict, differs, each, exercise, right

@exercise
def sums(x: RealNumber) -> None:
    "A number."

@sums.part("All", points=3)
def _all(x: float) -> Verdict:
    return differs(2, x) or right()
"""


def test_what_is_said_of_a_right_answer_stands_in_the_file(load):
    one = CHECK.format(options="", name="sums")
    assert load(one, SAYS).sums(1).says == "It is x^{2}, 0 times."
    said = load(one.replace("right()", 'right("As it should be.")'), SAYS).sums(1)
    assert said.says == "As it should be."
    each = one.replace("@exercise", "@exercise\n@each([1, 2])").replace(
        "exercise,", "each, exercise,"
    )
    assert load(each.replace("]) ->", "], *, n) ->"), SAYS).sums(1).says == "It is x^{2}, 2 times."


def test_what_is_forbidden_stands_in_the_file_and_is_there(load):
    one = CHECK.format(options="", name="sums")
    check = load(one, FIRST + 'forbids = ["checks.sums.total"]\n').sums
    assert check.forbidden == (f"{check.unit}.checks.sums.total",)
    with pytest.raises(CourseError, match=r"sums forbids .*\.numbers\.total, which is not there"):
        load(one, FIRST + 'forbids = ["numbers.total"]\n')


def test_when_all_parts_are_right_a_check_need_not_say_so(load):
    check = load(WITH_PARTS, SAYS).sums
    assert (check(2).earned, check(2).says) == (3, "It is x^{2}, 0 times.")
    assert check(1).says == "All: The result should be 2; yours is 1."


def test_a_check_without_parts_that_gives_no_verdict_is_never_right(load):
    check = load(CHECK.format(options="", name="sums").replace("return right()", ""), SAYS).sums
    assert check(1).earned == 0
    assert "sums gives no verdict" in check(1).says


@pytest.mark.parametrize(
    "options", ["  # a comment", "()", "( # and a line break\n)", "(numbers=lambda student: 3)"]
)
def test_however_the_decorator_is_written(load, options):
    assert load(CHECK.format(options=options, name="sums")).sums.points == 3


def test_without_a_file_the_facts_stand_above_the_check(load):
    check = load(CHECK.format(options='("7.1", points=2)', name="sums"), facts=None).sums
    assert (check.number, check.points) == ("7.1", 2)


@pytest.mark.parametrize(
    ("options", "name", "facts", "says"),
    [
        ("", "medians", FIRST, r"line 4: facts_checks_\d+\.toml does not declare medians"),
        ('("2.1", points=3)', "sums", FIRST, r"declares sums already; write @exercise alone"),
        ("", "sums", None, r"line 4: sums needs a number and points"),
    ],
)
def test_what_is_not_declared_or_declared_twice_is_refused(load, options, name, facts, says):
    with pytest.raises(CourseError, match=says):
        load(CHECK.format(options=options, name=name), facts)
