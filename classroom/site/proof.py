"""Does Python in the browser say the same as the Python here? Runs both, without a browser.

    python -m classroom.site.proof [--wheels DIR] [--every K] [WORD ...]

All lectures and solutions run under Pyodide in node; then every known mistake is put to its check
in both. What differs is listed, and the command ends with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from selfcheck.course import course_in, course_root
from selfcheck.files import CourseError

from .packages import LOCK, alone, gather

HERE = Path(__file__).parent
KINDS = ("notebooks", "solutions")
WHEELS = "COURSE_LITE_WHEELS"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both and tell what differs."""
    parser = argparse.ArgumentParser(prog="python -m classroom.site.proof", description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of units' names; all if none")
    parser.add_argument("--every", type=int, default=1, help="only each K-th mistake of a unit")
    parser.add_argument("--wheels", type=Path, default=os.environ.get(WHEELS))
    options = parser.parse_args(arguments)
    try:
        return _tell(course_root(), options)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1


def _tell(root: Path, options: argparse.Namespace) -> int:
    if options.wheels is None:
        raise CourseError(f"Name the folder of compiled wheels with --wheels, or set {WHEELS}.")
    folder = lay_out(root, root / "build" / "proof", Path(options.wheels))
    wrong = 0
    for line in differences(folder, options.every, options.words):
        wrong += line.startswith("  ")
        print(line, flush=True)
    print(f"{wrong} to mend." if wrong else "The browser says the same.")
    return 1 if wrong else 0


def lay_out(root: Path, folder: Path, wheels: Path, kinds: Sequence[str] = KINDS) -> Path:
    """The runtime with its packages, notebooks of these kinds, and the script that runs them."""
    course = course_in(root)
    cache, runtime = root / "build" / "site-packages", folder / "pyodide"
    runtime.mkdir(parents=True, exist_ok=True)
    with alone(cache):
        shelf = gather(course, cache, wheels)
        assert shelf.runtime is not None  # wheels are given
        for path in [*shelf.runtime.values(), *shelf.wheels.values()]:
            shutil.copyfile(path, runtime / path.name)
    (runtime / LOCK).write_text(json.dumps(shelf.lock), encoding="utf-8")
    (folder / "course.txt").write_text(shelf.course, encoding="utf-8")
    (folder / "fonts.txt").write_text(shelf.font_folder, encoding="utf-8")
    shutil.copyfile(HERE / "in_browser.py", folder / "in_browser.py")
    for kind in kinds:
        shutil.copytree(root / kind, folder / "notebooks" / kind, dirs_exist_ok=True)
    return folder


def differences(folder: Path, every: int, words: Sequence[str]) -> Iterator[str]:
    """A line for each notebook and unit, and indented ones for what differs."""
    options = [str(every), *words]
    node = shutil.which("node")
    if node is None:
        raise CourseError("This needs node; install it, or look at the site in a browser.")
    there = _lines([node, str(HERE / "proof.mjs"), str(folder), *options])
    script, empty = str(folder / "in_browser.py"), folder / "none"
    empty.mkdir(exist_ok=True)
    package = (folder / "course.txt").read_text(encoding="utf-8").strip().replace("-", "_")
    command = [sys.executable, script, str(empty), package, *options]
    here = {told["what"]: told for told in _lines(command)}
    for told in there:
        if "said" in told:
            yield f"{told['what']}: {len(told['said'])}"
            said = here[told["what"]]["said"]
            for name, verdict in said.items():
                if told["said"].get(name) != verdict:
                    yield f"  {name}: here {verdict}, in the browser {told['said'].get(name)}"
        else:
            earned, points = told["points"]
            yield f"{told['what']}: {earned} of {points} points, {told['seconds']} s"
            if earned != points and told["what"].startswith("solutions"):
                yield f"  {points - earned} points are missing"
            yield from (f"  {problem}" for problem in told["problems"])


def _lines(command: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What a process tells, line by line."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                yield json.loads(line)
    if process.returncode:
        raise CourseError(f"{command[0]} ended with {process.returncode}.")


if __name__ == "__main__":
    sys.exit(main())
