"""Draws docs/plots/spmm_speedup.svg from the results of products of several columns: speed-up over the best algorithm of
cuSPARSE against the number of columns, a panel for each type and layout, a line for each class of matrices.
readme_tables.py writes and checks it.
"""

from jsonl import DTYPES, ResultsError, all_points, commits, geometric_mean, read_lines
from plots import FOLDER
from spmm_targets import LAYOUTS
from spmv_plots import COLOURS, DOTS, HEIGHT, WIDTH, Axis, Panel, classes_of, dot, names_below, page
from spmv_targets import matrix_class

RESULTS = "bench/results/h200/spmm.raw.jsonl*"
PATH = FOLDER / "spmm_speedup.svg"
LINES = "".join(f"polyline.{name}{{stroke:{colour};stroke-width:1.5;fill:none}}" for name, colour in COLOURS.items())
SPEEDUPS = Axis(0.5, 16, HEIGHT, (0.5, 1, 2, 4, 8, 16))


def speedup_plot(points, note):
    points = [p for p in points if p.speedup()]
    columns = sorted({p.line["columns"] for p in points})
    x = Axis(0, len(columns), WIDTH, (), logarithmic=False)
    names = classes_of(points)
    panels = []
    for dtype in DTYPES:
        if not any(p.line["dtype"] == dtype for p in points):
            continue
        for layout, words in LAYOUTS:
            panel = Panel(len(panels), x, SPEEDUPS)
            here = [p for p in points if p.line["dtype"] == dtype and p.line["layout"] == layout]
            panels.append(panel.frame(f"{dtype}, X and Y {words}", 1) + names_below(panel, [f"n = {n}" for n in columns]) +
                          "".join(line_of(panel, name, columns, here) for name in names))
    return page("SpMM: time of cuSPARSE's best algorithm over lanky's, over the n columns of X", names, panels, note,
                DOTS + LINES)


def line_of(panel, name, columns, points):
    """The means of one class, from one number of columns to the next."""
    places, dots = [], ""
    for i, n in enumerate(columns):
        found = [p.speedup() for p in points if p.line["columns"] == n and matrix_class(p) == name]
        if not found:
            continue
        mean = geometric_mean(found)
        places.append(panel.at(i + 0.5, mean))
        dots += dot(name, *places[-1], f"{name}, n = {n}: {mean:.2f}, {len(found)} {'matrix' if len(found) == 1 else 'matrices'}")
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline class="{name}" points="{path}"/>{dots}' if places else ""


def wanted():
    """(path, text) of the plot, where there are results."""
    try:
        environments, lines = read_lines(RESULTS)
    except ResultsError:
        if PATH.exists():
            raise
        return
    env = environments[-1]
    note = f"{RESULTS}: {env['gpu']}, cuSPARSE {env['cusparse']}, commit {', '.join(commits(environments))}"
    points = [p for p in all_points(lines, "spmm") if matrix_class(p)]
    if points:
        yield PATH, speedup_plot(points, note)
