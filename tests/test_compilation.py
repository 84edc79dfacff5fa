"""Kernels round alike whoever compiled them."""

from __future__ import annotations

import importlib
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
