"""The course's Adam-L2 and AdamW beside PyTorch's, on one trajectory each.

    python benchmarks/optimizers.py

PyTorch writes the same rules with other constants: Adam(weight_decay=w) adds wθ to the gradient,
so w = 2γ; AdamW(weight_decay=w) shrinks by lr·w a step, so w = λ/η.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from course_utils.optimizers import adam_l2_step, adamw_step, train

STEPS, ETA, GAMMA, LAMBDA, LARGEST = 500, 0.01, 0.03, 0.002, 1e-10
RNG = np.random.default_rng(0)
START = RNG.normal(size=6)
CURVATURE = np.array([1e-4, 1e-2, 1.0, 1.0, 1e2, 1e4])
NOISE = RNG.normal(size=(STEPS, 6)) * np.sqrt(CURVATURE)


def gradient(theta, t):
    """Of a quadratic valley with a different scale for each parameter, and noise."""
    return CURVATURE * (theta - 1) + NOISE[t - 1]


def main() -> None:
    if importlib.util.find_spec("torch") is None:
        print("PyTorch is not installed: the comparison with its optimizers is skipped.")
        return
    import torch

    pairs = {
        "Adam-L2": (
            train(adam_l2_step, gradient, START, STEPS, eta=ETA, gamma=GAMMA),
            torch_path(torch.optim.Adam, weight_decay=2 * GAMMA),
        ),
        "AdamW": (
            train(adamw_step, gradient, START, STEPS, eta=ETA, lamda=LAMBDA),
            torch_path(torch.optim.AdamW, weight_decay=LAMBDA / ETA),
        ),
    }
    print(f"PyTorch {torch.__version__}, {STEPS} steps in float64")
    for name, (ours, theirs) in pairs.items():
        difference = np.abs(ours - theirs).max()
        moved = np.abs(ours - START).max()
        verdict = "agree" if difference <= LARGEST else "DIFFER"
        print(f"{name:>8}: largest difference {difference:.1e} on a way of {moved:.2f}: {verdict}")
    if any(np.abs(ours - theirs).max() > LARGEST for ours, theirs in pairs.values()):
        sys.exit(1)


def torch_path(optimizer, weight_decay: float) -> np.ndarray:
    """The path of one of PyTorch's optimizers on the same gradients."""
    import torch

    theta = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    stepper = optimizer([theta], lr=ETA, weight_decay=weight_decay)
    path = [START]
    for t in range(1, STEPS + 1):
        theta.grad = torch.from_numpy(gradient(theta.detach().numpy(), t))
        stepper.step()
        path.append(theta.detach().numpy().copy())
    return np.array(path)


if __name__ == "__main__":
    main()
