"""What is counted, and as what: the tables of NumPy's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def named(names: str) -> dict[str, Callable[..., Any]]:
    """NumPy's functions of these names, as far as this NumPy has them."""
    return {name: getattr(np, name) for name in names.split() if hasattr(np, name)}


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


KINDS = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply square",
    "divide": "divide floor_divide remainder fmod reciprocal",
    "compare": "maximum minimum fmax fmin greater greater_equal less less_equal equal not_equal "
    "absolute fabs sign heaviside signbit isnan isinf isfinite",
    "round": "floor ceil rint trunc",
    "exp": "exp exp2 expm1",
    "log": "log log1p log2 log10",
    "sqrt": "sqrt cbrt",
    "power": "power float_power",
    "tanh": "tanh sinh cosh arctanh arcsinh arccosh",
    "sin, cos": "sin cos tan arcsin arccos arctan arctan2",
    "matmul": "matmul",
    "free": "negative positive conjugate",
    "logic": "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor "
    "invert",
}
UFUNCS = {ufunc: kind for kind, names in KINDS.items() for ufunc in named(names).values()}
OPTIONS = {
    "__call__": {"out", "where", "dtype"},
    "outer": {"dtype"},
    "reduce": {"axis", "dtype", "out", "keepdims", "initial", "where"},
    "accumulate": {"axis", "dtype", "out"},
}
REDUCIBLE = named("add subtract multiply divide maximum minimum logical_and logical_or")
PRODUCTS = {  # sums of products along the last axis of the first operand
    ufunc: name
    for name in ("vecdot", "matvec", "vecmat")
    if (ufunc := getattr(np, name, None)) is not None
}
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
    "shares_memory may_share_memory rot90 rollaxis matrix_transpose permute_dims concat "
    "unstack resize select choose compress extract iscomplexobj isrealobj"
)
METHODS = named(
    "sum prod max min mean argmax argmin cumsum cumprod var std any all clip trace dot nonzero "
    "ravel squeeze swapaxes diagonal repeat copy take round ptp compress choose"
)
DATA_DECIDES = words(  # how much is done depends on the numbers, or on what LAPACK does inside
    "sort argsort partition argpartition lexsort msort sort_complex unique unique_all "
    "unique_counts unique_inverse unique_values median nanmedian percentile nanpercentile "
    "quantile nanquantile searchsorted digitize histogram histogram2d histogramdd "
    "histogram_bin_edges bincount intersect1d union1d setdiff1d setxor1d in1d isin interp "
    "piecewise roots poly polyfit trim_zeros inv pinv solve tensorsolve tensorinv lstsq det "
    "slogdet eig eigh eigvals eigvalsh svd svdvals qr cholesky cond matrix_rank save savez "
    "savez_compressed savetxt einsum_path apply_over_axes array2string array_repr array_str "
    "tofile packbits unpackbits nan_to_num put putmask place busday_count busday_offset "
    "is_busday datetime_as_string lookfor "
)
INSTEAD = {
    "svd": "The cost of a decomposition depends on the data; measure the products around it.",
    "sort": "How many comparisons a sort needs depends on the data.",
}

FROM_OUTSIDE = (
    "Make arrays by np.zeros or np.array inside the measured code, and keep to functions that the "
    "meter counts."
)
OTHERWISE = "Write it with + − * /, comparisons, exp, sqrt, @, einsum, sum and max."
