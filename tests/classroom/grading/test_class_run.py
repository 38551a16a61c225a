"""A class from its files to the roster that goes back: one run of the command, told in parts."""

import csv
import io
import json
import zipfile
from types import SimpleNamespace

import pytest

from classroom.grading import pipeline
from selfcheck.students.cli import main
from tests.classroom.grading.making import ALL, ROOT, UNIT, hand_in, notebook, solved

FULL = sum(ALL.values())
LOST = FULL // 5 / 2  # a tenth, down to a half
ROSTER = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay (3)\n"
    "    Points Possible,,,,,5\n"
    '"Lovelace, Ada",11,a1,ada,S1,4\n'
    '"Turing, Alan",12,a2,alan,S1,\n'
    '"Noether, Emmy",13,a3,emmy,S2,\n'
)


def data(**answers):
    return json.dumps(notebook(solved(**answers)))


def rows(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def by_student(folder):
    return {row["student"]: row for row in rows(folder / "grades.csv")}


@pytest.fixture(scope="module")
def run(tmp_path_factory, bubblewrap):
    """What Canvas packed: Ada twice, late; Alan in a zip; somebody who is not in the roster."""
    folder = tmp_path_factory.mktemp("class")
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr(f"ada/exercises/{UNIT}.ipynb", data(leak="bound = 0"))
    with zipfile.ZipFile(folder / "submissions.zip", "w") as archive:
        archive.writestr(f"lovelaceada_11_51_{UNIT}.ipynb", data())
        archive.writestr(f"lovelaceada_LATE_11_52_{UNIT}-1.ipynb", data(leak="bound = 1"))
        archive.writestr("turingalan_12_53_homework.zip", inner.getvalue())
        archive.writestr(f"gausscarl_99_54_{UNIT}.ipynb", data())
    (folder / "roster.csv").write_text(ROSTER)
    (folder / "course.toml").write_text('late = "10% a day"\nattempt = "best"\n')
    told = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr("builtins.print", lambda *words, **_: told.append(" ".join(map(str, words))))
        source, grades = folder / "submissions.zip", folder / "grades"
        options = ["--to", str(grades), "--jobs", "1", "--roster", str(folder / "roster.csv")]
        options += ["--settings", str(folder / "course.toml")]
        assert main(["grade", str(source), *options]) == 0
        given = ["override", str(grades), "emmy", UNIT, next(iter(ALL)), "0.5", "--reason", "Mail."]
        assert main(given) == 0
        assert main(["report", str(grades)]) == 0
    return SimpleNamespace(folder=folder, grades=grades, told=told)


def test_who_is_missing_or_unknown_is_told_before_anything_is_graded(run):
    lines = [line for line in run.told if line.startswith(("not placed", "no submission", "["))]
    assert (
        lines[0] == f"not placed: gausscarl_99_54_{UNIT}.ipynb: gausscarl_99 is not in the roster."
    )
    assert lines[1] == "no submission: emmy"
    assert lines[2].startswith("[")


def test_the_best_attempt_counts_and_late_work_loses_its_share(run):
    ada = by_student(run.grades)["ada"]
    assert (ada["attempt"], ada["late"], ada["deducted"]) == ("1", "24 hours", f"{LOST:g}")
    assert float(ada["total"]) == FULL - LOST
    page = (run.grades / "feedback" / UNIT / "ada.html").read_text()
    assert "Of 2 attempts the best counts" in page
    assert "not how late" in ada["look by hand"]


def test_a_zip_is_its_owners_whatever_it_holds(run):
    assert float(by_student(run.grades)["alan"]["total"]) == FULL - ALL["leak"]


def test_the_roster_comes_out_filled_in_and_is_otherwise_the_same(run):
    filled = rows(run.grades / "filled_roster.csv")
    assert [row.pop(UNIT) for row in filled] == [
        f"{FULL}",
        f"{FULL - LOST:g}",
        f"{FULL - ALL['leak']}",
        "0.5",
    ]
    assert filled == list(csv.DictReader(io.StringIO(ROSTER)))
    assert not list(run.grades.glob("canvas_*.csv"))


def test_the_limits_in_force_are_told(run):
    assert any(line.startswith("Limits in force: own file system") for line in run.told)
    report = (run.grades / "report.html").read_text()
    assert "Limits in force while the answers ran" in report


def test_the_page_says_what_was_lost_for_being_late(run):
    page = (run.grades / "feedback" / UNIT / "ada.html").read_text()
    assert "since it is marked as late, which counts as one day (10% a day)" in page


# -- odd classes


@pytest.fixture
def course_grade(tmp_path, monkeypatch, bubblewrap, capsys):
    monkeypatch.chdir(ROOT)

    def graded(*options):
        arguments = ["--to", str(tmp_path / "grades"), "--jobs", "1", *options]
        assert main(["grade", str(tmp_path / "class"), *arguments]) == 0
        return by_student(tmp_path / "grades"), capsys.readouterr().out

    return graded


def test_a_file_that_is_gone_keeps_its_grade_and_is_listed(tmp_path, course_grade):
    for student in ("ada", "bob"):
        hand_in(tmp_path / "class", student, solved(leak=f"bound = {len(student)} + {student!r}"))
    course_grade()
    (tmp_path / "class" / "bob" / f"{UNIT}.ipynb").unlink()
    found, told = course_grade()
    assert f"gone, and its grade is kept: bob, {UNIT}" in told
    assert float(found["bob"]["total"]) == FULL - ALL["leak"]
    assert "no longer among the submissions" in found["bob"]["look by hand"]
    hand_in(tmp_path / "class", "bob", solved())
    found, told = course_grade()
    assert "no longer" not in found["bob"]["look by hand"]


def test_a_lecture_handed_in_by_mistake_is_called_that(tmp_path, course_grade):
    path = hand_in(tmp_path / "class", "ada", solved())
    path.write_bytes((ROOT / "notebooks" / f"{UNIT}.ipynb").read_bytes())
    found, _ = course_grade()
    assert found["ada"]["look by hand"] == (
        f"This is the lecture {UNIT}, not the exercises of {UNIT}."
    )


def test_a_group_has_one_grade_until_it_is_declared_then_each_member_has_it(tmp_path, course_grade):
    hand_in(tmp_path / "class", "ada+bob", solved(leak="bound = 1"))
    hand_in(tmp_path / "class", "carl", {**solved(), "student": "student = 8"})
    found, told = course_grade()
    assert set(found) == {"ada+bob", "carl"}
    assert found["ada+bob"]["look by hand"].startswith("This may be of several students: ada+bob")
    assert "several students?: ada+bob is named after several (ada, bob)" in told
    assert "1 may be of several students, see above" in told
    found, told = course_grade("--groups")
    assert set(found) == {"ada", "bob", "carl"}
    assert found["ada"]["total"] == found["bob"]["total"] != found["carl"]["total"]
    assert found["bob"]["look by hand"] == ""  # nor did they copy from each other
    assert "of several" not in told
    page = (tmp_path / "grades" / "feedback" / UNIT / "ada.html").read_text()
    assert "Handed in together with bob." in page
    assert set(course_grade()[0]) == {"ada", "bob", "carl"}  # the gradebook remembers


def test_how_names_are_read_is_told_with_examples(tmp_path, course_grade):
    hand_in(tmp_path / "class", "ada", solved())
    _, told = course_grade()
    assert f"ada/{UNIT}.ipynb: the student is ada, the unit {UNIT}" in told


@pytest.mark.parametrize(
    ("had", "has", "told"),
    [
        ((3, {"a": 1, "b": 2}), (1, {"a": 1, "b": 0}), ["b 2 → 0"]),
        ((3, {"a": 1, "b": 2}), (2.5, {"a": 1, "b": 2}), ["for being late 0 → 0.5 off"]),
        ((3, {"a": 1, "b": 2}), (1, {"a": 1}), ["1 exercise counts no longer"]),
        (
            (3, {"a": 1, "b": 2, "c": 0}),
            (0, {"a": 2}),
            ["a 1 → 2", "2 exercises count no longer", "for being late 0 → 2 off"],
        ),
    ],
)
def test_a_change_of_points_is_told_with_all_of_its_reasons(had, has, told):
    before, after = ({"points": [earned, 9], "parts": parts} for earned, parts in (had, has))
    assert list(pipeline._reasons(before, after)) == told
