"""Grading at scale: submissions per second by workers and by the size of the class, with memory.

Each class is graded by one command, as an instructor would: `course grade --jobs N`. The memory is
the largest that any one of its processes held, and all of them together while it ran. From these
numbers the plan for 100,000 submissions is computed. One class is graded by a Dask cluster on this
machine, too. It takes a while, so it is measured on request: make benchmark ARGS=scale, or with
larger classes COURSE_CLASSES="10 100 1000 3000".
"""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.core import Report, significant
from benchmarks.grading import hand_in, submissions
from classroom.grading.gradebook import NAME
from classroom.threads import ONE_THREAD

ROOT = Path(__file__).parents[1]
UNIT = "02_momentum"
CLASSES = [int(n) for n in os.environ.get("COURSE_CLASSES", "10 100 300").split()]
WORKERS = [n for n in (1, 2, 4, 8) if n <= (os.cpu_count() or 1)]
CLUSTERS, IN_CLUSTER = (1, 2, 4, 8), 300  # processes of a cluster, and submissions for it
MANY = 100_000
COLUMNS = ("seconds", "a second", "MB, all processes", "MB, the command")
ENOUGH = 1000  # submissions: in smaller classes growth is lost in what every run needs


@dataclass(frozen=True)
class Run:
    """One class, graded."""

    count: int
    workers: int
    seconds: float
    together: int  # bytes of all processes
    alone: int  # bytes of the command itself, which waits for the others
    own: float  # seconds that the command itself spent on the processor

    @property
    def rate(self) -> float:
        """Submissions per second, the start included."""
        return self.count / self.seconds


def measure(report: Report) -> None:
    """A row for each class and number of workers, and what follows for very many."""
    runs = [graded(count, workers) for count in CLASSES for workers in WORKERS]
    report.table(["submissions, workers", *COLUMNS], list(map(row, runs)))
    try:
        clusters = [in_cluster(IN_CLUSTER, processes) for processes in CLUSTERS]
        report.table(
            ["submissions, processes of a Dask cluster", *COLUMNS], list(map(row, clusters))
        )
        report.say(with_a_kill(IN_CLUSTER))
    except ImportError:
        report.say("Dask is not installed, so clusters are left out.")
    for line in plan(runs):
        report.say(line)


def row(run: Run) -> list[str]:
    """One class as a row of a table."""
    numbers = (run.seconds, run.rate, run.together / 2**20, run.alone / 2**20)
    return [f"{run.count:,}, {run.workers}", *map(significant, numbers)]


@contextlib.contextmanager
def cluster_of(processes: int) -> Iterator[tuple[list[str], list[int]]]:
    """The options for a cluster of so many processes on this machine, and their numbers."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=processes, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        workers = [worker.pid for worker in cluster.workers.values()]
        yield ["--scheduler", cluster.scheduler_address], workers


def in_cluster(count: int, processes: int) -> Run:
    """The same by so many processes of a cluster, which are there before the clock starts."""
    with cluster_of(processes) as (options, others):
        return graded(count, processes, options, others)


def with_a_kill(count: int) -> str:
    """Two processes of a cluster, one of them killed on the way: is the table the same?"""
    with cluster_of(2) as (options, (first, _)):

        def kill_one(done: int) -> None:
            if done >= count // 3 and not killed:
                os.kill(first, signal.SIGKILL)
                killed.append(done)

        killed: list[int] = []
        found: list[bytes] = []
        graded(count, 2, options, look=kill_one, tables=found)
    graded(count, 2, tables=found)
    if len(set(found)) > 1 or not killed:
        raise RuntimeError("a cluster that lost a worker has another table")
    return (
        f"{count:,} submissions on two processes of a Dask cluster, one of them killed "
        f"when {killed[0]} were graded: grades.csv is that of a run without a cluster, byte "
        "for byte."
    )


def graded(
    count: int,
    workers: int,
    options: Sequence[str] = (),
    others: Sequence[int] = (),
    look: Callable[[int], None] | None = None,
    tables: list[bytes] | None = None,
) -> Run:
    """Grade a class of this size, and watch the memory meanwhile, with that of other processes.

    `look` hears now and then how many are graded; `tables` collects grades.csv.
    """
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        scratch = Path(folder).resolve()
        source = hand_in(scratch / "submissions", UNIT, submissions(UNIT, count))
        command = [sys.executable, "-m", "selfcheck", "grade", source, "--to", scratch / "g"]
        command += ["--unit", UNIT, "--jobs", workers, *options]
        start, most, alone, own = time.perf_counter(), 0, 0, 0.0
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD},
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        while process.poll() is None:
            most = max(most, sum(map(memory, (process.pid, *others))))
            alone, own = max(alone, held(process.pid)), max(own, spent(process.pid))
            if look:
                look(graded_so_far(scratch / "g"))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
        if process.returncode:
            raise RuntimeError(f"course grade ended with {process.returncode}")
        if tables is not None:
            tables.append((scratch / "g" / "grades.csv").read_bytes())
        return Run(count, workers, time.perf_counter() - start, most, alone, own)


def graded_so_far(folder: Path) -> int:
    """How many grades there are."""
    if not (folder / NAME).exists():
        return 0
    with contextlib.suppress(sqlite3.Error), sqlite3.connect(folder / NAME) as book:
        return int(book.execute("SELECT COUNT(*) FROM graded").fetchone()[0])
    return 0


def held(process: int) -> int:
    """Bytes of one process; pages that several share count for each its share."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        told = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
        line = next(line for line in told.splitlines() if line.startswith("Pss:"))
        return 1024 * int(line.split()[1])
    return 0


def spent(process: int) -> float:
    """Seconds of one process on the processor."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        about = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        return sum(map(int, about[11:13])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def memory(leader: int) -> int:
    """Bytes of this process and of all below it."""
    total, waiting = 0, [leader]
    while waiting:
        process = waiting.pop()
        total += held(process)
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{process}/task").iterdir():
                waiting += map(int, (thread / "children").read_text(encoding="ascii").split())
    return total


def plan(runs: list[Run]) -> list[str]:
    """On paper: what very many submissions take, from the largest class that was graded."""
    largest = max(run.count for run in runs)
    best = max((run for run in runs if run.count == largest), key=lambda run: run.rate)
    each = best.workers / best.rate  # seconds of a core
    hours = MANY * each / 3600
    lines = [
        f"On paper, for {MANY:,} submissions of this unit: a core grades one in "
        f"{significant(each)} s, so they take {significant(hours)} core hours: "
        f"{significant(hours / best.workers)} h on this machine, {significant(hours / 64)} h on 64 "
        "cores. Submissions do not depend on each other (a judge remembers lines of derivations, "
        "which only saves time), so the workers of a Dask cluster (`--scheduler`) share them out "
        "evenly.",
    ]
    same = {run.count: run for run in runs if run.workers == best.workers}
    smallest = min((count for count in same if count >= ENOUGH), default=largest)
    if largest > smallest:
        few, many = same[smallest], same[largest]
        each_more = max(many.alone - few.alone, 0) / (largest - smallest)
        worker = max(run.together - run.alone for run in (few, many)) / best.workers
        on_paper = many.alone + each_more * (MANY - largest)
        lines.append(
            f"A worker holds {significant(worker / 2**20)} MB at most, whatever the size of the "
            "class. What grows is the command itself: the list of submissions and, when the judges "
            f"have ended, the report. Between {smallest:,} and {largest:,} submissions it grew by "
            f"{significant(each_more / 1024)} kB for each, which makes "
            f"{significant(on_paper / 2**30)} GB for {MANY:,}."
        )
        serial = max(many.own - few.own, 0.001) / (largest - smallest)
        lines.append(
            f"Where it stops scaling: the command itself spends {significant(serial)} s of the "
            "processor for each, one after the other: it reads the file, keeps the grade in the "
            "gradebook (one SQLite file with one writer), and writes page and report. More than "
            f"{each / serial:.0f} workers would wait for it, and {MANY:,} take at least "
            f"{significant(MANY * serial / 3600)} h."
        )
    return lines
