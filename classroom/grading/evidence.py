"""What the student's own file says of a result: what was typed, and the verdicts saved in it."""

from __future__ import annotations

import re
from dataclasses import replace

from selfcheck.feedback import Outcome

from ..roles import Role, id_of
from .assembly import bound
from .contents import BLANK
from .copies import tokens
from .records import COMMENTED, NEEDS_A_BLANK, UNFINISHED, Result
from .submitted import Submitted

IN_A_TEXT = "What you typed stands in a text cell, so it was not run. Make it a code cell."
VARIES = re.compile(  # from run to run: in which cell and line, a path, an address, a time, a size
    r"\([^()\s]*, line \d+\)|, in line \d+\b|(?<!\S)\S*/\S*|\b\d[\w.+-]*"
)
MALFORMED = re.compile(  # IPython has its own words for an open bracket: incomplete input
    r"\b(?:Syntax|Indentation|Tab)Error: .*?(?:\([^()\s]*, line \d+\)|, in line \d+)"
)
LONGEST = 190  # characters of an error that are compared; what is said of it is cut as well
NOTHING = ("", "pass", "...")
COMMENT = re.compile(r"^\s*#+ ?", re.MULTILINE)


def with_evidence(result: Result, submitted: Submitted, stub: str) -> Result:
    """The result with what the file says; the stub is what the sheet gave for the answer."""
    if result.outcome == Outcome.NOT_ATTEMPTED and not result.earned:  # else it names what is blank
        text = submitted.texts.get(id_of(Role.ANSWER, result.name))
        if text and not result.answer.strip():
            result = replace(result, answer=text[:20_000])
            says = IN_A_TEXT
        else:
            says = _what_is_typed(result.answer, stub)
        if says:
            result = replace(result, outcome=str(Outcome.UNCHECKED), says=says)
    is_open = result.outcome == Outcome.UNCHECKED
    seen = submitted.shown.get(result.name)
    if seen and seen.points >= seen.earned > result.earned:
        # where it could not be checked, nothing else tells what the answer earns
        is_certain = not is_open or result.says in (UNFINISHED, COMMENTED)
        if not (is_certain and _is_old(result.name, submitted, stub)):
            return replace(result, shown=(seen.earned, seen.points))
    return replace(result, is_as_shown=is_open and _shows_as_much(result, submitted, stub))


def _shows_as_much(result: Result, submitted: Submitted, stub: str) -> bool:
    """Does the file show a verdict on this answer, or the very error?"""
    seen = submitted.shown.get(result.name)
    if seen and seen.points >= seen.earned and not _is_old(result.name, submitted, stub):
        return True
    says = _plain(result.says)
    errors = (error if ": " in error else f"{error}." for error in submitted.errors)
    return any(_plain(error[:LONGEST]) in says for error in errors)


def _plain(text: str) -> str:
    """An error in the words that are the same in every run: without places and numbers."""
    return " ".join(VARIES.sub(" ", MALFORMED.sub("SyntaxError", text)).split())


def _what_is_typed(typed: str, stub: str) -> str:
    """Why there is nothing to check, though something was typed; empty where nothing was."""
    if tokens(typed) not in (*NOTHING, tokens(stub)):
        return UNFINISHED if BLANK in tokens(typed) else NEEDS_A_BLANK
    commented = COMMENT.sub("", typed)
    is_answer = bound(commented) & bound(stub) and tokens(commented) != tokens(stub)
    return COMMENTED if is_answer and not tokens(typed) else ""


def _is_old(exercise: str, submitted: Submitted, stub: str) -> bool:
    """Is the saved verdict on an earlier answer than the one above it, which was run after it?"""
    seen = submitted.shown[exercise]
    above = zip(submitted.cells[: seen.place], submitted.counts, strict=False)
    was_run = (cell.source for cell, count in above if count > submitted.counts[seen.place])
    return any(bound(source) & bound(stub) for source in was_run)
