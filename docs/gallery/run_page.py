"""Runs a page of the gallery, a script of `# %%` cells, as a program.

    run_page.py PAGE.py               as a test; status 77, skipped, where a module is missing
    run_page.py PAGE.py --record DIR  for docs/conf.py: DIR/PAGE.json says what each cell printed
                                      and which pictures it drew, which stand beside it
"""

import ast
import contextlib
import importlib
import io
import json
import pathlib
import re
import sys

MODULES = ("lanky", "lanky.torch", "matplotlib.pyplot", "numpy", "scipy", "torch")


def cells_of(text):
    """The cells of a script: its docstring, and what follows each `# %%`; a dict each. The comment
    that a cell begins with is its prose, in Markdown."""
    head, *bodies = re.split(r"^# %%.*\n", text, flags=re.MULTILINE)
    title, _, intro = ast.get_docstring(ast.parse(head)).partition("\n")
    cells = [{"prose": f"# {title.rstrip('.')}\n{intro}", "code": "", "line": 1}]
    line = 1 + head.count("\n")
    for body in bodies:
        prose = re.match(r"(#.*\n)*", body)[0]
        cells.append({
            "prose": re.sub(r"^# ?", "", prose, flags=re.MULTILINE),
            "code": body[len(prose):].strip("\n"),
            "line": line + 1 + body[:len(body) - len(body[len(prose):].lstrip("\n"))].count("\n"),
        })
        line += 1 + body.count("\n")
    return cells


def missing_module(text):
    """A module of the page that cannot be imported, and why; or None and nothing."""
    for module in MODULES:
        if re.search(rf"^(import|from) {re.escape(module)}\b", text, re.MULTILINE):
            try:
                importlib.import_module(module)
            except ImportError as error:
                return module, f"{error}"
    return None, ""


def figures(page, record):
    """Writes the open figures beside the record, as pictures that are equal from run to run."""
    import matplotlib.pyplot as plt

    images = []
    for number in plt.get_fignums():
        figure = plt.figure(number)
        axes = figure.get_axes()
        name = f"{page.stem}_{len(list(record.glob(f'{page.stem}_*.svg')))}.svg"
        figure.savefig(record / name, bbox_inches="tight", metadata={"Date": None})
        images.append({"file": name, "alt": axes[0].get_title() if axes else page.stem})
    plt.close("all")
    return images


def run(page, cells, record):
    """Runs the cells of a page in one namespace, and adds to each what it printed and drew."""
    if "matplotlib.pyplot" in sys.modules:
        import matplotlib as mpl

        mpl.use("svg")
        mpl.rcParams.update({"svg.hashsalt": page.stem, "figure.figsize": (7, 3.2),
                             "figure.constrained_layout.use": True, "axes.titlesize": "medium"})
    namespace = {"__name__": "__main__", "__file__": str(page)}
    for cell in cells:
        printed = io.StringIO()
        code = compile("\n" * (cell["line"] - 1) + cell["code"], str(page), "exec")
        with contextlib.redirect_stdout(printed) if record else contextlib.nullcontext():
            exec(code, namespace)
        cell["output"] = printed.getvalue()
        cell["images"] = []
        if record and "matplotlib.pyplot" in sys.modules:
            cell["images"] = figures(page, record)


def main(page, record=None):
    sys.path.remove(str(pathlib.Path(__file__).resolve().parent))  # pages are programs, no modules
    text = page.read_text()
    cells = cells_of(text)
    skipped, reason = missing_module(text)
    if record:
        record.mkdir(parents=True, exist_ok=True)
        for old in record.glob(f"{page.stem}_*.svg"):
            old.unlink()
    if skipped is None:
        run(page, cells, record)
    else:
        print(f"SKIPPED {page.name}: {reason}", file=sys.stderr)
    if record:
        result = {"cells": cells, "skipped": skipped}
        (record / f"{page.stem}.json").write_text(json.dumps(result))
    return 0 if skipped is None else 77


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4) or (len(sys.argv) == 4 and sys.argv[2] != "--record"):
        sys.exit(f"usage: {sys.argv[0]} PAGE.py [--record DIR]")
    sys.exit(main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1::2])))
