"""What a lecture trains: trained where it runs, but in a browser, which takes ten times as long.

    trained = Trained(Path(__file__).parent / "trained.npz")  # in a course's package
    theta = trained("small", train, model, images, 400)  # is train(model, images, 400)

In a browser the weights of the same run come from a file of the course. What was asked for in
another way, with more steps or other images, is trained there as well. With COURSE_KEEP=1 in the
environment, `course execute notebooks/01_sums.ipynb` writes what the file has of a lecture.
"""

from __future__ import annotations

import linecache
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def is_taken() -> bool:
    """In a browser; also where explorers are drawn for slides, or a lab is only looked at."""
    return sys.platform == "emscripten" or bool(os.environ.get("COURSE_TAKE"))


class Trained:
    """The results that a file of the course holds, by a name and by what was asked for."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __call__(self, name: str, run: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """`run(*arguments, **options)`, an array or arrays by name; in a browser from the file."""
        key = f"{name} {_digest(run, *arguments, *sorted(options.items()))}"
        if is_taken() and (stored := _read(self.file, key)) is not None:
            return stored
        result = run(*arguments, **options)
        if os.environ.get("COURSE_KEEP"):
            _write(self.file, name, key, result)
        return result


def _digest(*asked: Any) -> str:
    """Of what was asked for, the same on every machine."""
    return f"{zlib.crc32(' '.join(word for part in asked for word in _words(part)).encode()):08x}"


def _words(part: Any) -> Iterator[str]:
    if isinstance(part, np.ndarray):
        yield str(part.shape)
        if part.dtype.kind in "iu":  # the last digits of other numbers may differ
            yield str(zlib.crc32(part.astype(np.int64).tobytes()))
    elif isinstance(part, Mapping):
        for pair in part.items():
            yield from _words(pair)
    elif isinstance(part, tuple):
        for each in part:
            yield from _words(each)
    elif code := getattr(part, "__code__", None):
        yield linecache.getline(code.co_filename, code.co_firstlineno).strip()
    else:
        yield repr(part)


def _read(file: Path, key: str) -> Any:
    """One array, or several by name; None if nothing is kept under this key."""
    with np.load(file) as stored:
        found = {name: stored[name].astype(float) for name in stored if name.startswith(key)}
    named = {name.removeprefix(f"{key}/"): array for name, array in found.items()}
    return found.get(key, named or None)


def _write(file: Path, name: str, key: str, result: Any) -> None:
    """Put a result into the file in place of what was kept under its name."""
    kept: dict[str, np.ndarray] = {}
    if file.exists():
        with np.load(file) as stored:
            kept = {n: stored[n] for n in stored if n.partition("/")[0].rpartition(" ")[0] != name}
    parts = {f"{key}/{n}": a for n, a in result.items()} if isinstance(result, Mapping) else {}
    new = {n: np.asarray(a, dtype=np.float16) for n, a in (parts or {key: result}).items()}
    np.savez_compressed(file, **kept, **new)  # type: ignore[arg-type]  # names are not options
