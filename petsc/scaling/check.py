#!/usr/bin/env python3
"""Checks the model of scaling on the cores of this machine, which all ranks share: the ranks' kernels alone and messages
between two ranks are measured, MatMult and conjugate gradients on 1 to 16 ranks are predicted from them, then measured.

    check.py OUT.jsonl --bin build/dev/bin [--rounds 5]

Nothing is fitted to runs of more than two ranks. Memory that other virtual machines share is up to twice as slow in some
minutes as in others, so that each round compares a prediction from kernels of the seconds before with a measurement; the
round whose error is the median of all is told, the least and the largest error beside it.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import time

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
MOST_OF_OTHERS = 0.03  # of a core: a run during which others worked more is run again


def others_seconds():
    """What all processes have used of the cores, those that this one has started aside. (A process that ends leaves its
    time to its parent.)"""
    parents, ticks = {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
        pid = int(path.parent.name)
        parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    own = os.getpid()

    def is_own(pid):
        while pid not in (own, 0):
            pid = parents.get(pid, 0)
        return pid == own

    return sum(many for pid, many in ticks.items() if not is_own(pid)) / os.sysconf("SC_CLK_TCK")


class Runner:
    """Runs lanky_petsc_check on some ranks, each run while nobody else works; what it tells is a median of batches."""

    def __init__(self, program, options):
        self.program, self.options = program, options
        self.environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"}
        self.repeated = 0

    def run(self, ranks, words, one_core=False):
        binding = ["--bind-to", "core"] if ranks <= CORES and not one_core else ["--bind-to", "none"]
        command = (["taskset", "-c", "0"] if one_core else []) + ["mpirun", "--oversubscribe", *binding, "-n", str(ranks),
                                                                 str(self.program), *words, *self.options]
        while True:
            self.wait_for_quiet()
            others, start = others_seconds(), time.monotonic()
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"check.py: {' '.join(command)}\n{done.stderr}")
            if others_seconds() - others <= MOST_OF_OTHERS * (time.monotonic() - start) + 0.05:
                return json.loads(done.stdout)
            self.repeated += 1

    @staticmethod
    def wait_for_quiet():
        while True:
            before = others_seconds()
            time.sleep(0.3)
            if others_seconds() - before <= 0.02:
                return


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


def box_of(case, ranks):
    points = CASES[case](ranks)
    return Box(points, process_grid(ranks, points))


def measure_round(runner):
    """One line for each message table, case and number of ranks, with the time of both."""
    apart, together = runner.run(2, ["-ping_pong"]), runner.run(2, ["-ping_pong"], one_core=True)
    for name, table in (("two cores", apart), ("one core", together)):
        yield {"kind": "scaling_check_messages", "measured": True, "ranks_on": name, **table}
    for case in CASES:
        for ranks in RANKS:
            box = box_of(case, ranks)
            words = ["-points", ",".join(map(str, box.points)), "-grid", ",".join(map(str, box.grid))]
            kernels = runner.run(min(ranks, CORES), ["-kernels", *words])
            run = runner.run(ranks, words)
            for what, predicted in zip(("matmult", "cg"), predict(box, kernels, apart, together)):
                yield {"kind": "scaling_check_round", "case": case, "what": what, "ranks": ranks, "points": list(box.points),
                       "grid": list(box.grid), "stencil": 27, "mat_type": run["mat_type"], "cores": CORES,
                       "measured_us": run[f"{what}_us"], "predicted_us": round(predicted, 2),
                       "error": round(predicted / run[f"{what}_us"] - 1, 4), "kernels": kernels}


def verdicts(lines):
    """The round in the middle of each case, number of ranks and what was run."""
    groups = {}
    for line in lines:
        if line["kind"] == "scaling_check_round":
            groups.setdefault((line["case"], line["ranks"], line["what"]), []).append(line)
    for rounds in groups.values():
        rounds = sorted(rounds, key=lambda line: line["error"])
        middle = rounds[len(rounds) // 2]
        yield {**middle, "kind": "scaling_check", "rounds": len(rounds), "least_error": rounds[0]["error"],
               "largest_error": rounds[-1]["error"], "within": abs(middle["error"]) <= TOLERANCE}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out")
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--options", default="", help="further options of PETSc, say '-mat_type aijlanky'")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    environment = env_line(mpi="Open MPI, shared memory", petsc_options=options.options, rounds=options.rounds, load=load)
    runner = Runner(options.bin / "lanky_petsc_check", ["-batches", str(options.batches), *options.options.split()])
    lines = []
    for done in range(options.rounds):
        lines += measure_round(runner)
        print(f"round {done + 1} of {options.rounds}, {runner.repeated} runs repeated", file=sys.stderr)
    with open(options.out, "w", encoding="utf-8") as file:
        for line in ({**environment, "repeated_runs": runner.repeated}, *lines, *verdicts(lines)):
            print(json.dumps(line), file=file)
            if line["kind"] == "scaling_check":
                print(f"{line['case']:26} {line['what']:8} {line['ranks']:3} ranks: measured {line['measured_us']:9.1f} us, "
                      f"predicted {line['predicted_us']:9.1f} us, {100 * line['error']:+6.1f} % "
                      f"({100 * line['least_error']:+.1f} to {100 * line['largest_error']:+.1f})")


if __name__ == "__main__":
    main()
