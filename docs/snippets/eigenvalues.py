"""Eigenpairs in Python, for docs/guide/eigenvalues.md."""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import lanky

side = 30
line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side))
eye = scipy.sparse.identity(side)
S = scipy.sparse.csr_matrix(scipy.sparse.kron(line, eye) + scipy.sparse.kron(eye, line))
waves = 4 * np.sin(np.arange(1, side + 1) * np.pi / (2 * side + 2)) ** 2
exact = np.sort(np.add.outer(waves, waves).ravel())

# begin smallest
values, vectors = lanky.eigsh(S, k=4, which="SA", preconditioner="block_jacobi")
# end smallest
assert np.allclose(values, exact[:4])

# begin mixed
values, vectors = lanky.eigsh(S, k=4, which="SA", mixed_precision=True)
# end mixed
assert np.allclose(values, exact[:4], rtol=1e-10)

# begin inverse
incomplete = scipy.sparse.linalg.spilu(
    scipy.sparse.csc_matrix(S), diag_pivot_thresh=0, options={"SymmetricMode": True}
)
values, vectors = lanky.eigsh(S, k=4, which="SA", preconditioner=incomplete.solve)
# end inverse
assert np.allclose(values, exact[:4])

# begin interior
sigma = 3.3
inverse = scipy.sparse.linalg.splu(scipy.sparse.csc_matrix(S - sigma * scipy.sparse.identity(900)))
values, vectors = lanky.eigsh(S, k=4, sigma=sigma, OPinv=inverse.solve)
# end interior
nearest = np.sort(exact[np.argsort(np.abs(exact - sigma))[:4]])
assert np.allclose(values, nearest)

# begin more
X = np.random.default_rng(0).standard_normal((900, 3))
first, Y = lanky.lobpcg(S, X, largest=False)
second, Z = lanky.lobpcg(S, X, Y=Y, largest=False)  # the next three
# end more
assert np.allclose(np.r_[first, second], exact[:6])

# begin ends
try:
    values = lanky.eigsh(S, k=4, which="SA", maxiter=20, return_eigenvectors=False)
except lanky.NoConvergence as error:
    print(error)
    values = error.eigenvalues  # those that have converged
# end ends
assert len(values) < 4
