"""Θ is told apart along every path on which some letter leads."""

import math

import pytest

from selfcheck.theta import grows_otherwise, paths, power


def truth(n, d):
    return n * d**2 + n**2 * d


@pytest.mark.parametrize(
    "same",
    [
        lambda n, d: 7 * n * d * (n + d),
        lambda n, d: 0.01 * n**2 * d + 3 * n * d**2 + n * d + 5,
        lambda n, d: n * d * max(n, d),
        lambda n, d: n**2 * d + n * d**2 - n * d,
    ],
)
def test_constants_and_lower_terms_do_not_matter(same):
    assert grows_otherwise(same, truth, ["n", "d"]) is None


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (lambda n, d: n**2 * d, "Where d = s and n = 1, your formula grows as s, and"),
        (lambda n, d: n * d**2, "Where n = s and d = 1, your formula grows as s, and"),
        (lambda n, d: n**2 * d**2, "Where n = s, d = s, your formula grows as s^4, and what"),
        (lambda n, d: truth(n, d) * math.log(2 + n), "s^2.0"),
        (lambda n, d: (n * d) ** 1.5, "s^1.50"),
        (lambda n, d: -truth(n, d), "not positive"),
    ],
)
def test_another_leading_term_is_refuted_where_it_leads(other, says):
    assert says in grows_otherwise(other, truth, ["n", "d"]).says


def test_the_square_and_the_root_are_among_the_paths():
    every = list(paths(["n", "d"]))
    assert {"n": 2, "d": 1} in every
    assert {"n": 1, "d": 2} in every
    assert {"n": 2, "d": 2} not in every  # that is n = d again


def test_a_constant_does_not_grow():
    assert power(lambda n: 3, {"n": 1}) == 0
