"""What an exercise is: an answer goes in, one of four outcomes comes out, never an exception.

A check is a short function that runs the definition with the answer and returns `right`, `wrong`
or `partly`. Its parameters are annotated with the type that the check works with and the kind of
answer it is read from. Hints and the wrong answers it knows come after it:

    @exercise("2.3", points=2)
    def bias(factor: Annotated[FormulaAnswer, Formula(beta=(0, 1), t=range(1, 9))]) -> Verdict:
        ...

    bias.add_hints("If every gradient has …", "1 + β + … + β^{t−1} is …")

    bias.mistake("one step only", "1 − β is right at t = 1. …", example=("1 - beta",))

Where several answers are asked for, each part is a function of its own that names the answers it
needs, and the check itself has the last word, when all parts are right:

    @four_questions.part("Question 2", points=1)
    def _by_softmax(by_softmax: FunctionAnswer) -> Verdict:
        ...
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypedDict, TypeVar, get_args, get_origin, overload

from .blanks import ____, has_blank
from .cards import AS_SAVED, Row, card, counted, one_line, points_table, total
from .display import in_words
from .feedback import Feedback, Named, Outcome
from .files import CourseError
from .kinds import Choice, Function, Kind, received
from .notebook import into_the_notebook
from .practice import Practice, another, can_be_practiced
from .record import record
from .refusals import NotAttempted, NotFinite, Unreadable
from .reserved import all_checks, forbidding
from .sampling import Compared, Drawn, new_seed, surveying, trial
from .verdicts import (
    Seen,
    Verdict,
    differs,
    keeping,
    keeps_arguments,
    not_finite,
    partly,
    refuted,
    repeats,
    right,
    wrong,
)

__all__ = [
    "EXERCISES",
    "Exercise",
    "Feedback",
    "Hint",
    "Judged",
    "Misconception",
    "Named",
    "Outcome",
    "Part",
    "Recognized",
    "Scoreboard",
    "Seen",
    "Verdict",
    "differs",
    "exercise",
    "keeping",
    "keeps_arguments",
    "partly",
    "refuted",
    "repeats",
    "right",
    "scoreboard",
    "wrong",
]

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
BLANK = "Replace `____` with your answer and run the cell."


@record(eq=False)
class Misconception:
    """A well-known mistake: an example of it as answers, and what to say to those who make it.

    An answer is recognized when it is equivalent to the example or, where the mistake has many
    faces, when the predicate `when` (called with the read answers) says so. Either way the example
    has to explain the failure: it is refuted at the same instance, and there it gives the same
    finite value (which `when` may waive). Only a mistake whose sign is that nothing finite comes
    out says `not_finite=True`.
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


@record()
class Part:
    """A part of an exercise: the answers that it needs by name, and the check of it."""

    name: str
    points: int
    judge: Callable[..., Verdict]
    needs: tuple[str, ...]
    may_use: tuple[str, ...] = ()  # given if they can be read; the judge has a default for them


class Missing:
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


@record()
class Judged:
    """What a feedback stands on: the answers as they were read, and the verdict on each part."""

    answers: dict[str, Any]
    pieces: dict[str, Verdict]


@record()
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

    seed: int | None = None  # the grader sets it, so that a regrade draws the same; else a new one

    def __init__(
        self,
        check: Callable[..., Verdict],
        number: str,
        points: int,
        earns: Sequence[int] | None = None,
        transfer: bool = False,
        numbers: Callable[[Any], Any] | None = None,
    ) -> None:
        self.numbers = numbers  # of a student's own, by the student's id
        self.check, self.number, self.points, self.earns = check, number, points, earns
        self.is_transfer = transfer
        self.parts: tuple[Part, ...] = ()
        self.hints: tuple[str, ...] = ()
        self.forbidden: tuple[str, ...] = ()
        self.misconceptions: tuple[Misconception, ...] = ()
        self.name, self.unit, self.__doc__ = check.__name__, check.__module__, check.__doc__
        self._signature = inspect.signature(check, eval_str=True)
        self.kinds = {name: self._kind(p) for name, p in self._signature.parameters.items()}
        defaults = {n: p.default for n, p in self._signature.parameters.items()}
        self.optional = {n for n, default in defaults.items() if default is None}
        self.last: Feedback | None = None
        self._hints_given = 0
        self._refuting: int | None = None  # the seed that refuted the last answer
        self._chosen: list[tuple[str, ...]] = []
        self._examples: dict[Misconception, Verdict] = {}
        self._examples_read: dict[Misconception, list[Any]] = {}
        # examples (and part) that pass the first cases, which are the same for all seeds
        self._beyond_pencil: set[tuple[Misconception, str]] = set()
        # a module that is loaded again replaces its exercises
        EXERCISES[:] = [e for e in EXERCISES if (e.unit, e.name) != (self.unit, self.name)]
        EXERCISES.append(self)

    def __call__(self, *answers: Any, **named_answers: Any) -> Feedback:
        """Check the answers; whatever they are, the student gets a sentence."""
        self.last = self.judged(*answers, **named_answers)
        return self.last

    def judged(self, *answers: Any, **named_answers: Any) -> Feedback:
        """The feedback, which is not kept as the last one."""
        with forbidding((*self.forbidden, *all_checks()), free=self._free):
            return self._judge(answers, named_answers)

    @property
    def _free(self) -> list[Any]:
        """The functions in the examples of known mistakes, also those of a list of lines."""
        examples = [answer for known in self.misconceptions for answer in known.example]
        lines = [line for a in examples if isinstance(a, list | tuple) for line in a]
        return [f for f in (*examples, *lines) if callable(f)]

    def part(
        self, name: str, *, points: int = 1, of: str | None = None
    ) -> Callable[[AnyFunction], AnyFunction]:
        """For the author: a part that is judged by itself. It decorates the function that judges.

        Its parameters are named as those of the exercise (or `of="a, b"` names them). One with a
        default may be missing: then the part is judged without it.
        """

        def judged_by(judge: AnyFunction) -> AnyFunction:
            given = inspect.signature(judge).parameters.values()
            needs = [p.name for p in given if p.default is p.empty]
            may_use = [p.name for p in given if p.default is not p.empty]
            if of is not None:
                needs, may_use = [one.strip() for one in of.split(",")], []
            for unknown in {*needs, *may_use} - {*self.kinds}:
                raise TypeError(f"{self.name} has no answer {unknown} for its part {name}.")
            self.parts += (Part(name, points, judge, tuple(needs), tuple(may_use)),)
            return judge

        return judged_by

    def forbid(self, *names: str) -> None:
        """For the author: functions of the course that are its answer, as "transport.sinkhorn".

        They raise a sentence when a student's code calls them for this exercise.
        """
        package = self.unit.partition(".")[0]
        self.forbidden += tuple(f"{package}.{name}" for name in names)

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
        part: str = "",
        not_finite: bool = False,
    ) -> None: ...

    @overload
    def mistake(
        self,
        name: str,
        explanation: str,
        *,
        when: Callable[..., bool] | None = None,
        part: str = "",
        not_finite: bool = False,
    ) -> Callable[[AnyFunction], AnyFunction]: ...

    def mistake(
        self,
        name: str,
        explanation: str,
        *,
        example: tuple[Any, ...] | None = None,
        when: Callable[..., bool] | None = None,
        part: str = "",
        not_finite: bool = False,
    ) -> Callable[[AnyFunction], AnyFunction] | None:
        """For the author: a well-known mistake. Without `example` it decorates the wrong function.

        With `part` the example has the answers of that part alone. See Misconception.
        """
        if example is not None:
            example = self._whole(example, part)
            known = Misconception(name, example, explanation, when, part, not_finite)
            self.misconceptions += (known,)
            return None

        def made_by(function: AnyFunction) -> AnyFunction:
            options: dict[str, Any] = {"when": when, "part": part, "not_finite": not_finite}
            self.mistake(name, explanation, example=(function,), **options)
            return function

        return made_by

    def _whole(self, example: tuple[Any, ...], part: str) -> tuple[Any, ...]:
        """All answers of an example that was given for one part; the others are blank.

        Earlier answers, which come last and may be missing, are.
        """
        if not part or len(example) == len(self.kinds):
            left = [*self.kinds][len(example) :]
            return (*example, *(None for name in left if name in self.optional))
        given = dict(zip(self._part(part).needs, example, strict=True))
        return tuple(given.get(name, ____) for name in self.kinds)

    def _part(self, name: str) -> Part:
        return next(part for part in self.parts if part.name == name)

    def practice(self, seed: int | None = None) -> Practice | Hint:
        """One more task of this kind with new numbers; call it with your answer."""
        if can_be_practiced(self):
            return another(self, seed)
        return Hint("Practice", "There are no numbers to change in this exercise.")

    def without_answer(self, says: str) -> Feedback:
        """The feedback where there was no answer to look at."""
        self.last = self._feedback(Verdict(Outcome.UNCHECKED, says))
        return self.last

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
            return self._tried(self._read(self._in_order(answers, named_answers)))
        except Unreadable as why:
            return self._feedback(Verdict(Outcome.UNCHECKED, str(why)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the check's own fault must not hit the student either
            return self._feedback(_failed(error))

    def _tried(self, answers: list[Any]) -> Feedback:
        """The verdict with the seed that refuted an answer before, if one did, and a new one."""
        tries = self._count_try(answers)
        before = [] if self._refuting is None else [self._refuting]
        for seed in [self.seed] if self.seed is not None else [*before, new_seed()]:
            verdict = self._verdict(answers, seed)
            if verdict.outcome is not Outcome.RIGHT:
                break
        self._refuting = verdict.seed
        pieces = verdict.pieces or {"": verdict}
        mistakes = self._recognize(answers, pieces, seed)
        seen = tuple(piece.seen for piece in pieces.values() if piece.seen)
        judged = Judged(dict(zip(self.kinds, answers, strict=True)), pieces)
        about: dict[str, Any] = {"mistakes": mistakes, "tries": tries, "judged": judged}
        return replace(self._feedback(verdict), seen=seen, **about)

    def survey(self, answers: dict[str, Any], part: str, seed: int) -> list[Compared]:
        """For the grader: all that this part compares for answers that were read, with a seed."""
        with forbidding(self.forbidden), trial(seed), surveying() as noted:
            if part:
                _judged(self._part(part), answers, seed)
            else:
                gone = {n for n in self.optional if isinstance(answers[n], Missing)}
                _settled(self.check, [None if n in gone else a for n, a in answers.items()], seed)
        return noted

    def needs(self, part: str) -> list[str]:
        """The names of the answers that a part is judged by; of all parts, where it has no name."""
        return list(self._part(part).needs if part else self.kinds)

    def _in_order(self, answers: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        try:
            bound = self._signature.bind(*answers, **named)
            bound.apply_defaults()
            return bound.args
        except TypeError:
            expected = " and ".join(", ".join(f"`{name}`" for name in self.kinds).rsplit(", ", 1))
            got = counted(len(answers) + len(named), thing="answer")
            raise Unreadable(f"This check takes {expected}; it got {got}.") from None

    def _read(self, answers: tuple[Any, ...]) -> list[Any]:
        """Each answer by itself; one that cannot be read is `Missing`, with the reason."""
        return [
            _read_one(kind, answer, name)
            for (name, kind), answer in zip(self.kinds.items(), answers, strict=True)
        ]

    def _verdict(self, answers: list[Any], seed: int) -> Verdict:
        """All parts, each by itself; where all are right, and where there are none, the check."""
        given = dict(zip(self.kinds, answers, strict=True))
        missing = {n for n in self.optional if isinstance(given[n], Missing)}
        known = [None if name in missing else answer for name, answer in given.items()]
        with trial(seed):
            if not self.parts:
                return _settled(self.check, known, seed)
            pieces = {part.name: _judged(part, given, seed) for part in self.parts}
            if all(piece.outcome is Outcome.RIGHT for piece in pieces.values()):
                return _settled(self.check, known, seed)
        return self._together(pieces)

    def _together(self, pieces: dict[str, Verdict]) -> Verdict:
        """One verdict of those on the parts: points add up, and each part that lost some speaks."""
        outcomes = {piece.outcome for piece in pieces.values()}
        order = (Outcome.WRONG, Outcome.UNCHECKED, Outcome.NOT_ATTEMPTED)
        outcome = next(o for o in order if o in outcomes)
        if outcomes == {Outcome.NOT_ATTEMPTED}:
            return Verdict(outcome, BLANK)
        says = [
            f"{name}: {_after_colon(piece)}"
            for name, piece in pieces.items()
            if piece.outcome is not Outcome.RIGHT
        ]
        seeds = [piece.seed for piece in pieces.values() if piece.seed is not None]
        seed = seeds[0] if seeds else None
        return Verdict(outcome, " ".join(says), self._earned(pieces), None, seed, pieces)

    def _earned(self, pieces: dict[str, Verdict]) -> int:
        """The points of the parts; with `earns`, those for as many right parts."""
        if self.earns is not None:
            return self.earns[sum(p.outcome is Outcome.RIGHT for p in pieces.values())]
        return sum(
            part.points
            if pieces[part.name].outcome is Outcome.RIGHT
            else int(pieces[part.name].earned or 0)
            for part in self.parts
        )

    def _recognize(
        self, answers: list[Any], pieces: dict[str, Verdict], seed: int
    ) -> tuple[Named, ...]:
        """For each wrong part, the mistakes whose example this is, else one by predicate."""
        found: dict[str, Named] = {}
        example = cache(lambda m: self._example(m, seed))
        for name, piece in pieces.items():
            if piece.outcome is Outcome.WRONG:
                for named in self._named(answers, name, piece, example):
                    found.setdefault(named.name, named)
        return tuple(found.values())

    def _named(self, answers: list[Any], name: str, piece: Verdict, example: Any) -> list[Named]:
        known = [m for m in self.misconceptions if m.part in ("", name)]
        alike = (m for m in known if _holds(self._same, m, answers, name))
        found = [m for m in alike if self._explains(m, name, piece, example)]
        if not found:
            akin = (m for m in known if m.when and _holds(self._akin, m, answers))
            named = (m for m in akin if self._explains(m, name, piece, example, value=False))
            found = [*islice(named, 1)]
        return [Named(m.name, m.explanation, name, instead=k > 0) for k, m in enumerate(found)]

    def _same(self, misconception: Misconception, answers: list[Any], part: str) -> bool:
        """Is this answer equivalent to the example, in all that the part needs?"""
        names = {*self.needs(part)} - self.optional
        example = self._read_example(misconception)
        there = zip(self.kinds.items(), answers, example, strict=True)
        return all(_same(kind, a, b) for (name, kind), a, b in there if name in names)

    def _akin(self, misconception: Misconception, answers: list[Any]) -> bool:
        given = dict(zip(self.kinds, answers, strict=True))
        names = self._part(misconception.part).needs if misconception.part else self.kinds
        return bool(misconception.when and misconception.when(*(given[n] for n in names)))

    def _explains(
        self, m: Misconception, name: str, piece: Verdict, example: Any, value: bool = True
    ) -> bool:
        """Does the example fail where the answer failed, and with the same value?"""
        if piece.seen is None:  # the check does not tell where; its samples have to do
            return not value or self._has_samples(name)
        if (m, name) in self._beyond_pencil and _at_pencil(piece):
            return False
        verdict = example(m)
        other = (verdict.pieces or {"": verdict}).get(name)
        if m not in self._examples and not (other and _at_pencil(other)):
            self._beyond_pencil.add((m, name))
        if other is None or other.outcome is not Outcome.WRONG or other.seen is None:
            return False
        if not piece.seen.is_where(other.seen):
            return False
        if value:
            return piece.seen.is_like(other.seen, m.not_finite)
        return piece.seen.is_finite or m.not_finite

    def _example(self, m: Misconception, seed: int) -> Verdict:
        """The verdict on a mistake's example; where nothing was drawn, it is that for all seeds."""
        if m not in self._examples:
            before = Drawn.count
            verdict = self._verdict(self._read_example(m), seed)
            if Drawn.count > before:  # with another seed it may fail elsewhere
                return verdict
            self._examples[m] = verdict
        return self._examples[m]

    def _read_example(self, m: Misconception) -> list[Any]:
        """The answers of an example; read once, so that what was counted for them is kept."""
        if m not in self._examples_read:
            self._examples_read[m] = self._read(m.example)
        return self._examples_read[m]

    def _has_samples(self, part: str) -> bool:
        names = self.needs(part)
        kinds = [self.kinds[name] for name in names]
        return all(kind.samples for kind in kinds if isinstance(kind, Function))

    def _count_try(self, answers: list[Any]) -> int:
        """How many different choices this exercise was given in this session."""
        words = tuple(
            str(answer)
            for kind, answer in zip(self.kinds.values(), answers, strict=True)
            if isinstance(kind, Choice) and not isinstance(answer, Missing)
        )
        if words and words not in self._chosen:
            self._chosen.append(words)
        return max(len(self._chosen), 1)

    def _feedback(self, verdict: Verdict) -> Feedback:
        if verdict.earned is not None and not 0 <= verdict.earned < self.points:
            verdict = _failed(
                ValueError(f"{verdict.earned} is not a part of {counted(self.points)}")
            )
        full = self.points if verdict.outcome is Outcome.RIGHT else 0
        earned = full if verdict.earned is None else int(verdict.earned)
        says = one_line(verdict.says)
        if verdict.seed is not None and verdict.outcome is not Outcome.RIGHT:
            says += f" (Seed {verdict.seed}.)"
        return Feedback(self.number, self.name, verdict.outcome, earned, self.points, says)


def _read_one(kind: Kind, answer: Any, name: str) -> Any:
    try:
        if isinstance(answer, NotAttempted | Unreadable):  # the grader found no value, and why
            raise answer
        if has_blank(answer):
            raise NotAttempted
        return received(kind, answer, name)
    except (NotAttempted, Unreadable) as reason:
        return Missing(reason)


def _judged(part: Part, given: dict[str, Any], seed: int) -> Verdict:
    """The verdict on one part, with the answers that it needs and those that it may use."""
    more = {n: given[n] for n in part.may_use if not isinstance(given[n], Missing)}
    return _settled(part.judge, [given[name] for name in part.needs], seed, **more)


def _settled(judge: Callable[..., Verdict], answers: list[Any], seed: int, **more: Any) -> Verdict:
    """The verdict, whatever happens on the way; what is drawn depends on the seed alone."""
    try:
        reasons = [answer.reason for answer in answers if isinstance(answer, Missing)]
        for reason in sorted(reasons, key=lambda r: isinstance(r, Unreadable)):
            raise reason
        with trial(seed):
            return judge(*answers, **more)
    except NotAttempted:
        return Verdict(Outcome.NOT_ATTEMPTED, BLANK)
    except Unreadable as why:
        return Verdict(Outcome.UNCHECKED, str(why))
    except NotFinite as why:
        return not_finite(why)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _failed(error)


def _failed(error: BaseException) -> Verdict:
    says = f"The check itself failed ({in_words(error)}). Please report this."
    return Verdict(Outcome.UNCHECKED, says)


def _same(kind: Kind, a: Any, b: Any) -> bool:
    """Equivalent, as far as the kind can tell; functions without samples are told apart later."""
    if isinstance(kind, Function) and not kind.samples:
        return True
    return kind.same(a, b)


def _at_pencil(piece: Verdict) -> bool:
    """Did it fail at one of the first cases, before anything was drawn?"""
    place = piece.seen.place if piece.seen else None
    return piece.seed is None and place is not None and place[0] == 1


def _after_colon(piece: Verdict) -> str:
    """A part's sentence after the part's name."""
    if piece.outcome is Outcome.NOT_ATTEMPTED:
        return "still blank."
    first, _, _ = piece.says.partition(" ")
    lowered = first in ("With", "At", "For", "In", "After", "From", "When")
    return piece.says[:1].lower() + piece.says[1:] if lowered else piece.says


def _holds(predicate: Callable[..., bool], *arguments: Any) -> bool:
    try:
        return bool(predicate(*arguments))
    except Exception:  # an answer that cannot even be compared is not this mistake
        return False


EXERCISES: list[Exercise] = []


def exercise(
    number: str,
    *,
    points: int,
    earns: Sequence[int] | None = None,
    transfer: bool = False,
    numbers: Callable[[Any], Any] | None = None,
) -> Callable[[Callable[..., Verdict]], Exercise]:
    """Turn a check function into an Exercise.

    Parts add up to the points. With `earns=(0, 0, 1, 2)` it is the number of right parts that
    counts: none for none and one of them, one for two, two for three. With `transfer` it stands
    beyond the page: neither a lecture nor the package has its answer, and it is counted apart.
    `numbers` makes the numbers of a student's own from the id: then it can be practiced.
    """
    return lambda check: Exercise(check, number, points, earns, transfer, numbers)


class Scoreboard:
    """The points of this notebook so far, a row an exercise; those beyond the page stand apart."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        saved = _saved(exercises)
        groups = {"Essentials": False, "Beyond the page": True}
        self.groups: dict[str, list[Row]] = {
            title: [
                (e.number, e.name, *_state(e, saved), e.points)
                for e in exercises
                if e.is_transfer is transfer
            ]
            for title, transfer in groups.items()
        }
        self.rows = [row for rows in self.groups.values() for row in rows]
        self.earned, self.points = total(self.rows)

    def __repr__(self) -> str:
        width = max((len(name) for _, name, *_ in self.rows), default=0)
        lines = []
        for title, rows in self.groups.items():
            lines += [
                f"{number:<5} {name:<{width}}  {earned} of {points}  {state}"
                for number, name, state, earned, points in rows
            ]
            if self.groups["Beyond the page"]:
                lines.append(f"{title}: {counted(*total(rows))}")
        return "\n".join([*lines, f"Total: {counted(self.earned, self.points)}"])

    def _repr_html_(self) -> str:
        return points_table(self.groups)


def scoreboard(without: str = "") -> Scoreboard:
    """The points so far, over the units whose checks this notebook has called (else imported).

    `without="transfer"` leaves out what stands beyond the page, "essentials" all else.
    """
    called = {e.unit for e in EXERCISES if e.last} or {e.unit for e in EXERCISES}
    chosen = [e for e in EXERCISES if e.unit in called]
    out = {"transfer": True, "essentials": False}.get(without)
    return Scoreboard([e for e in chosen if e.is_transfer is not out])


def _state(exercise: Exercise, saved: Mapping[str, tuple[str, int]]) -> tuple[str, int]:
    """How it stands: by the last check in this kernel, else as it was saved."""
    if exercise.last:
        return exercise.last.headline, exercise.last.earned
    if exercise.name in saved:
        headline, earned = saved[exercise.name]
        return headline + AS_SAVED, min(earned, exercise.points)
    return "not run yet", 0


def _saved(exercises: Sequence[Exercise]) -> Mapping[str, tuple[str, int]]:
    """The verdicts in the saved file of this notebook, for those that were not run since."""
    path = Path(os.environ.get("JPY_SESSION_NAME", ""))  # Jupyter says so to its kernels
    if all(e.last for e in exercises) or path.suffix != ".ipynb" or not path.is_file():
        return {}
    from .students.progress import verdicts_in

    try:
        return verdicts_in(path, exercises)
    except CourseError:
        return {}


into_the_notebook()
