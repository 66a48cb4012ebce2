"""The documentation site: Sphinx over the Markdown pages of this folder and Doxygen's XML of
the public headers.

`./dev docs` builds it into build/docs/html. The program's help is there if the program is built,
and the pages of the gallery have output if lanky can be imported; the pages say so otherwise.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

project = "lanky"
author = "the developers of lanky"
copyright = "the developers of lanky; BSD-3-Clause"  # noqa: A001, Sphinx's name
version_header = (ROOT / "include/lanky/version.hpp").read_text()
release = re.search(r'kVersion\[\] = "([0-9.]+)"', version_header)[1]
version = release.rpartition(".")[0]

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx_copybutton",
              "sphinx_inline_tabs"]
exclude_patterns = ["plots", "snippets", "*.py", "gallery/run_page.py"]
source_suffix = {".md": "markdown", ".py": "markdown"}  # the gallery's: see gallery_page()

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_linkify_fuzzy_links = False

breathe_projects = {"lanky": str(ROOT / "build/docs/xml")}
breathe_default_project = "lanky"
breathe_default_members = ("members", "undoc-members")
breathe_show_include = False
breathe_domain_by_extension = {"h": "c"}
breathe_order_parameters_first = False
cpp_index_common_prefix = ["lanky::", "lanky::io::"]
primary_domain = "cpp"
highlight_language = "none"

html_theme = "furo"
html_title = f"lanky {release}"
html_static_path = ["static"]
html_css_files = ["lanky.css"]
html_copy_source = False
html_show_sphinx = False

# `./dev docs --links` asks every server; these addresses are examples, or answer programs alone.
linkcheck_ignore = [r"https?://(localhost|127\.0\.0\.1)", r"file://.*"]
linkcheck_timeout = 20
linkcheck_retries = 2

# The package's own sources have all docstrings: nothing need be built or installed to read them.
autodoc_mock_imports = ["lanky._core", "numpy", "torch"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"


class Where(SphinxDirective):
    """Its content, where its argument, a file of the repository, is there; else a note."""

    required_arguments = 1
    has_content = True

    def run(self):
        if not (ROOT / self.arguments[0]).is_file():
            text = f"This site was built without {self.arguments[0]}."
            return [nodes.paragraph(text, text)]
        parent = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, parent)
        return parent.children


def program():
    """The built `lanky`, or None."""
    candidates = [pathlib.Path(os.environ["LANKY_BIN"])] if "LANKY_BIN" in os.environ else []
    candidates += [ROOT / "build" / preset / "bin" for preset in ("dev", "test", "cpu", "release")]
    return next((folder / "lanky" for folder in candidates if (folder / "lanky").is_file()), None)


class LankyHelp(SphinxDirective):
    """What `lanky COMMAND --help` prints, where the program is built."""

    optional_arguments = 1

    def run(self):
        command = ["lanky", *self.arguments, "--help"]
        found = program()
        if found:
            ran = subprocess.run([found, *command[1:]], capture_output=True, text=True, check=True,
                                 timeout=30)
            text = ran.stdout.replace(str(found), "lanky")
        else:
            text = f"{' '.join(command)}    # prints it; this site was built without the program"
        block = nodes.literal_block(text, text)
        block["language"] = "none"
        return [block]


GALLERY = ROOT / "docs/gallery"
RECORDS = ROOT / "build/docs/gallery"  # what the gallery's cells printed and drew
runs = {}  # of the gallery's programs: the name of the page to its process


def run_gallery(_):
    """Starts the programs of the gallery, each in a process and on a core of its own."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    packages = [str(path) for path in ROOT.glob("build/*/python")
                if any(path.glob("lanky/_core*.so"))]
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [environment.get("PYTHONPATH"), *packages]))
    for page in sorted(GALLERY.glob("*.py")):
        if page.name != "run_page.py":
            command = [sys.executable, GALLERY / "run_page.py", page, "--record", RECORDS]
            runs[page.stem] = subprocess.Popen(command, env=environment, text=True,
                                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def gallery_page(app, docname, source):
    """A page of the gallery, a Python script, as Markdown with what its cells printed and drew."""
    if not app.env.doc2path(docname).endswith(".py"):
        return
    name = pathlib.Path(docname).name
    _, errors = runs[name].communicate(timeout=120)
    if runs[name].returncode not in (0, 77):
        raise ExtensionError(f"docs/{docname}.py failed:\n{errors}")
    print(errors, end="", file=sys.stderr)  # says why a page was skipped
    record = json.loads((RECORDS / f"{name}.json").read_text())
    blocks = []
    for number, cell in enumerate(record["cells"]):
        blocks.append(cell["prose"])
        if number == 0 and record["skipped"]:
            blocks.append(":::{note}\nThis site was built without running the page, since Python "
                          f"found no `{record['skipped']}`. Output and pictures are missing.\n:::")
        if cell["code"]:
            blocks.append(f"~~~python\n{cell['code']}\n~~~")
        if cell.get("output"):
            blocks.append(f"~~~{{code-block}} none\n:class: output\n\n{cell['output']}~~~")
        blocks += [f"![{image['alt']}](../../build/docs/gallery/{image['file']})"
                   for image in cell.get("images", [])]
    blocks.append(f"The program is {{download}}`{name}.py <{name}.py>`.")
    source[0] = "\n\n".join(blocks)


def setup(app):
    app.connect("builder-inited", run_gallery)
    app.connect("source-read", gallery_page)
    app.add_directive("where", Where)
    app.add_directive("lanky-help", LankyHelp)
