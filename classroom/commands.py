"""The instructors' half of the `course` command."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from selfcheck.course import Course, course_root, current
from selfcheck.files import CourseError, write_whole

from .extras import need


def add_commands(commands: Any) -> None:
    """Add all commands for instructors to argparse's subparsers."""
    students = set(commands.choices)
    init = commands.add_parser("init", help="begin a new course in a folder of its own")
    init.add_argument("folder", type=Path, metavar="DIR", help="a new or empty folder")
    init.add_argument("title", help="of the course, in quotation marks")
    init.set_defaults(run=_init)

    new = commands.add_parser("new", help="make a unit that works at once, to be filled by you")
    new.add_argument("number", help="such as 12")
    new.add_argument("name", help="such as diffusion: its files are 12_diffusion.ipynb")
    new.add_argument("title", help="of the lecture, in quotation marks")
    new.set_defaults(run=_new)

    release = commands.add_parser("release", help="generate exercises/ or the students' bundle")
    release.add_argument("--to", type=Path, metavar="DIR", help="write the students' bundle to DIR")
    release.add_argument("--zip", action="store_true", help="with --to: write DIR.zip instead")
    release.add_argument(
        "--nbgrader", type=Path, metavar="DIR", help="write an assignment source for nbgrader"
    )
    release.add_argument(
        "--unit", action="append", default=[], help="with --to or --nbgrader: only this unit"
    )
    release.add_argument(
        "--leaks", action="store_true", help="list solution lines that lectures or package show"
    )
    release.add_argument(
        "--without",
        choices=["transfer", "essentials"],
        default="",
        help="leave out what stands beyond the page, or all else",
    )
    release.set_defaults(run=_release)

    execute = commands.add_parser("execute", help="run notebooks anew and save them clean")
    execute.add_argument(
        "notebook", nargs="*", type=Path, help="all lectures and solutions if none"
    )
    execute.set_defaults(run=_execute)

    check = commands.add_parser(
        "check", help="run nbval over lectures and solutions, or over a submission"
    )
    check.add_argument("notebook", nargs="*", type=Path, help="all lectures and solutions if none")
    check.add_argument("--jobs", type=_positive, metavar="N", help="as many as there are cores")
    check.set_defaults(run=_check)

    page = commands.add_parser("page", help="write notebooks as HTML pages that work offline")
    page.add_argument("notebook", nargs="*", type=Path, help="all lectures and exercises if none")
    page.add_argument("--to", type=Path, metavar="DIR", help="the folder; build/pages if not given")
    page.set_defaults(run=_page)

    slides = commands.add_parser("slides", help="write lectures as decks that work offline")
    slides.add_argument("unit", nargs="*", help="2, 02_momentum or a path; all lectures if none")
    slides.add_argument("--to", type=Path, metavar="DIR", help="build/slides if none")
    slides.add_argument("--pdf", action="store_true", help="also print each deck")
    slides.add_argument("--open", action="store_true", help="open the decks in the browser")
    slides.add_argument("--outline", action="store_true", help="only list slides and minutes")
    slides.add_argument("--check", action="store_true", help="also tell which slides do not fit")
    slides.add_argument("--shots", type=Path, metavar="DIR", help="also take pictures of slides")
    slides.set_defaults(run=_slides)

    handout = commands.add_parser("handout", help="write lectures and blank exercises for print")
    handout.add_argument("unit", nargs="*", help="2, 02_momentum or a path; all lectures if none")
    handout.add_argument("--to", type=Path, metavar="DIR", help="build/handouts if none")
    handout.add_argument("--html", action="store_true", help="only pages, no PDF")
    handout.add_argument(
        "--ids",
        type=Path,
        metavar="FILE",
        help="a roster: a sheet of one's own for each student, and a key",
    )
    handout.set_defaults(run=_handout)

    site = commands.add_parser("site", help="write the course as a web site, with Python in it")
    site.add_argument("--to", type=Path, metavar="DIR", help="the folder; build/site if not given")
    site.add_argument(
        "--offline-wheels",
        type=Path,
        metavar="DIR",
        help="compiled wheels for Pyodide: then all that runs lies on the site",
    )
    site.add_argument(
        "--base-path", default="/", metavar="PATH", help="where it will be served: /course/"
    )
    site.add_argument("--unit", action="append", default=[], help="only this unit; may be repeated")
    site.set_defaults(run=_site)

    audit = commands.add_parser(
        "audit", help="change right answers a little and tell what the checks still call right"
    )
    audit.add_argument("unit", nargs="*", help="4, 04_attention or attention; all units if none")
    audit.add_argument(
        "--seeds", type=_positive, default=0, metavar="N", help="try right answers with N seeds"
    )
    audit.add_argument("--every", type=_positive, default=1, metavar="K", help="each K-th mutant")
    audit.add_argument("--write", action="store_true", help="write the score into the README")
    audit.set_defaults(run=_audit)

    links = commands.add_parser(
        "links", help="write links, titles, points and maps anew from the table of units"
    )
    links.set_defaults(run=_links)

    grade = commands.add_parser(
        "grade", help="grade the submissions of a class; what is graded and unchanged is kept"
    )
    grade.add_argument("submissions", type=Path, metavar="SUBMISSIONS", help="a folder or a zip")
    grade.add_argument("--to", type=Path, metavar="GRADES", required=True, help="folder for grades")
    grade.add_argument("--unit", help="only this unit, such as 02_momentum")
    grade.add_argument("--student", help="only this student, also if nothing changed")
    grade.add_argument("--verbose", action="store_true", help="show what was run and seen, and why")
    grade.add_argument(
        "--ids", type=Path, metavar="FILE", help="CSV: student, id in units 05 and 11"
    )
    grade.add_argument(
        "--roster",
        type=Path,
        metavar="FILE",
        help="who is in the class: a gradebook of Canvas, a worksheet of Moodle, or a plain CSV; "
        "it comes out filled in",
    )
    grade.add_argument(
        "--layout",
        metavar="PATTERN",
        help='where files are, such as "{student}/course/exercises/{unit}.ipynb"',
    )
    grade.add_argument("--late", metavar="RULE", help='points lost for late work: "10%% a day"')
    grade.add_argument("--attempt", choices=("last", "best"), help="which of several files counts")
    grade.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="the rules of the class; [class] in course.toml if not given",
    )
    grade.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many at once")
    grade.add_argument("--scheduler", metavar="ADDRESS", help="grade on this Dask cluster")
    grade.add_argument("--cell-seconds", type=float, default=10.0, help="most for a cell or a call")
    grade.add_argument(
        "--no-sandbox", action="store_true", help="run student code unprotected on this machine"
    )
    grade.set_defaults(run=_grade)

    report = commands.add_parser(
        "report", help="write grades, feedback pages and report anew; nothing is run"
    )
    report.add_argument("grades", type=Path, metavar="GRADES", help="the folder of `course grade`")
    report.add_argument("--unit", help="of this unit alone")
    report.add_argument(
        "--anonymous", action="store_true", help="write a report without names to show, no more"
    )
    report.set_defaults(run=_report)

    override = commands.add_parser(
        "override", help="let points that you give count for an exercise, also after regrading"
    )
    override.add_argument("grades", type=Path, metavar="GRADES", help="as for `course report`")
    for word in ("student", "unit", "exercise"):
        override.add_argument(word, metavar=word.upper())
    override.add_argument("points", type=float, nargs="?", metavar="POINTS", help="in halves")
    override.add_argument("--reason", default="", help="why; the student will read it")
    override.add_argument(
        "--comment", default="", help="a word to the student, also without POINTS"
    )
    override.add_argument(
        "--no-file", action="store_true", help="also for a student who handed in no file"
    )
    override.add_argument("--drop", action="store_true", help="let the check's points count again")
    override.set_defaults(run=_override)

    mistakes = commands.add_parser(
        "mistakes", help="draft known mistakes from wrong answers that students share"
    )
    mistakes.add_argument("grades", type=Path, metavar="GRADES", help="as for `course report`")
    mistakes.add_argument("--unit", help="of this unit alone")
    mistakes.add_argument(
        "--least", type=_positive, default=2, metavar="N", help="made by so many; 2 if not given"
    )
    mistakes.set_defaults(run=_mistakes)

    review = commands.add_parser(
        "review", help="a page in your browser for what has to be looked at by hand"
    )
    review.add_argument("grades", type=Path, metavar="GRADES", help="as for `course report`")
    review.add_argument("--unit", help="of this unit alone")
    review.add_argument("--port", type=int, default=0, help="any free one if not given")
    review.add_argument("--no-browser", action="store_true", help="only tell the address")
    review.set_defaults(run=_review)

    for name in commands.choices.keys() - students:
        command = commands.choices[name]
        command.set_defaults(run=_once_installed(name, command.get_default("run")))


def _once_installed(name: str, run: Callable[[argparse.Namespace], int]) -> Callable:
    """The command, refused where only what students need is installed."""

    def checked(options: argparse.Namespace) -> int:
        need("", f"`course {name}` needs")
        return run(options)

    return checked


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 up")
    return int(text)


def _init(options: argparse.Namespace) -> int:
    from .new import FIRST_UNIT, new_course

    course = new_course(options.folder, options.title)
    code = _make_unit(course, *FIRST_UNIT)
    if not code:
        print(f"There is a course in {options.folder}. Go there, and try `make lab`.")
    return code


def _new(options: argparse.Namespace) -> int:
    return _make_unit(current(), options.number, options.name, options.title)


def _make_unit(course: Course, number: str, name: str, title: str) -> int:
    """Write the files of a unit, then execute, link and release in processes that see them."""
    from .new import new_unit

    paths = new_unit(course.folder, number, name, title)
    _tell_changes(paths, course.folder)
    notebooks = [str(path) for path in paths if path.suffix == ".ipynb"]
    start = str(course.folder / "notebooks" / f"{course.start}.ipynb")
    for arguments in (["links"], ["execute", *notebooks, start], ["release"]):
        command = [sys.executable, "-m", "selfcheck", *arguments]
        if code := subprocess.run(command, cwd=course.folder).returncode:
            return code
    return 0


def _release(options: argparse.Namespace) -> int:
    from . import release

    root = course_root()
    if options.leaks:
        from .leaks import leaks

        print(*leaks(root), sep="\n")
    elif options.nbgrader is not None:
        from .interchange import export_to_nbgrader

        if options.to or options.zip:
            raise CourseError(
                "--nbgrader DIR writes a folder of its own; leave out --to and --zip."
            )
        for path in export_to_nbgrader(root, options.nbgrader, options.unit):
            print(f"wrote {path}")
    elif options.to is None:
        if options.zip or options.unit:
            raise CourseError("--zip and --unit belong to --to DIR, the students' bundle.")
        _tell_changes(release.release(root, options.without), root)
    else:
        target = release.bundle(root, options.to, options.unit, options.zip, options.without)
        print(f"wrote {target}")
    return 0


def _execute(options: argparse.Namespace) -> int:
    from .kernels import warm
    from .notebooks import as_text, execute

    paths = options.notebook or _lectures_and_solutions(course_root())
    with warm():
        for number, path in enumerate(paths, start=1):
            start = time.perf_counter()
            print(f"[{number}/{len(paths)}] {path}", end=" ", flush=True)
            try:
                write_whole(path, as_text(execute(path)))
            finally:
                print(f"{time.perf_counter() - start:.1f} s", flush=True)
    return 0


def _lectures_and_solutions(root: Path) -> list[Path]:
    folders = (root / "notebooks", root / "solutions")
    return [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]


def _check(options: argparse.Namespace) -> int:
    from .checking import check_notebooks, check_submission, is_ours

    root = course_root()
    named = options.notebook or _lectures_and_solutions(root)
    ours = [path for path in named if is_ours(path, root)]
    green = [check_submission(path, root) for path in named if path not in ours]
    if ours:
        green.append(check_notebooks(ours, root, options.jobs))
    return 0 if all(green) else 1


def _page(options: argparse.Namespace) -> int:
    need("slides", "Pages need")
    from .pages import write_pages

    root = course_root()
    folders = (root / "notebooks", root / "exercises")
    paths = options.notebook or [p for folder in folders for p in sorted(folder.glob("*.ipynb"))]
    pages = write_pages(paths, root, options.to or root / "build" / "pages")
    for number, page in enumerate(pages, start=1):
        print(f"[{number}/{len(paths)}] wrote {page}", flush=True)
    return 0


def _slides(options: argparse.Namespace) -> int:
    from . import outline, selection, slides
    from .grading.settings import NAME, read_settings
    from .notebooks import read
    from .offline import sound
    from .printing import chromium

    root = course_root()
    paths = selection.lectures(root, options.unit)
    if not options.unit:
        paths = [path for path in paths if outline.has_marks(read(path))]
    if options.outline:
        for path in paths:
            print(f"{path.stem}\n{outline.table(outline.outline(read(path), path))}\n")
        return 0
    need("slides", "Slides need")
    if options.pdf or options.check or options.shots:
        chromium()  # rather now than after the decks
    folder, decks = options.to or root / "build" / "slides", []
    about = read_settings(root / NAME).slides
    lectures = {path: sound(path, "a deck") for path in paths}
    coming = slides.write_decks(lectures, folder, root / "build" / "frames", about)
    for number in range(1, len(paths) + 1):
        print(f"[{number}/{len(paths)}]", end=" ", flush=True)
        deck = next(coming)
        decks.append(deck.target)
        print(deck, flush=True)
    code = _look_at(decks, options) if options.pdf or options.check or options.shots else 0
    if options.open:
        import webbrowser

        for written in decks:
            webbrowser.open(written.resolve().as_uri())
    return code


def _look_at(decks: Sequence[Path], options: argparse.Namespace) -> int:
    """What needs a browser: PDFs, pictures of all slides, and which slides do not fit."""
    from . import printing, screening

    found = []
    with printing.browser() as chrome:
        for deck in decks:
            if options.pdf:
                printing.print_deck(chrome, deck, deck.with_suffix(".pdf"))
                print(f"wrote {deck.with_suffix('.pdf')}", flush=True)
            if options.shots:
                for sheet in screening.shoot(chrome, deck, options.shots):
                    print(f"wrote {sheet}", flush=True)
        if options.check:
            for misfit in screening.misfits(chrome, decks):
                found.append(misfit)
                print(misfit, flush=True)
            print(f"{len(found)} to mend." if found else "Every slide fits its frame.")
    return 1 if found else 0


def _handout(options: argparse.Namespace) -> int:
    need("slides", "Handouts need")
    from . import handouts, selection

    root = course_root()
    paths = selection.lectures(root, options.unit)
    folder = options.to or root / "build" / "handouts"
    if options.ids is not None:
        return _own_sheets(options, [path.stem for path in paths], folder)
    for file in handouts.write_handouts(paths, folder, pdf=not options.html):
        print(f"wrote {file}", flush=True)
    return 0


def _own_sheets(options: argparse.Namespace, units: Sequence[str], folder: Path) -> int:
    from .grading.roster import Roster
    from .own_sheets import Student, write_own_sheets

    students = [
        Student(line.name or line.key, line.id, line.key) for line in Roster.read(options.ids).lines
    ]
    without = [student.name for student in students if not student.id]
    if without:
        raise CourseError(f"{options.ids} has no id for {', '.join(without[:5])}.")
    for unit in units:
        solution = course_root() / "solutions" / f"{unit}.ipynb"
        if not solution.exists():
            raise CourseError(f"There is no exercise sheet for {unit}.")
        for file in write_own_sheets(solution, students, folder / unit, not options.html):
            print(f"wrote {file}", flush=True)
    return 0


def _site(options: argparse.Namespace) -> int:
    need("slides", "A site needs")
    need("site", "A site needs")
    from .site import build, require_base

    root, start = course_root(), time.perf_counter()
    target = options.to or root / "build" / "site"
    base = require_base(options.base_path)
    build(root, target, options.offline_wheels, base, options.unit, _show_step)
    files = [path for path in target.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"wrote {target}: {len(files)} files, {size:.0f} MB", end=", ")
    print(f"{time.perf_counter() - start:.0f} s")
    print(f"To look at it: python3 -m http.server --bind 127.0.0.1 --directory {target}")
    return 0


def _show_step(words: str) -> None:
    print(f"  {words}", flush=True)


def _audit(options: argparse.Namespace) -> int:
    from .audit import run

    return run(course_root(), options.unit, options.seeds, options.every, options.write)


def _links(options: argparse.Namespace) -> int:
    from . import facts, navigation

    root = course_root()
    changed = [*facts.tell(root), *navigation.link(root)]
    _tell_changes(list(dict.fromkeys(changed)), root)
    return 0


def _tell_changes(paths: Sequence[Path], root: Path) -> None:
    print("\n".join(f"wrote {path.relative_to(root)}" for path in paths) or "nothing changed")


def _grade(options: argparse.Namespace) -> int:
    from .grading.terminal import grade_class

    return grade_class(options, course_root())


def _report(options: argparse.Namespace) -> int:
    from .grading.outputs import write_outputs

    about = {"unit": options.unit, "tell": _show_current, "anonymous": options.anonymous}
    changed = write_outputs(options.grades, **about)
    beside = [path for path in changed if path.parent == options.grades]
    lines = [f"wrote {path}" for path in beside]
    if len(changed) > len(beside):
        pages = options.grades / "feedback"
        lines.append(f"wrote {len(changed) - len(beside)} of the feedback pages in {pages}")
    print("\n".join(lines) or "nothing changed")
    return 0


def _mistakes(options: argparse.Namespace) -> int:
    from .grading.drafts import told, write_drafts

    drafts = write_drafts(options.grades, options.unit, options.least)
    print(*told(drafts), sep="\n")
    if drafts:
        print("Name them as the drafts say, then grade again: only those exercises are judged.")
    else:
        print(f"No wrong answer without a known mistake is shared by {options.least} or more.")
    return 0


def _review(options: argparse.Namespace) -> int:
    from .grading.review import serve

    return serve(options.grades, options.unit, options.port, not options.no_browser)


def _show_current(path: Path) -> None:
    """What is being written, on one line of the terminal that the next one replaces."""
    if sys.stdout.isatty():
        print(f"\r\x1b[K{path.name[:70]}\r", end="", flush=True)


def _override(options: argparse.Namespace) -> int:
    from selfcheck.units import find

    from .grading.gradebook import NAME, Gradebook
    from .grading.roster import kept_roster

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
