"""The model of unit 12: its gradient beside PyTorch's, and three ways to write, in one run."""

from __future__ import annotations

import importlib
import time
from typing import Any

import numpy as np

from benchmarks.core import Report, ratio, side_by_side, significant
from course_utils.transformer import Model, shipped, training_and_held_out, write

AGREEMENT = 1e-10
BATCH, PICTURES = 32, 64


# -- PyTorch's gradient of the same model ----------------------------------------------------------


def torch_loss(torch: Any, model: Model, P: dict, images: np.ndarray) -> Any:
    """The mean of −log p, written with PyTorch's own operations."""
    F = torch.nn.functional
    tokens = torch.from_numpy(model.shifted(images))
    count, n = tokens.shape
    h = P["token"][tokens] + P["place"][:n]
    future = torch.ones(n, n, dtype=torch.bool).triu(1)

    def heads(a: Any) -> Any:
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


def torch_gradient(torch: Any, model: Model, theta: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The gradient as one vector, by PyTorch's reverse mode."""
    parts = model.unpack(theta).items()
    P = {name: torch.tensor(part, requires_grad=True) for name, part in parts}
    torch_loss(torch, model, P, images).backward()
    return np.concatenate([P[name].grad.numpy().ravel() for name in model.shapes])


def beside_torch(report: Report) -> None:
    """Gradients to 1e-10 in float64, and how long a step takes beside PyTorch's."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    training, _ = training_and_held_out()
    images, rows = training[:BATCH], []
    for kind in ("linear", "softmax"):
        model, theta = shipped(kind)
        theta = theta.astype(np.float64)
        ours = model.gradient(theta, images)[1]
        gap = float(np.abs(ours - torch_gradient(torch, model, theta, images)).max())
        single = theta.astype(np.float32)
        ways = {
            "ours": lambda m=model, th=single: m.gradient(th, images),
            "theirs": lambda m=model, th=single: torch_gradient(torch, m, th, images),
        }
        times = side_by_side(ways, rounds=5, clock=time.process_time)
        shown = [times["ours"].shown(1000), ratio(times["ours"], times["theirs"]).shown(digits=2)]
        rows.append([kind, report.agreement(f"{kind} gradient", gap, AGREEMENT), *shown])
    head = ["attention", f"largest difference of a gradient, float64 (limit {AGREEMENT:g})"]
    report.table([*head, "a step in float32, ours, ms", "ours / PyTorch"], rows)


# -- writing ---------------------------------------------------------------------------------------


def ways_to_write(report: Report) -> None:
    """Digits per second, and how many times recomputing that is."""
    u, rows = np.random.default_rng(0).random((PICTURES, 64)), []
    for kind, fast in [("softmax", "cache"), ("linear", "state")]:
        model, theta = shipped(kind)
        ways = {
            way: lambda w=way, m=model, th=theta: write(m, th, u, way=w)
            for way in ("recompute", fast)
        }
        times = side_by_side(ways, rounds=3, clock=time.process_time)
        gain = ratio(times["recompute"], times[fast]).shown(digits=2)
        speed = [significant(PICTURES / times[way].median) for way in ("recompute", fast)]
        rows.append([f"{kind}, {fast}", *speed, gain])
    report.table(
        ["writing digits", "recomputed, a second", "kept, a second", "times as many"], rows
    )


def measure(report: Report) -> None:
    """Beside PyTorch, if it is there; then writing."""
    if not report.without("PyTorch"):
        beside_torch(report)
    ways_to_write(report)
