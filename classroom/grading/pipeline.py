"""From submissions to grades.csv: the whole way on one page.

    zip or folder ─ find ─► submissions ─ enrolled ─► the class ─ Grader.due ─► what is to be done
    ─ Grader.prove ─► the solution earns all points ─ Grader.graded ─► grades ─ Gradebook.save
    ─ copies, clusters ─► what several have in common ─ write_outputs ─► grades.csv, report, pages

Every finished submission is in the gradebook at once, so a run can be stopped at any moment and
started again: what is there and unchanged is not graded twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from selfcheck.files import CourseError

from . import copies
from .asked import Solutions
from .bubblewrap import require_bubblewrap
from .enrolled import Enrolled, before_grading, enrolled, shortened, unknown_extra, without_time
from .gradebook import NAME, Gradebook
from .handing_out import Grader, SchedulerGone, executor
from .options import Options, keep, listed_id, with_kept
from .records import NOBODYS, Graded, any_signed
from .records import points as points_of
from .roster import Line
from .submissions import Submission, find


@dataclass(frozen=True)
class Done:
    """One more submission graded: its grade, its story if wanted, and how far we are."""

    graded: Graded
    story: Sequence[dict]
    number: int
    of: int
    seconds: float


@dataclass
class Run:
    """What a run came to."""

    graded: int = 0
    unchanged: int = 0
    unplaced: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    several: tuple[str, ...] = ()  # what may be of more than one student
    changed: tuple[str, ...] = ()  # whose points a regrade changed, from what to what
    without_id: int = 0  # notebooks with the id 0, where no list gives ids
    protection: str = ""


def grade(
    root: Path,
    source: Path,
    folder: Path,
    options: Options,
    tell: Callable[[Done], None],
    announce: Callable[[str], None] = lambda line: None,
) -> Run:
    """Grade what is new or changed in `source` into the gradebook in `folder`.

    `announce` hears before anything runs how names were read, what was not placed, who is missing.
    """
    solutions = Solutions(root)
    options = with_kept(options, folder)
    contents = solutions.contents()
    groups = options.settings.groups == "yes"
    found = find(source, contents.units, options.unit, options.layout, contents, groups)
    class_ = enrolled(found, options.roster)
    wanted = _wanted(class_.submissions, options)
    units = {submission.unit for submission in wanted}
    if options.roster is not None:
        columns = options.settings.columns
        options.roster.require(columns[unit] for unit in sorted(units & columns.keys()))
    if options.student is None:
        late = (*without_time(class_, options.settings), *unknown_extra(class_, options.settings))
        for line in (*before_grading(class_), *_without_id(wanted, options), *late):
            announce(line)
    if options.sandboxed and options.scheduler is None:
        require_bubblewrap()
    with Gradebook(folder / NAME) as book, executor(options) as judges:
        for old, new in class_.renamed.items():
            book.rename(old, new)
        book.note_points()  # of all units: the rules of the class hold for all of them
        keep(book, options)
        several = tuple(dict.fromkeys(s.doubt for s in wanted if s.doubt))
        missing = tuple(_missing(class_, book)) if options.student is None else ()
        for line in shortened(missing, "no submission"):
            announce(line)
        run = Run(unplaced=class_.unplaced, missing=missing, several=several)
        attempts = sum(1 + len(s.earlier) for s in wanted)
        options = replace(options, secret=book.secret(), jobs=min(options.jobs, attempts))
        grader = Grader(book, solutions, judges, options, class_.lines)
        todo = [entry for entry in map(grader.due, wanted) if entry is not None]
        run.unchanged = len(wanted) - len(todo)
        due = sum(len(entry.attempts) for entry in todo)
        grader.options = replace(options, jobs=min(options.jobs, due or 1))
        for unit in sorted({entry.submission.unit for entry in todo}):
            run.protection = grader.prove(unit)
        start = time.monotonic()
        try:
            for graded, story in grader.graded(todo):
                book.save(graded)
                run.graded += 1
                tell(Done(graded, story, run.graded, len(todo), time.monotonic() - start))
        except SchedulerGone:
            raise CourseError(
                f"The scheduler at {options.scheduler} is gone; {run.graded} of {len(todo)} are "
                "graded and kept. Start it, and run the same command again: it does the rest."
            ) from None
        if run.protection:
            book.keep("protection", run.protection.encode())
        if options.student is None:
            run.gone, run.without_id = _looked_through(book, class_.submissions, options)
        for unit in units:
            texts = {"asks": solutions.questions(unit), "sections": solutions.sections(unit)}
            book.keep(f"questions {unit}", json.dumps(texts, ensure_ascii=False).encode())
            _note_copies(book, unit, class_.lines, solutions.stubs(unit))
            _note_families(book, unit)
        run.changed = tuple(_changes(book))
    return run


def _missing(class_: Enrolled, book: Gradebook) -> Iterator[str]:
    """Who handed in nothing of these units so far; who some of them, with what lacks."""
    of = len({submission.unit for submission in class_.submissions})
    for key, units in class_.missing.items():
        if left := [unit for unit in units if not book.digest_of(key, unit)]:
            yield key if len(left) >= of else f"{key}, {', '.join(left)}"


def _changes(book: Gradebook) -> Iterator[str]:
    """Whose points are not what they were before this run, from what to what."""
    for who, had, has in book.points_before():
        (earned, of), (new, now_of) = had["points"], has["points"]
        if had["graded"] != has["graded"]:
            old = f"{earned} of {of}" if had["graded"] else "not graded"
            fresh = f"{new} of {now_of}" if has["graded"] else f"not graded: {has['problem']}"
            yield f"{who}: {old} → {fresh}"
        if not (had["graded"] and has["graded"]):
            continue
        if (earned, of) != (new, now_of) or had["parts"] != has["parts"]:
            old = f"{earned}" if of == now_of else f"{earned} of {of}"
            yield f"{who}: {old} → {new} of {now_of} ({', '.join(_reasons(had, has))})"


def _reasons(had: dict, has: dict) -> Iterator[str]:
    """Which exercises have other points, which count no longer, and what being late takes."""
    for part, points in has["parts"].items():
        if had["parts"].get(part, 0) != points:
            yield f"{part} {had['parts'].get(part, 0)} → {points}"
    if gone := len(had["parts"].keys() - has["parts"].keys()):
        yield f"{gone} exercise{'s count' if gone > 1 else ' counts'} no longer"
    before, now = (sum(one["parts"].values()) - one["points"][0] for one in (had, has))
    if before != now:
        yield f"for being late {points_of(before)} → {points_of(now)} off"


def write_all(folder: Path) -> list[str]:
    """Write grades.csv, the report, pages and the filled roster; what is to be said about it."""
    from .outputs import fill_roster, write_outputs  # draws and sets pages: not needed until here

    write_outputs(folder)
    with Gradebook(folder / NAME) as book:
        book.forget_points_before()
        files, remarks = fill_roster(book)
    return [*remarks, *(f"wrote {folder / name}" for name in files)]


def _wanted(submissions: Sequence[Submission], options: Options) -> list[Submission]:
    if options.student is None:
        return list(submissions)
    line = options.roster.line_named(options.student) if options.roster else None
    name = line.key if line else options.student
    wanted = [s for s in submissions if s.student == name]
    if not wanted:
        names = ", ".join(sorted({s.student for s in submissions})[:10])
        raise CourseError(f"There is no submission of {options.student}; there are {names} …")
    return wanted


def _without_id(submissions: Sequence[Submission], options: Options) -> list[str]:
    if options.ids is None:
        return []
    missing = sorted({s.student for s in submissions if listed_id(s, options) is None})
    return [f"no id in the file of ids: {name}" for name in missing]


def _looked_through(
    book: Gradebook, submissions: Sequence[Submission], options: Options
) -> tuple[tuple[str, ...], int]:
    """Those whose file is no longer there, who keep their grade; how many have nobody's id."""
    here = {(s.student, s.unit) for s in submissions}
    units = {s.unit for s in submissions} if options.unit is None else {options.unit}
    gone, without_id = [], 0
    for graded in (g for unit in sorted(units) for g in book.each(unit)):
        is_gone = bool(graded.file) and (graded.student, graded.unit) not in here
        if is_gone:
            gone.append(f"{graded.student}, {graded.unit}")
        if is_gone != graded.is_gone:
            book.save(replace(graded, is_gone=is_gone))
        without_id += graded.student_id == NOBODYS
    return tuple(gone), without_id


def _note_copies(
    book: Gradebook, unit: str, lines: Mapping[str, Line], stubs: Mapping[str, str]
) -> None:
    """Files, answers and ids that several have: a person should ask why."""
    ids = {own: line.key for line in lines.values() for own in line.own_ids}
    for graded in copies.noted(lambda: book.each(unit), ids, stubs):
        book.save(graded)


def _note_families(book: Gradebook, unit: str) -> None:
    """Keep the names of families of wrong answers; where none was signed, there are none."""
    if any_signed(book.each(unit)):
        from .clusters import keep_families  # with NumPy and the checks

        keep_families(book, unit)
