"""interchange.py: the real nbgrader takes our solutions as its source and gives our points."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from classroom.interchange import export_to_nbgrader, nbgrader_source
from classroom.notebooks import as_text, code_cells, read
from classroom.roles import Role, id_of
from classroom.solutions import read_solution
from selfcheck.files import CourseError
from selfcheck.units import declared
from tests.places import our_notebooks

ROOT = Path(__file__).parents[2]
UNIT = "02_momentum"
ALL = sum(exercise.points for exercise in declared(UNIT))
WRONG = {
    "answer-bias": "factor = beta**t",
    "answer-corrected-average": "corrected_average = no_such_name",
    "answer-first-false-line": "line, correction = 3, 'step'",  # one point of two
}
SCORES = """
    SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score
    FROM grade
    JOIN base_cell ON base_cell.id = grade.cell_id
    JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
    JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
"""


def answered(answers):
    """Our exercise as a student hands it in, with these answers."""
    notebook = read(ROOT / "exercises" / f"{UNIT}.ipynb")
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    return notebook


def submissions():
    solved = {cell.id: cell.source for cell in read(ROOT / "solutions" / f"{UNIT}.ipynb").cells}
    wrong = answered(solved | WRONG)
    wrong.cells = [cell for cell in wrong.cells if cell.id != "check-half-life"]
    return {"right": answered(solved), "wrong": wrong, "blank": answered({})}


def ours(notebook):
    """The points by our own checks, run here and now; a check that lacks its answer gives none."""
    namespace, points = {}, {}
    for cell in code_cells(notebook):
        with contextlib.suppress(NameError):
            if cell.id.startswith("check-"):
                points[cell.id] = 0
                points[cell.id] = eval(cell.source, namespace).earned
            else:
                exec(cell.source, namespace)
    return points


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A folder of nbgrader's in which all its commands have run."""
    folder = tmp_path_factory.mktemp("nbgrader")
    export_to_nbgrader(ROOT, folder, [UNIT])
    for student, notebook in submissions().items():
        path = folder / "submitted" / student / UNIT / f"{UNIT}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(as_text(notebook), encoding="utf-8")
    for command in ("generate_assignment", "autograde"):
        nbgrader(command, folder)
    return folder


def nbgrader(command, folder):
    """The real command, in the folder and with none of the user's own settings."""
    places = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    beside_python = str(Path(sys.executable).parent)  # it calls alembic by its name alone
    environment = {
        **os.environ,
        **places,
        "PYTHONPATH": str(ROOT),
        "PATH": os.pathsep.join([beside_python, os.environ["PATH"]]),
    }
    result = subprocess.run(
        [sys.executable, "-m", "nbgrader", command, UNIT],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def scores(course):
    found = {}
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as database:
        for student, check, score in database.execute(SCORES):
            found.setdefault(student, {})[check] = score
    return found


def test_what_nbgrader_releases_is_our_exercise(course):
    released = read(course / "release" / UNIT / f"{UNIT}.ipynb")
    exercise = read(ROOT / "exercises" / f"{UNIT}.ipynb")
    assert [(c.id, c.source) for c in released.cells] == [(c.id, c.source) for c in exercise.cells]


def test_right_answers_get_all_points(scores):
    assert scores["right"] == ours(submissions()["right"])
    assert sum(scores["right"].values()) == ALL


def test_wrong_answers_get_what_our_checks_give_and_deleted_checks_come_back(scores):
    assert scores["wrong"] == ours(submissions()["wrong"]) | {"check-half-life": 1}
    assert sum(scores["wrong"].values()) == ALL - 2 - 2 - 1


def test_blanks_get_nothing(scores):
    assert scores["blank"] == dict.fromkeys(scores["right"], 0)


def test_a_grader_sees_the_verdict_beside_the_points(course):
    graded = read(course / "autograded" / "wrong" / UNIT / f"{UNIT}.ipynb")
    (check,) = [cell for cell in graded.cells if cell.id == "check-bias"]
    shown, points = check.outputs
    assert shown.data["text/plain"].startswith("2.3 bias: wrong, 0 of 1 point. At β =")
    assert points.data["text/plain"] == "0"


# -- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", our_notebooks("exercises"), ids=lambda p: p.stem)
def test_nbgrader_finds_every_exercise_sound(path):
    from nbgrader.nbgraderformat import MetadataValidator  # loads all of nbgrader

    MetadataValidator().validate_nb(read(path))


@pytest.mark.parametrize("path", our_notebooks("solutions"), ids=lambda p: p.stem)
def test_every_check_of_a_source_ends_with_its_points_hidden_from_students(path):
    source = nbgrader_source(read_solution(path))
    cells = {cell.id: cell for cell in source.cells}
    for name in [exercise.name for exercise in declared(path.stem)]:
        cell = cells[id_of(Role.CHECK, name)]
        assert cell.source.splitlines()[-4:] == [
            "### BEGIN HIDDEN TESTS",
            f"display(check.{name}.last)",
            f"check.{name}.last.earned",
            "### END HIDDEN TESTS",
        ]
    assert not any("instructor-only" in str(cell.metadata) for cell in source.cells)


def test_nothing_is_overwritten_and_settings_that_are_there_stay(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("# mine")
    written = export_to_nbgrader(ROOT, tmp_path, ["03"])
    assert written == [tmp_path / "source" / "03_weight_decay" / "03_weight_decay.ipynb"]
    assert (tmp_path / "nbgrader_config.py").read_text() == "# mine"
    with pytest.raises(CourseError, match="exists already"):
        export_to_nbgrader(ROOT, tmp_path, ["03"])


def test_without_solutions_there_is_nothing_to_export(tmp_path):
    with pytest.raises(CourseError, match="no solution notebooks"):
        export_to_nbgrader(tmp_path, tmp_path / "out")
