#!/usr/bin/env python3
"""Writes dense/model_table.hpp, the constants of the time model of dense/model.hpp, from JSON lines.

    bench/scripts/fit_model.py [--check] [FILES]      FILES: bench/results/h200/gemm_*.jsonl

One row for each kernel (as explain() names it) and family; further ones for the arithmetics of it that
have other constants; one for kernels that no file knows, by family. The fit minimizes squared
logarithms of predicted over measured time (warm_us), outliers counting less. --check writes nothing and
fails where the table is not what the files give.
"""

import math
import pathlib
import re
import statistics
import sys

from jsonl import ROOT, ResultsError, all_points, commits, in_core, read_lines

TABLE = ROOT / "dense/model_table.hpp"
FILES = "bench/results/h200/gemm_*.jsonl"
GRANULES = (1, 2, 4, 8, 16, 32, 64, 128)
TOLERANCE = 0.25  # of the measured time; what tests/dense_model_test.cpp asks for
OUTLIER = 0.35  # a logarithm beyond which an error counts as its magnitude, not as its square

FEWEST = 6  # points of an arithmetic that may have a row of its own

# Nominal figures of dense/policy.cpp for the GPU of the files.
BANDWIDTH = 4.8e12
PEAK_F64, PEAK_F32 = 34e12, 67e12


def kernel_of(explanation):
    """The kernel's name: what stands before the first comma or semicolon, without a version."""
    return re.sub(r" [0-9]+$", "", re.split("[,;\n]", explanation)[0])


def arithmetic_of(dtype):
    return "half" if dtype in ("f16", "bf16") else dtype


class Sample:
    """A measured product: what it must move and compute, in microseconds at nominal rates."""

    def __init__(self, point):
        line = point.line
        self.line = line
        self.family = "gram" if line["family"] == "syrk" else line["family"]
        self.arithmetic = arithmetic_of(line["dtype"])
        self.kernel = kernel_of(point.own["kernel"])
        self.measured = point.lanky
        self.sides = sorted((line["m"], line["n"]))[:2 if self.family == "gram" else 1]
        self.memory = line["bytes"] / BANDWIDTH * 1e6
        peak = PEAK_F64 if line["dtype"] in ("f64", "c128") else PEAK_F32
        flops = (8 if line["dtype"] in ("c64", "c128") else 2) * line["m"] * line["n"] * line["k"]
        self.arithmetics = {g: flops * self.waste(g) / peak * 1e6 for g in GRANULES}

    def waste(self, granule):
        """How many times the arithmetic, where short sides are rounded up to the granule."""
        return math.prod(-(-side // granule) * granule / side for side in self.sides)


class Row:
    """start + max(memory / bandwidth, arithmetic / peak)"""

    def __init__(self, start, bandwidth, peak, granule):
        self.start, self.bandwidth, self.peak, self.granule = start, bandwidth, peak, granule

    def predict(self, sample):
        memory = sample.memory / self.bandwidth
        arithmetic = sample.arithmetics[self.granule] / self.peak
        return self.start + (memory if memory > arithmetic else arithmetic)  # max() takes twice as long

    def error(self, sample):
        return abs(self.predict(sample) / sample.measured - 1)

    def misses(self, samples):
        return sum(self.error(s) > TOLERANCE for s in samples)

    def mean_error(self, samples):
        return statistics.fmean(self.error(s) for s in samples)

    def loss(self, samples, least=math.inf):
        """Held loosely to plausible shares, for kernels whose points do not tell one of them. Infinite where it
        exceeds `least`, without a look at the rest."""
        total = 1e-3 * (math.log(self.bandwidth / 0.9) ** 2 + math.log(self.peak / 0.7) ** 2)
        for sample in samples:
            off = abs(math.log(self.predict(sample) / sample.measured))
            total += off * off if off < OUTLIER else OUTLIER * OUTLIER + 0.1 * (off - OUTLIER)
            if total > least:
                return math.inf
        return total

    def rounded(self):
        return Row(float(f"{self.start:.3g}"), float(f"{self.bandwidth:.2g}"),
                   float(f"{self.peak:.2g}"), self.granule)

    def changed(self, field, factor):
        row = Row(self.start, self.bandwidth, self.peak, self.granule)
        setattr(row, field, getattr(row, field) * factor)
        row.bandwidth = min(row.bandwidth, 1.0)
        return row


def descend(row, samples):
    """The best row near this one, one constant at a time in ever smaller steps."""
    best, step = row.loss(samples), 0.5
    while step > 0.01:
        improved = False
        for field in ("start", "bandwidth", "peak"):
            for factor in (1 + step, 1 / (1 + step)):
                other = row.changed(field, factor)
                loss = other.loss(samples, best)
                if loss < best - 1e-9:
                    row, best, improved = other, loss, True
        if not improved:
            step /= 2
    return row, best


def fit(samples):
    best = None
    quickest = min(s.measured for s in samples)
    for granule in GRANULES:
        starts = [Row(0.7 * quickest, 0.8, peak, granule) for peak in (0.02, 0.1, 0.5, 2, 8)]
        row, loss = descend(min(starts, key=lambda r: r.loss(samples)), samples)
        if best is None or loss < best[1] - 1e-6:
            best = row, loss
    return best[0].rounded()


def by(samples, *fields):
    groups = {}
    for sample in samples:
        groups.setdefault(tuple(getattr(sample, f) for f in fields), []).append(sample)
    return dict(sorted(groups.items()))


def fit_kernel(samples):
    """{arithmetic: Row}: "" for all, but for those that a row of their own fits much better."""
    together = fit(samples)
    rows, others = {}, []
    for (arithmetic,), part in by(samples, "arithmetic").items():
        own = fit(part)
        if len(part) >= FEWEST and (own.misses(part) < together.misses(part) or
                                    own.mean_error(part) < together.mean_error(part) - 0.03):
            rows[arithmetic] = own
        else:
            others += part
    if others:
        rows[""] = fit(others)
    return rows


def fit_all(samples):
    """{(kernel, family, arithmetic): Row}"""
    rows = {}
    for (kernel, family), part in by(samples, "kernel", "family").items():
        for arithmetic, row in fit_kernel(part).items():
            rows[kernel, family, arithmetic] = row
    own = [s for s in samples if not s.kernel.startswith("cuBLASLt")]
    for (family,), part in by(own, "family").items():
        rows["", family, ""] = fit(part)
    return rows


def lookup(rows, sample):
    for kernel, arithmetic in ((sample.kernel, sample.arithmetic), (sample.kernel, ""), ("", "")):
        row = rows.get((kernel, sample.family, arithmetic))
        if row:
            return row
    return None


def table(rows, environments, files):
    env = environments[0]
    text = (f"// Written by bench/scripts/fit_model.py from {files}:\n"
            f"// {env['gpu']}, CUDA {env['cuda']}, commit {', '.join(commits(environments))}.\n"
            "// Not edited by hand: run the script again after a new run.\n"
            "#pragma once\n\n"
            '#include "dense/model.hpp"\n\n'
            "namespace lanky::dense {\n\n"
            "// clang-format off\n"
            "inline constexpr KernelModel kKernelModels[] = {\n"
            "    // kernel, family, arithmetic, start in us, shares of bandwidth and peak, granule\n")
    for (kernel, family, arithmetic), row in sorted(rows.items()):
        text += (f'    {{"{kernel}", GemmFamily::{family}, "{arithmetic}", '
                 f"{row.start:g}, {row.bandwidth:g}, {row.peak:g}, {row.granule}}},\n")
    return text + "};\n// clang-format on\n\n}  // namespace lanky::dense\n"


def summary(rows, points):
    for name, part in (("core", [p for p in points if in_core(p)]),
                       ("sample", [p for p in points if not in_core(p)])):
        samples = [Sample(p) for p in part]
        if samples:
            near = sum(lookup(rows, s).error(s) <= TOLERANCE for s in samples)
            error = statistics.median(lookup(rows, s).error(s) for s in samples)
            print(f"{name}: {near} of {len(samples)} ({near / len(samples):.1%}) within "
                  f"{TOLERANCE:.0%}, median error {error:.1%}")


def main(arguments):
    check = "--check" in arguments
    files = [a for a in arguments if a != "--check"] or [FILES]
    if len(files) > 1 or files[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        environments, lines = read_lines(files[0])
    except ResultsError as error:
        print(error, file=sys.stderr)
        return 1
    points = [p for p in all_points(lines) if p.own and p.own.get("kernel")]
    rows = fit_all([Sample(p) for p in points])
    summary(rows, points)
    wanted = table(rows, environments, files[0])
    if check:
        same = TABLE.is_file() and TABLE.read_text(encoding="utf-8") == wanted
        print(f"{TABLE.relative_to(ROOT)}: {len(rows)} rows" +
              ("" if same else " differ from the files; run bench/scripts/fit_model.py"))
        return 0 if same else 1
    TABLE.write_text(wanted, encoding="utf-8")
    print(f"{TABLE.relative_to(ROOT)}: {len(rows)} rows written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
