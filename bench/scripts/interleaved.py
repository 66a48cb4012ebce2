"""Two builds of the program over the core grid in turn (`./dev bench-interleaved`): what became faster, and slower.

A file core_COMMIT.raw.jsonl.xz stands beside that of the build before, core_before_COMMIT.raw.jsonl.xz. Times are those of
replayed graphs where both have them. A product is slower, or faster, by more than 3 % and what its samples differ by.
"""

import functools
import json
import re

import fit_cost
from fit_cost import geometric_mean
from jsonl import ROOT, ResultsError
from former_names import with_todays_names
from markdown import heading, row

LIMIT = 1.03


class Pair:
    """A product's lines by both builds."""

    def __init__(self, before, after):
        timed = "graph_us" if before.get("graph_us") and after.get("graph_us") else "warm_us"
        self.line = after
        self.before_us, self.after_us = before[timed], after[timed]
        self.speedup = self.before_us / self.after_us
        self.noise = max(line.get("noise") or 0 for line in (before, after))
        self.ways = [way_of(line) for line in (before, after)]

    def faster(self):
        return self.speedup > LIMIT + self.noise

    def slower(self):
        return 1 / self.speedup > LIMIT + self.noise

    def same_way(self):
        return self.ways[0] == self.ways[1]


def way_of(line):
    """The kernel and its launch, or cuBLASLt's algorithm."""
    if line["kind"] == "spmv":
        return ""
    text = re.split(", unaligned|; for ", fit_cost.kernel_of(line))[0]
    return "; ".join(", ".join(fit_cost.configuration_of(part)) for part in text.split("; "))


def lines_of(path):
    found = {}
    for line in map(json.loads, fit_cost.text_of(path).splitlines()):
        if line["kind"] in ("gemm", "spmv") and line["contestant"] == "lanky" and line["status"] == "ok":
            line = with_todays_names(line) if line["kind"] == "gemm" else line
            found[tuple(line.get(key) for key in ("kind", *fit_cost.WAYS))] = line
    return found


@functools.cache
def pairs_of(name):
    path = ROOT / name
    before = path.with_name(path.name.replace("core_", "core_before_"))
    if not path.is_file() or not before.is_file():
        raise ResultsError(f"no {name}, or no {before.name} beside it")
    old, new = lines_of(before), lines_of(path)
    return [Pair(old[key], line) for key, line in new.items() if key in old]


def family_of(pair):
    return pair.line.get("family") or "spmv"


def table(name):
    pairs = pairs_of(name)
    text = heading(["", "products", "speed-up", "faster", "slower", "slower in the same way"])
    for family in sorted({family_of(pair) for pair in pairs}) + ["all"]:
        own = [pair for pair in pairs if family in (family_of(pair), "all")]
        slower = [pair for pair in own if pair.slower()]
        text += row([family, len(own), f"{geometric_mean([pair.speedup for pair in own]):.3f}", sum(map(Pair.faster, own)),
                     len(slower), sum(map(Pair.same_way, slower))])
    return text


def types(name, kept=lambda pair: True):
    """Speed-ups by type and family of the pairs that are kept, and how many they are."""
    pairs = [pair for pair in pairs_of(name) if kept(pair)]
    families = sorted({family_of(pair) for pair in pairs})
    text = heading(["type", *families])
    for dtype in dict.fromkeys(pair.line["dtype"] for pair in pairs):
        own = [[pair.speedup for pair in pairs if (pair.line["dtype"], family_of(pair)) == (dtype, family)]
               for family in families]
        text += row([dtype, *(f"{geometric_mean(each):.3f} ({len(each)})" if each else "" for each in own)])
    return text


def left_alone(pair):
    """Both builds leave the product to the same algorithm of cuBLASLt's."""
    return pair.same_way() and "cuBLASLt" in pair.ways[0]


def control(name):
    return types(name, left_alone)


def decided(name):
    return types(name, lambda pair: not left_alone(pair))


def name_of(way):
    """An algorithm of cuBLASLt's by its number and tile; a kernel by its name."""
    algorithm = re.search(r"algorithm (\d+ tile \d+ stages \d+ split -?\d+)", way)
    kernel = re.search(r"\w+_kernel(<[^>]*>)?", way)
    return f"cuBLASLt {algorithm[1]}" if algorithm else f"`{kernel[0]}`" if kernel else way


def losses(name):
    text = heading(["slower", "type", "layout", "microseconds", "before", "after"])
    for pair in sorted((pair for pair in pairs_of(name) if pair.slower()), key=lambda pair: pair.speedup):
        line = pair.line
        text += row([line["case"], line["dtype"], line.get("layout", ""), f"{pair.before_us:.1f} to {pair.after_us:.1f}",
                     name_of(pair.ways[0]), "the same" if pair.same_way() else name_of(pair.ways[1])])
    return text
