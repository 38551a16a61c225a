"""Unit 02: right answers in several forms pass."""

import numpy as np

from selfcheck.testing import passes_in_every_form
from small_course.checks import products as check

RIGHT = {
    "next_factor": [("(n + 1)*(n + 2)",), ("n**2 + 3*n + 2",)],
    "running_products": [
        (np.cumprod,),
        (lambda x: [np.prod(x[: k + 1]) for k in range(len(x))],),
    ],
}
test_right_answers_pass_in_every_form = passes_in_every_form(check, RIGHT)
