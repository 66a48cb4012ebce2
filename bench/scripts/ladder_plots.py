"""Draws docs/plots/applications.svg, what lanky's products buy in each application, and docs/plots/ladder_spmv.svg, the
steps of the sparse ladder and what their time goes into. readme_tables.py writes and checks them.
"""

import re

import ladder_tables as tables
from jsonl import ResultsError, commits, read_lines
from plots import FOLDER, polyline
from spmv_plots import HEIGHT, WIDTH, Axis, Panel, dot, names_below, page

RESULTS = "bench/results/h200/"
COLOURS = {"f64": "#1f6feb", "f32": "#d4761a"}
STYLE = "".join(f"circle.{name}{{fill:{colour}}}.{name}{{stroke:{colour};fill:none}}"
                f"circle.{name}-product{{stroke:{colour};fill:none}}" for name, colour in COLOURS.items())
PARTS = {"gathers": "#1f6feb", "arithmetic": "#2da44e", "rest": "#8b949e", "lanky": "#d4761a"}
PART_STYLE = "".join(f"rect.{name},circle.{name}{{fill:{colour};stroke:none}}" for name, colour in PARTS.items())
SPEEDUPS = Axis(0.5, 8, HEIGHT, (0.5, 1, 2, 4, 8))


def kmeans(lines):
    """(type, place on the x axis, speed-up of the application, of the product in it) of every case."""
    for (dtype, n), its in tables.kmeans_cases(lines).items():
        own, vendor = its["lanky"], its["cublas"]
        yield dtype, str(n), vendor["total_ms"] / own["total_ms"], vendor["product_ms"] / own["product_ms"]


def abft(lines):
    for (dtype, m), its in tables.abft_cases(lines).items():
        own, vendor = its["lanky"], its["cublas"]
        yield dtype, str(m), vendor["total_ms"] / own["total_ms"], vendor["encode_ms"] / own["encode_ms"]


def cholqr(lines):
    for (dtype, m, n), its in tables.cholqr_cases(lines).items():
        yield dtype, f"{tables.size(m)}, {n}", its["cublas-cholqr2"]["ms"] / its["lanky-cholqr2"]["ms"], None


def solvers(lines):
    for (_, matrix, dtype, _), its in tables.solver_cases(lines).items():
        yield dtype, tables.short_name(matrix), *tables.solver_speedups(its)


APPLICATIONS = {
    "kmeans": (kmeans, "kmeans, over the number of points: an iteration, and its product"),
    "abft": (abft, "abft, over m = n = k: the protected product, and its encoding"),
    "cholqr": (cholqr, "cholqr, over m, n: against CholeskyQR2 on cuBLAS"),
    "solvers": (solvers, "cg and power, by matrix: an iteration, and its product"),
}


def speedup_panel(index, title, cases):
    names = list(dict.fromkeys(name for _, name, _, _ in cases))
    panel = Panel(index, Axis(0, len(names), WIDTH, (), logarithmic=False), SPEEDUPS)
    text = panel.frame(title, 1) + names_below(panel, names)
    for dtype in COLOURS:
        here = [(panel.at(names.index(name) + 0.5, 1)[0], name, whole, product)
                for kind, name, whole, product in cases if kind == dtype]
        text += polyline(dtype, [(x, panel.at(0, whole)[1]) for x, _, whole, _ in here])
        for x, name, whole, product in here:
            text += dot(dtype, x, panel.at(0, whole)[1], f"{name}, {dtype}: {whole:.2f}")
            if product:
                text += dot(f"{dtype}-product", x, panel.at(0, product)[1], f"{name}, {dtype}, product: {product:.2f}")
    return text


def applications():
    found = {name: read_lines(f"{RESULTS}{name}.jsonl") for name in APPLICATIONS}
    panels = [speedup_panel(index, title, list(cases(found[name][1])))
              for index, (name, (cases, title)) in enumerate(APPLICATIONS.items())]
    environments = [env for env, _ in found.values() for env in env]
    note = (f"{RESULTS}{{{','.join(APPLICATIONS)}}}.jsonl: {environments[0]['gpu']}, commit "
            f"{', '.join(commits(environments))}")
    return page("The same program's time on NVIDIA's products over its time on lanky's; hollow: the product by itself",
                list(COLOURS), panels, note, STYLE)


def parts_of(line):
    """(part, microseconds); a part that leaving it out made slower takes none."""
    return [(part, max(line[f"{part}_us"], 0)) for part in ("gathers", "arithmetic", "rest")]


def spmv_panel(index, dtype, cases):
    """For each matrix csr-warp, dasp and lanky: bars of their time over cuSPARSE's, those of the rungs in parts."""
    rungs = ("csr-warp", "dasp", "lanky")
    panel = Panel(index, Axis(0, len(cases), WIDTH, (), logarithmic=False),
                  Axis(0, 4, HEIGHT, (0, 1, 2, 3, 4), logarithmic=False))
    text = panel.frame(dtype + ": csr-warp, dasp, lanky", 1) + names_below(panel, [re.split("[.:]", name)[0] for name in cases])
    for column, (matrix, lines) in enumerate(cases.items()):
        vendor = tables.fastest([line for line in lines if tables.is_vendor(line)])["us"]
        for line in lines:
            if line["rung"] not in rungs:
                continue
            left = panel.at(column + 0.14 + 0.25 * rungs.index(line["rung"]), 0)[0]
            below = 0.0
            for part, us in [("lanky", line["us"])] if line["rung"] == "lanky" else parts_of(line):
                low, high = panel.at(0, below)[1], panel.at(0, below + us / vendor)[1]
                below += us / vendor
                text += (f'<rect class="{part}" x="{left:.1f}" y="{high:.1f}" width="{0.22 * WIDTH / len(cases):.1f}" '
                         f'height="{low - high:.1f}"><title>{matrix}, {line["rung"]}, {part}: {us:.1f} us</title></rect>')
    return text


def spmv():
    name = f"{RESULTS}ladder_spmv.jsonl"
    environments, lines = read_lines(name)
    cases = {}
    for (dtype, matrix), its in tables.spmv_cases(lines).items():
        if its[0]["nnz"] >= tables.FEWEST_SHOWN:
            cases.setdefault(dtype, {})[matrix] = its
    panels = [spmv_panel(index, dtype, its) for index, (dtype, its) in enumerate(cases.items())]
    note = f"{name}: {environments[0]['gpu']}, commit {', '.join(commits(environments))}"
    return page("Time over that of cuSPARSE's best, and what it goes into; cut off at 4", list(PARTS), panels, note,
                PART_STYLE)


PLOTS = {"applications": applications, "ladder_spmv": spmv}


def wanted():
    """(path, text) of both; none where there are no results."""
    for name, draw in PLOTS.items():
        path = FOLDER / f"{name}.svg"
        try:
            yield path, draw()
        except ResultsError:
            if path.exists():
                raise
