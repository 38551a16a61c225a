"""A look at this machine before class: can it run the course, and if not, what is to be done?"""

from __future__ import annotations

import ast
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

from ..course import Course

PORTS = range(8888, 8938)  # the ports JupyterLab tries by itself
MACHINE = "selfcheck"
AGAIN = "Run `make lab` once more: it installs what is missing."
ANEW = "Run `make clean`, then `make lab`: they set everything up anew."


@dataclass(frozen=True)
class Finding:
    """One line of the report; a failed one carries its remedy."""

    ok: bool
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"[ ok ] {self.what}" if self.ok else f"[fail] {self.what}\n       {self.remedy}"


def examine(course: Course) -> Iterator[Finding]:
    """All findings, one after the other; a probe that breaks is a finding too."""
    probes: list[Callable[[], Finding]] = [
        python_version,
        *(partial(package, requirement) for requirement in requirements()),
        widgets_extension,
        partial(kernel, course.package),
        partial(write_permission, course.folder),
        free_port,
    ]
    for probe in probes:
        try:
            yield probe()
        except Exception as error:
            name = getattr(probe, "func", probe).__name__.replace("_", " ")
            yield Finding(False, f"{name}: {type(error).__name__}: {error}", ANEW)


def python_version() -> Finding:
    """Python 3.11 or newer."""
    version = ".".join(map(str, sys.version_info[:3]))
    remedy = "Install Python 3.11 or newer, then `make clean`."
    return Finding(sys.version_info >= (3, 11), f"Python {version}", remedy)


def requirements() -> list[str]:
    """What judging, notebooks and figures require; our own name if we are not installed."""
    try:
        wanted = metadata.requires(MACHINE) or []
    except metadata.PackageNotFoundError:
        return [MACHINE]
    needed = (requirement.partition(";") for requirement in wanted if "tests" not in requirement)
    return [requirement.strip() for requirement, _, _ in needed]


def package(requirement: str) -> Finding:
    """One package is installed in a version the course accepts."""
    try:
        version = metadata.version(re.split(r"[^\w.-]", requirement)[0])
    except metadata.PackageNotFoundError:
        return Finding(False, f"{requirement} is not installed", AGAIN)
    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    return Finding(
        wanted.specifier.contains(version, prereleases=True),
        f"{wanted.name} {version} ({requirement})",
        AGAIN,
    )


def widgets_extension() -> Finding:
    """JupyterLab finds the extension that shows sliders."""
    from jupyter_core.paths import jupyter_path

    places = [
        Path(p) / "@jupyter-widgets/jupyterlab-manager" for p in jupyter_path("labextensions")
    ]
    found = any((place / "package.json").exists() for place in places)
    return Finding(found, "widgets extension of JupyterLab", ANEW)


def kernel(package: str) -> Finding:
    """The kernel that JupyterLab starts is this very Python, and it can import the course."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", stderr=subprocess.DEVNULL)
    try:
        reply = client.execute_interactive(
            f"import sys, {package}",
            user_expressions={"prefix": "sys.prefix"},
            timeout=60,
            output_hook=lambda message: None,
        )["content"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    if reply["status"] != "ok":
        why = f"the kernel cannot import {package} ({reply.get('ename')})"
        return Finding(False, why, AGAIN)
    prefix = ast.literal_eval(reply["user_expressions"]["prefix"]["data"]["text/plain"])
    if not Path(prefix).samefile(sys.prefix):
        remedy = "Remove the kernel named python3 there, or start JupyterLab with `make lab`."
        return Finding(False, f"a different Python answers as kernel python3: {prefix}", remedy)
    return Finding(True, f"kernel python3 starts and imports {package}")


def write_permission(root: Path) -> Finding:
    """Work can be saved."""
    try:
        with tempfile.TemporaryFile(dir=root):
            pass
    except OSError as error:
        what = f"cannot write to {root} ({error.strerror})"
        return Finding(False, what, "Copy the course to a folder of your own.")
    return Finding(True, f"can write to {root}")


def free_port() -> Finding:
    """JupyterLab can listen somewhere."""
    for port in PORTS:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return Finding(True, f"port {port} is free")
    what = f"ports {PORTS[0]} to {PORTS[-1]} are taken"
    return Finding(False, what, "Close other JupyterLabs and try again.")
