#!/usr/bin/env python3
"""Writes dense/measured_choices.jsonl: what costs cannot know. measured_choices.py [--check] [--program P]

cuBLASLt's heuristic does not always name its fastest algorithm first. Of the products of bench/results/h200/gemm_*.jsonl
(the core grid), a row is kept for each class whose fastest way is another algorithm of cuBLASLt, by more than 3 % ahead
of what a plan would choose: the heuristic's first, as measured, or the cheapest of lanky's own, as measured or else as
predicted. Its fields "us" and "instead_us" are these two times. --check writes nothing, and fails where the file is not
what the results give: a row that no longer pays is to go.
"""

import argparse
import json
import re
import sys

import fit_cost
from jsonl import ROOT, device_us

FILE = ROOT / "dense/measured_choices.jsonl"
RESULTS = [ROOT / f"bench/results/h200/gemm_{family}.jsonl" for family in ("panel", "update", "gram", "syrk")]
PAYS = 1.03
HEAD = {"format": "lanky gemm tuning 3"}


def instead_of(case):
    """What a plan would take without a row, in microseconds."""
    times = [device_us(line) for line in case.lines if line["variant"] == "gemmex"]
    for candidate in case.candidates:
        if candidate.name() != "vendor":
            times.append(candidate.measured or candidate.predicted)
    return min(times)


def rows(cases):
    """{class: row}; where products of a class differ, the one that gains most has it."""
    found = {}
    for case in cases:
        best = next((line for line in case.lines if (line["contestant"], line["variant"]) == ("cublaslt", "best")), None)
        algorithm = best and re.match(r"algorithm ([^,;]+)", best["kernel"] or "")
        if not algorithm:
            continue
        us, instead = device_us(best), instead_of(case)
        if instead <= PAYS * us:
            continue
        row = {"class": case.product_class, "kernel": "vendor", "algorithm": algorithm[1], "us": f"{us:.4g}",
               "instead_us": f"{instead:.4g}"}
        known = found.get(case.product_class)
        if known is None or instead / us > float(known["instead_us"]) / float(known["us"]):
            found[case.product_class] = row
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--program", default=fit_cost.PROGRAM)
    arguments = parser.parse_args()
    found = rows([case for path in RESULTS for case in fit_cost.cases_of(path, arguments.program)])
    wanted = "".join(json.dumps(row) + "\n" for row in [HEAD, *(found[key] for key in sorted(found))])
    if not arguments.check:
        FILE.write_text(wanted, encoding="utf-8")
    same = FILE.read_text(encoding="utf-8") == wanted
    print(f"{FILE.relative_to(ROOT)}: {len(found)} rows" +
          ("" if same else " pay, the file has others; run bench/scripts/measured_choices.py"))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
