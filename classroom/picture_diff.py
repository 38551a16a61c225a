"""Do two pictures look the same? Compared pixel by pixel, with what machines may do differently.

The same code with the same versions draws the same bytes. On another processor the last digit of a
number may differ, and with it a shade of gray, or whether a line at 17.5 pixels is put on pixel 17
or on pixel 18. So each pixel is compared with the nine of the other picture that are at its place
and around it: a line or a letter may lie one pixel off. What moved further, came, went, or has
another color is darker or lighter than all nine.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence

import numpy as np
from nbformat import NotebookNode

PNG, SVG = "image/png", "image/svg+xml"  # a drawing has both
# Of 255. As other processors compute (OpenBLAS as for Nehalem, Haswell and SkylakeX, NumPy without
# AVX), no shade is off by more than 1; where a layout moves by a part of a pixel and two lines
# cross, by 31.
CLEAR = 32
FEW = 1  # pixels that may be clearly off: what makes a small point a comma are two
FAINT = 8  # a surface in a slightly other color is off by more
SHARE = 0.001  # of the picture's pixels may be faintly off


def difference(saved: bytes, drawn: bytes) -> str:
    """How the drawn picture visibly differs from the saved one, in a few words; "" if it does not.

    Both are PNG files.
    """
    if saved == drawn:
        return ""
    try:
        old, new = _pixels(saved), _pixels(drawn)
    except OSError:
        return "the saved one cannot be read"
    if old.shape != new.shape:
        return f"it was {_size(old)} pixels large and is {_size(new)} now"
    off = np.maximum(_beyond_neighbors(old, new), _beyond_neighbors(new, old))
    for limit, most in ((CLEAR, FEW), (FAINT, SHARE * off.size)):
        if np.count_nonzero(off > limit) > most:
            return _where(off > limit)
    return ""


def _pixels(png: bytes) -> np.ndarray:
    """The picture as an (h, w, 3) array of uint8."""
    from PIL import Image  # comes with the helper package

    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def _beyond_neighbors(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By how much each pixel of `a` is darker or lighter than all of `b` around its place."""
    low, high = _of_neighbors(np.minimum, b), _of_neighbors(np.maximum, b)
    darker = low - np.minimum(a, low)  # unsigned, so nothing may fall below zero
    lighter = np.maximum(a, high) - high
    return np.maximum(darker, lighter).max(axis=2)


def _of_neighbors(least_or_most: Callable, pixels: np.ndarray) -> np.ndarray:
    """The least or the most, color by color, of a pixel and the eight around it."""
    padded = np.pad(pixels, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows = least_or_most(least_or_most(padded[:-2], padded[1:-1]), padded[2:])
    return least_or_most(least_or_most(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])


def _where(off: np.ndarray) -> str:
    """How many pixels are off, and between which corners they lie."""
    y, x = np.nonzero(off)
    corners = f"x from {x.min()} to {x.max()} and y from {y.min()} to {y.max()}"
    return f"{len(x):,} of {off.size:,} pixels have a different color, {corners}"


def _size(pixels: np.ndarray) -> str:
    height, width, _ = pixels.shape
    return f"{width} × {height}"


# -- in a notebook's cell -------------------------------------------------------------------------


def pictures(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Those of a cell's outputs that hold a picture."""
    return [output for output in outputs if PNG in output.get("data", {})]


def png_of(output: NotebookNode) -> bytes:
    """The picture in an output, as a file."""
    return base64.b64decode(output.data[PNG])


def old_pictures(saved: Sequence[NotebookNode], drawn: Sequence[NotebookNode]) -> list[str]:
    """What is old about the saved pictures of a cell, given its outputs as they are drawn now."""
    old, new = pictures(saved), pictures(drawn)
    if len(old) != len(new):
        return [f"saved with {_count(len(old))}, and draws {_count(len(new))} now"]
    found = []
    for number, (before, now) in enumerate(zip(old, new, strict=True), start=1):
        name = "its picture" if len(old) == 1 else f"its picture {number} of {len(old)}"
        if how := difference(png_of(before), png_of(now)):
            found.append(f"{name} is old: {how}")
        elif _words(before) != _words(now):
            found.append(f"{name} is now described as: {_words(now)}")
    return found


def _count(pictures: int) -> str:
    return "1 picture" if pictures == 1 else f"{pictures} pictures"


def _words(output: NotebookNode) -> str:
    """The alt text of a picture: nbval compares no metadata."""
    return output.get("metadata", {}).get(PNG, {}).get("alt", "")
