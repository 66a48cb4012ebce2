#!/usr/bin/env python3
"""Fits the rates of dense/cuda/cost.hpp to measured times: fit_cost.py [--program P] [--report] FILE...

FILE: lines of `lanky tune --gemm GRID --json` or of `lanky batch`, plain or .xz. The default is FIT below: the fit set of both
cards, the core grid of the H200 with all candidates, what two builds chose on the core grid of each card, drawn grids, and
seeds that were unseen once. The program (build/dev/bin/lanky_dense_terms) tells the demands of each candidate on the
machine. This script writes dense/cuda/cost_table.hpp: a row for each kernel, and further ones for an arithmetic, a layout
or an algorithm of it whose points they fit much better.

--report FILE...: writes nothing, but replays the choices on these lines (the validation set, say) by the table as
the program has it, and prints regret and model error.

Needs NumPy and SciPy (Debian: python3-scipy).
"""

import argparse
import collections
import hashlib
import json
import math
import pathlib
import re
import subprocess
import sys

from former_names import with_todays_names
from jsonl import ROOT, device_us, text_of

TABLE = ROOT / "dense/cuda/cost_table.hpp"
CARDS = ("h200", "h100")
FIT = [  # the newest last
    *(f"bench/results/h200/grid_{part}.raw.jsonl.xz" for part in ("panel", "update", "gram", "syrk", "sample")),
    *(f"bench/results/{card}/regret_gemm_{name}.raw.jsonl.xz" for card in CARDS for name in ("fit", "fit34")),
    *(f"bench/results/h200/regret_gemm_{name}.raw.jsonl.xz" for name in ("core", "core2")),
    *(f"bench/results/{run}.raw.jsonl.xz" for run in ("h100/core_before_5d0943d", "h100/core_5d0943d",
                                                      "h200/core_before_0d0ef14", "h200/core_0d0ef14",
                                                      *(f"h200/regret_gemm_fit35{part}" for part in "abcdeh"),
                                                      *(f"h100/regret_gemm_fit35{part}" for part in "fgi"),
                                                      "h100/unseen_gemm_3003", "h100/unseen_gemm_3003_before",
                                                      "h100/unseen_gemm_4004")),
    "bench/results/h200/regret_gemm_wide.raw.jsonl.xz"]
# Sums wider than operands': such products have rates of other kernels, that do the same for floats or doubles (cost_key() in
# dense/cuda/cost.cpp), but for the kernels that are for such sums alone.
WIDE_ALONE = ("gram_slices_kernel",)
# Where B is A, plans of this commit took no kernel that they were asked for by its name.
BEFORE_SYRK = "5ef7dd9baabc48753d14976bb2d163da137d36b2"
# Since then gram_fma_kernel by columns leaves out what lies above the diagonal.
SINCE_TRIANGLES = "2026-11-27T16:00"
# Since then update_stream_kernel has several ways to lay out a block. (h100/unseen_gemm_4004_before is younger, by an older
# program: it is no part of FIT.)
SINCE_STREAMS = "2026-11-27T23:07"
PROGRAM = ROOT / "build/dev/bin/lanky_dense_terms"
WAYS = ("case", "dtype", "op_a", "op_b", "layout", "ld", "alpha", "beta", "out")
PADDING = 8  # elements, as bench/cases/gemm_case.cpp has it
MATH = ("tf32", "tf32x3")


class Candidate:
    """A way to compute a product: the words that its rates depend on, its terms in microseconds at nominal rates, and
    the time that it took (None: not measured)."""

    def __init__(self, fields):
        self.words = tuple(fields[:4])
        self.predicted = float(fields[4])
        self.terms = tuple(map(float, fields[5:14]))
        self.configuration = configuration_of(fields[14])
        self.measured = None

    def name(self):
        return "vendor" if self.words[0].startswith("cuBLASLt") else self.words[3]

    def levels(self):
        """From the kernel's row to the algorithm's."""
        return [self.words[:known] + ("",) * (4 - known) for known in range(1, 5)]


class Case:
    """A product: its candidates, the time of what the plan chose when it was measured, and the best time."""

    def __init__(self, chip, lines):
        self.chip, self.lines, self.candidates, self.product_class = chip, lines, [], ""
        chosen = [line for line in lines if line.get("chosen")]
        self.chosen = min(map(device_us, chosen), default=None)
        self.best = min(map(device_us, lines))

    def timed(self):
        return [candidate for candidate in self.candidates if candidate.measured is not None]

    def points(self):
        """Candidates that rates are fitted to."""
        wide = self.lines[0]["out"] == "f64" and self.lines[0]["dtype"] in ("f32", "f16", "bf16")
        return [candidate for candidate in self.timed() if not wide or candidate.words[0] in WIDE_ALONE]

    def cheapest(self):
        """By prediction, of those that were measured; None where no plan's choice was."""
        return min(self.timed(), key=lambda c: c.predicted, default=None) if self.chosen else None

    def query(self):
        """As lanky_dense_terms reads it."""
        line = self.lines[0]
        dtype = "f32" if line["dtype"] in MATH else line["dtype"]
        out = "f32" if line["out"] in MATH else line["out"]
        return " ".join(str(word) for word in (
            line["m"], line["n"], line["k"], line["op_a"], line["op_b"], line["layout"],
            PADDING if line["ld"] == "padded" else 0, line["dtype"] if line["dtype"] in MATH else "ieee", dtype, out,
            int(line["family"] == "syrk"), int(line["beta"] != 0), self.chip))

    def take(self, fields):
        candidate = Candidate(fields)
        if candidate.name() == "vendor":  # of the newest run, whose first algorithm is the heuristic's first
            own = [line for line in self.lines if line["contestant"] == "vendor" or line["variant"] == "gemmex"]
            own = own or [line for line in self.lines if chosen_vendor(line)]
            own = [line for line in own if line["run"] == own[-1]["run"]][:1]
        else:
            own = [line for line in self.lines if is_by(line, candidate)]
        candidate.lines, candidate.measured = own, min(map(device_us, own), default=None)
        self.candidates.append(candidate)


def configuration_of(kernel):
    """A kernel's description in parts, whose order has changed; without the warps of a panel, which are newer than
    some files and follow from the tiles."""
    return sorted(re.sub(", warps [^,]*", "", re.split("[;\n]", kernel)[0]).split(", "))


def kernel_of(line):
    """The kernel that a plan's own choice ran, from a description that may name others for other runs."""
    kernel = line.get("kernel") or ""
    for condition, holds in (("; where A is B ", line["family"] == "syrk"), ("; where beta is not 0 ", line["beta"] != 0)):
        if holds and condition in kernel:
            return kernel.split(condition, 1)[1]
    return kernel


def is_by(line, candidate):
    """Whether a line is lanky's by this candidate: asked for by name, or chosen by the plan."""
    if line["contestant"] != "lanky":
        return False
    if line["variant"] != "auto":
        return line["variant"] == candidate.name()
    return "chosen" not in line and configuration_of(kernel_of(line)) == candidate.configuration


def chosen_vendor(line):
    """Whether a plan that was not tuned chose cuBLAS."""
    return line["variant"] == "auto" and "chosen" not in line and kernel_of(line).startswith("cuBLASLt")


def is_former_triangle(line, utc):
    """Whether gram_fma_kernel computed A^T A by columns, and all of it."""
    kernel = kernel_of(line)
    return kernel.startswith("gram_fma_kernel") and "row-major" not in kernel and utc < SINCE_TRIANGLES


def is_former_stream(line, utc):
    """Whether update_stream_kernel had one slot and all columns in a warp, or was update_words_kernel still."""
    kernel = kernel_of(line)
    return kernel.startswith("update_words_kernel") or kernel.startswith("update_stream_kernel") and utc < SINCE_STREAMS


def lines_by_case(*paths):
    """(chip, {case: its timed lines, each with the number of its run}) of files of one card, in their order."""
    found, chip, commit, utc, run = {}, "", "", "", 0
    for text in (line for path in paths for line in text_of(path).splitlines()):
        line = json.loads(text)
        if line["kind"] == "env":
            chip, commit = next(card.upper() for card in CARDS if card.upper() in line["gpu"]), line["commit"]
            utc = line["utc"]
            run += 1
        elif line.get("family") == "syrk" and (commit == BEFORE_SYRK or is_former_triangle(line, utc)):
            continue
        elif line["kind"] == "gemm" and is_former_stream(line, utc):
            continue
        elif line["kind"] == "gemm" and line["status"] == "ok" and line["warm_us"]:
            found.setdefault(tuple(line[way] for way in WAYS), []).append(with_todays_names(line) | {"run": run})
    return chip, found


def cases_of(program, *paths):
    """The cases of files of one card, in their order."""
    chip, found = lines_by_case(*paths)
    cases = [Case(chip, lines) for lines in found.values()]
    asked = "".join(case.query() + "\n" for case in cases)
    for row in subprocess.run([program], input=asked, capture_output=True, text=True, check=True).stdout.splitlines():
        number, *fields = row.split("\t")
        if fields[0] == "class":
            cases[int(number)].product_class = fields[1]
        else:
            cases[int(number)].take(fields)
    return cases


class Fit:
    """Rates of one row: start, launch, bandwidth, l2, peak, step, side, end (logarithms) and fill."""

    PRIOR = (*map(math.log, (2, 1.5, 0.85, 0.7, 1.0, 0.5, 0.1, 1)), 0.5)
    LEAST = (math.log(0.8), math.log(0.3), -4, -4, -7, math.log(0.05), -7, math.log(0.05), 0)
    MOST = (3, 2.5, 0.05, 1.0, 5, math.log(3), 1, math.log(20), 1.3)
    # How far a rate strays from the coarser row's for an error of one: a few points hardly move it.
    WEIGHTS = (0.25, 1.0, 0.3, 0.3, 0.1, 0.3, 0.2, 0.3, 0.6)
    CHAIN = (math.log(1.3), math.log(0.7))  # start and step of a second guess: the two stand for each other
    CLOSER = (1, 1, 1.5, 2)  # these times more with each further word
    OUTLIER = 0.15
    GAIN = 0.01  # of the loss, beyond which a finer row is kept

    def __init__(self, numpy, least_squares):
        self.np, self.least_squares = numpy, least_squares

    def predict(self, rates, terms):
        start, launch, bandwidth, l2, peak, step, side, end = self.np.exp(rates[:8])
        memory, cache, flops, steps, fill, launches, beside, ends, lines = terms.T
        flow = ((memory / bandwidth) ** 4 + (cache / l2) ** 4 + (flops / peak) ** 4 + lines ** 4) ** 0.25
        busy = ((flow / fill ** rates[8]) ** 4 + (steps * step) ** 4) ** 0.25
        return start + (launches - 1) * launch + beside / side + ends * end + busy

    def row(self, candidates, prior, level):
        np = self.np
        terms = np.array([c.terms for c in candidates])
        measured = np.log(np.array([c.measured for c in candidates]))
        weights = np.array(self.WEIGHTS) * self.CLOSER[level]
        prior = np.clip(prior, np.array(self.LEAST) + 1e-6, np.array(self.MOST) - 1e-6)

        def residuals(rates):
            return np.concatenate([np.log(self.predict(rates, terms)) - measured, weights * (rates - prior)])

        guess = prior.copy()
        guess[[0, 5]] = self.CHAIN
        found = min((self.least_squares(residuals, first, loss="soft_l1", f_scale=self.OUTLIER,
                                        bounds=(self.LEAST, self.MOST)) for first in (prior, guess)),
                    key=lambda result: result.cost)
        first = 0.5 * np.sum(2 * self.OUTLIER ** 2 * (np.sqrt(1 + (residuals(prior) / self.OUTLIER) ** 2) - 1))
        return found.x, first - found.cost

    def rows(self, cases):
        """{words: rates}"""
        groups = collections.defaultdict(list)
        for case in cases:
            for candidate in case.points():
                for words in candidate.levels():
                    groups[words].append(candidate)
        found = {}
        for level in range(4):
            for words, candidates in sorted(groups.items()):
                if sum(map(bool, words)) != level + 1:
                    continue
                parents = [words[:known] + ("",) * (4 - known) for known in range(1, level + 1)]
                prior = next((found[parent] for parent in reversed(parents) if parent in found), self.PRIOR)
                rates, gain = self.row(candidates, prior, level)
                if level == 0 or gain > self.GAIN:
                    found[words] = rates
        return found


def heading(script, files):
    """The first lines of a table of rates."""
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    names = "".join(f"//   {file.relative_to(ROOT) if file.is_relative_to(ROOT) else file.name}\n" for file in files)
    return (f"// Written by bench/scripts/{script} from these files (SHA-256 {digest}):\n{names}"
            "// Not edited by hand: run the script again after a new run.\n#pragma once\n\n")


def table(rows, files):
    text = (heading("fit_cost.py", files) +
            '#include "dense/cuda/cost_rates.hpp"\n\nnamespace lanky::dense {\n\n// clang-format off\n'
            "inline constexpr CostRates kCostRates[] = {\n"
            "    // kernel, arithmetic, layout, algorithm; start and launch in us; shares of bandwidth, L2 and\n"
            "    // peak; step in us; exponent of fill; share of the L2 for `side`; end in us\n")
    for words, rates in sorted(rows.items()):
        values = [f"{math.exp(rate):.3g}" for rate in rates[:6]] + [f"{abs(rates[8]):.2g}", *(f"{math.exp(rate):.3g}" for rate in rates[6:8])]
        text += "    {{" + ", ".join(f'"{word}"' for word in words) + "}, " + ", ".join(values) + "},\n"
    return text + "};\n// clang-format on\n\n}  // namespace lanky::dense\n"


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def replay(cases):
    """Regret of the cheapest candidate by the program's predictions, of those that were measured."""
    regrets, before = collections.defaultdict(list), collections.defaultdict(list)
    errors, worst = [], []
    for case in cases:
        chosen = case.cheapest()
        if chosen is None:
            continue
        family = case.lines[0]["family"]
        for group in (family, "all"):
            regrets[group].append(chosen.measured / case.best)
            before[group].append(case.chosen / case.best)
        errors.append(abs(math.log(chosen.predicted / chosen.measured)))
        best = min(case.timed(), key=lambda c: c.measured)
        line = case.lines[0]
        worst.append((chosen.measured / case.best, f"{case.chip} {line['case']} {line['dtype']} {line['op_a']}"
                      f"{line['op_b']} {line['layout']} {line['ld']} beta {line['beta']}: {chosen.name()} "
                      f"({chosen.predicted:.1f}, {chosen.measured:.1f}), not {best.name()} "
                      f"({best.predicted:.1f}, {best.measured:.1f})"))
    for group, values in sorted(regrets.items()):
        print(f"{group}: {len(values)} cases, regret {geometric_mean(values):.3f} (as measured then {geometric_mean(before[group]):.3f}), "
              f"90th percentile {percentile(values, 0.9):.2f} ({percentile(before[group], 0.9):.2f}), "
              f"worst {max(values):.2f} ({max(before[group]):.2f})")
    print(f"model within 25 %: {sum(e <= math.log(1.25) for e in errors) / len(errors):.0%}")
    return sorted(worst, reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--worst", type=int, default=0, help="with --report: so many cases of the greatest regret")
    arguments = parser.parse_args()
    files = arguments.files or [ROOT / name for name in FIT]
    cases = [case for file in files for case in cases_of(arguments.program, file)]
    if arguments.report:
        for regret, text in replay(cases)[:arguments.worst]:
            print(f"  {regret:.2f} {text}")
        return 0
    import numpy
    from scipy.optimize import least_squares
    rows = Fit(numpy, least_squares).rows(cases)
    TABLE.write_text(table(rows, files), encoding="utf-8")
    print(f"{TABLE.relative_to(ROOT)}: {len(rows)} rows of {len(cases)} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
