r"""A derivation that is asked for, declared: where it starts, what its letters are, where it ends.

    MOVE = Chain(
        r"-\delta v_t",
        where={"beta": interval(0, 1), "delta": positive, "v_prev g": real},
        given={"v": "beta v_prev + (1 - beta) g", "step": "-delta v_prev"},
        steps=[Milestone("v_t is never replaced", Seen(without="v step"))],
        goal=Seen(without="v v_prev"),
        not_there="the last one still contains a velocity.",
    )

Lines are judged by the derivation, where every letter that is given follows from the others. What
a line *says* is seen with all letters free: there, equal letters are no longer equal, so a line is
known by the letters that it depends on, or by another line that says the same. Looks do not count:
a disguise of the end is the end.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from random import Random
from typing import Any, NamedTuple

import numpy as np

from .calls import line_at
from .compare import close, real_array
from .derivation import Derivation, Report, integers, interval, matrix, vector
from .derivation.compiling import actual
from .derivation.domains import DrawnSequence
from .derivation.pasted import LEADING, RELATIONS, rows_of
from .forms import Forms
from .formula import FormulaError, as_text, sympy_kind
from .kinds import Lines, Steps, as_written, each_line, in_words_of, is_text
from .line_by_line import Step, Way, judge_steps, once
from .refusals import Unreadable
from .verdicts import Verdict

Line = Callable[..., Any]
POINTS = 3  # sets of values at which lines are compared, all letters free
ITEM = re.compile(r"(\w+)_\{?(\w+)([+-]\d+)?\}?")  # v_{t-1}


class Seen(NamedTuple):
    """What a line says: the same as `like`; it depends on a letter of `using`, on none `without`.

    An operator such as Integral is a letter too, and so is one item of a sequence, v_{t-1}.
    """

    like: str = ""
    using: str = ""
    without: str = ""


class Milestone(NamedTuple):
    """What has to be seen on the way: what a sentence says where it is missing, and its forms."""

    asked: str
    forms: Sequence[Seen]


class Chain(Steps):
    """The kind of an answer that is this derivation: pasted LaTeX, or a list of lines.

    `free` are operators whose meaning is untied as that of the letters is; `sizes` are those at
    which lines are looked at; `entry` is the start of those who write about one entry.
    """

    def __init__(
        self,
        start: str,
        *,
        where: Mapping[str, Any],
        steps: Sequence[Milestone],
        goal: Sequence[Seen],
        not_there: str,
        given: Mapping[str, Any] | None = None,
        forms: Forms | None = None,
        relations: str = "=",
        free: Sequence[str] = (),
        sizes: Mapping[str, int] | None = None,
        entry: str = "",
        **how: Any,
    ) -> None:
        self.start, self.entry, self.relations, self.free = start, entry, relations, free
        self.told = {"where": where, "given": given, "forms": forms, **how}
        self.sizes = sizes or {}
        said = [
            Step(lambda _, m=m: m.asked, lambda lines, m=m: self._any(lines, m.forms))  # type: ignore[misc]
            for m in steps
        ]
        self.way = Way(tuple(said), lambda line: self._any([line], goal), not_there)
        self._report = once(lambda lines: self._judged(lines))

    # -- reading: a line is a function of the letters, with the relation before it

    def read(self, answer: Any, name: str) -> list[Line]:
        return each_line(answer, name, self.line, self.relations)

    def line(self, line: Any, name: str, relation: str = "=") -> Line:
        """One line; a list may have the relation before it, as text or in a pair."""
        if isinstance(line, tuple) and len(line) == 2 and isinstance(line[0], str):
            relation, line = RELATIONS.get(line[0].strip("\\ "), line[0]), line[1]
        elif isinstance(line, str) and LEADING.match(line):
            rows = rows_of(f"… {line}")
            relation, line = rows[1].relation, rows[1].tex if len(rows) == 2 else line
        if relation not in self.relations:
            raise Unreadable(f"{name} begins with {relation}; {in_words_of(self.relations)}.")
        if callable(line) and not sympy_kind(line):
            if self.has_sequences:
                raise Unreadable(f"{name} is a function; a line about sequences is text here.")
            if self.is_exact:
                line = str(Lines([*self.letters]).line(line, name))
        read = self._written(as_text(line)) if is_text(line) else super().line(line, name)
        if "text" not in vars(read):
            read = functools.wraps(read)(lambda *a, _f=read, **k: _f(*a, **k))
            read.__signature__ = inspect.signature(read.__wrapped__)  # type: ignore[attr-defined]
        vars(read)["relation"] = relation
        return read

    def _written(self, text: str) -> Line:
        """A line of text as a function of the letters, all of them free."""
        line = super()._written(text)
        vars(line)["values"] = {}
        return line

    def _way(self, line: Line, way: str) -> Any:
        """A line of text as a function of values, perhaps with operators that are untied."""
        if "value" in vars(line) and way not in vars(line):
            free = self.free if way == "freed" else [way]
            vars(line)[way] = self.loose.values_of(vars(line)["text"], _Freed(free).visit)
        return vars(line).get(way)

    # -- with letters that are tied, and free

    @cached_property
    def tied(self) -> Derivation:
        return Derivation(self.start, [], **self.told)

    @cached_property
    def of_entry(self) -> Derivation:
        return Derivation(self.entry, [], **self.told)

    @cached_property
    def loose(self) -> Derivation:
        """The same letters, of which none is given."""
        reader = self.tied.reader
        kinds = reader.compiler.kinds
        where = {n: domain or _of_shape(kinds[n].shape) for n, domain in reader.names.items()}
        named = {s for d in where.values() for s in d.sizes if isinstance(s, str)}
        for k, size in enumerate(sorted(named)):
            n = self.sizes.get(size, 2 + k)
            where[size] = integers(n, n)
        told = {k: v for k, v in self.told.items() if k not in ("where", "given")}
        return Derivation(self.start, [], where=where, **told)

    @property
    def is_exact(self) -> bool:
        return self.loose.is_exact

    @property
    def has_sequences(self) -> bool:
        return any(kind.sequence for kind in self.loose.reader.compiler.kinds.values())

    @cached_property
    def points(self) -> list[dict[str, Any]]:
        rng = Random(11)
        return [self.loose.somewhere(rng) for _ in range(POINTS)]

    @cached_property
    def letters(self) -> dict[str, Any]:
        return self.points[0]

    quantities = property(lambda self: self.letters)
    derivation = property(lambda self: lambda: self.loose)
    example = property(lambda self: f"lambda {', '.join([*self.letters][:2])}: …")

    # -- judging

    def judge(self, lines: list[Line], points: int, says: str) -> Verdict:
        """The verdict on the lines; `says` praises a derivation that is complete."""
        return judge_steps(self.report(lines), lines, self.way, points, says)

    def report(self, lines: list[Line]) -> Report:
        """Every line against the one before it."""
        found: Report = self._report(lines)
        return found

    def _judged(self, lines: list[Line]) -> Report:
        begun = self.of_entry if self.entry and self._about_an_entry(lines) else self.tied
        return begun.goes_on((vars(x)["relation"], as_written(x), "") for x in lines).check()

    def _about_an_entry(self, lines: list[Line]) -> bool:
        return all(np.ndim(self.value(line, self.letters)) == 0 for line in lines)

    def same(self, a: list[Line], b: list[Line]) -> bool:
        """Whether two derivations go wrong alike: at lines that say the same, or at none."""
        one = self.report(a).first_false
        if one is not None and not any(self._says_the_same(a[one], line) for line in b):
            return False
        two = self.report(b).first_false
        if one is None or two is None:
            follows = [self.way.follow(lines) for lines in (a, b)]
            return one is two and follows[0] == follows[1]
        if vars(a[one])["relation"] != vars(b[two])["relation"]:
            return False
        if (
            self.way.goal(a[one])
            and one
            and two
            and not self._says_the_same(a[one - 1], b[two - 1])
        ):
            return False  # the end is where many wrong ways lead
        return self._says_the_same(a[one], b[two])

    def _any(self, lines: list[Line], forms: Sequence[Seen]) -> bool:
        return any(self.says(line, form) for line in lines for form in forms)

    def says(self, line: Line, form: Seen) -> bool:
        """Whether a line is of this form, with all letters free."""
        if form.like and not self._says_the_same(line, self._form(form.like)):
            return False
        if form.using and not any(self.uses(line, name) for name in form.using.split()):
            return False
        return not any(self.uses(line, name) for name in form.without.split())

    @functools.cache  # noqa: B019
    def _form(self, text: str) -> Line:
        return self._written(text)

    def _says_the_same(self, a: Line, b: Line) -> bool:
        return all(
            _alike(self.value(a, p, "freed"), self.value(b, p, "freed")) for p in self.points
        )

    def uses(self, line: Line, name: str) -> bool:
        """Whether a line comes to something else where this letter alone has another value."""
        if name in self.free:
            here = self.points[0]
            return not _alike(self.value(line, here), self.value(line, here, name))
        for k, here in enumerate(self.points):
            there = {**here, **_moved(name, here, self.points[k - 1])}
            if not _alike(self.value(line, here), self.value(line, there)):
                return True
        return False

    def value(self, line: Line, point: Mapping[str, Any], way: str = "value") -> Any:
        """What a line comes to there; None if to nothing. Text shows its operators too."""
        known = vars(line).get("values", {})  # at our own points, which stay the same
        if (id(point), way) not in known:
            found = self._value(line, point, way)
            if not any(point is p for p in self.points):
                return found
            known[id(point), way] = found
        return known[id(point), way]

    def _value(self, line: Line, point: Mapping[str, Any], way: str) -> Any:
        found = self._way(line, way)
        try:
            return found(point) if found else line_at(line, point)
        except (ArithmeticError, ValueError, FormulaError, Unreadable):  # singular, overflowing …
            return None


def _of_shape(shape: Any) -> Any:
    """Of this shape, with entries that hide nothing: none is 0, and a matrix has an inverse."""
    some = interval(0.5, 3)
    if shape is None:
        return some
    rows, columns = map(actual, shape)
    return vector(rows, some) if columns == 1 else matrix(rows, columns, some)


def _alike(a: Any, b: Any) -> bool:
    one, two = real_array(a), real_array(b)
    return one is not None and two is not None and one.shape == two.shape and close(one, two)


def _moved(name: str, here: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    """The letter, or the item of a sequence, with its value elsewhere."""
    if name in here:
        return {name: there[name]}
    item = ITEM.fullmatch(name)
    assert item, f"{name} is no letter of this derivation"
    base, index, offset = item.groups()
    place = int(here.get(index, index)) + int(offset or 0)
    own, other = here[base], there[base]
    return {base: DrawnSequence(lambda i: other(i) if i == place else own(i))}


class _Freed(ast.NodeTransformer):
    """Operators that no longer mean what they do: integrals have a weight, others count less."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = getattr(node.func, "id", "")
        if name not in self.names:
            return node
        over = node.args[1] if len(node.args) > 1 else None
        variable = over.elts[0] if isinstance(over, ast.Tuple) else over
        if name not in ("Integral", "Expectation") or not isinstance(variable, ast.Name):
            return ast.copy_location(ast.BinOp(ast.Constant(0.9), ast.Mult(), node), node)
        weight = f"2 + cos({1 if name == 'Integral' else 2} * norm({variable.id}, '2'))"
        factor = ast.parse(weight, mode="eval").body
        node.args[0] = ast.copy_location(ast.BinOp(factor, ast.Mult(), node.args[0]), node.args[0])
        return ast.fix_missing_locations(node)
