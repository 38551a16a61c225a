"""What is run for a submission, whatever was done to its cells."""

import json

import pytest

from classroom.grading.assembly import assemble
from classroom.grading.submitted import Cell, submitted_cells
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
    assert run(*(c for c in SUBMITTED if c.id != "check-one")) == (USUAL, ())


def with_check(source):
    return [Cell(c.id, source if c.id == "check-one" else c.source) for c in SUBMITTED]


@pytest.mark.parametrize("edited", ["pass", "print('right, 3 of 3')", "((", "check.other(a)"])
def test_what_stands_in_a_check_cell_runs_as_the_students_and_our_check_behind_it(edited):
    order, _ = run(*with_check(edited))
    assert order == [*USUAL[:4], edited, *USUAL[4:]]


def test_a_check_that_was_only_formatted_anew_is_not_edited():
    assert run(*with_check("check.one(student,a)  # mine")) == (USUAL, ())


def calls(*cells):
    steps = assemble(OURS, cells).steps
    return {step.check.exercise: step.check for step in steps if step.check}


@pytest.mark.parametrize(
    ("call", "check"),
    [
        ("check.one(student, 42)", Check("one", ("student", "42"))),
        ("check.one(7, a + 1)", Check("one", ("7", "a + 1"))),
        ("check.one(student)", Check("one", ("student", "a"))),
        ("check.one(student, answer=a2)", Check("one", ("student",), (("answer", "a2"),))),
        ("check.one(student, await b)", Check("one", ("student", "a"))),
        ("check.one(*both)", Check("one", ("student", "a"))),
        ("if a: check.one(student, z)", Check("one", ("student", "a"))),
        ("for a in range(9): check.one(student, a)", Check("one", ("student", "a"))),
        ("f = lambda a: check.one(0, a)", Check("one", ("student", "a"))),
    ],
)
def test_a_bare_call_counts_with_its_own_arguments_and_others_are_noted_when_they_run(call, check):
    assert calls(*with_check(call))["one"] == check


MERGED = {
    "the answer typed into the check cell": [
        *SUBMITTED[:3], Cell("answer-one", "a = ____"),
        Cell("check-one", "# mine\na = 1\ncheck.one(student, a)"), *SUBMITTED[5:],
    ],
    "answer and check in the cell of the answer": [
        *SUBMITTED[:3], Cell("answer-one", "a = 1\ncheck.one(student, a)"), *SUBMITTED[5:],
    ],
    "on one line": [
        *SUBMITTED[:3], Cell("check-one", "a = 1; check.one(student, a)"), *SUBMITTED[5:],
    ],
    "both exercises in one cell": [
        *SUBMITTED[:3],
        Cell("answer-one", "a = 1\ncheck.one(student, a)\nb = 2\ncheck.two(b)"),
    ],
    "everything in one cell without an id": [
        Cell("", "\n".join(cell.source for cell in SUBMITTED[:-1])),
    ],
    "an answer in two cells": [
        *SUBMITTED[:4], Cell("x", "a = a"), *SUBMITTED[4:],
    ],
    "given code merged with the answer": [
        *SUBMITTED[:2], Cell("numbers", "x = student\na = 1\ncheck.one(student, a)"),
        *SUBMITTED[5:],
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", MERGED)
def test_merged_and_split_cells_run_as_they_stand(kind):
    names = {"student": 0, "____": object(), "a": None}
    seen = {}
    for step in assemble(OURS, MERGED[kind]).steps:
        if step.check:
            seen[step.check.exercise] = [eval(x, names) for x in step.check.arguments]
        elif "numpy" not in step.source or "\n" in step.source:
            exec(step.source, names)
    assert seen == {"one": [7, 1], "two": [2]}


def test_cells_in_another_order_run_as_they_stand():
    order, _ = run(*SUBMITTED[:3], *SUBMITTED[5:7], *SUBMITTED[3:5])
    assert order == [*USUAL[:3], "b = 2", "TWO", "a = 1", "ONE"]


def test_given_code_runs_before_what_needs_it_wherever_it_was_moved():
    order, _ = run(*SUBMITTED[3:7], *SUBMITTED[:3])
    assert order == [*USUAL, *USUAL[:3]]  # and again where it stands
    order, _ = run(*SUBMITTED[3:])
    assert order == ["student = 0", *(part for part in USUAL if part != "student = 7")]


def test_the_last_call_counts_and_shows_what_was_typed_for_it():
    again = [Cell("x", "a = 3"), Cell("y", "check.one(student, a)")]
    steps = assemble(OURS, [*SUBMITTED, *again]).steps
    order = [s.check.exercise.upper() if s.check else s.source for s in steps]
    assert order == [*USUAL, "a = 3", "ONE"]
    assert [step.source for step in steps if "one" in step.answers] == ["a = 1", "a = 3"]
    assert [step.source for step in steps if "two" in step.answers] == ["b = 2"]


def test_given_code_below_an_own_cell_runs_behind_it_too():
    order, _ = run(Cell("x", "x = None"), *SUBMITTED)
    assert order == [*USUAL[:3], "x = None", *USUAL]


def test_lines_are_counted_as_python_counts_them():
    order, _ = run(*with_check("# a\x0cb\u2028c\nmine = 1\ncheck.one(student, a)\nyours = 2"))
    assert order[4:7] == ["# a\x0cb\u2028c\nmine = 1\n", "ONE", "yours = 2\n"]


def test_an_answer_below_its_check_is_judged_behind_it():
    order, _ = run(*SUBMITTED[:3], SUBMITTED[4], SUBMITTED[3], *SUBMITTED[5:])
    assert order == USUAL


def test_an_id_that_is_written_in_another_cell_holds():
    order, _ = run(Cell("imports", "import numpy as np\nstudent = 9"), *SUBMITTED[2:])
    assert order.index("student = 0") < order.index("import numpy as np\nstudent = 9")


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


LINE = "x" * 25_000_000
READABLE = {
    "format 2": json.dumps({"nbformat": 2, "worksheets": [
        {"cells": [{"cell_type": "code", "input": "x = 1\ny = 2"}]}]}).encode(),
    "a format in other words": notebook(nbformat="4"),
    "a format with a point": notebook(nbformat=4.0),
    "no format": notebook().replace(b'"nbformat": 4, ', b""),
    "something behind it": notebook() + b"\n\x00 more",
    "itself behind it": notebook() * 2,
    "a mark before it": b"\xef\xbb\xbf\n" + notebook(),
    "a tab within a text": notebook(metadata={"name": "a b"}).replace(b"a b", b"a\tb"),
    "UTF-16": notebook().decode().encode("utf-16"),
    "a cell that is none": notebook().replace(b'"]}]', b'"]}, null]'),
    "much metadata": notebook(metadata={"history": LINE}),
    "much metadata of a cell": notebook().replace(
        b'"id"', b'"metadata": {"x": "' + LINE.encode() + b'"}, "id"'),
    "a picture within a text": notebook(cells=[
        {"cell_type": "markdown", "source": LINE}, *json.loads(notebook())["cells"]]),
    "very many short outputs": notebook().replace(
        b'"id"', b'"outputs": [' + b", ".join([b'{"text": ["l"]}'] * 400_000) + b'], "id"'),
}  # fmt: skip


@pytest.mark.parametrize("kind", READABLE)
def test_a_notebook_whose_cells_can_be_told_is_read(kind):
    assert [cell.source for cell in submitted_cells(READABLE[kind])] == ["x = 1\ny = 2"]


BROKEN = {
    "empty file": (b"", "it is empty"),
    "cut off": (notebook()[:40], "JSON"),
    "no text at all": (bytes(range(256)), "UTF-8"),
    "in another encoding": ('{"cells": ["ü"]}'.encode("latin-1"), "UTF-8"),
    "a merge not finished": (b'{\n<<<<<<< HEAD\n "cells": []}', "marks of a merge"),
    "deeply nested": (b"[" * 100_000, "JSON"),
    "a list": (b"[]", "no object"),
    "a number": (b"3", "no object"),
    "format 3 without cells": (b'{"nbformat": 3, "worksheets": []}', "list of cells"),
    "format 1": (notebook(nbformat=1), "version 1"),
    "format 2 without cells": (b'{"nbformat": 2, "worksheets": []}', "list of cells"),
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
