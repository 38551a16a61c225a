"""Reverse mode on a page: a program of NumPy arrays that knows the way back.

A node holds a value, the nodes that it was made from, and how a gradient is pulled back to them.
Unit 12 derives the pulls, and a test compares each with finite differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from selfcheck.reserved import answer

from . import attention as forward

Pull = Callable[[np.ndarray], tuple[Any, ...]]
NOTHING_YET = 0.0  # the gradient before anything was pulled back


class Node:
    """A value, its parents, and the pull: its own gradient to those of the parents."""

    def __init__(self, value: Any, parents: tuple[Node, ...] = (), pull: Pull | None = None):
        self.value, self.parents, self.pull = np.asarray(value), parents, pull
        self.gradient: Any = NOTHING_YET

    def __add__(self, other: Any) -> Node:
        other = node(other)
        return Node(self.value + other.value, (self, other), lambda g: (g, g))

    def __sub__(self, other: Any) -> Node:
        other = node(other)
        return Node(self.value - other.value, (self, other), lambda g: (g, -g))

    def __mul__(self, other: Any) -> Node:
        other = node(other)
        a, b = self.value, other.value
        return Node(a * b, (self, other), lambda g: (g * b, g * a))

    def __matmul__(self, other: Node) -> Node:
        """A product with a matrix, or of two stacks of matrices of equal shape."""
        a, b = self.value, other.value
        return Node(a @ b, (self, other), lambda g: (g @ _turned(b), _summed_product(a, g, b.ndim)))


def node(value: Any) -> Node:
    """The node itself, or a constant as a node without parents."""
    return value if isinstance(value, Node) else Node(value)


@answer
def backward(root: Node) -> None:
    """The gradient of one number, the root, by every node it was made from."""
    root.gradient = np.ones_like(root.value)
    for now in reversed(list(_in_order(root))):
        if now.pull is not None:
            for parent, part in zip(now.parents, now.pull(now.gradient), strict=True):
                part = _unbroadcast(part, parent.value.shape)
                first = parent.gradient is NOTHING_YET
                parent.gradient = part if first else parent.gradient + part


@answer
def gradients(
    loss: Callable[[dict[str, Node]], Node], parameters: Mapping[str, np.ndarray]
) -> tuple[float, dict[str, np.ndarray]]:
    """The loss at these parameters, and its gradient with respect to each of them."""
    nodes = {name: Node(value) for name, value in parameters.items()}
    root = loss(nodes)
    backward(root)
    shaped = {name: np.broadcast_to(n.gradient, n.value.shape) for name, n in nodes.items()}
    return float(root.value), shaped


def _in_order(root: Node) -> Iterator[Node]:
    """Every node once, and after all that it was made from."""
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        now, ready = stack.pop()
        if ready:
            yield now
        elif id(now) not in seen:
            seen.add(id(now))
            stack += [(now, True), *((parent, False) for parent in now.parents)]


def _unbroadcast(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """What was copied on the way forward is added up on the way back."""
    if np.shape(g) == shape:
        return g
    g = g.sum(axis=tuple(range(np.ndim(g) - len(shape))))
    copied = tuple(axis for axis, size in enumerate(shape) if size == 1 != g.shape[axis])
    return g.sum(axis=copied, keepdims=True) if copied else g


def _turned(a: np.ndarray) -> np.ndarray:
    return np.swapaxes(a, -1, -2)


def _summed_product(a: np.ndarray, g: np.ndarray, ndim: int) -> np.ndarray:
    """aᵀg; where one matrix met a whole stack, summed over the stack."""
    if ndim > 2 or a.ndim == 2:
        return _turned(a) @ g
    return a.reshape(-1, a.shape[-1]).T @ g.reshape(-1, g.shape[-1])


# -- shapes and tables ----------------------------------------------------------------------------


def reshape(a: Node, *shape: int) -> Node:
    """The same numbers in another shape."""
    return Node(a.value.reshape(shape), (a,), lambda g: (g.reshape(a.value.shape),))


def swap(a: Node, axis: int, other: int) -> Node:
    """Two axes exchanged."""
    return Node(np.swapaxes(a.value, axis, other), (a,), lambda g: (np.swapaxes(g, axis, other),))


def take(table: Node, index: np.ndarray) -> Node:
    """Rows of a table; a row that is taken twice gets both gradients."""

    def pull(g: np.ndarray) -> tuple[np.ndarray]:
        hot = np.eye(len(table.value), dtype=g.dtype)[index.ravel()]
        return (hot.T @ g.reshape(-1, g.shape[-1]),)

    return Node(table.value[index], (table,), pull)


def mean(a: Node) -> Node:
    """The mean of all entries."""
    return Node(a.value.mean(), (a,), lambda g: (np.full_like(a.value, g / a.value.size),))


# -- activations ----------------------------------------------------------------------------------


def relu(a: Node) -> Node:
    """max(a, 0)."""
    return Node(np.maximum(a.value, 0), (a,), lambda g: (g * (a.value > 0),))


def tanh(a: Node) -> Node:
    """tanh(a), with the derivative 1 − tanh²."""
    y = np.tanh(a.value)
    return Node(y, (a,), lambda g: (g * (1 - y**2),))


def sigmoid(a: Node) -> Node:
    """1/(1 + exp(−a)), with the derivative σ(1 − σ)."""
    y = (1 + np.tanh(a.value / 2)) / 2
    return Node(y, (a,), lambda g: (g * y * (1 - y),))


def elu_plus_one(a: Node) -> Node:
    """The feature map φ of unit 08; below zero it is its own derivative."""
    y = forward.elu_plus_one(a.value)
    return Node(y, (a,), lambda g: (g * np.minimum(y, 1),))


# -- the parts of a transformer -------------------------------------------------------------------


@answer
def layer_norm(x: Node, gain: Node, shift: Node, epsilon: float = 1e-5) -> Node:
    """Each row less its mean, over its standard deviation, times a gain, plus a shift."""
    centered = x.value - x.value.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + epsilon)
    normed = centered / sigma

    def pull(g: np.ndarray) -> tuple[np.ndarray, ...]:
        h = g * gain.value
        along = (h * normed).mean(axis=-1, keepdims=True)
        d_x = (h - h.mean(axis=-1, keepdims=True) - normed * along) / sigma
        return d_x, g * normed, g

    return Node(normed * gain.value + shift.value, (x, gain, shift), pull)


@answer
def causal_attention(q: Node, k: Node, v: Node) -> Node:
    """Softmax attention in which token i sees j ≤ i (unit 04)."""
    n, d = q.value.shape[-2:]
    scale = q.value.dtype.type(1 / np.sqrt(d))
    scores = np.where(forward.causal_mask(n), scale * (q.value @ _turned(k.value)), -np.inf)
    weights = forward.softmax(scores)

    def pull(g: np.ndarray) -> tuple[np.ndarray, ...]:
        d_weights = g @ _turned(v.value)
        mean = (d_weights * weights).sum(axis=-1, keepdims=True)
        d_scores = weights * (d_weights - mean) * scale
        return d_scores @ k.value, _turned(d_scores) @ q.value, _turned(weights) @ g

    return Node(weights @ v.value, (q, k, v), pull)


@answer
def causal_linear_attention(q: Node, k: Node, v: Node) -> Node:
    """Linear attention in which token i sees j ≤ i (unit 10); q and k are features, above zero.

    A 1 behind every value makes the row sums a column of their own. Running sums lead to the same
    numbers (unit 12); for texts as short as ours, products with a mask are faster.
    """
    values = np.concatenate([v.value, np.ones_like(v.value[..., :1])], axis=-1)
    mask = forward.causal_mask(q.value.shape[-2])
    similarity = q.value @ _turned(k.value) * mask
    sums = similarity @ values
    y, total = sums[..., :-1] / sums[..., -1:], sums[..., -1:]

    def pull(g: np.ndarray) -> tuple[np.ndarray, ...]:
        d_sums = np.concatenate([g, -(g * y).sum(axis=-1, keepdims=True)], axis=-1) / total
        d_similarity = d_sums @ _turned(values) * mask
        d_values = _turned(similarity) @ d_sums
        return d_similarity @ k.value, _turned(d_similarity) @ q.value, d_values[..., :-1]

    return Node(y, (q, k, v), pull)


@answer
def cross_entropy(logits: Node, targets: np.ndarray) -> Node:
    """The mean of −log p(target), with p the softmax of the logits."""
    p = forward.softmax(logits.value)
    of_targets = np.take_along_axis(p, targets[..., None], axis=-1)
    tiny = np.finfo(p.dtype).tiny

    def pull(g: np.ndarray) -> tuple[np.ndarray]:
        hot = np.arange(p.shape[-1]) == targets[..., None]
        return (g * (p - hot) / targets.size,)

    return Node(-np.log(np.maximum(of_targets, tiny)).mean(), (logits,), pull)
