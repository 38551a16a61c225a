"""The gradebook: one SQLite file that is right at every moment, also after kill -9.

    with Gradebook(folder / NAME) as book:
        if book.digest_of(student, unit) != digest:
            book.save(grade(...))

A submission is one row, so saving it is all or nothing. Overrides lie in a table of their own and
survive every regrade. One process writes; others may read at the same time.
"""

from __future__ import annotations

import difflib
import itertools
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from selfcheck.feedback import Outcome
from selfcheck.files import CourseError
from selfcheck.units import listed, meant

from .records import NOTHING, Graded, Mark, Override, Result, answer_digest, mark, points
from .settings import LateRule

NAME = "grades.sqlite"
VERSION = 3
APPLICATION = 0x636F7572  # "cour": how SQLite tells a gradebook from another program's file
SCHEMA = """
CREATE TABLE IF NOT EXISTS graded (
    student TEXT NOT NULL, unit TEXT NOT NULL, digest TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (student, unit)
);
CREATE TABLE IF NOT EXISTS overrides (
    student TEXT NOT NULL, unit TEXT NOT NULL, exercise TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (student, unit, exercise)
);
CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS families (
    unit TEXT NOT NULL, exercise TEXT NOT NULL, part TEXT NOT NULL, name TEXT NOT NULL,
    data TEXT NOT NULL, PRIMARY KEY (unit, exercise, part, name)
);
"""


class Gradebook:
    """The grades of a class; a context manager that closes the file."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        if not create and not (path.exists() and path.stat().st_size):
            raise CourseError(
                f"There is no gradebook {path}, or nothing in it; `course grade SUBMISSIONS --to "
                f"{path.parent}` makes one."
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise CourseError(f"{path.parent} is a file; the grades need a folder.") from None
        self.path = path
        with self._told():
            self._db = sqlite3.connect(path, timeout=30)
        try:
            with self._told():
                self._prepare()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; everything saved is already in it."""
        self._db.close()

    def secret(self) -> str:
        """What the seeds of checks are made from: drawn once, so that a regrade repeats them."""
        with self._told(), self._db:
            self._db.execute("CREATE TABLE IF NOT EXISTS secret (value TEXT NOT NULL)")
            row = self._db.execute("SELECT value FROM secret").fetchone()
            if row is None:
                row = (secrets.token_hex(16),)
                self._db.execute("INSERT INTO secret VALUES (?)", row)
        return row[0]

    def changes(self) -> int:
        """A number that is another one after somebody else wrote into the file."""
        return self._rows("PRAGMA data_version")[0][0]

    # -- grades ---------------------------------------------------------------------------------

    def save(self, graded: Graded) -> None:
        """Keep this submission in place of what was there; overrides stay."""
        row = (_key(graded.student), graded.unit, graded.digest, json.dumps(graded.as_dict()))
        with self._told(), self._db:
            self._db.execute("INSERT OR REPLACE INTO graded VALUES (?, ?, ?, ?)", row)

    def digest_of(self, student: str, unit: str) -> str | None:
        """What was graded last, as its digest; None if nothing was."""
        query = "SELECT digest FROM graded WHERE student = ? AND unit = ?"
        found = self._rows(query, _key(student), unit)
        return found[0][0] if found else None

    def get(self, student: str, unit: str) -> Graded | None:
        """One submission."""
        query = "SELECT data FROM graded WHERE student = ? AND unit = ?"
        return next(self._graded(self._rows(query, _key(student), unit)), None)

    def all(self, unit: str | None = None) -> list[Graded]:
        """Every submission, by unit and student."""
        return list(self.each(unit))

    def each(self, unit: str | None = None) -> Iterator[Graded]:
        """The same one after the other: one at a time is in memory, and may be saved meanwhile."""
        query = "SELECT rowid FROM graded WHERE ? IN (unit, '') ORDER BY unit, student"
        for (row,) in self._rows(query, unit or ""):
            yield from self._graded(self._rows("SELECT data FROM graded WHERE rowid = ?", row))

    def units(self) -> list[str]:
        """The stems of the units that have grades."""
        return [unit for (unit,) in self._rows("SELECT DISTINCT unit FROM graded ORDER BY unit")]

    def stem(self, unit: str) -> str:
        """The unit with grades that is meant by `1`, `01`, `sums` or `01_sums`."""
        stem = meant(unit, self.units())
        if stem is None:
            known = ", ".join(self.units()) or "none"
            raise CourseError(f"There are no grades of a unit {unit!r}; there are of: {known}.")
        return stem

    def marks(self, unit: str | None = None) -> list[Mark]:
        """Every submission with its overrides on top, by unit and student."""
        return list(self.each_mark(unit))

    def each_mark(self, unit: str | None = None) -> Iterator[Mark]:
        """The same one after the other."""
        by_submission: dict[tuple[str, str], list[Override]] = {}
        for override in self.overrides():
            by_submission.setdefault((override.student, override.unit), []).append(override)
        rules = self._rules()
        for graded in self.each(unit):
            yield mark(graded, by_submission.get((graded.student, graded.unit), ()), *rules)

    def absent(self, students: Iterable[str], units: Iterable[str]) -> list[Mark]:
        """Marks without points, for whoever of these students has none of these units."""
        rules, pairs = self._rules(), itertools.product(units, students)
        left = [(student, unit) for unit, student in pairs if self.digest_of(student, unit) is None]
        return [mark(_without_file(*one), (), *rules) for one in left]

    def mark(self, student: str, unit: str) -> Mark | None:
        """One submission with its overrides on top."""
        graded = self.get(student, unit)
        return mark(graded, self.overrides(), *self._rules()) if graded else None

    def _rules(self) -> tuple[LateRule, str]:
        """What is lost for being late, and what does not count."""
        return LateRule.read(self.kept_text("late")), self.kept_text("without")

    def rename(self, old: str, new: str) -> None:
        """Let what was kept under one name count under another, unless there is something."""
        with self._told(), self._db:
            for table in ("graded", "overrides"):
                for rowid, data in self._rows(
                    f"SELECT rowid, data FROM {table} WHERE student = ?", _key(old)
                ):
                    data = json.dumps({**json.loads(data), "student": new})
                    self._db.execute(
                        f"UPDATE OR IGNORE {table} SET student = ?, data = ? WHERE rowid = ?",
                        (_key(new), data, rowid),
                    )

    # -- what counted before a run --------------------------------------------------------------

    def note_points(self) -> None:
        """Keep what counts before a run; what an interrupted run kept, and told nobody, stays."""
        with self._told(), self._db:
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS before (student TEXT NOT NULL, unit TEXT NOT NULL, "
                "data TEXT NOT NULL, PRIMARY KEY (student, unit))"
            )
            noted = (
                (_key(now.graded.student), now.graded.unit, json.dumps(_what_counts(now)))
                for now in self.each_mark()
            )
            self._db.executemany("INSERT OR IGNORE INTO before VALUES (?, ?, ?)", noted)

    def points_before(self) -> Iterator[tuple[str, dict, dict]]:
        """What was noted of each student and unit, and what counts now."""
        if not self._rows("SELECT 1 FROM before LIMIT 1"):
            return
        query = "SELECT data FROM before WHERE student = ? AND unit = ?"
        for now in self.each_mark():
            student, unit = now.graded.student, now.graded.unit
            for (data,) in self._rows(query, _key(student), unit):
                yield f"{student}, {unit}", json.loads(data), _what_counts(now)

    def forget_points_before(self) -> None:
        """What counts now is told and written, and is what the next run compares with."""
        with self._told(), self._db:
            self._db.execute("DELETE FROM before")

    # -- what holds for the class ---------------------------------------------------------------

    def keep(self, name: str, data: bytes) -> None:
        """Keep this by its name: the rules of the class, its roster."""
        with self._told(), self._db:
            self._db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (name, data))

    def kept(self, name: str) -> bytes:
        """What was kept by this name; empty if nothing was."""
        rows = self._rows("SELECT data FROM kept WHERE name = ?", name)
        return bytes(rows[0][0]) if rows else b""

    def kept_text(self, name: str) -> str:
        """The same as text."""
        with self._told():
            return self.kept(name).decode()

    def kept_data(self, name: str) -> dict[str, Any]:
        """The same as what JSON says."""
        with self._told():
            return dict(json.loads(self.kept(name) or b"{}"))

    def keep_family(self, unit: str, exercise: str, part: str, name: str, data: dict) -> None:
        """Keep by its name what wrong answers have in common."""
        row = (unit, exercise, part, name, json.dumps(data))
        with self._told(), self._db:
            self._db.execute("INSERT OR IGNORE INTO families VALUES (?, ?, ?, ?, ?)", row)

    def kept_families(self, unit: str) -> list[tuple[str, str, str, dict]]:
        """Exercise, part, name and data of each family of a unit."""
        query = (
            "SELECT exercise, part, name, data FROM families WHERE unit = ? "
            "ORDER BY exercise, part, name"
        )
        rows = self._rows(query, unit)
        return [(exercise, part, name, json.loads(data)) for exercise, part, name, data in rows]

    # -- overrides ------------------------------------------------------------------------------

    def override(
        self,
        student: str,
        unit: str,
        exercise: str,
        earned: float | None,
        reason: str = "",
        comment: str = "",
        no_file: bool = False,
    ) -> Override:
        """Let a person's points count for an exercise, by name or number, or add a comment.

        With `no_file` also for somebody who handed in nothing, and gets a line by that.
        """
        graded = self.get(student, unit) or (_without_file(student, unit) if no_file else None)
        result = self._result(student, unit, exercise, graded)
        reason, comment = " ".join(reason.split()), " ".join(comment.split())
        if earned is None and not comment:
            raise CourseError('Give points with --reason "…", or --comment "…".')
        if earned is not None and not (reason or comment):
            raise CourseError('An override needs a reason: --reason "…". The student will read it.')
        if earned is not None and not (0 <= earned <= result.points and 2 * earned % 1 == 0):
            raise CourseError(
                f"{earned:g} is not possible: {unit}, exercise {result.number} {result.name} is "
                f"worth 0 to {result.points} points, in halves."
            )
        now = datetime.now(UTC).isoformat(timespec="seconds")
        given = earned if earned is None else points(earned)
        override = Override(
            student, unit, result.name, given, reason, now, comment, answer_digest(result)
        )
        row = (_key(student), unit, result.name, json.dumps(override.as_dict()))
        if graded and not graded.file:
            self.save(graded)
        with self._told(), self._db:
            self._db.execute("INSERT OR REPLACE INTO overrides VALUES (?, ?, ?, ?)", row)
        return override

    def drop_override(self, student: str, unit: str, exercise: str) -> Override:
        """Let the check's points count again; returns what was dropped."""
        mine = [o for o in self.overrides() if (o.student, o.unit) == (student, unit)]
        numbers = {r.number: r.name for r in getattr(self.get(student, unit), "results", ())}
        for override in mine:
            if override.exercise == numbers.get(exercise, exercise):
                query = "DELETE FROM overrides WHERE student = ? AND unit = ? AND exercise = ?"
                with self._told(), self._db:
                    self._db.execute(query, (_key(student), unit, override.exercise))
                return override
        has = ", ".join(o.exercise for o in mine) or "none"
        raise CourseError(
            f"There is no override of {exercise} for {student} in {unit}; there are: {has}."
        )

    def overrides(self) -> list[Override]:
        """Every override, by unit, student and exercise."""
        rows = self._rows("SELECT data FROM overrides ORDER BY unit, student, exercise")
        with self._told():
            return [Override.from_dict(json.loads(data)) for (data,) in rows]

    # -- inside ---------------------------------------------------------------------------------

    def _result(self, student: str, unit: str, exercise: str, graded: Graded | None) -> Result:
        if graded is None:
            names = [s for (s,) in self._rows("SELECT student FROM graded WHERE unit = ?", unit)]
            raise CourseError(
                f"{student} has no grade in {unit}.{_alike(student, names)} For somebody who "
                "handed in no file, add --no-file."
            )
        for result in graded.results:
            if exercise in (result.name, result.number):
                return result
        has = ", ".join(f"{r.number} {r.name}" for r in graded.results) or "none"
        raise CourseError(f"{student}'s {unit} has no exercise {exercise}; it has: {has}.")

    def _graded(self, rows: Iterable[tuple[str]]) -> Iterator[Graded]:
        for (data,) in rows:
            with self._told():
                graded = Graded.from_dict(json.loads(data))
            yield graded

    def _rows(self, query: str, *values: str) -> list[tuple]:
        with self._told():
            return self._db.execute(query, values).fetchall()

    def _prepare(self) -> None:
        application, version = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        is_new = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        # With WAL this is safe against kill -9; only a power cut may lose the last few grades.
        self._db.execute("PRAGMA synchronous = NORMAL")
        if (application, version) == (APPLICATION, VERSION):
            return
        if application == APPLICATION and version > VERSION:
            raise CourseError(
                f"{self.path} was written by a newer version of the course (format {version}, this "
                f"one knows {VERSION}). Update the course, then try again."
            )
        if application == APPLICATION:
            raise CourseError(
                f"{self.path} was written before version 0.2 of the course (format {version}). "
                "Move it away, then grade again."
            )
        if not is_new:
            raise CourseError(
                f"{self.path} is a database, but no gradebook. Move it away, then grade again."
            )
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.executescript(
            f"BEGIN; {SCHEMA} PRAGMA application_id = {APPLICATION}; "
            f"PRAGMA user_version = {VERSION}; COMMIT;"
        )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite has to complain about, as a sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise CourseError(
                f"{self.path} cannot be used now: {error}. Is another `course` writing to it, or "
                "is the disk full or read-only?"
            ) from None
        except sqlite3.DatabaseError as error:
            raise CourseError(
                f"{self.path} is no gradebook: {error}. Move it away, then grade again."
            ) from None
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
        ):  # SQLite does not look at what it keeps
            raise CourseError(
                f"{self.path} is damaged: there is something in it that nobody wrote. Put a copy "
                "in its place, or move it away and grade again."
            ) from None


def _without_file(student: str, unit: str) -> Graded:
    """A line for somebody who handed in nothing, so that a person can give points."""
    return Graded(student, unit, "", "", results=not_attempted(unit, NOTHING), problem=NOTHING)


def not_attempted(unit: str, says: str) -> tuple[Result, ...]:
    """No answer to any exercise of a unit, and why."""
    blank = (str(Outcome.NOT_ATTEMPTED), 0)
    return tuple(Result(e.number, e.name, *blank, e.points, says) for e in listed(unit))


def _what_counts(mark: Mark) -> dict:
    """The points of a student, with the overrides and what is lost for being late."""
    return {
        "graded": mark.is_graded,
        "problem": mark.graded.problem,
        "points": [mark.earned, mark.points],
        "parts": {f"{x.result.number} {x.result.name}": x.earned for x in mark.lines},
    }


def _key(student: str) -> str:
    """The name as SQLite can store it; a file name may hold bytes that are no text."""
    try:
        student.encode()
    except UnicodeEncodeError:
        return json.dumps(student)
    return student


def _alike(wanted: str, names: list[str]) -> str:
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(close)}?" if close else ""
