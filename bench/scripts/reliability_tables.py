"""The tables of docs/reliability.md: how much was tried of each promise, and what failed of that.

A row says itself where its figures are from, by a comment at the beginning of its third cell:

    | promise | how it is tested | <!-- spmv* spmm* bench/results/cpu/attack.txt --> 31,052 cases | 0 | what remains |

KIND is reliability:PART. A pattern, in which ? also stands for a blank, takes the lines of kind `reliability` and of PART whose check
matches; a line counts in the first row that takes it. A path is a text that a test program printed. The third and the fourth cell are
written anew, the others stay. A line of PART that no row takes is an error, so that nothing that was tried can be left out.
"""

import collections
import fnmatch
import glob
import json
import math
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
    """What was tried of a promise: counts by unit and device, failures, what was left out, the worst share of a bound."""

    def __init__(self):
        self.tried = collections.Counter()
        self.covered = collections.Counter()
        self.failed = self.skipped = 0
        self.worst = None
        self.cpu_seconds = 0.0

    def add(self, line, device):
        if "covered" in line:  # of lines of a source: what tests reach
            self.covered.update({"run": line["covered"], "all": line["tried"]})
        else:
            self.tried[line["unit"], device] += line["tried"]
        self.failed += line["failed"]
        self.skipped += line.get("skipped", 0)
        self.cpu_seconds += line.get("cpu_seconds", 0.0)
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
        if not self.tried and not self.covered:
            return [UNMEASURED, ""]
        parts = [
            f"{count:,} {'process' if (count, unit) == (1, 'processes') else unit}" + (f" on {device}" if device else "")
            for (unit, device), count in self.tried.items()
        ]
        if self.cpu_seconds:
            parts.append(f"{self.cpu_seconds / 3600:.1f} CPU hours")
        if self.covered:
            parts.append(f"{self.covered['run'] / self.covered['all']:.0%} of {self.covered['all']:,} lines reached")
        if self.worst is not None:
            parts.append(f"at worst {math.floor(1000 * self.worst) / 1000:.3f} of the bound")  # what is below 1 is not called 1
        if self.skipped:
            parts.append(f"{self.skipped:,} not tried")
        return ["; ".join(parts), f"**{self.failed:,}**" if self.failed else "0"]


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


def is_text(key):
    return key.endswith(".txt")


def folder_device(path):
    """The device that a text was printed on, by its folder."""
    folder = pathlib.PurePath(path).parent.name
    several = re.fullmatch(r"(\w*\d)x(\d+)", folder)  # h200x2: two of them
    if several:
        return f"{several[2]} {several[1].upper()}"
    return "the CPU" if folder == "cpu" else f"an {folder.upper()}"


def run_of(env):
    return f"{env.get('gpu') or env.get('cpu') or 'CPU'}, commit {', '.join(commits([env]))}, {env['utc'][:10]}"


def table(kind, name, body):
    """The rows of `body` with their third and fourth cell from the files."""
    part = kind.partition(":")[2]
    if part not in PARTS:
        raise ResultsError(f"unknown table {kind}; use reliability:PART of {', '.join(PARTS)}")
    lines = [(path, env, line) for path, env, line in results(name) if line["part"] == part]
    files, text = {}, ""
    for row in body.strip().splitlines():
        cells = [cell.strip() for cell in row.strip().strip("|").split(" | ")]
        if not row.startswith("|"):
            continue  # the line of files, which is written anew
        if row.startswith(("| promise", "| ---")):
            text += row + "\n"
            continue
        keys = SHOWN.match(cells[2]) if len(cells) == COLUMNS else None
        if keys is None:
            raise ResultsError(f"no row of {COLUMNS} cells, the third with its patterns: {row}")
        trials, left = Trials(), []
        for key in filter(is_text, keys[1].split()):
            if not (ROOT / key).is_file():
                raise ResultsError(f"{key} does not exist")
            trials.add_text((ROOT / key).read_text(encoding="utf-8"), folder_device(key))
            files[ROOT / key] = None
        for path, env, line in lines:
            if any(fnmatch.fnmatchcase(line["check"], key) for key in keys[1].split()):
                trials.add(line, device_of(line, env))
                files[path] = env
            else:
                left.append((path, env, line))
        lines = left
        cells[2:4] = [f"{keys[0]} {trials.cells()[0]}", trials.cells()[1]]
        text += "| " + " | ".join(cells) + " |\n"
    if lines:
        raise ResultsError(f"no row of the table of {part} shows {', '.join(sorted({line['check'] for _, _, line in lines}))}")
    sources = [f"`{relative(path)}`" + (f" ({run_of(env)})" if env else "") for path, env in sorted(files.items())]
    return "\n" + text + (f"\nFrom {', '.join(sources)}.\n" if sources else "") + "\n"
