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


def on_one_rank(name, ranks, nnz, ones):
    """The case on one rank that this one is compared with, or None, and whether that is strong scaling."""
    if ranks == 1 or name in ones:
        return name, True
    near = [other for other, entries in ones.items() if abs(entries * ranks / nnz - 1) < 0.02 and name.count(",") == other.count(",")]
    return (near[0] if near else None), False


def gpus(lines):
    """Microseconds of lanky, how many times as long PETSc's own type takes, and the efficiency beside one GPU."""
    found = {}
    for line in lines:
        if line["kind"] == "petsc" and line["status"] == "ok":
            of_case = found.setdefault((line["case"], line["nnz"], line["ranks"]), {})
            of_case.setdefault(line["task"], {})[line["contestant"]] = line["us"]
    ones = {case: nnz for case, nnz, ranks in found if ranks == 1}
    tasks = [task for task in TASKS if any(task in of for of in found.values())]
    text = heading(["Laplacian of", "nonzeros", "GPUs", *(TASKS[task] for task in tasks)])
    families = {}  # each case on one rank with those that are compared with it
    for case, nnz, ranks in found:
        one, strong = on_one_rank(case, ranks, nnz, ones)
        families.setdefault(one if one else case, []).append((ranks, strong, case, nnz))
    for one, members in families.items():
        for ranks, strong, case, nnz in sorted(members):
            of = found[case, nnz, ranks]
            cells = []
            for task in tasks:
                us = of.get(task, {})
                if OURS not in us:
                    cells.append("")
                    continue
                rivals = [time for name, time in us.items() if name != OURS]
                cells.append(f"{us[OURS]:.0f}" + (f" ({min(rivals) / us[OURS]:.2f})" if rivals else ""))
                if ranks > 1 and one in ones:
                    cells[-1] += f", **{found[one, ones[one], 1][task][OURS] / us[OURS] / (ranks if strong else 1):.2f}**"
            scaling = "" if ranks == 1 or one not in ones else ", strong" if strong else ", weak"
            text += row([f"`{case}`{scaling}", f"{nnz:,}", ranks, *cells])
    return text


def gram(lines):
    """Microseconds of lanky with the sum, how many times as long cuBLAS takes, and the efficiency of two GPUs."""
    found = {}
    for line in lines:
        if line["kind"] == "distributed_gram" and line["status"] == "ok":
            found.setdefault((line["dtype"], line["columns"]), {})[line["case"], line["ranks"], line["contestant"]] = line["us"]
    most = max(line["ranks"] for line in lines if line["kind"] == "distributed_gram")
    text = heading(["Q", "one GPU", f"{most} GPUs, as much on each", f"{most} GPUs, as much in all"])
    for (dtype, columns), us in found.items():
        def cell(case, ranks):
            ours, theirs = us[case, ranks, "lanky"], us[case, ranks, "cublas"]
            return ours, f"{ours:.0f} ({theirs / ours:.2f})"

        one, shown = cell("weak", 1)
        cells = [shown]
        for case, share in (("weak", 1), ("strong", most)):
            ours, shown = cell(case, most)
            cells.append(f"{shown}, **{one / ours / share:.2f}**")
        text += row([f"{columns} columns, {dtype}", *cells])
    return text


MEANING = {
    "petsc": "microseconds of a product (MatMatMult: 16 columns) or of an iteration (restart, of EPSKRYLOVSCHUR) on one rank, "
             "f64; in brackets the best of PETSc's own types over lanky's; \\*: no pair had converged within the iterations of the run, so "
             "that there was no result to check",
    "petsc-gpus": "microseconds of a product (MatMatMult: 16 columns) or of an iteration, f64; in brackets mpiaijcusparse's over lanky's; in "
                  "bold the efficiency beside one card; all results compared with PETSc's aij on the host, or with residuals or Ritz values of "
                  "eigensolvers",
    "gram-gpus": "microseconds of G = QᵀQ with the sum over the GPUs, 2 GiB of Q; in brackets cuBLAS's (torch.mm) over lanky's; in bold "
                 "the efficiency beside one GPU"}
TABLES = {"petsc": table, "petsc-gpus": gpus, "gram-gpus": gram}


def source(environments, name, kind):
    env = environments[-1]
    parts = [env["gpu"]]
    for key in ("petsc", "slepc"):
        if key in env:
            parts.append(env[key].replace(" Release Version", "").split(",")[0])
    if "mpi" in env:
        parts.append(env["mpi"] + (", from GPU memory" if env["gpu_aware_mpi"] else ", through the host"))
    if "nccl" in env:
        parts.append(f"NCCL {env['nccl']}, PyTorch {env['torch']}")
    parts.append(f"lanky {env['lanky'].split(';')[0]}" + (f", commit {env['commit']}" if "commit" in env else ""))
    return f"\n`{name}`: {', '.join(parts)}, {env['utc'][:10]}; {MEANING[kind]}.\n"
