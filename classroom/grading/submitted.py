"""A notebook that nobody vouches for: its code cells, and the verdicts that are saved in it.

Only sources count, so whatever makes files large is cut out before anything is built: outputs,
attachments, the state of widgets. Of outputs the short ones stay, for among them are the verdicts
that the student saw at home.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from selfcheck.feedback import Outcome
from selfcheck.files import CourseError

from ..marks import INSTRUCTOR_ONLY

FORMATS = (2, 3, 4)  # up to format 3 cells lie in worksheets, and a source is called an input
NUMBERS = {f"{number}{end}": number for number in FORMATS for end in ("", ".0")}
MOST_PARTS, MOST_VALUES, MOST_CELLS = 300_000, 2_000_000, 2_000
MOST_TOKENS = 6_000_000  # brackets and texts of a whole file, most of them printed lines
MOST_KEPT = 20 << 20  # bytes that are left when what is large is cut out
SMALL = 300_000  # bytes of a file that is read as it is
LONGEST_OUTPUT = 50_000  # bytes; a verdict has a few hundred
MOST_OUTPUT = 5 << 20  # bytes of all short ones of a cell
LONGEST_TEXT = 1 << 20  # bytes of a line, in a file that would be too large: a picture in a text
CUT = (b'"attachments"', b'"widgets"')
TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
TOKEN = re.compile(TEXT + rb"|[\[\]{}]", re.DOTALL)
OTHERS = {  # what is handed in under the name of a notebook, by its first bytes
    b"PK\3\4": "a zip",
    b"\x1f\x8b": "packed by gzip",
    b"%PDF": "a PDF",
    b"<!DOCTYPE": "a web page",
    b"<html": "a web page",
    b"version https://git-lfs": "a pointer of Git LFS; `git lfs pull` gets the file",
}
COLON = re.compile(rb"\s*:")
HEADLINES = "|".join(["partly right", *map(str, Outcome)])
VERDICT = re.compile(  # of a card, and of a line of the scoreboard that is about one
    rf"^[\w.]+ +(\w{{1,80}})(?:: (?:{HEADLINES}),| ) *(\d{{1,4}}) of (\d{{1,4}})"
    r"(?!\d| +(?:not run|no verdict) yet)",
    re.M,
)


class Cell(NamedTuple):
    """A code cell; the id is empty where a notebook has none."""

    id: str
    source: str


class Shown(NamedTuple):
    """The points that a saved verdict shows."""

    earned: int
    points: int
    place: int  # of the cell that has it


@dataclass(frozen=True)
class Submitted:
    """What a notebook holds that grading needs."""

    cells: list[Cell]
    shown: dict[str, Shown] = field(default_factory=dict)  # by exercise, the last one that was run
    texts: dict[str, str] = field(default_factory=dict)  # of cells that are no code, by their ids
    counts: list[int] = field(default_factory=list)  # of the cells, by which they were run in order
    errors: frozenset[str] = frozenset()  # that are saved below cells, such as `KeyError: 'x'`


def submitted_cells(data: bytes) -> list[Cell]:
    """The code cells of a notebook file; CourseError says what is wrong."""
    return read_submitted(data).cells


def read_submitted(data: bytes) -> Submitted:
    """What a notebook file holds; CourseError says what is wrong with it.

    What is for instructors only is left out.
    """
    every = [cell for cell in _cells(_notebook(data)) if not _is_note(cell)]
    code = [cell for cell in every if cell.get("cell_type") == "code"]
    if not code:
        raise CourseError("the notebook has no code cells.")
    if len(code) > MOST_CELLS:
        raise CourseError(f"the notebook has {len(code)} code cells; {MOST_CELLS} is the limit.")
    cells = [
        Cell(_text(cell.get("id", "")), _source(cell.get("source", cell.get("input"))))
        for cell in code
    ]
    others = [cell for cell in every if cell.get("cell_type") != "code"]
    texts = {_text(cell.get("id")): _source(cell.get("source")) for cell in others}
    counts = [_count(cell) for cell in code]
    errors = frozenset(error for cell in code for error in _errors(cell))
    return Submitted(cells, _last_verdicts(code, counts), texts, counts, errors)


def _notebook(data: bytes) -> dict:
    if what := next((what for begin, what in OTHERS.items() if data.startswith(begin)), ""):
        raise CourseError(f"the file is no notebook: it is {what}.")
    try:
        if (encoding := json.detect_encoding(data)) not in ("utf-8", "utf-8-sig"):
            data = data[: 4 * MOST_KEPT].decode(encoding).encode()
        data = _lean(data.removeprefix(b"\xef\xbb\xbf"))
        _refuse_too_many_parts(data)
        # what stands behind a whole notebook is none of it
        notebook, _ = json.JSONDecoder(strict=False).raw_decode(data.decode().lstrip())
    except UnicodeDecodeError:
        raise CourseError("the file is no notebook: it is not in UTF-8.") from None
    except (ValueError, RecursionError):
        why = "it is not valid JSON" if data.strip() else "it is empty"
        if re.search(rb"^<{7} ", data, re.MULTILINE):
            why = "it has the marks of a merge that was not finished (<<<<<<<)"
        raise CourseError(f"the file is no notebook: {why}.") from None
    if not isinstance(notebook, dict):
        raise CourseError("the file is no notebook: there is no object in it.")
    return notebook


def _lean(data: bytes) -> bytes:
    """The same without what is large and not needed: `null` stands in its place."""
    if len(data) <= SMALL:
        return data
    lean = _without(data, len(data))
    if len(lean) > MOST_KEPT:
        lean = _without(lean, LONGEST_TEXT)
    if len(lean) > MOST_KEPT:
        size, most = len(lean) >> 20, MOST_KEPT >> 20
        raise CourseError(f"the cells have {size} MB without outputs; {most} MB is the limit.")
    return lean


def _without(data: bytes, longest: int) -> bytes:
    """The same without large outputs and their like, and without texts that are longer."""
    cuts: list[tuple[int, int]] = []
    key, open_ = b"", []  # the name of what comes next; where each bracket began, and its name
    for number, token in enumerate(TOKEN.finditer(data)):
        if number > MOST_TOKENS:
            raise CourseError("the file has far more parts than a notebook; it was not read.")
        start = token.start()
        if data[start] == 0x22:  # a text, which may be a name
            key = token[0] if COLON.match(data, token.end()) else b""
            if token.end() - start > longest:
                cuts.append((start, token.end()))
            continue
        if data[start] in b"[{":
            open_.append((key, start))
        elif open_:
            name, begin = open_.pop()
            if _is_large(name, open_[-1][0] if open_ else b"", start - begin):
                while cuts and cuts[-1][0] > begin:
                    cuts.pop()  # it is within this one
                cuts.append((begin, start + 1))
        key = b""
    kept, done = [], 0
    for begin, end in cuts:
        kept += [data[done:begin], b"null"]
        done = end
    return b"".join([*kept, data[done:]])


def _is_large(name: bytes, within: bytes, size: int) -> bool:
    """Is what has this name, or lies within that, too large to be worth keeping?"""
    if name == b'"outputs"':
        return size > MOST_OUTPUT
    is_long = size > LONGEST_OUTPUT
    return name in CUT or (is_long and (name == b'"metadata"' or within == b'"outputs"'))


def _refuse_too_many_parts(data: bytes) -> None:
    """A few megabytes of empty cells would take half a gigabyte to read."""
    if len(data) > MOST_PARTS:
        bare = re.sub(TEXT, b"", data, flags=re.DOTALL)
        parts = bare.count(b"{") + bare.count(b"[")
        if parts > MOST_PARTS or bare.count(b",") > MOST_VALUES:
            raise CourseError("the file has far more parts than a notebook; it was not read.")


def _cells(notebook: dict) -> list[dict]:
    """The cells, wherever the format has them."""
    version = notebook.get("nbformat", 4 if notebook.get("cells") else None)
    if type(version) not in (int, float, str) or str(version) not in NUMBERS:
        shown = version if type(version) is int and 0 <= version < 100 else "unknown"
        raise CourseError(f"the notebook has format version {shown}; 2 to 4 can be read.")
    sheets = [notebook] if NUMBERS[str(version)] == 4 else notebook.get("worksheets")
    lists = [sheet.get("cells") for sheet in _dicts(sheets)]
    cells = [cell for cells in lists for cell in _dicts(cells)]
    if not cells and (any(lists) or not any(isinstance(cells, list) for cells in lists)):
        raise CourseError("the notebook has no list of cells.")
    return cells


def _dicts(values: Any) -> list[dict]:
    return [v for v in values if isinstance(v, dict)] if isinstance(values, list) else []


def _count(cell: dict) -> int:
    """The number that a cell got when it was run; 0 where it has none."""
    count = cell.get("execution_count", cell.get("prompt_number"))
    return count if type(count) is int else 0


def _last_verdicts(code: list[dict], counts: list[int]) -> dict[str, Shown]:
    """The verdict of each exercise that was run last: by the counts of the cells, then by place."""
    found: dict[str, Shown] = {}
    for place in sorted(range(len(code)), key=counts.__getitem__):
        for text in _texts(code[place]):
            for name, earned, points in VERDICT.findall(text):
                found[name] = Shown(int(earned), int(points), place)
    return found


def _texts(cell: dict) -> Iterator[str]:
    for output in _dicts(cell.get("outputs")):
        data = output.get("data")
        plain = data.get("text/plain") if isinstance(data, dict) else output.get("text")
        yield _source(plain)[:LONGEST_OUTPUT]


def _errors(cell: dict) -> Iterator[str]:
    for output in _dicts(cell.get("outputs")):
        if name := _text(output.get("ename")):
            yield " ".join(f"{name}: {_text(output.get('evalue'))}".split()).removesuffix(":")


def _is_note(cell: dict) -> bool:
    metadata = cell.get("metadata")
    return isinstance(metadata, dict) and INSTRUCTOR_ONLY in str(metadata.get("tags"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _source(value: Any) -> str:
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return _text(value)
