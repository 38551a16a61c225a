"""The machine needs no course, no notebook, no figures: a check runs on NumPy and SymPy alone."""

import ast
import os
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import selfcheck

ROOT = Path(__file__).parents[1]
MACHINE = ROOT / "selfcheck"
SOURCES = sorted(MACHINE.rglob("*.py"))
# What only figures need; all other modules belong to judging, or to commands that start without it.
OF_FIGURES = {f"selfcheck.{n}" for n in ("diagram", "explore", "png", "recorder", "style")}
COURSES = ("course_utils", "classroom")
BLOCKED = (
    *COURSES, "IPython", "PIL", "comm", "cycler", "ipykernel", "ipywidgets", "jupyter_client",
    "jupyter_core", "jupyter_server", "jupyterlab", "matplotlib", "nbformat", "packaging",
    "tornado", "traitlets", "zmq",
)  # fmt: skip
ALONE = """
import sys

BLOCKED = {blocked!r}

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
"""


def modules():
    """The names of all modules of the package."""
    for path in SOURCES:
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def alone(code, folder):
    """What this code prints where all that judging does not need is blocked."""
    command = [sys.executable, "-c", ALONE.format(blocked=BLOCKED) + code]
    ours = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=ours, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def exercise_from_nothing():
    """The exercise that the README shows."""
    text = (MACHINE / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return code


def test_the_exercise_from_nothing_has_some_twenty_lines():
    lines = [line for line in exercise_from_nothing().splitlines() if line.strip()]
    assert len(lines) <= 20  # with the three calls


def test_every_module_that_judging_needs_is_loaded_alone(tmp_path):
    wanted = [name for name in modules() if name not in OF_FIGURES and "__main__" not in name]
    assert len(wanted) > 50
    code = f"""
from importlib import import_module
for name in {wanted!r}:
    import_module(name)
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & {{*BLOCKED}}))
"""
    assert alone(code, tmp_path) == [""]


@pytest.mark.parametrize("name", sorted(OF_FIGURES))
def test_what_figures_need_is_blocked_indeed(name, tmp_path):
    code = f"""
try:
    import {name}
except ImportError as why:
    print(why)
"""
    (why,) = alone(code, tmp_path)
    assert why.endswith("is blocked")


def test_an_exercise_judges_alone(tmp_path):
    code = f"""
{exercise_from_nothing()}
print(even_sum("n +"))
print(even_sum.hint())
"""
    wrong, known, right, unreadable, hint = alone(code, tmp_path)
    assert wrong.startswith("1.1 even_sum: wrong, 0 of 2 points. At n = ")
    assert "Known mistake: the factor 2 lost. That is 1 + 2 + … + n. Hint 1 of 2" in known
    assert right.startswith("1.1 even_sum: right, 2 of 2 points.")
    assert unreadable.startswith("1.1 even_sum: could not be checked, 0 of 2 points.")
    assert hint == "Hint 1 of 2: Take the factor 2 out of every term."


def test_a_derivation_is_judged_and_a_cost_counted_alone(tmp_path):
    code = """
import numpy as np
from selfcheck.derivation import Derivation, real
from selfcheck.meter import measure

derivation = Derivation("(x + 1)**2", [("=", "x**2 + 1", "")], where={"x": real})
print(derivation.check().sentence)
print(measure(lambda A: A @ A, np.eye(3)).flops)
"""
    sentence, flops = alone(code, tmp_path)
    assert sentence.startswith("Line 1 is false: at x = ")
    assert flops == "45"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(MACHINE)))
def test_no_source_names_a_course(path):
    text = path.read_text(encoding="utf-8")
    assert not [name for name in COURSES if name in text]


def imports(path):
    """The modules of the package that a source imports while it is loaded itself."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    package = parts[:-1]
    waiting = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and node.level:
            assert node.level <= len(package), f"{path}:{node.lineno} leads out of the package"
            home = [*package[: len(package) - node.level + 1], *filter(None, [node.module])]
            inner = [".".join([*home, alias.name]) for alias in node.names]
            yield from ({*inner} & {*modules()}) or [".".join(home)]
        elif isinstance(node, ast.Try | ast.With):
            waiting += node.body


def test_no_two_modules_need_each_other_to_be_loaded():
    graph = {name: {*imports(path)} - {name} for name, path in zip(modules(), SOURCES, strict=True)}
    assert sum(map(len, graph.values())) > 100
    assert len([*TopologicalSorter(graph).static_order()]) >= len(SOURCES)


def test_no_module_hides_a_name_that_the_package_exports():
    here = {path.stem for path in MACHINE.glob("*.py")} | {p.parent.name for p in SOURCES}
    assert len(here) > 30
    assert not here & {*selfcheck.__all__}


@pytest.mark.parametrize("name", selfcheck.__all__)
def test_what_the_package_exports_is_there(name):
    assert getattr(selfcheck, name) is not None
