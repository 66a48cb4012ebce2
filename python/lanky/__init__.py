"""Products of sparse matrices and of tall-and-skinny dense ones, on GPUs and CPUs.

A = lanky.sparse(S)          # of SciPy, CuPy, PyTorch, a file, or (indptr, indices, data)
y = A @ x                    # arrays in, the same kind out, on the current stream
G = lanky.gram(Q)            # Q^H Q
"""

from lanky._core import build_description, cuda_absence, devices, version
from lanky._dense import gram, matmul, sddmm, tall_times_small
from lanky._errors import Error
from lanky._files import fetch, generate, generators, read, write
from lanky._matrix import SparseMatrix, sparse
from lanky._plans import GemmPlan, SddmmPlan, SparsePlan

__version__ = version

__all__ = [
    "Error",
    "GemmPlan",
    "SddmmPlan",
    "SparseMatrix",
    "SparsePlan",
    "__version__",
    "build_description",
    "cuda_absence",
    "devices",
    "fetch",
    "generate",
    "generators",
    "gram",
    "matmul",
    "read",
    "sddmm",
    "sparse",
    "tall_times_small",
    "version",
    "write",
]
