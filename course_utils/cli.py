"""The `course` command."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .files import CourseError, course_root, write_whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; a known problem is told in a sentence, with exit code 1."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except CourseError as problem:
        print(f"course: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ncourse: stopped; what was finished is kept.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="course", description="Tools around the course notebooks."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

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
    return parser


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
        changed = release.release(root)
        print("\n".join(f"wrote {path.relative_to(root)}" for path in changed) or "nothing changed")
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
        write_whole(path, as_text(execute(path)))
        print(f"{time.perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
