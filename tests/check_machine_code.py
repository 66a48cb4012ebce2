"""What the kernels of a program are made of: each named *_mma_kernel holds tensor-core instructions, and none is empty.

Usage: check_machine_code.py PROGRAM. Needs cuobjdump (CUDA toolkit). Reads machine code, or PTX where there is none.

A kernel that a target cannot have traps there, and host code never picks it: in code for sm_90a none does; elsewhere
those of warp groups do, and rings that blocks have no shared memory for.
"""

import re
import shutil
import subprocess
import sys

SASS_FUNCTION = re.compile(r"^\s*Function : (\S+)")
SASS_TARGET = re.compile(r"^\s*arch = (\S+)")
SASS_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)")
PTX_FUNCTION = re.compile(r"^(?:\.visible |\.weak )*\.entry (\w+)")
PTX_TARGET = re.compile(r"^\.target (\w+)")
PTX_INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)\b.*;")

# What is left of a body without a statement, and of one that traps.
NOTHING = {"EXIT", "BRA", "NOP", "LDC", "MOV", "ret"}
TRAP = {"BPT", "trap"}
# Which kernels may trap where code is not for sm_90a.
MAY_TRAP = re.compile(r"wgmma|Wgmma|gram_(staged|fma|triangle)_kernel")
# It parts two kernels in a stream, and does no more.
EMPTY_BY_DESIGN = re.compile(r"order_kernel")
KINDS = {"DMMA": "double", "HMMA": "half", "f64": "double", "f32": "half"}


def kernels_of(lines, function, target, instruction):
    """(target, mangled name) of each kernel -> its kinds of instruction."""
    found: dict = {}
    current = arch = None
    for line in lines:
        if match := target.match(line):
            arch, current = match[1], None
        elif match := function.match(line):
            current = found.setdefault((arch, match[1]), set())
        elif current is not None and (match := instruction.match(line)):
            current.add(match[1])
    return found


def dump(option: str, program: str) -> list[str]:
    tool = shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump"
    run = subprocess.run([tool, option, program], capture_output=True, text=True)
    return run.stdout.splitlines()


def read(program: str) -> dict:
    return (kernels_of(dump("-sass", program), SASS_FUNCTION, SASS_TARGET, SASS_INSTRUCTION)
            or kernels_of(dump("-ptx", program), PTX_FUNCTION, PTX_TARGET, PTX_INSTRUCTION))


def mma_kinds(instructions: set) -> set:
    """DMMA, HMMA.16816...; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64."""
    words = [word for word in instructions if re.match(r"(DMMA|HMMA|mma\.sync)\b", word)]
    return {KINDS[kind] for word in words for kind in re.findall(r"DMMA|HMMA|f64$|f32$", word)}


def faults(kernels: dict) -> list[str]:
    found = []
    kinds: set = set()
    for (target, name), instructions in sorted(kernels.items()):
        roots = {word.split(".")[0] for word in instructions}
        body = roots - NOTHING
        if "lanky" not in name:
            continue
        if body <= TRAP and body and (target == "sm_90a" or not MAY_TRAP.search(name)):
            found.append(f"{name} for {target} traps: it has no body")
        elif not body and not EMPTY_BY_DESIGN.search(name):
            found.append(f"{name} for {target} is empty")
        elif "_mma_kernel" in name and not body <= TRAP:
            if not mma_kinds(instructions):
                found.append(f"{name} for {target} has no tensor-core instruction")
            kinds |= mma_kinds(instructions)
    if kinds != {"double", "half"}:
        found.append(f"tensor-core instructions of {kinds or 'no kind'}, not of doubles and halves")
    return found


def self_test() -> None:
    """The check must be able to fail."""
    sass = """
        arch = sm_90a
\t\tFunction : _ZN5lanky1a_mma_kernelEv
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/               @P0 DMMA.8x8x4 R2, R4, R6, R8 ;
        /*0020*/                   HMMA.16816.F32 R2, R4, R6, R8 ;
        /*0030*/                   EXIT ;
"""
    empty = sass + "\t\tFunction : _ZN5lanky5emptyEv\n        /*0000*/                   EXIT ;\n"
    trap = sass + "\t\tFunction : _ZN5lanky17gram_wgmma_kernelEv\n        /*0000*/                   BPT.TRAP 0x1 ;\n"
    read_sass = lambda text: faults(kernels_of(text.splitlines(), SASS_FUNCTION, SASS_TARGET, SASS_INSTRUCTION))
    if read_sass(sass) or not read_sass(empty) or not read_sass(trap) or read_sass(trap.replace("sm_90a", "sm_80")):
        sys.exit("check_machine_code: the check itself is wrong")
    ptx = """.target sm_80
.visible .entry _ZN5lanky1a_mma_kernelEv(
)
{
\tmma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd1, %fd2};
\t@%p1 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};
\tret;
}
"""
    read_ptx = lambda text: faults(kernels_of(text.splitlines(), PTX_FUNCTION, PTX_TARGET, PTX_INSTRUCTION))
    if read_ptx(ptx) or not read_ptx(ptx + ".entry _ZN5lanky5emptyEv()\n{\n\tret;\n}\n"):
        sys.exit("check_machine_code: the check of PTX is wrong")


def main() -> None:
    self_test()
    kernels = read(sys.argv[1])
    found = faults(kernels)
    targets = sorted({str(target) for target, _ in kernels})
    print("\n".join(found) or f"{len(kernels)} kernels for {', '.join(targets)} have their bodies")
    sys.exit(1 if found or not kernels else 0)


if __name__ == "__main__":
    main()
