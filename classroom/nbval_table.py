"""A pytest plugin beside nbval: after a run with notebooks, a table of what was really tested.

nbval passes a cell that has nothing to compare with. So the table counts the cells that were really
compared, and calls a notebook red that was not saved executed, in order and without errors. Used by
conftest.py for the test suite and by `course check`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode

from .notebooks import is_blank_sheet, is_compared, problems, read

CELL = re.compile(r"(?P<notebook>.+\.ipynb)::Cell (?P<number>\d+)$")
CAME_OUT = ("passed", "failed", "error", "xfailed", "xpassed")
WHY = "why"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: pytest.CallInfo) -> Generator[None, Any, Any]:
    """In the process that ran the cell: note in one line why it is red."""
    report = yield
    if report.failed and hasattr(item, "cell") and call.excinfo:
        why = f"cell {item.cell.id}: {why_red(call.excinfo.value, item.test_outputs or [])}"
        report.user_properties.append((WHY, why))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table once, in the process that gathers the reports of all workers."""
    ran: dict[str, set[int]] = defaultdict(set)
    seconds: dict[str, float] = defaultdict(float)
    red: dict[str, list[str]] = defaultdict(list)
    for report in (r for kind in CAME_OUT for r in terminalreporter.getreports(kind)):
        cell = CELL.match(report.nodeid)
        if cell:
            ran[cell["notebook"]].add(int(cell["number"]))
            seconds[cell["notebook"]] += report.duration
            red[cell["notebook"]] += [why for key, why in report.user_properties if key == WHY]
    if not ran:
        return
    width = max(len(name) for name in ran)
    write = terminalreporter.write_line
    terminalreporter.section("notebooks under nbval")
    write(f"{'notebook':<{width}}  code cells  run  really compared  seconds  verdict")
    for name, numbers in sorted(ran.items()):
        notebook = read(terminalreporter.config.rootpath / Path(name))
        cells, run, compared = _count(notebook, numbers)
        reasons = red[name] + ([] if is_blank_sheet(notebook) else problems(notebook))
        counts = f"{cells:>10}  {run:>3}  {compared:>15}  {seconds[name]:>7.1f}"
        write(f"{name:<{width}}  {counts}  {'red' if reasons else 'green'}")
        for reason in reasons:
            write(f"    {reason}")


def _count(notebook: NotebookNode, numbers: set[int]) -> tuple[int, int, int]:
    """Code cells in the notebook, how many of them ran here, how many of those were compared."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return len(cells), len(numbers), sum(is_compared(cells[number]) for number in numbers)


def why_red(error: BaseException, outputs: list[NotebookNode]) -> str:
    """One line: that it took too long, the error in the cell, or what the cell shows now."""
    message = str(error).partition("\n")[0]
    raised = next((output for output in outputs if output.output_type == "error"), None)
    if raised and not message.startswith("Timeout"):
        return first_line(raised)
    if "differ" in message:
        return f"shows now: {next(filter(None, map(first_line, outputs)), 'nothing')}"
    return message


def first_line(output: NotebookNode) -> str:
    """What an output says in one line."""
    if output.output_type == "error":
        text = f"{output.ename}: {output.evalue}"
    else:
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return text.strip().partition("\n")[0]
