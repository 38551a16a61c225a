"""Commands for lecturers: pages, slides, handouts, a web site."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from selfcheck.course import course_in, course_root
from selfcheck.files import CourseError

from ..extras import need
from .declaring import command, option, path


@command(
    "page",
    "write notebooks as HTML pages that work offline",
    option(
        "notebook", nargs="*", type=path, help="notebooks (default: all lectures and exercises)"
    ),
    option("--to", type=path, metavar="DIR", help="folder to write to (default: build/pages)"),
)
def page(options: argparse.Namespace) -> int:
    need("slides", "Pages need")
    from ..pages import write_pages

    root = course_root()
    folders = (root / "notebooks", root / "exercises")
    paths = options.notebook or [p for folder in folders for p in sorted(folder.glob("*.ipynb"))]
    pages = write_pages(paths, root, options.to or root / "build" / "pages")
    for number, page in enumerate(pages, start=1):
        print(f"[{number}/{len(paths)}] wrote {page}", flush=True)
    return 0


@command(
    "slides",
    "write lectures as decks that work offline",
    option("unit", nargs="*", help="numbers, names or paths of units (default: all)"),
    option("--to", type=path, metavar="DIR", help="folder to write to (default: build/slides)"),
    option("--pdf", action="store_true", help="also write each deck as a PDF"),
    option("--lecturer", default="", metavar="NAME", help="who lectures, for the title slides"),
    option("--date", default="", metavar="DATE", help="when, for the title slides"),
    option("--open", action="store_true", help="open the decks in your browser"),
    option("--outline", action="store_true", help="only list the slides with their minutes"),
    option("--check", action="store_true", help="also list the slides that do not fit"),
    option("--shots", type=path, metavar="DIR", help="also write pictures of all slides to DIR"),
)
def slides(options: argparse.Namespace) -> int:
    from .. import outline, selection, slides
    from ..grading.settings import NAME, read_settings
    from ..notebooks import read
    from ..offline import sound
    from ..printing import chromium

    root = course_root()
    paths = selection.lectures(root, options.unit)
    if not options.unit:
        paths = [path for path in paths if outline.has_marks(read(path))]
    if options.outline:
        for path in paths:
            table = outline.table(outline.outline(outline.paged(read(path)), path))
            print(f"{path.stem}\n{table}\n")
        return 0
    need("slides", "Slides need")
    if options.pdf or options.check or options.shots:
        chromium()  # rather now than after the decks
    folder, decks = options.to or root / "build" / "slides", []
    told = read_settings(root / NAME).slides or course_in(root).title
    about = " · ".join(part for part in (told, options.lecturer, options.date) if part)
    lectures = {path: sound(path, "a deck") for path in paths}
    coming = slides.write_decks(lectures, folder, about)
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
    from .. import printing, screening

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


@command(
    "handout",
    "write lectures and blank exercises for print",
    option("unit", nargs="*", help="numbers, names or paths of units (default: all)"),
    option("--to", type=path, metavar="DIR", help="folder to write to (default: build/handouts)"),
    option("--html", action="store_true", help="write only HTML pages (default: PDF as well)"),
    option(
        "--ids",
        type=path,
        metavar="FILE",
        help="roster of the class: write one sheet per student, with own numbers, and a key",
    ),
)
def handout(options: argparse.Namespace) -> int:
    need("slides", "Handouts need")
    from .. import handouts, selection

    root = course_root()
    paths = selection.lectures(root, options.unit)
    folder = options.to or root / "build" / "handouts"
    if options.ids is not None:
        return _own_sheets(options, [path.stem for path in paths], folder)
    for file in handouts.write_handouts(paths, folder, pdf=not options.html):
        print(f"wrote {file}", flush=True)
    return 0


def _own_sheets(options: argparse.Namespace, units: Sequence[str], folder: Path) -> int:
    from ..grading.roster import Roster
    from ..own_sheets import write_own_sheets
    from ..paper import Student

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


@command(
    "site",
    "write the course as a web site whose notebooks run in the browser",
    option("--to", type=path, metavar="DIR", help="folder to write to (default: build/site)"),
    option(
        "--offline-wheels",
        type=path,
        metavar="DIR",
        help="folder with Pyodide and its wheels, to be served from the site itself (default: from "
        "Pyodide's public address)",
    ),
    option(
        "--base-path",
        metavar="PATH",
        help="path under which the site is served, such as /course/ (default: that of its address, "
        "or /)",
    ),
    option(
        "--address",
        metavar="URL",
        help="where the site will be, for links to its pages: previews, search engines (default: "
        "`address` below [site] in course.toml)",
    ),
    option(
        "--class",
        dest="rules",
        type=path,
        metavar="FILE",
        help="the site of a class: its rules, such as those in course.toml, say until when sheets "
        "are handed in and when solutions may be seen (default: a site for everybody)",
    ),
    option(
        "--unit",
        action="append",
        default=[],
        help="only this unit; may be repeated (default: all units)",
    ),
)
def site(options: argparse.Namespace) -> int:
    need("slides", "A site needs")
    need("site", "A site needs")
    from ..grading.settings import read_settings
    from ..site import build, require_address, require_base

    root, start = course_root(), time.perf_counter()
    target = options.to or root / "build" / "site"
    address = require_address(options.address or course_in(root).address)
    base = require_base(options.base_path or urlsplit(address).path or "/")
    rules = read_settings(options.rules, must_exist=True) if options.rules else None
    build(
        root,
        target,
        options.offline_wheels,
        base,
        options.unit,
        _show_step,
        rules=rules,
        address=address,
    )
    files = [path for path in target.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"wrote {target}: {len(files)} files, {size:.0f} MB", end=", ")
    print(f"{time.perf_counter() - start:.0f} s")
    print(f"To look at it: python3 -m http.server --bind 127.0.0.1 --directory {target}")
    return 0


def _show_step(words: str) -> None:
    print(f"  {words}", flush=True)
