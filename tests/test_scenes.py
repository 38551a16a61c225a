"""The scenes that play in lectures: what they show is what the code of the lectures computes."""

import numpy as np
import pytest

from course_utils import scenes
from course_utils.attention import LinearAttentionState, attention
from course_utils.transport import wasserstein_1d


def line(explorer, name):
    """The numbers that an artist of this scene draws now."""
    return np.array(explorer._artists[name].get_data())


def bowl(W):
    return W**2, 2 * W


def test_the_runs_at_a_cliff_are_gradient_descent_and_grow_with_the_step():
    scene = scenes.the_cliff(bowl, rate=0.25, c=1.0, steps=5)
    scene.set(step=3, start=2.0)
    assert line(scene, "path plain")[0].tolist() == [2, 1, 0.5, 0.25]
    assert line(scene, "path clipped")[0].tolist() == [2, 1.75, 1.5, 1.25]
    assert line(scene, "dot clipped").ravel().tolist() == [1.25, 1.25**2]


def test_without_memory_the_valley_is_plain_descent():
    scene = scenes.down_the_valley(lambda theta: np.array([1, 25]) * theta, [4.0, 1.0], beta=0.9)
    scene.set(step=2, delta=0.02)
    assert line(scene, "path plain").T.tolist() == [[4, 1], [3.92, 0.5], [3.8416, 0.25]]
    assert line(scene, "path memory").shape == (2, 3)


@pytest.mark.parametrize("order", ["as they come", "rising", "falling"])
def test_the_online_softmax_ends_where_attention_does_in_any_order(order):
    q, K, V = np.random.default_rng(1).normal(size=(3, 7, 2))
    scene = scenes.online_softmax(q[0], K, V)
    scene.set(key=7, order=order)
    whole = attention(np.sqrt(2) * q[:1], K, V)[0]  # which divides by √2
    assert line(scene, "output").ravel() == pytest.approx(whole)
    assert scene.is_reached == (order == "falling")


def test_a_key_that_is_not_larger_shrinks_nothing_and_a_larger_one_says_by_how_much():
    scene = scenes.online_softmax([1.0, 0.0], [[0.0, 1], [-1, 0], [2, 0]], np.eye(3)[:, :2])
    assert "nothing was shrunk" in scene.describe(key=2)
    assert "multiplied by 0.14" in scene.describe(key=3)


def test_the_state_is_that_of_the_recurrence_and_the_cache_a_row_per_token():
    scene = scenes.cache_and_state(tokens=6, widths=(2, 4))
    scene.set(token=5, d=4)
    keys, values = np.random.default_rng(0).normal(size=(2, 6, 4))
    state = LinearAttentionState.empty(4, 4)
    for k, v in zip(keys[:5], values[:5], strict=True):
        state, _ = state.step(k, k, v)
    drawn = np.array(scene._artists["state"].get_array())
    both = np.abs(np.column_stack([state.s, state.z]))
    assert drawn / drawn.max() == pytest.approx(both / both.max())
    assert scene._artists["cache"].get_array().shape == (5, 8)
    assert "cache holds 40 numbers" in scene.describe()
    assert "state holds 20" in scene.describe()


def test_mass_that_walks_goes_straight_and_mass_that_fades_takes_a_detour():
    start, end = np.array([[0.0, 0], [1, 0]]), np.array([[10.0, 0], [11, 0]])
    scene = scenes.on_its_way(start, end)
    assert scene.describe(t=0.5, how="walk").endswith("together 1.00.")
    said = scene.describe(t=0.5, how="fade")
    far = wasserstein_1d([0, 1], [1, 1], [0, 1, 10, 11], [0.5] * 4, order=2) / 10
    assert f"{far:.2f} of the distance from the start" in said
    scene.set(t=0.5, how="fade")
    assert scene.is_reached
