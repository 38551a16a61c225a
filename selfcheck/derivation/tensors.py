"""Arrays of letters: what NumPy does to arrays, done to entries with general indices.

A tensor has sizes, which are letters, and an entry for every choice of indices, as a form. What
is not known here raises Unknown, and then nothing is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

from . import calculus, monomials
from .monomials import Atom, Form, Holes, Index, Letters, Unknown, delta, of_atom, of_number

HALF = Fraction(1, 2)
SINGLE: Index = ("", 1)
OPEN: Index = ("?", 0)  # the size of I and 𝟏, until they meet something
Entry = Callable[..., Form]  # an index for each axis


class Loops:
    """Loops over arrays whose length is a letter: each runs once, for all of its turns."""

    opened: ClassVar[list[tuple[str, Index]]] = []
    ended: ClassVar[set[str]] = set()

    @classmethod
    def turn(cls, end: Index, item: Callable[[Index], Any]) -> Iterator[Any]:
        """One turn for all; whoever leaves the loop before its end is seen to do so."""
        letter = Letters.fresh(end)
        cls.opened.append((letter[0], end))
        yield item(letter)
        cls.ended.add(letter[0])


def refused(*_: Any, **__: Any) -> NoReturn:
    """What would look into a number, or change an array in place."""
    raise Unknown


class Tensor:
    """An array with letters as sizes; `place` is the index that a number of a loop stands for."""

    __array_priority__ = 1000
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        sizes: tuple[Index, ...],
        entry: Entry,
        place: Index | None = None,
        parts: tuple[str, Tensor, Tensor] | None = None,
    ) -> None:
        self.sizes, self.entry, self.place = sizes, entry, place
        self.parts = parts  # of a product or a sum, for bounds on its norm

    # -- what NumPy's arrays have

    @property
    def ndim(self) -> int:
        return len(self.sizes)

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(whole(size) for size in self.sizes)

    @property
    def size(self) -> Any:
        total: Any = 1
        for size in self.sizes:
            total = total * whole(size)
        return total

    @property
    def T(self) -> Tensor:
        return Tensor(self.sizes[::-1], lambda *at: self.entry(*at[::-1]))

    def form(self) -> Form:
        """That of a number."""
        if self.sizes:
            raise Unknown
        return self.entry()

    def __getattr__(self, name: str) -> Any:
        method = METHODS.get(name)
        if method is None:
            refused()
        return lambda *args, **more: method(self, *args, **more)

    def __iter__(self) -> Iterator[Any]:
        if not self.sizes:
            refused()
        yield from Loops.turn(self.sizes[0], self.row)

    def row(self, index: Index) -> Tensor:
        return Tensor(self.sizes[1:], lambda *at: self.entry(index, *at))

    def __getitem__(self, key: Any) -> Tensor:
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in [k for k in keys if not isinstance(k, Tensor)]:
            place = next(k for k, x in enumerate(keys) if x is Ellipsis)
            missing = self.ndim - sum(k is not None for k in keys) + 1
            keys[place : place + 1] = [slice(None)] * missing
        keys += [slice(None)] * (self.ndim - sum(k is not None for k in keys))
        sizes: list[Index] = []
        makers: list[Callable[[list[Index]], Index]] = []
        axis = 0
        for k in keys:
            if k is None:
                sizes.append(SINGLE)
                continue
            if axis >= self.ndim:
                refused()
            size, new = self.sizes[axis], len(sizes)
            axis += 1
            if isinstance(k, slice):
                first, last = _cut(k, size)
                sizes.append(last)
                makers.append(lambda at, n=new, f=first: (at[n][0], at[n][1] + f))  # type: ignore[misc]
            else:
                index = _place(k, size)
                makers.append(lambda at, i=index: i)  # type: ignore[misc]

        def entry(*at: Index) -> Form:
            return self.entry(*(make(list(at)) for make in makers))

        return Tensor(tuple(sizes), entry)

    # -- arithmetic

    def __add__(self, other: Any) -> Tensor:
        return _sum_of(_together(lambda a, b: a + b, self, other), self, other)

    def __sub__(self, other: Any) -> Tensor:
        return _sum_of(_together(lambda a, b: a - b, self, other), self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return _together(lambda a, b: b - a, self, other)

    def __mul__(self, other: Any) -> Tensor:
        return _together(lambda a, b: a * b, self, other)

    def __truediv__(self, other: Any) -> Tensor:
        return _together(lambda a, b: a * divided(b), self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return _together(lambda a, b: b * divided(a), self, other)

    def __pow__(self, other: Any) -> Tensor:
        return _together(_power, self, other)

    def __rpow__(self, other: Any) -> Tensor:
        return _together(lambda a, b: _power(b, a), self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Tensor:
        return each(lambda a: -a, self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return each(calculus.absolute, self)

    def __matmul__(self, other: Any) -> Tensor:
        return matmul(self, tensor(other))

    def __rmatmul__(self, other: Any) -> Tensor:
        return matmul(tensor(other), self)

    __bool__ = __float__ = __int__ = __index__ = __len__ = __complex__ = refused
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = refused
    __iadd__ = __isub__ = __imul__ = __itruediv__ = __imatmul__ = __ipow__ = refused
    __setitem__ = __delitem__ = __contains__ = __floordiv__ = __mod__ = refused


def tensor(x: Any) -> Tensor:
    """A number as a tensor; a tensor as it is."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, bool) or not isinstance(x, int | float | Fraction):
        refused()
    form = of_number(x)
    return Tensor((), lambda: form)


def number(form: Form) -> Tensor:
    return Tensor((), lambda: form)


def whole(size: Index) -> Any:
    """A length: a plain number if it is one."""
    return number(monomials.of_index(size)) if size[0] else size[1]


def as_index(x: Any) -> Index:
    """A length or a bound as an index: a letter with a number added."""
    form = tensor(x).form()
    constant = Fraction(0)
    letter = ""
    for monomial, c in form.terms.values():
        if not monomial.powers:
            constant = c
            continue
        (atom, power), *more = monomial.powers
        if letter or more or monomial.bound or c != 1 or power != 1 or atom.head != "№":
            refused()
        letter = atom.at[0][0]
        if letter in Letters.ends:
            refused()  # the end of a sum is no index of another
    if constant.denominator != 1:
        refused()
    return letter, int(constant)


def _place(k: Any, size: Index) -> Index:
    """An index of NumPy's, from 0 on or from the end, as one from 1 on."""
    if isinstance(k, Tensor):
        if k.place is None:
            refused()
        assert k.place is not None
        if Letters.ends.get(k.place[0]) != size or k.place[1]:
            refused()  # it might be outside
        return k.place
    if isinstance(k, bool) or not isinstance(k, int):
        refused()
    found = (size[0], size[1] + k + 1) if k < 0 else ("", k + 1)
    if not size[0] and not 1 <= found[1] <= size[1]:
        refused()
    if size[0] and (size[1] or k not in (0, -1)):
        refused()  # there may be no such item
    return found


def _cut(k: slice, size: Index) -> tuple[int, Index]:
    """How many items a slice leaves out at the front, and its length."""
    if k.step is not None:
        refused()
    first = 0 if k.start is None else k.start
    if not isinstance(first, int) or not 0 <= first <= 1:
        refused()
    last = size
    if isinstance(k.stop, int) and k.stop == -1 and not first:
        last = (size[0], size[1] - 1)
    elif k.stop is not None:
        refused()
    if size[1] and (first or last != size):
        refused()
    return first, (last[0], last[1] - first)


def each(f: Callable[[Form], Form], x: Any) -> Tensor:
    """A function of a number, entry by entry."""
    x = tensor(x)
    return Tensor(x.sizes, lambda *at: f(x.entry(*at)))


def _together(f: Callable[[Form, Form], Form], a: Any, b: Any) -> Tensor:
    """Entry by entry, with NumPy's rule for arrays of different shapes."""
    a, b = tensor(a), tensor(b)
    rank = max(a.ndim, b.ndim)
    sizes = []
    for k in range(-rank, 0):
        own = [x.sizes[k] for x in (a, b) if -k <= x.ndim]
        large = [s for s in own if s not in (SINGLE, OPEN)] or own[-1:]
        if len(set(large)) != 1:
            refused()
        sizes.append(large[0])

    def entry(*at: Index) -> Form:
        parts = []
        for x in (a, b):
            own = at[rank - x.ndim :]
            parts.append(x.entry(*(SINGLE if s == SINGLE else i
                                   for i, s in zip(own, x.sizes, strict=True))))  # fmt: skip
        return f(*parts)

    return Tensor(tuple(sizes), entry)


def _sum_of(found: Tensor, a: Tensor, b: Any) -> Tensor:
    if isinstance(b, Tensor) and a.sizes == b.sizes:
        found.parts = ("+", a, b)
    return found


def divided(form: Form) -> Form:
    """1 over a form, which is taken note of: it must not be 0."""
    Holes.below.append(form)
    return form.power(Fraction(-1))


def _power(base: Form, exponent: Form) -> Form:
    p = exponent.number
    if p is None:
        if not monomials.is_positive(base):
            return calculus.to_the(base, as_index(number(exponent)))
        return calculus.exponential(exponent * calculus.logarithm(base))
    if p < 0:
        Holes.below.append(base)
    if p.denominator != 1:
        Holes.roots.append(base)
    return base.power(p)


def matmul(a: Tensor, b: Tensor) -> Tensor:
    if not a.ndim or not b.ndim or a.ndim > 2 or b.ndim > 2:
        refused()
    end = a.sizes[-1] if b.sizes[0] == OPEN else b.sizes[0]
    a, b = settled(a, end), settled(b, end)
    if a.sizes[-1] != end or b.sizes[0] != end:
        refused()
    left, right = a.sizes[:-1], b.sizes[1:]

    def entry(*at: Index) -> Form:
        k = Letters.fresh(end)
        one = a.entry(*at[: len(left)], k)
        return (one * b.entry(k, *at[len(left) :])).summed(k[0], end)

    return Tensor(left + right, entry, parts=("@", a, b))


def settled(x: Tensor, size: Index) -> Tensor:
    """I and 𝟏 with the size that they turn out to have."""
    if OPEN not in x.sizes:
        return x
    return Tensor(tuple(size if s == OPEN else s for s in x.sizes), x.entry)


def total(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    return _over(x, axis, keepdims, lambda form, k: form.summed(k[0], Letters.ends[k[0]]))


def largest(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    return _over(
        x, axis, keepdims, lambda form, k: calculus.largest(form, k[0], Letters.ends[k[0]])
    )


def smallest(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    return -largest(-tensor(x), axis, keepdims)


def mean(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    count = tensor(x).size if axis is None else tensor(x).shape[axis]
    return total(x, axis, keepdims) / tensor(count)


def _over(x: Any, axis: Any, keepdims: Any, combine: Callable[[Form, Index], Form]) -> Tensor:
    x = tensor(x)
    if axis is None:
        axes = list(range(x.ndim))
    elif isinstance(axis, int) and -x.ndim <= axis < x.ndim:
        axes = [axis % x.ndim]
    else:
        refused()
    if keepdims not in (True, False):
        refused()
    kept = [k for k in range(x.ndim) if k not in axes]

    def entry(*at: Index) -> Form:
        own = at if not keepdims else tuple(at[k] for k in kept)
        letters = {k: Letters.fresh(x.sizes[k]) for k in axes}
        places = dict(zip(kept, own, strict=True)) | letters
        form: Form = x.entry(*(places[k] for k in range(x.ndim)))
        for k in axes:
            form = combine(form, letters[k])
        return form

    if keepdims:
        return Tensor(tuple(SINGLE if k in axes else s for k, s in enumerate(x.sizes)), entry)
    return Tensor(tuple(x.sizes[k] for k in kept), entry)


def diag(x: Any) -> Tensor:
    x = tensor(x)
    if x.ndim == 1:
        size = x.sizes[0]
        return Tensor((size, size), lambda i, j: of_atom(delta(i, j)) * x.entry(i))
    if x.ndim != 2 or x.sizes[0] != x.sizes[1]:
        refused()
    return Tensor(x.sizes[:1], lambda i: x.entry(i, i))


def eye(n: Any, m: Any = None) -> Tensor:
    size = as_index(n)
    if m is not None and as_index(m) != size:
        refused()
    return Tensor((size, size), lambda i, j: of_atom(delta(i, j)))


def filled(value: int) -> Callable[..., Tensor]:
    def make(shape: Any, dtype: Any = float) -> Tensor:
        if dtype is not float:
            refused()
        shape = shape if isinstance(shape, tuple) else (shape,)
        return Tensor(tuple(map(as_index, shape)), lambda *at: of_number(value))

    return make


def outer(a: Any, b: Any) -> Tensor:
    a, b = tensor(a), tensor(b)
    if a.ndim != 1 or b.ndim != 1:
        refused()
    return Tensor(a.sizes + b.sizes, lambda i, j: a.entry(i) * b.entry(j))


def inner(a: Any, b: Any) -> Tensor:
    if tensor(a).ndim != 1 or tensor(b).ndim != 1:
        refused()
    return matmul(a, b)


def trace(x: Any) -> Tensor:
    return total(diag(x))


def root(x: Any) -> Tensor:
    def taken(form: Form) -> Form:
        Holes.roots.append(form)
        return form.power(HALF)

    return each(taken, x)


def logarithm(x: Any) -> Tensor:
    def taken(form: Form) -> Form:
        Holes.below.append(form)
        Holes.roots.append(form)
        return calculus.logarithm(form)

    return each(taken, x)


def exponential(x: Any) -> Tensor:
    return each(calculus.exponential, x)


def of_entries(name: str) -> Callable[[Any], Tensor]:
    """A function that is not looked into, entry by entry."""
    return lambda x: each(lambda form: of_atom(Atom(name, (), (form,))), x)


def generic(x: Tensor) -> tuple[Form, list[Index]]:
    """The entry at general indices."""
    letters = [Letters.fresh(size) for size in x.sizes]
    return x.entry(*letters), letters


def spelled(x: Tensor) -> str:
    """A tensor as text, the same for the same entries."""
    form, letters = generic(x)
    if (form.letters & Letters.ends.keys()) - {letter for letter, _ in letters}:
        raise Unknown  # it depends on the index of a loop
    named: dict[str, Index] = {letter[0]: (f"@{k}", 0) for k, letter in enumerate(letters)}
    sizes = ",".join(map(monomials.spelled, x.sizes))
    return f"{form.moved(named).key}[{sizes}]"


def inverse(x: Any) -> Tensor:
    """That of a diagonal matrix by entries; of a name as a letter of its own."""
    x = tensor(x)
    if x.ndim != 2 or x.sizes[0] != x.sizes[1]:
        refused()
    form, (i, j) = generic(x)
    if _is_diagonal(form, i, j):
        return Tensor(
            x.sizes,
            lambda i, j: of_atom(delta(i, j)) * divided(x.entry(i, i)),
        )
    single = form.single
    if single and single[1] == 1 and len(single[0].powers) == 1:
        atom, power = single[0].powers[0]
        if power == 1 and atom.at in ((i, j), (j, i)) and not atom.of:
            turned = atom.at == (j, i)
            head = atom.head
            if head.endswith("°"):
                return Tensor(x.sizes, lambda i, j: x.entry(j, i))
            if head.endswith("⁻¹"):
                head = head[:-2]
            else:
                if not head.endswith("*"):
                    Holes.below.append(of_atom(Atom(f"det {head}")))
                head = f"{head}⁻¹"
            return Tensor(
                x.sizes,
                lambda i, j: of_atom(Atom(head, (j, i) if turned else (i, j))),
            )
    raise Unknown


def solve(a: Any, b: Any) -> Tensor:
    return inverse(a) @ tensor(b)


def norm(x: Any, which: Any = None, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Of vectors, and Frobenius' of matrices, by entries; the spectral norm is a letter."""
    x = tensor(x)
    if which == 2 and axis is None and x.ndim == 2:
        return number(spectral(x))
    if which not in (None, 2, "fro"):
        refused()
    return euclidean(x, axis, keepdims)


def euclidean(x: Tensor, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The root of a sum of squares, which has one always; ‖Ax‖ ≤ ‖A‖‖x‖, ‖x + y‖ ≤ ‖x‖ + ‖y‖."""
    found = each(lambda form: form.power(HALF), total(x * x, axis, keepdims))
    if not found.sizes and x.parts and axis is None:
        how, a, b = x.parts
        if how == "+" and a.sizes == b.sizes:
            return number(_bounded(found.entry(), euclidean(a).entry() + euclidean(b).entry()))
        if how == "@" and a.ndim == 2 and SINGLE not in a.sizes:
            return number(_bounded(found.entry(), spectral(a) * euclidean(b).entry()))
    return found


def _bounded(form: Form, by: Form) -> Form:
    """A form of one atom, or its root, which knows that it is bounded."""
    single = form.single
    if not single or single[0].bound or len(single[0].powers) != 1:
        return form
    atom, power = single[0].powers[0]
    bound = monomials.upper(by.scaled(1 / single[1]))
    known = Atom(atom.head, atom.at, atom.of, atom.sign, atom.end, bound)
    return of_atom(known, power).scaled(single[1])


def spectral(x: Tensor) -> Form:
    """‖A‖ of a matrix: ‖Aᵀ‖ = ‖A‖, ‖AB‖ ≤ ‖A‖‖B‖; that of diag(d) is max |d_i|."""
    form, (i, j) = generic(x)
    if not form.terms:
        return monomials.ZERO
    if _is_diagonal(form, i, j):
        return calculus.largest(calculus.absolute(x.entry(i, i)), i[0], x.sizes[0])
    factor, form = calculus.apart(form, {i[0], j[0]})
    single = form.single
    heads = [a.head for a, _ in single[0].powers] if single and single[1] == 1 else []
    if len(heads) == 1 and heads[0].endswith("°"):
        return factor
    rows, columns = ({i[0]: (a, 0), j[0]: (b, 0)} for a, b in (("·i", "·j"), ("·j", "·i")))
    turned = min(form.moved(rows), form.moved(columns), key=lambda f: f.key)
    upper = None
    if len(heads) == 1 and heads[0].endswith("≤"):
        upper = monomials.UNIT
    elif len(heads) == 1 and heads[0] in Products.norms:
        upper = Products.norms[heads[0]]
    elif x.parts and all(part.ndim == 2 for part in x.parts[1:]):
        how, a, b = x.parts
        one, two = spectral(a), spectral(b)
        upper = (one * two if how == "@" else one + two) * factor.power(Fraction(-1))
    sizes = ",".join(sorted(map(monomials.spelled, x.sizes)))
    known = None if upper is None else monomials.upper(upper)
    return factor * of_atom(Atom(f"‖{sizes}‖", (), (turned,), 0, None, known))


class Products:
    """Products of matrices over an index, which are letters: their names, and bounds on norms."""

    norms: ClassVar[dict[str, Form]] = {}


def chained(x: Tensor, letter: Index, order: str) -> Tensor:
    """The product over an index: of square matrices in this order, or of numbers."""
    end = Letters.ends[letter[0]]
    if not x.sizes:
        return number(calculus.product(x.entry(), letter[0], end))
    form, (i, j) = generic(x)
    if x.ndim != 2 or x.sizes[0] != x.sizes[1] or monomials.outside(form, {letter[0], i[0], j[0]}):
        refused()
    named: dict[str, Index] = {letter[0]: ("·t", 0), i[0]: ("·i", 0), j[0]: ("·j", 0)}
    head = f"∏{order}{form.moved(named).key}[{monomials.spelled(end)}]"
    Products.norms[head] = calculus.product(spectral(x), letter[0], end)
    return Tensor(x.sizes, lambda i, j: of_atom(Atom(head, (i, j))))


def _is_diagonal(form: Form, i: Index, j: Index) -> bool:
    return bool(form.terms) and all(
        any(a.head == "δ" and set(a.at) == {i, j} for a, _ in m.powers)
        for m, _ in form.terms.values()
    )


def eigenvalues(x: Any) -> Tensor:
    """Those of AᵀA, of which the last alone is known: it is ‖A‖²."""
    x = tensor(x)
    if x.parts is None or x.parts[0] != "@" or spelled(x.parts[1].T) != spelled(x.parts[2]):
        refused()
    inner = spectral(x.parts[2])
    return Tensor(x.sizes[:1], lambda i: inner * inner if i == x.sizes[0] else refused())


def clipped(x: Tensor, low: Any) -> Tensor:
    if low != 0 or x.sizes or not monomials.is_nonnegative(x.entry()):
        refused()
    return x


METHODS: dict[str, Callable[..., Any]] = {
    "sum": total, "mean": mean, "max": largest, "min": smallest, "dot": lambda a, b: a @ b,
    "transpose": lambda a: a.T, "copy": lambda a: a, "trace": trace, "diagonal": diag,
    "clip": clipped,
}  # fmt: skip
