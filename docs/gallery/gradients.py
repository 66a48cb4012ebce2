"""Gradients through a sparse product in PyTorch.

`lanky.torch.SparseLinear` is a module that multiplies by a sparse matrix A with a fixed pattern.
Its values may be parameters. For a loss L(Y) with Y = A X and the gradient G = ∂L/∂Y, the chain
rule needs two products:

    ∂L/∂X = Aᵀ G,    ∂L/∂aᵢⱼ = Σₖ gᵢₖ xⱼₖ at A's entries alone.

The first is a product with the transpose, the second a sampled product (SDDMM): G Xᵀ is as large as
a dense A, and is computed only where A has entries.
"""

# %%
# ## The matrix
#
# `minnesota` of the SuiteSparse Matrix Collection (Gleich/minnesota, CC-BY 4.0) is a
# network of roads. The page gives a weight to each of its roads, multiplies some vectors by it, and
# finds the weights again from the products.

import pathlib

import matplotlib.pyplot as plt
import numpy as np
import torch

import lanky
import lanky.torch

root = pathlib.Path(__file__).resolve().parents[2]
S = lanky.read(root / "matrices/minnesota.mtx.xz")
rng = np.random.default_rng(0)
S.data = rng.uniform(0.5, 1.5, S.nnz)
columns = 32
X = torch.from_numpy(rng.standard_normal((S.shape[1], columns)))
Y = torch.from_numpy(S @ X.numpy())
print(f"{S.shape[0]} nodes, {S.nnz} weights, the longest row has {np.diff(S.indptr).max()}")

# %%
# ## The gradients
#
# `A.values` is a parameter of the module, in the order of the CSR's entries. `backward()` fills its
# gradient and that of X.

start = S.copy()
start.data = np.ones(S.nnz)
A = lanky.torch.SparseLinear(start, requires_grad=True)
X.requires_grad_()
loss = 0.5 * (A @ X - Y).square().sum()
loss.backward()

# %%
# ## The check
#
# PyTorch differentiates the dense product, where G Xᵀ has all n² elements. At A's entries both are
# the same. `torch.autograd.gradcheck` compares a small case with finite differences.

dense = torch.from_numpy(start.toarray()).requires_grad_()
X_dense = X.detach().clone().requires_grad_()
(0.5 * (dense @ X_dense - Y).square().sum()).backward()
entries = start.tocoo()
sampled = dense.grad[entries.row, entries.col]
print(f"values: largest difference {(A.values.grad - sampled).abs().max():.1e}")
print(f"X: largest difference {(X.grad - X_dense.grad).abs().max():.1e}")
assert torch.allclose(A.values.grad, sampled) and torch.allclose(X.grad, X_dense.grad)

small = lanky.torch.SparseLinear(start[:20, :20], requires_grad=True)
random = torch.randn(20, 2, dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(lambda values, x: small.multiply(x, values=values),
                                (small.values, random))

# %%
# ## Learning the weights
#
# A row with fewer entries than X has columns is determined by Y, so that the loss can fall to 0.
# Any optimizer of PyTorch takes the parameter as it is.

X.requires_grad_(False)
optimizer = torch.optim.LBFGS(A.parameters(), lr=1, max_iter=40, tolerance_grad=1e-12,
                              tolerance_change=0, line_search_fn="strong_wolfe")
losses = []


def closure():
    optimizer.zero_grad()
    loss = 0.5 * (A @ X - Y).square().sum()
    loss.backward()
    losses.append(loss.item())
    return loss


optimizer.step(closure)
error = np.abs(A.values.detach().numpy() - S.data).max()
print(f"after {len(losses)} products and gradients the largest error of a weight is {error:.1e}")
assert losses[-1] < 1e-8 * losses[0] and error < 1e-6

figure, axes = plt.subplots()
axes.semilogy(np.arange(1, len(losses) + 1), losses)
axes.set(title="Loss over evaluations", xlabel="evaluation", ylabel="½ ‖A X − Y‖²")

# %%
# ## On a GPU
#
# `A.to("cuda")`, `X.to("cuda")` and `Y.to("cuda")` are the whole change. Products and gradients run
# on PyTorch's current stream, and `torch.compile(lambda X: A(X).relu(), fullgraph=True)` takes the
# module whole.
