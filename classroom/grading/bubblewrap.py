"""The commands that confine a process by bubblewrap. Loaded without NumPy."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import classroom
import selfcheck
from selfcheck.course import current
from selfcheck.files import CourseError

from ..threads import ONE_THREAD
from .jobs import Limits

COURSE, PACKAGES = "/course", "/packages"  # where course and environment lie in the sandbox
USER_ID = 61000  # and up, one for each sandbox that root starts: limits count per user
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "agg",
    "MPLCONFIGDIR": "/tmp/matplotlib",
    **ONE_THREAD,
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONSAFEPATH": "1",
    "PYTHONWARNINGS": "ignore",
}
MISSING = (
    "bubblewrap is missing, so student code cannot be shut in. Install it (apt install bubblewrap, "
    "dnf install bubblewrap; on macOS and Windows grade in WSL2, a container or a Linux machine), "
    "or pass --no-sandbox to run the submissions unprotected on this machine."
)
IN_TMP = (
    "The Python interpreter lies in /tmp, but student code gets a /tmp of its own. Use another "
    "one, or pass --no-sandbox to run the submissions unprotected on this machine."
)


def require_bubblewrap() -> None:
    """A sentence if there is none."""
    if shutil.which("bwrap") is None:
        raise CourseError(MISSING)


@functools.cache
def cgroup() -> tuple[str, ...]:
    """The command that puts a limit on the memory of all behind it; empty if none can be had."""
    if shutil.which("systemd-run") is None:
        return ()
    user = () if os.geteuid() == 0 else ("--user",)
    most = Limits.together + (1 << 30)  # the warm process itself needs some
    limits = (f"--property=MemoryMax={most}", "--property=MemorySwapMax=0")
    command = ("systemd-run", *user, "--scope", "--quiet", "--collect", *limits, "--")
    try:
        works = subprocess.run([*command, "true"], capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return command if works.returncode == 0 else ()


def bubblewrap(user_id: int) -> list[str]:
    """The command that confines the command behind it."""
    require_bubblewrap()
    if os.geteuid() != 0:
        return ["bwrap", *_sealed(), *_visible(), *_own_folders()]
    outer = ["bwrap", "--die-with-parent", *_visible(), "--dev-bind", "/dev", "/dev"]
    outer += ["--bind", "/proc", "/proc", "--tmpfs", "/tmp"]  # bwrap itself needs a /tmp
    drop = ["setpriv", f"--reuid={user_id}", f"--regid={user_id}", "--clear-groups"]
    return [*outer, *drop, "bwrap", *_sealed(), *_visible(within=True), *_own_folders()]


def _sealed() -> list[str]:
    options = ["--unshare-all", "--unshare-user", "--disable-userns", "--as-pid-1"]
    options += ["--die-with-parent", "--new-session", "--clearenv"]
    for name, value in {**ENVIRONMENT, "PYTHONPATH": COURSE}.items():
        options += ["--setenv", name, value]
    return options


def _own_folders() -> list[str]:
    size = str(64 << 20)
    return [
        *("--proc", "/proc", "--dev", "/dev"),
        *("--dev-bind", "/dev/null", "/dev/zero"),  # a mapping of it is memory that is nobody's
        *("--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", "/dev/shm"),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"),
    ]


@functools.cache
def _visible(within: bool = False) -> list[str]:
    """All that can be seen in there; `within` the outer sandbox it is in its place already."""
    options = ["--ro-bind", "/usr", "/usr"]
    for folder in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(folder):
            options += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            options += ["--ro-bind", folder, folder]
    for source, place in _places().items():
        options += _at(place if within else source, place)
    return [*options, *_hidden()]


def _hidden() -> list[str]:
    """Solutions that lie in a folder which has to be seen are covered by an empty one."""
    solutions = current().folder / "solutions"
    shown = {"/usr": "/usr", **_places()}
    covered = [
        place / solutions.relative_to(source)
        for source, place in ((Path(a), Path(b)) for a, b in shown.items())
        if solutions.is_dir() and solutions.is_relative_to(source)
    ]
    return [option for place in covered for option in ("--tmpfs", str(place))]


def _places() -> dict[str, str]:
    """Where things lie, and where they are shown: interpreter, packages, the course's package."""
    files = ("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/alternatives")
    interpreter = {sys.base_prefix, os.path.realpath(sys.base_prefix)}
    interpreter |= {str(Path(os.path.realpath(sys.executable)).parents[1])}
    interpreter = {path for path in interpreter if not Path(path).is_relative_to("/usr")}
    if any(Path(path).is_relative_to("/tmp") for path in interpreter):
        raise CourseError(IN_TMP)
    places = {path: path for path in (*filter(os.path.exists, files), *sorted(interpreter))}
    if sys.prefix != sys.base_prefix:
        places[sys.prefix] = PACKAGES
    return places | {str(package): f"{COURSE}/{package.name}" for package in packages()}


def python_in_there() -> str:
    """The interpreter of the environment, at the place where it is shown."""
    if sys.prefix == sys.base_prefix:
        return sys.executable
    return sys.executable.replace(sys.prefix, PACKAGES, 1)


def _at(source: str, place: str) -> list[str]:
    """Show this file or folder at that place; folders above it are open for everyone to pass."""
    above = [str(folder) for folder in reversed(Path(place).parents)][1:]
    options = [option for folder in above for option in ("--perms", "0755", "--dir", folder)]
    return [*options, "--ro-bind", source, place]


def packages() -> list[Path]:
    """The folders of the packages that grading needs: the course's, and those of the machine."""
    machine = [Path(str(package.__file__)).resolve().parent for package in (selfcheck, classroom)]
    return [current().package_folder, *machine]
