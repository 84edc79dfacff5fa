"""Datasets of cases in NetCDF files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from kneewear.errors import DamagedFileError
from kneewear.io.result_files import atomic_path
from kneewear.models.mobile_insert.compute import join_alike
from kneewear.motion.press_results import join_cases
from kneewear.study import netcdf
from kneewear.study.element_sums import ElementSums, join_sums


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
    """What all batches of cases of a model keep; None without files."""
    if not paths:
        return None
    if model in ("press", "backside", "wear_test"):
        return load_press_cases(paths, join_cases if model == "press" else join_alike)
    return join_sums(list(netcdf.load_all(ElementSums, paths)))
