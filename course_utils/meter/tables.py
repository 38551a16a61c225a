"""What is counted, and as what: the tables of NumPy's functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def named(names: str) -> dict[str, Callable]:
    """NumPy's functions of these names."""
    return {name: getattr(np, name) for name in names.split()}


KINDS = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply square",
    "divide": "divide floor_divide remainder reciprocal",
    "compare": "maximum minimum greater greater_equal less less_equal equal not_equal absolute "
    "isnan isinf isfinite",
    "exp": "exp exp2 expm1",
    "log": "log log1p log2 log10",
    "sqrt": "sqrt",
    "power": "power",
    "tanh": "tanh",
    "sin, cos": "sin cos",
    "matmul": "matmul",
    "free": "negative positive conjugate",
    "logic": "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor "
    "invert",
}
UFUNCS = {ufunc: kind for kind, names in KINDS.items() for ufunc in named(names).values()}
OPTIONS = {
    "__call__": {"out", "where", "dtype"},
    "outer": {"dtype"},
    "reduce": {"axis", "dtype", "out", "keepdims", "initial"},
    "accumulate": {"axis", "dtype", "out"},
}
REDUCIBLE = named("add multiply maximum minimum logical_and logical_or")
REDUCTIONS = {
    "add": "sum mean cumsum",
    "multiply": "prod cumprod",
    "compare": "max min amax amin argmax argmin",
}
MOVERS = named(  # views and copies: memory at most, never arithmetic
    "transpose reshape ravel squeeze expand_dims swapaxes moveaxis broadcast_to broadcast_arrays "
    "atleast_1d atleast_2d atleast_3d diagonal diag diagflat split array_split hsplit vsplit flip "
    "fliplr flipud roll concatenate stack vstack hstack column_stack dstack block append tile "
    "repeat copy tril triu take take_along_axis put_along_axis zeros_like ones_like empty_like "
    "full_like fill_diagonal copyto meshgrid delete insert shape ndim size result_type "
    "shares_memory may_share_memory"
)
METHODS = named(
    "sum prod max min mean argmax argmin cumsum cumprod var std any all clip trace dot nonzero "
    "ravel squeeze swapaxes diagonal repeat copy take"
)
CREATORS = named(
    "array asarray asanyarray ascontiguousarray zeros ones empty full eye identity arange linspace "
    "tri fromiter"
)
INSTEAD = {
    "allclose": "Compare results after the measurement.",
    "apply_along_axis": "Write the loop over the rows.",
    "at": "Write the loop over the indices.",
    "svd": "The cost of a decomposition depends on the data; measure the products around it.",
    "sort": "How many comparisons a sort needs depends on the data.",
    "tolist": "Keep the numbers in arrays; float(x) reads out a single one.",
}

FROM_OUTSIDE = (
    "Make arrays by np.zeros or np.array inside the measured code, with `import numpy as np` at "
    "the top, and keep to functions that the meter counts."
)
OTHERWISE = "Write it with + − * /, comparisons, exp, sqrt, @, einsum, sum and max."
