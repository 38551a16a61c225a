"""What the bundle shows of the solutions is known, line by line, with a reason for each."""

from pathlib import Path

from nbformat import NotebookNode

from classroom.leaks import SHORTEST, Leak, leaks, lines_of_bundle
from classroom.notebooks import read
from classroom.release import solution_lines, squeezed
from classroom.roles import Role, id_of
from classroom.solutions import read_solution, solution_paths
from selfcheck.students.cli import main
from tests.places import our_notebooks

ROOT = Path(__file__).parents[2]


def reviewed() -> dict[str, str]:
    """The reviewed lines, `unit: line`, and the reason below each."""
    lines = (ROOT / "tests" / "leaks.txt").read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if not line.startswith("#")]
    return dict(zip(lines[::2], lines[1::2], strict=True))


def test_every_solution_line_that_students_can_read_elsewhere_was_reviewed():
    found = {f"{leak.unit}: {leak.line}" for leak in leaks(ROOT)}
    assert found == reviewed().keys()
    assert all(reason.startswith("    ") and reason.strip() for reason in reviewed().values())


def answers_beyond_the_page(path: Path) -> list[str]:
    """The lines between the solution marks of a unit's transfer exercises, without spaces."""
    solution = read_solution(path)
    beyond = {id_of(Role.ANSWER, e.name) for e in solution.exercises if e.is_transfer}
    cells = [cell for cell in solution.notebook.cells if cell.id in beyond]
    lines = map(squeezed, solution_lines(NotebookNode(cells=cells)))
    return [line for line in lines if len(line) >= SHORTEST]


def test_no_answer_beyond_the_page_stands_in_what_students_receive():
    received = {squeezed(line) for _, line in lines_of_bundle(ROOT)}
    for path in our_notebooks("exercises"):
        received |= {squeezed(s) for cell in read(path).cells for s in cell.source.splitlines()}
    answers = {path.stem: answers_beyond_the_page(path) for path in solution_paths(ROOT)}
    assert any(answers.values())
    assert not [(unit, line) for unit in answers for line in answers[unit] if line in received]


def test_a_leak_tells_where_the_line_stands():
    leak = Leak("01_a", "x = f(y)", ("course_utils/a.py", "notebooks/01_a.ipynb"))
    assert str(leak) == "01_a: x = f(y)  (course_utils/a.py, notebooks/01_a.ipynb)"


def test_the_author_can_list_them(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["release", "--leaks"]) == 0
    assert (
        "return np.exp(K + a[:, None] + b)  (course_utils/transport.py)" in capsys.readouterr().out
    )
