"""lanky.cg(), block_cg() and minres() beside SciPy's and dense solvers, on arrays of every
library."""

import os
import signal
import threading

import numpy as np
import pytest
from conftest import REAL_AND_COMPLEX, draw

import lanky

sp = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

SOLVERS = [lanky.cg, lanky.block_cg, lanky.minres]
SMALL = {"float64": 1e-10, "complex128": 1e-10, "float32": 1e-4, "complex64": 1e-4}


def positive(n, name, seed=1):
    """Positive definite, of a random pattern and of condition some hundreds."""
    half = sp.random(n, n, 0.02, random_state=seed, format="csr")
    half.data = draw(seed, half.nnz, name)
    sums = np.abs(half + half.conj().T).sum(axis=1)
    return sp.csr_matrix((half + half.conj().T + sp.diags(np.ravel(sums) + 0.05)).astype(name))


def residuals(a, x, b):
    wide = "complex128" if a.dtype.kind == "c" else "float64"
    rest = b.astype(wide) - a.astype(wide) @ x.astype(wide)
    return np.linalg.norm(rest, axis=0) / np.linalg.norm(b.astype(wide), axis=0)


@pytest.mark.parametrize("name", REAL_AND_COMPLEX)
@pytest.mark.parametrize("shape", [(300,), (300, 1), (300, 5)])
@pytest.mark.parametrize("solve", SOLVERS)
def test_positive_definite(solve, shape, name):
    a, b = positive(300, name), draw(2, shape, name)
    x, info = solve(a, b, rtol=SMALL[name])
    assert info == 0 and x.shape == shape and x.dtype == name
    assert residuals(a, x, b).max() <= 2 * SMALL[name]


@pytest.mark.parametrize("solve", SOLVERS)
def test_beside_scipy(solve):
    a, b = positive(300, "float64"), draw(2, 300, "float64")
    by_scipy, _ = getattr(linalg, solve.__name__, linalg.cg)(a, b)
    x, info = solve(a, b)  # rtol 1e-5, as SciPy's
    assert info == 0 and residuals(a, x, b) <= 1e-5
    assert np.linalg.norm(x - by_scipy) <= 1e-2 * np.linalg.norm(x)


def test_indefinite():
    a = positive(200, "float64")
    a = sp.csr_matrix(a - np.median(np.linalg.eigvalsh(a.toarray())) * 1.01 * sp.eye(200))
    b = draw(2, (200, 3), "float64")
    x, info = lanky.minres(a, b, rtol=1e-9)
    assert info == 0 and residuals(a, x, b).max() <= 1e-8
    for solve in (lanky.cg, lanky.block_cg):
        with pytest.raises(ValueError, match="positive definite"):
            solve(-positive(200, "float64"), b)


def test_singular():
    """The Laplacian of a ring, with b in its range."""
    n = 120
    ring = np.roll(np.eye(n), 1, axis=0)
    a = sp.csr_matrix(2 * np.eye(n) - ring - ring.T)
    b = draw(2, n, "float64")
    b -= b.mean()
    x, info = lanky.minres(a, b, rtol=1e-9)
    assert info == 0 and residuals(a, x, b) <= 1e-8


@pytest.mark.parametrize("solve", SOLVERS)
def test_libraries(solve, library):
    s, b = positive(200, "float64"), draw(2, (200, 3), "float64")
    csr = (s.indptr, s.indices, s.data)
    a = lanky.sparse(tuple(library.array(array) for array in csr), shape=s.shape)
    for options in (
        {},
        {"M": "jacobi"},
        {"M": "block_jacobi"},
        {"M": lambda x: x / 2},
        {"x0": library.array(draw(3, (200, 3), "float64"))},
    ):
        x, info = solve(a, library.array(b), rtol=1e-9, **options)
        assert info == 0 and isinstance(x, library.kind())
        assert residuals(s, library.numpy(x), b).max() <= 1e-8
    x, info = solve(lambda x: a @ (x + 0), library.array(b[:, 0].copy()), rtol=1e-9)
    assert info == 0 and residuals(s, library.numpy(x), b[:, 0]) <= 1e-8


@pytest.mark.parametrize("solve", SOLVERS)
def test_numpy_on_a_gpu(solve, gpu_library):
    s, b = positive(200, "float64"), draw(2, (200, 3), "float64")
    a = lanky.sparse(s, device="cuda")
    x, info = solve(a, b, x0=b, rtol=1e-9, M="jacobi")
    assert info == 0 and isinstance(x, np.ndarray) and residuals(s, x, b).max() <= 1e-8


@pytest.mark.parametrize("solve", SOLVERS)
def test_start_and_zeros(solve):
    a, b = positive(200, "float64"), draw(2, (200, 2), "float64")
    x, _ = solve(a, b, rtol=1e-12)
    start = x.copy()
    told = []
    again, info = solve(a, b, start, rtol=1e-8, callback=told.append)
    assert info == 0 and len(told) <= 1 and np.allclose(again, x)
    assert np.array_equal(start, x) and again is not start
    b[:, 0] = 0
    x, info = solve(a, b)
    assert info == 0 and not x[:, 0].any() and residuals(a, x[:, 1], b[:, 1]) <= 2e-5
    if solve is not lanky.minres:  # which has no atol, as SciPy's
        x, info = solve(a, b[:, 1], rtol=0, atol=1e-3)
        assert info == 0 and np.linalg.norm(b[:, 1] - a @ x) <= 2e-3


@pytest.mark.parametrize("solve", SOLVERS)
def test_ends(solve):
    a, b = positive(300, "float64"), draw(2, 300, "float64")
    x, info = solve(a, b, maxiter=2, rtol=1e-12)
    assert info == 2 and x.shape == (300,)
    told = []

    def stop(progress):
        told.append(progress)
        return progress.iteration < 5

    x, info = solve(a, b, rtol=1e-12, callback=stop)
    assert info > 0 and told[-1].wanted == 1 and told[-1].residual < 1
    assert residuals(a, x, b) < 1
    with pytest.raises(ZeroDivisionError):
        solve(a, b, callback=lambda progress: 1 / 0)


@pytest.mark.parametrize("solve", SOLVERS)
def test_interrupt(solve):
    # Its condition, 1e14, keeps each solver busy.
    a = sp.csr_matrix(sp.diags(np.geomspace(1e-14, 1, 200_000)))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        while True:
            solve(a, np.ones(200_000), rtol=1e-15, maxiter=10**6)
    timer.join()


GOOD = positive(50, "float64")
BAD = [
    ({"rtol": -1.0}, ValueError, "rtol is -1"),
    ({"maxiter": 0}, ValueError, "maxiter is 0"),
    ({"b": np.ones(49)}, ValueError, r"b has shape \(49,\), and A is 50 x 50"),
    ({"b": [1.0] * 50}, TypeError, "b is a list"),
    ({"b": np.ones(50, "float32")}, TypeError, "b is float32, and A needs float64"),
    ({"b": np.full(50, np.inf)}, ValueError, "NaN or Inf"),
    ({"x0": np.ones((50, 2))}, ValueError, r"x0 has shape \(50, 2\), and b has 1 columns"),
    ({"x0": np.ones(50, "float32")}, TypeError, "x0 is float32"),
    ({"M": "block"}, ValueError, 'M is "block"'),
    ({"M": sp.csr_matrix(sp.eye(49))}, ValueError, r"M has shape \(49, 49\)"),
    ({"A": GOOD[:9]}, ValueError, "A is 9 x 50"),
    ({"callback": 3}, TypeError, "callback is a int"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("solve", SOLVERS)
def test_bad_arguments(solve, arguments, error, message):
    with pytest.raises(error, match=message):
        solve(**{"A": GOOD, "b": np.ones(50), **arguments})


def test_bad_arguments_of_minres():
    for arguments in ({"shift": 1.0}, {"show": True}, {"check": True}):
        with pytest.raises(ValueError, match=next(iter(arguments))):
            lanky.minres(GOOD, np.ones(50), **arguments)
    with pytest.raises(ValueError, match="atol is -1"):
        lanky.cg(GOOD, np.ones(50), atol=-1)
