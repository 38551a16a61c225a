"""Unit 06, counting cost: the numbers of a student's own. Id 0 has those of the homework."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from selfcheck.ids import student_id
from selfcheck.own_numbers import as_list, rng_for


@dataclass(frozen=True)
class Model:
    """One student's language model and the memory of the card that it has to run on.

    All numbers take two bytes. Keys and values come in `groups`, each shared by several heads.
    """

    student: str
    vocabulary: int
    width: int
    layers: int
    heads: int
    groups: int
    head_width: int
    hidden: int
    mebibytes: int

    def __repr__(self) -> str:
        return as_list(
            self.student,
            {
                "vocabulary": self.vocabulary,
                "width D": self.width,
                "layers": self.layers,
                "heads H": self.heads,
                "groups G": self.groups,
                "width w of a head": self.head_width,
                "hidden width F": self.hidden,
                "MiB of memory": self.mebibytes,
            },
        )


@lru_cache(maxsize=256)
def _counting_cost(student: str) -> Model:
    if student == "0":
        return Model(student, 32_000, 2048, 24, 16, 4, 128, 5632, 8192)
    draws = rng_for(student, "06_counting_cost")
    head_width, heads = 64 * draws.integer(1, 2), 8 * draws.integer(2, 5)
    width, groups = head_width * heads, 2 ** draws.integer(0, 3)
    hidden, layers = 64 * (width // 24 + draws.below(9)), draws.integer(16, 40)
    vocabulary = 100 * draws.integer(200, 600)
    mebibytes = 1024 * draws.integer(24, 48) - draws.integer(1, 999)
    return Model(student, vocabulary, width, layers, heads, groups, head_width, hidden, mebibytes)


def counting_cost(student: Any) -> Model:
    """The model of this student for unit 06; id 0 has round numbers."""
    return _counting_cost(student_id(student))
