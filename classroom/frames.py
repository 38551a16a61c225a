"""Explorers where no kernel runs: the places of a grid of their controls, saved with the notebook.

    Explorer.bake = bake  # in the kernel that executes a lecture

Each explorer's output then carries, beside its still picture, all numbers that a page needs to
draw it at every stop of the grid (`explorer.js`): packed, a few dozen kilobytes.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from selfcheck.explore import Explorer, plays, stops_of

PLACES, NUMBERS = 3000, 100_000  # that a grid may have, beyond its least size
FINE, FEW = 20, 12  # a slider has at least so many stops; more than FEW make it a fine one
NEAR = 2  # sixteenths of a pixel, by which the numbers of two runs may differ


def bake(explorer: Explorer) -> str:
    """All places of the explorer's grid, packed."""
    grid, message = grid_of(explorer), explorer.message()
    for stops in product(*grid):
        explorer.add_place(message, stops)
    head, numbers = message.news()
    return packed(explorer.about() | head | {"grid": grid}, numbers)


def grid_of(explorer: Explorer) -> list[list[int]]:
    """The stops of every control: the finest two move, and what has few; others stay.

    Stops lie as far apart as the grid's size asks for, counted from where the explorer begins. What
    plays is one of the two, and shows every step.
    """
    counts = dict(zip(explorer.controls, map(stops_of, explorer.controls.values()), strict=True))
    message = explorer.message()
    explorer.add_place(message, explorer.stops_now())
    places = min(PLACES, NUMBERS // (1 + sum(map(len, message.numbers))))
    wanted = explorer.baked or list(counts)
    playing = [name for name in wanted if plays(explorer.controls[name])]
    others = [name for name in wanted if counts[name] > FEW and name not in playing]
    fine = sorted(others, key=lambda name: -counts[name])[: 2 - len(playing)]
    moving, least = [*playing, *fine], FINE ** len(fine)
    size = least * prod(counts[name] for name in playing)
    for name in (name for name in wanted if counts[name] <= FEW and name not in playing):
        if size * counts[name] <= min(PLACES, 4 * places):
            moving, size = [*moving, name], size * counts[name]
    most = max(FINE, int((places * least // size) ** (1 / len(fine)))) if fine else 0
    begin = zip(counts.items(), explorer.stops_now(), strict=True)
    return [
        _spread(count, now, most if name in fine else count) if name in moving else [now]
        for (name, count), now in begin
    ]


def _spread(count: int, now: int, most: int) -> list[int]:
    """Stops at equal distances that meet `now`, and the two ends."""
    step = max(1, min(-(-(count - 1) // max(most - 1, 1)), (count - 1) // (FINE - 1)))
    return sorted({0, *range(now % step, count, step), count - 1})


# -- packing --------------------------------------------------------------------------------------


def packed(head: dict[str, Any], numbers: Sequence[np.ndarray]) -> str:
    """Words and numbers as one text.

    Where that is smaller, a state is told as the difference to the one before in its slot.
    """
    begin, slots = len(head["scenes"]), [slot for slot, _ in head["states"]]
    moved = differences(numbers[begin:], slots)
    by_slot: dict[int, tuple[bytes, bytes]] = {}
    for slot, plain, move in zip(slots, numbers[begin:], moved, strict=True):
        before = by_slot.get(slot, (b"", b""))
        by_slot[slot] = before[0] + plain.tobytes(), before[1] + move.tobytes()
    small = {s: len(zlib.compress(b)) < len(zlib.compress(a)) for s, (a, b) in by_slot.items()}
    states = [
        move if small[slot] else plain
        for slot, plain, move in zip(slots, numbers[begin:], moved, strict=True)
    ]
    head = head | {"moved": [slot for slot, is_small in small.items() if is_small]}
    words = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    row = np.concatenate([*numbers[:begin], *states, np.zeros(0, np.int16)]).astype("<i2")
    planes = row.view(np.uint8).reshape(-1, 2).T.tobytes()  # low bytes, then high ones
    data = len(words).to_bytes(4, "little") + words + planes
    return base64.b64encode(zlib.compress(data, 9)).decode()


def differences(states: Sequence[np.ndarray], slots: Sequence[int]) -> list[np.ndarray]:
    """Each state less the last one in its slot that has as many numbers."""
    last: dict[tuple[int, int], np.ndarray] = {}
    moved = []
    for slot, state in zip(slots, states, strict=True):
        before = last.get((slot, len(state)))
        moved.append(state if before is None else state - before)
        last[slot, len(state)] = state
    return moved


def unpacked(text: str) -> tuple[dict[str, Any], np.ndarray]:
    """Words and numbers, these as they were before the differences were taken."""
    data = zlib.decompress(base64.b64decode(text))
    end = 4 + int.from_bytes(data[:4], "little")
    head = json.loads(data[4:end])
    row = np.frombuffer(data[end:], np.uint8).reshape(2, -1).T.copy().view("<i2").ravel()
    at = sum(_length(ops) for ops, _ in head["scenes"])
    last: dict[tuple[int, int], np.ndarray] = {}
    for slot, ops in head["states"]:
        state = row[at : at + _length(ops)]
        if slot in head["moved"] and (slot, len(state)) in last:
            state += last[slot, len(state)]
        last[slot, len(state)] = state
        at += len(state)
    return head, row


def _length(ops: Sequence[Any]) -> int:
    return sum(op[2] for op in ops if op[0] != "t")


def is_same(one: str, other: str) -> bool:
    """Do two runs say the same, but for the last digit of a number?"""
    (head, row), (also, others) = unpacked(one), unpacked(other)
    same = head | {"moved": []} == also | {"moved": []} and row.shape == others.shape
    return same and bool((np.abs(row.astype(int) - others) <= NEAR).all())
