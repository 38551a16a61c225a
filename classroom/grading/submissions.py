"""Finding the submissions of a class, in the forms in which people have them.

A folder or a zip with `ada/02_momentum.ipynb`, `ada/02_momentum/02_momentum.ipynb` or
`ada_02_momentum.ipynb`, also as Canvas and Moodle pack them. What cannot be placed is told, never
dropped in silence, and one student's file is never in the way of another's.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from course_utils.files import CourseError
from course_utils.units import meant

from ..roles import called_check
from .assembly import submitted_cells

LARGEST = 20 << 20  # bytes; a notebook with all its pictures has a few hundred thousand
MOST_FILES = 100_000
HIDDEN = re.compile(r"^(\.|__MACOSX$|~\$|Thumbs\.db$|desktop\.ini$)")
AGAIN = re.compile(r"(?:[-_ ]\d{1,3}|[ _]?\(\d{1,3}\)|[ _-]+(?:copy|final|checkpoint)\d*)$", re.I)
CANVAS = re.compile(
    r"^(?P<student>.+?)(?:_late)?_(?P<id>\d+)_(?P<submission>\d+)_(?P<file>.+)$", re.I
)
MOODLE = re.compile(r"_assignsubmission_(?:file|onlinetext)_?$", re.I)


@dataclass(frozen=True)
class Found:
    """One file that might be a submission."""

    path: PurePosixPath
    size: int
    stamp: float  # the later of two is the one that counts
    read: Callable[[], bytes] = field(compare=False)


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


def find(source: Path, units: dict[str, Iterable[str]], only: str | None = None) -> Class:
    """The submissions in a folder or zip; `units` has the exercise names of each unit."""
    if not source.exists():
        raise CourseError(f"There is no folder or zip file {source}.")
    files = list(_files(source))
    placed: dict[tuple[str, str], list[Found]] = {}
    unplaced = []
    for file in files:
        if file.path.suffix.lower() != ".ipynb":
            continue
        student, unit = _place(file, units, only)
        if not student or not unit:
            unplaced.append(f"{file.path}: {_missing(student, unit)}")
        elif only in (None, unit):
            placed.setdefault((student, unit), []).append(file)
    submissions = [_submission(*key, found) for key, found in sorted(placed.items())]
    for student, problem in _empty_handed(source, files, {s.student for s in submissions}):
        if only:
            submissions.append(Submission(student, only, student, problem=problem))
        else:
            unplaced.append(f"{student}: {problem}")
    if not submissions and not unplaced:
        raise CourseError(f"There are no notebooks in {source}.")
    return Class(tuple(submissions), tuple(unplaced))


# -- where the files are --------------------------------------------------------------------------


def _files(source: Path) -> Iterator[Found]:
    if source.is_dir():
        yield from _in_folder(source)
    elif zipfile.is_zipfile(source):
        yield from _in_zip(source, PurePosixPath())
    else:
        raise CourseError(f"{source} is neither a folder nor a zip file.")


def _in_folder(folder: Path) -> Iterator[Found]:
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if any(HIDDEN.search(part) for part in inner.parts) or path.is_symlink():
            continue  # a link could lead to somebody else's file
        if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
            continue
        about, place = path.stat(), PurePosixPath(inner.as_posix())
        if path.suffix.lower() == ".zip" and about.st_size <= 10 * LARGEST:
            yield from _in_zip(path, place.with_suffix(""))
        else:
            yield Found(place, about.st_size, about.st_mtime, path.read_bytes)


def _in_zip(path: Path, place: PurePosixPath) -> Iterator[Found]:
    try:
        archive = zipfile.ZipFile(path)
        entries = archive.infolist()[:MOST_FILES]
    except (zipfile.BadZipFile, ValueError, OSError):
        yield Found(place.with_suffix(".zip"), path.stat().st_size, 0.0, path.read_bytes)
        return
    for entry in sorted(entries, key=lambda entry: entry.filename):
        parts = entry.filename.replace("\\", "/").split("/")
        inner = PurePosixPath(*(part for part in parts if part not in ("", ".", "..")))
        if entry.is_dir() or any(HIDDEN.search(part) for part in inner.parts):
            continue
        stamp = float("".join(f"{n:02}" for n in entry.date_time))
        reading = _entry_reader(archive, entry)
        yield Found(place / inner, entry.file_size, stamp, reading)


def _entry_reader(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            with archive.open(entry) as file:
                return file.read(LARGEST + 1)  # whatever the archive says about its size
        except Exception as error:  # each kind of compression has errors of its own
            raise OSError(f"the zip is damaged here ({error})") from None

    return read


# -- whose they are -------------------------------------------------------------------------------


def _place(file: Found, units: dict, only: str | None) -> tuple[str, str]:
    """Student and unit of a file, each empty where it cannot be told."""
    *folders, name = file.path.parts
    stem = PurePosixPath(name).stem
    folders = [MOODLE.sub("", folder) for folder in folders]
    canvas = None if folders else CANVAS.match(name)
    if canvas:
        student = f"{canvas['student']}_{canvas['id']}"
        return student, _unit_named(PurePosixPath(canvas["file"]).stem, units) or _by_content(
            file, units, only
        )
    flat, unit = _flat(stem, units)
    unit = unit or _unit_named(stem, units)
    people = [folder for folder in folders if folder not in units]
    unit = unit or next((folder for folder in folders if folder in units), "")
    student = people[-1] if people else flat
    return student, unit or _by_content(file, units, only)


def _flat(stem: str, units: dict) -> tuple[str, str]:
    """`ada_02_momentum` or `02_momentum_ada` as ("ada", "02_momentum")."""
    stem = AGAIN.sub("", stem)
    for unit in units:
        for pattern in (rf"(?P<student>.+)[_\- ]{unit}", rf"{unit}[_\- ](?P<student>.+)"):
            if match := re.fullmatch(pattern, stem, re.I):
                return match["student"], unit
    return "", ""


def _unit_named(stem: str, units: dict) -> str:
    """The unit by which a file is named; of a bare number, its content tells more."""
    names = [name for name in (stem, AGAIN.sub("", stem)) if not name.isdecimal()]
    return next(filter(None, (meant(name, units) for name in names)), "")


def _by_content(file: Found, units: dict, only: str | None) -> str:
    """The unit whose checks the notebook calls; with --unit, that one if it cannot be told."""
    try:
        if file.size <= LARGEST:
            calls = {
                check.exercise
                for cell in submitted_cells(file.read())
                if (check := called_check(cell.source))
            }
            found = max(units, key=lambda unit: len(calls & set(units[unit])), default="")
            if found and calls & set(units[found]):
                return found
    except (CourseError, OSError):
        pass
    return only or ""


def _missing(student: str, unit: str) -> str:
    if not student:
        return "it cannot be told whose it is; put it into a folder with the student's name."
    return "it cannot be told which unit it is; name it after the unit, or pass --unit."


def _empty_handed(
    source: Path, files: Sequence[Found], students: set[str]
) -> Iterator[tuple[str, str]]:
    """Students whose folder has no notebook, and what it has instead."""
    folders: dict[str, list[str]] = {}
    if source.is_dir():
        names = [path.name for path in source.iterdir() if path.is_dir() and not path.is_symlink()]
        folders = {MOODLE.sub("", name): [] for name in names if not HIDDEN.search(name)}
    for file in files:
        if len(file.path.parts) > 1:
            folders.setdefault(MOODLE.sub("", file.path.parts[0]), []).append(file.path.name)
    for folder, names in sorted(folders.items()):
        if folder not in students and not any(name.lower().endswith(".ipynb") for name in names):
            has = f"only {', '.join(sorted(names)[:3])}" if names else "nor anything else"
            yield folder, f"there is no notebook, {has}."


def _submission(student: str, unit: str, found: list[Found]) -> Submission:
    """The latest of a student's files for a unit; others are mentioned."""
    *older, file = sorted(found, key=lambda f: (f.stamp, len(f.path.name), str(f.path)))
    notes = tuple(f"{other.path} is there too; {file.path} is later and counts." for other in older)
    return Submission(student, unit, str(file.path), file.size, file.read, notes=notes)
