"""Kernels round alike whoever compiled them."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import kneewear

pytestmark = pytest.mark.compiled

PACKAGE = Path(kneewear.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.glob("*/_*kernels.py"))
]


@pytest.mark.parametrize("module", MODULES)
def test_no_kernel_lets_the_compiler_choose_how_to_round(module):
    # A relaxed kernel rounds otherwise when compiled by this process than when loaded.
    kernels = {
        name: value
        for name, value in vars(importlib.import_module(module)).items()
        if isinstance(value, Dispatcher)
    }
    assert kernels
    relaxed = [name for name, kernel in kernels.items() if kernel.targetoptions.get("fastmath")]
    assert not relaxed


def test_kernels_run_where_nothing_can_be_kept(tmp_path):
    """Compiled again in every process, with a warning."""
    (tmp_path / "file").touch()
    script = (
        "from kneewear import compilation\n"
        "double = compilation.compiled(lambda x: 2.0 * x)\n"
        "assert compilation.compiled(lambda x: x + 1.0)(1.0) == 2.0\n"
        "print(double(2.0), compilation.can_cache())"
    )
    # Below a file no folder can be made, by no user.
    nowhere = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "file" / "below")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=nowhere | {"PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["4.0", "False"], done.stderr
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1
