"""From an open notebook to the first verdict: a real kernel, and what its imports cost.

The kernel is the one of `course lab`. The clock starts when its process does. The cells are those
of the solution up to the first check: imports, symbols, the answer, the verdict; once run at once,
and once after some seconds of reading, in which SymPy is loaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from jupyter_client.manager import KernelManager

from benchmarks.core import Report, Spread, side_by_side
from classroom.notebooks import code_cells, read
from classroom.roles import called_check

ROOT = Path(__file__).parents[1]
UNITS = ("01_rnn_gradients", "02_momentum", "04_attention", "08_linear_attention")
IMPORTS = {
    "an empty Python": "",
    "numpy": "import numpy",
    "sympy": "import sympy",
    "course_utils.style": "import course_utils.style",
    "checks of unit 02": "from course_utils.checks import momentum",
    "checks of unit 04": "from course_utils.checks import attention",
}
GOAL = 2.5  # seconds
READING = 3.0  # seconds
LAB = ROOT / "selfcheck" / "students" / "jupyter"


def measure(report: Report, rounds: int = 3) -> None:
    """Seconds to the first verdict, by unit; milliseconds of imports."""
    os.environ["JUPYTER_PATH"] = str(LAB)  # where the kernel is looked for
    rows, totals = [], []
    for unit in UNITS:
        times = [first_verdict(unit) for _ in range(rounds + 1)][1:]
        ready, done = (Spread(tuple(column)) for column in zip(*times, strict=True))
        later = Spread(tuple(_after_reading(unit) for _ in range(rounds)))
        totals.append(done.median)
        rows.append([unit, ready.shown(), done.shown(), later.shown()])
    head = [
        "unit",
        "kernel ready, s",
        "first verdict, s",
        f"cells run after {READING:g} s of reading, s",
    ]
    report.table(head, rows)
    report.goal("the first verdict comes after", max(totals), GOAL, "s")
    spent = side_by_side({name: _importing(code) for name, code in IMPORTS.items()}, rounds=5)
    report.table(
        ["a fresh process imports", "ms"],
        [[name, spread.shown(1000)] for name, spread in spent.items()],
    )


def _after_reading(unit: str) -> float:
    """What the cells themselves take, once the kernel has had time."""
    ready, done = first_verdict(unit, READING)
    return done - ready - READING


def first_verdict(unit: str, reading: float = 0.0) -> tuple[float, float]:
    """Seconds until the kernel is ready, and until the first check has spoken."""
    sources = [cell.source for cell in code_cells(read(ROOT / "solutions" / f"{unit}.ipynb"))]
    first = next(place for place, source in enumerate(sources) if called_check(source))
    manager, start = KernelManager(kernel_name="python3"), time.perf_counter()
    quiet = subprocess.DEVNULL
    manager.start_kernel(cwd=str(ROOT), env=dict(os.environ), stdout=quiet, stderr=quiet)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=120)
        ready = time.perf_counter() - start
        time.sleep(reading)
        for source in sources[: first + 1]:
            reply = client.execute_interactive(source, timeout=120, output_hook=lambda _: None)
            if reply["content"]["status"] != "ok":
                raise RuntimeError(f"{unit}: a cell failed: {reply['content'].get('evalue')}")
        return ready, time.perf_counter() - start
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _importing(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
