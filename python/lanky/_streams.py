"""The streams that solvers run on."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from lanky._libraries import sample_on
from lanky._matrix import SparseMatrix
from lanky._plans import SparsePlan
from lanky._sources import is_sparse

_own = threading.local()


@contextlib.contextmanager
def solver_stream(source: Any, vectors: Any, *others: Any) -> Iterator[None]:
    """A stream of lanky's own is current in CuPy or PyTorch where the legacy default stream was,
    which no CUDA graph can capture; each waits for the other's work where it goes on. The stream
    stays the caller's where the solver calls functions of the caller.

    `source` is a solver's A, `vectors` an array of the caller's whose library is the solver's, or
    None; `others` are operators beside A, or None."""
    apart: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if all(_is_plain(operator) for operator in (source, *others)):
        like = _like(source) if vectors is None else vectors
        library = type(like).__module__.partition(".")[0]
        if library in ("cupy", "cupyx"):
            apart = _apart_in_cupy(like.data.device)  # sparse matrices have none of their own
        elif library == "torch" and like.is_cuda:
            apart = _apart_in_torch(like.device)
    with apart:
        yield


def _is_plain(operator: Any) -> bool:
    """Whether products with it are lanky's alone."""
    if operator is None or isinstance(operator, (str, SparseMatrix, SparsePlan)):
        return True
    return is_sparse(operator)


def _like(source: Any) -> Any:
    """What tells the library of the results, as Problem finds it."""
    if isinstance(source, SparseMatrix) and source._shared.sample is not None:
        return source._shared.sample
    if isinstance(source, (SparseMatrix, SparsePlan)):
        return sample_on(source.device, "float64")
    return source[0] if isinstance(source, tuple) and source else source


def _kept(device: Any, make: Any) -> Any:
    """The thread's own stream of a device, whose memory its library keeps for the next solver."""
    streams = _own.__dict__.setdefault("streams", {})
    if device not in streams:
        streams[device] = make()
    return streams[device]


@contextlib.contextmanager
def _apart_in_cupy(device: Any) -> Iterator[None]:
    import cupy

    default = cupy.cuda.get_current_stream(device.id)
    if default.ptr != cupy.cuda.Stream.null.ptr:
        yield
        return
    with device:
        own = _kept(("cupy", device.id), lambda: cupy.cuda.Stream(non_blocking=True))
        own.wait_event(default.record())
        try:
            with own:
                yield
        finally:
            default.wait_event(own.record())


@contextlib.contextmanager
def _apart_in_torch(device: Any) -> Iterator[None]:
    import torch

    default = torch.cuda.current_stream(device)
    if default.cuda_stream != 0:
        yield
        return
    own = _kept(("torch", device.index), lambda: torch.cuda.Stream(device))
    own.wait_stream(default)
    try:
        with torch.cuda.stream(own):
            yield
    finally:
        default.wait_stream(own)
