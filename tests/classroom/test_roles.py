"""roles.py: what a cell is, is told by its content; what is not sound is refused by name."""

import shutil
from types import SimpleNamespace

import nbformat.v4 as v4
import pytest

from classroom import checking, release
from classroom.grading.options import Options
from classroom.grading.pipeline import grade
from classroom.notebooks import as_text, read
from classroom.roles import Role, id_of, is_machine_made, name_cells, role, role_of_code
from classroom.solutions import asked, read_solution, solution_of
from selfcheck.files import CourseError
from tests.places import SMALL, our_notebooks

NAME = "solutions/02_unit.ipynb"
ANSWER = "### BEGIN SOLUTION\n{0} = 42\n### STUB\n# {0} = ____\n### END SOLUTION"
WEIGHTS = SimpleNamespace(name="weights", number="2.1", points=2)
HALF_LIFE = SimpleNamespace(name="half_life", number="2.2", points=1)


def code(source, name):
    return v4.new_code_cell(source, id=name)


def text(source, name, **metadata):
    return v4.new_markdown_cell(source, id=name, metadata=metadata)


def sheet():
    """A sheet with two exercises as an author leaves it, by name of the cell."""
    cells = [
        text("# Exercises", "title"),
        code("import numpy as np", "imports"),
        code("student = 0  # yours", "student"),
        text("## Exercise 2.1 (2 points, 5 minutes)", "text-weights"),
        code(ANSWER.format("w"), "answer-weights"),
        code("check.weights(w)", "check-weights"),
        text("## Exercise 2.2 (1 point, 5 minutes)", "text-half-life"),
        code(ANSWER.format("steps"), "answer-half-life"),
        code("check.half_life(student, steps)", "check-half-life"),
        code("scoreboard()", "scoreboard"),
    ]
    return {cell.id: cell for cell in cells}


def read_as_solution(cells, asked=(WEIGHTS, HALF_LIFE)):
    return solution_of(v4.new_notebook(cells=list(cells.values())), NAME, asked)


def refused(cells, asked=(WEIGHTS, HALF_LIFE)):
    """The sentence with which these cells are refused."""
    with pytest.raises(CourseError) as refusal:
        read_as_solution(cells, asked)
    assert str(refusal.value).startswith(f"{NAME}, cell ")
    return str(refusal.value)


def without(*names):
    return {name: cell for name, cell in sheet().items() if name not in names}


def renamed(old, new):
    cells = sheet()
    cells[old].id = new
    return cells


# -- roles ----------------------------------------------------------------------------------------


def test_a_cell_is_what_it_holds():
    roles = {name: role(cell) for name, cell in sheet().items()}
    assert roles == {
        "title": Role.TEXT,
        "imports": Role.GIVEN,
        "student": Role.STUDENT,
        "text-weights": Role.TEXT,
        "answer-weights": Role.ANSWER,
        "check-weights": Role.CHECK,
        "text-half-life": Role.TEXT,
        "answer-half-life": Role.ANSWER,
        "check-half-life": Role.CHECK,
        "scoreboard": Role.SCOREBOARD,
    }


@pytest.mark.parametrize(
    "source",
    ["check.weights", "w = check.weights(w)", "check.weights(w); 1", "check.weights.hint()",
     "check.weights(w=w)", "print(check.weights(w))", "(((", "student = 0; x = 1", "x = 3"],
)  # fmt: skip
def test_everything_else_is_given_code(source):
    assert role_of_code(source) is Role.GIVEN


def test_what_is_tagged_for_instructors_is_theirs_whatever_it_holds():
    assert role(text("Well known.", "note", tags=["instructor-only"])) is Role.INSTRUCTORS
    noted = code("check.weights(w)", "a")
    noted.metadata["tags"] = ["instructor-only"]
    assert role(noted) is Role.INSTRUCTORS


def test_a_submission_is_run_with_no_line_of_an_answer():
    ours = asked(read_as_solution(sheet()))
    assert [(cell.id, cell.source) for cell in ours if cell.role == Role.ANSWER] == [
        ("answer-weights", ""),
        ("answer-half-life", ""),
    ]
    assert not any("42" in cell.source for cell in ours)


# -- what is refused ------------------------------------------------------------------------------


def test_a_sound_sheet_is_taken_as_it_is():
    solution = read_as_solution(sheet())
    assert [cell.id for cell in solution.notebook.cells] == list(sheet())


def test_a_misspelled_id_is_refused_with_the_right_one():
    assert "cell answr-weights: it is the answer of exercise 2.1 and should be called " in refused(
        renamed("answer-weights", "answr-weights")
    )
    assert "should be called check-weights; `course execute" in refused(
        renamed("check-weights", "chek-weights")
    )


def test_an_id_that_promises_what_the_cell_does_not_hold_is_refused():
    assert "cell answer-imports: its name says answer, but it holds no ###" in refused(
        renamed("imports", "answer-imports")
    )
    assert "cell check-imports: its name says check, but it is no bare call" in refused(
        renamed("imports", "check-imports")
    )


def test_the_id_of_another_exercise_is_refused():
    cells = sheet()
    cells["answer-weights"].id, cells["answer-half-life"].id = "answer-half-life", "answer-weights"
    assert "cell answer-half-life: it is the answer of exercise 2.1" in refused(cells)


def test_an_exercise_without_a_check_an_answer_or_both_is_refused():
    gone = ("text-half-life", "answer-half-life", "check-half-life")
    assert "cell check-half-life: it is missing" in refused(without(*gone))
    assert "cell check-weights: a check without an answer" in refused(without("answer-weights"))
    assert "answer-half-life: an answer that no check" in refused(without("check-half-life"))
    assert "answer-half-life: a second answer before" in refused(without("check-weights"))


def test_a_check_that_is_wrapped_is_named_as_the_reason():
    cells = without("text-half-life", "answer-half-life", "check-half-life")
    cells["shown"] = code("print(check.half_life(steps))", "shown")
    assert "it is missing. Exercise 2.2 is declared and has no check here; cell shown" in refused(
        cells
    )


def test_an_exercise_that_is_not_declared_or_stands_twice_or_elsewhere_is_refused():
    assert "check.half_life is no exercise of this unit; there are weights" in refused(
        sheet(), [WEIGHTS]
    )
    assert "out of order; the unit asks half_life, weights" in refused(
        sheet(), [HALF_LIFE, WEIGHTS]
    )
    again = {"a": code(ANSWER.format("w"), "a1b2c3d4"), "b": code("check.weights(w)", "b1b2c3d4")}
    assert "cell check-weights: it stands there twice" in refused(sheet() | again)


@pytest.mark.parametrize(
    "heading",
    ["## Exercise 2.2", "## Exercise 2.2 (2 points, 5 minutes)", "No heading.",
     "## Exercise 2.3 (1 point, 5 minutes)"],
)  # fmt: skip
def test_a_heading_that_does_not_give_number_and_points_is_refused(heading):
    cells = sheet()
    cells["text-half-life"].source = heading
    assert "should be `## Exercise 2.2 · … (1 point, … minutes)`" in refused(cells)


def test_a_unit_without_declared_exercises_is_refused():
    with pytest.raises(CourseError, match=r"02_unit\.ipynb: the checks declare no"):
        read_as_solution(sheet(), ())


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    ["", "a1b2c3d4", "25e06eb9-9c5d-4b0a-8f0e-0a2a5ce6bd5c", "9a7f1d6ad5e84b0aa7d4a7a0dc0c1a11"],
)
def test_machine_made_ids_are_known(made):
    assert is_machine_made(made)
    assert not is_machine_made("answer-weights")


def test_cells_with_machine_made_ids_are_named_after_what_they_hold():
    cells = sheet()
    for number, cell in enumerate(cells.values()):
        cell.id = f"{number:08x}"
    names = [cell.id for cell in read_as_solution(cells).notebook.cells]
    expected = list(sheet())
    expected[:2] = ["exercises", "import-numpy-as"]
    assert names == expected


def test_naming_mends_what_was_misspelled_and_keeps_good_names():
    notebook = v4.new_notebook(cells=list(renamed("answer-weights", "answr-weights").values()))
    assert [cell.id for cell in name_cells(notebook).cells] == list(sheet())


def test_a_lecture_may_call_checks_and_its_names_stay():
    cells = [code("check.weights(1)", "wrong-answer"), code("check.weights(2)", "right-answer")]
    named = name_cells(v4.new_notebook(cells=cells)).cells
    assert [cell.id for cell in named] == ["wrong-answer", "right-answer"]


def test_no_name_is_given_twice():
    cells = [text("Why?", f"{n:08x}") for n in range(3)]
    assert [c.id for c in name_cells(v4.new_notebook(cells=cells)).cells] == [
        "why",
        "why-2",
        "why-3",
    ]


# -- the commands ---------------------------------------------------------------------------------


@pytest.fixture
def course(tmp_path, in_small_course):
    """The solution of a unit in a folder of its own, for a slip to be made in."""
    (tmp_path / "solutions").mkdir()
    shutil.copy(SMALL / "solutions" / "01_sums.ipynb", tmp_path / "solutions")
    return tmp_path


@pytest.mark.parametrize(
    ("good", "bad"), [("answer-even-sum", "answr-even-sum"), ("check-even-sum", "chek-even-sum")]
)
def test_release_check_and_grade_refuse_a_misspelled_id(course, good, bad):
    path = course / "solutions" / "01_sums.ipynb"
    submission = course / "class" / "ada" / "01_sums.ipynb"
    submission.parent.mkdir(parents=True)
    shutil.copy(SMALL / "exercises" / "01_sums.ipynb", submission)
    notebook = read(path)
    (cell,) = [cell for cell in notebook.cells if cell.id == good]
    cell.id = bad
    path.write_text(as_text(notebook), encoding="utf-8")
    says = f"cell {bad}: .* should be called {good}"
    with pytest.raises(CourseError, match=says):
        release.release(course)
    with pytest.raises(CourseError, match=says):
        checking.check_submission(submission, course)
    with pytest.raises(CourseError, match=says):
        grade(course, course / "class", course / "grades", Options(), lambda done: None)
    assert not (course / "exercises").exists()


def test_every_solution_of_the_course_is_sound():
    for path in our_notebooks("solutions"):
        assert read_solution(path).notebook == read(path)
        first = read_solution(path).exercises[0]
        assert id_of(Role.ANSWER, first.name) in {cell.id for cell in read(path).cells}
