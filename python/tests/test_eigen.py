"""lanky.eigsh() and lanky.lobpcg() beside SciPy's and dense solvers, on arrays of every library."""

import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest
from conftest import REAL_AND_COMPLEX, draw

import lanky

sp = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")
dense_linalg = pytest.importorskip("scipy.linalg")

# Errors of eigenvalues, relative to the norm of A.
CLOSE = {"float64": 1e-11, "complex128": 1e-11, "float32": 2e-5, "complex64": 2e-5}


def laplacian(side):
    """The Laplacian of a square grid: positive definite, with double eigenvalues."""
    line = sp.diags([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], [-1, 0, 1])
    return sp.csr_matrix(sp.kron(line, sp.eye(side)) + sp.kron(sp.eye(side), line))


def hermitian(n, name, seed=1, density=0.02):
    """Indefinite, of a random pattern."""
    half = sp.random(n, n, density, random_state=seed, format="csr")
    half.data = draw(seed, half.nnz, name)
    return sp.csr_matrix((half + half.conj().T).astype(name))


def turned(values, seed=1):
    """A dense symmetric matrix of these eigenvalues."""
    n = len(values)
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))
    return (q * values) @ q.T


def expected(a, k, which, b=None):
    """By a dense solver."""
    wide = "complex128" if a.dtype.kind == "c" else "float64"
    dense = a.toarray() if sp.issparse(a) else a
    mass = None if b is None else b.toarray().astype(wide)
    values = dense_linalg.eigh(dense.astype(wide), mass, eigvals_only=True)
    if which == "LM":
        values = values[np.argsort(-np.abs(values), kind="stable")[:k]]
    elif which == "BE":
        values = np.concatenate([values[: k // 2], values[len(values) - (k - k // 2) :]])
    else:
        values = values[:k] if which in ("SA", "SM") else values[len(values) - k :]
    return np.sort(values)


def check(a, values, vectors, reference, name, b=None):
    """Values near the reference, pairs with small residuals, vectors (B-)orthonormal."""
    scale = max(1.0, np.abs(reference).max())
    wide = "complex128" if np.dtype(name).kind == "c" else "float64"
    assert values.dtype == np.zeros(1, name).real.dtype and vectors.dtype == name
    assert np.all(np.diff(values) >= 0)
    assert np.abs(values - reference).max() <= CLOSE[name] * scale
    x = vectors.astype(wide)
    mass = x if b is None else b @ x
    small = 1e-6 if name in ("float64", "complex128") else 5e-3
    assert np.linalg.norm(a.astype(wide) @ x - mass * values, axis=0).max() <= small * scale
    assert np.abs(x.conj().T @ mass - np.eye(len(values))).max() <= small


@pytest.mark.parametrize("name", REAL_AND_COMPLEX)
@pytest.mark.parametrize("which", ["SA", "LA", "LM", "BE"])
def test_ends(which, name):
    a = hermitian(300, name)
    values, vectors = lanky.eigsh(a, 5, which=which)
    check(a, values, vectors, expected(a, 5, which), name)
    alone = lanky.eigsh(a, 5, which=which, return_eigenvectors=False)
    assert np.array_equal(alone, values)  # the same bits in every run


@pytest.mark.parametrize("which", ["SA", "LA", "LM", "BE"])
def test_beside_scipy(which):
    a = laplacian(30)
    by_scipy = np.sort(linalg.eigsh(a, 6, which=which, return_eigenvectors=False))
    values, vectors = lanky.eigsh(a, 6, which=which)
    check(a, values, vectors, by_scipy, "float64")
    assert np.allclose(lanky.eigsh(-a, 6, which="LM")[0], -lanky.eigsh(a, 6)[0][::-1])


def test_smallest_magnitude():
    a = laplacian(20)
    assert np.allclose(lanky.eigsh(a, 3, which="SM")[0], expected(a, 3, "SA"))
    with pytest.raises(ValueError, match="below 0; .*sigma=0 and OPinv="):
        lanky.eigsh(sp.csr_matrix(a - 4 * sp.eye(400)), 3, which="SM")


@pytest.mark.parametrize("k", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("shift", [0.0, 3.9, 4.2, 9.0])
def test_largest_magnitude_of_shifted(k, shift):
    """Whatever the share of each end, zeros and the definite cases included."""
    a = sp.csr_matrix(laplacian(15) - shift * sp.eye(225))
    found = np.abs(lanky.eigsh(a, k, return_eigenvectors=False))
    assert np.allclose(np.sort(found), np.sort(np.abs(expected(a, k, "LM"))))


@pytest.mark.parametrize("rank", [0, 1, 4])
def test_largest_magnitude_of_low_rank(rank):
    """More eigenpairs are asked for than are other than 0."""
    rng = np.random.default_rng(3)
    low = rng.standard_normal((120, rank))
    a = (low * np.array([1, -1, 2, -3])[:rank]) @ low.T
    values, vectors = lanky.eigsh(a, 6)
    check(a, values, vectors, expected(a, 6, "LM"), "float64")


@pytest.mark.parametrize("name", ["float64", "float32", "complex128"])
def test_generalized(name):
    a = hermitian(250, name)
    b = sp.csr_matrix(sp.diags(np.linspace(1, 4, 250)) + 0.1 * laplacian(16)[:250, :250])
    b = b.astype(name)
    for which in ("SA", "LA", "LM"):
        values, vectors = lanky.eigsh(a, 4, M=b, which=which)
        check(a, values, vectors, expected(a, 4, which, b), name, b)


def test_shift_and_invert():
    a, n = laplacian(20), 400
    b = sp.csr_matrix(sp.diags(np.linspace(1, 2, n)))
    for sigma in (0.0, 1.7):
        factor = linalg.splu(sp.csc_matrix(a - sigma * sp.eye(n)))
        by_scipy = np.sort(linalg.eigsh(a, 4, sigma=sigma, return_eigenvectors=False))
        values, vectors = lanky.eigsh(a, 4, sigma=sigma, OPinv=factor.solve)
        check(a, values, vectors, by_scipy, "float64")
        factor = linalg.splu(sp.csc_matrix(a - sigma * b))
        by_scipy = np.sort(linalg.eigsh(a, 4, M=b, sigma=sigma, return_eigenvectors=False))
        inverse = linalg.LinearOperator((n, n), factor.solve, dtype="float64")
        values, vectors = lanky.eigsh(a, 4, M=b, sigma=sigma, OPinv=inverse)
        check(a, values, vectors, by_scipy, "float64", b)


@pytest.mark.parametrize("n", [1, 2, 5, 30, 60])
def test_nearly_all(n):
    a = turned(np.linspace(-1, 2, n))
    for k in sorted({1, max(1, n - 1), n}):
        for which in ("SA", "LA", "LM"):
            values, vectors = lanky.eigsh(a, k, which=which)
            check(a, values, vectors, expected(a, k, which), "float64")


def test_libraries(library):
    """Arrays out are of the library of the matrix, or of the start vectors."""
    s = laplacian(16)
    reference = expected(s, 4, "SA")
    csr = (s.indptr, s.indices, s.data)
    a = lanky.sparse(tuple(library.array(array) for array in csr), shape=s.shape)
    start = draw(1, (256, 4), "float64")
    for values, vectors in (
        lanky.eigsh(a, 4, which="SA"),
        lanky.eigsh(
            a, 4, which="SA", v0=library.array(start[:, 0].copy()), preconditioner="jacobi"
        ),
        lanky.lobpcg(a, library.array(start), largest=False, M="block_jacobi"),
    ):
        assert isinstance(values, library.kind()) and isinstance(vectors, library.kind())
        check(s, library.numpy(values), library.numpy(vectors), reference, "float64")
        product = library.numpy(a @ vectors)  # the vectors are operands as they are
        assert np.allclose(product, library.numpy(vectors) * library.numpy(values), atol=1e-6)


def test_functions(library):
    """Operators are called with arrays of the library of the start vectors."""
    s = laplacian(16)
    a = lanky.sparse(
        tuple(library.array(array) for array in (s.indptr, s.indices, s.data)), shape=s.shape
    )
    seen = []

    def multiply(x):
        seen.append(type(x))
        return a @ (x + 0)

    start = library.array(draw(1, (256, 4), "float64"))
    values, vectors = lanky.lobpcg(
        multiply, start, B=lambda x: 2 * x, M=lambda x: x / 4, largest=False
    )
    assert seen and all(issubclass(kind, library.kind()) for kind in seen)
    reference = expected(s, 4, "SA") / 2
    b = 2 * sp.eye(256)
    check(s, library.numpy(values), library.numpy(vectors), reference, "float64", b)


def test_numpy_on_a_gpu(gpu_library):
    """A matrix of NumPy on a GPU: vectors are copied there and back."""
    s = laplacian(16)
    a = lanky.sparse(s, device="cuda")
    start = draw(1, (256, 4), "float64")
    for values, vectors in (
        lanky.eigsh(a, 4, which="SA", preconditioner="jacobi"),
        lanky.lobpcg(a, start, largest=False),
    ):
        assert isinstance(vectors, np.ndarray)
        check(s, values, vectors, expected(s, 4, "SA"), "float64")
    with pytest.raises(ValueError, match="pass vectors of CuPy, PyTorch or JAX"):
        lanky.eigsh(a, 4, preconditioner=lambda x: x)
    assert type(a._shared.sample) is np.ndarray


class Vectors:
    """An operator that knows single vectors alone."""

    def __init__(self, a):
        self.a, self.shape, self.dtype = a, a.shape, a.dtype

    def matvec(self, x):
        assert x.ndim == 1
        return self.a @ x


@pytest.mark.parametrize(
    "kind",
    [linalg.aslinearoperator, lanky.sparse, Vectors, lambda a: a.toarray(), lanky.SparsePlan],
    ids=["LinearOperator", "SparseMatrix", "matvec", "dense", "SparsePlan"],
)
def test_kinds_of_operators(kind):
    a = laplacian(14)
    values, vectors = lanky.eigsh(kind(a), 4, which="SA")
    check(a, values, vectors, expected(a, 4, "SA"), "float64")
    x = draw(1, (196, 4), "float64")
    assert np.allclose(lanky.lobpcg(kind(a), x, B=kind(a), largest=False)[0], 1)


def test_views_of_matrices():
    s = sp.csr_matrix(hermitian(200, "complex128") + 9 * sp.eye(200))
    a = lanky.sparse(s)
    reference = expected(s, 3, "SA")
    assert reference[0] > 0
    for view in (a, a.H, a.T, a.conj()):
        found = lanky.eigsh(view, 3, which="SA", preconditioner="block_jacobi")
        assert np.allclose(found[0], reference)
    changed = a.H
    a.update_values(2 * s.data)
    assert np.allclose(lanky.eigsh(changed, 3, which="SA")[0], 2 * reference)
    bare = lanky.sparse(s, keep=False)
    assert np.allclose(lanky.eigsh(bare, 3, which="SA")[0], reference)
    with pytest.raises(ValueError, match="keep=True"):
        lanky.eigsh(bare, 3, preconditioner="jacobi")


def test_files(tmp_path):
    path = tmp_path / "a.mtx"
    lanky.write(path, laplacian(10))
    assert np.allclose(lanky.eigsh(path, 3, which="SA")[0], expected(laplacian(10), 3, "SA"))


def test_preconditioners_save_iterations():
    n = 900
    a = sp.csr_matrix(laplacian(30) + sp.diags(np.logspace(0, 2, n)))
    counts = {}
    for name, preconditioner in {
        "none": None,
        "jacobi": "jacobi",
        "block_jacobi": "block_jacobi",
        "inverse": linalg.splu(sp.csc_matrix(a)).solve,
    }.items():
        told = []
        values = lanky.eigsh(
            a,
            4,
            which="SA",
            preconditioner=preconditioner,
            polynomial_degree=0,
            callback=told.append,
            return_eigenvectors=False,
        )
        assert np.allclose(values, expected(a, 4, "SA"))
        counts[name] = told[-1].iteration
    assert counts["inverse"] < counts["block_jacobi"] <= counts["jacobi"] < counts["none"] / 2


def test_mixed_precision():
    for dtype in CLOSE:
        a = laplacian(40).astype(dtype)
        told = {True: [], False: []}
        for mixed, callback in told.items():
            values, vectors = lanky.eigsh(
                a, 4, which="SA", mixed_precision=mixed, callback=callback.append
            )
            assert vectors.dtype == a.dtype
            close = 1e-9 if dtype in ("float64", "complex128") else 1e-4
            assert np.allclose(values, expected(laplacian(40), 4, "SA"), rtol=close, atol=close)
        assert told[True][-1].iteration <= 2 * told[False][-1].iteration
    x = draw(1, (1600, 3), "float64")
    a = laplacian(40)
    assert np.allclose(
        lanky.lobpcg(a, x, largest=False, mixed_precision=True)[0], expected(a, 3, "SA")
    )
    with pytest.raises(TypeError, match="mixed_precision=True, which needs A's entries"):
        lanky.eigsh(linalg.aslinearoperator(a), 4, which="SA", mixed_precision=True)
    with pytest.raises(ValueError, match="single precision serves the polynomial"):
        lanky.eigsh(a, 4, which="SA", preconditioner="jacobi", mixed_precision=True)


def test_constraints():
    a = laplacian(16)
    x = draw(1, (256, 3), "float64")
    reference = expected(a, 6, "SA")
    values, vectors = lanky.lobpcg(a, x, largest=False)
    assert np.allclose(values, reference[:3])
    further, others = lanky.lobpcg(a, x, Y=vectors, largest=False)
    assert np.allclose(further, reference[3:]) and np.abs(vectors.T @ others).max() < 1e-12
    b = sp.csr_matrix(sp.diags(np.linspace(1, 2, 256)))
    values, vectors = lanky.lobpcg(a, x, B=b, largest=False)
    further, others = lanky.lobpcg(a, x, B=b, Y=vectors, largest=False)
    assert np.allclose(np.r_[values, further], expected(a, 6, "SA", b))
    assert np.abs(vectors.T @ (b @ others)).max() < 1e-12


def test_order_of_lobpcg():
    a = laplacian(12)
    x = draw(1, (144, 3), "float64")
    assert np.allclose(lanky.lobpcg(a, x)[0], expected(a, 3, "LA")[::-1])
    assert np.allclose(
        lanky.lobpcg(a, x, None, None, None, None, None, False)[0], expected(a, 3, "SA")
    )
    assert np.allclose(lanky.lobpcg(a, x[:, 0])[0], expected(a, 1, "LA"))


# Cases that other libraries are known to fail.


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("name", ["float64", "float32"])
@pytest.mark.parametrize("spectrum", ["linear", "geometric", "one_far"])
def test_tough_diagonals(spectrum, name, largest):
    """scipy#16408: diagonal matrices of large condition, on which lobpcg diverges in float32."""
    n, condition = 1000, 1e6
    values = {
        "linear": np.linspace(1, condition, n),
        "geometric": np.geomspace(1 / condition, 1, n),
        "one_far": np.r_[condition, np.linspace(1, 2, n - 1)],
    }[spectrum]
    a = sp.csr_matrix(sp.diags(values)).astype(name)
    x = draw(1, (n, 10), name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # small ones take more than these iterations
        found, vectors = lanky.lobpcg(a, x, largest=largest, maxiter=300)
    assert np.isfinite(found).all()
    eps = np.finfo(name).eps
    ends = values.astype(name).astype("float64")
    assert (
        found.max() <= ends.max() * (1 + 50 * eps)
        and found.min() >= ends.min() - 50 * eps * ends.max()
    )
    assert np.abs(vectors.T @ vectors - np.eye(10)).max() < 100 * eps
    if largest and spectrum != "linear":
        assert np.allclose(found, np.sort(ends)[::-1][:10], rtol=1e-3, atol=10 * eps * ends.max())


def test_low_rank_gram_matrices():
    """scipy#14784, #10974: wrong singular values of a matrix of rank 78 from A^T A."""
    rng = np.random.default_rng(1)
    u, _ = np.linalg.qr(rng.standard_normal((504, 78)))
    v, _ = np.linalg.qr(rng.standard_normal((504, 78)))
    sigma = np.geomspace(1, 1e-6, 78)
    a = (u * sigma) @ v.T
    for k in (1, 2, 5, 8, 20):
        values = lanky.eigsh(a.T @ a, k, which="LA", return_eigenvectors=False)
        assert np.allclose(np.sqrt(values), np.sort(sigma[:k]), rtol=1e-6, atol=1e-9)


def test_three_rows():
    """pytorch#101075: a pencil of 3 rows whose eigenvalues are negative, from one start vector."""
    a = np.array(
        [
            [-0.56142016, 0.29639858, -0.16059532],
            [0.29639858, -0.69093563, 0.26248195],
            [-0.16059532, 0.26248195, -0.40236716],
        ]
    )
    b = np.array(
        [
            [1.89193057, -0.08174309, -0.3557846],
            [-0.08174309, 1.64589643, -0.46436347],
            [-0.3557846, -0.46436347, 1.67404367],
        ]
    )
    x = np.array([[0.61591334], [0.63823109], [0.46185694]])
    reference = dense_linalg.eigh(a, b, eigvals_only=True)
    assert np.allclose(lanky.lobpcg(a, x, B=b)[0], reference[-1:])
    assert np.allclose(lanky.lobpcg(a, x, B=b, largest=False)[0], reference[:1])


@pytest.mark.parametrize("d", [5, 200])
def test_complex(d):
    """pytorch#135860: complex Hermitian matrices."""
    a = draw(42, (d, d), "complex128")
    a = a + a.conj().T
    x = draw(43, (d, 1), "complex128")
    assert np.allclose(lanky.lobpcg(a, x)[0], np.linalg.eigvalsh(a)[-1:])
    assert np.allclose(lanky.lobpcg(a, x, largest=False)[0], np.linalg.eigvalsh(a)[:1])


def test_identity():
    """cupy#6446, #7495: NaN or far too large eigenvalues of the identity."""
    for which in ("LM", "SA", "LA"):
        values, vectors = lanky.eigsh(sp.csr_matrix(sp.eye(100)), 6, which=which)
        assert np.allclose(values, 1) and np.allclose(vectors.T @ vectors, np.eye(6))


def test_two_eigenvalues():
    """cupy#10098: 20 copies of 50 among ones."""
    a = turned(np.r_[np.full(20, 50.0), np.ones(180)])
    assert np.allclose(lanky.eigsh(a, 20, return_eigenvectors=False), 50)
    found = lanky.eigsh(a, 24, return_eigenvectors=False)
    assert np.allclose(found, np.r_[np.ones(4), np.full(20, 50.0)])


def test_every_k():
    """cupy#6769, #7355: wrong values from some k on."""
    w = np.eye(100)[:50] + draw(1, (50, 100), "float64")
    a = w @ w.T
    reference = np.linalg.eigvalsh(a)
    for k in range(1, 51, 3):
        assert np.allclose(lanky.eigsh(a, k, return_eigenvectors=False), reference[50 - k :])


def test_indefinite_stencil():
    """cupy#5024: eigenvalues above all of the matrix's."""
    side = 50
    line = sp.diags([np.ones(side - 1), -2 * np.ones(side), np.ones(side - 1)], [-1, 0, 1])
    a = sp.csr_matrix(sp.kron(line, sp.eye(side)) + sp.kron(sp.eye(side), line))
    exact = np.sort(np.add.outer(*(2 * [-4 * np.sin(np.pi * np.arange(1, 51) / 102) ** 2])).ravel())
    assert np.allclose(lanky.eigsh(a, 20, which="LA")[0], exact[-20:], rtol=0, atol=1e-10)


def test_clusters():
    """Five eigenvalues within 1e-6 of each other, and k that ends inside of them."""
    values = np.r_[1 + 2e-7 * np.arange(5), np.linspace(2, 10, 395)]
    a = turned(values)
    for k in (2, 5, 7):
        found, vectors = lanky.eigsh(a, k, which="SA")
        check(a, found, vectors, values[:k], "float64")


def test_tiny_and_huge():
    for scale in (1e-100, 1e-30, 1e30, 1e100):
        a = sp.csr_matrix(laplacian(14) * scale)
        assert np.allclose(
            lanky.eigsh(a, 3, which="SA")[0] / scale, expected(laplacian(14), 3, "SA")
        )


# How solvers end.


def test_no_convergence():
    a = sp.csr_matrix(laplacian(20) + sp.diags(np.r_[-100.0, np.zeros(399)]))
    with pytest.raises(lanky.NoConvergence, match="of 4 eigenpairs have converged") as caught:
        lanky.eigsh(a, 4, which="SA", maxiter=15)
    error = caught.value
    assert isinstance(error, lanky.Error) and error.code == "no_convergence"
    assert error.eigenvalues.shape == (1,)  # the one far from the others
    assert np.allclose(error.eigenvalues, expected(a, 1, "SA"))
    assert np.allclose(a @ error.eigenvectors, error.eigenvectors * error.eigenvalues, atol=1e-5)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and np.array_equal(copy.eigenvalues, error.eigenvalues)
    with pytest.raises(lanky.NoConvergence, match="0 of 4"):
        lanky.eigsh(laplacian(20), 4, which="SA", maxiter=2)


def test_lobpcg_warns():
    x = draw(1, (400, 3), "float64")
    with pytest.warns(UserWarning, match="0 of 3 eigenpairs have converged: the iterations were"):
        values, vectors = lanky.lobpcg(laplacian(20), x, maxiter=3, largest=False)
    assert values.shape == (3,) and vectors.shape == (400, 3)


def test_callbacks():
    a = laplacian(20)
    told = []
    lanky.eigsh(a, 4, which="SA", callback=told.append)
    assert [each.iteration for each in told] == list(range(1, len(told) + 1))
    last = told[-1]
    assert last.wanted == 4 and last.converged == 4
    assert last.residual <= last.tolerance == 1e-8 and last.seconds > 0

    def stop(progress):
        if progress.iteration == 12:
            raise StopIteration

    for callback in (lambda progress: progress.iteration < 12, stop):
        for which in ("SA", "LA", "LM"):
            values, vectors = lanky.eigsh(a, 4, which=which, callback=callback)
            assert values.shape == (4,) and vectors.shape == (400, 4)
            assert np.all(values <= 8) and np.all(values >= expected(a, 1, "SA") * (1 - 1e-12))
    with pytest.raises(ZeroDivisionError):
        lanky.eigsh(a, 4, callback=lambda progress: 1 / 0)


def test_exceptions_of_functions():
    def multiply(x):
        raise LookupError("here")

    a = laplacian(20)
    start = draw(1, (400, 2), "float64")
    with pytest.raises(LookupError, match="here"):
        lanky.lobpcg(multiply, start)
    for argument in ("B", "M"):
        with pytest.raises(LookupError, match="here"):
            lanky.lobpcg(a, start, **{argument: multiply})


@pytest.mark.parametrize("function", [False, True])
def test_interrupt(function):
    a = laplacian(300)
    source = linalg.aslinearoperator(a) if function else a
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        lanky.eigsh(
            source, 4, which="SA", tol=1e-300, maxiter=10**8, callback=lambda progress: None
        )
    timer.join()


def test_others_run_meanwhile():
    """The GIL is released: a thread counts while the solver computes."""
    counted = []
    done = threading.Event()

    def count():
        while not done.is_set():
            counted.append(0)
            done.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    lanky.eigsh(laplacian(60), 6, which="SA")
    done.set()
    thread.join()
    assert len(counted) > 5


def test_threads():
    a = lanky.sparse(laplacian(16))
    found = []

    def solve():
        found.append(lanky.eigsh(a, 4, which="SA", return_eigenvectors=False))

    threads = [threading.Thread(target=solve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(each, found[0]) for each in found)


def test_seeds():
    a = laplacian(14)
    same = [lanky.eigsh(a, 3, which="SA", rng=rng)[1] for rng in (None, 0, np.int64(0))]
    assert np.array_equal(same[0], same[1]) and np.array_equal(same[0], same[2])
    other = lanky.eigsh(a, 3, which="SA", rng=np.random.default_rng(1))[1]
    assert not np.array_equal(same[0], other)


def test_verbosity(capsys):
    lanky.lobpcg(laplacian(14), draw(1, (196, 2), "float64"), verbosityLevel=1)
    assert "iteration 1: 0 of 2 converged" in capsys.readouterr().out


GOOD = laplacian(10)
BAD = [
    ({"which": "XX"}, ValueError, 'which is "XX"; known are'),
    ({"sigma": 1.0}, ValueError, "lanky factors no matrices: pass OPinv="),
    ({"OPinv": GOOD}, ValueError, "OPinv is given without sigma"),
    ({"mode": "buckling"}, ValueError, 'mode is "buckling"'),
    ({"k": 0}, ValueError, "k is 0, and A is 100 x 100; 1 to 100"),
    ({"k": 2.5}, TypeError, "float"),
    ({"k": 101}, ValueError, "k is 101, and A is 100 x 100"),
    ({"ncv": 6}, ValueError, "ncv is 6, and k is 6"),
    ({"tol": -1.0}, ValueError, "tol is -1"),
    ({"tol": float("nan")}, ValueError, "tol is nan"),
    ({"maxiter": 0}, ValueError, "maxiter is 0"),
    ({"rng": -1}, ValueError, "rng is -1"),
    ({"callback": 3}, TypeError, "callback is a int"),
    ({"v0": np.ones(99)}, ValueError, r"v0 has shape \(99,\), and A has 100 rows"),
    ({"v0": np.ones((100, 2, 2))}, ValueError, "v0 has 3 dimensions"),
    ({"v0": [1.0] * 100}, TypeError, "v0 is a list"),
    ({"v0": np.ones(100, "float32")}, TypeError, "v0 is float32, and A needs float64"),
    ({"v0": np.ones(100, "complex128")}, TypeError, "v0 is complex128, and A needs float64"),
    ({"v0": np.full(100, np.nan)}, ValueError, "NaN or Inf"),
    ({"M": sp.csr_matrix(sp.eye(99))}, ValueError, r"M has shape \(99, 99\), and A is 100 x 100"),
    ({"M": GOOD.astype("float32")}, TypeError, "M is float32, and A is float64"),
    ({"M": -GOOD}, ValueError, "M is not positive definite"),
    ({"M": "block"}, ValueError, 'M is "block", and no file'),
    ({"preconditioner": 3}, TypeError, "preconditioner is a int"),
    ({"preconditioner": lambda x: x[:3]}, ValueError, r"returned shape \(3, .*\) for"),
    ({"preconditioner": lambda x: None}, TypeError, "preconditioner returned a NoneType"),
    ({"preconditioner": lambda x: x.astype("f4")}, TypeError, "returned float32, and A is float64"),
    ({"A": GOOD[:9]}, ValueError, "A is 9 x 100; a square matrix is needed"),
    ({"A": GOOD.astype("int64")}, TypeError, "int64; .*dtype='float64'"),
    ({"A": sp.triu(GOOD, format="csr")}, ValueError, "A is not self-adjoint"),
    ({"A": GOOD * np.nan}, ValueError, "NaN"),
    ({"A": linalg.aslinearoperator(GOOD.astype("int64"))}, TypeError, "A is int64; solvers"),
    ({"A": np.ones(100)}, ValueError, "A has 1 dimensions"),
    ({"A": sp.csr_matrix((0, 0))}, ValueError, "A is 0 x 0"),
    ({"A": 3}, TypeError, "A is a int"),
    ({"A": None}, TypeError, "A is a NoneType"),
    ({"A": lambda x: x}, TypeError, "or a function beside an array of start vectors"),
    ({"A": linalg.aslinearoperator(GOOD), "preconditioner": "jacobi"}, TypeError, "A's entries"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD, ids=range(len(BAD)))
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        lanky.eigsh(**{"A": GOOD, **arguments})


def test_bad_types():
    halves = (GOOD.indptr, GOOD.indices, GOOD.data.astype("float16"))
    with pytest.raises(TypeError, match="A is float16; solvers compute in float64"):
        lanky.eigsh(lanky.sparse(halves))
    with pytest.raises(TypeError, match="M is float16; solvers compute in float64"):
        lanky.eigsh(GOOD, M=lanky.sparse(halves))


def test_bad_arguments_of_lobpcg():
    x = draw(1, (100, 3), "float64")
    for arguments, error, message in (
        ({"X": x[:99]}, ValueError, r"X has shape \(99, 3\), and A is 100 x 100"),
        ({"X": x[:, :0]}, ValueError, "1 or more columns"),
        ({"X": None}, TypeError, "X is a NoneType"),
        ({"Y": x[:99]}, ValueError, r"Y has shape \(99, 3\)"),
        ({"Y": x.astype("float32")}, TypeError, "Y is float32, and A needs float64"),
        ({"B": -GOOD}, ValueError, "B is not positive definite"),
        ({"retLambdaHistory": True}, ValueError, "callback="),
        ({"retResidualNormsHistory": True}, ValueError, "callback="),
        ({"Y": draw(2, (100, 98), "float64")}, ValueError, "98 constraints"),
    ):
        with pytest.raises(error, match=message):
            lanky.lobpcg(**{"A": GOOD, "X": x, **arguments})
