"""A derivation: a start and lines, each judged against the one before it and shown so."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from random import Random
from typing import Any

import numpy as np

from ..forms import Forms
from ..formula import FormulaError
from ..function_with_slope import Activation
from ..notation import ACCENTS
from ..remembering import recalled
from . import rendering
from .clock import LINE, OutOfTime, at_most, watched
from .domains import Domain, DrawnSequence, integers
from .evaluation import name_of
from .expressions import Expression, Reader, bare, is_blank, is_function
from .instances import SIMPLE, Instances
from .judging import LineJudge, Read
from .lines import BLANK, START, Line, LineReport, Report, new_start, read_line, unchecked
from .pasted import Unclear, has_bare_e, rows_of

ACCENT = re.compile(rf"(\\(?:{'|'.join(sorted(ACCENTS))})) +(\w)")  # \hat y is one name

MOST_KNOWN = 100  # lines of a derivation, judged last: in a class many are alike, others are large


class Derivation:
    r"""A start and lines (relation, expression, reason), checked and shown line by line.

    `where` declares the symbols, `given` those that are computed from them, in this order. A line
    with ≈ has a fourth part: ("t", oo) for a limit, or the largest difference that is allowed.
    `forms` are other ways to write what is declared, such as h_{t-1} for h_prev.
    Without lines, the start is a whole derivation as it is written on paper:
    `\begin{aligned} a &= b \\ &\le c \end{aligned}`, or `a = b ≤ c`.
    """

    def __init__(
        self,
        start: Any,
        lines: Iterable[tuple[Any, ...]] | None = None,
        *,
        where: Mapping[Any, Domain | list[Domain]],
        given: Mapping[Any, Any] | None = None,
        name: str = "",
        tex: Mapping[Any, str] | None = None,
        instances: int = 60,
        seed: int = 0,
        first_index: int = 1,
        products: str = "right",
        forms: Forms | None = None,
    ) -> None:
        self.pasted, self.reason = lines is None, ""
        if lines is None:
            (_, start, self.reason), *lines = rows_of(str(start))
        self.name, self.start = name, start
        self.lines = [read_line(k, line, self.pasted) for k, line in enumerate(lines, 1)]
        domains = dict(pair for key, domain in where.items() for pair in _declared(key, domain))
        named = [s for d in domains.values() for s in d.sizes if isinstance(s, str)]
        sizes = {s: domains.pop(s, integers(1, 8)) for s in dict.fromkeys(named)}
        sources = {
            name_of(k): v[0] if isinstance(v, tuple) else v for k, v in (given or {}).items()
        }
        bare = {n: sources.pop(n) for n in list(sources) if _is_sequence(domains.get(n))}
        twice = sources.keys() & (domains.keys() | sizes.keys())
        if twice:
            raise ValueError(f"{', '.join(sorted(twice))}: both in `where` and in `given`.")
        exact = self._only_scalars(domains, sources)
        rules = {n: sources.pop(n) for n in list(sources) if _base(n) in domains}
        letters = {n.split("_", 1)[1] for n in rules} - domains.keys()
        names = {**sizes, **domains, **dict.fromkeys(sources)}
        names |= {letter: integers() for letter in letters if letter.isidentifier()}
        looks = {name_of(k): v for k, v in (tex or {}).items()}
        self.reader = Reader(names, looks, exact, first_index)
        self.reader.compiler.leftwards = products == "left"
        computed = {}
        for n, source in sources.items():
            computed[n] = self.reader.read(source)
            self.reader.is_like(n, computed[n], source)
        for n, source in bare.items():
            self.reader.define(n, "", source)
        defined = self._definitions(rules)
        self._known: dict[Any, tuple[LineReport, bool]] = {}  # shared with those that go on
        self._words: dict[str, Read] = {}  # so are these
        self._instances = Instances(
            domains, sizes, computed, exact, seed, max(instances, SIMPLE), defined
        )
        self._judge = LineJudge(self.reader, self._instances, {})
        self.reader.forms = forms or Forms({})  # in lines, not in what is given

    def _definitions(self, rules: Mapping[str, Any]) -> dict[str, dict[str, Expression]]:
        """Sequences that are computed, such as h_t, with their rules and single items."""
        found: dict[str, dict[str, Expression]] = {}
        for key, source in rules.items():
            name, letter = key.split("_", 1)
            self.reader.define(name, letter, source)
            if self.reader.compiler.kinds[name].shape is None:
                found.setdefault(name, {})[letter] = self.reader.read(source)
        return found

    def check(self) -> Report:
        """The verdict on every line; computed once, the same for the same seed."""
        return self._report

    @property
    def is_exact(self) -> bool:
        """Whether it is about numbers alone."""
        return self._instances.exact

    def somewhere(self, rng: Random) -> dict[str, Any]:
        """Values of all letters, drawn at random."""
        found = self._instances.somewhere(rng)
        assert isinstance(found, dict)
        return found

    def values_of(
        self, text: str, changed: Callable[[ast.expr], ast.expr] | None = None
    ) -> Callable[[Mapping[str, Any]], Any]:
        """A line as a function of values: a FormulaError if it is none; sizes are seen on them.

        A line about arrays may be changed, as a tree, before it becomes one.
        """
        line = (self._start, self.reader.read(text, changed))[1]  # I alone has the start's size
        kinds = self.reader.compiler.kinds

        def value(values: Mapping[str, Any]) -> Any:
            sizes: dict[Any, int] = {}
            for name, given in values.items():
                sizes.update(zip(kinds[name].shape or (), np.shape(given), strict=False))
            return line.value({**sizes, **values})

        vars(value).update(names=line.names, shape=line.shape)
        return value

    def goes_on(self, lines: Iterable[tuple[Any, ...]]) -> Derivation:
        """The same start with other lines; instances, and the start's values there, are shared."""
        other = copy.copy(self)
        other.lines = [read_line(k, line) for k, line in enumerate(lines, 1)]
        other.pasted = False
        if self._instances.exact and any(is_function(bare(line.expr)) for line in other.lines):
            raise ValueError("A derivation with a function as a line has to begin with functions.")
        if isinstance(self._start, Expression):
            self._instances.column(self._start)
        other._judge = LineJudge(self.reader, self._instances, dict(self._judge.decided))
        other._judge.prover.calls = False  # an answer's functions may live in another process
        for computed in ("_report", "expressions"):
            vars(other).pop(computed, None)
        return other

    def _only_scalars(self, domains: Mapping[str, Domain], given: Mapping[str, Any]) -> bool:
        sources = [self.start, *given.values()]
        sources += [part for line in self.lines for part in (line.expr, line.allowed)]
        return not any(is_function(bare(source)) for source in sources) and not any(
            d.sizes or d.kind or isinstance(d.simple()[0], Activation) for d in domains.values()
        )

    @cached_property
    def expressions(self) -> list[Read]:
        """The start and the lines as they were read."""
        return [self._start, *(self._read(line.expr) for line in self.lines)]

    @cached_property
    def _start(self) -> Read:
        return self._read(self.start)

    def _read(self, source: Any) -> Read:
        """The expression, which may have been read before; else as `_read_anew`."""
        read = partial(self._read_anew, source)
        return recalled(self._words, source, read, MOST_KNOWN) if type(source) is str else read()

    def _read_anew(self, source: Any) -> Read:
        """The expression, a sentence that says why it is none, or None for a blank."""
        try:
            if isinstance(source, Unclear):
                return source.why
            if self.pasted and "E" not in self.reader.names and has_bare_e(str(source)):
                return "it uses E, which is not declared here; Euler's number is e."
            with at_most(LINE), watched():
                return None if is_blank(source) else self.reader.read(source)
        except OutOfTime:
            return "it takes too long to be read."
        except FormulaError as trouble:
            return str(trouble)
        except Exception as trouble:
            return f"it cannot be read ({type(trouble).__name__}: {trouble})."

    @cached_property
    def _report(self) -> Report:
        reports, before, source = [], self.expressions[0], self.start
        skipped: list[Line] = []
        for k, (line, now) in enumerate(zip(self.lines, self.expressions[1:], strict=True), 1):
            skipped.append(line)
            if line.relation == START:
                report, has_value = new_start(now), True
            elif now is None:
                report, has_value = LineReport(BLANK, sentence="is still to be written."), False
            else:
                report, has_value = self._judged_safely(source, before, now, skipped)
            if has_value:
                before, source, skipped = now, line.expr, []
            reports.append(report.of_line(k))
        start = self.expressions[0]
        return Report(tuple(reports), start if isinstance(start, str) else "")

    def _judged_safely(
        self, source: Any, before: Read, now: Read, lines: list[Line]
    ) -> tuple[LineReport, bool]:
        """The report on `now`; whatever goes wrong on our side is no fault of the line."""
        try:
            return self._judged_once(source, before, now, lines)
        except Exception as trouble:
            why = f": the check of this line failed ({type(trouble).__name__}: {trouble})."
            return unchecked(why), isinstance(now, Expression)

    def _judged_once(
        self, source: Any, before: Read, now: Read, lines: list[Line]
    ) -> tuple[LineReport, bool]:
        """The report on `now`, whose lines may have been judged before, word for word."""
        words = (source, *(part for line in lines for part in (line.relation, line.expr)))
        limits = any(line.allowed is not None for line in lines)
        judged = partial(self._judge.report, before, now, lines)
        if limits or any(type(word) is not str for word in words):
            return judged()
        return recalled(self._known, words, judged, MOST_KNOWN)

    # -- showing

    def __repr__(self) -> str:
        return rendering.text(self)

    def _repr_markdown_(self) -> str:
        return rendering.markdown(self)


def _is_sequence(domain: Domain | None) -> bool:
    return domain is not None and isinstance(
        domain.simple(*[1] * len(domain.sizes))[0], DrawnSequence
    )


def _base(name: str) -> str:
    """The sequence of which this is an item."""
    return name.split("_", 1)[0] if "_" in name else ""


def _declared(key: Any, domain: Any) -> list[tuple[str, Domain]]:
    """The symbols that one key of `where` declares, "x y", each with its domain."""
    keys = ACCENT.sub(r"\1{\2}", key).replace(",", " ").split() if isinstance(key, str) else [key]
    names = [name_of(k) for k in keys]
    domains = domain if isinstance(domain, list) else [domain] * len(names)
    if len(domains) != len(names):
        raise ValueError(f"{key!r} names {len(names)} symbols; {len(domains)} are needed.")
    for one in domains:
        if not isinstance(one, Domain):
            shown = f"{one.__name__}(…)" if callable(one) else repr(one)
            raise ValueError(f'{key!r} is declared as {shown}; a domain is real, vector("n") …')
    return list(zip(names, domains, strict=True))
