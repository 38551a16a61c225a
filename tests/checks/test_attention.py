"""Unit 04: right answers in several forms pass, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py.
"""

import re

import numpy as np
import pytest
import sympy

from course_utils import variants
from course_utils.checks import attention as check
from selfcheck.blanks import ____
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form, with_seeds
from tests.checks.forms import students_own

package = students_own("attention")

T, d, m, l, n, s = sympy.symbols("T d m l n s", positive=True)  # noqa: E741

# -- the same functions in many forms -------------------------------------------------------------


def with_loops(Q, K, V):
    """Attention as a beginner writes it: lists and loops, no matrix product."""
    result = []
    for q in Q:
        scores = [sum(a * b for a, b in zip(q, k, strict=True)) / len(q) ** 0.5 for k in K]
        largest = max(scores)
        e = [np.exp(score - largest) for score in scores]
        result.append(
            [sum(e[j] * V[j][c] for j in range(len(K))) / sum(e) for c in range(len(V[0]))]
        )
    return result


def with_einsum(Q, K, V):
    scores = np.einsum("im,jm->ij", Q, K) / np.sqrt(Q.shape[1])
    e = np.exp(scores - scores.max(axis=1)[:, None])
    return np.einsum("ij,jl->il", e / np.einsum("ij->i", e)[:, None], V)


def with_logarithms(Q, K, V):
    scores = Q @ K.T * K.shape[1] ** -0.5
    return np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)) @ V


def divided_last(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e @ V / e.sum(-1, keepdims=True)


def causal_with_loops(Q, K, V):
    return [with_loops([q], K[: i + 1], V[: i + 1])[0] for i, q in enumerate(Q)]


def causal_with_added_mask(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[1]) + np.triu(np.full((len(Q), len(Q)), -np.inf), 1)
    return package.softmax(scores) @ V


def causal_with_a_very_large_number(Q, K, V):
    scores = np.where(
        package.causal_mask(len(Q)), Q @ K.T / np.sqrt(Q.shape[1]), np.finfo(float).min
    )
    return package.softmax(scores) @ V


def causal_in_place(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    scores[np.triu_indices(len(Q), 1)] = -np.inf
    scores -= scores.max(axis=1, keepdims=True)
    return np.exp(scores) @ V / np.exp(scores).sum(axis=1, keepdims=True)


def nearest_most(causal):
    """With the distance subtracted: a key has its place as a further number."""

    def nearer(Q, K, V):
        n, m = Q.shape
        Q = np.hstack([Q / m**0.5, np.ones((n, 1))]) * (m + 1) ** 0.5
        return causal(Q, np.hstack([K, np.arange(n)[:, None]]), V)

    return nearer


def causal_by_rows(Q, K, V):
    """Row by row, the weights of the past multiplied by powers of e."""
    rows = []
    for i, q in enumerate(Q):
        scores = K[: i + 1] @ q / np.sqrt(len(q)) + np.arange(i + 1)
        weights = np.exp(scores - scores.max())
        rows.append(weights @ V[: i + 1] / weights.sum())
    return rows


def all_together(attend):
    def cross(Y, Z, Wq, Wk, Wv):
        both = np.concatenate([Y, Z])
        return attend(Y @ Wq, both @ Wk, both @ Wv)

    return cross


def all_together_in_pieces(Y, Z, Wq, Wk, Wv):
    """Sums of exponentials over each side, then one division."""
    above, below = 0.0, 0.0
    for X in (Y, Z):
        e = np.exp(Y @ Wq @ (X @ Wk).T / np.sqrt(Wq.shape[1]))
        above, below = above + e @ (X @ Wv), below + e.sum(axis=1, keepdims=True)
    return above / below


def heads_in_blocks(X, heads, Wo):
    width = heads[0][2].shape[1]
    return [
        with_einsum(X @ Wq, X @ Wk, X @ Wv) @ Wo[i * width : (i + 1) * width]
        for i, (Wq, Wk, Wv) in enumerate(heads)
    ]


def heads_as_a_batch(X, heads, Wo):
    Q, K, V = (np.stack([X @ head[role] for head in heads]) for role in range(3))
    return package.attention(Q, K, V) @ Wo.reshape(len(heads), -1, X.shape[1])


def heads_silenced(X, heads, Wo):
    """All of it without the head, and the difference."""
    blocks = []
    for t in range(len(heads)):
        silent = [(Wq, Wk, 0 * Wv if s == t else Wv) for s, (Wq, Wk, Wv) in enumerate(heads)]
        blocks.append(package.multi_head(X, heads, Wo) - package.multi_head(X, silent, Wo))
    return np.stack(blocks)


SHAPES = [(7, 3), (5, 3), (5, 5), (7, 4), (5, 4), (5, 8), (8, 7), (5, 7)]


def on_the_circle(scale):
    """The directions by their angles, for id 0: each token looks at the one before it."""
    angles = np.pi / 4 * np.array([7, 0, 1, 2, 3, 4, 5, 6])
    return scale * np.column_stack([np.cos(angles), np.sin(angles)])


def packed_token_by_token(lengths):
    rows, start = [], 0
    for length in lengths:
        for i in range(start, start + length):
            rows.append([start <= j <= i for j in range(sum(lengths))])
        start += length
    return rows


def packed_block_by_block(lengths):
    mask, start = np.zeros((sum(lengths), sum(lengths))), 0
    for length in lengths:
        mask[start : start + length, start : start + length] = np.tri(length)
        start += length
    return mask


def additive_pair_by_pair(Q, K, V, A, B, u):
    outputs = []
    for q in Q:
        weights = [np.exp(u @ np.tanh(A @ q + B @ k)) for k in K]
        outputs.append(sum(w * v for w, v in zip(weights, V, strict=True)) / sum(weights))
    return outputs


def additive_with_einsum(Q, K, V, A, B, u):
    pairs = np.einsum("pm,nm->np", A, Q)[:, None] + np.einsum("pm,km->kp", B, K)
    scores = np.einsum("p,nkp->nk", u, np.tanh(pairs))
    return np.einsum("nk,kl->nl", package.softmax(scores), V)


def plain_across(Q, K, V):
    """Attention of one query or of many."""
    scores = Q @ K.T / np.sqrt(K.shape[1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ V


RIGHT = {
    "shapes": [
        SHAPES,
        [list(shape) for shape in SHAPES],
        [np.zeros(shape).shape for shape in SHAPES],
    ],
    "attention": [(package.attention,), (with_loops,), (with_einsum,), (with_logarithms,),
                  (divided_last,)],
    "causal_attention": [
        (causal_by_rows,),
        *(
            (nearest_most(causal),)
            for causal in [package.causal_attention, causal_with_loops, causal_with_added_mask,
                           causal_with_a_very_large_number, causal_in_place]
        ),
    ],
    "cross_attention": [
        (all_together(package.attention),),
        (all_together(with_loops),),
        (all_together_in_pieces,),
        (lambda Y, Z, Wq, Wk, Wv: package.cross_attention(Y, np.vstack([Z, Y]), Wq, Wk, Wv),),
    ],
    "multi_head": [(heads_in_blocks,), (heads_as_a_batch,), (heads_silenced,)],
    "parameters": [
        (T * d * (2 * m + l) + T * l * d,),
        ("2*T*d*(m + l)",),
        ("Sum(2*d*m + d*l, (i, 1, T)) + T·l·d",),
        (2 * T * d * (m + l) + n - n,),
    ],
    "score_variance": [(m * s**4,), ("m·s⁴",), ("Sum(s^2*s^2, (i, 1, m))",)],
    "order_blindness": [
        ([[1, 0], [0, 1]], [[0, 1], [1, 0]], "rows swapped"),
        (np.array([[2.5, -1], [2.5, 3]]), np.array([[2.5, 3], [2.5, -1]]), "Rows  swapped"),
        ([[0, 0], [1e4, 0]], [[1e4, 0], [0, 0]], "rows swapped"),
    ],
    "looking_head": [
        (0, on_the_circle(50.0), 6.9802),
        ("0", on_the_circle(1000).tolist(), 6.980221252812014),
        (0, on_the_circle(20) + 0.1, 6.98022),
    ],
    "packed_mask": [(packed_block_by_block,), (packed_token_by_token,),
                    (lambda lengths: np.array(packed_token_by_token(lengths), dtype=int),)],
    "additive_attention": [(additive_pair_by_pair,), (additive_with_einsum,)],
    "cross": [
        (lambda Y, Z, Q, K, V: plain_across(Y @ Q, Z @ K, Z @ V),),
        (lambda Y, Z, Q, K, V: [plain_across(y @ Q, Z @ K, Z @ V) for y in np.array(Y)],),
    ],
}  # fmt: skip


test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


def outcome_of(name, *answers):
    return getattr(check, name)(*answers).outcome


# -- 4.1 ------------------------------------------------------------------------------------------


def test_a_wrong_shape_is_told_why_it_does_not_fit():
    feedback = check.shapes(*SHAPES[:5], (4, 4), (4, 4), (4, 4))
    assert "joined: 4 rows cannot be: each token keeps one row." in feedback.says
    assert feedback.earned == 0


@pytest.mark.parametrize("junk", [(1, 1), (0, 0), (9, 9), (-1, 2)])
def test_junk_does_not_print_the_shapes(junk):
    says = check.shapes(*[junk] * 8).says
    assert not re.search(r"should be|[5-8]×|\[[3-8], [3-8]\]|\([3-8], [3-8]\)", says)


def test_up_to_two_wrong_shapes_still_earn_a_point():
    assert check.shapes(*SHAPES[:6], (9, 9), (9, 9)).earned == 1
    one = check.shapes(*SHAPES[:7], (5, 9))
    assert one.says == "Y: 9 columns cannot be: a result is as wide as a token."


def test_a_shape_that_follows_from_an_earlier_slip_is_not_charged_again():
    added = check.shapes(*SHAPES[:5], (5, 4), (4, 7), (5, 7))
    assert (added.earned, added.misconception) == (1, "heads added")
    assert "W_O" not in added.says
    wide = check.shapes((7, 3), (5, 3), (5, 5), (7, 6), (5, 6), (5, 12), (12, 7), (5, 7))
    assert wide.earned == 1
    assert check.shapes(*SHAPES[:6], (4, 7), (5, 7)).misconception == "W^O made for one head"


@pytest.mark.parametrize("shape", [(5, 7, 1), np.zeros((5, 7)), (n, d), (5.5, 7), "5x7", 35])
def test_what_is_no_pair_of_sizes_is_told_so_and_costs_its_own_part(shape):
    feedback = check.shapes(*SHAPES[:7], shape)
    assert (feedback.outcome, feedback.earned) == (Outcome.UNCHECKED, 1)
    assert "Y: Y should be a pair of whole numbers, rows and columns" in feedback.says


# -- 4.2 ------------------------------------------------------------------------------------------


def test_a_wrong_row_is_told_with_its_scores_weights_and_output():
    feedback = check.attention(lambda Q, K, V: np.zeros((len(Q), V.shape[1])))
    assert feedback.outcome is Outcome.WRONG
    assert feedback.misconception is None
    assert "query Q[0] has the scores" in feedback.says
    assert feedback.says.endswith("yours is [0, 0].")


@pytest.mark.parametrize(
    "almost",
    [
        lambda Q, K, V: package.attention(Q, K, V) if Q.shape[1] > 1 else package.attention(V, K, K)
        if V.shape[1] == 1 else np.ones((len(Q), V.shape[1])),
        lambda Q, K, V: package.attention(Q, K, V) if len(Q) > 1 else V[:1],
        lambda Q, K, V: np.tile(V.mean(axis=0), (len(Q), 1)),
        lambda Q, K, V: V[(Q @ K.T).argmax(axis=1)],
        lambda Q, K, V: package.attention(Q, K / np.linalg.norm(K + 1e-9, axis=1)[:, None], V),
        lambda Q, K, V: package.softmax(Q @ K.T / 2) @ V,
        lambda Q, K, V: package.softmax(Q @ K.T / np.sqrt(len(K))) @ V,
    ],
    ids=["not for m = 1", "not for one query", "the mean", "the best key", "cosine", "m = 4 only",
         "√n"],
)  # fmt: skip
def test_attention_that_is_right_only_sometimes_is_wrong(almost):
    assert outcome_of("attention", almost) is Outcome.WRONG


def test_attention_for_square_inputs_alone_cannot_pass():
    def square_only(Q, K, V):
        assert Q.shape == K.shape
        return package.attention(Q, K, V)

    feedback = check.attention(square_only)
    assert feedback.outcome is Outcome.UNCHECKED
    assert "raised AssertionError" in feedback.says


def test_softmax_that_overflows_earns_two_points_of_three():
    untamed = check._variant(weigh=lambda S: np.exp(S) / np.exp(S).sum(axis=1, keepdims=True))
    feedback = check.attention(untamed)
    assert feedback.earned == 2
    assert "is not finite: result[0] is [nan, nan]" in feedback.says
    assert feedback.misconception == "large scores not tamed"


FEW = {
    "one key": lambda Q, K, V: len(K) == 1,
    "one query": lambda Q, K, V: len(Q) == 1,
    "an odd m": lambda Q, K, V: K.shape[1] % 2,
    "more queries than keys": lambda Q, K, V: len(Q) > len(K),
    "more than five keys": lambda Q, K, V: len(K) > 5,
}


@pytest.mark.parametrize("where", FEW)
@pytest.mark.parametrize("seed", range(1, 8))
def test_attention_that_fails_in_some_sizes_is_wrong_and_no_mistake_is_made_up(where, seed):
    check.attention.seed = seed
    feedback = check.attention(
        lambda *args: package.attention(*args) * (-1 if FEW[where](*args) else 1)
    )
    check.attention.seed = None
    assert (feedback.earned, feedback.misconception) == (0, None)


@pytest.mark.parametrize("seed", range(1, 8))
def test_what_knows_few_tokens_alone_is_wrong(seed):
    def window(Q, K, V):
        visible = package.causal_mask(len(Q)) & ~package.causal_mask(len(Q)).T
        near = np.abs(np.subtract.outer(np.arange(len(Q)), np.arange(len(Q)))) < 6
        visible = (visible | np.eye(len(Q), dtype=bool)) & near
        return nearest_most(lambda *placed: package.attention(*placed, visible))(Q, K, V)

    def four_keys(Y, Z, Wq, Wk, Wv):
        return all_together(package.attention)(Y, Z[:4], Wq, Wk, Wv)

    def four_heads(X, heads, Wo):
        blocks = heads_as_a_batch(X, heads, Wo)
        blocks[4:] = 0
        return blocks

    for name, answer in [("causal_attention", window), ("cross_attention", four_keys),
                         ("multi_head", four_heads)]:  # fmt: skip
        getattr(check, name).seed = seed
        assert outcome_of(name, answer) is Outcome.WRONG
        getattr(check, name).seed = None


def test_single_precision_is_right():
    def single(f):
        return lambda *args: f(*(np.asarray(a, np.float32) for a in args))

    for name, f in [
        ("attention", divided_last),
        ("cross_attention", all_together(divided_last)),
        ("causal_attention", RIGHT["causal_attention"][0][0]),
        ("additive_attention", RIGHT["additive_attention"][0][0]),
    ]:
        for seed in range(1, 20):
            getattr(check, name).seed = seed
            assert outcome_of(name, single(f)) is Outcome.RIGHT
        getattr(check, name).seed = None


def test_clipping_large_scores_is_no_way_to_stay_finite():
    def clipped(Q, K, V):
        scores = np.clip(Q @ K.T / np.sqrt(Q.shape[1]), -500, 500)
        return package.softmax(scores) @ V

    assert check.attention(clipped).earned == 2


def test_an_answer_of_another_shape_is_told_its_shape():
    feedback = check.attention(lambda Q, K, V: package.attention(Q, K, V)[:, :1])
    assert feedback.outcome is Outcome.UNCHECKED
    assert "has shape (2, 1); shape (2, 2) was expected" in feedback.says


def test_mutating_the_inputs_changes_nothing():
    def in_place(Q, K, V):
        Q /= np.sqrt(Q.shape[1])
        return package.softmax(Q @ K.T) @ V

    assert outcome_of("attention", in_place) is Outcome.RIGHT


def test_a_known_mistake_is_recognized_in_another_form():
    def column_loops(Q, K, V):
        e = np.exp(np.einsum("im,jm->ij", Q, K) / np.sqrt(Q.shape[1]))
        return (e / e.sum(axis=0)) @ V

    assert check.attention(column_loops).misconception == "softmax over the wrong axis"


# -- 4.3 ------------------------------------------------------------------------------------------


def test_a_first_row_that_is_not_the_first_value_is_shown():
    feedback = check.causal_attention(lambda Q, K, V: np.zeros_like(V))
    assert "result[0] should be" in feedback.says


def distance(Q):
    return np.subtract.outer(np.arange(len(Q)), np.arange(len(Q)))


def scored(Q, K):
    return Q @ K.T / np.sqrt(Q.shape[1]) - distance(Q)


def masked(visible, Q, K, V, hidden=-np.inf):
    return package.softmax(np.where(visible, scored(Q, K), hidden)) @ V


@pytest.mark.parametrize(
    "scores",
    [
        lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1]) * np.exp(-distance(Q)),
        lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1]) - distance(Q) ** 2,
        lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1]) - np.minimum(distance(Q), 5),
        lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1]) - distance(Q) / 2,
        lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1]) - np.log1p(np.abs(distance(Q))),
        lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1]) - np.arange(len(Q)),
    ],
)
def test_distances_that_count_otherwise_are_wrong(scores):
    feedback = check.causal_attention(
        lambda Q, K, V: package.softmax(np.where(distance(Q) >= 0, scores(Q, K), -np.inf)) @ V
    )
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)


@pytest.mark.parametrize(
    ("scores", "name"),
    [
        (lambda Q, K: scored(Q, K) + distance(Q), "the distance forgotten"),
        (lambda Q, K: scored(Q, K) + 2 * distance(Q), "the distance added"),
        (lambda Q, K: (Q @ K.T - distance(Q)) / np.sqrt(Q.shape[1]),
         "the distance divided by √m too"),
    ],
)  # fmt: skip
def test_a_distance_that_went_wrong_is_named(scores, name):
    feedback = check.causal_attention(
        lambda Q, K, V: package.softmax(np.where(distance(Q) >= 0, scores(Q, K), -np.inf)) @ V
    )
    assert (feedback.misconception, feedback.earned) == (name, 0)


def test_a_mask_that_a_large_score_can_climb_over_is_not_right():
    for hidden in (-1e9, -1e5, -1e3, -1e2, -30):
        feedback = check.causal_attention(
            lambda Q, K, V, hidden=hidden: masked(package.causal_mask(len(Q)), Q, K, V, hidden)
        )
        assert feedback.earned == 2
        assert feedback.misconception == "a mask that is not −∞"
        assert "the past depends on the future" in feedback.says


@pytest.mark.parametrize("share", [1e-9, -1e-12])
def test_later_values_that_come_in_beside_the_weights_are_no_fault_of_the_mask(share):
    feedback = check.causal_attention(
        lambda Q, K, V: masked(package.causal_mask(len(Q)), Q, K, V) + share * V.sum(axis=0)
    )
    assert (feedback.earned, feedback.misconception) == (2, None)
    assert "the past depends on the future" in feedback.says


def test_a_softmax_that_underflows_is_not_right_however_large_the_scores():
    def naive(Q, K, V):
        e = np.where(package.causal_mask(len(Q)), np.exp(scored(Q, K)), 0)
        return e / e.sum(axis=1, keepdims=True) @ V

    feedback = check.causal_attention(naive)
    assert (feedback.earned, feedback.misconception) == (2, "large scores not tamed")


def test_the_largest_score_taken_before_masking_is_recognized():
    def row_max_too_early(Q, K, V):
        scores = scored(Q, K)
        e = np.exp(scores - scores.max(axis=1, keepdims=True)) * package.causal_mask(len(Q))
        return e / e.sum(axis=1, keepdims=True) @ V

    feedback = check.causal_attention(row_max_too_early)
    assert feedback.earned == 2
    assert [known.name for known in feedback.mistakes] == ["the future takes part in the softmax"]


def test_hiding_the_token_itself_is_recognized_also_where_the_first_row_was_patched():
    def patched(Q, K, V):
        with np.errstate(invalid="ignore"):
            Y = masked(np.tri(len(Q), k=-1) > 0, Q, K, V)
        Y[0] = 0
        return Y

    assert check.causal_attention(patched).misconception == "the token itself hidden"


def test_causal_attention_for_three_tokens_alone_is_not_right():
    fixed = np.tril(np.ones((3, 3), dtype=bool))
    feedback = check.causal_attention(lambda Q, K, V: masked(fixed, Q, K, V))
    assert feedback.outcome is Outcome.UNCHECKED


# -- 4.4 and 4.5 ----------------------------------------------------------------------------------


def test_cross_attention_for_equal_lengths_alone_is_not_right():
    def equal_lengths(Y, Z, Wq, Wk, Wv):
        return all_together(package.attention)(Y, Y + (Z - Y), Wq, Wk, Wv)

    assert outcome_of("cross_attention", equal_lengths) is Outcome.UNCHECKED


def test_wk_and_wq_exchanged_is_wrong():
    exchanged = check.cross_attention(
        lambda Y, Z, Wq, Wk, Wv: all_together_in_pieces(Y, Z, Wk, Wq, Wv)
    )
    assert exchanged.outcome is Outcome.WRONG
    assert exchanged.says.startswith("Queries come from Y, keys and values from Z and Y together.")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda Y, Z, Wq, Wk, Wv: all_together_in_pieces(Y, np.vstack([Z, Y]), Wq, Wk, Wv),
        lambda Y, Z, Wq, Wk, Wv: all_together_in_pieces(Y, Z[:1], Wq, Wk, Wv),
        lambda Y, Z, Wq, Wk, Wv: all_together(package.attention)(Y, Z * 1.001, Wq, Wk, Wv),
        lambda Y, Z, Wq, Wk, Wv: package.cross_attention(Y, Z, Wq, Wk, Wv) + Y @ Wv,
        lambda Y, Z, Wq, Wk, Wv: package.attention(
            Y @ Wq, np.vstack([Z, Y]) @ Wk, np.vstack([Y, Z]) @ Wv
        ),
    ],
)
def test_other_ways_to_ask_both_sides_are_wrong(wrong):
    assert check.cross_attention(wrong).outcome is Outcome.WRONG


def test_only_the_first_head_or_the_mean_of_heads_is_wrong():
    def first_only(X, heads, Wo):
        return heads_as_a_batch(X, heads[:1] * len(heads), Wo)

    def doubled(X, heads, Wo):
        return 2 * heads_as_a_batch(X, heads, Wo)

    def one_row_late(X, heads, Wo):
        return heads_as_a_batch(X, heads, np.roll(Wo, 1, axis=0))

    def evenly(X, heads, Wo):
        return np.stack([package.multi_head(X, heads, Wo) / len(heads)] * len(heads))

    for wrong in (first_only, doubled, one_row_late, evenly):
        assert outcome_of("multi_head", wrong) is Outcome.WRONG


def test_the_sum_of_all_heads_is_told_the_shape():
    feedback = check.multi_head(package.multi_head)
    assert feedback.outcome is Outcome.UNCHECKED
    assert "shape (2, 4); shape (2, 2, 4) was expected" in feedback.says


def test_heads_for_two_only_are_not_right():
    def two(X, heads, Wo):
        first, second = heads
        return heads_as_a_batch(X, [first, second], Wo)

    assert outcome_of("multi_head", two) is Outcome.UNCHECKED


# -- formulas and the object ----------------------------------------------------------------------


def test_any_count_with_n_in_it_is_recognized():
    for wrong in ("n*d*(2*m + l)*T", n * d + 2 * T * d * (m + l), "n**2"):
        assert check.parameters(wrong).misconception == "the number of tokens counted"


def test_a_count_that_is_right_only_at_special_sizes_is_wrong():
    for wrong in ("4*T*d*m", "4*d**2", "2*d*(m + l)", "2*T*d*(m + l) + d - l"):
        assert outcome_of("parameters", wrong) is Outcome.WRONG


def test_a_wrong_count_is_told_the_number_of_real_entries():
    assert "with 10 real arrays, the number of entries should be 504; yours is 126" in (
        check.parameters("2*T*d*m").says
    )


def test_two_omissions_that_give_the_same_count_are_both_named():
    names = [known.name for known in check.parameters("2*T*d*m + T*l*d").mistakes]
    assert names == ["W^O forgotten", "W^V forgotten"]


def test_formulas_that_are_right_for_small_sizes_alone_are_wrong():
    for capped in ("2*T*d*(m + Min(l, 12))", "2*T*d*(Min(m, 8) + l)", "2*Min(T, 8)*d*(m + l)"):
        assert outcome_of("parameters", capped) is Outcome.WRONG
    assert outcome_of("score_variance", "Min(m, 5)*s**4") is Outcome.WRONG
    assert outcome_of("score_variance", "m*s**4 + (m-1)*(m-2)*(m-3)*(m-4)*(m-5)") is Outcome.WRONG


def test_outputs_that_do_not_fit_w_o_are_told_what_fits():
    def whole(X, heads, Wo):
        return [package.attention(X @ Wq, X @ Wk, X @ Wv) @ Wo for Wq, Wk, Wv in heads]

    feedback = check.multi_head(whole)
    assert feedback.outcome is Outcome.UNCHECKED
    assert feedback.says.endswith(
        "Each of the 2 outputs has 2 columns, as many as its share of the 4 rows of Wo."
    )
    assert len(feedback.says) < 800


def test_a_variance_that_is_right_at_one_value_only_is_wrong():
    for wrong in ("m*s", "m*s**3", "m*s**4/m", "m*(2*s**2 - 1)", "m*s**4 + (m - 1)*(s - 1)"):
        assert outcome_of("score_variance", wrong) is Outcome.WRONG


def test_the_variance_over_all_signs_agrees_with_a_simulation():
    rng = np.random.default_rng(0)
    q, k = 1.5 * rng.normal(size=(2, 200_000, 4))
    assert (q * k).sum(axis=1).var() == pytest.approx(
        check._variance_over_all_signs(4, 1.5), rel=0.02
    )


def test_other_tokens_are_no_other_order():
    feedback = check.order_blindness([[1, 0], [0, 1]], [[0, 1], [1, 1]], "rows swapped")
    assert feedback.outcome is Outcome.WRONG
    assert "Entry [1] of B, the same tokens in the other order, should be [1, 0]" in feedback.says


@pytest.mark.parametrize("A", [[[1, 2], [1, 2.01]], [[100, 0], [100.5, 0]], [[1, 1], [1, 1.001]]])
def test_any_two_tokens_that_differ_will_do(A):
    assert outcome_of("order_blindness", A, A[::-1], "rows swapped") is Outcome.RIGHT
    assert outcome_of("order_blindness", A, A[::-1], "the same") is Outcome.WRONG


@pytest.mark.parametrize("A", [[[1, 2], [2, 1]], [[0, 1], [1, 0]], [[1, -1], [-1, 1]]])
def test_rows_that_look_like_columns_when_swapped_are_not_taken_for_columns(A):
    same = check.order_blindness(A, A[::-1], "the same")
    assert same.misconception == "invariant in place of equivariant"
    assert check.order_blindness(A, A[::-1], "unrelated").misconception is None


def test_unrelated_outputs_are_refuted_by_running_attention():
    feedback = check.order_blindness([[1, 0], [0, 1]], [[0, 1], [1, 0]], "unrelated")
    assert feedback.says.endswith("rows swapped, not unrelated.")


# -- a slip in 4.2 is charged once -----------------------------------------------------------------


def unscaled(Q, K, V):
    return package.softmax(Q @ K.T) @ V


def over_queries(Q, K, V):
    return package.softmax(Q @ K.T / np.sqrt(Q.shape[1]), axis=0) @ V


def nothing(Q, K, V):
    return np.zeros((len(Q), V.shape[1]))


def built_on(attend):
    def heads(X, heads, Wo):
        outputs = [attend(X @ Wq, X @ Wk, X @ Wv) for Wq, Wk, Wv in heads]
        return [Y @ rows for Y, rows in zip(outputs, np.split(Wo, len(heads)), strict=True)]

    return all_together(attend), heads


@pytest.mark.parametrize("attend", [unscaled, over_queries])
def test_what_is_built_on_a_known_slip_is_right(attend):
    cross, heads = built_on(attend)
    for exercise, answer in [(check.cross_attention, cross), (check.multi_head, heads)]:
        assert exercise(answer).earned == 0
        followed = exercise(answer, attend)
        assert followed.outcome is Outcome.RIGHT
        assert "which is not right yet" in followed.says


def test_another_mistake_on_top_of_it_is_wrong():
    swapped = check.cross_attention(
        lambda Y, Z, Wq, Wk, Wv: unscaled(Z @ Wq, Y @ Wk, Y @ Wv), unscaled
    )
    assert swapped.outcome is not Outcome.RIGHT
    _, heads = built_on(unscaled)
    assert check.multi_head(lambda X, h, Wo: heads(X, h[::-1], Wo), unscaled).earned == 0


@pytest.mark.parametrize("attend", [nothing, lambda Q, K, V: 1 / 0, lambda Q, K, V: ____, 3, None])
def test_what_is_built_on_nothing_known_is_judged_by_the_definition(attend):
    cross, _ = built_on(nothing)
    assert check.cross_attention(cross, attend).outcome is Outcome.WRONG
    cross, _ = built_on(package.attention)
    assert check.cross_attention(cross, attend).outcome is Outcome.RIGHT


def test_a_mistake_is_named_with_every_seed_wherever_it_fails(monkeypatch):
    (known,) = [m for m in check.causal_attention.misconceptions if m.name.startswith("a mask")]
    for seed in range(1, 9):  # with 6, some score of few digits is below −20
        monkeypatch.setattr(check.causal_attention, "seed", seed)
        feedback = check.causal_attention(*known.example)
        assert feedback.misconception == known.name


# -- 4.9 to 4.11 -----------------------------------------------------------------------------------


def test_queries_and_length_earn_their_own_points():
    assert check.looking_head(0, on_the_circle(50), 7.1).earned == 2
    assert check.looking_head(0, on_the_circle(1), 6.9802).earned == 1


def test_queries_of_which_one_is_unsure_or_missing_are_told_so():
    Q = on_the_circle(50)
    Q[3] = 0
    assert "query 3 puts 0.125 on key 2" in check.looking_head(0, Q, 6.9802).says
    assert "There are 8 tokens" in check.looking_head(0, Q[:7], 6.9802).says
    for wrong in (-Q, Q[::-1], Q[:, ::-1], np.roll(on_the_circle(50), 1, axis=0), np.zeros((8, 2))):
        feedback = check.looking_head(0, wrong, 6.9802)
        assert (feedback.earned, feedback.misconception) == (1, None)


@pytest.mark.parametrize("wrong", [
    lambda lengths: np.ones((sum(lengths), sum(lengths))),
    lambda lengths: np.eye(sum(lengths)),
    lambda lengths: np.tri(sum(lengths), k=-1),
    lambda lengths: np.zeros((sum(lengths), sum(lengths))),
    lambda lengths: np.array(packed_block_by_block(lengths[::-1])),
    lambda lengths: np.array(packed_block_by_block(lengths)) * (len(lengths) < 8),
    lambda lengths: np.tri(sum(lengths)) - np.tri(sum(lengths), k=-max(lengths)),
])  # fmt: skip
def test_other_masks_for_packed_texts_are_wrong(wrong):
    feedback = check.packed_mask(wrong)
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)


def test_a_token_that_sees_nobody_is_told_so():
    says = check.packed_mask(lambda lengths: np.tri(sum(lengths), k=-1)).says
    assert "token 0 sees nobody, not even itself" in says


@pytest.mark.parametrize("wrong", [
    lambda Q, K, V, A, B, u: additive_pair_by_pair(Q, K, V, A, -B, u),
    lambda Q, K, V, A, B, u: additive_pair_by_pair(Q, K, V, A, B, np.ones(len(u))),
    lambda Q, K, V, A, B, u: additive_pair_by_pair(Q / 2, K, V, A, B, u),
    lambda Q, K, V, A, B, u: np.tile(V.mean(axis=0), (len(Q), 1)),
    lambda Q, K, V, A, B, u: np.tanh(additive_pair_by_pair(Q, K, V, A, B, u)),
])  # fmt: skip
def test_other_additive_attentions_are_wrong(wrong):
    feedback = check.additive_attention(wrong)
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)


def near_alone(Q, K, V, window):
    """Right as long as what is further away than this cannot make up for its distance."""
    place = np.arange(len(Q))
    distance = place[:, None] - place
    scores = Q @ K.T / np.sqrt(Q.shape[1]) - distance
    return weighed(np.where((distance >= 0) & (distance < window), scores, -np.inf)) @ V


def weighed(scores):
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def test_a_window_is_wrong_however_little_far_tokens_usually_count():
    for window in (12, 20, 28):
        found = with_seeds(check.causal_attention, (lambda *text: near_alone(*text, window),), 8)  # noqa: B023
        assert found == [(0,)] * 8, window


def test_a_mask_that_is_not_infinite_is_named_with_every_seed():
    def masked(Q, K, V):
        place = np.arange(len(Q))
        distance = place[:, None] - place
        scores = Q @ K.T / np.sqrt(Q.shape[1]) - distance
        return weighed(np.where(distance >= 0, scores, -1e9)) @ V

    assert with_seeds(check.causal_attention, (masked,)) == [(2, "a mask that is not −∞")] * 12


def test_two_attentions_weighed_by_their_lengths_are_not_called_a_plain_mean():
    def by_lengths(Y, Z, Wq, Wk, Wv):
        n, k = len(Y), len(Z)
        to_z, to_y = (
            weighed(Y @ Wq @ (T @ Wk).T / np.sqrt(Wq.shape[1])) @ (T @ Wv) for T in (Z, Y)
        )
        return (k * to_z + n * to_y) / (n + k)

    assert with_seeds(check.cross_attention, (by_lengths,), 3) == [(0,)] * 3


# -- sentences, promises and names -----------------------------------------------------------------


def test_a_length_of_four_decimals_is_right_for_everybody():
    for student in range(400):
        n = variants.attention(student)
        low, high = 0.0, 1000.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if check._of_length(middle, n) < n.weight else (low, middle)
        feedback = check.looking_head(student, 100 * n.K[list(n.target)], round(low, 4))
        assert feedback.earned == 3, (student, feedback)


def scaled_by_keys(Q, K, V):
    return package.softmax(Q @ K.T / np.sqrt(len(K))) @ V


def one_maximum(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max())
    return weights / weights.sum(axis=1, keepdims=True) @ V


def causal_with(change):
    def causal(Q, K, V):
        away = np.arange(len(Q))[:, None] - np.arange(len(Q))
        scores = Q @ K.T / np.sqrt(Q.shape[1])
        with np.errstate(all="ignore"):
            return package.softmax(change(scores, away)) @ V

    return causal


def the_others(X, heads, Wo):
    return [package.multi_head(X, heads, Wo) - one for one in heads_in_blocks(X, heads, Wo)]


def to_be_added(lengths, hidden):
    text = np.repeat(np.arange(len(lengths)), lengths)
    seen = (text[:, None] == text) & np.tri(len(text), dtype=bool)
    return np.where(seen, 0, hidden)


def u_inside(Q, K, V, A, B, u):
    return package.softmax(np.tanh((Q @ A.T @ u)[:, None] + K @ B.T @ u)) @ V


NAMED = [
    ("attention", "scaled by the number of keys", scaled_by_keys),
    ("attention", "one largest score for all rows", one_maximum),
    ("causal_attention", "the distance squared",
     causal_with(lambda S, away: np.where(away >= 0, S - away**2, -np.inf))),
    ("causal_attention", "nan everywhere: 0 times −∞?",
     causal_with(lambda S, away: S - away - np.inf * np.triu(np.ones_like(S), 1))),
    ("causal_attention", "nan everywhere: 0 times −∞?",
     causal_with(lambda S, away: S - away + (1 - np.tri(len(S))) * -np.inf)),
    ("multi_head", "all other heads", the_others),
    ("packed_mask", "a mask to be added", lambda lengths: to_be_added(lengths, -np.inf)),
    ("packed_mask", "a mask to be added", lambda lengths: to_be_added(lengths, -1e9)),
    ("additive_attention", "u inside the tanh", u_inside),
]  # fmt: skip


@pytest.mark.parametrize(("exercise", "name", "wrong"), NAMED)
def test_common_slips_have_a_name(exercise, name, wrong):
    feedback = getattr(check, exercise)(wrong)
    assert feedback.outcome is Outcome.WRONG
    assert feedback.misconception == name


def test_any_slip_of_an_attention_is_followed_and_costs_its_own_exercise():
    """Also one that has no name."""
    for slipped in (scaled_by_keys, lambda Q, K, V: package.softmax(Q @ K.T / 3) @ V):
        cross, heads = built_on(slipped)
        assert check.attention(slipped).outcome is Outcome.WRONG
        assert check.cross_attention(cross, slipped).outcome is Outcome.RIGHT
        assert check.multi_head(heads, slipped).outcome is Outcome.RIGHT


def test_a_mask_with_nan_in_it_is_wrong():
    assert check.packed_mask(lambda lengths: to_be_added(lengths, np.nan)).outcome is Outcome.WRONG


def test_one_largest_score_for_all_rows_is_another_mistake_than_a_mask_behind_the_softmax():
    def one_largest(Q, K, V):
        scores = np.where(package.causal_mask(len(Q)), scored(Q, K), -np.inf)
        weights = np.exp(scores - scores.max())
        return weights / weights.sum(axis=1, keepdims=True) @ V

    names = [known.name for known in check.causal_attention(one_largest).mistakes]
    assert names == ["one largest score for all rows"]
