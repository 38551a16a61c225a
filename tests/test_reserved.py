"""What an exercise asks for is in the package too: handed in, it says so and earns nothing."""

import contextlib
import copy
import functools
import importlib
import itertools
import pickle
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context

import numpy as np
import pytest

import course_utils
from course_utils import attention, autodiff, transport
from course_utils.checks import attention as check_attention
from course_utils.checks import linear_attention as check_linear
from course_utils.checks import transport as check_transport
from selfcheck import reserved
from selfcheck.compare import close, real_array
from selfcheck.exercises import Exercise
from selfcheck.feedback import Outcome
from selfcheck.files import CourseError
from selfcheck.kinds import Function
from selfcheck.reserved import (
    CHECKS,
    ReservedFunction,
    forbidding,
    lent,
    object_named,
    refusing,
    students_code,
)
from tests.checks.forms import students_own
from tests.places import check_modules

UNITS = check_modules()
EXERCISES = [e for unit in UNITS for e in vars(unit).values() if isinstance(e, Exercise)]
OF_FUNCTIONS = [
    e for e in EXERCISES if any(isinstance(kind, Function) for kind in e.kinds.values())
]
SUBJECT = [
    importlib.import_module(f"{course_utils.__name__}.{name}")
    for name in ("attention", "block", "optimizers", "rnn", "transport", "variants")
]
PUBLIC = {
    f"{module.__name__}.{name}": f
    for module in SUBJECT
    for name, f in vars(module).items()
    if isinstance(f, types.FunctionType) and not name.startswith("_")
}
MOST_ARGUMENTS = 4


def adapted(f):
    """The function as it is, wrapped, with other arguments, and a part of its result."""
    yield f
    yield functools.partial(f)
    for count in range(1, MOST_ARGUMENTS + 1):
        yield lambda *args, count=count: f(*args[:count])
        for order in itertools.permutations(range(count)):
            if list(order) != sorted(order) and count < MOST_ARGUMENTS:
                yield lambda *args, order=order: f(*(args[k] for k in order))
    yield lambda *args: f(*args)[0]
    yield lambda *args: f(*args)[-1]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: f"{e.number}-{e.name}")
def test_every_function_that_is_forbidden_exists(exercise):
    assert all(callable(object_named(name)) for name in exercise.forbidden)


def gives_something(answer, exercise):
    """Whether it takes the arguments of this exercise; what raises earns nothing anywhere."""
    samples = [s for kind in exercise.kinds.values() for s in getattr(kind, "samples", ())]
    for sample in copy.deepcopy(samples):
        with contextlib.suppress(Exception):
            answer(*sample)
            return True
    return not samples


@pytest.mark.parametrize("exercise", OF_FUNCTIONS, ids=lambda e: f"{e.number}-{e.name}")
def test_no_function_of_the_package_earns_a_point(exercise):
    for name, f in PUBLIC.items():
        for answer in filter(lambda answer: gives_something(answer, exercise), adapted(f)):
            given = [
                answer if isinstance(kind, Function) else "0" for kind in exercise.kinds.values()
            ]
            feedback = exercise(*given)
            assert feedback.earned == 0, f"{name} earns {feedback}"


@pytest.mark.parametrize(
    "answer",
    [
        attention.causal_attention,
        functools.partial(attention.causal_attention),
        lambda Q, K, V: attention.causal_attention(Q, K, V),
        lambda Q, K, V: attention.attention(Q, K, V, mask=attention.causal_mask(len(Q))),
        lambda Q, K, V: object_named("course_utils.attention.causal_attention")(Q, K, V),
        lambda Q, K, V: autodiff.causal_attention(*map(autodiff.node, (Q, K, V))).value,
    ],
)
def test_a_function_that_is_the_answer_says_so(answer):
    feedback = check_attention.causal_attention(answer)
    assert feedback.outcome is Outcome.UNCHECKED
    assert "does not run here: this exercise asks you to write it" in feedback.says


def test_it_can_be_used_again_when_the_check_is_over():
    check_transport.sinkhorn(transport.sinkhorn)
    plan = transport.sinkhorn(np.eye(2), [1, 1], [1, 1], 0.5)
    assert plan.sum() == pytest.approx(2)
    with forbidding(["course_utils.transport.sinkhorn"]):
        assert transport.sinkhorn(np.eye(2), [1, 1], [1, 1], 0.5).sum() == pytest.approx(2)
        with (
            students_code(),
            pytest.raises(ReservedFunction, match=r"transport\.sinkhorn does not run"),
        ):
            transport.sinkhorn(np.eye(2), [1, 1], [1, 1], 0.5)


def test_an_error_of_the_students_code_leaves_nothing_forbidden():
    with (
        pytest.raises(ZeroDivisionError),
        forbidding(["course_utils.attention.softmax"]),
        students_code(),
    ):
        raise ZeroDivisionError
    assert attention.softmax(np.zeros(2)) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: f"{e.number}-{e.name}")
def test_what_is_forbidden_exists(exercise):
    assert all(callable(object_named(name)) for name in exercise.forbidden)


# -- what a student's code could see while a check runs ------------------------------------------


def numbers_within(value, depth=2):
    """The arrays in a local variable, also in lists and tuples of a check's."""
    if isinstance(value, np.ndarray | float):
        yield np.asarray(value)
    elif depth and isinstance(value, list | tuple):
        if (array := real_array(value)) is not None:
            yield array
        for inner in value:
            yield from numbers_within(inner, depth - 1)


class Spy:
    """A right function that looks through all frames above it for what it will return."""

    def __init__(self, function):
        self.function, self.returned, self.found = function, [], set()

    def __call__(self, *args):
        result = self.function(*args)
        own, frame = real_array(result), sys._getframe(1)
        while own is not None and own.size > 1 and frame is not None:
            if "course_utils" in frame.f_code.co_filename:
                for name, value in frame.f_locals.items():
                    self.found |= {
                        (frame.f_code.co_name, name)
                        for array in numbers_within(value)
                        if close(array, own) and not self.knows(array, args)
                    }
            frame = frame.f_back
        self.returned.append(own)
        return result

    def knows(self, array, args):
        """Whether it was given this, or has returned it before."""
        return any(close(array, known) for known in (*args, *self.returned))


@pytest.mark.parametrize("exercise", OF_FUNCTIONS, ids=lambda e: f"{e.number}-{e.name}")
def test_no_reference_is_in_sight_while_a_students_code_runs(exercise, monkeypatch):
    unit = exercise.unit.rpartition(".")[2]
    monkeypatch.setattr(exercise, "seed", 5)
    spies = [
        Spy(answer) if isinstance(kind, Function) else answer
        for kind, answer in zip(
            exercise.kinds.values(),
            importlib.import_module(f"tests.checks.test_{unit}").RIGHT[exercise.name][0],
            strict=False,
        )
    ]
    assert exercise(*spies).earned
    assert not set().union(*(spy.found for spy in spies if isinstance(spy, Spy)))


def test_the_functions_of_the_checks_are_no_answer():
    feedback = check_attention.cross_attention(
        lambda Y, Z, Wq, Wk, Wv: check_attention.by_definition(Y @ Wq, Z @ Wk, Z @ Wv)
    )
    assert (feedback.outcome, feedback.earned) == (Outcome.UNCHECKED, 0)
    assert "does not run here: this exercise asks you to write it" in feedback.says


def test_a_function_of_the_checks_that_is_lent_to_a_student_runs():
    features = check_linear.exp_features
    with forbidding([]), students_code():
        assert lent(features)(np.zeros((1, 1))).size
        with pytest.raises(ReservedFunction):
            features(np.zeros((1, 1)))


def test_a_function_that_is_lent_may_use_what_is_reserved():
    def features(x):
        return attention.softmax(x)

    features.__module__ = attention.__name__
    with forbidding(["course_utils.attention.softmax"]), students_code():
        assert lent(features)(np.zeros(2)) == pytest.approx([0.5, 0.5])
        assert lent(functools.partial(features))(np.zeros(2)) == pytest.approx([0.5, 0.5])
        with pytest.raises(ReservedFunction):
            features(np.zeros(2))


def test_what_is_no_function_of_the_course_is_lent_as_it_is():
    own = [len, np.tanh, np.zeros(2), "text", test_it_can_be_used_again_when_the_check_is_over]
    assert all(lent(value) is value for value in own)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.__name__)
def test_every_function_of_the_checks_has_a_gate(unit):
    values = [getattr(unit, name) for name in vars(unit)]
    own = [f for f in values if getattr(f, "__module__", "") == unit.__name__]
    functions = [f for f in own if isinstance(f, types.FunctionType) or hasattr(f, "cache_clear")]
    assert functions
    assert all(f.reserved_as == CHECKS for f in functions)


def test_only_what_has_a_gate_can_be_forbidden():
    before = check_transport.sinkhorn.forbidden
    with pytest.raises(CourseError, match=r"transport\.cost_table can be forbidden only if"):
        check_transport.sinkhorn.forbid("transport.cost_table")
    assert check_transport.sinkhorn.forbidden == before


# -- routes to a function that is reserved ---------------------------------------------------------


def in_a_thread(call):
    """What a call gives that is made in a new thread; its error is raised here."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def softmax():
    return attention.softmax(np.zeros(2))


@reserved.answer
class Counter:
    """A class that is an answer."""

    def __init__(self):
        self.count = 0

    def up(self):
        self.count += 1


COUNTER = Counter()
ROUTES = {
    "called": softmax,
    "a partial": functools.partial(attention.softmax, np.zeros(2)),
    "a lambda": lambda: attention.softmax(np.zeros(2)),
    "a copy": lambda: copy.deepcopy(attention.softmax)(np.zeros(2)),
    "pickled": lambda: pickle.loads(pickle.dumps(attention.softmax))(np.zeros(2)),
    "a new function of its code": lambda: types.FunctionType(
        attention.softmax.__code__,
        attention.softmax.__globals__,
        closure=attention.softmax.__closure__,
    )(np.zeros(2)),
    "by another function of the course": lambda: attention.attention_weights(*np.ones((2, 1, 1))),
    "loaded again": lambda: importlib.reload(attention).softmax(np.zeros(2)),
    "a thread": lambda: in_a_thread(softmax),
    "an empty context": lambda: Context().run(softmax),
    "an empty context of a thread": lambda: in_a_thread(lambda: Context().run(softmax)),
    "within another check": lambda: within_another_check(softmax),
    "a class": Counter,
    "a method": COUNTER.up,
}


def within_another_check(call):
    with forbidding([]), students_code():
        return call()


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize("around", [forbidding, refusing])
def test_closed_routes(route, around):
    kept = dict(vars(attention))  # loaded again, it would have other functions
    names = ["course_utils.attention.softmax", f"{__name__}.Counter"]
    with around(names), students_code(), pytest.raises(ReservedFunction):
        route()
    vars(attention).update(kept)


def test_a_thread_from_before_is_not_refused_in_a_notebook_and_is_in_a_submission():
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        with forbidding(["course_utils.attention.softmax"]), students_code():
            assert pool.submit(softmax).result() == pytest.approx([0.5, 0.5])
        with refusing(["course_utils.attention.softmax"]), pytest.raises(ReservedFunction):
            pool.submit(softmax).result()


def test_another_thread_may_use_what_somebodys_check_reserves():
    refused, calls, over = [], [], threading.Event()

    def work():
        while not over.is_set():
            try:
                calls.append(softmax())
            except ReservedFunction as error:
                refused.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    feedback = [check_linear.normalized(attention.softmax) for _ in range(5)]
    over.set()
    thread.join()
    assert calls
    assert not refused
    assert all("does not run here: this exercise asks" in one.says for one in feedback)


def test_two_checks_in_two_threads_do_not_meet():
    def judge(_):
        return check_transport.sinkhorn(students_own("transport").sinkhorn).outcome

    def refuse(_):
        return check_linear.normalized(attention.softmax).outcome

    with ThreadPoolExecutor(2) as pool:
        right, refused = pool.map(judge, range(4)), pool.map(refuse, range(4))
        assert {*right} == {Outcome.RIGHT}
        assert {*refused} == {Outcome.UNCHECKED}


def test_below_the_gate_is_open():
    """Who goes there is seen: tests/classroom/grading/test_watching.py."""
    with forbidding(["course_utils.attention.softmax"]), students_code():
        assert attention.softmax.__wrapped__(np.zeros(2)) == pytest.approx([0.5, 0.5])
