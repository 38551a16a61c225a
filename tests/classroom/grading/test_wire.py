"""What crosses the wire arrives as it was, or not at all; and every check judges it alike."""

import importlib
import json
import math
import os
import pkgutil
import socket
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import sympy

from classroom.grading.values import WireError
from classroom.grading.wire import Gone, Peer, Stream
from course_utils import checks
from course_utils.answers import ____, has_blank
from course_utils.exercise import Exercise
from tests.classroom.grading.across import elsewhere, value

UNITS = [found.name for found in pkgutil.iter_modules(checks.__path__)]
PLAIN = {
    "none": None,
    "truth": True,
    "wall": -7,
    "long": 3**200,
    "real": 0.1,
    "infinite": -math.inf,
    "text": "2·β^t",
    "rows": [[1, 2.5], ["x", None]],
    "pair": (1, (2, 3)),
    "table": {"a": [1], 2: (3,)},
    "several": {1, 2},
    "part": Fraction(1, 3),
    "complex": 1 + 2j,
    "cut": slice(1, None, 2),
    "dots": ...,
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_values_arrive_as_they_were(name):
    with elsewhere(**PLAIN) as there:
        arrived = value(there, name)
    assert arrived == PLAIN[name]
    assert type(arrived) is type(PLAIN[name])


@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "i8", "f4", ">f8", "c16"])
def test_arrays_arrive_with_their_kind_and_shape(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    with elsewhere(a=array, empty=array[:0], one=array[1, 2]) as there:
        arrived, empty, one = value(there, "a"), value(there, "empty"), value(there, "one")
    np.testing.assert_array_equal(arrived, array)
    assert (arrived.dtype.kind, arrived.dtype.itemsize) == (array.dtype.kind, array.itemsize)
    assert arrived.flags.writeable
    assert empty.shape == (0, 3)
    assert isinstance(one, np.generic)
    assert one == array[1, 2]


def test_formulas_arrive_as_text_and_their_numbers_as_numbers():
    beta, t, i = sympy.symbols("beta t i")
    there_are = {
        "power": 2 * beta**t,
        "half": sympy.Rational(1, 2),
        "root": sympy.sqrt(2),
        "total": sympy.Sum(beta**i, (i, 1, t)),
        "matrix": sympy.Matrix([[1, 2], [3, 4]]),
        "no_power": sympy.Symbol("a") ^ sympy.Symbol("b"),
    }
    with elsewhere(**there_are) as there:
        assert value(there, "power") == "2*beta**t"
        assert value(there, "half") == Fraction(1, 2)
        assert value(there, "root") == pytest.approx(2**0.5)
        assert value(there, "total") == "Sum(beta**i, (i, 1, t))"
        np.testing.assert_array_equal(value(there, "matrix").astype(int), [[1, 2], [3, 4]])
        assert type(value(there, "no_power")).__name__ == "Xor"


def test_a_blank_stays_a_blank():
    with elsewhere(answer=[1, ____], formula=sympy.Symbol("beta") * ____) as there:
        assert has_blank(value(there, "answer"))
        assert has_blank(value(there, "formula"))


def test_of_other_things_only_the_name_of_their_type_arrives():
    with open(os.devnull) as file, elsewhere(thing=object(), file=file, steps=iter(())) as there:
        assert type(value(there, "thing")).__name__ == "object"
        assert type(value(there, "file")).__name__ == "TextIOWrapper"
        assert list(value(there, "steps")) == []


class State:
    """An object of a student's own class."""

    def __init__(self, s):
        self.s = s


class Slim:
    """Another, with slots."""

    __slots__ = ("s",)

    def __init__(self, s):
        self.s = s


@pytest.mark.parametrize("kind", [State, Slim])
def test_an_object_shows_its_parts_and_travels_back_as_itself(kind):
    def step(state):
        assert type(state) is kind
        return kind(state.s + 1)

    with elsewhere(step=step, start=kind(np.zeros(2))) as there:
        first, remote_step = value(there, "start"), value(there, "step")
        second = remote_step(first)
        np.testing.assert_array_equal(second.s, [1, 1])
        np.testing.assert_array_equal(remote_step(first).s, [1, 1])


class Pair(NamedTuple):
    a: int
    b: int


def test_functions_are_called_where_they_are():
    def combine(f, x, *, scale=1.0):
        return Pair(f(x) * scale, type(x).__name__)

    with elsewhere(combine=combine) as there:
        far = value(there, "combine")
        assert far.__name__ == "combine"
        assert far(lambda x: x + 1, np.array([1.0, 2.0]), scale=2)[1] == "ndarray"
        np.testing.assert_array_equal(far(np.exp, np.zeros(2))[0], [1, 1])


def test_errors_of_a_function_keep_their_kind_and_their_words():
    class Own(Exception):
        pass

    def fail(kind):
        if kind == "own":
            raise Own("mine")
        return {"zero": lambda: 1 / 0, "name": lambda: missing}[kind]()  # noqa: F821

    with elsewhere(fail=fail) as there:
        far = value(there, "fail")
        with pytest.raises(ZeroDivisionError, match="division by zero"):
            far("zero")
        with pytest.raises(NameError, match="missing"):
            far("name")
        with pytest.raises(Exception, match="mine") as caught:
            far("own")
        assert type(caught.value).__name__ == "Own"


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("10**(10**5)", "bits"),
        ("deep", "nested"),
        ("[0] * 300_000", "too large"),
        ("__import__('numpy').zeros(2_000_000)", "too large"),
    ],
)
def test_what_is_too_large_is_refused_with_a_sentence(what, says):
    deep = []
    deep.append(deep)
    with elsewhere(deep=deep) as there, pytest.raises(WireError, match=says):
        value(there, what)


HOSTILE = [
    {"$": "array", "dtype": "O", "shape": [1], "v": ""},
    {"$": "array", "dtype": "<f8", "shape": [10**9, 10**9], "v": ""},
    {"$": "array", "dtype": "<f8", "shape": [3], "v": "AAAA"},
    {"$": "int", "v": "f" * 10**6},
    {"$": "fraction", "v": [1, 0]},
    {"$": "dict", "v": [[[], 1]]},
    {"$": "yours", "handle": 1},
    {"$": "nothing known", "v": []},
    {"$": "function", "handle": {}},
    {"no tag": 1},
    {"$": "slice", "v": [1, 2, 3, 4]},
]


@pytest.mark.parametrize("data", HOSTILE, ids=json.dumps)
def test_what_was_not_agreed_upon_is_an_error_and_nothing_else(data):
    with pytest.raises(WireError):
        Peer(None, lambda question: None).decode(data)


@pytest.mark.parametrize("sent", [b"\xff\xff\xff\xff", b"\0\0\0\2[]", b"\0\0\0\1{", b"\0\0\0\5"])
def test_a_broken_stream_is_the_end_of_that_child_not_of_the_judge(sent):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(Gone):
            Stream(ours).receive()


def test_nothing_can_be_called_that_was_not_handed_over():
    peer = Peer(None, lambda question: pytest.fail("asked"))
    with pytest.raises(WireError):
        peer.serve({"ask": "call", "function": 1, "args": []})


def answers_of(unit):
    """All known mistakes of a unit, and the right answers of its tests in all their forms."""
    module = importlib.import_module(f"{checks.__name__}.{unit}")
    tests = importlib.import_module(f"tests.checks.test_{unit}")
    exercises = [e for e in vars(module).values() if isinstance(e, Exercise)]
    found = [(e, m.example) for e in exercises for m in e.misconceptions]
    right = getattr(tests, "RIGHT", {})
    return found + [(getattr(module, n), a) for n, forms in right.items() for a in forms]


@pytest.mark.parametrize("unit", UNITS)
def test_every_known_answer_is_judged_over_the_wire_as_it_is_here(unit):
    known = answers_of(unit)
    assert known
    with elsewhere(known=[answers for _, answers in known]) as there:
        for place, (exercise, answers) in enumerate(known):
            arrived = [value(there, f"known[{place}][{k}]") for k in range(len(answers))]
            there.begin(60)
            there_judged, here = exercise(*arrived), exercise(*answers)
            assert (there_judged.outcome, there_judged.earned, there_judged.misconception) == (
                here.outcome,
                here.earned,
                here.misconception,
            ), f"{exercise.number}, answer {place}: {there_judged} instead of {here}"
