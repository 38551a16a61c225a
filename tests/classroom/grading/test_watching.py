"""What happens is seen, however it is written: the course's own code, and a check as an oracle."""

import pytest

from tests.classroom.grading.making import graded, solved

pytestmark = pytest.mark.usefixtures("small_course")

UNIT = "01_sums"
AMPLE = {"cell": 60.0, "wall": 600.0}
RUNNING = "\ndef running(x):\n    return np.cumsum(x)"
FILE = "import small_course.sums as ours\nFILE = ours.__file__\n"
ROUTES = {
    "the source executed": f"{FILE}import inspect\nexec(inspect.getsource(ours))",
    "the file read": f"{FILE}text = open(FILE).read()",
    "the file read by a path": f"{FILE}import pathlib\ntext = pathlib.Path(FILE).read_bytes()",
    "the file read from its folder": f"{FILE}import os\nos.chdir(os.path.dirname(FILE))\n"
    "text = open('sums.py').read()",
    "the file read by its loader": f"{FILE}text = ours.__loader__.get_data(FILE)",
    "the file read by NumPy": f"{FILE}text = np.fromfile(FILE, dtype=np.uint8)",
    "the file run": f"{FILE}import runpy\nnames = runpy.run_path(FILE)",
    "a second module": f"{FILE}import importlib.util as u\n"
    "s = u.spec_from_file_location('mine', FILE)\nm = u.module_from_spec(s)\n"
    "s.loader.exec_module(m)",
    "a module under another name": f"{FILE}import sys, os\n"
    "sys.path.insert(0, os.path.dirname(FILE))\nimport sums",
    "the file copied": f"{FILE}import shutil\nshutil.copy(FILE, 'b.py')\nimport b",
    "the file read below Python's own": f"{FILE}import os\n"
    "text = os.read(os.open(FILE, os.O_RDONLY), 999)",
    "a function from its code": f"{FILE}import types\n"
    "f = types.FunctionType(ours.mean.__code__, ours.mean.__globals__)",
    "by a dynamic name": f"{FILE}import types\n"
    "f = types.FunctionType(getattr(ours.mean, '__co' + 'de__'), {})",
    "the code executed": f"{FILE}c = getattr(ours.mean, '__co' + 'de__')\n"
    "try:\n    exec(c)\nexcept Exception:\n    pass",
    "other code in a function": f"{FILE}f = lambda x: x\n"
    "setattr(f, '__co' + 'de__', (lambda x: 2 * x).__code__)",
    "a forked process": "import os\npid = os.fork()\nif not pid:\n    os._exit(0)\nos.wait()",
    "another program": "import subprocess, sys\n"
    "subprocess.run([sys.executable, '-c', 'pass'], check=False)",
    "all objects": "import gc\nfound = gc.get_objects()",
    "what an object refers to": f"{FILE}import gc\nfound = gc.get_referents(ours.mean)",
    "a check without its call": "found = getattr(check.even_sum, 'jud' + 'ged')(n)",
    "the verdict of a check": "found = check.even_sum.verdict([n], 0)",
    "the function of a check": "found = getattr(check.even_sum, 'che' + 'ck')",
    "all that a check holds": "found = vars(check.even_sum)",
    "the inside of a check, elsewhere": "open('a.py', 'w').write('ask = lambda e: e.judged')\n"
    "import a\na.ask(check.even_sum)",
    "a check in threads": "import threading\n"
    "ts = [threading.Thread(target=check.even_sum, args=(k * n,)) for k in range(9)]\n"
    "for t in ts: t.start(); t.join()",
    "a check in a loop": "for k in range(9):\n    check.even_sum(k * n)",
    "a check by map": "found = list(map(check.even_sum, [k * n for k in range(9)]))",
    "a check by getattr": "f = getattr(check, 'even' + '_sum')\n[f(k * n) for k in range(9)]",
    "a check by vars": "f = vars(check)['even_sum']\nfound = [f(k * n) for k in range(9)]",
    "a check by exec": "exec('for k in range(9): check.even_sum(k * n)')",
    "a check by recursion": "def go(k):\n    k and (check.even_sum(k * n), go(k - 1))\ngo(9)",
    "a check under another name": "ask = check.even_sum\nfor k in range(9):\n    ask(k * n)",
}
HONEST = {
    "an import": "import small_course.sums",
    "an import of more": "from small_course import sums as s2\nimport json, textwrap",
    "help": "help(np.cumsum)",
    "a traceback": "import traceback\ntry:\n    check.even_sum(1 / 0)\nexcept Exception:\n"
    "    text = traceback.format_exc()",
    "a file of one's own": "open('a.py', 'w').write('x = 1')\nimport a",
    "a dataclass": "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nP(1)",
    "two checks": "check.even_sum(n)\ncheck.even_sum(2 * n)",
    "a plot": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "a hint": "check.even_sum.hint()\nscoreboard()",
    "what a check shows": "repr(check.even_sum), check.even_sum.points, check.even_sum.title\n"
    "check.even_sum.last, check.even_sum.practice, hasattr(check.even_sum, '_repr_html_')",
    "SymPy": "f = sympy.lambdify(n, n**2)\nf(3)\nsympy.simplify(n**2 / n)",
}


def told(judge_process, source):
    cells = {**solved(UNIT, running_sums=source + RUNNING), "student": "student = 7"}
    grade, _ = graded(judge_process, cells, UNIT, limits=AMPLE)
    result = next(r for r in grade.results if r.name == "running_sums")
    assert result.earned == result.points  # a look takes no points
    return result.by_hand


@pytest.mark.parametrize("route", ROUTES)
def test_what_reaches_for_an_answer_is_a_look_by_hand(judge_process, route):
    assert told(judge_process, ROUTES[route])


@pytest.mark.parametrize("kind", HONEST)
def test_what_everybody_does_is_none(judge_process, kind):
    assert told(judge_process, HONEST[kind]) == ()


def test_what_a_function_does_while_it_is_checked_is_seen_too(judge_process):
    inside = "def running(x):\n    import inspect, small_course.sums as ours\n"
    inside += "    inspect.getsource(ours)\n    return np.cumsum(x)"
    cells = {**solved(UNIT, running_sums=inside), "student": "student = 7"}
    grade, _ = graded(judge_process, cells, UNIT, limits=AMPLE)
    result = next(r for r in grade.results if r.name == "running_sums")
    assert any("reads the source of small_course/sums.py" in says for says in result.by_hand)


def test_a_gate_does_not_tell_what_is_below_it(judge_process):
    below = "import small_course.sums as ours\n"
    below += "below = getattr(ours.running_sums, '__wrap' + 'ped__')\n"
    inside = f"{below}def running(x):\n    return below(x)"
    cells = {**solved(UNIT, running_sums=inside), "student": "student = 7"}
    grade, _ = graded(judge_process, cells, UNIT, limits=AMPLE)
    result = next(r for r in grade.results if r.name == "running_sums")
    assert result.earned == 0
