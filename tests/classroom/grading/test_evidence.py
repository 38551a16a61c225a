"""What is said of an answer by the file it stands in: cards that are saved, and what was typed."""

import json

import pytest

from classroom.grading.evidence import with_evidence
from classroom.grading.records import Line, Result
from classroom.grading.submitted import read_submitted

CARD = "1.1 even_sum: right, 2 of 2 points. So."
BOARD = "\n1.1   even_sum      2 of 2  right\nTotal: 2 of 9 points"
STUB = "total = ____"


def cell(source, count=None, shows="", cell_id=""):
    output = {"output_type": "execute_result", "data": {"text/plain": shows}}
    return {
        "cell_type": "code", "id": cell_id, "source": source, "execution_count": count,
        "outputs": [output] if shows else [],
    }  # fmt: skip


def judged(*cells, outcome="wrong", answer="total = n", earned=0, says=""):
    """The result of such a notebook, after what its file says."""
    made = read_submitted(json.dumps({"nbformat": 4, "cells": cells}).encode())
    result = Result("1.1", "even_sum", outcome, earned, 2, says, answer=answer)
    return with_evidence(result, made, STUB)


ANSWER, CHECK = "total = n", "check.even_sum(total)"
SHOWN = {
    "the check ran last": [cell(ANSWER, 4), cell(CHECK, 5, CARD)],
    "nothing has a number": [cell(ANSWER), cell(CHECK, None, CARD)],
    "another cell ran last": [cell("x = 1", 9), cell(ANSWER, 4), cell(CHECK, 5, CARD)],
    "the name is used again below": [
        cell(ANSWER, 4), cell(CHECK, 5, CARD), cell("total = 3", 9)
    ],
    "in one cell": [cell(f"{ANSWER}\n{CHECK}", 5, CARD)],
    "of two cards the last": [
        cell(ANSWER, 7), cell(CHECK, 8, CARD), cell(CHECK, 5, CARD.replace("right, 2", "wrong, 0"))
    ],
    "the scoreboard alone": [cell(ANSWER, 4), cell(CHECK, 5), cell("scoreboard()", 6, BOARD)],
}  # fmt: skip
OLDER = {
    "the scoreboard is older": [
        cell(ANSWER, 6), cell(CHECK, 4), cell("scoreboard()", 5, BOARD),
    ],
    "the answer ran again": [cell(ANSWER, 6), cell(CHECK, 5, CARD)],
    "the answer ran in another session": [cell(ANSWER, 1), cell(CHECK, None, CARD)],
    "a part of it ran again": [cell("n_ = n", 2), cell("total = n_", 6), cell(CHECK, 5, CARD)],
}  # fmt: skip


@pytest.mark.parametrize("kind", SHOWN)
def test_a_card_that_shows_more_than_the_grade_is_evidence(kind):
    assert judged(*SHOWN[kind]).shown == (2, 2)
    assert judged(*SHOWN[kind], outcome="right", earned=2).shown == ()


@pytest.mark.parametrize("kind", OLDER)
def test_a_card_on_an_earlier_answer_is_none(kind):
    assert judged(*OLDER[kind]).shown == ()
    assert judged(*OLDER[kind], outcome="not attempted", answer="total = 2 * ____").shown == ()


def test_a_card_that_is_newer_than_the_scoreboard_holds():
    card = cell(CHECK, 7, CARD.replace("right, 2", "wrong, 0"))
    assert judged(cell(ANSWER, 4), card, cell("scoreboard()", 5, BOARD)).shown == ()


@pytest.mark.parametrize("kind", OLDER)
def test_it_is_evidence_where_nothing_else_tells_what_the_answer_earns(kind):
    assert judged(*OLDER[kind], outcome="could not be checked").shown == (2, 2)


RAISED = "Your cell raised NameError: name 'm' is not defined. So there is no `total`."
NONE = "1.1 even_sum: could not be checked, 0 of 2 points. So."


def raising(source, name, value):
    error = {"output_type": "error", "ename": name, "evalue": value, "traceback": []}
    return {**cell(source, 4), "outputs": [error]}


AS_SHOWN = {
    "the cell shows the error": [raising("total = m", "NameError", "name 'm' is not defined")],
    "the card says so": [cell("total = m", 4), cell(CHECK, 5, NONE)],
    "the card shows no points": [
        cell("total = m", 4), cell(CHECK, 5, CARD.replace("right, 2", "wrong, 0"))
    ],
}  # fmt: skip
NOT_SHOWN = {
    "nothing is saved": [cell("total = m")],
    "another kind of error": [raising("total = m", "NameError", "")],
    "the scoreboard says that it was not run": [
        cell("total = m"),
        cell("scoreboard()", 6, BOARD.replace("2 of 2  right", "0 of 2  not run yet")),
    ],
    "another error": [raising("total = m", "NameError", "name 'k' is not defined")],
    "a card on an earlier answer": [cell("total = m", 6), cell(CHECK, 5, NONE)],
}


SAME_ERROR = {  # as the notebook has it, and as it is said here
    "SyntaxError: expected ':' (1731387.py, line 4)": "SyntaxError: expected ':', in line 4",
    "SyntaxError: incomplete input (17.py, line 9)": "SyntaxError: '(' was never closed, in line 2",
    "SyntaxError: incomplete input (17.py, line 1)": "IndentationError: no block, in line 1",
    "IndentationError: unexpected indent (17.py, line 2)": "IndentationError: indent, in line 2",
    "OSError: [Errno 2] No such file: '/a/x y.csv'": "OSError: [Errno 2] No such file: '/x y.csv'",
    "TypeError: bad <function f at 0x7fe21aa0>": "TypeError: bad <function f at 0x55d0>",
    "RuntimeError: took 0.25 s": "RuntimeError: took 0.31 s",
    f"ValueError: {'x' * 5000}": f"ValueError: {'x' * 199}…",
    "AssertionError: ": "AssertionError",
}  # fmt: skip
OTHER_ERROR = {
    "ValueError: ": "ValueError: bad",
    "KeyError: 'x'": "KeyError: 'y'",
    "SyntaxError: incomplete input (17.py, line 9)  ": "NameError: name 'x' is not defined",
    "NameError: name 'x1' is not defined": "NameError: name 'x2' is not defined",
}


@pytest.mark.parametrize("error", [*SAME_ERROR, *OTHER_ERROR])
def test_an_error_is_the_same_wherever_it_was_run(error):
    said = (SAME_ERROR | OTHER_ERROR)[error]
    shown = raising("total = m", *error.split(": ", 1))
    says = f"Your cell raised {said}. So there is no `total`."
    result = judged(shown, outcome="could not be checked", says=says)
    assert bool(Line(result).to_look_at) == (error in OTHER_ERROR)


def test_a_scoreboard_that_was_printed_after_a_restart_hides_no_card():
    board = cell("scoreboard()", 6, BOARD.replace("2 of 2  right", "0 of 2  not run yet"))
    assert judged(cell(ANSWER, 4), cell(CHECK, 5, CARD), board).shown == (2, 2)


def test_where_parts_are_blank_the_verdict_names_them_as_at_home():
    typed, says = "total = 2\nhalf = ____", "Half: still blank."
    result = judged(cell(typed), outcome="not attempted", answer=typed, earned=1, says=says)
    assert (result.outcome, result.says, result.earned) == ("not attempted", says, 1)


@pytest.mark.parametrize("kind", [*AS_SHOWN, *NOT_SHOWN])
def test_what_could_not_be_checked_is_looked_at_unless_the_file_shows_as_much(kind):
    cells = (AS_SHOWN | NOT_SHOWN)[kind]
    result = judged(*cells, outcome="could not be checked", says=RAISED)
    assert bool(Line(result).to_look_at) == (kind in NOT_SHOWN)
    assert (result.outcome, result.shown) == ("could not be checked", ())


NOTHING = {
    "": "",
    "pass": "",
    "...": "",
    "# how?": "",
    "# 2 + 4 + ... = n(n + 1)": "",
    "# total = ____": "",
    "total = ____  # how?": "",
    "total = 2 * ____": "A blank (`____`) is left in what you typed",
    "total = half * n": "uses something that is still blank",
    "# total = n**2 + n": "What you typed is commented out",
    "#total = n**2\n\n#total += n": "What you typed is commented out",
}


@pytest.mark.parametrize("typed", NOTHING)
def test_where_there_is_nothing_to_check_it_is_said_why_and_nobody_has_to_look(typed):
    result = judged(cell(typed), outcome="not attempted", answer=typed)
    assert NOTHING[typed] in result.says
    assert result.outcome == ("could not be checked" if NOTHING[typed] else "not attempted")
    assert result.answer == typed
    assert not Line(result).to_look_at
