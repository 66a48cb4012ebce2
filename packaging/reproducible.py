#!/usr/bin/env python3
"""Builds a release twice, from the committed sources, and compares it bit by bit: library, program, modules, packages, wheel, archives.

reproducible.py [--json FILE] [--keep] [--preset PRESET] [--only TARGET ...] [OPTION ...]

Each build is a clone in a folder of its own, with its own time, umask, time zone, language, host name and number of jobs, without a
compiler's cache. OPTIONs go to CMake, such as -DCMAKE_CUDA_ARCHITECTURES=90a-real of the preset `release`. With the preset `cpu`, the
default, the optimizer is at -O1, where a build takes a third of the time. With --only, targets of Ninja are built and compared, such as
the objects of some kernels, CMakeFiles/lanky.dir/dense/cuda/panel/panel_f64.cu.o. The folders are kept with --keep, or where something
differs.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUICK = ["-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"]
# What must not be seen in the files: umask, jobs, environment, host name.
WAYS = (
    ("first", "022", "2", {"LC_ALL": "C", "TZ": "UTC"}, "one"),
    ("second_and_longer", "077", "1", {"LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"}, "another"),
)


def build(folder: pathlib.Path, commit: str, way: tuple, preset: str, only: list[str], options: list[str]) -> None:
    """The files of a release in folder/build/dist, and what was built in folder/build/PRESET; or some targets there."""
    _, umask, jobs, environment, host = way
    python = ROOT / "build" / "venv" / "bin" / "python"
    commands = [["git", "clone", "-q", ROOT, folder], ["cd", folder], ["git", "checkout", "-q", commit],
                ["cmake", "--preset", preset, "-DLANKY_TESTS=OFF", *options],
                ["cmake", "--build", "--preset", preset, "-j", jobs, *(["--target", *only] if only else [])]]
    if not only:
        commands.append([python, "packaging/release.py", "--dry-run", "--preset", preset])
    script = f"umask {umask}; hostname {host}; " + " && ".join(shlex.join(map(str, words)) for words in commands)
    log = folder.with_suffix(".log")
    with open(log, "w") as output:
        done = subprocess.run(["unshare", "--uts", "bash", "-c", script], stdout=output, stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, "CCACHE_DISABLE": "1", "CMAKE_BUILD_PARALLEL_LEVEL": jobs, **environment})
    if done.returncode != 0:
        print(log.read_text()[-4000:])
        sys.exit(f"{folder.name} failed")


def compared(folder: pathlib.Path, preset: str, only: list[str]) -> dict[str, str]:
    """The hash of each file that is compared."""
    built = folder / "build" / preset
    found = [path for pattern in only or ("*.a", "bin/*.so*", "bin/lanky") for path in built.glob(pattern)]
    found += [] if only else (folder / "build" / "dist").iterdir()
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(found) if path.is_file() and not path.is_symlink()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="a line with the result is appended here")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--preset", default="cpu")
    parser.add_argument("--only", nargs="+", default=[], metavar="TARGET")
    options, further = parser.parse_known_args()
    if options.preset == "cpu":
        further = QUICK + further
    begin = time.monotonic()
    # Of one commit both times: others may follow meanwhile.
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="lanky_reproducible_"))
    hashes = []
    for way in WAYS:
        print(f"== {way[0]}: umask {way[1]}, {way[2]} jobs, {way[3]}, host {way[4]}", flush=True)
        build(scratch / way[0], commit, way, options.preset, options.only, further)
        hashes.append(compared(scratch / way[0], options.preset, options.only))
    first, second = hashes
    names = sorted({*first, *second})
    different = [name for name in names if first.get(name) != second.get(name)]
    for name in names:
        print(f"{'DIFFERENT' if name in different else 'equal'} {name}")
    if options.json:
        with open(options.json, "a") as file:
            file.write(json.dumps({
                "kind": "reliability", "part": "supply", "check": f"reproducible build, preset {options.preset}" + (", kernels" if options.only else ""), "device": "cpu",
                "tried": len(names), "unit": "files", "failed": len(different), "seconds": round(time.monotonic() - begin, 1)}) + "\n")
    if different:
        print(f"kept in {scratch}: diffoscope tells what differs")
    elif not options.keep:
        subprocess.run(["rm", "-rf", scratch], check=True)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
