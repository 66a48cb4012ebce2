"""Runs the Python programs that the guide shows.

Ends with status 77, which the test counts as skipped, where lanky or SciPy cannot be imported.
"""

import importlib
import pathlib
import runpy
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    for module in ("lanky", "scipy"):
        try:
            importlib.import_module(module)
        except ImportError as error:
            print(f"skipped: {error}")
            return 77
    sys.path.remove(str(HERE))  # files.py and others are programs, no modules
    for program in sorted(HERE.glob("*.py")):
        if program != pathlib.Path(__file__).resolve():
            print(f"== {program.name}", flush=True)
            runpy.run_path(str(program), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
