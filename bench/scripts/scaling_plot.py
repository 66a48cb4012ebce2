"""Draws docs/plots/petsc_scaling.svg from the predictions of petsc/scaling/model.py: times over the number of GPUs, lanky's
kernels and cuSPARSE's, with a ring where communication begins to take more than half.
"""

import collections

from jsonl import ROOT
from plots import FOLDER, polyline
from spmv_plots import HEIGHT, WIDTH, Axis, Panel, dot, log_axis, page
from unseen import lines_of

PREDICTIONS = "bench/results/h200/petsc_scaling_model.jsonl"
MEASURED = ("bench/results/h200x2/petsc_scaling_check.jsonl", "bench/results/h200x4/petsc_scaling_check.jsonl")
STYLE = ("path.measured{stroke-width:1.8}.vendor{stroke:#d4761a;fill:none}polyline.small{stroke-dasharray:4 3}circle.small{fill:none}circle.ring{fill:none;"
         "stroke:#cf222e;stroke-width:1.4}")
KINDS = {"lanky": "lanky", "cusparse": "vendor"}
# (title, the cases' first word, columns, figure)
PANELS = (("MatMult, weak scaling: 1e8 and (dashed) 1e7 nonzeros a GPU; us", "weak", 1, "matmult"),
          ("MatMult, strong scaling: 1e9 and (dashed) 2e8 nonzeros; us", "strong", 1, "matmult"),
          ("an iteration of conjugate gradients, weak scaling; us", "weak", 1, "cg"),
          ("an iteration of conjugate gradients, strong scaling; us", "strong", 1, "cg"),
          ("MatMult of 16 columns, weak scaling; us", "weak", 16, "matmult"),
          ("MatMult of 16 columns, strong scaling; us", "strong", 16, "matmult"))
TASKS = {(1, "matmult"): "matmult", (1, "cg"): "cg", (16, "matmult"): "matmatmult"}


def measured():
    """{(case, task, contestant, ranks): microseconds}."""
    found = {}
    for name in MEASURED:
        if (ROOT / name).is_file():
            for line in (line for line in lines_of(name)[1] if line["kind"] == "scaling_gpu_check"):
                found[line["case"], line["task"], line["contestant"], line["ranks"]] = line["measured_us"]
    return found


def cross(kind, x, y, title):
    return (f'<path class="{kind} measured" d="M{x - 4:.1f} {y - 4:.1f}l8 8m-8 0l8 -8"><title>{title}</title></path>')


def panel_of(index, lines, dominated, points_measured, title, scaling, columns, what):
    here = [line for line in lines if line["case"].startswith(scaling) and line["columns"] == columns and "unknowns" not in line["case"]]
    ranks = sorted({line["ranks"] for line in here})
    panel = Panel(index, Axis(ranks[0], ranks[-1], WIDTH, ranks[::2]), log_axis([line[f"{what}_us"] for line in here], HEIGHT))
    text = panel.frame(title, None) + panel.names_of_x()
    curves = collections.defaultdict(list)
    for line in here:
        curves[line["case"], line["contestant"]].append(line)
    largest = next(iter(curves))[0]
    for (case, contestant), points in curves.items():
        kind = KINDS[contestant] + ("" if case == largest else " small")
        text += polyline(kind, [panel.at(line["ranks"], line[f"{what}_us"]) for line in points])
        for line in points:
            text += dot(kind, *panel.at(line["ranks"], line[f"{what}_us"]), f"{case}, {contestant}, {line['ranks']} GPUs: "
                        f"{line[f'{what}_us']:.1f} us, {100 * line[f'{what}_communication']:.0f} % communication")
            us = points_measured.get((case, TASKS[columns, what], contestant, line["ranks"]))
            if us is not None:
                text += cross(KINDS[contestant], *panel.at(line["ranks"], us), f"{case}, {contestant}, {line['ranks']} GPUs: {us:.1f} us measured")
            if line["ranks"] == dominated.get((case, columns, contestant, what)):
                x, y = panel.at(line["ranks"], line[f"{what}_us"])
                text += f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    return text


def wanted():
    """(path, what it should hold) of the plot."""
    if not (ROOT / PREDICTIONS).is_file():
        return
    environments, found = lines_of(PREDICTIONS)
    env = environments[-1]
    lines = [line for line in found if line["kind"] == "scaling_model" and line["network"] == "published"]
    dominated = {(line["case"], line["columns"], line["contestant"], line["what"]): line["from_ranks"] for line in found
                 if line["kind"] == "scaling_dominated" and line["network"] == "published"}
    found_on_gpus = measured()
    panels = [panel_of(index, lines, dominated, found_on_gpus, *panel) for index, panel in enumerate(PANELS)]
    note = (f"{PREDICTIONS}: kernels of {env['gpu']}, commit {env['kernels_commit'][:12]}; network measured within a node, published between nodes. "
            "Ring: over half is communication. Cross: measured.")
    yield FOLDER / "petsc_scaling.svg", page("MatMult of PETSc over the number of GPUs: predicted and, where a cross is, measured",
                                             ["lanky", "vendor"], panels, note, STYLE)
