"""No public header warns: every one of them, and a program that uses them, by GCC and Clang in C++20 and C++23, those of C in C99 and C17.

Compilers that are not installed are passed over, and named; the versions that lanky is for are those of packaging/compilers.py.
"""

import itertools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast", "-Werror"]
# A program whose templates are instantiated, and all headers but that of CUDA, in one unit. C's headers serve both languages.
PROGRAM = ROOT / "tests" / "consumer" / "main.cpp"
CPP = [header.name for header in sorted((ROOT / "include/lanky").glob("*.hpp")) if header.name != "cuda.hpp"]
C = [header.name for header in sorted((ROOT / "include/lanky").glob("*.h"))]


def text(headers: list[str]) -> str:
    return "".join(f"#include <lanky/{name}>\n" for name in headers)


def compiles(compiler: str, standard: str, source: pathlib.Path) -> str:
    """What it complains of; "" for nothing."""
    warnings = [each for each in WARNINGS if source.suffix == ".cpp" or each != "-Wold-style-cast"]
    done = subprocess.run([compiler, f"-std={standard}", "-fsyntax-only", *warnings, f"-I{ROOT / 'include'}", str(source)],
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr[:3000] or "failed"


def main() -> int:
    begin, tried, failed = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        cpp, c = pathlib.Path(folder) / "headers.cpp", pathlib.Path(folder) / "headers.c"
        cpp.write_text(text(CPP + C) + f'#include "{PROGRAM}"\n')
        c.write_text(text(C) + "int main(void) { return 0; }\n")
        runs = [*itertools.product(("g++", "clang++"), ("c++20", "c++23"), (cpp,)),
                *itertools.product(("gcc", "clang"), ("c99", "c17"), (c,))]
        for compiler, standard, source in runs:
            if shutil.which(compiler) is None:
                print(f"there is no {compiler}")
                continue
            fault = compiles(compiler, standard.replace("c++23", "c++2b"), source)
            tried += len(CPP + C) if source is cpp else len(C)
            failed += bool(fault)
            print(f"{'FAULT' if fault else 'well'} {compiler} {standard} {fault}")
    if len(sys.argv) == 3 and sys.argv[1] == "--json":
        line = {"kind": "reliability", "part": "supply", "check": "build: public headers without a warning", "device": "cpu",
                "tried": tried, "unit": "headers", "failed": failed, "seconds": round(time.monotonic() - begin, 1)}
        with open(sys.argv[2], "a") as file:
            file.write(json.dumps(line) + "\n")
    return 1 if failed or tried == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
