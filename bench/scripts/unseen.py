"""Tables of inputs that nothing was fitted to, beside the best vendor: unseen-spmv and unseen-gemm of readme_tables.py.

Times are those of replayed graphs, of dense products without one those of batches. NAME may be a pattern of files, .xz too.
"""

import json
import math

import fit_cost
from jsonl import DTYPES, FAMILIES, ROOT, ResultsError, device_us, geometric_mean
from markdown import heading, row

FAST, NEAR = 0.98, math.log(1.25)
MEANING = {
    "unseen-spmv": "speed-up: the best vendor's time over lanky's, geometric mean, with the share of matrices that lanky wins; cold: the same "
                   "behind a flush of the L2; tuned: of plans that measure; regret: geometric mean of a plan's time over that of the fastest "
                   "shape that the tuned plan measured",
    "unseen-gemm": "speed-up: the best vendor's time over lanky's, geometric mean; model: predicted within 25 % of measured"}


def lines_of(name):
    """(environments, lines) of the files, in the order of their names."""
    files = sorted(ROOT.glob(name))
    lines = [json.loads(text) for file in files for text in fit_cost.text_of(file).splitlines()]
    if not lines:
        raise ResultsError(f"{name} has no lines")
    return [line for line in lines if line["kind"] == "env"], lines


def by_product(lines, kind, ways):
    found = {}
    for line in lines:
        if line["kind"] == kind and line["status"] == "ok" and line["warm_us"]:
            found.setdefault(tuple(line.get(way) for way in ways), []).append(line)
    return found


def lanky(lines, variant="auto"):
    return next((line for line in lines if line["contestant"] == "lanky" and line["variant"] == variant), None)


def speedup(own, lines, time):
    """Of `own` over the fastest rival; None where either has no such time."""
    rivals = [time(line) for line in lines if line["contestant"] != "lanky" and time(line)]
    return min(rivals) / time(own) if own and rivals and time(own) else None


def summary(speedups):
    known = [each for each in speedups if each is not None]
    if not known:
        return "–"
    return f"{geometric_mean(known):.2f} ({sum(each >= 1 for each in known) / len(known):.0%})"


def regret(lines):
    tuned = lanky(lines, "tuned")
    ratios = [trial["ratio"] for trial in tuned["trials"] if trial.get("ratio")] if tuned else []
    return ratios[0] / min(ratios) if ratios else None


def spmv(lines):
    products = by_product(lines, "spmv", ("case", "dtype"))
    text = heading(["type", "matrices", "speed-up", "worst", "cold", "tuned", "worst, tuned", "regret"])
    for dtype in [dtype for dtype in DTYPES if any(dtype == key[1] for key in products)]:
        own = [group for key, group in products.items() if key[1] == dtype and lanky(group)]
        graph, cold = (lambda line: line["graph_us"]), (lambda line: line["cold_us"])
        warm = [speedup(lanky(group), group, graph) for group in own]
        tuned = [speedup(lanky(group, "tuned"), group, graph) for group in own]
        regrets = [each for each in map(regret, own) if each is not None]
        text += row([dtype, len(own), summary(warm), f"{min(filter(None, warm)):.2f}",
                     summary([speedup(lanky(group), group, cold) for group in own]), summary(tuned),
                     f"{min(filter(None, tuned), default=math.nan):.2f}", f"{geometric_mean(regrets):.3f}" if regrets else "–"])
    return text


def gemm(lines):
    products = by_product(lines, "gemm", fit_cost.WAYS)
    text = heading(["family", "products", "speed-up", f"at {FAST} or above", "worst", "model"])
    groups = {family: [group for group in products.values() if lanky(group) and lanky(group)["family"] == family]
              for family in (*FAMILIES, "regular")}
    for family, own in [*groups.items(), ("all", sum(groups.values(), []))]:
        speedups = [(speedup(lanky(group), group, device_us), lanky(group)["case"]) for group in own]
        speedups = [each for each in speedups if each[0] is not None]
        if not speedups:
            continue
        errors = [abs(math.log(line["predicted_us"] / device_us(line))) for line in map(lanky, own) if line.get("predicted_us")]
        text += row([family, len(speedups), f"{geometric_mean([each for each, _ in speedups]):.2f}",
                     f"{sum(each >= FAST for each, _ in speedups) / len(speedups):.0%}", "{:.2f} ({})".format(*min(speedups)),
                     f"{sum(error <= NEAR for error in errors) / len(errors):.0%}" if errors else "–"])
    return text


TABLES = {"unseen-spmv": spmv, "unseen-gemm": gemm}
