"""Declared derivations: lines are judged with tied letters, and seen with free ones."""

from typing import Annotated

import numpy as np
import pytest

from selfcheck.chains import Chain, Line, Milestone, Seen
from selfcheck.derivation import contraction, integers, interval, matrix, real, sequence, vector
from selfcheck.exercises import exercise
from selfcheck.forms import Forms
from selfcheck.refusals import Unreadable
from selfcheck.verdicts import Verdict

AREA = Chain(
    "c*a + c*b",
    where={"a b": real},
    given={"c": "a + b"},
    forms=Forms({"c_t": "c"}),
    steps=[Milestone("no square is seen", [Seen(without="c")])],
    goal=[Seen(without="a b")],
    not_there="the last one still has a or b.",
)
LENGTH = Chain(
    r"\|A x\|",
    where={"A": contraction("n"), "x": vector("n")},
    given={"y": "A x"},
    relations="=≤",
    steps=[Milestone("no norms are seen", [Seen(like=r"\|A\| \|x\|")])],
    goal=[Seen(using="x", without="A y")],
    not_there="the last one still has A.",
)
TWICE = Chain(
    "u_n",
    where={"u": sequence(vector("k")), "n": integers(3, 6)},
    given={"u_n": "2 u_{n-1}"},
    steps=[Milestone("no step is seen", [Seen(using="u_{n-1}", without="u_n")])],
    goal=[Seen(using="u_{n-2}", without="u_{n-1} u_n")],
    not_there="it ends too early.",
)
SUM = Chain(
    r"\int_w \exp(-\frac12\|w\|^2) dw + 0 \cdot \|w\|",
    where={"w": vector("d"), "d": integers(1, 2)},
    free=["Integral", "Expectation"],
    sizes={"d": 1},
    instances=24,
    steps=[],
    goal=[Seen(without="Integral Expectation")],
    not_there="there is still an integral.",
)


def judged(chain, answer, points=2):
    return chain.judge(chain.read(answer, "lines"), points, "Done.")


@pytest.mark.parametrize(
    "answer",
    [
        "c*a + c*b = (a + b)**2 = c**2",
        r"= (a + b)^2 = c_t^2",
        r"\begin{aligned} &= (a + b)^2 \\ &= c^2 \end{aligned}",
        ["(a + b)**2", "c**2"],
        ["= (a + b)**2", ("=", "c**2")],
        [lambda a, b: (a + b) ** 2, lambda c: c**2],
        ["a**2 + 2*a*b + b**2", lambda c: c * c],
    ],
)
def test_a_derivation_is_right_in_any_form(answer):
    assert judged(AREA, answer).outcome == "right"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (["c*a + c*b"], "the last one still has a or b"),
        (["c**2"], "this is a jump: no square is seen"),
        (["c**2 + a - a", "c**2"], "this is a jump"),
        (["c*(a + b)", "c**2"], "this is a jump"),
        (["c**2*b/b", "c**2"], "Line 1 is false"),
        (["(a - b)**2", "c**2"], "Line 1 is false"),
    ],
)
def test_a_start_a_leap_and_a_disguise_earn_nothing(answer, says):
    found = judged(AREA, answer)
    assert found.outcome == "wrong"
    assert not found.earned
    assert says in found.says


def test_a_step_before_a_false_line_keeps_its_points():
    assert judged(AREA, ["(a + b)**2", "c**3"]).earned == 1


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (r"\|Ax\| \le \|A\|\|x\| \le \|x\|", "right"),
        ([r"\le \|A\|\|x\|", "≤ ||x||"], "right"),
        (["≤ norm(A)*norm(x)", ("<=", lambda x: np.linalg.norm(x))], "right"),
        ([r"= \|A\|\|x\|", r"\le \|x\|"], "wrong"),
        ([r"\le \|A\|\|x\|", r"= \|x\|"], "wrong"),
        (r"\|Ax\| \le \|A\|\|x\| \le \|y\|", "wrong"),
    ],
)
def test_inequalities_are_taken_where_they_are_meant(answer, outcome):
    if "norm(A)" in answer[0]:
        with pytest.raises(Unreadable):
            judged(LENGTH, answer)
    else:
        assert judged(LENGTH, answer).outcome == outcome


def test_another_relation_is_told():
    with pytest.raises(Unreadable, match="Line 1 of lines begins with ≥; a line has one of = ≤"):
        judged(LENGTH, r"\|Ax\| \ge 0")
    with pytest.raises(Unreadable, match="Line 1 begins with ≤; every line is an equality here"):
        judged(AREA, ["≤ c**2"])


def test_an_item_of_a_sequence_is_a_letter():
    assert judged(TWICE, r"u_n = 2u_{n-1} = 4u_{n-2}").outcome == "right"
    assert judged(TWICE, r"u_n = 4u_{n-2}").outcome == "wrong"
    with pytest.raises(Unreadable, match="a line about sequences is text here"):
        judged(TWICE, [lambda u, n: 2 * u(n - 1)])


def test_an_operator_may_be_free():
    has_one = SUM.read([r"\int_w \exp(-\frac12\|w\|^2) dw"], "lines")[0]
    has_none = SUM.read([r"(2\pi)^{d/2}"], "lines")[0]
    assert SUM.uses(has_one, "Integral")
    assert not SUM.uses(has_none, "Integral")
    assert not SUM.uses(has_one, "Expectation")


@pytest.mark.parametrize(
    "line", ["q", "sin", "a +", r"\frac{a}", lambda q: q, lambda a: "word", None, object(), 3 + 4j]
)
def test_what_cannot_be_read_gets_a_sentence(line):
    with pytest.raises(Unreadable):
        judged(AREA, [line])


@exercise("9.1", points=2)
def square(lines: Annotated[list[Line], AREA]) -> Verdict:
    """Write ca + cb with c = a + b alone, by way of a and b."""
    return AREA.judge(lines, 2, "Done.")


square.mistake("the double product lost", "It has 2ab.", example=(["a*a + b*b", "c*c"],))
square.mistake("a jump", "Show the square first.", example=(["c**2"],))


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (["b**2 + a**2"], "the double product lost"),
        (["(a + b)**2", "a**2 + b*b + 0*c"], "the double product lost"),
        (r"= c^2", "a jump"),
        (["(a + b)**2", "c**3"], None),
        (["a*a + b*b + 1"], None),
    ],
)
def test_a_mistake_is_known_by_its_first_false_line(answer, mistake):
    assert square(answer).misconception == mistake


@pytest.mark.parametrize("k", range(8))
def test_contractions_stretch_nothing_and_some_reach_the_bound(k):
    from random import Random

    domain = contraction("n")
    drawn = [domain.draw(Random(f"{k}{j}"), 3, 3) for j in range(20)] + domain.simple(3, 3)
    norms = [np.linalg.norm(A, 2) for A in drawn]
    assert max(norms) <= 1
    assert max(norms) == 1


def test_free_letters_hide_nothing():
    chain = Chain(
        "P x",
        where={"x": vector("n"), "r": interval(0, 1)},
        given={"P": r"\mathbf{I}_n"},
        steps=[],
        goal=[Seen(without="P")],
        not_there="P is still there.",
    )
    assert not judged(chain, ["P x"]).earned
    assert judged(chain, ["x"]).outcome == "right"


def test_one_may_write_about_an_entry():
    chain = Chain(
        "A x",
        entry="(A x)_i",
        where={"A": matrix("n", "n"), "x": vector("n"), "i": integers(1, 1)},
        given={"y": "A x"},
        steps=[],
        goal=[Seen(without="A x")],
        not_there="it is not y yet.",
    )
    assert judged(chain, r"Ax = y").outcome == "right"
    assert judged(chain, r"(Ax)_i = \sum_j A_{i,j} x_j = y_i").outcome == "right"
    assert judged(chain, r"(Ax)_i = \sum_j A_{j,i} x_j = y_i").outcome == "wrong"
