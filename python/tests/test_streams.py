"""The streams that solvers run on."""

import numpy as np
import pytest

import lanky

sparse = pytest.importorskip("scipy.sparse")

N = 3000
LEGACY = 0


def current(library):
    if library.name == "cupy":
        return library.module.cuda.get_current_stream().ptr
    return library.module.cuda.current_stream().cuda_stream


def other_stream(library):
    module = library.module
    if library.name == "cupy":
        return module.cuda.Stream(non_blocking=True)
    return module.cuda.stream(module.cuda.Stream())


def path(n=N):
    ones = np.ones(n)
    return sparse.csr_matrix(
        sparse.diags([-ones[1:], 2.01 * ones, -ones[1:]], [-1, 0, 1], format="csr")
    )


class Seen:
    """A callback that notes the current stream."""

    def __init__(self, library):
        self.library = library
        self.streams = set()

    def __call__(self, progress):
        self.streams.add(current(self.library))


def solvers(library, matrix):
    a = lanky.sparse(matrix, device="cuda")
    b = library.array(np.random.default_rng(1).standard_normal((N, 3)))
    return {
        "cg": lambda **options: lanky.cg(a, b, **options),
        "minres": lambda **options: lanky.minres(a, b[:, :1], M="jacobi", **options),
        "lobpcg": lambda **options: lanky.lobpcg(a, b, largest=False, tol=1e-3, **options),
        "eigsh": lambda **options: lanky.eigsh(a, 2, which="SA", v0=b, tol=1e-3, **options),
    }


@pytest.mark.parametrize("name", ["cg", "minres", "lobpcg", "eigsh"])
def test_the_default_stream_is_left_for_one_that_graphs_can_capture(gpu_library, name):
    seen = Seen(gpu_library)
    solvers(gpu_library, path())[name](callback=seen)
    assert len(seen.streams) == 1 and LEGACY not in seen.streams
    assert current(gpu_library) == LEGACY


def test_matrices_of_the_library(gpu_library):
    seen = Seen(gpu_library)
    matrix = path()
    if gpu_library.name == "cupy":
        a = pytest.importorskip("cupyx.scipy.sparse").csr_matrix(matrix)
    else:
        parts = [gpu_library.array(part) for part in (matrix.indptr, matrix.indices, matrix.data)]
        a = gpu_library.module.sparse_csr_tensor(*parts, size=matrix.shape)
    values = lanky.eigsh(a, 2, which="SA", callback=seen)[0]
    lanky.svds(a, 2, tol=1e-3, callback=seen)
    assert len(seen.streams) == 1 and LEGACY not in seen.streams
    assert np.allclose(gpu_library.numpy(values), 0.01, atol=1e-4)


def test_a_stream_of_the_caller_stays(gpu_library):
    seen = Seen(gpu_library)
    solve = solvers(gpu_library, path())["cg"]
    gpu_library.sync()
    with other_stream(gpu_library):
        chosen = current(gpu_library)
        solve(callback=seen)
    assert seen.streams == {chosen}


def test_functions_of_the_caller_keep_the_default_stream(gpu_library):
    seen = Seen(gpu_library)
    a = lanky.sparse(path(), device="cuda")
    b = gpu_library.array(np.ones((N, 2)))
    lanky.cg(a, b, M=lambda x: 0.5 * x, callback=seen)
    assert seen.streams == {LEGACY}


def test_the_default_stream_comes_back_after_an_error(gpu_library):
    a = lanky.sparse(-path(), device="cuda")
    with pytest.raises(ValueError, match="not positive definite"):
        lanky.cg(a, gpu_library.array(np.ones(N)))
    assert current(gpu_library) == LEGACY


def test_what_was_given_to_the_default_stream_comes_first(gpu_library):
    matrix = path()
    a = lanky.sparse(matrix, device="cuda")
    ones = gpu_library.array(np.ones((N, 1)))
    big = gpu_library.array(np.random.default_rng(2).standard_normal((3000, 3000)))
    for _ in range(3):
        slow = big
        for _ in range(6):
            slow = slow @ big / 3000.0  # keeps the default stream busy
        b = slow[:, :2] * 0.0 + ones
        x, status = lanky.cg(a, b, rtol=1e-10)
        b *= 0.0  # after the solver has read it
        y = x * 1.0
        del x
        assert status == 0
        assert np.allclose(matrix @ gpu_library.numpy(y), 1, atol=1e-6)
