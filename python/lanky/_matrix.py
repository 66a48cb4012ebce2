"""lanky.sparse(): a sparse matrix as an operator, whose products lanky computes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanky import _core
from lanky._sources import Csr, copy_like, copy_of, csr_of, numpy_dtype, type_name


class _Product:
    """The plan of a matrix, its transpose, its conjugate or its adjoint, which all views of that
    share; None until it is multiplied, and after the values were replaced."""

    __slots__ = ("plan",)

    def __init__(self) -> None:
        self.plan: Any = None


class _Shared:
    """What a matrix, its transpose and its adjoint have in common."""

    def __init__(
        self, csr: Csr, fresh: bool, keep: bool, options: dict[str, Any], stream: Any = None
    ) -> None:
        self.options = options
        self.shape = csr.shape
        self.products: dict[tuple[bool, bool], _Product] = {
            (transposed, conjugated): _Product()
            for transposed in (False, True)
            for conjugated in (False, True)
        }
        self.sampled: dict[bool, Any] = {}  # by whether Y is conjugated
        self.main = self.products[False, False].plan = _core.SparsePlan(
            csr.indptr, csr.indices, csr.data, *csr.shape, stream=stream, **options
        )
        # Tells the library that results of solvers are of, where the matrix keeps no CSR.
        self.sample = copy_of(csr.data[:0]) if hasattr(csr.data, "__getitem__") else None
        self.csr: Csr | None = None
        if keep and fresh:
            self.csr = csr
        elif keep:
            self.csr = Csr(
                copy_of(csr.indptr), copy_of(csr.indices), copy_of(csr.data), csr.shape
            )

    def kept(self, what: str) -> Csr:
        if self.csr is None:
            raise ValueError(
                f"the matrix was made with keep=False and has no CSR for {what}; use keep=True"
            )
        return self.csr

    def plan(self, transposed: bool, conjugated: bool) -> Any:
        product = self.products[transposed, conjugated]
        plan = product.plan
        if plan is None:
            csr = self.kept("a transpose or a conjugate")
            data = csr.data.conj() if conjugated and not transposed else csr.data
            if hasattr(data, "resolve_conj"):  # PyTorch's are lazy
                data = data.resolve_conj()
            op = "none" if not transposed else "conj_trans" if conjugated else "trans"
            plan = product.plan = _core.SparsePlan(
                csr.indptr, csr.indices, data, *csr.shape, op=op, **self.options
            )
        return plan

    def sampled_plan(self, conjugate_y: bool) -> Any:
        if conjugate_y not in self.sampled:
            csr = self.kept("sampled products")
            self.sampled[conjugate_y] = _core.SddmmPlan(
                csr.indptr,
                csr.indices,
                *csr.shape,
                self.main.dtype_name,
                out_dtype=self.options["out_dtype"],
                device=self.options["device"],
                conjugate_y=conjugate_y,
            )
        return self.sampled[conjugate_y]


class SparseMatrix:
    """A sparse matrix on one device, made by `lanky.sparse()`; `A @ x` multiplies vectors and
    matrices.

    Products take arrays of NumPy, CuPy, PyTorch, JAX and others, run on the caller's current
    stream, and give back arrays of the same kind. It is a linear operator as SciPy's and CuPy's
    solvers take it. `A.T` and `A.H` cost nothing until they are multiplied: the first product packs
    the matrix once more."""

    __slots__ = ("__weakref__", "_conjugated", "_product", "_shared", "_transposed")
    __array_ufunc__ = None  # NumPy leaves x @ A to __rmatmul__
    ndim = 2

    def __init__(self, shared: _Shared, transposed: bool = False, conjugated: bool = False) -> None:
        self._shared = shared
        self._transposed = transposed
        self._conjugated = conjugated
        self._product = shared.products[transposed, conjugated]

    def _plan(self) -> Any:
        return self._product.plan or self._shared.plan(self._transposed, self._conjugated)

    def __matmul__(self, x: Any) -> Any:
        return (self._product.plan or self._plan()) @ x

    def __rmatmul__(self, x: Any) -> Any:
        if not hasattr(x, "shape"):
            return NotImplemented  # a TypeError that names both types
        result = self.T @ (x if len(x.shape) == 1 else x.T)
        return result if len(result.shape) == 1 else result.T

    def dot(self, x: Any) -> Any:
        """A @ x."""
        return self @ x

    def matvec(
        self, x: Any, out: Any = None, *, alpha: Any = 1.0, beta: Any = 0.0, stream: Any = None
    ) -> Any:
        """alpha A x + beta out of a vector, (n,) or (n, 1). With `out`, the result is written
        there."""
        if len(getattr(x, "shape", (0,))) == 2 and x.shape[1] != 1:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; matvec multiplies one vector, matmat several"
            )
        return self._plan().multiply(x, out, alpha, beta, stream)

    def matmat(
        self, x: Any, out: Any = None, *, alpha: Any = 1.0, beta: Any = 0.0, stream: Any = None
    ) -> Any:
        """alpha A X + beta out of a matrix, by rows or by columns. With `out`, the result is
        written there."""
        if len(getattr(x, "shape", (0, 0))) != 2:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; matmat multiplies a matrix, matvec a vector"
            )
        return self._plan().multiply(x, out, alpha, beta, stream)

    def rmatvec(
        self, x: Any, out: Any = None, *, alpha: Any = 1.0, beta: Any = 0.0, stream: Any = None
    ) -> Any:
        """matvec of the adjoint."""
        return self.H.matvec(x, out, alpha=alpha, beta=beta, stream=stream)

    def rmatmat(
        self, x: Any, out: Any = None, *, alpha: Any = 1.0, beta: Any = 0.0, stream: Any = None
    ) -> Any:
        """matmat of the adjoint."""
        return self.H.matmat(x, out, alpha=alpha, beta=beta, stream=stream)

    def _view(self, transposed: bool, conjugated: bool) -> SparseMatrix:
        if (transposed, conjugated) != (False, False):
            self._shared.kept("a transpose or a conjugate")
        return SparseMatrix(self._shared, transposed, conjugated and self.dtype.kind == "c")

    @property
    def T(self) -> SparseMatrix:  # noqa: N802
        """The transpose."""
        return self._view(not self._transposed, self._conjugated)

    @property
    def H(self) -> SparseMatrix:  # noqa: N802
        """The conjugate transpose."""
        return self._view(not self._transposed, not self._conjugated)

    def transpose(self) -> SparseMatrix:
        """A.T."""
        return self.T

    def adjoint(self) -> SparseMatrix:
        """A.H."""
        return self.H

    def conj(self) -> SparseMatrix:
        """The conjugate."""
        return self._view(self._transposed, not self._conjugated)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, cols = self._shared.shape
        return (cols, rows) if self._transposed else (rows, cols)

    @property
    def dtype(self) -> np.dtype:
        """The type of A's elements and of x's, as NumPy's type; bfloat16 is that of ml_dtypes."""
        return numpy_dtype(self._shared.main.dtype_name)

    @property
    def out_dtype(self) -> np.dtype:
        """The type of results."""
        return numpy_dtype(self._shared.main.out_dtype_name)

    @property
    def nnz(self) -> int:
        """Entries of the CSR that the matrix was made from."""
        return self._shared.main.nnz

    @property
    def device(self) -> str:
        """ "cpu" or "cuda:0"."""
        return self._shared.main.device

    @property
    def device_bytes(self) -> int:
        """Memory of all plans made so far; the copy of the CSR, which `keep=False` does without, is
        not counted."""
        products = (product.plan for product in self._shared.products.values())
        plans = [plan for plan in products if plan is not None]
        return sum(plan.device_bytes for plan in [*plans, *self._shared.sampled.values()])

    @property
    def fingerprint(self) -> int:
        """Equal for plans that give equal bits for equal matrices and operands."""
        return self._plan().fingerprint

    def explain(self) -> str:
        """What the plan decided, and why."""
        return self._plan().explain()

    def update_values(self, values: Any, *, stream: Any = None) -> None:
        """New numbers for the same pattern, in the order of the CSR that the matrix was made from.

        Transposes that were multiplied are packed anew when they are next multiplied.
        """
        if self._transposed or self._conjugated:
            raise ValueError(
                "the values of a transpose or a conjugate are those of the matrix: update that"
            )
        shared = self._shared
        self._plan().update_values(values, stream)
        if shared.csr is not None:
            shared.csr = shared.csr._replace(data=copy_like(shared.csr.data, values))
        for product in shared.products.values():
            if product.plan is not shared.main:
                product.plan = None

    def sddmm(
        self,
        x: Any,
        y: Any,
        out: Any = None,
        *,
        alpha: Any = 1.0,
        beta: Any = 0.0,
        conjugate_y: bool = False,
        stream: Any = None,
    ) -> Any:
        """alpha (X Y^T at the entries of A) + beta out; see `lanky.sddmm()`."""
        if self._transposed or self._conjugated:
            raise ValueError("the pattern of a transpose is not sampled: exchange x and y")
        return self._shared.sampled_plan(conjugate_y).execute(x, y, out, alpha, beta, stream)

    def __repr__(self) -> str:
        rows, cols = self.shape
        what = f"{rows} x {cols}, {self.nnz} entries of {self.dtype}"
        return f"<lanky.SparseMatrix {what}, on {self.device}>"

    def __reduce__(self) -> Any:
        csr = self._shared.kept("a copy")
        return _rebuild, (csr, self._shared.options, self._transposed, self._conjugated)


def _rebuild(csr: Csr, options: dict[str, Any], transposed: bool, conjugated: bool) -> SparseMatrix:
    return SparseMatrix(_Shared(csr, False, True, options), transposed, conjugated)


def sparse(
    source: Any,
    *,
    shape: tuple[int, int] | None = None,
    dtype: Any = None,
    out_dtype: Any = None,
    device: Any = None,
    keep: bool = True,
    engine: str = "auto",
    math: str = "ieee",
    symmetry: str = "general",
    tune: bool = False,
    expected_columns: int = 1,
    expected_layout: str = "row",
    stream: Any = None,
) -> SparseMatrix:
    """A sparse matrix, packed for many products.

    `source`: a sparse matrix of SciPy or CuPy, a CSR tensor of PyTorch, the name of a file, or
    (indptr, indices, data) with `shape`. The matrix is computed with where its arrays are: on the
    CPU, or on their GPU. `device="cuda"` puts one from host memory on a GPU; it multiplies arrays
    there, and copies NumPy's there and back.

    `keep`: hold a copy of the CSR, in the memory where its arrays are, about as large as the packed
    matrix. `A.T`, `A.H`, `lanky.sddmm(A, ...)`, pickle and copy need it. `dtype` converts the
    values. `engine` ("auto", "cuda_cores", "tensor_cores"), `math` ("ieee", "tf32", "tf32x3"),
    `symmetry` ("general", "symmetric", "skew_symmetric", "hermitian": one triangle is given),
    `tune`, `expected_columns` and `expected_layout` ("row", "col") are those of the C++ library.
    """
    csr, fresh = csr_of(source, shape, dtype)
    options = {
        "out_dtype": None if out_dtype is None else type_name(out_dtype),
        "device": None if device is None else str(device),
        "engine": engine,
        "math": math,
        "symmetry": symmetry,
        "tune": tune,
        "expected_columns": expected_columns,
        "expected_layout": expected_layout,
    }
    return SparseMatrix(_Shared(csr, fresh, keep, options, stream))
