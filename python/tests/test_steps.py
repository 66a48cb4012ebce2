"""python/bench/python_steps.py, which the results of docs/lab/python.md come from, runs."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import draw, draw_csr

import lanky

pytest.importorskip("scipy")
SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "bench" / "python_steps.py"
STEPS = ["launch", "convert", "stream", "allocate", "method", "empty", "call"]


def test_steps():
    command = [sys.executable, SCRIPT, "--device", "cpu", "--rounds", "2"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    environment, *lines = (json.loads(line) for line in ran.stdout.splitlines())
    assert environment["kind"] == "env" and environment["device"] == "cpu"
    numpy_lines = [line for line in lines if line["contestant"] == "lanky-numpy"]
    assert [line["step"] for line in numpy_lines] == STEPS
    for line in lines:
        assert line["status"] == "ok" and len(line["us"]) == 2 and line["median_us"] > 0


def test_repeated_runs():
    csr = draw_csr(1, 40, 60, "float64")
    plan = lanky._core.SparsePlan(*csr, 40, 60)
    x, out = draw(2, 60, "float64"), np.zeros(40)
    plan.repeat(x, out, 0)
    assert not out.any()
    plan.repeat(x, out, 3)
    assert np.array_equal(out, plan @ x)
    for bad in (np.zeros(39), np.zeros((40, 1)), np.zeros(80)[::2]):
        with pytest.raises(ValueError):
            plan.repeat(x, bad, 1)
    with pytest.raises(TypeError, match="out is float32"):
        plan.repeat(x, out.astype("float32"), 1)
