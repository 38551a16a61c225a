"""What every exercise of every unit promises, whoever writes it."""

import functools
import importlib
import inspect
import json
import re
from decimal import Decimal

import numpy as np
import pytest

from selfcheck import verdicts
from selfcheck.blanks import ____
from selfcheck.compare import same_entries
from selfcheck.display import show_apart
from selfcheck.exercises import Exercise
from selfcheck.facts import facts_beside, read_facts
from selfcheck.feedback import Outcome
from selfcheck.kinds import Function
from selfcheck.line_by_line import once
from tests.places import check_modules

BY_UNIT = {
    module.__name__.rsplit(".", 1)[-1]: [
        e for e in vars(module).values() if isinstance(e, Exercise) and e.unit == module.__name__
    ]
    for module in check_modules()
}
EXERCISES = [e for unit in BY_UNIT.values() for e in unit]


def name_of(exercise):
    return f"{exercise.number}-{exercise.name}"


each_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=name_of)
each_misconception = pytest.mark.parametrize(
    ("exercise", "misconception"),
    [
        pytest.param(e, m, id=f"{name_of(e)}-{m.part}-{m.name}")
        for e in EXERCISES
        for m in e.misconceptions
    ],
)
each_argument = pytest.mark.parametrize(
    ("exercise", "place"),
    [
        pytest.param(e, k, id=f"{name_of(e)}-{name}")
        for e in EXERCISES
        for k, name in enumerate(e.kinds)
    ],
)
each_argument_of_a_whole = pytest.mark.parametrize(
    ("exercise", "place"),
    [
        pytest.param(e, k, id=f"{name_of(e)}-{name}")
        for e in EXERCISES
        if not e.parts
        for k, name in enumerate(e.kinds)
        if name not in e.optional
    ],
)
each_part = pytest.mark.parametrize(
    ("exercise", "part"),
    [pytest.param(e, p, id=f"{name_of(e)}-{p.name}") for e in EXERCISES for p in e.parts],
)
each_function = pytest.mark.parametrize(
    ("exercise", "place"),
    [
        pytest.param(e, k, id=f"{name_of(e)}-{name}")
        for e in EXERCISES
        if not e.parts
        for k, (name, kind) in enumerate(e.kinds.items())
        if isinstance(kind, Function) and name not in e.optional
    ],
)


def example_with(exercise, place, answer):
    """The first known mistake with one of its answers replaced."""
    answers = list(exercise.misconceptions[0].example)
    answers[place] = answer
    return answers


def raises(*args):
    raise RuntimeError("on purpose")


def takes_seven(a, b, c, d, e, f, g):
    return a


NONSENSE = {
    "None": None,
    "a word": "nonsense",
    "an object": object(),
    "an empty list": [],
    "an empty dictionary": {},
    "nan": float("nan"),
    "infinity": float("inf"),
    "a truth value": True,
    "a huge number": 10**400,
    "a complex number": 1 + 2j,
    "a function that raises": raises,
    "a function with other parameters": takes_seven,
    "a function that returns nothing": lambda *args: None,
    "a function that returns a word": lambda *args: "nonsense",
    "a function that returns nan": lambda *args: float("nan"),
    "a function that returns its inputs": lambda *args: args,
    "a class": dict,
}


@each_exercise
def test_an_exercise_that_takes_an_earlier_answer_says_what_it_follows(exercise):
    module = inspect.unwrap(exercise.check).__globals__["__file__"]
    (facts,) = [f for f in read_facts(facts_beside(module)) if f.name == exercise.name]
    assert bool(exercise.optional) <= bool(facts.follows)


JUNK = [np.ones, np.zeros, lambda shape: np.arange(1.0, 1 + np.prod(shape)).reshape(shape) / 7]


@pytest.mark.parametrize("junk", JUNK)
def test_junk_is_not_carried_on(junk):
    from course_utils.checks import two_heads as check

    Q, K, V = (junk((2, 3)) for _ in range(3))
    weights = np.full((2, 2), 0.5)
    outputs = [weights @ V, weights @ V]
    earned = [
        check.projections(3, Q, K, V),
        check.scores_and_weights(3, Q @ K.T, weights, Q, K),
        check.head_outputs(3, *outputs, weights, V),
        check.final_output(3, np.hstack(outputs), junk((2, 6)), *outputs),
        check.other_keys(3, K + 1, Q, K),
    ]
    assert sum(feedback.earned for feedback in earned) <= 1


# -- known mistakes --------------------------------------------------------------------------------

# Essential exercises whose answers stand in their lecture, ready to copy.
ON_THE_PAGE = {
    "rnn_gradients": {"induction_step", "gradient_bound", "explosion"},
    "momentum": {"equivalent_rules", "bias", "expectation", "half_life"},
    "weight_decay": {"equivalent_penalty", "shrink_ratio"},
    "attention": {"attention", "score_variance", "parameters"},
    "counting_cost": {"loss", "kept", "multi_head", "crossover", "windowed"},
    "lookup": {"value_matrix", "regression"},
    "linear_attention": {"rows_sum_to_one", "shape_of_scores", "cost"},
    "random_features": {"completed_square"},
    "transformers_are_rnns": {"four_questions"},
}


@pytest.mark.parametrize("unit", ON_THE_PAGE)
def test_what_stands_on_the_page_is_a_minority_of_the_essential_points(unit):
    listed = [e for e in EXERCISES if e.unit.endswith(f".{unit}") and not e.is_transfer]
    copied = [e for e in listed if e.name in ON_THE_PAGE[unit]]
    assert {e.name for e in copied} == ON_THE_PAGE[unit]
    assert 2 * sum(e.points for e in copied) < sum(e.points for e in listed)


HOMEWORK = ("two_heads", "transport")  # with id 0 the homework's own numbers, easy as they are


def test_the_numbers_of_id_0_tell_mistakes_apart():
    """Whoever tries a sheet with id 0 gets the names that everybody else gets."""
    own = [e for e in EXERCISES if e.numbers and e.unit.split(".")[-1] not in HOMEWORK]
    assert len(own) >= 9
    for exercise in own:
        alike = {}
        for known in exercise.misconceptions:
            if str(known.example[0]) == "0":
                names = {mistake.name for mistake in exercise(*known.example).mistakes}
                alike |= {known.name: names} if names != {known.name} else {}
        twice = {"keys or values forgotten", "numbers in place of bytes"}  # both give twice as many
        assert set(alike) <= twice, (exercise.number, alike)


@each_exercise
def test_it_knows_at_least_one_mistake_and_their_names_are_unique(exercise):
    names = [(m.part, m.name) for m in exercise.misconceptions]
    assert names
    assert len(set(names)) == len(names)


@pytest.fixture
def printed(monkeypatch):
    """Values that are shown as wanted and given, with their texts."""
    pairs = []

    def noted(*values):
        texts = show_apart(*values)
        pairs.extend(zip(values, texts, strict=True))
        return texts

    monkeypatch.setattr(verdicts, "show_apart", noted)
    return pairs


def is_right_to_its_last_digit(value, text):
    """The number, as it is printed, is nearer to the value than to the next one of its digits."""
    printed = Decimal(text.replace("−", "-"))
    exact = Decimal(value)
    return abs(printed - exact) <= Decimal(1).scaleb(printed.as_tuple().exponent) / 2


@each_misconception
def test_each_known_mistake_is_wrong_and_earns_its_own_explanation(
    exercise, misconception, printed
):
    feedback = exercise(*misconception.example)
    for value, text in printed:
        numbers = re.findall(r"[−-]?[0-9][0-9.]*(?:e[−+-]?[0-9]+)?", text)
        if text.startswith(("[", "−", "-", *"0123456789")) and len(numbers) == np.size(value):
            assert all(map(is_right_to_its_last_digit, np.ravel(value).tolist(), numbers)), text
    assert feedback.outcome is Outcome.WRONG, feedback
    named = {known.name: known.explanation for known in feedback.mistakes}
    assert named.get(misconception.name) == misconception.explanation, feedback
    assert feedback.earned < exercise.points
    for seen in feedback.seen:  # the two numbers of a refutation differ as they are printed
        assert seen.shown == ("", "") or seen.shown[0] != seen.shown[1]


def in_another_layout(function):
    """The same numbers as lists, at another cost."""

    def other(*args):
        result = function(*args)
        sorted(range(100))
        return result.tolist() if isinstance(result, np.ndarray) else result

    return other


def with_one_more_change(function, rows=5):
    """The same mistake, and another one where there are more than a few rows."""

    def neighbor(*args):
        result = function(*args)
        many = any(isinstance(a, np.ndarray) and a.ndim and len(a) > rows for a in args)
        return result * 1.01 if many and isinstance(result, np.ndarray | float) else result

    return neighbor


def _functions_changed(exercise, misconception, change):
    kinds = zip(exercise.kinds.values(), misconception.example, strict=False)
    return [change(a) if isinstance(kind, Function) and callable(a) else a for kind, a in kinds]


def _free(answers, monkeypatch):
    """Let these use what is reserved, as examples may."""
    examples = Exercise._free.fget
    functions = [a for a in answers if callable(a)]
    monkeypatch.setattr(Exercise, "_free", property(lambda e: [*examples(e), *functions]))


of_functions = pytest.mark.parametrize(
    ("exercise", "misconception"),
    [
        pytest.param(e, m, id=f"{e.number}-{m.name}")
        for e in EXERCISES
        for m in e.misconceptions
        if any(isinstance(kind, Function) for kind in e.kinds.values())
    ],
)


@of_functions
def test_a_mistake_keeps_its_name_in_another_layout_and_at_another_cost(
    exercise, misconception, monkeypatch
):
    answers = _functions_changed(exercise, misconception, in_another_layout)
    _free(answers, monkeypatch)
    assert misconception.name in [known.name for known in exercise(*answers).mistakes]


@of_functions
def test_a_neighbor_of_a_mistake_does_not_get_its_name(exercise, misconception, monkeypatch):
    answers = _functions_changed(exercise, misconception, with_one_more_change)
    _free(answers, monkeypatch)
    feedback = exercise(*answers)
    if misconception.name not in [known.name for known in feedback.mistakes]:
        return
    part = misconception.part or next(iter(feedback.judged.pieces))
    places = [piece.seen.place for piece in feedback.judged.pieces.values() if piece.seen]
    loops = {place[0] for place in places if place}
    mine, known = (
        [
            c.yours
            for c in exercise.survey(dict(zip(exercise.kinds, read, strict=True)), part, 1)
            if c.place and c.place[0] in loops
        ]
        for read in (feedback.judged.answers.values(), exercise.read(misconception.example))
    )
    same = len(mine) == len(known) and all(map(same_entries, mine, known, [True] * len(mine)))
    assert misconception.when or same  # the change does not show in what is compared


@each_exercise
def test_an_explanation_is_whole_sentences_on_one_line(exercise):
    for known in exercise.misconceptions:
        assert known.explanation.isprintable(), known.name
        assert known.explanation.endswith((".", "?")), known.name
        assert not known.name.endswith("."), known.name


# -- answers that are none -------------------------------------------------------------------------


@each_argument_of_a_whole
def test_a_blank_in_any_place_is_not_attempted(exercise, place):
    feedback = exercise(*example_with(exercise, place, ____))
    assert (feedback.outcome, feedback.earned) == (Outcome.NOT_ATTEMPTED, 0)


@each_exercise
def test_all_blank_is_not_attempted(exercise):
    assert exercise(*[____] * len(exercise.kinds)).outcome is Outcome.NOT_ATTEMPTED


@each_function
def test_a_function_with_a_blank_inside_is_not_attempted(exercise, place):
    feedback = exercise(*example_with(exercise, place, lambda *args: ____ + 1))
    assert feedback.outcome is Outcome.NOT_ATTEMPTED


@each_argument
def test_nonsense_in_any_place_is_never_right_and_never_an_error(exercise, place):
    for name, nonsense in NONSENSE.items():
        feedback = exercise(*example_with(exercise, place, nonsense))
        assert feedback.outcome is not Outcome.RIGHT, (name, feedback)
        assert feedback.earned < exercise.points, name
        assert "The check itself failed" not in feedback.says, name
        assert feedback.says, name


@each_function
def test_a_function_that_raises_is_told_with_its_call(exercise, place):
    feedback = exercise(*example_with(exercise, place, raises))
    assert feedback.outcome is Outcome.UNCHECKED
    assert feedback.says.startswith("raises(")
    assert ") raised RuntimeError: on purpose. It stopped at `raise Runtime" in feedback.says


@each_exercise
def test_the_wrong_number_of_answers_could_not_be_checked(exercise):
    for count in {0, len(exercise.kinds) - len(exercise.optional) - 1, len(exercise.kinds) + 1}:
        feedback = exercise(*[1] * count)
        assert feedback.outcome is Outcome.UNCHECKED
        assert feedback.says.startswith("This check takes `")


# -- right answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", BY_UNIT)
def test_the_tests_of_a_unit_have_right_answers_of_all_its_exercises(unit):
    """`RIGHT` is also what `course audit` changes a little, and what spoils part after part."""
    right = importlib.import_module(f"tests.checks.test_{unit}").RIGHT
    assert {name for name, answers in right.items() if answers} == {e.name for e in BY_UNIT[unit]}


# -- parts stand alone -----------------------------------------------------------------------------


def right_answers(exercise):
    """The first right answer that the tests of its unit know."""
    unit = exercise.unit.rsplit(".", 1)[-1]
    known = importlib.import_module(f"tests.checks.test_{unit}").RIGHT
    return dict(zip(exercise.kinds, known[exercise.name][0], strict=not exercise.optional))


def without(exercise, part, spoiled):
    """Right answers, but what this part needs is spoiled, apart from what other parts need too."""
    others = {name for p in exercise.parts if p is not part for name in p.needs}
    own = [name for name in part.needs if name not in others]
    assert own, f"{part.name} has no answer of its own"
    return exercise(**right_answers(exercise) | dict.fromkeys(own, spoiled))


def earned_without(exercise, part):
    if exercise.earns is not None:
        return exercise.earns[len(exercise.parts) - 1]
    return exercise.points - part.points


SPOILED = {
    "a blank": ____,
    "nonsense": object(),
    "a function that raises": raises,
    "a function with a blank inside": lambda *args: ____ + 1,
    "a function that returns nan": lambda *args: float("nan"),
}


@each_part
def test_a_part_that_is_spoiled_costs_its_own_points_and_is_named(exercise, part):
    others = [p.name for p in exercise.parts if p is not part]
    for name, spoiled in SPOILED.items():
        feedback = without(exercise, part, spoiled)
        assert feedback.earned == earned_without(exercise, part), (name, feedback)
        assert f"{part.name}: " in feedback.says or not others, name
        assert "The check itself failed" not in feedback.says, name
        assert not [other for other in others if f"{other}: " in feedback.says], name


@each_exercise
def test_the_points_of_the_parts_are_those_of_the_exercise(exercise):
    if exercise.earns is not None:
        assert len(exercise.earns) == len(exercise.parts) + 1
        assert (exercise.earns[0], exercise.earns[-1]) == (0, exercise.points)
        assert sorted(exercise.earns) == list(exercise.earns)
    elif exercise.parts:
        assert sum(part.points for part in exercise.parts) == exercise.points


@each_exercise
def test_every_answer_belongs_to_a_part_if_there_are_parts(exercise):
    if exercise.parts:
        used = {name for part in exercise.parts for name in (*part.needs, *part.may_use)}
        assert used == {*exercise.kinds}


# -- functions hold for more than what is small ----------------------------------------------------

FEW = 16  # rows


def gives_up(function, asked):
    """The same function, but beyond a few rows of any of its arrays there is nothing."""

    @functools.wraps(function)
    def for_few(*args):
        asked.extend(arrays := [x for x in args if type(x) is np.ndarray and x.ndim])
        return function(*args) if all(len(x) <= FEW for x in arrays) else None

    return for_few


@each_exercise
def test_a_function_for_few_rows_alone_does_not_earn_all_points(exercise):
    earlier = {*exercise.optional, *(name for part in exercise.parts for name in part.may_use)}
    functions = {name for name, kind in exercise.kinds.items() if isinstance(kind, Function)}
    for name in functions - earlier:
        answers, asked = right_answers(exercise), []
        answers[name] = gives_up(answers[name], asked)
        for seed in (1, 2, 3):
            exercise.seed = seed
            feedback = exercise(**answers)
            exercise.seed = None
            assert not asked or feedback.earned < exercise.points, (name, seed)


# -- form ------------------------------------------------------------------------------------------


@each_exercise
def test_hints_progress_and_the_last_one_stays(exercise):
    assert len(exercise.hints) >= 2
    assert len(set(exercise.hints)) == len(exercise.hints)
    exercise.last, exercise._hints_given = None, 0
    given = [exercise.hint().text for _ in range(len(exercise.hints) + 1)]
    exercise._hints_given = 0
    assert given == [*exercise.hints, exercise.hints[-1]]
    assert all(hint.isprintable() for hint in exercise.hints)


@each_exercise
def test_the_docstring_is_one_sentence(exercise):
    assert exercise.__doc__
    assert exercise.__doc__.isprintable()
    assert exercise.__doc__.endswith(".")
    assert ". " not in exercise.__doc__.replace("e.g. ", "").replace("i.e. ", "")


@each_exercise
def test_points_are_positive_whole_numbers(exercise):
    assert type(exercise.points) is int
    assert exercise.points > 0


@pytest.mark.parametrize("unit", BY_UNIT)
def test_numbers_count_up_from_one_and_names_are_unique(unit):
    exercises = BY_UNIT[unit]
    chapter = exercises[0].number.split(".")[0]
    assert [e.number for e in exercises] == [f"{chapter}.{k + 1}" for k in range(len(exercises))]
    assert len({e.name for e in exercises}) == len(exercises)


@pytest.mark.parametrize("unit", BY_UNIT)
def test_what_stands_beyond_the_page_comes_last(unit):
    beyond = [exercise.is_transfer for exercise in BY_UNIT[unit]]
    assert beyond == sorted(beyond)


def test_no_two_units_share_a_chapter():
    chapters = [unit[0].number.split(".")[0] for unit in BY_UNIT.values()]
    assert len(set(chapters)) == len(chapters)


@each_exercise
def test_feedback_is_one_line_of_text_a_card_and_data_and_the_same_every_time(exercise):
    answers = exercise.misconceptions[0].example
    feedback, again = exercise(*answers), exercise(*answers)
    assert repr(feedback) == repr(again)
    assert repr(feedback).isprintable()
    assert feedback._repr_html_() == again._repr_html_()
    assert json.loads(json.dumps(feedback.as_dict())) == again.as_dict()


@each_exercise
def test_the_check_is_a_short_function(exercise):
    assert len(inspect.getsource(exercise.check).split('"""')[-1].splitlines()) <= 60


def test_a_report_on_lines_is_computed_once_an_answer():
    asked = []

    @once
    def report(lines, *how):
        asked.append((lines, how))
        return len(asked)

    first, same = ["a"], ["a"]
    assert (report(first), report(first), report(first, False), report(same)) == (1, 1, 2, 3)
    assert report(first) == 1
