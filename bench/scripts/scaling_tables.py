"""Tables of petsc/scaling: what model.py predicts, and what check.py and messages.py found."""

import collections

from markdown import heading, row
from unseen import lines_of

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


def gpu_check(lines):
    """Measured microseconds and, in brackets, the error of the prediction; those beyond 15 % are in bold."""
    found = of_kind(lines, "scaling_gpu_check")
    columns = list(dict.fromkeys((line["contestant"], line["task"]) for line in found))
    names = {"matmult": "MatMult", "matmatmult": "MatMatMult", "cg": "KSPCG", "lanky": "lanky", "cusparse": "aijcusparse"}
    text = heading(["stencil of 27 points, cards", *(f"{names[who]}, {names[task]}" for who, task in columns)])
    rows = collections.defaultdict(dict)
    for line in found:
        error = f"{100 * line['error']:+.1f} %"
        rows[line["case"], line["ranks"]][line["contestant"], line["task"]] = (
            f"{line['measured_us']:.0f} ({error if line['within'] else f'**{error}**'})")
    for (case, ranks), cells in rows.items():
        text += row([f"{case}, {ranks}", *(cells.get(column, "") for column in columns)])
    within = sum(line["within"] for line in found)
    return text + f"\n{within} of {len(found)} predictions are within 15 % of the measured microseconds.\n"


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
            shown.append("" if ours is None else f"{ours:.0f}" + (f" ({theirs / ours:.2f})" if theirs else ""))
        if not all(shown[1:]):
            continue  # cases of few GPUs
        text += row([f"{case}, {WHAT[what]}" + (f", {columns} columns" if columns > 1 else ""), *shown])
    return text


def dominated(lines):
    """The fewest GPUs at which communication takes more than half of the time."""
    text = heading(["communication takes over half from", "lanky", "cuSPARSE", "lanky, optimistic network",
                    "cuSPARSE, optimistic network"])
    found = {(line["case"], line["what"], line["columns"], line["network"], line["contestant"]): line["from_ranks"]
             for line in of_kind(lines, "scaling_dominated")}
    for case, what, columns in dict.fromkeys(key[:3] for key in found):
        if "unknowns" in case:
            continue  # of few GPUs
        cells = [found.get((case, what, columns, network, who)) for network in ("published", "optimistic")
                 for who in ("lanky", "cusparse")]
        text += row([f"{case}, {WHAT[what]}" + (f", {columns} columns" if columns > 1 else ""),
                     *(f"{ranks} GPUs" if ranks else "beyond 4096" for ranks in cells)])
    return text


TABLES = {"scaling-check": check, "scaling-gpu-check": gpu_check, "scaling-messages": messages, "scaling-parameters": parameters, "scaling-times": times,
          "scaling-dominated": dominated}


def source(environments, name):
    env = environments[-1]
    machine = f"{env['cpu']}, {env['cores']} cores,"
    if "kernels_commit" in env:
        machine = f"kernels of {env['gpu']} by commit {env['kernels_commit'][:12]}, model by"
    return f"\n`{name}`: {machine} commit {env['commit'][:12]}, {env['utc'][:10]}.\n"


def table(kind, name):
    environments, lines = lines_of(name)
    return "\n" + TABLES[kind](lines) + source(environments, name) + "\n"
