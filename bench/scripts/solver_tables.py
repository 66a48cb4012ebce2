"""Tables of solvers beside rivals, from the JSON lines of python/bench/solver_speed.py and
lanky_solver_rivals."""

from jsonl import geometric_mean
from markdown import heading, row

RIVALS = ["cupyx eigsh", "cupyx lobpcg", "torch lobpcg"]


def eigensolvers(lines):
    """Seconds to the same residual, a row for each Laplacian and end."""
    cases = {}
    for line in lines:
        if line["kind"] == "eigensolvers" and line["case"] != "iteration":
            cases.setdefault((line["case"], line["end"]), {})[line["contestant"]] = line
    text = heading(["Laplacian of", "end", "lanky.eigsh", *RIVALS])
    ratios = {rival: [] for rival in RIVALS}
    for (case, end), of in cases.items():
        cells = []
        for rival in RIVALS:
            line = of.get(rival)
            if line is None:
                cells.append("")
            elif line["status"] == "ok":
                ratios[rival].append(line["seconds"] / of["lanky"]["seconds"])
                cells.append(f"{line['seconds']:.3f} ({ratios[rival][-1]:.1f})")
            else:
                cells.append("wrong values" if line["status"] == "wrong" else "not reached")
        ours = of["lanky"]
        cells.insert(0, f"{ours['seconds']:.3f}" if ours["status"] == "ok" else ours["status"])
        text += row([case, end, *cells])
    means = [f"{geometric_mean(ratios[rival]):.1f} of {len(ratios[rival])}" for rival in RIVALS]
    return text + row(["**ratio, geometric mean of right results**", "", "", *means])


def iterations(lines):
    """Microseconds of an iteration of LOBPCG beside CuPy's."""
    cases = {}
    for line in lines:
        if line["kind"] == "eigensolvers" and line["case"] == "iteration":
            cases.setdefault((line["matrix"], line["block"]), {})[line["contestant"]] = line
    text = heading(["Laplacian of", "vectors", "lanky", "cupyx lobpcg", "ratio"])
    for (matrix, block), of in cases.items():
        ours, theirs = of["lanky"]["iteration_us"], of["cupyx lobpcg"]["iteration_us"]
        text += row([matrix, str(block), f"{ours:.0f}", f"{theirs:.0f}", f"{theirs / ours:.1f}"])
    return text


def lobpcg_cases(lines):
    """Microseconds of an iteration by case, columns and polynomial, and by contestant."""
    cases = {}
    for line in lines:
        if line.get("what") == "lobpcg":
            key = (line["case"], line["columns"], line["polynomial"])
            cases.setdefault(key, {})[line["contestant"]] = line["iteration_us"]
    return cases


def lobpcg(lines):
    """Microseconds of an iteration beside the same algorithm on the vendor's products."""
    cases = lobpcg_cases(lines)
    text = heading(["Laplacian of", "vectors", "polynomial", "lanky", "cuBLASLt and cuSPARSE", "ratio"])
    ratios = {}
    for (case, columns, polynomial), of in cases.items():
        if "cublaslt+cusparse" not in of:
            continue
        ours, theirs = of["lanky"], of["cublaslt+cusparse"]
        ratios.setdefault(columns, []).append(theirs / ours)
        text += row([case, str(columns), polynomial, f"{ours:.0f}", f"{theirs:.0f}", f"{theirs / ours:.2f}"])
    for columns, of_columns in [*ratios.items(), ("all", sum(ratios.values(), []))]:
        text += row(["**geometric mean**", str(columns), "", "", "", f"**{geometric_mean(of_columns):.2f}**"])
    return text


def mixed(lines):
    """Microseconds of an iteration with the polynomial in either precision."""
    cases = lobpcg_cases(lines)
    text = heading(["Laplacian of", "vectors", "polynomial", "in double", "in single precision", "ratio"])
    for key, of in cases.items():
        if "lanky, mixed precision" in of:
            double, single = of["lanky"], of["lanky, mixed precision"]
            text += row([key[0], str(key[1]), key[2], f"{double:.0f}", f"{single:.0f}", f"{double / single:.2f}"])
    return text


def singular_values(lines):
    """Seconds for the largest singular triplets, a row for each contestant."""
    text = heading(["A", "k", "solver", "seconds", "largest residual / s₁", "largest error of a value"])
    for line in lines:
        if line["kind"] != "singular_values":
            continue
        cells = [line["status"], "", ""]
        if line["status"] == "ok":
            cells = [f"{line['seconds']:.2f}", f"{line['residual']:.1e}", f"{line['value_error']:.1e}"]
        text += row([line["matrix"], str(line["k"]), line["contestant"], *cells])
    return text


def linear(lines):
    """Milliseconds to solve for several right-hand sides."""
    cases = {}
    for line in lines:
        if line.get("what") == "cg":
            cases.setdefault((line["case"], line["columns"]), {})[line["contestant"]] = line
    names = list(next(iter(cases.values())))
    text = heading(["Laplacian of, + 0.01", "right-hand sides", *names])
    for (case, columns), of in cases.items():
        text += row([case, str(columns), *(f"{of[name]['seconds'] * 1e3:.0f} ({of[name]['iterations']})" for name in names)])
    return text


def adjoint(lines):
    """Microseconds of A^T X."""
    cases = {}
    for line in lines:
        if line.get("what") == "adjoint":
            cases.setdefault((line["case"], line["columns"]), {})[line["contestant"]] = line["us"]
    text = heading(["A", "columns", "lanky", "cuSPARSE", "ratio"])
    for (case, columns), of in cases.items():
        ratio = of["cusparse"] / of["lanky"]
        text += row([case, str(columns), f"{of['lanky']:.0f}", f"{of['cusparse']:.0f}", f"{ratio:.2f}"])
    return text


def grams(lines):
    """Shares of the floor and ratios of grams of floats with sums of double, means over columns."""
    cases = {}
    for line in lines:
        if line.get("dtype") == "f32" and line.get("family") in ("gram", "syrk") and line["n"] <= 32:
            key = (line["family"], line["k"], line["layout"], line["n"])
            cases.setdefault(key, {})[line["contestant"]] = line
    means = {}
    for (family, k, _layout, _n), of in cases.items():
        rival = min(line["warm_us"] for name, line in of.items() if name != "lanky" and line.get("warm_us"))
        ours = of["lanky"]
        means.setdefault((family, k), []).append((ours["floor_share"], rival / ours["warm_us"]))
    text = heading(["product", "k", "share of the floor", "least", "ratio", "least"])
    for (family, k), pairs in sorted(means.items()):
        shares, ratios = zip(*pairs)
        name = {"gram": "gram of two operands", "syrk": "A = B"}[family]
        cells = [f"{f(column):.2f}" for column in (shares, ratios) for f in (geometric_mean, min)]
        text += row([name, f"{k:.0e}".replace("e+0", "e"), *cells])
    return text


MEANING = {
    "eigensolvers": "seconds of a call that reaches residuals of 1e-6 of the norm, 8 eigenpairs, f64; in brackets times lanky's",
    "eigensolver-iterations": "microseconds of an iteration without a polynomial, f64",
    "lobpcg-rivals": "microseconds of an iteration, f64: the same algorithm, with the vendor's products in place of lanky's",
    "lobpcg-mixed": "microseconds of an iteration, f64, with 8 steps of the polynomial",
    "singular-values": "values uniform in (0, 1), f64; errors beside lanky's Golub-Kahan to 1e-8; scikit-learn on 16 cores",
    "grams-in-double": "geometric means over 1 to 32 columns, by columns and by rows, batches; ratio: beside the faster of cuBLAS and cuBLASLt on operands that were doubles before",
    "linear-rivals": "milliseconds to residuals of 1e-8, f64 (iterations, of all right-hand sides where they are solved one by one)",
    "adjoint-rivals": "microseconds of Aᵀ X, X by rows, f64; cuSPARSE: the fastest of its algorithms for transposed CSR",
}
TABLES = {"eigensolvers": eigensolvers, "eigensolver-iterations": iterations, "lobpcg-rivals": lobpcg,
          "lobpcg-mixed": mixed, "grams-in-double": grams, "linear-rivals": linear, "adjoint-rivals": adjoint, "singular-values": singular_values}


def source(environments, name, kind):
    env = environments[-1]
    titles = {"cupy": "CuPy", "torch": "PyTorch", "sklearn": "scikit-learn"}
    libraries = "".join(f", {title} {env[key]}" for key, title in titles.items() if env.get(key))
    commit = f", commit {env['commit'][:12]}" if env.get("commit") else f", lanky {env['build'].split(';')[0]}" if env.get("build") else ""
    return f"\n`{name}`: {env['gpu']}{libraries}{commit}, {env['utc'][:10]}; {MEANING[kind]}.\n"
