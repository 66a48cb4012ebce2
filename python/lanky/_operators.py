"""Matrices and functions of the caller as the operators of lanky's solvers."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from lanky import _core
from lanky._libraries import library_of, sample_on
from lanky._matrix import SparseMatrix, sparse
from lanky._plans import SparsePlan
from lanky._sources import is_sparse, type_name

_DTYPES = ("float64", "float32", "complex64", "complex128")
_BLOCK_ROWS = 8  # of the blocks of "block_jacobi"


def as_matrix(source: Any, columns: int) -> Any:
    """A SparseMatrix where lanky.sparse() takes the source; else the source."""
    if isinstance(source, SparseMatrix) or not is_sparse(source):
        return source
    return sparse(source, expected_columns=max(1, columns))


def _is_array(source: Any) -> bool:
    return hasattr(source, "__dlpack__") or isinstance(source, np.ndarray)


def as_vectors(array: Any, name: str, rows: int | None) -> Any:
    """A vector or several as a matrix, of so many rows."""
    shape = getattr(array, "shape", None)
    if shape is None or not hasattr(array, "dtype"):
        raise TypeError(f"{name} is a {type(array).__name__}; an array is needed")
    if len(shape) not in (1, 2):
        raise ValueError(f"{name} has {len(shape)} dimensions; 1 or 2 are needed")
    if rows is not None and shape[0] != rows:
        raise ValueError(f"{name} has shape {tuple(shape)}, and A has {rows} rows")
    return array.reshape(-1, 1) if len(shape) == 1 else array


class Problem:
    """A of a solver, the place where that runs, and the library of its results."""

    def __init__(self, source: Any, columns: int, vectors: Any = None, name: str = "A") -> None:
        """`vectors`, named `name`: an array of the caller's, whose library results are of; None
        where A tells it."""
        self.a = as_matrix(source, columns)
        self.columns = columns
        shape = getattr(self.a, "shape", None)
        if shape is None and vectors is not None and callable(self.a):
            shape = (vectors.shape[0], vectors.shape[0])
        if shape is None:
            raise TypeError(
                f"A is a {type(source).__name__}; a matrix, an operator with shape and matmat, "
                "or a function beside an array of start vectors is needed"
            )
        if len(shape) != 2:
            raise ValueError(f"A has {len(shape)} dimensions; a matrix is needed")
        self.shape = (int(shape[0]), int(shape[1]))
        device = self.a.device if isinstance(self.a, (SparseMatrix, SparsePlan)) else None
        like = vectors if vectors is not None else self._sample(device)
        of_a = getattr(self.a, "dtype", None)
        self.dtype = type_name(like.dtype if of_a is None else of_a)
        if self.dtype not in _DTYPES:
            raise TypeError(
                f"A is {self.dtype}; solvers compute in {', '.join(_DTYPES[:-1])} and {_DTYPES[-1]}"
            )
        self.real = {"complex64": "float32", "complex128": "float64"}.get(self.dtype, self.dtype)
        self.library = library_of(like)
        self.place = _core.SolverPlace(device, like, name)
        self.operator: Any = None

    def _sample(self, device: str | None) -> Any:
        if isinstance(self.a, SparseMatrix) and self.a._shared.sample is not None:
            return self.a._shared.sample
        told = getattr(self.a, "dtype", None)
        dtype = "float64" if told is None else type_name(told)
        if device is not None:
            return sample_on(device, dtype)
        if _is_array(self.a):
            return self.a
        if type(self.a).__module__.startswith("cupyx."):
            return sample_on("cuda", dtype)
        return sample_on("cpu", dtype)

    def require_square(self) -> int:
        rows, cols = self.shape
        if rows != cols:
            raise ValueError(f"A is {rows} x {cols}; a square matrix is needed")
        return rows

    def matrix_of(self, source: Any, name: str) -> Any:
        """A matrix beside A, as as_matrix() makes it; None for None."""
        if isinstance(source, str) and not os.path.exists(source):
            raise ValueError(
                f'{name} is "{source}", and no file has that name; preconditioners are "jacobi" '
                'and "block_jacobi"'
            )
        return as_matrix(source, self.columns)

    def operator_of(self, source: Any, name: str, adjoint: bool = False) -> Any:
        """The operator of the extension module; None for None."""
        if source is None:
            return None
        if isinstance(source, str) and source in ("jacobi", "block_jacobi"):
            return self._jacobi(name, 1 if source == "jacobi" else _BLOCK_ROWS)
        matrix = self.matrix_of(source, name)
        shape = getattr(matrix, "shape", None)
        if shape is not None and tuple(shape) != self.shape:
            rows, cols = self.shape
            raise ValueError(f"{name} has shape {tuple(shape)}, and A is {rows} x {cols}")
        if isinstance(matrix, SparsePlan):
            if adjoint:
                raise TypeError("a lanky.SparsePlan has no adjoint; pass a lanky.sparse() matrix")
            return matrix._plan.operator_at(name, self.place, None)
        if isinstance(matrix, SparseMatrix):
            beside = matrix.H._plan() if adjoint else None
            return matrix._plan().operator_at(name, self.place, beside)
        return self._of_functions(matrix, name, adjoint)

    def _of_functions(self, source: Any, name: str, adjoint: bool) -> Any:
        if self.place.copies:
            raise ValueError(
                f"{name} is a {type(source).__name__}, and A is on {self.place.device}; functions "
                "are called with arrays there: pass vectors of CuPy, PyTorch or JAX"
            )
        rows, cols = (int(e) for e in getattr(source, "shape", None) or self.shape)
        dtype = getattr(source, "dtype", None)
        if name != "A" and dtype is not None and not callable(getattr(source, "matmat", None)):
            kind = type_name(dtype)
            if kind != self.dtype:
                raise TypeError(
                    f"{name} is {kind}, and A is {self.dtype}; both must be of one type"
                )
        apply = self._writer(multiplication(source, name), name, cols, rows)
        back = self._writer(adjoint_multiplication(source), name, rows, cols) if adjoint else None
        return _core.operator_of_functions(name, self.place, self.dtype, rows, cols, apply, back)

    def _writer(
        self, multiply: Callable[[Any], Any], name: str, rows_in: int, rows_out: int
    ) -> Callable[[Any, Any], None]:
        library, dtype = self.library, self.dtype

        def apply(x_view: Any, y_view: Any) -> None:
            x = library.adopt(x_view, rows_in)
            columns = x.shape[1]
            y = multiply(x)
            if not library.owns(y):
                raise TypeError(
                    f"{name} returned a {type(y).__name__}, and was given a {type(x).__name__}"
                )
            if tuple(y.shape) == (rows_out,) and columns == 1:
                y = y.reshape(-1, 1)
            if tuple(y.shape) != (rows_out, columns):
                raise ValueError(
                    f"{name} returned shape {tuple(y.shape)} for {columns} vectors; "
                    f"({rows_out}, {columns}) is needed"
                )
            if type_name(y.dtype) != dtype:
                raise TypeError(f"{name} returned {type_name(y.dtype)}, and A is {dtype}")
            library.write(y, y_view)

        return apply

    def single(self) -> Any:
        """The operator of the sparse A in single precision."""
        arrays = self._entries("mixed_precision=True, which needs", "a copy in single precision")
        return _core.single_operator("A", self.place, *arrays, self.columns)

    def _jacobi(self, name: str, block_rows: int) -> Any:
        arrays = self._entries(
            f'{name} is "jacobi" or "block_jacobi", which need', "a preconditioner"
        )
        return _core.block_jacobi(name, self.place, *arrays, block_rows)

    def _entries(self, who: str, what: str) -> tuple[Any, Any, Any, int, int]:
        """indptr, indices, data, rows and columns of the self-adjoint sparse A."""
        if not isinstance(self.a, SparseMatrix):
            raise TypeError(
                f"{who} A's entries; A is a {type(self.a).__name__}, and a sparse matrix is needed"
            )
        csr = self.a._shared.kept(what)
        data = csr.data
        if self.a._transposed != self.a._conjugated and self.dtype.startswith("complex"):
            data = data.conj()  # of a self-adjoint matrix
            data = data.resolve_conj() if hasattr(data, "resolve_conj") else data
        return csr.indptr, csr.indices, data, *csr.shape

    def _by_rows(self, array: Any, name: str) -> Any:
        vectors = as_vectors(array, name, self.shape[0])
        if not self.library.owns(vectors):
            like = type(self.library.like).__name__
            raise TypeError(f"{name} is a {type(array).__name__}, and other vectors are a {like}")
        _core.require_type(array, name, self.dtype)
        return self.library.by_rows(vectors)

    def operand(self, array: Any, name: str) -> Any:
        """Vectors of the caller where the solver runs, by rows; None for None."""
        if array is None:
            return None
        vectors = self._by_rows(array, name)
        if not self.place.copies:
            return vectors
        block = _core.new_block(self.place, self.dtype, *vectors.shape)
        block.copy_from_host(vectors, name)
        return block.array()

    def block(self, columns: int, first: Any, name: str) -> Any:
        """New vectors, which are those of `first`, or zeros."""
        block = _core.new_block(self.place, self.dtype, self.shape[0], columns)
        if first is None:
            return block
        vectors = self._by_rows(first, name)
        if vectors.shape[1] != columns:
            raise ValueError(f"{name} has shape {tuple(first.shape)}, and b has {columns} columns")
        if self.place.copies:
            block.copy_from_host(vectors, name)
        else:
            self.library.write(vectors, block.array())
        return block

    def columns_of(self, block: Any, which: Any) -> Any:
        """Columns of a block as an array of the caller's library."""
        return self.library.columns(block, list(which), self.place.copies)

    def numbers(self, values: Any) -> Any:
        """Real numbers as an array of the caller's library."""
        return self.library.numbers(list(values), self.real)


def multiplication(source: Any, name: str) -> Callable[[Any], Any]:
    """X -> source X."""
    if callable(getattr(source, "matmat", None)):
        return source.matmat
    if hasattr(source, "__matmul__"):
        return lambda x: source @ x
    if callable(getattr(source, "matvec", None)):
        return _by_columns(source.matvec)
    if callable(source):
        return source
    raise TypeError(
        f"{name} is a {type(source).__name__}; a matrix, a function, or an operator with matmat or "
        "matvec is needed"
    )


def adjoint_multiplication(source: Any) -> Callable[[Any], Any]:
    """X -> source^H X."""
    if callable(getattr(source, "rmatmat", None)):
        return source.rmatmat
    if callable(getattr(source, "rmatvec", None)):
        return _by_columns(source.rmatvec)
    if _is_array(source):
        adjoint = source.conj().T
        return lambda x: adjoint @ x
    raise TypeError(
        f"A is a {type(source).__name__} without rmatmat and rmatvec, by which its adjoint is "
        "multiplied"
    )


def _by_columns(multiply: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        columns = [multiply(x[:, j]).reshape(-1, 1) for j in range(x.shape[1])]
        return library_of(x).together(columns)

    return apply


def progress_of(callback: Any) -> Any:
    """`callback`, checked."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is a {type(callback).__name__}; a function is needed")
    return callback


def iterations_of(maxiter: Any) -> int:
    """The limit for the extension module, where 0 is its default."""
    if maxiter is None:
        return 0
    if maxiter < 1:
        raise ValueError(f"maxiter is {maxiter}; 1 or more iterations are needed")
    return min(operator.index(maxiter), 2**31 - 1)


def seed_of(rng: Any) -> int:
    """A seed of random start vectors from what NumPy makes generators of."""
    if rng is None:
        return 0
    if isinstance(rng, (int, np.integer)):
        if rng < 0:
            raise ValueError(f"rng is {rng}; a seed of 0 or more is needed")
        return int(rng) % 2**64
    if isinstance(rng, np.random.RandomState):
        return int(rng.randint(0, 2**31))
    return int(np.random.default_rng(rng).integers(0, 2**63))
