"""The need of each dense kernel, by products whose ways were all timed (`lanky tune`): a product needs a kernel by as much
as the fastest of all other ways takes longer."""

import collections
import re

import fit_cost
from jsonl import ROOT, device_us
from markdown import heading, row

LIMITS = (1.03, 1.1)


def kernel_of(line):
    if line["contestant"] != "lanky":
        return "the vendor's"
    name = line["variant"] if line["variant"] != "auto" else line.get("algorithm") or fit_cost.kernel_of(line)
    return "the vendor's" if name.startswith("cuBLASLt") else re.split("[ <,]", name)[0]


def needs(paths):
    """({kernel: [need of each product that it is fastest for]}, {kernel: products that it was timed for})"""
    found, timed = collections.defaultdict(list), collections.Counter()
    for path in paths:
        for lines in fit_cost.lines_by_case(path)[1].values():
            times = {}
            for line in lines:
                kernel = kernel_of(line)
                times[kernel] = min(times.get(kernel, device_us(line)), device_us(line))
            timed.update(times.keys())
            fastest, *others = sorted(times, key=times.get)
            if others:
                found[fastest].append(times[others[0]] / times[fastest])
    return found, timed


def table(pattern):
    found, timed = needs(sorted(ROOT.glob(pattern)))
    text = heading(["kernel", "timed for", "fastest for", *(f"needed by {limit - 1:.0%}" for limit in LIMITS), "most"])
    for kernel in sorted(timed, key=lambda name: (-sum(need > LIMITS[0] for need in found[name]), name)):
        own = found[kernel]
        text += row([kernel if " " in kernel else f"`{kernel}`", timed[kernel], len(own),
                     *(sum(need > limit for need in own) for limit in LIMITS), f"{max(own):.2f}" if own else "–"])
    return text
