"""What a wrong answer is, in numbers, so that two of a class can be told to be the same.

The judge signs each wrong answer that carries no known mistake. A formula is its values at the
points of its kind, a number or an array is itself, a choice its word, a derivation its first false
line. A function is what it gives at all instances of the check (drawn from a seed that the whole
class shares) and at the samples of its kind: it is called where it lives, in the sandbox. Nothing
here decides about points.

The unit's own solution leaves a `Reference`: the same numbers of a right answer, and those of a
right answer in which an index is shifted or two roles are swapped.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from selfcheck.calls import line_at
from selfcheck.cards import one_line
from selfcheck.compare import real_array
from selfcheck.exercises import Exercise
from selfcheck.feedback import Feedback, Outcome
from selfcheck.kinds import Choice, Formula, FormulaAnswer, Function, Lines, Steps, Student
from selfcheck.parts import MissingAnswer
from selfcheck.sampling import Compared

from .records import _Record

MOST_NUMBERS = 256  # in one item; a larger one is left out where there are smaller ones
MOST_ITEMS = 40
LONGEST_WORD, LONGEST_SENTENCE = 400, 2000
WHOLE = {"t", "T", "i", "j", "k", "m", "n"}  # symbols that count something, in derivations


@dataclass(frozen=True)
class Item(_Record):
    """Numbers of an answer, flat, and the right ones where the check told them."""

    name: str
    shape: tuple[int, ...]
    mine: tuple[float, ...]
    right: tuple[float, ...] | None = None

    @property
    def array(self) -> np.ndarray:
        """What the answer gave."""
        return np.array(self.mine, dtype=float).reshape(self.shape)

    @property
    def expected(self) -> np.ndarray | None:
        """What it should have given."""
        return None if self.right is None else np.array(self.right, float).reshape(self.shape)


@dataclass(frozen=True)
class Signature(_Record):
    """One wrong part of an answer: numbers, words, and the answers as an example would have them.

    `whose` is the student id where everybody has other numbers. A form is empty where an answer is
    a function.
    """

    part: str
    items: tuple[Item, ...] = ()
    words: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    whose: str = ""
    says: str = ""  # the counterexample

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Signature:
        """The record again, with its items."""
        return super().from_dict({**data, "items": [*map(Item.from_dict, data["items"])]})


@dataclass(frozen=True)
class Reference(_Record):
    """A right answer's numbers by part, and those of right answers with a known twist."""

    items: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    twisted: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # by "part: twist"


def unnamed(feedback: Feedback) -> list[str]:
    """The wrong parts that carry no known mistake."""
    if feedback.judged is None:
        return []
    named = {mistake.part for mistake in feedback.mistakes}
    pieces = feedback.judged.pieces.items()
    return [part for part, v in pieces if v.outcome is Outcome.WRONG and part not in named]


def needs_calls(exercise: Exercise, part: str = "") -> bool:
    """Does it take the student's functions to judge or to sign this part?"""
    kinds = [exercise.kinds[name] for name in exercise.needs(part)]
    return any(isinstance(kind, Function | Steps) for kind in kinds)


def sign(exercise: Exercise, feedback: Feedback, part: str, seed: int) -> Signature:
    """The signature of one wrong part; `seed` is the class's for this exercise."""
    assert feedback.judged is not None
    answers, verdict = feedback.judged.answers, feedback.judged.pieces[part]
    kinds = {name: exercise.kinds[name] for name in exercise.needs(part)}
    whose = [answers[n] for n, kind in kinds.items() if isinstance(kind, Student)]
    says = one_line(verdict.says)[:LONGEST_SENTENCE]
    signature = Signature(part, whose=str(whose[0]) if whose else "", says=says)
    asks = {name: kind for name, kind in kinds.items() if name not in exercise.optional}
    for name, kind in asks.items():
        signature = _with_answer(signature, name, kind, answers[name], verdict.line)
    if whose or any(isinstance(kind, Function) for kind in kinds.values()):
        compared = exercise.survey(answers, part, seed)
        signature = replace(signature, items=_cut([*_items(compared), *signature.items]))
    if not signature.items and not signature.words:
        told = verdict.seen.at if verdict.seen else verdict.says
        signature = replace(signature, words=(told[:LONGEST_WORD],))
    return signature


def refer(exercise: Exercise, feedback: Feedback) -> Reference:
    """What the solution's answer gives, part by part."""
    if feedback.judged is None:
        return Reference()
    items: dict[str, list[dict[str, Any]]] = {}
    twisted: dict[str, list[dict[str, Any]]] = {}
    for part in [part.name for part in exercise.parts] or [""]:
        answers = {n: feedback.judged.answers[n] for n in exercise.needs(part)}
        if any(isinstance(exercise.kinds[n], Student) for n in answers):
            continue  # everybody has other numbers; the check tells the right ones
        signature = Signature(part)
        for name, answer in answers.items():
            last = len(answer) - 1 if isinstance(answer, list) else None  # what is to be derived
            signature = _with_answer(signature, name, exercise.kinds[name], answer, last)
        items[part] = [item.as_dict() for item in signature.items]
        for twist, made in _twists(exercise, answers):
            twisted[f"{part}: {twist}"] = [item.as_dict() for item in made]
    return Reference(items, twisted)


# -- one answer -----------------------------------------------------------------------------------


def _with_answer(
    signature: Signature, name: str, kind: Any, answer: Any, line: int | None
) -> Signature:
    """The signature with this answer in it."""
    items, words, form = _described(name, kind, answer, line)
    return replace(
        signature,
        items=(*signature.items, *items),
        words=(*signature.words, *words),
        forms=(*signature.forms, form),
    )


Described = tuple[Iterable[Item], list[str], str]  # numbers, words, and the answer as source


def _described(name: str, kind: Any, answer: Any, line: int | None) -> Described:
    """What an answer of this kind is known by."""
    if isinstance(answer, MissingAnswer):
        return [], [f"no {name}"], "____"
    if isinstance(kind, Student):
        return [], [], repr(answer)
    if isinstance(kind, Choice):
        return [], [f"{name}: {answer}"], repr(answer)
    if isinstance(kind, Formula):
        return _some(name, [_at(answer, p) for p in kind.points()]), [], repr(str(answer))
    if isinstance(kind, Lines | Steps):
        form = repr([str(one) for one in answer]) if isinstance(kind, Lines) else ""
        return *_first_false(name, kind, answer, line), form
    if isinstance(kind, Function):
        return _samples(name, kind, answer), [], ""
    if (array := real_array(answer)) is not None:
        return _some(name, array), [], repr(array.tolist())
    return [], [f"{name}: {answer!r}"[:LONGEST_WORD]], repr(answer)[:LONGEST_WORD]


def _at(formula: FormulaAnswer, point: dict[str, Any]) -> float:
    """The value, or nan where there is none."""
    try:
        return float(formula.formula.at(**point))
    except Exception:  # no value there is as telling as any other
        return float("nan")


def _samples(name: str, kind: Function, answer: Any) -> Iterator[Item]:
    for number, args in enumerate(kind.samples, start=1):
        with contextlib.suppress(Exception):  # what raises is told apart by what does not
            yield from _some(f"{name} {number}", answer(*args))


def _first_false(
    name: str, kind: Lines | Steps, lines: list[Any], line: int | None
) -> tuple[list[Item], list[str]]:
    """The first false line in numbers, else as it is written; none where no line is false."""
    if line is None or line >= len(lines):
        return [], []
    false = lines[line]
    if isinstance(kind, Steps):
        with contextlib.suppress(Exception):
            return list(_some(name, line_at(false, kind.quantities))), []
        return [], [f"line {line + 1}"]
    rng = np.random.default_rng(0)
    points = [
        {s: int(rng.integers(2, 9)) if s in WHOLE else rng.uniform(0.1, 0.9) for s in kind.symbols}
        for _ in range(8)
    ]
    try:
        return list(_some(name, [float(false.at(**point)) for point in points])), []
    except Exception:  # it has functions such as g(i)
        return [], [ast.dump(false.tree)[:LONGEST_WORD]]


def _some(name: str, value: Any, right: Any = None) -> Iterator[Item]:
    """The value as an item, or one for each part of a tuple; nothing for what is no number."""
    array = real_array(value)
    if array is None:
        if isinstance(value, tuple | list) and len(value) <= MOST_ITEMS:
            for number, part in enumerate(value, start=1):
                yield from _some(f"{name}.{number}", part)
        return
    wanted = None if right is None else real_array(right)
    told = tuple(wanted.flat) if wanted is not None and wanted.shape == array.shape else None
    yield Item(name, array.shape, tuple(map(float, array.flat)), told)


# -- what a check compared ------------------------------------------------------------------------


def _items(compared: Sequence[Compared]) -> Iterator[Item]:
    """An item a comparison; numbers that were compared one by one at a case make a row."""
    for _, group in itertools.groupby(compared, key=lambda c: (c.place, _is_number(c))):
        together = list(group)
        if _is_number(together[0]):
            mine = [float(c.yours) for c in together]
            yield from _some("", mine, [float(c.expected) for c in together])
        else:
            for one in together:
                yield from _some("", one.yours, one.expected)


def _is_number(compared: Compared) -> bool:
    return all(np.ndim(x) == 0 and _is_real(x) for x in (compared.yours, compared.expected))


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, np.complexfloating)


def _cut(items: Sequence[Item]) -> tuple[Item, ...]:
    small = [item for item in items if len(item.mine) <= MOST_NUMBERS]
    return tuple(small[:MOST_ITEMS])


# -- twists of a right answer ---------------------------------------------------------------------


def _twists(exercise: Exercise, answers: dict[str, Any]) -> Iterator[tuple[str, list[Item]]]:
    """A right answer with an index shifted, two symbols or arguments swapped, answers exchanged."""
    kinds = {name: exercise.kinds[name] for name in answers}
    for name, kind in kinds.items():
        if isinstance(kind, Formula) and len(answers) == 1:
            yield from _twisted_formula(name, kind, answers[name])
        elif isinstance(kind, Function) and len(answers) == 1:
            yield from _twisted_function(name, kind, answers[name])
    yield from _exchanged(kinds, answers)


def _twisted_formula(
    name: str, kind: Formula, answer: FormulaAnswer
) -> Iterator[tuple[str, list[Item]]]:
    def made(change: Callable[[dict[str, Any]], dict[str, Any]]) -> list[Item]:
        return list(_some(name, [_at(answer, change(point)) for point in kind.points()]))

    for symbol, domain in kind.domain.items():
        for by in (1, -1) if isinstance(domain, range) else ():
            yield f"shift {symbol} {by:+d}", made(partial(_shifted, symbol, by))
    for a, b in itertools.combinations(kind.domain, 2):
        yield f"swap {a} {b}", made(partial(_swapped, a, b))


def _shifted(symbol: str, by: int, point: dict[str, Any]) -> dict[str, Any]:
    return {**point, symbol: point[symbol] + by}


def _swapped(a: str, b: str, point: dict[str, Any]) -> dict[str, Any]:
    return {**point, a: point[b], b: point[a]}


def _twisted_function(name: str, kind: Function, answer: Any) -> Iterator[tuple[str, list[Item]]]:
    names = list(getattr(answer.function, "parameters", ())) or _parameters(answer.function)
    width = min((len(args) for args in kind.samples), default=0)
    for a, b in itertools.combinations(range(width), 2):
        order = list(range(width))
        order[a], order[b] = b, a
        swapped = copy.copy(kind)  # a kind may have an __init__ of its own
        samples = [tuple(args[k] for k in order) for args in kind.samples]
        object.__setattr__(swapped, "samples", samples)  # kinds are frozen
        items = list(_samples(name, swapped, answer))
        if len(items) == len(kind.samples):
            said = [names[k] if k < len(names) else f"argument {k + 1}" for k in (a, b)]
            yield f"swap {said[0]} {said[1]}", items


def _parameters(function: Any) -> list[str]:
    with contextlib.suppress(TypeError, ValueError):
        return [p for p in inspect.signature(function).parameters if p.isidentifier()]
    return []


def _exchanged(kinds: dict[str, Any], answers: dict[str, Any]) -> Iterator[tuple[str, list[Item]]]:
    """Two answers of one kind in each other's place."""
    for a, b in itertools.combinations(kinds, 2):
        if type(kinds[a]) is not type(kinds[b]) or isinstance(kinds[a], Student):
            continue
        swapped = {**answers, a: answers[b], b: answers[a]}
        signature = Signature("")
        for name, answer in swapped.items():
            signature = _with_answer(signature, name, kinds[name], answer, None)
        if signature.items:
            yield f"exchange {a} {b}", list(signature.items)
