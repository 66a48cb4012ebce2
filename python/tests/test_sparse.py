"""lanky.sparse(): products with vectors and matrices, against NumPy in double."""

import threading

import numpy as np
import pytest
from conftest import (
    DTYPES,
    REAL_AND_COMPLEX,
    OnlyDlpack,
    assert_close,
    draw,
    draw_csr,
    to_dense,
    wide,
)
from hypothesis import given
from hypothesis import strategies as st

import lanky


def make(library, csr, shape, **options):
    return lanky.sparse(tuple(library.array(array) for array in csr), shape=shape, **options)


@pytest.mark.parametrize("name", DTYPES)
def test_vector(library, name):
    csr, x = draw_csr(1, 40, 60, name), draw(3, 60, name)
    a = make(library, csr, (40, 60))
    y = a @ library.array(x)
    assert isinstance(y, library.kind())
    assert_close(library.numpy(y), to_dense(csr, (40, 60)) @ wide(x), name)
    assert a.shape == (40, 60) and a.nnz == csr[2].size and a.dtype.name == name


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", DTYPES)
def test_matrix_keeps_the_order(library, name, order):
    csr, x = draw_csr(1, 40, 60, name), draw(3, (60, 5), name, order)
    x = library.array(x)
    y = make(library, csr, (40, 60), expected_columns=5) @ x
    assert_close(
        library.numpy(y),
        to_dense(csr, (40, 60)) @ wide(np.asarray(library.numpy(x), order="C")),
        name,
    )
    if library.name != "jax":  # whose arrays are always by rows
        assert library.numpy(y).flags[f"{order}_CONTIGUOUS"]


@pytest.mark.parametrize("name", REAL_AND_COMPLEX)
@pytest.mark.parametrize("which", ["T", "H", "conj"])
def test_transposes(library, name, which):
    csr = draw_csr(5, 30, 20, name)
    dense = {"T": lambda d: d.T, "H": lambda d: d.T.conj(), "conj": lambda d: d.conj()}[which](
        to_dense(csr, (30, 20))
    )
    a = make(library, csr, (30, 20))
    view = a.conj() if which == "conj" else getattr(a, which)
    assert view.shape == dense.shape
    for shape in (dense.shape[1], (dense.shape[1], 3)):
        x = draw(7, shape, name)
        assert_close(library.numpy(view @ library.array(x)), dense @ wide(x), name)
    back = {"T": lambda v: v.T, "H": lambda v: v.H, "conj": lambda v: v.conj()}[which](view)
    x = draw(9, 20, name)
    assert_close(library.numpy(back @ library.array(x)), to_dense(csr, (30, 20)) @ wide(x), name)


def test_right_products(library):
    csr, x = draw_csr(5, 30, 20, "float64"), draw(7, (4, 30), "float64")
    a, dense = make(library, csr, (30, 20)), to_dense(csr, (30, 20))
    if library.name in ("numpy", "cupy"):  # others do not ask the right operand
        assert_close(library.numpy(library.array(x) @ a), x @ dense, "float64")
    assert_close(library.numpy(a.__rmatmul__(library.array(x[0]))), x[0] @ dense, "float64")
    assert_close(
        library.numpy(a.rmatmat(library.array(np.ascontiguousarray(x.T)))), dense.T @ x.T, "float64"
    )
    assert_close(library.numpy(a.rmatvec(library.array(x[0]))), dense.T @ x[0], "float64")


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_into_float(library, name):
    csr, x = draw_csr(1, 40, 60, name), draw(3, 60, name)
    y = make(library, csr, (40, 60), out_dtype="float32") @ library.array(x)
    assert_close(library.numpy(y), to_dense(csr, (40, 60)) @ wide(x), "float32")


@pytest.mark.parametrize("name", REAL_AND_COMPLEX)
@pytest.mark.parametrize("columns", [None, 3])
def test_out_alpha_beta(library, name, columns):
    if library.name == "jax":
        pytest.skip("JAX's arrays are not written to")
    csr = draw_csr(1, 40, 60, name)
    shapes = [60, 40] if columns is None else [(60, columns), (40, columns)]
    x, y = (draw(seed, shape, name) for seed, shape in zip((3, 4), shapes))
    alpha, beta = (2 - 1j, 0.5j) if name.startswith("complex") else (2, -0.5)
    a, out = make(library, csr, (40, 60)), library.array(y.copy())
    multiply = a.matvec if columns is None else a.matmat
    assert multiply(library.array(x), out, alpha=alpha, beta=beta) is out
    expected = alpha * (to_dense(csr, (40, 60)) @ wide(x)) + beta * wide(y)
    assert_close(library.numpy(out), expected, name)
    nan = library.array(np.full(y.shape, np.nan, y.dtype))
    assert_close(
        library.numpy(multiply(library.array(x), nan)), to_dense(csr, (40, 60)) @ wide(x), name
    )


@given(
    st.integers(0, 12),
    st.integers(0, 12),
    st.integers(0, 4),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from(["float64", "float32", "complex64"]),
    st.booleans(),
)
def test_any_extents_and_leading_dimensions(
    rows, cols, columns, x_by_rows, y_by_rows, gap, name, wide_offsets
):
    csr = draw_csr(rows + 13 * cols, rows, cols, name, 0.5)
    if wide_offsets:
        csr = (csr[0].astype("int64"), *csr[1:])

    def padded(rows, by_rows):
        whole = draw(3, (rows, columns + gap) if by_rows else (columns, rows + gap), name)
        return whole[:, :columns] if by_rows else whole[:, :rows].T

    x, y = padded(cols, x_by_rows), padded(rows, y_by_rows)
    expected = to_dense(csr, (rows, cols)) @ wide(np.array(x)) + 2 * wide(np.array(y))
    lanky.sparse(csr, shape=(rows, cols)).matmat(x, y, beta=2)
    assert_close(np.array(y), expected, name)


def test_scipy_sources():
    sp = pytest.importorskip("scipy.sparse")
    s = sp.coo_array(sp.random(30, 40, density=0.2, random_state=1))
    x = draw(1, 40, "float64")
    for matrix in (s.tocsr(), s.tocsc(), s.tocoo(), s.tolil(), sp.csr_matrix(s), s.tobsr()):
        assert_close(lanky.sparse(matrix) @ x, matrix @ x, "float64")
    ints = s.tocsr().astype("int64")
    with pytest.raises(TypeError, match="int64"):
        lanky.sparse(ints)
    assert_close(lanky.sparse(ints, dtype="float32") @ x.astype("f4"), ints @ x, "float32")
    long = s.tocsr()
    long.indices, long.indptr = long.indices.astype("int64"), long.indptr.astype("int64")
    assert_close(lanky.sparse(long) @ x, s @ x, "float64")


def test_torch_source():
    torch = pytest.importorskip("torch")
    dense = torch.rand(7, 9, dtype=torch.float64) * (torch.rand(7, 9) < 0.4)
    x = torch.rand(9, dtype=torch.float64)
    assert torch.allclose(lanky.sparse(dense.to_sparse_csr()) @ x, dense @ x)
    with pytest.raises(TypeError, match="to_sparse_csr"):
        lanky.sparse(dense.to_sparse_coo())


def test_cupy_source(gpu_library):
    if gpu_library.name != "cupy":
        pytest.skip("of CuPy alone")
    import cupyx.scipy.sparse as csp

    cp = gpu_library.module
    matrix = csp.random(300, 400, density=0.05, format="csc", dtype="float64")
    x = cp.random.rand(400)
    assert cp.allclose(lanky.sparse(matrix) @ x, matrix @ x)


def test_shape_follows_from_indices():
    csr = (np.array([0, 2, 3], "int32"), np.array([0, 4, 2], "int32"), np.ones(3))
    assert lanky.sparse(csr).shape == (2, 5)
    assert lanky.sparse(csr, shape=(2, 9)).shape == (2, 9)


def test_elements_of_masked_arrays_count():
    indices = np.array([0, 2, 2], "int32")
    masked = np.ma.array(indices, mask=True)
    a = lanky.sparse((np.ma.array([0, 2, 3]), masked, np.ones(3)))
    assert (a @ np.ones(3)).tolist() == [2, 1]
    with pytest.raises(TypeError, match="indices are object"):
        lanky.sparse((np.array([0, 2, 3]), np.ma.array(indices, dtype=object), np.ones(3)))


def test_symmetric_triangle():
    dense = draw(1, (20, 20), "float64")
    dense += dense.T
    sp = pytest.importorskip("scipy.sparse")
    a, x = lanky.sparse(sp.csr_array(np.tril(dense)), symmetry="symmetric"), draw(2, 20, "float64")
    assert_close(a @ x, dense @ x, "float64")
    assert_close(a.T @ x, dense @ x, "float64")


def test_update_values(library):
    csr, x = draw_csr(1, 40, 60, "float64"), draw(3, 60, "float64")
    a = make(library, csr, (40, 60))
    a.T @ library.array(draw(3, 40, "float64"))
    new = draw(9, csr[2].size, "float64")
    values = library.array(new)
    a.update_values(values)
    dense = to_dense((*csr[:2], new), (40, 60))
    assert_close(library.numpy(a @ library.array(x)), dense @ x, "float64")
    y = draw(4, 40, "float64")
    assert_close(library.numpy(a.T @ library.array(y)), dense.T @ y, "float64")
    a.update_values(2 * new)  # in host memory, wherever the matrix is
    assert_close(library.numpy(a.T @ library.array(y)), 2 * dense.T @ y, "float64")


def test_views_see_new_values():
    csr, y = draw_csr(1, 40, 60, "complex128"), draw(4, 40, "complex128")
    a = lanky.sparse(csr, shape=(40, 60))
    views = {"T": a.T, "H": a.H, "T.H": a.T.H}
    twin = a.T
    for factor in (1, 2, 3):
        a.update_values(factor * csr[2])
        dense = factor * to_dense(csr, (40, 60))
        assert_close(views["T"] @ y, dense.T @ y, "complex128")
        assert_close(twin @ y, dense.T @ y, "complex128")
        assert_close(views["H"] @ y, dense.conj().T @ y, "complex128")
        x = draw(5, 60, "complex128")
        assert_close(views["T.H"] @ x, dense.conj() @ x, "complex128")


def test_new_values_between_products_of_threads():
    """On the CPU a product sees the values of one moment."""
    csr, x = draw_csr(1, 3000, 3000, "float64", 0.01), draw(3, 3000, "float64")
    plan = lanky.SparsePlan(csr, shape=(3000, 3000))
    once = plan.execute(x)
    plan.update_values(2 * csr[2])
    twice = plan.execute(x)
    assert np.array_equal(twice, 2 * once)
    seen, stop = [], threading.Event()

    def multiply():
        while not stop.is_set():
            seen.append(plan.execute(x))

    thread = threading.Thread(target=multiply)
    thread.start()
    for _ in range(50):
        plan.update_values(csr[2])
        plan.update_values(2 * csr[2])
    stop.set()
    thread.join()
    assert seen
    assert all(np.array_equal(y, once) or np.array_equal(y, twice) for y in seen)


def test_the_matrix_is_a_copy():
    indptr, indices, data = csr = draw_csr(1, 40, 60, "float64")
    dense, a = to_dense(csr, (40, 60)), lanky.sparse(csr, shape=(40, 60))
    data[:] = 0
    indices[:] = 0
    x, y = draw(3, 60, "float64"), draw(4, 40, "float64")
    assert_close(a @ x, dense @ x, "float64")
    assert_close(a.T @ y, dense.T @ y, "float64")


def test_results_are_new():
    a, x = lanky.sparse(draw_csr(1, 40, 60, "float64"), shape=(40, 60)), draw(3, 60, "float64")
    first = a @ x
    kept = first.copy()
    second = a @ (2 * x)
    assert not np.shares_memory(first, second) and np.array_equal(first, kept)


def test_sddmm(library):
    for name in REAL_AND_COMPLEX:
        csr = draw_csr(1, 40, 60, name)
        x, y = draw(2, (40, 3), name), draw(3, (60, 3), name)
        rows = np.repeat(np.arange(40), np.diff(csr[0]))
        a = make(library, csr, (40, 60))
        for conjugate in (False, True):
            right = wide(y).conj() if conjugate else wide(y)
            values = lanky.sddmm(a, library.array(x), library.array(y), conjugate_y=conjugate)
            assert_close(library.numpy(values), (wide(x)[rows] * right[csr[1]]).sum(1), name)


def test_strided_vectors():
    """As solvers hand over columns of matrices; the bits are those of a contiguous vector."""
    csr, x, out = draw_csr(1, 40, 60, "float64"), draw(3, (60, 3), "float64"), np.zeros((40, 2))
    a = lanky.sparse(csr, shape=(40, 60))
    y = a @ x[:, 1]
    assert y.flags.c_contiguous and np.array_equal(y, a @ x[:, 1].copy())
    a.matvec(x[:, 1], out[:, 0])
    assert np.array_equal(out[:, 0], y) and not out[:, 1].any()


def test_arrays_of_unknown_libraries():
    csr, x = draw_csr(1, 40, 60, "float64"), draw(3, (60, 4), "float64", "F")
    a, expected = lanky.sparse(csr, shape=(40, 60)), to_dense(csr, (40, 60)) @ x
    y = a @ OnlyDlpack(x)
    assert isinstance(y, np.ndarray) and y.flags.f_contiguous
    assert_close(y, expected, "float64")
    out = np.zeros((40, 4))
    a.matmat(OnlyDlpack(x), OnlyDlpack(out))
    assert_close(out, expected, "float64")
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # before, NumPy hands no read-only array over
        x.flags.writeable = False
        assert_close(a @ OnlyDlpack(x), expected, "float64")


class OnlyCudaInterface:
    """An array that tells nothing but the CUDA array interface, as numba's."""

    def __init__(self, array):
        self._array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_cuda_array_interface(gpu_library):
    csr, x = draw_csr(1, 40, 60, "float64"), draw(3, (60, 4), "float64")
    a = make(gpu_library, csr, (40, 60))
    there = gpu_library.array(x)
    gpu_library.sync()
    y = gpu_library.module.from_dlpack(a @ OnlyCudaInterface(there))
    assert_close(gpu_library.numpy(y), to_dense(csr, (40, 60)) @ x, "float64")


def test_streams_of_a_gpu(gpu_library):
    """A matrix works on each current stream, in its order."""
    csr, x = draw_csr(1, 4000, 6000, "float64", 0.01), draw(3, 6000, "float64")
    a, expected = make(gpu_library, csr, (4000, 6000)), to_dense(csr, (4000, 6000)) @ x
    module = gpu_library.module
    device_x = gpu_library.array(x)
    gpu_library.sync()
    for _ in range(12):  # more streams than a plan keeps workspaces
        stream = (
            module.cuda.Stream(non_blocking=True)
            if gpu_library.name == "cupy"
            else module.cuda.Stream()
        )
        with stream if gpu_library.name == "cupy" else module.cuda.stream(stream):
            y = a @ (device_x + 0)
        stream.synchronize()
        assert_close(gpu_library.numpy(y), expected, "float64")
    out = gpu_library.array(np.zeros(4000))
    gpu_library.sync()
    number = stream.ptr if gpu_library.name == "cupy" else stream.cuda_stream
    for told in (stream, number):
        a.matvec(device_x, out, stream=told)
        stream.synchronize()
        assert_close(gpu_library.numpy(out), expected, "float64")


def new_stream(gpu_library):
    """A stream, and what makes it the current one."""
    cuda = gpu_library.module.cuda
    if gpu_library.name == "cupy":
        stream = cuda.Stream(non_blocking=True)
        return stream, stream
    stream = cuda.Stream()
    return stream, cuda.stream(stream)


@pytest.mark.parametrize("streams", [2, 12])  # 12: more than a plan keeps workspaces
def test_new_values_on_streams_in_turn(gpu_library, streams):
    """Each product has the values of the last update before it, whichever streams they are on."""
    shape = (100_000, 100_000)
    indptr = np.arange(0, 8 * shape[0] + 1, 8, dtype="int32")
    indices = np.random.default_rng(1).integers(0, shape[1], 8 * shape[0]).astype("int32")
    csr, x = (indptr, indices, np.ones(indices.size)), np.ones(shape[1])
    plan = lanky.SparsePlan(tuple(gpu_library.array(array) for array in csr), shape=shape)
    x = gpu_library.array(x)
    values = [gpu_library.array(np.full(indices.size, factor)) for factor in (1.0, 2.0, 3.0)]
    currents = [new_stream(gpu_library)[1] for _ in range(streams)]
    gpu_library.sync()
    results = []
    for step in range(4 * streams):
        factor = step % 3
        with currents[step % streams]:
            plan.update_values(values[factor])
        for ahead in (1, 2):  # on other streams, without a wait of the caller's
            with currents[(step + ahead) % streams]:
                results.append((8.0 * (factor + 1), plan.execute(x)))
    gpu_library.sync()
    for expected, y in results:
        assert (gpu_library.numpy(y) == expected).all()


def test_factors_on_a_gpu(gpu_library):
    """Numbers in device memory are read when the product runs, without a wait."""
    csr, x = draw_csr(1, 40, 60, "float64"), draw(3, 60, "float64")
    a, y = make(gpu_library, csr, (40, 60)), draw(4, 40, "float64")
    alpha, beta = gpu_library.array(np.array([2.0])), gpu_library.array(np.array([-1.0]))
    out = gpu_library.array(y)
    a.matvec(gpu_library.array(x), out, alpha=alpha, beta=beta.reshape(()))
    assert_close(gpu_library.numpy(out), 2 * (to_dense(csr, (40, 60)) @ x) - y, "float64")
    with pytest.raises(ValueError, match="one element"):
        a.matvec(gpu_library.array(x), alpha=gpu_library.array(np.ones(2)))
    with pytest.raises(TypeError, match="alpha is"):
        a.matvec(gpu_library.array(x), alpha=gpu_library.array(np.ones(1, "float32")))


def test_numpy_on_a_gpu_by_request(gpu_library):
    csr = draw_csr(1, 40, 60, "float64")
    a = lanky.sparse(csr, shape=(40, 60), device="cuda")
    x, y = draw(3, (60, 4), "float64"), draw(4, (40, 4), "float64")
    dense = to_dense(csr, (40, 60))
    assert a.device == "cuda:0"
    assert_close(a @ x, dense @ x, "float64")
    assert_close(a @ np.asfortranarray(x), dense @ x, "float64")
    assert_close(a.matmat(x, y.copy(), beta=2), dense @ x + 2 * y, "float64")
    assert_close(gpu_library.numpy(a @ gpu_library.array(x)), dense @ x, "float64")
    assert_close(lanky.gram(x, device="cuda"), x.T @ x, "float64")


def test_torch_graph(gpu_library):
    if gpu_library.name != "torch-cuda":
        pytest.skip("of PyTorch alone")
    torch = gpu_library.module
    csr, x = draw_csr(1, 4000, 6000, "float64", 0.01), draw(3, 6000, "float64")
    a, x_there = make(gpu_library, csr, (4000, 6000)), gpu_library.array(x)
    a @ x_there
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = a @ x_there
    x_there.copy_(gpu_library.array(2 * x))
    graph.replay()
    gpu_library.sync()
    assert_close(gpu_library.numpy(y), to_dense(csr, (4000, 6000)) @ (2 * x), "float64")


@pytest.mark.parametrize("updated_before", [False, True])
def test_graph_of_new_values(gpu_library, updated_before):
    """A graph of an update and a product, captured on a stream that the plan has not seen, after
    products on another one; replays take the values that are there then."""
    csr, x = draw_csr(1, 4000, 6000, "float64", 0.01), draw(3, 6000, "float64")
    dense = to_dense(csr, (4000, 6000))
    plan = lanky.SparsePlan(tuple(gpu_library.array(array) for array in csr), shape=(4000, 6000))
    x_there, values = gpu_library.array(x), gpu_library.array(csr[2])
    out = gpu_library.array(np.zeros(4000))
    plan.execute(x_there)
    if updated_before:
        plan.update_values(values)
        plan.execute(x_there)
    gpu_library.sync()

    def both():
        plan.update_values(values)
        plan.execute(x_there, out)

    if gpu_library.name == "cupy":
        stream, current = new_stream(gpu_library)
        with current:
            stream.begin_capture()
            both()
            graph = stream.end_capture()
        replay = graph.launch
    else:
        graph = gpu_library.module.cuda.CUDAGraph()
        with gpu_library.module.cuda.graph(graph):
            both()
        replay = graph.replay
    for factor in (2, 3):
        values *= factor
        replay()
        gpu_library.sync()
        dense *= factor
        assert_close(gpu_library.numpy(out), dense @ x, "float64")
    plan.update_values(csr[2])  # outside of the graph all goes on
    gpu_library.sync()
    y = gpu_library.numpy(plan.execute(x_there))
    assert_close(y, to_dense(csr, (4000, 6000)) @ x, "float64")
