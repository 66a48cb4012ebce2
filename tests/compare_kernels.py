"""Compares the kernels of two builds: registers, local memory, shared memory and machine code.

Usage: compare_kernels.py BEFORE AFTER [--only TEXT] [--all]

BEFORE and AFTER are each a program, a library, an object, a cubin, or a folder of such files: a build
folder, say, whose objects *.cu.o and *.cubin are read. Builds of preset dev count: test's flags are
others. Needs cuobjdump (CUDA toolkit) in PATH or in /usr/local/cuda/bin.

A line for each kernel whose machine code is not the same bit by bit:
  alike    the same instructions in the same order, of other registers, waits or constants
  differs  other instructions
with the numbers of instructions (NOPs aside): in all, in loops, and in each of the four longest hot
loops, those that hold no loop but waits (of fewer than 16 instructions); further with registers,
bytes of local memory (stack and spills) and of static shared memory. A number that is the same before
and after stands alone. --all prints equal kernels too.

Ends with status 1 where a kernel has got worse (more registers, local or shared memory, longer hot
loops), is new, or is gone; those lines begin with an exclamation mark.
"""

import argparse
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys

INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?);\s*/\* (0x[0-9a-f]+) \*/")
ENCODING = re.compile(r"^\s+/\* (0x[0-9a-f]+) \*/\s*$")
BRANCH = re.compile(r"\b(?:BRA|JMP|BREAK|BSSY|CALL)\b.*?\b(0x[0-9a-f]+)$")
LEAVES = re.compile(r"(EXIT|RET|BRA(?!\.DIV)|JMP|BRX)\b(?!.*!?U?P\d)")  # without a condition
WAIT = 16  # instructions; a loop of fewer waits for something
RESOURCES = re.compile(r"(REG|STACK|SHARED|LOCAL):(\d+)")
# What nvcc makes of an unnamed namespace holds hashes of the source's path and content.
UNNAMED = re.compile(r"\d+_GLOBAL__N__[0-9a-f]{8}_\d+_\w+?_cu_[0-9a-f]{8}(_\d+)?")


@dataclasses.dataclass
class Kernel:
    registers: int = 0
    local: int = 0  # bytes
    shared: int = 0  # bytes
    code: list[tuple[int, str]] = dataclasses.field(default_factory=list)  # address, text
    encodings: list[str] = dataclasses.field(default_factory=list)

    def instructions(self) -> list[tuple[int, str]]:
        return [(address, text) for address, text in self.code if not text.startswith("NOP")]

    def operations(self) -> list[str]:
        """Names with their modifiers; without predicates, operands and `.reuse`."""
        return [re.sub(r"^@!?\w+ ", "", text).split()[0] for _, text in self.instructions()]

    def loops(self) -> list[tuple[int, bool]]:
        """Of each loop the instructions, and whether it is a hot one. The first is what all loops hold."""
        found = [(0, False)]
        blocks, edges = self.blocks()
        pending = [set(blocks)]
        while pending:
            region = pending.pop()
            for loop in components(region, edges):
                size = sum(blocks[block] for block in loop)
                if len(region) == len(blocks):
                    found[0] = (found[0][0] + size, False)
                inner = loop - {min(loop)}  # without its entry
                nested = [sum(blocks[b] for b in part) for part in components(inner, edges)]
                found.append((size, size >= WAIT and all(n < WAIT for n in nested)))
                pending.append(inner)
        return found

    def blocks(self) -> tuple[dict[int, int], dict[int, list[int]]]:
        """The instructions of the block that begins at an address, and the addresses that follow it."""
        code = self.instructions()
        starts = {code[0][0]} if code else set()
        targets: dict[int, int] = {}
        for (address, text), following in zip(code, [*code[1:], (0, "")]):
            if found := BRANCH.search(text):
                targets[address] = int(found[1], 16)
                starts.add(targets[address])
            if address in targets or LEAVES.match(text):
                starts.add(following[0])
        sizes: dict[int, int] = {}
        edges: dict[int, list[int]] = {}
        block = 0
        for (address, text), following in zip(code, [*code[1:], (0, "EXIT")]):
            if address in starts:
                block = address
                sizes[block], edges[block] = 0, []
            sizes[block] += 1
            if address in targets:
                edges[block].append(targets[address])
            if following[0] in starts and not LEAVES.match(text):
                edges[block].append(following[0])
        return sizes, edges


def components(region: set[int], edges: dict[int, list[int]]) -> list[set[int]]:
    """Those parts of a region from each of whose blocks every other one is reached, by Tarjan's algorithm."""
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    stack: list[int] = []
    found = []
    for root in sorted(region):
        if root in number:
            continue
        work = [(root, iter(edges[root]))]
        number[root] = lowest[root] = len(number)
        stack.append(root)
        while work:
            block, successors = work[-1]
            for successor in successors:
                if successor not in region:
                    continue
                if successor not in number:
                    number[successor] = lowest[successor] = len(number)
                    stack.append(successor)
                    work.append((successor, iter(edges[successor])))
                    break
                if successor in stack:
                    lowest[block] = min(lowest[block], number[successor])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[block])
                if lowest[block] == number[block]:
                    part = set(stack[stack.index(block) :])
                    del stack[stack.index(block) :]
                    if len(part) > 1 or block in edges[block]:
                        found.append(part)
    return found


def dump(option: str, file: pathlib.Path) -> list[str]:
    tool = shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump"
    run = subprocess.run([tool, option, str(file)], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def has_machine_code(file: pathlib.Path, target: str) -> bool:
    tool = shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump"
    run = subprocess.run([tool, "-lelf", str(file)], capture_output=True, text=True)
    return f".{target}." in run.stdout


def read(file: pathlib.Path, code: bool) -> dict[str, Kernel]:
    kernels: dict[str, Kernel] = {}
    kernel = Kernel()
    for line in dump("-res-usage", file):
        if line.startswith(" Function "):
            name = UNNAMED.sub("unnamed", line.removeprefix(" Function ").rstrip(":"))
            kernel = kernels.setdefault(name, Kernel())
        elif "REG:" in line:
            found = {name: int(value) for name, value in RESOURCES.findall(line)}
            kernel.registers = found["REG"]
            kernel.local = found["STACK"] + found["LOCAL"]
            kernel.shared = found["SHARED"]
    for line in dump("-sass", file) if code else []:
        if line.strip().startswith("Function :"):
            kernel = kernels[UNNAMED.sub("unnamed", line.split(":", 1)[1].strip())]
        elif found := INSTRUCTION.match(line):
            kernel.code.append((int(found[1], 16), found[2].strip()))
            kernel.encodings.append(found[3])
        elif found := ENCODING.match(line):
            kernel.encodings.append(found[1])
    return kernels


def read_all(place: pathlib.Path, code: bool = True) -> dict[str, Kernel]:
    """The kernels of a file or folder by their mangled names, with their machine code if `code`."""
    files = [place]
    if place.is_dir():
        files = sorted([*place.rglob("*.cu.o"), *place.rglob("*.cubin")])
    kernels: dict[str, Kernel] = {}
    for file in files:
        kernels.update(read(file, code))
    if not kernels:
        sys.exit(f"{place}: no kernels")
    return kernels


def readable(names: list[str]) -> dict[str, str]:
    """Mangled name -> the kernel and its template arguments."""
    run = subprocess.run(["c++filt", "-p"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, (re.sub(r"\blanky::(\w+::)*", "", line) for line in run.stdout.splitlines())))


def compare(before: Kernel, after: Kernel) -> tuple[str, bool, str]:
    """Equal, alike or differs; whether it got worse; the figures."""
    pairs = [("instructions", len(before.instructions()), len(after.instructions()))]
    old_loops, new_loops = before.loops(), after.loops()
    pairs.append(("in loops", old_loops[0][0], new_loops[0][0]))
    old_hot = sorted((size for size, hot in old_loops if hot), reverse=True)[:4]
    new_hot = sorted((size for size, hot in new_loops if hot), reverse=True)[:4]
    pairs.append(("hot", old_hot, new_hot))
    costs = [
        ("registers", before.registers, after.registers),
        ("local", before.local, after.local),
        ("shared", before.shared, after.shared),
    ]
    worse = sum(new_hot) > sum(old_hot) or any(new > old for _, old, new in costs)
    if before.encodings == after.encodings:
        verdict = "equal"
    else:
        verdict = "alike" if before.operations() == after.operations() else "differs"
    figures = ", ".join(f"{name} {old}" + (f" -> {new}" if new != old else "") for name, old, new in pairs + costs)
    return verdict, worse, figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--only", default="", help="kernels whose mangled name contains this")
    parser.add_argument("--all", action="store_true", help="equal kernels too")
    arguments = parser.parse_args()
    before, after = read_all(arguments.before), read_all(arguments.after)
    names = sorted(name for name in before.keys() | after.keys() if arguments.only in name)
    titles = readable(names)
    counts: dict[str, int] = {}
    failed = False
    for name in names:
        worse, figures = True, ""
        if name not in after:
            verdict = "gone"
        elif name not in before:
            verdict = "new"
        else:
            verdict, worse, figures = compare(before[name], after[name])
        counts[verdict] = counts.get(verdict, 0) + 1
        failed = failed or worse
        if verdict != "equal" or worse or arguments.all:
            print(f"{'!' if worse else ' '} {verdict:8} {titles[name]}" + (f": {figures}" if figures else ""))
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())) or "no kernels")
    sys.exit(1 if failed or not names else 0)


if __name__ == "__main__":
    main()
