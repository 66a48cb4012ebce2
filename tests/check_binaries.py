"""Built files are hardened, say no folder of the build, need and export what is listed here, and nothing else.

Usage: check_binaries.py [--json FILE] PATH...: files, folders of built files, Debian packages or wheels. Reads them by readelf.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

# Libraries of a compiler and of a C library, which every file may need.
SYSTEM = r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libgomp|libomp|ld-linux-[\w-]+)\.so"

# Of each kind of file: what it exports, what it needs beside SYSTEM (patterns), and undefined names without a version
# that it may have, such as those of Python or of a library that gives its names none.
KINDS = (
    (r"liblanky\.so", r"_ZNK?5lanky|_ZT[ISV]N5lanky|lanky_\w+$", r"libarchive\.so|libz\.so", r"archive_|inflate|deflate|crc32|gz\w+$"),
    (r"liblanky_download\.so", r"lanky_download$|_ZT[IS]N5lanky", r"libcurl\.so|libcrypto\.so", r"$."),
    (r"liblanky_vendor\.so", r"lanky_vendor$|_ZT[IS]N5lanky", r"libcu(blas|blasLt|sparse)\.so", r"cu(blas|sparse)"),
    (r"_core\.\S*so", r"PyInit__core$|_ZT[IS]N5lanky", r"lib(bz2|archive|z|lzma|zstd)\b.*\.so", r"_?Py|BZ2_|archive_"),
    (r"liblankypetsc\.so", r"(LankyPetscRegister|PetscDLLibraryRegister_lankypetsc)$|_ZT[IS]N5lanky",
     r"liblanky\.so|libpetsc\w*\.so|libmpi\w*\.so|libcudart\.so", r"\w*"),
    (r"liblankyslepc\.so", r"(LankySlepcRegister|PetscDLLibraryRegister_lankyslepc)$|_ZT[IS]N5lanky",
     r"liblanky\.so|lib(petsc|slepc)\w*\.so|libmpi\w*\.so|libcudart\.so", r"\w*"),
    # A program exports what shared libraries have to share with it, names of C++'s library, but nothing that it has linked statically.
    (r"lanky$", r"_Z", r"lib(bz2|archive|z|lzma|zstd)\.so", r"$."),
)
# Where a file of ours may look for libraries: beside itself, and where NVIDIA installs its own.
RUN_PATH = re.compile(r"\$ORIGIN(/[\w.+/-]*)?|/usr/local/cuda[\w.-]*/lib(64)?")
# Plug-ins are built where PETSc and lanky are installed; before their installation CMake's empty entry is at the end.
RUN_PATH_OF_PLUG_INS = re.compile(RUN_PATH.pattern + r"|/.+|")


def readelf(*arguments: object) -> str:
    return subprocess.run(["readelf", "--wide", *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def kind_of(path: pathlib.Path) -> tuple | None:
    """The row of KINDS, where the file is one of ours that others load or run."""
    kind = next((kind for kind in KINDS if re.match(kind[0], path.name)), None)
    if kind is None or not path.is_file() or path.is_symlink():
        return None
    with open(path, "rb") as file:
        return kind if file.read(4) == b"\x7fELF" else None


def faults(path: pathlib.Path, kind: tuple) -> list[str]:
    """What is wrong with one file."""
    _, exported, needed, unversioned = kind
    dynamic, segments = readelf("--dynamic", path), readelf("--program-headers", path)
    found = []
    if "GNU_RELRO" not in segments:
        found.append("no RELRO")
    if not re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW", dynamic):
        found.append("not bound at once (BIND_NOW)")
    if re.search(r"GNU_STACK .* RWE ", segments) or "GNU_STACK" not in segments:
        found.append("an executable stack")
    if re.search(r"LOAD .* RWE ", segments):
        found.append("memory that is written and executed")
    if "TEXTREL" in dynamic:
        found.append("relocations in code (TEXTREL)")
    if "(SONAME)" not in dynamic and ".so" not in path.name and "PIE" not in dynamic:
        found.append("no position-independent executable")
    for run_path in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
        allowed = RUN_PATH_OF_PLUG_INS if "PetscDLL" in exported else RUN_PATH
        found += [f'RUNPATH has "{entry}"' for entry in run_path.split(":") if not allowed.fullmatch(entry)]
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        # auditwheel puts a hash into the names of the libraries that it copies.
        plain = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library)
        if not re.match(f"{SYSTEM}|{needed}", plain):
            found.append(f"needs {library}")
    names = re.findall(r"^ *\d+: \w+ +\S+ (\w+) +(\w+) +(\w+) +(\w+) (\S+)", readelf("--dyn-syms", path), re.MULTILINE)
    if not any("__stack_chk_fail" in name for *_, name in names):
        found.append("no stack protector")
    if not any(re.match(r"__\w+_chk(@|$)", name) and section == "UND" for *_, section, name in names) \
            and path.name == "lanky":
        found.append("nothing fortified (_FORTIFY_SOURCE)")
    for _, binding, _, section, name in names:
        if section == "UND":
            if binding == "GLOBAL" and "@" not in name and not re.match(unversioned, name):
                found.append(f"undefined {name}")
        elif not ("@" in name and ".so" not in path.name) and not re.match(exported, name.split("@")[0]):
            found.append(f"exports {name}")
    return found


def unpacked(path: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    """A folder with what a package holds, or the path itself."""
    if path.suffix not in (".deb", ".whl"):
        return path
    folder = scratch / path.name
    if path.suffix == ".deb":
        subprocess.run(["dpkg-deb", "--extract", path, folder], check=True)
    else:
        zipfile.ZipFile(path).extractall(folder)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="a line with the result is appended here")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    begin = time.monotonic()
    checked = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for given in options.paths:
            path = unpacked(given, pathlib.Path(scratch))
            for file in sorted(path.rglob("*")) if path.is_dir() else [path.resolve()]:
                kind = kind_of(file)
                if kind is None:
                    continue
                checked += 1
                wrong = faults(file, kind)
                failed += bool(wrong)
                for fault in wrong[:20]:
                    print(f"{given}: {file.name}: {fault}")
                if not wrong:
                    print(f"well {given}: {file.name}")
    if checked == 0:
        print("no file to check")
        return 1
    if options.json:
        line = {"kind": "reliability", "part": "supply", "check": "hardened files, exports as listed", "device": "cpu",
                "tried": checked, "unit": "files", "failed": failed, "seconds": round(time.monotonic() - begin, 3)}
        with open(options.json, "a") as file:
            file.write(json.dumps(line) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
