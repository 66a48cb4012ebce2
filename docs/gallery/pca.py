"""Principal components of a tall matrix.

Principal component analysis (PCA) finds the directions in which the rows of a matrix X [m, n],
one row for each observation, vary most. With columns of mean 0, the directions are the eigenvectors
of the covariance

    C = XᵀX / (m − 1) = V Λ Vᵀ,

and the scores, the rows' coordinates in the first k directions, are X Vₖ. If m is much larger than
n, both products have a skinny side, and all that remains is an eigenproblem of size n.
"""

# %%
# ## The data
#
# Five hidden factors of different strength drive 32 measured columns, to which noise is added.

import matplotlib.pyplot as plt
import numpy as np

import lanky

m, n, k = 100_000, 32, 5
rng = np.random.default_rng(0)
factors = rng.standard_normal((m, k)) * [8, 6, 4, 3, 2]
X = factors @ np.linalg.qr(rng.standard_normal((n, k)))[0].T + 0.5 * rng.standard_normal((m, n))
X -= X.mean(axis=0)

# %%
# ## Two products and a small eigenproblem
#
# `lanky.gram(X)` is XᵀX and reads X once. `numpy.linalg.eigh` solves the small problem and sorts
# the eigenvalues upwards. `lanky.tall_times_small(X, V)` reads X a second time. lanky takes no
# array that runs backwards, hence the copy of the small V.

C = lanky.gram(X) / (m - 1)
variances, V = np.linalg.eigh(C)
variances, V = variances[::-1], V[:, ::-1].copy()
scores = lanky.tall_times_small(X, V[:, :k])
print(f"{k} of {n} directions hold {variances[:k].sum() / variances.sum():.1%} of the variance")

# %%
# ## The check
#
# NumPy's singular value decomposition X = U Σ Vᵀ finds the same without forming C: the variances
# are σ² / (m − 1), and the scores are U Σ. The sign of a direction is arbitrary.

U, sigma, Vt = np.linalg.svd(X, full_matrices=False)
signs = np.sign(np.sum(V[:, :k] * Vt[:k].T, axis=0))
by_svd = U[:, :k] * sigma[:k] * signs
print(f"variances: relative difference {np.abs(variances * (m - 1) / sigma**2 - 1).max():.1e}")
print(f"scores: largest difference {np.abs(scores - by_svd).max():.1e}")
assert np.allclose(variances, sigma**2 / (m - 1), rtol=1e-10)
assert np.allclose(scores, by_svd, atol=1e-8)
assert np.allclose(lanky.gram(scores), np.diag(sigma[:k] ** 2), atol=1e-8 * sigma[0] ** 2)

figure, (left, right) = plt.subplots(1, 2)
left.semilogy(np.arange(1, n + 1), variances, "o", fillstyle="none", label="lanky.gram, eigh")
left.semilogy(np.arange(1, n + 1), sigma**2 / (m - 1), "x", label="numpy.linalg.svd")
left.set(title="Variance by component", xlabel="component", ylabel="variance")
left.legend()
right.plot(*scores[:4000, :2].T, ".", markersize=2)
right.set(title="Scores of 4000 rows", xlabel="component 1", ylabel="component 2", aspect="equal")

# %%
# ## The squared condition number
#
# The eigenvalues of XᵀX are the squares of the singular values, and so is the condition number.
# Rounding disturbs each eigenvalue by about ε σ₁², where ε is the machine epsilon, hence a singular
# value σ by the relative error ε (σ₁ / σ)² / 2. Singular values below √ε σ₁ are lost, where the
# SVD's are right down to ε σ₁. A matrix with known singular values shows both.

small = 24
known = np.logspace(0, -11, small)
left_vectors = np.linalg.qr(rng.standard_normal((m // 5, small)))[0]
right_vectors = np.linalg.qr(rng.standard_normal((small, small)))[0]
K = left_vectors * known @ right_vectors.T
by_gram = np.sqrt(np.abs(np.linalg.eigvalsh(lanky.gram(K))))[::-1]
by_svd = np.linalg.svd(K, compute_uv=False)
epsilon = np.finfo(float).eps

figure, axes = plt.subplots()
axes.loglog(known, np.abs(by_gram / known - 1), "o", label="Gram matrix")
axes.loglog(known, np.abs(by_svd / known - 1), "x", label="SVD")
axes.loglog(known, epsilon / known**2 / 2, "--", color="gray", label="ε (σ₁ / σ)² / 2")
axes.axvline(np.sqrt(epsilon), color="gray", linestyle=":", label="√ε σ₁")
axes.invert_xaxis()
axes.set(title="Relative error of singular values", xlabel="σ / σ₁", ylabel="relative error")
axes.legend()
trusted = known > 10 * np.sqrt(epsilon)
assert np.all(np.abs(by_gram / known - 1)[trusted] < 50 * epsilon / known[trusted] ** 2)
assert np.all(np.abs(by_svd / known - 1) < 100 * epsilon / known)
assert np.any(np.abs(by_gram / known - 1)[known < np.sqrt(epsilon)] > 1e-2)

# %%
# PCA asks for the large variances, so that it seldom meets this limit in float64. In float32, whose
# ε is larger, it lies much higher. Where smaller singular values matter, the SVD, or a QR
# factorization before it, is the safer way.
#
# ## On a GPU
#
# `X = cupy.asarray(X)` is the whole change: `lanky.gram` and `lanky.tall_times_small` return CuPy's
# arrays, and `cupy.linalg.eigh` solves the small problem.
