"""Scenes that play: a process of a lecture, step by step, each from the lecture's own numbers.

Every function gives an explorer with one control that moves by itself. It begins on its way, so
that a still picture shows something. Nothing that has to stay light imports this module: it needs
matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from selfcheck import style
from selfcheck.explore import Explorer, choice, player, slider

from .attention import elu_plus_one
from .optimizers import averaging_step, descend
from .transport import cost, optimal_plan

Artists = Mapping[str, Any]
Loss = Callable[[Any], tuple[Any, Any]]  # of W: the loss, and its derivative


def _dot(ax: Any, color: str, **look: Any) -> Any:
    """A marker of that color that will be moved."""
    looks = {"color": style.COLORS[color], "markersize": 9, "markeredgecolor": "white", "zorder": 5}
    return ax.plot([], [], style.MARKERS[color], **(looks | look))[0]


def _paths(ax: Any, names: Mapping[str, tuple[Any, ...]], **look: Any) -> dict[str, Any]:
    """For each run, by label and color, a path that will grow and the dot at its end."""
    artists = {}
    for name, (label, color, *_) in names.items():
        line = style.line(color) | look
        artists[f"path {name}"] = ax.plot([], [], label=label, **line)[0]
        artists[f"dot {name}"] = _dot(ax, color)
    return artists


def the_cliff(loss: Loss, rate: float, c: float, steps: int = 60) -> Explorer:
    """Gradient descent on a loss with a cliff, with its gradients clipped at c and without."""
    names = {"plain": ("without clipping", "orange"), "clipped": ("clipped", "blue")}

    @cache
    def runs(start: float) -> dict[str, np.ndarray]:
        found = {}
        for name, most in (("plain", np.inf), ("clipped", c)):
            path = [start]
            for _ in range(steps):
                path.append(path[-1] - rate * float(np.clip(loss(path[-1])[1], -most, most)))
            found[name] = np.array(path)
        return found

    def setup(fig: Any) -> Artists:
        ax = fig.subplots()
        W = np.linspace(1.2, 2.25, 1500)
        ax.plot(W, loss(W)[0], color="#888888", linestyle="-", linewidth=1.5, label="the loss")
        ax.set(xlim=(1.2, 2.25), ylim=(-0.25, 4.3), xlabel="W", ylabel="loss")
        ax.set_title("Over the cliff, step by step")
        artists = _paths(ax, names, linewidth=1.2)
        ax.legend(loc="upper left")
        return artists

    def update(artists: Artists, step: int, start: float) -> str:
        said = []
        for name, path in runs(start).items():
            W, height = path[: step + 1], loss(path[: step + 1])[0]
            artists[f"path {name}"].set_data(W, height)
            artists[f"dot {name}"].set_data(W[-1:], height[-1:])
            seen = "" if W[-1] > 1.2 else ", out of sight on the left"
            said.append(f"{names[name][0]} W = {W[-1]:.2f}{seen}, loss {height[-1]:.2f}")
        return f"At step {step}: {'; '.join(said)}.".replace("-", "−")

    def thrown(step: int, start: float) -> bool:
        ends = {name: loss(path[step])[0] for name, path in runs(start).items()}
        return bool(ends["plain"] > 1 and ends["clipped"] < 0.1)

    return Explorer(
        setup,
        update,
        controls={
            "step": player(0, steps, value=min(8, steps), label="step", per_second=8),
            "start": slider(1.8, 2.2, value=1.9, step=0.02, label="W at the start"),
        },
        alt="The loss against W, flat and high on the right, with a cliff and a flat valley on the "
        "left, and two runs of gradient descent that come from the right.",
        goal="a start from which the clipped run ends in the valley, and the other one does not",
        reached=thrown,
    )


def down_the_valley(gradient: Callable[[Any], Any], start: Any, beta: float) -> Explorer:
    """Two runs down a narrow valley, one without memory, as paths that grow."""
    names = {"plain": ("β = 0", "orange", 0.0), "memory": (f"β = {beta:g}", "blue", beta)}

    @cache
    def runs(delta: float) -> dict[str, np.ndarray]:
        return {
            name: descend(averaging_step, gradient, start, steps=40, beta=memory, delta=delta)
            for name, (_, _, memory) in names.items()
        }

    def setup(fig: Any) -> Artists:
        ax = fig.subplots()
        x, y = np.meshgrid(np.linspace(-4.5, 4.5, 60), np.linspace(-1.6, 1.6, 40))
        levels = [0.5, 4, 16, 36, 64]
        ax.contour(x, y, x**2 + 25 * y**2, levels=levels, colors="#BBBBBB", linewidths=1)
        ax.plot(0, 0, "k+", markersize=10)
        ax.set(xlim=(-4.5, 4.5), ylim=(-1.6, 1.6), xlabel="θ₁", ylabel="θ₂")
        ax.set_title("Two paths with the same step size δ")
        artists = _paths(ax, names)
        ax.legend(loc="lower left")
        return artists

    def update(artists: Artists, step: int, delta: float) -> str:
        said = []
        for name, path in runs(delta).items():
            seen = np.clip(path[: step + 1], -1e6, 1e6)
            artists[f"path {name}"].set_data(*seen.T)
            artists[f"dot {name}"].set_data(*seen[-1:].T)
            far = float(np.linalg.norm(path[step]))
            said.append(f"{names[name][0]}: " + (f"{far:.2f}" if far < 100 else "out of sight"))
        return f"Distance from the minimum at step {step}, with {'; with '.join(said)}."

    def farther(step: int, delta: float) -> bool:
        path = runs(delta)["plain"]
        return bool(np.linalg.norm(path[step]) > np.linalg.norm(path[0]))

    return Explorer(
        setup,
        update,
        controls={
            "step": player(0, 40, value=15, label="step", per_second=5),
            "delta": choice([0.02, 0.05, 0.07, 0.09, 0.2], label="δ"),
        },
        alt="Contour lines of a narrow valley, and two paths that start at the same place.",
        goal="let the run with β = 0 be farther from the minimum than it was at the start",
        reached=farther,
    )


def online_softmax(q: Any, K: Any, V: Any) -> Explorer:
    """Attention of one query that reads keys and values one after the other; values are places."""
    scores = np.asarray(K) @ np.asarray(q)
    places, n = np.asarray(V), len(scores)
    weights = np.exp(scores - scores.max())
    whole = weights @ places / weights.sum()
    rising = np.argsort(scores)
    orders = {"as they come": np.arange(n), "rising": rising, "falling": rising[::-1]}

    def setup(fig: Any) -> Artists:
        left, middle, right = fig.subplots(1, 3, width_ratios=[1, 1, 1.1])
        at, least = np.arange(1, n + 1), min(0, scores.min()) - 0.5
        left.set(xlim=(0.3, n + 0.7), ylim=(least, scores.max() + 0.6), xticks=at)
        left.set(xlabel="key", ylabel="score", title="Scores, largest so far")
        middle.set(xlim=(0.3, n + 0.7), ylim=(0, 1.1), xticks=at)
        middle.set(xlabel="key", ylabel="term", title="$e^{score\\,-\\,largest}$")
        low, high = places.min(axis=0) - 0.3, places.max(axis=0) + 0.3
        right.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
        right.set_title("Output so far")
        right.plot(*places.T, ".", color="#999999")
        right.plot(*whole, "kx", markersize=9, label="softmax")
        right.legend(loc="best")
        return {
            "score": left.bar(at, 0 * scores, color="#CCCCCC", edgecolor="#444444"),
            "largest": left.plot([], [], **style.line("orange"))[0],
            "term": middle.bar(at, 0 * scores, color=style.COLORS["sky"], edgecolor="#444444"),
            "way": right.plot([], [], color=style.COLORS["blue"], linestyle="-", linewidth=1)[0],
            "output": _dot(right, "blue"),
        }

    def update(artists: Artists, key: int, order: str) -> str:
        taken = orders[order][:key]
        read = scores[taken]
        top = np.maximum.accumulate(read)
        for k, (bar, term) in enumerate(zip(artists["score"], artists["term"], strict=True)):
            bar.set_height(read[k] if k < key else 0)
            term.set_height(np.exp(read[k] - top[-1]) if k < key else 0)
        artists["largest"].set_data(np.arange(1, key + 1), top)
        ways = [weights[taken[:k]] @ places[taken[:k]] for k in range(1, key + 1)]
        sums = np.cumsum(weights[taken])[:, None]
        outputs = np.array(ways).reshape(-1, 2) / sums
        artists["way"].set_data(*outputs.T)
        artists["output"].set_data(*outputs[-1:].T)
        if not key:
            return "No key has been read: both sums are 0."
        words = f"After key {key}, with score {read[-1]:.1f}: "
        if key > 1 and top[-1] > top[-2]:
            words += f"a new largest, so both sums were multiplied by {_shrink(top):.2g}. "
        else:
            words += f"the largest is {top[-1]:.1f}, and nothing was shrunk. "
        words += f"Sum of the terms {np.exp(read - top[-1]).sum():.2f}."
        return words.replace("-", "−")

    return Explorer(
        setup,
        update,
        controls={
            "key": player(0, n, value=min(4, n), label="keys read", per_second=2),
            "order": choice(list(orders), label="scores"),
        },
        alt="Left: the scores that were read, and the largest so far. Middle: the terms of the "
        "sum, relative to the largest. Right: the values as dots, the output so far, and a cross "
        "where softmax over all keys puts it.",
        goal="read all keys without ever shrinking the sums",
        reached=lambda key, order: key == n and bool((np.diff(scores[orders[order]]) <= 0).all()),
    )


def _shrink(top: np.ndarray) -> float:
    return float(np.exp(top[-2] - top[-1]))


def cache_and_state(tokens: int = 12, widths: tuple[int, ...] = (2, 4, 8)) -> Explorer:
    """What softmax attention and linear attention keep while a text is read, token by token."""
    most = max(widths)

    @cache
    def text(d: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and values side by side; the states s and z after every token, side by side."""
        keys, values = np.random.default_rng(0).normal(size=(2, tokens, d))
        features = elu_plus_one(keys)
        s = np.cumsum(features[:, :, None] * values[:, None], axis=0)
        z = np.cumsum(features, axis=0)[:, :, None]
        nothing = np.zeros((1, d, d + 1))
        return np.hstack([keys, values]), np.vstack([nothing, np.concatenate([s, z], axis=2)])

    def kept(token: int, d: int) -> tuple[int, int]:
        return 2 * token * d, d * d + d

    def setup(fig: Any) -> Artists:
        left, middle, right = fig.subplots(1, 3, width_ratios=[1.9, 1.1, 1.5])
        artists: dict[str, Any] = {}
        for name, ax, columns, words in [
            ("cache", left, 2 * most, "Cache: keys | values"),
            ("state", middle, most + 1, "State: s | z"),
        ]:
            ax.set(xlim=(-0.2, columns + 0.2), ylim=(max(tokens, most) + 0.2, -0.2), aspect="equal")
            ax.set_title(words)
            ax.axis("off")
            artists[name] = ax.imshow([[np.nan]], cmap="Blues", vmin=0, vmax=1, aspect="equal")
            artists[f"{name} edge"] = ax.plot([], [], color="#444444", linestyle="-")[0]
        right.set(xlim=(0, tokens), ylim=(0, 2 * tokens * most * 1.05), xlabel="tokens read")
        right.set(ylabel="numbers kept", title="Numbers kept")
        for name, color in {"cache": "orange", "state": "green"}.items():
            artists[f"{name} line"] = right.plot([], [], label=name, **style.line(color))[0]
            artists[f"{name} dot"] = _dot(right, color)
        right.legend(loc="upper left")
        return artists

    def update(artists: Artists, token: int, d: int) -> str:
        pairs, states = text(d)
        for name, grid, scale, line in [
            ("cache", pairs[:token], np.abs(pairs).max(), d),
            ("state", states[token], np.abs(states).max(), d),
        ]:
            rows, columns = max(len(grid), 1), grid.shape[1]
            image = artists[name]
            image.set_data(np.abs(grid) / scale if len(grid) else np.zeros((1, columns)))
            image.set_extent((0, columns, rows, 0) if len(grid) else (0, columns, 0.01, 0))
            edge = [0, columns, columns, line, line, line, 0, 0]
            high = [0, 0, len(grid), len(grid), 0, len(grid), len(grid), 0]
            artists[f"{name} edge"].set_data(edge, high)
        sizes = np.array([kept(k, d) for k in range(token + 1)])
        for name, numbers in zip(("cache", "state"), sizes.T, strict=True):
            artists[f"{name} line"].set_data(np.arange(token + 1), numbers)
            artists[f"{name} dot"].set_data([token], numbers[-1:])
        cached, state = kept(token, d)
        return (
            f"After {token} tokens of width {d} the cache holds {cached} numbers: a key and a "
            f"value for each token. The state holds {state}, and every token is added to all."
        )

    return Explorer(
        setup,
        update,
        controls={
            "token": player(0, tokens, value=min(10, tokens), label="tokens read", per_second=3),
            "d": choice(list(widths), value=most, label="width d"),
        },
        alt="Left: the cache, a row of keys and values for each token. Middle: the state, a square "
        "and a column whose entries darken. Right: how many numbers each of them keeps.",
        goal=f"the first token after which the cache is larger than the state, at d = {most}",
        reached=lambda token, d: (
            d == most and kept(token, d)[0] > kept(token, d)[1] >= kept(token - 1, d)[0]
        ),
    )


def on_its_way(start: Any, end: Any) -> Explorer:
    """Mass on its way from points to as many others: it walks, or it fades from here to there."""
    start, end = np.asarray(start), np.asarray(end)
    n, both = len(start), np.vstack([start, end])

    def squared(x: np.ndarray, y: np.ndarray, wanted: np.ndarray) -> tuple[float, np.ndarray]:
        """W₂² from equal masses at x to the masses `wanted` at y, and a plan."""
        C = ((x[:, None] - y) ** 2).sum(axis=2)
        plan = optimal_plan(C, np.ones(len(x)), wanted).plan
        return cost(plan, C) / len(x), plan

    whole, plan = squared(start, end, np.ones(n))
    partner = end[plan.argmax(axis=1)]

    @cache
    def distances(how: str, t: float) -> tuple[float, float]:
        """From the start and to the end, as shares of the distance between them."""
        if how == "walk":
            return t, 1 - t  # the straight path
        there = np.repeat([1 - t, t], n)
        found = [squared(x, both[there > 0], there[there > 0])[0] / whole for x in (start, end)]
        return float(np.sqrt(found[0])), float(np.sqrt(found[1]))

    def setup(fig: Any) -> Artists:
        ax = fig.subplots()
        low, high = both.min(axis=0) - 0.5, both.max(axis=0) + 0.5
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        ax.set(xlabel="east", ylabel="north", title="Mass on its way")
        for one, other in zip(start, partner, strict=True):
            ax.plot(*np.stack([one, other]).T, color="#DDDDDD", linestyle="-", linewidth=0.8)
        ax.plot(*both.T, "o", color="none", markeredgecolor="#BBBBBB", markersize=7)
        look: dict[str, Any] = {"color": style.COLORS["blue"], "edgecolors": "none", "zorder": 3}
        return {"mass": ax.scatter(both[:, 0], both[:, 1], np.ones(2 * n), **look)}

    def update(artists: Artists, t: float, how: str) -> str:
        walks = how == "walk"
        here = np.vstack([(1 - t) * start + t * partner, end]) if walks else both
        artists["mass"].set_offsets(here)
        share = np.repeat([1.0, 0.0] if walks else [1 - t, t], n)
        artists["mass"].set_sizes(60 * share)
        gone, left = distances(how, round(t, 2))
        return (
            f"t = {t:.2f}: {gone:.2f} of the distance from the start, {left:.2f} to the end, "
            f"together {gone + left:.2f}."
        )

    return Explorer(
        setup,
        update,
        controls={
            "t": player(0.0, 1.0, value=0.4, step=0.02, label="t", per_second=12),
            "how": choice({"walks to its partner": "walk", "fades": "fade"}, label="mass"),
        },
        alt="A cloud of points on the left, a ring on the right, and lines between partners. The "
        "area of a disc is its mass.",
        goal="be on a detour: the two distances add up to more than 1.2",
        reached=lambda t, how: sum(distances(how, round(t, 2))) > 1.2,
    )
