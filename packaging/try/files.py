"""Files that examples of the documentation name: packaging/try_release.py runs this in the unpacked sources.

cant.mtx.gz and others in this folder, and /mirror, a mirror of the SuiteSparse collection with five matrices."""

import io
import lzma
import pathlib
import shutil
import tarfile

import numpy as np
import scipy.io
import scipy.sparse

MIRROR = pathlib.Path("/mirror")
HERE = pathlib.Path()


def laplacian(*sides):
    """Of a grid, positive definite: eigenvalues of the tridiagonal factors, added up."""
    lines = [scipy.sparse.diags([-1.0, 2.0 + 0.1 * k, -1.0], offsets=[-1, 0, 1], shape=(side, side))
             for k, side in enumerate(sides)]
    total = lines[0]
    for line in lines[1:]:
        total = scipy.sparse.kronsum(total, line)
    return total.tocsr()


def write(path, matrix, **options):
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, matrix, **options)
    if path.suffix == ".gz":
        import gzip

        path.write_bytes(gzip.compress(stream.getvalue()))
    else:
        path.write_bytes(stream.getvalue())
    return stream.getvalue()


def archive(group, name, text):
    target = MIRROR / "MM" / group / f"{name}.tar.gz"
    target.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(target, "w:gz") as tar:
        member = tarfile.TarInfo(f"{name}/{name}.mtx")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))


def main():
    random = np.random.default_rng(0)
    cant = laplacian(18, 20, 22)
    text = write(HERE / "cant.mtx.gz", cant, symmetry="symmetric")
    write(HERE / "K.mtx", cant, symmetry="symmetric")
    write(HERE / "M.mtx", scipy.sparse.diags(1 + random.random(cant.shape[0])).tocsr(), symmetry="symmetric")
    write(HERE / "b.mtx", random.standard_normal((cant.shape[0], 2)))
    write(HERE / "terms.mtx", scipy.sparse.random(2000, 500, 0.02, format="csr", random_state=0))
    np.save("points.npy", random.standard_normal((5000, 16)))
    for source, name in (("docs/snippets/first.cpp", "main.cpp"), ("docs/snippets/first.c", "main.c"), ("docs/snippets/expect.hpp", "expect.hpp"),
                         ("examples/c/spmv.c", "spmv.c"), ("examples/fortran/lanky.f90", "lanky.f90"),
                         ("examples/fortran/products.f90", "products.f90")):
        shutil.copy(source, name)
    (HERE / "folder").mkdir(exist_ok=True)
    shutil.copy("matrices/arc130.mtx.xz", "folder")

    def small(name):
        return lzma.decompress((HERE / "matrices" / f"{name}.mtx.xz").read_bytes())

    bus = laplacian(1138)
    lines = [f"HB,1138_bus,1138,1138,{bus.nnz},1,0,0,1,1,1,power network problem,{bus.nnz}",
             "HB,west0479,479,479,1888,1,0,0,0,0.0123966942148760,0,chemical process simulation problem,1910",
             f"Williams,cant,{cant.shape[0]},{cant.shape[0]},{cant.nnz},1,0,1,1,1,1,2D/3D problem,{cant.nnz}",
             "Hamm,memplus,17758,17758,99147,1,0,0,0,1,0.5,circuit simulation problem,126150",
             "SNAP,email-Enron,36692,36692,367662,1,1,0,0,1,1,undirected graph,367662"]
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, bus, symmetry="symmetric")
    archive("HB", "1138_bus", stream.getvalue())
    archive("Williams", "cant", text)
    for group, name in (("HB", "west0479"), ("Hamm", "memplus"), ("SNAP", "email-Enron")):
        archive(group, name, small(name))
    (MIRROR / "files").mkdir()
    (MIRROR / "files" / "ssstats.csv").write_text(f"{len(lines)}\n31-Oct-2023 18:12:37\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
