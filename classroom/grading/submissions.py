"""Finding the submissions of a class: whose each file is, and of which unit.

The student is the folder, zip or file name that the platform made: the first part of a path that is
no unit; docs/instructors.md has examples. Whatever lies inside a student's own folder or zip is
that student's, however it is called. Other trees are described by a layout. An attempt at a unit is
a file that holds its exercises; what else lies there (lectures, scratch files) is named and never
stands for one. What cannot be placed is told, never dropped in silence, and where one "student's"
files bear the names of several, nothing is graded.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath

from selfcheck.files import CourseError
from selfcheck.units import meant

from .archives import LARGEST, Found, Walk, is_looked_into
from .contents import FEW_CALLS, OURS, UNREADABLE, UNTOUCHED, WORKED_ON, Contents, Kind
from .names import (
    AGAIN,
    COPY_OF,
    NO_OWNERS,
    NO_STUDENTS,
    ONCE_MORE,
    Owner,
    flat,
    gradescope_names,
    is_notebook,
    members,
    name_within,
    namesakes,
    owner,
    split_name,
    told_apart,
    unit_named,
)
from .submitted import submitted_cells

ARCHIVES = (".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz")
WRITTEN_ID = re.compile(r"""^student\s*=\s*["']?([\w-]+)["']?\s*(?:#.*)?$""", re.MULTILINE)
JOINERS = "\u200c\u200d"  # of letters and emoji; other signs of no width only mislead
CLUTTER = {"index.html", "submission_metadata.yml"}  # what platforms add for their own use
RULE = (
    "The first folder, zip or file name that the platform made says whose a file is; everything "
    "inside is that student's."
)


@dataclass(frozen=True)
class Submission:
    """One student's notebook for one unit: its cells, or the problem that there are none."""

    student: str
    unit: str
    file: str
    size: int = 0
    read: Callable[[], bytes] = field(default=bytes, compare=False)
    problem: str = ""
    notes: tuple[str, ...] = ()
    number: str = ""  # the platform's number of the student
    platform: str = ""
    is_late: bool = False  # by the platform's word
    stamp: float = 0.0
    attempt: int = 1
    content: str = ""  # a digest of the file, where it could be read
    partners: tuple[str, ...] = ()  # who handed it in together with this student
    doubt: str = ""  # why it may be of several
    lacks: str = ""  # which exercises stand in an earlier file alone
    earlier: tuple[Submission, ...] = field(default=(), compare=False)

    def data(self) -> bytes:
        """The file, read when it is needed; CourseError says why it cannot be."""
        if self.problem:
            raise CourseError(self.problem)
        if self.size > LARGEST:
            size, most = self.size >> 20, LARGEST >> 20
            raise CourseError(f"the file has {size} MB; {most} MB is the limit.")
        try:
            data = self.read()
        except OSError as error:
            raise CourseError(f"the file cannot be read: {error}.") from None
        if len(data) > LARGEST:
            raise CourseError("the file is larger than it says; it was not read.")
        return data


@dataclass(frozen=True)
class Class:
    """All submissions by student and unit, and a sentence for each file that is none."""

    submissions: tuple[Submission, ...]
    unplaced: tuple[str, ...]
    reading: tuple[str, ...] = ()  # how names were read: the rule, and examples
    groups: Mapping[str, str] = field(default_factory=dict)  # by name, with their first member


def find(
    source: Path,
    units: Mapping[str, Iterable[str]],
    only: str | None = None,
    layout: str | None = None,
    contents: Contents | None = None,
    groups: bool = False,
) -> Class:
    """The submissions in a folder or zip; `units` has the exercise names of each unit.

    `contents` knows what the course's own notebooks hold. With `groups`, what is named after
    several is of each of them.
    """
    pattern = Layout(layout, source) if layout else None
    walk = (
        Walk(source, pattern.depth, pattern.may_lead_to)
        if pattern
        else Walk(source, lambda parts: _depth(parts, units))
    )
    files = list(walk.files())
    placing = _Placing(contents or Contents(units), only, walk, pattern)
    if pattern is None:
        placing.read_names(files)
    for file in files:
        placing.add(file)
    placing.tell_namesakes_apart()
    if pattern is None:
        placing.refuse_several_in_one(source)
    submissions, passed_over = placing.submissions(groups), list(placing.passed_over())
    students = {s.student for s in submissions} | set(placing.groups)
    for student, problem in placing.empty_handed(source, students):
        if only:
            submissions.append(Submission(student, only, student, problem=problem))
        else:
            placing.unplaced.append(f"{student}: {problem}")
    if pattern:
        pattern.refuse_if_none(submissions, files)
    if not submissions and not placing.unplaced:
        raise CourseError(f"There are no notebooks in {source}.")
    reading = (layout and f"Names are read by {layout}.") or RULE
    doubts = dict.fromkeys(s.doubt for s in submissions if s.doubt)
    told = (*_examples(submissions), *passed_over, *doubts)
    found = tuple(submissions), tuple(placing.unplaced), (reading, *told)
    return Class(*found, groups=placing.groups)


def _examples(submissions: Sequence[Submission]) -> Iterator[str]:
    """Up to three files as they were read, as different as there are."""
    with_file = [s for s in submissions if not s.problem]
    kinds = {(s.platform, s.file.count("/"), ".zip/" in s.file): s for s in reversed(with_file)}
    chosen = list(kinds.values())[::-1]
    chosen += [s for s in with_file[:3] if s not in chosen]
    for s in chosen[:3]:
        yield f"{s.file}: the student is {s.student}, the unit {s.unit}"


FEW = 3  # students, who might as well be the sections of a class
OTHERWISE = (
    "Are these several students? Then pass the folder in which they are, or say where that is: "
    '--layout "*/{student}/**".'
)
TOGETHER = (
    "{} is named after several ({}), and counts as one student. If they handed it in together, "
    "`--groups` gives the grade to each of them."
)


def _inside(s: Submission, units: Mapping[str, Iterable[str]]) -> tuple[tuple[str, ...], set[str]]:
    """Where a student's attempts part, and the names that are not the student's there."""
    paths = [PurePosixPath(attempt.file).parts for attempt in (s, *s.earlier)]
    begin = _depth(paths[0], units) + 1
    while min(map(len, paths)) > begin + 1 and len({path[begin] for path in paths}) == 1:
        begin += 1
    names = {_first_name(path, begin, units) for path in paths} - {""}
    return paths[0][:begin], {name for name in names if not _is_own(name, s.student)}


def _first_name(parts: Sequence[str], begin: int, units: Mapping[str, Iterable[str]]) -> str:
    """What the first part says from there on that says anything."""
    last = len(parts) - 1
    if begin > last:  # what is behind the owner's name, such as `exam - Ada` says it
        return name_within(owner(parts[last], units, is_folder=False).named, True, units)
    names = (name_within(parts[n], n < last, units) for n in range(begin, len(parts)))
    return next(filter(None, names), "")


def _is_own(name: str, student: str) -> bool:
    """Is it this student's name, or a part of it, with words that anybody's file has?"""
    words = (w for w in re.findall(r"[^\W_]+", name.casefold()) if not NO_OWNERS.fullmatch(w))
    return all(word in student.casefold() for word in words)


def _listed(names: Iterable[str]) -> str:
    names = sorted(names)
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")


# -- whose they are -------------------------------------------------------------------------------


def _depth(parts: Sequence[str], units: Mapping[str, Iterable[str]]) -> int:
    """How many folders of a path are of the class: those named after a unit, at the top."""
    depth = 0
    while depth < len(parts) - 1 and _unit_folder(parts[depth], units):
        depth += 1
    return depth


def _unit_folder(name: str, units: Mapping[str, Iterable[str]]) -> str:
    stem = name[:-4] if name.lower().endswith(".zip") else name
    return next((unit for unit in units if unit.lower() == stem.lower()), "")


@dataclass(frozen=True)
class _Attempt:
    """A file that may be an attempt, and all that is known of it."""

    file: Found
    who: Owner
    kind: Kind
    named: str  # the unit that its name says
    digest: str = ""  # of its content
    id: str = ""  # the student's, as it is written there


class _Placing:
    """Files as they are given to students, and sentences for those that are not."""

    def __init__(
        self, contents: Contents, only: str | None, walk: Walk, layout: Layout | None = None
    ) -> None:
        self.contents, self.only, self.walk, self.layout = contents, only, walk, layout
        self.units = contents.units
        self.placed: dict[tuple[str, str], list[_Attempt]] = defaultdict(list)
        self.instead: list[_Attempt] = []  # notebooks that are no attempts
        self.unplaced: list[str] = []
        self.doubts: dict[str, str] = {}  # by student
        self.groups: dict[str, str] = {}  # by name, with their first member
        self.others: dict[str, list[str]] = defaultdict(list)  # what is no notebook, by student
        self.names: dict[str, tuple[str, ...]] = {}  # by Gradescope's number
        self.namesakes: dict[str, set[str]] = defaultdict(set)  # what they are called in full
        self._below: dict[str, dict[tuple[str, ...], set[tuple[str, bool]]]] = {}

    def read_names(self, files: Sequence[Found]) -> None:
        """Take the names of students from the list that Gradescope adds."""
        for file in files:
            if file.path.name == "submission_metadata.yml" and file.size < 1 << 24:
                with contextlib.suppress(OSError):
                    self.names |= gradescope_names(file.read().decode("utf-8", "replace"))

    def add(self, file: Found) -> None:
        """Place one file, or say why it is not."""
        if self.layout:
            who, named = self.layout.read(file.path, self.units)
        else:
            who, named = self._read(file)
        spelled = _spelled_alike(who.student), _spelled_alike(who.in_full)
        who = replace(who, student=spelled[0], in_full=spelled[1])
        name = file.path.name
        if file.trouble:
            self.unplaced.append(f"{file.path}: {file.trouble}")
            if who.student:
                self.others[who.student].append(name)
        elif not is_notebook(name):
            if who.student:
                self.others[who.student].append(name)
            elif file.path.suffix.lower() in ARCHIVES:
                self.unplaced.append(f"{file.path}: it is no zip, and was not opened.")
            elif len(file.path.parts) == 1 and name not in CLUTTER and not self.layout:
                self.unplaced.append(f"{file.path}: it is no notebook.")
        elif not who.student:
            self.unplaced.append(f"{file.path}: {self._whose_is_it(file.path)}")
        else:
            self._add_notebook(file, who, named)

    def _add_notebook(self, file: Found, who: Owner, named: str) -> None:
        kind, digest, own_id = self._kind(file, named)
        attempt = _Attempt(file, who, kind, named or kind.unit, digest, own_id)
        if kind.unit and not who.platform and not self.layout:
            self._look_below(who.student, file.path.parts)
        if not kind.unit:
            self.instead.append(attempt)
        elif self.only in (None, kind.unit):
            self.placed[who.student, kind.unit].append(attempt)
        else:
            self.others[who.student].append(f"{file.path.name} ({kind.unit})")
        for unit in kind.also:  # two sheets in one notebook; a file of that unit alone goes before
            if self.only in (None, unit):
                other = replace(kind, unit=unit, rank=FEW_CALLS)
                found = replace(attempt, kind=other, named=named or unit)
                self.placed[who.student, unit].append(found)
        if kind.unit and named and named not in (kind.unit, *kind.also):
            other = replace(kind, unit="", rank=0, instead=kind.unit)
            self.instead.append(replace(attempt, kind=other))

    def _kind(self, file: Found, named: str) -> tuple[Kind, str, str]:
        """What the notebook is by its content, a digest of that, and the id that it has."""
        try:
            if file.size > LARGEST or not self.walk.share(file.path).take(file.size):
                raise CourseError("it is too large, or all that lies there is, and was not read")
            data = file.read()
            cells = submitted_cells(data)
        except (CourseError, OSError) as error:
            unit = named or self.only or ""
            return Kind(unit, UNREADABLE, "" if unit else str(error).rstrip(".")), "", ""
        ids = [own for cell in cells for own in WRITTEN_ID.findall(cell.source)]
        return self.contents.kind(cells, named), sha256(data).hexdigest(), (ids or [""])[-1]

    def _read(self, file: Found) -> tuple[Owner, str]:
        """Whose it is by its first part that is no unit, and its unit as far as names tell."""
        parts = file.path.parts
        depth = _depth(parts, self.units)
        who = owner(parts[depth], self.units, is_folder=_is_folder(parts, depth))
        who = replace(who, student=" + ".join(self.names.get(who.student, (who.student,))))
        inside = parts[depth + 1 :]
        unit = self._unit_in(inside[-1] if inside else who.named or parts[-1])
        folders = (*reversed(inside[:-1]), *parts[:depth])
        unit = unit or next(filter(None, (_unit_folder(p, self.units) for p in folders)), "")
        return who, unit or (self._unit_in(who.named) if inside else "")

    def _unit_in(self, name: str) -> str:
        stem, _ = split_name(name)
        return flat(stem, self.units)[1] or unit_named(stem, self.units)

    def _look_below(self, student: str, parts: tuple[str, ...]) -> None:
        """Note the names of an attempt at each level below a student's own folder."""
        levels = self._below.setdefault(student, defaultdict(set))
        for level in range(_depth(parts, self.units) + 1, len(parts)):
            levels[parts[:level]].add((parts[level], _is_folder(parts, level)))

    def tell_namesakes_apart(self) -> None:
        """Where a platform has several of one name, each is called in full."""
        alike: dict[tuple[str, str], set[str]] = defaultdict(set)
        for (student, unit), attempts in self.placed.items():
            for a in attempts:  # whoever counts copies by hand counts through the units
                alike[student, unit if a.who.platform else ""].add(a.who.in_full)
        for (student, _), in_full in alike.items():
            if names := namesakes(student, in_full):
                self.namesakes[student] |= names
        before, self.placed = self.placed, defaultdict(list)
        for (student, unit), attempts in before.items():
            for a in attempts:
                name = student in self.namesakes and a.who.in_full
                self.placed[name or student, unit].append(a)

    def refuse_several_in_one(self, source: Path) -> None:
        """Stop where what was taken for one student is a whole class, one folder too high."""
        students = {student for student, _ in self.placed}
        found = [
            (student, above, platform, owners)
            for student, levels in self._below.items()
            for above, names in levels.items()
            for platform, owners in told_apart(names, self.units)
        ]
        with_several = {student for student, *_ in found}  # week1/ada_…, week2/ada_…
        is_usual = 2 * len(with_several) > len(students | self._below.keys())
        inside = {s.student: _inside(s, self.units) for s in self._found() if not s.platform}
        several = {student: apart for student, apart in inside.items() if len(apart[1]) > 1}
        for student, above, platform, owners in found:
            if platform or is_usual or len(owners) > 2:
                higher, names = several.get(student, (above, set()))
                if len(higher) < len(above) and not any(map(NO_STUDENTS.fullmatch, names)):
                    above, platform, owners = higher, "", names  # these were one student's own
                raise CourseError(self._one_too_high(source, student, above, platform, owners))
            self.doubts[student] = (
                f"{student} has files that bear several names ({_listed(owners)}). {OTHERWISE}"
            )
        nobodys = {student for student in students if NO_STUDENTS.fullmatch(student)}
        if several and (students <= several.keys() | nobodys or several.keys() & nobodys):
            student = min(several.keys() & nobodys or several)
            above, names = several[student]
            raise CourseError(self._one_too_high(source, student, above, "", names))

    def _one_too_high(
        self, source: Path, student: str, above: tuple[str, ...], platform: str, owners: set[str]
    ) -> str:
        """The sentence for a class that was taken for one student."""
        if is_notebook(above[-1]):
            folders = "**/" * (len(above) > 1)
            return (
                f"{student} would be one student, but {_listed(owners)} stand behind that in the "
                "names of several files. Nothing was graded. If these are the students, say so: "
                f'--layout "{folders}* - {{student}}.ipynb". If all of it is {student}\'s: '
                f'--layout "{folders}{{student}} - *".'
            )
        while _unit_folder(above[-1], self.units):  # what lies beside it is of the class, too
            above = above[:-1]
        place, by = source.joinpath(*above), f"as {platform} names them " if platform else ""
        folder, do = place, "Grade that"
        if not place.exists() or (source.is_file() and above):  # it lies in a zip
            zips = [part for part in place.parts if part.lower().endswith(".zip")]
            folder = Path(*(part[:-4] if part in zips else part for part in place.parts))
            do = f"Unpack {' and '.join(zips)} into a folder of that name, then grade that"
        words = f'"{folder}"' if re.search(r"[^\w./\\:+-]", str(folder)) else folder
        return (
            f"{student} would be one student, but in {place} lie the files of several {by}"
            f"({_listed(owners)}). Nothing was graded. {do}: `course grade {words} --to "
            f'GRADES`. If all of it is {student}\'s, say so: --layout "{{student}}/**".'
        )

    def submissions(self, groups: bool = False) -> list[Submission]:
        """One for each student and unit, and one for each file that is named as what it is not.

        What several handed in together is of each who has nothing of that unit besides.
        """
        found: dict[tuple[str, str], Submission] = {}
        known = {" + ".join(names): names for names in self.names.values()}
        several = []
        for s in self._found():
            named = known.get(s.student) or (members(s.student) if groups else ())
            if len(named) > 1:
                several += [(name, s, named) for name in named]
                self.groups[s.student] = named[0]
            else:
                found[s.student, s.unit] = replace(s, doubt=self._doubt(s))
        for name, s, named in several:
            if one := found.get((name, s.unit)):
                doubt = f"{s.file} is named after {name} too, and {one.file} counts."
                found[name, s.unit] = replace(one, doubt=doubt)
            else:
                found[name, s.unit] = _of_member(s, name, named)
        return [found[key] for key in sorted(found)]

    def _doubt(self, s: Submission) -> str:
        """Why this may be the work of several, in a sentence; empty if nothing says so."""
        if named := members(s.student):
            return TOGETHER.format(s.student, _listed(named))
        if self.layout or s.problem:
            return ""
        if s.student in self.doubts:
            return self.doubts[s.student]
        _, names = _inside(s, self.units)
        if len(names) > (len(self._alike) > 1 or not s.earlier) and not s.platform:
            return (
                f"{s.student} has {s.unit} in folders or files of several names "
                f"({_listed(names)}), and one of them counts. {OTHERWISE}"
            )
        if NO_STUDENTS.fullmatch(s.student) and not s.platform:
            return f"{s.student} is hardly a student's name, and counts as one. {OTHERWISE}"
        if within := self._sections.get(s.student):
            return f"All that {s.student} handed in bears another name, {within}. {OTHERWISE}"
        first = ONCE_MORE.sub("", COPY_OF.sub("", s.student))
        if first != s.student and first in self._alike.get(first.casefold(), ()):
            return f"{s.student} may be another hand-in of {first}, and counts as one student."
        alike = self._alike[s.student.casefold()]
        if len(alike) > 1:
            return f"{_listed(alike)} may be one student, and count as {len(alike)}."
        attempts = [a for a in self.placed[s.student, s.unit] if a.kind.rank == WORKED_ON]
        ids = {attempt.id for attempt in attempts}
        if len(ids - {"", "0"}) > 1:
            which = _listed(ids - {"", "0"})
            return f"{s.student} has {s.unit} with several student ids ({which}); one file counts."
        return ""

    @cached_property
    def _sections(self) -> dict[str, str]:
        """By what one other name all of each student goes within, where these may be sections.

        They may if all such names are a platform's, or if they are few.
        """
        found: dict[str, Owner] = {}
        for student, levels in self._below.items():
            names = levels[min(levels, key=len)] if levels else set()
            for name, is_folder in names if len(names) == 1 else ():
                who = owner(name, self.units, is_folder)
                within = who.platform or name_within(name, not is_notebook(name), self.units)
                if who.student and within and not _is_own(who.student, student):
                    found[student] = who
        are_apart = len({who.student for who in found.values()}) == len(found) > 1
        may_be = all(who.platform for who in found.values()) or (are_apart and len(found) <= FEW)
        are_all = len(found) == len(self._alike)
        return {s: who.student for s, who in found.items()} if are_all and may_be else {}

    @cached_property
    def _alike(self) -> dict[str, set[str]]:
        """The students whose names differ in capitals alone."""
        found: dict[str, set[str]] = defaultdict(set)
        for name, _ in self.placed:
            found[name.casefold()].add(name)
        return found

    def _found(self) -> list[Submission]:
        found = {key: _submission(*key, attempts) for key, attempts in self.placed.items()}
        with_sheet = {student for student, _ in self.placed}
        for other in self.instead:
            student, unit = other.who.student, other.named
            lies_apart = student in with_sheet and "notebooks" in other.file.path.parts[:-1]
            is_wanted = bool(unit) and self.only in (None, unit) and not lies_apart
            if is_wanted and (student, unit) not in found:
                problem = f"this is {other.kind.instead}, not the exercises of {unit}."
                found[student, unit] = Submission(
                    student,
                    unit,
                    str(other.file.path),
                    problem=problem,
                    number=other.who.number,
                    platform=other.who.platform,
                )
        return [found[key] for key in sorted(found)]

    def passed_over(self) -> Iterator[str]:
        """What lies there beside the sheets, in a line for each kind."""
        kinds: dict[str, list[str]] = defaultdict(list)
        with_sheet = {student for student, _ in self.placed}
        for other in self.instead:
            path, what = str(other.file.path), other.kind.instead
            if what in list(self.units) and self.only in (None, what):
                continue  # it counts as that
            if other.who.student in with_sheet and other.kind.rank != UNREADABLE:
                kinds["a lecture" if what.startswith("the lecture") else what].append(path)
            elif not (other.named and self.only in (None, other.named)):
                told = what if other.kind.rank == UNREADABLE else f"this is {what}"
                self.unplaced.append(f"{path}: {told}.")
        for what, paths in sorted(kinds.items()):
            yield f"passed over, since it is {what}: {_listed(paths)} ({len(paths)} in all)"
        for name, names in sorted(self.namesakes.items()):
            yield f"several students are called {name}; they count as {_listed(names)}"

    def _whose_is_it(self, path: PurePosixPath) -> str:
        top = path.parts[0]
        if self.layout:
            return f"it does not fit {self.layout.text}."
        if len(path.parts) > 1 and not owner(top, self.units, _is_folder(path.parts, 0)).student:
            return (
                f"its student is not clear, since {top} is no student's folder; if it is the "
                "class, pass it itself, if it is one student's, the folder above, or say by "
                "--layout where the students are."
            )
        return (
            "its student is not clear; put it into a folder with the student's name, or say by "
            '--layout where that stands, such as "{student}.ipynb".'
        )

    def empty_handed(self, source: Path, students: set[str]) -> Iterator[tuple[str, str]]:
        """Students whose folder has no notebook, and what it has instead."""
        if source.is_dir():
            for name in self._folders(source):
                if name and name not in students:
                    self.others.setdefault(name, [])
        for other in self.instead:
            if other.who.student not in students and self.only:
                about = f"{other.file.path.name} ({other.kind.instead})"
                self.others[other.who.student].append(about)
        told = {line.partition("/")[0].partition(":")[0] for line in self.unplaced}
        told |= {other.who.student for other in self.instead} if self.only is None else set()
        students = students | self.namesakes.keys()
        for student, names in sorted(self.others.items()):
            if student in students or (self.only is None and student in told and not names):
                continue
            has = f"only {', '.join(sorted(names)[:3])}" if names else "nor anything else"
            yield student, f"there is no notebook{' of this unit' * bool(self.only)}, {has}."

    def _folders(self, source: Path) -> Iterator[str]:
        """The students who have a folder."""
        if self.layout:
            yield from self.layout.students()
            return
        for path in source.iterdir():
            if is_looked_into(path):
                student = owner(path.name, self.units, is_folder=True).student
                yield _spelled_alike(" + ".join(self.names.get(student, (student,))))


def _of_member(s: Submission, name: str, named: Sequence[str]) -> Submission:
    """What several handed in together, as one of them has it."""
    partners = tuple(other for other in named if other != name)
    note = f"Handed in together with {' and '.join(partners)}."
    earlier = tuple(replace(old, student=name, partners=partners) for old in s.earlier)
    one = replace(s, student=name, partners=partners, earlier=earlier, number="")
    return replace(one, notes=(*s.notes, note))


def _spelled_alike(name: str) -> str:
    """A name as all systems write it: macOS takes ö apart, some add blanks or signs of no width."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    kind = unicodedata.category
    return "".join(x for x in name if x in JOINERS or kind(x) not in ("Cc", "Cf")).strip()


def _is_folder(parts: Sequence[str], place: int) -> bool:
    return place < len(parts) - 1 and not parts[place].lower().endswith(".zip")


def _submission(student: str, unit: str, found: list[_Attempt]) -> Submission:
    """The latest of a student's files for a unit that are most of an attempt, with the others."""
    ordered = sorted(found, key=_when)
    attempts = []
    for place, one in enumerate(ordered, start=1):
        attempts.append(
            Submission(
                student,
                unit,
                str(one.file.path),
                one.file.size,
                one.file.read,
                number=one.who.number,
                platform=one.who.platform,
                is_late=one.who.is_late,
                stamp=one.who.stamp or one.file.stamp,
                attempt=max(place, _times(one) + 1),
                content=one.digest,
            )
        )
    *earlier, last = attempts
    notes, lacks = [], ""
    for other, one in zip(earlier, ordered, strict=False):
        why = WHY[one.kind.rank] if one.kind.rank < ordered[-1].kind.rank else "is later and counts"
        notes.append(f"{other.file} is there too; {last.file} {why}.")
        more = one.kind.holds - ordered[-1].kind.holds if one.kind.rank >= FEW_CALLS else ()
        if more and ordered[-1].kind.holds:
            lacks = f"{other.file} holds {_listed(more)}, which {last.file} has not."
            notes.append(lacks)
    if ordered[-1].named != unit:
        notes.append(f"{last.file} is named after {ordered[-1].named}, and holds {unit}.")
    rank = max(ordered[-1].kind.rank, FEW_CALLS)
    real = [a for a, one in zip(earlier, ordered, strict=False) if one.kind.rank == rank]
    return replace(last, earlier=tuple(real), notes=tuple(notes), lacks=lacks)


WHY = {
    UNREADABLE: "can be read, the other cannot, and counts",
    OURS: "counts, since the other is the course's own solution",
    UNTOUCHED: "was worked on, the other was not, and counts",
    FEW_CALLS: "is the sheet and counts",
}


def _times(one: _Attempt) -> int:
    """How often Canvas had a file of that name before, or Teams a version."""
    if version := re.search(r"/Version (\d{1,3})/", str(one.file.path)):
        return int(version[1]) - 1
    if one.who.platform != "Canvas":
        return 0
    again = AGAIN.search(split_name(one.who.named)[0])
    return int((again and again["number"]) or 0)


def _when(one: _Attempt) -> tuple:
    stamp = one.who.stamp or one.file.stamp
    count = one.who.upload or _times(one)
    return one.kind.rank, count, stamp, len(one.file.path.name), str(one.file.path)


# -- other trees ----------------------------------------------------------------------------------


def _as_pattern(text: str) -> re.Pattern[str]:
    """The regular expression of a layout, or of a part of one."""
    meaning = {
        "{student}": r"(?P<student>[^/]+?)",
        "{unit}": r"(?P<unit>[^/]+?)",
        "**/": r"(?:[^/]+/)*?",
        "**": r".+?",
        "*": r"[^/]*?",
    }
    words = re.split(r"(\{student\}|\{unit\}|\*\*/?|\*)", text)
    return re.compile("".join(meaning.get(w) or re.escape(w) for w in words), re.IGNORECASE)


class Layout:
    """A pattern of paths: `{student}` and `{unit}` are parts of names, `**` any folders."""

    def __init__(self, text: str, source: Path) -> None:
        self.text, self.source = text, source
        if text.count("{student}") != 1 or text.count("{unit}") > 1:
            raise CourseError(
                "--layout needs {student} once, and {unit} at most once, such as "
                f'"{{student}}/course/exercises/{{unit}}.ipynb"; it is "{text}".'
            )
        if re.search(r"[{}]", text.replace("{student}", "").replace("{unit}", "")):
            raise CourseError(f'--layout knows {{student}} and {{unit}} only; it is "{text}".')
        self._parts = text.strip("/").split("/")
        self._pattern = _as_pattern(text.strip("/"))
        self._place = next(i for i, part in enumerate(self._parts) if "{student}" in part)

    def may_lead_to(self, parts: Sequence[str]) -> bool:
        """Can a folder or file of this name be on the way to one that fits?"""
        if any("**" in part for part in self._parts[: len(parts)]):
            return True
        if len(parts) > len(self._parts):
            return False
        return bool(_as_pattern(self._parts[len(parts) - 1]).fullmatch(parts[-1]))

    def students(self) -> Iterator[str]:
        """Those who have a folder where the layout says that students have one."""
        if self._parts[self._place] != "{student}" or "**" in self.text.partition("{student}")[0]:
            return
        above = "/".join(part.replace("{unit}", "*") for part in self._parts[: self._place])
        for folder in self.source.glob(above) if above else [self.source]:
            for path in folder.iterdir():
                if is_looked_into(path):
                    yield path.name

    def depth(self, parts: Sequence[str]) -> int:
        return min(self._place, len(parts) - 1)

    def read(self, path: PurePosixPath, units: Mapping[str, Iterable[str]]) -> tuple[Owner, str]:
        """Whose it is and of which unit; nobody's if it does not fit."""
        if max(map(len, path.parts)) > 255 or len(path.parts) > 40:
            return Owner(), ""
        found = self._pattern.fullmatch(str(path))
        if not found:
            return Owner(), ""
        named = found.groupdict().get("unit") or split_name(path.name)[0]
        student = re.sub(r"(?<=.)\.zip$", "", found["student"], flags=re.IGNORECASE)
        return Owner(student), unit_named(named, units) or meant(named, units) or ""

    def refuse_if_none(self, submissions: Sequence[Submission], files: Sequence[Found]) -> None:
        """A sentence with examples of what is there, if nothing fits."""
        if any(not s.problem for s in submissions):
            return
        there = [str(f.path) for f in files if is_notebook(f.path.name)][:3]
        has = f"There are {', '.join(there)}" if there else "There is no notebook at all"
        raise CourseError(f'No file fits the layout "{self.text}". {has}.')
