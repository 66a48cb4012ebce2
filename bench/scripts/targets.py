#!/usr/bin/env python3
"""Holds results of the dense grid against the targets of issue 3.

    bench/scripts/targets.py [--below SPEEDUP] [bench/results/h200/gemm_*.jsonl ...]

One line a target: what it asks for, the worst measured value, how many points meet it, and the worst point. Shares
are of the streaming floor, batch over batch. A share is asked for only where the product is bound by memory, that is
where the floor takes longer than its flops at the measured arithmetic peak. Exits with 1 if a target is missed or
nothing was measured for it. A mean is followed by what it would be if every product took the time of its floor or peak.
--below lists the points whose best vendor is faster than that, with lanky's kernel.
"""

import sys

from jsonl import ResultsError, all_points, geometric_mean, in_core, read_lines

NOISE = 0.98  # of the vendor's speed, where equality is asked for
HALF = ("f16", "bf16")


def square(line):
    """The diagonal of the grid: one skinny size."""
    return line["k"] == line["n"] if line["family"] == "update" else line["m"] == line["n"]


class Targets:
    """The points of all files, and what was found of each target."""

    def __init__(self, points):
        self.core = [p for p in points if in_core(p)]
        self.points = points
        self.rows = []

    def choose(self, family, chosen):
        return [p for p in self.core if p.line["family"] == family and chosen(p.line)]

    def each(self, name, points, value, wanted, above=True):
        """Every point's value must reach wanted (a number, or a function of the point)."""
        judged = []
        for point in points:
            found = value(point)
            goal = wanted(point) if callable(wanted) else wanted
            if found is None or goal is None:
                if point.status != "ok" and point.status != "missing":
                    judged.append((float("-inf"), None, goal, point))
                continue
            judged.append((found - goal if above else goal - found, found, goal, point))
        judged.sort(key=lambda each: each[0])
        met = sum(margin >= 0 for margin, *_ in judged)
        if not judged:
            self.rows.append((name, "-", "0 of 0", "not measured", ""))
            return
        _, found, goal, worst = judged[0]
        text = worst.status if found is None else f"{found:.3g} ({goal:.3g})"
        self.rows.append((name, text, f"{met} of {len(judged)}",
                          "met" if met == len(judged) else "missed", worst.name()))

    def share(self, name, points, wanted):
        self.each(name, [p for p in points if p.memory_bound()], lambda p: p.share(), wanted)

    def speedup(self, name, points, wanted):
        self.each(name, points, lambda p: p.speedup(), wanted)

    def mean_speedup(self, name, points, wanted):
        speedups = [p.speedup() for p in points if p.speedup()]
        if not speedups:
            self.rows.append((name, "-", "0 of 0", "not measured", ""))
            return
        mean = geometric_mean(speedups)
        ceiling = geometric_mean([p.vendor / p.limit() for p in points if p.vendor and p.limit()])
        self.rows.append((name, f"{mean:.2f} ({wanted:g})", f"{len(speedups)} points",
                          "met" if mean >= wanted else "missed",
                          f"floor and peak themselves: {ceiling:.2f}"))

    def met(self):
        return all(row[3] == "met" for row in self.rows)

    def table(self):
        rows = ["| " + " | ".join(row) + " |\n" for row in self.rows]
        return ("| target | worst (wanted) | met by | | worst point |\n"
                "| --- | ---: | ---: | --- | --- |\n" + "".join(rows))


def gram_targets(t):
    def gram(k, sizes, chosen=lambda line: True):
        return t.choose("gram", lambda line: line["k"] == k and line["n"] in sizes and square(line)
                        and chosen(line))

    small, large = (1, 2, 3, 4, 8), (16, 32)
    t.share("gram n <= 8, k = 1e7: share .96 (half types n <= 2: .88)", gram(10**7, small),
            lambda p: 0.88 if p.line["dtype"] in HALF and p.line["n"] <= 2 else 0.96)
    t.each("gram n <= 8, k = 1e6: us, floor / .97 + 1.5", gram(10**6, small), lambda p: p.lanky,
           lambda p: p.floor / 0.97 + 1.5 if p.floor else None, above=False)
    for k, col, row in ((10**7, 0.94, 0.96), (10**6, 0.86, 0.88)):
        for layout, goal in (("col", col), ("row", row)):
            t.share(f"gram n = 16, 32, k = {k:.0e}, {layout}: share {goal}".replace("+0", ""),
                    gram(k, large, lambda line, layout=layout: line["layout"] == layout), goal)
    for sizes, extra in ((small, 1.5), (large, 4)):
        t.each(f"gram k = 1e5, n = {sizes[0]}..{sizes[-1]}: graph us, floor + {extra}",
               [p for p in gram(10**5, sizes) if p.memory_bound()],
               lambda p: p.own and p.own["graph_us"],
               lambda p, extra=extra: p.own["floor_us"] + extra if p.own and p.own["floor_us"] else None,
               above=False)
    long_64 = t.choose("gram", lambda line: line["k"] >= 10**6 and line["n"] == 64 and square(line))
    t.speedup("gram n = 64, f64 and f16, k >= 1e6: best vendor x 1.0",
              [p for p in long_64 if p.line["dtype"] in ("f64", "f16")], NOISE)
    t.each("gram n = 64, tf32x3, k >= 1e6: share .75",
           [p for p in long_64 if p.line["dtype"] == "tf32x3"], lambda p: p.share(), 0.75)


def symmetric_target(t):
    general = {(p.line["k"], p.line["n"], p.line["dtype"], p.line["layout"]): p
               for p in t.choose("gram", square)}

    def gain(p):
        other = general.get((p.line["k"], p.line["n"], p.line["dtype"], p.line["layout"]))
        return other.lanky / p.lanky if other and other.lanky and p.lanky else None

    def counts(p):
        other = general.get((p.line["k"], p.line["n"], p.line["dtype"], p.line["layout"]))
        return other and other.memory_bound() and p.memory_bound() and other.line["bytes"] >= 250e6

    t.each("C = A^T A against the general gram, memory-bound, >= 250 MB: 1.6x",
           [p for p in t.choose("syrk", lambda line: True) if counts(p)], gain, 1.6)


def update_targets(t):
    def update(sizes):
        return t.choose("update", lambda line: line["m"] >= 10**6 and line["n"] in sizes and square(line))

    t.share("update n <= 16, m >= 1e6: share .95", update((2, 3, 4, 5, 8, 16)), 0.95)
    t.share("update n = 32, m >= 1e6: share .92 (f32 row-major .78)", update((32,)),
            lambda p: 0.78 if (p.line["dtype"], p.line["layout"]) == ("f32", "row") else 0.92)


def panel_targets(t):
    def panel(dtype, sides, sizes):
        return t.choose("panel", lambda line: line["m"] == line["k"] and line["m"] in sides
                        and line["n"] in sizes and line["dtype"] == dtype and line["layout"] == "col")

    large = (20480, 30720)
    for dtype, sides, sizes, goal in (("f32", large, (1, 2, 3, 4, 8), 0.94),
                                      ("f32", (10240,), (1, 2, 3, 4, 8), 0.88),
                                      ("f32", large, (16,), 0.80), ("tf32x3", large, (16,), 0.88),
                                      ("tf32x3", large, (32,), 0.82), ("tf32x3", large, (64,), 0.60)):
        n = f"n <= {sizes[-1]}" if len(sizes) > 1 else f"n = {sizes[0]}"
        side = f">= {sides[0]}" if len(sides) > 1 else str(sides[0])
        t.each(f"panel {dtype} {n}, {side}: share {goal:.2f}", panel(dtype, sides, sizes),
               lambda p: p.share(), goal)


def vendor_targets(t):
    t.speedup("f32 n >= 32, f64 n >= 64 where compute-bound: best vendor x 1.0",
              [p for p in t.core if not p.memory_bound() and p.floor
               and ((p.line["dtype"] == "f32" and p.line["n"] >= 32)
                    or (p.line["dtype"] == "f64" and p.line["n"] >= 64))], NOISE)
    for family in ("update", "gram"):
        t.mean_speedup(f"{family} n <= 32 against the best vendor: mean 3x",
                       t.choose(family, lambda line: max(line["n"], min(line["m"], line["k"])) <= 32), 3)
    t.mean_speedup("update and gram together, n <= 32: mean 3x",
                   [p for family in ("update", "gram") for p in t.choose(
                       family, lambda line: max(line["n"], min(line["m"], line["k"])) <= 32)], 3)
    t.mean_speedup("panel f32 n = 2..16 against the best vendor: mean 1.4x",
                   t.choose("panel", lambda line: line["dtype"] == "f32" and 2 <= line["n"] <= 16), 1.4)
    t.speedup("any point of the core against the best vendor: 0.98x", t.core, NOISE)
    t.speedup("any point of the sample against the best vendor: 0.98x",
              [p for p in t.points if not in_core(p)], NOISE)


def accuracy_target(t):
    """Sums of f32 in double, which some of lanky's kernels have, are no measure of IEEE arithmetic of
    floats: that is the worst of lanky's and the vendors' f32 on the same data."""
    ieee = {(p.line["family"], p.line["case"]): p for p in t.core
            if p.line["dtype"] == "f32" and p.line["layout"] == "col"}

    def ratio(p):
        other = ieee.get((p.line["family"], p.line["case"]))
        if not (p.own and other and p.own["error"] and other.worst_error):
            return None
        return p.own["error"] / other.worst_error

    t.each("tf32x3's error over that of IEEE f32 (lanky or a vendor), same data: 3",
           [p for p in t.core if p.line["dtype"] == "tf32x3"], ratio, 3, above=False)


def list_below(points, bar):
    """The points whose speed-up is below the bar, worst first."""
    for p in sorted((p for p in points if p.speedup() and p.speedup() < bar), key=lambda p: p.speedup()):
        print(f"{p.speedup():5.2f} {p.share():4.0%} {p.lanky:10.2f} us, {p.rival} {p.vendor:.2f}: "
              f"{p.name()}: {p.own.get('kernel', '')}")


def judged(points):
    """All targets, held against the points."""
    targets = Targets(points)
    for judge in (gram_targets, symmetric_target, update_targets, panel_targets, vendor_targets,
                  accuracy_target):
        judge(targets)
    return targets


def run(arguments, default, points_of_lines, list_points_below, judge_points):
    """The script on the files of `arguments`, or `default`; its exit code."""
    below = None
    if arguments[:1] == ["--below"]:
        below, arguments = float(arguments[1]), arguments[2:]
    try:
        lines = []
        for pattern in arguments or [default]:
            lines += read_lines(pattern)[1]
    except ResultsError as error:
        print(error, file=sys.stderr)
        return 2
    points = points_of_lines(lines)
    if below is not None:
        list_points_below(points, below)
        return 0
    targets = judge_points(points)
    print(targets.table(), end="")
    not_ok = [p for p in points if p.status != "ok"]
    print(f"\n{len(points)} points, {len(not_ok)} not ok"
          + "".join(f"\n  {p.name()}: {p.status}" for p in not_ok[:20]))
    return 0 if targets.met() and not not_ok else 1


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], "bench/results/h200/gemm_*.jsonl", all_points, list_below, judged))
