"""`course new`, and the guide's walk from an empty unit to graded submissions, run as it stands."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from classroom.new import new_unit
from selfcheck.files import CourseError
from tests.places import begin_course

ROOT = Path(__file__).parents[2]
WALK = re.search(
    r"^## A new unit\n.*?^```\n(.*?)^```",
    (ROOT / "docs" / "authors.md").read_text("utf-8"),
    re.M | re.S,
)[1]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the course with a unit that was made and graded as docs/authors.md says."""
    root = tmp_path_factory.mktemp("walk") / "course"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for path in (ROOT / name for name in filter(None, listed.stdout.split("\0"))):
        # With what Python and pytest compiled, else each line of the walk compiles anew.
        compiled = path.parent.glob(f"__pycache__/{path.stem}.*.pyc")
        for file in filter(Path.is_file, (path, *compiled) if path.suffix == ".py" else (path,)):
            target = root / file.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
    for line in WALK.splitlines():
        run(root, line)
    return root


def run(root, line):
    """One line of the guide in that folder, with the packages that lie there."""
    own = {"PYTHONPATH": str(root), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    outer = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV_"))}
    done = subprocess.run(
        line, cwd=root, env=outer | own, capture_output=True, text=True, shell=True
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_walk_ends_in_grades_for_a_solved_and_a_blank_sheet(course):
    with (course / "grades" / "grades.csv").open(encoding="utf-8-sig") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert {name: (row["total"], row["of"]) for name, row in rows.items()} == {
        "ada": ("2", "2"),
        "bob": ("0", "2"),
    }


def test_the_unit_keeps_what_all_units_promise(course):
    tests = "tests/checks/test_diffusion.py tests/checks/test_every_exercise.py tests/test_units.py"
    tests += " tests/checks/test_prose_of_units.py tests/test_committed_notebooks.py"
    tests += " tests/classroom/test_slides.py tests/test_links.py tests/test_unit_table.py"
    chosen = "(diffusion or 13_ or 13. or links or facts) and not nbval and not bundle"
    run(course, f'python -m pytest -q -p no:cacheprovider {tests} -k "{chosen}"')
    run(course, "python -m ruff check --no-cache . && python -m ruff format --check --no-cache .")


def test_maps_titles_and_neighbors_know_the_unit(course):
    readme = (course / "README.md").read_text(encoding="utf-8")
    assert "| 13 | [Diffusion: noise and back](notebooks/13_diffusion.ipynb) | [2 points]" in readme
    assert "13_diffusion.ipynb" in (course / "notebooks" / "12_capstone.ipynb").read_text("utf-8")


@pytest.mark.parametrize(
    ("number", "name", "title", "says"),
    [
        ("0", "diffusion", "A", "no number of a unit"),
        ("thirteen", "diffusion", "A", "no number of a unit"),
        ("13", "Diffusion", "A", "no name of a unit"),
        ("13", "diffusion.ipynb", "A", "no name of a unit"),
        ("13", "diffusion", " ", "A title is one line"),
        ("13", "diffusion", 'Say "A"', "A title is one line"),
        ("02", "diffusion", "A", "a unit 02 or diffusion already"),
        ("99", "momentum", "A", "a unit 99 or momentum already"),
    ],
)
def test_a_bad_name_gets_a_sentence_and_writes_nothing(tmp_path, number, name, title, says):
    begin_course(tmp_path)
    shutil.copy(ROOT / "course_utils" / "units.toml", tmp_path / "course_utils")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(CourseError, match=says):
        new_unit(tmp_path, number, name, title)
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_there_is_not_overwritten(tmp_path):
    begin_course(tmp_path)
    shutil.copy(ROOT / "course_utils" / "units.toml", tmp_path / "course_utils")
    mine = tmp_path / "tests" / "checks" / "test_diffusion.py"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(CourseError, match=r"test_diffusion\.py exists already"):
        new_unit(tmp_path, "98", "diffusion", "A")
    assert mine.read_text() == "mine"
    assert not (tmp_path / "notebooks").exists()
