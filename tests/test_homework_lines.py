r"""Whole derivations as students hand them in: every line is read, and judged by what is true.

The chains have the forms of real homework on recurrent networks, running averages, attention and
weight decay, with their slips, in letters of our own. A letter says what is true of a line:
s begins a chain, t is true, f false, x cannot be meant (and says so), ? shows no pattern.
"""

import pytest

from course_utils.derivation import (
    Derivation,
    activation,
    function,
    integers,
    interval,
    matrix,
    positive,
    random,
    sequence,
    vector,
)
from selfcheck.derivation.lines import START
from selfcheck.forms import Forms

NETWORK = {
    "A": matrix("n", "n"), "B": matrix("n", "m"), "u": sequence(vector("m")), "c": vector("n"),
    "s": sequence(vector("n")), r"\phi": activation(), "t": integers(3, 5), "k": integers(0, 1),
    "i": integers(1, 3), "T": integers(2, 4),
}  # fmt: skip
STATE = {"s_t": r"A\phi(s_{t-1}) + B u_t + c"}
SMALL = {k: v for k, v in NETWORK.items() if k != "A"} | {
    "M": matrix("n", "n"), r"\epsilon": interval(0.3, 0.99), r"\kappa": interval(1, 1.5)
}  # fmt: skip
AVERAGE = {
    r"\rho": interval(0, 1), r"\eta": positive, "m p": sequence(vector("n")),
    "t": integers(4, 6), "i": integers(2, 4),
}  # fmt: skip
MEAN = {"m_t": r"\rho m_{t-1} + (1-\rho) p_t"}
RANDOM = {
    r"\rho": interval(0, 1), "p": random(sequence(vector("n")), same_law=True),
    "m": sequence(vector("n")), "t": integers(2, 4), "i": integers(1, 2),
}  # fmt: skip
ROWS = Forms(
    {r"\pi^{a_{#1,#2}}": "S_{#1,#2}", r"\pi^{b_{#1,#2}}": "R_{#1,#2}"},
    {"a": (0, 2), "b": (0, 2), "pi": (0, 0)},
)

CHAINS = {
    "induction": (
        r"""\begin{aligned}
        & \phi(\boldsymbol{A}\phi(\boldsymbol{s}_{t-1}) + \boldsymbol{B}\boldsymbol{u}_t
          + \boldsymbol{c}) \\
        &= \phi(\boldsymbol{A}\frac{(\boldsymbol{s}_t - \boldsymbol{B}\boldsymbol{u}_t
          - \boldsymbol{c})}{\boldsymbol{A}} + \boldsymbol{B}\boldsymbol{u}_t + \boldsymbol{c}) \\
        &= \phi((\boldsymbol{s}_t - \boldsymbol{B}\boldsymbol{u}_t - \boldsymbol{c})
          + \boldsymbol{B}\boldsymbol{u}_t + \boldsymbol{c}) = \phi(\boldsymbol{s}_t)
        \end{aligned}""",
        "xtt", {"where": NETWORK, "given": STATE},
    ),
    "a Jacobian": (
        r"""\frac{\partial \boldsymbol{s}_{t}}{\partial \boldsymbol{s}_{t-1}}
        = \frac{\boldsymbol{s}_{t}}{\phi(\boldsymbol{s}_{t-1})}
          * \frac{\phi(\boldsymbol{s}_{t-1})}{\boldsymbol{s}_{t-1}}
        = \boldsymbol{A}^{T} * diag(\phi'(\boldsymbol{s}_{t-1})) \\
        \frac{\partial s_t}{\partial s_k}
        = \prod_{k < i < t} \boldsymbol{A}^T * diag(\phi'(\boldsymbol{s}_{i-1}))""",
        "xfsf", {"where": NETWORK, "given": STATE, "products": "left"},
    ),
    "a bound on it": (
        r"""\left\| \frac{\partial s_{i+1}}{\partial s_{i}} \right\|
        = \left| \left| \boldsymbol{A}^{T} diag(\phi'(\boldsymbol{s}_{i})) \right| \right|
        \leq \left| \left| \boldsymbol{A}^{T} \right| \right|
             \left| \left| diag(\phi'(\boldsymbol{s}_{i})) \right| \right|
        \leq \frac{\epsilon}{\kappa}\kappa \leq \epsilon \\
        \left\| \frac{\partial s_T}{\partial s_0} \right\|
        = \left\| \prod_{i=0}^{T-1} \frac{\partial \boldsymbol{s}_{i+1}}
                                         {\partial \boldsymbol{s}_i} \right\|
        \le \epsilon^T""",
        "ftttstt",
        {"where": SMALL, "given": {"A": r"\frac{\epsilon}{\kappa(1+\|M\|)} M", **STATE},
         "products": "left"},
    ),
    "a move by the move before it": (
        r"""-\eta \boldsymbol{m}_t = -\eta(\rho \boldsymbol{m}_{t-1} + (1-\rho)\boldsymbol{p}_t)
        = -\eta(\rho \Delta \boldsymbol{\omega}_{t-1} + (1-\rho)\boldsymbol{p}_t)
        = -\eta\rho \Delta \boldsymbol{\omega}_{t-1} - \eta(1-\rho)\boldsymbol{p}_t""",
        "tft",
        {"where": {**AVERAGE, r"\Delta\omega": sequence(vector("n"))},
         "given": {**MEAN, r"\Delta\omega_t": r"-\eta m_t"}},
    ),
    "an average unrolled": (
        r"""\rho \mathbf{m}_{t-1} + (1 - \rho) \mathbf{p}_t
        = \rho(\rho \boldsymbol{m}_{t-2} + (1-\rho)\boldsymbol{p}_{t-1}) + (1-\rho)p_t
        = \rho^2 \mathbf{m}_{t-2} + \rho (1-\rho) \mathbf{p}_{t-1} + (1-\rho) \mathbf{p}_t
        = \rho^2(\rho m_{t-3} + (1-\rho)p_{t-2}) + \rho(1-\rho)p_{t-1} + (1-\rho)p_t
        = \rho^3 m_{t-3} + \rho^2 (1-\rho) p_{t-2} + \rho^1 (1-\rho) p_{t-1} + (1-\rho) p_t
        = \rho^{i} m_{t-i} + \rho^{i-1} (1-\rho) p_{t-i+1} + \rho^{i-2} (1-\rho) p_{t-i+2}
          + \ldots + \rho^{0} (1-\rho) p_{t}
        = \rho^t m_0 + \rho^{t-1}(1-\rho) p_1 + \rho^{t-2} (1-\rho) p_2
          + \ldots + \rho^0 (1-\rho) p_t
        = \rho^{t-1}(1-\rho)p_1 + \rho^{t-2}(1-\rho)p_2 + \rho^{t-i}(1-\rho)p_i \dots
          + \rho^0(1-\rho)p_t""",
        "ttttttt", {"where": AVERAGE, "given": {**MEAN, "m_0": "0"}},
    ),
    "its expectation": (
        r"""\mathbb{E}[m_t] = \mathbb{E}[\sum_{i=1}^t (\rho^{t-i}(1-\rho)\boldsymbol{p}_i)]
        = (1-\rho)\mathbb{E}[\sum_{i=1}^t \rho^{t-i}\boldsymbol{p}_i]
        = (1-\rho)\sum_{i=1}^t \rho^{t-i}\mathbb{E}[\boldsymbol{p}_i]
        = (1 - \rho) \sum_{i=1}^t \rho^{t-i} \mathbb{E}[\boldsymbol{p}]
        = \mathbb{E}[\boldsymbol{p}](1-\rho)\frac{1-\rho^t}{1-\rho}
        = \mathbb{E}[\boldsymbol{p}](1-\rho^t) \\
        \sum_{i=1}^{t} \rho^{t-i} = \frac{1-\rho^t}{1-\rho}""",
        "ttttttst", {"where": RANDOM, "given": {**MEAN, "m_0": "0"}},
    ),
    "rows that sum to one": (
        r"""\sum_{j=0}^{d} \pi^{a_{i,j}} \pi^{b_{0,j}} + \sum_{j=0}^{d} \pi^{a_{i,j}} \pi^{b_{1,j}}
          + \sum_{j=0}^{d} \pi^{a_{i,j}} \pi^{b_{2,j}} + \dots
          + \sum_{j=0}^{d} \pi^{a_{i,j}} \pi^{b_{n,j}}
        = \sum_{j=0}^{d} \pi^{a_{i,j}} \left(\sum_{i=0}^{n} \pi^{b_{i,j}} \right) = 1""",
        "tt",
        {"where": {"A B": matrix("N", "D"), "i": integers(0, 0), "N": integers(4, 6)},
         "given": {"n": "N - 1", "d": "D - 1", "S": r"\operatorname{softmax}_{row}(A)",
                   "R": r"\operatorname{softmax}_{col}(B)"},
         "first_index": 0, "forms": ROWS},
    ),
    "attention by entries": (
        r"""\frac{exp(a_{0,0}b_{0,0})}{\sum_{j=0}^{d} exp(a_{0,j}b_{0,j})} \\
        \begin{bmatrix} \frac{exp(a_{0,0}b_{0,0})}{\sum_{j=0}^{d} exp(a_{0,j}b_{0,j})} & \cdots
          \\ \vdots & \ddots \end{bmatrix}
        = \text{softmax}_{\text{row}} \left( \boldsymbol{A} \boldsymbol{B}^{\top} \right)""",
        "??",
        {"where": {"A B a b": matrix("N", "D")}, "given": {"d": "D - 1"}, "first_index": 0},
    ),
    "a product of vectors by squares": (
        r"""\boldsymbol{v}^{\top}\boldsymbol{w}
        = -\frac{1}{2}(\boldsymbol{v}^{\top}\boldsymbol{v} - (\boldsymbol{v} + \boldsymbol{w})
          ^{\top}(\boldsymbol{v} + \boldsymbol{w}) + \boldsymbol{w}^{\top}\boldsymbol{w}) \\
        \exp(\boldsymbol{v}^{\top}\boldsymbol{w})
        = \exp(-\frac{1}{2}(v^{\top}v))\exp(\frac{1}{2}(v+w)^{\top}(v+w))
          \exp(-\frac{1}{2}w^{\top}w)
        = \exp(-\frac{||\boldsymbol{v}||^{2}}{2})\exp(\frac{||\boldsymbol{v}+\boldsymbol{w}||^{2}}
          {2})\exp(-\frac{||\boldsymbol{w}||^{2}}{2})""",
        "tstt", {"where": {"v w": vector("n")}},
    ),
    "a Gaussian integral": (
        r"""\int_{z} (2\pi)^{-d/2} \exp\left(-\frac{1}{2} \|\mathbf{z} - \mathbf{\mu}\|^{2}\right)
          d\boldsymbol{z} = 1 \\
        \exp\left(\frac{||\boldsymbol{a}_i + \boldsymbol{b}_j||^2}{2}\right)
        = (2\pi)^{-d/2} \exp\left(\frac{||a_i + b_j||^2}{2}\right) \int_{\boldsymbol{z}}
          \exp\left(-\frac{1}{2}||\boldsymbol{z} - (a_i + b_j)||^2\right) d\boldsymbol{z}
        = (2\pi)^{-d/2} \int_{z} \exp\left(-\frac{1}{2}||z - (a_i + b_j)||^2
          + (\frac{||a_i + b_j||^2}{2})\right) dz
        = (2\pi)^{-d/2} \int_{\boldsymbol{z}} \exp\left(-\frac{||\boldsymbol{z}||^2}{2}
          + \boldsymbol{z}^T(\boldsymbol{a}_i + \boldsymbol{b}_j)\right) d\boldsymbol{z}
        = (2\pi)^{-d/2}\int_{z}\exp(-\frac{||z||^2}{2})\exp(z^T a_i)\exp(z^T b_j)dz
        = \mathbb{E}_{\boldsymbol{z} \in \mathcal{N}(\mathbf{0}, \mathbf{I})}
          \left[\exp(\boldsymbol{z}^{\top} \boldsymbol{a}_i)
          \exp(\boldsymbol{z}^{\top} \boldsymbol{b}_j) \right]""",
        "tsttttt",
        {"where": {r"z \mu": vector(2), "a b": sequence(vector(2)), "d": integers(2, 2),
                   "i j": integers(1, 4)}},
    ),
    "weight decay": (
        r"""w_i - \eta \frac{\partial L(f(\mathbf{x}^{(i)}, w), \mathbf{y}^{(i)})
          + \lambda \|w\|_2^2}{\partial w_i}
        = w_i - \eta \left(\frac{\partial L(f(\mathbf{x}^{(i)}, w), \mathbf{y}^{(i)})}
          {\partial w_i} + 2\lambda w_i\right)
        = w_i - \eta \frac{\partial L(f(\mathbf{x}^{(i)}, w), \mathbf{y}^{(i)})}{\partial w_i}
          - 2\eta \lambda w_i""",
        "tt",
        {"where": {"w": vector("p"), "x y": sequence(vector("m")), "L": function(),
                   "f": function("m"), r"\eta \lambda": positive, "i": integers(1, 1)}},
    ),
}  # fmt: skip


def marks(tex, more):
    derivation = Derivation(tex, **more)
    letters = {"proved": "t", "held": "t", "false": "f"}
    found = ""
    for line, report in zip(derivation.lines, derivation.check().lines, strict=True):
        cannot = "cannot be meant" in report.sentence and "divides by" in report.sentence
        mark = "x" if cannot else letters.get(report.mark, "?")
        found += "s" if line.relation == START and mark == "t" else mark
    return found


@pytest.mark.parametrize("name", CHAINS)
def test_a_derivation_is_judged_line_by_line_as_it_was_handed_in(name):
    tex, truth, more = CHAINS[name]
    assert marks(tex, more) == truth


def test_all_lines_are_judged_but_those_that_cannot_be():
    """Two divide by an array, and one has a matrix that shows no pattern."""
    truths = "".join(truth for _, truth, _ in CHAINS.values())
    assert {mark: truths.count(mark) for mark in "tfx?s"} == {
        "t": 36, "f": 4, "x": 2, "?": 2, "s": 5,
    }  # fmt: skip
