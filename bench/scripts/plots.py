"""Draws docs/plots/gemm_FAMILY.svg from the results of the dense grid.

One small panel for each type and each length of the long axis: the share of the streaming floor over n, lanky's
and the best vendor's, below the limit that the arithmetic peak sets. readme_tables.py writes and checks them.
"""

import html

from jsonl import DTYPES, FAMILIES, ROOT, ResultsError, all_points, commits, in_core, long_side, read_lines

RESULTS = "bench/results/h200/gemm*.jsonl"
FOLDER = ROOT / "docs" / "plots"

WIDTH, HEIGHT = 168, 74  # of a panel
GAP_X, GAP_Y = 14, 16
LEFT, TOP, BOTTOM = 84, 66, 40
TOP_SHARE = 1.1  # at a panel's upper edge
TITLES = {"panel": "panel: C[m,n] = A[m,k] B[k,n]", "update": "update: C[m,n] = A[m,n] B[n,n]",
          "gram": "gram: C[n,n] = A[k,n]\u1d40 B[k,n]", "syrk": "syrk: C[n,n] = A[k,n]\u1d40 A[k,n]"}
STYLE = """
text{font:10px system-ui,sans-serif;fill:#57606a}.title{font-size:13px;font-weight:600}.tick{font-size:8px}.grid{stroke:#8b949e;stroke-opacity:.3}
.limit{stroke:#8b949e;stroke-dasharray:3 3;fill:none}.lanky{stroke:#1f6feb;fill:none;stroke-width:1.8}
.vendor{stroke:#d4761a;fill:none;stroke-width:1.4}circle.lanky{fill:#1f6feb}circle.vendor{fill:#d4761a}
@media(prefers-color-scheme:dark){text{fill:#9da7b3}.lanky{stroke:#58a6ff}circle.lanky{fill:#58a6ff}
.vendor{stroke:#f0a35e}circle.vendor{fill:#f0a35e}}""".replace("\n", "")


def size_name(label, size):
    power = len(str(size)) - 1
    text = f"1e{power}" if size == 10 ** power else str(size)
    head, _, tail = label.partition(" ")
    return f"{head} = {text} {tail}".strip()


def square(line):
    """The shapes with one skinny size: those with two stand in the tables."""
    return (line["family"] == "panel" or (line["family"] == "update" and line["k"] == line["n"])
            or (line["family"] in ("gram", "syrk") and line["m"] == line["n"]))


def polyline(kind, places):
    """A line through what was measured, a dot on each."""
    if not places:
        return ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "" if kind == "limit" else "".join(
        f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="1.6"/>' for x, y in places)
    return f'<polyline class="{kind}" points="{path}"/>{dots}'


def panel(points, sizes, left, top):
    """One type and size: points by n, at their places in `sizes`."""
    def x(n):
        return left + WIDTH * (sizes.index(n) + 0.5) / len(sizes)

    def y(share):
        return top + HEIGHT * (1 - min(share, TOP_SHARE) / TOP_SHARE)

    text = "".join(f'<line class="grid" x1="{left}" x2="{left + WIDTH}" y1="{y(s):.1f}" y2="{y(s):.1f}"/>'
                   for s in (0, 0.25, 0.5, 0.75, 1))
    points = sorted(points, key=lambda p: p.line["n"])
    for kind, value in (("limit", lambda p: p.floor / p.limit() if p.floor else None),
                        ("vendor", lambda p: p.vendor_share()), ("lanky", lambda p: p.share())):
        text += polyline(kind, [(x(p.line["n"]), y(value(p))) for p in points if value(p)])
    return text


def words(x, y, text, anchor="start", kind=""):
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def draw(points, family, note):
    points = [p for p in points if square(p.line)]
    columns = sorted({long_side(p.line) for p in points})
    columns.sort(key=lambda side: (" " in side[0], side[1]))
    rows = [(d, layout) for layout in ("col", "row") for d in DTYPES
            if any((p.line["dtype"], p.line["layout"]) == (d, layout) for p in points)]
    sizes = sorted({p.line["n"] for p in points})
    width = LEFT + len(columns) * (WIDTH + GAP_X)
    height = TOP + len(rows) * (HEIGHT + GAP_Y) + BOTTOM
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}"><style>{STYLE}</style>')
    text += words(8, 18, TITLES.get(family, family) + ": share of the streaming floor over n", kind="title")
    key = 8
    for kind, label in (("lanky", "lanky"), ("vendor", "best vendor"), ("limit", "arithmetic limit")):
        text += f'<line class="{kind}" x1="{key}" x2="{key + 20}" y1="32" y2="32"/>' + words(key + 25, 35, label)
        key += 55 + 6 * len(label)
    for c, side in enumerate(columns):
        left = LEFT + c * (WIDTH + GAP_X)
        text += words(left + WIDTH / 2, TOP - 8, size_name(*side), "middle")
        for i, n in enumerate(sizes):
            text += words(left + WIDTH * (i + 0.5) / len(sizes), height - BOTTOM + 2, str(n), "middle", "tick")
        for r, (dtype, layout) in enumerate(rows):
            here = [p for p in points if long_side(p.line) == side
                    and (p.line["dtype"], p.line["layout"]) == (dtype, layout)]
            text += panel(here, sizes, left, TOP + r * (HEIGHT + GAP_Y))
    for r, (dtype, layout) in enumerate(rows):
        top = TOP + r * (HEIGHT + GAP_Y)
        text += words(8, top + HEIGHT / 2 + 3, dtype)
        if layout == "row":
            text += words(8, top + HEIGHT / 2 + 15, "row-major")
        for share, label in ((0, "0"), (0.5, ".5"), (1, "1")):
            text += words(LEFT - 4, top + HEIGHT * (1 - share / TOP_SHARE) + 3, label, "end")
    text += words(8, height - 10, note)
    return text + "</svg>\n"


def wanted():
    """(path, text) of every plot that the results of dense products give; none where there are none."""
    try:
        environments, lines = read_lines(RESULTS)
    except ResultsError:
        if list(FOLDER.glob("gemm_*.svg")):
            raise
        return
    env = environments[-1]
    note = f"{RESULTS}: {env['gpu']}, cuBLAS {env['cublas']}, commit {', '.join(commits(environments))}"
    points = [p for p in all_points(lines) if in_core(p)]
    for family in FAMILIES:
        here = [p for p in points if p.line["family"] == family]
        if here and family != "regular":
            yield FOLDER / f"gemm_{family}.svg", draw(here, family, note)
