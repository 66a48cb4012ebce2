"""Products called from Python, end to end: tables python, python-host and python-steps of readme_tables.py."""

from jsonl import geometric_mean
from markdown import heading, row

RIVALS = {"lanky-cupy": "cupy", "lanky-torch": "torch"}
NAMES = {"cupy": "CuPy", "torch": "PyTorch"}
MEANING = {
    "python": "the library's own time over that with lanky on its arrays, geometric mean; worst: the smallest",
    "python-host": "microseconds from one call to the next, of a matrix of 8 entries: the launch of a kernel included; median",
    "python-steps": "microseconds of the caller from one call to the next, of a matrix of 8 entries; in brackets what a step adds to the one before"}
STEPS = {
    "launch": "runs of the C++ plan, in a loop of C++",
    "convert": "a call with `out=` and `stream=`",
    "stream": "the same on the current stream, looked up",
    "allocate": "a call that makes its result",
    "method": "`A @ x`",
    "empty": "a new array of the library's own, without lanky"}


def pairs(lines, case, dtype, rival):
    """(name of the product, the rival's time over lanky's)"""
    times = {}
    for line in lines:
        if line["kind"] == "python" and line["case"] == case and line["dtype"] == dtype and line["status"] == "ok":
            key = (line.get("matrix"), line.get("n"), line.get("layout"))
            times.setdefault(key, {})[line["contestant"]] = line["median_us"]
    own = "lanky-" + rival
    return [(key, found[rival] / found[own]) for key, found in times.items() if rival in found and own in found]


def name_of(key):
    matrix, columns, layout = key
    return matrix or f"n = {columns}, by {'rows' if layout == 'row' else 'columns'}"


def speed_table(lines):
    text = heading(["product", "type", "beside", "products", "speed-up", "worst"])
    for case, what in (("spmv", "A @ x"), ("gram", "lanky.gram(Q)")):
        for dtype in ("f64", "f32"):
            for rival in RIVALS.values():
                found = pairs(lines, case, dtype, rival)
                if not found:
                    continue
                key, worst = min(found, key=lambda pair: pair[1])
                mean = geometric_mean([ratio for _, ratio in found])
                text += row([f"`{what}`", dtype, NAMES[rival], len(found), f"**{mean:.2f}**", f"{worst:.2f} ({name_of(key)})"])
    return text


def host_table(lines):
    text = heading(["arrays", "lanky", "lanky, `out=`", "the library's own `S @ x`"])
    times = {line["contestant"]: line["median_us"] for line in lines
             if line["kind"] == "python" and line["case"] == "host" and line["dtype"] == "f64"}
    for own, rival in RIVALS.items():
        out = times.get(own + "-out")
        text += row([NAMES[rival], f"{times[own]:.1f}", f"{out:.1f}" if out is not None else "–", f"{times[rival]:.1f}"])
    return text


def steps_table(lines):
    found = {(line["contestant"], line["step"]): line for line in lines
             if line["kind"] == "python" and line["case"] == "step" and line["status"] == "ok"}
    text = heading(["step", *(NAMES[rival] for rival in RIVALS.values())])
    for step, meaning in STEPS.items():
        cells = []
        for own in RIVALS:
            line = found[own, step]
            added = f" ({line['beyond_us']:.1f})" if line["beyond"] in STEPS else ""
            cells.append(f"{line['median_us']:.1f}{added}")
        text += row([meaning, *cells])
    return text


def source(environments, name, kind):
    env = environments[-1]
    card = next(device["name"] for device in reversed(env["devices"]))
    return (f"\n`{name}`: {card}, Python {env['python']}, CuPy {env['cupy']}, PyTorch {env['torch']}, commit "
            f"{env['commit'][:12]}, {env['utc'][:10]}; {MEANING[kind]}.\n")


TABLES = {"python": speed_table, "python-host": host_table, "python-steps": steps_table}
