"""Random products (tests/random) under compute-sanitizer's four tools, side by side: each report is a failure, since no
false alarm is known. Writes the counts as lines of docs/reliability.md, and what was reported to LOGS."""

import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import time

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
KINDS = ("sparse", "dense")
EXIT_CODE = 99  # of compute-sanitizer, where it reports something

# What a tool reports that was proven to be none of lanky's, as (tool, regular expression, the proof). None so far.
FALSE_ALARMS = ()

SUMMARY = re.compile(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)", re.MULTILINE)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/dev/bin/random_cases", help="the program that draws the products")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--cases", type=int, default=512, help="of each kind and tool (512)")
    parser.add_argument("--shards", type=int, default=2, help="processes that a kind and tool are shared out to (2)")
    parser.add_argument("--jobs", type=int, default=16, help="processes side by side (16)")
    parser.add_argument("--seconds", type=float, default=280, help="until a process is ended (280)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tool", action="append", choices=TOOLS, help="this tool alone; may be given again")
    parser.add_argument("--logs", type=pathlib.Path, default=pathlib.Path("build/sanitize"))
    parser.add_argument("--json", type=pathlib.Path, help="append the counts to this file")
    return parser.parse_args(arguments)


def reports_of(tool, text):
    """How much a tool reported: its summary's number, less what is proven to be a false alarm. None where there is no
    summary, as where the tool was ended or never began."""
    found = SUMMARY.findall(text)
    if not found:
        return None
    known = sum(len(re.findall(pattern, text)) for name, pattern, _ in FALSE_ALARMS if name == tool)
    return max(0, sum(map(int, found)) - known)


def run(options, tool, kind, shard):
    """(tool, kind, cases, reports, seconds, why it counts as failed or "")"""
    cases = max(8, options.cases // options.shards)
    command = [options.sanitizer, "--tool", tool, "--error-exitcode", str(EXIT_CODE), "--print-limit", "20",
               options.program, "--device", options.device, "--kind", kind, "--cases", str(cases), "--threads", "1",
               "--seed", str(options.seed * 1000 + shard), "--apart"]
    log = options.logs / f"{tool}.{kind}.{shard}.txt"
    begin = time.monotonic()
    with open(log, "w", encoding="utf-8") as file:
        try:
            status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, timeout=options.seconds,
                                    check=False).returncode
        except subprocess.TimeoutExpired:
            status = None
        except OSError as error:
            return tool, kind, 0, 0, 0.0, f"{options.sanitizer}: {error.strerror}"
    text = log.read_text(encoding="utf-8", errors="replace")
    reports = reports_of(tool, text)
    why = ""
    if status is None:
        why = f"not done after {options.seconds:g} s"
    elif reports is None:
        why = f"no summary, status {status}"
    elif reports > 0:
        why = f"{reports} reports"
    elif status not in (0, EXIT_CODE):
        why = f"status {status}: the products are wrong"
    return tool, kind, cases if status is not None else 0, reports or 0, time.monotonic() - begin, why


def main(arguments):
    options = parse(arguments)
    options.logs.mkdir(parents=True, exist_ok=True)
    tools = options.tool or TOOLS
    runs = [(tool, kind, shard) for shard in range(options.shards) for tool in tools for kind in KINDS]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(lambda each: run(options, *each), runs))
    failed = False
    lines = []
    for tool in tools:
        for kind in KINDS:
            parts = [part for part in done if part[:2] == (tool, kind)]
            wrong = [part[5] for part in parts if part[5]]
            lines.append({"kind": "reliability", "part": "faults", "check": f"compute-sanitizer {tool}, {kind}",
                          "device": options.device, "tried": sum(part[2] for part in parts), "unit": "products",
                          "failed": sum(part[3] for part in parts) + sum(not part[3] for part in parts if part[5]),
                          "seconds": round(max(part[4] for part in parts), 1), "seed": options.seed})
            print(json.dumps(lines[-1]) + ("".join(f"\n  {why}" for why in wrong)), flush=True)
            failed = failed or bool(wrong)
    if options.json:
        with open(options.json, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
