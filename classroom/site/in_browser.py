"""Run by Python in the browser's runtime, under node, and by the Python here: what do both say?

Reads notebooks from the folder NOTEBOOKS and writes one JSON line a notebook or unit: points,
errors and outputs that differ from the saved ones, and the verdict on every known mistake.
"""

import contextlib
import io
import json
import os
import sys
import time
from importlib import resources
from pathlib import Path
from typing import Any

SEED = 48213


def notebook(path: Path) -> dict:
    """Run the cells of a notebook one by one, as a kernel would."""
    from IPython.core.interactiveshell import InteractiveShell

    from selfcheck.feedback import Feedback

    shell = InteractiveShell.instance()
    shell.reset()
    start, errors, verdicts, differ = time.time(), [], [], []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        heard = io.StringIO()
        with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
            result = shell.run_cell("".join(cell["source"]), store_history=False)
        if not result.success:
            problem = result.error_in_exec or result.error_before_exec
            errors.append(f"{cell['id']}: {problem!r}"[:300])
        if isinstance(result.result, Feedback):
            verdicts.append(result.result)
        elif "nbval-ignore-output" not in cell["metadata"].get("tags", []):
            streams = [o["text"] for o in cell["outputs"] if o["output_type"] == "stream"]
            saved = "".join("".join(text) for text in streams).strip()
            if saved and saved not in heard.getvalue():
                differ.append(f"{cell['id']}: {saved[:600]!r} became {heard.getvalue()[:600]!r}")
    earned, points = sum(v.earned for v in verdicts), sum(v.points for v in verdicts)
    name = f"{path.parent.name}/{path.stem}"
    return {
        "what": name,
        "points": [earned, points],
        "problems": [*errors, *differ],
        "seconds": round(time.time() - start, 1),
    }


def mistakes(unit: Any, every: int) -> dict:
    """The verdict on every k-th known mistake of a unit: outcome, points and what is named."""
    said = {}
    known = [(e, m) for e in unit.exercises for m in e.misconceptions]
    for exercise, mistake in known[::every]:
        answers = list(mistake.example)
        exercise.seed = SEED
        with contextlib.redirect_stdout(io.StringIO()):
            verdict = exercise(*answers)
        exercise.seed = None
        named = sorted(m.name for m in verdict.mistakes)
        said[f"{exercise.number} {mistake.name}"] = [str(verdict.outcome), verdict.earned, named]
    return {"what": f"mistakes {unit.stem}", "said": said}


def main(folder: Path, package: str, words: list[str], every: int) -> None:
    """One JSON line for each notebook that is meant, and for each unit."""
    os.environ["MPLBACKEND"] = "agg"
    from selfcheck.units import read_table

    table = (resources.files(package) / "units.toml").read_text(encoding="utf-8")

    for path in sorted(folder.glob("*/*.ipynb")):
        if not words or any(word in path.stem for word in words):
            print(json.dumps(notebook(path)), flush=True)
    for unit in read_table(table, package):
        if not words or any(word in unit.stem for word in words):
            print(json.dumps(mistakes(unit, every)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[4:], int(sys.argv[3]))
