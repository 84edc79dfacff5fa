"""Compilation of kernels, with a cache that no edit can make stale."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

PACKAGE = Path(__file__).parent


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a kernel, keeping the result for later processes.

    Parameters
    ----------
    function : callable
        A function of plain arrays and numbers.

    Returns
    -------
    callable
        The compiled kernel.

    Notes
    -----
    numba renews a cached kernel when its own file changes, not when a kernel it calls from another
    file does. The cache folder is therefore named by a digest of all kernel files. Divisions follow
    IEEE rules instead of being checked; kernels must not divide by zero.
    """
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = str(_cache_folder())  # type: ignore[attr-defined]
    try:
        return numba.njit(cache=True, error_model="numpy")(function)
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


@cache
def _cache_folder() -> Path:
    """Folder of this version of the kernels, beside the package where that can be written."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.glob("*/_*kernels.py")):
        digest.update(path.read_bytes())
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        root = Path(chosen)
    elif os.access(PACKAGE, os.W_OK):
        root = PACKAGE / "__pycache__"
    else:
        root = Path.home() / ".cache" / "kneewear"
    return root / f"kernels-{digest.hexdigest()[:12]}"
