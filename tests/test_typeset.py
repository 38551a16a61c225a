"""selfcheck/typeset.py: formulas in LaTeX become MathML, or are refused; none is guessed."""

from xml.dom import minidom

import pytest

from selfcheck.typeset import Unset, set_formula, set_text


def words(markup):
    """The signs of a formula, one after the other."""

    def below(node):
        if node.nodeType == node.TEXT_NODE:
            return node.data
        return "".join(below(child) for child in node.childNodes)

    return below(minidom.parseString(markup))


def tags(tex):
    """What it is made of, from outside to inside."""
    root = minidom.parseString(set_formula(tex)).documentElement
    return [node.tagName for node in root.getElementsByTagName("*") if node.tagName != "mrow"]


@pytest.mark.parametrize(
    ("tex", "signs"),
    [
        (r"\alpha + \beta", "α+β"),
        (r"\tfrac12", "12"),
        (r"x^12", "x12"),
        (r"\mathbb E_{w}\bigl[w^\top u\bigr]", "𝔼w[w⊤u]"),
        (r"\mathcal N(0, I)", "𝒩(0,I)"),
        (r"\mathbf{W_1}x", "𝐖𝟏x"),
        (r"\|x\|_2 \le \lVert y \rVert", "‖x‖2≤‖y‖"),
        (r"\{a < b\}", "{a<b}"),
        (r"f''(x)", "f′′(x)"),
        (r"a \ne b, \; c \not= d", "a≠b,c=\u0338d"),
        (r"\operatorname{softmax}(z)", "softmax(z)"),
        (r"\text{if $x_1$ is } 2", "if\xa0x1\xa0is\xa02"),
        (r"1.5 \times 10^{-3} \%", "1.5×10−3%"),
        (r"\begin{pmatrix} 1 & 2 \\[2pt] 3 & 4 \\ \end{pmatrix}", "(1234)"),
        (r"\begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases}", "{1x>00else"),
        (r"a % a remark", "a"),
        (r"\color{green}{\checkmark}", "✓"),
    ],
)
def test_a_formula_has_its_signs_in_their_order(tex, signs):
    assert words(set_formula(tex)) == signs


@pytest.mark.parametrize(
    ("tex", "parts"),
    [
        (r"\frac{a}{b}", ["mfrac", "mi", "mi"]),
        (r"x_1^2", ["msubsup", "mi", "mn", "mn"]),
        (r"\sum_{i=1}^n", ["munderover", "mo", "mi", "mo", "mn", "mi"]),
        (r"\int_0^1", ["msubsup", "mo", "mn", "mn"]),
        (r"\max_x f", ["munder", "mo", "mi", "mspace", "mi"]),
        (r"\hat{y}", ["mover", "mi", "mo"]),
        (r"\sqrt[3]{x}", ["mroot", "mi", "mn"]),
        (r"\underbrace{a}_{\text{b}}", ["munder", "munder", "mi", "mo", "mtext"]),
    ],
)
def test_a_formula_has_its_structure(tex, parts):
    assert tags(tex) == parts


def test_a_sign_before_a_term_is_told_from_one_between_two():
    assert 'form="prefix">−' in set_formula("= -x")
    assert 'form="infix">−' in set_formula("y - x")
    assert 'form="prefix">−' in set_formula("(-x)")
    assert 'form="infix">−' in set_formula(r"\begin{aligned} a &= b \\ &- c \end{aligned}")


def test_indices_are_set_without_spaces_around_their_signs():
    assert '<mo lspace="0" rspace="0" form="infix">−</mo>' in set_formula("h_{t-1}")


@pytest.mark.parametrize(
    "tex",
    [r"\unheard{x}", r"\frac{1}", "{x", r"\left( x", r"\begin{tikz} x \end{tikz}", r"x^", "x ♥ y",
     r"\begin{matrix} 1", r"\color{red;x}{y}", r"\text{\big x}", r"\hspace{wide}", "{" * 2000],
)  # fmt: skip
def test_what_is_not_known_is_refused(tex):
    with pytest.raises(Unset):
        set_formula(tex)


def test_signs_of_html_stay_signs():
    assert "<b>" not in set_formula(r"\text{<b>} < \mathrm{<b>}")
    assert set_text("a <b> & $x$") == "a &lt;b&gt; &amp; <math><mi>x</mi></math>"


def test_a_text_keeps_its_punctuation_with_the_formula_and_its_dollars():
    assert set_text(r"($x$), for \$5") == (
        '<span class="together">(<math><mi>x</mi></math>),</span> for $5'
    )
    block = set_text("so\n$$x = 1 \\tag{2}$$\nholds")
    assert '<span class="formula block"><math display="block">' in block
    assert '<mtext class="tag">(2)</mtext>' in block
    assert set_text(r"\(x\)") == "<math><mi>x</mi></math>"


def test_a_formula_that_is_not_known_stays_as_it_was_written_and_is_listed():
    unread = []
    html = set_text(r"by $\unheard<x$.", unread)
    assert unread == [r"\unheard<x"]
    assert html == r'by <span class="formula unset">$\unheard&lt;x$</span>.'
