"""Reverse mode: every operation's gradient is what finite differences measure."""

import numpy as np
import pytest

from course_utils import autodiff as ad
from course_utils.attention import causal_attention, causal_linear_attention, elu_plus_one
from course_utils.rnn import finite_differences

rng = np.random.default_rng(3)


def draw(*shape):
    return rng.normal(size=shape)


def positive(*shape):
    return rng.uniform(0.2, 2.0, shape)


INDEX = np.array([[0, 2, 2], [1, 0, 2]])
OPERATIONS = {
    "add": (lambda a, b: a + b, draw(2, 3), draw(2, 3)),
    "add a row": (lambda a, b: a + b, draw(4, 2, 3), draw(3)),
    "add a column": (lambda a, b: a + b, draw(2, 3), draw(2, 1)),
    "subtract": (lambda a, b: a - b, draw(2, 3), draw(3)),
    "multiply": (lambda a, b: a * b, draw(2, 3), draw(2, 1)),
    "multiply by itself": (lambda a: a * a, draw(2, 3)),
    "multiply by a number": (lambda a: a * 3.0 + 1.0, draw(2, 3)),
    "matmul": (lambda a, b: a @ b, draw(2, 3), draw(3, 4)),
    "matmul of a stack with a matrix": (lambda a, b: a @ b, draw(5, 2, 3), draw(3, 4)),
    "matmul of two stacks": (lambda a, b: a @ b, draw(5, 2, 3), draw(5, 3, 4)),
    "reshape": (lambda a: ad.reshape(a, 3, -1), draw(2, 6)),
    "swap": (lambda a: ad.swap(a, 0, 2), draw(2, 3, 4)),
    "take": (lambda a: ad.take(a, INDEX), draw(3, 4)),
    "mean": (lambda a: ad.mean(a), draw(3, 4)),
    "relu": (ad.relu, draw(3, 4)),
    "tanh": (ad.tanh, draw(3, 4)),
    "sigmoid": (ad.sigmoid, draw(3, 4)),
    "elu_plus_one": (ad.elu_plus_one, draw(3, 4)),
    "layer_norm": (ad.layer_norm, draw(2, 3, 4), draw(4), draw(4)),
    "causal_attention": (ad.causal_attention, draw(2, 5, 3), draw(2, 5, 3), draw(2, 5, 4)),
    "causal_linear_attention": (
        ad.causal_linear_attention, positive(2, 5, 3), positive(2, 5, 3), draw(2, 5, 4),
    ),
    "cross_entropy": (lambda a: ad.cross_entropy(a, INDEX), draw(2, 3, 4)),
    "a node used twice": (lambda a, b: ad.tanh(a @ b) + a * ad.sigmoid(a), draw(3, 3), draw(3, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_gradient_is_what_finite_differences_measure(name):
    operation, *arrays = OPERATIONS[name]
    nodes = [ad.Node(array) for array in arrays]
    weights = np.random.default_rng(0).normal(size=operation(*nodes).value.shape)
    ad.backward(total(operation(*nodes), weights))
    for k, (array, node) in enumerate(zip(arrays, nodes, strict=True)):

        def value(flat, k=k, array=array):
            given = [*arrays[:k], flat.reshape(array.shape), *arrays[k + 1 :]]
            return (operation(*map(ad.Node, given)).value * weights).sum()

        measured = finite_differences(value, array.ravel()).reshape(array.shape)
        assert np.allclose(node.gradient, measured, atol=1e-8)


def total(output, weights):
    """Σ weights · output, as one number."""
    return ad.mean(output * weights) * float(weights.size)


def test_forward_values_are_those_of_the_units_before():
    q, k, v = draw(3, 2, 6, 4)
    nodes = [ad.Node(a) for a in (q, k, v)]
    assert np.allclose(ad.causal_attention(*nodes).value, causal_attention(q, k, v))
    features = [ad.Node(elu_plus_one(a)) for a in (q, k)]
    linear = ad.causal_linear_attention(*features, nodes[2])
    assert np.allclose(linear.value, causal_linear_attention(q, k, v))


def test_a_node_that_the_loss_does_not_need_has_gradient_zero():
    loss, found = ad.gradients(lambda P: ad.mean(P["a"]), {"a": np.ones(2), "b": np.ones(3)})
    assert loss == 1
    assert found["b"].tolist() == [0, 0, 0]


def test_a_chain_may_be_longer_than_pythons_stack():
    a = x = ad.Node(np.ones(1))
    for _ in range(5000):
        a = a + 1.0
    ad.backward(ad.mean(a))
    assert x.gradient == 1


def test_single_precision_stays_single():
    arrays = [a.astype(np.float32) for a in (positive(4, 3), positive(4, 3), draw(4, 2))]
    for attend in (ad.causal_attention, ad.causal_linear_attention):
        nodes = [ad.Node(a) for a in arrays]
        ad.backward(ad.mean(attend(*nodes)))
        assert {n.gradient.dtype for n in nodes} == {np.dtype(np.float32)}
