"""Results as the scripts beside this one read them: the lines of files, and points made of them."""

import functools
import glob
import json
import lzma
import math
import pathlib
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DTYPES = ("f64", "f32", "tf32x3", "tf32", "f16", "bf16", "c64", "c128")
FAMILIES = ("panel", "update", "gram", "syrk", "regular")
# What tells one combination of a case from another, its type aside.
WAYS = ("layout", "ld", "alpha", "beta", "op_a", "op_b", "out", "columns")
SHORT = 60e6  # bytes: a batch of sparse products of several columns that move fewer waits for the host's launches


class ResultsError(Exception):
    """Files that nothing can be made of; the message says why."""


class Point:
    """One case in one type: lanky's time beside the vendors' best and the floor's."""

    def __init__(self, line):
        self.line = line
        self.lanky = None
        self.vendor = None
        self.floor = None
        self.peak = None
        self.vendor_cold = None
        self.rival = ""  # the best vendor's name
        self.lines = {}  # all that are right and timed, by "contestant variant"
        self.own = None  # lanky's line, where it is ok
        self.worst_error = 0.0  # of lanky and the vendors
        self.status = "missing"

    def add(self, line):
        by_graph = counts_by_graph(line)
        time = counted_us(line)
        lanky = line["contestant"] == "lanky"
        if line["status"] == "ok" and time is not None:
            self.lines[f"{line['contestant']} {line['variant']}"] = line
        if lanky and line["variant"] != "auto":
            return  # what a user gets counts, not the best of what could be asked for
        if lanky:
            self.status = line["status"]
        if line["status"] != "ok" or time is None:
            return
        self.floor = line["floor_us" if by_graph else "floor_batch_us"]
        self.peak = line.get("peak_us")
        self.worst_error = max(self.worst_error, line.get("error") or 0.0)
        if lanky:
            self.lanky, self.own = time, line
            return
        if line.get("cold_us") is not None:
            self.vendor_cold = min(line["cold_us"], self.vendor_cold or line["cold_us"])
        if self.vendor is None or time < self.vendor:
            self.vendor = time
            self.rival = f"{line['contestant']} {line['variant']}"

    def speedup(self):
        return self.vendor / self.lanky if self.lanky and self.vendor else None

    def cold_speedup(self):
        own = self.own and self.own.get("cold_us")
        return self.vendor_cold / own if own and self.vendor_cold else None

    def share(self):
        """Of the floor, of which a batch is compared with a batch."""
        return self.floor / self.lanky if self.lanky and self.floor else None

    def vendor_share(self):
        return self.floor / self.vendor if self.vendor and self.floor else None

    def limit(self):
        """What neither memory nor arithmetic allows to beat: the slower of floor and peak."""
        return max(self.floor, self.peak or 0) if self.floor else None

    def of_limit(self):
        return self.limit() / self.lanky if self.lanky and self.floor else None

    def memory_bound(self):
        return self.floor is not None and (self.peak or 0) <= self.floor

    def name(self):
        """The case with all that tells it from others."""
        line = self.line
        words = [line["case"], line["dtype"]]
        if line["kind"] in ("spmm", "sddmm"):
            words += ["x", str(line["columns"]), line["layout"]]
        if line["kind"] == "gemm":
            if wide(line):
                words[1] += ">f32"
            words.append(line["layout"])
            own = "tn" if line["family"] in ("gram", "syrk") else "nn"
            if line["op_a"] + line["op_b"] != own:
                words.append(line["op_a"] + line["op_b"])
            if line.get("ld") == "padded":
                words.append("padded")
            if line.get("beta"):
                words.append(f"beta {line['beta']:g}")
        return " ".join(words)


def counts_by_graph(line):
    """Whether a product is compared by its replayed graph, not by a batch: sparse ones are, of several columns and
    sampled ones those that are short."""
    if line.get("graph_us") is None:
        return False
    return line["kind"] == "spmv" or (line["kind"] in ("spmm", "sddmm") and line["bytes"] < SHORT)


def counted_us(line):
    """The time that is compared."""
    return line.get("graph_us" if counts_by_graph(line) else "warm_us")


def wide(line):
    """Whether 16-bit factors give an fp32 result."""
    return line.get("out") == "f32" and line["dtype"] in ("f16", "bf16")


def device_us(line):
    """Microseconds on the device: by graph where that was timed, since a batch of short products waits for the host."""
    return line.get("graph_us") or line["warm_us"]


def text_of(path):
    """What a file holds, plain or .xz."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as file:
        return file.read()


def relative(path):
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


@functools.cache
def read_lines(pattern):
    """(env lines, result lines) of a file or a glob, later results in place of earlier ones."""
    paths = sorted(pathlib.Path(p) for p in glob.glob(str(ROOT / pattern)))
    if not paths:
        raise ResultsError(f"{pattern} does not exist")
    environments, results = [], {}
    for path in paths:
        found = len(environments)
        for number, text in enumerate(text_of(path).splitlines(), 1):
            try:
                line = json.loads(text)
            except ValueError as error:
                raise ResultsError(f"{relative(path)}:{number}: {error}") from error
            if line["kind"] == "env":
                if line.get("void"):
                    raise ResultsError(f"{relative(path)}:{number}: this run is void")
                environments.append(line)
            else:
                if line["kind"] == "gemm" and "family" in line:
                    line.setdefault("alpha", 1.0)  # lines of version 0.1
                    line.setdefault("out", line["dtype"])
                key = [line.get(k) for k in ("kind", "family", "case", "dtype", *WAYS, "contestant",
                                             "variant")]
                if line["kind"] not in ("spmv", "spmm", "sddmm", "gemm", "matrix", "read"):
                    key = [str(path), number]  # of ladders and applications, whose runs begin a file anew
                results[json.dumps(key)] = line
        if len(environments) == found:
            raise ResultsError(f"{relative(path)} has no env line")
    return environments, list(results.values())


def points_of(lines, kind):
    """{case key: {dtype: Point}} in the order of the file; the key begins with the case's name."""
    cases = {}
    for line in lines:
        if line["kind"] != kind or "dtype" not in line:
            continue  # a file that could not be read has no type
        ways = [line.get(k) for k in WAYS if k != "out"]
        key = (line["case"], *ways, wide(line))
        point = cases.setdefault(key, {}).setdefault(line["dtype"], Point(line))
        point.add(line)
    return cases


def all_points(lines, kind="gemm"):
    """Those that were measured, in the order of the files."""
    return [point for points in points_of(lines, kind).values() for point in points.values()
            if kind != "gemm" or "family" in point.line]


def in_core(point):
    """The combinations that every committed run measures whole (bench/cases/full_grid.hpp)."""
    line = point.line
    own = ("t", "n") if line["family"] in ("gram", "syrk") else ("n", "n")
    return ((line["layout"] == "col" or line["dtype"] in ("f64", "f32", "f16"))
            and (line["op_a"], line["op_b"]) == own and line.get("ld") == "tight"
            and line.get("alpha", 1) == 1 and line.get("beta") == 0 and not wide(line))


def long_side(line):
    """The size that a family's shapes differ by: (what it is called, its value)."""
    if line["family"] == "panel":
        return "m" if line["m"] == line["k"] else "m x 1024", line["m"]
    return ("m", line["m"]) if line["family"] == "update" else ("k", line["k"])


def geometric_mean(values):
    if 0 in values:
        return 0.0
    return math.exp(statistics.fmean(map(math.log, values)))


def commits(environments):
    """The commits of all calls: one, if the results are of one run."""
    found = []
    for env in environments:
        text = env["commit"][:12] + ("+dirty" if env["commit"].endswith("+dirty") else "")
        if text not in found:
            found.append(text)
    return found
