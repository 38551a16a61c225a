"""What an exercise is: an answer goes in, one of four outcomes comes out, never an exception.

A check is a short function that runs the definition with the answer and returns `right`, `wrong`
or `partly`. Its parameters are annotated with the type that the check works with and the kind of
answer it is read from. Hints and the wrong answers it knows come after it:

    @exercise("2.3", points=2)
    def bias(factor: Annotated[FormulaAnswer, Formula(beta=(0, 1), t=range(1, 9))]) -> Verdict:
        ...

    bias.add_hints("If every gradient has …", "1 + β + … + β^{t−1} is …")

    bias.mistake("one step only", "1 − β is right at t = 1. …", example=("1 - beta",))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, TypedDict, TypeVar, get_args, get_origin, overload

from .answers import Kind, NotAttempted, Unreadable, has_blank, in_words, received
from .cards import Row, card, counted, one_line, points_table, state_card
from .spared import forbidding

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


class Outcome(StrEnum):
    """The four ways a check can end."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_ATTEMPTED = "not attempted"
    UNCHECKED = "could not be checked"


@dataclass(frozen=True)
class Misconception:
    """A well-known mistake: an example of it as answers, and what to say to those who make it.

    An answer is recognized when it is equivalent to the example or, where the mistake has many
    faces, when the predicate `when` (called with the read answers) says so.
    """

    name: str
    example: tuple[Any, ...]
    explanation: str
    when: Callable[..., bool] | None = None


class Recognized(TypedDict):
    """How a mistake that a unit can compute is known: `exercise.mistake(…, **_computed(…))`."""

    example: tuple[Any, ...]
    when: Callable[..., bool]


@dataclass(frozen=True)
class Verdict:
    """What a check function returns; `earned` is None for all points or none of them."""

    outcome: Outcome
    says: str
    earned: int | None = None


def right(says: str) -> Verdict:
    """The answer passes; `says` tells what was seen."""
    return Verdict(Outcome.RIGHT, says)


def wrong(says: str) -> Verdict:
    """The answer fails; `says` is the counterexample."""
    return Verdict(Outcome.WRONG, says)


def partly(earned: int, says: str) -> Verdict:
    """The answer earns some of the points; `says` tells what is missing."""
    return Verdict(Outcome.WRONG, says, earned)


def refuted(report: Any) -> Verdict:
    """The verdict on a derivation that does not hold: its first false line."""
    if report.first_false is None:
        raise Unreadable(report.sentence)
    return wrong(report.sentence)


@dataclass(frozen=True)
class Feedback:
    """The result of one check: a card in JupyterLab, a line in a terminal, data for the grader."""

    number: str
    name: str
    outcome: Outcome
    earned: int
    points: int
    says: str
    misconception: str | None = None
    explanation: str | None = None

    @property
    def headline(self) -> str:
        """The outcome in words; part marks have their own."""
        return "partly right" if 0 < self.earned < self.points else str(self.outcome)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {**asdict(self), "outcome": str(self.outcome)}

    def __repr__(self) -> str:
        return " ".join([f"{self.number} {self.name}: {self._summary()}", *self._sentences()])

    def _repr_html_(self) -> str:
        aside = f"{self.number} {self.name} · {counted(self.earned, self.points)}"
        return state_card(self.headline, aside, self._sentences())

    def _summary(self) -> str:
        return f"{self.headline}, {counted(self.earned, self.points)}."

    def _sentences(self) -> list[str]:
        known = [f"Known mistake: {self.misconception}. {self.explanation}"]
        return [self.says, *(known if self.misconception else [])]


@dataclass(frozen=True)
class Hint:
    """One nudge of several."""

    place: str
    text: str

    def __repr__(self) -> str:
        return f"{self.place}: {self.text}"

    def _repr_html_(self) -> str:
        return card(self.place, "", [self.text])


class Exercise:
    """A check that can be called with an answer; made by the decorator `exercise`."""

    def __init__(self, check: Callable[..., Verdict], number: str, points: int) -> None:
        self.check, self.number, self.points = check, number, points
        self.hints: tuple[str, ...] = ()
        self.forbidden: tuple[str, ...] = ()
        self.misconceptions: tuple[Misconception, ...] = ()
        self.name, self.unit, self.__doc__ = check.__name__, check.__module__, check.__doc__
        self._signature = inspect.signature(check, eval_str=True)
        self.kinds = {name: self._kind(p) for name, p in self._signature.parameters.items()}
        self.last: Feedback | None = None
        self._hints_given = 0
        # a module that is loaded again replaces its exercises
        EXERCISES[:] = [e for e in EXERCISES if (e.unit, e.name) != (self.unit, self.name)]
        EXERCISES.append(self)

    def __call__(self, *answers: Any, **named_answers: Any) -> Feedback:
        """Check the answers; whatever they are, the student gets a sentence."""
        examples = [answer for known in self.misconceptions for answer in known.example]
        with forbidding(self.forbidden, free=examples):
            self.last = self._judge(answers, named_answers)
        return self.last

    def forbid(self, *names: str) -> None:
        """For the author: functions of this package that are its answer, as "transport.sinkhorn".

        They raise a sentence when a student's code calls them for this exercise.
        """
        self.forbidden += names

    def add_hints(self, *hints: str) -> None:
        """For the author: what `hint` gives, one after the other."""
        self.hints += hints

    @overload
    def mistake(
        self,
        name: str,
        explanation: str,
        *,
        example: tuple[Any, ...],
        when: Callable[..., bool] | None = None,
    ) -> None: ...

    @overload
    def mistake(
        self, name: str, explanation: str, *, when: Callable[..., bool] | None = None
    ) -> Callable[[AnyFunction], AnyFunction]: ...

    def mistake(
        self,
        name: str,
        explanation: str,
        *,
        example: tuple[Any, ...] | None = None,
        when: Callable[..., bool] | None = None,
    ) -> Callable[[AnyFunction], AnyFunction] | None:
        """For the author: a well-known mistake. Without `example` it decorates the wrong function.

        See Misconception for `when`.
        """
        if example is not None:
            self.misconceptions += (Misconception(name, example, explanation, when),)
            return None

        def made_by(function: AnyFunction) -> AnyFunction:
            self.mistake(name, explanation, example=(function,), when=when)
            return function

        return made_by

    def hint(self) -> Hint:
        """The next hint; the last one stays."""
        if not self.hints:
            return Hint("Hint", "There is none for this exercise.")
        number = self._hints_given = min(self._hints_given + 1, len(self.hints))
        return Hint(f"Hint {number} of {len(self.hints)}", self.hints[number - 1])

    def __repr__(self) -> str:
        call = f"check.{self.name}({', '.join(self.kinds)})"
        return f"Exercise {self.number}, {counted(self.points)}: {self.__doc__} Call {call}."

    def _kind(self, parameter: inspect.Parameter) -> Kind:
        annotation = parameter.annotation
        kinds = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
        for kind in kinds:
            if isinstance(kind, Kind) and not isinstance(kind, type):
                return kind
        raise TypeError(
            f"{self.name}: annotate {parameter.name} with a type and a kind of answer, such as "
            "Annotated[float, Number()]."
        )

    def _judge(self, answers: tuple[Any, ...], named_answers: dict[str, Any]) -> Feedback:
        try:
            answers = self._in_order(answers, named_answers)
            if has_blank(answers):
                raise NotAttempted
            return self._run(self._read(answers))
        except NotAttempted:
            return self._feedback(
                Verdict(Outcome.NOT_ATTEMPTED, "Replace `____` with your answer and run the cell.")
            )
        except Unreadable as why:
            return self._feedback(Verdict(Outcome.UNCHECKED, str(why)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the check's own fault must not hit the student either
            says = f"The check itself failed ({in_words(error)}). Please report this."
            return self._feedback(Verdict(Outcome.UNCHECKED, says))

    def _in_order(self, answers: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        try:
            return self._signature.bind(*answers, **named).args
        except TypeError:
            expected = " and ".join(", ".join(f"`{name}`" for name in self.kinds).rsplit(", ", 1))
            got = counted(len(answers) + len(named), thing="answer")
            raise Unreadable(f"This check takes {expected}; it got {got}.") from None

    def _read(self, answers: tuple[Any, ...]) -> list[Any]:
        return [
            received(kind, answer, name)
            for (name, kind), answer in zip(self.kinds.items(), answers, strict=True)
        ]

    def _run(self, answers: list[Any]) -> Feedback:
        verdict = self.check(*answers)
        if verdict.earned is not None and not 0 <= verdict.earned < self.points:
            raise ValueError(f"{verdict.earned} is not a part of {counted(self.points)}")
        feedback = self._feedback(verdict)
        known = self._recognize(answers) if verdict.outcome is Outcome.WRONG else None
        if known is None:
            return feedback
        return replace(feedback, misconception=known.name, explanation=known.explanation)

    def _recognize(self, answers: list[Any]) -> Misconception | None:
        """The mistake whose example this is, else the first whose predicate holds."""
        alike = (m for m in self.misconceptions if _holds(self._same, m, answers))
        akin = (m for m in self.misconceptions if m.when and _holds(m.when, *answers))
        return next(alike, None) or next(akin, None)

    def _same(self, misconception: Misconception, answers: list[Any]) -> bool:
        example = self._read(misconception.example)
        kinds = self.kinds.values()
        return all(k.same(a, b) for k, a, b in zip(kinds, answers, example, strict=True))

    def _feedback(self, verdict: Verdict) -> Feedback:
        full = self.points if verdict.outcome is Outcome.RIGHT else 0
        earned = full if verdict.earned is None else int(verdict.earned)
        says = one_line(verdict.says)
        return Feedback(self.number, self.name, verdict.outcome, earned, self.points, says)


def _holds(predicate: Callable[..., bool], *arguments: Any) -> bool:
    try:
        return bool(predicate(*arguments))
    except Exception:  # an answer that cannot even be compared is not this mistake
        return False


EXERCISES: list[Exercise] = []


def exercise(number: str, *, points: int) -> Callable[[Callable[..., Verdict]], Exercise]:
    """Turn a check function into an Exercise."""
    return lambda check: Exercise(check, number, points)


class Scoreboard:
    """The points of this notebook so far, a row an exercise."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        self.rows: list[Row] = [(e.number, e.name, *_state(e), e.points) for e in exercises]
        self.earned = sum(row[3] for row in self.rows)
        self.points = sum(row[4] for row in self.rows)

    def __repr__(self) -> str:
        width = max((len(name) for _, name, *_ in self.rows), default=0)
        lines = [
            f"{number:<5} {name:<{width}}  {earned} of {points}  {state}"
            for number, name, state, earned, points in self.rows
        ]
        return "\n".join([*lines, f"Total: {counted(self.earned, self.points)}"])

    def _repr_html_(self) -> str:
        return points_table(self.rows, self.earned, self.points)


def scoreboard() -> Scoreboard:
    """The points so far, over the units whose checks this notebook has called (else imported)."""
    called = {e.unit for e in EXERCISES if e.last} or {e.unit for e in EXERCISES}
    return Scoreboard([e for e in EXERCISES if e.unit in called])


def _state(exercise: Exercise) -> tuple[str, int]:
    return (exercise.last.headline, exercise.last.earned) if exercise.last else ("not run yet", 0)
