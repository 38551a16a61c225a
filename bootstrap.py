#!/usr/bin/env python3
"""Set up the course in .venv and start it; needs nothing but Python.

    python bootstrap.py lab             set up, then open JupyterLab on the start page
    python bootstrap.py test            set up with the test tools, then run every test
    python bootstrap.py course ARGS     set up what it needs, then run the `course` command
    python bootstrap.py dev COMMAND     set up with the test tools, then run a command in .venv

Written so that an old Python can still read it and say what is wrong.
"""

from __future__ import print_function

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "This course needs Python 3.11 or newer, and this is Python %d.%d (%s).\n"
        "Install a newer one, or name one that you have: make lab PYTHON=python3.12"
        % (sys.version_info[0], sys.version_info[1], sys.executable)
    )

import hashlib
import json
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
SELFCHECK, CLASSROOM = ROOT / "selfcheck", ROOT / "classroom"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "installed.json"
LOG = VENV / "setup.log"
CORE, DEV = "requirements.lock", "requirements-dev.lock"
STUDENTS = ("lab", "doctor", "progress")  # commands that need no more than the first
# What pip and uv say without a network, on Linux, macOS and Windows.
OFFLINE = (
    "name resolution", "name or service not known", "nodename nor servname", "getaddrinfo failed",
    "dns error", "connection error", "failed to establish a new connection", "connection refused",
    "error sending request", "unreachable", "timed out",
)  # fmt: skip


def main(arguments):
    """Run one of the commands in the docstring; the exit code is the command's own."""
    command, rest = (arguments or ["help"])[0], arguments[1:]
    if command == "lab":
        return main(["course", "lab"] + rest)
    if command == "course":
        set_up([CORE] if rest and rest[0] in STUDENTS else everything())
        return run([PYTHON, "-m", "selfcheck"] + rest)
    if command == "test":
        if not CLASSROOM.is_dir():
            sys.exit("Students get no tests; `python bootstrap.py course doctor` looks around.")
        set_up(everything())
        # A notebook has one kernel, so a file has one worker; conftest.py puts long files first.
        # Tests now and then wait for a browser or a kernel: one worker more than there are cores.
        workers = str((os.cpu_count() or 1) + 1)
        parallel = ["-n", workers, "--dist", "loadfile", "--no-loadscope-reorder"]
        return run([PYTHON, "-m", "pytest"] + parallel + rest)
    if command == "dev":
        set_up(everything())
        return run([BIN / rest[0]] + rest[1:]) if rest else 0
    print(__doc__)
    return 0 if command in ("help", "-h", "--help") else 2


def everything():
    """The lock files of this folder: students have no tools for instructors, and one lock."""
    return [CORE, DEV] if CLASSROOM.is_dir() else [CORE]


def environment():
    """The variables a program of .venv should see: its own folder first, no other Python's.

    It may keep what it has compiled: else each kernel spends seconds on compiling its packages.
    """
    variables = dict(os.environ, PATH=os.pathsep.join([str(BIN), os.environ.get("PATH", "")]))
    for other in ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE"):
        variables.pop(other, None)
    return variables


def run(command):
    """Run a program of .venv from the course folder; Ctrl-C is for it to answer."""
    command = [str(word) for word in command]
    try:
        process = subprocess.Popen(command, cwd=str(ROOT), env=environment())
    except OSError as error:
        sys.exit("%s could not be started: %s" % (command[0], error.strerror))
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def set_up(locks):
    """Make .venv and install what the lock files list, unless exactly that is there already."""
    try:
        projects = [str(folder / "pyproject.toml") for folder in own_projects()]
        wanted = {name: fingerprint(name) for name in locks + projects}
        wanted["folder"] = str(ROOT)  # scripts in .venv hold its path: a moved one is made anew
        installed = read_stamp()
        if dict(installed, **wanted) == installed and works("-c", ""):
            return
        if installed.get("folder", str(ROOT)) != str(ROOT) or not works("-m", "pip", "--version"):
            installed = {}
            create_environment()
        install(locks[-1])
        watch_kernels()
        STAMP.write_text(json.dumps(dict(installed, **wanted), indent=1), encoding="utf-8")
    except OSError as error:
        sys.exit(
            "The course could not be set up in %s: %s (%s).\n"
            "If the folder is not yours to write to, copy the course to one that is."
            % (ROOT, error.strerror, error.filename)
        )


def watch_kernels():
    """Have every kernel of .venv, in VS Code too, tell slips of order by cards from its start."""
    config = VENV / "etc" / "ipython" / "ipython_kernel_config.py"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('c.IPKernelApp.extensions = ["selfcheck.notebook"]\n', encoding="utf-8")


def fingerprint(name):
    """The SHA-256 of a file of the course."""
    return hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


def read_stamp():
    """What was installed last; nothing if the record is missing or broken."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def works(*arguments):
    """Does the Python of .venv run with these arguments?"""
    try:
        return quietly([str(PYTHON)] + list(arguments)).returncode == 0
    except OSError:
        return False


def quietly(command):
    """Run a command to its end and keep what it says."""
    return subprocess.run(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def create_environment():
    """Make an empty .venv, or say what this machine lacks."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        sys.exit(
            "Python's venv module is missing. On Debian and Ubuntu: sudo apt install python3-venv\n"
            "Then run the same command again."
        )
    VENV.mkdir(exist_ok=True)
    result = quietly([sys.executable, "-m", "venv", "--clear", str(VENV)])
    if result.returncode:
        last = result.stdout.decode("utf-8", "replace").strip().splitlines()[-1:]
        sys.exit("The environment .venv could not be made: " + "".join(last))


def install(lock):
    """Install a lock file and the course itself: by uv, which is quick, else by pip."""
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
    pip += ["--timeout", "10", "--retries", "2"]
    # Compiled at once, as pip does: else every process that is started first would do it.
    uv = [str(PYTHON), "-m", "uv", "pip", "install", "--compile-bytecode", "--python", str(PYTHON)]
    editable = [word for folder in own_projects() for word in ("--editable", str(folder))]
    LOG.write_bytes(b"")
    progress = Progress("Installing the packages of the course into .venv")
    have_uv = progress.wait(pip + ["uv"]) == 0
    tools = [uv, pip] if have_uv else [] if offline() else [pip]
    for tool in tools:
        steps = [
            tool + ["--no-deps"] + what for what in (["--require-hashes", "-r", lock], editable)
        ]
        if all(progress.wait(step) == 0 for step in steps):
            # Compiled now, for whoever may not write there later.
            compiling = [str(PYTHON), "-m", "compileall", "-q", "-x", "templates"]
            progress.wait(compiling + own_packages())
            progress.done()
            return
        if offline():
            break
    why = "There seems to be no network" if offline() else "Something went wrong"
    sys.exit(
        "\nThe packages could not be installed. %s; details are in %s\n"
        "Run the same command again to go on." % (why, LOG)
    )


def own_projects():
    """The folders of the projects that are here; students have no tools for instructors."""
    return [folder for folder in (SELFCHECK, ROOT, CLASSROOM) if folder.is_dir()]


def own_packages():
    """The folders of the course's packages that are here."""
    names = ("selfcheck", "course_utils", "classroom")
    return [str(ROOT / name) for name in names if (ROOT / name).is_dir()]


def offline():
    """Does the log complain about the network?"""
    text = LOG.read_bytes().decode("utf-8", "replace").lower()
    return any(sign in text for sign in OFFLINE)


class Progress:
    """One line that shows that something is going on, and for how long."""

    def __init__(self, what):
        self.what, self.start, self.live = what, time.time(), sys.stdout.isatty()
        print(what + " ...", end="" if self.live else "\n", flush=True)

    def wait(self, command):
        """Run a command into the log and keep the line moving meanwhile."""
        with open(str(LOG), "ab") as log:
            process = subprocess.Popen(
                command, cwd=str(ROOT), env=environment(), stdout=log, stderr=log
            )
            try:
                while True:
                    try:
                        return process.wait(0.5)
                    except subprocess.TimeoutExpired:
                        self.tick()
            except BaseException:
                process.kill()
                raise

    def tick(self):
        """Show the seconds so far, where somebody is looking."""
        if self.live:
            print("\r%s ... %d s" % (self.what, time.time() - self.start), end="", flush=True)

    def done(self):
        """Close the line."""
        start = "\r" if self.live else ""
        print("%s%s: done in %d s" % (start, self.what, time.time() - self.start))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nStopped. Run the same command again to go on.")
