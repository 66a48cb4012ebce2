#!/usr/bin/env python3
"""lanky from Python, end to end, beside what Python users have: CuPy and PyTorch on a GPU, SciPy,
NumPy and PyTorch on a CPU. JSON lines on standard output, of kind "python", as bench/records writes
its own.

    python/bench/python_speed.py [--device cuda|cpu] [--part spmv --part gram ...]
        [--most-entries N] [--rounds 9] > python.jsonl

Parts: spmv, S @ x of the twenty generated matrices that `lanky bench` chooses
(bench/cases/spmv_set.cpp), in f64 and f32; gram, Q^H Q of a tall Q by rows and by columns; host,
the time that a call of S @ x takes in the caller, of a matrix so small that the device never holds
it up; read, a Matrix Market file into CSR. Results are held against SciPy's or NumPy's in double
first. Then the contestants take turns: a round times each of them once, over as many calls as take
about 20 ms, and the median of the rounds counts. Times are those of the host's clock from the first
call to the end of the last one on the device."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy
import scipy.io
import scipy.sparse

import lanky

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 0.02  # that the calls of one contestant take in one round
NAMES = {"float64": "f64", "float32": "f32"}
TOLERANCE = {
    "f64": 1e-10,
    "f32": 5e-3,
}  # of the sum of absolute products: loose, as each line tells the error
COLUMNS = (1, 2, 4, 8, 16, 32)  # of gram
GRAM_ROWS = 4_000_000
HOST_CALLS = 500  # fewer than a CUDA stream queues


def git(*arguments):
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
    ).stdout.strip()


def chosen_matrices():
    """The specs of kChosenMatrices, so that both benchmarks measure the same matrices."""
    text = (ROOT / "bench/cases/spmv_set.cpp").read_text()
    return re.findall(
        r'"([^"]+)"', re.search(r"kChosenMatrices = \{(.*?)\};", text, re.DOTALL).group(1)
    )


class Cpu:
    """NumPy's and SciPy's arrays, and PyTorch's on the CPU."""

    def __init__(self):
        self.versions = {}
        self.torch = self.import_torch()

    def import_torch(self):
        try:
            import torch
        except ImportError:
            return None
        self.versions["torch"] = torch.__version__
        return torch

    def sync(self):
        """Nothing is under way."""

    def array(self, values):
        return values

    def matrix(self, csr):
        return csr

    def numpy(self, array):
        return np.asarray(array)

    def tensor(self, values):
        return self.torch.from_numpy(values)

    def sparse_tensor(self, csr):
        arrays = (self.tensor(array) for array in (csr.indptr, csr.indices, csr.data))
        return self.torch.sparse_csr_tensor(*arrays, size=csr.shape)

    own = "scipy"
    own_dense = "numpy"


class Gpu(Cpu):
    """CuPy's and PyTorch's arrays on cuda:0."""

    own = own_dense = "cupy"

    def __init__(self):
        super().__init__()
        import cupy
        import cupyx.scipy.sparse

        self.cupy, self.cupy_sparse = cupy, cupyx.scipy.sparse
        self.versions["cupy"] = cupy.__version__

    def sync(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def array(self, values):
        return self.cupy.array(values, order="K")

    def matrix(self, csr):
        return self.cupy_sparse.csr_matrix(csr)

    def numpy(self, array):
        return array.get() if isinstance(array, self.cupy.ndarray) else array.cpu().numpy()

    def tensor(self, values):
        return super().tensor(values).cuda()


def environment(world, device):
    cpu = next(
        (
            line.split(":")[1].strip()
            for line in open("/proc/cpuinfo")
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    dirty = "+dirty" if git("status", "--porcelain", "--untracked-files=no") else ""
    return {
        "kind": "env",
        "schema": 1,
        "commit": os.environ.get("LANKY_COMMIT") or git("rev-parse", "HEAD") + dirty,
        "utc": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "argv": " ".join(sys.argv),
        "cpu": cpu,
        "cores": os.cpu_count(),
        "devices": lanky.devices(),
        "device": device,
        "lanky": lanky.build_description(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        **world.versions,
    }


def seconds_of(world, call, calls):
    world.sync()
    start = time.perf_counter()
    for _ in range(calls):
        call()
    world.sync()
    return time.perf_counter() - start


def enqueue_seconds_of(world, call, calls):
    """Until the last call has returned, whatever the device still does."""
    world.sync()
    start = time.perf_counter()
    for _ in range(calls):
        call()
    seconds = time.perf_counter() - start
    world.sync()
    return seconds


def tell(line):
    print(json.dumps(line), flush=True)


def measure(world, facts, contestants, check, rounds, timer=seconds_of, calls=None):
    """A line for each contestant: wrong, failed, or the median of its rounds."""
    runs, errors = {}, {}
    for name, call in contestants.items():
        try:
            errors[name] = check(world.numpy(call()))
            call()
            runs[name] = calls or max(
                1, min(10_000, round(SECONDS / max(1e-6, timer(world, call, 3) / 3)))
            )
        except Exception as error:  # a rival that cannot is a line, not the end
            tell(
                {
                    "kind": "python",
                    **facts,
                    "contestant": name,
                    "status": "failed",
                    "why": str(error).splitlines()[0],
                }
            )
            continue
        if not errors[name] <= TOLERANCE.get(facts["dtype"], 0):
            del runs[name]
            tell(
                {
                    "kind": "python",
                    **facts,
                    "contestant": name,
                    "status": "wrong",
                    "error": errors[name],
                }
            )
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, count in runs.items():
            times[name].append(1e6 * timer(world, contestants[name], count) / count)
    for name, each in times.items():
        tell(
            {
                "kind": "python",
                **facts,
                "contestant": name,
                "status": "ok",
                "error": errors[name],
                "calls": runs[name],
                "median_us": statistics.median(each),
                "min_us": min(each),
                "us": each,
            }
        )


def error_beside(expected, scale):
    """The largest error of an entry beside the sum of its absolute products."""

    def check(result):
        return float(
            np.max(np.abs(result - expected) / np.maximum(scale, np.finfo("float64").tiny))
        )

    return check


def sparse_contestants(world, csr, x):
    own, own_x = world.matrix(csr), world.array(x)
    a = lanky.sparse(own)
    contestants = {f"lanky-{world.own_dense}": lambda: a @ own_x, world.own: lambda: own @ own_x}
    if world.torch is not None:
        tensor, tensor_x = world.sparse_tensor(csr), world.tensor(x)
        contestants |= {"lanky-torch": lambda: a @ tensor_x, "torch": lambda: tensor @ tensor_x}
    return contestants


def spmv(world, options):
    for spec in chosen_matrices():
        double = lanky.generate(spec)
        if double.nnz > options.most_entries:
            continue
        for name in NAMES:
            csr = double.astype(name)
            x = np.random.default_rng(1).uniform(-1, 1, csr.shape[1]).astype(name)
            wide = csr.astype("float64")
            check = error_beside(
                wide @ x.astype("float64"), abs(wide) @ np.abs(x).astype("float64")
            )
            facts = {
                "case": "spmv",
                "matrix": spec,
                "dtype": NAMES[name],
                "m": csr.shape[0],
                "n": csr.shape[1],
                "nnz": int(csr.nnz),
                "device": options.device,
            }
            measure(world, facts, sparse_contestants(world, csr, x), check, options.rounds)


def gram(world, options):
    for n in COLUMNS:
        m = min(GRAM_ROWS, options.most_entries // n)
        for name in NAMES:
            for order in "CF":
                q = np.asarray(
                    np.random.default_rng(1).uniform(-1, 1, (m, n)).astype(name), order=order
                )
                wide = q.astype("float64")
                check = error_beside(wide.T @ wide, np.abs(wide).T @ np.abs(wide))
                own = world.array(q)
                contestants = {
                    f"lanky-{world.own_dense}": lambda q=own: lanky.gram(q),
                    world.own_dense: lambda q=own: q.T @ q,
                }
                if world.torch is not None:
                    tensor = world.tensor(q)
                    contestants |= {
                        "lanky-torch": lambda q=tensor: lanky.gram(q),
                        "torch": lambda q=tensor: q.T @ q,
                    }
                facts = {
                    "case": "gram",
                    "dtype": NAMES[name],
                    "m": m,
                    "n": n,
                    "layout": "row" if order == "C" else "col",
                    "device": options.device,
                }
                measure(world, facts, contestants, check, options.rounds)


def host(world, options):
    for name in NAMES:
        csr = scipy.sparse.eye_array(8, format="csr", dtype=name)
        x = np.ones(8, name)
        contestants = sparse_contestants(world, csr, x)
        a, own_x, out = (
            lanky.sparse(world.matrix(csr)),
            world.array(x),
            world.array(np.ones(8, name)),
        )
        contestants[f"lanky-{world.own_dense}-out"] = lambda a=a, x=own_x, out=out: a.matvec(x, out)
        facts = {
            "case": "host",
            "dtype": NAMES[name],
            "m": 8,
            "n": 8,
            "nnz": 8,
            "device": options.device,
        }
        measure(
            world,
            facts,
            contestants,
            error_beside(np.ones(8), np.ones(8)),
            options.rounds,
            enqueue_seconds_of,
            HOST_CALLS,
        )


def read(world, options):
    with tempfile.TemporaryDirectory() as folder:
        for spec in ("uniform:250000:16", "uniform:500000:16,values=int"):
            matrix = lanky.generate(spec)
            if matrix.nnz > options.most_entries:
                continue
            path = pathlib.Path(folder) / "a.mtx"
            lanky.write(path, matrix)
            contestants = {
                "lanky": lambda path=path: lanky.read(path),
                "scipy": lambda path=path: scipy.io.mmread(path, spmatrix=False),
                "scipy-tocsr": lambda path=path: scipy.io.mmread(path, spmatrix=False).tocsr(),
            }

            def check(result, matrix=matrix):
                return float((result != matrix).nnz)

            facts = {
                "case": "read",
                "matrix": spec,
                "dtype": "f64",
                "m": matrix.shape[0],
                "n": matrix.shape[1],
                "nnz": int(matrix.nnz),
                "file_bytes": path.stat().st_size,
                "device": "cpu",
            }
            measure(Files(), facts, contestants, check, options.rounds, calls=1)


class Files(Cpu):
    """What is read is compared as it is."""

    def numpy(self, array):
        return array.tocsr()


PARTS = {"spmv": spmv, "gram": gram, "host": host, "read": read}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument(
        "--part", choices=PARTS, action="append", help="one or several; all by default"
    )
    parser.add_argument(
        "--most-entries", type=int, default=10**9, help="pass over larger matrices, and shorten Q"
    )
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    world = Gpu() if options.device == "cuda" else Cpu()
    tell(environment(world, options.device))
    for part in options.part or PARTS:
        PARTS[part](world, options)


if __name__ == "__main__":
    main()
