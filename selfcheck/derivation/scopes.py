"""Where a line is evaluated: values, bound indices, what a derivative moves, outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Key = tuple[Any, ...]  # a name, with the number of its item if it has one


class Definition(NamedTuple):
    """A sequence that is computed: its items by a rule in this letter, and some by themselves."""

    letter: str
    rule: Callable[[Scope], Any] | None
    items: Mapping[int, Callable[[Scope], Any]]
    bare: Callable[[Scope], Any] | None = None  # what the name means without an index


class NeedsOutcome(Exception):
    """A random quantity is asked for whose outcome has not been chosen."""

    def __init__(self, key: Any, weights: list[float]) -> None:
        self.key, self.weights = key, weights


class Scope:
    """One evaluation of a line."""

    def __init__(self, values: Mapping[str, Any], definitions: Mapping[str, Definition]) -> None:
        self.values, self.definitions = values, definitions
        self.bound: dict[str, Any] = {}
        self.moved: dict[Key, Any] = {}  # what a derivative is taken by, moved a little
        self.outcomes: dict[Any, int] | None = None  # None outside of every expectation
        self.known: dict[Key, Any] = {}  # items of sequences that were computed here

    def at(self, **changes: Any) -> Scope:
        """The same with another of these parts."""
        other = Scope(self.values, self.definitions)
        for part in ("bound", "moved", "outcomes"):
            setattr(other, part, changes.get(part, getattr(self, part)))
        return other

    def value(self, name: str) -> Any:
        """What a name without an index stands for."""
        if (name,) in self.moved:
            return self.moved[name,]
        if name in self.bound:
            return self.bound[name]
        defined = self.definitions.get(name)
        if defined is not None and defined.bare is not None:
            if name not in self.values or self.moved or self.outcomes is not None:
                return defined.bare(self)
            if callable(self.values[name]):  # a sequence, whose name alone means an item
                return defined.bare(self)
        value = self.values[name]
        return value.at(self, None) if hasattr(value, "law") else value

    def item(self, name: str, place: int) -> Any:
        """The item of a sequence: moved, computed by its definition, or drawn."""
        key = (name, place)
        if key in self.moved:
            return self.moved[key]
        if key not in self.known:
            self.known[key] = self._item(name, place)
        return self.known[key]

    def _item(self, name: str, place: int) -> Any:
        defined = self.definitions.get(name)
        if defined is not None and place in defined.items:
            return defined.items[place](self)
        if (
            defined is not None
            and defined.rule is not None
            and place > min(defined.items, default=0)
        ):
            before = self.bound
            self.bound = {**before, defined.letter: place}
            try:
                return defined.rule(self)
            finally:
                self.bound = before
        value = self.values[name]
        return value.at(self, place) if hasattr(value, "law") else value(place)

    def outcome(self, key: Any, weights: list[float]) -> int:
        """Which of its values a random quantity has here; the first outside of expectations."""
        if self.outcomes is None:
            return 0
        if key not in self.outcomes:
            raise NeedsOutcome(key, weights)
        return self.outcomes[key]


def expected(body: Callable[[Scope], Any], scope: Scope) -> Any:
    """The expectation of a body: the weighted sum over the outcomes that it asks for."""

    def total(outcomes: dict[Any, int]) -> Any:
        try:
            return body(scope.at(outcomes=outcomes))
        except NeedsOutcome as need:
            key, weights = need.key, need.weights
        parts = [w * total({**outcomes, key: k}) for k, w in enumerate(weights)]
        found = parts[0]
        for part in parts[1:]:
            found = found + part
        return found

    return total({})
