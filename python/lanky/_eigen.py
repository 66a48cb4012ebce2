"""Eigenpairs: lanky.eigsh() and lanky.lobpcg(), with SciPy's arguments."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lanky import _core
from lanky._errors import NoConvergence
from lanky._matrix import SparseMatrix
from lanky._operators import (
    Problem,
    as_vectors,
    iterations_of,
    multiplication,
    progress_of,
    seed_of,
)
from lanky._streams import solver_stream

# Eigenpairs of several results: each with the numbers of those that are meant.
Chosen = list[tuple[Any, list[int]]]

_ROUGH_ITERATIONS = 40  # by which eigenvalues of largest magnitude are seen at either end


class _Solver:
    """lobpcg() of the extension module, with all that stays from call to call."""

    def __init__(
        self,
        problem: Problem,
        a: Any,
        b: Any,
        preconditioner: Any,
        *,
        mass: str,
        constraints: Any,
        mixed_precision: bool,
        **options: Any,
    ) -> None:
        self.problem = problem
        self.a, self.b, self.preconditioner = a, b, preconditioner
        self.mass = mass  # what the caller's argument for B is named
        self.constraints = constraints
        self.a_single = problem.single() if mixed_precision else None
        self.options = options

    def run(self, k: int, largest: bool, start: Any, **changed: Any) -> Any:
        options = {**self.options, **changed}
        if options["block_size"] != 0:
            options["block_size"] = max(k, options["block_size"])
        try:
            return _core.lobpcg(
                self.problem.place,
                self.a,
                self.b,
                self.preconditioner,
                self.a_single,
                self.constraints,
                start,
                k=k,
                largest=largest,
                **options,
            )
        except ValueError as error:
            text = str(error)
            if self.mass != "B" and text.startswith("B is "):
                raise ValueError(self.mass + text[1:]) from None
            raise

    def one_end(self, k: int, largest: bool, start: Any) -> Chosen:
        return [(self.run(k, largest, start), list(range(k)))]

    def both_ends(self, k: int, start: Any) -> Chosen:
        """Half of the k at each end, and one more at the upper one where k is odd."""
        upper = self.one_end(k - k // 2, True, start)
        return upper if k == 1 else upper + self.one_end(k // 2, False, start)

    def largest_magnitude(self, k: int, start: Any) -> Chosen:
        """The k eigenpairs of largest magnitude.

        A few iterations tell how many of them are at each end. These alone are then computed, so
        that nothing waits for an end near 0, where eigenvalues converge late."""
        limit = min(self.options["max_iterations"] or _ROUGH_ITERATIONS, _ROUGH_ITERATIONS)
        rough = {end: self.run(k, end, start, max_iterations=limit) for end in (True, False)}
        values = {end: result["values"] for end, result in rough.items()}
        first = self._split(values, k)
        if any(result["status"] == "stopped" for result in rough.values()):
            return [(rough[end], list(range(count))) for end, count in first.items()]
        counts = dict(first)
        found: dict[bool, Any] = {}
        known: dict[bool, int] = {True: 0, False: 0}  # values of `found` that are as good as asked
        while True:
            for end, count in counts.items():
                if count <= known[end]:
                    continue
                if _there(rough[end]) >= count:
                    found[end], known[end] = rough[end], _there(rough[end])
                else:
                    found[end] = self.run(count, end, rough[end]["vectors"].array())
                    known[end] = count
            values = {
                end: found[end]["values"][: known[end]] if end in found else [] for end in known
            }
            split = self._split(values, k)
            chosen = [(found[end], list(range(n))) for end, n in split.items() if n > 0]
            if any(result["status"] == "stopped" for result in found.values()):
                if sum(split.values()) == k:
                    return chosen
                return [(rough[end], list(range(count))) for end, count in first.items()]
            least = min(abs(result["values"][which[-1]]) for result, which in chosen)
            grown = False
            for end, count in split.items():
                # Where an end's known ones are all among the k, its next one may be, too.
                if count < known[end] or count == k:
                    continue
                outward = rough[end]["values"][count] * (1 if end else -1)
                if outward + rough[end]["residuals"][count] > least or (
                    end and sum(split.values()) < k
                ):
                    counts[end], grown = count + 1, True
            if not grown:
                return chosen

    def _split(self, values: dict[bool, list[float]], k: int) -> dict[bool, int]:
        """How many of the k of largest magnitude are at each end. Zeros, which both ends may have,
        are the upper end's."""
        sizes = [abs(value) for each in values.values() for value in each]
        zero = 100 * float(np.finfo(self.problem.real).eps) * max(sizes, default=0.0)
        places = [(value, True) for value in values[True] if value > zero]
        places += [(-value, False) for value in values[False] if value < -zero]
        places.sort(key=lambda place: -place[0])
        counts = {end: sum(place[1] is end for place in places[:k]) for end in (True, False)}
        missing = k - counts[True] - counts[False]
        counts[True] = min(counts[True] + missing, len(values[True]))
        return counts


def _gather(problem: Problem, chosen: Chosen, of: Callable[[float], float]) -> tuple[Any, Any]:
    """Eigenvalues of(value), ascending, and a function for their vectors, which not all need."""
    values = [of(result["values"][j]) for result, which in chosen for j in which]
    order = sorted(range(len(values)), key=lambda i: values[i])

    def vectors() -> Any:
        if len(chosen) == 1:
            result, which = chosen[0]
            return problem.columns_of(result["vectors"], [which[i] for i in order])
        parts = [problem.columns_of(result["vectors"], which) for result, which in chosen if which]
        together = problem.library.together(parts)
        return together[:, problem.library.positions(order)]

    return problem.numbers([values[i] for i in order]), vectors


def _there(result: Any) -> int:
    """How many have converged, counted from the end."""
    return len(result["values"]) if result["status"] == "converged" else result["converged"]


def _converged(chosen: Chosen) -> Chosen:
    return [(result, [j for j in which if j < _there(result)]) for result, which in chosen]


def _how(results: Any) -> str:
    """Why a solver ended, for messages."""
    ends = {
        "iterations_exhausted": "the iterations were exhausted",
        "stagnated": "residuals stagnated",
        "stopped": "the callback stopped it",
        "converged": "it ended",
    }
    result = min(results, key=lambda each: each["status"] == "converged")
    return f"{ends[result['status']]} after {result['iterations']} iterations"


def eigsh(
    A: Any,  # noqa: N803
    k: int = 6,
    M: Any = None,  # noqa: N803
    sigma: float | None = None,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,  # noqa: N803
    OPinv: Any = None,  # noqa: N803
    mode: str = "normal",
    rng: Any = None,
    *,
    preconditioner: Any = None,
    polynomial_degree: int | None = None,
    mixed_precision: bool = False,
    callback: Callable[[Any], Any] | None = None,
) -> Any:
    """k eigenvalues of a symmetric or Hermitian A, or of A x = lambda M x, ascending, and their
    eigenvectors as columns, by LOBPCG. Arguments are those of `scipy.sparse.linalg.eigsh`.

    `A`, `M`: what `lanky.sparse()` takes, a SparseMatrix, a dense matrix, or an operator with
    `shape`, `dtype` and `matmat` or `matvec`. M is positive definite. Results are arrays of the
    library of `v0`, else of that of A; an operator is called with arrays of that library, which are
    of use during the call alone.

    `which`: "SA" and "LA", the algebraically smallest and largest; "LM", of largest magnitude, for
    which both ends are looked at; "BE", half at each end; "SM", for a positive semidefinite A.
    Where A is positive semidefinite, "LA" is "LM" for less. `sigma` needs `OPinv`, which applies
    (A - sigma M)^-1: eigenvalues lambda near sigma are those where 1 / (lambda - sigma) is largest.

    `preconditioner`: near the inverse of A, positive definite: an operator, or "jacobi" or
    "block_jacobi" (of 8 rows), which are made from a sparse A. It serves the smallest eigenvalues,
    which converge slowly without one.

    `tol`: residuals are at most tol abs(lambda), or what rounding allows; 0 is 1e-8, and 1e-4 in
    float32. The error of lambda is about the square of that. `ncv`: the dimension of the space that
    is searched, three times the vectors that are iterated at once. `v0`: start vectors, one or
    several. `rng`: a seed. `Minv` is not needed, and not used. Without M and a preconditioner, a
    polynomial of A preconditions: `polynomial_degree` products more in each iteration, 0 for none,
    None for a degree that follows from the bytes that products move. With `mixed_precision`, the
    polynomial's products are in single precision, which takes a copy of the sparse A; residuals and
    results stay in double.

    `callback(progress)` is called after each iteration with `iteration`, `converged`, `wanted`,
    `residual`, `tolerance` and `seconds`. Where it returns False or raises StopIteration, the best
    so far is returned. Otherwise lanky.NoConvergence is raised where fewer than k have converged
    after `maxiter` iterations (2000); its `eigenvalues` and `eigenvectors` are those that have.
    """
    if mode != "normal":
        raise ValueError(f'mode is "{mode}"; lanky has "normal" alone')
    if sigma is None and OPinv is not None:
        raise ValueError("OPinv is given without sigma, the shift that it belongs to")
    if sigma is not None and OPinv is None:
        raise ValueError(
            f"sigma is {sigma} and OPinv is None; lanky factors no matrices: pass OPinv=, which "
            "applies (A - sigma M)^-1, such as scipy.sparse.linalg.splu(A - sigma * M).solve"
        )
    if which not in ("LM", "SM", "LA", "SA", "BE"):
        raise ValueError(f'which is "{which}"; known are "LM", "SM", "LA", "SA" and "BE"')
    k = operator.index(k)
    start = None if v0 is None else as_vectors(v0, "v0", None)
    with solver_stream(A, v0, M, OPinv, preconditioner):
        problem = Problem(A, _core.eigen_columns(k), start, "v0")
        n = problem.require_square()
        first = problem.operand(v0, "v0")
        if not 1 <= k <= n:
            raise ValueError(
                f"k is {k}, and A is {n} x {n}; 1 to {n} eigenvalues can be asked for"
            )
        if ncv is not None and ncv <= k:
            raise ValueError(f"ncv is {ncv}, and k is {k}; more than k are needed")
        mass = problem.matrix_of(M, "M")
        inverse = None
        if sigma is not None:
            inverse = problem.operator_of(_inverse(mass, OPinv), "OPinv")
        solver = _Solver(
            problem,
            problem.operator_of(problem.a, "A") if inverse is None else inverse,
            problem.operator_of(mass, "M"),
            problem.operator_of(preconditioner, "preconditioner"),
            mass="M",
            constraints=None,
            mixed_precision=mixed_precision,
            tolerance=_tolerance(tol),
            max_iterations=iterations_of(maxiter),
            block_size=0 if ncv is None else max(k, ncv // 3),
            polynomial_degree=-1 if polynomial_degree is None else polynomial_degree,
            seed=seed_of(rng),
            progress=progress_of(callback),
        )
        if which == "LM":
            chosen = solver.largest_magnitude(k, first)
        elif which == "BE":
            chosen = solver.both_ends(k, first)
        else:
            chosen = solver.one_end(k, which == "LA", first)
        if which == "SM":
            _require_semidefinite(chosen[0][0], problem.real)
        return _eigsh_result(problem, chosen, k, sigma, return_eigenvectors)


def _require_semidefinite(result: Any, real: str) -> None:
    """ValueError where the smallest eigenvalue is below 0 by more than rounding."""
    rounding = 100 * float(np.finfo(real).eps) * result["norm"]
    least = result["values"][0]
    if least < -result["residuals"][0] - rounding:
        raise ValueError(
            f'which is "SM", and A has the eigenvalue {least:.6g} below 0; lanky finds eigenvalues '
            "inside of the spectrum by sigma=0 and OPinv= alone"
        )


def _eigsh_result(
    problem: Problem, chosen: Chosen, k: int, sigma: float | None, with_vectors: bool
) -> Any:
    def of(value: float) -> float:
        if sigma is None:
            return value
        return sigma + 1 / value if value != 0 else math.inf

    results = [result for result, _ in chosen]
    there = sum(len(which) for _, which in _converged(chosen))
    if there < k and all(result["status"] != "stopped" for result in results):
        values, vectors = _gather(problem, _converged(chosen), of)
        raise NoConvergence(
            f"{there} of {k} eigenpairs have converged: {_how(results)}; a preconditioner, a "
            "larger ncv or maxiter, or a looser tol helps",
            values,
            vectors() if there > 0 else None,
        )
    values, vectors = _gather(problem, chosen, of)
    return (values, vectors()) if with_vectors else values


def _tolerance(tol: float | None) -> float:
    tol = 0.0 if tol is None else float(tol)
    if not tol >= 0:
        raise ValueError(f"tol is {tol}; 0 or more is needed")
    return tol


class _Inverse:
    """M OPinv M, or OPinv where there is no M: of A x = lambda M x, it has the eigenvalues
    1 / (lambda - sigma) beside M."""

    def __init__(self, mass: Any, opinv: Any) -> None:
        self.mass = None if mass is None else multiplication(mass, "M")
        self.inverse = multiplication(opinv, "OPinv")

    def matmat(self, x: Any) -> Any:
        if self.mass is None:
            return self.inverse(x)
        return self.mass(self.inverse(self.mass(x)))


def _inverse(mass: Any, opinv: Any) -> Any:
    if mass is None and isinstance(opinv, SparseMatrix):
        return opinv
    return _Inverse(mass, opinv)


def lobpcg(
    A: Any,  # noqa: N803
    X: Any,  # noqa: N803
    B: Any = None,  # noqa: N803
    M: Any = None,  # noqa: N803
    Y: Any = None,  # noqa: N803
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
    verbosityLevel: int = 0,  # noqa: N803
    retLambdaHistory: bool = False,  # noqa: N803
    retResidualNormsHistory: bool = False,  # noqa: N803
    restartControl: int = 20,  # noqa: N803
    *,
    rng: Any = None,
    polynomial_degree: int | None = None,
    mixed_precision: bool = False,
    callback: Callable[[Any], Any] | None = None,
) -> tuple[Any, Any]:
    """Eigenvalues at one end of A x = lambda B x, as many as X has columns, from its columns as
    start vectors, and their eigenvectors, outermost first. Arguments are those of
    `scipy.sparse.linalg.lobpcg`; those of `lanky.eigsh()` say what operators and callbacks are.

    `A`, `B` and `M` may also be functions of X. `M` is the preconditioner: near the inverse of A,
    an operator, or "jacobi" or "block_jacobi". Eigenpairs are sought among vectors that are
    B-orthogonal to the columns of `Y`, which need not be eigenvectors.

    `tol` and `maxiter` are those of `lanky.eigsh()`: SciPy's tolerance is absolute, and it ends
    after 20 iterations. `polynomial_degree` and `mixed_precision` are as there. A UserWarning says
    that not all have converged. The basis is always orthonormal, so that `restartControl` has
    nothing to do. `verbosityLevel` above 0 prints a line an iteration.
    """
    if retLambdaHistory or retResidualNormsHistory:
        raise ValueError(
            "lanky keeps no histories for retLambdaHistory and retResidualNormsHistory; callback= "
            "is told the largest residual of each iteration"
        )
    start = as_vectors(X, "X", None)
    k = int(start.shape[1])
    if k < 1:
        raise ValueError(f"X has shape {tuple(X.shape)}; 1 or more columns are needed")
    progress = progress_of(callback)
    if verbosityLevel > 0:
        progress = _printing(progress)
    with solver_stream(A, X, B, M):
        problem = Problem(A, _core.eigen_columns(k), start, "X")
        n = problem.require_square()
        if start.shape[0] != n:
            raise ValueError(f"X has shape {tuple(X.shape)}, and A is {n} x {n}")
        solver = _Solver(
            problem,
            problem.operator_of(problem.a, "A"),
            problem.operator_of(B, "B"),
            problem.operator_of(M, "M"),
            mass="B",
            constraints=problem.operand(Y, "Y"),
            mixed_precision=mixed_precision,
            tolerance=_tolerance(tol),
            max_iterations=iterations_of(maxiter),
            block_size=0,
            polynomial_degree=-1 if polynomial_degree is None else polynomial_degree,
            seed=seed_of(rng),
            progress=progress,
        )
        result = solver.run(k, bool(largest), problem.operand(start, "X"))
        if _there(result) < k:
            worst = max(result["residuals"])
            warnings.warn(
                f"{_there(result)} of {k} eigenpairs have converged: {_how([result])}, with "
                f"residuals up to {worst:.3g}",
                UserWarning,
                stacklevel=2,
            )
        return problem.numbers(result["values"]), problem.columns_of(result["vectors"], range(k))


def _printing(callback: Any) -> Callable[[Any], Any]:
    def progress(told: Any) -> Any:
        print(
            f"iteration {told.iteration}: {told.converged} of {told.wanted} converged, residual "
            f"{told.residual:.3e} (tolerance {told.tolerance:.1e})"
        )
        return None if callback is None else callback(told)

    return progress
