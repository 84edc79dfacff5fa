"""NetCDF-4 files of value objects, with the variables that `kneewear.study.schema` lists.

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
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import h5netcdf
import h5py
import numpy as np
import xarray as xr
from numpy.typing import NDArray
from pydantic import TypeAdapter

from kneewear.base.schemas import Schema, SchemaError, check_kind, concatenate_cases
from kneewear.errors import DamagedFileError, KneewearError
from kneewear.io.result_files import atomic_path, read_checked
from kneewear.study.schema import CHUNKS, LENGTHS, RECORDS, StoredRecord, StoredVariable

Value = TypeVar("Value")
# Attribute that says what a file or group holds, and the one with the order of a group's groups.
KIND = "kneewear_file"
ORDER = "groups"
# Bytes one byte of a file can expand to at most: the limit of zlib. Attributes are extra.
_MAX_EXPANSION = 1032
# With byte shuffling: values are mostly zeros, so higher levels only cost time.
_COMPRESSED = {"compression": "gzip", "compression_opts": 1, "shuffle": True}


def save(value: Any, path: str | Path) -> None:
    """Write a value object or dataset, complete or not at all.

    `value` is of a class in `RECORDS`, or a mapping of names to such objects (or to further
    mappings), which become groups; its `file_attributes`, if any, become attributes of the file.
    ValueError when an array does not have the dimensions of its variable or holds a value that is
    not finite and must be.
    """
    if isinstance(value, xr.Dataset):
        save_dataset(value, path)
        return
    with _file_in_memory(path) as file:
        _write(file, value)
        file.attrs.update(getattr(value, "file_attributes", {}))


@contextmanager
def _file_in_memory(path: str | Path) -> Iterator[h5netcdf.File]:
    """Open a new file in memory, written to its path when the block succeeds."""
    content = io.BytesIO()
    with h5netcdf.File(content, "w") as file:
        yield file
    with atomic_path(path) as temporary:
        # Not its buffer: Python 3.12 crashes when it collects the view that a failed write leaves.
        temporary.write_bytes(content.getvalue())


def load(
    kind: Any,
    path: str | Path | Sequence[str | Path],
    group: str = "",
    leave_out: Collection[str] = (),
    only: Mapping[str, str | Collection[str]] | None = None,
) -> Any:
    """Read a value object of a class in `RECORDS`, or a dataset of a schema, that `save` wrote.

    `group` is the group of a value object to read, such as "grid" of a knee model. Several files
    of datasets, `leave_out` and the cases of `only` are as in `load_dataset`. InputDataError when a
    file is missing; DamagedFileError when its content does not have the stored digest, when it is
    truncated, of another kind or announces more than it can hold, or when a variable is missing,
    has other dimensions or holds a value that is not finite.
    """
    if isinstance(kind, Schema):
        cases = None if only is None else only["case"]
        return load_dataset(kind, path, leave_out, [cases] if isinstance(cases, str) else cases)
    assert isinstance(path, str | Path), "several files hold datasets"
    with open_checked(path, RECORDS[kind.__name__].kind) as (file, size):
        reader = _Reader(path, _MAX_EXPANSION * size)
        return reader.group((kind,), reader.find(group, file) if group else file)


def load_all(kind: Any, paths: Sequence[str | Path], **options: Any) -> Iterator[Any]:
    """Read several files one after the other; options as of `load`."""
    return (load(kind, path, **options) for path in paths)


def load_cases(
    schema: Schema,
    paths: Sequence[str | Path],
    leave_out: Collection[str] = (),
    cases: Collection[str] | None = None,
) -> Iterator[tuple[xr.Dataset, ...]]:
    """Read several files case by case: for each case that all of them hold, its dataset in each.

    Options and errors as of `load_dataset`.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(_open_dataset(schema, path, leave_out)) for path in paths]
        names = [file["case"].values.tolist() for file in files]
        for name in names[0]:
            if (cases is None or name in cases) and all(name in one for one in names):
                yield tuple(
                    _read(schema, _of_cases(file, np.array(one) == name), path)
                    for file, one, path in zip(files, names, paths, strict=True)
                )


def save_dataset(dataset: xr.Dataset, path: str | Path) -> None:
    """Write a dataset that agrees with its schema, complete or not at all."""
    check_kind(dataset)
    encoding: dict[str, dict[str, Any]] = {}
    for name, variable in dataset.variables.items():
        encoding[str(name)] = {"_FillValue": None} if variable.dtype.kind == "f" else {}
        if {"row", "block_row"}.intersection(variable.dims) and variable.size:
            lengths = zip(variable.dims, variable.shape, strict=True)
            encoding[str(name)] |= {
                "chunksizes": tuple(min(CHUNKS.get(str(dim), n), n) for dim, n in lengths),
            } | _COMPRESSED
    # HDF5 writes to memory: on a full disk it would crash the process instead of failing.
    content = bytes(dataset.to_netcdf(engine="h5netcdf", encoding=encoding))
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def load_dataset(
    schema: Schema,
    path: str | Path | Sequence[str | Path],
    leave_out: Collection[str] = (),
    cases: Collection[str] | None = None,
) -> xr.Dataset:
    """Read a dataset of a schema.

    Several files are joined along the cases. Variables in `leave_out` are not read; of `cases`
    those that the file has are. InputDataError when a file is missing; DamagedFileError when its
    digest is not that of what was written, when it is truncated, of another kind or announces more
    than it can hold, when it does not agree with the schema, or when several files do not fit
    together.
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    parts = []
    for one in paths:
        with _open_dataset(schema, one, leave_out) as file:
            some = file
            if cases is not None:
                some = _of_cases(file, np.isin(file["case"].values, list(cases)))
            parts.append(_read(schema, some, one))
    if not parts:
        raise ValueError("no file to read")
    others = ", ".join(str(one) for one in paths[1:])
    with _damage_reported(paths[0], schema.name, others and f"read with {others}"):
        return concatenate_cases(parts)


@contextmanager
def _open_dataset(
    schema: Schema, path: str | Path, leave_out: Collection[str] = ()
) -> Iterator[xr.Dataset]:
    """Open a file; values of elements are read when they are used, all others at once."""
    content = read_checked(path, f"a file of kind '{schema.name}'", "Run the step that writes it.")
    with (
        _damage_reported(path, schema.name),
        xr.open_dataset(
            io.BytesIO(content),
            engine="h5netcdf",
            decode_times=False,
            mask_and_scale=False,
            cache=False,
        ) as file,
    ):
        found = file.drop_vars(leave_out, errors="ignore")
        schema.check_structure(found, leave_out)
        if found.nbytes > _MAX_EXPANSION * len(content):
            announced = f"{found.nbytes} bytes announced"
            raise DamagedFileError(path, announced, f"at most {_MAX_EXPANSION * len(content)}")
        for variable in found.variables.values():
            if "row" not in variable.dims:
                variable.load()
        yield found


def _of_cases(file: xr.Dataset, chosen: NDArray[np.bool_]) -> xr.Dataset:
    """Chosen cases of a file; those next to each other as a slice, which is read at once."""
    numbers = np.flatnonzero(chosen)
    if numbers.size and np.ptp(numbers) + 1 == numbers.size:
        return file.isel(case=slice(numbers[0], numbers[-1] + 1))
    return file.isel(case=numbers)


def _read(schema: Schema, file: xr.Dataset, path: str | Path) -> xr.Dataset:
    """Values of a file, when they agree with the schema."""
    with _damage_reported(path, schema.name):
        loaded = file.load()
        texts = {
            name: one.astype(str) for name, one in loaded.variables.items() if one.dtype == object
        }
        return schema.check(loaded.assign_coords(texts))


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
    except SchemaError as error:
        raise DamagedFileError(path, error.found, error.expected, error.where) from error
    except Exception as error:  # the libraries raise many kinds of error on a damaged file
        found = f"content that cannot be used ({type(error).__name__}: {error})"
        raise DamagedFileError(path, found, f"a file of kind '{kind}'", where) from error


# Writing


def _write(group: Any, value: Any) -> None:
    """Write a value object, or a mapping of them, into a group."""
    if isinstance(value, Mapping):
        group.attrs[ORDER] = " ".join(value)  # HDF5 sorts its groups by name
        for name, item in value.items():
            _write(group.create_group(name), item)
        return
    record = RECORDS[type(value).__name__]
    arrays = _arrays_of(value)
    group.dimensions = _lengths(record, arrays)
    for variable in record.variables:
        if variable.name in arrays:
            _write_variable(group, variable, arrays[variable.name])
    _write_attributes(group, value)


def _write_attributes(group: Any, value: Any) -> None:
    """Write what a value object holds other than arrays."""
    record = RECORDS[type(value).__name__]
    group.attrs[KIND] = record.kind
    labels = [v.name for v in record.variables if v.is_coordinate and v.name != v.dimensions]
    if labels:
        group.attrs["coordinates"] = " ".join(labels)
    stored = {v.attribute for v in record.variables if v.name in group.variables}
    for name in _hints(type(value)):
        item = None if name in stored else getattr(value, name)
        if item is None:
            continue
        if isinstance(item, bool | int | float | str | np.number | np.bool_):
            group.attrs[name] = int(item) if isinstance(item, bool | np.bool_) else item
        elif isinstance(item, tuple) and item and type(item[0]).__name__ in RECORDS:
            _write(group.create_group(name), {str(i): one for i, one in enumerate(item)})
        elif isinstance(item, tuple) and type(item).__name__ not in RECORDS:
            group.attrs[name] = json.dumps(item, default=asdict)
        else:
            _write(group.create_group(name), item)


def _arrays_of(value: Any) -> dict[str, NDArray[Any]]:
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


def _lengths(record: StoredRecord, arrays: Mapping[str, NDArray[Any]]) -> dict[str, int]:
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


def _write_variable(group: Any, variable: StoredVariable, array: NDArray[Any]) -> None:
    """Write one variable with its unit and meaning."""
    dimensions = tuple(variable.dimensions.split())
    options: dict[str, Any] = {}
    if array.size and ("compressed" in variable.options or "chunks" in variable.options):
        lengths = zip(dimensions, array.shape, strict=True)
        options["chunks"] = tuple(min(CHUNKS.get(name, n), n) for name, n in lengths)
        if "compressed" in variable.options:
            options |= _COMPRESSED
    stored = group.create_variable(variable.name, dimensions, data=_stored(array), **options)
    stored.attrs.update(long_name=variable.long_name, units=variable.units)


def _stored(array: NDArray[Any]) -> NDArray[Any]:
    """Array as NetCDF has it: text of any length, and no yes and no."""
    if array.dtype.kind not in "Ub":
        return array
    return array.astype(h5py.string_dtype() if array.dtype.kind == "U" else np.int8)


def _count_infinite(variable: StoredVariable, array: NDArray[Any]) -> int:
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

    def field(self, name: str, hint: Any, record: StoredRecord, group: Any) -> Any:
        """One attribute of a value object of type `hint`."""
        options = [option for option in _options(hint) if option is not types.NoneType]
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
        kinds = {
            RECORDS[option.__name__].kind: option
            for option in options
            if option.__name__ in RECORDS
        }
        return self.record(kinds.get(_kind_of(group), next(iter(kinds.values()))), group)

    def variable(self, variable: StoredVariable, group: Any) -> NDArray[Any]:
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
        size = math.prod(stored.shape) * stored.dtype.itemsize
        if size > self.largest:
            found = f"{size} bytes announced"
            raise DamagedFileError(self.path, found, f"at most {self.largest}", where)
        array = _text(np.asarray(stored[...]))
        count = _count_infinite(variable, array)
        if count:
            found = f"{count} values that are not finite"
            raise DamagedFileError(self.path, found, "numbers", where)
        return array if variable.dtype == "text" else array.astype(variable.dtype, copy=False)


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


def _kind_of(group: Any) -> str:
    """Return the kind of dataset that a file or group states."""
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
