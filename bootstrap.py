#!/usr/bin/env python3
"""Set up the course in .venv and start it; needs nothing but Python.

    python bootstrap.py lab             set up, then open JupyterLab on the start page
    python bootstrap.py test            set up with the test tools, then run every test
    python bootstrap.py course ARGS     set up, then run the `course` command
    python bootstrap.py dev COMMAND     set up with the test tools, then run a command in .venv

Written so that an old Python can still read it and say what is wrong.
"""

from __future__ import print_function

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "This course needs Python 3.11 or newer, and this is Python %d.%d (%s).\n"
        "Install a newer one, or name one you have: make lab PYTHON=python3.12"
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
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "installed.json"
LOG = VENV / "setup.log"
CORE, DEV = "requirements.lock", "requirements-dev.lock"
OFFLINE = ("resolve", "network", "connect", "timed out", "unreachable", "dns error", "retries")


def main(arguments):
    """Run one of the commands in the docstring; the exit code is the command's own."""
    command, rest = (arguments or ["help"])[0], arguments[1:]
    if command == "lab":
        set_up([CORE])
        return run([BIN / "jupyter-lab"] + lab_options() + rest + ["notebooks/00_start_here.ipynb"])
    if command == "test":
        set_up([CORE, DEV])
        return run([PYTHON, "-m", "pytest", "-n", "auto", "--dist", "loadfile"] + rest)
    if command == "course":
        set_up([CORE])
        return run([PYTHON, "-m", "course_utils.cli"] + rest)
    if command == "dev":
        set_up([CORE, DEV])
        return run([BIN / rest[0]] + rest[1:]) if rest else 0
    print(__doc__)
    return 0 if command == "help" else 2


def lab_options():
    """JupyterLab on this folder, without its news prompt; root must be allowed by name."""
    options = ["--ServerApp.root_dir=" + str(ROOT), "--LabApp.news_url=None"]
    return options + (["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else [])


def run(command):
    """Run a program of the environment from the course folder; Ctrl-C goes to it alone."""
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", "")])
    command = [str(word) for word in command]
    process = subprocess.Popen(command, cwd=str(ROOT), env=dict(os.environ, PATH=path))
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def set_up(locks):
    """Make .venv and install what the lock files list, unless exactly that is there already."""
    wanted = {name: fingerprint(name) for name in locks + ["pyproject.toml"]}
    works = PYTHON.exists() and quietly([str(PYTHON), "-c", ""]) == 0
    installed = read_stamp() if works else {}
    if all(installed.get(name) == mark for name, mark in wanted.items()):
        return
    if not works:
        create_environment()
    install(locks[-1])
    STAMP.write_text(json.dumps(dict(installed, **wanted), indent=1))


def fingerprint(name):
    """The SHA-256 of a file of the course."""
    return hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


def read_stamp():
    """What was installed last; nothing if the record is missing or broken."""
    try:
        return json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}


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
    make = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    result = subprocess.run(make, capture_output=True, text=True)
    if result.returncode:
        last = (result.stderr or result.stdout).strip().splitlines()[-1:]
        sys.exit("The environment .venv could not be made: " + "".join(last))


def install(lock):
    """Install a lock file and the course itself: by uv, which is quick, else by pip."""
    packages = sum("==" in line for line in (ROOT / lock).read_text().splitlines())
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
    uv = [str(PYTHON), "-m", "uv", "pip", "install", "--python", str(PYTHON)]
    LOG.write_text("")
    progress = Progress("Installing %d packages into .venv" % packages)
    have_uv = progress.wait(pip + ["uv"]) == 0
    for tool in ([uv] if have_uv else []) + [pip]:
        steps = [tool + ["-r", lock], tool + ["--no-deps", "--editable", "."]]
        if all(progress.wait(step) == 0 for step in steps):
            progress.done()
            return
    print()
    text = LOG.read_text().lower()
    why = "Is there a network? " if any(word in text for word in OFFLINE) else ""
    sys.exit("The packages could not be installed. %sDetails are in %s" % (why, LOG))


def quietly(command):
    """Run a command with its output kept in the log."""
    try:
        with open(str(LOG), "a") as log:
            return subprocess.call(command, cwd=str(ROOT), stdout=log, stderr=log)
    except OSError:
        return 1


class Progress:
    """One line that shows that something is going on, and for how long."""

    def __init__(self, what):
        self.what, self.start, self.live = what, time.time(), sys.stdout.isatty()
        print(what + " ...", end="\r" if self.live else "\n", flush=True)

    def wait(self, command):
        """Run a command into the log and keep the line moving meanwhile."""
        with open(str(LOG), "a") as log:
            process = subprocess.Popen(command, cwd=str(ROOT), stdout=log, stderr=log)
            while True:
                try:
                    return process.wait(0.5)
                except subprocess.TimeoutExpired:
                    if self.live:
                        print("%s ... %d s" % (self.what, self.seconds()), end="\r", flush=True)

    def seconds(self):
        """Whole seconds since the start."""
        return time.time() - self.start

    def done(self):
        """Close the line."""
        print("%s: done in %d s" % (self.what, self.seconds()))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nStopped. Run the same command again to go on.")
