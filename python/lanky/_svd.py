"""Largest singular values and principal components: lanky.svds() and lanky.pca()."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from lanky import _core
from lanky._errors import NoConvergence
from lanky._operators import Problem, iterations_of, progress_of, seed_of
from lanky._streams import solver_stream


def svds(
    A: Any,  # noqa: N803
    k: int = 6,
    ncv: int | None = None,
    tol: float = 0,
    which: str = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    return_singular_vectors: bool | str = True,
    solver: str = "golub_kahan",
    rng: Any = None,
    options: dict[str, Any] | None = None,
    *,
    random_state: Any = None,
    callback: Callable[[Any], Any] | None = None,
) -> Any:
    """The k largest singular values of A, ascending, with their vectors: (u, s, vh), as
    `scipy.sparse.linalg.svds`, whose arguments these are. Those of `lanky.eigsh()` say what
    operators and callbacks are; an operator has `rmatmat` or `rmatvec`, too.

    `return_singular_vectors`: True, False (s alone), "u" (vh is None) or "vh" (u is None).
    `solver`: "golub_kahan", until residuals are at most `tol` times the largest singular value (0:
    1e-8, and 1e-4 in float32); "randomized", a fixed number of products, for values within a factor
    near 1.
    `options`, of the latter: {"oversampling": 10, "power_iterations": 4}. `rng`: a seed.
    lanky.NoConvergence is raised where fewer than k have converged after `maxiter` iterations.
    """
    result, problem = _triplets(
        A, k, ncv, tol, which, v0, maxiter, solver, rng, random_state, options, callback, False
    )
    values = problem.numbers(reversed(result["values"]))
    if return_singular_vectors is False:
        return values
    if return_singular_vectors not in (True, "u", "vh"):
        raise ValueError(
            f'return_singular_vectors is {return_singular_vectors!r}; True, False, "u" and "vh" '
            "are known"
        )
    order = range(k - 1, -1, -1)
    u = None if return_singular_vectors == "vh" else problem.columns_of(result["u"], order)
    if return_singular_vectors == "u":
        return u, values, None
    return u, values, _adjoint(problem.columns_of(result["v"], order))


class PrincipalComponents(NamedTuple):
    """Principal components, as `lanky.pca()` returns them, most variance first."""

    components: Any  # (k, n): directions, of length 1
    explained_variance: Any  # (k,)
    singular_values: Any  # (k,) of the centered samples
    mean: Any  # (n,) of the columns
    scores: Any  # (m, k): the centered samples in these directions


def pca(
    A: Any,  # noqa: N803
    k: int = 6,
    *,
    tol: float = 0,
    maxiter: int | None = None,
    solver: str = "golub_kahan",
    rng: Any = None,
    options: dict[str, Any] | None = None,
    callback: Callable[[Any], Any] | None = None,
) -> PrincipalComponents:
    """The k directions of most variance of the rows of A, which are samples. The columns' means are
    subtracted in products alone: a sparse A stays sparse. Arguments are those of `lanky.svds()`.
    A is real, or its means are."""
    result, problem = _triplets(
        A, k, None, tol, "LM", None, maxiter, solver, rng, None, options, callback, True
    )
    samples = problem.shape[0]
    values = result["values"]
    k = len(values)
    singular_values = problem.numbers(values)
    return PrincipalComponents(
        _adjoint(problem.columns_of(result["v"], range(k))),
        problem.numbers([value * value / max(1, samples - 1) for value in values]),
        singular_values,
        problem.numbers(result["means"]),
        problem.columns_of(result["u"], range(k)) * singular_values,
    )


def _adjoint(vectors: Any) -> Any:
    conjugate = vectors.conj().T
    return conjugate.resolve_conj() if hasattr(conjugate, "resolve_conj") else conjugate


def _triplets(
    source: Any,
    k: int,
    ncv: int | None,
    tol: float,
    which: str,
    v0: Any,
    maxiter: int | None,
    solver: str,
    rng: Any,
    random_state: Any,
    options: dict[str, Any] | None,
    callback: Any,
    center: bool,
) -> tuple[Any, Problem]:
    if which != "LM":
        raise ValueError(
            f'which is "{which}"; lanky finds the largest singular values, "LM". The smallest are '
            'square roots of lanky.eigsh() of A^H A with which="SA"'
        )
    if ncv is not None or v0 is not None:
        raise ValueError(
            "ncv and v0 are not taken: the block is lanky's choice, and starts from random "
            "vectors, for which rng= is a seed"
        )
    if solver not in ("golub_kahan", "randomized"):
        raise ValueError(f'solver is "{solver}"; known are "golub_kahan" and "randomized"')
    if rng is not None and random_state is not None:
        raise ValueError("rng and random_state are both given, and are the same")
    if not tol >= 0:
        raise ValueError(f"tol is {tol}; 0 or more is needed")
    numbers = {"oversampling": 10, "power_iterations": 4}
    for name, value in (options or {}).items():
        if name not in numbers:
            raise ValueError(
                f'options has "{name}"; known are "oversampling" and "power_iterations"'
            )
        numbers[name] = int(value)
    k = operator.index(k)
    with solver_stream(source, None):
        problem = Problem(source, k)
        rows, cols = problem.shape
        if not 1 <= k <= min(rows, cols):
            raise ValueError(
                f"k is {k}, and A is {rows} x {cols}; 1 to {min(rows, cols)} singular values can "
                "be asked for"
            )
        result = _core.svds(
            problem.place,
            problem.operator_of(problem.a, "A", adjoint=True),
            k=k,
            randomized=solver == "randomized",
            tolerance=float(tol),
            max_iterations=iterations_of(maxiter),
            center=center,
            seed=seed_of(random_state if rng is None else rng),
            progress=progress_of(callback),
            **numbers,
        )
        there = result["converged"]
        # The randomized method promises no tolerance.
        ended = result["status"] in ("converged", "stopped")
        if there < k and solver == "golub_kahan" and not ended:
            vectors = problem.columns_of(result["v"], range(there)) if there > 0 else None
            raise NoConvergence(
                f"{there} of {k} singular triplets have converged after {result['iterations']} "
                "iterations; a larger maxiter or a looser tol helps",
                problem.numbers(result["values"][:there]),
                vectors,
            )
        return result, problem
