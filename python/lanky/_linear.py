"""Solutions of A X = B for a self-adjoint A: lanky.cg(), block_cg() and minres()."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from lanky import _core
from lanky._operators import Problem, as_vectors, iterations_of, progress_of
from lanky._streams import solver_stream


def cg(
    A: Any,  # noqa: N803
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,  # noqa: N803
    callback: Callable[[Any], Any] | None = None,
) -> tuple[Any, int]:
    """The solution of A x = b, A positive definite, by conjugate gradients, and 0, or the number of
    iterations where norm(b - A x) <= max(rtol norm(b), atol) was not reached. Arguments are those
    of `scipy.sparse.linalg.cg`; those of `lanky.eigsh()` say what operators and callbacks are.

    `b` may have several columns, each with a recurrence of its own, and one product for all. The
    solution is of b's shape and library. `M`: near the inverse of A, positive definite: an
    operator, or "jacobi" or "block_jacobi" (of 8 rows), which are made from a sparse A.
    """
    return _solve("cg", A, b, x0, rtol, atol, maxiter, M, callback)


def block_cg(
    A: Any,  # noqa: N803
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,  # noqa: N803
    callback: Callable[[Any], Any] | None = None,
) -> tuple[Any, int]:
    """As `lanky.cg()`, by block conjugate gradients: each solution is sought in the Krylov spaces
    of all columns of b, which takes fewer iterations where these are several."""
    return _solve("block_cg", A, b, x0, rtol, atol, maxiter, M, callback)


def minres(
    A: Any,  # noqa: N803
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    shift: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,  # noqa: N803
    callback: Callable[[Any], Any] | None = None,
    show: bool = False,
    check: bool = False,
) -> tuple[Any, int]:
    """As `lanky.cg()`, for a symmetric or Hermitian A that may be indefinite or singular, by
    MINRES. Arguments are those of `scipy.sparse.linalg.minres`; M is positive definite."""
    if shift != 0:
        raise ValueError(f"shift is {shift}; pass A - shift I as A")
    if show or check:
        raise ValueError(
            "lanky.minres() has neither show nor check; callback= is told the residual"
        )
    return _solve("minres", A, b, x0, rtol, 0.0, maxiter, M, callback)


def _solve(
    method: str,
    source: Any,
    b: Any,
    x0: Any,
    rtol: float,
    atol: float,
    maxiter: int | None,
    preconditioner: Any,
    callback: Any,
) -> tuple[Any, int]:
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise ValueError(f"{name} is {value}; 0 or more is needed")
    sides = as_vectors(b, "b", None)
    columns = int(sides.shape[1])
    with solver_stream(source, b, preconditioner):
        problem = Problem(source, columns, sides, "b")
        n = problem.require_square()
        if sides.shape[0] != n:
            raise ValueError(f"b has shape {tuple(b.shape)}, and A is {n} x {n}")
        x = problem.block(columns, x0, "x0")
        result = _core.solve(
            method,
            problem.place,
            problem.operator_of(problem.a, "A"),
            problem.operand(sides, "b"),
            x,
            problem.operator_of(preconditioner, "M"),
            tolerance=rtol if rtol > 0 else sys.float_info.min,  # 0 is the library's own
            absolute_tolerance=atol,
            max_iterations=iterations_of(maxiter),
            progress=progress_of(callback),
        )
        solution = problem.columns_of(x, range(columns))
        if len(b.shape) == 1:
            solution = solution.reshape(n)
        return solution, 0 if result["status"] == "converged" else max(1, result["iterations"])
