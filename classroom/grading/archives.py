"""The files of a class, in folders and zips, also zips within zips: none too long, nor too many.

What stands in a student's zip costs no more than its share of time and memory, whatever it claims.
What is not opened is told.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import struct
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from selfcheck.files import CourseError

from .gradebook import NAME as GRADEBOOK
from .names import is_notebook

LARGEST = 100 << 20  # bytes; a notebook with all its pictures has a few hundred thousand
LARGEST_ZIP = 200 << 20  # of a student's; within another zip it is read into memory
LARGEST_INNER = 60 << 20
MOST_FILES = 100_000  # of a class
MOST_OF_ONE = 2_000  # files of one student; of what is neither notebook nor zip, half as many
MOST_ENTRIES = 100_000  # of a student's zips: a virtual environment alone may have 30,000
LONGEST_NAME = 255  # of a file or folder: more than any disk holds
DEEPEST = 3  # zips within zips
HIDDEN = re.compile(
    r"^(\.|__MACOSX$|~\$|Thumbs\.db$|desktop\.ini$|\$RECYCLE\.BIN$|System Volume Information$"
    r"|lost\+found$|@eaDir$|__pycache__$|site-packages$|node_modules$)"
)
Opened = Callable[[], AbstractContextManager[zipfile.ZipFile]]
END_OF_ZIP, SMALLEST_ENTRY, SAYS_UTF8 = b"PK\x05\x06", 46, 0x800


def is_looked_into(folder: Path) -> bool:
    """Is it a folder that may be a student's: not hidden, no link, nor one of earlier grades?"""
    is_hidden = HIDDEN.search(folder.name) or (folder / GRADEBOOK).exists()
    return folder.is_dir() and not folder.is_symlink() and not is_hidden


@dataclass(frozen=True)
class Found:
    """One file that might be a submission; with a `trouble`, one that was not opened, and why."""

    path: PurePosixPath
    size: int = 0
    stamp: float = 0.0  # the later of two is the one that counts
    read: Callable[[], bytes] = field(default=bytes, compare=False)
    trouble: str = ""


@dataclass
class Share:
    """What one student's files may still cost the command that looks through them."""

    files: int = MOST_OF_ONE
    others: int = MOST_OF_ONE // 2
    entries: int = MOST_ENTRIES
    bytes: int = LARGEST_ZIP

    def take(self, size: int = 0) -> bool:
        """One more file, with so many bytes to unpack; False if the share is used up."""
        self.files -= 1
        self.bytes -= size
        return self.files >= 0 and self.bytes >= 0


class Walk:
    """All files of a class; `depth` tells how many folders belong to the class, not to students."""

    def __init__(
        self,
        source: Path,
        depth: Callable[[tuple[str, ...]], int],
        wanted: Callable[[tuple[str, ...]], bool] = lambda parts: True,
    ) -> None:
        self.source, self._depth, self._wanted = source, depth, wanted
        self._shares: dict[tuple[str, ...], Share] = {}
        self._told: set[tuple[str, ...]] = set()

    def share(self, path: PurePosixPath) -> Share:
        """The share of the student whose file this is."""
        return self._shares.setdefault(self._whose(path), Share())

    def _whose(self, path: PurePosixPath) -> tuple[str, ...]:
        return path.parts[: self._depth(path.parts) + 1]

    def files(self) -> Iterator[Found]:
        """Every file that is not hidden, links left out."""
        if not self.source.exists():
            raise CourseError(f"There is no folder or zip file {self.source}.")
        if self.source.is_dir():
            yield from self._in_folder()
        elif self.source.is_file() and zipfile.is_zipfile(self.source):
            yield from self._in_class_zip()
        else:
            raise CourseError(f"{self.source} is neither a folder nor a zip file.")

    def _in_folder(self) -> Iterator[Found]:
        for folder, folders, names in os.walk(self.source):
            place = Path(folder)
            above = place.relative_to(self.source).parts
            seen = [n for n in folders if not HIDDEN.search(n) and self._wanted((*above, n))]
            folders[:] = sorted(name for name in seen if is_looked_into(place / name))
            closed = set(seen) - set(folders)
            for name in sorted((*names, *closed)):
                path = place / name
                inner = PurePosixPath(path.relative_to(self.source).as_posix())
                if HIDDEN.search(name) or not self._wanted(inner.parts):
                    continue
                if path.is_symlink() or name in closed:
                    yield from self._closed(inner, path)
                elif path.is_file() and not self._is_one_of_many(inner):
                    yield from self._file(inner, path)

    def _closed(self, inner: PurePosixPath, path: Path) -> Iterator[Found]:
        """Say that a student's folder or notebook is a link: it could lead to somebody else's."""
        if not path.is_symlink():
            yield Found(inner, trouble="it has the grades of an earlier run, and was passed over.")
        elif is_notebook(inner.name) or inner.parts == self._whose(inner):
            yield Found(inner, trouble="it is a link, and was not followed; put a copy there.")

    def _is_one_of_many(self, path: PurePosixPath) -> bool:
        """Is it one of very many files that nobody reads?"""
        if is_notebook(path.name) or path.suffix.lower() == ".zip":
            return False
        share = self.share(path)
        share.others -= 1
        return share.others < 0

    def _file(self, inner: PurePosixPath, path: Path) -> Iterator[Found]:
        if not self.share(inner).take():
            yield from self._used_up(inner)
            return
        about = path.stat()
        if inner.suffix.lower() != ".zip":
            yield Found(inner, about.st_size, about.st_mtime, path.read_bytes)
        elif about.st_size > LARGEST_ZIP:
            yield Found(inner, trouble=_too_large(about.st_size, LARGEST_ZIP))
        else:
            yield from self._in_zip(inner, lambda: path.open("rb"), 1)

    def _in_class_zip(self) -> Iterator[Found]:
        try:
            archive = zipfile.ZipFile(self.source)
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise CourseError(f"{self.source} cannot be opened: {error}.") from None
        entries = archive.infolist()
        if len(entries) > MOST_FILES:
            raise CourseError(f"{self.source} has {len(entries)} entries; {MOST_FILES} at most.")
        yield from self._entries(
            PurePosixPath(), entries, lambda: contextlib.nullcontext(archive), 0
        )

    def _in_zip(
        self, place: PurePosixPath, opened: Callable[[], io.IOBase], depth: int
    ) -> Iterator[Found]:
        """The entries of a student's zip, which is opened again whenever it is read."""
        if depth > DEEPEST:
            yield Found(place, trouble="a zip so deep within others is not opened.")
            return
        try:
            with opened() as file:
                if _entries_at_most(file) > self.share(place).entries:
                    yield from self._used_up(place)
                    return
                with zipfile.ZipFile(file) as archive:
                    entries = archive.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, struct.error, NotImplementedError):
            yield Found(place, trouble="the zip is damaged.")
            return
        self.share(place).entries -= len(entries)
        if not any(map(_parts, entries)):
            yield Found(place, trouble="there is nothing in the zip.")

        @contextlib.contextmanager
        def again() -> Iterator[zipfile.ZipFile]:
            with opened() as file, zipfile.ZipFile(file) as archive:
                yield archive

        yield from self._entries(place, entries, again, depth)

    def _entries(
        self,
        place: PurePosixPath,
        entries: Iterable[zipfile.ZipInfo],
        archive: Opened,
        depth: int,
    ) -> Iterator[Found]:
        for entry in sorted(entries, key=lambda entry: entry.filename):
            parts = _parts(entry)
            if not parts:
                continue
            if len(entry.filename) > 8 * LONGEST_NAME or max(map(len, parts)) > LONGEST_NAME:
                short = PurePosixPath(*(part[:40] for part in parts[:4]))
                if self.share(place / short).take():
                    yield Found(place / short, trouble="its name is too long for a file.")
                continue
            inner = place.joinpath(*parts)
            is_zip = inner.suffix.lower() == ".zip"
            if self._is_one_of_many(inner):
                continue
            if not self.share(inner).take(entry.file_size if is_zip else 0):
                yield from self._used_up(inner)
            elif not is_zip:
                stamp = _stamp(entry)
                yield Found(inner, entry.file_size, stamp, _reader(archive, entry, LARGEST))
            elif entry.file_size > LARGEST_INNER:
                yield Found(inner, trouble=_too_large(entry.file_size, LARGEST_INNER))
            else:
                read = _reader(archive, entry, LARGEST_INNER)
                yield from self._in_zip(inner, _in_memory(read), depth + 1)

    def _used_up(self, path: PurePosixPath) -> Iterator[Found]:
        """Say once for each student that there is more than will be looked at."""
        whose = self._whose(path)
        if whose not in self._told:
            self._told.add(whose)
            says = f"there are more than {MOST_OF_ONE} files, or too large ones; the rest "
            yield Found(PurePosixPath(*whose), trouble=f"{says}was passed over.")


def _parts(entry: zipfile.ZipInfo) -> list[str]:
    """The folders and the name of a file in a zip; none of what is hidden, or a folder."""
    parts = _name(entry).replace("\\", "/").split("/")
    parts = [part for part in parts if part not in ("", ".", "..")]
    return [] if entry.is_dir() or any(map(HIDDEN.search, parts)) else parts


def _name(entry: zipfile.ZipInfo) -> str:
    """The name of an entry; macOS writes UTF-8 and does not say so."""
    try:
        says_so = entry.flag_bits & SAYS_UTF8
        return entry.filename if says_so else entry.filename.encode("cp437").decode()
    except UnicodeError:
        return entry.filename


def _entries_at_most(file: io.IOBase) -> int:
    """How many entries a zip can have by the size of its table: read without reading the table."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - (1 << 16) - 22))
    tail = file.read()
    place = tail.rfind(END_OF_ZIP)
    if place < 0:
        raise zipfile.BadZipFile
    (table,) = struct.unpack_from("<I", tail, place + 12)
    return table // SMALLEST_ENTRY


def _in_memory(read: Callable[[], bytes]) -> Callable[[], io.IOBase]:
    return lambda: io.BytesIO(read())


def _reader(archive: Opened, entry: zipfile.ZipInfo, most: int) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            with archive() as opened, opened.open(entry) as file:
                return file.read(most + 1)  # whatever the archive says about its size
        except Exception as error:  # each kind of compression has errors of its own
            locked = "password" in str(error)
            why = "the zip needs a password" if locked else f"the zip is damaged here ({error})"
            raise OSError(why) from None

    return read


def _stamp(entry: zipfile.ZipInfo) -> float:
    """When the entry was written, as files tell it."""
    try:
        return time.mktime((*entry.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0


def _too_large(size: int, most: int) -> str:
    return f"the zip has {size >> 20} MB, the limit is {most >> 20}; unpack it into a folder."
