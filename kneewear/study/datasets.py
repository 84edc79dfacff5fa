"""Datasets of cases: kept, joined, and in NetCDF files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from kneewear.errors import DamagedFileError
from kneewear.io.result_files import atomic_path
from kneewear.motion.press_results import join_cases
from kneewear.study import netcdf
from kneewear.study.element_sums import ElementSums, join_sums
from kneewear.study.inputs import CaseInputs
from kneewear.study.models import MODELS
from kneewear.study.study import Study


def save_press_dataset(dataset: xr.Dataset, path: str | Path) -> None:
    """Write a dataset, complete or not at all."""
    packed = {name: {"zlib": True, "complevel": 1} for name in dataset.data_vars}
    with atomic_path(path) as temporary:
        dataset.to_netcdf(temporary, engine="h5netcdf", encoding=packed)


def save_kept(kept: Any, path: str | Path) -> None:
    """Write what a batch of cases keeps: a dataset, or another value object."""
    if isinstance(kept, xr.Dataset):
        save_press_dataset(kept, path)
    else:
        netcdf.save(kept, path)


def load_press_cases(
    paths: Sequence[str | Path],
    join: Callable[[Sequence[xr.Dataset]], xr.Dataset] = join_cases,
) -> xr.Dataset:
    """Datasets of the cases of several files as one; DamagedFileError if one cannot be read."""
    parts = []
    for path in paths:
        try:
            parts.append(xr.load_dataset(path, engine="h5netcdf"))
        except (OSError, ValueError) as error:
            raise DamagedFileError(path, str(error), "a dataset of cases") from error
    return join([part for part in parts if "case" in part.dims])


def load_kept(paths: Sequence[str | Path], model: str) -> Any:
    """Return what all batches of cases of a model keep; None without files."""
    return MODELS[model].join(paths) if paths else None


def load_sums(paths: Sequence[str | Path]) -> ElementSums:
    """Sums of depths of the samples of several files."""
    return join_sums(list(netcdf.load_all(ElementSums, paths)))


def load_joined(paths: Sequence[str | Path]) -> xr.Dataset:
    """Datasets of the cases of several files along `case`, as `join_alike`."""
    return load_press_cases(paths, join_alike)


def join_alike(parts: Sequence[xr.Dataset]) -> xr.Dataset:
    """Datasets along `case` that have as many frames and elements as the first of them, as one."""
    if not parts:
        return xr.Dataset()
    sizes = {name: size for name, size in parts[0].sizes.items() if name != "case"}
    alike = [part for part in parts if sizes.items() <= dict(part.sizes).items()]
    return xr.concat(alike, "case", combine_attrs="drop_conflicts")


class NamedDatasets:
    """Keeps datasets of cases along a dimension `case`; see `join_alike`."""

    def __init__(self) -> None:
        self._parts: list[xr.Dataset] = []

    def add(self, row: Mapping[str, Any], result: Any) -> None:
        """Take the dataset of one case of a plan."""
        self._parts.append(result.dataset.expand_dims(case=[str(row["case"])]))

    @property
    def total(self) -> xr.Dataset:
        """The cases so far."""
        return join_alike(self._parts)


def collect_datasets(study: Study, inputs: CaseInputs) -> NamedDatasets:
    """Keep the datasets of all cases."""
    return NamedDatasets()


def no_further_columns(study: Study) -> tuple[str, ...]:
    """No columns in addition to the outputs."""
    return ()
