"""A pytest plugin beside nbval: a submission's cells become one test per exercise.

The notebook is one that `checking.py` puts together: the student's cells between the instructor's
own checks with their saved outputs. A test runs all cells up to its check and compares the verdict
and its points, not the sentences: another right answer may be praised with other numbers. Whatever
the student's code prints or raises before the check is shown, not judged.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest
from nbformat import NotebookNode
from nbval.plugin import IPyNbCell, IPyNbFile

from selfcheck.students.progress import VERDICT

from .nbval_table import first_line, why_red

SAID = "said"


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Tell nbval what to compare: the head of a verdict as text."""
    if isinstance(collector, IPyNbFile):
        collector.sanitize_patterns[rf"^({VERDICT.pattern})[\s\S]*$"] = r"\1"
        collector.skip_compare += ("text/html",)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Gather the cells up to each check; what follows the last one is not run."""
    exercises, waiting = [], []
    for item in items:
        waiting.append(item)
        name = _name(item.cell)
        if name:
            exercises.append(ExerciseItem.from_parent(item.parent, name=name, cells=waiting))
            waiting = []
    items[:] = exercises


class ExerciseItem(pytest.Item):
    """The cells of one exercise; the last one is its check."""

    def __init__(self, *, cells: list[IPyNbCell], **arguments: Any) -> None:
        super().__init__(**arguments)
        self.cells = cells
        for cell in cells:  # whatever marks for nbval the student may have written
            cell.options.update(skip=False, check=False, check_exception=True)
        self.check.options.update(check=True, check_exception=False)
        self.check.compare_outputs = self._compare

    @property
    def check(self) -> IPyNbCell:
        return self.cells[-1]

    def runtest(self) -> None:
        """Run the cells in the notebook's kernel; nbval raises if the verdict is another one."""
        for cell in self.cells:
            cell.runtest()

    def _compare(self, test: list[NotebookNode], reference: list[NotebookNode]) -> bool:
        verdicts = [output for output in test if output.output_type == "execute_result"]
        return IPyNbCell.compare_outputs(self.check, verdicts, reference)

    def what_was_said(self, error: BaseException | None) -> str:
        """The check's own words, or why there are none; and what went wrong before it."""
        outputs = self.check.test_outputs or []
        results = [first_line(o) for o in outputs if o.output_type == "execute_result"]
        words = results[-1:] if results else [why_red(error, outputs)] if error else []
        before = [
            f"(before it, {cell.cell.metadata.step} raised {first_line(output)})"
            for cell in self.cells[:-1]
            for output in cell.test_outputs or []
            if output.output_type == "error"
        ]
        return " ".join([*(word.removeprefix(f"{self.name}: ") for word in words), *before])

    def repr_failure(self, excinfo: pytest.ExceptionInfo, style: Any = None) -> str:
        return self.check.repr_failure(excinfo)

    def reportinfo(self) -> tuple[os.PathLike[str], int, str]:
        return self.path, 0, self.name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: ExerciseItem, call: pytest.CallInfo
) -> Generator[None, Any, Any]:
    """Keep what the check said with the report."""
    report = yield
    if report.when == "call" or report.failed:
        error = call.excinfo.value if call.excinfo else None
        report.user_properties.append((SAID, item.what_was_said(error)))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table: exercise, verdict, what the check said."""
    rows = []
    for verdict, kind in [("green", "passed"), ("red", "failed"), ("red", "error")]:
        for report in terminalreporter.getreports(kind):
            said = dict(report.user_properties).get(SAID, "")
            rows.append((report.nodeid.partition("::")[2], verdict, said))
    session = terminalreporter._session
    order = [item.name for item in session.items] if session else []
    width = max((len(name) for name in order), default=8)
    terminalreporter.write_line(f"{'exercise':<{width}}  verdict  what the check said")
    for name, verdict, said in sorted(rows, key=lambda row: order.index(row[0])):
        terminalreporter.write_line(f"{name:<{width}}  {verdict:<7}  {said}")


def _name(cell: NotebookNode) -> str | None:
    """`2.1 equivalent_rules`, as the saved verdict of a check cell begins."""
    texts = (output.get("data", {}).get("text/plain", "") for output in cell.outputs)
    found = next(filter(None, map(VERDICT.match, texts)), None)
    return f"{found['number']} {found['name']}" if found else None
