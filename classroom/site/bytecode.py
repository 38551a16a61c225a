"""Wheels whose modules are compiled already: Python in the browser starts in half the time.

    wheels = compiled(wheels, runtime, cache, keep=("course-utils",))

Only the browser's own Python can write its byte code, so it does that here, under node. Where there
is no node the wheels stay as they are: slower, and nothing else.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from packaging.utils import parse_wheel_filename

from course_utils.files import CourseError

SCRIPT = Path(__file__).with_name("bytecode.mjs")


def compiled(wheels: Sequence[Path], runtime: Path, cache: Path, keep: Sequence[str]) -> list[Path]:
    """The wheels with byte code in place of source, and beside it for the packages to keep."""
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
    with tempfile.TemporaryDirectory(prefix="course-") as scratch:
        for wheel, _ in pairs:
            name = str(parse_wheel_filename(wheel.name)[0])
            folder = Path(scratch) / ("both" if name in keep else "only")
            folder.mkdir(exist_ok=True)
            shutil.copyfile(wheel, folder / wheel.name)
        command = [node, str(SCRIPT), str(runtime), scratch]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CourseError(f"The wheels could not be compiled: {done.stderr.strip()[-500:]}")
        for _, place in pairs:
            (made,) = Path(scratch).glob(f"done/{place.name}")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made, place.with_suffix(".part"))
            place.with_suffix(".part").rename(place)


def _digest(wheel: Path, runtime: Path) -> str:
    """Of what is compiled, by which Python and how."""
    total = hashlib.sha256(wheel.read_bytes() + runtime.name.encode() + SCRIPT.read_bytes())
    return total.hexdigest()[:16]
