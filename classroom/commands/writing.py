"""Commands for authors: begin a course or a unit, execute, check, release."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from selfcheck.course import Course, course_root, current
from selfcheck.files import CourseError, write_whole

from .declaring import command, option, path, positive

# Run before a lecture: numbers of its explorers are saved with them.
BAKING = """\
from classroom.frames import bake
from selfcheck.explore import Explorer

Explorer.bake = bake
"""


@command(
    "init",
    "create a new course in its own folder",
    option("folder", type=path, metavar="DIR", help="a folder that is new or empty"),
    option("title", help="the title of the course, in quotation marks"),
)
def init(options: argparse.Namespace) -> int:
    from ..new import FIRST_UNIT, new_course

    course = new_course(options.folder, options.title)
    code = _make_unit(course, *FIRST_UNIT)
    if not code:
        print(f"There is a course in {options.folder}. Go there, and try `make lab`.")
    return code


@command(
    "new",
    "create a small unit that works, for you to change",
    option("number", help="the number of the unit, such as 12"),
    option("name", help="its name, such as fractions; the files are then 12_fractions.ipynb"),
    option("title", help="the title of the lecture, in quotation marks"),
)
def new(options: argparse.Namespace) -> int:
    return _make_unit(current(), options.number, options.name, options.title)


def _make_unit(course: Course, number: str, name: str, title: str) -> int:
    """Write the files of a unit, then execute, link and release in processes that see them."""
    from ..new import new_unit

    paths = new_unit(course.folder, number, name, title)
    _tell_changes(paths, course.folder)
    notebooks = [str(path) for path in paths if path.suffix == ".ipynb"]
    start = str(course.folder / "notebooks" / f"{course.start}.ipynb")
    for arguments in (["links"], ["execute", *notebooks, start], ["release"]):
        command = [sys.executable, "-m", "selfcheck", *arguments]
        if code := subprocess.run(command, cwd=course.folder).returncode:
            return code
    return 0


@command(
    "execute",
    "run notebooks again and save them without what changes from run to run",
    option(
        "notebook", nargs="*", type=path, help="notebooks (default: all lectures and solutions)"
    ),
)
def execute(options: argparse.Namespace) -> int:
    from ..kernels import warm
    from ..notebooks import as_text, execute

    paths = options.notebook or _lectures_and_solutions(course_root())
    with warm():
        for number, path in enumerate(paths, start=1):
            start = time.perf_counter()
            print(f"[{number}/{len(paths)}] {path}", end=" ", flush=True)
            try:
                is_lecture = path.resolve().parent.name == "notebooks"
                ran = execute(path, first=BAKING if is_lecture else "")
                write_whole(path, as_text(ran))
            finally:
                print(f"{time.perf_counter() - start:.1f} s", flush=True)
    return 0


def _lectures_and_solutions(root: Path) -> list[Path]:
    folders = (root / "notebooks", root / "solutions")
    return [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]


@command(
    "check",
    "run nbval over lectures and solutions, or over a submission",
    option(
        "notebook", nargs="*", type=path, help="notebooks (default: all lectures and solutions)"
    ),
    option(
        "--jobs", type=positive, metavar="N", help="number of parallel jobs (default: one per core)"
    ),
)
def check(options: argparse.Namespace) -> int:
    from ..checking import check_notebooks, check_submission, is_ours

    root = course_root()
    named = options.notebook or _lectures_and_solutions(root)
    ours = [path for path in named if is_ours(path, root)]
    green = [check_submission(path, root) for path in named if path not in ours]
    if ours:
        green.append(check_notebooks(ours, root, options.jobs))
    return 0 if all(green) else 1


@command(
    "links",
    "write links, titles, points and maps again from the table of units",
)
def links(options: argparse.Namespace) -> int:
    from .. import navigation, unit_table

    root = course_root()
    changed = [*unit_table.tell(root), *navigation.link(root)]
    _tell_changes(list(dict.fromkeys(changed)), root)
    return 0


def _tell_changes(paths: Sequence[Path], root: Path) -> None:
    print("\n".join(f"wrote {path.relative_to(root)}" for path in paths) or "nothing changed")


@command(
    "release",
    "generate exercises/, or the bundle for students",
    option(
        "--to",
        type=path,
        metavar="DIR",
        help="write the bundle for students to DIR (default: write exercises/)",
    ),
    option("--zip", action="store_true", help="with --to: write DIR.zip in place of DIR"),
    option("--nbgrader", type=path, metavar="DIR", help="write an assignment source for nbgrader"),
    option(
        "--unit",
        action="append",
        default=[],
        help="of a bundle: only this unit; may be repeated (default: all units)",
    ),
    option(
        "--solutions",
        action="store_true",
        help="write solved notebooks with their whys to DIR (default: build/solved)",
    ),
    option(
        "--leaks",
        action="store_true",
        help="list the lines of solutions that students can see elsewhere",
    ),
    option(
        "--without",
        choices=["transfer", "essentials"],
        default="",
        help="leave out the exercises beyond the page (transfer) or all others (essentials)",
    ),
)
def release(options: argparse.Namespace) -> int:
    from .. import release

    root = course_root()
    if options.leaks:
        from ..leaks import leaks

        print(*leaks(root), sep="\n")
    elif options.nbgrader is not None:
        from ..interchange import export_to_nbgrader

        if options.to or options.zip:
            raise CourseError(
                "--nbgrader DIR writes a folder of its own; leave out --to and --zip."
            )
        for path in export_to_nbgrader(root, options.nbgrader, options.unit):
            print(f"wrote {path}")
    elif options.solutions:
        if options.without:
            raise CourseError("--solutions has whole sheets; leave out --without.")
        target = release.solved_bundle(root, options.to, options.unit, options.zip)
        print(f"wrote {target}")
    elif options.to is None:
        if options.zip or options.unit:
            raise CourseError("--zip and --unit belong to --to DIR, the students' bundle.")
        _tell_changes(release.release(root, options.without), root)
    else:
        target = release.bundle(root, options.to, options.unit, options.zip, options.without)
        print(f"wrote {target}")
    return 0


@command(
    "audit",
    "change right answers a little and list the changes that still earn all points",
    option("unit", nargs="*", help="numbers or names of units (default: all units)"),
    option(
        "--corners", action="store_true", help="list which corners of its inputs each check tries"
    ),
    option(
        "--every",
        type=positive,
        default=1,
        metavar="K",
        help="try only every K-th change (default: 1, all of them)",
    ),
    option("--write", action="store_true", help="write the score into the README"),
)
def audit(options: argparse.Namespace) -> int:
    from .. import audit, luck

    if options.corners:
        return luck.run(course_root(), audit.chosen(course_root(), options.unit))
    return audit.run(course_root(), options.unit, options.every, options.write)
