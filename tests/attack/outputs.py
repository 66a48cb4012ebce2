"""Outputs that cannot be written, or that are inputs: one error that names the file, inputs as they were, and no half
file, on full disks, in folders that are not there or not ours, on devices, pipes and folders."""

import os
import threading

from case import BROKEN, INPUT, MIB, OK, ROOT, USAGE
from results import matrix_file

SHARE = 1  # of the time

RESULTS = ROOT / "bench/results"
NOBODY = 65534
OLD = b"ten years of work\n"


def convert(case):
    rows = case.random.choice((10, 20000))
    case.write("in.mtx", matrix_file(rows))
    suffix = case.random.choice((".mtx", ".lanky", ".mtx.gz"))
    return ("in.mtx",), suffix, lambda target: ("convert", "in.mtx", target)


def report(case):
    case.write("in.jsonl", b"".join((RESULTS / "h200/spmv_core.jsonl").read_bytes().splitlines(keepends=True)[:200]))
    option = case.random.choice(("-o", "--csv", "--markdown"))
    page = () if option == "-o" else ("-o", "-")
    return ("in.jsonl",), ".html", lambda target: ("report", "in.jsonl", *page, option, target)


def merge(case):
    lines = (RESULTS / "h200/gemm_gram.jsonl").read_bytes().splitlines(keepends=True)
    case.write("in.jsonl", b"".join(lines[:100]))
    case.write("second.jsonl", b"".join(lines[:1] + lines[100:300]))
    return ("in.jsonl", "second.jsonl"), ".jsonl", lambda target: ("merge", "in.jsonl", "second.jsonl", "-o", target)


def plot(case):
    case.write("in.jsonl", (RESULTS / "h200/ladder_tsm2.jsonl").read_bytes())
    return ("in.jsonl",), ".svg", lambda target: ("ladder", "--from", "in.jsonl", "-N", "8", "--plot", target)


def batch(case):
    case.write("in.mtx", matrix_file(20))
    begin = ("batch", "--device", "cpu", "--quick", "--no-vendor", "in.mtx", "--json")
    return ("in.mtx",), ".jsonl", lambda target: (*begin, target)


def attack(case):
    command = case.random.choice((convert, convert, report, report, merge, plot, batch))
    way = case.random.choice(WAYS)
    case.attack = f"{command.__name__}, {way.__name__.replace('_', ' ')}"
    inputs, suffix, arguments = command(case)
    way(case, inputs, suffix, arguments)


def refused(case, inputs, command, target, **limits):
    """One error that names the target; inputs and the folder are as they were."""
    before = contents(case, inputs)
    files = names(case)
    force = case.random.random() < 0.3 and "--force" not in command and case.supports(command[0], "--force")
    ran = case.run(*command, *(("--force",) if force else ()), codes=(USAGE, INPUT, BROKEN), **limits)
    case.require(contents(case, inputs) == before, f"an input was changed: {ran.command}")
    changed = names(case) ^ files
    case.require(not changed, f"there are other files than before, {sorted(changed)}: {ran.command}")
    errors = [line for line in ran.err.splitlines() if line.startswith("lanky: ")]
    case.require(len(errors) == 1, f"not one error but {len(errors)}: {ran.command}: {ran.err[-400:]!r}")
    case.require(os.path.basename(target) in errors[0] or "standard output" in errors[0],
                 f"the error does not name {target}: {ran.command}: {ran.err[-300:]!r}")


def contents(case, inputs):
    return [case.read(name) for name in inputs]


def names(case):
    return {str(p.relative_to(case.folder)) for p in case.folder.rglob("*") if not p.name.startswith(".")}


# Ways in which an output cannot be written.


def is_an_input(case, inputs, suffix, arguments):
    """By its name, another spelling of it, a hard link or a symbolic one."""
    one = case.random.choice(inputs)
    ending = os.path.splitext(one)[1] if arguments(one)[0] in ("convert", "batch") else suffix
    spellings = {"name": one, "./name": "./" + one, "folder/../name": "folder/../" + one,
                 "absolute": str(case.folder / one)}
    how = case.random.choice((*spellings, "hard link", "symbolic link", "link to a link"))
    case.attack += f": {how}"
    (case.folder / "folder").mkdir()
    target = spellings.get(how)
    if target is None:
        target = "link" + ending
        if how == "hard link":
            os.link(case.folder / one, case.folder / target)
        else:
            os.symlink(one, case.folder / ("between" if how == "link to a link" else target))
            if how == "link to a link":
                os.symlink("between", case.folder / target)
    refused(case, inputs, arguments(target), target)


def missing_folder(case, inputs, suffix, arguments):
    target = "absent/out" + suffix
    refused(case, inputs, arguments(target), target)


def file_as_folder(case, inputs, suffix, arguments):
    target = inputs[0] + "/out" + suffix
    refused(case, inputs, arguments(target), target)


def folder(case, inputs, suffix, arguments):
    target = "folder" + suffix
    (case.folder / target).mkdir()
    refused(case, inputs, arguments(target), target)


def full_device(case, inputs, suffix, arguments):
    target = "full" + suffix
    os.symlink("/dev/full", case.folder / target)
    refused(case, inputs, arguments(target), target)


def link_to_nowhere(case, inputs, suffix, arguments):
    target = "dangling" + suffix
    os.symlink("absent/out" + suffix, case.folder / target)
    refused_or_replaced(case, inputs, arguments(target), target)


def link_to_itself(case, inputs, suffix, arguments):
    target = "loop" + suffix
    os.symlink(target, case.folder / target)
    refused_or_replaced(case, inputs, arguments(target), target)


def refused_or_replaced(case, inputs, command, target):
    """A link that leads nowhere may be taken for a file that is not there."""
    before = contents(case, inputs)
    ran = case.run(*command, codes=(OK, USAGE, INPUT, BROKEN))
    case.require(contents(case, inputs) == before, f"an input was changed: {ran.command}")
    if ran.code == OK:
        case.require((case.folder / target).is_file(), f"exit code 0, and there is no file: {ran.command}")
    else:
        case.require("lanky: " in ran.err, f"no error of lanky: {ran.command}: {ran.err[-300:]!r}")


def long_name(case, inputs, suffix, arguments):
    target = "x" * 300 + suffix
    refused(case, inputs, arguments(target), target)


def read_only_folder(case, inputs, suffix, arguments):
    """As a user who may not write there."""
    if os.getuid() != 0:
        (case.folder / "closed").mkdir(mode=0o555)
        refused(case, inputs, arguments("closed/out" + suffix), "closed/out" + suffix)
        return
    for path in (case.folder, *case.folder.parents):
        if not path.stat().st_mode & 0o001:
            case.attack += ": not reached"
            return
    refused(case, inputs, arguments("out" + suffix), "out" + suffix, user=NOBODY)


def full_disk(case, inputs, suffix, arguments):
    """What was there before stays as it is, and nothing is left beside it."""
    target = "out" + suffix
    room = case.random.choice((1, 100, 4096))
    command = arguments(target)
    if command[0] == "batch":
        return full_disk_of_lines(case, command, target)
    probe = case.run(*arguments("probe" + suffix), codes=(OK,))
    size = case.size("probe" + suffix)
    case.require(size > 0, f"nothing was written: {probe.command}")
    (case.folder / ("probe" + suffix)).unlink()
    was_there = case.random.random() < 0.5 and case.supports(command[0], "--force")
    if was_there:
        case.attack += ", over another file"
        case.write(target, OLD)
        command += ("--force",)
    refused(case, inputs, command, target, file_size=max(1, min(room, size - 1)), piped=True)
    case.require(not was_there or case.read(target) == OLD, f"{target} is not what it was before")


def there_already(case, inputs, suffix, arguments):
    """Another file stays what it is, unless --force is given. A batch appends to results alone."""
    target = "out" + suffix
    case.write(target, OLD)
    command = arguments(target)
    ran = case.run(*command, codes=(USAGE, INPUT))
    case.require(case.read(target) == OLD, f"{target} was replaced: {ran.command}")
    case.require(target in ran.err, f"the error does not name {target}: {ran.err[-300:]!r}")
    if command[0] != "batch":
        case.run(*command, "--force", codes=(OK,))
        case.require(case.read(target) != OLD, f"{target} was not replaced by --force")


def full_disk_of_lines(case, command, target):
    """The results of a batch grow line by line: whole ones stay."""
    ran = case.run(*command, codes=(INPUT,), file_size=case.random.choice((1, 500, 1000)), piped=True)
    data = case.read(target) if case.exists(target) else b""
    case.require(not data or data.endswith(b"}\n"), f"half a line is left: {data[-80:]!r}")
    case.require(target in ran.err, f"the error does not name {target}: {ran.err[-300:]!r}")


def pipe(case, inputs, suffix, arguments):
    """Somebody reads it: all of the output, or an error."""
    target = "pipe" + suffix
    os.mkfifo(case.folder / target)
    read = []

    def drain():
        with open(case.folder / target, "rb") as file:
            read.append(file.read())

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    before = contents(case, inputs)
    try:
        ran = case.run(*arguments(target), codes=(OK, USAGE, INPUT, BROKEN))
    finally:
        try:  # a reader whom nobody has written to waits for somebody to open the pipe
            os.close(os.open(case.folder / target, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            pass  # nobody reads any more
        reader.join(5)
    case.require(contents(case, inputs) == before, f"an input was changed: {ran.command}")
    case.require(ran.code != OK or (read and len(read[0]) > 100), f"exit code 0, and nothing came: {ran.command}")
    case.require(ran.code == OK or "lanky: " in ran.err, f"no error of lanky: {ran.command}: {ran.err[-300:]!r}")


WAYS = (is_an_input, is_an_input, there_already, missing_folder, file_as_folder, folder, full_device, link_to_nowhere,
        link_to_itself, long_name, read_only_folder, full_disk, full_disk, pipe)
