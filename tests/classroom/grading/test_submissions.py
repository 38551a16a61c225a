"""Submissions are found in the forms in which people have them; what cannot be placed is told."""

import json
import os
import zipfile

import pytest

from classroom.grading.submissions import LARGEST, find
from selfcheck.files import CourseError

UNITS = {"02_momentum": ["weights", "bias"], "05_two_heads": ["projections", "slips"]}


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


ADA = {("ada", "02_momentum")}
FORMS = [
    "ada/02_momentum.ipynb",
    "ada/02_momentum/02_momentum.ipynb",
    "02_momentum/ada/02_momentum.ipynb",
    "ada_02_momentum.ipynb",
    "02_momentum_ada.ipynb",
    "ada/02_momentum (1).ipynb",
    "ada/02_momentum-2.ipynb",
    "ada/02_MOMENTUM.ipynb",
    "ada/homework final.ipynb",
    "ada/answers/work.ipynb",
]


@pytest.mark.parametrize("name", FORMS[:-1])
def test_a_notebook_is_placed_by_its_folder_and_its_name(tmp_path, name):
    assert found(lay(tmp_path / "class", name)) == (ADA, ())
    assert found(pack(tmp_path / "class.zip", name)) == (ADA, ())


def test_canvas_names_are_understood(tmp_path):
    names = ["lovelaceada_123_4567_02_momentum-1.ipynb", "xu_late_9_88_02_momentum.ipynb"]
    placed, unplaced = found(pack(tmp_path / "submissions.zip", *names))
    assert placed == {("lovelaceada_123", "02_momentum"), ("xu_9", "02_momentum")}
    assert unplaced == ()


def test_moodle_folders_are_understood(tmp_path):
    name = "Ada Lovelace_1234_assignsubmission_file_/02_momentum.ipynb"
    assert found(pack(tmp_path / "a.zip", name))[0] == {("Ada Lovelace_1234", "02_momentum")}


def test_a_zip_within_a_students_folder_is_opened(tmp_path):
    lay(tmp_path / "class", "bob/02_momentum.ipynb")
    (tmp_path / "class" / "ada").mkdir()
    pack(tmp_path / "class" / "ada" / "work.zip", "02_momentum.ipynb")
    placed, unplaced = found(tmp_path / "class")
    assert {unit for _, unit in placed} == {"02_momentum"}
    assert len(placed) == 2
    assert unplaced == ()


def test_hidden_files_links_and_other_files_are_left_alone(tmp_path):
    names = ["ada/.ipynb_checkpoints/02_momentum.ipynb", "__MACOSX/ada/._02_momentum.ipynb"]
    folder = lay(tmp_path / "class", "ada/02_momentum.ipynb", *names, "ada/notes.txt")
    (folder / "eve").mkdir()
    (folder / "eve" / "02_momentum.ipynb").symlink_to(folder / "ada" / "02_momentum.ipynb")
    placed, unplaced = found(folder)
    assert placed == ADA
    assert len(unplaced) == 1
    assert unplaced[0].startswith("eve: there is no notebook")


def test_the_unit_is_told_by_the_checks_where_the_name_does_not(tmp_path):
    folder = lay(tmp_path / "class", "ada/work.ipynb", text=notebook("check.slips(student, a, b)"))
    assert found(folder)[0] == {("ada", "05_two_heads")}


def test_one_unit_alone_can_be_asked_for(tmp_path):
    folder = lay(tmp_path / "class", "ada/02_momentum.ipynb", "ada/05_two_heads.ipynb")
    assert found(folder, "05_two_heads")[0] == {("ada", "05_two_heads")}


def test_what_cannot_be_placed_is_told(tmp_path):
    folder = lay(tmp_path / "class", "02_momentum.ipynb", "ada/x.ipynb", text=notebook("1"))
    placed, unplaced = found(folder)
    assert placed == set()
    assert "whose it is" in unplaced[0]
    assert "which unit" in unplaced[1]


def test_a_student_without_a_notebook_is_reported(tmp_path):
    folder = lay(tmp_path / "class", "ada/02_momentum.ipynb", "bob/essay.pdf")
    (folder / "eve").mkdir()
    assert found(folder)[1] == (
        "bob: there is no notebook, only essay.pdf.",
        "eve: there is no notebook, nor anything else.",
    )
    klass = find(folder, UNITS, "02_momentum")
    problems = {s.student: s.problem for s in klass.submissions}
    assert problems["ada"] == ""
    assert problems["bob"].startswith("there is no notebook")


def test_the_latest_of_several_counts(tmp_path):
    folder = lay(tmp_path / "class", "ada/02_momentum.ipynb", "ada/02_momentum-1.ipynb")
    os.utime(folder / "ada/02_momentum.ipynb", (2e9, 2e9))
    (submission,) = find(folder, UNITS).submissions
    assert submission.file == "ada/02_momentum.ipynb"
    assert "02_momentum-1.ipynb is there too" in submission.notes[0]


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    folder = lay(tmp_path / "class", "ada/02_momentum.ipynb")
    os.truncate(folder / "ada/02_momentum.ipynb", LARGEST * 10)
    (submission,) = find(folder, UNITS).submissions
    with pytest.raises(CourseError, match="200 MB; 20 MB is the limit"):
        submission.data()


def test_a_zip_bomb_is_read_no_further_than_the_limit(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada/02_momentum.ipynb", b" " * (LARGEST + 1))
    (submission,) = find(tmp_path / "a.zip", UNITS).submissions
    with pytest.raises(CourseError, match="limit"):
        submission.data()


@pytest.mark.parametrize("name", ["../../ada/02_momentum.ipynb", "/ada/02_momentum.ipynb"])
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
