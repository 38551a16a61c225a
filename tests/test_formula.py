"""Formulas: what people type is read as they mean it, and nothing is ever executed."""

import ast
import contextlib
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.formula import FormulaError, canonical, names_in, pretty, read_formula

POINT = {"beta": 0.5, "delta": 2.0, "t": 3}
SYMBOLS = [*POINT, "lambda"]
beta, delta, t, i = sympy.symbols("beta delta t i", positive=True)


def value(answer):
    return read_formula(answer, SYMBOLS).at(**POINT, **{"lambda": 7.0})


def refusal(answer, symbols=SYMBOLS):
    with pytest.raises(FormulaError) as refused:
        read_formula(answer, symbols)
    return str(refused.value)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("delta*(1 - beta)", 1.0),
        ("δ·(1−β)", 1.0),
        ("δ × (1 – β)", 1.0),
        ("beta^2", 0.25),
        ("β²", 0.25),
        ("β⁻¹", 2.0),
        ("βᵗ⁻¹", 0.25),
        ("3²", 9.0),
        ("10²", 100.0),
        ("-β²", -0.25),
        ("½", 0.5),
        ("δ^½", 2**0.5),
        ("√2", 2**0.5),
        ("√δ", 2**0.5),
        ("√(δ + 2)", 2.0),
        ("log₂(8)", 3.0),
        (r"\beta", 0.5),
        ("𝛽", 0.5),
        ("ϵ = β", 0.5),
        ("= beta", 0.5),
        ("alpha = beta", 0.5),
        ("  beta  ", 0.5),
        ("lambda", 7.0),
        ("λ + 1", 8.0),
        ("1_000 + 1e3", 2000.0),
        ("log(8, 2)", 3.0),
        ("ln(e)", 1.0),
        ("Rational(1, 4)", 0.25),
        ("Max(beta, delta) - Min(beta, 2)", 1.5),
        ("abs(-beta)", 0.5),
        ("Sum(beta**(t - i), (i, 1, t))", 1.75),
        ("Sum(beta**i, (i, 1, 0))", 0.0),
        ("Piecewise((1, beta > 1), (2, (beta < 1) & ~(t < 0)), (3, True))", 2.0),
        ("2**-1", 0.5),
        ("2**3**2", 512.0),
        ("-2**2", -4.0),
        ("1/2/2", 0.25),
    ],
)
def test_text_is_read_as_people_write_it(answer, expected):
    assert value(answer) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (2, 2.0),
        (0.25, 0.25),
        (-3.0, -3.0),
        (Fraction(1, 4), 0.25),
        (Decimal("0.25"), 0.25),
        (np.float32(0.25), 0.25),
        (np.int64(4), 4.0),
        (np.array(0.25), 0.25),
        (complex(2, 0), 2.0),
        (10**18, 1e18),
        (sympy.Rational(1, 4), 0.25),
        (sympy.exp(1), np.e),
        (sympy.pi, np.pi),
        (sympy.sqrt(delta), 2**0.5),
        (sympy.log(8, 2), 3.0),
        (sympy.log(delta, 2), 1.0),
        (sympy.Symbol("beta"), 0.5),
        (sympy.Symbol("beta", negative=True), 0.5),
        (sympy.Symbol("beta") + sympy.Symbol("beta", real=True), 1.0),
        (sympy.Symbol("β"), 0.5),
        (sympy.Symbol(r"\beta"), 0.5),
        (sympy.Symbol("lambda"), 7.0),
        (sympy.Symbol("λ"), 7.0),
        (sympy.Sum(beta ** (t - i), (i, 1, t)), 1.75),
        (sympy.Sum(beta ** (t - i), (i, 1, t)).doit(), 1.75),
        (sympy.Sum(beta**i, (i, 0, sympy.oo)).doit(), 2.0),
        (sympy.Piecewise((1, sympy.Eq(beta, 1)), (2, sympy.Or(beta < 0, t > 2))), 2.0),
        (sympy.Mul(2, 3, evaluate=False), 6.0),
    ],
)
def test_numbers_and_sympy_are_formulas_too(answer, expected):
    assert value(answer) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("2beta", "write * between factors"),
        ("βδ", "write * between factors"),
        ("βt", "write * between factors"),
        ("δ(1-β)", "after δ a * is missing"),
        ("2½", "not arithmetic"),
        ("(1 + beta", "close every bracket"),
        ("x + 1", "uses x; the answer may use β, δ, t and λ"),
        ("f(beta)", "calls f, which is no function"),
        ("sqrt(1, 2)", "sqrt does not take 2 arguments"),
        ("log()", "log does not take 0 arguments"),
        ("0,5", "decimals take a point"),
        ("beta = delta", "is an equation"),
        ("a = b = c", "is an equation"),
        ("E[v] = beta", "is an equation"),
        ("beta == delta", "not arithmetic"),
        ("beta < 1", "not arithmetic"),
        ("Eq(beta, 1)", "not arithmetic"),
        ("True", "not arithmetic"),
        ("1j", "not arithmetic"),
        ("'beta'", "not arithmetic"),
        ("Piecewise((1, beta), (2, True))", "not arithmetic"),
        ("Sum(beta, t)", "is not a formula"),
        ("Piecewise(beta, t)", "is not a formula"),
        ("Piecewise()", "does not take 0"),
        ("Sum(1, (t, 1, 2), **beta)", "is not a formula"),
        ("①", "is not a formula"),
        ("9**9**9", "too large"),
        ("(1/2)**(10**9)", "too large"),
        ("((2**-900)**900)**900", "too large"),
        ("1/0", "not defined"),
        ("9" * 400, "too large"),
        ("1" * 5000, "5000 characters"),
        ("-" * 1500 + "1", "levels"),
        ("+".join(["1"] * 500), "levels"),
        ("(" * 300 + "1" + ")" * 300, "is not a formula"),
        ("a\0", "is not a formula"),
        ("\ud800", "is not a formula"),
        (None, "None is not a formula"),
        (True, "truth value"),
        (np.True_, "truth value"),
        (1j, "type complex"),
        (float("nan"), "not finite"),
        (Decimal("NaN"), "not finite"),
        (10**400, "too large"),
        ([1, 2], "type list"),
        (np.ones(1), "type ndarray"),
        (object(), "type object"),
        (beta ^ t, "a power is written **"),
        (sympy.Eq(beta, t), "is an equation"),
        (sympy.true, "not a formula"),
        (sympy.Matrix([1]), "not a formula"),
        (sympy.I, "uses I"),
        (sympy.Integer(10) ** 5000, "too large"),
        (sympy.zeta(beta), "calls zeta"),
    ],
)
def test_what_is_no_formula_is_refused_with_a_reason(answer, says):
    assert says in refusal(answer)


def test_a_refusal_is_one_short_line_whatever_was_typed():
    for text in ["x\n+\n1", "y" * 1999, "(" * 1999]:
        assert "\n" not in refusal(text)
        assert len(refusal(text)) < 300


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').abort()",
        "beta.__class__",
        "().__class__.__bases__[0].__subclasses__()",
        "[x for x in (1, 2)]",
        "(x := 1)",
        "f'{beta}'",
        "lambda: 1",
        "lambda x: x",
        "beta if beta else 1",
        "beta and 1",
        "not beta",
        "{1: 2}",
        "beta[0]",
        "exp(*beta)",
        "exp(**beta)",
        "exp(x=1)",
        "await beta",
        "yield",
        "print(1)",
        "Sum(print(1), (i, 1, 2))",
        "Sum(1, (i, 1, 2), (i, 1, 2))",
        "Piecewise((1, exit()))",
        "import os",
        "beta; delta",
        "beta @ beta",
        "beta // 1",
        "beta % 1",
        "beta is beta",
        "1or 2",
        "...",
    ],
)
def test_python_beyond_arithmetic_is_refused(text):
    assert refusal(text)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text(alphabet="βδt012.()*/+-^=<>,[]{}'\"_:;λ√²½ \\lambdaSumPiecewise\n", max_size=40))
def test_any_text_is_read_or_refused_and_nothing_else_happens(text):
    try:
        formula = read_formula(text, SYMBOLS)
        formula.at(**POINT, **{"lambda": 7.0})
        formula.to_sympy()
    except FormulaError:
        pass


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_unicode_text_is_read_or_refused(text):
    with contextlib.suppress(FormulaError):
        read_formula(text, SYMBOLS)


# -- random formulas, written in many ways ---------------------------------------------------------

leaves = st.one_of(
    st.sampled_from([beta, delta, t]),
    st.integers(-9, 9).map(sympy.Integer),
    st.fractions(-3, 3, max_denominator=7).map(
        lambda f: sympy.Rational(f.numerator, f.denominator)
    ),
)


def combined(parts):
    pair = st.tuples(parts, parts)
    return st.one_of(
        pair.map(lambda p: p[0] + p[1]),
        pair.map(lambda p: p[0] - p[1]),
        pair.map(lambda p: p[0] * p[1]),
        pair.map(lambda p: p[0] / p[1] if p[1] != 0 else p[0]),
        st.tuples(parts, st.integers(-3, 3)).map(lambda p: p[0] ** p[1] if p[0] != 0 else p[0]),
        parts.map(lambda x: sympy.sqrt(x**2 + 1)),
        parts.map(lambda x: sympy.exp(-(x**2))),
        parts.map(lambda x: sympy.log(x**2 + 2)),
        parts.map(lambda x: sympy.Piecewise((x, beta < delta), (1 - x, True))),
    )


formulas = st.recursive(leaves, combined, max_leaves=8)


def greek(text):
    for name, letter in {"beta": "β", "delta": "δ", "**": "^", "*": "·", "-": "−"}.items():
        text = text.replace(name, letter)
    return text


WRITINGS = {
    "as SymPy": lambda e: e,
    "as SymPy prints it": str,
    "with Greek letters and signs": lambda e: greek(str(e)),
    "unparsed by Python": lambda e: ast.unparse(ast.parse(str(e))),
    "without spaces": lambda e: str(e).replace(" ", ""),
    "in brackets, after an equals sign": lambda e: f"y = ({e})",
    "factored": sympy.factor_terms,
    "with other assumptions": lambda e: e.subs(beta, sympy.Symbol("beta")),
}


@pytest.mark.parametrize("writing", WRITINGS)
@settings(derandomize=True, max_examples=25, deadline=None)
@given(formula=formulas)
def test_a_formula_has_the_value_sympy_gives_it_however_it_is_written(writing, formula):
    exact = formula.subs({beta: sympy.Rational(1, 2), delta: 2, t: 3})
    if not exact.is_finite or abs(exact) > 1e9:
        return
    answer = value(WRITINGS[writing](formula))
    assert answer == pytest.approx(float(exact), rel=1e-9, abs=1e-9)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(formula=formulas)
def test_a_formula_goes_to_sympy_and_back(formula):
    if formula.has(sympy.zoo, sympy.nan):
        return
    names = {"beta": beta, "delta": delta, "t": t}
    back = read_formula(str(formula), names).to_sympy(**names)
    point = {beta: sympy.Rational(1, 3), delta: sympy.Rational(5, 2), t: 4}
    assert float(back.subs(point)) == pytest.approx(float(formula.subs(point)), rel=1e-9)


# -- the rest of the interface ---------------------------------------------------------------------


def test_a_formula_may_apply_functions_that_are_given_later():
    formula = read_formula("Sum(beta**(t - i)*g(i), (i, 1, t))", ["beta", "t"], ["g"])
    assert formula.at(beta=0.5, t=2, g=lambda i: 10 * i) == pytest.approx(25)
    assert formula.to_sympy().has(sympy.Function("g"))
    with pytest.raises(FormulaError, match=r"β, t and g\(…\)"):
        read_formula("x", ["beta", "t"], ["g"])


def test_dividing_by_a_function_that_is_zero_is_no_error():
    formula = read_formula("g(1)/g(2)", [], ["g"])
    assert np.isnan(formula.at(g=lambda i: 0.0))


def test_a_declared_symbol_wins_over_a_constant_of_that_name():
    assert read_formula("e", ["e"]).at(e=5.0) == 5
    assert read_formula("e", []).at() == pytest.approx(np.e)


def test_sums_together_have_a_limited_number_of_terms():
    endless = read_formula("Sum(Sum(1, (j, 1, 9999)), (i, 1, 9999))", [])
    with pytest.raises(FormulaError, match="more than 100000 terms"):
        endless.at()


@pytest.mark.parametrize("bound", ["t/2", "1/(t - 3)", "oo", "log(-t)"])
def test_a_sum_without_a_whole_number_of_terms_has_no_value(bound):
    formula = read_formula(f"Sum(1, (i, 1, {bound}))", ["t"])
    with pytest.raises(FormulaError, match="no whole number of terms"):
        formula.at(t=3)


def test_cases_that_do_not_apply_are_not_evaluated():
    assert value("Piecewise((1, beta < 1), (Sum(beta**i, (i, 0, oo)), True))") == 1


def test_what_is_not_finite_is_a_value_not_an_error():
    assert np.isinf(read_formula("1/(1 - t)", ["t"]).at(t=1))
    assert np.isnan(read_formula("log(-t)", ["t"]).at(t=1))


def test_a_float_stays_a_float_and_a_fraction_exact_on_the_way_to_sympy():
    assert read_formula("1/3", []).to_sympy() == sympy.Rational(1, 3)
    assert read_formula(Fraction(1, 3), []).to_sympy() == sympy.Rational(1, 3)
    assert read_formula("0.5*beta", ["beta"]).to_sympy().atoms(sympy.Float)


def test_names_have_one_spelling_and_one_look():
    assert [canonical(n) for n in ("β", "lambda", "λ_1", "theta_0")] == [
        "beta",
        "lamda",
        "lamda_1",
        "theta_0",
    ]
    assert [pretty(n) for n in ("beta", "lambda", "theta_0", "v_prev")] == [
        "β",
        "λ",
        "θ_0",
        "v_prev",
    ]


def test_summation_indices_are_no_names_of_a_formula():
    tree = read_formula("Sum(beta**i, (i, 1, t)) + 1", ["beta", "t"]).tree
    assert names_in(tree) == {"beta", "t"}
