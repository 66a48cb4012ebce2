"""Matrix files and generators, to and from SciPy's sparse arrays."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from lanky import _core
from lanky._sources import csr_of, to_numpy, type_name

_SCIPY_TYPES = ("float32", "float64", "complex64", "complex128")
_WRITTEN = (".mtx", ".mtx.gz", ".mtx.xz", ".mtx.zst", ".mtx.bz2", ".lanky")


def _require_scipy_type(name: str, instead: str) -> None:
    if name not in _SCIPY_TYPES:
        raise TypeError(f"SciPy has no sparse arrays of {name}; use {instead}")


def _scipy_array(rows: int, cols: int, indptr: Any, indices: Any, data: Any) -> Any:
    try:
        from scipy.sparse import csr_array
    except ImportError as error:
        raise ImportError(
            "sparse arrays are SciPy's: pip install scipy (lanky.sparse() reads files without it)"
        ) from error
    # csr_array widens the indices to the type of indptr.
    if data.size < 2**31:
        indptr = indptr.astype("int32")
    return csr_array((data, indices, indptr), shape=(rows, cols))


def read(
    path: str | os.PathLike,
    *,
    dtype: Any = None,
    variable: str = "",
    duplicates: str = "sum",
    cache: str | os.PathLike = "",
) -> Any:
    """A matrix file as a SciPy csr_array of `dtype` (default: float64, or complex128 where the file
    is complex).

    The content tells the format: Matrix Market and Rutherford-Boeing, plain or compressed (.gz,
    .xz, .zst, .bz2, SuiteSparse's .tar.gz), MATLAB's .mat (`variable` names one of several) and
    lanky's own. `duplicates`, of entries given more than once: "sum", "keep" or "reject". `cache`:
    a folder for binary copies of what is read, which load at the speed of memory."""
    os.stat(path)  # FileNotFoundError, as from open()
    name = None if dtype is None else type_name(dtype)
    if name is not None:
        _require_scipy_type(name, f"lanky.sparse(path, dtype={name!r})")
    return _scipy_array(
        *_core.read(path, dtype=name, variable=variable, duplicates=duplicates, cache=cache)
    )


def write(path: str | os.PathLike, source: Any, *, comment: str = "") -> None:
    """Writes a sparse matrix (all that `lanky.sparse()` takes) in the format that the name's ending
    tells: Matrix Market (.mtx, compressed as .mtx.gz, .mtx.xz, .mtx.zst or .mtx.bz2), or .lanky,
    which loads at the speed of memory."""
    if not os.fsdecode(path).endswith(_WRITTEN):
        raise ValueError(f"{os.fsdecode(path)}: the name must end with one of {', '.join(_WRITTEN)}")
    csr, _ = csr_of(source)
    arrays = to_numpy(csr.indptr), to_numpy(csr.indices), to_numpy(csr.data)
    _core.write(path, *arrays, *csr.shape, comment=comment)


def generate(spec: str, *, dtype: Any = "float64") -> Any:
    """The matrix of a generator, "stencil27:64" or "rmat:20,seed=7", as a SciPy csr_array;
    `generators()` lists them. Equal specs give equal bits on every machine."""
    name = type_name(dtype)
    _require_scipy_type(name, "float32, and lanky.sparse(S, dtype=...)")
    return _scipy_array(*_core.generate(spec, name))


def fetch(
    name: str, *, cache: str | os.PathLike = "", mirror: str = "", verify: bool = False
) -> pathlib.Path:
    """The archive of a matrix of the SuiteSparse Matrix Collection, "HB/1138_bus" or "1138_bus",
    for `read()` and `sparse()`.

    It is downloaded once into `cache` (default: $LANKY_CACHE, $XDG_CACHE_HOME/lanky or
    ~/.cache/lanky), where the program `lanky fetch` keeps its own; an interrupted download goes on
    the next time. `verify` reads what is there, and fetches it again where it is damaged. `mirror`:
    another server of the collection."""
    return pathlib.Path(_core.fetch(name, cache=cache, mirror=mirror, verify=verify))


def generators() -> str:
    """One line a generator: its name, its parameters, what it makes."""
    return _core.generator_help()
