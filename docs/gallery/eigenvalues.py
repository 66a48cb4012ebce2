"""Eigenvalues and singular values, by lanky's solvers and by SciPy's.

`lanky.eigsh`, `lanky.lobpcg` and `lanky.svds` take the arguments of the functions of
`scipy.sparse.linalg` that have their names. They multiply blocks of vectors. The operator that
`lanky.sparse()` returns has all that SciPy's solvers ask of one, too: SciPy keeps the algorithm
then, and lanky multiplies.
"""

# %%
# ## A drawing of a road network by its eigenvectors
#
# `minnesota` of the SuiteSparse Matrix Collection (Gleich/minnesota, CC-BY 4.0) is the graph of the
# roads of Minnesota; the file has no coordinates. The eigenvectors of the largest eigenvalues of
#
#     N = D^(−1/2) A D^(−1/2),
#
# where A is the adjacency matrix and D holds the degrees, change slowly along edges. The first of
# them is known: √degree, with eigenvalue 1. The next two, divided by √degree, are coordinates in
# which neighbours stand close together. Eigenvalue 1 occurs once for each connected component, so
# that the largest component alone is drawn.

import pathlib

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg
from matplotlib.collections import LineCollection

import lanky

root = pathlib.Path(__file__).resolve().parents[2]
S = lanky.read(root / "matrices/minnesota.mtx.xz")
_, component = scipy.sparse.csgraph.connected_components(S)
nodes = np.flatnonzero(component == np.bincount(component).argmax())
S = S[nodes][:, nodes]
scale = 1 / np.sqrt(S.sum(axis=1))
N = scipy.sparse.csr_array(scipy.sparse.diags(scale) @ S @ scipy.sparse.diags(scale))
A = lanky.sparse(N, expected_columns=8)
values, vectors = lanky.eigsh(A, k=3, which="LA", tol=1e-10)
print(A)
print("largest eigenvalues:", values[::-1])

# %%
# ## The check
#
# An eigenpair is checked without another solver: the residual ‖N v − λ v‖ bounds the distance of λ
# to an eigenvalue. SciPy's solver, with its own products and with lanky's, finds the same.

residuals = np.linalg.norm(N @ vectors - vectors * values, axis=0)
options = dict(k=3, which="LA", ncv=80, tol=1e-10, return_eigenvectors=False)
by_scipy = np.sort(scipy.sparse.linalg.eigsh(N, **options))
by_both = np.sort(scipy.sparse.linalg.eigsh(A, **options))
print(f"largest residual: {residuals.max():.1e}")
print(f"largest difference to SciPy's: {np.abs(values - by_scipy).max():.1e}")
assert residuals.max() < 1e-8
assert np.allclose(values, by_scipy, rtol=0, atol=1e-9)
assert np.allclose(by_both, by_scipy, rtol=0, atol=1e-9)
assert np.isclose(values.max(), 1)

x, y = (vectors[:, :2] * scale[:, None]).T
ends = np.array(S.nonzero()).T  # of each edge
figure, axes = plt.subplots(figsize=(6, 5))
axes.add_collection(LineCollection(np.stack([x[ends], y[ends]], axis=2), linewidths=0.4))
axes.autoscale()
axes.set(title="minnesota, drawn by two eigenvectors", xticks=[], yticks=[])

# %%
# ## The same with what is known
#
# These eigenvalues are close to each other, so that the search takes many iterations. Two things
# are known that help: the first eigenvector, and that L = I − N is nearly inverted by an incomplete
# factorization. `Y=` keeps the search orthogonal to the one, and `M=` is the preconditioner. The
# eigenvalues of L are 1 less those of N, and the smallest are sought.

L = scipy.sparse.csc_array(scipy.sparse.identity(len(nodes)) - N)
known = (1 / scale)[:, None]
incomplete = scipy.sparse.linalg.spilu(
    scipy.sparse.csc_matrix(L + 1e-3 * scipy.sparse.identity(len(nodes))),
    diag_pivot_thresh=0,
    options={"SymmetricMode": True},
)
start = np.random.default_rng(0).standard_normal((len(nodes), 2))
counts = {}
for name, preconditioner in (("none", None), ("incomplete", incomplete.solve)):
    told = []
    smallest, _ = lanky.lobpcg(
        L, start, Y=known, M=preconditioner, tol=1e-10, largest=False, callback=told.append
    )
    counts[name] = len(told)
    assert np.allclose(1 - smallest, values[1::-1], rtol=0, atol=1e-9)
print("iterations by preconditioner:", counts)
assert counts["incomplete"] < counts["none"] / 4

# %%
# ## Singular values of a rectangular matrix
#
# `svds` multiplies by A and by its adjoint. `A.H` packs the adjoint at its first product.
# `Maragal_6` (NYPA/Maragal_6, CC-BY 4.0) is a least-squares problem with some long
# rows; the file gives its pattern, and each row is scaled to length 1.

S = lanky.read(root / "matrices/Maragal_6.pattern.mtx.xz")
lengths = np.sqrt(np.maximum(np.diff(S.indptr), 1))
S = scipy.sparse.csr_array(scipy.sparse.diags(1 / lengths) @ S)
A = lanky.sparse(S, expected_columns=16)
left, sigma, right = lanky.svds(A, k=16)
by_scipy = np.sort(scipy.sparse.linalg.svds(S, k=16, return_singular_vectors=False))
print(f"largest relative difference to SciPy's: {np.abs(sigma / by_scipy - 1).max():.1e}")
assert np.allclose(sigma, by_scipy, rtol=1e-9)
assert np.linalg.norm(S @ right.T - left * sigma) < 1e-8 * sigma.max()

figure, axes = plt.subplots()
axes.semilogy(np.arange(1, 17), sigma[::-1], "o", fillstyle="none", label="lanky.svds")
axes.semilogy(np.arange(1, 17), by_scipy[::-1], "x", label="SciPy's svds")
axes.set(title="Largest singular values of Maragal_6", xlabel="number", ylabel="σ")
axes.legend()

# %%
# ## On a GPU
#
# `lanky.eigsh(lanky.sparse(S, device="cuda"))` runs on a GPU. From a matrix of CuPy or PyTorch, the
# results are arrays of that library, which stay there.
# `cupyx.scipy.sparse.linalg.aslinearoperator(lanky.sparse(S, device="cuda"))` is what CuPy's
# solvers take.
