"""NetCDF-4 files with a declared layout, checked when written and when read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from kneewear.errors import InputDataError
from kneewear.io.atomic import atomic_path

REMEDY = "Remove the file and run the study again."


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
        When an array does not have the dimensions of its variable.
    """
    data: dict[str, Any] = {}
    encoding: dict[str, dict[str, Any]] = {}
    for variable in layout.variables:
        array = np.asarray(values[variable.name])
        if array.ndim != len(variable.dims):
            raise ValueError(
                f"{variable.name} has shape {array.shape}, but its dimensions are {variable.dims}"
            )
        labels = {"long_name": variable.long_name, "units": variable.units}
        if array.dtype.kind == "U":
            array = array.astype(object)
        elif array.dtype.kind == "b":
            array = array.astype(np.int8)
        data[variable.name] = (variable.dims, array, labels)
        encoding[variable.name] = _encoding(variable, array)
    names = [variable.name for variable in layout.variables if variable.coordinate]
    dataset = xr.Dataset(data, attrs={"kneewear_file": layout.kind, **attributes})
    with atomic_path(path) as temporary:
        dataset.set_coords(names).to_netcdf(
            temporary, format="NETCDF4", engine="h5netcdf", encoding=encoding
        )


def load(
    layout: Layout,
    path: str | Path,
    leave_out: Sequence[str] = (),
    only: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a file of a declared layout and check it.

    Parameters
    ----------
    layout : Layout
        What the file must hold.
    path : str or Path
        File to read.
    leave_out : sequence of str
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
        When the file is missing, truncated or of another kind, or when a variable is missing, has
        other dimensions or holds a value that is not finite.
    """
    try:
        with xr.open_dataset(path, engine="h5netcdf") as dataset:
            _check_kind(layout, dataset, path)
            part = dataset.isel(
                {
                    name: np.flatnonzero(dataset[name].to_numpy() == value)
                    for name, value in (only or {}).items()
                }
            )
            values = {
                variable.name: _checked(variable, part, path)
                for variable in layout.variables
                if variable.name not in leave_out
            }
            return values, dict(dataset.attrs)
    except FileNotFoundError:
        raise InputDataError(
            path, "no file", f"a file of kind '{layout.kind}'", "Run the step that writes it."
        ) from None
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise InputDataError(
            path, f"an unreadable file ({error})", f"a file of kind '{layout.kind}'", REMEDY
        ) from error


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
    dims = {variable.name: variable.dims for variable in layout.variables}
    return {
        name: np.concatenate([part[name] for part in files], axis=dims[name].index(dim))
        if dim in dims[name]
        else value
        for name, value in files[0].items()
    }


def _encoding(variable: Variable, array: np.ndarray[Any, Any]) -> dict[str, Any]:
    if array.dtype.kind == "O":
        return {}
    options: dict[str, Any] = {"_FillValue": None}
    if variable.chunks is not None and array.size:
        lengths = tuple(min(pair) for pair in zip(variable.chunks, array.shape, strict=True))
        options["chunksizes"] = lengths
        if variable.compressed:
            # Level 1 with byte shuffling: mostly zeros, so higher levels only cost time.
            options |= {"zlib": True, "complevel": 1, "shuffle": True}
    return options


def _check_kind(layout: Layout, dataset: xr.Dataset, path: str | Path) -> None:
    kind = dataset.attrs.get("kneewear_file", "unknown")
    if kind != layout.kind:
        raise InputDataError(path, f"a file of kind '{kind}'", f"kind '{layout.kind}'", REMEDY)


def _checked(variable: Variable, dataset: xr.Dataset, path: str | Path) -> Any:
    if variable.name not in dataset.variables:
        raise InputDataError(path, "nothing", "an array", REMEDY, f"variable {variable.name}")
    stored = dataset.variables[variable.name]
    if stored.dims != variable.dims:
        raise InputDataError(
            path,
            f"dimensions {stored.dims}",
            f"{variable.dims}",
            REMEDY,
            f"variable {variable.name}",
        )
    array = stored.to_numpy()
    if array.dtype.kind == "f" and not variable.may_be_nan and not np.isfinite(array).all():
        count = int(array.size - np.isfinite(array).sum())
        raise InputDataError(
            path, f"{count} values that are not finite", "numbers", REMEDY, variable.name
        )
    return array
