"""`lanky batch` over thousands of small matrices: every one has its result, and the memory of the process that
supervises the workers stays flat."""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What lines of results may take: text that the process keeps of each matrix, to tell the end of it.
LIMIT = 16 << 20  # bytes that the supervisor may grow by over the last two thirds of the run


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanky", type=pathlib.Path, default=ROOT / "build/dev/bin/lanky")
    parser.add_argument("--matrices", type=int, default=10000)
    parser.add_argument("--shards", type=int, default=1, help="batches side by side that share the matrices (1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=LIMIT, help="bytes that the supervisor may grow by")
    parser.add_argument("--json", type=pathlib.Path, help="append the counts to this file")
    return parser.parse_args(arguments)


def write_matrices(folder, count, seed):
    """Small square matrices in folders of a hundred, as a collection has them."""
    draw = random.Random(seed)
    for number in range(count):
        rows = draw.randrange(3, 40)
        entries = {(draw.randrange(rows) + 1, draw.randrange(rows) + 1) for _ in range(3 * rows)}
        lines = "".join(f"{row} {col} {draw.uniform(-1, 1):.6g}\n" for row, col in sorted(entries))
        path = folder / f"{number // 100:04}" / f"m{number:06}.mtx"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {len(entries)}\n{lines}")


def resident_bytes(process):
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def growth(samples):
    """Bytes by which a straight line through (time, bytes) rises over the samples behind the first third."""
    kept = samples[len(samples) // 3:]
    if len(kept) < 3:
        return float("inf")
    mean_time = sum(time for time, _ in kept) / len(kept)
    mean_bytes = sum(size for _, size in kept) / len(kept)
    rise = sum((time - mean_time) * (size - mean_bytes) for time, size in kept)
    return rise / sum((time - mean_time) ** 2 for time, _ in kept) * (kept[-1][0] - kept[0][0])


def start(options, folder, shard):
    command = [options.lanky.resolve(), "batch", "matrices", "--device", "cpu", "--quick", "--no-vendor", "--resume",
               "--shard", f"{shard}/{options.shards}", "--json", f"results{shard}.jsonl"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LANKY_CACHE": "/nonexistent"}
    with open(folder / f"log{shard}.txt", "wb") as log:
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=environment)


def run(options, folder):
    """(samples of each supervisor's memory, exit statuses, seconds)"""
    begin = time.monotonic()
    processes = [start(options, folder, shard) for shard in range(options.shards)]
    samples = [[] for _ in processes]
    while any(process.poll() is None for process in processes):
        for process, own in zip(processes, samples):
            size = resident_bytes(process.pid) if process.poll() is None else 0
            if size:
                own.append((time.monotonic() - begin, size))
        time.sleep(0.2)
    return samples, [process.returncode for process in processes], time.monotonic() - begin


def main(arguments):
    options = parse(arguments)
    with tempfile.TemporaryDirectory(prefix="lanky_batch_") as name:
        folder = pathlib.Path(name)
        write_matrices(folder / "matrices", options.matrices, options.seed)
        samples, statuses, seconds = run(options, folder)
        status_of = {}
        for file in folder.glob("results*.jsonl"):
            for line in map(json.loads, file.read_text().splitlines()):
                if line["kind"] == "matrix":
                    status_of[line["source"]] = line["status"]
        said = (folder / "log0.txt").read_text(errors="replace")[-400:]
    missing = options.matrices - sum(status == "ok" for status in status_of.values())
    failed = sum(status != 0 for status in statuses)
    # As of one supervisor that had all of the matrices.
    grown = options.shards * max(map(growth, samples))
    common = {"kind": "reliability", "part": "endurance"}
    rest = {"device": "cpu", "seconds": round(seconds, 1), "seed": options.seed}
    lines = [{**common, "check": "a batch of small matrices is complete", "tried": options.matrices,
              "unit": "matrices", "failed": missing + failed, **rest},
             {**common, "check": "memory of a batch's supervisor stays flat", "tried": sum(map(len, samples)), "unit": "samples",
              "failed": int(grown > options.limit), "worst": round(grown / options.limit, 3), **rest}]
    for line in lines:
        print(json.dumps(line))
    largest = max((size for own in samples for _, size in own), default=0)
    print(f"exit statuses {statuses}; a supervisor of {options.matrices} matrices grows by {grown:.0f} bytes; {largest} "
          "bytes were the most of one")
    if any(line["failed"] for line in lines):
        print(said)
    if options.json:
        with open(options.json, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    return 1 if any(line["failed"] for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
