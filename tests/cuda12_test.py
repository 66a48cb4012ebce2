"""One kernel of each family with CUDA 12.4, the oldest toolkit that lanky is for.

Usage: cuda12_test.py NVCC. The wheels of PyPI hold 12.4's headers, CUB and ptxas, but not its C++ front end: NVCC's
own reads the sources with 12.4's headers, and 12.4's ptxas assembles what comes of it. What 12.4's front end does not
take is seen by `./dev compilers nvcc-12.4-20` alone, in a Debian that has all of it. Status 77, which ctest takes for
skipped, where the wheels cannot be had.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "lanky" / "cuda12.4"
WHEELS = ("nvidia-cuda-nvcc-cu12==12.4.*", "nvidia-cuda-runtime-cu12==12.4.*", "nvidia-cuda-cccl-cu12==12.4.*")
PTX = "8.4"  # the newest that 12.4's ptxas knows

# Of each family the source that takes least to compile, for the targets that differ.
KERNELS = (
    ("dense/cuda/panel/panel_f64.cu", "sm_90a"),
    ("dense/cuda/panel/panel_bf16.cu", "sm_80"),
    ("dense/cuda/update/update_c128.cu", "sm_90a"),
    ("dense/cuda/gram/gram_c128.cu", "sm_89"),
    ("dense/cuda/tiled/tiled.cu", "sm_80"),
    ("sparse/cuda/multiply/spmv_c128.cu", "sm_90a"),
    ("sparse/cuda/pack/hot_columns.cu", "sm_86"),
    ("src/core/code_target_kernel.cu", "sm_90a"),
)
HOST = ("src/core/code_target_cuda.cpp", "src/core/graph_cuda.cpp", "src/core/runtime_cuda.cpp")


def toolkit(folder: pathlib.Path) -> pathlib.Path:
    """A folder with include/ and ptxas of 12.4, made once."""
    if (folder / "ptxas").exists():
        return folder
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch, *WHEELS]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            print("needs CUDA 12.4 from PyPI: " + (run.stderr.strip().splitlines() or ["pip failed"])[-1])
            sys.exit(77)
        files = pathlib.Path(scratch) / "files"
        for wheel in pathlib.Path(scratch).glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(files)
        made = pathlib.Path(tempfile.mkdtemp(dir=make(folder.parent)))
        for part in ("cuda_cccl", "cuda_runtime", "cuda_nvcc"):
            shutil.copytree(files / "nvidia" / part / "include", made / "include", dirs_exist_ok=True)
        shutil.copy(files / "nvidia/cuda_nvcc/bin/ptxas", made / "ptxas")
        (made / "ptxas").chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)  # whole, or not at all
    return folder


def make(folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(command: list) -> str:
    """What a command complains of; "" where it ends well."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT)
    return "" if done.returncode == 0 else (done.stderr + done.stdout)[-2000:] or "failed"


def compile_kernel(nvcc: str, kit: pathlib.Path, source: str, target: str, scratch: pathlib.Path) -> str:
    ptx = scratch / f"{pathlib.Path(source).stem}.{target}.ptx"
    fault = run([nvcc, f"-I{kit}/include", "-Iinclude", "-I.", "-Isrc", "-std=c++20", "--expt-relaxed-constexpr",
                 f"-arch={target}", "-ptx", source, "-o", ptx])
    if fault:
        return fault
    ptx.write_text(re.sub(r"^\.version .*$", f".version {PTX}", ptx.read_text(), count=1, flags=re.MULTILINE))
    # Whether it assembles is asked, not how fast it is.
    return run([kit / "ptxas", "-O0", f"-arch={target}", ptx, "-o", "/dev/null"])


def compile_host(kit: pathlib.Path, source: str) -> str:
    return run(["c++", "-std=c++20", "-fsyntax-only", f"-isystem{kit}/include", "-Iinclude", "-Isrc",
                '-DLANKY_CUDA_TARGETS="none"', source])


def main() -> None:
    nvcc = sys.argv[1]
    kit = toolkit(CACHE)
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = {f"{source} for {target}": pool.submit(compile_kernel, nvcc, kit, source, target, pathlib.Path(scratch))
                  for source, target in KERNELS}
        faults |= {source: pool.submit(compile_host, kit, source) for source in HOST}
        faults = {what: fault.result() for what, fault in faults.items()}
    for what, fault in faults.items():
        print(f"{'FAULT' if fault else 'well'} {what} {fault}")
    sys.exit(1 if any(faults.values()) else 0)


if __name__ == "__main__":
    main()
