"""Lines as they were written, and what was found out about them, as data and as sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from .expressions import is_blank

RELATIONS = {
    "=": "=", "≤": "≤", "<=": "≤", "≥": "≥", ">=": "≥", "<": "<", ">": ">", "≈": "≈",
}  # fmt: skip
RIGHT, WRONG, BLANK, UNCHECKED = "right", "wrong", "not attempted", "could not be checked"
PROVED, HELD, FALSE = "proved", "held", "false"  # the three marks
START = ""  # the relation of a line that is not compared with the one before it
UNTOLD = "untold"  # for ≈ in a derivation that was pasted: how near is not said


class Line(NamedTuple):
    """One line as it was written."""

    relation: str
    expr: Any
    reason: str = ""
    allowed: Any = None  # for ≈: (symbol, limit) or the largest difference


def read_line(k: int, parts: Any, pasted: bool = False) -> Line:
    """Line k from (relation, expression, reason); a ValueError says what is amiss."""
    if pasted:
        relation, tex, reason = parts
        return Line(relation, tex, reason, UNTOLD if relation == "≈" else None)
    if is_blank(parts):
        return Line("=", parts)
    if not isinstance(parts, tuple | list) or not 2 <= len(parts) <= 4:
        raise ValueError(f"Line {k}: write (relation, expression, reason).")
    line = Line(*parts)
    if line.relation not in RELATIONS:
        raise ValueError(
            f"Line {k}: the relation is one of =, ≤, ≥, <, >, ≈, not {line.relation!r}."
        )
    line = line._replace(relation=RELATIONS[line.relation])
    if (line.relation == "≈") != (line.allowed is not None):
        raise ValueError(
            f"Line {k}: ≈, and only ≈, has a fourth part: "
            'a limit such as ("t", oo) or the largest difference allowed.'
        )
    return line


@dataclass(frozen=True)
class LineReport:
    """What was found out about one line: never more than is known."""

    verdict: str
    how: str = ""  # "proved", "proved where x ≠ 1", "held in 118 trials"
    sentence: str = ""
    counterexample: dict[str, Any] | None = None
    values: tuple[Any, Any] | None = None  # of the line before and of this line, there

    @property
    def mark(self) -> str:
        """Proved, held or false; for a line that was not judged, its verdict."""
        if self.verdict == RIGHT:
            return PROVED if self.how.startswith(PROVED) else HELD
        return FALSE if self.verdict == WRONG else self.verdict

    def of_line(self, k: int) -> LineReport:
        """The same, and its sentence says of which line it speaks."""
        return replace(self, sentence=self.sentence and f"Line {k} {self.sentence}")


class Refuted(LineReport):
    """A false line; its counterexample is made simple, and told, once somebody asks for it."""

    def __init__(self, tell: Callable[[], LineReport]) -> None:
        vars(self).update(verdict=WRONG, how="counterexample found", _tell=tell)

    @cached_property
    def _report(self) -> LineReport:
        tell: Callable[[], LineReport] = vars(self)["_tell"]
        return tell()

    sentence: str = cached_property(lambda self: self._report.sentence)  # type: ignore[assignment]
    counterexample = cached_property(lambda self: self._report.counterexample)
    values = cached_property(lambda self: self._report.values)

    def of_line(self, k: int) -> LineReport:
        """The same, and its sentence says of which line it speaks."""
        return Refuted(lambda: self._report.of_line(k))


def new_start(read: Any) -> LineReport:
    """The report on a line that begins a new chain: there is nothing to compare it with."""
    if isinstance(read, str):
        return unchecked(f": {read}")
    return LineReport(RIGHT, "begins a new chain")


def unchecked(why: str) -> LineReport:
    """The report on a line about which nothing could be found out."""
    return LineReport(UNCHECKED, sentence=f"could not be checked{why}")


def trials_in_words(count: int) -> str:
    """`1 trial`, `7 trials`."""
    return "1 trial" if count == 1 else f"{count} trials"


@dataclass(frozen=True)
class Report:
    """The verdicts as data; `lines[0]` is the first line after the start."""

    lines: tuple[LineReport, ...]
    start: str = ""  # why the start cannot be read

    @property
    def holds(self) -> bool:
        """Whether there are lines and none of them is false or open."""
        return bool(self.lines) and all(line.verdict == RIGHT for line in self.lines)

    @property
    def first_false(self) -> int | None:
        """The place of the first false line in `lines`."""
        return next((k for k, line in enumerate(self.lines) if line.verdict == WRONG), None)

    @property
    def counterexample(self) -> dict[str, Any] | None:
        """Values at which the first false line fails."""
        return None if self.first_false is None else self.lines[self.first_false].counterexample

    @property
    def sentence(self) -> str:
        """For a feedback card: the first false line, or what is open, or what was found."""
        for verdict in (WRONG, UNCHECKED, BLANK):
            for line in self.lines:
                if line.verdict == verdict:
                    return line.sentence
        ways = [line.how for line in self.lines]
        if not ways:
            return self.start or "There are no lines yet."
        counts = [f"{ways.count(way)} {way}" for way in dict.fromkeys(ways)]
        if len(counts) > 1:
            return f"No line is refuted: {', '.join(counts)}."
        verb = "is " if ways[0].startswith(PROVED) else ""
        return f"{'Every' if len(ways) > 1 else 'The'} line {verb}{ways[0]}."

    @property
    def sentences(self) -> list[str]:
        """All that a reader has to know: of every line in trouble, else the one sentence."""
        troubled = [r.sentence for r in self.lines if r.verdict in (WRONG, UNCHECKED)]
        return troubled or [self.sentence]
