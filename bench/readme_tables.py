#!/usr/bin/env python3
"""Writes the tables of README.md and docs/*.md from JSON lines.

A table stands between two markers and is replaced as a whole:

    <!-- table: KIND bench/results/h200/FILE.jsonl -->
    <!-- end table -->

KIND is spmv-summary, spmv, spmv-paths, gemm-summary or gemm. Without arguments all tables are written anew;
--check changes nothing and fails where a text differs from its file.
"""

import difflib
import json
import math
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKED = re.compile(r"(<!-- table: ([\w-]+) (\S+) -->\n)(.*?)(<!-- end table -->)", re.DOTALL)
DTYPES = ("f64", "f32", "tf32", "tf32x3", "f16", "bf16", "c64", "c128")


class TableError(Exception):
    """A table that cannot be made; the message says why."""


class Point:
    """One case in one type: lanky's best time beside the vendors' best and the floor's."""

    def __init__(self, line):
        self.line = line
        self.lanky = None
        self.vendor = None
        self.floor = None
        self.status = "missing"

    def add(self, line):
        by_graph = line["kind"] == "spmv" and line.get("graph_us") is not None
        time = line.get("graph_us" if by_graph else "warm_us")
        lanky = line["contestant"] == "lanky"
        if lanky and line["variant"] != "auto":
            return  # what a user gets counts, not the best of what could be asked for
        if lanky:
            self.status = line["status"]
        if line["status"] != "ok" or time is None:
            return
        name = "lanky" if lanky else "vendor"
        best = getattr(self, name)
        setattr(self, name, time if best is None else min(best, time))
        self.floor = line["floor_us" if by_graph else "floor_batch_us"]

    def speedup(self):
        return self.vendor / self.lanky if self.lanky and self.vendor else None

    def share(self):
        return self.floor / self.lanky if self.lanky and self.floor else None


def read_lines(path):
    """(env lines, result lines) of a file, later results in place of earlier ones."""
    if not path.is_file():
        raise TableError(f"{path.relative_to(ROOT)} does not exist")
    environments, results = [], {}
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
        except ValueError as error:
            raise TableError(f"{path.relative_to(ROOT)}:{number}: {error}") from error
        if line["kind"] == "env":
            if line.get("void"):
                raise TableError(f"{path.relative_to(ROOT)}:{number}: this run is void")
            environments.append(line)
        else:
            key = [line.get(k) for k in ("kind", "case", "dtype", "layout", "ld", "beta", "op_a", "op_b",
                                         "contestant", "variant")]
            results[json.dumps(key)] = line
    if not environments:
        raise TableError(f"{path.relative_to(ROOT)} has no env line")
    return environments, list(results.values())


def points_of(lines, kind):
    """{case key: {dtype: Point}} in the order of the file."""
    cases = {}
    for line in lines:
        if line["kind"] != kind or "dtype" not in line:
            continue  # a file that could not be read has no type
        key = tuple(line.get(k) for k in ("case", "layout", "ld", "beta", "op_a", "op_b"))
        point = cases.setdefault(key, {}).setdefault(line["dtype"], Point(line))
        point.add(line)
    return cases


def dtypes_of(cases):
    present = {dtype for points in cases.values() for dtype in points}
    return [dtype for dtype in DTYPES if dtype in present]


def count(value):
    """Three digits of a size; the thresholds keep 999,999 from becoming 1e+03k."""
    if value < 10_000 and value % 1000:
        return str(value)
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= 0.9995 * size:
            return f"{value / size:.3g}{unit}"
    return str(value)


def cell(point):
    if point is None:
        return ""
    if point.lanky is None:
        return point.status
    speedup, share = point.speedup(), point.share()
    ratio = f"{speedup:.2f}" if speedup else "-"
    return f"{ratio} ({share:.0%})" if share else ratio


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def heading(names):
    return row(names) + row(["---"] + ["---:"] * (len(names) - 1))


def case_table(cases, kind):
    dtypes = dtypes_of(cases)
    sizes = ["rows", "nonzeros"] if kind == "spmv" else ["m x n x k", "layout"]
    text = heading(["case"] + sizes + dtypes)
    for points in cases.values():
        line = next((p.line for p in points.values() if "m" in p.line), None)
        if line is None:
            continue  # failed before its size was known
        if kind == "spmv":
            size = [count(line["m"]), count(line["nnz"])]
        else:
            size = [" x ".join(count(line[k]) for k in "mnk"), line["layout"]]
            size[1] += " padded" if line.get("ld") == "padded" else ""
        text += row([line["case"]] + size + [cell(points.get(dtype)) for dtype in dtypes])
    return text


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def summary_table(cases, kind):
    by_family = kind == "gemm"
    text = heading((["family"] if by_family else []) +
                   ["type", "cases", "speed-up", "least", "most", "faster", "of floor", "not ok"])
    families = []
    for points in cases.values():
        for point in points.values():
            family = point.line.get("family", "")
            if family not in families:
                families.append(family)
    for family in families:
        for dtype in dtypes_of(cases):
            points = [p[dtype] for p in cases.values()
                      if dtype in p and p[dtype].line.get("family", "") == family]
            if not points:
                continue
            speedups = [p.speedup() for p in points if p.speedup()]
            shares = [p.share() for p in points if p.share()]
            cells = ([family] if by_family else []) + [dtype, str(len(points))]
            if speedups:
                cells += [f"{geometric_mean(speedups):.2f}", f"{min(speedups):.2f}",
                          f"{max(speedups):.2f}", f"{sum(s >= 1 for s in speedups)}"]
            else:
                cells += ["-", "-", "-", "-"]
            cells.append(f"{statistics.median(shares):.0%}" if shares else "-")
            cells.append(str(sum(p.status != "ok" for p in points)))
            text += row(cells)
    return text


def paths_table(lines):
    """Time of the CUDA-core kernels over that of the plan's own choice, by type."""
    times = {}
    for line in lines:
        if line["kind"] == "spmv" and line["contestant"] == "lanky" and line["status"] == "ok":
            times.setdefault(line["dtype"], {}).setdefault(line["case"], {})[line["variant"]] = \
                line["graph_us"]
    text = heading(["type", "cases", "cuda / auto", "least", "most"])
    for dtype in (dtype for dtype in DTYPES if dtype in times):
        ratios = [t["cuda"] / t["auto"] for t in times[dtype].values() if {"cuda", "auto"} <= t.keys()]
        if ratios:
            text += row([dtype, str(len(ratios)), f"{geometric_mean(ratios):.3f}",
                         f"{min(ratios):.2f}", f"{max(ratios):.2f}"])
    return text


def source(environments, name, kind, meaning):
    env = environments[-1]
    machine = env["gpu"] or env.get("cpu", "cpu")
    versions = f", CUDA {env['cuda']}" if env["cuda"] else ""
    library = "cusparse" if kind == "spmv" else "cublas"
    if env.get(library):
        versions += f", {'cuSPARSE' if kind == 'spmv' else 'cuBLAS'} {env[library]}"
    timing = "replayed CUDA graphs" if kind == "spmv" and env["gpu"] else "batches of launches"
    return (f"\n`{name}`: {machine}{versions}, commit {env['commit'][:12]}"
            f"{'+dirty' if env['commit'].endswith('+dirty') else ''}, {env['utc'][:10]}; "
            f"{timing}; {meaning}.\n")


MEANING = {
    "": "the best vendor's time over lanky's (lanky's share of the floor)",
    "summary": "speed-up: geometric mean of the best vendor's time over lanky's; of floor: median",
    "paths": "time of lanky's CUDA-core kernels over that of the kernels its plan chooses, geometric mean",
}


def make_table(kind, name):
    subject, _, form = kind.partition("-")
    if subject not in ("spmv", "gemm") or form not in MEANING or kind == "gemm-paths":
        raise TableError(f"unknown table {kind}; use spmv, spmv-summary, spmv-paths, gemm or "
                         "gemm-summary")
    environments, lines = read_lines(ROOT / name)
    cases = points_of(lines, subject)
    if not cases:
        raise TableError(f"{name} has no {subject} lines")
    if form == "paths":
        table = paths_table(lines)
    else:
        table = (summary_table if form else case_table)(cases, subject)
    return "\n" + table + source(environments, name, subject, MEANING[form]) + "\n"


def rewritten(text):
    if text.count("<!-- table:") != len(MARKED.findall(text)):
        raise TableError("a table's marker is misspelt, or has no <!-- end table -->")
    return MARKED.sub(lambda m: m[1] + make_table(m[2], m[3]) + m[5], text)


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    check = arguments == ["--check"]
    tables = stale = 0
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        tables += len(MARKED.findall(text))
        try:
            wanted = rewritten(text)
        except TableError as error:
            print(f"{path.relative_to(ROOT)}: {error}", file=sys.stderr)
            return 1
        if wanted == text:
            continue
        stale += 1
        if check:
            sys.stderr.writelines(difflib.unified_diff(
                text.splitlines(True), wanted.splitlines(True), f"{path.name} as it is",
                f"{path.name} from its files"))
        else:
            path.write_text(wanted, encoding="utf-8")
    print(f"{tables} tables, {stale} pages {'differ' if check else 'rewritten'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
