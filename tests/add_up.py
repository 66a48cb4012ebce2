"""Adds up lines of docs/reliability.md that processes side by side have written of one check: add_up.py FILE... > OUT.
Numbers tried and failed are added, the worst is the worst, and the seconds are those of the longest."""

import json
import sys


def added(lines):
    sums = {}
    for line in lines:
        if line["kind"] != "reliability":
            yield line  # env, once a file
            continue
        key = tuple(line.get(name) for name in ("part", "check", "device", "dtype", "unit"))
        if key not in sums:
            sums[key] = line
            continue
        total = sums[key]
        for name in ("tried", "failed"):
            total[name] += line[name]
        for name in ("worst", "seconds"):
            if name in line:
                total[name] = max(total[name], line[name])
    yield from sums.values()


def main(paths):
    lines = [json.loads(text) for path in paths for text in open(path, encoding="utf-8") if text.strip()]
    for line in added(lines):
        print(json.dumps(line, separators=(",", ":")))


if __name__ == "__main__":
    main(sys.argv[1:])
