"""The ladder of proofs: its rungs are named, nothing false is proved, nothing hangs or raises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Symbol, oo

from course_utils.derivation import (
    Derivation,
    iid,
    integers,
    interval,
    invertible,
    matrix,
    positive,
    random,
    real,
    sequence,
    vector,
)

R = {"x y a b": real}
P = {"u v w": positive}
N = {"n t": integers(1, None), "q beta": interval(0, 1), "g h": sequence()}
PART = {"p": interval(0, 1)}
M = {"x y": vector("n"), "A B C": matrix("n", "n"), "D F": invertible("n"), "c": real}


def line(start, relation, now, where, *more):
    return Derivation(start, [(relation, now, "", *more)], where=where).check().lines[0]


@pytest.mark.parametrize(
    ("left", "right", "where", "rung"),
    [
        ("(a + b)**2", "a**2 + 2*a*b + b**2", R, "proved"),
        ("sin(x)**2 + cos(x)**2", "1", R, "simplified by SymPy"),
        ("tanh(x)", "2/(1 + exp(-2*x)) - 1", R, "simplified by SymPy"),
        ("Derivative(ln(1 + exp(x)), x)", "1/(1 + exp(-x))", R, "carried out by SymPy"),
        ("Integral(x*exp(-x), (x, 0, oo))", "1", R, "carried out by SymPy"),
        ("Sum(k**2, (k, 1, n))", "n*(n + 1)*(2*n + 1)/6", N, "induction on n"),
        ("Sum(q**k, (k, 0, n))", "(1 - q**(n + 1))/(1 - q)", N, "induction on n"),
        ("Sum(beta**(t - i), (i, 1, t))", "(1 - beta**t)/(1 - beta)", N, "induction on t"),
        ("Sum(g(n - k), (k, 0, n))", "Sum(g(k), (k, 0, n))", N, "induction on n"),
        ("Sum(g(k + 1) - g(k), (k, 1, n))", "g(n + 1) - g(1)", N, "induction on n"),
        ("Product(q, (k, 1, n))", "q**n", N, "factor by factor"),
        ("abs(a)*abs(b)", "abs(a*b)", R, "proved"),
    ],
)
def test_an_equality_is_proved_on_a_rung_that_is_named(left, right, where, rung):
    assert rung in line(left, "=", right, where).how
    assert line(left, "=", right, where).mark == "proved"


@pytest.mark.parametrize(
    ("left", "relation", "right", "where", "rung"),
    [
        ("a*b", "≤", "a**2/2 + b**2/2", R, "factors and squares"),
        ("sqrt(u*v)", "≤", "(u + v)/2", P, "factors and squares"),
        ("exp(-x)/(1 + exp(-x))**2", "≤", "1/4", R, "factors and squares"),
        ("x**4 + 3", "≥", "3*x**2", R, "its real roots"),
        ("exp(x)", "≥", "1 + x", R, "convexity"),
        ("u*ln(u)", "≥", "-exp(-1)", P, "convexity"),
        ("ln(1 + u)", "≤", "u", P, "monotony"),
        ("sin(u)", "≤", "u", P, "monotony"),
        ("abs(a + b)", "≤", "abs(a) + abs(b)", R, "case by case"),
        ("exp(p)", "≥", "p**2", {"p": interval(0, 5)}, "intervals"),
    ],
)
def test_an_inequality_is_proved_on_a_rung_that_is_named(left, relation, right, where, rung):
    assert line(left, relation, right, where).how == f"proved ({rung})"


@pytest.mark.parametrize(
    ("tex", "where"),
    [
        (r"(A+B)^2 = A^2 + AB + BA + B^2", M),
        (r"(AB)^\top = B^\top A^\top", M),
        (r"(DF)^{-1} = F^{-1} D^{-1}", M),
        (r"\|x+y\|^2 = \|x\|^2 + 2 x^\top y + \|y\|^2", M),
        (r"A x x^\top y = (x^\top y) A x", M),
        (r"\operatorname{tr}(ABC) = \operatorname{tr}(CAB)", M),
        (r"\mathbb{E}[(X - \mathbb{E}[X])^2] = \mathbb{E}[X^2] - \mathbb{E}[X]^2", {"X": random()}),
        (r"\sum_{i=1}^{n} 2c\, g_i = 2c \sum_{i=1}^{n} g_i",
         {"g": sequence(vector("m")), "c": real, "n": integers(1, 5)}),
    ],
)  # fmt: skip
def test_identities_of_matrices_and_expectations_are_proved_by_a_normal_form(tex, where):
    (report,) = Derivation(tex, where=where).check().lines
    assert report.how.startswith("proved (sums of products")


def test_definitions_of_sequences_are_used_in_a_proof():
    where = {"beta": interval(0, 1), "v g": sequence(vector("n")), "t": integers(4, 6)}
    tex = r"v_t = \beta^2 v_{t-2} + \beta(1-\beta) g_{t-1} + (1-\beta) g_t"
    derivation = Derivation(tex, where=where, given={"v_t": r"\beta v_{t-1} + (1-\beta) g_t"})
    assert derivation.check().lines[0].how == "proved (sums of products, the definitions)"


@pytest.mark.parametrize(
    ("left", "relation", "right", "where"),
    [
        ("sqrt(x**2)", "=", "x", R),
        ("Sum(beta**i, (i, 1, t))", "=", "(1 - beta**t)/(1 - beta)", N),
        ("Sum(g(n - k), (k, 1, n))", "=", "Sum(g(k), (k, 1, n))", N),
        ("Max(a, b)", "=", "(a + b - abs(a - b))/2", R),
        ("A*B", "=", "B*A", M),
        # inequalities that fail in a narrow place only
        ("u*ln(u)", "≥", "-0.3678", P),
        ("sin(x)**2", "≤", "0.999", R),
        ("(x - 1/3)**2 + (y - 1/7)**2", ">", "0", R),
        ("(x - 1/3)**2 + (y - 1/7)**2", "≥", "1/1000", R),
        ("(x - 7373/10000)**2", "≥", "10**(-7)", R),
        ("exp(-(x - 17)**2)", "≤", "0.5", R),
        ("exp(-1000*(x - 1/3)**2)", "≤", "1/2", R),
        ("(x - 1234)**2", ">", "0", R),
        ("p*ln(p) + (1 - p)*ln(1 - p)", "≥", "-0.693", PART),
    ],
)
def test_what_is_false_is_refuted(left, relation, right, where):
    assert line(left, relation, right, where).mark == "false"


@pytest.mark.parametrize(
    ("start", "now", "where", "more"),
    [
        ("Integral(sin(x**2), (x, 0, oo))", "sqrt(pi/8)", {}, ()),
        ("Integral(-1/t**2, (t, 1, x))", "-1 + 1/x", {"x": real}, ()),
        ("erf(1 - t/3)", "-1", {"t": positive}, (("t", oo),)),
        ("27**(ln(n)/ln(3) + 1)/n**3", "27", {"n": positive}, (("n", oo),)),
        ("(x + 1)**1000/((x + 1)**1000 + 1)", "1", {"x": positive}, (("x", oo),)),
        ("(x**b - y**b)/(x - y)", "b", {"x y b": positive}, (("x", Symbol("y")),)),
        ("Product(g(i), (i, 1, n))", "Product(g(i), (i, 1, n))", N, ()),
        ("factorial(k)*factorial(n - k)/factorial(n)", "1/binomial(n, k)",
         {"n k": integers(-4, 8)}, ()),
        ("Sum(Sum(1/(i**2*j**2), (i, 1, oo)), (j, 1, oo))", "pi**4/36", {}, ()),
    ],
)  # fmt: skip
def test_one_source_alone_refutes_nothing(start, now, where, more):
    """True lines at which one numeric or symbolic source is wrong, gives up or takes for ever."""
    assert line(start, "≈" if more else "=", now, where, *more).mark != "false"


def test_a_line_that_takes_too_long_says_so():
    report = line("Sum(Sum(sin(i*j), (j, 1, n)), (i, 1, n))", "≤", "n**2", {"n": integers(1, None)})
    assert report.how.endswith("(time was up)")


def test_overflow_refutes_nothing():
    tex = r"\operatorname{softmax}(z) = \frac{1}{\mathbf{1}^\top \exp(z)} \exp(z)"
    assert Derivation(tex, where={"z": vector("n")}).check().holds


def test_two_numbers_that_differ_late_are_shown_apart():
    sentence = line("0.99999999", "=", "99999998/99999999", {}).sentence
    before, now = sentence.split("the line before is ")[1].split(", but this line is ")
    assert before != now.rstrip(".")


def test_independent_quantities_are_as_many_as_are_asked_for():
    tex = r"\mathbb{E}[g_1 g_2 g_3] = \mathbb{E}[g]^3"
    assert Derivation(tex, where={"g": iid()}).check().holds


ATOMS = st.sampled_from(["x", "y", "n", "2", "g(n)", "g(1)", "0", "oo", "pi", "1/3"])


def combined(parts):
    pair = st.tuples(parts, parts)
    forms = ["({})+({})", "({})*({})", "({})/({})", "({})**({})", "Max({}, {})", "({})-({})"]
    forms += [f"{kind}({{}}, (k, 1, {{}}))" for kind in ("Sum", "Product", "Integral")]
    alone = ["ln({})", "exp({})", "factorial({})", "abs({})", "sqrt({})", "Derivative({}, x)"]
    return st.one_of(
        *(pair.map(lambda p, form=form: form.format(*p)) for form in forms),
        *(parts.map(form.format) for form in alone),
    )


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.recursive(ATOMS, combined, max_leaves=5), st.recursive(ATOMS, combined, max_leaves=5),
       st.sampled_from("=≤<"))  # fmt: skip
def test_checking_a_line_never_raises(one, two, relation):
    where = {"x": real, "y": positive, "n": integers(1, 6), "g": sequence()}
    assert line(one, relation, two, where).verdict
