"""Plans held by hand, and what they tell."""

import numpy as np
import pytest
from conftest import assert_close, draw, draw_csr, to_dense, wide

import lanky

CSR = draw_csr(1, 40, 60, "float32")
DENSE = to_dense(CSR, (40, 60))


def test_execute_and_operands():
    x, other = draw(2, 60, "float32"), draw(3, (60, 4), "float32")
    with lanky.SparsePlan(
        CSR, shape=(40, 60), expected_columns=16, engine="auto", math="tf32x3", tune=True
    ) as plan:
        with pytest.raises(ValueError, match="no x was given"):
            plan.execute()
        assert_close(plan.execute(x), DENSE @ wide(x), "float32")
        plan.reset_operands(x=other)
        assert_close(plan.execute(), DENSE @ wide(other), "float32")
        out = np.zeros((40, 4), "float32")
        assert plan.execute(out=out, alpha=3) is out
        assert_close(out, 3 * (DENSE @ wide(other)), "float32")
        assert plan.shape == (40, 60) and plan.nnz == CSR[2].size and plan.device == "cpu"
        assert plan.device_bytes > 0 and plan.workspace_bytes >= 0
        assert "entries" in plan.explain()
    assert plan.released


def test_a_plan_multiplies_as_an_operator():
    x, many = draw(2, 60, "float32"), draw(3, (60, 4), "float32")
    plan = lanky.SparsePlan(CSR, shape=(40, 60))
    for operand in (x, many):
        assert np.array_equal(plan @ operand, plan.execute(operand))
    with pytest.raises(TypeError):
        draw(2, 40, "float32") @ plan
    plan.release()
    with pytest.raises(ValueError, match="released"):
        plan @ x


def test_repr():
    """One line with what, extents, type and device, of released plans as well."""
    nnz = CSR[2].size
    sparse = lanky.SparsePlan(CSR, shape=(40, 60))
    assert repr(sparse) == f"<lanky.SparsePlan 40 x 60, {nnz} entries, float32, on cpu>"
    assert sparse.dtype == sparse.out_dtype == np.float32
    halves = lanky.SparsePlan(CSR, shape=(40, 60), dtype="float16", out_dtype="float32", op="trans")
    assert "60 x 40" in repr(halves) and "float16 with results of float32" in repr(halves)
    q = draw(1, (100, 3), "float64")
    dense = lanky.GemmPlan(q.T, q)
    assert repr(dense).startswith("<lanky.GemmPlan m 3, n 3, k 100, float64, on cpu, by ")
    sampled = lanky.SddmmPlan(CSR, shape=(40, 60))
    assert repr(sampled) == f"<lanky.SddmmPlan 40 x 60, {nnz} entries, float32, on cpu>"
    for plan in (sparse, dense, sampled):
        assert "\n" not in repr(plan)
        plan.release()
        assert repr(plan) == f"<lanky.{type(plan).__name__}, released>"


def test_repr_tells_the_engine(gpu_library):
    csr = tuple(gpu_library.array(array) for array in CSR)
    assert repr(lanky.SparsePlan(csr, shape=(40, 60))).endswith("on cuda:0, by cuda_cores>")


def test_op_and_updates():
    new, x = draw(7, CSR[2].size, "float32"), draw(2, 40, "float32")
    plan = lanky.SparsePlan(CSR, shape=(40, 60), op="trans", updates=True)
    assert plan.shape == (60, 40)
    assert_close(plan.execute(x), DENSE.T @ wide(x), "float32")
    plan.update_values(new)
    assert_close(plan.execute(x), to_dense((*CSR[:2], new), (40, 60)).T @ wide(x), "float32")
    with pytest.raises(ValueError, match="values has 3 entries"):
        plan.update_values(new[:3])
    with pytest.raises(lanky.Error):
        lanky.SparsePlan(CSR, shape=(40, 60), op="trans").update_values(new)


def test_fingerprints():
    same = lanky.SparsePlan(CSR, shape=(40, 60))
    assert same.fingerprint == lanky.SparsePlan(CSR, shape=(40, 60)).fingerprint
    assert same.fingerprint == lanky.sparse(CSR, shape=(40, 60)).fingerprint
    other = lanky.SparsePlan(CSR, shape=(40, 60), dtype="float64")
    assert same.fingerprint != other.fingerprint


def test_sampled_plan():
    x, y = draw(2, (40, 5), "float32"), draw(3, (60, 5), "float32")
    rows = np.repeat(np.arange(40), np.diff(CSR[0]))
    expected = (wide(x)[rows] * wide(y)[CSR[1]]).sum(1)
    with lanky.SddmmPlan(CSR, shape=(40, 60), expected_columns=5) as plan:
        assert_close(plan.execute(x, y), expected, "float32")
        assert_close(plan.execute(np.asfortranarray(x), y), expected, "float32")
        values = draw(5, CSR[2].size, "float32")
        assert_close(
            plan.execute(x, y, values.copy(), beta=2), expected + 2 * wide(values), "float32"
        )
        assert plan.nnz == CSR[2].size


def test_what_the_library_tells():
    assert lanky.__version__ == lanky.version and lanky.version.count(".") == 2
    assert lanky.version in lanky.build_description()
    assert lanky.devices()[0]["device"] == "cpu"
    assert "stencil27" in lanky.generators()
    assert isinstance(lanky.cuda_absence(), str)
