#!/usr/bin/env python3
"""Tries the files of a release as a new user would: every example of the documentation, in a bare Debian of its own.

try_release.py [DIST] [--json FILE] [--only wheel|packages|sources ...] [--python PYTHON ...]

DIST (build/dist) holds what `./dev release` made; nothing else of this tree is used but packaging/. The wheel serves the examples in
Python, the Debian packages those in C, C++, Fortran and the shell, and the archive of the sources is built. Pages are those of the
archive. A block of code in them is run, or says why not: `<!-- not tried: REASON -->` above it, or `<!-- tried in a clone -->` for
what belongs to the sources. Exit status: 0, 1 where an example failed, 77 where no bare Debian can be made.
"""
import argparse
import collections
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LANGUAGES = ("sh", "python", "c", "cpp", "cmake", "julia")
NO_CODE = ("", "ebnf")  # other fences: drawings, formats, messages
PARTS = ("wheel", "packages", "sources")
SECONDS = 3600  # that one example may take, a build of the sources on a busy machine
MARK = re.compile(r"<!-- (not tried|tried in a clone)(?:: (.+?))? -->")

# Commands that are not run here, and why.
NOT_TRIED = {
    r"ladder (gemm-gpu|tsm2|spmv|spmm)|--compare": "needs a GPU",
    r"stencil27:200|--gemm core|262144,4096|stencil27:128|fault-free 1000000|--time 10240|-m 100000,|^abft$|--k 10000000|^lanky tune": "too large for two cores",
    r"^\./dev (test|check|build|package|attack|fuzz)\b": "CI runs it, or a test",
    r"sklearn": "needs scikit-learn",
}
ALLOWED = {r"^lanky compare": (0, 1)}  # 1: something got slower, on a machine that others use
# A mirror of five matrices in place of the collection's server, root in place of sudo, and the Python that has the wheel.
FUNCTIONS = r"""
lanky() { if [ "$1" = fetch ]; then command lanky "$@" --mirror file:///mirror; else command lanky "$@"; fi; }
sudo() { "$@"; }
python() { /dist/venv/bin/python "$@"; }
pip() { /dist/venv/bin/pip "$@"; }
export OMP_WAIT_POLICY=passive DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root
export PATH="$PWD/build/lanky/bin:$PATH"
"""


class Block:
    """A fenced block of code of a page."""

    def __init__(self, page, line, language, text, mark):
        self.page, self.line, self.language, self.text = page, line, language, text
        self.skipped = mark[2] if mark and mark[1] == "not tried" else None
        self.in_clone = bool(mark) and mark[1] == "tried in a clone"

    def name(self):
        return f"{self.page}:{self.line}"

    def matrix(self):
        """The file that the block names, or the first page's."""
        found = re.search(r'"([\w./]+\.mtx[.\w]*)"', self.text)
        return found[1] if found else "matrices/finan512.mtx.xz"

    def commands(self):
        """Of a shell's block, without comments and with lines that go on joined."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [command for line in lines if (command := re.sub(r"(^|\s+)# .*", "", line).strip())]


def blocks_of(folder):
    """Every block of code of the pages for users; ValueError for a mark without its reason, and for a language that nobody runs."""
    pages = [folder / "README.md", folder / "python" / "README.md", *sorted((folder / "docs").rglob("*.md"))]
    for path in pages:
        page = str(path.relative_to(folder))
        if page.startswith("docs/lab/"):
            continue
        fence = start = mark = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r"\s*(`{3,})(.*)$", line)
            if fence is None and found:
                fence, language, start, body = found[1], found[2].strip(), number, []
            elif fence and found and found[1] == fence and not found[2].strip():
                if language in LANGUAGES:
                    yield Block(page, start, language, "\n".join(body), mark)
                elif language not in NO_CODE and not language.startswith("{"):
                    raise ValueError(f"{page}:{start}: code in {language}, which is not tried")
                fence = mark = None
            elif fence:
                body.append(line)
            elif line.strip():
                mark = MARK.match(line.strip())
                if mark and mark[1] == "not tried" and not mark[2]:
                    raise ValueError(f"{page}:{number}: no reason is given")


class Trials:
    """The bare Debian, and what became of each example there."""

    def __init__(self, root):
        self.root = root
        self.where = "/"
        self.counts = collections.OrderedDict()  # check: its line of results
        self.reasons = collections.Counter()
        self.failures = []
        self.env = None
        self.given = set()  # files that every block finds

    def run(self, script, timeout=SECONDS):
        """(exit status, output) of a script in the root."""
        inside = f"cd {shlex.quote(self.where)}\n{FUNCTIONS}\n{script}"
        mounts = f"mount -t proc proc {self.root}/proc; mount --rbind /dev {self.root}/dev"
        # A space of processes of its own: whatever an example leaves running ends with it.
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", f'{mounts}; exec chroot {self.root} bash -euo pipefail -c "$0"', inside]
        try:
            ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout,
                                 env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, check=False)
        except subprocess.TimeoutExpired as expired:
            return 124, (expired.stdout or b"").decode(errors="replace") + f"\nlonger than {timeout} s"
        return ran.returncode, ran.stdout.decode(errors="replace")

    def folder(self):
        """Where examples are run, as it is seen from outside."""
        return self.root / self.where.lstrip("/")

    def clear(self):
        """Takes away what the last block left: the next one is for somebody who begins with it."""
        for path in set(self.folder().iterdir()) - self.given:
            subprocess.run(["rm", "-rf", path], check=True)

    def need(self, script):
        """Prepares something; a failure ends the trial."""
        status, output = self.run(script)
        if status != 0:
            raise SystemExit(f"try_release: {script.strip().splitlines()[0]}: status {status}\n{output[-3000:]}")
        return output

    def line(self, check, unit):
        return self.counts.setdefault(check, {"kind": "reliability", "part": "release", "check": check, "device": "cpu", "tried": 0,
                                              "unit": unit, "failed": 0, "skipped": 0, "seconds": 0.0})

    def skip(self, check, unit, name, reason):
        self.line(check, unit)["skipped"] += 1
        self.reasons[reason] += 1
        print(f"  not tried  {name}: {reason}", flush=True)

    def attempt(self, check, unit, name, script, allowed=(0,)):
        began = time.monotonic()
        self.note(check, unit, name, *self.run(script), began, allowed)

    def note(self, check, unit, name, status, output, began, allowed=(0,)):
        line, seconds = self.line(check, unit), time.monotonic() - began
        line["tried"] += 1
        line["seconds"] += seconds
        if status in allowed:
            print(f"  ok {seconds:6.1f} s  {name}", flush=True)
            return
        line["failed"] += 1
        self.failures.append(name)
        print(f"  FAILED     {name}: status {status}\n{output[-2000:]}", flush=True)

    def shell(self, check, name, commands):
        for command in commands:
            reason = next((reason for pattern, reason in NOT_TRIED.items() if re.search(pattern, command)), None)
            if reason:
                self.skip(check, "commands", f"{name} {command}", reason)
                continue
            allowed = next((codes for pattern, codes in ALLOWED.items() if re.search(pattern, command)), (0,))
            self.attempt(check, "commands", f"{name} {command}", command, allowed)

    def put(self, path, text):
        (self.root / path.lstrip("/")).write_text(text)


def one_of(folder, pattern):
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"try_release: {folder} has {len(found)} files {pattern}, not one")
    return found[0]


def install_commands(blocks):
    """The two lines of docs/start/install.md that install the files of a release: the wheel, the packages."""
    block = next(block for block in blocks if block.page == "docs/start/install.md" and "--find-links" in block.text)
    wheel, packages = block.commands()
    return block, wheel, packages


PYTHON = "/dist/venv/bin/python"
IN_PYTHON = "examples in Python, from the wheel"


def install_wheel(trials, blocks):
    """The wheel in an environment of Debian's Python, a product there, and the files that examples name."""
    check, unit = IN_PYTHON, "programs"
    block, install, _ = install_commands(blocks)
    trials.need("apt-get install -y -qq --no-install-recommends python3-venv >/dev/null")
    sources, trials.where = trials.where, "/dist"
    trials.attempt(check, unit, f"{block.name()} {install}", install)
    trials.where = sources
    alone = ("import lanky, numpy; a = lanky.sparse((numpy.array([0, 2, 3]), numpy.array([0, 1, 1]), numpy.array([1., 2, 3])));"
             "assert (a @ numpy.ones(2)).tolist() == [3, 3]; print(lanky.devices())")
    trials.attempt(check, unit, "a product, with NumPy alone", f"{PYTHON} -c {shlex.quote(alone)}")
    trials.need("/dist/venv/bin/pip install -q scipy matplotlib; apt-get install -y -qq --no-install-recommends libcurl4 libssl3 >/dev/null")
    trials.need(f"{PYTHON} /try/files.py")


def try_wheel(trials, blocks):
    """The examples in Python, with nothing but Debian's Python and the wheel."""
    check, unit, python = IN_PYTHON, "programs", PYTHON
    folder = trials.folder()
    for program in sorted((folder / "docs/snippets").glob("*.py")):
        if program.name != "run_python.py":
            trials.attempt(check, unit, f"docs/snippets/{program.name}", f"cd /tmp && {python} -P {trials.where}/docs/snippets/{program.name}")
    for page in sorted((folder / "docs/gallery").glob("*.py")):
        if page.name == "gradients.py":
            trials.skip(check, unit, f"docs/gallery/{page.name}", "needs PyTorch")
        elif page.name != "run_page.py":
            trials.attempt(check, unit, f"docs/gallery/{page.name}", f"MPLBACKEND=svg {python} -P docs/gallery/{page.name}")
    arrays = (HERE / "try/arrays.py").read_text()
    for block in blocks:
        if block.language != "python":
            continue
        if block.skipped:
            trials.skip(check, unit, block.name(), block.skipped)
            continue
        body = "\n".join(line.removeprefix("  ") if block.text.startswith("  ") else line for line in block.text.splitlines())
        trials.put("/tmp/example.py", f"MATRIX = {block.matrix()!r}\n{arrays}\n{body}\n")
        trials.attempt(check, unit, block.name(), f"{python} -P /tmp/example.py")


def try_other_pythons(trials, pythons):
    """The programs of docs/snippets by other interpreters of this machine, each in an environment of its own."""
    check, unit = "examples in Python, by further interpreters", "programs"
    for number, python in enumerate(pythons):
        venv = trials.root.parent / f"venv{number}"
        subprocess.run([python, "-m", "venv", venv], check=True)
        pip = [venv / "bin/pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "numpy", "scipy"], check=True, cwd=venv)
        subprocess.run([*pip, "--no-index", "--find-links", trials.root / "dist", "lanky"], check=True, cwd=venv)
        for program in sorted((trials.folder() / "docs/snippets").glob("*.py")):
            if program.name == "run_python.py":
                continue
            alone = shutil.copy(program, venv)  # beside no file whose name is that of a module
            began = time.monotonic()
            ran = subprocess.run([venv / "bin/python", alone], cwd=venv, capture_output=True, text=True, timeout=SECONDS, check=False)
            trials.note(check, unit, f"docs/snippets/{program.name} by {python}", ran.returncode, ran.stdout + ran.stderr, began)


def compiled(trials, check, name, source, text):
    """Compiles a program as docs/start/install.md says, and runs it."""
    trials.put(f"/tmp/{source}", text)
    compiler = "cc" if source.endswith(".c") else "c++ -std=c++20"
    folder = str(pathlib.PurePosixPath(name.partition(":")[0]).parent)
    trials.attempt(check, "programs", name,
                   f"{compiler} -O1 -I {folder} /tmp/{source} $(pkg-config --cflags --libs lanky) -o /tmp/example && /tmp/example")


def environment(trials, program):
    """What the program tells of this machine, as a line of results."""
    return json.loads(trials.need(f"{program} info --json - 2>/dev/null").splitlines()[0])


def try_packages(trials, blocks):
    """The examples in C, C++ and the shell, Fortran's among these, with the Debian packages."""
    check, shell = "examples in C and C++, from the packages", "commands, from the packages"
    installs, _, install = install_commands(blocks)
    sources, trials.where = trials.where, "/dist"
    trials.attempt(shell, "commands", f"{installs.name()} {install}", install.replace("apt install", "apt-get install -y -qq"))
    trials.where = sources
    trials.need("apt-get install -y -qq --no-install-recommends g++ gfortran cmake make pkg-config >/dev/null")
    folder = trials.folder()
    for name in ("docs/snippets/*.cpp", "docs/snippets/*.c", "examples/c/*.c"):
        for program in sorted(folder.glob(name)):
            text = program.read_text()
            if "lanky/cuda.hpp" in text or "cuda_runtime" in text:
                trials.skip(check, "programs", str(program.relative_to(folder)), "needs a CUDA toolkit")
                continue
            compiled(trials, check, str(program.relative_to(folder)), f"example{program.suffix}", text)
    operands = (HERE / "try/operands.hpp").read_text()
    for block in blocks:
        if block.skipped and block.language in ("c", "cpp", "cmake", "julia"):
            trials.skip(check, "programs", block.name(), block.skipped)
        elif block.language == "cpp":
            include = "\n".join(re.findall(r"^#include.*", block.text, re.MULTILINE))
            body = re.sub(r"^#include.*", "", block.text, flags=re.MULTILINE)
            members = "auto& [on, matrix, A, x, y, X, Y, Q, G, new_values] = operands;"
            compiled(trials, check, block.name(), "example.cpp", f'#define MATRIX "{block.matrix()}"\n{operands}\n{include}\nint main() {{\n'
                     f"Operands operands;\n{members}\n{{\n{body}\n}}\n}}\n")
        elif block.language == "c":
            compiled(trials, check, block.name(), "example.c", block.text)
        elif block.language == "cmake":
            trials.put("/tmp/CMakeLists.txt", f"cmake_minimum_required(VERSION 3.25)\nproject(app CXX)\nadd_executable(app {trials.where}/main.cpp)\n"
                       f"{block.text}\n")
            trials.attempt(check, "programs", block.name(), "cmake -S /tmp -B /tmp/app && cmake --build /tmp/app && /tmp/app/app")
        elif block.language == "julia":
            raise SystemExit(f"try_release: {block.name()}: there is no Julia here, and no mark says so")
    trials.need("lanky batch folder --quick --json before.jsonl && cp before.jsonl after.jsonl && "
                "lanky gemm --m 8 --n 8 --k 100000 --op-a t --quick --json gram.jsonl")
    trials.given = set(folder.iterdir())
    for block in blocks:
        trials.clear()
        if block.language == "sh" and not block.in_clone and block is not installs:
            if block.skipped:
                for command in block.commands():
                    trials.skip(shell, "commands", f"{block.name()} {command}", block.skipped)
            else:
                trials.shell(shell, block.name(), block.commands())
    trials.clear()
    helped = trials.need("lanky --help")
    examples = [re.sub(r"\s{2,}.*", "", line.strip()) for line in helped.splitlines() if line.startswith("  lanky ")]
    trials.shell(shell, "lanky --help:", examples)
    trials.env = environment(trials, "lanky")


def try_sources(trials, blocks):
    """The archive of the sources, built for the CPU as docs/start/install.md says."""
    check = "commands, from the archive of the sources"
    trials.need("apt-get purge -y -qq $(dpkg-query -W -f '${Package} ' '*lanky*' 2>/dev/null) >/dev/null || true; "
                "apt-get install -y -qq --no-install-recommends python3-dev pkg-config >/dev/null")
    for block in sorted(blocks, key=lambda block: block.page != "docs/start/install.md"):  # that the others stand on
        if block.in_clone:
            trials.shell(check, block.name(), block.commands())
    trials.attempt(check, "commands", "the first example, with what was installed from the sources",
                   "c++ -std=c++20 -I docs/snippets docs/snippets/first.cpp $(pkg-config --cflags --libs lanky) -o /tmp/first && /tmp/first && "
                   "/usr/local/bin/lanky --version")
    trials.env = trials.env or environment(trials, "/usr/local/bin/lanky")


def tell(trials, path):
    """The counts, and the lines of results, if a file is given for them."""
    for line in trials.counts.values():
        print(f"{line['check']}: {line['tried']} {line['unit']}, {line['failed']} failed, {line['skipped']} not tried")
    for reason, count in trials.reasons.most_common():
        print(f"  not tried, {count}: {reason}")
    for name in trials.failures:
        print(f"  FAILED: {name}")
    if path and trials.env:
        lines = [trials.env, *(dict(line, seconds=round(line["seconds"], 1)) for line in trials.counts.values())]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("dist", nargs="?", type=pathlib.Path, default=HERE.parent / "build/dist")
    arguments.add_argument("--json", type=pathlib.Path, help="lines of results, written anew")
    arguments.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts; the sources' build takes the longest")
    arguments.add_argument("--python", action="append", metavar="PYTHON", dest="pythons", default=[],
                           help="a further interpreter of this machine, for which DIST has a wheel; several times for several")
    options = arguments.parse_args()
    dist = options.dist.resolve()
    source = one_of(dist, "lanky-*.tar.xz")
    with tempfile.TemporaryDirectory(prefix="lanky_release_") as name:
        root = pathlib.Path(name) / "root"
        root.mkdir()
        status = subprocess.run([HERE / "bare_debian.sh", root], check=False).returncode
        if status != 0:
            return status
        shutil.copytree(dist, root / "dist")
        shutil.copytree(HERE / "try", root / "try")
        (root / "sources").mkdir()
        subprocess.run(["tar", "-xf", source, "-C", root / "sources"], check=True)
        trials = Trials(root)
        trials.where = "/sources/" + source.name.removesuffix(".tar.xz")
        blocks = list(blocks_of(trials.folder()))
        install_wheel(trials, blocks)
        for part, attempt in (("wheel", try_wheel), ("packages", try_packages), ("sources", try_sources)):
            if part in options.only:
                print(f"== {part}", flush=True)
                attempt(trials, blocks)
        if options.pythons:
            print("== other interpreters", flush=True)
            try_other_pythons(trials, options.pythons)
        tell(trials, options.json)
    return 1 if trials.failures else 0


if __name__ == "__main__":
    sys.exit(main())
