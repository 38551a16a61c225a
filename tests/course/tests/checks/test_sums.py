"""Unit 01: right answers in several forms pass."""

import numpy as np
import sympy

from selfcheck.testing import passes_in_every_form
from small_course.checks import sums as check

n = sympy.symbols("n", positive=True, integer=True)

RIGHT = {
    "even_sum": [
        (n**2 + n,),
        ("n*(n + 1)",),
        ("Sum(2*i, (i, 1, n))",),
    ],
    "running_sums": [
        (np.cumsum,),
        (lambda x: [sum(x[: k + 1]) for k in range(len(x))],),
    ],
    "own_sums": [(0, 12, 3), ("0", "24/2", 3.0), (7, 122, 30.5)],
    "square_sum": [("n*(n + 1)*(2*n + 1)/6",), (n**3 / 3 + n**2 / 2 + n / 6,)],
}
test_right_answers_pass_in_every_form = passes_in_every_form(check, RIGHT)
