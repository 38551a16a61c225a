"""Mutation testing of the checks: which small changes of a right answer are still called right?

Every right answer, that of the solution and the `RIGHT` forms of the unit's tests, is changed by
one small step and put to its check, in a process of its own that is ended if it takes too long. A
mutant that still earns all points survives, unless it has the same values; one that does so with
some class secrets and not with others is open whatever it is. Where an example is
asked for, one of the `ORACLES` of the unit's tests may find by another way that it is right as
well. Survivors that somebody has looked at stand in `tests/survivors.toml` with a reason each; any
other is open, and the audit fails.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import inspect
import io
import multiprocessing
import sys
import textwrap
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from selfcheck.course import course_in
from selfcheck.exercises import Exercise
from selfcheck.files import CourseError, write_whole
from selfcheck.kinds import Function
from selfcheck.sampling import nothing_drawn
from selfcheck.units import declared, find

from .roles import Role, called_check, role
from .solutions import read_solution, solution_paths

SURVIVORS = Path("tests", "survivors.toml")
TESTS = "tests_of_checks."  # modules of tests are loaded under this name
MARK = "<!-- audit -->"
SECONDS = 20.0  # for one mutant
SECRETS = 50  # of classes, from which cases are drawn
MEMORY = 4 * 2**30  # bytes for the process that runs mutants


# -- one small step --------------------------------------------------------------------------------

OTHER_OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,), ast.FloorDiv: (ast.Div,), ast.Mod: (ast.FloorDiv,),
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
    ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
PAIRS = [
    ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("sum", "mean"), ("sum", "prod"),
    ("tril", "triu"), ("zeros", "ones"), ("sin", "cos"), ("exp", "log"), ("cumsum", "cumprod"),
    ("vstack", "hstack"), ("floor", "ceil"), ("any", "all"),
]  # fmt: skip
OTHER_NAMES: dict[str, list[str]] = {}
for _one, _other in [*PAIRS, *(pair[::-1] for pair in PAIRS)]:
    OTHER_NAMES.setdefault(_one, []).append(_other)


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes that could stand in the place of this one after one small step."""
    match node:
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            for other in dict.fromkeys([value + 1, value - 1, 0, 1]):
                if other != value:
                    yield ast.Constant(other)
        case ast.Constant(value=str() as text):
            yield from (ast.Constant(other) for other in _formulas(text))
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(left=left, op=op, right=right):
            yield from (ast.BinOp(left, other(), right) for other in _others(op))
            yield from (left, right)
            if not isinstance(op, ast.Add | ast.Mult):
                yield ast.BinOp(right, op, left)
        case ast.AugAssign(target=target, op=op, value=value):
            yield from (ast.AugAssign(target, other(), value) for other in _others(op))
        case ast.Compare(left=left, ops=[op], comparators=right):
            yield from (ast.Compare(left, [other()], right) for other in _others(op))
        case ast.BoolOp(op=op, values=values):
            yield from (ast.BoolOp(other(), values) for other in _others(op))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield from (ast.IfExp(test, orelse, body), body, orelse)
        case ast.Attribute(value=value, attr="T"):
            yield value
        case ast.Subscript(value=value, ctx=ast.Load()):
            yield value
        case ast.Tuple(elts=[a, b], ctx=ast.Load()):
            yield ast.Tuple([b, a], ast.Load())
        case ast.Call():
            yield from _other_calls(node)


def _others(op: ast.AST) -> tuple[type, ...]:
    return OTHER_OPERATORS.get(type(op), ())


def _other_calls(call: ast.Call) -> Iterator[ast.AST]:
    """Dropped, without a keyword, with two arguments swapped, of a neighboring function."""
    function, args, keywords = call.func, call.args, call.keywords
    if args and not isinstance(args[0], ast.Starred):
        yield args[0]
    elif isinstance(function, ast.Attribute) and not args:
        yield function.value
    for k, keyword in enumerate(keywords):
        if keyword.arg != "strict":  # it only guards against what never happens here
            yield ast.Call(function, args, [*keywords[:k], *keywords[k + 1 :]])
    if len(args) > 1:
        yield ast.Call(function, [args[1], args[0], *args[2:]], keywords)
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    for other in OTHER_NAMES.get(name, []):
        if isinstance(function, ast.Attribute):
            yield ast.Call(ast.Attribute(function.value, other, ast.Load()), args, keywords)
        elif other in ("min", "max", "sum", "any", "all"):
            yield ast.Call(ast.Name(other, ast.Load()), args, keywords)
    if name == "range" and args:
        fewer = ast.BinOp(args[-1], ast.Sub(), ast.Constant(1))
        yield ast.Call(function, [*args[:-1], fewer], keywords)


def _formulas(text: str) -> Iterator[str]:
    """The mutants of a formula that is given as text; none for a word."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return
    for _, mutant in _stepped(tree):
        yield mutant


def _stepped(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Every mutant of a tree: the change in words, and the source after it."""
    unread = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    unread |= {
        id(k.value) for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg == "strict"
    }
    places = {
        id(child): (parent, name, child)
        for parent in ast.walk(tree)
        for name, value in ast.iter_fields(parent)
        for child in (value if isinstance(value, list) else [value])
        if isinstance(child, ast.AST)
    }
    for node in list(ast.walk(tree)):
        if id(node) in unread and isinstance(node, ast.Constant):
            continue
        for new in changes(node):
            if source := _source(tree, *places[id(node)], [new]):
                yield f"{_short(node)} → {_short(new)}", source
        for statement in _droppable(node):
            if source := _source(tree, *places[id(statement)], []):
                yield f"without {_short(statement)}", source


def _source(tree: ast.AST, parent: ast.AST, name: str, old: ast.AST, new: list[ast.AST]) -> str:
    """The source of a tree with other nodes in place of one; empty if that is no source."""
    before = getattr(parent, name)
    siblings = before if isinstance(before, list) else [before]
    place = next(k for k, node in enumerate(siblings) if node is old)
    after = [*siblings[:place], *map(ast.fix_missing_locations, new), *siblings[place + 1 :]]
    setattr(parent, name, after if isinstance(before, list) else after[0])
    try:
        return ast.unparse(tree)
    except (ValueError, AttributeError, RecursionError):
        return ""
    finally:
        setattr(parent, name, before)


def _droppable(node: ast.AST) -> list[ast.stmt]:
    """The assignments of a block that has other statements too."""
    body = getattr(node, "body", [])
    if not isinstance(body, list) or len(body) < 2:
        return []
    return [s for s in body if isinstance(s, ast.Assign | ast.AugAssign)]


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:40]}…{text[-19:]}"


# -- right answers and their mutants ---------------------------------------------------------------


class Form(NamedTuple):
    """A right answer of which one piece is source: `answers` makes all answers from that source."""

    exercise: Exercise
    name: str
    source: str
    answers: Callable[[str], Sequence[Any]]
    oracle: Callable[..., bool] | None = None  # finds out by another way whether it is right


class Mutant(NamedTuple):
    """A form whose source was changed by one step, under a name that does not depend on lines."""

    form: Form
    change: str
    source: str

    @property
    def key(self) -> tuple[str, str]:
        """The exercise and the change, as the file of survivors has them."""
        return f"{self.form.exercise.number} {self.form.exercise.name}", self.change


def forms(root: Path, stem: str) -> list[Form]:
    """Of every exercise of a unit: the solution's answer, then the forms that its tests know."""
    known = _right_forms(root, stem)
    oracles = getattr(_tests_of(root, stem), "ORACLES", {})
    found: list[Form] = []
    for form in _solved(root, stem):
        name = form.exercise.name
        found += [f._replace(oracle=oracles.get(name)) for f in (form, *known.get(name, []))]
    return found


def _solved(root: Path, stem: str) -> Iterator[Form]:
    """The answer cells of the solution, each run after all cells before it."""
    solution = read_solution(root / "solutions" / f"{stem}.ipynb")
    exercises = {e.name: e for e in declared(stem)}
    space: dict[str, Any] = {"__name__": "answers"}
    before, answer = space, ""
    for cell in solution.notebook.cells:
        kind = role(cell)
        if kind is Role.ANSWER:
            before, answer = dict(space), cell.source
        if kind in (Role.GIVEN, Role.STUDENT, Role.ANSWER):
            _run(cell.source, space)
        called = called_check(cell.source) if kind is Role.CHECK else None
        if called is not None:
            run = partial(_after, before, called.arguments)
            yield Form(exercises[called.exercise], "solution", answer, run)


def _after(before: dict[str, Any], arguments: Sequence[str], source: str) -> list[Any]:
    space = dict(before)
    _run(source, space)
    return [eval(argument, space) for argument in arguments]


def _run(source: str, space: dict[str, Any]) -> None:
    exec(compile(source, "<answer>", "exec"), space)


def _right_forms(root: Path, stem: str) -> dict[str, list[Form]]:
    """What `RIGHT` of the unit's tests holds, as far as it is source or plain values."""
    right = getattr(_tests_of(root, stem), "RIGHT", {})
    found: dict[str, list[Form]] = {}
    for exercise in declared(stem):
        for number, answers in enumerate(right.get(exercise.name, []), start=1):
            for k, (name, answer) in enumerate(zip(exercise.kinds, answers, strict=False)):
                for line, source, make in _pieces(answer) if _is_asked(exercise, name) else ():
                    run = partial(_with, tuple(answers), k, make)
                    form = Form(exercise, f"form {number}.{k + 1}{line}", source, run)
                    found.setdefault(exercise.name, []).append(form)
    return found


@cache
def _tests_of(root: Path, stem: str) -> ModuleType:
    """The tests of a unit's checks: tests/checks/test_sums.py of 01_sums."""
    path = root / "tests" / "checks" / f"test_{stem.partition('_')[2]}.py"
    course_in(root).enter()
    spec = importlib.util.spec_from_file_location(f"{TESTS}{path.stem}", path)
    if not path.exists() or spec is None or spec.loader is None:
        raise CourseError(f"{path} is missing: the audit takes right answers from its RIGHT.")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _is_asked(exercise: Exercise, name: str) -> bool:
    """Whether this answer is judged here; one of an earlier exercise is only used."""
    if name in exercise.optional:
        return False
    return not exercise.parts or any(name in part.needs for part in exercise.parts)


def _with(answers: tuple, k: int, make: Callable[[str], Any], source: str) -> list[Any]:
    return [*answers[:k], make(source), *answers[k + 1 :]]


def _pieces(answer: Any) -> Iterator[tuple[str, str, Callable[[str], Any]]]:
    """What of an answer is source: all of it, or each function of a list of them."""
    if isinstance(answer, list | tuple) and any(map(inspect.isfunction, answer)):
        for k, line in enumerate(answer):
            if (made := _source_of(line)) is not None:
                yield f".{k + 1}", made[0], partial(_with, tuple(answer), k, made[1])
    elif (made := _source_of(answer)) is not None:
        yield "", *made


def _source_of(answer: Any) -> tuple[str, Callable[[str], Any]] | None:
    """An answer as source, and how it is made of source; None if it is neither."""
    if inspect.isfunction(answer):
        if answer.__closure__ or not answer.__module__.startswith(TESTS):
            return None
        if answer.__name__ == "<lambda>":
            found = _lambda(answer)
            return None if found is None else (found, partial(_evaluated, answer.__globals__))
        source = textwrap.dedent(inspect.getsource(answer))
        return source, partial(_function, answer.__name__, answer.__globals__)
    if hasattr(answer, "free_symbols"):
        answer = str(answer)
    source = repr(answer.tolist() if hasattr(answer, "tolist") else answer)
    try:
        ast.literal_eval(source)
    except (ValueError, SyntaxError):
        return None
    return source, partial(_evaluated, {})


def _lambda(function: Any) -> str | None:
    """The source of a lambda: of those in its line the one that compiles to the same code."""
    for node in ast.walk(_parsed(inspect.getsourcefile(function) or "")):
        if isinstance(node, ast.Lambda) and node.lineno == function.__code__.co_firstlineno:
            code = eval(compile(ast.Expression(node), "<lambda>", "eval"), {}).__code__
            if all(getattr(code, a) == getattr(function.__code__, a) for a in CODE):
                return ast.unparse(node)
    return None


CODE = ("co_code", "co_names", "co_varnames")


@cache
def _parsed(path: str) -> ast.AST:
    return ast.parse(Path(path).read_text(encoding="utf-8"))


def _function(name: str, space: dict[str, Any], source: str) -> Any:
    space = dict(space)
    _run(source, space)
    return space[name]


def _evaluated(space: dict[str, Any], source: str) -> Any:
    return eval(source, dict(space))


@cache
def mutants(root: Path, stem: str) -> tuple[Mutant, ...]:
    """All mutants of a unit, always in the same order and under the same names."""
    with contextlib.redirect_stdout(io.StringIO()):
        found = [mutant for form in forms(root, stem) for mutant in _mutants_of(form)]
    return tuple(found)


def _mutants_of(form: Form) -> Iterator[Mutant]:
    tree = ast.parse(form.source)
    seen: set[str] = set()
    count: Counter[str] = Counter()
    for words, source in _stepped(tree):
        if source in seen:
            continue
        seen.add(source)
        count[words] += 1
        again = f" ({count[words]})" if count[words] > 1 else ""
        yield Mutant(form, f"{form.name}: {words}{again}", source)


# -- one mutant, put to its check ------------------------------------------------------------------

CAUGHT, EQUIVALENT, SURVIVED, LUCKY = "caught", "equivalent", "survived", "lucky"


def tried(mutant: Mutant) -> str:
    """What becomes of a mutant: caught, equivalent or survived."""
    form = mutant.form
    if ast.unparse(ast.parse(form.source)) == mutant.source:
        return EQUIVALENT
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            answers = form.answers(mutant.source)
        except Exception:  # it does not even run
            return CAUGHT
        if (rate := how_often(form.exercise, answers)) < 1:
            return LUCKY if rate else CAUGHT
        if _same(form.exercise, form.answers(form.source), answers):
            return EQUIVALENT
    return EQUIVALENT if form.oracle and form.oracle(*answers) else SURVIVED


def how_often(exercise: Exercise, answers: Sequence[Any], secrets: int = SECRETS) -> float:
    """The share of class secrets with which it earns all points; what all classes try goes first.

    Which mistake it may be is of no interest here.
    """
    known = exercise.misconceptions, exercise.seed
    exercise.misconceptions, earned = (), 0
    try:
        with nothing_drawn():
            if exercise.judged(*answers).earned < exercise.points:
                return 0.0
        for exercise.seed in range(1, secrets + 1):
            earned += exercise.judged(*answers).earned == exercise.points
    finally:
        exercise.misconceptions, exercise.seed = known
    return earned / secrets


def _same(exercise: Exercise, answers: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether all answers have the same values; of functions that cannot be told."""
    try:
        # an earlier answer that may be missing is missing in both
        for (name, kind), a, b in zip(exercise.kinds.items(), answers, others, strict=False):
            if a is b or (isinstance(a, str | int | float) and a == b):
                continue
            if isinstance(kind, Function) or callable(a):
                return False
            if not kind.same(kind.read(a, name), kind.read(b, name)):
                return False
    except Exception:
        return False
    return True


def _work(pipe: Any, root: Path) -> None:
    """The process that runs mutants: it is told unit and number, and tells what became of it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    while (task := pipe.recv()) is not None:
        stem, number = task
        mutant = mutants(root, stem)[number]
        pipe.send("ready")  # from here on the time counts
        try:
            pipe.send(tried(mutant))
        except BaseException:
            pipe.send(CAUGHT)


@dataclass
class Worker:
    """A process that runs mutants, begun anew when one of them takes too long or ends it."""

    root: Path
    seconds: float = SECONDS
    _process: Any = field(default=None, init=False)
    _pipe: Any = field(default=None, init=False)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def result(self, stem: str, number: int) -> str:
        """What becomes of the mutant with this number."""
        if self._process is None:
            self._begin()
        try:
            self._pipe.send((stem, number))
            if self._told(10 * self.seconds) == "ready" and (found := self._told(self.seconds)):
                return found
        except (EOFError, OSError):  # the mutant ended the process
            pass
        self._end()
        return CAUGHT

    def _told(self, seconds: float) -> str:
        return self._pipe.recv() if self._pipe.poll(seconds) else ""

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self.root), daemon=True)
        self._process.start()
        theirs.close()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = self._pipe = None


# -- the audit -------------------------------------------------------------------------------------


@dataclass
class Score:
    """How many mutants were tried, and what became of them."""

    caught: int = 0
    equivalent: int = 0
    reviewed: int = 0
    open: list[tuple[str, str]] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """All of them."""
        return self.caught + self.equivalent + self.reviewed + len(self.open)

    def add(self, result: str, key: tuple[str, str], known: dict[str, dict[str, str]]) -> None:
        """Count one more mutant."""
        if result == CAUGHT:
            self.caught += 1
        elif result == EQUIVALENT:
            self.equivalent += 1
        elif result != LUCKY and known.get(key[0], {}).get(key[1]):
            self.reviewed += 1
        else:
            self.open.append(key)

    def plus(self, other: Score) -> Score:
        """Both together."""
        return Score(
            self.caught + other.caught,
            self.equivalent + other.equivalent,
            self.reviewed + other.reviewed,
            self.open + other.open,
        )

    def __str__(self) -> str:
        alike = self.equivalent + self.reviewed
        return (
            f"{self.tried:,} mutants of right answers tried, {self.caught:,} caught, {alike:,} "
            f"equivalent or right as well ({self.reviewed:,} of them looked at one by one), "
            f"{len(self.open):,} open, each with {SECRETS} class secrets"
        )


def survivors(root: Path) -> dict[str, dict[str, str]]:
    """The reviewed survivors: by exercise and change, a reason."""
    path = root / SURVIVORS
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{SURVIVORS} cannot be read: {error}.") from None


def audit(
    root: Path, stems: Sequence[str], every: int = 1, tell: Callable[[str], None] = lambda _: None
) -> Score:
    """Try every mutant of these units, or each `every`-th; `tell` gets the progress."""
    score, known = Score(), survivors(root)
    with Worker(root) as worker:
        for stem in stems:
            all_of_them = mutants(root, stem)
            for number in range(0, len(all_of_them), every):
                score.add(worker.result(stem, number), all_of_them[number].key, known)
                if number % (25 * every) == 0:
                    tell(f"{stem}: {number} of {len(all_of_them)}, {len(score.open)} open")
    return score


def right_answers(root: Path, stem: str) -> Iterator[tuple[Exercise, str, Sequence[Any]]]:
    """The solution's answers and all `RIGHT` ones, whether they are source or not."""
    with contextlib.redirect_stdout(io.StringIO()):
        solved = [(form, form.answers(form.source)) for form in _solved(root, stem)]
    right = getattr(_tests_of(root, stem), "RIGHT", {})
    for form, solution in solved:
        yield form.exercise, form.name, solution
        for number, answers in enumerate(right.get(form.exercise.name, []), start=1):
            yield form.exercise, f"form {number}", answers


def chosen(root: Path, units: Sequence[str]) -> list[str]:
    """The stems of these units, such as 01 or sums; all of them if none is named."""
    stems = [path.stem for path in solution_paths(root)]
    return [find(unit, stems) for unit in units] or stems


def run(root: Path, units: Sequence[str], every: int, write: bool) -> int:
    """The command: print the score and what is open; 1 if something is."""
    stems = chosen(root, units)
    show = partial(print, end="", flush=True)
    tell = (lambda line: show(f"\r\x1b[K{line}")) if sys.stdout.isatty() else (lambda _: None)
    score = Score()
    for stem in stems:
        one = audit(root, [stem], every, tell)
        tell("")
        print(f"{stem}: {one}.", flush=True)
        _tell_open(one)
        score = score.plus(one)
    print(f"In all: {score}.")
    if score.open:
        print(f"Give what is open a reason in {SURVIVORS}, or mend the check.")
    if write:
        if units or every > 1:
            raise CourseError("--write is for an audit of all units, of every mutant.")
        write_score(root, score)
    return 1 if score.open else 0


def _tell_open(score: Score) -> None:
    """What is open, ready to be put into the file of survivors."""
    for exercise in dict.fromkeys(exercise for exercise, _ in score.open):
        print(f'\n["{exercise}"]')
        for change in (change for name, change in score.open if name == exercise):
            print(f'{_toml(change)} = ""', flush=True)


def _toml(text: str) -> str:
    return (
        f"'{text}'"
        if "'" not in text
        else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    )


def write_score(root: Path, score: Score) -> None:
    """Replace the marked line of the README."""
    path = root / "README.md"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    marked = [k for k, line in enumerate(lines) if line.rstrip().endswith(MARK)]
    if len(marked) != 1:
        raise CourseError(f"README.md needs one line that ends with {MARK}; it has {len(marked)}.")
    lines[marked[0]] = f"The checks, audited: {score}. {MARK}\n"
    write_whole(path, "".join(lines))
