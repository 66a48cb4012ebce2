#!/usr/bin/env python3
"""Holds results of the sparse set against the targets of issue 4.

    bench/scripts/spmv_targets.py [--below SPEEDUP] [bench/results/h200/spmv_*.jsonl ...]

One line a target, a column a type: the measured figure, the worst matrix's, and the wanted one in brackets; met,
missed or not measured. Speed-ups are over the best of cuSPARSE's algorithms on that matrix, shares of the floor that
streams CSR, x and y once; by replayed graphs, means geometric. "large" has 2e7 entries or more, "small" at most 2e5.
Rows without a wanted figure are for information. Exits with 1 if a target is missed or nothing was measured for it.
--below lists the matrices whose best rival is faster than that.
"""

import sys

from jsonl import all_points, geometric_mean
from targets import run

TYPES = ("f64", "f32", "f16", "bf16")
SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2}
CLASSES = ("stencil", "regular", "short", "varying", "empty", "power", "uniform", "real")
LARGE, SMALL = 2e7, 2e5
REGULAR, IRREGULAR = ("stencil", "regular", "short"), ("varying", "empty", "power", "uniform")


def csr_bytes(line):
    """Of the matrix alone, offsets 32-bit where that is enough."""
    width = 4 if line["nnz"] < 2 ** 31 else 8
    return line["nnz"] * (SIZES[line["dtype"]] + 4) + (line["m"] + 1) * width


def matrix_class(point):
    return point.line.get("class", "")


def large(points, *classes):
    return [p for p in points if p.line["nnz"] >= LARGE and matrix_class(p) in classes]


def small(points, *classes):
    return [p for p in points if p.line["nnz"] <= SMALL and matrix_class(p) in classes]


def slowness(point):
    """Time over the floor's."""
    return 1 / point.share() if point.share() else None


def setup_share(point):
    """Of 20 products' time and half a millisecond."""
    if not point.own or not point.own.get("graph_us") or point.own.get("setup_us") is None:
        return None
    return point.own["setup_us"] / (20 * point.own["graph_us"] + 500)


def memory_share(point):
    """The plan's bytes over CSR's."""
    held = point.own and point.own.get("plan_bytes")
    return held / csr_bytes(point.line) if held else None


def update_share(point):
    """Of two products' time."""
    if not point.own or not point.own.get("graph_us") or point.own.get("update_us") is None:
        return None
    return point.own["update_us"] / (2 * point.own["graph_us"])


def transient_share(point):
    """What the setup took beyond the plan, over twice CSR's bytes."""
    if not point.own or point.own.get("setup_bytes") is None:
        return None
    return point.own["setup_bytes"] / (2 * csr_bytes(point.line))


class Cell:
    """What one type came to: a figure, the worst (value, point), and whether it is good enough."""

    def __init__(self, figure, worst, wanted, judged_good):
        self.figure, self.worst, self.wanted = figure, worst, wanted
        self.verdict = ("" if wanted is None else "not measured" if figure is None
                        else "met" if judged_good else "missed")

    def text(self):
        if self.figure is None:
            return "-"
        worst = "" if self.worst[0] == self.figure else f", worst {self.worst[0]:.2f}"
        wanted = "" if self.wanted is None else f" ({self.wanted:g})"
        return f"{self.figure:.2f}{worst}{wanted}"


class Targets:
    """The points of all files, and what was found of each target."""

    def __init__(self, points):
        self.points = [p for p in points if p.line["dtype"] in TYPES]
        self.rows = []  # (target, {type: Cell})

    def add(self, name, value, wanted=None, above=True, figure=geometric_mean, judge_worst=False,
            chosen=lambda points: points):
        """`wanted`: one figure, or those of f64, f32 and the half types; judged is the figure of all values, or
        the worst of them."""
        cells = {}
        for dtype in TYPES:
            goal = wanted[min(TYPES.index(dtype), 2)] if isinstance(wanted, tuple) else wanted
            here = chosen([p for p in self.points if p.line["dtype"] == dtype])
            valued = [(value(p), p) for p in here if value(p) is not None]
            if not valued:
                cells[dtype] = Cell(None, None, goal, False)
                continue
            worst = (min if above else max)(valued, key=lambda each: each[0])
            found = figure([v for v, _ in valued])
            judged_by = worst[0] if judge_worst else found
            good = goal is not None and (judged_by >= goal if above else judged_by <= goal)
            cells[dtype] = Cell(found, worst, goal, good)
        self.rows.append((name, cells))

    @staticmethod
    def verdict(cells):
        """Of all types together; "" where nothing is wanted."""
        found = {cell.verdict for cell in cells.values()}
        return next((v for v in ("missed", "not measured", "met") if v in found), "")

    def met(self):
        return all(self.verdict(cells) in ("met", "") for _, cells in self.rows)

    def table(self):
        text = "| target | " + " | ".join(TYPES) + " | | worst matrix |\n"
        text += "| --- |" + " ---: |" * len(TYPES) + " --- | --- |\n"
        for name, cells in self.rows:
            shown = [c for c in cells.values() if c.verdict == "missed"] or list(cells.values())
            worst = next((c.worst[1].name() for c in shown if c.worst), "")
            figures = " | ".join(cells[dtype].text() for dtype in TYPES)
            text += f"| {name} | {figures} | {self.verdict(cells)} | {worst} |\n"
        return text


def share_of_wins(speedups):
    return sum(s >= 1 for s in speedups) / len(speedups)


def judged(points):
    """All targets, held against the points."""
    t = Targets(points)

    def speedup(p):
        return p.speedup()

    def speedup_or_loss(p):
        return speedup(p) if p.status in ("ok", "missing") else 0

    def share(p):
        return p.share()

    t.add("mean speed-up, all matrices", speedup, (1.5, 1.8, 2.0))
    for name in CLASSES:
        t.add(f"mean speed-up, {name}", speedup,
              chosen=lambda points, name=name: [p for p in points if matrix_class(p) == name])
    t.add("wins: share of matrices", speedup_or_loss, 0.97, figure=share_of_wins)
    t.add("the worst matrix", speedup_or_loss, 0.97, figure=min)
    for label, classes, wanted in (("regular", ("regular",), (1.15, 1.3, 1.4)),
                                   ("stencil", ("stencil",), (1.3, 1.7, 2.1)),
                                   ("short", ("short",), (1.15, 1.3, 1.45)),
                                   ("varying", ("varying",), (1.0, 1.0, 0.95)),
                                   ("empty", ("empty",), (0.95, 0.92, 0.85))):
        t.add(f"share of the floor, large {label}", share, wanted,
              chosen=lambda points, classes=classes: large(points, *classes))
    t.add("speed-up, large power law", speedup, (1.4, 1.6, 1.8), chosen=lambda points: large(points, "power"))
    t.add("speed-up, large uniform", speedup, 1.03, chosen=lambda points: large(points, "uniform"))
    t.add("time over the floor's, small regular, stencil, short", slowness, 1.0, above=False,
          chosen=lambda points: small(points, *REGULAR))
    t.add("time over the floor's, small irregular", slowness, 2.0, above=False,
          chosen=lambda points: small(points, *IRREGULAR))
    t.add("time over the floor's, small real", slowness, above=False,
          chosen=lambda points: small(points, "real"))
    t.add("cold: mean speed-up, all matrices", lambda p: p.cold_speedup(), (1.3, 1.5, 1.7))
    t.add("setup over 20 products and 0.5 ms, each", setup_share, 1.0, above=False, judge_worst=True)
    t.add("memory of the plan over CSR's, each", memory_share, 1.0, above=False, judge_worst=True)
    t.add("memory of the setup beyond the plan over twice CSR's, each", transient_share, 1.0, above=False,
          judge_worst=True)
    t.add("update_values over 2 products, each", update_share, 1.0, above=False, judge_worst=True)
    return t


def list_below(points, bar):
    """The matrices whose speed-up is below the bar, worst first."""
    for p in sorted((p for p in points if p.speedup() and p.speedup() < bar), key=lambda p: p.speedup()):
        print(f"{p.speedup():5.2f} {p.share() or 0:5.2f} {p.lanky:10.2f} us, {p.rival} {p.vendor:.2f}: "
              f"{p.name()} ({matrix_class(p)}, {p.line['nnz']:.3g})")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], "bench/results/h200/spmv_*.jsonl", lambda lines: all_points(lines, "spmv"),
                 list_below, judged))
