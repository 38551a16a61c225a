"""Submissions and the roster of a class: each one gets its line, or is told to have none."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath

from selfcheck.ids import student_id

from .names import members, split_name
from .records import NOT_HOW_LATE
from .roster import Line, Roster
from .settings import Settings, moodle_time
from .submissions import OTHERWISE, Class, Submission


@dataclass(frozen=True)
class Enrolled:
    """A class whose students go by their names in the roster; without one, as they were found."""

    submissions: tuple[Submission, ...]
    unplaced: tuple[str, ...]
    reading: tuple[str, ...] = ()
    missing: dict[str, list[str]] = field(default_factory=dict)  # units of which no file is here
    lines: dict[str, Line] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)  # as found, and as in the roster


def enrolled(klass: Class, roster: Roster | None) -> Enrolled:
    """Match every submission to a line; two of a unit that claim the same are both left out."""
    if roster is None:
        groups = dict(klass.groups)
        return Enrolled(klass.submissions, klass.unplaced, klass.reading, renamed=groups)
    claims: dict[tuple[str, str], set[str]] = defaultdict(set)
    found: list[tuple[Submission, Line]] = []
    unplaced = list(klass.unplaced)
    begin = _begin_of_all({s.student for s in klass.submissions}, roster)
    told = [f"Names are read without {begin}, with which all begin."] if begin else []
    for submission in klass.submissions:
        bare = submission.student.removeprefix(begin)
        line, why = roster.line_of(replace(submission, student=bare))
        if "/" not in submission.file:  # `01_sums_Ann Late` is late work of Ann, or Ann Late's
            line = line or roster.named_in(_beside_unit(submission.file, submission.unit))
        if line and submission.doubt.endswith(OTHERWISE):  # the roster says that it is a student
            submission = replace(submission, doubt="")
        if not submission.doubt and (doubt := _of_another(submission, line, roster)):
            submission = replace(submission, doubt=doubt)
            told.append(doubt)
        if line is None:
            why = f"{why} {submission.doubt}".strip()
            unplaced.append(f"{submission.file}: {submission.student} {why}")
        else:
            claims[line.key, submission.unit].add(submission.student)
            found.append((submission, line))
    kept = []
    for submission, line in found:
        claimed = claims[line.key, submission.unit]
        if len(claimed) > 1:
            names = " and ".join(sorted(claimed))
            unplaced.append(f"{submission.file}: {names} both fit the line of {line.key}.")
        else:
            kept.append((submission, line))
    keys = {submission.student: line.key for submission, line in kept}
    units = sorted({submission.unit for submission in klass.submissions})
    missing = {key: [u for u in units if (key, u) not in claims] for key in roster.students}
    return Enrolled(
        tuple(_named(submission, line.key, keys) for submission, line in kept),
        tuple(unplaced),
        (f"Students go by {roster.name}, a roster from {_origin(roster)}.",)
        + ((roster.doubt,) if roster.doubt else ())
        + tuple(told),
        {key: units for key, units in missing.items() if units},
        {line.key: line for line in roster.lines},
        {name: keys.get(first, first) for name, first in klass.groups.items()}
        | {s.student: line.key for s, line in kept if s.student != line.key},
    )


def _begin_of_all(names: set[str], roster: Roster) -> str:
    """What all names begin with where none is in the roster: `hw1-` of hw1-ada, hw1-bob."""
    begin = min(names, default="")
    while begin and (begin[-1] not in "-_. " or not all(n.startswith(begin) for n in names)):
        begin = begin[:-1]
    have_letters = all(re.search(r"[^\W\d_]", name.removeprefix(begin)) for name in names)
    is_ours = have_letters and len(names) > 1 and not any(map(roster.line_named, names))
    return begin if is_ours else ""


def _of_another(submission: Submission, line: Line | None, roster: Roster) -> str:
    """That one of a student's files bears the name of another in the roster, in a sentence."""
    for one in (submission, *submission.earlier):
        for part in PurePosixPath(one.file).parts:
            if other := roster.named_in(_beside_unit(part, one.unit), line):
                otherwise = "" if line else f" {OTHERWISE}"
                return f"{one.file} bears the name of {other.key}.{otherwise}"
    return ""


def _beside_unit(name: str, unit: str) -> str:
    """What the name of a file or folder says besides its unit."""
    return re.sub(re.escape(unit), " ", split_name(name)[0], flags=re.IGNORECASE)


def _named(submission: Submission, key: str, keys: Mapping[str, str]) -> Submission:
    partners = tuple(keys.get(name, name) for name in submission.partners)
    doubt = "" if members(key) else submission.doubt  # a group of the roster is one line
    named = replace(submission, student=key, partners=partners, doubt=doubt)
    earlier = tuple(replace(s, student=key, partners=partners) for s in submission.earlier)
    return replace(named, earlier=earlier)


def _origin(roster: Roster) -> str:
    return "a plain table" if roster.kind == "table" else roster.kind


def lateness(
    submission: Submission, line: Line | None, settings: Settings
) -> tuple[float | None, tuple[str, ...]]:
    """How many days late it is, and what a person should know about that."""
    names = _names(submission, line)
    handed_in = None
    if line is not None and line.modified:
        handed_in = moodle_time(line.modified)
    if handed_in is None and settings.by_file_time and submission.stamp:
        handed_in = datetime.fromtimestamp(submission.stamp)
    days = settings.days_late(submission.unit, handed_in, names)
    if days is not None:
        return (days or None), ()
    if not submission.is_late:
        return None, ()
    if settings.extra_for(names):
        return None, ("It is marked as late, and the student has extra time: look how late.",)
    return 1.0, (NOT_HOW_LATE,)


def without_time(class_: Enrolled, settings: Settings) -> Iterator[str]:
    """That the roster has times which say nothing here, where they would decide who is late."""
    times = (line.modified for line in class_.lines.values() if re.search(r"\d", line.modified))
    odd = next((time for time in times if moodle_time(time) is None), None)
    if settings.deadlines and odd is not None:
        yield (
            f"The roster has times that cannot be read, such as “{odd}”: whoever has one counts "
            "as in time. Export it in English to see who is late."
        )


def unknown_extra(class_: Enrolled, settings: Settings) -> Iterator[str]:
    """That nobody of the roster goes by a name that has extra time."""
    known = {own for line in class_.lines.values() for own in (_spelled(line.key), *line.own_ids)}
    for name in sorted(settings.extra.keys() - known) if class_.lines else ():
        yield f"{name} has extra time in the rules of the class, and is nobody in the roster."


def _names(submission: Submission, line: Line | None) -> set[str]:
    names = set(line.own_ids) | {line.key} if line else {submission.student}
    return {spelled for name in names if (spelled := _spelled(name))}


def _spelled(name: str) -> str:
    try:
        return student_id(name)
    except ValueError:
        return ""


def before_grading(class_: Enrolled) -> Iterator[str]:
    """What an instructor reads before anything runs: how names were read, what has no place."""
    yield from class_.reading
    yield from shortened(class_.unplaced, "not placed")


def shortened(lines: Sequence[str], word: str) -> Iterator[str]:
    """The first of these lines behind a word, and how many more there are."""
    for line in lines[:50]:
        yield f"{word}: {line}"
    if len(lines) > 50:
        yield f"{word}: and {len(lines) - 50} more"
