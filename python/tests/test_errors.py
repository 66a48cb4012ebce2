"""Each door with what does not belong through it: one clear error with the values, and never a
crash."""

import numpy as np
import pytest
from conftest import draw, draw_csr

import lanky

CSR = draw_csr(1, 4, 6, "float64", 0.6)


@pytest.fixture
def a():
    return lanky.sparse(CSR, shape=(4, 6))


BAD_X = [
    ([1.0] * 6, TypeError, "x is a list"),
    (None, TypeError, "x is a NoneType"),
    ("x", TypeError, "x is a str"),
    (2.0, TypeError, "x is a float"),
    (np.float64(2), TypeError, "x is a float64"),
    (np.array(2.0), ValueError, "x has 0 dimensions"),
    (np.ones((6, 1, 1)), ValueError, "x has 3 dimensions"),
    (np.ones(5), ValueError, r"x has shape \(5,\), and A is 4 x 6"),
    (np.ones((5, 2)), ValueError, r"x has shape \(5, 2\), and A is 4 x 6"),
    (np.ones(6, "float32"), TypeError, "x is float32, and A needs float64"),
    (np.ones(6, "int64"), TypeError, "x is int64, and A needs float64"),
    (np.ones(6, "complex128"), TypeError, "x is complex128, and A needs float64"),
    (np.ones(6, ">f8"), TypeError, "x is >f8"),
    (np.ones(6, object), TypeError, "x is object"),
    (np.ones(6, "U3"), TypeError, "x is <U3"),
    (np.broadcast_to(np.ones(1), 6), ValueError, r"shape \(6,\) and a stride of 0"),
    (np.ones(6)[::-1], ValueError, r"shape \(6,\) and a stride of -1"),
    (np.ones((12, 8))[::2, ::2], ValueError, r"strides of 16 and 2"),
    (np.broadcast_to(np.ones(3), (6, 3)), ValueError, r"strides of 0 and 1"),
    (
        np.lib.stride_tricks.as_strided(np.ones(9), (6, 4), (8, 8)),
        ValueError,
        r"strides of 1 and 1",
    ),
    (np.ones(6, [("a", "f8"), ("b", "f4")])["a"], ValueError, "not aligned"),
    (np.ones(6, [("a", "f8"), ("b", "f8"), ("c", "f8")])["a"][::-1], ValueError, "stride of -3"),
    (np.frombuffer(bytes(49), "f8", 6, 1), ValueError, "not aligned"),
    (np.ma.masked_array(np.ones(6)), TypeError, "masked"),
]


@pytest.mark.parametrize(("x", "error", "message"), BAD_X, ids=range(len(BAD_X)))
def test_bad_x(a, x, error, message):
    with pytest.raises(error, match=message):
        a @ x
    with pytest.raises((TypeError, ValueError)):
        a.matvec(x)


@pytest.mark.parametrize("x", [[1.0] * 4, None, "x", 2.0])
def test_bad_x_on_the_left(a, x):
    with pytest.raises(TypeError, match=f"'{type(x).__name__}' and 'SparseMatrix'"):
        x @ a


def test_conversions_that_messages_name(a):
    """Following the message works; nothing complex is cast to a real type."""
    x = np.ones(6, "complex128")
    lost = r"a cast of x would lose its imaginary part: make A with dtype='complex128'"
    with pytest.raises(TypeError, match=lost):
        a @ x
    assert (lanky.sparse(CSR, shape=(4, 6), dtype="complex128") @ x).dtype == "complex128"
    with pytest.raises(TypeError, match=r"values is complex64.*make A with dtype='complex64'"):
        a.update_values(CSR[2].astype("complex64"))
    with pytest.raises(TypeError, match=r"x is complex64.*make the plan with dtype='complex64'"):
        lanky.sddmm(a, np.ones((4, 1), "complex64"), np.ones((6, 1)))
    with pytest.raises(TypeError, match=r"b is complex64.*use a.astype\('complex64'\)"):
        lanky.matmul(np.ones((2, 3)), np.ones((3, 2), "complex64"))
    with pytest.raises(TypeError, match=r"b is float64, and a needs.*use b.astype\('complex128'\)"):
        lanky.matmul(np.ones((2, 3), "complex128"), np.ones((3, 2)))
    with pytest.raises(TypeError, match=r"use x.astype\('float64'\)"):
        a @ np.ones(6, "float32")


@pytest.mark.parametrize("kind", ["int32", "int64", "int8", "uint16", "bool"])
def test_matrices_of_integers(kind, tmp_path):
    csr = (*CSR[:2], np.ones(CSR[2].size, kind))
    for make in (lanky.sparse, lanky.SparsePlan):
        with pytest.raises(TypeError, match=rf"data is {kind}; .*sparse\(S, dtype='float64'\)"):
            make(csr, shape=(4, 6))
    converted = lanky.sparse(csr, shape=(4, 6), dtype="float64")
    assert np.array_equal(converted @ np.ones(6), np.diff(CSR[0]))
    with pytest.raises(TypeError, match=rf"data is {kind}; .*use S.astype\('float64'\)"):
        lanky.write(tmp_path / "a.mtx", csr)
    with pytest.raises(TypeError, match=rf"a is {kind}; .*use a.astype\('float64'\)"):
        lanky.matmul(np.ones((3, 3), kind), np.ones((3, 3)))


def test_types_that_no_message_converts():
    with pytest.raises(TypeError, match="data is <U3; lanky multiplies .* complex128$"):
        lanky.sparse((*CSR[:2], np.full(CSR[2].size, "abc")), shape=(4, 6))


READ_ONLY = np.zeros(4)
READ_ONLY.flags.writeable = False
BAD_OUT = [
    (np.zeros(5), ValueError, r"out has shape \(5,\), and the result has \(4,\)"),
    (np.zeros((4, 1)), ValueError, r"out has shape \(4, 1\)"),
    (
        np.zeros(4, "float32"),
        TypeError,
        "^out is float32, and the result is float64: out must be an array of float64$",
    ),
    (READ_ONLY, ValueError, "out is read-only"),
    (np.zeros(4)[::-1], ValueError, "stride of -1"),
    ([0.0] * 4, TypeError, "out is a list"),
]


@pytest.mark.parametrize(("out", "error", "message"), BAD_OUT, ids=range(len(BAD_OUT)))
def test_bad_out(a, out, error, message):
    with pytest.raises(error, match=message):
        a.matvec(np.ones(6), out)


@pytest.mark.parametrize(
    "q",
    [[[1.0]], None, np.ones(3), np.ones((3, 3), int), np.ones((12, 8))[::2, ::2], np.float32(1)],
)
def test_bad_dense(q):
    with pytest.raises((TypeError, ValueError), match="^q "):
        lanky.gram(q)
    with pytest.raises((TypeError, ValueError), match="^q "):
        lanky.tall_times_small(q, np.ones((3, 2)))
    with pytest.raises((TypeError, ValueError), match="^a "):
        lanky.matmul(q, np.ones((3, 2)))


def test_overlap():
    square = lanky.sparse(draw_csr(1, 6, 6, "float64"), shape=(6, 6))
    x = np.ones(9)
    for out in (x[:6], x[3:]):
        with pytest.raises(ValueError, match="overlap"):
            square.matvec(x[:6], out)


BAD_FACTORS = [
    ({"alpha": 1j}, ValueError, "alpha is 1j"),
    ({"alpha": "2"}, TypeError, "alpha is a str"),
    ({"alpha": None}, TypeError, "alpha is a NoneType"),
    ({"beta": 2}, ValueError, "beta is 2"),
    ({"stream": 0}, ValueError, "x is in host memory"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD_FACTORS, ids=range(len(BAD_FACTORS)))
def test_bad_factors(a, options, error, message):
    with pytest.raises(error, match=message):
        a.matvec(np.ones(6), **options)


def test_factors_of_numpy(a):
    x = draw(2, 6, "float64")
    for two in (2, 2.0, np.float32(2), np.int8(2), np.array(2.0), np.complex64(2), 2 + 0j):
        assert np.array_equal(a.matvec(x, alpha=two), 2 * (a @ x))


INDPTR, INDICES, DATA = CSR
BAD_SOURCES = [
    (None, TypeError, "NoneType was given"),
    (np.ones((3, 3)), TypeError, "ndarray was given"),
    ((INDPTR, INDICES), ValueError, "a tuple of 2"),
    ((INDPTR, INDICES, list(DATA)), TypeError, "data is a list"),
    ((INDPTR, INDICES, DATA[:-1]), ValueError, "data has"),
    ((INDPTR.astype("f8"), INDICES, DATA), TypeError, "indptr are float64"),
    ((INDPTR, INDICES.astype("f8"), DATA), TypeError, "indices are float64"),
    ((INDPTR.reshape(1, -1), INDICES, DATA), ValueError, r"indptr has shape \(1, 5\)"),
    ((INDPTR, np.repeat(INDICES, 2)[::2], DATA), ValueError, "stride of 2"),
    ((INDPTR[::-1].copy(), INDICES, DATA), ValueError, None),
    ((INDPTR, INDICES + 6, DATA), ValueError, None),
    ((INDPTR, INDICES - 9, DATA), ValueError, None),
    ((INDPTR, INDICES.astype("int64") + 2**32, DATA), ValueError, "indices lie from 42949"),
    ((INDPTR, INDICES, DATA.astype("int32")), TypeError, "data is int32"),
    ("no_such_file.mtx", FileNotFoundError, "no_such_file"),
]


@pytest.mark.parametrize(("source", "error", "message"), BAD_SOURCES, ids=range(len(BAD_SOURCES)))
def test_bad_sources(source, error, message):
    with pytest.raises(error, match=message):
        lanky.sparse(source, shape=(4, 6))
    with pytest.raises(error):
        lanky.SparsePlan(source, shape=(4, 6))


BAD_OPTIONS = [
    ({"shape": (5, 6)}, ValueError, "indptr has 5 entries, and 6 are needed"),
    ({"shape": (4, 2)}, ValueError, None),
    ({"shape": (4, -6)}, ValueError, r"\(4, -6\)"),
    ({"shape": (4, 2**31)}, ValueError, "at most"),
    ({"shape": 4}, TypeError, None),
    ({"dtype": "int8"}, TypeError, "int8"),
    ({"out_dtype": "float32"}, TypeError, "float32"),
    ({"device": "tpu"}, ValueError, "tpu"),
    ({"engine": "quick"}, ValueError, "quick"),
    ({"math": "fp8"}, ValueError, "fp8"),
    ({"math": "tf32"}, lanky.Error, "tf32"),
    ({"symmetry": "odd"}, ValueError, "odd"),
    ({"symmetry": "symmetric"}, ValueError, None),
    ({"expected_layout": "diagonal"}, ValueError, "diagonal"),
    ({"expected_columns": -1}, ValueError, None),
    ({"stream": 0}, ValueError, "CPU"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD_OPTIONS, ids=range(len(BAD_OPTIONS)))
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        lanky.sparse(CSR, **{"shape": (4, 6), **options})


def test_no_such_device():
    with pytest.raises(lanky.Error) as caught:
        lanky.sparse(CSR, shape=(4, 6), device="cuda:99")
    assert caught.value.code == "no_device"
    assert isinstance(caught.value, RuntimeError)


def test_dense_products_that_do_not_fit():
    with pytest.raises(ValueError, match=r"a has shape \(3, 4\), and b \(5, 2\)"):
        lanky.matmul(np.ones((3, 4)), np.ones((5, 2)))
    with pytest.raises(TypeError, match="b is float32"):
        lanky.matmul(np.ones((3, 4)), np.ones((4, 2), "float32"))
    with pytest.raises(ValueError, match=r"a has shape \(3,\)"):
        lanky.matmul(np.ones(3), np.ones((3, 2)))
    with pytest.raises(ValueError, match="overlap|out"):
        q = np.ones((3, 3))
        lanky.matmul(q, q, q[:2])


def test_dense_operands_have_the_names_of_the_parameters():
    q = np.ones((5, 3))
    with pytest.raises(ValueError, match=r"^q has shape \(5, 3\), and r \(2, 2\)"):
        lanky.tall_times_small(q, np.ones((2, 2)))
    with pytest.raises(TypeError, match="^r is float32, and q needs float64"):
        lanky.tall_times_small(q, np.ones((3, 2), "float32"))
    with pytest.raises(TypeError, match=r"r is complex64.*use q.astype\('complex64'\)"):
        lanky.tall_times_small(q, np.ones((3, 2), "complex64"))


def test_sampled_products_that_do_not_fit(a):
    with pytest.raises(ValueError, match=r"x has shape \(5, 2\)"):
        lanky.sddmm(a, np.ones((5, 2)), np.ones((6, 2)))
    with pytest.raises(ValueError, match=r"y has shape \(4, 2\)"):
        lanky.sddmm(a, np.ones((4, 2)), np.ones((4, 2)))
    with pytest.raises(ValueError, match="as many columns"):
        lanky.sddmm(a, np.ones((4, 2)), np.ones((6, 3)))


def test_what_was_not_kept():
    a = lanky.sparse(CSR, shape=(4, 6), keep=False)
    assert (a @ np.ones(6)).shape == (4,)
    for call in (
        lambda: a.T,
        lambda: a.H,
        lambda: a.__reduce__(),
        lambda: lanky.sddmm(a, np.ones((4, 1)), np.ones((6, 1))),
    ):
        with pytest.raises(ValueError, match="keep=False"):
            call()


def test_released_plans():
    plan = lanky.SparsePlan(CSR, shape=(4, 6))
    plan.release()
    plan.release()
    assert plan.released
    for call in (
        lambda: plan.execute(np.ones(6)),
        plan.explain,
        lambda: plan.shape,
        lambda: plan.update_values(DATA),
    ):
        with pytest.raises(ValueError, match="released"):
            call()


def test_plans_that_were_never_made():
    plan = lanky._core.SparsePlan.__new__(lanky._core.SparsePlan)
    with pytest.raises((TypeError, RuntimeError)):
        plan.multiply(np.ones(6))


def test_too_much_memory(a):
    huge = np.lib.stride_tricks.as_strided(np.zeros(1), (6, 2**55), (8 * 2**55, 8))
    with pytest.raises(MemoryError):
        a @ huge


def test_files(tmp_path):
    bad = tmp_path / "bad.mtx"
    bad.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n")
    with pytest.raises(lanky.Error, match="bad.mtx:3") as caught:
        lanky.read(bad)
    assert caught.value.code == "parse"
    with pytest.raises(FileNotFoundError):
        lanky.read(tmp_path / "none.mtx")
    with pytest.raises(lanky.Error, match="directory") as caught:
        lanky.read(tmp_path)
    with pytest.raises(ValueError, match="moebius"):
        lanky.generate("moebius:3")
    with pytest.raises(TypeError, match="float16"):
        lanky.generate("stencil27:3", dtype="float16")
    with pytest.raises(lanky.Error) as caught:
        lanky.write(tmp_path / "no" / "a.mtx", CSR)
    assert caught.value.code == "io"


def test_messages_of_the_library_in_words_of_python(tmp_path):
    messages = []

    def told(call, *arguments, **options):
        with pytest.raises((ValueError, lanky.Error)) as caught:
            call(*arguments, **options)
        messages.append(str(caught.value))
        return messages[-1]

    both_sides = (np.array([0, 1, 2]), np.array([1, 0]), np.ones(2))
    assert "with the option symmetry A" in told(lanky.sparse, both_sides, symmetry="symmetric")
    assert "math='tf32' is for products of f32" in told(
        lanky.sparse, CSR, shape=(4, 6), math="tf32"
    )
    assert "use engine='auto' or cuda_cores" in told(
        lanky.sparse, CSR, shape=(4, 6), dtype="complex64", engine="tensor_cores"
    )
    assert "allow math='tf32x3' or tf32" in told(
        lanky.sparse, CSR, shape=(4, 6), dtype="float32", engine="tensor_cores"
    )
    plan = lanky.SparsePlan(CSR, shape=(4, 6), op="trans")
    assert "without the option updates" in told(plan.update_values, CSR[2])
    twice = tmp_path / "twice.mtx"
    twice.write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n")
    assert "duplicates='sum' or duplicates='keep'" in told(lanky.read, twice, duplicates="reject")
    assert not [message for message in messages if "::" in message]


def test_devices_apart(gpu_library):
    csr = tuple(gpu_library.array(array) for array in CSR)
    a = lanky.sparse(csr, shape=(4, 6))
    with pytest.raises(ValueError, match="x is on cpu, and the product is computed on cuda:0"):
        a @ np.ones(6)
    with pytest.raises(ValueError, match="out is on cpu"):
        a.matvec(gpu_library.array(np.ones(6)), np.zeros(4))
    with pytest.raises(ValueError, match="x is on cuda:0, and the product is computed on cpu"):
        lanky.sparse(CSR, shape=(4, 6)) @ gpu_library.array(np.ones(6))
    with pytest.raises(ValueError, match="data are on cpu"):
        lanky.sparse((*csr[:2], CSR[2]), shape=(4, 6))
    with pytest.raises(TypeError, match="stream is a str"):
        a.matvec(gpu_library.array(np.ones(6)), stream="0")
    with pytest.raises(ValueError, match="stream is -1"):
        a.matvec(gpu_library.array(np.ones(6)), stream=-1)


def test_names_of_types_of_the_other_interfaces():
    """Those of C++, C and the program serve beside NumPy's."""
    csr = draw_csr(1, 40, 60, "float64")
    assert lanky.sparse(csr, shape=(40, 60), dtype="f32").dtype == np.float32
    assert lanky.sparse(csr, shape=(40, 60), dtype="f16", out_dtype="f32").dtype == np.float16
    assert lanky.sparse(csr, shape=(40, 60), dtype="c64").dtype == np.complex64
