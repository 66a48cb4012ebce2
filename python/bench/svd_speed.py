#!/usr/bin/env python3
"""Singular values on a GPU beside CuPy's and scikit-learn's solvers. JSON lines on standard output,
of kind "singular_values".

    python/bench/svd_speed.py [--matrices SPEC;...] [-k 50] [--only CONTESTANT;...] > svd.jsonl

A matrix is generated, with values uniform in (0, 1), and stands in the device's memory as CSR, and
in host memory for scikit-learn. The k largest triplets are computed. A line has the seconds of a
call ("seconds"; where one takes less than 10 s, the second one), the largest residual of its triplets,
of |A v - s u| and |A^T u - s v|, computed here in double precision, over the largest singular value
("residual"), and the largest error of a value, over that value ("value_error"), against lanky's
Golub-Kahan with a tolerance of 1e-8. One that takes longer than --limit seconds is stopped."""

import argparse
import json
import signal

import cupy
import cupyx.scipy.sparse
import cupyx.scipy.sparse.linalg
import numpy as np
import scipy.sparse

import lanky
from on_gpu import print_environment, synchronized

try:
    import sklearn
    import sklearn.utils.extmath
except ImportError:
    sklearn = None

POWER_ITERATIONS = 4
OVERSAMPLING = 10


def give_up(*_):
    raise TimeoutError


def contestants(device_a, host_a, k):
    def cupyx_svds(tolerance):
        return cupyx.scipy.sparse.linalg.svds(device_a, k, tol=tolerance)

    options = {"power_iterations": POWER_ITERATIONS, "oversampling": OVERSAMPLING}
    made = {
        "lanky randomized": lambda: lanky.svds(device_a, k, solver="randomized", options=options),
        "lanky golub_kahan": lambda: lanky.svds(device_a, k),
        "lanky golub_kahan, tol 1e-3": lambda: lanky.svds(device_a, k, tol=1e-3),
        "cupyx svds": lambda: cupyx_svds(0),
        # Of A^H A, whose eigenvalues are squares.
        "cupyx svds, tol 1e-6": lambda: cupyx_svds(1e-6),
    }
    if sklearn is not None:
        made["sklearn randomized_svd"] = lambda: sklearn.utils.extmath.randomized_svd(
            host_a, k, n_iter=POWER_ITERATIONS, n_oversamples=OVERSAMPLING, random_state=0
        )
    return made


def judged(a, found, known):
    u, values, vh = (cupy.asarray(part) for part in found)
    v = cupy.ascontiguousarray(vh.T)
    u = cupy.ascontiguousarray(u)
    rests = a @ v - u * values, a.T @ u - v * values
    largest = float(values.max())
    got = np.sort(cupy.asnumpy(values))
    return {
        "residual": max(float(cupy.linalg.norm(rest, axis=0).max()) for rest in rests) / largest,
        "value_error": float((np.abs(got - known) / known).max()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--matrices", default="rmat:22,per_row=24")
    parser.add_argument("-k", type=int, default=50)
    parser.add_argument("--only", default="", help="contestants, separated by ;")
    parser.add_argument("--limit", type=int, default=600, help="seconds of a call")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, give_up)
    only = [name for name in options.only.split(";") if name]
    print_environment(sklearn=sklearn)
    for spec in options.matrices.split(";"):
        pattern = lanky.generate(spec)
        host_a = scipy.sparse.csr_matrix(pattern)
        host_a.data = np.random.default_rng(1).random(host_a.nnz)
        device_a = cupyx.scipy.sparse.csr_matrix(host_a)
        known = np.sort(cupy.asnumpy(lanky.svds(device_a, options.k)[1]))
        for name, call in contestants(device_a, host_a, options.k).items():
            if only and name not in only:
                continue
            line = {
                "kind": "singular_values",
                "matrix": spec,
                "rows": host_a.shape[0],
                "nnz": host_a.nnz,
                "k": options.k,
                "contestant": name,
            }
            try:
                signal.alarm(options.limit)
                found, seconds = synchronized(call)
                if seconds < 10:  # once more, with everything loaded
                    found, seconds = synchronized(call)
                signal.alarm(0)
                line |= {"status": "ok", "seconds": seconds} | judged(device_a, found, known)
            except TimeoutError:
                line["status"] = f"longer than {options.limit} s"
            except Exception as failure:  # a rival's failure is a result
                line["status"] = f"{type(failure).__name__}: {str(failure)[:120]}"
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
