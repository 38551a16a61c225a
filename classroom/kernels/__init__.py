"""Kernels that start warm: forked from one process that has loaded what every notebook loads.

While `warm()` lasts, every kernel of this Python that this process starts, or a process started by
it (pytest's workers, a JupyterLab), begins its life with the packages of the course in memory, and
computes in one thread. It draws as everybody's does, whatever settings somebody has for matplotlib.
Nothing of the course itself is loaded there. Where a system cannot do it, kernels start as ever.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner

from ..threads import ONE_THREAD

SOCKET = "COURSE_WARM_KERNELS"  # where the warm process listens
CHOICE = {"JUPYTER_DEFAULT_PROVISIONER_NAME": "course-warm"}  # as classroom/pyproject.toml calls it
STREAMS = ("stdin", "stdout", "stderr")
ALIKE = ONE_THREAD | {"MATPLOTLIBRC": os.devnull}  # an empty file of settings


@contextlib.contextmanager
def warm() -> Iterator[None]:
    """Kernels started meanwhile are forked from a warm process, which ends with the block."""
    alike = {name: value for name, value in ALIKE.items() if name not in os.environ}
    with _variables(alike), contextlib.ExitStack() as inside:
        if hasattr(os, "pidfd_open") and not {SOCKET, *CHOICE} & set(os.environ):
            place = inside.enter_context(_forking())
            inside.enter_context(_variables(CHOICE | {SOCKET: place}))
        yield


@contextlib.contextmanager
def _variables(given: Mapping[str, str]) -> Iterator[None]:
    """This process, and those that it starts, have these variables besides."""
    os.environ.update(given)
    try:
        yield
    finally:
        for name in given:
            os.environ.pop(name, None)


@contextlib.contextmanager
def _forking() -> Iterator[str]:
    """The warm process; where it listens."""
    with tempfile.TemporaryDirectory(prefix="kernels-") as folder:
        place, program = str(Path(folder) / "socket"), str(Path(__file__).parent / "forking.py")
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command, pipe = [sys.executable, "-P", program, place], subprocess.PIPE
        with subprocess.Popen(command, env=clean, stdin=pipe, stdout=pipe) as process:
            assert process.stdout
            process.stdout.read(1)  # it listens
            try:
                yield place
            finally:
                process.communicate()  # the end of its input is its own


class WarmProvisioner(LocalProvisioner):
    """Starts a kernel by a fork of the warm process; another kernel, or without one, as ever."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel of that command."""
        place, ours = os.environ.get(SOCKET), [sys.executable, "-m", "ipykernel_launcher"]
        if not place or cmd[:3] != ours:
            return await super().launch_kernel(cmd, **kwargs)
        try:
            kernel: Any = Forked(place, cmd[3:], **kwargs)
        except OSError:  # the warm process has died
            return await super().launch_kernel(cmd, **kwargs)
        self.process = kernel
        self.pid = self.pgid = kernel.pid  # it leads a session of its own
        self.cwd = kwargs.get("cwd", Path.cwd())
        return self.connection_info


class Forked:
    """A kernel that is a child of the warm process; asked and ended like a `Popen`."""

    stdin = stdout = stderr = None
    returncode: int | None = None

    def __init__(self, place: str, arguments: list[str], **popen: Any) -> None:
        env, cwd = dict(popen.get("env") or os.environ), Path(popen.get("cwd") or ".").absolute()
        order = json.dumps({"arguments": arguments, "env": env, "cwd": str(cwd)}).encode()
        with contextlib.ExitStack() as opened, socket.socket(socket.AF_UNIX) as ask:
            fds = [_descriptor(popen.get(name), name, opened) for name in STREAMS]
            ask.connect(place)
            socket.send_fds(ask, [len(order).to_bytes(8)], fds)
            ask.sendall(order)
            answer, handles, *_ = socket.recv_fds(ask, 8, 1)
        if not handles:
            raise ConnectionError("it died before it answered")
        self.pid, (self._handle,) = int.from_bytes(answer), handles

    def poll(self) -> int | None:
        """None as long as it lives. How it ended is known to its parent alone."""
        if self.returncode is None and select.select([self._handle], [], [], 0)[0]:
            os.close(self._handle)
            self.returncode = 0
        return self.returncode

    def wait(self) -> int:
        """Wait for its end."""
        if self.returncode is None:
            select.select([self._handle], [], [])
        return self.poll() or 0

    def send_signal(self, number: int) -> None:
        """Send it that signal, if it lives."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


def _descriptor(stream: Any, name: str, opened: contextlib.ExitStack) -> int:
    """The file that Popen would use for this stream."""
    if stream == subprocess.DEVNULL or (stream is None and name == "stdin"):
        return opened.enter_context(open(os.devnull, "r+b")).fileno()
    if stream is None:
        return STREAMS.index(name)
    return stream if isinstance(stream, int) else stream.fileno()
