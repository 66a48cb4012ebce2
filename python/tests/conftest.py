"""The array libraries that tests run with. Those on a GPU are skipped without one;
LANKY_REQUIRE_GPU=1 makes that a failure."""

import os

import numpy as np
import pytest
from hypothesis import settings

import lanky

# Else JAX takes most of a GPU's memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
settings.register_profile("lanky", max_examples=40, deadline=None)
settings.load_profile("lanky")

REQUIRE_GPU = os.environ.get("LANKY_REQUIRE_GPU") == "1"
DTYPES = ["float64", "float32", "float16", "bfloat16", "complex64", "complex128"]
REAL_AND_COMPLEX = ["float64", "float32", "complex64", "complex128"]
# Half a unit in the last place of sums of some tens of terms.
TOLERANCE = {
    "float64": 1e-13,
    "float32": 1e-5,
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "complex64": 1e-5,
    "complex128": 1e-13,
}


def numpy_type(name):
    if name == "bfloat16":
        return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    return np.dtype(name)


def absence_of_gpu(module):
    """Why lanky and that library do not meet on a GPU; "" where they do."""
    try:
        library = __import__(module)
        if module == "cupy":
            library.cuda.runtime.getDeviceCount()
        elif library.cuda.device_count() == 0:
            return f"{module} sees no GPU"
    except Exception as error:  # a library that is missing, or a driver
        return str(error)
    return lanky.cuda_absence()


def pytest_terminal_summary(terminalreporter):
    skipped = [r for r in terminalreporter.stats.get("skipped", []) if "NO GPU" in str(r.longrepr)]
    if skipped:
        terminalreporter.write_line(
            f"lanky: {len(skipped)} tests on a GPU were SKIPPED; with LANKY_REQUIRE_GPU=1 they fail",
            yellow=True,
        )


class OnlyDlpack:
    """An array that tells nothing but DLPack."""

    def __init__(self, array):
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Library:
    """Arrays of one library on one device, made from NumPy's and turned into them."""

    def __init__(self, name):
        self.name = name
        self.gpu = name in ("cupy", "torch-cuda")

    def load(self):
        if self.name == "numpy":
            return self
        module = {"cupy": "cupy", "jax": "jax"}.get(self.name, "torch")
        if self.gpu:
            why = absence_of_gpu(module)
            if why and REQUIRE_GPU:
                pytest.fail(f"LANKY_REQUIRE_GPU=1, but no GPU for {self.name}: {why}")
            if why:
                pytest.skip(f"NO GPU: {self.name} is not tested ({why})")
            self.module = __import__(module)
        else:
            self.module = pytest.importorskip(module)
        if self.name == "jax":
            self.module.config.update("jax_enable_x64", True)
        return self

    def array(self, values):
        if self.name == "numpy":
            return values
        if self.name == "cupy":
            if values.dtype.name == "bfloat16":
                pytest.skip("CuPy has no bfloat16")
            return self.module.array(values, order="K")
        if self.name == "jax":
            return self.module.numpy.asarray(values)
        torch = self.module
        if values.dtype.name == "bfloat16":
            bits = torch.from_numpy(np.ascontiguousarray(values).view("int16")).view(torch.bfloat16)
            tensor = bits.as_strided(bits.shape, bits.stride())
            if values.ndim == 2 and not values.flags.c_contiguous:
                tensor = tensor.t().contiguous().t()
        else:
            tensor = torch.from_numpy(values)
        return tensor.cuda() if self.gpu else tensor

    def numpy(self, array):
        if self.name == "cupy":
            return array.get(order="A")
        if self.name.startswith("torch"):
            if array.dtype == self.module.bfloat16:
                return array.cpu().float().numpy()
            return array.cpu().numpy()
        return np.asarray(array)

    def kind(self):
        if self.name == "numpy":
            return np.ndarray
        return getattr(self.module, {"cupy": "ndarray", "jax": "Array"}.get(self.name, "Tensor"))

    def sync(self):
        if self.name == "cupy":
            self.module.cuda.Device().synchronize()
        elif self.name == "torch-cuda":
            self.module.cuda.synchronize()


LIBRARIES = ["numpy", "torch", "jax", "cupy", "torch-cuda"]


@pytest.fixture(params=LIBRARIES)
def library(request):
    return Library(request.param).load()


@pytest.fixture(params=["cupy", "torch-cuda"])
def gpu_library(request):
    return Library(request.param).load()


def draw(seed, shape, name, order="C"):
    """Values in (-1, 1) of that type."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, shape)
    if name.startswith("complex"):
        values = values + 1j * rng.uniform(-1, 1, shape)
    return np.asarray(values.astype(numpy_type(name)), order=order)


def draw_csr(seed, rows, cols, name, density=0.2):
    """(indptr, indices, data) with empty rows among them."""
    rng = np.random.default_rng(seed)
    mask = rng.uniform(size=(rows, cols)) < density
    if rows > 2:
        mask[rng.integers(rows)] = False
    indptr = np.concatenate([[0], np.cumsum(mask.sum(1))]).astype("int32")
    indices = np.nonzero(mask)[1].astype("int32")
    return indptr, indices, draw(seed + 1, indices.size, name)


def wide(values):
    """The values in double, where sums are exact enough."""
    return values.astype("complex128" if values.dtype.kind == "c" else "float64")


def to_dense(csr, shape):
    indptr, indices, data = csr
    dense = np.zeros(shape, "complex128" if data.dtype.kind == "c" else "float64")
    rows = np.repeat(np.arange(shape[0]), np.diff(indptr))
    np.add.at(dense, (rows, indices), wide(data))
    return dense


def assert_close(actual, expected, name):
    actual = wide(np.asarray(actual))
    assert actual.shape == expected.shape
    scale = max(1.0, np.abs(expected).max(initial=0))
    assert np.abs(actual - expected).max(initial=0) <= TOLERANCE[name] * scale
