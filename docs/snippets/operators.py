"""Sparse operators in Python, for docs/guide/python.md."""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import lanky

S = scipy.sparse.random(500, 500, density=0.02, format="csr", random_state=1)
x = np.linspace(0, 1, 500)
y = np.ones(500)
expected = 2 * (S @ x) + y

# begin operator
A = lanky.sparse(S)
y = A.matvec(x, out=y, alpha=2, beta=1)  # y = 2 A x + y, in place
z = A.H @ y  # the conjugate transpose
A.update_values(S.data)  # new numbers for the same pattern
# end operator
assert np.allclose(y, expected) and np.allclose(z, S.T @ y)

# begin plan
with lanky.SparsePlan(S, expected_columns=16, tune=True) as plan:
    print(plan.explain())
    Y = plan.execute(np.ones((500, 16)))
# end plan
assert np.allclose(Y[:, 15], S @ np.ones(500))

# begin solver
L = scipy.sparse.diags([-1.0, 2.1, -1.0], [-1, 0, 1], shape=(500, 500), format="csr")
b = np.ones(500)
solution, info = scipy.sparse.linalg.cg(lanky.sparse(L), b)
# end solver
assert info == 0 and np.allclose(L @ solution, b, atol=1e-3)

# begin own solver
values, vectors = lanky.eigsh(L, k=4, which="SA", preconditioner="block_jacobi")
solution, info = lanky.cg(L, b, rtol=1e-8, M="jacobi")
# end own solver
assert np.allclose(L @ vectors, vectors * values, atol=1e-6)
assert info == 0 and np.allclose(L @ solution, b, atol=1e-5)
