#!/usr/bin/env python3
"""Fits rates of a cost of sparse shapes, and reports what choosing by it would have gained: fit_sparse_cost.py FILE...

FILE: lines of `lanky_sparse_trials`, or of `lanky batch` or `lanky spmv --tune` with trials, plain or .xz; default: the
committed files of both cards. `lanky_sparse_terms FROM` tells what each candidate asks of the machine: FROM is facts (what
a plan knows), locality (and a sample of columns) or packed (the packed matrix itself), so that a regret divides into what a
cost errs, what facts do not tell, and what terms do not. The time of a candidate is the sum of its terms by the rates of
its kernel.

Families of matrices (the class in MANIFEST.csv, or the generator) are fitted to or validated by a hash of their
names, never by a matrix. The plan's own choice by rules is kept unless another candidate is predicted to take less than
MARGIN of its time, and SAVED microseconds less. Regrets, each beside that of the rules: of fit families by rates fitted
to the other fit families (cross), by rates fitted to all of them (fit), and of validation families by these.

Nothing is written: plans choose by rules (sparse/policy.cpp). Needs NumPy and SciPy (Debian: python3-scipy).
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

import numpy as np
from scipy.optimize import least_squares

from fit_cost import geometric_mean, percentile, text_of
from jsonl import ROOT

PROGRAM = ROOT / "build/dev/bin/lanky_sparse_terms"
MATRICES = ROOT.parent / "shared/matrices"
COMMITTED = [ROOT / "bench/results/h100/spmv_trials.raw.jsonl.xz",
             *(ROOT / f"bench/results/{name}.raw.jsonl.xz"
               for name in ("h200/spmv_shapes", "h100/spmv_shapes", "h200/spmv_shapes2")),
             *(ROOT / f"bench/results/{card}/regret_spmv_{part}.raw.jsonl.xz" for card in ("h200", "h100")
               for part in ("fit", "validation"))]
CHIPS = ("H200", "H100")
KERNELS = ("few", "deep", "narrow", "wide", "hot")
MARGIN, SAVED = 0.95, 0.7  # of the least cross regret, by locality
TWINS = 1.25  # candidates of equal terms, packed, whose times differ by more tell of a disturbed run
PARTS = 5  # of the fit families, each left out once


def drawn(text, parts):
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % parts


def family_of(source, classes):
    name = pathlib.Path(source).name
    return classes[name].split(" (")[0].split("/")[0].strip() if name in classes else source.split(":")[0]


class Case:
    """A matrix of one type on one card: its candidates' shapes and times, the rules' choice first."""

    def __init__(self, chip, source, family, dtype, asked, shapes, times):
        self.chip, self.source, self.family, self.dtype = chip, source, family, dtype
        self.asked = asked  # as lanky_sparse_terms has it
        self.shapes, self.times = shapes, np.array(times)
        self.terms = [None] * len(shapes)  # {kernel: (weight, terms)} of each

    def query(self):
        return f"{self.source} {self.chip} {self.dtype} {self.asked}"

    def origin(self):
        return "files" if ".mtx" in self.source else "generated"

    def fitted(self):
        return drawn(self.family, 5) < 3

    def disturbed(self):
        seen = {}
        for shape, time in zip(map(self.twin_of, range(len(self.shapes))), self.times):
            first = seen.setdefault(shape, time)
            if max(first / time, time / first) > TWINS:
                return True
        return False

    def twin_of(self, number):
        return tuple(sorted((kernel, weight, *terms) for kernel, (weight, terms) in self.terms[number].items()))


def cases_of(path, matrices, classes):
    chip, autos, cases = "", {}, []

    def add(line, asked, shapes, times):
        name = pathlib.Path(line["source"]).name
        source = str(matrices / name) if name in classes else line["source"]
        cases.append(Case(chip, source, family_of(source, classes), line["dtype"], asked, shapes, times))

    for text in text_of(path).splitlines():
        line = json.loads(text)
        if line["kind"] == "env":
            chip = next(name for name in CHIPS if name in line["gpu"])
        elif line["kind"] == "spmv" and line.get("contestant") == "lanky":
            key = line["case"], line["dtype"]
            if line["variant"] == "auto":
                autos[key] = line
            elif "trials" in line and key in autos:
                trials = [trial for trial in line["trials"] if trial["path"] == "cuda"]
                add(line, "near", [trial["shape"] for trial in trials],
                    [trial["ratio"] * autos[key]["graph_us"] for trial in trials])
        elif line["kind"] == "spmv_trials":
            trials = [trial for trial in line["trials"] if "us" in trial]
            shapes = [trial["shape"] for trial in trials]
            add(line, ";".join(shapes), shapes, [trial["us"] for trial in trials])
    return cases


def old_name(shape):
    """As names of shapes were before they had all fields."""
    return re.sub(" (cost|bands) [0-9]+", "", shape)


def read_terms(cases, program, level, kept):
    """Gives each case the terms of its candidates; from the file `kept`, where it exists."""
    queries = list(dict.fromkeys(case.query() for case in cases))
    if kept and kept.exists():
        text = kept.read_text()
    else:
        text = terms_of(program, level, queries)
        if kept:
            kept.write_text(text)
    names, *rows = (row.split("\t") for row in text.splitlines())
    found = collections.defaultdict(dict)
    for number, shape, kernel, weight, *terms in rows:
        query = queries[int(number)]
        name = old_name(shape) if query.endswith(" near") else shape
        found[query, name][kernel] = float(weight), tuple(map(float, terms))
    for case in cases:
        case.terms = [found.get((case.query(), shape)) for shape in case.shapes]
    return names[4:]


def terms_of(program, level, queries):
    asked = "".join(query + "\n" for query in queries)
    return subprocess.run([program, level], input=asked, capture_output=True, text=True, check=True).stdout


class Points:
    """Candidates of cases as arrays."""

    def __init__(self, cases):
        rows = [(i, case, j) for i, case in enumerate(cases) for j in range(len(case.shapes))]
        count = len(next(iter(cases[0].terms[0].values()))[1])
        self.case = np.array([i for i, _, _ in rows])
        self.first = np.array([j == 0 for _, _, j in rows])
        self.certain = np.array([len(case.terms[j]) == 1 for _, case, j in rows])  # which kernel multiplies
        self.times = np.array([case.times[j] for _, case, j in rows])
        self.best = np.array([case.times.min() for _, case, _ in rows])
        self.terms = np.zeros((len(KERNELS), len(rows), count))  # weighted
        for row, (_, case, j) in enumerate(rows):
            for kernel, (weight, terms) in case.terms[j].items():
                self.terms[KERNELS.index(kernel), row] = weight * np.array(terms)

    def predict(self, rates):
        return sum(terms @ np.exp(rates[0] + own) for terms, own in zip(self.terms, rates[1:]))


class Fit:
    """Logarithms of the rates that all kernels share, and of how each kernel's differ."""

    PRIOR = {"start": 1, "further_rounds": 0.3, "rounds": 0.5, "steps": 1, "memory": 1, "l2": 1, "sectors": 0.3,
             "sectors_thin": 0.15, "loads": 4, "loads_thin": 1.5, "staged_loads": 4, "rows": 8, "staged_bytes": 0.7,
             "windows": 0.01, "copies": 0.15, "stages": 0.1, "split": 0.5, "cells": 0.06, "deepest": 1, "long_sums": 0.06,
             "row_rounds": 0.2, "whole_row_rounds": 0.02, "slice_starts": 0.1, "sectors_busiest": 0.1, "loads_busiest": 1,
             "chain_sums": 0.1, "split_windows": 1}
    REACH = 6      # logarithms that a rate may be from its prior
    SHARED = 0.05  # weight of a shared rate's way from the prior,
    OWN = 0.15     # and of a kernel's way from the shared one
    LEVEL = 0.3    # of an error that all candidates of a case have: no choice depends on it
    NEAR = 0.25    # candidates so much slower than the best count half
    OUTLIER = 0.05

    def __init__(self, names):
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
            rates = x.reshape(kernels, count)
            predicted = points.predict(rates)
            own = [terms * np.exp(rates[0] + rate) / predicted[:, None]
                   for terms, rate in zip(points.terms, rates[1:])]
            slopes = np.hstack([sum(own), *own])
            return np.vstack([centred(slopes) * weight[:, None], self.LEVEL * slopes * weight[:, None],
                              np.diag(pulls)])

        found = least_squares(residuals, start, jac=jacobian, loss="soft_l1", f_scale=self.OUTLIER, max_nfev=25,
                              bounds=(start - self.REACH, start + self.REACH))
        return found.x.reshape(kernels, count)


def replay(cases, points, predicted, margin=MARGIN, saved=SAVED):
    """(regret by cost, regret by rules) of each case. Besides the rules' choice, shapes whose kernel is certain are chosen:
    all_shapes() lists no others."""
    regrets = []
    costs_of_all = np.where(points.certain | points.first, predicted, np.inf)
    for i, case in enumerate(cases):
        costs = costs_of_all[points.case == i] + saved
        costs[0] = (costs[0] - saved) * margin
        chosen = case.times[np.argmin(costs)]
        regrets.append((chosen / case.times.min(), case.times[0] / case.times.min()))
    return regrets


def report(name, cases, regrets, points, predicted):
    errors = np.abs(np.log(predicted / points.times))
    print(f"{name}: model within 25 % for {np.mean(errors < math.log(1.25)):.0%} of {len(errors)} candidates")
    for part in ("f64", "f32", "f16", "files", "generated", "all"):
        own = [regret for case, regret in zip(cases, regrets) if part in (case.dtype, case.origin(), "all")]
        if not own:
            continue
        cost, rules = zip(*own)
        print(f"  {part}: {len(own)} cases, regret {geometric_mean(cost):.3f} (rules {geometric_mean(rules):.3f}), "
              f"90th percentile {percentile(cost, 0.9):.2f} ({percentile(rules, 0.9):.2f}), "
              f"worst {max(cost):.2f} ({max(rules):.2f})")


def chance(cases):
    """The mean regret that the fastest candidates would have if all were measured again: times vary as those of
    candidates that are packed alike do."""
    noise, draw, regrets = [], np.random.default_rng(0), []
    for case in cases:
        seen = {}
        for number, time in enumerate(case.times):
            first = seen.setdefault(case.twin_of(number), time)
            if first is not time:
                noise += [math.log(time / first) / math.sqrt(2), math.log(first / time) / math.sqrt(2)]
    for case in cases:
        for _ in range(20):
            again = case.times * np.exp(draw.choice(noise, len(case.times)))
            regrets.append(again[np.argmin(case.times)] / again.min())
    return geometric_mean(regrets)


def by_family(cases, regrets):
    groups = collections.defaultdict(list)
    for case, regret in zip(cases, regrets):
        groups[case.family].append(regret)
    for family, values in sorted(groups.items(), key=lambda group: -len(group[1])):
        cost, rules = zip(*values)
        print(f"    {family}: {len(values)} cases, {geometric_mean(cost):.3f} ({geometric_mean(rules):.3f})")


def cross(fit, cases):
    """Predictions for cases of each part of the families by rates of the others."""
    points = Points(cases)
    predicted = np.ones(len(points.times))
    part = np.array([drawn("fold" + case.family, PARTS) for case in cases])[points.case]
    for left_out in sorted(set(part)):
        others = Points([case for case in cases if drawn("fold" + case.family, PARTS) != left_out])
        predicted[part == left_out] = points.predict(fit.rates(others))[part == left_out]
    return points, predicted


def cases_of_files(files, matrices):
    with open(matrices / "MANIFEST.csv", encoding="utf-8") as manifest:
        classes = {row["file"]: row["class"] for row in csv.DictReader(manifest)}
    return [case for file in files for case in cases_of(file, matrices, classes)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--from", dest="level", default="facts", choices=("facts", "locality", "packed"))
    parser.add_argument("--matrices", type=pathlib.Path, default=MATRICES, help="with MANIFEST.csv")
    parser.add_argument("--terms", type=pathlib.Path, help="what the program prints is kept there, or read again")
    parser.add_argument("--margin", type=float, default=MARGIN)
    parser.add_argument("--saved", type=float, default=SAVED)
    parser.add_argument("--judge", type=pathlib.Path, nargs="+", metavar="FILE",
                        help="only report on these, by rates fitted to the other files' cases of all families")
    parser.add_argument("--families", action="store_true", help="regrets by family too")
    arguments = parser.parse_args()
    cases = cases_of_files(arguments.files or COMMITTED, arguments.matrices)
    to_judge = cases_of_files(arguments.judge or [], arguments.matrices)
    cases += to_judge
    names = read_terms(cases, arguments.program, arguments.level, arguments.terms)
    whole = [case for case in cases if all(case.terms)]
    kept = [case for case in whole if arguments.level != "packed" or not case.disturbed()]
    print(f"{len(cases)} cases; {len(cases) - len(whole)} without terms, {len(whole) - len(kept)} disturbed")
    fit = Fit(names)
    sets = []
    if to_judge:
        judged = [case for case in kept if case in to_judge]
        points = Points(judged)
        rates = fit.rates(Points([case for case in kept if case not in to_judge]))
        sets.append(("judged", judged, points, points.predict(rates)))
    else:
        fitted = [case for case in kept if case.fitted()]
        validation = [case for case in kept if not case.fitted()]
        points, predicted = cross(fit, fitted)
        sets.append(("cross", fitted, points, predicted))
        rates = fit.rates(points)
        sets.append(("fit", fitted, points, points.predict(rates)))
        others = Points(validation)
        sets.append(("validation", validation, others, others.predict(rates)))
    for name, group, own, costs in sets:
        regrets = replay(group, own, costs, arguments.margin, arguments.saved)
        report(name, group, regrets, own, costs)
        if arguments.level == "packed":
            print(f"  by chance alone: {chance(group):.3f}")
        if arguments.families:
            by_family(group, regrets)
    return 0


if __name__ == "__main__":
    sys.exit(main())
