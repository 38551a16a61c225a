"""From solutions/ to exercises/ and to the bundle that students get.

In a solution notebook, the lines between these marks are the solution, and the commented lines
after the middle mark are what the student finds in their place:

    ### BEGIN SOLUTION
    alpha, epsilon = ...
    ### STUB
    # alpha, epsilon = ____, ____
    ### END SOLUTION

A cell tagged `instructor-only` is left out. Marks fail closed: anything that looks like a mark and
is not exactly one, is out of place, or lets a solution through stops the release before anything
is written. So does whatever this module does not know: a tag, a key of metadata, a raw cell.
"""

from __future__ import annotations

import copy
import difflib
import io
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nbformat import NotebookNode

from ..files import CourseError, write_whole
from . import navigation
from .notebooks import VOLATILE, as_text, read, strip_outputs

BEGIN, STUB, END = MARKS = ("### BEGIN SOLUTION", "### STUB", "### END SOLUTION")
INSTRUCTOR_ONLY = "instructor-only"
KNOWN_TAGS = {INSTRUCTOR_ONLY, "nbval-ignore-output", "hide-input"}
KEPT_METADATA = {"tags", "slideshow"}
DROPPED_METADATA = {"editable", "deletable", "jupyter", *VOLATILE}
BUNDLE = (
    "README.md", "LICENSE", "Makefile", "bootstrap.py", "environment.yml", "pyproject.toml",
    "requirements.lock", "requirements-dev.lock", "course_utils",
)  # fmt: skip
WORD = r"[\"']?[\w.]*[\"']?"  # a name or a choice among words that students are shown anyway
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*", "*.pyc", "*.egg-info")


# -- one notebook ---------------------------------------------------------------------------------


def exercise_from(solution: NotebookNode, name: str) -> NotebookNode:
    """The exercise notebook of a solved one: same cells and ids, no solution, no output."""
    exercise = copy.deepcopy(solution)
    for cell in exercise.cells:
        _refuse_unknown(cell, name)
    exercise.cells = [cell for cell in exercise.cells if not _is_instructors(cell)]
    for cell in exercise.cells:
        cell.source = _without_solution(cell, name)
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in KEPT_METADATA}
        if cell.id.startswith("check-"):
            cell.metadata.update(editable=False, deletable=False)
    _refuse_leaks(solution, exercise, name)
    return strip_outputs(exercise)


def solution_lines(solution: NotebookNode) -> list[str]:
    """Every line that tells a student something: solution regions and instructor-only cells."""
    lines: list[str] = []
    for cell in solution.cells:
        if _is_instructors(cell):
            lines += cell.source.splitlines()
        else:
            lines += [line for part, line in _parts(cell.source) if part == BEGIN]
    return [line.strip() for line in lines if _tells(line.strip())]


def _is_instructors(cell: NotebookNode) -> bool:
    return INSTRUCTOR_ONLY in cell.metadata.get("tags", [])


def _tells(line: str) -> bool:
    """Frames such as `def f(x):`, `import numpy`, `return v` and `]` give nothing away."""
    frame = r"(import|from) .*|.*:|return \w+|pass|break|continue|\W*"
    return not re.fullmatch(frame, line)


# -- all notebooks and the bundle -----------------------------------------------------------------


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
        if not path.exists() or path.read_bytes() != text.encode():
            write_whole(path, text)
            changed.append(path)
    return changed


def bundle(root: Path, target: Path, units: Sequence[str] = (), zipped: bool = False) -> Path:
    """Write what students get to a new folder or zip file: everything but the solutions."""
    target = target.resolve()
    zipped = zipped or target.suffix == ".zip"
    target = target.with_name(target.name.removesuffix(".zip") + ".zip") if zipped else target
    if target.exists() and (zipped or not target.is_dir() or any(target.iterdir())):
        raise CourseError(f"{target} exists already; name a new place or remove it first.")
    if (root / "course_utils").resolve() in target.parents:
        raise CourseError(f"{target} lies in what is copied; name a place elsewhere.")
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
    folder.mkdir()
    for name in BUNDLE:
        source = root / name
        if not source.exists():
            raise CourseError(f"{source} is missing, and students need it.")
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        else:
            shutil.copy(source, folder / name)
    for name, text in exercises.items():
        write_whole(folder / "exercises" / name, text)
    for lecture in sorted((root / "notebooks").glob("*.ipynb")):
        if lecture.name in exercises or lecture.name.startswith("00"):
            if any(map(_is_instructors, read(lecture).cells)):
                raise CourseError(
                    f"{lecture} has {INSTRUCTOR_ONLY} cells, but lectures go out whole."
                )
            write_whole(folder / "notebooks" / lecture.name, lecture.read_bytes())
    navigation.close(folder)


def _zip(folder: Path) -> bytes:
    """The folder as a zip file whose bytes depend on its contents alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            info = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix())
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, path.read_bytes())
    return buffer.getvalue()


def _choose(names: list[str], units: Sequence[str]) -> list[str]:
    """The notebooks of the named units: `02`, `02_momentum` or `momentum`."""
    stems = [name.removesuffix(".ipynb") for name in names]
    chosen = set()
    for unit in units:
        wanted = unit.removesuffix(".ipynb")
        found = [stem for stem in stems if wanted in (stem, *stem.split("_", maxsplit=1))]
        if not found:
            raise CourseError(f"There is no unit {unit!r}; there are {', '.join(stems)}.")
        chosen.update(found)
    return [f"{stem}.ipynb" for stem in stems if stem in chosen or not units]


# -- marks ----------------------------------------------------------------------------------------


def _refuse_unknown(cell: NotebookNode, name: str) -> None:
    """What we do not know might have been meant to hide something."""
    where = f"{name}, cell {cell.id}"
    unknown = set(cell.metadata.get("tags", [])) - KNOWN_TAGS
    if unknown:
        raise CourseError(
            f"{where}: unknown tag {', '.join(sorted(unknown))}; "
            f"known are {', '.join(sorted(KNOWN_TAGS))}."
        )
    unknown = set(cell.metadata) - KEPT_METADATA - DROPPED_METADATA
    unknown |= set(cell.metadata.get("slideshow", {})) - {"slide_type"}
    if unknown:
        raise CourseError(f"{where}: unknown metadata {', '.join(sorted(unknown))}; remove it.")
    if _is_instructors(cell):
        return
    if cell.cell_type == "raw":
        raise CourseError(
            f"{where}: a raw cell; make it code or text, or tag it {INSTRUCTOR_ONLY}."
        )
    if cell.get("attachments"):
        raise CourseError(f"{where}: an attached file, which may show anything; remove it.")


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


def _parts(source: str) -> Iterator[tuple[str | None, str]]:
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
    resembles = _resembles_code_mark if cell.cell_type == "code" else _resembles_text_mark
    seen = []
    for number, line in enumerate(cell.source.splitlines(), start=1):
        mark = line.strip()
        if mark in MARKS and cell.cell_type == "code":
            seen.append(mark)
        elif resembles(mark):
            raise CourseError(
                f"{where}, line {number}: {mark!r} looks like a mark but is none. Marks are "
                f"{', '.join(MARKS)}, in code; text for instructors is tagged {INSTRUCTOR_ONLY}."
            )
    if seen != list(MARKS) * (len(seen) // 3):
        raise CourseError(
            f"{where}: the marks are {', '.join(seen)}; each region needs {', '.join(MARKS)}."
        )
    for part, line in _parts(cell.source):
        if part == STUB and line.strip() and not line.strip().startswith("#"):
            raise CourseError(f"{where}: the stub line {line.strip()!r} is not commented out.")
    if (seen or cell.id.startswith("answer-")) and not _has_blank(cell.source):
        raise CourseError(f"{where}: nothing is left for the student; the stub needs a ____.")


def _has_blank(source: str) -> bool:
    return any("____" in line for part, line in _parts(source) if part != BEGIN)


def _resembles_code_mark(line: str) -> bool:
    """Three #, or a comment that speaks of solutions or stubs or is nearly a mark."""
    code, _, comment = line.partition("#")
    words = comment.strip("# ").lower()
    return (
        "###" in line
        or bool(re.search(r"soluti|\bstub", words))
        or (not code and _near_mark(words))
        or bool(re.search(r"(begin|end)\W*solution", line.lower()))
    )


def _resembles_text_mark(line: str) -> bool:
    """A heading or label that says solution, nearly a mark, or a comment hidden in the text."""
    words = line.strip("#*_`<>!-=[](): \t").lower()
    return "<!--" in line or bool(re.match(r"soluti|stub\b", words)) or _near_mark(words) or (
        line.startswith("#") and "solution" in words
    )  # fmt: skip


def _near_mark(words: str) -> bool:
    marks = ("begin solution", "end solution")
    return any(difflib.SequenceMatcher(None, words, mark).ratio() > 0.75 for mark in marks)


def _refuse_leaks(solution: NotebookNode, exercise: NotebookNode, name: str) -> None:
    """A last look: neither a solution line nor what it assigns stands in the exercise."""
    secrets = {s: line for line in solution_lines(solution) for s in _secrets(line)}
    for cell in exercise.cells:
        for line in cell.source.splitlines():
            shown = _squeeze(line)
            told = next((s for s in secrets if s == shown or (len(s) > 7 and s in shown)), None)
            if told is not None:
                raise CourseError(
                    f"{name}, cell {cell.id}: {line.strip()!r} would show students the solution "
                    f"{secrets[told]!r}."
                )


def _secrets(line: str) -> Iterable[str]:
    """The line without spaces and comments, and each formula that it assigns or returns."""
    code = _squeeze(re.sub(r"\s#\s.*", "", line)).rstrip(",")
    values = code.removeprefix("return") if code.startswith("return") else code.partition("=")[2]
    formulas = (v for v in re.split(r",(?![^(]*\))", values) if not re.fullmatch(WORD, v))
    return {code, *(formula for formula in formulas if len(formula) > 7)}


def _squeeze(line: str) -> str:
    return re.sub(r"\s", "", line)
