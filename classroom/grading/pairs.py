"""Which two sheets have more in common than chance gives to any pair of their class."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from .copies import Seen, Telling
from .records import in_order

if TYPE_CHECKING:
    from .odds import Odds

COPIED = (0.4, 0.65, 0.95)  # the share of answers that one may have from the other
LEVELS = 4  # ways to compare two answers, from what many could share to what fewer do
ENOUGH = 5.0  # logarithm of the odds for a copy, from which on it is told;
CHANCE = 1 / 2  # in a large class, also of that for one among so many pairs as it has
OWNERS = 4  # students, beyond which nothing is theirs alone:
APART = 4.5  # so far above the odds that either has with a fourth


class Pair(NamedTuple):
    """Two students with answers that are alike, and nobody else has nearly as many."""

    students: tuple[str, str]
    answers: list[Telling]  # that which says most first

    @property
    def names(self) -> list[str]:
        """The exercises, that which says most first."""
        return [answer.name for answer in self.answers]

    def sentence(self, other: str) -> str:
        """What a person is told about it."""
        numbers = ", ".join(sorted((a.number for a in self.answers), key=in_order))
        return (
            f"Alike with {other} in {numbers}, whatever the names, the comments and the order of "
            "lines; hardly anybody else in this class writes all of this so."
        )


def pairs(everyone: Sequence[Seen]) -> list[Pair]:
    """The pairs that have more in common than chance would give to any pair of this class."""
    least = max(ENOUGH, math.log(CHANCE * math.comb(len(everyone), 2) + 1e-9))
    numbered = Numbered(everyone)
    likely: dict[tuple[int, int], float] = {}
    nearly: list[float] = []  # the odds of each with the fourth of the others
    for one, others in enumerate(numbered.may_have(least - APART)):
        found = numbered.table.odds(one, others) if others else []
        odds = dict(zip(others, found, strict=True))
        nearly.append(sorted(odds.values())[-OWNERS] if len(odds) >= OWNERS else -math.inf)
        likely |= {(one, other): o for other, o in odds.items() if o >= least and one < other}
    return [
        Pair((everyone[one].student, everyone[other].student), numbered.alike(one, other))
        for (one, other), odds in likely.items()
        if odds >= APART + max(nearly[one], nearly[other])
    ]


class Numbered:
    """Who has written what: a number for each key of an answer; answers alike are there once."""

    def __init__(self, everyone: Sequence[Seen]) -> None:
        self.everyone = everyone
        numbers: dict[tuple[str, int, bytes], int] = {}
        answers = Counter(answer for seen in everyone for answer in seen.answers)
        tried: Counter[str] = Counter()
        holders: Counter[int] = Counter()
        self.keys: dict[Telling, list[int]] = {}
        for answer, many in answers.items():
            keys = ((answer.name, level, key) for level, key in enumerate(answer.keys))
            self.keys[answer] = [numbers.setdefault(key, len(numbers)) for key in keys]
            tried[answer.name] += many
            holders.update(dict.fromkeys(self.keys[answer], many))
        self.holders = [holders[n] for n in range(len(numbers))]
        self.shares = [(holders[n] - 0.5) / tried[name] for (name, _, _), n in numbers.items()]

    @cached_property
    def table(self) -> Odds:
        """The same for many pairs at once, by NumPy, which many a class does not need."""
        from .odds import Odds

        return Odds(self)

    def may_have(self, least: float) -> Iterator[list[int]]:
        """For each student the others with whom the odds may be at least these, if above 0.

        Keys in common say at most their weights. Two reach the sum only with one of their heavier
        keys in common, if what each leaves aside, its lightest, weighs less in all.
        """
        most = [max(0.0, math.log(1 - COPIED[-1] + COPIED[-1] / share)) for share in self.shares]
        weights = most.copy()
        for above, below in itertools.chain(*map(itertools.pairwise, self.keys.values())):
            weights[below] = most[below] - most[above]
        heavy = []
        with_key: dict[int, list[int]] = defaultdict(list)
        for place, seen in enumerate(self.everyone):
            shared = [n for a in seen.answers for n in self.keys[a] if self.holders[n] > 1]
            shared.sort(key=lambda n: (weights[n], n))
            in_all = itertools.accumulate(weights[n] for n in shared)
            heavy.append([n for n, sum_ in zip(shared, in_all, strict=True) if sum_ >= least])
            for key in heavy[-1]:
                with_key[key].append(place)
        for place, keys in enumerate(heavy):
            yield sorted({other for key in keys for other in with_key[key]} - {place})

    def alike(self, one: int, other: int) -> list[Telling]:
        """The answers that these two have in common, that which says most first."""
        theirs = {n for answer in self.everyone[other].answers for n in self.keys[answer]}
        found = []
        for answer in self.everyone[one].answers:
            if both := theirs.intersection(self.keys[answer]):
                found.append((min(self.shares[n] for n in both), answer.name, answer))
        return [answer for share, _, answer in sorted(found) if share < 1]
