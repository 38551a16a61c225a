"""Commands for graders: grade a class, report, review, name mistakes."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from selfcheck.course import course_root
from selfcheck.files import CourseError

from .declaring import command, option, positive

GRADES = option("grades", type=Path, metavar="GRADES", help="as for `course report`")
OF_UNIT = option("--unit", help="of this unit alone")


@command(
    "grade",
    "grade the submissions of a class; what is graded and unchanged is kept",
    option("submissions", type=Path, metavar="SUBMISSIONS", help="a folder or a zip"),
    option("--to", type=Path, metavar="GRADES", required=True, help="folder for grades"),
    option("--unit", help="only this unit, by its number or name"),
    option("--student", help="only this student, also if nothing changed"),
    option("--verbose", action="store_true", help="show what was run and seen, and why"),
    option(
        "--ids",
        type=Path,
        metavar="FILE",
        help="CSV with a line `student,id` for each: whose numbers are whose",
    ),
    option(
        "--roster",
        type=Path,
        metavar="FILE",
        help="who is in the class: a gradebook of Canvas, a worksheet of Moodle, or a plain CSV; "
        "it comes out filled in",
    ),
    option(
        "--layout",
        metavar="PATTERN",
        help='where files are, such as "{student}/course/exercises/{unit}.ipynb"',
    ),
    option("--late", metavar="RULE", help='points lost for late work: "10%% a day"'),
    option("--attempt", choices=("last", "best"), help="which of several files counts"),
    option(
        "--settings",
        type=Path,
        metavar="FILE",
        help="the rules of the class; [class] in course.toml if not given",
    ),
    option("--jobs", type=int, default=os.cpu_count(), help="so many at once"),
    option("--scheduler", metavar="ADDRESS", help="grade on this Dask cluster"),
    option("--cell-seconds", type=float, default=10.0, help="most for a cell or a call"),
    option("--no-sandbox", action="store_true", help="run students' code unprotected here"),
)
def grade(options: argparse.Namespace) -> int:
    from ..grading.terminal import grade_class

    return grade_class(options, course_root())


@command(
    "report",
    "write grades, feedback pages and report anew; nothing is run",
    option("grades", type=Path, metavar="GRADES", help="the folder of `course grade`"),
    OF_UNIT,
    option("--anonymous", action="store_true", help="only a report without names, to be shown"),
)
def report(options: argparse.Namespace) -> int:
    from ..grading.outputs import write_outputs

    about = {"unit": options.unit, "tell": _show_current, "anonymous": options.anonymous}
    changed = write_outputs(options.grades, **about)
    beside = [path for path in changed if path.parent == options.grades]
    lines = [f"wrote {path}" for path in beside]
    if len(changed) > len(beside):
        pages = options.grades / "feedback"
        lines.append(f"wrote {len(changed) - len(beside)} of the feedback pages in {pages}")
    print("\n".join(lines) or "nothing changed")
    return 0


def _show_current(path: Path) -> None:
    """What is being written, on one line of the terminal that the next one replaces."""
    if sys.stdout.isatty():
        print(f"\r\x1b[K{path.name[:70]}\r", end="", flush=True)


@command(
    "override",
    "let points that you give count for an exercise, also after regrading",
    GRADES,
    option("student", metavar="STUDENT"),
    option("unit", metavar="UNIT"),
    option("exercise", metavar="EXERCISE"),
    option("points", type=float, nargs="?", metavar="POINTS", help="in halves"),
    option("--reason", default="", help="why; the student will read it"),
    option("--comment", default="", help="a word to the student, also without POINTS"),
    option("--no-file", action="store_true", help="also for a student who handed in no file"),
    option("--drop", action="store_true", help="let the check's points count again"),
)
def override(options: argparse.Namespace) -> int:
    from selfcheck.units import find

    from ..grading.gradebook import NAME, Gradebook
    from ..grading.roster import kept_roster

    if options.drop and options.points is not None:
        raise CourseError("Give either POINTS with --reason, or --drop.")
    with Gradebook(options.grades / NAME, create=False) as book:
        roster = kept_roster(book)
        line = roster.line_named(options.student) if roster else None
        student, unit = line.key if line else options.student, find(options.unit)
        if options.drop:
            dropped = book.drop_override(student, unit, options.exercise)
            print(f"dropped: {dropped.exercise} of {student} counts as it was checked")
        else:
            if book.get(student, unit) is None and (line or options.no_file):
                book.add_without_file(student, unit)
            words = (options.points, options.reason, options.comment)
            given = book.override(student, unit, options.exercise, *words)
            total = book.mark(student, unit)
            assert total is not None  # only what is graded can have an override
            says = (
                "a comment"
                if given.earned is None
                else f"{given.earned} instead of the check's points"
            )
            print(f"{student}, {unit}, {given.exercise}: {says};", end=" ")
            print(f"{total.earned} of {total.points} in all")
    print(f"`course report {options.grades}` writes the pages anew.")
    return 0


@command(
    "mistakes",
    "draft known mistakes from wrong answers that students share",
    GRADES,
    OF_UNIT,
    option(
        "--least", type=positive, default=2, metavar="N", help="made by N or more; 2 if not given"
    ),
)
def mistakes(options: argparse.Namespace) -> int:
    from ..grading.drafts import told, write_drafts

    drafts = write_drafts(options.grades, options.unit, options.least)
    print(*told(drafts), sep="\n")
    if drafts:
        print("Name them as the drafts say, then grade again: only those exercises are judged.")
    else:
        print(f"No wrong answer without a known mistake is shared by {options.least} or more.")
    return 0


@command(
    "review",
    "a page in your browser for what has to be looked at by hand",
    GRADES,
    OF_UNIT,
    option("--port", type=int, default=0, help="any free one if not given"),
    option("--no-browser", action="store_true", help="only tell the address"),
)
def review(options: argparse.Namespace) -> int:
    from ..grading.review import serve

    return serve(options.grades, options.unit, options.port, not options.no_browser)
