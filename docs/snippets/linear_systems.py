"""Linear systems with several right-hand sides, for docs/guide/linear_systems.md."""

import numpy as np
import scipy.sparse

import lanky

A = scipy.sparse.diags([-1.0, 2.01, -1.0], [-1, 0, 1], shape=(500, 500), format="csr")

# begin solve
B = np.ones((500, 8))
X, info = lanky.cg(A, B, rtol=1e-10, M="jacobi")  # info is 0 where all columns are solved
# end solve
assert info == 0 and np.linalg.norm(A @ X - B) <= 1.01e-10 * np.linalg.norm(B)
