"""Notebooks as files: read, execute, clean and write them, and count what nbval really compares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from ..files import CourseError

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
NOT_COMPARED = {WIDGET_VIEW, "image/png", "image/jpeg"}  # nbval skips these
IGNORED_TAGS = {"nbval-ignore-output", "nbval-skip"}
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
CELL_TIMEOUT = 120  # seconds


def read(path: Path) -> NotebookNode:
    """Read a notebook of format 4."""
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise CourseError(f"There is no notebook {path}.") from None
    except Exception as error:
        raise CourseError(f"{path} is not a readable notebook: {error}") from None


def as_text(notebook: NotebookNode) -> str:
    """The notebook as it is saved; validated, so that nothing broken is ever written."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def execute(path: Path, timeout: int = CELL_TIMEOUT) -> NotebookNode:
    """Run a notebook from top to bottom in a fresh kernel and return it cleaned."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = read(path)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        coalesce_streams=True,
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise CourseError(f"{path} did not run to its end:\n{error}") from None
    return clean(notebook)


def clean(notebook: NotebookNode) -> NotebookNode:
    """Drop what changes from run to run: widget views, times, versions; keep ids and outputs."""
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    )
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)
    return notebook


def strip_outputs(notebook: NotebookNode) -> NotebookNode:
    """Drop every output, as if the notebook had never been run."""
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    return clean(notebook)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The code cells with something in them."""
    return [c for c in notebook.cells if c.cell_type == "code" and c.source.strip()]


@dataclass(frozen=True)
class Coverage:
    """How much of a notebook nbval runs and how much of it nbval compares."""

    cells: int
    run: int
    compared: int


def coverage(notebook: NotebookNode) -> Coverage:
    """Count the code cells, those saved executed, and those whose saved output is compared."""
    cells = code_cells(notebook)
    run = [c for c in cells if c.execution_count is not None]
    return Coverage(len(cells), len(run), sum(is_compared(c) for c in run))


def is_compared(cell: NotebookNode) -> bool:
    """Would nbval turn red if this cell printed something else?"""
    tags = set(cell.metadata.get("tags", []))
    if cell.execution_count is None or tags & IGNORED_TAGS:
        return False
    return any(_comparable(output) for output in cell.outputs)


def _comparable(output: dict[str, Any]) -> bool:
    return output.output_type in ("stream", "error") or bool(set(output.data) - NOT_COMPARED)


def problems(notebook: NotebookNode) -> list[str]:
    """What must not be committed: cells never run, errors, widget views, figures without words."""
    cells = code_cells(notebook)
    counts = [c.execution_count for c in cells]
    found = []
    if None in counts:
        found.append(f"{counts.count(None)} code cells were saved without having been run")
    elif counts != list(range(1, len(counts) + 1)):
        found.append("the code cells were not run in order from a fresh kernel")
    for cell in cells:
        for output in cell.outputs:
            found += [f"cell {cell.id}: {what}" for what in _output_problems(output)]
    return found


def _output_problems(output: dict[str, Any]) -> Iterable[str]:
    if output.output_type == "error":
        yield f"saved with the error {output.ename}"
    if output.output_type == "stream" and output.name == "stderr":
        yield "saved with text on stderr"
    data = output.get("data", {})
    if WIDGET_VIEW in data:
        yield "saved with a widget view, which no other kernel can show"
    picture = data.get("image/png")
    if picture is not None:
        if not output.metadata.get("image/png", {}).get("alt"):
            yield "a picture without alt text"
        if len(picture) * 3 / 4 > 100_000:
            yield f"a picture of {len(picture) * 3 // 4000} kB; 100 kB is the limit"
