"""What the submissions of a class have in common: files, answers, ids. A person should ask why.

None of it changes a grade. Short answers are alike by themselves, so only what is long enough to be
a copy is told.
"""

from __future__ import annotations

import functools
import io
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from selfcheck.feedback import Outcome

from .records import Graded

ENOUGH = 80  # tokens in common, below which two people may well write the same
SHOWN = 3
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER}


def noted(everyone: Sequence[Graded], ids: Mapping[str, str] | None = None) -> list[Graded]:
    """Those whose remarks change; `ids` says whose each id is, where there is a roster."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for graded, others in _same(everyone, lambda g: g.content if _tried(g) else ""):
        reasons[graded.student].append(f"The file is byte for byte that of {_names(others)}.")
    same_files = {student for student, told in reasons.items() if told}
    for student, sentence in _same_answers([g for g in everyone if g.student not in same_files]):
        reasons[student].append(sentence)
    for student, sentence in _same_ids(everyone, ids or {}):
        reasons[student].append(sentence)
    wanted = {g.student: tuple(reasons[g.student]) for g in everyone}
    return [replace(g, alike=wanted[g.student]) for g in everyone if g.alike != wanted[g.student]]


def _tried(graded: Graded) -> bool:
    return any(result.outcome != Outcome.NOT_ATTEMPTED for result in graded.results)


def _same(
    everyone: Iterable[Graded], of: Callable[[Graded], str | None]
) -> Iterable[tuple[Graded, list[str]]]:
    """Each submission with those who have the same of something; the empty text is nothing."""
    groups: dict[str, list[Graded]] = defaultdict(list)
    for graded in everyone:
        if key := of(graded):
            groups[key].append(graded)
    for group in groups.values():
        names = [graded.student for graded in group]
        for graded in group if len(group) > 1 else ():
            yield graded, [name for name in names[: SHOWN + 2] if name != graded.student]


def _same_answers(everyone: Sequence[Graded]) -> Iterable[tuple[str, str]]:
    """Whose answers, together, are long enough and the same as another's, token for token."""
    if len(everyone) < 2:
        return
    holders: dict[tuple[str, str], list[str]] = defaultdict(list)
    answers: dict[str, list[tuple[str, str, int]]] = {}
    for graded in everyone:
        mine = [(r.number, *tokens(r.answer)) for r in graded.results if r.outcome in TELLING]
        answers[graded.student] = mine
        for number, text, _ in mine:
            holders[number, text].append(graded.student)
    for student, mine in answers.items():
        common: Counter[str] = Counter()
        for number, text, length in mine:
            for other in holders[number, text][:50]:
                common[other] += length if other != student else 0
        found = [other for other, length in common.most_common(SHOWN + 1) if length >= ENOUGH]
        if found:
            first = {number for number, text, _ in mine if found[0] in holders[number, text][:50]}
            numbers = ", ".join(sorted(first))
            yield (
                student,
                f"The answers to {numbers} are, token for token, those of {_names(found)}.",
            )


TELLING = {Outcome.RIGHT, Outcome.WRONG, Outcome.UNCHECKED}


@functools.lru_cache
def tokens(answer: str) -> tuple[str, int]:
    """An answer without comments, blank lines and spaces, and how many tokens it has."""
    try:
        reader = io.StringIO(answer).readline
        words = [t.string for t in tokenize.generate_tokens(reader) if t.type not in SKIPPED]
    except (tokenize.TokenError, SyntaxError, ValueError):
        words = answer.split()
    words = [word.strip() for word in words if word.strip()]
    return " ".join(words), len(words)


def _same_ids(everyone: Sequence[Graded], ids: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Ids in notebooks that are another's, by the roster or by another notebook."""
    for graded in everyone:
        written = _written(graded)
        owner = ids.get(written or "")
        if owner and owner != graded.student and written != graded.student_id:
            yield graded.student, f"The student id {written} in the notebook is that of {owner}."
    for graded, others in _same(everyone, _written):
        yield (
            graded.student,
            f"The student id {_written(graded)} is in the notebook of another student too. "
            f"Compare {_names(others)}.",
        )


def _written(graded: Graded) -> str | None:
    return graded.written_id if graded.written_id is not None else graded.student_id


def _names(names: Sequence[str]) -> str:
    more = " and others" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
