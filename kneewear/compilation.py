"""Compilation of kernels, with a cache that no edit can make stale."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types
from numba.experimental import function_type  # noqa: F401 - makes addresses known to numba
from numba.extending import intrinsic

logger = logging.getLogger(__name__)

PACKAGE = Path(__file__).parent
# False where kernels run as plain Python (NUMBA_DISABLE_JIT=1), as for test coverage.
IS_COMPILED: bool = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]

# Lets the compiler put the four lanes of a spline or of a rational point into one register. numba
# reads it when it compiles, so it is set before the first kernel is defined.
numba.config.SLP_VECTORIZE = 1  # type: ignore[attr-defined]
# Functions of other packages keep numba's own locators.
_LOCATORS = (
    "UserProvidedCacheLocator,InTreeCacheLocator,UserWideCacheLocator,IPythonCacheLocator,"
    "ZipCacheLocator"
)
numba.config.CACHE_LOCATOR_CLASSES = (  # type: ignore[attr-defined]
    f"{__name__}.KernelCacheLocator,{numba.config.CACHE_LOCATOR_CLASSES or _LOCATORS}"  # type: ignore[attr-defined]
)


def compiled(function: Callable[..., Any] | None = None, *, inlined: bool = False) -> Any:
    """Compile a kernel of arrays, numbers and records, and cache the machine code.

    The kernel releases Python's lock, so that kernels run in threads. An `inlined` one becomes part
    of the kernels that call it: for short ones that take structures, which are slow to pass.
    Divisions follow IEEE rules instead of being checked; kernels must not divide by zero.

    Rounding is never relaxed (numba's `fastmath`). Each kernel's machine code holds a copy of the
    kernels it calls, optimised once more in its surroundings, and which copy runs depends on what
    the process compiled or loaded before. If the compiler might fuse a product with a sum, or
    reorder sums, copies could round differently, and a job that compiles would find other last
    digits than one that loads.
    """
    if function is None:
        return partial(compiled, inlined=inlined)
    options: dict[str, Any] = {"cache": can_cache(), "error_model": "numpy", "nogil": True}
    if inlined:
        options["inline"] = "always"
    return numba.njit(**options)(function)


class Structure(types.StructRef):
    """Type of a record that kernels pass by reference.

    Its name has a digest of its fields, not the fields: it is part of the symbols of every kernel
    that takes it, where hundreds of kilobytes of names would take as long as the code.
    """

    def __init__(self, fields: Sequence[tuple[str, Any]]) -> None:
        super().__init__(fields)
        self.name = f"{type(self).__name__}{hashlib.sha256(self.name.encode()).hexdigest()[:16]}"


class _Pointer(types.WrapperAddressProtocol):
    """A kernel by its address, which numba takes for a value of the type of its signature."""

    def __init__(self, kernel: Any, signature: Any) -> None:
        self._kernel, self._signature = kernel, signature

    def __wrapper_address__(self) -> int:
        if self._kernel is None:
            return -1  # numba's sign of a function without address
        # Kernels are cached by their arguments, as where they are called; by signatures once more.
        self._kernel.compile(self._signature.args)
        result = self._kernel.get_compile_result(self._signature)
        name = result.fndesc.llvm_cfunc_wrapper_name
        return int(result.library.get_pointer_to_function(name))

    def signature(self) -> Any:
        return self._signature


def by_address(kernel: Any, *arguments: Any, result: Any = None) -> Any:
    """A kernel that others take as a value, for arguments and with a result like these.

    Where a kernel calls another one by name, its machine code holds a copy of it, which takes as
    long to compile as the original. Called by address it is compiled once, and not at all unless a
    program gives it to the kernels that call it. None is a kernel that is never called.
    """
    if not IS_COMPILED:
        return kernel
    returned = types.none if result is None else numba.typeof(result)
    return _Pointer(kernel, returned(*(numba.typeof(value) for value in arguments)))


@cache
def can_cache() -> bool:
    """Whether machine code can be kept; a warning, once, where every process compiles it again."""
    try:
        folder = kernel_folder()
        _require_writable(folder)
    except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home
        logger.warning(
            "compiled kernels cannot be kept (%s): every process compiles them again, which takes "
            "minutes. Set NUMBA_CACHE_DIR to a folder that can be written.",
            error,
        )
        return False
    return True


def _require_writable(folder: Path) -> None:
    """Create a folder; raise OSError where it cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()


class KernelCacheLocator:
    """Cache locator of numba (`NUMBA_CACHE_LOCATOR_CLASSES`) for the kernels of this package.

    numba renews a cached kernel when its own file changes, not when a kernel it calls from another
    file does. The cache folder is therefore named by a digest of all kernel files. Nothing in it
    depends on the path of the package, so that checkouts with the same kernels share it.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._line = function.__code__.co_firstlineno
        self._folder = kernel_folder() / Path(file).parent.name

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> KernelCacheLocator | None:
        """Locator of a kernel; None for other functions, and where the folder cannot be written."""
        if PACKAGE not in Path(file).parents:
            return None
        locator = cls(function, file)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None
        return locator

    def ensure_cache_path(self) -> None:
        """Create the folder; raise OSError where it cannot be written."""
        _require_writable(self._folder)

    def get_cache_path(self) -> str:
        """Folder of the kernel's room."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """State of the sources: the same for all kernels of a folder."""
        return self._folder.parent.name

    def get_disambiguator(self) -> str:
        """Line of the kernel, which separates kernels of one name."""
        return str(self._line)


@cache
def kernel_folder() -> Path:
    """Folder of this version of the compiled kernels; its name has a digest of all kernel files.

    In `NUMBA_CACHE_DIR` where that is set, else beside the package where that can be written, else
    in the user's cache.
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


def structured(*fields: Sequence[Any]) -> np.dtype[np.void]:
    """Structured data type whose fields are attributes in kernels, compiled or not."""
    plain = np.dtype(list(fields), align=True)
    return plain if IS_COMPILED else np.dtype((np.record, plain))


def _borrow(typing_context: Any, record: Any) -> Any:
    """Type of a borrowed record, and the code that makes it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts = []
        for number, kind in enumerate(record.types):
            part = builder.extract_value(arguments[0], number)
            if isinstance(kind, types.Array):
                view = context.make_array(kind)(context, builder, part)
                view.meminfo = context.get_constant_null(types.MemInfoPointer(types.voidptr))
                part = view._getvalue()
            parts.append(part)
        return context.make_tuple(builder, record, parts)

    return record(record), generate


# The same named tuple whose arrays have no reference counts. Kernels count references to arrays at
# many calls, which takes as long as a distance; a borrowed array is not counted, and is valid as
# long as the original one.
borrowed: Any = intrinsic(_borrow) if IS_COMPILED else lambda record: record
