"""Everything else a person waits for: commands of the course, timed by the clock on the wall.

They want the whole machine, so this is measured on request: make benchmark ARGS=waiting
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.core import Report, significant
from tests.browser import lab as harness

ROOT = Path(__file__).parents[1]
COURSE = [sys.executable, "-m", "selfcheck"]
GOALS = {"lab": 3.0, "slides": 60.0}  # seconds


def measure(report: Report) -> None:
    """A row a command, the first time and again."""
    rows = [["`make lab`: from nothing to installed", fresh_install(), ""]]
    rows.append(["`course lab`: to a page that answers", lab(), lab()])
    slides = [seconds([*COURSE, "slides"], fresh=("build/slides",))]
    rows.append(
        ["`course slides`: all decks, then none changed", *slides, seconds([*COURSE, "slides"])]
    )
    site = ["site", "--unit", "02"]
    rows.append(["`course site --unit 02`", seconds([*COURSE, *site]), seconds([*COURSE, *site])])
    quick = [sys.executable, "bootstrap.py", "test", "-m", "not slow", "tests"]
    rows.append(["`make quick`, without lint", seconds(quick), ""])
    rows.append(["`course check`: nbval over everything", seconds([*COURSE, "check"]), ""])
    report.table(["command", "seconds", "again"], [[name, *map(shown, t)] for name, *t in rows])
    report.goal("`course lab` answers after", float(rows[1][2] or 0), GOALS["lab"], "s")
    report.goal("slides from nothing take", float(slides[0] or 0), GOALS["slides"], "s")


def shown(value: object) -> str:
    """Seconds, or why there are none."""
    return significant(value) if isinstance(value, float) else str(value)


def seconds(command: list[str], fresh: tuple[str, ...] = ()) -> float | str:
    """How long it takes; a word if it fails, as a site does without a network."""
    for folder in fresh:
        shutil.rmtree(ROOT / folder, ignore_errors=True)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True)
    return time.perf_counter() - start if done.returncode == 0 else "failed"


def fresh_install() -> float | str:
    """A copy of the course without .venv, set up for students."""
    with tempfile.TemporaryDirectory(prefix="course-") as folder:
        copy = Path(folder, "course")
        out = shutil.ignore_patterns(".venv", "build", ".git", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, copy, ignore=out)
        start = time.perf_counter()
        command = [sys.executable, "bootstrap.py", "course", "doctor"]
        done = subprocess.run(command, cwd=copy, env=_environment(), capture_output=True)
        took = time.perf_counter() - start
    return took if done.returncode in (0, 1) else "failed"


def lab() -> float:
    """Until JupyterLab answers."""
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        start = time.perf_counter()
        with harness.lab_server(ROOT, Path(folder)):
            return time.perf_counter() - start


def _environment() -> dict[str, str]:
    """Without what this benchmark set for its own arithmetic."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    mine = {name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name}
    return {**mine, "PATH": path}
