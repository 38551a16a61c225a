"""Practice without end: a sister task of an exercise, drawn anew, judged by the same definition.

    task = check.area.practice()   # shows the task
    task(12)                       # judged without points

Sister tasks stand in the prose of a unit, beside hints and mistakes: what is drawn, what is right,
and the question, with `<a>` where a value goes.

    ## Practice

    ```python
    a = range(2, 9)
    b = [0.5, 1.5]
    right = a * b
    ```

    A rectangle is $<a>$ wide and $<b>$ high. How large is it?

The block is read with the names of the checks, of the file beside them that ends with _practice.py,
and with `solved`, `tenths` and `whole` of this one. A value is drawn as `drawn` says;
or `draw`, an expression in rng, gives all of them by their names. `right` is an expression in what
was drawn: a number, an array, a polynomial (then `kind` is the Formula it is asked for), a function
(compared `on` cases), or several of these by the names of the answers. Both may be written as
functions, `def draw(rng)` and `def right(a, b)`, and so may `needs`. Numbers are right `within` a
relative error, whole ones exactly.

An exercise with numbers of a student's own is practiced with those of an id that nobody has, if
nothing is `right`: it shows what `needs`, an expression in those numbers n, takes from them.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .calls import FunctionAnswer
from .compare import real_array
from .display import show_at
from .feedback import Feedback, Outcome
from .formula import pretty
from .kinds import Array, Formula, FormulaAnswer, Function, Kind, Number, Student
from .parts import read_one, settled
from .prose import PRACTICE
from .prose import Practice as Told
from .python_in_prose import at_its_line, names_of, refusal, refusing
from .sampling import PUBLIC_SEED, cases
from .verdicts import Verdict, differs, right, where

if TYPE_CHECKING:
    from .exercises import Exercise

THREE_DIGITS = 2e-3  # relative: what is rounded to three digits is right
FULL = "As the definition gives it."
Given = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """One task: what is asked, as Markdown with formulas, and how answers to it are judged."""

    asked: str
    kinds: Mapping[str, Kind]
    judge: Callable[..., Verdict | Feedback]
    given: Given = field(default_factory=dict)
    right: tuple[Any, ...] | None = None  # as the definition gives it, for tests
    by_exercise: bool = False  # the exercise itself reads the answers and judges them


@dataclass(frozen=True)
class Sister:
    """A task of which numbers or rules are drawn, and what is right is computed."""

    asks: str
    by: Callable[..., Any]
    draw: Mapping[str, Any] | Callable[[np.random.Generator], Given]
    kind: Kind | Mapping[str, Kind] | None = None
    on: Sequence[Any] = ()
    within: float = THREE_DIGITS

    def task(self, rng: np.random.Generator) -> Task:
        """Draw one."""
        given = self.draw(rng) if callable(self.draw) else drawn(rng, self.draw)
        truth = self.by(**given)
        named = truth if isinstance(truth, dict) else {"answer": truth}
        kinds = {name: self._kind(name, value) for name, value in named.items()}

        def judge(*answers: Any) -> Verdict:
            for (name, value), answer in zip(named.items(), answers, strict=True):
                if verdict := self._off(name, value, answer):
                    return verdict
            return right(FULL)

        shown = {k: v for k, v in given.items() if not callable(v)}
        return Task(filled(self.asks, given), kinds, judge, shown, tuple(named.values()))

    def _kind(self, name: str, value: Any) -> Kind:
        if isinstance(self.kind, Mapping):
            return self.kind[name]
        if self.kind is not None:
            return self.kind
        if callable(value):
            return Function()
        shape = np.shape(value)
        return Array(shape) if shape else Number()

    def _off(self, name: str, value: Any, answer: Any) -> Verdict | None:
        """A refutation if the answer is not what the definition gives, else None."""
        if isinstance(answer, FunctionAnswer):
            return self._function_off(value, answer)
        if isinstance(answer, FormulaAnswer):
            return self._formula_off(value, answer)
        if isinstance(value, str):
            return differs(value, answer, what=f"`{name}`")
        what = "the answer" if name == "answer" else f"`{name}`"
        exact = np.asarray(value).dtype.kind in "iub"
        return differs(value, answer, what=what, tolerance=1e-9 if exact else self.within)

    def _function_off(self, truth: Callable[..., Any], answer: FunctionAnswer) -> Verdict | None:
        pencil = [case for case in self.on if not callable(case)]
        for case in cases(pencil, *(draw for draw in self.on if callable(draw))):
            args = case if isinstance(case, tuple) else (case,)
            expected = truth(*args)
            result = answer.array(*args, shape=np.shape(expected))
            at = where("With {} as arguments,", list(args))
            if verdict := differs(expected, result, at=at, tolerance=1e-5):
                return verdict
        return None

    def _formula_off(self, truth: Any, answer: FormulaAnswer) -> Verdict | None:
        kind = self.kind[answer.name] if isinstance(self.kind, Mapping) else self.kind
        assert isinstance(kind, Formula)
        import sympy

        count = sympy.lambdify([*kind.domain], truth, "math")
        for point in kind.points():
            expected = float(count(**point))
            at, what = f"At {show_at(point)},", pretty(answer.name)
            if verdict := differs(expected, answer(**point), at=at, what=what):
                return verdict
        return None


@dataclass(frozen=True)
class OfNobody:
    """The exercise itself, with the numbers of an id that nobody has: those that it needs."""

    exercise: Exercise
    asks: str
    needs: Callable[[Any], Given]

    def task(self, rng: np.random.Generator) -> Task:
        """Draw one."""
        student, exercise = f"practice {rng.integers(10**9)}", self.exercise
        assert exercise.numbers is not None
        given = self.needs(exercise.numbers(student))
        kinds = {n: k for n, k in exercise.kinds.items() if n not in exercise.optional}
        place = next(i for i, k in enumerate(kinds.values()) if isinstance(k, Student))
        asked = {name: kind for name, kind in kinds.items() if not isinstance(kind, Student)}

        def judge(*answers: Any) -> Feedback:
            return exercise.judged(*answers[:place], student, *answers[place:])

        given = {**given, "student": student}
        return Task(filled(self.asks, given), asked, judge, given, by_exercise=True)


OPTIONS = ("kind", "on", "within")
PLACE = re.compile(r"<(\w+)(:code)?>")


@dataclass(frozen=True)
class Declared:
    """A sister task as the prose of a unit tells it; nothing is evaluated before it is drawn."""

    exercise: Exercise
    told: Told
    file: Path

    def task(self, rng: np.random.Generator) -> Task:
        """Draw one."""
        task = self._sister.task(rng)
        if left := PLACE.search(task.asked):
            raise refusal(self.file, self.told.line, f"nothing is drawn for {left[0]}.")
        return task

    @cached_property
    def _sister(self) -> Sister | OfNobody:
        told, asks = self._assigned(), "\n\n".join(self.told.asks)
        right, draw, needs = (told.pop(name, None) for name in ("right", "draw", "needs"))
        options = {name: self._value(told.pop(name)) for name in OPTIONS if name in told}
        if right is None and self.exercise.numbers is None:
            raise refusal(self.file, self.told.line, "it does not say what is `right`.")
        self._require_used(told, asks, right if draw is None else None)
        if right is None:
            return OfNobody(self.exercise, asks, lambda n: self._value(needs, n=n) or {})
        values = {name: self._value(how) for name, how in told.items()}
        return Sister(
            asks,
            lambda **given: self._value(right, **given),
            values if draw is None else lambda rng: self._value(draw, rng=rng),
            **options,
        )

    def _require_used(self, drawn: dict[str, ast.expr], asks: str, right: ast.expr | None) -> None:
        """Refuse a value that neither the question nor what is right has, a misspelled one too."""
        used = {found[1] for found in PLACE.finditer(asks)} if right else set()
        names = ast.walk(right) if right else ()
        used |= {node.id for node in names if isinstance(node, ast.Name)}
        for name in (name for name in drawn if name not in used):
            raise refusal(self.file, drawn[name].lineno, f"{name} is drawn, and nobody uses it.")

    def _assigned(self) -> dict[str, ast.expr]:
        """By their names, the expressions of the block."""
        if self.told.code is None:
            return {}
        found: dict[str, ast.expr] = {}
        with refusing(self.file, self.told.line):
            body = ast.parse(at_its_line(self.told.code.code, self.told.code.line)).body
        for row in body:
            match row:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in found:
                    found[name] = value
                case ast.FunctionDef(name="right" | "draw" | "needs" as name) if name not in found:
                    found[name] = self._call_of(row)
                case _:
                    says = "a row is a name, once, and what it is: `a = …`, `def right(a): …`."
                    raise refusal(self.file, row.lineno, says)
        return found

    def _call_of(self, told: ast.FunctionDef) -> ast.expr:
        """The call, with what is drawn, of a function that stands in the block."""
        with refusing(self.file, told.lineno, "this"):
            exec(compile(ast.Module([told], []), str(self.file), "exec"), self._names)
        call = f"{told.name}({', '.join(a.arg for a in told.args.args)})"
        return ast.parse(at_its_line(call, told.lineno), mode="eval").body

    @cached_property
    def _names(self) -> dict[str, Any]:
        ours = {"solved": solved, "tenths": tenths, "whole": whole}
        return ours | names_of(self.exercise.unit, PRACTICE)

    def _value(self, told: ast.expr | None, **given: Any) -> Any:
        if told is None:
            return None
        with refusing(self.file, told.lineno, "this"):
            code = compile(ast.Expression(told), str(self.file), "eval")
            return eval(code, self._names | given)


AnySister = Sister | OfNobody | Declared


def drawn(rng: np.random.Generator, spec: Mapping[str, Any]) -> Given:
    """Values by their specification: one of several, or what a function makes of the generator.

    Text is the shape of an array of small whole numbers, a letter for each axis: "nm" and "km" have
    equally many columns, two or three.
    """
    letters = {letter: int(rng.integers(2, 4)) for letter in "abcdefghijklmnopqrstuvwxyz"}
    given: Given = {}
    for name, how in spec.items():
        if isinstance(how, str):
            given[name] = whole(rng, *(letters[letter] for letter in how))
        elif callable(how):
            given[name] = how(rng)
        else:
            given[name] = how[int(rng.integers(len(how)))]
    return given


def whole(rng: np.random.Generator, *shape: int, largest: int = 3) -> np.ndarray:
    """Small whole numbers, as floats; no row is all zeros."""
    array = rng.integers(-largest, largest + 1, shape).astype(float)
    rows = array.reshape(-1, shape[-1]) if shape else array.reshape(1, 1)
    rows[~rows.any(axis=1), 0] = 1.0
    return array


def filled(asks: str, given: Given) -> str:
    """The text with values for their names, `<a>` or `<a:code>`, as they are typeset or as code."""

    def value(found: re.Match[str]) -> str:
        return as_code(given[found[1]]) if found[2] else in_latex(given[found[1]])

    names = "|".join(given) or "$^"
    return re.sub(rf"<({names})(:code)?>", value, asks)


def solved(f: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that changes its sign once between two numbers is 0."""
    rises = f(high) > f(low)
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if (f(middle) > 0) == rises else (middle, high)
    return (low + high) / 2


def tenths(low: int, high: int) -> list[float]:
    """Numbers of one decimal, from low to high tenths."""
    return [k / 10 for k in range(low, high + 1)]


def in_latex(value: Any) -> str:
    """A number, a matrix or words, between dollar signs."""
    if isinstance(value, str):
        return value
    array = real_array(value)
    if array is None or array.ndim == 0:
        return as_code(value)
    if array.ndim == 1:
        return "(" + ",\\, ".join(map(as_code, array.tolist())) + ")"
    if array.ndim > 2:
        return ",\\; ".join(map(in_latex, array))
    rows = r" \\ ".join(" & ".join(map(as_code, row)) for row in array.tolist())
    return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"


def as_code(value: Any) -> str:
    """As Python writes it, with few digits."""
    array = real_array(value)
    if array is None or array.ndim:
        return repr(value.tolist() if isinstance(value, np.ndarray) else value)
    number = float(array)
    is_whole = number == round(number) and abs(number) < 1e15
    return str(round(number)) if is_whole else f"{number:.9g}"


class Practice:
    """A task; call it with your answer. What it gives has names: `task.given["a"]` or `task.a`."""

    def __init__(self, exercise: Exercise, seed: int) -> None:
        self.exercise, self.seed = exercise, seed
        rng = np.random.default_rng(seed)
        sisters = exercise.sisters
        self.task = sisters[int(rng.integers(len(sisters)))].task(rng)
        self.given = self.task.given

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["given"][name]
        except KeyError:
            raise AttributeError(f"This task gives no {name}.") from None

    def __call__(self, *answers: Any) -> Practiced:
        """Judge the answer; no point depends on it."""
        kinds = self.task.kinds
        if len(answers) != len(kinds):
            called = f"task({', '.join(kinds)})"
            verdict = Verdict(Outcome.UNCHECKED, f"Answer this task by `{called}`.")
        elif isinstance(found := self._judged(answers), Feedback):
            return Practiced(found)
        else:
            verdict = found
        about = self.exercise.number, self.exercise.name, verdict.outcome
        return Practiced(Feedback(*about, 0, 0, verdict.says))

    def _judged(self, answers: tuple[Any, ...]) -> Verdict | Feedback:
        if self.task.by_exercise:
            return self.task.judge(*answers)
        kinds = self.task.kinds.items()
        read = [read_one(k, a, name) for (name, k), a in zip(kinds, answers, strict=True)]
        return settled(self.task.judge, read, PUBLIC_SEED)  # type: ignore[arg-type]

    def _how(self) -> str:
        call = f"task = {self.exercise.called}.practice({self.seed})"
        gives = [name for name in self.given if name != "student"]
        numbers = f"; it has {', '.join(f'`task.{n}`' for n in gives)}" if gives else ""
        return f"This task is `{call}`{numbers}. Answer it: `task({', '.join(self.task.kinds)})`."

    def __repr__(self) -> str:
        return f"Practice for {self.exercise.number}: {self.task.asked}\n{self._how()}"

    def _repr_markdown_(self) -> str:
        title = f"**Practice for {self.exercise.number}**, without points"
        return f"{title}\n\n{self.task.asked}\n\n{self._how()}"


@dataclass(frozen=True)
class Practiced:
    """The verdict on a task: as that of the exercise, without points."""

    feedback: Feedback

    def __repr__(self) -> str:
        return " ".join([f"practice: {self.feedback.headline}.", *self.feedback.sentences()])

    def _repr_html_(self) -> str:
        return self.feedback.card(f"practice for {self.feedback.number}")


def another(exercise: Exercise, seed: int | None = None) -> Practice:
    """A task that was not there before; with a seed, the one of that seed."""
    return Practice(exercise, random.randrange(10**4) if seed is None else seed)
