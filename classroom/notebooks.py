"""Notebooks as files: read, execute, clean and write them, and count what nbval really compares."""

from __future__ import annotations

import copy
import re
import subprocess
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from selfcheck.files import CourseError

from .roles import Role, name_cells, role

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
NOT_COMPARED = {WIDGET_VIEW, "image/png", "image/jpeg"}  # nbval skips these
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
VOLATILE = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted")
CELL_TIMEOUT = 120  # seconds
PICTURE_LIMIT = 100_000  # bytes
ANSI_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def read(path: Path) -> NotebookNode:
    """Read a notebook of format 4 whose cells have ids; never mends one silently."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            notebook = nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise CourseError(f"There is no notebook {path}.") from None
    except Exception as error:
        raise CourseError(f"{path} is not a sound notebook: {error}") from None
    if any("id" not in cell for cell in notebook.cells):
        raise CourseError(f"{path} has cells without ids; save it once in JupyterLab 4.")
    return notebook


def as_text(notebook: NotebookNode) -> str:
    """The notebook as it is saved; validated, so that nothing broken is ever written."""
    nbformat.validate(notebook)
    return nbformat.v4.writes(notebook) + "\n"  # as `nbformat.writes`, which validates again


def execute(path: Path, timeout: int = CELL_TIMEOUT, first: str = "") -> NotebookNode:
    """Run a notebook in a fresh kernel of this very Python; return it clean, its cells named.

    What a new run would change for no reason stays as it was saved (`saved_outputs.py`). Code that
    is to run `first` leaves no trace.
    """
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager

    from .saved_outputs import keep_saved

    notebook, last = read(path), ["none"]
    before = copy.deepcopy(notebook)
    kernel = AsyncKernelManager(
        kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager()
    )
    client = NotebookClient(
        notebook,
        km=kernel,
        timeout=timeout,
        startup_timeout=180,
        resources={"metadata": {"path": str(path.parent.resolve())}},
        store_widget_state=False,
        coalesce_streams=True,
        on_cell_start=lambda cell, cell_index: last.append(cell.id),
    )

    def begin(notebook: NotebookNode) -> None:
        if first and client.kc is not None:
            client.kc.execute(first, silent=True)

    client.on_notebook_start = begin
    try:
        # The kernel is ours to end; its own remarks on stderr are of no use here.
        client.execute(cleanup_kc=True, stderr=subprocess.DEVNULL)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        story = ANSI_COLOR.sub("", str(error)).strip()
        raise CourseError(f"{path}, cell {last[-1]}: did not run to its end.\n{story}") from None
    return name_cells(keep_saved(before, clean(notebook)))


def clean(notebook: NotebookNode) -> NotebookNode:
    """Drop what changes from run to run: widget views, times, versions; keep ids and outputs."""
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    )
    for cell in notebook.cells:
        for key in VOLATILE:
            cell.metadata.pop(key, None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("data") != {}]
    return notebook


def strip_outputs(notebook: NotebookNode) -> NotebookNode:
    """Drop every output, as if the notebook had never been run."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return clean(notebook)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The code cells with something in them."""
    return [c for c in notebook.cells if c.cell_type == "code" and c.source.strip()]


def is_blank_sheet(notebook: NotebookNode) -> bool:
    """An exercise as it is handed out: nothing was run, and there are blanks to fill in."""
    cells = code_cells(notebook)
    return any("____" in c.source for c in cells) and all(c.execution_count is None for c in cells)


@dataclass(frozen=True)
class Coverage:
    """How much of a notebook was saved executed and how much of that nbval compares."""

    cells: int
    run: int
    compared: int


def coverage(notebook: NotebookNode) -> Coverage:
    """Count the code cells, those saved executed, and those whose saved output is compared."""
    cells = code_cells(notebook)
    run = [c for c in cells if c.execution_count is not None]
    return Coverage(len(cells), len(run), sum(is_compared(c) for c in run))


def is_ignored(cell: NotebookNode) -> bool:
    """Is nbval told not to compare this cell? Asks its own reading of tags and marks."""
    from nbval.plugin import find_comment_markers, find_metadata_tags

    options = dict([*find_metadata_tags(cell.metadata), *find_comment_markers(cell.source)])
    return options.get("skip", False) or not options.get("check", True)


def is_compared(cell: NotebookNode) -> bool:
    """Was something saved here that nbval compares?"""
    if cell.execution_count is None or is_ignored(cell):
        return False
    return any(_comparable(output) for output in cell.outputs)


def _comparable(output: NotebookNode) -> bool:
    return output.output_type in ("stream", "error") or bool(set(output.data) - NOT_COMPARED)


def problems(notebook: NotebookNode) -> list[str]:
    """What must not be committed: unrun cells, errors, unseen checks, pictures without words."""
    cells = code_cells(notebook)
    counts = [c.execution_count for c in cells]
    unrun = [c.id for c in cells if c.execution_count is None]
    found = []
    if unrun:
        found.append(f"saved without having been run: {', '.join(unrun)}")
    elif counts != list(range(1, len(counts) + 1)):
        found.append("the code cells were not run in order from a fresh kernel")
    for cell in cells:
        if role(cell) is Role.CHECK and not is_compared(cell):
            found.append(f"cell {cell.id}: a check whose verdict nbval does not compare")
        for output in cell.outputs:
            found += [f"cell {cell.id}: {what}" for what in _output_problems(output)]
    return found


def _output_problems(output: NotebookNode) -> Iterable[str]:
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
        if len(picture) * 3 // 4 > PICTURE_LIMIT:
            yield f"a picture of {len(picture) * 3 // 4000} kB; 100 kB is the limit"
