"""Attention beside PyTorch's, and the forms of it beside each other as n grows.

PyTorch is a referee, never a dependency. Times are those of the processor on one thread, so that
other programs disturb little.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.core import Report, ratio, side_by_side
from course_utils.attention import (
    attention,
    attention_weights,
    causal_attention,
    causal_linear_attention,
    causal_mask,
    linear_attention,
    multi_head,
    separable_attention,
)

AGREEMENT = 1e-10
rng = np.random.default_rng(0)

# -- agreement in float64 --------------------------------------------------------------------------


def largest_differences(torch: Any) -> dict[str, float]:
    """Each form beside PyTorch's, on a batch, as the largest absolute difference."""
    sdpa = torch.nn.functional.scaled_dot_product_attention
    Q, K, V = (rng.normal(size=(3, 2, k, size)) for k, size in [(7, 5), (11, 5), (11, 4)])
    mask = rng.random((7, 11)) < 0.6
    mask[:, 0] = True
    S = rng.normal(size=(3, 9, 9))
    q, k, v, s = map(torch.from_numpy, (Q, K, V, S))
    huge = 1e4 * Q[..., :1], K[..., :1]
    pairs = {
        "attention": (attention(Q, K, V), sdpa(q, k, v)),
        "attention with a mask": (
            attention(Q, K, V, mask),
            sdpa(q, k, v, attn_mask=torch.from_numpy(mask)),
        ),
        "causal attention": (causal_attention(S, S, S), sdpa(s, s, s, is_causal=True)),
        "attention, scores of ±1e4": (
            attention(*huge, V),
            sdpa(*map(torch.from_numpy, huge), v),
        ),
    }
    for name, tokens in {"multi-head": None, "multi-head, causal": causal_mask(6)}.items():
        pairs[name] = multi_head_pair(torch, tokens)
    pairs["weights of a head"] = weights_pair(torch)
    return {name: np.abs(ours - theirs.numpy()).max() for name, (ours, theirs) in pairs.items()}


def torch_heads(torch: Any, d: int, T: int):
    """PyTorch's multi-head module without biases, and its weights cut into our heads and W^O."""
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(d, T, bias=False, batch_first=True, dtype=torch.float64)
    Wq, Wk, Wv = module.in_proj_weight.detach().numpy().reshape(3, d, d).transpose(0, 2, 1)
    heads = list(zip(*(np.split(W, T, axis=1) for W in (Wq, Wk, Wv)), strict=True))
    return module, heads, module.out_proj.weight.detach().numpy().T


def multi_head_pair(torch: Any, mask: np.ndarray | None) -> tuple:
    module, heads, Wo = torch_heads(torch, d=8, T=4)
    X = rng.normal(size=(2, 6, 8))
    x = torch.from_numpy(X)
    hidden = None if mask is None else torch.from_numpy(~mask)  # there, True hides
    with torch.no_grad():
        theirs, _ = module(x, x, x, attn_mask=hidden, need_weights=False)
    return multi_head(X, heads, Wo, mask), theirs


def weights_pair(torch: Any) -> tuple:
    module, heads, _ = torch_heads(torch, d=8, T=2)
    X = rng.normal(size=(2, 6, 8))
    x = torch.from_numpy(X)
    with torch.no_grad():
        _, theirs = module(x, x, x, average_attn_weights=False)
    Wq, Wk, _ = heads[1]
    return attention_weights(X @ Wq, X @ Wk), theirs[:, 1]


# -- time ------------------------------------------------------------------------------------------

SIZES = (128, 512, 2048, 8192)
WIDTH, FEATURES = 32, 64


def phi_torch(torch: Any, x: Any) -> Any:
    """elu + 1, as PyTorch has it."""
    return torch.nn.functional.elu(x) + 1


def theirs(torch: Any) -> dict[str, Callable[..., Any]]:
    """The same forms in PyTorch, written as its users would."""
    sdpa = torch.nn.functional.scaled_dot_product_attention

    def linear(q: Any, k: Any, v: Any) -> Any:
        q, k = phi_torch(torch, q), phi_torch(torch, k)
        return q @ (k.T @ v) / (q @ k.sum(0))[:, None]

    def causal_linear(q: Any, k: Any, v: Any) -> Any:
        q, k = phi_torch(torch, q), phi_torch(torch, k)
        state = torch.cumsum(k[:, :, None] * v[:, None, :], 0)
        above = (q[:, None, :] @ state)[:, 0]
        return above / (q * torch.cumsum(k, 0)).sum(1, keepdim=True)

    def random_features(q: Any, k: Any, v: Any) -> Any:
        w = torch.from_numpy(DIRECTIONS)
        f, g = (torch.exp(x @ w.T - (x * x).sum(1, keepdim=True) / 2) for x in (q, k))
        return f @ (g.T @ v) / (f @ g.sum(0))[:, None]

    return {
        "attention": lambda q, k, v: sdpa(q, k, v),
        "causal": lambda q, k, v: sdpa(q, k, v, is_causal=True),
        "linear": linear,
        "causal linear": causal_linear,
        "random features": random_features,
    }


DIRECTIONS = rng.normal(size=(FEATURES, WIDTH))


def by_random_features(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Positive random features of unit 09, as features of linear attention."""
    f, g = (np.exp(x @ DIRECTIONS.T - (x * x).sum(1, keepdims=True) / 2) for x in (Q, K))
    return f @ (g.T @ V) / (f @ g.sum(0))[:, None]


OURS: dict[str, Callable[..., np.ndarray]] = {
    "attention": attention,
    "causal": causal_attention,
    "linear": linear_attention,
    "causal linear": causal_linear_attention,
    "separable": separable_attention,
    "random features": by_random_features,
}


def rows(peer: dict[str, Callable[..., Any]], torch: Any) -> Iterator[list[str]]:
    """A row for each form and size: our milliseconds, and ratios."""
    for n in SIZES:
        Q, K, V = rng.normal(size=(3, n, WIDTH)) / 2
        ways: dict[str, Callable[[], object]] = {
            f"ours {name}": partial(form, Q, K, V) for name, form in OURS.items()
        }
        if torch is not None:
            q, k, v = map(torch.from_numpy, (Q, K, V))
            ways |= {f"torch {name}": partial(form, q, k, v) for name, form in peer.items()}
        rounds = 5 if n < 4096 else 3
        times = side_by_side(ways, rounds=rounds, clock=time.process_time, at_least=0.02)
        for name in OURS:
            mine = times[f"ours {name}"]
            base = times["ours causal" if name.startswith("causal") else "ours attention"]
            cells = [f"{name}, n = {n:,}", mine.shown(1000), ratio(base, mine).shown(digits=2)]
            if f"torch {name}" in times:
                other = peer[name](q, k, v).numpy()
                off = np.abs(OURS[name](Q, K, V) - other).max()
                cells += [ratio(mine, times[f"torch {name}"]).shown(digits=2), f"{off:.0e}"]
            yield cells if len(cells) > 3 else [*cells, "", ""]


def measure(report: Report) -> None:
    """Agreement in float64, then time as n grows."""
    torch, peer = None, {}
    if not report.without("PyTorch"):
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
        peer = theirs(torch)
        differences = largest_differences(torch)
        report.table(
            ["float64 on a batch", f"largest difference from PyTorch (limit {AGREEMENT:g})"],
            [[name, report.agreement(name, d, AGREEMENT)] for name, d in differences.items()],
        )
    head = [
        "form, one head",
        "ours, ms",
        "times faster than standard",
        "ours / PyTorch",
        "difference",
    ]
    report.table(head, list(rows(peer, torch)))
    report.say(
        f"Width {WIDTH}, {FEATURES} random directions, float64, one thread, processor time. Ours "
        "is written to be read: whole arrays, a line a formula. PyTorch has no linear attention of "
        "its own; its rows are the same formulas in its operations, and its causal form keeps a "
        "running sum of n matrices, where ours goes block by block."
    )
