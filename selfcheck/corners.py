"""The corners of what an exercise allows, read off the function that draws its instances.

A function that draws says what the statement allows, in sizes, numbers and options:

    def any_keys(rng):
        n, k, d = sizes(rng, 3)
        return numbers(rng, n, d), numbers(rng, k, d)

It is run once to see what it asks for, and then once for each corner: with every size as small and
as large as it may be, with sizes that are equal, with every option, and with numbers that are 0,
the same, repeated, of one sign, small, one large beside small ones, or of another level in each
row. What a statement excludes, the function says with its reason:

    @excluding(zero="A row of zeros has no direction.")
    def any_keys(rng):
        ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from .nesting import nested

Draw = Callable[[np.random.Generator], Any]
AnyDraw = TypeVar("AnyDraw", bound=Callable[..., Any])

WHOLE = ("zero", "same")  # arrays of one number: one array at a time, or they hide each other
MIXED = ("repeated", "positive", "negative", "large", "levels", "small")
WORDS = {
    "least": "the smallest size",
    "most": "the largest size",
    "twice": "twice the largest size",
    "equal": "equal sizes",
    "option": "another setting",
    "zero": "zeros",
    "same": "all numbers the same",
    "repeated": "a row twice",
    "positive": "no negative number",
    "negative": "no positive number",
    "large": "one large number beside small ones",
    "levels": "rows of different levels",
    "small": "small numbers alone",
}
MOST_OPTIONS = 100_000  # an integer from more than so many is a seed, and has no corners
TINY = 1e-3  # how small the others are beside a large number


@dataclass(frozen=True)
class Corner:
    """What a source gives in place of what it would draw, by the place of the request."""

    kind: str = ""
    sizes: Mapping[int, str | int] = field(default_factory=dict)  # an int: just so large
    values: Mapping[int, str] = field(default_factory=dict)
    all_values: str = ""
    options: Mapping[int, int] = field(default_factory=dict)  # which end of it, or which option
    more: int = 0  # how much larger the other sizes are: few numbers may hide a slip by chance
    digits: int | None = None  # so many digits after the point, where fewer are to be read


@dataclass(frozen=True)
class Plan:
    """How a case is made: given, drawn, or drawn at a corner."""

    kind: str
    draw: Draw | None = None
    seed: Any = 0
    corner: Corner | None = None
    given: Any = None
    may_shrink: bool = True

    def case(self) -> Any:
        """The case, anew each time it is drawn."""
        if self.draw is None or (self.given is not None and self.corner is None):
            return self.given
        if self.given is not None:
            return nested(self.given, _fresh)
        if self.corner is None:
            return self.draw(np.random.default_rng(self.seed))
        return self.draw(Source(self.seed, self.corner))

    def but(self, **changes: Any) -> Plan:
        """The same plan with another corner or seed."""
        return replace(self, given=None, **changes)


class Source(np.random.Generator):
    """Draws as a generator does, notes what it is asked for, and turns at a corner."""

    def __init__(self, seed: Any, corner: Corner) -> None:
        super().__init__(np.random.PCG64(seed))
        self.corner = corner
        self.sizes_asked: list[tuple[int, int]] = []
        self.values_asked = 0
        self.options_asked: list[int] = []
        self.given: list[int] = []  # the sizes

    def draw_sizes(self, count: int, low: int, high: int) -> list[int]:
        """Small sizes, all different, but for those of the corner."""
        begin = len(self.given)
        self.sizes_asked += [(low, high)] * count
        least = min(max(low, 2) + self.corner.more, high)
        fixed = {*self.corner.sizes.values()}
        others = list(self.permutation(np.arange(least, least + begin + count + len(fixed))))
        for place in range(begin, begin + count):
            rule = self.corner.sizes.get(place)
            if rule == "least":
                size = low
            elif rule == "most":
                size = high
            elif rule == "twice":
                size = 2 * high
            elif isinstance(rule, int):
                size = rule
            else:
                free = (n for n in others if n <= high and n not in fixed.union(self.given))
                size = next(free, least)
            self.given.append(int(size))
        return self.given[begin:]

    def shaped(self, drawn: np.ndarray, low: float, high: float) -> np.ndarray:
        """Numbers between these bounds, as the corner has them."""
        place, self.values_asked = self.values_asked, self.values_asked + 1
        rule = self.corner.values.get(place, self.corner.all_values)
        if not drawn.size or not (rule or self.corner.digits is not None):
            return drawn
        made = self._rounded(_SHAPES[rule](drawn, low, high) if rule else drawn)
        bounded: np.ndarray = np.clip(made, low, high)
        return bounded.astype(drawn.dtype)

    def _rounded(self, drawn: Any) -> Any:
        digits = self.corner.digits
        return drawn if digits is None or not np.size(drawn) else np.round(drawn, digits)

    def one_of(self, drawn: Any, *ends: Any) -> Any:
        """A single draw, or one of its ends."""
        place = len(self.options_asked)
        self.options_asked.append(len(ends))
        chosen = self.corner.options.get(place)
        return drawn if chosen is None else ends[min(chosen, len(ends) - 1)]

    def spawned(self) -> np.random.Generator:
        """A generator of its own, whose draws are no requests."""
        return np.random.default_rng(self.bit_generator.random_raw())

    # -- what functions that draw ask a generator for

    def integers(  # type: ignore[override]
        self, low: Any, high: Any = None, size: Any = None, **more: Any
    ) -> Any:
        drawn = super().integers(low, high, size, **more)
        least, most = (0, int(low) - 1) if high is None else (int(low), int(high) - 1)
        if most - least > MOST_OPTIONS:
            return drawn
        return self.one_of(drawn, least, most) if size is None else self.shaped(drawn, least, most)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        drawn = super().uniform(low, high, size)
        if size is None and self.corner.digits is not None:
            drawn = np.clip(self._rounded(drawn), low, high)
        return self.one_of(drawn, low, high) if size is None else self.shaped(drawn, low, high)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        drawn = super().normal(loc, scale, size)
        return drawn if size is None else self.shaped(drawn, loc - 4 * scale, loc + 4 * scale)

    def random(self, size: Any = None, **more: Any) -> Any:  # type: ignore[override]
        drawn = super().random(size, **more)
        return self.one_of(drawn, 0.0, 1.0 - 1e-9) if size is None else drawn

    def choice(self, a: Any, size: Any = None, **more: Any) -> Any:  # type: ignore[override]
        drawn = self.spawned().choice(a, size, **more)  # whose own draws are no requests
        return self.one_of(drawn, *np.asarray(a)) if size is None and np.ndim(a) == 1 else drawn


def _large(drawn: np.ndarray, low: float, high: float) -> np.ndarray:
    small = drawn * TINY if drawn.dtype.kind == "f" else np.sign(drawn)
    small.flat[drawn.size // 2] = high if abs(high) >= abs(low) else low
    return small


def _repeated(drawn: np.ndarray, low: float, high: float) -> np.ndarray:
    twice = drawn.copy()
    twice[-1] = twice[0]
    return twice


def _levels(drawn: np.ndarray, low: float, high: float) -> np.ndarray:
    """Each row, or number, at another of three levels."""
    level = np.array([1.0, 0.1, 0.01])[np.arange(len(drawn)) % 3]
    rows: np.ndarray = drawn * level.reshape(-1, *[1] * (drawn.ndim - 1))
    return rows


_SHAPES: dict[str, Callable[[np.ndarray, float, float], np.ndarray]] = {
    "zero": lambda drawn, low, high: np.zeros_like(drawn),
    "same": lambda drawn, low, high: np.full_like(drawn, drawn.flat[0] or high),
    "repeated": _repeated,
    "positive": lambda drawn, low, high: abs(drawn),
    "negative": lambda drawn, low, high: -abs(drawn),
    "large": _large,
    "levels": _levels,
    "small": lambda drawn, low, high: drawn * TINY,
}


def excluding(**reasons: str) -> Callable[[AnyDraw], AnyDraw]:
    """For a function that draws: kinds of corners that the statement excludes, and why."""
    if unknown := {*reasons} - {*WORDS}:
        raise TypeError(f"There are no corners {', '.join(sorted(unknown))}.")

    def says(draw: AnyDraw) -> AnyDraw:
        draw.excluded = {**excluded(draw), **reasons}  # type: ignore[attr-defined]
        return draw

    return says


def excluded(draw: Draw) -> dict[str, str]:
    """The kinds of corners that a function never draws, with the reasons."""
    inner = {} if not isinstance(draw, partial) else excluded(draw.func)
    return inner | getattr(draw, "excluded", {})


def corners(draw: Draw) -> Iterator[Plan]:
    """Every corner of what it draws. Always the same, in one order."""
    if getattr(draw, "__closure__", ()) is not None:  # made anew for each call
        return _planned(draw)
    return iter(_kept(draw))


def _planned(draw: Draw) -> Iterator[Plan]:
    source = Source(0, Corner())
    draw(source)
    without = excluded(draw)
    for number, corner in enumerate([*_corners(source), *_nearly_equal(draw, source.sizes_asked)]):
        if corner.kind not in without:
            yield Plan(corner.kind, draw, [1, number], corner)


@cache
def _kept(draw: Draw) -> list[Plan]:
    return [replace(plan, given=plan.case()) for plan in _planned(draw)]


def _fresh(value: Any) -> Any:
    """An array of its own: an answer may write into it."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _corners(asked: Source) -> Iterator[Corner]:
    ranges = asked.sizes_asked
    count, arrays = len(ranges), min(asked.values_asked, 6)
    for kind, sizes in (("least", (0, 2, 4)), ("most", (0,))):
        for i, (low, high) in enumerate(ranges):
            if low < high:
                yield from (Corner(kind, sizes={i: kind}, more=more) for more in sizes)
    for pairs in _pairings(count):
        if same := {i: size for k, pair in enumerate(pairs) for i, size in _equal(ranges, pair, k)}:
            yield from (Corner("equal", sizes=same, more=more) for more in (0, 2))
    if count > 2 and (same := dict(_equal(ranges, range(count), 1))):
        yield Corner("equal", sizes=same)
    if count:
        yield Corner("twice", sizes={0: "twice"})
    for i, ends in enumerate(asked.options_asked):
        yield from (Corner("option", options={i: end}) for end in range(ends))
    for kind in WHOLE if arrays else ():
        yield from (Corner(kind, values={i: kind}) for i in range(arrays))
        if arrays > 1:
            yield Corner(kind, all_values=kind)
    for k, kind in enumerate(MIXED if arrays else ()):
        yield from (Corner(kind, all_values=kind, more=more) for more in (0, 2))
        if arrays > 1:
            others = {i: MIXED[(k + i) % len(MIXED)] for i in range(arrays)}
            yield Corner(kind, values=others)
    if count and asked.options_asked:
        first = {i: 0 for i in range(len(asked.options_asked))}
        last = {i: ends - 1 for i, ends in enumerate(asked.options_asked)}
        yield from (Corner("most", sizes={0: "most"}, options=some) for some in (first, last))


def _nearly_equal(draw: Draw, ranges: Sequence[tuple[int, int]]) -> Iterator[Corner]:
    """Arrays with one row more or less than a size, as T + 1 states of T steps, made square too."""
    for i, more in _beside(draw, len(ranges)):
        for j in {*range(len(ranges))} - {i}:
            least = max(2, ranges[j][0], ranges[i][0] + more)
            if least + 1 <= min(ranges[j][1], ranges[i][1] + more):
                same = [{i: size - more, j: size} for size in (least, least + 1)]
                yield from (Corner("equal", sizes=sizes) for sizes in same)


def _beside(draw: Draw, count: int) -> list[tuple[int, int]]:
    """Which sizes have an array one longer, or shorter, that no other size explains."""
    if count < 2:
        return []
    sources = [Source(seed, Corner(more=3 * seed)) for seed in range(3)]
    lengths = [_lengths(draw(source)) for source in sources]
    given = [source.given for source in sources]

    def is_there(i: int, more: int) -> bool:
        found = [sizes[i] + more in lengths[k] for k, sizes in enumerate(given)]
        own = [sizes[i] + more not in sizes for sizes in given]
        return all(found) and any(own)

    same = all(len(sizes) == count for sizes in given)
    return [(i, more) for i in range(count) for more in (-1, 1) if same and is_there(i, more)]


def _lengths(case: Any) -> set[int]:
    """Along the axes of all arrays of a case."""
    found: set[int] = set()

    def look(value: Any) -> Any:
        found.update(np.shape(value) if isinstance(value, np.ndarray) else ())
        return value

    nested(case, look)
    return found


def _pairings(count: int) -> Iterator[list[list[int]]]:
    """Pairs of sizes, several at once, so that every two are a pair in one of them."""
    teams = [*range(count)] + [-1] * (count % 2)
    for _ in range(len(teams) - 1):
        half = len(teams) // 2
        pairs = zip(teams[:half], reversed(teams[half:]), strict=True)
        yield [sorted(pair) for pair in pairs if -1 not in pair]
        teams[1:] = teams[-1:] + teams[1:-1]


def _equal(
    ranges: Sequence[tuple[int, int]], which: Iterable[int], more: int
) -> Iterator[tuple[int, int]]:
    """One size for all of these, a small one that they may all have, if there is one."""
    least = max(2, *(ranges[i][0] for i in which))
    most = min(ranges[i][1] for i in which)
    if least <= most:
        yield from ((i, min(least + more, most)) for i in which)
