r"""LaTeX as textbooks, papers and students write it: judged by what is true, or refused.

A letter says what is true of each line: t true, f false, ? refused or not to be judged, s a new
start. What looks like one thing and may be another is refused with a sentence.
"""

import ast

import pytest

from course_utils.derivation import (
    Derivation,
    activation,
    integers,
    interval,
    invertible,
    matrix,
    positive,
    random,
    real,
    sequence,
    simplex,
    vector,
)
from selfcheck.derivation.array_functions import ARRAY_FUNCTIONS, array_function
from selfcheck.derivation.lines import START
from selfcheck.formula import FormulaError, read_formula

X, XY, V = {"x": real}, {"x y": real}, {"u v": vector("n")}
P = {"p q r": positive}
SQUARE = {"A B": matrix("n", "n"), "x": vector("n")}
BLOCKS = {
    "A": invertible("n"), "B": matrix("n", "m"), "C": matrix("m", "n"), "D": invertible("m"),
    "x": vector("n"), "y": vector("m"), "c": real,
}  # fmt: skip
ROWS = {"x": sequence(vector("d")), "w": vector("d"), "n": integers(2, 4)}
F = {"x": real, "f": activation()}


def marks(tex, where, **more):
    derivation = Derivation(tex, where=where, **more)
    letters = {"proved": "t", "held": "t", "false": "f"}
    return "".join(
        "s" if line.relation == START and report.mark == "held" else letters.get(report.mark, "?")
        for line, report in zip(derivation.lines, derivation.check().lines, strict=True)
    )


@pytest.mark.parametrize(
    ("tex", "where", "truth"),
    [
        # bars know where they end
        (r"\left|x|y|x\right| = x^2|y|", XY, "t"),
        (r"||x|-|y|| \le |x-y|", XY, "t"),
        (r"\lvert x \rvert y \lvert x \rvert = x^2 y", XY, "t"),
        # marks above and behind a name
        (r"\theta^* - \theta = -(\theta - \theta^{*})", {r"\theta \theta^*": real}, "t"),
        (r"\theta^* = \theta", {r"\theta \theta^*": real}, "f"),
        (r"(W^{(1)} + W^{(2)})x = \mathbf{W}^{(1)}x + \mathbf{W}^{(2)}x",
         {"W^{(1)} W^{(2)}": matrix("n", "n"), "x": vector("n")}, "t"),
        (r"w^{\text{new}} - w = w^{\mathrm{new}} - w", {r"w^{new} w": real}, "t"),
        (r"x' + x = x + x^\prime", {"x x'": real}, "t"),
        (r"x' = x", {"x x'": real}, "f"),
        (r"\dot x + x = x + \dot{x}", {r"\dot{x} x": real}, "t"),
        (r"\|x\|^2_2 = x^\top x", SQUARE, "t"),
        (r"B^T(BB^T)B = (B^TB)^2", SQUARE, "t"),
        (r"{\bf u}^\top {\bf v} = \mathbf{v}^\intercal\mathbf{u}", V, "t"),
        (r"{\rm tr}(AB) = \text{tr}(BA)", SQUARE, "t"),
        # products of vectors, and nothing as an array
        (r"u\cdot v = v^\top u = -u\cdot v", V, "tf"),
        (r"(u+v)\cdot(u-v) = \|u\|^2 - \|v\|^2", V, "t"),
        (r"A(x - x) = 0", SQUARE, "t"),
        (r"Ax = 0", SQUARE, "f"),
        # blocks
        (r"\begin{bmatrix} A & B \\ C & D \end{bmatrix} \begin{bmatrix} x \\ y \end{bmatrix}"
         r"= \begin{bmatrix} Ax + By \\ Cx + Dy \end{bmatrix}", BLOCKS, "t"),
        (r"\begin{bmatrix} A & B \\ C & D \end{bmatrix} \begin{bmatrix} x \\ y \end{bmatrix}"
         r"= \begin{bmatrix} Ax + By \\ Cx - Dy \end{bmatrix}", BLOCKS, "f"),
        (r"\begin{pmatrix} A & B \\ 0 & D \end{pmatrix}^{-1}"
         r"= \begin{pmatrix} A^{-1} & -A^{-1}BD^{-1} \\ 0 & D^{-1} \end{pmatrix}", BLOCKS, "t"),
        (r"\begin{bmatrix} A & x \\ x^\top & c \end{bmatrix} \begin{bmatrix} x \\ 1 \end{bmatrix}"
         r"= \begin{bmatrix} Ax + x \\ x^\top x + c \end{bmatrix}", BLOCKS, "t"),
        (r"\begin{bmatrix} I & B \\ 0 & I \end{bmatrix}\begin{bmatrix} I & -B \\ 0 & I"
         r"\end{bmatrix} = I", BLOCKS, "t"),
        (r"\begin{bmatrix} x_1^\top \\ \vdots \\ x_n^\top \end{bmatrix} w"
         r"= \begin{bmatrix} x_1^\top w \\ \vdots \\ x_n^\top w \end{bmatrix}", ROWS, "t"),
        (r"\begin{bmatrix} A & C \\ B & D \end{bmatrix} = 0", BLOCKS, "?"),
        (r"\begin{bmatrix} 0 & 0 \\ 0 & A \end{bmatrix} = 0", BLOCKS, "?"),
        # sums over two indices, without an end, by cases
        (r"\sum_{i<j} u_iu_j = \tfrac12\left[\left(\sum_i u_i\right)^2 - \sum_i u_i^2\right]",
         V, "t"),
        (r"\sum_{i\ne j} u_iv_j = \sum_i u_i \sum_j v_j - u^\top v = \sum_{i,j} u_iv_j", V, "tf"),
        (r"\sum_{k\ge0} x^k = \frac{1}{1-x}", {"x": interval(0, 0.9)}, "t"),
        (r"\sum_i \begin{cases} u_i & u_i > 0 \\ 0 & \text{else} \end{cases} = \sum_i u_i", V, "f"),
        # calculus
        (r"\int_0^1\int_0^1 (x + 2y)\,dx\,dy = \frac32", {}, "t"),
        (r"\int_{-\infty}^\infty e^{-px^2}\,dx = \sqrt{\frac{\pi}{p}}", P, "t"),
        (r"\int_{-\infty}^\infty e^{-px^2}\,dx = \sqrt{\frac{\pi}{2p}}", P, "f"),
        (r"\partial_x x^3 = 3x^2", X, "t"),
        (r"\frac{d}{dx} f(x^2) = 2x f'(x^2) = xf'(x^2)", F, "tf"),
        (r"\Gamma(p+1) = p\,\Gamma(p)", P, "t"),
        (r"(p+q)^2 = \sum_{k=0}^{2} {2 \choose k} p^k q^{2-k}", P, "t"),
        (r"{p \over q} \div r = \frac{p}{qr}", P, "t"),
        (r"25\% \cdot x = \frac x4", X, "t"),
        # words are no factors
        (r"x^2 \ge 0 \text{ for } y > 1", XY, "t"),
        (r"x + x = 2x \text{ if } y = 3", XY, "t"),
        (r"x + x = 2x \text{ (twice)} = 3x", XY, "tf"),
        (r"x^2 \ge 0 \quad (y > 3)", XY, "t"),
        (r"x + x = 2x \text{ and } y + y = 3y", XY, "t?"),
        (r"x^2 \ge 0, \quad y^2 \ge 1", XY, "t?"),
        (r"x > 0 \implies x^2 > 0", X, "?s"),
        (r"x = 2 \iff 2x = 4", X, "?s"),
        # random quantities and probabilities
        (r"-\sum_i p_i \ln p_i \le \ln n", {"p": simplex("n")}, "t"),
        (r"\operatorname{Var}[X+Y] = \operatorname{Var}[X] + 2\operatorname{Cov}[X,Y]"
         r"+ \operatorname{Var}[Y]", {"X Y": random()}, "t"),
    ],
)  # fmt: skip
def test_a_line_is_judged_by_what_is_true(tex, where, truth):
    assert marks(tex, where) == truth


def reading(text, symbols=("x", "y", "n", "k"), functions=()):
    return ast.unparse(read_formula(text, symbols, functions, calculus=True).tree)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("βv_prev", "beta * v_prev"),
        ("2βv_prev + w", "2 * beta * v_prev + w"),
        (r"h_{\theta}(w)", "h_theta(w)"),
        ("wf(w)", "w * f(w)"),
        (r"w \bmod 7", "Mod(w, 7)"),
        (r"\gcd(12, 18)", "gcd(12, 18)"),
        ("arctan2(w, 2)", "atan2(w, 2)"),
        ("-infty", "-oo"),
        ("1,500E-1", "150.0"),
        (r"w^{\left\{2 + 1\right\}}", "w ** (2 + 1)"),
        (r"\lim_{k \Rightarrow 3} w", "Limit(w, (k, 3, 0))"),
        (r"\operatorname{arsinh}(w)", "asinh(w)"),
    ],
)
def test_a_form_of_other_systems_is_read(text, tree):
    assert reading(text, ["beta", "v_prev", "v", "w"], ["f", "h_theta"]) == tree


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (r"3\frac12", "did you mean `3 + 1/2` or `3*(1/2)`?"),
        (r"x + y \bmod 3", "of what is this the remainder? Use brackets"),
        ("5 % x", "is this a remainder?"),
        ("f + x", "after f its argument is missing"),
        (r"\phi + \varphi", r"\phi and \varphi are one name here"),
        (r"\left|x|y", "this | is never closed"),
        (r"x \ll y", "does not say how much less"),
        (r"\sum_{k \le n} x", "the bounds of k are missing"),
        (r"{x^*}", "^* is not declared here"),
        (r"x'", "' is not arithmetic"),
        (r"x\y", r"'\y' is not arithmetic"),
        ("1 + 2 + 4 + ... + n", "does not fit the others"),
        ("3 + 1 + 2 + ... + n", "do not go by one step"),
        (r"\sin x/2", r"`\sin(x)/2` or `\sin(x/2)`?"),
        (r"\int_0^1 dx x^2", "what is integrated stands before its dx"),
        (r"\sum_{k \in S} x", "a sum over a set is not computed here"),
        (r"\frac{\partial^3 x^3}{\partial x^2}", "different orders of a derivative"),
        (r"\Gamma x", "uses Γ"),
    ],
)
def test_what_may_mean_something_else_is_refused(text, says):
    with pytest.raises(FormulaError) as refused:
        read_formula(text, ["x", "y", "n", "phi"], ["f"], calculus=True)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("tex", "ways"), [("f^2(x)", "`f(…)**(2)` or f(f(…))?"), ("f^{-1}(x)", "or the inverse of f?")]
)
def test_a_power_of_a_function_may_be_the_function_twice(tex, ways):
    assert ways in Derivation(f"{tex} = x", where=F).check().sentence


ARRAYS = {
    "A B": matrix("n", "n"), "u": vector("n"), "g": sequence(vector("n")), "i": integers(1, 1)
}  # fmt: skip


@pytest.mark.parametrize(
    ("tex", "says"),
    [
        ("u[i]", "did you mean `u*[i]`?"),
        ("A[1][1]", "lacks a sign"),
        ("g(i)[i]", "lacks a sign"),
        (r"A^{-1}_{ii}", "of what is this the index?"),
        (r"A_{ii}^{-1}", "`(A^{-1})_{ij}` or `1/A_{ij}`?"),
        (r"A_{ii}^\top", r"write (A^\top)_{ij}"),
        (r"\operatorname{softmax}(AB)", "needs its index, such as softmax_row"),
        (r"\begin{bmatrix} A & u \\ u & A \end{bmatrix}", "the blocks of this matrix do not fit"),
    ],
)
def test_an_index_in_brackets_or_behind_a_power_is_no_factor(tex, says):
    assert says in Derivation(f"{tex} = A", where=ARRAYS).check().sentence


@pytest.mark.parametrize(
    ("tex", "where", "truth"),
    [
        (r"E[aX + Y] = aE[X] + E(Y)", {"X Y": random(), "a": real}, "t"),
        (r"\operatorname{E}[XY] = \mathrm{E}[X]\mathbf{E}[Y]", {"X Y": random()}, "f"),
        (r"e^{x+y} = e^xe^y = e^{x}y", XY, "tf"),
        (r"\sum_{i=1}^nu_i = \mathbf{1}^\top u", V, "t"),
        (r"u_iv_i = v_iu_i", {**V, "i": integers(1, 1)}, "t"),
        (r"\frac{\partial^2}{\partial x \partial y} x^2y^3 = 6xy^2", XY, "t"),
        (r"\frac{d^2}{dx^2} x^3 = 6x = 3x^2", X, "tf"),
        (r"\operatorname*{max}_i u_i \ge \min_i u_i", V, "t"),
        (r"\boxed{x + y}\hspace{1em} = \textcolor{red}{y} + x \notag", XY, "t"),
        (r"\newcommand{\size}[1]{\left\lVert#1\right\rVert} \size{u + v} \le \size{u} + \size{v}",
         V, "t"),
        (r"x = x \ne y = y", XY, "?s"),
        (r"\mathrm{ab} = ab", {"a b": real}, "?"),
        (r"n(n-1)\cdots 1 = n!", {"n": integers(3, 6)}, "t"),
        (r"\hat{u_1} = \hat{u}_1", {r"\hat{u}": vector("n")}, "t"),
        (r"x + x = 2x, \; y + y = 3y", XY, "t?"),
        (r"x = x, y = y", XY, "t?"),
        (r"x^2 \ge 0, \; y > 1", XY, "t"),
        (r"x + x &= 2x \\[2ex] &= 3x", XY, "tf"),
        (r"\sum_{i}\sum_{j \ne i} u_iu_j = \sum_{i \ne j} u_iu_j = \sum_{i,j} u_iu_j", V, "tf"),
        (r"\sum_{i}\sum_{j > i} u_iu_j = \sum_{i<j} u_iu_j", V, "t"),
        (r"x + x = 2x \\ \overline{x + y} = 1 \\ y + y = 2y", XY, "t??st"),
    ],
)  # fmt: skip
def test_signs_side_by_side_are_those_of_tex(tex, where, truth):
    assert marks(tex, where) == truth


def test_a_capital_e_is_an_expectation_or_has_to_be_declared():
    assert marks(r"E = \frac12 mv^2", {"m v": positive}) == "?"
    assert marks(r"E = E", {"E": real}) == "t"
    assert marks("E**x = exp(x)", X) == "t"


def test_a_line_that_can_be_computed_for_one_entry_only_has_not_held():
    """The hidden part of the function refuses more."""
    array_function("only", _of_one_entry, "number")
    try:
        line = Derivation(r"\operatorname{only}(u) = u_1", where=V).check().lines[0]
    finally:
        del ARRAY_FUNCTIONS["only"]
    assert "only where a size is 1" in line.sentence


def _of_one_entry(x):
    if len(x) > 1:
        raise TypeError
    return x[0, 0]


def test_a_percent_sign_begins_a_comment_only_where_words_follow():
    assert marks("x + x = 2x % counted twice", X) == "t"
    assert marks("x % y = y", XY) == "?"


def test_an_entry_of_a_matrix_has_a_comma_where_it_needs_one():
    where = {"a": matrix(3, 3), "i j": integers(1, 2)}
    assert marks("a_{i+1j} = a_{i+1j}", where) == "?"
    assert marks("a_{i+1,j} = a_{i+1,j}", where) == "t"


def test_a_start_that_cannot_be_read_says_why():
    derivation = Derivation(r"x \propto y", where=XY)
    assert "does not say by which factor" in str(derivation)
    assert "does not say by which factor" in derivation._repr_markdown_()


def test_remainders_and_divisors_are_those_of_numbers_not_of_letters():
    where = {"m n": integers(1, 9)}
    assert marks(r"\gcd(m, n) = \gcd(n, m)", where) == "t"
    assert marks(r"\gcd(m, n) \operatorname{lcm}(m, n) = mn", where) == "t"
    assert marks(r"\gcd(m, n) = 1", where) == "f"
    assert marks(r"(m + n) \bmod n = m \bmod n", where) == "t"
    assert marks(r"2m \bmod n = m \bmod n", where) == "f"
