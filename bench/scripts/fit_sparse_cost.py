#!/usr/bin/env python3
"""Fits the rates of the cost of sparse shapes and writes sparse/cost_table.hpp: fit_sparse_cost.py [FILE...]

FILE: lines of `lanky_sparse_trials`, plain or .xz; default: the committed files of both cards. `lanky_sparse_terms` tells
what each shape asks of the machine (sparse/cost.hpp). The time of a shape is the sum of all terms but `lines`, by the rates of
its kernel, or the time that lines of the L1 wait meanwhile, if that is longer.

Families of matrices (the class in MANIFEST.csv, or the generator) are fitted to or validated by a hash of their
names, never by a matrix. Regrets, the time of the shape of least predicted time among those that a plan could choose over
the least time of all, each beside that of the shape that the plan chose when the trials were run: of fit families by rates
fitted to the other fit families (cross), by rates fitted to all of them (fit), and of validation families by these.

--report writes nothing. --judge FILE... reports on these files by the rates of FILE's, all families of them. Needs NumPy and
SciPy (Debian: python3-scipy).
"""

import argparse
import collections
import csv
import hashlib
import json
import math
import pathlib
import re
import subprocess
import sys
import textwrap

import numpy as np
from scipy.optimize import least_squares

from fit_cost import geometric_mean, heading, percentile, text_of
from jsonl import ROOT

PROGRAM = ROOT / "build/dev/bin/lanky_sparse_terms"
TABLE = ROOT / "sparse/cost_table.hpp"
MATRICES = ROOT.parent / "shared/matrices"
COMMITTED = [ROOT / f"bench/results/{name}.raw.jsonl.xz"
             for name in ("h200/spmv_shapes", "h100/spmv_shapes", "h200/spmv_shapes2", "h200/spmv_shapes3",
                          "h100/spmv_shapes3", "h200/spmv_shapes4", "h200/spmv_shapes5", "h100/spmv_shapes6",
                          "h200/spmv_shapes7", "h200/spmv_shapes8", "h200/spmv_shapes9", "h200/spmv_shapes10")]
CHIPS = ("H200", "H100")
KERNELS = ("few", "deep", "narrow", "wide", "hot")
PARTS = 5  # of the fit families, each left out once
LINES_POWER = 4  # of the mean in us_of(), sparse/cost.cpp
TINY = 1e-30


def drawn(text, parts):
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % parts


def family_of(source, classes):
    """The class of a file, or of the file that transform_matrices.py made it of; the generator, irregular ones by places."""
    name = pathlib.Path(source).name
    name = next((file for file in classes if file.split(".")[0] == name.split(".")[0]), name) if ".mtx" in name else name
    if name in classes:
        return classes[name].split(" (")[0].split("/")[0].strip()
    if source.startswith("irregular:"):
        near = re.search(",near=([0-9]+)", source)
        return f"irregular, near {near[1] if near else 0}" + (", hubs" if ",hubs=" in source else "")
    return source.split(":")[0]


class Case:
    """A matrix of one type on one card: shapes and their times, the plan's choice of its time first."""

    def __init__(self, chip, source, family, dtype, trials):
        self.chip, self.source, self.family, self.dtype = chip, source, family, dtype
        self.shapes = [trial["shape"] for trial in trials]
        self.times = np.array([trial["us"] for trial in trials])
        self.terms = [None] * len(trials)  # {kernel: (weight, terms)} of each
        self.single = ""  # the shape that a plan could choose for a small matrix

    def query(self, asked):
        return f"{self.source} {self.chip} {self.dtype} {asked}"

    def origin(self):
        return "files" if ".mtx" in self.source else "generated"

    def fitted(self):
        return drawn(self.family, 5) < 3

    def choosable(self):
        """Shapes like those that plans choose from: all but those of small matrices, and one of these."""
        return [shape == self.single or not shape.startswith("lane 1 ") or " hot 0 " not in shape for shape in self.shapes]


def cases_of(path, matrices, classes):
    chip, cases = "", []
    for text in text_of(path).splitlines():
        line = json.loads(text)
        if line["kind"] == "env":
            chip = next(name for name in CHIPS if name in line["gpu"])
        elif line["kind"] == "spmv_trials":
            name = pathlib.Path(line["source"]).name
            source = str(matrices / name) if name in classes else line["source"]
            trials = [trial for trial in line["trials"] if trial.get("us")]
            if trials:
                cases.append(Case(chip, source, family_of(source, classes), line["dtype"], trials))
    return cases


def read_terms(cases, program, kept):
    """Gives each case the terms of its shapes; from the file `kept`, where it exists. Returns their names."""
    queries = list(dict.fromkeys(query for case in cases for query in (case.query(";".join(case.shapes)), case.query("single"))))
    if kept and kept.exists():
        text = kept.read_text()
    else:
        text = terms_of(program, queries)
        if kept:
            kept.write_text(text)
    names, *rows = (row.split("\t") for row in text.splitlines())
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    for number, shape, kernel, weight, *terms in rows:
        found[queries[int(number)]][shape][kernel] = float(weight), tuple(map(float, terms))
    for case in cases:
        own = found[case.query(";".join(case.shapes))]
        case.terms = [own[shape] for shape in case.shapes]
        case.single = next(iter(found[case.query("single")]), "")
    return names[4:]


def terms_of(program, queries):
    asked = "".join(query + "\n" for query in queries)
    return subprocess.run([program], input=asked, capture_output=True, text=True, check=True).stdout


def times_of(parts, lines):
    """The times of which these are the parts, along the last axis. The part at `lines` goes on while the others follow one another."""
    waits = parts[..., lines]
    return ((parts.sum(axis=-1) - waits) ** LINES_POWER + waits**LINES_POWER) ** (1 / LINES_POWER)


class Points:
    """Candidates of cases as arrays."""

    def __init__(self, cases, names):
        rows = [(i, case, j) for i, case in enumerate(cases) for j in range(len(case.shapes))]
        self.lines = names.index("lines")
        self.case = np.array([i for i, _, _ in rows])
        self.choosable = np.concatenate([case.choosable() for case in cases])
        self.times = np.array([case.times[j] for _, case, j in rows])
        self.best = np.array([case.times.min() for _, case, _ in rows])
        self.terms = np.zeros((len(KERNELS), len(rows), len(names)))  # weighted
        for row, (_, case, j) in enumerate(rows):
            for kernel, (weight, terms) in case.terms[j].items():
                self.terms[KERNELS.index(kernel), row] = weight * np.array(terms)

    def predict(self, rates):
        return sum(time for time, _ in self.of_kernels(rates))

    def of_kernels(self, rates):
        """(times, slopes by the logarithm of each rate) of each kernel; zeros where another kernel runs."""
        for terms, own in zip(self.terms, rates[1:]):
            parts = terms * np.exp(rates[0] + own)
            times = times_of(parts, self.lines)
            least = np.maximum(times, TINY)
            waits = parts[:, self.lines]
            slopes = parts * (((parts.sum(axis=1) - waits) / least) ** (LINES_POWER - 1))[:, None]
            slopes[:, self.lines] = waits * (waits / least) ** (LINES_POWER - 1)
            yield times, slopes


class Fit:
    """Logarithms of the rates that all kernels share, and of how each kernel's differ."""

    PRIOR = {"start": 1, "memory": 1, "memory_last": 0.1, "bytes_uneven": 0.3, "l2": 1, "streams": 0.3,
             "further_rounds": 0.3, "windows": 0.01, "rows": 8, "steps": 1, "longest_turn": 1, "slice_starts": 0.1,
             "sectors": 0.3, "sectors_thin": 0.15, "sectors_busiest": 0.1, "lines": 1, "loads": 4, "loads_thin": 1.5,
             "staged_loads": 4, "staged_bytes": 0.7, "copies": 0.15, "stages": 0.1, "cells": 0.06, "pieces": 6,
             "row_rounds": 0.2, "long_sums": 0.06, "chain_sums": 0.1, "split": 0.5, "split_windows": 1}
    REACH = 6      # logarithms that a rate may be from its prior
    SHARED = 0.05  # weight of a shared rate's way from the prior,
    OWN = 0.15     # and of a kernel's way from the shared one
    LEVEL = 0.3    # of an error that all candidates of a case have: no choice depends on it
    NEAR = 0.25    # candidates so much slower than the best count half
    OUTLIER = 0.15

    def __init__(self, names):
        self.names = names
        self.prior = np.log([self.PRIOR[name] for name in names])

    def rates(self, points):
        count, kernels = len(self.prior), len(KERNELS) + 1
        weight = self.NEAR / (self.NEAR + points.times / points.best - 1)
        _, case = np.unique(points.case, return_inverse=True)
        of_case = np.bincount(case, weight)
        begins = np.flatnonzero(np.diff(case, prepend=-1))
        start = np.concatenate([self.prior, np.zeros(count * (kernels - 1))])
        measured = np.log(points.times)
        pulls = np.concatenate([np.full(count, self.SHARED), np.full(count * (kernels - 1), self.OWN)])

        def centred(values):  # a case's candidates stand side by side
            weights = weight if values.ndim == 1 else weight[:, None]
            means = np.add.reduceat(values * weights, begins, axis=0)
            means /= of_case if values.ndim == 1 else of_case[:, None]
            return values - means[case]

        def residuals(x):
            errors = np.log(points.predict(x.reshape(kernels, count))) - measured
            return np.concatenate([centred(errors) * weight, self.LEVEL * errors * weight, pulls * (x - start)])

        def jacobian(x):
            times, own = zip(*points.of_kernels(x.reshape(kernels, count)))
            slopes = np.hstack([sum(own), *own]) / sum(times)[:, None]
            return np.vstack([centred(slopes) * weight[:, None], self.LEVEL * slopes * weight[:, None],
                              np.diag(pulls)])

        found = least_squares(residuals, start, jac=jacobian, loss="soft_l1", f_scale=self.OUTLIER, max_nfev=25,
                              bounds=(start - self.REACH, start + self.REACH))
        return found.x.reshape(kernels, count)


def replay(cases, points, predicted):
    """(regret by cost, regret of the plan's choice when the trials were run) of each case that has a shape to choose."""
    regrets = []
    costs = np.where(points.choosable, predicted, np.inf)
    for i, case in enumerate(cases):
        own = costs[points.case == i]
        chosen = case.times[np.argmin(own) if np.isfinite(own.min()) else 0]
        regrets.append((chosen / case.times.min(), case.times[0] / case.times.min()))
    return regrets


def report(name, cases, regrets, points, predicted):
    errors = np.abs(np.log(predicted / points.times))
    print(f"{name}: model within 25 % for {np.mean(errors < math.log(1.25)):.0%} of {len(errors)} candidates")
    for part in ("f64", "f32", "f16", "files", "generated", "all"):
        own = [regret for case, regret in zip(cases, regrets) if part in (case.dtype, case.origin(), "all")]
        if not own:
            continue
        cost, then = zip(*own)
        print(f"  {part}: {len(own)} cases, regret {geometric_mean(cost):.3f} ({geometric_mean(then):.3f}), "
              f"90th percentile {percentile(cost, 0.9):.2f} ({percentile(then, 0.9):.2f}), "
              f"worst {max(cost):.2f} ({max(then):.2f})")


def by_family(cases, regrets):
    groups = collections.defaultdict(list)
    for case, regret in zip(cases, regrets):
        groups[case.family].append(regret)
    for family, values in sorted(groups.items(), key=lambda group: -len(group[1])):
        cost, then = zip(*values)
        print(f"    {family}: {len(values)} cases, {geometric_mean(cost):.3f} ({geometric_mean(then):.3f})")


def cross(fit, cases):
    """Predictions for cases of each part of the families by rates of the others."""
    points = Points(cases, fit.names)
    predicted = np.ones(len(points.times))
    part = np.array([drawn("fold" + case.family, PARTS) for case in cases])[points.case]
    for left_out in sorted(set(part)):
        others = Points([case for case in cases if drawn("fold" + case.family, PARTS) != left_out], fit.names)
        predicted[part == left_out] = points.predict(fit.rates(others))[part == left_out]
    return points, predicted


def cases_of_files(files, matrices):
    with open(matrices / "MANIFEST.csv", encoding="utf-8") as manifest:
        classes = {row["file"]: row["class"] for row in csv.DictReader(manifest)}
    return [case for file in files for case in cases_of(file, matrices, classes)]


def table(names, rates, files):
    text = (heading("fit_sparse_cost.py", files) + '#include "sparse/cost.hpp"\n\nnamespace lanky::sparse {\n\n'
            "// clang-format off\n// Microseconds a unit of each term, by CostKernel.\n"
            "inline constexpr CostTerms kCostRates[] = {\n")
    for kernel, own in zip(KERNELS, rates[1:]):
        values = ", ".join(f".{name}~=~{value:.3g}" for name, value in zip(names, np.exp(rates[0] + own)))
        text += f"    // {kernel}\n" + textwrap.fill(f"{{{values}}},", 100, initial_indent="    ", subsequent_indent="     ").replace("~", " ") + "\n"
    return text + "};\n// clang-format on\n\n}  // namespace lanky::sparse\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--matrices", type=pathlib.Path, default=MATRICES, help="with MANIFEST.csv")
    parser.add_argument("--terms", type=pathlib.Path, help="what the program prints is kept there, or read again")
    parser.add_argument("--judge", type=pathlib.Path, nargs="+", metavar="FILE")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--families", action="store_true", help="regrets by family too")
    arguments = parser.parse_args()
    files = arguments.files or COMMITTED
    cases = cases_of_files(files, arguments.matrices)
    to_judge = cases_of_files(arguments.judge or [], arguments.matrices)
    names = read_terms(cases + to_judge, arguments.program, arguments.terms)
    fit = Fit(names)
    sets = []
    if to_judge:
        points = Points(to_judge, names)
        sets.append(("judged", to_judge, points, points.predict(fit.rates(Points(cases, names)))))
    else:
        fitted = [case for case in cases if case.fitted()]
        validation = [case for case in cases if not case.fitted()]
        sets.append(("cross", fitted, *cross(fit, fitted)))
        points, others = Points(fitted, names), Points(validation, names)
        rates = fit.rates(points)
        sets += [("fit", fitted, points, points.predict(rates)), ("validation", validation, others, others.predict(rates))]
    for name, group, own, costs in sets:
        regrets = replay(group, own, costs)
        report(name, group, regrets, own, costs)
        if arguments.families:
            by_family(group, regrets)
    if not to_judge and not arguments.report:
        TABLE.write_text(table(names, rates, files), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
