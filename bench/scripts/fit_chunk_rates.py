#!/usr/bin/env python3
"""Fits the rates of the CPU's shapes: fit_chunk_rates.py FILE... [--report]

FILEs are lines of `lanky batch --device cpu --tune`: the trials of `lanky / tuned` are the times of all candidates of a plan,
as ratios of its own choice's. Rates are nanoseconds of one thread for each term of sparse/cpu/chunk_cost.hpp, at least 0, of the least squares
of relative errors; a time that threads shared counts twice. Matrices of the families that fit_sparse_cost.py validates by are
reported on and not fitted to. --report writes nothing. Needs NumPy and SciPy.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
from scipy.optimize import nnls

from fit_cost import geometric_mean, text_of
from fit_sparse_cost import MATRICES, drawn, family_of
from jsonl import ROOT

PROGRAM = ROOT / "build/cpu/bin/lanky_chunk_terms"
TABLE = ROOT / "sparse/cpu/chunk_rates.hpp"
SHARED_US = 32  # one thread's time from which on threads share a product, as worth_waking() had it on the EPYC of the files


class Case:
    """A matrix of one type, and the time of each shape in microseconds."""

    def __init__(self, auto, tuned, family):
        self.source, self.dtype, self.family = auto["source"], auto["dtype"], family
        self.times = {trial["shape"]: trial["ratio"] * auto["warm_us"] for trial in tuned["trials"]}
        self.terms = {}

    def fitted(self):
        return drawn(self.family, 5) < 3


def read_cases(files, classes):
    pairs = {}
    for path in files:
        for text in text_of(path).splitlines():
            line = json.loads(text)
            if line["kind"] == "spmv" and line["contestant"] == "lanky" and line["status"] == "ok":
                name = pathlib.Path(line["source"]).name
                line["source"] = str(MATRICES / name) if name in classes else line["source"]
                pairs.setdefault((line["source"], line["dtype"]), {})[line["variant"]] = line
    return [Case(pair["auto"], pair["tuned"], family_of(source, classes)) for (source, _), pair in pairs.items()
            if pair.get("auto") and pair.get("tuned", {}).get("trials")]


def read_terms(cases, program):
    queries = "".join(f"{case.source} {case.dtype}\n" for case in cases)
    printed = subprocess.run([program], input=queries, capture_output=True, text=True, check=True).stdout
    for row in printed.splitlines():
        number, shape, _, *terms = row.split("\t")
        cases[int(number)].terms[shape] = np.array(terms, dtype=float)


def fit(cases, weights):
    rows, times = [], []
    for case in cases:
        for shape, us in case.times.items():
            one_thread = us * (2 if weights[id(case)] else 1)
            rows.append(case.terms[shape] * 1e-3 / one_thread)
            times.append(1.0)
    rows = np.array(rows)
    scale = rows.max(axis=0)
    found, _ = nnls(rows / scale, np.array(times))
    return found / scale


def report(name, cases, rates):
    regrets = []
    for case in cases:
        predicted = {shape: float(case.terms[shape] @ rates) for shape in case.times}
        best = min(predicted, key=predicted.get)
        regrets.append(case.times[best] / min(case.times.values()))
    if regrets:
        print(f"{name}: {len(regrets)} cases, regret {geometric_mean(regrets):.3f}, worst {max(regrets):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    with open(MATRICES / "MANIFEST.csv") as manifest:
        classes = {row["file"]: row["class"] for row in csv.DictReader(manifest)}
    cases = read_cases(arguments.files, classes)
    read_terms(cases, arguments.program)
    cases = [case for case in cases if set(case.times) <= set(case.terms)]
    shared = {id(case): min(case.times.values()) > SHARED_US / 2 for case in cases}
    fitted = [case for case in cases if case.fitted()]
    if not fitted and not arguments.report:
        parser.error("the files hold no matrix to fit to")
    committed = np.array([float(rate) for rate in re.findall(r"^ +([0-9.e+-]+), +//", TABLE.read_text(), re.MULTILINE)])
    rates = fit(fitted, shared) if fitted else committed
    for name, group in (("fit", fitted), ("validation", [case for case in cases if not case.fitted()])):
        report(f"{name}, committed rates", group, committed)
        report(f"{name}, these rates", group, rates)
    print(" ".join(f"{rate:.4g}" for rate in rates))
    if not arguments.report:
        values = iter(rates)
        TABLE.write_text(re.sub(r"^( +)[0-9.e+-]+(, +//)", lambda found: f"{found[1]}{next(values):.4g}{found[2]}",
                                TABLE.read_text(), flags=re.MULTILINE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
