"""notebooks.py: executed by this very Python, saved clean, and honest about what nbval compares."""

import json
import sys

import nbformat.v4 as v4
import pytest

from classroom.notebooks import (
    WIDGET_VIEW,
    Coverage,
    as_text,
    clean,
    coverage,
    execute,
    is_compared,
    problems,
    read,
    strip_outputs,
)
from selfcheck.files import CourseError


def ran(source="1 + 1", name="a", count=1, outputs=(), **metadata):
    return v4.new_code_cell(
        source, id=name, execution_count=count, outputs=list(outputs), metadata=metadata
    )


def printed(text="2\n", name="stdout"):
    return v4.new_output("stream", name=name, text=text)


def shown(metadata=None, **data):
    data = {kind.replace("_", "/"): value for kind, value in data.items()}
    return v4.new_output("display_data", data=data, metadata=metadata or {})


def notebook(*cells):
    return v4.new_notebook(cells=list(cells))


def save(path, *cells):
    path.write_text(as_text(notebook(*cells)), encoding="utf-8")
    return path


# -- reading --------------------------------------------------------------------------------------


def test_a_notebook_that_is_not_there_gets_a_sentence(tmp_path):
    with pytest.raises(CourseError, match=r"There is no notebook .*none\.ipynb"):
        read(tmp_path / "none.ipynb")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"nbformat": 4, "nbformat_minor": 5}'])
def test_a_broken_file_gets_a_sentence(tmp_path, text):
    path = tmp_path / "broken.ipynb"
    path.write_text(text)
    with pytest.raises(CourseError, match=r"broken\.ipynb is not a sound notebook"):
        read(path)


def test_cells_without_ids_are_refused_because_new_ones_would_differ_every_time(tmp_path):
    path = save(tmp_path / "a.ipynb", ran())
    data = json.loads(path.read_text())
    del data["cells"][0]["id"]
    path.write_text(json.dumps(data))
    with pytest.raises(CourseError, match="id"):
        read(path)
    path.write_text(json.dumps({**data, "nbformat_minor": 4}))
    with pytest.raises(CourseError, match="without ids; save it once in JupyterLab 4"):
        read(path)


def test_two_cells_of_one_name_are_refused(tmp_path):
    path = save(tmp_path / "a.ipynb", ran(name="one"), ran(name="two"))
    path.write_text(path.read_text().replace('"two"', '"one"'))
    with pytest.raises(CourseError, match="not a sound notebook"):
        read(path)


def test_what_is_written_is_read_back_and_written_the_same(tmp_path):
    path = save(tmp_path / "a.ipynb", ran(outputs=[printed("größer\n")]))
    assert as_text(read(path)) == path.read_text(encoding="utf-8")


# -- executing ------------------------------------------------------------------------------------


def test_a_notebook_runs_in_this_python_whatever_kernels_are_installed(tmp_path, monkeypatch):
    decoy = tmp_path / "jupyter" / "kernels" / "python3"
    decoy.mkdir(parents=True)
    (decoy / "kernel.json").write_text(
        json.dumps({"argv": ["false"], "display_name": "decoy", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    source = "import pathlib, sys\nprint(sys.executable)\nprint(pathlib.Path.cwd())"
    path = save(
        tmp_path / "a.ipynb", ran(source, "first", None), ran("", "empty", None),
        ran("2", "last", None),
    )  # fmt: skip
    made = execute(path)
    assert [cell.id for cell in made.cells] == ["first", "empty", "last"]
    assert [cell.execution_count for cell in made.cells] == [1, None, 2]
    assert made.cells[0].outputs[0].text == f"{sys.executable}\n{tmp_path.resolve()}\n"
    assert problems(made) == []
    path.write_text(as_text(made))
    assert as_text(execute(path)) == as_text(made)


def test_a_cell_that_fails_is_named_and_the_file_stays(tmp_path):
    path = save(tmp_path / "a.ipynb", ran("x = 0", "fine", None), ran("1 / x", "broken", None))
    before = path.read_bytes()
    with pytest.raises(CourseError, match=r"(?s)a\.ipynb, cell broken: .*ZeroDivision") as error:
        execute(path)
    assert "\x1b" not in str(error.value)
    assert path.read_bytes() == before


def test_a_cell_that_takes_too_long_is_named(tmp_path):
    path = save(tmp_path / "a.ipynb", ran("while True: pass", "endless", None))
    with pytest.raises(CourseError, match="cell endless"):
        execute(path, timeout=1)


# -- cleaning -------------------------------------------------------------------------------------


def test_what_changes_from_run_to_run_is_dropped():
    view = shown(text_plain="slider")
    view.data[WIDGET_VIEW] = {"model_id": "123"}
    only_view = shown()
    only_view.data[WIDGET_VIEW] = {"model_id": "123"}
    dirty = notebook(ran(outputs=[view, only_view], execution={"started": "now"}, tags=["x"]))
    dirty.metadata = {"widgets": {}, "language_info": {"name": "python", "version": "3.11.7"}}
    made = clean(dirty)
    assert made.cells[0].metadata == {"tags": ["x"]}
    assert [output.data for output in made.cells[0].outputs] == [{"text/plain": "slider"}]
    assert made.metadata.language_info == {"name": "python"}
    assert made.metadata.kernelspec.name == "python3"
    assert set(made.metadata) == {"kernelspec", "language_info"}


def test_stripping_also_empties_cells_without_source():
    made = strip_outputs(notebook(ran("", outputs=[printed()]), ran(name="b", outputs=[printed()])))
    assert [(cell.outputs, cell.execution_count) for cell in made.cells] == [([], None)] * 2


# -- what nbval compares --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "compared"),
    [
        (ran(outputs=[printed()]), True),
        (ran(outputs=[shown(text_plain="2")]), True),
        (ran(outputs=[shown(image_png="")]), False),
        (ran(outputs=[]), False),
        (ran(count=None), False),
        (ran(outputs=[printed()], tags=["nbval-ignore-output"]), False),
        (ran(outputs=[printed()], tags=["nbval-skip"]), False),
        (ran("# NBVAL_IGNORE_OUTPUT\n2", outputs=[printed()]), False),
        (ran("# NBVAL_SKIP\n2", outputs=[printed()]), False),
    ],
)
def test_a_cell_is_compared_when_nbval_has_something_to_compare(cell, compared):
    assert is_compared(cell) == compared


def test_coverage_counts_cells_with_content():
    cells = [ran(outputs=[printed()]), ran(name="b", count=2), ran("", "c"), ran("x", "d", None)]
    text = v4.new_markdown_cell("Why?")
    assert coverage(notebook(*cells, text)) == Coverage(cells=3, run=2, compared=1)


# -- what must not be committed -------------------------------------------------------------------


def test_a_sound_notebook_has_no_problems():
    picture = shown({"image/png": {"alt": "A line."}}, image_png="AAAA", text_plain="figure")
    assert problems(notebook(ran(outputs=[printed(), picture]), ran(name="b", count=2))) == []


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ([ran(), ran(name="b", count=None)], "saved without having been run: b"),
        ([ran(count=2), ran(name="b", count=1)], "not run in order"),
        ([ran(count=3)], "not run in order"),
        ([ran(outputs=[v4.new_output("error", ename="KeyError", evalue="", traceback=[])])],
         "cell a: saved with the error KeyError"),
        ([ran(outputs=[printed(name="stderr")])], "cell a: saved with text on stderr"),
        ([ran(outputs=[v4.new_output("display_data", data={WIDGET_VIEW: {}})])],
         "cell a: saved with a widget view"),
        ([ran(outputs=[shown(image_png="AAAA")])], "cell a: a picture without alt text"),
        ([ran(outputs=[shown({"image/png": {"alt": "x"}}, image_png="A" * 140_000)])],
         "cell a: a picture of 105 kB"),
        ([ran("check.a(1)")], "cell a: a check whose verdict nbval does not compare"),
        ([ran("check.a(1)", outputs=[printed()], tags=["nbval-ignore-output"])],
         "cell a: a check whose verdict"),
    ],
)  # fmt: skip
def test_each_problem_is_named(cells, problem):
    found = problems(notebook(*cells))
    assert len(found) == 1
    assert problem in found[0]
