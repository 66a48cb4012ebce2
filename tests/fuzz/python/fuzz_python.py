"""Atheris targets of the Python package: hostile arrays, options and files. `fuzz_python.py NAME [libFuzzer's options]`;
`./dev fuzz` runs them where build/fuzz_venv is. Untrusted pickles are not among them: unpickling runs what a pickle says,
of lanky as of any package. What is unpickled here was pickled here."""

import os
import pickle
import sys
import warnings

import atheris

with atheris.instrument_imports(include=["lanky"]):
    import lanky
import ml_dtypes
import numpy as np
import scipy.sparse

DTYPES = ["f8", "f4", "c16", "c8", "f2", "i4", "i8", "u1", "u8", "i2", "?", ">f8", ">i4", "<i8", "U3", "O", "M8[s]", "V4", "S2",
          "g", ml_dtypes.bfloat16]
FLOATS = ["f8", "f4", "c16", "c8", "f2", ml_dtypes.bfloat16]
NUMBERS = [0.0, 1.0, -1.0, 0.5, 1e-8, 1e300, -0.0, float("nan"), float("inf"), 1e-320, 2**31, 2**63, -(2**63), 10**30, None, "1",
           b"x", 1j, (), [1], True]
# docs/guide/python.md, "Errors". An OverflowError is what NumPy and Python itself make of numbers that are too large,
# and an AttributeError or IndexError of operands that are no arrays.
DOCUMENTED = (lanky.Error, TypeError, ValueError, MemoryError, OSError, OverflowError)
FOLDER = f"/dev/shm/lanky-fuzz-python-{os.getpid()}"


class Provider(atheris.FuzzedDataProvider):
    def pick(self, values):
        return values[self.ConsumeIntInRange(0, len(values) - 1)]

    def rarely(self, of=8):
        return self.ConsumeIntInRange(0, of - 1) == of - 1

    def extent(self):
        if self.rarely(16):
            return self.pick([-1, 2**31, 2**31 - 1, 2**32, 2**62, 2**63 - 1, -(2**63), 10**20, 1.5, "3", None])
        return self.ConsumeIntInRange(0, 12)

    def array(self, shape, dtype=None):
        """An array of that shape, whatever its strides, order of bytes, alignment and flags."""
        dtype = np.dtype(self.pick(DTYPES) if dtype is None or self.rarely(16) else dtype)
        if self.rarely(24):
            shape = self.pick([(), (0,), (1, 1, 1), shape + (1,), tuple(n + 1 for n in shape), shape[:-1]])
        size = int(np.prod(shape, dtype=object)) if shape else 1
        values = np.array([self.ConsumeIntInRange(-3, 3) for _ in range(min(size, 16))] or [0])
        values = np.resize(values, shape)
        if dtype.kind in "fc" or dtype == ml_dtypes.bfloat16:
            if self.rarely():
                values = values * self.pick([np.nan, np.inf, 1e-320, 1e300, -0.0])
        try:
            made = values.astype(dtype)
        except (TypeError, ValueError):
            made = np.zeros(shape, dtype)
        how = self.ConsumeIntInRange(0, 15)
        if how == 1:
            made = np.asfortranarray(made)
        elif how == 2 and made.ndim:
            made = made[::-1]
        elif how == 3 and made.ndim:
            made = np.repeat(made, 2, axis=0)[::2]
        elif how == 4:
            made.flags.writeable = False
        elif how == 5 and made.ndim and made.size:
            made = np.broadcast_to(made[:1], made.shape)
        elif how == 6 and not made.dtype.hasobject:
            raw = np.zeros(made.nbytes + 1, "u1")
            off = raw[1:].view(made.dtype) if made.nbytes else made.ravel()
            made = off.reshape(made.shape)
        elif how == 7:
            made = made.byteswap().newbyteorder()
        elif how == 8:
            made = made.T
        elif how == 9 and made.ndim and self.rarely(2):
            made = np.broadcast_to(made.ravel()[:1] if made.size else np.zeros(1, dtype), (self.pick([2**20, 2**22]),))
        elif how == 10:
            made = self.pick([made.tolist(), memoryview(b"abcdefgh"), None, 3, "text", np.ma.array(made)])
        return made

    def number(self):
        return self.pick(NUMBERS)


def csr(data, dtype=None, definite=False):
    """(indptr, indices, data), shape: of a matrix, or of none."""
    n = data.ConsumeIntInRange(1, 8)
    if definite or data.rarely(4):
        a = scipy.sparse.diags([[-1] * (n - 1), [4] * n, [-1] * (n - 1)], [-1, 0, 1], format="csr") if n > 1 else (
            scipy.sparse.csr_matrix(np.array([[4.0]])))
        return (a.indptr, a.indices, a.data.astype(np.dtype(dtype or "f8"))), (n, n)
    cols = data.ConsumeIntInRange(1, 8)
    nnz = data.ConsumeIntInRange(0, 12)
    if data.rarely(3):
        indptr = data.array((n + 1,), data.pick(["i4", "i8"]))
        indices = data.array((nnz,), "i4")
    else:
        cuts = sorted(data.ConsumeIntInRange(0, nnz) for _ in range(n - 1))
        indptr = np.array([0, *cuts, nnz], data.pick(["i4", "i8", "u4", "u8", "i2"]))
        indices = np.array([data.ConsumeIntInRange(0, cols - 1) for _ in range(nnz)], data.pick(["i4", "i8", "u8", "u1"]))
    return (indptr, indices, data.array((nnz,), dtype or data.pick(FLOATS))), (n, cols)


def matrix(data, definite=False):
    arrays, shape = csr(data, data.pick(["f8", "f4", "c16", "c8"]) if definite else None, definite)
    if data.rarely(8):
        arrays = data.pick([arrays[:2], (*arrays, 1), list(arrays), arrays[0], None, 7])
    options = {}
    if data.rarely(4):
        options["shape"] = (data.extent(), data.extent())
    elif data.ConsumeBool():
        options["shape"] = shape
    if data.rarely(4):
        options["dtype"] = data.pick(DTYPES)
    if data.rarely(6):
        options["out_dtype"] = data.pick(DTYPES)
    for name, values in (("engine", ["auto", "cuda_cores", "tensor_cores", "x"]), ("math", ["ieee", "tf32", "tf32x3", None]),
                         ("symmetry", ["general", "symmetric", "skew_symmetric", "hermitian", ""]),
                         ("expected_columns", [0, 1, 8, -1, 2**40, 1.5]), ("expected_layout", ["row", "col", 3]),
                         ("keep", [True, False]), ("device", ["cpu", "cuda", "cuda:7", "x", 0]), ("stream", [0, 1, object()])):
        if data.rarely():
            options[name] = data.pick(values)
    return lanky.sparse(arrays, **options)


def is_huge(a):
    """Vectors of 2^31 elements are rightly given and made."""
    return max(a.shape) > 2**24


def multiply(data, a):
    rows, cols = a.shape
    columns = data.ConsumeIntInRange(0, 9)
    kind = data.ConsumeIntInRange(0, 8)
    vector = (cols,) if data.ConsumeBool() else (cols, columns)
    options = {name: data.number() for name in ("alpha", "beta") if data.rarely(4)}
    out = data.array((rows, *vector[1:]), a.out_dtype) if data.rarely(4) else None
    if kind == 0:
        huge = data.pick([(2**40,), (2**40, 2**20), (2**40, 1), (cols, 2**40)])
        return a @ (np.broadcast_to(np.ones(1, a.dtype), huge) if data.rarely() else data.array(vector, a.dtype))
    if kind == 1:
        return a.matvec(data.array(vector, a.dtype), out, **options)
    if kind == 2:
        return a.matmat(data.array(vector, a.dtype), out, **options)
    if kind == 3:
        return data.pick([a.T, a.H, a.conj()]) @ data.array((rows, *vector[1:]), a.dtype)
    if kind == 4:
        return data.array((columns, rows), a.dtype) @ a
    if kind == 5:
        return a.update_values(data.array((a.nnz,), a.dtype))
    if kind == 6:
        return a.sddmm(data.array((rows, columns), a.dtype), data.array((cols, columns), a.dtype), **options)
    if kind == 7:
        return pickle.loads(pickle.dumps(a)) @ np.ones(cols, a.dtype)
    return repr(a), a.explain(), a.fingerprint, a.device_bytes, a.nnz


def fuzz_arrays(data):
    a = matrix(data)
    if is_huge(a):
        return
    for _ in range(data.ConsumeIntInRange(0, 4)):
        attempt(lambda: multiply(data, a))


def fuzz_dense(data):
    dtype = data.pick(FLOATS)
    m, n, k = (data.ConsumeIntInRange(0, 12) for _ in range(3))
    options = {name: data.number() for name in ("alpha", "beta") if data.rarely(4)}
    if data.rarely():
        options["out_dtype"] = data.pick(DTYPES)
    if data.rarely():
        options["math"] = data.pick(["ieee", "tf32", "x", None])
    if data.rarely():
        options["out"] = data.array((m, n), dtype)
    kind = data.ConsumeIntInRange(0, 2)
    a = data.array((m, k), dtype)
    if kind == 0:
        return lanky.matmul(a, data.array((k, n), dtype), **options)
    if kind == 1:
        return lanky.gram(a, **options)
    return lanky.tall_times_small(a, data.array((k, n), dtype), **options)


def fuzz_solvers(data):
    a = matrix(data, definite=True)
    if is_huge(a):
        return
    n = a.shape[0]
    columns = data.ConsumeIntInRange(1, 3)
    side = (n,) if data.ConsumeBool() else (n, columns)
    precondition = data.pick([None, None, "jacobi", "block_jacobi", "x", 3])
    kind = data.ConsumeIntInRange(0, 5)
    options = {}

    def maybe(name, values, of=6):
        if data.rarely(of):
            options[name] = data.pick(values)

    if kind <= 2:
        maybe("rtol", NUMBERS)
        maybe("x0", [data.array(side, a.dtype)])
        maybe("M", [precondition])
        options["maxiter"] = data.pick([None, 5, 1, 0, -1, 2**40]) if data.rarely(4) else 20
        maybe("callback", [lambda *told: None, lambda *told: True, 3])
        return (lanky.cg, lanky.block_cg, lanky.minres)[kind](a, data.array(side, a.dtype), **options)
    options["k"] = data.pick([0, -1, 100, 2**40, 1.5, None]) if data.rarely() else data.ConsumeIntInRange(1, 4)
    options["maxiter"] = data.pick([None, 0, -1, 2**40]) if data.rarely() else 20
    maybe("tol", NUMBERS)
    maybe("rng", [0, 1, -1, 2**70, None, "x", np.random.default_rng(0)])
    maybe("v0", [data.array(side, a.dtype)])
    if kind == 3:
        maybe("which", ["SA", "LA", "LM", "BE", "SM", "x", None], 2)
        maybe("preconditioner", [precondition])
        maybe("polynomial_degree", [0, 3, -1, 2**40, 1.5])
        maybe("mixed_precision", [True])
        maybe("sigma", NUMBERS)
        maybe("return_eigenvectors", [False])
        return lanky.eigsh(a, **options)
    if kind == 4:
        maybe("which", ["LM", "SM", "x"])
        return lanky.svds(a, **options)
    options.pop("maxiter")
    return lanky.lobpcg(a, data.array((n, columns), a.dtype), maxiter=5)


def fuzz_files(data):
    path = FOLDER + "/" + data.pick(["a.mtx", "a.lanky", "a.mtx.gz", "a.rb", "a.tar.gz", "x", ""])
    if data.ConsumeBool():
        options = {"comment": data.ConsumeUnicode(20)} if data.rarely(2) else {}
        lanky.write(path, csr(data)[0], **options)
    else:
        head = data.pick([b"", b"%%MatrixMarket matrix coordinate real general\n", b"%%MatrixMarket matrix array real general\n"])
        with open(path, "wb") as file:
            file.write(head + data.ConsumeBytes(200))
    options = {}
    if data.rarely(4):
        options["dtype"] = data.pick(DTYPES)
    if data.rarely(4):
        options["duplicates"] = data.pick(["sum", "keep", "reject", "x", None])
    if data.rarely():
        options["variable"] = data.ConsumeUnicode(5)
    if data.rarely():
        options["cache"] = data.pick([FOLDER, "", "\0", b"x", 3])
    read = lanky.read(path, **options)
    assert isinstance(read, scipy.sparse.csr_array)
    lanky.sparse(path)


TARGETS = {"arrays": fuzz_arrays, "dense": fuzz_dense, "solvers": fuzz_solvers, "files": fuzz_files}


def attempt(call):
    try:
        call()
    except DOCUMENTED as error:
        assert type(error) is not SystemError, error
        assert getattr(error, "code", "") != "internal", error


def main():
    target = TARGETS[sys.argv.pop(1)]
    os.makedirs(FOLDER, exist_ok=True)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    atheris.Setup(sys.argv, lambda data: attempt(lambda: target(Provider(data))))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
