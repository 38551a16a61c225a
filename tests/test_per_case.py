"""A check that is called with one case: what the engine does around it, and what it refuses."""

from typing import Annotated

import numpy as np
import pytest

from selfcheck import Formula, FormulaAnswer, Verdict, cases, differs, each, right, wrong
from selfcheck import exercises as engine
from selfcheck.calls import FunctionAnswer
from selfcheck.exercises import exercise
from selfcheck.feedback import Outcome
from selfcheck.files import CourseError
from selfcheck.kinds import Function
from selfcheck.sampling import numbers, sizes, surveying

PENCIL = [(np.array([1.0, 2.0]), 3.0), (np.array([0.0]), 1.0)]
Doubled = Annotated[FunctionAnswer, Function()]
N = Formula(n=range(1, 5))


@pytest.fixture(autouse=True)
def own_register(monkeypatch):
    monkeypatch.setattr(engine, "EXERCISES", [])


def vector(rng):
    return numbers(rng, *sizes(rng, 1)), float(rng.integers(1, 9))


MANY = len([*cases(PENCIL, vector)])


def off(f, x, c):
    return differs(c * x, f.array(x, c, shape=x.shape), at=f"With x = {x.tolist()}, c = {c}")


def per_case(**more):
    @exercise("9.1", points=2)
    @each(PENCIL, vector, **{"says": "Scaled in {tried} cases.", **more})
    def scaled(f: Doubled, *, x, c) -> Verdict | None:
        """Scale."""
        return off(f, x, c)

    return scaled


def by_loop():
    @exercise("9.1", points=2)
    def scaled(f: Doubled) -> Verdict:
        """Scale."""
        for x, c in cases(PENCIL, vector):
            if verdict := off(f, x, c):
                return verdict
        return right("Scaled.")

    return scaled


def times(x, c):
    return c * x


ANSWERS = {
    "right": times,
    "wrong at once": lambda x, c: x,
    "wrong for zeros": lambda x, c: c * x if x.any() else x + 1,
    "wrong for many": lambda x, c: c * x if len(x) < 30 else x,
    "wrong for some that are drawn": lambda x, c: c * x if c != 7 else x,
    "not finite": lambda x, c: x / 0 if len(x) > 3 else c * x,
    "raises": lambda x, c: (c * x)[:, 0],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("seed", [None, 4])
def test_verdict_case_and_smaller_case_are_those_of_a_loop(answer, seed):
    found = []
    for scaled in (per_case(says="Scaled."), by_loop()):
        scaled.seed = seed
        feedback = scaled(answer)
        pieces = feedback.judged.pieces
        told = [feedback.outcome, feedback.earned, feedback.says, feedback.leads]
        found.append([*told, pieces[""].place, [str(e.cases) for e in feedback.refuted]])
    assert found[0] == found[1]


def test_the_exercise_asks_for_what_stands_before_the_star():
    scaled = per_case()
    assert [*scaled.kinds] == ["f"]
    assert repr(scaled) == "Exercise 9.1, 2 points: Scale. Call scaled(f)."
    assert scaled(times, times).says == "This check takes `f`; it got 2 answers."


def test_it_says_how_many_cases_were_tried():
    assert per_case(says="In {tried} cases.")(times).says == f"In {MANY} cases."
    assert per_case(says="As x^{2} in {tried}.")(times).says == f"As x^{{2}} in {MANY}."


def test_a_function_may_have_the_last_word():
    scaled = per_case(says=lambda f: wrong(f"But f(1, 2) is {f(1.0, 2.0):g}."))
    assert scaled(times).says.startswith("But f(1, 2) is 2.")
    assert scaled(lambda x, c: x).says.startswith("With x = [1.0, 2.0]")


def test_a_survey_notes_all_cases():
    with surveying() as noted:
        per_case().check(lambda_answer(lambda x, c: x))
    assert len(noted) == MANY


def lambda_answer(function):
    return per_case().read((function,))[0]


def test_one_name_is_the_case_as_it_is_and_a_dictionary_goes_by_its_names():
    seen = []

    @each([(1, 2), [3]])
    def whole(answer, *, case):
        seen.append(case)

    @each(N.points)
    def by_name(answer, *, n):
        seen.append(n)

    @each([{"a": 1, "b": 2}])
    def two(answer, *, b, a):
        seen.append((a, b))

    for check in (whole, by_name, two):
        assert check("an answer").outcome is Outcome.RIGHT
    assert seen == [(1, 2), [3], *(point["n"] for point in N.points()), (1, 2)]


def test_cases_that_are_given_once_are_there_each_time():
    @each(n for n in (1, 2))
    def check(answer, *, n):
        return wrong("two.") if n == answer else None

    assert [check(2).says, check(2).says, check(3).says] == ["two.", "two.", ""]


def test_a_part_may_be_judged_so_with_an_answer_that_may_be_missing():
    @exercise("9.2", points=1)
    def total(total: Annotated[FormulaAnswer, N], earlier: Annotated[FormulaAnswer, N]) -> None:
        """Add."""

    @total.part("Sum")
    @each(N.points)
    def _sum(total: FormulaAnswer, earlier: FormulaAnswer | None = None, *, n) -> Verdict | None:
        return differs(n + 1 + (earlier is None), total(n=n), at=f"At n = {n}")

    (part,) = total.parts
    assert (part.needs, part.may_use) == (("total",), ("earlier",))
    assert total("n + 1", "n").outcome is Outcome.RIGHT
    assert total("n + 1", "").says.startswith("Sum: at n = ")


def test_right_at_one_case_is_not_yet_right():
    @each([1, 2, 3])
    def check(answer, *, n):
        return right("Fine.") if n < 3 else wrong("Not at three.")

    assert check("an answer").says == "Not at three."


# -- what is refused -------------------------------------------------------------------------------


def refused(making):
    with pytest.raises(CourseError) as told:
        making()
    return str(told.value)


def no_star():
    @each(PENCIL)
    def check(answer, x, c):
        return None


def no_cases():
    @each([])
    def check(answer, *, x):
        return None


def without_brackets():
    @each
    def check(answer, *, x):
        return None

    check(lambda answer, *, x: None)


def no_function_to_draw():
    @each(PENCIL, [vector])
    def check(answer, *, x, c):
        return None


def cases_of_another_size():
    @each([(1, 2), (3,)])
    def check(answer, *, x, c):
        return None


def other_braces():
    @each(PENCIL, says="In {cases} cases.")
    def check(answer, *, x, c):
        return None


def nothing_draws():
    @exercise("9.3", points=1)
    def check(f: Doubled, *, x) -> Verdict | None:
        """Scale."""


def above_the_part():
    whole = per_case()

    @each([1])
    @whole.part("All")
    def check(f, *, x):
        return None


CASE = "x stands after the star, so it is a case: write @each(…) right above check."
REFUSED = {
    nothing_draws: CASE,
    above_the_part: CASE,
    no_star: "check names no case: write it after a star, as in (answer, *, x).",
    no_cases: "@each has no case to try.",
    without_brackets: "@each needs cases: write @each(pencil, draw).",
    no_function_to_draw: "@each draws by functions of a generator, not by [<function vector",
    cases_of_another_size: "a case should consist of x, c; here is one that does not: ",
    other_braces: "says may have {tried} in it, but not {cases}.",
}


@pytest.mark.parametrize("making", REFUSED, ids=lambda f: f.__name__)
def test_what_cannot_work_is_refused_with_file_and_line(making):
    says = refused(making)
    assert REFUSED[making] in says
    place, line = says.split(": ")[0].split(", line ")
    assert place == __file__
    first = making.__code__.co_firstlineno
    assert first < int(line) <= first + 5


def test_above_the_exercise_it_is_refused():
    def above():
        each(PENCIL)(per_case())

    assert "@each stands below what makes an exercise" in refused(above)


def test_a_drawn_case_of_another_size_and_no_verdict_are_told_with_their_line():
    @each([], lambda rng: (1, 2, 3))
    def sizes_off(answer, *, x, c):
        return None

    @each([1])
    def no_verdict(answer, *, x):
        return True

    for check, says in ((sizes_off, "x, c"), (no_verdict, "a refutation or None, not True.")):
        told = refused(lambda check=check: check("an answer"))
        assert says in told
        assert f"{__file__}, line " in told
