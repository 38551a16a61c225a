"""The rules of a class: the table [class] in `course.toml`, in the folder of the course.

docs/instructors.md has an example of all of it. A file of its own (`course grade --settings FILE`)
may hold the same, with or without `class`.
"""

from __future__ import annotations

import contextlib
import math
import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from selfcheck.files import CourseError
from selfcheck.ids import student_id
from selfcheck.sealed import NEVER, WHEN
from selfcheck.units import meant, units

NAME = "course.toml"
ATTEMPTS = ("last", "best")
GROUPS = ("yes", "no")  # whether a file named after several is of each of them
LATE = re.compile(r"(?P<percent>\d+(?:\.\d+)?)\s*%(?:\s*(?:an?|per|/)\s*(?P<per>day|hour))?")
TIME = re.compile(r"(?P<count>\d{1,4}(?:\.\d+)?)\s*(?P<unit>day|hour|minute|week)s?")
TEXTS = ("late", "attempt", "groups", "without", "solutions", "slides")
KNOWN: dict[str, type] = dict.fromkeys(TEXTS, str)
KNOWN |= {"deadlines": dict, "extra": dict, "roster": dict}
LEFT_OUT = ("", "transfer", "essentials")
KNOWN_OF_ROSTER = {"id": str, "time": str, "columns": dict}
MOODLE_TIMES = (
    "%A, %d %B %Y, %I:%M %p",
    "%A, %d %B %Y, %H:%M",
    "%A, %B %d, %Y, %I:%M %p",
    "%Y-%m-%d %H:%M",
)
# 16. November 2026, 15:54; 16 de noviembre de 2026, 15:54; 2026年 11月 16日(月曜日) 15:54
IN_WORDS = re.compile(
    r"(?P<day>\d{1,2})\.?\s+(?:de\s+)?(?P<month>[^\W\d]{3,})\.?\s+(?:de\s+)?(?P<year>\d{4})\D+"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)$"
)
IN_SIGNS = re.compile(
    r"(?P<year>\d{4})年\s*(?P<month>\d{1,2})月\s*(?P<day>\d{1,2})日\D*?"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)$"
)
MONTHS = (  # how they begin in the languages of Western Europe
    "jan gen ene", "feb fev", "mar maa mrt", "apr abr avr", "mai may mag mei maj", "jun giu juin",
    "jul lug juil", "aug ago aou", "sep set", "oct okt ott out", "nov", "dec dez dic des",
)  # fmt: skip


@dataclass(frozen=True)
class LateRule:
    """So many percent of the points are lost, once or for each day or hour that is begun."""

    text: str = "none"
    percent: float = 0.0
    per: str = ""

    @classmethod
    def read(cls, text: str) -> LateRule:
        """`10% a day`, `2% an hour`, `50%` or `none`."""
        plain = " ".join(text.lower().split())
        if plain in ("", "none"):
            return cls()
        found = LATE.fullmatch(plain)
        if not found or float(found["percent"]) > 100:
            raise CourseError(f'A rule for late work is "10% a day" or "none", not {text!r}.')
        return cls(plain, float(found["percent"]), found["per"] or "")

    def deduction(self, earned: float, days: float | None) -> float:
        """The points that are lost, down to a half: what is left over is the student's."""
        if not days or days <= 0 or not self.percent:
            return 0.0
        begun = {"day": days, "hour": 24 * days}.get(self.per, 1.0)
        share = min(1.0, self.percent / 100 * math.ceil(round(begun, 6)))
        return math.floor(2 * earned * share + 1e-9) / 2


@dataclass(frozen=True)
class Settings:
    """The rules of a class; where nothing is said, all is left as it was."""

    late: str | None = None
    attempt: str | None = None
    groups: str | None = None
    without: str | None = None
    solutions: str | None = None  # when students may see them
    slides: str = ""
    deadlines: Mapping[str, datetime] = field(default_factory=dict)
    extra: Mapping[str, timedelta] = field(default_factory=dict)
    id_column: str | None = None
    by_file_time: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    text: str = ""  # the file itself, if there is a rule in it

    def extra_for(self, names: set[str]) -> timedelta:
        """The extra time of the student who goes by these names."""
        return max((self.extra[name] for name in names & set(self.extra)), default=timedelta())

    @property
    def longest_extra(self) -> timedelta:
        """The extra time of whoever has most of it."""
        return max(self.extra.values(), default=timedelta())

    def days_late(self, unit: str, handed_in: datetime | None, names: set[str]) -> float | None:
        """Days after the deadline and the extra time; None where one of the times is not known."""
        if handed_in is None or unit not in self.deadlines:
            return None
        over = handed_in - self.deadlines[unit] - self.extra_for(names)
        return max(0.0, over / timedelta(days=1))


def read_settings(path: Path, *, must_exist: bool = False) -> Settings:
    """The settings in this file; none if there is no such file."""
    if not path.exists() and not must_exist:
        return Settings()
    try:
        return read_text(path.read_text(encoding="utf-8-sig"), str(path))
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CourseError(f"{path} cannot be read: it is not UTF-8. Save it as that.") from None


def read_text(text: str, name: str = NAME) -> Settings:
    """The settings in a file with this text."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{name} cannot be read: {error}.") from None
    if "class" in data or "package" in data:  # the file of a course, with rules or without
        _refuse_unknown({"class": data.get("class", {})}, {"class": dict}, name)
        data, name = data.get("class", {}), f"{name}, [class]"
    return replace(settings_of(data, name), text=text if data else "")


def settings_of(data: dict[str, Any], name: str = NAME) -> Settings:
    """The settings from such a table; CourseError names the line that is not sound."""
    _refuse_unknown(data, KNOWN, name)
    roster = data.get("roster", {})
    _refuse_unknown(roster, KNOWN_OF_ROSTER, f"{name}, [roster]")
    if data.get("attempt", "last") not in ATTEMPTS:
        raise CourseError(f'{name}: attempt is "last" or "best", not {data["attempt"]!r}.')
    if data.get("groups", "no") not in GROUPS:
        raise CourseError(f'{name}: groups is "yes" or "no", not {data["groups"]!r}.')
    if data.get("without", "") not in LEFT_OUT:
        raise CourseError(
            f'{name}: without is "transfer" or "essentials", not {data["without"]!r}.'
        )
    if data.get("solutions", NEVER) not in WHEN:
        told = ", ".join(f'"{when}"' for when in WHEN)
        raise CourseError(f"{name}: solutions is one of {told}, not {data['solutions']!r}.")
    if roster.get("time", "platform") not in ("platform", "file"):
        raise CourseError(f'{name}: time is "platform" or "file", not {roster["time"]!r}.')
    return Settings(
        late=_late(data["late"], name) if "late" in data else None,
        attempt=data.get("attempt"),
        groups=data.get("groups"),
        without=data.get("without"),
        solutions=data.get("solutions"),
        slides=" ".join(data.get("slides", "").split()),
        deadlines=_read(data.get("deadlines", {}), _unit, _moment, name),
        extra=_read(data.get("extra", {}), _student, _time, name),
        id_column=roster.get("id"),
        by_file_time=roster.get("time") == "file",
        columns=_read(roster.get("columns", {}), _unit, _column, name),
    )


def moodle_time(text: str) -> datetime | None:
    """When Moodle got a submission, from what its worksheet says; None if that is no time."""
    for form in MOODLE_TIMES:
        try:
            return datetime.strptime(text.strip(), form)
        except ValueError:
            continue
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return _in_another_language(plain.strip().casefold())


def _in_another_language(text: str) -> datetime | None:
    found = IN_WORDS.search(text) or IN_SIGNS.search(text)
    if found is None or "午" in text:  # before noon or after it
        return None
    month = found["month"]
    known = [n for n, starts in enumerate(MONTHS, 1) if month.startswith(tuple(starts.split()))]
    number = int(month) if month.isdecimal() else next(iter(known), 0)
    try:
        year, day, hour, minute = (int(found[p]) for p in ("year", "day", "hour", "minute"))
        return datetime(year, number, day, hour, minute)
    except ValueError:
        return None


def _refuse_unknown(data: dict, known: Mapping[str, type], name: str) -> None:
    for key, value in data.items():
        if key not in known:
            raise CourseError(f"{name}: there is no setting {key!r}; there are {', '.join(known)}.")
        if not isinstance(value, known[key]):
            wanted = "a table" if known[key] is dict else "text in quotes"
            raise CourseError(f"{name}: {key} should be {wanted}, not {value!r}.")


def _read(
    table: Mapping[str, Any],
    key_of: Callable[[str, str], str],
    value_of: Callable[[Any, str], Any],
    name: str,
) -> dict[str, Any]:
    """A table by the names that count: of one thing under two names, nobody knows which holds."""
    found: dict[str, Any] = {}
    for word, value in table.items():
        if (key := key_of(word, name)) in found:
            raise CourseError(f"{name}: {key} is there twice, once as {word!r}.")
        found[key] = value_of(value, name)
    return found


def _late(text: str, name: str) -> str:
    try:
        return LateRule.read(text).text
    except CourseError as error:
        raise CourseError(f"{name}: {error}") from None


def _column(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise CourseError(f"{name}: a column is its title in quotes, not {value!r}.")
    return value


def _unit(word: str, name: str) -> str:
    stem = meant(word, [unit.stem for unit in units()])
    if stem is None:
        raise CourseError(f"{name}: there is no unit {word!r}.")
    return stem


def _moment(value: Any, name: str) -> datetime:
    if isinstance(value, datetime):
        with contextlib.suppress(OverflowError):  # it may be before all time here
            return value.astimezone().replace(tzinfo=None) if value.tzinfo else value
    elif isinstance(value, date):
        return datetime(value.year, value.month, value.day, 23, 59, 59)
    raise CourseError(f"{name}: a deadline is a date such as 2026-11-16T23:59:00, not {value!r}.")


def _time(value: Any, name: str) -> timedelta:
    found = TIME.fullmatch(str(value).strip().lower())
    if not found:
        raise CourseError(f'{name}: extra time is "3 days" or "12 hours", not {value!r}.')
    return timedelta(**{f"{found['unit']}s": float(found["count"])})


def _student(word: str, name: str) -> str:
    try:
        return student_id(word)
    except ValueError:
        raise CourseError(f"{name}: {word!r} is no student.") from None
