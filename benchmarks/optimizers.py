"""The course's optimizers beside PyTorch's, on one trajectory each.

PyTorch writes the same rules with other constants: Adam(weight_decay=w) adds wθ to the gradient,
so w = 2γ; AdamW(weight_decay=w) shrinks by lr·w a step, so w = λ/η.
"""

from __future__ import annotations

import importlib
import time
from typing import Any

import numpy as np

from benchmarks.core import Report, ratio, side_by_side
from course_utils.optimizers import adam_l2_step, adamw_step, train

STEPS, ETA, GAMMA, LAMBDA, LARGEST = 500, 0.01, 0.03, 0.002, 1e-10
RNG = np.random.default_rng(0)
START = RNG.normal(size=6)
CURVATURE = np.array([1e-4, 1e-2, 1.0, 1.0, 1e2, 1e4])
NOISE = RNG.normal(size=(STEPS, 6)) * np.sqrt(CURVATURE)


def gradient(theta: np.ndarray, t: int) -> np.ndarray:
    """Of a quadratic valley with a different scale for each parameter, and noise."""
    return CURVATURE * (theta - 1) + NOISE[t - 1]


def measure(report: Report) -> None:
    """The largest difference on the way, and the time of all steps."""
    if report.without("PyTorch"):
        return
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    ways = {
        "Adam-L2": (
            lambda: train(adam_l2_step, gradient, START, STEPS, eta=ETA, gamma=GAMMA),
            lambda: torch_path(torch.optim.Adam, weight_decay=2 * GAMMA),
        ),
        "AdamW": (
            lambda: train(adamw_step, gradient, START, STEPS, eta=ETA, lamda=LAMBDA),
            lambda: torch_path(torch.optim.AdamW, weight_decay=LAMBDA / ETA),
        ),
    }
    rows = []
    for name, (ours, theirs) in ways.items():
        difference = float(np.abs(ours() - theirs()).max())
        times = side_by_side({"ours": ours, "theirs": theirs}, clock=time.process_time)
        shown = [times["ours"].shown(1000), ratio(times["ours"], times["theirs"]).shown(digits=2)]
        rows.append([name, report.agreement(name, difference, LARGEST), *shown])
    head = [f"{STEPS} steps, float64", f"largest difference (limit {LARGEST:g})"]
    report.table([*head, "ours, ms", "ours / PyTorch"], rows)
    report.say(
        "Six parameters of very different scales, noisy gradients. With so few, PyTorch's time is "
        "what it spends around each step, not arithmetic."
    )


def torch_path(optimizer: Any, weight_decay: float) -> np.ndarray:
    """The path of one of PyTorch's optimizers on the same gradients."""
    torch = importlib.import_module("torch")
    theta = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    stepper = optimizer([theta], lr=ETA, weight_decay=weight_decay)
    path = [START]
    for t in range(1, STEPS + 1):
        theta.grad = torch.from_numpy(gradient(theta.detach().numpy(), t))
        stepper.step()
        path.append(theta.detach().numpy().copy())
    return np.array(path)
