"""Tables of docs/ladders.md and docs/applications.md, from the lines of `lanky ladder` and of the examples.

readme_tables.py writes and checks them. Each function takes the lines of a file and returns rows; TABLES names them.
"""

from jsonl import DTYPES, ResultsError, geometric_mean
from markdown import heading, row


def size(value):
    """1e6, 30720."""
    digits = str(value).rstrip("0")
    zeros = len(str(value)) - len(digits)
    return f"{digits}e{zeros}" if zeros >= 4 and len(digits) == 1 else str(value)


def milliseconds(value):
    return "-" if value is None else f"{value:.3g}"


def microseconds(line):
    return f"{line['us']:.1f}" if line and line["us"] else "-"


def ladder_lines(lines, ladder, **wanted):
    found = [line for line in lines if line["kind"] == "ladder" and line["ladder"] == ladder
             and all(line.get(key) == value for key, value in wanted.items())]
    if not found:
        raise ResultsError(f"no lines of the ladder {ladder}")
    return found


def is_vendor(line):
    return line["contestant"] not in (line["ladder"], "lanky")


def fastest(lines):
    """The line that took least, of those that are ok; None where none is."""
    timed = [line for line in lines if line["status"] == "ok" and line["us"]]
    return min(timed, key=lambda line: line["us"]) if timed else None


def gemm_gpu(lines):
    """Rungs of the square product: time, rate, and reads by formula and counted."""
    chosen = [line for line in ladder_lines(lines, "gemm-gpu", block="16x16") if line["transfer_us"] is None]
    dtypes = sorted({line["dtype"] for line in chosen}, key=DTYPES.index, reverse=True)
    by_rung = {}
    for line in chosen:
        by_rung.setdefault(line["rung"], {})[line["dtype"]] = line
    names = ["rung", "what it adds"]
    for dtype in dtypes:
        names += [f"{dtype} ms", "GFLOP/s", "over the first", "over cuBLAS"]
    text = heading(names + ["reads, formula", "by warps", "from the L2"])
    for rung, its in by_rung.items():
        line = its[dtypes[0]] if dtypes[0] in its else next(iter(its.values()))
        cells = [rung, line["idea"]]
        for dtype in dtypes:
            one = its.get(dtype)
            cells += ["", "", "", ""] if one is None else [
                milliseconds(one["us"] / 1e3), f"{one['gflops']:.0f}", f"{one['speedup_first']:.2f}",
                f"{one['speedup_vendor']:.2f}"]
        counts = [line.get(name) for name in ("reads", "reads_by_warps", "reads_from_l2")]
        text += row(cells + [f"{value:.3g}" if value else "" for value in counts])
    return text


def gemm_blocks(lines):
    """GFLOP/s of the rungs whose block can be chosen, by block."""
    table, blocks = {}, []
    for line in ladder_lines(lines, "gemm-gpu", dtype="f32"):
        if line["contestant"] != "gemm-gpu" or line["m"] != 2048:
            continue
        table.setdefault(line["rung"], {})[line["block"]] = line
        if line["block"] not in blocks:
            blocks.append(line["block"])
    blocks.sort(key=lambda block: int(block.split("x")[0]))
    text = heading(["rung"] + [f"{block}" for block in blocks])
    for rung, its in table.items():
        if len(its) == len(blocks):
            text += row([rung] + [f"{its[block]['gflops']:.0f} ({its[block]['reads_from_l2']:.2g})" for block in blocks])
    return text


def gemm_cpu(lines):
    text = heading(["rung", "what it adds", "ms", "GFLOP/s", "of peak", "over the first", "over OpenBLAS"])
    for line in ladder_lines(lines, "gemm-cpu"):
        text += row([line["rung"], line["idea"], milliseconds(line["us"] / 1e3), f"{line['gflops']:.2f}",
                     f"{line['gflops'] / line['peak_gflops']:.1%}", f"{line['speedup_first']:.1f}",
                     f"{line['speedup_vendor']:.3f}"])
    return text


def tsm2(lines):
    """Share of the streaming floor of each version, and the model's time beside the measured one."""
    cases = {}
    for line in ladder_lines(lines, "tsm2"):
        cases.setdefault((line["dtype"], line["m"], line["n"]), []).append(line)
    rungs = [line["rung"] for line in next(iter(cases.values())) if line["contestant"] == "tsm2"]
    text = heading(["type, m = k, n"] + rungs + ["lanky", "cuBLAS", "v3-model: predicted, measured ms", "its choice"])
    for (dtype, m, n), its in cases.items():
        named = {line["rung"]: line for line in its}
        vendor = fastest([line for line in its if is_vendor(line)])
        shares = [f"{line['floor_us'] / line['us']:.0%}" for line in [named[r] for r in rungs] + [named["lanky"], vendor]]
        model = named["v3-model"]
        text += row([f"{dtype}, {m}, {n}"] + shares +
                    [f"{model['predicted_us'] / 1e3:.2f}, {model['us'] / 1e3:.2f}", model["chosen"]])
    return text


FEWEST_SHOWN = 1e5  # entries of a matrix with a row, or bars, of its own


def spmv_cases(lines):
    """{(type, matrix): its lines}"""
    cases = {}
    for line in ladder_lines(lines, "spmv"):
        cases.setdefault((line["dtype"], line["case"]), []).append(line)
    return cases


def spmv(lines):
    """Matrices of FEWEST_SHOWN entries: microseconds of each rung, and what DASP's parts take."""
    cases = spmv_cases(lines)
    rungs = ["csr-scalar", "csr-warp", "dasp", "lanky"]
    text = heading(["type, matrix", "entries"] + rungs + ["cuSPARSE", "DASP: gathers, arithmetic, rest"])
    speedups = {}
    for (dtype, case), its in cases.items():
        named = {line["rung"]: line for line in its}
        vendor = fastest([line for line in its if is_vendor(line)])
        for rung in rungs:
            if named[rung]["us"] and vendor:
                speedups.setdefault((dtype, rung), []).append(vendor["us"] / named[rung]["us"])
        if named["lanky"]["nnz"] < FEWEST_SHOWN:
            continue
        dasp = named["dasp"]
        parts = [] if dasp.get("gathers_us") is None else [
            f"{dasp[part] / (dasp['gathers_us'] + dasp['arithmetic_us'] + dasp['rest_us']):.0%}"
            for part in ("gathers_us", "arithmetic_us", "rest_us")]
        text += row([f"{dtype}, {case}", f"{dasp['nnz']:.3g}"] + [microseconds(named[rung]) for rung in rungs] +
                    [microseconds(vendor), ", ".join(parts)])
    for dtype in dict.fromkeys(dtype for dtype, _ in cases):
        means = [f"**{geometric_mean(speedups[dtype, rung]):.2f}**" for rung in rungs]
        text += row([f"**{dtype}: over cuSPARSE's best, all matrices**", ""] + means + ["1", ""])
    return text


def spmm(lines):
    """Matrices of FEWEST_SHOWN entries: microseconds of each rung, then all matrices' means over cuSPARSE's best."""
    cases = {}
    for line in ladder_lines(lines, "spmm"):
        cases.setdefault((line["dtype"], line["columns"], line["case"]), []).append(line)
    rungs = ["element", "warp-row", "words", "row-split", "staged", "tensor", "lanky"]
    text = heading(["type, columns, matrix", "entries"] + rungs + ["cuSPARSE"])
    speedups = {}
    for (dtype, columns, case), its in cases.items():
        named = {line["rung"]: line for line in its}
        vendor = fastest([line for line in its if is_vendor(line)])
        for rung in rungs:
            if named[rung]["us"] and vendor:
                speedups.setdefault((dtype, columns), {}).setdefault(rung, []).append(vendor["us"] / named[rung]["us"])
        if named["lanky"]["nnz"] >= FEWEST_SHOWN:
            text += row([f"{dtype}, {columns}, {case}", f"{named['lanky']['nnz']:.3g}"] +
                        [microseconds(named[rung]) for rung in rungs] + [microseconds(vendor)])
    for (dtype, columns), of_rungs in speedups.items():
        means = [f"**{geometric_mean(of_rungs[rung]):.2f}**" if rung in of_rungs else "-" for rung in rungs]
        text += row([f"**{dtype}, {columns} columns: over cuSPARSE's best, all matrices**", ""] + means + ["1"])
    return text


def of_kind(lines, kind, **wanted):
    found = [line for line in lines if line["kind"] == kind
             and all(line.get(key) == value for key, value in wanted.items())]
    if not found:
        raise ResultsError(f"no lines of kind {kind}")
    return found


def cases_of(lines, *fields, key=("contestant",)):
    """{values of the fields: {who: line}}, in the order of the lines; who: the value, or values, of the key."""
    cases = {}
    for line in lines:
        who = tuple(line[field] for field in key)
        cases.setdefault(tuple(line[field] for field in fields), {})[who if len(who) > 1 else who[0]] = line
    return cases


def kmeans_cases(lines):
    found = of_kind(lines, "kmeans")
    for line in found:
        if line["status"] != "ok":
            raise ResultsError(f"kmeans {line['dtype']} {line['n']} by {line['contestant']}: the result is wrong")
    return cases_of(found, "dtype", "n")


def abft_cases(lines):
    return cases_of(of_kind(lines, "abft", part="time"), "dtype", "m")


def cholqr_cases(lines):
    return cases_of(of_kind(lines, "cholqr", condition=1.0), "dtype", "m", "n")


def solver_cases(lines):
    found = [line for line in lines if line["kind"] in ("cg", "pagerank")]
    if not found:
        raise ResultsError("no lines of solvers")
    return cases_of(found, "kind", "matrix", "dtype", "nnz", key=("contestant", "graph"))


def short_name(matrix):
    return matrix.split("/")[-1].split(".")[0]


def solver_speedups(its):
    """cuSPARSE's time over lanky's: of an iteration, the faster of graph on and off; of a product, with a graph."""
    best = {who: min(its[who, graph]["us_per_iteration"] for graph in (False, True)) for who in ("lanky", "cusparse")}
    return best["cusparse"] / best["lanky"], its["cusparse", True]["spmv_us"] / its["lanky", True]["spmv_us"]


def kmeans(lines):
    text = heading(["type, n", "lanky ms", "cuBLAS ms", "end to end", "product", "lanky: product, assignment, update, rest",
                    "scikit-learn ms"])
    for (dtype, n), its in kmeans_cases(lines).items():
        own, vendor = its["lanky"], its["cublas"]
        stages = [own[stage] / own["total_ms"] for stage in ("product_ms", "assign_ms", "update_ms")]
        stages.append(max(0.0, 1 - sum(stages)))
        sklearn = its.get("scikit-learn")
        text += row([f"{dtype}, {n}", f"{own['total_ms']:.4g}", f"{vendor['total_ms']:.4g}",
                     f"**{vendor['total_ms'] / own['total_ms']:.2f}**",
                     f"{vendor['product_ms'] / own['product_ms']:.2f}",
                     ", ".join(f"{share:.0%}" for share in stages),
                     f"{sklearn['total_ms']:.3g}" if sklearn else ""])
    return text


def abft_trials(lines):
    text = heading(["type", "m = n = k", "data", "faults", "up to 8 units", "above 8 units", "of these undetected",
                    "wrongly corrected", "products without a fault", "false alarms"])
    for line in of_kind(lines, "abft", part="trials"):
        text += row([line["dtype"], line["m"], line["data"], line["trials"], line["harmless"],
                     line["trials"] - line["harmless"], f"**{line['hidden']}**", line["misplaced"],
                     f"{line['fault_free']:,}", line["false_alarms"]])
    return text


def abft_times(lines):
    def added(line):
        return sum(line[part] for part in ("encode_ms", "expect_ms", "bound_ms", "verify_ms")) / line["gemm_ms"]

    text = heading(["type, m = n = k", "encoding: lanky ms", "cuBLAS ms", "over cuBLAS", "gemm ms", "all parts added, lanky",
                    "by cuBLAS", "end to end, lanky", "by cuBLAS"])
    for (dtype, m), its in abft_cases(lines).items():
        own, vendor = its["lanky"], its["cublas"]
        text += row([f"{dtype}, {m}", f"{own['encode_ms']:.3f}", f"{vendor['encode_ms']:.3f}",
                     f"**{vendor['encode_ms'] / own['encode_ms']:.2f}**", f"{own['gemm_ms']:.4g}",
                     f"{added(own):+.2%}", f"{added(vendor):+.2%}",
                     f"{own['overhead']:+.2%}", f"{vendor['overhead']:+.2%}"])
    return text


def cholqr(lines):
    text = heading(["type, m, n", "lanky ms", "cuSOLVER ms", "over it", "CholeskyQR2 by cuBLAS ms", "over it",
                    "orthogonality: lanky", "cuSOLVER", "cuBLAS"])
    for (dtype, m, n), its in cholqr_cases(lines).items():
        own, solver, blas = its["lanky-cholqr2"], its["cusolver"], its["cublas-cholqr2"]
        text += row([f"{dtype}, {size(m)}, {n}", f"{own['ms']:.3f}", f"{solver['ms']:.4g}",
                     f"**{solver['ms'] / own['ms']:.0f}**", f"{blas['ms']:.3f}", f"**{blas['ms'] / own['ms']:.2f}**"] +
                    [f"{line['orthogonality']:.1e}" for line in (own, solver, blas)])
    return text


def solvers(lines):
    text = heading(["solver, matrix, type", "entries", "lanky µs", "with a graph", "cuSPARSE µs", "with a graph",
                    "an iteration", "a product"])
    for (kind, matrix, dtype, nnz), its in solver_cases(lines).items():
        us = [its[who, graph]["us_per_iteration"] for who in ("lanky", "cusparse") for graph in (False, True)]
        iteration, product = solver_speedups(its)
        text += row([f"{kind}, {short_name(matrix)}, {dtype}", f"{nnz:.3g}"] + [f"{value:.1f}" for value in us] +
                    [f"**{iteration:.2f}**", f"{product:.2f}"])
    return text


TABLES = {
    "ladder-gemm-gpu": (gemm_gpu, "medians; reads in elements, of the last type: those of the textbook's formula, those that warps ask "
                        "for (what several lanes read counted once), those that the first caches do not have, by ncu"),
    "ladder-gemm-blocks": (gemm_blocks, "GFLOP/s of f32 (elements read from the L2)"),
    "ladder-gemm-cpu": (gemm_cpu, "medians; peak: FMAs on registers alone, of all cores"),
    "ladder-tsm2": (tsm2, "shares of the streaming floor"),
    "ladder-spmv": (spmv, "microseconds in replayed CUDA graphs; cuSPARSE: the best of ALG1, ALG2, sliced ELL and blocks"),
    "ladder-spmm": (spmm, "microseconds; cuSPARSE: the best of its SpMM algorithms (default, ALG1 to ALG3) and blocks"),
    "kmeans": (kmeans, "per iteration, d = 4096, k = 16; speed-ups over the same program with cuBLAS's product; stages as shares of "
               "lanky's iteration"),
    "abft-trials": (abft_trials, "a fault a trial, at random places"),
    "abft-times": (abft_times, "added: what protecting adds to the plain product's time, part by part; end to end: one against the other"),
    "cholqr": (cholqr, "medians; orthogonality: Frobenius norm of QᵀQ - I"),
    "solvers": (solvers, "microseconds an iteration; an iteration, a product: cuSPARSE's time over lanky's, the faster of graph on and "
                "off, and with a graph"),
}
