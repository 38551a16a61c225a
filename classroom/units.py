"""Which lectures a command is about: `2`, `02`, `momentum`, `02_momentum` or a path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from course_utils.files import CourseError


def lectures(root: Path, units: Sequence[str] = ()) -> list[Path]:
    """The lectures of the named units in the order named; all but the start page if none is."""
    known = [p for p in sorted((root / "notebooks").glob("*.ipynb")) if not p.name.startswith("00")]
    if not units:
        return known
    return list(dict.fromkeys(_lecture(unit, known) for unit in units))


def _lecture(unit: str, known: Sequence[Path]) -> Path:
    if unit.endswith(".ipynb") and Path(unit).exists():
        return Path(unit)
    stem = unit.removesuffix(".ipynb")
    wanted = f"{int(stem):02}" if stem.isdecimal() else stem
    for path in known:
        if wanted in (path.stem, *path.stem.split("_", maxsplit=1)):
            return path
    names = ", ".join(path.stem for path in known)
    raise CourseError(f"There is no unit {unit!r}; there are {names}.")
