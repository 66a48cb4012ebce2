"""Files and generators, against SciPy's reader."""

import numpy as np
import pytest
from conftest import draw, draw_csr

import lanky

sp = pytest.importorskip("scipy.sparse")
scipy_io = pytest.importorskip("scipy.io")


@pytest.mark.parametrize("ending", ["mtx", "mtx.gz", "mtx.xz", "mtx.zst", "mtx.bz2", "lanky"])
@pytest.mark.parametrize("name", ["float64", "float32", "complex128"])
def test_there_and_back(tmp_path, ending, name):
    indptr, indices, data = draw_csr(1, 30, 40, name)
    matrix = sp.csr_array((data, indices, indptr), shape=(30, 40))
    path = tmp_path / f"a.{ending}"
    lanky.write(path, matrix)
    back = lanky.read(path, dtype=name)
    assert back.dtype == name and back.shape == (30, 40)
    assert np.array_equal(back.toarray(), matrix.toarray())
    assert back.indices.dtype == back.indptr.dtype == "int32"
    assert not back.indices.flags.owndata  # SciPy made no copy
    assert np.array_equal(
        lanky.sparse(path, dtype=name) @ data[:40].copy(), lanky.sparse(matrix) @ data[:40].copy()
    )


@pytest.mark.parametrize("name", ["a", "a.txt", "a.mat", "a.gz", "a.lanky.gz", "a.mtx.Z", "mtx"])
def test_endings_of_no_format(tmp_path, name):
    with pytest.raises(ValueError, match=rf"{name}: the name must end with one of .mtx, .mtx.gz, "):
        lanky.write(tmp_path / name, draw_csr(1, 3, 4, "float64"))
    assert not (tmp_path / name).exists()


def test_scipy_reads_what_lanky_writes_and_back(tmp_path):
    matrix = sp.csr_array(sp.random(30, 40, density=0.2, random_state=1))
    lanky.write(tmp_path / "a.mtx", matrix, comment="by lanky")
    assert np.array_equal(scipy_io.mmread(tmp_path / "a.mtx").toarray(), matrix.toarray())
    symmetric = matrix[:30, :30] + matrix[:30, :30].T
    scipy_io.mmwrite(tmp_path / "b.mtx", symmetric, symmetry="symmetric")
    assert np.allclose(lanky.read(tmp_path / "b.mtx").toarray(), symmetric.toarray())
    scipy_io.mmwrite(tmp_path / "c.mtx", matrix * (1 + 2j))
    assert lanky.read(tmp_path / "c.mtx").dtype == "complex128"


def test_sources_of_write(tmp_path):
    torch = pytest.importorskip("torch")
    dense = torch.eye(5, dtype=torch.float64)
    lanky.write(tmp_path / "a.mtx", dense.to_sparse_csr())
    assert np.array_equal(lanky.read(tmp_path / "a.mtx").toarray(), np.eye(5))


def test_cache(tmp_path):
    lanky.write(tmp_path / "a.mtx", draw_csr(1, 30, 40, "float64"))
    cache = tmp_path / "cache"
    cache.mkdir()
    first = lanky.read(tmp_path / "a.mtx", cache=cache)
    assert list(cache.iterdir())
    assert np.array_equal(first.toarray(), lanky.read(tmp_path / "a.mtx", cache=cache).toarray())


def test_generators():
    a, b = lanky.generate("uniform:100:4,seed=3"), lanky.generate("uniform:100:4,seed=3")
    assert np.array_equal(a.toarray(), b.toarray()) and a.shape == (100, 100)
    assert lanky.generate("stencil27:4", dtype="complex64").dtype == "complex64"


def test_results_hold_their_memory():
    arrays = [lanky.generate(f"uniform:1000:4,seed={seed}") for seed in range(5)]
    sums = [array.data.sum() for array in arrays]
    data = [array.data for array in arrays]
    del arrays
    draw(1, 100000, "float64")
    assert [values.sum() for values in data] == sums


def test_warnings(tmp_path):
    path = tmp_path / "cut.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1.0")
    with pytest.warns(UserWarning, match="cut.mtx:3"):
        lanky.read(path)
