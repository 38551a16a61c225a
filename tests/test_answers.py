"""Kinds of answer: what is accepted, what is refused with a sentence, and what counts as equal."""

import math

import numpy as np
import pytest
import sympy

from selfcheck.blanks import ____, has_blank
from selfcheck.compare import alike, close, same_entries
from selfcheck.display import show, show_apart, show_at
from selfcheck.kinds import Array, Choice, Formula, Function, Lines, Number, received
from selfcheck.refusals import NotAttempted, NotFinite, Unreadable

x = sympy.Symbol("x")


class Hostile:
    """Fights back whenever it is looked at."""

    def _fight(self, *args, **kwargs):
        raise RuntimeError("hands off")

    __eq__ = __repr__ = __str__ = __array__ = __getattr__ = __len__ = __iter__ = __bool__ = _fight
    __float__ = __int__ = __deepcopy__ = __reduce_ex__ = _fight
    __hash__ = object.__hash__
    __class__ = property(_fight)


def made(answer):
    """pytest itself looks at parameters, so hostile ones are made inside the test."""
    return Hostile() if answer is Hostile else answer


def refusal(kind, answer, name="y"):
    answer = made(answer)
    with pytest.raises(Unreadable) as refused:
        kind.read(answer, name)
    return str(refused.value)


# -- the blank -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda b: b + 1,
        lambda b: 1 - b,
        lambda b: -b * 2.0 / 3,
        lambda b: 2**b**2 // 3 % 4,
        lambda b: abs(b) @ b,
        lambda b: np.float64(2.0) * b,
        lambda b: np.ones(3) + b,
        lambda b: np.ones((2, 2)) @ b,
        lambda b: np.exp(b),
        lambda b: np.linalg.norm(b),
        lambda b: np.concatenate([b, b]),
        lambda b: b(1, key=2),
        lambda b: b.shape[0].T,
        lambda b: b[1:, None],
        lambda b: b < 1,
        lambda b: b == 1,
        lambda b: b != 1,
        lambda b: (b > 0) & (b < 1),
        lambda b: round(b, 2),
        lambda b: x * b + 1,
        lambda b: b * x,
        lambda b: sympy.exp(b) / x,
        lambda b: sympy.Sum(b, (x, 1, 3)),
        lambda b: np.array([b, 1.0]),
        lambda b: [1, (2, {"deep": b})],
        lambda b: {1, b},
        lambda b: "____",
        lambda b: "2*____ + 1",
    ],
)
def test_whatever_is_computed_with_a_blank_stays_blank(use):
    assert has_blank(use(____))


@pytest.mark.parametrize(
    "use",
    [
        lambda b: [v for v in b],
        lambda b: (lambda p, q: p)(*b),
        lambda b: 1 if b else 2,
        lambda b: b == 1 and 2,
        lambda b: float(b),
        lambda b: int(b),
        lambda b: math.exp(b),
        lambda b: range(b),
        lambda b: len(b),
        lambda b: 1 in b,
        lambda b: sympy.Matrix([b, 1]),
    ],
)
def test_a_blank_that_would_have_to_be_a_value_says_so_in_a_sentence(use):
    with pytest.raises(NotAttempted, match=r"still a blank `____` here\. Replace it"):
        use(____)


def test_unpacking_a_blank_in_a_notebook_shows_the_sentence_alone():
    with pytest.raises(NotAttempted) as raised:
        _alpha, _epsilon = ____
    assert raised.value._render_traceback_() == [
        "Not attempted: there is still a blank `____` here. "
        "Replace it with your answer and run the cell."
    ]


def test_a_blank_prints_as_it_is_typed():
    assert f"{____} {____:.3f} {____!r}" == "____ ____ ____"


@pytest.mark.parametrize("answer", [1, "x", "a____b", [1, "two"], {"a": None}, x, np.ones(3), None])
def test_other_answers_have_no_blank(answer):
    assert not has_blank(answer)


def test_looking_for_blanks_survives_cycles_and_hostile_objects():
    cycle = [1]
    cycle.append(cycle)
    assert not has_blank(cycle)
    assert not has_blank([Hostile(), {"a": Hostile()}])
    assert has_blank([Hostile(), cycle, ____])


# -- comparing and showing -------------------------------------------------------------------------


def test_close_means_equal_up_to_rounding():
    assert close(0.1 + 0.2, 0.3)
    assert close([1, 2], np.array([1.0, 2.0 + 1e-9]))
    assert close(1e-17, 0.0)
    assert close(sympy.Rational(1, 3), 1 / 3)
    assert close(np.array([1 + 0j]), [1.0])
    assert not close(1.0, 1.0001)
    assert not close(1e-9, 2e-9)
    assert close(1.0, 1.01, tolerance=0.1)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, 1], 1),
        ([1, 1], [1, 1, 1]),
        (np.nan, np.nan),
        (np.inf, np.inf),
        (1 + 1j, 1),
        (np.array([1 + 1j]), [1.0]),
        ([[1], [2, 3]], [[1], [2, 3]]),
        ("1", 1),
        (None, None),
        (10**400, 10**400),
        (1e308, -1e308),
        (Hostile, 1.0),
        (x, 1.0),
    ],
)
def test_what_is_not_close_is_false_and_never_an_error(a, b):
    assert close(made(a), b) is False


def test_infinity_and_nan_are_two_things_where_nothing_is_finite():
    nothing, infinite = [math.nan, math.nan], [math.inf, -math.inf]
    assert same_entries(nothing, nothing, or_nowhere=True)
    assert same_entries(infinite, infinite, or_nowhere=True)
    assert not same_entries(nothing, infinite, or_nowhere=True)
    assert not same_entries(nothing, nothing)


def test_results_of_several_parts_are_compared_part_by_part():
    assert alike((np.ones(2), {"v": [1.0, 2.0]}), (np.ones(2), {"v": np.array([1, 2 + 1e-12])}))
    assert not alike((np.ones(2), 1.0), (np.ones(2), 2.0))
    assert not alike((np.ones(2), 1.0), (np.ones(2), 1.0, 3.0))
    assert not alike({"v": 1.0}, {"w": 1.0})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1 / 3, "0.3333"),
        (-0.5, "-0.5"),
        (-0.0, "0"),
        (-7, "-7"),
        (12345.0, "12345"),
        (np.float32(2.5), "2.5"),
        (np.int64(3), "3"),
        (np.array(0.25), "0.25"),
        (float("nan"), "nan"),
        (1e-9, "1e-09"),
        (True, "True"),
        (None, "None"),
        ("text", "'text'"),
        ([1.0, [2, 3.5]], "[1, [2, 3.5]]"),
        (np.array([[1.0, 2.0]]), "[[1, 2]]"),
        (np.ones((9, 9)), "an array of shape (9, 9)"),
        ([0] * 99, "a list of 99"),
        (10**400, "a huge number"),
        (np.exp, "exp"),
        (lambda: 1, "a function"),
        (x + 1, "x + 1"),
        (object(), "object"),
        (Hostile, "Hostile"),
    ],
)
def test_values_are_short_in_a_sentence(value, shown):
    assert show(made(value)) == shown


def test_showing_survives_a_list_inside_itself():
    cycle = [1]
    cycle.append(cycle)
    assert show(cycle) == "[1, [1, [1, a list of 2]]]"


def test_two_values_are_shown_with_enough_digits_to_tell_them_apart():
    assert show_apart(1 / 3, 0.5) == ("0.3333", "0.5")
    assert show_apart(1 / 3, 0.3333) == ("0.333333", "0.3333")
    assert show_apart(1.0, 1.0) == ("1", "1")


def test_a_point_is_shown_with_greek_letters():
    assert show_at({"beta": 0.5, "t": 3}) == "β = 0.5, t = 3"


# -- numbers, arrays, choices, lines ---------------------------------------------------------------


@pytest.mark.parametrize("answer", [0.5, "1/2", sympy.Rational(1, 2), np.array(0.5), "½", "2^-1"])
def test_a_number_may_be_written_in_many_ways(answer):
    assert Number().read(answer, "y") == 0.5


@pytest.mark.parametrize(
    "answer", [None, "x", [], (1, 2), True, 1j, np.nan, 10**400, "oo", "log(0)", "0,5", Hostile]
)
def test_what_is_no_number_is_refused_by_name(answer):
    assert refusal(Number(), answer, "epsilon").startswith("ε ")


def test_an_array_may_be_nested_lists_and_is_copied():
    original = np.ones(2)
    read = Array((2,)).read(original, "y")
    read[0] = 5
    assert original[0] == 1
    assert close(Array((1, 2)).read([[sympy.Rational(1, 2), 1]], "y"), [[0.5, 1]])
    assert close(Array((1,)).read(np.array([2 + 0j]), "y"), [2])


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([1, 2, 3], "y has shape (3,); shape (2,) was expected."),
        (1.0, "y has shape ()"),
        ([1, np.nan], "y contains nan."),
        ([1, -np.inf], "y contains -inf."),
        ([1, 1j], "real numbers"),
        (np.array([1, 1j]), "real numbers"),
        (["1", "one"], "Each entry of y should be a number."),
        ([[1], [2, 3]], "rows of unequal length"),
        (None, "None (is a return missing?)"),
        ([1, None], "real numbers"),
        ((v for v in (1, 2)), "a generator (write `list(...)` around it)"),
        ({1: 2}, "type dict"),
        ([x, 1], "real numbers"),
        ([10**400, 1], "real numbers"),
        (Hostile, "type Hostile"),
    ],
)
def test_what_is_no_such_array_is_refused(answer, says):
    assert says in refusal(Array((2,)), answer)


def test_a_choice_is_one_of_its_words_however_it_is_spaced_or_capitalized():
    kind = Choice(("Necessary", "not  sufficient".replace("  ", " ")))
    assert kind.read(" NECESSARY", "y") == "Necessary"
    assert kind.read("not   sufficient", "y") == "not sufficient"
    assert "should be one of 'Necessary', 'not sufficient'" in refusal(kind, "maybe")
    assert refusal(kind, Hostile)
    assert refusal(kind, None)


def test_true_and_false_are_words_too():
    assert Choice(("true", "false")).read(np.True_, "y") == "true"
    assert Choice(("true", "false")).read(False, "y") == "false"


def test_the_lines_of_a_derivation_are_formulas():
    kind = Lines(["beta", "t"], ["g"])
    lines = kind.read(["= beta*g(1)", sympy.Symbol("beta") ** 2], "lines")
    assert [str(line) for line in lines] == ["beta*g(1)", "beta**2"]
    assert kind.same(lines, kind.read(["β·g( 1 )", "beta^2"], "lines"))
    assert not kind.same(lines, lines[:1])


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([], "is an empty list"),
        ("beta", "should be a list of lines"),
        (["beta", "x"], "Line 2 cannot be read"),
        ([["="]], "Line 1 cannot be read"),
    ],
)
def test_lines_that_cannot_be_read_are_named(answer, says):
    assert says in refusal(Lines(["beta"]), answer)


# -- formulas --------------------------------------------------------------------------------------


def test_equivalent_formulas_are_the_same():
    kind = Formula(beta=(0, 1), t=range(1, 9))
    beta, t, i = sympy.symbols("beta t i", positive=True)
    closed = kind.read("1 - beta**t", "y")
    summed = kind.read((1 - beta) * sympy.Sum(beta ** (t - i), (i, 1, t)).doit(), "y")
    assert kind.same(closed, summed)
    assert not kind.same(closed, kind.read("1 - beta**(t - 1)", "y"))


def test_points_are_the_same_every_time_and_stay_inside_the_domain():
    kind = Formula(beta=(0, 1), small=(0, 0.001), t=range(1, 9), n=range(1, 10**9))
    points = list(kind.points())
    assert points == list(kind.points())
    assert len(points) == 12
    assert {p["t"] for p in points} == set(range(1, 9))
    assert {1, 10**9 - 1} <= {p["n"] for p in points}
    assert all(type(p["n"]) is int for p in points)
    assert all(0 < p["beta"] < 1 and 0 < p["small"] < 0.001 for p in points)
    assert all(p["beta"] == round(p["beta"], 2) for p in points)


def test_a_formula_that_is_wrong_at_a_single_whole_number_is_caught():
    kind = Formula(t=range(1, 9))
    tricky = kind.read("Piecewise((2, Eq(t, 5)), (t, True))", "y")
    assert not kind.same(tricky, kind.read("t", "y"))


def test_a_formula_without_symbols_is_still_compared():
    kind = Formula()
    assert kind.same(kind.read("1/2", "y"), kind.read(0.5, "y"))
    assert not kind.same(kind.read("1/2", "y"), kind.read("1/3", "y"))


def test_a_formula_that_is_not_finite_somewhere_says_where():
    kind = Formula(t=range(1, 9))
    with pytest.raises(NotFinite, match="ε is not a finite number at t = 1"):
        kind.read("1/(t - 1)", "epsilon")(t=1)
    with pytest.raises(Unreadable, match=r"ε has no value at t = 3\. A sum from 1 to 1\.5"):
        kind.read("Sum(1, (i, 1, t/2))", "epsilon")(t=3)


def test_a_formula_that_cannot_be_read_is_named():
    assert refusal(Formula(t=(0, 1)), "x", "epsilon").startswith("ε cannot be read. 'x' uses x")


# -- functions -------------------------------------------------------------------------------------


def called(function, *args, name="f"):
    return Function().read(function, name)(*args)


def complaint(function, *args):
    with pytest.raises(Unreadable) as refused:
        called(function, *args)
    return str(refused.value)


def test_a_function_that_overwrites_its_inputs_fools_nobody():
    def overwrite(a):
        a[:] = 0
        return a

    original = np.ones(2)
    assert close(called(overwrite, original), [0, 0])
    assert close(original, [1, 1])


def test_a_function_that_returns_the_same_array_again_and_again_fools_nobody():
    buffer = np.zeros(1)

    def same_buffer(v):
        buffer[0] = v
        return buffer

    answer = Function().read(same_buffer, "f")
    first = answer(1.0)
    answer(2.0)
    assert close(first, [1.0])


def test_what_cannot_be_copied_is_handed_over_as_it_is():
    assert called(lambda module: module.pi, math) == math.pi
    assert type(called(lambda: (v for v in [1]))).__name__ == "generator"
    assert called(lambda h: type(h) is Hostile, Hostile()) is True
    assert "cannot be judged" in complaint(lambda h: h, Hostile())


def test_an_error_is_told_with_the_call_that_raised_it():
    def f(beta, t):
        raise ValueError("first line\nsecond line")

    says = "f(0.5, [1, 2]) raised ValueError: first line second line. It stopped at `raise Val"
    assert complaint(f, 0.5, [1.0, 2.0]).startswith(says)
    says = "f(1) raised ZeroDivisionError: division by zero."
    assert complaint(lambda a: 1 / 0, 1).startswith(says)


def test_a_wrong_number_of_parameters_is_told_without_the_word_lambda():
    says = complaint(lambda a: a, 1, 2)
    assert says.startswith("f(1, 2) raised TypeError: f() takes 1 positional argument")


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, MemoryError, RecursionError])
def test_no_error_escapes(error):
    def f():
        raise error

    assert complaint(f).startswith(f"f() raised {error.__name__}. It stopped at `raise error`.")


def test_an_error_that_cannot_even_be_printed_is_told():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    def f():
        raise Mute

    assert complaint(f) == "f() raised Mute. It stopped at `raise Mute`."


def test_an_interrupt_gets_through_so_that_an_endless_loop_can_be_stopped():
    def f():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        called(f)


def test_a_missing_return_is_told():
    assert complaint(lambda a: None, 1) == "f(1) returned nothing; is a return missing?"


@pytest.mark.parametrize(
    "body",
    [
        lambda: ____,
        lambda: [1, ____],
        lambda: float(____),
        lambda: [v for v in ____],
        lambda: 1 if ____ else 2,
        lambda: np.ones(2) * ____,
    ],
)
def test_a_blank_inside_a_function_is_not_attempted(body):
    with pytest.raises(NotAttempted):
        called(body)


def test_verdicts_do_not_hang_on_floating_point_warnings():
    assert np.isinf(called(lambda: np.ones(1) / np.zeros(1)))[0]


def test_printing_does_no_harm(capsys):
    def talkative():
        print("hello")
        return 1.0

    assert called(talkative) == 1.0
    assert capsys.readouterr().out == "hello\n"


def test_the_result_is_read_as_an_array_of_the_expected_shape():
    answer = Function().read(lambda n: (k for k in range(n)), "f")
    with pytest.raises(Unreadable, match=r"f\(2\) should be an array .*write `list\(...\)`"):
        answer.array(2, shape=(2,))
    assert close(Function().read(np.arange, "f").array(2, shape=(2,)), [0, 1])


def test_what_is_masked_is_no_number():
    some = np.ma.array([1.0, 2.0], mask=[True, False])
    with pytest.raises(Unreadable, match=r"y contains nan"):
        received(Array((2,)), some, "y")
    with pytest.raises(NotFinite, match=r"f\(\) is not finite: it is \[nan, 2\]"):
        Function().read(lambda: some, "f").array(shape=(2,))
    with pytest.raises(NotFinite):
        Function().read(lambda: np.ma.array([[1, 0]], mask=True), "f").array(shape=(1, 2))
    nothing_masked = Function().read(lambda: np.ma.array([1, 2]), "f").array(shape=(2,))
    assert close(nothing_masked, [1, 2])


@pytest.mark.parametrize("answer", [None, 3, "f", [len], Hostile])
def test_what_is_no_function_is_refused_or_fails_on_its_call(answer):
    kind = Function()
    with pytest.raises(Unreadable):
        kind.read(made(answer), "f").array(1, shape=(1,))


@pytest.mark.parametrize(
    ("function", "name"),
    [(np.exp, "exp"), (lambda v: v, "mine"), (dict, "dict"), (____, "mine")],
)
def test_a_function_is_called_by_its_own_name_where_it_has_a_plain_one(function, name):
    assert Function().read(function, "mine").name == name


def test_functions_are_the_same_when_they_agree_on_the_samples():
    kind = Function(samples=[(2.0,), (3.0,)])
    square = kind.read(lambda v: (v**2, {"v": v}), "f")
    assert kind.same(square, kind.read(lambda v: [v * v, {"v": v}], "f"))
    assert not kind.same(square, kind.read(lambda v: (v**3, {"v": v}), "f"))
    assert not Function().same(square, square), "nothing was compared"


def test_functions_may_have_to_be_alike_in_more_than_their_numbers():
    kind = Function([(2.0,)], alike=lambda a, b: a.name == b.name)
    square, other = kind.read(lambda v: v * v, "f"), kind.read(lambda v: v**2, "g")
    cube = kind.read(lambda v: v**3, "f")
    assert [kind.same(square, f) for f in (square, other, cube)] == [True, False, False]
