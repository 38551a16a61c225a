"""Cases by pencil, corners and cases that are drawn: the same for everybody and every run."""

from typing import Annotated

import numpy as np
import pytest

from selfcheck import exercises as engine
from selfcheck.blanks import ____
from selfcheck.calls import FunctionAnswer
from selfcheck.exercises import exercise
from selfcheck.feedback import Outcome
from selfcheck.kinds import Choice, Function, RealNumber
from selfcheck.sampling import by_pencil, cases, magnitude, numbers, sizes, surveying, trial, tried
from selfcheck.verdicts import (
    Seen,
    Verdict,
    differs,
    keeping,
    keeps_arguments,
    partly,
    repeats,
    right,
    wrong,
)


@pytest.fixture(autouse=True)
def own_register(monkeypatch):
    monkeypatch.setattr(engine, "EXERCISES", [])


def vector(rng):
    return numbers(rng, *sizes(rng, 1))


def make():
    @exercise("9.1", points=2)
    def doubled(f: Annotated[FunctionAnswer, Function(samples=[(np.array([3.0]),)])]):
        """Double."""
        for x in cases([np.array([1.0, 2.0])], vector, fresh=8):
            if verdict := differs(2 * x, f.array(x, shape=x.shape), at=f"For x = {x.size}"):
                return verdict
        return right("Doubled.")

    @doubled.mistake("squared", "A square is no double.")
    def squared(x):
        return x * x

    return doubled


def only_small(x):
    return 2 * x if len(x) < 4 else x


# -- drawing ---------------------------------------------------------------------------------------


def drawn_with(seed, *draws, **more):
    with trial(seed):
        return [x.tolist() for x in cases([np.array([7.0])], *draws, **more)]


def test_pencil_cases_come_first_then_corners_and_drawn_ones_depend_on_the_seed_alone():
    one, again, other = (drawn_with(seed, vector) for seed in (1, 1, 2))
    assert one[0] == [7.0]
    assert one == again
    assert one[:-3] == other[:-3]
    assert all(a != b for a, b in zip(one[-3:], other[-3:], strict=True))


def test_what_takes_long_is_drawn_once_and_has_no_corners():
    assert len(drawn_with(1, also=[vector, vector])) == 3


def test_a_check_knows_how_many_cases_there_were_and_which_are_by_pencil():
    with trial(5):
        assert [by_pencil() for _ in cases([1, 2], also=[vector])] == [True, True, False]
        assert (by_pencil(), tried()) == (False, 3)


def test_sizes_are_all_different_and_small_ones_are_frequent():
    drawn = [sizes(np.random.default_rng(seed), 3) for seed in range(200)]
    assert all(len(set(three)) == 3 for three in drawn)
    assert {n for three in drawn for n in three} >= {1, 2, 3, 30}
    assert max(n for three in drawn for n in three) <= 40


def test_numbers_have_few_digits_and_both_signs_and_magnitudes_are_powers_of_ten():
    rng = np.random.default_rng(0)
    drawn = numbers(rng, 20, 20)
    assert np.array_equal(drawn, drawn.round(2))
    assert drawn.min() < 0 < drawn.max()
    assert magnitude(rng, 1, 1e12) in [10.0**k for k in range(13)]


# -- one answer, one verdict -----------------------------------------------------------------------


def test_the_same_answer_has_the_same_verdict_every_time():
    doubled = make()
    assert len({repr(doubled(only_small)) for _ in range(5)}) == 1


@pytest.mark.parametrize("seed", [None, *range(1, 20)])
@pytest.mark.parametrize(
    "special",
    [
        lambda x: len(x) == 1,
        lambda x: len(x) == 2,
        lambda x: len(x) > 39,
        lambda x: len(x) > 64,
        lambda x: not x.any(),
        lambda x: len(x) > 1 and len({*x}) == 1,
        lambda x: len({*x}) < len(x),
        lambda x: (x > 0).all(),
        lambda x: (x < 0).all(),
        lambda x: len(x) > 1 and abs(x).max() > 50 * np.sort(abs(x))[-2],
    ],
)
def test_an_answer_that_is_wrong_at_a_corner_is_wrong_with_every_seed(special, seed):
    doubled = make()
    doubled.seed = seed
    assert doubled(lambda x: 2 * x + 1.0 * special(x)).outcome == "wrong"


@pytest.mark.parametrize("seed", [None, *range(1, 20)])
def test_a_right_answer_has_one_sentence(seed):
    doubled = make()
    doubled.seed = seed
    assert repr(doubled(lambda x: x + x)) == "9.1 doubled: right, 2 of 2 points. Doubled."


# -- naming ----------------------------------------------------------------------------------------


def test_a_mistake_is_named_if_it_fails_at_the_same_instance_with_the_same_value():
    assert make()(lambda x: x**2).misconception == "squared"


def test_a_mistake_that_coincides_on_the_samples_alone_is_not_named():
    doubled = make()
    doubled.mistake("like it at 3", "No.", example=(lambda x: np.where(x == 3, 6, 0.0),))
    assert doubled(lambda x: np.where(x == 3, 6, 1.0)).misconception is None


def test_nothing_finite_is_no_mistake_unless_that_is_its_sign():
    doubled = make()
    nothing = (lambda x: x + np.nan,)
    doubled.mistake("nan", "No.", example=nothing, when=lambda f: True)
    assert doubled(lambda x: x * np.nan).mistakes == ()
    doubled.mistake("sign", "Yes.", example=nothing, when=lambda f: True, not_finite=True)
    assert doubled(lambda x: x * np.nan).misconception == "sign"


def test_two_mistakes_that_give_the_same_answer_are_both_named():
    doubled = make()
    doubled.mistake("powers", "A power is no double.", example=(lambda x: x**2,))
    feedback = doubled(lambda x: x * x)
    assert [known.name for known in feedback.mistakes] == ["squared", "powers"]
    assert "no double. Or: powers. A power is no double." in repr(feedback)


# -- refutations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "yours", "says"),
    [
        (1.0, 1.00001, "The result should be 1; yours is 1.00001."),
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]],
         "result[1] should be [3, 4]; yours is [3, 5]."),
        ([1, 2], [1, 2, 3], "The shape of the result should be [2]; yours is [3]."),
        ([1, 2], [1, np.nan], "The result is not finite: it should be [1, 2]; yours is [1, nan]."),
        (np.arange(9), np.arange(9) * 2, "result[1] should be 1; yours is 2."),
        (
            np.ones((2, 9)),
            2 * np.ones((2, 9)),
            "result[0, 0] should be 1; yours is 2.",
        ),
    ],
)  # fmt: skip
def test_a_refutation_shows_the_first_thing_that_is_off_so_that_it_can_be_seen(
    expected, yours, says
):
    assert differs(expected, yours).says == says


def test_what_agrees_is_not_refuted():
    assert differs([1, 2], [1 + 1e-12, 2]) is None


def test_a_check_that_shows_the_same_number_twice_is_at_fault():
    @exercise("9.2", points=1)
    def careless(n: RealNumber):
        """Forget."""
        return Verdict(Outcome.WRONG, "No.", seen=Seen("", n, ("1", "1")))

    assert careless(1).says.startswith("The check itself failed (ValueError: a refutation shows 1")


def test_not_finite_is_wrong_and_said_before_anything_is_compared():
    feedback = make()(lambda x: x / 0)
    assert feedback.outcome == "wrong"
    assert feedback.says == "f(np.array([1, 2])) is not finite: it is [inf, inf]."


def test_what_is_earned_is_kept_whatever_the_rest_comes_to():
    @exercise("9.2", points=3)
    def ladder(f: Annotated[FunctionAnswer, Function()]):
        """Climb."""
        return keeping(1, "The numbers are right.", lambda: rest(f))

    def rest(f):
        return right("All.") if f.array(1, shape=()) == 1 else partly(2, "Nearly.")

    def fails(x):
        raise ValueError("no")

    earned = {f: ladder(f).earned for f in (lambda x: 1, lambda x: 2, fails, lambda x: np.inf)}
    assert list(earned.values()) == [3, 2, 1, 1]
    assert ladder(fails).says.startswith("The numbers are right. fails(1) raised ValueError: no.")


# -- laws ------------------------------------------------------------------------------------------


def test_a_function_that_changes_its_arguments_is_told():
    def careless(x):
        x += 1
        return x

    answer = FunctionAnswer(careless, "careless")
    says = keeps_arguments(answer, np.array([1.0])).says
    assert says == "careless(np.array([1])) changes its argument [1] into [2]. Work on a copy."
    assert keeps_arguments(FunctionAnswer(np.exp, "exp"), np.array([1.0])) is None


def test_a_function_that_remembers_is_told():
    calls = []
    remembers = FunctionAnswer(lambda x: calls.append(x) or len(calls), "f")
    assert repeats(remembers, 1).says == "Called twice, f(1) is 1 first and 2 then."
    assert repeats(FunctionAnswer(abs, "abs"), 1) is None


# -- parts -----------------------------------------------------------------------------------------


def make_parts(**options):
    @exercise("9.3", points=2, **options)
    def pair(a: RealNumber, b: RealNumber):
        """Find one and two."""
        return right("Both.")

    @pair.part("First")
    def first(a):
        return right() if a == 1 else wrong("It is not.", at="a", yours=a)

    @pair.part("Second")
    def second(b, a=1):
        return right() if b == 2 * a else wrong("It is no double.", at="b", yours=b)

    pair.mistake("too many", "Count again.", part="First", example=(3,))
    return pair


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ((1, 2), "right, 2 of 2 points. Both."),
        ((1, ____), "partly right, 1 of 2 points. Second: still blank."),
        ((____, 2), "partly right, 1 of 2 points. First: still blank."),
        ((____, 3), "wrong, 0 of 2 points. First: still blank. Second: It is no double."),
        ((____, ____),
         "not attempted, 0 of 2 points. Replace `____` with your answer and run the cell."),
        ((4, 8), "partly right, 1 of 2 points. First: It is not."),
        ((3, 6),
         "partly right, 1 of 2 points. First: It is not. Known mistake: too many. Count again."),
        ((3, ____),
         "wrong, 0 of 2 points. First: It is not. Second: still blank. "
         "Known mistake: too many. Count again."),
    ],
)  # fmt: skip
def test_each_part_is_judged_by_itself(answers, said):
    assert repr(make_parts()(*answers)) == f"9.3 pair: {said}"


def test_the_number_of_right_parts_may_count_instead():
    pair = make_parts(earns=(0, 0, 2))
    assert [pair(*answers).earned for answers in [(1, 2), (1, 3), (2, ____)]] == [2, 0, 0]


def test_a_part_with_an_answer_that_nobody_gives_is_refused_when_it_is_written():
    with pytest.raises(TypeError, match="pair has no answer c for its part Third"):
        make_parts().part("Third", of="a, c")(lambda a, c: right())


# -- choices ---------------------------------------------------------------------------------------


def test_the_card_of_a_choice_tells_how_many_answers_were_tried():
    @exercise("9.4", points=1)
    def choose(word: Annotated[str, Choice(("yes", "no", "both"))]):
        """Choose."""
        return right("Yes.") if word == "yes" else wrong("No.")

    cards = [choose(word)._repr_html_() for word in (____, "no", "no", "both", "yes")]
    assert [card.partition(" · try ")[2][:1] for card in cards] == ["", "", "", "2", "3"]


def test_a_survey_refutes_nothing_and_notes_both_sides_at_all_cases():
    seen = []
    with trial(5), surveying() as noted:
        for case in cases([1, 2], lambda rng: 3, lambda rng: 4):
            seen.append(case)
            assert differs(case, 10 * case, whole=[case, 0]) is None
        assert differs(7, 8, whole=[8, 9], against=[7, 9]) is None
    assert seen == [1, 2, 3, 4, 3]
    assert [(c.expected, c.yours) for c in noted[:2]] == [(1, 10), (2, 20)]
    assert (noted[-1].expected, noted[-1].yours) == ([7, 9], [8, 9])
    assert differs(1, 2) is not None
