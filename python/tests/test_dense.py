"""Dense products, against NumPy in double."""

import numpy as np
import pytest
from conftest import DTYPES, REAL_AND_COMPLEX, assert_close, draw, wide
from hypothesis import given
from hypothesis import strategies as st

import lanky


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", DTYPES)
def test_gram(library, name, order):
    q = draw(1, (200, 5), name, order)
    g = lanky.gram(library.array(q))
    assert isinstance(g, library.kind())
    assert_close(library.numpy(g), wide(np.array(q)).conj().T @ wide(np.array(q)), name)


@pytest.mark.parametrize("name", DTYPES)
def test_tall_times_small(library, name):
    q, r = draw(1, (200, 5), name), draw(2, (5, 3), name)
    c = lanky.tall_times_small(library.array(q), library.array(r))
    assert_close(library.numpy(c), wide(q) @ wide(r), name)


@given(
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(0, 9),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.integers(0, 2),
    st.sampled_from(REAL_AND_COMPLEX),
)
def test_any_extents_orders_and_leading_dimensions(m, n, k, by_rows, gap, name):
    def padded(seed, rows, cols, by_rows):
        whole = draw(seed, (rows, cols + gap) if by_rows else (cols, rows + gap), name)
        return whole[:, :cols] if by_rows else whole[:, :rows].T

    a, b, c = (
        padded(seed, *extents, rows)
        for seed, extents, rows in zip((1, 2, 3), ((m, k), (k, n), (m, n)), by_rows)
    )
    expected = 2 * (wide(np.array(a)) @ wide(np.array(b))) - wide(np.array(c))
    assert_close(lanky.matmul(a, b), wide(np.array(a)) @ wide(np.array(b)), name)
    assert lanky.matmul(a, b, c, alpha=2, beta=-1) is c
    assert_close(np.array(c), expected, name)


def test_transposed_views(library):
    a, b = draw(1, (50, 4), "float64"), draw(2, (50, 6), "float64")
    if library.name == "jax":
        pytest.skip("JAX's arrays are always by rows")
    c = lanky.matmul(library.array(a).T, library.array(b))
    assert_close(library.numpy(c), a.T @ b, "float64")


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_into_float(library, name):
    q = draw(1, (200, 5), name)
    g = lanky.gram(library.array(q), out_dtype="float32")
    assert_close(library.numpy(g), wide(q).T @ wide(q), "float32")


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_sums_in_double(library, name):
    q = draw(1, (3000, 5), name)
    g = library.numpy(lanky.gram(library.array(q), alpha=1 / 3, out_dtype="float64"))
    assert g.dtype == np.float64
    exact = wide(q).T @ wide(q) / 3
    assert np.abs(g - exact).max() <= 3000 * 2.0**-52 * np.abs(exact).max()


def test_sums_in_double_refuse_tf32(library):
    q = library.array(draw(1, (200, 5), "float32"))
    with pytest.raises(lanky.Error, match="tf32"):
        lanky.gram(q, math="tf32", out_dtype="float64")


def test_plan(library):
    a, b = (
        library.array(draw(seed, shape, "float32")) for seed, shape in ((1, (4, 90)), (2, (90, 3)))
    )
    with lanky.GemmPlan(a, b) as plan:
        assert plan.shape == (4, 3, 90)
        first = library.numpy(plan.execute())
        assert_close(first, wide(library.numpy(a)) @ wide(library.numpy(b)), "float32")
        other = library.array(draw(5, (90, 3), "float32"))
        plan.reset_operands(b=other)
        assert_close(
            library.numpy(plan.execute()),
            wide(library.numpy(a)) @ wide(library.numpy(other)),
            "float32",
        )
        assert plan.fingerprint == lanky.GemmPlan(a, b).fingerprint
        assert "gram" in plan.explain() or "family" in plan.explain() or plan.explain()
        with pytest.raises(ValueError, match="the plan is for float32"):
            plan.execute(b=library.array(draw(5, (90, 4), "float32")))
    with pytest.raises(ValueError, match="released"):
        plan.execute(a, b)


def test_complex_gram_of_other_order_is_an_error():
    q = draw(1, (50, 3), "complex128")
    with pytest.raises(ValueError, match="stand"):
        lanky.gram(q, np.zeros((3, 3), "complex128", order="F"))
    real = draw(1, (50, 3), "float64")
    assert_close(lanky.gram(real, np.zeros((3, 3), order="F")), real.T @ real, "float64")


def test_math_is_of_float_alone():
    q = draw(1, (50, 3), "float64")
    with pytest.raises(lanky.Error, match="tf32") as caught:
        lanky.gram(q, math="tf32")
    assert caught.value.code == "unsupported"
    assert_close(lanky.gram(q.astype("f4"), math="tf32x3"), q.T @ q, "float32")
