"""Results in the hands of JAX, which lets go of them in an order of its own."""

import gc

import numpy as np
import pytest
from conftest import OnlyDlpack, draw_csr, to_dense

import lanky

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)


@pytest.fixture(params=["cpu", "gpu"])
def device(request):
    try:
        return jax.devices(request.param)[0]
    except RuntimeError as error:
        pytest.skip(f"JAX has no GPU: {error}")


@pytest.fixture
def rows(device):
    """Enough to keep a GPU busy for longer than a product takes."""
    return 300 if device.platform == "cpu" else 4000


@pytest.fixture
def csr(rows):
    return draw_csr(1, rows, rows, "float64", 0.02)


@pytest.fixture
def a(csr, rows, device):
    arrays = tuple(jax.device_put(array, device) for array in csr)
    return lanky.sparse(arrays, shape=(rows, rows))


@pytest.fixture
def dense(csr, rows):
    return to_dense(csr, (rows, rows))


@jax.jit
def long_function(y):
    """Keeps the device busy after the caller has let go of y, and reads y at its end."""
    square = jax.numpy.outer(y, y)
    for _ in range(3):
        square = square @ square
        square = square / jax.numpy.abs(square).max()
    return y + 0 * square[0]


def test_results_that_are_let_go_while_jax_computes(a, dense, device, rows):
    """New results take the memory of former ones, which JAX has still to read."""
    vectors = [np.random.default_rng(seed).uniform(-1, 1, rows) for seed in range(4)]
    inputs = [jax.device_put(x, device) for x in vectors]
    found = []
    for x in inputs:
        found.append(long_function(a @ x))
        gc.collect()
        for other in inputs:
            a @ other
    for x, y in zip(vectors, found):
        assert y.devices() == {device}
        assert np.allclose(np.asarray(y), dense @ x)


def test_values_that_are_let_go_after_an_update(a, csr, device, rows):
    """New values are read before update_values() returns: JAX may give their memory out again."""
    x = np.random.default_rng(1).uniform(-1, 1, rows)
    on_device = jax.device_put(x, device)
    values = [np.random.default_rng(seed).uniform(-1, 1, csr[2].size) for seed in range(4)]
    for own in values:
        a.update_values(jax.device_put(own, device) * 1.0)
        jax.block_until_ready([jax.device_put(other, device) + 1 for other in values])
        expected = to_dense((*csr[:2], own), (rows, rows)) @ x
        assert np.allclose(np.asarray(a @ on_device), expected)


class Recorder(OnlyDlpack):
    """An array of a library that lanky does not know; it notes how results are taken."""

    def __init__(self, array, calls):
        super().__init__(array)
        self.calls = calls

    def __array_namespace__(self):
        return self

    def from_dlpack(self, result):
        self.calls.append("view")
        return jax.dlpack.from_dlpack(result)

    def asarray(self, view, copy):
        self.calls.append("copy" if copy else "the same")
        return jax.numpy.asarray(view, copy=copy)


def test_results_on_a_gpu_are_copies(a, dense, device, rows):
    calls = []
    x = np.random.default_rng(1).uniform(-1, 1, rows)
    y = a @ Recorder(jax.device_put(x, device), calls)
    assert calls == (["view"] if device.platform == "cpu" else ["view", "copy"])
    assert np.allclose(np.asarray(y), dense @ x)


def test_a_factor_of_jax_beside_arrays_of_cupy(csr, dense, device, rows):
    """lanky waits for the product, since JAX may let go of the factor before it is read."""
    if device.platform == "cpu":
        pytest.skip("on a CPU a factor is read during the call")
    cupy = pytest.importorskip("cupy")
    a = lanky.sparse(tuple(cupy.asarray(array) for array in csr), shape=(rows, rows))
    x = np.random.default_rng(1).uniform(-1, 1, rows)
    y = a.matvec(cupy.asarray(x), alpha=jax.device_put(np.float64(2), device))
    assert np.allclose(cupy.asnumpy(y), 2 * (dense @ x))
