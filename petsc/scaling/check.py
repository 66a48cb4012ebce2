#!/usr/bin/env python3
"""Checks the model of scaling on the cores of this machine, which all ranks share: the ranks' kernels alone and messages
between two ranks are measured, MatMult and conjugate gradients on 1 to 16 ranks are predicted from them, then measured.

    check.py OUT.jsonl --bin build/dev/bin [--rounds 4]

Nothing is fitted to runs of more than two ranks. Each figure is the least of `rounds` medians: a machine that other
virtual machines share takes up to twice the time in bad seconds.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys

from environment import env_line
from messages import Box, process_grid

RANKS = (1, 2, 4, 8, 16)
CORES = 2
REDUCTIONS = 3  # of an iteration of KSPCG: (p, A p), the norm of z, (z, r)
# (name, points of the whole box for so many ranks)
CASES = {
    "weak, 64^3 points a rank": lambda ranks: tuple(64 * g for g in process_grid(ranks, (1, 1, 1))),
    "strong, 128^3 points": lambda ranks: (128, 128, 128),
    "weak, 16^3 points a rank": lambda ranks: tuple(16 * g for g in process_grid(ranks, (1, 1, 1))),
}
TOLERANCE = 0.15


class Runner:
    """Runs lanky_petsc_check on some ranks; keeps the least of each figure over the rounds."""

    def __init__(self, program, options):
        self.program, self.options = program, options
        self.least = {}
        self.environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"}

    def run(self, key, ranks, words, one_core=False):
        binding = ["--bind-to", "core"] if ranks <= CORES and not one_core else ["--bind-to", "none"]
        command = (["taskset", "-c", "0"] if one_core else []) + ["mpirun", "--oversubscribe", *binding, "-n", str(ranks),
                                                                 str(self.program), *words, *self.options]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"check.py: {' '.join(command)}\n{done.stderr}")
        line = json.loads(done.stdout)
        kept = self.least.setdefault(key, line)
        for name, value in line.items():
            if name.endswith("_us"):
                kept[name] = list(map(min, kept[name], value)) if isinstance(value, list) else min(kept[name], value)


def one_way(table, size):
    """Microseconds of a message of `size` bytes, between the measured sizes on a straight line."""
    sizes, times = table["bytes"], table["one_way_us"]
    if size <= sizes[0]:
        return times[0]
    for k in range(1, len(sizes)):
        if size <= sizes[k] or k == len(sizes) - 1:
            slope = (times[k] - times[k - 1]) / (sizes[k] - sizes[k - 1])
            return times[k - 1] + (size - sizes[k - 1]) * slope


def predict(box, kernels, apart, together):
    """(MatMult, an iteration) in microseconds. apart and together: messages between two cores, and on one.

    A core is never idle while one of its ranks has work, so that the work of the ranks that share it adds up. A message
    costs what it takes from one core to another, half of that on either side. Where ranks share a core, every exchange and
    every step of a reduction hands the core from rank to rank, which costs what a message takes longer on one core.
    """
    ranks = [box.rank(r) for r in range(box.ranks)]
    cores = min(len(ranks), CORES)
    on_core = len(ranks) / cores
    switch = one_way(together, 8) - one_way(apart, 8) if on_core > 1 else 0
    exchange = [sum(one_way(apart, 8 * count) for count in rank.receives.values()) for rank in ranks]
    messages = on_core * switch + (sum(exchange) / cores if on_core > 1 else max(exchange))
    reductions = on_core * REDUCTIONS * math.log2(len(ranks)) * (one_way(apart, 8) + switch)
    product = kernels["product_us"] + messages
    iteration = sum(kernels[f"{part}_us"] for part in ("diagonal", "off_diagonal", "vectors")) + messages + reductions
    return product, iteration


def lines_of(runner):
    apart, together = runner.least["apart"], runner.least["together"]
    for name, table in (("two cores", apart), ("one core", together)):
        yield {"kind": "scaling_check_messages", "measured": True, "ranks_on": name, **table}
    for case, points in CASES.items():
        for ranks in RANKS:
            box = Box(points(ranks), process_grid(ranks, points(ranks)))
            kernels, run = runner.least[case, ranks, "kernels"], runner.least[case, ranks, "run"]
            for name, predicted in zip(("matmult", "cg"), predict(box, kernels, apart, together)):
                measured = run[f"{name}_us"]
                error = predicted / measured - 1
                yield {"kind": "scaling_check", "case": case, "what": name, "ranks": ranks, "points": list(box.points),
                       "grid": list(box.grid), "stencil": 27, "mat_type": run["mat_type"], "cores": CORES,
                       "measured_us": measured, "predicted_us": round(predicted, 2), "error": round(error, 4),
                       "within": abs(error) <= TOLERANCE, "kernels": kernels}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out")
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--options", default="", help="further options of PETSc, say '-mat_type aijlanky'")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    environment = env_line(mpi="Open MPI, shared memory", petsc_options=options.options, rounds=options.rounds, load=load)
    runner = Runner(options.bin / "lanky_petsc_check", ["-batches", str(options.batches), *options.options.split()])
    for done in range(options.rounds):
        runner.run("apart", 2, ["-ping_pong"])
        runner.run("together", 2, ["-ping_pong"], one_core=True)
        for case, points in CASES.items():
            for ranks in RANKS:
                box = Box(points(ranks), process_grid(ranks, points(ranks)))
                words = ["-points", ",".join(map(str, box.points)), "-grid", ",".join(map(str, box.grid))]
                runner.run((case, ranks, "kernels"), min(ranks, CORES), ["-kernels", *words])
                runner.run((case, ranks, "run"), ranks, words)
        print(f"round {done + 1} of {options.rounds}", file=sys.stderr)
    with open(options.out, "w", encoding="utf-8") as file:
        for line in (environment, *lines_of(runner)):
            print(json.dumps(line), file=file)
            if line["kind"] == "scaling_check":
                print(f"{line['case']:26} {line['what']:8} {line['ranks']:3} ranks: measured {line['measured_us']:9.1f} us, "
                      f"predicted {line['predicted_us']:9.1f} us, {100 * line['error']:+.1f} %")


if __name__ == "__main__":
    main()
