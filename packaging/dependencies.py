#!/usr/bin/env python3
"""What lanky depends on: packaging/dependencies.json beside the documentation, the build files and what a build has really used.

dependencies.py --write          writes the table of docs/start/install.md
dependencies.py [--json FILE] BUILD
    fails where that table is not the file's, where CMake asks for a newer version than was tested, and where a header or a library
    that went into BUILD's library, program, modules or Python extension belongs to nothing in the file. Status 77 without dpkg.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEPENDENCIES = json.loads((ROOT / "packaging" / "dependencies.json").read_text())
PAGE = ROOT / "docs" / "start" / "install.md"
BEGIN, END = "<!-- packaging/dependencies.py writes this table -->", "<!-- end of dependencies -->"

# Debian's packages of a compiler and of a C library, and those that bring a dependency's headers or libraries under another name.
ALSO = {"GCC": r"(libstdc\+\+|libgcc|gcc|libgomp|libquadmath)[\d-].*|libgcc-s1", "glibc": r"libc6|linux-libc-dev|libcrypt-dev",
        "Clang": r"(clang|libclang|libomp).*", "GCC's libstdc++ and libgcc": r"libstdc\+\+6", "GCC's libgomp": r"libgomp1",
        "Python": r"libpython3.*", "libarchive": r"libarchive13.*", "zlib": r"zlib1g", "bzip2": r"libbz2-1.0", "libcurl": r"libcurl4.*",
        "OpenSSL": r"libssl3.*", "GoogleTest": r"googletest"}
# Files of no Debian package.
PLACES = {"CUDA runtime": r"/usr/local/cuda|/targets/x86_64-linux/", "nanobind": r"/nanobind/"}
# What goes to users: outputs of a build whose sources' headers, and whose libraries, are looked at.
SHIPPED_OBJECTS = re.compile(r"(CMakeFiles/lanky\.dir|(bench|cli|collection|python)/.*CMakeFiles/(?!lanky_read|lanky_\w+_(terms|trials|rivals)).*)/")
SHIPPED_FILES = re.compile(r"(bin/lanky|bin/liblanky\S*\.so\S*|python/lanky/_core\S*\.so)$")


def license_name(dependency: dict) -> str:
    return dependency["license"].replace("LicenseRef-", "").replace("-", " ") if "Ref" in dependency["license"] else dependency["license"]


def table() -> str:
    rows = ["| dependency | used for | how | license | tested, from the oldest | Debian package |", "| --- | --- | --- | --- | --- | --- |"]
    for each in DEPENDENCIES:
        where = f", in {' and '.join(each['in'])}" if each["in"] and "wheel" not in each["how"] else ""
        versions = " to ".join(dict.fromkeys(each["tested"]))
        package = f"`{each['debian']}`" if "debian" in each else f"`{each['pypi']}` of PyPI" if "pypi" in each else "NVIDIA's"
        rows.append(f"| {each['name']} | {each['use']} | {each['how']}{where} | {license_name(each)} | {versions} | {package} |")
    return "\n".join([BEGIN, "", *rows, "", END])


def page_with_table() -> str:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    if not rest:
        sys.exit(f"{PAGE}: no line {BEGIN}")
    return before + table() + rest.partition(END)[2]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def too_new() -> list[str]:
    """Versions that CMake asks for and that nobody tested."""
    named = {"Eigen3": "Eigen", "nlohmann_json": "nlohmann-json", "Python": "Python", "PETSc": "PETSc and SLEPc", "SLEPc": "PETSc and SLEPc"}
    asked = [(r"find_package\((\w+) ([\d.]+)", path) for path in ROOT.glob("**/CMakeLists.txt")
             if "build" not in path.relative_to(ROOT).parts]
    asked += [(r"(PETSc|SLEPc)>=([\d.]+)", ROOT / "petsc/CMakeLists.txt"), (r"(cmake)_minimum_required\(VERSION ([\d.]+)", ROOT / "CMakeLists.txt")]
    found = []
    for pattern, path in asked:
        for name, version in re.findall(pattern, path.read_text()):
            name = named.get(name, {"cmake": "CMake"}.get(name, name))
            known = [each for each in DEPENDENCIES if each["name"] == name]
            if not known and name not in ("lanky", "PkgConfig", "MPI", "OpenMP", "Threads"):
                found.append(f"{path.relative_to(ROOT)} asks for {name}, which packaging/dependencies.json does not have")
            elif known and name != "Python" and numbers(version) > numbers(known[0]["tested"][0]):
                found.append(f"{path.relative_to(ROOT)} asks for {name} {version}; tested from {known[0]['tested'][0]}")
    return found


def used_files(build: pathlib.Path) -> set[str]:
    """Headers and libraries from outside of the tree and of the build that went into what users get."""
    used = set()
    output = ""
    deps = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    for line in deps.splitlines():
        if line.startswith("    "):
            if SHIPPED_OBJECTS.match(output):
                used.add(line.strip())
        elif line:
            output = line.split(":")[0]
    plan = (build / "build.ninja").read_text().replace("$\n", "")
    for outputs, block in re.findall(r"^build (\S+)[^\n]*?: \w+_(?:LINKER|STATIC|COMPILER)[^\n]*\n((?:  [^\n]*\n)*)", plan, re.MULTILINE):
        if SHIPPED_FILES.match(outputs):
            for libraries in re.findall(r"^  LINK_LIBRARIES = (.*)$", block, re.MULTILINE):
                used |= {word for word in libraries.split() if re.search(r"\.(a|so)[\d.]*$", word)}
    outside = {str(pathlib.Path(path).resolve()) for path in used if path.startswith("/")}
    return {path for path in outside if not path.startswith(str(ROOT / "build")) or "/nanobind/" in path} - \
           {path for path in outside if path.startswith(f"{ROOT}/") and "/nanobind/" not in path}


def owner(path: str, packages: dict[str, str]) -> str | None:
    """The dependency that a file belongs to."""
    for name, pattern in PLACES.items():
        if re.search(pattern, path):
            return name
    package = packages.get(path, "")
    for each in DEPENDENCIES:
        if package == each.get("debian") or (each["name"] in ALSO and re.fullmatch(ALSO[each["name"]], package)):
            return each["name"]
    return None


def unknown(build: pathlib.Path) -> tuple[int, list[str]]:
    files = sorted(used_files(build))
    # dpkg knows some libraries as /lib/..., where the folder is a link by now.
    asked = [*files, *(path.removeprefix("/usr") for path in files if path.startswith("/usr/lib"))]
    said = subprocess.run(["dpkg-query", "-S", *asked], capture_output=True, text=True, check=False).stdout if files else ""
    packages = {}
    for line in said.splitlines():
        package, _, path = line.partition(": ")
        packages[str(pathlib.Path(path).resolve())] = package.split(",")[0].split(":")[0]
    found = [f"{path} of {packages.get(path, 'no package')} is in no entry of packaging/dependencies.json"
             for path in files if owner(path, packages) is None]
    return len(files), found


def without_licenses(files: list[pathlib.Path]) -> list[str]:
    """Which packages and wheels lack the license of something that is compiled into them; NOTICE tells NVIDIA's."""
    found = []
    for path in files:
        if path.suffix == ".whl":
            kind, names = "wheel", zipfile.ZipFile(path).namelist()
        elif path.suffix == ".deb":
            kind = "program" if path.name.startswith("lanky_") else "library"
            names = subprocess.run(["dpkg-deb", "--contents", path], capture_output=True, text=True, check=True).stdout.splitlines()
        else:
            continue
        for each in DEPENDENCIES:
            file = "/licenses/" + re.sub("[^A-Za-z0-9]+", "_", each["name"]) + ".txt"
            if kind in each["in"] and each["license"] != "LicenseRef-NVIDIA-EULA" and not any(name.endswith(file) for name in names):
                found.append(f"{path.name} has no license of {each['name']}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--json", help="a line with the result is appended here")
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    options = parser.parse_args()
    if options.write:
        PAGE.write_text(page_with_table())
        return 0
    begin = time.monotonic()
    found = too_new()
    if page_with_table() != PAGE.read_text():
        found.append(f"{PAGE.relative_to(ROOT)}: its table is not that of packaging/dependencies.json: dependencies.py --write")
    if options.build is not None:
        if shutil.which("dpkg-query") is None or not (options.build / "build.ninja").exists():
            print("needs Debian's dpkg and a build by Ninja")
            return 77
        count, strange = unknown(options.build)
        if count < 100:
            strange.append(f"{options.build}: only {count} headers and libraries of others: was it built?")
        found += strange
        print(f"{count} headers and libraries of others went into what users get")
        if options.json:
            result = {"kind": "reliability", "part": "supply", "check": "dependencies known", "device": "cpu", "tried": count,
                      "unit": "headers and libraries", "failed": len(strange), "seconds": round(time.monotonic() - begin, 1)}
            with open(options.json, "a") as file:
                file.write(json.dumps(result) + "\n")
    print("\n".join(found[:50]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
