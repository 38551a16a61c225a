"""The notebooks as they are committed: sound, complete, and checked by an nbval that can fail."""

import copy
import itertools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from nbformat import from_dict

from classroom.frames import unpacked
from classroom.notebooks import (
    VOLATILE,
    as_text,
    code_cells,
    coverage,
    is_ignored,
    problems,
    read,
    strip_outputs,
)
from classroom.picture_diff import pictures
from classroom.release import exercise_from, solution_lines
from classroom.roles import Role, id_of, name_cells, role
from classroom.saved_outputs import MEASURED
from classroom.solutions import read_solution
from course_utils.units import UNITS
from selfcheck.sealed import MARKS, WHY, solutions_in
from selfcheck.units import declared, listed
from tests.places import our_notebooks

ROOT = Path(__file__).parents[1]
LECTURES, SOLUTIONS, TASKS = map(our_notebooks, ("notebooks", "solutions", "exercises"))


def each(paths):
    return pytest.mark.parametrize(
        "path", paths, ids=lambda path: f"{path.parent.name}/{path.stem}"
    )


# -- every notebook -------------------------------------------------------------------------------


@each(LECTURES + SOLUTIONS)
def test_it_was_saved_executed_in_order_and_without_problems(path):
    assert problems(read(path)) == []


@each(LECTURES + SOLUTIONS + TASKS)
def test_it_is_small(path):
    assert path.stat().st_size <= 1_000_000


@each(LECTURES + SOLUTIONS + TASKS)
def test_it_is_saved_as_we_save_notebooks_and_without_what_changes_from_run_to_run(path):
    notebook = read(path)
    assert as_text(notebook) == path.read_text(encoding="utf-8")
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.language_info == {"name": "python"}
    assert not any(set(cell.metadata) & set(VOLATILE) for cell in notebook.cells)


@each(LECTURES + SOLUTIONS + TASKS)
def test_its_cells_have_readable_names(path):
    notebook = read(path)
    names = [cell.id for cell in notebook.cells]
    assert names == [cell.id for cell in name_cells(notebook).cells]  # as the tools would name them
    assert [name for name in names if not re.fullmatch(r"[a-z]+[a-z0-9]*(-[a-z0-9]+)*", name)] == []
    assert len(set(names)) == len(names)


@each(LECTURES)
def test_only_what_differs_from_run_to_run_is_left_out_of_the_comparison(path):
    """An explorer is the same in every run: its values as text, and its picture."""
    ignored = [cell for cell in code_cells(read(path)) if is_ignored(cell)]
    assert [cell.id for cell in ignored if "Explorer(" in cell.source] == []
    assert all(MEASURED in cell.metadata for cell in ignored)


def test_nearly_all_pictures_are_compared():
    """Which it is: nbval's plugin compares them in the cells that are not left out."""
    cells = [cell for path in LECTURES for cell in code_cells(read(path)) if pictures(cell.outputs)]
    drawn_from_times = [cell.id for cell in cells if is_ignored(cell)]
    assert drawn_from_times == [
        "timing-figure", "clock-figure", "published-figure", "seconds-figure", "loss-figure",
        "bug-figure", "speed-figure", "decay-figure",
    ]  # fmt: skip
    assert len(cells) >= 60


# -- explorers ------------------------------------------------------------------------------------


def explorers():
    """The cell and the numbers of each explorer that a lecture shows."""
    for path in LECTURES:
        for cell in code_cells(read(path)):
            for output in pictures(cell.outputs):
                if output.data["text/plain"].startswith("Explorer("):
                    numbers = output.metadata["image/png"].get("explorer", "")
                    yield pytest.param(numbers, id=f"{path.stem[:2]} {cell.id}")


@each(LECTURES)
def test_the_caption_of_a_figure_says_something_else_than_its_alt_text(path):
    outputs = [output for cell in code_cells(read(path)) for output in cell.outputs]
    figures = [o for o in outputs if "image/png" in o.get("data", {})]
    alts = {alt for o in figures if (alt := o.metadata.get("image/png", {}).get("alt"))}
    captions = [o.data["text/plain"] for o in outputs if "text/html" in o.get("data", {})]
    assert alts
    assert alts.intersection(captions) == set()


@each(LECTURES)
def test_plumbing_is_folded_and_every_fold_has_a_title_in_words(path):
    for cell in code_cells(read(path)):
        first, *rest = cell.source.split("\n")
        folded = "hide-input" in cell.metadata.get("tags", [])
        assert folded == bool(cell.metadata.get("jupyter", {}).get("source_hidden")), cell.id
        imports = [line for line in rest if re.match("import |from ", line)]
        if folded:
            assert re.match(r"# [A-Z]\S+( \S+){2}", first), f"{cell.id}: {first}"
        else:
            assert "style.show(" not in cell.source, f"{cell.id}: fold how a figure is drawn"
            assert len(imports) < 3, f"{cell.id}: fold the imports"


def test_there_are_explorers_in_every_lecture():
    lectures = {param.id[:2] for param in explorers()}
    assert lectures == {unit.number for unit in UNITS}


@pytest.mark.parametrize("numbers", list(explorers()))
def test_an_explorer_moves_where_no_kernel_runs_and_its_goal_is_there_to_be_reached(numbers):
    """Not at the start; at some stop, and the stops do not tell which."""
    head, _ = unpacked(numbers)
    stops = [tuple(place) for place in itertools.product(*head["grid"])]
    reached = {at for at, place in zip(stops, head["places"], strict=True) if place[3]}
    assert head["goal"]
    assert reached
    assert tuple(head["at"]) in set(stops) - reached
    assert sum(len(some) > 1 for some in head["grid"]) >= min(2, len(head["controls"]))
    for control, some in zip(head["controls"], head["grid"], strict=True):
        assert len(some) in (1, control["count"]) or len(some) >= 20
        assert len({later - one for one, later in itertools.pairwise(some[1:-1])}) <= 1


# -- one stem everywhere --------------------------------------------------------------------------


def test_lectures_solutions_and_exercises_have_the_same_names():
    lectures = [path.name for path in LECTURES if not path.name.startswith("00_")]
    solutions = [path.name for path in SOLUTIONS]
    assert lectures == solutions == [path.name for path in TASKS]
    assert solutions == [f"{unit.stem}.ipynb" for unit in UNITS]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_it_has_a_check_module_and_a_test_of_the_same_name(unit):
    assert (ROOT / "course_utils" / "checks" / f"{unit.name}.py").exists()
    assert (ROOT / "tests" / "checks" / f"test_{unit.name}.py").exists()


@each(SOLUTIONS)
def test_its_exercises_are_those_that_the_unit_declares_each_with_heading_answer_and_check(path):
    solution = read_solution(path)  # refuses anything else
    assert solution.exercises == listed(path.stem)


def ids_of(a_role, path, beyond):
    """Where the cells of this role stand: of what is beyond the page, or of what is on it."""
    ids = [cell.id for cell in read(path).cells]
    return [ids.index(id_of(a_role, e.name)) for e in listed(path.stem) if e.is_transfer is beyond]


@each(SOLUTIONS)
def test_a_text_cell_parts_what_is_on_the_page_from_what_is_beyond_it(path):
    cells = read(path).cells
    parting = [k for k, c in enumerate(cells) if c.source.startswith("## Beyond the page")]
    if beyond := ids_of(Role.ANSWER, path, beyond=True):
        (place,) = parting
        assert cells[place].cell_type == "markdown"
        assert max(ids_of(Role.CHECK, path, beyond=False)) < place < min(beyond)
    else:
        assert parting == []


@each(SOLUTIONS)
def test_every_solution_earns_all_points_and_says_why(path):
    cells = read(path).cells
    asked = {e.number: e for e in listed(path.stem)}
    for beyond in (False, True):
        for check in ids_of(Role.CHECK, path, beyond=beyond):
            after = cells[check + 1]
            assert role(after) is Role.INSTRUCTORS, cells[check].source
            assert after.source.startswith("**Why.** ")
            assert len(after.source) > 60, after.source
            assert not beyond or "wrong turn" in after.source.lower()
            says = cells[check].outputs[0]["data"]["text/plain"]
            number, name, *_ = says.replace(":", "").split()
            points = asked[number].points
            assert says.startswith(f"{number} {name}: right, {points} of {points} point")


@each(SOLUTIONS)
def test_students_can_be_shown_every_solution_with_its_why(path):
    found = solutions_in(read_solution(path).notebook.cells)
    assert found.keys() == {e.name for e in listed(path.stem)}
    for name, one in found.items():
        assert one.why.startswith(WHY), name
        assert "____" not in one.code.replace("import ____", ""), name
        assert not any(mark in one.code for mark in MARKS), name


# -- exercises ------------------------------------------------------------------------------------


@each(SOLUTIONS)
def test_its_exercise_is_what_would_be_generated_now(path):
    expected = as_text(exercise_from(read_solution(path)))
    assert (ROOT / "exercises" / path.name).read_bytes() == expected.encode()


@each(SOLUTIONS)
def test_no_line_of_the_solution_is_in_the_exercise_file(path):
    exercise = read(ROOT / "exercises" / path.name)
    shown = {line.strip() for cell in exercise.cells for line in cell.source.splitlines()}
    secrets = solution_lines(read(path))
    assert secrets
    assert shown.isdisjoint(secrets)


@each(TASKS)
def test_the_exercise_has_no_outputs(path):
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


# -- nbval can fail -------------------------------------------------------------------------------


def red_cells(folder):
    """Run nbval over a folder: the numbers of the cells that failed by notebook, and the table."""
    report = folder / "report.xml"
    outer = ("PYTEST_", "COV_")  # nothing of a pytest around this one may leak in
    environment = {k: v for k, v in os.environ.items() if not k.startswith(outer)}
    result = subprocess.run(
        [
            sys.executable, "-m", "pytest", f"--rootdir={folder}", f"--junitxml={report}",
            "-c", os.devnull, "-p", "no:cacheprovider", "-p", "conftest", "-q", "--tb=no",
            "-n", "2", "--dist", "loadfile",
            "--nbval", "--nbval-current-env", "--nbval-cell-timeout=120", str(folder),
        ],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT)},  # for the conftest with the table
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert result.returncode in (0, 1), result.stdout + result.stderr
    red: dict[str, list[int]] = {path.name: [] for path in folder.glob("*.ipynb")}
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None:
            stem = case.get("classname").removesuffix(".ipynb").split(".")[-1]
            red[f"{stem}.ipynb"].append(int(case.get("name").removeprefix("Cell ")))
    table = {row[0]: row[1:] for row in map(str.split, result.stdout.splitlines()) if row}
    return red, table


def with_each_answer_taken_out_in_turn(path):
    """Each check stands behind a blank, as if nobody had answered; behind it stands the answer.

    One kernel runs them all. Every answer is back in its place before the next one is taken out, so
    a red cell elsewhere than at a check means that something depends on it by mistake. That the
    checks are green behind their answers is what nbval shows in solutions/.
    """
    blanks = {cell.id: cell.source for cell in exercise_from(read_solution(path)).cells}
    solution, cells, answer = read(path), [], None
    for cell in copy.deepcopy(solution.cells):
        if role(cell) is Role.ANSWER:
            answer = copy.deepcopy(cell)
            cell.id, cell.source = f"blank-{cell.id}", blanks[cell.id]
        cells.append(cell)
        if answer and role(cell) is Role.CHECK:
            cells.append(answer)
            answer = None
    return from_dict({**solution, "cells": cells})


@pytest.fixture(scope="module")
def broken():
    """The solutions with each answer taken out in turn, and one of them as if never run."""
    notebooks = {path.name: with_each_answer_taken_out_in_turn(path) for path in SOLUTIONS}
    never_run = strip_outputs(copy.deepcopy(notebooks[SOLUTIONS[0].name]))
    return {**notebooks, "never_run.ipynb": never_run}


@pytest.fixture(scope="module")
def nbval(broken, tmp_path_factory):
    """What one run of nbval says about all of them: the red cells by notebook, and the table."""
    folder = tmp_path_factory.mktemp("broken")
    for name, notebook in broken.items():
        (folder / name).write_text(as_text(notebook), encoding="utf-8")
    return red_cells(folder)


@each(SOLUTIONS)
def test_nbval_turns_red_at_the_check_of_each_answer_that_is_taken_out(path, broken, nbval):
    red, table = nbval
    names = [cell.id for cell in broken[path.name].cells if cell.cell_type == "code"]
    checks = [id_of(Role.CHECK, exercise.name) for exercise in declared(path.stem)]
    assert [names[number] for number in red[path.name]] == [*checks, "scoreboard"]
    count = str(len(names))
    assert table[path.name][:3] == [count, count, str(coverage(broken[path.name]).compared)]


def test_nbval_alone_lets_what_was_never_run_pass_but_we_do_not(broken, nbval):
    red, table = nbval
    assert red["never_run.ipynb"] == []
    assert table["never_run.ipynb"][2] == "0"
    assert any(
        "without having been run" in problem for problem in problems(broken["never_run.ipynb"])
    )
