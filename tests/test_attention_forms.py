"""The attention module: every form against its definition, one query and one key at a time."""

import numpy as np
import pytest

from course_utils import attention as att
from selfcheck.meter import measure, polynomial

BATCHES = [(), (2,), (2, 3)]
draw = np.random.default_rng(4)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order_of_tests():
    draw.bit_generator.state = np.random.default_rng(4).bit_generator.state


def normal(*shape):
    return draw.normal(size=shape)


def weighted_means(similarity, Q, K, V, sees=lambda i, j: True):
    """y_i = Σ_j sim(q_i, k_j) v_j / Σ_j sim(q_i, k_j), with loops alone; one sequence."""
    rows = []
    for i, q in enumerate(Q):
        seen = [j for j in range(len(K)) if sees(i, j)]
        similar = [similarity(q, K[j]) for j in seen]
        rows.append(sum(a * V[j] for a, j in zip(similar, seen, strict=True)) / sum(similar))
    return np.array(rows)


def softmax_similarity(q, k):
    return np.exp(q @ k / np.sqrt(len(q)))


def linear_similarity(q, k):
    return att.elu_plus_one(q) @ att.elu_plus_one(k)


def no_later(i, j):
    return j <= i


def over_batches(function, *arrays):
    """The function on every sequence of a batch, one at a time."""
    lead = arrays[0].shape[:-2]
    results = [function(*(A[index] for A in arrays)) for index in np.ndindex(lead)]
    return np.reshape(results, (*lead, *results[0].shape))


# -- softmax ---------------------------------------------------------------------------------------


def test_softmax_is_positive_and_sums_to_one_along_the_axis_asked_for():
    scores = normal(2, 3, 4)
    for axis in (-1, -2, 0):
        weights = att.softmax(scores, axis=axis)
        assert (weights > 0).all()
        np.testing.assert_allclose(weights.sum(axis=axis), 1, rtol=1e-14)


def test_softmax_does_not_change_when_a_number_is_added_to_a_row():
    scores = normal(3, 4)
    np.testing.assert_allclose(att.softmax(scores + 7.5), att.softmax(scores), rtol=1e-12)


@pytest.mark.parametrize("size", [1e4, -1e4, 1e300])
def test_softmax_stays_finite_for_scores_of_any_size(size):
    weights = att.softmax(np.array([[size, size, 0.0], [size, -size, size]]))
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1)


def test_softmax_gives_minus_infinity_the_weight_zero():
    assert att.softmax(np.array([0.0, -np.inf])).tolist() == [1.0, 0.0]


# -- standard attention ----------------------------------------------------------------------------


@pytest.mark.parametrize("batch", BATCHES)
def test_attention_is_the_weighted_mean_of_the_definition_for_every_sequence_of_a_batch(batch):
    Q, K, V = normal(*batch, 3, 2), normal(*batch, 5, 2), normal(*batch, 5, 4)
    expected = over_batches(lambda *qkv: weighted_means(softmax_similarity, *qkv), Q, K, V)
    np.testing.assert_allclose(att.attention(Q, K, V), expected, rtol=1e-12)


@pytest.mark.parametrize("batch", BATCHES)
def test_causal_attention_sees_itself_and_the_past_for_every_sequence_of_a_batch(batch):
    Q, K, V = normal(*batch, 4, 3), normal(*batch, 4, 3), normal(*batch, 4, 2)
    expected = over_batches(
        lambda *qkv: weighted_means(softmax_similarity, *qkv, sees=no_later), Q, K, V
    )
    np.testing.assert_allclose(att.causal_attention(Q, K, V), expected, rtol=1e-12)


def test_keys_and_values_shared_by_a_batch_of_queries_broadcast():
    Q, K, V = normal(2, 3, 2), normal(5, 2), normal(5, 4)
    np.testing.assert_allclose(att.attention(Q, K, V)[1], att.attention(Q[1], K, V), rtol=1e-12)


def test_the_causal_mask_is_true_up_to_the_diagonal():
    assert att.causal_mask(3).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert att.causal_mask(3).dtype == bool


def test_the_past_stays_the_same_to_the_last_bit_when_the_future_changes():
    Q, K, V = normal(3, 6, 2)
    before = att.causal_attention(Q, K, V)
    for later in (3.0, 1e4, -1e4):
        Q[4:], K[4:], V[4:] = later, later, later
        assert np.array_equal(att.causal_attention(Q, K, V)[:4], before[:4])


def test_a_masked_key_has_the_weight_zero_and_the_others_share_what_is_left():
    mask = np.array([[True, False, True]])
    Q, K = normal(2, 2), normal(3, 2)
    weights = att.attention_weights(Q, K, mask)
    assert (weights[:, 1] == 0).all()
    np.testing.assert_allclose(weights[:, [0, 2]], att.attention_weights(Q, K[[0, 2]]), rtol=1e-12)


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_standard_attention_stays_finite_for_scores_of_ten_thousand(size):
    Q, K, V = np.array([[size], [1.0], [-1.0]]), np.array([[1.0], [-1.0], [1e4]]), normal(3, 2)
    for form in (att.attention, att.causal_attention):
        Y = form(Q, K, V)
        assert np.isfinite(Y).all()
        assert (V.min(axis=0) - 1e-12 <= Y).all()
        assert (V.max(axis=0) + 1e-12 >= Y).all()


def test_one_vector_added_to_all_keys_changes_nothing():
    Q, K, V = normal(3, 2), normal(4, 2), normal(4, 3)
    moved = att.attention(Q, K + np.array([5.0, -3.0]), V)
    np.testing.assert_allclose(moved, att.attention(Q, K, V), rtol=1e-9)


def test_attention_without_positions_moves_with_its_tokens():
    X, heads, Wo = normal(5, 4), [tuple(normal(3, 4, 2)) for _ in range(2)], normal(4, 4)
    order = draw.permutation(5)
    moved = att.multi_head(X[order], heads, Wo)
    np.testing.assert_allclose(moved, att.multi_head(X, heads, Wo)[order], rtol=1e-9)


@pytest.mark.parametrize("batch", BATCHES)
def test_cross_attention_asks_from_y_and_answers_from_z(batch):
    Y, Z, (Wq, Wk), Wv = normal(*batch, 2, 3), normal(*batch, 5, 3), normal(2, 3, 4), normal(3, 2)
    expected = over_batches(
        lambda y, z: weighted_means(softmax_similarity, y @ Wq, z @ Wk, z @ Wv), Y, Z
    )
    seen = att.cross_attention(Y, Z, Wq, Wk, Wv)
    assert seen.shape == (*batch, 2, 2)
    np.testing.assert_allclose(seen, expected, rtol=1e-12)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("causal", [False, True])
def test_multi_head_is_the_sum_of_heads_through_their_rows_of_wo(batch, causal):
    X, Wo = normal(*batch, 4, 5), normal(3 * 2, 5)
    heads = [(normal(5, 3), normal(5, 3), normal(5, 2)) for _ in range(3)]
    sees = no_later if causal else lambda i, j: True
    mask = att.causal_mask(4) if causal else None

    def by_definition(x):
        return sum(
            weighted_means(softmax_similarity, x @ Wq, x @ Wk, x @ Wv, sees) @ rows
            for (Wq, Wk, Wv), rows in zip(heads, np.split(Wo, 3), strict=True)
        )

    expected = over_batches(by_definition, X)
    np.testing.assert_allclose(att.multi_head(X, heads, Wo, mask), expected, rtol=1e-9)


# -- linear forms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", BATCHES)
def test_separable_attention_has_the_weights_softmax_row_times_softmax_column(batch):
    Q, K, V = normal(*batch, 3, 2), normal(*batch, 5, 2), normal(*batch, 5, 4)

    def by_definition(q, k, v):
        weights = att.softmax(q) @ att.softmax(k, axis=0).T
        np.testing.assert_allclose(weights.sum(axis=1), 1)
        return weights @ v

    expected = over_batches(by_definition, Q, K, V)
    np.testing.assert_allclose(att.separable_attention(Q, K, V), expected, rtol=1e-12)


@pytest.mark.parametrize("batch", BATCHES)
def test_linear_attention_is_the_weighted_mean_with_its_own_similarity(batch):
    Q, K, V = normal(*batch, 3, 2), normal(*batch, 5, 2), normal(*batch, 5, 4)
    expected = over_batches(lambda *qkv: weighted_means(linear_similarity, *qkv), Q, K, V)
    np.testing.assert_allclose(att.linear_attention(Q, K, V), expected, rtol=1e-12)


def test_linear_attention_takes_any_feature_map():
    Q, K, V = normal(3, 2), normal(5, 2), normal(5, 4)
    W = normal(300, 2)
    estimate = att.linear_attention(Q, K, V, phi=lambda X: att.positive_features(X, W))
    expected = weighted_means(
        lambda q, k: att.positive_features(q, W) @ att.positive_features(k, W), Q, K, V
    )
    np.testing.assert_allclose(estimate, expected, rtol=1e-12)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 10, 64])
def test_causal_linear_attention_is_the_same_for_every_chunk_size(batch, chunk):
    Q, K, V = normal(*batch, 10, 2), normal(*batch, 10, 2), normal(*batch, 10, 3)
    expected = over_batches(
        lambda *qkv: weighted_means(linear_similarity, *qkv, sees=no_later), Q, K, V
    )
    seen = att.causal_linear_attention(Q, K, V, chunk=chunk)
    np.testing.assert_allclose(seen, expected, rtol=1e-12)


def test_the_recurrence_gives_the_rows_of_the_parallel_form():
    Q, K, V = normal(9, 2), normal(9, 2), normal(9, 3)
    state, rows = att.LinearAttentionState.empty(2, 3), []
    for q, k, v in zip(Q, K, V, strict=True):
        state, y = state.step(q, k, v)
        rows.append(y)
    np.testing.assert_allclose(rows, att.causal_linear_attention(Q, K, V, chunk=4), rtol=1e-12)
    np.testing.assert_allclose(rows[-1], att.linear_attention(Q, K, V)[-1], rtol=1e-12)
    assert (state.s.shape, state.z.shape) == ((2, 3), (2,))


def test_a_step_leaves_the_old_state_as_it_was():
    old = att.LinearAttentionState.empty(2, 2)
    old.step(*normal(3, 2))
    assert not old.s.any()
    assert not old.z.any()


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_linear_forms_stay_finite_for_inputs_of_ten_thousand(size):
    Q, K, V = np.full((5, 2), size), np.full((5, 2), size), normal(5, 3)
    Q[1], K[2] = -size, -size
    state, y = att.LinearAttentionState.empty(2, 3).step(Q[0], K[0], V[0])
    assert np.isfinite(y).all()
    assert (state.z > 0).all()
    for form in (att.separable_attention, att.linear_attention, att.causal_linear_attention):
        Y = form(Q, K, V)
        assert np.isfinite(Y).all()
        assert np.abs(Y).max() <= np.abs(V).max() + 1e-9


def test_elu_plus_one_is_positive_increasing_and_continuous_at_zero():
    x = np.linspace(-1000, 50, 2001)
    y = att.elu_plus_one(x)
    assert (y > 0).all()
    assert (np.diff(y) >= 0).all()
    np.testing.assert_allclose(att.elu_plus_one(np.array([-2.0, 0.0, 3.0])), [np.exp(-2), 1, 4])


# -- what it costs ---------------------------------------------------------------------------------

LINEAR_FORMS = {
    "separable": att.separable_attention,
    "linear": att.linear_attention,
    "causal linear": lambda Q, K, V: att.causal_linear_attention(Q, K, V, chunk=4),
}


@pytest.mark.parametrize("form", LINEAR_FORMS)
@pytest.mark.parametrize("n", [8, 32, 128])
def test_no_linear_form_builds_an_array_of_n_times_n_numbers(form, n):
    metered = measure(LINEAR_FORMS[form], *normal(3, n, 3))
    assert metered.largest.size <= 4 * n
    assert metered.peak <= 40 * n


@pytest.mark.parametrize("n", [8, 32])
def test_the_standard_forms_do_build_it(n):
    for form in (att.attention, att.causal_attention):
        assert measure(form, *normal(3, n, 3)).largest.shape == (n, n)


@pytest.mark.parametrize("form", ["separable", "linear"])
def test_the_cost_of_a_linear_form_is_linear_in_n(form):
    count = polynomial(lambda n: measure(LINEAR_FORMS[form], *normal(3, n, 3)).flops, n=2)
    assert str(count).count("n**2") == 0


# -- random features -------------------------------------------------------------------------------


@pytest.mark.parametrize("features", [att.positive_features, att.trigonometric_features])
def test_features_estimate_the_exponential_of_the_inner_product(features):
    x, y = np.array([[0.4, -0.3]]), np.array([[0.2, 0.5]])
    W = np.random.default_rng(0).normal(size=(200_000, 2))
    estimate = (features(x, W) @ features(y, W).T).item()
    assert estimate == pytest.approx(np.exp(x @ y.T).item(), rel=0.01)


def test_positive_features_are_positive_and_never_overflow():
    X = np.array([[1e4, -1e4], [0.0, 3.0], [30.0, 30.0]])
    F = att.positive_features(X, normal(50, 2))
    assert np.isfinite(F).all()
    assert (F >= 0).all()
    assert (F[1] > 0).all()


def test_orthogonal_directions_are_orthogonal_within_blocks_and_as_long_as_normal_ones():
    W = att.orthogonal_directions(6000, 3, np.random.default_rng(0))
    assert W.shape == (6000, 3)
    for block in (W[:3], W[3:6]):
        gram = block @ block.T
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)
    np.testing.assert_allclose(W.T @ W / len(W), np.eye(3), atol=0.05)
    assert (W**2).sum(axis=1).var() == pytest.approx(2 * 3, rel=0.1)


def test_an_incomplete_last_block_is_cut_to_the_number_asked_for():
    assert att.orthogonal_directions(4, 3, np.random.default_rng(0)).shape == (4, 3)
