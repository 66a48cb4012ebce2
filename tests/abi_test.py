#!/usr/bin/env python3
"""The binary interface of the shared library beside that of the last release (abi/lanky.abi), by libabigail.

abi_test.py LIBRARY           fails where a name, a signature or a public type changed or is gone; new names are welcome
abi_test.py LIBRARY --record  writes abi/lanky.abi anew: with a release, or while its version is not released yet
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASELINE = ROOT / "abi" / "lanky.abi"
HEADERS = ROOT / "include" / "lanky"
SKIPPED = 77  # for CTest


def write_interface(library: str, target: pathlib.Path) -> None:
    subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--headers-dir",
                    HEADERS, "--out-file", target, library], check=True)


def compare(library: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        now = pathlib.Path(folder) / "now.abi"
        write_interface(library, now)
        for text, what in ((BASELINE, "the release"), (now, library)):
            if "<function-decl" not in text.read_text():
                print(f"{what} tells no types: was the library built with LANKY_ABI_TYPES?")
                return 1
        # Leaf changes: a changed type is told once, not with every function that uses it.
        run = subprocess.run(["abidiff", "--no-added-syms", "--leaf-changes-only", BASELINE, now],
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
        write_interface(library, BASELINE)
        return 0
    return compare(library)


if __name__ == "__main__":
    sys.exit(main())
