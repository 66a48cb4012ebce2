#!/usr/bin/env python3
"""Writes the tables of scaling into docs/distributed*.md from JSON lines. A table stands between two markers:

    <!-- scaling: KIND bench/results/h200/FILE.jsonl -->
    <!-- end scaling -->

KIND is check, messages, parameters, times or dominated. --check changes nothing and fails where a text differs from its
file; a file that does not exist leaves a note in place of the table.
"""

import collections
import difflib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench/scripts"))

from markdown import heading, row  # noqa: E402

MARKED = re.compile(r"(<!-- scaling: ([\w-]+) (\S+) -->\n)(.*?)(<!-- end scaling -->)", re.DOTALL)
SHOWN = (1, 8, 64, 512, 4096)  # ranks in the table of times
WHAT = {"matmult": "MatMult", "cg": "iteration of CG"}


def of_kind(lines, kind):
    return [line for line in lines if line["kind"] == kind]


def check(lines):
    """Measured and predicted microseconds, and the error in percent."""
    text = heading(["case, ranks on 2 cores", "MatMult, measured", "predicted", "error, all rounds", "iteration of CG, measured",
                    "predicted", "error, all rounds"])
    rows = collections.defaultdict(list)
    found = of_kind(lines, "scaling_check")
    for line in found:
        error = f"{100 * line['error']:+.1f} %"
        error = (error if line["within"] else f"**{error}**") + f", {100 * line['least_error']:+.0f} to {100 * line['largest_error']:+.0f}"
        rows[line["case"], line["ranks"]] += [f"{line['measured_us']:.1f}", f"{line['predicted_us']:.1f}", error]
    for (case, ranks), cells in rows.items():
        text += row([f"{case}, {ranks}", *cells])
    within = sum(line["within"] for line in found)
    return text + (f"\n{within} of {len(found)} predictions are within 15 % of the measurement in the median of {found[0]['rounds']} "
                   "rounds; the others are in bold. Times are in microseconds.\n")


def messages(lines):
    text = heading(["matrix, partition", "ranks", "nonzeros a rank, at most", "neighbours, at most", "ghosts, at most",
                    "ghosts in all / rows"])
    for line in of_kind(lines, "scaling_messages"):
        if line["ranks"] in (4, 16, 64):
            text += row([f"{line['case']}, {line['partition']}", line["ranks"], line["max_rank_nnz"], line["max_neighbours"],
                         line["max_ghosts"], f"{line['ghosts'] / line['rows']:.3f}"])
    return text


def parameters(lines):
    text = "| parameter | value | optimistic | source |\n| --- | ---: | ---: | --- |\n"
    for line in of_kind(lines, "scaling_parameter"):
        least = "" if line["optimistic"] is None else f"{line['optimistic']:g}"
        text += row([f"`{line['name']}`", f"{line['value']:g} {line['unit']}", least, line["source"]])
    return text


def times(lines):
    """Predicted microseconds with lanky's kernels, in brackets times as long with cuSPARSE's."""
    cells = {}
    found = [line for line in of_kind(lines, "scaling_model") if line["network"] == "published"]
    for line in found:
        for what in WHAT:
            if f"{what}_us" in line:
                cells[line["case"], what, line["columns"], line["ranks"], line["contestant"]] = line[f"{what}_us"]
    text = heading(["predicted us (cuSPARSE's over lanky's)", *(f"{ranks} GPUs" for ranks in SHOWN)])
    for case, what, columns in dict.fromkeys(key[:3] for key in cells):
        shown = []
        for ranks in SHOWN:
            ours, theirs = (cells.get((case, what, columns, ranks, who)) for who in ("lanky", "cusparse"))
            shown.append(f"{ours:.0f} ({theirs / ours:.2f})" if ours and theirs else "")
        text += row([f"{case}, {WHAT[what]}" + (f", {columns} columns" if columns > 1 else ""), *shown])
    return text


def dominated(lines):
    """The fewest GPUs at which communication takes more than half of the time."""
    text = heading(["communication takes over half from", "lanky", "cuSPARSE", "lanky, optimistic network",
                    "cuSPARSE, optimistic network"])
    found = {(line["case"], line["what"], line["columns"], line["network"], line["contestant"]): line["from_ranks"]
             for line in of_kind(lines, "scaling_dominated")}
    for case, what, columns in dict.fromkeys(key[:3] for key in found):
        cells = [found.get((case, what, columns, network, who)) for network in ("published", "optimistic")
                 for who in ("lanky", "cusparse")]
        text += row([f"{case}, {WHAT[what]}" + (f", {columns} columns" if columns > 1 else ""),
                     *(f"{ranks} GPUs" if ranks else "beyond 4096" for ranks in cells)])
    return text


TABLES = {"check": check, "messages": messages, "parameters": parameters, "times": times, "dominated": dominated}


def table(kind, name):
    path = ROOT / name
    if not path.is_file():
        return f"`{name}` does not exist yet.\n"
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    env = lines[0]
    machine = f"kernels of {env['gpu']}" if "gpu" in env else f"{env['cpu']}, {env['cores']} cores"
    return TABLES[kind](lines) + f"\n`{name}`: {machine}, commit {env['commit'][:12]}, {env['utc'][:10]}.\n"


def main():
    differing = False
    for page in sorted((ROOT / "docs").glob("distributed*.md")):
        text = page.read_text(encoding="utf-8")
        new = MARKED.sub(lambda found: found[1] + table(found[2], found[3]) + found[5], text)
        if "--check" in sys.argv:
            differing |= new != text
            sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), new.splitlines(True), str(page), "from its files"))
        else:
            page.write_text(new, encoding="utf-8")
    return differing


if __name__ == "__main__":
    sys.exit(main())
