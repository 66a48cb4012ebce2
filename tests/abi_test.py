#!/usr/bin/env python3
"""The binary interface of the shared library beside that of the last release (abi/lanky.abi.xz), by libabigail.

abi_test.py LIBRARY           fails where a name, a signature or a public type changed or is gone; new names are welcome
abi_test.py LIBRARY --json FILE  appends a line with the result, too
abi_test.py LIBRARY --record  writes abi/lanky.abi.xz anew: with a release, or while its version is not released yet
"""
import json
import lzma
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASELINE = ROOT / "abi" / "lanky.abi.xz"
HEADERS = ROOT / "include" / "lanky"
SKIPPED = 77  # for CTest


def interface_of(library: str, folder: pathlib.Path) -> str:
    """What the library exports, with the types of that, as libabigail tells it."""
    target = folder / "interface"
    subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--drop-private-types",
                    "--exported-interfaces-only", "--headers-dir", HEADERS, "--out-file", target, library], check=True)
    return target.read_text().replace(f"{ROOT}/", "")


def compare(library: str) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        release, now = folder / "release", folder / "now"
        release.write_bytes(lzma.decompress(BASELINE.read_bytes()))
        now.write_text(interface_of(library, folder))
        for text, what in ((release, "the release"), (now, library)):
            if "<function-decl" not in text.read_text():
                print(f"{what} tells no types: was the library built with LANKY_ABI_TYPES?")
                return 1
        # Leaf changes: a changed type is told once, not with every function that uses it.
        run = subprocess.run(["abidiff", "--no-added-syms", "--leaf-changes-only", release, now],
                             capture_output=True, text=True, check=False)
    print(run.stdout + run.stderr, end="")
    return 1 if run.returncode != 0 else 0


def main() -> int:
    library, *options = sys.argv[1:]
    if shutil.which("abidiff") is None:
        print("there is no abidiff here: install abigail-tools")
        return SKIPPED
    if options == ["--record"]:
        BASELINE.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as name:
            BASELINE.write_bytes(lzma.compress(interface_of(library, pathlib.Path(name)).encode()))
        return 0
    begin = time.monotonic()
    status = compare(library)
    if options[:1] == ["--json"]:
        line = {"kind": "reliability", "part": "supply", "check": "abi", "device": "cpu",
                "tried": lzma.decompress(BASELINE.read_bytes()).count(b"<elf-symbol "), "unit": "exported names", "failed": status,
                "seconds": round(time.monotonic() - begin, 1)}
        with open(options[1], "a") as file:
            file.write(json.dumps(line) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
