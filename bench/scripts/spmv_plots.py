"""Draws docs/plots/spmv_*.svg from the results of the sparse set: speed-up over the best rival and bandwidth, each over
the number of entries, and the share of the streaming floor by class; a panel for each type, a dot for each matrix.
readme_tables.py writes and checks them.
"""

import math

from jsonl import ResultsError, all_points, commits, read_lines
from plots import FOLDER, STYLE, words
from spmv_targets import CLASSES, TYPES, matrix_class

RESULTS = "bench/results/h200/spmv_*.jsonl"

WIDTH, HEIGHT = 360, 200  # of a panel
GAP_X, GAP_Y = 52, 44
LEFT, TOP, BOTTOM = 48, 66, 44
COLOURS = dict(zip(CLASSES, ("#1f6feb", "#2da44e", "#bf8700", "#8250df", "#57606a", "#cf222e", "#d4761a", "#0c9aa6")))
DOTS = "".join(f"circle.{name}{{fill:{colour};fill-opacity:.75}}" for name, colour in COLOURS.items())


class Axis:
    """Values to places along `length`, logarithmically or not; what lies outside is put on the edge."""

    def __init__(self, low, high, length, ticks, logarithmic=True):
        self.low, self.high, self.length, self.ticks = low, high, length, ticks
        self.scale = math.log10 if logarithmic else float

    def place(self, value):
        low, high = self.scale(self.low), self.scale(self.high)
        share = (self.scale(min(max(value, self.low), self.high)) - low) / (high - low)
        return share * self.length


def log_axis(values, length):
    """Whole decades around all values."""
    low = math.floor(math.log10(min(values)))
    high = max(low + 1, math.ceil(math.log10(max(values))))
    return Axis(10 ** low, 10 ** high, length, [10 ** e for e in range(low, high + 1)])


def number(value):
    if value >= 10_000:
        return f"1e{round(math.log10(value))}"
    return f"{value:g}"


def dot(kind, x, y, title):
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.2"><title>{title}</title></circle>'


class Panel:
    """The frame of one type, and places within it."""

    def __init__(self, index, x, y):
        self.left = LEFT + index % 2 * (WIDTH + GAP_X)
        self.top = TOP + index // 2 * (HEIGHT + GAP_Y)
        self.x, self.y = x, y

    def at(self, x, y):
        return self.left + self.x.place(x), self.top + HEIGHT - self.y.place(y)

    def frame(self, dtype, strong):
        """Lines at the ticks of y, one of them strong, and the ticks' names."""
        text = words(self.left, self.top - 6, dtype)
        for tick in self.y.ticks:
            _, y = self.at(self.x.low, tick)
            kind = "limit" if tick == strong else "grid"
            text += f'<line class="{kind}" x1="{self.left}" x2="{self.left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
            text += words(self.left - 4, y + 3, number(tick), "end", "tick")
        return text

    def names_of_x(self):
        return "".join(words(self.at(tick, self.y.low)[0], self.top + HEIGHT + 12, number(tick), "middle", "tick")
                       for tick in self.x.ticks)


def names_below(panel, names):
    """Names of columns that the x axis counts from 0; where there are many, every other one a line lower."""
    return "".join(words(panel.at(column + 0.5, panel.y.low)[0],
                         panel.top + HEIGHT + 12 + (column % 2 * 10 if len(names) > 8 else 0), name, "middle", "tick")
                   for column, name in enumerate(names))


def page(title, keys, panels, note, style=DOTS):
    width = LEFT + 2 * (WIDTH + GAP_X) - GAP_X + 12
    height = TOP + -(-len(panels) // 2) * (HEIGHT + GAP_Y) + BOTTOM - 10
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}"><style>{STYLE}{style}</style>' + words(8, 18, title, kind="title"))
    key = 14
    for name in keys:
        text += f'<circle class="{name}" cx="{key}" cy="36" r="3"/>' + words(key + 7, 39, name)
        key += 22 + 6.5 * len(name)
    return text + "".join(panels) + words(8, height - 10, note) + "</svg>\n"


def by_type(points, draw_panel):
    """One panel for each type that has points."""
    panels = []
    for dtype in TYPES:
        here = [p for p in points if p.line["dtype"] == dtype]
        if here:
            panels.append(draw_panel(len(panels), dtype, here))
    return panels


def classes_of(points):
    return [name for name in CLASSES if any(matrix_class(p) == name for p in points)]


def speedup_plot(points, note):
    points = [p for p in points if p.speedup() and p.line["nnz"]]
    x = log_axis([p.line["nnz"] for p in points], WIDTH)
    y = Axis(0.5, 8, HEIGHT, (0.5, 1, 2, 4, 8))

    def draw_panel(index, dtype, here):
        panel = Panel(index, x, y)
        return panel.frame(dtype, 1) + panel.names_of_x() + "".join(
            dot(matrix_class(p), *panel.at(p.line["nnz"], p.speedup()), f"{p.line['case']}: {p.speedup():.2f}")
            for p in here)

    return page("SpMV: best rival's time over lanky's, over the number of entries", classes_of(points),
                by_type(points, draw_panel), note)


def bandwidth_plot(points, note):
    points = [p for p in points if p.lanky and p.line["nnz"]]
    x = log_axis([p.line["nnz"] for p in points], WIDTH)

    def speeds(p):
        """GB/s of CSR, x and y: (who, value)."""
        times = (("vendor", p.vendor), ("lanky", p.lanky))
        return [(who, p.line["bytes"] / time * 1e-3) for who, time in times if time]

    y = log_axis([value for p in points for _, value in speeds(p)], HEIGHT)

    def draw_panel(index, dtype, here):
        panel = Panel(index, x, y)
        return panel.frame(dtype, None) + panel.names_of_x() + "".join(
            dot(who, *panel.at(p.line["nnz"], value), f"{p.line['case']}, {who}: {value:.0f} GB/s")
            for p in here for who, value in speeds(p))

    return page("SpMV: bytes of CSR, x and y over time, GB/s, over the number of entries", ("lanky", "vendor"),
                by_type(points, draw_panel), note)


def floor_plot(points, note):
    points = [p for p in points if p.share()]
    names = classes_of(points)
    x = Axis(0, len(names), WIDTH, (), logarithmic=False)
    y = Axis(0, 3, HEIGHT, (0, 0.5, 1, 1.5, 2, 2.5, 3), logarithmic=False)

    def draw_panel(index, dtype, here):
        panel = Panel(index, x, y)
        text = panel.frame(dtype, 1) + names_below(panel, names)
        for column, name in enumerate(names):
            mine = sorted((p for p in here if matrix_class(p) == name), key=lambda p: p.line["nnz"])
            text += "".join(
                dot(name, *panel.at(column + 0.1 + 0.8 * (i + 0.5) / len(mine), p.share()),
                    f"{p.line['case']}: {p.share():.2f}") for i, p in enumerate(mine))
        return text

    return page("SpMV: share of the floor that streams CSR, by class, small matrices left", names,
                by_type(points, draw_panel), note)


PLOTS = {"spmv_speedup": speedup_plot, "spmv_bandwidth": bandwidth_plot, "spmv_floor": floor_plot}


def wanted():
    """(path, text) of every plot that the results of sparse products give; none where there are none."""
    try:
        environments, lines = read_lines(RESULTS)
    except ResultsError:
        if list(FOLDER.glob("spmv_*.svg")):
            raise
        return
    env = environments[-1]
    note = f"{RESULTS}: {env['gpu']}, cuSPARSE {env['cusparse']}, commit {', '.join(commits(environments))}"
    points = [p for p in all_points(lines, "spmv") if matrix_class(p)]
    for name, draw in PLOTS.items():
        yield FOLDER / f"{name}.svg", draw(points, note)
