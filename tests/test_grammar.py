"""One grammar for LaTeX and typed text: what is written is read as it is meant, or refused."""

import ast
import contextlib

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from selfcheck.formula import FormulaError, read_formula

SYMBOLS = ["beta", "t", "n", "i", "x", "y", "a", "b", "c", "d_in", "lambda", "eta", "x_{1,12}"]


def read(text, symbols=SYMBOLS, functions=("g",)):
    return ast.unparse(read_formula(text, symbols, functions, calculus=True).tree)


def refusal(text, symbols=SYMBOLS, functions=("g",)):
    with pytest.raises(FormulaError) as refused:
        read_formula(text, symbols, functions, calculus=True)
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        # indices are expressions
        ("g_{t-1}", "g(t - 1)"),
        ("g_t-1", "g(t) - 1"),
        ("g_t", "g(t)"),
        ("g_12", "g(12)"),
        (r"\mathbf{g}_{t-1}", "g(t - 1)"),
        ("g^{(i)}", "g(i)"),
        ("g^2_3", "g(3) ** 2"),
        ("x_{1,12}", "x_{1,12}"),
        (r"d_{\mathrm{in}}", "d_in"),
        # sums, products, integrals, derivatives
        (r"\sum_{i=1}^{t} \beta^{t-i} g_i", "Sum(beta ** (t - i) * g(i), (i, 1, t))"),
        (r"\sum^3_{k=1} k + 1", "Sum(k, (k, 1, 3)) + 1"),
        (r"\prod_{1 \le k < n} k", "Product(k, (k, 1, n - 1))"),
        (r"\prod_{n \ge k > 1} k", "Product(k, (k, 1 + 1, n))"),
        (r"\int_0^\infty e^{-x^2}\,\mathrm{d}x", "Integral(e ** (-x ** 2), (x, 0, oo))"),
        (r"\int_1^n \frac{dx}{x}", "Integral(1 / x, (x, 1, n))"),
        (r"\frac{d}{dx} x^2", "Derivative(x ** 2, x)"),
        (r"\frac{\partial}{\partial x} \frac12 x^2", "Derivative(1 / 2 * x ** 2, x)"),
        (r"\frac{\partial x^2 y}{\partial y}", "Derivative(x ** 2 * y, y)"),
        # dots
        ("g_1 + g_2 + ... + g_t", "Sum(g(j), (j, 1, t))"),
        (r"1 + \beta + \cdots + \beta^{t-1}", "Sum(beta ** j, (j, 0, t - 1))"),
        (r"g_1 + g_2 + g_i + \ldots + g_t", "Sum(g(j), (j, 1, t))"),
        (r"\beta^2 g_1 + \beta g_2 + g_3 - 1", "beta ** 2 * g(1) + beta * g(2) + g(3) - 1"),
        (r"1 \cdot 2 \cdots n", "Product(j, (j, 1, n))"),
        ("1 - x - x^2 - … - x^n", "1 - Sum(x ** j, (j, 1, n))"),
        # sums as they are typed, and as word processors write them
        ("∑_(i=1)^n▒i", "Sum(i, (i, 1, n))"),
        ("∑_(i=1)^n▒g_(n-i)", "Sum(g(n - i), (i, 1, n))"),
        ("ln\u2061x/ln\u2061(n)", "ln(x) / ln(n)"),
        ("\ufeffx\u200b^(n\u2060)\u00ad", "x ** n"),
        ("Σ_{i=1}^n i^2", "Sum(i ** 2, (i, 1, n))"),
        ("2 sum_(i=1)^(n-1) beta^i", "2 * Sum(beta ** i, (i, 1, n - 1))"),
        (r"\Pi_{i=1}^{n} i", "Product(i, (i, 1, n))"),
        (r"\sum_{i=1,\ldots,n} i", "Sum(i, (i, 1, n))"),
        (r"\sum_{i \in \{1, 2, \dots, n\}} i", "Sum(i, (i, 1, n))"),
        (r"\sum_{i \in [n]} i", "Sum(i, (i, 1, n))"),
        (r"\sum_{i,k=1}^{n} ik", "Sum(Sum(i * k, (k, 1, n)), (i, 1, n))"),
        # e is a letter like any other where it has a power
        ("xe^{-y}", "x * e ** (-y)"),
        (r"\frac{2xye^x}{ne^y}", "2 * x * y * e ** x / (n * e ** y)"),
        # a power of a number is a factor, a number alone may be anything
        (r"n 2^{n-1}", "n * 2 ** (n - 1)"),
        ("(n+1)2^n", "(n + 1) * 2 ** n"),
        (r"x^2 3^{n}", "x ** 2 * 3 ** n"),
        (r"\frac{n}{2} 3^n", "n / 2 * 3 ** n"),
        ("4 n y^2 + 2 n^2 y", "4 * n * y ** 2 + 2 * n ** 2 * y"),
        # groups of programs that write LaTeX, and the end of a sentence
        (r"{g}_{t}^{} + {}{\mathbf{x}}^{2}", "g(t) + x ** 2"),
        (r"\frac{x}{y}.", "x / y"),
        ("x/y;", "x / y"),
        (r"\mathop{\rm max}(x, y)", "Max(x, y)"),
        # brackets and bars
        (r"\left[a + b\right] \{c\}", "(a + b) * c"),
        ("|x||y|", "abs(x) * abs(y)"),
        (r"\|x\|", "abs(x)"),
        (r"\left|x - |y|\right|", "abs(x - abs(y))"),
        # functions
        (r"\cos 2x", "cos(2 * x)"),
        (r"\sin 2\pi x", "sin(2 * pi * x)"),
        (r"\tanh 2x \sin \pi y", "tanh(2 * x) * sin(pi * y)"),
        ("sin 2 cos x", "sin(2) * cos(x)"),
        ("x mod 2", "Mod(x, 2)"),
        ("binom(n, i)", "binomial(n, i)"),
        (r"\sin^2 x", "sin(x) ** 2"),
        (r"\sin a \cos b", "sin(a) * cos(b)"),
        (r"\log_b x", "log(x, b)"),
        (r"\log_{2}{x}", "log2(x)"),
        ("sec(x) + csc(x) + cot(x)", "sec(x) + csc(x) + cot(x)"),
        # TeX's short forms
        (r"\frac12 x", "1 / 2 * x"),
        (r"x^\frac12", "x ** (1 / 2)"),
        (r"\,x^2y", "x ** 2 * y"),
        (r"a \quad b \! c", "a * b * c"),
        ("1,000 + 1{,}000", "1000 + 1000"),
        (r"1_000 + 2", "1000 + 2"),
        (r"10\,000 x", "10000 * x"),
        (r"5!7!", "factorial(5) * factorial(7)"),
        (r"a \frac{b}{c} x", "a * (b / c) * x"),
    ],
)
def test_what_is_written_is_read_as_it_is_meant(text, tree):
    assert read(text) == tree


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (r"\frac{(2+x}{1-x)}", "at sign 11"),
        ("x^{(i)}", "is an index, and this is declared without one, at sign 3"),
        (r"\beta_1", "uses β_1"),
        (r"\hat{x}", "uses hat{x}"),
        (r"\beta^12", "in LaTeX this takes 1 alone: write {12}, at sign 7"),
        (r"\beta g_12", "in LaTeX this index is 1 alone: write {12}, at sign 9"),
        (r"\sin^{-1} x", "`arcsin(…)` or `1/sin(…)`"),
        (r"a \cdot -b", "two operators stand side by side: use brackets, at sign 9"),
        (r"{a^b}^c + \beta^b^c", "a second exponent stands here"),
        (r"\sum_{i} i", "the bounds of i are missing"),
        (r"\sum_{i=1} g_i", "the last value of this index is missing"),
        (r"\int x\,dx", "an integral without limits is no number"),
        (r"\int_0^1 x", "this integral has no dx"),
        (r"a \pm b", "± is two formulas: write one of them, at sign 3"),
        ("5 % x", "is this a remainder? Write mod(a, b), at sign 3"),
        (r"\lg x", "base 2 or to base 10"),
        ("erfc(x)", "calls erfc, which is no function known here."),
        ("acot(x)", "calls acot, which is no function known here."),
        ("g_1 + ... + g_t", "dots need two terms before them and one after them"),
        ("g_1 + g_2 - ... + g_t", "the sign before the dots is not that of the terms"),
        ("g_1 + g_2 + ... + x^t", "different forms"),
        ("g_1 + g_3 + ... + g_t", "the last term does not fit"),
        (r"\beta^{t-1}g_1 + \beta^{t-2}g_2 + \ldots + \beta g_t", "do not agree on a pattern"),
        (r"\text{for all } x", "'for all' are words"),
        ("g()", "the argument of g is missing"),
        (r"\lambda/2\eta", "did you mean `λ/(2*η)` or `λ/2*η`?"),
    ],
)
def test_what_is_not_in_the_grammar_is_refused_with_its_place(text, says):
    assert says in refusal(text)


def test_d_is_a_derivative_unless_it_is_a_quantity():
    assert "write ∂" in refusal(r"\frac{d}{dx} x^2", ["x", "d"])
    assert read(r"\frac{d}{d_k}", ["d", "d_k"]) == "d / d_k"
    assert read(r"\frac{\partial}{\partial x} d x", ["x", "d"]) == "Derivative(d * x, x)"


def test_the_index_of_a_sum_means_nothing_outside_of_it():
    assert "stands outside of it" in refusal(r"\sum_{i=1}^{n} x i + y i")
    assert "uses k" in refusal(r"\sum_{k=1}^{n} x + k")


INDICES = st.lists(st.sampled_from(["t", "1", "12", "-", "+", ",", "i"]), min_size=1, max_size=4)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(one=INDICES.map("".join), two=INDICES.map("".join))
def test_two_different_indices_never_become_one_name(one, two):
    """A name that is declared with one index is not the name with another."""
    assume(one != two)
    with contextlib.suppress(FormulaError):
        assert read(f"q_{{{two}}}", [f"q_{{{one}}}"], ()) is None


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from([
            r"\frac", "{", "}", "^", "_", "x", "g", "1", "2", "+", "-", "(", ")", "|", r"\|", "d",
            r"\sum", r"\int", r"\left", r"\beta", r"\partial", r"\ldots", ",", "=", "!", "'", " ",
            r"\begin{bmatrix}", r"\end{bmatrix}", "&", r"\\", r"\top", r"\mathbf", r"\mathbb{E}",
        ]),
        max_size=14,
    ).map("".join)
)  # fmt: skip
def test_any_latex_is_read_or_refused_in_one_line(text):
    said = ""
    try:
        read_formula(text, SYMBOLS, ["g"], calculus=True).to_sympy()
    except FormulaError as refused:
        said = str(refused)
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "names"),
    [("ndk", ["n", "d", "k", "d_k"]), ("dk", ["d", "k", "d_k"]), (r"2dk^{2}", ["d", "k", "d_k"])],
)
def test_letters_side_by_side_that_are_a_name_and_a_product_have_two_readings(text, names):
    assert "two ways" in refusal(text, names)
    assert read("dk", ["d_k", "n"]) == "d_k"
    assert read("dk", ["d", "k"]) == "d * k"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n 2", "lacks a sign"),
        ("(n+1)2", "lacks a sign"),
        ("2 2^n", "lacks a sign"),
        ("n^2d", "two ways"),
        (r"\sin 2xy", "two ways"),
        (r"\sin 2x/3", "two ways"),
        (r"\ln 2x", "two ways"),
        (r"\sin 2\frac{x}{y}", "Use brackets"),
        (r"\sum_{i \in \{1, 3, \ldots, n\}} i", "not understood"),
    ],
)
def test_what_may_be_something_else_stays_refused(text, says):
    assert says in refusal(text, [*SYMBOLS, "d"])
