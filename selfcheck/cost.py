"""What a student's function costs as its input grows: counted exactly, told in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from .calls import FunctionAnswer
from .compare import real_array
from .growth import BLOCKS, FAR, SIZES, Growth, growth
from .meter import MadeArray, Meter
from .refusals import OtherNumbers, TooManySteps, Unreadable
from .verdicts import Verdict, partly, right, wrong

MADE_EMPTY = frozenset(
    ["diag", "diagflat", "eye", "identity", "zeros", "ones", "empty", "full", "tri", "tril", "triu",
     "zeros_like", "ones_like", "broadcast_to", "repeat", "tile", "arange", "array", "where"]
)  # fmt: skip

MOST_STEPS = 50_000  # counted, not timed: a large size is left out alike on every machine
UNSETTLED = 2  # sizes, for memory: with few tokens another moment of the same code may hold most
# Below so many steps of NumPy for the largest of SIZES, how far beyond them a function is run: what
# loops over all pairs of numbers would keep everybody waiting.
PATIENCE = {5_000: FAR, math.inf: BLOCKS[0] + 2}


class Cost(NamedTuple):
    """How the cost of a function grows with n.

    kind: "linear"; above it "weights" (an n×n array computed), "array" (one made otherwise),
    "memory" or "time"; "uncounted"; or "wrong" if the numbers are not right after all.
    """

    kind: str
    says: str


def cost_in_n(
    answer: FunctionAnswer,
    inputs: Callable[[int], tuple[Any, ...]],
    like: Callable[..., Any],
    sizes: tuple[int, ...] = SIZES,
) -> Cost:
    """The exact growth of a function whose numbers were found right; counted once an answer."""
    known: dict[Any, Cost] = vars(answer).setdefault("costs", {})
    if inputs not in known:
        known[inputs] = _counted(answer, inputs, like, sizes)
    return known[inputs]


class _Runs:
    """The meters of a function at the sizes that were asked for, each counted once."""

    def __init__(
        self,
        answer: FunctionAnswer,
        inputs: Callable[[int], tuple[Any, ...]],
        like: Callable[..., Any],
        sizes: tuple[int, ...],
    ) -> None:
        self.answer, self.inputs, self.like, self.sizes = answer, inputs, like, sizes
        self.meters: dict[int, Meter | None] = {}

    def at(self, n: int) -> Meter | None:
        """What it costs at size n; None where a large size takes too long."""
        if n not in self.meters:
            try:
                most = math.inf if n <= max(self.sizes) else MOST_STEPS
                meter = self.answer.metered(*self.inputs(n), like=self.like, most_steps=most)
            except TooManySteps:
                if n <= max(self.sizes):
                    raise
                meter = None
            self.meters[n] = meter
        return self.meters[n]

    def counts(self, what: str) -> Callable[[int], int | None]:
        """How much of it there is at a size: "flops", "steps" or the "peak" of memory."""
        return lambda n: getattr(self.at(n), what, None)

    def largest(self) -> tuple[int, Meter]:
        """The largest size that was run, as far as sentences tell of it, and its meter."""
        shown = ((n, m) for n, m in self.meters.items() if m is not None and n <= FAR)
        return max(shown, key=lambda pair: pair[0])


class _Measured(NamedTuple):
    """How the FLOPs and the memory grow, and how many numbers left their arrays at each size."""

    flops: Growth
    memory: Growth
    left: set[int]


def _counted(
    answer: FunctionAnswer,
    inputs: Callable[[int], tuple[Any, ...]],
    like: Callable[..., Any],
    sizes: tuple[int, ...],
) -> Cost:
    runs = _Runs(answer, inputs, like, sizes)
    try:
        measured = _measured(runs)
    except OtherNumbers as miss:
        return Cost("wrong", str(miss))
    except Unreadable as trouble:
        return Cost("uncounted", str(trouble))
    n, largest = runs.largest()
    return _not_counted(measured, n, largest) or _in_words(measured, n, largest)


def _measured(runs: _Runs) -> _Measured:
    """The growth of what the function takes, as far out as its steps allow."""
    sizes = runs.sizes
    steps = runs.counts("steps")(max(sizes)) or 0
    far = next(n for most, n in PATIENCE.items() if steps < most)
    flops = growth(runs.counts("flops"), sizes=sizes, far=far)
    left = {_left(runs.at(n)) for n in sizes}
    blocks = BLOCKS if flops.degree <= 1 else ()
    memory = growth(runs.counts("peak"), sizes=sizes[UNSETTLED:], far=far, blocks=blocks)
    return _Measured(flops, memory, left)


def _not_counted(measured: _Measured, n: int, largest: Meter) -> Cost | None:
    """Why the count does not tell the cost; None if it does."""
    if len(measured.left) > 1:
        says = f"At n = {n}, {largest.left} numbers left their arrays on the way, so the work done "
        return Cost("uncounted", f"{says}with them is not counted. Keep the numbers in arrays.")
    if measured.flops.degree == 0:
        says = "What was counted does not grow with n, so the work was done where nothing is "
        return Cost("uncounted", f"{says}counted. Compute with the arrays that are handed over.")
    return None


def _in_words(measured: _Measured, n: int, largest: Meter) -> Cost:
    """The kind of cost, and the sentence that tells it."""
    flops, memory = measured.flops, measured.memory
    says = f"Your code takes {flops.says} FLOPs."
    large = [made for made in largest.arrays if math.prod(made.shape) >= n * n]
    if large:
        computed = [made for made in large if made.how not in MADE_EMPTY]
        return Cost("weights" if computed else "array", f"{says} {table(largest.arrays, n)}")
    if memory.degree > 1:
        return Cost("memory", f"{says} It holds {memory.says} numbers in memory at once.")
    return Cost("linear" if flops.degree == 1 else "time", says)


def _left(m: Meter | None) -> int:
    """How many numbers left on the way: those of a result that is a plain list left at its end."""
    if m is None:
        return 0
    result = real_array(m.result) if isinstance(m.result, list | tuple) else None
    return max(0, m.left - (0 if result is None else result.size))


def table(arrays: list[MadeArray], n: int) -> str:
    """The largest arrays, and the lines of code that made them."""
    rows = "; ".join(str(made) for made in arrays[:3])
    return f"At n = {n} the largest arrays were {rows}."


def judge_linear(
    answer: FunctionAnswer,
    inputs: Callable[[int], tuple[Any, ...]],
    like: Callable[..., Any],
    says: str = "The numbers are right, and",
    sizes: tuple[int, ...] = SIZES,
) -> Verdict:
    """Right if the cost is linear in n; right numbers at another cost, or uncounted, earn one."""
    cost = cost_in_n(answer, inputs, like, sizes)
    if cost.kind == "linear":
        return right(f"{says} the cost is linear in n. {cost.says}")
    if cost.kind == "wrong":
        return wrong(cost.says)
    if cost.kind == "uncounted":
        return partly(1, f"The numbers are right, but the cost could not be counted. {cost.says}")
    return partly(1, f"The numbers are right, but the cost is not linear in n. {cost.says}")
