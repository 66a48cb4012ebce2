"""Matrix files in Python, for docs/guide/python.md."""

import pathlib
import tempfile

import lanky

folder = pathlib.Path(tempfile.mkdtemp(prefix="lanky_snippet_"))
path = folder / "a.mtx.gz"
# begin files
S = lanky.generate("rmat:10:8,seed=7")  # a scipy.sparse.csr_array
lanky.write(path, S)
T = lanky.read(path)
# end files
assert (S != T).nnz == 0
path.unlink()
folder.rmdir()
