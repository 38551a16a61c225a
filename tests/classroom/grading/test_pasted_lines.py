"""A pasted derivation from the cell to the card, in a real kernel, and from it to the grade."""

import pytest

from selfcheck.units import declared
from tests.checks.test_pasted_answers import RIGHT, WRONG
from tests.classroom.grading.making import graded, solved
from tests.test_notebook_cells import Kernel

UNITS = {
    "induction_step": "01_rnn_gradients",
    "expectation": "02_momentum",
    "rows_sum_to_one": "08_linear_attention",
}


def pasted(known):
    """The first chain of LaTeX for each exercise."""
    return {name: next(a for (a,) in known[_, name] if isinstance(a, str)) for _, name in known
            if name in UNITS}  # fmt: skip


CHAINS = [(name, chain, True) for name, chain in pasted(RIGHT).items()]
CHAINS += [(name, chain, False) for name, chain in pasted(WRONG).items()]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    kernel = Kernel(tmp_path_factory.mktemp("sheet") / "sheet.ipynb")
    yield kernel
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel(now=True)


@pytest.mark.parametrize(("name", "chain", "is_right"), CHAINS)
def test_a_pasted_chain_has_the_same_verdict_in_a_kernel_and_in_grading(
    kernel, judge_process, name, chain, is_right
):
    unit, answer = UNITS[name], f'lines = r"""{chain}"""'
    module = unit.split("_", 1)[1]
    kernel.run(f"from course_utils.checks import {module} as check")
    says = kernel.run(f"{answer}\ncheck.{name}(lines)")
    cells = solved(unit, **{name: answer})
    grade, _ = graded(judge_process, cells, unit, limits={"cell": 10})
    (result,) = (r for r in grade.results if r.name == name)
    points = {e.name: e.points for e in declared(unit)}[name]
    assert (result.earned == points) == is_right, result.says
    assert f"{result.earned} of {points} points. {result.says}" in says
