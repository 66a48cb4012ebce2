"""The tables of docs/reliability.md: how much was tried of each promise, and what failed of that.

A row says itself where its figures are from, by a comment at the beginning of its third cell:

    | promise | how it is tested | <!-- numbers/spmv* bench/results/cpu/attack.txt --> 31,052 cases | 0 | what remains |

PART/PATTERN are lines of kind `reliability` whose part is PART and whose check matches the pattern; a path is a text that a
test program printed. The third and the fourth cell are written anew, the others stay. KIND is reliability:PART: a line of PART
that no row of the table shows is an error, so that nothing that was tried can be left out.
"""

import collections
import fnmatch
import glob
import json
import pathlib
import re

from jsonl import ROOT, ResultsError, commits, relative, text_of

PARTS = ("numbers", "faults", "endurance", "files", "supply", "release")
COLUMNS = 5
UNMEASURED = "not yet measured"
SHOWN = re.compile(r"<!-- (.+?) -->")
# What test programs print at their end: patterns of how many there were, and of how many failed beside these (True) or among them.
PRINTED = (
    ("cases", r"^all +(\d+) +\d+$", r"^all +\d+ +(\d+)$", False),  # tests/attack
    ("tests", r"^\[  PASSED  \] (\d+) tests?\.", r"^ *(\d+) FAILED TESTS?$", True),  # GoogleTest
    ("tests", r"^(?:\d+ failed, )?(\d+) passed", r"^(\d+) failed", True),  # pytest
    ("checks", r": (\d+) checks on \d+ ranks", r": \d+ checks on \d+ ranks, (\d+) failed", False),  # petsc/tests
    ("inputs", r"Done (\d+) runs in", r"^dev: fuzzing failed: (\w+)", False),  # libFuzzer
)


class Trials:
    """What was tried of a promise: counts by unit and device, failures, the worst share of a bound."""

    def __init__(self):
        self.tried = collections.Counter()
        self.failed = 0
        self.worst = None
        self.seconds = 0.0

    def add(self, line, device):
        self.tried[line["unit"], device] += line["tried"]
        self.failed += line["failed"]
        self.seconds += line.get("seconds") or 0.0
        if line.get("worst") is not None:
            self.worst = max(self.worst or 0.0, line["worst"])

    def add_text(self, text, device):
        for unit, counted, failed, beside in PRINTED:
            count = sum(map(int, re.findall(counted, text, re.MULTILINE)))
            failures = sum(int(each) if each.isdigit() else 1 for each in re.findall(failed, text, re.MULTILINE))
            if count or failures:
                self.tried[unit, device] += count + (failures if beside else 0)
                self.failed += failures

    def cells(self):
        if not self.tried:
            return [UNMEASURED, ""]
        text = ", ".join(f"{count:,} {unit}" + (f" on {device}" if device else "")
                         for (unit, device), count in self.tried.items())
        if self.seconds >= 3600:
            text += f"; {self.seconds / 3600:.1f} h"
        if self.worst is not None:
            text += f"; worst error {self.worst:.2f} of its bound"
        return [text, f"**{self.failed:,}**" if self.failed else "0"]


def device_of(line, env):
    """"an H200", "the CPU", or nothing for what has no device."""
    device = line.get("device") or ""
    if device.startswith("cuda"):
        return "an " + (env.get("gpu") or "NVIDIA GPU").removeprefix("NVIDIA ")
    return "the CPU" if device == "cpu" else device


def results(name):
    """(path, env, line) of every line of the files, whose form is checked; none where there is no file yet."""
    for path in sorted(pathlib.Path(p) for p in glob.glob(str(ROOT / name))):
        env = None
        for number, text in enumerate(text_of(path).splitlines(), 1):
            where = f"{relative(path)}:{number}"
            line = json.loads(text)
            if line["kind"] == "env":
                env = line
                continue
            if line["kind"] != "reliability":
                continue
            if env is None:
                raise ResultsError(f"{where}: no env line is before it")
            absent = [key for key in ("part", "check", "tried", "unit", "failed") if key not in line]
            if absent or line.get("part") not in PARTS or line["tried"] <= 0:
                raise ResultsError(f"{where}: no result of a part of {', '.join(PARTS)}: {text}")
            yield path, env, line


def shows(key, line):
    part, _, pattern = key.partition("/")
    return part == line["part"] and fnmatch.fnmatchcase(line["check"], pattern)


def is_text(key):
    return key.partition("/")[0] not in PARTS


def folder_device(path):
    """The device that a text was printed on, by its folder."""
    folder = pathlib.PurePath(path).parent.name
    return "the CPU" if folder == "cpu" else f"an {folder.upper()}"


def run_of(env):
    return f"{env.get('gpu') or env.get('cpu') or 'CPU'}, commit {', '.join(commits([env]))}, {env['utc'][:10]}"


def table(kind, name, body):
    """The rows of `body` with their third and fourth cell from the files."""
    part = kind.partition(":")[2]
    if part not in PARTS:
        raise ResultsError(f"unknown table {kind}; use reliability:PART of {', '.join(PARTS)}")
    lines = list(results(name))
    shown, files, text = set(), {}, ""
    for row in body.strip().splitlines():
        cells = [cell.strip() for cell in row.strip().strip("|").split(" | ")]
        if not row.startswith("|"):
            continue  # the line of files, which is written anew
        if row.startswith(("| promise", "| ---")):
            text += row + "\n"
            continue
        keys = SHOWN.match(cells[2]) if len(cells) == COLUMNS else None
        if keys is None:
            raise ResultsError(f"no row of {COLUMNS} cells, the third with its keys: {row}")
        trials = Trials()
        for key in keys[1].split():
            if is_text(key):
                if not (ROOT / key).is_file():
                    raise ResultsError(f"{key} does not exist")
                trials.add_text((ROOT / key).read_text(encoding="utf-8"), folder_device(key))
                files[ROOT / key] = None
                continue
            for number, (path, env, line) in enumerate(lines):
                if shows(key, line):
                    trials.add(line, device_of(line, env))
                    shown.add(number)
                    files[path] = env
        cells[2:4] = [f"{keys[0]} {trials.cells()[0]}", trials.cells()[1]]
        text += "| " + " | ".join(cells) + " |\n"
    left_out = sorted({f"{line['part']}/{line['check']}" for number, (_, _, line) in enumerate(lines)
                       if line["part"] == part and number not in shown})
    if left_out:
        raise ResultsError(f"no row of the table of {part} shows {', '.join(left_out)}")
    sources = [f"`{relative(path)}`" + (f" ({run_of(env)})" if env else "") for path, env in sorted(files.items())]
    return "\n" + text + (f"\nFrom {', '.join(sources)}.\n" if sources else "") + "\n"
