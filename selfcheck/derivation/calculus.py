"""What functions do to forms: exp and log, sizes and maxima, products, slopes and integrals."""

from __future__ import annotations

from fractions import Fraction

from .monomials import (
    ONE,
    PI,
    UNIT,
    ZERO,
    Atom,
    Form,
    Holes,
    Index,
    Letters,
    Unknown,
    closed,
    content_of,
    delta,
    inside,
    is_nonnegative,
    is_positive,
    leading_of,
    moved_inside,
    of_atom,
    of_index,
    of_number,
    renamed,
    sign_of_root,
    size_of,
)  # fmt: skip


def exponential(form: Form) -> Form:
    """exp of a sum is the product of exp of its monomials."""
    found = UNIT
    for monomial, c in form.terms.values():
        inner = Form({monomial.key: (monomial, ONE)})
        log = monomial.powers[0][0] if len(monomial.powers) == 1 else None
        if (
            log is not None
            and not monomial.bound
            and log.head == "log"
            and monomial.powers[0][1] == 1
        ):
            found = found * log.of[0].power(c)
        else:
            found = found * of_atom(Atom("exp", (), (inner,), sign=1), c)
    return found


def logarithm(form: Form) -> Form:
    single = form.single
    if single and not single[0].bound and single[1] > 0:
        monomial, c = single
        if all(a.sign == 1 for a, _ in monomial.powers):
            total = ZERO if c == 1 else of_atom(Atom("log", (), (of_number(c),)))
            for atom, power in monomial.powers:
                inner = atom.of[0] if atom.head == "exp" else of_atom(
                    Atom("log", (), (of_atom(atom),))
                )  # fmt: skip
                total += inner.scaled(power)
            return total
    return of_atom(Atom("log", (), (form,)))


def absolute(form: Form) -> Form:
    if is_nonnegative(form):
        return form
    if is_nonnegative(-form):
        return -form
    content, rest = content_of(form, True)
    number, rest = leading_of(rest, True)
    found = of_number(abs(number))
    for atom, power in content.powers:
        found = found * of_atom(atom if atom.sign is not None else size_of(atom), power)
    if rest.number is not None:
        return found
    return found * of_atom(Atom("abs", (), (rest,), sign=0))


def largest(form: Form, letter: str, end: Index) -> Form:
    """The maximum over a letter: what does not depend on it may leave, as a summand."""
    if letter not in form.letters:
        return form
    inside = Form({k: t for k, t in form.terms.items() if letter in t[0].letters})
    bound = renamed(inside, {letter: (f"·{inside.height + 1}", 0)})
    return (form - inside) + of_atom(Atom("max", (), (bound,), sign_of_root(inside), end))


def product(form: Form, letter: str, end: Index) -> Form:
    """The product over a letter: factor by factor."""
    if form.single is None or form.single[0].bound:
        if letter in form.letters or form.number == 0:
            raise Unknown
        return to_the(form, end)
    monomial, c = form.single
    found = to_the(of_number(c), end)
    for atom, power in monomial.powers:
        if letter not in atom.letters:
            found = found * to_the(of_atom(atom, power), end)
            continue
        if atom.sign is None and power.denominator != 1:
            raise Unknown
        inside = of_atom(atom)
        bound = renamed(inside, {letter: (f"·{inside.height + 1}", 0)})
        found = found * of_atom(Atom("∏", (), (bound,), atom.sign, end), power)
    return found


def to_the(form: Form, end: Index) -> Form:
    """A power with a whole exponent that is a letter, or a letter and a number."""
    if not end[0]:
        return form.power(Fraction(end[1]))
    if form.number == 1:
        return form
    if is_positive(form):
        return exponential(of_index(end) * logarithm(form))
    if form.single is None or form.single[0].bound or form.single[1] <= 0:
        raise Unknown
    monomial, c = form.single
    found = to_the(of_number(c), end)
    for atom, power in monomial.powers:
        if atom.sign == 1:
            found = found * to_the(of_atom(atom, power), end)
        elif power.denominator == 1 or atom.sign is not None:
            raised = Atom("^", (), (of_atom(atom), of_index((end[0], 0))), atom.sign)
            found = found * of_atom(raised, power) * of_atom(atom, power * end[1])
        else:
            raise Unknown
    return found


def opened_maximum(atom: Atom) -> tuple[Form, str]:
    """What a maximum or a product is taken of, and the letter that it is taken over."""
    assert atom.end is not None
    letter = Letters.fresh(atom.end)
    return moved_inside(atom.of[0], {f"·{atom.height}": letter}), letter[0]


def derivative(form: Form, name: str, at: tuple[Index, ...]) -> Form:
    """The derivative by one entry of an array of this name."""
    total = ZERO
    for monomial, c in form.terms.values():
        bound, opened = monomial.opened()
        powers = list(opened.values())
        for k, (atom, power) in enumerate(powers):
            if name in atom.key:
                if power < 1 and atom.head == "()":
                    Holes.below.append(atom.of[0])
                rest = [*powers[:k], *powers[k + 1 :], (atom, power - 1)]
                total += inside(bound, _slope(atom, name, at), rest, c * power)
    return total


def _slope(atom: Atom, name: str, at: tuple[Index, ...]) -> Form:
    """The derivative of an atom: by the rule of its function, and on into its argument."""
    if atom.head == name:
        if len(atom.at) != len(at):
            raise Unknown
        return closed({}, [(delta(a, b), ONE) for a, b in zip(atom.at, at, strict=True)], ONE)
    if len(atom.of) != 1 or atom.end is not None or atom.at:
        raise Unknown
    inner = atom.of[0]
    if atom.head == "exp":
        outer = of_atom(atom)
    elif atom.head == "()":
        outer = UNIT
    elif atom.head == "log":
        outer = inner.power(Fraction(-1))
    elif atom.head == "tanh":
        outer = UNIT - of_atom(atom, Fraction(2))
    elif atom.head == "sin":
        outer = of_atom(Atom("cos", (), atom.of))
    elif atom.head == "cos":
        outer = -of_atom(Atom("sin", (), atom.of))
    elif "~" in atom.head and atom.head[-1] not in "′γ":
        outer = of_atom(Atom(f"{atom.head}′", (), atom.of))
    else:
        raise Unknown
    return outer * derivative(inner, name, at)


def integrated(form: Form, name: str, end: Index | None) -> Form:
    """The integral over all vectors (or numbers) x of this name: of e^(−α‖x‖² + bᵀx) alone."""
    total = ZERO
    for monomial, c in form.terms.values():
        bound, powers = monomial.opened()
        rest: list[tuple[Atom, Fraction]] = []
        square, linear = Fraction(0), ZERO
        place = Letters.fresh(end) if end else ("", 0)
        for atom, power in powers.values():
            if name not in atom.key:
                rest.append((atom, power))
            elif atom.head != "exp":
                raise Unknown
            else:
                exponent = atom.of[0].scaled(power)
                a, b = _square_and_line(exponent, name, end, place)
                square, linear = square + a, linear + b
        if square >= 0:
            raise Unknown
        shift = (linear * linear).scaled(-1 / (4 * square))
        exponent = shift.summed(place[0], end) if end else shift
        count = of_index(end) if end else UNIT
        mass = logarithm(of_atom(PI).scaled(-1 / square)) * count.scaled(Fraction(1, 2))
        total += inside(bound, exponential(exponent + mass), rest, c)
    return total


def _square_and_line(
    form: Form, name: str, end: Index | None, place: Index
) -> tuple[Fraction, Form]:
    """Of a monomial of an exponent: the number before ‖x‖², or b_i of bᵀx."""
    assert form.single is not None
    monomial, c = form.single
    bound, powers = monomial.opened()
    mine = [(a, p) for a, p in powers.values() if name in a.key]
    others = [(a, p) for a, p in powers.values() if name not in a.key]
    if len(mine) != 1 or mine[0][0].head != name:
        raise Unknown
    ((atom, power),) = mine
    if end:
        letter = atom.at[0][0]
        if bound.get(letter) != end or atom.at[0][1]:
            raise Unknown
        left = {x: e for x, e in bound.items() if x != letter}
        others = [(a.moved({letter: place}), p) for a, p in others]
    else:
        left = bound
    if power == 2 and not others and not left:
        return c, ZERO
    if power != 1:
        raise Unknown
    return Fraction(0), closed(left, others, c)


def apart(form: Form, letters: set[str]) -> tuple[Form, Form]:
    """The size of a factor of all monomials that has none of these letters, and what is left."""
    content, _ = content_of(form, True)
    number, _ = leading_of(form, True)
    taken = [(a, p) for a, p in content.powers if not a.letters & letters]
    factor = closed({}, taken, number)
    return absolute(factor), form * factor.power(Fraction(-1))
