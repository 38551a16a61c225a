"""The transformer of unit 12: its gradient, its ways to write, and the weights that are shipped."""

import numpy as np
import pytest

from course_utils import transformer as tr
from course_utils.autodiff import Node

SMALL = {"width": 4, "heads": 2, "blocks": 2, "levels": 3, "length": 6}
KINDS = ("linear", "softmax")


def pictures(model, count, seed=0):
    return np.random.default_rng(seed).integers(0, model.levels, (count, model.length))


def test_the_digits_are_those_of_the_collection():
    images, labels = tr.digits()
    assert images.shape == (1797, 64)
    assert (images.min(), images.max()) == (0, 16)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    training, held_out = tr.training_and_held_out()
    assert np.array_equal(np.concatenate([training, held_out]), images)


def test_data_and_weights_are_light_and_say_where_they_come_from():
    assert sum(path.stat().st_size for path in tr.DATA.iterdir()) < 300_000
    about = (tr.DATA / "README.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in about
    assert "Alpaydin" in about


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_what_differences_along_a_line_measure(kind):
    model = tr.Model(kind, **SMALL)
    theta, images = model.draw(1), pictures(model, 3)
    _, gradient = model.gradient(theta, images)
    for seed in range(5):
        way = np.random.default_rng(seed).normal(size=model.size)
        up, down = (model.gradient(theta + e * way, images)[0] for e in (1e-6, -1e-6))
        assert np.isclose(gradient @ way, (up - down) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_no_pixel_is_predicted_from_itself_or_a_later_one(kind):
    model = tr.Model(kind, **SMALL)
    theta, images = model.draw(), pictures(model, 2)
    before = model.predict(theta, model.shifted(images))
    images[:, 3] = (images[:, 3] + 1) % model.levels
    after = model.predict(theta, model.shifted(images))
    assert np.array_equal(before[:, :4], after[:, :4])
    assert not np.allclose(before[:, 4:], after[:, 4:])


@pytest.mark.parametrize(("kind", "way"), [("linear", "state"), ("softmax", "cache")])
@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_all_ways_write_the_same_pixels(kind, way, temperature):
    model, theta = tr.shipped(kind)
    u = np.random.default_rng(5).random((8, model.length))
    given = tr.digits()[0][:8, :16]
    for first in (None, given):
        slow, fast = (
            tr.write(model, theta, u, way=w, temperature=temperature, given=first)
            for w in ("recompute", way)
        )
        assert np.array_equal(slow, fast)
        assert first is None or np.array_equal(fast[:, :16], given)


def test_a_way_that_does_not_fit_the_model_gets_a_sentence():
    model = tr.Model("softmax", **SMALL)
    with pytest.raises(ValueError, match="A softmax model writes by recompute or by cache"):
        tr.write(model, model.draw(), np.zeros((1, 6)), way="state")


def test_pick_follows_the_stretches_of_the_unit_interval():
    logits = np.log([[0.5, 0.25, 0.25]])
    for u, level in [(0.0, 0), (0.49, 0), (0.51, 1), (0.76, 2), (0.999999, 2)]:
        assert tr.pick(logits, np.array([u])) == [level]


@pytest.mark.parametrize(("kind", "bits"), [("linear", 1.913), ("softmax", 1.872)])
def test_the_shipped_weights_keep_what_the_lecture_says(kind, bits):
    model, theta = tr.shipped(kind)
    assert theta.shape == (model.size,)
    _, held_out = tr.training_and_held_out()
    assert model.bits(theta, held_out) == pytest.approx(bits, abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_steps_lower_the_loss(kind):
    model = tr.Model(kind, width=8, heads=2, blocks=1)
    training, held_out = tr.training_and_held_out()
    seen = []
    theta = tr.train(
        model, training, 60, rate=1e-2, report=lambda t, loss, theta: seen.append((t, loss))
    )
    assert [t for t, _ in seen] == list(range(1, 61))
    assert model.bits(theta, held_out[:50]) < 3.5 < model.bits(model.draw(), held_out[:50])


def test_weights_survive_as_text():
    model = tr.Model(**SMALL)
    theta = model.draw()
    text = tr.as_text(theta)
    assert np.allclose(tr.from_text(f"  {text[:40]}\n{text[40:]} "), theta, atol=1e-3)
    for broken in (text[:-8], "no weights", "ä", ""):
        with pytest.raises(ValueError, match="copy all of it"):
            tr.from_text(broken)


@pytest.mark.parametrize("weight", [1e5, np.inf, np.nan])
def test_weights_that_went_astray_get_a_sentence(weight):
    with pytest.raises(ValueError, match="went astray"):
        tr.as_text(np.array([0.5, weight]))


def test_parts_have_names_and_make_up_all_of_theta():
    model = tr.Model(**SMALL)
    parts = model.unpack(np.arange(model.size))
    assert np.array_equal(
        np.concatenate([p.ravel() for p in parts.values()]), np.arange(model.size)
    )
    nodes = {name: Node(part) for name, part in model.unpack(model.draw()).items()}
    assert model.logits(nodes, model.shifted(pictures(model, 2))).value.shape == (2, 6, 3)
