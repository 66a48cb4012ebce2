"""lanky.torch: gradients, compilation, modules."""

import copy

import numpy as np
import pytest
from conftest import Library, draw, draw_csr, to_dense

torch = pytest.importorskip("torch")
import lanky.torch  # noqa: E402


@pytest.fixture(params=["torch", "torch-cuda"])
def device(request):
    return "cuda" if Library(request.param).load().gpu else "cpu"


def make(device, name="float64", shape=(12, 9), **options):
    csr = draw_csr(1, *shape, name, 0.4)
    return lanky.torch.SparseLinear(csr, shape=shape, device=device, **options), torch.as_tensor(
        to_dense(csr, shape), device=device
    )


def random(device, *shape, dtype=torch.float64):
    return torch.rand(*shape, dtype=dtype, device=device, requires_grad=True)


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_products(device, trained, columns):
    a, dense = make(device, requires_grad=trained)
    x, y = random(device, 9, *columns), random(device, 12, *columns)
    assert torch.allclose(a @ x, dense @ x) and torch.allclose(a(x), dense @ x)
    assert torch.allclose(a.H @ y, dense.T @ y)
    if columns:
        assert torch.allclose(a @ x.t().contiguous().t(), dense @ x)


def test_gradients_are_those_of_dense(device):
    a, dense = make(device, requires_grad=True)
    x = random(device, 9, 4)
    dense.requires_grad_()
    ours = torch.autograd.grad((a @ x).sin().sum(), [x, a.values])
    theirs = torch.autograd.grad((dense @ x).sin().sum(), [x, dense])
    rows = torch.repeat_interleave(torch.arange(12, device=device), a.indptr.diff())
    assert torch.allclose(ours[0], theirs[0])
    assert torch.allclose(ours[1], theirs[1][rows, a.indices.long()])


@pytest.mark.parametrize("name", ["float64", "complex128"])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("columns", [(), (2,)])
def test_gradcheck(device, name, adjoint, columns):
    a, _ = make(device, name, (5, 4))
    values = a.values.clone().requires_grad_()
    x = random(device, 5 if adjoint else 4, *columns, dtype=a.values.dtype)

    def function(v, x):
        return a.multiply(x, values=v, adjoint=adjoint)

    assert torch.autograd.gradcheck(function, (values, x))
    assert torch.autograd.gradgradcheck(function, (values, x))
    assert torch.autograd.gradcheck(lambda x: a.multiply(x, adjoint=adjoint), (x,))


def test_opcheck(device):
    a, _ = make(device)
    x, y = random(device, 9, 3), random(device, 12, 3)
    values = a.values.clone().requires_grad_()
    ops = torch.ops.lanky
    torch.library.opcheck(ops.apply.default, (x, a._number, False))
    torch.library.opcheck(ops.multiply.default, (values, x, a._number, False))
    torch.library.opcheck(ops.multiply.default, (values, y, a._number, True))
    torch.library.opcheck(ops.sample.default, (y, x, a._number))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(device, backend):
    if backend == "inductor" and device == "cpu":
        pytest.skip(
            "inductor compiles C++ for minutes on two cores; aot_eager traces the same graph"
        )
    a, dense = make(device, requires_grad=True)
    x = random(device, 9, 3)
    compiled = torch.compile(lambda x: a(x.sin()).cos().sum(), fullgraph=True, backend=backend)
    ours = torch.autograd.grad(compiled(x), [x, a.values])
    theirs = torch.autograd.grad((a @ x.sin()).cos().sum(), [x, a.values])
    assert all(torch.allclose(*pair) for pair in zip(ours, theirs))
    with torch.no_grad():
        a.values.mul_(2)
    assert torch.allclose(compiled(x), (2 * dense @ x.sin()).cos().sum())


def test_training(device):
    a, dense = make(device, requires_grad=True)
    target = random(device, 12, 5).detach()
    x = random(device, 9, 5).detach()
    optimizer = torch.optim.Adam(a.parameters(), lr=0.05)
    losses = []
    for _ in range(50):
        optimizer.zero_grad()
        loss = (a @ x - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_the_matrix_may_go_before_the_backward_pass(device):
    x = random(device, 9)
    loss = (make(device, requires_grad=True)[0] @ x).sum()
    loss.backward()
    assert torch.allclose(x.grad, make(device)[1].sum(0))


def test_modules(device):
    a, dense = make(device, requires_grad=True)
    x = random(device, 9)
    for other in (copy.deepcopy(a), torch.nn.Sequential(a)):
        assert torch.allclose(other(x), dense @ x)
    single = copy.deepcopy(a).float()
    assert torch.allclose(single(x.float()).double(), dense @ x, atol=1e-4)
    fixed, _ = make(device)
    fixed.load_state_dict(
        {name: 2 * value if name == "values" else value for name, value in a.state_dict().items()}
    )
    assert torch.allclose(fixed(x), 2 * dense @ x)
    assert "12 x 9" in repr(a)


def test_sources(device):
    dense = torch.rand(6, 8, dtype=torch.float32) * (torch.rand(6, 8) < 0.5)
    a = lanky.torch.SparseLinear(dense.to_sparse_csr(), device=device)
    x = torch.rand(8, device=device)
    assert torch.allclose(a @ x, dense.to(device) @ x)
    half = lanky.torch.SparseLinear(dense.to_sparse_csr(), dtype=torch.bfloat16, device=device)
    assert (half @ x.bfloat16()).dtype == torch.bfloat16


def test_errors(device):
    a, _ = make(device)
    for x in (torch.rand(8, device=device), torch.rand(9, 2, 2, device=device)):
        with pytest.raises(ValueError, match=r"\(9,\) or \(9, columns\)"):
            a @ x
    with pytest.raises(TypeError, match="x is torch.float32"):
        a @ torch.rand(9, device=device)
    with pytest.raises(ValueError, match="values has shape"):
        a.multiply(random(device, 9), values=random(device, 3))
    plain = lanky.sparse(draw_csr(1, 12, 9, "float64"), shape=(12, 9), device=device)
    with pytest.raises(TypeError, match="lanky.torch"):
        plain @ random(device, 9)
    complex_x = torch.as_tensor(draw(1, 9, "complex128"), device=device).conj()
    with pytest.raises(ValueError, match="resolve_conj"):
        lanky.sparse(draw_csr(1, 12, 9, "complex128"), shape=(12, 9), device=device) @ complex_x
    with pytest.raises(ValueError, match="resolve_neg"):
        plain @ complex_x.imag
    with pytest.raises(TypeError, match="torch.sparse_csr; a dense one"):
        plain @ torch.eye(9, device=device, dtype=torch.float64).to_sparse_csr()
    with torch.no_grad():
        assert isinstance(plain @ random(device, 9), torch.Tensor)
    assert np.array_equal(a.indptr.cpu(), draw_csr(1, 12, 9, "float64", 0.4)[0])


class Tagged(torch.Tensor):
    """A subclass, which lanky reads by its attributes."""


def test_results_are_tensors_of_pytorch(device):
    csr = draw_csr(1, 12, 9, "float64")
    a = lanky.sparse(csr, shape=(12, 9), device=device)
    whole = torch.rand(9, 8, dtype=torch.float64, device=device)
    expected = torch.as_tensor(to_dense(csr, (12, 9)), device=device)
    for x in (whole[:, 0], whole[:, 1:4], whole.t().contiguous().t()[:, 2:5], whole[:, :1]):
        for kind in (torch.Tensor, Tagged):
            y = a @ x.as_subclass(kind)
            assert isinstance(y, kind) and y.shape == (12, *x.shape[1:])
            assert torch.allclose(y.as_subclass(torch.Tensor), expected @ x)
            by_columns = x.ndim == 2 and x.stride(0) == 1
            assert y.t().is_contiguous() if by_columns else y.is_contiguous()
            # Its own memory, which record_stream() and resize_() know.
            assert y.untyped_storage().resizable() and y.storage_offset() == 0
    empty = a @ whole[:, :0]
    assert empty.shape == (12, 0) and empty.device == whole.device
