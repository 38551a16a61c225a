"""Unit 12: right answers in several forms pass, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py.
"""

import re
from pathlib import Path

import numpy as np
import pytest
import sympy

from classroom.notebooks import read
from course_utils.attention import attention_weights, elu_plus_one, softmax
from course_utils.checks import capstone as check
from course_utils.numbers.capstone import BUGS
from course_utils.transformer import as_text, from_text, normed, train, training_and_held_out
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form

m, h, L, t = sympy.symbols("m h L t", positive=True, integer=True)
SOLUTION = Path(__file__).parents[2] / "solutions" / "12_capstone.ipynb"


# -- gradients -------------------------------------------------------------------------------------


def entropy_by_hand(Z, y):
    G = softmax(Z)
    for i, k in enumerate(y):
        G[i, k] -= 1
    return (G / len(Z)).tolist()


def entropy_by_onehot(Z, y):
    return (softmax(Z) - np.eye(Z.shape[1])[y]) / len(y)


def norm_by_jacobian(X, gain, G):
    rows = []
    for x, g in zip(X, G, strict=True):
        d, s = len(x), np.sqrt(x.var() + 1e-5)
        c = x - x.mean()
        J = (np.eye(d) - 1 / d) / s - np.outer(c, c) / (d * s**3)
        rows.append((g * gain) @ J)
    return np.array(rows)


def norm_collected(X, gain, G):
    s = np.sqrt(X.var(axis=1, keepdims=True) + 1e-5)
    hat, H = (X - X.mean(axis=1, keepdims=True)) / s, G * gain
    return (H - H.mean(axis=1, keepdims=True) - hat * (H * hat).mean(axis=1, keepdims=True)) / s


def gain_by_rows(X, G):
    return sum(g * (x - x.mean()) / np.sqrt(x.var() + 1e-5) for x, g in zip(X, G, strict=True))


def backward_sum(terms, gamma):
    """u_j = γ u_{j+1} + the term of j, from the last token to the first."""
    u, result = 0.0, []
    for term in terms[::-1]:
        u = gamma * u + term
        result.append(u)
    return np.array(result[::-1])


def pulled(Q, K, V, G, gamma):
    """The state that runs backward, and the values with a 1 behind them."""
    V = np.column_stack([V, np.ones(len(V))])
    s, sums = 0.0, []
    for q, k, v in zip(Q, K, V, strict=True):
        s = gamma * s + np.outer(k, v)
        sums.append(q @ s)
    sums = np.array(sums)
    y = sums[:, :-1] / sums[:, -1:]
    G = np.column_stack([G, -(G * y).sum(axis=1)]) / sums[:, -1:]
    return backward_sum(Q[:, :, None] * G[:, None, :], gamma), V


def values_by_running_sum(Q, K, V, G, gamma):
    u, _ = pulled(Q, K, V, G, gamma)
    return np.einsum("nml,nm->nl", u, K)[:, :-1]


def keys_by_running_sum(Q, K, V, G, gamma):
    u, V = pulled(Q, K, V, G, gamma)
    return np.einsum("nml,nl->nm", u, V)


def values_masked(Q, K, V, G, gamma):
    i = np.arange(len(Q))
    A = np.tril(gamma ** np.abs(i[:, None] - i)) * (Q @ K.T)
    return (A / A.sum(axis=1, keepdims=True)).T @ G


def keys_in_loops(Q, K, V, G, gamma):
    result = np.zeros_like(K)
    for i in range(len(Q)):
        w = [gamma ** (i - j) * (K[j] @ Q[i]) for j in range(i + 1)]
        y = w @ V[: i + 1] / sum(w)
        for j in range(i + 1):
            result[j] += gamma ** (i - j) * G[i] @ (V[j] - y) / sum(w) * Q[i]
    return result


def repaired(Q, K, V, G):
    A = attention_weights(Q, K)
    d_A = G @ V.T
    d_S = A * (d_A - (d_A * A).sum(axis=1, keepdims=True)) / np.sqrt(Q.shape[1])
    return d_S @ K, d_S.T @ Q, A.T @ G


def repaired_row_by_row(Q, K, V, G):
    A, scale = attention_weights(Q, K), Q.shape[1] ** -0.5
    d_S = np.array([(np.diag(a) - np.outer(a, a)) @ V @ g for a, g in zip(A, G, strict=True)])
    return [scale * d_S @ K, scale * (Q.T @ d_S).T, A.T @ G]


def line_of(student):
    return next(
        i
        for i, (a, b) in enumerate(
            zip(check.worksheet(student), check.BACKWARD_LINES, strict=True), 1
        )
        if a != b
    )


# -- a baseline, and the recurrence with states of several kinds -----------------------------------


def bits_by_table(training, test, levels, width):
    def upper(images):
        top = np.full((len(images), width), levels)
        return np.hstack([top, images[:, : images.shape[1] - width]])

    counts = np.ones((levels + 1, levels))
    np.add.at(counts, (upper(training), training), 1)
    p = counts / counts.sum(axis=1, keepdims=True)
    return -np.log2(p[upper(test), test]).mean()


def bits_in_loops(training, test, levels, width):
    counts = {}
    for picture in training:
        for place, level in enumerate(picture):
            pair = picture[place - width] if place >= width else None, level
            counts[pair] = counts.get(pair, 0) + 1
    total = 0.0
    for picture in test:
        for place, level in enumerate(picture):
            upper = picture[place - width] if place >= width else None
            row = [1 + counts.get((upper, other), 0) for other in range(levels)]
            total -= np.log2(row[level] / sum(row))
    return total / test.size


def start(P, heads):
    width = P["token"].shape[1] // heads
    blocks = sum(name.endswith(".q") for name in P)
    return [np.zeros((heads, width, width + 1)) for _ in range(blocks)]


def step(P, heads, state, token, t):
    x, new = P["token"][token] + P["place"][t], []
    for b, s in enumerate(state):
        a = normed(x, P[f"{b}.gain"], P[f"{b}.shift"])
        q, k, v = ((a @ P[f"{b}.{name}"]).reshape(heads, -1) for name in "qkv")
        values = np.column_stack([v, np.ones(heads)])
        s = s + elu_plus_one(k)[:, :, None] * values[:, None, :]
        sums = (elu_plus_one(q)[:, :, None] * s).sum(axis=1)
        x = x + (sums[:, :-1] / sums[:, -1:]).ravel() @ P[f"{b}.o"]
        a = normed(x, P[f"{b}.gain2"], P[f"{b}.shift2"])
        x = x + np.maximum(a @ P[f"{b}.up"], 0) @ P[f"{b}.down"]
        new.append(s)
    return new, normed(x, P["gain"], P["shift"]) @ P["out"]


def nothing_yet(P, heads):
    return {}


def dictionary_step(P, heads, state, token, t):
    """Sums by block and head, which begin when they are needed; head after head."""
    x, b = P["token"][token] + P["place"][t], 0
    while f"{b}.q" in P:
        a = normed(x, P[f"{b}.gain"], P[f"{b}.shift"])
        parts = [np.split(a @ P[f"{b}.{name}"], heads) for name in "qkv"]
        outputs = []
        for head, (q, k, v) in enumerate(zip(*parts, strict=True)):
            s, z = state.get(f"{b} {head}", (0, 0))
            s, z = s + np.outer(elu_plus_one(k), v), z + elu_plus_one(k)
            state[f"{b} {head}"] = s, z
            outputs.append(elu_plus_one(q) @ s / (elu_plus_one(q) @ z))
        x = x + np.concatenate(outputs) @ P[f"{b}.o"]
        a = normed(x, P[f"{b}.gain2"], P[f"{b}.shift2"])
        x = x + np.maximum(a @ P[f"{b}.up"], 0) @ P[f"{b}.down"]
        b += 1
    return state, (normed(x, P["gain"], P["shift"]) @ P["out"]).tolist()


def handed_in():
    """The weights that the solution hands in."""
    cells = [cell.source for cell in read(SOLUTION).cells if 'weights = """' in cell.source]
    return re.search(r'weights = """(.*?)"""', cells[0], re.DOTALL)[1]


WEIGHTS = handed_in()
d = h * m
RIGHT = {
    "entropy_gradient": [(entropy_by_hand,), (entropy_by_onehot,)],
    "norm_gradient": [(norm_collected, gain_by_rows), (norm_by_jacobian, gain_by_rows)],
    "attention_gradient": [
        (values_masked, keys_in_loops),
        (values_by_running_sum, keys_by_running_sum),
    ],
    "planted_bug": [
        (0, line_of(0), repaired),
        ("ada@example.org", str(line_of("ada@example.org")), repaired_row_by_row),
    ],
    "sizes_of_the_model": [
        (
            8 * L * d**2 + (101 + 4 * L) * d,
            L * (8 * d**2 + 2 * d * (m + 1)) + 17 * d,
            8 * L * d * (m + 1),
            16 * L * t * d,
        ),
        (
            "18*h*m + 64*h*m + L*(4*(h*m)^2 + 2*(h*m)*(2*h*m) + 2*2*h*m) + 2*h*m + 17*h*m",
            "L*(4*h²*m² + 4*h²*m² + h*m*(m+1) + h*m*(m+1)) + 17*h*m",
            "8*L*h*(m² + m)",
            "2*t*L*h*m*8",
        ),
    ],
    "baseline": [(bits_by_table,), (bits_in_loops,)],
    "fixed_state": [(start, step), (nothing_yet, dictionary_step)],
    "trained": [(WEIGHTS,)],
}  # fmt: skip

test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


# -- 12.1 to 12.3 ----------------------------------------------------------------------------------


def slopes(loss, arrays, position):
    """Each entry turned up and down by a little, and how much the loss changes."""
    x, step = arrays[position], 1e-6
    found = np.empty(x.shape)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        ends = [loss(*arrays[:position], t, *arrays[position + 1 :]) for t in (up, down)]
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_the_gradients_are_those_that_finite_differences_measure(seed):
    rng = np.random.default_rng(seed)
    Z, y = check.any_logits(rng)

    def surprise(Z):
        return -np.log(softmax(Z)[np.arange(len(y)), y]).mean()

    np.testing.assert_allclose(check.entropy_gradients(Z, y), slopes(surprise, [Z], 0), atol=1e-8)
    X, gain, G = check.NORM[seed % 2]

    def normed_loss(X, gain):
        return (G * check.normed_rows(X) * gain).sum()

    for k, exact in enumerate(check.norm_gradients(X, gain, G)):
        np.testing.assert_allclose(exact, slopes(normed_loss, [X, gain], k), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_the_gradients_of_attention_are_those_that_finite_differences_measure(seed):
    rng = np.random.default_rng(seed)
    Q, K, V, G, gamma = check.any_features(rng)

    def fading(K, V):
        return (G * check.attended(Q, K, V, gamma)).sum()

    for k, exact in enumerate(check.attended_gradients(Q, K, V, G, gamma).values()):
        np.testing.assert_allclose(exact, slopes(fading, [K, V], k), rtol=1e-5, atol=1e-7)
    q, k_, v, g = check.any_attention(rng)

    def attention(Q, K, V):
        return (g * (attention_weights(Q, K) @ V)).sum()

    for k, exact in enumerate(check.softmax_gradients(q, k_, v, g)):
        np.testing.assert_allclose(exact, slopes(attention, [q, k_, v], k), rtol=1e-5, atol=1e-7)


def _mixed_up(shift):
    def d_logits(Z, y):
        E = np.exp(Z - shift(Z))
        return (E / E.sum(1, keepdims=True) - np.eye(Z.shape[1])[y]) / len(Z)

    return d_logits


@pytest.mark.parametrize(
    "shift",
    [
        lambda Z: Z.max(),
        lambda Z: Z.min(1, keepdims=True),
        lambda Z: Z.mean(1, keepdims=True),
        lambda Z: Z[:, :1],
        lambda Z: Z.max(0, keepdims=True),
        lambda Z: 900,
    ],
)
def test_a_softmax_that_overflows_somewhere_is_refuted(shift):
    assert check.entropy_gradient(_mixed_up(shift)).outcome == "wrong"


def test_gradients_of_32_bits_are_right():
    def narrow(f):
        def single(x):
            return np.float32(x) if np.asarray(x).dtype.kind == "f" else x

        return lambda *a: np.float32(f(*map(single, a)))

    for name in ("entropy_gradient", "norm_gradient", "attention_gradient"):
        answers = RIGHT[name][0]
        assert getattr(check, name)(*map(narrow, answers)).outcome is Outcome.RIGHT


def test_another_epsilon_in_the_norm_is_seen():
    def other(X, gain, G):
        s = np.sqrt(X.var(axis=1, keepdims=True) + 1e-6)
        hat, H = (X - X.mean(axis=1, keepdims=True)) / s, G * gain
        return (H - H.mean(axis=1, keepdims=True) - hat * (H * hat).mean(axis=1, keepdims=True)) / s

    assert check.norm_gradient(other, gain_by_rows).earned == 1


def test_a_gradient_that_works_for_one_token_only_is_refuted():
    feedback = check.attention_gradient(lambda *given: given[3], lambda *given: 0 * given[1])
    assert feedback.outcome is Outcome.WRONG
    assert feedback.earned == 0


# -- 12.4 ------------------------------------------------------------------------------------------


def test_every_bug_is_one_line_that_the_definition_refutes():
    for number, bug in BUGS:
        lines = [*check.BACKWARD_LINES[: number - 1], bug, *check.BACKWARD_LINES[number:]]
        found = check.run_lines(lines, *check.PAGE)
        pairs = zip(check.softmax_gradients(*check.PAGE), found, strict=True)
        assert any(check.off(true, array) for true, array in pairs)
    right = zip(
        check.softmax_gradients(*check.PAGE),
        check.run_lines([*check.BACKWARD_LINES], *check.PAGE),
        strict=True,
    )
    assert not any(check.off(true, array) for true, array in right)


@pytest.mark.parametrize("student", range(12))
def test_one_line_of_six_is_right_for_each_student(student):
    earned = [check.planted_bug(student, line, repaired).earned for line in range(1, 7)]
    assert sorted(earned) == [1, 1, 1, 1, 1, 2]


def test_students_have_different_bugs():
    assert len({tuple(check.worksheet(student)) for student in range(40)}) == len(BUGS)


@pytest.mark.parametrize("line", [0, 7, 2.5, -1])
def test_a_line_that_is_not_there_gets_a_sentence(line):
    assert "the lines have the numbers 1 to 6" in check.planted_bug(0, line, repaired).says


# -- 12.7 ------------------------------------------------------------------------------------------


def test_a_cache_writes_the_right_pixels_for_two_points():
    known = {mistake.name: mistake for mistake in check.fixed_state.misconceptions}
    feedback = check.fixed_state(*known["a state that grows"].example)
    assert (feedback.earned, feedback.misconception) == (2, "a state that grows")


def test_a_state_that_is_left_over_from_the_last_picture_is_found():
    kept = {}

    def remembered(P, heads):
        return kept.setdefault(len(P["place"]), start(P, heads))

    def in_place(P, heads, state, token, t):
        new, logits = step(P, heads, state, token, t)
        for old, fresh in zip(state, new, strict=True):
            old += fresh - old
        kept[len(P["place"])] = state
        return state, logits

    assert check.fixed_state(remembered, in_place).outcome is not Outcome.RIGHT


def test_a_state_that_takes_in_the_first_pixels_of_a_picture_alone_is_refuted():
    def full_after_50(P, heads, state, token, t):
        new, logits = step(P, heads, state, token, t)
        return (new if t < 50 else state), logits

    assert check.fixed_state(start, full_after_50).earned == 0


def test_the_packages_own_way_to_write_is_no_answer():
    from course_utils.transformer import FixedState

    feedback = check.fixed_state(lambda P, heads: FixedState(None), step)
    assert feedback.outcome is not Outcome.RIGHT


# -- 12.8 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights", ["".join(WEIGHTS.split()), from_text(WEIGHTS)], ids=["line", "θ"]
)
def test_weights_may_be_one_line_or_an_array(weights):
    assert check.trained(weights).outcome is Outcome.RIGHT


def test_weights_are_evaluated_on_held_out_digits():
    _, held_out = training_and_held_out()
    bits = check.SMALL.bits(from_text(WEIGHTS), held_out)
    assert bits < check.GOAL
    assert f"{bits:.3f}" in check.trained(WEIGHTS).says


def test_weights_between_the_table_and_the_goal_earn_one_point():
    """Halfway between the solution's weights and none, on a line that the bits rise along."""
    theta, _ = from_text(WEIGHTS), training_and_held_out()
    shrunk = theta * np.where(np.arange(theta.size) < theta.size - 16 * 17, 1, 0.55)
    feedback = check.trained(as_text(shrunk))
    assert feedback.earned == 1
    assert "better than the table of the pixel before" in feedback.says


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("nothing", "copy all of it"),
        (as_text(np.zeros(7)), r"shape \(7,\)"),
        (WEIGHTS[:-200], "copy all of it"),
        (np.full(3728, 1e9), "contains"),
        (1.7, "shape"),
    ],
)
def test_what_cannot_be_weights_gets_a_sentence(answer, says):
    feedback = check.trained(answer)
    assert re.search(says, feedback.says)
    assert feedback.earned == 0


@pytest.mark.parametrize(
    ("less", "name"),
    [
        (lambda Z: 0, "exp of large logits"),
        (lambda Z: Z.max(), "one maximum for all rows"),
        (lambda Z: Z.min(axis=1, keepdims=True), "the smallest logit subtracted"),
        (lambda Z: Z.mean(axis=1, keepdims=True), "the mean of a row subtracted"),
        (lambda Z: Z[:, :1], "the first logit subtracted"),
    ],
)
def test_a_softmax_that_overflows_is_wrong_and_named(less, name):
    def d_logits(Z, y):
        E = np.exp(Z - less(Z))
        return (E / E.sum(axis=1, keepdims=True) - np.eye(Z.shape[1])[y]) / len(Z)

    feedback = check.entropy_gradient(d_logits)
    assert feedback.earned == 0
    assert [m.name for m in feedback.mistakes] == [name]


@pytest.mark.parametrize(
    ("sigma", "name"),
    [
        (lambda X: X.std(1, keepdims=True), "ε forgotten"),
        (lambda X: X.std(1, keepdims=True) + 1e-5, "ε outside of the root"),
        (
            lambda X: np.sqrt(X.var(1, keepdims=True, ddof=1) + 1e-5),
            "the variance of a sample",
        ),
        (lambda X: np.sqrt(X.var(1, keepdims=True) + 1e-6), None),
    ],
)
def test_slips_of_sigma_are_refuted_aloud_and_named(sigma, name):
    def d_x(X, gain, G):
        H, hat = G * gain, (X - X.mean(1, keepdims=True)) / sigma(X)
        mean, along = H.mean(1, keepdims=True), (H * hat).mean(1, keepdims=True)
        return (H - mean - hat * along) / sigma(X)

    def d_gain(X, G):
        return (G * (X - X.mean(1, keepdims=True)) / sigma(X)).sum(axis=0)

    feedback = check.norm_gradient(d_x, d_gain)
    assert feedback.earned == 0
    assert {m.name for m in feedback.mistakes} == ({name} if name else set())
    sides = re.findall(r"should be \[([^,\]]*).*?yours is \[([^,\]]*)", feedback.says)
    assert len(sides) == 2
    for pair in sides:
        assert not np.isclose(*(float(x.replace("−", "-")) for x in pair), rtol=1e-3)


def bits_with(upper, count, chances, evaluated=lambda table, up, test: table[up, test]):
    def bits(training, test, levels, width):
        counts = np.ones((levels + 1, levels))
        count(counts, upper(training, levels, width), training)
        return -np.log2(evaluated(chances(counts), upper(test, levels, width), test)).mean()

    return bits


def one_row_up(images, levels, width):
    nothing = np.full((len(images), width), levels)
    return np.hstack([nothing, images])[:, : images.shape[1]]


def add_all(counts, upper, level):
    np.add.at(counts, (upper, level), 1)


def add_once(counts, upper, level):
    counts[upper, level] += 1


def by_row(counts):
    return counts / counts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("bits", "name"),
    [
        (bits_with(one_row_up, add_once, by_row), "pairs that come twice counted once"),
        (
            bits_with(lambda images, levels, width: np.roll(images, width, 1), add_all, by_row),
            "the first row below the last",
        ),
        (
            bits_with(lambda *a: np.where((u := one_row_up(*a)) == a[1], 0, u), add_all, by_row),
            "the first row below level 0",
        ),
        (
            bits_with(one_row_up, add_all, lambda c: c / (c.sum(axis=1, keepdims=True) + 1)),
            "one more in the divisor",
        ),
    ],
)
def test_common_slips_of_the_baseline_have_names(bits, name):
    feedback = check.baseline(bits)
    assert feedback.earned == 0
    assert [m.name for m in feedback.mistakes] == [name]


@pytest.mark.slow  # they have to be trained
def test_weights_that_learned_the_held_out_digits_earn_nothing():
    _, held_out = training_and_held_out()
    theta = train(check.SMALL, held_out, 250, rate=1e-2)
    feedback = check.trained(theta)
    assert feedback.earned == 0
    assert "the digits that were held out" in feedback.says


@pytest.mark.parametrize("bits", [2.0002, 2.004, 2.006, 2.2502, 2.26])
def test_bits_near_a_border_contradict_nothing(bits, monkeypatch):
    monkeypatch.setattr(check.Model, "bits", lambda *_: bits)
    feedback = check.trained(from_text(WEIGHTS))
    assert feedback.earned == (2 if bits < 2.005 else 1 if bits < 2.255 else 0)
    assert "2.000 bits per pixel: " not in feedback.says


def test_what_was_long_ago_still_counts_where_nothing_fades():
    def d_v(Q, K, V, G, gamma):
        i = np.arange(len(Q))
        age = i[:, None] - i
        A = np.where((age >= 0) & (age < 30), gamma ** np.abs(age), 0) * (Q @ K.T)
        return (A / A.sum(axis=1, keepdims=True)).T @ G

    assert "By the values" in check.attention_gradient(d_v, d_v).says


def test_bits_that_are_never_a_number_are_not_counts_from_0():
    for never in (np.nan, np.inf):
        feedback = check.baseline(lambda training, test, levels, width, bits=never: bits)
        assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)
