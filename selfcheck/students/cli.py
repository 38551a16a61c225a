"""The `course` command: what students use, and room for the instructors' half beside it.

Another package adds commands by an entry point in the group `course.commands`: a function of
argparse's subparsers.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import entry_points, version
from pathlib import Path

from ..course import Course, current
from ..files import CourseError

LAB_CONFIG = Path(__file__).with_name("jupyter")  # no news, no build, none of nbgrader's menus


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; a known problem is told in a sentence, with exit code 1."""
    _make_printable()
    try:
        return _run(_parser(), arguments)
    except CourseError as problem:
        print(f"course: {problem}", file=sys.stderr)
    except BrokenPipeError:  # who listened has heard enough, as in `course doctor | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as problem:
        where = "" if problem.filename is None else f": {problem.filename}"
        print(f"course: {problem.strerror or problem}{where}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\ncourse: stopped; what was finished is kept.", file=sys.stderr)
        return 130
    return 1


def _run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    options, rest = parser.parse_known_args(arguments)
    if rest and options.run is not _lab:
        parser.error(f"{rest[0]} is not known here; `course --help` lists what is.")
    if options.run is None:
        parser.print_help()
        return 0
    options.rest = rest
    with suppress(CourseError):  # a command that needs a course says so itself
        current().enter()
    return int(options.run(options))


def _make_printable() -> None:
    """Whatever is told can be printed: where nobody listens, and where letters are missing."""
    if sys.stdout is None:
        sys.stdout = io.StringIO()
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="course", description="Tools around the course notebooks.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"course {version('selfcheck')}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(metavar="COMMAND")

    def add(
        name: str, help: str, run: Callable[[argparse.Namespace], int]
    ) -> argparse.ArgumentParser:
        """A command whose own help begins with the same words as a sentence."""
        sentence = f"{help[0].upper()}{help[1:]}."
        command = commands.add_parser(name, help=help, description=sentence)
        command.set_defaults(run=run)
        return command

    add("lab", "open JupyterLab on the start page; its own options may follow", _lab)
    add("doctor", "look at this machine and say what is missing", _doctor)
    add("progress", "show your points so far, as saved in exercises/; nothing is run", _progress)
    derive = add("derive", "check the derivations in a LaTeX file, line by line", _derive)
    derive.add_argument("file", type=Path, metavar="FILE.tex", help="the LaTeX file")

    for entry in entry_points(group="course.commands"):
        entry.load()(commands)
    return parser


def _lab(options: argparse.Namespace) -> int:
    """JupyterLab with one line for the student instead of its log; Ctrl-C stops it at once."""
    from jupyterlab.labapp import LabApp

    paths = [str(LAB_CONFIG), os.environ.get("JUPYTER_CONFIG_PATH")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    paths = [str(LAB_CONFIG), os.environ.get("JUPYTER_PATH")]  # a kernel that knows the course
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, paths))
    course = current()
    root = course.folder
    server = LabApp.initialize_server(argv=[*_lab_options(course), *options.rest])
    line = f"JupyterLab is running at {server.public_url}\nPress Ctrl-C to stop it."
    server.identity_provider.token_generated = False  # else it prints its own five lines
    server.io_loop.add_callback(print, line, flush=True)  # once it really runs
    server.io_loop.run_in_executor(None, _trust, root)
    server.start()
    return 0


def _trust(root: Path) -> None:
    """Sign the notebooks as one's own: JupyterLab then shows their saved outputs in full."""
    from nbformat import read
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for path in [*root.glob("notebooks/*.ipynb"), *root.glob("exercises/*.ipynb")]:
        with suppress(Exception):  # one that cannot be read is for JupyterLab to tell
            notary.sign(read(path, as_version=4))


def _lab_options(course: Course) -> list[str]:
    options = [
        f"--ServerApp.root_dir={course.folder}",
        f"--LabApp.default_url=/lab/tree/notebooks/{course.start}.ipynb",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--ServerApp.answer_yes=True",
        "--KernelManager.transport_encryption=auto",  # else every kernel warns in the terminal
        "--Application.log_level=WARN",
    ]
    if os.name != "nt":  # not a login shell, which would forget where `course` is
        shell = os.environ.get("SHELL") or "/bin/sh"
        options.append(f"--ServerApp.terminado_settings={{'shell_command': [{shell!r}]}}")
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
    from .doctor import examine  # each command loads what it needs

    healthy = True
    for finding in examine(current()):
        print(finding, flush=True)
        healthy &= finding.ok
    return 0 if healthy else 1


def _progress(options: argparse.Namespace) -> int:
    from .progress import collect  # each command loads what it needs

    found = collect()
    print(found)
    return 1 if found.problems else 0


def _derive(options: argparse.Namespace) -> int:
    """Every chain with its marks; 1 if a line is false."""
    from ..derivation.tex_files import checked

    more = {}
    with suppress(CourseError, ImportError):  # a course may know more functions
        module = importlib.import_module(f"{current().package}.derivation")
        more = {name: getattr(module, name) for name in ("activation",) if hasattr(module, name)}
    try:
        text = options.file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CourseError(f"{options.file} is no text in UTF-8.") from None
    false = chains = 0
    for found in checked(text, more):
        print(f"line {found.line}\n{found.text}\n", flush=True)
        false += found.is_false
        chains += found.report is not None
    print(f"{chains} derivations, {false} of them with a false line.")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
