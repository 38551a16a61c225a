"""Which code a unit's grades depend on, as a digest: a changed check regrades just its unit."""

from __future__ import annotations

import functools
import re
from hashlib import sha256
from pathlib import Path

import course_utils

PACKAGE = Path(course_utils.__file__).resolve().parent
HERE = Path(__file__).resolve().parent
IMPORT = re.compile(
    r"^\s*from (?:(\.+)|(?=instruments))([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE
)
GRADER = ("assembly", "flags", "forbidden", "inside", "judge", "metering", "sandbox", "signatures", "wire")


@functools.cache
def of_code(unit: str) -> str:
    """The digest of the unit's checks, of all they import from the course, and of the grader."""
    name = unit.partition("_")[2]
    files = _with_imports(PACKAGE / "checks" / f"{name}.py")
    files |= {HERE / f"{stem}.py" for stem in GRADER}
    digest = sha256()
    for file in sorted(files):
        digest.update(f"{file.parent.name}/{file.name}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _with_imports(start: Path) -> set[Path]:
    """The file and every file of the package that it imports, directly or not."""
    found, waiting = set(), [start]
    while waiting:
        file = waiting.pop()
        if file in found or not file.exists():
            continue
        found.add(file)
        for dots, module, names in IMPORT.findall(file.read_text(encoding="utf-8")):
            folder = file.parents[len(dots) - 1] if dots else PACKAGE.parent
            waiting += _targets(folder, module, re.findall(r"\w+", names))
    return found


def _targets(folder: Path, module: str, names: list[str]) -> list[Path]:
    """`from .a import b` may mean a.py, a/__init__.py or a/b.py."""
    base = folder.joinpath(*module.split("."))
    places = (base, *(base / name for name in names))
    return [p for place in places for p in (place.with_suffix(".py"), place / "__init__.py")]
