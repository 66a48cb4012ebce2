"""One case of an attack: a folder of its own, random draws of its own, and the program run in it under limits of time,
memory and file size. What the program does wrong becomes a Finding."""

import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Exit codes that cli/main.cpp documents.
OK, FAILED, USAGE, INPUT, NO_DEVICE, BROKEN = range(6)

# Words that a user must never read: what the C++ library, a sanitizer or a crash says.
RAW = re.compile(r"defect of lanky|json\.exception|terminate called|what\(\):|std::|basic_string|vector::|bad_alloc"
                 r"|filesystem error|Sanitizer|runtime error:|[Aa]ssertion")

MIB = 1 << 20


class Finding(Exception):
    """What the program did wrong, in a sentence."""


class Ran:
    """How a program ended, and what it said."""

    def __init__(self, command, code, out, err, seconds):
        self.command = command
        self.code = code
        self.out = out
        self.err = err
        self.seconds = seconds


class Case:
    """A case is the same again where kind, number and seed are. All programs run in its folder, so that names of
    files are relative, and a folder that is kept can be tried again anywhere."""

    def __init__(self, kind, number, seed, bin_folder, folder, patience=1.0):
        self.kind = kind
        self.number = number
        self.seed = seed
        self.random = random.Random(f"{seed}/{kind}/{number}")
        self.bin = pathlib.Path(bin_folder)
        self.folder = pathlib.Path(folder)
        self.patience = patience  # all limits of time are multiplied by it
        self.attack = "begun"  # what is tried, in a few words
        self.commands = []
        self.mark = f"{os.getpid()}.{kind}.{number}.{time.monotonic_ns()}"
        self.folder.mkdir(parents=True)

    # What a case is made of.

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def read(self, name):
        """The bytes of a file that the program must have left there."""
        self.require((self.folder / name).is_file(), f"there is no file {name}")
        return (self.folder / name).read_bytes()

    def size(self, name):
        return len(self.read(name))

    def exists(self, name):
        return (self.folder / name).exists()

    def require(self, condition, sentence):
        if not condition:
            raise Finding(sentence)

    # Running the program.

    def start(self, *arguments, memory=None, file_size=None, environment=None, user=None, piped=False):
        """The program, begun. Its output goes into files, which no child that it leaves behind keeps open, or into
        pipes, which a limit of file size does not reach."""
        command = [str(self.bin / "lanky"), *map(str, arguments)]
        shown = [f"{name}={value}" for name, value in (environment or {}).items()]
        self.commands.append(shlex.join([*shown, "lanky", *map(str, arguments)]))
        limits = ["prlimit", "--core=0"]
        limits += [f"--as={memory}"] if memory else []
        limits += [f"--fsize={file_size}"] if file_size else []
        number = len(self.commands)
        with open(self.folder / f".out{number}", "wb") as out, open(self.folder / f".err{number}", "wb") as err:
            out, err = (subprocess.PIPE, subprocess.PIPE) if piped else (out, err)
            process = subprocess.Popen([*limits, *command], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err, env=self.environment(environment), start_new_session=True,
                                       user=user)
        process.began = time.monotonic()
        process.number = number
        return process

    def environment(self, more=None):
        own = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "no_proxy": "*", "LANKY_CACHE": "/nonexistent",
               "LANKY_ATTACK_CASE": self.mark}
        return {**os.environ, **own, **{name: str(value) for name, value in (more or {}).items()}}

    def finish(self, process, seconds):
        """Waits for the end of a program. A Finding where that takes longer."""
        limit = seconds * self.patience
        command = self.commands[process.number - 1]
        try:
            said = process.communicate(timeout=max(0.05, limit - (time.monotonic() - process.began)))
        except subprocess.TimeoutExpired:
            self.end_processes()
            process.communicate()
            raise Finding(f"still ran after {limit:g} s: {command}") from None
        if said[1] is None:
            said = [self.read(f".{stream}{process.number}") for stream in ("out", "err")]
        text = [part[: 4 * MIB].decode(errors="replace") for part in said]
        return Ran(command, process.returncode, *text, time.monotonic() - process.began)

    def run(self, *arguments, codes, seconds=20, **limits):
        """Runs the program to its end, which must be with one of these exit codes and with clean words."""
        ran = self.finish(self.start(*arguments, **limits), seconds)
        self.judge(ran, codes)
        return ran

    def judge(self, ran, codes, raw=RAW):
        last = ran.err.strip()[-400:]
        self.require(ran.code >= 0, f"ended by signal {-ran.code}: {ran.command}: {last}")
        said = raw.search(ran.err)
        self.require(not said, f"said \"{said and said.group()}\": {ran.command}: {last}")
        self.require(ran.code in codes, f"exit code {ran.code}, not of {sorted(codes)}: {ran.command}: {last}")

    def supports(self, command, option):
        """Whether the help of a command names the option."""
        return option in help_of(self.bin / "lanky", command)

    # Processes that bear the mark of this case.

    def processes(self):
        mark = f"LANKY_ATTACK_CASE={self.mark}\0".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass  # it ended meanwhile, or belongs to somebody else
        return found

    def end_processes(self):
        for process in self.processes():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def require_no_survivors(self, seconds=3):
        """No process of this case is left. Processes that are about to end are waited for."""
        deadline = time.monotonic() + seconds * self.patience
        while self.processes():
            if time.monotonic() > deadline:
                left = [pathlib.Path(f"/proc/{p}/cmdline") for p in self.processes()]
                names = [shlex.join(p.read_text().split("\0")[:-1])[:200] for p in left if p.exists()]
                self.end_processes()
                raise Finding(f"left processes behind: {'; '.join(names)}")
            time.sleep(0.01)


HELP = {}


def help_of(lanky, command):
    if command not in HELP:
        HELP[command] = subprocess.run([lanky, command, "--help"], capture_output=True, text=True, timeout=20,
                                       check=False).stdout
    return HELP[command]
