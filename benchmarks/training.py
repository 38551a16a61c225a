"""The model of unit 12: its gradient beside PyTorch's, its speeds as ratios, in one run.

With PyTorch installed, loss and gradient of both attentions are compared in float64, and the time
of one training step in float32. Generation is timed in three ways either way.
Run: python -m benchmarks training
"""

import sys
import time
from collections.abc import Callable

import numpy as np

from course_utils.transformer import Model, shipped, training_and_held_out, write

AGREEMENT = 1e-10
BATCH, PICTURES = 32, 64


def seconds(run: Callable[[], object], repeats: int = 5) -> float:
    """The best of a few runs: what the machine can do when nobody disturbs it."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


# -- PyTorch's gradient of the same model ----------------------------------------------------------


def torch_loss(torch, model: Model, P: dict, images: np.ndarray):
    """The mean of −log p, written with PyTorch's own operations."""
    F = torch.nn.functional
    tokens = torch.from_numpy(model.shifted(images))
    count, n = tokens.shape
    h = P["token"][tokens] + P["place"][:n]
    future = torch.ones(n, n, dtype=torch.bool).triu(1)

    def heads(a):
        return a.reshape(count, n, model.heads, -1).transpose(1, 2)

    for b in range(model.blocks):
        a = F.layer_norm(h, (model.width,), P[f"{b}.gain"], P[f"{b}.shift"], 1e-5)
        q, k, v = (heads(a @ P[f"{b}.{name}"]) for name in "qkv")
        if model.attention == "softmax":
            scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
            y = torch.softmax(scores.masked_fill(future, float("-inf")), -1) @ v
        else:
            A = ((F.elu(q) + 1) @ (F.elu(k) + 1).transpose(-1, -2)).masked_fill(future, 0)
            y = A @ v / A.sum(-1, keepdim=True)
        h = h + y.transpose(1, 2).reshape(count, n, model.width) @ P[f"{b}.o"]
        a = F.layer_norm(h, (model.width,), P[f"{b}.gain2"], P[f"{b}.shift2"], 1e-5)
        h = h + torch.relu(a @ P[f"{b}.up"]) @ P[f"{b}.down"]
    logits = F.layer_norm(h, (model.width,), P["gain"], P["shift"], 1e-5) @ P["out"]
    return F.cross_entropy(logits.flatten(0, 1), torch.from_numpy(images).flatten())


def torch_gradient(torch, model: Model, theta: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The gradient as one vector, by PyTorch's reverse mode."""
    parts = model.unpack(theta).items()
    P = {name: torch.tensor(part, requires_grad=True) for name, part in parts}
    torch_loss(torch, model, P, images).backward()
    return np.concatenate([P[name].grad.numpy().ravel() for name in model.shapes])


def compare_with_torch() -> bool:
    """Gradients to 1e-10 in float64, and how long a step takes beside PyTorch's."""
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed, so the comparison with it is skipped.")
        return True
    training, _ = training_and_held_out()
    agree = True
    for kind in ("linear", "softmax"):
        model, theta = shipped(kind)
        images = training[:BATCH]
        ours = model.gradient(theta, images)[1]
        gap = np.abs(ours - torch_gradient(torch, model, theta, images)).max()
        agree = agree and gap < AGREEMENT
        single = theta.astype(np.float32)
        mine = seconds(lambda m=model, th=single, x=images: m.gradient(th, x))
        theirs = seconds(lambda m=model, th=single, x=images: torch_gradient(torch, m, th, x))
        print(f"{kind}: largest difference of a gradient {gap:.1e} (limit {AGREEMENT:g});")
        print(f"  a step takes {mine / theirs:.1f} times as long as PyTorch {torch.__version__}")
    return agree


# -- writing ---------------------------------------------------------------------------------------


def compare_ways() -> None:
    """Digits a second, and how many times recomputing that is."""
    u = np.random.default_rng(0).random((PICTURES, 64))
    for kind, fast in [("softmax", "cache"), ("linear", "state")]:
        model, theta = shipped(kind)
        slow, quick = (
            seconds(lambda w=way, m=model, th=theta: write(m, th, u, way=w), repeats)
            for way, repeats in [("recompute", 1), (fast, 3)]
        )
        print(f"{kind}: {PICTURES / slow:,.0f} digits a second by recomputing, ", end="")
        print(f"{PICTURES / quick:,.0f} by {fast}: {slow / quick:.0f} times as many")


if __name__ == "__main__":
    agree = compare_with_torch()
    compare_ways()
    sys.exit(0 if agree else "The gradient and PyTorch's do not agree.")
