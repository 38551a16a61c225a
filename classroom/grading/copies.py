"""What the submissions of a class have in common: files, answers, ids. A person should ask why.

None of it changes a grade. Of an answer what the sheet gave is taken out; names of one's own, the
order of lines and that in sums and products do not count, nor do helpers and the steps in which it
is said (`spelled_out`). To have it like somebody else is the more surprising the fewer in this
class write it so: a usual answer says little, eight of them much. A pair is told if chance would
hardly give any pair of the class so much in common, and if neither has nearly so much in common
with many: what a group was taught together is theirs.
"""

from __future__ import annotations

import ast
import functools
import io
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple

from selfcheck.feedback import Outcome

from .records import NOBODYS, Graded
from .spelled_out import spelled_out

SHOWN = 3
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER}
NO_PART = {"body", "orelse", "finalbody", "handlers"}  # of a line; they are lines of their own
NO_PART |= {"ctx", "kind", "type_comment", "annotation", "returns"}
MODULES = {"np", "numpy", "math", "sympy"}
TELLING = {Outcome.RIGHT, Outcome.WRONG, Outcome.UNCHECKED}


class Telling(NamedTuple):
    """An answer, as far as it could tell that it is somebody else's."""

    number: str
    name: str
    keys: tuple[bytes, ...]  # from what many could share to what fewer do: `Essence`


class Seen(NamedTuple):
    """What is kept in memory of a submission while it is compared with all others."""

    student: str
    content: str  # empty if nothing was tried
    written_id: str | None
    student_id: str | None
    answers: tuple[Telling, ...]


def noted(
    everyone: Callable[[], Iterable[Graded]],
    ids: Mapping[str, str] | None = None,
    given: Mapping[str, str] | None = None,
) -> Iterator[Graded]:
    """Those whose remarks change; `everyone` gives the class, one after the other, each time anew.

    `ids` says whose each id is, where there is a roster; `given` are the stubs, by exercise.
    """
    together: dict[str, Seen] = {}  # by file: what several handed in is one submission
    once: dict[Telling, Telling] = {}  # answers that are the same are in memory once
    for graded in everyone():
        key = graded.file if graded.content else graded.student
        together[key] = together.get(key) or _seen(graded, given or {}, once)
    seen = list(together.values())
    reasons: dict[str, list[str]] = defaultdict(list)
    for one, others in _same(seen, lambda s: s.content):
        reasons[one.student].append(f"The file is byte for byte that of {_names(others)}.")
    apart = [s for s in seen if s.student not in reasons]
    for student, sentence in _same_ids(seen, ids or {}):
        reasons[student].append(sentence)
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    beside: dict[tuple[str, str], list[str]] = defaultdict(list)
    from .pairs import pairs  # which needs this module

    for pair in pairs(apart):
        for student, other in (pair.students, pair.students[::-1]):
            alike[student, pair.names[0]].append(pair.sentence(other))
            for name in pair.names:
                beside[student, name].append(other)
    for g in everyone():
        results = tuple(
            replace(
                result,
                alike=tuple(alike.get((g.student, result.name), ())[:SHOWN]),
                beside=tuple(beside.get((g.student, result.name), ())[:SHOWN]),
            )
            for result in g.results
        )
        now = replace(g, alike=tuple(reasons.get(g.student, ())), results=results)
        if now != g:
            yield now


def _seen(graded: Graded, given: Mapping[str, str], once: dict[Telling, Telling]) -> Seen:
    tried = any(result.outcome != Outcome.NOT_ATTEMPTED for result in graded.results)
    written = graded.written_id if graded.written_id is not None else graded.student_id
    answers = []
    for result in graded.results if tried else ():
        answer = essence(result.answer, given.get(result.name, ""))
        if result.outcome in TELLING and answer.spelled:
            telling = Telling(result.number, result.name, tuple(_keys(answer)))
            answers.append(once.setdefault(telling, telling))
    return Seen(
        graded.student,
        graded.content if tried else "",
        None if written == NOBODYS else written,
        graded.student_id,
        tuple(answers),
    )


def _same(
    everyone: Iterable[Seen], of: Callable[[Seen], str | None]
) -> Iterable[tuple[Seen, list[str]]]:
    """Each submission with those who have the same of something; the empty text is nothing."""
    groups: dict[str, list[Seen]] = defaultdict(list)
    for seen in everyone:
        if key := of(seen):
            groups[key].append(seen)
    for group in groups.values():
        names = [seen.student for seen in group]
        for seen in group if len(group) > 1 else ():
            yield seen, [name for name in names[: SHOWN + 2] if name != seen.student]


# -- answers --------------------------------------------------------------------------------------


def _keys(answer: Essence) -> Iterator[bytes]:
    """Digests of an answer, each of which says more than the one before."""
    said = answer.spelled, answer.form, answer.ordered, *sorted(answer.names)
    yield from (_digest(*said[:many]) for many in (1, 2, 3, len(said)))


def _digest(*words: str) -> bytes:
    return sha256("\0".join(words).encode("utf-8", "surrogatepass")).digest()[:16]


class Essence(NamedTuple):
    """An answer without what was given, without its own names and the order of its lines."""

    spelled: str  # without intermediate steps and helpers; empty if nothing is left
    form: str = ""  # with them; without the order in sums and products
    ordered: str = ""
    names: frozenset[str] = frozenset()  # of its own


@functools.lru_cache(maxsize=1000)
def essence(answer: str, given: str = "") -> Essence:
    """What an answer is beyond what the sheet gave; its words, where it cannot be taken apart."""
    try:
        return _structure(answer, *_stub(given))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Essence("") if tokens(answer) == tokens(given) else Essence(tokens(answer))


def _structure(answer: str, stub: ast.Module, kept: frozenset[str]) -> Essence:
    tree = ast.parse(answer)
    own = _own_names(tree) - kept
    if not (ordered := _beyond(tree, stub, own, sorts=False)):
        return Essence("")
    form = _beyond(tree, stub, own, sorts=True)
    steps = _beyond(spelled_out(tree, kept), stub, own, sorts=True)
    return Essence(steps or form, form, ordered, frozenset(own))


def _beyond(tree: ast.Module, stub: ast.Module, own: set[str], *, sorts: bool) -> str:
    """The lines of an answer that the sheet has not."""
    lines = Counter(_lines(tree, own, sorts=sorts))
    lines.subtract(_lines(stub, own, sorts=sorts))
    return "\n".join(sorted(line for line, count in lines.items() for _ in range(count)))


@functools.lru_cache
def _stub(given: str) -> tuple[ast.Module, frozenset[str]]:
    """What the sheet gave, and the names in it."""
    try:
        stub = ast.parse(given)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        stub = ast.parse("")
    used = {node.id for node in ast.walk(stub) if isinstance(node, ast.Name)}
    return stub, frozenset(used | _own_names(stub))


def _own_names(tree: ast.Module) -> set[str]:
    """Names that an answer binds: its variables, parameters and helpers."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
    return found


def _lines(tree: ast.Module, own: set[str], *, sorts: bool) -> Iterator[str]:
    """Each statement by its structure, the statements within it apart; a name of one's own is _."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Constant(str()) | ast.Call(ast.Name("print"))) | ast.Assert():
                continue  # what is said of an answer and is no part of it
            case ast.Pass() | ast.Import() | ast.ImportFrom():
                continue  # what everybody has
            case ast.stmt():
                yield _dumped(node, own, sorts=sorts)


def _dumped(node: ast.AST, own: set[str], *, sorts: bool = False) -> str:
    if sorts and (value := _value(node)) is not None:
        return repr(value)
    node = _in_one_form(node) if sorts else node
    if sorts and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        terms = Counter(_dumped(term, own, sorts=True) for term in _terms(node, type(node.op)))
        power = "(BinOp {} (Pow) {})" if isinstance(node.op, ast.Mult) else "({} {} times)"
        said = sorted(t if n == 1 else power.format(t, float(n)) for t, n in terms.items())
        return said[0] if len(said) == 1 else f"({type(node.op).__name__} {' '.join(said)})"
    parts = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        if name in NO_PART:
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST):
                parts.append(_dumped(one, own, sorts=sorts))
            elif one is not None:
                parts.append("_" if name in ("id", "arg", "name") and one in own else repr(one))
    return f"({' '.join(parts)})"


def _in_one_form(node: ast.AST) -> ast.AST:
    """A method as the function of that name, and so `@` as `np.matmul`."""
    match node:
        case ast.BinOp(left, ast.MatMult(), right):
            return ast.Call(ast.Name("matmul"), [left, right], [])
        case ast.Call(ast.Attribute(whole, name), args, named):
            given = [] if isinstance(whole, ast.Name) and whole.id in MODULES else [whole]
            function = ast.Name("matmul" if name == "dot" else name)
            return ast.Call(function, [*given, *args], named)
    return node


def _value(node: ast.AST) -> float | str | None:
    """What a number or a text comes to, however it is spelled: 1.0 as 1, 1/2 as 0.5."""
    match node:
        case ast.Constant(value=int() | float() as x) if not isinstance(x, bool) and abs(x) < 1e9:
            return float(x)
        case ast.Constant(value=str(text)):
            return "".join(text.split())
        case ast.BinOp(ast.Constant(value=int(over)), ast.Div(), ast.Constant(value=int(under))):
            return over / under if under and max(abs(over), abs(under)) < 1e9 else None
    return None


def _terms(node: ast.expr, operator: type[ast.operator]) -> Iterator[ast.expr]:
    """What a sum or a product is of."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, operator):
        yield from _terms(node.left, operator)
        yield from _terms(node.right, operator)
    else:
        yield node


@functools.lru_cache
def tokens(answer: str) -> str:
    """An answer without comments, blank lines and spaces."""
    try:
        reader = io.StringIO(answer).readline
        words = [t.string for t in tokenize.generate_tokens(reader) if t.type not in SKIPPED]
    except (tokenize.TokenError, SyntaxError, ValueError):
        words = answer.split()
    words = [word.strip() for word in words if word.strip()]
    return " ".join(words)


# -- ids ------------------------------------------------------------------------------------------


def _same_ids(everyone: Sequence[Seen], ids: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Ids in notebooks that are another's, by the roster or by another notebook."""
    for seen in everyone:
        written, owner = seen.written_id, ids.get(seen.written_id or "")
        if owner and owner != seen.student and written != seen.student_id:
            yield seen.student, f"The student id {written} in the notebook is that of {owner}."
    for seen, others in _same(everyone, lambda s: s.written_id):
        yield (
            seen.student,
            f"The student id {seen.written_id} is in the notebook of another student too. "
            f"Compare {_names(others)}.",
        )


def _names(names: Sequence[str]) -> str:
    more = " and others" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
