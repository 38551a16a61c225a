"""Which two sheets have more in common than chance gives to any pair of their class."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .copies import Seen, Telling
from .records import in_order

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
    if not any(seen.answers for seen in everyone):
        return []
    table = _Table(everyone)
    least = max(ENOUGH, math.log(CHANCE * math.comb(len(everyone), 2) + 1e-9))
    likely: dict[tuple[int, int], float] = {}
    nearly: list[float] = []  # the odds of each with the fourth of the others
    for one, others in enumerate(table.may_have(least - APART)):
        odds = table.odds(one, others)
        nearly.append(np.sort(odds)[-OWNERS] if len(odds) >= OWNERS else -math.inf)
        found = zip(others.tolist(), odds.tolist(), strict=True)
        likely |= {(one, other): o for other, o in found if o >= least and one < other}
    return [
        Pair((everyone[one].student, everyone[other].student), table.alike(one, other))
        for (one, other), odds in likely.items()
        if odds >= APART + max(nearly[one], nearly[other])
    ]


class _Table:
    """Who has written what: for each student and answer a key for each way to compare it."""

    def __init__(self, everyone: Sequence[Seen]) -> None:
        self.everyone = everyone
        self.names = sorted({answer.name for seen in everyone for answer in seen.answers})
        column = {name: place for place, name in enumerate(self.names)}
        size = len(everyone), len(self.names), LEVELS
        self.keys = np.full(size, -1, dtype=np.int32)  # -1 where there is no answer
        numbers: dict[tuple, int] = {}
        for row, seen in enumerate(everyone):
            for answer in seen.answers:
                known = ((answer.name, level, key) for level, key in enumerate(answer.keys))
                mine = [numbers.setdefault(key, len(numbers)) for key in known]
                self.keys[row, column[answer.name]] = mine
        self.tried = self.keys[:, :, 0] >= 0
        self.holders = np.bincount(self.keys[self.tried].ravel())
        of = np.ones(len(self.holders))  # how many tried what the key is an answer to
        for place, many in enumerate(self.tried.sum(axis=0)):
            of[self.keys[self.tried[:, place], place]] = many
        self.shares = (self.holders - 0.5) / of

    def odds(self, one: int, others: np.ndarray) -> np.ndarray:
        """For each other, by how much more likely a copy gives these two sheets than chance does.

        As logarithms: an answer that is alike speaks for a copy, the more so the fewer have it;
        one that is not speaks against. Who copies disguises all of it in about the same way, so
        the answers are compared in one way at a time.
        """
        copied = np.array(COPIED)
        own = -np.log1p(-copied)  # what an answer of one's own takes away
        both = (self.tried[others] & self.tried[one]).sum(axis=1)
        same = self.keys[others] == self.keys[one]
        logs = []
        for level in range(LEVELS):
            shares = self.shares[self.keys[one, :, level]][:, None]
            alike = own + np.log(1 - copied + copied / shares)
            alike[~self.tried[one]] = 0
            logs.append(same[:, :, level] @ alike - np.outer(both, own))
        every = np.concatenate(logs, axis=1)
        return np.logaddexp.reduce(every, axis=1) - math.log(every.shape[1])

    def may_have(self, least: float) -> Iterator[np.ndarray]:
        """For each student the others with whom the odds may be at least these.

        Keys in common say at most their weights. Two reach the sum only with one of their heavier
        keys in common, if what each leaves aside, its lightest, weighs less in all.
        """
        most = np.maximum(0, np.log(1 - COPIED[-1] + COPIED[-1] / self.shares))
        weights = most.copy()
        for level in range(1, LEVELS):
            above, below = (self.keys[:, :, place][self.tried] for place in (level - 1, level))
            weights[below] = most[below] - most[above]
        place = np.empty(len(weights), dtype=int)
        place[np.argsort(-weights, kind="stable")] = np.arange(len(weights))
        heavy, with_key = [], defaultdict(list)
        for row, keys in enumerate(self.keys):
            shared = keys[(keys >= 0) & (self.holders[keys] > 1)]
            shared = shared[np.argsort(place[shared])]
            in_all = np.cumsum(weights[shared][::-1])[::-1]
            heavy.append(shared[in_all >= least].tolist())
            for key in heavy[-1]:
                with_key[key].append(row)
        everyone = np.arange(len(self.keys))
        for row, keys in enumerate(heavy):
            found = everyone if least <= 0 else _together([with_key[key] for key in keys])
            yield found[found != row]

    def alike(self, one: int, other: int) -> list[Telling]:
        """The answers that these two have in common, that which says most first."""
        same = (self.keys[one] == self.keys[other]) & self.tried[one][:, None]
        shares = np.where(same, self.shares[self.keys[one]], 1.0).min(axis=1)
        answers = {answer.name: answer for answer in self.everyone[one].answers}
        columns = [c for c in np.argsort(shares, kind="stable") if shares[c] < 1]
        return [answers[self.names[column]] for column in columns]


def _together(lists: Sequence[Sequence[int]]) -> np.ndarray:
    return np.unique(np.concatenate([np.array(rows) for rows in lists] or [np.empty(0, dtype=int)]))
