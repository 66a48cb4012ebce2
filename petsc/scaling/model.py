#!/usr/bin/env python3
"""Predicts weak and strong scaling of MatMult and of conjugate gradients on 1 to 4096 GPUs: measured kernels of one rank,
exact messages (messages.py), and a model of the network. No line of a prediction is measured.

    model.py problems > problems.txt         what lanky_petsc_kernels is to measure
    model.py predict KERNELS.jsonl LINK.jsonl OUT.jsonl
    model.py check KERNELS.jsonl LINK.jsonl MEASURED.jsonl OUT.jsonl     predictions beside what lanky_petsc_compare measured

lanky packs what others need beside the diagonal block, and multiplies the rows that need ghosts beside it, too:

    T = max(T_diagonal, pack and wait + T_messages + T_off_diagonal) + T_add

PETSc's MPIAIJCUSPARSE waits for the pack before the diagonal block starts, and multiplies the other block after it:

    T = pack and wait + max(T_diagonal, T_messages) + T_off_diagonal
"""

import argparse
import collections
import functools
import json
import math
import pathlib
import statistics
import sys

from environment import env_line
from messages import Box, process_grid

RANKS = tuple(1 << k for k in range(13))
COLUMNS = (1, 16)
# The whole box for so many ranks, the unknowns of a node, and the numbers of ranks.
Case = collections.namedtuple("Case", "points unknowns ranks")


def weak(side, unknowns=1, ranks=RANKS):
    return Case(lambda count: tuple(side * g for g in process_grid(count, (1, 1, 1))), unknowns, ranks)


def strong(side, unknowns=1, ranks=RANKS):
    return Case(lambda count: (side,) * 3, unknowns, ranks)


FEW = (1, 2, 4)
CASES = {"weak 1e8": weak(154), "weak 1e7": weak(72), "strong 1e9": strong(336), "strong 2e8": strong(192),
         "weak 1e8, 3 unknowns": weak(75, 3, FEW), "strong 2e8, 3 unknowns": strong(94, 3, FEW)}
ENTRY = 8  # bytes of a vector entry
# KSPCG with Jacobi's preconditioner: what an iteration does beside MatMult.
AXPYS, DOTS, REDUCTIONS = 4, 3, 3  # two axpys, an aypx and a pointwise product; (p, A p), |z|, (z, r)

Parameter = collections.namedtuple("Parameter", "value unit source")

# The network of a cluster of nodes with eight H200 and a ConnectX-7 for each, as others tell of it. Latency and bandwidth within
# a node are measured by lanky_petsc_link: measured_network().
NETWORK = {
    "ranks_a_node": Parameter(8, "GPUs", "HGX and DGX H200: mlcommons/inference_results_v4.1, closed/NVIDIA/systems/"
                              "H200-SXM-141GBx8_TRT_MaxQ.json (accelerators_per_node)"),
    "nics_a_node": Parameter(8, "adapters", "DGX H200 has a ConnectX-7 for each GPU; the same file counts ten with those for "
                             "storage (host_network_card_count)"),
    "nvlink_message_us": Parameter(4.2, "us a message", "osu_bw between two A100 over NVLink by UCX: 16 to 64 KiB take 4.1 to "
                                   "4.3 us each, 64 in flight, github.com/EESSI/software-layer/pull/716"),
    "ib_gb_s": Parameter(47, "GB/s in one direction", "NDR, 400 Gbit/s: 46 to 48 GB/s an adapter are expected, NVIDIA in "
                         "github.com/NVIDIA/nccl-tests/issues/290"),
    "ib_latency_us": Parameter(5.0, "us", "hop of the network between GPUs in NCCL's own model (hwLat, NET, tree, LL; its ring "
                               "reckons with 2.7 us), github.com/NVIDIA/nccl, src/graph/tuning.cc"),
    "ib_message_us": Parameter(0.36, "us a message", "overhead of a send from GPU memory, ucx_perftest on ConnectX-6, "
                               "github.com/openucx/ucx/issues/9212"),
    "copies_overlap": Parameter(1, "0 or 1", "whether MPI's copies between GPUs run beside work in CUDA's legacy default stream, "
                                "assumed; those of Open MPI's smcuda do not (4.1.4, common_cuda.c creates blocking streams)"),
    "host_latency_us": Parameter(1.2, "us", "osu_latency of 8 bytes between hosts, Open MPI, gist.github.com/hppritcha/"
                                 "6a3acd0c192fcfd082bd543fc98e6fe6 (older adapters; the latest differ by tenths)"),
}
# The same with the least latencies that the sources tell: how much the result hangs on them.
OPTIMISTIC = {"nvlink_latency_us": 2.35, "nvlink_message_us": 0.36, "ib_latency_us": 2.7}


class ModelError(Exception):
    """What is missing; the message says where it should be."""


def lines_of(path, kind=None):
    with open(path, encoding="utf-8") as file:
        return [line for line in map(json.loads, file) if kind is None or line["kind"] == kind]


def measured_network(path):
    """NETWORK, and what lanky_petsc_link measured between the GPUs of a node."""
    link = [line for line in lines_of(path, "scaling_link") if line["way"] == "device" and line["status"] == "ok"]
    if len(link) < 2:
        raise ModelError(f"{path} has no messages from GPU memory: run lanky_petsc_link without \"host\"")
    link.sort(key=lambda line: line["bytes"])
    shortest, (long, longest) = link[0], link[-2:]
    environment = lines_of(path, "env")[0]
    source = f"measured on {environment['ranks']} {environment['gpu']}, {environment['mpi']}, transport {environment['transport']}: {path}"
    message = NETWORK["nvlink_message_us"].value
    # After work of a GPU, with the wait for the slower rank.
    sums = [line["us"] - line["work_us"] for line in lines_of(path, "scaling_reduction")]
    return NETWORK | {
        "nvlink_latency_us": Parameter(max(0, shortest["us"] - message), "us", f"the shortest message less the overhead of one, {source}; "
                                       "optimistic: UCX's cuda_ipc, github.com/openucx/ucx/issues/3740"),
        "nvlink_gb_s": Parameter((longest["bytes"] - long["bytes"]) / (longest["us"] - long["us"]) * 1e-3, "GB/s in one direction",
                                 f"the longest messages, both ways at once, {source}"),
        "node_step_us": Parameter(statistics.median(sums), "us", f"a sum over the ranks, {source}"),
    }


def values_of(network):
    return {name: parameter.value for name, parameter in network.items()}


@functools.cache
def box_of(case, ranks):
    points = CASES[case].points(ranks)
    return Box(points, process_grid(ranks, points))


@functools.cache
def heaviest_of(case, ranks):
    box = box_of(case, ranks)
    return box.rank(box.heaviest())


def problem_of(case, ranks):
    """The local problem of the rank with the most ghosts, as lanky_petsc_kernels reads it."""
    box, rank, unknowns = box_of(case, ranks), heaviest_of(case, ranks).rank, CASES[case].unknowns
    return f"{','.join(map(str, box.size(rank)))}:{box.sides(rank)}" + (f":{unknowns}" if unknowns > 1 else "")


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
    found = {problem_of(name, ranks) for name, case in CASES.items() for ranks in case.ranks}

    def entries(text):
        size, _, *unknowns = text.split(":")
        return math.prod(map(int, size.split(","))) * int(*unknowns or "1") ** 2

    return sorted(found, key=lambda text: (entries(text), text))


class Kernels:
    """Measured times, in microseconds."""

    def __init__(self, path):
        if not pathlib.Path(path).is_file():
            raise ModelError(f"{path} does not exist: run lanky_petsc_kernels on a GPU first")
        self.products, self.rows, self.vectors, self.host, self.environments = {}, {}, {}, None, []
        self.packing = {}  # (problem, columns): the plug-in's kernels that gather rows, and that add them
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
            elif line["kind"] == "scaling_rows":
                self.packing[line["problem"], line["columns"]] = line["gather_us"], line["add_us"]
            elif line["kind"] == "scaling_kernel" and line["status"] == "ok":
                key = line["problem"], line["block"], line["columns"], line["contestant"], line["variant"].endswith("nonempty-rows")
                self.products[key] = min(line["us"], self.products.get(key, math.inf))
                self.rows[key] = line["rows"]
        if self.host is None:
            raise ModelError(f"{path} has no line of kind scaling_host: it was not measured on a GPU")

    def has(self, problem, columns):
        return (problem, "diagonal", columns, "lanky", False) in self.products

    def product(self, problem, block, columns, contestant, nonempty=False):
        """0 where there is no such block: a rank without ghosts. `nonempty`: of the rows that have entries alone."""
        us = self.products.get((problem, block, columns, contestant, nonempty))
        if us is None:
            if block == "off_diagonal" and problem.split(":")[1] == "000000":
                return 0.0
            raise ModelError(f"no time of {contestant} for the {block} block of {problem}, {columns} columns")
        return us

    def vendor_off_diagonal(self, problem, columns):
        """The faster of cuSPARSE's ways: all rows, or those with entries, which are then added to those of y: a launch, an index
        and an entry that are read, sectors of y that are read and written. Of several columns PETSc makes a matrix of all rows,
        and adds that to C (MatMatMultNumeric_MPIAIJ_MPIDense, MatAXPY)."""
        everywhere = self.product(problem, "off_diagonal", columns, "cusparse")
        if columns > 1:
            return everywhere + self.host["launch_us"] + 3 * ENTRY * self.vectors[problem]["rows"] * columns / self.bandwidth()
        rows = self.rows[problem, "off_diagonal", columns, "cusparse", True]
        adding = self.host["launch_us"] + rows * (4 + ENTRY + 2 * 32) / self.bandwidth()
        return min(everywhere, self.product(problem, "off_diagonal", columns, "cusparse", nonempty=True) + adding)

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


def reduction_us(ranks, contestant, kernels, network):
    """A dot product's way from the device to the host, and a reduction over all ranks' hosts, a step for each power of 2."""
    within = min(ranks, network["ranks_a_node"])
    return (kernels.host["lanky_dot_to_host_us" if contestant == "lanky" else "dot_to_host_us"]
            + math.ceil(math.log2(within)) * network["node_step_us"]
            + math.ceil(math.log2(ranks / within)) * network["host_latency_us"])


def matmult_of(problem, ghosts, messages, columns, contestant, kernels, network):
    """(microseconds of MatMult, of its diagonal and its off-diagonal product, of packing)."""
    diagonal = kernels.product(problem, "diagonal", columns, contestant)
    if ghosts == 0:
        return diagonal, diagonal, 0.0, 0.0
    ready = kernels.host["launch_and_wait_us"]
    if contestant == "lanky":
        gather, add = kernels.packing[problem, columns]
        ready += max(0, gather - kernels.host["launch_us"])
        everywhere = kernels.product(problem, "off_diagonal", columns, contestant)
        some = kernels.product(problem, "off_diagonal", columns, contestant, nonempty=True)
        return min((max(diagonal, ready + messages) + everywhere, diagonal, everywhere, ready),
                   (max(diagonal, ready + messages + some) + add, diagonal, some + add, ready))
    # The pack reads an index and a sector of 32 bytes for each entry, at worst, and writes the entry.
    ready += ghosts * columns * (4 / columns + 32 + ENTRY) / kernels.bandwidth()
    other = kernels.vendor_off_diagonal(problem, columns)
    meanwhile = max(diagonal, messages) if network["copies_overlap"] else diagonal + messages
    return ready + meanwhile + other, diagonal, other, ready


def predict(case, ranks, columns, contestant, kernels, network):
    """One line of figures."""
    unknowns = CASES[case].unknowns
    problem, heaviest = problem_of(case, ranks), heaviest_of(case, ranks)
    rows, ghosts = heaviest.rows * unknowns, heaviest.ghosts * unknowns
    messages = message_us(exchanges_of(case, ranks, network["ranks_a_node"]), columns * unknowns, network)
    matmult, diagonal, other, packing = matmult_of(problem, ghosts, messages, columns, contestant, kernels, network)
    line = {"kind": "scaling_model", "measured": False, "case": case, "ranks": ranks, "columns": columns,
            "contestant": contestant, "problem": problem, "rows": rows, "ghosts": ghosts, "neighbours": len(heaviest.receives),
            "nnz": (heaviest.diagonal_nnz + heaviest.off_diagonal_nnz) * unknowns**2, "diagonal_us": diagonal,
            "off_diagonal_us": other, "messages_us": messages, "packing_us": packing, "matmult_us": matmult,
            # What MatMult takes beyond its kernels, some of which run beside each other.
            "matmult_communication": max(0, 1 - (diagonal + other) / matmult)}
    if columns == 1:
        times = kernels.vectors[problem]
        dot = times["lanky_dot_us" if contestant == "lanky" else "dot_us"]
        work = AXPYS * times["axpy_us"] + DOTS * dot
        # What a dot product takes on the device is counted already.
        latency = REDUCTIONS * reduction_us(ranks, contestant, kernels, network)
        iteration = matmult + work + latency
        line |= {"reductions_us": latency, "cg_us": iteration,
                 "cg_communication": max(0, 1 - (diagonal + other + work) / iteration)}
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


def all_lines(kernels, parameters):
    values = values_of(parameters)
    lines = []
    for name, network in (("published", values), ("optimistic", {**values, **OPTIMISTIC})):
        for case in CASES:
            for ranks in CASES[case].ranks:
                for columns in COLUMNS:
                    if kernels.has(problem_of(case, ranks), columns):
                        for contestant in ("lanky", "cusparse"):
                            lines.append({**predict(case, ranks, columns, contestant, kernels, network), "network": name})
    with_efficiency(lines)
    return [*({"kind": "scaling_parameter", "measured": False, "name": name, **parameter._asdict(),
               "optimistic": OPTIMISTIC.get(name)} for name, parameter in parameters.items()), *lines, *dominated(lines)]


# Tasks of lanky_petsc_compare: columns, and the figure of a prediction.
TASKS = {"matmult": (1, "matmult_us"), "matmatmult": (16, "matmult_us"), "cg": (1, "cg_us")}
WITHIN = 0.15


def check(kernels, network, measured):
    """Each measured time of which there is a prediction, beside it."""
    places = {}
    for name, case in CASES.items():
        for ranks in case.ranks:
            points = ",".join(map(str, case.points(ranks))) + (f",{case.unknowns}" if case.unknowns > 1 else "")
            places.setdefault((f"box:{points}", ranks), name)
    for line in measured:
        case = places.get((line["case"], line["ranks"]))
        contestant = line["contestant"].removeprefix("aij")
        if case is None or line["task"] not in TASKS or line["status"] != "ok":
            continue
        columns, figure = TASKS[line["task"]]
        predicted = predict(case, line["ranks"], columns, contestant, kernels, network)[figure]
        error = predicted / line["us"] - 1
        yield {"kind": "scaling_gpu_check", "measured": True, "case": case, "ranks": line["ranks"], "task": line["task"],
               "contestant": contestant, "measured_us": line["us"], "predicted_us": predicted, "error": error,
               "within": abs(error) <= WITHIN}


def rounded(line):
    return {name: float(f"{value:.6g}") if isinstance(value, float) else value for name, value in line.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("problems")
    predicted = commands.add_parser("predict")
    for name in ("kernels", "link", "out"):
        predicted.add_argument(name)
    checked = commands.add_parser("check")
    for name in ("kernels", "link", "measured", "out"):
        checked.add_argument(name)
    options = parser.parse_args()
    if options.command == "problems":
        print("\n".join(problems()))
        return
    try:
        kernels = Kernels(options.kernels)
        parameters = measured_network(options.link)
        more = {}
        if options.command == "predict":
            lines = all_lines(kernels, parameters)
        else:
            # The transport of this very run, whose copies may wait for the legacy default stream.
            transport = lines_of(options.link, "env")[0]["transport"]
            network = values_of(parameters) | {"copies_overlap": int("smcuda" not in transport)}
            more = {"network": rounded(network), "compared": options.measured,
                    "measured_commit": lines_of(options.measured, "env")[0]["commit"]}
            lines = list(check(kernels, network, lines_of(options.measured, "petsc")))
    except ModelError as error:
        sys.exit(f"model.py: {error}")
    first = kernels.environments[0]
    environment = env_line(kernels=options.kernels, gpu=first["gpu"], kernels_commit=first["commit"], **more)
    with open(options.out, "w", encoding="utf-8") as file:
        for line in (environment, *lines):
            print(json.dumps(rounded(line)), file=file)


if __name__ == "__main__":
    main()
