"""Sparse matrices as modules of PyTorch, whose products have gradients and compile.

    A = lanky.torch.SparseLinear(S, requires_grad=True)  # S: all that lanky.sparse() takes
    loss = (A @ X).square().sum()  # or A(X); A.H @ Y
    loss.backward()  # X.grad = A^H G, and A.values.grad = G X^H at A's entries

The gradient of the values is a sampled product, so nothing as large as A's dense form is ever made.
The operators are torch.ops.lanky.apply, multiply and sample; gradients of each are made of the
others, so gradients have gradients."""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Any

import torch
from torch import Tensor

from lanky import _core
from lanky._sources import csr_of, is_torch, type_name

__all__ = ["SparseLinear"]


class _Pattern:
    """The plans of one pattern on one device; operators name it by a number, as they take no
    objects."""

    _numbers = itertools.count()

    def __init__(
        self,
        indptr: Tensor,
        indices: Tensor,
        values: Tensor,
        shape: tuple[int, int],
        options: dict[str, Any],
    ) -> None:
        self.number = next(self._numbers)
        self.csr = indptr, indices
        # Of the matrix that apply() multiplies; multiply() brings its own values.
        self.values = values.detach().clone()
        self.shape = shape
        self.options = options
        self._plans: dict[Any, Any] = {}
        self._lock = threading.Lock()
        _patterns[self.number] = self

    def _plan(self, adjoint: bool, given: bool) -> Any:
        key = adjoint, given
        if key not in self._plans:
            self._plans[key] = _core.SparsePlan(
                *self.csr,
                self.values,
                *self.shape,
                updates=given,
                op="conj_trans" if adjoint else "none",
                **self.options,
            )
        return self._plans[key]

    def rows(self, adjoint: bool) -> int:
        return self.shape[1 if adjoint else 0]

    def multiply(self, values: Tensor | None, x: Tensor, adjoint: bool) -> Tensor:
        out = x.new_empty((self.rows(adjoint), *x.shape[1:]))
        with self._lock:  # nobody else's values may come between these two
            plan = self._plan(adjoint, values is not None)
            if values is not None:
                plan.update_values(values.contiguous())
            plan.multiply(_readable(x), out)
        return out

    def sample(self, x: Tensor, y: Tensor) -> Tensor:
        with self._lock:
            if "sample" not in self._plans:
                self._plans["sample"] = _core.SddmmPlan(
                    *self.csr, *self.shape, type_name(x.dtype), conjugate_y=True
                )
        plan = self._plans["sample"]
        return plan.execute(
            *(_readable(operand if operand.ndim == 2 else operand[:, None]) for operand in (x, y))
        )


_patterns: weakref.WeakValueDictionary[int, _Pattern] = weakref.WeakValueDictionary()


def _readable(x: Tensor) -> Tensor:
    """x as lanky reads it: gradients come expanded, as conjugates that were not written, and with
    strides of all kinds."""
    x = x.detach().resolve_conj().resolve_neg()
    if x.is_contiguous() or (x.ndim == 2 and x.t().is_contiguous()):
        return x
    return x.contiguous()


@torch.library.custom_op("lanky::apply", mutates_args=())
def _apply(x: Tensor, pattern: int, adjoint: bool) -> Tensor:
    """A x, or A^H x."""
    return _patterns[pattern].multiply(None, x, adjoint)


@torch.library.custom_op("lanky::multiply", mutates_args=())
def _multiply(values: Tensor, x: Tensor, pattern: int, adjoint: bool) -> Tensor:
    """A x, or A^H x, where A has these values."""
    return _patterns[pattern].multiply(values.detach().resolve_conj(), x, adjoint)


@torch.library.custom_op("lanky::sample", mutates_args=())
def _sample(x: Tensor, y: Tensor, pattern: int) -> Tensor:
    """X Y^H at the entries of the pattern."""
    return _patterns[pattern].sample(x, y)


@_apply.register_fake
def _(x: Tensor, pattern: int, adjoint: bool) -> Tensor:
    return x.new_empty((_patterns[pattern].rows(adjoint), *x.shape[1:]))


@_multiply.register_fake
def _(values: Tensor, x: Tensor, pattern: int, adjoint: bool) -> Tensor:
    return x.new_empty((_patterns[pattern].rows(adjoint), *x.shape[1:]))


@_sample.register_fake
def _(x: Tensor, y: Tensor, pattern: int) -> Tensor:
    return x.new_empty((_patterns[pattern].csr[1].shape[0],))


def _keep_apply(ctx: Any, inputs: Any, output: Tensor) -> None:
    _, ctx.pattern, ctx.adjoint = inputs
    ctx.alive = _patterns[ctx.pattern]  # though the module may be gone before the backward pass


def _apply_backward(ctx: Any, grad: Tensor) -> Any:
    return _apply(grad, ctx.pattern, not ctx.adjoint), None, None


def _keep_multiply(ctx: Any, inputs: Any, output: Tensor) -> None:
    values, x, ctx.pattern, ctx.adjoint = inputs
    ctx.alive = _patterns[ctx.pattern]
    ctx.save_for_backward(values, x)


def _multiply_backward(ctx: Any, grad: Tensor) -> Any:
    values, x = ctx.saved_tensors
    of_values = of_x = None
    if ctx.needs_input_grad[0]:
        left, right = (x, grad) if ctx.adjoint else (grad, x)
        of_values = _sample(left, right, ctx.pattern)
    if ctx.needs_input_grad[1]:
        of_x = _multiply(values, grad, ctx.pattern, not ctx.adjoint)
    return of_values, of_x, None, None


def _keep_sample(ctx: Any, inputs: Any, output: Tensor) -> None:
    x, y, ctx.pattern = inputs
    ctx.alive = _patterns[ctx.pattern]
    ctx.save_for_backward(x, y)


def _sample_backward(ctx: Any, grad: Tensor) -> Any:
    x, y = ctx.saved_tensors
    of_x = _multiply(grad, y, ctx.pattern, False) if ctx.needs_input_grad[0] else None
    of_y = _multiply(grad, x, ctx.pattern, True) if ctx.needs_input_grad[1] else None
    return of_x, of_y, None


_apply.register_autograd(_apply_backward, setup_context=_keep_apply)
_multiply.register_autograd(_multiply_backward, setup_context=_keep_multiply)
_sample.register_autograd(_sample_backward, setup_context=_keep_sample)


def _tensor(array: Any, device: Any) -> Tensor:
    """A tensor of an array of any library; in its own memory, so that nobody else changes it."""
    if not is_torch(array):
        if type_name(array.dtype) == "bfloat16":
            array = torch.from_numpy(array.view("int16")).view(torch.bfloat16)
        else:
            array = torch.from_dlpack(array)
    return array.detach().to(device=device, copy=True)


class SparseLinear(torch.nn.Module):
    """x -> A x for a sparse A, of vectors (n,) and matrices (n, c); `A @ x` is the same, `A.H @ y`
    the adjoint. Inside of torch.compile() call A(x) and A.multiply(y, adjoint=True): it does not
    trace operators of modules.

    Without `requires_grad` the values are a buffer that nobody changes, and each product is one run
    of a plan. With it they are a parameter, and each product takes them anew. Other options are
    those of `lanky.sparse()`."""

    def __init__(
        self,
        source: Any,
        *,
        requires_grad: bool = False,
        shape: tuple[int, int] | None = None,
        dtype: Any = None,
        device: Any = None,
        **options: Any,
    ) -> None:
        super().__init__()
        csr, _ = csr_of(source, shape, dtype)
        where = device if device is not None else csr.data.device if is_torch(csr.data) else None
        self.shape = csr.shape
        self.options = options
        self.register_buffer("indptr", _tensor(csr.indptr, where))
        self.register_buffer("indices", _tensor(csr.indices, where))
        values = _tensor(csr.data, where)
        if requires_grad:
            self.values = torch.nn.Parameter(values)
        else:
            self.register_buffer("values", values)
        self._prepare()

    def _prepare(self) -> None:
        self._pattern = _Pattern(self.indptr, self.indices, self.values, self.shape, self.options)
        self._number = self._pattern.number

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """Of Module: to(), cuda(), double() and the like move the tensors, and the plans follow."""
        super()._apply(fn, recurse)
        self._prepare()
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("_pattern", "_number")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._prepare()

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        self._prepare()

    def multiply(self, x: Tensor, *, values: Tensor | None = None, adjoint: bool = False) -> Tensor:
        """A x, or A^H x; of A with other `values`, of as many entries, where they are given."""
        cols = self.shape[0 if adjoint else 1]
        if x.ndim not in (1, 2) or x.shape[0] != cols:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; ({cols},) or ({cols}, columns) is needed"
            )
        if values is None and isinstance(self.values, torch.nn.Parameter):
            values = self.values
        if values is None:
            return _apply(x, self._number, adjoint)
        if values.shape != self.values.shape:
            raise ValueError(
                f"values has shape {tuple(values.shape)}, and A has {self.values.shape[0]} entries"
            )
        return _multiply(values, x, self._number, adjoint)

    def forward(self, x: Tensor) -> Tensor:
        """A x."""
        return self.multiply(x)

    def __matmul__(self, x: Tensor) -> Tensor:
        return self.multiply(x)

    @property
    def H(self) -> _Adjoint:  # noqa: N802
        """The adjoint, of which `A.H @ y` is all there is."""
        return _Adjoint(self)

    def extra_repr(self) -> str:
        """Of Module: what repr() tells."""
        rows, cols = self.shape
        return f"{rows} x {cols}, {self.values.shape[0]} entries of {self.values.dtype}"


class _Adjoint:
    def __init__(self, of: SparseLinear) -> None:
        self._of = of

    def __matmul__(self, y: Tensor) -> Tensor:
        return self._of.multiply(y, adjoint=True)
