r"""\lim and \begin{cases} in pasted lines: judged by numbers, never by SymPy's word alone."""

import pytest

from course_utils.derivation import Derivation, integers, interval, positive, real

X, Q, MEAN = {"x": real}, {"q": interval(0, 1)}, {"beta": interval(0, 1), "mu": real}
NONE: dict = {}


def mark_of(tex, where):
    (line,) = Derivation(tex, where=where).check().lines
    return {"proved": "true", "held": "true", "false": "false"}.get(line.mark, line.sentence)


@pytest.mark.parametrize(
    ("tex", "where", "truth"),
    [
        (r"\lim_{n\to\infty} (1 + \frac1n)^n = e", NONE, "true"),
        (r"\lim_{n \rightarrow \infty} \left(1 + \frac{x}{n}\right)^n = e^x", X, "true"),
        (r"\lim_{n\to\infty} \left(1 + \frac{x}{n}\right)^n = e^{-x}", X, "false"),
        (r"\lim_{t\to\infty} \mu(1-\beta^t) = \mu", MEAN, "true"),
        (r"\lim_{t\to\infty} \mu(1-\beta^t) = \mu\beta", MEAN, "false"),
        (r"\lim_{x\to 0} \frac{\sin x}{x} = 1", NONE, "true"),
        (r"\lim_{x\to 0} \frac{1-\cos x}{x^2} = \frac12", NONE, "true"),
        (r"\lim_{x\to 0} \frac{1-\cos x}{x^2} = 1", NONE, "false"),
        (r"\lim_{x\to 0^+} \frac{|x|}{x} = 1", NONE, "true"),
        (r"\lim_{x\to 0^-} \frac{|x|}{x} = 1", NONE, "false"),
        (r"\lim_{x\to 0^{+}} x \ln x = 0", NONE, "true"),
        (r"\lim_{x\longrightarrow 0^{-}} \frac{x}{|x|} = -1", NONE, "true"),
        (r"\lim_{h\to 0} \frac{(x+h)^2-x^2}{h} = 2x", X, "true"),
        (r"\lim_{h\to 0} \frac{(x+h)^2-x^2}{h} = x", X, "false"),
        (r"\lim_{n\to\infty} \sum_{k=0}^{n} q^k = \frac{1}{1-q}", Q, "true"),
        (r"\lim_{n\to\infty} \sum_{k=0}^{n} q^k = \frac{q}{1-q}", Q, "false"),
        (r"\lim_{n\to\infty} \frac{27^{\ln n/\ln 3 + 1}}{n^3} = 27", NONE, "true"),
        (r"\lim_{n\to\infty} \frac{3n^2 + n}{2n^2 - 1} = \frac32", NONE, "true"),
        (r"1 + \lim_{n\to\infty} \frac1n \le 1", NONE, "true"),
        (r"|x| = \begin{cases} x & \text{if } x \ge 0 \\ -x & \text{otherwise} \end{cases}",
         X, "true"),
        (r"|x| = \begin{cases} x & x > 0 \\ 0 & x = 0 \\ -x, & x < 0 \end{cases}", X, "true"),
        (r"|x| = \begin{cases} x & x \ge 0 \\ x & \text{else} \end{cases}", X, "false"),
        (r"\begin{cases} 1, & 0 \le x < 1 \\ 2, & \text{otherwise.} \end{cases} = 1",
         {"x": interval(0, 1)}, "true"),
        (r"\begin{cases} 1, & 0 \le x < \frac12 \\ 2, & \text{otherwise.} \end{cases} = 1",
         {"x": interval(0, 1)}, "false"),
        (r"\max(x, 0) = \begin{cases} x & \text{for } x > 0 \\ 0 & \text{elsewhere} \end{cases}",
         X, "true"),
        (r"2 \begin{cases} x & x > 0 \\ 0 & \text{else} \end{cases} = x + |x|", X, "true"),
        (r"\begin{dcases} \frac{1}{u} & u > 1 \\ u & \text{else} \end{dcases} \le 1",
         {"u": positive}, "true"),
        (r"\sum_{k=1}^{n} \begin{cases} k & k < 2 \\ 0 & \text{else} \end{cases} = 1",
         {"n": integers(1, None)}, "true"),
    ],
)  # fmt: skip
def test_a_line_with_a_limit_or_cases_is_judged(tex, where, truth):
    assert mark_of(tex, where) == truth


@pytest.mark.parametrize(
    ("tex", "where", "says"),
    [
        (r"\lim_{x\to 0} \frac{|x|}{x} = 1", NONE, "the limit does not settle"),
        (r"\lim_{n\to\infty} \sin(n) = 0", NONE, "the limit does not settle"),
        (r"\lim_{n\to\infty} \ln n = 40", NONE, "the limit does not settle"),
        (r"\lim_{n\to\infty} \sum_{k=1}^{n} \frac1k = 10", NONE, "the limit does not settle"),
        (r"\lim_{n\to\infty} \frac{n+1}{n} + \frac1n = 1", NONE, "Use brackets"),
        (r"\lim_{x\to y} x = y", {"y": real}, "goes to a number or to infinity"),
        (r"\lim x = 1", X, "below lim stands where its variable goes"),
        (r"\begin{cases} x & \\ \end{cases} = x", X, "is not a formula"),
        (r"\begin{cases} x & x \\ \end{cases} = x", X, "when this case holds"),
    ],
)
def test_what_has_no_limit_or_no_condition_is_told(tex, where, says):
    assert says in mark_of(tex, where)
