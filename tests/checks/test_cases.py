"""For every exercise that asks for a function, a wrong one is refuted by a case that can be run."""

import importlib

import numpy as np
import pytest

from selfcheck import counterexamples
from selfcheck.calls import Call
from selfcheck.compare import real_array, same_entries
from selfcheck.display import name_of
from selfcheck.feedback import Outcome
from selfcheck.kinds import Function
from selfcheck.parts import MissingAnswer
from selfcheck.sampling import PUBLIC_SEED, Replay, replaying
from selfcheck.smaller import smaller
from tests.checks.test_every_exercise import EXERCISES

FUNCTIONS = [
    e
    for e in EXERCISES
    if any(isinstance(k, Function) and n not in e.optional for n, k in e.kinds.items())
]

SOME = 4  # mistakes of each; all take minutes


def called(function, case):
    try:
        with np.errstate(all="ignore"):
            return function(*case)
    except Exception as error:
        return error


def fails(exercise, misconception):
    """Does the wrong function fail at its case? None if it was refuted by no call."""
    feedback = exercise(*misconception.example)
    if not feedback.refuted:
        return None
    given = dict(zip(exercise.kinds, misconception.example, strict=False))
    own = {name_of(f, name): (name, f) for name, f in given.items() if callable(f)}
    example = feedback.refuted[0]
    name, function = own[next(iter(example.cases))]
    value = called(function, exercise.case())
    if isinstance(value, Exception):
        return True
    seen = example.verdict.seen
    refuted = [v for v in (seen.yours, seen.compared) if v is not None] if seen else []
    if any(Call("", (), value).gave(v) for v in refuted):
        return True
    right = importlib.import_module(f"tests.checks.test_{exercise.unit.split('.')[-1]}").RIGHT
    answers = exercise.read(exercise._in_order(tuple(right[exercise.name][0]), {}))
    true = dict(zip(exercise.kinds, answers, strict=True))[name]
    assert not isinstance(true, MissingAnswer)
    expected = called(true.function, exercise.case())
    return not same_entries(value, expected, or_nowhere=True)


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda e: f"{e.number}-{e.name}")
def test_a_wrong_function_fails_at_its_case_when_it_is_run(exercise):
    found = {m.name: fails(exercise, m) for m in exercise.misconceptions[:SOME]}
    told = [name for name, it_fails in found.items() if it_fails is not None]
    assert told, found
    assert sum(map(bool, found.values())) >= len(told) / 2, found


def spoiled(function, where):
    """The function, but for inputs of a kind."""

    def off(*args):
        value = function(*args)
        arrays = [real for a in args if (real := real_array(a)) is not None and real.size]
        return _other(value) if any(map(where, arrays)) else value

    return off


def _other(value):
    if isinstance(value, tuple | list):
        return type(value)([*value[:-1], _other(value[-1])])
    return np.asarray(value, dtype=float) * 1.1 + 0.05


KINDS = {"zeros": lambda a: not a.any(), "large numbers": lambda a: abs(a).max() > 1.7}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda e: f"{e.number}-{e.name}")
def test_no_smaller_case_refutes_a_right_answer(exercise, kind, monkeypatch):
    tried = []

    def noting(plan, refutes):
        return smaller(plan, lambda other: tried.append(other) or refutes(other))

    monkeypatch.setattr(counterexamples, "smaller", noting)
    tests = importlib.import_module(f"tests.checks.test_{exercise.unit.split('.')[-1]}")
    right = exercise._in_order(tuple(tests.RIGHT[exercise.name][0]), {})
    wrong = [spoiled(a, KINDS[kind]) if callable(a) else a for a in right]
    answers = dict(zip(exercise.kinds, exercise.read(right), strict=True))
    for part, verdict in exercise(*wrong).judged.pieces.items():
        for plan in tried if verdict.outcome is not Outcome.RIGHT and verdict.place else ():
            with replaying(Replay(verdict.place, plan)):
                again = exercise.again(answers, part, PUBLIC_SEED)
            assert again.outcome is Outcome.RIGHT, (plan, again.says)


def test_there_are_as_many_as_the_course_has():
    assert len(FUNCTIONS) >= 30
