"""In a browser NumPy's default integer has 32 bits: all right answers are right there as well.

What makes arrays is given that default here. Methods of arrays cannot be: `x.sum()` of 32-bit
numbers stays in 64 bits, which `make site-test` sees with the browser's own Python.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from classroom.roles import Role, role
from classroom.solutions import read_solution
from course_utils.units import UNITS

SOLUTIONS = Path(__file__).parents[1] / "solutions"
MAKERS = [
    *("arange", "array", "asarray", "asanyarray", "full", "ones", "zeros", "eye", "identity"),
    *("ones_like", "zeros_like", "full_like", "tri", "indices", "repeat", "tile", "stack"),
    *("sum", "prod", "cumsum", "cumprod", "dot", "outer", "matmul", "einsum", "max", "min"),
    *("argmax", "argmin", "argsort", "bincount", "count_nonzero", "searchsorted", "copy"),
]
# A number of Python's that needs 64 bits has them, also in a browser.
AS_WIDE_AS_NEEDED = ("array", "asarray", "asanyarray", "full", "full_like")


def is_wide(value):
    return isinstance(value, np.ndarray | np.generic) and value.dtype == np.int64


def narrowed(make):
    """`make` as the browser has it: what has no type and no wide input gets 32 bits."""

    def made(*arguments, **options):
        result = make(*arguments, **options)
        given = options.get("dtype", int)
        if not is_wide(result) or given is not int or any(map(is_wide, arguments)):
            return result
        if np.min(result, initial=0) >= -(2**31) and np.max(result, initial=0) < 2**31:
            return result.astype(np.int32)
        if make.__name__ in AS_WIDE_AS_NEEDED:
            return result
        raise OverflowError(f"{make.__name__} does not fit in 32 bits: {result}")

    return made


class Narrow:
    """NumPy, but for what makes arrays."""

    def __getattr__(self, name):
        found = getattr(np, name)
        return narrowed(found) if name in MAKERS else found


@pytest.fixture
def narrow(monkeypatch):
    """NumPy with 32-bit integers, for all modules that notebooks import and for the notebook."""
    numpy = Narrow()
    for name, module in list(sys.modules.items()):
        if name.startswith("course_utils.") and getattr(module, "np", None) is np:
            monkeypatch.setattr(module, "np", numpy)
    return numpy


def test_the_default_is_narrow_here_and_what_asks_for_64_bits_has_them(narrow):
    assert narrow.arange(3).dtype == narrow.ones(2, dtype=int).dtype == np.int32
    assert narrow.arange(3, dtype=np.int64).dtype == np.int64
    assert narrow.array([1.5]).dtype == np.float64
    assert narrow.array([2**40]).dtype == np.int64
    with pytest.raises(OverflowError):
        narrow.prod([2**20, 2**20])


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_every_solution_earns_all_points_with_narrow_integers(narrow, unit, capsys):
    space, verdicts = {}, []
    for cell in read_solution(SOLUTIONS / f"{unit.stem}.ipynb").notebook.cells:
        if cell.cell_type != "code" or role(cell) is Role.SCOREBOARD:
            continue
        if role(cell) is Role.CHECK:
            verdicts.append(eval(cell.source, space))
        else:
            exec(cell.source, space)
        if "np" in space:
            space["np"] = narrow
    assert [str(v) for v in verdicts if v.earned != v.points] == []
    assert sum(v.points for v in verdicts) == unit.points + unit.transfer_points
