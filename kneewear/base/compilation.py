"""Declaration of kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from threading import RLock
from typing import Any

import numpy as np

from kneewear.base.kernel_cache import IS_COMPILED

# Constructors of records by reference that numba does not know yet, and the fields.
_undefined_records: list[tuple[Callable[..., Any], tuple[str, ...]]] = []
_LOCK = RLock()


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
    return Kernel(function, inlined) if IS_COMPILED else function


class Kernel:
    """A function that numba compiles, or loads, when it is first called.

    It stands for numba's dispatcher, which is made when it is first needed, and numba is imported
    then: the import takes longer than a small job, and a job calls few kernels of the hundreds that
    its rooms declare, or none. Kernels that call it by name get the dispatcher.
    """

    def __init__(self, function: Callable[..., Any], inlined: bool) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._inlined = inlined
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code for arguments of these types."""
        return (self._dispatcher or self._make_dispatcher())(*arguments)

    def _make_dispatcher(self) -> Any:
        """Numba's dispatcher, the same in all threads."""
        from kneewear.base.machine_code import make_dispatcher  # noqa: PLC0415 - see the class

        with _LOCK:
            if self._dispatcher is None:
                self._dispatcher = make_dispatcher(self.py_func, self._inlined, _undefined_records)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        return (self._dispatcher or self._make_dispatcher())._numba_type_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copy, pickle and inspect look for
            raise AttributeError(name)
        return getattr(self._dispatcher or self._make_dispatcher(), name)


def by_address(kernel: Any, *arguments: Any, result: Any = None) -> Any:
    """A kernel that others take as a value, for arguments and with a result like these.

    Where a kernel calls another one by name, its machine code holds a copy of it, which takes as
    long to compile as the original. Called by address it is compiled once, and not at all unless a
    program gives it to the kernels that call it. None is a kernel that is never called.
    """
    if not IS_COMPILED:
        return kernel
    from kneewear.base.machine_code import make_pointer  # noqa: PLC0415 - see `Kernel`

    return make_pointer(kernel, arguments, result)


def structured(*fields: Sequence[Any]) -> np.dtype[np.void]:
    """Structured data type whose fields are attributes in kernels, compiled or not."""
    plain = np.dtype(list(fields), align=True)
    return plain if IS_COMPILED else np.dtype((np.record, plain))


def by_reference(record: type[Any]) -> Callable[..., Any]:
    """Constructor, for kernels, of a named tuple that they pass by reference (`structref`)."""

    def construct(*fields: Any) -> Any:
        return record(*fields)

    _undefined_records.append((construct, record._fields))
    return construct
