"""Code that stands in strings (attacks, cells, commands) takes hold of what is really there.

An attack that imports a module which has moved attacks nothing, and its test is green.
"""

import ast
import functools
import importlib
import re
import textwrap

import pytest

from tests.places import PACKAGES, ROOT, SMALL, python_files

OURS = {folder.name for folder in (*PACKAGES, ROOT / "tests", SMALL / "small_course")}
HOSTILE = ROOT / "tests" / "classroom" / "grading" / "test_hostile.py"
FILES = [*python_files(ROOT / "tests", 100), *python_files(ROOT / "benchmarks", 15)]


def strings(path):
    """The strings of a file that are Python themselves, parsed."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "import" in node.value
        ):
            try:
                yield ast.parse(textwrap.dedent(node.value))
            except (SyntaxError, ValueError):
                continue  # prose, or a part of something


def taken(code):
    """What code imports from our packages: (its name there, "module" or "module:attribute")."""
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}:{alias.name}"


def ours_in(code):
    return [(name, place) for name, place in taken(code) if re.split("[.:]", place)[0] in OURS]


@functools.cache
def found(place):
    """The module or attribute of this name; ImportError or AttributeError if there is none."""
    module, _, attribute = place.partition(":")
    home = importlib.import_module(module)
    if not attribute or attribute == "*":
        return home
    try:
        return getattr(home, attribute)
    except AttributeError:
        return importlib.import_module(f"{module}.{attribute}")


def test_what_code_in_strings_imports_of_ours_is_there():
    places = {
        (path, place) for path in FILES for code in strings(path) for _, place in ours_in(code)
    }
    assert len(places) > 30
    for path, place in sorted(places):
        try:
            found(place)
        except (ImportError, AttributeError) as problem:
            pytest.fail(
                f"{path.relative_to(ROOT)} has code in a string that needs {place}: {problem}"
            )


def test_an_attack_takes_hold_of_what_is_there():
    """`meter.Meter._count = …` is an attack only as long as the meter counts by that name."""
    held = set()
    for code in strings(HOSTILE):
        names = dict(ours_in(code))
        for node in ast.walk(code):
            root, _, attributes = ast.unparse(node).partition(".")
            if isinstance(node, ast.Attribute) and root in names:
                held.add((names[root], attributes))
    assert len(held) > 5
    for place, attributes in sorted(held):
        functools.reduce(getattr, attributes.split("."), found(place))
