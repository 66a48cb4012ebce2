#!/usr/bin/env python3
"""Speed-ups of sparse products of several columns, Y = A X.

    bench/scripts/spmm_targets.py [--below SPEEDUP] [bench/results/h200/spmm.raw.jsonl* ...]

One line a group of products, a column a type: the geometric mean of the best time of cuSPARSE over lanky's, and the
worst point's. Every algorithm of cuSPARSE in the same layout counts: SpMM's, blocks (bsr) and, by columns, its SpMV
column after column (mv); rows that name an algorithm stand against that alone. Times are those of replayed graphs where
a product moves less than 60 MB, else of batches of launches. Files may be plain or .xz. --below lists the products
whose best rival is faster than that, in lines of time in microseconds. Exits with 1 where lanky was not right.
"""

import statistics
import sys

from jsonl import DTYPES, all_points, counted_us, geometric_mean
from markdown import heading, row
from regret import percentile
from spmv_targets import CLASSES, Targets, list_below, matrix_class, share_of_wins
from targets import run

GROUPS = (("up to 8", 1, 8), ("9 to 32", 9, 32), ("33 to 128", 33, 128))  # columns
ALGORITHMS = ("lanky auto", "cusparse default", "cusparse alg1", "cusparse alg2", "cusparse alg3")
LAYOUTS = (("row", "by rows"), ("col", "by columns"))


def speedup(point):
    return point.speedup()


def over(contestant):
    """The time of one contestant over lanky's."""

    def value(point):
        line = point.lines.get(contestant)
        return counted_us(line) / point.lanky if line and point.lanky else None

    return value


def over_spmm(point):
    """The best time of cuSPARSE's products of several columns, its SpMV column after column left out."""
    times = [counted_us(line) for name, line in point.lines.items() if name.startswith("cusparse ") and name != "cusparse mv"]
    return min(times) / point.lanky if times and point.lanky else None


def reproducible(contestant):
    """1 where equal products of the contestant had equal bits, 0 where they had not."""

    def value(point):
        found = point.lines.get(contestant, {}).get("reproducible")
        return None if found is None else float(found)

    return value


def in_layout(layout, low=1, high=float("inf")):
    """Chooses points by their layout and columns."""

    def chosen(points):
        return [p for p in points if p.line["layout"] == layout and low <= p.line["columns"] <= high]

    return chosen


def of_class(layout, name):
    return lambda points: [p for p in in_layout(layout)(points) if matrix_class(p) == name]


def judged(points):
    """All groups, and what lanky wins and loses in them."""
    t = Targets(points)
    for layout, words in LAYOUTS:
        for label, low, high in GROUPS:
            t.add(f"speed-up {words}, {label} columns", speedup, chosen=in_layout(layout, low, high))
        t.add(f"speed-up {words}", speedup, chosen=in_layout(layout))
        t.add(f"wins {words}: share of products", speedup, figure=share_of_wins, chosen=in_layout(layout))
        for label, low, high in GROUPS:
            t.add(f"wins {words}, {label} columns", speedup, figure=share_of_wins,
                  chosen=in_layout(layout, low, high))
        t.add(f"over alg3 {words}", over("cusparse alg3"), chosen=in_layout(layout))
        for name in (c for c in CLASSES if of_class(layout, c)(points)):
            t.add(f"speed-up {words}, {name}", speedup, chosen=of_class(layout, name))
        t.add(f"share of the floor {words}", lambda p: p.share(), chosen=in_layout(layout))
    t.add("over alg3", over("cusparse alg3"))
    t.add("over cuSPARSE's SpMM by columns", over_spmm, chosen=in_layout("col"))
    t.add("over cuSPARSE's SpMV, column after column", over("cusparse mv"), chosen=in_layout("col"))
    t.add("over lanky's own, column after column", over("lanky columns"), chosen=in_layout("col"))
    for name in ALGORITHMS:
        t.add(f"reproducible: share of products, {name}", reproducible(name), figure=statistics.fmean)
    return t


TABLE = ("speed-up: the best time of all of cuSPARSE's algorithms in the same layout over lanky's, geometric mean, with the share of "
         "products that lanky wins; algorithms that are wrong do not count, which in f16 leaves slow ones on matrices with long "
         "rows; reproducible: share of products whose bits are equal each time, of lanky and of cuSPARSE's ALG3")


SDDMM_TABLE = ("speed-up: the better time of cusparseSDDMM with Y transposed or taken for its transpose, in the same layout, over "
               "lanky's, geometric mean, with the share of products that lanky wins; – where cuSPARSE has no such product or a wrong result; reproducible: share of products whose bits are "
               "equal each time, of lanky and of cuSPARSE")
RIVALS = {"spmm": "cusparse alg3", "sddmm": "cusparse default"}  # whose bits stand beside lanky's, by the kind of lines


def table(points):
    """A row for each type, of products of several columns or of sampled ones."""
    groups = [(layout, words, *group) for layout, words in LAYOUTS for group in GROUPS]
    out = heading(["type", *(f"{words}, {label}" for _, words, label, _, _ in groups), "worst", "reproducible"])
    for dtype in (d for d in DTYPES if any(p.line["dtype"] == d for p in points)):
        own = [p for p in points if p.line["dtype"] == dtype]
        cells = []
        for layout, _, _, low, high in groups:
            found = [p.speedup() for p in in_layout(layout, low, high)(own) if p.speedup()]
            cells.append(f"{geometric_mean(found):.2f} ({sum(s >= 1 for s in found) / len(found):.0%})" if found else "–")
        worst = min((p for p in own if p.speedup()), key=lambda p: p.speedup(), default=None)
        same = [statistics.fmean(known) for name in ("lanky auto", RIVALS[own[0].line["kind"]])
                if (known := [each for p in own if (each := reproducible(name)(p)) is not None])]
        out += row([dtype, *cells, f"{worst.speedup():.2f} ({worst.name()})" if worst else "–", ", ".join(f"{each:.0%}" for each in same)])
    return out


PATHS_TABLE = ("CUDA over tensor: time on CUDA cores over that on tensor cores, geometric mean; tiles chosen: share of products whose plan takes "
               "a time nearer to that on tensor cores; regret: time of that plan over the least of all three, geometric mean, 99th percentile and worst")
PATHS = ("lanky auto", "lanky mma", "lanky cuda")


def paths_table(points):
    """A row for each type, layout and number of columns: both copies, and the one that plans choose."""
    out = heading(["type", "X and Y", "columns", "products", "CUDA over tensor", "tiles chosen", "regret", "99 %", "worst"])
    groups = {}
    for point in points:
        if all(name in point.lines and counted_us(point.lines[name]) for name in PATHS):
            groups.setdefault((DTYPES.index(point.line["dtype"]), point.line["layout"], point.line["columns"]), []).append(point)
    for (dtype, layout, columns), own in sorted(groups.items(), key=lambda each: (each[0][0], each[0][1] != "row", each[0][2])):
        times = [[counted_us(p.lines[name]) for name in PATHS] for p in own]
        regrets = [(auto / min(auto, mma, cuda), p) for (auto, mma, cuda), p in zip(times, own)]
        worst, where = max(regrets, key=lambda each: each[0])
        out += row([DTYPES[dtype], dict(LAYOUTS)[layout], columns, len(own), f"{geometric_mean([cuda / mma for _, mma, cuda in times]):.2f}",
                    f"{statistics.fmean(max(auto, mma) / min(auto, mma) < max(auto, cuda) / min(auto, cuda) for auto, mma, cuda in times):.0%}",
                    f"{geometric_mean([each for each, _ in regrets]):.3f}", f"{percentile([each for each, _ in regrets], 0.99):.2f}",
                    f"{worst:.2f} ({where.line['case']})"])
    return out


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], "bench/results/h200/spmm.raw.jsonl*", lambda lines: all_points(lines, "spmm"),
                 list_below, judged))
