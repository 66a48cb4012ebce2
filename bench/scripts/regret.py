"""How good a plan's choices are: regret.py RAW.jsonl... --set NAME -o FILE, then regret.py --table FILE...

`lanky tune --json RAW` times every way to compute a dense product, and `lanky spmv --tune --json RAW` the shapes that
a sparse plan could take, beside cuSPARSE. This script keeps one line of kind "regret" a case: what a plan chooses
where nothing was measured, the fastest of all ways, and

  regret       time of the choice / time of the fastest
  noise        time of the choice / time of the same kernel asked for by name: what of the regret is chance
  model_error  predicted time / measured time of the choice, where a model predicts it

--table prints a Markdown table of such lines by set, family and type.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

import markdown
from jsonl import device_us

WAYS = ("m", "n", "k", "op_a", "op_b", "layout", "ld", "alpha", "beta", "out")
EQUAL = 1.02  # a regret up to here is no loss: times differ by as much from run to run


def cases_of(path):
    """Lines of each product: what names it, and its lines."""
    cases = {}
    for text in path.read_text().splitlines():
        line = json.loads(text)
        if line["kind"] == "gemm" and line.get("contestant") in ("lanky", "vendor"):
            head = {name: line[name] for name in ("case", "family", "dtype", *WAYS)}
        elif line["kind"] == "spmv" and "contestant" in line:
            head = {"case": line["case"], "family": f"spmv {line['class']}", "dtype": line["dtype"], "m": line["m"],
                    "n": line["n"], "nnz": line["nnz"]}
        else:
            continue
        cases.setdefault(tuple(head.items()), []).append(line)
    return cases


def regret_of(lines):
    """What a case says of the choice; None where the choice was not timed."""
    return dense_regret(lines) if lines[0]["kind"] == "gemm" else sparse_regret(lines)


def sparse_regret(lines):
    """The trials of a tuned plan are ratios of the time of the plan's own choice."""
    timed = [line for line in lines if line["status"] == "ok" and line["graph_us"]]
    auto = next((line for line in timed if (line["contestant"], line["variant"]) == ("lanky", "auto")), None)
    trials = next((line["trials"] for line in timed if line.get("trials")), None)
    if auto is None or trials is None:
        return None
    ways = [(f"lanky: {trial['path']} {trial['shape']}", trial["ratio"] * auto["graph_us"]) for trial in trials]
    ways += [(f"{line['contestant']}: {line['variant']}", line["graph_us"]) for line in timed
             if line["contestant"] != "lanky"]
    best, best_us = min(ways, key=lambda way: way[1])
    found = {"chosen": ways[0][0], "chosen_us": auto["graph_us"], "best": best, "best_us": round(best_us, 3),
             "regret": round(auto["graph_us"] / best_us, 4), "candidates": len(ways),
             "wrong": sum(line["status"] == "wrong" for line in lines)}
    if auto.get("predicted_us"):
        found["model_error"] = round(auto["predicted_us"] / auto["graph_us"], 4)
    return found


def dense_regret(lines):
    timed = [line for line in lines if line["status"] == "ok" and line["warm_us"]]
    chosen = next((line for line in timed if line.get("chosen")), None)
    if chosen is None:
        return None
    twins = [line for line in timed if line is not chosen and line["variant"] == chosen.get("algorithm")
             and line["contestant"] == chosen["contestant"]]
    chosen_us = min(map(device_us, [chosen, *twins]))
    best = min(timed, key=device_us)
    found = {"chosen": name_of(chosen), "chosen_us": chosen_us, "best": name_of(best), "best_us": device_us(best),
             "regret": round(chosen_us / device_us(best), 4), "candidates": len(timed),
             "wrong": sum(line["status"] == "wrong" for line in lines)}
    if twins:
        found["noise"] = round(device_us(chosen) / device_us(twins[0]), 4)
    if chosen.get("predicted_us"):
        found["model_error"] = round(chosen["predicted_us"] / chosen_us, 4)
    return found


def name_of(line):
    return f"{line['contestant']}: {line.get('algorithm') or line['variant']}"


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def by_type(line):
    return line["gpu"], line["set"], line["family"], line["dtype"]


def by_family(line):
    """All sparse classes are one family."""
    return line["set"], line["family"].split()[0]


def table(lines, key_of=by_type):
    groups = {}
    for line in lines:
        if line["kind"] == "regret":
            groups.setdefault(key_of(line), []).append(line)
    names = {by_type: "card, set, family, type", by_family: "set, family"}
    text = markdown.heading([names[key_of], "cases", "regret, mean", "90th percentile", "worst",
                             "no loss", "model error, median"])
    for key, group in sorted(groups.items()):
        regrets = [line["regret"] for line in group]
        errors = [abs(math.log(line["model_error"])) for line in group if "model_error" in line]
        worst = max(group, key=lambda line: line["regret"])
        text += markdown.row([
            ", ".join(key), len(group), f"{geometric_mean(regrets):.3f}", f"{percentile(regrets, 0.9):.2f}",
            f"{worst['regret']:.2f} ({worst['case']})",
            f"{sum(r <= EQUAL for r in regrets) / len(group):.0%}",
            f"{math.exp(statistics.median(errors)) - 1:.0%}" if errors else "–"])
    return text


def convert(paths, name, out):
    written = ["{}\n".format(json.dumps(env)) for env in environments(paths)]
    gpu = json.loads(written[0])["gpu"] if written else ""
    for path in paths:
        for head, lines in cases_of(path).items():
            found = regret_of(lines)
            if found is not None:
                written.append(json.dumps({"kind": "regret", "gpu": gpu, "set": name, **dict(head), **found}) + "\n")
    out.write_text("".join(written))
    return len(written)


def environments(paths):
    """The env line of each file."""
    for path in paths:
        for text in path.read_text().splitlines():
            line = json.loads(text)
            if line["kind"] == "env":
                yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--set", help="fit or validation: the inputs that the files are of")
    parser.add_argument("-o", "--out", type=pathlib.Path)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        lines = [json.loads(text) for path in options.files for text in path.read_text().splitlines()]
        print(table(lines), end="")
        return
    if not options.set or not options.out:
        parser.error("raw files need --set NAME and -o FILE")
    print(f"{options.out}: {convert(options.files, options.set, options.out)} lines", file=sys.stderr)


if __name__ == "__main__":
    main()
