"""Fuzzes the programs of tests/fuzz for a while on several cores, and writes what was tried as lines of results.
Standard Python alone, so that it also runs where the programs were only carried to: docs/fuzzing.md."""

import argparse
import concurrent.futures
import io
import json
import math
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Beside tests/data/fuzz/NAME: files of other tests.
SEEDS = {"matrix_market": "tests/data/parser", "rutherford_boeing": "tests/data/formats", "mat": "tests/data/formats",
         "archive": "tests/data/archives", "grid": "bench/grids", "index": "tests/data/collection"}
PYTHON_TARGETS = ("python_arrays", "python_dense", "python_files", "python_solvers")
TIMEOUT = 20  # seconds that an input may take
MEMORY = {"capi": 1024, "archive": 1024}  # MiB that an input of some kilobytes may ask for at once: what libraries take
USUAL_MEMORY = 256
LARGE = 4096  # bytes of an input that is not kept
MOST_FINDINGS = 10  # of a target in one run, which ends then


class Tally:
    """What the processes of one target came to."""

    def __init__(self):
        self.executed = self.added = self.findings = 0
        self.cpu_seconds = 0.0

    def add(self, log, usage):
        for name, value in re.findall(r"^stat::(\w+):\s+(\d+)$", log, re.M):
            self.executed += int(value) if name == "number_of_executed_units" else 0
            self.added += int(value) if name == "new_units_added" else 0
        self.cpu_seconds += usage.ru_utime + usage.ru_stime


def named_seeds_of(target):
    """The folders of inputs that people made."""
    folders = [ROOT / "tests/data/fuzz" / target, ROOT / SEEDS.get(target, "absent")]
    return [folder for folder in folders if folder.is_dir()]


def found_inputs_of(options, target):
    """The folders of inputs that fuzzing found: those that are kept, where unpack() has put them, and those of this corpus."""
    return [folder for folder in (options.work / "seeds" / target, options.work / "corpus" / target) if folder.is_dir()]


def unpack(options, target):
    archive = ROOT / "tests/data/fuzz" / f"{target}.tar.xz"
    folder = options.work / "seeds" / target
    shutil.rmtree(folder, ignore_errors=True)
    if archive.exists():
        with tarfile.open(archive) as members:
            members.extractall(folder)


def pack(folder, archive):
    """The same files give the same archive."""
    with tarfile.open(archive, "w:xz", preset=9) as members:
        for path in sorted(folder.iterdir()):
            member = tarfile.TarInfo(path.name)
            member.size = path.stat().st_size
            members.addfile(member, io.BytesIO(path.read_bytes()))


def targets_in(folder):
    """What has a program there. The C interface comes first, since it is the largest."""
    names = [path.name.removeprefix("fuzz_") for path in folder.glob("fuzz_*")]
    return sorted(names, key=lambda name: (name != "capi", name))


def command(options, target):
    """The program of a target, to which options of libFuzzer are added."""
    if target not in PYTHON_TARGETS:
        return [str(options.bin / f"fuzz_{target}")]
    own = ROOT / "build/venv/bin/python"
    return [str(own) if own.exists() else sys.executable, str(ROOT / "tests/fuzz/python/fuzz_python.py"),
            target.removeprefix("python_")]


def environment(options):
    own = dict(os.environ, OMP_NUM_THREADS="1")
    if options.python:
        own["PYTHONPATH"] = str(options.python.resolve())
    if not options.leaks:
        own["ASAN_OPTIONS"] = "detect_leaks=0:" + own.get("ASAN_OPTIONS", "")
    return own


def run_process(options, arguments, log):
    """(exit status, what it wrote, the resources that it took)"""
    with open(log, "wb") as output:
        process = subprocess.Popen(arguments, stdout=output, stderr=output, env=environment(options), cwd=options.work)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, pathlib.Path(log).read_text(errors="replace"), usage


def leaks_are_seen(options):
    """LeakSanitizer needs ptrace, which some containers forbid: then nothing else fails for that."""
    options.leaks = True
    status, log, _ = run_process(options, [*command(options, "filter"), "-runs=1"], options.work / "leaks.log")
    if status != 0 and "LeakSanitizer has encountered a fatal error" not in log:
        sys.exit(f"fuzz.py: fuzz_filter does not run:\n{log}")
    return status == 0


def fuzz(options, target, slot, seconds, tally):
    """One process after the other until the time is over: a finding ends a process."""
    corpus = options.work / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    dictionary = ROOT / "tests/fuzz" / f"{target}.dict"
    logs = []
    while (left := end - time.monotonic()) > 0.5 and len(logs) <= MOST_FINDINGS:
        arguments = [*command(options, target), f"-max_total_time={max(1, math.floor(left))}", f"-timeout={TIMEOUT}",
                     "-rss_limit_mb=2560", f"-malloc_limit_mb={MEMORY.get(target, USUAL_MEMORY)}", "-print_final_stats=1",
                     f"-artifact_prefix={options.work}/findings/{target}-"]
        arguments += ["-len_control=0", "-max_len=512"] if target in PYTHON_TARGETS else []
        arguments += [f"-dict={dictionary}"] if dictionary.exists() else []
        log = options.work / f"{target}.{slot}.{len(logs)}.log"
        # New inputs go into the first folder.
        folders = dict.fromkeys([corpus, *named_seeds_of(target), *found_inputs_of(options, target)])
        status, text, usage = run_process(options, arguments + [str(folder) for folder in folders], log)
        tally.add(text, usage)
        logs.append(log)
        if status == 0:
            log.unlink()
            return
        tally.findings += 1
        print(f"fuzz.py: a finding of {target}: {log}\n" + "\n".join(text.splitlines()[-30:]), flush=True)
        if "ERROR: " not in text and "Test unit written" not in text:
            return  # it does not run at all


def merge(options, target):
    """WORK/new/TARGET.tar.xz: of the seeds and the corpus the least set, or nearly, that runs what inputs of people do not."""
    both, new = options.work / "merged" / target, options.work / "new"
    shutil.rmtree(both, ignore_errors=True)
    both.mkdir(parents=True)
    new.mkdir(exist_ok=True)
    for folder in named_seeds_of(target):
        for seed in folder.iterdir():
            if seed.is_file():
                shutil.copy(seed, both)
    named = {path.name for path in both.iterdir()}
    found = found_inputs_of(options, target)
    if target in PYTHON_TARGETS:  # merging starts the program anew, which a script is not
        for folder in found:
            shutil.copytree(folder, both, dirs_exist_ok=True)
    else:
        arguments = ["-merge=1", "-set_cover_merge=1", "-use_counters=0", f"-timeout={TIMEOUT}", "-rss_limit_mb=2560",
                     *map(str, (both, *found))]
        status, text, _ = run_process(options, [*command(options, target), *arguments], options.work / f"{target}.merge.log")
        if status != 0:
            print(f"fuzz.py: {target} cannot be merged:\n" + "\n".join(text.splitlines()[-10:]))
    for path in both.iterdir():
        if path.name in named or path.stat().st_size > LARGE:
            path.unlink()
    if any(both.iterdir()):
        pack(both, new / f"{target}.tar.xz")
    shutil.rmtree(both)


def commit():
    git = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=40"], cwd=ROOT, capture_output=True, text=True,
                         check=False)
    carried = ROOT / "commit.txt"
    return git.stdout.strip() or (carried.read_text().strip() if carried.exists() else "unknown")


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.split(": ", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def environment_line(options):
    return {"kind": "env", "schema": 1, "commit": commit(), "cpu": processor(), "threads": options.jobs,
            "argv": " ".join(sys.argv), "utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def write_results(options, targets, tallies, seconds):
    with open(options.results, "a", encoding="utf-8") as output:
        lines = [environment_line(options)]
        for target in targets:
            tally = tallies[target]
            lines.append({"kind": "reliability", "part": "files", "check": f"fuzz {target}", "device": "cpu",
                          "tried": tally.executed, "unit": "inputs", "failed": tally.findings, "seconds": round(seconds),
                          "cpu_seconds": round(tally.cpu_seconds, 1), "new_coverage": tally.added})
        output.writelines(json.dumps(line) + "\n" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=int, help="for all targets together")
    parser.add_argument("--bin", default=ROOT / "build/fuzz/bin", type=pathlib.Path, help="the folder of the programs fuzz_NAME")
    parser.add_argument("--python", type=pathlib.Path, help="the folder of the Python package, to fuzz it, too (needs Atheris)")
    parser.add_argument("--work", default=ROOT / "build/fuzz", type=pathlib.Path,
                        help="where corpus, findings and logs are kept from run to run")
    parser.add_argument("--jobs", default=os.cpu_count(), type=int, help="processes at once")
    parser.add_argument("--only", default="", help="of the targets, these: NAME,NAME")
    parser.add_argument("--results", type=pathlib.Path, help="JSON lines that what was tried is appended to")
    parser.add_argument("--merge", action="store_true", help="afterwards, write WORK/new/NAME.tar.xz for tests/data/fuzz")
    options = parser.parse_args()
    options.bin, options.work = options.bin.resolve(), options.work.resolve()
    every = targets_in(options.bin) + list(PYTHON_TARGETS if options.python else ())
    targets = [target for target in every if not options.only or target in options.only.split(",")]
    if not targets:
        sys.exit(f"fuzz.py: no programs fuzz_NAME in {options.bin}")
    (options.work / "findings").mkdir(parents=True, exist_ok=True)
    options.leaks = leaks_are_seen(options)
    if not options.leaks:
        print("fuzz.py: leaks are not looked for: LeakSanitizer cannot run here")

    for target in targets:
        unpack(options, target)

    # As many waves of `jobs` processes as give each target one; those left over go to the first targets.
    start = time.monotonic()
    waves = math.ceil(len(targets) / options.jobs)
    slots = [targets[i % len(targets)] for i in range(waves * options.jobs)]
    tallies = {target: Tally() for target in targets}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(fuzz, options, target, slot, options.seconds / waves, tallies[target])
                for slot, target in enumerate(slots)]
        for run in runs:
            run.result()
        seconds = time.monotonic() - start
        if options.merge:
            list(pool.map(lambda target: merge(options, target), targets))

    print(f"{'target':18} {'inputs':>11} {'CPU s':>8} {'new':>6} {'findings':>8}")
    for target in targets:
        tally = tallies[target]
        print(f"{target:18} {tally.executed:11} {tally.cpu_seconds:8.1f} {tally.added:6} {tally.findings:8}")
    if options.results:
        write_results(options, targets, tallies, seconds)
    if any(tally.findings for tally in tallies.values()):
        sys.exit(f"fuzz.py: there are findings: {options.work}/findings")


if __name__ == "__main__":
    main()
