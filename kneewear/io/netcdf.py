"""NetCDF-4 files with a declared layout, checked when written and when read."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import h5netcdf
import h5py
import numpy as np
from numpy.typing import NDArray

from kneewear.errors import DamagedFileError, InputDataError, KneewearError
from kneewear.io.atomic import atomic_path
from kneewear.io.digests import read_checked

# Bytes that one byte of a file can hold at most: zlib packs no tighter. Attributes are extra.
_TIGHTEST = 1032
# Dimensions that are as long in every file.
_LENGTHS = {
    "component": 3,
    "corner": 3,
    "element_corner": 4,
    "tangent": 2,
    "plan": 2,
    "end": 2,
    "plane": 2,
}


@dataclass(frozen=True)
class Variable:
    """One variable of a layout.

    Parameters
    ----------
    name : str
        Name in the file.
    dims : tuple of str
        Dimensions, slowest first.
    units : str
        Unit, "1" for pure numbers.
    long_name : str
        Meaning in a few words.
    may_be_nan : bool
        Whether NaN has a meaning here; a NaN elsewhere is a fault.
    coordinate : bool
        Whether the variable labels a dimension.
    chunks : tuple of int, optional
        Chunk lengths. Longer than the array is the whole axis.
    compressed : bool
        Whether a variable in chunks is compressed; equal blocks of a direct-access file are not.
    """

    name: str
    dims: tuple[str, ...]
    units: str
    long_name: str
    may_be_nan: bool = False
    coordinate: bool = False
    chunks: tuple[int, ...] | None = None
    compressed: bool = True


@dataclass(frozen=True)
class Layout:
    """Layout of one kind of file.

    Parameters
    ----------
    kind : str
        What the file holds; stored in it and checked on reading.
    variables : tuple of Variable
        All variables.
    """

    kind: str
    variables: tuple[Variable, ...]


def save(
    layout: Layout, values: Mapping[str, Any], path: str | Path, attributes: Mapping[str, Any]
) -> None:
    """Write arrays in a declared layout, complete or not at all.

    Parameters
    ----------
    layout : Layout
        Names, dimensions, units and meanings.
    values : mapping of name to array
        One array for each variable of the layout.
    path : str or Path
        File to write.
    attributes : mapping
        Global attributes: text and numbers.

    Raises
    ------
    ValueError
        When an array does not have the dimensions of its variable or holds a value that is not
        finite and must be.
    """
    arrays = {variable.name: np.asarray(values[variable.name]) for variable in layout.variables}
    lengths = _lengths(layout, arrays)
    # HDF5 writes to memory: on a full disk it would crash the process instead of failing.
    content = io.BytesIO()
    with h5netcdf.File(content, "w") as file:
        file.dimensions = lengths
        labels = [v.name for v in layout.variables if v.coordinate and v.name not in lengths]
        file.attrs["kneewear_file"] = layout.kind
        file.attrs.update({**attributes, **({"coordinates": " ".join(labels)} if labels else {})})
        for variable in layout.variables:
            array = _storable(arrays[variable.name])
            stored = file.create_variable(
                variable.name, variable.dims, data=array, **_storage(variable, array)
            )
            stored.attrs.update(long_name=variable.long_name, units=variable.units)
    with atomic_path(path) as temporary:
        # Not its buffer: Python 3.12 crashes when it collects the view that a failed write leaves.
        temporary.write_bytes(content.getvalue())


def _lengths(layout: Layout, arrays: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    """Length of each dimension; refused are arrays that contradict it or hold what none may."""
    lengths: dict[str, int] = {}
    for variable in layout.variables:
        array = arrays[variable.name]
        agree = array.ndim == len(variable.dims) and all(
            lengths.setdefault(dim, length) == length
            for dim, length in zip(variable.dims, array.shape, strict=True)
        )
        if not agree:
            raise ValueError(
                f"{variable.name} has shape {array.shape}, but its dimensions are {variable.dims}"
                f" and their lengths {lengths}"
            )
        if not variable.may_be_nan and _infinite(array):
            raise ValueError(f"{variable.name}: {_infinite(array)} values are not finite")
    return lengths


def _storable(array: NDArray[Any]) -> NDArray[Any]:
    """Array as NetCDF can keep it: text of any length, and small integers for yes and no."""
    if array.dtype.kind == "U":
        return array.astype(h5py.string_dtype())
    return array.astype(np.int8) if array.dtype.kind == "b" else array


def load(
    layout: Layout,
    path: str | Path,
    leave_out: Collection[str] = (),
    only: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a file of a declared layout and check it.

    Parameters
    ----------
    layout : Layout
        What the file must hold.
    path : str or Path
        File to read.
    leave_out : collection of str
        Variables that are not read.
    only : mapping of coordinate to value, optional
        Part of the file to read; nothing of a coordinate that does not hold the value.

    Returns
    -------
    values : dict of name to array
        The arrays.
    attributes : dict
        The global attributes.

    Raises
    ------
    InputDataError
        When there is no such file.
    DamagedFileError
        When its digest is not that of what was written; when it is truncated, of another kind or
        promises more than it can hold; when a variable is missing, has other dimensions or holds a
        value that is not finite.
    """
    with absence_told(path, layout):
        content = read_checked(path)
    largest = _TIGHTEST * len(content)
    with damage_told(path, layout.kind), h5py.File(io.BytesIO(content), "r") as file:
        check_kind(layout, file, path)
        part = {name: _place(file[name], value) for name, value in (only or {}).items()}
        values = {
            variable.name: _checked(variable, file, path, largest, part)
            for variable in layout.variables
            if variable.name not in leave_out
        }
        return values, {name: _plain(value) for name, value in file.attrs.items()}


@contextmanager
def damage_told(path: str | Path | Sequence[str | Path], kind: str) -> Iterator[None]:
    """Tell as damage of a file whatever goes wrong while its content is put to use.

    Parameters
    ----------
    path : str, Path or sequence of them
        File or files that are read.
    kind : str
        What they should hold.

    Raises
    ------
    DamagedFileError
        In place of any error that is not kneewear's own.
    """
    try:
        yield
    except (KneewearError, MemoryError):
        raise
    except Exception as error:  # the libraries raise whatever a damaged file leads them to
        files = [path] if isinstance(path, str | Path) else list(path)
        found = f"content that cannot be used ({type(error).__name__}: {error})"
        said = ", ".join(str(file) for file in files[1:])
        raise DamagedFileError(
            files[0], found, f"a file of kind '{kind}'", f"read with {said}" if said else ""
        ) from error


Read = TypeVar("Read", bound=Callable[..., Any])


def tells_damage(kind: str) -> Callable[[Read], Read]:
    """Make a reader tell whatever goes wrong as damage of the file, its first argument.

    Parameters
    ----------
    kind : str
        What the file should hold.

    Returns
    -------
    callable
        Decorator of the reader; see `damage_told`.
    """

    def decorate(read: Read) -> Read:
        @wraps(read)
        def telling(path: Any, *arguments: Any, **options: Any) -> Any:
            with damage_told(path, kind):
                return read(path, *arguments, **options)

        return cast(Read, telling)

    return decorate


@contextmanager
def absence_told(path: str | Path, layout: Layout) -> Iterator[None]:
    """Tell that a file is not there or cannot be opened.

    Parameters
    ----------
    path : str or Path
        File that is opened.
    layout : Layout
        What it should hold.

    Raises
    ------
    InputDataError
        In place of the system's error.
    """
    try:
        yield
    except OSError as error:
        found = "no file" if isinstance(error, FileNotFoundError) else str(error)
        raise InputDataError(
            path, found, f"a file of kind '{layout.kind}'", "Run the step that writes it."
        ) from None


def joined(parts: Iterable[Mapping[str, Any]], layout: Layout, dim: str) -> dict[str, Any]:
    """Arrays of several files joined along one dimension.

    Parameters
    ----------
    parts : iterable of mapping
        Values as `load` returns them.
    layout : Layout
        Their layout.
    dim : str
        Dimension to join along; variables without it are taken from the first part.

    Returns
    -------
    dict of name to array
        The joined arrays.
    """
    files = list(parts)
    if len(files) == 1:
        return dict(files[0])
    dims = {variable.name: variable.dims for variable in layout.variables}
    return {
        name: np.concatenate([part[name] for part in files], axis=dims[name].index(dim))
        if dim in dims[name]
        else value
        for name, value in files[0].items()
    }


def _storage(variable: Variable, array: NDArray[Any]) -> dict[str, Any]:
    """Chunks and compression of a variable."""
    if variable.chunks is None or not array.size:
        return {}
    options: dict[str, Any] = {
        "chunks": tuple(min(pair) for pair in zip(variable.chunks, array.shape, strict=True))
    }
    if variable.compressed:
        # Level 1 with byte shuffling: mostly zeros, so higher levels only cost time.
        options |= {"compression": "gzip", "compression_opts": 1, "shuffle": True}
    return options


def check_kind(layout: Layout, file: Any, path: str | Path) -> None:
    """Refuse an open file of another kind."""
    kind = file.attrs.get("kneewear_file", "unknown")
    if kind != layout.kind:
        raise DamagedFileError(path, f"a file of kind '{kind}'", f"kind '{layout.kind}'")


def _place(labels: h5py.Dataset, value: Any) -> slice:
    """Place of a label along its dimension, where labels are distinct; nothing if it is absent."""
    found = np.flatnonzero(_plain_text(np.asarray(labels[...])) == value)
    start = int(found[0]) if found.size else 0
    return slice(start, start + found.size)


def _checked(
    variable: Variable, file: Any, path: str | Path, largest: int, part: Mapping[str, slice]
) -> Any:
    """Values of a variable; refused before memory is taken for more than the file can hold."""
    where = f"variable {variable.name}"
    if variable.name not in file:
        raise DamagedFileError(path, "nothing", "an array", where)
    stored = file[variable.name]
    dims = _dimensions(stored)
    if dims != variable.dims:
        raise DamagedFileError(path, f"dimensions {dims}", f"{variable.dims}", where)
    for dim, length in zip(variable.dims, stored.shape, strict=True):
        if length != _LENGTHS.get(dim, length):
            raise DamagedFileError(path, f"{dim} of {length}", f"{_LENGTHS[dim]}", where)
    size = math.prod(stored.shape) * stored.dtype.itemsize
    if size > largest:
        raise DamagedFileError(path, f"{size} bytes announced", f"at most {largest}", where)
    places = tuple(part.get(dim, slice(None)) for dim in dims)
    array = _plain_text(np.asarray(stored[places]))
    count = 0 if variable.may_be_nan else _infinite(array)
    if count:
        raise DamagedFileError(path, f"{count} values that are not finite", "numbers", where)
    return array


def _dimensions(stored: h5py.Dataset) -> tuple[str, ...]:
    """Names of a variable's dimensions: of the scales that lie along its axes."""
    if stored.is_scale:
        return (stored.name.rpartition("/")[2],)
    return tuple(axis[0].name.rpartition("/")[2] if len(axis) else "" for axis in stored.dims)


def _plain_text(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Text as numpy keeps it, where HDF5 gives bytes."""
    return np.char.decode(array.astype(bytes), "utf-8") if array.dtype.kind == "O" else array


def _plain(value: Any) -> Any:
    """Attribute without the array NetCDF wraps a number in."""
    return value[0] if isinstance(value, np.ndarray) and value.size == 1 else value


def _infinite(array: np.ndarray[Any, Any]) -> int:
    """Number of values that are not finite."""
    if array.dtype.kind != "f":
        return 0
    finite = np.isfinite(array)
    return 0 if finite.all() else int(array.size - finite.sum())
