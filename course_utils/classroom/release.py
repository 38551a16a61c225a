"""From solutions/ to exercises/ and to the bundle that students get.

In a solution notebook, the lines between these marks are the solution, and the commented lines
after the middle mark are what the student finds in their place:

    ### BEGIN SOLUTION
    alpha, epsilon = ...
    ### STUB
    # alpha, epsilon = ____, ____
    ### END SOLUTION

A cell tagged `instructor-only` is left out. Marks fail closed: anything that looks like a mark and
is not exactly one, is out of place, or lets a solution line through stops the release before
anything is written.
"""

from __future__ import annotations

import copy
import difflib
import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from nbformat import NotebookNode

from ..files import CourseError, write_whole
from .notebooks import as_text, read, strip_outputs

BEGIN, STUB, END = MARKS = ("### BEGIN SOLUTION", "### STUB", "### END SOLUTION")
INSTRUCTOR_ONLY = "instructor-only"
KNOWN_TAGS = {INSTRUCTOR_ONLY, "nbval-ignore-output", "hide-input"}
MARK_WORDS = ("solution", "stub")
BUNDLE = (
    "README.md", "LICENSE", "Makefile", "bootstrap.py", "environment.yml", "pyproject.toml",
    "requirements.lock", "requirements-dev.lock", "course_utils",
)  # fmt: skip
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "*.pyc")


def exercise_from(solution: NotebookNode, name: str) -> NotebookNode:
    """The exercise notebook of a solved one: same cells and ids, no solution, no output."""
    exercise = copy.deepcopy(solution)
    exercise.cells = [c for c in exercise.cells if INSTRUCTOR_ONLY not in _tags(c, name)]
    for cell in exercise.cells:
        cell.source = _without_solution(cell, name)
        if cell.id.startswith("check-"):
            cell.metadata.update(editable=False, deletable=False)
    _refuse_leaks(solution, exercise, name)
    return strip_outputs(exercise)


def solution_lines(solution: NotebookNode) -> list[str]:
    """Every line a student must not see: solution regions and instructor-only cells."""
    lines = []
    for cell in solution.cells:
        if INSTRUCTOR_ONLY in cell.metadata.get("tags", []):
            lines += cell.source.splitlines()
        else:
            lines += [line for part, line in _parts(cell.source) if part == BEGIN]
    return [line.strip() for line in lines if line.strip()]


def generate(solutions: Path) -> dict[str, str]:
    """All exercise notebooks as text by file name; raises before anything is written."""
    sources = sorted(solutions.glob("*.ipynb"))
    if not sources:
        raise CourseError(f"There are no solution notebooks in {solutions}.")
    return {path.name: as_text(exercise_from(read(path), str(path))) for path in sources}


def release(root: Path) -> list[Path]:
    """Write exercises/ anew from solutions/; return what changed."""
    changed = []
    for name, text in generate(root / "solutions").items():
        path = root / "exercises" / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_whole(path, text)
            changed.append(path)
    return changed


def bundle(root: Path, target: Path, units: Sequence[str] = (), zipped: bool = False) -> Path:
    """Write what students get to a new folder or zip file: everything but the solutions."""
    target = target.with_name(target.name + ".zip") if zipped else target
    if target.exists() and (zipped or not target.is_dir() or any(target.iterdir())):
        raise CourseError(f"{target} exists already; name a new place or remove it first.")
    exercises = generate(root / "solutions")
    chosen = _choose(sorted(exercises), units)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".release-") as scratch:
        folder = Path(scratch) / "course"
        _fill(folder, root, {name: exercises[name] for name in chosen})
        if zipped:
            write_whole(target, _zip(folder))
        else:
            if target.exists():
                target.rmdir()
            os.replace(folder, target)
    return target


def _fill(folder: Path, root: Path, exercises: dict[str, str]) -> None:
    """Copy the house, the lectures of these units and the start page, and the exercises."""
    for name in BUNDLE:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        elif source.exists():
            folder.mkdir(exist_ok=True)
            shutil.copy(source, folder / name)
    for name, text in exercises.items():
        write_whole(folder / "exercises" / name, text)
    for lecture in sorted((root / "notebooks").glob("*.ipynb")):
        if lecture.name in exercises or lecture.name.startswith("00"):
            write_whole(folder / "notebooks" / lecture.name, lecture.read_bytes())


def _zip(folder: Path) -> bytes:
    """The folder as a zip file whose bytes depend on its contents alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            info = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix())
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, path.read_bytes())
    return buffer.getvalue()


def _choose(names: list[str], units: Sequence[str]) -> list[str]:
    """The notebooks of the named units: `02`, `02_momentum` or `momentum`."""
    chosen = []
    for unit in units:
        stem = unit.removesuffix(".ipynb")
        found = [n for n in names if stem in (n[:2], n.removesuffix(".ipynb"), n[3:-6])]
        if not found:
            known = ", ".join(n.removesuffix(".ipynb") for n in names)
            raise CourseError(f"There is no unit {unit!r}; there are {known}.")
        chosen += found
    return chosen or names


# -- marks ----------------------------------------------------------------------------------------


def _tags(cell: NotebookNode, name: str) -> set[str]:
    tags = set(cell.metadata.get("tags", []))
    unknown = tags - KNOWN_TAGS
    if unknown:
        raise CourseError(
            f"{name}, cell {cell.id}: unknown tag {', '.join(sorted(unknown))}; "
            f"known are {', '.join(sorted(KNOWN_TAGS))}."
        )
    return tags


def _without_solution(cell: NotebookNode, name: str) -> str:
    """The cell's source with every solution region replaced by its stub."""
    _refuse_bad_marks(cell, name)
    kept = []
    for part, line in _parts(cell.source):
        if part == STUB:
            indent = line[: len(line) - len(line.lstrip())]
            kept.append(indent + line.strip().removeprefix("#").removeprefix(" "))
        elif part is None:
            kept.append(line)
    return "\n".join(kept)


def _parts(source: str) -> Iterable[tuple[str | None, str]]:
    """Each line with the mark it stands under, or None outside of a region; marks left out."""
    part: str | None = None
    for line in source.splitlines():
        mark = line.strip()
        if mark in MARKS:
            part = None if mark == END else mark
        else:
            yield part, line


def _refuse_bad_marks(cell: NotebookNode, name: str) -> None:
    """Regions are BEGIN, STUB, END in this order, in code cells; nothing else looks like one."""
    where = f"{name}, cell {cell.id}"
    seen = []
    for number, line in enumerate(cell.source.splitlines(), start=1):
        mark = line.strip()
        if mark in MARKS:
            seen.append(mark)
        elif _resembles_mark(mark, cell.cell_type):
            raise CourseError(
                f"{where}, line {number}: {mark!r} looks like a mark but is none; "
                f"marks are {', '.join(MARKS)}."
            )
    if seen and cell.cell_type != "code":
        raise CourseError(f"{where}: marks belong into code cells; tag text {INSTRUCTOR_ONLY}.")
    if seen != list(MARKS) * (len(seen) // 3):
        raise CourseError(
            f"{where}: the marks are {', '.join(seen)}; each region needs {', '.join(MARKS)}."
        )
    for part, line in _parts(cell.source):
        if part == STUB and line.strip() and not line.strip().startswith("#"):
            raise CourseError(f"{where}: the stub line {line.strip()!r} is not commented out.")


def _resembles_mark(line: str, cell_type: str) -> bool:
    """A comment that begins like a mark, speaks of solutions or stubs, or is a misspelt mark."""
    if cell_type == "code":
        if not line.startswith("#"):
            return any(mark.lower() in line.lower() for mark in MARKS)
        if line.startswith("###"):
            return True
    words = line.lstrip("#").strip().lower()
    near = (difflib.SequenceMatcher(None, words, m.lstrip("# ").lower()).ratio() for m in MARKS)
    if cell_type != "code":
        return line.startswith("#") and max(near) > 0.8
    return any(word in words for word in MARK_WORDS) or max(near) > 0.7


def _refuse_leaks(solution: NotebookNode, exercise: NotebookNode, name: str) -> None:
    """A last look: no line of a solution stands in the exercise, and every answer is blank."""
    secret = set(solution_lines(solution))
    for cell in exercise.cells:
        for line in map(str.strip, cell.source.splitlines()):
            if line in secret and len(line) > 3:
                raise CourseError(
                    f"{name}, cell {cell.id}: the solution line {line!r} would reach students."
                )
        if cell.id.startswith("answer-") and "____" not in cell.source:
            raise CourseError(
                f"{name}, cell {cell.id}: an answer cell without ____ for the student to fill."
            )
