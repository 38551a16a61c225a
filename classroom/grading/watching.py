"""What a student's code does, seen from within its process, however it is written.

Python tells a hook, which cannot be taken away again, when a file is opened, code is executed, a
function is made or a process is started. Nothing is forbidden by it: what is seen of the course's
own files, and a check that is called again and again, becomes a look by hand. All of it is on the
student's side of the wall: who is determined to blind it leaves other traces, and wins a look.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from types import CodeType, FrameType, ModuleType
from typing import Any

from selfcheck.exercises import Exercise
from selfcheck.reserved import around_gates

OFTEN = 3  # calls of one check in a cell, above which it does the guessing
MOST = 20  # things that are told of one submission
PROCESSES = {"os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system", "subprocess.Popen"}
LOOKING = {
    "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.settrace", "sys.setprofile",
    "sys._current_frames", "sys.addaudithook",
}  # fmt: skip
BELOW = {
    "ctypes.dlopen", "ctypes.dlsym", "ctypes.cdata", "ctypes.cdata/buffer", "ctypes.string_at",
    "ctypes.wstring_at", "ctypes.addressof", "ctypes.call_function",
}  # fmt: skip
LINKS = {"os.link", "os.symlink", "os.rename"}
CODE = {"exec", "function.__new__", "object.__setattr__", "object.__getattr__"}
WATCHED = frozenset({"open", "sys._getframe"} | PROCESSES | LOOKING | BELOW | LINKS | CODE)
CELL = "<cell "  # how the file of a cell is called
TAKES_APART = ("dis.py", "inspect.py")
GUARDED = ("selfcheck.", "classroom.")  # modules; whether a package is of the machine, others ask
GATES = "selfcheck.reserved"  # of which nothing is for students
PROSE = (".md", ".toml")  # which has the known mistakes, and which the checks read
SHOWS_LINES = ("traceback.py", "warnings.py")  # which read sources to show a line of them
# Of an exercise, what judges without being a call of it; so does all that begins with _.
SHOWN = ("__", "_repr_", "_ipython_")  # asked for by whatever shows it
INSIDE = {"check", "parts", "judged", "verdict", "again", "survey", "__dict__"}


class Watch:
    """Notes what happens while code that is not ours runs."""

    def __init__(self, folders: list[str]) -> None:
        """`folders` are those of the course's package and of the machine."""
        self._folders = tuple(os.path.realpath(folder) + os.sep for folder in folders)
        self._seen: dict[str, None] = {}
        self._calls: Counter[str] = Counter()
        self._busy = threading.local()
        self.is_on = False

    def begin(self) -> None:
        """From now on; there is no end."""
        call = Exercise.__call__

        def counted(exercise: Exercise, *args: Any, **named: Any) -> Any:
            self._calls[exercise.name] += 1
            return call(exercise, *args, **named)

        def looked_into(exercise: Exercise, name: str) -> Any:
            is_inside = name in INSIDE or (name.startswith("_") and not name.startswith(SHOWN))
            if is_inside and self.is_on and not self._is_of_ours(sys._getframe(1)):
                self._seen["uses the inside of a check"] = None
            return object.__getattribute__(exercise, name)

        for name, module in list(sys.modules.items()):
            if name.startswith(GUARDED) and type(module) is ModuleType:
                module.__class__ = self._guarded
        type.__setattr__(Exercise, "__call__", counted)
        type.__setattr__(Exercise, "__getattribute__", looked_into)
        sys.addaudithook(self._hook)

    @cached_property
    def _guarded(self) -> type[ModuleType]:
        """A module of the machine, whose private names and whose changes are noticed."""
        watch = self

        class Guarded(ModuleType):
            def __getattribute__(self, name: str) -> Any:
                home = super().__getattribute__("__name__")
                is_private = name[0] == "_" and (name[1:2] != "_" or name == "__dict__")
                if is_private or (home == GATES and name[0] != "_"):
                    watch._reached_into(home, name)
                return super().__getattribute__(name)

            def __setattr__(self, name: str, value: Any) -> None:
                watch._reached_into(super().__getattribute__("__name__"), name)
                super().__setattr__(name, value)

        return Guarded

    def _reached_into(self, module: str, name: str) -> None:
        frame = sys._getframe(2)
        is_cell = frame.f_code.co_filename.startswith(CELL)
        if self.is_on and (is_cell if name == "__dict__" else not self._is_of_ours(frame)):
            self._seen[f"reaches into {module}"] = None

    def _is_of_ours(self, frame: FrameType) -> bool:
        """Whether the course or the machine is asking."""
        file = frame.f_code.co_filename
        return file.startswith("<frozen") or bool(self._ours(file))

    def told(self) -> list[str]:
        """What was seen since this was asked last."""
        often = [
            f"calls the check of {name} {count} times"
            for name, count in self._calls.items()
            if count > OFTEN
        ]
        around = [f"runs {name} around its gate" for name in around_gates]
        around_gates.clear()
        seen, self._seen = [*self._seen, *around, *often], {}
        self._calls.clear()
        return seen[:MOST]

    def _hook(self, event: str, arguments: tuple) -> None:
        if event in WATCHED and self.is_on and not getattr(self._busy, "now", False):
            self._busy.now = True
            try:
                if (what := self._what(event, arguments)) and len(self._seen) < MOST:
                    self._seen[what] = None
            except Exception:  # odd arguments are no matter of ours
                pass
            finally:
                self._busy.now = False

    def _what(self, event: str, arguments: tuple) -> str:
        if event in PROCESSES:
            return "starts another process"
        if event in LOOKING:
            return f"uses {event}"
        if event in BELOW:
            return "" if _is_import() else "goes below Python by ctypes"
        if event == "sys._getframe":
            return "looks into the program that runs it" if _caller(3).startswith(CELL) else ""
        if event == "open":
            return self._opened(arguments[0])
        if event in LINKS:
            name = self._ours(arguments[0])
            return f"puts {name} under another name" if name else ""
        if event == "exec":
            return self._executed(arguments[0])
        if event == "function.__new__":
            name = self._ours(arguments[0].co_filename)
            return f"makes a function from the code of {name}" if name else ""
        return self._looked_into(event, *arguments[:2])

    def _opened(self, path: Any) -> str:
        if not isinstance(path, str | bytes | os.PathLike):
            return ""
        path = os.fsdecode(path)
        if name := self._ours(path, (".py", ".pyc", *PROSE)):
            what = f"reads {'' if name.endswith(PROSE) else 'the source of '}{name}"
            return "" if _is_import() or self._is_asked_by_us() else what
        if os.path.isdir(path) and self._ours(os.path.join(path, "_.py")):
            return "opens a folder of the course"  # and what lies there by it
        return ""

    def _is_asked_by_us(self) -> bool:
        """Is the next one outward, of ours and the student's, the course or the machine?"""
        files = (frame.f_code.co_filename for frame in _outward(sys._getframe(4)))
        there = (file for file in files if file.startswith(CELL) or self._ours(file))
        return not next(there, CELL).startswith(CELL)

    def _executed(self, code: CodeType) -> str:
        name = self._ours(code.co_filename)
        if not name:
            return ""
        if code.co_name != "<module>" or not _is_import():
            return f"runs the code of {name} by itself"
        wanted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return "" if _loaded_as() in ("", wanted) else f"loads {name} under another name"

    def _looked_into(self, event: str, owner: Any, attribute: str) -> str:
        code = getattr(owner, "__code__", None) if type(owner).__name__ == "function" else None
        name = self._ours(code.co_filename) if code else ""
        if event == "object.__setattr__" and attribute == "__code__":
            return "puts other code into a function"
        is_inside = name and attribute in ("__closure__", "__code__") and _is_taken_apart()
        return f"looks into a function of {name}" if is_inside else ""

    def _ours(self, path: str, endings: tuple[str, ...] = (".py", ".pyc")) -> str:
        """The name of a source file of the course; empty if it is none."""
        if not path.endswith(endings):
            return ""
        real = os.path.realpath(path)
        for folder in self._folders:
            if real.startswith(folder):
                return f"{os.path.basename(folder[:-1])}/{real[len(folder) :]}"
        return ""


def _is_import() -> bool:
    """Is a module being imported as a statement would, or a line shown in a traceback?"""
    for frame in _outward(sys._getframe(3)):
        code = frame.f_code
        if code.co_name == "_find_and_load" and code.co_filename.startswith("<frozen importlib"):
            return True
        if code.co_filename.endswith(SHOWS_LINES) and not code.co_qualname.startswith("FrameS"):
            return True
    return False


def _is_taken_apart() -> bool:
    """Is a cell, or what takes functions apart for it, looking?"""
    code = sys._getframe(4).f_code
    if code.co_filename.endswith(TAKES_APART):
        return code.co_filename.endswith("dis.py") or code.co_name == "getclosurevars"
    return code.co_filename.startswith(CELL)


def _loaded_as() -> str:
    """The name of the module that is being imported; empty if that is not seen."""
    for frame in _outward(sys._getframe(3)):
        if frame.f_code.co_name == "exec_module":
            return str(getattr(frame.f_locals.get("module"), "__name__", ""))
    return ""


def _outward(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _caller(depth: int) -> str:
    """The file from which the hook was reached."""
    return sys._getframe(depth).f_code.co_filename
