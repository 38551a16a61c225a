"""A student id gives the same numbers for ever, and every student's numbers are fair."""

import math
from fractions import Fraction

import numpy as np
import pytest

from course_utils.attention import attention_weights, multi_head
from course_utils.checks import attention as attention_checks
from course_utils.checks import momentum as momentum_checks
from course_utils.checks import rnn_gradients as rnn_checks
from course_utils.checks import weight_decay as decay_checks
from course_utils.numbers import transport as transport_numbers
from course_utils.numbers import two_heads as two_heads_numbers
from course_utils.numbers.two_heads import columns_behind, concat_of, possible_columns
from course_utils.transport import another_optimal_plan, cost, cost_table, is_plan, optimal_plan
from course_utils.variants import (
    attention,
    counting_cost,
    linear_attention,
    lookup,
    momentum,
    random_features,
    rnn_gradients,
    transformers_are_rnns,
    transport,
    two_heads,
    weight_decay,
)
from selfcheck.feedback import Outcome
from selfcheck.ids import student_id
from selfcheck.own_numbers import Draws, rng_for

THOUSAND = range(1000)
MANY = [*range(1, 36), "ada@example.org", "s0123456", "Ævar Þór", "李雷"]


# -- ids -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (7, "7"),
        (7, " 7\n"),
        (7, np.int32(7)),
        ("Ada@Example.org", "ada@example.ORG "),
        ("Ada  Lovelace", "ada lovelace"),
        ("Jose\u0301", "José"),  # an accent of its own, as some keyboards type it
        ("STRASSE", "straße"),
    ],
)
def test_spellings_of_one_id_are_one_student(one, other):
    assert student_id(one) == student_id(other)
    assert two_heads(one) is two_heads(other)


def test_leading_zeros_of_a_student_number_count():
    assert student_id("007") != student_id(7)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (None, "not a NoneType"),
        (1.0, "not a float"),
        (True, "not a bool"),
        (["ada"], "not a list"),
        (-1, "neither negative"),
        (10**100, "nor that large"),
        ("", "is empty"),
        (" \t", "is empty"),
        ("x" * 101, "at most 100 characters"),
        ("a\x00b", "one line"),
    ],
)
def test_what_cannot_be_an_id_gets_a_sentence(bad, words):
    with pytest.raises(ValueError, match=words):
        two_heads(bad)


def test_an_integer_too_long_to_print_gets_a_sentence_too():
    with pytest.raises(ValueError, match="nor that large"):
        student_id(10**5000)


# -- numbers that stay -----------------------------------------------------------------------------


def test_the_stream_of_a_student_is_pinned_for_ever():
    draws = rng_for("ada@example.org", "05_two_heads")
    assert [draws.below(1000) for _ in range(6)] == [392, 993, 789, 488, 540, 831]
    assert rng_for(7, "05_two_heads").matrix(-1, 4, 2, 3).tolist() == [[-1, 2, 0], [-1, 1, 0]]


def test_units_and_students_have_streams_of_their_own():
    firsts = [rng_for(s, u).below(10**9) for s in (1, 2, "12") for u in ("05", "11", "1")]
    assert len(set(firsts)) == len(firsts)


def test_every_number_is_drawn_about_equally_often():
    draws = Draws("a fair die")
    counts = np.bincount([draws.integer(1, 6) for _ in range(6000)], minlength=7)
    assert counts[0] == 0
    assert counts[1:].min() > 900
    assert counts[1:].max() < 1100


def test_the_numbers_of_two_students_are_pinned_for_ever():
    one, ada = two_heads(1), two_heads("ada@example.org")
    assert one.X.tolist() == [[0, 2, 1, 1, 1, 1], [2, 2, 0, 0, 1, 1]]
    assert one.heads[0][1].tolist() == [
        [1, 1, 2], [0, 2, 0], [1, 2, 1], [1, 2, 2], [1, 2, 0], [1, 0, 0],
    ]  # fmt: skip
    assert one.printed.tolist() == [
        [29.505, 86.989, 124.158, 83.494, 31.921, 61.824],
        [8.697, 72.6, 122.777, 100.531, 43.212, 70.769],
    ]
    assert ada.X.tolist() == [[1, 2, 1, 1, 1, 1], [0, 1, 2, 2, 1, 1]]
    assert ada.worksheet.output.tolist() == [
        [129.196, 98.346, 118.216, 56.404, 122.098, 70.618],
        [129.91, 98.3, 118.82, 58.09, 122.3, 70.91],
    ]


def test_numbers_made_anew_are_the_same():
    before = repr(two_heads(3)), two_heads(3).printed.tolist()
    two_heads_numbers._two_heads.cache_clear()
    assert (repr(two_heads(3)), two_heads(3).printed.tolist()) == before


def test_nobody_can_overwrite_the_numbers():
    numbers = two_heads(5)
    for array in (numbers.X, *numbers.heads[1], numbers.Wo, numbers.worksheet.concat):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 9


def test_the_numbers_print_as_matrices_with_their_names():
    text = repr(two_heads(0))
    assert text.startswith(
        "Numbers of student 0\n\nX\n[1 0 1 2 1 1]\n[1 2 0 1 1 1]\n\nWq of head 1"
    )
    assert "[11.947  8.053 10.159  9.119  6.051  9.095]" in repr(two_heads(0).worksheet)


# -- id 0 is the homework --------------------------------------------------------------------------


def test_id_0_is_the_homework_with_its_known_result():
    numbers = two_heads(0)
    (Q, K, V), (Q2, K2, V2) = ([numbers.X @ W for W in head] for head in numbers.heads)
    assert (Q.tolist(), K.tolist()) == ([[4, 4, 3], [3, 5, 2]], [[7, 8, 6], [6, 8, 5]])
    assert V.tolist() == [[12, 8, 10], [11, 9, 13]]
    assert (Q2.tolist(), K2.tolist()) == ([[3, 6, 4], [5, 5, 7]], [[2, 3, 3], [2, 3, 2]])
    assert V2.tolist() == [[9, 6, 9], [16, 9, 14]]
    exact = [
        [53.841484, 43.604979, 29.316668, 37.938011, 57.712595, 20.103611],
        [52.450995, 42.504814, 28.400196, 37.278310, 56.574895, 20.316874],
    ]
    np.testing.assert_allclose(multi_head(numbers.X, numbers.heads, numbers.Wo), exact, atol=5e-7)


def test_the_homework_s_own_matrix_is_not_unique_with_exact_numbers_so_another_one_is_hidden():
    numbers = two_heads(0)
    concat = concat_of(numbers.X, numbers.heads)
    alike = columns_behind(np.round(concat @ numbers.Wo, 3), concat, within=5e-4)
    assert [len(columns) for columns in alike] == [3, 2, 2, 2, 1, 2]


# -- every student's numbers are fair --------------------------------------------------------------


def test_all_columns_are_listed_once():
    columns = possible_columns()
    assert columns.shape == (6**6, 6)
    assert (columns.min(), columns.max()) == (-1, 4)
    assert len(np.unique(columns @ 6 ** np.arange(6))) == 6**6


@pytest.mark.parametrize("student", [0, *MANY])
def test_the_hidden_matrix_is_unique_even_if_the_last_printed_digit_were_off_by_one(student):
    numbers = two_heads(student)
    concat = concat_of(numbers.X, numbers.heads)
    within_rounding = [*columns_behind(numbers.printed, concat, within=5e-4)]
    assert [len(columns) for columns in within_rounding] == [1] * 6
    assert [len(c) for c in columns_behind(numbers.printed, concat, within=1.5e-3)] == [1] * 6
    hidden = np.vstack(within_rounding).T
    assert not np.array_equal(hidden, numbers.Wo)
    assert np.array_equal(np.round(concat @ hidden, 3), numbers.printed)


@pytest.mark.parametrize("student", MANY)
def test_the_numbers_have_the_homework_s_structure_and_well_conditioned_weights(student):
    numbers = two_heads(student)
    assert numbers.X.shape == (2, 6)
    assert (numbers.X[:, 4:] == 1).all()
    assert numbers.Wo.shape == numbers.Wo.T.shape == (6, 6)
    for Wq, Wk, Wv in numbers.heads:
        assert all(W.shape == (6, 3) and W.dtype == np.int64 for W in (Wq, Wk, Wv))
        assert all(W.min() >= 0 and W.max() <= 4 for W in (Wq, Wk, Wv))
        weights = attention_weights(numbers.X @ Wq, numbers.X @ Wk)
        assert weights.min() > 0.017
        assert abs(weights - 0.5).min() > 0.2


def test_students_have_different_numbers():
    assert len({repr(two_heads(student)) for student in MANY}) == len(MANY)


@pytest.mark.parametrize("student", MANY)
def test_a_worksheet_follows_from_line_to_line_but_for_three_to_five_entries_each(student):
    numbers = two_heads(student)
    sheet = numbers.worksheet
    values = [numbers.X @ Wv for *_, Wv in numbers.heads]
    mixed = np.hstack([A @ V for A, V in zip(sheet.weights, values, strict=True)])
    for line, before in [(sheet.concat, mixed), (sheet.output, sheet.concat @ numbers.Wo)]:
        off = np.abs(line - before)
        assert 3 <= (off > 1e-9).sum() <= 5
        assert (off[off > 1e-9] > 0.015).all()


# -- units 01 to 04: numbers that print as a list --------------------------------------------------

CLASS = range(1, 1001)


def earns_nothing_next_door(exercise, solved):
    """Over 1,000 ids: an answer earns nothing with the next id, and all points with its own."""
    for student in CLASS:
        answers = solved(student)
        if student % 10 == 0:
            assert exercise.judged(student, *answers).earned == exercise.points
        verdict = exercise.verdict(exercise.read((student + 1, *answers)), seed=1)
        assert (verdict.outcome is Outcome.RIGHT, verdict.earned or 0) == (False, 0), student


def test_a_list_of_numbers_prints_a_line_for_each():
    assert repr(rnn_gradients(0)) == "Numbers of student 0\nsteps = 200\nshare = 0.5"


def test_gates_are_pinned_for_ever_and_a_neighbors_answer_earns_nothing():
    ada = rnn_gradients("ada@example.org")
    assert (ada.steps, ada.share) == (218, 0.5)

    def solved(student):
        n = rnn_gradients(student)
        f = n.share ** (1 / n.steps)
        return round(math.log(f / (1 - f)), 4), math.ceil(math.log(1e-3) / math.log(f))

    earns_nothing_next_door(rnn_checks.gate_bias, solved)


def test_valleys_are_pinned_for_ever_and_a_neighbors_answer_earns_nothing():
    ada = momentum("ada@example.org")
    assert (momentum(0).smallest, momentum(0).largest) == (1, 100)
    assert (ada.smallest, ada.largest) == (30, 20280)

    def solved(student):
        n = momentum(student)
        low, high = math.sqrt(n.smallest), math.sqrt(n.largest)
        pair = ((high - low) / (high + low)) ** 2, 4 / (high + low) ** 2
        return 2 / (n.smallest + n.largest), *pair

    earns_nothing_next_door(momentum_checks.best_memory, solved)


def test_derivations_are_pinned_for_ever_and_a_neighbors_answer_earns_nothing():
    def own(student):
        return momentum(student).derivation

    ada = own("ada@example.org")
    assert (ada.share, ada.parts, ada.first, len(ada.lines)) == ("35", 78, 6897, 5)

    def solved(student):
        """The line by numbers put in, and the correction with the numbers of the rule."""
        n = own(student)
        at = {"beta": 0.3, "delta": 0.7, "v_prev": 1.1, "g": 0.9, "step": -0.77 / n.parts}
        at["v"] = 0.33 + int(n.share) * 0.9
        values = [eval(line, at) for line in n.lines]
        line = next(k for k, value in enumerate(values) if abs(value - values[0]) > 1e-9)
        return n.first + line, f"beta*step - {n.share}*delta*g/{n.parts}"

    for student in CLASS:
        mine, next_door = solved(student), solved(student + 1)
        assert mine[0] != next_door[0], student
        shares = {Fraction(int(own(s).share), own(s).parts) for s in (student, student + 1)}
        assert len(shares) == 2, student
        if student % 50 == 0:
            exercise = momentum_checks.first_false_line
            assert exercise(student, *mine).earned == exercise.points
            assert exercise(student + 1, *mine).earned == 0


def test_schedules_are_pinned_for_ever_and_a_neighbors_answer_earns_nothing():
    ada = weight_decay("ada@example.org")
    assert (ada.steps, ada.peak, ada.left) == (32, 0.071, 0.22)

    def solved(student):
        n = weight_decay(student)
        low, high = 0.0, 1 / n.peak
        for _ in range(50):
            w = (low + high) / 2
            left = math.prod(1 - n.peak * k / n.steps * w for k in range(1, n.steps + 1))
            low, high = (w, high) if left > n.left else (low, w)
        return (1 - n.left ** (1 / n.steps)) / n.peak, w

    earns_nothing_next_door(decay_checks.scheduled_decay, solved)


# -- a neighbor's answer ---------------------------------------------------------------------------


def shared(answers):
    """How many pairs of two students out of these have the same answer."""
    _, counts = np.unique(np.array(answers), return_counts=True, axis=0)
    return int((counts * (counts - 1) // 2).sum())


# -- unit 06: a model and its memory ---------------------------------------------------------------


def test_the_models_of_two_students_are_pinned_for_ever():
    def sizes(n):
        return [n.vocabulary, n.width, n.layers, n.heads, n.groups, n.head_width, n.hidden]

    assert sizes(counting_cost(0)) == [32_000, 2048, 24, 16, 4, 128, 5632]
    assert sizes(counting_cost(" Ada@example.org")) == sizes(counting_cost("ada@example.org"))
    assert sizes(counting_cost(1)) == [54100, 2048, 28, 16, 1, 128, 5440]
    assert repr(counting_cost(0)).startswith("Numbers of student 0\n\nvocabulary         32,000\n")


def test_of_a_thousand_students_nobody_has_the_bytes_or_the_tokens_of_another():
    def parameters(n):
        heads = 2 * n.width * n.head_width * (n.heads + n.groups)
        return n.vocabulary * n.width + n.layers * (heads + 3 * n.width * n.hidden)

    models = [counting_cost(student) for student in THOUSAND]
    left = [n.mebibytes * 2**20 - 2 * parameters(n) for n in models]
    tokens = [
        b // (4 * n.layers * n.groups * n.head_width) for b, n in zip(left, models, strict=True)
    ]
    assert min(tokens) > 10_000
    assert all(n.heads % n.groups == 0 and n.groups < n.heads for n in models)
    assert shared([parameters(n) for n in models]) == 0
    assert shared(tokens) == 0


# -- unit 07: records on a line --------------------------------------------------------------------


def test_the_records_of_two_students_are_pinned_for_ever():
    n = lookup(0)
    assert (n.places, n.query, n.epsilon, n.copies, n.M) == ((1, 2, 4), 2.5, 0.2, (2, 1), 0.8)
    n = lookup(1)
    assert (n.places, n.query, n.epsilon, n.copies) == ((1.2, 2.3, 5.8, 7.6), 4.9, 0.269, (2, 1))


def test_of_a_thousand_students_next_to_none_has_the_sharpness_or_the_border_of_another():
    fields = [lookup(student) for student in THOUSAND]
    near = [sorted((x - n.query) ** 2 for x in n.places) for n in fields]
    margins = np.array([[b - row[0] for b in row[1:]] + [np.inf] * (4 - len(row)) for row in near])
    epsilon = np.array([n.epsilon for n in fields])
    low, high = np.zeros(1000), np.full(1000, 20.0)
    for _ in range(50):
        M = (low + high) / 2
        s = np.exp(-(M[:, None] ** 2) * margins).sum(axis=1)
        low, high = np.where(s / (1 + s) > epsilon, (M, high), (low, M))
    pairs = [(*n.places[:2], np.log(n.copies[0] / n.copies[1]), n.M) for n in fields]
    border = [(a + b) / 2 + c / (2 * M**2 * (b - a)) for a, b, c, M in pairs]
    assert margins[:, 0].min() > 0.4
    assert shared(np.round(low, 5)) <= 5  # of half a million pairs
    assert shared(np.round(border, 5)) <= 5


# -- unit 08: keys on a circle ---------------------------------------------------------------------


def test_the_keys_of_two_students_are_pinned_for_ever():
    n = linear_attention(0)
    assert (n.keys, n.values, n.target) == ((0, 0.5, 2), (1, 2, 3), 10)
    n = linear_attention(1)
    assert (n.keys, n.values, n.target) == ((2.38, 1.38, 2.04), (-5, 1, 3), 24)


def test_of_a_thousand_students_next_to_none_has_a_query_of_another():
    numbers = [linear_attention(student) for student in THOUSAND]
    arrows = np.exp(1j * np.array([n.keys for n in numbers]))
    beyond = np.array([n.values for n in numbers]) - np.array([[n.target] for n in numbers])
    for sums in (arrows.sum(axis=1), (beyond * arrows).sum(axis=1)):
        assert np.abs(sums).min() > 0.5
        assert shared(np.round(np.angle(sums) % np.pi, 5)) <= 5  # of half a million pairs
    assert all(abs(n.target) > max(map(abs, n.values)) for n in numbers)


# -- unit 09: a query and two keys -----------------------------------------------------------------


def test_the_vectors_of_two_students_are_pinned_for_ever():
    n = random_features(0)
    assert (n.q, n.k1, n.k2, n.m, n.r) == ((0.5, 0.5), (0.5, 0), (0.25, 0.5), 20, 0.1)
    n = random_features(1)
    assert (n.q, n.k1, n.k2, n.m, n.r) == ((0.1, 0.4), (-0.45, 0.45), (0.15, 0.4), 34, 0.08)


def test_of_a_thousand_students_next_to_none_has_the_covariance_or_the_features_of_another():
    answers = []
    for n in map(random_features, THOUSAND):
        q, k1, k2 = map(np.array, (n.q, n.k1, n.k2))
        a, b, c = ((q + k) @ (q + other) for k, other in ((k1, k1), (k2, k2), (k1, k2)))
        covariance = np.exp(q @ (k1 + k2)) * np.expm1(c) / n.m
        answers.append((covariance, (np.exp(a) + np.exp(b) - 2 * np.exp(c)) / n.r**2))
    for column in np.array(answers).T:
        assert shared([f"{answer:.5e}" for answer in column]) <= 5  # of half a million pairs


def test_heads_are_pinned_for_ever_and_a_neighbors_answer_earns_nothing():
    ada = attention("ada@example.org")
    assert (ada.n, ada.radius, ada.weight) == (8, 1.7, 0.865)
    assert ada.target == (4, 5, 1, 0, 3, 6, 7, 2)

    def solved(student):
        n, low, high = attention(student), 0.0, 1000.0
        falls = n.radius * (np.cos(2 * np.pi * np.arange(n.n) / n.n) - 1) / math.sqrt(2)
        for _ in range(50):
            length = (low + high) / 2
            sure = 1 / np.exp(length * falls).sum() > n.weight
            low, high = (low, length) if sure else (length, high)
        return 100 * n.K[list(n.target)], round(length, 4)

    earns_nothing_next_door(attention_checks.looking_head, solved)


# -- unit 10: pairs to be written ------------------------------------------------------------------


def test_the_pairs_of_two_students_are_pinned_for_ever():
    n = transformers_are_rnns(0)
    assert (n.keys, n.values) == (((1, 0, 0), (1, 1, 0), (0, 1, 1)), (1, 3, 4))
    n = transformers_are_rnns(1)
    assert (n.keys, n.values) == (((1, -2, 0), (2, 3, 1), (-1, 2, 3)), (8, -5, -7))


def test_of_a_thousand_students_next_to_none_has_a_state_of_another():
    states = {"sums": [], "corrections": [], "settled": []}
    for n in map(transformers_are_rnns, THOUSAND):
        K, v, s = np.array(n.keys), np.array(n.values), np.zeros(3)
        for k, value in zip(K, v, strict=True):
            s = s + k * (value - k @ s) / (k @ k)
        states["sums"].append(v @ K)
        states["corrections"].append(s)
        states["settled"].append(np.linalg.solve(K, v))
    for answers in states.values():
        assert shared(np.round(answers, 5)) <= 3  # of half a million pairs


# -- unit 11: masses ------------------------------------------------------------------------------


def test_the_masses_of_three_students_are_pinned_for_ever():
    def as_lists(n):
        return [part.tolist() for part in (n.x, n.p, n.y, n.q, n.plan)]

    assert as_lists(transport(0)) == [[1, 2], [1, 1], [4, 6], [1, 1], [[1, 0], [0, 1]]]
    assert as_lists(transport(1)) == [
        [3, 5, 11], [4, 3, 3], [2, 9, 10], [3, 3, 4], [[0, 0, 4], [3, 0, 0], [0, 3, 0]],
    ]  # fmt: skip
    assert as_lists(transport("ada@example.org")) == [
        [3, 6, 12], [2, 4, 1], [0, 1, 10], [4, 1, 2], [[0, 0, 2], [3, 1, 0], [1, 0, 0]],
    ]  # fmt: skip


def test_masses_made_anew_are_the_same_and_spellings_are_one_student():
    before = repr(transport(3))
    assert transport(" 3") is transport(3)
    transport_numbers._transport.cache_clear()
    assert repr(transport(3)) == before


def test_nobody_can_overwrite_the_masses():
    numbers = transport(5)
    for array in (numbers.x, numbers.p, numbers.y, numbers.q, numbers.plan):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


@pytest.mark.parametrize("student", MANY)
def test_masses_are_small_whole_numbers_at_different_places_in_order(student):
    n = transport(student)
    assert all(part.dtype == np.int64 for part in (n.x, n.p, n.y, n.q, n.plan))
    assert len(n.places) == 6
    assert (np.diff(n.places) > 0).all()
    assert (np.diff(n.x) > 0).all()
    assert (np.diff(n.y) > 0).all()
    assert n.places.min() >= 0
    assert n.places.max() <= 12
    assert 1 <= min(n.p.min(), n.q.min()) <= max(n.p.max(), n.q.max()) <= 4
    assert n.p.sum() == n.q.sum()


@pytest.mark.parametrize("student", MANY)
def test_every_student_has_two_best_plans_one_for_squares_and_a_printed_one_that_is_dearer(student):
    n = transport(student)
    C = cost_table(n.x, n.y)
    lowest = cost(optimal_plan(C, n.p, n.q).plan, C)
    assert another_optimal_plan(C, n.p, n.q) is not None
    assert another_optimal_plan(C**2, n.p, n.q) is None
    assert is_plan(n.plan, n.p, n.q)
    assert cost(n.plan, C) > lowest
    assert lowest > abs(n.y @ n.q - n.x @ n.p)  # mass has to move both ways
    assert n.p.tolist() != n.q.tolist()


def test_of_a_thousand_students_few_have_the_slopes_or_the_best_places_of_another():
    slopes, best = [], []
    for n in map(transport, THOUSAND[1:]):
        x, y = np.repeat(n.x, n.p), np.repeat(n.y, n.q)  # in order, unit by unit
        starts = np.append(0, np.cumsum(n.p)[:-1])
        slopes.append(2 * np.add.reduceat(x - y, starts))
        best.append(np.add.reduceat(y, starts) / n.p)
    assert shared(slopes) < 50  # of half a million pairs
    assert shared(np.round(best, 5)) < 200


def test_students_have_different_masses():
    assert len({repr(transport(student)).split("\n", 1)[1] for student in MANY}) == len(MANY)


def test_the_masses_print_with_their_names():
    assert repr(transport(0)) == (
        "Numbers of student 0\n\nx, where it lies   p, how much\n[1 2]              [1 1]\n\n"
        "y, where it goes   q, how much\n[4 6]              [1 1]\n\n"
        "plan, a row for each x and a column for each y\n[1 0]\n[0 1]"
    )
