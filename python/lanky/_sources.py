"""Sparse matrices from wherever they come: SciPy, CuPy, PyTorch, files, or three arrays."""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

import numpy as np

from lanky import _core

MOST = 2**31 - 1  # rows, and columns, of a sparse matrix


class Csr(NamedTuple):
    """Compressed sparse rows, zero-based; the arrays are all of one library and in one memory."""

    indptr: Any
    indices: Any
    data: Any
    shape: tuple[int, int]


# Of C++, C, the program and the documentation. NumPy's "f16" is a float of 16 bytes, which lanky
# does not multiply.
_NAMES_OF_LANKY = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "c64": "complex64",
    "c128": "complex128",
}


def type_name(dtype: Any) -> str:
    """ "float64" of NumPy's, CuPy's, PyTorch's and JAX's types alike."""
    if isinstance(dtype, str):
        name = dtype.removeprefix("torch.")
        return _NAMES_OF_LANKY.get(name, name)
    if isinstance(dtype, (type, np.dtype)):
        return np.dtype(dtype).name
    return str(dtype).removeprefix("torch.")


def numpy_dtype(name: str) -> np.dtype:
    """NumPy's type of that name; bfloat16 is that of ml_dtypes."""
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError as error:
            raise ImportError(
                "NumPy has bfloat16 by way of ml_dtypes: pip install ml_dtypes"
            ) from error
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def is_torch(array: Any) -> bool:
    """Whether it is a tensor of PyTorch, which need not be installed."""
    return type(array).__module__.partition(".")[0] == "torch"


def is_sparse(source: Any) -> bool:
    """Whether lanky.sparse() takes it."""
    if isinstance(source, (str, os.PathLike, tuple)) or hasattr(source, "tocsr"):
        return True
    return is_torch(source) and str(source.layout) != "torch.strided"


def convert(array: Any, name: str) -> Any:
    """The array with elements of that type; the same array where they are already."""
    if type_name(array.dtype) == name:
        return array
    if is_torch(array):
        import torch

        return array.to(getattr(torch, name))
    return array.astype(numpy_dtype(name))


def copy_of(array: Any) -> Any:
    """A copy that the caller cannot change."""
    if is_torch(array):
        return array.detach().clone()
    copy = getattr(array, "copy", None)
    return array if copy is None else copy()


def copy_like(array: Any, values: Any) -> Any:
    """A copy of `values` in the library and the memory of `array`."""
    if is_torch(array):
        import torch

        return torch.as_tensor(values).detach().to(device=array.device, copy=True)
    if type(values) is type(array):
        return copy_of(values)
    module = sys.modules[type(array).__module__.partition(".")[0]]
    if hasattr(module, "array"):
        return module.array(values)
    return array.__array_namespace__().asarray(values, device=array.device, copy=True)


def to_numpy(array: Any) -> np.ndarray:
    """The elements in host memory."""
    if is_torch(array):
        return array.detach().cpu().numpy()
    get = getattr(array, "get", None)  # of CuPy
    return np.asarray(array if get is None else get())


def csr_of(
    source: Any, shape: tuple[int, int] | None = None, dtype: Any = None
) -> tuple[Csr, bool]:
    """The matrix in compressed sparse rows, and whether its arrays are new, so that nobody else
    changes them."""
    csr, fresh = _read(source, dtype)
    if shape is not None:
        csr = csr._replace(shape=_extents(shape))
    if csr.shape[1] < 0:
        _require_integers(csr.indices, "indices")
        last = int(csr.indices.max()) if len(csr.indices) > 0 else -1
        csr = csr._replace(shape=(csr.shape[0], last + 1))
    rows, cols = csr.shape
    if rows > MOST or cols > MOST:
        raise ValueError(
            f"shape is ({rows}, {cols}); a sparse matrix has at most 2^31 - 1 rows and columns"
        )
    data = csr.data if dtype is None else convert(csr.data, type_name(dtype))
    return Csr(_offsets(csr.indptr), _columns(csr.indices, cols), data, csr.shape), fresh


def _read(source: Any, dtype: Any) -> tuple[Csr, bool]:
    if isinstance(source, Csr):
        return source, False
    if isinstance(source, (str, os.PathLike)):
        os.stat(source)  # FileNotFoundError, as from open()
        name = None if dtype is None else type_name(dtype)
        rows, cols, indptr, indices, data = _core.read(source, dtype=name)
        return Csr(indptr, indices, data, (rows, cols)), True
    if isinstance(source, tuple):
        if len(source) != 3:
            raise ValueError(
                f"a tuple of {len(source)} was given; (indptr, indices, data) are three arrays"
            )
        for name, array in zip(("indptr", "indices", "data"), source):
            if not hasattr(array, "dtype") or not hasattr(array, "shape"):
                raise TypeError(f"{name} is a {type(array).__name__}; an array is needed")
            if len(array.shape) != 1:
                raise ValueError(f"{name} has shape {tuple(array.shape)}; a vector is needed")
        # Of NumPy's subclasses, masked arrays and matrices, the elements count, as for SciPy.
        indptr, indices, data = (
            np.asarray(array) if isinstance(array, np.ndarray) else array for array in source
        )
        return Csr(indptr, indices, data, (len(indptr) - 1, -1)), False
    if is_torch(source):
        return _of_torch(source), False
    if hasattr(source, "tocsr"):
        matrix = source.tocsr()
        if len(matrix.shape) != 2:
            raise ValueError(
                f"a sparse array of shape {matrix.shape} was given; a matrix of 2 dimensions is "
                "needed"
            )
        return Csr(matrix.indptr, matrix.indices, matrix.data, matrix.shape), matrix is not source
    raise TypeError(
        f"a {type(source).__name__} was given; sparse matrices of SciPy, CuPy and PyTorch (CSR), "
        "names of files and (indptr, indices, data) are taken"
    )


def _of_torch(tensor: Any) -> Csr:
    import torch

    if tensor.layout != torch.sparse_csr:
        raise TypeError(f"a tensor of layout {tensor.layout} was given; use .to_sparse_csr()")
    if tensor.ndim != 2 or tensor.values().ndim != 1:
        raise ValueError(
            f"a sparse tensor of shape {tuple(tensor.shape)} with values of shape "
            f"{tuple(tensor.values().shape)} was given; a matrix of numbers is needed"
        )
    values = tensor.values().detach()
    return Csr(
        tensor.crow_indices(), tensor.col_indices(), values, (tensor.shape[0], tensor.shape[1])
    )


def _extents(shape: Any) -> tuple[int, int]:
    if len(shape) != 2:
        raise ValueError(f"shape is {tuple(shape)}; two extents are needed")
    rows, cols = (int(extent) for extent in shape)
    if rows < 0 or cols < 0:
        raise ValueError(f"shape is ({rows}, {cols}); extents are 0 or more")
    return rows, cols


def _require_integers(array: Any, name: str) -> str:
    kind = type_name(array.dtype)
    if not kind.startswith(("int", "uint")):
        raise TypeError(f"{name} are {kind}; integers are needed")
    return kind


def _offsets(indptr: Any) -> Any:
    kind = _require_integers(indptr, "indptr")
    return indptr if kind in ("int32", "int64") else convert(indptr, "int64")


def _columns(indices: Any, cols: int) -> Any:
    if _require_integers(indices, "indices") == "int32":
        return indices
    # An index that int32 does not hold would come back as another one.
    if len(indices) > 0:
        least, most = int(indices.min()), int(indices.max())
        if least < 0 or most >= cols:
            raise ValueError(
                f"indices lie from {least} to {most}, and the matrix has {cols} columns"
            )
    return convert(indices, "int32")
