#!/usr/bin/env python3
"""Draws what lanky_sparse_trials is to measure, for fits of costs: draw_sparse_trials.py --seed S --count N [FILE...] > LINES

N matrices of random generators, of --least to --most entries, and the given files; each in f64, f32 and f16. Of the candidates
that a plan has (`lanky_sparse_terms`) these are drawn: the plan's choice first, some that `tune` would measure, some of those
that the rates fitted so far predict to be fastest, no two alike in everything but the size of windows, and some at random of
those that are predicted to take up to SLOW times as long. FILE's folder is replaced by --folder, where the lines are to be
run. Equal arguments, committed files and programs give equal lines.
"""

import argparse
import math
import pathlib
import random
import re
import sys

import numpy as np

import fit_sparse_cost
from fit_sparse_cost import KERNELS, ROOT

NEAR, FASTEST, ANY = 4, 9, 8
SLOW = 3
TYPES = ("f64", "f32", "f16")


def drawn_matrix(draw, least, most):
    """A spec of io::generate, of about so many entries."""
    entries = math.exp(draw.uniform(math.log(least), math.log(most)))
    span = f",span={round(math.exp(draw.uniform(5, 9)))}" if draw.random() < 0.5 else ""
    seed = f",seed={draw.randrange(1, 1000)}"
    wide = math.exp(draw.choice((0, 0, draw.uniform(-2, 2))))  # columns for each row

    def rows(per_row):
        return max(round(entries / per_row), 2)

    def cols(per_row, least=1):
        return max(round(rows(per_row) * wide), least)

    kind = draw.choice(("stencil", "fem", "mesh", "band", "banded", "uniform", "short", "mixed", "huge", "empty", "rmat",
                        "pareto", "pareto", "pareto", "dense", "diagonal"))
    mean, tail, hubs = draw.randint(3, 60), draw.randint(5, 49), draw.choice((0, draw.randint(10, 60)))
    if kind == "stencil":
        return draw.choice((f"stencil5:{round((entries / 5) ** 0.5)}", f"stencil7:{round((entries / 7) ** (1 / 3))}",
                            f"stencil27:{round((entries / 27) ** (1 / 3))}"))
    if kind == "dense":
        return f"dense:{round((entries / wide) ** 0.5)}:{round((entries * wide) ** 0.5)}"
    if kind == "diagonal":
        return f"diagonal:{round(entries)}"
    if kind == "fem":
        return f"fem:{max(round((entries / 243) ** (1 / 3)), 2)}"
    if kind == "mesh":
        unknowns = draw.choice((1, 3))
        return f"mesh:{rows(19.7 * unknowns ** 2)}:{unknowns}{seed}"
    if kind == "band":
        return f"band:{rows(mean)}:{round(math.exp(draw.uniform(5, 9)))}:{mean}{seed}"
    if kind == "banded":
        return f"banded:{rows(2 * (mean // 4) + 1)}:{mean // 4}"
    if kind == "uniform":
        return f"uniform:{rows(mean)}:{mean}:{cols(mean, mean)}{seed}"
    if kind == "short":
        length = draw.randint(0, 4)
        return f"short:{rows(length or 2.5)}:{length}:{cols(length or 2.5, 4)}{span}{seed}"
    if kind == "mixed":
        return f"mixed:{rows(mean)}:{2 * mean}:{cols(mean, 2 * mean)}{span}{seed}"
    if kind == "huge":
        count = draw.randint(1, 16)
        return f"huge:{rows(count / 2 + 2.5)}:{count}{span}{seed}"
    if kind == "empty":
        percent = draw.randint(40, 95)
        return f"empty:{rows(8.5 * (100 - percent) / 100)}:{percent}{span}{seed}"
    if kind == "rmat":
        return f"rmat:{max(round(math.log2(entries / mean)), 4)}:{mean}{seed}"
    least = max(round(mean * (1 - 2 * tail / 100) / 1.5 / (1 - tail / 100)), 1)
    return f"pareto:{rows(mean)}:{least}:{tail}:{cols(mean, 8)}:{hubs}{seed}"


def committed_rates(program, terms):
    """(names of terms, rates) of sparse/cost_table.hpp, in all their digits."""
    cases = fit_sparse_cost.cases_of_files(fit_sparse_cost.COMMITTED, fit_sparse_cost.MATRICES)
    names = fit_sparse_cost.read_terms(cases, program, terms)
    points = fit_sparse_cost.Points([case for case in cases if case.fitted()], names)
    return names, fit_sparse_cost.Fit(names).rates(points)


class Shapes:
    """The shapes that lanky_sparse_terms names for a line, and the times that rates predict for them."""

    def __init__(self, rows, names, rates):
        times = {}
        for _, shape, kernel, weight, *terms in rows:
            own = np.exp(rates[0] + rates[1 + KERNELS.index(kernel)])
            parts = float(weight) * np.array(terms, dtype=float) * own
            times[shape] = times.get(shape, 0) + float(fit_sparse_cost.times_of(parts, names.index("lines")))
        self.times = times

    def fastest_first(self):
        return sorted(self.times, key=self.times.get)


def but_window(shape):
    return re.sub(" (window|rows) [0-9]+", "", shape)


def drawn_shapes(near, every, draw):
    chosen, *others = near.times
    found = [chosen, *draw.sample(others, min(NEAR, len(others)))]
    order = every.fastest_first()
    seen = {}
    for shape in order:
        kind = but_window(shape)
        if shape not in found and seen.get(kind, 0) < 2:
            seen[kind] = seen.get(kind, 0) + 1
            found.append(shape)
        if len(found) == 1 + NEAR + FASTEST:
            break
    rest = [shape for shape in order if shape not in found and every.times[shape] < SLOW * every.times[order[0]]]
    return found + draw.sample(rest, min(ANY, len(rest)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--least", type=float, default=1e4)
    parser.add_argument("--most", type=float, default=3e7)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/carry/matrices"))
    parser.add_argument("--chip", default="H200")
    parser.add_argument("--program", default=fit_sparse_cost.PROGRAM)
    parser.add_argument("--terms", type=pathlib.Path, help="as fit_sparse_cost.py has it")
    arguments = parser.parse_args()
    names, rates = committed_rates(arguments.program, arguments.terms)
    draw = random.Random(arguments.seed)
    sources = [*map(str, arguments.files), *(drawn_matrix(draw, arguments.least, arguments.most) for _ in range(arguments.count))]
    for source in sources:
        queries = [f"{source} {arguments.chip} {dtype} {asked}" for dtype in TYPES for asked in ("near", "candidates")]
        rows = [row.split("\t") for row in
                fit_sparse_cost.terms_of(arguments.program, queries).splitlines()[1:]]
        found = [Shapes([row for row in rows if int(row[0]) == i], names, rates) for i in range(len(queries))]
        there = arguments.folder / pathlib.Path(source).name if ".mtx" in source else source
        for i, dtype in enumerate(TYPES):
            print(there, dtype, ";".join(drawn_shapes(found[2 * i], found[2 * i + 1], draw)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
