"""exports.py: what spreadsheets, Canvas, Moodle and readers of JUnit XML are given."""

import csv
import io
from xml.etree import ElementTree

import pytest

from classroom.grading.exports import canvas_csv, grades_csv, junit_xml, moodle_csv
from classroom.grading.records import Graded, Override, Result, mark
from tests.classroom.grading.hostile import hostile

RIGHT = Result("2.9", "rules", "right", 3, 3, "Same steps.", seconds=0.5)
ONE_STEP = {"name": "one step only", "explanation": "It grows."}
WRONG = Result("2.10", "bias", "wrong", 0, 2, "At t = 1 it is 0.", (ONE_STEP,))
BLANK = Result("2.11", "last", "not attempted", 0, 1, "Replace it.")
UNREAD = Result("2.12", "shape", "could not be checked", 0, 1, "alpha is no number.")


def marked(student="ada", results=(RIGHT, WRONG, BLANK, UNREAD), unit="02_products", **more):
    overrides = more.pop("overrides", ())
    return mark(Graded(student, unit, "f", "d", results=results, seconds=1.25, **more), overrides)


def given(earned, student="ada"):
    return Override(student, "02_products", "bias", earned, "see our talk", "2026-01-01T00:00:00")


def table(text):
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


# -- grades.csv -----------------------------------------------------------------------------------


def test_a_row_has_the_points_by_exercise_in_order_and_the_total():
    text = grades_csv([marked()])
    (row,) = table(text)
    assert list(row)[2:6] == ["2.9 rules", "2.10 bias", "2.11 last", "2.12 shape"]
    assert (row["student"], row["2.9 rules"], row["2.10 bias"]) == ("ada", "3", "0")
    assert (row["total"], row["of"]) == ("3", "7")
    assert row["look by hand"] == "2.12 shape: It could not be checked: alpha is no number."
    assert text.startswith("\ufeff")  # for Excel


def test_an_override_counts_in_the_row_and_is_told_with_its_reason():
    (row,) = table(grades_csv([marked(overrides=[given(2)])]))
    assert (row["2.10 bias"], row["total"]) == ("2", "5")
    assert row["overrides"] == "2.10 bias: 2 instead of 0 by the check, because see our talk"


def test_units_share_one_file_and_leave_each_others_columns_empty():
    other = marked(unit="03_powers", results=(Result("3.1", "step", "right", 1, 1, "Yes."),))
    first, second = table(grades_csv([marked(), other]))
    assert (first["3.1 step"], second["3.1 step"], second["2.9 rules"]) == ("", "1", "")


def test_a_submission_that_could_not_be_graded_has_its_row_with_the_reason():
    (row,) = table(grades_csv([marked(results=(), problem="It is no JSON.")]))
    assert (row["total"], row["of"], row["look by hand"]) == ("", "0", "It is no JSON.")


@pytest.mark.parametrize("write", [grades_csv, canvas_csv, moodle_csv])
@pytest.mark.parametrize("start", ["=", "+", "-", "@", " =", "\t=", "\r=", "＝"])
def test_no_name_becomes_a_formula_in_a_spreadsheet(write, start):
    rows = csv.reader(io.StringIO(write([marked(f"{start}1+1")]), newline=""))
    cells = [cell for row in rows for cell in row]
    assert any("1+1" in cell for cell in cells)
    assert not any(cell.strip().startswith(("=", "+", "-", "@", "＝")) for cell in cells)


@pytest.mark.parametrize("write", [grades_csv, canvas_csv, moodle_csv])
def test_whatever_a_student_wrote_the_file_has_one_line_a_row_and_can_be_written(write):
    text = write([mark(hostile(), ())])
    text.encode()
    assert "\u202e" not in text
    assert "\x00" not in text
    assert len(text.splitlines()) == len(list(csv.reader(io.StringIO(text, newline=""))))


# -- Canvas and Moodle ----------------------------------------------------------------------------


def test_canvas_finds_its_columns_and_the_row_of_possible_points():
    rows = list(csv.reader(io.StringIO(canvas_csv([marked(overrides=[given(1)])]), newline="")))
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "02_products"]
    assert rows[0] == head
    assert rows[1] == ["    Points Possible", "", "", "", "", "7"]
    assert rows[2] == ["ada", "", "", "ada", "", "4"]


def test_a_student_cannot_pass_for_canvas_row_of_possible_points():
    text = canvas_csv([marked("Points Possible 0")])
    assert text.count("Points Possible") == 1


def test_moodle_gets_the_name_the_points_and_the_verdicts_without_the_students_words():
    (row,) = table(moodle_csv([marked(overrides=[given(1)])]))
    assert (row["Username"], row["02_products"]) == ("ada", "4")
    assert "2.9 rules: right, 3 of 3." in row["Feedback"]
    assert "2.10 bias: wrong, 1 of 2. Points given by hand: see our talk" in row["Feedback"]
    assert "alpha is no number" not in row["Feedback"]
    (row,) = table(moodle_csv([marked()]))
    assert "one step only: It grows." in row["Feedback"]


@pytest.mark.parametrize("write", [canvas_csv, moodle_csv])
def test_who_could_not_be_graded_is_left_out_so_that_no_grade_is_deleted(write):
    text = write([marked("ada"), marked("bob", results=(), problem="It is no JSON.")])
    assert "ada" in text
    assert "bob" not in text


@pytest.mark.parametrize("write", [canvas_csv, moodle_csv])
def test_who_was_graded_by_hand_alone_is_exported(write):
    broken = marked(problem="It is no JSON.", results=(WRONG,), overrides=[given(2)])
    (*_, last) = table(write([broken]))
    assert last["02_products"] == "2"


def test_an_id_that_a_student_wrote_does_not_say_whose_grade_it_is():
    assert "4711" not in canvas_csv([marked(student_id="4711")])


# -- JUnit ----------------------------------------------------------------------------------------


def test_junit_has_a_suite_a_submission_and_a_case_an_exercise():
    (suite,) = ElementTree.fromstring("".join(junit_xml([marked()])))
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    assert suite.get("name") == "ada 02_products"
    case = suite.find("testcase[@name='2.10 bias']")
    assert case.get("classname") == "02_products"
    assert case.find("failure").get("message") == "At t = 1 it is 0."
    assert "Known mistake: one step only." in case.find("failure").text


def test_junit_lets_an_exercise_pass_that_got_all_points_by_hand():
    (suite,) = ElementTree.fromstring("".join(junit_xml([marked(overrides=[given(2)])])))
    case = suite.find("testcase[@name='2.10 bias']")
    assert case.find("failure") is None
    assert "see our talk" in case.find("system-out").text


def test_junit_tells_what_could_not_be_graded_as_an_error():
    (suite,) = ElementTree.fromstring(
        "".join(junit_xml([marked(results=(), problem="It is no JSON.")]))
    )
    assert suite.find("testcase/error").get("message") == "It is no JSON."


def test_junit_is_valid_xml_whatever_a_student_wrote():
    text = "".join(junit_xml([mark(hostile(), ())]))
    (suite,) = ElementTree.fromstring(text.encode())
    assert "⟨U+202E⟩" in suite.get("name")


def test_an_empty_class_has_empty_files():
    assert table(grades_csv([])) == []
    assert list(ElementTree.fromstring("".join(junit_xml([])))) == []
    assert canvas_csv([]).count("\n") == 2
    assert moodle_csv([]).count("\n") == 1


def test_the_numbers_in_the_platforms_own_names_go_back_to_it():
    canvas = marked(student="lovelaceada_101", number="101", platform="Canvas")
    assert table(canvas_csv([canvas]))[1]["ID"] == "101"
    assert table(canvas_csv([canvas]))[1]["Student"] == "lovelaceada"
    assert table(canvas_csv([canvas]))[1]["SIS Login ID"] == ""
    moodle = marked(student="Ada Lovelace_71", number="71", platform="Moodle")
    (row,) = table(moodle_csv([moodle]))
    assert row["Last modified (grade)"] == "-"  # as Moodle has it, and no formula
    assert (row["Identifier"], row["Full name"]) == ("Participant 71", "Ada Lovelace")
