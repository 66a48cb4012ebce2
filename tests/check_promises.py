"""Promises name what holds them: prints what a page names and the repository lacks.

Each row of docs/batch.md's promises names a test. The pages of PAGES name tests (`Suite.Name`), paths (`bench/scripts/plots.py`,
`dense/cuda/FAMILY/`), commands (`./dev test`) and pages to which they link; Sphinx sees links of docs/ alone. Blocks of code of all
pages are such as packaging/try_release.py runs, or say why not.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging"))
import try_release  # noqa: E402

TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", re.MULTILINE)
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "python/README.md", "docs/reliability.md", "docs/releasing.md",
         ".github/pull_request_template.md")
MADE = ("build/", "CMakeFiles/", "OUT/", "lib/", "share/")  # what a build, a run or an installation makes, not a file of the repository
CODE = re.compile(r"`([^`\n]+)`")
NAMED = re.compile(r"^[A-Z]\w+\.[A-Z]\w+$")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
COMMAND = re.compile(r"\./dev ([a-z][\w-]*)")
PATH = re.compile(r"^(?:\./)?[\w.*-]+(?:/[\w.*{},-]*)+$")


def tests():
    known = set()
    for source in (ROOT / "tests").rglob("*.cpp"):
        known |= {f"{suite}.{name}" for suite, name in TEST.findall(source.read_text())}
    return known


def alternatives(path):
    """The paths that `a/{b,c}` stands for; a word in capitals stands for any name."""
    braces = re.search(r"\{([^{}]*)\}", path)
    if braces:
        return [each for word in braces[1].split(",") for each in alternatives(path[:braces.start()] + word + path[braces.end():])]
    return ["/".join("*" if re.fullmatch(r"[A-Z]{2,}", part) else part for part in path.split("/"))]


def problems_of(page, known):
    commands = re.findall(r"^\./dev ([\w-]+)", (ROOT / "dev").read_text(), re.MULTILINE)  # of its usage
    for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        yield from (f"{page}:{number}: there is no ./dev {word}" for word in COMMAND.findall(line) if word not in commands)
        yield from (f"{page}:{number}: there is no {path} to link to" for path in LINK.findall(line)
                    if not (ROOT / page).parent.joinpath(path).exists())
        for code in CODE.findall(re.sub(r"<!--.*?-->", "", line)):
            if NAMED.match(code) and code not in known:
                yield f"{page}:{number}: {code} is no test"
            for word in code.split():
                if PATH.match(word) and not word.startswith(MADE):
                    for path in alternatives(word.removeprefix("./")):
                        if not any(any(folder.glob(path.rstrip("/"))) for folder in (ROOT, ROOT / "include")):
                            yield f"{page}:{number}: there is no {path}"


def main():
    known = tests()
    section = (ROOT / "docs/batch.md").read_text().split("## Promises", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    problems = [] if len(rows) > 10 else ["docs/batch.md: its table of promises is not found"]
    for row in rows:
        names = re.findall(r"`(\w+\.\w+)`", row.rsplit("|", 2)[1])
        problems += [f"docs/batch.md: no test is named by: {row}"] if not names else []
        problems += [f"docs/batch.md: {name} is no test" for name in names if name not in known]
    try:
        list(try_release.blocks_of(ROOT))
    except ValueError as error:
        problems.append(str(error))
    for page in PAGES:
        problems += problems_of(page, known)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
