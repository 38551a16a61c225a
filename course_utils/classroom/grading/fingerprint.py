"""Which code a unit's grades depend on, as a digest: a changed check regrades just its unit."""

from __future__ import annotations

import ast
import functools
from hashlib import sha256
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
GRADER = ("assembly", "inside", "judge", "metering", "sandbox", "wire")


@functools.cache
def of_code(unit: str) -> str:
    """The digest of the unit's checks, of all they import from the course, and of the grader."""
    name = unit.partition("_")[2]
    files = _with_imports(PACKAGE / "checks" / f"{name}.py")
    files |= {PACKAGE / "classroom" / "grading" / f"{stem}.py" for stem in GRADER}
    digest = sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(PACKAGE)}\n".encode())
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
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.level:
                waiting += _targets(file.parents[node.level - 1], node)
    return found


def _targets(folder: Path, node: ast.ImportFrom) -> list[Path]:
    """`from .a import b` may mean a.py, a/__init__.py or a/b.py."""
    base = folder.joinpath(*(node.module or "").split("."))
    names = [base / alias.name for alias in node.names]
    return [p for name in (base, *names) for p in (name.with_suffix(".py"), name / "__init__.py")]
