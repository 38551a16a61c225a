"""What the bundle shows of the solutions is known, line by line, with a reason for each."""

from pathlib import Path

from classroom.leaks import Leak, leaks
from course_utils.cli import main

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


def test_a_leak_tells_where_the_line_stands():
    leak = Leak("01_a", "x = f(y)", ("course_utils/a.py", "notebooks/01_a.ipynb"))
    assert str(leak) == "01_a: x = f(y)  (course_utils/a.py, notebooks/01_a.ipynb)"


def test_the_author_can_list_them(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["release", "--leaks"]) == 0
    assert "return W @ np.diag(dsigma(h))  (course_utils/rnn.py)" in capsys.readouterr().out
