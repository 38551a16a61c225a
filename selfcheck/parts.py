"""The parts of an exercise: each is judged by itself, and the verdicts are put together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from .blanks import has_blank
from .display import in_words
from .feedback import Outcome
from .following import FOLLOWS
from .formula import pretty
from .kinds import FormulaAnswer, Kind, received
from .refusals import NotAttempted, NotFinite, Unreadable
from .sampling import trial
from .verdicts import Verdict, not_finite

BLANK = "Replace `____` with your answer and run the cell."


@dataclass(frozen=True)
class Part:
    """A part of an exercise: the answers that it needs by name, and the check of it."""

    name: str
    points: int
    judge: Callable[..., Verdict]
    needs: tuple[str, ...]
    may_use: tuple[str, ...] = ()  # given if they can be read; the judge has a default for them


class MissingAnswer:
    """An answer that is blank or cannot be read: whatever uses it is told why."""

    reason: NotAttempted | Unreadable

    def __init__(self, reason: NotAttempted | Unreadable) -> None:
        self.__dict__["reason"] = reason

    def _refuse(self, *_: Any) -> NoReturn:
        raise self.reason

    __call__ = __getattr__ = __getitem__ = __iter__ = __len__ = __bool__ = __float__ = _refuse
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = __sub__ = __mul__ = _refuse
    __radd__ = __rsub__ = __rmul__ = __truediv__ = __rtruediv__ = __abs__ = _refuse
    __hash__ = object.__hash__


def read_one(kind: Kind, answer: Any, name: str) -> Any:
    """The answer as the check takes it; `MissingAnswer` where it is blank or cannot be read."""
    try:
        if isinstance(answer, NotAttempted | Unreadable):  # the grader found no value, and why
            raise answer
        if has_blank(answer):
            answer = _up_to_a_blank(kind, answer)
        return received(kind, answer, name)
    except (NotAttempted, Unreadable) as reason:
        return MissingAnswer(reason)


def _up_to_a_blank(kind: Kind, answer: Any) -> Any:
    """The lines of a derivation before the first blank one; anything else is not attempted."""
    if not getattr(kind, "goes_by_lines", False) or not isinstance(answer, list | tuple):
        raise NotAttempted
    lines = [*itertools.takewhile(lambda line: not has_blank(line), answer)]
    if not lines:
        raise NotAttempted
    return lines


def verdict_on_part(part: Part, given: dict[str, Any], seed: int) -> Verdict:
    """The verdict on one part, with the answers that it needs and those that it may use."""
    more = {n: given[n] for n in part.may_use if not isinstance(given[n], MissingAnswer)}
    return settled(part.judge, [given[name] for name in part.needs], seed, **more)


def settled(judge: Callable[..., Verdict], answers: list[Any], seed: int, **more: Any) -> Verdict:
    """The verdict, whatever happens on the way; what is drawn depends on the seed alone."""
    try:
        reasons = [answer.reason for answer in answers if isinstance(answer, MissingAnswer)]
        for reason in sorted(reasons, key=lambda r: isinstance(r, Unreadable)):
            raise reason
        with trial(seed):
            return _asking_for_symbols(judge(*answers, **more), answers)
    except NotAttempted:
        return Verdict(Outcome.NOT_ATTEMPTED, BLANK)
    except Unreadable as why:
        return Verdict(Outcome.UNCHECKED, str(why), place=why.place)
    except NotFinite as why:
        return not_finite(why)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return failed(error)


def _asking_for_symbols(verdict: Verdict, answers: list[Any]) -> Verdict:
    """A wrong formula without a symbol that it needs: perhaps the symbol was given a value."""
    if verdict.outcome is not Outcome.WRONG or verdict.pieces:
        return verdict
    asks = ""
    for answer in answers:
        if isinstance(answer, FormulaAnswer) and answer.lacks:
            names = " and no ".join(map(pretty, answer.lacks))
            one = len(answer.lacks) == 1
            written = "it, it was given a value" if one else "them, they were given values"
            asks += f" There is no {names} in your {answer.name}; if you wrote {written} above."
    return replace(verdict, says=verdict.says + asks)


def together(pieces: dict[str, Verdict], earned: int) -> Verdict:
    """One verdict of those on the parts, some without all points: these speak, and what follows."""
    outcomes = {piece.outcome for piece in pieces.values()}
    order = (Outcome.WRONG, Outcome.UNCHECKED, Outcome.NOT_ATTEMPTED)
    outcome = next(o for o in order if o in outcomes)
    if outcomes == {Outcome.NOT_ATTEMPTED}:
        return Verdict(outcome, BLANK)
    says = [
        in_a_sentence(piece, name)
        for name, piece in pieces.items()
        if piece.outcome is not Outcome.RIGHT or piece.says.startswith(FOLLOWS)
    ]
    told = undecided(pieces)
    return Verdict(outcome, " ".join(says), earned, pieces=pieces, undecided=told)


def undecided(pieces: dict[str, Verdict]) -> str:
    """What no trial decides, of all parts."""
    return " ".join(piece.undecided for piece in pieces.values() if piece.undecided)


def points_of(
    parts: Sequence[Part], pieces: dict[str, Verdict], earns: Sequence[int] | None
) -> int:
    """The points of the parts; with `earns`, those for as many right parts."""
    if earns is not None:
        return earns[sum(p.outcome is Outcome.RIGHT for p in pieces.values())]
    return sum(
        part.points
        if pieces[part.name].outcome is Outcome.RIGHT
        else int(pieces[part.name].earned or 0)
        for part in parts
    )


def in_a_sentence(piece: Verdict, name: str) -> str:
    """What is said of a part, after the part's name."""
    return f"{name}: {_after_colon(piece)}" if name else piece.says


def _after_colon(piece: Verdict) -> str:
    if piece.outcome is Outcome.NOT_ATTEMPTED:
        return "still blank."
    first, _, _ = piece.says.partition(" ")
    lowered = first in ("With", "At", "For", "In", "After", "From", "When")
    return piece.says[:1].lower() + piece.says[1:] if lowered else piece.says


def failed(error: BaseException) -> Verdict:
    """The check's own fault, which must not hit the student."""
    says = f"The check itself failed ({in_words(error)}). Please report this."
    return Verdict(Outcome.UNCHECKED, says)
