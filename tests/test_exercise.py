"""The exercise engine: an answer goes in, one of four outcomes comes out, never an exception."""

import json
import re
from typing import Annotated

import numpy as np
import pytest

from selfcheck import cards, scores
from selfcheck import exercises as engine
from selfcheck.blanks import ____
from selfcheck.calls import FunctionAnswer
from selfcheck.exercises import exercise
from selfcheck.kinds import Formula, FormulaAnswer, Function, Number, RealNumber
from selfcheck.scores import scoreboard
from selfcheck.verdicts import partly, right, wrong


@pytest.fixture(autouse=True)
def own_register(monkeypatch):
    """Exercises made here stay out of everybody else's scoreboard."""
    register = []
    monkeypatch.setattr(engine, "EXERCISES", register)
    monkeypatch.setattr(scores, "EXERCISES", register)


def make(points=2, hints=("Look.", "Look again."), number="9.1"):
    @exercise(number, points=points)
    def four(n: RealNumber):
        """Find four."""
        if n == 3:
            return partly(1, "Close.")
        return right("It is four.") if n == 4 else wrong(f"{n:g} is not four.")

    four.add_hints(*hints)
    four.mistake("negative", "It counts.", example=(-1,), when=lambda n: n < 0)
    four.mistake("twice", "Once is enough.", example=("5 + 3",))
    four.mistake("minus twice", "Neither.", example=(-8,))
    return four


# -- outcomes --------------------------------------------------------------------------------------


def test_a_check_that_waits_for_a_cell_is_gray_and_earns_nothing():
    waiting = make().without_answer("Run it first.")
    assert repr(waiting).startswith("9.1 four: no verdict yet, 0 of 2 points. Run it first.")
    assert cards.GRAY in waiting._repr_html_()


def test_a_right_answer_earns_all_points():
    feedback = make()(4)
    assert (feedback.outcome, feedback.earned, feedback.points) == ("right", 2, 2)
    assert repr(feedback) == "9.1 four: right, 2 of 2 points. It is four."


def test_a_wrong_answer_gets_the_counterexample():
    says = "9.1 four: wrong, 0 of 2 points. 5 is not four. Hint 1 of 2: `four.hint()`."
    assert repr(make()(5)) == says


def test_a_known_mistake_gets_its_own_explanation():
    feedback = make()(8)
    assert (feedback.misconception, feedback.explanation) == ("twice", "Once is enough.")
    assert "8 is not four. Known mistake: twice. Once is enough." in repr(feedback)


def test_a_mistake_with_many_faces_is_recognized_by_its_predicate():
    assert make()(-5).misconception == "negative"


def test_the_mistake_whose_example_it_is_comes_before_any_predicate():
    assert make()(-8).misconception == "minus twice"


def test_a_right_answer_is_never_called_a_mistake():
    assert make()("2 + 2").misconception is None


def test_part_of_the_points_is_partly_right():
    feedback = make()(3)
    assert (feedback.outcome, feedback.earned, feedback.headline) == ("wrong", 1, "partly right")
    assert repr(feedback).startswith("9.1 four: partly right, 1 of 2 points. Close. Hint 1")


@pytest.mark.parametrize("blank", [____, "____", ____ + 1, [____], np.array([____])])
def test_a_blank_is_not_attempted(blank):
    feedback = make()(blank)
    assert (feedback.outcome, feedback.earned) == ("not attempted", 0)
    assert feedback.says == "Replace `____` with your answer and run the cell."


def test_an_unreadable_answer_could_not_be_checked():
    feedback = make()("four")
    assert feedback.outcome == "could not be checked"
    assert feedback.says.startswith("n should be a number. 'four' uses four")


@pytest.mark.parametrize(
    ("args", "named", "got"),
    [((), {}, "0 answers"), ((4, 4), {}, "2 answers"), ((), {"m": 4}, "1 answer")],
)
def test_the_wrong_number_of_answers_could_not_be_checked(args, named, got):
    feedback = make()(*args, **named)
    assert feedback.outcome == "could not be checked"
    assert feedback.says == f"This check takes `n`; it got {got}."


def test_answers_may_be_given_by_name():
    @exercise("9.2", points=1)
    def difference(a: RealNumber, b: RealNumber, c: RealNumber):
        """Order matters."""
        return right("Yes.") if a - b == 1 else wrong("No.")

    assert difference(b=1, a=2, c=0).outcome == "right"
    assert difference(1, 2).says == "This check takes `a`, `b` and `c`; it got 2 answers."


def test_what_no_trial_decides_is_told_to_those_who_grade_whichever_part_it_is():
    @exercise("9.2", points=2)
    def two(a: RealNumber, b: RealNumber):
        """Two numbers."""
        return right("Both.")

    two.part("First")(lambda a: right(undecided="a may be rounding."))
    two.part("Second")(lambda b: right() if b == 1 else wrong("No."))
    assert (two(1, 1).earned, two(1, 1).undecided) == (2, "a may be rounding.")
    assert (two(1, 2).earned, two(1, 2).undecided) == (1, "a may be rounding.")


@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit, RecursionError])
def test_a_fault_of_the_check_itself_does_not_hit_the_student(error):
    @exercise("9.2", points=1)
    def broken(n: RealNumber):
        """Break."""
        raise error("on\npurpose")

    feedback = broken(1)
    assert (feedback.outcome, feedback.earned) == ("could not be checked", 0)
    assert feedback.says == (
        f"The check itself failed ({error.__name__}: on purpose). Please report this."
    )


@pytest.mark.parametrize("earned", [-1, 2, 3])
def test_part_points_that_are_no_part_are_a_fault_of_the_check(earned):
    @exercise("9.2", points=2)
    def generous(n: RealNumber):
        """Give."""
        return partly(earned, "Take.")

    assert generous(1).says.startswith("The check itself failed")
    assert generous(1).earned == 0


def test_an_endless_loop_can_be_interrupted():
    @exercise("9.2", points=1)
    def calls(f: Annotated[FunctionAnswer, Function()]):
        """Call."""
        return right(str(f()))

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        calls(interrupted)
    assert calls(lambda: exit()).outcome == "could not be checked"
    assert calls(lambda: float(____)).outcome == "not attempted"


def test_a_mistake_that_cannot_be_compared_is_passed_over():
    @exercise("9.2", points=1)
    def compare(y: Annotated[FormulaAnswer, Formula(t=range(3))]):
        """Compare."""
        return wrong("No.")

    compare.mistake("raises", "No.", example=("1/t",), when=lambda y: 1 / 0)
    compare.mistake("known", "Yes.", example=("t + 1",))
    assert compare("1 + t").misconception == "known"


def test_a_mistake_that_is_a_function_is_written_under_its_explanation():
    @exercise("9.2", points=1)
    def doubled(f: Annotated[FunctionAnswer, Function(samples=[(3,)])]):
        """Double."""
        return right("Yes.") if f(3) == 6 else wrong("No.")

    @doubled.mistake("squared", "A square is no double.")
    def squared(x):
        return x * x

    @doubled.mistake("negative", "A double keeps the sign.", when=lambda f: f(3) < 0)
    def negative(x):
        return -2 * x

    assert squared(3) == 9, "the function stays what it was"
    assert [m.name for m in doubled.misconceptions] == ["squared", "negative"]
    assert doubled(lambda x: x**2).explanation == "A square is no double."
    assert doubled(lambda x: -x).misconception == "negative"
    assert doubled(lambda x: x + x).misconception is None


@pytest.mark.parametrize(
    "annotation",
    [Number, Number(), float, 3, Annotated[float, Number], Annotated[float, "a number"]],
)
def test_a_parameter_without_a_kind_is_refused_when_the_check_is_written(annotation):
    with pytest.raises(TypeError, match=r"careless: annotate n with .* Annotated\[float, Numb"):

        @exercise("9.2", points=1)
        def careless(n: annotation):
            """Forget."""


# -- looks -----------------------------------------------------------------------------------------

ANSWERS = {
    "Right": 4,
    "Partly right": 3,
    "Wrong": 5,
    "Not attempted": ____,
    "Could not be checked": None,
}


@pytest.mark.parametrize("headline", ANSWERS)
def test_a_card_says_its_outcome_in_a_word_and_a_mark_not_in_color_alone(headline):
    card = make()(ANSWERS[headline])._repr_html_()
    mark, word = re.search(r"<strong><span[^>]*>(.)</span> ([^<]+)</strong>", card).groups()
    assert word == headline
    assert not mark.isalnum()


def test_every_outcome_has_its_own_mark():
    marks = [make()(a)._repr_html_().split("</span>")[0][-1] for a in ANSWERS.values()]
    assert len(set(marks)) == len(marks)


def test_a_card_sets_no_text_or_background_color_so_every_theme_can_be_read():
    card = make()(5)._repr_html_()
    assert not re.search(r"[;\"](color|background)", card)
    assert "var(--jp-error-color0, #" in card


def test_a_card_sets_code_and_indices_and_escapes_the_rest():
    @exercise("9.2", points=1)
    def speak(n: RealNumber):
        """Speak."""
        return wrong("<b> & `x_1 < 2`, v_{t−1}, g_1, β^{t}, first_false_line")

    card = speak(1)._repr_html_()
    assert "&lt;b&gt; &amp; <code>x_1 &lt; 2</code>, v<sub>t−1</sub>, g<sub>1</sub>" in card
    assert "β<sup>t</sup>, first_false_line" in card


def test_the_text_is_one_printable_line_whatever_the_student_raised():
    @exercise("9.2", points=1)
    def calls(f: Annotated[FunctionAnswer, Function()]):
        """Call."""
        return right(str(f()))

    def nasty():
        raise ValueError("a\n\x1b[31mb\t" + "c" * 10_000)

    assert repr(calls(nasty)).isprintable()
    assert len(repr(calls(nasty))) < 400


def test_feedback_is_data_for_the_grader():
    feedback = make()(8)
    data = json.loads(json.dumps(feedback.as_dict()))
    assert data == {
        "number": "9.1",
        "name": "four",
        "outcome": "wrong",
        "earned": 0,
        "points": 2,
        "says": "8 is not four.",
        "mistakes": [
            {"name": "twice", "explanation": "Once is enough.", "part": "", "instead": False}
        ],
    }


def test_points_from_numpy_are_plain_data_too():
    @exercise("9.2", points=2)
    def counted(n: RealNumber):
        """Count."""
        return partly(np.int64(1), "Half.")

    assert json.loads(json.dumps(counted(1).as_dict()))["earned"] == 1


def test_an_exercise_tells_how_to_call_it():
    assert repr(make()) == "Exercise 9.1, 2 points: Find four. Call four(n)."


# -- hints -----------------------------------------------------------------------------------------


def test_hints_come_one_after_the_other_and_the_last_stays():
    four = make()
    assert [repr(four.hint()) for _ in range(3)] == [
        "Hint 1 of 2: Look.",
        "Hint 2 of 2: Look again.",
        "Hint 2 of 2, the last: Look again.",
    ]
    assert "<strong>Hint 2 of 2, the last</strong>" in four.hint()._repr_html_()


def test_a_hint_begins_with_the_mistake_that_was_made_last_and_goes_on():
    four = make()
    assert "Hint 1 of 2: `four.hint()`." in repr(four(8))
    assert four.hint().text == "On your mistake, twice: Once is enough. Look."
    assert "Hint 2 of 2: `four.hint()`." in repr(four(8))
    assert four.hint().text == "Look again."  # it was told already
    four(-8)
    assert four.hint().text.startswith("On your mistake, minus twice: ")
    assert "Hint" not in repr(four(5))


def test_without_hints_the_hint_says_so():
    assert repr(make(hints=()).hint()) == "Hint: There is none for this exercise."


# -- scoreboard ------------------------------------------------------------------------------------


def in_unit(unit, number, name, points, transfer=False):
    def check(n: RealNumber):
        """Check."""
        return right("Yes.")

    check.__module__, check.__name__ = unit, name
    return exercise(number, points=points, transfer=transfer)(check)


def test_what_stands_beyond_the_page_is_counted_apart():
    in_unit("one", "1.1", "first", 1)(1)
    in_unit("one", "1.2", "further", 3, transfer=True)
    assert repr(scoreboard()) == (
        "1.1   first    1 of 1  right\n"
        "Essentials: 1 of 1 point\n"
        "1.2   further  0 of 3  not run yet\n"
        "Beyond the page: 0 of 3 points\n"
        "Total: 1 of 4 points"
    )
    assert scoreboard()._repr_html_().count('scope="row"') == 5
    assert repr(scoreboard(without="transfer")).endswith("Total: 1 of 1 point")


def test_the_scoreboard_counts_the_units_this_notebook_works_on():
    first, _ = in_unit("one", "1.1", "first", 1), in_unit("one", "1.2", "second_one", 3)
    in_unit("two", "2.1", "elsewhere", 5)
    assert scoreboard().points == 9, "before the first call: all that is imported"
    first(1)
    assert repr(scoreboard()) == (
        "1.1   first       1 of 1  right\n"
        "1.2   second_one  0 of 3  not run yet\n"
        "Total: 1 of 4 points"
    )


def test_the_scoreboard_is_a_table_with_headings_for_rows_and_columns():
    make()(3)
    table = scoreboard()._repr_html_()
    assert table.count('scope="col"') == 3
    assert table.count('scope="row"') == 2
    assert "</span> partly right</td>" in table
    assert "<strong>1 of 2</strong>" in table


def test_the_scoreboard_says_what_is_left_and_leads_there():
    right, blank = in_unit("one", "1.1", "first_of_all", 1), in_unit("one", "1.2", "next_one", 2)
    link = '<a href="#cell-id=text-next-one">1.2 Next one</a>'
    right(4)
    table = scoreboard()._repr_html_()
    assert f"<strong>1 of 3 points.</strong> Left: 2 points in 1 exercise. Next: {link}." in table
    assert table.count(link) == 2
    blank(4)
    assert "<strong>3 of 3 points.</strong> Nothing is left." in scoreboard()._repr_html_()


def test_a_card_has_the_title_of_its_exercise():
    assert (
        "1.1 First of all · 1 of 1 point"
        in in_unit("one", "1.1", "first_of_all", 1)(4)._repr_html_()
    )


def test_the_last_call_counts():
    four = make()
    four(4)
    four(5)
    assert scoreboard().earned == 0


def test_a_module_that_is_loaded_again_replaces_its_exercises():
    in_unit("one", "1.1", "first", 1)
    in_unit("one", "1.1", "first", 2)
    assert scoreboard().points == 2


def test_an_empty_scoreboard_is_no_error():
    assert repr(scoreboard()) == "Total: 0 of 0 points"
