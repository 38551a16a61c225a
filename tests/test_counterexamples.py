"""The case that refuted an answer can be had, is small, and says what is special about it."""

from typing import Annotated

import numpy as np
import pytest

from selfcheck import exercises as engine
from selfcheck.blanks import ____
from selfcheck.calls import FunctionAnswer, in_a_row
from selfcheck.corners import excluding
from selfcheck.counterexamples import NoCase, as_python
from selfcheck.exercises import exercise
from selfcheck.kinds import Function, RealNumber
from selfcheck.sampling import cases, numbers, sizes
from selfcheck.verdicts import differs, keeps_arguments, right, where, wrong


@pytest.fixture(autouse=True)
def own_register(monkeypatch):
    monkeypatch.setattr(engine, "EXERCISES", [])


def tables(rng):
    n, k, d = sizes(rng, 3)
    return numbers(rng, n, d), numbers(rng, k, d)


@excluding(least="One row is no table.")
def larger_tables(rng):
    return tables(rng)


def make(draw=tables, pencil=()):
    @exercise("9.1", points=2)
    def products(f: Annotated[FunctionAnswer, Function()]):
        """All products of rows."""
        for A, B in cases(pencil, draw):
            yours = f.array(A, B, shape=(len(A), len(B)))
            if verdict := differs(A @ B.T, yours, at=where("With {} and {}", A, B)):
                return verdict
        return right("All products.")

    return products


def off_by(special):
    def f(A, B):
        return A @ B.T + special(A, B)

    return f


def test_the_case_is_what_the_function_was_given_and_refutes_it():
    check, f = make(), off_by(lambda A, B: 1)
    feedback = check(f)
    A, B = check.case()
    assert not np.allclose(f(A, B), A @ B.T)
    assert "Run it yourself: `f(*products.case())`." in feedback.leads


SPECIAL = {
    "everywhere": (lambda A, B: 1, lambda A, B: A.size + B.size <= 3),
    "many rows": (lambda A, B: len(A) > 4, lambda A, B: len(A) > 4 and B.size <= 3),
    "as many rows in both": (lambda A, B: len(A) == len(B), lambda A, B: len(A) == len(B) == 1),
    "a large number": (lambda A, B: A.max() > 1, lambda A, B: A.size <= 3),
    "different widths": (lambda A, B: A.shape[1] == 2, lambda A, B: A.shape[1] == 2),
}


@pytest.mark.parametrize("special", SPECIAL)
def test_it_is_made_small_while_it_refutes(special):
    is_off, is_small = SPECIAL[special]
    check = make()
    says = check(off_by(lambda A, B: 1.0 * is_off(A, B))).says
    A, B = check.case()
    assert is_off(A, B)
    assert is_small(A, B), (A.shape, B.shape)
    assert "an array of shape" not in says  # the card tells of the small case
    assert (np.round(A) == A).all()


def test_what_a_statement_excludes_is_not_made():
    check = make(larger_tables)
    check(off_by(lambda A, B: 1))
    A, B = check.case()
    assert min(len(A), len(B), A.shape[1]) == 2


def test_cards_are_the_same_every_time():
    check = make()
    f = off_by(lambda A, B: 1.0 * (len(A) > 3))
    assert repr(check(f)) == repr(check(f))


WORDS = {
    "zero": (lambda A, B: not B.any() and len(A) > 1, "B is all zeros"),
    "same": (lambda A, B: B.size > 1 and np.ptp(B) == 0 and B.any(), "B are the same"),
    "large": (lambda A, B: 0 < np.sort(abs(B).ravel())[-2:][0] < 0.01, "B is far larger"),
    "small": (lambda A, B: 0 < abs(A).max() < 0.01, "A are small"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WORDS)
def test_the_kind_of_case_is_told_if_ordinary_ones_pass(kind):
    is_so, words = WORDS[kind]
    leads = make()(off_by(lambda A, B: 1.0 * is_so(A, B))).leads
    assert leads[0].startswith("Ordinary cases pass; here ")
    assert words in leads[0]


def test_a_case_by_pencil_stays_as_it_is():
    pencil = [(np.array([[1.5, 2.0]]), np.array([[0.5, 1.0], [2.0, 0.0]]))]
    check = make(pencil=pencil)
    check(off_by(lambda A, B: 1))
    A, B = check.case()
    assert (pencil[0][0] == A).all()
    assert (pencil[0][1] == B).all()


def test_a_large_case_that_somebody_wrote_down_gives_way_to_a_small_one():
    rng = np.random.default_rng(0)
    check = make(pencil=[(rng.normal(size=(9, 9)), rng.normal(size=(5, 9)))])
    check(off_by(lambda A, B: 1))
    A, B = check.case()
    assert A.size + B.size <= 3


def test_a_case_may_be_changed_and_is_whole_the_next_time():
    check = make()
    check(off_by(lambda A, B: 1))
    before = repr(check.case())
    check.case()[0][:] = 7
    assert repr(check.case()) == before


def test_what_is_printed_can_be_pasted():
    check = make()
    check(off_by(lambda A, B: 1.0 * (len(A) > 2)))
    space = {"np": np}
    exec(repr(check.case()), space)
    assert all((space[name] == value).all() for name, value in zip("AB", check.case(), strict=True))


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        (np.array([[1.0, -2.5]]), "np.array([[1.0, -2.5]])"),
        ([np.array([1]), (2,)], "[np.array([1]), (2,)]"),
        (np.float64(-0.5), "-0.5"),
        (np.array([np.inf, np.nan]), "np.array([np.inf, np.nan])"),
        (np.zeros((9, 9)), "case()[0]  # an array of shape (9, 9)"),
        (np.tanh, "case()[0]  # tanh"),
        (None, "None"),
    ],
)
def test_values_are_typed_as_python(value, typed):
    assert as_python(value, "case()[0]") == typed


def test_an_error_has_a_case_too():
    check = make()
    check(lambda A, B: 1 / (len(B) - 1) * A @ B.T if len(B) == 1 else A @ B.T)
    assert len(check.case()[1]) == 1


def test_of_several_functions_each_has_its_call():
    @exercise("9.2", points=1)
    def pair(f: Annotated[FunctionAnswer, Function()], g: Annotated[FunctionAnswer, Function()]):
        """Two."""
        return right() if f(2) + g(3) == 5 else wrong("No.", at="sum", yours=f(2) + g(3))

    def left(x):
        return x

    def other(y):
        return y + 1

    leads = pair(left, other).leads[0]
    told = {*leads.rstrip(".").split()}
    assert {"`left(*pair.case(left))`", "`other(*pair.case(other))`"} <= told
    assert (tuple(pair.case(left)), tuple(pair.case(other))) == ((2,), (3,))
    with pytest.raises(NoCase, match="There is none for `third`"):
        pair.case("third")


def test_of_a_loop_over_a_state_it_is_the_step_that_is_off():
    @exercise("9.3", points=1)
    def sums(step: Annotated[FunctionAnswer, Function()]):
        """Add."""
        for (x,) in cases([(np.array([1.0, 2.0, 3.0]),)]):
            yours = in_a_row(None, step, 0.0, [(one,) for one in x])
            for i, expected in enumerate(np.cumsum(x)):
                if verdict := differs(expected, yours[i], at=f"After {i}", whole=yours):
                    return verdict
        return right()

    def step(state, x):
        state = state + x
        return state, state if state < 6 else 0.0

    sums(step)
    assert tuple(sums.case()) == (3.0, 3.0)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "Nothing was checked yet"),
        (lambda A, B: A @ B.T, "The last answer is right"),
        (____, "not refuted by a call"),
        (7, "not refuted by a call"),
    ],
)
def test_where_there_is_none_a_sentence_says_why(answer, why):
    check = make()
    if answer is not None:
        check(answer)
    with pytest.raises(NoCase, match=why) as refused:
        check.case()
    assert refused.value._render_traceback_() == [f"No case: {refused.value}"]


def test_an_exercise_without_functions_says_so():
    @exercise("9.4", points=1)
    def four(x: RealNumber):
        """Four."""
        return right() if x == 4 else wrong("No.")

    assert not four(5).leads
    with pytest.raises(NoCase, match="asks for no function"):
        four.case()


def test_a_function_that_depends_on_chance_has_none():
    calls = []
    check = make()
    check(lambda A, B: A @ B.T + (calls.append(1) or len(calls) == 1))
    with pytest.raises(NoCase):
        check.case()


def test_no_verdict_depends_on_it():
    check, f = make(), off_by(lambda A, B: 1.0 * (len(A) > 4))
    plain, told = check.judged(f), check(f)
    assert (plain.outcome, plain.earned, plain.mistakes) == (
        told.outcome,
        told.earned,
        told.mistakes,
    )
    assert plain.leads == ()


def test_what_a_function_prints_is_not_printed_again(capsys):
    check = make()

    def f(A, B):
        print("here")
        return A @ B.T + (len(A) > 4)

    check.judged(f)
    once = capsys.readouterr().out.count("here")
    check(f)
    assert capsys.readouterr().out.count("here") == once


def test_a_function_that_changes_its_arguments_is_shown_them_as_they_were():
    @exercise("9.5", points=1)
    def kept(f: Annotated[FunctionAnswer, Function()]):
        """Keep."""
        return keeps_arguments(f, np.array([1.0, 2.0])) or right()

    def f(x):
        x += 1
        return x

    kept(f)
    assert kept.case()[0].tolist() == [1.0, 2.0]


def test_a_check_that_counts_its_cases_is_not_asked_about_another_one():
    truths = [1.0, 2.0, 3.0]

    @exercise("9.6", points=1)
    def counted(f: Annotated[FunctionAnswer, Function()]):
        """Count."""
        for k, x in enumerate(cases([1.0, 2.0, 3.0])):
            if verdict := differs(truths[k], f(x), at=f"At {x:g}"):
                return verdict
        return right()

    feedback = counted(lambda x: x if x < 3 else 0.0)
    assert feedback.says == "At 3 the result should be 3; yours is 0."
    assert tuple(counted.case()) == (3.0,)
