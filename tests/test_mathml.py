"""Formulas as a card sets them: what was typed, as it was understood."""

import re

import pytest

from selfcheck.cards import in_html
from selfcheck.formula import read_formula
from selfcheck.mathml import mathml


def seen(text, *symbols):
    """The formula as a reader would say it: fractions as [a over b], powers as [a to b]."""
    markup = mathml(read_formula(text, symbols).tree)
    for tag, word in {"mfrac": "over", "msup": "to", "msub": "index"}.items():
        pair = rf"<{tag}>(<mrow>.*?</mrow>|<mi>.*?</mi>)(<mrow>.*?</mrow>|<mi>.*?</mi>)</{tag}>"
        while (again := re.sub(pair, rf"[\1 {word} \2]", markup)) != markup:
            markup = again
    return re.sub("<.*?>", "", markup)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("1 - beta**t", "1−[β to t]"),
        ("beta - (t - 1)", "β−(t−1)"),
        ("beta - t - 1", "β−t−1"),
        ("2*(beta + t)", "2⋅(β+t)"),
        ("(beta + t)**2", "[(β+t) to 2]"),
        ("beta**t**2", "[β to [t to 2]]"),
        ("(beta**t)**2", "[([β to t]) to 2]"),
        ("1/(1 - beta)", "[1 over 1−β]"),
        ("-beta*t", "(−β)⋅t"),
        ("-(beta + t)", "−(β+t)"),
        ("beta*-t", "β⋅(−t)"),
        ("log(1/beta)", "log([1 over β])"),
        ("2β^t", "2⋅[β to t]"),
    ],
)
def test_a_formula_is_set_as_it_was_understood(text, reads):
    assert seen(text, "beta", "t") == reads


def test_an_index_is_one_and_a_root_is_one():
    assert seen("d_in", "d_in") == "[d index in]"
    assert "<msqrt><mi>t</mi></msqrt>" in mathml(read_formula("sqrt(t)", ["t"]).tree)


@pytest.mark.parametrize(
    ("sentence", "html"),
    [
        ("W^O has l rows.", "W<sup>O</sup> has l rows."),
        ("γ^(i−j) q_iᵀk_j", "γ<sup>i−j</sup> q<sub>i</sub>ᵀk<sub>j</sub>"),
        ("d_in = 2, v_{t−1}", "d<sub>in</sub> = 2, v<sub>t−1</sub>"),
        ("10^-6 and 2^10", "10<sup>-6</sup> and 2<sup>10</sup>"),
        ("`a_1` of snake_case", "<code>a_1</code> of snake_case"),
        ("1 < 2", "1 &lt; 2"),
    ],
)
def test_sentences_have_true_indices_and_exponents(sentence, html):
    assert in_html(sentence) == html
