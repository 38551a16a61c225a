"""What a cell does in a notebook's own kernel it does in grading: five hundred of all kinds."""

import itertools
import json
import subprocess
import sys

from tests.classroom.grading.making import ROOT

BODIES = [
    "x = 1 + 1",
    "x = [n**2 for n in range(5)]",
    "x = (lambda a, b=2: a * b)(3)",
    "x, *rest = 1, 2, 3",
    "x = {'a': 1} | {'b': 2}",
    "x = f'{3.14159:.2f}'",
    "x = __import__('decimal').Decimal('0.1') * 3",
    "x = __import__('fractions').Fraction(1, 3)",
    "x = np.arange(6).reshape(2, 3) @ np.ones(3)",
    "x = sympy.sqrt(8) * sympy.Symbol('beta')",
    "x = (y := 3) + y",
    "x = sorted('hello', reverse=True); z = x",
    "x = 5 if start else 6",
    "x = start; x += 2",
    "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nx = f(10)",
    "class A:\n    k = 3\n    def go(self):\n        return self.k\nx = A().go()",
    "x = 0\nfor n in range(10):\n    if n % 2:\n        continue\n    x += n",
    "try:\n    x = 1 / 0\nexcept ZeroDivisionError as error:\n    x = str(error)",
    "import math\nx = math.prod(range(1, 6))",
    "x = 1\nraise ValueError('after')",
    "x = 2\nprint(x)\nx",
    "match [1, 2]:\n    case [a, b]:\n        x = a + b",
    "import asyncio\nx = await asyncio.sleep(0, 7)",
    "x = 1\ny = = 2",
    "x = max((n % 7, n) for n in range(20))",
]
WRAPPED = {
    "as it is": "{}",
    "timed": "%%time\n{}",
    "captured": "%%capture\n{}",
    "captured into a name": "%%capture out\n{}",
    "profiled": "%%prun -q\n{}",
    "behind a comment": "# so\n{}",
    "behind a magic": "%lsmagic\n{}",
    "before a magic": "{}\n%pwd",
    "with a shell command": "!true\n{}",
    "measured": "%%timeit -n 1 -r 1\n{}",
    "measured beside": "{}\n%timeit -n 1 -r 1 x = 77",
    "on a line that is timed": "%time {}",
    "on a line that is profiled": "%prun -q {}",
    "in blank lines": "\n\n{}\n\n",
    "with help": "{}\nlen?",
    "twice": "{0}\n{0}",
    "timed in captured": "%%capture\n%time y = 4\n{}",
    "on a line that is measured": "%timeit -n 1 -r 1 {}",
    "before an assigned magic": "{}\nt = %time 3 + 4\nx = (x, t)",
    "indented": None,
}
SCRIPT = """
import contextlib, io, json, sys
import numpy as np, sympy
cells = json.load(sys.stdin)
if sys.argv[1] == "notebook":
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.core.history import HistoryManager
    HistoryManager.enabled = False
    shell = InteractiveShell.instance()
    names, run = shell.user_ns, lambda source: shell.run_cell(source, store_history=False)
else:
    from classroom.grading.child import Notebook
    from classroom.grading.watching import Watch
    book = Notebook({"text": 4000}, Watch())
    names, run = book.names, book.run
seen = []
for source in cells:
    for name in ("x", "y", "z", "t", "out", "rest", "f", "A"):
        names.pop(name, None)
    names.update(np=np, sympy=sympy, start=5)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run(source)
    seen.append(repr(names.get("x", "no x")))
print(json.dumps(seen), file=sys.__stdout__)
"""


def cells():
    for (kind, frame), body in itertools.product(WRAPPED.items(), BODIES):
        if frame is None:
            yield "if start:\n" + "\n".join(f"    {line}" for line in body.splitlines())
        elif not ("line" in kind and "blank" not in kind and "\n" in body):
            yield frame.format(body)
        else:
            yield frame.format("x = len('a line')") + f"\n# instead of {len(body)}"


def seen(where, sources):
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, where]
    text = json.dumps(sources)
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_five_hundred_cells_leave_what_they_leave_in_a_notebook():
    sources = list(cells())
    assert len(sources) == 500
    there, here = seen("notebook", sources), seen("grading", sources)
    pairs = zip(sources, there, here, strict=True)
    assert [pair for pair in pairs if pair[1] != pair[2]] == []
