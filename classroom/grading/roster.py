"""The roster of a class: read from what a platform exports, and given back filled in.

Files are known by their header: the gradebooks of Canvas, Moodle, Brightspace, Blackboard,
Gradescope and Google Classroom, the grading worksheet of a Moodle assignment in whatever
language, and a plain table with a column `student` or, as Sakai has it, `Student ID`. What is
filled in are grades and comments; every other cell stays as it was written, in the encoding in
which it came, so the platform takes the file back.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Self

from selfcheck.files import CourseError
from selfcheck.ids import student_id
from selfcheck.units import units as all_units

from . import encodings
from .gradebook import Gradebook
from .names import NO_OWNERS
from .submissions import Submission
from .written_tables import Table, text_of

CANVAS, MOODLE, PLAIN = "Canvas", "Moodle", "table"
BOOK, D2L, BLACKBOARD, GRADESCOPE = "Moodle's gradebook", "Brightspace", "Blackboard", "Gradescope"
GOOGLE = "Google Classroom"
POINTS_POSSIBLE = "Points Possible"  # how Canvas knows the row that is no student
LAST_OF_D2L = "End-of-Line Indicator"  # a new column comes before it
EXACT = {CANVAS: {"Student", "ID", "Section"}, MOODLE: {"Identifier", "Grade"}}
EXACT |= {GOOGLE: {"Last Name", "First Name", "Email Address"}}
KINDS = {
    D2L: {"orgdefinedid"},
    BLACKBOARD: {"last name", "first name", "username"},
    GRADESCOPE: {"sid", "email"},
    BOOK: {"first name", "email address"},
}
# columns by kind: those that are one student's alone, the first one that is filled is the key;
# then those from which the student's id is taken; then names, which two students may share
SURE = {
    CANVAS: ("SIS Login ID", "ID", "SIS User ID", "Integration ID"),
    MOODLE: ("Email address", "Username", "Identifier", "ID number"),
    D2L: ("Username", "OrgDefinedId", "Email"),
    BLACKBOARD: ("Username", "Student ID"),
    GRADESCOPE: ("Email", "SID"),
    BOOK: ("Email address", "Username", "ID number"),
    PLAIN: (
        "student", "identifier", "login", "github username", "username", "email", "e-mail",
        "email address", "id", "number", "student id", "student number",
    ),
}  # fmt: skip
IDS = {
    CANVAS: ("SIS User ID", "SIS Login ID", "ID"),
    MOODLE: ("ID number", "Username", "Email address", "Identifier"),
    D2L: ("OrgDefinedId", "Username"),
    BLACKBOARD: ("Student ID", "Username"),
    GRADESCOPE: ("SID", "Email"),
    BOOK: ("ID number", "Username", "Email address"),
    PLAIN: ("id", "number", "student id", "student number", "student"),
}  # fmt: skip
TELLING = set(SURE[PLAIN]) - {"id", "number"}  # one of them makes a list a roster
IDS[PLAIN] += SURE[PLAIN]  # a login or an address, where there are no numbers
SURE[GOOGLE], IDS[GOOGLE] = SURE[BOOK], IDS[BOOK]
NAMES = {CANVAS: ("Student",), MOODLE: ("Full name",)}
USUAL_NAMES = ("name", "full name", "student name")
FIRST, LAST = ("First name",), ("Last name", "Surname")
AROUND = re.compile(  # what platforms write around the title of an assignment
    r"^\s*\w+:\s+(?=.*\(\w+\)$)|\s*(?:\(\w+\)|points grade.*|\[total pts.*|\[[\d.,]+\])$",
    re.IGNORECASE,
)
SPOILED = re.compile(r"\d+[.,]0+|\d[.,]\d+e\+?\d+|\de\+\d+", re.IGNORECASE)  # 17.0, 1.2E+11
AN_ID = re.compile(r"(?=.*[\d@])(?!\d+\.\d+$)[\w.@+-]{4,}")
PARTICIPANT = re.compile(r"(?P<word>\D+?)\s*\d+")
NUMBERS = {CANVAS: "ID", MOODLE: "Identifier"}  # what stands in the names of submissions
FEEDBACK, MODIFIED = "Feedback comments", "Last modified (submission)"
LOCKED = "Grade can be changed"
NO = re.compile(
    "no|nein|non|não|nee|nej|nei|ne|nie|ei|nem|nu|hayır|không|tidak|όχι|нет|ні|не|לא|لا|いいえ|否|"
    "아니오",
    re.IGNORECASE,
)
TIME = re.compile(r"(?<!\d)\d{4}(?!\d).*\d[:.]\d\d(?!\d)")
SCALE = "Scale"  # in place of a maximum grade
NOT_YET = {"", "-"}  # what Moodle writes for a grade or a time that is not there
DECIMAL = {",": re.compile(r"-?\d+,\d{1,2}"), ".": re.compile(r"-?\d+\.\d+")}
LEAST = (3, 5)  # letters, and digits, by which one is known in the name of a file
AS_TEXT = re.compile(r"#|'(?=\d)|=\"(?=.*\"$)")  # how tables keep numbers from being changed
SHEET = r"(?:homework|exercises?|sheet|unit|assignment|problem set|hw)"


@dataclass(frozen=True)
class Line:
    """One student of the roster."""

    place: int  # of its row in the file
    key: str  # the student's name in the gradebook
    name: str
    number: str  # as in the names of submissions
    id: str  # in units with numbers of one's own
    own_ids: frozenset[str]  # all that this student may have written for an id
    sure: frozenset[str] = field(default=frozenset(), repr=False)
    likely: frozenset[str] = field(default=frozenset(), repr=False)
    modified: str = ""  # when the platform got the submission, in its own words


@dataclass(frozen=True)
class Filling:
    """What is written into the roster for one student and unit."""

    points: float
    comment: str


class Roster:
    """A table of students, and the file that it came from."""

    def __init__(self, name: str, data: bytes, id_column: str | None = None) -> None:
        self.name, self.data = name, data
        self.encoding, text, doubt = text_of(data, name)
        self._table = Table.read(text, name)
        self.rows = self._table.rows
        self.head = [cell.strip() for cell in self.rows[0]]
        self._lower = [_plain(cell) for cell in self.head]
        self.kind = self._kind()
        whys = (doubt, self._too_long(), self._known_by())
        self.doubt = " ".join(f"{name} {why}" for why in whys if why)
        self._id_column = id_column
        if id_column and _plain(id_column) not in self._lower:
            raise CourseError(f"{name} has no column {id_column!r}; it has {', '.join(self.head)}.")

    @classmethod
    def read(cls, path: Path, id_column: str | None = None) -> Self:
        """The roster in this file."""
        try:
            return cls(path.name, path.read_bytes(), id_column)
        except OSError as error:
            raise CourseError(f"{path} cannot be read: {error.strerror}.") from None

    def _kind(self) -> str:
        # a plain table may have the words of these, in small letters
        known = [(wanted, self.head, kind) for kind, wanted in EXACT.items()]
        known += [(wanted, self._lower, kind) for kind, wanted in KINDS.items()]
        if found := [kind for wanted, words, kind in known if wanted <= set(words)]:
            return found[0]
        if self._is_worksheet():
            return MOODLE
        if TELLING & set(self._lower) or self._without_head():
            return PLAIN
        raise CourseError(
            f"{self.name} is no roster that is known here; its first line has "
            f"{', '.join(self.head)[:200]}. It should be a gradebook of Canvas (Student, ID, "
            "Section), Moodle, Brightspace, Blackboard, Gradescope, Sakai or Google Classroom, "
            "exported in English, a grading worksheet of Moodle (Identifier, Grade), or a table "
            "whose first line names a column `student`, and `id` if students have ids."
        )

    def _is_worksheet(self) -> bool:
        """A grading worksheet of Moodle in another language: told by its cells, then renamed.

        Its order is the same everywhere: participant, name, …, grade, maximum, …, comments.
        """
        rows = [row for row in self.rows[1:] if any(cell.strip() for cell in row)]
        words = {found["word"] for row in rows if (found := PARTICIPANT.fullmatch(row[0].strip()))}
        if not rows or len(words) != 1 or not all(len(row) == len(self.head) for row in rows):
            return False
        columns = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
        times = [k for k, column in enumerate(columns) if all(map(_is_time, column))]
        most = range(2, max(times, default=0) - 1)
        tops = [k for k in most if _is_top(columns[k - 1], columns[k])]
        if not tops or not all(PARTICIPANT.fullmatch(cell) for cell in columns[0]):
            return False
        top, mark = tops[-1], times[-1]  # the last time is that of the grade
        times = [k for k in times if k > top]
        named = {0: "Identifier", mark + 1: FEEDBACK, times[0] - 1: LOCKED, top - 1: "Grade"}
        named |= {top: SCALE if _number(columns[top][0]) is None else "Maximum Grade"}
        named |= {1: "Full name"} if top > 3 else {}  # nobody has one where marking is blind
        named |= {times[0]: MODIFIED} if len(times) > 1 else {}
        mails = [k for k in range(1, top - 1) if all("@" in cell for cell in columns[k])]
        named |= {place: "Email address" for place in mails[:1]}
        for place, name in named.items():
            if place < len(self.head):
                self.head[place], self._lower[place] = name, name.lower()
        return True

    def _without_head(self) -> bool:
        """A list of students and ids without a header gets one."""
        known = {word for words in (*SURE.values(), USUAL_NAMES, FIRST, LAST) for word in words}
        if len(self.head) != 2 or set(self._lower) & {word.lower() for word in known}:
            return False
        if any(map(str.strip, (cell for row in self.rows for cell in row[2:]))):
            return False
        self._table.begin_with(["student", "id"])
        self.head, self._lower = ["student", "id"], ["student", "id"]
        return True

    def _too_long(self) -> str:
        """What to know of rows in which something stands behind the last column."""
        long = [row[0].strip() for row in self.rows if any(map(str.strip, row[len(self.head) :]))]
        more = "has more cells than the header in the line of"
        fix = "If a name has a comma in it, put the name in quotes."
        return f"{more} {', '.join(long[:3])}. {fix}" if long else ""

    def _known_by(self) -> str:
        """By what a table knows its students that does not say so."""
        if self.kind != PLAIN or {"student", "student id"} & set(self._lower):
            return ""
        key, ids = (next(c for c in columns[PLAIN] if c in self._lower) for columns in (SURE, IDS))
        read = {*SURE[PLAIN], *USUAL_NAMES, *(word.lower() for word in (*FIRST, *LAST))}
        others = zip(self.head, self._lower, strict=True)
        unused = ", ".join(head for head, word in others if head and word not in read)[:200]
        more = f" If one of {unused} is a name or an id, call it `name` or `id`." if unused else ""
        return f"has no column `student`: students go by “{key}”, and ids are “{ids}”.{more}"

    # -- who is in it ---------------------------------------------------------------------------

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Every student, with a key that is nobody else's."""
        students = [place for place in range(1, len(self.rows)) if self._is_student(place)]
        keys = {place: self._first(place, SURE[self.kind]) for place in students}
        counts = Counter(map(_squeezed, keys.values()))
        twice = sorted({key for key in keys.values() if counts[_squeezed(key)] > 1})
        if twice:
            raise CourseError(f"{self.name} has a student twice: {', '.join(twice[:5])}.")
        own = self._own_columns(keys)
        lines = tuple(self._line(place, key, own) for place, key in keys.items())
        if not lines:
            raise CourseError(f"{self.name} has a header and no students.")
        if spoiled := [line.id for line in lines if SPOILED.fullmatch(line.id)]:
            raise CourseError(
                f"{self.name} has the id {spoiled[0]}, as a spreadsheet shows a number and nobody "
                "writes it. Make that column text, put the ids in again and save it as CSV."
            )
        ids = Counter(line.id for line in lines if line.id)
        if shared := [line.key for line in lines if ids[line.id] > 1]:
            raise CourseError(
                f"{self.name} has one id for several students: {', '.join(shared[:5])}. Each "
                "needs one that is nobody else's."
            )
        return lines

    def _is_student(self, place: int) -> bool:
        row = self.rows[place]
        if not any(cell.strip() for cell in row):
            return False
        if self.kind == CANVAS:  # the rows of posting policies and points come before students
            return bool(self._cell(place, "ID"))
        if self.kind == GOOGLE:  # so do dates, points and the mean of the class
            return "@" in self._cell(place, "Email address")
        return bool(self._first(place, SURE[self.kind]))

    @property
    def students(self) -> list[str]:
        """All but the one as whom Canvas lets instructors look at a course."""
        test = "Student, Test" if self.kind == CANVAS else None
        return [x.key for x in self.lines if self._cell(x.place, "Student") != test]

    def _own_columns(self, students: Iterable[int]) -> list[str]:
        """Whatever it is called, a column is of ids if all cells look like one and differ."""
        places, found = [*students], []
        for column in self.head if len(places) > 1 else []:
            cells = [self._cell(place, column) for place in places]
            if all(map(AN_ID.fullmatch, cells)) and len(set(cells)) == len(cells):
                found.append(column)
        return found

    def _line(self, place: int, key: str, own_columns: Sequence[str]) -> Line:
        sure = {self._cell(place, column) for column in (*SURE[self.kind], *own_columns)}
        columns = NAMES.get(self.kind, USUAL_NAMES)
        both = f"{self._first(place, FIRST)} {self._first(place, LAST)}".strip()
        names = {*(self._cell(place, column) for column in columns), both} - {""}
        mails = {cell.partition("@")[0] for cell in sure if "@" in cell}
        ids = (self._id_column,) if self._id_column else IDS[self.kind]
        number = self._cell(place, NUMBERS.get(self.kind, ""))
        own = [_as_id(cell) for cell in (*sure, *names, *mails, _digits(number))]
        likely = {_squeezed(form) for name in (*names, *sure) for form in _forms(name)}
        return Line(
            place,
            key,
            min(names, default=""),
            _digits(number),
            _as_id(self._first(place, ids)),
            frozenset(filter(None, own)),
            frozenset(filter(None, map(_squeezed, sure))),
            frozenset(filter(None, likely | set(map(_squeezed, mails)))),
            self._cell(place, MODIFIED),
        )

    def line_of(self, submission: Submission) -> tuple[Line | None, str]:
        """The student's line; None and why, if there is none or more than one."""
        if self.kind in NUMBERS and submission.platform == self.kind:
            line = self._by_number.get(submission.number)
            return line, "" if line else "is not in the roster."
        name = submission.student
        wanted = [name, name.removesuffix(f"_{submission.number}"), submission.number]
        for form in map(_squeezed, filter(None, wanted)):
            for forms in self._lines_of:
                if found := forms.get(form):
                    why = "" if len(found) == 1 else f"fits {len(found)} lines of the roster."
                    return (None if why else found[0]), why
        found = self._lines_of[0].get(_squeezed(name.partition("@")[0]), []) if "@" in name else []
        if len(found) == 1 and not any("@" in form for form in found[0].sure):
            return found[0], ""
        return None, "is not in the roster."

    @cached_property
    def _by_number(self) -> dict[str, Line]:
        return {line.number: line for line in reversed(self.lines)}

    @cached_property
    def _lines_of(self) -> list[dict[str, list[Line]]]:
        """The lines by what is one student's alone, and by what may be several's."""
        by_form: list[dict[str, list[Line]]] = [{}, {}]
        for line in self.lines:
            for forms, found in zip((line.sure, line.likely), by_form, strict=True):
                for form in forms:
                    found.setdefault(form, []).append(line)
        return by_form

    def named_in(self, text: str, own: Line | None = None) -> Line | None:
        """Who else is named by a text that is no common word and no part of one's own name."""
        form = _squeezed(text)
        if own and any(form in known for known in own.likely):
            return None
        found = [line for forms in self._lines_of for line in forms.get(form, ())]
        is_telling = len(form) >= LEAST[form.isdecimal()] and not NO_OWNERS.fullmatch(text)
        return found[0] if is_telling and len({line.key for line in found}) == 1 else None

    def line_named(self, name: str) -> Line | None:
        """The line that an instructor means by this name."""
        return self.line_of(Submission(name, "", ""))[0]

    # -- filling it in --------------------------------------------------------------------------

    def filled(
        self,
        grades: Mapping[str, Mapping[str, Filling]],
        columns: Mapping[str, str] | None = None,
        points: Mapping[str, int] | None = None,
    ) -> tuple[dict[str, str], list[str]]:
        """Files by name, and remarks; `grades` are by unit, then by the key of a line."""
        remarks: list[str] = []
        if self.kind != MOODLE:
            rows = [list(row) for row in self.rows]
            chosen = columns or {}
            # new columns come last: they move those behind them
            for unit in sorted(grades, key=lambda u: (self._column_of(u, chosen) is None, u)):
                self._fill_column(rows, unit, grades[unit], columns or {}, points or {}, remarks)
            files = {f"filled_{self.name}": self._table.filled(rows)}
            return files, [*remarks, *self._in_other_letters(files)]
        files = {}
        for unit, by_key in sorted(grades.items()):
            rows = [list(row) for row in self.rows]
            self._fill_worksheet(rows, by_key, (points or {}).get(unit), unit, remarks)
            files[f"filled_{unit}_{self.name}"] = self._table.filled(rows)
        return files, [*remarks, *self._in_other_letters(files)]

    def _in_other_letters(self, files: Mapping[str, str]) -> Iterator[str]:
        for name, text in files.items():
            if not encodings.is_writable(text, self.encoding):
                yield f"{name} is UTF-8, for {self.name} has no letters for all that is in it."

    def _fill_column(
        self,
        rows: list[list[str]],
        unit: str,
        by_key: Mapping[str, Filling],
        columns: Mapping[str, str],
        points: Mapping[str, int],
        remarks: list[str],
    ) -> None:
        place = self._column_of(unit, columns)
        most = points.get(unit)
        if place is None:
            place, last = max(len(row) for row in rows), self._place(LAST_OF_D2L)
            for row in filter(None, rows):  # an empty line stays one
                row += [""] * (place - len(row))
                row.insert(place if last is None else last, "")
            place = place if last is None else last
            rows[0][place] = f"{unit} Points Grade" if self.kind == D2L else unit
            remarks.append(f"{unit} is a new column of {self.name}.")
            if self.kind == CANVAS and most is not None:
                for row in filter(None, rows[1:]):
                    if row[0].strip() == POINTS_POSSIBLE:
                        row[place] = str(most)
        else:
            remarks.append(f"{unit} is filled into the column {self.head[place]}.")
            remarks += self._other_scale(rows, place, most)
            bare = [re.sub(r"\s*\(\d+\)$", "", head) for head in self.head]
            if (twice := bare.count(bare[place])) > 1:
                remarks.append(
                    f"{twice} columns are called {bare[place]}: if {self.head[place]} is not the "
                    "right one, name it in the rules of the class, [class.roster.columns]."
                )
        for line in self.lines:
            if line.key in by_key:
                row = rows[line.place]
                row += [""] * (place + 1 - len(row))
                row[place] = self._as_number(f"{by_key[line.key].points:g}")

    def _other_scale(self, rows: list[list[str]], place: int, most: int | None) -> Iterator[str]:
        for row in filter(None, rows[1:]):
            if row[0].strip() == POINTS_POSSIBLE and most is not None and len(row) > place:
                possible = _number(row[place])
                if possible is not None and possible != most:
                    yield (
                        f"The column {self.head[place]} is out of {possible:g} points, the unit "
                        f"out of {most}; points were written as they are."
                    )

    def require(self, columns: Iterable[str]) -> None:
        """Refuse columns that the rules of the class name, and that are not there."""
        missing = [column for column in columns if column not in self.head]
        if missing and self.kind != MOODLE:
            has = ", ".join(self.head)[:300]
            raise CourseError(f"{self.name} has no column {missing[0]!r}; it has {has}.")

    def _column_of(self, unit: str, columns: Mapping[str, str]) -> int | None:
        """The column of an assignment: as the settings say, or the one that is named after it."""
        if unit in columns:
            self.require([columns[unit]])
            return self.head.index(columns[unit])
        about = next((u for u in all_units() if u.stem == unit), None)
        titles = [unit, unit.partition("_")[2], *((about.title, about.label) if about else ())]
        number = unit.partition("_")[0].lstrip("0") or "0"
        sheet = rf"{SHEET}\W*0?{number}"
        heads = [AROUND.sub("", head) for head in self.head]
        named = [_squeezed(head) for head in heads]
        same = [named.index(title) for title in map(_squeezed, titles) if title in named]
        holding = [k for k, head in enumerate(heads) if unit.lower() in head.lower()]
        bare, more = (
            [k for k, head in enumerate(heads) if re.fullmatch(sheet + after, head, re.IGNORECASE)]
            for after in ("", r"(?!\d)\D*")
        )
        # of several that only resemble it, nobody knows which
        likely = (same[:1], holding, bare, more)
        return next((found[0] for found in likely if len(found) == 1), None)

    def _fill_worksheet(
        self,
        rows: list[list[str]],
        by_key: Mapping[str, Filling],
        most: int | None,
        unit: str,
        remarks: list[str],
    ) -> None:
        grade, possible = self._place("Grade"), self._place("Maximum Grade")
        comment, locked = self._place(FEEDBACK), self._place(LOCKED)
        assert grade is not None  # else it would be no worksheet
        scales = set()
        for line in self.lines:
            row, filling = rows[line.place], by_key.get(line.key)
            if filling is None:
                continue
            row += [""] * (len(self.head) - len(row))
            if locked is not None and NO.fullmatch(row[locked].strip()):
                remarks.append(f"Moodle does not let the grade of {line.key} be changed.")
                continue
            if self._place(SCALE) is None:
                row[grade] = self._as_number(f"{filling.points:.2f}")
            if comment is not None:
                row[comment] = filling.comment
            scales.add(_number(row[possible]) if possible is not None else None)
        if self._place(SCALE) is not None:
            remarks.append(
                f"{unit} has a scale in Moodle and no points: only comments were written."
            )
        for scale in scales - {None, most}:
            remarks.append(f"{unit} is out of {scale:g} in Moodle, and out of {most} here.")

    def _as_number(self, text: str) -> str:
        return text.replace(".", ",") if self._has_decimal_commas else text

    @cached_property
    def _has_decimal_commas(self) -> bool:
        """Do all numbers of the file that have a decimal sign have a comma?"""
        cells = [cell.strip() for row in self.rows[1:] for cell in row]
        comma, point = (any(map(DECIMAL[sign].fullmatch, cells)) for sign in ",.")
        return comma and not point

    def encoded(self, text: str) -> bytes:
        """A file as the roster came; as UTF-8 where that has no letters for it."""
        if encodings.is_writable(text, self.encoding):
            return text.encode(self.encoding)
        return b"\xef\xbb\xbf" + text.removeprefix("\ufeff").encode()

    # -- inside ---------------------------------------------------------------------------------

    def _place(self, column: str) -> int | None:
        return self._lower.index(_plain(column)) if _plain(column) in self._lower else None

    def _cell(self, place: int, column: str) -> str:
        at = self._place(column)
        row = self.rows[place]
        if at is None or at >= len(row):
            return ""
        cell = row[at].strip()
        return cell[as_text.end() :].rstrip('"') if (as_text := AS_TEXT.match(cell)) else cell

    def _first(self, place: int, columns: Iterable[str]) -> str:
        return next(filter(None, (self._cell(place, column) for column in columns)), "")


def kept_roster(book: Gradebook) -> Roster | None:
    """The roster that the gradebook was made with."""
    if not (data := book.kept("roster")):
        return None
    column = book.kept_text("roster id") or None
    return Roster(book.kept_text("roster name"), data, column)


def _plain(head: str) -> str:
    """What stands above a column, as all its spellings are compared."""
    return " ".join(head.lower().replace("_", " ").split())


def _squeezed(text: str) -> str:
    """Letters and digits alone, small: what stays of a name in the name of a file."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in plain if c.isalnum() or c in "@")


def _forms(name: str) -> Iterator[str]:
    """`Lovelace, Ada` as it stands, and the other way round."""
    yield name
    last, comma, first = name.partition(",")
    if comma:
        yield f"{first} {last}"
    elif " " in name:
        first, _, last = name.rpartition(" ")
        yield f"{last} {first}"


def _digits(text: str) -> str:
    """`123` of `Participant 123`."""
    found = re.search(r"(\d+)\s*$", text)
    return found[1] if found else text


def _is_time(cell: str) -> bool:
    """Is it a time as Moodle writes it, or that there is none?"""
    return cell == "-" or TIME.search(cell) is not None


def _is_top(grades: Sequence[str], column: Sequence[str]) -> bool:
    """Is it the column of the most points or of the scale, behind that of these grades?"""
    top = {*column}
    is_scale = len(top) == 1 and ", " in column[0]
    if len(top) == 1 and _number(column[0]) is not None:
        return all(grade in NOT_YET or _number(grade) is not None for grade in grades)
    return is_scale and {*grades} <= NOT_YET | {*column[0].split(", ")}


def _as_id(text: str) -> str:
    try:
        return student_id("".join(c for c in text if unicodedata.category(c) != "Cf"))
    except ValueError:
        return ""


def _number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None
