"""Each promise of docs/batch.md names tests that hold it: prints every name that is no test."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", re.MULTILINE)


def main():
    known = set()
    for source in (ROOT / "tests").glob("*.cpp"):
        known |= {f"{suite}.{name}" for suite, name in TEST.findall(source.read_text())}
    section = (ROOT / "docs/batch.md").read_text().split("## Promises", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    problems = [] if len(rows) > 10 else ["docs/batch.md: its table of promises is not found"]
    for row in rows:
        names = re.findall(r"`(\w+\.\w+)`", row.rsplit("|", 2)[1])
        problems += [f"docs/batch.md: no test is named by: {row}"] if not names else []
        problems += [f"docs/batch.md: {name} is no test" for name in names if name not in known]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
