"""Unit 11: what several known mistakes in transport.md need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from selfcheck.compare import close

from ..numbers.transport import Transport, transport
from ..transport import another_optimal_plan, greedy_plan
from .transport import NEAR, _at_places, _costs, _crossing, _fault, _gain, _lowest, _plan


def _is_transposed(student: str, *tables: np.ndarray) -> bool:
    n = transport(student)
    fitting = [P for P in tables if P.T.shape == n.plan.shape]
    return any(_fault(P, n, "") and not _fault(P.T, n, "") for P in fitting)


def _other(n: Transport) -> np.ndarray:
    """An optimal plan for the plain distance that does not keep the order."""
    crossing = another_optimal_plan(_costs(n), n.p, n.q)
    return _plan(n) if crossing is None else crossing


def _is_greedy(student: str, P: np.ndarray) -> bool:
    n = transport(student)
    return close(P, greedy_plan(_costs(n), n.p, n.q))


def _is_too_dear(student: str, P: np.ndarray) -> bool:
    return not _is_greedy(student, P)


def _is_lipschitz(f: np.ndarray, n: Transport) -> bool:
    return bool((np.abs(np.diff(f)) <= np.diff(n.places) * (1 + NEAR)).all())


def _proves(f: np.ndarray, n: Transport) -> bool:
    return _is_lipschitz(f, n) and close(_gain(f, n), _lowest(n))


def _certificate(n: Transport) -> np.ndarray:
    slopes = np.sign(_crossing(n))
    return np.append(0, np.cumsum(slopes * np.diff(n.places)))


def _priced(test: Callable[[np.ndarray, Transport], bool]) -> Callable[[str, Any], bool]:
    return lambda student, f: test(_at_places(f, transport(student)), transport(student))


def _where_x(n: Transport) -> np.ndarray:
    return np.where(np.isin(n.places, n.x), -1.0, 1.0)


def _steps(x: Any, p: Any, y: Any, q: Any) -> tuple[np.ndarray, np.ndarray]:
    """The places of both, and F_p − F_q at each of them."""
    z = np.unique(np.concatenate([x, y]))
    return z, np.array([np.sum(p * (x <= at)) - np.sum(q * (y <= at)) for at in z])


def _unnormalized(x, p, y, q):
    z, difference = _steps(x, p, y, q)
    return float(np.abs(difference[:-1]) @ np.diff(z))


def _plain_sinkhorn(C, p, q, epsilon, rounds):
    K, v = np.exp(-C / epsilon), np.ones(len(q))
    with np.errstate(all="ignore"):
        for _ in range(rounds):
            u = p / (K @ v)
            v = q / (K.T @ u)
        return u[:, None] * K * v


def _heights(x: Any, p: Any, y: Any, q: Any, length: float) -> tuple[np.ndarray, np.ndarray]:
    """What crosses each arc to the right if nothing crosses the end, and the arcs' lengths."""
    z = np.unique(np.concatenate([x, y]))
    height = [p[x <= at].sum() - q[y <= at].sum() for at in z]
    return np.array(height), np.diff(z, append=z[0] + length)


def _running_round(choose: Callable[..., float]) -> Callable[..., float]:
    """The cost with a wrong amount that runs round the circle."""

    def circle(x: Any, p: Any, y: Any, q: Any, length: float) -> float:
        height, arcs = _heights(x, p, y, q, length)
        return float(np.abs(height - choose(height, arcs)) @ arcs)

    return circle


def _gradient(n: Transport, P: np.ndarray | None = None, factor: float = 2) -> np.ndarray:
    plan = _plan(n, 2) if P is None else P
    return factor * (plan * (n.x[:, None] - n.y)).sum(axis=1)
