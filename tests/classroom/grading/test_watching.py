"""What happens is seen, however it is written: the course's own code, and a check as an oracle."""

import os

import pytest

from classroom.grading.judge_pool import JudgeProcess
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
    "what a gate has in its closure": f"{FILE}w = ours.running_sums.__closure__[0].cell_contents",
    "the code of a gate": f"{FILE}w = ours.running_sums.__code__",
    "other code in a function": f"{FILE}f = lambda x: x\n"
    "setattr(f, '__co' + 'de__', (lambda x: 2 * x).__code__)",
    "a function taken apart": f"{FILE}import dis\nlist(dis.get_instructions(ours.mean))",
    "its code by a dynamic name": f"{FILE}c = getattr(ours.mean, '__co' + 'de__').co_consts",
    "the names of its closure": f"{FILE}import inspect\n"
    "c = getattr(inspect, 'getclosure' + 'vars')(ours.running_sums)",
    "a line as of a traceback": f"{FILE}import traceback\n"
    "text = getattr(traceback, 'Frame' + 'Summary')(FILE, 7, 'f').line",
    "known mistakes": f"{FILE}import os\n"
    "text = open(os.path.join(os.path.dirname(FILE), 'checks', 'sums.md')).read()",
    "known mistakes as a resource": "import importlib.resources as r\n"
    "text = (r.files('small_course.checks') / 'sums.md').read_text()",
    "facts of exercises": f"{FILE}import pathlib\n"
    "text = (pathlib.Path(FILE).parent / 'checks' / 'sums.toml').read_text()",
    "a file below a folder": f"{FILE}import os\nfolder = os.open(os.path.dirname(FILE), 0)\n"
    "text = os.read(os.open('sums.py', 0, dir_fd=folder), 9)",
    "a path that is no text": f"{FILE}import io, pathlib\n"
    "text = io.FileIO(pathlib.Path(FILE)).read()",
    "code by the name of another": "c = compile('f = 1', '<frozen a>', 'exec')\nexec(c)",
    "a path made up": f"{FILE}import io\nclass P:\n    def __fspath__(self):\n"
    "        return FILE\ntext = io.FileIO(P()).read()",
    "a file below the root": f"{FILE}import os\nroot = os.open('/', 0)\n"
    "text = os.read(os.open(os.path.realpath(FILE)[1:], 0, dir_fd=root), 9)",
    "the memory": "try:\n    open('/proc/self/mem', 'rb')\nexcept OSError:\n    pass",
    "where memory lies": "import os\ntext = open(f'/proc/{os.getpid()}/maps').read()",
    "an object by its place in memory": "import _ctypes\n_ctypes.PyObj_FromPtr(id(5))",
    "the globals of a function": f"{FILE}g = getattr(ours.mean, '__{{}}__'.format('globals'))",
    "a closure by reversed letters": f"{FILE}c = getattr(ours.mean, '__erusolc__'[::-1])",
    "a closure by its descriptor": f"{FILE}d = vars(type(told))['__' + str('closure') + '__']\n"
    "c = d.__get__(ours.running_sums)".replace("told", "lambda: 0"),
    "a closure by attrgetter": f"{FILE}import operator\n"
    "c = operator.attrgetter('_'.join(['', '', 'closure', '', '']))(ours.running_sums)",
    "the globals of a method": "f = type(check.even_sum).hint\n"
    "g = getattr(f, ''.join(['__glo', 'bals__']))",
    "the members of a function": f"{FILE}import inspect\nfound = inspect.getmembers(ours.mean)",
    "code made by hand": "c = (lambda: 1).__code__.replace(co_name='f')",
    "names in a tuple": "names = [n for n in ('f_back', 'f_locals')]",
    "a frame by walking": f"{FILE}import traceback\ntry:\n    ours.mean('a')\n"
    "except Exception as e:\n    f = [f for f, _ in traceback.walk_tb(e.__traceback__)]",
    "a frame by tracing": f"{FILE}import inspect\ntry:\n    ours.mean('a')\n"
    "except Exception:\n    f = inspect.trace()[-1].frame",
    "the locals of frames": f"{FILE}import traceback\ntry:\n    ours.mean('a')\n"
    "except Exception as e:\n"
    "    traceback.TracebackException.from_exception(e, capture_locals=True)",
    "examples of mistakes": "found = check.even_sum.misconceptions",
    "a function of the checks": "import small_course.checks.sums as c\n"
    "found = getattr(c, '_to' + 'tal')('7', 1.0)",
    "a function of the checks, by map": "from small_course.checks.sums import long as f\n"
    "found = [*map(f, [np.random.default_rng(1)])]",
    "names of the checks": "v = vars\nfound = v(check)",
    "an answer of the course, in a cell": f"{FILE}"
    "f = getattr(ours, 'running_' + 'sums')\nf([1, 2])",
    "NumPy exchanged": "old = np.abs\nnp.abs = lambda x: x\nnp.abs = old",
    "NumPy exchanged by a mock": "from unittest import mock\n"
    "with mock.patch('numpy.abs'):\n    pass",
    "the course exchanged": f"{FILE}ours.mean = lambda x: x",
    "the checks exchanged": "import small_course.checks.sums as c\nc.long = print",
    "a C library": "import ctypes\nctypes.CDLL(None).getpid()",
    "the interpreter's own library": "import ctypes\n"
    "f = getattr(ctypes, 'python' + 'api').Py_IncRef",
    "an object by its address": "import ctypes\nctypes.cast(id(5), ctypes.py_object).value",
    "a frame by a dynamic name": "import sys\nf = getattr(sys, '_get' + 'frame')(1)",
    "all frames": "import sys\nf = getattr(sys, '_current_' + 'frames')()",
    "a hook of one's own": "import sys\nsys.addaudithook(lambda *about: None)",
    "a check's own names": "import inspect\ninspect.getmembers(check.even_sum)",
    "a check below its names": "f = object.__getattribute__(check.even_sum, '__dict__')",
    "a forked process": "import os\npid = os.fork()\nif not pid:\n    os._exit(0)\nos.wait()",
    "another program": "import subprocess, sys\n"
    "subprocess.run([sys.executable, '-c', 'pass'], check=False)",
    "all objects": "import gc\nfound = gc.get_objects()",
    "what an object refers to": f"{FILE}import gc\nfound = gc.get_referents(ours.mean)",
    "what a copy of a check would hold": "found = object.__reduce_ex__(check.even_sum, 2)",
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
    "a closure by text": f"{FILE}c = eval('ours.mean.__clo' + 'sure__')",
    "a closure in a file": f"{FILE}open('a.py', 'w').write('get = lambda f: f.__closure__')\n"
    "import a\na.get(ours.running_sums)",
    "a frame in a file": "open('a.py', 'w').write('import sys\\nf = lambda: sys._getframe(2)')\n"
    "import a\na.f()",
    "a frame by inspect": "import inspect\nf = getattr(inspect, 'current' + 'frame')()",
    "a frame of the stack": "import traceback\nf = [f for f, _ in traceback.walk_stack(None)]",
    "a frame of a generator": "def g():\n    yield 1\nf = getattr(g(), 'gi_' + 'frame')",
    "a frame of an error": f"{FILE}try:\n    ours.mean('a')\nexcept Exception as e:\n"
    "    f = getattr(e.__traceback__.tb_next, 'tb_' + 'frame')",
    "lines that a traceback left": f"{FILE}import traceback, linecache\ntry:\n"
    "    ours.mean('a')\nexcept Exception:\n    traceback.format_exc()\n"
    "text = linecache.cache.get(FILE) or linecache.getlines(FILE)",
    "lines shown by warnings": f"{FILE}import warnings\n"
    "text = [warnings.formatwarning('a', UserWarning, FILE, k) for k in range(30)]",
    "lines shown by a made-up traceback": f"{FILE}import traceback\nlines = range(30)\n"
    "made = traceback.StackSummary.from_list([(FILE, k, 'f', None) for k in lines])\n"
    "text = made.format()",
    "the file read as a history": f"{FILE}import readline\nreadline.read_history_file(FILE)",
    "a path with methods": f"{FILE}class Path(str):\n    def endswith(self, *ends):\n"
    "        self.text = open(FILE).read()\n        return False\n"
    "path = Path('b.py')\nopen(path, 'w')\npath.endswith('')",
    "another interpreter": f"{FILE}import _xxsubinterpreters as others\nother = others.create()\n"
    "others.run_string(other, f'text = open({FILE!r}).read()')",
    "a process below Python's own": "import subprocess, os\nr, w = os.pipe()\n"
    "start = getattr(subprocess, '_fork' + '_exec')\n"
    "start([b'true'], [b'/bin/true'], True, (), None, None, *[-1] * 6, r, w, False, False, 0, "
    "None, None, None, -1, None, False)",
    "a loader patched": f"{FILE}loader, texts = type(ours.__loader__), []\n"
    "old = loader.get_data\nloader.get_data = lambda *a: texts.append(old(*a)) or texts[-1]\n"
    "import small_course.checks.products\nloader.get_data = old",
    "the file run by a magic": f"{FILE}get_ipython().run_line_magic('run', FILE)",
    "the file read by the shell": f"{FILE}t = get_ipython().ev('open(FILE).read()')",
    "the file read for a function of ours": f"{FILE}from selfcheck.reserved import lent\n"
    "open('a.py', 'w').write('def f(file):\\n    return open(file).read()')\n"
    "import a\na.f(FILE)",
    "lines kept by a cache of one's own": f"{FILE}import linecache, traceback\nkept = []\n"
    "class Lines(dict):\n    def __setitem__(self, file, lines):\n        kept.append(lines)\n"
    "linecache.cache = Lines()\ntry:\n    ours.mean('a')\nexcept Exception:\n"
    "    traceback.format_exc()",
    "lines kept by the cache there is": f"{FILE}import linecache, traceback\nkept = []\n"
    "kind = type(linecache.cache)\nold = kind.__setitem__\n"
    "kind.__setitem__ = lambda cache, file, lines: kept.append(lines)\ntry:\n    ours.mean('a')\n"
    "except Exception:\n    traceback.format_exc()\nkind.__setitem__ = old",
    "lines kept on their way": f"{FILE}import linecache, traceback, tokenize\n"
    "kept, old = [], tokenize.open\n"
    "tokenize.open = lambda file: kept.append(old(file)) or old(file)\n"
    "try:\n    ours.mean('a')\nexcept Exception:\n    traceback.format_exc()\n"
    "tokenize.open = old",
    "a file named as one of Python's": f"{FILE}open('mytraceback.py', 'w').write("
    "'def get(file):\\n    return open(file).read()')\nimport mytraceback\nmytraceback.get(FILE)",
    "a process of a file named as one of Python's": "import os\nos.mkdir('a')\n"
    "open('a/platform.py', 'w').write('import os\\ndef go(): return os.system(\"true\")')\n"
    "import a.platform\na.platform.go()",
    "a closure in a file named as one of Python's": f"{FILE}import os\nos.mkdir('a')\n"
    "open('a/inspect.py', 'w').write('def get(f): return f.__closure__')\n"
    "import a.inspect\na.inspect.get(ours.running_sums)",
    "a module anew": "import sys\ndel sys.modules['small_course.sums']\nimport small_course.sums",
    "a module without its gates": "import sys, types\nfake = types.ModuleType('reserved')\n"
    "fake.answer = lambda f: f\nkept = sys.modules['selfcheck.reserved']\n"
    "sys.modules['selfcheck.reserved'] = fake\ndel sys.modules['small_course.sums']\n"
    "import small_course.sums\nsys.modules['selfcheck.reserved'] = kept",
    "the gates loaded anew": "import importlib, selfcheck.reserved as r\nimportlib.reload(r)",
    "another module loaded in the place of one": f"{FILE}import importlib, sys\n"
    "import importlib.machinery as m\nopen('o.py', 'w').write('x = 1')\nclass F:\n"
    "    def find_spec(name, path=None, target=None):\n"
    "        return m.ModuleSpec(name, m.SourceFileLoader(name, 'o.py'), origin='o.py')\n"
    "sys.meta_path.insert(0, F)\nimportlib.reload(ours)\nsys.meta_path.pop(0)",
    "the exercise patched": "kind = type(check.even_sum)\nold = kind.__call__\n"
    "kind.__call__ = lambda *answers: old(*answers)",
    "a library of one's own": "import importlib.machinery as m, importlib.util as u\n"
    "open('q.so', 'wb').write(b'ELF')\nloader = m.ExtensionFileLoader('q', 'q.so')\n"
    "try:\n    u.module_from_spec(u.spec_from_file_location('q', 'q.so', loader=loader))\n"
    "except ImportError:\n    pass",
    "Python's own view patched": f"{FILE}import os\nold = os.path.realpath\n"
    "os.path.realpath = lambda path: '/x'\ntext = open(FILE).read()\nos.path.realpath = old",
}
ROUTES |= {
    "a check by its class": "f = type(check.even_sum).judged\n"
    "found = [f(check.even_sum, k * n).earned for k in range(9)]",
    "a check by the dictionary of its class": "f = type(check.even_sum).__dict__['judged']\n"
    "found = f(check.even_sum, n)",
    "a frame by a signal": f"{FILE}import signal\nkept = []\ndef on(number, frame):\n"
    "    kept.append(getattr(frame, 'f_lo' + 'cals'))\n"
    "signal.signal(signal.SIGUSR1, on)\nsignal.raise_signal(signal.SIGUSR1)",
    "the watch emptied": "import classroom.grading.watching as w\nw.PEEPING.clear()",
    "the watch patched": f"{FILE}import sys\nw = sys.modules['classroom.grading.watching']\n"
    "w.Watch._what = lambda *about: ''\nopen(FILE).read()",
    "the watch found among all classes": "found = [k for k in object.__subclasses__()]\n"
    "found = [k for k in found if k.__name__ == 'Watch']\nfound[0].told = lambda watch: []",
    "Python's own names exchanged": f"{FILE}import builtins\nold = builtins.isinstance\n"
    "builtins.isinstance = lambda *about: True\ntry:\n    text = open(FILE).read()\nfinally:\n"
    "    builtins.isinstance = old",
    "Python's own names exchanged in their dictionary": f"{FILE}import builtins\n"
    "names = vars(builtins)\nold = names['isinstance']\n"
    "names['isinstance'] = lambda *about: True\ntext = open(FILE).read()\n"
    "names['isinstance'] = old",
    "paths followed by another": f"{FILE}import posixpath\nold = posixpath._joinrealpath\n"
    "posixpath._joinrealpath = lambda *about: ('/x', True)\ntext = open(FILE).read()\n"
    "posixpath._joinrealpath = old",
}
CHECKS = "import sys\nc = sys.modules['small_course.checks.sums']\n"
GIVES = "found = names['long'](np.random.default_rng(1))"
ROUTES |= {
    "a function of the checks, below the module": f"{CHECKS}"
    "below = '_'.join(['', '', 'dict', '', ''])\n"
    f"names = getattr(object, ''.join(['__getattri', 'bute__']))(c, below)\n{GIVES}",
    "a function of the checks, by a library": f"{CHECKS}from unittest.mock import patch\n"
    "with patch.dict('small_course.checks.sums.__dict__', {}) as names:\n    " + GIVES,
    "a module of checks made a plain one": f"{CHECKS}import types\nc.__class__ = types.ModuleType",
    "a check by ever other names": "asked = check.even_sum\nasked(2 * n)\nfor k in range(9):\n"
    "    asked.name = f'a{k}'\n    asked(k * n)\n"
    "asked.name = 'even_sum'",
}
BELOW = "[c for c in (getattr(b, 'cell_' + 'contents') for b in cells) if callable(c)][0]"
OURS = "    return ours.running_sums(x)"
AROUND = {  # each earns the points of running_sums by the course's own function
    "its closure": f"{FILE}cells = getattr(ours.running_sums, '__clo' + 'sure__')\n"
    f"below = {BELOW}\ndef running(x):\n    return below(x)",
    "its closure, within": f"{FILE}def running(x):\n"
    f"    cells = getattr(ours.running_sums, '__clo' + 'sure__')\n    return {BELOW}(x)",
    "gates opened": f"{FILE}import selfcheck.reserved as r\ndef running(x):\n"
    f"    getattr(r, '_aro' + 'und').clear()\n{OURS}",
    "gates opened by vars": f"{FILE}import selfcheck.reserved as r\ndef running(x):\n"
    f"    vars(r)['_around'].clear()\n{OURS}",
    "gates put out of use": f"{FILE}import selfcheck.reserved as r\n"
    f"r._refused_here = lambda: frozenset()\ndef running(x):\n{OURS}",
    "a gate's variable": f"{FILE}import sys\nr = sys.modules['selfcheck.reserved']\n"
    f"def running(x):\n    r._refused.set(frozenset())\n{OURS}",
    "two levels below": f"{FILE}below = ours.running_sums\nfor _ in range(2):\n"
    "    cells = getattr(below, '__clo' + 'sure__')\n"
    "    below = [g for c in cells if isinstance(g := c.cell_contents, type(below))][0]\n"
    "def running(x):\n    return below(x)",
    "globals of a gate": f"{FILE}names = getattr(ours.running_sums, '__glo' + 'bals__')\n"
    f"def running(x):\n    names['_aro' + 'und'].clear()\n{OURS}",
    "a gate's own frame": f"{FILE}def running(x):\n    try:\n    {OURS}\n"
    "    except BaseException as e:\n        frame = e.__traceback__.tb_next.tb_frame\n"
    "        names = getattr(frame, 'f_lo' + 'cals')\n"
    "        return names['function'](*names['ticket'], x)",
    "lent to oneself": f"{FILE}from selfcheck.reserved import lent\n"
    "def running(x):\n    return lent(ours.running_sums)(x)",
}
HONEST = {
    "an import": "import small_course.sums",
    "an import of more": "from small_course import sums as s2\nimport json, textwrap",
    "help": "help(np.cumsum)",
    "help on the checks": "help(check)\nhelp(check.even_sum)",
    "a traceback": "import traceback\ntry:\n    check.even_sum(1 / 0)\nexcept Exception:\n"
    "    text = traceback.format_exc()",
    "a file of one's own": "open('a.py', 'w').write('x = 1')\nimport a",
    "a dataclass": "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nP(1)",
    "two versions in a loop": "for mine in (n, 2 * n):\n    print(check.even_sum(mine))",
    "two checks": "check.even_sum(n)\ncheck.even_sum(2 * n)",
    "a plot": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "a hint": "check.even_sum.hint()\nscoreboard()",
    "what a check shows": "repr(check.even_sum), check.even_sum.points, check.even_sum.title\n"
    "check.even_sum.last, check.even_sum.practice, hasattr(check.even_sum, '_repr_html_')",
    "what students import": "import os, sys, math, time, random, copy, pickle, inspect, typing\n"
    "import itertools, functools, collections, warnings, logging, timeit, gc, pathlib, datetime",
    "inspecting": "import inspect\ndef f(x, y=2): return x\ninspect.signature(f)\n"
    "inspect.getdoc(np.cumsum), inspect.isfunction(f), inspect.getmembers(f)",
    "a signature of the course": "import inspect, small_course.sums as ours\n"
    "inspect.signature(ours.mean), ours.mean.__doc__, ours.mean.__name__, dir(ours)",
    "a copy by pickle": "import pickle, copy\npickle.loads(pickle.dumps([1, {'a': np.ones(2)}]))\n"
    "copy.deepcopy({'x': np.ones(3)})",
    "named tuples and enums": "from collections import namedtuple\nfrom enum import Enum\n"
    "from typing import NamedTuple\nP = namedtuple('P', 'x y')\n"
    "class Q(NamedTuple):\n    x: int = 1\nclass C(Enum):\n    A = 1",
    "a log": "import logging\nlogging.getLogger('mine').warning('so %s', 1)",
    "a warning": "import warnings\nwarnings.warn('careful')\nnp.log(np.zeros(2))",
    "measured time": "import time, timeit\ntimeit.timeit('1 + 1', number=9)\ntime.perf_counter()",
    "memory tidied up": "import gc\ngc.collect()\ngc.disable()\ngc.enable()",
    "a test of one's own": "import doctest, unittest\nassert np.isclose(0.1 + 0.2, 0.3)\n"
    "np.testing.assert_allclose([1.0], [1.0])",
    "files and folders": "import os, pathlib, json, csv\nos.getcwd(), os.listdir('.')\n"
    "pathlib.Path('a.json').write_text(json.dumps([1]))\njson.load(open('a.json'))\n"
    "np.savetxt('a.csv', np.ones(3))\nnp.loadtxt('a.csv')\nnp.save('a.npy', np.ones(2))",
    "arrays for C": "x = np.ones(3)\nx.ctypes.data, x.__array_interface__",
    "a thread": "import threading\nt = threading.Thread(target=sum, args=([1],))\n"
    "t.start(); t.join()",
    "random numbers": "rng = np.random.default_rng(0)\nrng.normal(size=3)\nnp.random.seed(0)",
    "a decorator": "import functools\ndef d(f):\n    @functools.wraps(f)\n"
    "    def g(*a):\n        return f(*a)\n    return g\n@d\ndef h(x):\n    return x\nh(1)",
    "modules loaded anew": f"{FILE}import importlib, small_course\n"
    "for module in (small_course, ours, importlib.import_module('small_course.checks.sums')):\n"
    "    importlib.reload(module)",
    "what a check said, kept": "import copy, pickle\n"
    "pickle.loads(pickle.dumps(copy.deepcopy(check.even_sum(n))))",
    "what a check says": "f = check.even_sum(n)\nf.outcome, f.earned, str(f), repr(f)",
    "an angle unwrapped": "np.unwrap(np.linspace(0, 9, 9))",
    "waiting": "import asyncio\nasync def f():\n    return 1\nawait f()",
    "errors of ours, often": "import traceback, small_course.sums as ours\nfor k in range(9):\n"
    "    try:\n        ours.mean('a')\n    except Exception:\n        traceback.format_exc()",
    "a traceback walked": "import traceback, sys\ntry:\n    check.even_sum(1 / 0)\n"
    "except Exception as e:\n    traceback.extract_tb(e.__traceback__), sys.exc_info()\n"
    "    traceback.print_exc()\ntraceback.print_stack()",
    "paths": "import pathlib\npath = pathlib.Path('a.txt')\npath.write_text('x')\n"
    "open(path).read(), open(b'a.txt').read()",
    "more processes, imported": "import subprocess, multiprocessing, concurrent.futures",
    "a pool of threads": "from concurrent.futures import ThreadPoolExecutor\n"
    "with ThreadPoolExecutor(2) as pool:\n    list(pool.map(abs, [1, -1]))",
    "text executed": "exec('y = 3')\neval('2 + 2')\nexec(compile('z = 1', 'mine', 'exec'))",
    "names and signatures of a check": "import inspect\ndir(check), dir(check.even_sum)\n"
    "inspect.signature(check.even_sum), check.even_sum.__doc__, check.__doc__",
    "types of the course": f"{FILE}import typing, inspect\n"
    "typing.get_type_hints(ours.mean), inspect.signature(ours.running_sums)",
    "tests in a docstring": "import doctest\ndef f(x):\n    ''' >>> f(1)\n    1'''\n    return x\n"
    "doctest.run_docstring_examples(f, globals())",
    "classes of one's own": "class A:\n    pass\nclass B(A):\n    pass\nB.__mro__, A.__bases__",
    "text of all kinds": "import gettext, locale\ngettext.gettext('a'), 'a'.encode().decode()",
    "a signal": "import signal\nsignal.signal(signal.SIGUSR1, lambda number, frame: None)\n"
    "signal.raise_signal(signal.SIGUSR1)",
    "an environment": "import os\nos.environ['MINE'] = '1'\nos.getenv('MINE'), os.sep, os.name",
    "a name that NumPy has not": "np.float_once = float",
    "a temporary folder": "import tempfile, shutil, os\nf = tempfile.mkdtemp()\n"
    "open(os.path.join(f, 'a'), 'w').close()\nshutil.rmtree(f)",
    "what is known of the machine": "text = open('/proc/self/status').read()",
    "a log of an error": "import logging\ntry:\n    1 / 0\nexcept Exception:\n"
    "    logging.getLogger(__name__).exception('bad')",
    "below a function of one's own": "import functools\n@functools.cache\ndef f(x):\n"
    "    return lambda: x\nf.__wrapped__(1)\ng = f(1)\ng.__closure__[0].cell_contents\n"
    "g.__code__.co_varnames, g.__globals__ is globals()",
    "classes that are known by their base": "class A:\n    pass\nclass B(A):\n    pass\n"
    "A.__subclasses__()",
    "all doctests": f"{FILE}from small_course.sums import mean\nimport doctest\ndoctest.testmod()",
    "a profile": "import cProfile\nwith cProfile.Profile() as p:\n    sum([1])\n"
    "cProfile.run('1 + 1')",
    "the machine it runs on": "import platform\nplatform.platform(), platform.uname().processor",
    "names that NumPy once had": "np.int, np.bool, np.float = int, bool, float",
    "a task to practice on": "check.even_sum.practice",
    "what a watched method shows of itself": "f = vars(type(check.even_sum))['judged']\n"
    "assert not hasattr(f, '__wrapped__')",
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


@pytest.mark.parametrize("route", AROUND)
def test_the_courses_own_function_is_no_answer_without_a_look(judge_process, route):
    cells = {**solved(UNIT, running_sums=AROUND[route]), "student": "student = 7"}
    grade, _ = graded(judge_process, cells, UNIT, limits=AMPLE)
    result = next(r for r in grade.results if r.name == "running_sums")
    assert result.by_hand


def test_what_a_package_asks_while_it_is_imported_is_none():
    judge_process = JudgeProcess(os.getpid() % 4000 + 4000, sandboxed=True)
    try:  # the first that draws here: Matplotlib asks for the fonts
        assert told(judge_process, "sympy.plot(n**2, (n, 0, 1))") == ()
    finally:
        judge_process.close()


@pytest.mark.parametrize("kind", HONEST)
def test_what_everybody_does_is_none(judge_process, kind):
    assert told(judge_process, HONEST[kind]) == ()


@pytest.mark.parametrize(("cells", "is_told"), [(3, False), (5, True)])
def test_a_check_called_again_and_again_is_told_though_few_calls_are_in_a_cell(
    judge_process, cells, is_told
):
    guesses = "[check.even_sum(k * n) for k in range(3)]"
    steps = [*{**solved(UNIT), "student": "student = 7"}.items()]
    place = next(n for n, (key, _) in enumerate(steps) if key == "answer-even-sum")
    steps[place:place] = [(f"own-{n}", guesses) for n in range(cells)]
    grade, _ = graded(judge_process, steps, UNIT, limits=AMPLE)
    result = next(r for r in grade.results if r.name == "even_sum")
    assert any("times with the cells before it" in says for says in result.by_hand) is is_told


def test_a_process_anew_tells_nothing_of_the_answers_before(judge_process):
    cells = []
    for cell in {**solved(UNIT), "student": "student = 7"}.items():
        cells += [cell, ("own", "import os\nos._exit(0)")][: 1 + (cell[0] == "check-even-sum")]
    grade, _ = graded(judge_process, cells, UNIT, limits=AMPLE)
    by_hand = {r.name: r.by_hand for r in grade.results if r.by_hand}
    assert by_hand == {"running_sums": ("The cell own was stopped: it ended.",)}


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
