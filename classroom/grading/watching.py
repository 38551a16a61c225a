"""What a student's code does, seen from within its process, however it is written.

Python tells a hook, which cannot be taken away again, when a file is opened, code is executed, a
function is made or a process is started. Nothing is forbidden by it: what is seen of the course's
own files, and a check that is called again and again, becomes a look by hand. All of it is on the
student's side of the wall: who is determined to blind it leaves other traces, and wins a look.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import cProfile
import ctypes
import functools
import importlib
import linecache
import os
import re
import resource
import sys
import sysconfig
import threading
from builtins import *  # noqa: F403, UP029  (a cell may exchange those of everybody)
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.machinery import ModuleSpec
from os.path import realpath
from pathlib import PurePath
from sys import _getframe
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

from selfcheck.exercises import Exercise
from selfcheck.feedback import Feedback
from selfcheck.reserved import (
    CHECKS,
    ModuleOfChecks,
    around_gates,
    gate_within,
    tell_of_calls,
)

OFTEN = 3  # calls of one check in a cell, above which it does the guessing
OFTEN_IN_ALL = 12  # in all cells together
MOST = 20  # things that are told of one submission
PROCESSES = {"os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system", "subprocess.Popen"}
LOOKING = {
    "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.settrace", "sys.setprofile",
    "sys._current_frames", "sys.addaudithook", "sys.monitoring.register_callback",
}  # fmt: skip
BELOW = {
    "ctypes.dlopen", "ctypes.dlsym", "ctypes.cdata", "ctypes.cdata/buffer", "ctypes.string_at",
    "ctypes.wstring_at", "ctypes.addressof", "ctypes.call_function", "ctypes.dlsym/handle",
    "ctypes.PyObj_FromPtr",
}  # fmt: skip
LINKS = {"os.link", "os.symlink", "os.rename"}
PEEPING = {
    "_getframe", "setprofile", "settrace", "f_back", "f_locals", "get_referrers",
    "getattr_static", "__getattribute__", "_current_frames", "FrameSummary",
    "_posixsubprocess", "pythonapi", "py_object", "capture_locals",
    "read_history_file", "read_init_file",
}  # fmt: skip  # names of who runs a function, where Python does not tell of it
ANOTHER = "cpython.PyInterpreterState_New"  # an interpreter that no hook watches
UNWATCHED = {"readline", "_tkinter", "_cffi_backend", "_testcapi"}  # open files without telling
IMPORTS = re.compile("^<frozen|/importlib/__init__.py$")
RELOAD = importlib.reload.__code__
OURS, LIBRARYS, STUDENTS = "ours", "a library's", "the student's"
FRAMES = {"tb_frame", "gi_frame", "cr_frame", "ag_frame"}
WITHIN = ("__closure__", "__globals__")  # of a function; Python tells of `__code__` by itself
TOLD_WHEN_READ = 2  # the flag of an attribute of whose reading Python tells
CODE = {
    "exec", "code.__new__", "function.__new__", "object.__setattr__", "object.__getattr__",
}  # fmt: skip
ALONE = {"open", "import", "sys._getframe", ANOTHER}
WATCHED = frozenset(ALONE | PROCESSES | LOOKING | BELOW | LINKS | CODE)
LIBRARY = os.path.dirname(os.__file__)  # a student may have files of the same names
DESCRIBES = tuple(f"{LIBRARY}/{name}.py" for name in ("inspect", "typing", "doctest"))
TAKES_APART = {"_getmembers", "getclosurevars"}  # functions there that give what is inside
CELL = "<cell "  # how the file of a cell is called
SHELL = "classroom/grading/child.py"  # does what a cell asks it to
MANY_LINES = 15  # of a file of ours in tracebacks, above which it is being read
HANDS_ON = {
    "currentframe", "stack", "walk_stack", "walk_tb", "trace", "getinnerframes", "getframeinfo",
}  # fmt: skip  # functions which give frames to who asks
MEMORY = ("/mem", "/maps", "/pagemap")  # of a process, below /proc
STARTS, MACHINE = f"{LIBRARY}/subprocess.py", f"{LIBRARY}/platform.py"  # for the processor
HELPS = f"{LIBRARY}/pydoc.py"  # looks for a comment where there is no docstring
TESTS = f"{LIBRARY}/doctest.py"  # puts back the tracing that there was
TRACER = "selfcheck/derivation/tracing.py"  # of checks
GUARDED = ("selfcheck.", "classroom.")  # modules; whether a package is of the machine, others ask
GATES = "selfcheck.reserved"
NOT_FOR_STUDENTS = (GATES, "classroom.")  # modules of which nothing is
PROSE = (".md", ".toml")  # which has the known mistakes, and which the checks read
SHOWS_LINES = (
    f"{LIBRARY}/traceback.py",
    f"{LIBRARY}/warnings.py",
)  # which read sources to show a line of them
# Of an exercise, what judges without being a call of it; so does all that begins with _.
SHOWN = ("__", "_repr_", "_ipython_", "_partialmethod")  # asked for by whatever shows it
INSIDE = {
    "check", "parts", "judged", "verdict", "again", "survey", "misconceptions", "numbers",
    "__dict__", "__reduce__", "__reduce_ex__", "__getstate__",
}  # fmt: skip
KEPT = ("numpy", "numpy.linalg", "sympy")  # of which the checks make use, as of the course's own
NOTED = {"_", "__slotnames__"}  # by Python itself: the last value, and how to copy an object
PYTHONS = ("builtins", "os", "posixpath")  # of which the watch makes use


class Called(NamedTuple):
    """A call of a check: with what, and the points that it showed over there."""

    answers: dict[str, Any]
    earned: int


def _as_it_is_now(value: Any) -> Any:
    """The value, whatever the cell does to it behind the call."""
    if type(value) in (list, dict, tuple) or type(value).__name__ == "ndarray":
        with contextlib.suppress(Exception):
            return copy.deepcopy(value)
    return value


class Watch:
    """Notes what happens while code that is not ours runs.

    It is begun once, and looks at what is loaded, in the process that children are forked from:
    a child that touched every module would copy their pages.
    """

    def __init__(self) -> None:
        self._folders: tuple[str, ...] = ()
        self._looked_at: tuple[list[str], int] = [], 0
        libraries = {os.path.dirname(os.__file__), *sysconfig.get_paths().values()}
        self._libraries = tuple(folder + os.sep for folder in libraries)
        self._seen: dict[str, None] = {}
        self._calls: Counter[str] = Counter()
        self._names: dict[int, str] = {}  # of exercises, which a cell may give others
        self._calls_in_all: Counter[str] = Counter()
        self.called: dict[str, Called] = {}  # by exercise, the last call
        self._lines: Counter[str] = Counter()
        self._loaded: dict[str, ModuleType] = {}
        self._gates = sys.modules[GATES]
        self._kinds: list[type] = []
        self._modules: list[ModuleType] = []
        self._as_it_was: list[Mapping[str, Any]] = []
        self._busy = threading.local()
        self.is_on = self._had_processes = False
        self.reserved: tuple[str, ...] = ()  # what the exercise asks for whose cell runs
        self._files: dict[str, str] = {}  # of code: whose they are
        self._given: set[str] = set()  # functions of checks that cells of the sheet use
        self._check: CodeType | None = None  # around every call of one

    def begin(self) -> None:
        """From now on; there is no end."""
        call = Exercise.__call__

        def counted(exercise: Exercise, *args: Any, **named: Any) -> Any:
            self._calls[self._names.setdefault(id(exercise), exercise.name)] += 1
            given = dict(zip(exercise.kinds, args, strict=False)) | named
            answers = {name: _as_it_is_now(value) for name, value in given.items()}
            feedback = call(exercise, *args, **named)
            self.called.pop(exercise.name, None)  # of two calls the last one is the last here too
            self.called[exercise.name] = Called(answers, feedback.earned)
            return feedback

        def looked_into(exercise: Exercise, name: str) -> Any:
            if _is_inside(name):
                self._note_inside(_getframe(1))
            return object.__getattribute__(exercise, name)

        def names(exercise: Exercise) -> list[str]:
            return [*object.__getattribute__(exercise, "__dict__"), *dir(Exercise)]

        self._check = counted.__code__
        _tell_when_read(*WITHIN)
        for name in ("enable", "disable"):  # gives times and no frames
            kind = cProfile.Profile
            type.__setattr__(kind, name, _as_ours(getattr(kind, name)))
        tell_of_calls(self._ran)
        linecache.cache = self._forgetful
        type.__setattr__(Exercise, "__call__", counted)
        type.__setattr__(Exercise, "__getattribute__", looked_into)
        type.__setattr__(Exercise, "__dir__", names)
        for name, function in [*vars(Exercise).items()]:
            if _is_inside(name) and type(function) is FunctionType:
                type.__setattr__(Exercise, name, self._noted_inside(function))
        sys.addaudithook(self._hook)

    def _noted_inside(self, function: FunctionType) -> Any:
        """A method of exercises, of which it is noticed who calls it, also by the class."""

        @functools.wraps(function)
        def noted(*args: Any, **named: Any) -> Any:
            self._note_inside(_getframe(1))
            return function(*args, **named)

        del noted.__wrapped__
        return noted

    def _note_inside(self, frame: FrameType) -> None:
        if self.is_on and not self._is_of_ours(frame):
            self._seen["uses the inside of a check"] = None

    def look_at(self, folders: list[str]) -> None:
        """Where the course's package and the machine lie, and what is loaded of them."""
        if self._looked_at == (folders, len(sys.modules)):
            return
        self._looked_at = folders, len(sys.modules)
        self._files.clear()
        self._folders = tuple(realpath(folder) + os.sep for folder in folders)
        lies_here = functools.cache(
            lambda f: os.path.join(realpath(f), "").startswith(self._folders)
        )
        self._loaded = {
            name: module
            for name, module in [*sys.modules.items()]
            if (file := getattr(module, "__file__", None)) and lies_here(os.path.dirname(file))
        }
        for name, module in self._loaded.items():
            if "." in name and type(module) is ModuleType:
                module.__class__ = self._guarded if name.startswith(GUARDED) else self._kept
            elif type(module) is ModuleOfChecks:
                gate_within(module)
                module.__class__ = self._kept_checks
        for name in (*KEPT, *PYTHONS):
            sys.modules[name].__class__ = self._kept
        ours = [vars(m) for name, m in self._loaded.items() if name.startswith("classroom.")]
        found = (kind for names in ours for kind in names.values() if isinstance(kind, type))
        kinds = (kind for kind in found if kind.__module__.startswith("classroom."))
        self._kinds = [Exercise, Feedback, *dict.fromkeys(kinds)]
        self._modules = [self._gates, *(sys.modules[name] for name in PYTHONS)]
        self._as_it_was = _copied(self._state())

    def _noticing(self, kind: Any) -> Any:
        """Such a module, in which it is noticed when something takes the place of a name."""
        watch = self

        class Kept(kind):
            def __setattr__(self, name: str, value: Any) -> None:
                names = ModuleType.__getattribute__(self, "__dict__")
                is_known = name in names and getattr(builtins, name, None) is not value
                if name == "__spec__" and type(value) is ModuleSpec:
                    is_known = value != names[name]  # a module that is reloaded is found again
                if watch.is_on and (is_known or name == "__class__") and name not in NOTED:
                    watch._exchanged(f"{self.__name__}.{name}")
                super().__setattr__(name, value)

        return Kept

    @functools.cached_property
    def _kept(self) -> Any:
        return self._noticing(ModuleType)

    @functools.cached_property
    def _kept_checks(self) -> Any:
        """A module of checks, whose functions have no gates where its names lie."""
        watch = self

        class Kept(self._noticing(ModuleOfChecks)):  # type: ignore[misc]
            def __getattribute__(self, name: str) -> Any:
                if name == "__dict__":
                    watch._reached_into(ModuleType.__getattribute__(self, "__name__"), name)
                return super().__getattribute__(name)

            def __dir__(self) -> list[str]:
                return [*ModuleType.__getattribute__(self, "__dict__")]

        return Kept

    @functools.cached_property
    def _guarded(self) -> type[ModuleType]:
        """A module of the machine, whose private names and whose changes are noticed."""
        watch = self

        class Guarded(ModuleType):
            def __getattribute__(self, name: str) -> Any:
                home = super().__getattribute__("__name__")
                is_private = name[0] == "_" and (name[1:2] != "_" or name == "__dict__")
                if is_private or (home.startswith(NOT_FOR_STUDENTS) and name[0] != "_"):
                    watch._reached_into(home, name)
                return super().__getattribute__(name)

            def __setattr__(self, name: str, value: Any) -> None:
                watch._reached_into(super().__getattribute__("__name__"), name)
                super().__setattr__(name, value)

        return Guarded

    def _state(self) -> list[Mapping[str, Any]]:
        """What decides whose verdicts are told, which functions run, and what is seen."""
        kinds = [type.__getattribute__(kind, "__dict__") for kind in self._kinds]
        return kinds + [ModuleType.__getattribute__(m, "__dict__") for m in self._modules]

    def _has_changed(self) -> bool:
        """Is the state another one than when this was asked last?"""
        if (now := self._state()) == self._as_it_was:
            return False
        before, self._as_it_was = self._as_it_was, _copied(now)
        return before != self._as_it_was

    @functools.cached_property
    def _forgetful(self) -> dict[str, Any]:
        """What `linecache` keeps; of files of ours nothing, so that who reads them opens them."""
        is_ours = self._ours

        class Lines(dict):
            def __setitem__(self, file: str, lines: Any) -> None:
                if not is_ours(file):
                    super().__setitem__(file, lines)

        self._forgets = Lines.__setitem__
        return Lines(linecache.cache)

    def _reached_into(self, module: str, name: str) -> None:
        frame = _getframe(2)
        is_students = self._is_students(frame.f_code.co_filename)
        if self.is_on and (is_students if name == "__dict__" else not self._is_of_ours(frame)):
            self._seen[f"reaches into {module}"] = None

    def _exchanged(self, name: str) -> None:
        if not self._is_of_ours(_getframe(2)) and not self._is_import():
            self._seen[f"puts something else in the place of {name}"] = None

    def _ran(self, name: str, key: str) -> None:
        """A function of the checks, or one that is an answer, runs through its gate."""
        frame = _getframe(2)
        if not self.is_on and frame.f_code.co_filename.startswith(CELL):
            self._given.add(name)  # no student's code runs yet
        is_asked_for = key in self.reserved or (key == CHECKS and name not in self._given)
        if self.is_on and is_asked_for and not self._is_of_ours(frame):
            self._seen[f"uses {name}"] = None

    def _is_students(self, file: str) -> bool:
        """Whether it is neither of ours nor of Python and its packages: a cell, text, a file."""
        return self._whose(str.__str__(file)) == STUDENTS

    def _is_of_ours(self, frame: FrameType) -> bool:
        """Whether the course or the machine is asking."""
        return self._whose(frame.f_code.co_filename) == OURS

    def _whose(self, file: str) -> str:
        """Whose code has this file; it is found out once, since it is asked often."""
        if file not in self._files:
            is_ours = file.startswith("<frozen") or self._ours(file)
            is_librarys = file.startswith(self._libraries)
            self._files[file] = OURS if is_ours else LIBRARYS if is_librarys else STUDENTS
        return self._files[file]

    def told(self) -> list[str]:
        """What was seen since this was asked last."""
        often = [
            f"calls the check of {name} {count} times"
            for name, count in self._calls.items()
            if count > OFTEN
        ]
        self._calls_in_all.update(self._calls)
        often += [
            f"calls the check of {name} {self._calls_in_all[name]} times with the cells before it"
            for name, count in self._calls.items()
            if count <= OFTEN and self._calls_in_all[name] > OFTEN_IN_ALL
        ]
        around = [f"runs {name} around its gate" for name in around_gates]
        around_gates.clear()
        if not self._had_processes and _had_processes():
            self._had_processes = True  # it stays so
            self._seen["starts another process"] = None
        if self._has_changed():
            self._seen["changes what judges"] = None
        seen, self._seen = [*self._seen, *around, *often], {}
        self._calls.clear()
        self._lines.clear()
        return seen[:MOST]

    def _hook(self, event: str, arguments: tuple) -> None:
        if event not in WATCHED or not self.is_on:
            return
        if getattr(self._busy, "now", False):  # by us, or by what an object does that we look at
            if event == "open" and self._is_students(_caller(2)):
                self._seen["acts while it is watched"] = None
        else:
            self._busy.now = True
            try:
                if (what := self._what(event, arguments)) and len(self._seen) < MOST:
                    self._seen[what] = None
            except Exception:  # odd arguments, or what we use was exchanged
                if event == "open":
                    self._seen["opens a file in a way that cannot be followed"] = None
            finally:
                self._busy.now = False

    def _what(self, event: str, arguments: tuple) -> str:
        if event in PROCESSES:
            # a package that is imported may ask which fonts there are, and Python for the machine
            files = (frame.f_code.co_filename for frame in _outward(_getframe(3)))
            asks = next((file for file in files if file != STARTS), "")
            is_theirs = self._is_import() or asks == MACHINE
            self._had_processes |= is_theirs
            return "" if is_theirs else "starts another process"
        if event in LOOKING:
            file = _caller(3)
            return "" if file == TESTS or self._whose(file) == OURS else f"uses {event}"
        if event in BELOW:
            return "" if self._is_import() else "goes below Python by ctypes"
        if event == ANOTHER:
            return "starts another interpreter"
        if event == "import":
            return self._imported(*arguments[:2])
        if event == "sys._getframe":
            return self._handed_on(_getframe(2))
        if event == "open":
            return self._opened(arguments[0])
        if event in LINKS:
            name = self._ours(arguments[0])
            return f"puts {name} under another name" if name else ""
        if event == "exec":
            return self._executed(arguments[0])
        if event == "code.__new__":
            return "makes code by hand" if self._is_students(_caller(3)) else ""
        if event == "function.__new__":
            name = self._ours(arguments[0].co_filename)
            is_checks = self._ours(_caller(3)) == TRACER and self._is_checking()
            return f"makes a function from the code of {name}" if name and not is_checks else ""
        return self._looked_into(event, *arguments[:2])

    def _imported(self, name: str, file: str | None) -> str:
        if name in UNWATCHED:
            files = (frame.f_code.co_filename for frame in _outward(_getframe(3)))
            asks = next((file for file in files if not IMPORTS.search(file)), "")
            return f"imports {name}, which can open files unseen" if self._is_students(asks) else ""
        is_own = isinstance(file, str) and file.endswith(".so") and self._is_students(file)
        return "goes below Python by a library of its own" if is_own else ""

    def _opened(self, path: Any) -> str:
        if isinstance(path, int | None):
            return ""  # what was opened before
        if not isinstance(path, str | bytes | PurePath):
            return "opens a file whose name it makes up while it is asked"
        path = os.fsdecode(path)
        path = str.__str__(path)  # one that was made for this has methods of its own
        if name := self._ours(path):
            what = f"reads {'' if name.endswith(PROSE) else 'the source of '}{name}"
            if self._is_kept_nowhere(_shows_lines):
                self._lines[name] += 1
                return what if self._lines[name] > MANY_LINES else ""
            is_loaded = self._is_import() or self._is_reload()
            is_loaded |= self._is_kept_nowhere(lambda code: code.co_filename == HELPS)
            return "" if is_loaded or self._is_asked_by_us() else what
        real = realpath(path)
        if real.startswith("/proc/") and real.endswith(MEMORY):
            return "looks into the memory of the program that runs it"
        if os.path.isdir(real) and self._leads_to_us(os.path.join(real, "")):
            return "opens a folder of the course"  # and what lies there by it
        return ""

    def _leads_to_us(self, folder: str) -> bool:
        """Is it a folder of the course, or one in which one lies?"""
        return folder.startswith(self._folders) or any(f.startswith(folder) for f in self._folders)

    def _is_within(self, is_it: Callable[[CodeType], bool]) -> bool:
        """Is such code at work, with nothing of the student's within?"""
        for frame in _outward(_getframe(1)):
            if self._is_students(frame.f_code.co_filename):
                return False
            if is_it(frame.f_code):
                return True
        return False

    def _is_kept_nowhere(self, is_it: Callable[[CodeType], bool]) -> bool:
        """Does such code ask for lines, which nothing of the student's keeps?"""
        cache = linecache.cache
        is_ours = cache is self._forgetful and type(cache).__setitem__ is self._forgets
        return is_ours and self._is_within(is_it)

    def _is_import(self) -> bool:
        """Is a module being imported as a statement would?"""
        return self._is_within(_finds_and_loads)

    def _is_reload(self) -> bool:
        """Is it done by `importlib.reload`, as some do after every change of a file?"""
        return self._is_within(lambda code: code is RELOAD)

    def _is_checking(self) -> bool:
        return self._is_within(lambda code: code is self._check)

    def _is_asked_by_us(self) -> bool:
        """Is the next one outward, of ours and the student's, the course or the machine?"""
        files = (frame.f_code.co_filename for frame in _outward(_getframe(4)))
        there = (file for file in files if self._ours(file) or self._is_students(file))
        return self._ours(next(there, "")) not in ("", SHELL)

    def _executed(self, code: CodeType) -> str:
        name = self._ours(code.co_filename)
        if name.endswith(PROSE) and self._whose(_caller(4)) == OURS:
            return ""  # an expression that stands in a text of ours
        if not self._is_students(code.co_filename) and self._is_students(_caller(4)):
            return f"runs the code of {name or 'another file'} by itself"
        if not name:
            looks = self._is_students(code.co_filename) and _words(code) & PEEPING
            return "looks into the program that runs it" if looks else ""
        is_reload = self._is_reload()
        if code.co_name != "<module>" or not (is_reload or self._is_import()):
            return f"runs the code of {name} by itself"
        wanted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        is_again = wanted in self._loaded and (not is_reload or wanted.startswith(GUARDED))
        if is_again or sys.modules.get(GATES) is not self._gates:
            return f"loads {name} again"
        return "" if _loaded_as() in ("", wanted) else f"loads {name} under another name"

    def _handed_on(self, frame: FrameType | None) -> str:
        """Is a frame given to the student's code, also by what hands it on?"""
        while frame and not self._is_students(frame.f_code.co_filename):
            if frame.f_code.co_name not in HANDS_ON:
                return ""
            frame = frame.f_back
        return "looks into the program that runs it"

    def _looked_into(self, event: str, owner: Any, attribute: str) -> str:
        if attribute in FRAMES:
            return self._handed_on(_getframe(3))
        if event == "object.__setattr__" and attribute == "__code__":
            is_students = self._is_students(_caller(4))
            return "puts other code into a function" if is_students else ""
        if type(owner) is not FunctionType or attribute not in ("__code__", *WITHIN):
            return ""
        name = self._ours(owner.__code__.co_filename)
        is_asked = name and not self._is_of_ours(_getframe(3)) and not _is_described()
        return f"looks into a function of {name}" if is_asked else ""

    def _ours(self, path: str) -> str:
        """The name of a source file of the course; empty if it is none."""
        if not path.endswith((".py", ".pyc", *PROSE)):
            return ""
        real = realpath(path)
        for folder in self._folders:
            if real.startswith(folder):
                return f"{os.path.basename(folder[:-1])}/{real[len(folder) :]}"
        return ""


def _finds_and_loads(code: CodeType) -> bool:
    return code.co_name == "_find_and_load" and code.co_filename.startswith("<frozen importl")


def _as_ours(do: Callable) -> Callable:
    """The same, called from here."""

    def called(*args: Any, **named: Any) -> Any:
        return do(*args, **named)

    return called


def _copied(state: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [{name: now for name, now in one.items() if name not in NOTED} for one in state]


def _is_inside(name: str) -> bool:
    """Is it a name of an exercise that students have no use for?"""
    return name in INSIDE or (name.startswith("_") and not name.startswith(SHOWN))


def _shows_lines(code: CodeType) -> bool:
    """Is a line shown in a traceback?"""
    return code.co_filename in SHOWS_LINES and not code.co_qualname.startswith("FrameS")


def _is_described() -> bool:
    """Is it asked for a signature, or for what kind of function it is?"""
    code = _getframe(4).f_code
    return code.co_filename in DESCRIBES and code.co_name not in TAKES_APART


def _words(code: CodeType) -> set[str]:
    """Names and texts in code, as they are when the compiler has put them together."""
    return {*code.co_names}.union(*map(_texts, code.co_consts))


def _texts(constant: Any) -> set[str]:
    if isinstance(constant, CodeType):
        return _words(constant)
    if isinstance(constant, tuple | frozenset):
        return set().union(*map(_texts, constant))
    return {constant} if isinstance(constant, str) else set()


def _tell_when_read(*attributes: str) -> None:
    """Python tells of every reading of these attributes of functions too, by whatever name.

    It tells of those alone that have a flag in a table of its own, and this sets it. A table that
    is not as we know it stays as it is.
    """
    for name in attributes:
        member = _Member.from_address(id(vars(FunctionType)[name])).about
        if sys.implementation.name == "cpython" and member.contents.name == name.encode():
            member.contents.flags |= TOLD_WHEN_READ


class _About(ctypes.Structure):
    """PyMemberDef, as `structmember.h` of CPython has it."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
    )


class _Member(ctypes.Structure):
    """PyMemberDescrObject, as `descrobject.h` of CPython has it."""

    _fields_ = (
        ("head", ctypes.c_byte * object.__basicsize__),
        ("kind_name_and_qualified", ctypes.c_void_p * 3),
        ("about", ctypes.POINTER(_About)),
    )


def _had_processes() -> bool:
    """Has this process had others of its own, however they were started?"""
    if resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss:
        return True
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except OSError:
        return False
    return True


def _loaded_as() -> str:
    """The name of the module that is being imported; empty if that is not seen."""
    for frame in _outward(_getframe(3)):
        if frame.f_code.co_name == "exec_module":
            return str(getattr(frame.f_locals.get("module"), "__name__", ""))
    return ""


def _outward(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _caller(depth: int) -> str:
    """The file from which the hook was reached."""
    return _getframe(depth).f_code.co_filename
