"""A good solution is there when it may be, and nowhere before."""

import json
import shutil
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from classroom.grading.settings import settings_of
from classroom.notebooks import read
from classroom.release import bundle, sealed, solution_lines, solved_bundle, squeezed
from classroom.site.packages import _course_wheel
from selfcheck.course import course_in
from selfcheck.files import CourseError
from selfcheck.sealed import (
    ALWAYS,
    DEADLINE,
    FULL,
    MARKS,
    NEVER,
    WHEN,
    Solved,
    seal,
    solutions_in,
    unsealed,
    with_wrong_turns,
)
from selfcheck.students.cli import main
from tests.places import our_notebooks

ROOT, SMALL = Path(__file__).parents[2], Path(__file__).parents[1] / "course"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """The small course, of our own; it says nothing about solutions."""
    there = tmp_path / "course"
    shutil.copytree(SMALL, there)
    monkeypatch.chdir(there)
    return there


def says(course, when, deadline=None):
    rules = f'\n[class]\nsolutions = "{when}"\n'
    if deadline:
        rules += f"[class.deadlines]\n01_sums = {deadline:%Y-%m-%dT%H:%M:%S}\n"
    path = course / "course.toml"
    path.write_text(path.read_text(encoding="utf-8") + rules, encoding="utf-8")


def sealed_files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.sealed"))


BOTH = ["small_course/checks/products.sealed", "small_course/checks/sums.sealed"]
SOON, PAST = (datetime.now() + timedelta(days=days) for days in (2, -2))


@pytest.mark.parametrize(
    ("when", "deadline", "there"),
    [
        (None, None, []),
        (NEVER, PAST, []),
        (DEADLINE, None, []),
        (DEADLINE, SOON, []),
        (DEADLINE, PAST, BOTH[1:]),
        (FULL, SOON, BOTH),
        (ALWAYS, SOON, BOTH),
    ],
)
def test_course_toml_says_whether_a_bundle_has_solutions(course, when, deadline, there):
    if when:
        says(course, when, deadline)
    assert sealed_files(bundle(course, course.parent / "out")) == there


def test_extra_time_holds_a_deadline_back(course):
    says(course, DEADLINE, PAST)
    with (course / "course.toml").open("a") as file:
        file.write('[class.extra]\n7 = "3 days"\n')
    assert sealed(course, ["01_sums"]) == {}


def test_the_site_has_them_unless_the_course_says_otherwise(course):
    def in_the_wheel():
        import zipfile

        wheel = _course_wheel(course_in(course), course.parent, None)
        return sorted(n for n in zipfile.ZipFile(wheel).namelist() if n.endswith(".sealed"))

    assert in_the_wheel() == BOTH
    says(course, NEVER)
    assert in_the_wheel() == []


def test_another_word_is_refused():
    with pytest.raises(CourseError, match='solutions is one of "never", "after full points"'):
        settings_of({"solutions": "sometimes"})
    assert [settings_of({"solutions": when}).solutions for when in WHEN] == [*WHEN]


# -- nothing of a solution where it must not be ----------------------------------------------------


def secrets():
    """All lines of solutions and whys of this course, but those that were reviewed."""
    lines = (ROOT / "tests" / "leaks.txt").read_text(encoding="utf-8").splitlines()
    reviewed = {squeezed(line.partition(": ")[2]) for line in lines}
    every = {squeezed(line) for path in our_notebooks("solutions")
             for line in solution_lines(read(path))}  # fmt: skip
    return {line for line in every - reviewed if len(line) >= 12}


def read_whole(path):
    """All that can be read in a file: the lines of the cells of a notebook, or of the file."""
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_bytes())["cells"]
        return [line for cell in cells for line in "".join(cell["source"]).splitlines()]
    return path.read_bytes().decode(errors="ignore").splitlines()


def test_no_line_of_a_solution_is_in_the_bundle_of_this_course(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    out = bundle(ROOT, tmp_path / "out")
    hidden, told = secrets(), []
    assert len(hidden) > 500
    for path in sorted(p for p in out.rglob("*") if p.is_file()):
        told += [(path.name, line) for line in read_whole(path) if squeezed(line) in hidden]
    assert told == []
    assert sealed_files(out) == []


@pytest.mark.parametrize("when", [FULL, ALWAYS])
def test_where_they_may_be_they_are_sealed_and_nowhere_else(course, when):
    says(course, when)
    out = bundle(course, course.parent / "out")
    open_ = (course / "small_course" / "sums.py").read_text(encoding="utf-8")  # the subject
    solutions = [read(path) for path in sorted((course / "solutions").glob("*.ipynb"))]
    lines = [line for solution in solutions for line in solution_lines(solution)]
    hidden = [line for line in lines if len(line) >= 12 and line not in open_]
    assert len(hidden) > 5
    for path in (p for p in out.rglob("*") if p.is_file()):
        text = path.read_bytes().decode(errors="ignore")
        assert not [line for line in hidden if line in text], path
    sums = (out / BOTH[1]).read_text(encoding="utf-8")
    assert unsealed(sums)[0] == when
    assert unsealed(sums)[1]["even_sum"].code == "total = n**2 + n"


# -- what is shown ---------------------------------------------------------------------------------

TRIED = """
from small_course.checks import sums as check
print(check.running_sums.solution())
print("----")
def running(x):
    return x
check.running_sums(running)
print(check.running_sums.solution())
print("----")
import numpy as np
def running(x):
    total, sums = 0, []
    for one in x:
        total = total + one
        sums.append(total)
    return np.array(sums)
print(check.running_sums(running))
print(check.running_sums.solution())
print("----")
check.square_sum("n*(n + 1)*(2*n + 1)/6")
print(check.square_sum.solution())
"""


def run(folder, code):
    script = folder / "try_it.py"
    script.write_text(code, encoding="utf-8")
    environment = {"PYTHONPATH": f"{folder}:{ROOT}", "PATH": "/usr/bin:/bin", "COURSE_FOLDER": ""}
    made = subprocess.run([sys.executable, script], cwd=folder, env=environment,
                          capture_output=True, text=True)  # fmt: skip
    assert made.returncode == 0, made.stderr
    return made.stdout.split("----\n")


def test_it_opens_after_full_points_beside_ones_own(course):
    says(course, FULL)
    first, wrong, right, formula = run(bundle(course, course.parent / "out"), TRIED)
    for closed in (first, wrong):
        assert "It opens once `check.running_sums(…)` has given you all 3 points." in closed
        assert "cumsum" not in closed
    assert "A good solution: `check.running_sums.solution()`." in right
    assert "A good solution:\ndef running(x):\n    return np.cumsum(x)" in right
    assert "Yours:\ndef running(x):\n    total, sums = 0, []" in right
    assert "Common wrong turns:" in right
    assert "Why. The sum of $(k + 1)^3 - k^3" in formula
    assert "Yours:\nsquares = " in formula


def test_it_is_open_always_where_the_course_says_so(course):
    says(course, ALWAYS)
    first, *_ = run(bundle(course, course.parent / "out"), TRIED)
    assert "np.cumsum(x)" in first


def test_without_it_a_sentence_says_so(course):
    first, _, right, _ = run(bundle(course, course.parent / "out"), TRIED)
    assert "It is not here. Your instructor decides whether and when it comes." in first
    assert "cumsum" not in right
    assert "solution()`" not in right  # the card promises nothing


def test_solved_notebooks_handed_out_afterwards_are_found_in_the_course(course):
    out = bundle(course, course.parent / "out")
    assert main(["release", "--solutions", "--to", str(course.parent / "s"), "--unit", "01"]) == 0
    shutil.copytree(course.parent / "s", out, dirs_exist_ok=True)
    first, *_ = run(out, TRIED)
    assert "np.cumsum(x)" in first


def test_a_solved_notebook_has_answers_and_whys_and_no_marks(course):
    out = solved_bundle(course, course.parent / "solved")
    assert sorted(p.name for p in (out / "solutions").iterdir()) == [
        "01_sums.ipynb", "02_products.ipynb",
    ]  # fmt: skip
    sheet = read(out / "solutions" / "01_sums.ipynb")
    text = "\n".join(cell.source for cell in sheet.cells)
    assert "return np.cumsum(x)" in text
    assert "**Why.** The sum of" in text
    assert "Instructor's copy" not in text
    assert not any(mark in text for mark in (*MARKS, "____ "))
    assert not any("instructor-only" in c.metadata.get("tags", []) for c in sheet.cells)
    with pytest.raises(CourseError, match="exists already"):
        solved_bundle(course, out)


def test_without_a_place_solutions_go_to_build_anew(course, capsys):
    for unit, name in (("01", "01_sums.ipynb"), ("02", "02_products.ipynb")):
        assert main(["release", "--solutions", "--unit", unit]) == 0
        assert [p.name for p in (course / "build" / "solved" / "solutions").iterdir()] == [name]
    assert main(["release", "--solutions", "--zip"]) == 0
    assert (course / "build" / "solved.zip").exists()
    assert main(["release", "--solutions", "--without", "transfer"]) == 1
    assert "--solutions has whole sheets" in capsys.readouterr().err


def test_what_is_sealed_comes_back_and_tells_nothing_at_first_sight():
    found = {"even_sum": Solved("total = n**2 + n", "**Why.** Take the 2 out.")}
    line = seal(found, FULL)
    assert unsealed(line) == (FULL, found)
    assert "total" not in line
    assert "Why" not in line


def test_a_text_belongs_to_the_check_before_it():
    cells = [
        {"id": "answer-a", "cell_type": "code", "source": ["x = 1\n", "### STUB\n", "# x\n"]},
        {"id": "check-a", "cell_type": "code", "source": "check.a(x)"},
        {"id": "t", "cell_type": "markdown", "source": "## Exercise 1.2"},
        {"id": "u", "cell_type": "markdown", "source": "**Why.** Of nobody."},
    ]
    assert solutions_in(cells) == {"a": Solved("x = 1", "")}


def test_wrong_turns_are_those_of_the_text_or_else_the_known_mistakes():
    assert with_wrong_turns("**Why.** So.", ["a", "b", "a"]).endswith("*Common wrong turns:* a; b.")
    own = "**Why.** So. The usual wrong turn is c."
    assert with_wrong_turns(own, ["a"]) == own
