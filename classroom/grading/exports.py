"""Grades for other programs: spreadsheets, Canvas, Moodle, and whatever reads JUnit XML.

Canvas and Moodle take an empty cell for "no grade" and delete what they had. So they get one file a
unit, with those students only whose submission could be graded. Their files name a student as the
submission was named, and by the number in that name if it is the platform's own: an id that stands
inside a notebook is the student's word alone. With a roster they get it back filled in instead,
which they can match without doubt.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree

from selfcheck.feedback import Outcome

from .records import Line, Mark, Override, in_order, visible
from .roster import Filling

FORMULA_STARTS = tuple("=+-@＝＋－＠")
CANVAS_HEAD = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
WORKSHEET = ("Identifier", "Full name", "Grade", "Last modified (grade)", "Feedback comments")
POINTS_POSSIBLE = "Points Possible"  # how Canvas knows the row that is no student
JUNIT = {
    Outcome.WRONG: "failure",
    Outcome.NOT_ATTEMPTED: "skipped",
    Outcome.UNCHECKED: "error",
}


def grades_csv(marks: Sequence[Mark]) -> str:
    """A row a student and unit: points by exercise, the total, and what to look at by hand."""
    columns = sorted({_column(line) for m in marks for line in m.lines}, key=_place)
    known = ["beyond the page", "total", "of"]
    known += ["late", "deducted", "attempt", "look by hand", "overrides"]
    rows: list[list[str | float]] = [["student", "unit", *columns, *known]]
    for m in marks:
        counts = [line for line in m.lines if not m.graded.problem or line.is_overridden]
        earned = {_column(line): line.earned for line in counts}
        rows.append(
            [
                m.graded.student,
                m.graded.unit,
                *(earned.get(column, "") for column in columns),
                m.beyond_the_page if m.is_graded else "",
                m.earned if m.is_graded else "",
                m.points,
                m.late,
                m.deduction or "",
                m.graded.attempt,
                " | ".join(m.to_look_at),
                " | ".join(_overridden(line, line.override) for line in m.lines if line.override),
            ]
        )
    return "\ufeff" + csv_text(rows)  # else Excel takes it for an old encoding and spoils the names


def canvas_csv(marks: Sequence[Mark]) -> str:
    """One unit in the layout of Canvas: Grades, Import."""
    units = sorted({m.graded.unit for m in marks})
    best = max((m.points for m in marks), default=0)
    rows: list[list[str | float]] = [
        [*CANVAS_HEAD, *units],
        [f"    {POINTS_POSSIBLE}", "", "", "", "", *[best][: len(units)]],
    ]
    for m in _gradable(marks):
        name, number = _named(m, "Canvas")
        name = name.replace(POINTS_POSSIBLE, POINTS_POSSIBLE.replace(" ", "_"))
        rows.append([name, number, "", "" if number else name, "", m.earned])
    return csv_text(rows)


def fillings(marks: Iterable[Mark]) -> dict[str, dict[str, Filling]]:
    """What is filled into a roster, by unit and student: those with a grade alone."""
    found: dict[str, dict[str, Filling]] = {}
    for m in _gradable(marks):
        comment = " ".join([*map(_in_a_sentence, m.lines), *_late(m)])
        text = str(_cell(comment))  # a spreadsheet may be between us and the platform
        found.setdefault(m.graded.unit, {})[m.graded.student] = Filling(m.earned, text)
    return found


def _late(m: Mark) -> list[str]:
    return [f"{m.late} late: {m.deduction} points off."] if m.deduction else []


def moodle_csv(marks: Sequence[Mark]) -> str:
    """One unit for Moodle: a grading worksheet for those whom Moodle's own names number.

    Where no name does, for its import into the gradebook: map Username, the grade, the feedback.
    """
    units = sorted({m.graded.unit for m in marks})
    graded = _gradable(marks)
    said = [" ".join(map(_in_a_sentence, m.lines)) for m in graded]
    rows: list[list[str | float]]
    if any(_named(m, "Moodle")[1] for m in graded):
        rows = [[*WORKSHEET]]
        for m, comment in zip(graded, said, strict=True):
            name, number = _named(m, "Moodle")
            rows.append([number and f"Participant {number}", name, m.earned, "-", comment])
    else:
        rows = [["Username", *units, "Feedback"]]
        rows += [[m.graded.student, m.earned, c] for m, c in zip(graded, said, strict=True)]
    return csv_text(rows)


def _named(m: Mark, platform: str) -> tuple[str, str]:
    """The student's name, and the platform's number where its own names of files have it."""
    student, number = m.graded.student, m.graded.number
    if m.graded.platform != platform or not number:
        return student, ""
    return student.removesuffix(f"_{number}"), number


def junit_xml(marks: Iterable[Mark]) -> Iterator[str]:
    """A test suite per submission, a test case per exercise; piece by piece."""
    yield "<?xml version='1.0' encoding='utf-8'?>\n<testsuites name=\"course grade\">\n"
    for m in marks:
        suite = _suite(m)
        ElementTree.indent(suite, level=1)
        yield f"  {ElementTree.tostring(suite, 'unicode')}\n"
    yield "</testsuites>\n"


# -- inside ---------------------------------------------------------------------------------------


def _column(line: Line) -> str:
    """With its name, because a spreadsheet takes 2.10 for the number 2.1."""
    return f"{line.result.number} {line.result.name}"


def _place(column: str) -> tuple:
    number, _, name = column.partition(" ")
    return in_order(number), name


def _gradable(marks: Iterable[Mark]) -> list[Mark]:
    """Those with a grade: from the checks, or from a person's hand."""
    return [m for m in marks if m.is_graded]


def _overridden(line: Line, given: Override) -> str:
    said = []
    if line.is_overridden:
        by_check = f"{line.result.earned} by the check"
        reason = f", because {given.reason}" if given.reason else ""
        said.append(f"{line.earned} instead of {by_check}{reason}")
    if given.comment:
        said.append(f"comment: {given.comment}")
    return f"{_column(line)}: {'; '.join(said)}"


def _in_a_sentence(line: Line) -> str:
    """The verdict without a word of the student's: Moodle shows it as HTML."""
    result = line.result
    said = f"{_column(line)}: {result.feedback.headline}, {line.earned} of {result.points}."
    if line.override and line.is_overridden:
        said = f"{said} Points given by hand: {line.override.reason}"
    else:
        said = " ".join([said, *(f"{known.name}: {known.explanation}" for known in result.known)])
    return f"{said} {line.override.comment}" if line.override and line.override.comment else said


def csv_text(rows: Iterable[Sequence[str | float]]) -> str:
    """The rows for a spreadsheet; no cell is taken for a formula."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows([_cell(value) for value in row] for row in rows)
    return buffer.getvalue()


def _cell(value: str | float) -> str | float:
    """The value; a text that a spreadsheet would take for a formula is marked as text."""
    if isinstance(value, int | float):
        return value
    indent = "    " if value.startswith("    ") else ""
    text = indent + " ".join(visible(value).split())
    return f"'{text}" if text.lstrip().startswith(FORMULA_STARTS) and text != "-" else text


def _suite(m: Mark) -> ElementTree.Element:
    name = visible(f"{m.graded.student} {m.graded.unit}")
    suite = ElementTree.Element("testsuite", name=name, time=f"{m.graded.seconds:.3f}")
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in [("earned", m.earned), ("points", m.points)]:
        ElementTree.SubElement(properties, "property", name=key, value=str(value))
    if m.graded.problem:
        case = ElementTree.SubElement(suite, "testcase", classname=m.graded.unit, name="submission")
        ElementTree.SubElement(case, "error", message=visible(m.graded.problem))
    for line in m.lines:
        _add_case(suite, m.graded.unit, line)
    suite.set("tests", str(len(suite.findall("testcase"))))
    for attribute, tag in [("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]:
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    return suite


def _add_case(suite: ElementTree.Element, unit: str, line: Line) -> None:
    result = line.result
    about = {"classname": unit, "name": _column(line), "time": f"{result.seconds:.3f}"}
    case = ElementTree.SubElement(suite, "testcase", about)
    tag = JUNIT.get(Outcome(result.outcome))
    if tag and not (line.is_overridden and line.earned == result.points):
        said = ElementTree.SubElement(case, tag, message=visible(result.says))
        said.text = visible(repr(result.feedback))
    if line.override:
        out = ElementTree.SubElement(case, "system-out")
        out.text = visible(_overridden(line, line.override))
