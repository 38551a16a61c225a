"""What crosses the wire arrives as it was, or not at all; and every check judges it alike."""

import contextlib
import functools
import importlib
import json
import math
import os
import socket
import struct
from array import array as flat_array
from collections import Counter, OrderedDict, UserList, deque
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import sympy

from classroom.grading.wire import Foreseen, Gone, Peer, Stream, in_short
from course_utils import checks
from course_utils.attention import elu_plus_one, softmax
from selfcheck.blanks import ____, has_blank
from selfcheck.calls import FunctionAnswer, in_a_row
from selfcheck.compare import real_array
from selfcheck.derivation import Derivation, real
from selfcheck.derivation.instances import is_far
from selfcheck.encoding import Codec, WireError, as_received
from selfcheck.exercises import Exercise
from selfcheck.kinds import Array, Choice, Formula, Function, Lines, Number, Student
from selfcheck.meter import Meter, measure
from selfcheck.refusals import Unreadable
from tests.classroom.grading.across import elsewhere, notebook, value
from tests.places import check_modules

UNITS = [module.__name__.rpartition(".")[2] for module in check_modules()]
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


def without_source():
    names = {}
    exec("def fails(x):\n    return 1 / x", names)
    return names["fails"]


@pytest.mark.parametrize("function", [functools.partial(max, 1), lambda x: 1 / x, without_source()])
def test_a_function_is_called_alike_and_stops_alike_on_both_sides(function):
    def told(answer):
        try:
            return answer.array(0, shape=(2,))
        except Unreadable as refusal:
            return str(refusal)

    with elsewhere(function=function) as there:
        far, near = (Function().read(f, "mine") for f in (value(there, "function"), function))
        assert far.name == near.name
        assert "as_error" not in told(far)


def test_a_loop_over_a_state_runs_where_the_functions_are_and_copies_nothing():
    shared = np.zeros(1)

    def step(state, x):
        state += x
        return state, float(state[0])

    with elsewhere(initial=lambda: shared, step=step) as there:
        far = [FunctionAnswer(value(there, name), name) for name in ("initial", "step")]
        assert in_a_row(*far, (), [(1,), (2,)]) == [1.0, 3.0]
        assert in_a_row(*far, (), [(1,), (2,)]) == [4.0, 6.0]


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


OBJECT = {"$": "object", "type": "A", "handle": 0, "iterates": False}
HOSTILE = [
    {"$": "array", "dtype": "O", "shape": [1], "v": ""},
    {"$": "array", "dtype": "<f8", "shape": [10**9, 10**9], "v": ""},
    {"$": "array", "dtype": "<f8", "shape": [3], "v": "AAAA"},
    {"$": "array", "dtype": "<f8", "shape": [3], "v": 24},
    {"$": "int", "v": "f" * 10**6},
    {"$": "fraction", "v": [1, 0]},
    {"$": "dict", "v": [[[], 1]]},
    {"$": "yours", "handle": 1},
    {"$": "nothing known", "v": []},
    {"$": "function", "handle": {}},
    {"no tag": 1},
    {"$": "slice", "v": [1, 2, 3, 4]},
    {"$": "int", "v": "f" * 3600},  # more digits than Python writes
]


@pytest.mark.parametrize("data", HOSTILE, ids=json.dumps)
def test_what_was_not_agreed_upon_is_an_error_and_nothing_else(data):
    with pytest.raises(WireError):
        Peer(None, lambda question: None).decode(data)


@pytest.mark.parametrize("part", [0, [], {"$": "kin", "type": "A", "handle": 1, "v": []}, OBJECT])
def test_what_has_more_parts_than_anybody_could_send_is_not_made(part):
    with pytest.raises(WireError, match="too many parts"):
        Peer(None, lambda question: None).decode([part] * 500_000)
    assert len(Peer(None, lambda question: None).decode([part] * 5_000)) == 5_000


def test_a_derivation_of_very_many_lines_is_not_read():
    with pytest.raises(Unreadable, match="501 lines; 500 is the limit"):
        Lines(["n"]).read(["n"] * 501, "lines")


@pytest.mark.parametrize(
    "sent",
    [
        b"\xff" * 8,
        b"\0\0\0\2\xff\xff\xff\xff{}",
        b"\0\0\0\2\0\0\0\0[]",
        b"\0\0\0\1\0\0\0\0{",
        b"\0\0\0\2\0\0\0\0\xff}",
        b"\0\0\0\2\0\0\0\5{}",
        b"\0\0\0\5",
    ],
)
def test_a_broken_stream_is_the_end_of_that_child_not_of_the_judge(sent):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(Gone):
            Stream(ours).receive()


def test_numbers_of_a_message_are_those_of_one_array_each():
    ours, theirs = socket.socketpair()
    one, two = ({"$": "array", "dtype": "<f8", "shape": [1], "v": 8} for _ in range(2))
    text = json.dumps({"value": [one, two, {"$": "array", "v": -8}]}).encode()
    with ours, theirs:
        theirs.sendall(struct.pack("!II", len(text), 8) + text + struct.pack("<d", 2.5))
        first, second, third = Stream(ours).receive()["value"]
    peer = Peer(None, lambda question: None)
    assert peer.decode(first) == [2.5]
    for empty in (second, third):
        with pytest.raises(WireError):
            peer.decode(empty)


def test_nothing_can_be_called_that_was_not_handed_over():
    peer = Peer(None, lambda question: pytest.fail("asked"))
    with pytest.raises(WireError):
        peer.serve({"ask": "call", "function": 1, "args": []})


class Held:
    """An object that NumPy can read."""

    def __init__(self, rows):
        self.rows = rows

    def __array__(self, dtype=None, copy=None):
        return np.array(self.rows, dtype=dtype)


class Weight:
    """An object that is a number when asked."""

    def __float__(self):
        return 0.25


class Rows(UserList):
    """A list of one's own."""


ROWS = [[1.0, 2.0], [0.5, -3.0]]
FORMS = {
    "list": ROWS,
    "tuple": tuple(map(tuple, ROWS)),
    "array": np.array(ROWS),
    "float16": np.array(ROWS, dtype=np.float16),
    "float32": np.array(ROWS, dtype=np.float32),
    "longdouble": np.array(ROWS, dtype=np.longdouble),
    "complex": np.array(ROWS, dtype=complex),
    "clongdouble": np.array(ROWS, dtype=np.clongdouble),
    "imaginary": np.array(ROWS) * 1j,
    "big endian": np.array(ROWS, dtype=">f8"),
    "whole": np.array([[1, 2], [3, 4]]),
    "truths": np.array([[True, False]]),
    "objects": np.array(ROWS, dtype=object),
    "matrix": np.array(ROWS).view(np.matrix),
    "masked": np.ma.array(ROWS, mask=[[0, 1], [0, 0]]),
    "a view": np.array(ROWS).T[::-1],
    "empty": np.zeros((0, 3)),
    "list of longdoubles": [[np.longdouble(x) for x in row] for row in ROWS],
    "list of arrays": [np.array(row) for row in ROWS],
    "decimals": [[Decimal("0.1"), Decimal(3)]],
    "fractions": [[Fraction(1, 3), 2]],
    "SymPy": sympy.Matrix([[1, sympy.sqrt(2)], [sympy.Rational(1, 3), 0]]),
    "list of SymPy": [[sympy.pi, sympy.Integer(2)]],
    "deque": deque(map(deque, ROWS)),
    "flat array": flat_array("d", [1.0, 2.5]),
    "memory": memoryview(np.array(ROWS)),
    "range": range(4),
    "of one's own": Held(ROWS),
    "list of one's own": Rows(ROWS),
    "a list of those": [Held([1.0, 2.0]), Held([3.0, 4.0])],
    "ragged": [[1.0], [1.0, 2.0]],
    "text": "1/2",
    "text in a list": ["1/2", 3],
    "NumPy text": np.str_("1/2"),
    "whole number": 7,
    "longdouble number": np.longdouble(0.1),
    "decimal": Decimal("0.1"),
    "weight": Weight(),
    "fraction": Fraction(1, 3),
    "array of one": np.array(0.25),
    "float32 number": np.float32(0.1),
    "truth": True,
    "NumPy truth": np.True_,
    "complex number": 2 + 0j,
    "SymPy number": sympy.Rational(1, 3),
    "not a number": math.nan,
    "infinite": Decimal("-Infinity"),
    "huge": 10**30,
    "set": {1.0, 2.0},
    "dict": {"a": 1.0},
    "counter": Counter("aab"),
    "generator": (x for x in (1.0, 2.0)),
    "keys": {1: 2}.keys(),
    "file": object(),
    "None": None,
}
KINDS = {
    "number": Number(),
    "array": Array((2, 2)),
    "formula": Formula(beta=(0, 1)),
    "choice": Choice(("1/2", "true", "false")),
    "lines": Lines(["beta"]),
    "function": Function(),
    "student": Student(),
}


def read_as(kind, answer):
    """What a kind reads, in a form that can be compared; or why it reads nothing."""
    try:
        return repr(kind.read(answer, "answer"))
    except Unreadable as reason:
        return str(reason)


@pytest.mark.parametrize("form", FORMS)
def test_whatever_it_is_both_sides_read_the_same(form):
    with elsewhere(form=FORMS[form], give=lambda: FORMS[form]) as there:
        arrived, result = value(there, "form"), value(there, "give")()
    here = as_received(FORMS[form])
    for kind in KINDS.values():
        if not (kind is KINDS["formula"] or kind is KINDS["lines"]):
            assert read_as(kind, arrived) == read_as(kind, here)
    for kind in (KINDS["formula"], KINDS["lines"]):  # a formula is known by its text
        assert [str(read_as(kind, x))[:8] for x in (arrived, here)] == [read_as(kind, here)[:8]] * 2
    for other in (arrived, result, as_received(arrived), as_received(here)):
        same_numbers(other, here)
    if form not in ("generator", "masked"):
        same_numbers(FORMS[form], here)


def same_numbers(a, b):
    a, b = real_array(a), real_array(b)
    assert (a is None) == (b is None)
    if a is not None:
        np.testing.assert_array_equal(a, b)


class Memory(NamedTuple):
    m: np.ndarray
    t: int


@pytest.mark.parametrize(
    "start",
    [Memory(np.zeros(2), 0), Counter(m=0, t=0), deque([0.0, 0]), State(0.0), OrderedDict(m=0)],
    ids=lambda start: type(start).__name__,
)
def test_a_state_of_a_kind_of_its_own_comes_back_as_itself(start):
    def step(state):
        assert type(state) is type(start)
        return state

    with elsewhere(step=step, start=start) as there:
        for first, run in [
            (value(there, "start"), value(there, "step")),
            (as_received(start), FunctionAnswer(step, "step")),
        ]:
            second = run((first, 1)[0])
            assert type(run(second)).__name__ == type(start).__name__


def test_a_large_array_crosses_as_fast_as_a_copy():
    square = np.ones((512, 512))
    assert as_received(square) is not square
    with pytest.raises(WireError, match="too large"):
        as_received([np.ones((1000, 1000))] * 2)


def answers_of(unit):
    """All known mistakes of a unit, and the right answers of its tests in all their forms."""
    module = importlib.import_module(f"{checks.__name__}.{unit}")
    tests = importlib.import_module(f"tests.checks.test_{unit}")
    exercises = [e for e in vars(module).values() if isinstance(e, Exercise)]
    found = [(e, m.example) for e in exercises for m in e.misconceptions]
    right = getattr(tests, "RIGHT", {})
    return found + [(getattr(module, n), a) for n, forms in right.items() for a in forms]


def is_plain(value):
    """Nothing of it stays behind when it is sent, to be called from afar."""
    return '"handle"' not in json.dumps(Codec().encode(value), default=bytes.hex)


@pytest.mark.parametrize("unit", UNITS)
def test_every_known_answer_is_judged_over_the_wire_as_it_is_here(unit):
    known = answers_of(unit)
    assert known
    with elsewhere(known=[answers for _, answers in known]) as there:
        for place, (exercise, answers) in enumerate(known):
            arrived = [value(there, f"known[{place}][{k}]") for k in range(len(answers))]
            if is_plain(answers):  # what a notebook judges is what arrives here
                assert Codec().encode(arrived) == Codec().encode(list(map(as_received, answers)))
                continue
            there.begin(60)
            there_judged, here = exercise(*arrived), exercise(*answers)
            assert (there_judged.outcome, there_judged.earned, there_judged.misconception) == (
                here.outcome,
                here.earned,
                here.misconception,
            ), f"{exercise.number}, answer {place}: {there_judged} instead of {here}"


LINES = {
    "a bit too much": lambda S, one_d: S @ one_d * (1 + 1e-10),
    "a list": lambda S, one_d: [float(sum(row)) for row in S],
    "rounded": lambda S, one_d: np.round(S @ one_d, 6),
    "for few rows": lambda S, one_d: S @ one_d if len(S) < 4 else S[99] @ one_d,
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_judged_as_finely_over_the_wire_as_here(name):
    check = importlib.import_module(f"{checks.__name__}.linear_attention").rows_sum_to_one
    lines = [lambda S, T, one_n: S @ (T.T @ one_n), LINES[name], lambda one_n: one_n]
    with elsewhere(lines=lines) as there:
        far, here = check(value(there, "lines")), check(lines)
    assert (far.earned, far.says) == (here.earned, here.says)


def noting(function, calls):
    """The same function; its calls are noted, but for those with arrays that count."""

    @functools.wraps(function)
    def noted(*args):
        told = json.dumps(Codec().encode(list(args)), default=bytes.hex)
        if "handle" not in told:
            calls.append(told)
        return function(*args)

    return noted


CALLED = {"attention": ["attention"], "transformers_are_rnns": ["causal_linear", "recurrence"]}


@pytest.mark.parametrize(("unit", "name"), [(u, name) for u in CALLED for name in CALLED[u]])
def test_a_right_function_is_called_over_the_wire_in_the_order_of_a_notebook(unit, name):
    check = getattr(importlib.import_module(f"{checks.__name__}.{unit}"), name)
    right = importlib.import_module(f"tests.checks.test_{unit}").RIGHT[name]
    calls: list[str] = []
    check.seed = 1
    for form in right:
        functions = [noting(f, calls) if callable(f) else f for f in form]
        with elsewhere(functions=functions, calls=calls) as there:
            check(*value(there, "functions"))
            far = value(there, "calls")
        check(*functions)
        assert far == calls
        calls.clear()
    check.seed = None


METERED = {
    "products": lambda a, b: a @ b.T @ np.ones(len(b)),
    "softmax": lambda a, b: np.exp(a - a.max(axis=1, keepdims=True)) / 2,
    "a chain of products": lambda a, b: np.linalg.multi_dot([a, b.T, a]),
    "joined columns": lambda a, b: np.c_[a, np.ones(len(a))] @ np.ones(4),
    "joined numbers": lambda a, b: np.r_[a[0], b[0]].sum(),
    "padding": lambda a, b: np.pad(a, ((0, 0), (0, 1))) * 2,
    "vecdot": lambda a, b: np.vecdot(a, b),
    "matvec": lambda a, b: np.matvec(a, b[0]),
    "transposes": lambda a, b: np.matrix_transpose(a) @ b,
    "average": lambda a, b: np.average(a, axis=1, weights=b[0] ** 2),
    "differences": lambda a, b: np.diff(a, axis=0),
    "one row at a time": lambda a, b: np.apply_along_axis(lambda r: r / r.sum(), 1, a),
    "one number at a time": lambda a, b: np.vectorize(lambda x: x * x + 1.0)(a),
    "einsum in list form": lambda a, b: np.einsum(a, [0, 1], b, [2, 1], [0, 2]),
    "a list of arrays": lambda a, b: np.sum([a, b], axis=0),
    "number by number": lambda a, b: np.convolve(a[0], b[0]),
    "read by float": lambda a, b: float(a[0, 0]) + a.sum(),
    "read by str": lambda a, b: float(f"{a[0, 0]:.17g}") + float(str(b[0, 0])),
    "read as a list": lambda a, b: sum(a[0].tolist()),
    "a decision": lambda a, b: a * 2 if a[0, 0] > 0 else b,
    "later": lambda a, b: (row * 2 for row in a),
}


@pytest.mark.parametrize("name", METERED)
def test_a_metered_function_costs_as_much_over_the_wire_as_here(name):
    rng = np.random.default_rng(0)
    arrays = rng.uniform(1, 2, (4, 3)), rng.uniform(1, 2, (4, 3))
    here = measure(METERED[name], *arrays)
    with elsewhere(f=METERED[name]) as there:
        function = there.ask(ask="value", expression="f")
        far = measure(function, *arrays)
    assert far.flops_by_kind == here.flops_by_kind
    assert (far.read_out, far.macs, far.allocated) == (here.read_out, here.macs, here.allocated)
    np.testing.assert_allclose(far.result, here.result)
    assert [m.shape for m in far.arrays[:1]] == [m.shape for m in here.arrays[:1]]


SQUARE = np.arange(9.0).reshape(3, 3) + 1


def with_a_global(x):
    return x @ (SQUARE @ SQUARE)


def with_a_default(x, matrix=SQUARE):
    return x @ (matrix @ matrix)


def in_a_closure():
    matrix = SQUARE.copy()
    return lambda x: x @ (matrix @ matrix)


class Layer:
    def __init__(self):
        self.matrix = SQUARE.copy()

    def forward(self, x):
        return x @ (self.matrix @ self.matrix)


@pytest.mark.parametrize(
    "function",
    [with_a_global, with_a_default, in_a_closure(), Layer().forward],
    ids=["global", "default", "closure", "attribute"],
)
def test_arrays_that_a_function_reaches_by_itself_are_counted_here_and_there(function):
    x = np.random.default_rng(0).uniform(1, 2, (2, 3))

    def squared(x):
        return x @ SQUARE @ SQUARE

    here = FunctionAnswer(function, "f").metered(x, like=squared)
    with elsewhere(f=function) as there:
        far = FunctionAnswer(value(there, "f"), "f").metered(x, like=squared)
    assert here.macs == far.macs == 3 * 3 * 3 + 2 * 3 * 3
    assert here.flops == far.flops
    assert here.peak == far.peak
    assert type(SQUARE) is np.ndarray


def query_by_query(Q, K, V, phi):
    """Right numbers in n² steps, none of them large."""
    rows = []
    for i, q in enumerate(Q):
        weights = [(i != j) * (phi(q) @ phi(k)) for j, k in enumerate(K)]
        total = sum(w * v for w, v in zip(weights, V, strict=True))
        rows.append(total / sum(weights))
    return np.array(rows)


def test_a_long_loop_is_left_out_by_count_so_it_earns_the_same_here_and_there(monkeypatch):
    from course_utils.checks.linear_attention import linear
    from selfcheck import cost

    monkeypatch.setattr(cost, "MOST_STEPS", 500)
    here = linear(query_by_query)
    with elsewhere(f=query_by_query) as there:
        assert linear(value(there, "f")).says == here.says
    assert (here.earned, "not linear" in here.says) == (1, True)


@contextmanager
def foreseeing(there, *functions):
    """The functions as a check calls them that called others alike before."""
    calls = Foreseen()
    yield lambda: there.foresee(calls), [FunctionAnswer(value(there, n), n) for n in functions]


def one_over(x):
    return 1 / x


def twice(x):
    return 2 * x


def test_what_a_check_asked_of_an_answer_before_is_asked_in_one_message(received):
    with elsewhere(f=one_over) as there, foreseeing(there, "f") as (begin, (f,)):
        counts = []
        for _ in range(2):
            begin()
            received.clear()
            assert [f(x) for x in (4.0, 1.0, 2.0, 8.0)] == [0.25, 1.0, 0.5, 0.125]
            counts.append(len(received))
    assert counts == [4, 2]


def test_what_is_too_much_for_one_message_is_asked_for_at_once_but_once(received):
    with elsewhere(f=lambda x: [x] * 60_000) as there, foreseeing(there, "f") as (begin, (f,)):
        for _ in range(2):
            begin()
            received.clear()
            assert [f(x)[-1] for x in range(5)] == list(range(5))
    assert len(received) == 6  # of which one is what could not be sent


def test_an_error_is_raised_where_its_call_is_made():
    with elsewhere(f=one_over) as there, foreseeing(there, "f") as (begin, (f,)):
        for x in (2.0, 0.0, 4.0):
            with contextlib.suppress(Unreadable):
                f(x)
        begin()
        assert f(2.0) == 0.5
        with pytest.raises(Unreadable, match="ZeroDivisionError"):
            f(0.0)
        assert f(4.0) == 0.25


def test_where_a_check_goes_another_way_it_gets_what_it_asks_for():
    with elsewhere(f=twice) as there, foreseeing(there, "f") as (begin, (f,)):
        for ways in ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 7.0, 4.0, 5.0], [9.0, 2.0, 3.0], [1.0]):
            begin()
            assert [f(x) for x in ways] == [2 * x for x in ways]


def test_each_call_has_arguments_of_its_own():
    def grow(x, more):
        x += more[0]
        more.append(0)
        return x.sum(), len(more)

    same, more = np.zeros(3), [1.0]
    with elsewhere(f=grow) as there, foreseeing(there, "f") as (begin, (f,)):
        for _ in range(2):
            begin()
            assert [f(same, more) for _ in range(3)] == [(3.0, 2)] * 3


@pytest.mark.parametrize(("asked", "other"), [(0.0, -0.0), (1, 1.0), (1, True), ([1], (1,))])
def test_what_was_foreseen_is_told_to_the_very_same_call_alone(asked, other):
    with elsewhere(f=repr) as there, foreseeing(there, "f") as (begin, (f,)):
        for x in (asked, other):
            begin()
            assert [f(0), f(x), f(0)] == ["0", repr(x), "0"]


@pytest.fixture
def received(monkeypatch):
    """The messages that arrive in this process, as they are asked for."""
    messages = []
    once = Stream.receive

    def receive(self):
        messages.append(once(self))
        return messages[-1]

    monkeypatch.setattr(Stream, "receive", receive)
    return messages


def test_what_a_check_lends_for_metered_arrays_is_counted_as_at_home():
    def similarities(Q, K, phi):
        return phi(Q) @ phi(K).T

    Q, K = np.random.default_rng(0).uniform(-1, 1, (2, 4, 3))
    here = measure(similarities, Q, K, elu_plus_one)
    with elsewhere(f=similarities) as there:
        far = measure(value(there, "f"), Q, K, elu_plus_one)
    assert (far.flops_by_kind, far.peak) == (here.flops_by_kind, here.peak)
    np.testing.assert_allclose(far.result, here.result)


def test_calls_of_several_functions_are_made_in_their_order(received):
    asked = []
    first, second = (lambda x: asked.append(x) or x, lambda x: asked.append(-x) or -x)
    with (
        elsewhere(first=first, second=second, asked=asked) as there,
        foreseeing(there, "first", "second") as (begin, (f, g)),
    ):
        for _ in range(2):
            begin()
            received.clear()
            assert (g(1), f(2), g(3), f(4)) == (-1, 2, -3, 4)
        assert len(received) == 2  # the first, and the rest
        assert value(there, "asked") == [-1, 2, -3, 4] * 2


def test_every_check_is_told_what_its_values_are_now():
    with notebook(60) as there:
        there.run("x, y = [], []\ndef f(): x.append(len(x))\nfor _ in range(999): y = [y]")
        assert there.value("x") == []
        there.value("f")()
        assert there.value("x") == [0]
        with pytest.raises(WireError, match="too deeply nested"):
            there.value("y")


def test_what_was_foreseen_is_forgotten_before_the_next_answer():
    asked = []
    with (
        elsewhere(f=lambda x: asked.append(x) or len(asked), asked=asked) as there,
        foreseeing(there, "f") as (begin, (f,)),
    ):
        begin()
        assert [f(k) for k in range(4)] == [1, 2, 3, 4]
        begin()
        assert [f(k) for k in range(2)] == [5, 6]  # two more are known by now
        begin()
        assert [f(k) for k in range(2)] == [9, 10]


STATES = {
    "a pair": (lambda: (np.ones(2), np.zeros(2)), lambda s, x: ((s[0] + x, s[1] - x), s[0][0])),
    "a list changed in place": (lambda: [], lambda s, x: (s.append(x) or s, sum(s))),
    "of a kind of its own": (lambda: Point(0.0, 0.0), lambda s, x: (Point(s.x + x, x), s.x)),
    "that fails": (lambda: 1.0, lambda s, x: (s / (1 - x), x)),
}


class Point(NamedTuple):
    x: float
    y: float


@pytest.mark.parametrize("name", STATES)
def test_a_loop_that_ran_over_there_gives_what_it_gives_here(name, received):
    start, step = STATES[name]
    tokens = [(float(k),) for k in range(3)]

    def outcome(begin, on):
        try:
            return in_a_row(begin, on, (), tokens)
        except Unreadable as why:
            return str(why)

    here = outcome(FunctionAnswer(start, "start"), FunctionAnswer(step, "step"))
    with elsewhere(start=start, step=step) as there:
        both = [FunctionAnswer(value(there, n), n) for n in ("start", "step")]
        received.clear()
        assert outcome(*both) == here
    assert len(received) == 1


def test_a_derivation_knows_a_line_that_lives_elsewhere():
    """Digits beyond those of a float do not cross."""
    with elsewhere(line=lambda x: 2 * x) as there:
        lines = [("=", value(there, "line"), "")]
        read = Derivation(lambda x: x + x, lines, where={"x": real}).expressions
        assert [is_far(expression) for expression in read] == [False, True]


def test_a_loop_may_start_from_a_state_that_is_given():
    step = FunctionAnswer(lambda scale, s, x: (s + x, scale * s), "step")
    assert in_a_row(None, step, 1.0, [(2.0,), (5.0,)], given=(10.0,)) == [10.0, 30.0]


def test_a_function_that_a_check_lends_runs_where_it_is_called(received):
    with elsewhere(f=lambda phi, x: phi(phi(x))) as there:
        function = value(there, "f")
        received.clear()
        lent = [np.tanh, elu_plus_one]
        assert [function(phi, 2.0) for phi in lent] == [phi(phi(2.0)) for phi in lent]
        assert len(received) == 2
        own = []
        assert (function(lambda x: own.append(x) or x + 1, 2.0), own) == (4.0, [2.0, 3.0])


def test_the_judge_runs_no_loop_and_looks_up_no_function_for_the_other_side():
    peer = Peer(None, lambda question: pytest.fail("served"))
    place = "course_utils.attention.softmax"
    assert peer.decode(Codec().encode(elu_plus_one) | {"home": place}) is not softmax
    with pytest.raises(pytest.fail.Exception):
        peer.serve({"ask": "loop", "place": place, "args": []})


def test_operations_whose_shape_is_foreseen_wait_for_nobody(received):
    with elsewhere(f=lambda a, b: np.exp(a @ b.T - a[0].max()).sum(axis=1)) as there:
        function = value(there, "f")
        received.clear()
        measure(function, np.ones((4, 3)), np.ones((5, 3)))
    assert [message.get("ask") for message in received] == [None]


def running_sums(a, counts):
    sums = np.cumsum(counts[:, None] * a, axis=0)
    last = sums.copy()
    last[2:] -= sums[:-2]
    last[0] = 7.0
    return last


def test_so_do_those_that_write_into_an_array(received):
    given = np.arange(12.0).reshape(4, 3), np.arange(1, 5)
    here = measure(running_sums, *given)
    with elsewhere(f=running_sums) as there:
        function = value(there, "f")
        received.clear()
        counted = measure(function, *given)
    assert [message.get("ask") for message in received] == [None]
    assert (counted.result == here.result).all()
    assert counted.flops == here.flops
    assert counted.peak == here.peak


def test_operations_that_come_when_nothing_is_measured_are_refused():
    said = [{"what": "turn", "name": "T", "args": [], "result": -1}]
    with elsewhere(f=lambda: 1.0) as there:
        stream = there._peer.stream
        there._peer.stream = SimpleNamespace(
            send=stream.send, receive=lambda: stream.receive() | {"before": said}
        )
        with pytest.raises(WireError, match="nothing of that kind"):
            there.value("f")


def test_only_so_many_operations_come_with_one_question():
    with elsewhere(f=lambda a: a) as there, Meter() as m:
        there._peer.encode(m.array(np.ones(2)))
        junk = [{"what": "turn", "name": "T", "args": [], "result": -1}] * 100_000
        with pytest.raises(WireError, match="too much"):
            there._serve({"ask": "array", "before": junk})
        assert there._extra <= there._limits.wall


def test_a_syntax_error_of_a_cell_says_which_line_and_not_how_we_call_the_cell():
    says = []
    for file in ("<cell answer-bias>", "own.py"):
        try:
            compile("a = 1\nb = (", file, "exec")
        except SyntaxError as error:
            says.append(in_short(error)["says"])
    assert says == ["'(' was never closed, in line 2", "'(' was never closed (own.py, line 2)"]
