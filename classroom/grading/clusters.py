"""Families: wrong answers of an exercise that are the same, and that no known mistake describes.

    for family in families_of(book, "01_sums"):
        print(len(family.members), family.miss, family.example.answer)

Two answers are of one family when what the judge signed of them agrees up to rounding. Which
families there are does not depend on the order of the submissions; a name, once given, is kept in
the gradebook. Nothing is run here.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np

from selfcheck.compare import FLOOR, TOLERANCE
from selfcheck.exercises import Exercise
from selfcheck.units import declared, titled

from .behavior import Reference, Signature
from .diagnosis import miss
from .gradebook import Gradebook
from .records import Graded, Result, in_order


@dataclass(frozen=True)
class Member:
    """One wrong answer: whose it is, what the judge kept of it, and its signature."""

    student: str
    result: Result
    signature: Signature


@dataclass(frozen=True)
class Family:
    """Wrong answers of one part of an exercise that are the same."""

    unit: str
    number: str
    exercise: str
    part: str
    name: str  # six letters that stay
    members: tuple[Member, ...]  # by student
    miss: str  # how it misses, if the catalog knows

    @cached_property
    def students(self) -> list[str]:
        """Who is in it."""
        return [member.student for member in self.members]

    @cached_property
    def example(self) -> Member:
        """The shortest of the answers."""
        return min(self.members, key=lambda m: (len(m.result.answer), m.result.answer, m.student))

    @cached_property
    def forms(self) -> list[tuple[str, ...]]:
        """The ways in which it was written, the most frequent first."""
        counts = Counter(member.signature.forms for member in self.members)
        return sorted(counts, key=lambda forms: (-counts[forms], forms))

    @property
    def says(self) -> str:
        """The counterexample, as the check told it."""
        return self.example.signature.says or self.example.result.says

    @property
    def title(self) -> str:
        """`2.3 bias`, with the part if it is one of several."""
        return f"{self.number} {self.exercise}" + (f", {self.part}" if self.part else "")

    @property
    def heading(self) -> str:
        """The same with the exercise's title, as its sheet has it."""
        return titled(self.number, self.exercise) + (f", {self.part}" if self.part else "")


def families_of(book: Gradebook, unit: str) -> list[Family]:
    """The families of a unit, the largest first."""
    return group(book.each(unit), references_of(book, unit), book.kept_families(unit))


def references_of(book: Gradebook, unit: str) -> dict[str, Reference]:
    """What the unit's own solution gives, by exercise."""
    kept = book.kept_data(f"reference {unit}")
    return {name: Reference.from_dict(data) for name, data in kept.items()}


def keep_families(book: Gradebook, unit: str) -> None:
    """Keep the names of all families that there are now."""
    for family in families_of(book, unit):
        data = family.example.signature.as_dict()
        book.keep_family(unit, family.exercise, family.part, family.name, data)


def group(
    everyone: Iterable[Graded],
    references: Mapping[str, Reference],
    kept: Iterable[tuple[str, str, str, dict]] = (),
) -> list[Family]:
    """All families among these submissions; `kept` are exercise, part, name and signature."""
    members: dict[tuple[str, str, str], list[Member]] = defaultdict(list)
    for graded in everyone:
        for result in graded.results if not graded.problem else ():
            for data in result.signatures:
                signature = Signature.from_dict(data)
                key = (graded.unit, result.name, signature.part)
                members[key].append(Member(graded.student, result, signature))
    names: dict[tuple[str, str], list[tuple[str, Signature]]] = defaultdict(list)
    for exercise, part, name, data in kept:
        names[exercise, part].append((name, Signature.from_dict(data)))
    found = [
        family
        for key, mine in members.items()
        for family in _families(key, mine, references, names[key[1], key[2]])
    ]
    return sorted(found, key=lambda f: (-len(f.members), in_order(f.number), f.part, f.name))


def _families(
    key: tuple[str, str, str],
    members: Sequence[Member],
    references: Mapping[str, Reference],
    kept: Sequence[tuple[str, Signature]],
) -> Iterator[Family]:
    unit, name, part = key
    exercise = next((e for e in declared(unit) if e.name == name), None)
    if exercise is None or part not in ("", *(p.name for p in exercise.parts)):
        return  # the check has changed since
    reference = references.get(name, Reference())
    ordered = sorted(members, key=lambda m: (_key(m.signature), m.student))
    signatures = [member.signature for member in ordered] + [signature for _, signature in kept]
    for places in _groups(exercise, signatures, reference):
        there = [ordered[k] for k in places if k < len(ordered)]
        if not there:
            continue
        known = sorted(kept[k - len(ordered)][0] for k in places if k >= len(ordered))
        first = there[0].signature
        title = known[0] if known else _name(name, part, _label(exercise, first, reference))
        by_student = tuple(sorted(there, key=lambda m: m.student))
        how = miss(exercise, first, reference)
        yield Family(unit, exercise.number, name, part, title, by_student, how)


def _groups(
    exercise: Exercise, signatures: Sequence[Signature], reference: Reference
) -> Iterator[list[int]]:
    """The places of signatures that belong together."""
    boxes: dict[tuple, list[int]] = defaultdict(list)
    for place, signature in enumerate(signatures):
        if signature.whose and (how := miss(exercise, signature, reference)):
            boxes["miss", how].append(place)  # everybody has other numbers
        else:
            boxes["layout", *_layout(signature)].append(place)
    for kind, box in boxes.items():
        if kind[0] == "miss" or not signatures[box[0]].items:
            yield box
        else:
            numbers = [_numbers(signatures[place]) for place in box]
            for component in _components(numbers):
                yield [box[k] for k in component]


def _layout(signature: Signature) -> tuple:
    """What has to be the same as it stands: words, names, shapes, and where nothing is finite."""
    shapes = tuple((item.name, item.shape) for item in signature.items)
    odd = tuple(
        tuple((k, str(x)) for k, x in enumerate(item.mine) if not np.isfinite(x))
        for item in signature.items
    )
    return signature.part, signature.words, signature.whose, shapes, odd


def _numbers(signature: Signature) -> tuple[np.ndarray, np.ndarray]:
    """All finite numbers in a row, and for each the size of the largest beside it."""
    rows = [np.array(item.mine)[np.isfinite(item.mine)] for item in signature.items]
    sizes = [np.full(len(row), np.abs(row).max(initial=0.0)) for row in rows]
    return np.concatenate(rows), np.concatenate(sizes)


def _components(numbers: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[list[int]]:
    """Rows that agree up to rounding, and those that agree with one of them, and so on."""
    rows, first = _distinct([row for row, _ in numbers])
    values, sizes = (np.array([numbers[k][which] for k in first]) for which in (0, 1))
    owner = list(range(len(first)))
    for k in range(len(first)):
        near = TOLERANCE * np.maximum(sizes, sizes[k]) + FLOOR
        for other in np.flatnonzero((np.abs(values - values[k]) <= near).all(axis=1)):
            owner = [owner[k] if o == owner[other] else o for o in owner]
    groups: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        groups[owner[row]].append(place)
    return list(groups.values())


def _distinct(rows: Sequence[np.ndarray]) -> tuple[list[int], list[int]]:
    """For each row the number of the kind it is, to nine digits, and one place of each kind."""
    kinds: dict[tuple[str, ...], int] = {}
    first: list[int] = []
    numbered = []
    for place, row in enumerate(rows):
        key = tuple(f"{x:.9g}" for x in row + 0.0)
        if key not in kinds:
            kinds[key] = len(kinds)
            first.append(place)
        numbered.append(kinds[key])
    return numbered, first


def _key(signature: Signature) -> str:
    """To sort by, and to name a family after: what was signed, to nine digits."""
    items = [[i.name, list(i.shape), [f"{x:.9g}" for x in i.mine]] for i in signature.items]
    return json.dumps([signature.part, signature.words, signature.whose, items])


def _label(exercise: Exercise, first: Signature, reference: Reference) -> str:
    how = miss(exercise, first, reference) if first.whose else ""
    return how or _key(first)


def _name(exercise: str, part: str, label: str) -> str:
    return sha256(json.dumps([exercise, part, label]).encode()).hexdigest()[:6]
