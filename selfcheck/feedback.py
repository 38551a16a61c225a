"""What a check comes to, as it is shown, kept and counted; whoever only reads needs no NumPy."""

from __future__ import annotations

import ast
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from .cards import counted, state_card

if TYPE_CHECKING:
    from .counterexamples import Counterexample
    from .exercises import Judged
    from .verdicts import Seen


class Outcome(StrEnum):
    """The four ways a check can end."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_ATTEMPTED = "not attempted"
    UNCHECKED = "could not be checked"


@dataclass(frozen=True)
class NamedMistake:
    """A known mistake in a feedback; `instead` of the one before it, if both give this answer."""

    name: str
    explanation: str
    part: str = ""
    instead: bool = False

    def __str__(self) -> str:
        begin = "Or" if self.instead else "Known mistake"
        return f"{begin}: {self.name}. {self.explanation}"


@dataclass(frozen=True)
class Feedback:
    """The result of one check: a card in JupyterLab, a line in a terminal, data for the grader."""

    number: str
    name: str
    outcome: Outcome
    earned: int
    points: int
    says: str
    mistakes: tuple[NamedMistake, ...] = ()
    tries: int = 1  # different answers so far, where the answer is a choice of few
    title: str = field(default="", compare=False, repr=False)
    texts: str = field(default="", compare=False, repr=False)  # what was judged; see notebook.py
    seen: tuple[Seen, ...] = field(default=(), compare=False, repr=False)
    judged: Judged | None = field(default=None, compare=False, repr=False)
    refuted: tuple[Counterexample, ...] = field(default=(), compare=False, repr=False)
    leads: tuple[str, ...] = field(default=(), compare=False, repr=False)  # what to do next
    undecided: str = field(default="", compare=False, repr=False)  # told to those who grade
    waits: bool = field(default=False, compare=False, repr=False)  # for another cell to be run

    @property
    def misconception(self) -> str | None:
        """The name of the known mistake, if there is one; of several the first."""
        return self.mistakes[0].name if self.mistakes else None

    @property
    def explanation(self) -> str | None:
        """What is said to those who make it."""
        return self.mistakes[0].explanation if self.mistakes else None

    @property
    def headline(self) -> str:
        """The outcome in words; part marks have their own, and a check that waits for a cell."""
        if self.waits:
            return "no verdict yet"
        return "partly right" if 0 < self.earned < self.points else str(self.outcome)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        mistakes = [asdict(mistake) for mistake in self.mistakes]
        facts = (self.number, self.name, str(self.outcome), self.earned, self.points, self.says)
        names = ("number", "name", "outcome", "earned", "points", "says")
        return {**dict(zip(names, facts, strict=True)), "mistakes": mistakes}

    def __repr__(self) -> str:
        return " ".join([f"{self.number} {self.name}: {self._summary()}", *self.sentences()])

    def _repr_html_(self) -> str:
        aside = f"{self.number} {self.title or self.name} · {counted(self.earned, self.points)}"
        return self.card(aside + (f" · try {self.tries}" if self.tries > 1 else ""))

    def card(self, aside: str) -> str:
        """The verdict as a card with these words beside it."""
        return state_card(self.headline, aside, self.sentences(), self.texts, self._as_read())

    def _as_read(self) -> str:
        """The formulas of an answer that is not right, set as they were understood."""
        if self.judged is None or self.outcome is not Outcome.WRONG:
            return ""
        from .mathml import mathml  # with NumPy's companions, as the answers are

        answers = self.judged.answers.items()
        trees = {
            name: a.formula.tree for name, a in answers if "formula" in getattr(a, "__dict__", ())
        }
        alone = len(self.judged.answers) == 1
        rows = [
            ("" if alone else f"{mathml(ast.Name(n))} = ") + mathml(tree)
            for n, tree in trees.items()
        ]
        return f"Your answer, as it was read: {'; '.join(rows)}." if rows else ""

    def _summary(self) -> str:
        return f"{self.headline}, {counted(self.earned, self.points)}."

    def sentences(self) -> list[str]:
        """What is said, what is known of the mistake, and what to do next."""
        return [self.says, *map(str, self.mistakes), *self.leads]
