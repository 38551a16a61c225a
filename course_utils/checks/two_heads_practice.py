"""Unit 05: sister tasks for practice, with the numbers that each of them needs."""

from __future__ import annotations

from typing import Any

from selfcheck.practice import tenths

from ..numbers.two_heads import TwoHeads
from . import two_heads as check


def _projected(n: TwoHeads, *names: str) -> dict[str, Any]:
    """Q, K and V of head 1 or 2 by their names, such as K2."""
    heads = check._heads(n)
    return {name: getattr(heads[int(name[1:] or 1) - 1], name[0]) for name in names}


check.projections.sister(
    "A head reads $X = <X>$ with\n\n$$W^Q = <Wq>,\\quad W^K = <Wk>,\\quad W^V = <Wv>.$$\n\n"
    "Compute `Q`, `K` and `V`.",
    needs=lambda n: {"X": n.X, **dict(zip(("Wq", "Wk", "Wv"), n.heads[0], strict=True))},
)
check.scores_and_weights.sister(
    r"A head has $Q = <Q>$ and $K = <K>$. Compute its `scores` $QK^\top$ and its attention "
    r"`weights`, to "
    r"four decimals.",
    needs=lambda n: _projected(n, "Q", "K"),
)
check.head_outputs.sister(
    "Two heads have\n\n$$Q_1 = <Q1>,\\; K_1 = <K1>,\\; V_1 = <V1>,$$ $$Q_2 = <Q2>,\\; K_2 = "
    "<K2>,\\; "
    "V_2 = <V2>.$$\n\nCompute the outputs of both, to four decimals.",
    needs=lambda n: _projected(n, "Q1", "K1", "V1", "Q2", "K2", "V2"),
)
check.final_output.sister(
    "Two heads return $<head_1>$ and $<head_2>$, and\n\n$$W^O = <Wo>.$$\n\nWrite down the "
    "concatenation `concat` "
    "and compute the final `output`, to four decimals.",
    needs=lambda n: {
        "head_1": check._concat(n)[:, :3],
        "head_2": check._concat(n)[:, 3:],
        "Wo": n.Wo,
    },
)
check.other_keys.sister(
    r"A head has $Q = <Q>$ and $K = <K>$. Find another $K$, in which some entry differs by 0.01 "
    r"or more, that gives "
    r"the same attention weights.",
    needs=lambda n: _projected(n, "Q", "K"),
)
check.hidden_matrix.sister(
    "The concatenation of two heads is $<concat>$, and through a $W^O$ of whole numbers from $-1$ "
    "to $4$ came what is "
    "printed to three decimals:\n\n$$<printed>$$\n\nRecover that matrix.",
    needs=lambda n: {"concat": check._concat(n), "printed": n.printed},
)
check.slips.sister(
    "Two heads have $V_1 = <V1>$ and $V_2 = <V2>$, their exact queries and keys are $Q_1 = <Q1>$, "
    "$K_1 = <K1>$, "
    "$Q_2 = <Q2>$, $K_2 = <K2>$, and\n\n$$W^O = <Wo>.$$\n\nA worksheet, which carries three "
    "decimals along, has the "
    "weights $<weights_1>$ and $<weights_2>$, the concatenation\n\n$$<concat>$$\n\nand the "
    "output\n\n$$<output>.$$\n\n"
    "Which entries (row, column), counted from 0, are slips and not rounding?",
    needs=lambda n: {
        **_projected(n, "Q1", "K1", "V1", "Q2", "K2", "V2"),
        "Wo": n.Wo,
        "weights_1": n.worksheet.weights[0],
        "weights_2": n.worksheet.weights[1],
        "concat": n.worksheet.concat,
        "output": n.worksheet.output,
    },
)
check.merged.sister(
    "Two heads look alike: both have the same weights $A$. Their values come by\n\n$$W^V_1 = "
    "<Wv1>,\\quad W^V_2 = "
    "<Wv2>,\\quad W^O = <Wo>.$$\n\nFind the one matrix `M` with which their output is $AXM$.",
    needs=lambda n: {"Wv1": n.heads[0][2], "Wv2": n.heads[1][2], "Wo": n.Wo},
)
check.other_heads.sister(
    "Two heads have\n\n$$W^O = <Wo>.$$\n\nNow head 2 stands first, and head 1, with $W^V R$ in "
    "place of its $W^V$, second; "
    "$R = <R>$. Find the `upper` and the `lower` three rows of the $W^O$ with which the output is "
    "what it was.",
    needs=lambda n: {"Wo": n.Wo, "R": check.R},
)


def _least(c: float, low: float, high: float, **_: Any) -> float:
    ends = [(low, high), (high, low)]
    return min(abs((c - q) / (p - q)) + abs((p - c) / (p - q)) for p, q in ends)


check.beyond_the_values.sister(
    r"Two heads weigh the values $a$ and $b$, each with a weight for $a$ between <low> and "
    r"<high>, and their mix "
    r"$w_1 h_1 + w_2 h_2$ returns $<c>\,a - <less>\,b$. How large has $|w_1| + |w_2|$ to be at "
    r"least? Three digits are "
    r"enough.",
    _least,
    lambda rng: (
        lambda c: {
            "c": c,
            "less": round(c - 1, 1),
            "low": float(rng.choice([0.05, 0.1, 0.15, 0.2, 0.25])),
            "high": float(rng.choice([0.75, 0.8, 0.85, 0.9, 0.95])),
        }
    )(float(rng.choice(tenths(15, 50)))),
)
