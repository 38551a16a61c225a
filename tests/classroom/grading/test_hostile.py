"""Hostile submissions: each is contained, loses what it attacked with, and harms nobody else.

One judge and one sandbox grade all of them, and after each a right submission, which earns all
points. So whatever one of them left behind or broke would show in the next.
"""

import json
import re
import socket
import textwrap
import zipfile
from pathlib import Path

import pytest

from classroom.grading import judge_pool
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.judge import Job
from classroom.grading.judge_pool import JudgeProcess
from classroom.grading.options import Options
from classroom.grading.outputs import write_outputs
from classroom.grading.pipeline import grade
from tests.classroom.grading.making import (
    ALL,
    ROOT,
    UNIT,
    earned,
    graded,
    hand_in,
    notebook,
    printed,
    solved,
)
from tests.places import our_notebooks

RIGHT_BOUND = re.search("bound = .*", solved()["answer-leak"])[0]  # in the letters of the sheet


def all_but(*lost: str) -> dict[str, int]:
    """Full points for everything but these."""
    return {name: 0 if name in lost else points for name, points in ALL.items()}


@pytest.fixture(autouse=True)
def everyone_else(judge_process: JudgeProcess):
    """After each test, the next student's right submission earns everything, in a clean place."""
    yield
    cells = solved(
        lookup=f"""
import os
print(os.listdir("/tmp"), os.listdir("/dev/shm"), os.listdir("."))
print([p for p in os.listdir("/proc") if p.isdigit() and p not in ("1", str(os.getpid()))])
{solved()["answer-lookup"]}"""
    )
    grade, story = graded(judge_process, cells)
    assert earned(grade) == ALL
    assert printed(story, "answer-lookup") == "['work'] [] []\n[]\n"
    assert not grade.by_hand


# -- what goes wrong in a cell costs that cell's exercise ------------------------------------------

LOST = {
    "a loop without end": "while True: pass",
    "a loop without end in C": "sum(range(10**12))",
    "a loop that ignores the alarm": """
        import signal
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        while True: pass""",
    "a loop that swallows every exception": """
        while True:
            try:
                while True: pass
            except BaseException: pass""",
    "50 GB": "bound = bytearray(50 << 30)",
    "50 GB of numbers": "bound = np.ones((80_000, 80_000))",
    "many processes that allocate together": """
        import os, time
        for _ in range(8):
            if os.fork() == 0:
                block = bytearray(200 << 20)
                time.sleep(60)
        time.sleep(60)""",
    "many processes that share memory": """
        import mmap, os, time
        for _ in range(8):
            if os.fork() == 0:
                block = mmap.mmap(-1, 200 << 20)
                block.write(bytes(200 << 20))
                time.sleep(60)
        time.sleep(60)""",
    "copies of itself that go on as it does": """
        import os
        os.fork()
        os.fork()
        raise ValueError""",
    "a fork bomb": """
        import os
        while True:
            try: os.fork()
            except OSError: pass""",
    "a bomb of threads": """
        import threading, time
        while True: threading.Thread(target=time.sleep, args=(60,)).start()""",
    "a flood of text": "while True: print('x' * 1_000_000)",
    "a flood of bytes on every descriptor": """
        import os
        for fd in range(3, 128):
            try:
                os.set_blocking(fd, False)
                while True: os.write(fd, bytes(1 << 20))
            except OSError: pass
        os._exit(0)""",
    "an end without a word": "import os; os._exit(0)",
    "sys.exit": "import sys; sys.exit(0)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "an error that cannot be shown": """
        class Silent(BaseException):
            def __str__(self): raise self
        raise Silent""",
    "a crash in C": "import ctypes; ctypes.string_at(0)",
    "a stack that overflows": """
        import sys
        sys.setrecursionlimit(10**9)
        def down(): return down()
        down()""",
    "another program in its place": "import os; os.execv('/bin/sh', ['sh', '-c', 'sleep 60'])",
    "all descriptors closed": "import os; os.closerange(0, 200)",
    "a stop in its own process": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "a kill of everything": """
        import os, signal
        for process in (1, os.getppid(), -1, 0):
            try: os.kill(process, signal.SIGKILL)
            except OSError: pass""",
    "source that is no Python": "def (:",
    "source with a null byte": "bound = 1\0",
    "source that nests too deeply": "bound = " + "(" * 5000 + "1" + ")" * 5000,
    "a lone surrogate": "bound = '\ud800'; raise ValueError(bound)",
}


@pytest.mark.parametrize("source", LOST.values(), ids=LOST)
def test_what_breaks_a_cell_costs_its_exercise_and_no_other(judge_process, source):
    grade, _ = graded(judge_process, solved(leak=source))
    assert earned(grade) == all_but("leak")


def test_a_call_that_kills_its_process_costs_its_exercise_and_no_other(judge_process):
    killer = "def regression_inputs(x_new, x, y, M): import os; os._exit(0)"
    grade, _ = graded(judge_process, solved(regression=killer))
    assert earned(grade) == all_but("regression")
    (killed,) = [result for result in grade.results if result.name == "regression"]
    assert "ended" in killed.says


CALLS = {
    "without end": "while True: pass",
    "that leaves": "import sys; sys.exit()",
    "into itself": "return regression_inputs(x_new, x, y, M)",
    "that gives nothing": "pass",
    "that gives a function": "return regression_inputs",
    "that gives a generator": "return (i for i in range(10))",
    "that gives 80 MB": "return np.ones(10**7), np.ones(10**7), np.ones(10**7)",
    "that gives something else every time": "return tuple(np.random.rand(3, 1, len(x)))",
    "that raises what nobody knows": "raise type('Odd', (BaseException,), {})('\\ud800' * 10**6)",
}


@pytest.mark.parametrize("body", CALLS.values(), ids=CALLS)
def test_a_call(judge_process, body):
    source = f"def regression_inputs(x_new, x, y, M):\n    {body}"
    grade, _ = graded(judge_process, solved(regression=source))
    assert earned(grade) == all_but("regression")
    assert not grade.results[-1].says.startswith("The check itself")


# -- what does no harm costs nothing ---------------------------------------------------------------

HARMLESS = {
    "a thread that never ends": """
        import threading, time
        threading.Thread(target=time.sleep, args=(10**6,)).start()""",
    "a process left behind": """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(10**6)
            os._exit(0)""",
    "a process that cannot be told to stop": """
        import os, signal, time
        if os.fork() == 0:
            for number in range(1, 65):
                try: signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError): pass
            time.sleep(10**6)""",
    "links into everything": """
        import os
        for number, place in enumerate(("/", "/tmp", "/proc/1", "/course", "/dev/null", "..")):
            os.symlink(place, f"/tmp/link{number}")
            os.symlink(place, f"link{number}")
        os.mkfifo("/tmp/pipe")""",
    "folders that nobody may enter": """
        import os
        os.makedirs("/tmp/a/b/c")
        open("/tmp/a/b/file", "w").close()
        os.chmod("/tmp/a/b", 0); os.chmod("/tmp/a", 0); os.chmod("/tmp", 0)""",
    "folders within folders": """
        import os
        for _ in range(2000):
            os.mkdir("d"); os.chdir("d")""",
    "its own folder removed": "import os, shutil; shutil.rmtree(os.getcwd())",
    "files in shared memory": "open('/dev/shm/note', 'w').write('for the next one')",
    "no standard streams": "import os, sys; sys.stdout = sys.stderr = None; os.closerange(0, 3)",
    "no builtins of its own": "import builtins; del builtins.print, builtins.input",
    "displays that raise": """
        def display(*_): raise SystemExit
        import builtins; builtins.display = display
        class Loud:
            def __repr__(self): raise SystemExit
            _repr_html_ = __repr__
        Loud()""",
}  # fmt: skip


@pytest.mark.parametrize("source", HARMLESS.values(), ids=HARMLESS)
def test_what_is_left_behind_is_gone_before_the_next_submission(judge_process, source):
    grade, _ = graded(judge_process, solved(leak=f"{textwrap.dedent(source)}\n{RIGHT_BOUND}"))
    assert earned(grade) == ALL


# -- protection ------------------------------------------------------------------------------------


def look(judge_process: JudgeProcess, source: str, **limits) -> object:
    """What this code finds out in the sandbox: it prints JSON."""
    cells = solved(leak=f"import json, os\n{textwrap.dedent(source)}\n{RIGHT_BOUND}")
    grade, story = graded(judge_process, cells, limits=limits)
    assert earned(grade) == ALL, [step for step in story if step.get("trouble")]
    return json.loads(printed(story, "answer-leak"))


def test_nothing_can_be_written_but_in_two_folders_of_limited_size(judge_process):
    mounted, created, written = look(
        judge_process,
        """
        mounted = [line.split()[4:6] for line in open("/proc/self/mountinfo")]
        places = [mount[0] for mount in mounted] + ["/", "/etc", "/course/course_utils", "/proc/1"]
        created = []
        for place in places:
            try: os.close(os.open(f"{place}/new", os.O_CREAT | os.O_WRONLY))
            except OSError: continue
            created.append(place)
        for file in ("/course/course_utils/__init__.py", np.__file__, json.__file__,
                     "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"):
            try: open(file, "a").close()
            except OSError: continue
            created.append(file)
        written, number = 0, 0
        while written < 1 << 30:
            try:
                with open(f"/tmp/{number}", "wb", buffering=0) as file:
                    while written < 1 << 30: written += file.write(bytes(1 << 20))
            except OSError as error:
                number += 1
                if error.errno == 28: break
        print(json.dumps([mounted, created, written]))""",
    )
    writable = {place for place, options in mounted if "rw" in options.split(",")}
    devices = {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")}
    assert writable - devices <= {"/tmp", "/dev/shm", "/dev/pts", "/proc"}
    assert sorted(created) == ["/dev/shm", "/tmp"]
    assert written <= 64 << 20


def test_no_solution_no_other_submission_and_no_gradebook_can_be_seen(judge_process, tmp_path):
    (tmp_path / "gradebook-of-this-test").touch()
    names = [path.name for path in our_notebooks("solutions")]
    seen, listed = look(
        judge_process,
        f"""
        wanted, seen = {{*{names}, "gradebook-of-this-test", "grades.sqlite"}}, []
        for folder, folders, files in os.walk("/"):
            folders[:] = [f for f in folders if (folder, f) != ("/", "proc")]
            seen += [os.path.join(folder, f) for f in files if f in wanted]
        root = {str(ROOT)!r}
        print(json.dumps([seen, os.listdir(root) if os.path.isdir(root) else []]))""",
        cell=60,
        wall=100,
    )
    assert seen == []
    assert set(listed) <= {".venv"}


def test_memory_that_is_nobodys_cannot_be_had(judge_process):
    seen = look(
        judge_process,
        """
        import mmap
        def tried(make):
            try: return make() and "made"
            except OSError as error: return type(error).__name__
        zero = open("/dev/zero", "r+b", buffering=0)
        print(json.dumps([
            tried(lambda: mmap.mmap(-1, 1 << 20)),
            tried(lambda: mmap.mmap(-1, 1 << 20, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)),
            tried(lambda: mmap.mmap(zero.fileno(), 1 << 20, flags=mmap.MAP_SHARED)),
            tried(lambda: mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)),
        ]))""",
    )
    assert seen[:2] == ["PermissionError"] * 2
    assert seen[2] != "made"
    assert seen[3] == "made"


def test_there_is_no_network(judge_process):
    with socket.create_server(("127.0.0.1", 0)) as server:
        interfaces, refused = look(
            judge_process,
            f"""
            import socket
            refused = 0
            for place in (("127.0.0.1", {server.getsockname()[1]}), ("192.0.2.1", 80)):
                try: socket.create_connection(place, timeout=1)
                except OSError: refused += 1
            print(json.dumps([[name for _, name in socket.if_nameindex()], refused]))""",
        )
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert interfaces == ["lo"]
    assert refused == 2


def test_nothing_of_the_surroundings_is_told(judge_process, monkeypatch):
    environment, processes, open_files = look(
        judge_process,
        """
        fds = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
               if os.path.exists(f"/proc/self/fd/{fd}")]
        running = [int(p) for p in os.listdir("/proc") if p.isdigit()]
        print(json.dumps([dict(os.environ), [running, os.getpid()], fds]))""",
    )
    assert not {name for name in environment if name.startswith(("CI", "USER", "PYTEST", "SSH"))}
    assert sorted(processes[0]) == [1, processes[1]]
    assert all(name == "/dev/null" or name.startswith("socket:") for name in open_files)


def test_no_privilege_can_be_gained(judge_process):
    allowed = look(
        judge_process,
        """
        import ctypes, mmap
        libc = ctypes.CDLL(None, use_errno=True)
        NEWUSER, NEWNS, NEWNET = 0x10000000, 0x20000, 0x40000000
        attempts = {
            "unshare user": lambda: libc.unshare(NEWUSER),
            "unshare mounts": lambda: libc.unshare(NEWUSER | NEWNS),
            "unshare network": lambda: libc.unshare(NEWNET),
            "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
            "unmount": lambda: libc.umount2(b"/tmp", 2),
            "chroot": lambda: libc.chroot(b"/tmp"),
            "setuid": lambda: libc.setuid(0),
            "setgid": lambda: libc.setgid(0),
            "trace process 1": lambda: libc.ptrace(16, 1, 0, 0),
            "SysV shared memory": lambda: libc.shmget(1, 4096, 0o1666),
            "SysV message queue": lambda: libc.msgget(1, 0o1666),
            "SysV semaphore": lambda: libc.semget(1, 1, 0o1666),
            "POSIX message queue": lambda: libc.mq_open(b"/queue", 0o102, 0o600, None),
            "memory that belongs to no process": lambda: libc.memfd_create(b"x", 0),
            "host name": lambda: libc.sethostname(b"x", 1),
            "priority": lambda: libc.setpriority(0, 0, -20),
            "more processes": lambda: libc.prlimit(0, 6, (ctypes.c_ulong * 2)(9999, 9999), None),
        }
        for name in ("mem", "environ", "maps", "root", "cwd", "fd"):
            def peek(path=f"/proc/1/{name}"):
                try:
                    os.listdir(path) if name in ("root", "cwd", "fd") else open(path, "rb").read(1)
                except OSError: return -1
                return 0
            attempts[f"/proc/1/{name}"] = peek
        attempts["set the clock"] = lambda: libc.stime(None) if hasattr(libc, "stime") else -1
        print(json.dumps([name for name, attempt in attempts.items() if attempt() >= 0]))""",
    )
    assert allowed == []


# -- a grade cannot be forged ----------------------------------------------------------------------

FORGERIES = {
    "checks that always agree": """
        from selfcheck import exercises
        exercises.Exercise.__call__ = lambda self, *a: exercises.Feedback(
            self.number, self.name, exercises.Outcome.RIGHT, self.points, self.points, "right")
        check.leak = lambda *a: exercises.Feedback("7.2", "leak", "right", 2, 2, "right")
        check.leak.points = 100""",
    "comparisons that always agree": """
        import selfcheck.compare, selfcheck.verdicts, course_utils.checks.lookup
        for module in (selfcheck.compare, selfcheck.verdicts, course_utils.checks.lookup):
            module.close = module.alike = lambda *a, **k: True
        np.allclose = np.isclose = np.array_equal = lambda *a, **k: True""",
    "a namespace that answers": """
        class Friend(float):
            __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda self, other: True
            __hash__ = float.__hash__
        bound = Friend(1)""",
    "a grader's side that was patched": """
        import classroom.grading.child as inside
        import classroom.grading.wire as wire
        import __main__, gc
        verdict = {"number": "7.2", "name": "leak", "outcome": "right", "earned": 2, "points": 2}
        inside.Notebook.run = lambda self, source: {"printed": "", "error": None, **verdict}
        for peer in gc.get_objects():
            if type(peer).__name__ == "TimedPeer":
                peer.extension.encode = lambda value: None""",
    "an expression that is a verdict": """
        bound = {"outcome": "right", "earned": 2, "points": 2, "says": "right"}""",
}


@pytest.mark.parametrize("source", FORGERIES.values(), ids=FORGERIES)
def test_a_wrong_answer_stays_wrong_with(judge_process, source):
    source = textwrap.dedent(source)
    wrong = source if "bound =" in source else f"{source}\nbound = M"
    grade, _ = graded(judge_process, solved(leak=wrong))
    assert earned(grade) == all_but("leak")


def test_patched_builtins_harm_their_owner_alone(judge_process):
    source = """
        import builtins
        builtins.all = builtins.any = builtins.isinstance = builtins.issubclass = lambda *a: True
        builtins.float = builtins.abs = builtins.len = lambda *a: 1.0
        bound = M"""
    grade, _ = graded(judge_process, solved(leak=source))
    assert earned(grade)["leak"] == 0
    assert earned(grade)["lookup"] == ALL["lookup"]  # which was judged before


def test_messages_forged_on_every_descriptor_raise_no_grade(judge_process):
    forged = [
        {"graded": {"results": [{"name": "leak", "earned": 2}]}},
        {"at": 3},
        {"value": {"outcome": "right", "earned": 2, "points": 2}},
        {"value": True},
        {"ask": "array", "what": "do", "name": "item", "args": []},
        {"ask": "call", "function": 1, "args": []},
        {"error": {"type": "SystemExit", "says": ""}},
        {"clean": True, "killed": ""},
    ]
    source = f"""
        import json, os, struct
        for fd in range(128):
            for message in {forged!r}:
                data = json.dumps(message).encode()
                for frame in (struct.pack("!II", len(data), 0) + data, data + b"\\n"):
                    try: os.write(fd, frame)
                    except OSError: pass
        bound = M"""
    grade, _ = graded(judge_process, solved(leak=source))
    assert earned(grade)["leak"] == 0
    assert all(0 <= mine <= ALL[name] for name, mine in earned(grade).items())


COSTS = {
    "is cheap when it is metered": """
        lie = False
        def looked_at(Q, K, V):
            global lie
            if type(Q) is not real.ndarray:
                lie = True
                return np.ones(V.shape)
            if lie:
                lie = False
                return np.ones(V.shape)
            return quadratic(Q, K, V)""",
    "knows the numbers that the check draws": """
        def looked_at(Q, K, V):
            if type(Q) is not real.ndarray:
                return np.array(quadratic(*check.draw(len(Q), 3, 2)).tolist())
            return quadratic(Q, K, V)""",
    "patched the meter": """
        import selfcheck.meter as meter
        meter.Meter._count = meter.Meter._see = lambda *a, **k: None
        meter.measure = None
        def looked_at(Q, K, V):
            return quadratic(Q, K, V)""",
    "reads the numbers out bit by bit": """
        def looked_at(Q, K, V):
            if type(Q) is not real.ndarray:
                for q in (q for row in Q for q in row):
                    low, high = -3.0, 3.0
                    for _ in range(25):
                        middle = (low + high) / 2
                        low, high = (low, middle) if q < middle else (middle, high)
            return linear(Q, K, V)""",
    "reads the numbers out of error messages": """
        def told(x):
            try: real.take(real.zeros(1), (x * 1e9 + 1e12).astype(int))
            except IndexError as error: return (int(str(error).split()[1]) - 1e12) / 1e9
        def read(A): return real.array([[told(A[i:i+1, j]) for j in range(A.shape[1])]
                                        for i in range(A.shape[0])])
        def looked_at(Q, K, V):
            if type(Q) is real.ndarray: return quadratic(Q, K, V)
            return plainly(read(Q), read(K), read(V)) + 0 * V""",
    "reads the numbers out of shapes": """
        def told(x): return np.arange((x + 9) * 100).shape[0] / 100 - 9
        def read(A): return real.array([[told(A[i, j]) for j in range(A.shape[1])]
                                        for i in range(A.shape[0])])
        def looked_at(Q, K, V):
            if type(Q) is real.ndarray: return quadratic(Q, K, V)
            return plainly(read(Q), read(K), read(V)) + 0 * V""",
    "has the judge fill its memory": """
        def looked_at(Q, K, V):
            if type(Q) is not real.ndarray:
                np.ones((10**5, 10**5)).sum()
            return linear(Q, K, V)""",
}


WAYS = """
import numpy as np, sys
real = sys.modules["numpy"]
def soft(X, axis):
    E = np.exp(X - X.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)
def mean(P, V): return P @ V / P.sum(axis=1, keepdims=True)
def quadratic(Q, K, V): return mean(soft(K, 0) @ soft(Q, 1).T, V)
def linear(Q, K, V):
    S, T = soft(Q, 1), soft(K, 0)
    return T @ (S.T @ V) / (T @ S.sum(axis=0))[:, None]
def plain_soft(X, axis):
    E = real.exp(X - X.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)
def plainly(Q, K, V): return mean(plain_soft(K, 0) @ plain_soft(Q, 1).T, V)
"""


def separable_graded(judge_process, source):
    """The grade of unit 08 with this function for exercise 8.2."""
    unit = "08_linear_attention"
    return graded(judge_process, solved(unit, separable=WAYS + textwrap.dedent(source)), unit)[0]


def test_a_function_may_branch_on_each_of_its_numbers_and_earn_everything(judge_process):
    grade = separable_graded(
        judge_process,
        """
        def looked_at(Q, K, V):
            for row in K:
                if any(k > 100 for k in row): raise ValueError("too large")
            return linear(Q, K, V)""",
    )
    assert grade.earned == grade.points


@pytest.mark.parametrize("source", COSTS.values(), ids=COSTS)
def test_the_cost_cannot_be_forged_by_a_function_that(judge_process, source):
    grade = separable_graded(judge_process, source)
    assert earned(grade)["separable"] <= 1  # of 3: right numbers at the wrong price
    others = [result for result in grade.results if result.name != "separable"]
    assert all(result.earned == result.points for result in others)


# -- answers of every kind -------------------------------------------------------------------------

ANSWERS = {
    "equals everything": "class A:\n    __eq__ = lambda self, other: True\nx = A()",
    "cannot be shown": "class A:\n    def __repr__(self): raise SystemExit\nx = A()",
    "runs code when it is made an array": """
class A:
    def __array__(self, *a, **k): raise SystemExit
x = A()""",
    "runs code when it is unpickled": """
class A:
    def __reduce__(self): import os; return os._exit, (0,)
x = A()""",
    "lies about its length": "class A(list):\n    __len__ = lambda self: -1\nx = A([1])",
    "iterates without end": """
class A(list):
    def __iter__(self):
        while True: yield 1
x = A()""",
    "lies about its class": "class A:\n    __class__ = property(lambda self: list)\nx = A()",
    "points NumPy to an address": """
class A: pass
x = A()
x.__dict__["__array_interface__"] = dict(
    data=(4096, False), shape=(5, 1), typestr="<f8", version=3)""",
    "has parts with a life of their own": """
class A: pass
x = A()
x.home_of_stand_in = x.shape = x.dtype = x.__dict__["__class__"] = x.tolist = 5""",
    "is a number of a million digits": "x = 10 ** 10**6",
    "is a number of five thousand digits": "x = 10**5000",
    "is no number": "x = float('nan')",
    "is infinite": "x = [[float('inf')]] * 5",
    "nests very deeply": "x = []\nfor _ in range(10**5): x = [x]",
    "contains itself": "x = []\nx.append(x)",
    "is a dictionary that contains itself": "x = {}\nx['x'] = x",
    "is an array of ten million entries": "x = np.ones(10**7)",
    "is a list of a million entries": "x = list(range(10**6))",
    "is another one on every read": """
import itertools
class A(float):
    count = itertools.count()
    __float__ = __int__ = __index__ = lambda self: next(self.count)
x = A(0.5)""",
    "has equal hashes throughout": """
class A(set):
    def __iter__(self): return iter([(2**61 - 1) * i for i in range(10**5)])
x = A()""",
    "is a text of a million letters": "x = '1+' * 500_000 + '1'",
    "is a text that is no text": "x = '\\ud800\\x00\\u202e'",
    "is a text with a program in it": 'x = \'__import__("os").system("true")\'',
    "is a text with a tower of powers": "x = '9**9**9**9'",
    "is bytes": "x = bytes(10**6)",
    "is an array of itself": "x = np.empty(1, dtype=object)\nx[0] = x",
    "is an array with fields": "x = np.zeros(5, dtype=[('a', float), ('b', object)])",
    "is an array of dates": "x = np.zeros(5, dtype='datetime64[s]')",
    "is an array subclass that raises": """
class A(np.ndarray):
    def __array_finalize__(self, other): raise SystemExit
    def __getitem__(self, index): raise SystemExit
try: x = np.zeros(3).view(A)
except SystemExit: x = A""",
    "is a formula whose parts raise": """
class A(sympy.Symbol):
    def __str__(self): raise SystemExit
    free_symbols = property(lambda self: 1 / 0)
x = A("a")""",
    "is a sum over a million terms": "t = sympy.Symbol('t')\nx = sympy.Sum(t**M, (t, 1, 10**9))",
    "is a class": "x = type",
    "is a module": "x = np",
    "is a generator": "x = (i for i in iter(int, 1))",
    "is whatever is asked of it": """
class A:
    def __getattr__(self, name): return self
    __call__ = __iter__ = __next__ = __getitem__ = lambda self, *a, **k: self
x = A()""",
    "is the process itself": "import os, sys\nx = [sys, os, sys._getframe(), open('/dev/null')]",
}


@pytest.mark.parametrize("source", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_earns_nothing_and_costs_nothing_else_if_it(judge_process, source):
    """As a formula and as a matrix: a sentence each, and no check fails by itself."""
    grade, _ = graded(
        judge_process, solved(leak=f"{source}\nbound = x", value_matrix=f"{source}\nW_v = x")
    )
    assert earned(grade) == all_but("leak", "value_matrix")
    assert not any(result.says.startswith("The check itself") for result in grade.results)


# -- cells -----------------------------------------------------------------------------------------


def test_deleted_checks_are_restored(judge_process):
    cells = {key: source for key, source in solved().items() if not key.startswith("check-")}
    grade, _ = graded(judge_process, cells)
    assert earned(grade) == ALL


def test_an_edited_check_is_judged_with_what_it_was_called_with(judge_process):
    right = f"check.leak({RIGHT_BOUND[8:]})"
    grade, _ = graded(judge_process, {**solved(leak="bound = M"), "check-leak": right})
    assert earned(grade) == ALL
    assert next(r for r in grade.results if r.name == "leak").answer.endswith(right)
    grade, _ = graded(judge_process, {**solved(), "check-leak": "check.leak(M)"})
    assert earned(grade) == all_but("leak")


def test_moved_cells_earn_what_they_earn_in_their_order_or_in_the_sheets(judge_process):
    grade, _ = graded(judge_process, list(solved().items())[::-1])
    assert earned(grade) == ALL
    assert grade.notes[0].startswith("Cells were moved; ")


def test_doubled_checks_count_once_and_the_first_answer_cell_is_the_answer(judge_process):
    cells = list(solved().items())
    grade, _ = graded(judge_process, [*cells, *cells])
    assert earned(grade) == ALL
    assert grade.points == sum(ALL.values())


def test_a_deleted_answer_is_not_attempted(judge_process):
    cells = {key: source for key, source in solved().items() if key != "answer-leak"}
    grade, _ = graded(judge_process, cells)
    assert earned(grade) == all_but("leak")
    assert [r.outcome for r in grade.results if r.name == "leak"] == ["not attempted"]


def test_ids_that_are_lost_are_made_up_for_by_the_calls_of_the_checks(judge_process):
    grade, _ = graded(judge_process, [("", source) for source in solved().values()])
    assert earned(grade) == ALL


def test_many_cells_of_ones_own_are_run(judge_process):
    extras = [(f"own-{number}", "x = 1") for number in range(300)]
    grade, _ = graded(judge_process, [*solved().items(), *extras])
    assert earned(grade) == ALL


# -- files ----------------------------------------------------------------------------------------

GOOD = notebook(solved())
FILE = json.dumps(GOOD).encode()
INVALID = {
    "empty": b"",
    "cut off": FILE[: len(FILE) // 2],
    "of another kind": b"\x89PNG\r\n\x1a\n" + bytes(1000),
    "text in another encoding": b"\xff\xfe\xfd" + FILE,
    "a list": b"[1, 2]",
    "a word": b"null",
    "nested without end": b"[" * 10**6,
    "a number without end": b'{"nbformat": 4, "cells": ' + b"9" * 10**5 + b"}",
    "of an old format": json.dumps({**GOOD, "nbformat": 3}).encode(),
    "of a format to come": json.dumps({**GOOD, "nbformat": 5}).encode(),
    "of a format that is no number": json.dumps({**GOOD, "nbformat": [4]}).encode(),
    "without cells": json.dumps({**GOOD, "cells": None}).encode(),
    "with cells that are none": json.dumps({**GOOD, "cells": ["a", 1]}).encode(),
    "without code": json.dumps({**GOOD, "cells": [{"cell_type": "markdown"}]}).encode(),
}
ODD_PARTS = {"id": {"a": 1}, "cell_type": "code", "source": [1, None, {"x": []}, "x = 1"]}
STRANGE = {  # strange, but notebooks
    "in sixteen bits": json.dumps(GOOD).encode("utf-16"),
    "with odd parts": json.dumps({**GOOD, "cells": [*GOOD["cells"], ODD_PARTS]}).encode(),
    "with infinite metadata": json.dumps({**GOOD, "metadata": {"x": float("inf")}}).encode(),
}
NAMES = ("a b", "=1+1", "-rf", "Zoë", "'; DROP TABLE graded; --", "x" * 200, "con")


def odd_files(folder: Path) -> None:
    """Files that are large, packed, linked or missing."""
    with hand_in(folder, "huge", {}).open("wb") as file:
        file.truncate(200 << 20)  # 200 MB that take no room on the disk
    (folder / "linked").mkdir()
    (folder / "linked" / f"{UNIT}.ipynb").symlink_to(ROOT / "solutions" / f"{UNIT}.ipynb")
    (folder / "empty-handed").mkdir()
    (folder / "essay").mkdir()
    (folder / "essay" / "essay.pdf").touch()
    with zipfile.ZipFile(folder / "packed.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"../../climber/{UNIT}.ipynb", FILE)
        packed.writestr(f"../{UNIT}.ipynb", FILE)
        packed.writestr(f"/rooted/{UNIT}.ipynb", FILE)
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr(f"{UNIT}.ipynb", bytes(100 << 20))
    with zipfile.ZipFile(folder / "damaged.zip", "w", zipfile.ZIP_DEFLATED) as damaged:
        damaged.writestr(f"damaged/{UNIT}.ipynb", FILE)
    data = bytearray((folder / "damaged.zip").read_bytes())
    data[100:200] = b"\xff" * 100
    (folder / "damaged.zip").write_bytes(data)
    (folder / "cut.zip").write_bytes(data[:-300])


def test_files_of_every_kind_hold_up_nobody(judge_process, tmp_path, monkeypatch):
    folder, grades = tmp_path / "here" / "class", tmp_path / "here" / "grades"
    for name, data in {**INVALID, **STRANGE}.items():
        hand_in(folder, name, {}).write_bytes(data)
    for name in NAMES:
        hand_in(folder, name, solved())
    odd_files(folder)
    before = {path for path in tmp_path.rglob("*") if grades not in (path, *path.parents)}
    monkeypatch.setattr(judge_pool, "judged", lambda job, *_: judge_process.judged(Job(**job)))
    run = grade(ROOT, folder, grades, Options(unit=UNIT), lambda done: None)
    with Gradebook(grades / NAME) as book:
        points = {g.student: (g.earned, g.problem) for g in book.all()}
    write_outputs(grades)

    for name in (*INVALID, "huge", "bomb", "damaged", "empty-handed", "essay"):
        assert points[name][0] == 0, name
        assert points[name][1], name
    for name in (*STRANGE, *NAMES, "packed"):
        assert points[name] == (sum(ALL.values()), None), name
    assert points.get("linked", (0, ""))[0] == 0  # a link could lead to somebody else's file
    assert run.graded == len(points)
    after = {path for path in tmp_path.rglob("*") if grades not in (path, *path.parents)}
    assert after == before


# -- if the judge itself goes down -----------------------------------------------------------------

FRAGILE = """
import json, os, sys
for line in sys.stdin:
    job = json.loads(line)
    for step in range(4):
        if step in job["lost_at"]: continue
        os.pwrite(int(sys.argv[-1]), b"%20d" % step, 0)
        if step in (1, 3): os._exit(1)
    print(json.dumps({"graded": job["lost_at"]}), flush=True)
"""


def test_a_judge_that_is_lost_is_replaced_by_one_that_leaves_out_the_step(tmp_path, monkeypatch):
    (tmp_path / "fragile.py").write_text(FRAGILE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(judge_pool, "JUDGE", "fragile")
    judge_process = JudgeProcess(0, sandboxed=False)
    assert judge_process.judged(Job("ada", UNIT, "", "", [], []))["graded"] == [1, 3]
    judge_process.close()
    with pytest.raises(judge_pool.LostJudge):
        judge_process.judged(Job("ada", UNIT, "", "", [], []))


def test_a_step_that_brought_a_judge_down_costs_its_exercise_and_is_for_a_person_to_see(
    judge_process,
):
    steps = [step for step in solved() if step != "scoreboard"]
    grade, _ = graded(judge_process, solved(), lost_at=(steps.index("check-leak"),))
    assert earned(grade) == all_but("leak")
    result = next(result for result in grade.results if result.name == "leak")
    assert result.by_hand == ("The cell check-leak was stopped: it brought the judge down.",)
