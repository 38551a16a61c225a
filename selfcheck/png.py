"""Pictures as PNG files: quick to write, small to keep, and equal pixels give equal bytes."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from PIL import Image  # comes with matplotlib

MOST_BYTES = 100_000  # of a picture that is kept
LIGHT = 30_000  # bytes: a lighter picture keeps every shade
STEP = 17  # between two shades of a color that is kept: 255 is fifteen of them


def small_png(rgb: np.ndarray, limit: int = LIGHT) -> bytes:
    """PNG of an (h, w, 3) array to be saved, with few shades.

    Letters and lines have hundreds of shades at their edges. Rounded to sixteen for each color,
    which nobody sees, they take a third of the room. A picture with more colors is kept as it is,
    or, if it is heavy, reduced to its main ones.
    """
    shades = (rgb.astype(np.uint32) + STEP // 2) // STEP
    colors, places = np.unique(shades @ np.array([256, 16, 1]), return_inverse=True)
    if len(colors) <= 256:
        reduced = Image.fromarray(places.reshape(rgb.shape[:2]).astype(np.uint8))
        parts = np.stack([colors // 256, colors // 16 % 16, colors % 16], axis=1) * STEP
        reduced.putpalette(parts.astype(np.uint8).tobytes())
    else:
        png = png_bytes(rgb, level=9)
        if len(png) <= limit:
            return png
        reduced = Image.fromarray(rgb).quantize(
            256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    buffer = io.BytesIO()
    reduced.save(buffer, format="png", compress_level=9)
    return buffer.getvalue()


def png_bytes(rgb: np.ndarray, level: int = 1) -> bytes:
    """PNG of an (h, w, 3) array of uint8. Unfiltered, since figures are mostly flat: fast, small.

    The file carries no date and no program name, so equal pixels give equal bytes.
    """
    height, width, _ = rgb.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row starts with its filter, 0: none
    for k in range(3):  # color by color: so NumPy copies long rows, not triples
        rows[:, 1 + k :: 3] = rgb[..., k]

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits, RGB
    body = zlib.compress(rows.tobytes(), level)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )
