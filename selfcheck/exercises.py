"""What an exercise is: an answer goes in, one of four outcomes comes out, never an exception.

A check is a short function that runs the definition with the answer and returns `right`, `wrong`
or `partly`. Its parameters are annotated with the type that the check works with and the kind of
answer it is read from. Hints and the wrong answers it knows come after it:

    @exercise("1.1", points=2)
    def even_sum(total: Annotated[FormulaAnswer, Formula(n=range(1, 13))]) -> Verdict:
        ...

    even_sum.add_hints("Take the factor 2 out. …", "1 + 2 + … + n is n(n + 1)/2.")

    even_sum.mistake("the factor 2 lost", "Every term is …", example=("n*(n + 1)/2",))

Where several answers are asked for, each part is a function of its own that names the answers it
needs, and the check itself has the last word, when all parts are right:

    @four_questions.part("Question 2", points=1)
    def _mean(mean: FunctionAnswer) -> Verdict:
        ...
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, overload

from .blanks import ____
from .cards import card, counted, one_line
from .counterexamples import Case, Counterexample, NoCase, counterexample
from .display import name_of
from .facts import Facts, facts_beside, read_facts
from .feedback import Feedback, NamedMistake, Outcome
from .files import CourseError
from .following import FOLLOWS
from .kinds import Choice, Function, Kind, Student
from .mistakes_from_prose import attach
from .notebook import CELLS, into_the_notebook
from .own_numbers import as_own_numbers
from .parts import (
    MissingAnswer,
    Part,
    failed,
    in_a_sentence,
    points_of,
    read_one,
    settled,
    together,
    undecided,
    verdict_on_part,
)
from .per_case import refuse_cases
from .practice import AnySister, Practice, another
from .recognition import Misconception, Recognition
from .refusals import Unreadable
from .reserved import forbidding, gate_checks, object_named
from .sampling import PUBLIC_SEED, Compared, surveying, trial, tried
from .sealed import sealed_beside
from .verdicts import Verdict, right

if TYPE_CHECKING:
    from .afterwards import Shown

NOBODY = "0"  # the id of the homework's own numbers
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


@dataclass(frozen=True)
class Judged:
    """What a feedback stands on: the answers as they were read, and the verdict on each part."""

    answers: dict[str, Any]
    pieces: dict[str, Verdict]
    seed: int = PUBLIC_SEED


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

    seed: int | None = None  # the grader sets one for a whole class; else that of notebooks

    def __init__(
        self,
        check: Callable[..., Verdict | None],
        number: str,
        points: int,
        earns: Sequence[int] | None = None,
        transfer: bool = False,
        numbers: Callable[[Any], Any] | None = None,
        title: str = "",
        section: int = 0,
        says: str = "",
    ) -> None:
        self.title = title or check.__name__.replace("_", " ").capitalize()
        self.numbers = as_own_numbers(numbers)  # of a student's own, by the student's id
        self.check, self.number, self.points, self.earns = check, number, points, earns
        self.is_transfer, self.section, self.says = transfer, section, says
        self.parts: tuple[Part, ...] = ()
        self._sisters: tuple[AnySister, ...] = ()
        self._hints: tuple[str, ...] = ()
        self._misconceptions: tuple[Misconception, ...] = ()
        self._has_prose = False
        self.forbidden: tuple[str, ...] = ()
        self.name, self.unit, self.__doc__ = check.__name__, check.__module__, check.__doc__
        refuse_cases(check)
        self._signature = inspect.signature(check, eval_str=True)
        self.kinds = {name: self._kind(p) for name, p in self._signature.parameters.items()}
        defaults = {n: p.default for n, p in self._signature.parameters.items()}
        self.optional = {n for n, default in defaults.items() if default is None}
        self.last: Feedback | None = None
        self._hints_given = 0
        self._nudged: set[str] = set()
        self._chosen: list[tuple[str, ...]] = []
        self._recognition = Recognition(self)
        gate_checks(self.unit)
        # a module that is loaded again replaces its exercises
        EXERCISES[:] = [e for e in EXERCISES if (e.unit, e.name) != (self.unit, self.name)]
        EXERCISES.append(self)

    def __call__(self, *answers: Any, **named_answers: Any) -> Feedback:
        """Check the answers; whatever they are, the student gets a sentence."""
        if why := CELLS.why_not():
            return self.without_answer(why)
        found = self._leading_on(self.judged(*answers, **named_answers))
        self.last = replace(found, texts=CELLS.texts())
        return self.last

    def judged(self, *answers: Any, **named_answers: Any) -> Feedback:
        """The feedback, which is not kept as the last one."""
        with forbidding(self.forbidden, free=self._free):
            return self._judge(answers, named_answers)

    def _leading_on(self, feedback: Feedback) -> Feedback:
        """The same verdict, told at a small case, with what to do next."""
        if feedback.outcome is Outcome.RIGHT:
            return replace(feedback, leads=self._when_right(feedback))
        if feedback.judged is None or feedback.outcome is Outcome.NOT_ATTEMPTED:
            return feedback
        found = self._counterexamples(feedback.judged)
        if found:
            feedback = replace(feedback, says=one_line(self._retold(feedback, found)))
        feedback = replace(feedback, refuted=tuple(found.values()))
        leads = (*self._of_nobody(feedback), *self._leads(found))
        if self._hints_given < len(self.hints):
            which = f"Hint {self._hints_given + 1} of {len(self.hints)}"
            leads = (*leads, f"{which}: `{self.called}.hint()`.")
        elif self.section:
            leads = (*leads, f"To read again: section {self.section} of the lecture.")
        return replace(feedback, leads=leads)

    def _when_right(self, feedback: Feedback) -> tuple[str, ...]:
        """What may be looked at now: a good solution, and another task of this kind."""
        leads = self._of_nobody(feedback)
        if self._has_solution:
            leads += (f"A good solution: `{self.called}.solution()`.",)
        if self.sisters:
            leads += (f"Another of this kind, without points: `{self.called}.practice()`.",)
        return leads

    def _of_nobody(self, feedback: Feedback) -> tuple[str, ...]:
        """Whose numbers these are, if nobody's."""
        given = feedback.judged.answers if feedback.judged else {}
        names = [name for name, kind in self.kinds.items() if isinstance(kind, Student)]
        ids = [given[name] for name in names if isinstance(given.get(name), str)]  # was read
        return (f"With the numbers of id {NOBODY}, which is nobody's.",) if NOBODY in ids else ()

    @property
    def _has_solution(self) -> bool:
        """Did it come along, to be seen now?"""
        module = getattr(sys.modules.get(self.unit), "__file__", None)
        return module is not None and sealed_beside(module).exists()

    def _counterexamples(self, judged: Judged) -> dict[str, Counterexample]:
        """By part, the case that refutes the answer."""
        found = {}
        for part, verdict in judged.pieces.items():
            try:
                example = counterexample(self, judged.answers, part, verdict, judged.seed)
            except Exception:  # no verdict depends on it
                example = None
            if example:
                found[part] = example
        return found

    def _retold(self, feedback: Feedback, found: dict[str, Counterexample]) -> str:
        """What is said, with the smaller cases in it."""
        says = feedback.says
        for part, example in found.items():
            before = feedback.judged.pieces[part] if feedback.judged else example.verdict
            if before is not example.verdict:
                old, new = (one_line(in_a_sentence(v, part)) for v in (before, example.verdict))
                says = says.replace(old, new, 1)
        return says

    def _leads(self, found: dict[str, Counterexample]) -> tuple[str, ...]:
        """Sentences about the kind of case, the case to run, and the next hint."""
        leads = []
        for part, example in found.items():
            begin = f"{part}: " if part and len(found) > 1 else ""
            special = f"Ordinary cases pass; here {example.words}. " if example.words else ""
            names = [*example.cases][: 1 if example.is_sure else None]
            asked = len(found) > 1 or len(names) > 1  # for one of several by its name
            runs = [f"`{n}(*{self.called}.case({n if asked else ''}))`" for n in names]
            leads.append(f"{begin}{special}Run it yourself: {' and '.join(runs)}.")
        return tuple(leads)

    def _nudge(self, mistake: NamedMistake, feedback: Feedback) -> str:
        """What was mistaken, and where it can be seen."""
        says = f"On your mistake, {mistake.name}: {mistake.explanation}"
        for example in feedback.refuted:
            seen, name = example.verdict.seen, next(iter(example.cases))
            if example.part == mistake.part and example.is_sure and seen and seen.shown[0]:
                says += f" At `{name}(*{self.called}.case({name}))` it should be "
                return f"{says}{seen.shown[0]}; yours is {seen.shown[1]}. Where do they part?"
        return says

    def case(self, function: Any = None) -> Case:
        """The arguments that refuted the last answer, as your function gets them: `f(*case)`.

        Where several functions are asked for, name the one that you mean: `case(f)`.
        """
        cases = [example.cases for example in (self.last.refuted if self.last else ())]
        if not cases:
            raise NoCase(self._why_no_case())
        if function is None:
            return next(iter(cases[0].values())).copy()
        known = {name: case for every in cases for name, case in every.items()}
        name = name_of(function, str(function))
        if name not in known:
            raise NoCase(f"There is none for `{name}`; there is one for {', '.join(known)}.")
        return known[name].copy()

    def _why_no_case(self) -> str:
        if not any(isinstance(kind, Function) for kind in self.kinds.values()):
            return "This exercise asks for no function, so there is nothing to call."
        if self.last is None or self.last.judged is None:
            return f"Nothing was checked yet: run `{self.called}(…)` first."
        if self.last.outcome is Outcome.RIGHT:
            return "The last answer is right: no case refutes it."
        return (
            "It was not refuted by a call that can be repeated: look at what the card says. Does "
            "your function depend on chance, or on what was called before?"
        )

    @property
    def called(self) -> str:
        """How a notebook calls it: those of a course are in a module that is called `check`."""
        return f"check.{self.name}" if ".checks." in self.unit else self.name

    @property
    def hints(self) -> tuple[str, ...]:
        """What `hint` gives, one after the other: as written here, then as the prose has them."""
        self._take_prose()
        return self._hints

    @property
    def sisters(self) -> tuple[AnySister, ...]:
        """The tasks that can be drawn for practice."""
        self._take_prose()
        return self._sisters

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """The mistakes that it knows: those written here, then those of the prose of its unit."""
        self._take_prose()
        return self._misconceptions

    @misconceptions.setter
    def misconceptions(self, known: tuple[Misconception, ...]) -> None:
        self._take_prose()
        self._misconceptions = known

    def _take_prose(self) -> None:
        """Read what the file beside the checks says of all exercises of the unit, once."""
        if not self._has_prose:
            unit = [e for e in EXERCISES if e.unit == self.unit]
            for exercise in unit:
                exercise._has_prose = True
            attach(unit, self.unit)

    @property
    def _free(self) -> list[Any]:
        """The functions in the examples of known mistakes, also those of a list of lines."""
        examples = [answer for known in self.misconceptions for answer in known.example]
        lines = [line for a in examples if isinstance(a, list | tuple) for line in a]
        return [f for f in (*examples, *lines) if callable(f)]

    @overload
    def part(
        self, name: str, judge: Callable[..., Verdict], *, points: int = 1, of: str | None = None
    ) -> Callable[..., Verdict]: ...

    @overload
    def part(
        self, name: str, *, points: int = 1, of: str | None = None
    ) -> Callable[[AnyFunction], AnyFunction]: ...

    def part(self, name: str, judge: Any = None, *, points: int = 1, of: str | None = None) -> Any:
        """For the author: a part that is judged by itself, by this function or the one decorated.

        Its parameters are named as those of the exercise (or `of="a, b"` names them). One with a
        default may be missing: then the part is judged without it.
        """
        if judge is None:
            return lambda judge: self.part(name, judge, points=points, of=of)
        refuse_cases(judge)
        given = inspect.signature(judge).parameters.values()
        needs = [p.name for p in given if p.default is p.empty]
        may_use = [p.name for p in given if p.default is not p.empty]
        if of is not None:
            needs, may_use = [one.strip() for one in of.split(",")], []
        for unknown in {*needs, *may_use} - {*self.kinds}:
            raise TypeError(f"{self.name} has no answer {unknown} for its part {name}.")
        self.parts += (Part(name, points, judge, tuple(needs), tuple(may_use)),)
        return judge

    def forbid(self, *names: str) -> None:
        """For the author: functions of the course that are its answer, as "running.total".

        They raise a sentence when a student's code calls them for this exercise. Each of them is
        decorated with `answer`; functions of the checks need not be. A name may be that of a tuple
        of such names.
        """
        package = self.unit.partition(".")[0]
        for name in names:
            full = f"{package}.{name}"
            try:
                found = None if name.startswith("checks.") else object_named(full)
            except (ImportError, AttributeError):
                raise CourseError(f"{self.name} forbids {full}, which is not there.") from None
            if isinstance(found, tuple):
                self.forbid(*found)
                continue
            if found is not None and not hasattr(found, "reserved_as"):
                raise CourseError(f"{full} can be forbidden only if it is decorated with @answer.")
            self.forbidden += (full,)

    def add_hints(self, *hints: str) -> None:
        """For the author: what `hint` gives, one after the other."""
        self._hints += hints

    def add_practice(self, *sisters: AnySister) -> None:
        """Tasks of which `practice` draws one; see practice.py."""
        self._sisters += sisters

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
            self._misconceptions += (known,)
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
        """One more task of this kind, drawn anew; call it with your answer."""
        if self.sisters:
            return another(self, seed)
        return Hint("Practice", "There is no task of this kind to be drawn anew.")

    def without_answer(self, says: str) -> Feedback:
        """The feedback where there was no answer to look at."""
        self.last = replace(self._feedback(Verdict(Outcome.UNCHECKED, says)), waits=True)
        return self.last

    def hint(self) -> Hint:
        """The next hint, after a word on the mistake that was made last, if it is a known one."""
        if not self.hints:
            return Hint("Hint", "There is none for this exercise.")
        last = ", the last" if self._hints_given == len(self.hints) else ""
        number = self._hints_given = min(self._hints_given + 1, len(self.hints))
        mistakes = self.last.mistakes if self.last else ()
        nudges = [self._nudge(m, self.last) for m in mistakes if self.last and not m.instead]
        new = [nudge for nudge in nudges if nudge not in self._nudged]
        self._nudged.update(new)
        text = " ".join([*new, self.hints[number - 1]])
        return Hint(f"Hint {number} of {len(self.hints)}{last}", text)

    def solution(self) -> Shown:
        """A good solution beside your own, with its why, once you may see it."""
        from .afterwards import shown

        return shown(self)

    def __repr__(self) -> str:
        call = f"{self.called}({', '.join(self.kinds)})"
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
            return self._tried(self.read(self._in_order(answers, named_answers)))
        except Unreadable as why:
            return self._feedback(Verdict(Outcome.UNCHECKED, str(why)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the check's own fault must not hit the student either
            return self._feedback(failed(error))

    def _tried(self, answers: list[Any]) -> Feedback:
        tries = self._count_try(answers)
        seed = PUBLIC_SEED if self.seed is None else self.seed
        verdict = self.verdict(answers, seed)
        pieces = verdict.pieces or {"": verdict}
        mistakes = self._recognition.mistakes(answers, pieces, seed)
        seen = tuple(piece.seen for piece in pieces.values() if piece.seen)
        judged = Judged(dict(zip(self.kinds, answers, strict=True)), pieces, seed)
        about: dict[str, Any] = {"mistakes": mistakes, "tries": tries, "judged": judged}
        return replace(self._feedback(verdict), seen=seen, **about)

    def survey(self, answers: dict[str, Any], part: str, seed: int) -> list[Compared]:
        """For the grader: all that this part compares for answers that were read, with a seed."""
        with surveying() as noted:
            gone = {n for n in self.optional if isinstance(answers[n], MissingAnswer)}
            self._again(answers, part, seed, gone)
        return noted

    def again(self, answers: dict[str, Any], part: str, seed: int) -> Verdict:
        """The verdict on a part, or on all, by itself: no earlier answer is followed."""
        return self._again(answers, part, seed, self.optional)

    def _again(self, answers: dict[str, Any], part: str, seed: int, gone: set[str]) -> Verdict:
        with forbidding(self.forbidden, free=self._free), trial(seed):
            if part:
                return verdict_on_part(self._part(part), answers, seed)
            known = [None if n in gone else a for n, a in answers.items()]
            return settled(self._last_word, known, seed)

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

    def read(self, answers: tuple[Any, ...]) -> list[Any]:
        """Each answer by itself; one that cannot be read is a `MissingAnswer`, with the reason."""
        return [
            read_one(kind, answer, name)
            for (name, kind), answer in zip(self.kinds.items(), answers, strict=True)
        ]

    def verdict(self, answers: list[Any], seed: int) -> Verdict:
        """All parts, each by itself; where all are right, and where there are none, the check."""
        given = dict(zip(self.kinds, answers, strict=True))
        missing = {n for n in self.optional if isinstance(given[n], MissingAnswer)}
        known = [None if name in missing else answer for name, answer in given.items()]
        with trial(seed):
            if not self.parts:
                return settled(self._last_word, known, seed)
            pieces = {part.name: verdict_on_part(part, given, seed) for part in self.parts}
            if all(piece.outcome is Outcome.RIGHT for piece in pieces.values()):
                return _with_what_follows(settled(self._last_word, known, seed), pieces)
        return together(pieces, points_of(self.parts, pieces, self.earns))

    def _last_word(self, *answers: Any) -> Verdict:
        """The check's verdict; with parts, which were right, it need not give any.

        What it does not say of a right answer is said as the facts have it.
        """
        verdict = self.check(*answers)
        if verdict is None:
            if not self.parts:
                raise CourseError(f"{self.name} gives no verdict")
            verdict = right()
        if verdict.outcome is Outcome.RIGHT and not verdict.says:
            verdict = replace(verdict, says=self.says.replace("{tried}", str(tried())))
        return verdict

    def _count_try(self, answers: list[Any]) -> int:
        """How many different choices this exercise was given in this session."""
        words = tuple(
            str(answer)
            for kind, answer in zip(self.kinds.values(), answers, strict=True)
            if isinstance(kind, Choice) and not isinstance(answer, MissingAnswer)
        )
        if words and words not in self._chosen:
            self._chosen.append(words)
        return max(len(self._chosen), 1)

    def _feedback(self, verdict: Verdict) -> Feedback:
        if verdict.earned is not None and not 0 <= verdict.earned < self.points:
            verdict = failed(
                ValueError(f"{verdict.earned} is not a part of {counted(self.points)}")
            )
        full = self.points if verdict.outcome is Outcome.RIGHT else 0
        earned = full if verdict.earned is None else int(verdict.earned)
        says = one_line(verdict.says)
        made = Feedback(self.number, self.name, verdict.outcome, earned, self.points, says)
        return replace(made, title=self.title, undecided=verdict.undecided)


def _with_what_follows(verdict: Verdict, pieces: dict[str, Verdict]) -> Verdict:
    """The verdict when all parts are right; those that follow from an earlier slip say so."""
    following = [f"{name}: {p.says}" for name, p in pieces.items() if p.says.startswith(FOLLOWS)]
    verdict = replace(verdict, undecided=verdict.undecided or undecided(pieces))
    if not following or verdict.outcome is not Outcome.RIGHT:
        return verdict
    return replace(verdict, says=" ".join(following))


EXERCISES: list[Exercise] = []


@overload
def exercise(check: Callable[..., Verdict | None], /) -> Exercise: ...


@overload
def exercise(
    number: str = "",
    /,
    *,
    points: int = 0,
    earns: Sequence[int] | None = None,
    transfer: bool = False,
    numbers: Callable[[Any], Any] | None = None,
) -> Callable[[Callable[..., Verdict | None]], Exercise]: ...


def exercise(
    given: str | Callable[..., Verdict | None] = "",
    /,
    *,
    points: int = 0,
    earns: Sequence[int] | None = None,
    transfer: bool = False,
    numbers: Callable[[Any], Any] | None = None,
) -> Exercise | Callable[[Callable[..., Verdict | None]], Exercise]:
    """Turn a check function into an Exercise: `@exercise`, or `@exercise(numbers=…)`.

    Number, points and the rest stand in the file of facts beside the module (see facts.py). Where
    there is none, they are told here: `@exercise("1.1", points=2)`. Parts add up to the points.
    With `earns=(0, 0, 1, 2)` it is the number of right parts that counts: none for none and one of
    them, one for two, two for three. With `transfer` it stands beyond the page. `numbers` makes the
    numbers of a student's own from the id: then it can be practiced.
    """
    if callable(given):
        return exercise()(given)
    number = given

    def made(check: Callable[..., Verdict | None]) -> Exercise:
        facts = _facts_of(check, number, points)
        if facts is None:
            return Exercise(check, number, points, earns, transfer, numbers)
        told = Exercise(
            check,
            facts.number,
            facts.points,
            facts.earns or None,
            facts.beyond,
            numbers,
            facts.title,
            facts.section,
            facts.says,
        )
        told.forbid(*facts.forbids)
        return told

    return made


def _facts_of(check: Callable[..., Verdict | None], number: str, points: int) -> Facts | None:
    """What the file beside its module says of a check; None if it is told above the function."""
    written = inspect.unwrap(check)  # below what calls it with each case
    module = written.__globals__.get("__file__", "")
    where = f"{module or 'this notebook'}, line {written.__code__.co_firstlineno}"
    file = facts_beside(module) if module else None
    if file is None or not file.exists():
        if not number or points < 1:
            raise CourseError(
                f'{where}: {check.__name__} needs a number and points: @exercise("1.1", points=2).'
            )
        return None
    found = [facts for facts in read_facts(file) if facts.name == check.__name__]
    if not found:
        raise CourseError(f"{where}: {file.name} does not declare {check.__name__}.")
    if number or points:
        raise CourseError(
            f"{where}: {file.name} declares {check.__name__} already; write @exercise alone."
        )
    return found[0]


into_the_notebook()
