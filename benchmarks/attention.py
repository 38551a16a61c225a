"""Attention against PyTorch's, and standard attention against the linear forms as n grows.

PyTorch is a referee, never a dependency: without it the first part says so and the second runs.
Times are processor time on one thread, so that other programs disturb little, and shown as ratios.
Run: python benchmarks/attention.py
"""

import os
import sys
import time
from collections.abc import Callable

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

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


def largest_differences(torch) -> dict[str, float]:
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


def torch_heads(torch, d: int, T: int):
    """PyTorch's multi-head module without biases, and its weights cut into our heads and W^O."""
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(d, T, bias=False, batch_first=True, dtype=torch.float64)
    Wq, Wk, Wv = module.in_proj_weight.detach().numpy().reshape(3, d, d).transpose(0, 2, 1)
    heads = list(zip(*(np.split(W, T, axis=1) for W in (Wq, Wk, Wv)), strict=True))
    return module, heads, module.out_proj.weight.detach().numpy().T


def multi_head_pair(torch, mask: np.ndarray | None) -> tuple:
    module, heads, Wo = torch_heads(torch, d=8, T=4)
    X = rng.normal(size=(2, 6, 8))
    x = torch.from_numpy(X)
    hidden = None if mask is None else torch.from_numpy(~mask)  # there, True hides
    with torch.no_grad():
        theirs, _ = module(x, x, x, attn_mask=hidden, need_weights=False)
    return multi_head(X, heads, Wo, mask), theirs


def weights_pair(torch) -> tuple:
    module, heads, _ = torch_heads(torch, d=8, T=2)
    X = rng.normal(size=(2, 6, 8))
    x = torch.from_numpy(X)
    with torch.no_grad():
        _, theirs = module(x, x, x, average_attn_weights=False)
    Wq, Wk, _ = heads[1]
    return attention_weights(X @ Wq, X @ Wk), theirs[:, 1]


def compare_with_torch() -> bool:
    """Print the differences; False if one is too large."""
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed, so the comparison with it is skipped.")
        return True
    print(f"Largest difference from PyTorch {torch.__version__}, float64 (limit {AGREEMENT:g}):")
    differences = largest_differences(torch)
    for name, difference in differences.items():
        print(f"  {name:<26} {difference:.1e}")
    return max(differences.values()) < AGREEMENT


# -- standard against linear -----------------------------------------------------------------------

FORMS = {
    "linear": linear_attention,
    "separable": separable_attention,
    "causal linear": causal_linear_attention,
}


def seconds(run: Callable[[], object], at_least: float = 0.2) -> float:
    """Processor time of one run: the best of five rounds, each as long as can be measured well."""
    run()
    rounds = []
    for _ in range(5):
        start, runs = time.process_time(), 0
        while time.process_time() - start < at_least / 5:
            run()
            runs += 1
        rounds.append((time.process_time() - start) / runs)
    return min(rounds)


def compare_forms(d: int = 32) -> None:
    print(f"\nHow many times faster than standard attention, width {d}:")
    print("       n " + "".join(f"{name:>15}" for name in FORMS))
    for n in (128, 512, 2048, 4096):
        Q, K, V = rng.normal(size=(3, n, d))
        standard = seconds(lambda Q=Q, K=K, V=V: attention(Q, K, V))
        causal = seconds(lambda Q=Q, K=K, V=V: causal_attention(Q, K, V))
        row = f"{n:8d} "
        for name, form in FORMS.items():
            base = causal if name.startswith("causal") else standard
            row += f"{base / seconds(lambda f=form, Q=Q, K=K, V=V: f(Q, K, V)):14.1f}×"
        print(row)


if __name__ == "__main__":
    agree = compare_with_torch()
    compare_forms()
    sys.exit(0 if agree else "Attention and PyTorch do not agree.")
