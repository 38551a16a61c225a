"""clusters.py, behavior.py and diagnosis.py: wrong answers that mean the same, how they miss."""

import random
from functools import partial
from typing import Annotated

import numpy as np
import pytest

from classroom.grading import clusters as module
from classroom.grading.behavior import refer, sign, unnamed
from classroom.grading.clusters import group, keep_families
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.records import Graded, Result
from course_utils.variants import two_heads
from selfcheck.calls import FunctionAnswer
from selfcheck.exercises import EXERCISES, Exercise
from selfcheck.feedback import Outcome
from selfcheck.kinds import Array, Choice, Formula, FormulaAnswer, Function, Number
from selfcheck.units import declared
from selfcheck.verdicts import Verdict, differs, right, wrong
from tests.checks import test_momentum, test_two_heads

CLASS_SEED = 4711
RIGHT = {"02_momentum": test_momentum.RIGHT, "05_two_heads": test_two_heads.RIGHT}


def exercise(unit, name):
    return next(e for e in declared(unit) if e.name == name)


def result_of(check, *answers, seed=1):
    """What the judge keeps of these answers."""
    check.seed = seed
    feedback = check(*answers)
    check.seed = None
    signed = tuple(sign(check, feedback, p, CLASS_SEED).as_dict() for p in unnamed(feedback))
    return Result(**feedback.as_dict(), answer=repr(answers), signatures=signed)


def reference(check, solution):
    feedback = check(*solution)
    assert feedback.outcome is Outcome.RIGHT
    return {check.name: refer(check, feedback)}


def grouped(unit, check, solution, answers, kept=()):
    """The families among these answers, one a student; everybody has a seed of their own."""
    everyone = [
        Graded(str(k), unit, "f", "d", results=(result_of(check, *one, seed=k + 1),))
        for k, one in enumerate(answers)
    ]
    return group(everyone, reference(check, solution), kept)


def families(unit, name, answers, kept=()):
    return grouped(unit, exercise(unit, name), RIGHT[unit][name][0], answers, kept)


@pytest.fixture
def own(monkeypatch):
    """Families among the answers to a check that a test makes up."""
    before = list(EXERCISES)

    def found(function, solution, answers):
        check = Exercise(function, "99.1", points=1)
        monkeypatch.setattr(module, "declared", lambda unit: [check])
        return grouped("99_own", check, solution, answers)

    yield found
    EXERCISES[:] = before


def members(unit, name, answers):
    return sorted(tuple(map(int, f.students)) for f in families(unit, name, answers))


def missed(unit, name, *answers):
    (family,) = families(unit, name, [answers])
    return family.miss


bias = partial(missed, "02_momentum", "bias")


# -- what is the same -----------------------------------------------------------------------------


def test_formulas_are_one_family_however_they_are_written():
    answers = [("beta*(1 - beta**t)",), ("β − β^(t+1)",), ("beta - beta*beta**t",), ("beta**3",)]
    assert members("02_momentum", "bias", answers) == [(0, 1, 2), (3,)]


def doubled(beta, t):
    return 2 * (1 - beta ** np.arange(t, 0, -1))


def doubled_in_a_loop(beta, t):
    weights = []
    for i in range(1, t + 1):
        weights.append(1 - beta ** (t - i + 1) + 1 - beta ** (t - i + 1))
    return weights


def doubled_until_nine(beta, t):
    return (2 if t < 9 else 1) * (1 - beta ** np.arange(t, 0, -1))


def test_functions_are_told_apart_by_all_instances_not_by_the_first_that_refutes():
    answers = [(doubled,), (doubled_in_a_loop,), (doubled_until_nine,)]
    assert members("02_momentum", "weights", answers) == [(0, 1), (2,)]


def test_what_only_instances_of_their_own_seed_refute_is_compared_on_those_of_the_class():
    def wrong_for_many(beta, t):
        return (1 - beta) * beta ** np.arange(t)[::-1] * (1 if t < 20 else 3)

    def so_too(beta, t):
        return [(1 - beta) * beta ** (t - 1 - i) * (3 if t >= 20 else 1) for i in range(t)]

    assert members("02_momentum", "weights", [(wrong_for_many,), (so_too,)]) == [(0, 1)]


def test_derivations_are_grouped_by_their_first_false_line():
    short = ["mu*(1 - beta**(t + 2))"]
    long = ["mu*(1 - beta)*Sum(beta**(t - i), (i, 1, t))", "mu - mu*beta**(t + 2)", "17"]
    other = ["mu*(1 + beta**t)"]
    answers = [(short,), (long,), (other,)]
    found = families("02_momentum", "expectation", answers)
    unnamed_ones = [f for f in found if f.exercise == "expectation"]
    assert sorted(tuple(f.students) for f in unnamed_ones) == [("0", "1"), ("2",)]


def test_numbers_arrays_and_choices_are_grouped_by_value(own):
    def check(
        word: Annotated[str, Choice(("a", "b", "c"))],
        number: Annotated[float, Number()],
        array: Annotated[np.ndarray, Array((2,))],
    ) -> Verdict:
        return right() if word == "a" and number == 1 else wrong("no.")

    answers = [("b", 1, [1, 2]), ("b", "1", (1.0, 2)), ("c", 1, [1, 2]), ("b", 1, [1, 3])]
    found = own(check, ("a", 1, [1, 2]), answers)
    assert sorted(f.students for f in found) == [["0", "1"], ["2"], ["3"]]


def test_parts_are_families_of_their_own_and_each_has_its_own_counterexample():
    found = families("02_momentum", "equivalent_rules", [("beta**3", "delta**2*(1 - beta)")] * 2)
    assert {f.part: f.students for f in found} == {"α": ["0", "1"], "ε": ["0", "1"]}
    says = {f.part: f.says for f in found}
    assert "the second move" in says["α"]
    assert "the first move" in says["ε"]
    assert "the first move" not in says["α"]


def test_an_answer_with_a_known_mistake_is_in_no_family():
    assert families("02_momentum", "bias", [("beta**t",), ("1 - beta**t",), (object(),)]) == []


def test_where_everybody_has_other_numbers_the_way_they_miss_counts():
    answers = []
    for student in ("ada", "bob", "7"):
        numbers = two_heads(student)
        Q, K, V = (numbers.X @ W for W in numbers.heads[0])
        answers.append((student, 5 * Q, K, V))
    (family,) = families("05_two_heads", "projections", answers)
    assert (family.part, family.students) == ("Q", ["0", "1", "2"])
    assert family.miss == "off by the factor 5"


@pytest.mark.parametrize("seed", range(5))
def test_families_do_not_depend_on_the_order_of_the_submissions(seed):
    forms = ["beta*(1 - beta**t)", "β - β^(t+1)", "beta**3", "2*beta", "beta + beta", "t", "3/t"]
    chance, check = random.Random(seed), exercise("02_momentum", "bias")
    everyone = [
        Graded(f"s{k}", "02_momentum", "f", "d", results=(result_of(check, form),))
        for k, form in enumerate(chance.choices(forms, k=40))
    ]
    shuffled = chance.sample(everyone, len(everyone))
    about = reference(check, RIGHT["02_momentum"]["bias"][0])

    def told(found):
        return [(f.name, f.students, f.miss, f.example, f.forms) for f in found]

    assert told(group(shuffled, about)) == told(group(everyone, about))


def test_a_regrade_keeps_the_names_of_families(tmp_path):
    with Gradebook(tmp_path / NAME) as book:
        for k, form in enumerate(["beta*(1 - beta**t)", "beta**3"]):
            result = result_of(exercise("02_momentum", "bias"), form, seed=k + 1)
            book.save(Graded(str(k), "02_momentum", "f", "d", results=(result,)))
        keep_families(book, "02_momentum")
        kept = book.kept_families("02_momentum")
    assert len(kept) == 2
    exercise_, part, _, data = kept[0]
    renamed = [(exercise_, part, "abcdef", data)]
    again = families("02_momentum", "bias", [("β − β^(t+1)",), ("β·β·β",)], renamed)
    assert "abcdef" in {f.name for f in again}
    assert {f.name for f in again} - {"abcdef"} <= {name for _, _, name, _ in kept}


# -- how it misses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("beta**t - 1", "off by the sign"),
        ("2*(1 - beta**t)", "off by the factor 2"),
        ("-(1 - beta**t)/3", "off by the factor −1/3"),
        ("beta*(1 - beta**t)", "off by the factor β"),
        ("(1 - beta**t)/t", "off by the factor 1/t"),
        ("(1 - beta**t)*(1 - beta)", "off by the factor 1 − β"),
        ("(1 - beta**t)*beta**2/(2*t)", "off by the factor β²/(2·t)"),
        ("1 - beta**t - beta", "a term β is missing"),
        ("1 - beta**t + 2*t", "a term 2·t is too many"),
        ("3 - beta**t", "2 too much everywhere"),
        ("1 - t**beta", "swapped roles: β stands for t, and t for β"),
    ],
)
def test_the_catalog_says_how_a_formula_misses(answer, says):
    assert bias(answer) == says


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("(n + 1)**2 - 3", "shifted: n + 1 stands for n"),
        ("(n - 1)**2 - 3", "shifted: n − 1 stands for n"),
        ("1/(n**2 - 3)", "the reciprocal of a right answer"),
    ],
)
def test_a_shifted_index_is_known(own, answer, says):
    def check(squares: Annotated[FormulaAnswer, Formula(n=range(4, 40))]) -> Verdict:
        return right() if squares(n=4) == 13 and squares(n=9) == 78 else wrong("no.")

    (family,) = own(check, ("n**2 - 3",), [(answer,)])
    assert family.miss == says


@pytest.mark.parametrize("answer", ["beta**3 + t", "sin(t)", "beta**t*(1 - beta**t)", "7"])
def test_nothing_is_said_of_what_the_catalog_does_not_know(answer):
    assert bias(answer) == ""


def two_places_late(beta, t):
    return np.roll(1 - beta ** np.arange(t, 0, -1), 2)


def shifted(beta, t):
    right = 1 - beta ** np.arange(t, 0, -1)
    return [0.0, *right[:-1]]


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (doubled, "off by the factor 2"),
        (lambda beta, t: doubled(beta, t) / -2, "off by the sign"),
        (lambda beta, t: 2 / doubled(beta, t), "the reciprocal of a right answer"),
        (shifted, "shifted: everything stands one place too late"),
        (two_places_late, ""),
        (lambda beta, t: doubled(beta, t) / 2 + 1, "1 too much everywhere"),
    ],
)
def test_the_catalog_says_how_a_function_misses(function, says):
    assert missed("02_momentum", "weights", function) == says


A, B = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[0.0, 7.0], [1.0, 4.0]])


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda A, B: (A @ B).T, "transposed"),
        (lambda A, B: B @ A, "swapped roles: A stands for B, and B for A"),
        (lambda A, B: A @ B @ A, ""),
    ],
)
def test_a_transpose_and_swapped_arguments_are_known(own, answer, says):
    def check(
        product: Annotated[FunctionAnswer, Function(samples=[(A, B), (B, B + 1)])],
    ) -> Verdict:
        return differs(A @ B, product(A, B)) or right()

    (family,) = own(check, (lambda A, B: A @ B,), [(answer,)])
    assert family.miss == says


def test_answers_in_each_others_place_are_known(own):
    def check(rows: Annotated[float, Number()], columns: Annotated[float, Number()]) -> Verdict:
        return right() if (rows, columns) == (3, 5) else wrong("no.")

    (family,) = own(check, (3, 5), [(5, 3)])
    assert family.miss == "swapped roles: rows and columns stand in each other's place"


def test_one_number_alone_is_not_explained_by_just_any_factor():
    found = families("02_momentum", "first_false_line", [(0, 7, "0")])
    assert all(f.miss == "" for f in found)
