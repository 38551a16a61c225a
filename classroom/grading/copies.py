"""What the submissions of a class have in common: files, answers, ids. A person should ask why.

None of it changes a grade. Of an answer what the sheet gave is taken out, names of one's own and
the order of lines do not count, and it says something only if hardly anybody else in this class
writes it so: a wrong one more than a right one, and a short right one nothing. A pair is told if it
has more of this in common than chance would give to any pair of the class; or if most of what both
tried is alike, which chance would not give either, and nobody else has all of that.
"""

from __future__ import annotations

import ast
import functools
import io
import math
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import combinations
from typing import NamedTuple

from selfcheck.feedback import Outcome

from .records import Graded, Result, in_order

RARE = 0.03  # of the class, or two: what more of them have is a common way to write it
UNUSUAL = 0.1  # of the class: what so many have says something if there is much of it
LONG = 20  # parts of a right answer beyond what the sheet gave, below which it says nothing
NAMES = 3  # names of one's own in an answer, from which on they are somebody's choice
OWNERS = 3  # students, beyond which nothing is theirs alone
ENOUGH = 3  # answers, from which on two sheets can be one
MOST = 0.75  # of the answers that both tried, from which on they are
CHANCE = 0.05  # pairs that chance may give, below which a pair is told,
OF_SHEETS = 0.3  # or whose sheets are one nearly as a whole
SHOWN = 3
NOBODYS = "0"  # the id in the sheet as it is given out
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER}
TELLING = {Outcome.RIGHT, Outcome.WRONG, Outcome.UNCHECKED}


class Telling(NamedTuple):
    """An answer, as far as it could tell that it is somebody else's."""

    number: str
    name: str
    length: int
    keys: tuple[bytes, ...]  # what could be somebody's alone
    form: bytes  # all of it, be it ever so usual


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
    for graded in everyone():
        key = graded.file if graded.content else graded.student
        together[key] = together.get(key) or _seen(graded, given or {})
    seen = list(together.values())
    reasons: dict[str, list[str]] = defaultdict(list)
    for one, others in _same(seen, lambda s: s.content):
        reasons[one.student].append(f"The file is byte for byte that of {_names(others)}.")
    apart = [s for s in seen if s.student not in reasons]
    for student, sentence in _same_ids(seen, ids or {}):
        reasons[student].append(sentence)
    alike: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for pair in pairs(apart):
        for student, other in (pair.students, pair.students[::-1]):
            alike[student, pair.names[0]].append((pair.sentence(other), other))
    for g in everyone():
        told = [alike.get((g.student, result.name), ()) for result in g.results]
        results = tuple(map(_with, g.results, told))
        now = replace(g, alike=tuple(reasons.get(g.student, ())), results=results)
        if now != g:
            yield now


def _with(result: Result, told: Sequence[tuple[str, str]]) -> Result:
    sentences = tuple(sentence for sentence, _ in told[:SHOWN])
    beside = tuple(other for _, other in told[:SHOWN])
    return replace(result, alike=sentences, beside=beside)


def _seen(graded: Graded, given: Mapping[str, str]) -> Seen:
    tried = any(result.outcome != Outcome.NOT_ATTEMPTED for result in graded.results)
    written = graded.written_id if graded.written_id is not None else graded.student_id
    answers = []
    for result in graded.results if tried else ():
        stub = given.get(result.name, "")
        if result.outcome in TELLING and (form := essence(result.answer, stub).form):
            about = result.number, result.name, len(result.answer)
            keys = tuple(_telling(result, stub))
            answers.append(Telling(*about, keys, _digest(result.name, "form", form)))
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


@dataclass
class Pair:
    """Two students with answers that are alike, and that hardly anybody else has."""

    students: tuple[str, str]
    answers: list[Telling] = field(default_factory=list)  # of the first one
    rare: int = 0  # how many of them nearly nobody else has
    surprise: float = 0.0  # how unlikely these are, as the sum of logarithms

    @property
    def names(self) -> list[str]:
        """The exercises, that with the longest answer first."""
        return [a.name for a in sorted(self.answers, key=lambda a: -a.length)]

    def sentence(self, other: str) -> str:
        """What a person is told about it."""
        numbers = ", ".join(sorted((a.number for a in self.answers), key=in_order))
        return (
            f"Alike with {other} in {numbers}, whatever the comments and the order of lines; "
            "hardly anybody else in this class writes it so."
        )


def pairs(everyone: Sequence[Seen]) -> list[Pair]:
    """The pairs that have more in common than chance would give to any pair of this class."""
    holders: dict[bytes, list[tuple[str, Telling]]] = defaultdict(list)
    for seen in everyone:
        for answer in seen.answers:
            for key in answer.keys:
                holders[key].append((seen.student, answer))
    found: dict[tuple[str, str], Pair] = {}
    weights: dict[str, list[tuple[float, float]]] = defaultdict(list)  # of what each student has
    for _, those in sorted(holders.items(), key=lambda item: item[0]):
        share = len(those) / len(everyone)
        if len(those) > max(2, UNUSUAL * len(everyone)):
            continue
        is_rare = len(those) <= max(2, RARE * len(everyone))
        weight = -math.log(share) * (1.0 if is_rare else 0.5)
        for student, _ in those:
            weights[student].append((share, weight))
        for (one, answer), (other, _) in combinations(those, 2):
            pair = found.setdefault((one, other), Pair((one, other)))
            if answer.name not in pair.names:
                pair.answers.append(answer)
                pair.rare += is_rare
                pair.surprise += weight
    many, sheets = math.comb(len(everyone), 2), _Sheets(everyone)
    for students in sheets.nearly_one():
        found.setdefault(students, Pair(students))
    total = sum(pair.rare for pair in found.values())
    return [
        pair
        for pair in found.values()
        if many * _tail((total - pair.rare + 1) / many, pair.rare) < CHANCE
        or many * _at_most(weights[pair.students[0]], pair.surprise) < CHANCE
        or sheets.are_alike(pair)
    ]


class _Sheets:
    """What all have written, answer by answer, to see whether two sheets are one."""

    def __init__(self, everyone: Sequence[Seen]) -> None:
        self.all = {seen.student: {a.name: a for a in seen.answers} for seen in everyone}
        self.tried = Counter(name for answers in self.all.values() for name in answers)
        self.having = defaultdict[bytes, set[str]](set)
        for student, answers in self.all.items():
            for answer in answers.values():
                self.having[answer.form].add(student)

    def nearly_one(self) -> Iterator[tuple[str, str]]:
        """Pairs whose sheets are the same, but for one answer."""
        same: dict[frozenset[bytes], list[str]] = defaultdict(list)
        for student, answers in self.all.items():
            forms = frozenset(answer.form for answer in answers.values())
            for left_out in (b"", *forms) if len(forms) > ENOUGH else ():
                same[forms - {left_out}].append(student)
        for students in same.values():
            if 1 < len(students) <= OWNERS:
                yield from combinations(students, 2)

    def are_alike(self, pair: Pair) -> bool:
        """Is most of what both tried alike, beyond chance, and in a way that is theirs?"""
        one, other = (self.all[student] for student in pair.students)
        both = one.keys() & other.keys()
        same = [one[name] for name in both if one[name].form == other[name].form]
        if len(same) < ENOUGH or len(same) < MOST * len(both):
            return False
        chance = sum(math.log(len(self.having[a.form]) / self.tried[a.name]) for a in same)
        holders = set.intersection(*(self.having[answer.form] for answer in same))
        if math.comb(len(self.all), 2) * math.exp(chance) >= OF_SHEETS or len(holders) > OWNERS:
            return False
        pair.answers = same
        return True


def _telling(result: Result, stub: str) -> Iterator[bytes]:
    """What there is in an answer that could be somebody's alone, as digests: form and names."""
    if result.outcome not in TELLING:
        return
    written = essence(result.answer, stub)
    is_long = written.length >= LONG
    if written.form and (is_long or result.outcome != Outcome.RIGHT):
        yield _digest(result.name, "form", written.form)
    if len(written.names) >= NAMES and is_long:
        yield _digest(result.name, "names", *sorted(written.names))


def _digest(*words: str) -> bytes:
    return sha256("\0".join(words).encode("utf-8", "surrogatepass")).digest()[:16]


def _at_most(weights: Sequence[tuple[float, float]], surprise: float) -> float:
    """A bound for the chance to have as much in common with somebody who has these (Chernoff)."""
    return min(
        math.exp(sum(math.log1p(p * math.expm1(x * w)) for p, w in weights) - x * surprise)
        for x in (0.4, 0.6, 0.8, 1.0)
    )


def _tail(rate: float, least: int) -> float:
    """The chance of so many or more, where they come at this rate."""
    term = math.exp(-rate) * rate**least / math.factorial(least)
    total = 0.0
    for k in range(least + 1, least + 30):
        total += term
        term *= rate / k
    return total


class Essence(NamedTuple):
    """An answer without what was given, without its own names and the order of its lines."""

    form: str  # empty if nothing is left
    length: int = 0  # how many parts that has
    names: frozenset[str] = frozenset()  # of its own


@functools.lru_cache(maxsize=1000)
def essence(answer: str, given: str = "") -> Essence:
    """What an answer is beyond what the sheet gave."""
    tree, stub = _parsed(answer), _parsed(given)
    if tree is None:
        text, length = tokens(answer)
        return Essence("") if text == tokens(given)[0] else Essence(text, length)
    known = _own_names(stub) if stub else set()
    kept = known | ({n.id for n in ast.walk(stub) if isinstance(n, ast.Name)} if stub else set())
    own = _own_names(tree) - kept
    lines = Counter(_lines(tree, own))
    lines.subtract(Counter(_lines(stub, own)) if stub else Counter())
    left = sorted(line for line, count in lines.items() for _ in range(count))
    return Essence("\n".join(left), sum(line.count("(") for line in left), frozenset(own))


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def bound(source: str) -> set[str]:
    """The names to which a cell gives values."""
    tree = _parsed(source)
    return _own_names(tree) if tree else set()


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


def _lines(tree: ast.Module, own: set[str]) -> Iterator[str]:
    """Each statement by its structure, the statements within it apart; a name of one's own is _."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass() | ast.Import():
                continue  # a docstring, and what everybody has
            case ast.stmt():
                yield _dumped(node, own)


def _dumped(node: ast.AST, own: set[str]) -> str:
    parts = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        if name in ("body", "orelse", "finalbody", "handlers", "ctx", "kind", "type_comment"):
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST):
                parts.append(_dumped(one, own))
            elif one is not None:
                parts.append("_" if name in ("id", "arg", "name") and one in own else repr(one))
    return f"({' '.join(parts)})"


@functools.lru_cache
def tokens(answer: str) -> tuple[str, int]:
    """An answer without comments, blank lines and spaces, and how many tokens it has."""
    try:
        reader = io.StringIO(answer).readline
        words = [t.string for t in tokenize.generate_tokens(reader) if t.type not in SKIPPED]
    except (tokenize.TokenError, SyntaxError, ValueError):
        words = answer.split()
    words = [word.strip() for word in words if word.strip()]
    return " ".join(words), len(words)


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
