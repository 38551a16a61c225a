"""Submissions are found in the forms in which people have them; what cannot be placed is told."""

import json
import os
import zipfile

import pytest

from classroom.grading.gradebook import NAME
from classroom.grading.submissions import LARGEST, find
from classroom.grading.submitted import submitted_cells
from selfcheck.files import CourseError

UNITS = {"02_products": ["weights", "bias"], "01_sums": ["projections", "slips"]}


def notebook(call="check.weights(weights)"):
    cells = [{"cell_type": "code", "source": call}]
    return json.dumps({"nbformat": 4, "cells": cells})


def lay(folder, *names, text=None):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text or notebook())
    return folder


def pack(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, notebook())
    return path


def found(source, only=None):
    klass = find(source, UNITS, only)
    return {(s.student, s.unit) for s in klass.submissions}, klass.unplaced


ADA = {("ada", "02_products")}
FORMS = [
    "ada/02_products.ipynb",
    "ada/02_products/02_products.ipynb",
    "02_products/ada/02_products.ipynb",
    "ada_02_products.ipynb",
    "02_products_ada.ipynb",
    "ada/02_products (1).ipynb",
    "ada/02_products-2.ipynb",
    "ada/02_MOMENTUM.ipynb",
    "ada/homework final.ipynb",
    "ada/answers/work.ipynb",
]


@pytest.mark.parametrize("name", FORMS[:-1])
def test_a_notebook_is_placed_by_its_folder_and_its_name(tmp_path, name):
    assert found(lay(tmp_path / "class", name)) == (ADA, ())
    assert found(pack(tmp_path / "class.zip", name)) == (ADA, ())


def test_canvas_names_are_understood(tmp_path):
    names = ["lovelaceada_123_4567_02_products-1.ipynb", "xu_late_9_88_02_products.ipynb"]
    placed, unplaced = found(pack(tmp_path / "submissions.zip", *names))
    assert placed == {("lovelaceada_123", "02_products"), ("xu_9", "02_products")}
    assert unplaced == ()


def test_moodle_folders_are_understood(tmp_path):
    name = "Ada Lovelace_1234_assignsubmission_file_/02_products.ipynb"
    assert found(pack(tmp_path / "a.zip", name))[0] == {("Ada Lovelace_1234", "02_products")}


def test_a_zip_within_a_students_folder_is_opened(tmp_path):
    lay(tmp_path / "class", "bob/02_products.ipynb")
    (tmp_path / "class" / "ada").mkdir()
    pack(tmp_path / "class" / "ada" / "work.zip", "02_products.ipynb")
    placed, unplaced = found(tmp_path / "class")
    assert {unit for _, unit in placed} == {"02_products"}
    assert len(placed) == 2
    assert unplaced == ()


def test_hidden_and_other_files_are_left_alone(tmp_path):
    names = ["ada/.ipynb_checkpoints/02_products.ipynb", "__MACOSX/ada/._02_products.ipynb"]
    more = ["$RECYCLE.BIN/x/02_products.ipynb", "System Volume Information/x", "ada/notes.txt"]
    folder = lay(tmp_path / "class", "ada/02_products.ipynb", *names, *more)
    assert found(folder) == (ADA, ())


def test_grades_of_before_within_the_class_are_nobodys(tmp_path):
    folder = lay(tmp_path / "class", "ada/02_products.ipynb", "grades/feedback/ada.html")
    (folder / "grades" / NAME).touch()
    told = ("grades: it has the grades of an earlier run, and was passed over.",)
    assert found(folder, "02_products") == (ADA, told)


def test_links_are_not_followed_and_told(tmp_path):
    folder = lay(tmp_path / "class", "ada/02_products.ipynb")
    (folder / "eve").mkdir()
    (folder / "eve" / "02_products.ipynb").symlink_to(folder / "ada" / "02_products.ipynb")
    (folder / "fay").symlink_to(folder / "ada")
    placed, unplaced = found(folder)
    assert placed == ADA
    assert [line.partition(":")[0] for line in unplaced] == ["fay", "eve/02_products.ipynb", "eve"]
    assert all("is a link, and was not followed" in line for line in unplaced[:2])


def test_the_unit_is_told_by_the_checks_where_the_name_does_not(tmp_path):
    folder = lay(tmp_path / "class", "ada/work.ipynb", text=notebook("check.slips(student, a, b)"))
    assert found(folder)[0] == {("ada", "01_sums")}


def test_one_unit_alone_can_be_asked_for(tmp_path):
    folder = lay(tmp_path / "class", "ada/02_products.ipynb", "ada/01_sums.ipynb")
    assert found(folder, "01_sums")[0] == {("ada", "01_sums")}


def test_what_cannot_be_placed_is_told(tmp_path):
    folder = lay(tmp_path / "class", "02_products.ipynb", "ada/x.ipynb", text=notebook("1"))
    placed, unplaced = found(folder)
    assert placed == set()
    assert "its student is not clear" in unplaced[0]
    assert unplaced[1] == "ada/x.ipynb: this is a notebook without exercises of the course."


def test_a_student_without_a_notebook_is_reported(tmp_path):
    folder = lay(tmp_path / "class", "ada/02_products.ipynb", "bob/essay.pdf")
    (folder / "eve").mkdir()
    assert found(folder)[1] == (
        "bob: there is no notebook, only essay.pdf.",
        "eve: there is no notebook, nor anything else.",
    )
    klass = find(folder, UNITS, "02_products")
    problems = {s.student: s.problem for s in klass.submissions}
    assert problems["ada"] == ""
    assert problems["bob"].startswith("there is no notebook")


def test_the_latest_of_several_counts(tmp_path):
    folder = lay(tmp_path / "class", "ada/02_products.ipynb", "ada/02_products-1.ipynb")
    os.utime(folder / "ada/02_products.ipynb", (2e9, 2e9))
    (submission,) = find(folder, UNITS).submissions
    assert submission.file == "ada/02_products.ipynb"
    assert "02_products-1.ipynb is there too" in submission.notes[0]


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    folder = lay(tmp_path / "class", "ada/02_products.ipynb")
    os.truncate(folder / "ada/02_products.ipynb", LARGEST * 10)
    (submission,) = find(folder, UNITS).submissions
    with pytest.raises(CourseError, match="1000 MB; 100 MB is the limit"):
        submission.data()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "it is empty"),
        (b"PK\3\4 a zip", "it is a zip"),
        (b"<!DOCTYPE html><html>Sign in</html>", "it is a web page"),
        (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
        (b'{"nbformat": 4, "cells": [', "it is not valid JSON"),
        (b"<<<<<<< HEAD\n{", "merge that was not finished"),
    ],
)
def test_what_is_no_notebook_is_named_as_what_it_is(data, what):
    with pytest.raises(CourseError, match="no notebook") as refused:
        submitted_cells(data)
    assert what in str(refused.value)


def test_a_zip_bomb_is_read_no_further_than_the_limit(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada/02_products.ipynb", b" " * (LARGEST + 1))
        archive.writestr("ada/work.ipynb", b" " * (LARGEST + 1))
    class_ = find(tmp_path / "a.zip", UNITS)
    (submission,) = class_.submissions
    with pytest.raises(CourseError, match="limit"):
        submission.data()
    assert class_.unplaced[0].startswith("ada/work.ipynb: it is too large")


@pytest.mark.parametrize("name", ["../../ada/02_products.ipynb", "/ada/02_products.ipynb"])
def test_names_in_a_zip_lead_nowhere_else(tmp_path, name):
    assert found(pack(tmp_path / "a.zip", name))[0] == ADA


def test_nothing_there_is_told(tmp_path):
    with pytest.raises(CourseError, match="no folder or zip"):
        find(tmp_path / "missing", UNITS)
    with pytest.raises(CourseError, match="no notebooks"):
        find(tmp_path, UNITS)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(CourseError, match="neither"):
        find(tmp_path / "text", UNITS)
