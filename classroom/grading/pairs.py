"""Which two sheets have more in common than chance gives to any pair of their class."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .copies import Seen, Telling
from .records import in_order

COPIED = (0.4, 0.65, 0.95)  # the share of answers that one may have from the other
LEVELS = 3  # of comparing two answers, from what many could share to what fewer do
ENOUGH = 1.5  # logarithm of the odds for a copy, from which on it is told;
CHANCE = 1 / 600  # in a large class, also of that for one among so many pairs as it has
OWNERS = 4  # students, beyond which nothing is theirs alone:
APART = 4.0  # so far above the odds that either has with a fourth


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
    table = _Table(everyone)
    least = max(ENOUGH, math.log(CHANCE * math.comb(len(everyone), 2) + 1e-9))
    likely: dict[tuple[int, int], float] = {}
    nearly: list[float] = []  # the odds of each with the fourth of the others
    for one in range(len(everyone)):
        odds = table.odds(one)
        nearly.append(np.sort(odds)[-OWNERS] if len(odds) > OWNERS else -math.inf)
        likely |= {(one, j): odds[j] for j in np.flatnonzero(odds >= least).tolist() if one < j}
    return [
        Pair((everyone[one].student, everyone[other].student), table.alike(one, other))
        for (one, other), odds in likely.items()
        if odds >= APART + max(nearly[one], nearly[other])
    ]


class _Table:
    """Who has written what: a row for each student, and for each answer the ways to compare it."""

    def __init__(self, everyone: Sequence[Seen]) -> None:
        self.answers = [{a.name: a for a in seen.answers} for seen in everyone]
        self.names = sorted({name for answers in self.answers for name in answers})
        size = len(everyone), len(self.names), LEVELS
        self.forms = np.full(size, -1)  # -1 where there is no answer
        self.shares = np.ones(size)  # of those who tried, who have the same
        for column, name in enumerate(self.names):
            tried = [row for row, answers in enumerate(self.answers) if name in answers]
            for level in range(LEVELS):
                keys = [self.answers[row][name].keys[level] for row in tried]
                number, holders = {key: n for n, key in enumerate(set(keys))}, Counter(keys)
                self.forms[tried, column, level] = [number[key] for key in keys]
                shares = [(holders[key] - 0.5) / len(tried) for key in keys]
                self.shares[tried, column, level] = shares
        self.tried = self.forms[:, :, 0] >= 0

    def odds(self, one: int) -> np.ndarray:
        """For each other, by how much more likely a copy gives these two sheets than chance does.

        As logarithms: an answer that is alike speaks for a copy, the more so the fewer have it;
        one that is not speaks against.
        """
        copied = np.array(COPIED)
        own = -np.log1p(-copied)  # what an answer of one's own takes away
        alike = own + np.log(1 - copied + copied / LEVELS / self.shares[one][:, :, None])
        alike[:, 1:] -= alike[:, :-1].copy()  # each level beyond the one before
        alike[~self.tried[one]] = 0
        same = (self.forms == self.forms[one]).reshape(len(self.forms), -1)
        both = (self.tried & self.tried[one]).sum(axis=1)
        logs = same @ alike.reshape(-1, len(copied)) - np.outer(both, own)
        odds = np.logaddexp.reduce(logs, axis=1) - math.log(len(copied))
        odds[one] = -math.inf
        return odds

    def alike(self, one: int, other: int) -> list[Telling]:
        """The answers that these two have in common, that which says most first."""
        same = self.forms[one] == self.forms[other]
        shares = np.where(same, self.shares[one], 1.0).min(axis=1)
        columns = [c for c in np.argsort(shares, kind="stable") if shares[c] < 1]
        return [self.answers[one][self.names[column]] for column in columns]
