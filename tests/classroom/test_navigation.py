"""navigation.py: the links between notebooks are generated, and none is left that leads nowhere."""

import nbformat.v4 as v4
import pytest

from classroom.navigation import (
    FOOT,
    HEAD,
    close,
    link,
    outdated,
    relink,
    short_title,
)
from classroom.notebooks import as_text, read
from classroom.release import exercise_from
from classroom.solutions import Solution
from selfcheck.files import CourseError

TITLES = {
    "00_start_here": "# Start here",
    "01_rnn_gradients": "# 01 · RNN gradients: when do they vanish?",
    "02_momentum": "# 02 · Momentum is a running average",
    "03_weight_decay": "# 03 · L2 is not weight decay, except for SGD",
}


def lecture(title):
    output = v4.new_output("execute_result", {"text/plain": "3"}, execution_count=1)
    return v4.new_notebook(
        cells=[
            v4.new_markdown_cell(title, id="title"),
            v4.new_code_cell("1 + 2", id="sum", execution_count=1, outputs=[output]),
        ]
    )


def save(path, notebook):
    path.parent.mkdir(exist_ok=True)
    path.write_text(as_text(notebook), encoding="utf-8")


@pytest.fixture
def course(tmp_path):
    """A start page and three units."""
    for stem, title in TITLES.items():
        save(tmp_path / "notebooks" / f"{stem}.ipynb", lecture(title))
        if stem != "00_start_here":
            save(tmp_path / "solutions" / f"{stem}.ipynb", lecture(f"{title}: exercises"))
    return tmp_path


def ends(path):
    """The sources of the first and the last cell."""
    first, *_, last = read(path).cells
    assert (first.id, last.id) == (HEAD, FOOT)
    assert first.cell_type == last.cell_type == "markdown"
    return first.source, last.source


# -- head and foot --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("notebooks/00_start_here", "[01 · RNN gradients](01_rnn_gradients.ipynb) →"),
        (
            "notebooks/01_rnn_gradients",
            "← [Start here](00_start_here.ipynb) | [Exercises](../exercises/01_rnn_gradients.ipynb)"
            " | [02 · Momentum is a running average](02_momentum.ipynb) →",
        ),
        (
            "notebooks/02_momentum",
            "← [01 · RNN gradients](01_rnn_gradients.ipynb) | [Start](00_start_here.ipynb) | "
            "[Exercises](../exercises/02_momentum.ipynb) | "
            "[03 · L2 is not weight decay](03_weight_decay.ipynb) →",
        ),
        (
            "notebooks/03_weight_decay",
            "← [02 · Momentum is a running average](02_momentum.ipynb) | "
            "[Start](00_start_here.ipynb) | [Exercises](../exercises/03_weight_decay.ipynb)",
        ),
        (
            "solutions/01_rnn_gradients",
            "[Start](../notebooks/00_start_here.ipynb) | "
            "[Lecture](../notebooks/01_rnn_gradients.ipynb) | "
            "[Exercises 02 · Momentum is a running average](02_momentum.ipynb) →",
        ),
        (
            "solutions/02_momentum",
            "← [Exercises 01 · RNN gradients](01_rnn_gradients.ipynb) | "
            "[Start](../notebooks/00_start_here.ipynb) | "
            "[Lecture](../notebooks/02_momentum.ipynb) | "
            "[Exercises 03 · L2 is not weight decay](03_weight_decay.ipynb) →",
        ),
    ],
)
def test_head_and_foot_link_to_the_neighbors(course, name, line):
    link(course)
    assert ends(course / f"{name}.ipynb") == (line, line)


def test_nothing_else_in_a_notebook_changes(course):
    path = course / "notebooks" / "02_momentum.ipynb"
    before = read(path)
    link(course)
    after = read(path)
    assert after.cells[1:-1] == before.cells
    assert after.metadata == before.metadata


def test_what_changed_is_told_and_a_second_run_has_nothing_to_do(course):
    assert len(outdated(course)) == 7
    changed = link(course)
    assert [path.relative_to(course).as_posix() for path in changed] == [
        *(f"notebooks/{stem}.ipynb" for stem in TITLES),
        *(f"solutions/{stem}.ipynb" for stem in list(TITLES)[1:]),
    ]
    assert link(course) == []
    assert outdated(course) == {}


def test_exercises_are_generated_with_the_links(course):
    link(course)
    solution = read(course / "solutions" / "02_momentum.ipynb")
    exercise = exercise_from(Solution("02_momentum.ipynb", solution, ()))
    assert exercise.cells[0] == solution.cells[0]
    assert exercise.cells[-1] == solution.cells[-1]


def test_links_are_no_slides(course):
    link(course)
    head = read(course / "notebooks" / "02_momentum.ipynb").cells[0]
    assert head.metadata == {"slideshow": {"slide_type": "skip"}}


def test_a_new_title_or_unit_reaches_its_neighbors(course):
    link(course)
    save(course / "notebooks" / "02_momentum.ipynb", lecture("# 02 · Memory"))
    save(course / "notebooks" / "02b_more.ipynb", lecture("# 02b · More"))
    names = [f"{path.parent.name}/{path.stem}" for path in link(course)]
    assert names == [
        "notebooks/01_rnn_gradients", "notebooks/02_momentum", "notebooks/02b_more",
        "notebooks/03_weight_decay", "solutions/01_rnn_gradients", "solutions/03_weight_decay",
    ]  # fmt: skip
    assert "[02 · Memory](02_momentum.ipynb) →" in ends(
        course / "notebooks" / "01_rnn_gradients.ipynb"
    )[0]  # fmt: skip
    assert "Exercises](" not in ends(course / "notebooks" / "02b_more.ipynb")[0]


def test_cells_that_got_before_the_head_or_behind_the_foot_stay_but_inside(course):
    link(course)
    path = course / "notebooks" / "02_momentum.ipynb"
    notebook = read(path)
    early, late = v4.new_markdown_cell("a", id="early"), v4.new_markdown_cell("b", id="late")
    notebook.cells = [early, *notebook.cells, late]
    save(path, notebook)
    assert link(course) == [path]
    names = [cell.id for cell in read(path).cells]
    assert names == [HEAD, "early", "title", "sum", "late", FOOT]


def test_one_broken_notebook_stops_everything_before_it_starts(course):
    (course / "solutions" / "03_weight_decay.ipynb").write_text("half a note")
    with pytest.raises(CourseError, match="03_weight_decay"):
        link(course)
    assert read(course / "notebooks" / "00_start_here.ipynb").cells[0].id == "title"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# 01 · RNN gradients: when?", "01 · RNN gradients"),
        ("## Small\n# 02 · Big\n# 03 · Late", "02 · Big"),
        ("# The interval [0, 1)", "The interval [0"),
        ("No heading", "07_lookup"),
    ],
)
def test_a_title_is_the_first_heading_up_to_its_colon_or_comma(text, title):
    assert short_title(lecture(text), "07_lookup.ipynb") == title


# -- a folder with some units ---------------------------------------------------------------------


def keep(course, *stems):
    """Turn the course into a bundle: these units, exercises in place of solutions."""
    link(course)
    for path in sorted(course.glob("solutions/*")):
        if path.stem in stems:
            exercise = exercise_from(Solution(path.name, read(path), ()))
            save(course / "exercises" / path.name, exercise)
    for path in [*course.glob("solutions/*"), *course.glob("notebooks/0[1-9]*")]:
        if path.parent.name == "solutions" or path.stem not in stems:
            path.unlink()


def test_in_a_bundle_of_some_units_the_neighbors_are_those_that_are_there(course):
    keep(course, "01_rnn_gradients", "03_weight_decay")
    close(course)
    lecture_line, _ = ends(course / "notebooks" / "03_weight_decay.ipynb")
    assert lecture_line == (
        "← [01 · RNN gradients](01_rnn_gradients.ipynb) | [Start](00_start_here.ipynb) | "
        "[Exercises](../exercises/03_weight_decay.ipynb)"
    )
    exercise_line, _ = ends(course / "exercises" / "01_rnn_gradients.ipynb")
    assert exercise_line.endswith(
        "[Exercises 03 · L2 is not weight decay](03_weight_decay.ipynb) →"
    )


def test_other_links_to_what_is_not_there_become_plain_text(course):
    start = read(course / "notebooks" / "00_start_here.ipynb")
    table = '<a href="02_momentum.ipynb">02</a> <a href="03_weight_decay.ipynb">03</a>'
    start.cells[1].outputs[0].data["text/html"] = table
    start.cells[0].source += "\n[two](02_momentum.ipynb#Title), [three](03_weight_decay.ipynb#T)"
    save(course / "notebooks" / "00_start_here.ipynb", start)
    (course / "README.md").write_text("![seen](docs/a.png) [all](notebooks), [out](../x.md)")
    keep(course, "02_momentum")
    close(course)
    _, title, code, _ = read(course / "notebooks" / "00_start_here.ipynb").cells
    assert title.source.endswith("\n[two](02_momentum.ipynb#Title), three")
    assert code.outputs[0].data["text/html"] == '<a href="02_momentum.ipynb">02</a> <a>03</a>'
    assert (course / "README.md").read_text() == "seen [all](notebooks), out"


def test_where_everything_is_there_close_changes_nothing(course):
    keep(course, *TITLES)
    before = {path: path.read_bytes() for path in course.rglob("*.ipynb")}
    close(course)
    assert before == {path: path.read_bytes() for path in course.rglob("*.ipynb")}


# -- changing links -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[a](b.md)", "a"),
        ("[a](keep.md)", "[a](KEEP.md)"),
        ('[a](keep.md "title")', '[a](KEEP.md "title")'),
        ("![a\nb](c.png).", "a\nb."),
        ("[![a](b.png)](keep.md)", "[a](KEEP.md)"),
        ("[![a](keep.png)](b.md)", "![a](KEEP.png)"),
        ("[one [two]](b.md) [three](keep.md)", "one [two] [three](KEEP.md)"),
        ('<a class="x" href="b.md">t</a>', '<a class="x">t</a>'),
        ("<img src='keep.png' alt='k'>", "<img src='KEEP.png' alt='k'>"),
        ('<a xlink:href="b.md">t</a>', "<a>t</a>"),
        ("`[a](b.md)` ``x ` [a](b.md)``", "`[a](b.md)` ``x ` [a](b.md)``"),
        ("```\n[a](b.md)\n``` [a](b.md)", "```\n[a](b.md)\n``` a"),
        ("$f[i](x)$ and $$g[j](y)$$, [a](b.md)", "$f[i](x)$ and $$g[j](y)$$, a"),
        ("no link [a] (b.md)", "no link [a] (b.md)"),
    ],
)
def test_links_are_changed_or_dissolved_but_not_in_code_or_formulas(before, after):
    def change(target):
        return target.replace("keep", "KEEP") if "keep" in target else None

    assert relink(before, change) == after
