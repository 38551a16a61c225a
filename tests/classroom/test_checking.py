"""checking.py and its two plugins: real nbval, once over notebooks and once over submissions."""

import base64
import importlib.metadata
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat.v4 as v4
import numpy as np
import pytest

from classroom import checking
from classroom.checking import check_submission, is_ours, under_our_checks
from classroom.grading.assembly import Cell, assemble
from classroom.nbval_table import why_not_compared, why_red
from classroom.notebooks import CELL_TIMEOUT, as_text, read
from classroom.roles import Role, role
from classroom.solutions import asked, read_solution
from selfcheck.files import CourseError
from selfcheck.png import png_bytes
from tests.places import ROOT, SMALL, begin_course


def course_check(*arguments, cwd=ROOT):
    """The command as an instructor types it: its exit code and what it prints."""
    command = [sys.executable, "-m", "selfcheck", "check", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{SMALL}"}
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    return result.returncode, result.stdout, result.stderr


def test_the_options_for_nbval_are_those_of_the_test_suite():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    suite = settings["tool"]["pytest"]["ini_options"]["addopts"].split()
    assert {*checking.NBVAL, f"--nbval-cell-timeout={CELL_TIMEOUT}"} <= set(suite)


# -- lectures and solutions -----------------------------------------------------------------------


def saved(source, text, name="cell-a", count=1):
    output = v4.new_output("execute_result", {"text/plain": text}, execution_count=count)
    return v4.new_code_cell(source, id=name, execution_count=count, outputs=[output])


def drew(color, name="cell-a", count=1):
    """A cell that draws in blue; what was saved of it is in this color."""
    source = (
        "import base64\nimport numpy as np\nfrom selfcheck.png import png_bytes\n"
        "blue = np.full((20, 20, 3), (0, 0, 255), np.uint8)\n"
        "data = {'image/png': base64.b64encode(png_bytes(blue)).decode(), 'text/plain': 'blue'}\n"
        "display(data, metadata={'image/png': {'alt': 'Blue.'}}, raw=True)"
    )
    png = base64.b64encode(png_bytes(np.full((20, 20, 3), color, np.uint8))).decode()
    data, about = {"image/png": png, "text/plain": "blue"}, {"image/png": {"alt": "Blue."}}
    output = v4.new_output("display_data", data, metadata=about)
    return v4.new_code_cell(source, id=name, execution_count=count, outputs=[output])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A course with a sound lecture, one whose output is another now, and one that never ran."""
    course = tmp_path_factory.mktemp("course")
    begin_course(course)
    (course / "conftest.py").write_text("raise RuntimeError('this is for other tests')")
    ignored = drew((255, 0, 0), "cell-c", 3)
    ignored.metadata["tags"] = ["nbval-ignore-output"]
    notebooks = {
        "notebooks/00_drawn": [drew((0, 0, 250)), drew((255, 0, 0), "cell-b", 2), ignored],
        "notebooks/01_sound": [saved("1 + 1", "2"), saved("2 + 2", "4", "cell-b", 2)],
        "notebooks/02_changed": [saved("1 + 1", "3"), saved("1 / 0", "4", "cell-b", 2)],
        "solutions/03_not_run": [v4.new_code_cell("1 + 1", id="cell-a")],
    }
    for name, cells in notebooks.items():
        path = course / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_text(as_text(v4.new_notebook(cells=cells)), encoding="utf-8")
    code, out, err = course_check("--jobs", 2, cwd=course)
    assert (code, err) == (1, "")
    return [line.strip() for line in out.splitlines()]


def row(table, name):
    (found,) = [line.split() for line in table if line.startswith(f"{name}.ipynb")]
    return found


def test_a_row_counts_cells_and_gives_the_verdict(table):
    assert row(table, "notebooks/01_sound")[1:4] == ["2", "2", "2"]
    assert row(table, "notebooks/01_sound")[-1] == "green"


def test_the_line_that_differs_is_shown_and_not_the_first():
    def printed(text):
        return [v4.new_output("stream", text=text)]

    error = AssertionError("Cell outputs differ")
    why = why_red(error, printed("weights\n0.5\n0.75\n"), printed("weights\n0.5\n0.25\n"))
    assert why.split("\n    ") == [
        "shows now: 0.75",
        "was saved: 0.25",
        "line 3 of the output",
    ]
    why = why_red(error, printed("weights\n"), printed("weights\n0.5\n"))
    assert why.startswith("shows now: nothing\n    was saved: 0.5")


def test_a_red_row_names_the_cells_and_why(table):
    assert row(table, "notebooks/02_changed")[-1] == "red"
    place = table.index("cell cell-a: shows now: 2")
    assert table[place + 1 : place + 3] == ["was saved: 3", "line 1 of the output"]
    assert "cell cell-b: ZeroDivisionError: division by zero" in table


def test_a_picture_that_the_cell_no_longer_draws_is_red_and_the_row_says_how_to_mend_it(table):
    assert row(table, "notebooks/00_drawn")[1:5] == ["3", "3", "2", "2"]
    assert row(table, "notebooks/00_drawn")[-1] == "red"
    place = table.index(next(line for line in table if line.startswith("notebooks/00_drawn")))
    assert table[place + 1] == (
        "cell cell-b: its picture is old: 400 of 400 pixels have a different color, "
        "x from 0 to 19 and y from 0 to 19; `course execute notebooks/00_drawn.ipynb` draws it anew"
    )
    assert table[place + 2].startswith("notebooks/01_sound")  # the others are as they were


def test_pictures_are_not_compared_where_another_matplotlib_draws_the_letters(tmp_path):
    assert why_not_compared(ROOT) == ""  # so the test suite compares them
    here = importlib.metadata.version("matplotlib")
    (tmp_path / "requirements.lock").write_text(f"matplotlib=={here}+1 \\\n    --hash=sha256:0\n")
    assert why_not_compared(tmp_path) == (
        f"Pictures were not compared: matplotlib {here}+1 drew them, and here is {here}."
    )


def test_no_other_program_has_a_word_in_it(table):
    words = [line for line in table if line.strip(".F%[]0123456789 ")]
    assert set(words[: words.index(next(w for w in words if "notebooks under nbval" in w))]) <= {
        "bringing up nodes..."
    }


def test_a_notebook_that_nbval_passes_because_it_never_ran_is_red(table):
    assert row(table, "solutions/03_not_run")[1:4] == ["1", "1", "0"]
    assert row(table, "solutions/03_not_run")[-1] == "red"
    assert "saved without having been run: cell-a" in table


def test_time_that_is_up_is_told_rather_than_the_interrupt_it_caused():
    stopped = v4.new_output("error", ename="KeyboardInterrupt", evalue="", traceback=[])
    error = Exception("Timeout of 30 seconds exceeded executing cell")
    assert why_red(error, [stopped]) == str(error)


# -- a submission ---------------------------------------------------------------------------------


def submission(folder, unit, answers, without=()):
    """Our own solution handed in, with some of its cells changed or taken out."""
    notebook = read(SMALL / "solutions" / f"{unit}.ipynb")
    notebook.cells = [cell for cell in notebook.cells if cell.id not in without]
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    path = folder / "handed-in.ipynb"
    path.write_text(as_text(notebook), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Two submissions with every kind of answer, through the command: a line an exercise."""
    sums = {
        "answer-even-sum": "def total(",
        "answer-running-sums": (
            "# NBVAL_SKIP\n"
            "from IPython.display import display\n"
            "def running(x):\n"
            "    print(x), display(x)\n"
            "    return [sum(x[: k + 1]) for k in range(len(x))]\n"
            "running([1, 2]) / 0"
        ),
        "answer-own-sums": "own_total, own_mean = 7, 7",
        "check-own-sums": "print('1.3 own_sums: right, 2 of 2 points.')",
    }
    products = {"answer-next-factor": "ratio = n"}
    said = []
    for unit, answers, gone in [
        ("01_sums", sums, ("check-square-sum",)),
        ("02_products", products, ("answer-running-products",)),
    ]:
        code, out, err = course_check(
            submission(tmp_path_factory.mktemp("odd"), unit, answers, gone), cwd=SMALL
        )
        assert code == 1, err
        said.append(out)
    return "\n".join(said)


def said(out, exercise):
    (line,) = [line for line in out.splitlines() if line.startswith(f"{exercise} ")]
    return " ".join(line.removeprefix(exercise).split())


def test_it_is_said_that_there_is_no_sandbox(odd):
    assert odd.index(checking.WARNING) < odd.index("1.1 even_sum")


def test_a_right_answer_in_another_form_is_green_whatever_it_prints(odd):
    assert said(odd, "1.2 running_sums").startswith("green right, 3 of 3 points.")


def test_a_later_error_in_its_cell_costs_nothing_and_is_told(odd):
    assert "before it, answer-running-sums raised TypeError" in said(odd, "1.2 running_sums")


def test_a_wrong_answer_is_red_with_the_words_of_the_check(odd):
    assert said(odd, "2.1 next_factor").startswith("red wrong, 0 of 1 point. At n =")


def test_an_answer_that_is_no_python_is_red_and_costs_nobody_else(odd):
    assert said(odd, "1.1 even_sum").startswith("red NameError: name 'total'")
    assert "before it, answer-even-sum raised SyntaxError" in odd
    assert said(odd, "1.4 square_sum").startswith("green right, 2 of 2 points.")


def test_a_missing_answer_is_a_blank_one(odd):
    assert said(odd, "2.2 running_products").startswith("red not attempted, 0 of 2 points.")


def test_checks_are_ours_whatever_the_submission_did_to_them(odd):
    assert said(odd, "1.3 own_sums").startswith("red wrong, 0 of 2 points.")


def test_a_student_with_numbers_of_their_own_is_green_by_our_saved_verdicts(tmp_path):
    path = submission(tmp_path, "01_sums", {"student": 'student = "ada@example.org"'})
    code, out, err = course_check(path, cwd=SMALL)
    assert code == 0, out + err
    assert said(out, "1.3 own_sums").startswith("green right, 2 of 2 points.")


# -- which is which -------------------------------------------------------------------------------


def test_lectures_and_solutions_are_ours_and_all_else_is_a_submission(tmp_path):
    assert is_ours(SMALL / "notebooks" / "01_sums.ipynb", SMALL)
    assert is_ours(SMALL / "solutions" / "01_sums.ipynb", SMALL)
    assert not is_ours(SMALL / "exercises" / "01_sums.ipynb", SMALL)
    assert not is_ours(tmp_path / "01_sums.ipynb", SMALL)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("x.ipynb", [Cell("answer-square-sum", "")]),
        ("x.ipynb", [Cell("", "check.own_sums(0, 1, 2)")]),
        ("x.ipynb", [Cell("answer-even-sum", ""), Cell("check-own-sums", "")]),
        ("ada/01_sums.ipynb", []),
        ("ada_01_sums_late.ipynb", [Cell("one", "1")]),
        ("02_products.ipynb", [Cell("answer-square-sum", "")]),
    ],
)
def test_a_submission_is_known_by_its_checks_and_else_by_its_name(in_small_course, name, cells):
    assert checking._solution_of(Path(name), cells, SMALL).stem == "01_sums"


def test_a_notebook_of_no_unit_gets_a_sentence(in_small_course):
    with pytest.raises(CourseError, match=r"belongs to no unit: .* 01_sums"):
        checking._solution_of(Path("x.ipynb"), [Cell("one", "1")], SMALL)


def test_a_file_that_is_no_notebook_gets_a_sentence_and_runs_nothing(in_small_course, tmp_path):
    path = tmp_path / "01_sums.ipynb"
    path.write_text("half a note")
    with pytest.raises(CourseError, match=r"01_sums\.ipynb: the file is no notebook"):
        check_submission(path, SMALL)


def test_what_nbval_runs_has_our_checks_with_our_saved_outputs(in_small_course):
    solution = read_solution(SMALL / "solutions" / "01_sums.ipynb")
    made = under_our_checks(solution, assemble(asked(solution), [Cell("", "total = 1")]))
    ours = [cell for cell in solution.notebook.cells if role(cell) is Role.CHECK]
    assert [cell for cell in made.cells if role(cell) is Role.CHECK] == ours
    assert as_text(made)  # sound
