"""Registration of kernels with numba; imported when the first kernel is used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.experimental import (
    function_type,  # noqa: F401 - makes addresses known to numba
    structref,
)

from kneewear.base.kernel_cache import PACKAGE, can_cache, kernel_folder, require_writable

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
    options: dict[str, Any] = {"cache": can_cache(), "error_model": "numpy", "nogil": True}
    if inlined:
        options["inline"] = "always"
    return numba.njit(**options)(function)


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
