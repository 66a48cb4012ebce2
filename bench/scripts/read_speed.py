#!/usr/bin/env python3
"""Reading Matrix Market files: lanky beside SciPy's mmread (fast_matrix_market); and the cache of each beside its bytes
alone, read by all threads into new memory. JSON lines on standard output.

    bench/scripts/read_speed.py [--bin build/cpu/bin] [--rounds 7] [--threads 2] [--folder DIR] > read_speed.jsonl

Needs numpy and SciPy >= 1.12. The files, each of 100 MB or more, are written into DIR (a temporary folder
by default). Both readers are held against each other entry by entry. Then they take turns, each round in
processes of their own that read a file three times from the cache of the system; the first read of a
process does not count. Peak memory is VmHWM of a process that reads once, less its memory before.
On a machine that others use too, `chrt -r 1` in front keeps their work from deciding who is faster.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

import numpy
import scipy
import scipy.io
import scipy.sparse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
READS = 3

# What a process of SciPy runs: path, how often, and whether the result is turned into CSR.
SCIPY = """
import json, sys, time
import scipy.io, scipy.sparse
def memory(name):
    return next(1024 * int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(name))
path, times, to_csr = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "csr"
before, seconds = memory("VmRSS"), []
for _ in range(times):
    start = time.perf_counter()
    a = scipy.io.mmread(path)
    if to_csr:
        a = a.tocsr()
    seconds.append(time.perf_counter() - start)
    del a
print(json.dumps({"seconds": seconds, "peak_bytes": memory("VmHWM") - before}))
"""
CONTESTANTS = ("lanky", "scipy-mmread", "scipy-mmread-tocsr", "lanky-cache", "bytes-of-cache")


def symmetric(folder, tool):
    """The lower triangle of A + A^T in a symmetric file."""
    write(tool, "uniform:250000:16,seed=3", folder / "half.mtx")
    a = scipy.io.mmread(folder / "half.mtx").tocsr()
    scipy.io.mmwrite(folder / "symmetric.mtx", scipy.sparse.tril(a + a.T), symmetry="symmetric")
    relabel(folder / "symmetric.mtx", b"general", b"symmetric")


def relabel(path, before, after):
    """Replaces a word of the first line, where it is not there already."""
    with open(path, "rb") as file:
        banner = file.readline()
    if after in banner:
        return
    subprocess.run(["sed", "-i", f"1s/{before.decode()}/{after.decode()}/", str(path)], check=True)


def pattern(folder, tool):
    write(tool, "rmat:19,per_row=18,seed=5", folder / "rmat.mtx")
    scipy.io.mmwrite(folder / "pattern.mtx", scipy.io.mmread(folder / "rmat.mtx"), field="pattern")


CASES = {
    "real": lambda folder, tool: write(tool, "uniform:250000:16", folder / "real.mtx"),
    "short": lambda folder, tool: write(tool, "uniform:500000:16,values=int", folder / "short.mtx"),
    "symmetric": symmetric,
    "pattern": pattern,
}


def write(tool, spec, path):
    subprocess.run([tool, "write", spec, path], check=True)


def check_equal(tool, path, expected):
    """Fails where lanky reads other bits from the file than expected, in CSR."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "a"
        subprocess.run([tool, "dump", path, prefix], check=True)
        offsets, cols, values = (
            numpy.fromfile(f"{prefix}.{name}", dtype)
            for name, dtype in (("offsets", "i8"), ("cols", "i4"), ("values", "f8")))
    same = (numpy.array_equal(offsets, expected.indptr) and numpy.array_equal(cols, expected.indices)
            and numpy.array_equal(values.view("i8"), expected.data.astype("f8").view("i8")))
    if not same:
        sys.exit(f"read_speed: the readers differ on {path}")


def file_of(contestant, path):
    return path.with_suffix(".lanky") if contestant.endswith("cache") else path


def command(contestant, tool, path, times):
    if not contestant.startswith("scipy"):
        return [tool, "bytes" if contestant == "bytes-of-cache" else "read", file_of(contestant, path), str(times)]
    form = "csr" if contestant.endswith("tocsr") else "coo"
    return [sys.executable, "-c", SCIPY, path, str(times), form]


def run(contestant, tool, path, times, threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    output = subprocess.run(command(contestant, tool, path, times), check=True, text=True,
                            capture_output=True, env=environment).stdout
    return json.loads(output)


def measure(case, path, tool, rounds, threads):
    cache = file_of("lanky-cache", path)
    subprocess.run([tool, "cache", path, cache], check=True)
    expected = scipy.io.mmread(path).tocsr()
    expected.sum_duplicates()
    for file in (path, cache):
        check_equal(tool, file, expected)
    (m, n), nnz = expected.shape, expected.nnz
    del expected
    seconds = {c: [] for c in CONTESTANTS}
    loads = []
    for _ in range(rounds):
        for contestant in CONTESTANTS:
            seconds[contestant] += run(contestant, tool, path, READS, threads)["seconds"][1:]
        loads.append(os.getloadavg()[0])
    for contestant in CONTESTANTS:
        size = file_of(contestant, path).stat().st_size
        median = statistics.median(seconds[contestant])
        print(json.dumps({
            "kind": "read", "case": case, "contestant": contestant, "status": "ok", "m": m, "n": n,
            "nnz": nnz, "dtype": "f64", "file_bytes": size, "csr_bytes": 8 * (m + 1) + 12 * nnz,
            "threads": threads, "median_s": median, "min_s": min(seconds[contestant]),
            "median_mb_per_s": size / median / 1e6,
            "peak_bytes": run(contestant, tool, path, 1, threads).get("peak_bytes"),
            "seconds": seconds[contestant], "load": loads}), flush=True)


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, text=True,
                          capture_output=True).stdout.strip()


def environment():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                if line.startswith("model name")), platform.machine())
    dirty = "+dirty" if git("status", "--porcelain", "--untracked-files=no") else ""
    return {"kind": "env", "schema": 1, "commit": git("rev-parse", "HEAD") + dirty,
            "utc": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "argv": " ".join(sys.argv), "cpu": cpu, "cores": os.cpu_count(),
            "kernel": platform.release(), "realtime": os.sched_getscheduler(0) != os.SCHED_OTHER,
            "python": platform.python_version(), "numpy": numpy.__version__, "scipy": scipy.__version__}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/cpu/bin")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--case", choices=CASES, action="append")
    options = parser.parse_args()
    tool = str((options.bin / "lanky_read_speed").resolve())
    print(json.dumps(environment()), flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        for case in options.case or CASES:
            path = folder / f"{case}.mtx"
            if not path.exists():
                CASES[case](folder, tool)
            measure(case, path, tool, options.rounds, options.threads)


if __name__ == "__main__":
    main()
