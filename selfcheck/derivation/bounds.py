"""Inequalities term by term: a monomial is replaced by one that is known to be larger.

What is to be seen is that a form is not negative. A monomial with a minus sign gets a larger
factor in place of one of its own, one with a plus sign a smaller one, as long as all other factors
are not negative; at the end nothing negative must be left.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from . import calculus, monomials
from .clock import tick
from .monomials import ONE, UNIT, ZERO, Atom, Bound, Form, Monomial, Unknown, closed, is_nonnegative
from .tensors import HALF

DEEPEST = 4  # replacements in a row
Powers = list[tuple[Atom, Fraction]]


def is_at_most(low: Form, high: Form) -> str | None:
    """The rung on which low ≤ high is proved."""
    return "term by term" if _is_nonnegative(high - low, DEEPEST, set()) else None


def _is_nonnegative(form: Form, depth: int, seen: set[str]) -> bool:
    tick()
    if is_nonnegative(form) or is_nonnegative(_cleared(form)):
        return True
    if not depth or form.key in seen:
        return False
    seen.add(form.key)
    return any(_is_nonnegative(other, depth - 1, seen) for other in _below(form))


def _cleared(form: Form) -> Form:
    """The form multiplied by denominators that are positive."""
    for _ in range(3):
        below = {
            atom.key: (atom, -power)
            for monomial, _ in form.terms.values()
            for atom, power in monomial.powers
            if power < 0 and atom.sign is not None and not monomials.is_bound(atom)
        }
        if not below:
            return form
        for atom, power in below.values():
            form = form * monomials.raised(atom, power)
    return form


def _below(form: Form) -> Iterator[Form]:
    """Forms that are at most this one, each by one replacement."""
    for key, (monomial, c) in form.terms.items():
        rest = Form({k: t for k, t in form.terms.items() if k != key})
        bound, opened = monomial.opened()
        powers = list(opened.values())
        found = _larger(bound, powers) if c < 0 else _smaller(powers)
        for factors, other in found:
            if _are_nonnegative(factors):
                yield rest + monomials.inside(bound, other, factors, c)
        if c < 0:
            for left, factors, other in _cauchy_schwarz(bound, powers):
                if _are_nonnegative(factors):
                    yield rest + monomials.inside(left, other, factors, c)


def _are_nonnegative(powers: Powers) -> bool:
    return monomials.sign_of(Monomial({}, powers)) is not None


def _larger(bound: Bound, powers: Powers) -> Iterator[tuple[Powers, Form]]:
    """The other factors, and what is at least as large as the factors that are missing there."""
    for k, (atom, power) in enumerate(powers):
        rest = powers[:k] + powers[k + 1 :]
        if atom.head == "exp" and is_nonnegative(atom.of[0].scaled(-power)):
            yield rest, UNIT  # e^x ≤ 1 for x ≤ 0
        if atom.head == "()" and power == -1:
            yield from _over_less(bound, rest, atom)
        if atom.head == "abs" and power == 1:
            yield rest, _triangle(atom.of[0])
            if (steep := _by_slope(atom.of[0])) is not None:
                yield rest, steep
            if (gamma := _steepest(atom.of[0])) is not None:
                yield rest, gamma
            yield from ((rest, form) for form in _size_of_sum(atom.of[0]))
        if atom.head.endswith("γ") and power == 1:
            yield rest, monomials.of_number(Fraction(atom.head[:-1].split("~")[1]))
        if atom.head == "max" and power == 1:
            yield from ((rest, form) for form in _bounds_of_all(atom))
        if power == (HALF if atom.head == "()" else 1) and (known := atom.bound()) is not None:
            yield rest, known
        if atom.head == "∏" and power == 1 and atom.sign is not None:
            yield from ((rest, form) for form in _products(atom))
        if atom.head == "^" and power == 1 and atom.sign is not None:
            yield from ((rest, form) for form in _powers(atom))
        if atom.sign is None and power == 1:
            yield rest, calculus.absolute(monomials.of_atom(atom))
            yield from _squares(rest, atom)


def _cauchy_schwarz(bound: Bound, powers: Powers) -> Iterator[tuple[Bound, Powers, Form]]:
    """Σ a_i b_i ≤ ‖a‖‖b‖, where b_i may be a sum as in Σ_i x_i (Ay)_i."""
    for letter, end in bound.items():
        for k, (a, p) in enumerate(powers):
            if p != 1 or a.letters & bound.keys() != {letter}:
                continue
            linked, others = _linked({letter}, powers[:k] + powers[k + 1 :], bound)
            if not linked:
                continue
            inner = {x: e for x, e in bound.items() if _has(linked, x) and x != letter}
            left = {x: e for x, e in bound.items() if x != letter and x not in inner}
            b = closed(inner, linked, ONE)
            square = closed({letter: end}, [(a, Fraction(2))], ONE)
            yield left, others, square.power(HALF) * (b * b).summed(letter, end).power(HALF)


def _linked(letters: set[str], powers: Powers, bound: Bound) -> tuple[Powers, Powers]:
    """The atoms that have one of these letters, or share a bound one with such an atom; others."""
    linked = [(a, p) for a, p in powers if a.letters & letters]
    more = {x for a, _ in linked for x in a.letters & bound.keys()} - letters
    if more:
        return _linked(letters | more, powers, bound)
    return linked, [pair for pair in powers if pair not in linked]


def _has(powers: Powers, letter: str) -> bool:
    return any(letter in atom.letters for atom, _ in powers)


def _smaller(powers: Powers) -> Iterator[tuple[Powers, Form]]:
    """The other factors, and what is at most as large as the factors that are missing there."""
    for k, (atom, power) in enumerate(powers):
        rest = powers[:k] + powers[k + 1 :]
        if atom.head == "abs" and power == 1:
            yield rest, atom.of[0]
            yield rest, -atom.of[0]
        if atom.head == "exp" and is_nonnegative(atom.of[0].scaled(power)):
            yield rest, UNIT
        if atom.sign is None and power == 1:
            yield from ((left, -form) for left, form in _squares(rest, atom))


def _squares(rest: Powers, atom: Atom) -> Iterator[tuple[Powers, Form]]:
    """ab ≤ (a² + b²)/2, and ab ≥ −(a² + b²)/2."""
    for k, (other, power) in enumerate(rest):
        if power == 1:
            both = [monomials.of_atom(a, Fraction(2)) for a in (atom, other)]
            yield rest[:k] + rest[k + 1 :], (both[0] + both[1]).scaled(HALF)


def _over_less(bound: Bound, rest: Powers, atom: Atom) -> Iterator[tuple[Powers, Form]]:
    """1/(a + b) ≤ 1/a for a > 0 and b ≥ 0; a_i / Σ a_j ≤ 1."""
    total = atom.of[0]
    if not monomials.is_positive(total):
        return
    for key, (monomial, c) in total.terms.items():
        part = Form({key: (monomial, c)})
        if len(total.terms) > 1 and monomials.is_positive(part):
            yield rest, part.power(Fraction(-1))
        if monomial.bound and len(monomial.bound) == 1 and c == 1:
            ((letter, end),) = monomial.bound.items()
            yield from _share(bound, rest, part, letter, end)


def _share(
    bound: Bound, rest: Powers, total: Form, letter: str, end: monomials.Index
) -> Iterator[tuple[Powers, Form]]:
    """Factors that are one term of a sum of terms which are not negative: over it, at most 1."""
    candidates = {x for x, e in bound.items() if e == end} | {
        x for atom, _ in rest for x in atom.letters if monomials.Letters.ends.get(x) == end
    }
    for x in sorted(candidates):
        mine = [(a, p) for a, p in rest if x in a.letters]
        for chosen in ([pair] for pair in mine):
            if closed({x: end}, chosen, ONE).key == total.key:
                yield [pair for pair in rest if pair not in chosen], UNIT


def _triangle(form: Form) -> Form:
    """|a + b| ≤ |a| + |b|, under sums too."""
    total = ZERO
    for monomial, c in form.terms.values():
        bound, powers = monomial.opened()
        sizes = [(a if a.sign is not None else monomials.size_of(a), p) for a, p in powers.values()]
        total += closed(bound, sizes, abs(c))
    return total


def _by_slope(form: Form) -> Form | None:
    """|σ(a) − σ(b)| ≤ γ|a − b|."""
    atoms = [(m.powers[0][0], c) for m, c in form.terms.values()
             if not m.bound and len(m.powers) == 1 and m.powers[0][1] == 1]  # fmt: skip
    if len(form.terms) != 2 or len(atoms) != 2:
        return None
    (a, c), (b, d) = atoms
    if a.head != b.head or "~" not in a.head or a.head[-1] in "′γ" or c != -d:
        return None
    gamma = monomials.of_atom(Atom(f"{a.head}γ", sign=0))
    return gamma * calculus.absolute(a.of[0] - b.of[0]).scaled(abs(c))


def _steepest(form: Form) -> Form | None:
    """|σ′(a)| ≤ γ."""
    single = form.single
    if single is None or single[0].bound or len(single[0].powers) != 1 or single[1] != 1:
        return None
    atom, power = single[0].powers[0]
    if power != 1 or not atom.head.endswith("′"):
        return None
    return monomials.of_atom(Atom(f"{atom.head[:-1]}γ", sign=0))


def _size_of_sum(form: Form) -> Iterator[Form]:
    """|Σ a_i b_i| ≤ ‖a‖‖b‖."""
    if form.single:
        bound, opened = form.single[0].opened()
        for left, factors, other in _cauchy_schwarz(bound, list(opened.values())):
            sizes = [(a if a.sign is not None else monomials.size_of(a), p) for a, p in factors]
            yield monomials.inside(left, other, sizes, abs(form.single[1]))


def _bounds_of_all(atom: Atom) -> Iterator[Form]:
    """What bounds a product at every index bounds its maximum."""
    inner, letter = calculus.opened_maximum(atom)
    if inner.single and inner.single[1] > 0:
        bound, opened = inner.single[0].opened()
        for factors, other in _larger(bound, list(opened.values())):
            found = monomials.inside(bound, other, factors, inner.single[1])
            if letter not in found.letters and _are_nonnegative(factors):
                yield found


def _products(atom: Atom) -> Iterator[Form]:
    """A product of larger factors, of which none is negative."""
    assert atom.end is not None
    inner, letter = calculus.opened_maximum(atom)
    for larger in _larger_alone(inner):
        with suppress(Unknown):
            yield calculus.product(larger, letter, atom.end)


def _powers(atom: Atom) -> Iterator[Form]:
    """A power of something larger."""
    base, exponent = atom.of
    ((monomial, _),) = exponent.terms.values()
    for larger in _larger_alone(base):
        with suppress(Unknown):
            yield calculus.to_the(larger, monomial.powers[0][0].at[0])


def _larger_alone(form: Form) -> Iterator[Form]:
    """What bounds a form of one atom."""
    if form.single and form.single[1] == 1 and not form.single[0].bound:
        for factors, other in _larger({}, form.single[0].powers):
            if not factors:
                yield other
