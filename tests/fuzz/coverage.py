"""How much of the code the inputs of the fuzzers run: each input once by programs that count (./dev fuzz --coverage), then a
table by folder, and lines of results."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from fuzz import ROOT, environment_line, found_inputs_of, named_seeds_of, targets_in, unpack

# What reads anything that lanky did not write itself, and what C callers call.
FOLDERS = {"io": "io/", "collection": "collection/", "capi": "src/capi/",
           "records": ("bench/records/journal.cpp", "bench/records/json_line.hpp", "src/core/json_line.cpp",
                       "src/core/json_line.hpp"),
           "report": "bench/report/",
           "settings": ("bench/cases/grid.cpp", "dense/tuning.cpp", "src/core/gunzip_file.cpp")}
# Needs a network, which fuzzers have not: tests/fetch_test.py and ./dev attack are for these.
WITHOUT = tuple(f"collection/{name}.{ending}" for ending in ("cpp", "hpp") for name in (
    "archive_download", "curl_network", "fetch", "index_source", "job", "md5", "network", "part_file", "retry",
    "small_request"))


def tool(name):
    """Of the version that compiled the programs."""
    version = subprocess.run(["clang", "-dumpversion"], capture_output=True, text=True, check=True).stdout.split(".")[0]
    own = pathlib.Path(f"/usr/lib/llvm-{version}/bin/{name}")
    return str(own) if own.exists() else name


def replay(options, target, profile):
    unpack(options, target)
    inputs = map(str, named_seeds_of(target) + found_inputs_of(options, target))
    run = subprocess.run([str(options.bin / f"fuzz_{target}"), "-runs=0", "-rss_limit_mb=0", "-malloc_limit_mb=4096", *inputs],
                         env=dict(os.environ, LLVM_PROFILE_FILE=profile, OMP_NUM_THREADS="1"), capture_output=True, text=True,
                         check=False, cwd=pathlib.Path(profile).parent)
    if run.returncode != 0:
        sys.exit(f"coverage.py: {target} fails:\n{run.stderr[-3000:]}")


def measure(options):
    """{file: {"lines": (run, all), "regions": (run, all)}}"""
    with tempfile.TemporaryDirectory() as folder:
        profiles = []
        for target in targets_in(options.bin):
            profiles.append(f"{folder}/{target}.profraw")
            replay(options, target, profiles[-1])
        merged = f"{folder}/all.profdata"
        subprocess.run([tool("llvm-profdata"), "merge", "-o", merged, *profiles], check=True)
        exported = subprocess.run([tool("llvm-cov"), "export", "-summary-only", f"-instr-profile={merged}",
                                   str(options.bin / "lanky_fuzz")], capture_output=True, check=True).stdout
    files = {}
    for file in json.loads(exported)["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        if path.is_relative_to(ROOT):
            files[str(path.relative_to(ROOT))] = {what: (file["summary"][what]["covered"], file["summary"][what]["count"])
                                                  for what in ("lines", "regions")}
    return files


def sums(files, begins):
    mine = [counts for name, counts in files.items() if name.startswith(begins) and name not in WITHOUT]
    return {what: tuple(sum(counts[what][i] for counts in mine) for i in (0, 1)) for what in ("lines", "regions")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--work", default=ROOT / "build/fuzz", type=pathlib.Path, help="the folder of the corpus beside the seeds")
    parser.add_argument("--results", type=pathlib.Path, help="JSON lines that the figures are appended to")
    parser.add_argument("--files", action="store_true", help="a line for each file, too")
    options = parser.parse_args()
    options.bin, options.work, options.jobs = options.bin.resolve(), options.work.resolve(), 1
    files = measure(options)
    print(f"{'':40} {'lines':>14} {'':>6} {'regions':>14}")
    lines = [environment_line(options)]
    for check, begins in FOLDERS.items():
        total = sums(files, begins)
        rows = [(check, total)]
        if options.files:
            rows += [("  " + name, counts) for name, counts in sorted(files.items())
                     if name.startswith(begins) and name not in WITHOUT]
        for name, counts in rows:
            (lines_run, lines_all), (regions_run, regions_all) = counts["lines"], counts["regions"]
            print(f"{name:40} {lines_run:6} / {lines_all:5} {lines_run / max(1, lines_all):6.1%} {regions_run:6} / {regions_all:5} "
                  f"{regions_run / max(1, regions_all):6.1%}")
        lines.append({"kind": "reliability", "part": "files", "check": f"coverage {check}", "device": "cpu",
                      "tried": total["lines"][1], "unit": "lines", "failed": 0, "covered": total["lines"][0],
                      "regions": total["regions"][1], "regions_covered": total["regions"][0], "seconds": 0})
    if options.results:
        with open(options.results, "a", encoding="utf-8") as output:
            output.writelines(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    main()
