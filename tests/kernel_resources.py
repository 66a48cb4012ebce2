"""No kernel of the dense products may have more registers or local memory than tests/data/kernel_resources.txt tells.

Usage: kernel_resources.py BUILD [--write]. BUILD is what compare_kernels.py takes: a program, a library, objects or a
folder of them, built with preset dev by the compiler that the file's head names (others share out registers
otherwise). --write makes the file anew: for a change whose measurements pay for it. Needs cuobjdump.
"""

import argparse
import pathlib
import sys

import compare_kernels

LIMITS = pathlib.Path(__file__).resolve().parent / "data" / "kernel_resources.txt"
HEAD = "# registers, bytes of local memory, kernel; preset dev, nvcc 13.0, sm_90a; by tests/kernel_resources.py\n"


def found_in(build: pathlib.Path) -> dict[str, tuple[int, int]]:
    kernels = {name: kernel for name, kernel in compare_kernels.read_all(build, code=False).items()
               if "lanky5dense" in name}
    titles = compare_kernels.readable(list(kernels))
    return {titles[name]: (kernel.registers, kernel.local) for name, kernel in kernels.items()}


def limits_of(text: str) -> dict[str, tuple[int, int]]:
    lines = [line.split(" ", 2) for line in text.splitlines() if line and not line.startswith("#")]
    return {name: (int(registers), int(local)) for registers, local, name in lines}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.build.is_file() and not compare_kernels.has_machine_code(arguments.build, "sm_90a"):
        print(f"{arguments.build} has no code for sm_90a, whose registers are known")
        return
    found = found_in(arguments.build)
    if arguments.write:
        lines = [f"{registers} {local} {name}\n" for name, (registers, local) in sorted(found.items())]
        LIMITS.write_text(HEAD + "".join(lines))
        return
    limits = limits_of(LIMITS.read_text())
    faults = [f"{name}: {have} registers and bytes of local memory, not {limits.get(name, 'in the file')}"
              for name, have in sorted(found.items())
              if name not in limits or have[0] > limits[name][0] or have[1] > limits[name][1]]
    faults += [f"{name}: gone, but in the file" for name in sorted(limits.keys() - found.keys())]
    print("\n".join(faults) or f"{len(found)} kernels keep their registers and local memory")
    sys.exit(1 if faults or not found else 0)


if __name__ == "__main__":
    main()
