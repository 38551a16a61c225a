"""In a real kernel: slips of order get a card, and what was saved is shown after a restart."""

import os
import shutil
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from selfcheck.notebook import digest
from tests.places import MACHINE, ROOT, SMALL

LAB = MACHINE / "students" / "jupyter"
IMPORTS = "from selfcheck import scoreboard\nfrom small_course.checks import sums as check"
PATHS = [str(ROOT), str(SMALL), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]


class Kernel:
    """A kernel as `course lab` starts it, in which cells can be run."""

    def __init__(self, sheet: Path) -> None:
        env = {**os.environ, "JUPYTER_PATH": str(LAB), "JPY_SESSION_NAME": str(sheet)}
        env["PYTHONPATH"] = os.pathsep.join(filter(None, PATHS))
        before = os.environ.get("JUPYTER_PATH")
        os.environ["JUPYTER_PATH"] = str(LAB)  # where the kernel is looked for
        try:
            self.manager, self.client = start_new_kernel(kernel_name="python3", env=env)
        finally:
            if before is None:
                del os.environ["JUPYTER_PATH"]
            else:
                os.environ["JUPYTER_PATH"] = before

    def run(self, source: str, cell_id: str = "") -> str:
        """What the cell shows, as text."""
        shown: list[str] = []

        def hear(message: dict) -> None:
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    shown.append(content["text"])
                case "display_data" | "execute_result":
                    shown.append(content["data"]["text/plain"])
                case "error":
                    shown.append(f"{content['ename']}: {content['evalue']}")

        whole = self.client.session.msg
        self.client.session.msg = lambda *parts, **more: {
            **whole(*parts, **more),
            "metadata": {"cellId": cell_id},
        }
        self.client.execute_interactive(source, output_hook=hear, timeout=120)
        self.client.session.msg = whole
        return "".join(shown)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    sheet = tmp_path_factory.mktemp("sheet") / "01_sums.ipynb"
    shutil.copy(SMALL / "solutions" / "01_sums.ipynb", sheet)
    kernel = Kernel(sheet)
    yield kernel
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel(now=True)


def test_a_student_who_restarts_and_slips_is_told_what_to_run(kernel):
    for cell in ("total = n**2 + n", "check.even_sum(total)", "scoreboard()"):
        says = kernel.run(cell)
        assert says.startswith("Not run yet: ")
        assert "Run All Above Selected Cell" in says
    kernel.run(IMPORTS)
    says = kernel.run("check.even_sum(total)")
    assert says.startswith("1.1 even_sum: no verdict yet, 0 of ")
    assert "There is no `total`: the cell with your answer has not run" in says
    assert kernel.run("betta").startswith("NameError: name 'betta' is not defined")

    saved = kernel.run("scoreboard()").splitlines()
    assert "no verdict yet" in saved[0]
    rows = [line for line in saved if line.startswith("1.")]
    assert all(line.endswith("right, as saved") for line in rows[1:])

    says = kernel.run("import _thread\ncheck.even_sum(_thread.interrupt_main())")
    assert "You stopped this check before it had a verdict." in says
    says = kernel.run("for i in range(10**5): print(i)")
    assert says.endswith("(more was printed here; it is left out)\n")
    assert kernel.run("print('after')") == "after\n"


RIGHT = "total = 'n**2 + n'"
BROKEN = [
    "total = 'n**2 + n",
    "total = 'n**2 + n')",
    "total == ",
    "total = n**2 + n_",
    "total = 1/0",
    "total = (",
    "total = 'n**2 + n' @",
    "import no_such_module\ntotal = 'n**2 + n'",
    "n_ += 1\ntotal = 'n**2 + n'",
    "def total(n)\n    return n",
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_cell_that_was_broken_does_not_keep_its_green_card(kernel, broken):
    kernel.run(IMPORTS)
    kernel.run(RIGHT)
    assert ": right, " in kernel.run("check.even_sum(total)")
    kernel.run(broken)
    says = kernel.run("check.even_sum(total)")
    assert says.startswith("1.1 even_sum: no verdict yet, 0 of ")
    assert "Your cell with `total` did not run to its end: " in says
    assert "no verdict yet" in kernel.run("scoreboard()").splitlines()[0]
    kernel.run(RIGHT)
    assert ": right, " in kernel.run("check.even_sum(total)")


def test_what_a_cell_made_before_it_failed_is_judged(kernel):
    kernel.run(IMPORTS)
    kernel.run("total = 'n'")
    kernel.run("total = 'n**2 + ' + 'n'\n1/0")
    assert ": right, " in kernel.run("check.even_sum(total)")


def test_what_is_made_in_the_cell_of_the_check_or_anew_elsewhere_is_judged(kernel):
    kernel.run(IMPORTS)
    kernel.run("total = 1/0")
    assert ": right, " in kernel.run(f"{RIGHT}\ncheck.even_sum(total)")
    assert ": right, " in kernel.run("check.even_sum('n**2 + n')")


EDITED = "from selfcheck.notebook import CELLS, digest\nCELLS.edited(digest({text!r}), {so})"


def test_a_text_that_has_gone_from_the_screen_is_not_judged_until_it_is_back(kernel):
    kernel.run(IMPORTS)
    kernel.run(RIGHT)
    kernel.run(EDITED.format(text=f"{RIGHT}\n", so=True))
    says = kernel.run("check.even_sum(total)")
    assert says.startswith("1.1 even_sum: no verdict yet, 0 of ")
    assert "Your cell with `total` was edited after it ran. Run it, then this one." in says
    kernel.run(EDITED.format(text=RIGHT, so=False))
    assert ": right, " in kernel.run("check.even_sum(total)")
    kernel.run(EDITED.format(text=RIGHT, so=True))
    kernel.run("total = 'n**2'")
    assert ": wrong, " in kernel.run("check.even_sum(total)")


def test_a_name_that_its_cell_makes_no_longer_is_not_judged(kernel):
    kernel.run(IMPORTS)
    kernel.run(RIGHT, cell_id="answer")
    kernel.run("totl = 'n**2 + n'", cell_id="answer")
    says = kernel.run("check.even_sum(total)")
    assert "Your cell with `total` was changed and makes no `total` any more." in says
    kernel.run(RIGHT, cell_id="below")
    kernel.run("totl = 1", cell_id="answer")
    assert ": right, " in kernel.run("check.even_sum(total)")


def test_digests_are_those_that_the_page_computes():
    assert digest("total = n**2 + n \n\n") == digest("total = n**2 + n") == "1d1a5f6a"
    assert digest("β = 0.9  # \N{GRINNING FACE}") == "a84b0f82"


def test_sympy_is_loaded_while_the_student_still_reads(kernel):
    """In a thread of its own, which may be done already."""
    waiting = "import sys, threading\nfor thread in threading.enumerate():\n"
    waiting += "    if thread.name == 'reading ahead':\n        thread.join()\n"
    assert kernel.run(f"{waiting}print('sympy' in sys.modules)") == "True\n"


# -- what a verdict leads to -----------------------------------------------------------------------


def test_a_wrong_function_leads_to_its_case_and_a_hint(kernel):
    kernel.run(IMPORTS)
    kernel.run("import numpy as np\ndef running(x):\n    return np.cumsum(x) - x")
    says = kernel.run("check.running_sums(running)")
    assert "Run it yourself: `running(*check.running_sums.case())`. Hint 1 of " in says
    shown = kernel.run("check.running_sums.case()")
    assert shown.startswith("x = np.array([")
    assert "array([" in kernel.run("running(*check.running_sums.case())")
    assert "On your mistake, " in kernel.run("check.running_sums.hint()")


def test_an_error_in_a_function_is_told_with_its_line(kernel):
    kernel.run(IMPORTS)
    kernel.run("def running(x):\n    total = x[0]\n    return total + x[len(x)]")
    says = kernel.run("check.running_sums(running)")
    assert "It stopped at `return total + x[len(x)]`, in `x[len(x)]`, where `x` has the" in says
    assert "Counting begins at 0" in says


def test_where_there_is_no_case_there_is_no_traceback_either(kernel):
    kernel.run(IMPORTS)
    assert kernel.run("check.even_sum.case()").endswith("so there is nothing to call.")
