"""Arrays that examples of the documentation take for granted: packaging/try_release.py puts this before each of them.

MATRIX is the file that the example names: the operands fit that matrix, and S is one of its extents."""

import functools

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import lanky

n = lanky.read(MATRIX).shape[0]  # noqa: F821
random = np.random.default_rng(0)
share = (np.arange(n) + 0.5) / n
diagonal = 150 + 10 * np.log(share / (1 - share))  # so that eigenvalues at both ends stand apart
S = scipy.sparse.diags([-1.0, diagonal, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
A = lanky.sparse(S)
x, y = np.ones(n), np.zeros(n)
X, Y = random.standard_normal((n, 4)), random.standard_normal((n, 4))
Q, P = (random.standard_normal((100_000, 8)) for _ in range(2))
b = np.ones(n)
R = random.standard_normal((8, 8))
values = 2 * S.data
lanky.fetch = functools.partial(lanky.fetch, mirror="file:///mirror")
