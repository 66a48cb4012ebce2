"""The types that the package tells, and the stub of the extension module, for those who check."""

import ast
import pathlib
import shutil
import subprocess

import pytest

import lanky

PACKAGE = pathlib.Path(lanky.__file__).parent
STUB = PACKAGE / "_core.pyi"


def test_the_stub_names_what_the_module_has():
    assert (PACKAGE / "py.typed").exists()
    tree = ast.parse(STUB.read_text())
    told = {node.name: node for node in tree.body if hasattr(node, "name")}
    made = {name for name in vars(lanky._core) if not name.startswith("_")} - {"version"}
    assert set(told) == made
    for name, node in told.items():
        if isinstance(node, ast.ClassDef):
            methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            of_module = vars(getattr(lanky._core, name))
            assert {each for each in of_module if not each.startswith("_")} <= methods
            assert methods <= set(of_module)


def test_the_package_calls_the_module_as_the_stub_says(tmp_path):
    mypy = shutil.which("mypy")
    if mypy is None:
        pytest.skip("mypy is not installed")
    (tmp_path / "lanky").mkdir()
    for source in (*PACKAGE.glob("*.py"), STUB, PACKAGE / "py.typed"):
        shutil.copy(source, tmp_path / "lanky")  # of links to them, what they name
    command = [mypy, "--ignore-missing-imports", "--check-untyped-defs", "--cache-dir", "cache"]
    ran = subprocess.run(
        [*command, "lanky"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
