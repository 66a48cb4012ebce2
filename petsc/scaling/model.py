#!/usr/bin/env python3
"""Predicts weak and strong scaling of MatMult and of conjugate gradients on 1 to 4096 GPUs: measured kernels of one rank,
exact messages (messages.py), and a model of the network. No line that it writes is measured.

    model.py problems > problems.txt         what lanky_petsc_kernels is to measure
    model.py predict KERNELS.jsonl OUT.jsonl

MatMult is that of MPIAIJ: pack and send what others need, multiply the diagonal block meanwhile, wait for the ghosts, add
the product of the other block:

    T = pack + wait for the pack + max(T_diagonal, T_messages) + T_off_diagonal
"""

import argparse
import collections
import functools
import json
import math
import pathlib
import sys

from environment import env_line
from messages import Box, process_grid

RANKS = tuple(1 << k for k in range(13))
COLUMNS = (1, 16)
# name: (the whole box for so many ranks, what is said of it)
CASES = {
    "weak 1e8": (lambda ranks: tuple(154 * g for g in process_grid(ranks, (1, 1, 1))), "1e8 nonzeros a card"),
    "weak 1e7": (lambda ranks: tuple(72 * g for g in process_grid(ranks, (1, 1, 1))), "1e7 nonzeros a card"),
    "strong 1e9": (lambda ranks: (336, 336, 336), "1e9 nonzeros in all"),
    "strong 2e8": (lambda ranks: (192, 192, 192), "2e8 nonzeros in all"),
}
ENTRY = 8  # bytes of a vector entry
# KSPCG without a preconditioner: what an iteration does beside MatMult.
AXPYS, DOTS, REDUCTIONS = 4, 3, 3  # two axpys, an aypx and a copy; (p, A p), |z|, (z, r)

Parameter = collections.namedtuple("Parameter", "value unit source")

# The network of a cluster of nodes with eight H200 and a ConnectX-7 for each. No figure of it was measured by us.
NETWORK = {
    "ranks_a_node": Parameter(8, "GPUs", "HGX and DGX H200: mlcommons/inference_results_v4.1, closed/NVIDIA/systems/"
                              "H200-SXM-141GBx8_TRT_MaxQ.json (accelerators_per_node)"),
    "nics_a_node": Parameter(8, "adapters", "DGX H200 has a ConnectX-7 for each GPU; the same file counts ten with those for "
                             "storage (host_network_card_count)"),
    "nvlink_gb_s": Parameter(375, "GB/s in one direction", "NVLink 4: 900 GB/s in both directions (the same file); 371 to 377 of "
                             "450 GB/s measured by p2pBandwidthLatencyTest, github.com/NVIDIA/nccl/issues/1264"),
    "nvlink_latency_us": Parameter(2.5, "us", "cuda_ipc of UCX: 2.35 us measured, github.com/openucx/ucx/issues/3740; UCX itself "
                                   "reckons with 2.5 us on Grace Hopper, github.com/openucx/ucx/pull/10257"),
    "nvlink_message_us": Parameter(4.2, "us a message", "osu_bw between two A100 over NVLink by UCX: 16 to 64 KiB take 4.1 to "
                                   "4.3 us each, 64 in flight, github.com/EESSI/software-layer/pull/716"),
    "ib_gb_s": Parameter(47, "GB/s in one direction", "NDR, 400 Gbit/s: 46 to 48 GB/s an adapter are expected, NVIDIA in "
                         "github.com/NVIDIA/nccl-tests/issues/290"),
    "ib_latency_us": Parameter(5.0, "us", "hop of the network between GPUs in NCCL's own model (hwLat, NET, tree, LL; its ring "
                               "reckons with 2.7 us), github.com/NVIDIA/nccl, src/graph/tuning.cc"),
    "ib_message_us": Parameter(0.36, "us a message", "overhead of a send from GPU memory, ucx_perftest on ConnectX-6, "
                               "github.com/openucx/ucx/issues/9212"),
    "host_latency_us": Parameter(1.2, "us", "osu_latency of 8 bytes between hosts, Open MPI, gist.github.com/hppritcha/"
                                 "6a3acd0c192fcfd082bd543fc98e6fe6 (older adapters; the latest differ by tenths)"),
}
# The same with the least latencies that the sources tell: how much the result hangs on them.
OPTIMISTIC = {"nvlink_latency_us": 2.35, "nvlink_message_us": 0.36, "ib_latency_us": 2.7}


class ModelError(Exception):
    """What is missing; the message says where it should be."""


@functools.cache
def box_of(case, ranks):
    points = CASES[case][0](ranks)
    return Box(points, process_grid(ranks, points))


@functools.cache
def heaviest_of(case, ranks):
    box = box_of(case, ranks)
    return box.rank(box.heaviest())


def problem_of(case, ranks):
    """The local problem of the rank with the most ghosts, as lanky_petsc_kernels reads it."""
    box, rank = box_of(case, ranks), heaviest_of(case, ranks).rank
    return f"{','.join(map(str, box.size(rank)))}:{box.sides(rank)}"


# What a rank sends within its node and to other nodes, and what all of its node send to others.
Exchange = collections.namedtuple("Exchange", "near near_entries far far_entries node_entries")


@functools.cache
def exchanges_of(case, ranks, ranks_a_node):
    """All different ones of the ranks; rank r is on node r // ranks_a_node."""
    box = box_of(case, ranks)
    found, of_node = [], collections.Counter()
    for rank in range(ranks):
        node = rank // ranks_a_node
        near, far = [], []
        for other, count in box.neighbours(rank):
            (near if other // ranks_a_node == node else far).append(count)
        found.append((node, len(near), sum(near), len(far), sum(far)))
        of_node[node] += sum(far)
    return {Exchange(*counts, of_node[node]) for node, *counts in found}


def problems():
    """All local problems, the smallest first: a run that is cut short loses the largest."""
    found = {problem_of(case, ranks) for case in CASES for ranks in RANKS}
    return sorted(found, key=lambda text: (math.prod(map(int, text.split(":")[0].split(","))), text))


class Kernels:
    """Measured times, in microseconds."""

    def __init__(self, path):
        if not pathlib.Path(path).is_file():
            raise ModelError(f"{path} does not exist: run lanky_petsc_kernels on a GPU first")
        self.products, self.rows, self.vectors, self.host, self.environments = {}, {}, {}, None, []
        for number, text in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
            try:
                line = json.loads(text)
            except ValueError as error:
                raise ModelError(f"{path}:{number}: {error}") from error
            if line["kind"] == "env":
                self.environments.append(line)
            elif line["kind"] == "scaling_host":
                self.host = line
            elif line["kind"] == "scaling_vectors":
                self.vectors[line["problem"]] = line
            elif line["kind"] == "scaling_kernel" and line["status"] == "ok":
                key = line["problem"], line["block"], line["columns"], line["contestant"], line["variant"].endswith("nonempty-rows")
                self.products[key] = min(line["us"], self.products.get(key, math.inf))
                self.rows[key] = line["rows"]
        if self.host is None:
            raise ModelError(f"{path} has no line of kind scaling_host: it was not measured on a GPU")

    def has(self, problem, columns):
        return (problem, "diagonal", columns, "lanky", False) in self.products

    def product(self, problem, block, columns, contestant):
        """The fastest way; 0 where there is no such block: a rank without ghosts."""
        ways = [self.products[key] + (self.adding_us(self.rows[key], columns) if nonempty else 0) for nonempty in (False, True)
                if (key := (problem, block, columns, contestant, nonempty)) in self.products]
        if not ways:
            if block == "off_diagonal" and problem.endswith(":000000"):
                return 0.0
            raise ModelError(f"no time of {contestant} for the {block} block of {problem}, {columns} columns")
        return min(ways)

    def adding_us(self, rows, columns):
        """Adding so many rows to those of Y: a launch, an index and an entry that are read, sectors of Y that are read and written."""
        return self.host["launch_us"] + rows * columns * (4 + ENTRY + 2 * 32) / self.bandwidth()

    def bandwidth(self):
        """Bytes a microsecond of the largest axpy, which reads two vectors and writes one."""
        line = max(self.vectors.values(), key=lambda line: line["rows"])
        return 3 * ENTRY * line["rows"] / line["axpy_us"]


def message_us(exchanges, columns, network):
    """Microseconds from the first send to the last ghost of the slowest rank: messages within a node and between nodes go
    at the same time; each way's messages cost their latency once, an overhead each, and their bytes."""
    def way(name, messages, entries):
        if not messages:
            return 0.0
        return (network[f"{name}_latency_us"] + messages * network[f"{name}_message_us"]
                + ENTRY * columns * entries / network[f"{name}_gb_s"] * 1e-3)

    # Adapters are shared: a rank's own bytes over one of them, or all of the node's over all of them.
    return max(max(way("nvlink", e.near, e.near_entries),
                   way("ib", e.far, max(e.far_entries, e.node_entries / network["nics_a_node"]))) for e in exchanges)


def reduction_us(ranks, kernels, network):
    """A dot product's way from the device to the host, and a reduction over all ranks' hosts, a step for each power of 2."""
    return kernels.host["dot_to_host_us"] + math.ceil(math.log2(ranks)) * network["host_latency_us"]


def predict(case, ranks, columns, contestant, kernels, network):
    """One line of figures."""
    problem, heaviest = problem_of(case, ranks), heaviest_of(case, ranks)
    diagonal = kernels.product(problem, "diagonal", columns, contestant)
    other = kernels.product(problem, "off_diagonal", columns, contestant)
    messages = message_us(exchanges_of(case, ranks, network["ranks_a_node"]), columns, network)
    # The pack reads an index and a sector of 32 bytes for each entry, at worst, and writes the entry.
    packing = 0.0
    if ranks > 1:
        entries = heaviest.ghosts * columns
        packing = (kernels.host["launch_and_wait_us"] + entries * (4 / columns + 32 + ENTRY) / kernels.bandwidth())
    matmult = packing + max(diagonal, messages) + other
    line = {"kind": "scaling_model", "measured": False, "case": case, "ranks": ranks, "columns": columns,
            "contestant": contestant, "problem": problem, "rows": heaviest.rows, "ghosts": heaviest.ghosts,
            "neighbours": len(heaviest.receives), "nnz": heaviest.diagonal_nnz + heaviest.off_diagonal_nnz,
            "diagonal_us": diagonal, "off_diagonal_us": other, "messages_us": messages, "packing_us": packing,
            "matmult_us": matmult, "matmult_communication": 1 - (diagonal + other) / matmult}
    if columns == 1:
        times = kernels.vectors[problem]
        work = diagonal + other + AXPYS * times["axpy_us"] + DOTS * times["dot_us"]
        # What a dot product takes on the device is counted already.
        latency = REDUCTIONS * reduction_us(ranks, kernels, network)
        iteration = matmult - diagonal - other + work + latency
        line |= {"reductions_us": latency, "cg_us": iteration, "cg_communication": 1 - work / iteration}
    return line


def dominated(lines):
    """The fewest ranks at which more than half of the time is not spent in kernels, for each case and way."""
    groups = collections.defaultdict(list)
    for line in lines:
        for what in ("matmult", "cg"):
            if f"{what}_communication" in line:
                key = line["case"], line["columns"], line["contestant"], line["network"], what
                groups[key].append((line["ranks"], line[f"{what}_communication"]))
    for (case, columns, contestant, network, what), points in groups.items():
        ranks = next((ranks for ranks, share in sorted(points) if share > 0.5), None)
        yield {"kind": "scaling_dominated", "measured": False, "case": case, "columns": columns, "contestant": contestant,
               "network": network, "what": what, "from_ranks": ranks}


def with_efficiency(lines):
    """Efficiency: of weak scaling T(1) / T(R), of strong scaling T(1) / (R T(R)); none where one rank was not measured."""
    one = {(line["case"], line["columns"], line["contestant"], line["network"]): line for line in lines if line["ranks"] == 1}
    for line in lines:
        first = one.get((line["case"], line["columns"], line["contestant"], line["network"]))
        for what in ("matmult", "cg"):
            if first and f"{what}_us" in line:
                share = 1 if line["case"].startswith("weak") else line["ranks"]
                line[f"{what}_efficiency"] = first[f"{what}_us"] / (share * line[f"{what}_us"])


def all_lines(kernels):
    values = {name: parameter.value for name, parameter in NETWORK.items()}
    lines = []
    for name, network in (("published", values), ("optimistic", {**values, **OPTIMISTIC})):
        for case in CASES:
            for ranks in RANKS:
                for columns in COLUMNS:
                    if kernels.has(problem_of(case, ranks), columns):
                        for contestant in ("lanky", "cusparse"):
                            lines.append({**predict(case, ranks, columns, contestant, kernels, network), "network": name})
    with_efficiency(lines)
    return [*({"kind": "scaling_parameter", "measured": False, "name": name, **parameter._asdict(),
               "optimistic": OPTIMISTIC.get(name)} for name, parameter in NETWORK.items()), *lines, *dominated(lines)]


def rounded(line):
    return {name: float(f"{value:.6g}") if isinstance(value, float) else value for name, value in line.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("problems")
    predicted = commands.add_parser("predict")
    predicted.add_argument("kernels")
    predicted.add_argument("out")
    options = parser.parse_args()
    if options.command == "problems":
        print("\n".join(problems()))
        return
    try:
        kernels = Kernels(options.kernels)
        lines = all_lines(kernels)
    except ModelError as error:
        sys.exit(f"model.py: {error}")
    measured = kernels.environments[0]
    with open(options.out, "w", encoding="utf-8") as file:
        for line in (env_line(kernels=options.kernels, gpu=measured["gpu"], kernels_commit=measured["commit"]), *lines):
            print(json.dumps(rounded(line)), file=file)


if __name__ == "__main__":
    main()
