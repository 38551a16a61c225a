"""What one move of a slider costs the kernel: the explorer against the ways it replaces.

Every way draws the same two curves and ends with PNG bytes. Run: python benchmarks/explorer.py
"""

import io
import statistics
import time
from collections.abc import Callable

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np

from course_utils import style
from course_utils.explore import Explorer, slider

T = np.arange(61)
BETAS = np.linspace(0.5, 0.98, 25)


def setup(fig) -> dict:
    """The two averages of unit 02, with labels and a legend as in the lecture."""
    ax = fig.subplots()
    ax.set(xlim=(0, 60), ylim=(0, 1.1), xlabel="step", ylabel="average", title="Cold start")
    curves = {
        "raw": ax.plot(T, T, label="raw", **style.line("blue"))[0],
        "corrected": ax.plot(T, T, label="corrected", **style.line("orange"))[0],
    }
    ax.legend(loc="lower right")
    return curves


def update(curves: dict, beta: float) -> str:
    curves["raw"].set_data(T, 1 - beta**T)
    curves["corrected"].set_data(T, np.ones(61))
    return f"β = {beta:.2f}"


def explorer(blit: bool) -> Callable[[float], bytes]:
    """One move of the slider, with or without redrawing all."""
    made = Explorer(
        setup, update, controls={"beta": slider(0.5, 0.99, value=0.9)}, alt="Curves.", blit=blit
    )
    return lambda beta: made.set(beta=beta).picture.value


def new_pyplot_figure(beta: float) -> bytes:
    """What `interact` with a plotting function does at each move."""
    fig = plt.figure(figsize=(style.WIDTH, style.HEIGHT), dpi=style.DPI * style.SCALE)
    update(setup(fig), beta)
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png")
    plt.close(fig)
    return buffer.getvalue()


def cost(move: Callable[[float], bytes]) -> float:
    """Median milliseconds of processor time for one move, after a first one to warm up."""
    move(0.99)
    times = []
    for beta in BETAS:
        start = time.process_time()
        move(float(beta))
        times.append(1000 * (time.process_time() - start))
    return statistics.median(times)


def main() -> None:
    ways = {
        "explorer": explorer(blit=True),
        "explorer, all redrawn": explorer(blit=False),
        "new pyplot figure": new_pyplot_figure,
    }
    costs = {name: cost(move) for name, move in ways.items()}
    for name, milliseconds in costs.items():
        ratio = milliseconds / costs["explorer"]
        print(f"{name:24}{milliseconds:8.1f} ms a move {ratio:8.1f} ×")


if __name__ == "__main__":
    main()
