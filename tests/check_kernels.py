"""What device code keeps to (docs/design.md, section 8): where inline PTX stands, how many template parameters a
kernel has, how long a comment's line is, and where code asks what it is compiled for. Prints every fault."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = (".hpp", ".cpp", ".cuh", ".cu")
MOST_PARAMETERS = 4
MOST_CHARACTERS = 100

# Kernels, and the class templates that they are made of, that have more parameters, and why. An exception that nothing
# needs any more is a fault.
MORE_PARAMETERS = {
    ("bench/cuda/peak.cu", "Tile"): "those of nvcuda::wmma::fragment, which it names once",
}

# Code that asks what it is compiled for may leave a kernel without its body: it does so in these files alone, and
# kernels ask the constants of src/device/code.cuh, by which they have another body, or trap.
MAY_ASK = {"src/device/code.cuh", "src/device/mma.cuh", "src/core/code_target_kernel.cu",
           "examples/solvers/cuda/vector_steps.cu"}

TARGET = re.compile(r"__CUDA_ARCH\w*")
ASSEMBLER = re.compile(r"\b(asm|__asm__|__asm)\b")
COMMENT = re.compile(r"//.*")
CLASS = re.compile(r"\s*(?:struct|class)\s+(?:alignas\([^)]*\)\s*)?(\w+)")
KERNEL = re.compile(r"(\w+)\s*\((?:[^()]|\([^()]*\))*\)\s*$")


def parameters(text: str, begin: int) -> tuple[int, int]:
    """How many parameters the template has whose first parameter is at `begin`, and where they end."""
    brackets = commas = 0
    at = begin
    while text[at] != ">" or brackets > 0:
        brackets += (text[at] in "<([") - (text[at] in ">)]")
        commas += text[at] == "," and brackets == 0
        at += 1
    return (commas + 1 if text[begin:at].strip() else 0), at + 1


def templates(text: str) -> list[tuple[str, int]]:
    """Kernels and class templates of a file, each with how many parameters it has."""
    found = []
    for match in re.finditer(r"\btemplate\s*<", text):
        count, end = parameters(text, match.end())
        head = re.split(r"[{;]", text[end:], maxsplit=1)[0]
        named = KERNEL.search(head) if "__global__" in head else CLASS.match(head)
        if named:
            found.append((named.group(1), count))
        elif "__global__" in head:
            found.append(("a kernel whose name is not found", MOST_PARAMETERS + 1))
    return found


def faults(path: str, text: str, used: set) -> list[str]:
    """The rules that a file breaks; exceptions that it needs go into `used`."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("//") and len(line) > MOST_CHARACTERS:
            found.append(f"{path}:{number}: {len(line)} characters, a comment's line has at most {MOST_CHARACTERS}")
    code = COMMENT.sub("", text)
    # A .cpp never goes through nvcc: what it has is the CPU's.
    if not path.endswith(".cpp") and not path.startswith("src/device/") and ASSEMBLER.search(code):
        found.append(f"{path}: inline PTX stands in src/device alone")
    if path not in MAY_ASK and TARGET.search(code):
        found.append(f"{path}: asks what it is compiled for, which src/device/code.cuh does")
    for name, count in templates(code) if path.endswith((".cu", ".cuh")) else []:
        if count > MOST_PARAMETERS:
            used.add((path, name))
            if (path, name) not in MORE_PARAMETERS:
                found.append(f"{path}: {name} has {count} template parameters, at most {MOST_PARAMETERS} are allowed")
    return found


def stale(used: set) -> list[str]:
    """Exceptions that nothing needs any more."""
    return [f"{entry}: an exception of check_kernels.py that nothing needs: delete it"
            for entry in MORE_PARAMETERS if entry not in used]


def self_test() -> None:
    """The check must be able to fail: each planted fault is one that it has to find."""
    planted = [
        ("sparse/cuda/a.cuh", 'asm volatile("bar.sync 0;");'),
        ("include/lanky/a.hpp", '__asm__("nop;");'),
        ("dense/cuda/a.cuh", "template <class A, class B, int c, int d, bool e>\n__global__ void k(A a, B b) {}"),
        ("dense/cuda/a.cuh", "template <class A, class B, int c, int d, bool e>\n"
                             "__global__ __launch_bounds__(size(a, b), 2) void k(A (&a)[2], B b) {}"),
        ("dense/cuda/a.cuh", "template <class A, class B = P<A, A>, int c = (1, 2), int d = 3, bool e = 1>\nstruct S {"),
        ("bench/cuda/a.cu", "template <class... A, class B, class C, class D, class E>\nclass S;"),
        ("io/a.cpp", "  // " + 96 * "x"),
        ("dense/cuda/a.cuh", "__global__ void k() {\n#if __CUDA_ARCH__ >= 900\n  f();\n#endif\n}"),
        ("src/device/a.cuh", "#ifdef __CUDA_ARCH_FEAT_SM90_ALL"),
    ]
    for path, text in planted:
        if not faults(path, text, set()):
            sys.exit(f"check_kernels: a planted fault was not found: {path}: {text}")
    sound = [
        ("src/device/a.cuh", 'asm volatile("bar.sync 0;");'),
        ("bench/harness/a.cpp", 'asm volatile("");'),
        ("src/device/code.cuh", "#ifdef __CUDA_ARCH__"),
        ("dense/cuda/a.cuh", "// no asm here\ntemplate <class A, class B = P<A, A>, int c = f(1, 2), bool d = 1>\n"
                             "__global__ void k(A a, int b, int c, int d, int e) {}"),
        ("dense/cuda/a.cuh", "template <class A, class B, class C, class D, class E>\n__device__ void f(A, B, C, D, E);"),
        ("io/a.cpp", "  // " + 95 * "x"),
    ]
    for path, text in sound:
        if faults(path, text, set()):
            sys.exit(f"check_kernels: takes for a fault what is none: {path}: {text}")
    if len(stale(set())) != len(MORE_PARAMETERS):
        sys.exit("check_kernels: an exception that nothing needs was not found")


def main() -> None:
    self_test()
    files = [p for p in ROOT.rglob("*") if p.suffix in SOURCES]
    paths = sorted(p.relative_to(ROOT).as_posix() for p in files)
    paths = [p for p in paths if not p.startswith(("build/", "."))]
    used: set = set()
    found = [fault for p in paths for fault in faults(p, (ROOT / p).read_text(), used)]
    found += stale(used)
    print("\n".join(found) or f"{len(paths)} files keep the rules of device code")
    sys.exit(1 if found or not paths else 0)


if __name__ == "__main__":
    main()
