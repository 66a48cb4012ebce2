"""Tables of lanky's matrix type for PETSc beside PETSc's own, from the JSON lines of petsc/bench/compare.cpp."""

from jsonl import geometric_mean
from markdown import heading, row

TASKS = {"matmult": "MatMult", "matmatmult": "MatMatMult", "cg": "KSPCG", "krylovschur": "EPSKRYLOVSCHUR", "lobpcg": "EPSLOBPCG"}
OURS = "aijlanky"


def times(lines):
    """{(case, nonzeros): {task: {contestant: microseconds}}}, in the order of the lines; wrong results have no time."""
    found = {}
    for line in lines:
        if line["kind"] == "petsc":
            of_task = found.setdefault((line["case"], line["nnz"]), {}).setdefault(line["task"], {})
            of_task[line["contestant"]] = line["us"] if line["status"] in ("ok", "unchecked") else None
    return found


def unchecked(lines):
    """The (case, task) of eigensolvers of which no pair had converged within the run's iterations: earlier runs call these ok."""
    return {(line["case"], line["task"]) for line in lines if line["kind"] == "petsc" and line["converged"] == 0}


def table(lines):
    """Microseconds of lanky, and how many times as long the best of PETSc's own types takes."""
    text = heading(["Laplacian of", "nonzeros", *TASKS.values()])
    ratios = {task: [] for task in TASKS}
    no_result = unchecked(lines)
    for (case, nnz), tasks in times(lines).items():
        cells = []
        for task in TASKS:
            of = tasks.get(task, {})
            rivals = [us for name, us in of.items() if name != OURS and us is not None]
            if of.get(OURS) is None:
                cells.append("wrong")
            elif not rivals:
                cells.append(f"{of[OURS]:.0f}")
            else:
                ratios[task].append(min(rivals) / of[OURS])
                mark = "\\*" if (case, task) in no_result else ""
                cells.append(f"{of[OURS]:.{1 if of[OURS] < 100 else 0}f} ({ratios[task][-1]:.2f}){mark}")
        text += row([case, f"{nnz:,}", *cells])
    text += row(["**geometric mean**", "", *(f"**{geometric_mean(ratios[task]):.2f}**" for task in TASKS)])
    return text + row(["worst", "", *(f"{min(ratios[task]):.2f}" for task in TASKS)])


MEANING = {
    "petsc": "microseconds of a product (MatMatMult: 16 columns) or of an iteration (restart, of EPSKRYLOVSCHUR) on one rank, "
             "f64; in brackets the best of PETSc's own types over lanky's; \\*: no pair had converged within the iterations of the run, so "
             "that there was no result to check"}
TABLES = {"petsc": table}


def source(environments, name, kind):
    env = environments[-1]
    petsc = env["petsc"].replace(" Release Version", "").split(",")[0]
    slepc = env["slepc"].replace(" Release Version", "").split(",")[0]
    return f"\n`{name}`: {env['gpu']}, {petsc}, {slepc}, lanky {env['lanky'].split(';')[0]}, {env['utc'][:10]}; {MEANING[kind]}.\n"
