#!/usr/bin/env python3
"""Builds lanky with each compiler that it is for, in bare Debians that have them, and runs its tests there.

compilers.py [--roots FOLDER] [--json FILE] --packages "PACKAGE ..." [NAME ...]

Names are those of BUILDS, such as gcc-14-23 (GCC 14, C++23); all by default. A warning is an error. The Debians are made once by
mmdebstrap, which takes root and a mirror, and kept in FOLDER (~/.cache/lanky/debian); builds stand in build/compilers. Builds and
tests reach no network. The GPU's side is compiled by one build, nvcc-12.4-20, to PTX; the preset `test` is that of CUDA 13.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
# Of each Debian its compilers, which serve all builds in it.
DEBIANS = {
    "bookworm": ["g++-12", "clang-16", "libomp-16-dev"],
    "trixie": ["g++-13", "g++-14", "clang-19", "libomp-19-dev"],
    "trixie-cuda": ["g++-13", "nvidia-cuda-toolkit"],  # 12.4, of Debian's non-free part
}
# With each scope, beside those of the C interface.
CORE_TESTS = ("core", "example", "io", "sparse", "dense")
TESTS = {
    "c": (),
    "core": CORE_TESTS,
    "all": (*CORE_TESTS, "dense_.*", "svd", "eigensolver", "linear_solver", "examples", "collection", "report", "bench", "fuzz", "faults",
            "block_protocols", "random_.*"),
}
TARGETS = {
    "library": ["lanky_shared", "public_headers_alone"],
    "c": ["lanky_shared", "public_headers_alone", "test_capi"],
    "core": ["lanky_shared", "public_headers_alone", "test_capi", *(f"test_{name}" for name in CORE_TESTS)],
    "all": ["all"],
}


# PTX alone: what ptxas makes of it for each card takes ten times as long, and nothing of it runs here.
CUDA = ["-DLANKY_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=90a-virtual", "-DLANKY_CUDA_UNITY=ON", "-DCMAKE_CUDA_FLAGS_RELEASE=-O0 -DNDEBUG",
        "-DCMAKE_CUDA_HOST_COMPILER=/usr/bin/g++-13"]


@dataclasses.dataclass(frozen=True)
class Build:
    compiler: str
    standard: int
    debian: str
    scope: str  # of TARGETS and TESTS

    @property
    def name(self) -> str:
        return f"{self.compiler}-{self.standard}"

    @property
    def words(self) -> str:
        family, version = self.compiler.split("-")
        return f"{ {'gcc': 'GCC', 'clang': 'Clang', 'nvcc': 'GCC 13 and CUDA'}[family]} {version}, C++{self.standard}"


# Both standards with each compiler; the newest of either family builds everything. GCC 13 builds no test of GoogleTest: the one of its
# Debian was built by GCC 14, and does not link with it.
BUILDS = (
    Build("gcc-12", 20, "bookworm", "core"),
    Build("gcc-12", 23, "bookworm", "library"),
    Build("gcc-13", 20, "trixie", "library"),
    Build("gcc-13", 23, "trixie", "c"),
    Build("gcc-14", 20, "trixie", "library"),
    Build("gcc-14", 23, "trixie", "all"),
    Build("clang-16", 20, "bookworm", "core"),
    Build("clang-16", 23, "bookworm", "library"),
    Build("clang-19", 20, "trixie", "library"),
    Build("clang-19", 23, "trixie", "all"),
    Build("nvcc-12.4", 20, "trixie-cuda", "library"),
)


def make_debian(suite: str, folder: pathlib.Path, packages: list[str]) -> None:
    """A bare Debian with compilers and all that a build needs; made once."""
    done = folder / "lanky_packages"
    wanted = " ".join(sorted({*packages, *DEBIANS[suite], "ca-certificates", "ccache", "python3-dev", "pkg-config"}))
    if done.exists() and done.read_text() == wanted:
        return
    print(f"== Debian {suite} in {folder}", flush=True)
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    parts = "--components=main" + (",contrib,non-free" if "nvidia-cuda-toolkit" in wanted else "")
    subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", parts, f"--include={wanted.replace(' ', ',')}", suite.split("-")[0], folder],
                   check=True)
    done.write_text(wanted)


def inside(root: pathlib.Path, command: str, environment: dict[str, str]) -> subprocess.CompletedProcess:
    """Runs a command in that Debian, which sees this tree and the compiler's cache at their places."""
    cache = CACHE / "ccache"
    cache.mkdir(parents=True, exist_ok=True)
    binds = "".join(f"mkdir -p {root}{path} && mount --bind {path} {root}{path} && " for path in (ROOT, cache))
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    script = (f"{binds} mount --rbind /dev {root}/dev && mount -t proc proc {root}/proc && "
              f"exec chroot {root} env LC_ALL=C.UTF-8 CCACHE_DIR={cache} {settings} sh -c {shlex.quote(f'cd {ROOT} && {command}')}")
    return subprocess.run(["unshare", "--mount", "--net", "sh", "-c", f"ip link set lo up; {script}"], check=False)


def sources(folder: pathlib.Path, scope: str) -> int:
    """How many sources were compiled: those of a unit are many."""
    count = 0
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        compiled = pathlib.Path(entry["directory"]) / re.search(r" -o (\S+)", entry["command"]).group(1)
        if compiled.exists():
            count += max(1, len(re.findall("^#include", source.read_text(), re.MULTILINE))) if "unity_" in source.name else 1
    return count


def build(each: Build, root: pathlib.Path, jobs: int) -> list[dict]:
    """Builds, tests, and tells what became of it as lines of results."""
    folder = ROOT / "build" / "compilers" / each.name
    cuda = each.compiler.startswith("nvcc")
    cc = "gcc-13" if cuda else each.compiler
    cxx = cc.replace("gcc", "g++").replace("clang", "clang++")
    python = ROOT / "build" / "venv"  # nanobind, which no Debian has, is headers, sources and scripts
    nanobind = next(iter(sorted(python.glob("lib/python3*/site-packages"))), None) if each.scope == "all" else None
    options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *(CUDA if cuda else ["-DLANKY_CUDA=OFF"]), "-DLANKY_WARNINGS_AS_ERRORS=ON",
               "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", f"-DCMAKE_C_COMPILER={cc}", f"-DCMAKE_CXX_COMPILER={cxx}",
               f"-DCMAKE_CXX_STANDARD={each.standard}", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
               "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DLANKY_PYTHON={'ON' if nanobind else 'OFF'}"]
    print(f"== {each.words}: {each.scope}", flush=True)
    begin = time.monotonic()
    commands = (["cmake", "-S", ".", "-B", folder, *options],
                ["cmake", "--build", folder, "-j", jobs, "--target", *TARGETS[each.scope], "--", "-k", "0"])
    command = " && ".join(shlex.join(map(str, words)) for words in commands)
    built = inside(root, command, {"PYTHONPATH": str(nanobind)} if nanobind else {})
    lines = [line(f"build with {each.words}, no network", sources(folder, each.scope), "sources", built.returncode != 0, begin)]
    if built.returncode == 0 and each.scope in TESTS:
        begin = time.monotonic()
        results = folder / "results.xml"
        names = "|".join((*TESTS[each.scope], "capi_cpu", "capi_rules"))
        inside(root, f"OMP_WAIT_POLICY=passive ctest --test-dir {folder} -R '^({names})$' --output-on-failure "
                     f"--output-junit {results}", {})
        tests = re.search(r'<testsuite[^>]*?tests="(\d+)"\s+failures="(\d+)"', results.read_text(), re.DOTALL)
        lines.append(line(f"build with {each.words}, no network: tests", int(tests.group(1)), "programs", int(tests.group(2)), begin))
    return lines


def line(check: str, tried: int, unit: str, failed: int, begin: float) -> dict:
    return {"kind": "reliability", "part": "supply", "check": check, "device": "cpu", "tried": tried, "unit": unit,
            "failed": int(failed), "seconds": round(time.monotonic() - begin, 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--roots", type=pathlib.Path, default=CACHE / "lanky" / "debian", help="where the Debians are kept")
    parser.add_argument("--json", help="lines with the results are appended here")
    parser.add_argument("--packages", default="", help="Debian packages that a build needs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *(each.name for each in BUILDS)])
    options = parser.parse_args()
    failed = 0
    for each in BUILDS:
        if options.names and each.name not in options.names:
            continue
        root = options.roots.resolve() / each.debian
        make_debian(each.debian, root, options.packages.split())
        for result in build(each, root, options.jobs):
            failed += result["failed"]
            print(json.dumps(result), flush=True)
            if options.json:
                with open(options.json, "a") as file:
                    file.write(json.dumps(result) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
