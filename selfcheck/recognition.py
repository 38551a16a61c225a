"""Which known mistake an answer makes: the one whose example comes to the same in the check.

A name is earned by what the check saw. The example fails at the place where the answer failed, with
the same numbers there; and for functions, at all other cases of the check it gives the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from .compare import same_entries
from .feedback import NamedMistake, Outcome
from .kinds import Function
from .sampling import Compared
from .verdicts import Seen, Verdict

if TYPE_CHECKING:
    from .exercises import Exercise


@dataclass(frozen=True, eq=False)
class Misconception:
    """A well-known mistake: an example of it as answers, and what to say to those who make it.

    An answer is recognized when it is equivalent to the example in what the check sees or, where
    the mistake has many faces, when the predicate `when` (called with the read answers) says so.
    Either way the example has to explain the failure: it is refuted at the same instance, and there
    it gives the same finite value (which `when` may waive). Only a mistake whose sign is that
    nothing finite comes out says `not_finite=True`.
    """

    name: str
    example: tuple[Any, ...]
    explanation: str
    when: Callable[..., bool] | None = None
    part: str = ""  # it belongs to this part alone, and `when` gets the answers of that part
    not_finite: bool = False


class Recognized(TypedDict):
    """How a mistake that a unit can compute is known: `exercise.mistake(…, **_computed(…))`."""

    example: tuple[Any, ...]
    when: Callable[..., bool]


class Failure(NamedTuple):
    """A part that is wrong, with the answers to all parts and the seed."""

    part: str
    verdict: Verdict
    answers: list[Any]
    seed: int


class Recognition:
    """Recognizes the known mistakes of one exercise, and remembers what their examples came to."""

    def __init__(self, exercise: Exercise) -> None:
        self._exercise = exercise
        self._examples_read: dict[Misconception, list[Any]] = {}
        self._surveys: dict[tuple[Any, ...], list[Compared]] = {}  # of examples
        self._verdicts: dict[tuple[Misconception, int], Verdict] = {}  # on examples, by seed

    def mistakes(
        self, answers: list[Any], pieces: dict[str, Verdict], seed: int
    ) -> tuple[NamedMistake, ...]:
        """For each wrong part, the mistakes whose example this is, else one by predicate."""
        found: dict[str, NamedMistake] = {}
        for part, verdict in pieces.items():
            if verdict.outcome is Outcome.WRONG:
                for named in self._of_part(Failure(part, verdict, answers, seed)):
                    found.setdefault(named.name, named)
        return tuple(found.values())

    def _of_part(self, failure: Failure) -> list[NamedMistake]:
        """The mistakes that explain why this part is wrong."""
        part, answers = failure.part, failure.answers
        known = [m for m in self._exercise.misconceptions if m.part in ("", part)]
        found = [m for m in known if self._explains(m, failure)]
        found = [m for m in found if _holds(self._is_example, m, failure)]
        if not found:
            fitting = (m for m in known if m.when and _holds(self._fits_predicate, m, answers))
            found = [*islice((m for m in fitting if self._may_explain(m, failure)), 1)]
        return [
            NamedMistake(m.name, m.explanation, part, instead=k > 0) for k, m in enumerate(found)
        ]

    def _is_example(self, m: Misconception, failure: Failure) -> bool:
        """Is this answer equivalent to the example, in all that the part needs?

        Functions are, if at every case of the loop in which the answer failed the check compares
        the same values of both; where it does not loop over cases, their samples have to do.
        """
        names = {*self._exercise.needs(failure.part)} - self._exercise.optional
        there = zip(self._exercise.kinds.items(), failure.answers, self._example(m), strict=True)
        functions = []
        for (name, kind), a, b in there:
            if name in names and isinstance(kind, Function):
                functions.append((kind, a, b))
            elif name in names and not kind.same(a, b):
                return False
        if functions and (compared := self._comes_to_the_same(m, failure)) is not None:
            return compared
        return all(not kind.samples or kind.same(a, b) for kind, a, b in functions)

    def _fits_predicate(self, m: Misconception, answers: list[Any]) -> bool:
        """Does the predicate of the mistake hold for these answers?"""
        given = dict(zip(self._exercise.kinds, answers, strict=True))
        return bool(m.when and m.when(*(given[name] for name in self._exercise.needs(m.part))))

    def _explains(self, m: Misconception, failure: Failure) -> bool:
        """Does the example fail where the answer failed, and with the same value?"""
        seen = failure.verdict.seen
        if seen is None:  # the check does not tell where; its samples have to do
            return self._has_samples(failure.part)
        other = self._seen_there(m, failure, seen)
        return other is not None and seen.is_like(other, m.not_finite)

    def _comes_to_the_same(self, m: Misconception, failure: Failure) -> bool | None:
        """Does the check compare the same values of both? None if it compares none."""
        if not failure.verdict.seen or not (place := failure.verdict.seen.place):
            return None
        given = self._compared(failure.answers, failure, place[0])
        key = m, failure.part, failure.seed, place[0]
        if key not in self._surveys:
            self._surveys[key] = self._compared(self._example(m), failure, place[0])
        known = self._surveys[key]
        if not given and not known:
            return None
        return len(known) == len(given) and all(
            same_entries(a.yours, b.yours, or_nowhere=True)
            for a, b in zip(given, known, strict=True)
        )

    def _compared(self, answers: list[Any], failure: Failure, loop: int) -> list[Compared]:
        """All that the check compares in the loop over cases in which the answer failed."""
        read = dict(zip(self._exercise.kinds, answers, strict=True))
        every = self._exercise.survey(read, failure.part, failure.seed)
        return [one for one in every if one.place and one.place[0] == loop]

    def _may_explain(self, m: Misconception, failure: Failure) -> bool:
        """Does the example fail where the answer failed, with whatever value?"""
        seen = failure.verdict.seen
        if seen is None:
            return True
        other = self._seen_there(m, failure, seen)
        return other is not None and (seen.is_finite or m.not_finite)

    def _seen_there(self, m: Misconception, failure: Failure, seen: Seen) -> Seen | None:
        """What was seen of the example, if it was refuted where the answer was."""
        verdict = self._verdict_on(m, failure.seed)
        other = (verdict.pieces or {"": verdict}).get(failure.part)
        if other is None or other.outcome is not Outcome.WRONG or other.seen is None:
            return None
        return other.seen if seen.is_where(other.seen) else None

    def _verdict_on(self, m: Misconception, seed: int) -> Verdict:
        """The verdict on a mistake's example."""
        if (m, seed) not in self._verdicts:
            self._verdicts[m, seed] = self._exercise.verdict(self._example(m), seed)
        return self._verdicts[m, seed]

    def _example(self, m: Misconception) -> list[Any]:
        """The answers of an example; read once, so that what was counted for them is kept."""
        if m not in self._examples_read:
            self._examples_read[m] = self._exercise.read(m.example)
        return self._examples_read[m]

    def _has_samples(self, part: str) -> bool:
        """Can all functions among the answers of this part be told apart by their samples?"""
        return all(kind.samples for kind in self._functions(part))

    def _functions(self, part: str) -> list[Function]:
        kinds = [self._exercise.kinds[name] for name in self._exercise.needs(part)]
        return [kind for kind in kinds if isinstance(kind, Function)]


def _holds(predicate: Callable[..., bool], *arguments: Any) -> bool:
    try:
        return bool(predicate(*arguments))
    except Exception:  # an answer that cannot even be compared is not this mistake
        return False
