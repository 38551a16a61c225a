"""tests/course, the small fixed course that tests of the machine use, is up to date and green."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from selfcheck.course import course_in
from selfcheck.units import units
from tests.places import SMALL

UNITS = units(course_in(SMALL))
EXERCISES = [exercise for unit in UNITS for exercise in unit.exercises]


def run(folder: Path, *words: str) -> str:
    """A command in a course's folder, as one types it there: what it says."""
    outer = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=folder, env=outer, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_it_has_one_exercise_of_each_sort():
    """What other tests rely on; README.md beside it says the same in a table."""
    assert [(unit.stem, unit.points, unit.transfer_points) for unit in UNITS] == [
        ("01_sums", 7, 2),
        ("02_products", 3, 0),
    ]
    assert [f"{e.number} {e.name}" for e in EXERCISES if e.numbers] == ["1.3 own_sums"]
    assert [f"{e.number} {e.name}" for e in EXERCISES if e.parts] == ["1.3 own_sums"]
    assert [f"{e.number} {e.name}" for e in EXERCISES if e.is_transfer] == ["1.4 square_sum"]
    assert [(e.number, e.forbidden) for e in EXERCISES if e.forbidden] == [
        ("1.2", ("small_course.sums.running_sums",))
    ]
    assert all(len(e.hints) == 2 and e.misconceptions for e in EXERCISES)


@pytest.mark.parametrize("command", ["links", "release"])
def test_its_files_are_what_the_commands_write(command, tmp_path):
    copy = tmp_path / "course"
    shutil.copytree(SMALL, copy)
    assert run(copy, "selfcheck", command) == "nothing changed\n"


def test_its_notebooks_are_green_under_nbval():
    said = run(SMALL, "selfcheck", "check")
    assert said.count("green") == len(["start page", *UNITS, *UNITS])


def test_its_own_tests_pass():
    said = run(SMALL, "pytest", "-q", "-p", "no:cacheprovider")
    assert int(re.search(r"^(\d+) passed", said, re.MULTILINE)[1]) > 20


def test_our_own_run_does_not_collect_it(request):
    """Its notebooks and tests are those of another course, which is run above."""
    assert not [i.nodeid for i in request.session.items if i.nodeid.startswith("tests/course/")]
