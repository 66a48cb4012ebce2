#!/usr/bin/env python3
"""Makes matrices that nobody has seen of matrices from files: transform_matrices.py --seed S --out FOLDER FILE...

Of each file one matrix for each transform drawn from TRANSFORMS, as NAME.TRANSFORM.mtx, patterns of at most --most entries. What is fitted to a
file may know its transposes and parts, so that these belong to the family of their file (fit_sparse_cost.py). Needs SciPy.
"""

import argparse
import pathlib
import random
import sys

import numpy as np
import scipy.io
import scipy.sparse


def leading(a, draw):
    share = draw.uniform(0.3, 0.8)
    return a[: max(int(a.shape[0] * share), 1), : max(int(a.shape[1] * share), 1)]


def some_rows(a, draw):
    numbers = np.random.default_rng(draw.randrange(1 << 30))
    return a[np.flatnonzero(numbers.random(a.shape[0]) < draw.uniform(0.2, 0.7))]


def shuffled(a, draw):
    numbers = np.random.default_rng(draw.randrange(1 << 30))
    return a[numbers.permutation(a.shape[0])][:, numbers.permutation(a.shape[1])]


def squared(a, _):
    product = a @ (a if a.shape[0] == a.shape[1] else a.T)
    product.data[:] = 1
    return product


def kronecker(a, draw):
    side = draw.choice((2, 3))
    small = np.ones((side, side)) if draw.random() < 0.5 else np.eye(side) + np.eye(side, k=1)
    return scipy.sparse.kron(a, small)


TRANSFORMS = {"transposed": lambda a, _: a.T, "leading": leading, "rows": some_rows, "shuffled": shuffled, "squared": squared,
              "kronecker": kronecker}


def squared_entries(a):
    """An upper bound, so that no product is begun that does not fit."""
    other = a if a.shape[0] == a.shape[1] else a.T.tocsr()
    return int(np.diff(other.indptr)[a.indices].sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--least", type=float, default=1e3)
    parser.add_argument("--most", type=float, default=2e7)
    parser.add_argument("--count", type=int, default=len(TRANSFORMS), help="transforms of a file, drawn")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for file in arguments.files:
        a = scipy.sparse.csr_matrix(scipy.io.mmread(file))
        a.data = np.ones(len(a.data))
        order = random.Random(f"{arguments.seed} {file.name}")
        for name in order.sample(list(TRANSFORMS), arguments.count):
            draw = random.Random(f"{arguments.seed} {file.name} {name}")
            if name == "squared" and squared_entries(a) > 5 * arguments.most:
                continue
            made = scipy.sparse.csr_matrix(TRANSFORMS[name](a, draw))
            if not arguments.least <= made.nnz <= arguments.most:
                continue
            target = arguments.out / f"{file.name.split('.')[0]}.{name}.mtx"
            scipy.io.mmwrite(target, made.astype(np.int8), field="pattern", symmetry="general")
    return 0


if __name__ == "__main__":
    sys.exit(main())
