"""Unit 05: what the sister tasks in two_heads.md need."""

from __future__ import annotations

from typing import Any

from ..numbers.two_heads import TwoHeads
from . import two_heads as check


def _projected(n: TwoHeads, *names: str) -> dict[str, Any]:
    """Q, K and V of head 1 or 2 by their names, such as K2."""
    heads = check._heads(n)
    return {name: getattr(heads[int(name[1:] or 1) - 1], name[0]) for name in names}
