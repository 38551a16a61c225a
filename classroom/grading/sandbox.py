"""The judge's side of the wall: start a sandbox, and have a submission run in there.

    with Sandbox() as sandbox:
        with sandbox.submission(Limits()) as there:
            there.run("x = 1")

bubblewrap gives the sandbox its own view of the machine: the interpreter, the packages and the
course without its solutions, all read-only; an empty /tmp of limited size; no network; no other
process. As root there are two of them, one in the other: the outer one makes that view, the inner
one runs under a user id without rights, because limits on processes do not bind root.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from selfcheck.counted_numpy import counter
from selfcheck.encoding import TAG
from selfcheck.files import CourseError

from .bubblewrap import ENVIRONMENT, USER_ID, bubblewrap, cgroup, packages, python_in_there
from .jobs import START_SECONDS, STARTS, Limits, started
from .lent_functions import place_of
from .metering import Counter
from .wire import Foreseen, Gone, Peer, Stream

CHILD = "classroom.grading.child"
LOOK_EVERY = 0.25  # seconds, at what a submission that we wait for has used
FOR_AN_OPERATION = 0.0005  # seconds, for each one on a far array: they are spent on the way
FOR_CGROUPS = ("PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
BROKEN = (
    "bubblewrap does not start here: {}. Where the system forbids user namespaces (Ubuntu from "
    "23.10 does), allow them for bwrap, or pass --no-sandbox to run the submissions unprotected."
)
KILLED = "The sandbox could not be started in several attempts: {}. Is there memory enough?"


class Lost(Exception):
    """Something of ours went away, through no fault of a submission."""


class Needs(NamedTuple):
    """What is loaded and run before a child is made, once for all: nothing of a student's."""

    modules: Sequence[str] = ()
    sources: Sequence[str] = ()  # the instructor's cells


class Usage(NamedTuple):
    """What all processes of a submission have used, and whether none of them wants to go on."""

    seconds: float
    is_asleep: bool


class Clock:
    """Seconds that are a submission's own: on the processor, or asleep while we wait for it.

    What a busy machine takes from it does not count, nor the time in which it waits for us.
    """

    def __init__(self, usage: Callable[[], Usage]) -> None:
        self._usage, self.seconds = usage, 0.0
        self._used, self._since = 0.0, time.monotonic()  # a child that was just made
        self._looked = self._since

    def wait_from_now(self) -> float:
        """From now on we wait; returns how long ago the last look was."""
        now = time.monotonic()
        ago, self._since = now - self._since, now
        return ago

    def look(self) -> float:
        """The seconds until now."""
        usage, now = self._usage(), time.monotonic()
        slept = now - self._since if usage.is_asleep else 0.0
        self.seconds += max(usage.seconds - self._used, slept)
        self._used, self._since, self._looked = usage.seconds, now, now
        return self.seconds

    def at_most(self) -> float:
        """The seconds until now, or a little more: after a moment a look is not worth its price."""
        ago = time.monotonic() - self._looked
        return self.seconds + ago if ago < LOOK_EVERY else self.look()


class Lender(Peer):
    """Tells the child where it has a function itself that a check lends to a student's function.

    While arrays are metered it is called here, where the numbers are.
    """

    def _by_number(self, value: Any, kind: type, inner: Callable) -> dict:
        data = super()._by_number(value, kind, inner)
        here = data[TAG] != "function" or counter() is not None
        home = "" if here else place_of(value)
        return {**data, "home": home} if home else data


class Submission:
    """A child in the sandbox that runs one submission; every question has its time."""

    def __init__(self, wire: socket.socket, limits: Limits, usage: Callable[[], Usage]) -> None:
        self._limits, self.clock, self._extra = limits, Clock(usage), 0.0
        self._counter = Counter()
        self._peer = Lender(_Patient(wire, self), self._serve, self._counter)
        self.was_slow = False  # a cell or call stopped itself, since its time was over
        self.begin(limits.wall)

    def _serve(self, question: dict) -> object:
        operations = 1 + len(question.get("before") or ())
        self._extra = min(self._extra + FOR_AN_OPERATION * operations, self._limits.wall)
        return self._counter.serve(self._peer, question)

    def ask(self, **question: object) -> object:
        """What the child answers within the time for a cell; else it is Gone."""
        self.begin(self._limits.cell + self._limits.grace)
        return self._peer.ask(**question)

    def run(self, source: str, names: Sequence[str] = (), count: int = 0) -> object:
        """The report of a cell; these functions of the package are what it should write."""
        return self.ask(ask="run", source=source, names=list(names), count=count)

    def value(self, expression: str) -> Any:
        """What an expression of the instructor's is over there."""
        return self.ask(ask="value", expression=expression)

    def answer(self, exercise: str, name: str) -> Any:
        """What the last cell gave to a check that it called."""
        return self.ask(ask="answer", exercise=exercise, name=name)

    def foresee(self, calls: Foreseen) -> None:
        """A check begins, which calls functions as it did before."""
        calls.begin()
        self._peer.foreseen = calls

    def forbid(self, names: list[str]) -> None:
        """From now until the next cell these functions of the package refuse to run."""
        self.ask(ask="judging", names=names)

    def seen(self) -> object:
        """What the student's code did since its last cell that a person should know."""
        return self.ask(ask="seen")

    def begin(self, seconds: float) -> None:
        """From now on, all questions together have this time."""
        self._most = min(self.clock.at_most() + seconds, self._limits.wall)
        self._until = time.monotonic() + self._limits.slack * seconds

    def look(self) -> None:
        """Gone, once the time is over."""
        if self.clock.look() > self._most + self._extra or time.monotonic() > self._until:
            raise Gone("took too long")


class _Patient(Stream):
    """A stream that waits no longer than its submission has time, and looks now and then."""

    def __init__(self, sock: socket.socket, submission: Submission) -> None:
        super().__init__(sock)
        self.submission = submission
        sock.settimeout(LOOK_EVERY)

    def receive(self) -> dict:
        message = super().receive()
        error = message.get("error")
        if isinstance(error, dict) and error.get("type") == "TooSlow":
            self.submission.was_slow = True
        return message

    def _all(self, data: bytes) -> None:
        self._begin()
        left = memoryview(data)
        while left:
            left = left[self._patiently(lambda: self.sock.send(left)) :]  # noqa: B023

    def _some(self) -> bytes:
        self._begin()
        return self._patiently(super()._some)

    def _begin(self) -> None:
        if self.submission.clock.wait_from_now() > 1.0:
            self.submission.look()

    def _patiently(self, do: Callable) -> Any:
        while True:
            try:
                return do()
            except TimeoutError:
                self.submission.look()
            except OSError:
                raise Gone("ended") from None


class Sandbox:
    """A warm process behind a wall; runs one submission at a time."""

    def __init__(self, sandboxed: bool = True, number: int = 0) -> None:
        self._sandboxed, self._number = sandboxed, number
        self._process: subprocess.Popen[bytes] | None = None
        self._starting: subprocess.Popen[bytes] | None = None  # not yet known to be ready
        self._is_filtered, self.is_lost, self.killed = True, False, ""
        self._folder: tempfile.TemporaryDirectory | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def submission(self, limits: Limits, needs: Needs = Needs()) -> Iterator[Submission]:  # noqa: B008
        """A fresh child; when the block ends it is gone, with all that it started.

        All that is to be loaded is loaded before; its time begins afterwards. `is_lost` tells
        whether the sandbox itself went away meanwhile, `killed` why a child was ended from here.
        """
        self.is_lost, self.killed = False, ""
        ours = self._child(limits, needs)
        with ours:
            try:
                yield Submission(ours, limits, self._usage)
            finally:
                self._end_child()

    def _child(self, limits: Limits, needs: Needs) -> socket.socket:
        """The wire to a new child, also if it takes a new sandbox to have one."""
        order = json.dumps({"limits": asdict(limits), **needs._asdict()}).encode()
        for _ in range(STARTS):
            if self._starting:
                self._start()
            elif self._process is None or self._process.poll() is not None:
                self.close()
                self._start()
            ours, theirs = socket.socketpair()
            try:
                with theirs:
                    socket.send_fds(self._orders, [order], [theirs.fileno()])
                self._orders.settimeout(START_SECONDS)
                if self._orders.recv(64) == b"prepared":
                    return ours
            except OSError:
                pass
            ours.close()
            self.close()
        raise Lost(f"the sandbox was lost {STARTS} times while it was made ready")

    def _usage(self) -> Usage:
        """What the present submission has used, by the word of the warm process."""
        try:
            self._orders.settimeout(60)
            self._orders.send(b"usage")
            return Usage(*json.loads(self._orders.recv(4096)))
        except (OSError, ValueError, TypeError):
            raise Gone("ended") from None

    def _end_child(self) -> None:
        """Have the child killed and swept away; if that fails, the whole sandbox goes."""
        try:
            self._orders.settimeout(30)
            self._orders.send(b"stop")
            report = json.loads(self._orders.recv(4096) or b"{}")
            self.is_lost = not report
        except TimeoutError:
            report = {}  # it left too much to be swept away in time
        except (OSError, ValueError):
            report, self.is_lost = {}, True
        self.killed = str(report.get("killed", ""))
        if report.get("clean") is not True:
            self.close()

    def _start(self) -> None:
        """Start the warm process; what fails once may have been killed, so it is tried again."""
        for attempt in range(1, STARTS + 1):
            process = self._starting or self._launched()
            self._starting = None
            self._orders.settimeout(START_SECONDS)
            try:
                ready = json.loads(self._orders.recv(1024) or b"{}")
            except (OSError, ValueError):
                ready = {}
            if ready:
                self._is_filtered = bool(ready.get("filter"))
                return
            why, killed = self._why_not(process)
            if attempt == STARTS or not killed:
                raise CourseError((KILLED if killed else BROKEN).format(why))

    def begin(self) -> None:
        """Start the warm process and do not wait for it: there is enough to do meanwhile."""
        if self._process is None:
            self._starting = self._launched()

    def _launched(self) -> subprocess.Popen[bytes]:
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
        return self._process

    def _why_not(self, process: subprocess.Popen[bytes]) -> tuple[str, bool]:
        """Why the sandbox did not start, and whether somebody killed it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        code = process.poll()
        process.kill()
        raw = process.stderr.read() if process.stderr else b""
        said = raw.decode(errors="replace").strip().splitlines()
        self.close()
        if code is None:
            return f"it gave no sign within {START_SECONDS} seconds", True
        number = -code if code < 0 else code - 128 if 128 < code < 160 else 0
        if number:
            return f"it was killed by signal {number}", True
        return said[-1] if said else f"it ended with code {code}", False

    @property
    def protection(self) -> str:
        """Which limits are in force, in a sentence."""
        if not self._sandboxed:
            return "none of a sandbox; only limits on time, memory of a process and sizes of files."
        memory = "memory by a control group" if cgroup() else "memory by watching"
        calls = (
            "system calls filtered"
            if self._is_filtered
            else f"system calls NOT filtered, since there is no filter for {os.uname().machine}"
        )
        return f"own file system, no network, {memory}, {calls}."

    def _command(self, fd: int) -> tuple[list[str], dict[str, str]]:
        inside = [*started(CHILD), str(fd)]
        if self._sandboxed:
            command = [*bubblewrap(USER_ID + self._number), python_in_there(), *inside]
            kept = {name: os.environ[name] for name in FOR_CGROUPS if name in os.environ}
            return [*cgroup(), *command, "/tmp/work"], kept
        self._folder = tempfile.TemporaryDirectory(
            prefix="course-grade-", ignore_cleanup_errors=True
        )
        work = str(Path(self._folder.name) / "work")
        folders = {str(package.parent) for package in packages()}
        environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(sorted(folders))}
        environment["MPLCONFIGDIR"] = self._folder.name
        return [sys.executable, *inside, work], environment

    def close(self) -> None:
        """End the sandbox and everything in it."""
        self._starting = None
        if self._process is not None:
            self._orders.close()
            self._process.kill()
            if self._process.stderr:
                self._process.stderr.close()
            self._process.wait()
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
