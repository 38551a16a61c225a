"""Solutions of exercises as data: the marks of a solved notebook, and files that are sealed.

An answer in a solved notebook stands between marks,

    ### BEGIN SOLUTION
    alpha, epsilon = ...
    ### STUB
    # alpha, epsilon = ____, ____
    ### END SOLUTION

and after its check a text that begins with **Why.** Students who may see solutions have them in a
sealed file beside the checks: packed, so that nobody reads them by accident. That is no secret.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BEGIN, STUB, END = MARKS = ("### BEGIN SOLUTION", "### STUB", "### END SOLUTION")
WHY = "**Why.**"
NEVER, FULL, DEADLINE, ALWAYS = WHEN = (
    "never",
    "after full points",
    "after the deadline",
    "always",
)
SEALED = ".sealed"


@dataclass(frozen=True)
class Solved:
    """The solution of one exercise: its code, and why it is so."""

    code: str
    why: str


def parts(source: str) -> Iterator[tuple[str | None, str]]:
    """Each line with the mark it stands under, or None outside of a region; marks left out."""
    part: str | None = None
    for line in source.splitlines():
        mark = line.strip()
        if mark in MARKS:
            part = None if mark == END else mark
        else:
            yield part, line


def solved(source: str) -> str:
    """The source of an answer without marks and stub."""
    return "\n".join(line for part, line in parts(source) if part != STUB)


def solutions_in(cells: Sequence[Mapping[str, Any]]) -> dict[str, Solved]:
    """What a solved notebook has, by the name of the exercise."""
    code: dict[str, str] = {}
    why: dict[str, str] = {}
    name = ""
    for cell in cells:
        source, kind = "".join(cell["source"]), str(cell["id"])
        if kind.startswith("answer-"):
            code[kind.removeprefix("answer-")] = solved(source)
        elif kind.startswith("check-"):
            name = kind.removeprefix("check-")
        elif cell["cell_type"] == "markdown" and source.startswith(WHY) and name:
            why[name] = f"{why[name]}\n\n{source}" if name in why else source
        elif cell["cell_type"] == "markdown" and source.startswith("## "):
            name = ""
    return {n.replace("-", "_"): Solved(code[n], why.get(n, "")) for n in code}


def with_wrong_turns(why: str, mistakes: Sequence[str]) -> str:
    """The why; where it names no wrong turns, with the names of the mistakes that are known."""
    names = "; ".join(dict.fromkeys(mistakes))
    if not names or "wrong turn" in why.lower():
        return why
    return f"{why}\n\n*Common wrong turns:* {names}.".strip()


# -- sealed ----------------------------------------------------------------------------------------


def seal(found: Mapping[str, Solved], when: str) -> str:
    """The solutions of a unit as one line that tells nothing at first sight."""
    data = {"when": when, "solutions": {n: [s.code, s.why] for n, s in found.items()}}
    packed = zlib.compress(json.dumps(data, sort_keys=True).encode(), 9)
    return base64.b85encode(packed).decode() + "\n"


def unsealed(text: str) -> tuple[str, dict[str, Solved]]:
    """When they may be shown, and the solutions."""
    data = json.loads(zlib.decompress(base64.b85decode(text.strip())))
    return data["when"], {name: Solved(*both) for name, both in data["solutions"].items()}


def sealed_beside(module: str | Path) -> Path:
    """The file of solutions that belongs to a check module."""
    return Path(module).with_suffix(SEALED)
