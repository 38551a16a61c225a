"""Unit 02: sister tasks for practice. Rules have constants of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfcheck.practice import solved, tenths, whole

from ..optimizers import moves, running_average
from . import momentum as check

RULE = (
    r"A rule has $v_t = <a>\,v_{t-1} + <b>\,g_t$ and $\Delta\theta_t = -<c>\,v_t$, with "
    r"$v_0 = 0$. "
)
KEPT: dict[str, Any] = {"a": tenths(1, 9), "b": tenths(2, 30)}
CONSTANTS: dict[str, Any] = {**KEPT, "c": tenths(2, 30)}


def _step(v, g, a, b, c=1.0):
    v = a * v + b * g
    return v, -c * v


def _as_rule_m(a: float, b: float, c: float) -> dict:
    first, second = moves(_step, [1, 0], a=a, b=b, c=c)
    return {"alpha": second / first, "epsilon": -first}


check.equivalent_rules.sister(
    RULE + r"With which `alpha` and `epsilon` does rule M make the same moves?",
    _as_rule_m,
    **CONSTANTS,
)
check.weights.sister(
    r"A rule has $v_t = <a>\,v_{t-1} + <b>\,g_t$ and $\Delta\theta_t = -v_t$, with $v_0 = 0$. "
    r"What do $g_1, \dots, g_{<t>}$ weigh in $\theta_0 - \theta_{<t>}$, in this order? Three "
    r"digits are enough.",
    lambda a, b, t: -moves(_step, np.eye(t), a=a, b=b).sum(axis=0),
    **KEPT,
    t=range(2, 6),
)
check.bias.sister(
    r"A rule has $v_t = <a>\,v_{t-1} + <b>\,g_t$, with $v_0 = 0$, and every gradient has the same "
    r"mean. "
    r"By which factor does $\mathbb E[v_{<t>}]$ differ from it? Three digits are enough.",
    lambda a, b, t: -moves(_step, np.ones(t), a=a, b=b)[-1],
    **KEPT,
    t=range(2, 9),
)
check.corrected_average.sister(
    r"Rule A met the gradients $<g>$, with $\beta = <beta>$ in these steps. What are the "
    r"bias-corrected averages $\hat v_1, \hat v_2, \dots$? Three digits are enough.",
    lambda g, beta: check._raw(g, beta) / check._raw(np.ones(len(g)), beta),
    lambda rng: {
        "g": whole(rng, T := int(rng.integers(2, 5)), largest=9),
        "beta": rng.choice(tenths(1, 9), T, replace=False),
    },
)
check.expectation.sister(
    r"Gradients grow: $\mathbb E[g_i] = <mu>\,i$. What is $\mathbb E[v_{<t>}] = "
    r"(1-\beta)\sum_{i=1}^{<t>}\beta^{<t>-i}\,<mu>\,i$ for $\beta = <beta>$? Three digits are "
    r"enough.",
    lambda beta, t, mu: running_average(mu * np.arange(1, t + 1), beta)[-1],
    beta=tenths(1, 9),
    t=range(2, 20),
    mu=range(2, 10),
)
check.first_false_line.sister(
    "A rule has $<velocity>$ and $<move>$. Lines for $\\Delta\\theta_t$, of which one does not "
    "follow:"
    "\n\n<lines>\n\nWhich is the first `line` that is not equal to $\\Delta\\theta_t$ (its "
    "number), and "
    "which `correction` should stand there, written with `step` for $\\Delta\\theta_{t-1}$ and "
    "`g` for "
    "$g_t$?",
    needs=lambda n: _lines(n.derivation),
)


def _lines(found) -> dict:
    names = {"beta": r"\beta", "delta": r"\delta", "v_prev": "v_{t-1}", "g": "g_t", "v": "v_t"}
    names["step"] = r"\Delta\theta_{t-1}"

    def spelled(formula: str) -> str:
        words = check.ast.parse(formula, mode="eval")
        return _latex(words.body, names)

    numbered = enumerate(found.lines, found.first)
    lines = "\n".join(f"- ({k}) $\\;{spelled(line)}$" for k, line in numbered)
    velocity = f"v_t = {spelled(found.velocity)}"
    return {
        "velocity": velocity,
        "move": rf"\Delta\theta_t = {spelled(found.lines[0])}",
        "lines": lines,
    }


def _latex(node, names: dict) -> str:
    """A formula as it is written here: every product and every bracket stays where it is."""
    ast = check.ast
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.UnaryOp):
        return f"-{_bracketed(node.operand, names, sums=True)}"
    left, right = node.left, node.right
    if isinstance(node.op, ast.Div):
        if isinstance(left, ast.UnaryOp):
            return rf"-\frac{{{_latex(left.operand, names)}}}{{{_latex(right, names)}}}"
        return rf"\frac{{{_latex(left, names)}}}{{{_latex(right, names)}}}"
    if isinstance(node.op, ast.Mult):
        return rf"{_bracketed(left, names, sums=True)}\,{_bracketed(right, names, sums=True)}"
    sign = "+" if isinstance(node.op, ast.Add) else "-"
    return f"{_latex(left, names)} {sign} {_bracketed(right, names, sums=sign == '-')}"


def _bracketed(node, names: dict, sums: bool) -> str:
    ast = check.ast
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)
    text = _latex(node, names)
    return f"({text})" if sums and is_sum else text


check.half_life.sister(
    r"Rule A has $\beta = <beta>$. After how many steps does a gradient weigh <share> of what it "
    r"weighed when it was new? Three digits are enough; it need not be a whole number.",
    lambda beta, share: solved(lambda n: beta**n - share, 0, 1e4),
    beta=[0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999],
    share=[k / 100 for k in range(2, 98)],
)
check.best_memory.sister(
    r"The slopes $\lambda$ of a valley fill the range from <smallest> to <largest>. Which step "
    r"does "
    r"plain descent take best, and which pair $\alpha$, $\varepsilon$ of rule M is best? Give six "
    r"digits.",
    needs=lambda n: {"smallest": n.smallest, "largest": n.largest},
)
check.lookahead_weights.sister(
    r"Nesterov's rule with $\alpha = <alpha>$ and $\varepsilon = <epsilon>$: what do $g_1, \dots, "
    r"g_{<t>}$ "
    r"weigh in $-\Delta\varphi_{<t>} = \varphi_{<u>} - \varphi_{<t>}$, in this order? Three "
    r"digits are enough.",
    lambda alpha, epsilon, t, u: -check._looking_ahead(np.eye(t), alpha, epsilon),
    lambda rng: {
        "alpha": float(rng.choice(tenths(1, 9))),
        "epsilon": float(rng.choice(tenths(1, 30))),
        **(lambda t: {"t": t, "u": t - 1})(int(rng.integers(2, 6))),
    },
)


def _so_far(beta: float, c: float, k: int) -> float:
    rule_m, rule_a = np.sum([check._moves_after(beta, c, j) for j in range(1, k + 1)], axis=0)
    return rule_m / rule_a


check.after_the_cut.sister(
    r"Rule A with $\beta = <beta>$ and rule M with $\alpha = \beta$, $\varepsilon = "
    r"\delta(1-\beta)$ have "
    r"run on gradients of 1 for very long. Now $\delta$ is divided by $c = <c>$, and "
    r"$\varepsilon$ with "
    r"it. In the first $<k>$ steps after that, taken together, how many times as far as rule A "
    r"does "
    r"rule M move? Three digits are enough.",
    _so_far,
    beta=tenths(2, 9),
    c=tenths(15, 99),
    k=range(2, 6),
)
check.move_by_lines.sister(
    RULE + r"The last move was $\Delta\theta_{t-1} = <last>$, and now $g_t = <g>$. What is "
    r"$\Delta\theta_t$? Three digits are enough.",
    lambda a, b, c, last, g: a * last - c * b * g,
    **CONSTANTS,
    last=tenths(-20, 20),
    g=tenths(2, 30),
)
check.unrolled_by_lines.sister(
    r"A rule has $v_t = <a>\,v_{t-1} + <b>\,g_t$. It is put into itself until $v_{t-<k>}$ "
    r"is left. "
    r"Which `factor` stands before $v_{t-<k>}$, and which `weight` has the oldest gradient "
    r"beside it? "
    r"Three digits are enough.",
    lambda a, b, k: {"factor": a**k, "weight": b * a ** (k - 1)},
    **KEPT,
    k=range(2, 6),
)
