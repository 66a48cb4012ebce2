"""PageRank of a graph with dangling nodes.

PageRank orders the nodes of a directed graph by the share of time that a random surfer spends at
them. The surfer follows an edge with probability d, each edge of a node with equal probability,
and jumps to any node otherwise. From a node without outgoing edges, a *dangling* node, it always
jumps. The shares are the fixed point of

    r = d (Pᵀ r + (Σ rᵢ over dangling i) / n) + (1 − d) / n,    P = D⁻¹ A,

where A is the adjacency matrix and D holds the numbers of outgoing edges. Each step of the power
iteration is one product of Pᵀ with a vector.
"""

# %%
# ## The graph
#
# `wiki-Vote` of the SuiteSparse Matrix Collection (SNAP/wiki-Vote, CC-BY 4.0)
# has an edge from each voter to each candidate of Wikipedia's elections of administrators. The
# file numbers its nodes with gaps, and a number that no edge names is no node.

import pathlib

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import lanky

root = pathlib.Path(__file__).resolve().parents[2]
S = lanky.read(root / "matrices/wiki-Vote.mtx.xz")
S.data[:] = 1  # the file is a pattern
votes_given, votes_received = S.sum(axis=1), S.sum(axis=0)
nodes = np.flatnonzero(votes_given + votes_received)
S = S[nodes][:, nodes]
votes_given, votes_received = votes_given[nodes], votes_received[nodes]
n = len(nodes)
dangling = votes_given == 0
print(f"{n} nodes, {S.nnz} edges, {dangling.sum()} dangling nodes")

# %%
# ## The iteration
#
# `lanky.sparse()` packs P once. `A.T` multiplies by the transpose; lanky packs the transpose at the
# first product, so the matrix need not be transposed by hand.

P = scipy.sparse.csr_array(scipy.sparse.diags(1 / np.maximum(votes_given, 1)) @ S)
A = lanky.sparse(P)


def pagerank(A, dangling, d=0.85, tolerance=1e-12):
    n = A.shape[0]
    r = np.full(n, 1 / n)
    changes = []
    while not changes or changes[-1] > tolerance:
        following = d * (A.T @ r + r[dangling].sum() / n) + (1 - d) / n
        changes.append(np.abs(following - r).sum())
        r = following
    return r, changes


r, changes = pagerank(A, dangling)
print(f"{len(changes)} steps, the ranks add up to {r.sum():.12f}")

# %%
# ## The check
#
# Two references of SciPy agree with it. The first is the same iteration with SciPy's product. The
# second shares nothing with the iteration: up to a factor, PageRank solves the linear system
# (I − d Pᵀ) z = 1, whose right-hand side of ones stands for the jumps and the dangling nodes alike.

by_scipy, _ = pagerank(P, dangling)
M = scipy.sparse.csc_array(scipy.sparse.identity(n) - 0.85 * P.T)
z = scipy.sparse.linalg.spsolve(M, np.ones(n))
z /= z.sum()
print(f"largest difference to SciPy's product: {np.abs(r - by_scipy).max():.1e}")
print(f"largest difference to the linear system: {np.abs(r - z).max():.1e}")
assert abs(r.sum() - 1) < 1e-10
assert np.allclose(r, by_scipy, rtol=1e-9, atol=0)
assert np.allclose(r, z, rtol=1e-8, atol=0)

# %%
# Each step shrinks the error at least by the factor d. The graph's other eigenvalues are smaller,
# so that the iteration converges faster than this bound. A node's rank is not its number of votes:
# votes of well-ranked voters who vote rarely count more.

steps = np.arange(1, len(changes) + 1)
figure, (left, right) = plt.subplots(1, 2)
left.semilogy(steps, changes, label="change of r")
left.semilogy(steps, changes[0] * 0.85 ** (steps - 1), "--", label="bound dᵏ")
left.set(title="Convergence of PageRank", xlabel="step k", ylabel="1-norm")
left.legend()
received = votes_received > 0
right.loglog(votes_received[received], r[received] * n, ".", markersize=3, alpha=0.4)
right.set(title="Rank over votes", xlabel="votes received", ylabel="rank over the mean rank")
assert all(changes[1:] <= 0.85 * np.array(changes[:-1]) + 1e-15)

# %%
# ## On a GPU
#
# The same function runs on a GPU once its arrays are CuPy's: `A = lanky.sparse(P, device="cuda")`,
# `dangling = cupy.asarray(dangling)`, and `cupy.full` in place of `np.full`. Products then stay on
# CuPy's current stream. Several surfers with jump vectors of their own, personalized PageRank, are
# the columns of one matrix R, and `A.T @ R` reads the graph once for all of them.
