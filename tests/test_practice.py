"""Practice: sister tasks, drawn anew, judged by the definition of the exercise, without points."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from course_utils.checks import attention, momentum, transport, two_heads
from course_utils.checks import capstone as _capstone  # noqa: F401 (all units are loaded)
from course_utils.checks import counting_cost as _counting_cost
from course_utils.checks import linear_attention as _linear_attention  # noqa: F401
from course_utils.checks import lookup as _lookup
from course_utils.checks import random_features as _random_features
from course_utils.checks import rnn_gradients as _rnn_gradients  # noqa: F401
from course_utils.checks import transformers_are_rnns as _transformers_are_rnns
from course_utils.checks import weight_decay as _weight_decay
from selfcheck.exercises import EXERCISES, Hint
from selfcheck.kinds import Function
from selfcheck.practice import Sister, as_code, filled, in_latex, solved

DRAWS = 200
COURSE = [e for e in EXERCISES if e.unit.startswith("course_utils.")]
PRACTICED = [e for e in COURSE if e.sisters]


# -- what is right with the numbers of an id that nobody has --------------------------------------


def _derived(n):
    found = n.derivation
    line = next(
        k
        for k in range(found.first, found.first + len(found.lines))
        if momentum._blamed(n.student, k) == "first"
    )
    return line, f"beta*step - {found.share}*delta*g/{found.parts}"


def _memory(n):
    low, high = np.sqrt([n.smallest, n.largest])
    best = ((high - low) / (high + low)) ** 2
    return 2 / (n.smallest + n.largest), best, 4 / (high + low) ** 2


def _gate(n):
    kept = n.share ** (1 / n.steps)
    return np.log(kept / (1 - kept)), int(np.ceil(np.log(1e-3) / np.log(kept)))


def _decays(n):
    def left(lowered):
        sizes = _weight_decay._sizes(n, lowered)
        return solved(lambda w: np.prod(1 - sizes * w) - n.left, 0, 1 / n.peak)

    return left(False), left(True)


def _looks(n):
    length = solved(lambda size: attention._of_length(size, n) - n.weight, 0, 1000)
    return 1000 * n.K[list(n.target)], length


def _shelf(n):
    squared = (np.array(n.places) - n.query) ** 2
    sharp = solved(lambda M: _lookup.off_target(M, squared) - n.epsilon, 0, 100)
    return sharp, solved(lambda y: -_lookup._ahead(n, y), -100, 100)


def _columns(n):
    from course_utils.numbers.two_heads import HALF_UNIT, columns_behind

    found = columns_behind(n.printed, two_heads._concat(n), HALF_UNIT + 1e-9)
    return (np.array([columns[0] for columns in found]).T,)


def _bytes(n):
    check = _counting_cost
    size = check._bytes(check._model_shapes(n))
    return size, (n.mebibytes * 2**20 - size) // check._bytes(check._cache_shapes(n, 1))


def _angle(keys, weights):
    """Where Σ w cos(q − k) is 0."""
    return np.arctan2(-(weights @ np.cos(keys)), weights @ np.sin(keys))


def _blind(n):
    keys, beyond = np.array(n.keys), np.array(n.values) - n.target
    return _angle(keys, np.ones(3)), _angle(keys, beyond)


def _ratio(n):
    first, second, weights = _random_features._relative_products(n)
    mean = np.exp(np.dot(n.q, n.k1) + np.dot(n.q, n.k2))
    together = weights @ ((first - 1) * (second - 1)) * mean / n.m
    return together, weights @ (first - second) ** 2 / n.r**2


def _written(n):
    keys = np.array(n.keys, dtype=float)
    states = [_transformers_are_rnns.written(n, rule) for rule in ("sum", "correction")]
    return *states, np.linalg.solve(keys, n.values)


def _in_two_ways(n):
    from course_utils.transport import another_optimal_plan

    first = transport._plan(n)
    return first, another_optimal_plan(transport._costs(n), n.p, n.q)


def _other_plan(n):
    plan = transport._plan(n)
    return plan if (plan != n.plan).any() else transport._plan(n, 2)


def _against_greed(n):
    """One unit is wanted right of the first place, the rest left of it by twice the way."""
    total, (a, b) = n.p.sum(), n.x[:2]
    for near in np.linspace(a, b, 9)[1:-1]:
        for far in (a - 50.0, b + 200.0):
            for k in range(1, int(total)):
                y, q = np.array([near, far]), np.array([k, total - k], dtype=float)
                C = transport.cost_table(n.x, y)
                best = transport.cost(transport.optimal_plan(C, n.p, q).plan, C)
                if transport._greedy_costs(C, n.p, q)[0] > best + 1e-3:
                    return y, q
    raise AssertionError(n)


def _prices(n):
    return np.append(0, np.cumsum(np.sign(transport._crossing(n)) * np.diff(n.places)))


def _slips(n):
    return [sorted(must) for must, _ in two_heads._misses(n)]


def _merged(n):
    (*_, first), (*_, second) = n.heads
    return first @ n.Wo[:3] + second @ n.Wo[3:]


def _steps(n, *names):
    return [getattr(two_heads._first(n.student), name) for name in names]


RIGHT = {
    "gate_bias": _gate,
    "first_false_line": _derived,
    "best_memory": _memory,
    "scheduled_decay": _decays,
    "looking_head": _looks,
    "projections": lambda n: _steps(n, "Q", "K", "V"),
    "scores_and_weights": lambda n: _steps(n, "scores", "weights"),
    "head_outputs": lambda n: [head.output for head in two_heads._heads(n)],
    "final_output": lambda n: (two_heads._concat(n), two_heads._concat(n) @ n.Wo),
    "other_keys": lambda n: [_steps(n, "K")[0] + np.array([5.0, -3, 2])],
    "hidden_matrix": _columns,
    "slips": _slips,
    "merged": lambda n: [_merged(n)],
    "other_heads": lambda n: (n.Wo[3:], np.linalg.inv(two_heads.R) @ n.Wo[:3]),
    "fits_in_memory": _bytes,
    "own_shelf": _shelf,
    "vanishing": _blind,
    "ratio": _ratio,
    "writing": _written,
    "plan_cost": lambda n: [transport.cost(n.plan, transport._costs(n))],
    "feasible_plan": lambda n: [_other_plan(n)],
    "two_optimal_plans": _in_two_ways,
    "certificate": lambda n: [_prices(n)],
    "greedy_loses": _against_greed,
    "squared_plan": lambda n: [transport._plan(n, 2)],
    "moving_places": lambda n: (
        transport._slopes(n, n.x.astype(float)),
        transport._projected(n),
    ),
}


def right_answer(exercise, task):
    if task.task.right is not None:
        return task.task.right
    return tuple(RIGHT[exercise.name](exercise.numbers(task.student)))


def as_text(answer):
    is_formula = isinstance(answer, str | list) or hasattr(answer, "subs")
    return str(answer if is_formula else np.round(answer, 6).tolist())


MANY_ARE_RIGHT = {"looking_head", "greedy_loses"}


def changed(answer):
    """Another answer of the same kind."""
    if callable(answer):
        return lambda *args: np.asarray(answer(*args)) + 1
    if hasattr(answer, "subs"):
        return answer + 1
    if isinstance(answer, list):
        return [] if answer else [(0, 0)]
    if isinstance(answer, str):
        return f"{answer} + g"
    return np.asarray(answer) * 1.37 + 1.01


@cache
def drawn(exercise):
    """200 tasks with their right answers."""
    tasks = [exercise.practice(seed) for seed in range(DRAWS)]
    return [(task, right_answer(exercise, task)) for task in tasks]


def test_every_exercise_can_be_practiced():
    assert len(COURSE) >= 112
    assert [e.name for e in COURSE if e not in PRACTICED] == []


@pytest.mark.parametrize("exercise", PRACTICED, ids=lambda e: f"{e.number}-{e.name}")
def test_every_task_can_be_solved(exercise):
    for task, right in drawn(exercise):
        assert repr(task(*right)).startswith("practice: right"), (task, task(*right))


@pytest.mark.parametrize("exercise", PRACTICED, ids=lambda e: f"{e.number}-{e.name}")
def test_another_answer_is_not_right_and_no_points_are_named(exercise):
    for task, right in drawn(exercise)[::20]:
        for k in range(len(right)):
            miss = np.zeros_like if exercise.name in MANY_ARE_RIGHT else changed
            other = [miss(a) if i == k else a for i, a in enumerate(right)]
            says = repr(task(*other))
            assert says.startswith("practice: "), says
            assert not says.startswith("practice: right"), says
            assert "The check itself failed" not in says, says
            assert " point" not in task._repr_markdown_().replace("without points", "")


@pytest.mark.parametrize("exercise", PRACTICED, ids=lambda e: f"{e.number}-{e.name}")
def test_tasks_differ_and_so_do_their_answers(exercise):
    asked = {task.task.asked for task, _ in drawn(exercise)}
    answers = {repr([as_text(a) for a in right]) for _, right in drawn(exercise)}
    assert len(asked) >= 150
    assert len(answers) >= (40 if exercise.name == "plan_cost" else 100)


@pytest.mark.parametrize("exercise", PRACTICED, ids=lambda e: f"{e.number}-{e.name}")
def test_a_task_shows_what_it_gives_and_nonsense_gets_a_sentence(exercise):
    task = exercise.practice(2)
    assert "practice " not in task.task.asked  # no made-up id
    assert not any(f"<{name}>" in task.task.asked for name in task.given)
    assert task.task.asked.count("$") % 2 == 0
    assert f"task = {exercise.called}.practice(2)" in repr(task)
    assert "practice: could not be checked" in repr(task(*["nonsense"] * len(task.task.kinds)))
    assert "Answer this task by" in repr(task(*range(9)))


def test_a_verdict_says_what_should_be_and_is_kept_nowhere():
    task, before = momentum.weights.practice(seed=7), momentum.weights.last
    says = repr(task(task.task.right[0] * 2))
    assert "should be" in says
    assert "yours is" in says
    assert momentum.weights.last is before
    assert "points" not in task(task.task.right[0])._repr_html_()


def test_known_mistakes_are_named_in_practice_with_numbers_of_nobody():
    task = transport.plan_cost.practice(seed=3)
    n = transport.plan_cost.numbers(task.student)
    forgotten = int((np.abs(n.x[:, None] - n.y) * (n.plan > 0)).sum())
    assert "distances counted, masses forgotten" in repr(task(forgotten))


def test_a_right_card_offers_practice_and_a_wrong_one_does_not():
    good = momentum.bias("1 - beta**t")
    assert "check.bias.practice()" in good._repr_html_()
    assert "practice" not in momentum.bias("beta**t")._repr_html_()


@pytest.mark.parametrize(("student", "says"), [(0, True), ("0", True), (7, False), (0.5, False)])
def test_a_card_says_that_the_numbers_of_id_0_are_nobodys(student, says):
    card = transport.plan_cost(student, 10**6)._repr_html_()
    assert ("With the numbers of id 0, which is nobody" in card) is says


def test_what_a_task_gives_can_be_used_in_code():
    task = attention.attention.practice(seed=5)
    assert task.Q is task.given["Q"]
    assert task.Q.ndim == 2
    with pytest.raises(AttributeError, match="gives no W"):
        task.W  # noqa: B018


def test_a_seed_gives_the_same_task_and_none_gives_others():
    assert repr(momentum.bias.practice(4)) == repr(momentum.bias.practice(4))
    assert len({repr(momentum.bias.practice()) for _ in range(5)}) > 1


def test_an_exercise_without_sisters_says_so(monkeypatch):
    monkeypatch.setattr(momentum.bias, "_sisters", ())
    assert isinstance(momentum.bias.practice(), Hint)


def test_values_are_typeset_or_written_as_code():
    assert in_latex(np.array([[1.0, 2.5], [0, -1]])) == (
        r"\begin{pmatrix} 1 & 2.5 \\ 0 & -1 \end{pmatrix}"
    )
    assert in_latex(np.array([0.1 + 0.2, 3])) == r"(0.3,\, 3)"
    assert as_code(np.array([1, 2])) == "[1, 2]"
    assert filled("$x < <a>$, <b:code>, <c>", {"a": 0.5, "b": [1, 0]}) == "$x < 0.5$, [1, 0], <c>"


def test_right_answers_of_function_tasks_are_functions(small_sister):
    task = small_sister.practice(1)
    assert isinstance(task.task.kinds["answer"], Function)
    c = task.c
    assert "right" in repr(task(lambda x: c * x))
    assert "should be" in repr(task(lambda x: c * x + 1))


@pytest.fixture
def small_sister():
    """An exercise of which another rule is asked for, as a function."""
    from typing import Annotated

    from selfcheck.calls import FunctionAnswer
    from selfcheck.exercises import exercise
    from selfcheck.verdicts import right

    before = list(EXERCISES)

    def twice(f: Annotated[FunctionAnswer, Function()]):
        """Write a function that doubles."""
        return right()

    twice.__annotations__ = {"f": Annotated[FunctionAnswer, Function()]}
    made = exercise("1.1", points=1)(twice)
    times = Sister("Times <c>.", lambda c: lambda x: c * x, {"c": range(2, 9)}, on=[1.0, 2.0])
    made.add_practice(times)
    yield made
    EXERCISES[:] = before
