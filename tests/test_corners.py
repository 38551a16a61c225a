"""The corners of what a function draws, read off the requests that it makes."""

import itertools
from functools import partial

import numpy as np
import pytest

from selfcheck.corners import WORDS, corners, excluding
from selfcheck.sampling import magnitude, numbers, sizes


def tables(rng, high=40):
    n, k, d = sizes(rng, 3, high=high)
    return numbers(rng, n, d), numbers(rng, k, d)


def every(draw):
    return [(plan.kind, plan.case()) for plan in corners(draw)]


def found(draw, kind):
    return [case for name, case in every(draw) if name == kind]


def test_they_are_the_same_every_time_and_all_have_words():
    first, again = ([(kind, [a.tolist() for a in case]) for kind, case in every(tables)]
                    for _ in "12")  # fmt: skip
    assert first == again
    assert {kind for kind, _ in first} <= {*WORDS}


def test_every_size_is_the_least_three_times_and_once_the_most():
    shapes = [(len(A), len(B), A.shape[1]) for A, B in found(tables, "least")]
    assert {min(shape) for shape in shapes} == {1}
    assert [shape.index(1) for shape in shapes] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    most = [(len(A), len(B), A.shape[1]) for A, B in found(tables, "most")]
    assert [shape.index(40) for shape in most] == [0, 1, 2]
    assert [len(A) for A, _ in found(tables, "twice")] == [80]


def test_every_two_sizes_are_equal_and_once_all_of_them():
    shapes = [(len(A), len(B), A.shape[1]) for A, B in found(tables, "equal")]
    for i, j in itertools.combinations(range(3), 2):
        assert any(shape[i] == shape[j] and len({*shape}) == 2 for shape in shapes)
    assert len({*shapes[-1]}) == 1


def steps_and_states(rng):
    n, T = sizes(rng, 2)
    return numbers(rng, n, n), numbers(rng, T + 1, n)


def test_an_array_that_is_one_longer_than_a_size_becomes_square_too():
    square = [h.shape for _, h in found(steps_and_states, "equal") if len(set(h.shape)) == 1]
    assert sorted(square) == [(2, 2), (3, 3)]
    assert not any(len(A) == 1 + len(B) == 1 + A.shape[1] for A, B in found(tables, "equal"))


def test_the_largest_size_meets_both_ends_of_every_number():
    def fading(rng):
        (n,) = sizes(rng, 1)
        return np.zeros(n), rng.uniform(0.1, 1.0), rng.choice([3, 5, 7])

    most = [(len(x), gamma, kind) for x, gamma, kind in found(fading, "most")]
    assert most[-2:] == [(40, 0.1, 3), (40, 1.0, 7)]


def test_an_answer_that_writes_into_a_corner_changes_nothing_for_the_next():
    for A, B in found(tables, "least"):
        A[:], B[:] = 7.0, 7.0
    assert not any((A == 7.0).all() for A, _ in found(tables, "least"))


@pytest.mark.parametrize("count", range(1, 8))
def test_pairs_of_many_sizes_share_their_cases(count):
    shapes = found(partial(sizes, count=count), "equal")
    assert len(shapes) <= 2 * count + 1
    for i, j in itertools.combinations(range(count), 2):
        assert any(shape[i] == shape[j] for shape in shapes)


@pytest.mark.parametrize(
    ("kind", "is_so"),
    [
        ("zero", lambda A: not A.any()),
        ("same", lambda A: len({*A.flat}) == 1 and A.any()),
        ("repeated", lambda A: len(A) > 1 and (A[0] == A[-1]).all()),
        ("positive", lambda A: (A >= 0).all()),
        ("negative", lambda A: (A <= 0).all()),
        ("large", lambda A: abs(A).max() == 2.0 and np.sort(abs(A).flat)[-2] < 0.01),
        ("small", lambda A: 0 < abs(A).max() < 0.01),
        (
            "levels",
            lambda A: len(A) > 1 and abs(A[1]).max() < 0.3 < abs(A[0]).max(),
        ),
    ],
)
def test_numbers_are_special_together_and_one_array_at_a_time(kind, is_so):
    special = [(is_so(A), is_so(B)) for A, B in found(tables, kind)]
    assert (True, True) in special
    everywhere = [case for _, case in every(tables)]
    assert any(is_so(A) and not is_so(B) for A, B in everywhere)
    assert any(is_so(B) and not is_so(A) for A, B in everywhere)


def test_every_option_and_both_ends_of_a_number_are_taken():
    def settings(rng):
        return (
            int(rng.integers(3, 7)),
            float(rng.uniform(0.5, 2.0)),
            str(rng.choice(["a", "b", "c"])),
            magnitude(rng, 0.1, 100),
            rng.random() < 0.5,
        )

    columns = [{*column} for column in zip(*(case for _, case in every(settings)), strict=True)]
    for column, wanted in zip(
        columns, [{3, 6}, {0.5, 2.0}, {"a", "b", "c"}, {0.1, 100.0}, {True, False}], strict=True
    ):
        assert column >= wanted


def test_numbers_stay_in_their_bounds_and_of_their_kind():
    def bounded(rng):
        return rng.uniform(0.2, 0.9, (3, 2)), rng.integers(1, 5, 4)

    for _, (reals, counts) in every(bounded):
        assert (reals >= 0.2).all()
        assert (reals <= 0.9).all()
        assert counts.dtype.kind == "i"
        assert (counts >= 1).all()
        assert (counts <= 4).all()


def test_what_a_statement_excludes_is_not_drawn_and_the_reason_stays():
    draw = excluding(zero="A row of zeros has no direction.")(lambda rng: tables(rng))
    assert not found(draw, "zero")
    assert not found(partial(draw), "zero")
    assert found(draw, "same")
    with pytest.raises(TypeError, match="no corners zeros"):
        excluding(zeros="No.")
