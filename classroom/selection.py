"""Which notebooks a command is about, by the names of units."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from selfcheck.units import find


def lectures(root: Path, units: Sequence[str] = ()) -> list[Path]:
    """The lectures of the named units, or of a path, in the order named; all but the start page."""
    return chosen(_notebooks(root, "notebooks"), units)


def solutions(root: Path, units: Sequence[str] = ()) -> list[Path]:
    """The solutions of the named units; all if none is named."""
    return chosen(_notebooks(root, "solutions"), units)


def chosen(paths: Sequence[Path], units: Sequence[str]) -> list[Path]:
    """Those of the notebooks that are meant, in the order named; all if none is named."""
    if not units:
        return list(paths)
    return list(dict.fromkeys(_one(unit, paths) for unit in units))


def _one(unit: str, paths: Sequence[Path]) -> Path:
    if unit.endswith(".ipynb") and Path(unit).exists():
        return Path(unit)
    by_stem = {path.stem: path for path in paths}
    return by_stem[find(unit, by_stem)]


def _notebooks(root: Path, folder: str) -> list[Path]:
    paths = sorted((root / folder).glob("*.ipynb"))
    return [path for path in paths if not path.name.startswith("00")]
