"""The documentation site: Sphinx over the Markdown pages of this folder and Doxygen's XML of the public headers.

`./dev docs` builds it into build/docs/html. Parts that need what is built (the program's help, the Python module) are
there if it is, and say where to find it otherwise.
"""

import os
import pathlib
import re
import subprocess
import sys

from docutils import nodes
from docutils.parsers.rst import Directive

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

project = "lanky"
author = "the developers of lanky"
copyright = "the developers of lanky; BSD-3-Clause"  # noqa: A001, Sphinx's name
release = re.search(r'kVersion\[\] = "([0-9.]+)"', (ROOT / "include/lanky/version.hpp").read_text())[1]
version = release.rpartition(".")[0]

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton",
              "sphinx_inline_tabs"]
exclude_patterns = ["plots", "snippets"]
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_linkify_fuzzy_links = False

breathe_projects = {"lanky": str(ROOT / "build/docs/xml")}
breathe_default_project = "lanky"
breathe_default_members = ("members",)
breathe_show_include = False
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

autodoc_member_order = "bysource"
autodoc_typehints = "description"


def importable(module):
    """Whether the Python package can be documented: it is built, or pure Python."""
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def program():
    """The built `lanky`, or None."""
    candidates = [pathlib.Path(os.environ["LANKY_BIN"])] if "LANKY_BIN" in os.environ else []
    candidates += [ROOT / "build" / preset / "bin" for preset in ("dev", "test", "cpu", "release")]
    return next((folder / "lanky" for folder in candidates if (folder / "lanky").is_file()), None)


class LankyHelp(Directive):
    """What `lanky COMMAND --help` prints, where the program is built."""

    optional_arguments = 1

    def run(self):
        command = ["lanky", *self.arguments, "--help"]
        found = program()
        if not found:
            text = f"{' '.join(command)}    # this site was built without the program, which prints its options"
        else:
            text = subprocess.run([found, *command[1:]], capture_output=True, text=True, check=True, timeout=30).stdout
            text = text.replace(str(found), "lanky")
        block = nodes.literal_block(text, text)
        block["language"] = "none"
        return [block]


def setup(app):
    app.add_directive("lanky-help", LankyHelp)
    if importable("lanky"):
        app.tags.add("python_module")
