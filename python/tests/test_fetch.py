"""lanky.fetch() from a mirror that this test makes, as a folder: libcurl reads file:// as it reads
a server."""

import io
import pathlib
import shutil
import tarfile

import numpy as np
import pytest

import lanky

INDEX = pathlib.Path(__file__).resolve().parents[2] / "tests/data/collection/ssstats.csv"


@pytest.fixture
def mirror(tmp_path):
    """The index of the tests, and of its matrices the archive of HB/1138_bus, as the collection has
    it."""
    folder = tmp_path / "mirror"
    (folder / "files").mkdir(parents=True)
    (folder / "MM" / "HB").mkdir(parents=True)
    shutil.copy(INDEX, folder / "files" / "ssstats.csv")
    content = b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3.0\n2 2 4.0\n"
    with tarfile.open(folder / "MM" / "HB" / "1138_bus.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("1138_bus/1138_bus.mtx")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return folder.as_uri()


def test_fetch_and_read(tmp_path, mirror):
    cache = tmp_path / "cache"
    path = lanky.fetch("HB/1138_bus", cache=cache, mirror=mirror)
    assert path == cache / "suitesparse" / "HB" / "1138_bus.tar.gz"
    assert np.array_equal(lanky.read(path).toarray(), np.diag([3.0, 4.0]))
    time = path.stat().st_mtime_ns
    assert lanky.fetch("1138_BUS", cache=cache, mirror=mirror, verify=True) == path
    assert path.stat().st_mtime_ns == time
    assert lanky.sparse(path).shape == (2, 2)


def test_errors(tmp_path, mirror):
    with pytest.raises(ValueError, match="HB/1138_bux"):
        lanky.fetch("HB/1138_bux", cache=tmp_path / "cache", mirror=mirror)
    with pytest.raises(lanky.Error) as caught:
        lanky.fetch("HB/1138_bus", cache=tmp_path / "other", mirror=(tmp_path / "nowhere").as_uri())
    assert caught.value.code == "io"
