"""What happens around the cells of a notebook: slips of order get a card in place of a traceback.

A check whose answer has no value yet, one that is run after a restart, and one that was stopped say
what to do. A verdict is about the cell that is on the screen: if the last run of the cell that made
an answer failed before it made it, the value from before is not judged. It is an extension of
IPython: `course lab` loads it into every kernel, so does the environment that `bootstrap.py` makes,
and elsewhere the checks do.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import threading
import zlib
from types import TracebackType
from typing import Any

from .cards import card
from .time_limit import LimitedOutput

MOST_PRINTED = 200_000  # characters that one cell may print
NOTHING_YET = (
    "The notebook was opened or restarted, and its first cells have not run. Choose "
    "“Run > Run All Above Selected Cell” (in VS Code “Execute Above Cells”), then run this cell "
    "again."
)


class Card:
    """A sentence for the student, as a card and as a line."""

    def __init__(self, title: str, says: str) -> None:
        self.title, self.says = title, says

    def __repr__(self) -> str:
        return f"{self.title}: {self.says}"

    def _repr_html_(self) -> str:
        return card(self.title, "", [self.says])


def load_ipython_extension(shell: Any) -> None:
    """What `course lab` loads into a new kernel."""
    watch_over(shell)
    read_ahead()


def read_ahead() -> None:
    """Load SymPy while the student still reads; whoever needs it before waits for the rest."""
    if sys.platform != "emscripten":  # a browser's Python has no threads
        load = importlib.import_module
        thread = threading.Thread(target=load, args=("sympy",), name="reading ahead", daemon=True)
        thread.start()


def watch_over(shell: Any) -> None:
    """Have slips of order told by cards, and endless printing cut."""
    if getattr(shell, "course_cells", False):
        return
    shell.course_cells = True
    shell.set_custom_exc((NameError, KeyboardInterrupt), _show_card)
    shell.events.register("pre_run_cell", lambda *_: _cut(shell))
    shell.events.register("pre_run_cell", lambda info: CELLS.begin(info, shell.user_ns))
    shell.events.register("post_run_cell", lambda result: CELLS.end(result, shell.user_ns))


class Cells:
    """Which cell made which name, and which values are from before.

    A value is from before if the last run of its cell failed, if its cell makes it no longer, or if
    the text that made it is not on the screen any more: that much a page with our extension tells.
    """

    def __init__(self) -> None:
        self._running = ""
        self._before: dict[str, Any] = {}  # the values when the cell began
        self._made: dict[str, set[str]] = {}  # by the id of the cell, the names
        self._from: dict[str, str] = {}  # by name, the text that made it, as its digest
        self._old: dict[str, str] = {}  # by name, why its value is from before
        self._edited: set[str] = set()  # digests of texts
        self.none_has_run = True  # to its end, since the kernel was started

    def begin(self, info: Any, names: dict[str, Any]) -> None:
        """A cell is about to run."""
        self._running = str(getattr(info, "raw_cell", ""))
        makes = _makes(self._running) | self._made.get(_id(info), set())
        self._before = {name: names[name] for name in makes if name in names}

    def end(self, result: Any, now: dict[str, Any]) -> None:
        """A cell has run, and what it makes is there, or is from before."""
        info, error = result.info, result.error_before_exec or result.error_in_exec
        source, self._running = str(getattr(info, "raw_cell", "")), ""
        before, self._before = self._before, {}
        self.none_has_run = self.none_has_run and error is not None
        if info is None or _called(source) is not None:
            return
        id_, names = _id(info), _makes(source)
        self._edited.discard(digest(source))
        for name in names | self._made.get(id_, set()):
            same = name in now and now[name] is before.get(name, _NEVER)
            if error is not None and same:
                self._old[name] = f"did not run to its end: {type(error).__name__}. Mend it and run"
            elif name in names:
                self._old.pop(name, None)
                self._from[name] = digest(source)
                self._forget(name)
            elif same:
                self._old[name] = f"was changed and makes no `{name}` any more. Mend it and run"
        if id_:
            self._made[id_] = names | self._made.get(id_, set()) if error else names

    def _forget(self, name: str) -> None:
        """It is made elsewhere now: what its former cell does no longer counts."""
        for names in self._made.values():
            names.discard(name)

    def edited(self, text: str, is_so: bool) -> None:
        """The page says: a text with this digest has gone from the screen, or is there again."""
        (self._edited.add if is_so else self._edited.discard)(text)

    def used(self) -> list[str]:
        """The names that the running cell takes from others."""
        try:
            tree = ast.parse(self._running)
        except SyntaxError:  # a magic, for instance
            return []
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return sorted(used - _makes(self._running))

    def texts(self) -> str:
        """The digests of the texts that the running cell depends on."""
        return " ".join(sorted({self._from[name] for name in self.used() if name in self._from}))

    def why_not(self) -> str:
        """A sentence, if the cell that runs now uses a value that is from before; else none."""
        for name in self.used():
            why = self._old.get(name, "")
            if not why and self._from.get(name) in self._edited:
                why = "was edited after it ran. Run"
            if why:
                return (
                    f"Your cell with `{name}` {why} it, then this one. "
                    "What was there before is not judged."
                )
        return ""


def digest(source: str) -> str:
    """A text in eight letters, as the page has it too; blanks at its end do not count."""
    text = source.rstrip(" \t\n").encode("utf-8", "replace")
    return f"{zlib.crc32(text):08x}"


def _id(info: Any) -> str:
    """The id of the cell, where the frontend tells it."""
    return str(getattr(info, "cell_id", None) or "")


def _makes(source: str) -> set[str]:
    """The names that a cell makes; where it cannot be parsed, those that its lines begin with."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return {*re.findall(r"^(?:def +|class +)?(\w+) *(?:[(=:,]|$)", source, re.MULTILINE)}
    stored = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return stored | {node.name for node in tree.body if isinstance(node, kinds)}


_NEVER = object()
CELLS = Cells()


def into_the_notebook() -> None:
    """Load the extension, if this is a notebook."""
    if "IPython" in sys.modules:
        from IPython import get_ipython

        if (shell := get_ipython()) is not None:
            watch_over(shell)


def _cut(shell: Any) -> None:
    """Each cell may print so much; the rest is dropped, and that is said."""
    out = sys.stdout.out if isinstance(sys.stdout, LimitedOutput) else sys.stdout
    sys.stdout = LimitedOutput(out, MOST_PRINTED)


def _show_card(
    shell: Any, kind: type, error: BaseException, trace: TracebackType, tb_offset: Any = None
) -> None:
    found = _card(shell.user_ns, error)
    if found is None:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return
    from IPython.display import display

    display(found)


def _card(names: dict[str, Any], error: BaseException) -> Any:
    """What to show in place of the traceback; None if it is no slip of order."""
    called = _called(names.get("In", [""])[-1])
    missing = getattr(error, "name", None) if isinstance(error, NameError) else None
    if missing and CELLS.none_has_run:
        return Card("Not run yet", NOTHING_YET)
    if called is None:
        return None
    exercise = getattr(names.get("check"), called, None)
    if missing in ("check", "scoreboard"):
        return Card("Not run yet", NOTHING_YET)
    if exercise is None or not hasattr(exercise, "without_answer"):
        return None
    if isinstance(error, KeyboardInterrupt):
        return exercise.without_answer("You stopped this check before it had a verdict.")
    return exercise.without_answer(
        f"There is no `{missing}`: the cell with your answer has not run, or stopped at an error. "
        "Run it first, then this one."
    )


def _called(source: str) -> str | None:
    """`energy` for the cell `check.energy(x)`, and an empty word for a scoreboard."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return None
    match body[-1:]:
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name("check"), name)))]:
            return name
        case [ast.Expr(ast.Call(ast.Name("scoreboard")))]:
            return ""
    return None
