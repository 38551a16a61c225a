"""The transformer of unit 12: 8×8 digits as 64 tokens of 17 gray levels, trained, and writing.

All parameters are one vector θ, as the rules of units 02 and 03 have it; `Model.unpack` names its
parts. `python -m course_utils.transformer` trains the weights that come with the course.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from selfcheck.reserved import answer

from . import autodiff as ad
from .attention import elu_plus_one, softmax
from .autodiff import Node
from .optimizers import AdamState, adamw_step

DATA = Path(__file__).parent / "data"
TRAINING = 1500  # the first digits are for training, the others are held out
Rule = Callable[[Any, np.ndarray, np.ndarray, float], tuple[Any, np.ndarray]]


# -- the digits -----------------------------------------------------------------------------------


def digits() -> tuple[np.ndarray, np.ndarray]:
    """1,797 handwritten digits, (1797, 64) gray levels 0 … 16, and what they show, 0 … 9."""
    with np.load(DATA / "digits.npz") as stored:
        return stored["images"].astype(np.int64), stored["labels"].astype(np.int64)


def training_and_held_out() -> tuple[np.ndarray, np.ndarray]:
    """The images to learn from, and those that no training sees."""
    images, _ = digits()
    return images[:TRAINING], images[TRAINING:]


# -- the model ------------------------------------------------------------------------------------


@answer
@dataclass(frozen=True)
class Model:
    """The sizes of a model: attention is "linear" or "softmax", `blocks` blocks of this width."""

    attention: str = "linear"
    width: int = 32
    heads: int = 4
    blocks: int = 2
    levels: int = 17
    length: int = 64

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every array of parameters, by its name, in the order of θ."""
        d = self.width
        shapes: dict[str, tuple[int, ...]] = {
            "token": (self.levels + 1, d),  # the last row stands before the first pixel
            "place": (self.length, d),
        }
        for b in range(self.blocks):
            shapes |= {f"{b}.gain": (d,), f"{b}.shift": (d,)}
            shapes |= {f"{b}.{name}": (d, d) for name in ("q", "k", "v", "o")}
            shapes |= {f"{b}.gain2": (d,), f"{b}.shift2": (d,)}
            shapes |= {f"{b}.up": (d, 2 * d), f"{b}.down": (2 * d, d)}
        return shapes | {"gain": (d,), "shift": (d,), "out": (d, self.levels)}

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def unpack(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """The parts of θ by their names."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes.values()])
        parts = np.split(theta, ends[:-1])
        named = zip(self.shapes.items(), parts, strict=True)
        return {name: part.reshape(shape) for (name, shape), part in named}

    def draw(self, seed: int = 0) -> np.ndarray:
        """θ before training: gains 1, shifts 0, every matrix with entries of size 1/√rows."""
        rng = np.random.default_rng(seed)
        parts = [self._drawn(rng, name, shape) for name, shape in self.shapes.items()]
        return np.concatenate([part.ravel() for part in parts])

    def _drawn(self, rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
        if len(shape) == 1:
            return np.full(shape, 1.0 if "gain" in name else 0.0)
        size = 0.06 if name in ("token", "place") else 1 / math.sqrt(shape[0])
        return size * rng.normal(size=shape)

    def shifted(self, images: np.ndarray) -> np.ndarray:
        """What is seen when a pixel is predicted: the start token, and all pixels but the last."""
        start = np.full((len(images), 1), self.levels)
        return np.concatenate([start, images[:, :-1]], axis=1)

    def logits(self, P: dict[str, Node], tokens: np.ndarray) -> Node:
        """(count, n) tokens to (count, n, levels): what comes next, after each of them."""
        count, n = tokens.shape
        h = ad.take(P["token"], tokens) + ad.take(P["place"], np.arange(n))

        def heads(a: Node) -> Node:
            return ad.swap(ad.reshape(a, count, n, self.heads, -1), 1, 2)

        for b in range(self.blocks):
            a = ad.layer_norm(h, P[f"{b}.gain"], P[f"{b}.shift"])
            q, k, v = (heads(a @ P[f"{b}.{name}"]) for name in "qkv")
            if self.attention == "softmax":
                y = ad.causal_attention(q, k, v)
            else:
                y = ad.causal_linear_attention(ad.elu_plus_one(q), ad.elu_plus_one(k), v)
            h = h + ad.reshape(ad.swap(y, 1, 2), count, n, self.width) @ P[f"{b}.o"]
            a = ad.layer_norm(h, P[f"{b}.gain2"], P[f"{b}.shift2"])
            h = h + ad.relu(a @ P[f"{b}.up"]) @ P[f"{b}.down"]
        return ad.layer_norm(h, P["gain"], P["shift"]) @ P["out"]

    def loss(self, P: dict[str, Node], images: np.ndarray) -> Node:
        """The mean of −log p(pixel | pixels before it)."""
        return ad.cross_entropy(self.logits(P, self.shifted(images)), images)

    def predict(self, theta: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """The logits as numbers."""
        P = {name: Node(part) for name, part in self.unpack(theta).items()}
        return self.logits(P, tokens).value

    def bits(self, theta: np.ndarray, images: np.ndarray) -> float:
        """Bits a pixel: the mean of −log₂ p."""
        P = {name: Node(part) for name, part in self.unpack(theta).items()}
        return float(self.loss(P, images).value) / math.log(2)

    def gradient(self, theta: np.ndarray, images: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss, and its gradient as one vector."""
        loss, parts = ad.gradients(lambda P: self.loss(P, images), self.unpack(theta))
        return loss, np.concatenate([parts[name].ravel() for name in self.shapes])


# -- training -------------------------------------------------------------------------------------


def adamw(
    state: AdamState, g: np.ndarray, theta: np.ndarray, eta: float
) -> tuple[AdamState, np.ndarray]:
    """AdamW as the shipped weights were trained: λ = η/100."""
    return adamw_step(state, g, theta, eta, lamda=0.01 * eta, beta2=0.98)


def train(
    model: Model,
    images: np.ndarray,
    steps: int,
    *,
    rule: Rule = adamw,
    state: Any = None,
    rate: float = 3e-3,
    batch: int = 32,
    seed: int = 0,
    report: Callable[[int, float, np.ndarray], None] = lambda t, loss, theta: None,
) -> np.ndarray:
    """θ after so many steps; η rises for 50 steps, then falls along a cosine to 0."""
    rng = np.random.default_rng(seed + 1)
    theta, state = model.draw(seed).astype(np.float32), AdamState() if state is None else state
    for t in range(1, steps + 1):
        loss, g = model.gradient(theta, images[rng.integers(0, len(images), batch)])
        eta = rate * min(1, t / 50) * (1 + math.cos(math.pi * t / steps)) / 2
        state, move = rule(state, g, theta, eta)
        theta = (theta + move).astype(np.float32)
        report(t, loss, theta)
    return theta


# -- weights in a file, and as text ---------------------------------------------------------------


def shipped(attention: str) -> tuple[Model, np.ndarray]:
    """The model that comes with the course, "linear" or "softmax", and its trained θ."""
    with np.load(DATA / f"{attention}.npz") as stored:
        return Model(attention), stored["theta"].astype(float)


def as_text(theta: np.ndarray) -> str:
    """θ as letters that can be pasted into a notebook: 16 bits per number, compressed."""
    if not np.abs(theta).max() <= np.finfo(np.float16).max:
        raise ValueError("A weight is too large or no number: this training went astray.")
    packed = zlib.compress(np.asarray(theta).astype("<f2").tobytes(), 9)
    return base64.b64encode(packed).decode()


def from_text(text: str) -> np.ndarray:
    """θ again; a ValueError with a sentence if the text is not what `as_text` made."""
    try:
        packed = base64.b64decode("".join(text.split()), validate=True)
        reader = zlib.decompressobj()
        theta = np.frombuffer(reader.decompress(packed, 1 << 20), dtype="<f2").astype(float)
        whole = reader.eof
    except (ValueError, zlib.error):
        whole = False
    if not whole:
        raise ValueError(
            "This text is not what as_text(theta) gave; copy all of it, from the first letter to "
            "the last."
        )
    return theta


# -- writing --------------------------------------------------------------------------------------


@answer
class FixedState:
    """Linear attention, pixel by pixel: for each block s and z in one array, whatever was seen."""

    def __init__(self, model: Model) -> None:
        self.s: list[Any] = [0.0] * model.blocks

    def attend(self, b: int, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Take in keys and values, (count, heads, d), and answer the queries."""
        values = np.concatenate([v, np.ones_like(v[..., :1])], axis=-1)
        self.s[b] = self.s[b] + elu_plus_one(k)[..., :, None] @ values[..., None, :]
        sums = (elu_plus_one(q)[..., None, :] @ self.s[b])[..., 0, :]
        return sums[..., :-1] / sums[..., -1:]


class Cache:
    """Softmax attention, pixel by pixel: all keys and values so far are kept."""

    def __init__(self, model: Model) -> None:
        self.kept: list[Any] = [None] * model.blocks

    def attend(self, b: int, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Take in keys and values, (count, heads, d), and answer the queries."""
        new = np.stack([k, v])[..., None, :]
        if self.kept[b] is not None:
            new = np.concatenate([self.kept[b], new], axis=-2)
        self.kept[b] = new
        scores = (new[0] @ q[..., None])[..., 0] / math.sqrt(q.shape[-1])
        return (softmax(scores)[..., None, :] @ new[1])[..., 0, :]


def normed(x: np.ndarray, gain: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Layer norm, as numbers."""
    centered = x - x.mean(axis=-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(axis=-1, keepdims=True) + 1e-5) * gain + shift


@answer
def next_logits(
    model: Model, P: dict[str, np.ndarray], memory: FixedState | Cache, token: np.ndarray, t: int
) -> np.ndarray:
    """One token a picture in, at position t; the logits of what comes next, (count, levels)."""
    h = P["token"][token] + P["place"][t]
    for b in range(model.blocks):
        a = normed(h, P[f"{b}.gain"], P[f"{b}.shift"])
        q, k, v = ((a @ P[f"{b}.{name}"]).reshape(len(a), model.heads, -1) for name in "qkv")
        h = h + memory.attend(b, q, k, v).reshape(h.shape) @ P[f"{b}.o"]
        a = normed(h, P[f"{b}.gain2"], P[f"{b}.shift2"])
        h = h + np.maximum(a @ P[f"{b}.up"], 0) @ P[f"{b}.down"]
    return normed(h, P["gain"], P["shift"]) @ P["out"]


def pick(logits: np.ndarray, u: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """The gray level in whose stretch of [0, 1) the number u falls, for each row of logits."""
    ends = np.cumsum(softmax(logits / temperature), axis=-1)[..., :-1]
    return (ends <= u[..., None]).sum(axis=-1)


@answer
def write(
    model: Model,
    theta: np.ndarray,
    u: np.ndarray,
    *,
    way: str,
    temperature: float = 1.0,
    given: np.ndarray | None = None,
) -> np.ndarray:
    """Pictures, (count, n), from numbers u of that shape, drawn uniformly between 0 and 1.

    The way is "recompute", "cache" (softmax) or "state" (linear). The pixels of `given` come first.
    """
    if (model.attention, way) in [("linear", "cache"), ("softmax", "state")]:
        fits = {"linear": "state", "softmax": "cache"}[model.attention]
        raise ValueError(f"A {model.attention} model writes by recompute or by {fits}, not {way}.")
    images = np.zeros(u.shape, dtype=np.int64)
    known = 0 if given is None else given.shape[1]
    images[:, :known] = 0 if given is None else given
    P, memory = model.unpack(theta), (FixedState if way == "state" else Cache)(model)
    token = np.full(len(u), model.levels)
    for t in range(u.shape[1]):
        if way == "recompute":
            logits = model.predict(theta, model.shifted(images[:, : t + 1]))[:, -1]
        else:
            logits = next_logits(model, P, memory, token, t)
        if t >= known:
            images[:, t] = pick(logits, u[:, t], temperature)
        token = images[:, t]
    return images


def main() -> None:
    """Train what comes with the course: 1,500 steps for each attention, about three minutes."""
    training, held_out = training_and_held_out()
    for attention in ("linear", "softmax"):
        model = Model(attention)
        theta = train(model, training, 1500).astype(np.float16)
        np.savez_compressed(DATA / f"{attention}.npz", theta=theta)
        print(f"{attention}: {model.bits(theta.astype(float), held_out):.3f} bits per pixel")


if __name__ == "__main__":
    main()
