"""Products of sparse matrices and of tall-and-skinny dense ones, on GPUs and CPUs.

A = lanky.sparse(S)          # of SciPy, CuPy, PyTorch, a file, or (indptr, indices, data)
y = A @ x                    # arrays in, the same kind out, on the current stream
G = lanky.gram(Q)            # Q^H Q
values, vectors = lanky.eigsh(A, k=6, which="SA", preconditioner="jacobi")
"""

from lanky._core import build_description, cuda_absence, devices, version
from lanky._dense import gram, matmul, sddmm, tall_times_small
from lanky._eigen import eigsh, lobpcg
from lanky._errors import Error, NoConvergence
from lanky._files import fetch, generate, generators, read, write
from lanky._linear import block_cg, cg, minres
from lanky._matrix import SparseMatrix, sparse
from lanky._plans import GemmPlan, SddmmPlan, SparsePlan
from lanky._svd import PrincipalComponents, pca, svds

__version__ = version

__all__ = [
    "Error",
    "GemmPlan",
    "NoConvergence",
    "PrincipalComponents",
    "SddmmPlan",
    "SparseMatrix",
    "SparsePlan",
    "__version__",
    "block_cg",
    "build_description",
    "cg",
    "cuda_absence",
    "devices",
    "eigsh",
    "fetch",
    "generate",
    "generators",
    "gram",
    "lobpcg",
    "matmul",
    "minres",
    "pca",
    "read",
    "sddmm",
    "sparse",
    "svds",
    "tall_times_small",
    "version",
    "write",
]
