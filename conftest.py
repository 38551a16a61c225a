"""After a run with notebooks: a table of what nbval ran, what it compared, and for how long.

That every cell was saved executed, in order and without errors is a test of its own, in
tests/test_committed_notebooks.py: nbval itself passes a cell that has nothing to compare with.
"""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from course_utils.classroom.notebooks import is_compared, read

CELL = re.compile(r"(?P<notebook>.+\.ipynb)::Cell (?P<number>\d+)$")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table once, in the process that gathers the reports of all workers."""
    ran: dict[str, set[int]] = defaultdict(set)
    seconds: dict[str, float] = defaultdict(float)
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        cell = CELL.match(report.nodeid)
        if cell:
            ran[cell["notebook"]].add(int(cell["number"]))
            seconds[cell["notebook"]] += report.duration
    if not ran:
        return
    root = terminalreporter.config.rootpath
    rows = [(name, *_count(root / name, numbers)) for name, numbers in sorted(ran.items())]
    width = max(len(name) for name in ran)
    terminalreporter.section("notebooks under nbval")
    terminalreporter.write_line(f"{'notebook':<{width}}  code cells  run  really compared  seconds")
    for name, cells, run, compared in rows:
        counts = f"{cells:>10}  {run:>3}  {compared:>15}  {seconds[name]:>7.1f}"
        terminalreporter.write_line(f"{name:<{width}}  {counts}")


def _count(path: Path, numbers: set[int]) -> tuple[int, int, int]:
    """Code cells in the notebook, how many of them ran here, how many of those were compared."""
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    return len(cells), len(numbers), sum(is_compared(cells[number]) for number in numbers)
