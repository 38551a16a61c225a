r"""Formulas as other systems test them: LaTeX, typed answers, pairs that are equal or not.

The kinds of cases are those of SymPy's and latex2sympy's LaTeX, PrairieLearn's typed answers and
STACK's algebraic equivalence, in letters and numbers of our own.
"""

import pytest
import sympy

from course_utils.derivation import Derivation, integers, positive, real
from selfcheck.formula import FormulaError, read_formula

p, q, r, s = sympy.symbols("p q r s")
mu1, phi = sympy.symbols("mu1 phi")
NAMES = ["p", "q", "r", "s", "mu1", "phi", "u_0", "u_a"]
F = sympy.Function("F")


def read(text):
    return read_formula(text, NAMES, ["F"], calculus=True).to_sympy()


def same(one, two):
    """At a point of positive numbers; what SymPy can carry out is carried out."""
    two = sympy.sympify(two)
    at = {
        x.name: sympy.Rational(3 + 2 * k, 7)
        for k, x in enumerate(sorted(two.free_symbols, key=str))
    }

    def value(e):
        put = e.subs({x: at.get(x.name, sympy.Rational(5, 3)) for x in e.free_symbols})
        return complex(sympy.N(put.doit()))

    return abs(value(one) - value(two)) < 1e-9


LATEX = [
    ("-2.71", -2.71),
    (r"(-6.02)(2.5)", -15.05),
    ("p^{2 + 1}", p**3),
    (r"p \div q", p / q),
    (r"\sin \phi", sympy.sin(phi)),
    (r"\sin p \cos q", sympy.sin(p) * sympy.cos(q)),
    (r"\sin \cos \phi", sympy.sin(sympy.cos(phi))),
    (r"(\csc p)(\sec q)", sympy.csc(p) * sympy.sec(q)),
    (r"\frac{p + q}{r}", (p + q) / r),
    (r"\frac{9}{4}", 2.25),
    (r"\frac{d}{dp} p^3", 3 * p**2),
    (r"\frac{d}{dp} [ \tan p ]", 1 + sympy.tan(p) ** 2),
    (r"|p||q|", abs(p * q)),
    (r"\int_1^4 dp", 3),
    (r"\int_q^r p\,dp", (r**2 - q**2) / 2),
    (r"\int^{r}_{q} p dp", (r**2 - q**2) / 2),
    (r"\int_1^2 \frac{dp}{p}", sympy.log(2)),
    ("5!", 120),
    ("(p + 1)!", sympy.factorial(p + 1)),
    (r"4!3!", 144),
    (r"\sqrt{p + q}", sympy.sqrt(p + q)),
    (r"\sqrt[3]{\sin p}", sympy.sin(p) ** sympy.Rational(1, 3)),
    (r"\mathit{p}", p),
    (r"\sum_{k = 1}^{4} r", 4 * r),
    (r"\sum^5_{k = 1} k^2", 55),
    (r"\prod_{k = 2}^{4} q", q**3),
    (r"\ln p", sympy.log(p)),
    (r"\log_{3} p", sympy.log(p, 3)),
    (r"\log_q p", sympy.log(p, q)),
    ("[p + q]", p + q),
    ("u_0 + u_{a}", sympy.Symbol("u_0") + sympy.Symbol("u_a")),
    (r"\lim_{k \to \infty} \frac{p k}{k + 1}", p),
    (r"\lim_{k \to 0^{+}} \frac{\sin k}{k}", 1),
    (r"\begin{cases} p & q > 0 \\ r & \text{otherwise} \end{cases}", p),
    (r"\binom{5}{2}", 10),
    (r"e^{\ln p}", p),
    (r"\left\lfloor \frac{7}{2} \right\rfloor", 3),
    (r"\max(p, q, 9)", 9),
    (r"2\,p\;q", 2 * p * q),
    (r"\dfrac{p}{2} + \tfrac{p}{2}", p),
]
TYPED = [
    ("1 + μ1", 1 + mu1),
    ("p − q", p - q),
    ("p - （q + p）", -q),
    ("p ＋ q", p + q),
    ("Max(p, q)", sympy.Max(p, q)),
    ("min(r, p, q)", sympy.Min(r, p, q)),
    ("abs(sign(r))", 1),
    ("p r", p * r),
    ("p/-q", -p / q),
    ("2^p + 7", 2**p + 7),
    ("pq^(-1)", p / q),
    ("factorial(2p)", sympy.factorial(2 * p)),
    ("p! + q", sympy.factorial(p) + q),
    ("cos**2 (p)", sympy.cos(p) ** 2),
    ("+6p", 6 * p),
    ("7p + 3q", 7 * p + 3 * q),
    ("sqrt(49)", 7),
    ("sin 4p", sympy.sin(4 * p)),
    ("arccos(p/9)", sympy.acos(p / 9)),
    ("asin(p/9)", sympy.asin(p / 9)),
    ("e", sympy.E),
    ("exp(p)", sympy.exp(p)),
    ("log(p)", sympy.log(p)),
    ("ln(p)*tan(q)", sympy.log(p) * sympy.tan(q)),
    ("F(p) - F(p)", 0),
]


@pytest.mark.parametrize(("text", "meant"), [*LATEX, *TYPED])
def test_a_formula_is_read_as_it_is_meant(text, meant):
    assert same(read(text), meant)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (r"\sin^{-1} p", "two ways"),
        (r"\ln pq", "two ways"),
        ("sin pq", "two ways"),
        ("p log^2 3p", "two ways"),
        (r"\int p\,dp", "without limits"),
        (r"\int (p + q)", "has no dp|no dx"),
        ("x_1", "uses x_1"),
        ("i*p", "uses i"),
        ("G(p)", "calls G|uses G|lacks a sign|two ways"),
        ("(", "bracket|ends|missing"),
        ("p / q /", "missing|ends|not a formula"),
        (r"\frac{d}{dp}", "missing|not a formula|ends"),
        ("p = q", "equation"),
        ("p, q", "several|one formula|not a formula|list"),
        (r"\lim_{k} k", "where its variable goes"),
    ],
)
def test_what_has_two_meanings_or_none_is_refused(text, says):
    with pytest.raises(FormulaError, match=says):
        read(text)


EQUAL = [
    ("9**(-1/2)", "1/3"),
    ("0.25", "1/4"),
    ("6.2e-2", "31/500"),
    ("(0.25 + u)*4", "4*u + 1"),
    ("(u + 2)**3", "u**3 + 6*u**2 + 12*u + 8"),
    ("(u - v)*(u + v)", "u**2 - v**2"),
    ("sin(u)**2 + cos(u)**2", "1"),
    ("2*cos(u)**2 - 1", "cos(2*u)"),
    ("1.2*sin(3*u)", "6*sin(3*u)/5"),
    ("exp(u)*exp(v)", "exp(u + v)"),
    ("sqrt(12)", "2*sqrt(3)"),
    ("1/(1/u + 1/v)", "u*v/(u + v)"),
    ("ln(w**3)", "3*ln(w)"),
    ("log(w)/log(2) + log(8)/log(2)", "log(8*w)/log(2)"),
    ("abs(u*v)", "abs(u)*abs(v)"),
    ("(w**2)**(1/2)", "w"),
    ("sinh(u)", "(exp(u) - exp(-u))/2"),
    ("m!/(m - 1)!", "m"),
    ("max(u, v)", "(u + v + abs(u - v))/2"),
    ("tan(u)*cos(u)", "sin(u)"),
    ("8**(1/3)*w", "2*w"),
]
DIFFERENT = [
    ("0.33", "1/3"),
    ("0.9999999", "1"),
    ("(u + 1)**2", "u**2 + 1"),
    ("sqrt(u**2)", "u"),
    ("sin(u)**2 - cos(u)**2", "1"),
    ("exp(u) + exp(v)", "exp(u + v)"),
    ("ln(w + 1)", "ln(w) + 1"),
    ("exp(300*u)", "exp(299*u)"),
    ("0.1*(2.0*u + 6.00001)", "(u + 3)/5"),
    ("1/(u + v)", "1/u + 1/v"),
    ("u**3", "u*u"),
    ("cos(2*u)", "2*cos(u)"),
    ("w**(1/2) + w**(1/2)", "w"),
    ("abs(u + v)", "abs(u) + abs(v)"),
    ("m!", "m*(m - 2)!"),
    ("u*v**-1*w", "u/(v*w)"),
    ("floor(u)", "u"),
    ("2**(-u)", "-2**u"),
]
WHERE = {"u v": real, "w": positive, "m": integers(2, 9)}


def judged(one, two):
    return Derivation(one, [("=", two, "")], where=WHERE).check().lines[0]


@pytest.mark.parametrize(("one", "two"), EQUAL)
def test_equal_formulas_are_equal_or_told_where(one, two):
    line = judged(one, two)
    assert line.mark in ("proved", "held") or "It holds where" in line.sentence, line.sentence


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_different_formulas_are_different(one, two):
    assert judged(one, two).mark == "false"
