"""Registration of kernels with numba; imported when the first kernel is used."""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.experimental import (
    function_type,  # noqa: F401 - makes addresses known to numba
    structref,
)

from kneewear.base.kernel_cache import PACKAGE, can_cache, kernel_folder, require_writable

logger = logging.getLogger(__name__)

# numba also reads settings from a file of the working directory, which is a study's folder: no file
# of that folder changes how kernels are compiled, or where machine code is loaded from.
numba.core.config._config_fname = os.devnull
numba.config.reload_config()
# Lets the compiler put the four lanes of a spline or of a rational point into one register. numba
# reads it when it compiles, so it is set before the first kernel is defined.
numba.config.SLP_VECTORIZE = 1  # type: ignore[attr-defined]
_DIGEST_BYTES = 32
# Functions of other packages keep numba's own locators.
_LOCATORS = (
    "UserProvidedCacheLocator,InTreeCacheLocator,UserWideCacheLocator,IPythonCacheLocator,"
    "ZipCacheLocator"
)
numba.config.CACHE_LOCATOR_CLASSES = (  # type: ignore[attr-defined]
    f"{__name__}.KernelCacheLocator,{numba.config.CACHE_LOCATOR_CLASSES or _LOCATORS}"  # type: ignore[attr-defined]
)


def make_dispatcher(
    function: Callable[..., Any],
    inlined: bool,
    undefined_records: list[tuple[Callable[..., Any], tuple[str, ...]]],
) -> Any:
    """Numba's dispatcher of a kernel (`kneewear.base.compilation.compiled`).

    Constructors of records by reference that numba does not know yet are defined first, and leave
    the list.
    """
    while undefined_records:
        construct, fields = undefined_records.pop()
        structref.define_constructor(construct, Structure, fields)
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True}
    if inlined:
        options["inline"] = "always"
    dispatcher = numba.njit(**options)(function)
    if can_cache():
        dispatcher._cache = KernelCache(function)
    return dispatcher


@structref.register
class Structure(types.StructRef):
    """Type of a record that kernels pass by reference.

    Its name has a digest of its fields, not the fields: it is part of the symbols of every kernel
    that takes it, where hundreds of kilobytes of names would take as long as the code.
    """

    def __init__(self, fields: Sequence[tuple[str, Any]]) -> None:
        super().__init__(fields)  # type: ignore[no-untyped-call]
        self.name = f"{type(self).__name__}{hashlib.sha256(self.name.encode()).hexdigest()[:16]}"


structref.define_boxing(Structure, structref.StructRefProxy)


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


def make_pointer(kernel: Any, arguments: Sequence[Any], result: Any) -> Any:
    """A kernel by its address (`kneewear.base.compilation.by_address`)."""
    returned = types.none if result is None else numba.typeof(result)
    return _Pointer(kernel, returned(*(numba.typeof(value) for value in arguments)))


class KernelCache(FunctionCache):
    """Cache of the machine code of a kernel, whose files are checked."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = CheckedFiles(self.cache_path, self._impl.filename_base, stamp)  # type: ignore[no-untyped-call]


class CheckedFiles(IndexDataCacheFile):
    """Files of the machine code of a kernel, which end with the digest of their content.

    A loss of power or a full disk leaves files that are cut or empty, at which numba stops in every
    later run. Here they count as missing: the kernel is compiled, and its files are written again.
    """

    def _dump(self, obj: Any) -> bytes:
        content: bytes = super()._dump(obj)  # type: ignore[no-untyped-call]
        return content + hashlib.sha256(content).digest()

    def _save_index(self, overloads: dict[Any, str]) -> None:
        # Only the same version of numba can read the inner part.
        inner = super()._dump((self._source_stamp, overloads))  # type: ignore[no-untyped-call]
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump((self._version, inner)))

    def _load_index(self) -> dict[Any, str]:
        try:
            version, inner = _read_checked(self._index_path)
        except OSError:
            return {}
        stamp, overloads = pickle.loads(inner) if version == self._version else ("", {})
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        return _read_checked(self._data_path(name))  # type: ignore[no-untyped-call]


def _read_checked(path: str) -> Any:
    """Object of a file that ends with its digest; OSError, as of a missing file, if it does not."""
    content = Path(path).read_bytes()
    body, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        logger.info("%s: found a damaged file; its kernel is compiled again", path)
        raise OSError(path)
    return pickle.loads(body)


class KernelCacheLocator:
    """Cache locator of numba (`NUMBA_CACHE_LOCATOR_CLASSES`) for the kernels of this package.

    numba renews a cached kernel when its own file changes, not when a kernel it calls from another
    file does. The cache folder is therefore named by a digest of all kernel files. Nothing in it
    depends on the path of the package, so that checkouts with the same kernels share it.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._line = function.__code__.co_firstlineno
        self._folder = kernel_folder() / Path(file).parent.relative_to(PACKAGE)

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
        require_writable(self._folder)

    def get_cache_path(self) -> str:
        """Folder of the kernel's room."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """State of the sources: the same for all kernels of a folder."""
        return kernel_folder().name

    def get_disambiguator(self) -> str:
        """Line of the kernel, which separates kernels of one name."""
        return str(self._line)
