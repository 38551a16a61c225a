"""Unit 08: right answers in several forms pass, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py.
"""

import mpmath
import numpy as np
import pytest
import sympy

from course_utils.attention import softmax
from course_utils.checks import linear_attention as check
from course_utils.variants import linear_attention
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form, with_seeds
from tests.checks.forms import students_own

attention = students_own("attention")

n, m, d = sympy.symbols("n m d")
circle = 2 * np.pi * np.arange(8) / 8
POINTS = 3 * np.stack([np.cos(circle), np.sin(circle)], axis=1)


def softmaxes(Q, K):
    return attention.softmax(Q), attention.softmax(K, axis=0)


def looked_at(Q, K, U):
    S, T = softmaxes(Q, K)
    return T @ (S.T @ U) / (T @ S.sum(axis=0)[:, None])


def looked_at_by_loops(Q, K, U):
    """Query by query: a d×l matrix grows, and a vector; the columns of K need no normalizing."""
    Q, K = np.exp(Q), np.exp(K) / np.exp(K).sum(axis=0)
    heard, seen = np.zeros((K.shape[1], U.shape[1])), np.zeros(K.shape[1])
    for q, u in zip(Q, U, strict=True):
        s = q / q.sum()
        heard, seen = heard + np.outer(s, u), seen + s
    return [k @ heard / (k @ seen) for k in K]


def looked_at_with_a_column_of_ones(Q, K, U):
    S, T = softmaxes(Q, K)
    both = np.einsum("jc,ce->je", T, np.einsum("ic,ie->ce", S, np.c_[U, np.ones(len(U))]))
    return both[:, :-1] / both[:, -1:]


def others(Q, K, V, phi):
    F, G = phi(Q), phi(K)
    own = np.einsum("ic,ic->i", F, G)[:, None]
    return (F @ (G.T @ V) - own * V) / (F @ G.sum(axis=0)[:, None] - own)


def others_before_and_after(Q, K, V, phi):
    """Sums of all that comes before and of all that comes after, so that nothing is taken away."""
    pairs = np.einsum("ic,ie->ice", phi(K), np.hstack([V, np.ones((len(V), 1))]))
    none = np.zeros_like(pairs[:1])
    before = np.concatenate([none, np.cumsum(pairs, axis=0)[:-1]])
    after = np.concatenate([np.cumsum(pairs[::-1], axis=0)[::-1][1:], none])
    both = np.einsum("ic,ice->ie", phi(Q), before + after)
    return both[:, :-1] / both[:, -1:]


def others_by_loops(Q, K, V, phi):
    s, z = 0.0, 0.0
    for k, v in zip(K, V, strict=True):
        s, z = s + np.outer(phi(k), v), z + phi(k)
    return [
        phi(q) @ (s - np.outer(phi(k), v)) / (phi(q) @ (z - phi(k)))
        for q, k, v in zip(Q, K, V, strict=True)
    ]


def others_with_a_column_of_ones(Q, K, V, phi):
    """Numerator and denominator in one product: the values get a column of ones."""
    ones = np.hstack([V, np.ones((len(V), 1))])
    both = phi(Q) @ (phi(K).T @ ones) - (phi(Q) * phi(K)).sum(axis=1)[:, None] * ones
    return both[:, :-1] / both[:, -1:]


def slots_with_matrices(Q, K, V):
    A = np.exp(Q @ K.T)
    B = A @ np.linalg.inv(np.diag(np.ones(len(Q)) @ A))
    return np.linalg.inv(np.diag(B @ np.ones(len(K)))) @ B @ V


def stabilized(Q, K, V):
    """What is added to all scores of a key cancels first."""
    S = Q @ K.T
    A = np.exp(S - S.max(axis=0))
    B = A / (np.ones((1, len(Q))) @ A)
    return B @ V / (B @ np.ones((len(K), 1)))


def in_single_precision(Q, K, V):
    return slots_by_softmax(*(x.astype(np.float32) for x in (Q, K, V)))


def slots_by_softmax(Q, K, V):
    B = attention.softmax(Q @ K.T, axis=0)
    return B @ V / B.sum(axis=1, keepdims=True)


def slots_by_loops(Q, K, V):
    rows = []
    for q in Q:
        shares = [np.exp(q @ k) / sum(np.exp(other @ k) for other in Q) for k in K]
        rows.append(sum(b * v for b, v in zip(shares, V, strict=True)) / sum(shares))
    return rows


def windowed_by_sums(Q, K, V, phi, w):
    """Sums from the first token on, minus those that left; values with a column of ones."""
    pairs = np.einsum("ic,ie->ice", phi(K), np.hstack([V, np.ones((len(V), 1))]))
    sums = np.cumsum(pairs, axis=0)
    gone = np.concatenate([np.zeros_like(sums[:w]), sums])[: len(sums)]
    both = np.einsum("ic,ice->ie", phi(Q), sums - gone)
    return both[:, :-1] / both[:, -1:]


def windowed_by_walking(Q, K, V, phi, w):
    F, G, rows = phi(Q), phi(K), []
    s, z = 0.0, 0.0
    for i, (f, g) in enumerate(zip(F, G, strict=True)):
        s, z = s + np.outer(g, V[i]), z + g
        if i >= w:
            s, z = s - np.outer(G[i - w], V[i - w]), z - G[i - w]
        rows.append(f @ s / (f @ z))
    return np.stack(rows)


def vanishing(student, turns=0):
    numbers = linear_attention(student)
    arrows = np.exp(1j * np.array(numbers.keys))
    weighted = (np.array(numbers.values) - numbers.target) * arrows
    blind, beyond = (float(np.angle(1j * sums.sum())) for sums in (arrows, weighted))
    return student, blind + turns * np.pi, beyond - turns * np.pi


RIGHT = {
    "rows_sum_to_one": [
        ([lambda S, T, one_n: S @ (T.T @ one_n), lambda S, one_d: S @ one_d, lambda one_n: one_n],),
        ((lambda S, one_d: S @ one_d, lambda one_n: one_n),),
        ([lambda S, T: S @ T.sum(axis=0), lambda S: S.sum(axis=1), lambda S: np.ones(len(S))],),
        ([lambda S, T, one_n: S @ (T.T @ one_n[:, None]), lambda S: S.sum(1, keepdims=True),
          lambda one_n: one_n[:, None]],),
        ([lambda T, S: np.einsum("ic,jc->i", S, T), lambda S: S.sum(axis=1), lambda one_n: one_n],),
        ([lambda S, T: (S @ T.sum(axis=0)).tolist(), lambda S: [sum(row) for row in S],
          lambda one_n: tuple(one_n)],),
    ],
    "separable": [
        (looked_at,),
        (looked_at_by_loops,),
        (looked_at_with_a_column_of_ones,),
        (lambda Q, K, U: attention.linear_attention(*softmaxes(Q, K)[::-1], U, phi=lambda x: x),),
    ],
    "full_rank": [
        ([[1], [2], [3]], [[1], [2], [3]]),
        (np.array([[1.0], [-1.0]]), np.array([[1.0], [-1.0]])),
        (POINTS, POINTS),
        ([[0], [5]], [[1], [-1]]),
        (np.linspace(-2, 2, 50)[:, None], np.linspace(-2, 2, 50)[:, None]),
    ],
    "normalized": [
        (slots_with_matrices,),
        (stabilized,),
        (in_single_precision,),
        (slots_by_softmax,),
        (slots_by_loops,),
    ],
    "shape_of_scores": [(n, n), ("n", "n"), ("n*d/d", sympy.Symbol("n", positive=True))],
    "negative": [(4, -0.1), ("-1/3", "5/2"), (sympy.Rational(1, 10), -3), (-100, 0.005),
                 (3, -1e-12), (1e9, -1e-10), (-1e200, 1e-250)],
    "linear": [
        (others,),
        (others_by_loops,),
        (others_with_a_column_of_ones,),
        (others_before_and_after,),
    ],
    "cost": [(4 * n * m * d,), ("2·n·m·d + 2·n·m·d",), ("4*n*m*d + 3*n*m - m*d - n - m",)],
    "windowed": [(windowed_by_sums,), (windowed_by_walking,)],
    "cross": [
        ("m*(k*l + n*l + n)", "k*m*l/(k*m + k*l - m*l - m)"),
        ("k·m·l + n·m·(l + 1)", "1/(1/l + 1/m - (l + 1)/(k*l))"),
    ],
    "vanishing": [vanishing(0), vanishing("ada@example.org"), vanishing(7, turns=3)],
    "normed_by_lines": [
        (r"P V = \operatorname{diag}(A\mathbf 1_n)^{-1} A V = D^{-1} A V",),
        (r"\mathrm{softmax}_{\text{row}}(QK^T)V = \mathrm{diag}(\exp(QK^T)\mathbf{1})^{-1}"
         r"\exp(QK^T)V = D^{-1}AV",),
        (r"(PV)_{i,c} = \sum_j \frac{A_{i,j}}{\sum_m A_{i,m}} V_{j,c} = (D^{-1}AV)_{i,c}",),
        ([lambda Q, K, V: np.exp(Q @ K.T) @ V / np.exp(Q @ K.T).sum(axis=1, keepdims=True),
          lambda A, D, V: np.linalg.inv(D) @ A @ V],),
    ],
    "growth_of_features": [
        ("n*m*d", "n*m + m*d", "m*d"),
        ("Theta(2*n*m*d + n*m)", "O(3·n·m + m·d + m)", "Θ(m(d + 2))"),
    ],
}  # fmt: skip


def more_than_d_pivots(Q, K):
    """Whether the weights have a rank above d, by elimination with 60 digits."""
    with mpmath.workdps(60):
        Q, K = mpmath.matrix(np.asarray(Q).tolist()), mpmath.matrix(np.asarray(K).tolist())
        rows = (Q * K.T).apply(mpmath.exp).tolist()
        for _ in range(Q.cols):
            top, column = max(
                ((row, c) for row in rows for c in range(len(row))),
                key=lambda at: abs(at[0][at[1]]),
            )
            rows = [
                [a - b * row[column] / top[column] for a, b in zip(row, top, strict=True)]
                for row in rows
                if row is not top
            ]
        return any(abs(number) > mpmath.mpf(10) ** -40 for row in rows for number in row)


ORACLES = {"full_rank": more_than_d_pivots}  # for the audit: other examples that are right

test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


# -- 8.1 -------------------------------------------------------------------------------------------


def test_a_derivation_without_an_end_is_not_finished():
    feedback = check.rows_sum_to_one([lambda S, T, one_n: S @ (T.T @ one_n)])
    assert feedback.outcome is Outcome.WRONG
    assert "not yet n ones" in feedback.says


def test_a_false_line_of_the_derivation_is_told_with_numbers():
    feedback = check.rows_sum_to_one([lambda S, T: 2 * S @ T.sum(axis=0), lambda one_n: one_n])
    assert feedback.outcome is Outcome.WRONG
    assert feedback.says.startswith("Line 1 is false: at ")


def test_a_line_that_uses_both_facts_at_once_is_too_large_a_step():
    lines = [lambda S, T, one_n: S @ (T.T @ one_n), lambda one_n: one_n]
    feedback = check.rows_sum_to_one(lines)
    assert feedback.outcome is Outcome.WRONG
    assert "line 2 uses at once" in feedback.says


def row_sums_then(line):
    return [lambda S, T, one_n: S @ (T.T @ one_n), line, lambda one_n: one_n]


def for_three_rows(S, one_d):
    if len(S) > 3:
        raise ValueError("too many rows")
    return S @ one_d


def nan_beyond_three_rows(S, one_d):
    return S @ one_d / (1.0 if len(S) < 4 else np.nan)


@pytest.mark.parametrize("line", [for_three_rows, nan_beyond_three_rows])
def test_a_line_that_has_a_value_for_few_rows_alone_is_false(line):
    feedback = check.rows_sum_to_one(row_sums_then(line))
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)
    assert feedback.says.startswith("Line 2 is false: at ")


def test_a_line_without_numbers_is_told_so_and_nothing_else():
    feedback = check.rows_sum_to_one(row_sums_then(lambda S, one_d: np.nan * S @ one_d))
    assert feedback.says == "Line 2 could not be checked: its value is not finite."


def test_a_line_that_rounds_is_not_said_to_ask_for_a_softmax():
    feedback = check.rows_sum_to_one(row_sums_then(lambda S, one_d: np.round(S @ one_d, 6)))
    assert feedback.outcome is Outcome.WRONG
    assert "neither rounds nor asks what it is given" in feedback.says


def test_a_line_that_raises_where_a_check_looks_further_is_told_with_its_call():
    def picky(S, one_d):
        if abs(S.sum() - len(S)) > 1e-9:
            raise ValueError("no softmax")
        return S @ one_d

    feedback = check.rows_sum_to_one(row_sums_then(picky))
    assert "raised ValueError: no softmax. It stopped at" in feedback.says


def test_lines_that_are_not_functions_of_the_named_matrices_could_not_be_checked():
    for lines in (["S @ one_x"], [lambda A: A], [lambda S: "S"], [lambda S: S @ S], lambda S: S):
        assert check.rows_sum_to_one(lines).outcome is Outcome.UNCHECKED


# -- 8.2 and 8.7 -----------------------------------------------------------------------------------


def keys_kept_in_a_list(Q, K, U):
    S, T = softmaxes(Q, K)
    weights = [S @ t for t in T]
    return np.stack([w @ U / w.sum() for w in weights])


def others_kept_in_a_list(Q, K, V, phi):
    weights = [phi(K) @ q for q in phi(Q)]
    for i, w in enumerate(weights):
        w[i] = 0
    return np.stack([w @ V / w.sum() for w in weights])


@pytest.mark.parametrize(
    ("exercise", "function"),
    [(check.separable, keys_kept_in_a_list), (check.linear, others_kept_in_a_list)],
)
def test_weights_that_hide_in_a_list_of_rows_are_seen(exercise, function):
    feedback = exercise(function)
    assert feedback.misconception == "the n×n weights built after all"
    assert "numbers in memory" in feedback.says
    assert feedback.earned == 1


def test_one_einsum_without_a_path_is_a_loop_over_all_pairs():
    def all_at_once(Q, K, U):
        S, T = softmaxes(Q, K)
        return np.einsum("ic,jc,ie->je", S, T, U) / (T @ S.sum(axis=0)[:, None])

    feedback = check.separable(all_at_once)
    assert feedback.misconception == "one key at a time"
    assert feedback.earned == 1


def test_an_array_of_n_by_n_truth_values_is_seen_too():
    def wasteful(Q, K, U):
        np.ones((len(Q), len(K)), dtype=bool)
        return looked_at(Q, K, U)

    feedback = check.separable(wasteful)
    assert "200×200 by ones in `np.ones((len(Q), len(K)), dtype=bool)`" in feedback.says
    assert feedback.misconception is None


def test_numbers_that_leave_their_arrays_cannot_be_counted():
    def secretive(Q, K, U):
        return looked_at(np.array([[float(x) for x in row] for row in Q]), K, U)

    feedback = check.separable(secretive)
    assert feedback.earned == 1
    assert "left their arrays" in feedback.says


def wasted_work_before(rounds):
    def by_key(Q, K, U):
        for _ in range(rounds):
            attention.softmax(Q)
        S, T = softmaxes(Q, K)
        return np.stack([(S @ t) @ U / (S @ t).sum() for t in T])

    return by_key


@pytest.mark.parametrize("rounds", [0, 5, 400])
def test_wasted_work_hides_no_square(rounds):
    feedback = check.separable(wasted_work_before(rounds))
    assert feedback.earned == 1
    assert feedback.misconception == "one key at a time"
    assert "·n² + " in feedback.says


def in_chunks(Q, K, U, size=64):
    """Linear, though every n up to 64 looks square."""
    S, T = softmaxes(Q, K)
    for i in range(0, len(T), size):
        near = S[i : i + size] @ T[i : i + size].T
        near * 1.0
    return looked_at(Q, K, U)


def test_work_in_blocks_is_linear_however_large_the_blocks():
    feedback = check.separable(in_chunks)
    assert feedback.earned == 3, feedback


def with_diagonal(Q, K, V, phi):
    F, G = phi(Q), phi(K)
    own = (F * G).sum(axis=1)
    return np.diag(1 / (F @ G.sum(axis=0) - own)) @ (F @ (G.T @ V) - own[:, None] * V)


def test_a_full_array_that_is_no_weights_is_named_by_what_made_it():
    feedback = check.linear(with_diagonal)
    assert feedback.earned == 1
    assert feedback.misconception is None
    assert "200×200 by diag in `return np.diag(1 / (F @ G.sum(axis=0) - own))" in feedback.says


def by_sums(above):
    """The numbers above, divided by what the weights of a key sum to."""
    return lambda Q, K, U: (
        above(*softmaxes(Q, K), U) / above(*softmaxes(Q, K), np.ones((len(U), 1)))
    )


ODD_BUT_LINEAR = {
    "multi_dot": by_sums(lambda S, T, U: np.linalg.multi_dot([T, S.T, U])),
    "einsum in list form": by_sums(
        lambda S, T, U: np.einsum(T, [2, 1], np.einsum(S, [0, 1], U, [0, 3], [1, 3]), [1, 3])
    ),
    "matrix_transpose": by_sums(lambda S, T, U: T @ (np.matrix_transpose(S) @ U)),
    "an assertion left inside": by_sums(
        lambda S, T, U: np.allclose(S.sum(axis=1), 1) and T @ (S.T @ U)
    ),
    "apply_along_axis": lambda Q, K, U: looked_at(
        np.log(np.apply_along_axis(attention.softmax, 1, Q)), K, U
    ),
    "the columns of K not normalized": lambda Q, K, U: attention.linear_attention(
        np.exp(K) / np.exp(K).sum(axis=0), attention.softmax(Q), U, phi=lambda x: 7 * x
    ),
}


@pytest.mark.parametrize("name", ODD_BUT_LINEAR)
def test_right_answers_in_odd_forms_are_counted(name):
    feedback = check.separable(ODD_BUT_LINEAR[name])
    assert feedback.earned == 3, feedback


UNCOUNTED = {
    "an inverse": lambda Q, K, U: np.linalg.inv(np.diag(np.ones(len(Q)))) @ looked_at(Q, K, U),
    "str": lambda Q, K, U: looked_at(
        np.array([[float(f"{x:.17g}") for x in row] for row in Q]), K, U
    ),
}


@pytest.mark.parametrize("name", UNCOUNTED)
def test_what_cannot_be_counted_keeps_the_point_for_right_numbers(name):
    feedback = check.separable(UNCOUNTED[name])
    assert feedback.earned == 1, feedback
    assert feedback.says.startswith("The numbers are right")


def test_a_function_that_is_right_for_square_shapes_only_is_not_right():
    def square_only(Q, K, U):
        assert Q.shape == U.shape
        return looked_at(Q, K, U)

    assert check.separable(square_only).outcome is Outcome.UNCHECKED


def test_linear_attention_with_a_feature_map_of_its_own_is_wrong():
    def stubborn(Q, K, V, phi):
        return others(Q, K, V, attention.elu_plus_one)

    feedback = check.linear(stubborn)
    assert feedback.outcome is Outcome.WRONG
    assert "and φ(x) = (1, exp(x), exp(−x)), result[0]" in feedback.says


def test_a_function_that_overwrites_its_input_fools_nobody():
    def cheat(Q, K, U):
        Q[:], K[:] = 0.0, 0.0
        return looked_at(Q, K, U)

    assert check.separable(cheat).outcome is Outcome.WRONG


def clipped(Q, K, U):
    return looked_at(np.clip(Q, -5, 5), K, U)


def mildly_clipped(Q, K, U):
    return looked_at(np.clip(Q, -2, 2), K, U)


def wrong_axis_for_one_token(Q, K, U):
    return 2 * looked_at(Q, K, U) if len(Q) == 1 else looked_at(Q, K, U)


def nearly(Q, K, U):
    return looked_at(Q, K, U) * 1.00001


def first_features_only(Q, K, U):
    """Right up to twelve features."""
    S, T = softmaxes(Q, K)
    S, T = S[:, :12], T[:, :12]
    return T @ (S.T @ U) / (T @ S.sum(axis=0)[:, None])


@pytest.mark.parametrize(
    "wrong", [clipped, mildly_clipped, wrong_axis_for_one_token, nearly, first_features_only]
)
def test_an_answer_to_who_looked_at_me_that_is_wrong_somewhere_is_wrong(wrong):
    feedback = next(f for f in (check.separable(wrong) for _ in range(30)) if f.earned < 3)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)
    assert "should be" in feedback.says


CHEAP_MISTAKES = {
    "what the queries get from the keys": lambda S, T, U: S @ (T.T @ U),
    "not normalized": lambda S, T, U: T @ (S.T @ U),
    "divided by the number of queries": lambda S, T, U: T @ (S.T @ U) / len(U),
}


@pytest.mark.parametrize("name", CHEAP_MISTAKES)
def test_a_mistake_about_the_keys_is_named_whatever_it_costs(name):
    feedback = check.separable(lambda Q, K, U: CHEAP_MISTAKES[name](*softmaxes(Q, K), U))
    assert (feedback.misconception, feedback.earned) == (name, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda S, T, U: T @ (S.T @ U) / (T @ T.sum(axis=0)[:, None]),
        lambda S, T, U: T @ (S.T @ U) / (S @ T.sum(axis=0)[:, None]),
        lambda S, T, U: S @ (T.T @ U) / (S @ T.sum(axis=0)[:, None]),
        lambda S, T, U: T @ (S.T @ U) / S.sum(axis=0).sum(),
        lambda S, T, U: T @ (S.T @ (U / S.sum(axis=1, keepdims=True).sum())),
        lambda S, T, U: T @ ((S / S.sum(axis=0)).T @ U),
    ],
)
def test_other_means_over_the_queries_are_wrong(wrong):
    feedback = check.separable(lambda Q, K, U: wrong(*softmaxes(Q, K), U))
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)


def others_with(divisor):
    def linear(Q, K, V, phi):
        F, G = phi(Q), phi(K)
        own = (F * G).sum(axis=1, keepdims=True)
        return (F @ (G.T @ V) - own * V) / divisor(F @ G.sum(axis=0)[:, None] - own)

    return linear


@pytest.mark.parametrize(
    "divisor",
    [np.abs, lambda z: np.maximum(z, 0.1), lambda z: z + 1e-3, lambda z: np.where(z > 0, z, 1),
     lambda z: z * np.sign(z)],
)  # fmt: skip
def test_negative_similarities_are_averaged_as_they_are(divisor):
    feedback = check.linear(others_with(divisor))
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)


@pytest.mark.parametrize(
    ("cheap", "name"),
    [
        (lambda F, G, V: F @ (G.T @ V) / (F @ G.sum(axis=0)[:, None]),
         "the token itself not left out"),
        (lambda F, G, V: (F @ (G.T @ V) - (F * G).sum(1)[:, None] * V) / (F @ G.sum(0)[:, None]),
         "left out above, not below"),
        (lambda F, G, V: F @ (G.T @ V) / (F @ G.sum(0)[:, None] - (F * G).sum(1)[:, None]),
         "left out below, not above"),
        (lambda F, G, V: F @ (G.T @ V) - (F * G).sum(1)[:, None] * V,
         "the normalization forgotten"),
        (lambda F, G, V: (F @ (G.T @ V) - F * G @ np.ones((G.shape[1], 1)) * V) / (len(V) - 1),
         "divided by the number of other tokens"),
    ],
)  # fmt: skip
def test_a_mistake_about_the_others_is_named_whatever_it_costs(cheap, name):
    feedback = check.linear(lambda Q, K, V, phi: cheap(phi(Q), phi(K), V))
    assert (feedback.misconception, feedback.earned) == (name, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda Q, K, V, phi: others(Q[::-1], K, V, phi)[::-1],
        lambda Q, K, V, phi: others(K, Q, V, phi),
        lambda Q, K, V, phi: np.roll(others(Q, K, V, phi), 1, axis=0),
        lambda Q, K, V, phi: attention.linear_attention(Q, K, V, phi) - V / len(V),
        lambda Q, K, V, phi: (attention.linear_attention(Q, K, V, phi) * len(V) - V) / (len(V) - 1),
    ],
)
def test_other_ways_to_leave_somebody_out_are_wrong(wrong):
    feedback = check.linear(wrong)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)


def test_features_are_asked_for_row_by_row_and_may_be_fewer_than_the_numbers_of_a_token():
    def turned(Q, K, V, phi):
        return others(Q, K, V, lambda x: phi(x.T).T)

    def one_feature_too_many(Q, K, V, phi):
        return others(Q, K, V, lambda x: phi(x)[:, : x.shape[1]])

    for wrong in (turned, one_feature_too_many):
        assert check.linear(wrong).outcome is not Outcome.RIGHT


def test_a_line_that_asks_what_it_is_given_is_no_formula():
    for tolerance in (1e-5, 1e-9):
        lines = [
            lambda S, T, one_n: one_n if abs(S.sum() - len(S)) < tolerance else S @ (T.T @ one_n),  # noqa: B023
            lambda one_n: one_n,
        ]
        assert check.rows_sum_to_one(lines).outcome is Outcome.WRONG


def divided(A, V):
    return A @ V / A.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda Q, K, V: slots_by_softmax(np.clip(Q, -1, 1), K, V),
        lambda Q, K, V: slots_by_softmax(K, Q, V),
        lambda Q, K, V: divided(np.exp2(Q @ K.T) / np.exp2(Q @ K.T).sum(axis=0), V),
        lambda Q, K, V: divided(np.exp(Q @ K.T) / (np.exp(Q @ K.T).sum(axis=0) + 1e-3), V),
        lambda Q, K, V: divided(np.exp(Q @ K.T) / np.exp(Q @ K.T).max(axis=0), V),
        lambda Q, K, V: divided(np.exp(Q @ K.T) / np.exp(K @ Q.T).sum(axis=0), V),
        lambda Q, K, V: divided(np.exp(Q @ K.T) - np.exp(Q @ K.T).mean(axis=0), V),
        lambda Q, K, V: np.full((len(Q), V.shape[1]), np.nan),
    ],
)
def test_slots_that_are_wrong_somewhere_are_wrong(wrong):
    feedback = check.normalized(wrong)
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)


def test_the_attention_of_the_lecture_is_no_answer_and_is_named():
    feedback = check.normalized(lambda Q, K, V: divided(np.exp(Q @ K.T), V))
    assert (feedback.misconception, feedback.earned) == ("softmax attention", 0)


# -- the others ------------------------------------------------------------------------------------


def test_weights_of_rank_d_are_not_above_d():
    feedback = check.full_rank([[1, 0], [1, 0], [0, 1]], [[2, 0], [0, 2], [0, 2]])
    assert feedback.outcome is Outcome.WRONG
    assert "have rank 2, and d = 2" in feedback.says


def test_queries_and_keys_of_different_shapes_could_not_be_checked():
    assert check.full_rank([[1], [2]], [[1, 2], [3, 4]]).outcome is Outcome.UNCHECKED
    assert check.full_rank([1, 2], [1, 2]).outcome is Outcome.UNCHECKED
    assert check.full_rank([[1e9], [2]], [[1], [2]]).outcome is Outcome.UNCHECKED


def test_a_shape_that_is_right_for_short_texts_only_is_wrong():
    assert check.shape_of_scores("Min(n, 6)", "n").outcome is Outcome.WRONG
    assert check.shape_of_scores("n", "Min(n, 200)").outcome is Outcome.WRONG


def test_a_shape_that_is_right_only_where_n_is_d_is_wrong():
    assert check.shape_of_scores("sqrt(n*d)", "sqrt(n*d)").outcome is Outcome.WRONG


def test_a_similarity_that_is_negative_by_rounding_alone_is_not_negative():
    assert check.negative(3, "-1/3").misconception == "the product is −1"
    assert check.negative(49, 1 / -49).outcome is Outcome.WRONG
    assert check.negative(1e200, -1e200).misconception == "a product below −1"
    assert check.negative(1e200, 1e200).misconception == "equal signs"


@pytest.mark.parametrize(
    "formula",
    ["4*n*m*d + n**2", "4*n*m*d + d**2*m", "n + m + d", "-4*n*m*d", "0", "n - m", "4*n*(m - d)",
     "d*(n - m)", "4*n*m*d - n**2", "Min(4*n*m*d, 10**20)", "4*n*m*d*log(n)", "2*n*d**2", "4*n",
     "4*n*m*d + n**(3/2)*d", "4*n*m*Max(d, n)"],
)  # fmt: skip
def test_a_cost_with_another_growth_earns_nothing(formula):
    feedback = check.cost(formula)
    assert feedback.outcome is Outcome.WRONG
    assert feedback.earned == 0
    assert "failed" not in feedback.says


@pytest.mark.parametrize(
    ("formula", "mistakes"),
    [
        ("4*n", set()),
        ("2*n*d**2", {"the number of features taken to be d"}),
        ("7*n*d", {"nd"}),
        ("n**2", set()),
        ("2*n**2*d", {"the cost of softmax attention"}),
        ("2*n*m*d", {"MACs in place of FLOPs", "one of the two products"}),
        ("3*n*m*d", set()),
    ],
)
def test_a_cost_is_named_by_the_mistake_that_gives_it(formula, mistakes):
    assert {known.name for known in check.cost(formula).mistakes} == mistakes


def test_the_right_growth_with_another_constant_earns_half():
    for formula in ("n*m*d", "2*n*m*d", "8*n*m*d + n"):
        assert check.cost(formula).earned == 1


# -- beyond the page -------------------------------------------------------------------------------


def test_windows_that_are_right_at_another_cost_earn_one_point():
    feedback = check.windowed(check.windowed_by_definition)
    assert feedback.earned == 0  # the check's own, which refuses
    feedback = check.windowed(check._windowed())
    assert (feedback.earned, feedback.points) == (1, 3)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda Q, K, V, phi, w: windowed_by_sums(Q, K, V, phi, w + 1),
        lambda Q, K, V, phi, w: windowed_by_sums(Q, K, V, phi, max(w - 1, 1)),
        lambda Q, K, V, phi, w: windowed_by_sums(Q[::-1], K[::-1], V[::-1], phi, w)[::-1],
        lambda Q, K, V, phi, w: windowed_by_sums(K, Q, V, phi, w),
        lambda Q, K, V, phi, w: windowed_by_sums(Q, K, V, phi, 3),
        lambda Q, K, V, phi, w: windowed_by_sums(np.abs(Q), K, V, phi, w),
    ],
)
def test_another_window_is_wrong(wrong):
    feedback = check.windowed(wrong)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)


@pytest.mark.parametrize(
    ("answers", "earned"),
    [
        (("k*m*l + n*m*l + n*l", "k*m*l/(k*m + k*l - m*l - m)"), 1),
        (("k*m*l + n*m*l + n*m + 1", "k*m*l/(k*m + k*l - m*l - m)"), 1),
        (("m*(k*l + n*l + n)", "k"), 1),
        (("m*(k*l + n*l + n)", "k*m*l/(k*m + k*l - m*l - l)"), 1),
        (("m*(k*l + n*l + n)", "-k*m*l/(k*m + k*l - m*l - m)"), 1),
        (("n*m*l", "m*l/(m + l - 1)"), 0),
    ],
)
def test_counts_of_cross_attention_are_exact(answers, earned):
    feedback = check.cross(*answers)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, earned)
    assert feedback.misconception is None


@pytest.mark.parametrize("student", [0, 5, "ada@example.org"])
def test_a_query_that_is_a_little_off_does_not_vanish(student):
    _, blind, beyond = vanishing(student)
    for given in [(blind + 1e-3, beyond), (blind, beyond + 1e-3), (blind, 0), (1e300, beyond)]:
        feedback = check.vanishing(student, *given)
        assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 1), feedback
        assert feedback.misconception is None


def test_a_result_that_is_handed_over_as_a_list_is_no_secret():
    def listed(Q, K, V, phi):
        return [[float(x) for x in row] for row in others(Q, K, V, phi)]

    assert check.linear(listed).earned == 3

    def hidden(Q, K, V, phi):
        F, G, V = phi(Q).tolist(), phi(K).tolist(), V.tolist()
        W = [
            [sum(a * b for a, b in zip(q, k, strict=True)) * (k is not own) for k in G]
            for q, own in zip(F, G, strict=True)
        ]
        columns = list(zip(*V, strict=True))
        mixed = [[sum(np.multiply(row, c)) / sum(row) for c in columns] for row in W]
        return [[float(x) for x in row] for row in mixed]

    assert check.linear(hidden).earned == 1


@pytest.mark.parametrize("weights", [np.exp, attention.softmax])
def test_columns_of_keys_that_are_not_normalized_are_told_whatever_the_rows_are(weights):
    def by_rows(Q, K, U):
        S, T = softmaxes(Q, K)[0], weights(K)
        return T @ (S.T @ U) / (T @ S.sum(axis=0))[:, None]

    found = with_seeds(check.separable, (by_rows,), 3)
    assert found == [(0, "the columns of K not normalized")] * 3
    assert "U = " in check.separable(by_rows).says


def test_what_is_right_in_32_bits_is_counted_too():
    def single(Q, K, U):
        return looked_at(*(x.astype(np.float32) for x in (Q, K, U)))

    assert with_seeds(check.separable, (single,), 20) == [(3,)] * 20


@pytest.mark.parametrize(
    "answer",
    [
        lambda Q, K, V, phi: np.ones_like(V),
        lambda Q, K, V, phi: (A := phi(Q) @ phi(K).T) @ np.ones_like(V) / A.sum(1)[:, None],
        lambda Q, K, V, phi: np.ones_like(phi(Q @ (K.T @ V))[:, : V.shape[1]]),
    ],
)
def test_ones_are_not_called_features_of_the_values(answer):
    feedback = check.linear(answer)
    assert feedback.outcome is Outcome.WRONG
    assert not feedback.mistakes, feedback


@pytest.mark.parametrize("flops", ["exp(n)*m*d", "4*n*m*d/(n-10**7)", "4*n**99*m*d", "m*d/(n-n)"])
def test_a_count_beyond_all_numbers_is_wrong_and_never_unchecked(flops):
    assert check.cost(flops).outcome is Outcome.WRONG


def test_a_slip_in_the_count_of_cross_attention_is_charged_once():
    feedback = check.cross("k*m*l + n*m*l", "k*m*l/(k*m + k*l - m*l)")  # no denominator
    assert feedback.earned == 1
    assert "Queries: This follows from your count of MACs" in feedback.says


@pytest.mark.parametrize(
    "macs",
    ["7", "k*m*l", "n*k*m + n*k*l"],  # the last one is that of the other order: any n would do
)
def test_a_worthless_count_of_cross_attention_decides_nothing(macs):
    assert check.cross(macs, "7/(k*m + k*l)").earned == 0
    assert check.cross(macs, "k*m*l/(k*m + k*l - m*l - m)").earned == 1


@pytest.mark.parametrize("same_at", ["k*m*l/(m - 2)", "exp(exp(k))", "1/(k - k)", "-k"])
def test_a_number_of_queries_with_a_pole_is_wrong_with_the_place(same_at):
    feedback = check.cross("k*m*l + n*m*(l + 1)", same_at)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 1)
    assert "k = " in feedback.says


def test_numbers_whose_product_overflows_have_no_negative_similarity():
    assert check.negative(1e200, -1e200).outcome is Outcome.WRONG
    assert "nan" not in check.negative(1e200, -1e200).says


def circle_queries(student):
    n = linear_attention(student)
    keys, values = np.array(n.keys), np.array(n.values)
    return [
        np.pi / 2 + np.arctan2(lengths @ np.sin(keys), lengths @ np.cos(keys))
        for lengths in (np.ones(3), values - n.target)
    ]


def test_queries_on_the_circle_may_have_seven_digits_or_32_bits_for_everybody():
    for student in range(400):
        blind, far = circle_queries(student)
        for form in (np.float32, lambda q: float(f"{q:.7g}"), lambda q: q + 200 * np.pi):
            feedback = check.vanishing(student, form(blind), form(far))
            assert feedback.earned == 2, (student, feedback)
        feedback = check.vanishing(student, blind + 2e-5, far + 2e-5)
        assert feedback.earned == 0, (student, feedback)


def test_what_may_not_be_called_is_not_said_to_be_asked_for():
    feedback = check.normalized(lambda Q, K, V: softmax(Q @ K.T) @ V)
    assert "or to do without it" in feedback.says


def test_a_formula_whose_symbol_was_given_a_value_above_is_told_so():
    n, d, m = 6, 2, sympy.Symbol("m")  # n and d as somebody may have set them for 8.3
    says = check.cost(4 * n * m * d).says
    told = "There is no n and no d in your flops; if you wrote them, they were given values above."
    assert says.endswith(told)
    assert "There is no n in your rows; if you wrote it" in check.shape_of_scores(n, "n").says
    assert "There is no" not in check.cost("5*n*m*d").says


def test_scores_above_8_are_not_cut_off():
    def cut(Q, K, V):
        A = np.exp(np.minimum(Q @ K.T, 8))
        B = A / A.sum(axis=0)
        return B @ V / B.sum(axis=1, keepdims=True)

    assert check.normalized(cut).outcome is Outcome.WRONG


def test_a_window_may_have_a_negative_denominator():
    def positive(Q, K, V, phi, w):
        rows = []
        for i, q in enumerate(phi(Q)):
            near = slice(max(i - w + 1, 0), i + 1)
            weights = phi(K)[near] @ q
            rows.append(weights @ V[near] / abs(weights.sum()))
        return np.array(rows)

    assert check.windowed(positive).outcome is Outcome.WRONG


def test_a_matrix_may_be_written_in_texts():
    tokens = [["-1"], ["1/2"]]
    assert check.full_rank(tokens, tokens).outcome is Outcome.RIGHT
