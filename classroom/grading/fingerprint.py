"""What a unit's grades depend on: the files that were really read while its solution was judged.

    watch()                       # in a judge, before anything is loaded
    ...                           # the solution is judged
    names = read_here(loaded)     # modules of both processes, and data that was opened

The gradebook keeps their digests. As long as all files have them, what is graded stays; once one
has another, the solution is judged anew, and so is everybody. What an exercise knows of mistakes is
no part of it: that has digests of its own, and a name never changes a point.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import classroom
import selfcheck
from selfcheck.course import FILE, current
from selfcheck.prose import MISTAKES, PRACTICE, mistakes_beside, prose_beside, read_prose

NOT_OF_GRADES = (FILE, "units.toml")  # titles and the like; which unit is meant is known before
_opened: set[str] = set()


def watch() -> None:
    """From now on note which files this process opens to read."""

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and not _is_written(arguments[1]):
            _opened.add(arguments[0])

    sys.addaudithook(note)


def _is_written(mode: Any) -> bool:
    return isinstance(mode, str) and any(letter in mode for letter in "wax+")


def homes() -> dict[str, Path]:
    """The packages whose files decide about a grade: the course's, and those of the machine."""
    machine = [Path(str(package.__file__)).resolve().parent for package in (selfcheck, classroom)]
    return {home.name: home for home in (current().package_folder.resolve(), *machine)}


def read_here(elsewhere: Iterable[str] = ()) -> list[str]:
    """The names of our files that this process has read, and of modules loaded `elsewhere`."""
    places = homes()
    loaded = {*sys.modules, *elsewhere, _own_name()}
    found = {_of_module(name, places) for name in loaded if name.partition(".")[0] in places}
    found |= {_of_data(path, places) for path in _opened if not path.endswith((".py", ".pyc"))}
    return sorted(name for name in found if name and not _is_of_mistakes(name))


def _own_name() -> str:
    """The module that this process was started with, by its real name."""
    return getattr(getattr(sys.modules["__main__"], "__spec__", None), "name", "")


def _of_module(module: str, places: Mapping[str, Path]) -> str:
    """`selfcheck/exercises.py` for selfcheck.exercises; nothing where there is no such file."""
    package, *rest = module.split(".")
    place = places[package].joinpath(*rest)
    for file in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
        if file.is_file():
            return f"{package}/{file.relative_to(places[package]).as_posix()}"
    return ""


def _of_data(path: str, places: Mapping[str, Path]) -> str:
    """The same for a file that was opened; nothing if it is none of ours."""
    for name, home in places.items():
        if name in path and (real := Path(os.path.realpath(path))).is_relative_to(home):
            return f"{name}/{real.relative_to(home).as_posix()}" if real.is_file() else ""
    return ""


def _is_of_mistakes(name: str) -> bool:
    ends = (".md", f"{MISTAKES}.py", f"{PRACTICE}.py")
    return name.endswith(ends) or name.rpartition("/")[2] in NOT_OF_GRADES


def digests(names: Iterable[str]) -> dict[str, str]:
    """The digest of each of these files as it is now; empty where it is gone."""
    places = {name: str(home) for name, home in homes().items()}
    return {name: _digest(name, places) for name in sorted(names)}


def changed_since(moment: int, names: Iterable[str]) -> list[str]:
    """Those of these files that were written after a moment, in nanoseconds, or are gone.

    One from the future is none of them: the clock was set back, or it is another machine's.
    """
    places, now = homes(), time.time_ns()
    paths = {name: places[name.partition("/")[0]].parent / name for name in names}
    return [
        name
        for name, path in paths.items()
        if not path.exists() or moment < path.stat().st_ctime_ns <= now
    ]


def _digest(name: str, places: Mapping[str, str]) -> str:
    package, _, rest = name.partition("/")
    try:
        path = f"{places[package]}/{rest}"
        about = os.stat(path)
        return _digest_of(path, about.st_mtime_ns, about.st_size)
    except (KeyError, OSError):
        return ""


@functools.lru_cache(maxsize=10_000)
def _digest_of(path: str, _time: int, _size: int) -> str:
    return sha256(Path(path).read_bytes()).hexdigest()[:32]


def of_files(files: Mapping[str, str]) -> str:
    """One digest of all of them."""
    return sha256(repr(sorted(files.items())).encode()).hexdigest()


def of_mistakes(unit: str) -> dict[str, str]:
    """For each exercise, the digest of what the prose of its unit says of it."""
    file = current().check_file(unit.partition("_")[2])
    helpers = mistakes_beside(file)
    common = helpers.read_bytes() if helpers.exists() else b""
    sections = read_prose(prose_beside(file))
    return {s.name: sha256(s.text.encode() + common).hexdigest()[:16] for s in sections}
