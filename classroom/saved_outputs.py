"""What `course execute` leaves as it was saved, so that one changed word is one changed line.

A picture stays as long as the new one looks the same. A measurement, which no run repeats, stays as
long as the code up to it does: its cell has the tag `nbval-ignore-output`, and its metadata has a
digest of the code that was measured. To measure again, clear the output of the cell first.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence

from nbformat import NotebookNode

from .notebooks import is_ignored
from .picture_diff import PNG, SVG, difference, pictures, png_of

BAKED = "explorer"  # in the metadata of an explorer's picture: its numbers
MEASURED = "measured"  # in a cell's metadata: the digest of the code that was measured
NUMBER = re.compile(r"\s*\d[\d.,]*(e[-+]\d+)?")  # with the blanks that align it


def keep_saved(before: NotebookNode, now: NotebookNode) -> NotebookNode:
    """Put back what a new run of the notebook would change for no reason."""
    code = 0
    for saved, cell in zip(before.cells, now.cells, strict=True):
        if cell.cell_type != "code":
            continue
        code = zlib.crc32(cell.source.encode(), code)
        if is_ignored(cell):
            _keep_measurement(saved, cell, f"{code:08x}")
        else:
            cell.metadata.pop(MEASURED, None)
            _keep_pictures(saved.outputs, cell.outputs)
    return now


def _keep_pictures(saved: Sequence[NotebookNode], drawn: Sequence[NotebookNode]) -> None:
    """Keep the bytes of each picture that looks as it did, and of each explorer that moves so."""
    for before, now in zip(pictures(saved), pictures(drawn), strict=False):
        if not difference(png_of(before), png_of(now)):
            now.data.update({k: before.data[k] for k in (PNG, SVG) if k in before.data})
        old, new = (output.metadata.get(PNG, {}) for output in (before, now))
        if BAKED in old and BAKED in new:
            from .frames import is_same

            if is_same(old[BAKED], new[BAKED]):
                new[BAKED] = old[BAKED]


def _keep_measurement(saved: NotebookNode, cell: NotebookNode, code: str) -> None:
    """Keep what was measured with the same code, if it says the same but for its numbers."""
    same_code = saved.metadata.get(MEASURED) == code
    if same_code and _without_numbers(saved.outputs) == _without_numbers(cell.outputs):
        cell.outputs = saved.outputs
    cell.metadata[MEASURED] = code


def _without_numbers(outputs: Sequence[NotebookNode]) -> str:
    """All that outputs say, without numbers and pictures."""
    texts = json.dumps(outputs, sort_keys=True)
    for output in pictures(outputs):
        texts = texts.replace(output.data[PNG], "")
    return NUMBER.sub("0", texts)
