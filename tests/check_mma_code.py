"""Each kernel named *_mma_kernel must hold tensor-core instructions in its machine code.

Usage: check_mma_code.py PROGRAM. Needs cuobjdump (CUDA toolkit).
"""

import re
import shutil
import subprocess
import sys

MMA = re.compile(r"\b(DMMA|HMMA)\b")


def instructions(sass: str) -> dict[str, set[str]]:
    """Mangled name of each kernel named *_mma_kernel -> its kinds of MMA instruction."""
    found: dict[str, set[str]] = {}
    kernel = None
    for line in sass.splitlines():
        if line.strip().startswith("Function :"):
            name = line.split(":", 1)[1].strip()
            kernel = name if "_mma_kernel" in name else None
            if kernel:
                found.setdefault(kernel, set())
        elif kernel:
            found[kernel].update(MMA.findall(line))
    return found


def main() -> None:
    tool = shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump"
    sass = subprocess.run([tool, "-sass", sys.argv[1]], capture_output=True, text=True, check=True)
    kernels = instructions(sass.stdout)
    for name, kinds in sorted(kernels.items()):
        print(f"{'/'.join(sorted(kinds)) or 'NONE':10} {name}")
    kinds = set().union(*kernels.values()) if kernels else set()
    if not kernels or not all(kernels.values()) or kinds != {"DMMA", "HMMA"}:
        sys.exit("an mma kernel without tensor-core instructions, or a kind of them is missing")


if __name__ == "__main__":
    main()
