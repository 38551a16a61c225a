"""How to write files without losing anything, and how to say that one is not sound."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


class CourseError(Exception):
    """Something about the course's files is wrong; the message says what, where and the remedy."""


def write_whole(path: Path, data: str | bytes | Iterable[str]) -> None:
    """Write a file so that it is there wholly or not at all; long ones piece by piece."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            for piece in [data] if isinstance(data, str | bytes) else data:
                file.write(piece.encode() if isinstance(piece, str) else piece)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
