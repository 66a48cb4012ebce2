"""Tables of sparse products on the CPU: lanky beside a threaded CSR loop, MKL and SciPy's loop, of one vector by type, and
of several by type, layout and number of columns."""

from jsonl import DTYPES, geometric_mean
from markdown import heading, row
from spmm_targets import LAYOUTS

# Title of a rival, and which of its lines count: the fastest of them at each product.
RIVALS = {"CSR loop": ("cpu-csr", ("static", "guided")), "MKL": ("mkl", ("mv", "mm")),
          "SciPy's loop": ("cpu-csr", ("serial",))}
MEANING = ("speed-ups: the rival's time over lanky's, geometric means, and (in brackets) the share of products that lanky "
           "wins; best: the fastest of all rivals at each product; worst: of these")


def products(lines, kind="spmv", group=("dtype",)):
    """{values of group's fields: [(case, lanky's time, {title: time})]} of what lanky and a rival measured."""
    times = {}
    for line in lines:
        if line["kind"] == kind and line["status"] == "ok" and line["warm_us"]:
            key = tuple(line[field] for field in group), line["case"]
            times.setdefault(key, {})[line["contestant"], line["variant"]] = line["warm_us"]
    found = {}
    for (values, case), own in times.items():
        rivals = {title: min(own[name, variant] for variant in variants if (name, variant) in own)
                  for title, (name, variants) in RIVALS.items() if any((name, variant) in own for variant in variants)}
        if ("lanky", "auto") in own and rivals:
            found.setdefault(values, []).append((case, own["lanky", "auto"], rivals))
    return found


def summary(speedups):
    if not speedups:
        return "–"
    return f"{geometric_mean(speedups):.2f} ({sum(each >= 1 for each in speedups) / len(speedups):.0%})"


def cells_of(points, titles=tuple(RIVALS)):
    """The number of products, their speed-ups over each rival and over the best one, and the worst."""
    speedups = [[rivals[title] / own for _, own, rivals in points if title in rivals] for title in titles]
    best = [(min(rivals.values()) / own, case) for case, own, rivals in points]
    worst, case = min(best)
    return [str(len(points)), *map(summary, speedups), summary([each for each, _ in best]), f"{worst:.2f} ({case})"]


def table(lines):
    groups = products(lines)
    text = heading(["type", "products", *RIVALS, "best", "worst"])
    for dtype in [dtype for dtype in DTYPES if (dtype,) in groups]:
        text += row([dtype, *cells_of(groups[dtype,])])
    return text


def columns_table(lines, kind="spmm"):
    groups = products(lines, kind, ("dtype", "layout", "columns"))
    titles = [title for title in RIVALS if any(title in rivals for points in groups.values() for _, _, rivals in points)]
    text = heading(["type", "X and Y", "columns", "products", *titles, "best", "worst"])
    for dtype in DTYPES:
        for layout, words in LAYOUTS:
            for group in sorted(group for group in groups if group[:2] == (dtype, layout)):
                text += row([dtype, words, str(group[2]), *cells_of(groups[group], titles)])
    return text


def sampled_table(lines):
    return columns_table(lines, "sddmm")


def losses(lines, below=1.0):
    """The products that a rival computes faster."""
    text = heading(["product", "type", "lanky, us", "best rival", "its time, us", "speed-up"])
    rows = []
    for (dtype,), all_products in products(lines).items():
        for case, own, rivals in all_products:
            title = min(rivals, key=rivals.get)
            if rivals[title] / own < below:
                rows.append((rivals[title] / own, [case, dtype, f"{own:.1f}", title, f"{rivals[title]:.1f}"]))
    for speedup, cells in sorted(rows):
        text += row([*cells, f"{speedup:.2f}"])
    return text


def mkl(env):
    """MKL's version and the kernels that it takes, from its own words."""
    if not env.get("mkl"):
        return "no MKL"
    return f"oneMKL {env['mkl'].partition('Version ')[2].partition(' ')[0]} with its kernels \"{env['mkl'].rpartition(' ')[2]}\""


def source(environments, name, commits):
    env = environments[-1]
    return f"\n`{name}`: {env['cpu']}, {env['threads']} threads, {mkl(env)}, commit {', '.join(commits)}, {env['utc'][:10]}; {MEANING}.\n"
