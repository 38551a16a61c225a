"""Which code a unit's grades depend on, as digests: a changed check regrades just its unit.

What an exercise knows of mistakes is a digest of its own: if only that changes, only the wrong
answers of that exercise are judged again.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import selfcheck
from selfcheck.course import current
from selfcheck.prose import prose_beside, read_prose

SUFFIX = "_mistakes"  # of the Python file beside the checks that the prose names
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
        digest.update(file.read_bytes())
    return digest.hexdigest()


def of_all(unit: str) -> str:
    """Both together: who judges has to have the same of all."""
    return sha256(f"{of_code(unit)} {sorted(of_mistakes(unit).items())}".encode()).hexdigest()


def of_mistakes(unit: str) -> dict[str, str]:
    """For each exercise, the digest of what the prose of its unit says of it."""
    file = current().check_file(unit.partition("_")[2])
    helpers = file.with_name(f"{file.stem}{SUFFIX}.py")
    common = helpers.read_bytes() if helpers.exists() else b""
    sections = read_prose(prose_beside(file))
    return {s.name: sha256(s.text.encode() + common).hexdigest()[:16] for s in sections}


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
