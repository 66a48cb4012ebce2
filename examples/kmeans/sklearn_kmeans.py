#!/usr/bin/env python3
"""Lloyd's algorithm by scikit-learn on the CPU, timed as the program kmeans is: a JSON line of the same fields.

The points are those of `kmeans --generate N,D[,BLOBS]` to the bit, or a file.npy; k-means++ draws other first
centers than the program does. scikit-learn ends where no label changes, so that times are per iteration.
"""

import argparse
import json
import os
import platform
import sys
import time

try:
    import numpy as np
    import sklearn
    from sklearn.cluster import KMeans, kmeans_plusplus
except ImportError as error:
    sys.exit(f"sklearn_kmeans.py: {error}; needs numpy and scikit-learn: pip install numpy scikit-learn")


def mix(x):
    """The finalizer of SplitMix64, of an array of uint64 (examples/kmeans/blobs.hpp)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def blobs(n, d, clusters, spread, seed, dtype):
    """The points of examples/kmeans/blobs.hpp, a few rows at a time."""
    key = [mix(np.array([seed + i], np.uint64)) for i in range(3)]
    middles = mix(key[1] + np.arange(clusters * d, dtype=np.uint64)) >> np.uint64(46)
    middles = (middles.astype(np.int64) - (1 << 17)).reshape(clusters, d) * spread
    x = np.empty((n, d), dtype)
    step = max(1, (1 << 22) // d)
    for first in range(0, n, step):
        rows = np.arange(first, min(n, first + step), dtype=np.uint64)
        blob = (mix(key[0] + rows) % np.uint64(clusters)).astype(np.int64)
        index = rows[:, None] * np.uint64(d) + np.arange(d, dtype=np.uint64)[None, :]
        noise = mix(key[2] + index)
        total = sum((noise >> np.uint64(shift)) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48))
        x[first : first + len(rows)] = (middles[blob] + total.astype(np.int64) - 131070) * 2.0**-15
    return x


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("points", nargs="?", help="an .npy file")
    parser.add_argument("--generate", metavar="N,D[,BLOBS]", help="the points that kmeans generates")
    parser.add_argument("--spread", type=int, default=8)
    parser.add_argument("-k", "--clusters", type=int, default=16)
    parser.add_argument("-i", "--iterations", type=int, default=100)
    parser.add_argument("--init", choices=["k-means++", "random"], default="k-means++")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dtype", choices=["f64", "f32"], default="f64")
    parser.add_argument("--json", help="append the line to this file")
    args = parser.parse_args()
    if (args.points is None) == (args.generate is None):
        parser.error("give a file of points, or --generate")
    dtype = np.float32 if args.dtype == "f32" else np.float64
    if args.generate:
        sizes = [int(size) for size in args.generate.split(",")]
        if len(sizes) not in (2, 3) or min(sizes) < 1:
            parser.error("--generate takes N,D[,BLOBS]")
        x = blobs(sizes[0], sizes[1], sizes[2] if len(sizes) > 2 else 16, args.spread, args.seed, dtype)
    else:
        x = np.ascontiguousarray(np.load(args.points), dtype)

    start = time.perf_counter()
    if args.init == "random":
        centers = x[np.random.RandomState(args.seed).choice(len(x), args.clusters, replace=False)]
    else:
        centers, _ = kmeans_plusplus(x, args.clusters, random_state=args.seed)
    init_ms = (time.perf_counter() - start) * 1e3
    # copy_x=False: the program moves the mean of the points to 0 before its clock starts, too.
    model = KMeans(args.clusters, init=centers, n_init=1, max_iter=args.iterations, tol=0, algorithm="lloyd",
                   copy_x=False)
    start = time.perf_counter()
    model.fit(x)
    lloyd_ms = (time.perf_counter() - start) * 1e3
    line = {
        "kind": "kmeans", "contestant": "scikit-learn", "dtype": args.dtype, "n": len(x), "d": x.shape[1],
        "k": args.clusters, "device": f"{platform.processor() or platform.machine()}, {os.cpu_count()} threads",
        "scikit-learn": sklearn.__version__, "status": "ok", "init": args.init, "seed": args.seed,
        "iterations": int(model.n_iter_), "runs": 1, "init_ms": init_ms, "lloyd_ms": lloyd_ms,
        "total_ms": lloyd_ms / int(model.n_iter_), "inertia": float(model.inertia_), "x_bytes": x.nbytes,
    }
    text = json.dumps(line)
    print(text)
    if args.json:
        with open(args.json, "a", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
