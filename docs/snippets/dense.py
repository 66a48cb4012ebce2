"""Dense and sampled products in Python, for docs/guide/python.md."""

import numpy as np
import scipy.sparse

import lanky

random = np.random.default_rng(2)
# begin dense
Q = random.standard_normal((50_000, 8))
R = random.standard_normal((8, 8))
G = lanky.gram(Q)  # QᵀQ
P = lanky.tall_times_small(Q, R)  # Q R
C = lanky.matmul(Q.T, P)  # any product; made for skinny ones
# end dense
assert np.allclose(G, Q.T @ Q) and np.allclose(P, Q @ R) and np.allclose(C, Q.T @ P)

# begin sampled
pattern = scipy.sparse.random(400, 300, density=0.02, format="csr", random_state=3)
X = random.standard_normal((400, 16))
Y = random.standard_normal((300, 16))
values = lanky.sddmm(lanky.sparse(pattern), X, Y)  # X Yᵀ at the entries of the pattern
# end sampled
rows, columns = pattern.nonzero()
assert np.allclose(np.sort(np.asarray(values).ravel()), np.sort((X[rows] * Y[columns]).sum(axis=1)))
