"""Batches that are killed at random moments and completed by --resume (tests/attack/kills.py), until so many signals
have struck: no finished result is lost, and the file is whole in the end."""

import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/attack"))

import kills  # noqa: E402
from case import Case, Finding  # noqa: E402


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/dev/bin", help="folder of lanky")
    parser.add_argument("--kills", type=int, default=500, help="signals that strike a batch at work (500)")
    parser.add_argument("--seconds", type=float, default=600, help="no further batch is begun then (600)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="batches side by side")
    parser.add_argument("--patience", type=float, default=5, help="multiplies all limits of time (5)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="append the count to this file")
    return parser.parse_args(arguments)


class Count:
    def __init__(self):
        self.lock = threading.Lock()
        self.cases = 0
        self.struck = 0
        self.findings = []

    def next_case(self):
        with self.lock:
            self.cases += 1
            return self.cases

    def kill(self, real, *arguments):
        """kills.kill_after(), of which those that struck are counted."""
        struck = real(*arguments)
        with self.lock:
            self.struck += struck
        return struck


def main(arguments):
    options = parse(arguments)
    count = Count()
    real = kills.kill_after
    kills.kill_after = lambda *rest: count.kill(real, *rest)
    begin = time.monotonic()

    def work(folder):
        while count.struck < options.kills and time.monotonic() - begin < options.seconds:
            number = count.next_case()
            case = Case("kills", number, options.seed, options.bin.resolve(), pathlib.Path(folder) / str(number),
                        options.patience)
            try:
                kills.batch(case)
                case.require_no_survivors()
            except Finding as finding:
                count.findings.append(f"batch {number} of seed {options.seed}: {finding}")
            finally:
                case.end_processes()
                shutil.rmtree(case.folder, ignore_errors=True)

    with tempfile.TemporaryDirectory(prefix="lanky_kills_") as folder:
        threads = [threading.Thread(target=work, args=(folder,)) for _ in range(options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for finding in count.findings:
        print(finding)
    line = {"kind": "reliability", "part": "endurance", "check": "batches killed at random moments and resumed",
            "device": "cpu", "tried": count.struck, "unit": "signals", "failed": len(count.findings),
            "seconds": round(time.monotonic() - begin, 1), "seed": options.seed}
    print(json.dumps(line))
    print(f"{count.cases} batches")
    if options.json:
        with open(options.json, "a", encoding="utf-8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    return 1 if count.findings or count.struck < options.kills else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
