"""A look at this machine before class: can it run the course, and if not, what is to be done?"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

PORTS = range(8888, 8938)  # the ports JupyterLab tries by itself


@dataclass(frozen=True)
class Finding:
    """One line of the report; a failed one carries its remedy."""

    ok: bool
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"[ ok ] {self.what}" if self.ok else f"[fail] {self.what}\n       {self.remedy}"


def examine(root: Path) -> Iterator[Finding]:
    """All findings, one after the other; a probe that breaks is a finding too."""
    probes: list[Callable[[], Finding]] = [
        python_version, *(lambda name=name: package(name) for name in packages()),
        widgets_extension, kernel, lambda: write_permission(root), free_port,
    ]  # fmt: skip
    for probe in probes:
        try:
            yield probe()
        except Exception as error:
            yield Finding(
                False, f"{type(error).__name__}: {error}", "Run `make clean`, then retry."
            )


def python_version() -> Finding:
    """Python 3.11 or newer."""
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding(
        sys.version_info >= (3, 11), f"Python {version}", "Install Python 3.11 or newer."
    )


def packages() -> list[str]:
    """The requirements of the course itself, extras left out."""
    return [r for r in metadata.requires("course-utils") or [] if "extra ==" not in r]


def package(requirement: str) -> Finding:
    """One package is installed in a version the course accepts."""
    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    remedy = "Run `make lab` once more: it installs what is missing."
    try:
        version = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return Finding(False, f"{wanted.name} is not installed", remedy)
    return Finding(version in wanted.specifier, f"{wanted.name} {version} ({wanted})", remedy)


def widgets_extension() -> Finding:
    """JupyterLab finds the extension that shows sliders."""
    from jupyter_core.paths import jupyter_path

    places = [
        Path(p) / "@jupyter-widgets/jupyterlab-manager" for p in jupyter_path("labextensions")
    ]
    found = any((place / "package.json").exists() for place in places)
    return Finding(
        found,
        "widgets extension of JupyterLab",
        "Run `pip install --force-reinstall jupyterlab_widgets`.",
    )


def kernel() -> Finding:
    """A kernel starts, and it is one that can import the course."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", stderr=subprocess.DEVNULL)
    try:
        reply = client.execute_interactive(
            "import course_utils", timeout=60, output_hook=lambda message: None
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return Finding(
        reply["content"]["status"] == "ok",
        "kernel python3 starts and imports course_utils",
        "Another Python answers as python3: start JupyterLab with `make lab`.",
    )


def write_permission(root: Path) -> Finding:
    """Work can be saved."""
    try:
        with tempfile.TemporaryFile(dir=root):
            pass
    except OSError as error:
        return Finding(
            False, f"cannot write to {root} ({error.strerror})", "Copy the course elsewhere."
        )
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
    return Finding(False, f"ports {PORTS[0]} to {PORTS[-1]} are taken", "Close other JupyterLabs.")
