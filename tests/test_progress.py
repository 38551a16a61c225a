"""progress.py: points are read from saved outputs, counted once, and never more than declared."""

import base64
import json
from dataclasses import replace

import pytest

from course_utils.units import UNITS as OURS
from selfcheck import style
from selfcheck.course import course_in
from selfcheck.feedback import Feedback, NamedMistake, Outcome
from selfcheck.files import CourseError
from selfcheck.students.progress import VERDICT, collect, progress
from selfcheck.units import units
from tests.places import ROOT, SMALL

pytestmark = pytest.mark.usefixtures("small_course")

SUMS, PRODUCTS = units(course_in(SMALL))  # 9 points for 4 exercises, and 3 for 2
FIRST, SECOND, *_ = SUMS.exercises
RIGHT = Feedback(FIRST.number, FIRST.name, Outcome.RIGHT, 2, 2, "The even numbers were added.")
WRONG = replace(RIGHT, outcome=Outcome.WRONG, earned=0, says="At n = 1 their sum should be 2.")


def result(feedback):
    data = {"text/plain": [str(feedback)], "text/html": ["<div>1.1</div>"]}
    return {"output_type": "execute_result", "metadata": {}, "execution_count": 1, "data": data}


def cell(*outputs):
    return {"cell_type": "code", "source": "check.any()", "outputs": list(outputs)}


def cells(*feedback):
    return [cell(result(f)) for f in feedback]


@pytest.fixture
def course(tmp_path):
    (tmp_path / "exercises").mkdir()
    save(tmp_path)
    return tmp_path


def save(course, *cells, name="01_sums"):
    path = course / "exercises" / f"{name}.ipynb"
    path.write_text(json.dumps({"cells": list(cells), "nbformat": 4}), encoding="utf-8")
    return path


def only(course):
    """The row of the only unit."""
    (unit,) = collect(course).units
    return unit.earned, unit.points, unit.state


# -- what Feedback writes is what is read ---------------------------------------------------------


@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize(("earned", "points"), [(0, 1), (1, 1), (0, 3), (2, 3), (3, 3), (10, 12)])
@pytest.mark.parametrize("known", [(), (NamedMistake("ε = δ", "Why."),)])
@pytest.mark.parametrize("says", ["", "Wrong: 1 of 2 points. See 2.1 bias: right, 9 of 9 points."])
def test_every_feedback_is_read_as_it_was_written(outcome, earned, points, known, says):
    feedback = Feedback("10.12", "bias_2", outcome, earned, points, says, known)
    verdict = VERDICT.match(repr(feedback))
    assert verdict["number"] == "10.12"
    assert verdict["name"] == "bias_2"
    assert int(verdict["earned"]) == earned


def test_what_an_exercise_really_answers_is_read():
    for exercise in (FIRST, SECOND):
        assert VERDICT.match(repr(exercise()))["name"] == exercise.name


@pytest.mark.parametrize(
    "text",
    ["", "3", "Exercise 2.1, 3 points: Find.", "Hint 1 of 3: Write.", "x 2.1 a: right, 1 of 1."],
)
def test_other_outputs_are_no_verdicts(text):
    assert VERDICT.match(text) is None


@pytest.mark.parametrize("unit", OURS, ids=lambda unit: unit.stem)
def test_the_saved_solutions_of_our_course_have_all_points(unit, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    (tmp_path / "exercises").mkdir()
    saved = (ROOT / "solutions" / f"{unit.stem}.ipynb").read_bytes()
    (tmp_path / "exercises" / f"{unit.stem}.ipynb").write_bytes(saved)
    (found,) = collect(tmp_path).units
    assert found.earned == found.points == unit.points + unit.transfer_points > 0


# -- counting -------------------------------------------------------------------------------------


def test_a_notebook_that_was_not_run_is_not_started(course):
    save(course, cell(), {"cell_type": "markdown", "source": "1.1 even_sum: right, 2 of 2 points."})
    assert only(course) == (0, 9, "not started")


def test_points_are_added_over_exercises_and_units(course):
    save(course, *cells(RIGHT, Feedback(SECOND.number, SECOND.name, Outcome.WRONG, 1, 3, "No.")))
    other = PRODUCTS.exercises[0]
    full = Feedback(other.number, other.name, Outcome.RIGHT, 1, 1, "Yes.")
    save(course, *cells(full), name="02_products")
    found = collect(course)
    assert [(u.name, u.earned, u.state) for u in found.units] == [
        ("01_sums", 3, "1 of 4 right"),
        ("02_products", 1, "1 of 2 right"),
    ]
    assert (found.total.earned, found.total.points) == (4, 12)


def test_the_last_saved_verdict_counts_and_counts_once(course):
    save(course, *cells(RIGHT, RIGHT, RIGHT))
    assert only(course)[0] == 2
    save(course, *cells(RIGHT, WRONG))
    assert only(course) == (0, 9, "0 of 4 right")
    save(course, cell(result(WRONG), result(RIGHT)))
    assert only(course) == (2, 9, "1 of 4 right")


@pytest.mark.parametrize(
    ("text", "earned"),
    [
        ("1.1 even_sum: right, 99 of 2 points.", 2),
        ("1.1 even_sum: right, 99 of 99 points.", 2),
        ("1.1 even_sum: right, -5 of 2 points.", 0),
        (f"1.1 even_sum: right, {'9' * 5000} of 2 points.", 0),
        ("1.4 even_sum: right, 2 of 2 points.", 0),
        ("1.1 of_my_own: right, 2 of 2 points.", 0),
        ("2.1 next_factor: right, 1 of 1 points.", 0),
    ],
)
def test_nobody_gets_more_than_there_is(course, text, earned):
    save(course, cell(result(text)))
    assert only(course)[:2] == (earned, 9)


def test_what_was_printed_does_not_count(course):
    save(course, cell({"output_type": "stream", "name": "stdout", "text": [str(RIGHT)]}))
    assert only(course)[2] == "not started"


# -- notebooks that cannot be counted -------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "", "half a note", "[]", "3", '{"worksheets": []}', '{"cells": 3}', '{"cells": [3]}',
        '{"cells": [{"outputs": [{"data": {"text/plain": [3]}}]}]}', "[" * 100_000, "\udcff",
    ],
    ids=lambda content: content[:12] or "empty",
)  # fmt: skip
def test_a_file_that_is_no_notebook_is_named_and_the_others_count(course, content):
    save(course, *cells(RIGHT))
    broken = course / "exercises" / "02_products.ipynb"
    broken.write_bytes(content.encode(errors="surrogateescape"))
    found = collect(course)
    assert [unit.state for unit in found.units] == ["1 of 4 right", "cannot be read"]
    assert found.total.earned == 2
    (sentence,) = found.problems
    assert sentence.startswith("02_products.ipynb cannot be read: it is no notebook.")
    assert sentence in str(found)


def test_a_file_that_the_disk_refuses_is_named(course):
    (course / "exercises" / "02_products.ipynb").mkdir()
    assert collect(course).problems == ("02_products.ipynb cannot be read: Is a directory.",)


@pytest.mark.parametrize("name", ["01_sums-Copy1", "Untitled", "sums", "03_sums"])
def test_a_copy_is_named_and_does_not_count_twice(course, name):
    save(course, *cells(RIGHT))
    save(course, *cells(RIGHT), name=name)
    found = collect(course)
    assert found.total.earned == 2
    assert found.problems == (f"{name}.ipynb is not counted: it has the name of no unit.",)


def test_without_notebooks_there_is_a_sentence(tmp_path):
    with pytest.raises(CourseError, match="no exercise notebooks in"):
        collect(tmp_path)


# -- what is shown --------------------------------------------------------------------------------


def test_the_table_has_a_row_a_unit_and_the_total(course):
    save(course, *cells(RIGHT))
    assert str(collect(course)) == (
        "unit     points  exercises\n01_sums  2 of 9  1 of 4 right\ntotal    2 of 9"
    )


@pytest.fixture
def shown(monkeypatch):
    """What style.show displays."""
    outputs = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: outputs.append(data))
    return outputs


def test_in_a_notebook_there_is_a_picture_in_words_too_and_the_table(course, shown):
    save(course, *cells(RIGHT))
    save(course, name="02_products")
    table = progress(course)
    picture, caption = shown
    assert base64.b64decode(picture["image/png"]).startswith(b"\x89PNG")
    assert "01_sums 2 of 9; 02_products not started; 2 of 12" in picture["text/plain"]
    assert "saved notebooks" in caption["text/plain"]
    assert "01_sums       2 of 9" in repr(table)


def test_what_is_earned_is_told_by_a_pattern_not_by_color_alone(course, monkeypatch):
    figures = []
    monkeypatch.setattr(style, "show", lambda fig, **_: figures.append(fig))
    save(course, *cells(RIGHT))
    progress(course)
    still_open, earned = figures[0].axes[0].containers
    assert earned[0].get_hatch()
    assert not still_open[0].get_hatch()
    assert (earned[0].get_width(), still_open[0].get_width()) == (2, 9)


def test_all_units_of_our_course_fit_into_the_picture(tmp_path, shown, monkeypatch):
    monkeypatch.chdir(ROOT)
    (tmp_path / "exercises").mkdir()
    for unit in OURS:
        save(tmp_path, name=unit.stem)
    assert len(progress(tmp_path).units) == len(OURS) > 1
    assert len(shown) == 2
