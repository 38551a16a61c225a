"""The judge's side of the wall: start a sandbox, and have a submission run in there.

    with Sandbox() as sandbox:
        with sandbox.submission(Limits()) as there:
            there.ask(ask="run", source="x = 1")

bubblewrap gives the sandbox its own view of the machine: the interpreter, the packages and the
course without its solutions, all read-only; an empty /tmp of limited size; no network; no other
process. As root there are two of them, one in the other: the outer one makes that view, the inner
one runs under a user id without rights, because limits on processes do not bind root.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import classroom
import course_utils
from course_utils.files import CourseError

from .metering import Counter
from .wire import Gone, Peer, Stream

INSIDE = "classroom.grading.inside"
COURSE, PACKAGES = "/course", "/packages"  # where course and environment lie in the sandbox
USER_ID = 61000  # and up, one for each sandbox that root starts: limits count per user
START_SECONDS = 120
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "agg",
    "MPLCONFIGDIR": "/tmp/matplotlib",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
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
BROKEN = (
    "bubblewrap does not start here: {}. Where the system forbids user namespaces (Ubuntu from "
    "23.10 does), allow them for bwrap, or pass --no-sandbox to run the submissions unprotected."
)


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    cell: float = 10.0  # seconds for a cell or a call
    wall: float = 60.0  # seconds for all of it
    memory: int = 2 << 30  # bytes of address space of one process
    together: int = 3 << 30  # bytes in memory of all its processes
    file: int = 16 << 20  # bytes of one file
    processes: int = 32
    text: int = 4000  # characters that a cell prints


class Needs(NamedTuple):
    """What is loaded and run before a child is made, once for all: nothing of a student's."""

    modules: Sequence[str] = ()
    source: str = ""  # the instructor's imports and symbols


class Submission:
    """A child in the sandbox that runs one submission; every question has a deadline."""

    def __init__(self, wire: socket.socket, limits: Limits) -> None:
        self._wire, self._limits = wire, limits
        self._end = time.monotonic() + limits.wall
        self._counter = Counter()
        self._peer = Peer(_Patient(wire, self), self._serve, self._counter)
        self._until = self._end

    def _serve(self, question: dict) -> object:
        return self._counter.serve(self._peer, question)

    def ask(self, **question: object) -> object:
        """What the child answers within the time for a cell; else it is Gone."""
        grace = 2.0  # the child notices by itself that a cell is too slow, if it still can
        self._until = min(self._end, time.monotonic() + self._limits.cell + grace)
        return self._peer.ask(**question)

    def begin(self, seconds: float) -> None:
        """From now on, all questions together have this time."""
        self._until = min(self._end, time.monotonic() + seconds)

    @property
    def seconds_left(self) -> float:
        return self._end - time.monotonic()

    def remaining(self) -> float:
        """Seconds until the present deadline; Gone once it is over."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise Gone("took too long")
        return left


class _Patient(Stream):
    """A stream that waits no longer than its submission has time."""

    def __init__(self, sock: socket.socket, submission: Submission) -> None:
        super().__init__(sock)
        self.submission = submission

    def send(self, message: dict) -> None:
        self.sock.settimeout(self.submission.remaining())
        try:
            super().send(message)
        except OSError as error:
            raise _gone(error) from None

    def _exactly(self, count: int) -> bytes:
        self.sock.settimeout(self.submission.remaining())
        try:
            return super()._exactly(count)
        except OSError as error:
            raise _gone(error) from None


def _gone(error: OSError) -> Gone:
    return Gone("took too long" if isinstance(error, TimeoutError) else "ended")


class Sandbox:
    """A warm process behind a wall; runs one submission at a time."""

    def __init__(self, walled: bool = True, number: int = 0) -> None:
        self._walled, self._number = walled, number
        self._process: subprocess.Popen | None = None
        self._folder: tempfile.TemporaryDirectory | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def submission(self, limits: Limits, needs: Needs = Needs()) -> Iterator[Submission]:  # noqa: B008
        """A fresh child; when the block ends it is gone, with all that it started."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()
        ours, theirs = socket.socketpair()
        with ours:
            order = {"limits": asdict(limits), **needs._asdict()}
            socket.send_fds(self._orders, [json.dumps(order).encode()], [theirs.fileno()])
            theirs.close()
            try:
                yield Submission(ours, limits)
            finally:
                self._end_child()

    def _end_child(self) -> None:
        """Have the child killed and swept away; if that fails, the whole sandbox goes."""
        try:
            self._orders.settimeout(10)
            self._orders.send(b"stop")
            report = json.loads(self._orders.recv(4096) or b"{}")
        except (OSError, ValueError):
            report = {}
        if report.get("clean") is not True:
            self.close()

    def _start(self) -> None:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command, environment = self._command(theirs.fileno())
            self._process = subprocess.Popen(
                command,
                env=environment,
                cwd="/",
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        self._orders.settimeout(START_SECONDS)
        try:
            ready = self._orders.recv(64) == b"ready"
        except OSError:
            ready = False
        if not ready:
            self._process.kill()
            why = self._process.stderr.read().decode(errors="replace").strip().splitlines()
            self.close()
            raise CourseError(BROKEN.format(why[-1] if why else "it gave no reason"))

    def _command(self, fd: int) -> tuple[list[str], dict[str, str]]:
        inside = ["-m", INSIDE, str(fd)]
        if self._walled:
            command = [*bubblewrap(USER_ID + self._number), _python_in_there(), *inside]
            return [*command, "/tmp/work"], {"PATH": os.environ["PATH"]}
        self._folder = tempfile.TemporaryDirectory(
            prefix="course-grade-", ignore_cleanup_errors=True
        )
        work = str(Path(self._folder.name) / "work")
        folders = {str(package.parent) for package in _packages()}
        environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(sorted(folders))}
        environment["MPLCONFIGDIR"] = self._folder.name
        return [sys.executable, *inside, work], environment

    def close(self) -> None:
        """End the sandbox and everything in it."""
        if self._process is not None:
            self._orders.close()
            self._process.kill()
            self._process.stderr.close()
            self._process.wait()
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


# -- the walls ------------------------------------------------------------------------------------


def require_bubblewrap() -> None:
    """A sentence if there is none."""
    if shutil.which("bwrap") is None:
        raise CourseError(MISSING)


def bubblewrap(user_id: int) -> list[str]:
    """The command that puts walls around the command behind it."""
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
        *("--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", "/dev/shm"),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"),
    ]


@functools.cache
def _visible(within: bool = False) -> list[str]:
    """All that can be seen in there; `within` the outer walls it is in its place already."""
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
    solutions = Path(classroom.__file__).resolve().parents[1] / "solutions"
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
    return places | {str(package): f"{COURSE}/{package.name}" for package in _packages()}


def _python_in_there() -> str:
    """The interpreter of the environment, at the place where it is shown."""
    if sys.prefix == sys.base_prefix:
        return sys.executable
    return sys.executable.replace(sys.prefix, PACKAGES, 1)


def _at(source: str, place: str) -> list[str]:
    """Show this file or folder at that place; folders above it are open for everyone to pass."""
    above = [str(folder) for folder in reversed(Path(place).parents)][1:]
    options = [option for folder in above for option in ("--perms", "0755", "--dir", folder)]
    return [*options, "--ro-bind", source, place]


def _packages() -> list[Path]:
    """The folders of the course's two packages."""
    return [Path(file).resolve().parent for file in (course_utils.__file__, classroom.__file__)]
