"""Which code a unit's grades depend on, as digests: a changed check regrades just its unit.

What an exercise knows of mistakes is a digest of its own: if only that changes, only the wrong
answers of that exercise are judged again.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from collections import Counter
from hashlib import sha256
from pathlib import Path

import course_utils

PACKAGE = Path(course_utils.__file__).resolve().parent
HERE = Path(__file__).resolve().parent
IMPORT = re.compile(
    r"^\s*from (?:(\.+)|(?=instruments))([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE
)
GRADER = (
    "algebra",
    "assembly",
    "flags",
    "forbidden",
    "inside",
    "jobs",
    "judge",
    "lending",
    "metering",
    "sandbox",
    "signatures",
    "walls",
    "wire",
)


@functools.cache
def of_code(unit: str) -> str:
    """The digest of the unit's checks, of all they import from the course, and of the grader."""
    name = unit.partition("_")[2]
    checks = PACKAGE / "checks" / f"{name}.py"
    files = _with_imports(checks)
    files |= {HERE / f"{stem}.py" for stem in GRADER}
    digest = sha256()
    for file in sorted(files):
        digest.update(f"{file.parent.name}/{file.name}\n".encode())
        digest.update(_without_mistakes(file) if file == checks else file.read_bytes())
    return digest.hexdigest()


def of_all(unit: str) -> str:
    """Both together: who judges has to have the same of all."""
    return sha256(f"{of_code(unit)} {sorted(of_mistakes(unit).items())}".encode()).hexdigest()


@functools.cache
def of_mistakes(unit: str) -> dict[str, str]:
    """For each exercise that knows mistakes, the digest of what the unit's checks say of them."""
    file = PACKAGE / "checks" / f"{unit.partition('_')[2]}.py"
    if not file.exists():
        return {}
    _, known = _parted(file.read_text(encoding="utf-8"))
    return {name: sha256(text.encode()).hexdigest()[:16] for name, text in known.items()}


def _without_mistakes(file: Path) -> bytes:
    if not file.exists():
        return b""
    common, _ = _parted(file.read_text(encoding="utf-8"))
    return common.encode()


@functools.cache
def _parted(source: str) -> tuple[str, dict[str, str]]:
    """A check module without what it says of mistakes, and that by exercise.

    A function of a mistake that is mentioned anywhere else stays with the rest.
    """
    lines, words = source.splitlines(), Counter(re.findall(r"\w+", source))
    common: list[str] = []
    known: dict[str, list[str]] = {}
    for node in ast.parse(source).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        text = "\n".join(lines[first - 1 : node.end_lineno])
        exercise = _mistake_of(node)
        if exercise is None or words[getattr(node, "name", "")] > 1:
            common.append(text)
        else:
            known.setdefault(exercise, []).append(text)
    return "\n".join(common), {exercise: "\n".join(text) for exercise, text in known.items()}


def _mistake_of(node: ast.stmt) -> str | None:
    """`bias` for `bias.mistake(…)`, as a call or above a function."""
    calls = [node.value] if isinstance(node, ast.Expr) else getattr(node, "decorator_list", [])
    for call in calls:
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=exercise), attr="mistake")):
                return exercise
    return None


def _with_imports(start: Path) -> set[Path]:
    """The file and every file of the package that it imports, directly or not."""
    found, tried, waiting = set(), set(), [str(start)]
    while waiting:
        file = waiting.pop()
        if file in tried:
            continue
        tried.add(file)
        if not os.path.exists(file):
            continue
        found.add(Path(file))
        for dots, module, names in IMPORT.findall(Path(file).read_text(encoding="utf-8")):
            folder = file if dots else str(PACKAGE)
            for _ in dots or ".":
                folder = os.path.dirname(folder)
            waiting += _targets(folder, module, re.findall(r"\w+", names))
    return found


def _targets(folder: str, module: str, names: list[str]) -> list[str]:
    """`from .a import b` may mean a.py, a/__init__.py or a/b.py."""
    base = os.path.join(folder, *filter(None, module.split(".")))
    places = (base, *(f"{base}/{name}" for name in names))
    return [f"{place}{end}" for place in places for end in (".py", "/__init__.py")]
