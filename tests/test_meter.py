"""The meter: counts agree with counting by hand, and with scalars that count themselves."""

# ruff: noqa: E741  (l is the length of the sequence in unit 06)

from __future__ import annotations

import contextlib
import copy
import functools
import math
import pickle
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy import zeros as bare_zeros

from selfcheck.formula import FormulaError
from selfcheck.meter import (
    HANDLERS,
    Meter,
    MeteredArray,
    NotCounted,
    NotPolynomial,
    difference,
    estimate,
    growth,
    measure,
    measured,
    meter,
    polynomial,
)

RNG = np.random.default_rng(0)
A, B, C = (RNG.normal(size=shape) for shape in ((3, 4), (4, 5), (5, 2)))
X, Y, v = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=4)


def numbers(*shape):
    return RNG.normal(size=shape)


def softmax(S):
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(1, keepdims=True)


def attention(Q, K, V):
    return softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ V


# -- FLOPs, counted by hand -----------------------------------------------------------------------

BY_HAND = {
    "a product of 3×4 and 4×5": (lambda: (lambda a, b: a @ b, A, B), {"matmul": 15 * 7}),
    "matrix times vector": (lambda: (lambda a, b: a @ b, A, v), {"matmul": 3 * 7}),
    "vector times matrix": (lambda: (lambda a, b: a @ b, v, B), {"matmul": 5 * 7}),
    "vector times vector": (lambda: (lambda a, b: a @ b, v, v), {"matmul": 7}),
    "a batch of products": (
        lambda: (np.matmul, numbers(6, 2, 3), numbers(3, 4)),
        {"matmul": 48 * 5},
    ),
    "dot": (lambda: (np.dot, A, B), {"matmul": 105}),
    "the method dot": (lambda: (lambda a, b: a.dot(b), A, B), {"matmul": 105}),
    "dot with a number": (lambda: (lambda a: np.dot(a, 2.0), A), {"multiply": 12}),
    "inner": (lambda: (np.inner, X, Y), {"matmul": 9 * 7}),
    "outer": (lambda: (np.outer, v, v), {"multiply": 16}),
    "vdot": (lambda: (np.vdot, X, Y), {"matmul": 23}),
    "kron": (lambda: (np.kron, v, v), {"multiply": 16}),
    "tensordot": (lambda: (np.tensordot, numbers(2, 3, 4), numbers(3, 4, 5)), {"matmul": 10 * 23}),
    "tensordot over named axes": (
        lambda: (lambda a, b: np.tensordot(a, b, axes=([1], [0])), A, B),
        {"matmul": 105},
    ),
    "tensordot over no axes": (lambda: (lambda a: np.tensordot(a, a, 0), v), {"multiply": 16}),
    "an outer product by broadcasting": (lambda: (lambda a: a[:, None] * a, v), {"multiply": 16}),
    "adding a row": (lambda: (lambda a, b: a + b, X, v), {"add": 12}),
    "in place": (lambda: (lambda a, b: a.__iadd__(b), X.copy(), v), {"add": 12}),
    "square as a power": (lambda: (lambda a: a**2, v), {"multiply": 4}),
    "np.power of 2": (lambda: (lambda a: np.power(a, 2), v), {"multiply": 4}),
    "root as a power": (lambda: (lambda a: a**0.5, v**2), {"sqrt": 4}),
    "cube": (lambda: (lambda a: a**3, v), {"power": 4}),
    "two to the power": (lambda: (lambda a: 2**a, v), {"power": 4}),
    "sign flip": (lambda: (lambda a: -a, v), {}),
    "absolute value": (lambda: (abs, v), {"compare": 4}),
    "sum": (lambda: (np.sum, X), {"add": 11}),
    "sum over rows": (lambda: (lambda a: a.sum(1, keepdims=True), X), {"add": 9}),
    "sum over no axes": (lambda: (lambda a: a.sum(axis=()), X), {}),
    "sum from an initial value": (lambda: (lambda a: a.sum(initial=1.0), v), {"add": 4}),
    "sum of truth values": (lambda: (lambda a: (a > 0).sum(), v), {"compare": 4, "add": 3}),
    "add.reduce runs over the first axis": (lambda: (np.add.reduce, X), {"add": 8}),
    "add.reduce over all": (lambda: (lambda a: np.add.reduce(a, axis=None), X), {"add": 11}),
    "product": (lambda: (np.prod, v), {"multiply": 3}),
    "mean": (lambda: (lambda a: a.mean(axis=0), X), {"add": 8, "divide": 4}),
    "max": (lambda: (lambda a: a.max(axis=1), X), {"compare": 9}),
    "min": (lambda: (np.min, X), {"compare": 11}),
    "argmax": (lambda: (lambda a: a.argmax(axis=1), X), {"compare": 9}),
    "cumsum": (lambda: (np.cumsum, v), {"add": 3}),
    "cumsum of a flattened array": (lambda: (np.cumsum, X), {"add": 11}),
    "cumsum along an axis": (lambda: (lambda a: np.cumsum(a, axis=0), X), {"add": 8}),
    "add.accumulate": (lambda: (np.add.accumulate, X), {"add": 8}),
    "accumulate along the last axis": (
        lambda: (lambda a: np.maximum.accumulate(a, axis=-1), X),
        {"compare": 9},
    ),
    "variance": (lambda: (np.var, v), {"add": 6, "divide": 2, "subtract": 4, "multiply": 4}),
    "standard deviation of columns": (
        lambda: (lambda a: a.std(axis=0, ddof=1), X),
        {"add": 16, "divide": 8, "subtract": 12, "multiply": 12, "sqrt": 4},
    ),
    "norm": (lambda: (np.linalg.norm, X), {"matmul": 23, "sqrt": 1}),
    "norm of each row": (
        lambda: (lambda a: np.linalg.norm(a, axis=1), X),
        {"multiply": 12, "add": 9, "sqrt": 3},
    ),
    "1-norm": (lambda: (lambda a: np.linalg.norm(a, 1), v), {"compare": 4, "add": 3}),
    "max-norm": (lambda: (lambda a: np.linalg.norm(a, np.inf), v), {"compare": 7}),
    "Frobenius norm": (lambda: (lambda a: np.linalg.norm(a, "fro"), X), {"matmul": 23, "sqrt": 1}),
    "trace": (lambda: (np.trace, X), {"add": 2}),
    "clip": (lambda: (lambda a: np.clip(a, 0, 1), X), {"compare": 24}),
    "clip on one side": (lambda: (lambda a: a.clip(min=0), X), {"compare": 12}),
    "ReLU": (lambda: (lambda a: np.maximum(a, 0), X), {"compare": 12}),
    "a choice by a mask": (lambda: (lambda a: np.where(a > 0, a, 0), X), {"compare": 12}),
    "a choice by numbers": (lambda: (lambda a: np.where(a, a, 0), X), {"compare": 12}),
    "logic on masks": (lambda: (lambda a: ~((a > 0) & (a < 1)), X), {"compare": 24}),
    "any of a mask": (lambda: (lambda a: (a > 0).any(), X), {"compare": 12}),
    "tanh and log": (lambda: (lambda a: np.tanh(np.log1p(a * a)), v),
                     {"multiply": 4, "log": 4, "tanh": 4}),
    "expm1": (lambda: (np.expm1, v), {"exp": 4}),
    "a ufunc's outer": (lambda: (np.subtract.outer, v, v), {"subtract": 16}),
    "where= counts the chosen": (
        lambda: (lambda a: np.exp(a, out=np.zeros(4), where=np.arange(4) < 3), v),
        {"compare": 4, "exp": 3},
    ),
    "softmax of 3×4": (
        lambda: (softmax, X),
        {"compare": 9, "subtract": 12, "exp": 12, "add": 9, "divide": 12},
    ),
    "einsum as a product": (
        lambda: (lambda a, b: np.einsum("ij,jk->ik", a, b), A, B),
        {"matmul": 105},
    ),
    "einsum as a sum": (lambda: (lambda a: np.einsum("ij->i", a), X), {"add": 9}),
    "einsum as a transpose": (lambda: (lambda a: np.einsum("ij->ji", a), X), {}),
    "einsum as a trace": (lambda: (lambda a: np.einsum("ii", a), numbers(4, 4)), {"add": 3}),
    "einsum as an outer product": (
        lambda: (lambda a: np.einsum("i,j->ij", a, a), v),
        {"multiply": 16},
    ),
    "einsum with an ellipsis": (
        lambda: (lambda a, b: np.einsum("...ij,...jk", a, b), numbers(6, 2, 3), numbers(3, 4)),
        {"matmul": 48 * 5},
    ),
    "einsum of three, one loop": (
        lambda: (lambda a, b, c: np.einsum("ij,jk,kl->il", a, b, c), A, B, C),
        {"matmul": 3 * 3 * 4 * 5 * 2 - 6},
    ),
    "einsum in list form": (
        lambda: (lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [0, 2]), A, B),
        {"matmul": 105},
    ),
    "multi_dot from the right": (
        lambda: (lambda a, b, c: np.linalg.multi_dot([a, b, c]), A, B, C),
        {"matmul": 4 * 2 * 9 + 3 * 2 * 7},
    ),
    "multi_dot of vectors": (
        lambda: (lambda a, b: np.linalg.multi_dot([a, b.T @ b, a]), v, X),
        {"matmul": 16 * 5 + 4 * 7 + 7},
    ),
    "columns joined by c_": (lambda: (lambda a: np.c_[a, np.ones(3)], A), {}),
    "numbers joined by r_": (lambda: (lambda a: np.r_[a, 0.0, 1:3], v), {}),
    "pad": (lambda: (lambda a: np.pad(a, ((0, 0), (1, 2)), constant_values=1.0), A), {}),
    "vecdot": (lambda: (np.vecdot, X, Y), {"matmul": 3 * 7}),
    "matvec": (lambda: (np.matvec, A, v), {"matmul": 3 * 7}),
    "vecmat": (lambda: (np.vecmat, v, B), {"matmul": 5 * 7}),
    "matrix_transpose": (lambda: (np.matrix_transpose, A), {}),
    "linalg.matmul": (lambda: (np.linalg.matmul, A, B), {"matmul": 105}),
    "linalg.outer": (lambda: (np.linalg.outer, v, v), {"multiply": 16}),
    "average": (lambda: (np.average, v), {"add": 3, "divide": 1}),
    "weighted average": (
        lambda: (lambda a, w: np.average(a, weights=w), v, np.arange(1.0, 5)),
        {"multiply": 4, "add": 6, "divide": 1},
    ),
    "weighted average of columns": (
        lambda: (lambda a, w: np.average(a, axis=1, weights=w), X, np.arange(1.0, 5)),
        {"multiply": 12, "add": 9 + 3, "divide": 3},
    ),
    "diff": (lambda: (np.diff, v), {"subtract": 3}),
    "second differences along an axis": (
        lambda: (lambda a: np.diff(a, n=2, axis=0), X),
        {"subtract": 8 + 4},
    ),
    "apply_along_axis": (
        lambda: (lambda a: np.apply_along_axis(lambda r: r / r.sum(), 1, a), X),
        {"add": 9, "divide": 12},
    ),
    "apply_along_axis to one number": (
        lambda: (lambda a: np.apply_along_axis(np.max, 0, a), X),
        {"compare": 8},
    ),
    "vectorize": (
        lambda: (lambda a: np.vectorize(lambda x: x * x + 1.0)(a), X),
        {"multiply": 12, "add": 12},
    ),
    "a sum of a list": (lambda: (lambda a: np.sum([a, a], axis=0), X), {"add": 12}),
    "tensordot over an empty list of axes": (
        lambda: (lambda a: np.tensordot(a, a, axes=([], [])), v),
        {"multiply": 16},
    ),
    "a matrix to the fifth": (
        lambda: (lambda a: np.linalg.matrix_power(a, 5), numbers(2, 2)),
        {"matmul": 3 * 12},
    ),
    "cross": (lambda: (lambda a: np.cross(a[:3], a[1:]), v), {"multiply": 6, "subtract": 3}),
    "convolve": (lambda: (np.convolve, v, v), {"multiply": 16, "add": 9}),
    "hypot": (lambda: (np.hypot, v, v), {"multiply": 8, "add": 4, "sqrt": 4}),
    "ptp": (lambda: (np.ptp, v), {"compare": 6, "subtract": 1}),
    "largest row sum": (
        lambda: (lambda a: np.linalg.norm(a, np.inf), X),
        {"compare": 12 + 2, "add": 9},
    ),
    "einsum of three, in pairs": (
        lambda: (lambda a, b, c: np.einsum("ij,jk,kl->il", a, b, c, optimize=True), A, B, C),
        {"matmul": 4 * 2 * 9 + 3 * 2 * 7},
    ),
    "einsum of three, by a given path": (
        lambda: (
            lambda a, b, c: np.einsum(
                "ij,jk,kl->il", a, b, c, optimize=["einsum_path", (0, 1), (0, 1)]
            ),
            A, B, C,
        ),
        {"matmul": 15 * 7 + 6 * 9},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BY_HAND)
def test_flops_equal_the_count_by_hand_and_results_equal_numpy(case):
    make, expected = BY_HAND[case]
    function, *arrays = make()
    plain = function(*(a.copy() for a in arrays))
    m = measure(function, *arrays)
    assert m.flops_by_kind == expected
    assert m.flops == sum(expected.values())
    np.testing.assert_allclose(m.result, plain, rtol=1e-12)
    assert type(m.flops) is int
    assert m.result.dtype == plain.dtype


def test_zero_sizes_cost_nothing():
    assert measure(lambda a, b: a @ b, np.ones((3, 0)), np.ones((0, 2))).flops == 0
    assert measure(lambda a: np.tensordot(a, a, 1), np.ones(0)).flops == 0
    assert measure(lambda a: a.sum() + 0, np.ones(0)).flops == 1
    assert measure(np.cumsum, np.ones(0)).flops == 0


def test_plain_loops_over_numbers_are_counted():
    def dot(x, y):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * y[i]
        return total

    m = measure(dot, v, v)
    assert m.flops_by_kind == {"multiply": 4, "add": 4}
    assert m.read_out == 0
    assert m.result == pytest.approx(v @ v)


def test_comparisons_that_steer_the_program_are_counted():
    m = measure(lambda x: max(x) if x[0] > 0 else min(x), v)
    assert m.flops_by_kind == {"compare": 4}
    assert measure(lambda x: bool(x[0]), v).flops_by_kind == {"compare": 1}
    assert measure(lambda x: 7.0 in x, v).flops_by_kind == {"compare": 4}


# -- curriculum, unit 06 --------------------------------------------------------------------------

l, d_in, d_att, d_out, n, d, N, D = sympy.symbols("l d_in d_att d_out n d N D")


def test_queries_keys_and_values():
    def count(l, d_in, d_att, d_out):
        weights = numbers(d_in, d_att), numbers(d_in, d_att), numbers(d_in, d_out)
        return measure(lambda x, *ws: [x @ w for w in ws], numbers(l, d_in), *weights).flops

    found = polynomial(count, l=1, d_in=1, d_att=1, d_out=1)
    assert sympy.expand(found - l * (2 * d_in - 1) * (2 * d_att + d_out)) == 0


def test_scores_softmax_and_mix():
    scores = polynomial(
        lambda l, d_att: measure(lambda q, k: q @ k.T / np.sqrt(q.shape[1]),
                                 numbers(l, d_att), numbers(l, d_att)).flops, l=2, d_att=1,
    )  # fmt: skip
    assert sympy.expand(scores - (l**2 * (2 * d_att - 1) + l**2)) == 0
    rows = polynomial(lambda l: measure(softmax, numbers(l, l)).flops, l=2)
    assert sympy.expand(rows - (2 * l * (l - 1) + 3 * l**2)) == 0
    mix = polynomial(
        lambda l, d_out: measure(np.matmul, numbers(l, l), numbers(l, d_out)).flops, l=2, d_out=1
    )
    assert sympy.expand(mix - l * d_out * (2 * l - 1)) == 0


def test_feed_forward_and_loss():
    feed = polynomial(
        lambda l, d_out: measure(lambda V, W, w: np.maximum(V @ W.T, 0) @ w,
                                 numbers(l, d_out), numbers(2, d_out), numbers(2)).flops,
        l=1, d_out=1,
    )  # fmt: skip
    assert sympy.expand(feed - l * (2 * (2 * d_out - 1) + 2 + 3)) == 0
    loss = polynomial(
        lambda l: measure(lambda y, z: ((y - z) ** 2).sum(), numbers(l), numbers(l)).flops, l=1
    )
    assert loss == 3 * l - 1


def test_multi_head_attention_costs_4nd2_plus_2n2d_macs():
    def multi_head(X, Wq, Wk, Wv, Wo, heads=2):
        Q, K, V = (np.split(X @ W, heads, axis=1) for W in (Wq, Wk, Wv))
        return np.concatenate([attention(*qkv) for qkv in zip(Q, K, V, strict=True)], axis=1) @ Wo

    def macs(N, D):
        return measure(multi_head, numbers(N, D), *(numbers(D, D) for _ in range(4))).macs

    assert polynomial(macs, N=2, D=(2, 4, 6, 8)) == 4 * N * D**2 + 2 * N**2 * D


# -- memory ---------------------------------------------------------------------------------------


def test_peak_follows_the_life_of_objects():
    def steps(x):  # x: 10 numbers
        y = x + 1  # 20 live
        z = y * 2  # 30 live
        del y  # 20 live
        w = z + 1  # 30 live
        del z, w  # 10 live
        return x[:5] + 1  # 15 live

    m = measure(steps, np.ones(10))
    assert (m.inputs, m.allocated, m.peak, m.peak_beyond_inputs) == (10, 35, 30, 20)
    assert (m.allocated_bytes, m.peak_bytes) == (35 * 8, 30 * 8)
    assert m.flops_by_kind == {"add": 25, "multiply": 10}


def test_a_temporary_is_live_while_it_is_used():
    m = measure(lambda x: np.exp(x - 1) * 2, np.ones(10))
    assert (m.allocated, m.peak) == (30, 30)  # x, x − 1, exp; then x, exp, the result


def test_rebinding_frees_what_nobody_holds():
    def loop(x):
        for _ in range(100):
            x = x + 1
        return x

    m = measure(loop, np.ones(10))
    assert (m.allocated, m.peak) == (1000, 30)


def test_views_cost_nothing_and_keep_their_base_alive():
    def views(x):
        y = x + 0
        row = y[0]
        del y
        return row, x.T, x.reshape(-1), np.broadcast_to(x[0], (50, 5)), x[None, :, ::2]

    m = measure(views, np.ones((4, 5)))
    assert (m.allocated, m.peak, m.largest.size) == (20, 40, 20)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T, lambda x: x.reshape(2, 6), lambda x: x.ravel(), lambda x: x[1:, ::2],
        lambda x: np.swapaxes(x, 0, 1), lambda x: np.broadcast_to(x, (7, 3, 4)),
        lambda x: np.expand_dims(x, 0), lambda x: np.split(x, 2, axis=1), lambda x: x[..., None],
        lambda x: np.diagonal(x), lambda x: np.moveaxis(x, 0, 1), lambda x: np.asarray(x),
        lambda x: np.einsum("ij->ji", x), lambda x: x.transpose(1, 0), lambda x: np.flip(x),
    ],
)  # fmt: skip
def test_views_allocate_nothing(view):
    m = measure(view, X)
    assert (m.flops, m.allocated) == (0, 0)


@pytest.mark.parametrize(
    ("move", "size"),
    [
        (lambda x: x.copy(), 12), (lambda x: x[[0, 2]], 8), (lambda x: x[x[:, 0] > -9], 15),
        (lambda x: np.concatenate([x, x]), 24), (lambda x: np.stack([x, x, x]), 36),
        (lambda x: np.zeros_like(x), 12), (lambda x: np.tril(x), 12), (lambda x: x.flatten(), 12),
        (lambda x: np.zeros((5, 5)), 25), (lambda x: np.array(x), 12),
        (lambda x: x.astype(int), 12),
        (lambda x: np.full((2, 3), x[0, 0]), 7), (lambda x: np.repeat(x, 2), 24),
        (lambda x: copy.deepcopy(x), 12), (lambda x: np.array([x[0], x[1]]), 8),
        (lambda x: np.eye(4), 16), (lambda x: np.vstack([x, np.ones(4)]), 20),
    ],
)  # fmt: skip
def test_copies_move_memory_without_flops(move, size):
    m = measure(move, X)
    assert m.allocated == size
    assert set(m.flops_by_kind) <= {"compare"}
    np.testing.assert_array_equal(m.result, move(X))


def test_in_place_and_out_allocate_nothing():
    def steps(x, y):
        x += y
        x *= 2
        np.exp(x, out=x)
        np.matmul(x, y.T, out=x)
        np.clip(x, 0, 1, out=x)
        x[0] = y[0]
        x[x > 0] /= 2  # the mask and the chosen numbers are new
        return x

    x, y = numbers(3, 3), numbers(3, 3)
    expected = steps(x.copy(), y)
    before = x.copy()
    m = measure(steps, x, y)
    np.testing.assert_allclose(m.result, expected)
    np.testing.assert_array_equal(x, before)  # the meter works on copies
    chosen = m.flops_by_kind["divide"]
    assert m.flops_by_kind == {
        "add": 9, "multiply": 9, "exp": 9, "matmul": 45, "compare": 27, "divide": chosen,
    }  # fmt: skip
    assert m.allocated == 9 + chosen


def test_inputs_handed_over_twice_are_one_array():
    m = measure(lambda q, k: q @ k.T, X, X)
    assert (m.inputs, m.peak, m.largest) == (12, 12 + 9, (12, (3, 4)))


def test_the_largest_array_betrays_an_n_by_n_one():
    n, d = 12, 3
    Q, K, V = (numbers(n, d) for _ in range(3))
    assert measure(attention, Q, K, V).largest == (n * n, (n, n))
    linear = measure(lambda Q, K, V: np.exp(Q) @ (np.exp(K).T @ V), Q, K, V)
    assert linear.largest.size == n * d < n * n


def test_bytes_know_the_type():
    m = measure(lambda x: x > 0, X)
    assert (m.allocated, m.allocated_bytes) == (12, 12)


def test_einsum_paths_hold_their_intermediates():
    m = measure(lambda a, b, c: np.einsum("ij,jk,kl->il", a, b, c, optimize=True), A, B, C)
    assert m.allocated == 4 * 2 + 3 * 2
    naive = measure(lambda a, b, c: np.einsum("ij,jk,kl->il", a, b, c), A, B, C)
    assert naive.allocated == 3 * 2


# -- nothing slips out ----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda n: np.zeros((n, n)), lambda n: np.ones((n, n)), lambda n: np.empty((n, n)),
    lambda n: np.full((n, n), 1.0), lambda n: np.eye(n), lambda n: np.tri(n),
    lambda n: bare_zeros((n, n)), lambda n: np.array([[1.0] * n] * n),
    lambda n: np.arange(n)[:, None] >= np.arange(n), lambda n: np.linspace(0, 1, n * n),
])  # fmt: skip
def test_arrays_created_inside_are_seen(make):
    m = measure(lambda x: make(len(x)) is None, np.ones(6))
    assert m.largest.size == 36


def test_rows_written_into_a_fresh_array_need_no_change():
    def by_rows(x):
        out = np.zeros((len(x), len(x)))
        for i in range(len(x)):
            for j in range(len(x)):
                out[i, j] = x[i] @ x[j]
        return out

    m = measure(by_rows, X)
    np.testing.assert_allclose(m.result, X @ X.T)
    assert m.flops == 9 * 7
    assert m.largest.size == 12
    assert m.read_out == 0


def test_a_plain_array_from_elsewhere_is_counted_when_it_meets_a_metered_one():
    drawn = measure(lambda x: x @ np.random.default_rng(0).normal(size=(4, 50)), X)
    assert (drawn.allocated, drawn.unmetered) == (350, 200)
    assert "numbers from elsewhere" in repr(drawn)


HIDDEN = np.ones((4, 4))


def product_with_a_global(x):
    return x @ HIDDEN @ HIDDEN


class Layer:
    def __init__(self):
        self.weights = np.ones((4, 4))

    def __call__(self, x):
        return x @ self.weights @ self.weights

    def forget(self, x):
        self.weights = self.weights - self.weights
        return x @ self.weights


def test_arrays_that_a_function_reaches_are_inputs_wherever_they_are():
    hidden, layer = np.ones((4, 4)), Layer()

    def with_a_default(x, weights=hidden):
        return x @ weights @ weights

    everywhere = [
        lambda x: x @ hidden @ hidden,
        product_with_a_global,
        lambda x: product_with_a_global(x),
        with_a_default,
        layer,
    ]
    for function in everywhere:
        m = measure(function, X)
        assert (m.flops, m.inputs, m.unmetered) == (2 * 12 * 7, 12 + 16, 0)
    assert type(HIDDEN) is type(hidden) is type(layer.weights) is np.ndarray


def test_what_a_measured_method_does_to_its_object_stays():
    layer = Layer()
    assert measure(layer.forget, X).flops == 16 + 12 * 7
    assert type(layer.weights) is np.ndarray
    assert not layer.weights.any()


def test_what_squares_of_plain_arrays_came_to_is_told():
    def hidden_work(x):
        drawn = np.random.default_rng(0).normal(size=(4, 4))
        return x @ (drawn @ drawn)

    assert measure(hidden_work, X).unmetered == 16
    assert measure(lambda x: np.random.default_rng(0).normal(size=3), X).unmetered == 3


def test_arrays_of_other_libraries_are_refused():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            return np.ones(3)

    with pytest.raises(NotCounted, match="Tensor is not counted"):
        measure(lambda x: x, Tensor())


def test_an_estimate_names_its_conventions_and_a_measurement_refuses():
    A = np.eye(6)
    assert estimate(np.linalg.solve, A, np.ones(6)).flops_by_kind == {
        "solve (2n³/3 + 2n²k)": 144 + 72
    }
    assert estimate(np.sort, np.arange(8.0)).flops == 24
    with pytest.raises(NotCounted):
        measure(np.linalg.solve, A, np.ones(6))


def test_growth_tells_logarithms_and_exponentials():
    assert "as n·log₂n at powers of 2" in growth(lambda n: n * (n - 1).bit_length()).says
    assert "like 2^n" in growth(lambda n: 2**n if n < 100 else None).says
    assert growth(lambda n: n * n + n % 2).says == "n² for n a multiple of 64"


def test_numbers_that_leave_are_reported():
    m = measure(lambda x: float(x.sum()) + x[0, 0].item() + int(x.argmax()), X)
    assert m.read_out == 3
    assert "numbers read out" in repr(m)


ESCAPES = {
    "np.linalg.svd": np.linalg.svd, "np.sort": np.sort, "np.fft.fft": np.fft.fft,
    "np.median": np.median, "np.linalg.inv": np.linalg.inv, "np.modf": np.modf,
    "np.add.reduceat": lambda x: np.add.reduceat(x, [0, 1]), "np.left_shift": lambda x: x << 1,
    "np.bitwise_and of numbers": lambda x: x & 1, "np.logical_not of numbers": np.logical_not,
    "np.divmod": lambda x: divmod(x, 2),
    "np.linalg.norm of order 2 over 2 axes": lambda x: np.linalg.norm(x, 2),
    "np.linalg.norm of order nuc": lambda x: np.linalg.norm(x, "nuc"),
    "np.trace with these options": lambda x: np.trace(x, dtype=float),
    "np.var with these options": lambda x: np.var(x, mean=0),
    "np.einsum with dtype=": lambda x: np.einsum("ij->i", x, dtype=float),
    "ndarray.sort": lambda x: x.sort(),
    "ndarray.flat": lambda x: x.flat, "ndarray.view": lambda x: x.view(),
    "ndarray.tobytes": lambda x: x.tobytes(), "ndarray.data": lambda x: x.data,
    "ndarray.base": lambda x: x.base, "Pickling": pickle.dumps,
    "one is": np.float64,
    "complex": lambda x: x * 1j, "object": lambda x: x + Fraction(1, 2),
    "ndarray of type <U1": lambda x: np.array(["a"]),
    "Writing metered": lambda x: np.exp(x, out=RNG.normal(size=x.shape)),
    "Writing metered numbers": lambda x: np.copyto(RNG.normal(size=x.shape), x),
    "Writing metered numbers into": lambda x: np.copyto(dst=RNG.normal(size=x.shape), src=x),
    "into a plain array": lambda x: np.sum(x, axis=0, out=RNG.normal(size=x.shape[1])),
    "a plain array is": lambda x: np.concatenate([x], 0, RNG.normal(size=x.shape)),
    "Turning a metered array into a": lambda x: RNG.normal(size=x.shape).__setitem__(0, x[0]),
    "plain array": lambda x: operator_iadd(RNG.normal(size=x.shape), x),
    "Turning": lambda x: np.lib.stride_tricks.as_strided(x, (2, 2)),
    "Turning a": lambda x: np.nditer(x), "Turning a metered": lambda x: RNG.permutation(x),
    "Turning a metered array": lambda x: RNG.choice(4, p=x[0]),
}  # fmt: skip


def operator_iadd(a, b):
    a += b
    return a


@pytest.mark.parametrize("what", ESCAPES)
def test_what_cannot_be_counted_is_refused_by_name(what):
    with pytest.raises(NotCounted) as refused:
        measure(ESCAPES[what], numbers(4, 4))
    assert what in str(refused.value)
    assert str(refused.value).endswith(".")


def test_the_buffer_protocol_is_closed():
    with pytest.raises(TypeError):
        measure(memoryview, X)


def test_a_swallowed_refusal_is_raised_all_the_same():
    def sly(x):
        try:
            return np.sort(x)
        except Exception:
            return x + 1

    with pytest.raises(NotCounted, match="sort"):
        measure(sly, X)


def test_every_function_of_numpy_is_counted_or_refused_and_never_silent():
    public = [getattr(np, name) for name in dir(np) if name not in ("char", "rec", "core")]
    unknown = {f for f in public if hasattr(f, "_implementation")} - HANDLERS.keys()
    assert {np.sort, np.convolve, np.interp} <= unknown
    for function in unknown:
        with meter() as m:
            x = m.array(v)
            with contextlib.suppress(NotCounted):
                x.__array_function__(function, (), (x,), {})
                plain = function(v)
                assert m.flops or m.read_out or not changes(plain, v), function


def changes(result, x):
    """Whether there are numbers in the result that are not among those of x."""
    return result is not None and not np.isin(np.asarray(result, dtype=float), [*x, 0, 1]).all()


def test_ufuncs_outside_the_table_are_refused():
    with meter() as m:
        x = m.array(v)
        for ufunc in (np.modf, np.ldexp, np.frexp, np.spacing, np.nextafter):
            with pytest.raises(NotCounted, match=ufunc.__name__):
                ufunc(*[x] * ufunc.nin)


def test_subclasses_with_other_rules_are_refused():
    with pytest.raises(NotCounted, match="MaskedArray"):
        measure(lambda x: x + 1, np.ma.masked_array([1.0, 2.0], mask=[0, 1]))


# -- what leaves, and what comes later ------------------------------------------------------------


LEAVING = {
    "str": (lambda x: str(x[0]), 1), "repr": (repr, 4), "format": (lambda x: f"{x[1]:.17g}", 1),
    "print into text": (lambda x: f"{x}", 4), "tolist": (lambda x: x.tolist(), 4),
    "float": (lambda x: float(x[0]), 1), "float of each": (lambda x: [float(y) for y in x], 4),
    "item": (lambda x: x[0].item(), 1), "math": (lambda x: math.exp(x[0]), 1),
    "sorted": (lambda x: len(sorted(x[:2])), 1), "comparison": (lambda x: bool(x[0] > 0), 1),
    "allclose": (lambda x: np.allclose(x, 0), 1), "membership": (lambda x: 7.0 in x, 1),
}  # fmt: skip


@pytest.mark.parametrize("how", LEAVING)
def test_nothing_leaves_in_silence(how):
    function, count = LEAVING[how]
    assert measure(function, v).read_out == count


def test_rows_and_numbers_that_a_loop_takes_stay_metered():
    m = measure(lambda x: [row * 2 for row in x], X)
    assert (m.read_out, m.flops) == (0, 12)


def test_a_fair_share_of_decisions_may_be_taken():
    m = measure(lambda x: max(x) if x[0] > 0 else min(x), v)
    assert (m.read_out, m.decisions, m.left) == (4, 4, 0)


class Later:
    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return self.x @ self.x.T


class Sequence:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i] * 2


@pytest.mark.parametrize(
    ("function", "flops"),
    [
        (lambda x: Later(x), 9 * 7), (lambda x: [Later(x), x], 9 * 7), (lambda x: Sequence(x), 12),
        (lambda x: (row + 1 for row in x), 12), (lambda x: map(lambda row: row * 3, x), 12),
        (lambda x: {"y": (row @ row for row in x)}, 3 * 7),
    ],
)  # fmt: skip
def test_a_result_that_computes_later_is_computed_while_it_is_counted(function, flops):
    assert measure(function, X).flops == flops


def test_the_largest_arrays_are_named_with_the_lines_that_made_them():
    def both(x):
        weights = x @ x.T
        return np.eye(len(x)) @ weights + 1.0

    made = measure(both, numbers(9, 2)).arrays
    assert {(m.shape, m.how) for m in made} == {((9, 9), how) for how in ("matmul", "eye", "add")}
    assert str(made[0]) == "9×9 by matmul in `weights = x @ x.T`"


# -- ordinary code runs, NumPy is left as it was --------------------------------------------------


def test_scalars_never_change_behind_their_copies():
    def trail(x):
        total, seen = x[0], []
        for i in range(1, len(x)):
            seen.append(total)
            total += x[i]
        first = x[0]
        x[0] = 100.0
        return [*seen, first]

    x = np.array([1.0, 2.0, 3.0])
    assert [float(s) for s in measure(trail, x).result] == [1.0, 3.0, 1.0]


def test_code_that_asks_for_an_ndarray_gets_one():
    assert measure(
        lambda x: isinstance(x, np.ndarray) and isinstance(RNG, np.ndarray) < 1, X
    ).result


def test_nested_arguments_and_results_are_metered():
    heads = [(A, B), {"W": v}]
    m = measure(lambda hs, *, bias: {"y": (hs[0][0] @ hs[0][1], hs[1]["W"] + bias)}, heads, bias=v)
    assert m.flops_by_kind == {"matmul": 105, "add": 4}
    assert m.inputs == 12 + 20 + 4
    assert type(m.result["y"][0]) is np.ndarray


def test_numpy_and_the_globals_are_restored_even_after_an_error():
    before = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
    mine = np
    with pytest.raises(ZeroDivisionError):
        measure(lambda x: 1 // 0, X)
    with meter():
        assert type(np.zeros(3)) is type(bare_zeros(3)) is MeteredArray
    with pytest.raises(ZeroDivisionError), meter():
        _ = 1 // 0
    assert np is mine is sys.modules["numpy"]
    assert bare_zeros is np.zeros
    assert all(getattr(np, name) is value for name, value in before.items())
    assert type(np.zeros(3)) is np.ndarray


def test_other_threads_keep_plain_numpy():
    found = []
    with meter():
        thread = threading.Thread(target=lambda: found.append(np.zeros(3)))
        thread.start()
        thread.join()
    assert type(found[0]) is np.ndarray


def test_wrapped_and_closed_over_functions_are_measured_alike():
    code = "import numpy as np\ndef f(x, k=1):\n    return np.zeros((9, 9)) if k else x\n"
    space: dict = {}
    exec(code, space)
    f = space["f"]

    class Layer:
        __call__ = f

    for variant in (f, lambda x: f(x), functools.partial(f, k=2), functools.lru_cache(f)):
        assert measure(lambda x, g=variant: f(x), X).largest.size == 81
        if not hasattr(variant, "cache_info"):  # a cache needs hashable arguments
            assert measure(variant, X).largest.size == 81
    assert measure(Layer(), 1).largest.size == 81
    assert type(f(X)) is np.ndarray


def test_one_meter_at_a_time_and_each_only_once():
    with meter() as m:
        with pytest.raises(RuntimeError, match="running already"):
            measure(np.sum, X)
        x = m.array(X)
    with pytest.raises(RuntimeError, match="measures once"), m:
        pass
    with pytest.raises(RuntimeError, match="inside the"):
        m.array(X)
    assert measure(lambda a: (a + x).sum(), X).flops_by_kind == {"add": 12 + 11}


def test_after_the_block_a_metered_array_is_ordinary_data():
    with meter() as m:
        x = m.array(X)
        y = x + 1
    flops = m.flops
    np.testing.assert_array_equal(np.asarray(y), X + 1)
    np.testing.assert_array_equal(y * 2, (X + 1) * 2)
    assert type(y.sum()) is np.float64
    assert type(y[0]) is np.ndarray
    np.testing.assert_array_equal(np.sort(y), np.sort(X + 1))
    np.testing.assert_array_equal(m.plain([y])[0], X + 1)
    assert (m.flops, m.read_out) == (flops, 0)


def test_a_meter_shows_as_a_stable_table():
    m = measure(attention, *(np.ones((5, 3)) for _ in range(3)))
    assert repr(m) == (
        "add                    20\n"
        "compare                20\n"
        "divide                 50\n"
        "exp                    25\n"
        "matmul                260\n"
        "subtract               25\n"
        "FLOPs                 400\n"
        "MACs                  150\n"
        "numbers handed in      45\n"
        "numbers allocated     150\n"
        "peak of live numbers  125\n"
        "numbers read out        0\n"
        "largest array         5×5"
    )
    assert m._repr_html_().count("<tr>") == 13


# -- a referee that knows nothing of the tables: scalars that count themselves --------------------


class Scalar:
    """A number in an object array; every operation on it is counted where it happens."""

    count = 0

    def __init__(self, x):
        self.x = x

    def _do(self, other, operation):
        Scalar.count += 1
        return Scalar(operation(self.x, other.x if isinstance(other, Scalar) else other))

    def _ask(self, other, operation):
        return bool(self._do(other, operation).x)

    def conjugate(self):
        return self

    def exp(self):
        return self._do(0, lambda x, _: math.exp(x))

    def sqrt(self):
        return self._do(0, lambda x, _: math.sqrt(x))


for _name, _op in {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
}.items():  # fmt: skip
    setattr(Scalar, f"__{_name}__", lambda a, b, op=_op: a._do(b, op))
    setattr(Scalar, f"__r{_name}__", lambda a, b, op=_op: a._do(b, lambda x, y: op(y, x)))
for _name, _op in {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}.items():  # fmt: skip
    setattr(Scalar, f"__{_name}__", lambda a, b, op=_op: a._ask(b, op))


def counted_by_scalars(function, *arrays):
    lifted = [
        np.array([Scalar(x) for x in a.ravel()], dtype=object).reshape(a.shape) for a in arrays
    ]
    Scalar.count = 0
    result = function(*lifted)
    values = [s.x for s in np.asarray(result, dtype=object).ravel()]
    return Scalar.count, np.array(values).reshape(np.shape(result))


sizes = st.integers(1, 4)
PROGRAMS = [
    lambda a, b, w: np.exp(a @ b.T - (a @ b.T).max(axis=1, keepdims=True)) @ b,
    lambda a, b, w: (a[:, None] - w) * w + a.sum(axis=0) / 2,
    lambda a, b, w: np.dot(a, w) * np.inner(a, w) + np.sqrt(np.exp(a).sum(1)),
    lambda a, b, w: np.cumsum(a, axis=0)[1:] + np.outer(w, w)[0],
    lambda a, b, w: np.maximum(a, w).mean(axis=0) - np.minimum(w, b),
    lambda a, b, w: np.tensordot(a, b, axes=([1], [1])) / np.exp(np.vdot(w, w) / 9),
    lambda a, b, w: np.concatenate([a, b]).max(axis=0) + np.prod(b, axis=0) - np.trace(a),
    lambda a, b, w: np.where(np.ones(a.shape) > 2, a, a[:1] * 3).T @ a,
]


@given(sizes, sizes, sizes, st.sampled_from(range(len(PROGRAMS))), st.integers(0, 2**32 - 1))
@settings(deadline=None, derandomize=True, max_examples=120)
def test_counts_equal_those_of_scalars_that_count_themselves(p, q, k, which, seed):
    rng = np.random.default_rng(seed)
    arrays = rng.normal(size=(p, k)), rng.normal(size=(q, k)), rng.normal(size=k)
    m = measure(PROGRAMS[which], *arrays)
    expected, values = counted_by_scalars(PROGRAMS[which], *arrays)
    free = p * k if which == 7 else 0  # the mask of ones is no Scalar
    assert m.flops == expected + free
    np.testing.assert_allclose(m.result, values, rtol=1e-9)
    np.testing.assert_allclose(m.result, PROGRAMS[which](*arrays), rtol=1e-12)


TERMS = st.sampled_from(["ij", "jk", "k", "ik", "i", "kj", "ii", ""])


@given(st.lists(TERMS, min_size=1, max_size=3), st.data())
@settings(deadline=None, derandomize=True, max_examples=80)
def test_einsum_agrees_with_numpy_for_random_subscripts(terms, data):
    letters = sorted(set("".join(terms)))
    size = {c: data.draw(st.integers(1, 4)) for c in letters}
    out = "".join(data.draw(st.permutations(letters)))[: data.draw(st.integers(0, len(letters)))]
    arrays = [np.random.default_rng(1).normal(size=[size[c] for c in t]) for t in terms]
    subscripts = ",".join(terms) + "->" + out
    loop, kept = math.prod(size.values()), math.prod(size[c] for c in out)
    for optimize in (False, True, "optimal"):
        m = measure(lambda *xs: np.einsum(subscripts, *xs, optimize=optimize), *arrays)  # noqa: B023
        np.testing.assert_allclose(m.result, np.einsum(subscripts, *arrays), rtol=1e-9, atol=1e-12)
        if not optimize:
            assert m.flops == loop * (len(terms) - 1) + loop - kept


SHAPES = st.sampled_from([(), (1,), (3,), (2, 3), (1, 3), (2, 1), (4, 2, 3), (4, 1, 1), (0, 1, 1)])
BINARY = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.less, np.power, np.equal]


@given(SHAPES, SHAPES, st.sampled_from(BINARY))
@settings(deadline=None, derandomize=True, max_examples=80)
def test_broadcasting_counts_the_numbers_that_come_out(left, right, ufunc):
    assume(4 not in left + right or 0 not in left + right)
    a, b = np.full(left, 1.5), np.full(right, 2.5)
    m = measure(ufunc, a, b)
    np.testing.assert_array_equal(m.result, ufunc(a, b))
    size = math.prod(np.broadcast_shapes(left, right))
    assert (m.flops, m.allocated) == (size, size)


# -- formulas -------------------------------------------------------------------------------------


def test_the_polynomial_of_attention_is_found():
    found = polynomial(
        lambda n, d: measure(attention, *(numbers(n, d) for _ in range(3))).flops, n=2, d=1
    )
    assert found == 4 * n**2 * d - n * d + 5 * n**2 - 2 * n


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(-9, 9)), max_size=5))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_a_planted_polynomial_is_recovered_exactly(terms):
    planted = sum((c * n**i * d**j for i, j, c in terms), sympy.Integer(0))
    assert polynomial(lambda n, d: sum(c * n**i * d**j for i, j, c in terms), n=3, d=2) == planted


def test_rational_coefficients_are_exact():
    assert polynomial(lambda n: n * (n - 1) * (n - 2) // 6, n=3) == sympy.expand(
        n * (n - 1) * (n - 2) / 6
    )


@pytest.mark.parametrize(
    "count",
    [
        lambda n: n * n.bit_length(), lambda n: n * round(1000 * math.log(n)), lambda n: n**4,
        lambda n: n // 2, lambda n: n if n < 10 else 2 * n, lambda n: 2**n,
    ],
)  # fmt: skip
def test_growth_that_is_no_polynomial_is_said_so(count):
    with pytest.raises(
        NotPolynomial, match="not a polynomial of degree at most 3 in n: it would be"
    ):
        polynomial(count, n=3)


@pytest.mark.parametrize(
    ("count", "degree", "says"),
    [
        (lambda n: 10 * n**2 + 2880 * n, 2, "10·n² + 2,880·n"),
        (lambda n: 2880 * n + 7, 1, "2,880·n + 7"),
        (lambda n: n * (n - 1) // 2, 2, "n²/2 − n/2"),
        (lambda n: 12, 0, "12"),
        (lambda n: n**3 - 10 * n**2, 3, "n³ − 10·n²"),
        (lambda n: n * min(n, 64), 1, "64·n for n ≥ 64"),
        (lambda n: 64 * 64 * -(-n // 64), 1, "64·n for n a multiple of 64"),
        (lambda n: 5 * n if n < 100 else n * n, 2, "n² for n ≥ 128"),
    ],
)
def test_growth_is_an_exact_polynomial(count, degree, says):
    found = growth(count)
    assert (found.degree, found.says) == (degree, says)


@pytest.mark.parametrize("count", [lambda n: n * n.bit_length(), lambda n: n * math.isqrt(n)])
def test_growth_between_the_powers_is_not_taken_for_the_lower_one(count):
    found = growth(count)
    assert found.degree == 2
    assert found.says.startswith("no polynomial in n: ")


def test_growth_in_one_of_two_sizes_is_checked_alone_and_together():
    with pytest.raises(NotPolynomial):
        polynomial(lambda n, d: n**2 * d, n=1, d=1)
    with pytest.raises(NotPolynomial):
        polynomial(lambda n, d: n + d**2, n=1, d=1)


def test_bad_questions_get_a_sentence():
    with pytest.raises(ValueError, match="whole number"):
        polynomial(lambda n: n / 2, n=1)
    with pytest.raises(ValueError, match="at least two sizes"):
        polynomial(lambda n: n, n=(3,))
    with pytest.raises(FormulaError, match="uses q"):
        difference(n**2, "n*q")


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        (4 * n**2 * d + n**2, "Your formula is exact."),
        ("n**2*(4*d + 1)", "Your formula is exact."),
        ("4*n^2*d", "Your formula is too small: it lacks exactly n²."),
        ("4*n**2*d + 3*n**2 + n", "Your formula is too large: it has exactly 2·n² and n too much."),
        (4 * n * d**2 + n**2, "Your formula lacks 4·d·n², and has 4·d²·n too much."),
        (
            sympy.Symbol("n", positive=True) ** 2,
            "Your formula is too small: it lacks exactly 4·d·n².",
        ),
        ("0.5*n**2 + 4*d*n**2", "Your formula is too small: it lacks exactly n²/2."),
        (4 * n**2 * d + n**2 - l, "Your formula is too small: it subtracts exactly l too much."),
        (4 * n**2 * d + n**12, "Your formula lacks n², and has n¹² too much."),
    ],
)
def test_the_difference_is_named(formula, sentence):
    found = difference(4 * n**2 * d + n**2, formula)
    assert str(found) == sentence == repr(found)
    assert bool(found) == (sentence != "Your formula is exact.")


def test_what_is_not_subtracted_is_not_called_too_much():
    count = 2 * n**2 * d - n * d
    assert str(difference(count, 2 * n**2 * d)) == (
        "Your formula is too large: it does not subtract exactly d·n."
    )
    assert str(difference(count, n**2)) == (
        "Your formula lacks 2·d·n², has n² too much, and does not subtract d·n."
    )
    assert "has exactly 2·d·n too much" in str(difference(count, 2 * n**2 * d + n * d))


def test_numbers_differ_too():
    assert str(difference(12, 10)) == "Your formula is too small: it lacks exactly 2."
    assert not difference(3 * 10**15, 3 * 10**15)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(-9, 9).filter(bool))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_a_planted_term_is_found(i, j, c):
    true = 3 * n**2 * d + n - 1
    found = difference(true, true - c * n**i * d**j)
    assert found
    assert found.missing - found.extra == c * n**i * d**j
    assert 0 in (found.missing, found.extra)


def scattered(rows):
    total = np.zeros((3, 2))
    np.add.at(total, np.array([0, 1, 1]), rows)
    return total


CHOSEN = np.array([[True, False, True, True], [False] * 4, [True] * 4])


@pytest.mark.parametrize(
    ("program", "shape", "flops"),
    [
        (lambda a: np.sum(a, axis=1, where=CHOSEN), (3, 4), 2 + 0 + 3),
        (lambda a: np.mean(a, where=CHOSEN[0]), (4,), 2 + 1),
        (lambda a: np.max(a, where=CHOSEN[0], initial=0), (4,), 3),
        (lambda a: np.add.reduce(a, where=CHOSEN[0]), (4,), 2),
        (scattered, (3, 2), 6),  # once for every index, named twice or not
    ],
)
def test_chosen_and_scattered_numbers_are_counted_one_by_one(program, shape, flops):
    x = np.arange(1.0, 1 + math.prod(shape)).reshape(shape)
    m = measure(program, x)
    assert m.flops == flops
    assert np.allclose(m.result, program(x))


@pytest.mark.parametrize(
    ("count", "degree"),
    [
        (lambda n: 3 * (1 << (n - 1).bit_length()), 1),  # padded to a power of two
        (lambda n: (1 << (n - 1).bit_length()) ** 2, 2),
        (lambda n: 1000 * math.ceil(n / 100), 1),  # in blocks of a hundred
        (lambda n: n * min(n, 150), 1),
        (lambda n: n * n // 7, 2),
        (lambda n: n * n.bit_length(), 2),
    ],
)
def test_padding_and_rounding_do_not_raise_the_degree(count, degree):
    assert growth(count).degree == degree


def test_a_meter_may_stop_after_so_many_steps():
    m = Meter()
    m.most_steps = 10
    with pytest.raises(NotCounted, match="So long a loop"):
        measured(m, lambda a: [x * 2 for x in a], (np.ones(6),), {})
    assert measure(lambda a: [x * 2 for x in a], np.ones(5)).steps == 10
