"""Runs inside the sandbox: a warm process that forks one confined child per submission.

`python -m classroom.grading.child FD FOLDER`: over the socket FD come orders, each
with one end of the wire to the judge. The child serves that wire: it runs cells, tells values and
calls functions. When it is gone, nothing of it is left here, or we say so and are replaced.
Everything in this file is on the student's side of the wall; the judge believes none of it.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import functools
import gc
import importlib
import inspect
import io
import itertools
import json
import linecache
import os
import re
import resource
import select
import signal
import socket
import sys
import types
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from selfcheck.encoding import WireError
from selfcheck.reserved import hide_what_is_below, lent, refusing

from .forbidden import LIBC, forbid, is_known
from .lent_functions import at_place
from .metering import Far
from .watching import CELL, Called, Watch
from .wire import Gone, Peer, Stream, in_short

NOT_DUMPABLE, NO_NEW_PRIVILEGES = 4, 38  # for prctl
ASKED_FOR_SHELL = "IPython.core.getipython"  # from which `import get_ipython` takes it
LOOK_EVERY = 0.2  # seconds, at the memory of all processes together


# -- the child: one submission --------------------------------------------------------------------


class TooSlow(BaseException):
    """The cell or the call has used up its time."""

    def __init__(self, *_: Any) -> None:
        super().__init__("it was stopped, since it took too long")


class Printed(io.TextIOBase):
    """What a cell prints, up to a limit; the rest is dropped."""

    def __init__(self, most: int) -> None:
        self.most, self.length = most, 0
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        room = max(0, self.most - self.length)
        self.parts.append(text[:room]) if room else None
        self.length += len(text)
        return len(text)

    def text(self) -> str:
        return "".join(self.parts) + (" …" if self.length > self.most else "")


def _display(*_: Any, display_id: Any = None, **__: Any) -> Any:
    """What is shown in a notebook is shown nowhere here."""
    return _Silent() if display_id else None


def _ask(*_: Any) -> str:
    raise EOFError("nobody is there to answer input(); write the value into the cell")


BUILTINS = {"display": _display, "input": _ask}  # as they are here


class Notebook:
    """The namespace of a submission, and what the judge may ask of it."""

    def __init__(self, limits: dict, watch: Watch) -> None:
        self.limits, self.watch, self._told = limits, watch, watch.told
        self._bans = contextlib.ExitStack()
        self.called: dict[str, Called] = {}  # with what the last cell called checks
        module = types.ModuleType("__main__")
        self.shell = Shell(module.__dict__)
        module.__dict__.update(get_ipython=lambda: self.shell, display=_display)
        module.__dict__.update(Out=self.shell.values, _oh=self.shell.values)
        sys.modules["__main__"], self.names = module, module.__dict__
        vars(builtins).update(BUILTINS)
        asked = types.ModuleType(ASKED_FOR_SHELL)
        vars(asked)["get_ipython"] = self.names["get_ipython"]
        sys.modules[ASKED_FOR_SHELL] = asked
        if "IPython" in sys.modules:
            vars(sys.modules["IPython"])["get_ipython"] = self.names["get_ipython"]

    def serve(self, question: dict) -> Any:
        """Run a cell, or tell the value of an expression of the instructor's."""
        match question["ask"]:
            case "run":
                self.shell.count = question.get("count", 0)
                return self.run(question["source"], question.get("names") or ())
            case "value":
                return eval(question["expression"], self.names)
            case "answer":
                return self.called[question["exercise"]].answers[question["name"]]
            case "judging":
                return self.forbid(question["names"])
            case "seen":
                return self._told()
        raise WireError("nothing of that kind can be asked for")

    def forbid(self, names: list[str]) -> None:
        """Until the next cell, these functions of the package refuse to run: they are answers.

        So do the functions of all checks; and in all threads, for all are the student's.
        """
        self.watch.is_on = False
        self._bans.close()
        self._bans.enter_context(refusing(names))
        self.watch.is_on = True

    def run(self, source: str, names: Sequence[str] = ()) -> dict:
        """Execute a cell: what it printed, and its error if there was one.

        These functions of the package are answers: they run, and it is noticed.
        """
        self._bans.close()
        self.watch.reserved = tuple(names)
        earlier = self._told()
        self.watch.is_on = True
        printed, error = Printed(self.limits["text"]), None
        self.shell.swallowed.clear()
        self.watch.called.clear()
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                self._execute(source)
        except Gone:
            raise
        except BaseException as raised:
            went_on = {"went_on": True} if getattr(raised, "went_on", False) else {}
            error = in_short(raised) | went_on
        self.called = dict(self.watch.called)
        about = {"printed": printed.text(), "error": error, "magics": self.shell.swallowed[:5]}
        about["called"] = {
            name: [called.earned, list(called.answers)] for name, called in self.called.items()
        }
        return {**about, "earlier": earlier, "seen": self._told()}

    def _execute(self, source: str) -> None:
        execute(source, self.names)


def _homes(checks: str) -> list[str]:
    """The folders of the package that has these checks, and of the machine."""
    names = [checks.partition(".")[0], "selfcheck", "classroom"]
    found = [getattr(sys.modules.get(name), "__file__", None) for name in names]
    return [os.path.dirname(file) for file in found if file]


class TimedPeer(Peer):
    """Every question of the judge's has the processor's time of one cell, here and in callbacks.

    The time that far arrays spend on the way does not count: at home they are near. While a
    message of ours is under way, time is up only after the reply: a message that is cut off, or a
    reply that nobody reads, would make nonsense of all that follows.
    """

    def __init__(self, stream: Stream, serve: Any, far: Far, seconds: float = 0.0) -> None:
        super().__init__(stream, serve, far)
        self.seconds, self._held, self._late = seconds, False, False
        self._process = os.getpid()
        signal.signal(signal.SIGPROF, self._ring)

    def answer(self, question: dict) -> None:
        outermost = self._depth == 0
        if outermost:
            self._late = False
            signal.setitimer(signal.ITIMER_PROF, self.seconds)
        try:
            try:
                self._release()
                reply = {"value": self.encode(self.serve(question))}
            finally:
                self._held = True
        except Gone:
            raise
        except BaseException as error:
            reply = {"error": in_short(error)}
        if os.getpid() != self._process:
            os._exit(0)  # a copy that a cell made of us; one of us answers
        if outermost:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self._reply(question, reply | self.extension.left())

    def ask(self, **question: Any) -> Any:
        far = question.get("ask") == "array"
        if not far:
            question |= self.extension.left()
        self._held = True
        left = signal.setitimer(signal.ITIMER_PROF, 0)[0] if far else 0.0
        try:
            return super().ask(**question)
        finally:
            if far and left:
                signal.setitimer(signal.ITIMER_PROF, left)
            self._release()

    def _stand_in(self, data: dict) -> Any:
        """A function that a check lends is the one that we have ourselves, where we have it."""
        return lent(at_place(data["home"])) if "home" in data else super()._stand_in(data)

    def _one_of(self, handle: int, args: list, named: dict) -> tuple:
        self._begin_call()
        return super()._one_of(handle, args, named)

    def _begin_call(self) -> None:
        """Each of several calls has the time of one question."""
        if self._depth == 0:
            signal.setitimer(signal.ITIMER_PROF, self.seconds)

    def _ring(self, *_: Any) -> None:
        if not self._held:
            raise TooSlow
        self._late = True

    def _release(self) -> None:
        self._held = False
        if self._late:
            raise TooSlow


PROMPT = re.compile(r"\s*In ?\[\d+\]:")  # pasted with the cell; the rest would be an annotation
OF_THE_MACHINE = (ModuleNotFoundError, OSError, EOFError)
ABSENT: set[str] = set()  # names that statements with such an error were to make
MAY_WAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
SHOWN = ast.parse("get_ipython().shown", mode="eval").body  # which has the last value as `_`


@functools.lru_cache(maxsize=500)
def parsed(source: str) -> tuple[ast.Module, str]:
    """A cell, and what its file is called; magics and shell commands become calls of the shell."""

    def tree(text: str) -> tuple[ast.Module, str]:
        name = f"{CELL}{zlib.crc32(text.encode(errors='replace')):08x}>"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        tree = compile(text, name, "exec", ast.PyCF_ONLY_AST | MAY_WAIT, dont_inherit=True)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr) and not text.rstrip().endswith(";"):
            shown = ast.Call(copy.deepcopy(SHOWN), [last.value], [])
            last.value = ast.fix_missing_locations(ast.copy_location(shown, last.value))
        return tree, name

    try:
        if not PROMPT.match(source):
            return tree(source)
    except SyntaxError:
        pass
    # 40 ms that only cells with magics have to spend
    from IPython.core.inputtransformer2 import TransformerManager

    return tree(TransformerManager().transform_cell(source))


@functools.lru_cache(maxsize=500)
def compiled(source: str, may_wait: bool = True, left_out: int = 0) -> types.CodeType:
    """The cell as code, without its first statements, of which those about the future hold on."""
    tree, name = parsed(source)
    future = [s for s in tree.body[:left_out] if getattr(s, "module", "") == "__future__"]
    rest = ast.Module([*future, *tree.body[left_out:]], [])
    # A cell may wait at its top level, and has none of this file's own `__future__`.
    return compile(rest, name, "exec", MAY_WAIT if may_wait else 0, dont_inherit=True)


def execute(source: str, names: dict, local: dict | None = None, *, may_wait: bool = True) -> None:
    """Run a cell; where something of the machine at home is not here, what does not need it.

    That is a package, a file or somebody who types. The error is raised in the end, and says that
    the cell went on.
    """
    first, done = None, 0
    while True:
        try:
            _execute(compiled(source, may_wait, done), names, local)
            break
        except (*OF_THE_MACHINE, NameError) as error:
            stopped = _stopped_at(error, source, done)
            is_absent = not isinstance(error, NameError) or str(error.name) in ABSENT
            if stopped is None or not is_absent:
                raise
            first, done = first or error, stopped + 1
            ABSENT.update(_made_by(parsed(source)[0].body[stopped]))
    if first:
        vars(first)["went_on"] = True
        raise first


def _made_by(statement: ast.stmt) -> set[str]:
    """The names that a statement makes."""
    made = {getattr(statement, "name", "")}  # of a function or a class
    for node in ast.walk(statement):
        match node:
            case ast.alias(name=name, asname=other):
                made.add((other or name).partition(".")[0])
            case ast.Name(id=name, ctx=ast.Store()):
                made.add(name)
    return made


def _stopped_at(error: Exception, source: str, done: int) -> int | None:
    """The number of the statement at which a cell stopped, behind those that are done."""
    tree, name = parsed(source)
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != name:
        trace = trace.tb_next
    if trace is None:
        return None
    places = itertools.islice(trace.tb_frame.f_code.co_positions(), trace.tb_lasti // 2, None)
    line, _, column, _ = next(places)
    at = line or trace.tb_lineno, column or 0
    left = enumerate(tree.body[done:], done)
    return next((n for n, s in left if at < (s.end_lineno or 0, s.end_col_offset or 0)), None)


def _execute(code: types.CodeType, names: dict, local: dict | None) -> None:
    """Run a cell, also one that waits at its top level, where it may."""
    result = eval(code, names, local)
    if inspect.iscoroutine(result):
        import asyncio  # for the few who wait for something

        asyncio.run(result)


class Shell:
    """What get_ipython() gives here: magics that run code run it, as they do in a notebook.

    Others do nothing; those that would have run code are remembered, so that it can be told.
    """

    HARMLESS = re.compile(
        "alias|auto.*|cd|colors|config|dirs|doctest_mode|env|gui|history|html|javascript|js|latex|"
        "(re|un)?load_ext|log.*|lsmagic|markdown|matplotlib|pdoc|pinfo2?|pip|conda|mamba|uv|pprint|"
        "precision|psearch|pwd|quickref|rehashx|svg|who(_ls|s)?|xmode"
    )

    def __init__(self, names: dict) -> None:
        self.user_ns = names
        self.swallowed: list[str] = []
        self._last: tuple[Any, ...] = ()
        self.count, self.values = 0, dict[int, Any]()  # of the cell that runs; what others showed

    def shown(self, value: Any) -> None:
        """Keep the last value of a cell as `_` and `Out[n]`, those before as `__` and `___`."""
        if value is not None and self.count:
            self.values[self.count] = self.user_ns[f"_{self.count}"] = value
        names = [name for name in ("_", "__", "___") if name in self.user_ns]
        is_own = any(self.user_ns[n] is not v for n, v in zip(names, self._last, strict=False))
        if value is None or is_own or len(names) > len(self._last):
            return
        self._last = (value, *self._last)[:3]
        self.user_ns.update(zip(("_", "__", "___"), self._last, strict=False))

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> Any:
        """`%time x = 1` and its like."""
        if name in ("time", "prun", "memit", "mprun", "lprun"):
            return self._line(_without_options(line))
        if name == "timeit":
            return self._measured(_without_options(line))
        if name == "run":
            word = _without_options(line).partition(" ")[0].strip("'\"")
            if file := next(filter(os.path.isfile, (word, f"{word}.py")), None):
                return execute(Path(file).read_text(), self.user_ns, may_wait=False)
        if name in ("env", "set_env") and (pair := re.match(r"(\w+)[\s=]+(.+)", line.strip())):
            return os.environ.update({pair[1]: pair[2]})
        if name == "pwd":
            return os.getcwd()
        return self._swallow(f"%{name}", not self._is_harmless(name) and bool(line.strip()))

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        """`%%time` and its like, with the cell behind it."""
        if name in ("time", "prun", "memit", "lprun"):
            return execute(cell, self.user_ns, may_wait=False)
        if name == "timeit":
            return self._measured(cell, _without_options(line))
        if name == "capture":
            return self._captured(line, cell)
        if name in ("writefile", "file") and line.strip():
            with open(line.split()[-1], "a" if "-a" in line.split() else "w") as file:
                file.write(cell)
            return None
        return self._swallow(f"%%{name}", not self._is_harmless(name))

    def run_cell(self, source: str, *_: Any, **__: Any) -> None:
        """A cell within a cell."""
        execute(source, self.user_ns, may_wait=False)

    ex = run_cell

    def ev(self, expression: str) -> Any:
        """The value of an expression."""
        return eval(expression, self.user_ns)

    def push(self, names: dict, *_: Any) -> None:
        """Make names known."""
        self.user_ns.update(names)

    def getoutput(self, command: str, *_: Any, **__: Any) -> list:
        """`files = !ls`: there is no shell here."""
        self._swallow("!", True)
        return []

    def _line(self, statement: str) -> Any:
        try:
            return eval(compile(statement, f"{CELL}>", "eval"), self.user_ns)
        except SyntaxError:
            execute(statement, self.user_ns, may_wait=False)

    def _measured(self, statement: str, setup: str = "") -> None:
        """As `timeit` does it: in a function, so that no name stays."""
        local: dict = {}
        if setup.strip():
            execute(setup, self.user_ns, local)
        execute(statement, self.user_ns, local)

    def _captured(self, line: str, cell: str) -> None:
        name = next((word for word in line.split() if not word.startswith("-")), "")
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                execute(cell, self.user_ns)
        finally:
            if name:
                text = out.getvalue()
                captured = types.SimpleNamespace(stdout=text, stderr="", outputs=[])
                captured.show = lambda: print(text, end="")
                self.user_ns[name] = captured

    def _is_harmless(self, name: str) -> bool:
        return bool(self.HARMLESS.fullmatch(name))

    def _swallow(self, magic: str, had_code: bool) -> None:
        if had_code and magic not in self.swallowed and len(self.swallowed) < 5:
            self.swallowed.append(magic)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Silent()


class _Silent:
    """What a shell has besides: `get_ipython().events.register(…)` does nothing here."""

    def __call__(self, *_: Any, **__: Any) -> None:
        pass

    def __getattr__(self, name: str) -> _Silent:
        return self


def _without_options(line: str) -> str:
    """`-n 1 -r 3 f(x)` as `f(x)`."""
    return re.sub(r"^\s*(?:-[a-zA-Z]+(?:\s*\d+)?(?:\s+|$))*", "", line)


def serve_submission(wire: socket.socket, limits: dict, watch: Watch) -> None:
    """Answer the judge until it hangs up."""
    far = Far()
    notebook = Notebook(limits, watch)
    far.peer = peer = TimedPeer(Stream(wire), notebook.serve, far, limits["cell"])
    while True:
        peer.answer(peer.stream.receive())


def confine(limits: dict) -> None:
    """Give up what a submission does not need, before a line of it runs."""
    for name, most in {
        "AS": limits["memory"],
        "CPU": int(limits["wall"]) + 5,
        "FSIZE": limits["file"],
        "NPROC": limits["processes"],
        "NOFILE": 128,
        "CORE": 0,
    }.items():
        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))
    with contextlib.suppress(OSError):
        file = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(file, b"1000")  # the first to go if memory runs out
        os.close(file)
    _prctl(NO_NEW_PRIVILEGES, 1)
    if not forbid() and limits["filter"]:
        raise OSError("the filter of system calls was refused")
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def child(wire: socket.socket, limits: dict, work: str, watch: Watch) -> None:
    """One submission, from its first cell to its end; never returns."""
    try:
        gc.enable()
        confine(limits)
        with contextlib.suppress(FileExistsError):
            os.mkdir(work)
        os.chdir(work)
        os.environ.update(HOME=work, LOGNAME="student")
        if "matplotlib" in sys.modules:  # which is loaded already, and shows nothing
            vars(sys.modules["matplotlib"])["use"] = lambda *_, **__: None
        sys.path.insert(0, work)  # as in a notebook, whose folder is on it
        serve_submission(wire, limits, watch)
    except BaseException:  # the judge hung up, or the student's code broke our own
        os._exit(1)


# -- the warm process -----------------------------------------------------------------------------


def warm_up() -> None:
    """Load what every submission uses, so that no child has to; the course comes after it."""
    hide_what_is_below()
    vars(builtins).update(BUILTINS)
    for module in ("numpy", "sympy", "sympy.tensor.tensor"):  # the last, when a sum is made
        importlib.import_module(module)


@functools.cache
def prepare(modules: tuple[str, ...], sources: tuple[str, ...]) -> None:
    """Load modules and run the instructor's cells once, so that children find it done.

    Those that need an answer fail, which does no harm.
    """
    for module in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    names: dict[str, Any] = {"__name__": "prepared", "student": 0}
    names["get_ipython"] = functools.partial(Shell, names)
    with contextlib.redirect_stdout(io.StringIO()):
        for source in sources:
            with contextlib.suppress(Exception):
                exec(compiled(source), names)
    _use_sympy(list(names.values()))


def _use_sympy(given: list) -> None:
    """SymPy keeps what it once found out about formulas of these symbols, such as their signs."""
    import sympy

    symbols = [x for x in given if isinstance(x, sympy.Symbol)]
    formulas = [f for x in symbols for f in (x - 1, 1 / x, -x, x**2, 1 / sympy.sqrt(x))]
    for x, y in itertools.permutations(symbols, 2):
        formulas += [x * y, x / y, (x - 1) / y, -x * y**2]
    for formula in formulas:
        _ = formula.is_positive, formula.is_integer, str(formula)
        _ = sympy.log(formula), sympy.exp(formula), sympy.sqrt(formula)


class Warm:
    """Serves orders for children, one after the other."""

    def __init__(self, orders: socket.socket, alone: bool, work: str, can_filter: bool) -> None:
        self.orders, self.alone, self.work, self.can_filter = orders, alone, work, can_filter
        self.watch = Watch()

    def serve(self) -> None:
        """Fork a child for each order; tell how it ended and whether it left nothing behind."""
        self.watch.begin()
        self.orders.send(json.dumps({"ready": True, "filter": self.can_filter}).encode())
        while True:
            message, fds, _, _ = socket.recv_fds(self.orders, 1 << 16, 1)
            if not message:
                return
            wire, order = socket.socket(fileno=fds[0]), json.loads(message)
            wire.set_inheritable(False)  # not for programs that a submission starts
            limits = {**order["limits"], "filter": self.can_filter}
            prepare(tuple(order["modules"]), tuple(order["sources"]))
            self.watch.look_at(_homes("".join(order["modules"][:1])))
            self.orders.send(b"prepared")
            gc.freeze()  # else a child copies all pages when it looks for garbage
            pid = os.fork()
            if not pid:
                self.orders.close()
                child(wire, limits, self.work, self.watch)
            wire.close()
            killed = self._wait(pid, limits["together"])
            clean = self._sweep(pid)
            self.orders.send(json.dumps({"killed": killed, "clean": clean}).encode())
            if not clean:
                return

    def _wait(self, pid: int, memory: int) -> str:
        """Until the judge is done with the child, which may have ended, or been ended, before."""
        reason, watch = "", os.pidfd_open(pid)
        waiting: list[int | socket.socket] = [watch, self.orders]
        while True:
            ready = select.select(waiting, [], [], LOOK_EVERY if watch in waiting else None)[0]
            if self.orders in ready:
                word = self.orders.recv(64)
                if not word:
                    os._exit(1)  # the grader is gone, and all in here with us
                if word == b"usage":
                    self.orders.send(json.dumps(usage(0 if self.alone else pid)).encode())
                    continue
                os.close(watch)
                return reason
            if watch in ready:
                waiting.remove(watch)
            elif self.alone and memory_used() > memory:
                reason = "memory"
                if not self._kill_others(pid):
                    self._kill(pid)

    def _kill_others(self, pid: int) -> bool:
        """What the child started goes first; perhaps that is enough, and it can go on."""
        running = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        others = [process for process in running if process not in (1, pid)]
        for process in others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return bool(others)

    def _kill(self, pid: int) -> None:
        """All processes of this sandbox but ourselves; without a sandbox, the child's group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL) if self.alone else os.killpg(pid, signal.SIGKILL)

    def _sweep(self, pid: int) -> bool:
        """Leave no process and no file of a submission behind; False if something stays."""
        for _ in range(10_000):
            self._kill(pid)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        else:
            return False
        for folder in ("/tmp", "/dev/shm") if self.alone else (self.work,):
            _empty(folder)
        return not self.alone or not _shared_memory_left()


def memory_used() -> int:
    """Bytes that all processes of this sandbox hold in memory, ourselves and files left out."""
    used = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{process}/status").read_bytes().splitlines()
            kept = [line.split()[1] for line in lines if line.startswith((b"RssAnon", b"RssShmem"))]
            used += sum(map(int, kept)) * 1024 if process != "1" else 0
    return used


def usage(session: int) -> tuple[float, bool]:
    """Seconds on the processor of all in this sandbox, or this session, and are all asleep?"""
    ticks, asleep = 0, True
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError, IndexError):
            about = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
            if (int(about[3]) != session) if session else (process == "1"):
                continue
            ticks += sum(map(int, about[11:15]))  # its own, and of those that it waited for
            asleep = asleep and about[0] not in (b"R", b"D")
    return ticks / os.sysconf("SC_CLK_TCK"), asleep


def _can_filter() -> bool:
    """Does the kernel take our filter of system calls here? Tried in a child."""
    if not is_known():
        return False
    pid = os.fork()
    if not pid:
        _prctl(NO_NEW_PRIVILEGES, 1)
        os._exit(0 if forbid() else 1)
    return os.waitpid(pid, 0)[1] == 0


def _empty(folder: str) -> None:
    """Remove all that is in there, however deep and however locked; the folder itself stays."""
    if os.path.islink(folder):
        os.unlink(folder)  # somebody put it there to have another folder emptied
    elif os.path.isdir(folder):
        os.chmod(folder, 0o700)
        while paths := [entry.path for entry in os.scandir(folder)]:
            for path in paths:
                _remove(path, folder)


def _remove(path: str, top: str) -> None:
    """A file, or a folder, whose own folders go to the top first: so no depth is too deep."""
    if os.path.islink(path) or not os.path.isdir(path):
        os.unlink(path)
        return
    os.chmod(path, 0o700)
    for entry in list(os.scandir(path)):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)
            os.rename(entry.path, f"{top}/{os.urandom(8).hex()}")
        else:
            os.unlink(entry.path)
    os.rmdir(path)


def _shared_memory_left() -> bool:
    for kind in ("shm", "msg", "sem"):
        with contextlib.suppress(FileNotFoundError):
            if len(Path(f"/proc/sysvipc/{kind}").read_bytes().splitlines()) > 1:
                return True
    return False


def _prctl(option: int, value: int) -> None:
    LIBC.prctl(option, value, 0, 0, 0)


def main(fd: int, work: str) -> None:
    """Warm up, seal this process off from its children, and serve."""
    orders = socket.socket(fileno=fd)
    can_filter = _can_filter()  # while there is little to copy
    warm_up()
    alone = os.getpid() == 1  # in a sandbox of its own; then -1 means all of its processes
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prctl(NOT_DUMPABLE, 0)
    if alone:
        _empty("/tmp")
    Warm(orders, alone, work, can_filter).serve()
    os._exit(0)  # nothing is left to be tidied up, and there is much that would be


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
