"""What nbgrader is told in a folder written by `course release --nbgrader`; it imports this."""

from __future__ import annotations

from typing import Any

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor
from nbgrader.utils import is_grade

from .marks import without_solution
from .notebooks import CELL_TIMEOUT


class PutStubs(NbGraderPreprocessor):
    """Replaces solutions by our stubs, where nbgrader would put `raise NotImplementedError()`."""

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        """nbgrader calls this for each cell of the source."""
        if not is_grade(cell):  # those hold nbgrader's own marks
            cell.source = without_solution(cell, resources["nbgrader"]["notebook"])
        return cell, resources


def apply(config: Any) -> None:
    """Our stubs, our time limit, and deleted checks put back; the rest is nbgrader's own way."""
    steps = GenerateAssignment.class_traits()["preprocessors"].default()
    config.GenerateAssignment.preprocessors = [
        PutStubs if step is ClearSolutions else step for step in steps
    ]
    config.Execute.timeout = CELL_TIMEOUT
    config.OverwriteCells.add_missing_cells = True
