"""What is run for a submission, whatever was done to its cells."""

import json

import pytest

from classroom.grading.assembly import Cell, assemble, submitted_cells
from classroom.roles import Check, Ours, Role, called_check
from classroom.solutions import asked, read_solution
from selfcheck.files import CourseError
from tests.places import our_notebooks

OURS = [
    Ours("imports", Role.GIVEN, "import numpy as np"),
    Ours("student", Role.STUDENT, "student = 0"),
    Ours("numbers", Role.GIVEN, "x = student"),
    Ours("answer-one", Role.ANSWER, ""),
    Ours("check-one", Role.CHECK, "check.one(student, a)"),
    Ours("answer-two", Role.ANSWER, ""),
    Ours("check-two", Role.CHECK, "check.two(b)"),
]
SUBMITTED = [
    Cell("imports", "import numpy as np"),
    Cell("student", "student = 7"),
    Cell("numbers", "x = student"),
    Cell("answer-one", "a = 1"),
    Cell("check-one", "check.one(student, a)"),
    Cell("answer-two", "b = 2"),
    Cell("check-two", "check.two(b)"),
    Cell("scoreboard", "scoreboard()"),
]


def run(*cells):
    """What is run, in order: the student's cells as (source), checks as their exercise."""
    assembly = assemble(OURS, cells)
    order = [step.check.exercise.upper() if step.check else step.source for step in assembly.steps]
    return order, assembly.notes


USUAL = ["import numpy as np", "student = 7", "x = student", "a = 1", "ONE", "b = 2", "TWO"]


def test_a_submission_as_handed_out_runs_as_it_stands():
    assert run(*SUBMITTED) == (USUAL, ())


def test_a_deleted_check_is_restored():
    order, notes = run(*(c for c in SUBMITTED if c.id != "check-one"))
    assert order == USUAL
    assert notes == ("The cell check-one was deleted; it is restored.",)


@pytest.mark.parametrize(
    "edited", ["check.one(student, 42)", "pass", "check.two(a)", "print('right, 3 of 3')", "(("]
)
def test_an_edited_check_is_restored(edited):
    cells = [Cell(c.id, edited if c.id == "check-one" else c.source) for c in SUBMITTED]
    order, notes = run(*cells)
    assert order == USUAL
    assert notes == ("The cell check-one was edited; it is restored.",)


def test_a_check_that_was_only_formatted_anew_is_not_edited():
    cells = [
        Cell(c.id, "check.one(student,a)  # mine" if c.id == "check-one" else c.source)
        for c in SUBMITTED
    ]
    assert run(*cells) == (USUAL, ())


def test_cells_in_another_order_run_in_the_instructors():
    order, notes = run(*SUBMITTED[:3], *SUBMITTED[5:7], *SUBMITTED[3:5])
    assert order == USUAL
    assert "another order" in notes[0]


def test_a_check_that_stands_there_twice_counts_once():
    order, notes = run(*SUBMITTED, Cell("check-one", "check.one(student, a)"))
    assert order == USUAL
    assert "twice" in notes[0]


def test_a_second_cell_with_the_id_of_an_answer_runs_behind_the_first():
    order, _ = run(*SUBMITTED[:4], Cell("answer-one", "a = 3"), *SUBMITTED[4:])
    assert order == [*USUAL[:4], "a = 3", *USUAL[4:]]


def test_a_missing_answer_is_missing_and_nothing_else():
    order, notes = run(*(c for c in SUBMITTED if c.id != "answer-two"))
    assert order == [part for part in USUAL if part != "b = 2"]
    assert notes == ("The cell answer-two is missing.",)


def test_a_students_own_cells_stay_where_they_are():
    own = Cell("f00", "help = 1")
    order, notes = run(*SUBMITTED[:3], own, *SUBMITTED[3:])
    assert order == [*USUAL[:3], "help = 1", *USUAL[3:]]
    assert notes == ()


def test_an_edited_cell_of_ours_runs_behind_ours():
    more = Cell("imports", "import numpy as np\nimport math")
    order, notes = run(more, *SUBMITTED[1:])
    assert order == ["import numpy as np", more.source, *USUAL[1:]]
    assert "edited" in notes[0]


def test_a_notebook_that_lost_its_ids_is_read_by_its_checks():
    order, notes = run(*(Cell("", c.source) for c in SUBMITTED if c.id != "scoreboard"))
    assert order == USUAL
    assert notes == ()


def test_a_check_is_one_call_and_nothing_else():
    assert called_check("check.weights(weights, 2 * t)") == Check("weights", ("weights", "2 * t"))
    for source in (
        "",
        "check.weights",
        "x = check.a(1)",
        "check.a(1); 1",
        "a.b(1)",
        "check.a(b=1)",
    ):
        assert called_check(source) is None


def notebook(**parts):
    cell = {"cell_type": "code", "id": "a", "source": ["x = 1\n", "y = 2"]}
    return json.dumps({"nbformat": 4, "cells": [cell], **parts}).encode()


def test_code_cells_are_read_with_or_without_ids():
    assert submitted_cells(notebook()) == [Cell("a", "x = 1\ny = 2")]
    bare = {"cell_type": "code", "source": "x = 1"}
    assert submitted_cells(notebook(cells=[bare, {"cell_type": "raw"}])) == [Cell("", "x = 1")]


BROKEN = {
    "empty file": (b"", "JSON"),
    "cut off": (notebook()[:40], "JSON"),
    "no text at all": (bytes(range(256)), "JSON"),
    "deeply nested": (b"[" * 100_000, "JSON"),
    "a list": (b"[]", "no object"),
    "a number": (b"3", "no object"),
    "format 3": (b'{"nbformat": 3, "worksheets": []}', "version 3"),
    "format 5": (notebook(nbformat=5), "version 5"),
    "no format": (b'{"cells": []}', "unknown"),
    "format in words": (notebook(nbformat="four"), "unknown"),
    "no cells": (b'{"nbformat": 4}', "list of cells"),
    "cells that are none": (notebook(cells=[1, 2]), "list of cells"),
    "no code": (notebook(cells=[{"cell_type": "markdown", "source": "x"}]), "no code cells"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_notebook_gets_a_sentence(kind):
    data, says = BROKEN[kind]
    with pytest.raises(CourseError, match=says):
        submitted_cells(data)


def test_odd_cells_in_a_notebook_do_not_hurt():
    odd = [{"cell_type": "code", "id": 7, "source": [1, "x"]}, {"cell_type": "code"}]
    assert submitted_cells(notebook(cells=odd)) == [Cell("", "x"), Cell("", "")]


def test_an_exercise_as_released_is_matched_without_remarks():
    for path in our_notebooks("exercises"):
        ours = asked(read_solution(path.parents[1] / "solutions" / path.name))
        assert assemble(ours, submitted_cells(path.read_bytes())).notes == ()
