"""Dense products with a skinny side, and sampled ones, at once."""

from __future__ import annotations

from typing import Any

from lanky import _core
from lanky._matrix import SparseMatrix
from lanky._sources import csr_of


def matmul(
    a: Any,
    b: Any,
    out: Any = None,
    *,
    alpha: Any = 1.0,
    beta: Any = 0.0,
    math: str = "ieee",
    out_dtype: Any = None,
    device: Any = None,
    stream: Any = None,
) -> Any:
    """alpha A B + beta out of two matrices, each by rows or by columns (so that `a.T` costs
    nothing).

    Without `out` the result stands as the larger operand does. Plans are kept for the next products
    of the same extents. Halves are summed in float32 and rounded once, to their own type or with
    `out_dtype="float32"` not at all. With `out_dtype="float64"` halves and floats are multiplied
    exactly and summed in float64."""
    return _core.gemm(
        a,
        b,
        out,
        alpha=alpha,
        beta=beta,
        math=math,
        out_dtype=out_dtype,
        device=device,
        stream=stream,
    )


def gram(
    q: Any,
    out: Any = None,
    *,
    alpha: Any = 1.0,
    beta: Any = 0.0,
    math: str = "ieee",
    out_dtype: Any = None,
    device: Any = None,
    stream: Any = None,
) -> Any:
    """alpha Q^H Q + beta out of a tall Q. With `out_dtype="float64"` a Q of float32 is multiplied
    exactly and summed in float64, which its inner products need where its columns are nearly
    dependent."""
    return _core.gemm(
        q,
        q,
        out,
        alpha=alpha,
        beta=beta,
        math=math,
        out_dtype=out_dtype,
        adjoint=True,
        device=device,
        stream=stream,
        names="qq",
    )


def tall_times_small(
    q: Any,
    r: Any,
    out: Any = None,
    *,
    alpha: Any = 1.0,
    beta: Any = 0.0,
    math: str = "ieee",
    out_dtype: Any = None,
    device: Any = None,
    stream: Any = None,
) -> Any:
    """alpha Q R + beta out of a tall Q and a small R. The result stands as Q does."""
    return _core.gemm(
        q,
        r,
        out,
        alpha=alpha,
        beta=beta,
        math=math,
        out_dtype=out_dtype,
        device=device,
        stream=stream,
        names="qr",
    )


def sddmm(
    a: Any,
    x: Any,
    y: Any,
    out: Any = None,
    *,
    alpha: Any = 1.0,
    beta: Any = 0.0,
    conjugate_y: bool = False,
    stream: Any = None,
) -> Any:
    """alpha (X Y^T at the entries of A) + beta out: a vector of values in the order of A's CSR.

    `a` is a `SparseMatrix`, which keeps the plan for the next call, or anything that
    `lanky.sparse()` takes, whose values do not matter. X has a row for each row of A, Y one for
    each column."""
    if isinstance(a, SparseMatrix):
        return a.sddmm(x, y, out, alpha=alpha, beta=beta, conjugate_y=conjugate_y, stream=stream)
    csr, _ = csr_of(a)
    plan = _core.SddmmPlan(
        csr.indptr, csr.indices, *csr.shape, getattr(x, "dtype", None), conjugate_y=conjugate_y
    )
    return plan.execute(x, y, out, alpha, beta, stream)
