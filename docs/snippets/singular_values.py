"""Singular values and principal components in Python, for docs/guide/singular_values.md."""

import numpy as np
import scipy.sparse

import lanky

S = scipy.sparse.random(3000, 1000, density=0.012, format="csr", random_state=4)

# begin svds
u, s, vh = lanky.svds(lanky.sparse(S), k=5)  # ascending, as SciPy's
# end svds
assert np.allclose(S @ vh.T, u * s, atol=1e-7 * s[-1])

# begin pca
found = lanky.pca(lanky.sparse(S), k=3)
# found.components (3, 1000), .explained_variance, .mean (1000,), .scores (3000, 3)
# end pca
centered = S.toarray() - S.mean(axis=0)
assert np.allclose(np.linalg.svd(centered, compute_uv=False)[:3], found.singular_values)
