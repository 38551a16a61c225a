"""Finding the submissions of a class: whose each file is, and of which unit.

The student is the folder, zip or file name that the platform made: the first part of a path that is
no unit; docs/instructors.md has examples. Whatever lies inside a student's own folder or zip is
that student's, however it is called. Other trees are described by a layout. What cannot be placed
is told, never dropped in silence, and nobody's file is in the way of another's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from selfcheck.files import CourseError
from selfcheck.units import meant

from ..roles import called_check
from .archives import HIDDEN, LARGEST, Found, Walk
from .assembly import submitted_cells

AGAIN = re.compile(
    r"(?:[-_ ](?P<number>\d{1,3})|[ _]?\((?P<copy>\d{1,3})\)|[ _-](?:copy|final|checkpoint)\d*)$",
    re.IGNORECASE,
)
CANVAS = re.compile(
    r"^(?P<student>.+?)(?P<late>_late)?_(?P<id>\d+)_(?P<submission>\d+)_(?P<file>.+)$", re.I
)
MOODLE = re.compile(
    r"^(?P<student>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)$", re.I
)
ARCHIVES = (".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz")
NOBODYS = {
    "exercises",
    "notebooks",
    "solutions",
    "selfcheck",
    "classroom",
    "submissions",
}
RULE = (
    "Whose a file is, is told by the first folder, zip or file name that the platform made; "
    "what lies inside is that student's."
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
    looked_for: str = ""


@dataclass(frozen=True)
class Owner:
    """Whose a file is, by the names that the platform made."""

    student: str = ""
    number: str = ""
    platform: str = ""
    is_late: bool = False
    named: str = ""  # the part of the name that says what it is


def find(
    source: Path,
    units: Mapping[str, Iterable[str]],
    only: str | None = None,
    layout: str | None = None,
) -> Class:
    """The submissions in a folder or zip; `units` has the exercise names of each unit."""
    pattern = Layout(layout, source) if layout else None
    walk = (
        Walk(source, pattern.depth, pattern.may_lead_to)
        if pattern
        else Walk(source, lambda parts: _depth(parts, units))
    )
    files = list(walk.files())
    placing = _Placing(units, only, walk, pattern)
    for file in files:
        placing.add(file)
    submissions = [_submission(*key, found) for key, found in sorted(placing.placed.items())]
    students = {s.student for s in submissions}
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
    return Class(
        tuple(submissions),
        tuple(placing.unplaced),
        (reading, *_examples(submissions), *_doubts(submissions)),
    )


def _examples(submissions: Sequence[Submission]) -> Iterator[str]:
    """Up to three files as they were read, as different as there are."""
    with_file = [s for s in submissions if not s.problem]
    kinds = {(s.platform, s.file.count("/"), ".zip/" in s.file): s for s in reversed(with_file)}
    chosen = list(kinds.values())[::-1]
    chosen += [s for s in with_file if s not in chosen]
    for s in chosen[:3]:
        yield f"{s.file}: the student is {s.student}, the unit {s.unit}"


def _doubts(submissions: Sequence[Submission]) -> Iterator[str]:
    """Folders taken for one student's that look like a whole class."""
    for s in submissions:
        inside = {PurePosixPath(e.file).parts[1] for e in (s, *s.earlier) if e.file.count("/") > 1}
        if len(inside) > 1:
            names = ", ".join(sorted(inside)[:3])
            yield (
                f"{s.student} has {s.unit} in {len(inside)} folders ({names}), and one of them "
                'counts. Are these several students? Then say so: --layout "*/{student}/**".'
            )


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


def owner(name: str, units: Mapping[str, Iterable[str]], is_folder: bool) -> Owner:
    """Whose a file, a zip or a folder is by its name, as far as that tells."""
    stem, suffix = (name, "") if is_folder else _split(name)
    for platform, pattern in (("Moodle", MOODLE), ("Canvas", CANVAS)):
        found = pattern.match(name)
        if found and not (is_folder and platform == "Canvas"):
            late = bool(found.groupdict().get("late"))
            student = f"{found['student']}_{found['id']}"
            return Owner(student, found["id"], platform, late, found["file"])
    student, unit = _flat(stem, units)
    if student:
        return Owner(student, named=unit)
    if is_folder or suffix == ".zip":
        return Owner("" if stem.lower() in NOBODYS or _unit_named(stem, units) else stem)
    return Owner(named=name)


class _Placing:
    """Files as they are given to students, and sentences for those that are not."""

    def __init__(
        self,
        units: Mapping[str, Iterable[str]],
        only: str | None,
        walk: Walk,
        layout: Layout | None = None,
    ) -> None:
        self.units, self.only, self.walk, self.layout = units, only, walk, layout
        self.placed: dict[tuple[str, str], list[tuple[Found, Owner]]] = {}
        self.unplaced: list[str] = []
        self.others: dict[str, list[str]] = defaultdict(list)  # what is no notebook, by student

    def add(self, file: Found) -> None:
        """Place one file, or say why it is not."""
        who, unit = self.layout.read(file.path, self.units) if self.layout else self._read(file)
        if file.trouble:
            self.unplaced.append(f"{file.path}: {file.trouble}")
            if who.student:
                self.others[who.student].append(file.path.name)
        elif file.path.suffix.lower() != ".ipynb":
            if who.student and (who.platform or len(file.path.parts) > 1):
                self.others[who.student].append(file.path.name)
            elif file.path.suffix.lower() in ARCHIVES:
                self.unplaced.append(f"{file.path}: it is no zip, and was not opened.")
        elif not who.student:
            self.unplaced.append(f"{file.path}: {self._whose_is_it(file.path)}")
        else:
            unit = unit or self._by_content(file)
            if not unit:
                self.unplaced.append(f"{file.path}: {WHICH_UNIT}")
            elif self.only in (None, unit):
                self.placed.setdefault((who.student, unit), []).append((file, who))
            else:
                self.others[who.student].append(file.path.name)

    def _read(self, file: Found) -> tuple[Owner, str]:
        """Whose it is by its first part that is no unit, and its unit as far as names tell."""
        parts = file.path.parts
        depth = _depth(parts, self.units)
        who = owner(parts[depth], self.units, is_folder=_is_folder(parts, depth))
        inside = parts[depth + 1 :]
        name = inside[-1] if inside else who.named or parts[-1]
        unit = self._unit_in(name)
        units = (_unit_folder(name, self.units) for name in reversed(inside[:-1]))
        unit = unit or next(filter(None, units), "")
        unit = unit or next((u for p in parts[:depth] if (u := _unit_folder(p, self.units))), "")
        if not unit and inside and file.path.suffix.lower() == ".ipynb":
            unit = self._by_content(file, last=False) or self._unit_in(who.named)
        return who, unit

    def _unit_in(self, name: str) -> str:
        stem, _ = _split(name)
        return _flat(stem, self.units)[1] or _unit_named(stem, self.units)

    def _by_content(self, file: Found, last: bool = True) -> str:
        """The unit whose checks the notebook calls; with --unit, that one if it cannot be told."""
        try:
            if file.size <= LARGEST and self.walk.share(file.path).take(file.size):
                calls = {
                    check.exercise
                    for cell in submitted_cells(file.read())
                    if (check := called_check(cell.source))
                }
                best = max(self.units, key=lambda u: len(calls & set(self.units[u])), default="")
                if best and calls & set(self.units[best]):
                    return best
        except (CourseError, OSError):
            pass
        return (self.only or "") if last else ""

    def _whose_is_it(self, path: PurePosixPath) -> str:
        top = path.parts[0]
        if self.layout:
            return f"it does not fit {self.layout.text}."
        if len(path.parts) > 1 and top.lower() in NOBODYS:
            return (
                f"it cannot be told whose it is, since {top} is no student's folder; pass the "
                "folder of the class, or say by --layout where the students are."
            )
        return "it cannot be told whose it is; put it into a folder with the student's name."

    def empty_handed(self, source: Path, students: set[str]) -> Iterator[tuple[str, str]]:
        """Students whose folder has no notebook, and what it has instead."""
        if source.is_dir():
            for name in self._folders(source):
                if name and name not in students:
                    self.others.setdefault(name, [])
        told = {line.partition("/")[0].partition(":")[0] for line in self.unplaced}
        for student, names in sorted(self.others.items()):
            if student in students or (self.only is None and student in told and not names):
                continue
            if any(name.lower().endswith(".ipynb") for name in names) and self.only is None:
                continue
            has = f"only {', '.join(sorted(names)[:3])}" if names else "nor anything else"
            yield student, f"there is no notebook{' of this unit' * bool(self.only)}, {has}."

    def _folders(self, source: Path) -> Iterator[str]:
        """The students who have a folder."""
        if self.layout:
            yield from self.layout.students()
            return
        for path in source.iterdir():
            if path.is_dir() and not path.is_symlink() and not HIDDEN.search(path.name):
                yield owner(path.name, self.units, is_folder=True).student


WHICH_UNIT = "it cannot be told which unit it is; name it after the unit, or pass --unit."


def _is_folder(parts: Sequence[str], place: int) -> bool:
    return place < len(parts) - 1 and not parts[place].lower().endswith(".zip")


def _split(name: str) -> tuple[str, str]:
    path = PurePosixPath(name)
    return path.stem, path.suffix.lower()


def _flat(stem: str, units: Mapping[str, Iterable[str]]) -> tuple[str, str]:
    """`ada_01_sums` or `01_sums_ada` as ("ada", "01_sums")."""
    stem = AGAIN.sub("", stem)
    for unit in (unit for unit in units if unit.lower() in stem.lower()):
        for pattern in (rf"(?P<student>.+)[_\- ]{unit}", rf"{unit}[_\- ](?P<student>.+)"):
            if match := re.fullmatch(pattern, stem, re.I):
                return match["student"], unit
    return "", ""


def _unit_named(stem: str, units: Mapping[str, Iterable[str]]) -> str:
    """The unit by which a file is named; of a bare number, its content tells more."""
    names = [name for name in (stem, AGAIN.sub("", stem)) if not name.isdecimal()]
    return next(filter(None, (meant(name, units) for name in names)), "")


def _submission(student: str, unit: str, found: list[tuple[Found, Owner]]) -> Submission:
    """The latest of a student's files for a unit, with the earlier ones."""
    ordered = sorted(found, key=_when)
    attempts = []
    for place, (file, who) in enumerate(ordered, start=1):
        attempts.append(
            Submission(
                student,
                unit,
                str(file.path),
                file.size,
                file.read,
                number=who.number,
                platform=who.platform,
                is_late=who.is_late,
                stamp=file.stamp,
                attempt=max(place, _times(file, who) + 1),
            )
        )
    *earlier, last = attempts
    notes = [f"{other.file} is there too; {last.file} is later and counts." for other in earlier]
    return replace(last, earlier=tuple(earlier), notes=tuple(notes))


def _times(file: Found, who: Owner) -> int:
    """How often Canvas had a file of that name before."""
    if who.platform != "Canvas":
        return 0
    again = AGAIN.search(_split(who.named)[0])
    return int((again and again["number"]) or 0)


def _when(found: tuple[Found, Owner]) -> tuple:
    file, who = found
    return _times(file, who), file.stamp, len(file.path.name), str(file.path)


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
            raise CourseError(f'--layout knows {{student}} and {{unit}} alone; it is "{text}".')
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
                if path.is_dir() and not path.is_symlink() and not HIDDEN.search(path.name):
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
        named = found.groupdict().get("unit") or path.stem
        return Owner(found["student"]), _unit_named(named, units) or meant(named, units) or ""

    def refuse_if_none(self, submissions: Sequence[Submission], files: Sequence[Found]) -> None:
        """A sentence with examples of what is there, if nothing fits."""
        if any(not s.problem for s in submissions):
            return
        there = [str(f.path) for f in files if f.path.suffix.lower() == ".ipynb"][:3]
        has = f"There are {', '.join(there)}" if there else "There is no notebook at all"
        raise CourseError(f'No file fits the layout "{self.text}". {has}.')
