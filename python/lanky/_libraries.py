"""Memory of solvers as arrays of the caller's library, and back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from lanky import _core
from lanky._sources import numpy_dtype, type_name


class NumPy:
    """Arrays of NumPy; what other libraries do otherwise is theirs."""

    def __init__(self, like: Any) -> None:
        self.like = like

    def owns(self, array: Any) -> bool:
        """Whether it is an array of the library."""
        return isinstance(array, np.ndarray)

    def adopt(self, view: Any, rows: int) -> Any:
        """An array over memory that the extension module shows."""
        return view

    def write(self, array: Any, view: Any) -> None:
        """Copies an array to memory that the extension module shows."""
        view[...] = array

    def by_rows(self, array: Any) -> Any:
        """The same vectors by rows, without gaps."""
        return np.ascontiguousarray(array)

    def numbers(self, values: Sequence[float], dtype: str) -> Any:
        """A vector of numbers."""
        return np.array(values, dtype=dtype)

    def together(self, arrays: Sequence[Any]) -> Any:
        """Columns side by side, in new memory."""
        return np.concatenate(arrays, axis=1)

    def positions(self, order: Sequence[int]) -> Any:
        """An index that picks columns in that order."""
        return list(order)

    def columns(self, block: Any, which: Sequence[int], copies: bool) -> Any:
        """Columns of a block of the extension module, in new memory."""
        return np.ascontiguousarray((block.to_host() if copies else block.array())[:, which])


class CuPy(NumPy):
    def __init__(self, like: Any) -> None:
        super().__init__(like)
        import cupy

        self.module = cupy

    def owns(self, array: Any) -> bool:
        return isinstance(array, self.module.ndarray)

    def adopt(self, view: Any, rows: int) -> Any:
        return self.module.from_dlpack(view)

    def write(self, array: Any, view: Any) -> None:
        self.module.from_dlpack(view)[...] = array

    def by_rows(self, array: Any) -> Any:
        return self.module.ascontiguousarray(array)

    def numbers(self, values: Sequence[float], dtype: str) -> Any:
        return self.module.array(values, dtype=dtype)

    def together(self, arrays: Sequence[Any]) -> Any:
        return self.module.concatenate(arrays, axis=1)

    def columns(self, block: Any, which: Sequence[int], copies: bool) -> Any:
        return self.by_rows(self.module.from_dlpack(block.array())[:, list(which)])


class Torch(NumPy):
    def __init__(self, like: Any) -> None:
        super().__init__(like)
        import torch

        self.module = torch

    def owns(self, array: Any) -> bool:
        return isinstance(array, self.module.Tensor)

    def adopt(self, view: Any, rows: int) -> Any:
        of_host = isinstance(view, np.ndarray)
        return self.module.from_numpy(view) if of_host else self.module.from_dlpack(view)

    def write(self, array: Any, view: Any) -> None:
        self.adopt(view, len(array)).copy_(array)

    def by_rows(self, array: Any) -> Any:
        return array.contiguous()

    def numbers(self, values: Sequence[float], dtype: str) -> Any:
        kind = getattr(self.module, dtype)
        return self.module.tensor(values, dtype=kind, device=self.like.device)

    def together(self, arrays: Sequence[Any]) -> Any:
        return self.module.cat(list(arrays), dim=1)

    def columns(self, block: Any, which: Sequence[int], copies: bool) -> Any:
        if copies:
            return self.module.from_numpy(super().columns(block, which, copies))
        return self.adopt(block.array(), 0)[:, list(which)]


class Other(NumPy):
    """A library with `__array_namespace__`, such as JAX: its arrays are copies, since it may hold
    that nobody changes them."""

    def __init__(self, like: Any) -> None:
        super().__init__(like)
        self.module = like.__array_namespace__()
        self._identity: Any = None

    def owns(self, array: Any) -> bool:
        return hasattr(array, "__array_namespace__") and not isinstance(array, np.ndarray)

    def _copy(self, array: Any, rows: int, out: Any = None) -> Any:
        """A copy on a GPU by a product with the identity, whose stream is lanky's."""
        if self._identity is None or self._identity.shape[0] != rows:
            ones = np.ones(rows, type_name(self.like.dtype))
            csr = (np.arange(rows + 1), np.arange(rows, dtype="int32"), ones, rows, rows)
            device = _core.SolverPlace(None, self.like, "x").device
            self._identity = _core.SparsePlan(*csr, device=device)
        return self._identity.multiply(array, out)

    def adopt(self, view: Any, rows: int) -> Any:
        if isinstance(view, np.ndarray):
            return self.module.asarray(np.array(view))
        return self.module.from_dlpack(self._copy(view, rows))

    def write(self, array: Any, view: Any) -> None:
        if isinstance(view, np.ndarray):
            view[...] = np.asarray(array)
        else:
            self._copy(array, array.shape[0], view)

    def by_rows(self, array: Any) -> Any:
        return array

    def numbers(self, values: Sequence[float], dtype: str) -> Any:
        return self.module.asarray(np.array(values, dtype=dtype))

    def together(self, arrays: Sequence[Any]) -> Any:
        return self.module.concatenate(arrays, axis=1)

    def positions(self, order: Sequence[int]) -> Any:
        return np.array(order)

    def columns(self, block: Any, which: Sequence[int], copies: bool) -> Any:
        view = block.to_host() if copies else block.array()
        if isinstance(view, np.ndarray):
            return self.module.asarray(np.array(view[:, which]))
        # The copy is there before lanky frees what it was made from.
        columns = self.module.from_dlpack(view)[:, np.array(which)]
        if hasattr(columns, "block_until_ready"):
            columns.block_until_ready()
        return columns


def library_of(like: Any) -> NumPy:
    """The library of an array."""
    name = type(like).__module__.partition(".")[0]
    if name == "cupy":
        return CuPy(like)
    if name == "torch":
        return Torch(like)
    if isinstance(like, np.ndarray):
        return NumPy(like)
    if hasattr(like, "__array_namespace__"):
        return Other(like)
    raise TypeError(
        f"a {type(like).__name__} was given; solvers take arrays of NumPy, CuPy, PyTorch, and of "
        "libraries with __array_namespace__, such as JAX"
    )


def sample_on(device: str, dtype: str) -> Any:
    """An empty array where nothing but the device tells a library: NumPy's, CuPy's or, where that
    is not installed, PyTorch's."""
    if device == "cpu":
        return np.empty(0, numpy_dtype(dtype))
    try:
        import cupy

        with cupy.cuda.Device(int(device.partition(":")[2] or 0)):
            return cupy.empty(0, dtype)
    except ImportError:
        torch = sys.modules.get("torch")
        if torch is None:
            raise TypeError(
                f"A is on {device}, and nothing tells the library of the results; pass a vector of "
                "CuPy, PyTorch or JAX"
            ) from None
        return torch.empty(0, dtype=getattr(torch, dtype), device=device)
