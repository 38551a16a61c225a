"""How long a lecture takes a student who reads, predicts and runs: counted, not guessed.

Words, lines of shown code, questions, pictures (flat ones less) and explorers each have their
price: that of a careful reader with a pencil, not of a lecturer who knows the page.
"""

from __future__ import annotations

import re

from nbformat import NotebookNode

from .outline import QUESTION

WORDS_PER_MINUTE, LINES_PER_MINUTE = 170, 12
A_QUESTION, A_SKETCH, A_PICTURE, AN_EXPLORER = 1.25, 0.75, 1.5, 3.0
FLAT = 240  # pixels: a picture that stands below a sentence, and is seen with it
REFERENCE = ("nav-head", "nav-foot", "sources")
WORD = re.compile(r"[^\W\d_]{2,}")
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)


def minutes_of(notebook: NotebookNode) -> float:
    """The minutes of a lecture; a formula counts as three words."""
    total = 0.0
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and not _is_for_reference(cell):
            formulas = len(FORMULA.findall(cell.source))
            words = len(WORD.findall(FORMULA.sub(" ", cell.source))) + 3 * formulas
            total += words / WORDS_PER_MINUTE + A_QUESTION * len(QUESTION.findall(cell.source))
        elif cell.cell_type == "code":
            if not cell.metadata.get("jupyter", {}).get("source_hidden"):
                total += len([line for line in cell.source.splitlines() if line]) / LINES_PER_MINUTE
            total += sum(map(_of_output, cell.outputs))
    return total


def _is_for_reference(cell: NotebookNode) -> bool:
    return cell.id in REFERENCE or cell.source.startswith("## Appendix")


def _of_output(output: NotebookNode) -> float:
    data = output.get("data", {})
    if "image/png" not in data:
        return 0.0
    if data.get("text/plain", "").startswith("Explorer("):
        return AN_EXPLORER
    height = output.metadata.get("image/png", {}).get("height", FLAT)
    return A_SKETCH if height < FLAT else A_PICTURE
