"""Commands for graders: grade a class, report, review, name mistakes."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from selfcheck.course import course_root
from selfcheck.files import CourseError

from .declaring import command, option, path, port, positive, seconds, word

GRADES = option("grades", type=path, metavar="GRADES", help="the folder that `course grade` wrote")
OF_UNIT = option(
    "--unit", type=word, help="only this unit, by its number or name (default: all units)"
)


@command(
    "grade",
    "grade the submissions of a class; unchanged submissions keep their grades",
    option(
        "submissions",
        type=path,
        metavar="SUBMISSIONS",
        help="the folder or zip file from your learning platform",
    ),
    option(
        "--to", type=path, metavar="GRADES", required=True, help="folder for gradebook and reports"
    ),
    OF_UNIT,
    option(
        "--student", type=word, help="only this student, even if nothing changed (default: all)"
    ),
    option("--verbose", action="store_true", help="show what was run, what was seen and why"),
    option(
        "--ids",
        type=path,
        metavar="FILE",
        help="CSV file with the columns student and id, for units with a student's own numbers",
    ),
    option(
        "--roster",
        type=path,
        metavar="FILE",
        help="list of the class: a gradebook of Canvas, a worksheet of Moodle, or a plain CSV; "
        "the same file is written again with the grades filled in",
    ),
    option(
        "--layout",
        type=word,
        metavar="PATTERN",
        help='where the files lie, such as "{student}/course/exercises/{unit}.ipynb"',
    ),
    option(
        "--late",
        type=word,
        metavar="RULE",
        help='deduction for late work, such as "10%% per day" (default: the class settings)',
    ),
    option(
        "--attempt", choices=("last", "best"), help="which of several files counts (default: last)"
    ),
    option(
        "--groups",
        action="store_true",
        help="what is named after several (ada+bob) was handed in by each of them",
    ),
    option(
        "--settings",
        type=path,
        metavar="FILE",
        help="file with the rules of the class (default: [class] in course.toml)",
    ),
    option(
        "--jobs",
        type=int,
        default=os.cpu_count(),
        help="number of parallel jobs (default: one per core)",
    ),
    option(
        "--scheduler",
        type=word,
        metavar="ADDRESS",
        help="address of a Dask cluster to grade on (default: this machine)",
    ),
    option(
        "--cell-seconds",
        type=seconds,
        default=10.0,
        help="most seconds of computing for one cell or call (default: 10)",
    ),
    option(
        "--no-sandbox", action="store_true", help="run student code unprotected on this machine"
    ),
)
def grade(options: argparse.Namespace) -> int:
    from ..grading.terminal import grade_class

    return grade_class(options, course_root())


@command(
    "report",
    "write grades, feedback pages and report again from the gradebook; nothing is run",
    option("grades", type=path, metavar="GRADES", help="the folder that `course grade` wrote"),
    OF_UNIT,
    option(
        "--anonymous",
        action="store_true",
        help="write only a report without names, to show in class",
    ),
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
    "give points for an exercise by hand; they stay when you grade again",
    GRADES,
    option("student", type=word, metavar="STUDENT", help="the student, as in grades.csv"),
    option("unit", type=word, metavar="UNIT", help="the unit, by its number or name"),
    option("exercise", type=word, metavar="EXERCISE", help="the exercise, such as 2.3"),
    option(
        "points", type=float, nargs="?", metavar="POINTS", help="the points, in steps of one half"
    ),
    option("--reason", default="", help="the reason, which the student will read"),
    option("--comment", default="", help="a comment for the student, with or without POINTS"),
    option("--no-file", action="store_true", help="allow it for a student who handed in no file"),
    option(
        "--drop",
        action="store_true",
        help="remove the override, so that the check's points count again",
    ),
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
            no_file = bool(line or options.no_file)
            words = (options.points, options.reason, options.comment, no_file)
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
        "--least",
        type=positive,
        default=2,
        metavar="N",
        help="fewest students who share a mistake (default: 2)",
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
    "open a page in your browser with the answers that need a look by hand",
    GRADES,
    OF_UNIT,
    option("--port", type=port, default=0, help="port of the page (default: any free one)"),
    option("--no-browser", action="store_true", help="print the address and open no browser"),
)
def review(options: argparse.Namespace) -> int:
    from ..grading.review import serve

    return serve(options.grades, options.unit, options.port, not options.no_browser)
