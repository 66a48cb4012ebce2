"""Compares what a program prints of its choices with a golden file: check.py PROGRAM FILE.xz [--renew].

Each line names an input and then, behind " | ", what is chosen for it. A pure restructuring leaves all lines
equal; a step that changes choices is measured, and renews the file (--renew) with the reason in its commit.
"""

import argparse
import lzma
import pathlib
import re
import subprocess
import sys
from collections import Counter

EXAMPLES = 8
FIELD = re.compile(r"(\w+)=(\S+)")


def changed_fields(before: str, after: str) -> list[str]:
    """Names of the fields of a line whose values are not the same."""
    old, new = FIELD.findall(before), FIELD.findall(after)
    names = {name for name, _ in old + new}
    values = lambda fields, name: [v for n, v in fields if n == name]
    return sorted(n for n in names if values(old, n) != values(new, n)) or ["(kernel or kind of run)"]


def differences(before: list[str], after: list[str]) -> list[str]:
    """What a reader wants to know of two dumps that are not equal; empty where they are."""
    if before == after:
        return []
    old = dict(line.split(" | ", 1) for line in before)
    new = dict(line.split(" | ", 1) for line in after)
    changed = [name for name in old if name in new and old[name] != new[name]]
    fields = Counter(field for name in changed for field in changed_fields(old[name], new[name]))
    text = [f"{len(before)} lines before, {len(after)} now; {len(changed)} changed, "
            f"{len(old.keys() - new.keys())} gone, {len(new.keys() - old.keys())} new"]
    text += [f"  {count} times {field}" for field, count in fields.most_common()]
    for name in changed[:: max(1, len(changed) // EXAMPLES)][:EXAMPLES]:
        text += [name, f"  - {old[name]}", f"  + {new[name]}"]
    return text


def self_test() -> None:
    """The check must be able to fail."""
    line = "f64 1x1x1 | 00000001 gram1 tile=2"
    assert not differences([line], [line])
    assert any("1 times tile" in t for t in differences([line], [line.replace("tile=2", "tile=3")]))
    assert differences([line], []) and differences([], [line])


def main() -> None:
    self_test()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("golden", type=pathlib.Path)
    parser.add_argument("--renew", action="store_true", help="write the file anew")
    options = parser.parse_args()
    after = subprocess.run([options.program], check=True, capture_output=True, text=True).stdout
    if options.renew:
        options.golden.parent.mkdir(parents=True, exist_ok=True)
        options.golden.write_bytes(lzma.compress(after.encode(), preset=9 | lzma.PRESET_EXTREME))
    before = lzma.decompress(options.golden.read_bytes()).decode()
    found = differences(before.splitlines(), after.splitlines())
    print("\n".join(found) or f"{len(after.splitlines())} choices are as they were")
    sys.exit(1 if found or not after else 0)


if __name__ == "__main__":
    main()
