"""A first product in Python: docs/start/first_python.md shows this file."""

import numpy as np
import scipy.sparse

import lanky

S = scipy.sparse.random(1000, 800, density=0.01, format="csr", random_state=0)
A = lanky.sparse(S)  # packed once

x = np.ones(800)
y = A @ x  # one vector
Y = A @ np.ones((800, 8))  # several
z = A.T @ y  # the transpose

Q = np.random.default_rng(0).standard_normal((100_000, 8))
G = lanky.gram(Q)  # QᵀQ

assert np.allclose(y, S @ x) and np.allclose(Y[:, 0], y) and np.allclose(z, S.T @ y)
assert np.allclose(G, Q.T @ Q)
