"""Everything that is made from a gradebook, without running anything.

    write_outputs(Path("grades"))

writes grades.csv, report.html with its numbers as JSON and CSV, junit.xml, the roster filled in, or
without one a file a unit for Canvas and for Moodle, and a feedback page a submission. A file is
only touched where its content changes.
"""

from __future__ import annotations

import filecmp
import functools
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import selfcheck
from selfcheck.files import write_whole

from .gradebook import NAME, Gradebook
from .records import Mark, any_signed, in_brief
from .roster import kept_roster

if TYPE_CHECKING:
    from .clusters import Family

WRITTEN = "written"  # under this name the gradebook keeps what was written, and from what
HERE = Path(__file__).resolve().parent
MADE_BY = [
    HERE,
    HERE.parent / "templates",
    Path(str(selfcheck.__file__)).resolve().parent / "cards.py",
]


def write_outputs(
    folder: Path,
    unit: str | None = None,
    tell: Callable[[Path], None] = lambda path: None,
    anonymous: bool = False,
) -> list[Path]:
    """Write what the gradebook in this folder says, or what it says of one unit.

    If it is to be anonymous, that is a report without names and nothing else.

    `tell` hears of every file once it is right; those that changed are returned.
    """
    with Gradebook(folder / NAME, create=False) as book:
        stem, read = unit and book.stem(unit), sha256()
        marks = [*in_brief(_noted(m, read) for m in book.each_mark(stem))]
        filled, _ = fill_roster(book)
        protection = book.kept_text("protection")
        units = sorted({m.graded.unit for m in marks})
        families = [family for stem in units for family in _families(book, stem)]
        secret = book.secret() if anonymous else ""
        roster = kept_roster(book)
        absent = book.absent(roster.students, units) if roster else []
        questions = {u: book.kept_data(f"questions {u}") for u in units}
        state = _digest(read.hexdigest(), filled, protection, families, secret, questions)
        before = book.kept_data(WRITTEN)
    there = {folder / name: stamp for name, stamp in before.get("files", {}).items()}
    if before.get("from") == state and all(_stamp(path) == s for path, s in there.items()):
        for path in there:
            tell(path)
        return []
    reports = _reports(folder, marks, families, secret, protection=protection, absent=absent)
    changed, files = [], {}
    with Gradebook(folder / NAME) as book:
        whole = functools.partial(book.each_mark, stem)
        others = () if anonymous else _outputs(folder, [*marks, *absent], whole, filled, questions)
        for path, text in itertools.chain(others, reports):
            changed += [path] if _write_if_changed(path, text) else []
            files[str(path.relative_to(folder))] = _stamp(path)
            tell(path)
        book.keep(WRITTEN, json.dumps({"from": state, "files": files}).encode())
    return changed


def _noted(m: Mark, read: hashlib._Hash) -> Mark:
    """The mark, once it is part of the digest of all that was read."""
    read.update(repr(m).encode("utf-8", "surrogatepass"))
    return m


def _families(book: Gradebook, unit: str) -> list[Family]:
    """The families of a unit; without a signed answer there are none, and nothing is loaded."""
    if not any_signed(book.each(unit)):
        return []
    from .clusters import families_of

    return families_of(book, unit)


def _digest(*contents: object) -> str:
    """What all files are made from: the gradebook's content, and the code and its templates."""
    found = sha256()
    for content in contents:
        for part in content if isinstance(content, list) else [content]:
            found.update(repr(part).encode("utf-8", "surrogatepass"))
    for place in MADE_BY:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and path.suffix != ".pyc":
                found.update(path.read_bytes())
    return found.hexdigest()


def _stamp(path: Path) -> list[int]:
    """Size and time of a file, which tell whether somebody has touched it."""
    try:
        about = path.stat()
    except OSError:
        return []
    return [about.st_size, about.st_mtime_ns]


def fill_roster(book: Gradebook) -> tuple[dict[str, bytes], list[str]]:
    """The roster with all grades in it, by file name, and remarks; nothing if there is none."""
    roster = kept_roster(book)
    if roster is None:
        return {}, list(_without_numbers(book))
    from . import exports

    marks = [*in_brief(book.each_mark())]
    points = {unit: max(m.points for m in marks if m.graded.unit == unit) for unit in book.units()}
    columns = book.kept_data("columns")
    files, remarks = roster.filled(exports.fillings(marks), columns, points)
    return {name: roster.encoded(text) for name, text in files.items()}, remarks


def _without_numbers(book: Gradebook) -> Iterator[str]:
    """Whom Canvas and Moodle would not know by the names of their files."""
    unknown = {g.student for g in book.each() if g.platform not in ("Canvas", "Moodle")}
    if unknown:
        many = f"{len(unknown)} student{'' if len(unknown) == 1 else 's'}"
        yield (
            f"The files for Canvas and Moodle have no number of theirs for {many}; "
            "to import grades, pass the roster that the platform exports: --roster FILE."
        )


def _reports(
    folder: Path, marks: list[Mark], families: list[Family], secret: str, **about: Any
) -> Iterator[tuple[Path, str | Iterable[str]]]:
    """The class report as a page, and its numbers as JSON and CSV."""
    from . import report  # it draws, and takes long to load

    name = "report_anonymous" if secret else "report"
    yield folder / f"{name}.html", report.page(marks, families=families, secret=secret, **about)
    data = report.as_data(report.anonymized(marks, secret) if secret else marks, families)
    yield folder / f"{name}.json", report.as_json(data)
    yield folder / f"{name}.csv", report.as_csv(data)


def _outputs(
    folder: Path,
    marks: list[Mark],
    whole: Callable[[], Iterator[Mark]],
    filled: dict[str, bytes],
    questions: dict[str, dict[str, dict[str, str]]],
) -> Iterator[tuple[Path, str | bytes | Iterable[str]]]:
    """Tables from the marks in brief; what tells everything goes through the whole ones."""
    from . import exports, student_pages

    yield folder / "grades.csv", exports.grades_csv(marks)
    yield folder / "junit.xml", exports.junit_xml(whole())
    yield from ((folder / name, text) for name, text in filled.items())
    for unit in sorted({m.graded.unit for m in marks}) if not filled else ():
        of_unit = [m for m in marks if m.graded.unit == unit]
        yield folder / f"canvas_{unit}.csv", exports.canvas_csv(of_unit)
        yield folder / f"moodle_{unit}.csv", exports.moodle_csv(of_unit)
    for m in whole():
        yield folder / student_pages.page_path(m), student_pages.page(m, questions[m.graded.unit])


def _write_if_changed(path: Path, text: str | bytes | Iterable[str]) -> bool:
    if isinstance(text, str | bytes):
        data = text if isinstance(text, bytes) else text.encode()
        if path.exists() and path.read_bytes() == data:
            return False
        write_whole(path, data)
        return True
    fresh = path.with_name(f".{path.name}.fresh")
    try:
        write_whole(fresh, text)
        is_new = not path.exists() or not filecmp.cmp(fresh, path, shallow=False)
        if is_new:
            os.replace(fresh, path)
        return is_new
    finally:
        fresh.unlink(missing_ok=True)
