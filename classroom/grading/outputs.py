"""Everything that is made from a gradebook, without running anything.

    write_outputs(Path("grades"))

writes grades.csv, report.html, junit.xml, the roster filled in, or without one a file a unit for
Canvas and for Moodle, and a feedback page a submission. A file is only touched where its content
changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from course_utils.files import write_whole

from . import exports, feedback, report
from .gradebook import NAME, Gradebook
from .records import Mark
from .roster import kept_roster


def write_outputs(
    folder: Path, unit: str | None = None, tell: Callable[[Path], None] = lambda path: None
) -> list[Path]:
    """Write what the gradebook in this folder says, or what it says of one unit.

    `tell` hears of every file once it is right; those that changed are returned.
    """
    with Gradebook(folder / NAME, create=False) as book:
        marks = book.marks(unit and book.stem(unit))
        filled, _ = fill_roster(book)
        walls = book.kept("walls").decode()
    changed = []
    for path, text in _outputs(folder, marks, filled, walls):
        changed += [path] if _write_if_changed(path, text) else []
        tell(path)
    return changed


def fill_roster(book: Gradebook) -> tuple[dict[str, str], list[str]]:
    """The roster with all grades in it, by file name, and remarks; nothing if there is none."""
    roster = kept_roster(book)
    if roster is None:
        return {}, []
    marks = book.marks()
    points = {unit: max(m.points for m in marks if m.graded.unit == unit) for unit in book.units()}
    columns = json.loads(book.kept("columns") or b"{}")
    return roster.filled(exports.fillings(marks), columns, points)


def _outputs(
    folder: Path, marks: list[Mark], filled: dict[str, str], walls: str
) -> Iterator[tuple[Path, str]]:
    yield folder / "grades.csv", exports.grades_csv(marks)
    yield folder / "junit.xml", exports.junit_xml(marks)
    yield from ((folder / name, text) for name, text in filled.items())
    for unit in sorted({m.graded.unit for m in marks}) if not filled else ():
        of_unit = [m for m in marks if m.graded.unit == unit]
        yield folder / f"canvas_{unit}.csv", exports.canvas_csv(of_unit)
        yield folder / f"moodle_{unit}.csv", exports.moodle_csv(of_unit)
    for m in marks:
        yield folder / feedback.page_path(m), feedback.page(m)
    yield folder / "report.html", report.page(marks, walls)


def _write_if_changed(path: Path, text: str) -> bool:
    data = text.encode()
    if path.exists() and path.read_bytes() == data:
        return False
    write_whole(path, data)
    return True
