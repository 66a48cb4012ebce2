"""Contestants that crash, hang, flood, forge, change the process or compute wrongly (tests/peer/hostile_peer.cpp):
they cost the matrix that they do it on, in time, and nobody who is wrong has a time."""

import functools
import random
import re

from case import BROKEN, FAILED, INPUT, MIB, OK, ROOT
from results import lines_of, matrix_file, status_by_source

SHARE = 2  # of the time

TIMEOUT = 4  # seconds that a matrix may take
HOSTILE_ROWS = 66
FUNCTIONS = ("setup", "run", "teardown")
WHILE_LOADED = ("name", "version")
ERRORS = ("nothing", "late", "half", "beyond", "before", "nan", "infinity", "slightly", "every", "zero-x",
          "zero-matrix")
# Errors that do not make y wrong: it is the memory around y that is written to.
BESIDE_Y = ("beyond", "before")
STATUSES = ("ok", "wrong", "oom", "timeout", "crash")
DEEDS = re.findall(r'^\s+\{"([\w-]+)",', (ROOT / "tests/peer/deeds.hpp").read_text(), re.MULTILINE)
END_THE_PARENT = {"end-parent": 143, "interrupt-parent": 130, "kill-parent": -9}


# What a contestant's own end says on standard error is not lanky's.
RAW_OF_LANKY = re.compile(r"defect of lanky|json\.exception")


@functools.cache
def orders(seed):
    """All that contestants can be told to do, in an order of the seed's; what is subtle comes more often."""
    every = [(function, deed) for function in FUNCTIONS for deed in DEEDS] + [("run", error) for error in ERRORS] * 4
    every += [(function, deed) for function in WHILE_LOADED for deed in DEEDS[::3]]
    random.Random(seed).shuffle(every)
    return every


def attack(case):
    every = orders(case.seed)
    function, deed = every[case.number % len(every)]
    if function in WHILE_LOADED:
        return while_it_is_loaded(case, function, deed)
    calls = case.random.choice((0, 0, 1, 3, 20, 200, 2000)) if function == "run" else 0
    case.attack = f"{function} {deed}"
    sources = [case.write(f"{name}.mtx", matrix_file(rows)) for name, rows in (("first", 20), ("second", 21))]
    sources.insert(case.random.randrange(3), case.write("hostile.mtx", matrix_file(HOSTILE_ROWS)))
    ran, lines = batch(case, sources, f"{function} {deed} {calls}", deed)
    if case.exists("mark") and deed in END_THE_PARENT:
        return take_up(case, sources, ran)
    case.attack += "" if case.exists("mark") else ", not reached"
    case.judge(ran, (OK, FAILED), raw=RAW_OF_LANKY)
    ended = status_by_source(case, lines)
    for source in sources:
        case.require(source in ended, f"{source} has no final line")
        allowed = STATUSES if source == "hostile.mtx" else ("ok",)
        case.require(ended[source] in allowed, f"{source} ended as {ended[source]}, not of {allowed}")
    failed = any(status != "ok" for status in ended.values()) or is_wrong(lines)
    case.require(failed == (ran.code == FAILED), f"exit code {ran.code}, where matrices ended as {ended}")
    judge_times(case, lines, deed)


def batch(case, sources, order, deed):
    """A whole batch with the hostile contestant, and the lines that it wrote."""
    process = case.start("batch", "--device", "cpu", "--quick", "--no-vendor", "--resume", "--json", "results.jsonl",
                         "--timeout", TIMEOUT, "--memory", "600M", "--peer", case.bin / "libhostile_peer.so", *sources,
                         file_size=64 * MIB,
                         environment={"LANKY_HOSTILE": order, "LANKY_HOSTILE_MARK": case.folder / "mark"})
    ran = case.finish(process, 2 * TIMEOUT + 16)
    case.require_no_survivors()
    return ran, lines_of(case, "results.jsonl", may_be_torn=deed == "kill-parent")


def is_wrong(lines):
    return any(line["kind"] == "spmv" and line["status"] not in ("ok", "unsupported") for line in lines)


def judge_times(case, lines, deed):
    """Only who is right has a time. Beside the hostile matrix the contestant was right."""
    for line in lines:
        if line["kind"] != "spmv" or line["contestant"] != "hostile":
            continue
        hostile = line["source"] == "hostile.mtx"
        timed = any(line.get(time) is not None for time in ("warm_us", "graph_us", "cold_us"))
        case.require(timed == (line["status"] == "ok"), f"status and time do not fit: {line}")
        if not hostile:
            case.require(line["status"] == "ok", f"a right product is {line['status']}: {line}")
        elif deed in ERRORS and deed not in BESIDE_Y and case.exists("mark"):
            case.require(line["status"] != "ok", f"a wrong product ({deed}) has a time: {line}")


def take_up(case, sources, ran):
    """The batch was ended from within. Its end is that of a signal, and the same command completes it."""
    deed = case.attack.split()[1]
    case.require(ran.code in (END_THE_PARENT[deed], OK, FAILED), f"exit code {ran.code} after {deed}: {ran.err[-300:]}")
    again, lines = batch(case, sources, "", "")
    case.judge(again, (OK, FAILED), raw=RAW_OF_LANKY)
    ended = status_by_source(case, lines)
    case.require(set(ended) == set(sources), f"after --resume there are {ended}")


def while_it_is_loaded(case, function, deed):
    """No matrix is there yet to be lost: one error, or a batch as always."""
    case.attack = f"{function} {deed}"
    source = case.write("first.mtx", matrix_file(20))
    ran, lines = batch(case, [source], f"{function} {deed}", deed)
    if deed in END_THE_PARENT:
        codes = (END_THE_PARENT[deed],)
    else:
        codes = (OK, FAILED, INPUT, BROKEN)
    case.require(ran.code in codes, f"exit code {ran.code}, not of {codes}: {ran.err[-400:]}")
    if ran.code in (OK, FAILED):
        case.require(set(status_by_source(case, lines)) == {source}, "no final line")
    elif ran.code > 0:
        case.require("lanky: " in ran.err, f"no error of lanky: {ran.err[-300:]!r}")
