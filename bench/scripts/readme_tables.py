#!/usr/bin/env python3
"""Writes the tables of README.md and the pages under docs/, and the plots under docs/plots/, from JSON lines.

A table stands between two markers and is replaced as a whole:

    <!-- table: KIND bench/results/h200/FILE.jsonl -->
    <!-- end table -->

KIND is python, python-host, python-steps, read, cpu-spmv, cpu-spmv-losses, cpu-spmm, cpu-sddmm, spmv-summary, spmv, spmv-paths, spmv-classes, spmv-break-even, spmv-targets, gemm, gemm-overview,
gemm-worst, gemm-sample, gemm-targets, gemm-grid:FAMILY, reliability:PART, one of solver_tables.py, bound_tables.py, petsc_tables.py or scaling_tables.py, unseen-spmv, unseen-gemm, spmm, spmm-paths, sddmm, or one of ladder_tables.py. FILE may be a pattern such as gemm_*.jsonl. The plots
are those of plots.py, spmv_plots.py, spmm_plots.py, ladder_plots.py and scaling_plot.py. Without arguments all tables and plots are written anew;
--check changes nothing and fails where a text differs from its files.
"""

import difflib
import re
import statistics
import sys

import bound_tables
import break_even
import cpu_spmv
import interleaved
import ladder_plots
import ladder_tables
import needed_kernels
import petsc_tables
import plots
import python_tables
import regret
import reliability_tables
import scaling_plot
import scaling_tables
import solver_tables
import spmm_plots
import spmm_targets
import spmv_plots
import spmv_targets
import targets
import unseen
from jsonl import (DTYPES, FAMILIES, ROOT, ResultsError, all_points, commits, geometric_mean, in_core,
                   points_of, read_lines, wide)
from markdown import heading, row

MARKED = re.compile(r"(<!-- table: ([\w:-]+) (\S+) -->\n)(.*?)(<!-- end table -->)", re.DOTALL)
CPU_SPMV = {"cpu-spmv": cpu_spmv.table, "cpu-spmv-losses": cpu_spmv.losses, "cpu-spmm": cpu_spmv.columns_table,
            "cpu-sddmm": cpu_spmv.sampled_table}
COLUMNS = {"spmm": ("spmm", spmm_targets.table, spmm_targets.TABLE),
           "sddmm": ("sddmm", spmm_targets.table, spmm_targets.SDDMM_TABLE),
           "spmm-paths": ("spmm", spmm_targets.paths_table, spmm_targets.PATHS_TABLE)}
GEMM_KINDS = ("gemm", "gemm-overview", "gemm-worst", "gemm-sample", "gemm-targets", "gemm-grid")
SPMV_KINDS = ("spmv", "spmv-summary", "spmv-paths", "spmv-classes", "spmv-break-even", "spmv-targets")


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


def summary_table(cases):
    text = heading(["type", "cases", "speed-up", "least", "most", "faster", "of floor", "not ok"])
    for dtype in dtypes_of(cases):
        points = [p[dtype] for p in cases.values() if dtype in p]
        speedups = [p.speedup() for p in points if p.speedup()]
        shares = [p.share() for p in points if p.share()]
        cells = [dtype, str(len(points))]
        if speedups:
            cells += [f"{geometric_mean(speedups):.2f}", f"{min(speedups):.2f}",
                      f"{max(speedups):.2f}", f"{sum(s >= 1 for s in speedups)}"]
        else:
            cells += ["-", "-", "-", "-"]
        cells.append(f"{statistics.median(shares):.0%}" if shares else "-")
        cells.append(str(sum(p.status != "ok" for p in points)))
        text += row(cells)
    return text


def overview_cell(points):
    """"1.41 (87%, >= 0.98)": speed-up, share of the limit, the worst speed-up."""
    speedups = [p.speedup() for p in points if p.speedup()]
    shares = [p.of_limit() for p in points if p.of_limit()]
    failed = sum(p.status != "ok" for p in points)
    text = ""
    if speedups:
        text = f"**{geometric_mean(speedups):.2f}** ({geometric_mean(shares):.0%}, \u2265 {min(speedups):.2f})"
    elif shares:
        text = f"- ({geometric_mean(shares):.0%})"
    return text + (f" {failed} not ok" if failed else "")


def layouts_of(points):
    """(type, layout) of the core, column-major first."""
    present = {(p.line["dtype"], p.line["layout"]) for p in points}
    return [(dtype, layout) for layout in ("col", "row") for dtype in DTYPES
            if (dtype, layout) in present]


def overview_table(points):
    points = [p for p in points if in_core(p)]
    families = [f for f in FAMILIES if any(p.line["family"] == f for p in points)]
    text = heading(["type"] + families)
    for dtype, layout in layouts_of(points):
        here = [p for p in points if (p.line["dtype"], p.line["layout"]) == (dtype, layout)]
        text += row([dtype + (" row-major" if layout == "row" else "")] +
                    [overview_cell([p for p in here if p.line["family"] == f]) for f in families])
    return text


def worst_table(points):
    """The points where lanky is slowest beside the best vendor."""
    shown = 10
    ranked = sorted((p for p in points if p.speedup()), key=lambda p: p.speedup())
    text = heading(["case", "speed-up", "of floor", "lanky us", "best vendor us", "which"])
    for p in ranked[:shown]:
        text += row([p.name(), f"{p.speedup():.2f}", f"{p.share():.0%}", f"{p.lanky:.1f}",
                     f"{p.vendor:.1f}", p.rival])
    return text


def sample_table(points):
    """The sample by each of the ways in which its points leave the core."""
    points = [p for p in points if not in_core(p)]
    text = heading(["", "cases", "speed-up", "least", "below 0.98", "of limit", "not ok"])
    ways = [("all", lambda line: True)]
    ways += [(f, lambda line, f=f: line["family"] == f) for f in FAMILIES]
    ways += [("column-major", lambda line: line["layout"] == "col"),
             ("row-major", lambda line: line["layout"] == "row"),
             ("padded", lambda line: line["ld"] == "padded"),
             ("alpha 2, beta 0.5", lambda line: line["beta"] != 0),
             ("16-bit to f32", wide),
             ("conjugated", lambda line: "c" in line["op_a"] + line["op_b"])]
    for label, chosen in ways:
        here = [p for p in points if chosen(p.line)]
        speedups = [p.speedup() for p in here if p.speedup()]
        shares = [p.of_limit() for p in here if p.of_limit()]
        if not here:
            continue
        cells = [label, str(len(here))]
        cells += ([f"{geometric_mean(speedups):.2f}", f"{min(speedups):.2f}",
                   str(sum(s < 0.98 for s in speedups))] if speedups else ["-", "-", "-"])
        cells += [f"{geometric_mean(shares):.0%}" if shares else "-",
                  str(sum(p.status != "ok" for p in here))]
        text += row(cells)
    return text


def grid_table(points, family):
    """Every case of a family's core, a column for each type and layout."""
    points = [p for p in points if in_core(p) and p.line["family"] == family]
    columns = layouts_of(points)
    cases = {}
    for p in points:
        cases.setdefault(p.line["case"], {})[(p.line["dtype"], p.line["layout"])] = p
    text = heading([family] + [d + (" row" if layout == "row" else "") for d, layout in columns])
    for case, by_column in cases.items():
        text += row([case.removeprefix(family + "-")] + [cell(by_column.get(c)) for c in columns])
    return text


def classes_table(points):
    """A row for each class of matrices, a column for each type."""
    dtypes = [d for d in DTYPES if any(p.line["dtype"] == d for p in points)]
    text = heading(["class", "matrices"] + dtypes)
    chosen = {"all": points}
    for name in spmv_targets.CLASSES:
        chosen[name] = [p for p in points if spmv_targets.matrix_class(p) == name]
    for name, here in chosen.items():
        if here:
            text += row([name, str(len({p.line["case"] for p in here}))] +
                        [overview_cell([p for p in here if p.line["dtype"] == d]) for d in dtypes])
    return text


def paths_table(lines):
    """Time of the tensor-core paths over that of the CUDA cores, by case."""
    times, cases = {}, {}
    for line in lines:
        if line["kind"] == "spmv" and line["contestant"] == "lanky" and line["status"] == "ok":
            cases.setdefault(line["case"], line)
            times[line["case"], line["dtype"], line["variant"]] = line["graph_us"]
    columns = sorted({(dtype, variant) for _, dtype, variant in times if variant not in ("cuda", "auto")},
                     key=lambda column: (DTYPES.index(column[0]), column[1]))
    text = heading(["case", "class", "nonzeros"] + [f"{dtype} {variant}" for dtype, variant in columns])
    for case, line in cases.items():
        ratios = [(times.get((case, dtype, variant)), times.get((case, dtype, "cuda")))
                  for dtype, variant in columns]
        text += row([case, line.get("class", ""), count(line["nnz"])] +
                    [f"{own / cuda:.2f}" if own and cuda else "" for own, cuda in ratios])
    return text


def read_table(lines):
    """Files as lanky and SciPy read them, and their caches."""
    cases = {}
    for line in lines:
        if line["kind"] == "read":
            cases.setdefault(line["case"], {})[line["contestant"]] = line
    text = heading(["file", "size", "lanky", "mmread", "mmread, tocsr", "peak memory over the CSR's",
                    "its cache"])
    for case, readers in cases.items():
        own, plain, csr, cache, raw = (readers[name] for name in ("lanky", "scipy-mmread", "scipy-mmread-tocsr",
                                                                  "lanky-cache", "bytes-of-cache"))
        if any(line["status"] != "ok" for line in readers.values()):
            raise ResultsError(f"{case}: a reader's result is not ok")
        peaks = [f"{line['peak_bytes'] / line['csr_bytes']:.2f}" for line in (own, plain, csr)]
        rates = [f"{line['file_bytes'] / line['median_s'] / 1e6:.0f} MB/s" for line in (own, plain, csr, cache)]
        ratios = [line["median_s"] / own["median_s"] for line in (plain, csr)]
        text += row([f"{case}, {count(own['nnz'])} entries", f"{own['file_bytes'] / 1e6:.0f} MB",
                     f"{rates[0]} (**{ratios[0]:.2f}**, **{ratios[1]:.2f}**)", rates[1], rates[2],
                     f"{peaks[0]} ({peaks[1]}, {peaks[2]})",
                     f"{rates[3]} ({raw['median_s'] / cache['median_s']:.2f})"])
    return text


def read_source(environments, name):
    env = environments[-1]
    priority = ", real-time priority" if env.get("realtime") else ""
    return (f"\n`{name}`: {env['cpu']}, {env['cores']} cores{priority}, SciPy {env['scipy']}, commit "
            f"{', '.join(commits(environments))}, {env['utc'][:10]}; medians; in brackets how many times as fast as "
            "either, their peaks, and the time that the bytes of the cache alone take over that of loading it.\n")


def and_mkl(env):
    return f", {cpu_spmv.mkl(env)}" if env.get("mkl") else ""


def ladder_source(environments, name, meaning):
    env = environments[-1]
    machine = f"{env['gpu']}, CUDA {env['cuda']}" if env["gpu"] else (
        f"{env['cpu']}, {env['threads']} threads, {env['openblas']}{and_mkl(env)}")
    return f"\n`{name}`: {machine}, commit {', '.join(commits(environments))}, {env['utc'][:10]}; {meaning}.\n"


def source(environments, name, kind, meaning):
    env = environments[-1]
    machine = env["gpu"] or env.get("cpu", "cpu")
    versions = f", CUDA {env['cuda']}" if env["cuda"] else ""
    if env.get("openblas"):
        versions = f", {env['threads']} threads, {' '.join(env['openblas'].split()[:2])}{and_mkl(env)}"
    library = "cusparse" if kind == "spmv" else "cublas"
    if env.get(library):
        versions += f", {'cuSPARSE' if kind == 'spmv' else 'cuBLAS'} {env[library]}"
    timing = "replayed CUDA graphs" if kind == "spmv" and env["gpu"] else "batches of launches"
    return (f"\n`{name}`: {machine}{versions}, commit {', '.join(commits(environments))}, "
            f"{env['utc'][:10]}; {timing}; {meaning}.\n")


NEEDED = ("needed by 3 %: products for which the fastest of all other ways, the vendor's among them, takes so much longer; "
          "most: the greatest ratio")
INTERLEAVED = {"interleaved": interleaved.table, "interleaved-types": interleaved.types,
               "interleaved-control": interleaved.control, "interleaved-decided": interleaved.decided,
               "losses": interleaved.losses}
MEANING_INTERLEAVED = ("speed-up: geometric mean of the times before over those after; a number in brackets: of so many "
                       "products; faster, slower: by more than 3 % and what samples differ by; the same way: the same launch, or the same algorithm of cuBLASLt's")
REGRET = ("regret: time of a plan's choice over that of the fastest candidate; no loss: up to 1.02; model error: "
          "predicted time over measured time of the choice, less 1")

MEANING = {
    "spmv": "the best vendor's time over lanky's (lanky's share of the floor)",
    "spmv-summary": "speed-up: geometric mean of the best vendor's time over lanky's; of floor: median",
    "spmv-paths": "time of lanky's tensor-core kernels over that of its CUDA-core kernels",
    "spmv-classes": "geometric mean of the best rival's time over lanky's (of the floor's over lanky's; the worst "
                    "matrix against its rival)",
    "spmv-break-even": break_even.MEANING,
    "spmv-targets": "by bench/scripts/spmv_targets.py: speed-ups over the best rival, shares of the floor, geometric means",
    "gemm": "the best vendor's time over lanky's (lanky's share of the floor)",
    "gemm-grid": "the best vendor's time over lanky's (lanky's share of the floor)",
    "gemm-overview": "geometric mean of the best vendor's time over lanky's (of the limit's, which is the "
                     "slower of floor and arithmetic peak, over lanky's; the worst case against the vendor)",
    "gemm-worst": "speed-up: the best vendor's time over lanky's, smallest first",
    "gemm-sample": "combinations beyond the core, drawn with the seed in the file; speed-up and of limit: "
                   "geometric means",
    "gemm-targets": "by bench/scripts/targets.py: shares are of the floor, times in microseconds, speed-ups over the "
                    "best vendor",
}


def make_table(kind, name):
    if kind == "read":
        environments, lines = read_lines(name)
        return "\n" + read_table(lines) + read_source(environments, name) + "\n"
    if kind == "regret":
        environments, lines = read_lines(name)
        return "\n" + regret.table(lines, regret.by_family) + ladder_source(environments, name, REGRET) + "\n"
    if kind in CPU_SPMV:
        environments, lines = read_lines(name)
        return "\n" + CPU_SPMV[kind](lines) + cpu_spmv.source(environments, name, commits(environments)) + "\n"
    if kind in INTERLEAVED:
        return "\n" + INTERLEAVED[kind](name) + f"\n`{name}`, and core_before of that run; {MEANING_INTERLEAVED}.\n"
    if kind in unseen.TABLES:
        environments, lines = unseen.lines_of(name)
        return "\n" + unseen.TABLES[kind](lines) + ladder_source(environments, name, unseen.MEANING[kind]) + "\n"
    if kind in python_tables.TABLES:
        environments, lines = unseen.lines_of(name)
        return "\n" + python_tables.TABLES[kind](lines) + python_tables.source(environments, name, kind) + "\n"
    if kind in solver_tables.TABLES:
        environments, lines = unseen.lines_of(name)
        return "\n" + solver_tables.TABLES[kind](lines) + solver_tables.source(environments, name, kind) + "\n"
    if kind in bound_tables.TABLES:
        environments, lines = unseen.lines_of(name)
        return "\n" + bound_tables.TABLES[kind](lines) + bound_tables.source(environments, name) + "\n"
    if kind in scaling_tables.TABLES:
        return scaling_tables.table(kind, name)
    if kind in petsc_tables.TABLES:
        environments, lines = unseen.lines_of(name)
        return "\n" + petsc_tables.TABLES[kind](lines) + petsc_tables.source(environments, name, kind) + "\n"
    if kind in COLUMNS:
        subject, make, meaning = COLUMNS[kind]
        environments, lines = unseen.lines_of(name)
        return "\n" + make(all_points(lines, subject)) + ladder_source(environments, name, meaning) + "\n"
    if kind == "needed":
        return "\n" + needed_kernels.table(name) + f"\n`{name}`; {NEEDED}.\n"
    if kind in ladder_tables.TABLES:
        make, meaning = ladder_tables.TABLES[kind]
        environments, lines = read_lines(name)
        return "\n" + make(lines) + ladder_source(environments, name, meaning) + "\n"
    kind, _, family = kind.partition(":")
    if kind not in SPMV_KINDS + GEMM_KINDS or (kind == "gemm-grid") != (family in FAMILIES):
        raise ResultsError(f"unknown table {kind}; use read, regret, {', '.join(python_tables.TABLES)}, {', '.join(solver_tables.TABLES)}, {', '.join(petsc_tables.TABLES)}, {', '.join(bound_tables.TABLES)}, {', '.join(scaling_tables.TABLES)}, {', '.join(COLUMNS)}, {', '.join(CPU_SPMV)}, {', '.join(unseen.TABLES)}, needed, {', '.join(INTERLEAVED)}, "
                           f"{', '.join(SPMV_KINDS + GEMM_KINDS[:-1])}, gemm-grid:FAMILY, {', '.join(ladder_tables.TABLES)}")
    subject = kind.partition("-")[0]
    environments, lines = read_lines(name)
    cases = points_of(lines, subject)
    if not cases:
        raise ResultsError(f"{name} has no {subject} lines")
    points = all_points(lines, subject)
    table = {"spmv-paths": lambda: paths_table(lines),
             "spmv-summary": lambda: summary_table(cases),
             "spmv-classes": lambda: classes_table(points),
             "spmv-break-even": lambda: break_even.table(points),
             "spmv-targets": lambda: spmv_targets.judged(points).table(),
             "gemm-overview": lambda: overview_table(points),
             "gemm-worst": lambda: worst_table(points),
             "gemm-sample": lambda: sample_table(points),
             "gemm-targets": lambda: targets.judged(points).table(),
             "gemm-grid": lambda: grid_table(points, family)}.get(
                 kind, lambda: case_table(cases, subject))()
    return "\n" + table + source(environments, name, subject, MEANING[kind]) + "\n"


def rewritten(text):
    if text.count("<!-- table:") != len(MARKED.findall(text)):
        raise ResultsError("a table's marker is misspelt, or has no <!-- end table -->")
    return MARKED.sub(lambda m: m[1] + table_of(*m.group(2, 3, 4)) + m[5], text)


def table_of(kind, name, body):
    """A table anew; one of reliability keeps the words of its rows."""
    if kind.startswith("reliability:"):
        return reliability_tables.table(kind, name, body)
    return make_table(kind, name)


def pages():
    """(path, what it should hold) of every page and plot."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if path.is_file():
            try:
                yield path, rewritten(path.read_text(encoding="utf-8"))
            except ResultsError as error:
                raise ResultsError(f"{path.relative_to(ROOT)}: {error}") from error
    yield from plots.wanted()
    yield from spmv_plots.wanted()
    yield from spmm_plots.wanted()
    yield from ladder_plots.wanted()
    yield from scaling_plot.wanted()


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    check = arguments == ["--check"]
    seen = stale = 0
    try:
        for path, wanted in pages():
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            seen += len(MARKED.findall(text)) if path.suffix == ".md" else 1
            if wanted == text:
                continue
            stale += 1
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(wanted, encoding="utf-8")
            elif path.suffix == ".md":
                sys.stderr.writelines(difflib.unified_diff(
                    text.splitlines(True), wanted.splitlines(True), f"{path.name} as it is",
                    f"{path.name} from its files"))
            else:
                print(f"{path.name} is not the plot of its files", file=sys.stderr)
    except ResultsError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{seen} tables and plots, {stale} files {'differ' if check else 'rewritten'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
