"""A SparseMatrix in the hands of others: SciPy's solvers, pickle, copy, threads, forks."""

import copy
import inspect
import multiprocessing
import os
import pickle
import threading
import traceback

import numpy as np
import pytest
from conftest import assert_close, draw, draw_csr, to_dense

import lanky

sp = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")


@pytest.fixture(scope="module")
def laplacian():
    n = 400
    return sp.diags(
        [-np.ones(n - 1), 2.1 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]
    ).tocsr()


@pytest.mark.parametrize("solver", ["cg", "gmres", "bicgstab", "minres", "bicg", "lsqr"])
def test_solvers(laplacian, solver):
    a, b = lanky.sparse(laplacian), draw(1, 400, "float64")
    solve = getattr(linalg, solver)
    tolerance = "rtol" if "rtol" in inspect.signature(solve).parameters else "tol"  # before SciPy 1.12
    x = solve(a, b, **({} if solver == "lsqr" else {tolerance: 1e-10}))[0]
    assert np.linalg.norm(laplacian @ x - b) <= 1e-4 * np.linalg.norm(b)


def test_eigenvalues(laplacian):
    a = lanky.sparse(laplacian)
    expected = np.sort(linalg.eigsh(laplacian, 4, return_eigenvectors=False))
    assert np.allclose(np.sort(linalg.eigsh(a, 4, return_eigenvectors=False)), expected)
    assert np.allclose(np.sort(linalg.eigs(a, 4, return_eigenvectors=False).real), expected)
    found, _ = linalg.lobpcg(a, draw(1, (400, 4), "float64"), tol=1e-7, maxiter=300)
    assert np.allclose(np.sort(found), expected, rtol=1e-3)


@pytest.mark.parametrize("solver", ["arpack", "lobpcg"])
def test_singular_values(solver):
    s = sp.csr_array(sp.random(120, 80, density=0.1, random_state=3))
    expected = np.sort(np.linalg.svd(s.toarray(), compute_uv=False))[-3:]
    found = linalg.svds(
        lanky.sparse(s), 3, solver=solver, return_singular_vectors=False, maxiter=2000
    )
    assert np.allclose(np.sort(found), expected, rtol=1e-3)


def test_operators_of_scipy(laplacian):
    a, x = lanky.sparse(laplacian), draw(1, 400, "float64")
    operator = linalg.aslinearoperator(a)
    assert operator.dtype == np.float64 and operator.shape == (400, 400)
    assert np.allclose((2 * operator + operator.T) @ x, 3 * (laplacian @ x))
    assert np.allclose(operator.H @ x, laplacian.T @ x)
    assert np.allclose(
        operator.matmat(draw(2, (400, 3), "float64")), laplacian @ draw(2, (400, 3), "float64")
    )
    assert np.allclose(a.adjoint().matvec(x[:, None]), (laplacian @ x)[:, None])
    assert np.allclose(a.transpose().dot(x), laplacian @ x)


def test_cupy_solvers(gpu_library):
    if gpu_library.name != "cupy":
        pytest.skip("of CuPy alone")
    import cupyx.scipy.sparse as csp
    import cupyx.scipy.sparse.linalg as clinalg

    cp = gpu_library.module
    n = 400
    matrix = csp.diags([-cp.ones(n - 1), 2.1 * cp.ones(n), -cp.ones(n - 1)], [-1, 0, 1]).tocsr()
    a, b = lanky.sparse(matrix), cp.asarray(draw(1, n, "float64"))
    operator = clinalg.aslinearoperator(a)
    for solver in (clinalg.cg, clinalg.gmres):
        x, _ = solver(operator, b, rtol=1e-10)
        assert cp.linalg.norm(matrix @ x - b) <= 1e-4 * cp.linalg.norm(b)
    assert cp.allclose(
        cp.sort(clinalg.eigsh(operator, 3, return_eigenvectors=False)),
        cp.sort(clinalg.eigsh(matrix, 3, return_eigenvectors=False)),
    )


@pytest.mark.parametrize(
    "copies",
    [lambda a: pickle.loads(pickle.dumps(a)), copy.copy, copy.deepcopy],
    ids=["pickle", "copy", "deepcopy"],
)
def test_copies(library, copies):
    csr, x = draw_csr(1, 40, 60, "float64"), draw(2, 60, "float64")
    a = lanky.sparse(
        tuple(library.array(array) for array in csr), shape=(40, 60), expected_columns=3
    )
    b = copies(a)
    assert b.fingerprint == a.fingerprint and b.shape == a.shape
    assert np.array_equal(library.numpy(b @ library.array(x)), library.numpy(a @ library.array(x)))
    b.update_values(library.array(np.zeros_like(csr[2])))
    assert_close(library.numpy(a @ library.array(x)), to_dense(csr, (40, 60)) @ x, "float64")
    y = draw(3, 40, "float64")
    assert_close(
        library.numpy(copies(a.T) @ library.array(y)), to_dense(csr, (40, 60)).T @ y, "float64"
    )


def test_plans_are_not_copied():
    plan = lanky.SparsePlan(draw_csr(1, 4, 6, "float64"), shape=(4, 6))
    for copies in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled or copied"):
            copies(plan)
    error = pickle.loads(pickle.dumps(lanky.Error("why", "io")))
    assert error.code == "io" and str(error) == "why"


def test_threads():
    csr = draw_csr(1, 300, 300, "float64")
    a, dense = lanky.sparse(csr, shape=(300, 300)), to_dense(csr, (300, 300))
    wrong = []

    def multiply(seed):
        x = draw(seed, (300, 2), "float64")
        for _ in range(60):
            if not np.allclose(a @ x, dense @ x) or not np.allclose(a.T @ x, dense.T @ x):
                wrong.append(seed)
            if not np.allclose(lanky.gram(x), x.T @ x):
                wrong.append(-seed)

    threads = [threading.Thread(target=multiply, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_and_release():
    for _ in range(20):
        plan = lanky.SparsePlan(draw_csr(1, 300, 300, "float64"), shape=(300, 300))
        seen = []

        def multiply(plan=plan, seen=seen):
            try:
                while True:
                    plan.execute(np.ones(300))
            except ValueError as error:
                seen.append(str(error))

        threads = [threading.Thread(target=multiply) for _ in range(2)]
        for thread in threads:
            thread.start()
        plan.release()
        for thread in threads:
            thread.join()
        assert seen == ["this plan was released"] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning")
def test_fork_on_the_cpu():
    """Threads of OpenMP do not survive a fork: the child must not wait for them."""
    csr, x = draw_csr(1, 20000, 2000, "float64", 0.01), draw(2, (2000, 8), "float64")
    a = lanky.sparse(csr, shape=(20000, 2000))
    expected = a @ x
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe()

    def child():
        sender.send(np.array_equal(a @ x, expected) and np.allclose(lanky.gram(x), x.T @ x))

    process = context.Process(target=child)
    process.start()
    assert receiver.poll(30), "the child hangs"
    assert receiver.recv() is True
    process.join(30)
    assert process.exitcode == 0
    assert np.array_equal(a @ x, expected)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning")
def test_fork_after_cuda(gpu_library):
    csr = draw_csr(1, 40, 60, "float64")
    a = lanky.sparse(csr, shape=(40, 60), device="cuda")
    a @ np.ones(60)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            with pytest.raises(lanky.Error, match="forked"):
                a @ np.ones(60)
            b = lanky.sparse(csr, shape=(40, 60))  # the CPU goes on working
            assert_close(b @ np.ones(60), to_dense(csr, (40, 60)) @ np.ones(60), "float64")
            del a
            os.write(writer, b"all is well")
        except BaseException:
            os.write(writer, traceback.format_exc().encode())
        finally:
            os._exit(0)  # else the child would go on with the tests of its parent
    os.close(writer)
    with os.fdopen(reader) as told:
        assert told.read() == "all is well"
    assert os.waitpid(pid, 0)[1] == 0
    assert (a @ np.ones(60)).shape == (40,)
