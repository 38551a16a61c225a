"""How a class is graded: what the command was told, and what earlier runs keep of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from selfcheck.files import CourseError

from .gradebook import NAME, Gradebook
from .jobs import Limits
from .roster import Roster, kept_roster
from .settings import Settings, read_text
from .submissions import Submission
from .written_tables import Table, text_of


@dataclass(frozen=True)
class Options:
    """How a class is graded."""

    unit: str | None = None
    student: str | None = None  # this one alone, also if nothing changed
    jobs: int = 1
    scheduler: str | None = None
    sandboxed: bool = True
    verbose: bool = False
    ids: dict[str, str] | None = None
    roster: Roster | None = None
    layout: str | None = None
    settings: Settings = field(default_factory=Settings)
    limits: Limits = field(default_factory=Limits)
    secret: str = ""  # the gradebook's: seeds are made from it


def with_kept(options: Options, folder: Path) -> Options:
    """The options, with the roster and the rules of an earlier run where none are given."""
    if not (folder / NAME).exists():
        return options
    with Gradebook(folder / NAME) as book:
        roster, settings = options.roster, options.settings
        if roster is None:
            roster = kept_roster(book)
        if not settings.text and (kept := book.kept_text("settings")):
            given, settings = settings, read_text(kept)
            if given.late is not None:
                settings = replace(settings, late=given.late)
            attempt, groups = given.attempt or settings.attempt, given.groups or settings.groups
            settings = replace(settings, attempt=attempt, groups=groups)
        attempt = settings.attempt or book.kept_text("attempt") or None
        groups = settings.groups or book.kept_text("groups") or None
        settings = replace(settings, attempt=attempt, groups=groups)
    return replace(options, roster=roster, settings=settings)


def keep(book: Gradebook, options: Options) -> None:
    """What `course report` and later runs have to know."""
    settings, roster = options.settings, options.roster
    kept = {n: getattr(settings, n) for n in ("late", "attempt", "groups", "without")}
    if settings.text:
        kept["settings"] = settings.text
    if settings.columns:
        kept["columns"] = json.dumps(dict(settings.columns))
    for name, text in kept.items():
        if text is not None:
            book.keep(name, text.encode())
    if roster is not None:
        book.keep("roster", roster.data)
        book.keep("roster name", roster.name.encode())
        book.keep("roster id", (settings.id_column or "").encode())


def listed_id(submission: Submission, options: Options) -> str | None:
    """The student's id in the file of ids."""
    return (options.ids or {}).get(plain_name(submission.student))


def read_ids(path: Path) -> dict[str, str]:
    """The true ids of the students: a CSV file with a line `student,id` for each."""
    rows = Table.read(text_of(path.read_bytes(), str(path))[1], str(path)).rows
    short = next((number for number, row in enumerate(rows, 1) if len(row) == 1), None)
    if short is not None:
        raise CourseError(f"{path}, line {short}: there should be a student and an id.")
    pairs = {(plain_name(row[0]), row[1].strip()) for row in rows if row and row[1].strip()}
    for place, what in enumerate(("several ids for one student", "one id for several students")):
        counts = Counter(pair[place] for pair in pairs)
        if twice := sorted(word for word, count in counts.items() if count > 1):
            raise CourseError(f"{path} has {what}: {', '.join(twice[:5])}.")
    return dict(pairs)


def plain_name(name: str) -> str:
    """A name as all its spellings are compared."""
    return " ".join(name.casefold().split())
