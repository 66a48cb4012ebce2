#!/usr/bin/env python3
"""Writes dense/measured_choices.jsonl: what costs cannot know. measured_choices.py [--check] [--program P]

Of the core grid's products, as `lanky batch` and `lanky tune --gemm core` measured them on an H200, a row is kept for
each class for which some way, lanky's or another of cuBLASLt's algorithms than its heuristic's first, takes 3 % less time
than what costs choose. Its fields "us" and "instead_us" are these two times; where a class has several products, their
geometric means. A way counts with its newest run. --check writes nothing, and fails where the file is not what the results give: a row that no
longer pays is to go.
"""

import argparse
import collections
import json
import re
import sys

import fit_cost
from jsonl import ROOT, device_us

FILE = ROOT / "dense/measured_choices.jsonl"
H200 = ROOT / "bench/results/h200"
RESULTS = [  # the newest last
    *(H200 / f"grid_{family}.raw.jsonl.xz" for family in ("panel", "update", "gram", "syrk")),
    *(H200 / f"{name}.raw.jsonl.xz" for name in ("core_ce71dfc", "regret_gemm_core", "core_e33b72a", "core_15e2e83",
                                              "regret_gemm_core2", "core_before_1650cf2", "core_1650cf2",
                                              "core_before_0d0ef14", "core_0d0ef14"))]
PAYS = 1.03
HEAD = {"format": "lanky gemm tuning 3"}


def newest(lines):
    """Microseconds in the newest run, of graphs where these were timed: kernels change, and algorithms of cuBLASLt's of one
    name have taken twice the time with another build of the program."""
    graphs = [line for line in lines if line.get("graph_us")]
    return device_us((graphs or lines)[-1])


def times_of(case):
    """{(kernel, algorithm): microseconds} of each way that was measured, by its name."""
    lines = collections.defaultdict(list)
    for line in case.lines:
        algorithm = re.match(r"(cuBLASLt \d+, )?algorithm ([^,;]+)", fit_cost.kernel_of(line))
        if algorithm:
            lines["vendor", algorithm[2]].append(line)
    lines |= {("lanky", candidate.name()): candidate.lines for candidate in case.timed() if candidate.name() != "vendor"}
    return {way: newest(own) for way, own in lines.items()}


def time_of_chosen(case, times):
    """None where what costs choose was not measured."""
    chosen = min(case.candidates, key=lambda candidate: candidate.predicted)
    return chosen.measured if chosen.name() == "vendor" else times.get(("lanky", chosen.name()))


def row_of(name, cases):
    """None where no way that all of a class's products were measured with pays."""
    times = [times_of(case) for case in cases]
    chosen = [time_of_chosen(*each) for each in zip(cases, times)]
    if not all(chosen):
        return None
    means = {way: fit_cost.geometric_mean([each[way] for each in times])
             for way in times[0] if all(way in each for each in times)}
    instead = fit_cost.geometric_mean(chosen)
    way = min(means, key=means.get, default=None)
    if way is None or instead <= PAYS * means[way]:
        return None
    return {"class": name, "kernel": way[0], "algorithm": way[1], "us": f"{means[way]:.4g}", "instead_us": f"{instead:.4g}"}


def rows(cases):
    """In the order of their classes."""
    classes = collections.defaultdict(list)
    for case in cases:
        classes[case.product_class].append(case)
    found = (row_of(name, each) for name, each in sorted(classes.items()))
    return [row for row in found if row]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--program", default=fit_cost.PROGRAM)
    arguments = parser.parse_args()
    found = rows(fit_cost.cases_of(arguments.program, *RESULTS))
    wanted = "".join(json.dumps(row) + "\n" for row in [HEAD, *found])
    if not arguments.check:
        FILE.write_text(wanted, encoding="utf-8")
    same = FILE.read_text(encoding="utf-8") == wanted
    print(f"{FILE.relative_to(ROOT)}: {len(found)} rows" +
          ("" if same else " pay, the file has others; run bench/scripts/measured_choices.py"))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
