"""lanky.svds() and lanky.pca() beside SciPy's and dense solvers, on arrays of every library."""

import numpy as np
import pytest
from conftest import REAL_AND_COMPLEX, draw

import lanky

sp = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

CLOSE = {"float64": 1e-9, "complex128": 1e-9, "float32": 1e-4, "complex64": 1e-4}


def rectangle(rows, cols, name, seed=1, density=0.05):
    a = sp.random(rows, cols, density, random_state=seed, format="csr")
    a.data = draw(seed, a.nnz, name)
    return a.astype(name)


def check(a, found, name, close=None):
    """Values of a dense solver, A v = s u and A^H u = s v, and orthonormal vectors."""
    u, s, vh = found
    close = CLOSE[name] if close is None else close
    k = len(s)
    wide = "complex128" if np.dtype(name).kind == "c" else "float64"
    dense = np.asarray(a.todense() if sp.issparse(a) else a).astype(wide)
    reference = np.sort(np.linalg.svd(dense, compute_uv=False)[:k])
    scale = max(reference.max(), 1e-300)
    assert s.dtype == np.zeros(1, name).real.dtype and u.dtype == name and vh.dtype == name
    assert np.abs(s - reference).max() <= close * scale
    left, right = u.astype(wide), vh.astype(wide).conj().T
    loose = 10 * np.sqrt(close) if close > 1e-6 else 1e-6
    assert np.linalg.norm(dense @ right - left * s, axis=0).max() <= loose * scale
    assert np.linalg.norm(dense.conj().T @ left - right * s, axis=0).max() <= loose * scale
    for vectors in (left, right):
        assert np.abs(vectors.conj().T @ vectors - np.eye(k)).max() <= loose


@pytest.mark.parametrize("name", REAL_AND_COMPLEX)
@pytest.mark.parametrize("shape", [(300, 120), (120, 300), (150, 150)])
def test_values(shape, name):
    a = rectangle(*shape, name)
    check(a, lanky.svds(a, 5), name)


def test_beside_scipy():
    a = rectangle(300, 120, "float64")
    by_scipy = linalg.svds(a, 6)
    u, s, vh = lanky.svds(a)
    assert np.allclose(s, np.sort(by_scipy[1]))  # ascending, as SciPy's
    assert np.allclose(lanky.svds(a, return_singular_vectors=False), s)
    left, values, none = lanky.svds(a, return_singular_vectors="u")
    assert none is None and np.array_equal(left, u) and np.array_equal(values, s)
    none, values, right = lanky.svds(a, return_singular_vectors="vh")
    assert none is None and np.array_equal(right, vh) and np.array_equal(values, s)


def test_libraries(library):
    s = rectangle(200, 90, "float64")
    csr = (s.indptr, s.indices, s.data)
    a = lanky.sparse(tuple(library.array(array) for array in csr), shape=s.shape)
    found = lanky.svds(a, 4)
    assert all(isinstance(each, library.kind()) for each in found)
    check(s, [library.numpy(each) for each in found], "float64")
    parts = lanky.pca(a, 3)
    assert all(isinstance(each, library.kind()) for each in parts)
    dense = s.toarray() - s.toarray().mean(axis=0)
    values = np.linalg.svd(dense, compute_uv=False)[:3]
    assert np.allclose(library.numpy(parts.singular_values), values)


def test_numpy_on_a_gpu(gpu_library):
    s = rectangle(200, 90, "float64")
    found = lanky.svds(lanky.sparse(s, device="cuda"), 4)
    assert all(isinstance(each, np.ndarray) for each in found)
    check(s, found, "float64")


class Operator:
    """Single vectors, by A and by its adjoint."""

    def __init__(self, a):
        self.a, self.shape, self.dtype = a, a.shape, a.dtype

    def matvec(self, x):
        return self.a @ x

    def rmatvec(self, x):
        return self.a.conj().T @ x


@pytest.mark.parametrize(
    "kind",
    [linalg.aslinearoperator, lanky.sparse, Operator, lambda a: a.toarray()],
    ids=["LinearOperator", "SparseMatrix", "matvec", "dense"],
)
def test_kinds_of_operators(kind):
    a = rectangle(120, 90, "complex128")
    check(a, lanky.svds(kind(a), 4), "complex128")


def test_views():
    a = rectangle(150, 90, "complex128")
    matrix = lanky.sparse(a)
    check(a.conj().T, lanky.svds(matrix.H, 3), "complex128")
    check(a.T, lanky.svds(matrix.T, 3), "complex128")


def test_low_rank():
    """scipy#14784: a matrix of rank 78 among 504, whose k largest came out wrong."""
    rng = np.random.default_rng(1)
    u, _ = np.linalg.qr(rng.standard_normal((504, 78)))
    v, _ = np.linalg.qr(rng.standard_normal((504, 78)))
    a = (u * np.geomspace(1, 1e-6, 78)) @ v.T
    for k in (2, 8, 20):
        check(a, lanky.svds(a, k), "float64")


def test_ones_and_zeros():
    """cupy#7157: values of a random pattern of ones changed from run to run, zeros among them."""
    ones = (np.random.default_rng(1).uniform(size=(200, 200)) < 0.1).astype("float32")
    a = sp.csr_matrix(ones)
    first, again = lanky.svds(a, 20), lanky.svds(a, 20)
    assert all(np.array_equal(one, other) for one, other in zip(first, again))
    check(a, first, "float32")


def test_randomized():
    a = rectangle(400, 200, "float64")
    dense = np.linalg.svd(a.toarray(), compute_uv=False)[:5]
    options = {"oversampling": 20, "power_iterations": 10}
    _, s, _ = lanky.svds(a, 5, solver="randomized", options=options)
    assert np.allclose(s[::-1], dense, rtol=0.05) and np.all(s <= dense[::-1] * (1 + 1e-12))


def test_pca():
    samples = rectangle(300, 40, "float64", density=0.2) + sp.csr_matrix(np.ones((300, 40)))
    parts = lanky.pca(sp.csr_matrix(samples), 4)
    dense = samples.toarray()
    mean = dense.mean(axis=0)
    values = np.linalg.svd(dense - mean, compute_uv=False)[:4]
    assert np.allclose(parts.mean, mean) and np.allclose(parts.singular_values, values)
    assert np.allclose(parts.explained_variance, values**2 / 299)
    assert np.allclose(parts.scores, (dense - mean) @ parts.components.T, atol=1e-6)
    assert np.allclose(parts.components @ parts.components.T, np.eye(4), atol=1e-8)


def test_ends():
    a = rectangle(400, 300, "float64")
    with pytest.raises(lanky.NoConvergence, match="of 6 singular triplets have converged"):
        lanky.svds(a, tol=1e-14, maxiter=1)
    u, s, vh = lanky.svds(a, callback=lambda progress: False)
    assert s.shape == (6,) and u.shape == (400, 6) and vh.shape == (6, 300)
    with pytest.raises(ZeroDivisionError):
        lanky.svds(a, callback=lambda progress: 1 / 0)


GOOD = rectangle(60, 40, "float64")
BAD = [
    ({"which": "SM"}, ValueError, 'which is "SM"; .*eigsh'),
    ({"k": 0}, ValueError, "k is 0, and A is 60 x 40; 1 to 40"),
    ({"k": 41}, ValueError, "k is 41"),
    ({"ncv": 20}, ValueError, "ncv and v0 are not taken"),
    ({"v0": np.ones(40)}, ValueError, "ncv and v0 are not taken"),
    ({"solver": "arpack"}, ValueError, 'solver is "arpack"; known are "golub_kahan"'),
    ({"tol": -1.0}, ValueError, "tol is -1"),
    ({"maxiter": 0}, ValueError, "maxiter is 0"),
    ({"options": {"maxiter": 3}}, ValueError, 'options has "maxiter"; known are "oversampling"'),
    ({"rng": 1, "random_state": 1}, ValueError, "both given"),
    ({"return_singular_vectors": "v"}, ValueError, "'v'; True, False"),
    ({"callback": 3}, TypeError, "callback is a int"),
    ({"A": GOOD.astype("int64")}, TypeError, "dtype='float64'"),
    ({"A": lanky.SparsePlan(GOOD)}, TypeError, "has no adjoint"),
    ({"A": lanky.sparse(GOOD, keep=False)}, ValueError, "keep=True"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD, ids=range(len(BAD)))
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        lanky.svds(**{"A": GOOD, **arguments})


def test_operator_without_adjoint():
    class Forward:
        shape, dtype = (60, 40), np.dtype("float64")

        def matmat(self, x):
            return GOOD @ x

    with pytest.raises(TypeError, match="without rmatmat and rmatvec"):
        lanky.svds(Forward())
