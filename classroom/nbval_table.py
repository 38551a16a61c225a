"""A pytest plugin beside nbval: compares pictures too, and prints a table of what was tested.

nbval skips pictures. So after each cell the pictures that it drew are compared with the saved ones.

nbval passes a cell that has nothing to compare with. So the table counts the cells that were really
compared, and calls a notebook red that was not saved executed, in order and without errors. Used by
conftest.py for the test suite and by `course check`.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
from collections import defaultdict
from collections.abc import Generator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode

from .notebooks import is_blank_sheet, is_compared, is_ignored, problems, read
from .picture_diff import old_pictures, pictures

LOCKED = re.compile(r"^matplotlib==(\S+)", re.MULTILINE)
CELL = re.compile(r"(?P<notebook>.+\.ipynb)::Cell (?P<number>\d+)$")
CAME_OUT = ("passed", "failed", "error", "xfailed", "xpassed")
WHY = "why"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, Any]:
    """After nbval has compared what a cell says: are its saved pictures what it draws?"""
    result = yield
    if hasattr(item, "cell") and _draws_alike(item.cell, item.config.rootpath):
        old = old_pictures(item.cell.outputs, item.test_outputs)
        if old:
            remedy = f"`course execute {item.nodeid.partition('::')[0]}` draws it anew"
            item.raise_cell_error(f"{'; '.join(old)}; {remedy}")
    return result


def _draws_alike(cell: NotebookNode, root: Path) -> bool:
    """Should the cell draw what was saved? Not what is measured, nor with another matplotlib."""
    return cell.execution_count is not None and not is_ignored(cell) and not why_not_compared(root)


@functools.cache
def why_not_compared(root: Path) -> str:
    """Why pictures cannot be compared here: each version of matplotlib draws letters its way.

    The saved pictures were drawn by the one in the lock file; without such a file, by this one.
    """
    lock = root / "requirements.lock"
    locked = LOCKED.search(lock.read_text(encoding="utf-8")) if lock.exists() else None
    here = importlib.metadata.version("matplotlib")
    if locked is None or locked[1] == here:
        return ""
    return f"Pictures were not compared: matplotlib {locked[1]} drew them, and here is {here}."


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: pytest.CallInfo) -> Generator[None, Any, Any]:
    """In the process that ran the cell: note in one line why it is red."""
    report = yield
    if report.failed and hasattr(item, "cell") and call.excinfo:
        saved = item.cell.get("outputs", [])
        why = why_red(call.excinfo.value, item.test_outputs or [], saved)
        report.user_properties.append((WHY, f"cell {item.cell.id}: {why}"))
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
    root = terminalreporter.config.rootpath
    heads = "code cells  run  really compared  pictures  seconds  verdict"
    write(f"{'notebook':<{width}}  {heads}")
    for name, numbers in sorted(ran.items()):
        notebook = read(root / Path(name))
        cells, run, compared, drawn = _count(notebook, numbers, root)
        reasons = red[name] + ([] if is_blank_sheet(notebook) else problems(notebook))
        counts = f"{cells:>10}  {run:>3}  {compared:>15}  {drawn:>8}  {seconds[name]:>7.1f}"
        write(f"{name:<{width}}  {counts}  {'red' if reasons else 'green'}")
        for reason in reasons:
            for line in reason.splitlines():
                write(f"    {line}")
    if why_not_compared(root):
        write(why_not_compared(root))


def _count(notebook: NotebookNode, numbers: set[int], root: Path) -> tuple[int, int, int, int]:
    """Code cells; how many of them ran here; how many of those, and of their pictures, compared."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    ran = [cells[number] for number in numbers]
    drawn = sum(len(pictures(cell.outputs)) for cell in ran if _draws_alike(cell, root))
    return len(cells), len(ran), sum(map(is_compared, ran)), drawn


def why_red(
    error: BaseException, outputs: list[NotebookNode], saved: list[NotebookNode] | None = None
) -> str:
    """That it took too long, the error in the cell, or the first line that differs, new and old."""
    message = str(error).partition("\n")[0]
    raised = next((output for output in outputs if output.output_type == "error"), None)
    if raised and not message.startswith("Timeout"):
        return first_line(raised)
    if "outputs differ" not in message and not message.startswith("Unexpected"):
        return message
    if saved is None:
        return f"shows now: {next(filter(None, map(first_line, outputs)), 'nothing')}"
    number, new, old = _difference(outputs, saved)
    return f"shows now: {new}\n    was saved: {old}\n    line {number} of the output"


def _difference(new: list[NotebookNode], old: list[NotebookNode]) -> tuple[int, str, str]:
    """The first line in which two outputs differ: its number, and both."""
    for kind in ("text/plain", "text/html", "text/latex", "text/markdown"):
        pairs = zip_longest(_lines(new, kind), _lines(old, kind))
        for number, (now, before) in enumerate(pairs, start=1):
            if now != before:
                return number, _shown(now), _shown(before)
    return 1, _kinds(new), _kinds(old)


def _lines(outputs: list[NotebookNode], kind: str) -> list[str]:
    texts = [o.get("text") or o.get("data", {}).get(kind, "") for o in outputs]
    return "\n".join(text.strip("\n") for text in texts if text).splitlines()


def _shown(line: str | None) -> str:
    return "nothing" if line is None else line.strip()[:300] or "a blank line"


def _kinds(outputs: list[NotebookNode]) -> str:
    return ", ".join(o.output_type for o in outputs) or "nothing"


def first_line(output: NotebookNode) -> str:
    """What an output says in one line."""
    if output.output_type == "error":
        text = f"{output.ename}: {output.evalue}"
    else:
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return text.strip().partition("\n")[0]
