#!/usr/bin/env python3
"""Packs programs of a build folder for a machine that has CUDA and a compiler and none of the libraries of Debian.

carry.py FOLDER OUT.tar.xz [PROGRAM...]      (what ./dev gpu-test runs, by default; a PROGRAM may be a pattern, such as 'test_dense*')

Each program holds the library with all its kernels, 80 MB of it. So the archive has the objects, every library once, and
what is to be linked: 20 MB in all. There, in a copy of the tree,

    mkdir -p build/dev && tar xJf OUT.tar.xz -C build/dev && python3 build/dev/link.py && ./dev gpu-test

Libraries of Debian travel with it where they are static; libgomp and CUDA's are those of the other machine. Programs look for
their data where the tree was when they were compiled: a link to the copy stands for that.
"""
import argparse
import fnmatch
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

LINK = '''import concurrent.futures, os, pathlib, shlex, subprocess, sys
folder = pathlib.Path(__file__).resolve().parent
def link(line):
    done = subprocess.run(shlex.split(line), cwd=folder, capture_output=True, text=True)
    return f"{line}\\n{done.stderr}" if done.returncode else ""
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    failed = [text for text in pool.map(link, (folder / "link.txt").read_text().splitlines()) if text]
sys.exit("\\n".join(failed))
'''
GPU_TEST = ["lanky", "test_*", "random_cases",
            "lanky_read_speed", "abft", "cg", "cholqr", "kmeans", "power"]  # tests start these


def programs(build: str, patterns: list[str]) -> dict[str, dict[str, str]]:
    """What Ninja links: of each program its objects (under ``inputs``) and the variables of its statement."""
    found = {}
    for statement in re.split(r"\n(?=build )", build):
        head = re.match(r"build bin/(\S+): C(?:XX)?_EXECUTABLE_LINKER__\S+ (.*?)(?: \|.*)?\n", statement)
        if head and any(fnmatch.fnmatch(head[1], pattern) for pattern in patterns):
            found[head[1]] = {"inputs": head[2], **dict(re.findall(r"^  (\w+) = (.*)$", statement, re.M))}
    return found


def own_and_foreign(folder: pathlib.Path, words: list[str]) -> tuple[list[str], list[pathlib.Path]]:
    """Words of a link for the other machine, and the files that they need from here."""
    told, needed = [], []
    for word in words:
        path = folder / word  # itself, where it is absolute
        if word.startswith("-") or not path.exists():
            told += [] if word.startswith("-Wl,-rpath") else [word]
        elif path.is_relative_to(folder):
            told.append(word)
            needed.append(path)
        elif path.suffix == ".a" and word.startswith("/usr/lib"):
            told.append(f"system/{path.name}")
            needed.append(path)
        else:
            told.append(f"-l:{path.name}")
    return told, needed


def pack(folder: pathlib.Path, patterns: list[str], out: pathlib.Path) -> list[str]:
    found = programs((folder / "build.ninja").read_text(), patterns)
    if not found:
        sys.exit(f"carry.py: no program of {folder} is called {' or '.join(patterns)}")
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        (root / "bin").mkdir()
        (root / "system").mkdir()
        lines, needed = [], set()
        for name, told in found.items():
            words, files = own_and_foreign(folder, shlex.split(f"{told['inputs']} {told['LINK_LIBRARIES']}"))
            needed.update(files)
            lines.append(shlex.join(["g++", *shlex.split(told["LINK_FLAGS"]), "-o", f"bin/{name}", "-Wl,-rpath,$ORIGIN:/usr/local/cuda/lib64",
                                     "-L/usr/local/cuda/lib64", "-L/usr/local/cuda/targets/x86_64-linux/lib", *words]))
        for path in [*sorted(needed), *folder.glob("bin/lib*.so")]:
            if path.is_symlink():
                continue
            to = root / (path.relative_to(folder) if path.is_relative_to(folder) else f"system/{path.name}")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)
            if path.is_relative_to(folder):
                subprocess.run(["strip", "--strip-debug", to], check=True)
        (root / "link.txt").write_text("\n".join(lines) + "\n")
        (root / "link.py").write_text(LINK)
        subprocess.run(["tar", "--sort=name", "-cJf", out.resolve(), "-C", root, "."], check=True, env={"PATH": "/usr/bin:/bin", "XZ_OPT": "-6 -T0"})
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of the build, such as build/dev")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("programs", nargs="*", default=GPU_TEST, metavar="PROGRAM")
    options = parser.parse_args()
    names = pack(options.folder.resolve(), options.programs, options.out)
    print(f"{options.out}: {options.out.stat().st_size >> 20} MiB, {len(names)} programs")


if __name__ == "__main__":
    main()
