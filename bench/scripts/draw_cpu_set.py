#!/usr/bin/env python3
"""Draws the matrices that sparse products on the CPU are measured on: draw_cpu_set.py fit|validation [--count N] [--seed S]

Prints N specs of random generators, of --least to --most entries, then the files of --matrices, relative to the repository. The set takes the families
(the generator, or the class in MANIFEST.csv) that fit_sparse_cost.py fits to, or those that it validates by: they share none.
Equal arguments give equal lines.
"""

import argparse
import csv
import os
import pathlib
import random
import sys

from draw_sparse_trials import drawn_matrix
from fit_sparse_cost import MATRICES, drawn, family_of
from jsonl import ROOT


def in_set(family, name):
    return (drawn(family, 5) < 3) == (name == "fit")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=("fit", "validation"))
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=35)
    parser.add_argument("--least", type=float, default=1e4)
    parser.add_argument("--most", type=float, default=1e7)
    parser.add_argument("--matrices", type=pathlib.Path, default=MATRICES)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    found = 0
    while found < arguments.count:
        spec = drawn_matrix(draw, arguments.least, arguments.most)
        if in_set(family_of(spec, {}), arguments.set):
            print(spec)
            found += 1
    with open(arguments.matrices / "MANIFEST.csv") as manifest:
        for row in csv.DictReader(manifest):
            if in_set(family_of(row["file"], {row["file"]: row["class"]}), arguments.set):
                print(os.path.relpath(arguments.matrices / row["file"], ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
