"""From solutions/ to exercises/ and to the bundle that students get.

What stands between marks (see marks.py) is replaced, and a cell tagged `instructor-only` is left
out. Answer and check cells carry what nbgrader has to know of them; JupyterLab shows nothing of it.
Everything fails closed: a bad mark, a solution that shows through, and whatever this module does
not know (a tag, a key of metadata, a raw cell) stop the release before anything is written.
"""

from __future__ import annotations

import copy
import io
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from selfcheck.cards import counted
from selfcheck.course import FILE, course_in, current
from selfcheck.files import CourseError, write_whole
from selfcheck.prose import prose_beside, read_prose
from selfcheck.sealed import (
    ALWAYS,
    DEADLINE,
    FULL,
    NEVER,
    SEALED,
    WHY,
    seal,
    sealed_beside,
    solutions_in,
    solved,
    with_wrong_turns,
)

from . import navigation, selection, unit_table
from .grading.settings import Settings, read_settings
from .marks import BEGIN, INSTRUCTOR_ONLY, parts, without_solution
from .notebooks import VOLATILE, as_text, read, strip_outputs
from .roles import HEADING, Role, id_of, role
from .solutions import Solution, read_solution, solution_paths

KNOWN_TAGS = {INSTRUCTOR_ONLY, "nbval-ignore-output", "hide-input"}
KEPT_METADATA = {"tags", "slideshow"}
DROPPED_METADATA = {"editable", "deletable", "jupyter", *VOLATILE}
GOES_ON = "raises-exception"
TRANSFER, ESSENTIALS, BEYOND = "transfer", "essentials", "## Beyond the page"
WORD = r"[\"']?[\w.]*[\"']?"  # a name or a choice among words that students are shown anyway
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*", "*.pyc", "*.egg-info", f"*{SEALED}")


# -- one notebook ---------------------------------------------------------------------------------


def exercise_from(solution: Solution) -> NotebookNode:
    """The exercise notebook of a solved one: same cells and ids, no solution, no output."""
    exercise = copy.deepcopy(solution.notebook)
    points = {id_of(Role.CHECK, e.name): e.points for e in solution.exercises}
    for cell in exercise.cells:
        _refuse_unknown(cell, solution.name)
    exercise.cells = [cell for cell in exercise.cells if role(cell) is not Role.INSTRUCTORS]
    for cell in exercise.cells:
        kind = role(cell)
        cell.source = without_solution(cell, solution.name)
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in KEPT_METADATA}
        if kind in (Role.ANSWER, Role.CHECK):  # Run All goes on after a slip
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), GOES_ON]
        if kind is Role.CHECK:
            cell.metadata.update(editable=False, deletable=False)
            cell.metadata["nbgrader"] = _for_nbgrader(cell.id, points[cell.id])
        elif kind is Role.ANSWER:
            cell.metadata["nbgrader"] = _for_nbgrader(cell.id)
    _refuse_leaks(solution.notebook, exercise, solution.name)
    return strip_outputs(exercise)


def _for_nbgrader(cell_id: str, points: int | None = None) -> dict[str, Any]:
    """What nbgrader has to know of a cell: a check, which has points, or an answer."""
    is_check = points is not None
    known = {"schema_version": 3, "grade_id": cell_id, "task": False}
    known |= {"grade": is_check, "locked": is_check, "solution": not is_check}
    return known | ({"points": points} if is_check else {})


def solution_lines(solution: NotebookNode, kind: str = "") -> list[str]:
    """Every line that tells a student something: solution regions and instructor-only cells.

    With a kind, `code` or `markdown`, those of such cells alone.
    """
    lines: list[str] = []
    for cell in solution.cells:
        if kind and cell.cell_type != kind:
            continue
        if role(cell) is Role.INSTRUCTORS:
            lines += cell.source.splitlines()
        else:
            lines += [line for part, line in parts(cell.source) if part == BEGIN]
    return [line.strip() for line in lines if _tells(line.strip())]


def _tells(line: str) -> bool:
    """Frames such as `def f(x):`, `return v`, `]` and `\\end{aligned}` give nothing away."""
    frame = r"(import|from) .*|.*:|return \w+|pass|break|continue|\W*|\\(begin|end)\{\w+\}\W*"
    return not re.fullmatch(frame, line)


# -- all notebooks and the bundle -----------------------------------------------------------------


def generate(root: Path, without: str = "", names: Sequence[str] = ()) -> dict[str, str]:
    """Exercise notebooks as text by file name, of all units or of these; writes nothing."""
    sheets = {}
    for path in selection.chosen(solution_paths(root), names):
        solution = read_solution(path)
        sheet = exercise_from(solution)
        if without:
            _leave_out(without, sheet, solution)
        sheets[path.name] = as_text(sheet)
    return sheets


def _leave_out(without: str, sheet: NotebookNode, solution: Solution) -> None:
    """Leave out what stands beyond the page, or all but that; each exercise with its section."""
    out = {e.number for e in solution.exercises if e.is_transfer is (without == TRANSFER)}
    kept, is_out, points, minutes = [], False, 0, 0
    for cell in sheet.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            heading = HEADING.match(cell.source)
            is_out = bool(heading and heading["number"] in out)
            is_out |= without == TRANSFER and cell.source.startswith(BEYOND)
            if heading and not is_out:
                points, minutes = points + int(heading["points"]), minutes + int(heading["minutes"])
        if not is_out:
            kept.append(cell)
        if role(cell) is Role.SCOREBOARD:
            cell.source = f'scoreboard(without="{without}")'
    in_all = (
        f"*{counted(points, thing='point')}, about {unit_table.in_words(5 * round(minutes / 5))}"
    )
    if not points:
        in_all = "*This unit has no exercises beyond the page"
    for cell in kept:
        if cell.cell_type == "markdown":
            cell.source = unit_table.IN_ALL.sub(in_all, cell.source)
    sheet.cells = kept


def release(root: Path, without: str = "") -> list[Path]:
    """Write exercises/ anew from solutions/; return what changed."""
    changed = []
    for name, text in generate(root, without).items():
        path = root / "exercises" / name
        if not path.exists() or path.read_bytes() != text.encode():
            write_whole(path, text)
            changed.append(path)
    return changed


def bundle(
    root: Path, target: Path, names: Sequence[str] = (), zipped: bool = False, without: str = ""
) -> Path:
    """Write what students get to a new folder or zip file: everything but the solutions."""
    target = target.resolve()
    zipped = zipped or target.suffix == ".zip"
    target = target.with_name(target.name.removesuffix(".zip") + ".zip") if zipped else target
    if target.exists() and (zipped or not target.is_dir() or any(target.iterdir())):
        raise CourseError(f"{target} exists already; name a new place or remove it first.")
    if course_in(root).package_folder.resolve() in target.parents:
        raise CourseError(f"{target} lies in what is copied; name a place elsewhere.")
    exercises = generate(root, without, names)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".release-") as scratch:
        folder = Path(scratch) / "course"
        _fill(folder, root, exercises)
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
    course = course_in(root)
    for name in (FILE, course.package, *course.bundle):
        _copy(root / name, folder / name if not name.endswith("/") else folder)
    for name, text in exercises.items():
        write_whole(folder / "exercises" / name, text)
    for path, text in sealed(root, [Path(name).stem for name in exercises]).items():
        write_whole(folder / path, text)
    for lecture in sorted((root / "notebooks").glob("*.ipynb")):
        if lecture.name in exercises or lecture.name.startswith("00"):
            if any(role(cell) is Role.INSTRUCTORS for cell in read(lecture).cells):
                raise CourseError(
                    f"{lecture} has {INSTRUCTOR_ONLY} cells, but lectures go out whole."
                )
            write_whole(folder / "notebooks" / lecture.name, lecture.read_bytes())
    navigation.close(folder)


def sealed(
    root: Path, stems: Iterable[str], default: str = NEVER, rules: Settings | None = None
) -> dict[str, str]:
    """The sealed solutions that go out with these units, by their place in the folder.

    `solutions` in the rules decides, which are those in course.toml if none are given; `default`
    where they say nothing. Before a deadline that counts there are none.
    """
    course = course_in(root)
    rules = read_settings(root / FILE) if rules is None else rules
    when, now, found = rules.solutions or default, datetime.now(), {}
    for stem in stems:
        path = root / "solutions" / f"{stem}.ipynb"
        is_over = stem in rules.deadlines and now > rules.deadlines[stem] + rules.longest_extra
        if path.exists() and (when in (FULL, ALWAYS) or (when == DEADLINE and is_over)):
            shown = FULL if when == FULL else ALWAYS
            place = sealed_beside(course.check_file(stem.partition("_")[2])).relative_to(root)
            found[place.as_posix()] = seal(solutions_in(read_solution(path).notebook.cells), shown)
    return found


def solved_sheet(solution: Solution) -> NotebookNode:
    """The solved notebook as students read it afterwards: answers without marks, and the whys."""
    sheet, last = copy.deepcopy(solution.notebook), ""
    sheet.cells = [
        cell
        for cell in sheet.cells
        if role(cell) is not Role.INSTRUCTORS or cell.source.startswith(WHY)
    ]
    known = _mistakes(solution)
    for cell in sheet.cells:
        if cell.cell_type == "code":
            cell.source = solved(cell.source)
        elif cell.source.startswith(WHY):
            cell.source = with_wrong_turns(cell.source, known.get(last, []))
        last = cell.id.removeprefix("check-") if cell.id.startswith("check-") else last
        tags = [tag for tag in cell.metadata.get("tags", []) if tag != INSTRUCTOR_ONLY]
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in KEPT_METADATA - {"tags"}}
        cell.metadata.update({"tags": tags} if tags else {})
    return sheet


def _mistakes(solution: Solution) -> dict[str, list[str]]:
    """The names of the known mistakes, by the name of the exercise as cells have it."""
    unit = Path(solution.name).stem.partition("_")[2]
    sections = read_prose(prose_beside(current().check_file(unit)))
    return {s.name.replace("_", "-"): [m.name for m in s.mistakes] for s in sections}


def solved_bundle(
    root: Path, target: Path | None = None, names: Sequence[str] = (), zipped: bool = False
) -> Path:
    """Write the solved notebooks of these units, with their whys, to a new folder or zip file.

    Without a target they go to build/solved, anew. Unpacked into the folder of the course,
    `check.NAME.solution()` finds them, too.
    """
    anew, target = target is None, target or root / "build" / "solved"
    zipped = zipped or target.suffix == ".zip"
    target = target.with_name(target.name.removesuffix(".zip") + ".zip") if zipped else target
    if target.exists() and not anew:
        raise CourseError(f"{target} exists already; name a new place or remove it first.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.resolve().parent, prefix=".solved-") as scratch:
        folder = Path(scratch) / "course"
        for path in selection.chosen(solution_paths(root), names):
            sheet = as_text(solved_sheet(read_solution(path)))
            write_whole(folder / "solutions" / path.name, sheet)
        if zipped:
            write_whole(target, _zip(folder))
        else:
            shutil.rmtree(target, ignore_errors=True)
            os.replace(folder, target)
    return target


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a folder to its place among what students get."""
    if not source.exists():
        raise CourseError(f"{source} is missing, and students need it.")
    if source.is_dir():
        shutil.copytree(source, target, ignore=LEFT_OUT, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


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


# -- what is refused ------------------------------------------------------------------------------


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
    if role(cell) is Role.INSTRUCTORS:
        return
    if cell.cell_type == "raw":
        raise CourseError(
            f"{where}: a raw cell; make it code or text, or tag it {INSTRUCTOR_ONLY}."
        )
    if cell.get("attachments"):
        raise CourseError(f"{where}: an attached file, which may show anything; remove it.")


def _refuse_leaks(solution: NotebookNode, exercise: NotebookNode, name: str) -> None:
    """A last look: neither a solution line nor what it assigns stands in the exercise."""
    secrets = {s: line for line in solution_lines(solution, "code") for s in _secrets(line)}
    secrets |= {squeezed(line): line for line in solution_lines(solution, "markdown")}
    for cell in exercise.cells:
        for line in cell.source.splitlines():
            shown = squeezed(line)
            told = next((s for s in secrets if s == shown or (len(s) > 7 and s in shown)), None)
            if told is not None:
                raise CourseError(
                    f"{name}, cell {cell.id}: {line.strip()!r} would show students the solution "
                    f"{secrets[told]!r}."
                )


def _secrets(line: str) -> Iterable[str]:
    """The line without spaces and comments, and each formula that it assigns or returns."""
    code = squeezed(re.sub(r"\s#\s.*", "", line)).rstrip(",")
    values = code.removeprefix("return") if code.startswith("return") else code.partition("=")[2]
    formulas = (v for v in re.split(r",(?![^(]*\))", values) if not re.fullmatch(WORD, v))
    return {code, *(formula for formula in formulas if len(formula) > 7)}


def squeezed(line: str) -> str:
    """The line without its spaces."""
    return re.sub(r"\s", "", line)
