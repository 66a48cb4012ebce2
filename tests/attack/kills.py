"""Signals at random moments: a batch loses at most the matrix at work and is completed by --resume, a worker's death
costs one matrix, files are old or new but never half, and a download goes on to the right bytes."""

import gzip
import os
import signal
import struct
import subprocess
import time

from case import BROKEN, FAILED, INPUT, MIB, OK, ROOT
from results import lines_of, matrix_file, status_by_source, whole_part
from served import Offer

SHARE = 2  # of the time

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SECONDS_TO_END = 3  # the promise is one second; the machine may be busy
RESULTS = ROOT / "bench/results"


def attack(case):
    attacks = [batch, batch, batch, worker, two_batches, child_of_a_contestant, convert, report, merge]
    if (case.bin / "liblanky_download.so").exists():
        attacks.append(fetch)
    case.random.choice(attacks)(case)


def kill_after(case, process, seconds, number):
    """Sends the signal, unless the program has ended before: then it must have ended well, and False is returned. It must
    end soon, by the signal or as it would have ended anyway."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    else:
        case.judge(case.finish(process, 20), (OK,))
        return False
    begin = time.monotonic()
    ran = case.finish(process, 20)
    if number != signal.SIGKILL:
        took = time.monotonic() - begin
        case.require(took < SECONDS_TO_END * case.patience, f"ended {took:.1f} s after signal {number}: {ran.command}")
    codes = (-number, 128 + number, OK, FAILED)
    case.require(ran.code in codes, f"exit code {ran.code} after signal {number}: {ran.command}")
    return True


def batch(case):
    """A batch that is killed up to six times, and completed."""
    sources = [case.write(f"rows{rows}.mtx", matrix_file(rows)) for rows in case.random.sample(range(4, 60), 3)]
    sources += [f"stencil5:{side}" for side in case.random.sample(range(4, 40), case.random.randrange(1, 4))]
    case.random.shuffle(sources)
    command = ("batch", "--device", "cpu", "--quick", "--no-vendor", "--resume", "--json", "results.jsonl", *sources)
    kills = [(case.random.uniform(0, 0.7), case.random.choice(SIGNALS)) for _ in range(case.random.randrange(1, 7))]
    case.attack = "batch, " + ("one signal" if len(kills) == 1 else "several signals")
    known = b""
    for seconds, number in kills:
        if not kill_after(case, case.start(*command), seconds, number):
            break
        case.require_no_survivors()
        known = grown(case, known)
        lines_of(case, "results.jsonl", may_be_torn=number == signal.SIGKILL)
    case.run(*command, codes=(OK,), seconds=40)
    grown(case, known)
    ended = status_by_source(case, lines_of(case, "results.jsonl"))
    case.require(ended == dict.fromkeys(sources, "ok"), f"at the end there are {ended}")
    case.run(*command, codes=(OK,))
    case.require(len(status_by_source(case, lines_of(case, "results.jsonl"))) == len(sources), "measured again")


def grown(case, known):
    """The whole lines of the results, which begin with those that were known before, to the byte."""
    now = whole_part(case, "results.jsonl")
    case.require(now.startswith(known), "results that were finished have changed")
    return now


def worker(case):
    """A worker is killed, not the batch: one matrix is lost, and --retry measures it."""
    case.attack = "worker"
    sources = [f"stencil5:{side}" for side in case.random.sample(range(4, 40), 3)]
    seconds, number = case.random.uniform(0.02, 0.5), case.random.choice((*SIGNALS, signal.SIGSEGV))
    command = ("batch", "--device", "cpu", "--quick", "--no-vendor", "--resume", "--json", "results.jsonl", *sources)
    process = case.start(*command)
    time.sleep(seconds)
    for child in case.processes():
        if child != process.pid and parent_of(child) == process.pid:
            os.kill(child, number)
    ran = case.finish(process, 30)
    # Before the first matrix there is only the worker that tells of the machine, whose end is an error.
    case.judge(ran, (OK, FAILED, BROKEN))
    if ran.code != BROKEN:
        ended = status_by_source(case, lines_of(case, "results.jsonl"))
        lost = [source for source in sources if ended.get(source) != "ok"]
        case.require(len(lost) == (ran.code == FAILED) and all(ended[source] == "crash" for source in lost),
                     f"one worker was killed, exit code {ran.code}, and there are {ended}")
    case.run(*command, "--retry", codes=(OK,), seconds=30)
    final = {line["source"]: line["status"] for line in lines_of(case, "results.jsonl") if line["kind"] == "matrix"}
    case.require(final == dict.fromkeys(sources, "ok"), f"after --retry there are {final}")


def two_batches(case):
    """Two batches begin with the same file of results. One of them may be refused; both write no line twice."""
    case.attack = "two batches"
    sources = [f"stencil5:{side}" for side in case.random.sample(range(4, 40), 2)]
    command = ("batch", "--device", "cpu", "--quick", "--no-vendor", "--resume", "--json", "results.jsonl", *sources)
    first = case.start(*command)
    time.sleep(case.random.choice((0, 0.05, 0.3)))
    second = case.start(*command)
    ended = [case.finish(process, 30) for process in (first, second)]
    for ran in ended:
        case.judge(ran, (OK, INPUT))
    case.require(OK in (ended[0].code, ended[1].code), "both batches were refused")
    found = status_by_source(case, lines_of(case, "results.jsonl"))
    case.require(found == dict.fromkeys(sources, "ok"), f"there are {found}")


def child_of_a_contestant(case):
    """A contestant has started a process and hangs. Whatever ends the batch ends both."""
    case.attack = "child of a contestant"
    case.write("hostile.mtx", matrix_file(66))
    number = case.random.choice(SIGNALS)
    process = case.start("batch", "--device", "cpu", "--quick", "--no-vendor", "--json", "results.jsonl", "hostile.mtx",
                         "--peer", case.bin / "libhostile_peer.so",
                         environment={"LANKY_HOSTILE": "setup child-and-hang", "LANKY_HOSTILE_MARK": "mark"})
    deadline = time.monotonic() + 10 * case.patience
    while not case.exists("mark"):
        case.require(process.poll() is None and time.monotonic() < deadline, "the batch never came to the contestant")
        time.sleep(0.01)
    case.require(kill_after(case, process, 0.1, number), "the batch did not wait for the contestant")
    case.require_no_survivors()


def parent_of(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def old_or_new(case, command, target, last_words):
    """Kills a command that writes a file. The file is then the old one, or the new one, whole."""
    case.run(*command, codes=(OK,))
    new = unpacked(case, target)
    case.require(new.endswith(last_words), f"{target} does not end as it should: {new[-80:]!r}")
    took = 0.5
    force = ("--force",) if case.supports(command[0], "--force") else ()
    old = case.random.choice((None, b"an old file\n"))
    for _ in range(4):
        if old is None:
            (case.folder / target).unlink(missing_ok=True)
        else:
            case.write(target, old)
        number = case.random.choice(SIGNALS)
        begin = time.monotonic()
        if not kill_after(case, case.start(*command, *force), case.random.uniform(0, took), number):
            took = time.monotonic() - begin
        now = unpacked(case, target) if case.exists(target) else None
        case.require(now in (old, new), f"after signal {number} {target} is neither the old file nor the new one: "
                                        f"{command[0]} left {len(now or b'')} bytes of {len(new)}")
    case.write(target, b"an old file\n")
    case.run(*command, *force, codes=(OK,))
    case.require(unpacked(case, target) == new, f"{target} is another one afterwards")


def unpacked(case, target):
    """The content of a file; gzip's header holds the time, so that files of one content differ."""
    data = case.read(target)
    try:
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except (EOFError, OSError):
        return data


def convert(case):
    case.attack = "convert"
    rows = 60000
    text = "".join(f"{i} {i * 7919 % rows + 1} {i}.5\n" for i in range(1, rows + 1))
    case.write("in.mtx", f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {rows}\n{text}")
    target = case.random.choice(("out.mtx", "out.lanky", "out.mtx.gz"))
    last_value = struct.pack("<d", rows + 0.5) if target == "out.lanky" else f" {rows}.5\n".encode()
    old_or_new(case, ("convert", "in.mtx", target), target, last_value)


def report(case):
    case.attack = "report"
    case.write("in.jsonl", (RESULTS / "h200/spmv_core.jsonl").read_bytes()[: 1 * MIB].rsplit(b"\n", 1)[0] + b"\n")
    old_or_new(case, ("report", "in.jsonl", "-o", "out.html"), "out.html", b"</html>\n")


def merge(case):
    case.attack = "merge"
    lines = (RESULTS / "h200/gemm_gram.jsonl").read_bytes().splitlines(keepends=True)
    case.write("a.jsonl", b"".join(lines[:800]))
    case.write("b.jsonl", b"".join(lines[:1] + lines[800:]))
    old_or_new(case, ("merge", "a.jsonl", "b.jsonl", "-o", "out.jsonl"), "out.jsonl", b"}\n")


def fetch(case):
    """Archives come slowly, and the program is killed meanwhile. Another one completes them."""
    case.attack = "fetch"
    with Offer(case) as offer:
        for path in offer.paths():
            offer.server.faults[path] = [offer.slowly(0.02)] * 6
        for _ in range(case.random.randrange(1, 5)):
            number = case.random.choice(SIGNALS)
            kill_after(case, offer.start(), case.random.uniform(0, 0.4), number)
            offer.judge_cache()
        offer.server.faults.clear()
        offer.complete()


