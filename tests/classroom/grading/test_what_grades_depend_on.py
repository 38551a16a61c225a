"""A grade depends on the files that judging really read: what can change it renews it, no other."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from classroom.grading import fingerprint, judge_pool
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.handing_out import CHANGED, OUTDATED
from selfcheck.files import CourseError
from tests.places import ROOT, SMALL

UNIT, OTHER = "01_sums", "02_products"


class Copy:
    """A copy of the small course with a class of one student, who handed in two sheets."""

    def __init__(self, folder):
        self.folder = folder
        skip = shutil.ignore_patterns("__pycache__", "build")
        shutil.copytree(SMALL, folder, dirs_exist_ok=True, ignore=skip)
        (folder / "class" / "ada").mkdir(parents=True)
        for unit in (UNIT, OTHER):
            shutil.copy(folder / "solutions" / f"{unit}.ipynb", folder / "class" / "ada")

    def grade(self):
        """Grade; how many were graded in this run."""
        done = subprocess.run(
            [sys.executable, "-m", "selfcheck", "grade", "class", "--to", "grades"],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return int(re.findall(r"^(\d+) graded", done.stdout, re.MULTILINE)[-1])

    def files(self, unit):
        with Gradebook(self.folder / "grades" / NAME) as book:
            return json.loads(book.kept(f"files {unit}"))

    def change(self, name, addition):
        path = self.folder / name
        path.write_text(path.read_text(encoding="utf-8") + addition, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory, bubblewrap):
    copy = Copy(tmp_path_factory.mktemp("copy"))
    assert copy.grade() == 2
    return copy


def test_the_files_of_both_processes_are_noted_and_none_of_mistakes(copy):
    files = copy.files(UNIT)
    assert {"small_course/checks/sums.py", "small_course/checks/sums.toml"} <= set(files)
    assert {"selfcheck/verdicts.py", "selfcheck/encoding.py"} <= set(files)
    assert {"classroom/grading/judge.py", "classroom/grading/child.py"} <= set(files)
    assert {"classroom/grading/metering.py", "classroom/roles.py"} <= set(files)
    assert not [name for name in files if name.endswith((".md", "_mistakes.py"))]
    assert "small_course/checks/products.py" not in files
    assert all(files.values())


def test_what_is_unchanged_is_not_graded_again(copy):
    assert copy.grade() == 0


@pytest.mark.parametrize(
    ("name", "addition", "graded"),
    [
        ("small_course/checks/products.py", "\n# a comment\n", 1),
        ("small_course/checks/products.toml", "\n# a comment\n", 1),
        ("small_course/checks/sums.py", "\n# used by both units\n", 2),
        ("small_course/variants.py", "\n# used by both, too\n", 2),
        ("small_course/units.toml", "\n# titles and places\n", 0),
        ("course.toml", "\n# a promise\n", 0),
        ("README.md", "\nMore words.\n", 0),
        ("notebooks/notes.txt", "", 0),
    ],
)
def test_a_change_renews_the_grades_that_it_can_change_and_no_others(copy, name, addition, graded):
    (copy.folder / name).touch()
    copy.change(name, addition)
    assert copy.grade() == graded
    assert copy.grade() == 0


@pytest.mark.parametrize("otherwise", [CHANGED, OUTDATED])
def test_a_file_that_changes_while_it_grades_is_named(in_small_course, otherwise):
    name = "small_course/checks/sums.py"
    files = fingerprint.digests([name, "selfcheck/files.py"]) | {name: "as it was"}
    with pytest.raises(CourseError) as told:
        judge_pool.judged({}, True, files, otherwise)
    assert str(told.value) == otherwise.format(name)


def test_a_file_that_was_written_while_the_solution_was_judged_is_noticed(
    in_small_course, monkeypatch
):
    name, began = "small_course/checks/sums.py", time.time_ns()
    assert fingerprint.changed_since(began, [name]) == []
    assert fingerprint.changed_since(began, [name, "selfcheck/gone.py"]) == ["selfcheck/gone.py"]
    assert fingerprint.changed_since(0, [name]) == [name]
    monkeypatch.setattr("time.time_ns", lambda: 1)  # a clock that was set back
    assert fingerprint.changed_since(0, [name]) == []
