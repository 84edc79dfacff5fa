"""Compilation of kernels, with a cache that no edit can make stale."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.core import caching

PACKAGE = Path(__file__).parent

# Lets the compiler put the four lanes of a spline or of a rational point into one register. numba
# reads it when it compiles, so it must stand before the first kernel does.
numba.config.SLP_VECTORIZE = 1  # type: ignore[attr-defined]


def compiled(function: Callable[..., Any] | None = None, *, inlined: bool = False) -> Any:
    """Compile a kernel, keeping the result for later processes.

    Parameters
    ----------
    function : callable
        A function of plain arrays and numbers.
    inlined : bool
        Whether the kernel becomes part of the kernels that call it: for short ones that take
        structures, which are slow to hand over.

    Returns
    -------
    callable
        The compiled kernel. It lets go of Python's lock, so that kernels run in threads.

    Notes
    -----
    numba renews a cached kernel when its own file changes, not when a kernel it calls from another
    file does. The cache folder is therefore named by a digest of all kernel files and this one.
    Nothing in it depends on where the package stands, so that a copy need not compile again.
    Divisions follow IEEE rules instead of being checked; kernels must not divide by zero.

    Rounding is never relaxed (numba's `fastmath`). Each kernel's machine code holds a copy of the
    kernels it calls, optimised once more in its surroundings, and which copy runs depends on what
    the process compiled or loaded before. If the compiler might fuse a product with a sum, or
    reorder sums, copies could round differently, and a job that compiles would find other last
    digits than one that loads.
    """
    if function is None:
        return partial(compiled, inlined=inlined)
    options: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True}
    if inlined:
        options["inline"] = "always"
    with _kept_by_content():
        return numba.njit(**options)(function)


@contextmanager
def _kept_by_content() -> Iterator[None]:
    """Let numba name its files by room and kernel, where it would by the path of the package."""
    changed = {
        (numba.config, "CACHE_DIR"): str(kernel_folder()),
        (caching._CacheLocator, "get_suitable_cache_subpath"): staticmethod(_room),
    }
    before = {place: vars(place[0])[place[1]] for place in changed}
    try:
        for (owner, name), value in changed.items():
            setattr(owner, name, value)
        yield
    finally:
        for (owner, name), value in before.items():
            setattr(owner, name, value)


def _room(file: str) -> str:
    """Name of the folder a kernel file stands in."""
    return Path(file).parent.name


@cache
def kernel_folder() -> Path:
    """Folder of this version of the kernels, compiled.

    Returns
    -------
    Path
        Beside the package where that can be written, in `NUMBA_CACHE_DIR` where that is set; the
        name carries a digest of all kernel files.
    """
    digest = hashlib.sha256()
    for path in [Path(__file__), *sorted(PACKAGE.glob("*/_*kernels.py"))]:
        digest.update(path.read_bytes())
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        root = Path(chosen)
    elif os.access(PACKAGE, os.W_OK):
        root = PACKAGE / "__pycache__"
    else:
        root = Path.home() / ".cache" / "kneewear"
    return root / f"kernels-{digest.hexdigest()[:12]}"
