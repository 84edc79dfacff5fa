"""NetCDF-4 files of value objects, with the variables that `kneewear.io.schema` lists.

A file holds one value object (`save`, `load`), or a tree of them as nested groups. Arrays are
variables, tuples of text or records label dimensions, numbers and text are attributes, and value
objects within others are groups.
"""

from __future__ import annotations

import io
import json
import math
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import h5netcdf
import h5py
import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from kneewear.errors import DamagedFileError, KneewearError
from kneewear.io.result_files import atomic_path, read_checked
from kneewear.io.schema import CHUNKS, LENGTHS, RECORDS, Record, Variable

Value = TypeVar("Value")
# Attribute that says what a file or group holds, and the one with the order of a group's groups.
KIND, ORDER = "kneewear_file", "groups"
# Bytes one byte of a file can expand to at most: the limit of zlib. Attributes are extra.
_MAX_EXPANSION = 1032


def save(value: Any, path: str | Path, chunks: Mapping[str, int] | None = None) -> None:
    """Write a value object, complete or not at all.

    `value` is of a class in `RECORDS`, or a mapping of names to such objects (or to further
    mappings), which become groups; its `file_attributes`, if any, are those of the file. `chunks`
    replaces lengths of `CHUNKS`. ValueError when an array does not have the dimensions of its
    variable or holds a value that is not finite and must be.
    """
    # HDF5 writes to memory: on a full disk it would crash the process instead of failing.
    content = io.BytesIO()
    with h5netcdf.File(content, "w") as file:
        _write(file, value, {**CHUNKS, **(chunks or {})})
        file.attrs.update(getattr(value, "file_attributes", {}))
    with atomic_path(path) as temporary:
        # Not its buffer: Python 3.12 crashes when it collects the view that a failed write leaves.
        temporary.write_bytes(content.getvalue())


def load(
    kind: type[Value],
    path: str | Path | Sequence[str | Path],
    group: str = "",
    leave_out: Collection[str] = (),
    only: Mapping[str, str] | None = None,
) -> Value:
    """Read a value object of one of the classes in `RECORDS` from a file that `save` wrote.

    Several files are joined along the cases. `group` is the group to read, such as "grid" of a knee
    model; variables of elements in `leave_out` are not read and have no rows and columns; `only`
    gives the label to read along a dimension, which is empty without that label. InputDataError
    when a file is missing; DamagedFileError when its digest is not that of what was written, when
    it is truncated, of another kind or announces more than it can hold, when a variable is missing,
    has other dimensions or holds a value that is not finite, or when several files do not fit
    together.
    """
    if not isinstance(path, str | Path):
        return join([load(kind, one, group, leave_out, only) for one in path], path)
    with open_checked(path, RECORDS[kind.__name__].kind) as (file, size):
        reader = _Reader(path, _MAX_EXPANSION * size, leave_out, only or {})
        value: Value = reader.group((kind,), reader.find(group, file) if group else file)
        return value


def load_all(kind: type[Value], paths: Sequence[str | Path], **options: Any) -> Iterator[Value]:
    """Read the value objects of several files one after the other; options as of `load`."""
    return (load(kind, path, **options) for path in paths)


@contextmanager
def open_checked(path: str | Path, kind: str) -> Iterator[tuple[h5py.File, int]]:
    """Open a result file in memory after its digest was checked; its size in bytes with it.

    Any error of reading it, also in the block, becomes a DamagedFileError.
    """
    content = read_checked(path, f"a file of kind '{kind}'", "Run the step that writes it.")
    with _damage_reported(path, kind), h5py.File(io.BytesIO(content), "r") as file:
        yield file, len(content)


@contextmanager
def _damage_reported(path: str | Path, kind: str, where: str = "") -> Iterator[None]:
    """Report any error but kneewear's own as damage of a file."""
    try:
        yield
    except (KneewearError, MemoryError):
        raise
    except Exception as error:  # the libraries raise many kinds of error on a damaged file
        found = f"content that cannot be used ({type(error).__name__}: {error})"
        raise DamagedFileError(path, found, f"a file of kind '{kind}'", where) from error


# Writing


def _write(group: Any, value: Any, chunks: Mapping[str, int]) -> None:
    """Write a value object, or a mapping of them, into a group."""
    if isinstance(value, Mapping):
        group.attrs[ORDER] = " ".join(value)  # HDF5 sorts its groups by name
        for name, item in value.items():
            _write(group.create_group(name), item, chunks)
        return
    record = RECORDS[type(value).__name__]
    arrays = arrays_of(value)
    group.dimensions = _lengths(record, arrays)
    group.attrs[KIND] = record.kind
    labels = [v.name for v in record.variables if v.is_coordinate and v.name != v.dimensions]
    if labels:
        group.attrs["coordinates"] = " ".join(labels)
    for variable in record.variables:
        if variable.name in arrays:
            _write_variable(group, variable, arrays[variable.name], chunks)
    stored = {v.attribute for v in record.variables if v.name in arrays}
    for name in _hints(type(value)):
        item = None if name in stored else getattr(value, name)
        if item is None:
            continue
        if isinstance(item, bool | int | float | str | np.number | np.bool_):
            group.attrs[name] = int(item) if isinstance(item, bool | np.bool_) else item
        elif isinstance(item, tuple) and item and type(item[0]).__name__ in RECORDS:
            _write(group.create_group(name), {str(i): one for i, one in enumerate(item)}, chunks)
        elif isinstance(item, tuple) and type(item).__name__ not in RECORDS:
            group.attrs[name] = json.dumps(item, default=asdict)
        else:
            _write(group.create_group(name), item, chunks)


def arrays_of(value: Any) -> dict[str, NDArray[Any]]:
    """Arrays of a value object by the names of their variables; without those it does not have."""
    arrays = {}
    for variable in RECORDS[type(value).__name__].variables:
        item = variable.labels or getattr(value, variable.attribute)
        if item is None or is_dataclass(item):
            continue
        if variable.part:
            item = [getattr(one, variable.part) for one in item]
            item = [json.dumps(one) if isinstance(one, Mapping) else one for one in item]
        array = np.asarray(item, "U" if variable.dtype == "text" else variable.dtype)
        if "masked" in variable.options:
            valid = value.valid
            array = np.where(
                valid.reshape(valid.shape + (1,) * (array.ndim - valid.ndim)), array, 0
            )
        arrays[variable.name] = array
    return arrays


def value_of(kind: type[Value], arrays: Mapping[str, NDArray[Any]]) -> Value:
    """Value object from the arrays of its variables, the inverse of `arrays_of`."""
    found: dict[str, dict[str, NDArray[Any]]] = {}
    for one in RECORDS[kind.__name__].variables:
        if one.attribute:
            found.setdefault(one.attribute, {})[one.part] = arrays[one.name]
    hints = _hints(kind)
    return kind(**{name: _from_arrays(hints[name], parts) for name, parts in found.items()})


def _lengths(record: Record, arrays: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    """Length of each dimension; refuses arrays that contradict it or are not finite."""
    lengths: dict[str, int] = {}
    for variable in record.variables:
        array = arrays.get(variable.name)
        if array is None:
            continue
        dimensions = variable.dimensions.split()
        agree = array.ndim == len(dimensions) and all(
            lengths.setdefault(dimension, length) == length
            for dimension, length in zip(dimensions, array.shape, strict=True)
        )
        if not agree:
            raise ValueError(
                f"{variable.name} has shape {array.shape}, but its dimensions are"
                f" {variable.dimensions} and their lengths {lengths}"
            )
        count = _count_infinite(variable, array)
        if count:
            raise ValueError(f"{variable.name}: {count} values are not finite")
    return lengths


def _write_variable(
    group: Any, variable: Variable, array: NDArray[Any], chunks: Mapping[str, int]
) -> None:
    """Write one variable with its unit and meaning."""
    dimensions = tuple(variable.dimensions.split())
    if array.dtype.kind in "Ub":  # NetCDF has text of any length, and no yes and no
        array = array.astype(h5py.string_dtype() if array.dtype.kind == "U" else np.int8)
    options: dict[str, Any] = {}
    compressed = "compressed" in variable.options
    if (compressed or "chunks" in variable.options) and array.size:
        lengths = zip(dimensions, array.shape, strict=True)
        options["chunks"] = tuple(min(chunks.get(name, n), n) for name, n in lengths)
    if compressed and array.size:
        # Level 1 with byte shuffling: mostly zeros, so higher levels only cost time.
        options |= {"compression": "gzip", "compression_opts": 1, "shuffle": True}
    stored = group.create_variable(variable.name, dimensions, data=array, **options)
    stored.attrs.update(long_name=variable.long_name, units=variable.units)


def _count_infinite(variable: Variable, array: NDArray[Any]) -> int:
    """Number of values that are not finite and must be."""
    if array.dtype.kind != "f" or "nan" in variable.options:
        return 0
    return int(array.size - np.isfinite(array).sum())


# Reading


@dataclass(frozen=True)
class _Reader:
    """Reads value objects from one open file, which can hold at most `largest` bytes."""

    path: str | Path
    largest: int
    leave_out: Collection[str]
    only: Mapping[str, str]

    def find(self, name: str, file: h5py.File) -> h5py.Group:
        """Group of a file."""
        if not isinstance(file.get(name), h5py.Group):
            found = f"a file of kind '{_kind_of(file)}'"
            raise DamagedFileError(self.path, found, f"a group '{name}'")
        return file[name]

    def record(self, kind: Any, group: Any) -> Any:
        """Value object in a group."""
        record = RECORDS[kind.__name__]
        if _kind_of(group) != record.kind:
            found = f"a file of kind '{_kind_of(group)}'"
            raise DamagedFileError(self.path, found, f"kind '{record.kind}'", group.name[1:])
        hints = _hints(kind).items()
        return kind(**{name: self.field(name, hint, record, group) for name, hint in hints})

    def field(self, name: str, hint: Any, record: Record, group: Any) -> Any:
        """One attribute of a value object of type `hint`."""
        options = [one for one in _options(hint) if one is not types.NoneType]
        variables = [
            v for v in record.variables if v.attribute == name and "unread" not in v.options
        ]
        stored = group.get(name)
        if isinstance(stored, h5py.Group):
            return self.group(options, stored)
        if variables and (variables[0].name in group or types.NoneType not in _options(hint)):
            arrays = {v.part: self.variable(v, group) for v in variables}
            return _from_arrays(options[0], arrays)
        if name in group.attrs:
            return _from_attribute(options[0], group.attrs[name])
        if types.NoneType in _options(hint):
            return None
        raise DamagedFileError(self.path, "nothing", "a value", f"{_where(group)}{name}")

    def group(self, options: Sequence[Any], group: Any) -> Any:
        """Value object of one of some types, or a mapping or tuple of such."""
        if get_origin(options[0]) in (tuple, Mapping):
            names = str(group.attrs[ORDER]).split()
            item = get_args(options[0])[0 if get_origin(options[0]) is tuple else 1]
            items = {name: self.record(item, self.find(name, group)) for name in names}
            return tuple(items.values()) if get_origin(options[0]) is tuple else items
        kinds = {RECORDS[one.__name__].kind: one for one in options if one.__name__ in RECORDS}
        return self.record(kinds.get(_kind_of(group), next(iter(kinds.values()))), group)

    def variable(self, variable: Variable, group: Any) -> NDArray[Any]:
        """Values of a variable; refused before memory is taken for more than the file can hold."""
        where = f"variable {_where(group)}{variable.name}"
        if variable.name not in group:
            raise DamagedFileError(self.path, "nothing", "an array", where)
        stored, expected = group[variable.name], tuple(variable.dimensions.split())
        dimensions = _dimensions(stored)
        if dimensions != expected:
            raise DamagedFileError(self.path, f"dimensions {dimensions}", f"{expected}", where)
        for name, length in zip(expected, stored.shape, strict=True):
            if length != LENGTHS.get(name, length):
                raise DamagedFileError(self.path, f"{name} of {length}", f"{LENGTHS[name]}", where)
        if variable.name in self.leave_out:
            lengths = zip(expected, stored.shape, strict=True)
            shape = [0 if name in ("row", "column") else length for name, length in lengths]
            return np.zeros(shape, variable.dtype)
        size = math.prod(stored.shape) * stored.dtype.itemsize
        if size > self.largest:
            found = f"{size} bytes announced"
            raise DamagedFileError(self.path, found, f"at most {self.largest}", where)
        array = _text(np.asarray(stored[tuple(self.part(name, group) for name in expected)]))
        count = _count_infinite(variable, array)
        if count:
            found = f"{count} values that are not finite"
            raise DamagedFileError(self.path, found, "numbers", where)
        return array if variable.dtype == "text" else array.astype(variable.dtype, copy=False)

    def part(self, dimension: str, group: Any) -> slice:
        """Indices to read along a dimension, whose labels are distinct."""
        if dimension not in self.only:
            return slice(None)
        found = np.flatnonzero(_text(np.asarray(group[dimension][...])) == self.only[dimension])
        start = int(found[0]) if found.size else 0
        return slice(start, start + found.size)


def _hints(kind: Any) -> dict[str, Any]:
    """Types of what a value object is made of, by name."""
    hints = get_type_hints(kind)
    return {name: hints[name] for name in signature(kind).parameters}


def _options(hint: Any) -> tuple[Any, ...]:
    """Types of a union, or the one type."""
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(one for part in get_args(hint) for one in _options(part))
    return (hint,)


def _from_arrays(hint: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Array, number, tuple of values or tuple of records, as `hint` asks for."""
    if "" not in arrays:
        record = get_args(hint)[0]
        hints = _hints(record)
        columns = [
            map(json.loads, array) if get_origin(hints[name]) is Mapping else array.tolist()
            for name, array in arrays.items()
        ]
        rows = zip(*columns, strict=True)
        return tuple(record(**dict(zip(arrays, row, strict=True))) for row in rows)
    if hint in (float, int, bool):
        return hint(arrays[""])
    return tuple(arrays[""].tolist()) if get_origin(hint) is tuple else arrays[""]


def _from_attribute(hint: Any, value: Any) -> Any:
    """Number, text or tuple from an attribute."""
    # NetCDF wraps a number in an array.
    plain = value[0] if isinstance(value, np.ndarray) and value.size == 1 else value
    if get_origin(hint) is tuple:
        items = json.loads(str(plain))
        return TypeAdapter(hint).validate_python(items) if items else ()
    return hint(plain)


def join(values: Sequence[Any], paths: Sequence[str | Path]) -> Any:
    """One value object of the cases of several, which messages call by these paths."""
    if not values:
        raise ValueError("no file to read")
    first = values[0]
    record = RECORDS[type(first).__name__]
    axes = {v.attribute: v.dimensions.split() for v in record.variables}
    joined: dict[str, Any] = {}
    for name in _hints(type(first)) if len(values) > 1 else ():
        parts = [getattr(value, name) for value in values]
        # Tuples that are not among the variables are lists of cases, too.
        dimensions = axes.get(name, ["case"] if isinstance(parts[0], tuple) else [])
        if "case" in dimensions and isinstance(parts[0], tuple):
            joined[name] = tuple(item for part in parts for item in part)
        elif "case" in dimensions:
            others = ", ".join(str(path) for path in paths[1:])
            with _damage_reported(paths[0], record.kind, f"{name}, read with {others}"):
                joined[name] = np.concatenate(parts, axis=dimensions.index("case"))
        else:
            for path, part in zip(paths, parts, strict=True):
                if not np.array_equal(part, parts[0]):
                    found = f"another {name} than in {paths[0]}"
                    raise DamagedFileError(path, found, "files of the same study")
    return replace(first, **joined)


def _kind_of(group: Any) -> str:
    """What a file or group says it holds."""
    return str(group.attrs.get(KIND, "unknown"))


def _where(group: Any) -> str:
    """Path of a group, for messages."""
    return "" if group.name == "/" else f"{group.name[1:]}/"


def _dimensions(stored: h5py.Dataset) -> tuple[str, ...]:
    """Names of a variable's dimensions: of the scales attached to its axes."""
    if stored.is_scale:
        return (stored.name.rpartition("/")[2],)
    return tuple(axis[0].name.rpartition("/")[2] if len(axis) else "" for axis in stored.dims)


def _text(array: NDArray[Any]) -> NDArray[Any]:
    """Text as numpy has it, where HDF5 gives bytes."""
    return np.char.decode(array.astype(bytes), "utf-8") if array.dtype.kind == "O" else array
