r"""Derivations as people write them: pasted LaTeX, judged line by line.

The cases are those of homework and textbooks on recurrent networks, averages and attention, in our
own words; the marks say what is true of each line: t true, f false, ? not to be judged.
"""

import numpy as np
import pytest

from course_utils.derivation import (
    Derivation,
    activation,
    function,
    iid,
    integers,
    interval,
    invertible,
    matrix,
    orthogonal,
    positive,
    random,
    real,
    sequence,
    simplex,
    symmetric,
    vector,
)
from selfcheck.derivation.pasted import rows_of
from selfcheck.forms import Forms
from selfcheck.formula import FormulaError
from selfcheck.kinds import Lines, Unreadable

X = {"x y": vector("n")}
AB = {"A": matrix("n", "m"), "B": matrix("m", "k")}
SQUARE = {"A B": invertible("n"), "u v": vector("n")}
RNN = {
    "W": matrix("n", "n"), "U": matrix("n", "m"), "x": sequence(vector("m")), "b": vector("n"),
    "h": sequence(vector("n")), "sigma": activation(), "t": integers(2, 4), "k": integers(0, 1),
}  # fmt: skip
NEXT = {"h_t": r"W\sigma(h_{t-1}) + U x_t + b"}
MEAN = {"beta": interval(0, 1), "v g": sequence(vector("n")), "t": integers(4, 6)}
AVERAGE = {"v_t": r"\beta v_{t-1} + (1-\beta) g_t"}
Z = {"z": vector("n"), "i j": integers(1, 2)}
SUM = {"q": interval(0, 1), "n": integers(2, None)}
SLOPE = {"w": vector("n"), "X": matrix("m", "n"), "y": vector("m")}


def marks(tex, where, **more):
    letters = {"proved": "t", "held": "t", "false": "f"}
    return "".join(
        letters.get(line.mark, "?") for line in Derivation(tex, where=where, **more).check().lines
    )


@pytest.mark.parametrize(
    ("tex", "where", "truth"),
    [
        # vectors and matrices
        (r"\|\mathbf{x}+\mathbf{y}\|^2 = \|x\|^2 + 2x^\top y + \|y\|^2 = \|x\|^2 + \|y\|^2",
         X, "tf"),
        (r"|x^\top y| \le \|x\|\,\|y\| \le \|x\|", X, "tf"),
        (r"\|x + y\|_2 \le \|x\|_2 + \|y\|_2", X, "t"),
        (r"\|x\|_\infty \le \|x\|_2 \le \|x\|_1", X, "tt"),
        (r"\langle x, y \rangle = \sum_{i=1}^{n} x_i y_i = \sum_i x_i y_i", X, "tt"),
        (r"(AB)^\top = B^\top A^\top", AB, "t"),
        (r"\|AB\|_2 \le \|AB\|_F \le \|A\|_F\|B\|_F", AB, "tt"),
        (r"(AB)_{ij} = \sum_k A_{ik} B_{kj}", {**AB, "i j": integers(1, 1)}, "t"),
        (r"(AB)^{-1} = B^{-1}A^{-1}", SQUARE, "t"),
        (r"(AB)^{-1} = A^{-1}B^{-1}", SQUARE, "f"),
        (r"\operatorname{tr}(uv^\top) = v^\top u = u v^\top", SQUARE, "tf"),
        (r"A A^{-1} = I = A^{-1} A", SQUARE, "tt"),
        (r"Q^\top Q = I", {"Q": orthogonal("n")}, "t"),
        (r"S^\top = S = -S", {"S": symmetric("n")}, "tf"),
        (r"\|x - \bar{x}\mathbf{1}\|^2 = \|x\|^2", {"x": vector("n"), r"\bar{x}": real}, "f"),
        (r"\mathbf{1}^\top x = \sum_i x_i", X, "t"),
        (r"\begin{bmatrix} a & b \\ b & a \end{bmatrix} \begin{bmatrix} 1 \\ 1 \end{bmatrix}"
         r"= (a+b) \begin{bmatrix} 1 \\ 1 \end{bmatrix}", {"a b": real, "x": vector("n")}, "t"),
        # functions of vectors
        (r"\frac{\partial \operatorname{softmax}(z)}{\partial z}"
         r"= \operatorname{diag}(\operatorname{softmax}(z))"
         r"- \operatorname{softmax}(z) \operatorname{softmax}(z)^\top", Z, "t"),
        (r"\frac{\partial}{\partial z_i} \ln \sum_j e^{z_j} = \frac{e^{z_i}}{\sum_j e^{z_j}}",
         {"z": vector(3), "i": integers(1, 3)}, "t"),
        (r"\max_i z_i \le \ln \sum_i e^{z_i} \le \max_i z_i + \ln n", {"z": vector("n")}, "tt"),
        (r"\sum_i p_i \ln\frac{p_i}{q_i} \ge 0", {"p q": simplex("n")}, "t"),
        (r"\nabla_w \frac12 \|Xw - y\|^2 = X^\top(Xw - y) = X(Xw - y)", SLOPE, "t?"),
        # sums, in numbers
        (r"\sum_{k=0}^{n} q^k = \frac{1-q^{n+1}}{1-q} = \frac{1-q^n}{1-q}", SUM, "tf"),
        (r"1 + q + q^2 + \cdots + q^{n-1} = \frac{1-q^n}{1-q}", SUM, "t"),
        # random quantities
        (r"\mathbb{E}[(X-\mathbb{E}[X])^2] = \mathbb{E}[X^2] - \mathbb{E}[X]^2",
         {"X": random()}, "t"),
        (r"\mathbb{E}[(X-\mathbb{E}X)^3] = 0", {"X": random()}, "f"),
        (r"\mathbb{E}[XY] = \mathbb{E}[X]\mathbb{E}[Y]", {"X Y": random()}, "f"),
        (r"\mathbb{E}[XY] = \mathbb{E}[X]\mathbb{E}[Y]", {"X Y": random(independent=True)}, "t"),
        (r"\mathbb{E}[aX + bY] = a\mathbb{E}[X] + b\mathbb{E}[Y]",
         {"X Y": random(), "a b": real}, "t"),
        (r"\mathbb{E}[Mx] = M\mathbb{E}[x]",
         {"M": matrix("n", "m"), "x": random(vector("m"))}, "t"),
        (r"\mathbb{E}\left[\sum_{i=1}^{t} g_i\right] = t\,\mathbb{E}[g] = \mathbb{E}[g]",
         {"g": iid(), "t": integers(2, 4)}, "tf"),
        (r"\operatorname{Var}(X) = \mathbb{E}[X^2] - \mathbb{E}[X]^2", {"X": random()}, "t"),
        # as TeX takes its arguments, without braces
        (r"\frac x2 = \frac{x}{2} = x \cdot 2^{-1} = \frac2x", {"x": positive}, "ttf"),
        (r"\frac xy z = \frac{xz}y", {"x y z": positive}, "t"),
        (r"\sum_{i=1}^n w_ix_i = w^\top x = 2\sum_{i=1}^n w_ix_i", {"w x": vector("n")}, "tf"),
        (r"x^\top A x = \sum_{i=1}^n\sum_{j=1}^n A_{ij}x_ix_j",
         {"x": vector("n"), "A": matrix("n", "n")}, "t"),
        # reasons above signs and below braces
        (r"a \stackrel{(1)}{\le} a + 1 \overset{!}{=} a", {"a": real}, "tf"),
        (r"\underbrace{a + a}_{\text{two}} + \overbrace{b}^{b} = 2a + b", {"a b": real}, "t"),
        (r"\mathbb{1}^\top x = \sum_i x_i", X, "t"),
        (r"\|\hat y - x\| = \|x - \hat{y}\|", {r"\hat y": vector("n"), "x": vector("n")}, "t"),
        (r"\beta x + \hat y = \hat{y} + x\beta", {r"\beta x \hat y": real}, "t"),
        # functions that are not known
        (r"\theta - \eta\frac{\partial L(\theta) + \gamma\|\theta\|^2}{\partial\theta}"
         r"= \theta - \eta\frac{\partial L(\theta)}{\partial\theta} - 2\eta\gamma\theta",
         {"theta": vector("p"), "L": function(), "eta gamma": positive}, "t"),
        (r"\frac{d}{da} L(a^2) = 2a L'(a^2) = L'(a^2)", {"a": real, "L": function()}, "tf"),
        # transposes, indices and norms as they are typed or pasted
        ("‖x − y‖² = xᵀx − 2 xᵀy + yᵀy = xᵀx − xᵀy + yᵀy", {"x y": vector("n")}, "tf"),
        ("(AB)ᵀ = BᵀAᵀ = AᵀBᵀ", {"A B": matrix("n", "n")}, "tf"),
        ("x^⊤y = y^⊤x", {"x y": vector("n")}, "t"),
        ("I_n x = x", {"x": vector("n")}, "t"),
        (r"{h}_{t} = h⁽ᵗ⁾ = h_{t-1}", {"h": sequence(vector("n")), "t": integers(2, 5)}, "tf"),
        (r"\vec 1^\top (x + \vec 0) = \sum_i x_i", X, "t"),
        (r"\norm{x - y}^2 = \|y - x\|_2^2", {"x y": vector("n")}, "t"),
        (r"\left[\begin{array}{cc} a & 0 \\ 0 & 1 \end{array}\right]"
         r"\left[\begin{array}{l} 2 \\ 3 \end{array}\right]"
         r"= \begin{bmatrix} 2a \\ 3 \end{bmatrix}", {"a": real, "A": matrix("n", "n")}, "t"),
        # an index that is declared by itself stays within its vector
        (r"\max_j x_j \ge x_i > \max_j x_j - 1", {"x": vector("n"), "i": integers(1, 4)}, "tf"),
        (r"\sum_{j=1, j \ne i}^{n} x_j = \sum_j x_j - x_i = \sum_j x_j",
         {"x": vector("n"), "i": integers(1, 3)}, "tf"),
        (r"\sum_{\substack{j=1\\ j\ne i}}^{n} x_j = \sum_j x_j - x_i",
         {"x": vector("n"), "i": integers(1, 3)}, "t"),
        (r"\sum_j \mathbf 1[j \le i]\,x_j = \sum_{j \le i} x_j = \sum_{j < i} x_j",
         {"x": vector("n"), "i": integers(1, 3)}, "tf"),
        (r"\mathbb{1}_{\{a > 0\}} a = \max(a, 0) = \mathbf 1\{a > 1\} a",
         {"a": real, "x": vector("n")}, "tf"),
        # laws and variances
        (r"\mathop{\mathbb{E}}_{X \sim p}[X^2] - \mathbb{E}^2[X] = \operatorname{var}(X)"
         r"= \mathbb{V}[X] = \mathbb{E}[X^2]", {"X": random()}, "ttf"),
        # spaces and frames
        (r"a \quad = \quad a + 0 \qquad\le\qquad a - 1", {"a": real}, "tf"),
        (r"\begin{alignat*}{2} a + b &= b + a \\ &= a \end{alignat*}", {"a b": real}, "tf"),
        # an integral over vectors, and the normal law
        (r"\int_x e^{-\frac12 \|x - y\|^2} d\mathbf{x} = 2\pi = \pi", {"x y": vector(2)}, "tf"),
        (r"\mathbb{E}_{x \sim \mathcal{N}(0, I)}[e^{x^\top y}] = e^{\|y\|^2/2}",
         {"x y": vector(2)}, "t"),
    ],
)  # fmt: skip
def test_every_line_is_judged_by_what_it_means(tex, where, truth):
    assert marks(tex, where) == truth


def test_a_recurrent_network_has_its_jacobians():
    tex = r"""\begin{aligned}
        \frac{\partial \boldsymbol{h}_t}{\partial \boldsymbol{h}_{t-1}}
        &= \boldsymbol{W} \operatorname{diag}(\sigma'(\boldsymbol{h}_{t-1})) \\
        &= \operatorname{diag}(\sigma'(\boldsymbol{h}_{t-1})) \boldsymbol{W} % the order is wrong
    \end{aligned}"""
    assert marks(tex, RNN, given=NEXT) == "tf"
    chain = (
        r"\frac{\partial h_t}{\partial h_k}"
        r" = \prod_{t \ge i > k} \frac{\partial h_i}{\partial h_{i-1}}"
    )
    assert marks(chain, RNN, given=NEXT, products="left") == "t"
    assert marks(chain, RNN, given=NEXT) == "f"


def test_a_running_average_is_unrolled_with_dots():
    tex = r"""
        v_t &= \beta^2 v_{t-2} + \beta(1-\beta) g_{t-1} + (1-\beta) g_t \\
            &= \beta^{t-1}(1-\beta) g_1 + \beta^{t-2}(1-\beta) g_2 + \ldots + \beta^0(1-\beta)g_t \\
            &= (1-\beta) \sum_{i=1}^{t} \beta^{t-i} g_i \\
            &= (1-\beta) \sum_{i=1}^{t} \beta^{i} g_i"""
    assert marks(tex, MEAN, given={**AVERAGE, "v_0": "0"}) == "tttf"
    assert marks(tex, MEAN, given=AVERAGE) == "tftf"


def test_the_expectation_of_a_running_average():
    where = {**MEAN, "g": random(sequence(vector("n")), same_law=True), "t": integers(2, 4)}
    tex = r"\mathbb{E}[v_t] = (1-\beta^t)\,\mathbb{E}[g] = \mathbb{E}[g]"
    assert marks(tex, where, given={**AVERAGE, "v_0": "0"}) == "tf"


def test_names_that_are_computed_stand_in_derivatives():
    given = {"p": r"\operatorname{softmax}(z)"}
    tex = r"\frac{\partial p}{\partial z} = \operatorname{diag}(p) - p p^\top"
    assert marks(tex, {"z": vector("n")}, given=given) == "t"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (r"\frac{y}{x}", "divides by a vector of length n"),
        (r"x y", "is a transpose missing?"),
        (r"x + 1", "are added"),
        (r"x^2", "a power of a vector"),
        (r"|x|", "write ‖·‖"),
        (r"A x", "A is not declared here"),
        (r"x_{1,2}", "x takes one index"),
        (r"\frac{\partial x}{\partial 2}", "a declared quantity"),
    ],
)
def test_what_cannot_be_meant_is_refused_where_it_stands(line, says):
    report = Derivation(f"x = {line}", where=X).check().lines[0]
    assert report.verdict == "could not be checked"
    assert says in report.sentence


def test_a_text_is_cut_at_its_relations_and_rows():
    rows = rows_of(r"""\begin{align*}
        \sum_{i=1}^{n} a_i &= b % first
        \\ &\le c \quad \text{(by Jensen)} \\
        d & \geq 0, \tag{1}
    \end{align*}""")
    assert [(row.relation, row.tex) for row in rows] == [
        ("", r"\sum_{i=1}^{n} a_i"),
        ("=", "b"),
        ("≤", "c"),
        ("", "d"),
        ("≥", "0"),
    ]
    assert [row.reason for row in rows] == ["", "first", "by Jensen", "", ""]


def test_what_stands_above_a_relation_is_its_reason():
    rows = rows_of(r"a \overset{(1)}{=} b \stackrel{\text{def}}{\le} \underset{x}{c}")
    assert [(r.relation, r.tex, r.reason) for r in rows] == [
        ("", "a", ""), ("=", "b", "1"), ("≤", "{c}", "def")
    ]  # fmt: skip


def test_a_letter_that_is_declared_as_no_domain_gets_a_sentence():
    with pytest.raises(ValueError, match=r"'x' is declared as vector\(…\); a domain is real"):
        Derivation(r"x = x", where={"x": vector})


def test_a_text_without_a_left_side_is_refused():
    with pytest.raises(FormulaError, match="what stands left of it is missing"):
        Derivation(r"&= x", where=X)
    with pytest.raises(FormulaError, match="no formula"):
        Derivation("  ", where=X)


def test_a_row_without_a_relation_begins_a_new_chain():
    derivation = Derivation(r"a = a \\ b^2 \ge 0", where={"a b": real})
    assert [line.mark for line in derivation.check().lines] == ["proved", "held", "proved"]
    assert derivation.check().holds


def test_it_shows_as_it_was_written_with_marks_beside_the_lines():
    tex = r"\mathbf{x}^\top y = y^\top \mathbf{x} = \|x\| % as written"
    shown = Derivation(tex, where=X)._repr_markdown_()
    assert r"| $\displaystyle \mathbf{x}^\top y$ |" in shown
    assert r"| $\displaystyle = y^\top \mathbf{x}$ |" in shown
    assert r'<span class="course-false">$\displaystyle = \Vert x\Vert $</span>' in shown
    assert "as written<br>**False:** at x = " in shown
    assert "I read: `xᵀ·y` = `yᵀ·x` = `norm(x, '2')`" in shown


def test_about_is_not_judged_without_a_bound():
    report = Derivation(r"x \approx x", where={"x": real}).check()
    assert "does not say how near" in report.sentence


def test_lines_that_are_an_answer_may_be_pasted_as_one_chain():
    kind = Lines(["beta", "t", "mu"], ["g"])
    pasted = r"\mathbb{E}[v_t] &= (1-\beta)\sum_{i=1}^{t} \beta^{t-i}\mu \\ &= \mu(1-\beta^t)"
    typed = ["(1 - beta)*Sum(beta**(t - i)*mu, (i, 1, t))", "mu*(1 - beta**t)"]
    assert kind.same(kind.read(pasted, "lines"), kind.read(typed, "lines"))
    assert kind.same(kind.read("= mu*(1 - beta^t)", "lines"), kind.read(typed[1:], "lines"))
    with pytest.raises(Unreadable, match="Line 1 of lines begins with ≤"):
        kind.read(r"\mu \le 1", "lines")


M = {"A": matrix("m", "n"), "x y": vector("n"), "a b": real}


@pytest.mark.parametrize(
    ("tex", "truth"),
    [
        (r"x = \begin{bmatrix} x_1 \\ \vdots \\ x_n \end{bmatrix}"
         r"= \begin{bmatrix} x_1 \\ x_2 \\ \vdots \\ x_n \end{bmatrix}"
         r"= \begin{bmatrix} x_n \\ \vdots \\ x_1 \end{bmatrix}", "ttf"),
        (r"x^\top = \begin{pmatrix} x_1 & \cdots & x_n \end{pmatrix}", "t"),
        (r"A = \begin{bmatrix} A_{1,1} & \cdots & A_{1,n} \\ \vdots & \ddots & \vdots \\"
         r"A_{m,1} & \cdots & A_{m,n} \end{bmatrix} = \begin{bmatrix} A_{1,1} & \cdots & A_{n,1} \\"
         r"\vdots & \ddots & \vdots \\ A_{1,m} & \cdots & A_{n,m} \end{bmatrix}", "tf"),
        (r"xy^\top = \begin{bmatrix} x_1 y_1 & \cdots & x_1 y_n \\ \vdots & \ddots & \vdots \\"
         r"x_n y_1 & \cdots & x_n y_n \end{bmatrix}", "t"),
        (r"\begin{bmatrix} a & \cdots \\ \vdots & \ddots \end{bmatrix} = a", "?"),
        (r"\begin{bmatrix} x_1 & \cdots & y_n \end{bmatrix} = x^\top", "?"),
        (r"A_{1n} = A_{1,n} = A_{m1}", "tf"),
        (r"(A^\top A)_{1n} = \sum_{k=1}^{m} A_{k1} A_{kn}", "t"),
        (r"a^2 b = b\,a^2 = a^{2b}", "tf"),  # in LaTeX a power is one sign or a group
    ],
)  # fmt: skip
def test_dots_and_entries_of_matrices_have_a_pattern_or_are_refused(tex, truth):
    assert marks(tex, M) == truth


@pytest.mark.parametrize(
    ("tex", "truth"),
    [
        (r"\newcommand{\norm}[1]{\left\|#1\right\|} \newcommand{\vx}{\mathbf{x}}"
         r"\norm{\vx+y}^2 = \norm{\vx}^2 + 2\vx^\top y + \norm{y}^2 = \norm\vx^2", "tf"),
        (r"\def\half{\frac12} \DeclareMathOperator{\trace}{tr}"
         r"\half a + \half a = a = \trace(a x x^\top)", "tf"),
        (r"\def\ip#1#2{#1^\top #2} \ip{x}{y} = \ip{y}{x}", "t"),
    ],
)  # fmt: skip
def test_commands_of_the_authors_own_are_written_out(tex, truth):
    assert marks(tex, M) == truth


@pytest.mark.parametrize(
    ("tex", "says"),
    [
        (r"\newcommand{\u}{\u + 1} \u = 1", "stands for itself"),
        (r"\newcommand{\u}[2][3]{#1} \u = 1", "may be left out"),
        (r"\newcommand{\u}{x \u = 1", "never closed"),
    ],
)
def test_a_command_that_cannot_be_written_out_is_told(tex, says):
    with pytest.raises(FormulaError, match=says):
        Derivation(tex, where=M)


def test_a_size_that_is_said_is_kept():
    assert marks(r"I_n x = x = \mathbf{1}_n", M) == "tf"
    report = Derivation(r"x = \mathbf{1}_{m}", where=M).check()
    assert report.lines[0].mark == "false"
    report = Derivation(r"x = \mathbf{1}_{k}", where=M).check()
    assert "no size that is known here" in report.sentence


def test_a_form_is_found_among_other_factors_and_in_any_font():
    forms = Forms({r"x^\top y": "xy", r"\mathbb{E}[g_{#1}]": "mu"}, {"x": (0, 1), "y": (0, 1),
                                                                     "g": (1, 0)})  # fmt: skip
    kind = Lines(["xy", "mu", "t"], forms=forms)
    lines = [r"2\,\mathbf{x}^{\top}\mathbf{y}\,t", r"\sum_{i=1}^{t} \mathbb{E}[g_i]", "xy", "x^T y"]
    assert [str(line) for line in kind.read(lines, "lines")] == [
        "2 * xy * t", "Sum(mu, (i, 1, t))", "xy", "xy",
    ]  # fmt: skip
    with pytest.raises(Unreadable, match="stands for none of xy, μ and t"):
        kind.read([r"y^\top x"], "lines")


def test_a_function_of_symbols_is_the_formula_that_it_computes():
    kind = Lines(["a", "b"])
    lines = kind.read([lambda a, b: np.exp(a) * (2 - b) ** 2 / 3, lambda a: -abs(a)], "lines")
    assert kind.same(lines, kind.read(["exp(a)*(2-b)**2/3", "-abs(a)"], "lines"))
    for line in (lambda a: a if a > 0 else 0, lambda a: float(a), lambda a: sum(range(a))):
        with pytest.raises(Unreadable, match="Line 1 does not come to a formula"):
            kind.read([line], "lines")


@pytest.mark.parametrize(
    ("dots", "products", "mark"),
    [
        (r"J_T J_{T-1} \cdots J_1", "left", "held"),
        (r"J_1 J_2 \cdots J_T", "left", "false"),
        (r"J_1 J_2 \cdots J_T", "right", "proved"),
        (r"J_T J_{T-1} \cdots J_1", "right", "false"),
    ],
)
def test_factors_around_dots_keep_the_order_in_which_they_are_written(dots, products, mark):
    where = {"J": sequence(matrix("n", "n")), "T": integers(2, 5)}
    chain = Derivation(rf"\prod_{{t=1}}^T J_t = {dots}", where=where, products=products)
    assert chain.check().lines[0].mark == mark


def test_an_expectation_over_a_letter_needs_its_law():
    where = {"w u": vector(2)}
    (line,) = Derivation(r"1 = \mathbb{E}_w[e^{w^\top u}]", where=where).check().lines
    assert "which law has w?" in line.sentence


@pytest.mark.parametrize(
    ("chain", "lines"),
    [
        (r"a = b = \cdots = c", [("", "a"), ("=", "b"), ("=", "c")]),
        (r"a = b = … = c", [("", "a"), ("=", "b"), ("=", "c")]),
        (r"a &= b \\ &\;\;\vdots \\ &= c", [("", "a"), ("=", "b"), ("=", "c")]),
        (r"a \le \dots = c", [("", "a"), ("≤", "c")]),
        (r"a = b = \dots", [("", "a"), ("=", "b")]),
        (r"1 + \dots + n = c", [("", r"1 + \dots + n"), ("=", "c")]),
    ],
)
def test_dots_in_place_of_lines_are_no_line(chain, lines):
    assert [(row.relation, row.tex) for row in rows_of(chain)] == lines


def test_a_chain_that_is_too_long_is_not_read():
    with pytest.raises(FormulaError, match="The chain has 100000 characters; 10000 is the limit"):
        rows_of("1" * 100_000)
