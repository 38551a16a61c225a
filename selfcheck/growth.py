"""From counts to formulas: the exact polynomial behind a sweep of sizes; what a formula lacks.

polynomial(lambda n, d: measure(product, *arrays(n, d)).flops, n=2, d=1)
difference(measured, "2*n**2*d")      # Your formula is too small: it lacks exactly n².
growth(lambda n: measure(product, *arrays(n, 3)).flops)      # of degree 2: 17·n² − 5·n
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .formula import read_formula


class NotPolynomial(ValueError):
    """The counts do not follow a polynomial of the stated degree; the message shows where."""


def polynomial(count: Callable[..., int], /, **sizes: int | Iterable[int]) -> Any:
    """The exact polynomial behind `count(n=…, d=…)`, as SymPy, checked on sizes held out.

    `n=2` says "of degree at most 2 in n"; `n=(4, 8, 12, 16)` lists the sizes to run, the last of
    them to check: so of degree at most 2 again.
    """
    import sympy

    fitted: dict[str, list[int]] = {}
    held_out: dict[str, list[int]] = {}
    for name, given in sizes.items():
        if isinstance(given, int):
            fitted[name] = [*range(2, given + 3)]
            held_out[name] = [2 * given + 5, 3 * given + 8]
        else:
            *fitted[name], last = sorted(set(given))
            held_out[name] = [last]
        if not fitted[name]:
            raise ValueError(f"Give at least two sizes for {name}, or a degree such as {name}=2.")

    def value(point: tuple[int, ...]) -> int:
        arguments = dict(zip(sizes, point, strict=True))
        try:
            return operator.index(count(**arguments))
        except TypeError as error:
            if error.__traceback__ and error.__traceback__.tb_next:
                raise
            raise ValueError(
                f"A count must take {', '.join(sizes)} and give a whole number, such as "
                f"measure(…).flops; with {_where(arguments)} it did not: {error}."
            ) from None

    coefficients = _interpolate(list(fitted.values()), value)
    for point in _points_to_check(fitted, held_out):
        expected, counted = _evaluate(coefficients, point), value(point)
        if counted != expected:
            degrees = ", ".join(f"{len(xs) - 1} in {name}" for name, xs in fitted.items())
            raise NotPolynomial(
                f"The count is not a polynomial of degree at most {degrees}: it would be "
                f"{expected} at {_where(dict(zip(sizes, point, strict=True)))}, but {counted} "
                "were counted. "
                "Allow a higher degree, or look for a logarithm, a rounding or a branch."
            )
    terms = (
        sympy.Rational(c.numerator, c.denominator)
        * sympy.Mul(*(sympy.Symbol(s) ** k for s, k in zip(sizes, powers, strict=True)))
        for powers, c in coefficients.items()
    )
    return sympy.Add(*terms)


SIZES = (5, 8, 12, 15, 18, 24)  # enough for degree 4, the last to check; of no common period
FAR = 200  # a polynomial has to hold there too, for work in blocks looks otherwise when small
BLOCKS = (
    64,
    128,
    192,
    256,
    320,
    384,
)  # for code that works in blocks: up to 64 and all its divisors


@dataclass(frozen=True)
class Growth:
    """How a count grows with a size: the exact polynomial, or the counts if there is none."""

    degree: int  # of the polynomial; without one, the power between the largest sizes, rounded up
    says: str  # "10·n² + 2,880·n"
    polynomial: Any = None  # in SymPy


def growth(
    count: Callable[[int], int | None],
    name: str = "n",
    sizes: Iterable[int] = SIZES,
    far: int = FAR,
    blocks: Iterable[int] = BLOCKS,
) -> Growth:
    """The growth of `count(n)` by its exact polynomial: work that is wasted hides no square.

    What takes too long at a size beyond `sizes` is None, and is then not asked for.
    """
    import sympy

    counted: dict[int, int] = {}

    def once(**size: int) -> int:
        n = size[name]
        if n not in counted:
            number = count(n)
            if number is None:
                raise NotPolynomial
            counted[n] = operator.index(number)
        return counted[n]

    def agrees(expected: Any, size: int = far) -> bool:
        number = count(size) if far else None
        return number is None or number == expected

    def agrees_everywhere(found: Any) -> bool:
        """At a size that is no multiple of anything, too; what fails there holds for multiples."""
        try:
            return all(agrees(found.subs({name: n}), n) for n in (far, far - 1))
        except Exception:
            return False

    blocks = tuple(blocks)
    for tried in filter(None, (tuple(sizes), blocks, blocks[1:])):
        try:
            found = polynomial(once, **{name: tried})
        except NotPolynomial:
            continue
        if tried[0] < far and not agrees(found.subs({name: far})) and tried == tuple(sizes):
            continue
        degree = int(sympy.degree(found, sympy.Symbol(name))) if found.free_symbols else 0
        if tried[0] >= BLOCKS[0] and degree > len(tried) - 3:
            continue  # one size to spare is no proof where rounding makes the counts
        where = ""
        if tried[0] >= BLOCKS[0] and not agrees_everywhere(found):
            where = f" for {name} a multiple of {BLOCKS[0]}"
        elif tried[0] >= BLOCKS[0] and any(found.subs({name: n}) != counted[n] for n in counted):
            where = f" for {name} ≥ {tried[0]}"
        return Growth(degree, in_words(found) + where, found)
    doubled = [n for n in sorted(counted) if 2 * n in counted]  # so padding cancels
    small, large = (doubled[-1], 2 * doubled[-1]) if doubled else (min(counted), max(counted))
    before, after = counted[small], counted[large]
    power = math.log(max(after, 1) / max(before, 1)) / math.log(large / small)
    largest = ", ".join(f"{c:,} at {name} = {n}" for n, c in sorted(counted.items())[-3:])
    like = _family(counted, name) or f"like {name}^{power:.2f}"
    return Growth(math.ceil(power - 0.02), f"no polynomial in {name}: {largest}; it grows {like}")


def _family(counted: dict[int, int], name: str) -> str:
    """A logarithm or an exponential that the counts follow, in words; "" if there is none."""
    powers = [n for n in sorted(counted) if n > 1 and not n & (n - 1)]
    for a, b in itertools.product(range(4), (1, 2)) if len(powers) > 2 else ():
        ratios = {Fraction(counted[n], n**a * (n.bit_length() - 1) ** b) for n in powers}
        if len(ratios) == 1:
            (ratio,) = ratios
            size = {0: "", 1: f"{name}·"}.get(a, f"{name}^{a}·")
            log = f"log₂{name}" if b == 1 else f"(log₂{name})²"
            return f"as {'' if ratio == 1 else f'{ratio}·'}{size}{log} at powers of 2"
    small = [n for n in sorted(counted) if n < BLOCKS[0] and counted[n] > 0]
    rates = [math.log(counted[b] / counted[a]) / (b - a) for a, b in itertools.pairwise(small)]
    if len(rates) > 2 and min(rates) > math.log(1.2) and max(rates) - min(rates) < 0.01:
        return f"like {math.exp(rates[-1]):.3g}^{name}"
    return ""


def in_words(expression: Any) -> str:
    """10*n**2 + 2880*n as 10·n² + 2,880·n, the highest power first."""
    terms = sorted(
        expression.as_ordered_terms() if hasattr(expression, "as_ordered_terms") else [expression],
        key=lambda term: -_total_degree(term),
    )
    written = ""
    for term in terms:
        is_less = str(term).startswith("-")
        written += f"− {_written(-term)} " if is_less else f"+ {_written(term)} "
    written = written.strip().removeprefix("+ ")
    return f"−{written[2:]}" if written.startswith("− ") else written


def _total_degree(term: Any) -> int:
    import sympy

    return sympy.Poly(term).total_degree() if getattr(term, "free_symbols", None) else 0


def _written(term: Any) -> str:
    superscript = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    text = re.sub(r"\*\*(\d+)\b", lambda m: m[1].translate(superscript), str(term))
    text = re.sub(r"\d{4,}", lambda m: f"{int(m[0]):,}", text)
    return text.replace("**", "^").replace("*", "·")


def _where(point: dict[str, int]) -> str:
    return ", ".join(f"{name} = {x}" for name, x in point.items())


def _evaluate(coefficients: dict[tuple[int, ...], Fraction], point: tuple[int, ...]) -> Fraction:
    return sum(
        (c * math.prod(map(pow, point, powers)) for powers, c in coefficients.items()), Fraction(0)
    )


def _points_to_check(
    fitted: dict[str, list[int]], held_out: dict[str, list[int]]
) -> list[tuple[Any, ...]]:
    """All sizes new at once, and each of them new alone beside the smallest and largest others."""
    points = [tuple(new[-1] for new in held_out.values())]
    for name, pick in itertools.product(fitted, (min, max)):
        for new in held_out[name]:
            points.append(tuple(new if s == name else pick(fitted[s]) for s in fitted))
    return list(dict.fromkeys(points))


def _interpolate(
    sizes: list[list[int]], value: Callable[..., Any]
) -> dict[tuple[int, ...], Fraction]:
    """Coefficients by powers, by exact Lagrange interpolation in one variable after the other."""
    if not sizes:
        return {(): Fraction(value(()))}
    here, *others = sizes
    total: dict[tuple[int, ...], Fraction] = {}
    for x in here:
        rest = _interpolate(others, lambda tail, x=x: value((x, *tail)))
        basis = [Fraction(1)]
        for other in set(here) - {x}:  # multiply by (t − other)/(x − other)
            zero = Fraction(0)
            shifted = zip([zero, *basis], [*basis, zero], strict=True)
            basis = [(up - other * low) / (x - other) for up, low in shifted]
        for (k, b), (powers, c) in itertools.product(enumerate(basis), rest.items()):
            total[(k, *powers)] = total.get((k, *powers), Fraction(0)) + b * c
    return {powers: c for powers, c in total.items() if c}


@dataclass(frozen=True, repr=False)
class Difference:
    """What a formula lacks and what it has too much, in SymPy; false when the formula is exact.

    Of what it lacks, `oversubtracted` was subtracted in it, and of what it has too much,
    `unsubtracted` should have been.
    """

    missing: Any
    extra: Any
    oversubtracted: Any = 0
    unsubtracted: Any = 0

    def __bool__(self) -> bool:
        return bool(self.missing != 0 or self.extra != 0)

    def __str__(self) -> str:
        told = {
            "lacks {}": self.missing - self.oversubtracted,
            "subtracts {} too much": self.oversubtracted,
            "has {} too much": self.extra - self.unsubtracted,
            "does not subtract {}": self.unsubtracted,
        }
        off = {says: _listed(terms) for says, terms in told.items() if terms != 0}
        if not off:
            return "Your formula is exact."
        if len(off) == 1:
            ((says, terms),) = off.items()
            size = "large" if self.extra != 0 else "small"
            return f"Your formula is too {size}: it {says.format(f'exactly {terms}')}."
        *most, last = (says.format(terms) for says, terms in off.items())
        return f"Your formula {', '.join(most)}, and {last}."

    __repr__ = __str__


def difference(measured: Any, formula: Any, symbols: Iterable[str] = ()) -> Difference:
    """Name the terms by which a formula (SymPy, a number or text) misses what was measured.

    Text may use the symbols of the measured polynomial and those named in `symbols`.
    """
    import sympy

    names = {*symbols, *(s.name for s in getattr(measured, "free_symbols", ()))}

    def read(expression: Any) -> Any:
        if type(expression) is not int and not isinstance(expression, sympy.Expr):
            expression = read_formula(expression, sorted(names)).to_sympy()
        expression = sympy.nsimplify(expression, rational=True).doit()
        return expression.xreplace({s: sympy.Symbol(s.name) for s in expression.free_symbols})

    counted, given = sympy.expand(read(measured)), sympy.expand(read(formula))
    gap = sympy.expand(counted - given)
    if not gap.is_polynomial():
        gap = sympy.expand(sympy.simplify(gap))
    extra = sympy.Add(
        *(-term for term in sympy.Add.make_args(gap) if term.could_extract_minus_sign())
    )

    def taken_away(terms: Any, by: Any, besides: Any) -> Any:
        """The terms that one formula subtracts, and that the other one does not add."""
        here, there = by.as_coefficients_dict(), besides.as_coefficients_dict()
        each = [(term, *term.as_coeff_Mul()) for term in sympy.Add.make_args(terms)]
        return sympy.Add(*(term for term, _, m in each if here[m] < 0 and there[m] <= 0))

    missing = gap + extra
    return Difference(
        missing, extra, taken_away(missing, given, counted), taken_away(extra, counted, given)
    )


def _listed(expression: Any) -> str:
    """The terms n**2 + 3*n as "n² and 3·n"."""
    if expression == 0:
        return ""
    terms = [_written(t) for t in expression.as_ordered_terms()]
    return " and ".join([", ".join(terms[:-1]), terms[-1]] if len(terms) > 1 else terms)
