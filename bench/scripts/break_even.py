"""How many products pay for a sparse plan: table spmv-break-even of readme_tables.py.

A plan costs its setup, and each product saves the best rival's time less lanky's. The rival's own
setup counts as nothing, so that the number is an upper bound: cuSPARSE's preprocessing and
conversions take time, too.
"""

import math
import statistics

from jsonl import DTYPES
from markdown import heading, row

SIZES = ((0, 1e5), (1e5, 1e6), (1e6, 1e7), (1e7, math.inf))  # entries of the matrix
MEANING = ("products: setup over what a product saves beside the best rival, whose own setup counts "
           "as nothing; median, and 90th percentile; setup: median; never: matrices on which the "
           "rival is as fast or faster")


def products_needed(point):
    """Infinite where a product saves nothing; None where it is not measured."""
    if not point.own or point.own.get("setup_us") is None or not point.vendor:
        return None
    saved = point.vendor - point.lanky
    return point.own["setup_us"] / saved if saved > 0 else math.inf


def name(low, high):
    def number(value):
        return f"1e{round(math.log10(value))}"
    if not low:
        return f"below {number(high)}"
    return f"{number(low)} and more" if math.isinf(high) else f"{number(low)} to {number(high)}"


def digits(value):
    """Three of them, for a time or a number of products."""
    if math.isinf(value):
        return "–"
    return f"{value:.3g}" if value < 1000 else f"{float(f'{value:.3g}'):.0f}"


def table(points):
    text = heading(["nonzeros", "type", "matrices", "setup, us", "products", "90 %", "never"])
    for low, high in SIZES:
        for dtype in DTYPES:
            here = [p for p in points if p.line["dtype"] == dtype and low <= p.line["nnz"] < high]
            needed = sorted(n for n in map(products_needed, here) if n is not None)
            if not needed:
                continue
            setups = [p.own["setup_us"] for p in here if products_needed(p) is not None]
            most = needed[math.ceil(0.9 * len(needed)) - 1]
            text += row([name(low, high), dtype, len(needed), digits(statistics.median(setups)),
                         digits(statistics.median(needed)), digits(most),
                         sum(map(math.isinf, needed))])
    return text
