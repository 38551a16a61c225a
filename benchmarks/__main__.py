"""Measure, and write docs/benchmarks.md: python -m benchmarks [--peers] [--print] [NAME …].

Without a name everything in BENCHMARKS runs but what has to be asked for. Each benchmark is a
module with a function `measure(report)`, and runs in a process of its own.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

from benchmarks import pages
from benchmarks.core import Report, load, machine
from benchmarks.peers import python_with_peers
from classroom.threads import ONE_THREAD

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = {  # by name, in the order of the page
    "grading": "Grading a class, beside nbgrader, otter-grader and nbval",
    "floor": "Grading beside the cells' own run, unit by unit",
    "families": "Grouping wrong answers",
    "checks": "How long a check takes",
    "starting": "From an open notebook to the first verdict",
    "explorers": "Explorers: from the key to the picture",
    "attention": "Attention, beside PyTorch",
    "optimizers": "Optimizers, beside PyTorch",
    "training": "The model of unit 12, beside PyTorch",
    "generation": "Writing token by token",
    "transport": "Transport, beside SciPy and POT",
    "meter": "What counting costs",
    "derivation": "What checking a derivation costs",
}
ON_REQUEST = {  # they take long, or want the whole machine
    "scale": "Grading at scale",
    "waiting": "Everything else a person waits for",
}
TITLES = {**BENCHMARKS, **ON_REQUEST}


def main() -> int:
    """Measure what was asked for; 1 if something failed or does not agree with a peer."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the course.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TITLES))
    parser.add_argument("--peers", action="store_true", help="with the peers, in build/peers")
    parser.add_argument("--print", action="store_true", help="write nothing")
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in options.names:
        if name not in TITLES:
            parser.error(f"there is no benchmark {name}; there are {', '.join(TITLES)}")
    if options.to:
        return one(options.names[0], options.to)
    python = python_with_peers(ROOT) if options.peers else Path(sys.executable)
    names = options.names or BENCHMARKS
    failed = [name for name in names if not measured(name, python, write=not options.print)]
    print(f"\nFailed: {', '.join(failed)}." if failed else "\nDone.")
    return 1 if failed else 0


def measured(name: str, python: Path, write: bool) -> bool:
    """Run one benchmark in its own process, and put what it says into the page."""
    print(f"\n== {name}", flush=True)
    start = time.perf_counter()
    variables = {**os.environ, **ONE_THREAD}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "report.json")
        command = [str(python), "-m", "benchmarks", name, "--to", str(told)]
        code = subprocess.run(command, cwd=ROOT, env=variables).returncode
        print(f"({name} took {time.perf_counter() - start:.0f} s)", flush=True)
        if not told.exists():
            return False
        report = json.loads(told.read_text(encoding="utf-8"))
    if write and code == 0:
        pages.write(ROOT, TITLES[name], report["text"], list(TITLES.values()))
    return code == 0


def one(name: str, to: Path) -> int:
    """Measure here, and leave the section for the page in a file."""
    report, busy, here = Report(), load(), machine()
    importlib.import_module(f"benchmarks.{name}").measure(report)
    about = f"*{date.today():%Y-%m-%d}, {here}; load {busy} at the start.*"
    quote = [f"{report.quote} {pages.mark(name)}"] if report.quote else []
    text = "\n\n".join([about, *quote, *report.blocks])
    to.write_text(json.dumps({"text": text}), encoding="utf-8")
    return 1 if report.disagrees else 0


if __name__ == "__main__":
    sys.exit(main())
