"""The C interface's promises that no compiler checks: each function of lanky.h is called by the tests and defined once in
src/capi, and docs/c_api.md shows the programs of examples/c as they are. Prints every fault."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FUNCTION = re.compile(r"^LANKY_API [^;]*?\b(lanky_\w+)\(", re.MULTILINE)


def text_of(folder: str, *endings: str) -> str:
    return "\n".join(p.read_text() for p in sorted((ROOT / folder).iterdir()) if p.suffix in endings)


def main() -> int:
    functions = FUNCTION.findall((ROOT / "include/lanky/lanky.h").read_text())
    tests, library = text_of("tests/capi", ".c"), text_of("src/capi", ".cpp")
    problems = [] if len(functions) > 100 else [f"lanky.h: only {len(functions)} functions were found"]
    for name in functions:
        called = re.search(rf"\b{name}\(", tests)
        if name.endswith("_init"):  # called by a macro of types_test.c
            called = f"CHECK_INIT({name.removesuffix('_init')})" in tests
        if not called:
            problems.append(f"tests/capi: {name}() is not called")
        if len(re.findall(rf"^[\w ]+[ *]+{name}\(", library, re.MULTILINE)) != 1:
            problems.append(f"src/capi: {name}() is not defined once")
    guide = (ROOT / "docs/c_api.md").read_text()
    for example in sorted((ROOT / "examples/c").glob("*.c")):
        if example.read_text() not in guide:
            problems.append(f"docs/c_api.md: it does not show examples/c/{example.name} as it is")
    for name in set(re.findall(r"\blanky_\w+(?=\()", guide)) - set(functions):
        if not name.endswith("_X_init") and not name.endswith("_X_destroy"):
            problems.append(f"docs/c_api.md: there is no {name}()")
    print("\n".join(problems) or f"{len(functions)} functions are tested")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
