"""Which course this is: the folder with `course.toml`, in which we are.

    title = "Fractions and their sums"
    promise = "Homework that checks itself."
    package = "our_course"

The package of a course, which its notebooks import, says `__course__ = True`. It holds the checks
(`checks/`) and the table of units (`units.toml`).
"""

from __future__ import annotations

import functools
import os
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .files import CourseError

FILE = "course.toml"
FOLDER = "COURSE_FOLDER"  # in the environment of processes that begin elsewhere
TEXTS = ("title", "promise", "package", "start", "license", "picture", "example")
KNOWN = (*TEXTS, "bundle", "class", "site")


@dataclass(frozen=True)
class Course:
    """What `course.toml` says of a course, and where it lies."""

    folder: Path
    title: str
    package: str
    promise: str = ""
    start: str = "00_start_here"  # the stem of the start page among the lectures
    license: str = ""  # a sentence at the foot of each page of its site
    picture: str = ""  # a file that shows the course: on its site's first page, and with its links
    example: str = ""  # the number of the exercise that is answered there in place of the picture
    bundle: tuple[str, ...] = ()  # what students get beside notebooks and package
    address: str = ""  # where its site is, if that is known

    @property
    def package_folder(self) -> Path:
        """The folder of the package that its notebooks import."""
        return self.folder / self.package

    @property
    def table(self) -> Path:
        """The table of its units."""
        return self.package_folder / "units.toml"

    @property
    def checks(self) -> str:
        """The name of the package of its checks."""
        return f"{self.package}.checks"

    def check_file(self, unit: str) -> Path:
        """The check module of a unit, such as sums."""
        return self.package_folder / "checks" / f"{unit}.py"

    def enter(self) -> None:
        """See to it that its package can be imported here and by kernels, installed or not."""
        folder = str(self.folder)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        known = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        if folder not in known:
            os.environ["PYTHONPATH"] = os.pathsep.join([folder, *known])


def current() -> Course:
    """The course in whose folder we are; CourseError if we are in none."""
    try:
        start = Path(os.environ.get(FOLDER) or Path.cwd())
    except FileNotFoundError:
        raise CourseError(
            "The folder in which you are is gone: go to that of your course."
        ) from None
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return course_in(folder)
    raise CourseError(
        f"There is no {FILE} in {start} or above it: go to the folder of your course, or begin one "
        'with `course init DIR "Title"`.'
    )


def course_root() -> Path:
    """The folder of the course in which we are."""
    return current().folder


def course_in(folder: Path) -> Course:
    """The course that lies in this folder, as its file says now."""
    path = folder / FILE
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from None


@functools.lru_cache(maxsize=8)
def _read(path: Path, _: int) -> Course:
    path = path.resolve()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourseError(f"{path} cannot be read: {error}.") from None
    return _course(path, data)


def _course(path: Path, data: dict[str, Any]) -> Course:
    for key, value in data.items():
        if key not in KNOWN:
            raise CourseError(
                f"{path}: there is no setting {key!r}; there are {', '.join(KNOWN)}. "
                "The rules of a class stand below a line [class]."
            )
        if key in TEXTS and not (isinstance(value, str) and value.strip()):
            raise CourseError(f"{path}: {key} should be text in quotes, not {value!r}.")
    for key in ("title", "package"):
        if key not in data:
            raise CourseError(f"{path}: the line `{key} = …` is missing.")
    if not re.fullmatch(r"[a-z_]\w*", data["package"]):
        raise CourseError(f"{path}: {data['package']!r} is no name of a Python package.")
    bundle, rules = data.get("bundle", []), data.get("class", {})
    if not isinstance(bundle, list) or not all(isinstance(name, str) for name in bundle):
        raise CourseError(f"{path}: bundle should be a list of names of files, not {bundle!r}.")
    if not isinstance(rules, dict):
        raise CourseError(f"{path}: class should be a table [class], not {rules!r}.")
    texts = {key: " ".join(data[key].split()) for key in TEXTS if key in data}
    return Course(path.parent, bundle=tuple(bundle), address=_address(path, data), **texts)


def _address(path: Path, data: dict[str, Any]) -> str:
    site = data.get("site", {})
    if not isinstance(site, dict) or set(site) - {"address"}:
        raise CourseError(f'{path}: [site] has one line, `address = "https://…/"`.')
    address = site.get("address", "")
    if not isinstance(address, str):
        raise CourseError(f"{path}: address should be text in quotes, not {address!r}.")
    return address


def belongs(module: str) -> bool:
    """Is this a module of a course's own package? Such a package says `__course__ = True`."""
    package = sys.modules.get(module.partition(".")[0])
    return bool(getattr(package, "__course__", False))
