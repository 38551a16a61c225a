"""Proofs entry by entry: a function tells what it computes, and nothing false is proved."""

import ast
import copy
import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from course_utils.attention import softmax
from course_utils.derivation import (
    Derivation,
    activation,
    contraction,
    integers,
    interval,
    invertible,
    matrix,
    orthogonal,
    real,
    sequence,
    simplex,
    symmetric,
    vector,
)
from selfcheck.derivation import monomials
from selfcheck.derivation.entries import Entries
from selfcheck.derivation.monomials import Letters, Unknown
from selfcheck.derivation.tensors import Tensor
from selfcheck.derivation.tracing import traced

V = {
    "x y z": vector("n"),
    "A": matrix("n", "n"),
    "B": matrix("n", "n"),
    "C": matrix("n", "m"),
    "c d": real,
}
SMALL = matrix("n", "n", interval(-3, 3))
F = {
    **V,
    "A": SMALL,
    "B": SMALL,
    "sigma": activation(),
    "p": simplex("n"),
    "W": invertible("n"),
    "O": orthogonal("n"),
    "S": symmetric("n"),
}


def line(start, relation, now, where):
    return Derivation(start, [(relation, now, "")], where=where).check().lines[0]


def rung(start, relation, now, where):
    """What this rung alone says, without any trial."""
    made = Derivation(start, [(relation, now, "")], where=where)
    before, after = made.expressions
    instances = made._instances
    try:
        entries = Entries(instances.domains, instances.sizes, instances.given, made.reader)
        return entries.rung_of(before, after, relation)
    except Unknown:
        return None


# -- a form has the value that NumPy computes ------------------------------------------------------


def value_of(form, arrays, sizes, places):
    """The value of a form at these places, by its definition."""

    def index(at, bound):
        letter, more = at
        if not letter:
            return more
        return {**sizes, **places, **bound}[letter] + more

    def atom(a, bound):
        at = [index(i, bound) for i in a.at]
        of = [whole(f, bound) for f in a.of] if a.head != "max" else []
        if a.head.startswith("$"):
            return arrays[a.head[1:]][tuple(i - 1 for i in at)]
        if a.head.startswith("#"):
            return float(Fraction(a.head[1:]))
        if a.head == "max":
            name = f"·{a.height}"
            last = index(a.end, bound)
            return max(whole(a.of[0], {**bound, name: k}) for k in range(1, last + 1))
        known = {
            "№": lambda: at[0], "δ": lambda: float(at[0] == at[1]), "()": lambda: of[0],
            "exp": lambda: math.exp(of[0]), "log": lambda: math.log(of[0]),
            "abs": lambda: abs(of[0]), "tanh": lambda: math.tanh(of[0]),
        }  # fmt: skip
        return known[a.head]()

    def whole(f, bound):
        total = 0.0
        for monomial, c in f.terms.values():
            letters = list(monomial.bound)
            ranges = [range(1, index(monomial.bound[x], bound) + 1) for x in letters]
            for places in itertools.product(*ranges):
                inner = {**bound, **dict(zip(letters, places, strict=True))}
                factors = [atom(a, inner) ** float(p) for a, p in monomial.powers]
                total += float(c) * math.prod(factors)
        return total

    return whole(form, {})


NUMBERS = ["{v} @ {v}", "{m}.sum()", "np.trace({s})", "{v}.mean()", "{v}.max()", "c", "{n} * {n}",
           "{n} - {n}", "np.exp(-abs({n}))", "sum(a * b for a, b in zip({v}, {v}))", "0.5",
           "np.sqrt(({v} ** 2).sum() + 1)", "{n} / (1 + {n} ** 2)", "abs({n})", "len(x)",
           "sum({s}[i, i] for i in range(len(x)))", "np.linalg.norm({v} + 1) ** 2",
           "np.log(1 + {n} ** 2)"]  # fmt: skip
VECTORS = ["x", "y", "{s} @ {v}", "{m} @ w", "{v} + {v}", "{v} * {v}", "{n} * {v}", "{v} - {n}",
           "{s}.sum(axis=0)", "{m}.sum(1)", "np.diag({s})", "{v} @ {s}", "np.tanh({v})",
           "np.exp(-{v} ** 2)", "{v} / (1 + {v} ** 2)", "{s}[0]", "{s}[:, -1]", "{s}.max(axis=1)",
           "sum(a * b for a, b in zip({v}, {s}))", "{v} - {v}.mean()", "softmax({v})"]  # fmt: skip
SQUARES = ["A", "{s}.T", "{s} @ {s}", "np.diag({v})", "np.outer({v}, {v})", "{s} + {s}",
           "{s} * {v}", "{m} @ {m}.T", "{s} * {v}[:, None]", "np.eye(len(x))", "softmax({s})",
           "{s} / (1 + {s} ** 2).sum(axis=1, keepdims=True)"]  # fmt: skip
MATRICES = ["C", "{s} @ {m}", "{m} * {n}", "{v}[:, None] * {m}", "{m} - {m}", "{m} + w",
            "softmax({m}, axis=0)", "np.outer({v}, w)"]  # fmt: skip
WAYS = {"n": NUMBERS, "v": VECTORS, "s": SQUARES, "m": MATRICES}
SHAPES = {"x": "n", "y": "n", "w": "m", "A": "nn", "C": "nm", "c": ""}


def program(rng, kind, depth):
    """A random program of NumPy that gives a number, a vector or a matrix."""
    ways = [w for w in WAYS[kind] if depth or "{" not in w]
    text = rng.choice(ways)
    while "{" in text:
        start = text.index("{")
        inner = program(rng, text[start + 1], max(depth - 1, 0))
        text = f"{text[:start]}({inner}){text[start + 3 :]}"
    return text


@pytest.mark.parametrize("seed", range(60))
def test_what_a_function_tells_is_what_numpy_computes(seed):
    rng, tried = Random(seed), 0
    while tried < 4:
        text = program(rng, rng.choice("nvsm"), rng.choice([1, 2, 2, 3]))
        f = eval(f"lambda x, y, w, A, C, c: {text}", {"np": np, "softmax": softmax})
        Letters.ends.clear()
        Letters.splits = rng.random() < 0.5
        letters = {
            n: Tensor(
                tuple((s, 0) for s in shape),
                lambda *at, n=n: monomials.of_atom(monomials.Atom(f"${n}", at)),
            )
            for n, shape in SHAPES.items()
        }
        try:
            told = traced(f, letters)
            at = [Letters.fresh(size) for size in told.sizes]
            form = told.entry(*at)
        except Unknown:
            continue
        tried += 1
        for n, m in ((1, 1), (3, 2)):
            sizes = {"n": n, "m": m}
            draws = np.random.default_rng(seed + n)
            arrays = {k: draws.uniform(-1, 1, [sizes[s] for s in v]) for k, v in SHAPES.items()}
            expected = np.asarray(f(**arrays))
            assert expected.ndim == len(at)
            for spot in itertools.product(*(range(sizes[s[0]]) for s in told.sizes)):
                places = {a[0]: k + 1 for a, k in zip(at, spot, strict=True)}
                found = value_of(form, arrays, sizes, places)
                assert found == pytest.approx(expected[spot], rel=1e-9, abs=1e-9), text


def last_row(A):
    for a in A:  # noqa: B007
        pass
    return a


def first_row(A):
    for a in A:
        return a


def in_place(x):
    y = x
    y += 1
    return x


COUNTS = [0]


def counting(x):
    COUNTS[0] += 1
    return x * COUNTS[0]


@pytest.mark.parametrize(
    "f",
    [
        lambda A, x: sum(x @ last_row(A) for _ in x),
        lambda A, x: sum(x @ first_row(A) for _ in x),
        lambda A, x: last_row(A),
        lambda A, x: sum(a for a in A if a is not x) if x.sum() > 0 else x,
        lambda A, x: sum(x[i - 1] for i in range(len(x))),
        lambda A, x: next(iter(A)),
        lambda A, x: in_place(x),
        lambda A, x: counting(x),
        lambda A, x: np.random.default_rng(0).normal() * x,
        lambda A, x: np.array([a @ x for a in A]),
        lambda A, x: float(x @ x) if len(x) == 2 else x @ x,
        lambda A, x: max(x) * x,
        lambda A, x: x.astype(int),
        lambda A, x: getattr(x, "T"),  # noqa: B009
    ],
)
def test_what_cannot_be_followed_is_refused(f):
    Letters.ends.clear()
    letters = {
        n: Tensor(
            tuple((s, 0) for s in SHAPES[n]),
            lambda *at, n=n: monomials.of_atom(monomials.Atom(n, at)),
        )
        for n in "Ax"
    }
    with pytest.raises(Unknown):
        traced(f, letters).entry(*[Letters.fresh(("n", 0))] * 1)


# -- what is proved, and its false neighbors -------------------------------------------------------


def half_square(x):
    return x @ x / 2


def normed(x):
    centered = x - x.mean()
    return centered / np.sqrt((centered**2).mean() + 1e-5)


FUNCTIONS = [
    ("x, y: np.exp(x @ y)",
     "x, y: np.exp(half_square(x + y)) * np.exp(-half_square(x)) / np.exp(half_square(y))"),
    ("A, C: A.T @ C", "A, C: sum(np.outer(a, c) for a, c in zip(A, C, strict=True))"),
    ("A, C: A.T @ C", "A, C: A[:-1].T @ C[:-1] + np.outer(A[-1], C[-1])"),
    ("A, x: softmax(A) @ x",
     "A, x: np.linalg.inv(np.diag(np.exp(A).sum(axis=1))) @ np.exp(A) @ x"),
    ("x, c: softmax(x + c)", "x, c: softmax(x)"),
    ("A, B: np.trace(A @ B.T)", "A, B: np.sum(A * B)"),
    ("x, y, A: x @ (A @ y)", "x, y, A: np.trace(np.outer(y, x) @ A)"),
    ("W, x, y, sigma: sigma(W @ np.linalg.solve(W, x - y) + y)", "x, y, W, sigma: sigma(x)"),
    ("x, O: np.linalg.norm(O @ x)", "x, O: np.linalg.norm(x)"),
    ("p, x, c: p @ (x - c)", "p, x, c: p @ x - c"),
    ("x, y: normed(x).sum()", "x, y: 0.0"),
    ("x, y: (x - x.mean()) @ (y - y.mean())", "x, y: x @ y - len(x) * x.mean() * y.mean()"),
    ("A, x, y: sum(A[i, j] * x[i] * y[j] for i in range(len(x)) for j in range(len(y)))",
     "A, x, y: x @ A @ y"),
    ("x, y, A: np.diag(x) @ A @ np.diag(y)", "x, y, A: x[:, None] * A * y"),
]  # fmt: skip
TEXTS = [
    (r"x^\top A y", r"y^\top A^\top x"),
    (r"\operatorname{diag}(x) y", r"\operatorname{diag}(y) x"),
    (r"\operatorname{tr}(A \operatorname{diag}(x))", r"\sum_{i} A_{ii} x_i"),
    (r"\|A - B\|_F^2", r"\|A\|_F^2 - 2\operatorname{tr}(A^\top B) + \|B\|_F^2"),
    (r"\|Ox\|^2", r"x^\top x"),
    (r"(\mathbf{1}^\top x)^2", r"\sum_{i} \sum_{j} x_i x_j"),
    (r"x \odot (y + z)", r"\operatorname{diag}(x) y + z \odot x"),
    (r"x^\top S y", r"y^\top S x"),
    (r"\operatorname{softmax}(x + c\mathbf{1})", r"\operatorname{softmax}(x)"),
    (r"\frac{\partial}{\partial x} x^\top A x", r"(A + A^\top) x"),
    (r"\frac{\partial}{\partial x} \sigma(Ax)", r"\operatorname{diag}(\sigma'(Ax)) A"),
    (r"\frac{\partial}{\partial A} \|Ax - y\|^2", r"2 (Ax - y) x^\top"),
    (r"\frac{\partial}{\partial x} \|x\|", r"\frac{x}{\|x\|}"),
    (
        r"\frac{\partial}{\partial z} \operatorname{softmax}(z)",
        r"\operatorname{diag}(\operatorname{softmax}(z))"
        r"- \operatorname{softmax}(z) \operatorname{softmax}(z)^\top",
    ),
    (r"\frac{\partial}{\partial z} \ln\sum_i e^{z_i}", r"\operatorname{softmax}(z)"),
]
INEQUALITIES = [
    ("x^\\top y", "≤", r"\|x\|\|y\|", V),
    (r"|x^\top A y|", "≤", r"\|x\| \|Ay\|", V),
    (r"\|x + y\|", "≤", r"\|x\| + \|y\|", V),
    (r"\|ABx\|", "≤", r"\|A\| \|B\| \|x\|", V),
    (r"\|x + y\|^2", "≤", r"2\|x\|^2 + 2\|y\|^2", V),
    (r"\|Gx\|", "≤", r"\|x\|", {"G": contraction("n"), "x": vector("n")}),
    (lambda x, y, sigma: abs(sigma(x @ y) - sigma(0.0 * (x @ y))), "≤",
     lambda x, y, sigma: sigma.gamma * abs(x @ y), F),
    (lambda A, x: softmax(A)[0] @ np.exp(x), "≤", lambda x: np.exp(x).sum(), F),
    (lambda A, x: np.linalg.norm(A @ np.diag(np.exp(-(x**2))), 2), "≤",
     lambda A: np.linalg.norm(A, 2), F),
]  # fmt: skip


KINDS = {n: d for key, d in F.items() for n in key.split()}
KNOWN = {"np": np, "softmax": softmax, "half_square": half_square, "normed": normed}


def made(text):
    return eval(f"lambda {text}", KNOWN)


@pytest.mark.parametrize(("before", "now"), FUNCTIONS)
def test_functions_that_say_the_same_for_all_sizes_are_proved(before, now):
    found = line(made(before), "=", made(now), KINDS)
    assert found.how == "proved (entry by entry)"


@pytest.mark.parametrize(("before", "now"), TEXTS)
def test_text_about_entries_is_proved(before, now):
    assert line(before, "=", now, F).mark == "proved"


@pytest.mark.parametrize(("before", "relation", "now", "where"), INEQUALITIES)
def test_inequalities_of_norms_and_sums_are_proved_term_by_term(before, relation, now, where):
    assert line(before, relation, now, where).how == "proved (term by term)"
    assert rung(now, "≤", before, where) is None


# -- products over an index, and Gaussian integrals ------------------------------------------------

J = {
    "where": {
        "C": contraction("n"), "sigma": activation(2), "h": sequence(vector("n")),
        "J D": sequence(matrix("n", "n")), "delta": interval(0, 1), "T": integers(1, 4),
    },
    "given": {
        "gamma": lambda sigma: sigma.gamma, "W": r"\frac{\delta}{\gamma} C",
        "D_t": r"\operatorname{diag}(\sigma'(h_{t-1}))", "J_t": "W D_t",
    },
    "products": "left",
}  # fmt: skip
GAUSS = {"where": {"x y w": vector("d", interval(-1, 1)), "d": integers(1, 2), "a": real}}
CHAINS = [
    (r"\|\prod_{t=1}^{T} J_t\| \le \prod_{t=1}^{T} \|J_t\|", J),
    (r"\prod_{t=1}^{T} \|J_t\| = \prod_{t=1}^{T} \|W \operatorname{diag}(\sigma'(h_{t-1}))\|", J),
    (r"\prod_{t=1}^{T} \|W D_t\| \le \prod_{t=1}^{T} \|W\| \|D_t\|", J),
    (r"\prod_{t=1}^{T} \|W\| \|D_t\| \le (\gamma \|W\|)^T", J),
    (r"(\gamma \|W\|)^T \le \delta^T", J),
    (r"\int_w e^{-\frac12\|w-x\|^2} dw = (2\pi)^{d/2}", GAUSS),
    (r"(2\pi)^{-d/2} \int_w e^{-\|w\|^2/2 + w^\top x} dw = e^{\|x\|^2/2}", GAUSS),
    (r"\mathbb{E}_{w\sim\mathcal{N}(0,I)}[e^{w^\top x} e^{w^\top y}] = e^{\|x+y\|^2/2}", GAUSS),
    (r"\mathbb{E}_{w\sim\mathcal{N}(0,I)}[e^{w^\top x - \|x\|^2/2}] = 1", GAUSS),
]


@pytest.mark.parametrize(("tex", "told"), CHAINS)
def test_products_of_jacobians_and_gaussian_integrals_are_proved(tex, told):
    (found,) = Derivation(tex, **told).check().lines
    assert found.how in ("proved (entry by entry)", "proved (term by term)")


def test_products_in_another_order_are_not_the_same():
    where = {"J": sequence(matrix("n", "n")), "T": integers(2, 5)}
    for dots in (r"J_T J_{T-1} \cdots J_1", r"J_1 J_2 \cdots J_T"):
        made = Derivation(rf"\prod_{{t=1}}^T J_t = {dots}", where=where, products="left")
        (found,) = made.check().lines
        assert found.mark != "proved" or "J_T J" in dots


def test_a_power_t_of_a_number_is_no_transpose():
    made = Derivation(r"\delta^T = \delta", where={"delta": interval(0, 1), "T": integers(1, 4)})
    assert made.check().lines[0].mark == "false"


# -- slips -----------------------------------------------------------------------------------------


def slips(text):
    """The same function with one slip."""
    for tree in slipped(ast.parse(f"lambda {text}", mode="eval")):
        yield ast.unparse(tree).removeprefix("lambda ")


def slipped(tree, names=()):
    """One slip: a sign, an order, a factor, a number, a transpose, a name."""
    for k, node in enumerate(ast.walk(tree)):
        for change in _changes(node, names):
            other = copy.deepcopy(tree)
            spot = list(ast.walk(other))[k]
            if isinstance(new := change(spot), ast.expr):
                other = _Put(spot, new).visit(other)
            yield ast.fix_missing_locations(other)


class _Put(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else super().generic_visit(node)


OTHERS = {ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Add, ast.Div],
          ast.Div: [ast.Mult], ast.MatMult: [ast.Mult], ast.Pow: [ast.Mult]}  # fmt: skip


def _changes(node, names):
    match node:
        case ast.BinOp(op=op):
            for other in OTHERS.get(type(op), []):
                yield lambda n, o=other: setattr(n, "op", o())
            yield lambda n: ast.BinOp(n.right, n.op, n.left)
            yield lambda n: n.left
            yield lambda n: n.right
        case ast.Constant(value=int() | float()):
            for other in (node.value + 1, -node.value, 2 * node.value):
                yield lambda n, o=other: setattr(n, "value", o)
        case ast.UnaryOp() | ast.Attribute(attr="T"):
            yield lambda n: getattr(n, "operand", None) or n.value
        case ast.Call(args=[_, *_]):
            yield lambda n: n.args[0]
        case ast.Name(id=name) if name in (names or {*SHAPES, "p", "W", "O"}):
            for other in sorted({*(names or SHAPES.keys() - {"w"})} - {name}):
                yield lambda n, o=other: setattr(n, "id", o)


def differ(before, now):
    """Whether two functions have different values at some drawn arrays, or no value."""
    for seed in range(3):
        draws = np.random.default_rng(seed)
        sizes = {"n": 3, "m": 2}
        values = {k: draws.uniform(-1, 1, [sizes[s] for s in v]) for k, v in SHAPES.items()}
        values |= {"z": draws.uniform(-1, 1, 3), "B": draws.uniform(-1, 1, (3, 3)),
                   "d": 0.3, "W": draws.uniform(-1, 1, (3, 3)), "p": softmax(draws.normal(size=3)),
                   "O": np.linalg.qr(draws.normal(size=(3, 3)))[0],
                   "sigma": KINDS["sigma"].simple()[seed]}  # fmt: skip
        try:
            a, b = (np.asarray(f(**{n: values[n] for n in _parameters(f)})) for f in (before, now))
            same = a.shape == b.shape and np.allclose(a, b, rtol=1e-7, atol=1e-9)
        except Exception:
            return True
        if not same:
            return True
    return False


def _parameters(f):
    return f.__code__.co_varnames[: f.__code__.co_argcount]


@pytest.mark.parametrize(("before", "now"), FUNCTIONS)
def test_no_slip_is_proved(before, now):
    false = 0
    for one, other in [(before, t) for t in slips(now)] + [(t, now) for t in slips(before)]:
        try:
            pair = made(one), made(other)
        except SyntaxError:
            continue
        if differ(*pair):
            false += 1
            assert rung(pair[0], "=", pair[1], KINDS) is None, (one, other)
    assert false >= 2


def fails(made, before, now, relation):
    """Whether a relation fails by far at some instance, or the line has no value there."""
    rough = before.rough or now.rough
    for instance in made._instances.all[: 4 if rough else 40]:
        try:
            a, b = (np.asarray(e.value(instance.complete), float) for e in (before, now))
        except Exception:
            continue
        if not np.isfinite(a).all():
            continue
        gap = {"=": np.abs, "≤": np.positive, "≥": np.negative}[relation](a - b).max()
        if a.shape != b.shape or not gap <= 1e-6 * max(np.abs(a).max(), np.abs(b).max(), 1e-9):
            return True
    return False


LINES = [
    *((f"{a} = {b}", {"where": F}) for a, b in TEXTS),
    *((f"{a} {r} {b}", {"where": w}) for a, r, b, w in INEQUALITIES if isinstance(a, str)),
    *CHAINS,
]


@pytest.mark.parametrize(("tex", "told"), LINES)
def test_no_slip_in_text_is_proved(tex, told):
    made = Derivation(tex, **told)
    before, now = made.expressions
    (relation,) = (line.relation for line in made.lines)
    used = {n.id for n in ast.walk(ast.Tuple([before.tree, now.tree])) if isinstance(n, ast.Name)}
    names = {
        n for n in used & made.reader.names.keys() if not made.reader.compiler.kinds[n].function
    }
    sides = [(made.start, before, False), (made.lines[0].expr, now, True)]
    instances, false = made._instances, 0
    for text, side, second in sides:
        for tree in slipped(side.tree, names) if side.sympy is None else ():
            try:
                other = made.reader.read(text, lambda _, t=tree: t)
            except Exception:
                continue
            pair = (before, other) if second else (other, now)
            if other.shape == side.shape and fails(made, *pair, relation):
                false += 1
                entries = Entries(instances.domains, instances.sizes, instances.given, made.reader)
                try:
                    assert entries.rung_of(*pair, relation) is None, ast.unparse(tree)
                except Unknown:
                    continue
    assert false


def test_proofs_in_several_threads_do_not_disturb_each_other():
    where = {"A B": matrix("n", "n"), "x y": vector("n")}
    lines = {
        r"\sum_i \sum_j x_i A_{ij} y_j = x^\top A y": "proved (entry by entry)",
        r"\|A B x\| \le \|A\|\|B\|\|x\|": "proved (term by term)",
    }
    with ThreadPoolExecutor(4) as pool:
        texts = list(lines) * 4
        reports = pool.map(lambda text: Derivation(text, where=where).check(), texts)
        assert [report.sentence for report in reports] == [
            f"The line is {lines[text]}." for text in texts
        ]
