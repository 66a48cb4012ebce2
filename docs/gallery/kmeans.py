"""k-means by products.

Lloyd's algorithm groups n points into k clusters. It assigns each point to its nearest center,
moves each center to the mean of its points, and repeats both steps. The squared distances of all
points to all centers follow from one product with a skinny side:

    |x − c|² = |x|² − 2 x·c + |c|²,    all x·c at once: X Cᵀ.

The sums of the points of each cluster are another one, HᵀX, where row i of H [n, k] has a single
one, in the column of the cluster of point i.
"""

# %%
# ## The points
#
# The points stand in clouds of normal distribution. The formula cancels where points are far from
# the origin, so the mean is moved there first.

import matplotlib.pyplot as plt
import numpy as np
import scipy.cluster.vq

import lanky

n, d, k = 60_000, 16, 8
rng = np.random.default_rng(2)
X = rng.uniform(-6, 6, (k, d))[rng.integers(k, size=n)] + rng.standard_normal((n, d))
X -= X.mean(axis=0)
first = X[rng.choice(n, k, replace=False)]

# %%
# ## The iteration
#
# A point's own |x|² moves none of its distances past another, so that the nearest center needs
# |c|² − 2 x·c alone; `alpha` has the factor of the product. |x|² is added to the inertia, the sum
# of all points' squared distances to their centers.


def kmeans(X, centers, iterations):
    centers = centers.copy()
    squares = np.einsum("ij,ij->", X, X)
    inertias = []
    for _ in range(iterations):
        partial = lanky.matmul(X, centers.T, alpha=-2.0)
        partial += np.einsum("ij,ij->i", centers, centers)
        labels = partial.argmin(axis=1)
        inertias.append(squares + partial.min(axis=1).sum())
        members = np.zeros((len(X), len(centers)))
        members[np.arange(len(X)), labels] = 1
        counts = members.sum(axis=0)
        sums = lanky.matmul(members.T, X)
        filled = counts > 0  # a center without points stays
        centers[filled] = sums[filled] / counts[filled, None]
    return centers, labels, inertias


centers, labels, inertias = kmeans(X, first, iterations=12)
print(f"inertia {inertias[0]:.4g} at first, {inertias[-1]:.4g} at last")

# %%
# ## The check
#
# SciPy's `kmeans2`, from the same first centers, goes through the same steps. The inertia never
# rises.

centers_of_scipy, labels_of_scipy = scipy.cluster.vq.kmeans2(X, first, iter=12, minit="matrix")
print(f"largest difference of a center to SciPy's: {np.abs(centers - centers_of_scipy).max():.1e}")
assert np.allclose(centers, centers_of_scipy, atol=1e-9)
assert np.mean(labels == labels_of_scipy) > 0.9999
assert np.all(np.diff(inertias) <= 1e-9 * inertias[0])
direct = np.sum((X - centers[labels]) ** 2)
assert np.isclose(direct, inertias[-1], rtol=1e-3)

figure, (left, right) = plt.subplots(1, 2)
shown = slice(0, 4000)
left.scatter(X[shown, 0], X[shown, 1], c=labels[shown], s=2, cmap="tab10")
left.plot(centers[:, 0], centers[:, 1], "k+", markersize=12)
left.set(title="Clusters, first two of the coordinates", xlabel="x₁", ylabel="x₂")
right.plot(np.arange(1, len(inertias) + 1), inertias, "o-")
right.set(title="Inertia", xlabel="iteration", ylabel="sum of squared distances")

# %%
# ## On a GPU
#
# With `X` and `first` as CuPy's arrays and `cupy` in place of `np`, the function is the same, and
# both products run on the GPU. H is mostly zeros, and a product with it costs a pass over memory
# that a kernel of its own would save. The program `kmeans` has such a kernel; it does all of this
# without Python, and [applications](../applications.md#kmeans-lloyds-algorithm) has its times.
