"""No verdict by luck: a corner is tried always or never, and treated by itself it is refuted."""

from typing import Annotated

import numpy as np
import pytest

from classroom import audit, luck
from selfcheck import exercises as engine
from selfcheck.calls import FunctionAnswer
from selfcheck.exercises import exercise
from selfcheck.kinds import Function
from selfcheck.sampling import cases, current, numbers, sizes
from selfcheck.verdicts import differs, right
from tests.places import SMALL


@pytest.fixture
def own_register(monkeypatch):
    monkeypatch.setattr(engine, "EXERCISES", [])


alone = pytest.mark.usefixtures("own_register")


def vector(rng):
    return numbers(rng, *sizes(rng, 1))


def doubling(*draws, also=()):
    @exercise("9.1", points=2)
    def doubled(f: Annotated[FunctionAnswer, Function()]):
        """Double."""
        for x in cases([np.array([1.0, 2.0])], *draws, also=also):
            if verdict := differs(2 * x, f.array(x, shape=x.shape)):
                return verdict
        return right("Doubled.")

    doubled.mistake("squared", "A square is no double.", example=(lambda x: x * x,))
    return doubled


def twice(x):
    return 2 * x


@alone
def test_what_corners_have_is_tried_always():
    found = luck.tried(doubling(vector), [twice])
    assert not found.lucky
    assert found.hits["one row"] == found.hits["more than 64 rows"] == luck.SECRETS
    assert "a square array" not in found.never  # there are no tables
    assert found.never == ["entries of 100 or more", "large beside small"]


@alone
def test_what_is_drawn_and_has_no_corners_is_tried_by_luck():
    found = luck.tried(doubling(also=[vector] * 2), [twice])
    assert "one row" in found.lucky


@alone
def test_who_treats_a_corner_by_itself_is_refuted_unless_it_is_right_there():
    every = {
        name: (share, wrong) for name, share, wrong in luck.specials(doubling(vector), [twice])
    }
    assert every["squared, where there is one row"] == (0.0, True)
    assert every["squared, where there is more than 64 rows"] == (0.0, True)
    assert all(share == 0.0 for share, is_wrong in every.values() if is_wrong)


@alone
def test_how_often_an_answer_passes_is_told():
    at_even_secrets = doubling(also=[vector])

    def odd(x):
        return 2 * x + (current().seed % 2 if x.tolist() != [1.0, 2.0] else 0)

    assert audit.how_often(at_even_secrets, [odd], secrets=10) == 0.5
    assert audit.how_often(at_even_secrets, [twice]) == 1
    assert audit.how_often(at_even_secrets, [abs]) == 0


@pytest.mark.usefixtures("in_small_course")
def test_nothing_is_by_luck_in_the_small_course(capsys):
    luck.run(SMALL, audit.chosen(SMALL, []))
    assert "by luck:" not in capsys.readouterr().out
