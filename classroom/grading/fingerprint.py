"""Which code a unit's grades depend on, as digests: a changed check regrades just its unit.

What an exercise knows of mistakes is a digest of its own: if only that changes, only the wrong
answers of that exercise are judged again.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import selfcheck
from selfcheck.course import current

MACHINE = Path(str(selfcheck.__file__)).resolve().parent
HERE = Path(__file__).resolve().parent
GRADER = (
    "algebra",
    "assembly",
    "flags",
    "forbidden",
    "child",
    "jobs",
    "judge",
    "lent_functions",
    "metering",
    "sandbox",
    "behavior",
    "bubblewrap",
    "wire",
)


@functools.cache
def of_code(unit: str) -> str:
    """The digest of the unit's checks, of all they import from the course, and of the grader."""
    checks = current().check_file(unit.partition("_")[2])
    files = _with_imports(checks) | {checks.with_suffix(".toml")}
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
    file = current().check_file(unit.partition("_")[2])
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
    """The file and every file of the course and the machine that it imports, directly or not."""
    homes = {home.name: home for home in (current().package_folder, MACHINE)}
    found: set[Path] = set()
    waiting = [start]
    while waiting:
        file = waiting.pop()
        if file not in found and file.exists():
            found.add(file)
            waiting += [path for module in _imported(file) for path in _files(module, homes)]
    return found


def _imported(file: Path) -> Iterator[tuple[Path | None, str]]:
    """The modules that a file imports: a folder and a name below it, or a name of its own."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            home = file.parents[node.level - 1] if node.level else None
            base = node.module or ""
            yield home, base
            yield from ((home, f"{base}.{name.name}".lstrip(".")) for name in node.names)
        elif isinstance(node, ast.Import):
            yield from ((None, name.name) for name in node.names)


def _files(module: tuple[Path | None, str], homes: Mapping[str, Path]) -> list[Path]:
    """`a.b` may mean a/b.py or a/b/__init__.py."""
    home, name = module
    parts = name.split(".") if name else []
    if home is None:
        if not parts or parts[0] not in homes:
            return []
        home, parts = homes[parts[0]], parts[1:]
    place = home.joinpath(*parts)
    return [place.with_name(f"{place.name}.py"), place / "__init__.py"]
