"""For every exercise that asks for a function, a wrong one is refuted by a case that can be run."""

import importlib

import numpy as np
import pytest

from selfcheck.calls import Call
from selfcheck.compare import same_entries
from selfcheck.display import name_of
from selfcheck.kinds import Function
from selfcheck.parts import MissingAnswer
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


def test_there_are_as_many_as_the_course_has():
    assert len(FUNCTIONS) >= 30
