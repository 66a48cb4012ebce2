"""Plans for those who hold them by hand: made once, executed many times, released."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanky import _core
from lanky._sources import csr_of, numpy_dtype, type_name


class _Plan:
    """What all plans have in common."""

    _plan: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the product: rows and columns of a sparse plan; m, n and k of a dense
        one."""
        return self._plan.shape

    @property
    def device(self) -> str:
        """ "cpu" or "cuda:0"."""
        return self._plan.device

    @property
    def workspace_bytes(self) -> int:
        """Memory that one run works in. A plan has it once for each stream that it runs on."""
        return self._plan.workspace_bytes

    @property
    def fingerprint(self) -> int:
        """Equal for plans that give equal bits for equal operands, the sparse matrix among them;
        for comparison within one version of lanky."""
        return self._plan.fingerprint

    @property
    def dtype(self) -> np.dtype:
        """The type of operands, as NumPy's type; bfloat16 is that of ml_dtypes."""
        return numpy_dtype(self._plan.dtype_name)

    @property
    def out_dtype(self) -> np.dtype:
        """The type of results."""
        return numpy_dtype(self._plan.out_dtype_name)

    def explain(self) -> str:
        """What the plan decided, and why."""
        return self._plan.explain()

    def _extents(self) -> str:
        rows, cols = self._plan.shape
        return f"{rows} x {cols}, {self._plan.nnz} entries"

    def __repr__(self) -> str:
        name = f"lanky.{type(self).__name__}"
        plan = self._plan
        if plan.released:
            return f"<{name}, released>"
        types = plan.dtype_name
        if plan.out_dtype_name != types:
            types += f" with results of {plan.out_dtype_name}"
        way = f", by {plan.computed_by}" if plan.computed_by else ""
        return f"<{name} {self._extents()}, {types}, on {plan.device}{way}>"

    def release(self) -> None:
        """Frees the plan's memory once its runs are done. Whatever is called afterwards is a
        ValueError."""
        self._plan.release()

    @property
    def released(self) -> bool:
        """Whether release() was called."""
        return self._plan.released

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    def __reduce__(self) -> Any:
        raise TypeError(
            f"a lanky.{type(self).__name__} is not pickled or copied: make it anew, or use "
            "lanky.sparse()"
        )


def _chosen(given: Any, kept: Any, name: str) -> Any:
    operand = kept if given is None else given
    if operand is None:
        raise ValueError(f"no {name} was given, neither here nor by reset_operands()")
    return operand


class SparsePlan(_Plan):
    """alpha op(A) x + beta out, A sparse, of vectors and matrices. `plan @ x` is
    `plan.execute(x)`.

    Options are those of `lanky.sparse()`, and: `op` ("none", "trans", "conj_trans") says what of A
    the plan multiplies by; `updates` keeps 4 bytes an entry, without which a plan with an op or a
    symmetry has no update_values()."""

    __array_ufunc__ = None  # x @ plan is an error, and NumPy makes no array of the plan

    def __init__(
        self,
        source: Any,
        *,
        shape: tuple[int, int] | None = None,
        dtype: Any = None,
        out_dtype: Any = None,
        device: Any = None,
        op: str = "none",
        engine: str = "auto",
        math: str = "ieee",
        symmetry: str = "general",
        updates: bool = False,
        tune: bool = False,
        expected_columns: int = 1,
        expected_layout: str = "row",
        stream: Any = None,
    ) -> None:
        csr, _ = csr_of(source, shape, dtype)
        self._plan = _core.SparsePlan(
            csr.indptr,
            csr.indices,
            csr.data,
            *csr.shape,
            out_dtype=out_dtype,
            device=device,
            stream=stream,
            engine=engine,
            math=math,
            symmetry=symmetry,
            op=op,
            updates=updates,
            tune=tune,
            expected_columns=expected_columns,
            expected_layout=expected_layout,
        )
        self._x: Any = None

    def execute(
        self,
        x: Any = None,
        out: Any = None,
        *,
        alpha: Any = 1.0,
        beta: Any = 0.0,
        stream: Any = None,
    ) -> Any:
        """alpha op(A) x + beta out, in a new array or in `out`. Without x, that of
        reset_operands()."""
        return self._plan.multiply(_chosen(x, self._x, "x"), out, alpha, beta, stream)

    def __matmul__(self, x: Any) -> Any:
        """op(A) x, as execute(x) computes it."""
        return self._plan @ x

    def reset_operands(self, x: Any = None) -> None:
        """The x of executions without one; None lets go of it."""
        self._x = x

    def update_values(self, values: Any, *, stream: Any = None) -> None:
        """New numbers for the same pattern, in the order of the CSR."""
        self._plan.update_values(values, stream)

    @property
    def nnz(self) -> int:
        """Entries of the CSR that the plan was made from."""
        return self._plan.nnz

    @property
    def device_bytes(self) -> int:
        """Memory that the plan holds, its own workspace included."""
        return self._plan.device_bytes


class GemmPlan(_Plan):
    """alpha op(A) B + beta out, dense, of operands that have the extents, types, order and strides
    of `a` and `b`.

    `adjoint`: A^H B in place of A B. `out`: an array that results are to look like.
    """

    def _extents(self) -> str:
        m, n, k = self._plan.shape
        return f"m {m}, n {n}, k {k}"

    def __init__(
        self,
        a: Any,
        b: Any,
        out: Any = None,
        *,
        adjoint: bool = False,
        math: str = "ieee",
        out_dtype: Any = None,
        tune: bool = False,
        device: Any = None,
        stream: Any = None,
    ) -> None:
        self._plan = _core.GemmPlan(
            a,
            b,
            out=out,
            out_dtype=out_dtype,
            adjoint=adjoint,
            math=math,
            tune=tune,
            device=device,
            stream=stream,
        )
        self._a = a
        self._b = b

    def execute(
        self,
        a: Any = None,
        b: Any = None,
        out: Any = None,
        *,
        alpha: Any = 1.0,
        beta: Any = 0.0,
        stream: Any = None,
    ) -> Any:
        """alpha op(A) B + beta out, in a new array or in `out`. Without a or b, those of the
        constructor."""
        return self._plan.execute(
            _chosen(a, self._a, "a"), _chosen(b, self._b, "b"), out, alpha, beta, stream
        )

    def reset_operands(self, a: Any = None, b: Any = None) -> None:
        """The operands of executions without them; None leaves one as it is."""
        self._a = self._a if a is None else a
        self._b = self._b if b is None else b

    def release(self) -> None:
        """Frees the plan's memory once its runs are done, and lets go of the operands."""
        super().release()
        self._a = self._b = None


class SddmmPlan(_Plan):
    """alpha (X Y^T at the entries of A) + beta out; `dtype` is that of X and Y (default: that of
    A's values)."""

    def __init__(
        self,
        source: Any,
        *,
        shape: tuple[int, int] | None = None,
        dtype: Any = None,
        out_dtype: Any = None,
        device: Any = None,
        conjugate_y: bool = False,
        expected_columns: int = 0,
        stream: Any = None,
    ) -> None:
        csr, _ = csr_of(source, shape)
        self._plan = _core.SddmmPlan(
            csr.indptr,
            csr.indices,
            *csr.shape,
            type_name(csr.data.dtype if dtype is None else dtype),
            out_dtype=out_dtype,
            device=device,
            conjugate_y=conjugate_y,
            expected_columns=expected_columns,
            stream=stream,
        )

    def execute(
        self,
        x: Any,
        y: Any,
        out: Any = None,
        *,
        alpha: Any = 1.0,
        beta: Any = 0.0,
        stream: Any = None,
    ) -> Any:
        """The values, in the order of the CSR, in a new array or in `out`."""
        return self._plan.execute(x, y, out, alpha, beta, stream)

    @property
    def nnz(self) -> int:
        """Entries of the pattern."""
        return self._plan.nnz

    @property
    def device_bytes(self) -> int:
        """Memory that the plan holds, its own workspace included."""
        return self._plan.device_bytes
