"""Who hands in more than the sheet: what counts is the file that holds the unit's answers."""

import json
import os

import pytest

from classroom.grading.asked import Solutions
from classroom.grading.contents import Contents
from classroom.grading.submissions import find
from classroom.grading.submitted import Cell, submitted_cells
from selfcheck.files import CourseError
from selfcheck.sealed import solved
from tests.classroom.grading.making import notebook, packed
from tests.places import SMALL

pytestmark = pytest.mark.usefixtures("small_course")

UNIT, OTHER = "01_sums", "02_products"
CALLS = [("", "import numpy as np"), ("", "from small_course.checks import sums as check")]


def ours(name):
    return (SMALL / name).read_bytes()


def as_file(cells):
    return json.dumps(notebook(cells)).encode()


SHEET, BLANK = ours(f"solutions/{UNIT}.ipynb"), ours(f"exercises/{UNIT}.ipynb")
OTHER_SHEET, OTHER_BLANK = ours(f"solutions/{OTHER}.ipynb"), ours(f"exercises/{OTHER}.ipynb")
LECTURE, OTHER_LECTURE = ours(f"notebooks/{UNIT}.ipynb"), ours(f"notebooks/{OTHER}.ipynb")
START = ours("notebooks/00_start_here.ipynb")
SCRATCH = as_file([("a", "print(1)")])
TRIAL = as_file([*CALLS, ("c", "check.even_sum('n**2 + n')")])
BROKEN = b'{"nbformat": 4, "cells": ['
EDITED_START = as_file([*CALLS, ("", "check.even_sum(7)"), ("", "2 + 2"), ("", "print('hello')")])
WITHOUT_IDS = as_file([("", cell.source) for cell in submitted_cells(SHEET)])


def as_written(*changes, without=""):
    """The solved sheet that lost its ids, with other words in it."""
    kept = [c.source for c in submitted_cells(SHEET) if not (without and without in c.id)]
    for old, new in changes:
        kept = [source.replace(old, new) for source in kept]
    return as_file([("", source) for source in kept])


IMPORT = "from small_course.checks import sums as check"
IN_OTHER_WORDS = {
    "another name for the checks": as_written(("as check", "as c"), ("check.", "c.")),
    "checks imported one by one": as_written(
        (IMPORT, "from small_course.checks.sums import *"), ("check.", "")
    ),
    "checks by their full name": as_written(
        (IMPORT, "import small_course.checks.sums"), ("check.", "small_course.checks.sums.")
    ),
    "checks called by a function": as_written(
        ("check.even_sum(", "go('even_sum', "), ("check.running_sums(", "go('running_sums', "),
        ("check.own_sums(", "go('own_sums', "), ("check.square_sum(", "go('square_sum', "),
    ),
    "without checks": as_written(without="check-"),
    "timed checks": as_written(("check.", "%time check.")),
    "in one cell": as_file([("", "\n\n".join(c.source for c in submitted_cells(SHEET)))]),
}  # fmt: skip
BLANK_WITH_ID = as_file(
    [(c.id, "student = 7" if c.id == "student" else c.source) for c in submitted_cells(BLANK)]
)
BLANK_WITHOUT_IDS = as_file([("", cell.source) for cell in submitted_cells(BLANK)])
SHOWN = as_file([(cell.id, solved(cell.source)) for cell in submitted_cells(SHEET)])
DONE_THERE = as_file(
    [("", cell.source) for data in (LECTURE, SHEET) for cell in submitted_cells(data)]
)
GIVEN = [(cell.id, cell.source) for cell in submitted_cells(BLANK)]
ANSWER = ("answer-even-sum", "total = 1")
TRY = as_file([*GIVEN, ANSWER])
AS_GIVEN = {
    "an empty cell": [*GIVEN, ("x", "")],
    "a comment": [("x", "# Ada Lovelace, 12345"), *GIVEN],
    "a hint": [*GIVEN, ("x", "check.even_sum.hint()")],
    "help": [*GIVEN, ("x", "check.even_sum?")],
    "something tried": [*GIVEN, ("x", "print(2 + 2)")],
    "an installation": [("x", "!pip install sympy"), *GIVEN],
    "an answer deleted": [cell for cell in GIVEN if cell[0] != "answer-even-sum"],
    "Windows' lines": [(name, source.replace("\n", "\r\n")) for name, source in GIVEN],
    "blanks at the ends": [(name, source.replace("\n", "  \n")) for name, source in GIVEN],
    "other quotes": [(name, source.replace('"', "'")) for name, source in GIVEN],
    "other imports": [(name, source.replace("import sympy", "import sympy, math"))
                      for name, source in GIVEN],
}  # fmt: skip
COURSE = {
    f"exercises/{UNIT}.ipynb": SHEET,
    f"exercises/{OTHER}.ipynb": OTHER_BLANK,
    f"notebooks/{UNIT}.ipynb": LECTURE,
    f"notebooks/{OTHER}.ipynb": OTHER_LECTURE,
    "notebooks/00_start_here.ipynb": START,
}


def within(folder, files):
    return {f"{folder}/{name}": data for name, data in files.items()}


def lay(folder, files, order="alike"):
    """The files; written all at once, or each a second after the one before, or backward."""
    for place, (name, data) in enumerate(files.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        step = {"alike": 0, "forward": 1, "backward": -1}[order]
        os.utime(path, (1e9 + step * place,) * 2)
    return folder


def found(source, only=None):
    contents = Solutions(SMALL).contents()
    return find(source, contents.units, only, contents=contents)


def counting(class_):
    """The files that are graded, by student and unit."""
    return {(s.student, s.unit): s.file for s in class_.submissions if not s.problem}


HAND_INS = {
    "a clone": (within("hw1-ada", COURSE), f"hw1-ada/exercises/{UNIT}.ipynb"),
    "a home folder": (
        within("ada/course", COURSE) | {"ada/.bashrc": b"", "ada/photos/x.jpg": b"x"},
        f"ada/course/exercises/{UNIT}.ipynb",
    ),
    "the folder as a zip": (
        {"ada_1_assignsubmission_file_/course.zip": packed(within("course", COURSE))},
        f"ada_1_assignsubmission_file_/course.zip/course/exercises/{UNIT}.ipynb",
    ),
    "sheet and lecture side by side": (
        {f"ada/{UNIT}.ipynb": SHEET, f"ada/{UNIT} lecture.ipynb": LECTURE},
        f"ada/{UNIT}.ipynb",
    ),
    "sheet and lecture of one name": (
        {f"ada/{UNIT}.ipynb": SHEET, f"ada/x/{UNIT}.ipynb": LECTURE},
        f"ada/{UNIT}.ipynb",
    ),
    "sheet and start page": (
        {f"ada/{UNIT}.ipynb": SHEET, "ada/00_start_here.ipynb": START},
        f"ada/{UNIT}.ipynb",
    ),
    "sheet and a start page that was played with": (
        {f"ada/{UNIT}.ipynb": SHEET, f"ada/{UNIT} start.ipynb": EDITED_START},
        f"ada/{UNIT}.ipynb",
    ),
    "a sheet that was done in the lecture": (
        {f"ada/{UNIT}.ipynb": DONE_THERE, "ada/00_start_here.ipynb": START},
        f"ada/{UNIT}.ipynb",
    ),
    "sheet and scratch files": (
        {f"ada/{UNIT}.ipynb": SHEET, "ada/Untitled.ipynb": SCRATCH, "ada/Untitled1.ipynb": TRIAL},
        f"ada/{UNIT}.ipynb",
    ),
    "a scratch file under the unit's name": (
        {"ada/mine.ipynb": SHEET, f"ada/{UNIT}.ipynb": SCRATCH},
        "ada/mine.ipynb",
    ),
    "the sheet as it was given out, beside the own work": (
        {f"ada/exercises/{UNIT}.ipynb": BLANK, f"ada/work/{UNIT}.ipynb": SHEET},
        f"ada/work/{UNIT}.ipynb",
    ),
    "the course's solution, unpacked there later": (
        {f"ada/exercises/{UNIT}.ipynb": TRY, f"ada/solutions/{UNIT}.ipynb": SHOWN},
        f"ada/exercises/{UNIT}.ipynb",
    ),
    "the course's solution, and nothing done": (
        {f"ada/exercises/{UNIT}.ipynb": BLANK, f"ada/solutions/{UNIT}.ipynb": SHOWN},
        f"ada/exercises/{UNIT}.ipynb",
    ),
    **{
        f"a fresh copy with {what}": (
            {"ada/mine.ipynb": TRY, f"ada/{UNIT}.ipynb": as_file(cells)},
            "ada/mine.ipynb",
        )
        for what, cells in AS_GIVEN.items()
    },
    "a scratch file with cells of the sheet": (
        {"ada/mine.ipynb": TRY, f"ada/{UNIT}.ipynb": as_file([*GIVEN[:2], ANSWER])},
        "ada/mine.ipynb",
    ),
    "the tenth version": (
        {f"ada/HW/Version {k}/{UNIT}.ipynb": TRY for k in (10, 9)},
        f"ada/HW/Version 10/{UNIT}.ipynb",
    ),
    "a broken copy": (
        {f"ada/{UNIT}.ipynb": SHEET, f"ada/{UNIT} (1).ipynb": BROKEN},
        f"ada/{UNIT}.ipynb",
    ),
    "sheets of two units": (
        {f"ada/{UNIT}.ipynb": SHEET, f"ada/{OTHER}.ipynb": OTHER_BLANK},
        f"ada/{UNIT}.ipynb",
    ),
    "a fresh copy with an id, to look something up": (
        {"ada/mine.ipynb": SHEET, f"ada/{UNIT}.ipynb": BLANK_WITH_ID},
        "ada/mine.ipynb",
    ),
    "a fresh copy without ids": (
        {"ada/mine.ipynb": WITHOUT_IDS, f"ada/{UNIT}.ipynb": BLANK_WITHOUT_IDS},
        "ada/mine.ipynb",
    ),
    **{
        f"{how}, and much else": (
            {
                "ada/mine.ipynb": data,
                f"ada/{UNIT}.ipynb": BLANK,
                "ada/Untitled.ipynb": SCRATCH,
                "ada/Untitled1.ipynb": TRIAL,
                **within("ada", {n: COURSE[n] for n in COURSE if "notebooks" in n}),
            },
            "ada/mine.ipynb",
        )
        for how, data in IN_OTHER_WORDS.items()
    },
    "without ids, and a lecture": (
        {"ada/hw.ipynb": WITHOUT_IDS, f"ada/{UNIT}.ipynb": LECTURE},
        "ada/hw.ipynb",
    ),
}


@pytest.mark.parametrize("order", ["alike", "forward", "backward"])
@pytest.mark.parametrize("only", [None, UNIT])
@pytest.mark.parametrize("kind", HAND_INS)
def test_the_sheet_counts_whatever_else_lies_there_and_whenever_it_was_written(
    tmp_path, kind, only, order
):
    files, counts = HAND_INS[kind]
    class_ = found(lay(tmp_path, files, order), only)
    mine = {file for (_, unit), file in counting(class_).items() if unit == UNIT}
    assert mine == {counts}
    assert not [s for s in class_.submissions if s.problem and s.unit == UNIT]
    assert not [line for line in class_.reading if "several students" in line]


def test_a_sheet_in_several_files_is_told(tmp_path):
    cells = [cell for cell in submitted_cells(SHEET) if cell.id.startswith(("answer", "check"))]
    files = {f"ada/ex{k}.ipynb": as_file([*CALLS, *cells[k : k + 2]]) for k in (0, 2, 4, 6)}
    class_ = found(lay(tmp_path, files | {f"bob/{UNIT}.ipynb": SHEET}))
    assert [s.student for s in class_.submissions if s.doubt] == ["ada"]


def test_what_stands_in_an_earlier_file_alone_is_told(tmp_path):
    cells = [cell for cell in submitted_cells(SHEET) if cell.id.startswith(("answer", "check"))]
    halves = {f"ada/part{n}.ipynb": as_file([*CALLS, *cells[4 * n : 4 * n + 4]]) for n in (0, 1)}
    ada, _ = found(lay(tmp_path, halves | {f"bob/{UNIT}.ipynb": SHEET})).submissions
    lacks = "ada/part0.ipynb holds even_sum, running_sums, which ada/part1.ipynb has not."
    assert ada.lacks == lacks
    assert lacks in ada.notes


def test_a_sheet_goes_before_a_notebook_of_several_units(tmp_path):
    others = submitted_cells(ours("solutions/02_products.ipynb"))
    together = as_file([*submitted_cells(BLANK), *others])
    files = {f"ada/{UNIT}.ipynb": SHEET, "ada/together.ipynb": together}
    assert counting(found(lay(tmp_path, files, "forward")))["ada", UNIT] == f"ada/{UNIT}.ipynb"


def test_what_is_passed_over_is_named_in_a_line_for_each_kind(tmp_path):
    files = {f"{who}/{name}": data for who in ("ada", "bob") for name, data in COURSE.items()}
    files["ada/Untitled.ipynb"] = SCRATCH
    lines = [line for line in found(lay(tmp_path, files)).reading if "passed over" in line]
    assert len(lines) == 2
    assert "a lecture: ada/notebooks/00_start_here.ipynb" in lines[0]
    assert "(6 in all)" in lines[0]
    assert "without exercises of the course: ada/Untitled.ipynb" in lines[1]


@pytest.mark.parametrize("only", [None, UNIT])
@pytest.mark.parametrize(
    ("data", "what"),
    [(OTHER_SHEET, OTHER), (LECTURE, f"the lecture {UNIT}"), (SCRATCH, "without exercises")],
)
def test_what_bears_the_name_of_a_unit_and_is_none_of_its_sheets_is_named(
    tmp_path, data, what, only
):
    class_ = found(lay(tmp_path, {f"ada_{UNIT}.ipynb": data, f"bob_{UNIT}.ipynb": SHEET}), only)
    (told,) = [s for s in class_.submissions if s.unit == UNIT and s.student == "ada"]
    assert told.problem.startswith("this is")
    assert what in told.problem


def test_a_sheet_under_another_units_name_counts_for_its_own(tmp_path):
    swapped = {f"ada/{UNIT}.ipynb": OTHER_SHEET, f"ada/{OTHER}.ipynb": SHEET}
    class_ = found(lay(tmp_path, swapped))
    files = {("ada", UNIT): f"ada/{OTHER}.ipynb", ("ada", OTHER): f"ada/{UNIT}.ipynb"}
    assert counting(class_) == files
    assert all("is named after" in s.notes[0] for s in class_.submissions)
    assert not [line for line in class_.reading if "passed over" in line]


def two_sheets_in_one():
    one, two = json.loads(SHEET), json.loads(OTHER_SHEET)
    more = [{**cell, "id": f"two-{cell['id']}"} for cell in two["cells"]]
    return json.dumps({**one, "cells": [*one["cells"], *more]}).encode()


@pytest.mark.parametrize("name", ["all.ipynb", f"{UNIT}.ipynb", f"{OTHER}.ipynb"])
@pytest.mark.parametrize("only", [None, UNIT, OTHER])
def test_two_sheets_in_one_notebook_count_for_both_units(tmp_path, name, only):
    class_ = found(lay(tmp_path, {f"ada/{name}": two_sheets_in_one()}), only)
    wanted = {("ada", unit): f"ada/{name}" for unit in (UNIT, OTHER) if only in (None, unit)}
    assert counting(class_) == wanted
    assert name != "all.ipynb" or not any(s.notes for s in class_.submissions)


def test_a_sheet_of_one_unit_goes_before_a_notebook_of_two(tmp_path):
    files = {f"ada/{OTHER}.ipynb": OTHER_SHEET, "ada/later.ipynb": two_sheets_in_one()}
    class_ = found(lay(tmp_path, files, "forward"))
    assert counting(class_)["ada", OTHER] == f"ada/{OTHER}.ipynb"


def test_folders_of_the_course_are_no_students(tmp_path):
    class_ = found(lay(tmp_path, within("ada", COURSE) | within("bob", COURSE)))
    assert {s.student for s in class_.submissions} == {"ada", "bob"}
    class_ = found(lay(tmp_path / "alone", COURSE))
    assert class_.submissions == ()
    assert all("is no student's folder" in line for line in class_.unplaced)


def test_a_layout_changes_nothing_about_what_counts(tmp_path):
    source = lay(tmp_path, within("ada", COURSE))
    contents = Solutions(SMALL).contents()
    class_ = find(source, contents.units, layout="{student}/**", contents=contents)
    assert counting(class_)["ada", UNIT] == f"ada/exercises/{UNIT}.ipynb"


def test_who_has_no_sheet_is_told_what_there_is(tmp_path):
    files = {"ada/Untitled.ipynb": SCRATCH, f"ada/notebooks/{UNIT}.ipynb": LECTURE}
    (ada,) = found(lay(tmp_path, files), UNIT).submissions
    assert ada.problem == f"this is the lecture {UNIT}, not the exercises of {UNIT}."
    with pytest.raises(CourseError, match="no notebooks"):
        found(lay(tmp_path / "empty", {".hidden": b""}))


def test_a_call_that_kept_its_name_hides_none_of_those_that_have_another():
    cells = [
        Cell("", "from a_course.checks import one as c\nfrom a_course import two"),
        *(Cell("", call) for call in ("check.first(1)", "c.second(2)", "c.third(3)")),
    ]
    units = {"01_one": ["first", "second", "third"], "02_two": ["second", "third"]}
    assert Contents(units).kind(cells).unit == "01_one"
