"""What all benchmarks share: ways that take turns, medians with their spread, and a report.

Ratios travel between machines, times do not. So the ways of doing a thing run in one process, in
turns that change their order, and what is compared is each round by itself: what disturbs one
round disturbs all ways in it.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata

PEERS = {  # what is measured beside ours: the name people know, the module, the distribution
    "PyTorch": ("torch", "torch"),
    "SciPy": ("scipy", "scipy"),
    "POT": ("ot", "pot"),
    "nbgrader": ("nbgrader", "nbgrader"),
    "otter-grader": ("otter", "otter-grader"),
    "ipympl": ("ipympl", "ipympl"),
}


def has(peer: str) -> bool:
    """Is this peer installed here?"""
    return importlib.util.find_spec(PEERS[peer][0]) is not None


# -- numbers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """Several measurements of one thing."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """Half of them are below it."""
        return statistics.median(self.values)

    def quantile(self, share: float) -> float:
        """The value below which this share of them lies."""
        ordered = sorted(self.values)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]

    def shown(self, unit: float = 1.0, digits: int = 3) -> str:
        """`12.1 (11.8–13)`: the median, and the quarters below and above."""
        low, high = (significant(self.quantile(q) * unit, digits) for q in (0.25, 0.75))
        middle = significant(self.median * unit, digits)
        return middle if low == high == middle else f"{middle} ({low}–{high})"


def significant(value: float, digits: int = 3) -> str:
    """A number with so many digits, thousands apart and no exponent."""
    if value == 0 or abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{float(f'{value:.{digits}g}'):.{max(digits, 6)}f}".rstrip("0").rstrip(".")


def side_by_side(
    ways: Mapping[str, Callable[[], object]],
    rounds: int = 7,
    clock: Callable[[], float] = time.perf_counter,
    at_least: float = 0.0,
) -> dict[str, Spread]:
    """Seconds of each way, one value a round; the ways take turns, from either end.

    Everything runs once before it counts. A way that is quicker than `at_least` seconds is
    repeated within a round until the clock has something to measure.
    """
    repeats = {name: _repeats(run, clock, at_least) for name, run in ways.items()}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name in list(ways)[:: 1 if number % 2 else -1]:
            start = clock()
            for _ in range(repeats[name]):
                ways[name]()
            times[name].append((clock() - start) / repeats[name])
    return {name: Spread(tuple(values)) for name, values in times.items()}


def _repeats(run: Callable[[], object], clock: Callable[[], float], at_least: float) -> int:
    run()
    start = clock()
    run()
    took = clock() - start
    return max(1, round(at_least / took)) if took > 0 else 1 if not at_least else 100


def ratio(above: Spread, below: Spread) -> Spread:
    """How many times as long one takes as the other, round by round."""
    return Spread(tuple(a / b for a, b in zip(above.values, below.values, strict=True)))


# -- a report -------------------------------------------------------------------------------------


@dataclass
class Report:
    """What one benchmark has to say: shown at once, and kept for docs/benchmarks.md."""

    blocks: list[str] = field(default_factory=list)
    quote: str = ""
    disagrees: bool = False

    def say(self, text: str) -> None:
        """A paragraph."""
        print(text, flush=True)
        self.blocks.append(text)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """A table; all columns but the first are numbers."""
        cells = [list(head), *([str(cell) for cell in row] for row in rows)]
        widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
        for row in cells:
            padded = [
                c.ljust(w) if not k else c.rjust(w)
                for k, (c, w) in enumerate(zip(row, widths, strict=True))
            ]
            print("  ".join(padded), flush=True)
        rule = ["---", *["---:"] * (len(head) - 1)]
        lines = [cells[0], rule, *cells[1:]]
        self.blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))

    def goal(self, what: str, value: float, at_most: float, unit: str) -> None:
        """One line: the goal, what was measured, and whether it was reached."""
        met = "reached" if value <= at_most else "**not reached**"
        limit, seen = (significant(x) for x in (at_most, value))
        self.say(f"Goal: {what} at most {limit} {unit}; measured {seen} {unit}, {met}.")

    def without(self, *peers: str) -> bool:
        """Name those of these peers that are not installed; is there one?"""
        missing = [peer for peer in peers if not has(peer)]
        for peer in missing:
            self.say(f"{peer} is not installed, so it is left out (`make benchmark-peers`).")
        return bool(missing)

    def agreement(self, what: str, difference: float, limit: float) -> str:
        """`1e-15`, in bold and remembered where it is above the limit."""
        if difference <= limit:
            return f"{difference:.0e}"
        self.disagrees = True
        print(f"{what} DIFFERS by {difference:.1e}; the limit is {limit:.0e}")
        return f"**{difference:.0e}**"


def machine() -> str:
    """Where and with what this is measured, in a line."""
    names = ["numpy", "sympy", *(distribution for _, distribution in PEERS.values())]
    known = {name: _version(name) for name in names}
    versions = ", ".join(f"{name} {version}" for name, version in known.items() if version)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    system = f"{_processor()}, {cores} cores, {platform.system()}"
    return f"{system}; Python {platform.python_version()}, {versions}"


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as told:
            names = [line.partition(":")[2].strip() for line in told if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def load() -> str:
    """How busy the machine is with other things."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
