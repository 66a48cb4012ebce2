"""SpMV kernels compared by class of matrix.

`lanky batch` times lanky beside the vendor's kernels, and appends a line of JSON for each kernel,
matrix and type. This page draws the figures of lanky's own benchmark from such a file, without
lanky and without a GPU. All cells but the check at the end draw a file of yours as well:

    lanky batch matrices --dtype f64,f32,f16,bf16 --json mine.jsonl    # folders, files, generators
    lanky report mine.jsonl -o mine.html                               # the same and more, ready

[Batch runs](../batch.md) lists the options, and [reports](../report.md) defines each figure.
"""

# %%
# ## The file
#
# A line of kind `env` says where and when the lines after it were measured. Lines of kind `spmv`
# have the times of one kernel, the *contestant* with its *variant*, on one matrix in one type. A
# kernel that cannot compute a case, or computes it wrongly, has another `status` than `ok`. One
# that is much slower than the others has no time by graphs. Neither has a time on this page.

import collections
import json
import math
import pathlib
import re

import matplotlib.pyplot as plt
import numpy as np

root = pathlib.Path(__file__).resolve().parents[2]
path = root / "bench/results/h200/spmv_core.jsonl"
lines = [json.loads(line) for line in path.read_text().splitlines()]
env = next(line for line in lines if line["kind"] == "env")
products = [line for line in lines if line["kind"] == "spmv"]
print(f"{env['gpu']}, CUDA {env['cuda']}, cuSPARSE {env['cusparse']}, {env['utc'][:10]}")
for (who, status), count in collections.Counter(
        (line["contestant"], line["status"]) for line in products).items():
    print(f"{who}: {count} lines {status}")

# %%
# ## Speed-up
#
# The speed-up of a case is the time of the fastest right kernel of cuSPARSE over that of lanky,
# both by replay of a CUDA graph. A mean of ratios is geometric:
#
#     speed-up = min over variants of t(cuSPARSE) / t(lanky),    mean = exp(Σ log speed-up / cases).

timed = "graph_us"
times = collections.defaultdict(dict)  # (matrix, type) to a time in us for each kernel
facts = {}  # (matrix, type) to lanky's line
for line in products:
    case = line["case"], line["dtype"]
    if line["status"] == "ok" and line[timed]:
        times[case][line["contestant"], line["variant"]] = line[timed]
    if line["contestant"] == "lanky":
        facts[case] = line
lanky = ("lanky", "auto")
speedups = {
    case: min(us for kernel, us in by_kernel.items() if kernel != lanky) / by_kernel[lanky]
    for case, by_kernel in times.items()
    if lanky in by_kernel and len(by_kernel) > 1
}
groups = collections.defaultdict(list)
for (matrix, dtype), speedup in speedups.items():
    groups[facts[matrix, dtype]["class"], dtype].append(speedup)
    groups["all", dtype].append(speedup)


def geometric_mean(values):
    return math.exp(np.log(values).mean())


types = [dtype for dtype in ["f64", "f32", "f16", "bf16"] if ("all", dtype) in groups]
classes = sorted({name for name, _ in groups} - {"all"},
                 key=lambda name: geometric_mean(groups[name, "f64"]))
for dtype in types:
    of_type = groups["all", dtype]
    mean = geometric_mean(of_type)
    print(f"{dtype}: {len(of_type)} matrices, speed-up {mean:.2f}, least {min(of_type):.2f}")

# %%
# Each dot is a matrix, and the bar is the geometric mean of its class. Above 1, lanky is faster.

figure, axes = plt.subplots(1, 2, sharey=True, figsize=(8, 3.6))
rng = np.random.default_rng(0)
for panel, dtype in zip(axes, ["f64", "f16"]):
    for place, name in enumerate(classes):
        values = groups[name, dtype]
        panel.plot(place + rng.uniform(-0.25, 0.25, len(values)), values, ".", markersize=3)
        panel.hlines(geometric_mean(values), place - 0.4, place + 0.4, color="black")
    panel.axhline(1, color="gray", linestyle="--")
    panel.set(title=f"SpMV: speed-up by class, {dtype}", yscale="log")
    panel.set_xticks(range(len(classes)), classes, rotation=45)
axes[0].set_yticks([1, 2, 4, 8], ["1", "2", "4", "8"])
axes[0].tick_params(axis="y", which="minor", labelleft=False)
axes[0].set_ylabel("fastest of cuSPARSE over lanky")

# %%
# ## Bandwidth
#
# SpMV is bound by memory. The bandwidth is the bytes of the matrix in CSR and of both vectors, each
# counted once, over the time. The line is the fastest read from memory that the benchmark measured
# on the card. Dots above it are matrices that stay in the L2, or that lanky packs into fewer bytes
# than CSR has.

figure, axes = plt.subplots(figsize=(7, 3.6))
cases = [case for case in speedups if case[1] == "f64"]
entries = [facts[case]["nnz"] for case in cases]
rates = np.array([facts[case]["bytes"] / times[case][lanky] / 1e3 for case in cases])  # GB/s
axes.loglog(entries, rates, ".", color="tab:blue", label="lanky")
axes.loglog(entries, rates / [speedups[case] for case in cases], ".", color="gray",
            label="fastest of cuSPARSE")
axes.axhline(env["read_floor_tbs"] * 1e3, color="black", linestyle=":", label="fastest read")
axes.set(title="SpMV: bandwidth over nonzeros, f64", xlabel="nonzeros", ylabel="GB/s")
axes.legend()

# %%
# ## A performance profile
#
# The profile of Dolan and Moré shows for each kernel the share of all cases that it computes
# within a factor τ of the fastest kernel of the case. At τ = 1 stands the share of its wins. A case
# that a kernel has no time for counts against it.

profiles = collections.defaultdict(list)
for case in times:
    best = min(times[case].values())
    for kernel, us in times[case].items():
        profiles[kernel].append(us / best)
figure, axes = plt.subplots()
for kernel in sorted(profiles, key=lambda kernel: -len(profiles[kernel])):
    if not kernel[1].startswith("bsr"):  # blocks: of matrices that have them
        share = np.arange(1, len(profiles[kernel]) + 1) / len(times)
        axes.step(sorted(profiles[kernel]), share, where="post", label=" ".join(kernel))
axes.set(title="SpMV: share of cases within τ of the fastest", xlabel="τ", ylabel="share",
         xscale="log", xlim=(1, 10), ylim=(0, 1.05))
axes.set_xticks([1, 2, 5, 10], ["1", "2", "5", "10"])
axes.tick_params(axis="x", which="minor", labelbottom=False)
axes.legend()

# %%
# ## The check
#
# The table in [results](../results.md#sparse-products-on-the-gpu) is written by another program
# from the same file. Its means are those of this page.

results = (root / "docs/results.md").read_text()
table = re.search(r"<!-- table: spmv-classes bench/results/h200/spmv_core.jsonl -->(.*?)<!-- end",
                  results, re.DOTALL)[1]
for name in ["all", *classes]:
    row = re.search(rf"^\| {name} \| (.*)$", table, re.MULTILINE)[1]
    written = [float(mean) for mean in re.findall(r"\*\*([0-9.]+)\*\*", row)]
    assert len(written) == len(types)
    for dtype, mean in zip(types, written):
        assert abs(geometric_mean(groups[name, dtype]) - mean) < 0.0051
assert len(speedups) == len(times)
print(f"{1 + len(classes)} rows of the table agree")

# %%
# ## On a GPU, and without one
#
# The file says which device it was measured on, and the page is the same for each GPU. On a machine
# without one, `lanky batch` times the CPU's kernels beside a plain CSR loop and MKL, in place of
# cuSPARSE. Their times stand in `warm_us`, which `timed` then names, since CUDA graphs are a GPU's.
