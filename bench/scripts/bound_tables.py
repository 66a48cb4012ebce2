"""Tables of how near results come to their documented error bound, from the JSON lines of random_cases."""

from markdown import heading, row

OPERATIONS = {"spmv": "SpMV", "spmm": "SpMM", "sddmm": "SDDMM", "gemm panel": "dense, panel", "gemm update": "dense, update",
              "gemm gram": "dense, gram", "gemm regular": "dense, regular"}
TYPES = ("f64", "f32", "tf32x3", "tf32", "f16", "f16:f32", "bf16", "bf16:f32", "c64", "c128", "f32:f64", "f16:f64", "bf16:f64")


def numbers_of(lines):
    return [line for line in lines if line["kind"] == "reliability" and line["part"] == "numbers"]


def worst_errors(lines):
    """Largest error over its bound by operation and type; of sums of 1000 products or more in parentheses."""
    cells = {}
    for line in numbers_of(lines):
        if line["check"] in OPERATIONS:
            cells.setdefault(line["check"], {}).setdefault(line["dtype"], []).append(line)
    present = [dtype for dtype in TYPES if any(dtype in of for of in cells.values())]
    text = heading(["largest error / bound", "products", *present])
    for check, name in OPERATIONS.items():
        of = cells.get(check, {})
        tried = sum(line["tried"] for same in of.values() for line in same)
        shares = []
        for dtype in present:
            worst = max((line.get("worst", 0) for line in of.get(dtype, [])), default=None)
            long = max((line.get("worst_long", 0) for line in of.get(dtype, [])), default=None)
            shares.append("" if worst is None else f"{worst:.2f}" + (f" ({long:.2g})" if long else ""))
        text += row([name, f"{tried:,}", *shares])
    return text


def repeated_bits(lines):
    """How many pairs of products had their bits compared, and how many differed."""
    text = heading(["operation", "pairs compared", "pairs that differ"])
    for check, name in OPERATIONS.items():
        same = [line for line in numbers_of(lines) if line["check"] == f"{check} bits"]
        text += row([name, f"{sum(line['tried'] for line in same):,}", sum(line["failed"] for line in same)])
    return text


TABLES = {"error-bounds": worst_errors, "repeated-bits": repeated_bits}


def source(environments, name):
    devices = sorted({environment["gpu"] or environment["cpu"] for environment in environments})
    return f"\n`{name}`, {', '.join(devices)}.\n"
