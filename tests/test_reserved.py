"""What an exercise asks for is in the package too: handed in, it says so and earns nothing."""

import contextlib
import copy
import functools
import importlib
import itertools
import sys
import types

import numpy as np
import pytest

import course_utils
from course_utils import attention, transport
from course_utils.checks import attention as check_attention
from course_utils.checks import linear_attention as check_linear
from course_utils.checks import transport as check_transport
from selfcheck.compare import close, real_array
from selfcheck.exercises import Exercise
from selfcheck.feedback import Outcome
from selfcheck.kinds import Function
from selfcheck.reserved import ReservedFunction, forbidding, object_named, students_code
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
    ],
)
def test_a_function_that_is_the_answer_says_so(answer):
    feedback = check_attention.causal_attention(answer)
    assert feedback.outcome is Outcome.UNCHECKED
    assert "is what this exercise asks you to write" in feedback.says


def test_it_can_be_used_again_when_the_check_is_over():
    check_transport.sinkhorn(transport.sinkhorn)
    plan = transport.sinkhorn(np.eye(2), [1, 1], [1, 1], 0.5)
    assert plan.sum() == pytest.approx(2)
    with forbidding(["course_utils.transport.sinkhorn"]):
        assert transport.sinkhorn(np.eye(2), [1, 1], [1, 1], 0.5).sum() == pytest.approx(2)
        with students_code(), pytest.raises(ReservedFunction, match=r"transport\.sinkhorn is what"):
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
    assert "the course's own functions are no answer" in feedback.says


def test_a_function_of_the_checks_that_is_lent_to_a_student_runs():
    lent = check_linear.exp_features
    with forbidding(["course_utils.checks.linear_attention"]):
        with students_code(lent=[lent]):
            assert lent(np.zeros((1, 1))).size
        with students_code(), pytest.raises(ReservedFunction):
            lent(np.zeros((1, 1)))
