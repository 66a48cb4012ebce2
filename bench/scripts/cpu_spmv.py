"""Tables of sparse products on the CPU: lanky beside a threaded CSR loop, MKL and SciPy's loop, by type."""

from jsonl import DTYPES, geometric_mean
from markdown import heading, row

# Title of a rival, and which of its lines count: the fastest of them at each product.
RIVALS = {"CSR loop": ("cpu-csr", ("static", "guided")), "MKL": ("mkl", ("mv",)),
          "SciPy's loop": ("cpu-csr", ("serial",))}
MEANING = ("speed-ups: the rival's time over lanky's, geometric means, and (in brackets) the share of products that lanky "
           "wins; best: the fastest of all rivals at each product; worst: of these")


def products(lines):
    """{dtype: [(case, lanky's time, {title: time})]} of what lanky and a rival measured."""
    times = {}
    for line in lines:
        if line["kind"] == "spmv" and line["status"] == "ok" and line["warm_us"]:
            times.setdefault((line["dtype"], line["case"]), {})[line["contestant"], line["variant"]] = line["warm_us"]
    found = {}
    for (dtype, case), own in times.items():
        rivals = {title: min(own[name, variant] for variant in variants if (name, variant) in own)
                  for title, (name, variants) in RIVALS.items() if any((name, variant) in own for variant in variants)}
        if ("lanky", "auto") in own and rivals:
            found.setdefault(dtype, []).append((case, own["lanky", "auto"], rivals))
    return found


def summary(speedups):
    if not speedups:
        return "–"
    return f"{geometric_mean(speedups):.2f} ({sum(each >= 1 for each in speedups) / len(speedups):.0%})"


def table(lines):
    by_dtype = products(lines)
    text = heading(["type", "products", *RIVALS, "best", "worst"])
    for dtype in [dtype for dtype in DTYPES if dtype in by_dtype]:
        cells = [dtype, str(len(by_dtype[dtype]))]
        cells += [summary([rivals[title] / own for _, own, rivals in by_dtype[dtype] if title in rivals]) for title in RIVALS]
        best = [(min(rivals.values()) / own, case) for case, own, rivals in by_dtype[dtype]]
        worst, case = min(best)
        cells += [summary([each for each, _ in best]), f"{worst:.2f} ({case})"]
        text += row(cells)
    return text


def losses(lines, below=1.0):
    """The products that a rival computes faster."""
    text = heading(["product", "type", "lanky, us", "best rival", "its time, us", "speed-up"])
    rows = []
    for dtype, all_products in products(lines).items():
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
