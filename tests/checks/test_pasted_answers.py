"""Derivations as answers: LaTeX, text, SymPy and functions earn the same, here and far away."""

import importlib
import warnings

import numpy as np
import pytest
import sympy

from course_utils import checks
from tests.classroom.grading.across import elsewhere, value

beta, mu = sympy.symbols("beta mu", positive=True)
t, i = sympy.symbols("t i", positive=True, integer=True)
n, d = sympy.symbols("n d", positive=True, integer=True)
S, T = sympy.MatrixSymbol("S", n, d), sympy.MatrixSymbol("T", n, d)
ONE_N, ONE_D = sympy.MatrixSymbol("one_n", n, 1), sympy.MatrixSymbol("one_d", d, 1)
W_, H_, Z_ = sympy.symbols("W h_prev z", commutative=False)
SIGMA = sympy.Function("sigma", commutative=False)

SPLIT = (
    r"\exp(x^\top y) = \exp(-\frac{\|x\|^2}{2})\exp(\frac{\|x\|^2+2x^\top y+\|y\|^2}{2})"
    r"\exp(-\frac{\|y\|^2}{2}) = e^{-\|x\|^2/2}\, e^{\|x+y\|^2/2}\, e^{-\|y\|^2/2}"
)
SHIFT = (
    r"e^{w^\top u} e^{-\|w\|^2/2} = e^{\|u\|^2/2} e^{-(\|w\|^2 - 2w^\top u + \|u\|^2)/2}"
    r"= e^{\|u\|^2/2} e^{-\|w-u\|^2/2}"
)

RIGHT = {
    ("rnn_gradients", "induction_step"): [
        (r"""\begin{aligned}
            g_t &= \sigma(W g_{t-1} + z_t) \\
                &= \sigma(W\sigma(h_{t-1}) + z_t) \\  % the assumption
                &= \sigma(h_t)
            \end{aligned}""",),
        (r"\boldsymbol{g}_t = \sigma(\boldsymbol{W}\sigma(\boldsymbol{h}_{t-1}) +"
         r"\boldsymbol{U}\boldsymbol{x}_t + \boldsymbol{b}) = \sigma(\boldsymbol{h}_t)",),
        (r"g_t=\sigma(W\sigma(h_{t-1})+Ux_t+b)=\sigma\left(h_t\right)",),
        (r"g^{(t)} = \sigma(W\sigma(h^{(t-1)}) + z^{(t)}) = \sigma(h^{(t)})",),
        ("= sigma(W sigma(h_prev) + z) = sigma(h)",),
        (["σ(W σ(h_{t−1}) + z_t)", lambda h, sigma: sigma(h)],),
        (["sigma(W @ sigma(h_prev) + z)", "sigma(h)"],),
        ([SIGMA(W_ * SIGMA(H_) + Z_), "sigma(h)"],),
        ([lambda W, z, h_prev, sigma, one=1: sigma(one * W @ sigma(h_prev) + z), "sigma(h)"],),
        ([lambda W, z, h_prev, sigma, *, k=2: sigma(W @ sigma(h_prev) + z), "sigma(h)"],),
    ],
    ("momentum", "move_by_lines"): [  # as Word copies its formulas
        ("Δθ_t=−δv_t=−δ(βv_(t−1)+(1−β)g_t)=βΔθ_(t−1)−δ(1−β)g_t",),
        ("∆θ_t = −δ v_t = −δ(β v_{t−1} + (1−β) g_t) = β ∆θ_{t−1} − δ(1−β) g_t",),
    ],
    ("momentum", "unrolled_by_lines"): [
        ("v_t=β(βv_(t-2)+(1-β) g_(t-1) )+(1-β) g_t=(1-β)∑_(i=1)^t▒〖β^(t-i) g_i 〗",),
    ],
    ("momentum", "expectation"): [
        (r"""\begin{align}
            \mathbb{E}[\mathbf{v}_t] &= (1-\beta)\sum_{i=1}^t\beta^{t-i}\mathbb{E}[\mathbf{g}_i] \\
            &= (1 - \beta)\, \mathbb{E}[\mathbf{g}] \sum_{i=1}^t \beta^{t-i} \\
            &= \mathbb{E}[\mathbf{g}](1-\beta)\frac{1-\beta^t}{1-\beta}
             = \mathbb{E}[\mathbf{g}](1-\beta^t)
            \end{align}""",),
        (r"\mathbb{E}[v_t] = \mu(1-\beta)\sum_{k=0}^{t-1}\beta^k = \mu(1-\beta^t)",),
        (r"E[v_t] = (1-\beta)\mu(1 + \beta + \beta^2 + \dots + \beta^{t-1}) = \mu - \mu\beta^t",),
        (r"(1-\beta)\mu\,\frac{1-\beta^{t}}{1-\beta} = \mu - \mu\beta^t",),
        (["(1-β)*μ*Sum(β^(t-i), (i, 1, t))", "μ(1-β^t)"],),
        ([(1 - beta) * mu * sympy.Sum(beta ** (t - i), (i, 1, t)), mu * (1 - beta**t)],),
        ([lambda beta, t, mu: (1 - beta) * mu * sympy.Sum(beta ** (t - i), (i, 1, t)),
          lambda beta, t, mu: mu * (1 - beta**t)],),
        ([lambda beta, t, mu: mu * (1 - beta) * (1 - beta**t) / (1 - beta),
          r"\mu(1-\beta^t)"],),
    ],
    ("linear_attention", "rows_sum_to_one"): [
        (r"""\begin{aligned}
            (S T^\top)\mathbf 1_n &= S (T^\top \mathbf 1_n) \\
                                  &= S \mathbf{1}_d = \mathbf 1_n
            \end{aligned}""",),
        (r"S T^\top \mathbf{1} = S \mathbf{1} = \mathbf{1}",),
        (r"\mathrm{softmax}_{\text{row}}(Q)\,\mathrm{softmax}_{\text{col}}(K)^\top\mathbf 1_n"
         r"= \mathrm{softmax}_{\text{row}}(Q)\,\mathbf 1_d = \mathbf 1_n",),
        (["S @ (T.T @ one_n)", "S @ one_d", "one_n"],),
        ([S * (T.T * ONE_N), S * ONE_D, ONE_N],),
        (r"\sum_{j=1}^{n} (ST^\top)_{ij} = \sum_{c=1}^{d} S_{ic} \sum_{j=1}^{n} T_{jc}"
         r"= \sum_{c=1}^{d} S_{ic} = 1",),
        (r"\sum_j \sum_c S_{i,c} T_{j,c} = \sum_c S_{i,c} \sum_j T_{j,c} = \sum_c S_{i,c} = 1",),
        (["S T^T one_n", lambda S, one_d: S @ one_d, r"\boldsymbol{1}_n"],),
    ],
    ("random_features", "completed_square"): [
        (SPLIT, SHIFT),
        (r"""\begin{aligned} \exp(\boldsymbol{x}^{\top}\boldsymbol{y})
             &= \exp(-\tfrac12(\boldsymbol{x}^{\top}\boldsymbol{x} + y^\top y
                - (x^\top x + 2 y^\top x + y^\top y))) \\
             &= \exp(-\frac{1}{2}(x^{\top}x - (x+y)^{\top}(x+y) + y^{\top}y))\end{aligned}""",
         r"= \exp(-\frac12(\langle w,w\rangle - 2\langle w,u\rangle + \langle u,u\rangle)"
         r"+ \frac12\|u\|_2^2) = \exp(\frac12\lVert u\rVert^2)\exp(-\frac12\lVert w-u\rVert^2)"),
        (["exp(-xx/2)*exp((xx + 2*xy + yy)/2)*exp(-yy/2)", "exp((s - xx - yy)/2)"],
         "e^(w^T u) e^(-||w||^2/2) = exp(s/2) exp(-(ww - 2 wu + s)/2) = exp(s/2) exp(-r/2)"),
        ([lambda xx, xy, yy: np.exp(-xx / 2) * np.exp((xx + 2 * xy + yy) / 2) * np.exp(-yy / 2),
          lambda xx, yy, s: np.exp(-xx / 2) * np.exp(s / 2) * np.exp(-yy / 2)], SHIFT),
    ],
}  # fmt: skip

WRONG = {
    ("rnn_gradients", "induction_step"): [
        (r"g_t = \sigma(W h_{t-1} + z_t) = \sigma(h_t)",),
        (r"g_t = W\sigma(h_{t-1}) + z_t = h_t",),
        (r"g_t = \sigma(h_t)",),
        (r"g_t = \sigma(W\sigma(h_{t-1})) + \sigma(z_t) = \sigma(h_t)",),
        (r"g_t = \sigma(W W^{-1}(h_t - z_t) + z_t) = \sigma(h_t)",),
        (r"g_t = \sigma(W\frac{h_t - Ux_t - b}{W} + Ux_t + b) = \sigma(h_t)",),
        (r"g_t = \sigma(W^\top\sigma(h_{t-1}) + z_t) = \sigma(h_t)",),
        (r"g_t = \sigma(W\sigma(h_{t-1}) + Ux_t - b) = \sigma(h_t)",),
        (r"g_t = \sigma(W\sigma(h_{t-1}) + U^\top x_t + b) = \sigma(h_t)",),
    ],
    ("momentum", "expectation"): [
        (r"\mathbb{E}[v_t] = \mu(1-\beta)\sum_{k=0}^{t}\beta^k = \mu(1-\beta^t)",),
        (r"\mathbb{E}[v_t] = \mu(1-\beta)\sum_{i=1}^{t}\beta^{t-i} = \mu(1-\beta^{t+1})",),
        (r"\mathbb{E}[v_t] = \mu(1-\beta^t)",),
        (r"\mathbb{E}[v_t] = \mu(1-\beta)\frac{1-\beta^t}{1-\beta} = \mu(1+\beta^t)",),
        (r"\mathbb{E}[v_t] = \mathbb{E}[g](1-\beta)\sum_{i=1}^{t}\beta^{t-i} = \mathbb{E}[g]",),
        (r"\mathbb{E}[v_t] = \mu(1-\beta)\sum_{i=1}^{t}\beta^{t-i} \le \mu",),
        ([lambda beta, t, mu: mu * (1 - beta) * (1 - beta**t) / (1 + beta),
          lambda beta, t, mu: mu * (1 - beta**t)],),
    ],
    ("linear_attention", "rows_sum_to_one"): [
        (r"S T^\top \mathbf 1_n = \mathbf 1_n",),
        (r"S T^\top \mathbf 1_n = T S^\top \mathbf 1_n = T\mathbf 1_d = \mathbf 1_n",),
        (r"S T^\top \mathbf 1_n = S \mathbf 1_d = \mathbf 1_d",),
        (r"S T^\top \mathbf 1_n = S \mathbf 1_d = 1",),
        (r"S T^\top \mathbf 1_n = S T^\top \mathbf 1_d = \mathbf 1_n",),
        (r"S T^\top \mathbf 1_n = d S\mathbf 1_d = \mathbf 1_n",),
        (r"S T^\top \mathbf 1_n = (S \odot T)\mathbf 1_d = \mathbf 1_n",),
        (r"S T^\top \mathbf 1_n = S\mathbf 1_d \le \mathbf 1_n",),
        (r"\sum_j (ST^\top)_{ij} = \sum_c S_{ic} \sum_j T_{jc} = 1",),
        (r"\sum_j (ST^\top)_{ij} = \sum_c S_{ic} \sum_j T_{ij} = \sum_c S_{ic} = 1",),
        (r"\sum_j (ST^\top)_{ij} = \sum_c S_{1c} \sum_j T_{jc} = \sum_c S_{1c} = 1",),
        (r"\sum_j (ST^\top)_{ij} = \sum_c S_{ic} \sum_c T_{ic} = \sum_c S_{ic} = 1",),
    ],
    ("random_features", "completed_square"): [
        (SPLIT.replace("+2x", "-2x"), SHIFT),
        (SPLIT, SHIFT.replace(r"= e^{\|u", r"= e^{-\|u")),
        (SPLIT.replace("x+y", "x-y"), SHIFT),
        (SPLIT.replace(r"\frac{\|x\|^2}{2}", r"\|x\|^2"), SHIFT),
        (SPLIT, SHIFT.rpartition("=")[0]),
        (r"\exp(x^\top y) = \exp(x y^\top)", SHIFT),
        (r"\exp(x^\top y) = \exp(\frac{\|x+y\|^2 - \|x\|^2 - \|y\|^2}{2})", SHIFT),
    ],
}  # fmt: skip


def cases(known):
    return [(*where, answers) for where, all_answers in known.items() for answers in all_answers]


def judged(unit, name, answers):
    """The verdict here, which has to be that of a judge whose student is in another process."""
    check = getattr(importlib.import_module(f"{checks.__name__}.{unit}"), name)
    here = check(*answers)
    with elsewhere(answers=answers) as there:
        far = check(*(value(there, f"answers[{k}]") for k in range(len(answers))))
    assert (far.outcome, far.earned, far.says) == (here.outcome, here.earned, here.says)
    return here


@pytest.mark.parametrize(("unit", "name", "answers"), cases(RIGHT))
def test_a_right_derivation_may_be_written_as_one_likes(unit, name, answers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = judged(unit, name, answers)
    assert found.outcome == "right", found.says


@pytest.mark.parametrize(("unit", "name", "answers"), cases(WRONG))
def test_a_wrong_one_is_wrong_however_it_is_written(unit, name, answers):
    found = judged(unit, name, answers)
    assert found.outcome in ("wrong", "could not be checked"), found.says


@pytest.mark.parametrize(
    ("unit", "name", "answer", "mistake"),
    [
        ("rnn_gradients", "induction_step", r"g_t = \sigma(W h_{t-1} + Ux_t + b) = \sigma(h_t)",
         "h_{t−1} put where g_{t−1} stood"),
        ("rnn_gradients", "induction_step", r"g_t = \sigma(W W^{-1}(h_t - z_t) + z_t)= \sigma(h_t)",
         "divided by the matrix W"),
        ("linear_attention", "rows_sum_to_one", r"ST^\top\mathbf 1_n = S\mathbf 1_d = \mathbf 1_d",
         "as many ones as features"),
        ("momentum", "expectation", r"\mathbb{E}[v_t] = \mu(1-\beta)\sum_{k=0}^{t}\beta^k",
         "one term too many"),
    ],
)  # fmt: skip
def test_a_known_mistake_is_known_in_latex_too(unit, name, answer, mistake):
    assert judged(unit, name, (answer,)).misconception == mistake


@pytest.mark.parametrize(
    ("unit", "name", "answers", "says"),
    [
        ("rnn_gradients", "induction_step", (r"g_t = \sigma(V\sigma(h_{t-1}) + z_t)",),
         "V is not declared here"),
        ("momentum", "expectation", (r"E[v_t] = \mathbb{E}[\sum_i (1-\beta)\beta^{t-i} g_i]",),
         "stands for none of β, t and μ"),
        ("momentum", "expectation", ([lambda beta, t: sum(beta**k for k in range(t))],),
         "Write it as text, a sum as Sum"),
        ("linear_attention", "rows_sum_to_one", (r"ST^\top\mathbf 1_n = S\mathbf 1_m",),
         "its index is no size that is known here"),
        ("random_features", "completed_square", (r"\exp(x^\top y) = \exp(\|x\|)", SHIFT),
         "stands for none of xx, xy, yy and s"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_where(unit, name, answers, says):
    assert says in judged(unit, name, answers).says
