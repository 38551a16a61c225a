"""The `course` command."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .files import CourseError, course_root, write_whole

START_PAGE = "notebooks/00_start_here.ipynb"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; a known problem is told in a sentence, with exit code 1."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if options.run is None:
        parser.print_help()
        return 0
    if rest and options.run is not _lab:
        parser.error(f"{rest[0]} is not known here; `course --help` lists what is.")
    options.rest = rest
    try:
        return options.run(options)
    except CourseError as problem:
        print(f"course: {problem}", file=sys.stderr)
    except OSError as problem:
        print(f"course: {problem.strerror}: {problem.filename}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\ncourse: stopped; what was finished is kept.", file=sys.stderr)
        return 130
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="course", description="Tools around the course notebooks.", allow_abbrev=False
    )
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(metavar="COMMAND")

    lab = commands.add_parser(
        "lab", help="open JupyterLab on the start page; its own options may follow"
    )
    lab.set_defaults(run=_lab)

    doctor = commands.add_parser("doctor", help="look at this machine and say what is missing")
    doctor.set_defaults(run=_doctor)

    release = commands.add_parser("release", help="generate exercises/ or the students' bundle")
    release.add_argument("--to", type=Path, metavar="DIR", help="write the students' bundle to DIR")
    release.add_argument("--zip", action="store_true", help="with --to: write DIR.zip instead")
    release.add_argument("--unit", action="append", default=[], help="with --to: only this unit")
    release.set_defaults(run=_release)

    execute = commands.add_parser("execute", help="run notebooks anew and save them clean")
    execute.add_argument(
        "notebook", nargs="*", type=Path, help="all lectures and solutions if none"
    )
    execute.set_defaults(run=_execute)

    page = commands.add_parser("page", help="write notebooks as HTML pages that work offline")
    page.add_argument("notebook", nargs="*", type=Path, help="all lectures and exercises if none")
    page.add_argument("--to", type=Path, metavar="DIR", help="the folder; build/pages if not given")
    page.set_defaults(run=_page)

    links = commands.add_parser(
        "links", help="write the links to the previous and next unit into lectures and solutions"
    )
    links.set_defaults(run=_links)

    progress = commands.add_parser(
        "progress", help="your points so far, as saved in exercises/; nothing is run"
    )
    progress.set_defaults(run=_progress)
    return parser


def _lab(options: argparse.Namespace) -> int:
    """JupyterLab with one line for the student instead of its log; Ctrl-C stops it at once."""
    from jupyterlab.labapp import LabApp

    server = LabApp.initialize_server(argv=[*_lab_options(course_root()), *options.rest])
    line = f"JupyterLab is running at {server.public_url}\nPress Ctrl-C to stop it."
    server.identity_provider.token_generated = False  # else it prints its own five lines
    server.io_loop.add_callback(print, line, flush=True)  # once it really runs
    server.start()
    return 0


def _lab_options(root: Path) -> list[str]:
    options = [
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url=/lab/tree/{START_PAGE}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--ServerApp.answer_yes=True",
        "--KernelManager.transport_encryption=auto",  # else every kernel warns in the terminal
        "--Application.log_level=WARN",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    return options if _has_browser() else [*options, "--no-browser"]


def _has_browser() -> bool:
    """Is there a browser with a screen? A text browser in the terminal is none."""
    import webbrowser

    screen = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if sys.platform.startswith("linux") and not any(map(os.environ.get, screen)):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def _doctor(options: argparse.Namespace) -> int:
    from .doctor import examine

    healthy = True
    for finding in examine(course_root()):
        print(finding, flush=True)
        healthy &= finding.ok
    return 0 if healthy else 1


def _release(options: argparse.Namespace) -> int:
    from .classroom import release

    root = course_root()
    if options.to is None:
        if options.zip or options.unit:
            raise CourseError("--zip and --unit belong to --to DIR, the students' bundle.")
        _tell_changes(release.release(root), root)
    else:
        print(f"wrote {release.bundle(root, options.to, options.unit, options.zip)}")
    return 0


def _execute(options: argparse.Namespace) -> int:
    from .classroom.notebooks import as_text, execute

    root = course_root()
    folders = (root / "notebooks", root / "solutions")
    paths = options.notebook or [p for folder in folders for p in sorted(folder.glob("*.ipynb"))]
    for number, path in enumerate(paths, start=1):
        start = time.perf_counter()
        print(f"[{number}/{len(paths)}] {path}", end=" ", flush=True)
        try:
            write_whole(path, as_text(execute(path)))
        finally:
            print(f"{time.perf_counter() - start:.1f} s", flush=True)
    return 0


def _page(options: argparse.Namespace) -> int:
    from .classroom.pages import write_pages

    root = course_root()
    folders = (root / "notebooks", root / "exercises")
    paths = options.notebook or [p for folder in folders for p in sorted(folder.glob("*.ipynb"))]
    pages = write_pages(paths, root, options.to or root / "build" / "pages")
    for number, page in enumerate(pages, start=1):
        print(f"[{number}/{len(paths)}] wrote {page}", flush=True)
    return 0


def _links(options: argparse.Namespace) -> int:
    from .classroom import navigation

    root = course_root()
    _tell_changes(navigation.link(root), root)
    return 0


def _tell_changes(paths: Sequence[Path], root: Path) -> None:
    print("\n".join(f"wrote {path.relative_to(root)}" for path in paths) or "nothing changed")


def _progress(options: argparse.Namespace) -> int:
    from .progress import collect

    found = collect()
    print(found)
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main())
