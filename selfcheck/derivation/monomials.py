"""A normal form for single entries of arrays of any size: sums of products over indices.

(A B)_ij is Σ_k A_ik B_kj, where the index k runs from 1 to a size that stays a letter; so what is
equal here is equal for all sizes. A form is a sum of monomials; a monomial is a number, atoms with
powers, and indices that are summed over. An atom is a letter with indices (A_ik, the size n, the
Kronecker delta) or a function of forms (exp, σ, a maximum, a root). Bound indices get their names
by the place they stand at, so that forms which say the same are the same text.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import gcd, isqrt, lcm
from typing import Any, ClassVar, NamedTuple

from .clock import tick

MOST_TERMS = 120  # of a form
MOST_ORDERS = 120  # in which the indices of one monomial are tried
ONE = Fraction(1)

Index = tuple[str, int]  # a letter and what is added to it; a number has the letter ""
Bound = dict[str, Index]  # letters that are summed over, from 1 to this


class Unknown(Exception):
    """There is no normal form; whoever catches it has to know that it was raised."""

    count = 0

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        Unknown.count += 1


class Letters:
    """Letters for indices: each has a range, from 1 to its end."""

    ends: ClassVar[dict[str, Index]] = {}
    splits = False  # whether all sums end at n, those up to n − 1 without their last term

    @classmethod
    def fresh(cls, end: Index) -> Index:
        name = f"'{len(cls.ends)}"  # which nobody can declare
        cls.ends[name] = end
        return name, 0


class Holes:
    """What has been divided by, and what roots and logarithms were taken of, so far."""

    below: ClassVar[list[Form]] = []
    roots: ClassVar[list[Form]] = []

    @classmethod
    def clear(cls) -> None:
        cls.below.clear()
        cls.roots.clear()


def shifted(index: Index, by: Mapping[str, Index]) -> Index:
    """The index with its letter replaced."""
    if index[0] not in by:
        return index
    letter, more = by[index[0]]
    return letter, index[1] + more


def spelled(index: Index) -> str:
    return f"{index[0]}{index[1]:+d}" if index[1] or not index[0] else index[0]


class Upper(NamedTuple):
    """A bound: its letters stay as they are, and it is told what they have become since."""

    form: Form
    letters: Mapping[str, Index]

    def moved(self, by: Mapping[str, Index]) -> Upper:
        return Upper(self.form, {x: shifted(index, by) for x, index in self.letters.items()})


def upper(form: Form) -> Upper:
    return Upper(form, {x: (x, 0) for x in form.letters if x in Letters.ends})


class Atom:
    """A letter with indices, or a function of forms; two with the same key are the same."""

    __slots__ = ("at", "end", "head", "height", "key", "letters", "of", "sign", "upper")

    def __init__(
        self,
        head: str,
        at: tuple[Index, ...] = (),
        of: tuple[Form, ...] = (),
        sign: int | None = None,
        end: Index | None = None,
        upper: Upper | None = None,
    ) -> None:
        if head.endswith("≡"):  # a symmetric matrix
            at = tuple(sorted(at))
        self.head, self.at, self.of, self.sign, self.end = head, at, of, sign, end
        self.upper = upper  # a known bound: of a norm, or of the root of a sum of squares
        inside = ",".join([*map(spelled, at), *(form.key for form in of)])
        ends = f"[{spelled(end)}]" if end else ""
        self.key = f"{head}{ends}({inside})"
        found = {letter for letter, _ in at} | {x for form in of for x in form.letters}
        if end:
            found.add(end[0])
        self.letters = frozenset(x for x in found if x and x[0] != "·")
        self.height = max((form.height for form in of), default=0) + (end is not None)

    def moved(self, by: Mapping[str, Index]) -> Atom:
        if not self.letters & by.keys() and not any(x[0] in by for x in self.at):
            return self
        at = tuple(shifted(index, by) for index in self.at)
        of = tuple(form.moved(by) for form in self.of)
        return Atom(self.head, at, of, self.sign, self.end, self.upper and self.upper.moved(by))

    def bound(self) -> Form | None:
        """What is known to be at least as large, where all indices are open."""
        if self.upper is None or any(x[:1] == "·" for x, _ in self.upper.letters.values()):
            return None
        return self.upper.form.moved(self.upper.letters)


class Monomial:
    """Atoms with powers, summed over bound indices whose names are canonical."""

    __slots__ = ("bound", "height", "key", "letters", "powers")

    def __init__(self, bound: Bound, powers: list[tuple[Atom, Fraction]]) -> None:
        self.bound, self.powers = bound, powers
        self.key = _key(bound, powers)
        found = {x for atom, _ in powers for x in atom.letters}
        self.letters = frozenset(found | {end[0] for end in bound.values() if end[0]})
        inner = max((atom.height for atom, _ in powers), default=0)
        self.height = inner + bool(bound)

    def opened(self) -> tuple[Bound, dict[str, tuple[Atom, Fraction]]]:
        """The same with fresh letters for the bound indices."""
        if not self.bound:
            return {}, {a.key: (a, p) for a, p in self.powers}
        by = {letter: Letters.fresh(end) for letter, end in self.bound.items()}
        bound = {by[letter][0]: end for letter, end in self.bound.items()}
        moved = [(_moved_inside(atom, by), power) for atom, power in self.powers]
        return bound, {a.key: (a, p) for a, p in moved}


def _moved_inside(atom: Atom, by: Mapping[str, Index]) -> Atom:
    """As `moved`, for canonical letters, which no set of free letters has."""
    at = tuple(shifted(index, by) for index in atom.at)
    of = tuple(moved_inside(form, by) for form in atom.of)
    upper = atom.upper and atom.upper.moved(by)
    return Atom(atom.head, at, of, atom.sign, atom.end, upper) if at or of else atom


def moved_inside(form: Form, by: Mapping[str, Index]) -> Form:
    if not any(letter in form.key for letter in by):
        return form
    terms = [
        (Monomial(m.bound, [(_moved_inside(a, by), p) for a, p in m.powers]), c)
        for m, c in form.terms.values()
    ]
    return Form({m.key: (m, c) for m, c in terms})


def _key(bound: Bound, powers: Iterable[tuple[Atom, Fraction]]) -> str:
    over = ",".join(f"{letter}≤{spelled(end)}" for letter, end in sorted(bound.items()))
    return f"Σ{over}:" + "*".join(sorted(f"{atom.key}^{power}" for atom, power in powers))


class Form:
    """A sum of monomials with rational numbers before them."""

    __slots__ = ("_key", "height", "letters", "terms")

    def __init__(self, terms: dict[str, tuple[Monomial, Fraction]]) -> None:
        if len(terms) > MOST_TERMS:
            raise Unknown
        self.terms = terms
        self.letters: frozenset[str] = frozenset(x for m, _ in terms.values() for x in m.letters)
        self.height: int = max((m.height for m, _ in terms.values()), default=0)
        self._key = ""

    @property
    def key(self) -> str:
        if not self._key:
            self._key = "{" + " ".join(f"{self.terms[k][1]}{k}" for k in sorted(self.terms)) + "}"
        return self._key

    @property
    def number(self) -> Fraction | None:
        """Its value, if it is a plain number."""
        if not self.terms:
            return Fraction(0)
        ((monomial, coefficient), *more) = self.terms.values()
        return coefficient if not more and not monomial.powers and not monomial.bound else None

    @property
    def single(self) -> tuple[Monomial, Fraction] | None:
        return next(iter(self.terms.values())) if len(self.terms) == 1 else None

    def __add__(self, other: Form) -> Form:
        terms = dict(self.terms)
        for key, (monomial, c) in other.terms.items():
            total = c + (terms[key][1] if key in terms else 0)
            if total:
                terms[key] = (monomial, total)
            else:
                terms.pop(key, None)
        return Form(terms)

    def scaled(self, by: Fraction) -> Form:
        return Form({k: (m, c * by) for k, (m, c) in self.terms.items()} if by else {})

    def __neg__(self) -> Form:
        return self.scaled(-ONE)

    def __sub__(self, other: Form) -> Form:
        return self + -other

    def __mul__(self, other: Form) -> Form:
        if (a := self.number) is not None:
            return other.scaled(a)
        if (b := other.number) is not None:
            return self.scaled(b)
        total = ZERO
        for one, x in self.terms.values():
            for two, y in other.terms.values():
                bound, powers = one.opened()
                more, others = two.opened()
                total += closed(bound | more, [*powers.values(), *others.values()], x * y)
        return total

    def moved(self, by: Mapping[str, Index]) -> Form:
        """The form with free letters replaced."""
        if not self.letters & by.keys():
            return self
        total = ZERO
        for monomial, c in self.terms.values():
            bound, powers = monomial.opened()
            moved = [(atom.moved(by), power) for atom, power in powers.values()]
            total += closed(bound, moved, c)
        return total

    def summed(self, letter: str, end: Index) -> Form:
        """Σ over the letter, from 1 to the end."""
        total = ZERO
        for monomial, c in self.terms.values():
            bound, powers = monomial.opened()
            total += closed({**bound, letter: end}, list(powers.values()), c)
        return total

    def power(self, exponent: Fraction) -> Form:
        """A power; 0⁰ is 1, and a root is that of a number which is not negative."""
        if exponent.denominator == 1 and 0 <= exponent <= 6:
            total = UNIT
            for _ in range(int(exponent)):
                total = total * self
            return total
        if not self.terms:
            raise Unknown
        whole = exponent.denominator == 1
        content, rest = content_of(self, whole)
        found = UNIT
        for atom, power in content.powers:
            base = atom if whole or atom.sign is not None else size_of(atom)
            found = found * of_atom(base, power * exponent)
        number, rest = leading_of(rest, whole)
        found = found * _number_power(number, exponent)
        if rest.number == 1:
            return found
        return found * of_atom(Atom("()", (), (rest,), sign_of_root(rest)), exponent)


ZERO = Form({})


def of_number(x: Any) -> Form:
    value = Fraction(x) if isinstance(x, int | Fraction) else Fraction(str(x))
    one = Monomial({}, [])
    return Form({one.key: (one, value)} if value else {})


UNIT = of_number(1)


PI = Atom("pi", sign=1)


def of_atom(atom: Atom, power: Fraction = ONE) -> Form:
    return closed({}, [(atom, power)], ONE)


def of_index(index: Index) -> Form:
    """The number that an index stands for: a size, or a place from 1 on."""
    if not index[0]:
        return of_number(index[1])
    return of_atom(Atom("№", ((index[0], 0),), sign=1)) + of_number(index[1])


def sign_of_root(form: Form) -> int | None:
    return 1 if is_positive(form) else 0 if is_nonnegative(form) else None


def _number_power(number: Fraction, exponent: Fraction) -> Form:
    if exponent.denominator == 1:
        return of_number(number ** int(exponent))
    if number < 0:
        raise Unknown
    roots = [isqrt(x) for x in (number.numerator, number.denominator)]
    if exponent.denominator == 2 and [r * r for r in roots] == [
        number.numerator,
        number.denominator,
    ]:
        return of_number(Fraction(*roots) ** int(2 * exponent))
    return of_atom(Atom(f"#{number}", sign=1), exponent)


def leading_of(form: Form, signed: bool) -> tuple[Fraction, Form]:
    """The largest number that all monomials have: with the sign of the first, or without."""
    numbers = [c for _, c in form.terms.values()]
    above, below = gcd(*(c.numerator for c in numbers)), lcm(*(c.denominator for c in numbers))
    negative = signed and form.terms[min(form.terms)][1] < 0
    taken = Fraction(-above if negative else above, below)
    return taken, form.scaled(1 / taken)


def size_of(atom: Atom) -> Atom:
    return Atom("abs", (), (of_atom(atom),), sign=0)


def content_of(form: Form, whole: bool) -> tuple[Monomial, Form]:
    """The atoms that all monomials have, outside of their sums, and what is left.

    Under a root (not `whole`) only what is not negative may leave: even powers, too.
    """
    common: dict[str, tuple[Atom, Fraction]] | None = None
    for monomial, _ in form.terms.values():
        own = {
            a.key: (a, p)
            for a, p in monomial.powers
            if not is_bound(a) and (whole or a.sign is not None or _is_even(p))
        }
        if common is None:
            common = own
            continue
        shared: dict[str, tuple[Atom, Fraction]] = {}
        for key in common.keys() & own.keys():
            p, q = common[key][1], own[key][1]
            if (p > 0) == (q > 0):
                shared[key] = (common[key][0], min(p, q))
        for key, (atom, p) in [*common.items(), *own.items()]:
            if p < 0 and key not in shared:  # a denominator of some of them leaves as well
                shared[key] = (atom, p)
        common = {k: v for k, v in shared.items() if v[1] < 0 or (k in common and k in own)}
    powers = [v for _, v in sorted((common or {}).items())]
    rest = form
    for atom, power in powers:
        rest = rest * of_atom(atom, -power)
    return Monomial({}, powers), rest


def outside(form: Form, letters: set[str]) -> set[str]:
    """The letters of loops in a form, but for these."""
    return {x for x in form.letters if x in Letters.ends} - letters


def _is_even(power: Fraction) -> bool:
    return power.denominator == 1 and power.numerator % 2 == 0


def is_bound(atom: Atom) -> bool:
    """Whether it depends on an index that is bound around it."""
    return any(letter.startswith("·") for letter in _all_letters(atom))


def _all_letters(atom: Atom) -> set[str]:
    found = {letter for letter, _ in atom.at}
    for form in atom.of:
        for monomial, _ in form.terms.values():
            inner = {x for a, _ in monomial.powers for x in _all_letters(a)}
            found |= inner - monomial.bound.keys()
    own = {f"·{atom.height}"} if atom.end else {"·i", "·j"} if atom.head[0] == "‖" else set()
    return found - own


# -- closing a monomial ----------------------------------------------------------------------------


def closed(bound: Bound, powers: list[tuple[Atom, Fraction]], c: Fraction) -> Form:
    """The form of one monomial with open letters: simplified, its bound letters named."""
    tick()
    if not c:
        return ZERO
    atoms: dict[str, tuple[Atom, Fraction]] = {}
    for atom, power in powers:
        total = power + (atoms[atom.key][1] if atom.key in atoms else 0)
        if atom.head == "δ":
            total = min(total, ONE)
        atoms[atom.key] = (atom, total)
    kept = [(a, p) for a, p in atoms.values() if p]
    for rule in (_split_powers, _delta, _ends, _pairs, _unused):
        found = rule(bound, kept, c)
        if found is not None:
            return found
    return _named(bound, kept, c)


def _split_powers(bound: Bound, kept: list[tuple[Atom, Fraction]], c: Fraction) -> Form | None:
    """(…)^p with p ≥ 1 is multiplied out; |…|² has no absolute value."""
    for k, (atom, power) in enumerate(kept):
        rest = kept[:k] + kept[k + 1 :]
        if atom.head in ("()", "abs") and power >= (1 if atom.head == "()" else 2):
            whole = int(power) if atom.head == "()" else int(power) // 2 * 2
            inner = atom.of[0].power(Fraction(whole))
            left = [(atom, power - whole)] if power != whole else []
            return inside(bound, inner, rest + left, c)
        if atom.head[0] == "#" and abs(power) >= 1:
            whole = int(power)
            number = Fraction(atom.head[1:]) ** whole
            return closed(bound, [*rest, (atom, power - whole)], c * number)
    return None


def inside(bound: Bound, inner: Form, rest: list[tuple[Atom, Fraction]], c: Fraction) -> Form:
    """Σ over the bound letters of a form times atoms."""
    total = ZERO
    for monomial, factor in inner.terms.values():
        more, powers = monomial.opened()
        total += closed({**bound, **more}, [*rest, *powers.values()], c * factor)
    return total


def _delta(bound: Bound, kept: list[tuple[Atom, Fraction]], c: Fraction) -> Form | None:
    """δ_ij: one of its indices becomes the other everywhere."""
    for k, (atom, power) in enumerate(kept):
        if atom.head != "δ":
            continue
        if power != 1:
            raise Unknown
        rest = kept[:k] + kept[k + 1 :]
        one, two = atom.at
        if one == two:
            return closed(bound, rest, c)
        if one[0] == two[0]:
            return ZERO
        for a, b in ((one, two), (two, one)):
            if a[0] in bound and not a[1]:
                if not _surely_within(b, bound[a[0]], bound):
                    raise Unknown
                left = {x: end for x, end in bound.items() if x != a[0]}
                return closed(left, [(x.moved({a[0]: b}), p) for x, p in rest], c)
        for a, b in ((two, one), (one, two)):
            if a[0] in Letters.ends and not a[1]:
                if any(a[0] in x.letters for x, _ in rest):
                    moved = [(x.moved({a[0]: b}), p) for x, p in rest]
                    return closed(bound, [*moved, (atom, power)], c)
                break
    return None


def _surely_within(index: Index, end: Index, bound: Bound) -> bool:
    """Whether 1 ≤ index ≤ end, for all sizes."""
    letter, more = index
    if not letter:
        return more == 1 and (end[0] != "" or end[1] >= 1)
    if letter in bound or letter in Letters.ends:
        return not more and (bound.get(letter) or Letters.ends[letter]) == end
    return index == end


def _ends(bound: Bound, kept: list[tuple[Atom, Fraction]], c: Fraction) -> Form | None:
    """A sum up to n − 1 is that up to n without its last term; of one term, that term."""
    for letter, (size, more) in bound.items():
        others = {x: end for x, end in bound.items() if x != letter}
        if not size and more in (0, 1):
            moved = [(a.moved({letter: ("", 1)}), p) for a, p in kept]
            return closed(others, moved, c) if more else ZERO
        if size and more and Letters.splits:
            step = 1 if more < 0 else 0
            last = [(a.moved({letter: (size, more + step)}), p) for a, p in kept]
            longer = closed({**others, letter: (size, more + (1 if step else -1))}, kept, c)
            return longer + closed(others, last, -c if step else c)
    return None


def _pairs(bound: Bound, kept: list[tuple[Atom, Fraction]], c: Fraction) -> Form | None:
    """What is 1 or δ when it is summed over: W W⁻¹, QᵀQ, probabilities, a sum over itself."""
    for letter, end in bound.items():
        mine = [(a, p) for a, p in kept if letter in a.letters]
        others = [(a, p) for a, p in kept if letter not in a.letters]
        left = {x: e for x, e in bound.items() if x != letter}
        if (
            len(mine) == 2
            and mine[0][1] == mine[1][1] == 1
            and (found := _inverse_pair(letter, mine[0][0], mine[1][0]))
        ):
            return closed(left, [*others, (found, ONE)], c)
        if len(mine) == 1 and mine[0][1] == 1 and mine[0][0].head.endswith("%"):
            return closed(left, others, c)  # probabilities add up to 1
        for k, (atom, power) in enumerate(others):
            if atom.head == "()" and power <= -1 and _is_sum_of(atom.of[0], letter, end, mine):
                rest = others[:k] + others[k + 1 :]
                return closed(left, [*rest, (atom, power + 1)], c)
    return None


def _inverse_pair(letter: str, one: Atom, two: Atom) -> Atom | None:
    """Σ_k W_ik (W⁻¹)_kj = δ_ij, and the same for orthogonal matrices."""
    here = (letter, 0)
    if len(one.at) != 2 or len(two.at) != 2:
        return None
    if here not in one.at or here not in two.at or one.at == two.at:
        return None
    sides = [atom.at.index(here) for atom in (one, two)]
    inverses = one.head == f"{two.head}⁻¹" or two.head == f"{one.head}⁻¹"
    if inverses and sides[0] != sides[1]:
        return delta(one.at[1 - sides[0]], two.at[1 - sides[1]])
    if one.head == two.head and one.head.endswith("°") and sides[0] == sides[1]:
        return delta(one.at[1 - sides[0]], two.at[1 - sides[0]])
    return None


def _is_sum_of(form: Form, letter: str, end: Index, mine: list[tuple[Atom, Fraction]]) -> bool:
    """Whether a form is Σ over this letter of just these atoms."""
    if not form.single or not mine:
        return False
    total = closed({letter: end}, mine, ONE)
    return total.key == form.key


def _unused(bound: Bound, kept: list[tuple[Atom, Fraction]], c: Fraction) -> Form | None:
    """A sum of equal terms: their number."""
    used = {x for atom, _ in kept for x in atom.letters}
    for letter, end in bound.items():
        if letter not in used:
            left = {x: e for x, e in bound.items() if x != letter}
            return of_index(end) * closed(left, kept, c)
    return None


def _named(bound: Bound, kept: list[tuple[Atom, Fraction]], c: Fraction) -> Form:
    """The monomial with its bound letters named, in the order that reads first."""
    if bound:
        height = max((a.height for a, _ in kept), default=0)
        signs = {x: _signature(x, bound, kept) for x in bound}
        groups = [list(g) for _, g in itertools.groupby(sorted(bound, key=lambda x: signs[x]),
                                                        key=lambda x: signs[x])]  # fmt: skip
        best: tuple[str, Monomial] | None = None
        orders = itertools.product(*(itertools.permutations(g) for g in groups))
        for count, order in enumerate(orders):
            if count > MOST_ORDERS:
                raise Unknown
            letters = [x for group in order for x in group]
            by: dict[str, Index] = {x: (f"·{height + 1}.{k}", 0) for k, x in enumerate(letters)}
            ends = {by[x][0]: bound[x] for x in letters}
            found = Monomial(ends, [(a.moved(by), p) for a, p in kept])
            if best is None or found.key < best[0]:
                best = found.key, found
        assert best is not None
        monomial = best[1]
    else:
        monomial = Monomial({}, kept)
    return Form({monomial.key: (monomial, c)})


def _signature(letter: str, bound: Bound, kept: list[tuple[Atom, Fraction]]) -> str:
    """What can be said of a letter without the names of the others."""
    by: dict[str, Index] = {x: ("·?", 0) for x in bound} | {letter: ("·!", 0)}
    own = sorted(f"{a.moved(by).key}^{p}" for a, p in kept if letter in a.letters)
    return f"{spelled(bound[letter])} {own}"


def delta(one: Index, two: Index) -> Atom:
    return Atom("δ", tuple(sorted((one, two))), sign=0)


def renamed(form: Form, by: Mapping[str, Index]) -> Form:
    """A form whose free letters become canonical ones."""
    moved = [
        (Monomial(m.bound, [(a.moved(by), p) for a, p in m.powers]), c)
        for m, c in form.terms.values()
    ]
    return Form({m.key: (m, c) for m, c in moved})


# -- signs -----------------------------------------------------------------------------------------


def sign_of(monomial: Monomial) -> int | None:
    """1 for positive, 0 for not negative, None for unknown."""
    least = 0 if any(more < 0 for _, more in monomial.bound.values()) else 1  # no term at all?
    for atom, power in monomial.powers:
        if atom.sign is None and not _is_even(power) and power.denominator % 2:
            return None  # a root is not negative
        least = min(least, atom.sign or 0)
    return least


def is_nonnegative(form: Form) -> bool:
    """Whether every monomial is seen not to be negative."""
    return all(c > 0 and sign_of(m) is not None for m, c in form.terms.values())


def is_positive(form: Form) -> bool:
    """Whether moreover one of them is positive; a sum has a term at least where its end is ≥ 1."""
    return is_nonnegative(form) and any(sign_of(m) == 1 for m, _ in form.terms.values())


def zeros(form: Form) -> list[Form]:
    """What must not be 0 for a form not to be 0, factor by factor."""
    if form.single is None or form.single[0].bound:
        return [] if is_positive(form) else [form]
    found = []
    for atom, _ in form.single[0].powers:
        if atom.sign != 1:
            found += zeros(atom.of[0]) if atom.head in ("()", "abs") else [of_atom(atom)]
    return found


# -- proofs ----------------------------------------------------------------------------------------


def vanishes(form: Form) -> bool:
    """Whether a form is 0: at once, or when it has been multiplied by its denominators."""
    for _ in range(6):
        if not form.terms:
            return True
        below: dict[str, tuple[Atom, Fraction]] = {}
        for monomial, _ in form.terms.values():
            for atom, power in monomial.powers:
                if power < 0 and not is_bound(atom) and atom.head != "exp":
                    least = min(power, below[atom.key][1] if atom.key in below else power)
                    below[atom.key] = (atom, least)
        if not below:
            return False
        for atom, power in below.values():
            by = of_atom(atom, -power) if atom.head != "()" else raised(atom, -power)
            form = form * by
    return not form.terms


def raised(atom: Atom, power: Fraction) -> Form:
    """A factor that makes the power of a root or of a divisor whole again, and not negative."""
    one = Monomial({}, [(atom, power)])
    return Form({one.key: (one, ONE)})
