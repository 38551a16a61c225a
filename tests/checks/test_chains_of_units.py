"""Derivations that are declared: any way of writing earns the same, a start and a leap nothing."""

import pytest
import sympy

from course_utils.checks import (
    counting_cost,
    linear_attention,
    momentum,
    random_features,
    rnn_gradients,
    weight_decay,
)
from tests.classroom.grading.across import elsewhere, value

beta, delta, v_prev, step, g = sympy.symbols("beta delta v_prev step g")
E_OF_W = r"\mathbb{E}_{w\sim\mathcal{N}(0,I)}[\exp(w^\top x)\exp(w^\top y)]"
AROUND = r"(2\pi)^{-d/2}\exp(\frac{\|x+y\|^2}{2})\int_w\exp(-\frac12\|w-(x+y)\|^2)dw"
FLAT = r"(2\pi)^{-d/2}\int_w\exp(-\frac12\|w\|^2+w^\top(x+y))dw"
TWICE = r"\beta^2 v_{t-2} + \beta(1-\beta)g_{t-1} + (1-\beta)g_t"
SUM = r"(1-\beta)\sum_{i=1}^{t}\beta^{t-i}g_i"
SLOPE = r"\frac{\partial L(\theta)}{\partial\theta}"
COUNTED = "H*(3*N*D*w + N**2*w + N**2*w) + N*H*w*D"
IN_N_AND_D = "4*N*D**2 + 2*N**2*D"
OUT = r"\operatorname{diag}(\exp(QK^\top)\mathbf{1})^{-1}\exp(QK^\top)V"
RULE_IN = "-delta*(beta*v_prev + (1 - beta)*g)"
BY_MOVE = "beta*step - delta*(1 - beta)*g"

# For every exercise: answers, with the points that they earn.
EARNED = {
    rnn_gradients.bound_by_lines: [
        (r"\|\prod_{t=1}^T J_t\|", 0),
        ([r"\|\prod_{t=1}^T J_t\|"], 0),
        ([r"\le \delta^T"], 0),
        ([r"\le \delta^T + 0\|W\|", r"= \delta^T"], 0),
        ([r"\le \frac{\delta^T\|W\|}{\|W\|}"], 0),
        ([r"\le \delta^T + \|\gamma W - \delta C\|", r"= \delta^T"], 0),
        ([r"\le \prod_{t=1}^T\|J_t\|", r"\le \delta^T"], 2),
        ([r"\le \prod_{t=1}^T\|W\operatorname{diag}(\sigma'(h_{t-1}))\|", r"\le \delta^T"], 2),
        ([r"\le \prod_{t=1}^T\|W\|\gamma", r"\le \delta^T"], 3),
        ([("≤", r"(\gamma\|W\|)^T"), ("≤", r"\delta^T")], 3),
        (r"\|J_T J_{T-1} \cdots J_1\| \le \|J_T\| \|J_{T-1}\| \cdots \|J_1\| \le (\gamma\|W\|)^T"
         r"\le \delta^T", 3),
        (r"\|J_1 J_2 \cdots J_T\| \le (\gamma\|W\|)^T \le \delta^T", 0),
        (r"\left\|\frac{\partial h_T}{\partial h_0}\right\|"
         r"= \left\|\prod_{i=0}^{T-1}\frac{\partial h_{i+1}}{\partial h_i}\right\|"
         r"\le \prod_{t=1}^{T}\left\|\frac{\partial h_t}{\partial h_{t-1}}\right\|"
         r"\le \prod_{i=0}^{T-1}\|W\|\gamma \le \delta^T", 3),
        ([r"\le \|W\|^T\prod_{t=1}^T\|D_t\|", r"\le (\frac\delta\gamma)^T\prod_{t=1}^T\|D_t\|",
          r"\le \delta^T"], 3),
        ([r"\le \prod_{t=1}^T\|W\|\gamma", r"\le \delta^T < 1"], 0),
        ([r"\le \prod_{t=1}^T\|W\|\gamma", r"\le \delta^T", r"\le 1"], 2),
        ([r"\le \prod_{t=1}^T\|W\|\gamma", r"\ge \delta^T"], 0),
        ([r"= \prod_{t=1}^T\|J_t\|", r"\le \prod_{t=1}^T\|W\|\gamma", r"\le \delta^T"], 0),
        ([r"\le \prod_{t=1}^T\|W\|_F\gamma", r"\le \delta^T"], 2),
        ([r"\le \prod_{t=1}^T\|J_t\|", r"\le \prod_{t=1}^T\|W\|", r"\le \delta^T"], 1),
        ([r"\le \prod_{t=1}^T\|W\|\gamma", r"\le \delta^{T-1}"], 2),
    ],
    momentum.move_by_lines: [
        (["-delta*v"], 0),
        ([BY_MOVE], 0),
        ([f"{BY_MOVE} + v_prev - v_prev", BY_MOVE], 0),
        ([f"({BY_MOVE})*v/v", BY_MOVE], 0),
        ([RULE_IN], 1),
        ([RULE_IN, BY_MOVE], 2),
        ([-delta * (beta * v_prev + (1 - beta) * g), beta * step - delta * (1 - beta) * g], 2),
        ([lambda delta, beta, v_prev, g: -delta * beta * v_prev - delta * (1 - beta) * g,
          r"\beta\Delta\theta_{t-1} - \delta(1-\beta)g_t"], 2),
        (r"\Delta\theta_t = -\delta v_t = -\delta\beta v_{t-1} - \delta(1-\beta)g_t"
         r"= \beta\Delta\theta_{t-1} - \delta(1-\beta)g_t", 2),
        ([RULE_IN, "delta*beta*step - delta*(1 - beta)*g"], 1),
        ([RULE_IN, "beta*step + delta*(1 - beta)*g"], 1),
        (["-delta*(beta*v_prev + beta*g)", BY_MOVE], 0),
    ],
    momentum.unrolled_by_lines: [
        (["v_t"], 0),
        (r"v_t = \beta v_{t-1} + (1-\beta)g_t", 0),
        ([SUM], 0),
        ([rf"{SUM} + v_{{t-2}} - v_{{t-2}}", SUM], 0),
        ([rf"\beta^t v_0 + {SUM}", SUM], 0),
        ([rf"{SUM} + v_{{t-2}} - (\beta v_{{t-3}} + (1-\beta)g_{{t-2}})", SUM], 0),
        ([TWICE], 1),
        ([TWICE, SUM], 2),
        (rf"v_t = {TWICE} = \beta^{{t-1}}(1-\beta)g_1 + \dots + \beta(1-\beta)g_{{t-1}}"
         r"+ (1-\beta)g_t", 2),
        (["beta**2*v(t-2) + beta*(1-beta)*g(t-1) + (1-beta)*g(t)",
          "(1-beta)*Sum(beta**(t-i)*g(i), (i, 1, t))"], 2),
        (r"v_t = \beta^i v_{t-i} + \beta^{i-1}(1-\beta)g_{t-i+1} + \beta^{i-2}(1-\beta)g_{t-i+2}"
         rf"+ \ldots + (1-\beta)g_t = {SUM}", 2),
        ([TWICE, r"(1-\beta)\sum_{i=1}^{t}\beta^{t-i-1}g_i"], 1),
        ([TWICE, r"(1-\beta)\sum_{i=0}^{t-1}\beta^{t-i}g_i"], 1),
        ([TWICE.replace("2}", "3}"), SUM], 0),
    ],
    weight_decay.decay_by_lines: [
        ([r"\theta - \eta\frac{\partial}{\partial\theta}(L(\theta) + \gamma\|\theta\|^2)"], 0),
        ([rf"\theta - \eta({SLOPE} + \frac{{\partial}}{{\partial\theta}}(\gamma\|\theta\|^2))"], 0),
        ([r"(1-\lambda)\theta - \eta g"], 0),
        ([rf"\theta - \eta({SLOPE} + 2\gamma\theta)"], 1),
        ([rf"\theta - \eta({SLOPE} + 2\gamma\theta)", rf"(1-\lambda)\theta - \eta{SLOPE}"], 2),
        ([r"\theta - \eta(g + 2\gamma\theta)", r"(1-2\eta\gamma)\theta - \eta g"], 1),
        ([r"\theta - \eta(g + 2\gamma\theta)", r"\theta - \lambda\theta - \eta g"], 2),
        ([r"\theta - \eta(\nabla_\theta L(\theta) + 2\gamma\theta)",
          r"(1-\lambda)\theta - \eta\nabla_\theta L(\theta)"], 2),
        ([r"\theta - \eta(g + 2\gamma\theta)", r"(1-\lambda)\theta + \eta g"], 1),
        ([r"\theta - \eta(g + 2\gamma\|\theta\|)"], 0),
        (r"\theta_{t+1} = \theta_t - \eta(\frac{\partial L(\theta_t)}{\partial\theta_t}"
         r"+ 2\gamma\theta_t) = (1-\lambda)\theta_t - \eta\nabla L(\theta_t)", 2),
        ([r"\theta - \eta g - \gamma\theta", r"(1-\lambda)\theta - \eta g"], 0),
    ],
    counting_cost.macs_by_lines: [
        (["H*(p + s + m) + o"], 0),
        ([IN_N_AND_D], 0),
        ([f"{IN_N_AND_D} + w - D/H", IN_N_AND_D], 0),
        ([COUNTED], 1),
        ([COUNTED, IN_N_AND_D], 2),
        ([COUNTED, "3*N*D**2 + 2*N**2*D + N*D**2"], 2),
        (["3*N*D*H*w + 2*N**2*H*w + N*D*H*w", IN_N_AND_D], 2),
        ([COUNTED, "4*N*D**2 + N**2*D"], 1),
        ([COUNTED, "2*N*D*(2*D + N)"], 2),
        (["H*(3*N*D*w + 2*N**2*w) + N*w*D", IN_N_AND_D], 0),
    ],
    linear_attention.normed_by_lines: [
        (["P V"], 0),
        ([r"\operatorname{softmax}_{row}(QK^\top)V"], 0),
        ([r"D^{-1} A V"], 0),
        ([r"D^{-1}\exp(QK^\top)V", r"D^{-1}AV"], 0),
        ([OUT], 1),
        ([OUT, r"D^{-1}AV"], 2),
        (rf"PV = {OUT} = D^{{-1}}AV", 2),
        (rf"\operatorname{{softmax}}(QK^\top)V = {OUT} = D^{{-1}}AV", 2),
        (r"(PV)_{i,c} = \sum_j\frac{\exp(\sum_a Q_{i,a}K_{j,a})}{\sum_m\exp(\sum_a Q_{i,a}K_{m,a})}"
         r"V_{j,c} = \sum_j\frac{A_{i,j}}{D_{i,i}}V_{j,c}", 2),
        ([OUT, r"A D^{-1} V"], 1),
        ([OUT.replace(r"\mathbf{1})^{-1}", r"\mathbf{1})"), r"D^{-1}AV"], 0),
        ([r"\operatorname{diag}(\exp(KQ^\top)\mathbf{1})^{-1}\exp(QK^\top)V"], 0),
    ],
    random_features.bell_by_lines: [
        ([r"\exp(\frac{\|x+y\|^2}{2})"], 0),
        ([E_OF_W], 0),
        ([AROUND], 1),
        ([AROUND, E_OF_W], 2),
        ([FLAT, E_OF_W], 2),
        ([AROUND, FLAT, E_OF_W], 3),
        ([AROUND.replace("int_w", r"int_{\mathbb{R}^d}"), FLAT.replace("int_w", "int"), E_OF_W], 3),
        ([AROUND, FLAT, r"\mathbb{E}_{w\sim\mathcal{N}(0,I)}[e^{w^\top u}]"], 3),
        ([AROUND, FLAT, E_OF_W.replace("x)", "x + 1)")], 2),
        ([AROUND.replace("-d/2", "d/2"), FLAT, E_OF_W], 0),
        ([AROUND, FLAT.replace("w^", "2w^"), E_OF_W], 1),
    ],
}  # fmt: skip
CASES = [
    pytest.param(exercise, answer, points, id=f"{exercise.name}-{k}")
    for exercise, answers in EARNED.items()
    for k, (answer, points) in enumerate(answers)
]


@pytest.mark.parametrize(("exercise", "answer", "points"), CASES)
def test_a_derivation_earns_what_its_true_lines_show(exercise, answer, points):
    found = exercise(answer)
    assert found.earned == points, found.says
    assert (found.outcome == "right") == (points == exercise.points)


@pytest.mark.parametrize(("exercise", "answer", "points"), CASES)
def test_a_derivation_earns_the_same_in_grading(exercise, answer, points):
    here = exercise(answer)
    with elsewhere(answer=answer) as there:
        far = exercise(value(there, "answer"))
    assert (far.outcome, far.earned, far.says) == (here.outcome, here.earned, here.says)
