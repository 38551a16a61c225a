"""What a judge is told to do, and within which limits: plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

START_SECONDS = 600  # for a judge or a sandbox, on a busy machine
STARTS = 3  # attempts, before it is given up
QUICKLY = "import gc, runpy; gc.disable(); runpy.run_module({!r}, None, '__main__', True)"


def started(module: str) -> list[str]:
    """The arguments with which Python runs a module; while it loads, nothing is garbage."""
    return ["-c", QUICKLY.format(module)]


@dataclass(frozen=True)
class Limits:
    """What one submission may use; seconds are its own, on the processor or asleep."""

    cell: float = 10.0  # seconds for a cell or a call
    grace: float = 2.0  # seconds more, in which it can notice by itself that it is too slow
    wall: float = 60.0  # seconds for all of it
    slack: float = 20.0  # by the clock on the wall it may take so many times as long
    memory: int = 2 << 30  # bytes of address space of one process
    together: int = 3 << 30  # bytes in memory of all its processes
    file: int = 16 << 20  # bytes of one file
    processes: int = 32
    text: int = 4000  # characters that a cell prints
    step: float = 240.0  # seconds by the clock on the wall for one step, on a busy machine

    def step_wall(self, seconds: float) -> float:
        """By the clock on the wall, for a step that may use so many seconds of the processor."""
        return max(2 * seconds, min(self.slack * seconds, self.step))


@dataclass(frozen=True)
class Job:
    """One submission to judge: plain data, so that it can be sent to another machine."""

    student: str
    unit: str
    file: str
    digest: str
    solution: list[list[str]]  # id, role and source of each code cell
    cells: list[list[str]]
    student_id: str | None = None  # the true one; None: as written in the notebook
    own_ids: list[str] = field(default_factory=list)  # others that are this student's as well
    limits: dict[str, Any] = field(default_factory=dict)
    verbose: bool = False
    seed: str = ""  # what the seeds of the exercises are made from, for a whole class
    only: tuple[str, ...] = ()  # judge these exercises alone; all if none
    is_solution: bool = False  # the answers are right: tell their numbers
    lost_at: tuple[int, ...] = ()  # steps over which a judge was lost before
    is_alone: bool = False  # nothing else is being graded here meanwhile
    in_fresh_sandbox: bool = False
    troubled: tuple[int, ...] = ()  # steps that were too slow or died before
