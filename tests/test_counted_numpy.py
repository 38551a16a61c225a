"""counted_numpy.py: what the meter counts does not depend on where NumPy was taken from."""

import contextvars
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

from course_utils.checks import linear_attention as check
from selfcheck.counted_numpy import CREATORS, counter
from selfcheck.meter import MeteredArray, measure, meter
from tests.classroom.grading.across import elsewhere, value

X = np.arange(12.0).reshape(3, 4)
FORM = """
{before}
def looked_at(Q, K, U{parameters}):
    {inside}
    S, T = np.exp(Q), np.exp(K)
    S, T = S / S.sum(axis=1, keepdims=True), T / T.sum(axis=0)
    both = T @ (S.T @ np.hstack([U, np.ones((len(U), 1))]))
    {out}
    for i, row in enumerate(both):
        out[i] = row[:-1] / row[-1]
    return out
"""
FILLED = "out = {}((len(U), U.shape[1]))"
FORMS = {  # before the function, its further parameters, inside of it, and how its result is made
    "import numpy as np at the top": ("", "", "", "np.zeros"),
    "another name at the top": ("import numpy", "", "", "numpy.zeros"),
    "an import inside": ("", "", "import numpy as np", "np.zeros"),
    "an import of the function inside": ("", "", "from numpy import zeros", "zeros"),
    "an import of the function at the top": ("from numpy import zeros", "", "", "zeros"),
    "all of NumPy": ("from numpy import *", "", "", "zeros"),
    "NumPy as a default": ("", ", xp=np", "", "xp.zeros"),
    "the function as a default": ("", ", make=np.zeros", "", "make"),
    "a keyword": ("", ", *, make=np.zeros", "", "make"),
    "a closure over a name": ("make = (lambda z: lambda s: z(s))(np.zeros)", "", "", "make"),
    "a partial": (
        "import functools\nmake = functools.partial(np.zeros, dtype=float)", "", "", "make"
    ),
    "a dictionary": ("tools = dict(zeros=np.zeros)", "", "", "tools['zeros']"),
    "an attribute of a class": ("class Tools:\n    zeros = staticmethod(np.zeros)", "", "",
                                "Tools.zeros"),
    "a method of an object": ("class Maker:\n    def __call__(self, s): return np.zeros(s)\n"
                              "make = Maker()", "", "", "make"),
    "another module": ("", "", "import students_helpers", "students_helpers.empty_sheet"),
    "sys.modules": ("import sys", "", "", "sys.modules['numpy'].zeros"),
    "importlib": ("import importlib", "", "", "importlib.import_module('numpy').zeros"),
    "getattr": ("", "", "", "getattr(np, 'zeros')"),
    "empty": ("", "", "", "np.empty"),
    "full": ("", "", "", "(lambda shape: np.full(shape, 0.0))"),
    "a list of rows": ("", "", "", "(lambda shape: np.array([[0.0] * shape[1]] * shape[0]))"),
    "a decorator": ("import functools\ndef same(f):\n    @functools.wraps(f)\n    def run(*a):\n"
                    "        return f(*a)\n    return run\n@same", "", "", "np.zeros"),
    "zeros_like": ("", "", "", "(lambda shape: np.zeros_like(U))"),
}  # fmt: skip


@pytest.fixture
def helpers(monkeypatch):
    """A module of the student's own."""
    module = types.ModuleType("students_helpers")
    exec("from numpy import zeros\ndef empty_sheet(shape): return zeros(shape)", vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)


def written(name):
    before, parameters, inside, make = FORMS[name]
    filled = {"before": before, "parameters": parameters, "inside": inside or "pass"}
    space = {"np": np, "__name__": "__main__"}
    exec(FORM.format(**filled, out=FILLED.format(make)), space)
    return space["looked_at"]


@pytest.mark.usefixtures("helpers")
@pytest.mark.parametrize("name", FORMS)
def test_a_right_and_linear_answer_earns_all_points_in_the_notebook_and_in_grading(name):
    looked_at = written(name)
    assert check.separable(looked_at).earned == 3
    with elsewhere(f=looked_at) as there:
        assert check.separable(value(there, "f")).earned == 3


@pytest.mark.usefixtures("helpers")
@pytest.mark.parametrize("name", FORMS)
def test_every_form_costs_the_same(name):
    rng = np.random.default_rng(0)
    args = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=(5, 3))
    usual, this = (measure(written(form), *args) for form in ("a list of rows", name))
    assert (this.flops_by_kind, this.allocated) == (usual.flops_by_kind, usual.allocated)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=(4, 2)),
        lambda rng: rng.integers(0, 9, size=(4, 2)),
        lambda rng: rng.choice([1.0, 2.0], size=(4, 2)),
        lambda rng: rng.permutation(8).reshape(4, 2),
        lambda rng: rng.permuted(np.random.default_rng(1).random((4, 2))),
        lambda rng: rng.dirichlet([1.0, 2.0], size=4),
        lambda rng: rng.multivariate_normal([0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], size=4),
        lambda rng: np.random.RandomState(0).standard_normal((4, 2)),
    ],
)
def test_compiled_code_has_numpy_as_it_is(draw):
    kinds = []

    def multiplied(x):
        drawn = draw(np.random.default_rng(0))
        kinds.append(type(drawn))
        return x @ drawn

    assert measure(multiplied, X).flops == 3 * 2 * 7
    assert kinds == [np.ndarray]


def test_numpys_own_code_has_numpy_as_it_is():
    def computed(x):
        plain = np.random.default_rng(0).random(9)
        found = np.percentile(plain, 50), np.interp(0.5, [0, 1], [2, 4]), np.cov(plain)
        assert not any(type(one) is MeteredArray for one in found)
        return x

    assert measure(computed, X).flops == 0


def test_two_threads_measure_at_the_same_time():
    both, found = threading.Barrier(2), {}

    def work(size):
        def made(x):
            both.wait()
            return [np.zeros((size, size)), both.wait()][0] + x.sum()

        found[size] = measure(made, np.ones(3))

    threads = [threading.Thread(target=work, args=(size,)) for size in (4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {size: m.largest.size for size, m in found.items()} == {4: 16, 5: 25}
    assert hasattr(np.sum, "_implementation")  # it is NumPy's own again


def test_an_empty_context_is_not_counted():
    with meter():
        assert type(np.zeros(3)) is MeteredArray
        assert type(contextvars.Context().run(np.zeros, 3)) is np.ndarray
    assert counter() is None


def test_the_wrappers_are_there_before_students_can_take_functions_out_of_numpy():
    code = "import selfcheck.exercises, numpy; numpy.zeros.uncounted"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_wrapper_looks_as_the_function_does():
    assert all(getattr(np, name).uncounted is original for name, original in CREATORS.items())
    assert np.zeros.__name__ == "zeros"
    assert np.zeros.__doc__ == CREATORS["zeros"].__doc__
    assert type(np.zeros(2)) is np.ndarray
