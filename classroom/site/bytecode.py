"""Modules that are compiled already: Python in the browser starts in less than half the time.

    stdlib, *wheels = compiled([stdlib, *wheels], runtime, cache, keep=("selfcheck",))

Only the browser's own Python can write its byte code, so it does that here, under node. Where there
is no node all stay as they are: slower, and nothing else.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from selfcheck.files import CourseError

SCRIPT = Path(__file__).with_name("bytecode.mjs")
EPOCH = (2020, 1, 1, 0, 0, 0)  # the time of every file in our wheels: same input, same wheel


def compiled(wheels: Sequence[Path], runtime: Path, cache: Path, keep: Sequence[str]) -> list[Path]:
    """The archives with byte code in place of source, and beside it for the packages to keep."""
    node = shutil.which("node")
    if node is None or not (runtime / "pyodide.asm.wasm").exists():
        return list(wheels)
    places = [cache / _digest(wheel, runtime) / wheel.name for wheel in wheels]
    missing = [pair for pair in zip(wheels, places, strict=True) if not pair[1].exists()]
    if missing:
        _compile(node, runtime, missing, keep)
    return places


def _compile(
    node: str, runtime: Path, pairs: Sequence[tuple[Path, Path]], keep: Sequence[str]
) -> None:
    """The browser's Python sees the modules alone: to pack takes it three times as long as us."""
    with tempfile.TemporaryDirectory(prefix="course-") as scratch:
        with zipfile.ZipFile(Path(scratch) / "sources.zip", "w") as sources:
            for wheel, _ in pairs:
                name = canonicalize_name(wheel.name.partition("-")[0])
                kind = "both" if name in keep else "only"
                for module, source in _modules(wheel):
                    sources.writestr(f"{kind}/{wheel.name}/{module}", source)
        command = [node, str(SCRIPT), str(runtime), scratch]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CourseError(f"The wheels could not be compiled: {done.stderr.strip()[-500:]}")
        with zipfile.ZipFile(Path(scratch) / "compiled.zip") as compiled:
            for wheel, place in pairs:
                _pack(wheel, compiled, place)


def _modules(wheel: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                yield name, archive.read(name)


def _pack(wheel: Path, compiled: zipfile.ZipFile, place: Path) -> None:
    """The wheel with its byte code, without modules whose place the byte code takes."""
    start = f"{wheel.name}/"
    names = [name for name in compiled.namelist() if name.startswith(start)]
    files = {name.removeprefix(start): compiled.read(name) for name in names}
    with zipfile.ZipFile(wheel) as old:
        rest = [name for name in old.namelist() if f"{name}c" not in files]
        files |= {name: old.read(name) for name in rest}
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in files.items():
            new.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED)
    part.rename(place)  # only now: half a wheel is compiled again


def _digest(wheel: Path, runtime: Path) -> str:
    """Of what is compiled, by which Python and how."""
    total = hashlib.sha256(wheel.read_bytes() + runtime.name.encode() + SCRIPT.read_bytes())
    return total.hexdigest()[:16]
