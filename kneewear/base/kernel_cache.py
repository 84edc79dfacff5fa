"""Folder of the machine code of kernels, which no edit can make stale."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from functools import cache
from pathlib import Path

logger = logging.getLogger(__name__)

PACKAGE = Path(__file__).parents[1]
# False where kernels run as plain Python, as for test coverage.
IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "") in ("", "0")


@cache
def can_cache() -> bool:
    """True if machine code is kept; a warning, once, if kernels take much longer without it.

    Measured on one core: a process of the quick study compiles for about a minute, and a contact
    evaluation takes 500 times as long where kernels are not compiled.
    """
    if not IS_COMPILED:
        logger.warning(
            "NUMBA_DISABLE_JIT is set: kernels are not compiled, and contact takes about 500 times "
            "as long, hours where a study takes a minute. Unset it."
        )
        return False
    try:
        folder = kernel_folder()
        require_writable(folder)
    except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home
        logger.warning(
            "compiled kernels cannot be kept (%s): every job compiles them again, which takes "
            "about a minute, as long as a small study. Set NUMBA_CACHE_DIR to a folder that can be "
            "written.",
            error,
        )
        return False
    return True


def require_writable(folder: Path) -> None:
    """Create a folder; raise OSError where it cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()


@cache
def kernel_folder() -> Path:
    """Folder of this version of the compiled kernels; its name has a digest of all kernel files.

    In `NUMBA_CACHE_DIR` where that is set, else in the `cache_folder`.
    """
    digest = hashlib.sha256()
    common = [PACKAGE / "base" / name for name in ("compilation.py", "machine_code.py")]
    for path in [*common, *sorted(PACKAGE.rglob("_*kernels.py"))]:
        digest.update(path.read_bytes())
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    root = Path(chosen) if chosen else cache_folder()
    return root / f"kernels-{digest.hexdigest()[:12]}"


def cache_folder() -> Path:
    """Folder of what can be computed again: of the package where it can be written, or the user's.

    RuntimeError for a user without a home.
    """
    if os.access(PACKAGE, os.W_OK):
        return PACKAGE / "__pycache__"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kneewear"
