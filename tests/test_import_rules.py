"""The import contracts of pyproject.toml, and what stands beside the package finds its names."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import benchmarks
import docs.generators

CHECKOUT = Path(__file__).parent.parent


def test_import_contracts_are_kept():
    program = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [program, "--no-cache"],
        cwd=CHECKOUT,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("package", [benchmarks, docs.generators], ids=lambda one: one.__name__)
def test_modules_beside_the_package_find_what_they_import(package):
    """Most of them are run by hand; a name that moved would be missed there alone."""
    modules = list(pkgutil.walk_packages(package.__path__, f"{package.__name__}."))
    assert len(modules) > 5
    for module in modules:
        import_module(module.name)
