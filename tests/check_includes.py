"""Who may include whom (docs/design.md, section 1). Prints every include that breaks a rule."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)

# The parts of the benchmark, one group: each may include the others.
BENCH = ["bench/harness", "bench/cases", "bench/rivals", "bench/records"]
# Folder of the including file -> folders of the project that it may include, itself aside.
# The longest matching folder decides. "include/lanky" may include itself alone.
ALLOWED = {
    "include/lanky": [],
    "src/core": ["include/lanky"],
    "python": ["include/lanky", "collection"],
    "src/capi": ["include/lanky"],
    "src/device": ["include/lanky", "src/core"],
    "io": ["include/lanky", "src/core"],
    "dense": ["include/lanky", "src/core"],
    "sparse": ["include/lanky", "src/core"],
    "solvers": ["include/lanky", "src/core"],
    "solvers/cuda": ["include/lanky", "src/core", "src/device", "solvers"],
    "dense/cuda": ["include/lanky", "src/core", "src/device", "dense"],
    "sparse/cuda": ["include/lanky", "src/core", "src/device", "sparse"],
    "collection": ["include/lanky", "src/core"],
    **{part: ["include/lanky", "src/core", *BENCH] for part in BENCH},
    "bench/scripts": ["include/lanky"],
    "bench/regret": None,  # anything: it looks into what a plan decides
    "bench/report": ["include/lanky", "src/core"],
    "bench/ladder": ["include/lanky", "src/core", "src/device", *BENCH, "bench/report"],
    "bench/cuda": ["include/lanky", "src/core", "src/device", *BENCH],
    "cli": ["include/lanky", *BENCH, "bench/report", "bench/ladder", "collection"],
    "examples": ["include/lanky"],
    "packaging": ["include/lanky"],
    "petsc": ["include/lanky"],
    "docs/snippets": ["include/lanky"],
    "tests": None,  # anything
}
SOURCES = (".h", ".c", ".hpp", ".cpp", ".cuh", ".cu")
# Folders of the project as they begin in an #include: "core/text.hpp" is src/core/text.hpp.
SPELLED = {"core": "src/core", "capi": "src/capi", "device": "src/device", "cli": "cli", "lanky": "include/lanky"}
OWN = ("cli", "dense", "sparse", "solvers", "io", "bench", "collection", "examples", "tests", "support")
# Eigen's headers take long to compile, and users of lanky need none.
WITH_EIGEN = ("solvers/dense_eigen.cpp", "solvers/dense_kernels_eigen.hpp", "solvers/dense_svd.cpp")
CUDA_HEADERS = re.compile(r"^(cuda|cublas|cusparse|cub/|thrust/|nvml|mma\.h|cooperative_groups)")


def owner(path: str) -> str | None:
    """The folder of ALLOWED that a file belongs to."""
    folders = [f for f in ALLOWED if path.startswith(f + "/")]
    return max(folders, key=len) if folders else None


def resolve(included: str) -> str | None:
    """Path of an included project file from the root; None for a system header."""
    head = included.split("/")[0]
    if head in SPELLED:
        return included.replace(head, SPELLED[head], 1)
    return included if head in OWN else None


def faults(path: str, text: str) -> list[str]:
    """The rules that a file's includes break."""
    found = []
    folder = owner(path)
    if folder is None:
        return [f"{path}: stands in no folder of the layout"]
    allowed = ALLOWED[folder]
    for included in INCLUDE.findall(text):
        if included.endswith(".cuh") and not path.endswith((".cu", ".cuh")):
            found.append(f"{path}: {included}: device code is for .cu and .cuh alone")
        if path.startswith("include/") and path.endswith(".h") and included.endswith(".hpp"):
            found.append(f"{path}: {included}: a header for C includes no C++")
        without_cuda = folder in ("include/lanky", "io", "collection", "cli")
        if CUDA_HEADERS.match(included) and without_cuda and path != "include/lanky/cuda.hpp":
            found.append(f"{path}: {included}: no CUDA header here")
        if included.startswith("Eigen/") and path not in WITH_EIGEN:
            found.append(f"{path}: {included}: Eigen stays behind {' and '.join(WITH_EIGEN)}")
        if included.startswith("cub/") and path.endswith(".cuh"):
            found.append(f"{path}: {included}: CUB takes 12 s to compile; keep it out of headers")
        target = resolve(included)
        if target is None or allowed is None:
            continue
        target_folder = owner(target)
        if target_folder is None:
            found.append(f"{path}: {included}: stands in no folder of the layout")
        elif target_folder != folder and not target_folder.startswith(folder + "/"):
            if target_folder not in allowed:
                found.append(f"{path}: {included}: {folder} may not include {target_folder}")
        kernels = target_folder is not None and target_folder.endswith("/cuda") and not target.endswith("/policy.hpp")
        if kernels and folder != target_folder:
            found.append(f"{path}: {included}: kernels are reached through backend.hpp")
        if not (ROOT / target).is_file():
            found.append(f"{path}: {included}: there is no {target}")
    if re.search(r"#\s*if.*LANKY_(HAS_)?CUDA", text):
        found.append(f"{path}: a build without CUDA takes cuda/absent.cpp, not an #if")
    return found


def self_test() -> None:
    """The check must be able to fail: each planted fault is one that it has to find."""
    planted = [
        ("dense/gemm.cpp", '#include "sparse/backend.hpp"'),
        ("io/reader.cpp", '#include "dense/policy.hpp"'),
        ("src/core/buffer.cpp", '#include "dense/policy.hpp"'),
        ("include/lanky/view.hpp", '#include "core/text.hpp"'),
        ("include/lanky/view.hpp", "#include <cuda_runtime.h>"),
        ("sparse/spmv.cpp", '#include "device/mma.cuh"'),
        ("sparse/spmv.cpp", '#include "capi/status.hpp"'),
        ("src/capi/sparse.cpp", '#include "core/text.hpp"'),
        ("src/capi/sparse.cpp", '#include "sparse/backend.hpp"'),
        ("examples/c/spmv.c", '#include "capi/status.hpp"'),
        ("include/lanky/lanky.h", '#include <lanky/sparse.hpp>'),
        ("cli/main.cpp", '#include "core/text.hpp"'),
        ("collection/fetch.cpp", '#include "bench/cases/grid.hpp"'),
        ("bench/harness/measure.cpp", '#include "dense/policy.hpp"'),
        ("bench/records/record.cpp", '#include "bench/report/markup.hpp"'),
        ("bench/a.cpp", ""),
        ("bench/cuda/peak.cu", '#include "dense/policy.hpp"'),
        ("examples/cholqr/cholqr.cpp", '#include "core/text.hpp"'),
        ("petsc/columns.hpp", '#include "core/text.hpp"'),
        ("petsc/tests/matrix_test.cpp", '#include "dense/policy.hpp"'),
        ("solvers/lobpcg.cpp", '#include "dense/policy.hpp"'),
        ("solvers/lobpcg.cpp", "#include <Eigen/QR>"),
        ("include/lanky/svd.hpp", "#include <Eigen/QR>"),
        ("dense/gemm.cpp", "#if LANKY_CUDA"),
        ("elsewhere/a.cpp", ""),
    ]
    for path, text in planted:
        if not faults(path, text):
            sys.exit(f"check_includes: a planted fault was not found: {path}: {text}")


def main() -> None:
    self_test()
    files = [p for p in ROOT.rglob("*") if p.suffix in SOURCES]
    paths = sorted(p.relative_to(ROOT).as_posix() for p in files)
    paths = [p for p in paths if not p.startswith(("build/", "."))]
    found = [fault for p in paths for fault in faults(p, (ROOT / p).read_text())]
    print("\n".join(found) or f"{len(paths)} files keep the include rules")
    sys.exit(1 if found or not paths else 0)


if __name__ == "__main__":
    main()
