"""Unit 05: right answers pass with every student's numbers, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py; here the same mistakes are made with other students' numbers.
"""

from itertools import product

import numpy as np
import pytest

from course_utils.attention import softmax
from course_utils.checks import two_heads as check
from course_utils.numbers.two_heads import columns_behind, two_heads
from selfcheck.blanks import ____
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form

STUDENTS = [0, 1, 2, 3, 11, "ada@example.org", "S0123456"]
each_student = pytest.mark.parametrize("student", STUDENTS)


def by_loops(X, Wq, Wk, Wv, scale=3**0.5):
    """One head, number by number: Q, K, V, scores, weights and output as nested lists."""

    def times(A, B):
        return [[sum(a * b for a, b in zip(row, col, strict=True)) for col in zip(*B, strict=True)]
                for row in A]  # fmt: skip

    Q, K, V = (times(X.tolist(), W.tolist()) for W in (Wq, Wk, Wv))
    scores = times(Q, [list(column) for column in zip(*K, strict=True)])
    weights = []
    for row in scores:
        powers = [np.exp((s - row[0]) / scale) for s in row]
        weights.append([p / sum(powers) for p in powers])
    return Q, K, V, scores, weights, times(weights, V)


def both(student):
    numbers = two_heads(student)
    return numbers, *(by_loops(numbers.X, *head) for head in numbers.heads)


def right_answers(student):
    """A right answer to every exercise, with the earlier answers that a check cell hands over."""
    numbers, first, second = both(student)
    Q, K, V, scores, weights, output_1 = first
    concat = np.hstack([output_1, second[-1]])
    in_concat, in_output = map(np.argwhere, slips_by_hand(numbers))
    return {
        "projections": (student, Q, K, V),
        "scores_and_weights": (student, scores, weights, Q, K),
        "head_outputs": (student, output_1, second[-1], weights, V),
        "final_output": (student, concat, concat @ numbers.Wo, output_1, second[-1]),
        "other_keys": (student, np.add(K, [0, 5, 0]), Q, K),
        "hidden_matrix": (student, recovered(student)),
        "slips": (student, in_concat, in_output),
        "merged": (student, columns_one_by_one(numbers)),
        "other_heads": (student, numbers.Wo[3:], np.linalg.solve(check.R, numbers.Wo[:3])),
        "beyond_the_values": (0.9, 0.1, [2.375, -1.375], 3.75),
    }


def columns_one_by_one(numbers):
    """What each number of a token adds to the output, if all tokens are looked at alike."""
    values = np.hstack([Wv for *_, Wv in numbers.heads])
    return [[sum(values[i] * column) for column in numbers.Wo.T] for i in range(6)]


def assert_right(feedback):
    assert feedback.outcome is Outcome.RIGHT, feedback
    assert feedback.earned == feedback.points


def recovered(student):
    numbers, first, second = both(student)
    concat = np.hstack([first[-1], second[-1]])
    return np.vstack([*columns_behind(numbers.printed, concat, within=5e-4)]).T


def slips_by_hand(numbers):
    sheet = numbers.worksheet
    values = [numbers.X @ Wv for *_, Wv in numbers.heads]
    mixed = np.hstack([A @ V for A, V in zip(sheet.weights, values, strict=True)])
    return [
        np.abs(line - before) > 0.002
        for line, before in [(sheet.concat, mixed), (sheet.output, sheet.concat @ numbers.Wo)]
    ]


RIGHT = {
    name: [right_answers(student)[name] for student in (1, 0, "ada@example.org")]
    for name in right_answers(0)
}
RIGHT["beyond_the_values"] += [
    (0.5, 0.25, np.array([7.0, -6.0]), "15/4"),
    ("1/10", 0.9, (-11 / 8, 19 / 8), 3.75),
]


test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


# -- right answers ---------------------------------------------------------------------------------


@each_student
def test_right_answers_pass_as_lists_and_as_arrays(student):
    numbers, first, second = both(student)
    Q, K, V, scores, weights, output_1 = first
    output_2 = second[-1]
    concat = np.hstack([output_1, output_2])
    assert_right(check.projections(student, Q, K, V))
    assert_right(check.projections(student, *map(np.array, (Q, K, V))))
    assert_right(check.scores_and_weights(student, scores, weights))
    assert_right(check.scores_and_weights(student, scores, np.round(weights, 4).tolist()))
    assert_right(check.head_outputs(student, output_1, output_2))
    assert_right(check.head_outputs(student, np.round(output_1, 4), np.round(output_2, 4)))
    assert_right(check.final_output(student, concat, concat @ numbers.Wo))
    assert_right(check.final_output(student, concat.tolist(), np.round(concat @ numbers.Wo, 4)))


@each_student
def test_any_k_with_the_same_weights_is_right(student):
    _, (Q, K, *_), _ = both(student)
    Q, K = np.array(Q, dtype=float), np.array(K, dtype=float)
    assert_right(check.other_keys(student, np.add(K, [1, 0, 0])))
    assert_right(check.other_keys(student, np.add(K, [-3, 0.25, 100]).tolist()))
    orthogonal_to_both_queries = np.cross(*Q)
    assert_right(check.other_keys(student, K + [[0.1], [-0.2]] * orthogonal_to_both_queries))


def test_the_disputed_entry_of_the_homework_gives_a_right_k():
    numbers = two_heads(0)
    Wk = numbers.heads[0][1].copy()
    Wk[5, 1] = 0
    feedback = check.other_keys(0, numbers.X @ Wk)
    assert_right(feedback)
    assert "the scores became [[66, 59], [58, 53]]" in feedback.says


@each_student
def test_the_hidden_matrix_is_found_by_search(student):
    Wo = recovered(student)
    assert_right(check.hidden_matrix(student, Wo))
    assert_right(check.hidden_matrix(student, Wo.tolist()))


@each_student
def test_slips_are_accepted_as_pairs_masks_and_what_numpy_returns(student):
    in_concat, in_output = slips_by_hand(two_heads(student))
    pairs = [[tuple(p) for p in np.argwhere(mask).tolist()] for mask in (in_concat, in_output)]
    assert_right(check.slips(student, *pairs))
    assert_right(check.slips(student, set(pairs[0]), tuple(pairs[1])))
    assert_right(check.slips(student, in_concat, np.argwhere(in_output)))
    assert_right(check.slips(student, np.nonzero(in_concat), np.where(in_output)))


def test_spellings_of_an_id_are_one_student():
    numbers, (Q, K, V, *_), _ = both("ada@example.org")
    assert numbers.student == "ada@example.org"
    assert_right(check.projections(" ADA@example.org", Q, K, V))


def test_another_student_s_answers_are_wrong():
    for one, other in product([0, 1, 2], repeat=2):
        if one != other:
            _, (Q, K, V, *_), _ = both(one)
            assert check.projections(other, Q, K, V).outcome is Outcome.WRONG
            assert check.hidden_matrix(other, recovered(one)).earned < 2


def test_a_bad_id_could_not_be_checked():
    feedback = check.other_keys(1.5, np.ones((2, 3)))
    assert feedback.outcome is Outcome.UNCHECKED
    assert feedback.says.startswith("A student id is a whole number")


# -- known mistakes, made by every student ---------------------------------------------------------


WEIGHT_MISTAKES = {
    "softmax down the columns": lambda S: softmax(S / 3**0.5, axis=0),
    "no division by √3": softmax,
    "divided by 3 in place of √3": lambda S: softmax(S / 3),
}


@each_student
@pytest.mark.parametrize("name", WEIGHT_MISTAKES)
def test_wrong_weights_are_named_with_every_student_s_numbers(student, name):
    _, first, second = both(student)
    mistake = WEIGHT_MISTAKES[name]
    wrong = [np.round(mistake(np.array(head[3])), 4) for head in (first, second)]
    feedback = check.scores_and_weights(student, first[3], wrong[0])
    assert (feedback.misconception, feedback.earned) == (name, 1)
    outputs = [mistake(np.array(h[3])) @ np.array(h[2]) for h in (first, second)]
    feedback = check.head_outputs(student, *outputs)
    assert (feedback.misconception, feedback.earned) == (name, 0)


@each_student
@pytest.mark.parametrize("decimals", [2, 3])
def test_rounding_before_the_end_is_named(student, decimals):
    numbers, first, second = both(student)
    rounded = [np.round(h[4], decimals) @ np.array(h[2]) for h in (first, second)]
    feedback = check.head_outputs(student, *rounded)
    names = {known.part: known.name for known in feedback.mistakes}
    for part, mine, head in zip(("Head 1", "Head 2"), rounded, (first, second), strict=True):
        ends = [np.allclose(mine, np.round(head[5], d), atol=6e-5) for d in (1, 2, 3)]
        name = "fewer than four decimals" if any(ends) else "rounding before the end"
        assert names.get(part, name) == name
    concat = np.hstack(rounded)
    feedback = check.final_output(student, concat, concat @ numbers.Wo)
    exact = np.hstack([first[5], second[5]])
    coarse = any(np.allclose(concat, np.round(exact, d), atol=6e-5) for d in (1, 2, 3))
    name = "fewer than four decimals" if coarse else "rounding before the end"
    assert feedback.misconception == name


@each_student
def test_heads_put_together_in_other_ways_are_named(student):
    numbers, first, second = both(student)
    one, two = np.array(first[-1]), np.array(second[-1])
    rows, Wo = np.vstack([one, two]), numbers.Wo
    for concat, output, name, earned in [
        (rows, rows, "heads stacked as rows", 0),
        (one + two, (one + two) @ Wo[:3], "heads added", 0),
        ((one + two) / 2, one @ Wo[:3], "heads averaged", 0),
        (one, one @ Wo[:3], None, 0),
        (np.vstack([two, one]), rows, None, 0),
        (rows.reshape(2, 6), rows.reshape(2, 6) @ Wo, "heads stacked as rows, then reshaped", 1),
        (np.hstack([two, one]), np.hstack([two, one]) @ Wo, "the heads in the other order", 1),
        (np.hstack([two, one]), np.zeros((2, 6)), "the heads in the other order", 0),
    ]:  # fmt: skip
        feedback = check.final_output(student, concat, output)
        assert (feedback.misconception, feedback.earned) == (name, earned)


@each_student
def test_keys_that_change_the_weights_are_refuted_with_the_difference_of_two_scores(student):
    _, (_, K, *_), _ = both(student)
    K = np.array(K, dtype=float)
    for wrong, name in [
        (K, "nothing changed"),
        (K + 1e-5, None),
        (K + 0.005, None),
        (-K, "K multiplied by a number"),
        (1.5 * K, "K multiplied by a number"),
        (np.add(K, [[0, 0, 0], [0, 2, 0]]), "one key changed"),
        (np.add(K, [[1, 0, 0], [2, 0, 0]]), None),
    ]:
        feedback = check.other_keys(student, wrong)
        assert feedback.outcome is Outcome.WRONG
        assert feedback.misconception == name
    assert "the two scores differed by" in feedback.says


# -- near misses -----------------------------------------------------------------------------------


def test_one_wrong_entry_is_pointed_at_with_its_sum():
    feedback = check.projections(0, [[4, 4, 3], [3, 0, 2]], [[7, 8, 6], [6, 8, 5]], np.ones((2, 3)))
    assert "Q: Entry [1, 1] of Q, row 1 of X times column 1 of W^{Q}" in feedback.says
    assert "1·0 + 2·1 + 0·0 + 1·1 + 1·1 + 1·1, should be 5; yours is 0." in feedback.says
    assert "V: Entry" in feedback.says
    assert feedback.earned == 0
    one_off = check.projections(
        0, [[4, 4, 3], [3, 0, 2]], [[7, 8, 6], [6, 8, 5]], [[12, 8, 10], [11, 9, 13]]
    )
    assert one_off.earned == 1


def test_each_part_of_an_answer_earns_its_point():
    numbers, first, second = both(2)
    assert check.scores_and_weights(2, np.zeros((2, 2)), first[4]).earned == 1
    assert check.head_outputs(2, np.zeros((2, 3)), second[5]).earned == 1
    concat = np.hstack([first[5], second[5]])
    assert check.final_output(2, concat, np.zeros((2, 6))).earned == 1
    in_concat, in_output = slips_by_hand(numbers)
    assert check.slips(2, in_concat, []).earned == 2
    assert check.slips(2, [], in_output).earned == 2


@pytest.mark.parametrize(("columns", "points"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_every_other_column_of_the_hidden_matrix_earns_points(columns, points):
    Wo = recovered(1).astype(float)
    Wo[0, columns:] += 1
    feedback = check.hidden_matrix(1, Wo)
    assert (feedback.earned, feedback.outcome) == (points, Outcome.WRONG)
    assert f"{columns} of 6 columns are found" in feedback.says


def test_a_matrix_that_gives_the_output_with_other_numbers_is_not_the_hidden_one():
    _, first, second = both(1)
    concat = np.hstack([first[5], second[5]])
    Wo = recovered(1) + np.linalg.svd(concat)[2][-1][:, None]  # plus what concat does not see
    feedback = check.hidden_matrix(1, Wo)
    assert feedback.earned == 0
    assert "gives what is printed, but" in feedback.says


def test_the_transpose_of_the_hidden_matrix_is_wrong():
    assert check.hidden_matrix(1, recovered(1).T).earned < 4


def test_a_hidden_matrix_with_float_residue_or_with_columns_still_unknown_is_read():
    Wo = recovered(1).astype(float)
    assert_right(check.hidden_matrix(1, Wo + 1e-9))
    assert_right(check.hidden_matrix(1, Wo - 1e-12))
    Wo[:, 3:] = np.nan
    assert check.hidden_matrix(1, Wo).earned == 2
    assert check.hidden_matrix(1, recovered(1) + 1e-3).earned == 0


def test_a_position_outside_the_matrix_is_told_so():
    feedback = check.slips(0, [(2, 6)], [(1, 4)])
    assert "concat has no entry (2, 6): rows are 0 and 1" in feedback.says


def test_naming_a_sound_entry_is_refuted_with_the_line_above_it():
    feedback = check.slips(0, [(0, 3), (1, 5)], [(1, 4)])
    assert feedback.earned == 2
    assert (
        "9.637 is printed, the line above it gives 9.637, exact numbers give 9.632" in feedback.says
    )


def test_naming_every_entry_earns_nothing():
    every = np.ones((2, 6), dtype=bool)
    assert check.slips(1, every, every).earned == 0


@each_student
def test_positions_in_odd_forms_are_read(student):
    masks = slips_by_hand(two_heads(student))
    for form in (np.ndarray.tolist, lambda m: m.astype(int).tolist(), np.nonzero,
                 lambda m: tuple(np.argwhere(m)), lambda m: np.argwhere(m) * 1.0):  # fmt: skip
        assert_right(check.slips(student, *map(form, masks)))


def test_an_entry_that_remembers_what_a_slip_forgot_may_be_listed_or_not():
    assert_right(check.slips(0, [(1, 5)], []))
    assert_right(check.slips(0, [(1, 5)], [(1, 4)]))
    assert check.slips(0, [(1, 5)], [(1, 3)]).earned == 2
    assert check.slips(1, slips_by_hand(two_heads(1))[0], []).earned == 2


def test_a_malformed_list_leaves_the_other_its_point():
    in_concat, in_output = slips_by_hand(two_heads(1))
    feedback = check.slips(1, in_concat, "nowhere")
    assert (feedback.earned, feedback.outcome) == (2, Outcome.UNCHECKED)
    assert check.slips(1, "nowhere", in_output).earned == 2


@pytest.mark.parametrize("bad", [[(0.5, 1)], [(1, 2, 3)], "(1, 5)", 5, {1, 2, 3}])
def test_positions_of_another_form_are_told_how(bad):
    feedback = check.slips(0, bad, [(1, 4)])
    assert (feedback.outcome, feedback.earned) == (Outcome.UNCHECKED, 2)
    assert "pairs (row, column)" in feedback.says


# -- a slip is charged once ------------------------------------------------------------------------


@each_student
def test_what_follows_from_an_earlier_slip_is_right(student):
    """Queries and keys exchanged in 5.1, and everything after that computed from them."""
    numbers, (Q, K, V, *_), second = both(student)
    Q, K, V = np.array(K), np.array(Q), np.array(V)
    scores = Q @ K.T
    weights = softmax(scores / 3**0.5)
    assert check.projections(student, Q, K, V).misconception == "Q and K in each other's place"
    assert_right(check.scores_and_weights(student, scores, weights, Q, K))
    outputs = weights @ V, second[-1]
    assert_right(check.head_outputs(student, *outputs, weights, V))
    concat = np.hstack(outputs)
    assert_right(check.final_output(student, concat, concat @ numbers.Wo, *outputs))
    assert_right(check.other_keys(student, np.add(K, [0, 0, 3]), Q, K))
    assert check.scores_and_weights(student, scores, weights).earned == 1
    assert check.other_keys(student, np.add(K, [0, 0, 3])).earned == 0


@pytest.mark.parametrize("student", [0, 3, 11])  # their weights with keys as queries are not 0 or 1
def test_a_new_slip_is_named_from_the_student_s_own_numbers(student):
    _, (Q, K, *_), _ = both(student)
    Q, K = np.array(K), np.array(Q)
    feedback = check.scores_and_weights(student, Q @ K.T, softmax(Q @ K.T), Q, K)
    assert (feedback.earned, feedback.misconception) == (1, "no division by √3")
    feedback = check.scores_and_weights(student, K @ Q.T, softmax(K @ Q.T / 3**0.5), Q, K)
    assert_right(feedback)  # which are the true ones


def test_weights_that_were_rounded_are_no_slip_that_carries():
    _, first, second = both(1)
    rounded = np.round(first[4], 4)
    feedback = check.head_outputs(1, rounded @ np.array(first[2]), second[-1], rounded, first[2])
    assert (feedback.earned, feedback.misconception) == (1, "rounding before the end")


def test_earlier_answers_that_are_missing_change_nothing():
    _, (Q, K, _, scores, weights, _), _ = both(1)
    for missing in (____, None, "nonsense", np.ones((3, 3))):
        assert_right(check.scores_and_weights(1, scores, weights, missing, missing))
        assert_right(check.other_keys(1, np.add(K, [2, 0, 0]), missing, missing))
    assert check.scores_and_weights(1, ____, weights, Q, K).earned == 1


@each_student
def test_weights_in_percent_are_told_so(student):
    _, (_, _, _, scores, weights, _), _ = both(student)
    feedback = check.scores_and_weights(student, scores, 100 * np.array(weights))
    assert (feedback.earned, feedback.misconception) == (1, "weights in percent")


@each_student
def test_keys_of_any_size_are_judged_without_loss_of_digits(student):
    _, (_, K, *_), _ = both(student)
    for shift in ([1e9, 0.1, 0], [0, -1e6, 1e-2], [0.3, 0.7, 1e4], [0, 0, 0.011]):
        assert_right(check.other_keys(student, np.add(K, shift)))
        off = np.add(K, shift)
        off[0, 1] += 0.02
        feedback = check.other_keys(student, off)
        assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)


# -- 5.8 to 5.10 -----------------------------------------------------------------------------------


def right_here_alone(numbers):
    """A matrix that suits the two tokens of the numbers, and no other text."""
    (Wq, Wk, Wv), (*_, Wv_2) = numbers.heads
    seen = np.array(by_loops(numbers.X, Wq, Wk, Wv)[4]) @ numbers.X
    return np.linalg.pinv(seen) @ seen @ np.hstack([Wv, Wv_2]) @ numbers.Wo


@pytest.mark.parametrize(
    "wrong",
    [
        right_here_alone,
        lambda n: np.transpose(columns_one_by_one(n)),
        lambda n: n.Wo,
        lambda n: np.hstack([n.heads[1][2], n.heads[0][2]]) @ n.Wo + np.eye(6),
        lambda n: np.array(columns_one_by_one(n)) / 2,
    ],
)
def test_other_matrices_for_two_heads_that_look_alike_are_wrong(wrong):
    feedback = check.merged(2, wrong(two_heads(2)))
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)


def test_each_half_of_the_new_matrix_earns_its_own_points_and_wrong_ones_none():
    Wo = two_heads(2).Wo
    lower = np.array([[1, -2, 0], [0, 1, 0], [-1, 2, 1]]) @ Wo[:3]
    assert check.other_heads(2, Wo[3:], lower).earned == 3
    assert check.other_heads(2, Wo[3:] + 1, lower).earned == 2
    for wrong in (lower[::-1], lower + 1, -lower, np.zeros((3, 6)), lower[:, ::-1]):
        assert check.other_heads(2, Wo[3:], wrong).earned == 1


@pytest.mark.parametrize("student", [1, 2, 3, "ada@example.org"])
def test_a_neighbors_matrices_and_slips_earn_nothing(student):
    for name in ("projections", "hidden_matrix", "slips", "merged", "other_heads"):
        answers = right_answers(f"next to {student}")[name][1:]
        assert getattr(check, name)(student, *answers).earned == 0, name


@pytest.mark.parametrize(
    ("p", "q", "w"),
    [(0.9, 0.1, [2, -1]), (0.9, 0.1, [1, 1]), (0.5, 0.5, [1, 0]), (0.95, 0.1, [2.2353, -1.2353]),
     (1, 0, [2, -1]), (0.9, 0.1, [-1.375, 2.375])],
)  # fmt: skip
def test_other_heads_do_not_reach_beyond_the_values(p, q, w):
    assert check.beyond_the_values(p, q, w, 3.75).earned == 1


@pytest.mark.parametrize("least", [3.7, 3.8, 2.375, 0, -3.75])
def test_another_least_mix_is_wrong(least):
    feedback = check.beyond_the_values(0.9, 0.1, [2.375, -1.375], least)
    assert (feedback.earned, feedback.misconception) == (1, None)


# -- a name is earned, and sentences are true as printed -------------------------------------------


@pytest.mark.parametrize("student", range(25))
@pytest.mark.parametrize("decimals", [2, 3])
def test_numbers_rounded_at_the_very_end_are_called_that(student, decimals):
    n, first, second = both(student)
    outputs = [np.array(h[5]) for h in (first, second)]
    concat = np.hstack(outputs)
    coarse = [np.round(a, decimals) for a in (*outputs, concat, concat @ n.Wo)]
    heads = check.head_outputs(student, *coarse[:2])
    mixed = check.final_output(student, concat, coarse[3])
    joined = check.final_output(student, coarse[2], concat @ n.Wo)
    for feedback in (heads, mixed, joined):
        assert {known.name for known in feedback.mistakes} <= {"fewer than four decimals"}
        assert feedback.mistakes or feedback.outcome is Outcome.RIGHT


@pytest.mark.parametrize("student", range(12))
def test_a_matrix_of_head_2_in_one_place_has_a_name(student):
    _, first, second = both(student)
    for k, part in enumerate("QKV"):
        answers = [np.array(a) for a in first[:3]]
        answers[k] = np.array(second[k])
        feedback = check.projections(student, *answers)
        assert [(known.part, known.name) for known in feedback.mistakes] == [
            (part, "the matrices of head 2")
        ]


@pytest.mark.parametrize("student", range(12))
def test_weights_turned_around_have_a_name(student):
    _, first, _ = both(student)
    scores, weights = np.array(first[3]), np.array(first[4])
    turned = check.scores_and_weights(student, scores, weights.T)
    swapped = check.scores_and_weights(student, scores, check._weights(scores.T))
    assert turned.misconception == "the weights transposed"
    assert swapped.misconception in (
        "the softmax of the transposed scores",
        "softmax down the columns",
    )


@pytest.mark.parametrize("student", range(4))
def test_found_columns_that_were_left_as_rows_have_a_name(student):
    hidden = np.array(recovered(student))
    assert check.hidden_matrix(student, hidden).outcome is Outcome.RIGHT
    laid = check.hidden_matrix(student, hidden.T)
    assert laid.misconception == "the found columns left as rows"


@pytest.mark.parametrize("student", range(30))
def test_slips_that_were_found_are_counted(student):
    n = check.two_heads(student)
    (concat, _), _ = check._misses(n)
    one = check.slips(student, sorted(concat)[:1], []).says
    many = len(concat)
    assert f"{min(1, many)} of {many} slip" in one or many == 1
    assert "There is one." not in repr(check.slips(student, [], []))


@pytest.mark.parametrize("student", range(1, 30))
def test_half_of_the_slips_earn_a_point(student):
    (concat, _), (output, _) = check._misses(check.two_heads(student))
    half = sorted(concat)[: (len(concat) + 1) // 2]
    assert check.slips(student, half, output).earned == (4 if len(half) == len(concat) else 3)
    fewer = half[: (len(concat) - 1) // 2]
    assert check.slips(student, fewer, output).earned == 2
    sound = next((i, j) for i in range(2) for j in range(6) if (i, j) not in concat)
    assert check.slips(student, [*half, sound], output).earned <= 3


def test_the_least_mix_is_exact():
    for least, right in [(3.75, True), (3.7499, True), (3.74, False), (3.76, False)]:
        feedback = check.beyond_the_values(0.9, 0.1, [2.375, -1.375], least)
        assert (feedback.earned == 2) is right


def test_a_hidden_matrix_may_be_written_in_texts():
    texts = [["0"] * 6] * 6
    assert "should be an array" not in check.hidden_matrix("0", texts).says
