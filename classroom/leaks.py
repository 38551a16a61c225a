"""Solution lines that students can read elsewhere: in a lecture or in the helper package.

The sheets themselves are looked at by every release, which refuses. What is listed here may stand:
a first step may be shown in a lecture, a transfer exercise may not. The author decides, line by
line, in tests/leaks.txt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import selfcheck
from selfcheck.course import course_in

from .notebooks import read
from .release import solution_lines, squeezed
from .solutions import solution_paths

SHORTEST = 12  # signs; `i = 0` and the like stand everywhere


@dataclass(frozen=True)
class Leak:
    """A line of a solution, and the files of the bundle in which it stands."""

    unit: str
    line: str
    places: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.unit}: {self.line}  ({', '.join(self.places)})"


def leaks(root: Path) -> list[Leak]:
    """The solution lines that stand in a lecture or in the package, in order."""
    shown: dict[str, set[str]] = {}
    for place, line in lines_of_bundle(root):
        shown.setdefault(squeezed(line), set()).add(place)
    found: dict[tuple[str, str], Leak] = {}
    for path in solution_paths(root):
        for line in solution_lines(read(path)):
            places = shown.get(squeezed(line), ())
            if places and len(squeezed(line)) >= SHORTEST:
                found[path.stem, squeezed(line)] = Leak(path.stem, line, tuple(sorted(places)))
    return list(found.values())


def lines_of_bundle(root: Path) -> Iterator[tuple[str, str]]:
    """Every line of the packages and lectures, with the file in which it stands."""
    packages = (course_in(root).package_folder, Path(str(selfcheck.__file__)).resolve().parent)
    shown = [p for package in packages for p in package.rglob("*") if p.suffix in (".py", ".md")]
    for path in sorted(shown):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield "/".join(path.parts[-2:]), line
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        for cell in read(path).cells:
            for line in cell.source.splitlines():
                yield path.relative_to(root).as_posix(), line
