"""What textbooks say of the cost of LAPACK and of sorting: conventions, not counts.

`estimate` uses them; `measure` counts exactly or refuses. The kind names the convention.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def _columns(b: Any) -> int:
    return 1 if np.ndim(b) == 1 else int(np.shape(b)[-1])


def _long_side(A: Any) -> tuple[int, int]:
    rows, columns = np.shape(A)[-2:]
    return max(rows, columns), min(rows, columns)


def _rotations(A: Any) -> int:
    m, n = _long_side(A)
    return round(2 * m * n**2 - 2 * n**3 / 3)


def _singular(A: Any, full: Any = True, compute_uv: bool = True, **_: Any) -> int:
    m, n = _long_side(A)
    return round(4 * m * n**2 - 4 * n**3 / 3 if not compute_uv else 14 * m * n**2 + 8 * n**3)


def _sort(x: Any, *_: Any, axis: Any = -1, **__: Any) -> int:
    n = np.size(x) if axis is None else (np.shape(x) or (1,))[axis]
    return (np.size(x) // max(n, 1)) * n * math.ceil(math.log2(max(n, 1)))


def _search(a: Any, v: Any, *_: Any, **__: Any) -> int:
    return int(np.size(v)) * math.ceil(math.log2(max(np.size(a), 1) + 1))


def _cube(factor: float) -> Callable[..., int]:
    return lambda A, *_, **__: round(factor * np.shape(A)[-1] ** 3)


CONVENTIONS: dict[str, tuple[str, Callable[..., int]]] = {
    "solve": (
        "solve (2n³/3 + 2n²k)",
        lambda A, b: round(2 * len(A) ** 3 / 3) + 2 * len(A) ** 2 * _columns(b),
    ),
    "inv": ("inverse (2n³)", _cube(2)),
    "det": ("determinant (2n³/3)", _cube(2 / 3)),
    "slogdet": ("determinant (2n³/3)", _cube(2 / 3)),
    "cholesky": ("Cholesky (n³/3)", _cube(1 / 3)),
    "qr": ("QR (2mn² − 2n³/3)", lambda A, *_, **__: _rotations(A)),
    "lstsq": ("least squares (2mn² − 2n³/3)", lambda A, b, *_, **__: _rotations(A)),
    "eigh": ("symmetric eigenvectors (9n³)", _cube(9)),
    "eigvalsh": ("symmetric eigenvalues (4n³/3)", _cube(4 / 3)),
    "eig": ("eigenvectors (25n³)", _cube(25)),
    "eigvals": ("eigenvalues (10n³)", _cube(10)),
    "svd": ("singular values (14mn² + 8n³, alone 4mn² − 4n³/3)", _singular),
    "sort": ("sort (n⌈log₂n⌉ comparisons)", _sort),
    "argsort": ("sort (n⌈log₂n⌉ comparisons)", _sort),
    "median": ("sort (n⌈log₂n⌉ comparisons)", lambda x, axis=None, **_: _sort(x, axis=axis)),
    "unique": ("sort (n⌈log₂n⌉ comparisons)", lambda x, *_, **__: _sort(x, axis=None)),
    "searchsorted": ("search (⌈log₂(n+1)⌉ comparisons)", _search),
}
