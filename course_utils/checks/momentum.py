"""Unit 02: momentum is a running average."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache, partial
from itertools import accumulate
from typing import Annotated, Any

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.chains import Chain, Line, Milestone, Seen
from selfcheck.compare import close
from selfcheck.derivation import (
    Derivation,
    Report,
    integers,
    interval,
    positive,
    real,
    sequence,
    vector,
)
from selfcheck.display import show, show_apart, show_at
from selfcheck.exercises import exercise
from selfcheck.forms import Forms
from selfcheck.formula import ReadFormula
from selfcheck.kinds import Formula, FormulaAnswer, Function, Lines, RealNumber, StudentId
from selfcheck.line_by_line import Way, change, changes_with, judge_steps, once, some_line, value_of
from selfcheck.own_numbers import OwnNumbers
from selfcheck.per_case import each
from selfcheck.remembering import remembered
from selfcheck.sampling import cases, magnitude, numbers, sizes
from selfcheck.verdicts import Verdict, differs, right, wrong

from ..numbers.momentum import Momentum, momentum
from ..optimizers import averaging_step, momentum_step, moves, running_average

_averages = remembered(running_average)

GRADIENTS = [2.0, -1.0, 3.0, 0.0, 1.0, -2.0]
BETA_DELTA = Formula(beta=(0, 1), delta=(0, 5))
OfBoth = Annotated[FormulaAnswer, BETA_DELTA]
BETA_T = Formula(beta=(0, 1), t=range(1, 9))
BETA = Formula(beta=(0, 1))


SIX_DIGITS = 5.001e-6  # relative: half a unit of the sixth
Point = dict[str, Any]


def any_beta(rng: np.random.Generator) -> float:
    """Anywhere between 0 and 1, but not close to them."""
    return round(rng.uniform(0.05, 0.95), 2)


def near_0(rng: np.random.Generator) -> float:
    """A small β."""
    return round(any_beta(rng) / 1000, 5)


def near_1(rng: np.random.Generator) -> float:
    """A β that remembers hundreds or thousands of gradients, with four digits."""
    return round(1 - magnitude(rng, 1e-4, 1e-3) * int(rng.integers(1, 10)), 4)


def any_step_size(
    rng: np.random.Generator,
    beta: Callable[[np.random.Generator], float] = any_beta,
    least: float = 10.0,
    most: float = 1e4,
) -> Point:
    """β, and a step size δ between these magnitudes."""
    return {"beta": beta(rng), "delta": magnitude(rng, least, most) * int(rng.integers(1, 10))}


STEP_SIZES: list[Callable[[np.random.Generator], Point]] = [
    any_step_size,
    partial(any_step_size, beta=near_0, least=1e-4, most=0.1),
    partial(any_step_size, beta=near_1, least=1e-4),
]


def _exchanged(alpha: FormulaAnswer, epsilon: FormulaAnswer | None) -> bool:
    """Is ε where α should be, and α where ε should be?"""
    return epsilon is not None and all(
        close(alpha(**p), (1 - p["beta"]) * p["delta"]) and close(epsilon(**p), p["beta"])
        for p in BETA_DELTA.points()
    )


@exercise
@each(BETA_DELTA.points, *STEP_SIZES)
def equivalent_rules(alpha: OfBoth, epsilon: OfBoth, *, point) -> Verdict | None:
    """Find α and ε in β and δ so that rule M and rule A make the same moves."""
    a, e = alpha(**point), epsilon(**point)
    rule_m = moves(momentum_step, GRADIENTS, alpha=a, epsilon=e)
    rule_a = moves(averaging_step, GRADIENTS, **point)
    at = f"At {show_at(point)}, on the gradients {show(GRADIENTS)},"
    return differs(rule_a, rule_m, at=at, what="the sequence of moves")


@equivalent_rules.part("α")
def _alpha(alpha: FormulaAnswer, epsilon: FormulaAnswer | None = None) -> Verdict:
    if _exchanged(alpha, epsilon):
        return wrong("here stands what a new gradient is multiplied by.", at="exchanged", yours=1)
    for point in cases(BETA_DELTA.points(), *STEP_SIZES):
        first, second = moves(averaging_step, [1, 0], **point)
        at = f"At {show_at(point)}, after the gradients 1 and 0,"
        what = "the second move as a share of the first"
        start, then = moves(momentum_step, [1, 0], alpha=alpha(**point), epsilon=1)
        if verdict := differs(second / first, then / start, at=at, what=what):
            return verdict
    return right()


@equivalent_rules.part("ε", points=2)
def _epsilon(epsilon: FormulaAnswer, alpha: FormulaAnswer | None = None) -> Verdict:
    if alpha is not None and _exchanged(alpha, epsilon):
        return wrong("here stands what an old velocity is multiplied by.", at="exchanged", yours=1)
    for point in cases(BETA_DELTA.points(), *STEP_SIZES):
        (rule_a,) = moves(averaging_step, [1], **point)
        (rule_m,) = moves(momentum_step, [1], alpha=0, epsilon=epsilon(**point))
        at = f"At {show_at(point)}, with the gradient 1,"
        if verdict := differs(rule_a, rule_m, at=at, what="the first move"):
            return verdict
    return right()


def few_weights(rng: np.random.Generator) -> tuple[float, int]:
    """β, and few gradients."""
    return any_beta(rng), sizes(rng, 1)[0]


def many_weights(rng: np.random.Generator) -> tuple[float, int]:
    """Many gradients, and a β for which the first still count."""
    return round(rng.uniform(0.8, 0.98), 2), int(rng.integers(20, 41))


def _weighs_otherwise(seen: np.ndarray, answer: np.ndarray, at: str, what: str) -> Verdict | None:
    """The first gradient whose weight, seen as a unit impulse, is not the answer's."""
    for i, weight in enumerate(seen):
        impulse = f"{at} with g_{i + 1} = 1 and every other gradient 0,"
        share = f"{what}, the weight of g_{i + 1},"
        if verdict := differs(
            weight, answer[i], at=impulse, what=share, whole=answer, tolerance=1e-5
        ):
            return verdict
    return None


@exercise
@each([(0.5, 3), (0.9, 1), (0.25, 2), (0.8, 7)], few_weights, many_weights)
def weights(
    weights: Annotated[FunctionAnswer, Function(samples=[(0.9, 1), (0.5, 3), (0.8, 6)])], *, beta, t
) -> Verdict | None:
    """Write a function of β and t that returns how far each of g_1 … g_t has moved θ by step t."""
    answer = weights.array(beta, t, shape=(t,))
    seen = _averages(np.eye(t), beta).sum(axis=0)
    what = f"v_1 + … + v_{t}" if t > 1 else "v_1"
    return _weighs_otherwise(seen, answer, f"At β = {beta}, t = {t},", what)


def any_time(rng: np.random.Generator, first: int = 1, last: int = 40) -> Point:
    """t, and a β whose t-th power is neither 0 nor 1."""
    (t,) = sizes(rng, 1, first, last)
    return {"t": t, "beta": round(rng.uniform(0.2, 0.8) ** (1 / t), 4)}


@exercise
@each(BETA_T.points, any_time, partial(any_time, first=9, last=1000))
def bias(factor: Annotated[FormulaAnswer, BETA_T], *, point) -> Verdict | None:
    """Find the factor E[v_t] / E[g] in β and t, for gradients with a constant mean."""
    seen = _averages(np.ones(point["t"]), point["beta"])[-1]
    at = f"At {show_at(point)}, where every gradient is 1,"
    return differs(seen, factor(**point), at=at, what="v_t as a share of the gradient")


def few_gradients(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of any magnitude, and a β for each."""
    (T,) = sizes(rng, 1)
    return numbers(rng, T, largest=magnitude(rng, 1e-3, 1e12)), rng.uniform(0.05, 0.95, T).round(2)


def many_gradients(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Many gradients, with which the first still count."""
    T = int(rng.integers(20, 41))
    return numbers(rng, T, largest=magnitude(rng, 1e-3, 1e12)), rng.uniform(0.8, 0.98, T).round(2)


RISING, FALLING = np.array([0.2, 0.5, 0.8, 0.9, 0.9, 0.9]), np.array([0.9, 0.8, 0.5, 0.5, 0.4, 0.1])
AVERAGED = [
    (g, beta[: len(g)])
    for beta in (RISING, FALLING)
    for g in (np.full(6, 2.0), np.array(GRADIENTS), np.ones(1))
]


def _raw(g: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """v_1 … v_T of rule A with a β of its own in every step."""
    steps = zip(g, beta, strict=True)
    along = accumulate(steps, lambda v, step: step[1] * v + (1 - step[1]) * step[0], initial=0.0)
    return np.array([*along][1:])


@exercise
@each(AVERAGED, few_gradients, many_gradients)
def corrected_average(
    corrected_average: Annotated[
        FunctionAnswer, Function(samples=[(np.array(GRADIENTS), RISING), (np.ones(3), FALLING[:3])])
    ],
    *,
    g,
    beta,
) -> Verdict | None:
    """Write a function of gradients and their β_1 … β_T that returns the unbiased averages."""
    answer = corrected_average.array(g, beta, shape=g.shape)
    raw, raw_ones = _raw(g, beta), _raw(np.ones(len(g)), beta)
    expected = raw / raw_ones  # the raw recursion, scaled so that a constant stays itself
    off = np.abs(answer - expected) > 1e-5 * np.abs(expected).max()
    for t in np.flatnonzero(off):
        at = (
            f"At β = {show(beta[: t + 1])} and gradients {show(g[: t + 1])} the raw recursion "
            f"has v_{t + 1} = {show(raw[t])}, and {show(raw_ones[t])} if all gradients were 1:"
        )
        what = "the unbiased average"
        if verdict := differs(expected[t], answer[t], at=at, what=what, whole=answer):
            return verdict
    return None


OF_ANY_GRADIENT = Forms({r"\mathbb{E}[g]": "mu", r"\mathbb{E}[g_{#1}]": "mu"}, {"g": (1, 0)})
EXPECTED_VELOCITY = "(1 - beta)*Sum(beta**(t - i)*mu, (i, 1, t))"


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Sum"


def _sums(line: ReadFormula) -> list[Any]:
    return [node for node in ast.walk(line.tree) if _is_sum(node)]


SOMEWHERE = {"beta": 0.3, "t": 4, "mu": 1.7}


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _mu_outside(line: ReadFormula) -> bool:
    """A sum of t powers of β and nothing else, without which the line would be another one."""
    sums = _sums(line)
    if not any("t" in _names(total.args[1]) for total in sums):
        return False
    for total in sums:
        index = _names(total.args[1]) - {*SOMEWHERE}
        summand = _names(total.args[0])
        if "mu" in summand or "beta" not in summand or not index & summand:
            return False
    return changes_with(line, _is_sum, SOMEWHERE)


def _series_summed(line: ReadFormula) -> bool:
    """The series as a quotient, 0/0 at β = 1, of which there is another one for each t."""

    def is_quotient(node: ast.AST) -> bool:
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Pow)):
            return False
        below = node.right if isinstance(node.op, ast.Div) else node.left
        if isinstance(node.op, ast.Pow) and not isinstance(node.right, ast.UnaryOp):
            return False
        return close(value_of(below, line, SOMEWHERE | {"beta": 1.0}), 0.0)

    early, late = (change(line, is_quotient, SOMEWHERE | {"t": t}) for t in (4, 5))
    return abs(early - late) > 1e-9


SUM_THE_SERIES = Way(
    (
        some_line(
            lambda line: _mu_outside(line) or _series_summed(line),
            "no line shows how the sum comes to its end: put one with μ before a sum of powers of "
            "β and nothing else, or one with the series as a quotient (as text, in quotes: SymPy "
            "cancels a quotient before it gets here)",
        ),
    ),
    goal=lambda line: not _sums(line),
    not_there="the last one still contains a sum.",
)


@cache
def _begun() -> Derivation:
    domains = {"beta": interval(0, 1), "t": integers(1, None), "mu": real}
    return Derivation(EXPECTED_VELOCITY, [], where=domains)


@once
def _derived(lines: list[ReadFormula]) -> Report:
    return _begun().goes_on(("=", str(line), "") for line in lines).check()


@exercise
def expectation(
    lines: Annotated[list[ReadFormula], Lines(["beta", "t", "mu"], forms=OF_ANY_GRADIENT)],
) -> Verdict:
    """Derive E[v_t] without a sum, line by line, from the weighted sum of the means."""
    return judge_steps(_derived(lines), lines, SUM_THE_SERIES, 2, "The last line has no sum left.")


MOVE = Formula(beta=(0, 1), delta=(0, 5), step=(-3, 3), g=(-3, 3))


def any_move(rng: np.random.Generator) -> Point:
    """Any β, δ, last move and gradient."""
    step, g = numbers(rng, 2, largest=magnitude(rng, 1, 1e4))
    return any_step_size(rng) | {"step": float(step), "g": float(g)}


RULE = Formula(beta=(0, 1), delta=(0, 5), v_prev=(-3, 3), g=(-3, 3))
LINE = Formula(**RULE.domain, v=(-9, 9), step=(-9, 9))


def _blamed(student: str, line: float) -> str:
    """Whether a line is the "first" false one, a "true" one before it, or a "later" one.

    Found by numbers: a line is false that is not what the start is. It is "none" of the lines if
    there is no such number.
    """
    found = momentum(student).derivation
    if line not in _numbers(student):
        return "none"
    velocity = RULE.read(found.velocity, "the rule")
    last_move = RULE.read(f"-delta*v_prev/{found.parts}", "the rule, one step earlier")
    points = [p | {"v": velocity(**p), "step": last_move(**p)} for p in RULE.points()]
    start, *rest = (
        LINE.read(text, "a line") for text in found.lines[: int(line) - found.first + 1]
    )
    same = [all(close(one(**p), start(**p)) for p in points) for one in rest]
    return "true" if all(same) else "first" if all(same[:-1]) else "later"


def _numbers(student: str) -> range:
    """The numbers of the student's lines."""
    found = momentum(student).derivation
    return range(found.first, found.first + len(found.lines))


def _terms(student: str, point: Point) -> tuple[float, float]:
    """What the student's rule does after this move, with this gradient: the shares of both."""
    found = momentum(student).derivation
    share = 1 - point["beta"] if student == "0" else float(found.share)
    return point["beta"] * point["step"], -share * point["delta"] / found.parts * point["g"]


def _move(student: str, point: Point) -> float:
    return sum(_terms(student, point))


@exercise(numbers=momentum)
def first_false_line(
    student: StudentId, line: RealNumber, correction: Annotated[FormulaAnswer, MOVE]
) -> None:
    """Find the first false line of your derivation, and write it as it should be."""


@first_false_line.part("Line")
def _line(student: str, line: float) -> Verdict:
    blamed = _blamed(student, line)
    if blamed == "first":
        return right()
    numbers = _numbers(student)
    says = f"({line:g}) is not the first false line."
    if blamed == "none":
        says = (
            f"({show(line, 9)}) is none of the lines, which are ({numbers[0]}) to ({numbers[-1]})."
        )
    return wrong(says, at="the line", yours=line)


@first_false_line.part("Correction", points=2)
@each(MOVE.points, any_move)
def _correction(student: str, correction: FormulaAnswer, *, point) -> Verdict | None:
    at, what = f"At {show_at(point)}", "the move of the rule"
    move, size = _move(student, point), sum(map(abs, _terms(student, point)))
    tolerance = SIX_DIGITS * size / max(abs(move), 1e-9 * size, 1e-300)
    return differs(move, correction(**point), at=at, what=what, tolerance=tolerance)


BETAS = [lambda rng, beta=beta: {"beta": beta(rng)} for beta in (any_beta, near_0, near_1)]


@exercise
@each(BETA.points, *BETAS)
def half_life(half_life: Annotated[FormulaAnswer, BETA], *, point) -> Verdict | None:
    """Find the number of steps after which a gradient weighs half of what it did, in β."""
    steps = half_life(**point)
    at = f"At {show_at(point)}, after your {show(steps)} steps,"
    with np.errstate(over="ignore"):
        left = np.float64(point["beta"]) ** steps
    return differs(0.5, left, at=at, what="what is left of a weight", whole=steps)


# -- 2.8 ------------------------------------------------------------------------------------------

BETWEEN = np.linspace(0, 1, 3)


@np.errstate(all="ignore")
def _worst_factor(alpha: float, epsilon: float, n: Momentum) -> float:
    """The largest factor by which rule M multiplies an error in a step, over all slopes.

    Along a slope λ two errors in a row determine the next: x² = (1 + α − ελ) x − α.
    """
    slopes = n.smallest + BETWEEN * (n.largest - n.smallest)
    half = (1 + alpha - slopes * epsilon) / 2
    inside = half**2 - alpha
    real = np.abs(half) + np.sqrt(np.maximum(inside, 0))
    worst = np.where(inside < 0, np.sqrt(np.abs(alpha)), real).max()
    return float(np.nan_to_num(worst, nan=np.inf))


def _beaten(alpha: float, epsilon: float, n: Momentum, plain: bool = False) -> Verdict:
    """Is this the best pair there is, to six digits? Around it the factor is steep."""
    low, high = (n.smallest, n.largest) if plain else np.sqrt([n.smallest, n.largest])
    best, step = (high - low) / (high + low), 2 / (high + low)
    ideal = (0.0, step) if plain else (best**2, step**2)
    if all(abs(a - b) <= SIX_DIGITS * b for a, b in zip((alpha, epsilon), ideal, strict=True)):
        return right()
    factor = _worst_factor(alpha, epsilon, n)
    if factor >= 1:
        says = f"multiplies the error by {show(factor)} in the long run: it does not shrink."
        at = "no descent"
    else:
        yours, possible = show_apart(factor, best)
        says = f"multiplies the error by {yours} in the long run; {possible} can be reached along "
        says, at = f"{says}all of them at once.", "the factor"
    return wrong(f"along some slope a step {says}", at=at, yours=[alpha, epsilon])


@exercise(numbers=OwnNumbers(momentum, within=1e-4))
def best_memory(
    student: StudentId, plain_step: RealNumber, best_alpha: RealNumber, best_epsilon: RealNumber
) -> None:
    """Find the best step of plain descent and the best pair (α, ε) of rule M for your valley."""


@best_memory.part("Plain descent")
def _plain(student: str, plain_step: float) -> Verdict:
    return _beaten(0.0, plain_step, momentum(student), plain=True)


@best_memory.part("Rule M", points=2)
def _with_memory(student: str, best_alpha: float, best_epsilon: float) -> Verdict:
    return _beaten(best_alpha, best_epsilon, momentum(student))


# -- 2.9 ------------------------------------------------------------------------------------------


def _looking_ahead(gradients: np.ndarray, alpha: float, epsilon: float) -> np.ndarray:
    """The last move of the place where gradients are taken: θ_t − αv_t less θ_{t−1} − αv_{t−1}."""
    theta = v = before = ahead = np.zeros(gradients.shape[1])
    for g in gradients:
        v, move = momentum_step(v, g, alpha, epsilon)
        theta = theta + move
        before, ahead = ahead, theta - alpha * v
    return ahead - before


def any_memory(rng: np.random.Generator, least: int = 1) -> tuple[float, float, int]:
    """α, ε and t; the first gradients still count."""
    (t,) = sizes(rng, 1, least, 30)
    return round(rng.uniform(0.5, 0.95), 2), magnitude(rng), t


LONG_MEMORY = partial(any_memory, least=8)


MEMORIES = [(0.9, 0.1, 3), (0.5, 2.0, 1), (0.8, 1.0, 5)]
Ahead = Annotated[FunctionAnswer, Function(samples=MEMORIES)]


@exercise
@each([(0.5, 1.0, 2), (0.5, 1.0, 1), (0.9, 0.1, 4)], any_memory, LONG_MEMORY)
def lookahead_weights(lookahead_weights: Ahead, *, alpha, epsilon, t) -> Verdict | None:
    """Write a function of α, ε and t: what g_1 … g_t weigh in the t-th move of the look-ahead."""
    answer = lookahead_weights.array(alpha, epsilon, t, shape=(t,))
    seen = -_looking_ahead(np.eye(t), alpha, epsilon)
    at = f"At α = {alpha}, ε = {show(epsilon)}, t = {t},"
    return _weighs_otherwise(seen, answer, at, f"−Δφ_{t}")


# -- 2.10 -----------------------------------------------------------------------------------------

CHANGE = Formula(beta=(0, 1), c=(1, 20), k=range(1, 9))


def any_change(rng: np.random.Generator, least: float = 1, last: int = 30) -> Point:
    """Any β, a cut by up to 1,000, and up to so many steps after it."""
    cut = magnitude(rng, least, 100) * int(rng.integers(2, 10))
    return {"beta": any_beta(rng), "c": cut, "k": int(rng.integers(1, last + 1))}


@remembered
def _moves_after(beta: float, c: float, k: int) -> tuple[float, float]:
    """The k-th moves of rules M and A after the cut, on gradients of 1; long ago both began."""
    long_ago = int(np.ceil(np.log(1e-15) / np.log(beta)))
    v_m = v_a = move_m = move_a = 0.0
    for t in range(-long_ago, k):
        delta = 1.0 if t < 0 else 1 / c
        v_m, move_m = momentum_step(v_m, 1.0, alpha=beta, epsilon=delta * (1 - beta))
        v_a, move_a = averaging_step(v_a, 1.0, beta=beta, delta=delta)
    return move_m, move_a


@exercise
@each(CHANGE.points, any_change, partial(any_change, least=100, last=3))
def after_the_cut(ratio: Annotated[FormulaAnswer, CHANGE], *, point) -> Verdict | None:
    """Find how many times as far rule M moves as rule A in the k-th step after a cut by c."""
    rule_m, rule_a = _moves_after(**point)
    at = f"At {show_at(point)} rule M moves by {show(rule_m)} and rule A by {show(rule_a)}:"
    return differs(rule_m / rule_a, ratio(**point), at=at, what="the ratio")


# -- 2.11 -----------------------------------------------------------------------------------------

OF_A_STEP = Forms({"v_t": "v", "v_{t-1}": "v_prev", "g_t": "g", r"\Delta\theta_{t-1}": "step"})
MOVES = Chain(
    "-delta*v",
    where={"beta": interval(0, 1), "delta": positive, "v_prev g": real},
    given={"v": "beta*v_prev + (1 - beta)*g", "step": "-delta*v_prev"},
    forms=OF_A_STEP,
    steps=[Milestone("rule A is never put in for v_t", [Seen(without="v step")])],
    goal=[Seen(without="v v_prev")],
    not_there="the last one still contains a velocity.",
)


@exercise
def move_by_lines(move_lines: Annotated[list[Line], MOVES]) -> Verdict:
    """Derive the move of rule A from the move before it and the gradient, line by line."""
    return MOVES.judge(move_lines, 2, "The last line has no velocity left.")


# -- 2.12 -----------------------------------------------------------------------------------------


def _put_in(k: int | str) -> str:
    """Rule A, put into itself k times."""
    return rf"\beta^{k} v_{{t-{k}}} + (1-\beta)\sum_{{s=0}}^{{{k}-1}} \beta^s g_{{t-s}}"


UNROLLED = Chain(
    "v_t",
    where={
        "beta": interval(0, 1),
        "v g": sequence(vector("n")),
        "t": integers(4, 9),
        "i j k m": integers(2, 3),
    },
    given={"v_t": r"\beta v_{t-1} + (1-\beta) g_t", "v_0": "0"},
    steps=[
        Milestone(
            "no line has the rule put in twice or more: there v_{t−2}, or v_{t−k}, still stands",
            [Seen(like=_put_in(k)) for k in (2, 3, *"ijkm")],
        )
    ],
    goal=[Seen(without="v")],
    not_there="the last one still contains a velocity.",
)


@exercise
def unrolled_by_lines(unrolled_lines: Annotated[list[Line], UNROLLED]) -> Verdict:
    """Unroll the velocity of rule A line by line, until gradients alone are left."""
    return UNROLLED.judge(unrolled_lines, 2, "Gradients alone are left, each with its weight.")
