"""Unit 10: right answers in several forms pass, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py.
"""

import re
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sympy

from course_utils.attention import elu_plus_one as phi
from course_utils.attention import softmax
from course_utils.checks import transformers_are_rnns as check
from course_utils.variants import transformers_are_rnns
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form, with_seeds
from tests.checks.forms import students_own

course = students_own("attention")
LinearAttentionState = course.LinearAttentionState

n, i, d = sympy.symbols("n i d", positive=True)


# -- causal attention by squares in several forms --------------------------------------------------


def psi(x):
    """Features for the square of φ(q)ᵀφ(k): all products of two."""
    return (phi(x)[..., :, None] * phi(x)[..., None, :]).reshape(*np.shape(x)[:-1], -1)


def half_of_them(x):
    """The same with each pair once."""
    a, b = np.triu_indices(np.shape(x)[-1])
    return phi(x)[..., a] * phi(x)[..., b] * np.where(a == b, 1, np.sqrt(2))


def masked(Q, K, V):
    A = np.tril((phi(Q) @ phi(K).T) ** 2)
    return A @ V / A.sum(axis=1, keepdims=True)


def by_cumulative_sums(Q, K, V):
    F, G = psi(Q), psi(K)
    s = np.cumsum(np.einsum("na,nb->nab", G, V), axis=0)
    return np.einsum("na,nab->nb", F, s) / (F * np.cumsum(G, axis=0)).sum(axis=1)[:, None]


def as_nested_lists(Q, K, V):
    rows = []
    for i, q in enumerate(Q):
        w = [float(phi(q) @ phi(k)) ** 2 for k in K[: i + 1]]
        rows.append(
            [sum(a * v[c] for a, v in zip(w, V, strict=False)) / sum(w) for c in range(V.shape[1])]
        )
    return rows  # fmt: skip


# -- the recurrence with states of many kinds ------------------------------------------------------


def tuple_step(state, q, k, v):
    s, z = state
    s, z = s + np.outer(psi(k), v), z + psi(k)
    return (s, z), psi(q) @ s / (psi(q) @ z)


def dict_step(state, q, k, v):
    state["s"] += psi(k)[:, None] * v  # in place
    state["z"] += psi(k)
    return state, [float(x) for x in psi(q) @ state["s"] / (psi(q) @ state["z"])]


def one_array_step(state, q, k, v):
    """z as the last column of s: a value of 1 is averaged along."""
    state = state + np.outer(psi(k), [*v, 1.0])
    y = psi(q) @ state
    return state, y[:-1] / y[-1]


@dataclass
class Memory:
    s: np.ndarray
    z: np.ndarray
    tokens: int = 0


def object_step(memory, q, k, v):
    (s, z), y = tuple_step((memory.s, memory.z), q, k, v)
    return Memory(s, z, memory.tokens + 1), y


def three_axes_step(state, q, k, v):
    """A matrix of features for each number of a value, read from both sides."""
    (s, z), q, k = state, phi(q), phi(k)
    s, z = s + np.einsum("a,b,c->abc", k, k, v), z + np.outer(k, k)
    return (s, z), np.einsum("a,b,abc->c", q, q, s) / (q @ z @ q)


RECURRENCES = [
    (lambda d, width: (np.zeros((d**2, width)), np.zeros(d**2)), tuple_step),
    (lambda d, width: (0, 0), tuple_step),  # numbers that become arrays with the first token
    (lambda d, width: {"s": np.zeros((d * d, width)), "z": np.zeros(d * d)}, dict_step),
    (lambda d, width: np.zeros((d * d, width + 1)), one_array_step),
    (lambda d, width: Memory(0.0, 0.0), object_step),
    (
        lambda d, width: LinearAttentionState.empty(d * (d + 1) // 2, width),
        lambda state, q, k, v: state.step(q, k, v, phi=half_of_them),
    ),
    (lambda d, width: (np.zeros((d, d, width)), np.zeros((d, d))), three_axes_step),
]


# -- the four questions ----------------------------------------------------------------------------


def by_softmax(Q, K, V):
    return softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ V


def by_sim(Q, K, V, sim):
    A = np.array([[sim(q, k) for k in K] for q in Q])
    return A @ V / A.sum(axis=1, keepdims=True)


def by_sim_with_loops(Q, K, V, sim):
    def mean(q):
        return sum(sim(q, k) * v for k, v in zip(K, V, strict=True)) / sum(sim(q, k) for k in K)

    return [mean(q) for q in Q]


def by_phi(Q, K, V, phi):
    return phi(Q) @ (phi(K).T @ V) / (phi(Q) @ phi(K).sum(axis=0))[:, None]


def by_phi_as_sim(Q, K, V, phi):
    return by_sim(Q, K, V, lambda q, k: phi(q) @ phi(k))


def decay_row_by_row(g):
    D = np.eye(len(g))
    for i in range(1, len(g)):
        D[i] += g[i] * D[i - 1]
    return D


def decay_by_products(g):
    return [[0.0 if j > i else float(np.prod(g[j + 1 : i + 1])) for j in range(len(g))]
            for i in range(len(g))]  # fmt: skip


def decay_in_logarithms(g):
    """Sums of logarithms, with shut gates counted apart."""
    logs = np.cumsum(np.log(np.where(g > 0, g, 1)))
    shut = np.cumsum(g == 0)
    open_between = shut[:, None] == shut
    return np.tril(np.exp(np.where(open_between, logs[:, None] - logs, -np.inf)))


def writing(student):
    """By projections: what the new key reads is taken out of the state, then its value put in."""
    n = transformers_are_rnns(student)
    K, v = np.array(n.keys, dtype=float), np.array(n.values)
    s = np.zeros(3)
    for k, value in zip(K, v, strict=True):
        s = (np.eye(3) - np.outer(k, k) / (k @ k)) @ s + np.linalg.pinv(k[None])[:, 0] * value
    return student, v @ K, s, np.linalg.inv(K) @ v


DECIDED = ("yes", "no", "no", "open", "yes", "open")
RIGHT = {
    "causal_linear": [
        (masked,),
        (by_cumulative_sums,),
        (as_nested_lists,),
        (lambda Q, K, V: course.causal_linear_attention(Q, K, V, psi),),
        (lambda Q, K, V: course.causal_linear_attention(Q, K, V, half_of_them, chunk=1),),
    ],
    "recurrence": RECURRENCES,
    "four_questions": [
        (n**2, n, n, by_softmax, by_sim, by_phi),
        ("5*n**2 + 100*n", "n*d**2", "2·n·d²", course.attention, by_sim_with_loops, by_phi_as_sim),
    ],
    "token_cost": [
        (3 * i**2 * d, 3 * i * d, 4 * d**2),
        ("3·i²·d + 5·i²", "i*d + 2*d*i", "4*d^2 + d"),
        ("i*(3*i*d)", "sqrt(9*i**2*d**2)", "d*(4*d + 1)"),
    ],
    "reading_the_table": [
        (129, 523, 6.085),
        ("2*64 + 1", "(2*784 + 1)/3", "785/129"),
        (129, 520, 6.1),
    ],
    "forgetting": [(decay_row_by_row,), (decay_by_products,), (decay_in_logarithms,)],
    "writing": [
        writing(0),
        writing("ada@example.org"),
        (0, [4, 7, 4], ["2", "5/2", 1.5], [1, 2, 2]),
    ],
    "published_tables": [
        (300.1, 45.1, 300.1 / 61.3, 61.3 / 45.1, *DECIDED),
        ("3001/10", Fraction(451, 10), 4.9, "61.3/45.1", *(f" {word.upper()}" for word in DECIDED)),
        (np.float64(300.1), sympy.Rational(451, 10), sympy.Rational(3001, 613), 1.36, *DECIDED),
    ],
}  # fmt: skip


test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


def lectures_step(state, q, k, v):
    """The recurrence of the lecture, with any features."""
    s, z = state[0] + np.outer(k, v), state[1] + k
    return (s, z), q @ s, q @ z


CHEAP_MISTAKES = {
    "not squared": lambda state, q, k, v: lectures_step(state, phi(q), phi(k), v),
    "the features squared": lambda state, q, k, v: lectures_step(
        state, phi(q) ** 2, phi(k) ** 2, v
    ),
    "φ forgotten": lambda state, q, k, v: lectures_step(
        state, np.outer(q, q).ravel(), np.outer(k, k).ravel(), v
    ),
    "the output read before the update": lambda state, q, k, v: (
        lectures_step(state, psi(q), psi(k), v)[0],
        *lectures_step(state, psi(q), 0 * psi(k), v)[1:],
    ),
}


@pytest.mark.parametrize("name", CHEAP_MISTAKES)
def test_a_mistake_of_the_recurrence_is_named_with_a_state_of_fixed_size(name):
    def step(state, q, k, v):
        state, above, below = CHEAP_MISTAKES[name](state, q, k, v)
        with np.errstate(all="ignore"):
            return state, above / below

    feedback = check.recurrence(lambda d, width: (0.0, 0.0), step)
    assert (feedback.misconception, feedback.earned) == (name, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: phi(x) * phi(x).sum(),
        lambda x: np.concatenate([phi(x), phi(x) ** 2], axis=-1),
        lambda x: np.outer(phi(x), phi(x))[np.tril_indices(len(x))],
        lambda x: np.outer(phi(x), phi(x)).ravel()[1:] if len(x) > 3 else psi(x),
        lambda x: np.exp(phi(x)),
    ],
)
def test_other_features_are_no_square(wrong):
    def step(state, q, k, v):
        state, above, below = lectures_step(state, wrong(q), wrong(k), v)
        return state, above / below

    feedback = next(
        f
        for f in (check.recurrence(lambda d, w: (0.0, 0.0), step) for _ in range(9))
        if not f.earned
    )
    assert feedback.outcome is Outcome.WRONG


# -- 10.1 ------------------------------------------------------------------------------------------


def test_a_leak_is_shown_with_the_row_that_moves():
    def leaky(Q, K, V):
        A = psi(Q) @ psi(K).T
        return np.tril(A) @ V / A.sum(axis=1, keepdims=True)

    feedback = check.causal_linear(leaky)
    assert feedback.says.startswith(
        "Token 1 sees the future. With 1 added to q, k and v of token 3"
    )
    assert feedback.misconception == "the future leaks through z"


def test_a_leak_beyond_a_chunk_is_found():
    def leaks_late(Q, K, V):
        result = np.array(masked(Q, K, V))
        if len(Q) > 64:
            result[0] += V[-1]
        return result

    assert "sees the future" in check.causal_linear(leaks_late).says


def test_forms_that_hold_only_for_square_values_cannot_pass():
    def transposed(Q, K, V):
        A = np.tril((phi(Q) @ phi(K).T) ** 2)
        return (A @ V.T.reshape(V.shape)) / A.sum(axis=1, keepdims=True)

    assert check.causal_linear(transposed).outcome is Outcome.WRONG
    assert check.causal_linear(lambda Q, K, V: V).outcome is Outcome.WRONG


# -- 10.2 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "size"),
    [
        (None, 0),
        (3, 1),
        (2**200, 4),
        (np.zeros((2, 3)), 6),
        ((np.zeros(2), [np.zeros(3), 1.0]), 6),
        ({"s": np.zeros((2, 2)), "z": (1, 2)}, 4 + 2 + 2),
        (Memory(np.zeros((2, 2)), np.zeros(2)), 7),
        (np.array([np.zeros(3), None], dtype=object), 3),
        ("abc", 3),
    ],
)
def test_numbers_in_a_state_are_counted_whatever_holds_them(state, size):
    assert check.state_size(state) == size


def cached_step(state, q, k, v):
    K, V = np.vstack([state["K"], psi(k)]), np.vstack([state["V"], v])
    w = K @ psi(q)
    return {"K": K, "V": V}, w @ V / w.sum()


def test_a_cache_gives_the_right_numbers_and_half_of_the_points():
    feedback = check.recurrence(
        lambda d, width: {"K": np.zeros((0, d * d)), "V": np.zeros((0, width))}, cached_step
    )
    assert (feedback.earned, feedback.misconception) == (2, "a state that grows")
    assert "after 8 tokens" in feedback.says


def test_a_cache_with_room_reserved_is_a_cache_too():
    def step(state, q, k, v):
        K, V, filled = state
        K[filled], V[filled] = psi(k), v
        w = K[: filled + 1] @ psi(q)
        return (K, V, filled + 1), w @ V[: filled + 1] / w.sum()

    feedback = check.recurrence(lambda d, w: (np.zeros((300, d * d)), np.zeros((300, w)), 0), step)
    assert (feedback.earned, feedback.misconception) == (2, "a state that grows")
    assert "from the start" in feedback.says


def test_a_state_that_hides_in_a_global_list_is_found():
    kept = []

    def initial(d, width):
        kept.clear()
        return 0

    def step(state, q, k, v):
        kept.append((psi(k), v))
        w = np.array([key @ psi(q) for key, _ in kept])
        return 0, w @ np.array([value for _, value in kept]) / w.sum()

    feedback = check.recurrence(initial, step)
    assert (feedback.earned, feedback.misconception) == (0, "memory outside of the state")


def test_a_state_that_the_next_text_finds_as_the_last_one_left_it_is_found():
    s, z = np.zeros((99, 99)), np.zeros(99)

    def step(state, q, k, v):
        s, z = state
        s += np.outer(psi(k), v)
        z += psi(k)
        return (s, z), psi(q) @ s / (psi(q) @ z)

    feedback = check.recurrence(lambda d, width: (s[: d * d, :width], z[: d * d]), step)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)
    assert "is run twice, the second time result[0] should be" in feedback.says


def test_a_cost_that_grows_with_i_is_not_led_by_d_squared():
    for formula in ("4*d**2 + i", "4*d**2 + 50*i", "4*d**2 + i*log(i)"):
        assert check.token_cost("3*i**2*d", "3*i*d", formula).earned == 1


def test_a_denominator_that_is_off_by_a_little_is_shown_with_enough_digits():
    def paper(Q, K, V):
        A = np.tril(psi(Q) @ psi(K).T)
        return A @ V / (A.sum(axis=1, keepdims=True) + 1e-5)

    (seen,) = check.causal_linear(paper).seen
    assert seen.shown[0] != seen.shown[1]


def test_a_state_that_cannot_be_counted_is_refused_with_a_sentence():
    def step(state, q, k, v):
        (s, z), y = tuple_step(state[:2], q, k, v)
        return (s, z, len), y

    feedback = check.recurrence(lambda d, width: (0, 0, len), step)
    assert feedback.earned == 2, "the numbers are right all the same"
    assert "cannot be counted" in feedback.says


def test_a_step_that_returns_the_output_alone_is_told_what_to_return():
    feedback = check.recurrence(*[lambda d, width: 0, lambda state, q, k, v: 1.0])
    assert "the new state and the output" in feedback.says


def test_a_wrong_output_comes_with_keys_values_and_query():
    feedback = check.recurrence(lambda d, width: 0, lambda state, q, k, v: (0, 0 * v))
    assert feedback.says.startswith("After the keys [[")


# -- 10.3 ------------------------------------------------------------------------------------------


def answers(**changes):
    right = dict(
        softmax_growth="n**2", rnn_growth="n", linear_growth="n",
        by_softmax=by_softmax, by_sim=by_sim, by_phi=by_phi,
    )  # fmt: skip
    return list((right | changes).values())


def test_each_question_is_worth_one_point():
    zero = lambda Q, K, V, *more: np.zeros((len(Q), V.shape[1]))  # noqa: E731
    assert check.four_questions(*answers(rnn_growth="n**3")).earned == 3
    assert check.four_questions(*answers(by_softmax=zero)).earned == 3
    assert check.four_questions(*answers(by_softmax=zero, by_sim=zero)).earned == 2
    assert (
        check.four_questions(*answers(softmax_growth="n", by_softmax=zero, by_sim=zero)).earned == 1
    )
    nothing = check.four_questions("n", "n", "n", zero, zero, zero)
    assert (nothing.earned, nothing.outcome) == (0, Outcome.WRONG)


def test_a_logarithm_is_not_a_constant_factor():
    feedback = check.four_questions(*answers(linear_growth="n*log(n)"))
    assert feedback.earned == 3
    assert "Question 1" in feedback.says


def test_a_similarity_that_is_ignored_is_noticed():
    feedback = check.four_questions(*answers(by_sim=lambda Q, K, V, sim: by_softmax(Q, K, V)))
    assert feedback.earned == 3
    assert "Question 3" in feedback.says


def test_more_keys_than_queries_are_no_obstacle_and_are_tried():
    def square_only(Q, K, V, phi):
        return by_phi(Q, K[: len(Q)], V[: len(Q)], phi)

    assert check.four_questions(*answers(by_phi=square_only)).earned == 3


# -- 10.4 and 10.5 ---------------------------------------------------------------------------------


def test_the_meter_finds_the_polynomials_of_the_curriculum():
    i, d = sympy.symbols("i d")
    counted = [sympy.expand(check.token_work(way)) for way in check.WAYS]
    assert counted == [2 * d * i**2, 2 * d * i, 2 * d**2 + d]
    wide = [sympy.expand(check.token_work(way, check.WIDER)) for way in check.WAYS]
    assert wide == [3 * d * i**2, 3 * d * i, 4 * d**2 + d]


def test_two_formulas_of_three_earn_one_point_and_one_earns_none():
    assert check.token_cost("3*i**2*d", "3*i*d", "7*d**2").earned == 1
    assert check.token_cost("3*i**2*d", "4*i*d", "7*d**2").earned == 0


def test_a_wrong_formula_is_refuted_with_the_count():
    feedback = check.token_cost("3*i**2*d", "3*i*d", "3*d**2")
    assert "the meter counts 10050 multiply–adds by the recurrence" in feedback.says


def test_the_table_is_the_sum_over_all_tokens():
    assert check.total_work(d=3, lengths=(4,)) == {
        4: {
            "without a cache": 2 * 3 * (1 + 4 + 9 + 16),
            "with a cache": 2 * 3 * (1 + 2 + 3 + 4),
            "by the recurrence": 4 * (2 * 9 + 3),
        }
    }


def test_each_half_of_the_last_exercise_earns_one_point():
    assert check.reading_the_table(129, 1, 1).earned == 1
    assert check.reading_the_table(100, 523, 6.085).earned == 1
    assert check.reading_the_table(100, 523, 7).earned == 0
    assert "-5 is no such number" in check.reading_the_table(-5, 523, 6.085).says


# -- what is wrong beyond a few small cases --------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda Q, K, V: masked(Q[:, :20], K[:, :20], V),
        lambda Q, K, V: np.vstack([masked(Q, K, V)[:40], 0 * V[40:]]),
        lambda Q, K, V: masked(Q, np.clip(K, -9, 9), V),
        lambda Q, K, V: masked(Q, K, V) + 1e-5,
    ],
)
def test_causal_attention_that_is_right_for_small_texts_alone(wrong):
    assert check.causal_linear(wrong).outcome is Outcome.WRONG


@pytest.mark.parametrize("window", [64, 80])
def test_what_is_far_back_counts_as_well(window):
    def near(n):
        return np.tri(n) - np.tri(n, k=-window)

    def windowed(Q, K, V):
        A = near(len(Q)) * (phi(Q) @ phi(K).T) ** 2
        return A @ V / A.sum(axis=1, keepdims=True)

    def forgetful_step(state, q, k, v):
        state, count = state
        state, y = one_array_step(state, q, k, v if count < window else 0 * v)
        return (state, count + 1), y

    assert check.causal_linear(windowed).outcome is Outcome.WRONG
    start = lambda d, width: (np.zeros((d * d, width + 1)), 0)  # noqa: E731
    assert check.recurrence(start, forgetful_step).earned == 0


def test_gates_that_are_open_let_all_of_a_text_through():
    def of_100_tokens(g):
        return decay_row_by_row(g) * (np.tri(len(g)) - np.tri(len(g), k=-100))

    assert check.forgetting(of_100_tokens).earned == 0


def test_a_second_text_has_to_begin_anew():
    kept = {}

    def initial(d, width):
        return kept.setdefault((d, width), (np.zeros((d * d, width)), np.zeros(d * d)))

    def step(state, q, k, v):
        s, z = state
        s += np.outer(psi(k), v)
        z += psi(k)
        return state, psi(q) @ s / (psi(q) @ z)

    feedback = check.recurrence(initial, step)
    assert feedback.earned == 0
    assert "has to begin anew" in feedback.says or "is run twice" in feedback.says


@pytest.mark.parametrize("growth", ["-n**2", "2**n", "n**2*log(n)", "n**2 + n**3/10**9", "0", "d"])
def test_growths_that_are_not_quadratic(growth):
    feedback = check.four_questions(*answers(softmax_growth=growth))
    assert feedback.earned == 3
    assert "Question 1: when n doubles" in feedback.says


def test_lower_terms_do_not_matter_for_the_growth():
    assert check.four_questions(*answers(softmax_growth="n**2 + 10**9*n")).earned == 4


@pytest.mark.parametrize(
    "formula",
    ["4*d**2 + i", "4*d**2 + 50*i", "4*d**2 + i*log(i)", "4*d**2 + log(i)", "4*d**2 + sqrt(i)",
     "4*d**2 - 10**6", "-4*d**2", "4*Min(d, 50)**2", "4*d**2*(1 + 1/i)"],
)  # fmt: skip
def test_the_work_of_the_recurrence_does_not_grow_with_i(formula):
    feedback = check.token_cost("3*i**2*d", "3*i*d", formula)
    assert feedback.earned == 1, feedback
    assert "By the recurrence: " in feedback.says


@pytest.mark.parametrize(
    "formula", ["3*i*d + d**1.1", "3*i*d + i**1.1", "3*i*d + d**2", "3*i*d*1.01"]
)
def test_a_term_that_leads_somewhere_is_no_lower_term(formula):
    assert check.token_cost("3*i**2*d", formula, "4*d**2").earned == 1


# -- beyond the page -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda g: np.eye(len(g)),
        lambda g: np.tril(np.ones((len(g), len(g)))),
        lambda g: decay_row_by_row(g[::-1]),
        lambda g: decay_row_by_row(g) ** 2,
        lambda g: np.tril(np.exp(-np.subtract.outer(np.arange(len(g)), np.arange(len(g))))),
    ],
)
def test_other_weights_of_the_past_are_wrong(wrong):
    feedback = check.forgetting(wrong)
    assert (feedback.outcome, feedback.earned, feedback.misconception) == (Outcome.WRONG, 0, None)


def test_logarithms_without_care_for_shut_gates_keep_two_points():
    def decay(g):
        logs = np.cumsum(np.log(g))
        return np.exp(np.where(np.tri(len(g)) > 0, logs[:, None] - logs, -np.inf))

    feedback = check.forgetting(decay)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 2)


@pytest.mark.parametrize("student", [0, 5, "ada@example.org"])
def test_a_state_that_is_a_little_off_costs_its_own_points(student):
    _, summed, corrected, settled = writing(student)
    for given, earned in [
        ((1.001 * summed, corrected, settled), 3),
        ((summed, corrected[::-1], settled), 2),
        ((summed, -corrected, settled), 2),
        ((summed, corrected, settled + 1e-3), 3),
        ((summed, corrected, 0 * settled), 3),
    ]:
        feedback = check.writing(student, *given)
        assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, earned), feedback
        assert feedback.misconception is None


def test_corrections_repeated_settle_where_every_key_reads_its_value():
    n = transformers_are_rnns(5)
    _, _, s, settled = writing(5)
    for _ in range(5000):
        for k, v in zip(np.array(n.keys, dtype=float), n.values, strict=True):
            s = s + k * (v - k @ s) / (k @ k)
    assert np.allclose(s, settled)


def test_a_state_of_32_bits_is_right_with_every_seed():
    def single(state, q, k, v):
        return three_axes_step(state, *(x.astype(np.float32) for x in (q, k, v)))

    def start(d, width):
        return np.zeros((d, d, width), np.float32), np.zeros((d, d), np.float32)

    assert with_seeds(check.recurrence, (start, single), 8) == [(4,)] * 8


@cache
def three_states(student):
    """The answers to 10.7 as fractions."""
    n = transformers_are_rnns(student)
    keys = [[Fraction(x) for x in key] for key in n.keys]
    sums, corrected = [Fraction(0)] * 3, [Fraction(0)] * 3
    for k, v in zip(keys, n.values, strict=True):
        sums = [s + v * x for s, x in zip(sums, k, strict=True)]
        read = sum(s * x for s, x in zip(corrected, k, strict=True))
        error = (v - read) / sum(x * x for x in k)
        corrected = [s + error * x for s, x in zip(corrected, k, strict=True)]
    return sums, corrected, list(sympy.Matrix(n.keys).solve(sympy.Matrix(n.values)))


@pytest.mark.parametrize(
    "form",
    [
        str,
        lambda x: float(f"{float(x):.6g}"),
        lambda x: np.float32(float(x)),
        lambda x: round(float(x), 6),
        lambda x: x,
    ],
)
def test_states_are_right_as_fractions_and_to_six_digits_for_everybody(form):
    for student in range(400):
        states = [[form(x) for x in state] for state in three_states(student)]
        feedback = check.writing(student, *states)
        assert feedback.earned == 4, (student, feedback)


@pytest.mark.parametrize("student", range(0, 300, 11))
def test_a_state_with_too_few_digits_is_told_so(student):
    for k, state in enumerate(three_states(student)):
        states = list(three_states(student))
        states[k] = [float(f"{float(x):.4g}") for x in state]
        feedback = check.writing(student, *states)
        if feedback.earned < 4:
            assert "the first digits are right" in feedback.says


@pytest.mark.parametrize("student", [0, 1, 2, "ada"])
def test_a_wrong_state_is_refuted_by_a_number_that_it_is_not(student):
    sums, corrected, settled = three_states(student)
    keys = transformers_are_rnns(student).keys
    off = [s + x for s, x in zip(sums, keys[0], strict=True)]
    feedback = check.writing(student, off, off, off)
    assert feedback.earned == 0
    for seen, wanted in re.findall(r"reads (\S+) from it, and should read (\S+),", feedback.says):
        assert seen != wanted
    assert feedback.says.count("should read") >= 2
    assert "multiple of the second key" in check.writing(student, sums, settled, settled).says
    assert check.writing(student, sums, corrected, corrected).earned == 3


@pytest.mark.parametrize(
    ("recurrence", "says"),
    [("i**2*d", "i = 1000"), ("2*d**2*i", "i = 1000"), ("exp(i)*d", "i = 1000"), ("1/(d-50)", "d")],
)
def test_work_that_grows_beyond_all_numbers_is_wrong_with_the_place(recurrence, says):
    feedback = check.token_cost("3*i**2*d", "3*i*d", recurrence)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 1)
    assert says in feedback.says
    if "i" in recurrence and "exp" not in recurrence:
        assert "a state that grows" in [m.name for m in feedback.mistakes]


@pytest.mark.parametrize("formula", ["i**40*d", "exp(d)*i", "i**i", "3*i**2*d/(i - 3)"])
def test_formulas_of_work_that_overflow_cost_their_own_part(formula):
    feedback = check.token_cost(formula, "3*i*d", "4*d**2")
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 1)


def test_names_of_counts_are_those_of_the_mistake_that_was_made():
    def names(*counts):
        return [m.name for m in check.token_cost(*counts).mistakes]

    assert not names("3*i*d**2", "3*i*d", "4*d**2")
    assert not names("3*i**2*d", "3*i**2*d", "4*d**2")
    assert names("2*i**2*d", "2*i*d", "2*d**2") == ["values as wide as keys"]
    assert names("1.5*i*(i+1)*d", "3*i*d", "4*d**2") == [
        "only the scores that the mask leaves, to the last"
    ]


@pytest.mark.parametrize("crossover", [129.0001, 128.5, 1e-9, -3, 1e300, 130, 128, 784])
def test_a_crossover_that_is_none_is_not_called_so_with_the_right_number(crossover):
    says = check.reading_the_table(crossover, 523, 6.085).says
    assert "and 129 is no such number" not in says
    assert check.reading_the_table(crossover, 523, 6.085).earned == 1


@pytest.mark.parametrize("growth", ["exp(n)", "n**n", "1/(n-n)", "n*exp(-n)", "log(-n)"])
def test_growth_beyond_all_powers_is_wrong(growth):
    functions = RIGHT["four_questions"][0][3:]
    assert check.four_questions(growth, "n", "n", *functions).earned == 3


def test_common_slips_of_attention_have_names():
    first, _, _, _, *others = RIGHT["four_questions"][0]

    def by(scale):
        return lambda Q, K, V: softmax(Q @ K.T / scale(Q)) @ V

    for scale, name in (
        (lambda Q: len(Q) ** 0.5, "√n in place of √d"),
        (lambda Q: Q.shape[1], "d in place of √d"),
    ):
        feedback = check.four_questions(first, "n", "n", by(scale), *others)
        assert [m.name for m in feedback.mistakes] == [name]

    def without_keepdims(Q, K, V):
        A = np.tril((phi(Q) @ phi(K).T) ** 2)
        return A / A.sum(axis=1) @ V

    assert [m.name for m in check.causal_linear(without_keepdims).mistakes] == [
        "the sums of rows laid along a row"
    ]


def test_a_gate_that_is_shut_is_not_nearly_shut():
    def propped(g):
        g = np.maximum(g, 1e-6)
        rows = [[np.prod(g[j + 1 : i + 1]) for j in range(len(g))] for i in range(len(g))]
        return np.tril(rows)

    assert check.forgetting(propped).earned == 2


# -- the published tables --------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
COLUMNS = ["bits per dimension", "images per second", "seconds on a CPU", "seconds on a GPU"]
ROWS = {
    "softmax": ("softmax", "softmax"),
    "cache": ("stateful softmax", "with a cache"),
    "linear": ("linear", "linear attention"),
}


@pytest.mark.parametrize("data", ["MNIST", "CIFAR-10"])
@pytest.mark.parametrize("method", ROWS)
def test_check_and_sheet_have_the_numbers_of_the_sources(data, method):
    in_paper, on_sheet = ROWS[method]
    sources = tomllib.loads((ROOT / "notebooks" / "sources.toml").read_text("utf-8"))["number"]
    rows = [n for n in sources if n["table"].endswith(f", {data}") and n["row"] == in_paper]
    published = {name: float(x) for row in rows for name, x in row["columns"].items()}
    numbers = [published.get(column) for column in COLUMNS]
    seconds = (check.SECONDS[data][machine][method] for machine in ("CPU", "GPU"))
    assert [check.BITS[data].get(method), check.PER_SECOND[data][method], *seconds] == numbers
    sheet = (ROOT / "exercises" / "10_transformers_are_rnns.ipynb").read_text("utf-8")
    table = sheet[sheet.index(f"{data} | bits |") :]
    printed = re.search(rf"\| {on_sheet} \|(.*)\|", table)[1].split("|")
    assert [None if x == " – " else float(x) for x in printed] == numbers


@pytest.mark.parametrize(
    ("part", "given"),
    [
        ((0, 1), (300, 45)),
        ((0, 1), (8651.4, 300.1)),
        ((0, 1), (70.4, 10.4)),
        ((0, 1), (6.65, 1)),
        ((0, 1), (3001, 451)),
        ((2, 3), (4.9, 1.3)),
        ((2, 3), (5, 1.33)),
        ((2, 3), (2.58, 2.58)),
        ((2, 3), (6.654, 1)),
        ((2, 3), (-4.9, -1.36)),
        ((4,), ("open",)),
        ((5,), ("open",)),
        ((7,), ("no",)),
        ((8,), ("no",)),
        ((9,), ("no",)),
    ],
)
def test_a_published_table_that_is_misread_costs_its_own_part(part, given):
    answers = list(RIGHT["published_tables"][0])
    for place, answer in zip(part, given, strict=True):
        answers[place] = answer
    assert check.published_tables(*answers).earned == 3


def test_guesses_at_claims_earn_nothing():
    for word in ("yes", "no", "open"):
        assert check.published_tables(1, 1, 1, 1, *[word] * 6).earned == 0
