"""Unit 06: right formulas pass in every form, wrong ones are told the term that they miss."""

import re

import numpy as np
import pytest
import sympy

from course_utils.checks import counting_cost as check
from course_utils.variants import counting_cost
from selfcheck.blanks import ____
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form

SYMBOLS = sympy.symbols("N d_in d_att d_out D M H G w", positive=True, integer=True)
N, d_in, d_att, d_out, D, M, H, G, w = SYMBOLS
i = sympy.symbols("i", integer=True)


def by_loops(A, V, dY):
    """Both products entry by entry, as a student might write them."""
    dA, dV = np.zeros(A.shape), np.zeros(V.shape)
    for r in range(A.shape[0]):
        for j in range(A.shape[1]):
            for c in range(V.shape[1]):
                dA[r, j] += dY[r, c] * V[j, c]
                dV[j, c] += A[r, j] * dY[r, c]
    return dA, dV


def by_einsum(A, V, dY):
    return [np.einsum("ic,jc->ij", dY, V), np.einsum("ij,ic->jc", A, dY)]


def by_jacobian(A, V, dY):
    """Right, by way of the whole Jacobian of Y by A."""
    jacobian = np.kron(np.eye(len(A)), V.T)
    return (dY.reshape(-1) @ jacobian).reshape(A.shape), A.T @ dY


def in_memory(student):
    """The bytes of a student's model and the tokens that fit beside it, number by number."""
    n = counting_cost(student)
    heads, groups = n.heads * n.head_width, n.groups * n.head_width
    attention, feed_forward = 2 * n.width * (heads + groups), 3 * n.width * n.hidden
    size = 2 * (n.vocabulary * n.width + n.layers * (attention + feed_forward))
    return student, size, (n.mebibytes * 2**20 - size) // (4 * n.layers * groups)


QKV = "2*N*d_att*(2*d_in - 1) + N*d_out*(2*d_att - 1)"
THE_LECTURES = {
    "parameters": "2*d_att*d_in + d_out*d_in + 2*d_out + 2",
    "projections": "N*(2*d_in - 1)*(2*d_att + d_out)",
    "attention": "2*N**2*d_att + 5*N**2 - 2*N + N*d_out*(2*N - 1)",
    "feed_forward": "N*(4*d_out + 3)",
}

RIGHT = {
    "parameters": [
        ("2*d_att*d_in + d_att*d_out + 3*Max(d_out + 2, 2)",),
        (2 * d_att * d_in + d_out * d_att + 3 * d_out + 6,),
        ("d_att·(2·d_in + d_out) + 3·(d_out + 2)",),
        ("2*(d_att*d_in + 3) + d_out*(d_att + 3)",),
    ],
    "projections": [
        (2 * N * d_att * (2 * d_in - 1) + N * d_out * (2 * d_att - 1),),
        ("4·N·d_att·d_in − 2·N·d_att + 2·N·d_att·d_out − N·d_out",),
        (sympy.factor(2 * N * d_att * (2 * d_in - 1) + N * d_out * (2 * d_att - 1)),),
        ("Sum(2*d_att*(2*d_in - 1) + d_out*(2*d_att - 1), (i, 1, N))",),
    ],
    "attention": [
        (2 * N**2 * d_att + N * d_att + 4 * N**2 - 2 * N + N * d_out * (2 * N - 1),),
        ("N²·(2·d_att − 1) + N·d_att + N·(2·(N − 1) + 3·N) + N·d_out·(2·N − 1)",),
        ("sqrt(N**4)*(2*d_att + 4) + N*(d_att - 2) + 2*N**2*d_out - N*d_out",),
    ],
    "feed_forward": [
        (N * (6 * d_out + 8),),
        ("3*N*(2*d_out - 1) + 3*N + 3*N + 5*N",),
        ("6.0*N*d_out + 8.0*N",),
    ],
    "loss": [(3 * N - 1,), ("N + N + (N - 1)",), ("(6*N - 2)/2",), ("N*(3 - 1/N)",)],
    "kept": [(N * d_out, N**2), ("d_out*N", "N*N"), ("N*d_out", sympy.Sum(N, (i, 1, N)))],
    "multi_head": [
        (4 * N * D**2 + 2 * N**2 * D,),
        ("2*N*D*(2*D + N)",),
        ("3*N*D^2 + N*D^2 + 2*N^2*D",),
        ("3*H*N*D*(D/H) + 2*H*N**2*D/H + N*D**2",),
        ("3*T*N*D*(D/T) + 2*T*N**2*D/T + N*D**2",),
    ],
    "crossover": [(2 * D,), ("2·D",), ("4*D/2",)],
    "mix_backward": [
        (lambda A, V, dY: (dY @ V.T, A.T @ dY),),
        (by_loops,),
        (by_einsum,),
        (lambda A, V, dY: ((V @ dY.T).T, np.dot(dY.T, A).T),),
    ],
    "windowed": [
        (4 * N * D**2 + 2 * M**2 * N * D,),
        ("N/M**2*(4*M**2*D**2 + 2*M**4*D)",),
        ("2*N*D*(2*D + M²)",),
    ],
    "grouped": [
        (2 * D * w * (H + G), 2 * N * G * w, 2 * D * w * (H + G) + 2 * N * H * w),
        ("D·H·w + D·(2·G)·w + H·w·D", "N*G*(w + w)", "2*w*(H*(D + N) + G*D)"),
        ("2*D*G*w*(1 + H/G)", "Sum(2*G*w, (i, 1, N))", "2*D*H*w + 2*D*G*w + H*N*w + H*N*w"),
    ],
    "gated": [
        ("8*D/3", "(2*D*w*(H + G) + 3*D*F)/(2*H*w)"),
        (8 * D / 3, "D*(1 + G/H) + 1.5*D*F/(H*w)"),
        ("2·4·D/3", "D*(H + G)/H + 3*D*F/(2*H*w)"),
    ],
    "full_width": [
        ("H*N*D*(N + D)", "N*(N + D)", "H*N*(N + D)"),
        (H * N * D**2 + H * N**2 * D, N**2 + N * D + N, H * (7 * N**2 + N * D)),
    ],
    "fits_in_memory": [in_memory(0), in_memory("ada@example.org"), (*map(str, in_memory(7)),)],
    "macs_by_lines": [
        (r"= H(3NDw + N^{2} w + N^{2} w) + NDHw = 4ND^{2} + 2N^{2}D",),
        (["H*(3*N*D*w + 2*N**2*w) + N*H*w*D", 4 * N * D**2 + 2 * N**2 * D],),
        (
            [
                lambda N, D, H, w: H * (3 * N * D * w + 2 * N**2 * w) + N * D * H * w,
                lambda N, D: 4 * N * D**2 + 2 * N**2 * D,
            ],
        ),
    ],
    "backward_of_a_head": [
        ("6*N*D*w + 4*N**2*w", "3*N*D*w + 4*N**2*w"),
        ("2·w·N(3·D + 2·N)", "w·N·(3·D + 4·N)"),
    ],
}


test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


@pytest.mark.parametrize("name", THE_LECTURES)
def test_a_formula_of_the_lecture_is_no_answer_and_is_named(name):
    feedback = getattr(check, name)(THE_LECTURES[name])
    assert feedback.misconception in ("the lecture's model", "the scores divided")
    assert feedback.earned < feedback.points


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("parameters", "2*d_att*d_in + d_out*d_att + 2*d_out + 6"),
        ("parameters", "2*d_att*d_in + d_in*d_att + 3*d_out + 6"),
        ("parameters", "2*d_att*d_in + d_out*d_att + 3*d_out + 9"),
        ("projections", "2*N*d_att*(2*d_in - 1) + N*d_att*(2*d_out - 1)"),
        ("projections", "3*N*d_att*(2*d_in - 1) + N*d_out*(2*d_att - 1)"),
        ("attention", "N**2*d_att + N**2*(2*d_att - 1) + 5*N**2 - 2*N + N*d_out*(2*N - 1)"),
        ("attention", "N*d_in + N**2*(2*d_att - 1) + 5*N**2 - 2*N + N*d_out*(2*N - 1)"),
        ("feed_forward", "N*(6*d_out + 6)"),
        ("feed_forward", "N*(4*d_out + 5)"),
    ],
)
def test_formulas_of_other_sisters_are_wrong(name, wrong):
    feedback = getattr(check, name)(wrong)
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)


@pytest.mark.parametrize(
    ("name", "answer", "term"),
    [
        ("parameters", "2*d_att*d_in + d_out*d_att + 3*d_out + 7", "exactly 1 too much"),
        (
            "projections",
            "4*N*d_att*d_in + 2*N*d_out*d_att",
            "does not subtract exactly 2·N·d_att and N·d_out",
        ),
        (
            "attention",
            "2*N**2*d_att + N*d_att + 4*N**2 - 2*N",
            "is missing is the mix, N·d_out·(2·N − 1)",
        ),
        ("loss", "3*N", "does not subtract exactly 1"),
        ("multi_head", "4*N*D**2 + N**2*D", "lacks exactly D·N²"),
        ("windowed", "4*N*D**2 + M**2*N*D", "lacks exactly D·M²·N"),
    ],
)
def test_a_wrong_formula_is_told_the_term_it_is_off_by(name, answer, term):
    feedback = getattr(check, name)(answer)
    assert feedback.outcome is Outcome.WRONG
    assert term in feedback.says


def test_a_wrong_formula_is_shown_sizes_at_which_it_fails():
    feedback = check.loss("3*N")
    assert feedback.says.startswith("At N = 2 the number of FLOPs should be 5; yours is 6.")


@pytest.mark.parametrize(
    ("name", "leading", "earned"),
    [
        ("projections", "4*N*d_att*d_in + 2*N*d_out*d_att", 2),
        ("attention", "2*N**2*(d_att + d_out)", 2),
        ("attention", "2*N**2*(d_att + d_out) + 5*N**2", 2),
        ("feed_forward", "6*N*d_out", 1),
        ("projections", "2*N*d_in*(d_att + d_out)", 0),
        ("attention", "2*N**2*d_att", 0),
        ("attention", "2*N**2*(d_att + d_out) + d_in*N", 0),
        ("attention", "2*N**2*(d_att + d_out) + N**3", 0),
        ("feed_forward", "4*N**2", 0),
        ("loss", "3*N", 0),
        ("parameters", "2*d_att*d_in + d_out*d_att", 0),
        ("projections", f"{QKV} + N**2", 0),
        ("projections", f"{QKV} + 7*N**2", 0),
        ("projections", f"{QKV} - 100*N*d_att", 0),
        ("projections", f"{QKV} + 1000*N*d_att", 0),
        ("projections", "4*N*d_att*d_in + 2*N*d_out*d_att - d_att", 2),
        ("projections", "-4*N*d_att*d_in - 2*N*d_out*d_att", 0),
        ("attention", "2*N**2*(d_att+d_out) + 50*d_att**2", 0),
        ("attention", "2*N**2*(d_att+d_out) + 5*N**2 - 40*N*d_out", 0),
        ("feed_forward", "6*N*d_out + 5*d_out", 1),
        ("feed_forward", "6*N*d_out + 6*N", 1),
    ],
)
def test_leading_terms_alone_earn_one_point_less(name, leading, earned):
    feedback = getattr(check, name)(leading)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, earned)


def test_counts_are_compared_exactly_not_up_to_a_tolerance():
    nearly = f"{QKV} + N/1000000"
    assert check.projections(nearly).outcome is Outcome.WRONG
    assert check.loss("3*N - 1 + 1/10000").outcome is Outcome.WRONG


def test_a_formula_that_fits_at_the_sizes_tried_is_still_caught():
    """A term that vanishes for every N from 2 to 8 is found by the algebra."""
    vanishing = "*".join(f"(N - {k})" for k in range(2, 9))
    feedback = check.loss(f"3*N - 1 + {vanishing}")
    assert feedback.outcome is Outcome.WRONG


def test_a_formula_that_changes_its_mind_at_larger_sizes_is_wrong():
    assert check.loss("Piecewise((3*N - 1, N < 50), (0, True))").outcome is Outcome.WRONG
    assert check.loss("3*N - 1 + Max(N - 20, 0)").outcome is Outcome.WRONG


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("parameters", "2*d_att*d_in + d_out*d_att + 3*d_out + Max(6, d_in - 200)"),
        ("parameters", "2*d_att*d_in + d_out*d_att + 3*d_out + Max(6, d_in - 5000)"),
        ("projections", f"Min(N, 8)*({QKV})/N"),
        ("feed_forward", "N*(6*Min(d_out, 40) + 8)"),
        ("multi_head", "4*N*D**2 + 2*N*Min(N, 512)*D"),
        ("multi_head", "4*N*D**2 + 2*N**2*D/T"),
        ("multi_head", "4*N*D**2 + 2*N**2*D/H"),
        ("windowed", "4*N*D**2 + 2*Min(M, 5)**2*N*D"),
        ("crossover", "Min(2*D, 80)"),
    ],
)
def test_a_formula_that_is_right_at_small_sizes_only_is_wrong(name, answer):
    feedback = getattr(check, name)(answer)
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)


@pytest.mark.parametrize(
    ("name", "answer", "mistakes"),
    [
        (
            "attention",
            "N*d_att + N**2*(2*d_att - 1) + 4*N**2 - 2*N + N*d_out*(2*N - 1)",
            {"the exponentials forgotten", "the subtraction of the maximum forgotten",
             "the division by the sum forgotten"},
        ),
        ("loss", "2*N - 1", {"the squares forgotten", "the subtractions forgotten"}),
        ("feed_forward", "6*N*d_out + 5*N", {"the ReLU taken as free", "the bias taken as free"}),
        ("parameters", "2*d_att*d_in + d_out*d_att + 3*d_out + 3",
         {"w_2 forgotten", "b_1 forgotten"}),
        ("multi_head", "2*N**2*D + 3*N*D*D",
         {"the output projection forgotten", "one of queries, keys and values forgotten"}),
    ],
)  # fmt: skip
def test_mistakes_that_give_the_same_total_are_all_named(name, answer, mistakes):
    feedback = getattr(check, name)(answer)
    assert {known.name for known in feedback.mistakes} == mistakes


def test_a_huge_formula_is_refused_without_multiplying_it_out():
    feedback = check.projections("(N + d_in + d_att + d_out)**60")
    assert feedback.outcome is Outcome.WRONG
    assert check.multi_head("(N + D)**60").outcome is Outcome.WRONG
    assert check.projections("(1 + (N - 2)*d_in*d_att)**60").outcome is Outcome.WRONG
    assert check.projections("2**N").outcome is Outcome.WRONG


def test_each_half_of_exercise_6_earns_one_point():
    assert check.kept("N*d_out", ____).earned == 1
    assert check.kept("nonsense(", "N*N").earned == 1
    assert check.kept("N*d_out", "N").earned == 1
    assert check.kept("d_out", "N**2").earned == 1
    assert check.kept("N**3", "N**2").misconception == "each ṽ[i] taken for an N×N matrix"


def test_each_term_of_multi_head_earns_a_point_only_if_the_other_is_of_the_right_kind():
    assert check.multi_head("3*N*D**2 + 2*N**2*D").earned == 1
    assert check.multi_head("4*N*D**2").earned == 1
    assert check.multi_head("6*N*D**2").earned == 0
    assert check.multi_head("4*N*D**2 + 2*N**2*D + N").earned == 1
    assert check.multi_head("4*N*D**2 - 5*N**2*D").earned == 0


def test_a_crossover_that_is_right_at_one_width_only_is_wrong():
    assert check.crossover("D**2/2").outcome is Outcome.WRONG
    assert check.crossover("8").outcome is Outcome.WRONG
    assert "a number of tokens is above 0" in check.crossover("0").says


def test_gradients_right_for_square_shapes_only_are_caught():
    def square_only(A, V, dY):
        if len({*A.shape, *V.shape}) == 1:
            return dY @ V.T, A.T @ dY
        return np.zeros(A.shape), np.zeros(V.shape)

    assert check.mix_backward(square_only).outcome is Outcome.WRONG


(BY_DIFFERENCES,) = [
    known.example[0]
    for known in check.mix_backward.misconceptions
    if known.name == "right, but at many times the price"
]


@pytest.mark.parametrize("expensive", [by_jacobian, BY_DIFFERENCES])
def test_right_gradients_at_a_higher_price_earn_two_of_three_points(expensive):
    feedback = check.mix_backward(expensive)
    assert feedback.earned == 2
    assert "Twice that is 840, and yours takes" in feedback.says


def test_arithmetic_on_numbers_taken_out_of_the_arrays_does_not_count_as_cheap():
    def in_lists(A, V, dY):
        n, k, m = *A.shape, V.shape[1]
        a, v, g = ([[float(x) for x in row] for row in array] for array in (A, V, dY))
        dA = [[sum(g[r][c] * v[j][c] for c in range(m)) for j in range(k)] for r in range(n)]
        dV = [[sum(a[r][j] * g[r][c] for r in range(n)) for c in range(m)] for j in range(k)]
        return np.array(dA), np.array(dV)

    feedback = check.mix_backward(in_lists)
    assert feedback.earned == 2
    assert "keep the numbers in arrays" in feedback.says


def test_a_function_that_the_meter_cannot_count_is_told_so():
    def with_pinv(A, V, dY):
        np.linalg.svd(A)
        return dY @ V.T, A.T @ dY

    feedback = check.mix_backward(with_pinv)
    assert feedback.earned == 2
    assert "not counted by the meter" in feedback.says


def test_a_price_a_little_above_the_limit_is_not_called_nudging():
    feedback = check.mix_backward(lambda A, V, dY: (dY @ V.T * 1.0, A.T @ dY * 1.0))
    assert feedback.earned in (2, 3)
    assert feedback.misconception is None


def three_wrong_ones():
    def only_small(A, V, dY):
        dA = dY @ V.T
        dA[12:] = 0
        return dA, A.T @ dY

    def few_columns(A, V, dY):
        return dY[:, :9] @ V[:, :9].T, A.T @ dY

    def positive(A, V, dY):
        return dY @ V.T, np.maximum(A, 0).T @ dY

    return [only_small, few_columns, positive]


@pytest.mark.parametrize("wrong", three_wrong_ones())
def test_gradients_that_fail_at_some_sizes_or_signs_only_are_caught(wrong):
    for _ in range(5):
        feedback = check.mix_backward(wrong)
        assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)


def test_right_gradients_in_one_stacked_array_or_in_single_precision_are_right():
    def single(A, V, dY):
        A, V, dY = (np.asarray(x, dtype=np.float32) for x in (A, V, dY))
        return dY @ V.T, A.T @ dY

    for _ in range(5):
        assert check.mix_backward(single).earned >= 1


def test_one_array_in_place_of_two_cannot_be_checked():
    feedback = check.mix_backward(lambda A, V, dY: dY @ V.T @ np.ones((A.shape[1], 3)))
    assert feedback.outcome is not Outcome.RIGHT
    assert check.mix_backward(lambda A, V, dY: 1.0).outcome is Outcome.UNCHECKED


def test_a_function_that_overwrites_its_inputs_fools_nobody():
    def cheat(A, V, dY):
        dY[:] = 0.0
        return np.zeros(A.shape), np.zeros(V.shape)

    assert check.mix_backward(cheat).outcome is Outcome.WRONG


def test_the_number_of_heads_does_not_change_the_count():
    one = [tuple(np.ones((4, 4)) for _ in range(3))]
    four = [tuple(np.ones((4, 1)) for _ in range(3)) for _ in range(4)]
    macs = [
        check.measure(check.attend, np.ones((3, 4)), heads, np.ones((4, 4))).macs
        for heads in (one, four)
    ]
    assert macs[0] == macs[1] == check.multi_head_macs().subs({"N": 3, "D": 4})


# -- a slip in 6.7 is charged once -----------------------------------------------------------------

ONE_PRODUCT_FORGOTTEN = "3*N*D**2 + 2*N**2*D"  # W^O; in 6.7 it earns one point


def test_what_follows_from_the_students_own_count_is_right():
    for exercise, answer in [
        (check.crossover, "3*D/2"),
        (check.windowed, "3*N*D**2 + 2*M**2*N*D"),
    ]:
        assert exercise(answer).earned == 0
        followed = exercise(answer, ONE_PRODUCT_FORGOTTEN)
        assert (followed.outcome, followed.earned) == (Outcome.RIGHT, 1)
        assert "which is not right yet" in followed.says


def test_what_does_not_follow_from_it_is_wrong():
    assert check.crossover("D", ONE_PRODUCT_FORGOTTEN).earned == 0
    assert check.windowed("3*N*D**2 + 2*M*N*D", ONE_PRODUCT_FORGOTTEN).earned == 0


@pytest.mark.parametrize("count", ["N*D**2", "2*N**2*D", "N**3", "N*D - N**2", "1", "junk(", None])
def test_a_count_without_both_terms_decides_nothing(count):
    assert check.crossover("3*D/2", count).earned == 0
    assert check.windowed("N*D**2", count).earned == 0
    assert check.crossover("2*D", count).earned == 1


# -- a slip in 6.11 is charged once ----------------------------------------------------------------

SHARED_COUNTS = ("2*D*H*w + 2*D*G*w", "2*N*G*w", "2*D*H*w + 2*D*G*w + 2*N*H*w")
FOR_EVERY_HEAD = ("4*D*H*w", "2*N*H*w", "4*D*H*w + 2*N*H*w")  # keys and values, that is
NO_VALUES = ("2*D*H*w + D*G*w", "N*G*w", "2*D*H*w + D*G*w + 2*N*H*w")
WORTHLESS = [("1", "1", "1"), ("D", "N", "N*w"), ("0", "0", "0"), (None, None, None)]


def _by_own(parameters, cache, macs, student="7"):
    """What 6.12 and 6.13 come to with these counts."""
    n = counting_cost(student)
    at = {"D": n.width, "H": n.heads, "G": n.groups, "w": n.head_width, "N": 1}
    layer, token = (eval(count, {}, at) for count in (parameters, cache))
    rest = n.vocabulary * n.width + n.layers * 3 * n.width * n.hidden
    model = 2 * (rest + n.layers * layer)
    tokens = (n.mebibytes * 2**20 - model) // (2 * n.layers * token)
    return f"({macs.replace('2*N*H*w', '3*D*F')})/(2*H*w)", model, tokens


@pytest.mark.parametrize("own", [FOR_EVERY_HEAD, NO_VALUES])
def test_what_follows_from_own_counts_of_shared_keys_is_right(own):
    block, model, tokens = _by_own(*own)
    gated = check.gated("8*D/3", block, own[2])
    fits = check.fits_in_memory("7", model, tokens, *own[:2])
    assert (gated.earned, fits.earned) == (2, 2)
    assert "not right yet" in gated.says
    assert "not right yet" in fits.says
    assert check.gated("8*D/3", block, SHARED_COUNTS[2]).earned == 1
    assert check.fits_in_memory("7", model, tokens, *SHARED_COUNTS[:2]).earned < 2


@pytest.mark.parametrize("own", WORTHLESS)
def test_a_worthless_count_of_shared_keys_decides_nothing(own):
    block, model, tokens = _by_own(*FOR_EVERY_HEAD)
    assert check.gated("8*D/3", block, own[2]).earned == 1
    assert check.fits_in_memory("7", model, tokens, *own[:2]).earned == 0
    right_block, *right_numbers = _by_own(*SHARED_COUNTS)
    assert check.gated("8*D/3", right_block, own[2]).earned == 2
    assert check.fits_in_memory("7", *right_numbers, *own[:2]).earned == 2


# -- beyond the page -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "answers", "earned"),
    [
        ("grouped", ("2*D*D + 2*D*G*w", "2*N*G*w", "2*D*H*w + 2*D*G*w + 2*N*H*w"), 2),  # H·w = D
        ("grouped", ("2*D*w*(H + G)", "2*N*G*w + 2*G*w", "2*D*w*(H + G) + 2*N*H*w"), 2),
        ("grouped", ("2*D*w*(H + G)", "2*N*G*w", "2*D*w*(H + G) + 2*(N + 1)*H*w"), 2),
        ("grouped", ("2*D*w*(H + G)", "2*N*G*w", "2*D*w*(H + G) + 2*N*D"), 2),
        ("grouped", ("2*D*w*(H + G)", "2*Min(N, 900)*G*w", "2*w*(H*(D + N) + G*D)"), 2),
        ("gated", ("2.6666*D", "(2*D*w*(H + G) + 3*D*F)/(2*H*w)"), 1),
        ("gated", ("8*D/3 + 1", "6*D"), 0),
        ("gated", ("D**2", "D*H"), 0),
        ("gated", ("8*D/3", "D*(1 + G/H) + D*F/(H*w)"), 1),  # a gate taken for two matrices
        ("gated", ("8*D/3", "(2*D*w*(H + G) + 3*D*F)/(2*D)"), 1),
    ],
)
def test_wrong_counts_of_shared_heads_and_gates_cost_their_own_point(name, answers, earned):
    feedback = getattr(check, name)(*answers)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, earned)
    assert feedback.misconception is None


@pytest.mark.parametrize("student", [0, 3, "ada@example.org"])
def test_what_fits_into_memory_is_exact(student):
    _, size, tokens = in_memory(student)
    for given in [(size + 2, tokens), (size, tokens - 1), (size, tokens + 0.5), (size, -tokens)]:
        feedback = check.fits_in_memory(student, *given)
        assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 1), feedback
        assert feedback.misconception is None


def test_mistakes_are_named_with_every_students_model():
    _, size, tokens = in_memory(4)
    assert check.fits_in_memory(4, size // 2, tokens).misconception == "numbers in place of bytes"
    assert check.fits_in_memory(4, size, tokens + 1).misconception == "rounded up"


# -- more never earns less, and sentences are true as printed --------------------------------------


@pytest.mark.parametrize(("name", "leading"), [
    ("projections", "4*N*d_att*d_in + 2*N*d_out*d_att"),
    ("attention", "2*N**2*(d_att + d_out)"),
    ("feed_forward", "6*N*d_out"),
    ("multi_head", "4*N*D**2"),
])  # fmt: skip
@pytest.mark.parametrize("off", ["1", "8", "-1", "N", "-N"])
def test_a_count_that_is_nearly_exact_earns_what_its_leading_terms_earn(name, leading, off):
    exact = RIGHT[name][0][0]
    nearly = getattr(check, name)(f"{exact} + {off}")
    assert nearly.earned >= getattr(check, name)(leading).earned > 0


def test_pieces_are_what_the_meter_counts():
    sums = {
        ("project",): 2 * ["the queries or the keys"] + ["the values"],
        ("weigh", "mix"): ["the division of Q", "the scores", "the softmax", "the mix"],
    }
    for stages, names in sums.items():
        total = sum(sympy.sympify(check.PIECES[name], {"N": sympy.Symbol("N")}) for name in names)
        assert sympy.expand(total) == check.flops_of(*stages)


@pytest.mark.parametrize(("name", "answer", "says"), [
    ("projections", "2*N*d_att*(2*d_in-1)", "missing is the values, N·d_out·(2·d_att − 1)."),
    ("attention", "N*d_att + N**2*(2*d_att-1) + 5*N**2 - 2*N", "What is missing is the mix"),
    ("attention", "N*d_att + N**2*(2*d_att-1) + N*d_out*(2*N-1)", "What is missing is the softmax"),
    ("feed_forward", "6*N*d_out + 3*N", "What is missing is the product with w_2, 5·N."),
])  # fmt: skip
def test_a_stage_that_was_forgotten_is_told_as_a_whole(name, answer, says):
    feedback = getattr(check, name)(answer)
    assert says in feedback.says
    assert "too much" not in feedback.says


def test_what_a_formula_has_too_much_stands_in_it():
    wrongs = ["2*N*d_att*d_in", "4*N*d_att*d_in", "N*(2*d_in-1)*(2*d_att+d_out)", "4*d_att*d_in"]
    for wrong in wrongs:
        says = check.projections(wrong).says
        for term in re.findall(r"has ([^,.]*) too much", says):
            assert all(letter in wrong for letter in re.findall(r"d_\w+|\bl\b", term)), says


def test_junk_is_not_carried_on():
    assert check.crossover("1", "N + N**2").earned == 0
    assert check.windowed("N + N*M**2", "N + N**2").earned == 0
    assert check.crossover("3*D/2", "3*N*D**2 + 2*N**2*D").earned == 1


def test_numbers_of_both_arrays_exchanged_are_told_as_such():
    feedback = check.kept("N**2", "N*d_out")
    assert [known.name for known in feedback.mistakes] == ["ṽ and α exchanged"]
    assert check.kept("N**2", "N").misconception == "d_out = N"


def test_both_transposes_forgotten_have_a_name():
    feedback = check.mix_backward(lambda A, V, dY: (dY @ V, A @ dY))
    assert feedback.misconception == "neither of them transposed"


@pytest.mark.parametrize("student", range(12))
def test_a_slip_in_the_bytes_is_charged_once(student):
    n = counting_cost(student)
    table, memory = 2 * n.vocabulary * n.width, n.mebibytes * 2**20
    true = check._bytes(check._model_shapes(n))
    token = check._bytes(check._cache_shapes(n, 1))
    mine = true - table
    followed = check.fits_in_memory(student, mine, (memory - mine) // token)
    assert followed.earned == 1, followed
    assert check.fits_in_memory(student, 0, memory // token).earned == 0
    assert check.fits_in_memory(student, mine, (memory - mine) // token + 1).earned == 0


def test_counts_of_bytes_and_tokens_are_refuted_in_a_direction():
    says = check.fits_in_memory(0, 12, -5).says
    assert "12 bytes are fewer than" in says
    assert "−5 is no number of tokens" in says
    assert "2.5 is no number" in check.fits_in_memory(0, 12, 2.5).says
    assert "bytes of cache" in check.fits_in_memory(0, 12, 10).says


# -- 6.14: only the growth counts ------------------------------------------------------------------

TIME, IN_TURN, AT_ONCE = "H*N*D*(N + D)", "N*(N + D)", "H*N*(N + D)"


@pytest.mark.parametrize(
    "answers",
    [
        ("Theta(H N D^2 + H N^2 D)", "O(N**2 + N*D)", "H*(N**2 + N*D)"),
        (r"\Theta(H N D^2 + H N^2 D)", r"$\Theta(N^2 + N D)$", r"\Theta(H N^2 + H N D)"),
        ("7*H*N*D*max(N, D) + 3*N*D", "2*N**2 + 5*N*D + N", "H*N*max(N, D)"),
    ],
)
def test_growth_is_right_with_any_constants_and_lower_terms(answers):
    assert check.full_width(*answers).outcome is Outcome.RIGHT, check.full_width(*answers)


@pytest.mark.parametrize(
    ("answers", "earned"),
    [
        ((TIME + " + D**3", IN_TURN, AT_ONCE), 2),
        (("H**2*N*D*(N + D)", IN_TURN, AT_ONCE), 2),
        (("H*N**2*D**2", IN_TURN, AT_ONCE), 2),
        ((TIME, "N*D", AT_ONCE), 2),
        ((TIME, "N**2*D", AT_ONCE), 2),
        ((TIME, IN_TURN, "H*N*D + N**2"), 2),
        (("1", "1", "1"), 0),
        (("-" + TIME, "-N**2", "0"), 0),
    ],
)
def test_another_growth_is_wrong_where_it_leads(answers, earned):
    assert check.full_width(*answers).earned == earned


@pytest.mark.parametrize(("N", "D", "H"), [(40, 4, 2), (4, 40, 2), (12, 12, 6), (30, 5, 8)])
def test_the_space_of_heads_is_what_running_them_holds(N, D, H):
    def in_turn(X, heads, Wo):
        Y = np.zeros_like(X)
        for h, (Wq, Wk, Wv) in enumerate(heads):
            Q, K, V = X @ Wq, X @ Wk, X @ Wv
            Y = Y + check._weigh(Q, K) @ V @ Wo[h * D : (h + 1) * D]
        return Y

    def at_once(X, heads, Wo):
        made = [(X @ Wq, X @ Wk, X @ Wv) for Wq, Wk, Wv in heads]
        weights = [check._weigh(Q, K) for Q, K, _ in made]
        mixed = [A @ V for A, (*_, V) in zip(weights, made, strict=True)]
        return np.hstack(mixed) @ Wo

    given = np.ones((N, D)), [tuple(np.ones((D, D)) for _ in range(3))] * H, np.ones((H * D, D))
    for layer, held in ((in_turn, check.held_in_turn), (at_once, check.held_by_heads)):
        peak = check.measure(layer, *given).peak_beyond_inputs
        assert held(N, D, H) / 3 < peak < 3 * held(N, D, H)
