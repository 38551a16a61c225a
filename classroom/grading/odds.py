"""By how much more likely a copy gives two sheets than chance does, for many pairs at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .pairs import COPIED, LEVELS, Numbered


class Odds:
    """The keys of all answers as a table: a student in a row, an exercise in a column."""

    def __init__(self, numbered: Numbered) -> None:
        names = sorted({answer.name for answer in numbered.keys})
        column = {name: place for place, name in enumerate(names)}
        size = len(numbered.everyone), len(names), LEVELS
        self.keys = np.full(size, -1, dtype=np.int32)  # -1 where there is no answer
        for row, seen in enumerate(numbered.everyone):
            for answer in seen.answers:
                self.keys[row, column[answer.name]] = numbered.keys[answer]
        self.tried, self.shares = self.keys[:, :, 0] >= 0, np.array(numbered.shares)

    def odds(self, one: int, others: Sequence[int]) -> list[float]:
        """For each other, as a logarithm.

        An answer that is alike speaks for a copy, the more so the fewer have it; one that is not
        speaks against. Who copies disguises all of it in about the same way, so the answers are
        compared in one way at a time.
        """
        copied = np.array(COPIED)
        own = -np.log1p(-copied)  # what an answer of one's own takes away
        rows = np.array(others, dtype=int)
        both = (self.tried[rows] & self.tried[one]).sum(axis=1)
        same = self.keys[rows] == self.keys[one]
        logs = []
        for level in range(LEVELS):
            shares = self.shares[self.keys[one, :, level]][:, None]
            alike = own + np.log(1 - copied + copied / shares)
            alike[~self.tried[one]] = 0
            logs.append(same[:, :, level] @ alike - np.outer(both, own))
        every = np.concatenate(logs, axis=1)
        return (np.logaddexp.reduce(every, axis=1) - math.log(every.shape[1])).tolist()
