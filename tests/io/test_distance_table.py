"""The distance table's file."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from kneewear.errors import InputDataError
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.io.distance_table import load_distance_tables, quality_table, save_distance_tables
from tests.physics.bodies import sphere


@pytest.fixture(scope="module")
def tables():
    return {
        "medial": build_distance_table(sphere(25.0), 1e-4),
        "lateral": build_distance_table(sphere(22.0), 1e-4),
    }


@pytest.mark.compiled
def test_tables_come_back_as_they_were(tables, tmp_path):
    save_distance_tables(tables, tmp_path / "distance_table.nc")
    again = load_distance_tables(tmp_path / "distance_table.nc")
    for side, table in tables.items():
        assert again[side].quality == table.quality
        assert (again[side].depth, again[side].outside) == (table.depth, table.outside)
        for name, array in table.arrays._asdict().items():
            stored = getattr(again[side].arrays, name)
            assert stored.dtype == array.dtype, name
            assert np.array_equal(stored, array), name


@pytest.mark.compiled
def test_error_and_memory_are_attributes_and_a_row_a_side(tables, tmp_path):
    save_distance_tables(tables, tmp_path / "distance_table.nc")
    with xr.open_dataset(tmp_path / "distance_table.nc", engine="h5netcdf") as dataset:
        assert dataset.attrs["max_error_um_medial"] == tables["medial"].quality.max_error_um
        assert dataset.attrs["memory_mb_lateral"] == tables["lateral"].quality.memory_mb
    rows = quality_table(tables)
    assert list(rows["side"]) == ["medial", "lateral"]
    assert {"wanted_error_um", "max_error_um", "memory_mb"} <= set(rows.columns)


def test_another_file_is_refused(tmp_path):
    xr.Dataset(attrs={"kneewear_file": "surface table"}).to_netcdf(
        tmp_path / "distance_table.nc", engine="h5netcdf"
    )
    with pytest.raises(InputDataError, match="kind 'surface table'"):
        load_distance_tables(tmp_path / "distance_table.nc")
