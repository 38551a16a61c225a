"""In the page of a sheet: its cells as a notebook would run them, and what is asked of a check.

Every answer is judged in names of its own: the set-up is run, then the answers that this one uses,
then the answer and its check. So a verdict is about what stands on the page, and an answer that
fails or never ends is in nobody's way.
"""

import ast
import builtins
import contextlib
import html
import importlib
import io
import json
import linecache
import re
import symtable
import sys
import traceback
from types import SimpleNamespace
from typing import Any

from selfcheck.feedback import Feedback, Outcome
from selfcheck.formula import read_formula
from selfcheck.kinds import FormulaAnswer, Lines, Number
from selfcheck.mathml import mathml
from selfcheck.notebook import MOST_PRINTED
from selfcheck.practice import Practiced
from selfcheck.refusals import Unreadable
from selfcheck.time_limit import LimitedOutput
from selfcheck.typeset import FORMULA, set_text

Cell = dict[str, str]  # id, role, source
checks: Any = None  # the unit's module, once the set-up has run


# -- running --------------------------------------------------------------------------------------


def run(cell: Cell, names: dict[str, Any]) -> dict[str, Any]:
    """Run a cell in these names: what it printed, what it comes to, how it failed."""
    file = f"<{cell['id']}>"
    lines = cell["source"].splitlines(keepends=True)
    linecache.cache[file] = (len(cell["source"]), None, lines, file)
    shown: list[Any] = []
    names["display"] = lambda *values: shown.extend(values)
    heard, error = io.StringIO(), None
    out = LimitedOutput(heard, MOST_PRINTED)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            tree = ast.parse(cell["source"], file)
            last = tree.body[-1] if tree.body else None
            if isinstance(last, ast.Expr):
                tree.body.pop()
            exec(compile(tree, file, "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), file, "eval"), names)
                shown += [] if value is None else [value]
        except BaseException as problem:
            error = _told(problem, file, lines)
    pictures = _pictures()
    feedback = next((v for v in shown if isinstance(v, Feedback | Practiced)), None)
    return {
        "printed": heard.getvalue(),
        "shown": [_bundle(value) for value in shown],
        "pictures": pictures,
        "error": error,
        "feedback": feedback,
    }


def _bundle(value: Any) -> dict[str, str]:
    """A value as text and, where it can, as HTML."""
    with contextlib.suppress(Exception):
        told: dict[str, str] = getattr(value, "_repr_mimebundle_", dict)() or {}
        rich = getattr(value, "_repr_html_", lambda: None)() or told.get("text/html")
        if not rich and "text/markdown" in told:
            rich = _as_html(told["text/markdown"])
        return {"text/plain": repr(value)} | ({"text/html": rich} if rich else {})
    return {"text/plain": object.__repr__(value)}


def _as_html(markdown: str) -> str:
    """The little Markdown that the machine writes: paragraphs, lists, bold, code, formulas."""
    formulas: list[str] = []

    def apart(found: re.Match[str]) -> str:
        if found[0].startswith("`"):
            return found[0]
        formulas.append(set_text(found[0]))
        return f"\0{len(formulas) - 1}\0"

    blocks = []
    text = re.sub(rf"`[^`\n]+`|{FORMULA.pattern}", apart, markdown.strip(), flags=re.DOTALL)
    for block in re.split(r"\n\s*\n", text):
        if block.startswith("<"):
            blocks.append(block)
            continue
        text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(block, quote=False))
        text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
        text = re.sub(r"(?<![\w*])\*([^*\n]+)\*(?!\w)", r"<em>\1</em>", text)
        items = re.split(r"^[-*] +", text, flags=re.MULTILINE)
        rows = "".join(f"<li>{item.strip()}</li>" for item in items[1:])
        blocks += [f"<p>{items[0]}</p>"] * bool(items[0].strip()) + [f"<ul>{rows}</ul>"] * bool(
            rows
        )
    return re.sub("\0(\\d+)\0", lambda found: formulas[int(found[1])], "".join(blocks))


def _told(error: BaseException, file: str, lines: list[str]) -> dict[str, Any]:
    """An error in the student's own words: the last line of theirs that it came through."""
    if isinstance(error, SyntaxError) and error.filename == file:
        number, says = error.lineno or 0, error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        number = next((f.lineno or 0 for f in reversed(frames) if f.filename == file), 0)
        says = " ".join(str(error).split())
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return {"kind": type(error).__name__, "says": says[:2000], "line": number, "code": line}


def _pictures() -> list[str]:
    """Figures that a cell left open, as PNG."""
    plot = sys.modules.get("matplotlib.pyplot")
    if plot is None or not plot.get_fignums():
        return []
    import base64

    found = []
    for number in plot.get_fignums()[:10]:
        data = io.BytesIO()
        plot.figure(number).savefig(data, format="png", dpi=100, bbox_inches="tight")
        found.append(base64.b64encode(data.getvalue()).decode())
    plot.close("all")
    return found


# -- which cells a cell needs ---------------------------------------------------------------------


def made_and_used(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell makes or changes, and those that it takes from others."""
    try:
        tree, table = ast.parse(source), symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError):
        pattern = r"^(?:def +|class +)?(\w+) *(?:[(=:,]|$)"
        return {*re.findall(pattern, source, re.MULTILINE)}, set()
    here = table.get_symbols()
    made = {s.get_name() for s in here if s.is_assigned() or s.is_imported() or s.is_namespace()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            made |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    used = {s.get_name() for s in here if s.is_referenced()}
    below = list(table.get_children())
    while below:
        inner = below.pop()
        used |= {s.get_name() for s in inner.get_symbols() if s.is_global()}
        below += inner.get_children()
    return made, used - vars(builtins).keys()


class Sheet:
    """The code cells of a sheet, and what each of them stands on."""

    def __init__(self, cells: list[Cell]) -> None:
        self.cells = cells
        self.about = [made_and_used(cell["source"]) for cell in cells]
        self.waits: set[int] = set()  # cells of ours that use what an answer makes
        of_answers: set[str] = set()
        for place, (made, used) in enumerate(self.about):
            role = cells[place]["role"]
            if role in ("given", "student") and used & of_answers:
                self.waits.add(place)
            if role in ("answer", "own") or place in self.waits:
                of_answers |= made

    def place(self, cell_id: str) -> int:
        """Where a cell stands."""
        return next(k for k, cell in enumerate(self.cells) if cell["id"] == cell_id)

    def before(self, last: int, wanted: set[str]) -> list[int]:
        """What is run before a cell: our own set-up, and the answers whose names are wanted."""
        wanted, found = set(wanted), []
        for place in reversed(range(last)):
            role, (made, used) = self.cells[place]["role"], self.about[place]
            ours = role in ("given", "student") and place not in self.waits
            if role not in ("check", "scoreboard") and (ours or made & wanted):
                found.append(place)
                wanted |= used
        return found[::-1]

    def names(self, places: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The names after these cells, and what each of them said."""
        names: dict[str, Any] = {"__name__": "__main__"}
        said = {self.cells[k]["id"]: run(self.cells[k], names) for k in places}
        return names, said


# -- what the page asks ---------------------------------------------------------------------------


def begin(cells: str) -> str:
    """Run all cells of ours that no answer stands before."""
    global checks
    sheet = Sheet(json.loads(cells))
    own = [k for k, c in enumerate(sheet.cells) if c["role"] in ("given", "student")]
    names, said = sheet.names([k for k in own if k not in sheet.waits])
    checks = names.get("check", checks)
    solutions = [n for n, e in vars(checks).items() if _has_solution(e)] if checks else []
    return _json({"said": said, "solutions": solutions})


def check(cells: str, cell_id: str) -> str:
    """Judge an answer: by the id of its check."""
    return _json(_judged(Sheet(json.loads(cells)), cell_id))


def _judged(sheet: Sheet, cell_id: str, instead: Any = None) -> dict[str, Any]:
    place = sheet.place(cell_id)
    answer = cell_id.replace("check-", "answer-", 1)
    own = [k for k in range(place) if sheet.cells[k]["id"] == answer]
    wanted = set().union(*(sheet.about[k][1] for k in [*own, place]))
    places = sorted({*sheet.before(place, wanted), *own})
    names, said = sheet.names(places)
    if instead is not None:
        names["check"] = instead
    found = run(sheet.cells[place], names)
    error = found["error"]
    if error and error["kind"] == "NameError":
        exercise = getattr(checks, _exercise(cell_id), None)
        missing = re.search(r"'(\w+)'", error["says"])
        if exercise is not None and missing:
            feedback = exercise.without_answer(
                f"There is no `{missing[1]}`: what should make it stopped at an error, or does not "
                "name it."
            )
            found |= {"error": None, "feedback": feedback, "shown": [_bundle(feedback)]}
    failed = [{"id": i, **one["error"]} for i, one in said.items() if one["error"] and i != answer]
    return {"answer": said.get(answer), "check": found, "failed": failed}


def try_out(cells: str, cell_id: str) -> str:
    """Run a cell of ours that uses answers, or that the student has changed."""
    sheet = Sheet(json.loads(cells))
    place = sheet.place(cell_id)
    names, _ = sheet.names(sheet.before(place, sheet.about[place][1]))
    return _json(run(sheet.cells[place], names))


def hint(cell_id: str, number: int) -> str:
    """One of the hints, as a card: the page counts them, since Python may have started anew."""
    exercise = getattr(checks, _exercise(cell_id))
    exercise._hints_given = number - 1
    return _json(_bundle(exercise.hint()))


def solution(cells: str, cell_id: str) -> str:
    """What the exercise says when it is asked for its solution, beside the answer on the page."""
    _judged(Sheet(json.loads(cells)), cell_id)
    return _json(_bundle(getattr(checks, _exercise(cell_id)).solution()))


def practice(cells: str, cell_id: str, seed: int, source: str) -> str:
    """The same exercise with the numbers of an id that nobody has; without a source, these."""
    sheet = Sheet(_with_id(json.loads(cells), cell_id, f"practice {seed}", source))
    if source:
        exercise = getattr(checks, _exercise(cell_id))

        def judged(*answers: Any) -> Practiced:
            return Practiced(exercise.judged(*answers))

        return _json(_judged(sheet, cell_id, SimpleNamespace(**{exercise.name: judged})))
    place = sheet.place(cell_id)
    own = {"student"}
    for k in range(place):
        if sheet.cells[k]["role"] == "given" and sheet.about[k][1] & own:
            own |= sheet.about[k][0]
    _, said = sheet.names(sheet.before(place, set()))
    of_own = [k for k in range(place) if sheet.about[k][1] & own]
    ids = [sheet.cells[k]["id"] for k in of_own if sheet.cells[k]["id"] in said]
    told = [[said[i]["printed"], *(v["text/plain"] for v in said[i]["shown"])] for i in ids]
    return _json({"printed": "\n".join(text for one in told for text in one if text).strip()})


def _with_id(cells: list[Cell], cell_id: str, student: str, source: str) -> list[Cell]:
    answer = cell_id.replace("check-", "answer-", 1)
    changed = []
    for cell in cells:
        if cell["role"] == "student":
            cell = cell | {"source": f"student = {student!r}"}
        elif cell["id"] == answer and source:
            cell = cell | {"source": source}
        changed.append(cell)
    return changed


def reading(cell_id: str, name: str, text: str) -> str:
    """How a formula or number in text is read, typeset; or the sentence that refuses it."""

    kind = getattr(checks, _exercise(cell_id)).kinds[name]
    try:
        if isinstance(kind, Lines):
            return _json({"math": mathml(kind.read([text], name)[0].tree)})
        read = kind.read(text, name)
        if isinstance(read, FormulaAnswer):
            return _json({"math": mathml(read.formula.tree)})
        if isinstance(kind, Number):
            value, shown = f"{read:.6g}", mathml(read_formula(text, ()).tree)
            return _json({"math": shown if f">{value}<" in shown else f"{shown} ≈ {value}"})
    except Unreadable as why:
        return _json({"says": str(why).removeprefix("Line 1 cannot be read. ")})
    return _json({})


def _exercise(cell_id: str) -> str:
    return cell_id.partition("-")[2].replace("-", "_")


def _has_solution(exercise: Any) -> bool:
    """Has the class given students its solution? When it may be seen, the exercise says."""
    if not (hasattr(exercise, "kinds") and hasattr(exercise, "solution")):
        return False
    with contextlib.suppress(Exception):
        afterwards = importlib.import_module("selfcheck.afterwards")
        return afterwards.found_for(exercise)[1] is not None
    return False


def _json(value: Any) -> str:
    def plain(thing: Any) -> Any:
        if isinstance(thing, Practiced):
            return {"outcome": thing.feedback.headline}
        return thing.as_dict() | {"lines": _false_lines(thing)}

    return json.dumps(value, default=plain)


def _false_lines(feedback: Feedback) -> dict[str, int]:
    """By the name of an answer: the number of its first false line, 0 if all of them hold."""
    pieces = feedback.judged.pieces if feedback.judged else {}
    exercise = getattr(checks, feedback.name, None)
    return {
        parameter: 0 if piece.line is None else piece.line + 1
        for part, piece in pieces.items()
        if exercise and piece.outcome in (Outcome.RIGHT, Outcome.WRONG)
        for parameter in exercise.needs(part)
    }
