r"""`course derive FILE.tex`: the derivations in a LaTeX file, checked from the command line."""

import pytest

from selfcheck.derivation.tex_files import checked
from selfcheck.students.cli import main

PAPER = r"""
\documentclass{article}
%: x, y = vector(n); \beta = interval(0, 1); t = integers(1, 9)
%: v = sequence(real); g = sequence(real)
%: given v_t = \beta v_{t-1} + (1-\beta) g_t
\begin{document}
\begin{align*}
  \|x+y\|^2 &= \|x\|^2 + 2x^\top y + \|y\|^2 \\
            &\le 2\|x\|^2 + 2\|y\|^2 % Young
\end{align*}
A definition, $a = b$, and a formula without a relation: \[ x^\top y \]
\[ v_t = \beta v_{t-1} + (1-\beta) g_t \]
LAST
\end{document}
"""


def test_every_displayed_chain_is_checked_with_what_was_declared_before_it():
    found = list(checked(PAPER.replace("LAST", r"$$ x^\top y = \|x\|\,\|y\| $$")))
    assert [[line.mark for line in one.report.lines] for one in found] == [
        ["proved", "proved"],
        ["proved"],
        ["false"],
    ]
    assert [one.line for one in found] == [7, 12, 13]


@pytest.mark.parametrize(("last", "code"), [(r"\[ 1 = 1 \]", 0), (r"\[ 1 = 2 \]", 1)])
def test_the_command_ends_with_1_where_a_line_is_false(tmp_path, capsys, last, code):
    file = tmp_path / "paper.tex"
    file.write_text(PAPER.replace("LAST", last), encoding="utf-8")
    assert main(["derive", str(file)]) == code
    assert f"3 derivations, {code} of them with a false line." in capsys.readouterr().out


def test_a_declaration_that_is_none_is_told_where_it_stands():
    (found,) = checked("\n%: W = tensor(3)\n")
    assert found.line == 2
    assert "'tensor(3)' is no kind" in found.text


def test_nothing_in_a_declaration_is_executed():
    (found,) = checked("%: W = __import__('os').getcwd()")
    assert "is no kind" in found.text


def test_a_file_that_is_not_there_is_told_in_a_sentence(tmp_path, capsys):
    assert main(["derive", str(tmp_path / "nothing.tex")]) == 1
    assert "nothing.tex" in capsys.readouterr().err
